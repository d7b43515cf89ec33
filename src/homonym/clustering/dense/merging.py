"""One round's merges: which pairs of clusters are joined, in which order, and what is left of S afterwards."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.compiling import compiled, inlined
from homonym.clustering.dense.scoring import exceeds


class KernelConstraints(NamedTuple):
    """The constraints of all mentions, as `Constraints` has them."""

    group: Any
    profile: Any
    cannot_link_start: Any
    cannot_link: Any


@inlined
def profiles_of(known):
    """The number of profiles."""
    profiles = 0
    if known is not None:
        profiles = known.cannot_link_start.size - 1
    return profiles


@compiled
def place_of(i, j):
    """Where the pair of i and j stands in a triangle."""
    return max(i, j) * (max(i, j) - 1) // 2 + min(i, j)


@compiled
def _mark_rivals(p, q, first_holder, next_holder, rivals):
    """Mark all mentions with the profiles p and q as rivals of each other."""
    i = first_holder[p]
    while i >= 0:
        j = first_holder[q]
        while j >= 0:
            if i != j:
                rivals[place_of(i, j)] = 1
            j = next_holder[j]
        i = next_holder[i]


@compiled
def _hold(profile, first_holder, next_holder):
    """Chain the mentions of a block that have the same profile."""
    for x in range(profile.size):
        next_holder[x] = first_holder[profile[x]]
        first_holder[profile[x]] = x


@compiled
def _let_go(profile, first_holder):
    """Undo `_hold`."""
    for x in range(profile.size):
        first_holder[profile[x]] = -1


@compiled
def _has_rivals(profile, cannot_link_start, cannot_link, first_holder, next_holder):
    """Whether any two mentions of a block are rivals."""
    _hold(profile, first_holder, next_holder)
    found = False
    for x in range(profile.size):
        p = profile[x]
        for k in range(cannot_link_start[p], cannot_link_start[p + 1] if next_holder[x] < 0 else cannot_link_start[p]):
            found |= first_holder[cannot_link[k]] >= 0 and first_holder[cannot_link[k]] != x
    _let_go(profile, first_holder)
    return found


@compiled
def constrained_blocks(block_start, group, profile, cannot_link_start, cannot_link):
    """Which blocks have any groups of several mentions, or any rivals."""
    constrained = np.zeros(block_start.size - 1, np.bool_)
    first_holder, next_holder = np.full(cannot_link_start.size - 1, -1), np.empty(group.size, np.int64)
    for b in range(constrained.size):
        first, last = block_start[b], block_start[b + 1]
        for x in range(first, last):
            constrained[b] |= group[x] != x - first
        if not constrained[b]:
            constrained[b] = _has_rivals(profile[first:last], cannot_link_start, cannot_link, first_holder, next_holder)
    return constrained


@compiled
def find_rivals(profile, cannot_link_start, cannot_link, scratch):
    """Fill the triangle of rivals of one block."""
    m = profile.size
    scratch.rivals[: m * (m - 1) // 2] = 0
    _hold(profile, scratch.first_holder, scratch.next_holder)
    for x in range(m):
        p = profile[x]
        for k in range(
            cannot_link_start[p], cannot_link_start[p + 1] if scratch.next_holder[x] < 0 else cannot_link_start[p]
        ):
            _mark_rivals(p, cannot_link[k], scratch.first_holder, scratch.next_holder, scratch.rivals)
    _let_go(profile, scratch.first_holder)


@compiled
def take_rivals(K, a, b, rivals):
    """Whoever is a rival of b becomes one of a."""
    for k in range(K):
        if k != a and k != b and rivals[place_of(b, k)]:
            rivals[place_of(a, k)] = 1


@compiled
def join_groups(group, rivals, parent, merge_round, merge_left, merge_right, merge_score):
    """Join the mentions of each group; returns the number of merges."""
    done = 0
    for x in range(group.size):
        parent[x] = group[x]
        if parent[x] != x:
            take_rivals(group.size, parent[x], x, rivals)
            merge_round[done] = -1
            merge_left[done] = parent[x]
            merge_right[done] = x
            merge_score[done] = np.inf
            done += 1
    return done


@compiled
def forbid(K, rivals, scores, row_best, column_best):
    """Take rivals out of the scores and find the best of every row and column again; returns the best of all."""
    for d in range(K):
        row_best[d] = -np.inf
        column_best[d] = -np.inf
    for i in range(K):
        for j in range(K):
            if i == j:
                continue
            if rivals[place_of(i, j)]:
                scores[i, j] = -np.inf
            row_best[i] = max(row_best[i], scores[i, j])
            column_best[j] = max(column_best[j], scores[i, j])
    best = -np.inf
    for d in range(K):
        best = max(best, row_best[d])
    return best


@compiled
def shrink_rivals(K, rivals, parent, renumbered):
    """Keep the rivals of the clusters that are left, which have taken over those of the clusters joined with them."""
    for i in range(1, K):
        if parent[i] != i:
            continue
        for j in range(i):
            if parent[j] == j:
                rivals[place_of(renumbered[i], renumbered[j])] = rivals[place_of(i, j)]


@compiled
def root_of(parent, i):
    """The smallest cluster that i has been joined with, paths halved on the way."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@compiled
