"""Limit curves, methods and means over sizes against direct computation: cluster at a limit, then measure."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.clustering.agglomerative import Outcomes, cluster, limits, sweep
from homonym.measures.agreement import Codes, NameScores, Values, bcubed, contingency
from homonym.measures.bootstrap import Estimate, mean_over_sizes, precision_of, recall_of
from homonym.measures.methods import (
    LabelledNames,
    Labels,
    LimitCurves,
    Method,
    RelativeFrequencies,
    ThresholdMethod,
    compare_labels,
    concatenate_curves,
    curves_of,
    labelled_codes,
    labels_of,
    measure_outcomes,
)
from homonym.settings import Limit, Settings
from tests.support.labelled_blocks import Authors, Collection, labelled_collections, labelled_names, measured
from tests.support.profiles import examples
from tests.support.small_blocks import EXACT, between, lowest_of, parameters, random_block


def direct(names: LabelledNames, label: Labels) -> NameScores:
    known = names.labelled
    return bcubed(
        contingency(names.block[known], names.author[known], (names.bags.block_start[names.block] + label)[known])
    ).by_name()


def exact_here(curves: LimitCurves, name: int, limit: float) -> bool:
    """Whether a limit is far from every step and above the last one, so that the curve is exact there."""
    lowest = curves.lowest[curves.start[name] : curves.start[name + 1] - 1]
    return not len(lowest) or (limit > lowest[-1] and bool((np.abs(lowest / limit - 1) > 1e-6).all()))


def same(one: LimitCurves, other: LimitCurves) -> bool:
    return all(np.array_equal(getattr(one, part.name), getattr(other, part.name)) for part in fields(LimitCurves))


def many_names(seed: int = 0) -> LabelledNames:
    """More names than batches, some mentions without labels."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 12, 60).tolist()
    authors = [[0, *random.integers(-1, 3, size - 1).tolist()] for size in sizes]
    return labelled_names([random_block(size, seed + b) for b, size in enumerate(sizes)], authors)


