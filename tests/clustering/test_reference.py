"""The literal formulas: their defaults, and small cases that are computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from homonym.clustering.reference import (
    FeatureType,
    ReferenceConstraints,
    ReferenceModel,
    ReferenceNames,
    authors,
    cannot_be_linked,
    chance,
    chance_level,
    exceeds,
    exceeds_chance_limit,
    in_order,
    likeness,
    limit_weight,
    margins,
    merge,
    name_factor,
    p_cluster,
    p_mention,
    p_prior,
    rounds,
    score,
    selected,
)

# Two mentions share feature 0, which a third mention of another block has, too; mention 2 shares nothing.
COUNTS = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
TYPE = FeatureType(COUNTS, np.array([3.0, 1.0, 4.0]), mass=8.0, weight=1.0)
N, EPSILON = 10, 0.1
MODEL = ReferenceModel(N, EPSILON, limit=0.1)
P = p_mention(COUNTS, TYPE.totals, N, EPSILON)


def test_a_model_has_no_correction_unless_asked() -> None:
    plain = ReferenceModel(10, 0.1, 0.5, use_max=False, joint=False, gamma=0.0, chance_limit=0.0, names=None)
    assert ReferenceModel(10, 0.1, 0.5) == plain
    assert ReferenceConstraints([[0]]) == ReferenceConstraints([[0]], frozenset())


def test_probabilities_of_mentions() -> None:
    shared = np.array([[1 / 3 + 1, 1 / 3, 0.0], [1 / 3, 1 / 3, 0.0], [0.0, 0.0, 1.0]])
    assert pytest.approx((shared + 0.01) / (np.array([2.0, 1.0, 2.0]) + 0.1)) == P
    without_totals = p_mention(COUNTS, np.array([3.0, 1.0, 0.0]), N, EPSILON)
    assert without_totals[2, 2] == pytest.approx(0.01 / 2.1)


def test_probabilities_of_clusters() -> None:
    total = (1 / 3 + 0.01) / 2.1 * 2.1 / 3.2 + 0.01 / 2.1 * 2.1 / 3.2
    D = [0, 1]
    terms = [P[2, 0] * 2.1 / 3.2, P[2, 1] * 1.1 / 3.2]
    assert p_cluster(P, COUNTS, [2], D, EPSILON, use_max=False) == pytest.approx(sum(terms))
    assert p_cluster(P, COUNTS, [1, 2], [0], EPSILON, use_max=False) == pytest.approx(total * 3.2 / 2.1)
    assert p_cluster(P, COUNTS, [1, 2], [0], EPSILON, use_max=True) == pytest.approx((1 / 3 + 0.01) / 2.1)
    assert p_prior(COUNTS, D, N, 8.0, EPSILON) == pytest.approx((2.1 + 1.1) / 9.0)


def test_scores_add_up() -> None:
    half = FeatureType(COUNTS, TYPE.totals, 8.0, 0.5)
    joint = ReferenceModel(N, EPSILON, 0.1, joint=True, gamma=2.0)
    plain = ReferenceModel(N, EPSILON, 0.1, gamma=2.0)
    one = p_cluster(P, COUNTS, [1], [0], EPSILON, use_max=False)
    assert likeness([half, half], [P, P], [1], [0], plain) == pytest.approx(one)
    assert chance([half, half], [1], [0], plain) == pytest.approx(2 * 1 / 8)
    prior = p_prior(COUNTS, [0], N, 8.0, EPSILON)
    assert likeness([half], [P], [1], [0], joint) == pytest.approx(one / 2 * prior)
    assert chance([half], [1], [0], joint) == pytest.approx(2 * 1 / 8 / 2 * prior)
    assert score([half], [P], [1], [0], plain) == pytest.approx((one - 2 / 8) / 2)
    nothing = FeatureType(np.zeros((3, 1)), np.zeros(1), 0.0, 1.0)
    assert chance([nothing], [1], [0], plain) == 0


def test_the_chance_level_is_what_is_shared_with_other_blocks() -> None:
    # Of feature 0, two of three occurrences are here, of feature 1 all, of feature 2 half: outside are 8 − 5.
    assert chance_level([TYPE], [1]) == pytest.approx((1 - 2 / 3) / 3)
    assert chance_level([TYPE], [0, 2]) == pytest.approx((2 - 1 - 2 / 3 + 2 - 1) / 3)
    assert chance_level([FeatureType(COUNTS, COUNTS.sum(axis=0), 5.0, 1.0)], [0, 1, 2]) == 0
    assert limit_weight(2, 10) == 2.0


def test_without_a_chance_limit_every_pair_exceeds_it() -> None:
    corrected = ReferenceModel(N, EPSILON, 0.1, gamma=100.0)
    assert score([TYPE], [P], [0], [2], corrected) < -1
    assert exceeds_chance_limit([TYPE], [P], [0], [2], corrected)
    limited = ReferenceModel(N, EPSILON, 0.1, chance_limit=1.0)
    assert not exceeds_chance_limit([TYPE], [P], [0], [2], limited)
    assert exceeds_chance_limit([TYPE], [P], [1], [0], limited)


def test_differences_within_rounding_errors_are_ties() -> None:
    assert not exceeds(1.0, 1.0 - 0.9e-9)
    assert exceeds(1.0, 1.0 - 1.1e-9)
    assert not exceeds(-1.0, -1.0 - 0.9e-9)
    assert not exceeds(0.0, -0.9e-12, 1e-12)
    assert exceeds(0.0, -1.1e-12, 1e-12)
    assert not exceeds(1.0, 1.0)


def test_a_pair_is_selected_if_it_is_the_best_of_its_row_and_column() -> None:
    none = -np.inf
    scores = np.array([[none, 0.5, 0.4], [0.3, none, 0.6], [0.2, 0.1, none]])
    assert selected(scores, 0.15) == [(0, 1), (1, 2)]
    assert selected(scores, 0.55) == [(1, 2)]
    assert selected(scores, 0.6) == []
    assert selected(np.full((2, 2), none), none) == []


def test_ties_are_in_the_order_of_clusters() -> None:
    scores = np.array([[0.0, 0.5, 0.7], [0.5, 0.0, 0.5 - 1e-12], [0.7, 0.5, 0.0]])
    pairs = [(2, 1), (1, 2), (1, 0), (0, 1), (0, 2), (2, 0)]
    assert [tuple(sorted(pair)) for pair in in_order(pairs, scores)] == [
        (0, 2), (0, 2), (0, 1), (0, 1), (1, 2), (1, 2),
    ]  # fmt: skip


def test_each_pair_of_a_run_of_ties_ties_with_its_neighbour() -> None:
    scores = np.zeros((3, 3))
    scores[1, 2], scores[0, 2], scores[0, 1] = 1.0, 1.0 - 0.8e-9, 1.0 - 1.6e-9
    assert in_order([(1, 2), (0, 2), (0, 1)], scores) == [(0, 1), (0, 2), (1, 2)]


def test_merges_are_transitive_and_skip_what_cannot_be_linked() -> None:
    clusters = [[0], [1], [2], [3]]
    free = ReferenceConstraints(clusters)
    assert merge(clusters, [(2, 3), (1, 2)], free) == [[0], [1, 2, 3]]
    apart = ReferenceConstraints(clusters, frozenset({(3, 1)}))
    assert merge(clusters, [(2, 3), (1, 2)], apart) == [[0], [1], [2, 3]]
    assert cannot_be_linked([1], [3], apart)
    assert cannot_be_linked([3, 0], [2, 1], apart)
    assert not cannot_be_linked([3], [2], apart)


def test_a_shared_name_multiplies_the_score() -> None:
    names = ReferenceNames([7, 7, None], {7: 3.0})
    named = ReferenceModel(N, EPSILON, 0.1, names=names)
    assert score([TYPE], [P], [0], [1], named) == pytest.approx(3 * score([TYPE], [P], [0], [1], MODEL))
    assert score([TYPE], [P], [0], [2], named) == pytest.approx(score([TYPE], [P], [0], [2], MODEL))
    assert name_factor([2], [2], names) == 1
    two_names = ReferenceNames([7, 8, 7, 8], {7: 2.0, 8: 4.0})
    assert name_factor([0, 1], [2, 3], two_names) == 1


def test_rounds_go_on_after_convergence_until_one_cluster_is_left() -> None:
    found = list(rounds([TYPE], MODEL))
    assert [(step.clusters, step.before_convergence) for step in found] == [
        ([[0, 1], [2]], True), ([[0, 1, 2]], False),
    ]  # fmt: skip
    assert authors([TYPE], MODEL) == [[0, 1], [2]]
    apart = ReferenceConstraints([[0], [1], [2]], frozenset({(1, 0)}))
    assert authors([TYPE], MODEL, apart) == [[0], [1], [2]]
    assert authors([TYPE], MODEL, ReferenceConstraints([[0], [1, 2]])) != [[0], [1], [2]]
    assert list(rounds([], MODEL)) == []


def test_margins_compare_the_own_cluster_with_the_best_other_one() -> None:
    own, other = margins([TYPE], [[0, 1], [2]], MODEL)
    to_0, to_1 = score([TYPE], [P], [1], [0], MODEL), score([TYPE], [P], [0], [1], MODEL)
    assert own[:2] == pytest.approx([max(to_0, to_1)] * 2)
    assert np.isnan(own[2])
    both = max(score([TYPE], [P], [2], [0, 1], MODEL), score([TYPE], [P], [0, 1], [2], MODEL))
    assert other[2] == pytest.approx(both)
    alone = margins([TYPE], [[0, 1], [2]], MODEL, ReferenceConstraints([[0], [1], [2]], frozenset({(0, 2)})))
    assert alone[1] == [-np.inf] * 3
