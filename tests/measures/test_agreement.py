"""The measures against their literal definitions, mention by mention and pair by pair."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, combinations_with_replacement
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from homonym.measures import agreement
from homonym.measures.agreement import (
    Contingency,
    KMetric,
    Measures,
    NameScores,
    Scores,
    contingency,
    harmonic,
    merge_all,
    split_all,
)

Mention = tuple[int, int, int]  # name, author, cluster

mentions_of_names = st.lists(
    st.tuples(st.integers(-2, 3), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30
)


def table_of(mentions: list[Mention]) -> Contingency:
    name, author, cluster = np.array(mentions, dtype=np.int64).T
    return contingency(name, author, cluster)


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


def brute_cluster_level(mentions: list[Mention]) -> tuple[float, float]:
    cor, sys = ({(key[0], frozenset(group)) for key, group in groups(mentions, part).items()} for part in (1, 2))
    return len(cor & sys) / len(sys), len(cor & sys) / len(cor)


def brute_purities(mentions: list[Mention]) -> tuple[float, float]:
    """ACP and AAP as sums over clusters and authors."""
    cor, sys = groups(mentions, 1), groups(mentions, 2)
    acp = aap = 0.0
    for cluster in sys.values():
        for author in cor.values():
            acp += len(cluster & author) ** 2 / len(cluster)
            aap += len(cluster & author) ** 2 / len(author)
    return acp / len(mentions), aap / len(mentions)


def brute_errors(mentions: list[Mention]) -> tuple[float, float]:
    """Splitting and lumping, author by author; of equal clusters the smaller one, then the first."""
    cor, sys = groups(mentions, 1), groups(mentions, 2)
    outside = foreign = size = 0
    for author in cor.values():
        best = min(sys, key=lambda key: (-len(sys[key] & author), len(sys[key]), key))
        outside += len(author - sys[best])
        foreign += len(sys[best] - author)
        size += len(sys[best])
    return outside / len(mentions), foreign / size


BRUTE: dict[str, Callable[[list[Mention]], tuple[float, float]]] = {
    "bcubed": brute_bcubed,
    "pairwise": lambda mentions: brute_pairwise(mentions, with_self=False),
    "pairwise_with_self": lambda mentions: brute_pairwise(mentions, with_self=True),
    "cluster_level": brute_cluster_level,
    "k_metric": brute_purities,
    "errors": brute_errors,
}


def both_figures(found: Measures, measure: str) -> tuple[float, float]:
    """The two values of a measure."""
    if measure == "errors":
        return found.splitting_error, found.lumping_error
    scores = getattr(found, measure)
    return (scores.acp, scores.aap) if measure == "k_metric" else (scores.precision, scores.recall)


def same(scores: Scores, expected: tuple[float, float]) -> bool:
    return (scores.precision, scores.recall) == pytest.approx(expected, abs=1e-12)


def row(scores: NameScores, i: int) -> Scores:
    return Scores(float(scores.precision[i]), float(scores.recall[i]))


def cases(test: Callable[..., None]) -> Callable[..., None]:
    """Add edge cases: one mention, one name, singletons on either side."""
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
    assert same(agreement.bcubed(table_of(mentions)).overall(), brute_bcubed(mentions))


@cases
@given(mentions=mentions_of_names)
def test_pairwise_equals_the_count_over_pairs(mentions: list[Mention]) -> None:
    table = table_of(mentions)
    assert same(agreement.pairwise(table).overall(), brute_pairwise(mentions, with_self=False))
    assert same(agreement.pairwise(table, with_self=True).overall(), brute_pairwise(mentions, with_self=True))
    assert agreement.measure(table).pairwise == agreement.pairwise(table).overall()


@cases
@given(mentions=mentions_of_names)
def test_every_measure_over_mentions_equals_its_definition(mentions: list[Mention]) -> None:
    found = agreement.measure(table_of(mentions))
    for measure, brute in BRUTE.items():
        assert both_figures(found, measure) == pytest.approx(brute(mentions), abs=1e-12), measure


@cases
@given(mentions=mentions_of_names)
def test_every_measure_over_names_is_the_mean_over_single_names(mentions: list[Mention]) -> None:
    found = agreement.measure_over_names(table_of(mentions))
    names = [[mention for mention in mentions if mention[0] == name] for name in {mention[0] for mention in mentions}]
    for measure, brute in BRUTE.items():
        expected = np.mean([brute(alone) for alone in names], axis=0)
        assert both_figures(found, measure) == pytest.approx(expected, abs=1e-12), measure


@pytest.mark.parametrize("seed", range(5))
def test_every_measure_equals_its_definition_on_larger_clusterings(seed: int) -> None:
    generator = np.random.default_rng(seed)
    name = generator.integers(0, 6, 150)
    author = generator.integers(0, name + 1)
    cluster = np.where(generator.random(150) < 0.6, author, generator.integers(0, 4, 150))
    mentions: list[Mention] = list(zip(name.tolist(), author.tolist(), cluster.tolist(), strict=True))
    found = agreement.measure(table_of(mentions))
    for measure, brute in BRUTE.items():
        assert both_figures(found, measure) == pytest.approx(brute(mentions), abs=1e-12), measure


def test_main_cluster_is_the_smaller_of_equals() -> None:
    # Author 0 has one mention in a cluster of three and one alone; author 1 has two in the cluster of three.
    table = table_of([(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 0)])
    assert agreement.splitting_and_lumping(table).overall() == (1 / 4, 1 / 4)


def test_k_is_the_geometric_mean_of_the_purities() -> None:
    table = table_of([(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 0)])
    assert agreement.measure(table).k_metric == KMetric(0.25, 1.0)
    assert agreement.measure(table).k_metric.k == 0.5


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1))
def test_harmonic_equals_f1_elementwise(pairs: list[tuple[float, float]]) -> None:
    precision, recall = np.array(pairs).T
    assert harmonic(precision, recall) == pytest.approx([Scores(*pair).f1 for pair in pairs])


@cases
@given(mentions=mentions_of_names)
def test_names_do_not_influence_each_other(mentions: list[Mention]) -> None:
    table = table_of(mentions)
    for i, name in enumerate(sorted({mention[0] for mention in mentions})):
        alone = [mention for mention in mentions if mention[0] == name]
        assert same(row(agreement.bcubed(table).by_name(), i), brute_bcubed(alone))
        assert same(row(agreement.cluster_level(table).by_name(), i), brute_cluster_level(alone))
        splitting, lumping = agreement.splitting_and_lumping(table).by_name()
        assert (splitting[i], lumping[i]) == pytest.approx(brute_errors(alone), abs=1e-12)
        for with_self in (False, True):
            scores = agreement.pairwise(table, with_self=with_self).by_name()
            assert same(row(scores, i), brute_pairwise(alone, with_self=with_self))
        assert table.mentions[i] == len(alone)
        assert table.true_size[i] == len(groups(alone, 1))
        assert table.clusters[i] == len(groups(alone, 2))


@given(mentions=mentions_of_names)
def test_across_names_ignores_name_boundaries(mentions: list[Mention]) -> None:
    _, author, cluster = np.array(mentions).T
    whole = [(0, a, c) for _, a, c in mentions]
    assert same(agreement.bcubed_across_names(author, cluster), brute_bcubed(whole))


@given(mentions=mentions_of_names, random=st.randoms(use_true_random=False))
def test_measures_do_not_depend_on_order_or_codes(mentions: list[Mention], random: Random) -> None:
    shuffled = [(7 - n, 3 * a - 5, 10**12 * c) for n, a, c in mentions]
    random.shuffle(shuffled)
    before, after = (agreement.measure(table_of(rows)) for rows in (mentions, shuffled))
    for measure in BRUTE:
        assert both_figures(after, measure) == pytest.approx(both_figures(before, measure), abs=1e-12)


@given(mentions=mentions_of_names)
def test_swapping_truth_and_system_swaps_precision_and_recall(mentions: list[Mention]) -> None:
    there = agreement.measure(table_of(mentions))
    back = agreement.measure(table_of([(n, c, a) for n, a, c in mentions]))
    for measure in set(BRUTE) - {"errors"}:  # these look from the true authors only
        assert both_figures(there, measure)[::-1] == pytest.approx(both_figures(back, measure), abs=1e-12)


@given(mentions=mentions_of_names)
def test_truth_and_trivial_clusterings_have_their_known_scores(mentions: list[Mention]) -> None:
    name, author, _ = np.array(mentions).T
    perfect = Scores(1.0, 1.0)
    truth = agreement.measure(contingency(name, author, author))
    assert (truth.bcubed, truth.pairwise, truth.pairwise_with_self, truth.cluster_level) == (perfect,) * 4
    assert (truth.k_metric.k, truth.splitting_error, truth.lumping_error) == (1.0, 0.0, 0.0)
    one_cluster = agreement.measure(contingency(name, author, name))
    assert one_cluster.splitting_error == 0.0
    assert one_cluster.bcubed.recall == one_cluster.pairwise.recall == one_cluster.pairwise_with_self.recall == 1.0
    singletons = agreement.measure(contingency(name, author, np.arange(len(name))))
    assert singletons.lumping_error == 0.0
    precision = (singletons.bcubed, singletons.pairwise, singletons.pairwise_with_self)
    assert [scores.precision for scores in precision] == [1.0] * 3


@cases
@given(mentions=mentions_of_names)
def test_merge_all_and_split_all_equal_counted_tables(mentions: list[Mention]) -> None:
    name, author, _ = np.array(mentions).T
    table = table_of(mentions)
    for short, clusters in (
        (merge_all(table), name),
        (split_all(table), np.arange(len(name))),
    ):
        counted = contingency(name, author, clusters)
        for over in (agreement.measure, agreement.measure_over_names):
            for measure in BRUTE:
                assert both_figures(over(short), measure) == pytest.approx(
                    both_figures(over(counted), measure), abs=1e-12
                )


def test_pairwise_is_1_without_any_pair() -> None:
    split = table_of([(0, 0, 0), (0, 0, 1)])
    assert agreement.pairwise(split).overall() == Scores(1.0, 0.0)
    assert agreement.pairwise(table_of([(0, 0, 0), (0, 1, 0)])).overall() == Scores(0.0, 1.0)
    assert agreement.pairwise(table_of([(0, 0, 0), (0, 1, 1)])).overall() == Scores(1.0, 1.0)
    assert agreement.pairwise(split, with_self=True).overall() == Scores(1.0, 2 / 3)


def test_f1_of_zero_precision_and_recall_is_zero() -> None:
    assert Scores(0.0, 0.0).f1 == 0.0


def test_rejects_missing_codes() -> None:
    codes = np.array([0, 1])
    with pytest.raises(ValueError, match="2, 2 and 1"):
        contingency(codes, codes, codes[:1])
    with pytest.raises(ValueError, match="at least one mention"):
        contingency(codes[:0], codes[:0], codes[:0])


def test_accepts_narrow_integers() -> None:
    codes = np.arange(250, dtype=np.uint8)
    one = np.zeros(250, dtype=np.int8)
    assert agreement.measure(contingency(one, codes, codes)).bcubed == Scores(1.0, 1.0)
    assert agreement.measure(contingency(codes, codes, one)).bcubed == Scores(1.0, 1.0)


def test_measures_a_million_mentions(benchmark: Callable[..., Measures]) -> None:
    generator = np.random.default_rng(0)
    names = generator.integers(0, 200_000, 1_000_000)
    authors, clusters = (3 * names + generator.integers(0, 3, len(names)) for _ in range(2))
    found = benchmark(lambda: agreement.measure(contingency(names, authors, clusters)))
    assert found.pairwise.precision == pytest.approx(1 / 3, abs=0.01)
