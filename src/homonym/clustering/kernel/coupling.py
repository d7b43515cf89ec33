"""Bags of features to S(x,y) and n(x): what couples the mentions of one block."""

from __future__ import annotations

import numpy as np

from homonym.clustering.kernel.compiling import compiled

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
