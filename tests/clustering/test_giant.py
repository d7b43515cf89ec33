"""Giant blocks compared with the dense kernel and the literal reference: the same authors, rounds and merges."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.clustering import agglomerative
from homonym.clustering.agglomerative import Clustering, cluster, dense_bytes, needed_bytes
from homonym.clustering.arrays import Bags, Constraints, Floats, Frequencies, NamePrior
from homonym.clustering.sparse import giant_blocks
from homonym.clustering.sparse.round_snapshots import Arrays
from homonym.settings import Settings
from tests.clustering import test_constrained_clustering, test_dense
from tests.support.profiles import examples
from tests.support.small_blocks import (
    EMPTY,
    FACTORS,
    PROFILES,
    TYPES,
    Case,
    Mention,
    blocks,
    constrained,
    constraints_of,
    counted,
    flat,
    names_of,
    near,
    parameters,
    rarities,
)

# Names of the constants for what is kept between rounds, and for the size of work units.
CONSTANTS = ("LISTED", "WORN", "ENOUGH", "CHUNK", "CACHE_BYTES", "LOOKED_UP_CACHE_BYTES", "CACHED_SIZE", "IDLE")


@contextmanager
def every_block_is_giant(constants: dict[str, float] | None = None) -> Iterator[pytest.MonkeyPatch]:
    """Cluster blocks of any size with the sparse kernel, with the given constants changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agglomerative, "GIANT_BLOCK", 1)
        for name in CONSTANTS:
            patch.setattr(giant_blocks, name, (constants or {}).get(name, getattr(giant_blocks, name)))
        yield patch


@st.composite
def changed_constants(draw: st.DrawFn) -> dict[str, float]:
    """Short lists that run empty, few cached rows, little space: rare in small blocks, and must not change results."""
    return {
        "LISTED": draw(st.sampled_from([1, 2, 3, giant_blocks.LISTED])),
        "WORN": draw(st.sampled_from([0.0, giant_blocks.WORN, 2.0])),
        "ENOUGH": draw(st.sampled_from([1, giant_blocks.ENOUGH])),
        "CHUNK": draw(st.sampled_from([1, 3, giant_blocks.CHUNK])),
        "CACHE_BYTES": draw(st.sampled_from([0, giant_blocks.CACHE_BYTES, 10**4])),
        "LOOKED_UP_CACHE_BYTES": draw(st.sampled_from([0, 200, 10**6])),
        "CACHED_SIZE": draw(st.sampled_from([1, 2, giant_blocks.CACHED_SIZE])),
        "IDLE": draw(st.sampled_from([0, 1, giant_blocks.IDLE])),
    }


def clustered(bags: Bags, frequencies: Frequencies, run: Settings, **options: Any) -> Clustering:
    return cluster(bags, frequencies, run, margins=True, **options)


def assert_same_answer(found: Clustering, expected: Clustering, run: Settings, names: NamePrior | None = None) -> None:
    """The same up to rounding: tying merges may be recorded in another order, or with another of their pairs."""
    assert found.label.tolist() == expected.label.tolist()
    assert found.rounds.tolist() == expected.rounds.tolist()
    assert found.merge_round.tolist() == expected.merge_round.tolist()
    for b in range(len(found.rounds)):
        assert test_constrained_clustering.replayed(found, b) == test_constrained_clustering.replayed(expected, b)
    np.testing.assert_array_equal(np.isinf(found.merge_score), np.isinf(expected.merge_score))
    assert np.nan_to_num(found.own) == near(np.nan_to_num(expected.own), run, names)
    np.testing.assert_array_equal(np.isnan(found.own), np.isnan(expected.own))
    assert found.other == near(expected.other, run, names)
    for block in np.unique(np.repeat(np.arange(len(found.rounds)), np.diff(found.block_start))):
        here = slice(found.block_start[block], found.block_start[block + 1])
        steps = found.merge_round[here]
        for step in np.unique(steps[steps > 0]):
            scores = [np.sort(answer.merge_score[here][steps == step]) for answer in (found, expected)]
            assert scores[0] == near(scores[1], run, names)


