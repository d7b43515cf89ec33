"""The feature types as the method describes them, one mention at a time: the oracle of the columnar extractor."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from homonym.features.institutions import institutions
from homonym.features.text import plain_words
from homonym.names.parse import parse_name
from homonym.records.fields.affiliations import plain_email
from homonym.records.model import Author, Document
from homonym.settings import Settings
from tests.support.words import terms_of

Bag = Mapping[str, float]


def counted(texts: Iterable[str], normalise: Callable[[str], str] = plain_words) -> Bag:
    return Counter(feature for text in texts if (feature := normalise(text)))


def affiliations(texts: Iterable[str], settings: Settings) -> Bag:
    """Affiliations as written; half of each goes to its institutions, in equal shares."""
    total: Counter[str] = Counter()
    for text in texts:
        if not (whole := plain_words(text)):
            continue
        found = () if settings.affiliation_level == "whole" else institutions(text)
        total.update({whole: 1 / 2 if found else 1, **{one: 1 / 2 / len(found) for one in found}})
    return total


def name(text: str) -> str:
    parsed = parse_name(text)
    return parsed.key if parsed.surname else ""


def categories(document: Document) -> Bag:
    return counted(document.categories) or counted([document.venue])


def name_features(text: str, settings: Settings) -> Bag:
    """The name of a person as features: its key, or a quarter of it and three quarters of the full name."""
    parsed, key = parse_name(text), name(text)
    if not key:
        return {}
    if settings.coauthor_names == "initials" or not parsed.given or len(parsed.given[0]) == 1:
        return {key: 1}
    return {key: 1 / 4, f"{parsed.surname}|{' '.join(parsed.given)}": 3 / 4}


def people(names: Iterable[str], settings: Settings) -> Bag:
    total: Counter[str] = Counter()
    for one in names:
        total.update(name_features(one, settings))
    return total


def coauthors(document: Document, author: Author, settings: Settings) -> Bag:
    """The other authors, and the names on the document that are those of no author."""
    authors = people([one.name for one in document.authors], settings)
    others = people(document.other_authors, settings)
    bag = {**authors, **{key: count for key, count in others.items() if key not in authors}}
    for key, count in name_features(author.name, settings).items():
        bag[key] -= count
    return {key: count for key, count in bag.items() if count}


def referenced(document: Document, bag: Bag) -> Bag:
    """Referenced authors that are not authors of the document."""
    own = {name(one.name) for one in document.authors}
    return {key: count for key, count in bag.items() if key not in own}


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
        "aff": affiliations(author.affiliations, settings),
        "cat": categories(document),
        "key": counted(document.keywords),
        "co": coauthors(document, author, settings),
        "ref": referenced(document, counted(document.referenced_authors, name)),
        "email": counted(author.emails, plain_email),
        "year": years(document, settings),
    }
    return {kind: bag for kind, bag in bags.items() if bag}
