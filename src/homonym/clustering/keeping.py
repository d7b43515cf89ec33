"""Which clusters of a giant block keep S_t(C,D) from round to round, within the memory that is set aside for that.

Large clusters grow by a few mentions in each of many rounds. To walk through all that they hold every time would take
longest of all; what they shared with others before only has to be added up with what the newcomers share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from homonym.clustering.indexing import Floats, Integers

if TYPE_CHECKING:
    from homonym.clustering.kernel.walking import Kept

#: Bytes for kept rows by feature occurrence of the block: a few dozen rows at the beginning, hundreds at the end.
KEPT_BYTES = 32
#: Smaller clusters are walked as fast as their rows are read.
KEPT_SIZE = 5
#: Whoever has not grown for so many rounds may lose its row.
IDLE = 10


class KeptRows:
    """The rows that are kept, for the kernel in `kept`, and when each of them was last needed."""

    def __init__(self, K: int, types: int, occurrences: int) -> None:
        self._bytes, self._types = occurrences * KEPT_BYTES, types
        self._round = 0
        self._allocate(K)

    def _allocate(self, K: int) -> None:
        from homonym.clustering.kernel.walking import Kept

        rows = min(K, self._bytes // max(1, 8 * K * self._types))
        self.kept: Kept = Kept(
            np.zeros((rows, self._types, K)), np.full(K, -1, np.int32), np.full(rows, -1, np.int32)
        )  # fmt: skip
        self._needed = np.full(rows, -IDLE)

    def choose(self, new: Integers, size: Floats) -> None:
        """Let those of the new clusters that are costly to walk have a row, the largest first."""
        self._round += 1
        slot = self.kept.slot
        self._needed[slot[new][slot[new] >= 0]] = self._round
        wanted = new[(slot[new] < 0) & (size[new] >= KEPT_SIZE)]
        owners = np.flatnonzero(slot >= 0)
        owner = np.full(len(self._needed), -1)
        owner[slot[owners]] = owners
        for c in wanted[np.argsort(-size[wanted], kind="stable")]:
            place = self._place_for(float(size[c]), owner, size)
            if place < 0:
                break
            if owner[place] >= 0:
                slot[owner[place]] = -1
            owner[place], slot[c] = c, place
            self.kept.covered[place] = -1
            self.kept.S[place] = 0.0
            self._needed[place] = self._round

    def _place_for(self, size: float, owner: Integers, sizes: Floats) -> int:
        """A row that is free, or else idle, or else of a cluster that is much smaller; −1 where there is none."""
        if not len(owner):
            return -1
        free = np.flatnonzero(owner < 0)
        if len(free):
            return int(free[0])
        idle = int(self._needed.argmin())
        if self._needed[idle] <= self._round - IDLE:
            return idle
        held = np.where(self._needed < self._round, sizes[owner], np.inf)
        smallest = int(held.argmin())
        return smallest if held[smallest] < size / 2 else -1

    def renumber(self, kept: Integers, number: Integers, *, items_are_clusters: bool) -> None:
        """Go on with the clusters that are kept, under other numbers; more rows find place."""
        old, needed = self.kept, self._needed
        self._allocate(len(kept))
        owners = np.flatnonzero(old.slot >= 0)
        for place, c in enumerate(owners[: len(self._needed)]):
            slot = old.slot[c]
            self.kept.S[place] = old.S[slot][:, kept]
            self.kept.slot[number[c]] = place
            self.kept.covered[place] = number[c] if items_are_clusters else old.covered[slot]
            self._needed[place] = needed[slot]
