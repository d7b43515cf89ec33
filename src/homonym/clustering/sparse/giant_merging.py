"""The merges of one round of a giant block: lists of best partners, pairs joined in order, contraction of clusters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.compiling import compiled, internal
from homonym.clustering.dense.merging import find_root
from homonym.clustering.dense.scoring import add_name
from homonym.clustering.sparse.inverted_index import append_members, move_postings

#: Kinds of partner lists of a cluster C: by score(C,·), by score(·,C), by the larger term of score(C,·) and its chance.
#: The first two hold only pairs that exceed the chance limit; that depends on both clusters only, so lists stay valid.
ROW, COLUMN, PEAK = 0, 1, 2


class Partners(NamedTuple):
    """The best partners by kind, cluster and rank, best first.

    `filled` is the length of each list. Partners that are not in a list have values of at most its `floor`.
    """

    other: Any
    value: Any
    filled: Any
    floor: Any


def empty_lists(K: int, length: int) -> Partners:
    """Empty lists of up to `length` partners for K clusters."""
    shape: tuple[Any, ...] = (3, K, length)
    other, value = np.empty(shape, np.int32), np.empty(shape)
    return Partners(other, value, np.zeros(shape[:2], np.int64), np.full(shape[:2], -np.inf))


@internal
def offer(kind, c, d, value, partners):
    """Insert d into a list of c if it belongs there; the caller has compared the value with the floor.

    Equal values are ordered by cluster, so that the list does not depend on the order of the offers.
    """
    others, values = partners.other[kind, c], partners.value[kind, c]
    length = partners.filled[kind, c]
    if length == values.size and value == values[-1] and d > others[-1]:
        return
    place = min(length, values.size - 1)
    while place > 0 and (values[place - 1] < value or (values[place - 1] == value and others[place - 1] > d)):
        values[place] = values[place - 1]
        others[place] = others[place - 1]
        place -= 1
    values[place] = value
    others[place] = d
    partners.filled[kind, c] = min(length + 1, values.size)
    if partners.filled[kind, c] == values.size:
        partners.floor[kind, c] = values[-1]


@compiled
def accept(offers, partners):
    """Insert what was offered to each cluster into its lists.

    What did not fit among the offers is below their lowest, so it is below the floor of the list that takes them all.
    """
    for kind in range(partners.filled.shape[0]):
        for c in range(partners.filled.shape[1]):
            for k in range(offers.filled[kind, c]):
                if offers.value[kind, c, k] >= partners.floor[kind, c]:
                    offer(kind, c, offers.other[kind, c, k], offers.value[kind, c, k], partners)


@compiled
def remove_joined(joined, partners):
    """Remove the joined clusters from all lists; their own lists become empty, with the floor −∞."""
    other, value, filled, floor = partners.other, partners.value, partners.filled, partners.floor
    for kind in range(filled.shape[0]):
        for c in range(joined.size):
            if joined[c]:
                filled[kind, c] = 0
                floor[kind, c] = -np.inf
                continue
            kept = 0
            for k in range(filled[kind, c]):
                if not joined[other[kind, c, k]]:
                    if kept < k:
                        other[kind, c, kept] = other[kind, c, k]
                        value[kind, c, kept] = value[kind, c, k]
                    kept += 1
            filled[kind, c] = kept


@compiled
def copy_lists(remaining, number, partners, fresh):
    """Copy the lists of the remaining clusters, under their new numbers."""
    for kind in range(fresh.filled.shape[0]):
        for to in range(remaining.size):
            c = remaining[to]
            length = partners.filled[kind, c]
            fresh.filled[kind, to] = length
            fresh.floor[kind, to] = partners.floor[kind, c]
            for k in range(length):
                fresh.other[kind, to, k] = number[partners.other[kind, c, k]]
                fresh.value[kind, to, k] = partners.value[kind, c, k]


class Pairs(NamedTuple):
    """Pairs of clusters that are to be joined, and their scores."""

    left: Any
    right: Any
    score: Any


@internal
def _mark_profiles_of(a, joined_next, members, links, seen, token):
    """Set `seen` to the token for each profile of the clusters joined with a."""
    while a >= 0:
        x = members.first[a]
        while x >= 0:
            seen[links.profile[x]] = token
            x = members.following[x]
        a = joined_next[a]


@internal
def _cannot_link_seen(b, joined_next, members, links, seen, visited, token):
    """Whether a profile of the clusters joined with b cannot be linked with one that was seen."""
    start = links.cannot_link_start
    while b >= 0:
        x = members.first[b]
        while x >= 0:
            p = links.profile[x]
            for r in range(start[p], start[p + 1] if visited[p] != token else 0):
                if seen[links.cannot_link[r]] == token:
                    return True
            visited[p] = token
            x = members.following[x]
        b = joined_next[b]
    return False


@compiled
def join_pairs(pairs, parent, smallest, members, links, merges, done):
    """Join pairs in the given order, but skip those that would violate a cannot-link; returns the number of merges.

    `joined_next` links the clusters that were joined in this call, beginning with the root.
    """
    K, profiles, constrained = parent.size, links.cannot_link_start.size - 1, links.cannot_link.size > 0
    joined_next, last = np.full(K, -1), np.arange(K)
    seen, visited = np.full(profiles, -1), np.full(profiles, -1)
    for k in range(pairs.score.size):
        a, b = find_root(parent, pairs.left[k]), find_root(parent, pairs.right[k])
        if a == b:
            continue
        a, b = min(a, b), max(a, b)
        if constrained:
            _mark_profiles_of(a, joined_next, members, links, seen, k)
            if _cannot_link_seen(b, joined_next, members, links, seen, visited, k):
                continue
            joined_next[last[a]] = b
            last[a] = last[b]
        parent[b] = a
        merges.left[done], merges.right[done], merges.score[done] = smallest[a], smallest[b], pairs.score[k]
        done += 1
    return done


@internal
def _fold_rows(a, b, use_max, cached):
    """Add the entries of cluster b in all cached rows to those of cluster a."""
    for s in range(cached.S.shape[0]):
        for t in range(cached.S.shape[1]):
            if use_max:
                cached.S[s, t, a] = max(cached.S[s, t, a], cached.S[s, t, b])
            else:
                cached.S[s, t, a] += cached.S[s, t, b]
            cached.S[s, t, b] = 0.0


@internal
def _inherit_row(a, b, size, cached):
    """Let a have the cached row of the larger one of both clusters; returns whether that is b's."""
    better = cached.slot[b] >= 0 and (cached.slot[a] < 0 or size[b] > size[a])
    if better:
        cached.slot[a] = cached.slot[b]
    cached.slot[b] = -1
    return better


