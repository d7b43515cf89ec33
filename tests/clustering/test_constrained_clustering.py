"""Constraints and margins: the kernel against the literal reference, and nothing forbidden ever done."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.clustering import dense, reference
from homonym.clustering.agglomerative import SWEEP_RATIO, Clustering, cluster, dense_bytes, round_table, sweep
from homonym.clustering.arrays import Bags, Constraints, Frequencies
from homonym.settings import Settings
from tests.clustering.test_dense import (
    TYPES,
    Mention,
    blocks,
    counted,
    flat,
    literal,
    literal_model,
    near,
    parameters,
    partition,
)
from tests.clustering.test_sweep import EXACT, labels_of, lowest_of, rarities, sparse

PROFILES = 5
EMPTY: Mention = {kind: {} for kind in TYPES}


def constraints_of(groups: list[list[int]], profiles: list[list[int]], pairs: set[tuple[int, int]]) -> Constraints:
    """Constraints of some blocks: any group numbers, a profile for each mention, and pairs of rival profiles."""
    rivals = [sorted({q for pair in pairs if p in pair for q in ({*pair} - {p} or {p})}) for p in range(PROFILES)]
    return Constraints(
        group=np.array([[*group].index(g) for group in groups for g in group], np.int32),
        profile=np.array([p for profile in profiles for p in profile], np.int32),
        cannot_link_start=np.cumsum([0] + [len(each) for each in rivals]),
        cannot_link=np.array([q for each in rivals for q in each], np.int32),
    )


@st.composite
def constrained(draw: st.DrawFn) -> tuple[list[list[Mention]], Constraints]:
    """Blocks with few groups and few rivals, or many of both."""
    collection = draw(blocks)
    few = draw(st.booleans())
    member = st.sampled_from([*range(20)] if few else [0, 1, 2, 3])
    groups = [draw(st.lists(member, min_size=len(block), max_size=len(block))) for block in collection]
    holds = st.integers(0, PROFILES - 1)
    profiles = [draw(st.lists(holds, min_size=len(block), max_size=len(block))) for block in collection]
    pairs = draw(st.sets(st.tuples(holds, holds), max_size=3 if few else 8))
    return collection, constraints_of(groups, profiles, pairs)


def rivals_of(constraints: Constraints, x: int) -> set[int]:
    p = constraints.profile[x]
    return set(
        constraints.cannot_link[constraints.cannot_link_start[p] : constraints.cannot_link_start[p + 1]].tolist()
    )


def known_of(constraints: Constraints, first: int, last: int) -> reference.ReferenceConstraints:
    """What the reference knows of one block."""
    profile = constraints.profile[first:last].tolist()
    pairs = [(x, y) for x, y in combinations(range(last - first), 2) if profile[y] in rivals_of(constraints, first + x)]
    return reference.ReferenceConstraints(partition(constraints.group[first:last].tolist()), frozenset(pairs))


def replayed(answer: Clustering, b: int) -> list[list[list[int]]]:
    """The partition at the start and after every round, rebuilt from the merges."""
    first, last = answer.block_start[b], answer.block_start[b + 1]
    group = list(range(last - first))
    partitions = []
    steps = answer.merge_round[first:last]
    forced = int((steps == -1).sum())
    assert (steps[:forced] == -1).all(), "what constraints demand stands first"
    assert (answer.merge_score[first : first + forced] == np.inf).all()
    for step in [-1, *range(1, max(0, int(steps.max())) + 1)]:
        for k in np.flatnonzero(steps == step):
            left, right = group[answer.merge_left[first + k]], group[answer.merge_right[first + k]]
            assert left != right
            group = [left if g == right else g for g in group]
        partitions.append(partition(group))
    return partitions


def assert_kept(clusters: list[list[int]], known: reference.ReferenceConstraints) -> None:
    """Groups are together; rivals are not, unless a group holds both."""
    home = {x: c for c, cluster in enumerate(clusters) for x in cluster}
    group = {x: g for g, members in enumerate(known.groups) for x in members}
    for members in known.groups:
        assert len({home[x] for x in members}) == 1
    for x, y in known.rivals:
        assert home[x] != home[y] or group[x] == group[y]


def assert_same_as_reference(
    collection: list[list[Mention]], constraints: Constraints, run: Settings, rare: int
) -> None:
    frequencies = counted(collection, rare)
    stopped = cluster(flat(collection), frequencies, run, constraints=constraints)
    followed = cluster(flat(collection), frequencies, run, constraints=constraints, hypothetical=True)
    assert stopped.label.tolist() == followed.label.tolist()
    trace = round_table(followed)
    for b, block in enumerate(collection):
        first, last = stopped.block_start[b], stopped.block_start[b + 1]
        known = known_of(constraints, first, last)
        expected = literal(block, frequencies, run, known)
        assert replayed(followed, b) == [known.groups, *(step.clusters for step in expected)]
        before = [step for step in expected if step.before_convergence]
        assert stopped.rounds[b] == followed.rounds[b] == len(before)
        found = partition(stopped.label[first:last].tolist())
        assert found == (before[-1].clusters if before else known.groups)
        for clusters in replayed(followed, b):
            assert_kept(clusters, known)
        rows = np.flatnonzero(trace["block"] == b)
        assert trace["clusters"][rows].tolist() == [len(step.clusters) for step in expected]
        assert trace["highest_score"][rows] == near([max(s.scores) for s in expected], run)
        for step, lowest in zip(expected, trace["lowest_score"][rows], strict=True):
            assert any(lowest == near(score, run) for score in step.scores)


@settings(max_examples=1000, deadline=None)
@given(known=constrained(), run=parameters(), rare=rarities)
def test_kernel_is_the_reference(known: tuple[list[list[Mention]], Constraints], run: Settings, rare: int) -> None:
    assert_same_as_reference(*known, run, rare)


@pytest.mark.parametrize("variant", ["prob", "max"])
@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("scope", ["overall", "within"])
@pytest.mark.parametrize("gamma", [0.0, 1.0])
def test_larger_blocks_in_every_variant(variant: str, joint: bool, scope: str, gamma: float) -> None:
    random = np.random.default_rng(11)
    collection = [
        [
            {kind: {int(f): float(random.integers(1, 4)) for f in random.choice(6, 3, replace=False)} for kind in TYPES}
            for _ in range(size)
        ]
        for size in (1, 14, 22)
    ]
    groups = [random.integers(0, 2 * len(block), len(block)).tolist() for block in collection]
    profiles = [random.integers(0, PROFILES, len(block)).tolist() for block in collection]
    known = constraints_of(groups, profiles, {(0, 1), (2, 3), (1, 4)})
    run = Settings(variant=variant, joint=joint, scope=scope, gamma=gamma, alpha=0.01 if not joint else 0.001)
    assert_same_as_reference(collection, known, run, rare=20)


@pytest.mark.parametrize("variant", ["prob", "max"])
@pytest.mark.parametrize(("profiles", "expected"), [([0, 2, 1], [0, 0, 1]), ([2, 0, 0, 1, 1, 2], [0, 0, 0, 1, 1, 0])])
def test_among_ties_smaller_clusters_come_first(variant: str, profiles: list[int], expected: list[int]) -> None:
    """Everybody fits to everybody else equally well, but the profiles 0 and 1 are rivals."""
    collection, run = [[EMPTY] * len(profiles)], Settings(variant=variant, alpha=0.0, gamma=0.0)
    known = constraints_of([list(range(len(profiles)))], [profiles], {(0, 1)})
    assert_same_as_reference(collection, known, run, rare=3)
    found = cluster(flat(collection), counted(collection, 3), run, constraints=known)
    assert found.label.tolist() == expected


@settings(max_examples=100, deadline=None)
@given(
    steps=st.lists(st.integers(-12, 12), min_size=1, max_size=8),
    base=st.sampled_from([1.0, -1.0, 0.0]),
    rounding=st.sampled_from([0.0, 1e-9]),
)
def test_neighbours_that_tie_are_one_run_however_long(steps: list[int], base: float, rounding: float) -> None:
    scores = np.array([base + 4e-10 * step for step in steps])
    pairs = [(0, other) for other in range(len(steps))]
    expected = [other for _, other in reference.in_order(pairs, scores[None, :], rounding)]
    assert dense.from_highest(scores, rounding).tolist() == expected


def test_a_third_does_not_unite_rivals_in_one_round() -> None:
    """The middle one is asked for by both others at once, which are rivals: it goes to whom it fits to better."""
    first: Mention = {**EMPTY, "co": {0: 4.0, 2: 4.0}}
    middle: Mention = {**EMPTY, "co": {0: 4.0, 1: 1.0}}
    last: Mention = {**EMPTY, "co": {1: 1.0}}
    block, run = [first, middle, last], Settings(alpha=1e-3, gamma=0.0)
    bags, frequencies = flat([block]), counted([block], 1)
    free, bound = (constraints_of([[0, 1, 2]], [[0, 1, 2]], rivals) for rivals in (set(), {(0, 2)}))
    together = cluster(bags, frequencies, run, constraints=free)
    assert together.label.tolist() == [0, 0, 0]
    assert together.merge_round.tolist() == [1, 1, 0]
    assert cluster(bags, frequencies, run, constraints=bound).label.tolist() == [0, 0, 1]
    assert_same_as_reference([block], bound, run, rare=1)


@settings(max_examples=200, deadline=None)
@given(collection=blocks, run=parameters(), rare=rarities)
def test_constraints_that_constrain_nothing_change_nothing(
    collection: list[list[Mention]], run: Settings, rare: int
) -> None:
    sizes = [len(block) for block in collection]
    nothing = constraints_of([list(range(m)) for m in sizes], [[m % PROFILES] * m for m in sizes], set())
    frequencies = counted(collection, rare)
    without = cluster(flat(collection), frequencies, run, hypothetical=True)
    given_nothing = cluster(flat(collection), frequencies, run, constraints=nothing, hypothetical=True)
    for name in ("label", "rounds", "merge_round", "merge_left", "merge_right", "merge_score"):
        assert getattr(without, name).tolist() == getattr(given_nothing, name).tolist()


@settings(max_examples=150, deadline=None)
@given(known=constrained(), run=parameters())
def test_blocks_do_not_influence_each_other(known: tuple[list[list[Mention]], Constraints], run: Settings) -> None:
    collection, constraints = known
    frequencies = counted(collection, 1)
    together = cluster(flat(collection), frequencies, run, constraints=constraints, margins=True)
    for block, (first, last) in zip(collection, pairwise(together.block_start), strict=True):
        part = constraints.of(slice(first, last))
        alone = cluster(flat([block]), frequencies, run, constraints=part, margins=True)
        assert alone.label.tolist() == together.label[first:last].tolist()
        np.testing.assert_array_equal(alone.own, together.own[first:last])
        np.testing.assert_array_equal(alone.other, together.other[first:last])


@settings(max_examples=250, deadline=None)
@given(known=constrained(), run=parameters(), ratio=st.sampled_from([EXACT, SWEEP_RATIO]))
def test_the_sweep_is_the_kernel_and_the_reference(
    known: tuple[list[list[Mention]], Constraints], run: Settings, ratio: float
) -> None:
    collection, constraints = known
    frequencies = counted(collection, 1)
    bags = flat(collection)
    outcomes = sweep(bags, frequencies, run, constraints=constraints, ratio=ratio)
    for b, block in enumerate(collection):
        first, last = bags.block_start[b], bags.block_start[b + 1]
        known_here, part = known_of(constraints, first, last), constraints.of(slice(first, last))
        lowest, labels = lowest_of(outcomes, b), labels_of(outcomes, b)
        assert partition(labels[0]) == known_here.groups
        assert lowest[-1] == -np.inf
        for label in labels:
            assert_kept(partition(label), known_here)
        for s, low in enumerate(lowest[:-1].tolist()):
            above = lowest[s - 1] if s else 4 * low
            middle = [low] if above <= low * (1 + 1e-5) or ratio != EXACT else [low, math.sqrt(low * above)]
            for limit in middle:
                at = run.changed(alpha=limit, beta=0.0, kappa=0.0)
                found = cluster(flat([block]), frequencies, at, constraints=part).label.tolist()
                assert labels[s] == found
                steps = [step for step in literal(block, frequencies, at, known_here) if step.before_convergence]
                assert partition(found) == (steps[-1].clusters if steps else known_here.groups)


@settings(max_examples=150, deadline=None)
@given(known=constrained(), run=parameters())
def test_the_last_outcome_leaves_only_rivals_unless_chance_is_subtracted(
    known: tuple[list[list[Mention]], Constraints], run: Settings
) -> None:
    collection, constraints = known
    bags, frequencies, run = flat(collection), counted(collection, 1), run.changed(gamma=0.0)
    outcomes = sweep(bags, frequencies, run, constraints=constraints)
    for b in range(len(collection)):
        known_here = known_of(constraints, *bags.block_start[b : b + 2].tolist())
        for C, D in combinations(partition(labels_of(outcomes, b)[-1]), 2):
            assert reference.are_rivals(C, D, known_here)


@settings(max_examples=400, deadline=None)
@given(known=constrained(), run=parameters(), rare=rarities, hypothetical=st.booleans())
def test_margins_are_their_definition(
    known: tuple[list[list[Mention]], Constraints], run: Settings, rare: int, hypothetical: bool
) -> None:
    collection, constraints = known
    bags, frequencies = flat(collection), counted(collection, rare)
    answer = cluster(bags, frequencies, run, constraints=constraints, hypothetical=hypothetical, margins=True)
    for block, (first, last) in zip(collection, pairwise(bags.block_start.tolist()), strict=True):
        types, model = literal_model(block, frequencies, run)
        clusters = partition(answer.label[first:last].tolist())
        own, other = reference.margins(types, clusters, model, known_of(constraints, first, last))
        assert np.isnan(answer.own[first:last]).tolist() == np.isnan(own).tolist()
        assert np.nan_to_num(answer.own[first:last]) == near(np.nan_to_num(own).tolist(), run)
        assert answer.other[first:last] == near(other, run)


def test_margins_only_where_asked_for() -> None:
    bags, frequencies = sparse(20)
    plain = cluster(bags, frequencies, Settings())
    with_margins = cluster(bags, frequencies, Settings(), margins=True)
    assert len(plain.own) == len(plain.other) == 0
    assert len(with_margins.own) == len(with_margins.other) == 20
    assert plain.label.tolist() == with_margins.label.tolist()


def test_rivals_take_memory() -> None:
    assert dense_bytes(100, 8) == 4950 * 8 * 8 + 4950 + 100 * 100 * 8


def test_without_feature_types_groups_are_together() -> None:
    nothing = Frequencies((), np.zeros(1, np.int64), np.zeros(0), np.zeros(0), 3)
    bags = Bags(np.array([0, 3, 4]), np.zeros(5, np.int64), np.zeros(0, np.int32), np.zeros(0))
    known = constraints_of([[0, 1, 0], [0]], [[0, 1, 2], [3]], set())
    assert cluster(bags, nothing, Settings(), constraints=known, hypothetical=True).label.tolist() == [0, 1, 0, 0]
    assert sweep(bags, nothing, Settings(), constraints=known).label.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"group": np.zeros(2, np.int32)}, "each mention"),
        ({"group": np.array([0, 2, 2], np.int32)}, "first mention"),
        ({"group": np.array([0, 0, 1], np.int32)}, "first mention"),
        ({"group": np.array([0, -1, 2], np.int32)}, "first mention"),
        ({"profile": np.array([0, 1, 9], np.int32)}, "cannot_link_start"),
        ({"profile": np.array([0, 1, -1], np.int32)}, "cannot_link_start"),
        ({"cannot_link": np.array([1, 9], np.int32)}, "be a profile"),
        ({"cannot_link": np.array([1], np.int32)}, "number of rivals"),
    ],
)
def test_malformed_constraints_are_refused(changes: dict[str, np.ndarray], wrong: str) -> None:
    known = replace(constraints_of([[0, 1, 2]], [[0, 1, 2]], {(0, 1)}), **changes)
    with pytest.raises(ValueError, match=wrong):
        cluster(flat([[EMPTY] * 3]), counted([[EMPTY] * 3], 1), Settings(), constraints=known)
