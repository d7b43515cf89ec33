"""The paper's formulas, written literally: slow, the reference that tests compare the compiled kernels with.

Notation, per feature type: `counts[x, f]` is #(f, x), `totals[f]` is #(f), `N` the number of mentions that the totals
were counted over, `mass` n(·), the sum of all totals. A cluster is a list of mention indices. Nothing is precomputed
or updated: every score of every round is computed from the mentions again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Cluster = list[int]

#: Scores closer than this, relatively, are ties. Sums of the same numbers in another order differ by about 1e-15, which
#: must not decide about merges; real differences are far larger.
TIE = 1e-9

#: With chance correction, differences up to this share of the largest term of a subtraction are ties, too: the result
#: may be close to 0, and is no more precise than that.
ROUNDING = 1e-12


@dataclass(frozen=True)
class FeatureType:
    """One feature type of one block: its bags, the collection's frequencies, and its weight λ."""

    counts: Matrix
    totals: NDArray[np.float64]
    mass: float
    weight: float


@dataclass(frozen=True)
class ReferenceNames:
    """The full name of each mention of one block, None without one, and the factor of each name."""

    name: list[int | None]
    factor: dict[int, float]


@dataclass(frozen=True)
class ReferenceModel:
    """The parameters of the formulas, the limit and the chance limit (`chance_limit` is γ₂), and full names."""

    N: int
    epsilon: float
    limit: float
    use_max: bool = False
    joint: bool = False
    gamma: float = 0.0
    chance_limit: float = 0.0
    names: ReferenceNames | None = None


@dataclass(frozen=True)
class ReferenceConstraints:
    """Constraints of one block: each of the must-link `groups` is one cluster from the start, singletons included.

    The pairs of mentions in `cannot_link`, in either order, are never joined.
    """

    groups: list[Cluster]
    cannot_link: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Round:
    """The clusters after a round, the scores of its merges, and whether it is before convergence."""

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


def likeness(types: list[FeatureType], ps: list[Matrix], C: Cluster, D: Cluster, model: ReferenceModel) -> float:
    """Σ_t λ_t · p_t(C|D), each term times p_t(D) for the joint probability."""
    total = 0.0
    for t, p in zip(types, ps, strict=True):
        value = p_cluster(p, t.counts, C, D, model.epsilon, use_max=model.use_max)
        if model.joint:
            value *= p_prior(t.counts, D, model.N, t.mass, model.epsilon)
        total += t.weight * value
    return total


def chance(types: list[FeatureType], C: Cluster, D: Cluster, model: ReferenceModel) -> float:
    """γ · Σ_t λ_t · n_t(C)/n_t(·), times p_t(D) for the joint probability; nothing for a type without occurrences."""
    total = 0.0
    for t in types:
        if t.mass > 0:
            value = model.gamma * sum(t.counts[x].sum() for x in C) / t.mass
            if model.joint:
                value *= p_prior(t.counts, D, model.N, t.mass, model.epsilon)
            total += t.weight * value
    return float(total)


def name_factor(C: Cluster, D: Cluster, names: ReferenceNames | None) -> float:
    """The factor of the full name that C and D share, 1 if they share none.

    The name of a cluster is the one that all its mentions with a name have; a cluster with several names has none.

    >>> names = ReferenceNames([7, None, 7, 8], {7: 2.0, 8: 4.0})
    >>> name_factor([0, 1], [2], names), name_factor([0], [1], names), name_factor([0, 3], [2], names)
    (2.0, 1.0, 1.0)
    """
    if names is None:
        return 1.0
    of_C, of_D = ({name for x in cluster if (name := names.name[x]) is not None} for cluster in (C, D))
    return names.factor[of_C.pop()] if of_C == of_D and len(of_C) == 1 else 1.0


def score(types: list[FeatureType], ps: list[Matrix], C: Cluster, D: Cluster, model: ReferenceModel) -> float:
    """score(C,D) = Σ_t λ_t · ( p_t(C|D) − γ · n_t(C)/n_t(·) ), times the factor of a name that C and D share.

    The bracket is multiplied by p_t(D) for the joint probability.
    """
    factor = name_factor(C, D, model.names)
    return factor * (likeness(types, ps, C, D, model) - chance(types, C, D, model))


