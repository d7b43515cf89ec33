"""Clustering of many blocks: the kernel's checked wrapper, and the trace of what it did round by round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import Bags, Constraints, Floats, Frequencies, Integers, starts
from homonym.clustering.sparse.block_index import Block
from homonym.clustering.sparse.block_index import BlockConstraints as KnownOfOne
from homonym.clustering.sparse.giant import Merges, cluster_giant, fit_giant, linear_bytes
from homonym.settings import SMALL_COLLECTION, Limit

if TYPE_CHECKING:
    from homonym.clustering.dense.merging import KernelConstraints
    from homonym.settings import Settings


#: Blocks of so many mentions are clustered without keeping any pairs. That is as fast from about 1,000 on, and three to
#: six times as fast at 2,400, where pairs need 220 MiB; but whoever has no such block need not compile it. By size
#: alone, so that the same input always takes the same way.
GIANT_BLOCK = 1500


@dataclass(frozen=True)
class Clustering:
    """The answer, block by block, and how it came about.

    `label[x]` is the cluster of a mention inside its block, numbered by smallest member; `rounds[b]` the number of
    rounds until convergence. Merges of block b stand from `block_start[b]` on, at most one fewer than mentions: first
    those that constraints demand, with the round −1 and the score ∞, then those of the rounds, which count from 1.

    Where margins are asked for, `own[x]` is how well a mention fits to the rest of its cluster, `other[x]` to the best
    other one that its cluster might have been joined with: the higher one of score({x},D) and score(D,{x}). NaN for
    one who is alone, −∞ where there is no other.
    """

    block_start: Integers
    limit: Floats
    label: NDArray[np.int32]
    rounds: NDArray[np.int32]
    merge_round: NDArray[np.int32]
    merge_left: NDArray[np.int32]
    merge_right: NDArray[np.int32]
    merge_score: Floats
    own: Floats = field(default_factory=lambda: np.empty(0))
    other: Floats = field(default_factory=lambda: np.empty(0))


def cluster(
    bags: Bags,
    frequencies: Frequencies,
    settings: Settings,
    *,
    constraints: Constraints | None = None,
    hypothetical: bool = False,
    margins: bool = False,
    threads: int = 1,
    advance: Callable[[int], None] | None = None,
) -> Clustering:
    """Cluster all blocks; with `hypothetical`, follow the merges beyond convergence until none is allowed.

    Where no mention has any feature, nothing couples any two: everybody stays alone, but for groups. Giant blocks are
    clustered by several threads; `advance` is told how many merges each of their rounds has made.
    """
    from homonym.clustering.dense.blocks import cluster_blocks

    mentions, blocks = len(bags.bag_start) - 1, len(bags.block_start) - 1
    answer = Clustering(
        block_start=bags.block_start,
        limit=limits(bags.block_start, settings.limit, frequencies.mentions),
        label=np.zeros(mentions, np.int32),
        rounds=np.zeros(blocks, np.int32),
        merge_round=np.zeros(mentions, np.int32),
        merge_left=np.zeros(mentions, np.int32),
        merge_right=np.zeros(mentions, np.int32),
        merge_score=np.zeros(mentions, np.float64),
        own=np.empty(mentions if margins else 0),
        other=np.empty(mentions if margins else 0),
    )
    known, constrained = _known(bags, constraints)
    hypothetical = hypothetical and len(frequencies.types) > 0
    giant = np.diff(bags.block_start) >= GIANT_BLOCK
    for what, chosen in ((None, ~constrained & ~giant), (known, constrained & ~giant)):
        if not chosen.any():
            continue
        cluster_blocks(
            *_kernel_inputs(bags, frequencies, settings),
            what,
            np.flatnonzero(chosen),
            answer.limit,
            hypothetical,
            answer.label,
            answer.rounds,
            answer.merge_round,
            answer.merge_left,
            answer.merge_right,
            answer.merge_score,
            answer.own,
            answer.other,
        )
    for b in np.flatnonzero(giant):
        block = block_of(bags, int(b), frequencies, settings)
        part = constraints if constrained[b] else None
        _cluster_giant(answer, int(b), block, part, hypothetical, margins, threads, advance)
    return answer


def _cluster_giant(
    answer: Clustering,
    b: int,
    block: Block,
    constraints: Constraints | None,
    hypothetical: bool,
    margins: bool,
    threads: int,
    advance: Callable[[int], None] | None,
) -> None:
    """Fill in the answer for one giant block."""
    here = slice(int(answer.block_start[b]), int(answer.block_start[b + 1]))
    known = None
    if constraints is not None:
        part = constraints.of(here)
        known = KnownOfOne(part.group, part.profile, part.cannot_link_start, part.cannot_link)
    merges = Merges(
        answer.merge_round[here], answer.merge_left[here], answer.merge_right[here], answer.merge_score[here]
    )  # fmt: skip
    answer.rounds[b] = cluster_giant(
        block,
        known,
        float(answer.limit[b]),
        merges,
        answer.label[here],
        hypothetical=hypothetical,
        threads=threads,
        advance=advance,
    )
    if margins:
        fit_giant(block, known, answer.label[here], answer.own[here], answer.other[here], threads=threads)


def block_of(bags: Bags, b: int, frequencies: Frequencies, settings: Settings) -> Block:
    """One block alone."""
    first, last = bags.block_start[b], bags.block_start[b + 1]
    begin, end = bags.bag_start[first], bags.bag_start[last]
    _, _, feature, count, type_start, total, mass, weight, mentions, *model = _kernel_inputs(
        bags, frequencies, settings
    )  # fmt: skip
    return Block(
        bags.bag_start[first : last + 1] - begin,
        feature[begin:end],
        count[begin:end],
        type_start,
        total,
        mass,
        weight,
        mentions,
        *model,
    )


def limits(block_start: Integers, limit: Limit, mentions: int) -> Floats:
    """The limit α + β·|X| + κ·√|X|/(N + 3000) of each block, N being the mentions of the collection.

    >>> limits(np.array([0, 4, 13]), Limit(alpha=0.5, beta=0.1, kappa=400), mentions=1000)
    array([1.1, 1.7])
    """
    size = np.diff(block_start).astype(np.float64)
    return limit.alpha + limit.beta * size + limit.kappa * np.sqrt(size) / (mentions + SMALL_COLLECTION)


@dataclass(frozen=True)
class Outcomes:
    """All that a clustering of some blocks can come to, as its limit falls.

    Block b has the outcomes `step_start[b]` to `step_start[b + 1]`. Outcome s holds for limits from `lowest[s]` up to
    that of the outcome before it, the first of a block for any higher one, the last for any lower one, down to 0 at
    least; its labels are `label[label_start[s]:label_start[s + 1]]`.
    """

    step_start: Integers
    lowest: Floats
    label_start: Integers
    label: NDArray[np.int32]

    def at(self, limit: Floats) -> Integers:
        """The outcome of each block at its limit.

        >>> steps = Outcomes(np.array([0, 2]), np.array([0.5, -np.inf]), np.array([0, 1, 2]), np.zeros(2, np.int32))
        >>> steps.at(np.array([0.7])), steps.at(np.array([0.1]))
        (array([0]), array([1]))
        """
        blocks = np.repeat(np.arange(len(self.step_start) - 1), np.diff(self.step_start))
        higher = self.lowest > limit[blocks]
        passed = np.bincount(blocks, weights=higher, minlength=len(self.step_start) - 1)
        found: Integers = np.minimum(self.step_start[:-1] + passed.astype(np.int64), self.step_start[1:] - 1)
        return found

    def labels_at(self, limit: Floats) -> NDArray[np.int32]:
        """The labels of all mentions, each block at its limit."""
        chosen = self.at(limit)
        return np.concatenate([self.label[self.label_start[s] : self.label_start[s + 1]] for s in chosen])


#: A sweep's limits fall by at least this factor: finer than a limit can be told from labels.
SWEEP_RATIO = 1.1


def sweep(
    bags: Bags,
    frequencies: Frequencies,
    settings: Settings,
    *,
    constraints: Constraints | None = None,
    ratio: float = SWEEP_RATIO,
) -> Outcomes:
    """Cluster all blocks at the limits that change their outcome, at most one for each factor of `ratio`.

    A block's outcome is a step function of its limit: while no score lies between two limits, nothing changes. Limits
    fall until no pair is left that may be joined, which is one cluster where there are no constraints; or to 0, because
    limits are not negative, though scores may be where chance is subtracted. Below the limit that leaves one cluster,
    now and then, a path of merges ends in several clusters again, because a conditional probability may fall when its
    condition grows; such limits are too low to be of use.
    """
    from homonym.clustering.dense.blocks import sweep_blocks

    mentions = np.diff(bags.block_start)
    steps = np.zeros(len(mentions), np.int64)
    lowest, label = sweep_blocks(*_kernel_inputs(bags, frequencies, settings), *_known(bags, constraints), ratio, steps)
    return Outcomes(starts(steps), lowest, starts(np.repeat(mentions, steps)), label)


def couple(bags: Bags, block: int, frequencies: Frequencies) -> tuple[Floats, Floats]:
    """S(x,y) for each pair of mentions of one block and each feature type, 0 on the diagonal; and n(x)."""
    from homonym.clustering.dense.blocks import couple_block

    first, last = bags.block_start[block], bags.block_start[block + 1]
    begin, end = bags.bag_start[first], bags.bag_start[last]
    S, n = couple_block(
        bags.bag_start[first : last + 1] - begin,
        bags.feature[begin:end],
        bags.count[begin:end],
        frequencies.type_start,
        frequencies.total,
    )
    return S, n


def _check(bags: Bags, constraints: Constraints) -> None:
    """Refuse constraints that point to where there is nothing: the kernel would read and write there."""
    group, profile, cannot_link_start, cannot_link = (
        constraints.group,
        constraints.profile,
        constraints.cannot_link_start,
        constraints.cannot_link,
    )
    if not len(group) == len(profile) == len(bags.bag_start) - 1:
        raise ValueError("each mention needs a group and a profile")
    first = np.repeat(bags.block_start[:-1], np.diff(bags.block_start)) + group
    if (group < 0).any() or (first > np.arange(len(group))).any() or (group[first] != group).any():
        raise ValueError("a group must be the place of its first mention inside the block")
    profiles = len(cannot_link_start) - 1
    if cannot_link_start[0] != 0 or cannot_link_start[-1] != len(cannot_link) or (np.diff(cannot_link_start) < 0).any():
        raise ValueError("cannot_link_start must rise from 0 to the number of rivals")
    if len(profile) and not 0 <= profile.min() <= profile.max() < profiles:
        raise ValueError("each profile needs a place in cannot_link_start")
    if len(cannot_link) and not 0 <= cannot_link.min() <= cannot_link.max() < profiles:
        raise ValueError("each rival must be a profile")


def _known(bags: Bags, constraints: Constraints | None) -> tuple[KernelConstraints | None, NDArray[np.bool_]]:
    """The constraints as the kernel takes them, and which blocks have any."""
    from homonym.clustering.dense.merging import KernelConstraints, constrained_blocks

    if constraints is None:
        return None, np.zeros(len(bags.block_start) - 1, np.bool_)
    _check(bags, constraints)
    known = KernelConstraints(
        constraints.group, constraints.profile, constraints.cannot_link_start, constraints.cannot_link
    )
    return known, constrained_blocks(bags.block_start, *known)


def _kernel_inputs(bags: Bags, frequencies: Frequencies, settings: Settings) -> tuple[Any, ...]:
    """What the kernel's functions for many blocks all begin with."""
    return (
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
        settings.chance,
        settings.variant == "max",
        settings.joint,
        settings.scope == "within",
    )


def dense_bytes(mentions: int, types: int) -> int:
    """Memory that the kernel needs for its largest block.

    S for each pair and type, whether they are rivals for each pair, a score for each ordered pair.
    """
    return mentions * (mentions - 1) // 2 * (types * 8 + 1) + mentions * mentions * 8


def needed_bytes(mentions: int, types: int, occurrences: int, threads: int = 1) -> int:
    """Memory that is needed to cluster one block with so many feature occurrences, beside its bags.

    >>> needed_bytes(1000, 8, 0) == dense_bytes(1000, 8), needed_bytes(50_000, 8, 5_000_000) < 2**30
    (True, True)
    """
    if mentions < GIANT_BLOCK:
        return dense_bytes(mentions, types)
    return linear_bytes(mentions, types, occurrences, threads)


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
