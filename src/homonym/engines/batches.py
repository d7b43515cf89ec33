"""Blocks in batches: many small ones together, a large one alone, and whatever takes longest first.

So the end of a run is not one core with a giant, and calls of the kernel are few.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Occurrences per batch: large enough to keep a call's overhead out of sight, small enough for the cache.
BATCH_OCCURRENCES = 1_000_000
#: A block of more pairs than this, that is of a thousand mentions, is a batch of its own.
ALONE_PAIRS = 1_000_000


class Batch(NamedTuple):
    """The blocks from `first` up to `last`, the number of their mentions, and that of the largest one."""

    first: int
    last: int
    mentions: int
    largest: int


def batches(block_start: NDArray[np.int64], occurrences: NDArray[np.int64]) -> list[Batch]:
    """All blocks, those that take longest first; mention x has `occurrences[x]` features.

    >>> start = np.array([0, 2, 3, 2003, 2004])
    >>> batches(start, np.full(2004, 10))
    [Batch(first=2, last=3, mentions=2000, largest=2000), Batch(first=0, last=2, mentions=3, largest=2), \
Batch(first=3, last=4, mentions=1, largest=1)]
    """
    sizes = np.diff(block_start)
    filled = np.concatenate([[0], np.cumsum(occurrences)])[block_start]
    pairs = np.concatenate([[0], np.cumsum(sizes**2)])
    found = []
    for first, last in _ranges(filled, sizes):
        work = int(pairs[last] - pairs[first] + filled[last] - filled[first])
        batch = Batch(first, last, int(sizes[first:last].sum()), int(sizes[first:last].max()))
        found.append((-work, batch))
    return [batch for _, batch in sorted(found)]


def _ranges(filled: NDArray[np.int64], sizes: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Ranges of blocks, in order, cut before and after each large one and where a batch is full."""
    large = np.flatnonzero(sizes**2 > ALONE_PAIRS)
    cuts = np.unique(np.concatenate([large, large + 1, [len(sizes)]]))
    found, first = [], 0
    for end in cuts.tolist():
        while first < end:
            full = int(np.searchsorted(filled, filled[first] + BATCH_OCCURRENCES, side="right")) - 1
            last = min(max(full, first + 1), end)
            found.append((first, last))
            first = last
    return found
