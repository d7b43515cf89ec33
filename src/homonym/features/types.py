"""The eight feature types of the paper, each a small function; its docstring is its documentation.

A shared feature type belongs to the document and is the same for all its authors, an own one to the single author.
Shared bags are extracted and stored once per document, and counted once for each of its mentions. Most functions give
lists: what stands in one twice counts twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from functools import lru_cache

from homonym.features.text import Integers, count_words, lemmas_of, plain
from homonym.names.parse import name_key
from homonym.records.formats.documents import SMALLEST_COUNT
from homonym.records.model import Author, Document
from homonym.settings import Settings

Bag = Mapping[str, float]


def term(
    titles: Sequence[str], abstracts: Sequence[str], settings: Settings
) -> tuple[list[str], Integers, Integers, Integers]:
    """Words of title (three times) and abstract (once), lower-cased, without stop words, as lemmas.

    Counted for many documents at once: the words, and as columns which document has which word how often.
    """
    return count_words(
        titles, abstracts, settings.title_weight, settings.abstract_weight, lemmas_of(settings.language)
    )  # fmt: skip


def cat(document: Document) -> list[str]:
    """Categories from a small vocabulary; the venue where a document has none."""
    return _labels(document.categories) or (_labels([document.venue]) if document.venue else [])


def key(document: Document) -> list[str]:
    """Keywords, free or from a large vocabulary."""
    return _labels(document.keywords)


def co(document: Document) -> list[str]:
    """Names of all authors of the document, normalised; a mention's own occurrence is taken out later, once."""
    return _names([author.name for author in document.authors])


def others(document: Document, authors: Set[str]) -> list[str]:
    """Names on the document that are no mentions: co-authors of every mention; those of its authors are in `co`."""
    return [name for name in _names(document.other_authors) if name not in authors]


def ref(document: Document) -> list[str]:
    """Names of referenced authors given in the record; those of referenced documents are joined to them later."""
    return _names(document.referenced_authors)


def year(document: Document, settings: Settings) -> Bag:
    """Years around the publication year, weighted by a Gaussian of total mass 1."""
    return {} if document.year is None else gaussian_years(document.year, settings.year_sigma, settings.year_reach)


def aff(author: Author) -> list[str]:
    """Affiliations of the author, without case, accents and punctuation."""
    return _labels(author.affiliations)


def email(author: Author) -> list[str]:
    """E-mail addresses of the author, lower-cased."""
    return [feature for text in author.emails if (feature := address(text))]


def address(text: str) -> str:
    """An e-mail address as a feature."""
    return text.strip().lower()


SHARED: Mapping[str, Callable[[Document], list[str]]] = {"cat": cat, "key": key, "ref": ref}
"""Feature types that are lists of a document's own fields."""


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


def _labels(texts: Sequence[str]) -> list[str]:
    return [label for text in texts if (label := plain(text))]


def _names(names: Sequence[str]) -> list[str]:
    return [key for name in names if (key := name_key(name))]