@compiled
def contract(parent, state):
    """Replace joined clusters by one cluster with the smallest of their numbers; returns which clusters were joined.

    The items of the cluster whose cached row is kept come first, so that items not yet in the row come last.
    """
    model, clusters, cached = state.model, state.clusters, state.cached
    size, n, w, names, epsilon = clusters.size, clusters.n, clusters.w, clusters.names, model.epsilon
    joined = np.zeros(parent.size, np.bool_)
    for b in range(parent.size):
        a = find_root(parent, b)
        if a == b:
            continue
        joined[a] = joined[b] = True
        if not model.use_max:
            move_postings(state.index, state.items, a, b)
        append_members(state.items, a, b, _inherit_row(a, b, size, cached))
        append_members(state.members, a, b, False)
        _fold_rows(a, b, model.use_max, cached)
        size[a] += size[b]
        clusters.required[a] += clusters.required[b]
        n[a] += n[b]
        size[b] = 0.0
        add_name(a, names.name[b], names.factor[b], names)
    for c in range(parent.size):
        if not joined[c] or size[c] == 0.0:
            continue
        clusters.smooth[c] = clusters.chance[c] = 0.0
        for t in range(model.weight.size):
            below = model.mass[t] + model.N * epsilon if model.joint else n[c, t] + size[c] * epsilon
            w[t, c] = model.weight[t] / below
            clusters.smooth[c] += w[t, c] * epsilon / model.N
            clusters.chance[c] += 0.0 if model.joint else model.expected[t] * n[c, t]
    return joined
