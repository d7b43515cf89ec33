"""One round's merges: which pairs of clusters are joined, in which order, and what is left of S afterwards."""

from __future__ import annotations

import numpy as np

from homonym.clustering.kernel.compiling import compiled
from homonym.clustering.kernel.rivals import place_of, take_rivals
from homonym.clustering.kernel.scoring import exceeds


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