def assert_identical(one: Clustering, other: Clustering) -> None:
    for name in ("label", "rounds", "merge_round", "merge_left", "merge_right", "merge_score", "own", "other"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(collection=blocks, run=parameters(), rare=rarities, constants=changed_constants())
def test_sparse_kernel_equals_reference(
    collection: list[list[Mention]], run: Settings, rare: int, constants: dict[str, float]
) -> None:
    with every_block_is_giant(constants):
        test_dense.assert_same_as_reference(collection, run, rare)


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(case=constrained(), run=parameters(), rare=rarities, constants=changed_constants())
def test_sparse_kernel_equals_reference_with_constraints(
    case: Case, run: Settings, rare: int, constants: dict[str, float]
) -> None:
    with every_block_is_giant(constants):
        test_constrained_clustering.assert_same_as_reference(*case, run, rare)


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(
    case=constrained(),
    run=parameters(),
    rare=rarities,
    constants=changed_constants(),
    free=st.booleans(),
    hypothetical=st.booleans(),
)
def test_sparse_kernel_equals_dense_kernel_for_any_number_of_threads(
    case: Case, run: Settings, rare: int, constants: dict[str, float], free: bool, hypothetical: bool
) -> None:
    collection, constraints = case
    bags, frequencies = flat(collection), counted(collection, rare)
    names = names_of(collection)
    options = {"constraints": None if free else constraints, "names": names, "hypothetical": hypothetical}
    dense = clustered(bags, frequencies, run, **options)
    with every_block_is_giant(constants):
        alone = clustered(bags, frequencies, run, **options)
        shared = clustered(bags, frequencies, run, threads=2, **options)
    assert_same_answer(alone, dense, run, names)
    assert_identical(alone, shared)


class InterruptedRunError(Exception):
    """A run that was stopped."""


class LastSnapshot:
    """Keeps the last snapshot of one block in memory, as it would be read from a file; the n-th one stops the run."""

    def __init__(self, stop_at: int) -> None:
        self.left, self.content, self.key = stop_at, b"", ""

    def load(self, key: str) -> dict[str, Any] | None:
        if not self.content:
            return None
        assert key == self.key
        return dict(np.load(BytesIO(self.content), allow_pickle=False))

    def is_due(self) -> bool:
        return True

    def save(self, key: str, arrays: Arrays) -> None:
        content, named = BytesIO(), dict[str, Any](arrays)
        np.savez(content, **named)
        self.key, self.content, self.left = key, content.getvalue(), self.left - 1
        if self.left == 0:
            raise InterruptedRunError


def resumed(stop_at: int, *arguments: Any, **options: Any) -> Clustering:
    """The result of a run that was stopped after some rounds and resumed."""
    store = LastSnapshot(stop_at)
    try:
        return clustered(*arguments, store=store, **options)
    except InterruptedRunError:
        return clustered(*arguments, store=store, **options)


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(
    case=constrained(),
    run=parameters(),
    rare=rarities,
    constants=changed_constants(),
    hypothetical=st.booleans(),
    stop_at=st.integers(1, 4),
)
def test_a_resumed_block_has_the_same_result_to_the_last_bit(
    case: Case, run: Settings, rare: int, constants: dict[str, float], hypothetical: bool, stop_at: int
) -> None:
    collection, constraints = case
    bags, frequencies = flat(collection), counted(collection, rare)
    block = int(np.argmax(np.diff(bags.block_start)))
    chosen = np.arange(*bags.block_start[block : block + 2])
    one = bags.select(chosen, np.array([len(chosen)]))
    names = names_of(collection)
    options = {
        "constraints": constraints.of(chosen) if constraints else None,
        "names": names.of(chosen) if names else None,
        "hypothetical": hypothetical,
    }
    with every_block_is_giant(constants):
        whole = clustered(one, frequencies, run, **options)
        assert_identical(resumed(stop_at, one, frequencies, run, **options), whole)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["prob", "max"])
@pytest.mark.parametrize("stop_at", [1, 7])
def test_a_large_block_resumes_to_the_last_bit(stop_at: int, variant: Any) -> None:
    bags, frequencies = zipf_block(400, 1)
    run = Settings(variant=variant, alpha=1e-4, gamma=0.5)
    with every_block_is_giant({"LISTED": 2}):
        whole = clustered(bags, frequencies, run)
        assert whole.rounds[0] > stop_at
        assert_identical(resumed(stop_at, bags, frequencies, run), whole)


def test_the_key_of_a_snapshot_covers_limit_bags_names_and_constraints() -> None:
    bags, frequencies = zipf_block(60, 1)
    links = constraints_of([[0, 0, *range(2, 60)]], [[0] * 60], set())
    other_bags = Bags(bags.block_start, bags.bag_start, bags.feature, bags.count + 1)
    names = NamePrior(np.zeros(60, np.int32), np.full(60, 2.0))
    runs: list[tuple[Any, ...]] = [
        (bags, frequencies, Settings(alpha=1e-4), {}),
        (bags, frequencies, Settings(alpha=2e-4), {}),
        (bags, frequencies, Settings(alpha=1e-4, gamma=0.7), {}),
        (bags, frequencies, Settings(alpha=1e-4), {"hypothetical": True}),
        (bags, frequencies, Settings(alpha=1e-4), {"names": names}),
        (bags, frequencies, Settings(alpha=1e-4), {"constraints": links}),
        (bags, replace(frequencies, mentions=10**6), Settings(alpha=1e-4), {}),
        (other_bags, frequencies, Settings(alpha=1e-4), {}),
    ]
    keys = set()
    with every_block_is_giant():
        for block, totals, run, options in runs:
            store = LastSnapshot(1)
            with pytest.raises(InterruptedRunError):
                clustered(block, totals, run, store=store, **options)
            keys.add(store.key)
    assert len(keys) == len(runs)


