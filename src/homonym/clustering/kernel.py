"""The formulas of `probability.py`, fast: one compiled call for many blocks. The only file with numba in it.

Flat arrays and scalars in, arrays out. What makes it fast is that clusters add up (METHOD: a merged cluster behaves
as one mention whose bags are the sums of its members' bags): after S(x,y) is known for the mentions of a block,

    score(C,D) = Σ_t w_t(D)·S_t(C,D) + pairs(C,D)·(ε/N)·Σ_t w_t(D) − chance(C,D)

with w_t(D) = λ_t / (n_t(D) + |D|·ε), or λ_t / (n_t(·) + N·ε) for the joint score, and pairs = |C|·|D| for `prob`, 1 for
`max`. What is shared by chance is a product of sums: γ·Σ_t λ_t·n_t(C)/n_t(·), which does not depend on D, or for the
joint score γ·Σ_t λ_t·n_t(C)/n_t(·)·(n_t(D) + |D|·ε)/(n_t(·) + N·ε); a type without occurrences has none.

S is symmetric: only pairs i > j are kept, at i·(i−1)/2 + j, with the feature types innermost. Rivals are kept in such a
triangle, too; clusters that are joined have the rivals of both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from homonym.clustering.probability import ROUNDING, TIE

#: 2⁶⁴ divided by the golden ratio: multiplying by it spreads consecutive feature ids over a hash table.
SPREAD = np.uint64(0x9E3779B97F4A7C15)
#: Margins are found for so many mentions of a block at a time.
STRIP = 16


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile without the GIL; keep the machine code on disk where that is possible.

    numba raises where neither the package nor the home directory is writable; then the code is compiled anew in each
    process, which costs seconds, not the run.
    """
    try:
        return numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    except RuntimeError:
        return numba.njit(nogil=True, error_model="numpy")(function)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile into the caller: to hand over all of `Scratch` costs as much as a small block's work."""
    return numba.njit(nogil=True, error_model="numpy", inline="always")(function)


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


class Model(NamedTuple):
    """What the formulas depend on beside S and n; `expected[t]` is the factor of n_t(C) in the chance term."""

    weight: Any
    mass: Any
    expected: Any
    N: Any
    epsilon: Any
    gamma: Any
    use_max: Any
    joint: Any


@inlined
def _model_of(
    m, n, weight, mentions_in_collection, epsilon, gamma, use_max, joint, within, block_mass, expected
):  # fmt: skip
    """The model of one block of m mentions, which for `within` is the whole collection."""
    N = float(m) if within else float(mentions_in_collection)
    for t in range(weight.size):
        if within:
            block_mass[t] = n[:m, t].sum()
        expected[t] = 0.0
        if gamma > 0.0 and block_mass[t] > 0.0:
            expected[t] = gamma * weight[t] / block_mass[t]
            if joint:
                expected[t] /= block_mass[t] + N * epsilon
    return Model(weight, block_mass, expected, N, epsilon, gamma, use_max, joint)


@inlined
def _weigh(first, last, n, size, weight, mass, N, epsilon, joint, w, smooth):
    """Fill w_t(D) and the smoothing (ε/N)·Σ_t w_t(D) of some clusters."""
    for d in range(first, last):
        smooth[d] = 0.0
        for t in range(weight.size):
            below = mass[t] + N * epsilon if joint else n[d, t] + size[d] * epsilon
            w[d, t] = weight[t] / below
            smooth[d] += w[d, t]
        smooth[d] *= epsilon / N


@compiled
def _chance(c, n_c, d, n_d, size_d, expected, epsilon, joint):
    """What cluster c would share with d by chance: γ · Σ_t λ_t · n_t(C)/n_t(·), times p_t(D) for the joint score."""
    total = 0.0
    for t in range(expected.size):
        given = n_d[d, t] + size_d[d] * epsilon if joint else 1.0
        total += expected[t] * n_c[c, t] * given
    return total


