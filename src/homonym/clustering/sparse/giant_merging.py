"""The merges of one round of a giant block: pairs joined one after the other, with rivals looked up where needed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.compiling import compiled
from homonym.clustering.dense.merging import root_of
from homonym.clustering.sparse.block_index import append, hand_over


@compiled
def unite(left, right, score, parent, smallest, done, merge_left, merge_right, merge_score):
    """Join pairs in the order in which they are given; returns the number of merges so far."""
    for k in range(score.size):
        a, b = root_of(parent, left[k]), root_of(parent, right[k])
        if a != b:
            a, b = min(a, b), max(a, b)
            parent[b] = a
            merge_left[done] = smallest[a]
            merge_right[done] = smallest[b]
            merge_score[done] = score[k]
            done += 1
    return done


@compiled
def _note_profiles(a, united, members, opponents, seen, token):
    """Let `seen` be the token for each profile of the clusters that a is united with."""
    while a >= 0:
        x = members.first[a]
        while x >= 0:
            seen[opponents.profile[x]] = token
            x = members.following[x]
        a = united[a]


@compiled
def _meets_rival(b, united, members, opponents, seen, visited, token):
    """Whether a profile of the clusters that b is united with has a rival among those that were seen."""
    while b >= 0:
        x = members.first[b]
        while x >= 0:
            p = opponents.profile[x]
            for r in range(
                opponents.cannot_link_start[p], opponents.cannot_link_start[p + 1] if visited[p] != token else 0
            ):
                if seen[opponents.cannot_link[r]] == token:
                    return True
            visited[p] = token
            x = members.following[x]
        b = united[b]
    return False


@compiled
def unite_allowed(left, right, score, parent, smallest, members, opponents, done, merge_left, merge_right, merge_score):
    """`unite`, but for pairs that would bring rivals together."""
    K, profiles = parent.size, opponents.cannot_link_start.size - 1
    united, last = np.full(K, -1), np.arange(K)
    seen, visited = np.full(profiles, -1), np.full(profiles, -1)
    for k in range(score.size):
        a, b = root_of(parent, left[k]), root_of(parent, right[k])
        if a == b:
            continue
        a, b = min(a, b), max(a, b)
        _note_profiles(a, united, members, opponents, seen, k)
        if _meets_rival(b, united, members, opponents, seen, visited, k):
            continue
        parent[b] = a
        united[last[a]] = b
        last[a] = last[b]
        merge_left[done] = smallest[a]
        merge_right[done] = smallest[b]
        merge_score[done] = score[k]
        done += 1
    return done


@compiled
def _fold_rows(a, b, use_max, kept):
    """Let S_t(C,D) of the rows that are kept speak of a, which b has been joined with."""
    for s in range(kept.S.shape[0]):
        for t in range(kept.S.shape[1]):
            if use_max:
                kept.S[s, t, a] = max(kept.S[s, t, a], kept.S[s, t, b])
            else:
                kept.S[s, t, a] += kept.S[s, t, b]
            kept.S[s, t, b] = 0.0


@compiled
def _hand_over_row(a, b, size, kept):
    """Let a have the kept row of the larger one of both; returns whether that is b's."""
    better = kept.slot[b] >= 0 and (kept.slot[a] < 0 or size[b] > size[a])
    if better:
        kept.slot[a] = kept.slot[b]
    kept.slot[b] = -1
    return better


@compiled
def contract(parent, weight, below, N, index, items, clusters, members, kept, joined):
    """Make one cluster of those that were joined, in all that is known of clusters; mark all of them in `joined`.

    The cluster has the number of the first one; `below` is what joint probabilities are divided by. Whose row is kept
    comes first among its items, so that those that are not yet in the row come last.
    """
    size, n, w, epsilon = clusters.size, clusters.n, clusters.w, clusters.epsilon
    joined[:] = False
    for b in range(parent.size):
        a = root_of(parent, b)
        if a == b:
            continue
        joined[a] = joined[b] = True
        if not clusters.use_max:
            hand_over(index, items, a, b)
        append(items, a, b, _hand_over_row(a, b, size, kept))
        append(members, a, b, False)
        _fold_rows(a, b, clusters.use_max, kept)
        size[a] += size[b]
        n[a] += n[b]
        size[b] = 0.0
    for c in range(parent.size):
        if not joined[c] or size[c] == 0.0:
            continue
        clusters.smooth[c] = clusters.chance[c] = 0.0
        for t in range(weight.size):
            w[t, c] = weight[t] / (below[t] if clusters.joint else n[c, t] + size[c] * epsilon)
            clusters.smooth[c] += w[t, c] * epsilon / N
            clusters.chance[c] += 0.0 if clusters.joint else clusters.expected[t] * n[c, t]


ROW, COLUMN, PEAK = 0, 1, 2


class Partners(NamedTuple):
    """Lists by kind, cluster and rank; `filled` is how long each of them is."""

    other: Any
    value: Any
    filled: Any
    floor: Any


@compiled
def offer(kind, c, d, value, partners):
    """Put d into one of the lists of c, in its place, if it belongs there; the caller has compared with the floor.

    Equal values are ordered by cluster, so that what is listed does not depend on the order of the offers.
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
    """Put what was offered to each cluster into its lists.

    What did not fit among the offers is below their lowest, so it is below the floor of the list that takes them all.
    """
    for kind in range(partners.filled.shape[0]):
        for c in range(partners.filled.shape[1]):
            for k in range(offers.filled[kind, c]):
                if offers.value[kind, c, k] >= partners.floor[kind, c]:
                    offer(kind, c, offers.other[kind, c, k], offers.value[kind, c, k], partners)


@compiled
def forget_joined(joined, partners):
    """Take clusters that were joined out of all lists; their own are left empty, with the floor −∞."""
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
def renumber(kept, number, partners, fresh):
    """Copy the lists of the clusters that are kept to where they are numbered anew."""
    for kind in range(fresh.filled.shape[0]):
        for to in range(kept.size):
            c = kept[to]
            length = partners.filled[kind, c]
            fresh.filled[kind, to] = length
            fresh.floor[kind, to] = partners.floor[kind, c]
            for k in range(length):
                fresh.other[kind, to, k] = number[partners.other[kind, c, k]]
                fresh.value[kind, to, k] = partners.value[kind, c, k]
