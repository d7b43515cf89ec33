"""Identifiers that mentions of three people have are placeholders, and link nothing."""

from __future__ import annotations

import numpy as np
import pytest

from homonym.constraints.evidence import MentionEvidence
from homonym.constraints.incompatible_names import BlockNames
from homonym.constraints.must_link import find_placeholders


def evidence(names: list[int], ids: list[int], excluding: list[tuple[int, int]]) -> MentionEvidence:
    """A block of mentions with these names and identifiers; some names exclude each other."""
    count, mentions, nothing = max(names) + 1, len(names), np.empty((0, 2), np.int64)
    matrix = np.zeros((count, count), np.bool_)
    for i, j in excluding:
        matrix[i, j] = matrix[j, i] = True
    found = BlockNames(np.array(names), np.array([count]), np.array([0]), matrix.ravel())
    none, block = np.full(mentions, -1), np.zeros(mentions, np.int64)
    return MentionEvidence(np.array([0, mentions]), block, found, {"orcid": np.array(ids)}, none, nothing, nothing)


ALL_THREE = [(0, 1), (0, 2), (1, 2)]


@pytest.mark.parametrize(
    ("names", "ids", "excluding", "unusable", "two"),
    [
        ([0, 1, 2], [7, 7, 7], ALL_THREE, [True] * 3, [(0, 1)]),
        ([0, 1, 2], [7, 7, 7], ALL_THREE[:2], [False] * 3, []),
        ([0, 1, 2], [7, 7, 8], ALL_THREE, [False] * 3, []),
        ([0, 1, 2], [7, 7, -1], ALL_THREE, [False] * 3, []),
        ([0, 1, 1, 0], [7] * 4, [(0, 1)], [False] * 4, []),
        ([0, 0, 2, 1, 2, 1], [8, 7, 7, 8, 7, 7], ALL_THREE, [False, True, True, False, True, True], [(1, 2)]),
        ([0, 1, 2, 3, 3], [7] * 5, [(1, 2), (1, 3), (2, 3)], [True] * 5, [(1, 2)]),
        ([0, 1, 2, 0, 1, 2], [7, 7, 7, 8, 8, 8], ALL_THREE, [True] * 6, [(0, 1), (3, 4)]),
    ],
)
def test_names_of_three_people_make_an_identifier_unusable(
    names: list[int], ids: list[int], excluding: list[tuple[int, int]], unusable: list[bool], two: list[tuple[int, int]]
) -> None:
    found, conflicts = find_placeholders(evidence(names, ids, excluding))
    assert found["orcid"].tolist() == unusable
    assert [(one.kind, one.dropped, one.left, one.right) for one in conflicts] == [
        ("name", "orcid", *pair) for pair in two
    ]
    assert [one.members.tolist() for one in conflicts] == [
        [x for x, own in enumerate(ids) if own == group] for group in sorted({ids[pair[0]] for pair in two})
    ]
