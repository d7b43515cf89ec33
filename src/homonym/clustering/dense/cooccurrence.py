"""S(x,y) and n(x) of one block from the bags of its mentions, and the chance levels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.compiling import compiled
from homonym.clustering.reference import TIE

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
