"""Must-links: connected components of the user's pairs and shared identifiers, in the order of their rank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import Integers, connected_components, equal_keys, pairs_within_groups
from homonym.constraints.evidence import MentionEvidence
from homonym.records.fields.identifiers import identifier_rank

Mask = NDArray[np.bool_]

PAIR, DOCUMENT, NAME = "pair", "document", "name"

# Maximum number of different names of an identifier in a block that are compared with each other.
_COMPARED_NAMES = 200


@dataclass(frozen=True)
class LinkConflict:
    """Two mentions of a component that a cannot-link separates, and all mentions of the component.

    `kind` is the kind of the cannot-link. `dropped` is the kind of the must-links that are not applied for this reason;
    None if the must-links outrank the cannot-link, so that the component stays linked.
    """

    kind: str
    left: int
    right: int
    members: Integers
    dropped: str | None = None


@dataclass(frozen=True, eq=False)
class MustLinks:
    """Which mentions must be one author.

    `requested` says by kind which mentions have a must-link. All other fields ignore must-links that were dropped:
    `representative[x]` is the first mention of the connected component of x; `linked` and `link_counts` have the
    linked mentions and the number of links, by kind.
    """

    requested: dict[str, Mask]
    representative: Integers
    linked: dict[str, Mask]
    link_counts: dict[str, int]
    conflicts: list[LinkConflict]


def find_must_links(evidence: MentionEvidence) -> MustLinks:
    """Link mentions that the user calls the same or that share an identifier, kind by kind in the order of their rank.

    A kind joins components of the kinds before it. It is not applied to a joined component that has a conflict: two
    mentions on one document, two that the user calls different, or two different identifiers of a kind that outranks
    it. Different identifiers of other kinds in a component are reported, but change nothing.
    """
    edges = {kind: _identifier_edges(ids, evidence.block) for kind, ids in evidence.ids.items()}
    edges[PAIR] = evidence.same_pairs
    mentions = len(evidence.block)
    component, conflicts = np.arange(mentions), list[LinkConflict]()
    for kind in sorted(edges, key=link_rank):
        left, right = edges[kind].T
        joined = connected_components(mentions, np.append(np.arange(mentions), left), np.append(component, right))
        found = list(_find_conflicts(evidence, kind, component, joined))
        dissolved = np.zeros(mentions, np.bool_)
        dissolved[[joined[conflict.left] for conflict in found]] = True
        component = np.where(dissolved[joined], component, joined)
        conflicts += found
    conflicts += _outranked(evidence, component)
    linked, counts = _links_left(evidence, component)
    requested = {kind: np.isin(np.arange(mentions), pairs) for kind, pairs in edges.items()}
    return MustLinks(requested, component, linked, counts, conflicts)


def find_placeholders(evidence: MentionEvidence) -> tuple[dict[str, Mask], list[LinkConflict]]:
    """Identifiers that several people of a block have: by kind which mentions have one, and a conflict for each.

    Three names that all exclude each other are those of three people, and such an identifier is a placeholder. Two
    names may be one person's, because a given name can be wrong. An e-mail address counts more than names: in PubMed,
    where databases complete initials wrongly, leaving out the addresses of three names takes .008 of F1.
    """
    found, conflicts = {}, list[LinkConflict]()
    for kind, ids in evidence.separating_ids.items():
        found[kind] = np.zeros(len(ids), np.bool_)
        for members in _with_three_names(evidence, ids):
            if two := _names_of_three_people(evidence, members):
                found[kind][members] = True
                conflicts.append(LinkConflict(NAME, *two, members, kind))
    return found, conflicts


def _with_three_names(evidence: MentionEvidence, ids: Integers) -> Iterator[Integers]:
    """The mentions of a block with the same identifier, where they have at least three different names."""
    having = np.flatnonzero((ids >= 0) & (evidence.names.count[evidence.block] > 2))
    block, number = evidence.block[having], evidence.names.number[having]
    group, _ = equal_keys(block, ids[having])
    is_new_name = equal_keys(group, number)[0] == np.arange(len(having))
    names = np.bincount(group[is_new_name], minlength=len(having))
    candidates = np.flatnonzero(names[group] > 2)
    order = candidates[np.argsort(group[candidates], kind="stable")]
    borders = np.flatnonzero(np.diff(group[order])) + 1
    return (having[part] for part in np.split(order, borders) if len(part))


def _names_of_three_people(evidence: MentionEvidence, members: Integers) -> tuple[int, int] | None:
    """Two of three mentions of a block whose names all exclude each other; None if there are no such three."""
    _, first = np.unique(evidence.names.number[members], return_index=True)
    example = members[np.sort(first)[:_COMPARED_NAMES]]
    number, block = evidence.names.number[example], evidence.block[example[:1]]
    excludes = evidence.names.are_incompatible(block, number[:, None], number[None, :]).astype(np.int64)
    x, y = np.nonzero((excludes @ excludes) * excludes)  # pairs that a third name excludes, and each other
    return (int(min(example[x[0]], example[y[0]])), int(max(example[x[0]], example[y[0]]))) if len(x) else None


def link_rank(kind: str) -> int:
    """The rank of a kind of must-links: the user's pairs, then identifiers by their rank."""
    return -1 if kind == PAIR else identifier_rank(kind)


