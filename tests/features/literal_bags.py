"""The feature types as the method describes them, one mention at a time: the oracle of the columnar extractor."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from homonym.features.text import plain_words
from homonym.names.parse import parse_name
from homonym.records.model import Author, Document
from homonym.settings import Settings
from tests.support.words import terms_of

Bag = Mapping[str, float]


def counted(texts: Iterable[str], normalise: Callable[[str], str] = plain_words) -> Bag:
    return Counter(feature for text in texts if (feature := normalise(text)))


def name(text: str) -> str:
    parsed = parse_name(text)
    return parsed.key if parsed.surname else ""


def categories(document: Document) -> Bag:
    return counted(document.categories) or counted([document.venue])


def coauthors(document: Document, author: Author) -> Bag:
    """The other authors, and the names on the document that are those of no author."""
    authors = counted([one.name for one in document.authors], name)
    others = counted(document.other_authors, name)
    bag = {**authors, **{key: count for key, count in others.items() if key not in authors}}
    bag[name(author.name)] -= 1
    return {key: count for key, count in bag.items() if count}


def years(document: Document, settings: Settings) -> Bag:
    """A Gaussian of mass 1 around the publication year, for settings that do not cut it any further."""
    if document.year is None:
        return {}
    offsets = range(-settings.year_reach, settings.year_reach + 1)
    heights = {offset: math.exp(-0.5 * (offset / settings.year_sigma) ** 2) for offset in offsets}
    mass = math.fsum(heights.values())
    return {str(document.year + offset): height / mass for offset, height in heights.items()}


def bags_of(document: Document, author: Author, settings: Settings) -> dict[str, Bag]:
    """The bags of one mention; `ref` without the authors of referenced documents."""
    bags = {
        "term": terms_of(document, settings),
        "aff": counted(author.affiliations),
        "cat": categories(document),
        "key": counted(document.keywords),
        "co": coauthors(document, author),
        "ref": counted(document.referenced_authors, name),
        "email": counted(author.emails, lambda text: re.sub(r"^\s+|\s+$", "", text.lower())),
        "year": years(document, settings),
    }
    return {kind: bag for kind, bag in bags.items() if bag}
