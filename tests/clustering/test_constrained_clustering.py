"""Constraints and margins: the dense kernel compared with the literal reference; constraints are never violated."""

from __future__ import annotations

import math
from dataclasses import fields
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.clustering import agglomerative, reference
from homonym.clustering.agglomerative import SWEEP_RATIO, Clustering, cluster, dense_bytes, round_table, sweep
from homonym.clustering.arrays import Bags, Constraints, Frequencies
from homonym.clustering.dense.merging import descending_order
from homonym.settings import Settings
from tests.support.profiles import examples
from tests.support.small_blocks import (
    EMPTY,
    EXACT,
    PROFILES,
    TYPES,
    Case,
    Mention,
    blocks,
    constrained,
    constraints_of,
    counted,
    flat,
    labels_of,
    literal,
    literal_model,
    lowest_of,
    names_of,
    near,
    parameters,
    partition,
    rarities,
    sparse,
    with_name,
)


def cannot_link_profiles(constraints: Constraints, x: int) -> set[int]:
    p = constraints.profile[x]
    return set(
        constraints.cannot_link[constraints.cannot_link_start[p] : constraints.cannot_link_start[p + 1]].tolist()
    )


def literal_constraints(constraints: Constraints, first: int, last: int) -> reference.ReferenceConstraints:
    """The constraints of one block as the reference takes them."""
    profile = constraints.profile[first:last].tolist()
    pairs = [
        (x, y)
        for x, y in combinations(range(last - first), 2)
        if profile[y] in cannot_link_profiles(constraints, first + x)
    ]
    return reference.ReferenceConstraints(partition(constraints.group[first:last].tolist()), frozenset(pairs))


def replayed(answer: Clustering, b: int) -> list[list[list[int]]]:
    """The partition at the start and after every round, rebuilt from the merges."""
    first, last = answer.block_start[b], answer.block_start[b + 1]
    group = list(range(last - first))
    partitions = []
    steps = answer.merge_round[first:last]
    forced = int((steps == -1).sum())
    assert (steps[:forced] == -1).all(), "merges of must-link groups come first"
    assert (answer.merge_score[first : first + forced] == np.inf).all()
    for step in [-1, *range(1, max(0, int(steps.max())) + 1)]:
        for k in np.flatnonzero(steps == step):
            left, right = group[answer.merge_left[first + k]], group[answer.merge_right[first + k]]
            assert left != right
            group = [left if g == right else g for g in group]
        partitions.append(partition(group))
    return partitions


def assert_satisfied(clusters: list[list[int]], constraints: reference.ReferenceConstraints) -> None:
    """Must-link groups are together; cannot-link pairs are apart, unless a group contains both."""
    home = {x: c for c, cluster in enumerate(clusters) for x in cluster}
    group = {x: g for g, members in enumerate(constraints.groups) for x in members}
    for members in constraints.groups:
        assert len({home[x] for x in members}) == 1
    for x, y in constraints.cannot_link:
        assert home[x] != home[y] or group[x] == group[y]


def assert_same_as_reference(
    collection: list[list[Mention]], constraints: Constraints, run: Settings, rare: int
) -> None:
    frequencies, names = counted(collection, rare), names_of(collection)
    stopped = cluster(flat(collection), frequencies, run, constraints=constraints, names=names)
    followed = cluster(flat(collection), frequencies, run, constraints=constraints, names=names, hypothetical=True)
    assert stopped.label.tolist() == followed.label.tolist()
    trace = round_table(followed)
    for b, block in enumerate(collection):
        first, last = stopped.block_start[b], stopped.block_start[b + 1]
        block_constraints = literal_constraints(constraints, first, last)
        expected = literal(block, frequencies, run, block_constraints)
        assert replayed(followed, b) == [block_constraints.groups, *(step.clusters for step in expected)]
        before = [step for step in expected if step.before_convergence]
        assert stopped.rounds[b] == followed.rounds[b] == len(before)
        found = partition(stopped.label[first:last].tolist())
        assert found == (before[-1].clusters if before else block_constraints.groups)
        for clusters in replayed(followed, b):
            assert_satisfied(clusters, block_constraints)
        rows = np.flatnonzero(trace["block"] == b)
        assert trace["clusters"][rows].tolist() == [len(step.clusters) for step in expected]
        assert trace["highest_score"][rows] == near([max(s.scores) for s in expected], run, names)
        for step, lowest in zip(expected, trace["lowest_score"][rows], strict=True):
            assert any(lowest == near(score, run, names) for score in step.scores)


