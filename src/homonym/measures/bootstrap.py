"""Bootstrap intervals of means over names.

Names are resampled with replacement, not mentions: names are independent of each other, mentions of one name are not.
Resamples depend on the groups and the seed only, so that two methods on the same names see the same resamples and the
difference of their replicates is the paired difference.

>>> resamples = Resamples(np.zeros(100, dtype=np.int64), seed=1)
>>> low, high = interval(resamples.means(np.arange(100.0))[:, 0])
>>> low < 49.5 < high
True
>>> interval(resamples.means(np.ones(100))[:, 0])
(1.0, 1.0)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from homonym.measures.agreement import Codes, Counts, NameScores, Values, harmonic, mean_by

# The ends of a 95 % interval are then the 25th replicate from either side: known to a few per cent of its width.
RESAMPLES = 1000
# Maximum number of units per group. Larger groups are drawn in batches of names; the standard error then has a relative
# error of about 1/√(2·10,000) = 0.7 %.
MAX_UNITS = 10_000
# Number of resamples drawn at once, to save memory.
RESAMPLES_PER_BATCH = 100
# True sizes up to this one have a row of their own in tables, as in the paper; larger ones share one.
LARGEST_SHOWN = 10

Weights = NDArray[np.uint8]


class Resamples:
    """Names drawn with replacement within groups: of the n_g names of group g, n_g are drawn each time.

    Groups are numbered 0, 1, … and none is empty. A group of more than `MAX_UNITS` names is first put into that many
    random batches of sizes that differ by at most one name, and batches are drawn instead of names: the mean varies as
    much as with names, and a million names cost as much as ten thousand (10 MB of counts). A group of one name gives
    the same mean each time; an interval that is a point means that its spread is unknown, not that it is certain.

    >>> Resamples(np.array([0, 1, 1]), resamples=4).means(np.array([5.0, 1.0, 2.0])).shape
    (4, 2)
    """

    def __init__(self, group: Codes, *, resamples: int = RESAMPLES, seed: int = 0) -> None:
        names = np.bincount(group)
        if not len(names) or not names.all():
            raise ValueError("groups must be 0, 1, …, each with at least one name")
        self.resamples = resamples
        starts = np.cumsum(names) - names
        self._order: Counts = np.argsort(group, kind="stable")
        self._unit: Counts = np.empty(len(group), dtype=np.int64)
        self._units: list[int] = []
        self._weights: list[Weights] = []
        before = 0
        for g, (start, count) in enumerate(zip(starts.tolist(), names.tolist(), strict=True)):
            # One generator per group, so that its draws do not depend on the other groups.
            generator = np.random.default_rng([seed, g])
            units = min(count, MAX_UNITS)
            self._unit[start : start + count] = _batches(count, units, generator) + before
            self._units.append(units)
            before += units
            self._weights.append(_weights(units, resamples, generator))
        self._drawn = self._sums(np.ones(len(group)))  # names, which batches of two sizes do not keep equal

    def means(self, values: Values) -> Values:
        """The mean of values, one per name, over the drawn names: one row per resample, one column per group.

        A ratio of sums is the ratio of two such means, because both are over the same names.

        >>> resamples = Resamples(np.array([0, 0, 1]), resamples=50)
        >>> means = resamples.means(np.array([1.0, 2.0, 7.0]))
        >>> sorted(set(means[:, 0].tolist())), set(means[:, 1].tolist())
        ([1.0, 1.5, 2.0], {7.0})
        """
        return self._sums(values[self._order]) / self._drawn

    def _sums(self, ordered: Values) -> Values:
        """The sum of values, given in the order of the groups, over the drawn names."""
        totals = np.bincount(self._unit, weights=ordered)
        parts = np.split(totals, np.cumsum(self._units)[:-1])
        # Not by BLAS, whose sums would depend on the number of threads.
        sums = [np.einsum("ij,j->i", *pair) for pair in zip(self._weights, parts, strict=True)]
        return np.stack(sums, axis=1)


def interval(replicates: Values) -> tuple[float, float]:
    """The ends of the central 95 % of replicates.

    >>> interval(np.arange(1001.0))
    (25.0, 975.0)
    """
    low, high = np.quantile(replicates, [0.025, 0.975])
    return float(low), float(high)


def _batches(count: int, units: int, generator: np.random.Generator) -> Counts:
    """Random batches of names, whose sizes differ by at most one; as many batches as names hold one name each."""
    numbers: Counts = np.arange(count) % units
    return numbers if count == units else generator.permutation(numbers)


def _weights(units: int, resamples: int, generator: np.random.Generator) -> Weights:
    """How often each unit is drawn (columns) in each resample (rows)."""
    # One byte is enough: that more than 255 of at most 10,000 draws hit one unit has a probability below 1/256!.
    weights = np.empty((resamples, units), dtype=np.uint8)
    for start in range(0, resamples, RESAMPLES_PER_BATCH):
        rows = min(RESAMPLES_PER_BATCH, resamples - start)
        drawn = generator.integers(0, units, size=(rows, units), dtype=np.int64)
        drawn += units * np.arange(rows)[:, np.newaxis]
        weights[start : start + rows] = np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units)
    return weights


Interval = tuple[float, float]
"""The ends of a 95 % bootstrap interval."""

Measure = Callable[[Values, Values], Values]
"""A function of mean precision and mean recall."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """A value over some names, and its bootstrap replicates."""

    value: float
    replicates: Values = field(repr=False)

    @property
    def interval(self) -> Interval:
        """The central 95 % of the replicates."""
        return interval(self.replicates)

    def __sub__(self, other: Estimate) -> Estimate:
        """The paired difference to another value over the same names."""
        return Estimate(self.value - other.value, self.replicates - other.replicates)


def precision_of(precision: Values, recall: Values) -> Values:
    """Precision alone."""
    return precision


def recall_of(precision: Values, recall: Values) -> Values:
    """Recall alone."""
    return recall


def mean_over_sizes(scores: NameScores, true_size: Codes, measure: Measure = harmonic) -> Estimate:
    """The mean over the true sizes 1 to 10 of a measure of the mean precision and recall of the names of a size.

    Without names of these sizes, all larger sizes count as one.

    >>> scores = NameScores(np.array([1.0, 0.5, 0.8]), np.array([1.0, 1.0, 0.8]))
    >>> round(mean_over_sizes(scores, np.array([1, 1, 2])).value, 3)
    0.829
    """
    shown = true_size <= LARGEST_SHOWN
    used = shown if shown.any() else ~shown
    group = np.unique(size_groups(true_size[used]), return_inverse=True)[1]
    resamples = Resamples(group)
    precision, recall = scores.precision[used], scores.recall[used]
    value = measure(mean_by(group, precision), mean_by(group, recall)).mean()
    return Estimate(float(value), measure(resamples.means(precision), resamples.means(recall)).mean(axis=1))


def size_groups(true_size: Codes) -> Codes:
    """The true size itself up to 10, and 11 for all above.

    >>> size_groups(np.array([1, 10, 57]))
    array([ 1, 10, 11])
    """
    return np.minimum(true_size, LARGEST_SHOWN + 1)


def group_name(group: int) -> str:
    """The name of a group of true sizes.

    >>> group_name(3), group_name(11)
    ('3', '11+')
    """
    return str(group) if group <= LARGEST_SHOWN else f"{LARGEST_SHOWN + 1}+"
