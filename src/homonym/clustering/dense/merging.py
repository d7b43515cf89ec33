"""The merges of one round: which pairs of clusters are joined, in which order, and S and n of the joined clusters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.compiling import compiled, inlined
from homonym.clustering.dense.scoring import add_name, exceeds


class Partition(NamedTuple):
    """Clusters of one round, numbered by their smallest mention.

    `parent` is the union-find forest of the clusters joined in this round, whose roots are the smallest. `renumbered`
    is the number of each cluster after the round, `smallest` its smallest mention, `current` the cluster of each
    mention.
    """

    parent: Any
    renumbered: Any
    smallest: Any
    current: Any


class CannotLinks(NamedTuple):
    """Cannot-links between the clusters of one block.

    `pair` is a triangle, 1 for pairs of clusters that must not be joined. `first_holder[p]` and `next_holder[x]` link
    the mentions of the block that have the profile p; between blocks all of `first_holder` is −1.
    """

    pair: Any
    first_holder: Any
    next_holder: Any


@inlined
def profiles_of(constraints):
    """The number of profiles, 0 without constraints."""
    profiles = 0
    if constraints is not None:
        profiles = constraints.cannot_link_start.size - 1
    return profiles


@compiled
def triangle_index(i, j):
    """The position of the pair of i and j in a triangle."""
    return max(i, j) * (max(i, j) - 1) // 2 + min(i, j)


@compiled
def _link_holders(profile, first_holder, next_holder):
    """Link the mentions of a block that have the same profile."""
    for x in range(profile.size):
        next_holder[x] = first_holder[profile[x]]
        first_holder[profile[x]] = x


@compiled
def _unlink_holders(profile, first_holder):
    for x in range(profile.size):
        first_holder[profile[x]] = -1


@compiled
def _has_cannot_links(profile, constraints, first_holder, next_holder):
    """Whether any two mentions of a block cannot be linked."""
    start, cannot_link = constraints.cannot_link_start, constraints.cannot_link
    _link_holders(profile, first_holder, next_holder)
    found = False
    for x in range(profile.size):
        p = profile[x]
        for k in range(start[p], start[p + 1] if next_holder[x] < 0 else start[p]):  # once per profile
            holder = first_holder[cannot_link[k]]
            found |= holder >= 0 and holder != x
    _unlink_holders(profile, first_holder)
    return found


@compiled
def constrained_blocks(block_start, constraints):
    """Which blocks have a must-link group of several mentions, or a cannot-link pair."""
    group, profile = constraints.group, constraints.profile
    constrained = np.zeros(block_start.size - 1, np.bool_)
    first_holder, next_holder = np.full(profiles_of(constraints), -1), np.empty(group.size, np.int64)
    for b in range(constrained.size):
        first, last = block_start[b], block_start[b + 1]
        for x in range(first, last):
            constrained[b] |= group[x] != x - first
        if not constrained[b]:
            constrained[b] = _has_cannot_links(profile[first:last], constraints, first_holder, next_holder)
    return constrained


@compiled
def _mark_profiles(p, q, links):
    """Mark all pairs of a mention with profile p and a mention with profile q."""
    i = links.first_holder[p]
    while i >= 0:
        j = links.first_holder[q]
        while j >= 0:
            if i != j:
                links.pair[triangle_index(i, j)] = 1
            j = links.next_holder[j]
        i = links.next_holder[i]


@compiled
def fill_cannot_links(profile, constraints, links):
    """Fill the triangle of cannot-links of the mentions of one block."""
    m, start = profile.size, constraints.cannot_link_start
    links.pair[: m * (m - 1) // 2] = 0
    _link_holders(profile, links.first_holder, links.next_holder)
    for x in range(m):
        p = profile[x]
        for k in range(start[p], start[p + 1] if links.next_holder[x] < 0 else start[p]):  # once per profile
            _mark_profiles(p, constraints.cannot_link[k], links)
    _unlink_holders(profile, links.first_holder)


@compiled
def inherit_cannot_links(K, a, b, pair):
    """Let cluster a have the cannot-links of cluster b."""
    for k in range(K):
        if k != a and k != b and pair[triangle_index(b, k)]:
            pair[triangle_index(a, k)] = 1


@compiled
def shrink_cannot_links(K, pair, partition):
    """Keep the cannot-links of the clusters that are left, which have inherited those of the clusters they absorbed."""
    parent, renumbered = partition.parent, partition.renumbered
    for i in range(1, K):
        if parent[i] != i:
            continue
        for j in range(i):
            if parent[j] == j:
                pair[triangle_index(renumbered[i], renumbered[j])] = pair[triangle_index(i, j)]


@compiled
def exclude_cannot_links(K, pair, scores):
    """Set the scores of cannot-link pairs to −∞ and find the best of each row and column again; returns the best."""
    score, row_best, column_best = scores.pair, scores.row_best, scores.column_best
    for d in range(K):
        row_best[d] = -np.inf
        column_best[d] = -np.inf
    for i in range(K):
        for j in range(K):
            if i == j:
                continue
            if pair[triangle_index(i, j)]:
                score[i, j] = -np.inf
            row_best[i] = max(row_best[i], score[i, j])
            column_best[j] = max(column_best[j], score[i, j])
    best = -np.inf
    for d in range(K):
        best = max(best, row_best[d])
    return best


@compiled
def join_must_links(group, pair, parent, merges):
    """Join the mentions of each must-link group; returns the number of merges."""
    done = 0
    for x in range(group.size):
        parent[x] = group[x]
        if parent[x] != x:
            inherit_cannot_links(group.size, parent[x], x, pair)
            merges.round[done] = -1
            merges.left[done] = parent[x]
            merges.right[done] = x
            merges.score[done] = np.inf
            done += 1
    return done


@compiled
def find_root(parent, i):
    """The root of i in a union-find forest, with path halving."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@inlined
