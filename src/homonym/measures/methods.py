"""Labelled names, and one interface for everything that clusters them, so that all methods are measured alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.agglomerative import SWEEP_RATIO, Outcomes, cluster, limits, sweep
from homonym.clustering.arrays import Bags, Constraints, Floats, Frequencies, Integers, NamePrior, ranges, starts
from homonym.constraints.name_prior import FullNames
from homonym.measures.agreement import Codes, Contingency, NameScores, bcubed, contingency
from homonym.runtime.thread_pool import map_in_order
from homonym.settings import SMALL_COLLECTION, Limit

if TYPE_CHECKING:
    from homonym.settings import Settings


Labels = NDArray[np.int32]

# Number of mentions per batch of names, and minimum number of batches: enough for every core, and enough work in each
# batch to hide the overhead of a call.
SWEPT_MENTIONS, MIN_BATCHES = 2_000, 16


@dataclass(frozen=True, eq=False)
class LabelledNames:
    """Blocks of mentions with their bags and true authors.

    `author[x]` is the code of a mention's true author, −1 where it is not known; every block has one that is.
    `written[x]` is the name as the record gives it, if it does. `constraints` apply when the names are clustered, and
    `full_names` if the settings trust them. `limit_mentions` are the |X| that the limit depends on, if these are not
    the numbers of mentions.
    """

    key: Sequence[str]
    bags: Bags
    frequencies: Frequencies
    author: Integers
    written: Sequence[str | None]
    constraints: Constraints | None = None
    full_names: FullNames | None = None
    limit_mentions: Integers | None = None
    true_size: Integers = field(init=False)
    """|C_cor| of each name: the number of different labelled authors."""

    def __post_init__(self) -> None:
        pairs = np.unique(np.stack([self.block, self.author])[:, self.labelled], axis=1)
        object.__setattr__(self, "true_size", np.bincount(pairs[0], minlength=len(self)))
        if (self.true_size == 0).any():
            raise ValueError("each name needs a labelled mention")

    def __len__(self) -> int:
        return len(self.bags.block_start) - 1

    @property
    def mentions(self) -> Integers:
        """|X| of each name, with or without labels."""
        return np.diff(self.bags.block_start)

    @property
    def limit_sizes(self) -> Integers:
        """The |X| that the limit of each name depends on."""
        return self.mentions if self.limit_mentions is None else self.limit_mentions

    @property
    def block(self) -> Integers:
        """The number of each mention's name."""
        return np.repeat(np.arange(len(self)), self.mentions)

    @property
    def labelled(self) -> Any:
        """Which mentions have a label."""
        return self.author >= 0

    def name_prior_for(self, settings: Settings) -> NamePrior | None:
        """The prior of full names, if the settings trust them."""
        return self.full_names.prior(settings.trust_in_names) if self.full_names else None

    def select(self, names: Integers) -> LabelledNames:
        """Some of the names, in the given order."""
        chosen = ranges(self.bags.block_start[names], self.mentions[names])
        return replace(
            self,
            key=[self.key[i] for i in names.tolist()],
            bags=self.bags.select(chosen, self.mentions[names]),
            author=self.author[chosen],
            written=[self.written[x] for x in chosen.tolist()],
            constraints=self.constraints.of(chosen) if self.constraints else None,
            full_names=self.full_names.select(names) if self.full_names else None,
            limit_mentions=None if self.limit_mentions is None else self.limit_mentions[names],
        )

    def batches(self) -> Iterator[LabelledNames]:
        """The names in order, in batches that take about equally long: time grows with the square of |X|."""
        batches = max(MIN_BATCHES, len(self.author) // SWEPT_MENTIONS)
        work = np.cumsum(self.mentions**2)
        batch = (work - 1) * batches // work[-1]
        for number in np.unique(batch):
            yield self.select(np.flatnonzero(batch == number))


def labelled_codes(names: LabelledNames, label: Integers | Labels) -> tuple[Codes, Codes, Codes]:
    """Name, true author and cluster of each labelled mention, as numbers."""
    known, block = names.labelled, names.block
    # A label is smaller than the number of mentions of its name, so this is unique.
    cluster = names.bags.block_start[block] + label
    return block[known], names.author[known], cluster[known]


def compare_labels(names: LabelledNames, label: Integers | Labels) -> Contingency:
    """The contingency table of clusters and true authors, over labelled mentions."""
    return contingency(*labelled_codes(names, label))


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
    """The method of this package with some settings; `highest` is the highest limit of a sweep, in units of theirs."""

    settings: Settings
    key: str = "relative-frequencies"
    title: str = "relative frequencies"
    ratio: float = SWEEP_RATIO
    highest: float = np.inf

    def outcomes(self, names: LabelledNames) -> Outcomes:
        """Sweep over all limits."""
        prior = names.name_prior_for(self.settings)
        return sweep(
            names.bags, names.frequencies, self.settings, constraints=names.constraints, names=prior, ratio=self.ratio,
            highest=self.highest,
        )  # fmt: skip

    def labels(self, names: LabelledNames, alpha: float, beta: float, kappa: float = 0.0) -> Labels:
        """Cluster at one limit."""
        settings = self.settings.with_limit(Limit(alpha, beta, kappa))
        prior = names.name_prior_for(settings)
        return cluster(names.bags, names.frequencies, settings, constraints=names.constraints, names=prior).label


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


@dataclass(frozen=True, eq=False)
class LimitCurves:
    """B-cubed precision and recall of each name at every limit.

    Name i has the steps `start[i]` to `start[i + 1]`; a step holds for limits from its `lowest` up to that of the step
    before it. `mentions` is the |X| and `collection` the N that the limit depends on.
    """

    collection: int
    mentions: Integers
    start: Integers
    lowest: Floats
    precision: Floats
    recall: Floats

    def __len__(self) -> int:
        return len(self.mentions)

    def steps_at(self, name: int, limit: Floats) -> Integers:
        """The step of one name at each of some limits."""
        first, last = self.start[name], self.start[name + 1]
        passed = np.searchsorted(-self.lowest[first:last], -limit, side="left")
        steps: Integers = first + np.minimum(passed, last - first - 1)
        return steps

    @property
    def units(self) -> Floats:
        """The factors of α, β and κ (columns) in the limit of each name (rows): 1, |X| and √|X|/(N + 3000).

        >>> LimitCurves(1000, np.array([4]), *(np.zeros(2, np.int64),) * 4).units
        array([[1.e+00, 4.e+00, 5.e-04]])
        """
        size = self.mentions.astype(np.float64)
        return np.stack([np.ones_like(size), size, np.sqrt(size) / (self.collection + SMALL_COLLECTION)], axis=1)

    def steps(self, parts: Floats) -> Iterator[Integers]:
        """For each name, its steps at some limits, given as rows of α, β and κ."""
        alpha, beta, kappa = parts.T
        for name, (one, size, root) in enumerate(self.units.tolist()):
            yield self.steps_at(name, alpha * one + beta * size + kappa * root)

    def at(self, parts: Floats) -> NameScores:
        """Precision and recall of every name (rows) at some limits (columns), given as rows of α, β and κ."""
        steps = np.stack(list(self.steps(parts)))
        return NameScores(self.precision[steps], self.recall[steps])


def measure_outcomes(names: LabelledNames, outcomes: Outcomes) -> LimitCurves:
    """Measure every outcome of every name over its labelled mentions."""
    steps = np.diff(outcomes.step_start)
    name = np.repeat(np.arange(len(names)), steps)
    sizes = names.mentions[name]
    step = np.repeat(np.arange(len(name)), sizes)
    mention = np.arange(len(step)) - outcomes.label_start[step] + names.bags.block_start[name][step]
    known = names.labelled[mention]
    scores = bcubed(contingency(step[known], names.author[mention[known]], outcomes.label[known])).by_name()
    collection = names.frequencies.mentions
    return LimitCurves(
        collection, names.limit_sizes, outcomes.step_start, outcomes.lowest, scores.precision, scores.recall
    )


def concatenate_curves(parts: list[LimitCurves]) -> LimitCurves:
    """The curves of several batches of names as one."""
    steps = np.concatenate([np.diff(part.start) for part in parts])
    return LimitCurves(
        collection=parts[0].collection,
        mentions=np.concatenate([part.mentions for part in parts]),
        start=starts(steps),
        lowest=np.concatenate([part.lowest for part in parts]),
        precision=np.concatenate([part.precision for part in parts]),
        recall=np.concatenate([part.recall for part in parts]),
    )


def curves_of(method: Method, names: LabelledNames, threads: int) -> LimitCurves:
    """Measure a method at all limits, on several threads."""
    return curves_of_several(method, [names], threads)


def curves_of_several(method: Method, parts: Iterable[LabelledNames], threads: int) -> LimitCurves:
    """Measure a method at all limits on the names of several parts, on several threads."""

    def measured(batch: LabelledNames) -> LimitCurves:
        return measure_outcomes(batch, method.outcomes(batch))

    batches = chain.from_iterable(names.batches() for names in parts)
    return concatenate_curves([curves for _, curves in map_in_order(measured, batches, threads)])
