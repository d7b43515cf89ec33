"""The formulas of `probability.py`, fast: one compiled call for many blocks. The only file with numba in it.

Flat arrays and scalars in, arrays out. What makes it fast is that clusters add up (METHOD: a merged cluster behaves
as one mention whose bags are the sums of its members' bags): after S(x,y) is known for the mentions of a block,

    score(C,D) = Σ_t w_t(D)·S_t(C,D) + pairs(C,D)·(ε/N)·Σ_t w_t(D)

with w_t(D) = λ_t / (n_t(D) + |D|·ε), or λ_t / (n_t(·) + N·ε) for the joint score, and pairs = |C|·|D| for `prob`, 1 for
`max`. S is symmetric: only pairs i > j are kept, at i·(i−1)/2 + j, with the feature types innermost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

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

    Rows in order of their best score, so that a merge is recorded with the highest score that demands it. Also returns
    the highest score of a pair that is best of row and column but does not exceed the limit.
    """
    for i in range(K):
        parent[i] = i
    refused = -np.inf
    for i in np.argsort(-row_best[:K], kind="mergesort"):
        above = _exceeds(row_best[i], limit)
        for j in range(K):
            if i == j:
                continue
            s = scores[i, j]
            if _exceeds(row_best[i], s) or _exceeds(column_best[j], s):
                continue
            if not _exceeds(s, limit):
                refused = max(refused, s)
                continue
            a, b = _root(parent, i), _root(parent, j)
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


class Scratch(NamedTuple):
    """Arrays that the blocks of one call share, each as large as the largest block needs."""

    slots: Any
    local: Any
    key: Any
    inverse: Any
    head: Any
    link: Any
    holder: Any
    S: Any
    n: Any
    scores: Any
    w: Any
    smooth: Any
    row_best: Any
    column_best: Any
    size: Any
    parent: Any
    renumbered: Any
    members: Any
    current: Any


