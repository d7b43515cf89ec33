"""Known authors as constraints: they are must-link groups, and clusters with several of them are divided."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.constraints.known_authors import with_known_authors, without_merges
from tests.support.profiles import examples

Clustered = tuple[list[int], list[int], list[int]]


@st.composite
def clusterings(draw: st.DrawFn) -> Clustered:
    """Labels of one or two blocks in which known authors are never divided, their numbers, and the bounds of blocks."""
    label: list[int] = []
    old: list[int] = []
    bounds = [0]
    for block in range(draw(st.integers(1, 2))):
        clusters = [draw(st.integers(0, 2)) for _ in range(draw(st.integers(1, 8)))]
        authors = [2 * one + draw(st.integers(0, 1)) + 6 * block if draw(st.booleans()) else -1 for one in clusters]
        label += [clusters.index(one) for one in clusters]
        old += authors
        bounds.append(len(label))
    return label, old, bounds


@settings(max_examples=examples(300))
@given(case=clusterings())
def test_known_authors_stay_and_the_largest_gets_new_mentions(case: Clustered) -> None:
    label, old, bounds = case
    found = without_merges(np.array(label, np.int32), np.array(bounds), None, np.array(old)).tolist()
    block = np.searchsorted(bounds, np.arange(len(old)), side="right").tolist()
    author = list(zip(block, found, strict=True))
    before = list(zip(block, label, strict=True))
    for x, one in enumerate(old):
        inside = [y for y in range(len(old)) if before[y] == before[x]]
        count = Counter(old[y] for y in inside if old[y] >= 0)
        if one >= 0:
            assert {old[y] for y in range(len(old)) if author[y] == author[x]} <= {one, -1}
            assert all(author[y] == author[x] for y in inside if old[y] == one)
        elif count:
            chosen = min(count, key=lambda known: (-count[known], old.index(known)))
            assert author[x] == author[old.index(chosen)]
        else:
            assert [y for y in range(len(old)) if author[y] == author[x]] == inside


def test_known_authors_are_groups() -> None:
    found = with_known_authors(np.array([0, 4, 6]), None, np.array([5, -1, 7, 5, 8, 8]))
    assert found is not None
    assert found.group.tolist() == [0, 1, 2, 0, 0, 0]
