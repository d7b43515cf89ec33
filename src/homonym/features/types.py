"""The eight feature types of the paper, one function each.

This file is the only place where a feature type is defined. To add one, write a function with the decorator
`feature_type`: it takes the columns of documents and the settings, and returns the bags of all documents, or of all
authors. Its name is the name of the type; the first sentence of its docstring is shown by `homonym inspect`, in the
study report and in docs/how-it-works.md. Its weight is 1 in the preset "balanced" unless settings.py has another one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from homonym.features.blocking import keys_of_names
from homonym.features.columns import DocumentColumns, TextLists
from homonym.features.institutions import institutions
from homonym.features.text import Integers, count_words, lemmas_of, numbered, plain_words
from homonym.names.parse import parse_name
from homonym.records.fields.affiliations import plain_email
from homonym.records.formats.documents import SMALLEST_COUNT
from homonym.settings import KEY_SHARE, WHOLE_SHARE, Settings

Level = Literal["document", "author"]


@dataclass(frozen=True, eq=False)
class FeatureCounts:
    """Bags of one feature type: the bag of row `row[i]` has `names[feature[i]]` with the count `count[i]`.

    Each pair of row and feature is there once. `holders[i]` mentions have this entry: by default all authors of the
    document, or the one author.
    """

    names: pa.Array
    row: Integers
    feature: Integers
    count: NDArray[np.float64]
    holders: Integers | None = None


Extract = Callable[[DocumentColumns, Settings], FeatureCounts]


class FeatureDefinition(NamedTuple):
    """A feature type: bags of documents are shared by all authors, bags of authors belong to one mention."""

    level: Level
    extract: Extract


FEATURE_TYPES: dict[str, FeatureDefinition] = {}
"""All feature types by name."""


def feature_type(level: Level) -> Callable[[Extract], Extract]:
    """Register a feature type under the name of its function; the rows of its bags are documents or authors."""

    def register(extract: Extract) -> Extract:
        FEATURE_TYPES[extract.__name__] = FeatureDefinition(level, extract)
        return extract

    return register


def describe(name: str) -> str:
    """The first sentence of a feature type's docstring, as a phrase; "" for a type that is not defined here.

    >>> describe("key")
    'keywords of the document'
    """
    if name not in FEATURE_TYPES:
        return ""
    sentence = (FEATURE_TYPES[name].extract.__doc__ or "").strip().split(".\n")[0].removesuffix(".")
    return sentence[:1].lower() + sentence[1:]


@feature_type("document")
def term(documents: DocumentColumns, settings: Settings) -> FeatureCounts:
    """Words of the title (×3) and abstract (×1), without stop words, as lemmas."""
    words, document, word, count = count_words(
        documents.records.title,
        documents.abstract,
        settings.title_weight,
        settings.abstract_weight,
        lemmas_of(settings.language),
    )
    return FeatureCounts(words, document, word, count.astype(np.float64))


@feature_type("author")
def aff(documents: DocumentColumns, settings: Settings) -> FeatureCounts:
    """Affiliations of this author: as written (½), and their institutions (½) where they are recognised."""
    lists = documents.authors.affiliations
    if settings.affiliation_level == "whole":
        return count_texts(lists, plain_words)
    names, row, feature, weight = _bags_of_rows(lists.row, lists.code, [_affiliation(text) for text in lists.texts])
    return count_codes(row, feature, names, weight)


@lru_cache(maxsize=1 << 17)
def _affiliation(text: str) -> dict[str, float]:
    """The features of one affiliation, of mass 1; several institutions share their half.

    >>> _affiliation("Dept. of Physics, Bonn Univ.")
    {'dept of physics bonn univ': 0.5, 'institution: bonn univ': 0.5}
    """
    whole = plain_words(text)
    if not whole:
        return {}
    found = institutions(text)
    share = WHOLE_SHARE if found else 1.0
    return {whole: share, **{name: (1 - share) / len(found) for name in found}}


@feature_type("document")
def cat(documents: DocumentColumns, settings: Settings) -> FeatureCounts:
    """Categories of the document, or its venue where there are none."""
    categories = count_texts(documents.categories, plain_words)
    without = np.ones(len(documents.abstract), bool)
    without[categories.row] = False
    return _added(categories, count_texts(documents.venue.in_rows(without), plain_words))


@feature_type("document")
def key(documents: DocumentColumns, settings: Settings) -> FeatureCounts:
    """Keywords of the document."""
    return count_texts(documents.keywords, plain_words)


@feature_type("document")
def co(documents: DocumentColumns, settings: Settings) -> FeatureCounts:
    """Names of the other authors: surname and initials (¼) and the full name (¾) where it is spelled out.

    The bag has the names of all authors. A mention's own name is removed when its bag is read, so that all but one
    author have an entry. Names on the document that are not mentions are co-authors of every mention.
    """
    names, others, number_of_authors = documents.authors.names, documents.other_authors, documents.records.authors
    authors = _count_people(documents.authors.document, names.key, names.spelled_out, settings)
    authors = replace(authors, holders=number_of_authors[authors.row] - 1)
    if not others.texts:
        return authors
    parsed = [parse_name(text) for text in others.texts]
    is_name = np.array([bool(name.surname) for name in parsed])[others.code]
    key, spelled_out = (
        pa.array(forms, pa.string()).take(pa.array(others.code[is_name]))
        for forms in ([name.key for name in parsed], [name.spelled_out for name in parsed])
    )
    unlisted = _count_people(others.row[is_name], key, spelled_out, settings)
    return _added(authors, replace(unlisted, holders=number_of_authors[unlisted.row]))


@feature_type("document")
def ref(documents: DocumentColumns, settings: Settings) -> FeatureCounts:
    """Normalised names of referenced authors, without the names of the document's own authors.

    People of one name all refer to work under this name: their own. So self-citations look like rare evidence, but say
    nothing. Referenced authors are given in the record, or are those of a referenced document of the same run; the
    latter are added when the whole collection is known (see collection/references.py).
    """
    lists, authors = documents.referenced_authors, documents.authors
    counts = _count_normalised(lists, keys_of_names(lists.texts))
    place = pc.fill_null(pc.index_in(authors.names.key, counts.names), -1).to_numpy()
    own = (authors.document * len(counts.names) + place)[place >= 0]
    kept = ~np.isin(counts.row * len(counts.names) + counts.feature, own)
    return replace(counts, row=counts.row[kept], feature=counts.feature[kept], count=counts.count[kept])


@feature_type("author")
def email(documents: DocumentColumns, settings: Settings) -> FeatureCounts:
    """E-mail addresses of this author."""
    return count_texts(documents.authors.emails, plain_email)


@feature_type("document")
def year(documents: DocumentColumns, settings: Settings) -> FeatureCounts:
    """Years around the publication year, a Gaussian with σ = 2 cut at ±5, of mass 1."""
    row = np.flatnonzero(documents.records.year.is_valid().to_numpy(zero_copy_only=False))
    coded = documents.records.year.drop_null().dictionary_encode()
    centre = coded.indices.to_numpy()
    bags = [gaussian_years(one, settings.year_sigma, settings.year_reach) for one in coded.dictionary.to_pylist()]
    return FeatureCounts(*_bags_of_rows(row, centre, bags))


@lru_cache(maxsize=4096)
def gaussian_years(centre: int, sigma: float, reach: int) -> dict[str, float]:
    """A bag of years: a Gaussian around the centre, cut at ±reach years, normalised to mass 1.

    A narrow Gaussian is also cut where it falls below the smallest count that a mention may have.

    >>> {year: round(weight, 3) for year, weight in gaussian_years(2014, sigma=2.0, reach=1).items()}
    {'2013': 0.319, '2014': 0.362, '2015': 0.319}
    """
    # The product becomes infinite where a power would raise OverflowError; the Gaussian is 0 there.
    heights = {offset: math.exp(-0.5 * (offset / sigma) * (offset / sigma)) for offset in range(-reach, reach + 1)}
    least = SMALLEST_COUNT * math.fsum(heights.values())
    mass = math.fsum(height for height in heights.values() if height >= least)
    return {str(centre + offset): height / mass for offset, height in heights.items() if height >= least}


def count_texts(lists: TextLists, normalise: Callable[[str], str]) -> FeatureCounts:
    """Count normalised texts; a text that is normalised to "" is not a feature."""
    return _count_normalised(lists, list(map(normalise, lists.texts)))


def _count_normalised(lists: TextLists, normal: list[str]) -> FeatureCounts:
    """Count texts, given what each distinct one is normalised to."""
    names, number = numbered(normal)
    code = number[lists.code]
    used = code >= 0
    return count_codes(lists.row[used], code[used], names)


def _bags_of_rows(
    row: Integers, code: NDArray[np.integer], bags: Sequence[dict[str, float]]
) -> tuple[pa.Array, Integers, Integers, NDArray[np.float64]]:
    """All entries of the bags of some rows, where row `row[i]` has the bag `bags[code[i]]`.

    Returns the names of the features, and for each entry its row, its feature and its count.
    """
    names = pa.array(list(chain.from_iterable(bags)), pa.string()).dictionary_encode()
    counts = np.fromiter(chain.from_iterable(map(dict.values, bags)), np.float64, len(names))
    sizes = np.fromiter(map(len, bags), np.int64, len(bags))
    # Entry by entry, where in the concatenated bags it is found.
    lengths = sizes[code]
    first = np.cumsum(sizes) - sizes
    entry = np.arange(lengths.sum()) + np.repeat(first[code] - (np.cumsum(lengths) - lengths), lengths)
    feature = names.indices.to_numpy().astype(np.int64)
    return names.dictionary, np.repeat(row, lengths), feature[entry], counts[entry]


def _count_people(row: Integers, key: pa.Array, spelled_out: pa.Array, settings: Settings) -> FeatureCounts:
    """Count the names of people: keys, or shares of the key and the full name for those that are spelled out."""
    keys = key.dictionary_encode()
    if settings.coauthor_names == "initials":
        return count_codes(row, keys.indices.to_numpy(), keys.dictionary)
    is_full = np.asarray(spelled_out.is_valid())
    full = spelled_out.drop_null().dictionary_encode()
    return count_codes(
        np.concatenate([row, row[is_full]]),
        np.concatenate([keys.indices.to_numpy(), full.indices.to_numpy() + len(keys.dictionary)]),
        pa.concat_arrays([keys.dictionary, full.dictionary]),
        np.concatenate([np.where(is_full, KEY_SHARE, 1.0), np.full(is_full.sum(), 1 - KEY_SHARE)]),
    )


def count_codes(
    row: Integers, code: NDArray[np.integer], names: pa.Array, weight: NDArray[np.float64] | None = None
) -> FeatureCounts:
    """Count how often each code occurs in each row, or sum up its weights; a code is an index into the names.

    >>> counts = count_codes(np.array([0, 2, 0]), np.array([1, 0, 1]), pa.array(["a", "b"]))
    >>> counts.row.tolist(), counts.feature.tolist(), counts.count.tolist()
    ([0, 2], [1, 0], [2.0, 1.0])
    """
    pair = row * len(names) + code
    if weight is None:
        pair = np.sort(pair)
        first = np.flatnonzero(np.diff(pair, prepend=-1))
        count = np.diff(np.append(first, len(pair))).astype(np.float64)
    else:
        order = np.argsort(pair, kind="stable")
        pair = pair[order]
        first = np.flatnonzero(np.diff(pair, prepend=-1))
        count = np.add.reduceat(weight[order], first) if len(first) else np.zeros(0)
    return FeatureCounts(names, *np.divmod(pair[first], max(len(names), 1)), count)


def _added(counts: FeatureCounts, more: FeatureCounts) -> FeatureCounts:
    """Both together; what a row of `counts` has already is not added to it. Both have holders, or neither has."""
    if not len(more.row):
        return counts
    names = pa.concat_arrays([counts.names, more.names]).dictionary_encode()
    code = names.indices.to_numpy().astype(np.int64)
    feature, more_feature = code[counts.feature], code[more.feature + len(counts.names)]
    width = len(names.dictionary)
    new = ~np.isin(more.row * width + more_feature, counts.row * width + feature)
    holders = None
    if counts.holders is not None and more.holders is not None:
        holders = np.concatenate([counts.holders, more.holders[new]])
    return FeatureCounts(
        names.dictionary,
        np.concatenate([counts.row, more.row[new]]),
        np.concatenate([feature, more_feature[new]]),
        np.concatenate([counts.count, more.count[new]]),
        holders,
    )
