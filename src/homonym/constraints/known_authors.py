"""Known authors, which enter a clustering as must-link groups.

A must-link of the evidence is left out where it would join a known author with a mention that is on one of its
documents, has another identifier of one kind, or is called different by the user.

Which author a new mention joins if authors must not change is answered by comparing known authors with clusters that
were found without them (`place_new_mentions`). Cannot-links between known authors would be no answer: they spread new
mentions of one person over all known authors that are fragments of this person.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from homonym.clustering.arrays import Constraints, Integers, connected_components
from homonym.clustering.union_find import UnionFind
from homonym.constraints.cannot_link import build_constraints
from homonym.constraints.evidence import MentionEvidence
from homonym.constraints.found_constraints import FoundConstraints

# Share of its mentions that a known author must have in a cluster for new mentions of the cluster to join it. On the
# labelled sets F1 is the same from .2 to .4; lower, an author that was two people gets the new mentions of both, and
# higher, a person whose mentions were divided too early gets no more (docs/study.md).
JOINED_SHARE = 0.3


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


def with_known_authors(block_start: Integers, found: FoundConstraints | None, old: Integers) -> Constraints | None:
    """The constraints of a run, with known authors as must-link groups.

    `old` is the number of the author of each mention, −1 if it has none.
    """
    group = _first_of_author(old)
    if found is None:
        nothing = np.zeros(len(old), np.int32)
        inside = (group - _first_of_block(block_start)).astype(np.int32)
        return Constraints(inside, nothing, np.zeros(2, np.int64), np.zeros(0, np.int32))
    group = _join_must_links(found.evidence, found.must_links.representative, group, old, separate=False)
    return build_constraints(found.evidence, group, found.has_cannot_links, (0, len(block_start) - 1))


def place_new_mentions(
    with_authors: NDArray[np.int32],
    fresh: NDArray[np.int32],
    block_start: Integers,
    found: FoundConstraints | None,
    old: Integers,
) -> NDArray[np.int32]:
    """Labels that leave known authors as they are; each new mention joins one of them, or a new author.

    `with_authors` are the labels of a clustering with known authors, `fresh` of one without them. A new mention joins

    1. the author that a must-link joins it with;
    2. else the largest author of its cluster with authors, unless its fresh cluster has mentions of known authors, but
       less than JOINED_SHARE of those of this author: then the author now looks like several people;
    3. else, of the authors with at least this share of their mentions in its fresh cluster, the one with most there.

    A mention that cannot be linked with this author, and all others, form new authors: their fresh clusters.
    """
    first, author = _first_of_block(block_start), _first_of_author(old)
    group = author
    if found is not None:
        group = _join_must_links(found.evidence, found.must_links.representative, author, old, separate=True)
    linked = _largest_author(group, old, author)
    largest = _largest_author(first + with_authors, old, author)
    main, is_confirmed = _compare_with_clusters(first + fresh, old, author, largest)
    target = np.where(linked >= 0, linked, np.where(is_confirmed, largest, main))
    target = np.where(old >= 0, author, target[group])
    if found is not None and (constraints := found.of_blocks(0, len(block_start) - 1)) is not None:
        target = _without_cannot_links(target, linked, group, constraints)
    return (_first_of_target(target, first + fresh) - first).astype(np.int32)


def _compare_with_clusters(
    cluster: Integers, old: Integers, author: Integers, proposed: Integers
) -> tuple[Integers, NDArray[np.bool_]]:
    """For each mention, the main author of its cluster, and whether the cluster confirms the proposed author.

    An author with too small a share of its mentions in a cluster is not confirmed, unless the cluster has no mention of
    any known author. Of the other authors, the one with most mentions in the cluster is the main author, in case of a
    tie the first; −1 means none.

    >>> old = np.array([0, 0, 0, 0, 1, 1, -1, 2, -1])
    >>> cluster, proposed = np.array([0, 1, 1, 1, 0, 0, 0, 1, 8]), np.array([0] * 7 + [7, 0])
    >>> main, is_confirmed = _compare_with_clusters(cluster, old, _first_of_author(old), proposed)
    >>> main.tolist()
    [4, 0, 0, 0, 4, 4, 4, 0, -1]
    >>> is_confirmed.tolist()
    [False, True, True, True, False, False, False, True, True]
    """
    known, number = np.flatnonzero(old >= 0), len(old)
    size = np.bincount(author[known], minlength=number)
    pair, common = np.unique(cluster[known] * number + author[known], return_counts=True)
    place, one = np.divmod(pair, max(number, 1))
    enough = common >= JOINED_SHARE * size[one]
    main = _most_of(place[enough], one[enough], common[enough], cluster)
    is_confirmed = (proposed >= 0) & (
        np.isin(cluster * number + proposed, pair[enough]) | ~np.isin(cluster, cluster[known])
    )
    return main, is_confirmed


def _largest_author(cluster: Integers, old: Integers, author: Integers) -> Integers:
    """For each mention, the largest known author of its cluster, in case of a tie the first; −1 if there is none."""
    known = np.flatnonzero(old >= 0)
    size = np.bincount(author[known], minlength=len(old))
    return _most_of(cluster[known], author[known], size[author[known]], cluster)


def _most_of(place: Integers, author: Integers, weight: Integers, cluster: Integers) -> Integers:
    """The author of most weight at the place of each cluster, in case of a tie the first; −1 if there is none."""
    best = np.full(len(cluster), -1)
    rising = np.lexsort((-author, weight))  # of several values for a place, the last one stays
    best[place[rising]] = author[rising]
    return best[cluster]


def _without_cannot_links(target: Integers, linked: Integers, group: Integers, constraints: Constraints) -> Integers:
    """The targets, −1 for must-link groups of new mentions that cannot be linked with a mention that has this target.

    Groups are taken in order of their first mentions, after known authors and what must-links join with these.
    """
    profile, start = constraints.profile, constraints.cannot_link_start
    waiting = np.flatnonzero((target >= 0) & (linked < 0) & (start[profile + 1] > start[profile]))
    if not len(waiting):
        return target
    is_target = np.isin(target, target[waiting])
    is_target[np.isin(group, group[waiting])] = False
    taken: dict[int, set[int]] = defaultdict(set)
    for one, number in zip(target[is_target].tolist(), profile[is_target].tolist(), strict=True):
        taken[one].add(number)
    members: dict[int, list[int]] = defaultdict(list)
    for mention in waiting.tolist():
        members[int(group[mention])].append(mention)
    refused = []
    for one, mentions in members.items():
        own = {int(profile[mention]) for mention in mentions}
        apart = {
            other for number in own for other in constraints.cannot_link[start[number] : start[number + 1]].tolist()
        }
        if apart & taken[int(target[mentions[0]])]:
            refused.append(one)
        else:
            taken[int(target[mentions[0]])] |= own
    return np.where(np.isin(group, refused), -1, target)


def _first_of_target(target: Integers, cluster: Integers) -> Integers:
    """The target of each mention; for mentions without one, the first one of their cluster."""
    alone = np.flatnonzero(target < 0)
    _, place, inverse = np.unique(cluster[alone], return_index=True, return_inverse=True)
    found = target.copy()
    found[alone] = alone[place][inverse]
    return found


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