@settings(max_examples=examples(1000))
@given(case=constrained(), run=parameters(), rare=rarities)
def test_kernel_equals_reference(case: Case, run: Settings, rare: int) -> None:
    assert_same_as_reference(*case, run, rare)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["prob", "max"])
@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("scope", ["overall", "within"])
@pytest.mark.parametrize("gamma", [0.0, 1.0])
@pytest.mark.parametrize("named", [False, True])
def test_equals_reference_on_larger_blocks_in_every_variant(
    variant: str, joint: bool, scope: str, gamma: float, named: bool
) -> None:
    random = np.random.default_rng(11)
    collection: list[list[Mention]] = [
        [
            {kind: {int(f): float(random.integers(1, 4)) for f in random.choice(6, 3, replace=False)} for kind in TYPES}
            for _ in range(size)
        ]
        for size in (1, 14, 22)
    ]
    groups = [random.integers(0, 2 * len(block), len(block)).tolist() for block in collection]
    profiles = [random.integers(0, PROFILES, len(block)).tolist() for block in collection]
    constraints = constraints_of(groups, profiles, {(0, 1), (2, 3), (1, 4)})
    if named:
        collection = [[with_name(mention, int(random.integers(-2, 5))) for mention in block] for block in collection]
    run = Settings(variant=variant, joint=joint, scope=scope, gamma=gamma, alpha=0.01 if not joint else 0.001)
    assert_same_as_reference(collection, constraints, run, rare=20)
    if variant == "prob" and not joint:
        assert_same_as_reference(collection, constraints, run.changed(chance_limit=1.0), rare=20)


@pytest.mark.parametrize("variant", ["prob", "max"])
@pytest.mark.parametrize(("profiles", "expected"), [([0, 2, 1], [0, 0, 1]), ([2, 0, 0, 1, 1, 2], [0, 0, 0, 1, 1, 0])])
def test_ties_are_joined_by_smallest_cluster_first(variant: str, profiles: list[int], expected: list[int]) -> None:
    """All pairs tie, but mentions of the profiles 0 and 1 cannot be linked."""
    collection, run = [[EMPTY] * len(profiles)], Settings(variant=variant, alpha=0.0, gamma=0.0)
    constraints = constraints_of([list(range(len(profiles)))], [profiles], {(0, 1)})
    assert_same_as_reference(collection, constraints, run, rare=3)
    found = cluster(flat(collection), counted(collection, 3), run, constraints=constraints)
    assert found.label.tolist() == expected


@settings(max_examples=examples(100))
@given(
    steps=st.lists(st.integers(-12, 12), min_size=1, max_size=80),
    base=st.sampled_from([1.0, -1.0, 0.0]),
    rounding=st.sampled_from([0.0, 1e-9]),
)
def test_a_run_of_tying_neighbours_keeps_its_order(steps: list[int], base: float, rounding: float) -> None:
    scores = np.array([base + 4e-10 * step for step in steps])
    pairs = [(0, other) for other in range(len(steps))]
    expected = [other for _, other in reference.in_order(pairs, scores[None, :], rounding)]
    assert descending_order(scores, rounding).tolist() == expected


