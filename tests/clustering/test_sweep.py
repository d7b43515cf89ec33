"""The sweep compared with single runs of the kernel and the literal reference: the same outcome at every limit."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.clustering import agglomerative
from homonym.clustering.agglomerative import (
    SWEEP_RATIO,
    Outcomes,
    cluster,
    limits,
    pair_scores,
    pair_scores_of_blocks,
    sweep,
)
from homonym.clustering.arrays import Frequencies
from homonym.settings import Limit, Settings
from tests.support.profiles import examples
from tests.support.small_blocks import (
    EMPTY,
    EXACT,
    TYPES,
    Mention,
    between,
    blocks,
    counted,
    flat,
    labels_of,
    literal,
    lowest_of,
    mentions,
    names_of,
    parameters,
    random_block,
    rarities,
    sparse,
)

VARIANTS = [
    pytest.param(Settings(variant=variant, joint=joint, scope=scope, chance_limit=0), id=f"{variant}-{joint}-{scope}")
    for variant, joint, scope in product(["prob", "max"], [False, True], ["overall", "within"])
]


def clustered(block: list[Mention], frequencies: Frequencies, run: Settings, limit: float) -> list[int]:
    at = run.changed(alpha=limit, beta=0.0, kappa=0.0)
    found: list[int] = cluster(flat([block]), frequencies, at, names=names_of([block])).label.tolist()
    return found


def swept(collection: list[list[Mention]], frequencies: Frequencies, run: Settings, ratio: float = EXACT) -> Outcomes:
    return sweep(flat(collection), frequencies, run, names=names_of(collection), ratio=ratio)


def by_reference(block: list[Mention], frequencies: Frequencies, run: Settings, limit: float) -> list[int]:
    clusters = [[x] for x in range(len(block))]
    for step in literal(block, frequencies, run.changed(alpha=limit, beta=0.0, kappa=0.0)):
        if step.before_convergence:
            clusters = step.clusters
    return [next(number for number, members in enumerate(clusters) if x in members) for x in range(len(block))]


def assert_right_between_steps(collection: list[list[Mention]], run: Settings, rare: int) -> None:
    frequencies = counted(collection, rare)
    outcomes = swept(collection, frequencies, run)
    for b, block in enumerate(collection):
        for limit in between(lowest_of(outcomes, b)):
            step = outcomes.at(np.full(len(collection), limit))[b]
            found = outcomes.label[outcomes.label_start[step] : outcomes.label_start[step + 1]].tolist()
            assert found == clustered(block, frequencies, run, limit)
            assert found == by_reference(block, frequencies, run, limit)


@settings(max_examples=examples(200))
@given(collection=blocks, run=parameters(), rare=rarities)
def test_sweep_equals_kernel_and_reference_between_steps(
    collection: list[list[Mention]], run: Settings, rare: int
) -> None:
    assert_right_between_steps(collection, run, rare)


@settings(max_examples=examples(50))
@given(collection=blocks, rare=rarities, highest=st.sampled_from([0.01, 0.3, 1.0, 5.0]))
def test_sweep_below_a_limit_equals_the_kernel(collection: list[list[Mention]], rare: int, highest: float) -> None:
    run, frequencies = Settings(alpha=0.2), counted(collection, rare)
    outcomes = sweep(flat(collection), frequencies, run, names=names_of(collection), ratio=EXACT, highest=highest)
    for b, block in enumerate(collection):
        first = outcomes.label_start[outcomes.step_start[b]]
        found = outcomes.label[first : first + len(block)].tolist()
        assert found == clustered(block, frequencies, run, highest * 0.2)
        assert (lowest_of(outcomes, b)[:-1] <= highest * 0.2 * (1 + 1e-9)).all()


@pytest.mark.parametrize("run", VARIANTS)
def test_larger_blocks_in_every_variant(run: Settings) -> None:
    whole: list[Mention] = [
        {kind: {f: round(c) + 1.0 for f, c in bag.items()} for kind, bag in mention.items()}
        for mention in random_block(10, seed=3)
    ]
    assert_right_between_steps([random_block(9), [EMPTY], whole, [EMPTY] * 4, random_block(2)], run, rare=5)


@settings(max_examples=examples(100))
@given(collection=blocks, run=parameters(), rare=rarities, ratio=st.sampled_from([EXACT, SWEEP_RATIO, 3.0]))
def test_each_outcome_equals_the_run_at_its_lowest_limit(
    collection: list[list[Mention]], run: Settings, rare: int, ratio: float
) -> None:
    frequencies = counted(collection, rare)
    outcomes = swept(collection, frequencies, run, ratio)
    for b, block in enumerate(collection):
        lowest, labels = lowest_of(outcomes, b), labels_of(outcomes, b)
        for low, before, label in zip(lowest[:-1].tolist(), [np.inf, *lowest.tolist()], labels, strict=False):
            assert label == clustered(block, frequencies, run, low)
            if low * (1 + 1e-5) < before:  # an outcome holds from its lowest limit up to that of the one before
                assert label == clustered(block, frequencies, run, low * (1 + 1e-6))


@settings(max_examples=examples(100))
@given(collection=blocks, run=parameters(), ratio=st.sampled_from([EXACT, SWEEP_RATIO, 3.0]))
def test_outcomes_lead_from_singletons_to_one_cluster(
    collection: list[list[Mention]], run: Settings, ratio: float
) -> None:
    frequencies, run = counted(collection, 1), run.changed(gamma=0.0, chance_limit=0.0)
    outcomes = swept(collection, frequencies, run, ratio)
    assert len(outcomes.lowest) == len(outcomes.label_start) - 1 == outcomes.step_start[-1]
    for b, block in enumerate(collection):
        lowest, labels = lowest_of(outcomes, b), labels_of(outcomes, b)
        assert lowest[-1] == -np.inf
        assert (np.diff(lowest[:-1]) < 0).all()
        assert labels[0] == list(range(len(block)))
        assert [max(label) == 0 for label in labels] == [False] * (len(labels) - 1) + [True]
        run_at = np.inf
        for low in lowest[:-1].tolist():
            run_at = min(low * (1 - 4e-9), run_at / ratio)
        assert len(block) == 1 or clustered(block, frequencies, run, run_at) == labels[-1]


@settings(max_examples=examples(200))
@given(
    collection=blocks,
    run=parameters(),
    gamma=st.sampled_from([0.5, 1.0, 2.0, 10.0]),
    ratio=st.sampled_from([EXACT, SWEEP_RATIO, 3.0]),
)
def test_with_chance_correction_outcomes_end_at_one_cluster_or_at_limit_0(
    collection: list[list[Mention]], run: Settings, gamma: float, ratio: float
) -> None:
    frequencies, run = counted(collection, 1), run.changed(gamma=gamma, chance_limit=0.0)
    outcomes = swept(collection, frequencies, run, ratio)
    for b, block in enumerate(collection):
        lowest, labels = lowest_of(outcomes, b), labels_of(outcomes, b)
        assert lowest[-1] == -np.inf
        assert (lowest[:-1] > 0).all()
        assert (np.diff(lowest[:-1]) < 0).all()
        assert labels[0] == list(range(len(block)))
        assert labels[-1] in ([0] * len(block), by_reference(block, frequencies, run, 0.0))


@pytest.mark.parametrize("run", VARIANTS)
def test_large_sparse_blocks_have_many_outcomes_that_equal_single_runs(run: Settings) -> None:
    bags, frequencies = sparse(80)
    outcomes = sweep(bags, frequencies, run, ratio=EXACT)
    middle = between(outcomes.lowest)
    assert len(middle) > 30
    for limit in middle:
        single = cluster(bags, frequencies, run.changed(alpha=limit, beta=0.0, kappa=0.0))
        assert outcomes.labels_at(np.array([limit])).tolist() == single.label.tolist()


@pytest.mark.parametrize("run", VARIANTS)
@pytest.mark.parametrize("ratio", [SWEEP_RATIO, 1.3])
def test_limits_decrease_by_the_ratio(run: Settings, ratio: float) -> None:
    bags, frequencies = sparse(120)
    lowest = sweep(bags, frequencies, run, ratio=ratio).lowest
    every = sweep(bags, frequencies, run, ratio=EXACT).lowest
    most = math.log(lowest[0] / lowest[-2]) / math.log(ratio) + 3
    assert 3 < len(lowest) <= most < len(every)
    assert lowest[0] == every[0]


@settings(max_examples=examples(100))
@given(collection=blocks, run=parameters(), ratio=st.sampled_from([EXACT, SWEEP_RATIO]))
def test_blocks_are_swept_independently(collection: list[list[Mention]], run: Settings, ratio: float) -> None:
    frequencies = counted(collection, 1)
    together = swept(collection, frequencies, run, ratio)
    for b, block in enumerate(collection):
        alone = swept([block], frequencies, run, ratio)
        assert alone.lowest.tolist() == lowest_of(together, b).tolist()
        assert labels_of(alone, 0) == labels_of(together, b)


@settings(max_examples=examples(100))
@given(collection=blocks, run=parameters(), data=st.data())
def test_every_block_has_its_own_limit(collection: list[list[Mention]], run: Settings, data: st.DataObject) -> None:
    outcomes = swept(collection, counted(collection, 1), run)
    chosen, limit, expected = [], [], []
    for b in range(len(collection)):
        lowest = lowest_of(outcomes, b).tolist()
        chosen.append(data.draw(st.integers(0, len(lowest) - 1)))
        # From its lowest limit on, up to that of the outcome before it.
        above = [lowest[chosen[b]], *([lowest[chosen[b] - 1]] if chosen[b] else [])]
        limit.append(data.draw(st.sampled_from([above[0], float(np.nextafter(above[-1], -np.inf))])))
        if not chosen[b]:
            limit[b] = data.draw(st.sampled_from([lowest[0], 1e300, np.inf]))
        expected += labels_of(outcomes, b)[chosen[b]]
    assert outcomes.at(np.array(limit)).tolist() == (outcomes.step_start[:-1] + chosen).tolist()
    assert outcomes.labels_at(np.array(limit)).tolist() == expected


@settings(max_examples=examples(100))
@given(block=st.lists(mentions, min_size=2, max_size=7), run=parameters(), below=st.floats(0, 0.999))
def test_with_joint_scores_lower_limits_keep_one_cluster(block: list[Mention], run: Settings, below: float) -> None:
    joint, frequencies = run.changed(joint=True, gamma=0.0, chance_limit=0.0), counted([block], 1)
    limit = float(swept([block], frequencies, joint).lowest[-2]) * below
    assert clustered(block, frequencies, joint, limit) == [0] * len(block)


def test_one_cluster_stands_for_all_lower_limits_though_conditional_scores_may_fall() -> None:
    block: list[Mention] = [
        {"co": {3: 1.0}, "term": {}, "year": {4: 3.0, 2: 8.0}},
        {"co": {4: 8.0}, "term": {5: 8.0}, "year": {3: 2.0}},
        {"co": {4: 3.0, 0: 3.0, 2: 2.0}, "term": {}, "year": {0: 1.0, 5: 2.0}},
        {"co": {}, "term": {2: 3.0, 1: 8.0, 3: 1.0}, "year": {}},
    ]
    frequencies, run = counted([block], 50), Settings(epsilon=0.01, chance_limit=0)
    outcomes = swept([block], frequencies, run)
    lower = 0.6 * float(outcomes.lowest[-2])
    assert clustered(block, frequencies, run, lower) == by_reference(block, frequencies, run, lower) != [0, 0, 0, 0]
    assert outcomes.labels_at(np.array([lower])).tolist() == [0, 0, 0, 0]


@settings(max_examples=examples(60))
@given(collection=blocks, rare=rarities)
def test_couple_equals_its_definition(collection: list[list[Mention]], rare: int) -> None:
    frequencies = counted(collection, rare)
    for b, block in enumerate(collection):
        S, n = pair_scores(flat(collection), b, frequencies)
        assert S.shape == (len(block), len(block), len(TYPES))
        for (x, one), (y, other), (t, kind) in product(enumerate(block), enumerate(block), enumerate(TYPES)):
            assert n[x, t] == pytest.approx(sum(one[kind].values()), rel=1e-12)
            shared = [
                c * other[kind][f] / float(frequencies.total[6 * t + f])
                for f, c in one[kind].items()
                if f in other[kind]
            ]
            assert S[x, y, t] == (0 if x == y else pytest.approx(sum(shared), rel=1e-12))
        assert (S.transpose(1, 0, 2) == S).all()


@settings(max_examples=examples(40))
@given(collection=blocks, rare=rarities, batch=st.sampled_from([1, 4, 1000]))
def test_pair_scores_of_blocks_are_those_of_each_block(collection: list[list[Mention]], rare: int, batch: int) -> None:
    frequencies, bags = counted(collection, rare), flat(collection)
    with patch.object(agglomerative, "PAIRS_PER_BATCH", batch):
        together = list(pair_scores_of_blocks(bags, frequencies))
    assert len(together) == len(collection)
    for b, found in enumerate(together):
        assert all(map(np.array_equal, found, pair_scores(bags, b, frequencies)))


def test_limit_grows_with_the_size_of_a_block() -> None:
    start = np.array([0, 1, 4, 104])
    assert limits(start, Limit(0.5, 0.01), 9) == pytest.approx([0.51, 0.53, 1.5])
    assert limits(start, Limit(0.5), 9).tolist() == [0.5, 0.5, 0.5]
    assert limits(start, Limit(kappa=18_000), 6_000) == pytest.approx([2, 2 * math.sqrt(3), 20])
    collection = [random_block(3), random_block(8)]
    used = cluster(flat(collection), counted(collection, 1), Settings(alpha=0.125, beta=0.25)).limit
    assert used.tolist() == [0.125 + 3 * 0.25, 0.125 + 8 * 0.25]


WITHOUT_TYPES = """
import resource
import numpy as np
from homonym.clustering.agglomerative import sweep
from homonym.clustering.arrays import Bags, Frequencies
from homonym.settings import Settings
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
nothing = Frequencies((), np.zeros(1, np.int64), np.zeros(0), np.zeros(0), 3)
bags = Bags(np.array([0, 2, 3]), np.zeros(4, np.int64), np.zeros(0, np.int32), np.zeros(0))
print(sweep(bags, nothing, Settings()).labels_at(np.array([0.1, 0.1])).tolist())
"""


@pytest.mark.slow
def test_without_feature_types_all_mentions_are_singletons_at_any_limit() -> None:
    # In a separate process, because a failure would not terminate.
    done = subprocess.run([sys.executable, "-c", WITHOUT_TYPES], capture_output=True, text=True, timeout=20)
    assert done.stdout == "[0, 1, 0]\n", done.stderr