@settings(max_examples=examples(200))
@given(labelled=labelled_collections(), run=parameters(), data=st.data())
def test_curves_equal_clustering_at_the_limit(
    labelled: tuple[Collection, Authors], run: Settings, data: st.DataObject
) -> None:
    names = labelled_names(*labelled)
    outcomes = sweep(names.bags, names.frequencies, run, ratio=EXACT)
    curves = measure_outcomes(names, outcomes)
    # Limits that are exact for some name, made of α, β and κ in any proportion.
    name = data.draw(st.integers(0, len(names) - 1))
    limit = data.draw(st.sampled_from(between(lowest_of(outcomes, name)) or [0.5]))
    first, second = sorted(data.draw(st.tuples(st.floats(0, 1), st.floats(0, 1))))
    shares = [(first, second - first, 1 - second), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    size, collection = int(names.mentions[name]), names.frequencies.mentions
    units = (1.0, size, math.sqrt(size) / (collection + 3000))
    parts = [Limit(*(limit * share / unit for share, unit in zip(each, units, strict=True))) for each in shares]
    found = curves.at(np.array(parts))
    assert found.precision.shape == found.recall.shape == (len(names), 3)
    compared = 0
    for column, part in enumerate(parts):
        label = cluster(names.bags, names.frequencies, run.with_limit(part)).label
        expected = direct(names, label)
        for row, own in enumerate(limits(names.bags.block_start, part, collection).tolist()):
            if exact_here(curves, row, own):
                assert found.precision[row, column] == pytest.approx(expected.precision[row], rel=1e-12)
                assert found.recall[row, column] == pytest.approx(expected.recall[row], rel=1e-12)
                compared += 1
    assert compared >= 3


@settings(max_examples=examples(100))
@given(labelled=labelled_collections(), run=parameters())
def test_every_outcome_equals_its_literal_measures(labelled: tuple[Collection, Authors], run: Settings) -> None:
    names = labelled_names(*labelled)
    outcomes = sweep(names.bags, names.frequencies, run)
    curves = measure_outcomes(names, outcomes)
    assert curves.lowest.tolist() == outcomes.lowest.tolist()
    for name, authors in enumerate(labelled[1]):
        for step in range(curves.start[name], curves.start[name + 1]):
            label = outcomes.label[outcomes.label_start[step] : outcomes.label_start[step + 1]].tolist()
            state = measured([[x for x, own in enumerate(label) if own == c] for c in set(label)], authors)
            assert curves.precision[step] == pytest.approx(float(state.precision), rel=1e-12)
            assert curves.recall[step] == pytest.approx(float(state.recall), rel=1e-12)


def test_step_holds_from_its_lowest_limit_on() -> None:
    curves = LimitCurves(
        collection=100,
        mentions=np.array([16, 1]),
        start=np.array([0, 3, 4]),
        lowest=np.array([0.5, 0.25, -np.inf, -np.inf]),
        precision=np.array([1.0, 0.9, 0.8, 0.7]),
        recall=np.array([0.1, 0.2, 0.3, 0.4]),
    )
    limit = np.array([9.0, 0.5, 0.499, 0.25, 0.249, 0.0, -1.0])
    assert curves.steps_at(0, limit).tolist() == [0, 0, 1, 1, 2, 2, 2]
    assert curves.steps_at(1, limit).tolist() == [3] * 7
    parts = [Limit(beta=0.5 / 16), Limit(alpha=1.25), Limit(beta=0.3 / 16), Limit(kappa=387.5), Limit(kappa=387.4)]
    found = curves.at(np.array(parts))
    assert found.precision.tolist() == [[1.0, 1.0, 0.9, 1.0, 0.9], [0.7] * 5]
    assert found.recall.tolist() == [[0.1, 0.1, 0.2, 0.1, 0.2], [0.4] * 5]
    assert len(curves) == 2


@settings(max_examples=examples(50))
@given(labelled=labelled_collections(), run=parameters())
def test_concatenated_curves_equal_those_of_all_names(labelled: tuple[Collection, Authors], run: Settings) -> None:
    names, method = labelled_names(*labelled), RelativeFrequencies(run)
    alone = [names.select(np.array([b])) for b in range(len(names))]
    parts = [measure_outcomes(name, method.outcomes(name)) for name in alone]
    assert same(concatenate_curves(parts), measure_outcomes(names, method.outcomes(names)))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("variant", ["prob", "max"])
def test_results_do_not_depend_on_threads_and_batches(threads: int, variant: str) -> None:
    names, method = many_names(), RelativeFrequencies(Settings(variant=variant))
    assert len(list(names.batches())) > 5
    assert same(curves_of(method, names, threads), measure_outcomes(names, method.outcomes(names)))
    for limit in (Limit(0.01, 0.002), Limit(kappa=0.02 * (names.frequencies.mentions + 3000))):
        whole = method.labels(names, *limit)
        assert 0 < (whole > 0).sum() < len(whole)
        assert labels_of(method, names, limit, threads).tolist() == whole.tolist()


@settings(max_examples=examples(100))
@given(labelled=labelled_collections(), run=parameters(), share=st.sampled_from([0.0, 0.5, 1.0]))
def test_labels_equal_the_outcome_at_the_limit(
    labelled: tuple[Collection, Authors], run: Settings, share: float
) -> None:
    # The limit of the settings is not used.
    method: Method = RelativeFrequencies(run.with_limit(Limit(1.0, 1.0, 1.0)))
    names = labelled_names(*labelled)
    for b in range(len(names)):
        name = names.select(np.array([b]))
        outcomes = method.outcomes(name)
        for low in outcomes.lowest[:-1].tolist():
            alpha, beta = share * low, (1 - share) * low / int(name.mentions[0])
            limit = np.array([alpha + beta * int(name.mentions[0])])
            if limit[0] == low:
                assert method.labels(name, alpha, beta).tolist() == outcomes.labels_at(limit).tolist()


def test_threshold_method_looks_labels_up_in_outcomes() -> None:
    class Given(ThresholdMethod):
        def outcomes(self, names: LabelledNames) -> Outcomes:
            return sweep(names.bags, names.frequencies, Settings())

    names = many_names()
    outcomes = Given().outcomes(names)
    for parts in (Limit(0.01, 0.002), Limit(kappa=0.02 * (names.frequencies.mentions + 3000))):
        limit = limits(names.bags.block_start, parts, names.frequencies.mentions)
        assert Given().labels(names, *parts).tolist() == outcomes.labels_at(limit).tolist()
    with pytest.raises(NotImplementedError):
        ThresholdMethod().outcomes(names)


@settings(max_examples=examples(50))
@given(labelled=labelled_collections(), run=parameters())
def test_compare_labels_uses_labelled_mentions_within_names(
    labelled: tuple[Collection, Authors], run: Settings
) -> None:
    names = labelled_names(*labelled)
    label = cluster(names.bags, names.frequencies, run).label
    block, author, found = labelled_codes(names, label)
    known = names.labelled
    assert block.tolist() == names.block[known].tolist()
    assert author.tolist() == names.author[known].tolist()
    own = list(zip(block.tolist(), label[known].tolist(), strict=True))
    assert len(set(found.tolist())) == len(set(own)) == len(set(zip(found.tolist(), own, strict=True)))
    table = compare_labels(names, label)
    assert table.true_size.tolist() == names.true_size.tolist()
    assert bcubed(table).by_name().precision.tolist() == direct(names, label).precision.tolist()


def by_hand(scores: NameScores, true_size: Codes, sizes: list[int]) -> tuple[float, float, float]:
    """Mean precision, recall and F1 over sizes, where F1 is that of the means of a size."""
    rows = []
    for size in sizes:
        p = math.fsum(scores.precision[true_size == size]) / int((true_size == size).sum())
        r = math.fsum(scores.recall[true_size == size]) / int((true_size == size).sum())
        rows.append((p, r, 2 * p * r / (p + r)))
    return tuple(math.fsum(column) / len(rows) for column in zip(*rows, strict=True))  # type: ignore[return-value]


def some_scores(names: int, seed: int = 0) -> NameScores:
    random = np.random.default_rng(seed)
    return NameScores(random.uniform(0.1, 1, names), random.uniform(0.1, 1, names))


@given(true_size=st.lists(st.integers(1, 14), min_size=1, max_size=30).filter(lambda sizes: min(sizes) <= 10))
@settings(max_examples=examples(100))
def test_every_true_size_up_to_10_has_the_same_weight(true_size: list[int]) -> None:
    scores, sizes = some_scores(len(true_size)), np.array(true_size)
    shown = sorted({size for size in true_size if size <= 10})
    precision, recall, f1 = by_hand(scores, sizes, shown)
    assert mean_over_sizes(scores, sizes).value == pytest.approx(f1)
    assert mean_over_sizes(scores, sizes, precision_of).value == pytest.approx(precision)
    assert mean_over_sizes(scores, sizes, recall_of).value == pytest.approx(recall)


def test_larger_sizes_count_only_without_smaller_ones() -> None:
    scores, sizes = some_scores(8), np.array([1, 1, 2, 2, 2, 11, 12, 40])
    small = NameScores(scores.precision[:5], scores.recall[:5])
    with_large, without = mean_over_sizes(scores, sizes), mean_over_sizes(small, sizes[:5])
    assert with_large.value == without.value
    assert with_large.replicates.tolist() == without.replicates.tolist()
    large = NameScores(scores.precision[5:], scores.recall[5:])
    alone = mean_over_sizes(large, sizes[5:])
    precision, recall = float(large.precision.mean()), float(large.recall.mean())
    assert alone.value == pytest.approx(2 * precision * recall / (precision + recall))


def test_intervals_agree_with_the_analytic_standard_error() -> None:
    scores, sizes = some_scores(400), np.repeat([1, 3], [300, 100])
    estimate = mean_over_sizes(scores, sizes, precision_of)
    parts: list[Values] = [scores.precision[:300], scores.precision[300:]]
    error = math.sqrt(sum(float(part.var()) / len(part) for part in parts)) / 2
    assert estimate.replicates.std() == pytest.approx(error, rel=0.1)
    low, high = estimate.interval
    assert (low, high) == pytest.approx((estimate.value - 1.96 * error, estimate.value + 1.96 * error), abs=0.3 * error)


def test_one_name_per_size_has_a_point_interval() -> None:
    estimate = mean_over_sizes(some_scores(4), np.array([1, 2, 5, 10]))
    assert estimate.interval == pytest.approx((estimate.value, estimate.value))


def test_differences_are_paired() -> None:
    sizes = np.repeat([1, 2, 7], 30)
    one, noise = some_scores(90, seed=1), some_scores(90, seed=2)
    better = NameScores(one.precision + 0.01, one.recall)
    first, second = (mean_over_sizes(scores, sizes, precision_of) for scores in (one, better))
    nothing = first - first
    assert (nothing.value, nothing.interval) == (0.0, (0.0, 0.0))
    gain = second - first
    assert gain.value == pytest.approx(0.01)
    assert gain.interval == pytest.approx((0.01, 0.01))
    unrelated: Estimate = mean_over_sizes(noise, sizes, precision_of) - first
    assert unrelated.interval[0] < unrelated.value < unrelated.interval[1]
