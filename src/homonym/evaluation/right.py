"""Whether a mention is among its own: what a statement about a single mention can be held against."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from homonym.evaluation.contingency import Codes


def with_their_own(name: Codes, author: Codes, cluster: Codes) -> NDArray[np.bool_]:
    """Whether each mention is by the person who has most of the mentions of its cluster; of equals, by the first.

    >>> with_their_own(np.zeros(5, int), np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1])).tolist()
    [True, True, False, True, True]
    """
    group = _numbered(name, cluster)
    pairs, pair, mentions = np.unique(_keys(group, author), return_inverse=True, return_counts=True)
    group_of_pair = np.empty(len(pairs), np.int64)
    group_of_pair[pair] = group
    order = np.lexsort((np.arange(len(pairs)), -mentions, group_of_pair))
    main = np.zeros(len(pairs), bool)
    main[order[np.diff(group_of_pair[order], prepend=-1) != 0]] = True
    right: NDArray[np.bool_] = main[pair]
    return right


def _numbered(first: Codes, second: Codes) -> Codes:
    """A number for each pair of codes."""
    return np.unique(_keys(first, second), return_inverse=True)[1]


def _keys(first: Codes, second: Codes) -> Codes:
    """One number for two; codes count from 0 and are fewer than 2³¹."""
    return first.astype(np.int64) << 31 | second.astype(np.int64)
