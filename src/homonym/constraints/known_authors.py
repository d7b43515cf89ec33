"""Known authors, which enter a clustering as must-link groups.

A must-link of the evidence is left out where it would join a known author with a mention that is on one of its
documents, has another identifier of one kind, or is called different by the user. If known authors are to stay
separate, a must-link is also left out where it would join two of them, and there are cannot-links between them.

These would spread new mentions of one person over all known authors that are fragments of this person. So `update` lets
known authors merge, and divides clusters with several of them afterwards (`without_merges`).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from homonym.clustering.arrays import Constraints, Integers, connected_components, starts
from homonym.clustering.union_find import UnionFind
from homonym.constraints.cannot_link import build_constraints
from homonym.constraints.evidence import MentionEvidence
from homonym.constraints.found_constraints import FoundConstraints


def author_codes(author_id: pa.ChunkedArray, block_start: Integers) -> Integers:
    """A number for each old author in each block, −1 for mentions without one.

    >>> author_codes(pa.chunked_array([["a", "a", None, "a", "b"]]), np.array([0, 3, 5])).tolist()
    [0, 0, -1, 1, 2]
    """
    coded = author_id.combine_chunks().dictionary_encode()
    author = coded.indices.fill_null(-1).to_numpy().astype(np.int64)
    block = np.repeat(np.arange(len(block_start) - 1), np.diff(block_start))
    codes, known = np.full(len(author), -1), author >= 0
    pairs = np.stack([block[known], author[known]])
    codes[known] = np.unique(pairs, axis=1, return_inverse=True)[1].ravel()
    return codes


def with_known_authors(
    block_start: Integers, found: FoundConstraints | None, old: Integers, *, separate: bool
) -> Constraints | None:
    """The constraints of a run, with known authors as must-link groups.

    `old` is the number of the author of each mention, −1 if it has none. With `separate`, known authors do not merge.
    """
    group = _first_of_author(old)
    blocks = len(block_start) - 1
    if found is None:
        nothing = np.zeros(len(old), np.int32)
        inside = (group - _first_of_block(block_start)).astype(np.int32)
        constraints = Constraints(inside, nothing, np.zeros(2, np.int64), np.zeros(0, np.int32))
    else:
        group = _join_must_links(found.evidence, found.must_links.representative, group, old, separate=separate)
        built = build_constraints(found.evidence, group, found.has_cannot_links, (0, blocks))
        if built is None:
            return None
        constraints = built
    return _separate_old(constraints, old, block_start) if separate else constraints


def without_merges(
    label: NDArray[np.int32], block_start: Integers, found: FoundConstraints | None, old: Integers
) -> NDArray[np.int32]:
    """The labels of a clustering with known authors, changed so that known authors do not merge.

    In a cluster with several known authors, each keeps its mentions and gets the new ones that must-links join with it.
    All other new mentions of the cluster join the author with most mentions, in case of a tie the first.
    """
    group = _first_of_author(old)
    if found is not None:
        group = _join_must_links(found.evidence, found.must_links.representative, group, old, separate=True)
    first = _first_of_block(block_start)
    return (_authors_without_merges(first + label, old, group) - first).astype(np.int32)


def _authors_without_merges(cluster: Integers, old: Integers, group: Integers) -> Integers:
    """For each mention, the first mention of its author; clusters and groups are numbers of mentions inside a block.

    >>> cluster, old, group = np.zeros(6, np.int64), np.array([0, 1, -1, 1, -1, 2]), np.array([0, 1, 0, 1, 4, 5])
    >>> _authors_without_merges(cluster, old, group).tolist()
    [0, 1, 0, 1, 1, 5]
    """
    known, author = np.flatnonzero(old >= 0), _first_of_author(old)
    size = np.bincount(author, minlength=len(old))[author]
    of_group, of_cluster = np.full(len(old), -1), np.full(len(old), -1)
    of_group[group[known]] = author[known]
    rising = known[np.lexsort((-author[known], size[known]))]  # of several values for a place, the last one stays
    of_cluster[cluster[rising]] = author[rising]
    linked, largest = of_group[group], of_cluster[cluster]
    is_linked = (linked >= 0) & (cluster[linked] == cluster)
    _, place, inverse = np.unique(cluster, return_index=True, return_inverse=True)
    found = np.where(is_linked, linked, np.where(largest >= 0, largest, place[inverse]))
    return np.where(old >= 0, author, found)


def _first_of_block(block_start: Integers) -> Integers:
    """For each mention the first one of its block."""
    return np.repeat(block_start[:-1], np.diff(block_start))


def _first_of_author(old: Integers) -> Integers:
    """For each mention the first one of its old author; new mentions are alone.

    >>> _first_of_author(np.array([1, -1, 0, 1, -1])).tolist()
    [0, 1, 2, 0, 4]
    """
    first = np.arange(len(old))
    known = np.flatnonzero(old >= 0)
    _, place, inverse = np.unique(old[known], return_index=True, return_inverse=True)
    first[known] = known[place][inverse]
    return first


def _join_must_links(
    evidence: MentionEvidence, linked: Integers, group: Integers, old: Integers, *, separate: bool
) -> Integers:
    """Join old authors and new mentions that must-links connect, unless a cannot-link other than a name forbids it.

    The groups of a component are joined one after another: first the largest old author, then the other groups by
    their first mention.
    """
    components: dict[int, set[int]] = defaultdict(set)
    for mention in np.flatnonzero(np.bincount(linked, minlength=len(linked))[linked] > 1).tolist():
        components[int(linked[mention])].add(int(group[mention]))
    clashes = _Clashes(evidence, group)
    size = np.bincount(group, minlength=len(group))
    left, right = [], []
    for component in sorted(components):
        wanted = sorted(components[component], key=lambda one: (old[one] < 0, -int(size[one]), one))
        for one in wanted[1:]:
            if clashes.may_join(wanted[0], one) and not (
                separate and old[one] >= 0 and clashes.has_old(wanted[0], old)
            ):
                clashes.join(wanted[0], one)
                left.append(wanted[0])
                right.append(one)
    if not left:
        return group
    joined = connected_components(len(group), np.array(left, np.int64), np.array(right, np.int64))
    first: Integers = joined[group]
    return first


class _Clashes:
    """Groups of mentions, and whether identifiers, documents or the user's pairs keep two of them apart."""

    def __init__(self, evidence: MentionEvidence, group: Integers) -> None:
        self.ids = list(evidence.separating_ids.values())
        self.document = evidence.shared_document
        self.apart = {frozenset(pair) for pair in evidence.different_pairs.tolist()}
        order = np.argsort(group, kind="stable")
        bounds = np.searchsorted(group[order], np.arange(len(group) + 1))
        self.order, self.bounds = order, bounds
        self.members: dict[int, list[int]] = {}
        self.union = UnionFind[int]()

    def of(self, group: int) -> list[int]:
        """The mentions of a group, and of those that were joined with it."""
        group = self.union.find(group)
        if group not in self.members:
            self.members[group] = self.order[self.bounds[group] : self.bounds[group + 1]].tolist()
        return self.members[group]

    def has_old(self, group: int, old: Integers) -> bool:
        """Whether a group has a mention of an old author."""
        return any(old[mention] >= 0 for mention in self.of(group))

    def may_join(self, a: int, b: int) -> bool:
        """Whether nothing but names keeps two groups apart."""
        ours, theirs = self.of(a), self.of(b)
        if ours is theirs:
            return False
        for ids in self.ids:
            values = {int(ids[mention]) for mention in ours + theirs if ids[mention] >= 0}
            if len(values) > 1:
                return False
        documents = {int(self.document[mention]) for mention in ours if self.document[mention] >= 0}
        if any(int(self.document[mention]) in documents for mention in theirs):
            return False
        return not any(frozenset((x, y)) in self.apart for x in ours for y in theirs) if self.apart else True

    def join(self, a: int, b: int) -> None:
        """Make one group of two."""
        members = self.of(a) + self.of(b)
        self.union.join(a, b)
        self.members[self.union.find(a)] = members