def limit_weight(larger: float, mentions: float) -> float:
    """The weight √((|X| − b)/b) of the chance limit, where b is the size of the larger one of two clusters.

    >>> limit_weight(1, mentions=10), limit_weight(5, mentions=10)
    (3.0, 1.0)
    """
    return math.sqrt((mentions - larger) / larger)


def chance_level(types: list[FeatureType], C: Cluster) -> float:
    """Σ_t λ_t · Σ_{x∈C} o_t(x) / O_t: what C shares with a mention of another block by chance.

    O_t = n_t(·) − n_t(X) is the mass outside of the block X. Of the mass n_t(x) of x, Σ_{y∈X} S_t(x,y) is shared with
    the block itself, where S_t(x,y) = Σ_f #(f,x)·#(f,y)/#(f), and the rest o_t(x), at least 0, with mentions outside.
    A type without mass outside has none.
    """
    total = 0.0
    for t in types:
        outside = t.mass - t.counts.sum()
        if outside > TIE * t.mass:
            for x in C:
                known = [f for f in range(len(t.totals)) if t.totals[f] > 0]
                inside = sum(t.counts[x, f] * y[f] / t.totals[f] for y in t.counts for f in known)
                total += t.weight * max(0.0, t.counts[x].sum() - inside) / outside
    return float(total)


def chance_limit(types: list[FeatureType], C: Cluster, D: Cluster, model: ReferenceModel) -> float:
    """γ₂ times the chance level of C, times the weight of the sizes."""
    weight = limit_weight(max(len(C), len(D)), len(types[0].counts))
    return model.chance_limit * chance_level(types, C) * weight


def exceeds(a: float, b: float, rounding: float = 0.0) -> bool:
    """Whether a is greater than b by more than a tie.

    >>> exceeds(1.0, 1.0 - 1e-15), exceeds(1.0, 0.999), exceeds(1e-15, 0.0), exceeds(1e-15, 0.0, rounding=1e-12)
    (False, True, True, False)
    """
    return a - b > TIE * abs(a) + rounding


def exceeds_chance_limit(
    types: list[FeatureType], ps: list[Matrix], C: Cluster, D: Cluster, model: ReferenceModel
) -> bool:
    """Whether score(C,D) exceeds the chance limit, if there is one.

    Rounding errors are as large as the terms of this score allow. Those of other pairs do not matter, so the answer
    depends on C and D only.
    """
    if model.chance_limit == 0:
        return True
    largest = max(likeness(types, ps, C, D, model), chance(types, C, D, model))
    rounding = ROUNDING * largest * name_factor(C, D, model.names)
    return exceeds(score(types, ps, C, D, model), chance_limit(types, C, D, model), rounding)


def cannot_be_linked(C: Cluster, D: Cluster, constraints: ReferenceConstraints) -> bool:
    """Whether a cannot-link pair has one mention in C and the other in D."""
    return any((x, y) in constraints.cannot_link or (y, x) in constraints.cannot_link for x, y in product(C, D))


def selected(scores: Matrix, limit: float, rounding: float = 0.0) -> list[tuple[int, int]]:
    """All allowed pairs (C, D) that no other pair of their row or column exceeds and that exceed the limit.

    Pairs that are not allowed, including C = D, have the score −∞.
    """
    return [
        (c, d)
        for c, d in product(range(len(scores)), repeat=2)
        if scores[c, d] > -np.inf
        and exceeds(scores[c, d], limit, rounding)
        and not any(exceeds(scores[c, other], scores[c, d], rounding) for other in range(len(scores)))
        and not any(exceeds(scores[other, d], scores[c, d], rounding) for other in range(len(scores)))
    ]


def in_order(pairs: list[tuple[int, int]], scores: Matrix, rounding: float = 0.0) -> list[tuple[int, int]]:
    """Pairs by descending score; runs of neighbours that tie are ordered by smaller, then larger cluster."""
    runs: list[list[tuple[int, int]]] = []
    for pair in sorted(pairs, key=lambda pair: -scores[pair]):
        if runs and not exceeds(scores[runs[-1][-1]], scores[pair], rounding):
            runs[-1].append(pair)
        else:
            runs.append([pair])
    return [pair for run in runs for pair in sorted(run, key=sorted)]


