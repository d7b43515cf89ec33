"""The baselines against brute force: components pair by pair, linkage from dense vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from homonym.clustering.arrays import Bags, Frequencies
from homonym.experiments import baselines
from homonym.experiments.baselines import (
    BASELINES,
    STEP,
    Linked,
    OneCluster,
    SameFullName,
    Sharing,
    Singletons,
    Tanimoto,
    TfIdf,
    all_baselines,
    linked_by_features,
    rounded,
)
from homonym.measures.methods import LabelledNames
from homonym.names.parse import parse_name
from tests.support.profiles import examples

TYPES = ("aff", "co", "email", "term")
WIDTH = 150
# Limits half-way between two powers of STEP: rounding never moves a similarity across them.
EXACT_LIMITS = [STEP ** -(k + 0.5) for k in range(0, 170, 6)]

Bag = dict[int, float]
Block = list[Bag]
WRITTEN = [None, "", "Doe, Jane", "Jane Doe", "Doe, J", "Doe, John", "?"]

# Few features and few distinct counts, so that ties, equal mentions and empty bags are common.
features = st.builds(lambda kind, number: WIDTH * kind + number, st.integers(0, len(TYPES) - 1), st.integers(0, 4))
bags = st.dictionaries(features, st.sampled_from([0.5, 1.0, 1.0, 3.0]), max_size=5)
collections = st.lists(st.lists(bags, min_size=1, max_size=7), min_size=1, max_size=4)


def labelled(blocks: Sequence[Block], written: Sequence[str | None] | None = None) -> LabelledNames:
    mentions = [bag for block in blocks for bag in block]
    total = np.ones(WIDTH * len(TYPES))
    for bag in mentions:
        for feature, count in bag.items():
            total[feature] += count
    return LabelledNames(
        key=[f"name {number}" for number in range(len(blocks))],
        bags=Bags(
            block_start=np.cumsum([0] + [len(block) for block in blocks]),
            bag_start=np.cumsum([0] + [len(bag) for bag in mentions]),
            feature=np.array([feature for bag in mentions for feature in bag], np.int32),
            count=np.array([count for bag in mentions for count in bag.values()], np.float64),
        ),
        frequencies=Frequencies(
            TYPES, np.arange(len(TYPES) + 1) * WIDTH, total, total.reshape(-1, WIDTH).sum(axis=1), 3 * len(mentions)
        ),
        author=np.zeros(len(mentions), np.int64),
        written=written or [None] * len(mentions),
    )


def random_names(seed: int, sizes: Sequence[int], longest: int) -> LabelledNames:
    """Counts from a continuous distribution, so that no two weighted similarities are the same, but for those of 0."""
    random = np.random.default_rng(seed)

    def bag() -> Bag:
        chosen = random.choice(WIDTH * len(TYPES), random.integers(longest // 3, longest), replace=False)
        return {int(f): float(random.uniform(0.5, 3)) for f in chosen}

    return labelled([[bag() for _ in range(size)] for size in sizes])


def untied_names(seed: int, method: Linked, sizes: Sequence[int]) -> LabelledNames:
    """Names in which no two pairs are equally similar; the bags are long because shares of few features often tie."""
    while True:
        names = random_names(seed, sizes, longest=300)
        similar = [squareform(dense(names, block, method), checks=False) for block in range(len(sizes))]
        if all(np.diff(np.sort(values)).min(initial=1) > 1e-9 for values in similar):
            return names
        seed += 1000


def by_first_occurrence(groups: Sequence[Any]) -> list[int]:
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(group, len(numbers)) for group in groups]


def per_block(names: LabelledNames, label: Any) -> list[list[int]]:
    start = names.bags.block_start
    return [label[first:last].tolist() for first, last in pairwise(start)]


def components(mentions: Sequence[Any], linked: Callable[[Any, Any], bool]) -> list[int]:
    """Join pair after pair."""
    group = list(range(len(mentions)))
    for x, y in combinations(range(len(mentions)), 2):
        if linked(mentions[x], mentions[y]):
            group = [group[x] if g == group[y] else g for g in group]
    return by_first_occurrence(group)


def dense(names: LabelledNames, block: int, method: Linked) -> Any:
    """One vector per mention of a block, and the similarity of each pair, literally."""
    bags, frequencies = names.bags, names.frequencies
    first, last = bags.block_start[block], bags.block_start[block + 1]
    weighted = isinstance(method, TfIdf)
    v = np.zeros((last - first, len(frequencies.total)))
    for x in range(first, last):
        for k in range(bags.bag_start[x], bags.bag_start[x + 1]):
            f = bags.feature[k]
            idf = math.log(1 + frequencies.mentions / frequencies.total[f])
            v[x - first, f] = math.log(1 + bags.count[k]) * idf if weighted else min(bags.count[k], 1.0)
    pairs = np.zeros((len(v), len(v)))
    for x, y in np.ndindex(pairs.shape):
        dot, a, b = float(v[x] @ v[y]), float(v[x] @ v[x]), float(v[y] @ v[y])
        below = math.sqrt(a) * math.sqrt(b) if weighted else a + b - dot
        pairs[x, y] = dot / below if dot else 0.0
    return pairs


def linked_by_scipy(pairs: Any, limit: float) -> list[int]:
    if len(pairs) == 1:
        return [0]
    condensed = squareform(1 - pairs, checks=False)
    cut: Any = fcluster(linkage(condensed, method="average"), t=1 - limit, criterion="distance")
    return by_first_occurrence(cut.tolist())


def sharing(*types: str) -> Sharing:
    return next(method for method in BASELINES if isinstance(method, Sharing) and method.types == types)


@given(collection=collections)
def test_one_cluster_and_singletons(collection: list[Block]) -> None:
    names = labelled(collection)
    assert per_block(names, OneCluster().labels(names, 0, 0)) == [[0] * len(block) for block in collection]
    assert per_block(names, Singletons().labels(names, 0, 0)) == [list(range(len(block))) for block in collection]


@pytest.mark.parametrize("types", [("email",), ("aff",), ("email", "aff"), ("co",)])
@settings(max_examples=examples(200))
@given(collection=collections)
def test_sharing_equals_pairwise_connected_components(types: tuple[str, ...], collection: list[Block]) -> None:
    names = labelled(collection)

    def linked(x: Bag, y: Bag) -> bool:
        return any(f in y and TYPES[f // WIDTH] in types for f in x)

    expected = [components(block, linked) for block in collection]
    assert per_block(names, sharing(*types).labels(names, 0.3, 0.1)) == expected


def test_long_chains_in_any_order_are_one_component() -> None:
    size = 20_000
    place = np.random.default_rng(3).permutation(size)
    holder = np.concatenate([place[:-1], place[1:]])
    feature = np.tile(np.arange(size - 1), 2)
    assert (linked_by_features(np.zeros(size, np.int64), holder, feature) == 0).all()
    assert linked_by_features(np.arange(size), holder, feature).tolist() == list(range(size))


@settings(max_examples=examples(200))
@given(collection=st.lists(st.lists(st.sampled_from(WRITTEN), min_size=1, max_size=7), min_size=1, max_size=4))
def test_same_full_name(collection: list[list[str | None]]) -> None:
    names = labelled(
        [[{} for _ in block] for block in collection], [written for block in collection for written in block]
    )

    def linked(x: str | None, y: str | None) -> bool:
        return bool(x and y and parse_name(x).surname and parse_name(x).full_key == parse_name(y).full_key)

    expected = [components(block, linked) for block in collection]
    assert per_block(names, SameFullName().labels(names, 0, 0)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("method", [TfIdf(), Tanimoto()])
@pytest.mark.parametrize("seed", range(15))
def test_linkage_equals_scipy_on_dense_vectors(method: Linked, seed: int) -> None:
    names = untied_names(seed, method, [1, 2, 9, 14])
    pairs = [dense(names, block, method) for block in range(4)]
    for limit in EXACT_LIMITS:
        expected = [linked_by_scipy(similar, limit) for similar in pairs]
        assert per_block(names, method.labels(names, limit, 0)) == expected


@pytest.mark.parametrize("method", [TfIdf(), Tanimoto()])
@settings(max_examples=examples(200))
@given(collection=collections, limit=st.sampled_from(EXACT_LIMITS))
def test_linkage_with_ties_and_empty_bags(method: Linked, collection: list[Block], limit: float) -> None:
    names = labelled(collection)
    for block, label in enumerate(per_block(names, method.labels(names, limit, 0))):
        pairs = dense(names, block, method)
        assert label == by_first_occurrence(label)
        assert_complete(pairs, label, limit)
        if len(label) == 2:
            assert (label == [0, 0]) == (pairs[0, 1] > limit)
        if limit > pairs[~np.eye(len(pairs), dtype=bool)].max(initial=0):
            assert label == list(range(len(label)))


def assert_complete(pairs: Any, label: list[int], limit: float) -> None:
    """No two clusters are left that average linkage would have to merge; each one is similar enough in itself."""
    for a, b in combinations(sorted(set(label)), 2):
        assert pairs[np.ix_(np.equal(label, a), np.equal(label, b))].mean() <= limit + 1e-12
    for a in set(label):
        members = np.flatnonzero(np.equal(label, a))
        if len(members) == 2:
            assert pairs[members[0], members[1]] > limit


@pytest.mark.parametrize("method", [TfIdf(), Tanimoto()])
@settings(max_examples=examples(100))
@given(collection=collections)
def test_outcomes_fall_from_singletons_to_one_cluster(method: Linked, collection: list[Block]) -> None:
    names = labelled(collection)
    outcomes = method.outcomes(names)
    assert outcomes.label.dtype == np.int32
    for block, size in enumerate(names.mentions):
        steps = range(outcomes.step_start[block], outcomes.step_start[block + 1])
        labels = [outcomes.label[outcomes.label_start[s] : outcomes.label_start[s + 1]].tolist() for s in steps]
        lowest = outcomes.lowest[steps.start : steps.stop]
        assert labels[0] == list(range(size))
        assert labels[-1] == [0] * size
        assert lowest[-1] == -np.inf
        assert (np.diff(lowest[:-1]) < 0).all()
        assert len(labels) == 1 or lowest[0] == pytest.approx(rounded(largest_similarity(names, block, method)))
        for finer, coarser in pairwise(labels):
            assert len(set(coarser)) < len(set(finer)) == len(set(zip(finer, coarser, strict=True)))


def largest_similarity(names: LabelledNames, block: int, method: Linked) -> Any:
    pairs = dense(names, block, method)
    return pairs[~np.eye(len(pairs), dtype=bool)].max()


@pytest.mark.parametrize("method", BASELINES, ids=lambda method: method.key)
def test_labels_are_the_outcome_at_the_limit(method: Any) -> None:
    names = replace(random_names(4, [1, 6, 11], longest=40), written=["Doe, Jane", "Doe, John"] * 9)
    outcomes = method.outcomes(names)
    for alpha, beta in [(0.3, 0.0), (0.0, 0.01), (0.0, 0.0), (-1.0, 0.0), (1.0, 1.0)]:
        expected: list[int] = []
        for block, size in enumerate(names.mentions):
            step = outcomes.step_start[block]
            while outcomes.lowest[step] > alpha + beta * size:
                step += 1
            expected += outcomes.label[outcomes.label_start[step] : outcomes.label_start[step + 1]].tolist()
        assert method.labels(names, alpha, beta).tolist() == expected


@pytest.mark.parametrize("method", BASELINES, ids=lambda method: method.key)
@pytest.mark.parametrize("seed", range(5))
def test_order_of_mentions_changes_nothing(method: Any, seed: int) -> None:
    linked = isinstance(method, Linked)
    names = untied_names(seed, method, [17]) if linked else random_names(seed, [17], longest=9)
    written = ["Doe, Jane", "Doe, John", "Doe, J", None] * 4 + ["Doe, Jane"]
    order = np.random.default_rng(seed).permutation(17).tolist()
    bags = unpacked(names.bags)
    shuffled = labelled([[bags[x] for x in order]], [written[x] for x in order])
    for limit in EXACT_LIMITS if linked else [0.0]:
        before = method.labels(replace(names, written=written), limit, 0)
        assert method.labels(shuffled, limit, 0).tolist() == by_first_occurrence([before[x] for x in order])


def unpacked(bags: Bags) -> Block:
    return [
        {int(f): float(c) for f, c in zip(bags.feature[first:last], bags.count[first:last], strict=True)}
        for first, last in pairwise(bags.bag_start)
    ]


@pytest.mark.parametrize("method", BASELINES, ids=lambda method: method.key)
def test_clustering_of_a_name_does_not_depend_on_other_names(method: Any) -> None:
    names = random_names(8, [7, 1, 10], longest=40)
    whole = per_block(names, method.labels(names, 0.1, 0))
    assert whole == [method.labels(names.select(np.array([block])), 0.1, 0).tolist() for block in range(3)]


def test_large_names_have_few_outcomes() -> None:
    random = np.random.default_rng(0)
    bags = [{int(f): float(random.uniform(0, 1)) for f in random.choice(600, 9)} for _ in range(700)]
    for method in (TfIdf(), Tanimoto()):
        assert 30 < len(method.outcomes(labelled([bags])).lowest) <= 179


def test_rounding_stays_within_two_percent_and_half_way_limits_are_exact() -> None:
    values = np.random.default_rng(0).uniform(0.001, 1, 5000)
    assert rounded(values) == pytest.approx(values, rel=0.02)
    for limit in EXACT_LIMITS:
        assert ((rounded(values) > limit) == (values > limit)).all()


def test_all_baselines_with_complete_data() -> None:
    names = labelled([[dict.fromkeys(range(WIDTH * len(TYPES)), 1.0)]], ["Doe, Jane"])
    usable, missing = all_baselines(names)
    assert [method.key for method in usable] == [
        "one-cluster", "singletons", "same-full-name", "same-email", "same-affiliation", "same-email-or-affiliation",
        "shared-coauthor", "tf-idf", "tanimoto",
    ]  # fmt: skip
    assert missing == []


def test_missing_data_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baselines, "find_spec", lambda _: None)
    usable, missing = all_baselines(labelled([[{0: 1.0}, {}]]))
    assert [method.key for method in usable] == ["one-cluster", "singletons", "same-affiliation"]
    assert missing == [
        "same full name: these mentions carry no names",
        "same e-mail address: these mentions carry no e-mail addresses",
        "same e-mail address or affiliation: these mentions carry no e-mail addresses",
        "shared co-author: these mentions carry no co-authors",
        "TF-IDF with average linkage needs scipy: pip install scipy",
        "Tanimoto coefficient with average linkage needs scipy: pip install scipy",
    ]


def test_a_collection_without_features() -> None:
    names = labelled([[{}, {}], [{}]])
    bare = replace(names, frequencies=Frequencies((), np.zeros(1, np.int64), np.zeros(0), np.zeros(0), 3))
    for method in all_baselines(bare)[0]:
        expected = [[0, 0], [0]] if method.key == "one-cluster" else [[0, 1], [0]]
        assert per_block(bare, method.labels(bare, 0.0, 0)) == expected
