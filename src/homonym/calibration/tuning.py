"""Hyperparameter search for the limit (see `settings.Limit`) on labelled names.

The objective is B-cubed F1 averaged over the true sizes, where F1 is that of the mean precision and recall of the names
of a size: as in the paper, so that the many easy names do not decide alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from homonym.calibration.holdout import NameSplit
from homonym.clustering.arrays import Floats
from homonym.measures.agreement import Codes, NameScores, bcubed, harmonic
from homonym.measures.bootstrap import Estimate, Resamples, interval, mean_over_sizes, size_groups
from homonym.measures.methods import LimitCurves, RelativeFrequencies, compare_labels, curves_of, labels_of
from homonym.settings import PAPER_LIMIT, Limit, Settings

Part = Literal["alpha", "beta", "kappa"]
Kind = Literal["alpha", "beta", "kappa", "both", "default", "pseudo-names"]
PAPER_PARTS: tuple[Part, Part] = ("alpha", "beta")
Grids = tuple[Floats, Floats, Floats]
"""Values of α, β and κ; all combinations are tried."""

# Size of the first grid: for one parameter, about as fine as the steps of a sweep, and for each of two parameters.
GRID, GRID_OF_TWO = 241, 41
# Size of the finer grids between the neighbours of the best value, and how often the grid is refined.
REFINED, REFINEMENTS = 9, 2
# Limits below this quantile of all scores of a sweep are not tried: hardly any merge would be refused.
LOWEST_QUANTILE = 0.01
ZERO = np.zeros(1)
# Minimum difference, in standard errors over names, at which another choice replaces the preferred one.
CLEAR_DIFFERENCE = 2.0
# The parameter that the paper tunes: β for sums of products, α for maxima of products.
PAPER_PART: Mapping[str, Part] = {"prob": "beta", "max": "alpha"}
# The parameter whose best value varies least between collections, where that has been measured.
USUAL_PART: Mapping[str, Part] = {"prob": "kappa", "max": "alpha"}
# Values of γ that are tried if the settings have none.
GAMMAS = (0.0, 0.25, 0.5, 1.0, 2.0)


@dataclass(frozen=True)
class TunedLimit:
    """A limit with its mean F1 on the training names.

    `spread` is the 95 % bootstrap interval of the one parameter that is not 0; there is none for two parameters, which
    trade off against each other.
    """

    kind: Kind
    limit: Limit
    f1: float
    spread: tuple[float, float] | None


def tune(curves: LimitCurves, group: Codes) -> dict[Kind, TunedLimit]:
    """The best limits with α alone, with β alone and with both; `group` is the true size of each name."""
    alpha, beta = (tune_one(part, curves, group) for part in PAPER_PARTS)
    alphas, betas = (np.append(0.0, _thinned(_grid(curves, part))) for part in PAPER_PARTS)
    limit, f1 = _search(curves, _numbered(group), (alphas, betas, ZERO))
    # The grid of two parameters is coarser than that of one, and the best value of one of the two may be 0.
    both = max(TunedLimit("both", limit, f1, None), beta, alpha, key=lambda tuned: tuned.f1)
    return {"alpha": alpha, "beta": beta, "both": replace(both, kind="both", spread=None)}


def tune_one(part: Part, curves: LimitCurves, group: Codes) -> TunedLimit:
    """The best limit with one parameter, the others being 0."""
    grid, group = _grid(curves, part), _numbered(group)
    limit, f1 = _search(curves, group, _single_grid(part, grid))
    return TunedLimit(part, limit, f1, _spread(curves, group, part, grid, max(limit)))


def choose(tuned: Mapping[Kind, TunedLimit], preferred: Kind, curves: LimitCurves, group: Codes) -> TunedLimit:
    """The limit with the preferred parameter, unless another is clearly better."""
    usual, best = tuned[preferred], max(tuned.values(), key=lambda limit: limit.f1)
    difference = f1_by_name(curves, best.limit) - f1_by_name(curves, usual.limit)
    return best if clearly_positive(difference, group) else usual


def f1_by_name(curves: LimitCurves, limit: Limit) -> Floats:
    """F1 of each name at one limit."""
    scores = curves.at(np.array([limit]))
    return harmonic(scores.precision[:, 0], scores.recall[:, 0])


def clearly_positive(difference: Floats, group: Codes) -> bool:
    """Whether the mean difference is above 0 by more than chance, every true size counting the same.

    Not by the bootstrap: it would give a standard error of 0 if each size has one name, as if that were certain.

    >>> bool(clearly_positive(np.array([0.1, 0.2, 0.1]), np.array([1, 1, 2])))
    True
    >>> bool(clearly_positive(np.array([0.1, -0.2, 0.3]), np.array([1, 1, 2])))
    False
    """
    _, size, names = np.unique(group, return_inverse=True, return_counts=True)
    share = 1 / (len(names) * names[size])
    mean = share @ difference
    error = np.sqrt(share**2 @ (difference - mean) ** 2)
    return len(difference) > 1 and bool(mean > CLEAR_DIFFERENCE * error)


def mean_f1(curves: LimitCurves, group: Codes, parts: Floats) -> Floats:
    """Mean F1 over the groups of names, at some limits, given as rows of α, β and κ.

    >>> both = np.array([1.0, 0.5]), np.array([0.5, 1.0])
    >>> one = LimitCurves(9, np.array([2]), np.array([0, 2]), np.array([0.5, -np.inf]), *both)
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