@compiled
def _scratch(block_start, bag_start, types):
    """Allocate the shared arrays."""
    largest, longest = 1, 1
    for b in range(block_start.size - 1):
        largest = max(largest, block_start[b + 1] - block_start[b])
        longest = max(longest, bag_start[block_start[b + 1]] - bag_start[block_start[b]])
    table = 1
    while table < 2 * longest:
        table *= 2
    return Scratch(
        slots=np.empty(table, np.int32),
        local=np.empty(longest, np.int32),
        key=np.empty(longest, np.int32),
        inverse=np.empty(longest, np.float64),
        head=np.empty(longest, np.int32),
        link=np.empty(longest, np.int32),
        holder=np.empty(longest, np.int32),
        S=np.empty((largest * (largest - 1) // 2 + 1, types), np.float64),
        n=np.empty((largest, types), np.float64),
        scores=np.empty((largest, largest), np.float64),
        w=np.empty((largest, types), np.float64),
        smooth=np.empty(largest, np.float64),
        row_best=np.empty(largest, np.float64),
        column_best=np.empty(largest, np.float64),
        size=np.empty(largest, np.float64),
        parent=np.empty(largest, np.int64),
        renumbered=np.empty(largest, np.int64),
        members=np.empty(largest, np.int64),
        current=np.empty(largest, np.int64),
    )


@compiled
def _prepare(first, last, bag_start, feature, count, type_start, total, within, scratch):
    """Fill S(x,y) and n(x) of one block."""
    distinct = _local_features(
        first, last, bag_start, feature, count, total, within,
        scratch.slots, scratch.local, scratch.key, scratch.inverse,
    )  # fmt: skip
    _couple(
        first, last, bag_start, feature, count, type_start, scratch.local, scratch.inverse, distinct,
        scratch.head, scratch.link, scratch.holder, scratch.S, scratch.n,
    )  # fmt: skip


@compiled
def _merge(
    m, weight, mass, N, epsilon, use_max, joint, limit, hypothetical, scratch,
    label, merge_round, merge_left, merge_right, merge_score,
):  # fmt: skip
    """Merge the mentions of one prepared block round by round; S and n are used up.

    Returns the rounds until convergence, the clusters that are left there, and the highest score that was best of row
    and column until then but did not exceed the limit: for every limit between that score and this one, all is the
    same.
    """
    size, members, current, renumbered = scratch.size, scratch.members, scratch.current, scratch.renumbered
    for x in range(m):
        size[x] = 1.0
        members[x] = x
        current[x] = x
        label[x] = x
    K, done, step = m, 0, 0
    rounds, clusters, refused = -1, 1, -np.inf
    while K > 1:
        best = _score(
            K, scratch.S, scratch.n, size, weight, mass, N, epsilon, use_max, joint,
            scratch.w, scratch.smooth, scratch.scores, scratch.row_best, scratch.column_best,
        )  # fmt: skip
        threshold = limit
        if not _exceeds(best, limit):
            if rounds < 0:
                rounds, clusters, refused = step, K, max(refused, best)
                label[:] = current[:m]
            if not hypothetical:
                break
            threshold = -np.inf
        step += 1
        before = done
        done, below = _join(
            K, scratch.scores, scratch.row_best, scratch.column_best, threshold, scratch.parent, members, done,
            merge_left, merge_right, merge_score,
        )  # fmt: skip
        if rounds < 0:
            refused = max(refused, below)
        merge_round[before:done] = step
        K = _shrink(K, scratch.S, scratch.n, size, use_max, scratch.parent, renumbered, members)
        for x in range(m):
            current[x] = renumbered[current[x]]
    if rounds < 0:
        rounds = step
        label[:] = current[:m]
    return rounds, clusters, refused


@compiled
def cluster_blocks(
    block_start, bag_start, feature, count, type_start, total, mass, weight, mentions_in_collection,
    epsilon, use_max, joint, within, limit, hypothetical,
    label, rounds, merge_round, merge_left, merge_right, merge_score,
):  # fmt: skip
    """Cluster every block.

    In: mentions `block_start[b]` to `block_start[b+1]` form block b, which has its own `limit[b]`; mention x has the
    features `feature[bag_start[x]:bag_start[x+1]]` with their counts, in any order; features `type_start[t]` to
    `type_start[t+1]` are of type t.

    Out: `label[x]`, the cluster of a mention inside its block at convergence, numbered by smallest member; `rounds[b]`
    before convergence; and the merges of block b, in order, from `block_start[b]` on: the round (from 1), the smallest
    mentions of both clusters and the score, `merge_round` 0 where there is none. With `hypothetical` the process goes
    on to a single cluster.
    """
    scratch = _scratch(block_start, bag_start, weight.size)
    block_mass = mass.copy()
    for b in range(block_start.size - 1):
        first, last = block_start[b], block_start[b + 1]
        m = last - first
        _prepare(first, last, bag_start, feature, count, type_start, total, within, scratch)
        N = float(m) if within else float(mentions_in_collection)
        if within:
            for t in range(weight.size):
                block_mass[t] = scratch.n[:m, t].sum()
        rounds[b], _, _ = _merge(
            m, weight, block_mass, N, epsilon, use_max, joint, limit[b], hypothetical, scratch, label[first:last],
            merge_round[first:last], merge_left[first:last], merge_right[first:last], merge_score[first:last],
        )  # fmt: skip


@compiled
def sweep_blocks(
    block_start, bag_start, feature, count, type_start, total, mass, weight, mentions_in_collection,
    epsilon, use_max, joint, within, ratio, steps,
):  # fmt: skip
    """Cluster every block at all limits that lead to different outcomes, from the highest down.

    The next limit lies just below the highest score that was refused, but at least `ratio` times below the last one, so
    that a large block does not take a run for each of its thousands of outcomes. Ends where one cluster is left.

    Out: `steps[b]` the number of outcomes of block b; the lowest limit of each outcome; and its labels, one outcome
    after the other.
    """
    scratch = _scratch(block_start, bag_start, weight.size)
    types = weight.size
    largest = scratch.size.size
    block_mass = mass.copy()
    whole_S, whole_n = np.empty_like(scratch.S), np.empty_like(scratch.n)
    merge_round, merge_left, merge_right = (
        np.empty(largest, np.int32),
        np.empty(largest, np.int32),
        np.empty(largest, np.int32),
    )
    merge_score = np.empty(largest, np.float64)
    lowest, outcomes = np.empty(4 * block_start.size, np.float64), 0
    label, labelled = np.empty(4 * block_start[-1] + 1, np.int32), 0
    for b in range(block_start.size - 1):
        first, last = block_start[b], block_start[b + 1]
        m = last - first
        pairs = m * (m - 1) // 2
        _prepare(first, last, bag_start, feature, count, type_start, total, within, scratch)
        whole_S[:pairs] = scratch.S[:pairs]
        whole_n[:m] = scratch.n[:m]
        N = float(m) if within else float(mentions_in_collection)
        if within:
            for t in range(types):
                block_mass[t] = scratch.n[:m, t].sum()
        limit, clusters, steps[b] = np.inf, 0, 0
        while clusters != 1:
            scratch.S[:pairs] = whole_S[:pairs]
            scratch.n[:m] = whole_n[:m]
            if outcomes == lowest.size:
                lowest = np.append(lowest, np.empty_like(lowest))
            while labelled + m > label.size:
                label = np.append(label, np.empty_like(label))
            _, clusters, refused = _merge(
                m, weight, block_mass, N, epsilon, use_max, joint, limit, False, scratch,
                label[labelled : labelled + m], merge_round, merge_left, merge_right, merge_score,
            )  # fmt: skip
            lowest[outcomes] = refused if clusters > 1 else -np.inf
            outcomes, labelled, steps[b] = outcomes + 1, labelled + m, steps[b] + 1
            limit = min(refused * (1 - 4 * TIE), limit / ratio)
    return lowest[:outcomes], label[:labelled]


@compiled
def couple_block(bag_start, feature, count, type_start, total):
    """S(x,y) of each ordered pair and feature type of one block, 0 for x = y; and n(x)."""
    m, types = bag_start.size - 1, type_start.size - 1
    scratch = _scratch(np.array([0, m]), bag_start, types)
    _prepare(0, m, bag_start, feature, count, type_start, total, False, scratch)
    S = np.zeros((m, m, types))
    for i in range(1, m):
        for j in range(i):
            S[i, j] = scratch.S[i * (i - 1) // 2 + j]
            S[j, i] = S[i, j]
    return S, scratch.n
