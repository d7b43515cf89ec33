"""The eight feature types of the paper, each a small function; its docstring is its documentation.

A shared feature type belongs to the document and is the same for all its authors, an own one to the single author.
Shared bags are extracted and stored once per document, and counted once for each of its mentions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Set
from functools import lru_cache

from homonym.features.text import lemmas_of, plain, word_counts
from homonym.names import parse_name
from homonym.records.mentions import SMALLEST_COUNT
from homonym.records.model import Author, Document
from homonym.settings import Settings

Bag = Mapping[str, float]


def term(document: Document, settings: Settings) -> Bag:
    """Words of title (three times) and abstract (once), lower-cased, without stop words, as lemmas."""
    lemmas = lemmas_of(settings.language)
    return word_counts(document.title, document.abstract, settings.title_weight, settings.abstract_weight, lemmas)


def cat(document: Document, settings: Settings) -> Bag:
    """Categories from a small vocabulary; the venue where a document has none."""
    return _labels(document.categories) or _labels([document.venue])


def key(document: Document, settings: Settings) -> Bag:
    """Keywords, free or from a large vocabulary."""
    return _labels(document.keywords)


def co(document: Document, settings: Settings) -> Bag:
    """Names of all authors of the document, normalised; a mention's own occurrence is taken out later, once."""
    return _names([author.name for author in document.authors])


def others(document: Document, authors: Set[str]) -> Bag:
    """Names on the document that are no mentions: co-authors of every mention; those of its authors are in `co`."""
    return {name: count for name, count in _names(document.other_authors).items() if name not in authors}


def ref(document: Document, settings: Settings) -> Bag:
    """Names of referenced authors given in the record; those of referenced documents are joined to them later."""
    return _names(document.referenced_authors)


def year(document: Document, settings: Settings) -> Bag:
    """Years around the publication year, weighted by a Gaussian of total mass 1."""
    return {} if document.year is None else gaussian_years(document.year, settings.year_sigma, settings.year_reach)


def aff(author: Author, settings: Settings) -> Bag:
    """Affiliations of the author, without case, accents and punctuation."""
    return _labels(author.affiliations)


def email(author: Author, settings: Settings) -> Bag:
    """E-mail addresses of the author, lower-cased."""
    return _counted([address.strip().lower() for address in author.emails])


SHARED: Mapping[str, Callable[[Document, Settings], Bag]] = {
    "term": term,
    "cat": cat,
    "key": key,
    "co": co,
    "ref": ref,
    "year": year,
}
OWN: Mapping[str, Callable[[Author, Settings], Bag]] = {"aff": aff, "email": email}


@lru_cache(maxsize=4096)
def gaussian_years(centre: int, sigma: float, reach: int) -> Bag:
    """A bag of years: a Gaussian around the centre, cut at ±reach years, normalised to mass 1.

    Where a narrow Gaussian falls below the smallest count that mentions may have, it is cut there.

    >>> {year: round(weight, 3) for year, weight in gaussian_years(2014, sigma=2.0, reach=1).items()}
    {'2013': 0.319, '2014': 0.362, '2015': 0.319}
    """
    # A product is infinite where a power would raise, and the Gaussian there is 0.
    heights = {offset: math.exp(-0.5 * (offset / sigma) * (offset / sigma)) for offset in range(-reach, reach + 1)}
    least = SMALLEST_COUNT * math.fsum(heights.values())
    mass = math.fsum(height for height in heights.values() if height >= least)
    return {str(centre + offset): height / mass for offset, height in heights.items() if height >= least}


def _labels(texts: list[str]) -> Bag:
    return _counted([plain(text) for text in texts])


def _names(names: list[str]) -> Bag:
    parsed = [parse_name(name) for name in names]
    return _counted([name.key for name in parsed if name.surname])


def _counted(features: list[str]) -> Bag:
    # A Counter would take longer to set up than these few features to count.
    bag: dict[str, int] = {}
    for feature in features:
        if feature:
            bag[feature] = bag.get(feature, 0) + 1
    return bag
