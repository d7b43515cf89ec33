"""The arrays that clustering works on: bags, frequencies, constraints, and what compiled code takes and fills.

Compiled code takes NamedTuples of arrays, never dataclasses. Where a class checks its content it is a dataclass
(`Bags`), and `KernelInput` hands over its arrays. The functions are numpy arithmetic on groups of items: consecutive
groups given by their sizes or starts, and groups of equal keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mentions = slice | Integers


@dataclass(frozen=True)
class Frequencies:
    """Feature frequencies of the whole collection.

    Type t has the feature ids `type_start[t]` to `type_start[t + 1]`; `total[f]` is #(f), `mass[t]` is n_t(·) and
    `mentions` is N.
    """

    types: tuple[str, ...]
    type_start: Integers
    total: Floats
    mass: Floats
    mentions: int


@dataclass(frozen=True)
class Bags:
    """The feature bags of the mentions of some blocks.

    Block b has the mentions `block_start[b]` to `block_start[b + 1]`, mention x the features
    `feature[bag_start[x]:bag_start[x + 1]]` with their counts, in any order.
    """

    block_start: Integers
    bag_start: Integers
    feature: NDArray[np.int32]
    count: Floats

    def __post_init__(self) -> None:
        mentions = len(self.bag_start) - 1
        if self.block_start[0] != 0 or self.block_start[-1] != mentions or (np.diff(self.block_start) < 1).any():
            raise ValueError("block_start must increase from 0 to the number of mentions")
        if self.bag_start[0] != 0 or self.bag_start[-1] > len(self.feature) or (np.diff(self.bag_start) < 0).any():
            raise ValueError("bag_start must not decrease, from 0 to at most the number of occurrences")
        if len(self.feature) != len(self.count):
            raise ValueError("feature and count must have the same length")

    def select(self, mentions: Integers, sizes: Integers) -> Bags:
        """The bags of some mentions, arranged in blocks of the given sizes."""
        lengths = np.diff(self.bag_start)[mentions]
        occurrences = ranges(self.bag_start[mentions], lengths)
        return Bags(starts(sizes), starts(lengths), self.feature[occurrences], self.count[occurrences])

    def summed(self, owner: Integers, sizes: Integers) -> Bags:
        """One bag for each owner, the sum of the bags of its mentions, arranged in blocks of the given sizes.

        `owner[x]` is the owner of a mention; owners are numbered from 0.
        """
        width = int(self.feature.max(initial=0)) + 1
        key = np.repeat(owner, np.diff(self.bag_start)) * width + self.feature
        distinct, place = np.unique(key, return_inverse=True)
        count = np.bincount(place, self.count, len(distinct)).astype(np.float64)
        length = np.bincount(distinct // width, minlength=int(sizes.sum()))
        return Bags(starts(sizes), starts(length), (distinct % width).astype(np.int32), count)


class Constraints(NamedTuple):
    """Must-link groups and cannot-link pairs of the mentions of some blocks.

    Mentions of a block with the same `group` must be one author; the number of a group is the position of its first
    mention inside the block. Mentions with the same `profile` have the same cannot-links: a mention of profile p cannot
    be linked with one of the profiles `cannot_link[cannot_link_start[p]:cannot_link_start[p + 1]]`, in ascending order.
    The relation is symmetric. A must-link group may contain cannot-link pairs: the group takes precedence.

    This is the only form of constraints that compiled code takes. The reference has its own, literal form without
    profiles (`reference.ReferenceConstraints`), so that tests also cover what profiles mean.
    """

    group: NDArray[np.int32]
    profile: NDArray[np.int32]
    cannot_link_start: Integers
    cannot_link: NDArray[np.int32]

    def of(self, mentions: Mentions) -> Constraints:
        """The constraints of some mentions, which must be whole blocks."""
        return self._replace(group=self.group[mentions], profile=self.profile[mentions])


def no_constraints() -> Constraints:
    """What compiled code takes if there are no constraints."""
    return Constraints(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros(0, np.int32))


def concatenate_constraints(parts: Iterable[tuple[int, Constraints | None]]) -> Constraints:
    """Concatenate the constraints of several lists of blocks, each given with its number of mentions.

    None means no constraints.

    >>> one = Constraints(*(np.array(a, np.int32) for a in ([0, 1], [0, 1], [0, 1, 2], [1, 0])))
    >>> both = concatenate_constraints([(2, one), (1, None), (2, one)])
    >>> both.profile.tolist(), both.cannot_link_start.tolist(), both.cannot_link.tolist()
    ([1, 2, 0, 3, 4], [0, 0, 1, 2, 3, 4], [2, 1, 4, 3])
    """
    group, profile = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    cannot_link_start, cannot_link = [np.zeros(2, np.int64)], [np.zeros(0, np.int32)]
    profiles = 1  # profile 0 has no cannot-links
    for mentions, part in parts:
        if part is None:
            group.append(np.arange(mentions, dtype=np.int32))
            profile.append(np.zeros(mentions, np.int32))
            continue
        group.append(part.group)
        profile.append(part.profile + np.int32(profiles))
        cannot_link_start.append(part.cannot_link_start[1:] + cannot_link_start[-1][-1])
        cannot_link.append(part.cannot_link + np.int32(profiles))
        profiles += len(part.cannot_link_start) - 1
    return Constraints(
        np.concatenate(group), np.concatenate(profile), np.concatenate(cannot_link_start), np.concatenate(cannot_link)
    )  # fmt: skip


class NamePrior(NamedTuple):
    """How much a shared full name says, for the mentions of some blocks.

    Mentions of a block with the same `name` ≥ 0 have the same surname and the same first given name, spelled out; −1
    stands for initials. The score of two clusters with the same name is multiplied by its `factor`, which depends on
    the block and the name only. The name of a cluster is the one that all its mentions with a name have; a cluster with
    several has none.
    """

    name: NDArray[np.int32]
    factor: Floats

    def of(self, mentions: Mentions) -> NamePrior:
        """The prior of some mentions, which must be whole blocks."""
        return NamePrior(self.name[mentions], self.factor[mentions])


class DocumentPairs(NamedTuple):
    """S_t(d,e) of documents d ≥ e at `S[d·(d+1)/2 + e]`, n_t(d), and the feature types that documents have (`kind`).

    The last column of S has the rounding errors of the sums that are exact: what is used together is stored together.
    """

    S: Floats
    n: Floats
    kind: Integers


class OwnNames(NamedTuple):
    """The documents of the mentions of some blocks, and the names in them that are own names in the same block.

    Mention x has the names `start[x]` to `start[x + 1]`: the feature, how often its document has it, how often it is
    left for x, and 1/#(f).
    """

    document: Integers
    start: Integers
    feature: NDArray[np.int32]
    in_document: Floats
    in_mention: Floats
    inverse: Floats


class SharedDocuments(NamedTuple):
    """What the documents of mentions share; `own_names.document` is empty if bags contain those of the documents."""

    pairs: DocumentPairs
    own_names: OwnNames


def no_documents() -> SharedDocuments:
    """What stands for documents if bags contain those of the documents."""
    none, nothing, no_pairs = np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 0))
    own_names = OwnNames(none, none, np.zeros(0, np.int32), nothing, nothing, nothing)
    return SharedDocuments(DocumentPairs(no_pairs, no_pairs, none), own_names)


class KernelInput(NamedTuple):
    """The arrays of `Bags`, `Frequencies` and `NamePrior` that compiled code reads.

    `name` and `factor` are empty without a prior: they always have the same types, so that kernels are compiled once.
    `exact` is the number of the type whose sums are exact, co-authors, or −1. If `shared` has documents, the bags have
    only what belongs to the mention itself (see `dense.document_pairs`).
    """

    block_start: Integers
    bag_start: Integers
    feature: NDArray[np.int32]
    count: Any  # mypy refuses an array here, because tuples have a method of this name
    type_start: Integers
    total: Floats
    name: NDArray[np.int32]
    factor: Floats
    exact: int
    shared: SharedDocuments


class Model(NamedTuple):
    """The parameters of the score formulas.

    `weight[t]` is λ_t, `mass[t]` n_t(·), `N` the number of mentions that the frequencies are counted over, `gamma` γ.
    `expected[t]` is the factor of n_t(C) in the chance term, `chance_limit` is γ₂, and `X` is |X|, the number of
    mentions of a block. With `within`, frequencies are counted in each block alone; then `mass`, `expected` and `N` are
    those of one block.
    """

    weight: Floats
    mass: Floats
    expected: Floats
    N: float
    X: float
    epsilon: float
    gamma: float
    chance_limit: float
    use_max: bool
    joint: bool
    within: bool


class Merges(NamedTuple):
    """The merges in their order: the round, the smallest mentions of both clusters, and the score."""

    round: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    score: Floats

    def of(self, mentions: slice) -> Merges:
        """The merges of one block."""
        return Merges(self.round[mentions], self.left[mentions], self.right[mentions], self.score[mentions])


class Margins(NamedTuple):
    """How well each mention fits its own cluster and the best other cluster."""

    own: Floats
    other: Floats


class KernelOutput(NamedTuple):
    """What compiled code fills for all blocks; the fields are those of `Clustering`."""

    label: NDArray[np.int32]
    rounds: NDArray[np.int32]
    merges: Merges
    margins: Margins


# Bytes of a line of the processor's cache.
CACHE_LINE = 64


def aligned_memory(size: int) -> Floats:
    """An array that is not initialised. It begins with a line of the cache, so that rows of eight numbers are lines."""
    memory = np.empty(size + CACHE_LINE // 8)
    first = -memory.ctypes.data % CACHE_LINE // 8
    return memory[first : first + size]


class ReusedMemory:
    """Memory of one call after another. New memory for each call took a tenth of the time of large blocks.

    Calls must not overlap. An array of more than `most` numbers is not kept.
    """

    def __init__(self, most: int) -> None:
        self._most, self._kept = most, np.empty(0)

    def take(self, size: int) -> Floats:
        """An array that is not initialised; it overwrites the one before."""
        if size > len(self._kept):
            self._kept = np.empty(0)  # released before the new memory is allocated
            memory = aligned_memory(size)
            self._kept = memory if size <= self._most else self._kept
            return memory
        return self._kept[:size]


def ranges(start: Integers, size: Integers) -> Integers:
    """The numbers of several ranges, concatenated.

    >>> ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    return np.arange(size.sum()) + np.repeat(start - starts(size)[:-1], size)


