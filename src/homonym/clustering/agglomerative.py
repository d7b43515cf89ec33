"""Clustering of many blocks: checks the input, runs the compiled kernel, returns labels, merges and margins.

Compiled code is imported when it is called: numba takes long to load.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import (
    PAIRS_PER_BATCH,
    Bags,
    Constraints,
    Floats,
    Frequencies,
    Integers,
    KernelInput,
    KernelOutput,
    Margins,
    Merges,
    Model,
    NamePrior,
    ReusedMemory,
    SharedDocuments,
    no_constraints,
    no_documents,
    pairs_of,
    starts,
)
from homonym.settings import SMALL_COLLECTION, Limit

if TYPE_CHECKING:
    from homonym.clustering.dense.cooccurrence import Cooccurrence
    from homonym.clustering.sparse.round_snapshots import RoundStore
    from homonym.settings import Settings

#: Minimum number of mentions of a block that is clustered by the sparse kernel, which stores no pairs. It is as fast
#: from about 1,000 on, and three to six times as fast at 2,400, where pairs need 220 MiB; but runs without such a block
#: need not compile it. Threads and memory do not decide, so that the same input always takes the same path.
GIANT_BLOCK = 1500
#: Mean number of features, or of authors, of the documents of a block from which on bags are long, as in papers with a
#: hundred authors. Then a row of the sparse kernel is long, too, above all if the same people write together for years,
#: and blocks are clustered by the dense kernel up to this size.
LONG_BAG, MANY_AUTHORS, GIANT_BLOCK_OF_LONG_BAGS = 150, 50, 5200
# Minimum number of mentions of a block of which S is not copied before clusters are merged, but computed again after
# that, for margins. It takes a little longer, and 0.6 of the memory.
UNCOPIED_BLOCK = 1500


#: The feature type whose sums are exact: see `dense.cooccurrence`.
EXACT_TYPE = "co"


@dataclass(frozen=True)
class Clustering:
    """The clusters of each block, and the merges that led to them.

    `label[x]` is the cluster of a mention inside its block, numbered by smallest member; `rounds[b]` is the number of
    rounds until convergence. The merges of block b begin at `block_start[b]` and are at most one fewer than its
    mentions: first those of must-link groups, with round −1 and score ∞, then those of the rounds, which count from 1.
    `merge_left` and `merge_right` are the smallest mentions of both clusters. `merge_round` is 0 behind the last merge.

    If margins are computed, `own[x]` is how well a mention fits the rest of its cluster, and `other[x]` how well it
    fits the best other cluster D that its cluster may be joined with: the higher one of score({x},D) and score(D,{x}).
    `own` is NaN for singletons, `other` is −∞ if there is no other cluster. `has_features` is false for empty bags.
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
    has_features: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))

    def of_block(self, number: int) -> Clustering:
        """The clustering of one block."""
        begin, end = self.block_start[[number, number + 1]].tolist()
        here, block = slice(begin, end), slice(number, number + 1)
        return Clustering(
            np.array([0, end - begin], np.int64), self.limit[block], self.label[here], self.rounds[block],
            self.merge_round[here], self.merge_left[here], self.merge_right[here], self.merge_score[here],
            self.own[here], self.other[here], self.has_features[here],
        )  # fmt: skip


