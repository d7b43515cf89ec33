"""The arrays that all blocks of one call share: allocated once, as large as the largest block needs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.kernel.compiling import compiled
from homonym.clustering.kernel.coupling import couple, local_features


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