def zipf_block(mentions: int, seed: int, types: int = len(TYPES)) -> tuple[Bags, Frequencies]:
    """Authors of Zipf sizes with own and common features; some mentions have equal bags, some have none."""
    random = np.random.default_rng(seed)
    person = np.minimum(random.zipf(1.3, mentions), mentions)
    vocabulary = np.array([60, 4000, 2 * mentions])[:types]
    offset = np.concatenate([[0], np.cumsum(vocabulary)])
    features: list[Any] = []
    counts: list[Any] = []
    lengths = []
    for x in range(mentions):
        if x % 40 == 3:
            features.append(features[-1])
            counts.append(counts[-1])
        else:
            drawn = []
            for t in range(types):
                common = (vocabulary[t] * random.random(random.integers(0, 10)) ** 4).astype(np.int64)
                own = (person[x] * 7919 + random.integers(0, 12, random.integers(0, 4))) % vocabulary[t]
                drawn.append(np.unique(np.concatenate([common, own])) + offset[t])
            bag = np.concatenate(drawn) if x % 50 else np.zeros(0, np.int64)
            features.append(bag)
            counts.append(random.choice([1.0, 1.0, 2.0, 0.176], len(bag)))
        lengths.append(len(features[-1]))
    feature = np.concatenate(features).astype(np.int32)
    total: Floats = np.bincount(feature, np.concatenate(counts), offset[-1]).astype(np.float64) + 1.0
    bags = Bags(np.array([0, mentions]), np.cumsum([0, *lengths]), feature, np.concatenate(counts))
    mass = np.add.reduceat(total, offset[:-1])
    return bags, Frequencies(TYPES[:types], offset, total, mass, 3 * mentions)


def random_constraints(mentions: int, seed: int) -> Constraints:
    random = np.random.default_rng(seed)
    groups = random.integers(0, 20 * mentions, mentions).tolist()
    return constraints_of([groups], [random.integers(0, PROFILES, mentions).tolist()], {(0, 1), (2, 2), (3, 4)})


def random_names(mentions: int, seed: int) -> NamePrior:
    """Names of several sizes; a third of the mentions has none."""
    random = np.random.default_rng(seed)
    name = np.where(random.random(mentions) < 0.3, -1, np.minimum(random.zipf(1.5, mentions), mentions)).astype(
        np.int32
    )
    return NamePrior(name, np.array(FACTORS)[name % len(FACTORS)])


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["prob", "max"])
@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("gamma", [0.0, 1.0])
@pytest.mark.parametrize("bound", [False, True])
def test_equals_dense_kernel_on_medium_blocks_in_every_variant(
    variant: str, joint: bool, gamma: float, bound: bool
) -> None:
    bags, frequencies = zipf_block(150, 5)
    constraints = random_constraints(150, 6) if bound else None
    scope = "within" if joint == bound else "overall"
    for alpha in (0.0, 2e-4 if joint else 0.02, 0.9):
        run = Settings(variant=variant, joint=joint, gamma=gamma, scope=scope, alpha=alpha)
        limited = [run] if variant == "max" or joint else [run, run.changed(chance_limit=0.5)]
        for hypothetical, names, case in product((False, True), (None, random_names(150, 8)), limited):
            options: dict[str, Any] = {"constraints": constraints, "names": names, "hypothetical": hypothetical}
            dense = clustered(bags, frequencies, case, **options)
            with every_block_is_giant():
                found = clustered(bags, frequencies, case, threads=2, **options)
            assert_same_answer(found, dense, case, names)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "mentions", "seed", "alpha"),
    [("prob", 700, 1, 0.07), ("prob", 1200, 2, 0.07), ("max", 700, 1, 0.02), ("max", 1200, 2, 0.02)],
)
def test_equals_dense_kernel_on_larger_blocks(variant: str, mentions: int, seed: int, alpha: float) -> None:
    bags, frequencies = zipf_block(mentions, seed)
    run = Settings(variant=variant, alpha=alpha)
    for constraints in (None, random_constraints(mentions, seed)):
        dense = clustered(bags, frequencies, run, constraints=constraints)
        assert 20 < len(np.unique(dense.label)) < 0.95 * mentions, "some mentions are joined, but not all"
        with every_block_is_giant():
            alone = clustered(bags, frequencies, run, constraints=constraints)
            shared = clustered(bags, frequencies, run, constraints=constraints, threads=2)
        assert_same_answer(alone, dense, run)
        assert_identical(alone, shared)


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "chance_limit"), [(0.1, 0.0), (0.02, 0.5), (0.02, 2.0)])
def test_equals_dense_kernel_on_a_larger_block_with_names_and_chance_limit(alpha: float, chance_limit: float) -> None:
    bags, frequencies = zipf_block(700, 1)
    run, names = Settings(alpha=alpha, chance_limit=chance_limit), random_names(700, 4)
    for constraints in (None, random_constraints(700, 3)):
        dense = clustered(bags, frequencies, run, constraints=constraints, names=names)
        assert 20 < len(np.unique(dense.label)) < 0.95 * 700, "some mentions are joined, but not all"
        with every_block_is_giant():
            alone = clustered(bags, frequencies, run, constraints=constraints, names=names)
            shared = clustered(bags, frequencies, run, constraints=constraints, names=names, threads=2)
        assert_same_answer(alone, dense, run, names)
        assert_identical(alone, shared)


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "alpha", "rounds"), [("prob", 0.05, 300), ("max", 0.002, 20)])
def test_large_cluster_that_grows_by_one_mention_per_round(variant: str, alpha: float, rounds: int) -> None:
    """Many rounds, in which the cached rows of large clusters are completed."""
    bags, frequencies = zipf_block(700, 1)
    run = Settings(variant=variant, alpha=alpha)
    dense = clustered(bags, frequencies, run)
    assert dense.rounds[0] > rounds
    with every_block_is_giant():
        assert_same_answer(clustered(bags, frequencies, run), dense, run)


