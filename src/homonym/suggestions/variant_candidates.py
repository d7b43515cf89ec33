"""Candidates: authors of different blocks who share a co-author or an institution, and whose names could be variants.

They are found with an inverted index over pairs of a feature and a key of the name (`index_keys_of_variants`), so that
only authors who agree in both are compared. Large groups are left out: what many authors share is no evidence.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import Floats, Integers, pairs_within_groups, ranges
from homonym.names.parse import Name, parse_name
from homonym.names.spelling import standard_name
from homonym.names.variants import DOUBLE, GIVEN, SPELLING, SURNAME, SWAPPED, index_keys_of_variants, variant_kind
from homonym.suggestions.author_bags import AFF, CO, AuthorBags, ResultAuthors

# Maximum number of authors with the same feature and the same key that are compared, and of candidates.
MAX_GROUP, MAX_CANDIDATES = 30, 1_000_000
# Share of people with a given initial, and with the same middle initial: about that of American names.
_SAME_INITIAL = 0.08

# Authors with the same feature that are taken as strangers of each other, to either side in the order of authors.
_NEIGHBOURS = 4

Pairs = NDArray[np.int64]
"""Two columns: numbers of authors, the smaller first."""


class Candidates(NamedTuple):
    """Pairs of authors, the kind of each, and the probability that names of two strangers agree like theirs."""

    pairs: Pairs
    kind: list[str]
    chance: Floats


class NameTable:
    """The parsed names of authors, and how common their parts are."""

    def __init__(self, names: list[str | None]) -> None:
        self.names: list[Name] = [standard_name(parse_name(name or "")) for name in names]
        self._surnames = Counter(name.surname for name in self.names)
        self._given = Counter(name.given[0] for name in self.names if name.given)
        self._people = len(self.names)

    def chance(self, kind: str, a: Name, b: Name) -> float:
        """The probability that the names of two strangers agree like these."""
        surname = max(self._share(self._surnames[a.surname]), self._share(self._surnames[b.surname]))
        given = max(self._share(self._given[a.given[0]]), self._share(self._given[b.given[0]]))
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

    def _share(self, people: int) -> float:
        return (people + 1) / (self._people + 2)


def find_candidates(authors: ResultAuthors, table: NameTable) -> Candidates:
    """All candidates, in the order of the authors."""
    key_owner, key = _shared_keys(authors, table)
    groups = [_pairs_with(authors.bags[kind], authors, key_owner, key) for kind in (CO, AFF)]
    pairs = _distinct(np.concatenate(groups))
    pairs = pairs[~_on_one_document(authors.documents, pairs)][:MAX_CANDIDATES]
    kinds = [variant_kind(table.names[a], table.names[b]) for a, b in pairs.tolist()]
    kept = np.array([kind is not None for kind in kinds], bool)
    kind = [one for one in kinds if one is not None]
    chance = [
        table.chance(one, table.names[a], table.names[b])
        for one, (a, b) in zip(kind, pairs[kept].tolist(), strict=True)
    ]
    return Candidates(pairs[kept], kind, np.array(chance, np.float64))


def _shared_keys(authors: ResultAuthors, table: NameTable) -> tuple[Integers, Integers]:
    """The keys of names as numbers, with their authors, in the order of authors; those of one block are left out."""
    number: dict[str, int] = {}
    owner, key = [], []
    for author, name in enumerate(table.names):
        for text in index_keys_of_variants(name):
            owner.append(author)
            key.append(number.setdefault(text, len(number)))
    owners, keys = np.array(owner, np.int64), np.array(key, np.int64)
    blocks = authors.block[owners]
    lowest, highest = np.full(len(number), np.iinfo(np.int64).max), np.full(len(number), -1)
    np.minimum.at(lowest, keys, blocks)
    np.maximum.at(highest, keys, blocks)
    kept = lowest[keys] < highest[keys]
    return owners[kept], keys[kept]


def _pairs_with(bags: AuthorBags, authors: ResultAuthors, key_owner: Integers, key: Integers) -> Pairs:
    """Pairs of authors of different blocks that share a feature of this type and a key."""
    stop = int(bags.start[authors.count])
    author, feature = bags.author[:stop], bags.feature[:stop]
    several = np.bincount(feature, minlength=1)[feature] > 1
    author, feature = author[several], feature[several]
    begin, end = np.searchsorted(key_owner, author), np.searchsorted(key_owner, author, side="right")
    owner, group = np.repeat(author, end - begin), np.repeat(feature, end - begin)
    group = group * (int(key.max(initial=0)) + 1) + key[ranges(begin, end - begin)]
    order = np.argsort(group, kind="stable")
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


def _distinct(pairs: Pairs) -> Pairs:
    """The pairs in order, each of them once."""
    code = np.unique(pairs[:, 0] << 32 | pairs[:, 1])
    return np.stack([code >> 32, code & (2**32 - 1)], axis=1)


def _on_one_document(documents: AuthorBags, pairs: Pairs) -> NDArray[np.bool_]:
    """Which pairs are on one document, and so are two people."""
    return documents.lift(pairs[:, 0], pairs[:, 1])[1] > 0


def strangers(authors: ResultAuthors, table: NameTable, most: int) -> Pairs:
    """Pairs of authors who share a co-author or an institution, but whose names cannot be those of one person.

    They are neighbours in the index of a feature, at even distances in the index.
    """
    found = [np.empty((0, 2), np.int64)]
    for kind in (CO, AFF):
        bags = authors.bags[kind]
        stop = int(bags.start[authors.count])
        order = np.argsort(bags.feature[:stop], kind="stable")
        author, feature = bags.author[:stop][order], bags.feature[:stop][order]
        for step in range(1, _NEIGHBOURS + 1):
            at = np.arange(0, len(author) - step, max(1, len(author) // most))
            a, b = author[at], author[at + step]
            fits = (feature[at] == feature[at + step]) & (authors.block[a] != authors.block[b])
            found.append(np.stack([a[fits], b[fits]], axis=1))
    pairs = _distinct(np.concatenate(found))
    pairs = pairs[~_on_one_document(authors.documents, pairs)]
    pairs = pairs[:: max(1, len(pairs) // most)]
    is_stranger = [variant_kind(table.names[a], table.names[b]) is None for a, b in pairs.tolist()]
    found_pairs: Pairs = pairs[np.array(is_stranger, bool)]
    return found_pairs
