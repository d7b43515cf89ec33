"""Arithmetic over parts of arrays that stand one behind the other: blocks, groups, profiles."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import starts

Integers = NDArray[np.int64]

#: Pairs that are looked at together: enough to keep a call's overhead out of sight, few enough for the memory.
PAIRS = 1 << 20


def within(sizes: Integers, most: int = PAIRS) -> Iterator[tuple[Integers, Integers]]:
    """Yield all ordered pairs of items of the same part, by rows, about `most` at a time.

    >>> [(row.tolist(), column.tolist()) for row, column in within(np.array([1, 2]))]
    [([0, 1, 1, 2, 2], [0, 1, 2, 1, 2])]
    """
    first, width = np.repeat(starts(sizes)[:-1], sizes), np.repeat(sizes, sizes)
    done, begin = starts(width), 0
    while begin < len(width):
        end = max(int(np.searchsorted(done, done[begin] + most, side="right")) - 1, begin + 1)
        wide = width[begin:end]
        row = np.repeat(np.arange(begin, end), wide)
        yield row, np.arange(len(row)) + np.repeat(first[begin:end] - done[begin:end] + done[begin], wide)
        begin = end


def differing(value: Integers, start: Integers) -> NDArray[np.bool_]:
    """Whether there are different values in each part, those below 0 left out.

    >>> differing(np.array([3, -1, 3, 3, 4]), np.array([0, 3, 5])).tolist()
    [False, True]
    """
    highest = np.maximum.reduceat(value, start[:-1])
    lowest = np.minimum.reduceat(np.where(value < 0, np.iinfo(value.dtype).max, value), start[:-1])
    return lowest < highest


def sorted_by(*keys: Integers) -> tuple[Integers, NDArray[np.bool_]]:
    """The order of items by their keys, equal ones as they stand, and for each place there whether its keys are new.

    >>> [found.tolist() for found in sorted_by(np.array([2, 1, 2]))]
    [[1, 0, 2], [True, True, False]]
    """
    order = np.lexsort(keys[::-1])
    new = np.ones(len(order), np.bool_)
    new[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    return order, new


def alike(*keys: Integers) -> tuple[Integers, Integers]:
    """For each item, the first with the same keys, and how many there are of these.

    >>> [found.tolist() for found in alike(np.array([1, 2, 1]), np.array([0, 0, 0]))]
    [[0, 1, 0], [2, 1, 2]]
    """
    order, new = sorted_by(*keys)
    begin = np.flatnonzero(new)
    number = np.cumsum(new) - 1
    first, count = np.empty_like(order), np.empty_like(order)
    first[order] = order[begin][number]
    count[order] = np.diff(np.append(begin, len(order)))[number]
    return first, count


def connected(items: int, left: Integers, right: Integers) -> Integers:
    """For each item, the first of all that are linked with it, also through others.

    >>> connected(5, np.array([4, 1]), np.array([3, 4])).tolist()
    [0, 1, 2, 1, 1]
    """
    first = np.arange(items)
    while True:
        low, high = np.minimum(first[left], first[right]), np.maximum(first[left], first[right])
        apart = low < high
        if not apart.any():
            return first
        np.minimum.at(first, high[apart], low[apart])
        while not np.array_equal(further := first[first], first):
            first = further