def test_a_third_mention_does_not_join_a_cannot_link_pair_in_one_round() -> None:
    """The middle mention is best partner of both others, which cannot be linked: it joins the one it fits better."""
    first: Mention = {**EMPTY, "co": {0: 4.0, 2: 4.0}}
    middle: Mention = {**EMPTY, "co": {0: 4.0, 1: 1.0}}
    last: Mention = {**EMPTY, "co": {1: 1.0}}
    block, run = [first, middle, last], Settings(alpha=1e-3, gamma=0.0)
    bags, frequencies = flat([block]), counted([block], 1)
    free, bound = (constraints_of([[0, 1, 2]], [[0, 1, 2]], pairs) for pairs in (set(), {(0, 2)}))
    together = cluster(bags, frequencies, run, constraints=free)
    assert together.label.tolist() == [0, 0, 0]
    assert together.merge_round.tolist() == [1, 1, 0]
    assert cluster(bags, frequencies, run, constraints=bound).label.tolist() == [0, 0, 1]
    assert_same_as_reference([block], bound, run, rare=1)


@settings(max_examples=examples(200))
@given(collection=blocks, run=parameters(), rare=rarities)
def test_empty_constraints_change_nothing(collection: list[list[Mention]], run: Settings, rare: int) -> None:
    sizes = [len(block) for block in collection]
    nothing = constraints_of([list(range(m)) for m in sizes], [[m % PROFILES] * m for m in sizes], set())
    frequencies, names = counted(collection, rare), names_of(collection)
    without = cluster(flat(collection), frequencies, run, names=names, hypothetical=True)
    given_nothing = cluster(flat(collection), frequencies, run, constraints=nothing, names=names, hypothetical=True)
    for name in ("label", "rounds", "merge_round", "merge_left", "merge_right", "merge_score"):
        assert getattr(without, name).tolist() == getattr(given_nothing, name).tolist()


@settings(max_examples=examples(150))
@given(case=constrained(), run=parameters())
def test_blocks_do_not_influence_each_other(case: Case, run: Settings) -> None:
    collection, constraints = case
    frequencies, names = counted(collection, 1), names_of(collection)
    together = cluster(flat(collection), frequencies, run, constraints=constraints, names=names, margins=True)
    for block, (first, last) in zip(collection, pairwise(together.block_start), strict=True):
        part = constraints.of(slice(first, last))
        alone = cluster(flat([block]), frequencies, run, constraints=part, names=names_of([block]), margins=True)
        assert alone.label.tolist() == together.label[first:last].tolist()
        np.testing.assert_array_equal(alone.own, together.own[first:last])
        np.testing.assert_array_equal(alone.other, together.other[first:last])


@pytest.mark.slow
@settings(max_examples=examples(250))
@given(case=constrained(), run=parameters(), ratio=st.sampled_from([EXACT, SWEEP_RATIO]))
def test_sweep_equals_kernel_and_reference(case: Case, run: Settings, ratio: float) -> None:
    collection, constraints = case
    frequencies = counted(collection, 1)
    bags = flat(collection)
    outcomes = sweep(bags, frequencies, run, constraints=constraints, names=names_of(collection), ratio=ratio)
    for b, block in enumerate(collection):
        first, last = bags.block_start[b], bags.block_start[b + 1]
        block_constraints, part = literal_constraints(constraints, first, last), constraints.of(slice(first, last))
        lowest, labels = lowest_of(outcomes, b), labels_of(outcomes, b)
        assert partition(labels[0]) == block_constraints.groups
        assert lowest[-1] == -np.inf
        for label in labels:
            assert_satisfied(partition(label), block_constraints)
        for s, low in enumerate(lowest[:-1].tolist()):
            above = lowest[s - 1] if s else 4 * low
            middle = [low] if above <= low * (1 + 1e-5) or ratio != EXACT else [low, math.sqrt(low * above)]
            for limit in middle:
                at = run.changed(alpha=limit, beta=0.0, kappa=0.0)
                single = cluster(flat([block]), frequencies, at, constraints=part, names=names_of([block]))
                found = single.label.tolist()
                assert labels[s] == found
                steps = [step for step in literal(block, frequencies, at, block_constraints) if step.before_convergence]
                assert partition(found) == (steps[-1].clusters if steps else block_constraints.groups)


