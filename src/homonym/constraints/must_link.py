"""Must-links: connected components of shared identifiers and the user's pairs, except those with a conflict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import Integers, connected_components, equal_keys, pairs_within_groups
from homonym.constraints.evidence import MentionEvidence

Mask = NDArray[np.bool_]

PAIR, DOCUMENT, NAME = "pair", "document", "name"


@dataclass(frozen=True)
class LinkConflict:
    """Two mentions of a component that a cannot-link separates, and all mentions of the component.

    `kind` is the kind of the cannot-link. A name never wins against a must-link: then the component stays linked.
    """

    kind: str
    left: int
    right: int
    members: Integers


@dataclass(frozen=True, eq=False)
class MustLinks:
    """Which mentions must be one author.

    `component[x]` is the first mention of the connected component of x over all must-links, and `requested` says by
    kind which mentions have a must-link. The rest is without the components that have a conflict: there
    `representative[x]` is x and elsewhere `component[x]`; `linked` and `link_counts` are the mentions and edges left.
    """

    component: Integers
    requested: dict[str, Mask]
    representative: Integers
    linked: dict[str, Mask]
    link_counts: dict[str, int]
    conflicts: list[LinkConflict]


def find_must_links(evidence: MentionEvidence) -> MustLinks:
    """Link mentions that share an identifier or that the user calls the same, except in components with a conflict."""
    edges = {kind: _identifier_edges(ids, evidence.block) for kind, ids in evidence.ids.items()}
    edges[PAIR] = evidence.same_pairs
    mentions = len(evidence.block)
    component = connected_components(mentions, *np.concatenate(list(edges.values())).T)
    conflicts = list(_find_conflicts(evidence, component))
    dissolved = np.zeros(mentions, np.bool_)
    dissolved[[component[conflict.left] for conflict in conflicts]] = True
    representative = np.where(dissolved[component], np.arange(mentions), component)
    requested, linked, counts = {}, {}, {}
    for kind, pairs in edges.items():
        requested[kind] = np.zeros(mentions, np.bool_)
        requested[kind][pairs] = True
        linked[kind] = requested[kind] & ~dissolved[component]
        counts[kind] = int((~dissolved[component[pairs[:, 0]]]).sum())
    return MustLinks(component, requested, representative, linked, counts, conflicts)


def _identifier_edges(ids: Integers, block: Integers) -> Integers:
    """An edge from each mention to the first mention of its block with the same identifier."""
    having = np.flatnonzero(ids >= 0)
    first, _ = equal_keys(block[having], ids[having])
    pairs = np.stack([having[first], having], axis=1)
    return pairs[pairs[:, 0] < pairs[:, 1]]


def _find_conflicts(evidence: MentionEvidence, component: Integers) -> Iterator[LinkConflict]:
    """Cannot-links inside components, other than by name: one for each component and kind."""
    size = np.bincount(component, minlength=len(component))
    linked = np.flatnonzero(size[component] > 1)
    linked = linked[np.argsort(component[linked], kind="stable")]
    members = _ComponentMembers(component, linked)
    for kind, ids in evidence.separating_ids.items():
        having = linked[ids[linked] >= 0]
        first, _ = equal_keys(component[having])
        differs = ids[having] != ids[having[first]]
        yield from members.conflicts(kind, having[first][differs], having[differs])
    shared = linked[evidence.shared_document[linked] >= 0]
    first, _ = equal_keys(component[shared], evidence.shared_document[shared])
    repeated = shared[first] != shared
    yield from members.conflicts(DOCUMENT, shared[first][repeated], shared[repeated])
    pairs = evidence.different_pairs
    inside = pairs[component[pairs[:, 0]] == component[pairs[:, 1]]]
    yield from members.conflicts(PAIR, *inside.T)


def find_name_conflicts(evidence: MentionEvidence, links: MustLinks) -> tuple[Integers, list[LinkConflict]]:
    """Must-linked mentions with incompatible names: their number for each mention, and one conflict per component."""
    block, number, group = evidence.block, evidence.names.number, links.representative
    size = np.bincount(group, minlength=len(block))
    linked = np.flatnonzero((size[group] > 1) & (evidence.names.count[block] > 1))
    first, count = equal_keys(group[linked], number[linked])
    distinct = np.flatnonzero(first == np.arange(len(linked)))  # one mention for each name of each component
    distinct = distinct[np.argsort(group[linked[distinct]], kind="stable")]
    example, mentions = linked[distinct], count[distinct]
    _, sizes = np.unique(group[example], return_counts=True)
    incompatible, pairs = np.zeros(len(example), np.int64), [np.empty((0, 2), np.int64)]
    for row, column in pairs_within_groups(sizes):
        x, y = example[row], example[column]
        clash = evidence.names.are_incompatible(block[x], number[x], number[y])
        incompatible += np.bincount(row[clash], mentions[column[clash]], len(example)).astype(np.int64)
        pairs.append(np.stack([x[clash], y[clash]], axis=1))
    position = np.empty(len(linked), np.int64)
    position[distinct] = np.arange(len(distinct))
    overruled = np.zeros(len(block), np.int64)
    overruled[linked] = incompatible[position[first]]
    clashing = np.concatenate(pairs)
    members = _ComponentMembers(group, linked[np.argsort(group[linked], kind="stable")])
    return overruled, list(members.conflicts(NAME, *clashing[clashing[:, 0] < clashing[:, 1]].T))


class _ComponentMembers:
    """The mentions of each component, ordered by component."""

    def __init__(self, component: Integers, linked: Integers) -> None:
        self.component, self.linked, self.ordered = component, linked, component[linked]

    def conflicts(self, kind: str, left: Integers, right: Integers) -> Iterator[LinkConflict]:
        """The first conflicting pair of each component that has one."""
        order = np.lexsort((right, left, self.component[left]))
        _, first = np.unique(self.component[left][order], return_index=True)
        for pair in order[first].tolist():
            component = self.component[left[pair]]
            begin, end = np.searchsorted(self.ordered, [component, component + 1])
            yield LinkConflict(kind, int(left[pair]), int(right[pair]), self.linked[begin:end])
