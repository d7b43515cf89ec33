"""The tree of authors that are others than the clusters: every author is one tree, and merges inside of it stay."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.explanation.merge_tree import ADDED, Merge, MergeTree
from tests.support.profiles import examples


@st.composite
def trees(draw: st.DrawFn) -> tuple[MergeTree, list[int]]:
    """The merges of up to eight mentions, and another author for each of them."""
    number = draw(st.integers(1, 8))
    nodes, merges = list(range(number)), list[Merge]()
    for step in range(draw(st.integers(0, number - 1))):
        left, right = draw(st.lists(st.sampled_from(nodes), min_size=2, max_size=2, unique=True))
        nodes = [one for one in nodes if one not in {left, right}] + [number + step]
        merges.append(Merge(step + 1, left, right, float(step + 1)))
    root = [next(one for one in nodes if x in below(number, merges, one)) for x in range(number)]
    return MergeTree(number, merges, root), [draw(st.integers(0, 3)) for _ in range(number)]


def below(number: int, merges: list[Merge], node: int) -> set[int]:
    if node < number:
        return {node}
    merge = merges[node - number]
    return below(number, merges, merge.left) | below(number, merges, merge.right)


@given(case=trees())
@settings(max_examples=examples(300))
def test_every_author_is_one_tree_and_merges_inside_of_it_stay(case: tuple[MergeTree, list[int]]) -> None:
    tree, author = case
    found = tree.of_authors(author)
    for x, one in enumerate(author):
        assert found.members(found.root[x]) == [y for y, other in enumerate(author) if other == one]
    sides = [(merge, {*tree.members(merge.left)}, {*tree.members(merge.right)}) for merge in tree.merges]
    cluster = [frozenset(tree.members(root)) for root in tree.root]
    for merge in found.merges:
        left, right = {*found.members(merge.left)}, {*found.members(merge.right)}
        if merge.round == ADDED:
            assert not {cluster[x] for x in left} & {cluster[x] for x in right}
            continue
        (origin,) = ((one, a, b) for one, a, b in sides if one.round == merge.round)
        assert left == {x for x in origin[1] if author[x] == author[min(left)]}
        assert right == {x for x in origin[2] if author[x] == author[min(left)]}
        is_whole = left == origin[1] and right == origin[2]
        assert merge.score == origin[0].score if is_whole else math.isnan(merge.score)
