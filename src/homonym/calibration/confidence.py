"""The confidence of a mention: the share of pseudo-name mentions with a similar margin that are clustered correctly.

The margin says how far a mention's fit to its own author exceeds both the limit and the fit to the second-best author.
Singletons get confidence 1: confidence measures cluster purity only, not missing mentions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.agglomerative import Clustering, cluster
from homonym.clustering.arrays import Floats, Integers
from homonym.measures.agreement import correctly_clustered
from homonym.measures.methods import LabelledNames, labelled_codes
from homonym.settings import Settings

# Margins are logarithms of ratios; larger ones are cut to this.
LARGEST_MARGIN = 20.0
# Number of draws of pseudo-names: more than for the limit, because each bin of mentions has to be estimated.
DRAWS = 10
# Minimum number of mentions per bin.
MIN_BIN_MENTIONS = 50


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """A step function that rises with the margin: `share[i]` from `margin[i]` on, the first one also below."""

    margin: Floats
    share: Floats

    def at(self, margin: Floats) -> Floats:
        """The share for each margin."""
        step = np.searchsorted(self.margin, margin, side="right") - 1
        shares: Floats = self.share[np.maximum(step, 0)]
        return shares


@dataclass(frozen=True, eq=False)
class Confidence:
    """The calibration curve of mentions in clusters of two or more; singletons have confidence 1."""

    curve: CalibrationCurve

    def of(self, clustering: Clustering) -> Floats:
        """The confidence of each mention of a clustering with margins."""
        margin, is_singleton = margins(clustering)
        return np.where(is_singleton, 1.0, self.curve.at(margin))


def margins(clustering: Clustering) -> tuple[Floats, NDArray[np.bool_]]:
    """The margin of each mention, and whether it is a singleton."""
    limit = _log(np.repeat(clustering.limit, np.diff(clustering.block_start)))
    own, other, is_singleton = _log(clustering.own), _log(clustering.other), np.isnan(clustering.own)
    margin = np.where(is_singleton, limit - other, np.minimum(own - limit, own - other))
    return np.clip(margin, -LARGEST_MARGIN, LARGEST_MARGIN), is_singleton


def learn_confidence(drawn: list[LabelledNames], settings: Settings) -> Confidence:
    """Learn the calibration curve from pseudo-names, clustered with the settings of the run."""
    margin, correct = [], []
    for names in drawn:
        clustering = cluster(names.bags, names.frequencies, settings, constraints=names.constraints, margins=True)
        found, is_singleton = margins(clustering)
        margin.append(found[~is_singleton])
        correct.append(correctly_clustered(*labelled_codes(names, clustering.label))[~is_singleton])
    return Confidence(isotonic_regression(np.concatenate(margin), np.concatenate(correct)))


def isotonic_regression(margin: Floats, correct: NDArray[np.bool_]) -> CalibrationCurve:
    """The best fit that never falls as the margin rises, by pool adjacent violators on bins of `MIN_BIN_MENTIONS`.

    Own code, because scikit-learn is only an optional extra.

    >>> curve = isotonic_regression(np.arange(300.0), np.arange(300) >= 150)
    >>> curve.at(np.array([-1.0, 160.0, 400.0]))
    array([0., 1., 1.])
    """
    if not len(margin):
        return CalibrationCurve(np.zeros(1), np.ones(1))
    values, position, mentions = np.unique(margin, return_inverse=True, return_counts=True)
    correct_count = np.bincount(position, correct)
    # Equal margins stay in one bin, so a bin may be larger than the minimum.
    before = np.append(0, np.cumsum(mentions))
    first = [0]
    while (after := int(np.searchsorted(before, before[first[-1]] + MIN_BIN_MENTIONS))) < len(values) and (
        len(margin) - before[after] >= MIN_BIN_MENTIONS
    ):
        first.append(after)
    bins = values[first], np.add.reduceat(mentions, first), np.add.reduceat(correct_count, first)
    pools: list[tuple[float, int, float]] = []  # the first margin, the mentions, the correct ones of them
    for pool in zip(*bins, strict=True):
        while pools and pool[2] * pools[-1][1] <= pools[-1][2] * pool[1]:
            last = pools.pop()
            pool = (last[0], last[1] + pool[1], last[2] + pool[2])
        pools.append(pool)
    lowest, size, right = np.array(pools).T
    return CalibrationCurve(lowest, right / size)


def _log(score: Floats) -> Floats:
    """The logarithm, finite for all values: NaN, −∞ and values that are not positive count as a tiny positive one."""
    tiny = np.exp(-4 * LARGEST_MARGIN)
    return np.log(np.maximum(np.nan_to_num(score, nan=tiny), tiny))


def author_confidence(block_start: Integers, label: NDArray[np.int32], confidence: Floats) -> Floats:
    """The confidence of each mention's author: the mean over the mentions of that author.

    >>> author_confidence(np.array([0, 3]), np.array([0, 0, 1], np.int32), np.array([1.0, 0.5, 0.8]))
    array([0.75, 0.75, 0.8 ])
    """
    author = np.repeat(block_start[:-1], np.diff(block_start)) + label
    mean: Floats = (np.bincount(author, confidence) / np.maximum(np.bincount(author), 1))[author]
    return mean
