"""The formulas of `probability.py`, fast: one compiled call for many blocks. The only file with numba in it.

Flat arrays and scalars in, arrays out. What makes it fast is that clusters add up (METHOD: a merged cluster behaves
as one mention whose bags are the sums of its members' bags): after S(x,y) is known for the mentions of a block,

    score(C,D) = Σ_t w_t(D)·S_t(C,D) + pairs(C,D)·(ε/N)·Σ_t w_t(D)

with w_t(D) = λ_t / (n_t(D) + |D|·ε), or λ_t / (n_t(·) + N·ε) for the joint score, and pairs = |C|·|D| for `prob`, 1 for
`max`. S is symmetric: only pairs i > j are kept, at i·(i−1)/2 + j, with the feature types innermost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from homonym.clustering.probability import TIE

#: 2⁶⁴ divided by the golden ratio: multiplying by it spreads consecutive feature ids over a hash table.
SPREAD = np.uint64(0x9E3779B97F4A7C15)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile without the GIL; keep the machine code on disk where that is possible.

    numba raises where neither the package nor the home directory is writable; then the code is compiled anew in each
    process, which costs seconds, not the run.
    """
    try:
        return numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    except RuntimeError:
        return numba.njit(nogil=True, error_model="numpy")(function)


@compiled
def gather(
    shared_start, shared_end, own_start, own_end, own_name, type_start, type_kept, feature, count,
    bag_start, out_feature, out_count,
):  # fmt: skip
    """Copy the bags of some mentions into one array, mention after mention.

    A mention's bag is its document's bag and its own; of the co-authors, which are kept as all names of the document,
    one occurrence of `own_name` is the mention itself and is taken out. Types that are not kept are left out.
    """
    end = 0
    for x in range(shared_start.size):
        bag_start[x] = end
        for part in range(2):
            first = shared_start[x] if part == 0 else own_start[x]
            last = shared_end[x] if part == 0 else own_end[x]
            t = 0
            for k in range(first, last):
                f = feature[k]
                while f >= type_start[t + 1]:
                    t += 1
                c = count[k]
                if part == 0 and f == own_name[x]:
                    c -= 1.0
                if c > 0.0 and type_kept[t]:
                    out_feature[end] = f
                    out_count[end] = c
                    end += 1
    bag_start[shared_start.size] = end


@compiled
def _local_features(first, last, bag_start, feature, count, total, within, slots, local, key, inverse):
    """Number the distinct features of one block and find 1/#(f) of each; returns how many there are."""
    begin, end = bag_start[first], bag_start[last]
    size, bits = 1, 0
    while size < 2 * (end - begin):
        size, bits = size * 2, bits + 1
    shift = np.uint64(64 - bits)
    slots[:size] = -1
    distinct = 0
    for k in range(begin, end):
        f = feature[k]
        slot = np.int64((np.uint64(f) * SPREAD) >> shift) if bits > 0 else 0
        while slots[slot] >= 0 and key[slots[slot]] != f:
            slot = (slot + 1) & (size - 1)
        found = slots[slot]
        if found < 0:
            found = distinct
            slots[slot] = found
            key[found] = f
            inverse[found] = 0.0 if within else total[f]
            distinct += 1
        if within:
            inverse[found] += count[k]
        local[k - begin] = found
    for found in range(distinct):
        inverse[found] = 1.0 / inverse[found]
    return distinct


@compiled
def _couple(first, last, bag_start, feature, count, type_start, local, inverse, distinct, head, link, holder, S, n):
    """Fill S(x,y) and n(x) of one block: each occurrence meets the earlier ones of its feature, kept as a chain."""
    begin = bag_start[first]
    head[:distinct] = -1
    for x in range(last - first):
        row = x * (x - 1) // 2
        S[row : row + x] = 0.0
        n[x] = 0.0
        t = 0
        for k in range(bag_start[first + x], bag_start[first + x + 1]):
            f = feature[k]
            if f < type_start[t]:
                t = 0
            while f >= type_start[t + 1]:
                t += 1
            here = k - begin
            found = local[here]
            c = count[k]
            n[x, t] += c
            c *= inverse[found]
            other = head[found]
            while other >= 0:
                y = holder[other]
                if y != x:
                    S[row + y, t] += c * count[begin + other]
                other = link[other]
            link[here] = head[found]
            head[found] = here
            holder[here] = x


@compiled
def _score(K, S, n, size, weight, mass, N, epsilon, use_max, joint, w, smooth, scores, row_best, column_best):
    """Fill the scores of all ordered pairs and the best of every row and column; returns the best of all."""
    types = weight.size
    for d in range(K):
        smooth[d] = 0.0
        for t in range(types):
            below = mass[t] + N * epsilon if joint else n[d, t] + size[d] * epsilon
            w[d, t] = weight[t] / below
            smooth[d] += w[d, t]
        smooth[d] *= epsilon / N
        row_best[d] = -np.inf
        column_best[d] = -np.inf
    for i in range(1, K):
        row = i * (i - 1) // 2
        for j in range(i):
            pairs = 1.0 if use_max else size[i] * size[j]
            i_given_j = pairs * smooth[j]
            j_given_i = pairs * smooth[i]
            for t in range(types):
                s = S[row + j, t]
                i_given_j += w[j, t] * s
                j_given_i += w[i, t] * s
            scores[i, j] = i_given_j
            scores[j, i] = j_given_i
            row_best[i] = max(row_best[i], i_given_j)
            column_best[j] = max(column_best[j], i_given_j)
            row_best[j] = max(row_best[j], j_given_i)
            column_best[i] = max(column_best[i], j_given_i)
    best = -np.inf
    for d in range(K):
        best = max(best, row_best[d])
    return best


