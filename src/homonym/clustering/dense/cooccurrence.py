"""S(x,y) and n(x) of one block from the bags of its mentions, and the chance levels that follow from them.

The definition of S is the same for all code that computes it, up to the last bit: a product is
(#(f,x) · #(f,y)) · (1/#(f)), and products are added in ascending order of features. Only the sums of one type,
co-authors, are exact, rounded once (`exact_sum`): then a mention's own name can be subtracted from the sum of two
documents, and the result is the same as if it had been left out (see `document_pairs`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.compiling import compiled, inlined, internal
from homonym.clustering.reference import TIE


@internal
def exact_sum(high, low, more):
    """The sum of a number of 106 bits, given as a double and its rounding error, and a double.

    It is exact as long as 106 bits suffice: for products from 2⁻³⁸ on, whose last bit is 2⁻⁹⁰, below 2¹⁴.
    """
    total = high + more
    part = total - high
    error = (high - (total - part)) + (more - part) + low
    rounded = total + error
    return rounded, error - (rounded - total)


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


def new_feature_scratch(occurrences: int) -> FeatureScratch:
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


@internal
def number_features(first, last, inputs, within, scratch):
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
        # The own names of a document may occur in no mention.
        inverse[found] = 1.0 / inverse[found] if inverse[found] > 0.0 else 0.0
    return distinct


class Cooccurrence(NamedTuple):
    """S(x,y) of a block, as a triangle, S(x,x) and n(x).

    `low` has the rounding errors of the sums that are exact, those of type `exact`; −1 if there is none.
    """

    S: Any
    diagonal: Any
    n: Any
    low: Any
    exact: Any


def new_cooccurrence(mentions: int, types: int, exact: int, pairs: int | None = None) -> Cooccurrence:
    """Allocate what a block of at most this many mentions needs, or some blocks with this many mentions and pairs."""
    pairs = mentions * (mentions - 1) // 2 if pairs is None else pairs
    diagonal, n = np.empty((mentions, types)), np.empty((mentions, types))
    return Cooccurrence(np.empty((pairs + 1, types)), diagonal, n, np.empty(pairs + 1), exact)


@internal
def _add_products(first, last, inputs, distinct, scratch, found):
    """Fill S and n: each occurrence is multiplied with the earlier occurrences of its feature."""
    bag_start, feature, count, type_start = inputs.bag_start, inputs.feature, inputs.count, inputs.type_start
    local, inverse, head, link, holder = scratch.local, scratch.inverse, scratch.head, scratch.link, scratch.holder
    S, diagonal, n, low, exact = found
    begin = bag_start[first]
    head[:distinct] = -1
    for x in range(last - first):
        row = x * (x - 1) // 2
        S[row : row + x] = 0.0
        low[row : row + x] = 0.0
        n[x] = 0.0
        diagonal[x] = 0.0
        t, error = 0, 0.0
        for k in range(bag_start[first + x], bag_start[first + x + 1]):
            f = feature[k]
            if f < type_start[t]:
                t = 0
            while f >= type_start[t + 1]:
                t += 1
            here = k - begin
            g = local[here]
            c = count[k]
            n[x, t] += c
            if t == exact:
                diagonal[x, t], error = exact_sum(diagonal[x, t], error, c * c * inverse[g])
            else:
                diagonal[x, t] += c * c * inverse[g]
            other = head[g]
            while other >= 0:
                y, product = holder[other], c * count[begin + other] * inverse[g]
                if y == x:
                    diagonal[x, t] += 2.0 * product
                elif t == exact:
                    S[row + y, t], low[row + y] = exact_sum(S[row + y, t], low[row + y], product)
                else:
                    S[row + y, t] += product
                other = link[other]
            link[here] = head[g]
            head[g] = here
            holder[here] = x


@inlined
def fill_cooccurrence(first, last, inputs, within, scratch, found):
    """Fill S(x,y) and n(x) of the block with the mentions `first` to `last`."""
    distinct = number_features(first, last, inputs, within, scratch)
    _add_products(first, last, inputs, distinct, scratch, found)


@internal
def _chance_units(model, inside, unit):
    """Fill λ_t / O_t of each type, 0 for a type with no mass outside of the block, given the mass inside."""
    for t in range(unit.size):
        outside = model.mass[t] - inside[t]
        unit[t] = model.weight[t] / outside if outside > TIE * model.mass[t] else 0.0


@internal
def fill_chance_levels(m, found, model, level):
    """Fill the chance level of each mention of a block from S and n: see `reference.chance_level`."""
    S, diagonal, n, types = found.S, found.diagonal, found.n, model.weight.size
    shared, inside, unit = np.empty((m, types)), np.zeros(types), np.empty(types)
    for i in range(m):
        row = i * (i - 1) // 2
        for t in range(types):
            shared[i, t] = diagonal[i, t]
            inside[t] += n[i, t]
        for j in range(i):
            for t in range(types):
                shared[i, t] += S[row + j, t]
                shared[j, t] += S[row + j, t]
    _chance_units(model, inside, unit)
    for x in range(m):
        level[x] = 0.0
        for t in range(types):
            level[x] += unit[t] * max(0.0, n[x, t] - shared[x, t])


@internal
def _fill_levels_of_bags(first, inputs, model, distinct, scratch, level):
    """Fill the chance levels of the mentions of one block, which begins at `first`, given its distinct features."""
    bag_start, feature, count, type_start = inputs.bag_start, inputs.feature, inputs.count, inputs.type_start
    types, begin, end = model.weight.size, bag_start[first], bag_start[first + level.size]
    local, inverse = scratch.local, scratch.inverse
    inside, mass, unit = np.zeros(distinct), np.zeros(types), np.empty(types)
    outside = np.zeros((level.size, types))
    for k in range(begin, end):
        inside[local[k - begin]] += count[k]
    for x in range(level.size):
        t = 0
        for k in range(bag_start[first + x], bag_start[first + x + 1]):
            while feature[k] >= type_start[t + 1]:
                t += 1
            while feature[k] < type_start[t]:
                t -= 1
            f = local[k - begin]
            mass[t] += count[k]
            outside[x, t] += count[k] * (1.0 - inside[f] * inverse[f])
    _chance_units(model, mass, unit)
    for x in range(level.size):
        level[x] = 0.0
        for t in range(types):
            level[x] += unit[t] * max(0.0, outside[x, t])


@compiled
def chance_levels_of_bags(inputs, model, first_block, last_block, scratch):
    """The chance levels of the mentions of a range of blocks from their bags, without S."""
    start, within = inputs.block_start, first_block < 0  # never; functions would be compiled again for a constant
    offset = start[first_block]
    levels = np.zeros(start[last_block] - offset)
    for b in range(first_block, last_block):
        if start[b + 1] - start[b] == 1:
            continue  # it has no pairs
        distinct = number_features(start[b], start[b + 1], inputs, within, scratch)
        level = levels[start[b] - offset : start[b + 1] - offset]
        _fill_levels_of_bags(start[b], inputs, model, distinct, scratch, level)
    return levels