def _identifier_edges(ids: Integers, block: Integers) -> Integers:
    """An edge from each mention to the first mention of its block with the same identifier."""
    having = np.flatnonzero(ids >= 0)
    first, _ = equal_keys(block[having], ids[having])
    pairs = np.stack([having[first], having], axis=1)
    return pairs[pairs[:, 0] < pairs[:, 1]]


def _links_left(evidence: MentionEvidence, component: Integers) -> tuple[dict[str, Mask], dict[str, int]]:
    """By kind, the mentions that share an identifier or a pair inside a component, and the number of these links."""
    linked, counts = {}, {}
    for kind, ids in evidence.ids.items():
        having = np.flatnonzero(ids >= 0)
        first, count = equal_keys(component[having], ids[having])
        linked[kind] = np.zeros(len(component), np.bool_)
        linked[kind][having[count > 1]] = True
        counts[kind] = int((first != np.arange(len(first))).sum())
    kept = evidence.same_pairs[component[evidence.same_pairs[:, 0]] == component[evidence.same_pairs[:, 1]]]
    linked[PAIR] = np.zeros(len(component), np.bool_)
    linked[PAIR][kept] = True
    counts[PAIR] = len(kept)
    return linked, counts


def _find_conflicts(evidence: MentionEvidence, kind: str, before: Integers, joined: Integers) -> Iterator[LinkConflict]:
    """Conflicts in components that a kind joins: one for each component and kind of cannot-link.

    Cannot-links inside a component of `before` are no conflicts, because its links outrank this kind.
    """
    changed = np.zeros(len(joined), np.bool_)
    changed[joined[before != joined]] = True
    linked = np.flatnonzero(changed[joined])
    linked = linked[np.argsort(joined[linked], kind="stable")]
    members = _ComponentMembers(joined, linked, kind)
    for other, ids in evidence.separating_ids.items():
        if link_rank(other) < link_rank(kind):
            yield from members.conflicts(other, *_different_values(linked, before, joined, ids))
    shared = linked[evidence.shared_document[linked] >= 0]
    first = shared[equal_keys(joined[shared], evidence.shared_document[shared])[0]]
    repeated = before[first] != before[shared]
    yield from members.conflicts(DOCUMENT, first[repeated], shared[repeated])
    pairs = evidence.different_pairs
    inside = pairs[(joined[pairs[:, 0]] == joined[pairs[:, 1]]) & (before[pairs[:, 0]] != before[pairs[:, 1]])]
    yield from members.conflicts(PAIR, *inside.T)


def _different_values(linked: Integers, before: Integers, joined: Integers, ids: Integers) -> tuple[Integers, Integers]:
    """Pairs of mentions of one joined component, but different components before, that have different identifiers.

    Returns not all such pairs, but at least one for each component that has any. If the first mention with an
    identifier is in no pair, then all mentions outside its former component have its identifier, and all mentions with
    other identifiers are inside it.
    """
    having = linked[ids[linked] >= 0]
    first = having[equal_keys(joined[having])[0]]
    other_id, elsewhere = ids[having] != ids[first], before[having] != before[first]
    right = having[other_id & elsewhere]
    x, y = _first_of_each(having[elsewhere], joined), _first_of_each(having[other_id], joined)
    _, at_x, at_y = np.intersect1d(joined[x], joined[y], return_indices=True)
    x, y = x[at_x], y[at_y]
    valid = (ids[x] != ids[y]) & (before[x] != before[y])
    left, right = np.append(first[other_id & elsewhere], x[valid]), np.append(right, y[valid])
    return np.minimum(left, right), np.maximum(left, right)


def _first_of_each(mentions: Integers, component: Integers) -> Integers:
    """The first of these mentions in each component, ordered by component."""
    return mentions[np.unique(component[mentions], return_index=True)[1]]


def _outranked(evidence: MentionEvidence, component: Integers) -> Iterator[LinkConflict]:
    """Different identifiers inside components: must-links that outrank them hold."""
    size = np.bincount(component, minlength=len(component))
    linked = np.flatnonzero(size[component] > 1)
    linked = linked[np.argsort(component[linked], kind="stable")]
    members = _ComponentMembers(component, linked)
    for kind, ids in evidence.separating_ids.items():
        having = linked[ids[linked] >= 0]
        first = having[equal_keys(component[having])[0]]
        differs = ids[having] != ids[first]
        yield from members.conflicts(kind, first[differs], having[differs])


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

    def __init__(self, component: Integers, linked: Integers, dropped: str | None = None) -> None:
        self.component, self.linked, self.ordered, self.dropped = component, linked, component[linked], dropped

    def conflicts(self, kind: str, left: Integers, right: Integers) -> Iterator[LinkConflict]:
        """The first conflicting pair of each component that has one."""
        order = np.lexsort((right, left, self.component[left]))
        _, first = np.unique(self.component[left][order], return_index=True)
        for pair in order[first].tolist():
            component = self.component[left[pair]]
            begin, end = np.searchsorted(self.ordered, [component, component + 1])
            yield LinkConflict(kind, int(left[pair]), int(right[pair]), self.linked[begin:end], self.dropped)