def cluster(
    bags: Bags,
    frequencies: Frequencies,
    settings: Settings,
    *,
    constraints: Constraints | None = None,
    names: NamePrior | None = None,
    hypothetical: bool = False,
    margins: bool = False,
    shared: SharedDocuments | None = None,
    giant: NDArray[np.bool_] | None = None,
    skipped: NDArray[np.bool_] | None = None,
    threads: int = 1,
    advance: Callable[[int], None] | None = None,
    store: RoundStore | None = None,
    memory: ReusedMemory | None = None,
    limit_sizes: Integers | None = None,
) -> Clustering:
    """Cluster all blocks; with `hypothetical`, merging continues after convergence until no pair may be joined.

    A pair may be joined unless a cannot-link forbids it or its score does not exceed the chance limit. Scores are those
    with the factors of `names`, also in merges and margins. Margins ignore the chance limit.
    Without any feature type all mentions stay singletons, except for must-link groups. If documents are `shared`, bags
    have only what belongs to the mention itself. Which blocks are `giant` follows from `are_giant`, by default from
    their sizes, and if documents are shared, from `are_giant_with_table`; they are clustered by several threads, and
    `advance` is called with the number of merges of each of their rounds. A `store` keeps snapshots of the rounds of a
    giant block, the only one. Blocks that are `skipped` stay singletons without margins. The pairs of dense blocks are
    in `memory`, if given.
    The limit of each block is that of its `limit_sizes`, by default of its number of mentions.
    """
    from homonym.clustering.dense.blocks import chosen_blocks, cluster_blocks, new_scratch

    limit_start = bags.block_start if limit_sizes is None else starts(limit_sizes)
    limit = limits(limit_start, settings.limit, frequencies.mentions)
    output = _new_output(bags, margins=margins)
    model = _model(frequencies, settings)
    inputs = kernel_input(bags, frequencies, names, shared)
    constrained = _constrained(bags, constraints)
    hypothetical = hypothetical and len(frequencies.types) > 0
    sizes = np.diff(bags.block_start)
    if shared is not None:
        giant = are_giant_with_table(sizes)
    elif giant is None:
        giant = sizes >= GIANT_BLOCK
    wanted = np.ones(len(sizes), np.bool_) if skipped is None else ~skipped
    dense, giant = wanted & ~giant, wanted & giant
    if dense.any():
        given = constraints or no_constraints()
        chosen = chosen_blocks(np.flatnonzero(dense), constrained, limit)
        profiles = len(given.cannot_link_start) - 1
        copied = margins and _is_copied(int(sizes[dense].max()))
        scratch = new_scratch(
            inputs, chosen.number, len(frequencies.types), profiles, margins=margins, copied=copied, memory=memory
        )  # fmt: skip
        cluster_blocks(inputs, model, given, chosen, hypothetical, 0.0, scratch, output, np.zeros(0, np.int64))
    if store and (giant.sum() > 1 or shared is not None):
        raise ValueError("a store keeps the rounds of one giant block with the bags of its documents")
    if giant.any():
        from homonym.clustering.sparse.giant_blocks import cluster_giant, fit_giant
        from homonym.clustering.sparse.inverted_index import Block
    for b in np.flatnonzero(giant).tolist():
        here = slice(bags.block_start[b], bags.block_start[b + 1])
        block = Block.of(inputs, b, model, *_levels_of_giant(inputs, model, b, looks_up=shared is not None))
        part = constraints.of(here) if constraints is not None and constrained[b] else None
        label, merges = output.label[here], output.merges.of(here)
        output.rounds[b] = cluster_giant(
            block, part, float(limit[b]), merges, label,
            hypothetical=hypothetical, threads=threads, advance=advance, store=store, memory=memory,
        )  # fmt: skip
        if margins:
            fit_giant(block, part, label, Margins(*(array[here] for array in output.margins)), threads=threads)
    compared = _has_features(bags, shared)
    return Clustering(bags.block_start, limit, output.label, output.rounds, *output.merges, *output.margins, compared)


def _levels_of_giant(
    inputs: KernelInput, model: Model, b: int, *, looks_up: bool
) -> tuple[Floats | None, Floats | None]:  # fmt: skip
    """The chance levels of the mentions of a giant block if there is a chance limit; n if documents are looked up."""
    from homonym.clustering.dense.cooccurrence import chance_levels_by_row, new_feature_scratch

    # Frequencies of one block alone have nothing outside of it, so there is no chance limit within blocks.
    limited = model.chance_limit > 0 and not model.within
    if not looks_up:
        return _chance_levels(inputs, model, b, b + 1) if limited else None, None
    first, last = inputs.block_start[[b, b + 1]]
    level, n = chance_levels_by_row(
        b, inputs, model, new_feature_scratch(int(inputs.bag_start[last] - inputs.bag_start[first]))
    )  # fmt: skip
    return level if limited else None, n


def load_kernels() -> None:
    """Load the compiled functions that every run needs, or compile them, by clustering two mentions.

    One function takes most of the time of compiling. Another process compiles parts of it and the others meanwhile.
    """
    from homonym.settings import Settings

    with _others_compiled():
        cluster(*_two_mentions(), Settings())
    load_other_kernels()


def compile_parts() -> None:
    """Compile parts of the function that clusters; compiling that takes them from the cache."""
    from homonym.clustering.dense.blocks import call_parts, new_scratch
    from homonym.settings import Settings

    bags, frequencies = _two_mentions()
    inputs = kernel_input(bags, frequencies)
    scratch = new_scratch(inputs, np.zeros(1, np.int64), len(frequencies.types), margins=True)
    call_parts(inputs, _model(frequencies, Settings()), scratch, _new_output(bags, margins=True))


