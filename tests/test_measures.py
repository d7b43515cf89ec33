"""The measures against a count over all pairs, mention by mention, as the paper's formulas read."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, combinations_with_replacement
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from homonym.evaluation import measures
from homonym.evaluation.measures import Contingency, NameScores, Scores

Mention = tuple[int, int, int]  # name, author, cluster

mentions_of_names = st.lists(
    st.tuples(st.integers(-2, 3), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30
)


def table_of(mentions: list[Mention]) -> Contingency:
    name, author, cluster = np.array(mentions, dtype=np.int64).T
    return measures.contingency(name, author, cluster)


def groups(mentions: list[Mention], part: int) -> dict[tuple[int, int], set[int]]:
    """Mentions by (name, author) for part 1, by (name, cluster) for part 2."""
    found: dict[tuple[int, int], set[int]] = {}
    for x, mention in enumerate(mentions):
        found.setdefault((mention[0], mention[part]), set()).add(x)
    return found


def brute_bcubed(mentions: list[Mention]) -> tuple[float, float]:
    cor, sys = groups(mentions, 1), groups(mentions, 2)
    precision = recall = 0.0
    for name, author, cluster in mentions:
        both = cor[name, author] & sys[name, cluster]
        precision += len(both) / len(sys[name, cluster])
        recall += len(both) / len(cor[name, author])
    return precision / len(mentions), recall / len(mentions)


def brute_pairwise(mentions: list[Mention], *, with_self: bool) -> tuple[float, float]:
    choose = combinations_with_replacement if with_self else combinations

    def pairs(part: int) -> set[tuple[int, int]]:
        return {pair for group in groups(mentions, part).values() for pair in choose(sorted(group), 2)}

    cor, sys = pairs(1), pairs(2)
    both = len(cor & sys)
    return (both / len(sys) if sys else 1.0), (both / len(cor) if cor else 1.0)


def same(scores: Scores, expected: tuple[float, float]) -> bool:
    return (scores.precision, scores.recall) == pytest.approx(expected, abs=1e-12)


def row(scores: NameScores, i: int) -> Scores:
    return Scores(float(scores.precision[i]), float(scores.recall[i]))


def cases(test: Callable[..., None]) -> Callable[..., None]:
    """Add the corners: one mention, one name, singletons on either side."""
    for corner in (
        [(0, 0, 0)],
        [(5, 0, 0), (5, 0, 1), (5, 1, 1)],
        [(0, 0, i) for i in range(5)],
        [(0, i, 0) for i in range(5)],
        [(0, i, i) for i in range(5)],
        [(i, 0, 0) for i in range(5)],
    ):
        test = example(mentions=corner)(test)
    return test


@cases
@given(mentions=mentions_of_names)
def test_bcubed_equals_the_mean_over_mentions(mentions: list[Mention]) -> None:
    assert same(measures.bcubed(table_of(mentions)), brute_bcubed(mentions))


@cases
@given(mentions=mentions_of_names)
def test_pairwise_equals_the_count_over_pairs(mentions: list[Mention]) -> None:
    table = table_of(mentions)
    assert same(measures.pairwise(table), brute_pairwise(mentions, with_self=False))
    assert same(measures.pairwise(table, with_self=True), brute_pairwise(mentions, with_self=True))
    assert measures.measure(table).pairwise == measures.pairwise(table)


@cases
@given(mentions=mentions_of_names)
def test_a_name_scores_as_it_would_alone(mentions: list[Mention]) -> None:
    table = table_of(mentions)
    for i, name in enumerate(sorted({mention[0] for mention in mentions})):
        alone = [mention for mention in mentions if mention[0] == name]
        assert same(row(measures.bcubed_by_name(table), i), brute_bcubed(alone))
        for with_self in (False, True):
            scores = measures.pairwise_by_name(table, with_self=with_self)
            assert same(row(scores, i), brute_pairwise(alone, with_self=with_self))
        assert table.mentions[i] == len(alone)
        assert table.true_size[i] == len(groups(alone, 1))
        assert table.clusters[i] == len(groups(alone, 2))


@given(mentions=mentions_of_names)
def test_across_names_authors_and_clusters_are_whole(mentions: list[Mention]) -> None:
    _, author, cluster = np.array(mentions).T
    whole = [(0, a, c) for _, a, c in mentions]
    assert same(measures.bcubed_across_names(author, cluster), brute_bcubed(whole))


@given(mentions=mentions_of_names, random=st.randoms(use_true_random=False))
def test_order_of_mentions_and_names_of_codes_do_not_matter(mentions: list[Mention], random: Random) -> None:
    shuffled = [(7 - n, 3 * a - 5, 10**12 * c) for n, a, c in mentions]
    random.shuffle(shuffled)
    before, after = (measures.measure(table_of(rows)) for rows in (mentions, shuffled))
    for measure in ("bcubed", "pairwise", "pairwise_with_self"):
        expected = getattr(before, measure)
        assert same(getattr(after, measure), (expected.precision, expected.recall))


@given(mentions=mentions_of_names)
def test_swapping_truth_and_system_swaps_precision_and_recall(mentions: list[Mention]) -> None:
    there = measures.measure(table_of(mentions))
    back = measures.measure(table_of([(n, c, a) for n, a, c in mentions]))
    for measure in ("bcubed", "pairwise", "pairwise_with_self"):
        expected = getattr(back, measure)
        assert same(getattr(there, measure), (expected.recall, expected.precision))


@given(mentions=mentions_of_names)
def test_the_truth_scores_exactly_one_and_the_baselines_as_they_must(mentions: list[Mention]) -> None:
    name, author, _ = np.array(mentions).T
    perfect = Scores(1.0, 1.0)
    truth = measures.measure(measures.contingency(name, author, author))
    assert (truth.bcubed, truth.pairwise, truth.pairwise_with_self) == (perfect, perfect, perfect)
    together = measures.measure(measures.contingency(name, author, measures.one_cluster_per_name(name)))
    assert together.bcubed.recall == together.pairwise.recall == together.pairwise_with_self.recall == 1.0
    alone = measures.measure(measures.contingency(name, author, measures.singletons(name)))
    assert alone.bcubed.precision == alone.pairwise.precision == alone.pairwise_with_self.precision == 1.0


def test_pairs_that_do_not_exist_are_neither_wrong_nor_missing() -> None:
    apart = table_of([(0, 0, 0), (0, 0, 1)])
    assert measures.pairwise(apart) == Scores(1.0, 0.0)
    assert measures.pairwise(table_of([(0, 0, 0), (0, 1, 0)])) == Scores(0.0, 1.0)
    assert measures.pairwise(table_of([(0, 0, 0), (0, 1, 1)])) == Scores(1.0, 1.0)
    assert measures.pairwise(apart, with_self=True) == Scores(1.0, 2 / 3)


def test_f1_of_nothing_is_zero() -> None:
    assert Scores(0.0, 0.0).f1 == 0.0


def test_codes_must_be_given_for_every_mention() -> None:
    codes = np.array([0, 1])
    with pytest.raises(ValueError, match="2, 2 and 1"):
        measures.contingency(codes, codes, codes[:1])
    with pytest.raises(ValueError, match="at least one mention"):
        measures.contingency(codes[:0], codes[:0], codes[:0])


def test_codes_may_be_narrow_integers() -> None:
    codes = np.arange(250, dtype=np.uint8)
    one = np.zeros(250, dtype=np.int8)
    assert measures.measure(measures.contingency(one, codes, codes)).bcubed == Scores(1.0, 1.0)
    assert measures.measure(measures.contingency(codes, codes, one)).bcubed == Scores(1.0, 1.0)


def test_a_million_mentions(benchmark: Callable[..., measures.Measures]) -> None:
    generator = np.random.default_rng(0)
    names = generator.integers(0, 200_000, 1_000_000)
    authors, clusters = (3 * names + generator.integers(0, 3, len(names)) for _ in range(2))
    found = benchmark(lambda: measures.measure(measures.contingency(names, authors, clusters)))
    assert found.pairwise.precision == pytest.approx(1 / 3, abs=0.01)
