"""The dense kernel compared with the literal reference: the same partitions and rounds for any block."""

from __future__ import annotations

import pkgutil
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.clustering import compiling, reference
from homonym.clustering.agglomerative import Clustering, cluster, round_table
from homonym.clustering.arrays import CACHE_LINE, Bags, Frequencies, NamePrior, ReusedMemory
from homonym.clustering.dense import blocks as dense_blocks
from homonym.settings import Settings
from tests.support.profiles import examples
from tests.support.small_blocks import (
    TYPES,
    Mention,
    blocks,
    counted,
    flat,
    literal,
    names_of,
    near,
    parameters,
    partition,
    with_name,
)


def replayed(answer: Clustering, b: int) -> list[list[list[int]]]:
    """The partition after every round, rebuilt from the merges."""
    first, last = answer.block_start[b], answer.block_start[b + 1]
    group = list(range(last - first))
    partitions = []
    steps = answer.merge_round[first:last]
    for step in range(1, int(steps.max()) + 1):
        for k in np.flatnonzero(steps == step):
            left, right = group[answer.merge_left[first + k]], group[answer.merge_right[first + k]]
            group = [left if g == right else g for g in group]
        partitions.append(partition(group))
    return partitions


def assert_same_as_reference(collection: list[list[Mention]], run: Settings, rare: int) -> None:
    frequencies, names = counted(collection, rare), names_of(collection)
    stopped = cluster(flat(collection), frequencies, run, names=names)
    followed = cluster(flat(collection), frequencies, run, names=names, hypothetical=True)
    assert stopped.label.tolist() == followed.label.tolist()
    trace = round_table(followed)
    for b, block in enumerate(collection):
        expected = literal(block, frequencies, run)
        assert replayed(followed, b) == [step.clusters for step in expected]
        before = [step for step in expected if step.before_convergence]
        assert stopped.rounds[b] == followed.rounds[b] == len(before)
        first, last = stopped.block_start[b], stopped.block_start[b + 1]
        singletons = [[x] for x in range(len(block))]
        assert partition(stopped.label[first:last].tolist()) == (before[-1].clusters if before else singletons)
        rows = np.flatnonzero(trace["block"] == b)
        assert trace["clusters"][rows].tolist() == [len(step.clusters) for step in expected]
        assert trace["before_convergence"][rows].tolist() == [step.before_convergence for step in expected]
        assert trace["highest_score"][rows] == near([max(s.scores) for s in expected], run, names)
        for step, lowest in zip(expected, trace["lowest_score"][rows], strict=True):
            assert any(lowest == near(score, run, names) for score in step.scores)


@settings(max_examples=examples(1500))
@given(collection=blocks, run=parameters(), rare=st.sampled_from([0, 1, 50]))
def test_kernel_equals_reference(collection: list[list[Mention]], run: Settings, rare: int) -> None:
    assert_same_as_reference(collection, run, rare)


@settings(max_examples=examples(300))
@given(
    collection=blocks, run=parameters(), most=st.sampled_from([0, 100, 10_000]), content=st.sampled_from([7.0, np.nan])
)
def test_memory_that_is_used_again_changes_no_bit(
    collection: list[list[Mention]], run: Settings, most: int, content: float
) -> None:
    frequencies, memory = counted(collection, 1), ReusedMemory(most)
    memory.take(most)[:] = content  # as another block would leave it
    new = cluster(flat(collection), frequencies, run, margins=True)
    again = cluster(flat(collection), frequencies, run, margins=True, memory=memory)
    for name in ("label", "rounds", "merge_round", "merge_score", "own", "other"):
        assert getattr(new, name).tobytes() == getattr(again, name).tobytes()


def test_memory_is_kept_up_to_its_maximum() -> None:
    memory = ReusedMemory(1000)
    first = memory.take(1000)
    assert first.ctypes.data % CACHE_LINE == 0
    assert np.shares_memory(first, memory.take(500))
    large = memory.take(1001)
    assert not np.shares_memory(large, memory.take(1001))


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["prob", "max"])
@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("scope", ["overall", "within"])
@pytest.mark.parametrize("gamma", [0.0, 1.5])
@pytest.mark.parametrize("named", [False, True])
def test_equals_reference_on_larger_blocks_in_every_variant(
    variant: str, joint: bool, scope: str, gamma: float, named: bool
) -> None:
    random = np.random.default_rng(7)
    collection: list[list[Mention]] = [
        [
            {kind: {int(f): float(random.integers(1, 4)) for f in random.choice(6, 3, replace=False)} for kind in TYPES}
            for _ in range(size)
        ]
        for size in (1, 2, 12, 25)
    ]
    if named:
        collection = [[with_name(mention, int(random.integers(-2, 5))) for mention in block] for block in collection]
    run = Settings(variant=variant, joint=joint, scope=scope, gamma=gamma, alpha=0.05 if not joint else 0.005)
    assert_same_as_reference(collection, run, rare=20)
    if variant == "prob" and not joint:
        for limit in (0.5, 1.5):
            assert_same_as_reference(collection, run.changed(chance_limit=limit), rare=20)


