"""Bags of features as columns: filled list by list, counted and numbered for a whole part at once.

What a part's documents say is gathered as plain lists of features; counting them one document at a time would take
longer than all else. A part numbers its features by type and name, so its numbers rise like those of the collection and
a bag that is in order here stays so when its features are numbered for good.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from homonym.features.types import term
from homonym.settings import Settings

FEATURES = pa.schema(
    [("part", pa.int64()), ("id", pa.int32()), ("type", pa.string()), ("feature", pa.string()), ("count", pa.float64()),
     ("holders", pa.int64()), ("again", pa.bool_())]
)  # fmt: skip
"""The features of a part, `id` being the number there, with what they add to #(f): `count` times `holders`.

A feature has a row for each of its counts, all but the first marked `again`; whole counts are summed up, with the
count 1.
"""

BAGS = pa.schema([("owner", pa.int64()), ("feature", pa.int32()), ("count", pa.float64()), ("holders", pa.int32())])
"""Bags by owner and feature, the feature being its number in the part; `holders` mentions have the owner's bag."""

#: Sums of whole counts up to this are exact in floating point.
LARGEST_EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class Occurrences:
    """The bags of one feature type: each entry once in its bag; `name[feature[i]]` is what entry i counts."""

    name: pa.Array
    owner: NDArray[np.int64]
    feature: NDArray[np.int64]
    count: NDArray[np.float64]
    holders: NDArray[np.int32]


class Lists:
    """Bags of one type that are lists of features, in which some stand more than once."""

    def __init__(self) -> None:
        self.owners: list[int] = []
        self.holders: list[int] = []
        self.sizes: list[int] = []
        self.features: list[str] = []

    def add(self, owner: int, features: Sequence[str], holders: int) -> None:
        """Add a bag that so many mentions have."""
        self.owners.append(owner)
        self.holders.append(holders)
        self.sizes.append(len(features))
        self.features += features

    def counted(self) -> Occurrences:
        """Count how often each feature stands in each bag."""
        coded = pa.array(self.features, pa.string()).dictionary_encode()
        bag = np.repeat(np.arange(len(self.sizes)), self.sizes)
        bag, feature, count = counted_pairs(bag, coded.indices.to_numpy(), len(coded.dictionary))
        owners, holders = np.array(self.owners, np.int64), np.array(self.holders, np.int32)
        return Occurrences(coded.dictionary, owners[bag], feature, count.astype(np.float64), holders[bag])


class Weighted:
    """Bags of one type that bring their counts along."""

    def __init__(self) -> None:
        self.owners: list[int] = []
        self.holders: list[int] = []
        self.sizes: list[int] = []
        self.features: list[str] = []
        self.counts: list[float] = []

    def add(self, owner: int, bag: Mapping[str, float], holders: int) -> None:
        """Add a bag that so many mentions have."""
        self.owners.append(owner)
        self.holders.append(holders)
        self.sizes.append(len(bag))
        self.features += bag
        self.counts += bag.values()

    def counted(self) -> Occurrences:
        """The bags as columns."""
        coded = pa.array(self.features, pa.string()).dictionary_encode()
        return Occurrences(
            coded.dictionary,
            np.repeat(np.array(self.owners, np.int64), self.sizes),
            coded.indices.to_numpy().astype(np.int64),
            np.array(self.counts, np.float64),
            np.repeat(np.array(self.holders, np.int32), self.sizes),
        )


def term_occurrences(
    owners: NDArray[np.int64],
    holders: NDArray[np.int32],
    titles: Sequence[str],
    abstracts: Sequence[str],
    settings: Settings,
) -> Occurrences:
    """The words of documents, of which each has an owner and holders."""
    words, document, word, count = term(titles, abstracts, settings)
    return Occurrences(
        pa.array(words, pa.string()), owners[document], word, count.astype(np.float64), holders[document]
    )  # fmt: skip


def counted_pairs(
    left: NDArray[np.int64], right: NDArray[np.integer], rights: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The different pairs of two columns in order, and how often each stands there; `right` is below `rights`.

    >>> [column.tolist() for column in counted_pairs(np.array([0, 2, 0]), np.array([1, 0, 1]), 2)]
    [[0, 2], [1, 0], [2, 1]]
    """
    key = np.sort(left * rights + right)
    first = np.flatnonzero(np.diff(key, prepend=-1))
    found_left, found_right = np.divmod(key[first], max(rights, 1))
    return found_left, found_right, np.diff(np.append(first, len(key)))


def bag_tables(types: Mapping[str, Occurrences], part: int) -> tuple[pa.Table, pa.Table]:
    """Number the features of a part and put its bags in order: tables of schema FEATURES and BAGS."""
    features, bags, numbered = [FEATURES.empty_table()], [], 0
    for kind, found in sorted(types.items()):
        order = pc.sort_indices(found.name)
        rank = np.empty(len(order), np.int64)
        rank[order.to_numpy()] = np.arange(numbered, numbered + len(order))
        place = rank[found.feature]
        features.append(_feature_rows(kind, found.name.take(order), place - numbered, found, part, numbered))
        bags.append((found.owner, place, found.count, found.holders))
        numbered += len(order)
    columns = [np.concatenate(column) for column in zip(*bags, strict=True)]
    return pa.concat_tables(features), _in_order(columns)


def _feature_rows(
    kind: str, name: pa.Array, place: NDArray[np.int64], found: Occurrences, part: int, numbered: int
) -> pa.Table:
    """The rows of one type: `place` is each entry's feature among the ordered names, which are numbered from there."""
    summed = np.bincount(place, found.count * found.holders, len(name))
    if (found.count % 1 == 0).all() and summed.max(initial=0.0) < LARGEST_EXACT:
        feature, count, holders = np.arange(len(name)), np.ones(len(name)), summed.astype(np.int64)
    else:
        order = np.lexsort((found.count, place))
        feature, count = place[order], found.count[order]
        first = np.flatnonzero((np.diff(feature, prepend=-1) != 0) | (np.diff(count, prepend=-1.0) != 0))
        holders = np.add.reduceat(found.holders[order].astype(np.int64), first)
        feature, count = feature[first], count[first]
    columns = [
        np.full(len(feature), part, np.int64),
        (feature + numbered).astype(np.int32),
        pa.repeat(pa.scalar(kind), len(feature)),
        name.take(pa.array(feature)),
        count,
        holders,
        np.diff(feature, prepend=-1) == 0,
    ]
    return pa.table(columns, schema=FEATURES)


def _in_order(columns: list[NDArray[Any]]) -> pa.Table:
    """Bags by owner, inside a bag by feature."""
    if not columns or not len(columns[0]):
        return BAGS.empty_table()
    owner, feature, count, holders = columns
    order = in_order_of(owner, feature)
    return pa.table([owner[order], feature[order].astype(np.int32), count[order], holders[order]], schema=BAGS)


def in_order_of(owner: NDArray[np.int64], feature: NDArray[np.integer]) -> NDArray[np.int64]:
    """The order of rising owners, and of rising features inside of each.

    >>> in_order_of(np.array([7, 5, 7]), np.array([1, 2, 0]))
    array([1, 2, 0])
    """
    if not len(owner):
        return np.zeros(0, np.int64)
    relative, bits = owner - owner.min(), int(feature.max()).bit_length()
    if int(relative.max()).bit_length() + bits > 63:
        return np.lexsort((feature, owner))
    # One number for both: to sort one column is several times as fast, above all where it is a few sorted runs.
    return np.argsort((relative << bits) | feature, kind="stable")
