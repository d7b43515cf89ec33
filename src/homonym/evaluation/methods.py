"""One interface for everything that clusters names, so that all of it is tuned and judged alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.merging import SWEEP_RATIO, Outcomes, cluster, limits, sweep
from homonym.settings import Limit

if TYPE_CHECKING:
    from homonym.evaluation.labelled import LabelledNames
    from homonym.settings import Settings

Labels = NDArray[np.int32]


class Method(Protocol):
    """A way of telling apart the authors of each name.

    It may have a limit α + β·|X| + κ·√|X|/(N + 3000) that two clusters must exceed to be merged; what has none has
    a single outcome.
    """

    @property
    def key(self) -> str:
        """A short name for files and tables."""

    @property
    def title(self) -> str:
        """What it is called in a sentence."""

    def outcomes(self, names: LabelledNames) -> Outcomes:
        """All that each name can come to, as the limit falls."""

    def labels(self, names: LabelledNames, alpha: float, beta: float, kappa: float = 0.0) -> Labels:
        """The cluster of each mention inside its name, numbered from 0, at one limit."""


@dataclass(frozen=True)
class RelativeFrequencies:
    """The method of this package, with some settings; their own limit is not used."""

    settings: Settings
    key: str = "relative-frequencies"
    title: str = "relative frequencies"
    ratio: float = SWEEP_RATIO

    def outcomes(self, names: LabelledNames) -> Outcomes:
        """Sweep over all limits."""
        return sweep(names.bags, names.frequencies, self.settings, constraints=names.constraints, ratio=self.ratio)

    def labels(self, names: LabelledNames, alpha: float, beta: float, kappa: float = 0.0) -> Labels:
        """Cluster at one limit."""
        settings = self.settings.with_limit(Limit(alpha, beta, kappa))
        return cluster(names.bags, names.frequencies, settings, constraints=names.constraints).label


class Thresholded:
    """What a method with outcomes needs no code of its own for."""

    def outcomes(self, names: LabelledNames) -> Outcomes:
        """All that each name can come to, as the limit falls."""
        raise NotImplementedError

    def labels(self, names: LabelledNames, alpha: float, beta: float, kappa: float = 0.0) -> Labels:
        """Take the outcomes at one limit."""
        limit = limits(names.bags.block_start, Limit(alpha, beta, kappa), names.frequencies.mentions)
        return self.outcomes(names).labels_at(limit)
