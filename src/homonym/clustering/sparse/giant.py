"""Clustering of one giant block, exactly as the kernel does it, in memory that is linear in its feature occurrences.

No pair of clusters is kept. A cluster is the sum of its bags, so its scores with all others follow from a walk through
the features that it holds, and of each walk only the few best partners stay. After a round, the clusters that were made
in it are walked and offered to the others; who has lost all listed partners is walked again, unless its floor shows
that it has none above the limit. For `max`, S is a maximum over mentions, so mentions are walked one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import FloatArray, IntegerArray
from homonym.clustering.reference import ROUNDING, exceeds
from homonym.clustering.sparse.block_index import (
    Block,
    BlockConstraints,
    added_up,
    chains_of,
    held_by,
    index_of,
    opponents_of,
    renumbered,
    sums,
)

if TYPE_CHECKING:
    from homonym.clustering.sparse.giant_merging import Partners
    from homonym.clustering.sparse.row_scores import Kept, Rounds


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
        from homonym.clustering.sparse.row_scores import Kept

        rows = min(K, self._bytes // max(1, 8 * K * self._types))
        self.kept: Kept = Kept(
            np.zeros((rows, self._types, K)), np.full(K, -1, np.int32), np.full(rows, -1, np.int32)
        )  # fmt: skip
        self._needed = np.full(rows, -IDLE)

    def choose(self, new: IntegerArray, size: FloatArray) -> None:
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

    def _place_for(self, size: float, owner: IntegerArray, sizes: FloatArray) -> int:
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

    def renumber(self, kept: IntegerArray, number: IntegerArray, *, items_are_clusters: bool) -> None:
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


#: So many best partners of a cluster are kept: more are seldom used up before the cluster itself is joined.
LISTED = 6
#: Where nobody has rivals, so many pairs that are to be joined are found at a time.
ENOUGH = 1 << 20
#: At most so many clusters are walked at a time by one thread.
CHUNK = 64
#: The bags of joined clusters are added up when less than this share of the items is left.
WORN = 0.8


@dataclass
class Merges:
    """Where the merges are written, and how many there are; `walks` counts the clusters that were walked."""

    step: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    score: FloatArray
    done: int = 0
    walks: int = 0


def cluster_giant(
    block: Block,
    known: BlockConstraints | None,
    limit: float,
    merges: Merges,
    label: NDArray[np.int32],
    *,
    hypothetical: bool = False,
    threads: int = 1,
    advance: Callable[[int], None] | None = None,
) -> int:
    """Cluster one block: fill the labels and merges, return the number of rounds until convergence.

    `advance` is told how many clusters fewer there are after each round.
    """
    rounds, step = -1, 0
    process = _Process(block, known, merges)
    with Walkers(threads, block, len(process.index.inverse)) as process.walkers:
        while process.left > 1:
            rounding = process.refresh(limit)
            threshold = limit
            if not exceeds(process.best(), limit, rounding):
                if rounds < 0:
                    rounds, label[:] = step, process.home
                if not hypothetical:
                    break
                threshold = -np.inf
                process.refresh(threshold)
                if process.best() == -np.inf:
                    break
            step += 1
            before = merges.done
            process.join(threshold, rounding)
            merges.step[before : merges.done] = step
            if advance:
                advance(merges.done - before)
    if rounds < 0:
        rounds, label[:] = step, process.home
    return rounds


def fit_giant(
    block: Block,
    known: BlockConstraints | None,
    label: NDArray[np.int32],
    own: FloatArray,
    other: FloatArray,
    *,
    threads: int = 1,
) -> None:
    """Fill the margins of the mentions of one block, given its labels."""
    from homonym.clustering.sparse.row_scores import fit_rows

    K = int(label.max()) + 1
    index = index_of(block)
    if not block.use_max:
        index = held_by(index, label, K)
    members, opponents = chains_of(label, K), opponents_of(known, block.mentions)
    clusters = block.clusters(*sums(label, np.ones(block.mentions), block.n, K))
    model = (block.n, block.weight, block.below, block.N)

    def fit(rows: IntegerArray, steps: Rounds, _: Partners) -> None:
        fit_rows(rows, *model, index, clusters, members, opponents, steps, own, other)

    with Walkers(threads, block, len(index.inverse)) as walkers:
        walkers.run(np.arange(K), fit)


def linear_bytes(mentions: int, types: int, occurrences: int, threads: int = 1) -> int:
    """Memory that a giant block needs beside its bags.

    Occurrences by mention and by feature, while they are put in order; kept rows; sums of each cluster and type; lists
    of partners, and what each thread writes on.
    """
    lists = 3 * (LISTED * 12 + 16)
    by_thread = mentions * (lists + types * 8 + 40) + occurrences * 20
    return occurrences * (96 + KEPT_BYTES) + mentions * (types * 40 + 100 + lists) + threads * by_thread


class Walkers:
    """Threads that walk, each with arrays of its own to write on and lists for what it offers to other clusters."""

    def __init__(self, threads: int, block: Block, features: int) -> None:
        self._places: SimpleQueue[int] = SimpleQueue()
        self.steps = [_new_steps(block, features) for _ in range(max(1, threads))]
        self.offers = [empty_lists(0) for _ in self.steps]
        for place in range(len(self.steps)):
            self._places.put(place)
        self._executor = ThreadPoolExecutor(threads) if threads > 1 else None

    def __enter__(self) -> Walkers:
        return self

    def __exit__(self, *failure: object) -> None:
        if self._executor:
            self._executor.shutdown(cancel_futures=True)

    def expect_offers(self, partners: Partners, except_to: IntegerArray) -> None:
        """Empty what is offered to each cluster; only what is not below its floor is to be offered."""
        K = partners.floor.shape[1]
        if self.offers[0].floor.shape[1] != K:
            self.offers = [empty_lists(K) for _ in self.steps]
        for offers in self.offers:
            offers.filled[:] = 0
            offers.floor[:] = partners.floor
            offers.floor[:, except_to] = np.inf

    def run(self, rows: IntegerArray, walk: Callable[[IntegerArray, Rounds, Partners], None]) -> None:
        """Let all rows be walked, by whoever has time; `walk` must not depend on by whom."""
        size = max(1, min(CHUNK, len(rows) // (4 * len(self.steps))))
        chunks = [rows[start : start + size] for start in range(0, len(rows), size)]

        def work(chunk: IntegerArray) -> None:
            place = self._places.get()
            try:
                walk(chunk, self.steps[place], self.offers[place])
            finally:
                self._places.put(place)

        for _ in self._executor.map(work, chunks) if self._executor else map(work, chunks):
            pass


def empty_lists(K: int) -> Partners:
    """Lists of partners for K clusters, all of them empty."""
    from homonym.clustering.sparse.giant_merging import Partners

    shape: tuple[Any, ...] = (3, K, LISTED)
    return Partners(
        np.empty(shape, np.int32), np.empty(shape), np.zeros(shape[:2], np.int64), np.full(shape[:2], -np.inf)
    )  # fmt: skip


def _new_steps(block: Block, features: int) -> Rounds:
    from homonym.clustering.sparse.row_scores import Rounds

    m = block.mentions
    return Rounds(
        shared=np.zeros(m), row=np.zeros(m), column=np.zeros(m),
        most=np.zeros((len(block.weight), m if block.use_max else 0)),
        gathered=np.empty(features, np.int32), amount=np.empty(features), amount_of=np.zeros(features),
        mark=np.zeros(m, np.int64), seen=np.zeros(m, np.int64), token=np.zeros(1, np.int64),
    )  # fmt: skip


class _Process:
    """The clusters of a block as they are joined round by round.

    A cluster keeps its number, which is that of the first one in it, until many of them are no longer in use.
    """

    walkers: Walkers

    def __init__(self, block: Block, known: BlockConstraints | None, merges: Merges) -> None:
        m = self.left = block.mentions
        self.block, self.merges = block, merges
        self.constrained = known is not None
        self.smallest = np.arange(m)
        self.index, self.opponents = index_of(block), opponents_of(known, m)
        self.items, self.members = chains_of(self.smallest, m), chains_of(self.smallest, m)
        self.clusters = block.clusters(np.ones(m), block.n.copy())
        self.partners = empty_lists(m)
        self.rows = KeptRows(m, len(block.weight), len(self.index.feature))
        self._contract(self._grouped(known))
        self.new = self.clusters.size > 0

    @property
    def K(self) -> int:  # noqa: N802
        """How many numbers there are for clusters, in use or not."""
        return len(self.clusters.size)

    @property
    def home(self) -> IntegerArray:
        """The cluster of each mention, numbered by smallest member."""
        number = np.cumsum(self.clusters.size > 0) - 1
        found: IntegerArray = number[self.members.home]
        return found

    def _grouped(self, known: BlockConstraints | None) -> NDArray[np.int64]:
        """Record the merges that constraints demand; returns whom each mention is joined with."""
        if known is None:
            return np.arange(self.K)
        merges, joined = self.merges, np.flatnonzero(known.group != np.arange(self.K))
        merges.done = len(joined)
        merges.step[: merges.done], merges.score[: merges.done] = -1, np.inf
        merges.left[: merges.done], merges.right[: merges.done] = known.group[joined], joined
        return known.group.astype(np.int64)

    def refresh(self, threshold: float) -> float:
        """Bring the lists up to date as far as scores above the threshold go; returns the size of rounding errors."""
        from homonym.clustering.sparse.giant_merging import PEAK

        if self.new.any():
            new = np.flatnonzero(self.new)
            self.rows.choose(new, self.clusters.size)
            self._walk(new, offering=len(new) < self.left)
            self.new[:] = False
            if self.left < WORN * self.K:
                self._renumber()
        lost = (self.partners.filled == 0) & (self.partners.floor > threshold)
        if self.block.gamma > 0:
            lost[PEAK] = (self.partners.filled[PEAK] == 0) & (self.partners.floor[PEAK] > self._bests(PEAK).max())
        self._walk(np.flatnonzero(lost.any(axis=0)), offering=False)
        return ROUNDING * max(float(self._bests(PEAK).max()), 0.0) if self.block.gamma > 0 else 0.0

    def best(self) -> float:
        """The best score that is known."""
        return float(self._bests(0).max())

    def _bests(self, kind: int) -> FloatArray:
        """The best value of each cluster; −∞ where there is none above what the lists were brought up to."""
        found: FloatArray = np.where(self.partners.filled[kind] > 0, self.partners.value[kind, :, 0], -np.inf)
        return found

    def _walk(self, rows: IntegerArray, *, offering: bool) -> None:
        """Walk some clusters, and offer them to all others if that is wanted."""
        from homonym.clustering.sparse.giant_merging import accept
        from homonym.clustering.sparse.row_scores import walk_rows

        if not len(rows):
            return
        self.merges.walks += len(rows)
        state = (self.index, self.items, self.clusters, self.members, self.opponents, self.rows.kept, self.partners)
        if offering:
            self.walkers.expect_offers(self.partners, rows)

        def walk(chunk: IntegerArray, steps: Rounds, offers: Partners) -> None:
            walk_rows(chunk, *state, offers, offering, steps)

        self.walkers.run(rows, walk)
        if offering:
            for offers in self.walkers.offers:
                accept(offers, self.partners)

    def join(self, threshold: float, rounding: float) -> None:
        """Join all pairs that are best of row and column and exceed the threshold."""
        from homonym.clustering.sparse.giant_merging import COLUMN, ROW
        from homonym.clustering.sparse.row_scores import find_demands

        row_best, column_best = self._bests(ROW), self._bests(COLUMN)
        rows, at = np.flatnonzero(row_best > threshold), 0
        rows = rows[np.argsort(-row_best[rows], kind="stable")]
        parent = np.arange(self.K)
        while at < len(rows):
            left, right, score, at = find_demands(
                rows, at, np.iinfo(np.int64).max if self.constrained else ENOUGH, threshold, rounding,
                row_best, column_best, self.index, self.items, self.clusters, self.members, self.opponents,
                self.rows.kept, self.partners, self.walkers.steps[0],
            )  # fmt: skip
            self._unite(left, right, score, rounding, parent)
        self._contract(parent)

    def _unite(
        self, left: IntegerArray, right: IntegerArray, score: FloatArray, rounding: float, parent: NDArray[np.int64]
    ) -> None:
        """Join pairs: where somebody has rivals, from the highest score down, ties by smaller, then larger cluster."""
        from homonym.clustering.dense.merging import from_highest
        from homonym.clustering.sparse.giant_merging import unite, unite_allowed

        merges = self.merges
        record = (merges.done, merges.left, merges.right, merges.score)
        if not self.constrained:
            merges.done = unite(left, right, score, parent, self.smallest, *record)
            return
        by_cluster = np.lexsort((left > right, np.maximum(left, right), np.minimum(left, right)))
        order = by_cluster[from_highest(score[by_cluster], rounding)]
        pairs = (left[order], right[order], score[order])
        merges.done = unite_allowed(*pairs, parent, self.smallest, self.members, self.opponents, *record)

    def _contract(self, parent: NDArray[np.int64]) -> None:
        """Make one cluster of those that were joined."""
        from homonym.clustering.sparse.giant_merging import contract, forget_joined

        block, joined = self.block, np.empty(self.K, np.bool_)
        model = (block.weight, block.below, block.N)
        contract(parent, *model, self.index, self.items, self.clusters, self.members, self.rows.kept, joined)
        forget_joined(joined, self.partners)
        self.new = joined & (self.clusters.size > 0)
        self.left = int((self.clusters.size > 0).sum())

    def _renumber(self) -> None:
        """Number the clusters anew, without those that are no longer in use, and add up their bags."""
        from homonym.clustering.sparse.giant_merging import renumber

        kept = np.flatnonzero(self.clusters.size > 0)
        number = (np.cumsum(self.clusters.size > 0) - 1).astype(np.int32)
        fresh = empty_lists(self.left)
        renumber(kept, number, self.partners, fresh)
        self.partners, self.new, self.smallest = fresh, self.new[kept], self.smallest[kept]
        self.members = renumbered(self.members, kept, number)
        self.clusters = self.block.clusters(self.clusters.size[kept], self.clusters.n[kept])
        self.rows.renumber(kept, number, items_are_clusters=not self.block.use_max)
        if self.block.use_max:
            self.items = renumbered(self.items, kept, number)
        else:
            self.items = chains_of(np.arange(self.left), self.left)
            self.index = added_up(self.index, number, self.left)
