"""Blocks of a result clustered with the authors that they have: old authors enter as ready clusters.

The bags of clusters add up, so an old author is a must-link group of the ordinary clustering. With `assign`, old
authors also have cannot-links between each other: so a new mention joins the best author above the limit, or new
mentions form new authors, and no old author changes otherwise. With `grow`, old authors may merge.

Identifiers, names, documents and the user's pairs act as in a run. A must-link is left out where it would join an
author with a mention that is on one of its documents, has another identifier of one kind, or is called different by the
user; with `assign` also where it would join two old authors.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from homonym.calibration.confidence import Confidence, author_confidence
from homonym.clustering.agglomerative import Clustering, cluster
from homonym.clustering.arrays import Constraints, Floats, Integers, connected_components, starts
from homonym.collection.block_reload import reload_rows
from homonym.collection.encoded import Encoded
from homonym.constraints.cannot_link import build_constraints
from homonym.constraints.evidence import MentionEvidence, UserPairs
from homonym.constraints.found_constraints import FoundConstraints, find_constraints
from homonym.constraints.name_prior import FullNames
from homonym.engines.base import DECIMALS
from homonym.settings import Settings


@dataclass(frozen=True, eq=False)
class ClusteredRows:
    """Rows of the table of mentions, whole blocks in order, with their clusters.

    `cluster[x]` is the position of the first row with the same author. `year` is that of the document. `counted` are
    the features that the statistics lack, with #(f) that was used.
    """

    rows: pa.Table
    cluster: Integers
    year: pa.Array
    constraint: pa.Array | None
    confidence: Floats | None
    author_confidence: Floats | None
    encoded: Encoded
    found: FoundConstraints | None
    counted: dict[tuple[str, str], float]

    def column(self, name: str) -> pa.Array:
        """A column of the table of mentions as this clustering has it."""
        number = len(self.rows)
        if name == "constraint":
            return pa.nulls(number, pa.string()) if self.constraint is None else self.constraint
        values = self.confidence if name == "confidence" else self.author_confidence
        if values is None:
            return pa.nulls(number, pa.float64())
        return pa.array(values.round(DECIMALS), from_pandas=True)


@dataclass(frozen=True)
class Epoch:
    """What is frozen between two calibrations: the settings, the confidence model, and the pairs of the run."""

    settings: Settings
    confidence: Confidence | None
    pairs: UserPairs | None


def cluster_rows(
    folder: Path, rows: pa.Table, epoch: Epoch, work: Path, *, separate: bool, threads: int = 1
) -> ClusteredRows:
    """Cluster whole blocks; `rows` have the columns of schema.AUTHORS, and no author_id if they are new.

    `folder` has the documents and statistics; files go to the empty directory `work`. With `separate`, old authors do
    not merge.
    """
    reloaded = reload_rows(folder, rows, epoch.settings, work, complete=False)
    encoded, settings = reloaded.encoded, epoch.settings
    found = find_constraints(encoded, settings, _known_pairs(epoch.pairs, rows))
    old = _codes(rows["author_id"])
    constraints = _with_old_authors(encoded, found, old, separate=separate)
    types = encoded.frequencies.types
    used = np.array(settings.weights_for(types)) > 0
    clustering = cluster(
        encoded.gather(0, len(encoded.block_start) - 1, used),
        encoded.frequencies,
        settings,
        constraints=constraints,
        names=FullNames.read(encoded).prior(settings.trust_in_names),
        margins=epoch.confidence is not None,
        giant=encoded.giant_blocks(),
        threads=threads,
    )
    return _clustered(rows, encoded, found, clustering, epoch, reloaded.counted)


def _clustered(
    rows: pa.Table,
    encoded: Encoded,
    found: FoundConstraints | None,
    clustering: Clustering,
    epoch: Epoch,
    counted: dict[tuple[str, str], float],
) -> ClusteredRows:
    confidence = epoch.confidence.of(clustering) if epoch.confidence else None
    start = encoded.block_start
    author = np.repeat(start[:-1], np.diff(start)) + clustering.label
    _, first, inverse = np.unique(author, return_index=True, return_inverse=True)
    return ClusteredRows(
        rows,
        first[inverse],
        encoded.read(["year"], np.arange(len(rows)))["year"].combine_chunks(),
        found.column if found else None,
        confidence,
        None if confidence is None else author_confidence(start, clustering.label, confidence),
        encoded,
        found,
        counted,
    )


def _known_pairs(pairs: UserPairs | None, rows: pa.Table) -> UserPairs | None:
    """The pairs of which both mentions are in these rows."""
    if pairs is None:
        return None
    known = set(rows["mention_id"].to_pylist())
    chosen = [one for one in zip(pairs.a, pairs.b, pairs.same, strict=True) if one[0] in known and one[1] in known]
    return UserPairs(tuple(a for a, _, _ in chosen), tuple(b for _, b, _ in chosen), tuple(same for *_, same in chosen))


def _codes(author_id: pa.ChunkedArray) -> Integers:
    """A number for each old author, −1 for mentions without one."""
    coded = author_id.combine_chunks().dictionary_encode()
    codes: Integers = coded.indices.fill_null(-1).to_numpy().astype(np.int64)
    return codes


def _with_old_authors(
    encoded: Encoded, found: FoundConstraints | None, old: Integers, *, separate: bool
) -> Constraints | None:
    """The constraints of a run, with old authors as must-link groups."""
    group = _first_of_author(old)
    blocks = len(encoded.block_start) - 1
    if found is None:
        sizes = np.diff(encoded.block_start)
        nothing = np.zeros(len(old), np.int32)
        inside = (group - np.repeat(encoded.block_start[:-1], sizes)).astype(np.int32)
        constraints = Constraints(inside, nothing, np.zeros(2, np.int64), np.zeros(0, np.int32))
    else:
        group = _join_must_links(found.evidence, found.must_links.representative, group, old, separate=separate)
        built = build_constraints(found.evidence, group, found.has_cannot_links, (0, blocks))
        if built is None:
            return None
        constraints = built
    return _separate_old(constraints, old, encoded.block_start) if separate else constraints


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
    """Join old authors and new mentions that must-links connect, as far as no cannot-link but a name forbids it.

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
        self.root: dict[int, int] = {}

    def of(self, group: int) -> list[int]:
        """The mentions of a group, and of those that were joined with it."""
        while group in self.root:
            group = self.root[group]
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
        while a in self.root:
            a = self.root[a]
        while b in self.root:
            b = self.root[b]
        self.members[a] = self.of(a) + self.of(b)
        self.root[b] = a


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
