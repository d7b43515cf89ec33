"""Results of measures: overall, for each name, and the sums that both are ratios of."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import sqrt
from typing import Any

import numpy as np

from homonym.measures.contingency import Codes, Values, mean_by


@dataclass(frozen=True)
class Scores:
    """Precision and recall, and F1 = 2·P·R / (P + R).

    >>> Scores(0.5, 1.0).as_dict()
    {'precision': 0.5, 'recall': 1.0, 'f1': 0.6666666666666666}
    """

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 where both are 0."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def as_dict(self) -> dict[str, float]:
        """The three values by their keys in the evaluation JSON."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True)
class KMetric:
    """The K-metric: average cluster purity ACP, average author purity AAP, and K = √(ACP · AAP).

    ACP = 1/N Σ_ij n_ij² / n_i and AAP = 1/N Σ_ij n_ij² / n_j for clusters i and authors j that share n_ij mentions:
    these are B-cubed precision and recall over mentions.

    >>> KMetric(0.25, 1.0).as_dict()
    {'acp': 0.25, 'aap': 1.0, 'k': 0.5}
    """

    acp: float
    aap: float

    @property
    def k(self) -> float:
        """The geometric mean of the two purities."""
        return sqrt(self.acp * self.aap)

    def as_dict(self) -> dict[str, float]:
        """The three values by their keys in the evaluation JSON."""
        return {"acp": self.acp, "aap": self.aap, "k": self.k}


@dataclass(frozen=True, eq=False)
class NameScores:
    """Precision and recall of every name, in the order of the names."""

    precision: Values
    recall: Values

    def averaged(self, group: Codes) -> list[Scores]:
        """Mean precision and recall of the names of each group 0, 1, …; every name counts the same.

        >>> NameScores(np.array([1.0, 0.5, 0.8]), np.array([1.0, 1.0, 0.6])).averaged(np.array([0, 0, 1]))
        [Scores(precision=0.75, recall=1.0), Scores(precision=0.8, recall=0.6)]
        """
        means = zip(mean_by(group, self.precision), mean_by(group, self.recall), strict=True)
        return [Scores(float(p), float(r)) for p, r in means]

    def mean(self) -> Scores:
        """Mean precision and recall over all names.

        >>> NameScores(np.array([1.0, 0.5]), np.array([1.0, 1.0])).mean()
        Scores(precision=0.75, recall=1.0)
        """
        return Scores(float(self.precision.mean()), float(self.recall.mean()))


@dataclass(frozen=True, eq=False)
class NameSums:
    """Numerators and denominators of each name: precision = right_found / found, recall = right_true / true.

    Where the denominator is 0 (no pair, say), nothing is wrong or missing: the ratio is 1.

    >>> sums = NameSums(*(np.array(values) for values in ([1.0, 4.0], [2.0, 4.0], [1.0, 3.0], [1.0, 4.0])))
    >>> sums.by_name().precision, sums.overall()
    (array([0.5, 1. ]), Scores(precision=0.8333333333333334, recall=0.8))
    """

    right_found: Values
    found: Values
    right_true: Values
    true: Values

    def by_name(self) -> NameScores:
        """The ratios of each name."""
        return NameScores(_ratio(self.right_found, self.found), _ratio(self.right_true, self.true))

    def overall(self) -> Scores:
        """The ratios of the sums over all names."""
        totals = NameSums(*(getattr(self, field.name).sum(keepdims=True) for field in fields(self))).by_name()
        return Scores(float(totals.precision[0]), float(totals.recall[0]))


@dataclass(frozen=True, eq=False)
class NameErrors:
    """Numerators and denominators of each name: splitting = outside / mentions, lumping = foreign / size."""

    outside: Values
    mentions: Values
    foreign: Values
    size: Values

    def by_name(self) -> tuple[Values, Values]:
        """Splitting and lumping error of each name."""
        return self.outside / self.mentions, self.foreign / self.size

    def overall(self) -> tuple[float, float]:
        """Splitting and lumping error over all names together."""
        return float(self.outside.sum() / self.mentions.sum()), float(self.foreign.sum() / self.size.sum())


@dataclass(frozen=True)
class Measures:
    """All measures of one clustering."""

    bcubed: Scores
    pairwise: Scores
    pairwise_with_self: Scores
    cluster_level: Scores
    k_metric: KMetric
    splitting_error: float
    lumping_error: float

    def as_dict(self) -> dict[str, Any]:
        """The measures by their keys in the evaluation JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {key: value if isinstance(value, float) else value.as_dict() for key, value in values.items()}


def harmonic(precision: Values, recall: Values) -> Values:
    """F1 elementwise: 2·P·R / (P + R), 0 where both are 0.

    >>> harmonic(np.array([0.5, 0.0]), np.array([1.0, 0.0]))
    array([0.66666667, 0.        ])
    """
    total = precision + recall
    return np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)


def _ratio(part: Values, whole: Values) -> Values:
    return np.divide(part, whole, out=np.ones_like(whole), where=whole > 0)
