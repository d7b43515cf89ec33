"""The limit α + β·|X| + κ·√|X|/(N + 3000) that does best on names whose authors are known.

What is maximised is B-cubed F1 averaged over the true sizes, F1 being that of the mean precision and recall of the
names of a size: as in the paper, so that the many easy names do not decide alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from homonym.calibration.holdout import NameSplit
from homonym.clustering.arrays import Floats
from homonym.measures.agreement import bcubed_by_name
from homonym.measures.bootstrap import Estimate, Resamples, interval, mean_over_sizes, size_groups
from homonym.measures.contingency import Codes
from homonym.measures.methods import Curves, RelativeFrequencies, compare_labels, curves_of, labels_of
from homonym.measures.scores import NameScores, harmonic
from homonym.settings import PAPER_LIMIT, Limit, Settings

Part = Literal["alpha", "beta", "kappa"]
Kind = Literal["alpha", "beta", "kappa", "both"]
PAPER_PARTS: tuple[Part, Part] = ("alpha", "beta")
Grids = tuple[Floats, Floats, Floats]
"""Values of α, β and κ to try, each with each."""

#: Limits tried first: so many for one parameter, about as close as those of a sweep, and so many for each of two.
GRID, GRID_OF_TWO = 241, 41
#: Then so many between the neighbours of the best, this often.
REFINED, REFINEMENTS = 9, 2
#: Scores below this quantile of all that a sweep saw are no sensible limit: hardly anything would ever be refused.
LOWEST_QUANTILE = 0.01
NOTHING = np.zeros(1)


@dataclass(frozen=True)
class TunedLimit:
    """A limit, how well it does on the training names, and how far it would move with other names.

    `spread` holds the central 95 % of the one parameter that is not 0, over resamples of the training names; of two
    parameters that trade off against each other there is none.
    """

    kind: Kind
    limit: Limit
    f1: float
    spread: tuple[float, float] | None


def tune(curves: Curves, group: Codes) -> dict[Kind, TunedLimit]:
    """Find the best limit with α alone, with β alone and with both; `group` is the true size of each name."""
    alpha, beta = (tune_one(part, curves, group) for part in PAPER_PARTS)
    alphas, betas = (np.append(0.0, _thinned(_grid(curves, part))) for part in PAPER_PARTS)
    limit, f1 = _searched(curves, _numbered(group), (alphas, betas, NOTHING))
    # The grid of two is coarser than that of one, and one of two may well be 0.
    both = max(TunedLimit("both", limit, f1, None), beta, alpha, key=lambda found: found.f1)
    return {"alpha": alpha, "beta": beta, "both": replace(both, kind="both", spread=None)}


def tune_one(part: Part, curves: Curves, group: Codes) -> TunedLimit:
    """Find the best limit with one parameter, the others being 0."""
    grid, group = _grid(curves, part), _numbered(group)
    limit, f1 = _searched(curves, group, _alone(part, grid))
    return TunedLimit(part, limit, f1, _spread(curves, group, part, grid, max(limit)))


#: Another choice must be better by so many standard errors, name by name, to be taken instead.
CLEARLY = 2.0


def choose(found: Mapping[Kind, TunedLimit], preferred: Kind, curves: Curves, group: Codes) -> TunedLimit:
    """Take the limit with the preferred parameter, unless another is clearly better."""
    usual, best = found[preferred], max(found.values(), key=lambda limit: limit.f1)
    better = f1_by_name(curves, best.limit) - f1_by_name(curves, usual.limit)
    return best if clearly_positive(better, group) else usual


def f1_by_name(curves: Curves, limit: Limit) -> Floats:
    """F1 of each name at one limit."""
    scores = curves.at(np.array([limit]))
    return harmonic(scores.precision[:, 0], scores.recall[:, 0])


def clearly_positive(better: Floats, group: Codes) -> bool:
    """Whether differences between names are above 0 by more than chance, every true size counting the same.

    A standard error from names drawn again would be 0 where each size has one name, as if that were certain.

    >>> bool(clearly_positive(np.array([0.1, 0.2, 0.1]), np.array([1, 1, 2])))
    True
    >>> bool(clearly_positive(np.array([0.1, -0.2, 0.3]), np.array([1, 1, 2])))
    False
    """
    _, size, names = np.unique(group, return_inverse=True, return_counts=True)
    share = 1 / (len(names) * names[size])
    mean = share @ better
    error = np.sqrt(share**2 @ (better - mean) ** 2)
    return len(better) > 1 and bool(mean > CLEARLY * error)


def mean_f1(curves: Curves, group: Codes, parts: Floats) -> Floats:
    """F1 averaged over the groups of names, at each of some limits, given as rows of α, β and κ.

    >>> both = np.array([1.0, 0.5]), np.array([0.5, 1.0])
    >>> one = Curves(9, np.array([2]), np.array([0, 2]), np.array([0.5, -np.inf]), *both)
    >>> mean_f1(one, np.array([0]), np.array([[0.7, 0, 0], [0, 0, 0]])).round(3)
    array([0.667, 0.667])
    """
    names = np.bincount(group).astype(np.float64)
    precision, recall = np.zeros((len(names), len(parts))), np.zeros((len(names), len(parts)))
    for name, steps in enumerate(curves.steps(parts)):
        precision[group[name]] += curves.precision[steps]
        recall[group[name]] += curves.recall[steps]
    means: Floats = harmonic(precision / names[:, None], recall / names[:, None]).mean(axis=0)
    return means


def _numbered(group: Codes) -> Codes:
    numbers: Codes = np.unique(group, return_inverse=True)[1]
    return numbers


def _grid(curves: Curves, part: Part) -> Floats:
    """Values of one parameter on a logarithmic scale over all that make a difference."""
    unit = np.repeat(curves.units[:, Limit._fields.index(part)], np.diff(curves.start))
    usable = curves.lowest > 0
    if not usable.any():  # no two mentions were ever compared: any limit is as good as another
        return np.ones(1)
    values = curves.lowest[usable] / unit[usable]
    return np.geomspace(np.quantile(values, LOWEST_QUANTILE), values.max() * 1.01, GRID)


def _alone(part: Part, grid: Floats) -> Grids:
    """Values of one parameter, the others being 0."""
    alpha, beta, kappa = (grid if name == part else NOTHING for name in Limit._fields)
    return alpha, beta, kappa


def _thinned(values: Floats) -> Floats:
    return values[:: max(1, (GRID - 1) // (GRID_OF_TWO - 1))]


def _searched(curves: Curves, group: Codes, grids: Grids) -> tuple[Limit, float]:
    """The best limit on grids that become finer around it, and how well it does."""
    for _ in range(REFINEMENTS):
        best, _ = _best(curves, group, grids)
        alphas, betas, kappas = (_around(value, grid) for value, grid in zip(best, grids, strict=True))
        grids = alphas, betas, kappas
    return _best(curves, group, grids)


def _best(curves: Curves, group: Codes, grids: Grids) -> tuple[Limit, float]:
    """The best limit of some grids; of equals in a row the middle one, which is furthest from doing worse."""
    parts = np.stack([values.ravel() for values in np.meshgrid(*grids, indexing="ij")], axis=1)
    value = mean_f1(curves, group, parts)
    best = _middle(value >= value.max() - 1e-12)
    return Limit(*parts[best].tolist()), float(value[best])


def _middle(wanted: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    """The middle of the longest run of what is wanted.

    >>> _middle(np.array([True, False, True, True, True]))
    3
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], wanted.astype(np.int8), [0]])))
    starts, ends = edges[::2], edges[1::2]
    longest = int(np.argmax(ends - starts))
    return int(starts[longest] + ends[longest] - 1) // 2