@pytest.mark.parametrize("variant", ["prob", "max"])
@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_finds_more_ties_than_a_list_holds(variant: str, bound: bool, named: bool) -> None:
    """All pairs tie, or all pairs of the same name."""
    collection = [[EMPTY] * 40 + [{**EMPTY, "co": {0: 1.0}}] * 30]
    constraints = (
        constraints_of([list(range(70))], [[x % PROFILES for x in range(70)]], {(0, 1), (3, 3)}) if bound else None
    )
    bags, frequencies, run = flat(collection), counted(collection, 3), Settings(variant=variant, alpha=0.0, gamma=0.0)
    names = NamePrior(np.arange(70, dtype=np.int32) % 7 - 1, np.full(70, 2.0)) if named else None
    dense = clustered(bags, frequencies, run, constraints=constraints, names=names)
    with every_block_is_giant({"ENOUGH": 50}):
        found = clustered(bags, frequencies, run, constraints=constraints, names=names)
    assert_same_answer(found, dense, run, names)


def test_size_alone_decides_which_blocks_are_giant(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    original = giant_blocks.cluster_giant

    def watched(block: Any, *arguments: Any, **options: Any) -> int:
        seen.append(block.mentions)
        return original(block, *arguments, **options)

    monkeypatch.setattr(giant_blocks, "cluster_giant", watched)
    monkeypatch.setattr(agglomerative, "GIANT_BLOCK", 4)
    collection = [[EMPTY] * size for size in (3, 4, 1, 5)]
    advanced: list[int] = []
    found = cluster(flat(collection), counted(collection, 1), Settings(alpha=0.0, gamma=0.0), advance=advanced.append)
    assert seen == [4, 5]
    assert found.label.tolist() == [0] * 13
    assert advanced == [3, 4], "merges of each round of giant blocks"


def test_without_feature_types_only_must_link_groups_are_joined() -> None:
    nothing = Frequencies((), np.zeros(1, np.int64), np.zeros(0), np.zeros(0), 3)
    bags = Bags(np.array([0, 3, 4]), np.zeros(5, np.int64), np.zeros(0, np.int32), np.zeros(0))
    constraints = constraints_of([[0, 1, 0], [0]], [[0, 1, 2], [3]], set())
    with every_block_is_giant():
        assert cluster(bags, nothing, Settings(), hypothetical=True).label.tolist() == [0, 1, 2, 0]
        assert cluster(bags, nothing, Settings(), constraints=constraints, hypothetical=True).label.tolist() == [
            0,
            1,
            0,
            0,
        ]


def test_memory_of_giant_blocks_is_linear() -> None:
    assert needed_bytes(agglomerative.GIANT_BLOCK - 1, 8, 10**6) == dense_bytes(agglomerative.GIANT_BLOCK - 1, 8)
    small, large = needed_bytes(20_000, 8, 2 * 10**6), needed_bytes(200_000, 8, 2 * 10**7)
    assert large == 10 * small
