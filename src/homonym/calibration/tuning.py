"""The limit α + |X|·β that does best on names whose authors are known.

What is maximised is B-cubed F1 averaged over the true sizes, F1 being that of the mean precision and recall of the
names of a size: as in the paper, so that the many easy names do not decide alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from homonym.clustering.merging import Floats
from homonym.evaluation.bootstrap import Resamples, interval
from homonym.evaluation.contingency import Codes
from homonym.evaluation.curves import Curves
from homonym.evaluation.scores import harmonic

Kind = Literal["alpha", "beta", "both"]

#: Limits tried first: so many for one parameter, about as close as those of a sweep, and so many for each of two.
GRID, GRID_OF_TWO = 241, 41
#: Then so many between the neighbours of the best, this often.
REFINED, REFINEMENTS = 9, 2
#: Scores below this quantile of all that a sweep saw are no sensible limit: hardly anything would ever be refused.
LOWEST_QUANTILE = 0.01


@dataclass(frozen=True)
class TunedLimit:
    """A limit, how well it does on the training names, and how far it would move with other names.

    `spread` holds the central 95 % of the one parameter that is not 0, over resamples of the training names; of two
    parameters that trade off against each other there is none.
    """

    kind: Kind
    alpha: float
    beta: float
    f1: float
    spread: tuple[float, float] | None


def tune(curves: Curves, group: Codes) -> dict[Kind, TunedLimit]:
    """Find the best limit with α alone, with β alone and with both; `group` is the true size of each name."""
    group = np.unique(group, return_inverse=True)[1]
    alphas, betas = (_grid(values) for values in _ranges(curves))
    nothing = np.zeros(1)
    alpha = _tuned("alpha", curves, group, alphas, nothing)
    beta = _tuned("beta", curves, group, nothing, betas)
    two = _tuned("both", curves, group, *(np.append(0.0, _thinned(values)) for values in (alphas, betas)))
    # The grid of two is coarser than that of one, and one of two may well be 0.
    both = max(two, beta, alpha, key=lambda limit: limit.f1)
    return {"alpha": alpha, "beta": beta, "both": replace(both, kind="both", spread=None)}


#: What the paper tunes: β for sums of products, α for maxima of products.
PREFERRED: Mapping[str, Kind] = {"prob": "beta", "max": "alpha"}
#: Another limit must be better by so many standard errors, name by name, to be taken instead.
CLEARLY = 2.0


def choose(found: Mapping[Kind, TunedLimit], variant: str, curves: Curves, group: Codes) -> TunedLimit:
    """Take the limit with the one parameter that the paper tunes, unless another is clearly better.

    Compared is the F1 of each name, every true size counting the same. A standard error from names drawn again would be
    0 where each size has one name, as if that were certain.
    """
    preferred = found[PREFERRED[variant]]
    best = max(found.values(), key=lambda limit: limit.f1)
    limits = (best, preferred)
    scores = curves.at(np.array([limit.alpha for limit in limits]), np.array([limit.beta for limit in limits]))
    better = harmonic(scores.precision, scores.recall) @ np.array([1.0, -1.0])
    _, size, names = np.unique(group, return_inverse=True, return_counts=True)
    share = 1 / (len(names) * names[size])
    mean = share @ better
    error = np.sqrt(share**2 @ (better - mean) ** 2)
    return best if len(better) > 1 and mean > CLEARLY * error else preferred


def mean_f1(curves: Curves, group: Codes, alpha: Floats, beta: Floats) -> Floats:
    """F1 averaged over the groups of names, at each of some limits.

    >>> both = np.array([1.0, 0.5]), np.array([0.5, 1.0])
    >>> one = Curves(np.array([2]), np.array([0, 2]), np.array([0.5, -np.inf]), *both)
    >>> mean_f1(one, np.array([0]), np.array([0.7, 0.0]), np.zeros(2)).round(3)
    array([0.667, 0.667])
    """
    names = np.bincount(group).astype(np.float64)
    precision, recall = np.zeros((len(names), len(alpha))), np.zeros((len(names), len(alpha)))
    for name in range(len(curves)):
        steps = curves.steps_at(name, alpha + curves.mentions[name] * beta)
        precision[group[name]] += curves.precision[steps]
        recall[group[name]] += curves.recall[steps]
    means: Floats = harmonic(precision / names[:, None], recall / names[:, None]).mean(axis=0)
    return means


def _ranges(curves: Curves) -> tuple[Floats, Floats]:
    """The scores at which anything changes, as values of α and of β."""
    steps = np.repeat(curves.mentions, np.diff(curves.start)).astype(np.float64)
    usable = curves.lowest > 0
    return curves.lowest[usable], curves.lowest[usable] / steps[usable]


def _grid(values: Floats) -> Floats:
    """Values on a logarithmic scale over all that make a difference."""
    if not len(values):  # no two mentions were ever compared: any limit is as good as another
        return np.ones(1)
    return np.geomspace(np.quantile(values, LOWEST_QUANTILE), values.max() * 1.01, GRID)


def _thinned(values: Floats) -> Floats:
    return values[:: max(1, (GRID - 1) // (GRID_OF_TWO - 1))]


def _tuned(kind: Kind, curves: Curves, group: Codes, alphas: Floats, betas: Floats) -> TunedLimit:
    grids = alphas, betas
    for _ in range(REFINEMENTS):
        alpha, beta, _ = _best(curves, group, alphas, betas)
        alphas, betas = _around(alpha, alphas), _around(beta, betas)
    alpha, beta, f1 = _best(curves, group, alphas, betas)
    spread = _spread(curves, group, *grids, max(alpha, beta)) if kind != "both" else None
    return TunedLimit(kind, alpha, beta, f1, spread)


def _best(curves: Curves, group: Codes, alphas: Floats, betas: Floats) -> tuple[float, float, float]:
    """The best pair of the two grids; of equals in a row the middle one, which is furthest from doing worse."""
    alpha, beta = (grid.ravel() for grid in np.meshgrid(alphas, betas, indexing="ij"))
    value = mean_f1(curves, group, alpha, beta)
    best = _middle(value >= value.max() - 1e-12)
    return float(alpha[best]), float(beta[best]), float(value[best])


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


def _spread(curves: Curves, group: Codes, alphas: Floats, betas: Floats, found: float) -> tuple[float, float]:
    """Where the best value of the one free parameter lies if the names are drawn again; what was found lies within."""
    grid = alphas if len(alphas) > 1 else betas
    alpha, beta = (np.broadcast_to(values, grid.shape) for values in (alphas, betas))
    scores = curves.at(alpha, beta)
    resamples = Resamples(group)
    values = [
        harmonic(resamples.means(precision), resamples.means(recall)).mean(axis=1)
        for precision, recall in zip(scores.precision.T, scores.recall.T, strict=True)
    ]
    drawn = np.stack(values)
    first, last = np.argmax(drawn, axis=0), len(grid) - 1 - np.argmax(drawn[::-1], axis=0)
    low, high = interval(grid[(first + last) // 2])
    return min(low, found), max(high, found)