def starts(sizes: Integers) -> Integers:
    """Where each of several consecutive parts begins, and where the last one ends.

    >>> starts(np.array([2, 3]))
    array([0, 2, 5])
    """
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def pairs_of(items: Any) -> Any:
    """The number of pairs of some items.

    >>> pairs_of(np.array([1, 2, 4])).tolist()
    [0, 1, 6]
    """
    return items * (items - 1) // 2


# Number of pairs per batch: enough to hide the overhead of numpy calls, few enough to fit into memory.
PAIRS_PER_BATCH = 1 << 20


def pairs_within_groups(sizes: Integers, batch: int = PAIRS_PER_BATCH) -> Iterator[tuple[Integers, Integers]]:
    """Yield all ordered pairs of items of the same consecutive group, row by row, about `batch` pairs at a time.

    >>> [(row.tolist(), column.tolist()) for row, column in pairs_within_groups(np.array([1, 2]))]
    [([0, 1, 1, 2, 2], [0, 1, 2, 1, 2])]
    """
    first, width = np.repeat(starts(sizes)[:-1], sizes), np.repeat(sizes, sizes)
    row_start, begin = starts(width), 0
    while begin < len(width):
        end = max(int(np.searchsorted(row_start, row_start[begin] + batch, side="right")) - 1, begin + 1)
        widths = width[begin:end]
        row = np.repeat(np.arange(begin, end), widths)
        offset = first[begin:end] - row_start[begin:end] + row_start[begin]
        yield row, np.arange(len(row)) + np.repeat(offset, widths)
        begin = end