@pytest.mark.parametrize("run", [Settings(alpha=0.0), Settings(variant="max", alpha=0.0), Settings(alpha=1.0)])
def test_featureless_mentions_all_tie(run: Settings) -> None:
    empty: Mention = {kind: {} for kind in TYPES}
    assert_same_as_reference([[empty] * 5, [empty]], run, rare=3)


@given(collection=blocks, run=parameters())
@settings(max_examples=examples(200))
def test_blocks_do_not_influence_each_other(collection: list[list[Mention]], run: Settings) -> None:
    frequencies = counted(collection, 1)
    together = cluster(flat(collection), frequencies, run, names=names_of(collection)).label.tolist()
    apart = [cluster(flat([block]), frequencies, run, names=names_of([block])).label.tolist() for block in collection]
    assert together == [label for block in apart for label in block]


@given(collection=blocks, run=parameters(), order=st.randoms(use_true_random=False))
@settings(max_examples=examples(200))
def test_order_of_mentions_does_not_matter(collection: list[list[Mention]], run: Settings, order: Any) -> None:
    block = collection[0]
    frequencies = counted(collection, 1)
    shuffled = list(range(len(block)))
    order.shuffle(shuffled)
    straight = cluster(flat([block]), frequencies, run, names=names_of([block])).label.tolist()
    other_order = [[block[x] for x in shuffled]]
    mixed = cluster(flat(other_order), frequencies, run, names=names_of(other_order)).label.tolist()
    back = [0] * len(block)
    for place, x in enumerate(shuffled):
        back[x] = mixed[place]
    assert partition(back) == partition(straight)


@given(collection=blocks, run=parameters(), hypothetical=st.booleans())
@settings(max_examples=examples(100))
def test_names_that_say_nothing_change_nothing(
    collection: list[list[Mention]], run: Settings, hypothetical: bool
) -> None:
    """No names, different names, and names with the factor 1 give the same bytes."""
    bags, frequencies = flat(collection), counted(collection, 1)
    number = np.arange(len(bags.bag_start) - 1, dtype=np.int32)
    without = cluster(bags, frequencies, run, hypothetical=hypothetical, margins=True)
    for name, factor in ((number * 0 - 1, 7.0), (number, 7.0), (number % 2, 1.0)):
        prior = NamePrior(name, np.full(len(number), factor))
        found = cluster(bags, frequencies, run, names=prior, hypothetical=hypothetical, margins=True)
        for field in ("label", "rounds", "merge_round", "merge_left", "merge_right", "merge_score", "own", "other"):
            assert getattr(found, field).tobytes() == getattr(without, field).tobytes(), field


def test_a_shared_name_moves_two_mentions_above_or_below_the_limit() -> None:
    block: list[Mention] = [{"co": {0: 1.0}, "term": {x: 1.0}, "year": {}} for x in range(3)]
    bags, frequencies = flat([block]), counted([block], 50)
    scores = cluster(bags, frequencies, Settings(gamma=0, alpha=0.0), hypothetical=True).merge_score
    above = Settings(gamma=0, alpha=3 * float(scores[0]))
    assert cluster(bags, frequencies, above).label.tolist() == [0, 1, 2]
    names = NamePrior(np.array([4, -1, 4], np.int32), np.array([4.0, 1.0, 4.0]))
    found = cluster(bags, frequencies, above, names=names)
    assert found.label.tolist() == [0, 1, 0]
    assert found.merge_score[0] == 4 * scores[0]
    two, below = flat([block[:2]]), Settings(gamma=0, alpha=0.75 * float(scores[0]))
    half = NamePrior(np.array([4, 4], np.int32), np.array([0.5, 0.5]))
    assert cluster(two, frequencies, below).label.tolist() == [0, 0]
    assert cluster(two, frequencies, below, names=half).label.tolist() == [0, 1]


def test_a_cluster_with_several_names_shares_none() -> None:
    """Mentions 0 and 1 must be linked and have different names, so mention 2 gains nothing from its name."""
    names = reference.ReferenceNames([0, 1, 0, None], {0: 1000.0, 1: 1000.0})
    assert reference.name_factor([0, 1], [2], names) == reference.name_factor([0, 3], [1], names) == 1.0
    assert reference.name_factor([0, 3], [2], names) == 1000.0


