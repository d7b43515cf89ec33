"""A giant block made ready for walks: bags by mention and by feature, sums of clusters, rivals by profile."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from homonym.clustering.arrays import FloatArray, IntegerArray
from homonym.clustering.compiling import compiled

if TYPE_CHECKING:
    from homonym.clustering.sparse.row_scores import Clusters, Opponents


@dataclass(frozen=True)
class Block:
    """The mentions of one block with their bags, and the model: what `kernel.cluster_blocks` takes, for one block."""

    bag_start: IntegerArray
    feature: IntegerArray
    count: FloatArray
    type_start: IntegerArray
    total: FloatArray
    mass: FloatArray
    weight: FloatArray
    mentions_in_collection: int
    epsilon: float
    gamma: float
    use_max: bool
    joint: bool
    within: bool

    @property
    def mentions(self) -> int:
        """|X|."""
        return len(self.bag_start) - 1

    @cached_property
    def owner(self) -> IntegerArray:
        """The mention of each occurrence."""
        return np.repeat(np.arange(self.mentions, dtype=np.int32), np.diff(self.bag_start))

    @cached_property
    def kind(self) -> IntegerArray:
        """The feature type of each occurrence."""
        return (np.searchsorted(self.type_start, self.feature, side="right") - 1).astype(np.int16)

    @cached_property
    def n(self) -> FloatArray:
        """n_t(x) of each mention and type."""
        types = len(self.weight)
        place = self.owner.astype(np.int64) * types + self.kind
        n = np.bincount(place, self.count, self.mentions * types).astype(np.float64)
        return n.reshape(self.mentions, types)

    @cached_property
    def N(self) -> float:  # noqa: N802
        """The mentions that frequencies are counted over."""
        return float(self.mentions if self.within else self.mentions_in_collection)

    @cached_property
    def below(self) -> FloatArray:
        """n_t(·) + N·ε, which a joint probability is divided by."""
        return self._mass + self.N * self.epsilon

    @cached_property
    def expected(self) -> FloatArray:
        """The factor of n_t(C) in what is shared by chance."""
        divisor = self._mass * (self.below if self.joint else 1.0)
        return np.divide(self.gamma * self.weight, divisor, out=np.zeros_like(self.weight), where=self._mass > 0)

    @cached_property
    def _mass(self) -> FloatArray:
        mass: FloatArray = self.n.sum(axis=0) if self.within else self.mass
        return mass

    def clusters(self, size: FloatArray, n: FloatArray) -> Clusters:
        """What the scores of clusters with these sums depend on."""
        from homonym.clustering.sparse.row_scores import Clusters

        below = np.repeat(self.below[:, None], len(size), axis=1) if self.joint else n.T + size * self.epsilon
        w = np.ascontiguousarray(self.weight[:, None] / below)
        smooth = w.sum(axis=0) * (self.epsilon / self.N)
        chance = np.zeros(len(size)) if self.joint else n @ self.expected
        return Clusters(
            size, n, w, smooth, chance, self.expected, self.epsilon, self.gamma, self.use_max, self.joint
        )  # fmt: skip


@dataclass(frozen=True)
class BlockConstraints:
    """Groups and rivals of the mentions of one block, as `Constraints` has them."""

    group: IntegerArray
    profile: IntegerArray
    cannot_link_start: IntegerArray
    cannot_link: IntegerArray


def index_of(block: Block) -> Index:
    """The index of the mentions of a block, features that only one of them has left out: they couple nobody."""
    counts = block.weight[block.kind] > 0 if len(block.weight) else np.zeros(len(block.feature), bool)
    lengths = np.bincount(block.owner[counts], minlength=block.mentions)
    distinct, local = np.unique(block.feature[counts], return_inverse=True)
    count = block.count[counts]
    total = np.bincount(local, count, len(distinct)) if block.within else block.total[distinct]
    columns = transpose(_starts(lengths), local.astype(np.int32), count, len(distinct))
    type_start = np.searchsorted(distinct, block.type_start)
    return _indexed(columns, block.mentions, 1.0 / total, type_start)


def added_up(index: Index, number: IntegerArray, K: int) -> Index:
    """The index with K clusters as its items, numbered anew, and without features that only one of them has."""
    *rows, _ = transpose(index.held, number[index.holder], index.held_count, K)
    columns = transpose(*rows, len(index.inverse))
    return _indexed(columns, K, index.inverse, index.type_start)


def held_by(index: Index, home: IntegerArray, K: int) -> Index:
    """The index of mentions with features that are held by their clusters, each cluster listed once, in order."""
    *rows, _ = transpose(index.held, home[index.holder], index.held_count, K)
    held, holder, held_count, _ = transpose(*rows, len(index.inverse))
    return index._replace(held=held, holder=holder, held_count=held_count)


def _indexed(columns: tuple[Any, ...], items: int, inverse: FloatArray, type_start: IntegerArray) -> Index:

    held, holder, held_count, _ = columns
    sizes = np.diff(held)
    shared = sizes > 1
    kept = np.repeat(shared, sizes)
    held, holder, held_count = _starts(sizes[shared]), holder[kept], held_count[kept]
    type_start = _starts(shared)[type_start]
    start, feature, count, place = transpose(held, holder, held_count, items)
    begin = begins(start, feature, type_start)
    return Index(held, holder, held_count, begin, feature, count, place, inverse[shared], type_start)


def sums(home: IntegerArray, size: FloatArray, n: FloatArray, K: int) -> tuple[FloatArray, FloatArray]:
    """|C| and n(C) of the K clusters at home."""
    total = np.zeros((K, n.shape[1]))
    np.add.at(total, home, n)
    return np.bincount(home, size, K).astype(np.float64), total


def chains_of(home: IntegerArray, K: int) -> Chains:
    """What each of K clusters consists of, from the first to the last.

    >>> chains = chains_of(np.array([0, 1, 0]), 2)
    >>> chains.first.tolist(), chains.last.tolist(), chains.following.tolist()
    ([0, 1], [2, 1], [2, -1, -1])
    """
    start, member = _members(home, K)
    following = np.full(len(home), -1, np.int32)
    following[member[:-1]] = np.where(home[member[:-1]] == home[member[1:]], member[1:], -1)
    return Chains(member[start[:-1]], member[start[1:] - 1], following, home.astype(np.int32))


def renumbered(chains: Chains, kept: IntegerArray, number: IntegerArray) -> Chains:
    """The same for the clusters that are kept, under other numbers."""
    return chains._replace(first=chains.first[kept], last=chains.last[kept], home=number[chains.home])


def _members(home: IntegerArray, K: int) -> tuple[IntegerArray, IntegerArray]:
    return _starts(np.bincount(home, minlength=K)), np.argsort(home, kind="stable").astype(np.int32)


def opponents_of(known: BlockConstraints | None, mentions: int) -> Opponents:
    """Who is whose rival; profiles that the block does not have are left out."""
    from homonym.clustering.sparse.row_scores import Opponents

    profile, cannot_link_start, cannot_link = np.zeros(mentions, np.int32), np.zeros(2, np.int64), np.zeros(0, np.int32)
    if known is not None:
        profile, cannot_link_start, cannot_link = _local_rivals(known)
    return Opponents(profile, cannot_link_start, cannot_link, *_members(profile, len(cannot_link_start) - 1))


def _local_rivals(known: BlockConstraints) -> tuple[IntegerArray, IntegerArray, IntegerArray]:
    present, profile = np.unique(known.profile, return_inverse=True)
    first, size = (
        known.cannot_link_start[present],
        known.cannot_link_start[present + 1] - known.cannot_link_start[present],
    )
    cannot_link = known.cannot_link[np.arange(size.sum()) + np.repeat(first - _starts(size)[:-1], size)]
    owner = np.repeat(np.arange(len(present)), size)
    place = np.minimum(np.searchsorted(present, cannot_link), len(present) - 1)
    here = present[place] == cannot_link
    start = _starts(np.bincount(owner[here], minlength=len(present)))
    return profile.astype(np.int32), start, place[here].astype(np.int32)


def _starts(sizes: IntegerArray) -> IntegerArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


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