def join(
    K, scores, row_best, column_best, limit, rounding, parent, members, done, merge_left, merge_right, merge_score
):
    """Join all pairs that are best of row and column and exceed the limit; returns the number of merges so far.

    Rows in order of their best score, so that a merge is recorded with the highest score that demands it. Also returns
    the highest score of a pair that is best of row and column but does not exceed the limit.
    """
    for i in range(K):
        parent[i] = i
    refused = -np.inf
    for i in np.argsort(-row_best[:K], kind="mergesort"):
        above = exceeds(row_best[i], limit, rounding)
        for j in range(K):
            if i == j:
                continue
            s = scores[i, j]
            if exceeds(row_best[i], s, rounding) or exceeds(column_best[j], s, rounding):
                continue
            if not exceeds(s, limit, rounding):
                refused = max(refused, s)
                continue
            a, b = root_of(parent, i), root_of(parent, j)
            if a != b:
                a, b = min(a, b), max(a, b)
                parent[b] = a
                merge_left[done] = members[a]
                merge_right[done] = members[b]
                merge_score[done] = s
                done += 1
        if not above and refused > -np.inf:
            break
    return done, refused


@compiled
def _demands(K, scores, row_best, column_best, limit, rounding):
    """All allowed pairs that are best of row and column and exceed the limit, by smaller, then larger cluster.

    Also returns the highest score of such a pair that does not exceed the limit.
    """
    smaller, larger, score = np.empty(K, np.int64), np.empty(K, np.int64), np.empty(K, np.float64)
    found, refused = 0, -np.inf
    for i in range(K):
        for j in range(i + 1, K):
            for c, d in ((i, j), (j, i)):
                s = scores[c, d]
                if s == -np.inf or exceeds(row_best[c], s, rounding) or exceeds(column_best[d], s, rounding):
                    continue
                if not exceeds(s, limit, rounding):
                    refused = max(refused, s)
                    continue
                if found == score.size:
                    smaller, larger = np.append(smaller, smaller), np.append(larger, larger)
                    score = np.append(score, score)
                smaller[found], larger[found], score[found] = i, j, s
                found += 1
    return smaller[:found], larger[:found], score[:found], refused


@compiled
def from_highest(score, rounding):
    """The order of falling scores; runs of neighbours that tie stay in the order in which they are given."""
    order = np.argsort(-score, kind="mergesort")
    start = 0
    for end in range(1, order.size + 1):
        if end == order.size or exceeds(score[order[end - 1]], score[order[end]], rounding):
            order[start:end] = np.sort(order[start:end])
            start = end
    return order


@compiled
def join_allowed(
    K, scores, row_best, column_best, limit, rounding, rivals, parent, members,
    done, merge_left, merge_right, merge_score,
):  # fmt: skip
    """`join` where there are rivals: one pair after the other, but for those that would unite rivals."""
    for i in range(K):
        parent[i] = i
    smaller, larger, score, refused = _demands(K, scores, row_best, column_best, limit, rounding)
    for k in from_highest(score, rounding):
        a, b = root_of(parent, smaller[k]), root_of(parent, larger[k])
        if a == b or rivals[place_of(a, b)]:
            continue
        a, b = min(a, b), max(a, b)
        parent[b] = a
        take_rivals(K, a, b, rivals)
        merge_left[done] = members[a]
        merge_right[done] = members[b]
        merge_score[done] = score[k]
        done += 1
    return done, refused


@compiled
def shrink(K, S, n, size, use_max, parent, renumbered, members):
    """Replace the joined clusters by their sums (of S: maxima for `max`); returns how many clusters are left.

    In place: clusters are numbered by their smallest member, so a sum is never stored beyond what has been read.
    """
    left = 0
    for i in range(K):
        root = root_of(parent, i)
        if root == i:
            renumbered[i] = left
            members[left] = members[i]
            size[left] = size[i]
            n[left] = n[i]
            left += 1
        else:
            renumbered[i] = renumbered[root]
            size[renumbered[i]] += size[i]
            n[renumbered[i]] += n[i]
    for i in range(1, K):
        row = i * (i - 1) // 2
        for j in range(i):
            a, b = renumbered[i], renumbered[j]
            if a == b:
                continue
            first = parent[i] == i and parent[j] == j
            to = max(a, b) * (max(a, b) - 1) // 2 + min(a, b)
            for t in range(S.shape[1]):
                s = S[row + j, t]
                if first:
                    S[to, t] = s
                elif use_max:
                    S[to, t] = max(S[to, t], s)
                else:
                    S[to, t] += s
    return left