@settings(max_examples=examples(150))
@given(case=constrained(), run=parameters())
def test_last_outcome_without_chance_correction_leaves_only_cannot_link_pairs(case: Case, run: Settings) -> None:
    collection, constraints = case
    bags, frequencies = flat(collection), counted(collection, 1)
    run = run.changed(gamma=0.0, chance_limit=0.0)
    outcomes = sweep(bags, frequencies, run, constraints=constraints, names=names_of(collection))
    for b in range(len(collection)):
        block_constraints = literal_constraints(constraints, *bags.block_start[b : b + 2].tolist())
        for C, D in combinations(partition(labels_of(outcomes, b)[-1]), 2):
            assert reference.cannot_be_linked(C, D, block_constraints)


@settings(max_examples=examples(150))
@given(
    case=constrained(),
    run=parameters(),
    chance_limit=st.sampled_from([0.5, 1.0, 3.0]),
    gamma=st.sampled_from([0.0, 0.5]),
)
def test_last_outcome_with_a_chance_limit_leaves_no_pair_that_may_be_joined(
    case: Case, run: Settings, chance_limit: float, gamma: float
) -> None:
    """The last outcome of a sweep is that of the reference at the limit 0, unless it is reached at a higher limit."""
    collection, constraints = case
    bags, frequencies = flat(collection), counted(collection, 1)
    run = run.changed(variant="prob", joint=False, gamma=gamma, chance_limit=chance_limit)
    outcomes = sweep(bags, frequencies, run, constraints=constraints, names=names_of(collection), ratio=EXACT)
    for b, block in enumerate(collection):
        block_constraints = literal_constraints(constraints, *bags.block_start[b : b + 2].tolist())
        types, model = literal_model(block, frequencies, run)
        ps = [reference.p_mention(t.counts, t.totals, model.N, model.epsilon) for t in types]
        clusters = partition(labels_of(outcomes, b)[-1])
        scores, rounding = reference.score_matrix(types, ps, clusters, model, block_constraints)
        assert not reference.selected(scores, 0.0, rounding)


@settings(max_examples=examples(400))
@given(case=constrained(), run=parameters(), rare=rarities, hypothetical=st.booleans())
def test_margins_equal_reference(case: Case, run: Settings, rare: int, hypothetical: bool) -> None:
    collection, constraints = case
    bags, frequencies, names = flat(collection), counted(collection, rare), names_of(collection)
    answer = cluster(
        bags, frequencies, run, constraints=constraints, names=names, hypothetical=hypothetical, margins=True
    )  # fmt: skip
    for block, (first, last) in zip(collection, pairwise(bags.block_start.tolist()), strict=True):
        types, model = literal_model(block, frequencies, run)
        clusters = partition(answer.label[first:last].tolist())
        own, other = reference.margins(types, clusters, model, literal_constraints(constraints, first, last))
        assert np.isnan(answer.own[first:last]).tolist() == np.isnan(own).tolist()
        assert np.nan_to_num(answer.own[first:last]) == near(np.nan_to_num(own).tolist(), run, names)
        assert answer.other[first:last] == near(other, run, names)


@settings(max_examples=examples(400))
@given(case=constrained(), run=parameters(), rare=rarities, hypothetical=st.booleans())
def test_blocks_that_are_not_copied_have_the_same_result_to_the_last_bit(
    case: Case, run: Settings, rare: int, hypothetical: bool
) -> None:
    collection, constraints = case
    bags, frequencies, names = flat(collection), counted(collection, rare), names_of(collection)

    def clustered() -> Clustering:
        return cluster(
            bags, frequencies, run, constraints=constraints, names=names, hypothetical=hypothetical, margins=True
        )  # fmt: skip

    expected = clustered()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agglomerative, "UNCOPIED_BLOCK", 0)
        answer = clustered()
    for field in fields(Clustering):
        np.testing.assert_array_equal(getattr(answer, field.name), getattr(expected, field.name))


