"""Clustering of one giant block: the results of the dense kernel in memory linear in the block's feature occurrences.

No pair of clusters is stored. A cluster is the sum of its bags, so its scores with all others follow from the inverted
index, and only its few best partners are kept. After a round, the rows of the new clusters are computed, and the new
clusters are offered to the lists of the others. A cluster that has lost all listed partners is computed again, unless
the floor of its list shows that it has no partner above the limit.

If documents are looked up, bags are long, and each row is costly: as soon as few clusters are left, their pairs are
stored after all (`remaining_pairs`).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import Constraints, Floats, Integers, Margins, Merges, ReusedMemory
from homonym.clustering.dense.merging import descending_order
from homonym.clustering.dense.scoring import Names, combine_names
from homonym.clustering.reference import ROUNDING, exceeds
from homonym.clustering.sparse.giant_merging import (
    COLUMN,
    PEAK,
    ROW,
    Pairs,
    Partners,
    accept,
    contract,
    copy_lists,
    empty_lists,
    join_pairs,
    remove_joined,
)
from homonym.clustering.sparse.inverted_index import (
    Block,
    index_cannot_links,
    index_clusters,
    index_mentions,
    linked_lists,
    renumber_lists,
    with_clusters_as_holders,
)
from homonym.clustering.sparse.round_snapshots import (
    RoundStore,
    Snapshot,
    content_key,
    named_arrays,
    with_arrays,
)
from homonym.clustering.sparse.row_scores import (
    Bests,
    CachedRows,
    Clusters,
    RowScratch,
    State,
    best_pairs,
    fit_rows,
    list_partners,
)

#: Number of best partners kept per cluster. Longer lists are seldom used up before the cluster itself is joined.
LISTED = 6
#: Number of best pairs collected at a time, if there are no cannot-links.
ENOUGH = 1 << 20
#: Maximum number of rows that a thread computes at a time.
CHUNK = 64
#: Clusters are renumbered, and their bags summed, when less than this share of the numbers is in use.
WORN = 0.8
#: Bytes of cached rows per feature occurrence: some dozens of rows at the beginning, hundreds at the end.
CACHE_BYTES = 32
#: Bytes of cached rows if documents are looked up: hundreds of rows at the beginning.
LOOKED_UP_CACHE_BYTES = 1 << 28
#: Minimum size of a cluster with a cached row. Smaller clusters are computed as fast as a cached row is read.
CACHED_SIZE = 5
#: Number of rounds without growth after which a cluster may lose its cached row.
IDLE = 10


class RowCache:
    """Chooses the clusters whose rows are cached, in `rows`, by their size and by when they last grew."""

    def __init__(self, K: int, types: int, memory: int) -> None:
        self._bytes, self._types = memory, types
        self._round = 0
        self._allocate(K)

    def _allocate(self, K: int) -> None:
        slots = min(K, self._bytes // max(1, 8 * K * self._types))
        slot, covered = np.full(K, -1, np.int32), np.full(slots, -1, np.int32)
        self.rows = CachedRows(np.zeros((slots, self._types, K)), slot, covered)
        self._last_used = np.full(slots, -IDLE)

    def assign(self, new: Integers, size: Floats) -> None:
        """Assign slots to those new clusters that are costly to compute, the largest first."""
        self._round += 1
        slot = self.rows.slot
        self._last_used[slot[new][slot[new] >= 0]] = self._round
        wanted = new[(slot[new] < 0) & (size[new] >= CACHED_SIZE)]
        owners = np.flatnonzero(slot >= 0)
        owner = np.full(len(self._last_used), -1)
        owner[slot[owners]] = owners
        for c in wanted[np.argsort(-size[wanted], kind="stable")]:
            place = self._slot_for(float(size[c]), owner, size)
            if place < 0:
                break
            if owner[place] >= 0:
                slot[owner[place]] = -1
            owner[place], slot[c] = c, place
            self.rows.covered[place] = -1
            self.rows.S[place] = 0.0
            self._last_used[place] = self._round

    def _slot_for(self, size: float, owner: Integers, sizes: Floats) -> int:
        """A slot that is free, else idle, else of a much smaller cluster; −1 if there is none."""
        if not len(owner):
            return -1
        free = np.flatnonzero(owner < 0)
        if len(free):
            return int(free[0])
        idle = int(self._last_used.argmin())
        if self._last_used[idle] <= self._round - IDLE:
            return idle
        replaceable = np.where(self._last_used < self._round, sizes[owner], np.inf)
        smallest = int(replaceable.argmin())
        return smallest if replaceable[smallest] < size / 2 else -1

    @property
    def usage(self) -> tuple[Integers, int]:
        """The round in which each slot was last used, and the number of rounds."""
        return self._last_used, self._round

    def restore(self, rows: CachedRows, last_used: Integers, number: int) -> None:
        """Continue with the rows and the `usage` of an earlier run."""
        self.rows, self._last_used, self._round = rows, last_used, number

    def renumber(self, remaining: Integers, number: NDArray[np.int32], *, items_are_clusters: bool) -> None:
        """Continue with the remaining clusters under new numbers; shorter rows leave room for more of them."""
        old, last_used = self.rows, self._last_used
        self._allocate(len(remaining))
        owners = np.flatnonzero(old.slot >= 0)
        for place, c in enumerate(owners[: len(self._last_used)]):
            slot = old.slot[c]
            self.rows.S[place] = old.S[slot][:, remaining]
            self.rows.slot[number[c]] = place
            self.rows.covered[place] = number[c] if items_are_clusters else old.covered[slot]
            self._last_used[place] = last_used[slot]


class RowThreads:
    """Threads that compute rows, each with its own scratch arrays and its own offers to other clusters."""

    def __init__(self, threads: int, block: Block, features: int) -> None:
        self._free: SimpleQueue[int] = SimpleQueue()
        self.scratch = [_new_scratch(block, features) for _ in range(max(1, threads))]
        self.offers = [empty_lists(0, LISTED) for _ in self.scratch]
        for thread in range(len(self.scratch)):
            self._free.put(thread)
        self._executor = ThreadPoolExecutor(threads) if threads > 1 else None

    def __enter__(self) -> RowThreads:
        return self

    def __exit__(self, *failure: object) -> None:
        if self._executor:
            self._executor.shutdown(cancel_futures=True)

    def clear_offers(self, partners: Partners, except_to: Integers) -> None:
        """Empty the offers and set their floors to those of the lists, or ∞ for clusters that get no offers."""
        K = partners.floor.shape[1]
        if self.offers[0].floor.shape[1] != K:
            self.offers = [empty_lists(K, LISTED) for _ in self.scratch]
        for offers in self.offers:
            offers.filled[:] = 0
            offers.floor[:] = partners.floor
            offers.floor[:, except_to] = np.inf

    def run(self, rows: Integers, compute: Callable[[Integers, RowScratch, Partners], None]) -> None:
        """Compute all rows in chunks; the result must not depend on which thread takes which chunk."""
        size = max(1, min(CHUNK, len(rows) // (4 * len(self.scratch))))
        chunks = [rows[start : start + size] for start in range(0, len(rows), size)]

        def work(chunk: Integers) -> None:
            thread = self._free.get()
            try:
                compute(chunk, self.scratch[thread], self.offers[thread])
            finally:
                self._free.put(thread)

        for _ in self._executor.map(work, chunks) if self._executor else map(work, chunks):
            pass


def _new_scratch(block: Block, features: int) -> RowScratch:
    m = block.mentions
    return RowScratch(
        shared=np.zeros(m), row=np.zeros(m), column=np.zeros(m),
        whole=np.zeros((block.types, m if block.model.use_max or block.looks_up else 0)),
        bag=np.empty(features, np.int32), amount=np.empty(features), amount_of=np.zeros(features),
        mark=np.zeros(m, np.int64), seen=np.zeros(m, np.int64), token=np.zeros(1, np.int64),
    )  # fmt: skip


def _new_clusters(block: Block, size: Floats, n: Floats, required: Floats, names: Names) -> Clusters:
    """Clusters with the given sums and names."""
    model = block.model
    below = n.T + size * model.epsilon
    if model.joint:
        below = np.repeat((model.mass + model.N * model.epsilon)[:, None], len(size), axis=1)
    w = np.ascontiguousarray(model.weight[:, None] / below)
    smooth = w.sum(axis=0) * (model.epsilon / model.N)
    chance = np.zeros(len(size)) if model.joint else n @ model.expected
    return Clusters(size, n, w, smooth, chance, required, names)


class Agglomeration:
    """The clusters of one giant block while they are merged round by round.

    A cluster keeps its number, which is the smallest number of the clusters in it, until many numbers are unused.
    """

    threads: RowThreads

    def __init__(self, block: Block, constraints: Constraints | None, merges: Merges) -> None:
        m = self.left = block.mentions
        self.block, self.merges, self.done = block, merges, 0
        self.constrained = constraints is not None
        self.smallest = np.arange(m)
        self.partners = empty_lists(m, LISTED)
        index = index_mentions(block)
        self.cache = RowCache(m, block.types, cache_bytes(len(index.feature), looks_up=block.looks_up))
        self.state = State(
            model=block.model,
            index=index,
            items=linked_lists(self.smallest, m),
            members=linked_lists(self.smallest, m),
            clusters=_new_clusters(
                block,
                np.ones(m),
                block.n.copy(),
                block.model.chance_limit * block.level,
                Names(block.name.copy(), block.factor.copy()),
            ),
            links=index_cannot_links(constraints, m),
            cached=self.cache.rows,
            documents=block.documents,
        )
        self._contract(self._join_must_links(constraints))
        self.new = self.state.clusters.size > 0

    @property
    def K(self) -> int:  # noqa: N802
        """The number of cluster numbers, used or not."""
        return len(self.state.clusters.size)

    @property
    def label(self) -> Integers:
        """The cluster of each mention, numbered by smallest member."""
        number = np.cumsum(self.state.clusters.size > 0) - 1
        found: Integers = number[self.state.members.cluster]
        return found

    def snapshot(self, label: NDArray[np.int32], step: int, rounds: int) -> Snapshot:
        """Everything that later rounds depend on; the arrays are not copied."""
        state, (last_used, used) = self.state, self.cache.usage
        return Snapshot(
            state.index, state.items, state.members, state.clusters, state.cached, last_used, self.partners,
            self.smallest, self.new, self.merges, label, np.array([self.left, self.done, used, step, rounds]),
        )  # fmt: skip

    def restore(self, saved: Snapshot, label: NDArray[np.int32]) -> tuple[int, int]:
        """Continue from a snapshot; returns the number of rounds, and of rounds until convergence."""
        self.left, self.done, used, step, rounds = saved.numbers.tolist()
        self.state = self.state._replace(**{name: getattr(saved, name) for name in ("index", "items", "members")})
        self.state = self.state._replace(clusters=saved.clusters, cached=saved.cached)
        self.cache.restore(saved.cached, saved.last_used, used)
        self.partners, self.smallest, self.new = saved.partners, saved.smallest, saved.new
        for field in Merges._fields:
            getattr(self.merges, field)[:] = getattr(saved.merges, field)
        label[:] = saved.label
        return step, rounds

    def _join_must_links(self, constraints: Constraints | None) -> Integers:
        """Record the merges of the must-link groups; returns the parent of each mention."""
        if constraints is None:
            return np.arange(self.K)
        group, merges, joined = constraints.group, self.merges, np.flatnonzero(constraints.group != np.arange(self.K))
        self.done = len(joined)
        merges.round[: self.done], merges.score[: self.done] = -1, np.inf
        merges.left[: self.done], merges.right[: self.done] = group[joined], joined
        return group.astype(np.int64)

    def update_partners(self, threshold: float) -> float:
        """Bring the lists up to date for scores above the threshold; returns the size of rounding errors."""
        if self.new.any():
            new = np.flatnonzero(self.new)
            self.cache.assign(new, self.state.clusters.size)
            self.compute_rows(new, offering=len(new) < self.left)
            self.new[:] = False
            if self.left < WORN * self.K:
                self._renumber()
        partners, with_chance = self.partners, self.block.model.gamma > 0
        lost = (partners.filled == 0) & (partners.floor > threshold)
        if with_chance:
            lost[PEAK] = (partners.filled[PEAK] == 0) & (partners.floor[PEAK] > self._bests(PEAK).max())
        self.compute_rows(np.flatnonzero(lost.any(axis=0)), offering=False)
        return ROUNDING * max(float(self._bests(PEAK).max()), 0.0) if with_chance else 0.0

    def best(self) -> float:
        """The best score in the lists."""
        return float(self._bests(ROW).max())

    def _bests(self, kind: int) -> Floats:
        """The best value of each cluster; −∞ if none is above the threshold that the lists are up to date for."""
        found: Floats = np.where(self.partners.filled[kind] > 0, self.partners.value[kind, :, 0], -np.inf)
        return found

    def compute_rows(self, rows: Integers, *, offering: bool) -> None:
        """Fill the lists of some clusters; with `offering`, offer these clusters to all others."""
        if not len(rows):
            return
        state, partners = self.state, self.partners
        if offering:
            self.threads.clear_offers(partners, rows)

        def compute(chunk: Integers, scratch: RowScratch, offers: Partners) -> None:
            list_partners(chunk, state, partners, offers, offering, scratch)

        self.threads.run(rows, compute)
        if offering:
            for offers in self.threads.offers:
                accept(offers, partners)

    def drop_cached_rows(self) -> None:
        """Release the memory of cached rows; rows must not be computed after that."""
        self.cache = RowCache(self.K, self.block.types, 0)
        self.state = self.state._replace(cached=self.cache.rows)

    def join(self, threshold: float, rounding: float) -> None:
        """Join all pairs that are best of row and column and exceed the threshold."""
        bests = Bests(self._bests(ROW), self._bests(COLUMN), threshold, rounding)
        rows = np.flatnonzero(bests.row > threshold)
        rows = rows[np.argsort(-bests.row[rows], kind="stable")]
        enough = np.iinfo(np.int64).max if self.constrained else ENOUGH
        parent = np.arange(self.K)
        while len(rows):
            pairs, processed = best_pairs(rows, enough, bests, self.partners, self.state, self.threads.scratch[0])
            self._join_pairs(pairs, rounding, parent)
            rows = rows[processed:]
        self._contract(parent)

    def _join_pairs(self, pairs: Pairs, rounding: float, parent: Integers) -> None:
        """Join pairs; with constraints from the highest score down, ties by smaller, then larger cluster."""
        if self.constrained:
            left, right, score = pairs
            by_cluster = np.lexsort((left > right, np.maximum(left, right), np.minimum(left, right)))
            order = by_cluster[descending_order(score[by_cluster], rounding)]
            pairs = Pairs(left[order], right[order], score[order])
        members, links = self.state.members, self.state.links
        self.done = join_pairs(pairs, parent, self.smallest, members, links, self.merges, self.done)

    def _contract(self, parent: Integers) -> None:
        """Replace joined clusters by one cluster each."""
        joined = contract(parent, self.state)
        remove_joined(joined, self.partners)
        in_use = self.state.clusters.size > 0
        self.new, self.left = joined & in_use, int(in_use.sum())

    def _renumber(self) -> None:
        """Number the remaining clusters again and sum up their bags."""
        state, clusters = self.state, self.state.clusters
        remaining = np.flatnonzero(clusters.size > 0)
        number = (np.cumsum(clusters.size > 0) - 1).astype(np.int32)
        fresh = empty_lists(self.left, LISTED)
        copy_lists(remaining, number, self.partners, fresh)
        self.partners, self.new, self.smallest = fresh, self.new[remaining], self.smallest[remaining]
        names = Names(*(array[remaining] for array in clusters.names))
        use_max, looks_up = self.block.model.use_max, self.block.looks_up
        self.cache.renumber(remaining, number, items_are_clusters=not (use_max or looks_up))
        if use_max or looks_up:
            items, index = renumber_lists(state.items, remaining, number), state.index
            index = index if use_max else index._replace(holder=number[index.holder])
        else:
            items = linked_lists(np.arange(self.left), self.left)
            index = index_clusters(state.index, number, self.left)
        self.state = state._replace(
            index=index,
            items=items,
            members=renumber_lists(state.members, remaining, number),
            clusters=_new_clusters(
                self.block,
                clusters.size[remaining],
                clusters.n[remaining],
                clusters.required[remaining],
                names,
            ),
            cached=self.cache.rows,
        )


def cluster_giant(
    block: Block,
    constraints: Constraints | None,
    limit: float,
    merges: Merges,
    label: NDArray[np.int32],
    *,
    hypothetical: bool = False,
    threads: int = 1,
    advance: Callable[[int], None] | None = None,
    store: RoundStore | None = None,
    memory: ReusedMemory | None = None,
) -> int:
    """Cluster one block: fill labels and merges, and return the number of rounds until convergence.

    `advance` is called with the number of merges of each round. If `store` has a snapshot of this block, merging
    resumes from there. If pairs are stored in the end, they are in `memory`, if given.
    """
    from homonym.clustering.sparse.remaining_pairs import are_few, merge_remaining

    advance = advance or (lambda _: None)
    process = Agglomeration(block, constraints, merges)
    key = content_key(block, constraints, limit, hypothetical=hypothetical) if store else ""
    step, rounds = 0, -1
    with RowThreads(threads, block, len(process.state.index.inverse)) as process.threads:
        if store and (arrays := store.load(key)):
            step, rounds = process.restore(with_arrays(process.snapshot(label, 0, 0), arrays), label)
            advance(process.done)
        while process.left > 1:
            if block.looks_up and are_few(process.left, block.types):
                before = process.done
                more, found = merge_remaining(process, limit, step, hypothetical=hypothetical, memory=memory)
                advance(process.done - before)
                if rounds < 0:
                    rounds, label[:] = step + more, found
                break
            rounding = process.update_partners(limit)
            threshold = limit
            if not exceeds(process.best(), limit, rounding):
                if rounds < 0:
                    rounds, label[:] = step, process.label
                if not hypothetical:
                    break
                threshold = -np.inf
                process.update_partners(threshold)
                if process.best() == -np.inf:
                    break
            step += 1
            before = process.done
            process.join(threshold, rounding)
            merges.round[before : process.done] = step
            advance(process.done - before)
            if store and store.is_due():
                store.save(key, dict(named_arrays(process.snapshot(label, step, rounds))))
    if rounds < 0:
        rounds, label[:] = step, process.label
    return rounds


def fit_giant(
    block: Block, constraints: Constraints | None, label: NDArray[np.int32], margins: Margins, *, threads: int = 1
) -> None:
    """Fill the margins of the mentions of one block, given its labels."""
    K, m = int(label.max()) + 1, block.mentions
    index = index_mentions(block)
    if not block.model.use_max:
        index = with_clusters_as_holders(index, label, K)
    members, n = linked_lists(label, K), np.zeros((K, block.types))
    np.add.at(n, label, block.n)
    size = np.bincount(label, np.ones(m), K).astype(np.float64)
    state = State(
        model=block.model,
        index=index,
        items=members,
        members=members,
        clusters=_new_clusters(block, size, n, np.zeros(K), combine_names(K, label, block.name, block.factor)),
        links=index_cannot_links(constraints, m),
        cached=RowCache(K, block.types, 0).rows,
        documents=block.documents,
    )

    def fit(rows: Integers, scratch: RowScratch, _: Any) -> None:
        fit_rows(rows, block.n, block.name, state, scratch, margins)

    with RowThreads(threads, block, len(index.inverse)) as row_threads:
        row_threads.run(np.arange(K), fit)


def cache_bytes(occurrences: int, *, looks_up: bool) -> int:
    """Memory in bytes for cached rows."""
    return LOOKED_UP_CACHE_BYTES if looks_up else occurrences * CACHE_BYTES


def linear_bytes(mentions: int, types: int, occurrences: int, threads: int = 1, *, looks_up: bool = False) -> int:
    """Memory in bytes that a giant block needs besides its bags, and the table if documents are looked up.

    Occurrences by mention and by feature, while they are sorted; cached rows; sums of each cluster and type; partner
    lists, and the scratch arrays of each thread.
    """
    lists = 3 * (LISTED * 12 + 16)
    by_thread = mentions * (lists + types * 8 + 40) + occurrences * 20
    by_thread += mentions * types * 8 if looks_up else 0
    cached = cache_bytes(occurrences, looks_up=looks_up)
    return occurrences * 96 + cached + mentions * (types * 40 + 132 + lists) + threads * by_thread