def _around(value: float, grid: Floats) -> Floats:
    """A finer grid between the neighbours of a value; 0 has none."""
    if value == 0 or len(grid) == 1:
        return np.array([value])
    place = int(np.searchsorted(grid, value))
    low, high = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
    return np.geomspace(low if low > 0 else grid[place], high, REFINED)


def _spread(curves: Curves, group: Codes, part: Part, grid: Floats, found: float) -> tuple[float, float]:
    """Where the best value of the one free parameter lies if the names are drawn again; what was found lies within."""
    alpha, beta, kappa = (np.broadcast_to(values, grid.shape) for values in _alone(part, grid))
    scores = curves.at(np.stack([alpha, beta, kappa], axis=1))
    resamples = Resamples(group)
    values = [
        harmonic(resamples.means(precision), resamples.means(recall)).mean(axis=1)
        for precision, recall in zip(scores.precision.T, scores.recall.T, strict=True)
    ]
    drawn = np.stack(values)
    first, last = np.argmax(drawn, axis=0), len(grid) - 1 - np.argmax(drawn[::-1], axis=0)
    low, high = interval(grid[(first + last) // 2])
    return min(low, found), max(high, found)


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


class LimitJudge:
    """The names that limits are tuned on, and those that they are judged on."""

    def __init__(self, names: NameSplit, threads: int) -> None:
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
            by_name = bcubed_by_name(compare_labels(self.test, labels))
            test = mean_over_sizes(by_name, self.test.true_size)
        spread, f1 = (tuned.spread, tuned.f1) if tuned else (None, None)
        return JudgedLimit(kind, *limit, settings.chance, spread, f1, test, by_name)

    def all_judged(self, found: Mapping[Kind, TunedLimit], settings: Settings) -> list[JudgedLimit]:
        """The limits that were tuned, and the paper's."""
        tuned = [self.judged(kind, limit.limit, settings, limit) for kind, limit in found.items()]
        return [*tuned, self.judged("paper", PAPER_LIMIT[settings.variant], settings)]


def papers_candidates(settings: Settings, names: NameSplit, threads: int) -> Candidates:
    """Tune α, β and both as the paper does, and prefer what it prefers."""
    judge = LimitJudge(names, threads)
    curves = judge.curves(settings)
    found = tune(curves, judge.group)
    chosen = choose(found, PAPER_PART[settings.variant], curves, judge.group)
    return Candidates(settings, judge.all_judged(found, settings), chosen, [])


def candidates(settings: Settings, without_labels: Limit | None, names: NameSplit, threads: int) -> Candidates:
    """Tune κ too, and γ where it is not given; judge also what a run takes without labels.

    `without_labels` is the limit that was found on pseudo-names, if one was.
    """
    judge, part = LimitJudge(names, threads), USUAL_PART[settings.variant]
    chances, with_chance, curves = _choose_chance(settings, part, judge)
    found: dict[Kind, TunedLimit] = {"kappa": tune_one("kappa", curves, judge.group), **tune(curves, judge.group)}
    limits = judge.all_judged(found, with_chance)
    # What is the same as the paper's for this variant need not be shown twice.
    if settings.limit != PAPER_LIMIT[settings.variant]:
        limits.append(judge.judged("default", settings.limit, settings))
    if without_labels:
        limits.append(judge.judged("pseudo-names", without_labels, settings))
    return Candidates(with_chance, limits, choose(found, part, curves, judge.group), chances)


def _choose_chance(settings: Settings, part: Part, judge: LimitJudge) -> tuple[list[TriedChance], Settings, Curves]:
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