@compiled
def _score(
    K, S, n, size, weight, mass, expected, N, epsilon, gamma, use_max, joint,
    w, smooth, chance, scores, row_best, column_best,
):  # fmt: skip
    """Fill the scores of all ordered pairs and the best of every row and column.

    Returns the best of all, and the size of rounding errors: where chance is subtracted, some part of the largest
    number that it is subtracted from, or that is subtracted.
    """
    _weigh(0, K, n, size, weight, mass, N, epsilon, joint, w, smooth)
    for d in range(K):
        chance[d] = 0.0 if joint else _chance(d, n, d, n, size, expected, epsilon, False)
        row_best[d] = -np.inf
        column_best[d] = -np.inf
    largest = 0.0
    for i in range(1, K):
        row = i * (i - 1) // 2
        for j in range(i):
            pairs = 1.0 if use_max else size[i] * size[j]
            i_given_j = pairs * smooth[j] - chance[i]
            j_given_i = pairs * smooth[i] - chance[j]
            for t in range(weight.size):
                s = S[row + j, t]
                i_given_j += w[j, t] * s
                j_given_i += w[i, t] * s
            if joint and gamma > 0.0:
                chance_of_i = _chance(i, n, j, n, size, expected, epsilon, True)
                chance_of_j = _chance(j, n, i, n, size, expected, epsilon, True)
                largest = max(largest, max(max(i_given_j, j_given_i), max(chance_of_i, chance_of_j)))
                i_given_j -= chance_of_i
                j_given_i -= chance_of_j
            scores[i, j] = i_given_j
            scores[j, i] = j_given_i
            row_best[i] = max(row_best[i], i_given_j)
            column_best[j] = max(column_best[j], i_given_j)
            row_best[j] = max(row_best[j], j_given_i)
            column_best[i] = max(column_best[i], j_given_i)
    best = -np.inf
    for d in range(K):
        best = max(best, row_best[d])
        largest = max(largest, chance[d] + max(row_best[d], 0.0))
    return best, ROUNDING * largest if gamma > 0.0 else 0.0


@compiled
def _exceeds(a, b, rounding):
    """`probability.exceeds`: greater by more than a tie."""
    return a - b > TIE * abs(a) + rounding


