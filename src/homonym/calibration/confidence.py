"""How sure one may be that a mention is among its own: the share of pseudo-name mentions like it that are.

What a mention is like is its margin: how far its fit to its own author exceeds the limit and the fit to the runner-up;
the larger, the surer. Who is alone is with nobody wrongly: whether more of his mentions are elsewhere is not said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.agglomerative import Clustering, cluster
from homonym.clustering.arrays import Floats, Integers
from homonym.measures.agreement import correctly_clustered
from homonym.measures.methods import LabelledNames, codes
from homonym.settings import Settings

#: Margins are logarithms of ratios; beyond this they say no more.
LARGEST_MARGIN = 20.0
#: Pseudo-names are drawn so often for it: more often than for the limit, because bins of mentions are looked at.
DRAWS = 10
#: A step of the table stands for at least so many mentions, or it would be chance.
FEWEST_MENTIONS = 50


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """A share that rises with the margin: `share[i]` from `margin[i]` on, the first one also below."""

    margin: Floats
    share: Floats

    def at(self, margin: Floats) -> Floats:
        """The share for each margin."""
        place = np.searchsorted(self.margin, margin, side="right") - 1
        shares: Floats = self.share[np.maximum(place, 0)]
        return shares


@dataclass(frozen=True, eq=False)
class Confidence:
    """The share of mentions that are with their own, by margin; who is alone is with nobody else."""

    together: CalibrationCurve

    def of(self, answer: Clustering) -> Floats:
        """The confidence of each mention of an answer that has margins."""
        margin, alone = margins(answer)
        return np.where(alone, 1.0, self.together.at(margin))


def margins(answer: Clustering) -> tuple[Floats, NDArray[np.bool_]]:
    """The margin of each mention, and who is alone."""
    limit = _log(np.repeat(answer.limit, np.diff(answer.block_start)))
    own, other, alone = _log(answer.own), _log(answer.other), np.isnan(answer.own)
    margin = np.where(alone, limit - other, np.minimum(own - limit, own - other))
    return np.clip(margin, -LARGEST_MARGIN, LARGEST_MARGIN), alone


def learn_confidence(drawn: list[LabelledNames], settings: Settings) -> Confidence:
    """Learn the shares from pseudo-names, clustered as the collection is."""
    margin, alone, right = [], [], []
    for names in drawn:
        answer = cluster(names.bags, names.frequencies, settings, constraints=names.constraints, margins=True)
        found, single = margins(answer)
        margin.append(found)
        alone.append(single)
        right.append(correctly_clustered(*codes(names, answer.label)))
    company = ~np.concatenate(alone)
    return Confidence(isotonic_regression(np.concatenate(margin)[company], np.concatenate(right)[company]))


def isotonic_regression(margin: Floats, right: NDArray[np.bool_]) -> CalibrationCurve:
    """The best shares that never fall as the margin rises: neighbours that would are put together.

    >>> steps = isotonic_regression(np.arange(300.0), np.arange(300) >= 150)
    >>> steps.at(np.array([-1.0, 160.0, 400.0]))
    array([0., 1., 1.])
    """
    if not len(margin):
        return CalibrationCurve(np.zeros(1), np.ones(1))
    values, place, mentions = np.unique(margin, return_inverse=True, return_counts=True)
    held = np.bincount(place, right)
    # Equal margins belong together, so a step may be larger than it needs to be.
    before = np.append(0, np.cumsum(mentions))
    first = [0]
    while (after := int(np.searchsorted(before, before[first[-1]] + FEWEST_MENTIONS))) < len(values) and (
        len(margin) - before[after] >= FEWEST_MENTIONS
    ):
        first.append(after)
    steps: list[tuple[float, int, float]] = []  # the first margin, how many mentions, how many of them right
    for step in zip(values[first], np.add.reduceat(mentions, first), np.add.reduceat(held, first), strict=True):
        while steps and step[2] * steps[-1][1] <= steps[-1][2] * step[1]:
            last = steps.pop()
            step = (last[0], last[1] + step[1], last[2] + step[2])
        steps.append(step)
    lowest, number, share = np.array(steps).T
    return CalibrationCurve(lowest, share / number)


def _log(score: Floats) -> Floats:
    """Logarithms that are finite for everything, −∞ and what is not positive included."""
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
