"""S and n to scores of all ordered pairs of clusters, with what is shared by chance subtracted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.compiling import compiled, inlined
from homonym.clustering.reference import ROUNDING, TIE


class Model(NamedTuple):
    """What the formulas depend on beside S and n; `expected[t]` is the factor of n_t(C) in the chance term."""

    weight: Any
    mass: Any
    expected: Any
    N: Any
    epsilon: Any
    gamma: Any
    use_max: Any
    joint: Any


@inlined
def model_of(
    m, n, weight, mentions_in_collection, epsilon, gamma, use_max, joint, within, block_mass, expected
):  # fmt: skip
    """The model of one block of m mentions, which for `within` is the whole collection."""
    N = float(m) if within else float(mentions_in_collection)
    for t in range(weight.size):
        if within:
            block_mass[t] = n[:m, t].sum()
        expected[t] = 0.0
        if gamma > 0.0 and block_mass[t] > 0.0:
            expected[t] = gamma * weight[t] / block_mass[t]
            if joint:
                expected[t] /= block_mass[t] + N * epsilon
    return Model(weight, block_mass, expected, N, epsilon, gamma, use_max, joint)


@inlined
def weigh(first, last, n, size, weight, mass, N, epsilon, joint, w, smooth):
    """Fill w_t(D) and the smoothing (ε/N)·Σ_t w_t(D) of some clusters."""
    for d in range(first, last):
        smooth[d] = 0.0
        for t in range(weight.size):
            below = mass[t] + N * epsilon if joint else n[d, t] + size[d] * epsilon
            w[d, t] = weight[t] / below
            smooth[d] += w[d, t]
        smooth[d] *= epsilon / N


@compiled
def chance_of(c, n_c, d, n_d, size_d, expected, epsilon, joint):
    """What cluster c would share with d by chance: γ · Σ_t λ_t · n_t(C)/n_t(·), times p_t(D) for the joint score."""
    total = 0.0
    for t in range(expected.size):
        given = n_d[d, t] + size_d[d] * epsilon if joint else 1.0
        total += expected[t] * n_c[c, t] * given
    return total


@compiled
def score_all(
    K, S, n, size, weight, mass, expected, N, epsilon, gamma, use_max, joint,
    w, smooth, chance, scores, row_best, column_best,
):  # fmt: skip
    """Fill the scores of all ordered pairs and the best of every row and column.

    Returns the best of all, and the size of rounding errors: where chance is subtracted, some part of the largest
    number that it is subtracted from, or that is subtracted.
    """
    weigh(0, K, n, size, weight, mass, N, epsilon, joint, w, smooth)
    for d in range(K):
        chance[d] = 0.0 if joint else chance_of(d, n, d, n, size, expected, epsilon, False)
        row_best[d] = -np.inf
        column_best[d] = -np.inf
    largest = 0.0
    for i in range(1, K):
        row = i * (i - 1) // 2
        for j in range(i):
            pairs = 1.0 if use_max else size[i] * size[j]
            i_given_j = pairs * smooth[j] - chance[i]
            j_given_i = pairs * smooth[i] - chance[j]
            for t in range(weight.size):
                s = S[row + j, t]
                i_given_j += w[j, t] * s
                j_given_i += w[i, t] * s
            if joint and gamma > 0.0:
                chance_of_i = chance_of(i, n, j, n, size, expected, epsilon, True)
                chance_of_j = chance_of(j, n, i, n, size, expected, epsilon, True)
                largest = max(largest, max(max(i_given_j, j_given_i), max(chance_of_i, chance_of_j)))
                i_given_j -= chance_of_i
                j_given_i -= chance_of_j
            scores[i, j] = i_given_j
            scores[j, i] = j_given_i
            row_best[i] = max(row_best[i], i_given_j)
            column_best[j] = max(column_best[j], i_given_j)
            row_best[j] = max(row_best[j], j_given_i)
            column_best[i] = max(column_best[i], j_given_i)
    best = -np.inf
    for d in range(K):
        best = max(best, row_best[d])
        largest = max(largest, chance[d] + max(row_best[d], 0.0))
    return best, ROUNDING * largest if gamma > 0.0 else 0.0


@compiled
def exceeds(a, b, rounding):
    """`probability.exceeds`: greater by more than a tie."""
    return a - b > TIE * abs(a) + rounding
