"""Known authors as constraints: they are must-link groups, and cannot-links keep them apart."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.clustering.arrays import Constraints
from homonym.constraints.known_authors import _separate_old, with_known_authors, without_merges
from tests.support.profiles import examples

PROFILES = 4

Case = tuple[Constraints, list[int], list[int]]
Clustered = tuple[list[int], list[int], list[int]]


def links(constraints: Constraints, x: int, y: int) -> bool:
    """Whether two mentions cannot be linked, by their profiles."""
    p, q = constraints.profile[[x, y]]
    start = constraints.cannot_link_start
    return bool(q in constraints.cannot_link[start[p] : start[p + 1]].tolist())


@st.composite
def known(draw: st.DrawFn) -> Case:
    """Constraints of one or two blocks, the old author of each mention, and the bounds of the blocks."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=2))
    profiles = [draw(st.integers(0, PROFILES - 1)) for _ in range(sum(sizes))]
    pairs = draw(st.sets(st.tuples(st.integers(1, PROFILES - 1), st.integers(1, PROFILES - 1)), max_size=4))
    lists = [sorted({q for pair in pairs if p in pair for q in ({*pair} - {p} or {p})}) for p in range(PROFILES)]
    group = np.concatenate([np.arange(size) for size in sizes]).astype(np.int32)
    old = [draw(st.integers(-1, 2)) for _ in range(sizes[0])] + [draw(st.integers(3, 4)) for _ in range(sum(sizes[1:]))]
    start = np.cumsum([0] + [len(one) for one in lists])
    found = Constraints(
        group, np.array(profiles, np.int32), start, np.array([q for one in lists for q in one], np.int32)
    )
    return found, old, np.cumsum([0, *sizes]).tolist()


@settings(max_examples=examples(300))
@given(case=known())
def test_old_authors_exclude_each_other_and_nothing_else_changes(case: Case) -> None:
    before, old, bounds = case
    after = _separate_old(before, np.array(old), np.array(bounds))
    holders = {old.index(one) for one in old if one >= 0}
    block = np.searchsorted(bounds, np.arange(len(old)), side="right")
    for x, y in combinations(range(len(old)), 2):
        separated = {x, y} <= holders and block[x] == block[y]
        if block[x] == block[y]:
            assert links(after, x, y) == links(after, y, x) == (links(before, x, y) or separated)


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
    found = with_known_authors(np.array([0, 4, 6]), None, np.array([5, -1, 7, 5, 8, 8]), separate=True)
    assert found is not None
    assert found.group.tolist() == [0, 1, 2, 0, 0, 0]
    assert links(found, 0, 2)
    assert not links(found, 0, 1)
