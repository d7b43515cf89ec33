"""The score of two clusters as a sum of its parts: evidence of each feature, smoothing, chance, and a shared full name.

    score(C,D) = g · Σ_t ( Σ_f λ_t·#(f,C)·#(f,D) / (#(f)·b_t)  +  λ_t·|C||D|·ε/N / b_t  −  γ·λ_t·n_t(C)/n_t(·) )
                          evidence of feature f                  smoothing               chance

b_t = n_t(D) + |D|·ε, and g is the factor of a full name that C and D share, else 1. For the joint score, b_t is
n_t(·) + N·ε, and chance is multiplied by p_t(D). For `max`, the best pair of mentions of each type takes the place of
the sum over all pairs, and ε/N that of |C||D|·ε/N. The formulas are those of clustering/reference.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from homonym.clustering.agglomerative import chance_levels, limits
from homonym.clustering.arrays import Bags, Floats, Frequencies, Integers, NamePrior
from homonym.clustering.reference import ROUNDING, exceeds, limit_weight
from homonym.settings import Settings

Cluster = Sequence[int]


class SharedFeature(NamedTuple):
    """A feature that two clusters have: its type and number, its counts in C and in D, and S of it."""

    kind: int
    feature: int
    in_C: float  # noqa: N815
    in_D: float  # noqa: N815
    S: float


class FeaturePart(NamedTuple):
    """The evidence of one feature: its number, its counts in C and in D, and what it adds to the score."""

    feature: int
    in_C: float  # noqa: N815
    in_D: float  # noqa: N815
    value: float


@dataclass(frozen=True, eq=False)
class ScoreParts:
    """score(C,D) in parts. `evidence`, `smoothing` and `chance` are before the factor of a shared full name.

    `smoothing` and `chance` have one value per type; chance is subtracted. `limit` is that of the block, `chance_limit`
    the second limit, 0 if there is none.
    """

    evidence: list[FeaturePart]
    smoothing: Floats
    chance: Floats
    factor: float
    limit: float
    chance_limit: float

    @cached_property
    def without_name(self) -> float:
        """The score without the factor of a shared full name."""
        evidence = sum(part.value for part in self.evidence)
        return float(evidence + self.smoothing.sum() - self.chance.sum())

    @property
    def score(self) -> float:
        """score(C,D)."""
        return self.factor * self.without_name

    @property
    def name_part(self) -> float:
        """What a shared full name adds to the score: all parts, and this one, sum to the score."""
        return self.score - self.without_name

    @property
    def threshold(self) -> float:
        """The higher one of both limits."""
        return max(self.limit, self.chance_limit)

    def suffices(self, score: float) -> bool:
        """Whether a score of these clusters would exceed both limits."""
        rounding = ROUNDING * self.factor * float(abs(self.chance).sum() + abs(self.without_name))
        return exceeds(score, self.limit, rounding) and exceeds(score, self.chance_limit, rounding)


@dataclass(frozen=True, eq=False)
class BlockScores:
    """The scores of any two clusters of one block, from its bags; clusters are given by the places of their mentions.

    Occurrence i is `count[i]` times the feature `feature[i]` of the type `kind[i]` in mention `mention[i]`. `total` is
    #(f), `n` has n_t(x) of each mention, and `level` its chance level.
    """

    mention: Integers
    feature: Integers
    kind: Integers
    count: Floats
    total: Floats
    n: Floats
    mass: Floats
    weight: Floats
    level: Floats
    N: float
    limit: float
    settings: Settings
    names: NamePrior | None

    @classmethod
    def of(cls, bags: Bags, frequencies: Frequencies, settings: Settings, names: NamePrior | None) -> BlockScores:
        """The scores of a single block."""
        m, types = len(bags.bag_start) - 1, len(frequencies.types)
        mention = np.repeat(np.arange(m), np.diff(bags.bag_start))
        feature, count = bags.feature[: len(mention)].astype(np.int64), bags.count[: len(mention)]
        kind = np.searchsorted(frequencies.type_start, feature, side="right") - 1
        n = _summed(mention * types + kind, count, m * types).reshape(m, types)
        within = settings.scope == "within"
        return cls(
            mention=mention,
            feature=feature,
            kind=kind,
            count=count,
            total=_summed(feature, count, len(frequencies.total)) if within else frequencies.total,
            n=n,
            mass=n.sum(axis=0) if within else frequencies.mass,
            weight=np.array(settings.weights_for(frequencies.types)),
            level=_levels(bags, frequencies, settings),
            N=float(m if within else frequencies.mentions),
            limit=float(limits(bags.block_start, settings.limit, frequencies.mentions)[0]),
            settings=settings,
            names=names,
        )

    @property
    def mentions(self) -> int:
        """|X|, the number of mentions of the block."""
        return len(self.n)

    def parts(self, C: Cluster, D: Cluster) -> ScoreParts:
        """score(C,D) in its parts."""
        n_C, n_D = self.n[list(C)].sum(axis=0), self.n[list(D)].sum(axis=0)
        below = self._below(n_D, len(D))
        if self.settings.variant == "max":
            shared, pairs = self._best_pairs(C, D), 1
        else:
            shared, pairs = self._shared(C, D), len(C) * len(D)
        factor = (self.weight / below).tolist()
        evidence = [FeaturePart(one.feature, one.in_C, one.in_D, one.S * factor[one.kind]) for one in shared]
        return ScoreParts(
            evidence=sorted(evidence, key=lambda part: (-part.value, part.feature)),
            smoothing=self.weight * (pairs * self.settings.epsilon / self.N) / below,
            chance=self._chance(n_C, n_D, len(D)),
            factor=self._factor(C, D),
            limit=self.limit,
            chance_limit=self.chance_limit(C, D),
        )

    def better(self, C: Cluster, D: Cluster) -> tuple[Cluster, Cluster, ScoreParts]:
        """The clusters in the order that has the higher score, and its parts; a score is not symmetric."""
        forth, back = self.parts(C, D), self.parts(D, C)
        return (C, D, forth) if forth.score >= back.score else (D, C, back)

    def chance_limit(self, C: Cluster, D: Cluster) -> float:
        """What score(C,D) must exceed besides the limit, 0 if there is no chance limit."""
        gamma_2 = self.settings.required_lift
        if gamma_2 == 0:
            return 0.0
        return gamma_2 * float(self.level[list(C)].sum()) * limit_weight(max(len(C), len(D)), self.mentions)

    def best_partners(self, C: Cluster, label: Integers, least: float = -np.inf) -> Integers:
        """The other clusters, by falling score with C in either direction; C is one of the clusters of `label`.

        Those with a score below `least` are left out.
        """
        own = int(label[C[0]])
        highest = np.maximum(*self._scores_with(C, label))
        order = np.argsort(-highest, kind="stable")
        others: Integers = order[(order != own) & (highest[order] >= least)]
        return others

    def _scores_with(self, C: Cluster, label: Integers) -> tuple[Floats, Floats]:
        """score(C,D) and score(D,C) for all clusters D."""
        clusters, types = int(label.max()) + 1, len(self.weight)
        S = self._shared_with(C, label, clusters)
        n_D, size = np.zeros((clusters, types)), np.bincount(label, minlength=clusters)[:, None]
        np.add.at(n_D, label, self.n)
        n_C = self.n[list(C)].sum(axis=0)
        pairs = 1 if self.settings.variant == "max" else len(C) * size
        likeness = S + pairs * self.settings.epsilon / self.N
        forth = (self.weight * likeness / self._below(n_D, size)).sum(axis=1)
        back = (self.weight * likeness / self._below(n_C, len(C))).sum(axis=1)
        forth -= self._chance(n_C, n_D, size).sum(axis=-1)
        back -= self._chance(n_D, n_C, len(C)).sum(axis=1)
        factor = self._factors(C, label, clusters)
        return forth * factor, back * factor

    def _shared_with(self, C: Cluster, label: Integers, clusters: int) -> Floats:
        """S(C,D) of all clusters D and types; for `max` the highest S of a pair of mentions."""
        types, use_max = len(self.weight), self.settings.variant == "max"
        S = np.zeros((clusters, types))
        for members in [[x] for x in C] if use_max else [C]:
            weight = self._in(members) / np.where(self.total > 0, self.total, 1.0)
            shared = self.count * weight[self.feature]
            by = self.mention if use_max else label[self.mention]
            size = self.mentions if use_max else clusters
            found = _summed(by * types + self.kind, shared, size * types).reshape(size, types)
            if use_max:
                np.maximum.at(S, label, found)
            else:
                S = found
        return S

    def _in(self, members: Cluster) -> Floats:
        """#(f,C) of all features."""
        inside = np.zeros(self.mentions, np.bool_)
        inside[list(members)] = True
        chosen = inside[self.mention]
        return _summed(self.feature[chosen], self.count[chosen], len(self.total))

    def _shared(self, C: Cluster, D: Cluster, only: int | None = None) -> list[SharedFeature]:
        """The features of types with weight that both have; `only` those of one type."""
        in_C, in_D = self._in(C), self._in(D)
        kind_of = np.zeros(len(self.total), np.int64)
        kind_of[self.feature] = self.kind
        wanted = self.weight > 0 if only is None else np.arange(len(self.weight)) == only
        features = np.flatnonzero((in_C > 0) & (in_D > 0) & wanted[kind_of])
        S = in_C[features] * in_D[features] / self.total[features]
        columns = (kind_of[features], features, in_C[features], in_D[features], S)
        return list(map(SharedFeature._make, zip(*(column.tolist() for column in columns), strict=True)))

    def _best_pairs(self, C: Cluster, D: Cluster) -> list[SharedFeature]:
        """The shared features of the best pair of mentions of each type."""
        types = len(self.weight)
        best, pair = np.zeros(types), np.full((types, 2), -1)
        everybody = np.arange(self.mentions)
        for x in C:
            S = self._shared_with([x], everybody, self.mentions)[list(D)]
            row = S.argmax(axis=0)
            value = S[row, np.arange(types)]
            higher = value > best
            best[higher] = value[higher]
            pair[higher] = np.stack([np.full(types, x), np.array(list(D))[row]], axis=1)[higher]
        chosen = np.flatnonzero((best > 0) & (self.weight > 0)).tolist()
        return [one for t in chosen for one in self._shared([int(pair[t, 0])], [int(pair[t, 1])], only=t)]

    def _below(self, n_D: Floats, size: int | Integers) -> Floats:
        """What S is divided by for each type: n(D) + |D|·ε, for the joint score n(·) + N·ε."""
        epsilon = self.settings.epsilon
        if self.settings.joint:
            return self.mass + self.N * epsilon
        return n_D + size * epsilon

    def _chance(self, n_C: Floats, n_D: Floats, size: int | Integers) -> Floats:
        """γ·λ·n(C)/n(·) of each type, times p(D) for the joint score; nothing for a type without occurrences."""
        has_mass = self.mass > 0
        share = np.where(has_mass, n_C / np.where(has_mass, self.mass, 1.0), 0.0)
        chance = self.settings.chance_weight * self.weight * share
        if self.settings.joint:
            epsilon = self.settings.epsilon
            chance = chance * (n_D + size * epsilon) / (self.mass + self.N * epsilon)
        return np.asarray(chance, np.float64)

    def _factor(self, C: Cluster, D: Cluster) -> float:
        """The factor of the full name that both share, 1 if they share none."""
        if self.names is None:
            return 1.0
        of_C, of_D = ({int(name) for name in self.names.name[list(X)] if name >= 0} for X in (C, D))
        if of_C != of_D or len(of_C) != 1:
            return 1.0
        return float(self.names.factor[(self.names.name == of_C.pop()).argmax()])

    def _factors(self, C: Cluster, label: Integers, clusters: int) -> Floats:
        """The factor of the full name that C shares with each cluster."""
        factor = np.ones(clusters)
        if self.names is None:
            return factor
        named = np.flatnonzero(self.names.name >= 0)
        lowest, highest = np.full(clusters, np.iinfo(np.int64).max), np.full(clusters, -1)
        np.minimum.at(lowest, label[named], self.names.name[named])
        np.maximum.at(highest, label[named], self.names.name[named])
        of_C = {int(name) for name in self.names.name[list(C)] if name >= 0}
        if len(of_C) == 1:
            name = of_C.pop()
            factor[(lowest == name) & (highest == name)] = self.names.factor[(self.names.name == name).argmax()]
        return factor


def _summed(place: Integers, value: Floats, size: int) -> Floats:
    """The sum of the values at each place."""
    return np.bincount(place, value, size).astype(np.float64)


def _levels(bags: Bags, frequencies: Frequencies, settings: Settings) -> Floats:
    """The chance level of each mention; 0 without a chance limit, and within blocks, which have nothing outside."""
    if settings.required_lift == 0 or settings.scope == "within":
        return np.zeros(len(bags.bag_start) - 1)
    return chance_levels(bags, frequencies, settings)
