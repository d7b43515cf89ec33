"""Carries author ids over from one clustering to another: old and new authors are matched by maximum overlap.

Authors that have mentions in common form connected components. In each component, new authors get ids such that as many
mentions as possible keep their id (linear assignment). Ties are decided by the smaller symmetric difference between old
and new authors, then by the older ids. A curated mention weighs as much as many others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.union_find import UnionFind

# A curated mention weighs as much as this many others.
CURATED = 1000
# Largest difference, and largest rank of an id by age, that ties are decided by; larger ones count as equal.
_TIES = 1 << 10


def match_authors(
    old: Sequence[str | None], new: Sequence[int], *, weight: Sequence[int] | None = None, age: Mapping[str, int] = {}
) -> dict[int, str]:
    """The old id that each new author keeps; new authors that keep none are left out.

    Mention x had the author `old[x]`, None if it is new, and has the author `new[x]`. `age` is the number of the update
    in which an id was given.

    >>> match_authors(["a", "a", "a", "b", "b", None], [1, 1, 2, 2, 2, 3])
    {1: 'a', 2: 'b'}
    >>> match_authors(["a", "b", "b"], [7, 7, 7]), match_authors(["a", "a", "a"], [1, 2, 2])
    ({7: 'b'}, {2: 'a'})
    """
    overlap, old_size, new_size = _overlaps(old, new, weight)
    found: dict[int, str] = {}
    for olds, news in _components(overlap):
        if len(olds) == 1 and len(news) == 1:
            found[news[0]] = olds[0]
            continue
        olds.sort(key=lambda one: (age.get(one, 0), one))
        found.update(_match(olds, news, overlap, old_size, new_size))
    return dict(sorted(found.items()))


def _overlaps(
    old: Sequence[str | None], new: Sequence[int], weight: Sequence[int] | None
) -> tuple[dict[str, Counter[int]], Counter[str], Counter[int]]:
    """The weight that old and new authors have in common, and the sizes of both."""
    overlap: dict[str, Counter[int]] = defaultdict(Counter)
    old_size, new_size = Counter[str](), Counter(new)
    for place, (before, after) in enumerate(zip(old, new, strict=True)):
        if before is not None:
            overlap[before][after] += weight[place] if weight is not None else 1
            old_size[before] += 1
    return overlap, old_size, new_size


def _components(overlap: Mapping[str, Counter[int]]) -> list[tuple[list[str], list[int]]]:
    """Old and new authors that are connected by common mentions."""
    union = UnionFind[str | int]()
    for before, afters in overlap.items():
        for after in afters:
            union.join(before, after)
    components: dict[str | int, tuple[list[str], set[int]]] = defaultdict(lambda: ([], set()))
    for before, afters in overlap.items():
        olds, news = components[union.find(before)]
        olds.append(before)
        news.update(afters)
    return [(olds, sorted(news)) for olds, news in components.values()]


def _match(
    olds: Sequence[str],
    news: Sequence[int],
    overlap: Mapping[str, Counter[int]],
    old_size: Mapping[str, int],
    new_size: Mapping[int, int],
) -> dict[int, str]:
    """The assignment of one component; olds are ordered by age."""
    place = {after: column for column, after in enumerate(news)}
    gain = np.zeros((len(olds), len(news)), np.int64)
    unit = _TIES * _TIES * (1 + min(gain.shape))  # more than the ties of all pairs together
    for row, before in enumerate(olds):
        for after, common in overlap[before].items():
            difference = old_size[before] + new_size[after] - 2 * min(old_size[before], new_size[after], common)
            ties = (_TIES - 1 - min(difference, _TIES - 1)) * _TIES + _TIES - 1 - min(row, _TIES - 1)
            gain[row, place[after]] = common * unit + ties
    pairs = linear_assignment(gain)
    return {news[column]: olds[row] for row, column in pairs if gain[row, column] > 0}


def linear_assignment(gain: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Pairs of rows and columns with the highest sum, each row and column at most once (Hungarian method, O(n³)).

    Own code, because scipy is only an optional extra, and components are small.

    >>> linear_assignment(np.array([[3, 2], [3, 0]]))
    [(0, 1), (1, 0)]
    """
    if gain.shape[0] > gain.shape[1]:
        return sorted((row, column) for column, row in linear_assignment(gain.T))
    rows, columns = gain.shape
    cost = gain.max(initial=0) - gain
    far = np.iinfo(np.int64).max // 4
    u, v = np.zeros(rows + 1, np.int64), np.zeros(columns + 1, np.int64)
    row_of = np.zeros(columns + 1, np.int64)  # rows count from 1; column 0 holds the row that is being added
    for row in range(1, rows + 1):
        row_of[0], column = row, 0
        least, way = np.full(columns + 1, far), np.zeros(columns + 1, np.int64)
        used = np.zeros(columns + 1, np.bool_)
        while row_of[column] != 0:
            used[column] = True
            i = row_of[column]
            reduced = cost[i - 1] - u[i] - v[1:]
            better = ~used[1:] & (reduced < least[1:])
            least[1:][better] = reduced[better]
            way[1:][better] = column
            free = np.where(used[1:], far, least[1:])
            following = int(free.argmin()) + 1
            delta = free[following - 1]
            u[row_of[used]] += delta
            v[used] -= delta
            least[~used] -= delta
            column = following
        while column:
            before = int(way[column])
            row_of[column] = row_of[before]
            column = before
    return sorted((int(row_of[column]) - 1, column - 1) for column in range(1, columns + 1) if row_of[column])


def weights_of(mention_ids: Sequence[str], curated: Set[str]) -> list[int] | None:
    """The weight of each mention; None if none is curated."""
    return [CURATED if one in curated else 1 for one in mention_ids] if curated else None