def has_different_values(value: Integers, start: Integers) -> NDArray[np.bool_]:
    """For each consecutive group, whether it holds different values; negative values are ignored.

    >>> has_different_values(np.array([3, -1, 3, 3, 4]), np.array([0, 3, 5])).tolist()
    [False, True]
    """
    highest = np.maximum.reduceat(value, start[:-1])
    lowest = np.minimum.reduceat(np.where(value < 0, np.iinfo(value.dtype).max, value), start[:-1])
    return lowest < highest


def sort_by_keys(*keys: Integers) -> tuple[Integers, NDArray[np.bool_]]:
    """The stable order of items by their keys, and for each position of that order whether its keys are new.

    >>> [found.tolist() for found in sort_by_keys(np.array([2, 1, 2]))]
    [[1, 0, 2], [True, True, False]]
    """
    order = np.lexsort(keys[::-1])
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    return order, is_new


def equal_keys(*keys: Integers) -> tuple[Integers, Integers]:
    """For each item, the first item with the same keys and the number of items with these keys.

    >>> [found.tolist() for found in equal_keys(np.array([1, 2, 1]), np.array([0, 0, 0]))]
    [[0, 1, 0], [2, 1, 2]]
    """
    order, is_new = sort_by_keys(*keys)
    begin = np.flatnonzero(is_new)
    group = np.cumsum(is_new) - 1
    first, count = np.empty_like(order), np.empty_like(order)
    first[order] = order[begin][group]
    count[order] = np.diff(np.append(begin, len(order)))[group]
    return first, count


def connected_components(items: int, left: Integers, right: Integers) -> Integers:
    """For each item, the smallest item of its connected component; the edges are `left[i]`–`right[i]`.

    Own code, because scipy is only an optional extra.

    >>> connected_components(5, np.array([4, 1]), np.array([3, 4])).tolist()
    [0, 1, 2, 1, 1]
    """
    representative = np.arange(items)
    while True:
        ends = representative[left], representative[right]
        low, high = np.minimum(*ends), np.maximum(*ends)
        joins = low < high
        if not joins.any():
            return representative
        np.minimum.at(representative, high[joins], low[joins])
        while not np.array_equal(shorter := representative[representative], representative):
            representative = shorter
