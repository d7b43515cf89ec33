"""S(x,y) and n(x) of one block from the bags of its mentions, and from these the scores of all pairs of clusters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.arrays import Model
from homonym.clustering.compiling import compiled, inlined
from homonym.clustering.reference import ROUNDING, TIE


class Sums(NamedTuple):
    """n_t(C), |C|, w_t(C) and the smoothing (ε/N)·Σ_t w_t(C) of each cluster, or of each mention.

    `level` is the chance level, see `fill_chance_levels`; it is filled if there is a chance limit.
    """

    n: Any
    size: Any
    w: Any
    smooth: Any
    level: Any


class PairScores(NamedTuple):
    """score(C,D) at `pair[C, D]`, the best of each row and column, and the chance term of each row (0 if joint)."""

    pair: Any
    row_best: Any
    column_best: Any
    chance: Any


class Names(NamedTuple):
    """The full name of each cluster, or of each mention, and its factor.

    The name is −1 if no mention of the cluster has one, −2 if its mentions have several.
    """

    name: Any
    factor: Any


@compiled
def name_factor(name_c, name_d, factor_c):
    """The factor of the full name that two clusters share, 1 if they share none."""
    return factor_c if name_c >= 0 and name_c == name_d else 1.0


@compiled
def combined_name(a, b):
    """The name of a cluster that consists of clusters with the names a and b."""
    if a == -1 or a == b:
        return b
    return a if b == -1 else -2


@compiled
def add_name(to, name, factor, names):
    """Combine the name of a cluster with that of another cluster that it absorbs."""
    if names.name[to] == -1:
        names.factor[to] = factor
    names.name[to] = combined_name(names.name[to], name)


@compiled
def combine_names(K, label, name, factor):
    """The names of K clusters from those of their mentions."""
    names = Names(np.full(K, -1, np.int32), np.ones(K))
    for x in range(name.size):
        add_name(label[x], name[x], factor[x], names)
    return names


@inlined
def block_model(m, n, model):
    """The model of one block of m mentions, which is its own collection if `within`.

    Overwrites `model.mass` and `model.expected`.
    """
    N = float(m) if model.within else model.N
    for t in range(model.weight.size):
        if model.within:
            model.mass[t] = n[:m, t].sum()
        model.expected[t] = 0.0
        if model.gamma > 0.0 and model.mass[t] > 0.0:
            model.expected[t] = model.gamma * model.weight[t] / model.mass[t]
            if model.joint:
                model.expected[t] /= model.mass[t] + N * model.epsilon
    return Model(
        model.weight, model.mass, model.expected, N, float(m), model.epsilon,
        model.gamma, model.chance_limit, model.use_max, model.joint, model.within,
    )  # fmt: skip


@inlined
def fill_weights(first, last, sums, model):
    """Fill w_t(D) and the smoothing of some clusters."""
    epsilon = model.epsilon
    for d in range(first, last):
        sums.smooth[d] = 0.0
        for t in range(model.weight.size):
            below = model.mass[t] + model.N * epsilon if model.joint else sums.n[d, t] + sums.size[d] * epsilon
            sums.w[d, t] = model.weight[t] / below
            sums.smooth[d] += sums.w[d, t]
        sums.smooth[d] *= epsilon / model.N


@compiled
def chance_of(c, n_c, d, n_d, size_d, expected, epsilon, joint):
    """The chance term of score(C,D): γ · Σ_t λ_t · n_t(C)/n_t(·), times p_t(D) for the joint score."""
    total = 0.0
    for t in range(expected.size):
        given = n_d[d, t] + size_d[d] * epsilon if joint else 1.0
        total += expected[t] * n_c[c, t] * given
    return total


@compiled
def limit_weight(larger, mentions):
    """The weight of the chance limit, by the size of the larger one of two clusters; `reference.limit_weight`."""
    return np.sqrt((mentions - larger) / larger)


@compiled
def exceeds_chance_limit(score, chance_c, required_c, size_c, size_d, mentions):
    """Whether score(C,D), which has been multiplied by the factor of a name, as has its chance term, may be joined.

    Rounding errors are as large as the terms of this score allow: `reference.exceeds_chance_limit`.
    """
    if score <= 0.0:
        return False
    required = required_c * limit_weight(max(size_c, size_d), mentions)
    return exceeds(score, required, ROUNDING * (score + chance_c))


@compiled
def score_all(K, S, sums, model, scores):
    """Fill the scores of all ordered pairs of K clusters, and the best score of each row and column.

    Returns the best score of all and the size of rounding errors: 0 without chance correction, else a fixed share of
    the largest term of the subtraction.
    """
    n, size, smooth, w = sums.n, sums.size, sums.smooth, sums.w
    pair, row_best, column_best, chance = scores.pair, scores.row_best, scores.column_best, scores.chance
    fill_weights(0, K, sums, model)
    for d in range(K):
        chance[d] = 0.0
        if not model.joint:
            chance[d] = chance_of(d, n, d, n, size, model.expected, model.epsilon, False)
        row_best[d] = -np.inf
        column_best[d] = -np.inf
    largest = 0.0
    for i in range(1, K):
        row = i * (i - 1) // 2
        for j in range(i):
            pairs = 1.0 if model.use_max else size[i] * size[j]
            i_given_j = pairs * smooth[j] - chance[i]
            j_given_i = pairs * smooth[i] - chance[j]
            for t in range(model.weight.size):
                s = S[row + j, t]
                i_given_j += w[j, t] * s
                j_given_i += w[i, t] * s
            if model.joint and model.gamma > 0.0:
                chance_of_i = chance_of(i, n, j, n, size, model.expected, model.epsilon, True)
                chance_of_j = chance_of(j, n, i, n, size, model.expected, model.epsilon, True)
                largest = max(largest, max(max(i_given_j, j_given_i), max(chance_of_i, chance_of_j)))
                i_given_j -= chance_of_i
                j_given_i -= chance_of_j
            pair[i, j] = i_given_j
            pair[j, i] = j_given_i
            row_best[i] = max(row_best[i], i_given_j)
            column_best[j] = max(column_best[j], i_given_j)
            row_best[j] = max(row_best[j], j_given_i)
            column_best[i] = max(column_best[i], j_given_i)
    best = -np.inf
    for d in range(K):
        best = max(best, row_best[d])
        largest = max(largest, chance[d] + max(row_best[d], 0.0))
    return best, ROUNDING * largest if model.gamma > 0.0 else 0.0


@compiled
def adjust_scores(K, sums, model, names, named, rounding, scores):
    """Multiply the scores of pairs with the same name by its factor, and set those below the chance limit to −∞.

    Finds the best of each row and column again; returns the best and the size of rounding errors, which a factor above
    1 makes larger. Separate from `score_all`, which would be slower with it where there is nothing to adjust.
    """
    n, size, name, factor = sums.n, sums.size, names.name, names.factor
    pair, row_best, column_best, chance = scores.pair, scores.row_best, scores.column_best, scores.chance
    expected, epsilon, joint, mentions = model.expected, model.epsilon, model.joint, model.X
    limited, level = model.chance_limit > 0.0, sums.level
    for c in range(K):
        row_best[c] = -np.inf
        column_best[c] = -np.inf
    largest = rounding / ROUNDING
    for i in range(K):
        for j in range(K):
            if i == j:
                continue
            score, f = pair[i, j], 1.0
            if named:
                f = name_factor(name[i], name[j], factor[i])
            if f > 1.0 and model.gamma > 0.0:
                chance_i = chance_of(i, n, j, n, size, expected, epsilon, joint) if joint else chance[i]
                largest = max(largest, f * (max(score, 0.0) + chance_i))
            score *= f
            if limited:
                required = model.chance_limit * level[i]
                if not exceeds_chance_limit(score, f * chance[i], required, size[i], size[j], mentions):
                    score = -np.inf
            pair[i, j] = score
            row_best[i] = max(row_best[i], score)
            column_best[j] = max(column_best[j], score)
    best = -np.inf
    for c in range(K):
        best = max(best, row_best[c])
    return best, ROUNDING * largest


@compiled
def exceeds(a, b, rounding):
    """Whether a is greater than b by more than a tie; `reference.exceeds`, compiled."""
    return a - b > TIE * abs(a) + rounding


#: 2⁶⁴ divided by the golden ratio: multiplying by it spreads consecutive feature ids over a hash table.
SPREAD = np.uint64(0x9E3779B97F4A7C15)


class FeatureScratch(NamedTuple):
    """The distinct features of one block, numbered, and the occurrences of each as a linked list.

    `slots` is a hash table with open addressing from feature ids to local numbers; `key` leads back. `local[k]` is the
    local number of the feature of occurrence k, `inverse[f]` is 1/#(f). `head[f]` is the last occurrence of a feature
    so far, `link[k]` the one before occurrence k, −1 where there is none, and `holder[k]` its mention.
    """

    slots: Any
    local: Any
    key: Any
    inverse: Any
    head: Any
    link: Any
    holder: Any


@compiled
def new_feature_scratch(occurrences):
    """Allocate what a block with at most the given number of feature occurrences needs."""
    table = 1
    while table < 2 * occurrences:
        table *= 2
    return FeatureScratch(
        slots=np.empty(table, np.int32),
        local=np.empty(occurrences, np.int32),
        key=np.empty(occurrences, np.int32),
        inverse=np.empty(occurrences, np.float64),
        head=np.empty(occurrences, np.int32),
        link=np.empty(occurrences, np.int32),
        holder=np.empty(occurrences, np.int32),
    )


@compiled
def _number_features(first, last, inputs, within, scratch):
    """Number the distinct features of one block and fill 1/#(f); returns the number of distinct features."""
    feature, count, total = inputs.feature, inputs.count, inputs.total
    slots, local, key, inverse = scratch.slots, scratch.local, scratch.key, scratch.inverse
    begin, end = inputs.bag_start[first], inputs.bag_start[last]
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
def fill_chance_levels(inputs, model, level):
    """Fill the chance level of each mention x: Σ_t λ_t · o_t(x) / O_t, what x shares with a mention of another block.

    O_t = n_t(·) − n_t(X) is the mass outside of the block, and o_t(x) = Σ_f #(f,x) · (1 − #(f,X)/#(f)) what of the mass
    of x is in features that occur there. A type that only this block has counts nothing.
    """
    block_start, bag_start, feature, count = inputs.block_start, inputs.bag_start, inputs.feature, inputs.count
    type_start, types, longest = inputs.type_start, model.weight.size, 1
    for b in range(block_start.size - 1):
        longest = max(longest, bag_start[block_start[b + 1]] - bag_start[block_start[b]])
    scratch, inside, unit = new_feature_scratch(longest), np.empty(longest), np.empty(types)
    local, inverse = scratch.local, scratch.inverse
    for b in range(block_start.size - 1):
        first, last = block_start[b], block_start[b + 1]
        begin, end = bag_start[first], bag_start[last]
        level[first:last] = 0.0
        if last - first == 1:
            continue
        distinct = _number_features(first, last, inputs, False, scratch)
        inside[:distinct] = 0.0
        unit[:] = 0.0
        t = 0
        for k in range(begin, end):
            while feature[k] >= type_start[t + 1]:
                t += 1
            while feature[k] < type_start[t]:
                t -= 1
            inside[local[k - begin]] += count[k]
            unit[t] += count[k]
        for t in range(types):
            outside = model.mass[t] - unit[t]
            unit[t] = model.weight[t] / outside if outside > TIE * model.mass[t] else 0.0
        t = 0
        for x in range(first, last):
            for k in range(bag_start[x], bag_start[x + 1]):
                while feature[k] >= type_start[t + 1]:
                    t += 1
                while feature[k] < type_start[t]:
                    t -= 1
                f = local[k - begin]
                level[x] += unit[t] * count[k] * max(0.0, 1.0 - inside[f] * inverse[f])


@compiled
def _add_products(first, last, inputs, distinct, scratch, S, n):
    """Fill S and n: each occurrence is multiplied with the earlier occurrences of its feature."""
    bag_start, feature, count, type_start = inputs.bag_start, inputs.feature, inputs.count, inputs.type_start
    local, inverse, head, link, holder = scratch.local, scratch.inverse, scratch.head, scratch.link, scratch.holder
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
def fill_cooccurrence(first, last, inputs, within, scratch, S, n):
    """Fill S(x,y), as a triangle, and n(x) of the block with the mentions `first` to `last`."""
    distinct = _number_features(first, last, inputs, within, scratch)
    _add_products(first, last, inputs, distinct, scratch, S, n)