def test_margins_are_empty_unless_requested() -> None:
    bags, frequencies = sparse(20)
    plain = cluster(bags, frequencies, Settings())
    with_margins = cluster(bags, frequencies, Settings(), margins=True)
    assert len(plain.own) == len(plain.other) == 0
    assert len(with_margins.own) == len(with_margins.other) == 20
    assert plain.label.tolist() == with_margins.label.tolist()


def test_dense_bytes_includes_cannot_links_and_the_copies_of_blocks_that_are_copied() -> None:
    assert dense_bytes(100, 8) == 4950 * 8 * 16 + 4950 + 100 * 100 * 16
    assert dense_bytes(2000, 8) == 1999000 * 8 * 8 + 1999000 + 2000 * 2000 * 16
    assert dense_bytes(2000, 8, copied=True) == 1999000 * 8 * 16 + 1999000 + 2000 * 2000 * 16


def test_without_feature_types_only_must_link_groups_are_joined() -> None:
    nothing = Frequencies((), np.zeros(1, np.int64), np.zeros(0), np.zeros(0), 3)
    bags = Bags(np.array([0, 3, 4]), np.zeros(5, np.int64), np.zeros(0, np.int32), np.zeros(0))
    constraints = constraints_of([[0, 1, 0], [0]], [[0, 1, 2], [3]], set())
    assert cluster(bags, nothing, Settings(), constraints=constraints, hypothetical=True).label.tolist() == [0, 1, 0, 0]
    assert sweep(bags, nothing, Settings(), constraints=constraints).label.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"group": np.zeros(2, np.int32)}, "one entry per mention"),
        ({"group": np.array([0, 2, 2], np.int32)}, "first mention"),
        ({"group": np.array([0, 0, 1], np.int32)}, "first mention"),
        ({"group": np.array([0, -1, 2], np.int32)}, "first mention"),
        ({"profile": np.array([0, 1, 9], np.int32)}, "profile must be from 0 to 4"),
        ({"profile": np.array([0, 1, -1], np.int32)}, "profile must be from 0 to 4"),
        ({"cannot_link": np.array([1, 9], np.int32)}, "consist of profiles"),
        ({"cannot_link": np.array([1], np.int32)}, "length of cannot_link"),
    ],
)
def test_rejects_malformed_constraints(changes: dict[str, np.ndarray], wrong: str) -> None:
    constraints = constraints_of([[0, 1, 2]], [[0, 1, 2]], {(0, 1)})._replace(**changes)
    with pytest.raises(ValueError, match=wrong):
        cluster(flat([[EMPTY] * 3]), counted([[EMPTY] * 3], 1), Settings(), constraints=constraints)


def test_reference_reports_only_merges_that_were_made() -> None:
    """Mention 1 is as similar to 0 as to 2, and a cannot-link separates these two: one of the two pairs is merged."""
    kind = reference.FeatureType(np.ones((3, 1)), np.array([3.0]), 3.0, 1.0)
    constraints = reference.ReferenceConstraints([[0], [1], [2]], frozenset({(0, 2)}))
    first, *_ = reference.rounds([kind], reference.ReferenceModel(N=3, epsilon=0.1, limit=-np.inf), constraints)
    assert len(first.clusters) == 2
    merges = {frozenset(cluster) for cluster in first.clusters}
    assert len(first.scores) == 2  # the pair is counted from both sides
    assert merges in ({frozenset({0, 1}), frozenset({2})}, {frozenset({1, 2}), frozenset({0})})
