"""Known authors: as must-link groups, and as targets of new mentions."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.clustering.arrays import Constraints
from homonym.constraints.evidence import MentionEvidence
from homonym.constraints.found_constraints import ConstraintCounts, FoundConstraints
from homonym.constraints.incompatible_names import no_names
from homonym.constraints.known_authors import (
    JOINED_SHARE,
    _compare_with_clusters,
    _join_must_links,
    _without_cannot_links,
    author_codes,
    place_new_mentions,
    with_known_authors,
)
from homonym.constraints.must_link import MustLinks
from tests.support.profiles import examples

Clustered = tuple[list[int], list[int], list[int], list[int]]


@st.composite
def clusterings(draw: st.DrawFn) -> Clustered:
    """Labels of one or two blocks with and without known authors, the numbers of the authors, the bounds of blocks.

    Known authors are in one cluster of the first labels, and in any clusters of the second ones.
    """
    joined: list[int] = []
    fresh: list[int] = []
    old: list[int] = []
    bounds = [0]
    for block in range(draw(st.integers(1, 2))):
        clusters = [draw(st.integers(0, 2)) for _ in range(draw(st.integers(1, 10)))]
        others = [draw(st.integers(0, 2)) for _ in clusters]
        old += [2 * one + draw(st.integers(0, 1)) + 6 * block if draw(st.booleans()) else -1 for one in clusters]
        joined += [clusters.index(one) for one in clusters]
        fresh += [others.index(one) for one in others]
        bounds.append(len(joined))
    return joined, fresh, old, bounds


def blocks_of(bounds: list[int]) -> list[int]:
    return [block for block, (begin, end) in enumerate(pairwise(bounds)) for _ in range(begin, end)]


@settings(max_examples=examples(300))
@given(case=clusterings())
def test_known_authors_stay_and_new_mentions_join_the_best_or_form_new_authors(case: Clustered) -> None:
    joined, fresh, old, bounds = case
    labels = np.array([joined, fresh], np.int32)
    found = place_new_mentions(labels[0], labels[1], np.array(bounds), None, np.array(old)).tolist()
    block = blocks_of(bounds)
    author, first, second = (list(zip(block, label, strict=True)) for label in (found, joined, fresh))
    size = Counter(one for one in old if one >= 0)
    for x, one in enumerate(old):
        if one >= 0:
            assert [old[y] for y in range(len(old)) if author[y] == author[x] and old[y] >= 0] == [one] * size[one]
            continue
        here = Counter(old[y] for y in range(len(old)) if second[y] == second[x] and old[y] >= 0)
        enough = Counter({known: count for known, count in here.items() if count >= JOINED_SHARE * size[known]})
        there = Counter(old[y] for y in range(len(old)) if first[y] == first[x] and old[y] >= 0)
        choice = enough
        if there:
            largest = min(there, key=lambda known: (-there[known], old.index(known)))
            choice = Counter({largest: 1}) if not here or largest in enough else enough
        if choice:
            best = min(choice, key=lambda known: (-choice[known], old.index(known)))
            assert author[x] == author[old.index(best)]
        else:
            alone = [y for y in range(len(old)) if second[y] == second[x] and old[y] < 0]
            assert all(old[y] < 0 for y in range(len(old)) if author[y] == author[x])
            assert {y for y in range(len(old)) if author[y] == author[x]} <= {*alone}


def test_new_mentions_that_cannot_be_linked_with_an_author_or_with_each_other_do_not_join_it() -> None:
    # Profiles 1 and 2 cannot be linked, nor 3 and 4. Mentions 0 and 1 are the author; 5 is in a must-link group with 4.
    start, partners = np.array([0, 0, 1, 2, 3, 4]), np.array([2, 1, 4, 3], np.int32)
    profile = np.array([1, 0, 2, 3, 4, 0, 0], np.int32)
    group, target = np.array([0, 0, 2, 3, 4, 4, 6]), np.zeros(7, np.int64)
    linked = np.array([0, 0, -1, -1, -1, -1, -1])
    found = _without_cannot_links(target, linked, group, Constraints(group.astype(np.int32), profile, start, partners))
    assert found.tolist() == [0, 0, -1, 0, -1, -1, 0]


def test_known_authors_are_groups() -> None:
    found = with_known_authors(np.array([0, 4, 6]), None, np.array([5, -1, 7, 5, 8, 8]))
    assert found is not None
    assert found.group.tolist() == [0, 1, 2, 0, 0, 0]
    assert found.profile.tolist() == [0] * 6
    assert found.cannot_link_start.tolist() == [0, 0]
    assert found.cannot_link.tolist() == []


def test_known_authors_are_groups_next_to_the_constraints_of_all_blocks() -> None:
    """The mentions 1 and 2 are linked, 3 and 5 are on one document, 4 is an author of an earlier run with 5."""
    block_start, block = np.array([0, 3, 6]), np.array([0, 0, 0, 1, 1, 1])
    nothing, old = np.empty((0, 2), np.int64), np.array([0, -1, -1, -1, 7, 7])
    evidence = MentionEvidence(
        block_start, block, no_names(6, 2), {}, np.array([-1, -1, -1, 9, -1, 9]), nothing, nothing
    )
    links = MustLinks({}, np.array([0, 1, 1, 3, 4, 5]), {}, {}, [])
    separated, counts = evidence.blocks_with_cannot_links(), ConstraintCounts({}, 0, {})
    constraints = FoundConstraints(evidence, links, separated, pa.nulls(6), counts, [], [])
    found = with_known_authors(block_start, constraints, old)
    assert found is not None
    assert found.group.tolist() == [0, 1, 1, 0, 1, 1]
    start, partners = found.cannot_link_start, found.cannot_link
    apart = [
        (x, y) for x in range(6) for y in range(x + 1, 6)
        if found.profile[y] in partners[start[found.profile[x]] : start[found.profile[x] + 1]]
    ]  # fmt: skip
    assert apart == [(3, 5)]


def test_new_mentions_that_cannot_be_linked_with_an_author_are_apart() -> None:
    """All are in one cluster. Mention 0 is the author; 1 is on one document with it, 2 and 3 with each other."""
    block_start, nothing = np.array([0, 4]), np.empty((0, 2), np.int64)
    old, label = np.array([7, -1, -1, -1]), np.zeros(4, np.int32)
    for documents, expected in (([5, 5, 6, 6], [0, 1, 0, 1]), ([-1, -1, -1, -1], [0] * 4)):
        evidence = MentionEvidence(
            block_start, np.zeros(4, np.int64), no_names(4, 1), {}, np.array(documents), nothing, nothing
        )
        links = MustLinks({}, np.arange(4), {}, {}, [])
        separated, counts = evidence.blocks_with_cannot_links(), ConstraintCounts({}, 0, {})
        constraints = FoundConstraints(evidence, links, separated, pa.nulls(4), counts, [], [])
        assert place_new_mentions(label, label, block_start, constraints, old).tolist() == expected


def test_exactly_the_least_share_of_an_author_is_enough() -> None:
    old, cluster = np.zeros(10, np.int64), np.array([0] * 3 + [1] * 7)
    author, proposed = np.zeros(10, np.int64), np.zeros(10, np.int64)
    main, is_confirmed = _compare_with_clusters(cluster, old, author, proposed)
    assert JOINED_SHARE * 10 == 3
    assert main.tolist() == [0] * 10
    assert is_confirmed.all()


def test_cannot_links_of_every_profile_keep_new_mentions_away() -> None:
    # The author has profile 2, the new mention profile 1, which cannot be linked with it.
    start, partners = np.array([0, 0, 1, 2]), np.array([2, 1], np.int32)
    group, target = np.array([0, 1]), np.zeros(2, np.int64)
    constraints = Constraints(group.astype(np.int32), np.array([2, 1], np.int32), start, partners)
    assert _without_cannot_links(target, np.array([0, -1]), group, constraints).tolist() == [0, -1]


@pytest.mark.parametrize("document", [[-1, 5, 5], [-1, 5, 6]])
def test_a_group_is_compared_with_all_that_were_joined_before_it(document: list[int]) -> None:
    """Mention 0 is an old author, which a must-link connects with mentions 1 and 2; these may be on one document."""
    nothing = np.empty((0, 2), np.int64)
    evidence = MentionEvidence(
        np.array([0, 3]), np.zeros(3, np.int64), no_names(3, 1), {}, np.array(document), nothing, nothing
    )
    linked, group, old = np.zeros(3, np.int64), np.arange(3), np.array([0, -1, -1])
    found = _join_must_links(evidence, linked, group, old, separate=False)
    assert found.tolist() == ([0, 0, 2] if document[1] == document[2] else [0, 0, 0])


@pytest.mark.parametrize("number", [0, 1])
def test_a_must_link_joins_mentions_with_a_known_author_before_a_new_mention(number: int) -> None:
    """Mention 1 is a known author, which is on one document with the new mention 0; mention 2 is linked with both."""
    nothing = np.empty((0, 2), np.int64)
    evidence = MentionEvidence(
        np.array([0, 3]), np.zeros(3, np.int64), no_names(3, 1), {}, np.array([5, 5, -1]), nothing, nothing
    )
    old = np.array([-1, number, -1])
    assert _join_must_links(evidence, np.zeros(3, np.int64), np.arange(3), old, separate=False).tolist() == [0, 1, 1]


@st.composite
def linked_mentions(draw: st.DrawFn) -> tuple[MentionEvidence, list[int], list[int]]:
    """Mentions of one block: evidence, the first mention that each is linked with, and their old authors, −1 if new."""
    number = draw(st.integers(1, 7))

    def some(least: int, most: int) -> list[int]:
        return draw(st.lists(st.integers(least, most), min_size=number, max_size=number))

    pairs = draw(st.lists(st.tuples(st.integers(0, number - 1), st.integers(0, number - 1)), max_size=2))
    components, whole = some(0, 2), np.array([0, number])
    evidence = MentionEvidence(
        whole,
        np.zeros(number, np.int64),
        no_names(number, 1),
        {"orcid": np.array(some(-1, 1)), "isni": np.array(some(-1, 0))},
        np.array(some(-1, 1)),
        np.empty((0, 2), np.int64),
        np.array([pair for pair in pairs if pair[0] != pair[1]], np.int64).reshape(-1, 2),
    )
    return evidence, [components.index(one) for one in components], some(-1, 1)


def may_be_one(evidence: MentionEvidence, ours: list[int], theirs: list[int]) -> bool:
    """Whether identifiers, documents and pairs allow to join two groups."""
    for ids in evidence.separating_ids.values():
        if len({ids[x] for x in ours + theirs if ids[x] >= 0}) > 1:
            return False
    stated = {frozenset(pair) for pair in evidence.different_pairs.tolist()}
    document = evidence.shared_document
    return not any(
        document[x] == document[y] >= 0 or frozenset((x, y)) in stated for x in ours for y in theirs
    )  # fmt: skip


@settings(max_examples=examples(1000))
@given(case=linked_mentions(), separate=st.booleans())
def test_must_links_join_groups_one_after_another_unless_something_keeps_them_apart(
    case: tuple[MentionEvidence, list[int], list[int]], separate: bool
) -> None:
    evidence, linked, old = case
    mentions = range(len(old))
    groups = {x: [y for y in mentions if y == x or old[y] == old[x] >= 0] for x in mentions}
    first = [groups[x][0] for x in mentions]
    expected = list(first)
    for start in sorted({linked[x] for x in mentions if linked.count(linked[x]) > 1}):
        wanted = sorted(
            {first[x] for x in mentions if linked[x] == start}, key=lambda x: (old[x] < 0, -len(groups[x]), x)
        )
        for other in wanted[1:]:
            ours = [x for x in mentions if expected[x] == expected[wanted[0]]]
            theirs = [x for x in mentions if expected[x] == expected[other]]
            both_old = old[other] >= 0 and any(old[x] >= 0 for x in ours)
            if ours != theirs and may_be_one(evidence, ours, theirs) and not (separate and both_old):
                joined = min(ours + theirs)
                expected = [joined if x in ours + theirs else one for x, one in enumerate(expected)]
    found = _join_must_links(evidence, np.array(linked), np.array(first), np.array(old), separate=separate)
    assert found.tolist() == expected


def test_authors_are_numbered_in_each_block() -> None:
    ids = pa.chunked_array([["b", "a"], [None, "b", "a", "c", None, "c"]])
    assert author_codes(ids, np.array([0, 3, 5, 8])).tolist() == [0, 1, -1, 2, 3, 4, -1, 4]
    assert author_codes(pa.chunked_array([pa.array([None], pa.string())]), np.array([0, 1])).tolist() == [-1]


@pytest.mark.parametrize("stated", [True, False])
def test_the_users_pairs_keep_an_author_apart_from_what_was_joined_with_another_group(stated: bool) -> None:
    """Mention 2 is linked with 0 and 1, and may be called different from 1."""
    pairs = np.array([[1, 2]] if stated else [], np.int64).reshape(-1, 2)
    evidence = MentionEvidence(
        np.array([0, 3]), np.zeros(3, np.int64), no_names(3, 1), {}, np.full(3, -1), np.empty((0, 2), np.int64), pairs
    )
    for old, separate, expected in (
        ([0, -1, -1], False, [0, 0, 2] if stated else [0, 0, 0]),
        ([0, -1, 1], True, [0, 0, 2]),
        ([-1, 0, 1], True, [0, 0, 2]),
        ([-1, -1, 1], True, [0, 1, 0] if stated else [0, 0, 0]),
    ):
        found = _join_must_links(evidence, np.zeros(3, np.int64), np.arange(3), np.array(old), separate=separate)
        assert found.tolist() == expected
    alone = _join_must_links(evidence, np.arange(3), np.arange(3), np.full(3, -1), separate=False)
    assert alone.tolist() == [0, 1, 2]