def merge(clusters: list[Cluster], pairs: list[tuple[int, int]], constraints: ReferenceConstraints) -> list[Cluster]:
    """Join the clusters of the pairs in order, transitively, and skip pairs that would violate a cannot-link.

    The result is ordered by smallest mention.
    """
    joined = dict(enumerate(clusters))
    for c, d in pairs:
        if joined[c] != joined[d] and not cannot_be_linked(joined[c], joined[d], constraints):
            union = sorted(joined[c] + joined[d])
            joined = {i: union if set(cluster) <= set(union) else cluster for i, cluster in joined.items()}
    return sorted({tuple(cluster): cluster for cluster in joined.values()}.values())


def score_matrix(
    types: list[FeatureType],
    ps: list[Matrix],
    clusters: list[Cluster],
    model: ReferenceModel,
    constraints: ReferenceConstraints,
) -> tuple[Matrix, float]:
    """score(C,D) of all allowed pairs, −∞ for the others; and the size of rounding errors.

    A factor above 1 makes rounding errors larger, too.
    """
    scores = np.full((len(clusters), len(clusters)), -np.inf)
    largest = 0.0
    for (c, C), (d, D) in product(enumerate(clusters), repeat=2):
        if c != d:
            terms = likeness(types, ps, C, D, model), chance(types, C, D, model)
            largest = max(largest, max(1.0, name_factor(C, D, model.names)) * max(terms))
            if not cannot_be_linked(C, D, constraints) and exceeds_chance_limit(types, ps, C, D, model):
                scores[c, d] = score(types, ps, C, D, model)
    return scores, ROUNDING * largest if model.gamma > 0 else 0.0


def or_unconstrained(types: list[FeatureType], constraints: ReferenceConstraints | None) -> ReferenceConstraints:
    """The constraints; for None, singletons without cannot-links."""
    return constraints or ReferenceConstraints([[x] for x in range(len(types[0].counts))] if types else [])


def rounds(
    types: list[FeatureType], model: ReferenceModel, constraints: ReferenceConstraints | None = None
) -> Iterator[Round]:
    """All rounds, before and after convergence, until no pair is left that may be joined.

    The process has converged when no pair exceeds the limit. From then on it is hypothetical: if no pair exceeds the
    limit, all pairs that are best of row and column are merged.
    """
    constraints = or_unconstrained(types, constraints)
    clusters = sorted(constraints.groups)
    ps = [p_mention(t.counts, t.totals, model.N, model.epsilon) for t in types]
    converged = False
    while True:
        scores, rounding = score_matrix(types, ps, clusters, model, constraints)
        if not (scores > -np.inf).any():
            return
        pairs = selected(scores, model.limit, rounding)
        if not pairs:
            converged = True
            pairs = selected(scores, -np.inf, rounding)
        after = merge(clusters, in_order(pairs, scores, rounding), constraints)
        made = [pair for pair in pairs if any({*clusters[pair[0]], *clusters[pair[1]]} <= set(C) for C in after)]
        clusters = after
        yield Round(clusters, [float(scores[pair]) for pair in made], not converged)


def authors(
    types: list[FeatureType], model: ReferenceModel, constraints: ReferenceConstraints | None = None
) -> list[Cluster]:
    """The clusters at convergence: the result of the method."""
    answer = sorted(or_unconstrained(types, constraints).groups)
    for step in rounds(types, model, constraints):
        if not step.before_convergence:
            break
        answer = step.clusters
    return answer


def margins(
    types: list[FeatureType],
    clusters: list[Cluster],
    model: ReferenceModel,
    constraints: ReferenceConstraints | None = None,
) -> tuple[list[float], list[float]]:
    """How well each mention x fits its own cluster C, and how well the best other cluster.

    The fit is the higher one of score({x},D) and score(D,{x}), where D is C∖{x}, or any other cluster that C may be
    joined with. The own fit of a singleton is NaN; the other fit is −∞ if there is no such cluster. The chance limit
    does not matter here.
    """
    constraints = or_unconstrained(types, constraints)
    ps = [p_mention(t.counts, t.totals, model.N, model.epsilon) for t in types]

    def fit(x: int, D: Cluster) -> float:
        return max(score(types, ps, [x], D, model), score(types, ps, D, [x], model))

    own, other = {}, {}
    for C in clusters:
        open_to_C = [D for D in clusters if D is not C and not cannot_be_linked(C, D, constraints)]
        for x in C:
            own[x] = fit(x, [y for y in C if y != x]) if len(C) > 1 else np.nan
            other[x] = max((fit(x, D) for D in open_to_C), default=-np.inf)
    return [own[x] for x in sorted(own)], [other[x] for x in sorted(other)]
