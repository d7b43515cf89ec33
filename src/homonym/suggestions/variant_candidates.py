"""Candidates: authors of different blocks who share a rare co-author or institution, and whose names could be variants.

They are found with an inverted index over pairs of a feature and a key of the name (name_index.py), so only authors
who share both are compared, and only their names are parsed. Common features are left out, because what many authors
share is no evidence. The work is bounded: in large results, fewer features count as rare.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import Floats, Integers, pairs_within_groups, ranges
from homonym.names.parse import Name, parse_name
from homonym.names.spelling import standard_name
from homonym.names.variants import DOUBLE, GIVEN, SPELLING, SURNAME, SWAPPED, variant_kind
from homonym.suggestions.author_bags import AFF, CO, MAX_RARE, AuthorBags, ResultAuthors
from homonym.suggestions.name_index import KeyIndex

# Maximum number of rows of the index and of compared pairs, per mention of the result, and for small results.
ROWS_PER_MENTION, PAIRS_PER_MENTION, MIN_WORK = 6.0, 0.04, 20_000
# Institutions count as rare up to this many times the #(f) of rare co-authors: if authors have few co-authors, as on
# grants, most people with two names share nothing rarer.
SCALE = {CO: 1, AFF: 16}
# Maximum number of authors with the same feature and the same key that are compared.
MAX_GROUP = 30
# Maximum number of hash buckets of groups, a prime number, and buckets per row: to count in empty ones takes time, too.
_BUCKETS, _BUCKETS_PER_ROW = 8_388_593, 2
# Share of people with a given initial, and with the same middle initial: about that of American names.
_SAME_INITIAL = 0.08

# Number of neighbours in the index of a feature, on either side, that an author is paired with as strangers.
_NEIGHBOURS = 4

Pairs = NDArray[np.int64]
"""Two columns: numbers of authors, the smaller first."""


class VariantCandidates(NamedTuple):
    """Pairs of authors, the kind of each, and the probability that the names of two unrelated people agree as well.

    `rare` is the largest #(f) of the features that brought them together, `compared` the number of compared names.
    """

    pairs: Pairs
    kind: list[str]
    chance: Floats
    rare: int
    compared: int


class NameTable:
    """The names of authors, parsed when they are needed, and how common their words are."""

    def __init__(self, names: list[str | None], people: Mapping[str, int]) -> None:
        self._names = names
        self._people = people
        self._authors = len(names)
        self.parsed = lru_cache(maxsize=None)(self._parsed)

    def _parsed(self, author: int) -> Name:
        return standard_name(parse_name(self._names[author] or ""))

    def kind(self, a: int, b: int) -> str | None:
        """The way in which the names of two authors could be names of one person; None if they could not."""
        return variant_kind(self.parsed(a), self.parsed(b))

    def chance(self, kind: str, one: int, other: int) -> float:
        """The probability that the names of two unrelated people agree as well as those of these authors."""
        a, b = self.parsed(one), self.parsed(other)
        surname = max(self._share(a.surname), self._share(b.surname))
        given = max(self._share(a.given[0]), self._share(b.given[0]))
        if min(len(a.given[0]), len(b.given[0])) == 1:
            given = max(given, _SAME_INITIAL)
        middle = _SAME_INITIAL if len(a.given) > 1 and len(b.given) > 1 else 1.0
        return {
            SWAPPED: surname * given,
            SPELLING: surname * given * middle,
            DOUBLE: surname * given * middle,
            GIVEN: surname * _SAME_INITIAL,
            SURNAME: given * middle,
        }[kind]

    def _share(self, words: str) -> float:
        """The share of authors with the rarest of these words in their names."""
        return (min(self._people.get(word, 0) for word in words.split()) + 1) / (self._authors + 2)


def find_candidates(authors: ResultAuthors, index: KeyIndex, table: NameTable) -> VariantCandidates:
    """All candidates, in the order of the authors."""
    mentions = float(authors.documents.mass[: authors.count].sum())
    rare = _rare_enough(authors, index, max(MIN_WORK, ROWS_PER_MENTION * mentions))
    pairs = _distinct(np.concatenate([_pairs_with(kind, authors, index, rare) for kind in (CO, AFF)]))
    pairs = pairs[~_on_one_document(authors.documents, pairs)]
    pairs, rare = _thinned(authors, pairs, rare, int(max(MIN_WORK, PAIRS_PER_MENTION * mentions)))
    kinds = [table.kind(a, b) for a, b in pairs.tolist()]
    kept = np.array([kind is not None for kind in kinds], bool)
    kind = [one for one in kinds if one is not None]
    chance = [table.chance(one, a, b) for one, (a, b) in zip(kind, pairs[kept].tolist(), strict=True)]
    return VariantCandidates(pairs[kept], kind, np.array(chance, np.float64), rare, len(pairs))


def rarity(authors: ResultAuthors, pairs: Pairs) -> Floats:
    """#(f) / SCALE of the rarest co-author or institution that pairs share; infinite if they share none."""
    found = [authors.bags[kind].rarity(pairs[:, 0], pairs[:, 1]) / SCALE[kind] for kind in (CO, AFF)]
    return np.minimum(*found)


