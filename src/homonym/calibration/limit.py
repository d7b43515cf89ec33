"""The limit of a run without labels: the one that does best on pseudo-names built from the collection itself.

The chance limit comes first: it follows from how similar the people of real blocks are (chance_limit.py). Pseudo-names
copy the blocks that the method finds at some limit, so a better limit makes better pseudo-names. Both are
improved alternately, starting with the default limit.

Pseudo-names often cannot tell limits apart, and their best limit changes with every draw. So the limit is the mean of a
posterior distribution: F1 on pseudo-names is the evidence, and the prior is that the best limits of collections with
known authors are around the default. Where F1 is flat the limit is the default; where it is clearly lower there, the
limit follows the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from homonym.calibration.block_sample import BlockSample, choose_blocks
from homonym.calibration.chance_limit import find_chance_limit
from homonym.calibration.name_trust import find_name_trust
from homonym.calibration.pseudonames import (
    BlockComposition,
    SampledBlocks,
    build_pseudonames,
    composition_of_clusters,
    constrained_only,
    labels_of_batches,
)
from homonym.calibration.single_person_names import PersonPool, find_people
from homonym.calibration.starting_limit import starting_multiple
from homonym.clustering.agglomerative import Clustering, limits
from homonym.clustering.arrays import Floats, Integers, starts
from homonym.collection.encoded import Encoded
from homonym.constraints.found_constraints import FoundConstraints
from homonym.errors import counted
from homonym.measures.agreement import harmonic
from homonym.measures.bootstrap import size_groups
from homonym.measures.methods import LabelledNames, LimitCurves, RelativeFrequencies, curves_of_several
from homonym.runtime.progress import Advance
from homonym.runtime.thread_pool import meanwhile
from homonym.settings import Limit, Settings

# Number of draws of pseudo-names, each from other people; the spread of the limit is taken over these.
SEEDS = 3
# Maximum number of rounds; they end early when the limit changes by less than this factor. The authors that are found
# with nearer limits are nearly the same.
MAX_ROUNDS, CONVERGED = 3, 1.35
# Maximum number of occurrences of features for which people and the chance limit are computed at the same time. Larger
# samples would need half a GiB more.
FEW_OCCURRENCES = 20_000_000
# Ratio of neighbouring limits: pseudo-names do not tell closer ones apart.
STEP = 1.1
# The highest limit that is tried, as a multiple of the last one; if its probability is more than this share of the
# highest probability, the next of these. Higher limits cost time for nothing.
HIGHEST, PROBABLE = (3.0, 30.0, np.inf), 0.1
# Lower limits are not tried from where on the result of this share of the pseudo-names still changes.
STILL_CHANGING = 0.07
# A limit whose F1 is lower by this much is less probable by a factor of e. Another draw of pseudo-names changes F1 by
# .003, and pseudo-names differ from real names by more. The labelled collections have a sampling error (see
# `LimitScores.sampling_error`) of up to the second number; with fewer pseudo-names, F1 shows less in proportion.
F1_ERROR, USUAL_SAMPLING_ERROR = 0.005, 0.11
# Standard deviation of the prior, in ln(limit / default). The best limits of the labelled sets are .5 to 2 times the
# default. Only the default score has it: others start with the paper's limits, which were tuned for one collection.
PRIOR_DEVIATION = 0.4
# Minimum number of people with several mentions, and of real names with several mentions.
MIN_PEOPLE, MIN_NAMES = 30, 20
# Number of pseudo-names from which on a number of people has its full weight.
FULL_WEIGHT_NAMES = 5


@dataclass(frozen=True, eq=False)
class CalibratedLimit:
    """A limit found on pseudo-names, with its spread and its scores there.

    `spread` has the lowest and the highest limit over the seeds. Without pseudo-names the limit is the default and
    `why` gives the reason; `why` also says if a target precision was not reached. `chance_limit` is γ₂ and `name_trust`
    the trust in full names, None if they were not calibrated.
    """

    limit: Limit
    spread: tuple[Limit, Limit] | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    people: int = 0
    names: int = 0
    why: str | None = None
    chance_limit: float | None = None
    name_trust: float | None = None

    def chosen_for(self, settings: Settings) -> Settings:
        """The settings with everything that was calibrated."""
        return self.with_trust(settings).with_limit(self.limit)

    def with_trust(self, settings: Settings) -> Settings:
        """The settings with everything but the limit."""
        return settings.changed(chance_limit=self.chance_limit, name_trust=self.name_trust)


def blocks_for_calibration(sizes: Integers, occurrences: Callable[[Integers], Integers]) -> BlockSample:
    """The blocks that a `LimitCalibrator` needs, of all blocks with these sizes; `loaded` are only these.

    `occurrences` returns the number of occurrences of features in some blocks.
    """
    people, clustered, share = choose_blocks(sizes, occurrences, np.random.default_rng(SEEDS))
    return BlockSample(sizes, np.union1d(people, clustered), people, clustered, share)


# Parts of the calibration, of 100 in all, for progress.
PEOPLE, NAME_TRUST, CHANCE_LIMIT, ROUND, CONFIDENCE = 20, 5, 15, 15, 15
PARTS = PEOPLE + NAME_TRUST + CHANCE_LIMIT + MAX_ROUNDS * ROUND + CONFIDENCE


class _CopiedBlocks(NamedTuple):
    """The authors that the method finds in real blocks, and the pseudo-names drawn from them so far."""

    settings: Settings
    composition: BlockComposition
    drawn: list[LabelledNames | None]


class LimitCalibrator:
    """Finds the limit of a collection.

    Only the `blocks_for_calibration` have to be loaded; then `sample` says which blocks these are. `advance` is called
    with the parts that are done, of PARTS in all; those of the confidence are left to the caller.
    """

    def __init__(
        self,
        encoded: Encoded,
        settings: Settings,
        constraints: FoundConstraints | None,
        threads: int,
        seeds: int = SEEDS,
        sample: BlockSample | None = None,
        advance: Advance | None = None,
    ) -> None:
        self.encoded, self.settings, self.constraints = encoded, settings, constraints
        self.given_settings, self._target = settings, settings.target_precision
        self.sample = sample or BlockSample.of(encoded, np.random.default_rng(seeds))
        self.threads, self.seeds = threads, seeds
        self.advance: Advance = advance or (lambda _: None)
        self._copied: _CopiedBlocks | None = None
        # The limit with the best F1, if a stricter one was chosen for a target precision.
        self._unstrict: Limit | None = None

    @cached_property
    def unavailable(self) -> str | None:
        """Why no pseudo-names can be built, None if they can; people are found when this is first asked for."""
        return self._too_small or self._find_people()

    @cached_property
    def _too_small(self) -> str | None:
        """Why nothing can be calibrated, if the collection has too few names or no features."""
        several = int((self.sample.sizes > 1).sum())
        if several < MIN_NAMES:
            return (
                f"the collection is too small to calibrate the limit: {counted(several, 'name')} with several mentions,"
                f" and {MIN_NAMES} are needed"
            )
        if not self.encoded.frequencies.types:
            return "the limit cannot be calibrated: no mention has any feature"
        return None

    def _find_people(self) -> str | None:
        """Fill the pool of people, or return why there are too few."""
        generator = np.random.default_rng(self.seeds)
        self.pool: PersonPool = find_people(self.encoded, self.given_settings, generator, self.sample, self.threads)
        people = int((self.pool.sizes > 1).sum())
        if people < MIN_PEOPLE:
            return (
                f"too few names to calibrate the limit: {people:,} are likely to be one person with several mentions, "
                f"and {MIN_PEOPLE} are needed"
            )
        return None

    @cached_property
    def _sampled(self) -> SampledBlocks:
        return SampledBlocks.draw(self.encoded, self.settings, self.constraints, self.sample)

    @cached_property
    def _blocks_to_copy(self) -> SampledBlocks:
        return self._sampled.copied()

    def draw_pseudonames(self, limit: Limit, draws: int) -> list[LabelledNames]:
        """Pseudo-names like the blocks that the method finds at a limit; none if all of them have one person only.

        Nearly equal limits find nearly the same authors, so that the blocks are not clustered again.
        """
        if self._copied is None or not _is_close(limit, self._copied.settings.limit):
            settings = self.settings.with_limit(limit)
            self._copy(settings, self._cluster_blocks(settings))
        return list(self._drawn(draws))

    def draw_with_blocks(self, settings: Settings, draws: int) -> tuple[Iterator[LabelledNames], list[Clustering]]:
        """Pseudo-names like the blocks that the method finds with exactly these settings; and these, with margins.

        All of them have the constraints and full names of the blocks. At the limit of a target precision the authors
        are fragments of people, so pseudo-names are then like the blocks at the limit with the best F1. They are drawn
        as they are taken, so that others can be clustered at the same time.
        """
        real = self._cluster_blocks(settings, margins=True)
        if self._unstrict:
            self.draw_pseudonames(self._unstrict, draws)
        elif self._copied is None or self._copied.settings != settings:
            self._copy(settings, real)
        return map(constrained_only, self._drawn(draws)), real

    def _cluster_blocks(self, settings: Settings, *, margins: bool = False) -> list[Clustering]:
        return self._blocks_to_copy.clusterings(self.encoded.frequencies, settings, self.threads, margins=margins)

    def _copy(self, settings: Settings, real: list[Clustering]) -> None:
        self._copied = _CopiedBlocks(
            settings, composition_of_clusters(self._blocks_to_copy, labels_of_batches(real)), []
        )

    def _drawn(self, draws: int) -> Iterator[LabelledNames]:
        """Draw pseudo-names like the copied blocks, or take those that were drawn before; none without several people.

        The first ones wait until one of them has several people.
        """
        assert self._copied is not None
        waiting, has_several_people = list[LabelledNames](), False
        for names in filter(None, map(partial(self._draw, self._copied), range(draws))):
            waiting.append(names)
            has_several_people = has_several_people or bool((names.true_size > 1).any())
            if has_several_people:
                yield from waiting
                waiting.clear()

    def _draw(self, copied: _CopiedBlocks, seed: int) -> LabelledNames | None:
        """One draw; those with smaller seeds must have been drawn before."""
        if seed == len(copied.drawn):
            generator = np.random.default_rng(seed)
            copied.drawn.append(build_pseudonames(self.pool, copied.composition, generator))
        return copied.drawn[seed]

    def find(self) -> CalibratedLimit:
        """Improve limit and pseudo-names alternately; the last ones also show which limit has the target precision."""
        # The trust in names and the chance limit need no people.
        has_room = self.encoded.sizes().sum() <= FEW_OCCURRENCES
        with meanwhile(lambda: self.unavailable) if has_room else nullcontext():
            if self._too_small is None:
                self._find_name_trust()
                self._find_chance_limit()
        self.advance(PEOPLE)
        if self.unavailable:
            # Where nothing was calibrated, names are not trusted.
            return CalibratedLimit(
                self.settings.limit, why=self._why_default(),
                chance_limit=self.settings.chance_limit, name_trust=self.settings.name_trust or 0.0,
            )  # fmt: skip
        is_lowered = self._choose_start()
        limit = self.settings.limit
        if self.settings.joint:  # p(C,D) is smaller by p(D), which is about 1/N; the paper has no limit for it
            limit = limit.scaled(1 / self.encoded.frequencies.mentions)
        for left in range(MAX_ROUNDS, 0, -1):
            drawn = self.draw_pseudonames(limit, self.seeds)
            if not drawn:
                self.unavailable = "the limit cannot be calibrated: no pseudo-name of two people can be built"
                return CalibratedLimit(
                    self.settings.limit, why=self._why_default(),
                    chance_limit=self.settings.chance_limit, name_trust=self.settings.name_trust,
                )  # fmt: skip
            scores = self._measure(drawn, limit, HIGHEST)
            highest = scores.start() if is_lowered else len(scores.factors) - 1
            choice = min(scores.expected(), highest)
            found = scores.result(choice, self.settings, len(self.pool.sizes), self._target, highest)
            before, limit = limit, found.limit
            if _is_close(limit, before):
                self.advance(left * ROUND)
                break
            self.advance(ROUND)
        return found if self._target is None else self._find_strict(drawn, limit, self._target)

    def _find_name_trust(self) -> None:
        if self.settings.is_default_score and self.settings.name_trust is None:
            about, frequencies = self._sampled, self.encoded.frequencies
            trust = find_name_trust(about.bags, about.full_names, about.document, frequencies, self.settings)
            self.settings = self.settings.changed(name_trust=trust)
        self.advance(NAME_TRUST)

    def _choose_start(self) -> bool:
        """Start at a lower limit than the default if that divides people; the chance limit is lowered as much.

        A given chance limit may be too low for that: with none, and with initials only, the F1 of the Chinese names
        falls from .90 to .42. Returns whether the start is lower. Then no higher limit is chosen: it would divide
        people, which pseudo-names do not show, because they have too few mentions of each.
        """
        if not self.settings.is_default_score or self.given_settings.chance_limit is not None:
            return False
        multiple = starting_multiple(self.pool, self.settings, self.sample.sizes)
        if multiple == 1:
            return False
        start = self.settings.with_limit(self.settings.limit.scaled(multiple))
        self.settings = start.changed(chance_limit=self.settings.required_lift * multiple)
        return True

    def _find_chance_limit(self) -> None:
        if self.settings.is_default_score and self.settings.chance_limit is None:
            lift = find_chance_limit(self._sampled, self.encoded.frequencies, self.settings, self.threads)
            self.settings = self.settings.changed(chance_limit=lift)
        self.advance(CHANCE_LIMIT)

    def _why_default(self) -> str:
        """Why the limit is the default."""
        assert self.unavailable
        return self.unavailable + (
            f", and the target precision of {self._target:g} is not applied" if self._target else ""
        )

    def _find_strict(self, drawn: list[LabelledNames], limit: Limit, target: float) -> CalibratedLimit:
        """The limit with the target precision; `limit` is the one with the best F1."""
        self._unstrict = limit
        scores = self._measure(drawn, limit, HIGHEST[-1:])
        return scores.result(scores.lowest_with_precision(target), self.settings, len(self.pool.sizes), target)

    def _measure(self, drawn: list[LabelledNames], limit: Limit, highest: tuple[float, ...]) -> LimitScores:
        """The scores of pseudo-names up to the first of the `highest` multiples of the limit that suffices."""
        around = max(limit) / max(self.settings.limit)
        for times in highest:
            scores = LimitScores.measure(drawn, self.settings, self.threads, around * times)
            if not scores.reaches(around * times):
                break
        return scores


def _is_close(one: Limit, other: Limit) -> bool:
    return max(one) < CONVERGED * max(other) and max(other) < CONVERGED * max(one)


NameMask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LimitScores:
    """Precision and recall of pseudo-names (rows) at multiples of the default limit (columns).

    `people` is the number of people of each name, `seed` its draw. All means are over the numbers of people, so that
    the many easy names do not decide alone. `prior_deviation` is infinite if all limits are equally probable before.
    """

    factors: Floats
    precision: Floats
    recall: Floats
    people: Integers
    seed: Integers
    prior_deviation: float = PRIOR_DEVIATION

    @staticmethod
    def measure(drawn: list[LabelledNames], settings: Settings, threads: int, highest: float = np.inf) -> LimitScores:
        """Sweep over the limits up to a multiple of the default and look up the multiples of the default."""
        mentions = drawn[0].frequencies.mentions

        def limits_of(sizes: list[Integers]) -> Floats:
            return np.concatenate([limits(starts(one), settings.limit, mentions) for one in sizes])

        own, default = limits_of([names.mentions for names in drawn]), limits_of([names.limit_sizes for names in drawn])
        # Names with the limit of a larger block need a sweep that begins at a higher multiple of their own limit.
        method = RelativeFrequencies(settings, ratio=STEP, highest=highest * float((default / own).max()))
        curves = curves_of_several(method, drawn, threads)
        factors = _factors(curves, default, highest)
        at = np.stack([curves.steps_at(name, factors * default[name]) for name in range(len(curves))])
        return LimitScores(
            factors,
            curves.precision[at],
            curves.recall[at],
            np.concatenate([size_groups(names.true_size) for names in drawn]),
            np.repeat(np.arange(len(drawn)), [len(names) for names in drawn]),
            PRIOR_DEVIATION if settings.is_default_score else np.inf,
        )

    def expected(self) -> int:
        """The column of the posterior mean of the limit."""
        return self._expected(np.ones(len(self.seed), bool))

    def start(self) -> int:
        """The column of the limit at which calibration starts, or of the highest one if all are lower."""
        return int(np.searchsorted(self.factors, 1.0, side="right")) - 1

    def lowest_with_precision(self, target: float) -> int:
        """The lowest column from which on the target precision is reached; the last one if none reaches it."""
        below = np.flatnonzero(self._means(np.ones(len(self.seed), bool))[0] < target)
        return min(int(below[-1]) + 1 if len(below) else 0, len(self.factors) - 1)

    def reaches(self, highest: float) -> bool:
        """Whether the highest multiple that was tried is still probable."""
        last = self._posterior(np.ones(len(self.seed), bool))[-1]
        return bool(last > PROBABLE and self.factors[-1] * STEP**2 > highest)

    def result(
        self, choice: int, settings: Settings, people: int, target: float | None = None, highest: int | None = None
    ) -> CalibratedLimit:
        """The limit of a column, with its scores.

        `target` is the precision that it was chosen for, and `highest` the last column that may be chosen.
        """
        precision, recall, f1 = (float(values[choice]) for values in self._means(np.ones(len(self.seed), bool)))
        spread, why = None, None
        if target is None:
            by_seed = [self._expected(self.seed == seed) for seed in np.unique(self.seed)]
            # All draws together are more evidence than each, so their mean may be further from the prior.
            last = max(choice, *by_seed) if highest is None else min(highest, max(choice, *by_seed))
            low, high = (float(self.factors[column]) for column in (min(choice, *by_seed), last))
            spread = settings.limit.scaled(low), settings.limit.scaled(high)
        elif precision < target:
            why = f"a precision of {target:g} is out of reach, the highest on pseudo-names is {precision:.3f}"
        limit = settings.limit.scaled(float(self.factors[choice]))
        return CalibratedLimit(
            limit, spread, precision, recall, f1, people, len(self.seed), why,
            settings.chance_limit, settings.name_trust,
        )  # fmt: skip

    def _expected(self, names: NameMask) -> int:
        """The column of the posterior mean of ln(limit) on the given names."""
        probability = self._posterior(names)
        mean = probability @ np.log(self.factors) / probability.sum()
        return int(np.argmin(np.abs(np.log(self.factors) - mean)))

    def _posterior(self, names: NameMask) -> Floats:
        """The probability of each column, as a share of the highest one: exp(F1 / error) times the prior."""
        error = F1_ERROR * max(1.0, self.sampling_error / USUAL_SAMPLING_ERROR)
        log = self._means(names)[2] / error - (np.log(self.factors) / self.prior_deviation) ** 2 / 2
        probability: Floats = np.exp(log - log.max())
        return probability

    @property
    def sampling_error(self) -> float:
        """The standard error of the mean F1, as a multiple of the standard deviation of one name.

        >>> one_name_of_each_size = np.ones((4, 1)), np.ones((4, 1)), np.arange(4), np.zeros(4)
        >>> LimitScores(np.ones(1), *one_name_of_each_size).sampling_error
        0.5
        """
        count = np.unique(self.people, return_counts=True)[1]
        weight = _weights(count)
        return float(np.sqrt((weight**2 / count).sum()) / weight.sum())

    def _means(self, names: NameMask) -> tuple[Floats, Floats, Floats]:
        """Mean precision, recall and F1 of the given names at each column."""
        sizes, group, count = np.unique(self.people[names], return_inverse=True, return_counts=True)
        weight = _weights(count)

        def by_people(values: Floats) -> Floats:
            return np.stack([values[names][group == size].mean(axis=0) for size in range(len(sizes))])

        def mean(values: Floats) -> Floats:
            average: Floats = weight @ values / weight.sum()
            return average

        precision, recall = by_people(self.precision), by_people(self.recall)
        return mean(precision), mean(recall), mean(harmonic(precision, recall))


def _weights(names: Integers) -> Floats:
    """The weight of each number of people, given how many pseudo-names have it."""
    weights: Floats = np.minimum(1.0, names / FULL_WEIGHT_NAMES)
    return weights


def _factors(curves: LimitCurves, default: Floats, highest: float) -> Floats:
    """Multiples of the default limits up to the highest, over the range in which the result changes.

    1 is among them, unless all changes, or the highest, are below.

    Where nothing changes up to a high limit, the lower ones are as good, and the default is the best guess.

    >>> only_above = LimitCurves(1000, np.array([4]), np.array([0, 2]), np.array([8.0, 0.0]), np.ones(2), np.ones(2))
    >>> _factors(only_above, np.array([1.0]), highest=1.2).round(2)
    array([1.  , 1.1 , 1.21])
    >>> _factors(only_above, np.array([10.0]), highest=0.5).round(2)
    array([0.47, 0.51])
    """
    ratio = curves.lowest / np.repeat(default, np.diff(curves.start))
    changes = ratio > 0
    if not changes.any():
        return np.ones(1)
    last_change = np.full(len(curves), ratio[changes].max())
    np.minimum.at(last_change, np.repeat(np.arange(len(curves)), np.diff(curves.start))[changes], ratio[changes])
    low, high = np.log([np.quantile(last_change, STILL_CHANGING), min(ratio[changes].max(), highest)]) / np.log(STEP)
    return np.power(STEP, np.arange(np.floor(min(low, high, 0.0)), np.ceil(high) + 1))