def _separate_old(constraints: Constraints, old: Integers, block_start: Integers) -> Constraints:
    """Add cannot-links between all old authors of each block.

    One mention of each old author gets a profile of its own kind: that of its block and its former profile. All such
    profiles of a block exclude each other, and each one itself: two authors may have the same.
    """
    block = np.repeat(np.arange(len(block_start) - 1), np.diff(block_start))
    known = np.flatnonzero(old >= 0)
    _, place = np.unique(old[known], return_index=True)
    holders = known[place]
    if not len(holders):
        return constraints
    kinds, kind = np.unique(np.stack([block[holders], constraints.profile[holders]]), axis=1, return_inverse=True)
    profiles = len(constraints.cannot_link_start) - 1
    profile = constraints.profile.copy()
    profile[holders] = (profiles + kind.ravel()).astype(np.int32)
    new = np.arange(profiles, profiles + kinds.shape[1])
    first_rows = np.repeat(np.arange(profiles), np.diff(constraints.cannot_link_start))
    rows: list[NDArray[np.integer[Any]]] = [first_rows]
    columns: list[NDArray[np.integer[Any]]] = [constraints.cannot_link]
    for number, former in zip(new.tolist(), kinds[1].tolist(), strict=True):
        first, last = constraints.cannot_link_start[[former, former + 1]]
        partners = constraints.cannot_link[first:last]
        rows += [np.full(len(partners), number), partners]
        columns += [partners, np.full(len(partners), number)]
    for here in np.split(new, np.flatnonzero(np.diff(kinds[0])) + 1):
        rows.append(np.repeat(here, len(here)))
        columns.append(np.tile(here, len(here)))
    row, column = (np.concatenate(part).astype(np.int64) for part in (rows, columns))
    total = profiles + len(new)
    pairs = np.unique(row * total + column)
    start = starts(np.bincount(pairs // total, minlength=total))
    return Constraints(constraints.group, profile, start, (pairs % total).astype(np.int32))