def load_other_kernels() -> None:
    """Load or compile the functions that are used besides clustering itself."""
    from homonym.clustering.dense.blocks import StoredBags, gather_bags
    from homonym.clustering.dense.merging import constrained_blocks
    from homonym.settings import Settings

    bags, frequencies = _two_mentions()
    code = np.zeros(len(bags.count), np.uint16)
    for array in (bags.feature, code):
        array.flags.writeable = False  # as in a file: numba compiles for each kind of array
    places, name, kept = bags.bag_start[:-1], np.full(2, -1, np.int32), np.ones(1, np.bool_)
    stored = StoredBags(places, places, places, places, name, name)
    gather_bags(stored, bags.feature, code, np.ones(1), frequencies.type_start, kept)
    bags, frequencies = _two_mentions()
    pair_scores(bags, 0, frequencies)
    chance_levels(bags, frequencies, Settings())
    constrained_blocks(bags.block_start, no_constraints())


def _two_mentions() -> tuple[Bags, Frequencies]:
    """A block of two mentions with the same feature, and the frequency of this feature."""
    bags = Bags(np.array([0, 2]), np.arange(3), np.zeros(2, np.int32), np.ones(2))
    return bags, Frequencies(("term",), np.array([0, 1]), np.array([2.0]), np.array([2.0]), 2)


# It gets the import path of this process: `python -m` would put the current directory first.
OTHER_KERNELS = """import sys
sys.path[:] = sys.argv[1:]
from homonym.runtime.unneeded_imports import leave_out_pandas_and_scipy
leave_out_pandas_and_scipy()
from homonym.clustering.agglomerative import compile_parts, load_other_kernels
compile_parts()
load_other_kernels()
"""
# Maximum time to wait for the other process after this one has compiled its part.
COMPILING_SECONDS = 60


@contextmanager
def _others_compiled() -> Iterator[None]:
    """Let another process fill the cache with parts and with other functions, if nothing is compiled yet.

    If it fails or takes too long, this process compiles everything. It is in a session of its own, and ends by itself
    some seconds after a command that is killed.
    """
    from homonym.clustering.compiling import must_be_compiled
    from homonym.clustering.dense.blocks import cluster_blocks

    if os.cpu_count() == 1 or not must_be_compiled(cluster_blocks):
        yield
        return
    nothing = subprocess.DEVNULL
    command = [sys.executable, "-c", OTHER_KERNELS, *sys.path]
    try:
        process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
    except OSError:  # no further process is possible
        yield
        return
    with process:
        try:
            yield
            with suppress(subprocess.TimeoutExpired):
                process.wait(COMPILING_SECONDS)
        finally:
            process.kill()


def _has_features(bags: Bags, shared: SharedDocuments | None) -> NDArray[np.bool_]:
    """Which mentions have a feature, of their own or, except for their own names, of their documents."""
    found: NDArray[np.bool_] = np.diff(bags.bag_start) > 0
    if shared is None:
        return found
    pairs, names = shared
    mention = np.repeat(np.arange(len(found)), np.diff(names.start))
    removed = np.bincount(mention, names.in_document - names.in_mention, len(found))
    found |= pairs.n.sum(axis=1)[names.document] > removed
    return found


def _new_output(bags: Bags, *, margins: bool) -> KernelOutput:
    mentions, blocks = len(bags.bag_start) - 1, len(bags.block_start) - 1
    number, left, right = (np.zeros(mentions, np.int32) for _ in range(3))
    return KernelOutput(
        label=np.zeros(mentions, np.int32),
        rounds=np.zeros(blocks, np.int32),
        merges=Merges(number, left, right, np.zeros(mentions)),
        margins=Margins(*(np.full(mentions if margins else 0, value) for value in (np.nan, -np.inf))),
    )


def have_long_bags(mentions: Integers, features: Integers, authors: Integers) -> NDArray[np.bool_]:
    """Which blocks have long bags, given their mentions, and the features and authors of the documents of all these.

    >>> have_long_bags(np.array([10, 10, 10]), np.array([1490, 1500, 900]), np.array([40, 40, 500])).tolist()
    [False, True, True]
    """
    return (features >= mentions * LONG_BAG) | (authors >= mentions * MANY_AUTHORS)


