"""Ids are carried over by maximum overlap: compared with scipy, and with what each rule says."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from homonym.corpus.id_matching import linear_assignment, match_authors, weights_of
from tests.support.profiles import examples

mentions = st.lists(st.tuples(st.sampled_from([None, "a", "b", "c", "d"]), st.integers(0, 4)), max_size=25)


@settings(max_examples=examples(500))
@given(st.integers(1, 6), st.integers(1, 6), st.randoms(use_true_random=False))
def test_assignment_equals_scipy(rows: int, columns: int, chance: object) -> None:
    gain = np.random.default_rng(chance.randrange(2**32)).integers(0, 6, (rows, columns))  # type: ignore[attr-defined]
    pairs = linear_assignment(gain)
    expected = gain[linear_sum_assignment(gain, maximize=True)].sum()
    assert sum(gain[pair] for pair in pairs) == expected
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == min(rows, columns)


@settings(max_examples=examples(500))
@given(mentions)
def test_most_mentions_keep_their_id(found: list[tuple[str | None, int]]) -> None:
    old, new = [one for one, _ in found], [one for _, one in found]
    kept = match_authors(old, new)
    assert len(set(kept.values())) == len(kept)
    common = Counter(found)
    assert all(common[author, number] for number, author in kept.items())
    ids, numbers = ["a", "b", "c", "d"], range(5)
    gain = np.array([[common[author, number] for number in numbers] for author in ids])
    expected = gain[linear_sum_assignment(gain, maximize=True)].sum()
    assert sum(common[author, number] for number, author in kept.items()) == expected


@settings(max_examples=examples(200))
@given(mentions, st.randoms(use_true_random=False))
def test_order_of_mentions_does_not_matter(found: list[tuple[str | None, int]], chance: object) -> None:
    shuffled = list(found)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert match_authors(*_columns(found)) == match_authors(*_columns(shuffled))


def _columns(found: list[tuple[str | None, int]]) -> tuple[list[str | None], list[int]]:
    return [one for one, _ in found], [one for _, one in found]


def test_ties_go_to_the_smaller_difference_then_to_the_older_id() -> None:
    assert match_authors(["a", "a", "b"], [1, 2, 2]) == {1: "a", 2: "b"}
    assert match_authors(["a", "b"], [1, 1]) == {1: "a"}
    assert match_authors(["a", "b"], [1, 1], age={"a": 3, "b": 1}) == {1: "b"}


def test_curated_mentions_weigh_more() -> None:
    old, new = ["a", "a", "a", "b"], [1, 1, 1, 1]
    weight = weights_of(["m1", "m2", "m3", "m4"], {"m4"})
    assert match_authors(old, new, weight=weight) == {1: "b"}
