"""Connected components equal those of a model that keeps the sets themselves."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.clustering.arrays import connected_components
from homonym.clustering.union_find import UnionFind
from tests.support.profiles import examples

ITEMS = 12
joins = st.lists(st.tuples(st.integers(0, ITEMS - 1), st.integers(0, ITEMS - 1)), max_size=20)


def sets_of(pairs: list[tuple[int, int]]) -> list[set[int]]:
    """The set of each item, after the sets of each pair became one."""
    of = [{item} for item in range(ITEMS)]
    for a, b in pairs:
        together = of[a] | of[b]
        for item in together:
            of[item] = together
    return of


@given(joins)
@settings(max_examples=examples(300))
def test_components_equal_sets_that_are_merged(pairs: list[tuple[int, int]]) -> None:
    union = UnionFind[int]()
    for a, b in pairs:
        union.join(a, b)
    found = [{other for other in range(ITEMS) if union.find(other) == union.find(item)} for item in range(ITEMS)]
    assert found == sets_of(pairs)


@given(joins)
@settings(max_examples=examples(300))
def test_the_first_representative_stays(pairs: list[tuple[int, int]]) -> None:
    union = UnionFind[int]()
    for a, b in pairs:
        before = union.find(a)
        union.join(a, b)
        assert union.find(a) == union.find(b) == before


@given(joins)
@settings(max_examples=examples(300))
def test_components_of_arrays_are_named_by_their_smallest_item(pairs: list[tuple[int, int]]) -> None:
    left, right = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    assert connected_components(ITEMS, left, right).tolist() == [min(one) for one in sets_of(pairs)]


def test_long_chains_are_followed_without_recursion() -> None:
    union = UnionFind[int]()
    for item in range(50_000):
        union.join(item + 1, item)
    assert union.find(0) == union.find(25_000) == 50_000
