"""Bags of features to S(x,y) and n(x): what couples the mentions of one block."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.compiling import compiled

#: 2⁶⁴ divided by the golden ratio: multiplying by it spreads consecutive feature ids over a hash table.
SPREAD = np.uint64(0x9E3779B97F4A7C15)


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
def local_features(first, last, bag_start, feature, count, total, within, slots, local, key, inverse):
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
def couple(first, last, bag_start, feature, count, type_start, local, inverse, distinct, head, link, holder, S, n):
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
def new_scratch(block_start, bag_start, chosen, types, profiles):
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
def prepare(first, last, bag_start, feature, count, type_start, total, within, scratch):
    """Fill S(x,y) and n(x) of one block."""
    distinct = local_features(
        first, last, bag_start, feature, count, total, within,
        scratch.slots, scratch.local, scratch.key, scratch.inverse,
    )  # fmt: skip
    couple(
        first, last, bag_start, feature, count, type_start, scratch.local, scratch.inverse, distinct,
        scratch.head, scratch.link, scratch.holder, scratch.S, scratch.n,
    )  # fmt: skip
