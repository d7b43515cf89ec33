"""Which task clusters which blocks: neighbours together, as much work for each, and giants alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.merging import GIANT_BLOCK, starts

#: Mentions per task: enough to make the start of a task cheap, few enough to share the work among many machines.
FEWEST_MENTIONS, MOST_MENTIONS = 20_000, 100_000
#: Tasks that are wanted between these bounds.
WANTED_TASKS = 400
#: A block of m mentions takes as long as m + m²/this in small ones.
PAIRS_PER_MENTION = 200


@dataclass(frozen=True, eq=False)
class Schedule:
    """All blocks in the order of the result: their numbers and sizes, and the first block of each task."""

    number: NDArray[np.int64]
    size: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def first_numbers(self) -> NDArray[np.int64]:
        """The number of the first block of each task."""
        return self.number[self.first]

    @property
    def first_places(self) -> NDArray[np.int64]:
        """The place in the result of the first mention of each task."""
        return starts(self.size)[self.first]


def schedule(number: NDArray[np.int64], size: NDArray[np.int64]) -> Schedule:
    """Cut the blocks into tasks.

    >>> schedule(np.arange(5), np.array([1, 9_000, 1, 2, 15_000])).first.tolist()
    [0, 1, 2, 4]
    """
    work = size + size**2 // PAIRS_PER_MENTION
    wanted = min(max(int(work.sum()) // WANTED_TASKS, FEWEST_MENTIONS), MOST_MENTIONS)
    giant = np.flatnonzero(size > GIANT_BLOCK)
    # A giant is a task; what lies between two of them is cut where enough work has come together.
    cuts = np.unique(np.concatenate([[0], giant, giant + 1]))
    filled = starts(work)
    first: list[int] = []
    for begin, end in zip(cuts.tolist(), [*cuts[1:].tolist(), len(size)], strict=True):
        while begin < end:
            first.append(begin)
            full = int(np.searchsorted(filled, filled[begin] + wanted))
            begin = min(max(full, begin + 1), end)
    return Schedule(number, size, np.array(first, np.int64))
