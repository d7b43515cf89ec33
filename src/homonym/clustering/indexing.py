"""A giant block made ready for walks: bags by mention and by feature, sums of clusters, rivals by profile."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from homonym.clustering.kernel.index import Chains, Index
    from homonym.clustering.kernel.walking import Clusters, Opponents

Integers = NDArray[Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Block:
    """The mentions of one block with their bags, and the model: what `kernel.cluster_blocks` takes, for one block."""

    bag_start: Integers
    feature: Integers
    count: Floats
    type_start: Integers
    total: Floats
    mass: Floats
    weight: Floats
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
    def owner(self) -> Integers:
        """The mention of each occurrence."""
        return np.repeat(np.arange(self.mentions, dtype=np.int32), np.diff(self.bag_start))

    @cached_property
    def kind(self) -> Integers:
        """The feature type of each occurrence."""
        return (np.searchsorted(self.type_start, self.feature, side="right") - 1).astype(np.int16)

    @cached_property
    def n(self) -> Floats:
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
    def below(self) -> Floats:
        """n_t(·) + N·ε, which a joint probability is divided by."""
        return self._mass + self.N * self.epsilon

    @cached_property
    def expected(self) -> Floats:
        """The factor of n_t(C) in what is shared by chance."""
        divisor = self._mass * (self.below if self.joint else 1.0)
        return np.divide(self.gamma * self.weight, divisor, out=np.zeros_like(self.weight), where=self._mass > 0)

    @cached_property
    def _mass(self) -> Floats:
        mass: Floats = self.n.sum(axis=0) if self.within else self.mass
        return mass

    def clusters(self, size: Floats, n: Floats) -> Clusters:
        """What the scores of clusters with these sums depend on."""
        from homonym.clustering.kernel.walking import Clusters

        below = np.repeat(self.below[:, None], len(size), axis=1) if self.joint else n.T + size * self.epsilon
        w = np.ascontiguousarray(self.weight[:, None] / below)
        smooth = w.sum(axis=0) * (self.epsilon / self.N)
        chance = np.zeros(len(size)) if self.joint else n @ self.expected
        return Clusters(
            size, n, w, smooth, chance, self.expected, self.epsilon, self.gamma, self.use_max, self.joint
        )  # fmt: skip


@dataclass(frozen=True)
class Known:
    """Groups and rivals of the mentions of one block, as `Constraints` has them."""

    group: Integers
    profile: Integers
    rival_start: Integers
    rival: Integers


def index_of(block: Block) -> Index:
    """The index of the mentions of a block, features that only one of them has left out: they couple nobody."""
    from homonym.clustering.kernel.index import transpose

    counts = block.weight[block.kind] > 0 if len(block.weight) else np.zeros(len(block.feature), bool)
    lengths = np.bincount(block.owner[counts], minlength=block.mentions)
    distinct, local = np.unique(block.feature[counts], return_inverse=True)
    count = block.count[counts]
    total = np.bincount(local, count, len(distinct)) if block.within else block.total[distinct]
    columns = transpose(_starts(lengths), local.astype(np.int32), count, len(distinct))
    type_start = np.searchsorted(distinct, block.type_start)
    return _indexed(columns, block.mentions, 1.0 / total, type_start)


def added_up(index: Index, number: Integers, K: int) -> Index:
    """The index with K clusters as its items, numbered anew, and without features that only one of them has."""
    from homonym.clustering.kernel.index import transpose

    *rows, _ = transpose(index.held, number[index.holder], index.held_count, K)
    columns = transpose(*rows, len(index.inverse))
    return _indexed(columns, K, index.inverse, index.type_start)


def held_by(index: Index, home: Integers, K: int) -> Index:
    """The index of mentions with features that are held by their clusters, each cluster listed once, in order."""
    from homonym.clustering.kernel.index import transpose

    *rows, _ = transpose(index.held, home[index.holder], index.held_count, K)
    held, holder, held_count, _ = transpose(*rows, len(index.inverse))
    return index._replace(held=held, holder=holder, held_count=held_count)


def _indexed(columns: tuple[Any, ...], items: int, inverse: Floats, type_start: Integers) -> Index:
    from homonym.clustering.kernel.index import Index, begins, transpose

    held, holder, held_count, _ = columns
    sizes = np.diff(held)
    shared = sizes > 1
    kept = np.repeat(shared, sizes)
    held, holder, held_count = _starts(sizes[shared]), holder[kept], held_count[kept]
    type_start = _starts(shared)[type_start]
    start, feature, count, place = transpose(held, holder, held_count, items)
    begin = begins(start, feature, type_start)
    return Index(held, holder, held_count, begin, feature, count, place, inverse[shared], type_start)


def sums(home: Integers, size: Floats, n: Floats, K: int) -> tuple[Floats, Floats]:
    """|C| and n(C) of the K clusters at home."""
    total = np.zeros((K, n.shape[1]))
    np.add.at(total, home, n)
    return np.bincount(home, size, K).astype(np.float64), total


def chains_of(home: Integers, K: int) -> Chains:
    """What each of K clusters consists of, from the first to the last.

    >>> chains = chains_of(np.array([0, 1, 0]), 2)
    >>> chains.first.tolist(), chains.last.tolist(), chains.following.tolist()
    ([0, 1], [2, 1], [2, -1, -1])
    """
    from homonym.clustering.kernel.index import Chains

    start, member = _members(home, K)
    following = np.full(len(home), -1, np.int32)
    following[member[:-1]] = np.where(home[member[:-1]] == home[member[1:]], member[1:], -1)
    return Chains(member[start[:-1]], member[start[1:] - 1], following, home.astype(np.int32))


def renumbered(chains: Chains, kept: Integers, number: Integers) -> Chains:
    """The same for the clusters that are kept, under other numbers."""
    return chains._replace(first=chains.first[kept], last=chains.last[kept], home=number[chains.home])


def _members(home: Integers, K: int) -> tuple[Integers, Integers]:
    return _starts(np.bincount(home, minlength=K)), np.argsort(home, kind="stable").astype(np.int32)


def opponents_of(known: Known | None, mentions: int) -> Opponents:
    """Who is whose rival; profiles that the block does not have are left out."""
    from homonym.clustering.kernel.walking import Opponents

    profile, rival_start, rival = np.zeros(mentions, np.int32), np.zeros(2, np.int64), np.zeros(0, np.int32)
    if known is not None:
        profile, rival_start, rival = _local_rivals(known)
    return Opponents(profile, rival_start, rival, *_members(profile, len(rival_start) - 1))


def _local_rivals(known: Known) -> tuple[Integers, Integers, Integers]:
    present, profile = np.unique(known.profile, return_inverse=True)
    first, size = known.rival_start[present], known.rival_start[present + 1] - known.rival_start[present]
    rival = known.rival[np.arange(size.sum()) + np.repeat(first - _starts(size)[:-1], size)]
    owner = np.repeat(np.arange(len(present)), size)
    place = np.minimum(np.searchsorted(present, rival), len(present) - 1)
    here = present[place] == rival
    start = _starts(np.bincount(owner[here], minlength=len(present)))
    return profile.astype(np.int32), start, place[here].astype(np.int32)


def _starts(sizes: Integers) -> Integers:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
