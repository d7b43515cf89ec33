"""The scores of all pairs of clusters of one block, given S and n, and the best ones of each cluster.

Scores are kept from round to round: a merge changes only those of the new cluster.

Loops over clusters check that their numbers are not negative, though none is, and positions of pairs have no sign:
then numba need not check for each access to an array whether the index counts from the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.arrays import Floats, Model
from homonym.clustering.compiling import compiled, inlined, internal
from homonym.clustering.reference import ROUNDING, TIE


class Sums(NamedTuple):
    """n_t(C), |C|, w_t(C) and the smoothing (ε/N)·Σ_t w_t(C) of each cluster, or of each mention.

    `chance` is the chance term of the row of C (0 if joint), `level` its chance level and `reach` the weight of the
    chance limit by its size; the last two are filled if there is a chance limit.
    """

    n: Any
    size: Any
    w: Any
    smooth: Any
    chance: Any
    level: Any
    reach: Any


def new_sums(places: int, types: int) -> Sums:
    """Allocate the sums of some clusters."""
    return Sums(
        np.empty((places, types)), np.empty(places), np.empty((places, types)), np.empty(places),
        np.zeros(places), np.zeros(places), np.zeros(places),
    )  # fmt: skip


class HighestValues(NamedTuple):
    """The highest value of each cluster, and with which other cluster; all its other values are at most `second`.

    `other` is −1 if that cluster has changed: then the highest value is not known, and `value` is a bound.
    """

    value: Any
    other: Any
    second: Any


class PairScores(NamedTuple):
    """score(C,D) at `row[C, D]` and at `column[D, C]`: both are read along rows, which is faster.

    `peak` is the largest term of a subtraction in row C, which says how large rounding errors are.
    """

    row: Any
    column: Any
    row_best: Any
    column_best: Any
    peak: Any


def _new_highest(places: int) -> HighestValues:
    return HighestValues(np.empty(places), np.empty(places, np.int64), np.empty(places))


def new_scores(row: Floats, column: Floats) -> PairScores:
    """Allocate what the scores of some clusters need, given the memory of their pairs."""
    return PairScores(row, column, *(_new_highest(len(row)) for _ in range(3)))


class Names(NamedTuple):
    """The full name of each cluster, or of each mention, and its factor.

    The name is −1 if no mention of the cluster has one, −2 if its mentions have several.
    """

    name: Any
    factor: Any


@internal
def copy_rows(rows, source, target):
    """Copy the first rows of a table."""
    for k in range(rows):
        for t in range(source.shape[1]):
            target[k, t] = source[k, t]


@internal
def name_factor(name_c, name_d, factor_c):
    """The factor of the full name that two clusters share, 1 if they share none."""
    return factor_c if name_c >= 0 and name_c == name_d else 1.0


@internal
def combined_name(a, b):
    """The name of a cluster that consists of clusters with the names a and b."""
    if a == -1 or a == b:
        return b
    return a if b == -1 else -2


@internal
def add_name(to, name, factor, names):
    """Combine the name of a cluster with that of another cluster that it absorbs."""
    if names.name[to] == -1:
        names.factor[to] = factor
    names.name[to] = combined_name(names.name[to], name)


@compiled
def combine_names(K, label, name, factor):
    """The names of K clusters from those of their mentions."""
    names = Names(np.full(K, -1, np.int32), np.ones(K))
    for x in range(name.size):
        add_name(label[x], name[x], factor[x], names)
    return names


@inlined
def block_model(m, mentions, n, model):
    """The model of one block, which is its own collection if `within`, given n of its m mentions, or clusters of them.

    Overwrites `model.mass` and `model.expected`.
    """
    N = float(mentions) if model.within else model.N
    for t in range(model.weight.size):
        if model.within:
            model.mass[t] = 0.0
            for x in range(m):
                model.mass[t] += n[x, t]
        model.expected[t] = 0.0
        if model.gamma > 0.0 and model.mass[t] > 0.0:
            model.expected[t] = model.gamma * model.weight[t] / model.mass[t]
            if model.joint:
                model.expected[t] /= model.mass[t] + N * model.epsilon
    return Model(
        model.weight, model.mass, model.expected, N, float(mentions), model.epsilon,
        model.gamma, model.chance_limit, model.use_max, model.joint, model.within,
    )  # fmt: skip


@inlined
def fill_weights(first, last, sums, model):
    """Fill w_t(D), the smoothing, the chance term and the weight of the chance limit of some clusters."""
    epsilon = model.epsilon
    for d in range(first, last):
        sums.smooth[d] = 0.0
        for t in range(model.weight.size):
            below = model.mass[t] + model.N * epsilon if model.joint else sums.n[d, t] + sums.size[d] * epsilon
            sums.w[d, t] = model.weight[t] / below
            sums.smooth[d] += sums.w[d, t]
        sums.smooth[d] *= epsilon / model.N
        if not model.joint:
            sums.chance[d] = chance_of(d, sums.n, d, sums.n, sums.size, model.expected, epsilon, model.joint)
        if model.chance_limit > 0.0:
            sums.reach[d] = limit_weight(sums.size[d], model.X)


@internal
def chance_of(c, n_c, d, n_d, size_d, expected, epsilon, joint):
    """The chance term of score(C,D): γ · Σ_t λ_t · n_t(C)/n_t(·), times p_t(D) for the joint score."""
    total = 0.0
    for t in range(expected.size):
        given = n_d[d, t] + size_d[d] * epsilon if joint else 1.0
        total += expected[t] * n_c[c, t] * given
    return total


@internal
def limit_weight(larger, mentions):
    """The weight of the chance limit, by the size of the larger one of two clusters; `reference.limit_weight`."""
    return np.sqrt((mentions - larger) / larger)


@internal
def exceeds_chance_limit(score, chance_c, required):
    """Whether score(C,D), which has been multiplied by the factor of a name, as has its chance term, may be joined.

    `required` is the chance limit with the weight of the sizes of both clusters. Rounding errors are as large as the
    terms of this score allow: `reference.exceeds_chance_limit`.
    """
    return score > 0.0 and exceeds(score, required, ROUNDING * (score + chance_c))


@internal
def exceeds(a, b, rounding):
    """Whether a is greater than b by more than a tie; `reference.exceeds`, compiled."""
    return a - b > TIE * abs(a) + rounding


@internal
def triangle_index(i, j):
    """The position of the pair of i and j in a triangle."""
    return max(i, j) * (max(i, j) - 1) // 2 + min(i, j)


@inlined
def _raise_best(c, d, value, best, other, second):
    """Take a new value of c with d into account."""
    if value >= best[c]:
        if other[c] >= 0:
            second[c] = best[c]
        best[c] = value
        other[c] = d
    elif value > second[c]:
        second[c] = value


@internal
def _forget(alive, changed, bests):
    """Forget all values of changed clusters, and those of other clusters with them."""
    best, other, second = bests
    for c in alive:
        if changed[c]:
            best[c] = second[c] = -np.inf
            other[c] = -1
        elif other[c] >= 0 and changed[other[c]]:
            best[c] = second[c]
            other[c] = -1


@compiled
def score_changed(alive, changed, S, sums, model, names, named, linked, scores):
    """Score all pairs with a changed cluster, and compare the scores with the best ones of the other cluster."""
    # Outside of the loops, because each access to an array of a tuple counts references.
    n, size, w, smooth, chance, level, reach = sums
    name, factor, row, column = names.name, names.factor, scores.row, scores.column
    row_best, row_other, row_second = scores.row_best
    column_best, column_other, column_second = scores.column_best
    peak, peak_other, peak_second = scores.peak
    expected, epsilon, gamma, gamma_2, joint = (
        model.expected,
        model.epsilon,
        model.gamma,
        model.chance_limit,
        model.joint,
    )
    constrained, use_max, types = linked.size > 0, model.use_max, S.shape[1]
    pairs, f, chance_c, chance_d = 1.0, 1.0, 0.0, 0.0
    for c in alive:
        if c < 0 or not changed[c]:
            continue
        size_c, smooth_c, w_c, level_c, reach_c = size[c], smooth[c], w[c], level[c], reach[c]
        before_c, row_c, column_c = c * (c - 1) // 2, row[c], column[c]
        for d in alive:
            if d < 0 or d == c or (changed[d] and d > c):
                continue
            at = np.uint64(before_c + d if d < c else d * (d - 1) // 2 + c)
            if not use_max:
                pairs = size_c * size[d]
            c_given_d, d_given_c = pairs * smooth[d], pairs * smooth_c
            for t in range(types):
                s = S[at, t]
                c_given_d += w[d, t] * s
                d_given_c += w_c[t] * s
            if named:
                f = name_factor(name[c], name[d], factor[c])
            if gamma > 0.0:
                chance_c, chance_d = chance[c], chance[d]
                if joint:
                    chance_c = chance_of(c, n, d, n, size, expected, epsilon, joint)
                    chance_d = chance_of(d, n, c, n, size, expected, epsilon, joint)
                # A factor below 1 does not make rounding errors smaller: see `reference.score_matrix`.
                peak_c, peak_d = max(f, 1.0) * max(c_given_d, chance_c), max(f, 1.0) * max(d_given_c, chance_d)
                if peak_c > peak_second[c]:
                    _raise_best(c, d, peak_c, peak, peak_other, peak_second)
                if peak_d > peak_second[d]:
                    _raise_best(d, c, peak_d, peak, peak_other, peak_second)
                c_given_d -= chance_c
                d_given_c -= chance_d
            c_given_d *= f
            d_given_c *= f
            if gamma_2 > 0.0:
                weight = gamma_2 * min(reach_c, reach[d])
                if not exceeds_chance_limit(c_given_d, f * chance_c, weight * level_c):
                    c_given_d = -np.inf
                if not exceeds_chance_limit(d_given_c, f * chance_d, weight * level[d]):
                    d_given_c = -np.inf
            if constrained and linked[at]:
                c_given_d = d_given_c = -np.inf
            row_c[d] = column[d, c] = c_given_d
            column_c[d] = row[d, c] = d_given_c
            if not changed[d]:
                if d_given_c > row_second[d]:
                    _raise_best(d, c, d_given_c, row_best, row_other, row_second)
                if c_given_d > column_second[d]:
                    _raise_best(d, c, c_given_d, column_best, column_other, column_second)


@internal
def _find_bests(alive, score, bests):
    """Find the best values that are not known."""
    best, other, second = bests
    for c in alive:
        if c < 0 or other[c] >= 0:
            continue
        highest, runner_up, found, row = -np.inf, -np.inf, c, score[c]
        for d in alive:
            if d < 0 or d == c:
                continue
            value = row[d]
            if value > highest:
                highest, runner_up, found = value, highest, d
            elif value > runner_up:
                runner_up = value
        best[c], other[c], second[c] = highest, found, runner_up


@internal
def _largest_term(alive, S, sums, model, names, named, peak):
    """The largest term of all subtractions. Bounds are replaced by values only where they are the highest."""
    while True:
        c = alive[0]
        for d in alive:
            if peak.value[d] > peak.value[c]:
                c = d
        if peak.other[c] >= 0:
            return peak.value[c]
        peak.value[c] = peak.second[c] = -np.inf
        for d in alive:
            if d == c:
                continue
            likeness = sums.smooth[d] * (1.0 if model.use_max else sums.size[c] * sums.size[d])
            for t in range(S.shape[1]):
                likeness += sums.w[d, t] * S[triangle_index(c, d), t]
            chance = sums.chance[c]
            if model.joint:
                chance = chance_of(c, sums.n, d, sums.n, sums.size, model.expected, model.epsilon, model.joint)
            f = name_factor(names.name[c], names.name[d], names.factor[c]) if named else 1.0
            _raise_best(c, d, max(f, 1.0) * max(likeness, chance), peak.value, peak.other, peak.second)


@inlined
def score_clusters(alive, changed, S, sums, model, names, named, linked, scores):
    """Bring the scores of the clusters that are `alive` up to date after some have `changed`.

    Scores of pairs that must not be joined are −∞: cannot-links, a triangle or empty, and pairs below the chance limit.
    Returns the best score and the size of rounding errors: 0 without chance correction, else a fixed share of the
    largest term of a subtraction.
    """
    _forget(alive, changed, scores.row_best)
    _forget(alive, changed, scores.column_best)
    if model.gamma > 0.0:
        _forget(alive, changed, scores.peak)
    for c in alive:
        if changed[c]:
            fill_weights(c, c + 1, sums, model)
    score_changed(alive, changed, S, sums, model, names, named, linked, scores)
    _find_bests(alive, scores.row, scores.row_best)
    _find_bests(alive, scores.column, scores.column_best)
    best, rounding = -np.inf, 0.0
    for c in alive:
        best = max(best, scores.row_best.value[c])
    if model.gamma > 0.0:
        rounding = ROUNDING * _largest_term(alive, S, sums, model, names, named, scores.peak)
    return best, rounding
