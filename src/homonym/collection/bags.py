"""Bags as columns: the features of a part are numbered, and its bags put in order.

A part numbers its features by type and name, as the collection does. So a bag that is in order within its part stays
in order when its features get their final numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from homonym.collection.layout import BAGS, FEATURES

# Sums of whole counts below this are exact in floating point.
LARGEST_EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class Occurrences:
    """The bags of one feature type: entry i counts `name[feature[i]]`, and each feature is once in a bag."""

    name: pa.Array
    owner: NDArray[np.int64]
    feature: NDArray[np.int64]
    count: NDArray[np.float64]
    holders: NDArray[np.int32]


def occurrences_of_mentions(owner: NDArray[np.int64], feature: pa.Array, count: NDArray[np.float64]) -> Occurrences:
    """The entries of bags that belong to one mention each."""
    coded = feature.dictionary_encode()
    indices = coded.indices.to_numpy().astype(np.int64)
    return Occurrences(coded.dictionary, owner, indices, count, np.ones(len(owner), np.int32))


def bag_tables(types: Mapping[str, Occurrences], part: int) -> tuple[pa.Table, pa.Table]:
    """The features of a part, numbered, and its bags by owner: tables of the schemas FEATURES and BAGS."""
    features, bags, numbered = [FEATURES.empty_table()], [], 0
    for kind, bag in sorted(types.items()):
        order = pc.sort_indices(bag.name)
        rank = np.empty(len(order), np.int64)
        rank[order.to_numpy()] = np.arange(len(order))
        feature = rank[bag.feature]
        features.append(_feature_rows(kind, bag, bag.name.take(order), feature, (part, numbered)))
        bags.append((bag.owner, feature + numbered, bag.count, bag.holders))
        numbered += len(order)
    columns = [np.concatenate(column) for column in zip(*bags, strict=True)]
    return pa.concat_tables(features), _ordered_bags(columns)


def _feature_rows(
    kind: str, bag: Occurrences, name: pa.Array, feature: NDArray[np.int64], part_and_first: tuple[int, int]
) -> pa.Table:
    """The rows of one type. `name` are its features in order, and `feature` is the index of each entry among them."""
    part, first_id = part_and_first
    summed = np.bincount(feature, bag.count * bag.holders, len(name))
    if (bag.count % 1 == 0).all() and summed.max(initial=0.0) < LARGEST_EXACT:
        feature, count, holders = np.arange(len(name)), np.ones(len(name)), summed.astype(np.int64)
    else:
        order = np.lexsort((bag.count, feature))
        feature, count = feature[order], bag.count[order]
        first = np.flatnonzero((np.diff(feature, prepend=-1) != 0) | (np.diff(count, prepend=-1.0) != 0))
        holders = np.add.reduceat(bag.holders[order].astype(np.int64), first)
        feature, count = feature[first], count[first]
    columns = [
        np.full(len(feature), part, np.int64),
        (feature + first_id).astype(np.int32),
        pa.repeat(pa.scalar(kind), len(feature)),
        name.take(pa.array(feature)),
        count,
        holders,
        np.diff(feature, prepend=-1) == 0,
    ]
    return pa.table(columns, schema=FEATURES)


def _ordered_bags(columns: list[NDArray[Any]]) -> pa.Table:
    if not columns or not len(columns[0]):
        return BAGS.empty_table()
    owner, feature, count, holders = columns
    order = order_by_owner(owner, feature)
    return pa.table([owner[order], feature[order].astype(np.int32), count[order], holders[order]], schema=BAGS)


def order_by_owner(owner: NDArray[np.int64], feature: NDArray[np.integer]) -> NDArray[np.int64]:
    """The indices that sort entries by owner, then by feature.

    >>> order_by_owner(np.array([7, 5, 7]), np.array([1, 2, 0]))
    array([1, 2, 0])
    """
    if not len(owner):
        return np.zeros(0, np.int64)
    relative, bits = owner - owner.min(), int(feature.max()).bit_length()
    if int(relative.max()).bit_length() + bits > 63:
        return np.lexsort((feature, owner))
    # Sorting one combined column is several times as fast, above all where it consists of a few sorted runs.
    return np.argsort((relative << bits) | feature, kind="stable")
