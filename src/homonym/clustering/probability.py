"""The paper's formulas, dense and literal: slow on purpose, the reference that the kernel is compared with.

Notation, per feature type: `counts[x, f]` is #(f, x), `totals[f]` is #(f), `N` the number of mentions that the totals
were counted over, `mass` n(·), the sum of all totals. A cluster is a list of mention indices. Nothing here is
precomputed or updated: every score of every round is evaluated from the mentions again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Cluster = list[int]

#: Scores closer than this, relatively, are ties. Sums of the same numbers in another order differ by some 1e-15,
#: which must not decide who is merged; real differences are far larger.
TIE = 1e-9


@dataclass(frozen=True)
class FeatureType:
    """One feature type of one block: its bags, the collection's frequencies, and its weight λ."""

    counts: Matrix
    totals: NDArray[np.float64]
    mass: float
    weight: float


@dataclass(frozen=True)
class Model:
    """The choices of a run that the formulas depend on."""

    N: int
    epsilon: float
    limit: float
    use_max: bool = False
    joint: bool = False


@dataclass(frozen=True)
class Round:
    """What one round did: the clusters after it, the scores it merged at, whether the method itself did it."""

    clusters: list[Cluster]
    scores: list[float]
    before_convergence: bool


def p_mention(counts: Matrix, totals: NDArray[np.float64], N: int, epsilon: float) -> Matrix:
    """p(x|ẋ) = ( Σ_f #(f,x)·#(f,ẋ)/#(f) + ε/N ) / ( #(ẋ) + ε ), for all pairs [x, ẋ] of mentions.

    >>> p_mention(np.array([[1.0, 1.0], [0.0, 2.0]]), np.array([1.0, 4.0]), N=2, epsilon=1e-4).round(3)
    array([[0.625, 0.25 ],
           [0.25 , 0.5  ]])
    """
    size = len(counts)
    p = np.empty((size, size))
    for x, y in product(range(size), repeat=2):
        shared = sum(counts[x, f] * counts[y, f] / totals[f] for f in range(len(totals)) if totals[f] > 0)
        p[x, y] = (shared + epsilon / N) / (counts[y].sum() + epsilon)
    return p


def p_cluster(p: Matrix, counts: Matrix, C: Cluster, D: Cluster, epsilon: float, *, use_max: bool) -> float:
    """p(C|D) = Σ_{x∈C,y∈D} p(x|y) · ( #(y) + ε ) / ( #(D) + |D|·ε ); the maximum instead of the sum for `max`."""
    mass = sum(counts[y].sum() for y in D)
    terms = [p[x, y] * (counts[y].sum() + epsilon) / (mass + len(D) * epsilon) for x, y in product(C, D)]
    return float(max(terms) if use_max else sum(terms))


def p_prior(counts: Matrix, D: Cluster, N: int, mass: float, epsilon: float) -> float:
    """p(D) = Σ_{y∈D} ( #(y) + ε ) / ( #(·) + N·ε )."""
    return float(sum((counts[y].sum() + epsilon) / (mass + N * epsilon) for y in D))


def score(types: list[FeatureType], ps: list[Matrix], C: Cluster, D: Cluster, model: Model) -> float:
    """score(C,D) = Σ_t λ_t · p_t(C|D), times p_t(D) where the joint probability is asked for."""
    total = 0.0
    for t, p in zip(types, ps, strict=True):
        value = p_cluster(p, t.counts, C, D, model.epsilon, use_max=model.use_max)
        if model.joint:
            value *= p_prior(t.counts, D, model.N, t.mass, model.epsilon)
        total += t.weight * value
    return total


def exceeds(a: float, b: float) -> bool:
    """Whether a is greater than b by more than a tie.

    >>> exceeds(1.0, 1.0 - 1e-15), exceeds(1.0, 0.999)
    (False, True)
    """
    return a - b > TIE * abs(a)


def selected(scores: Matrix, limit: float) -> list[tuple[int, int]]:
    """All pairs (C, D), C≠D, that no other pair of their row or column exceeds and that exceed the limit."""
    pairs = [(c, d) for c, d in product(range(len(scores)), repeat=2) if c != d]
    return [
        (c, d)
        for c, d in pairs
        if exceeds(scores[c, d], limit)
        and not any(exceeds(scores[c, other], scores[c, d]) for other in range(len(scores)) if other != c)
        and not any(exceeds(scores[other, d], scores[c, d]) for other in range(len(scores)) if other != d)
    ]


def merge(clusters: list[Cluster], pairs: list[tuple[int, int]]) -> list[Cluster]:
    """Join the clusters of all pairs, transitively; the result is ordered by smallest mention."""
    group = list(range(len(clusters)))
    for c, d in pairs:
        old, new = group[c], group[d]
        group = [new if g == old else g for g in group]
    joined = [
        sorted(x for i, cluster in enumerate(clusters) if group[i] == g for x in cluster) for g in sorted(set(group))
    ]
    return sorted(joined)


def rounds(types: list[FeatureType], model: Model) -> Iterator[Round]:
    """The whole process from singletons to one cluster, with every round before and after convergence.

    In a round in which no pair exceeds the limit the process has converged; from then on it is hypothetical, and in
    such rounds every maximum of its row and column is merged regardless.
    """
    clusters: list[Cluster] = [[x] for x in range(len(types[0].counts))] if types else []
    ps = [p_mention(t.counts, t.totals, model.N, model.epsilon) for t in types]
    converged = False
    while len(clusters) > 1:
        scores = np.full((len(clusters), len(clusters)), -np.inf)
        for c, d in product(range(len(clusters)), repeat=2):
            if c != d:
                scores[c, d] = score(types, ps, clusters[c], clusters[d], model)
        pairs = selected(scores, model.limit)
        if not pairs:
            converged = True
            pairs = selected(scores, -np.inf)
        clusters = merge(clusters, pairs)
        yield Round(clusters, [float(scores[pair]) for pair in pairs], not converged)


def authors(types: list[FeatureType], model: Model) -> list[Cluster]:
    """The clusters at convergence: the method's answer."""
    answer: list[Cluster] = [[x] for x in range(len(types[0].counts))] if types else []
    for step in rounds(types, model):
        if not step.before_convergence:
            break
        answer = step.clusters
    return answer