@compiled
def _root(parent, i):
    """The smallest cluster that i has been joined with, paths halved on the way."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@compiled
def _join(
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
        above = _exceeds(row_best[i], limit, rounding)
        for j in range(K):
            if i == j:
                continue
            s = scores[i, j]
            if _exceeds(row_best[i], s, rounding) or _exceeds(column_best[j], s, rounding):
                continue
            if not _exceeds(s, limit, rounding):
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
def _at(i, j):
    """Where the pair of i and j stands in a triangle."""
    return max(i, j) * (max(i, j) - 1) // 2 + min(i, j)


@compiled
def _forbid(K, rivals, scores, row_best, column_best):
    """Take rivals out of the scores and find the best of every row and column again; returns the best of all."""
    for d in range(K):
        row_best[d] = -np.inf
        column_best[d] = -np.inf
    for i in range(K):
        for j in range(K):
            if i == j:
                continue
            if rivals[_at(i, j)]:
                scores[i, j] = -np.inf
            row_best[i] = max(row_best[i], scores[i, j])
            column_best[j] = max(column_best[j], scores[i, j])
    best = -np.inf
    for d in range(K):
        best = max(best, row_best[d])
    return best


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
                if s == -np.inf or _exceeds(row_best[c], s, rounding) or _exceeds(column_best[d], s, rounding):
                    continue
                if not _exceeds(s, limit, rounding):
                    refused = max(refused, s)
                    continue
                if found == score.size:
                    smaller, larger = np.append(smaller, smaller), np.append(larger, larger)
                    score = np.append(score, score)
                smaller[found], larger[found], score[found] = i, j, s
                found += 1
    return smaller[:found], larger[:found], score[:found], refused


@compiled
def _from_highest(score, rounding):
    """The order of falling scores; runs of neighbours that tie stay in the order in which they are given."""
    order = np.argsort(-score, kind="mergesort")
    start = 0
    for end in range(1, order.size + 1):
        if end == order.size or _exceeds(score[order[end - 1]], score[order[end]], rounding):
            order[start:end] = np.sort(order[start:end])
            start = end
    return order


@compiled
def _take_rivals(K, a, b, rivals):
    """Whoever is a rival of b becomes one of a."""
    for k in range(K):
        if k != a and k != b and rivals[_at(b, k)]:
            rivals[_at(a, k)] = 1


@compiled
def _join_allowed(
    K, scores, row_best, column_best, limit, rounding, rivals, parent, members,
    done, merge_left, merge_right, merge_score,
):  # fmt: skip
    """`_join` where there are rivals: one pair after the other, but for those that would unite rivals."""
    for i in range(K):
        parent[i] = i
    smaller, larger, score, refused = _demands(K, scores, row_best, column_best, limit, rounding)
    for k in _from_highest(score, rounding):
        a, b = _root(parent, smaller[k]), _root(parent, larger[k])
        if a == b or rivals[_at(a, b)]:
            continue
        a, b = min(a, b), max(a, b)
        parent[b] = a
        _take_rivals(K, a, b, rivals)
        merge_left[done] = members[a]
        merge_right[done] = members[b]
        merge_score[done] = score[k]
        done += 1
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


@compiled
def _shrink_rivals(K, rivals, parent, renumbered):
    """Keep the rivals of the clusters that are left, which have taken over those of the clusters joined with them."""
    for i in range(1, K):
        if parent[i] != i:
            continue
        for j in range(i):
            if parent[j] == j:
                rivals[_at(renumbered[i], renumbered[j])] = rivals[_at(i, j)]


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
    chance: Any
    row_best: Any
    column_best: Any
    size: Any
    parent: Any
    renumbered: Any
    members: Any
    current: Any
    rivals: Any
    first_holder: Any
    next_holder: Any


@compiled
def _scratch(block_start, bag_start, chosen, types, profiles):
    """Allocate the arrays that the chosen blocks share; those for rivals only where there are any profiles."""
    largest, longest = 1, 1
    for b in chosen:
        largest = max(largest, block_start[b + 1] - block_start[b])
        longest = max(longest, bag_start[block_start[b + 1]] - bag_start[block_start[b]])
    table = 1
    while table < 2 * longest:
        table *= 2
    rival_pairs = largest * (largest - 1) // 2 if profiles > 0 else 0
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
        chance=np.empty(largest, np.float64),
        row_best=np.empty(largest, np.float64),
        column_best=np.empty(largest, np.float64),
        size=np.empty(largest, np.float64),
        parent=np.empty(largest, np.int64),
        renumbered=np.empty(largest, np.int64),
        members=np.empty(largest, np.int64),
        current=np.empty(largest, np.int64),
        rivals=np.empty(rival_pairs, np.uint8),
        first_holder=np.full(profiles, -1, np.int64),
        next_holder=np.empty(largest, np.int64),
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


class Known(NamedTuple):
    """The constraints of all mentions, as `Constraints` has them."""

    group: Any
    profile: Any
    rival_start: Any
    rival: Any


@inlined
def _profiles(known):
    """The number of profiles."""
    profiles = 0
    if known is not None:
        profiles = known.rival_start.size - 1
    return profiles


@compiled
def _mark_rivals(p, q, first_holder, next_holder, rivals):
    """Mark all mentions with the profiles p and q as rivals of each other."""
    i = first_holder[p]
    while i >= 0:
        j = first_holder[q]
        while j >= 0:
            if i != j:
                rivals[_at(i, j)] = 1
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
def _has_rivals(profile, rival_start, rival, first_holder, next_holder):
    """Whether any two mentions of a block are rivals."""
    _hold(profile, first_holder, next_holder)
    found = False
    for x in range(profile.size):
        p = profile[x]
        for k in range(rival_start[p], rival_start[p + 1] if next_holder[x] < 0 else rival_start[p]):
            found |= first_holder[rival[k]] >= 0 and first_holder[rival[k]] != x
    _let_go(profile, first_holder)
    return found


@compiled
def constrained_blocks(block_start, group, profile, rival_start, rival):
    """Which blocks have any groups of several mentions, or any rivals."""
    constrained = np.zeros(block_start.size - 1, np.bool_)
    first_holder, next_holder = np.full(rival_start.size - 1, -1), np.empty(group.size, np.int64)
    for b in range(constrained.size):
        first, last = block_start[b], block_start[b + 1]
        for x in range(first, last):
            constrained[b] |= group[x] != x - first
        if not constrained[b]:
            constrained[b] = _has_rivals(profile[first:last], rival_start, rival, first_holder, next_holder)
    return constrained


@compiled
def _find_rivals(profile, rival_start, rival, scratch):
    """Fill the triangle of rivals of one block."""
    m = profile.size
    scratch.rivals[: m * (m - 1) // 2] = 0
    _hold(profile, scratch.first_holder, scratch.next_holder)
    for x in range(m):
        p = profile[x]
        for k in range(rival_start[p], rival_start[p + 1] if scratch.next_holder[x] < 0 else rival_start[p]):
            _mark_rivals(p, rival[k], scratch.first_holder, scratch.next_holder, scratch.rivals)
    _let_go(profile, scratch.first_holder)


@compiled
def _join_groups(group, rivals, parent, merge_round, merge_left, merge_right, merge_score):
    """Join the mentions of each group; returns the number of merges."""
    done = 0
    for x in range(group.size):
        parent[x] = group[x]
        if parent[x] != x:
            _take_rivals(group.size, parent[x], x, rivals)
            merge_round[done] = -1
            merge_left[done] = parent[x]
            merge_right[done] = x
            merge_score[done] = np.inf
            done += 1
    return done


@inlined
def _rate(K, model, known, scratch):
    """Score all pairs of clusters; returns the best score of an allowed one, and the size of rounding errors."""
    best, rounding = _score(
        K, scratch.S, scratch.n, scratch.size, model.weight, model.mass, model.expected, model.N, model.epsilon,
        model.gamma, model.use_max, model.joint, scratch.w, scratch.smooth, scratch.chance,
        scratch.scores, scratch.row_best, scratch.column_best,
    )  # fmt: skip
    if known is not None:
        best = _forbid(K, scratch.rivals, scratch.scores, scratch.row_best, scratch.column_best)
    return best, rounding


@inlined
def _contract(K, m, use_max, known, scratch):
    """Make one cluster of those that were joined; returns how many are left."""
    left = _shrink(K, scratch.S, scratch.n, scratch.size, use_max, scratch.parent, scratch.renumbered, scratch.members)
    if known is not None:
        _shrink_rivals(K, scratch.rivals, scratch.parent, scratch.renumbered)
    for x in range(m):
        scratch.current[x] = scratch.renumbered[scratch.current[x]]
    return left


@compiled
def _merge(
    first, m, model, known, limit, hypothetical, scratch, label, merge_round, merge_left, merge_right, merge_score
):  # fmt: skip
    """Merge the mentions of one prepared block round by round; S and n are used up.

    Returns the rounds until convergence; whether a pair is left there that might be joined; and the highest score that
    was best of row and column until then but did not exceed the limit: for every limit between that score and this
    one, all is the same. Last, the largest size of rounding errors until then.
    """
    scores, row_best, column_best = scratch.scores, scratch.row_best, scratch.column_best
    for x in range(m):
        scratch.size[x] = 1.0
        scratch.members[x] = x
        scratch.current[x] = x
    K, done, step = m, 0, 0
    if known is not None:
        _find_rivals(known.profile[first : first + m], known.rival_start, known.rival, scratch)
        done = _join_groups(
            known.group[first : first + m], scratch.rivals, scratch.parent,
            merge_round, merge_left, merge_right, merge_score,
        )  # fmt: skip
        K = _contract(m, m, model.use_max, known, scratch)
    rounds, unfinished, refused, blurred = -1, False, -np.inf, 0.0
    while K > 1:
        best, rounding = _rate(K, model, known, scratch)
        threshold = limit
        if not _exceeds(best, limit, rounding):
            if rounds < 0:
                rounds, unfinished = step, best > -np.inf
                refused, blurred = max(refused, best), max(blurred, rounding)
                label[:] = scratch.current[:m]
            if not hypothetical or best == -np.inf:
                break
            threshold = -np.inf
        step += 1
        before = done
        if known is not None:
            done, below = _join_allowed(
                K, scores, row_best, column_best, threshold, rounding, scratch.rivals, scratch.parent,
                scratch.members, done, merge_left, merge_right, merge_score,
            )  # fmt: skip
        else:
            done, below = _join(
                K, scores, row_best, column_best, threshold, rounding, scratch.parent,
                scratch.members, done, merge_left, merge_right, merge_score,
            )  # fmt: skip
        if rounds < 0:
            refused, blurred = max(refused, below), max(blurred, rounding)
        merge_round[before:done] = step
        K = _contract(K, m, model.use_max, known, scratch)
    if rounds < 0:
        rounds = step
        label[:] = scratch.current[:m]
    return rounds, unfinished, refused, blurred


@inlined
def _merge_block(
    first, m, model, known, constrained, limit, hypothetical, scratch,
    label, merge_round, merge_left, merge_right, merge_score,
):  # fmt: skip
    """`_merge` with constraints or without."""
    if constrained:
        done = _merge(
            first, m, model, known, limit, hypothetical, scratch,
            label, merge_round, merge_left, merge_right, merge_score,
        )  # fmt: skip
    else:
        done = _merge(
            first, m, model, None, limit, hypothetical, scratch,
            label, merge_round, merge_left, merge_right, merge_score,
        )  # fmt: skip
    return done


@compiled
def _sum_clusters(K, label, n, n_of, size_of, last_of):
    """Fill n(C), |C| and the last mention of each cluster."""
    n_of[:K] = 0.0
    size_of[:K] = 0.0
    for x in range(label.size):
        size_of[label[x]] += 1.0
        last_of[label[x]] = x
        for t in range(n.shape[1]):
            n_of[label[x], t] += n[x, t]


@compiled
def _cluster_rivals(label, known, first, scratch):
    """Fill the triangle of rivals for the clusters of an answer."""
    last = first + label.size
    _find_rivals(known.profile[first:last], known.rival_start, known.rival, scratch)
    smallest, K = scratch.members, 0
    for x in range(label.size):
        if label[x] == K:
            smallest[K] = x
            K += 1
        scratch.renumbered[x] = label[x]
        scratch.parent[x] = smallest[label[x]]
        if scratch.parent[x] != x:
            _take_rivals(label.size, scratch.parent[x], x, scratch.rivals)
    _shrink_rivals(label.size, scratch.rivals, scratch.parent, scratch.renumbered)


@compiled
def _share(start, end, K, label, S, use_max, shared):
    """Fill S(x,D) for each cluster D and each mention x of a strip; x itself is left out."""
    types = S.shape[1]
    for d in range(K):
        for i in range(end - start):
            for t in range(types):
                shared[d, i, t] = 0.0
    for y in range(label.size):
        d = label[y]
        for x in range(start, end):
            if x == y:
                continue
            at = x * (x - 1) // 2 + y if y < x else y * (y - 1) // 2 + x
            if use_max:
                for t in range(types):
                    shared[d, x - start, t] = max(shared[d, x - start, t], S[at, t])
            else:
                for t in range(types):
                    shared[d, x - start, t] += S[at, t]


@inlined
def _fit(
    x, d, i, shared_d, shared, n, size, w, smooth, n_of, size_of, w_of, smooth_of,
    expected, epsilon, gamma, use_max, joint,
):  # fmt: skip
    """The higher one of score({x},D) and score(D,{x}), where S(x,D) stands at `shared[shared_d, i]`."""
    pairs = 1.0 if use_max else size_of[d]
    x_given_d, d_given_x = pairs * smooth_of[d], pairs * smooth[x]
    for t in range(w.shape[1]):
        x_given_d += w_of[d, t] * shared[shared_d, i, t]
        d_given_x += w[x, t] * shared[shared_d, i, t]
    if gamma > 0.0:
        x_given_d -= _chance(x, n, d, n_of, size_of, expected, epsilon, joint)
        d_given_x -= _chance(d, n_of, x, n, size, expected, epsilon, joint)
    return max(x_given_d, d_given_x)


@compiled
def _fit_others(
    start, end, K, label, constrained, rivals, shared, n, size, w, smooth, n_of, size_of, w_of, smooth_of, last_of,
    expected, epsilon, gamma, use_max, joint, other,
):  # fmt: skip
    """Find how well each mention of a strip fits to the best other cluster; two that are alone fit each other."""
    for d in range(K):
        for x in range(start, end):
            C = label[x]
            both_alone = size_of[C] == 1.0 and size_of[d] == 1.0
            if d == C or (both_alone and d < C) or (constrained and rivals[_at(C, d)]):
                continue
            fit = _fit(
                x, d, x - start, d, shared, n, size, w, smooth, n_of, size_of, w_of, smooth_of,
                expected, epsilon, gamma, use_max, joint,
            )  # fmt: skip
            other[x] = max(other[x], fit)
            if both_alone:
                other[last_of[d]] = max(other[last_of[d]], fit)


@compiled
def _fit_own(
    start, end, K, label, shared, n, size, w, smooth, n_of, size_of, w_of, smooth_of,
    weight, mass, expected, N, epsilon, gamma, use_max, joint, own,
):  # fmt: skip
    """Fill how well each mention of a strip fits to the rest of its own cluster, which is put at the place K."""
    for x in range(start, end):
        C = label[x]
        own[x] = np.nan
        if size_of[C] == 1.0:
            continue
        size_of[K] = size_of[C] - 1.0
        for t in range(weight.size):
            n_of[K, t] = n_of[C, t] - n[x, t]
        _weigh(K, K + 1, n_of, size_of, weight, mass, N, epsilon, joint, w_of, smooth_of)
        own[x] = _fit(
            x, K, x - start, C, shared, n, size, w, smooth, n_of, size_of, w_of, smooth_of,
            expected, epsilon, gamma, use_max, joint,
        )  # fmt: skip


@compiled
def margin_blocks(
    block_start, bag_start, feature, count, type_start, total, mass, weight, mentions_in_collection,
    epsilon, gamma, use_max, joint, within, known, chosen, label, own, other,
):  # fmt: skip
    """Fill the margins of the mentions of the chosen blocks, given the labels that `cluster_blocks` found.

    S is computed a second time: it is used up when labels are found, and to keep it would double the memory of the
    largest block. Mentions are taken in strips, because S of one mention is spread over all of the triangle.
    """
    types = weight.size
    scratch = _scratch(block_start, bag_start, chosen, types, _profiles(known))
    n, size, w, smooth = scratch.n, scratch.size, scratch.w, scratch.smooth
    places = size.size + 1
    n_of, size_of, w_of, smooth_of = (
        np.empty((places, types)), np.empty(places), np.empty((places, types)), np.empty(places)
    )  # fmt: skip
    shared, last_of = np.empty((places, STRIP, types)), np.empty(places, np.int64)
    block_mass, expected = mass.copy(), np.zeros(types)
    for b in chosen:
        first, last = block_start[b], block_start[b + 1]
        m, labels = last - first, label[first:last]
        _prepare(first, last, bag_start, feature, count, type_start, total, within, scratch)
        model = _model_of(
            m, n, weight, mentions_in_collection, epsilon, gamma, use_max, joint, within, block_mass, expected
        )
        if known is not None:
            _cluster_rivals(labels, known, first, scratch)
        K = labels.max() + 1
        size[:m] = 1.0
        _sum_clusters(K, labels, n, n_of, size_of, last_of)
        _weigh(0, m, n, size, weight, block_mass, model.N, epsilon, joint, w, smooth)
        _weigh(0, K, n_of, size_of, weight, block_mass, model.N, epsilon, joint, w_of, smooth_of)
        other[first:last] = -np.inf
        for start in range(0, m, STRIP):
            end = min(start + STRIP, m)
            _share(start, end, K, labels, scratch.S, use_max, shared)
            _fit_others(
                start, end, K, labels, known is not None, scratch.rivals, shared, n, size, w, smooth,
                n_of, size_of, w_of, smooth_of, last_of, expected, epsilon, gamma, use_max, joint, other[first:last],
            )  # fmt: skip
            _fit_own(
                start, end, K, labels, shared, n, size, w, smooth, n_of, size_of, w_of, smooth_of,
                weight, block_mass, expected, model.N, epsilon, gamma, use_max, joint, own[first:last],
            )  # fmt: skip


@compiled
def cluster_blocks(
    block_start, bag_start, feature, count, type_start, total, mass, weight, mentions_in_collection,
    epsilon, gamma, use_max, joint, within, known, chosen, limit, hypothetical,
    label, rounds, merge_round, merge_left, merge_right, merge_score,
):  # fmt: skip
    """Cluster the chosen blocks.

    Compiled twice: where `known` is None, nothing of constraints is left in it.

    In: mentions `block_start[b]` to `block_start[b+1]` form block b, which has its own `limit[b]`; mention x has the
    features `feature[bag_start[x]:bag_start[x+1]]` with their counts, in any order; features `type_start[t]` to
    `type_start[t+1]` are of type t.

    Out: `label[x]`, the cluster of a mention inside its block at convergence, numbered by smallest member; `rounds[b]`
    before convergence; and the merges of block b, in order, from `block_start[b]` on: the round (from 1; −1 for
    groups), the smallest mentions of both clusters and the score, `merge_round` 0 where there is none. With
    `hypothetical` the process goes on until no pair is left that may be joined.
    """
    scratch = _scratch(block_start, bag_start, chosen, weight.size, _profiles(known))
    block_mass, expected = mass.copy(), np.zeros(weight.size)
    for b in chosen:
        first, last = block_start[b], block_start[b + 1]
        m = last - first
        _prepare(first, last, bag_start, feature, count, type_start, total, within, scratch)
        model = _model_of(
            m, scratch.n, weight, mentions_in_collection, epsilon, gamma, use_max, joint, within, block_mass, expected
        )
        rounds[b], _, _, _ = _merge(
            first, m, model, known, limit[b], hypothetical, scratch, label[first:last],
            merge_round[first:last], merge_left[first:last], merge_right[first:last], merge_score[first:last],
        )  # fmt: skip


@compiled
def sweep_blocks(
    block_start, bag_start, feature, count, type_start, total, mass, weight, mentions_in_collection,
    epsilon, gamma, use_max, joint, within, known, constrained, ratio, steps,
):  # fmt: skip
    """Cluster every block at all limits that lead to different outcomes, from the highest down.

    The next limit lies just below the highest score that was refused, but at least `ratio` times below the last one, so
    that a large block does not take a run for each of its thousands of outcomes. Ends where no pair is left that may be
    joined, or at 0. Constraints are `known` of the blocks that are `constrained`.

    Out: `steps[b]` the number of outcomes of block b; the lowest limit of each outcome; and its labels, one outcome
    after the other.
    """
    scratch = _scratch(block_start, bag_start, np.arange(constrained.size), weight.size, _profiles(known))
    largest = scratch.size.size
    block_mass, expected = mass.copy(), np.zeros(weight.size)
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
        model = _model_of(
            m, scratch.n, weight, mentions_in_collection, epsilon, gamma, use_max, joint, within, block_mass, expected
        )
        limit, last_one, steps[b] = np.inf, False, 0
        while not last_one:
            scratch.S[:pairs] = whole_S[:pairs]
            scratch.n[:m] = whole_n[:m]
            if outcomes == lowest.size:
                lowest = np.append(lowest, np.empty_like(lowest))
            while labelled + m > label.size:
                label = np.append(label, np.empty_like(label))
            _, unfinished, refused, rounding = _merge_block(
                first, m, model, known, constrained[b], limit, False, scratch,
                label[labelled : labelled + m], merge_round, merge_left, merge_right, merge_score,
            )  # fmt: skip
            last_one = not unfinished or limit == 0.0 or refused <= 0.0
            lowest[outcomes] = -np.inf if last_one else refused
            outcomes, labelled, steps[b] = outcomes + 1, labelled + m, steps[b] + 1
            limit = max(0.0, min(refused * (1 - 4 * TIE) - 4 * rounding, limit / ratio))
    return lowest[:outcomes], label[:labelled]


@compiled
def couple_block(bag_start, feature, count, type_start, total):
    """S(x,y) of each ordered pair and feature type of one block, 0 for x = y; and n(x)."""
    m, types = bag_start.size - 1, type_start.size - 1
    scratch = _scratch(np.array([0, m]), bag_start, np.array([0]), types, 0)
    _prepare(0, m, bag_start, feature, count, type_start, total, False, scratch)
    S = np.zeros((m, m, types))
    for i in range(1, m):
        for j in range(i):
            S[i, j] = scratch.S[i * (i - 1) // 2 + j]
            S[j, i] = S[i, j]
    return S, scratch.n
