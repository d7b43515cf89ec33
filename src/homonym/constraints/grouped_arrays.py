"""numpy arithmetic on groups of items: consecutive groups given by their sizes or starts, and groups of equal keys."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import Integers, starts

# Number of pairs per batch: enough to hide the overhead of numpy calls, few enough to fit into memory.
PAIRS_PER_BATCH = 1 << 20


def pairs_within_groups(sizes: Integers, batch: int = PAIRS_PER_BATCH) -> Iterator[tuple[Integers, Integers]]:
    """Yield all ordered pairs of items of the same consecutive group, row by row, about `batch` pairs at a time.

    >>> [(row.tolist(), column.tolist()) for row, column in pairs_within_groups(np.array([1, 2]))]
    [([0, 1, 1, 2, 2], [0, 1, 2, 1, 2])]
    """
    first, width = np.repeat(starts(sizes)[:-1], sizes), np.repeat(sizes, sizes)
    row_start, begin = starts(width), 0
    while begin < len(width):
        end = max(int(np.searchsorted(row_start, row_start[begin] + batch, side="right")) - 1, begin + 1)
        widths = width[begin:end]
        row = np.repeat(np.arange(begin, end), widths)
        offset = first[begin:end] - row_start[begin:end] + row_start[begin]
        yield row, np.arange(len(row)) + np.repeat(offset, widths)
        begin = end


def has_different_values(value: Integers, start: Integers) -> NDArray[np.bool_]:
    """For each consecutive group, whether it holds different values; negative values are ignored.

    >>> has_different_values(np.array([3, -1, 3, 3, 4]), np.array([0, 3, 5])).tolist()
    [False, True]
    """
    highest = np.maximum.reduceat(value, start[:-1])
    lowest = np.minimum.reduceat(np.where(value < 0, np.iinfo(value.dtype).max, value), start[:-1])
    return lowest < highest


def sort_by_keys(*keys: Integers) -> tuple[Integers, NDArray[np.bool_]]:
    """The stable order of items by their keys, and for each position of that order whether its keys are new.

    >>> [found.tolist() for found in sort_by_keys(np.array([2, 1, 2]))]
    [[1, 0, 2], [True, True, False]]
    """
    order = np.lexsort(keys[::-1])
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    return order, is_new


def equal_keys(*keys: Integers) -> tuple[Integers, Integers]:
    """For each item, the first item with the same keys and the number of items with these keys.

    >>> [found.tolist() for found in equal_keys(np.array([1, 2, 1]), np.array([0, 0, 0]))]
    [[0, 1, 0], [2, 1, 2]]
    """
    order, is_new = sort_by_keys(*keys)
    begin = np.flatnonzero(is_new)
    group = np.cumsum(is_new) - 1
    first, count = np.empty_like(order), np.empty_like(order)
    first[order] = order[begin][group]
    count[order] = np.diff(np.append(begin, len(order)))[group]
    return first, count


def connected_components(items: int, left: Integers, right: Integers) -> Integers:
    """For each item, the smallest item of its connected component; the edges are `left[i]`–`right[i]`.

    Own code, because scipy is only an optional extra.

    >>> connected_components(5, np.array([4, 1]), np.array([3, 4])).tolist()
    [0, 1, 2, 1, 1]
    """
    representative = np.arange(items)
    while True:
        ends = representative[left], representative[right]
        low, high = np.minimum(*ends), np.maximum(*ends)
        joins = low < high
        if not joins.any():
            return representative
        np.minimum.at(representative, high[joins], low[joins])
        while not np.array_equal(shorter := representative[representative], representative):
            representative = shorter
