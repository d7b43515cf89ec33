"""The few best partners of each cluster of a giant block, and the bound of all that is not known of the others.

A cluster has three lists, each from the best down: of the highest scores of its row, score(C,·); of its column,
score(·,C); and, for the size of rounding errors, of the highest numbers that chance is subtracted from, rivals or not.
Whoever is not in a list has at most its floor: −∞ while all partners are listed, and the lowest value of a list once it
is full. Values that leave a list do not lower its floor.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.kernel.compiling import compiled

ROW, COLUMN, PEAK = 0, 1, 2


class Partners(NamedTuple):
    """Lists by kind, cluster and rank; `filled` is how long each of them is."""

    other: Any
    value: Any
    filled: Any
    floor: Any


@compiled
def offer(kind, c, d, value, partners):
    """Put d into one of the lists of c, in its place, if it belongs there; the caller has compared with the floor.

    Equal values are ordered by cluster, so that what is listed does not depend on the order of the offers.
    """
    others, values = partners.other[kind, c], partners.value[kind, c]
    length = partners.filled[kind, c]
    if length == values.size and value == values[-1] and d > others[-1]:
        return
    place = min(length, values.size - 1)
    while place > 0 and (values[place - 1] < value or (values[place - 1] == value and others[place - 1] > d)):
        values[place] = values[place - 1]
        others[place] = others[place - 1]
        place -= 1
    values[place] = value
    others[place] = d
    partners.filled[kind, c] = min(length + 1, values.size)
    if partners.filled[kind, c] == values.size:
        partners.floor[kind, c] = values[-1]


@compiled
def accept(offers, partners):
    """Put what was offered to each cluster into its lists.

    What did not fit among the offers is below their lowest, so it is below the floor of the list that takes them all.
    """
    for kind in range(partners.filled.shape[0]):
        for c in range(partners.filled.shape[1]):
            for k in range(offers.filled[kind, c]):
                if offers.value[kind, c, k] >= partners.floor[kind, c]:
                    offer(kind, c, offers.other[kind, c, k], offers.value[kind, c, k], partners)


@compiled
def forget_joined(joined, partners):
    """Take clusters that were joined out of all lists; their own are left empty, with the floor −∞."""
    other, value, filled, floor = partners.other, partners.value, partners.filled, partners.floor
    for kind in range(filled.shape[0]):
        for c in range(joined.size):
            if joined[c]:
                filled[kind, c] = 0
                floor[kind, c] = -np.inf
                continue
            kept = 0
            for k in range(filled[kind, c]):
                if not joined[other[kind, c, k]]:
                    if kept < k:
                        other[kind, c, kept] = other[kind, c, k]
                        value[kind, c, kept] = value[kind, c, k]
                    kept += 1
            filled[kind, c] = kept


@compiled
def renumber(kept, number, partners, fresh):
    """Copy the lists of the clusters that are kept to where they are numbered anew."""
    for kind in range(fresh.filled.shape[0]):
        for to in range(kept.size):
            c = kept[to]
            length = partners.filled[kind, c]
            fresh.filled[kind, to] = length
            fresh.floor[kind, to] = partners.floor[kind, c]
            for k in range(length):
                fresh.other[kind, to, k] = number[partners.other[kind, c, k]]
                fresh.value[kind, to, k] = partners.value[kind, c, k]
