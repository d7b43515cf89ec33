"""Measures averaged over the true sizes of names, with the interval that drawing the names again gives them.

Every size counts the same, as in the paper: otherwise the many names of one person would decide alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from homonym.evaluation.assessment import LARGEST_SHOWN, Interval
from homonym.evaluation.bootstrap import Resamples, interval
from homonym.evaluation.contingency import Codes, Values, mean_by
from homonym.evaluation.scores import NameScores, harmonic

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
