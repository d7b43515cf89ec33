"""The parts of a score compared with the literal reference: they sum to its scores, for any clusters and settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.clustering import reference
from homonym.clustering.agglomerative import cluster
from homonym.explanation.merge_tree import MergeTree
from homonym.explanation.score_parts import BlockScores
from homonym.settings import Settings
from tests.support.profiles import examples
from tests.support.small_blocks import (
    Case,
    Mention,
    constrained,
    counted,
    flat,
    literal_model,
    members,
    names_of,
    near,
    parameters,
    partition,
)


def scores_of(block: list[Mention], run: Settings, rare: int) -> BlockScores:
    return BlockScores.of(flat([block]), counted([block], rare), run, names_of([block]))


def literal_score(block: list[Mention], run: Settings, rare: int, C: list[int], D: list[int]) -> tuple[float, float]:
    """score(C,D) and the chance limit of the reference."""
    types, model = literal_model(block, counted([block], rare), run)
    ps = [reference.p_mention(t.counts, t.totals, model.N, model.epsilon) for t in types]
    return reference.score(types, ps, C, D, model), reference.chance_limit(types, C, D, model)


@settings(max_examples=examples(1000))
@given(
    block=members, run=parameters(), rare=st.sampled_from([0, 1, 50]), labels=st.lists(st.integers(0, 2), min_size=7)
)
def test_parts_sum_to_score_of_reference(block: list[Mention], run: Settings, rare: int, labels: list[int]) -> None:
    clusters = partition(labels[: len(block)])
    if len(clusters) < 2:
        return
    C, D = clusters[:2]
    expected, chance_limit = literal_score(block, run, rare, C, D)
    found = scores_of(block, run, rare).parts(C, D)
    parts = [part.value for part in found.evidence] + [*found.smoothing, *-found.chance, found.name_part]
    assert sum(parts) == near(expected, run, names_of([block]))
    assert found.score == near(expected, run, names_of([block]))
    assert found.chance_limit == pytest.approx(chance_limit, rel=1e-9, abs=1e-12)
    assert all(part.value > 0 and part.in_C > 0 and part.in_D > 0 for part in found.evidence)


@settings(max_examples=examples(300))
@given(block=members, run=parameters(), rare=st.sampled_from([0, 50]), labels=st.lists(st.integers(0, 3), min_size=7))
def test_best_partner_has_highest_score(block: list[Mention], run: Settings, rare: int, labels: list[int]) -> None:
    clusters = partition(labels[: len(block)])
    label = np.array([next(k for k, C in enumerate(clusters) if x in C) for x in range(len(block))])
    scores = scores_of(block, run, rare)
    found = scores.best_partners(clusters[0], label)
    assert sorted(found.tolist()) == list(range(1, len(clusters)))
    if len(found):
        highest = [scores.better(clusters[0], D)[2].score for D in clusters[1:]]
        assert highest[found[0] - 1] == near(max(highest), run, names_of([block]))


@settings(max_examples=examples(500))
@given(case=constrained(), run=parameters(), rare=st.sampled_from([0, 1, 50]))
def test_every_merge_has_the_score_of_two_clusters(case: Case, run: Settings, rare: int) -> None:
    """Also where a round joins more than two clusters, as ties do."""
    collection, constraints = case
    block = collection[0]
    constraints = constraints.of(slice(0, len(block)))
    frequencies, names = counted(collection, rare), names_of([block])
    clustering = cluster(flat([block]), frequencies, run, names=names, constraints=constraints)
    tree = MergeTree.of(clustering)
    scores = BlockScores.of(flat([block]), frequencies, run, names)
    authors = {frozenset(tree.members(root)) for root in tree.root}
    assert authors == {frozenset(C) for C in partition(clustering.label.tolist())}
    for merge in tree.merges:
        _, _, found = tree.compared(merge, scores)
        if merge.is_must_link:
            assert merge.score == np.inf
        else:
            assert found.score == near(merge.score, run, names)
            assert found.suffices(found.score)


def test_tree_knows_where_two_mentions_came_together() -> None:
    same: Any = {"co": {0: 1.0}, "term": {}, "year": {}}
    other: Any = {"co": {1: 1.0}, "term": {}, "year": {}}
    block = [same, other, same]
    clustering = cluster(flat([block]), counted([block], 1), Settings(alpha=0.01, weights={"co": 1.0}))
    tree = MergeTree.of(clustering)
    assert tree.joined_at(0, 2) == 3
    assert tree.joined_at(0, 1) is None
    assert tree.members(3) == [0, 2]


def test_a_round_that_joins_very_many_equal_mentions() -> None:
    same: Any = {"co": {0: 1.0}, "term": {1: 1.0}, "year": {}}
    block = [same] * 1200
    frequencies, run = counted([block], 5000), Settings(alpha=1e-7)
    tree = MergeTree.of(cluster(flat([block]), frequencies, run))
    assert {merge.round for merge in tree.merges} == {1}
    scores = BlockScores.of(flat([block]), frequencies, run, None)
    C, D, parts = tree.compared(tree.merges[-1], scores)
    assert (len(C), len(D)) == (1, 1)
    assert parts.score == pytest.approx(tree.merges[-1].score)
