"""The merges of one round: which pairs of clusters are joined, in which order, and S and n of the joined clusters.

A cluster has the number of its smallest mention.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.compiling import compiled, internal
from homonym.clustering.dense.scoring import add_name, exceeds, triangle_index

# Loops over elements stand where numpy has an expression. numba compiles sorting, appending, copying and adding of
# arrays from Python code, error messages included: a first run of homonym compiled for nearly twice as long.

#: Length of the runs that are sorted by insertion before they are merged.
SORTED_RUN = 16


class Partition(NamedTuple):
    """Clusters of one block: the numbers of those that are `alive`, in ascending order, and which have `changed`.

    `parent` is the union-find forest of the mentions; roots are the smallest. `rank` is the position of a cluster among
    those that are alive.
    """

    alive: Any
    changed: Any
    parent: Any
    rank: Any


class CannotLinks(NamedTuple):
    """Cannot-links between the clusters of one block.

    `pair` is a triangle, 1 for pairs of clusters that must not be joined. `first_holder[p]` and `next_holder[x]` link
    the mentions of the block that have the profile p; between blocks all of `first_holder` is −1.
    """

    pair: Any
    first_holder: Any
    next_holder: Any


@internal
def _link_holders(profile, first_holder, next_holder):
    """Link the mentions of a block that have the same profile."""
    for x in range(profile.size):
        next_holder[x] = first_holder[profile[x]]
        first_holder[profile[x]] = x


@internal
def _unlink_holders(profile, first_holder):
    for x in range(profile.size):
        first_holder[profile[x]] = -1


@internal
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
    first_holder = np.empty(constraints.cannot_link_start.size - 1, np.int64)
    first_holder[:] = -1
    next_holder = np.empty(group.size, np.int64)
    for b in range(constrained.size):
        first, last = block_start[b], block_start[b + 1]
        for x in range(first, last):
            constrained[b] |= group[x] != x - first
        if not constrained[b]:
            constrained[b] = _has_cannot_links(profile[first:last], constraints, first_holder, next_holder)
    return constrained


@internal
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


@internal
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


@internal
def inherit_cannot_links(alive, a, b, pair):
    """Let cluster a have the cannot-links of cluster b."""
    for k in alive:
        if k != a and k != b and pair[triangle_index(b, k)]:
            pair[triangle_index(a, k)] = 1


@internal
def join_must_links(group, pair, parent, alive, merges):
    """Join the mentions of each must-link group; returns the number of merges."""
    done = 0
    for x in range(group.size):
        parent[x] = group[x]
        if parent[x] != x:
            inherit_cannot_links(alive, parent[x], x, pair)
            merges.round[done] = -1
            merges.left[done] = parent[x]
            merges.right[done] = x
            merges.score[done] = np.inf
            done += 1
    return done


@internal
def find_root(parent, i):
    """The root of i in a union-find forest, with path halving."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@internal
def enlarged(array):
    """A copy with room for twice as many elements."""
    larger = np.empty(2 * array.size, array.dtype)
    for k in range(array.size):
        larger[k] = array[k]
    return larger


@internal
def _best_pairs(alive, scores, limit, rounding):
    """All pairs that are best of row and column and exceed the limit, and the highest score of one that does not.

    A row is searched as a whole only if its second best score may tie with the best one.
    """
    row, column_best = scores.row, scores.column_best.value
    best, other, second = scores.row_best
    left, right, score = np.empty(16, np.int64), np.empty(16, np.int64), np.empty(16, np.float64)
    found, refused = 0, -np.inf
    for c in alive:
        if best[c] == -np.inf:
            continue
        alone = exceeds(best[c], second[c], rounding)
        for d in other[c : c + 1] if alone else alive:
            s = row[c, d]
            if d == c or s == -np.inf or exceeds(best[c], s, rounding) or exceeds(column_best[d], s, rounding):
                continue
            if not exceeds(s, limit, rounding):
                refused = max(refused, s)
                continue
            if found == score.size:
                left, right, score = enlarged(left), enlarged(right), enlarged(score)
            left[found], right[found], score[found] = c, d, s
            found += 1
    return left[:found], right[:found], score[:found], refused


@internal
def _ascending_order(key):
    """The order of ascending keys, doubles; equal keys keep their order. A merge sort of runs."""
    items, width = key.size, SORTED_RUN
    order, merged = np.empty(items, np.int64), np.empty(items, np.int64)
    for i in range(items):
        at = i
        while at % SORTED_RUN > 0 and key[order[at - 1]] > key[i]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i
    while width < items:
        for first in range(0, items, 2 * width):
            i, middle = first, min(first + width, items)
            j, last = middle, min(first + 2 * width, items)
            for at in range(first, last):
                if i < middle and (j == last or key[order[i]] <= key[order[j]]):
                    merged[at] = order[i]
                    i += 1
                else:
                    merged[at] = order[j]
                    j += 1
        order, merged = merged, order
        width *= 2
    return order


