"""S(x,y) and n(x) of one block from the bags of its mentions, and the chance levels that follow from them.

The definition of S is the same for all code that computes it, up to the last bit: a product is
(#(f,x) · #(f,y)) · (1/#(f)), and products are added in ascending order of features. Only the sums of one type,
co-authors, are exact, rounded once (`exact_sum`): then a mention's own name can be subtracted from the sum of two
documents, and the result is the same as if it had been left out (see `document_pairs`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.arrays import Floats
from homonym.clustering.compiling import compiled, inlined, internal
from homonym.clustering.dense.exact_sums import exact_sum, replace_own_names
from homonym.clustering.reference import TIE

#: Marks a free place of a hash table of feature ids.
EMPTY = np.int32(-(1 << 31))
#: 2⁶⁴ divided by the golden ratio: multiplying by it spreads consecutive feature ids over a hash table.
SPREAD = np.uint64(0x9E3779B97F4A7C15)


class FeatureScratch(NamedTuple):
    """The distinct features of one block, numbered, and an inverted index of the mentions so far.

    `held` and `slots` are a hash table with open addressing from feature ids to local numbers; `key` leads back.
    `local[k]` is the local number of the feature of occurrence k, `inverse[f]` is 1/#(f). The occurrences of a feature
    so far are those from `begin[f]` up to `end[f]`, with their mention (`holder`) and count (`amount`). What is used as
    an index has no sign: numba would check for each access whether the index is negative and counts from the end.
    """

    held: Any
    slots: Any
    local: Any
    key: Any
    inverse: Any
    begin: Any
    end: Any
    holder: Any
    amount: Any


def new_feature_scratch(occurrences: int) -> FeatureScratch:
    """Allocate what a block with at most the given number of feature occurrences needs."""
    table = 2
    while table < 2 * occurrences:
        table *= 2
    return FeatureScratch(
        held=np.empty(table, np.int32),
        slots=np.empty(table, np.uint32),
        local=np.empty(occurrences, np.uint32),
        key=np.empty(occurrences, np.int32),
        inverse=np.empty(occurrences, np.float64),
        begin=np.empty(occurrences, np.uint32),
        end=np.empty(occurrences, np.uint32),
        holder=np.empty(occurrences, np.uint32),
        amount=np.empty(occurrences, np.float64),
    )


@internal
def number_features(first, last, inputs, within, scratch):
    """Number the distinct features of one block, and fill how many occurrences each has (`end`) and 1/#(f).

    Returns the number of distinct features. About every second occurrence is of a new feature, which a processor cannot
    predict: so there is no branch on it.
    """
    feature, total, held, slots = inputs.feature, inputs.total, scratch.held, scratch.slots
    local, key, inverse, occurrences = scratch.local, scratch.key, scratch.inverse, scratch.end
    begin, end = inputs.bag_start[first], inputs.bag_start[last]
    size, bits = 2, 1
    while size < 2 * (end - begin):
        size, bits = size * 2, bits + 1
    shift, mask = np.uint64(64 - bits), np.uint64(size - 1)
    held[:size] = EMPTY
    distinct = np.uint32(0)
    for k in range(begin, end):
        f = feature[k]
        slot = (np.uint64(f) * SPREAD) >> shift
        while (held[slot] != f) & (held[slot] != EMPTY):
            slot = (slot + np.uint64(1)) & mask
        is_new = held[slot] == EMPTY
        found = distinct if is_new else slots[slot]
        held[slot], slots[slot], key[found] = f, found, f
        occurrences[found] = np.uint32(1) if is_new else occurrences[found] + np.uint32(1)
        distinct += np.uint32(is_new)
        local[k - begin] = found
    if within:
        inverse[:distinct] = 0.0
        for k in range(begin, end):
            inverse[local[k - begin]] += inputs.count[k]
    for number in range(distinct):
        # The own names of a document may occur in no mention.
        mass = inverse[number] if within else total[key[number]]
        inverse[number] = 1.0 / mass if mass > 0.0 else 0.0
    return np.int64(distinct)


class Cooccurrence(NamedTuple):
    """S(x,y) of a block, as a triangle, S(x,x) and n(x)."""

    S: Any
    diagonal: Any
    n: Any


def new_cooccurrence(mentions: int, S: Floats) -> Cooccurrence:
    """Allocate what some mentions need, given the memory of their pairs."""
    return Cooccurrence(S, np.empty((mentions, S.shape[1])), np.empty((mentions, S.shape[1])))


@internal
def _index_features(distinct, scratch):
    """Reserve the places of each feature in the inverted index, which is empty then, by its occurrences in `end`."""
    begin, end = scratch.begin, scratch.end
    place = np.uint32(0)
    for f in range(distinct):
        begin[f] = place
        place += end[f]
        end[f] = begin[f]


@inlined
def _add_products(x, first, offset, inputs, scratch, row, error, own, n):
    """Fill the row of mention x, S(x,x) and n(x) from its bag: products with the earlier mentions of each feature.

    `row[t]` has S(x,y) of the earlier mentions y, `error` the rounding errors of the exact sums; `own` is S(x,x).
    """
    feature, count, type_start, exact = inputs.feature, inputs.count, inputs.type_start, inputs.exact
    local, inverse, begin, end = scratch.local, scratch.inverse, scratch.begin, scratch.end
    holder, amount = scratch.holder, scratch.amount
    t, own_error = 0, 0.0
    for k in range(inputs.bag_start[first + x], inputs.bag_start[first + x + 1]):
        f = feature[k]
        if f < type_start[t]:
            t = 0
        while f >= type_start[t + 1]:
            t += 1
        g, c = local[k - offset], count[k]
        n[t] += c
        if t == exact:
            own[t], own_error = exact_sum(own[t], own_error, c * c * inverse[g])
        else:
            own[t] += c * c * inverse[g]
        start, stop, inverse_g = begin[g], end[g], inverse[g]
        holder[stop], amount[stop] = x, c
        end[g] = stop + np.uint32(1)
        # The last ones are those of this mention, if its bag has the feature more than once.
        while stop > start and holder[stop - np.uint32(1)] == x:
            stop -= np.uint32(1)
            own[t] += 2.0 * (c * amount[stop] * inverse_g)
        if t == exact:
            for i in range(stop - start):
                p = stop - np.uint32(1) - np.uint32(i)
                y = holder[p]
                row[t, y], error[y] = exact_sum(row[t, y], error[y], c * amount[p] * inverse_g)
        else:
            for i in range(stop - start):
                p = stop - np.uint32(1) - np.uint32(i)
                row[t, holder[p]] += c * amount[p] * inverse_g


@inlined
def _look_up_documents(x, first, inputs, row, own, n):
    """Fill the row of mention x, S(x,x) and n(x) for the types that documents have, from the table of documents."""
    table, n_of, kind = inputs.shared.pairs
    document, start, feature, in_document, in_mention, inverse = inputs.shared.own_names
    d, i, end_i, exact = document[first + x], start[first + x], start[first + x + 1], inputs.exact
    for column in range(kind.size):
        n[kind[column]] = n_of[d, column]
    for k in range(i, end_i):
        n[exact] -= in_document[k] - in_mention[k]
    for y in range(x + 1):
        e = document[first + y]
        at = np.uint64(d * (d + 1) // 2 + e if e <= d else e * (e + 1) // 2 + d)
        for column in range(kind.size):
            shared = table[at, column]
            if kind[column] == exact:
                shared = replace_own_names(
                    shared, table[at, kind.size], i, end_i, start[first + y], start[first + y + 1],
                    feature, in_document, in_mention, inverse,
                )  # fmt: skip
            row[kind[column], y] = shared
    for column in range(kind.size):
        own[kind[column]] = row[kind[column], x]


@inlined
def _fill_row(x, first, offset, inputs, scratch, row, error, own, n):
    """Fill the row of mention x, S(x,x) and n(x), from its bag and from the table of documents."""
    for t in range(row.shape[0]):
        n[t] = own[t] = 0.0
        for y in range(x):
            row[t, y] = 0.0
    for y in range(x):
        error[y] = 0.0
    _add_products(x, first, offset, inputs, scratch, row, error, own, n)
    if inputs.shared.own_names.document.size > 0:
        _look_up_documents(x, first, inputs, row, own, n)


@internal
def _fill_rows(first, last, distinct, inputs, scratch, found):
    """Fill S and n of the mentions one after another: the row of one stays in the cache until it is complete."""
    S, diagonal, n = found
    m, offset, types = last - first, inputs.bag_start[first], S.shape[1]
    row, error = np.empty((types, m)), np.empty(m)
    _index_features(distinct, scratch)
    for x in range(m):
        _fill_row(x, first, offset, inputs, scratch, row, error, diagonal[x], n[x])
        base = x * (x - 1) // 2
        for y in range(x):
            for t in range(types):
                S[base + y, t] = row[t, y]


@inlined
def fill_cooccurrence(first, last, inputs, within, scratch, found):
    """Fill S(x,y) and n(x) of the block with the mentions `first` to `last`."""
    distinct = number_features(first, last, inputs, within, scratch)
    _fill_rows(first, last, distinct, inputs, scratch, found)


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
    shared, inside = np.empty((m, types)), np.zeros(types)
    for i in range(m):
        row = i * (i - 1) // 2
        for t in range(types):
            shared[i, t] = diagonal[i, t]
            inside[t] += n[i, t]
        for j in range(i):
            for t in range(types):
                shared[i, t] += S[row + j, t]
                shared[j, t] += S[row + j, t]
    _fill_levels(shared, n, inside, model, level)


@internal
def _fill_levels(shared, n, inside, model, level):
    """Fill the chance levels, given what each mention shares with its block, and the mass inside of the block."""
    unit = np.empty(inside.size)
    _chance_units(model, inside, unit)
    for x in range(shared.shape[0]):
        level[x] = 0.0
        for t in range(unit.size):
            level[x] += unit[t] * max(0.0, n[x, t] - shared[x, t])


@compiled
def chance_levels_by_row(b, inputs, model, scratch):
    """The chance levels of the mentions of one block, and n. Only one row of S is stored at a time."""
    first, last, types = inputs.block_start[b], inputs.block_start[b + 1], model.weight.size
    m, offset, within = last - first, inputs.bag_start[first], b < 0  # never, as in `chance_levels_of_bags`
    row, error, own, inside = np.empty((types, m)), np.empty(m), np.empty(types), np.zeros(types)
    n, shared, level = np.empty((m, types)), np.zeros((m, types)), np.empty(m)
    distinct = number_features(first, last, inputs, within, scratch)
    _index_features(distinct, scratch)
    for x in range(m):
        _fill_row(x, first, offset, inputs, scratch, row, error, own, n[x])
        for t in range(types):
            shared[x, t] = own[t]
            inside[t] += n[x, t]
            for y in range(x):
                shared[x, t] += row[t, y]
                shared[y, t] += row[t, y]
    _fill_levels(shared, n, inside, model, level)
    return level, n


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