def _grid(curves: LimitCurves, part: Part) -> Floats:
    """Values of one parameter on a logarithmic scale, over the range in which the result changes."""
    unit = np.repeat(curves.units[:, Limit._fields.index(part)], np.diff(curves.start))
    usable = curves.lowest > 0
    if not usable.any():  # no two mentions were compared, so that all limits are equally good
        return np.ones(1)
    values = curves.lowest[usable] / unit[usable]
    return np.geomspace(np.quantile(values, LOWEST_QUANTILE), values.max() * 1.01, GRID)


def _single_grid(part: Part, grid: Floats) -> Grids:
    """Values of one parameter, the others being 0."""
    alpha, beta, kappa = (grid if name == part else ZERO for name in Limit._fields)
    return alpha, beta, kappa


def _thinned(values: Floats) -> Floats:
    return values[:: max(1, (GRID - 1) // (GRID_OF_TWO - 1))]


def _search(curves: LimitCurves, group: Codes, grids: Grids) -> tuple[Limit, float]:
    """The best limit on grids that are refined around it, and its mean F1."""
    for _ in range(REFINEMENTS):
        best, _ = _best(curves, group, grids)
        alphas, betas, kappas = (_around(value, grid) for value, grid in zip(best, grids, strict=True))
        grids = alphas, betas, kappas
    return _best(curves, group, grids)


def _best(curves: LimitCurves, group: Codes, grids: Grids) -> tuple[Limit, float]:
    """The best limit of some grids; the middle one of equally good neighbours, which is furthest from worse ones."""
    parts = np.stack([values.ravel() for values in np.meshgrid(*grids, indexing="ij")], axis=1)
    f1 = mean_f1(curves, group, parts)
    best = _middle_of_longest_run(f1 >= f1.max() - 1e-12)
    return Limit(*parts[best].tolist()), float(f1[best])


def _middle_of_longest_run(mask: NDArray[np.bool_]) -> int:
    """The middle of the longest run of True.

    >>> _middle_of_longest_run(np.array([True, False, True, True, True]))
    3
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    starts, ends = edges[::2], edges[1::2]
    longest = int(np.argmax(ends - starts))
    return int(starts[longest] + ends[longest] - 1) // 2


def _around(value: float, grid: Floats) -> Floats:
    """A finer grid between the neighbours of a value; a 0 is not refined."""
    if value == 0 or len(grid) == 1:
        return np.array([value])
    position = int(np.searchsorted(grid, value))
    low, high = grid[max(position - 1, 0)], grid[min(position + 1, len(grid) - 1)]
    return np.geomspace(low if low > 0 else grid[position], high, REFINED)


def _spread(curves: LimitCurves, group: Codes, part: Part, grid: Floats, found: float) -> tuple[float, float]:
    """The bootstrap interval of the best value of one parameter, widened to include the value that was found."""
    alpha, beta, kappa = (np.broadcast_to(values, grid.shape) for values in _single_grid(part, grid))
    scores = curves.at(np.stack([alpha, beta, kappa], axis=1))
    resamples = Resamples(group)
    f1 = [
        harmonic(resamples.means(precision), resamples.means(recall)).mean(axis=1)
        for precision, recall in zip(scores.precision.T, scores.recall.T, strict=True)
    ]
    replicates = np.stack(f1)
    first, last = np.argmax(replicates, axis=0), len(grid) - 1 - np.argmax(replicates[::-1], axis=0)
    low, high = interval(grid[(first + last) // 2])
    return min(low, found), max(high, found)


@dataclass(frozen=True, eq=False)
class JudgedLimit:
    """A limit with its mean F1 over the true sizes, on the training names and on the test names.

    `gamma` is the weight of the chance correction it belongs to. `by_name` has the B-cubed scores of each test name.
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
    """A weight γ of the chance correction, and F1 on the training names at the best limit with one parameter."""

    gamma: float
    f1: float


@dataclass(frozen=True)
class TuningResult:
    """All limits that were judged, the chosen one, and the settings it belongs to.

    `chances` are the values of γ that were tried; none if the settings have one.
    """

    settings: Settings
    limits: list[JudgedLimit]
    chosen: TunedLimit
    chances: list[TriedChance]


class LimitJudge:
    """The training names that limits are tuned on, and the test names that they are judged on."""

    def __init__(self, names: NameSplit, threads: int) -> None:
        self.training, self.test, self.threads = names.training, names.test, threads
        self.group = size_groups(names.training.true_size)

    def curves(self, settings: Settings) -> LimitCurves:
        """The scores of the training names at every limit."""
        return curves_of(RelativeFrequencies(settings), self.training, self.threads)

    def judge(self, kind: str, limit: Limit, settings: Settings, tuned: TunedLimit | None = None) -> JudgedLimit:
        """A limit with its scores on the test names, if there are any."""
        test, by_name = None, None
        if len(self.test):
            labels = labels_of(RelativeFrequencies(settings), self.test, limit, self.threads)
            by_name = bcubed(compare_labels(self.test, labels)).by_name()
            test = mean_over_sizes(by_name, self.test.true_size)
        spread, f1 = (tuned.spread, tuned.f1) if tuned else (None, None)
        return JudgedLimit(kind, *limit, settings.chance_weight, spread, f1, test, by_name)

    def judge_all(self, tuned: Mapping[Kind, TunedLimit], settings: Settings) -> list[JudgedLimit]:
        """The tuned limits and the paper's."""
        judged = [self.judge(kind, limit.limit, settings, limit) for kind, limit in tuned.items()]
        return [*judged, self.judge("paper", PAPER_LIMIT[settings.variant], settings)]


def tune_like_paper(settings: Settings, names: NameSplit, threads: int) -> TuningResult:
    """Tune α, β and both, and prefer the parameter that the paper tunes."""
    judge = LimitJudge(names, threads)
    curves = judge.curves(settings)
    tuned = tune(curves, judge.group)
    chosen = choose(tuned, PAPER_PART[settings.variant], curves, judge.group)
    return TuningResult(settings, judge.judge_all(tuned, settings), chosen, [])


def tune_limits(settings: Settings, without_labels: Limit | None, names: NameSplit, threads: int) -> TuningResult:
    """Tune κ too, and γ unless the settings have it; also judge the default and the limit found on pseudo-names.

    `without_labels` is the limit found on pseudo-names, if any. It, or else the default, is kept unless the tuned limit
    is clearly better on the training names: a few labelled names choose worse limits than many pseudo-names.
    """
    judge, part = LimitJudge(names, threads), USUAL_PART[settings.variant]
    chances, with_chance, curves = _choose_gamma(settings, part, judge)
    tuned: dict[Kind, TunedLimit] = {"kappa": tune_one("kappa", curves, judge.group), **tune(curves, judge.group)}
    usual = curves if with_chance is settings else judge.curves(settings)
    untuned = _untuned_limits(settings, without_labels, usual, judge.group)
    limits = judge.judge_all(tuned, with_chance)
    limits += [judge.judge(limit.kind, limit.limit, settings, limit) for limit in untuned]
    best = choose(tuned, part, curves, judge.group)
    if untuned:
        gain = f1_by_name(curves, best.limit) - f1_by_name(usual, untuned[-1].limit)
        if not clearly_positive(gain, judge.group):
            return TuningResult(settings, limits, untuned[-1], chances)
    return TuningResult(with_chance, limits, best, chances)


def _untuned_limits(
    settings: Settings, without_labels: Limit | None, curves: LimitCurves, group: Codes
) -> list[TunedLimit]:
    """The default, unless it is the paper's limit, and the limit found on pseudo-names, if any."""
    limits: dict[Kind, Limit] = {}
    if settings.limit != PAPER_LIMIT[settings.variant]:
        limits["default"] = settings.limit
    if without_labels:
        limits["pseudo-names"] = without_labels
    return [
        TunedLimit(kind, limit, float(mean_f1(curves, _numbered(group), np.array([limit]))[0]), None)
        for kind, limit in limits.items()
    ]


def _choose_gamma(settings: Settings, part: Part, judge: LimitJudge) -> tuple[list[TriedChance], Settings, LimitCurves]:
    """The values of γ that were tried, the settings with the chosen one, and their curves.

    A γ of the settings is used as it is; otherwise it is the default, unless another is clearly better.
    """
    if settings.gamma is not None:
        return [], settings, judge.curves(settings)
    curves = {gamma: judge.curves(settings.changed(gamma=gamma)) for gamma in GAMMAS}
    tuned = {gamma: tune_one(part, curves[gamma], judge.group) for gamma in GAMMAS}
    best = max(GAMMAS, key=lambda gamma: tuned[gamma].f1)
    f1 = {gamma: f1_by_name(curves[gamma], tuned[gamma].limit) for gamma in (best, settings.chance_weight)}
    chosen = best if clearly_positive(f1[best] - f1[settings.chance_weight], judge.group) else settings.chance_weight
    with_chance = settings if chosen == settings.chance_weight else settings.changed(gamma=chosen)
    return [TriedChance(gamma, tuned[gamma].f1) for gamma in GAMMAS], with_chance, curves[chosen]