@compiled
def _exceeds(a, b):
    """`probability.exceeds`: greater by more than a tie."""
    return a - b > TIE * abs(a)


@compiled
def _root(parent, i):
    """The smallest cluster that i has been joined with, paths halved on the way."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@compiled
def _join(K, scores, row_best, column_best, limit, parent, members, done, merge_left, merge_right, merge_score):
    """Join all pairs that are best of row and column and exceed the limit; returns the number of merges so far.

    Rows in order of their best score, so that a merge is recorded with the highest score that demands it.
    """
    for i in range(K):
        parent[i] = i
    for i in np.argsort(-row_best[:K], kind="mergesort"):
        if not _exceeds(row_best[i], limit):
            break
        for j in range(K):
            if i == j:
                continue
            s = scores[i, j]
            if not _exceeds(s, limit) or _exceeds(row_best[i], s) or _exceeds(column_best[j], s):
                continue
            a, b = _root(parent, i), _root(parent, j)
            if a != b:
                a, b = min(a, b), max(a, b)
                parent[b] = a
                merge_left[done] = members[a]
                merge_right[done] = members[b]
                merge_score[done] = s
                done += 1
    return done


@compiled
def _shrink(K, S, n, size, use_max, parent, renumbered, members):
    """Replace the joined clusters by their sums (of S: maxima for `max`); returns how many clusters are left.

    In place: clusters are numbered by their smallest member, so a sum is never stored beyond what has been read.
    """
    left = 0
    for i in range(K):
        root = _root(parent, i)
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


@compiled
def cluster_blocks(
    block_start, bag_start, feature, count, type_start, total, mass, weight, mentions_in_collection,
    epsilon, alpha, beta, use_max, joint, within, hypothetical,
    label, rounds, merge_round, merge_left, merge_right, merge_score,
):  # fmt: skip
    """Cluster every block.

    In: mentions `block_start[b]` to `block_start[b+1]` form block b; mention x has the features
    `feature[bag_start[x]:bag_start[x+1]]` with their counts, in any order; features `type_start[t]` to
    `type_start[t+1]` are of type t.

    Out: `label[x]`, the cluster of a mention inside its block at convergence, numbered by smallest member; `rounds[b]`
    before convergence; and the merges of block b, in order, from `block_start[b]` on: the round (from 1), the smallest
    mentions of both clusters and the score, `merge_round` 0 where there is none. With `hypothetical` the process goes
    on to a single cluster.
    """
    blocks = block_start.size - 1
    types = weight.size
    largest, longest = 1, 1
    for b in range(blocks):
        largest = max(largest, block_start[b + 1] - block_start[b])
        longest = max(longest, bag_start[block_start[b + 1]] - bag_start[block_start[b]])
    table = 1
    while table < 2 * longest:
        table *= 2
    slots = np.empty(table, np.int32)
    local = np.empty(longest, np.int32)
    key = np.empty(longest, np.int32)
    inverse = np.empty(longest, np.float64)
    head = np.empty(longest, np.int32)
    link = np.empty(longest, np.int32)
    holder = np.empty(longest, np.int32)
    S = np.empty((largest * (largest - 1) // 2 + 1, types), np.float64)
    scores = np.empty((largest, largest), np.float64)
    n = np.empty((largest, types), np.float64)
    w = np.empty((largest, types), np.float64)
    smooth = np.empty(largest, np.float64)
    row_best = np.empty(largest, np.float64)
    column_best = np.empty(largest, np.float64)
    size = np.empty(largest, np.float64)
    parent = np.empty(largest, np.int64)
    renumbered = np.empty(largest, np.int64)
    members = np.empty(largest, np.int64)
    current = np.empty(largest, np.int64)
    block_mass = np.empty(types, np.float64)

    for b in range(blocks):
        first, last = block_start[b], block_start[b + 1]
        m = last - first
        distinct = _local_features(first, last, bag_start, feature, count, total, within, slots, local, key, inverse)
        _couple(
            first, last, bag_start, feature, count, type_start, local, inverse, distinct,
            head, link, holder, S, n,
        )  # fmt: skip
        N = float(m) if within else float(mentions_in_collection)
        for t in range(types):
            block_mass[t] = n[:m, t].sum() if within else mass[t]
        for x in range(m):
            size[x] = 1.0
            members[x] = x
            current[x] = x
        limit = alpha + m * beta
        K, done, step = m, 0, 0
        converged = False
        while K > 1:
            best = _score(
                K, S, n, size, weight, block_mass, N, epsilon, use_max, joint,
                w, smooth, scores, row_best, column_best,
            )  # fmt: skip
            threshold = limit
            if not _exceeds(best, limit):
                if not converged:
                    converged = True
                    rounds[b] = step
                    label[first:last] = current[:m]
                if not hypothetical:
                    break
                threshold = -np.inf
            step += 1
            before = done
            done = _join(
                K, scores, row_best, column_best, threshold, parent, members, done,
                merge_left[first:last], merge_right[first:last], merge_score[first:last],
            )  # fmt: skip
            merge_round[first + before : first + done] = step
            K = _shrink(K, S, n, size, use_max, parent, renumbered, members)
            for x in range(m):
                current[x] = renumbered[current[x]]
        if not converged:
            rounds[b] = step
            label[first:last] = current[:m]
