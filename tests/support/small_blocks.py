"""Strategies for small blocks of mentions, and how the kernel and the literal reference take them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from homonym.clustering import reference
from homonym.clustering.agglomerative import Outcomes
from homonym.clustering.arrays import Bags, Constraints, Floats, Frequencies, NamePrior
from homonym.settings import Settings

Bag = dict[int, float]
Mention = dict[str, Bag]
TYPES = ("co", "term", "year")
# Few features and few distinct counts, so that ties, equal mentions and empty bags are common.
whole_counts = st.sampled_from([1.0, 1.0, 2.0, 3.0])
odd_counts = st.sampled_from([0.1, 0.2006, 0.177, 1 / 3, 1.0])
bags = st.dictionaries(st.integers(0, 5), whole_counts | odd_counts, max_size=4)
# At most one full name, where `bags` have features, and its factor. Equal factors and a factor of 1 are common.
FACTORS = (0.5, 1.0, 2.0, 1000.0, 2.0)
full_names = st.none() | st.sampled_from([0, 2, 2, 3]) | st.integers(0, len(FACTORS) - 1)
mentions = st.fixed_dictionaries(
    dict.fromkeys(TYPES, bags) | {"name": full_names.map(lambda name: {} if name is None else {name: FACTORS[name]})}
)
unnamed = mentions.map(lambda mention: {**mention, "name": {}})
members = st.lists(mentions, min_size=1, max_size=7) | st.lists(unnamed, min_size=1, max_size=7)
blocks = st.lists(members, min_size=1, max_size=4)
limits = st.sampled_from([0.0, 1e-6, 1e-3, 0.02, 0.125, 0.25, 0.5, 1.0])


@st.composite
def parameters(draw: st.DrawFn) -> Settings:
    raw = [draw(st.integers(0, 3)) for _ in TYPES]
    variant, joint = draw(
        st.sampled_from([("prob", False), ("prob", False), ("prob", True), ("max", False), ("max", True)])
    )
    weights: Any = "uniform"
    if sum(raw) > 0:
        weights = {kind: value / sum(raw) for kind, value in zip(TYPES, raw, strict=True)}
    return Settings(
        variant=variant,
        joint=joint,
        scope=draw(st.sampled_from(["overall", "within"])),
        epsilon=draw(st.sampled_from([1e-4, 1e-2, 1.0])),
        alpha=draw(limits),
        beta=draw(limits) / 10,
        kappa=draw(limits),
        gamma=draw(st.sampled_from([0.0, 0.0, 0.5, 1.0, 2.0])),
        chance_limit=draw(st.sampled_from([0.0, 0.5, 3.0])) if variant == "prob" and not joint else 0.0,
        weights=weights,
    )


def counted(collection: list[list[Mention]], rare: int) -> Frequencies:
    """Frequencies over all blocks plus `rare` occurrences of each feature elsewhere in the collection."""
    total = np.full(6 * len(TYPES), float(rare))
    for block in collection:
        for mention in block:
            for t, kind in enumerate(TYPES):
                for feature, count in mention[kind].items():
                    total[6 * t + feature] += count
    mass = total.reshape(len(TYPES), 6).sum(axis=1)
    mentions = sum(len(block) for block in collection) + rare
    return Frequencies(TYPES, np.arange(len(TYPES) + 1) * 6, total, mass, mentions)


def flat(collection: list[list[Mention]]) -> Bags:
    occurrences = [
        [(6 * t + f, c) for t, kind in enumerate(TYPES) for f, c in sorted(mention[kind].items())]
        for block in collection
        for mention in block
    ]
    return Bags(
        block_start=np.cumsum([0] + [len(block) for block in collection]),
        bag_start=np.cumsum([0] + [len(bag) for bag in occurrences]),
        feature=np.array([f for bag in occurrences for f, _ in bag], np.int32),
        count=np.array([c for bag in occurrences for _, c in bag], np.float64),
    )


def names_of(collection: list[list[Mention]]) -> NamePrior | None:
    """The full names of the mentions, None if there are none."""
    names = [next(iter(mention.get("name", {}).items()), (-1, 1.0)) for block in collection for mention in block]
    if all(name < 0 for name, _ in names):
        return None
    return NamePrior(np.array([name for name, _ in names], np.int32), np.array([factor for _, factor in names]))


def with_name(mention: Mention, name: int) -> Mention:
    """The mention with this full name, or without one if the number is negative."""
    return {**mention, "name": {name: FACTORS[name]} if name >= 0 else {}}


def literal_names(block: list[Mention]) -> reference.ReferenceNames:
    """The full names of the mentions of one block as the reference takes them."""
    names = [mention.get("name", {}) for mention in block]
    return reference.ReferenceNames(
        [next(iter(name), None) for name in names], {g: factor for name in names for g, factor in name.items()}
    )  # fmt: skip


def literal(
    block: list[Mention],
    frequencies: Frequencies,
    run: Settings,
    constraints: reference.ReferenceConstraints | None = None,
) -> list[reference.Round]:
    return list(reference.rounds(*literal_model(block, frequencies, run), constraints))


def literal_model(
    block: list[Mention], frequencies: Frequencies, run: Settings
) -> tuple[list[reference.FeatureType], reference.ReferenceModel]:
    weights = run.weights_for(TYPES)
    types = []
    for t, kind in enumerate(TYPES):
        counts = np.zeros((len(block), 6))
        for x, mention in enumerate(block):
            for feature, count in mention[kind].items():
                counts[x, feature] = count
        totals = counts.sum(axis=0) if run.scope == "within" else frequencies.total[6 * t : 6 * t + 6]
        mass = totals.sum() if run.scope == "within" else frequencies.mass[t]
        types.append(
            reference.FeatureType(counts, totals, float(mass), weights[t])
        )  # fmt: skip
    alpha, beta, kappa = run.limit
    model = reference.ReferenceModel(
        N=len(block) if run.scope == "within" else frequencies.mentions,
        epsilon=run.epsilon,
        limit=alpha + len(block) * beta + kappa * len(block) ** 0.5 / (frequencies.mentions + 3000),
        use_max=run.variant == "max",
        joint=run.joint,
        gamma=run.chance_weight,
        chance_limit=run.required_lift,
        names=literal_names(block),
    )
    return types, model


def partition(labels: list[int]) -> list[list[int]]:
    return sorted([x for x, g in enumerate(labels) if g == label] for label in set(labels))


def near(value: Any, run: Settings, names: NamePrior | None = None) -> Any:
    """Equal up to rounding; with chance correction, rounding is relative to the terms of the subtraction.

    These are multiplied by the factors of names.
    """
    factor = 1.0 if names is None else max(1.0, float(names.factor.max()))
    return pytest.approx(value, rel=1e-9, abs=1e-13 * (1 + run.chance_weight) * factor if run.chance_weight else 0)


# So close to 1 that no outcome is skipped.
EXACT = 1 + 1e-12
EMPTY: Mention = {kind: {} for kind in TYPES}
rarities = st.sampled_from([0, 1, 50])


def lowest_of(outcomes: Outcomes, block: int) -> Floats:
    return outcomes.lowest[outcomes.step_start[block] : outcomes.step_start[block + 1]]


def labels_of(outcomes: Outcomes, block: int) -> list[list[int]]:
    steps = range(outcomes.step_start[block], outcomes.step_start[block + 1])
    return [outcomes.label[outcomes.label_start[s] : outcomes.label_start[s + 1]].tolist() for s in steps]


def between(lowest: Floats) -> list[float]:
    """A limit for each outcome but the last, far from where outcomes change: above the first, then half-way."""
    changes = lowest[:-1].tolist()
    return [2 * high for high in changes[:1]] + [
        math.sqrt(high * low) for high, low in pairwise(changes) if high > low * (1 + 1e-5)
    ]


def random_block(size: int, seed: int = 0) -> list[Mention]:
    """Counts without ties, so that a block has many outcomes."""
    random = np.random.default_rng(seed)
    return [
        {kind: {int(f): float(random.uniform(0.1, 3)) for f in random.choice(6, 4, replace=False)} for kind in TYPES}
        for _ in range(size)
    ]


def sparse(size: int) -> tuple[Bags, Frequencies]:
    """One block in which few mentions share anything, so that it does not merge at once."""
    random, width, held = np.random.default_rng(0), 300, 8
    feature = np.concatenate([random.choice(width * len(TYPES), held, replace=False) for _ in range(size)])
    count = random.uniform(0.1, 3, len(feature))
    total = np.bincount(feature, weights=count, minlength=width * len(TYPES)) + np.float64(1)
    mass = total.reshape(len(TYPES), width).sum(axis=1)
    bags = Bags(np.array([0, size]), np.arange(size + 1) * held, feature.astype(np.int32), count)
    return bags, Frequencies(TYPES, np.arange(len(TYPES) + 1) * width, total, mass, 3 * size)


Case = tuple[list[list[Mention]], Constraints]
PROFILES = 5


def constraints_of(groups: list[list[int]], profiles: list[list[int]], pairs: set[tuple[int, int]]) -> Constraints:
    """Constraints of some blocks: any group numbers, a profile for each mention, and cannot-link pairs of profiles."""
    cannot_link = [sorted({q for pair in pairs if p in pair for q in ({*pair} - {p} or {p})}) for p in range(PROFILES)]
    return Constraints(
        group=np.array([[*group].index(g) for group in groups for g in group], np.int32),
        profile=np.array([p for profile in profiles for p in profile], np.int32),
        cannot_link_start=np.cumsum([0] + [len(each) for each in cannot_link]),
        cannot_link=np.array([q for each in cannot_link for q in each], np.int32),
    )


@st.composite
def constrained(draw: st.DrawFn) -> Case:
    """Blocks with few must-link groups and cannot-link pairs, or many of both."""
    collection = draw(blocks)
    few = draw(st.booleans())
    member = st.sampled_from([*range(20)] if few else [0, 1, 2, 3])
    groups = [draw(st.lists(member, min_size=len(block), max_size=len(block))) for block in collection]
    holds = st.integers(0, PROFILES - 1)
    profiles = [draw(st.lists(holds, min_size=len(block), max_size=len(block))) for block in collection]
    pairs = draw(st.sets(st.tuples(holds, holds), max_size=3 if few else 8))
    return collection, constraints_of(groups, profiles, pairs)