def are_giant(mentions: Integers, long: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which blocks are giant, given their mentions and whether they have long bags.

    >>> are_giant(np.array([1000, 2000, 2000, 6000]), np.array([False, False, True, True])).tolist()
    [False, True, False, True]
    """
    return mentions >= np.where(long, GIANT_BLOCK_OF_LONG_BAGS, GIANT_BLOCK)


def are_giant_with_table(mentions: Integers) -> NDArray[np.bool_]:
    """Which blocks are giant among those whose documents are shared, given their mentions."""
    found: NDArray[np.bool_] = mentions >= GIANT_BLOCK_OF_LONG_BAGS
    return found


def limits(block_start: Integers, limit: Limit, mentions: int) -> Floats:
    """The limit α + β·|X| + κ·√|X|/(N + 3000) of each block, where N is the number of mentions of the collection.

    >>> limits(np.array([0, 4, 13]), Limit(alpha=0.5, beta=0.1, kappa=400), mentions=1000)
    array([1.1, 1.7])
    """
    size = np.diff(block_start).astype(np.float64)
    return limit.alpha + limit.beta * size + limit.kappa * np.sqrt(size) / (mentions + SMALL_COLLECTION)


@dataclass(frozen=True)
class Outcomes:
    """The clusterings of some blocks at all limits.

    Block b has the outcomes `step_start[b]` to `step_start[b + 1]`, by descending limit. Outcome s has the labels
    `label[label_start[s]:label_start[s + 1]]` and holds for limits from `lowest[s]` up to the lowest limit of the
    outcome before it. The first outcome of a block also holds for all higher limits, the last one for all lower limits
    down to 0.
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


#: Minimum factor between the limits of a sweep: finer than labelled data can tell limits apart.
SWEEP_RATIO = 1.1


def sweep(
    bags: Bags,
    frequencies: Frequencies,
    settings: Settings,
    *,
    constraints: Constraints | None = None,
    names: NamePrior | None = None,
    ratio: float = SWEEP_RATIO,
    highest: float = np.inf,
) -> Outcomes:
    """Cluster all blocks at the limits that change their outcome, at most one for each factor of `ratio`.

    `highest` is the highest of these limits, as a multiple of the limit of the settings.

    A block's outcome is a step function of its limit: if no score lies between two limits, both give the same outcome.
    Limits decrease until no pair is left that may be joined, which is one cluster without constraints and chance limit,
    or to 0: limits are not negative, though scores may be with chance correction. Below the limit that leaves one
    cluster, the merges occasionally end in several clusters again, because a conditional probability may fall when its
    condition grows. Such limits are too low to be useful, and the outcome with one cluster stands for them.
    """
    from homonym.clustering.dense.blocks import chosen_blocks, cluster_blocks, new_scratch

    mentions = np.diff(bags.block_start)
    steps = np.zeros(len(mentions), np.int64)
    model = _model(frequencies, settings)
    inputs = kernel_input(bags, frequencies, names)
    first = np.full(len(mentions), np.inf)
    if np.isfinite(highest):
        first = highest * limits(bags.block_start, settings.limit, frequencies.mentions)
    given = constraints or no_constraints()
    chosen = chosen_blocks(np.arange(len(mentions)), _constrained(bags, constraints), first)
    scratch = new_scratch(inputs, chosen.number, len(frequencies.types), len(given.cannot_link_start) - 1)
    output = _new_output(bags, margins=False)
    lowest, label = cluster_blocks(inputs, model, given, chosen, False, ratio, scratch, output, steps)
    return Outcomes(starts(steps), lowest, starts(np.repeat(mentions, steps)), label)


def pair_scores(
    bags: Bags, block: int, frequencies: Frequencies, shared: SharedDocuments | None = None
) -> tuple[Floats, Floats]:
    """S(x,y) for each pair of mentions of one block and each feature type, 0 on the diagonal; and n(x)."""
    S, n = pair_scores_by_row(bags, block, frequencies, shared)
    return _square(S, int(bags.block_start[block + 1] - bags.block_start[block])), n


def pair_scores_by_row(
    bags: Bags, block: int, frequencies: Frequencies, shared: SharedDocuments | None = None
) -> tuple[Floats, Floats]:
    """S(x,y) for all pairs x > y of mentions of one block, row by row, and each feature type; and n(x)."""
    found = _cooccurrence(kernel_input(bags, frequencies, shared=shared), block, block + 1)
    m = int(bags.block_start[block + 1] - bags.block_start[block])
    return found.S[: pairs_of(m)], found.n


def pair_scores_of_blocks(bags: Bags, frequencies: Frequencies) -> Iterator[tuple[Floats, Floats]]:
    """`pair_scores` of each block. Small blocks are computed together, because a call takes longer than the work."""
    inputs, sizes = kernel_input(bags, frequencies), np.diff(bags.block_start)
    pairs = starts(pairs_of(sizes))
    batch = pairs[:-1] // PAIRS_PER_BATCH
    for begin, end in pairwise([*np.flatnonzero(np.diff(batch, prepend=-1)).tolist(), len(sizes)]):
        found, offset = _cooccurrence(inputs, begin, end), bags.block_start[begin]
        for b in range(begin, end):
            S = found.S[pairs[b] - pairs[begin] : pairs[b + 1] - pairs[begin]]
            yield _square(S, int(sizes[b])), found.n[bags.block_start[b] - offset : bags.block_start[b + 1] - offset]


def _cooccurrence(inputs: KernelInput, begin: int, end: int) -> Cooccurrence:
    """S and n of some blocks, one after another."""
    from homonym.clustering.dense.blocks import fill_pair_scores
    from homonym.clustering.dense.cooccurrence import new_cooccurrence, new_feature_scratch

    start = inputs.block_start[begin : end + 1]
    pairs = int(pairs_of(np.diff(start)).sum())
    found = new_cooccurrence(int(start[-1] - start[0]), np.empty((pairs + 1, len(inputs.type_start) - 1)))
    scratch = new_feature_scratch(int(np.diff(inputs.bag_start[start]).max(initial=1)))
    fill_pair_scores(begin, end, inputs, scratch, found)
    return found


def _square(triangle: Floats, m: int) -> Floats:
    """The values of each ordered pair, 0 on the diagonal, given those of all pairs i > j, row by row."""
    square, (i, j) = np.zeros((m, m, triangle.shape[1])), _small_triangle(m) if m <= SMALL_SQUARE else _triangle(m)
    square[i, j] = square[j, i] = triangle
    return square


def _triangle(m: int) -> tuple[Integers, Integers]:
    """The rows and columns of all pairs i > j, row by row."""
    return np.tril_indices(m, -1)


# Numpy takes longer to find the pairs of a small block than to fill them in, and calibration has thousands of these.
SMALL_SQUARE = 64
_small_triangle = lru_cache(maxsize=SMALL_SQUARE + 1)(_triangle)


def chance_levels(bags: Bags, frequencies: Frequencies, settings: Settings) -> Floats:
    """What each mention shares by chance with a mention of another block: see `reference.chance_level`."""
    return _chance_levels(kernel_input(bags, frequencies), _model(frequencies, settings), 0, len(bags.block_start) - 1)


def _chance_levels(inputs: KernelInput, model: Model, first: int, last: int) -> Floats:
    """The chance levels of the mentions of a range of blocks."""
    from homonym.clustering.dense.cooccurrence import chance_levels_of_bags, new_feature_scratch

    longest = int(np.diff(inputs.bag_start[inputs.block_start[first : last + 1]]).max(initial=1))
    levels: Floats = chance_levels_of_bags(inputs, model, first, last, new_feature_scratch(longest))
    return levels


def kernel_input(
    bags: Bags, frequencies: Frequencies, names: NamePrior | None = None, shared: SharedDocuments | None = None
) -> KernelInput:
    """The arrays that compiled code takes; raises ValueError if the names are malformed."""
    name, factor = np.zeros(0, np.int32), np.zeros(0)
    if names is not None:
        _check_names(bags, names)
        name, factor = np.ascontiguousarray(names.name, np.int32), np.ascontiguousarray(names.factor, np.float64)
    return KernelInput(
        bags.block_start, bags.bag_start, bags.feature, bags.count,
        frequencies.type_start, frequencies.total, name, factor,
        frequencies.types.index(EXACT_TYPE) if EXACT_TYPE in frequencies.types else -1,
        shared or no_documents(),
    )  # fmt: skip


def _check_names(bags: Bags, names: NamePrior) -> None:
    """Refuse a prior with missing entries, which compiled code would read, or with factors that are not positive."""
    name, factor = names
    if not len(name) == len(factor) == len(bags.bag_start) - 1:
        raise ValueError("name and factor need one entry per mention")
    if (name < -1).any():
        raise ValueError("name must be −1 or the number of a name, from 0 on")
    if not (np.isfinite(factor) & (factor > 0))[name >= 0].all():
        raise ValueError("the factor of a name must be positive and finite")


def _model(frequencies: Frequencies, settings: Settings) -> Model:
    """The model of the collection; `mass` and `expected` are overwritten by the kernel."""
    weight = np.array(settings.weights_for(frequencies.types))
    return Model(
        weight=weight,
        mass=frequencies.mass.copy(),
        expected=np.zeros(len(weight)),
        N=float(frequencies.mentions),
        X=0.0,
        epsilon=settings.epsilon,
        gamma=settings.chance_weight,
        chance_limit=settings.required_lift,
        use_max=settings.variant == "max",
        joint=settings.joint,
        within=settings.scope == "within",
    )


def _constrained(bags: Bags, constraints: Constraints | None) -> NDArray[np.bool_]:
    """Which blocks have constraints; raises ValueError if the constraints are malformed."""
    if constraints is None:
        return np.zeros(len(bags.block_start) - 1, np.bool_)
    from homonym.clustering.dense.merging import constrained_blocks

    _check_constraints(bags, constraints)
    found: NDArray[np.bool_] = constrained_blocks(bags.block_start, constraints)
    return found


def _check_constraints(bags: Bags, constraints: Constraints) -> None:
    """Refuse constraints with positions out of range, where compiled code would read and write."""
    group, profile, cannot_link_start, cannot_link = constraints
    if not len(group) == len(profile) == len(bags.bag_start) - 1:
        raise ValueError("group and profile need one entry per mention")
    first = np.repeat(bags.block_start[:-1], np.diff(bags.block_start)) + group
    if (group < 0).any() or (first > np.arange(len(group))).any() or (group[first] != group).any():
        raise ValueError("the number of a group must be the position of its first mention inside the block")
    if cannot_link_start[0] != 0 or cannot_link_start[-1] != len(cannot_link) or (np.diff(cannot_link_start) < 0).any():
        raise ValueError("cannot_link_start must not decrease, from 0 to the length of cannot_link")
    profiles = len(cannot_link_start) - 1
    if len(profile) and not 0 <= profile.min() <= profile.max() < profiles:
        raise ValueError(f"profile must be from 0 to {profiles - 1}, the last profile of cannot_link_start")
    if len(cannot_link) and not 0 <= cannot_link.min() <= cannot_link.max() < profiles:
        raise ValueError(f"cannot_link must consist of profiles from 0 to {profiles - 1}")


def _is_copied(mentions: int) -> bool:
    """Whether S of a dense block is copied before clusters are merged."""
    return mentions < UNCOPIED_BLOCK


def dense_bytes(mentions: int, types: int, *, copied: bool | None = None) -> int:
    """Memory in bytes that the dense kernel needs for a block.

    S for each pair and type, twice if it is `copied`, which follows from the size by default; cannot-links for each
    pair; a score for each ordered pair, twice.
    """
    copies = 2 if (_is_copied(mentions) if copied is None else copied) else 1
    return mentions * (mentions - 1) // 2 * (types * 8 * copies + 1) + mentions * mentions * 16


def needed_bytes(
    mentions: int, types: int, occurrences: int, threads: int = 1, *, giant: bool | None = None
) -> int:  # fmt: skip
    """Memory in bytes that one block with the given number of feature occurrences needs besides its bags.

    Whether it is `giant` follows from its size by default.

    >>> needed_bytes(1000, 8, 0) == dense_bytes(1000, 8), needed_bytes(50_000, 8, 5_000_000) < 2**30
    (True, True)
    """
    if not (mentions >= GIANT_BLOCK if giant is None else giant):
        return dense_bytes(mentions, types)
    from homonym.clustering.sparse.giant_blocks import linear_bytes

    return linear_bytes(mentions, types, occurrences, threads)


def looked_up_bytes(mentions: int, types: int, occurrences: int, threads: int = 1) -> int:
    """Memory in bytes that a block needs besides the table of documents, given the occurrences of its own bags.

    A giant block needs the sparse kernel's first, and the pairs of the clusters that are left after that.
    """
    if not are_giant_with_table(np.array([mentions])).any():
        return dense_bytes(mentions, types)
    from homonym.clustering.sparse.giant_blocks import linear_bytes
    from homonym.clustering.sparse.remaining_pairs import PAIR_BYTES

    return linear_bytes(mentions, types, occurrences, threads, looks_up=True) + PAIR_BYTES


def round_table(clustering: Clustering) -> dict[str, NDArray[np.generic]]:
    """One row per round of each block: the columns of `schema.ROUNDS`, with the index of the block as `block`.

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