def _rare_enough(authors: ResultAuthors, index: KeyIndex, rows: float) -> int:
    """The largest #(f) of features such that the index has at most this number of rows; at most MAX_RARE."""
    work = np.zeros(MAX_RARE + 1)
    for kind in (CO, AFF):
        author, feature = _rare_entries(kind, authors, MAX_RARE)
        total = np.floor(authors.bags[kind].total[feature] / SCALE[kind]).astype(np.int64)
        work += np.bincount(total, np.diff(index.start)[author], MAX_RARE + 1)
    return int(np.searchsorted(np.cumsum(work), rows, side="right")) - 1


def _thinned(authors: ResultAuthors, pairs: Pairs, rare: int, most: int) -> tuple[Pairs, int]:
    """At most this number of pairs, those with the rarest shared features, and the largest #(f) of these."""
    if len(pairs) <= most:
        return pairs, rare
    found = rarity(authors, pairs)
    number = np.bincount(np.floor(found).astype(np.int64), minlength=rare + 1)
    rare = int(np.searchsorted(np.cumsum(number), most, side="right")) - 1
    return pairs[found < rare + 1], rare


def _rare_entries(kind: str, authors: ResultAuthors, rare: int) -> tuple[Integers, Integers]:
    """Author and feature of the entries of a type, without common features and those of one author."""
    bags = authors.bags[kind]
    stop = int(bags.start[authors.count])
    feature = bags.feature[:stop]
    several = np.bincount(feature, minlength=len(bags.total)) > 1
    kept = ((bags.total < (rare + 1) * SCALE[kind]) & several)[feature] if len(feature) else np.zeros(0, bool)
    return bags.author[:stop][kept], feature[kept]


def _pairs_with(kind: str, authors: ResultAuthors, index: KeyIndex, rare: int) -> Pairs:
    """Pairs of authors of different blocks that share a rare feature of this type and a key."""
    author, feature = _rare_entries(kind, authors, rare)
    size = np.diff(index.start)[author]
    owner, group = np.repeat(author, size), np.repeat(feature, size)
    group = group * (int(index.key.max(initial=0)) + 1) + index.key[ranges(index.start[author], size)]
    owner, group = _without_most_singletons(owner, group)
    # The order inside a group does not matter: all pairs are made, and made distinct afterwards.
    order = np.argsort(group)
    owner, group = owner[order], group[order]
    first = np.flatnonzero(np.diff(group, prepend=-1))
    size = np.diff(np.append(first, len(group)))
    kept = (size > 1) & (size <= MAX_GROUP)
    owner, size = owner[ranges(first[kept], size[kept])], size[kept]
    found = [np.empty((0, 2), np.int64)]
    for row, column in pairs_within_groups(size):
        a, b = owner[row], owner[column]
        fits = (a < b) & (authors.block[a] != authors.block[b])
        found.append(_distinct(np.stack([a[fits], b[fits]], axis=1)))
    return np.concatenate(found)


def _without_most_singletons(owner: Integers, group: Integers) -> tuple[Integers, Integers]:
    """The rows without most of those that are alone in their group, because sorting is slow."""
    bucket = group % min(_BUCKETS, _BUCKETS_PER_ROW * len(group) + 1)
    kept = (np.bincount(bucket, minlength=1) > 1)[bucket]
    return owner[kept], group[kept]


def _distinct(pairs: Pairs) -> Pairs:
    """The distinct pairs, in order."""
    code = np.unique(pairs[:, 0] << 32 | pairs[:, 1])
    return np.stack([code >> 32, code & (2**32 - 1)], axis=1)


def _on_one_document(documents: AuthorBags, pairs: Pairs) -> NDArray[np.bool_]:
    """Which pairs are on the same document, and so are two people."""
    return documents.lift(pairs[:, 0], pairs[:, 1])[1] > 0


def strangers(authors: ResultAuthors, table: NameTable, rare: int, most: int) -> Pairs:
    """Pairs of authors who share a rare feature, as candidates do, but whose names cannot be those of one person.

    They are neighbours in the index of a feature, chosen at regular distances.
    """
    found = [np.empty((0, 2), np.int64)]
    for kind in (CO, AFF):
        author, feature = _rare_entries(kind, authors, rare)
        order = np.sort(feature << 32 | np.arange(len(feature))) & (2**32 - 1)  # faster than a stable argsort
        author, feature = author[order], feature[order]
        for step in range(1, _NEIGHBOURS + 1):
            at = np.arange(0, len(author) - step, max(1, len(author) // most))
            a, b = author[at], author[at + step]
            fits = (feature[at] == feature[at + step]) & (authors.block[a] != authors.block[b])
            found.append(np.stack([a[fits], b[fits]], axis=1))
    pairs = _distinct(np.concatenate(found))
    pairs = pairs[~_on_one_document(authors.documents, pairs)]
    pairs = pairs[:: max(1, -(-len(pairs) // most))]
    is_stranger = [table.kind(a, b) is None for a, b in pairs.tolist()]
    found_pairs: Pairs = pairs[np.array(is_stranger, bool)]
    return found_pairs
