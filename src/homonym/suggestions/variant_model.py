"""How probable it is that two authors are one person: a logistic regression on what they share, learned without labels.

The positive examples are pseudo-variants: the two halves of an author that was cut in two by time. The negative
examples are strangers: authors who share a co-author or an institution but not a name. So the regression estimates the
ratio of the two densities of what pairs share, f1/f0. Let q be the probability that the names of two strangers agree as
well as the names of a candidate. Then:

    odds = r · f1/f0 · 1/q

r is how often a person has another name of this kind, in relation to all strangers. It is estimated for each kind by
expectation-maximisation over its candidates:
r = Σ p / Σ (1 − p)/q, because (1 − p)/q strangers are behind each candidate that is two people.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homonym.clustering.arrays import Floats, Integers
from homonym.names.variants import KINDS
from homonym.suggestions.author_bags import NO_YEAR, TYPES, ResultAuthors
from homonym.suggestions.variant_candidates import Pairs, VariantCandidates, rarity

# Minimum number of pseudo-variants to learn from.
MIN_EXAMPLES = 30
# Weight of the penalty on squared coefficients; steps of Newton's method and of expectation-maximisation.
_RIDGE, _NEWTON_STEPS, _EM_STEPS = 1.0, 25, 100
# Initial value and range of r: at most one person in ten has another name.
_FIRST_RATE, _MAX_RATE = 1e-6, 1e-2
# Pairs whose features are computed at a time.
_PAIRS_AT_ONCE = 1 << 16
# Maximum number of years between the documents of two authors; a longer gap counts as this one.
_MOST_YEARS = 20


def shared_features(authors: ResultAuthors, pairs: Pairs) -> Floats:
    """What pairs share, one row per pair: for each type ln(1 + lift) and whether both have features, and the years."""
    rows = [
        _features(authors, pairs[at : at + _PAIRS_AT_ONCE, 0], pairs[at : at + _PAIRS_AT_ONCE, 1])
        for at in range(0, len(pairs), _PAIRS_AT_ONCE)
    ]
    return np.concatenate(rows) if rows else np.empty((0, 2 * len(TYPES) + 2))


def _features(authors: ResultAuthors, a: Integers, b: Integers) -> Floats:
    columns = [np.ones(len(a))]
    for kind in TYPES:
        bags = authors.bags[kind]
        columns.append(np.log1p(bags.lift(a, b)[0]))
        columns.append(((bags.mass[a] > 0) & (bags.mass[b] > 0)).astype(np.float64))
    apart = np.maximum(authors.first_year[a] - authors.last_year[b], authors.first_year[b] - authors.last_year[a])
    unknown = (authors.first_year[a] == NO_YEAR) | (authors.first_year[b] == NO_YEAR)
    columns.append(np.where(unknown, 0, np.clip(apart, 0, _MOST_YEARS)).astype(np.float64))
    return np.stack(columns, axis=1)


@dataclass(frozen=True, eq=False)
class VariantModel:
    """The coefficients of the regression; its prediction is ln(f1/f0)."""

    coefficients: Floats

    @classmethod
    def learn(cls, same: Floats, different: Floats) -> VariantModel:
        """Learn from pairs of one person and of two; both kinds have the same weight."""
        x = np.concatenate([same, different])
        y = np.repeat([1.0, 0.0], [len(same), len(different)])
        weight = np.repeat([0.5 / len(same), 0.5 / len(different)], [len(same), len(different)]) * len(x)
        w = np.zeros(x.shape[1])
        ridge = np.full(x.shape[1], _RIDGE)
        for _ in range(_NEWTON_STEPS):
            p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
            gradient = x.T @ (weight * (y - p)) - ridge * w
            hessian = (x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(ridge)
            w = w + np.linalg.solve(hessian, gradient)
        return cls(w)

    def probabilities(self, features: Floats, chance: Floats) -> Floats:
        """The probability of each candidate; all are of one kind."""
        ratio = np.exp(np.clip(features @ self.coefficients, -30, 30)) / chance
        rate = _FIRST_RATE
        for _ in range(_EM_STEPS):
            p = rate * ratio / (1 + rate * ratio)
            rate = min(float(p.sum() / max(((1 - p) / chance).sum(), 1e-9)), _MAX_RATE)
        found: Floats = rate * ratio / (1 + rate * ratio)
        return found


def pseudo_variants(authors: ResultAuthors, rare: int) -> Pairs:
    """The halves of pseudo-variants that share a rare feature, as all candidates do."""
    first = authors.count + 2 * np.arange(authors.pseudo)
    pairs = np.stack([first, first + 1], axis=1)
    found: Pairs = pairs[rarity(authors, pairs) < rare + 1]
    return found


def score_candidates(authors: ResultAuthors, candidates: VariantCandidates, unrelated: Pairs) -> Floats | None:
    """The probability of each candidate; None if there are too few examples to learn from."""
    halves = pseudo_variants(authors, candidates.rare)
    if min(len(halves), len(unrelated)) < MIN_EXAMPLES:
        return None
    model = VariantModel.learn(shared_features(authors, halves), shared_features(authors, unrelated))
    features, kind = shared_features(authors, candidates.pairs), np.array(candidates.kind)
    score = np.zeros(len(kind))
    for one in KINDS:
        chosen = kind == one
        score[chosen] = model.probabilities(features[chosen], candidates.chance[chosen])
    return score
