"""The clustering watched round by round: precision, recall and number of clusters, beyond convergence to one cluster.

Labelled mentions alone are measured; a cluster counts if it holds one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.agglomerative import Clustering
from homonym.clustering.arrays import Floats, Integers
from homonym.measures.agreement import bcubed
from homonym.measures.contingency import contingency
from homonym.measures.labelled_names import LabelledNames

#: Sums of fractions are not exact: what is this close is equal.
EQUAL = 1e-12


@dataclass(frozen=True, eq=False)
class Process:
    """The states that the clustering of each name passed through, name after name, from singletons to one cluster.

    `name`, `clusters`, `precision` (B-cubed), `recall` have an entry for each state; `stop` is the state of each name
    in which the method stopped: what follows is hypothetical.
    """

    name: Integers
    clusters: Integers
    precision: Floats
    recall: Floats
    stop: Integers

    @property
    def f1(self) -> Floats:
        """F1 of each state; recall is never 0."""
        return 2 * self.precision * self.recall / (self.precision + self.recall)

    @property
    def names(self) -> int:
        """Number of names."""
        return len(self.stop)

    def max_recall(self) -> Floats:
        """The highest recall of each name while precision is perfect: the start has perfect precision."""
        return self._best(self.recall, self.precision >= 1 - EQUAL)

    def max_precision(self) -> Floats:
        """The highest precision of each name once recall is perfect: the end has perfect recall."""
        return self._best(self.precision, self.recall >= 1 - EQUAL)

    def oracle(self) -> Integers:
        """The state of each name with the best F1, the first of equals: where somebody who knows would stop."""
        best = self._best(self.f1, np.ones(len(self.name), bool))
        states = np.flatnonzero(self.f1 >= best[self.name] - EQUAL)
        found: Integers = states[np.searchsorted(self.name[states], np.arange(self.names))]
        return found

    def _best(self, values: Floats, where: NDArray[np.bool_]) -> Floats:
        best = np.zeros(self.names)
        np.maximum.at(best, self.name[where], values[where])
        return best


def follow(names: LabelledNames, clustering: Clustering) -> Process:
    """Replay the merges of a clustering that was continued to one cluster, and measure every state."""
    parts = list(_states(names, clustering))
    name, step, clusters, precision, recall = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.lexsort((step, name))
    stop = np.flatnonzero(step[order] == clustering.rounds[name[order]])
    return Process(name[order], clusters[order], precision[order], recall[order], stop)


def concatenate_processes(parts: Sequence[Process]) -> Process:
    """The processes of several batches of names as one."""
    names = np.cumsum([0] + [part.names for part in parts])
    states = np.cumsum([0] + [len(part.name) for part in parts])
    return Process(
        name=np.concatenate([part.name + first for part, first in zip(parts, names[:-1], strict=True)]),
        clusters=np.concatenate([part.clusters for part in parts]),
        precision=np.concatenate([part.precision for part in parts]),
        recall=np.concatenate([part.recall for part in parts]),
        stop=np.concatenate([part.stop + first for part, first in zip(parts, states[:-1], strict=True)]),
    )


def _states(names: LabelledNames, clustering: Clustering) -> Iterator[tuple[Any, ...]]:
    """After each round, the states of those names that had it."""
    start, block = names.bags.block_start, names.block
    merges = np.argsort(clustering.merge_round, kind="stable")
    bounds = np.searchsorted(clustering.merge_round[merges], np.arange(1, clustering.merge_round.max(initial=0) + 2))
    cluster = np.arange(len(block))
    active = np.flatnonzero(names.labelled)
    yield _measured(names, active, cluster, 0)
    for step, (first, last) in enumerate(pairwise(bounds), 1):
        made = merges[first:last]
        base = start[block[made]]
        cluster[base + clustering.merge_right[made]] = base + clustering.merge_left[made]
        had = np.zeros(len(names), bool)
        had[block[made]] = True
        active = active[had[block[active]]]
        _follow_chains(cluster, np.flatnonzero(had[block]))
        yield _measured(names, active, cluster, step)


def _follow_chains(cluster: Integers, mentions: Integers) -> None:
    """Let each mention point at the smallest of its cluster, which points at itself."""
    while True:
        further = cluster[cluster[mentions]]
        if (further == cluster[mentions]).all():
            return
        cluster[mentions] = further


def _measured(names: LabelledNames, mentions: Integers, cluster: Integers, step: int) -> tuple[Any, ...]:
    block = names.block[mentions]
    table = contingency(block, names.author[mentions], cluster[mentions])
    scores = bcubed(table).by_name()
    which = np.unique(block)
    return which, np.full(len(which), step), table.clusters, scores.precision, scores.recall
