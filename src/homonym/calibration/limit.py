"""The limit of a run, found without labels: from pseudo-names that the collection's own names are put together to.

Pseudo-names are made like the blocks that the method finds at a limit, so a better limit makes for better pseudo-names:
both are found in turn, beginning with the default limit. Of the limits that do as well as the best, as far as
pseudo-names can tell, the middle one is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from homonym.calibration.pseudonames import block_composition, looked_at, pseudo_names
from homonym.calibration.single_person_names import BlockSample, Pool, find_people, sampled
from homonym.clustering.agglomerative import limits
from homonym.clustering.arrays import Floats, Integers, starts
from homonym.collection.encoded import Encoded
from homonym.constraints.found_constraints import FoundConstraints
from homonym.measures.bootstrap import size_groups
from homonym.measures.methods import Curves, LabelledNames, RelativeFrequencies, concatenate_curves, curves_of
from homonym.measures.scores import harmonic
from homonym.messages import counted
from homonym.settings import Limit, Settings

#: Pseudo-names are made so often, from other people each time; the spread of the limit is that between these.
SEEDS = 3
#: The real blocks that pseudo-names are made like are drawn with this seed.
MAKE_UP_SEED = 0
#: Limits and pseudo-names are found in turn at most so often; a limit that moves by less than this factor stands.
TURNS, MOVED = 3, 1.15
#: Limits differ by this factor at least: pseudo-names do not tell closer ones apart.
STEP = 1.1
#: Limits that do worse by no more than this are as good: what another draw of pseudo-names would change.
TOLERANCE = 0.003
#: With fewer people or fewer real names of several mentions there is nothing to learn from.
FEWEST_PEOPLE, FEWEST_NAMES = 30, 20
#: A number of people counts fully with so many pseudo-names.
ENOUGH_NAMES = 5


@dataclass(frozen=True, eq=False)
class CalibratedLimit:
    """A limit found on pseudo-names: what it is, how far it moves with other people, and what it does there.

    `spread` has the lowest and the highest limit over the seeds. Without pseudo-names the limit is the default, and
    `why` says what is lacking; it also says why a target was not reached.
    """

    limit: Limit
    spread: tuple[Limit, Limit] | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    people: int = 0
    names: int = 0
    why: str | None = None


def blocks_to_find_from(sizes: Integers, seeds: int = SEEDS) -> Integers:
    """The blocks that a Finder looks at, of all that have these sizes."""
    people, made = sampled(sizes, np.random.default_rng(seeds)), looked_at(sizes, np.random.default_rng(MAKE_UP_SEED))
    return np.union1d(people, made)


class LimitCalibrator:
    """All that finding a limit needs, so that its steps can be read in order.

    A collection of which only `blocks_to_find_from` are at hand will do, if `among` says so.
    """

    def __init__(
        self,
        encoded: Encoded,
        settings: Settings,
        knowledge: FoundConstraints | None,
        threads: int,
        seeds: int = SEEDS,
        among: BlockSample | None = None,
    ) -> None:
        self.encoded, self.settings, self.knowledge = encoded, settings, knowledge
        self.among = among or BlockSample.all_of(encoded)
        self.threads, self.seeds = threads, seeds
        self.lacking = self._lacking()

    def _lacking(self) -> str | None:
        """Say why there can be no pseudo-names, or look for people."""
        several = int((self.among.sizes > 1).sum())
        if several < FEWEST_NAMES:
            return (
                f"too small to find the limit from: {counted(several, 'name')} with several mentions, "
                f"where {FEWEST_NAMES} are needed"
            )
        if not self.encoded.frequencies.types:
            return "no mention has any feature to find the limit from"
        generator = np.random.default_rng(self.seeds)
        self.pool: Pool = find_people(self.encoded, self.settings, generator, self.among)
        people = int((self.pool.sizes > 1).sum())
        if people < FEWEST_PEOPLE:
            return (
                f"too few names to find the limit from: {people:,} are likely to be one person with several mentions, "
                f"where {FEWEST_PEOPLE} are needed"
            )
        return None

    def pseudonames(self, limit: Limit, draws: int) -> list[LabelledNames]:
        """Pseudo-names like the blocks that the method finds at a limit; none if all would be one person."""
        settings = self.settings.with_limit(limit)
        generator = np.random.default_rng(MAKE_UP_SEED)
        made = block_composition(self.encoded, settings, self.knowledge, generator, self.threads, self.among)
        drawn = [pseudo_names(self.pool, made, np.random.default_rng(seed)) for seed in range(draws)]
        made_of_several = any(names and (names.true_size > 1).any() for names in drawn)
        return [names for names in drawn if names] if made_of_several else []

    def find(self) -> CalibratedLimit:
        """Find limit and pseudo-names in turn."""
        limit = self.settings.limit
        if self.lacking:
            return CalibratedLimit(limit, why=self.lacking)
        if self.settings.joint:  # p(C,D) is smaller by p(D), which is about 1/N; the paper has no limit for it
            limit = limit.scaled(1 / self.encoded.frequencies.mentions)
        for _ in range(TURNS):
            drawn = self.pseudonames(limit, self.seeds)
            if not drawn:
                self.lacking = "no two people can be put together to find the limit from"
                return CalibratedLimit(self.settings.limit, why=self.lacking)
            judged = Judged.of(drawn, self.settings, self.threads)
            found = judged.found(judged.choice(self.settings.target_precision), self.settings, len(self.pool.sizes))
            before, limit = limit, found.limit
            if max(limit) < MOVED * max(before) and max(before) < MOVED * max(limit):
                break
        return found


Names = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Judged:
    """Precision and recall of pseudo-names (rows) at multiples of the default limit (columns).

    `people` is how many a name has, `seed` the draw that it comes from. All figures are averaged over the numbers of
    people, so that the many easy names do not decide alone.
    """

    factors: Floats
    precision: Floats
    recall: Floats
    people: Integers
    seed: Integers

    @staticmethod
    def of(drawn: list[LabelledNames], settings: Settings, threads: int) -> Judged:
        """Sweep over all limits and look up the multiples of the default."""
        curves = [curves_of(RelativeFrequencies(settings, ratio=STEP), names, threads) for names in drawn]
        together = concatenate_curves(curves)
        default = limits(starts(together.mentions), settings.limit, drawn[0].frequencies.mentions)
        factors = _factors(together, default)
        at = np.stack([together.steps_at(name, factors * default[name]) for name in range(len(together))])
        return Judged(
            factors,
            together.precision[at],
            together.recall[at],
            np.concatenate([size_groups(names.true_size) for names in drawn]),
            np.repeat(np.arange(len(drawn)), [len(names) for names in drawn]),
        )

    def choice(self, target: float | None) -> int:
        """The multiple to take: the best one, or the lowest from which on the target is reached."""
        everybody = np.ones(len(self.seed), bool)
        if target is None:
            return self._best(everybody)
        below = np.flatnonzero(self._averaged(everybody)[0] < target)
        return min(int(below[-1]) + 1 if len(below) else 0, len(self.factors) - 1)

    def found(self, choice: int, settings: Settings, people: int) -> CalibratedLimit:
        """Sum up what a multiple does."""
        precision, recall, f1 = (float(values[choice]) for values in self._averaged(np.ones(len(self.seed), bool)))
        target, spread, why = settings.target_precision, None, None
        if target is None:
            by_seed = [float(self.factors[self._best(self.seed == seed)]) for seed in np.unique(self.seed)]
            spread = settings.limit.scaled(min(by_seed)), settings.limit.scaled(max(by_seed))
        elif precision < target:
            why = f"a precision of {target:g} is out of reach, the highest on pseudo-names is {precision:.3f}"
        limit = settings.limit.scaled(float(self.factors[choice]))
        return CalibratedLimit(limit, spread, precision, recall, f1, people, len(self.seed), why)

    def _best(self, names: Names) -> int:
        """The middle one of those around the best that do as well on some of the names."""
        f1 = self._averaged(names)[2]
        worse = np.flatnonzero(f1 < f1.max() - TOLERANCE)
        place = np.searchsorted(worse, np.argmax(f1))
        low = worse[place - 1] + 1 if place else 0
        high = worse[place] - 1 if place < len(worse) else len(f1) - 1
        return int(low + high) // 2

    def _averaged(self, names: Names) -> tuple[Floats, Floats, Floats]:
        """Precision, recall and F1 of some names at each multiple."""
        sizes, group, count = np.unique(self.people[names], return_inverse=True, return_counts=True)
        weight = np.minimum(1, count / ENOUGH_NAMES)

        def by_people(values: Floats) -> Floats:
            return np.stack([values[names][group == size].mean(axis=0) for size in range(len(sizes))])

        def mean(values: Floats) -> Floats:
            average: Floats = weight @ values / weight.sum()
            return average

        precision, recall = by_people(self.precision), by_people(self.recall)
        return mean(precision), mean(recall), mean(harmonic(precision, recall))


def _factors(curves: Curves, default: Floats) -> Floats:
    """Multiples of the default limits over all that make a difference, 1 among them."""
    ratio = curves.lowest / np.repeat(default, np.diff(curves.start))
    ratio = ratio[ratio > 0]
    if not len(ratio):
        return np.ones(1)
    low, high = np.log(np.quantile(ratio, 0.01)) / np.log(STEP), np.log(ratio.max()) / np.log(STEP) + 1
    return np.power(STEP, np.arange(min(int(np.floor(low)), 0), max(int(np.ceil(high)), 0) + 1, dtype=np.float64))


def calibrate_limit(
    encoded: Encoded, settings: Settings, knowledge: FoundConstraints | None, threads: int, seeds: int = SEEDS
) -> CalibratedLimit:
    """Find the limit of a collection that maximises B-cubed F1 on pseudo-names, or reaches a target precision."""
    return LimitCalibrator(encoded, settings, knowledge, threads, seeds).find()
