"""Clustering of many blocks: the kernel's checked wrapper, and the trace of what it did round by round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from homonym.settings import Settings

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Frequencies:
    """What is known of the whole collection.

    Features are numbered so that type t has the ids `type_start[t]` to `type_start[t + 1]`; `total[f]` is #(f),
    `mass[t]` is n_t(·) and `mentions` is N.
    """

    types: tuple[str, ...]
    type_start: Integers
    total: Floats
    mass: Floats
    mentions: int


@dataclass(frozen=True)
class Bags:
    """Some blocks with the bags of their mentions.

    Block b holds the mentions `block_start[b]` to `block_start[b + 1]`, mention x the features
    `feature[bag_start[x]:bag_start[x + 1]]` with their counts, in any order.
    """

    block_start: Integers
    bag_start: Integers
    feature: NDArray[np.int32]
    count: Floats

    def __post_init__(self) -> None:
        mentions = len(self.bag_start) - 1
        if self.block_start[0] != 0 or self.block_start[-1] != mentions or (np.diff(self.block_start) < 1).any():
            raise ValueError("block_start must rise from 0 to the number of mentions")
        if self.bag_start[0] != 0 or self.bag_start[-1] > len(self.feature) or (np.diff(self.bag_start) < 0).any():
            raise ValueError("bag_start must rise from 0 to the number of occurrences")
        if len(self.feature) != len(self.count):
            raise ValueError("each occurrence needs a feature and a count")


@dataclass(frozen=True)
class Clustering:
    """The answer, block by block, and how it came about.

    `label[x]` is the cluster of a mention inside its block, numbered by smallest member; `rounds[b]` the number of
    rounds until convergence. Merges of block b stand from `block_start[b]` on, at most one fewer than mentions.
    """

    block_start: Integers
    limit: Floats
    label: NDArray[np.int32]
    rounds: NDArray[np.int32]
    merge_round: NDArray[np.int32]
    merge_left: NDArray[np.int32]
    merge_right: NDArray[np.int32]
    merge_score: Floats


def cluster(bags: Bags, frequencies: Frequencies, settings: Settings, *, hypothetical: bool = False) -> Clustering:
    """Cluster all blocks; with `hypothetical`, follow the merges beyond convergence down to one cluster."""
    from homonym.clustering.kernel import cluster_blocks

    alpha, beta = settings.limit
    mentions, blocks = len(bags.bag_start) - 1, len(bags.block_start) - 1
    answer = Clustering(
        block_start=bags.block_start,
        limit=alpha + beta * np.diff(bags.block_start).astype(np.float64),
        label=np.zeros(mentions, np.int32),
        rounds=np.zeros(blocks, np.int32),
        merge_round=np.zeros(mentions, np.int32),
        merge_left=np.zeros(mentions, np.int32),
        merge_right=np.zeros(mentions, np.int32),
        merge_score=np.zeros(mentions, np.float64),
    )
    if not frequencies.types:  # nothing couples any two mentions: everyone stays alone
        answer.label[:] = np.arange(mentions) - np.repeat(bags.block_start[:-1], np.diff(bags.block_start))
        return answer
    cluster_blocks(
        bags.block_start,
        bags.bag_start,
        bags.feature,
        bags.count,
        frequencies.type_start,
        frequencies.total,
        frequencies.mass,
        np.array(settings.weights_for(frequencies.types)),
        frequencies.mentions,
        settings.epsilon,
        alpha,
        beta,
        settings.variant == "max",
        settings.joint,
        settings.scope == "within",
        hypothetical,
        answer.label,
        answer.rounds,
        answer.merge_round,
        answer.merge_left,
        answer.merge_right,
        answer.merge_score,
    )
    return answer


def dense_bytes(mentions: int, types: int) -> int:
    """Memory that the kernel needs for its largest block: S for each pair and type, a score for each ordered pair."""
    return mentions * (mentions - 1) // 2 * types * 8 + mentions * mentions * 8


def round_table(clustering: Clustering) -> dict[str, NDArray[np.generic]]:
    """One row per round of every block, as columns of schema.ROUNDS with `block` as its index.

    >>> start = np.array([0, 3])
    >>> merges = [np.array([1, 2, 0], np.int32)] * 3 + [np.array([0.5, 0.1, 0.0])]
    >>> rows = round_table(Clustering(start, np.array([0.2]), merges[0], np.array([1], np.int32), *merges))
    >>> rows["clusters"].tolist(), rows["before_convergence"].tolist()
    ([2, 1], [True, False])
    """
    mentions = np.diff(clustering.block_start)
    made = np.flatnonzero(clustering.merge_round > 0)
    block = np.repeat(np.arange(len(mentions)), mentions)[made]
    step, score = clustering.merge_round[made], clustering.merge_score[made]
    new = np.ones(len(made), bool)
    new[1:] = (block[1:] != block[:-1]) | (step[1:] != step[:-1])
    first = np.flatnonzero(new)
    merges = np.diff(np.append(first, len(made)))
    block, step = block[first], step[first]
    merged_so_far = made[first] - clustering.block_start[block] + merges
    lowest, highest = (ufunc.reduceat(score, first) if len(first) else score for ufunc in (np.minimum, np.maximum))
    return {
        "block": block,
        "mentions": mentions[block],
        "round": step,
        "clusters": mentions[block] - merged_so_far,
        "merges": merges,
        "lowest_score": lowest,
        "highest_score": highest,
        "limit": clustering.limit[block],
        "before_convergence": step <= clustering.rounds[block],
    }
