"""A giant block's bags by cluster and by feature: which clusters hold a feature, and which features a cluster holds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.kernel.compiling import compiled


class Index(NamedTuple):
    """The bags of some items, which are mentions, or clusters of an earlier round, and who holds each feature.

    Feature f is held by `holder[held[f]:held[f + 1]]`, with `held_count`: by clusters for `prob`, the same one several
    times where it has become one since; by items for `max`. Item i has the features
    `feature[begin[i, t]:begin[i, t + 1]]` of type t, and is the holder at `place` of each of them. Features of type t
    are `type_start[t]` to `type_start[t + 1]`; `inverse` is 1/#(f).
    """

    held: Any
    holder: Any
    held_count: Any
    begin: Any
    feature: Any
    count: Any
    place: Any
    inverse: Any
    type_start: Any


class Chains(NamedTuple):
    """What clusters consist of: the `first` of each, the `following` ones, −1 after the `last`; `home` leads back."""

    first: Any
    last: Any
    following: Any
    home: Any


@compiled
def transpose(start, column, value, columns):
    """Turn rows of (column, value) into columns of (row, value), rows in order; several of one pair are added up.

    Last, where each of them stood, the first one of several.
    """
    last = np.full(columns, -1, np.int32)
    ends = np.zeros(columns + 1, np.int64)
    for row in range(start.size - 1):
        for k in range(start[row], start[row + 1]):
            if last[column[k]] != row:
                last[column[k]] = row
                ends[column[k] + 1] += 1
    ends = np.cumsum(ends)
    rows, values = np.empty(ends[-1], np.int32), np.empty(ends[-1], np.float64)
    origin = np.empty(ends[-1], np.int32)
    place = ends[:-1].copy()
    for row in range(start.size - 1):
        for k in range(start[row], start[row + 1]):
            at = place[column[k]]
            if at > ends[column[k]] and rows[at - 1] == row:
                values[at - 1] += value[k]
            else:
                rows[at] = row
                values[at] = value[k]
                origin[at] = k
                place[column[k]] = at + 1
    return ends, rows, values, origin


@compiled
def begins(start, feature, type_start):
    """Where the features of each type begin in each bag, whose features are in rising order."""
    types = type_start.size - 1
    begin = np.empty((start.size - 1, types + 1), np.int64)
    for i in range(start.size - 1):
        k = start[i]
        for t in range(types):
            begin[i, t] = k
            while k < start[i + 1] and feature[k] < type_start[t + 1]:
                k += 1
        begin[i, types] = start[i + 1]
    return begin


@compiled
def append(chains, a, b, b_first):
    """Let cluster a have all that b consists of, after its own or before."""
    i = chains.first[b]
    while i >= 0:
        chains.home[i] = a
        i = chains.following[i]
    if b_first:
        chains.following[chains.last[b]] = chains.first[a]
        chains.first[a] = chains.first[b]
    else:
        chains.following[chains.last[a]] = chains.first[b]
        chains.last[a] = chains.last[b]
    chains.first[b] = -1


@compiled
def hand_over(index, items, a, b):
    """Let cluster a hold the features of b."""
    i = items.first[b]
    while i >= 0:
        for k in range(index.begin[i, 0], index.begin[i, index.begin.shape[1] - 1]):
            index.holder[index.place[k]] = a
        i = items.following[i]
