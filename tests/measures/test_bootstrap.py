"""The bootstrap against a literal implementation and against theory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym.measures import bootstrap
from homonym.measures.agreement import Values
from homonym.measures.bootstrap import MAX_UNITS, RESAMPLES, Resamples, interval


def skewed(names: int, seed: int = 0) -> Values:
    return np.random.default_rng(seed).exponential(size=names) ** 1.5


def slow_means(values: Values, resamples: int, seed: int = 1) -> Values:
    """Draw names one by one."""
    generator = np.random.default_rng(seed)
    return np.array([generator.choice(values, size=len(values)).mean() for _ in range(resamples)])


def one_group(names: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.zeros(names, dtype=np.int64)


@pytest.mark.parametrize("names", [2, 17, 300])
def test_replicates_have_the_distribution_of_the_literal_bootstrap(names: int) -> None:
    values = skewed(names)
    fast = Resamples(one_group(names), resamples=20_000).means(values)[:, 0]
    slow = slow_means(values, 20_000)
    assert fast.mean() == pytest.approx(slow.mean(), rel=0.02)
    assert fast.std() == pytest.approx(slow.std(), rel=0.03)
    assert np.quantile(fast, [0.1, 0.5, 0.9]) == pytest.approx(np.quantile(slow, [0.1, 0.5, 0.9]), rel=0.03)


@pytest.mark.parametrize("names", [500, MAX_UNITS, MAX_UNITS + 1, 7 * MAX_UNITS + 3])
def test_standard_error_is_the_analytic_one_with_and_without_batches(names: int) -> None:
    values = skewed(names)
    replicates = Resamples(one_group(names)).means(values)[:, 0]
    expected = values.std() / np.sqrt(names)
    # The standard deviation of 1000 replicates is itself known to 2.2 %, that of 10,000 batches to about 1 %.
    assert replicates.std() == pytest.approx(expected, rel=0.09)
    assert replicates.mean() == pytest.approx(values.mean(), abs=5 * expected / np.sqrt(RESAMPLES))


def test_intervals_have_95_percent_coverage() -> None:
    held = 0
    for seed in range(300):
        values = np.random.default_rng(seed).normal(size=150)
        low, high = interval(Resamples(one_group(150), resamples=400, seed=seed).means(values)[:, 0])
        held += low <= 0.0 <= high
    assert held / 300 == pytest.approx(0.95, abs=0.035)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.randoms(use_true_random=False), st.integers(0, 3))
def test_groups_are_drawn_independently(sizes: list[int], random: object, seed: int) -> None:
    group = np.repeat(np.arange(len(sizes)), sizes)
    random.shuffle(group)  # type: ignore[attr-defined]
    values = np.arange(len(group), dtype=np.float64) + 1
    means = Resamples(group, resamples=20, seed=seed).means(values)
    assert means.shape == (20, len(sizes))
    for g, size in enumerate(sizes):
        own = values[group == g]
        assert ((means[:, g] >= own.min() - 1e-12) & (means[:, g] <= own.max() + 1e-12)).all()
        # A mean of `size` whole numbers.
        assert means[:, g] * size == pytest.approx(np.round(means[:, g] * size), abs=1e-9)
    first = Resamples(group[group == 0], resamples=20, seed=seed).means(values[group == 0])
    assert np.array_equal(first[:, 0], means[:, 0])


def test_mean_of_ones_is_1() -> None:
    names = MAX_UNITS + 5
    ones = Resamples(one_group(names), resamples=50).means(np.ones(names))
    assert (ones == 1.0).all()


def test_draws_depend_on_groups_and_seed_only() -> None:
    group = np.arange(3 * MAX_UNITS) % 2
    values = skewed(len(group))
    first, again, other = (Resamples(group, resamples=30, seed=seed).means(values) for seed in (4, 4, 5))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert not np.array_equal(first[:, 0] - first[:, 0].mean(), first[:, 1] - first[:, 1].mean())


def test_methods_share_their_draws() -> None:
    values, group = skewed(400), one_group(400)
    better = values + 0.01
    paired = Resamples(group).means(better)[:, 0] - Resamples(group).means(values)[:, 0]
    assert interval(paired) == pytest.approx((0.01, 0.01))
    both = Resamples(group)
    assert both.means(values + better) == pytest.approx(both.means(values) + both.means(better))


def test_ratios_of_means_are_ratios_of_sums() -> None:
    part, whole = skewed(50), skewed(50, seed=1) + 1
    resamples = Resamples(one_group(50), resamples=5)
    weights = resamples._weights[0].astype(np.float64)
    expected = (weights @ part) / (weights @ whole)
    assert (resamples.means(part) / resamples.means(whole))[:, 0] == pytest.approx(expected)
    assert (weights.sum(axis=1) == 50).all()


def test_interval_of_one_name_is_a_point() -> None:
    assert interval(Resamples(one_group(1)).means(np.array([0.3]))[:, 0]) == (0.3, 0.3)


@pytest.mark.parametrize("group", [[], [0, 2], [1, 1]])
def test_rejects_empty_groups(group: list[int]) -> None:
    with pytest.raises(ValueError, match="at least one name"):
        Resamples(np.array(group, dtype=np.int64))


def test_batches_are_random_and_of_equal_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "MAX_UNITS", 4)
    resamples = Resamples(one_group(18), resamples=3)
    assert sorted(np.bincount(resamples._unit).tolist()) == [4, 4, 5, 5]
    assert resamples._unit.tolist() != sorted(resamples._unit.tolist())


def test_there_are_a_thousand_resamples_of_at_most_ten_thousand_units() -> None:
    assert Resamples(one_group(3)).means(np.ones(3)).shape == (1000, 1)
    for names, units in ((9_999, 9_999), (10_000, 10_000), (10_001, 10_000)):
        assert len(np.unique(Resamples(one_group(names), resamples=1)._unit)) == units


@pytest.mark.parametrize("resamples", [1, 99, 100, 101, 250])
def test_every_resample_draws_as_many_names_as_there_are(resamples: int) -> None:
    weights = Resamples(one_group(7), resamples=resamples)._weights[0]
    assert weights.shape == (resamples, 7)
    assert (weights.sum(axis=1) == 7).all()
    assert resamples < 99 or len(np.unique(weights, axis=0)) > 50
