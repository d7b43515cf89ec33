"""The last rounds of a giant block whose documents are looked up: few clusters are left, and their pairs are stored.

The dense kernel continues with these clusters. It takes much less time for a pair of clusters whose S is stored than
the lookups of all pairs of their mentions take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import (
    Integers,
    KernelInput,
    KernelOutput,
    Margins,
    Merges,
    ReusedMemory,
    no_constraints,
    no_documents,
)
from homonym.clustering.dense.blocks import ChosenBlocks, Scratch, cluster_blocks, new_scratch
from homonym.clustering.sparse.row_scores import RowScratch, fill_pairs

if TYPE_CHECKING:
    from homonym.clustering.sparse.giant_blocks import Agglomeration

#: Maximum memory for the pairs of the clusters that are left: those of 2,300 clusters with eight feature types.
PAIR_BYTES = 1 << 28


def are_few(clusters: int, types: int) -> bool:
    """Whether the pairs of some clusters can be stored.

    >>> are_few(2300, 8), are_few(2400, 8), are_few(2800, 4)
    (True, False, True)
    """
    from homonym.clustering.agglomerative import dense_bytes

    return dense_bytes(clusters, types, copied=False) <= PAIR_BYTES


def merge_remaining(
    process: Agglomeration, limit: float, step: int, *, hypothetical: bool, memory: ReusedMemory | None
) -> tuple[int, Integers]:
    """Merge what is left after `step` rounds; returns how many more rounds converge, and the labels."""
    process.drop_cached_rows()  # before there is another reference to them
    state, block = process.state, process.block
    alive = np.flatnonzero(state.clusters.size > 0)
    number = np.cumsum(state.clusters.size > 0) - 1
    inputs, constrained = _inputs(process, alive), len(state.links.cannot_link) > 0
    chosen = ChosenBlocks(
        np.zeros(1, np.int64), np.array([constrained]), np.array([limit]), state.clusters.size[alive]
    )  # fmt: skip
    scratch = new_scratch(inputs, chosen.number, block.types, int(constrained), copied=False, memory=memory)
    _fill_scratch(process, alive, number, scratch)
    output = _new_output(len(alive))
    cluster_blocks(
        inputs, block.collection_model, no_constraints(), chosen, hypothetical, 0.0, scratch, output,
        np.zeros(0, np.int64),
    )  # fmt: skip
    _append_merges(process, process.smallest[alive], step, output.merges)
    return int(output.rounds[0]), output.label[number[state.members.cluster]].astype(np.int64)


def _inputs(process: Agglomeration, alive: Integers) -> KernelInput:
    """The clusters as one block without bags."""
    block, names, nothing = process.block, process.state.clusters.names, np.zeros(0, np.int32)
    return KernelInput(
        np.array([0, len(alive)]), np.zeros(len(alive) + 1, np.int64), nothing, np.zeros(0), block.type_start,
        block.total, names.name[alive], names.factor[alive], -1, no_documents(),
    )  # fmt: skip


def _fill_scratch(process: Agglomeration, alive: Integers, number: Integers, scratch: Scratch) -> None:
    """Fill S, n, chance levels and cannot-links of the clusters."""
    state, K = process.state, len(alive)
    scratch.mentions.n[:] = state.clusters.n[alive]
    scratch.level[:] = np.bincount(number[state.members.cluster], process.block.level, K)

    def fill(chunk: Integers, row_scratch: RowScratch, _: object) -> None:
        fill_pairs(chunk, number, state, row_scratch, scratch.mentions.S, scratch.links.pair)

    process.threads.run(alive, fill)


def _new_output(clusters: int) -> KernelOutput:
    rounds, left, right = (np.zeros(clusters, np.int32) for _ in range(3))
    merges, margins = Merges(rounds, left, right, np.zeros(clusters)), Margins(np.zeros(0), np.zeros(0))
    return KernelOutput(np.zeros(clusters, np.int32), np.zeros(1, np.int32), merges, margins)


def _append_merges(process: Agglomeration, smallest: NDArray[np.int64], step: int, merges: Merges) -> None:
    """Append the merges of clusters, given their smallest mentions, which took place after `step` rounds."""
    made = int((merges.round > 0).sum())
    to = slice(process.done, process.done + made)
    process.merges.round[to] = merges.round[:made] + step
    process.merges.left[to], process.merges.right[to] = smallest[merges.left[:made]], smallest[merges.right[:made]]
    process.merges.score[to] = merges.score[:made]
    process.done += made