def test_pairs_that_share_no_more_than_chance_are_not_even_joined_hypothetically() -> None:
    block: list[Mention] = [{"co": {}, "term": {x % 2: 1.0}, "year": {}} for x in range(16)]
    frequencies, free = counted([block], 100), Settings(alpha=0.0, gamma=0.0, weights="only-term")
    assert cluster(flat([block]), frequencies, free).label.tolist() == [0] * 16
    limited = free.changed(chance_limit=1.0)
    found = cluster(flat([block]), frequencies, limited, hypothetical=True)
    assert found.label.tolist() == [0, 1] * 8
    assert (found.merge_round > 0).sum() == 14
    assert_same_as_reference([block], limited, rare=100)


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"name": np.zeros(2, np.int32)}, "one entry per mention"),
        ({"factor": np.ones(4)}, "one entry per mention"),
        ({"name": np.array([0, -2, 0], np.int32)}, "−1 or the number of a name"),
        ({"factor": np.array([1.0, 0.0, 1.0])}, "positive and finite"),
        ({"factor": np.array([1.0, np.nan, 1.0])}, "positive and finite"),
        ({"factor": np.array([1.0, np.inf, 1.0])}, "positive and finite"),
    ],
)
def test_rejects_malformed_names(changes: dict[str, Any], wrong: str) -> None:
    empty: Mention = {kind: {} for kind in TYPES}
    names = NamePrior(np.zeros(3, np.int32), np.ones(3))._replace(**changes)
    with pytest.raises(ValueError, match=wrong):
        cluster(flat([[empty] * 3]), counted([[empty] * 3], 1), Settings(), names=names)


def test_without_feature_types_all_mentions_stay_singletons() -> None:
    nothing = Frequencies((), np.zeros(1, np.int64), np.zeros(0), np.zeros(0), 3)
    bags = Bags(np.array([0, 2, 3]), np.zeros(4, np.int64), np.zeros(0, np.int32), np.zeros(0))
    assert cluster(bags, nothing, Settings()).label.tolist() == [0, 1, 0]


def test_rejects_malformed_bags() -> None:
    with pytest.raises(ValueError, match="block_start"):
        Bags(np.array([0, 2]), np.zeros(4, np.int64), np.zeros(0, np.int32), np.zeros(0))
    with pytest.raises(ValueError, match="bag_start"):
        Bags(np.array([0, 1]), np.array([0, 5]), np.zeros(0, np.int32), np.zeros(0))


def test_compiles_without_cache_if_no_directory_is_writable(monkeypatch: pytest.MonkeyPatch) -> None:
    original = numba.njit

    def read_only(*functions: Any, **options: Any) -> Any:
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return original(*functions, **options)

    monkeypatch.setattr(numba, "njit", read_only)
    assert compiling.compiled(_one_more)(1) == 2


def test_cached_machine_code_is_stale_after_any_kernel_source_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiled function contains the code of the functions it calls; numba checks only its own file."""
    digest = compiling.sources_digest()
    cluster_blocks: Any = dense_blocks.cluster_blocks
    assert cluster_blocks._cache._cache_file._source_stamp[1] == digest
    original = pkgutil.get_data
    for changed in ("scoring.py", "row_scores.py", "reference.py", "arrays.py"):

        def edited(package: str, resource: str, changed: str = changed) -> bytes:
            return (original(package, resource) or b"") + (b"# edited" if resource == changed else b"")

        with monkeypatch.context() as patch:
            patch.setattr(pkgutil, "get_data", edited)
            assert compiling.sources_digest.__wrapped__() != digest
    assert compiling.sources_digest.__wrapped__() == digest


def test_cached_machine_code_with_a_renamed_tuple_is_compiled_again() -> None:
    cluster_blocks: Any = dense_blocks.cluster_blocks
    file = cluster_blocks._cache._cache_file

    def renamed() -> dict[Any, Any]:
        raise AttributeError("Can't get attribute 'Scores'")

    assert compiling._index_or_empty(renamed, Path(file._cache_path), Path(dense_blocks.__file__)) == {}
    assert file._load_index.func is compiling._index_or_empty


def test_sources_digest_is_empty_without_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: str) -> bytes:
        raise OSError

    monkeypatch.setattr(pkgutil, "get_data", gone)
    assert compiling.sources_digest.__wrapped__() == ""


def _one_more(number: int) -> int:
    return number + 1