@internal
def _sort(numbers):
    """Sort some numbers below 2⁵³ in place."""
    key = np.empty(numbers.size)
    for k in range(numbers.size):
        key[k] = numbers[k]
    order = _ascending_order(key)
    for k in range(numbers.size):
        numbers[k] = np.int64(key[order[k]])


@compiled
def descending_order(score, rounding):
    """The order of descending scores; within a run of neighbours that tie, the given order is kept."""
    key = np.empty(score.size)
    for k in range(score.size):
        key[k] = -score[k]
    order, start = _ascending_order(key), 0
    for end in range(1, order.size + 1):
        if end == order.size or exceeds(score[order[end - 1]], score[order[end]], rounding):
            if end - start > 1:
                _sort(order[start:end])
            start = end
    return order


@internal
def _order_of_pairs(left, right, score, rounding, clusters):
    """The order of descending scores; those that tie by smaller, then larger cluster."""
    key, sorted_score = np.empty(score.size), np.empty(score.size)
    for k in range(score.size):
        key[k] = min(left[k], right[k]) * clusters + max(left[k], right[k])
    by_cluster = _ascending_order(key)
    for k in range(score.size):
        sorted_score[k] = score[by_cluster[k]]
    order = descending_order(sorted_score, rounding)
    for k in range(score.size):
        order[k] = by_cluster[order[k]]
    return order


@compiled
def join_best_pairs(alive, scores, limit, rounding, parent, pair, merges, done):
    """Join the pairs that are best of row and column and exceed the limit; returns the number of merges so far.

    From the highest score down, ties by smaller, then larger cluster; pairs that would violate a cannot-link (`pair`,
    empty if there are none) are skipped. Also returns the highest score of a pair that does not exceed the limit.
    """
    left, right, score, refused = _best_pairs(alive, scores, limit, rounding)
    for k in _order_of_pairs(left, right, score, rounding, parent.size):
        a, b = find_root(parent, left[k]), find_root(parent, right[k])
        if a == b or (pair.size > 0 and pair[triangle_index(a, b)]):
            continue
        a, b = min(a, b), max(a, b)
        parent[b] = a
        if pair.size > 0:
            inherit_cannot_links(alive, a, b, pair)
        merges.left[done], merges.right[done], merges.score[done] = a, b, score[k]
        done += 1
    return done, refused


@internal
def _absorb(a, b, alive, S, sums, use_max):
    """Add cluster b to cluster a (for `max`, S is the maximum)."""
    n, size, types, before_a, before_b = sums.n, sums.size, S.shape[1], a * (a - 1) // 2, b * (b - 1) // 2
    size_b, size[b] = size[b], 0.0  # clusters of size 0 have been absorbed
    for k in alive:
        if k < 0 or k == a or size[k] == 0.0:
            continue
        before_k = k * (k - 1) // 2
        to, source = before_a + k if k < a else before_k + a, before_b + k if k < b else before_k + b
        to, source = np.uint64(to), np.uint64(source)
        for t in range(types):
            if use_max:
                S[to, t] = max(S[to, t], S[source, t])
            else:
                S[to, t] += S[source, t]
    for t in range(types):
        n[a, t] += n[b, t]
    sums.level[a] += sums.level[b]
    size[a] += size_b


@internal
def contract(K, S, sums, names, named, use_max, partition):
    """Add each cluster that was joined to its root; returns the number of clusters left, and notes which changed."""
    alive, changed, parent = partition.alive, partition.changed, partition.parent
    for k in range(K):
        changed[alive[k]] = 0
    for k in range(K):
        b = alive[k]
        if parent[b] == b:
            continue
        a = find_root(parent, b)
        _absorb(a, b, alive[:K], S, sums, use_max)
        if named:
            add_name(a, names.name[b], names.factor[b], names)
        changed[a] = changed[b] = 1
    left = 0
    for k in range(K):
        if parent[alive[k]] == alive[k]:
            alive[left] = alive[k]
            left += 1
    return left


@internal
def number_clusters(K, partition, label):
    """Fill the labels of all mentions: clusters are numbered by their smallest mention."""
    for k in range(K):
        partition.rank[partition.alive[k]] = k
    for x in range(label.size):
        label[x] = partition.rank[find_root(partition.parent, x)]
