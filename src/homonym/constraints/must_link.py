"""Who must be one author: chains of identifiers and statements, unless something in a chain forbids it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from homonym.constraints.evidence import MentionEvidence
from homonym.constraints.segments import alike, connected, within

Integers = NDArray[np.int64]

PAIR, DOCUMENT, NAME = "pair", "document", "name"


@dataclass(frozen=True)
class LinkConflict:
    """Two mentions of a chain that something keeps apart, and all mentions of the chain, by their places.

    `kind` is what keeps them apart. Only a name yields: then the chain is linked nevertheless.
    """

    kind: str
    left: int
    right: int
    members: Integers


@dataclass(frozen=True, eq=False)
class MustLinks:
    """Who must be one author.

    `first[x]` is the first mention that x must be one author with. `linked` says by kind which mentions have a link of
    that kind, `links` how many it takes to make them; `chain` and `by` are the same with the links that are not made.
    """

    first: Integers
    linked: dict[str, NDArray[np.bool_]]
    links: dict[str, int]
    chain: Integers
    by: dict[str, NDArray[np.bool_]]
    conflicts: list[LinkConflict]


def find_must_links(known: MentionEvidence) -> MustLinks:
    """Link what has an identifier in common or was said to be the same; a chain with a contradiction in it is left."""
    edges = {kind: _of_identifiers(ids, known.block) for kind, ids in known.ids.items()} | {PAIR: known.same}
    mentions = len(known.block)
    chain = connected(mentions, *np.concatenate(list(edges.values())).T)
    conflicts = list(_forbidden(known, chain))
    broken = np.zeros(mentions, np.bool_)
    broken[[chain[conflict.left] for conflict in conflicts]] = True
    first = np.where(broken[chain], np.arange(mentions), chain)
    by, linked, links = {}, {}, {}
    for kind, pairs in edges.items():
        by[kind] = np.zeros(mentions, np.bool_)
        by[kind][pairs] = True
        linked[kind] = by[kind] & ~broken[chain]
        links[kind] = int((~broken[chain[pairs[:, 0]]]).sum())
    return MustLinks(first, linked, links, chain, by, conflicts)


def _of_identifiers(ids: Integers, block: Integers) -> Integers:
    """A link from each mention to the first one of its block with the same identifier."""
    having = np.flatnonzero(ids >= 0)
    first, _ = alike(block[having], ids[having])
    pairs = np.stack([having[first], having], axis=1)
    return pairs[pairs[:, 0] < pairs[:, 1]]


def _forbidden(known: MentionEvidence, chain: Integers) -> Iterator[LinkConflict]:
    """The contradictions in chains that nobody can resolve: one for each chain and kind."""
    size = np.bincount(chain, minlength=len(chain))
    linked = np.flatnonzero(size[chain] > 1)
    linked = linked[np.argsort(chain[linked], kind="stable")]
    members = _Members(chain, linked)
    for kind, ids in known.parting.items():
        having = linked[ids[linked] >= 0]
        first, _ = alike(chain[having])
        other = ids[having] != ids[having[first]]
        yield from members.conflicts(kind, having[first][other], having[other])
    shared = linked[known.document[linked] >= 0]
    first, _ = alike(chain[shared], known.document[shared])
    again = shared[first] != shared
    yield from members.conflicts(DOCUMENT, shared[first][again], shared[again])
    inside = known.different[chain[known.different[:, 0]] == chain[known.different[:, 1]]]
    yield from members.conflicts(PAIR, *inside.T)


def name_conflicts(known: MentionEvidence, links: MustLinks) -> tuple[Integers, list[LinkConflict]]:
    """Linked mentions whose names exclude each other: how many there are for each mention, and a pair of each chain."""
    block, number = known.block, known.names.number
    count = np.bincount(links.first, minlength=len(block))
    linked = np.flatnonzero((count[links.first] > 1) & (known.names.count[block] > 1))
    overruled = np.zeros(len(block), np.int64)
    first, having = alike(links.first[linked], number[linked])
    distinct = np.flatnonzero(first == np.arange(len(linked)))  # one mention for each name of each chain
    distinct = distinct[np.argsort(links.first[linked[distinct]], kind="stable")]
    one, mentions = linked[distinct], having[distinct]
    _, sizes = np.unique(links.first[one], return_counts=True)
    against, pairs = np.zeros(len(one), np.int64), [np.empty((0, 2), np.int64)]
    for row, column in within(sizes):
        x, y = one[row], one[column]
        clash = known.names.clashing(block[x], number[x], number[y])
        against += np.bincount(row[clash], mentions[column[clash]], len(one)).astype(np.int64)
        pairs.append(np.stack([x[clash], y[clash]], axis=1))
    place = np.empty(len(linked), np.int64)
    place[distinct] = np.arange(len(distinct))
    overruled[linked] = against[place[first]]
    clashing = np.concatenate(pairs)
    members = _Members(links.first, linked[np.argsort(links.first[linked], kind="stable")])
    return overruled, list(members.conflicts(NAME, *clashing[clashing[:, 0] < clashing[:, 1]].T))


class _Members:
    """The mentions of each chain, ordered by chain."""

    def __init__(self, chain: Integers, linked: Integers) -> None:
        self.chain, self.linked, self.ordered = chain, linked, chain[linked]

    def conflicts(self, kind: str, left: Integers, right: Integers) -> Iterator[LinkConflict]:
        """One conflict of a kind for each chain that has one: the first pair."""
        order = np.lexsort((right, left, self.chain[left]))
        _, first = np.unique(self.chain[left][order], return_index=True)
        for place in order[first].tolist():
            begin, end = np.searchsorted(self.ordered, [self.chain[left[place]], self.chain[left[place]] + 1])
            yield LinkConflict(kind, int(left[place]), int(right[place]), self.linked[begin:end])
