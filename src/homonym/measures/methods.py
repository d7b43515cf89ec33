"""One interface for everything that clusters names, so that all methods are tuned and measured alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from homonym.clustering.agglomerative import SWEEP_RATIO, Outcomes, cluster, limits, sweep
from homonym.measures.labelled_names import LabelledNames, Labels
from homonym.runtime.thread_pool import map_in_order
from homonym.settings import Limit

if TYPE_CHECKING:
    from homonym.settings import Settings


class Method(Protocol):
    """A method that finds the authors of each name.

    It merges clusters whose score exceeds a limit (see `settings.Limit`); a method without one has a single outcome.
    """

    @property
    def key(self) -> str:
        """A short name for files and tables."""

    @property
    def title(self) -> str:
        """The name in sentences."""

    def outcomes(self, names: LabelledNames) -> Outcomes:
        """All clusterings of each name that occur as the limit falls."""

    def labels(self, names: LabelledNames, alpha: float, beta: float, kappa: float = 0.0) -> Labels:
        """The cluster of each mention inside its name, numbered from 0, at one limit."""


@dataclass(frozen=True)
class RelativeFrequencies:
    """The method of this package with some settings, whose own limit is not used."""

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


class ThresholdMethod:
    """Base of methods whose labels at one limit are looked up in their outcomes."""

    def outcomes(self, names: LabelledNames) -> Outcomes:
        """All clusterings of each name that occur as the limit falls."""
        raise NotImplementedError

    def labels(self, names: LabelledNames, alpha: float, beta: float, kappa: float = 0.0) -> Labels:
        """Look up the outcomes at one limit."""
        limit = limits(names.bags.block_start, Limit(alpha, beta, kappa), names.frequencies.mentions)
        return self.outcomes(names).labels_at(limit)


def labels_of(method: Method, names: LabelledNames, limit: Limit, threads: int) -> Labels:
    """The cluster of each mention inside its name at one limit, computed on several threads."""

    def labels(batch: LabelledNames) -> Labels:
        return method.labels(batch, *limit)

    return np.concatenate([found for _, found in map_in_order(labels, names.batches(), threads)])
