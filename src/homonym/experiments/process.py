"""The process of merging, round by round: precision, recall and number of clusters, from singletons to one cluster.

Only labelled mentions are measured, and only clusters that contain one are counted.
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
from homonym.measures.agreement import Codes, bcubed, contingency
from homonym.measures.bootstrap import LARGEST_SHOWN, group_name, size_groups
from homonym.measures.methods import LabelledNames

# Sums of fractions are not exact; values closer than this are equal.
EQUAL = 1e-12


@dataclass(frozen=True, eq=False)
class Process:
    """The states of the clustering of each name, from singletons to one cluster, name after name.

    `name`, `clusters`, `precision` and `recall` (B-cubed) have one entry per state. `stop` is the index of the state in
    which the method stopped, one per name; later states are hypothetical.
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
        """The highest recall of each name at perfect precision, which the first state always has."""
        return self._best(self.recall, self.precision >= 1 - EQUAL)

    def max_precision(self) -> Floats:
        """The highest precision of each name at perfect recall, which the last state always has."""
        return self._best(self.precision, self.recall >= 1 - EQUAL)

    def oracle(self) -> Integers:
        """The index of the state with the highest F1 of each name, the first of equals: the best possible stop."""
        best = self._best(self.f1, np.ones(len(self.name), bool))
        states = np.flatnonzero(self.f1 >= best[self.name] - EQUAL)
        found: Integers = states[np.searchsorted(self.name[states], np.arange(self.names))]
        return found

    def _best(self, values: Floats, where: NDArray[np.bool_]) -> Floats:
        best = np.zeros(self.names)
        np.maximum.at(best, self.name[where], values[where])
        return best


def follow(names: LabelledNames, clustering: Clustering) -> Process:
    """Replay the merges of a clustering that was continued to one cluster, and measure each state."""
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
    """Yield the states after each round, for the names that had a merge in it."""
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
        _compress_paths(cluster, np.flatnonzero(had[block]))
        yield _measured(names, active, cluster, step)


def _compress_paths(cluster: Integers, mentions: Integers) -> None:
    """Let each mention point to the smallest mention of its cluster (path compression)."""
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


def processes_by_size(process: Process, true_size: Codes) -> dict[str, dict[str, Any]]:
    """The process averaged over the names of each true size, as plain values; "11+" has no single true size."""
    group = size_groups(true_size)
    return {
        group_name(size): {"true_size": size if size <= LARGEST_SHOWN else None, **_averaged(process, group == size)}
        for size in np.unique(group).tolist()
    }


def _averaged(process: Process, wanted: NDArray[np.bool_]) -> dict[str, Any]:
    """Averages over the states with the same number of clusters, from many clusters to one."""
    states = wanted[process.name]
    clusters, place, names_at = np.unique(process.clusters[states], return_inverse=True, return_counts=True)
    columns: dict[str, Any] = {"names": int(wanted.sum()), "clusters": clusters[::-1].tolist()}
    columns["names_at"] = names_at[::-1].tolist()
    for name, values in (("precision", process.precision), ("recall", process.recall), ("f1", process.f1)):
        mean = np.bincount(place, weights=values[states]) / names_at
        square = np.bincount(place, weights=values[states] ** 2) / names_at
        deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
        columns |= {f"{name}_mean": _short(mean[::-1]), f"{name}_sd": _short(deviation[::-1])}
    stops, times = np.unique(process.clusters[process.stop[wanted]], return_counts=True)
    return columns | {"stops": dict(zip(map(str, stops.tolist()), times.tolist(), strict=True))}


def _short(values: NDArray[np.float64]) -> list[float]:
    # Six digits are more than a figure shows and keep the file small.
    return [round(value, 6) for value in values.tolist()]