def record_merge(a, b, score, smallest, merges, done):
    """Record that the clusters a and b were joined; returns the number of merges so far."""
    merges.left[done] = smallest[a]
    merges.right[done] = smallest[b]
    merges.score[done] = score
    return done + 1


@compiled
def join_best_pairs(K, scores, limit, rounding, partition, merges, done):
    """Join all pairs that are best of row and column and exceed the limit; returns the number of merges so far.

    Rows are processed in descending order of their best score, so that a merge is recorded with the highest score that
    calls for it. Also returns the highest score of a pair that is best of row and column but does not exceed the limit.
    """
    parent, pair, row_best, column_best = partition.parent, scores.pair, scores.row_best, scores.column_best
    for i in range(K):
        parent[i] = i
    refused = -np.inf
    for i in np.argsort(-row_best[:K], kind="mergesort"):
        above = exceeds(row_best[i], limit, rounding)
        for j in range(K):
            if i == j:
                continue
            s = pair[i, j]
            if exceeds(row_best[i], s, rounding) or exceeds(column_best[j], s, rounding):
                continue
            if not exceeds(s, limit, rounding):
                refused = max(refused, s)
                continue
            a, b = find_root(parent, i), find_root(parent, j)
            if a != b:
                a, b = min(a, b), max(a, b)
                parent[b] = a
                done = record_merge(a, b, s, partition.smallest, merges, done)
        if not above and refused > -np.inf:
            break
    return done, refused


@compiled
def _best_pairs(K, scores, limit, rounding):
    """All allowed pairs that are best of row and column and exceed the limit, by smaller, then larger cluster.

    Also returns the highest score of such a pair that does not exceed the limit.
    """
    pair, row_best, column_best = scores.pair, scores.row_best, scores.column_best
    smaller, larger, score = np.empty(K, np.int64), np.empty(K, np.int64), np.empty(K, np.float64)
    found, refused = 0, -np.inf
    for i in range(K):
        for j in range(i + 1, K):
            for c, d in ((i, j), (j, i)):
                s = pair[c, d]
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
def descending_order(score, rounding):
    """The order of descending scores; within a run of neighbours that tie, the given order is kept."""
    order = np.argsort(-score, kind="mergesort")
    start = 0
    for end in range(1, order.size + 1):
        if end == order.size or exceeds(score[order[end - 1]], score[order[end]], rounding):
            order[start:end] = np.sort(order[start:end])
            start = end
    return order


@compiled
def join_allowed_pairs(K, scores, limit, rounding, partition, pair, merges, done):
    """`join_best_pairs` with cannot-links: from the highest score down, pairs that would violate one are skipped."""
    parent = partition.parent
    for i in range(K):
        parent[i] = i
    smaller, larger, score, refused = _best_pairs(K, scores, limit, rounding)
    for k in descending_order(score, rounding):
        a, b = find_root(parent, smaller[k]), find_root(parent, larger[k])
        if a == b or pair[triangle_index(a, b)]:
            continue
        a, b = min(a, b), max(a, b)
        parent[b] = a
        inherit_cannot_links(K, a, b, pair)
        done = record_merge(a, b, score[k], partition.smallest, merges, done)
    return done, refused


@compiled
def shrink_names(K, names, partition):
    """Give the clusters that are left the names of the clusters they absorbed, after `shrink`; also in place."""
    parent, renumbered = partition.parent, partition.renumbered
    for i in range(K):
        to, name, factor = renumbered[i], names.name[i], names.factor[i]
        if parent[i] == i:
            names.name[to] = name
            names.factor[to] = factor
        else:
            add_name(to, name, factor, names)


@compiled
def shrink(K, S, sums, use_max, partition):
    """Replace joined clusters by their sums (for `max`, S by the maximum); returns the number of clusters left.

    In place: clusters are numbered by their smallest member, so a sum is never written beyond what has been read.
    """
    n, size, level, parent, renumbered = sums.n, sums.size, sums.level, partition.parent, partition.renumbered
    left = 0
    for i in range(K):
        root = find_root(parent, i)
        if root == i:
            renumbered[i] = left
            partition.smallest[left] = partition.smallest[i]
            size[left] = size[i]
            level[left] = level[i]
            n[left] = n[i]
            left += 1
        else:
            renumbered[i] = renumbered[root]
            size[renumbered[i]] += size[i]
            level[renumbered[i]] += level[i]
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
