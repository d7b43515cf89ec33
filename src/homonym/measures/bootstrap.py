"""How sure a mean over names is: the names are drawn again, with replacement, and the mean is taken each time.

Names are what a collection has many of and what is independent of each other; mentions of one name are not. Draws
depend on the groups and the seed alone, so that two methods on the same names see the same draws, and the difference
of their replicates is the difference on the same names.

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

from homonym.measures.contingency import Codes, Counts, Values, mean_by
from homonym.measures.scores import NameScores, harmonic

RESAMPLES = 1000
"""The ends of a 95 % interval are then the 25th replicate from either side: known to a few per cent of its width."""

MOST_UNITS = 10_000
"""Larger groups are drawn in batches of names; the standard error is kept to about 1/√(2·10,000) = 0.7 %."""

ROWS_AT_ONCE = 100

Weights = NDArray[np.uint8]


class Resamples:
    """Names drawn with replacement within groups: of the n_g names of group g, n_g are drawn each time.

    Groups are numbered 0, 1, … and none is empty. A group of more than `MOST_UNITS` names is first put into that many
    random batches, equal in size to one name, and batches are drawn instead of names: the mean of random batches varies
    as the mean of as many names does, and a million names cost as much as ten thousand (10 MB of counts). A group of
    one name gives the same mean each time: its interval is a point, which says that nothing is known about its spread,
    not that the value is certain.

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
            # One generator per group: its draws do not depend on which other groups there are.
            generator = np.random.default_rng([seed, g])
            units = min(count, MOST_UNITS)
            self._unit[start : start + count] = _batches(count, units, generator) + before
            self._units.append(units)
            before += units
            self._weights.append(_weights(units, resamples, generator))
        self._drawn = self._sums(np.ones(len(group)))  # names, which batches of two sizes do not keep equal

    def means(self, values: Values) -> Values:
        """Average values, one per name, over the drawn names of each group: one row per resample, a column per group.

        A ratio of sums is the ratio of two such means, because both are over the same names.

        >>> resamples = Resamples(np.array([0, 0, 1]), resamples=50)
        >>> means = resamples.means(np.array([1.0, 2.0, 7.0]))
        >>> sorted(set(means[:, 0].tolist())), set(means[:, 1].tolist())
        ([1.0, 1.5, 2.0], {7.0})
        """
        return self._sums(values[self._order]) / self._drawn

    def _sums(self, ordered: Values) -> Values:
        """Sum values, given in the order of the groups, over the drawn names."""
        totals = np.bincount(self._unit, weights=ordered)
        parts = np.split(totals, np.cumsum(self._units)[:-1])
        # Not by BLAS, whose sums would depend on the number of threads.
        sums = [np.einsum("ij,j->i", *pair) for pair in zip(self._weights, parts, strict=True)]
        return np.stack(sums, axis=1)


def interval(replicates: Values) -> tuple[float, float]:
    """Give the ends of the central 95 % of replicates.

    >>> interval(np.arange(1001.0))
    (25.0, 975.0)
    """
    low, high = np.quantile(replicates, [0.025, 0.975])
    return float(low), float(high)


def _batches(count: int, units: int, generator: np.random.Generator) -> Counts:
    """Put names into batches at random, sizes differing by at most one; as many batches as names leave them alone."""
    numbers: Counts = np.arange(count) % units
    return numbers if count == units else generator.permutation(numbers)


def _weights(units: int, resamples: int, generator: np.random.Generator) -> Weights:
    """Count how often each unit is drawn, in each resample."""
    # A byte holds the count: more than 255 of at most 10,000 draws hit one unit with a probability below 1/256!.
    weights = np.empty((resamples, units), dtype=np.uint8)
    for start in range(0, resamples, ROWS_AT_ONCE):
        rows = min(ROWS_AT_ONCE, resamples - start)
        drawn = generator.integers(0, units, size=(rows, units), dtype=np.int64)
        drawn += units * np.arange(rows)[:, np.newaxis]
        weights[start : start + rows] = np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units)
    return weights


LARGEST_SHOWN = 10
"""True sizes up to here have a row of their own in tables, as in the paper; the larger ones share one."""

Interval = tuple[float, float]
"""The ends of a 95 % interval, from names drawn again."""

Measure = Callable[[Values, Values], Values]
"""Makes one figure of mean precision and mean recall."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """A figure over some names, and what it would have been on other draws of them."""

    value: float
    replicates: Values = field(repr=False)

    @property
    def interval(self) -> Interval:
        """The central 95 % of the replicates."""
        return interval(self.replicates)

    def __sub__(self, other: Estimate) -> Estimate:
        """The difference to another figure over the same names: both saw the same draws."""
        return Estimate(self.value - other.value, self.replicates - other.replicates)


def precision_of(precision: Values, recall: Values) -> Values:
    """Precision alone."""
    return precision


def recall_of(precision: Values, recall: Values) -> Values:
    """Recall alone."""
    return recall


def mean_over_sizes(scores: NameScores, true_size: Codes, measure: Measure = harmonic) -> Estimate:
    """Average over the names of each true size, make one figure of that, and average over the sizes 1 to 10.

    Without names of these sizes, all sizes together count as one.

    >>> scores = NameScores(np.array([1.0, 0.5, 0.8]), np.array([1.0, 1.0, 0.8]))
    >>> round(mean_over_sizes(scores, np.array([1, 1, 2])).value, 3)
    0.829
    """
    known = true_size <= LARGEST_SHOWN
    used = known if known.any() else ~known
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
    """What a group of true sizes is called.

    >>> group_name(3), group_name(11)
    ('3', '11+')
    """
    return str(group) if group <= LARGEST_SHOWN else f"{LARGEST_SHOWN + 1}+"
