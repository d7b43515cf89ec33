"""Scores of all ordered pairs of clusters, from S and n."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.arrays import Model
from homonym.clustering.compiling import compiled, inlined
from homonym.clustering.reference import ROUNDING, TIE


class Sums(NamedTuple):
    """n_t(C), |C|, w_t(C) and the smoothing (ε/N)·Σ_t w_t(C) of each cluster, or of each mention."""

    n: Any
    size: Any
    w: Any
    smooth: Any


class PairScores(NamedTuple):
    """score(C,D) at `pair[C, D]`, the best of each row and column, and the chance term of each row (0 if joint)."""

    pair: Any
    row_best: Any
    column_best: Any
    chance: Any


@inlined
def block_model(m, n, model):
    """The model of one block of m mentions, which is its own collection if `within`.

    Overwrites `model.mass` and `model.expected`.
    """
    N = float(m) if model.within else model.N
    for t in range(model.weight.size):
        if model.within:
            model.mass[t] = n[:m, t].sum()
        model.expected[t] = 0.0
        if model.gamma > 0.0 and model.mass[t] > 0.0:
            model.expected[t] = model.gamma * model.weight[t] / model.mass[t]
            if model.joint:
                model.expected[t] /= model.mass[t] + N * model.epsilon
    return Model(
        model.weight, model.mass, model.expected, N, model.epsilon,
        model.gamma, model.use_max, model.joint, model.within,
    )  # fmt: skip


@inlined
def fill_weights(first, last, sums, model):
    """Fill w_t(D) and the smoothing of some clusters."""
    epsilon = model.epsilon
    for d in range(first, last):
        sums.smooth[d] = 0.0
        for t in range(model.weight.size):
            below = model.mass[t] + model.N * epsilon if model.joint else sums.n[d, t] + sums.size[d] * epsilon
            sums.w[d, t] = model.weight[t] / below
            sums.smooth[d] += sums.w[d, t]
        sums.smooth[d] *= epsilon / model.N


@compiled
def chance_of(c, n_c, d, n_d, size_d, expected, epsilon, joint):
    """The chance term of score(C,D): γ · Σ_t λ_t · n_t(C)/n_t(·), times p_t(D) for the joint score."""
    total = 0.0
    for t in range(expected.size):
        given = n_d[d, t] + size_d[d] * epsilon if joint else 1.0
        total += expected[t] * n_c[c, t] * given
    return total


@compiled
def score_all(K, S, sums, model, scores):
    """Fill the scores of all ordered pairs of K clusters, and the best score of each row and column.

    Returns the best score of all and the size of rounding errors: 0 without chance correction, else a fixed share of
    the largest term of the subtraction.
    """
    n, size, smooth, w = sums.n, sums.size, sums.smooth, sums.w
    pair, row_best, column_best, chance = scores.pair, scores.row_best, scores.column_best, scores.chance
    fill_weights(0, K, sums, model)
    for d in range(K):
        chance[d] = 0.0
        if not model.joint:
            chance[d] = chance_of(d, n, d, n, size, model.expected, model.epsilon, False)
        row_best[d] = -np.inf
        column_best[d] = -np.inf
    largest = 0.0
    for i in range(1, K):
        row = i * (i - 1) // 2
        for j in range(i):
            pairs = 1.0 if model.use_max else size[i] * size[j]
            i_given_j = pairs * smooth[j] - chance[i]
            j_given_i = pairs * smooth[i] - chance[j]
            for t in range(model.weight.size):
                s = S[row + j, t]
                i_given_j += w[j, t] * s
                j_given_i += w[i, t] * s
            if model.joint and model.gamma > 0.0:
                chance_of_i = chance_of(i, n, j, n, size, model.expected, model.epsilon, True)
                chance_of_j = chance_of(j, n, i, n, size, model.expected, model.epsilon, True)
                largest = max(largest, max(max(i_given_j, j_given_i), max(chance_of_i, chance_of_j)))
                i_given_j -= chance_of_i
                j_given_i -= chance_of_j
            pair[i, j] = i_given_j
            pair[j, i] = j_given_i
            row_best[i] = max(row_best[i], i_given_j)
            column_best[j] = max(column_best[j], i_given_j)
            row_best[j] = max(row_best[j], j_given_i)
            column_best[i] = max(column_best[i], j_given_i)
    best = -np.inf
    for d in range(K):
        best = max(best, row_best[d])
        largest = max(largest, chance[d] + max(row_best[d], 0.0))
    return best, ROUNDING * largest if model.gamma > 0.0 else 0.0


@compiled
def exceeds(a, b, rounding):
    """Whether a is greater than b by more than a tie; `reference.exceeds`, compiled."""
    return a - b > TIE * abs(a) + rounding
