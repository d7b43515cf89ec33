"""Limits to choose from: tuned on names whose authors are known, and judged on other ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from homonym.calibration.split import Split
from homonym.calibration.tuning import Kind, Part, TunedLimit, choose, clearly_positive, f1_by_name, tune, tune_one
from homonym.evaluation.curves import Curves
from homonym.evaluation.judging import compare, curves_of, labels_of
from homonym.evaluation.measures import bcubed_by_name
from homonym.evaluation.methods import RelativeFrequencies
from homonym.evaluation.scores import NameScores
from homonym.evaluation.sizes import Estimate, mean_over_sizes, size_groups
from homonym.settings import PAPER_LIMIT, Limit, Settings

#: What the paper tunes: β for sums of products, α for maxima of products.
PAPER_PART: Mapping[str, Part] = {"prob": "beta", "max": "alpha"}
#: What carries over best from collection to collection, where that has been measured.
USUAL_PART: Mapping[str, Part] = {"prob": "kappa", "max": "alpha"}
#: Weights of chance that are tried where none is given.
CHANCES = (0.0, 0.25, 0.5, 1.0, 2.0)


@dataclass(frozen=True, eq=False)
class JudgedLimit:
    """A limit and how well it does: F1 averaged over the true sizes, on the training names and on others.

    `gamma` is the weight of chance that it goes with. `by_name` has B-cubed precision and recall of each test name.
    """

    kind: str
    alpha: float
    beta: float
    kappa: float
    gamma: float
    spread: tuple[float, float] | None
    training: float | None
    test: Estimate | None
    by_name: NameScores | None


@dataclass(frozen=True)
class TriedChance:
    """A weight γ of chance, and F1 on the training names at the best limit with one parameter."""

    gamma: float
    f1: float


@dataclass(frozen=True)
class Candidates:
    """All limits that were judged, the one that was chosen, and the settings that it goes with.

    `chances` are the weights of chance that were tried; none where the settings give one.
    """

    settings: Settings
    limits: list[JudgedLimit]
    chosen: TunedLimit
    chances: list[TriedChance]


class Judge:
    """The names that limits are tuned on, and those that they are judged on."""

    def __init__(self, names: Split, threads: int) -> None:
        self.training, self.test, self.threads = names.training, names.test, threads
        self.group = size_groups(names.training.true_size)

    def curves(self, settings: Settings) -> Curves:
        """How the training names come out at every limit."""
        return curves_of(RelativeFrequencies(settings), self.training, self.threads)

    def judged(self, kind: str, limit: Limit, settings: Settings, tuned: TunedLimit | None = None) -> JudgedLimit:
        """A limit with what it does on the test names, if there are any."""
        test, by_name = None, None
        if len(self.test):
            labels = labels_of(RelativeFrequencies(settings), self.test, limit, self.threads)
            by_name = bcubed_by_name(compare(self.test, labels))
            test = mean_over_sizes(by_name, self.test.true_size)
        spread, f1 = (tuned.spread, tuned.f1) if tuned else (None, None)
        return JudgedLimit(kind, *limit, settings.chance, spread, f1, test, by_name)

    def all_judged(self, found: Mapping[Kind, TunedLimit], settings: Settings) -> list[JudgedLimit]:
        """The limits that were tuned, and the paper's."""
        tuned = [self.judged(kind, limit.limit, settings, limit) for kind, limit in found.items()]
        return [*tuned, self.judged("paper", PAPER_LIMIT[settings.variant], settings)]


def papers_candidates(settings: Settings, names: Split, threads: int) -> Candidates:
    """Tune α, β and both as the paper does, and prefer what it prefers."""
    judge = Judge(names, threads)
    curves = judge.curves(settings)
    found = tune(curves, judge.group)
    chosen = choose(found, PAPER_PART[settings.variant], curves, judge.group)
    return Candidates(settings, judge.all_judged(found, settings), chosen, [])


def candidates(settings: Settings, without_labels: Limit | None, names: Split, threads: int) -> Candidates:
    """Tune κ too, and γ where it is not given; judge also what a run takes without labels.

    `without_labels` is the limit that was found on pseudo-names, if one was.
    """
    judge, part = Judge(names, threads), USUAL_PART[settings.variant]
    chances, with_chance, curves = _choose_chance(settings, part, judge)
    found: dict[Kind, TunedLimit] = {"kappa": tune_one("kappa", curves, judge.group), **tune(curves, judge.group)}
    limits = judge.all_judged(found, with_chance)
    # What is the same as the paper's for this variant need not be shown twice.
    if settings.limit != PAPER_LIMIT[settings.variant]:
        limits.append(judge.judged("default", settings.limit, settings))
    if without_labels:
        limits.append(judge.judged("pseudo-names", without_labels, settings))
    return Candidates(with_chance, limits, choose(found, part, curves, judge.group), chances)


def _choose_chance(settings: Settings, part: Part, judge: Judge) -> tuple[list[TriedChance], Settings, Curves]:
    """Take γ as given, else the default unless another is clearly better: the settings with it, and their curves."""
    if settings.gamma is not None:
        return [], settings, judge.curves(settings)
    curves = {gamma: judge.curves(settings.changed(gamma=gamma)) for gamma in CHANCES}
    tuned = {gamma: tune_one(part, curves[gamma], judge.group) for gamma in CHANCES}
    best = max(CHANCES, key=lambda gamma: tuned[gamma].f1)
    f1 = {gamma: f1_by_name(curves[gamma], tuned[gamma].limit) for gamma in (best, settings.chance)}
    chosen = best if clearly_positive(f1[best] - f1[settings.chance], judge.group) else settings.chance
    with_chance = settings if chosen == settings.chance else settings.changed(gamma=chosen)
    return [TriedChance(gamma, tuned[gamma].f1) for gamma in CHANCES], with_chance, curves[chosen]
