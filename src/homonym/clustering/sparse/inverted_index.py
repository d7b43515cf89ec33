"""A giant block prepared for clustering: bags by mention and by feature, cluster members, cannot-links by profile."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import (
    Constraints,
    DocumentPairs,
    Floats,
    Integers,
    KernelInput,
    Model,
    OwnNames,
    no_documents,
    ranges,
    starts,
)
from homonym.clustering.compiling import compiled, internal


class BlockDocuments(NamedTuple):
    """What the documents of the mentions of one block share, as in `SharedDocuments`, and the type of exact sums.

    `own_names.document` is empty if bags contain those of the documents.
    """

    pairs: DocumentPairs
    own_names: OwnNames
    exact: int

    @classmethod
    def of(cls, inputs: KernelInput, b: int) -> BlockDocuments:
        """The documents of one of several blocks."""
        first, last = inputs.block_start[b], inputs.block_start[b + 1]
        pairs, names = inputs.shared
        here = names._replace(document=names.document[first:last], start=names.start[first : last + 1])
        return cls(pairs, here, inputs.exact)


@dataclass(frozen=True)
class Block:
    """The mentions of one block with their bags, the frequencies of features, and the model of the collection.

    `name` and `factor` are those of `NamePrior`; without a prior, no mention has a name. `level` are the chance levels.
    If documents are shared, bags have only what belongs to the mention itself, and `whole_n` is n_t(x) with them.
    """

    bag_start: Integers
    feature: NDArray[np.int32]
    count: Floats
    type_start: Integers
    total: Floats
    name: NDArray[np.int32]
    factor: Floats
    level: Floats
    collection_model: Model
    documents: BlockDocuments = field(default_factory=lambda: BlockDocuments(*no_documents(), -1))
    whole_n: Floats | None = None

    @classmethod
    def of(
        cls, inputs: KernelInput, b: int, model: Model, level: Floats | None, whole_n: Floats | None = None
    ) -> Block:  # fmt: skip
        """One of several blocks, with the chance levels of its mentions if there is a chance limit.

        `whole_n` is given if documents are shared.
        """
        first, last = inputs.block_start[b], inputs.block_start[b + 1]
        begin, end = inputs.bag_start[first], inputs.bag_start[last]
        bag_start = inputs.bag_start[first : last + 1] - begin
        bags = (inputs.feature[begin:end], inputs.count[begin:end])
        name, factor = np.full(last - first, -1, np.int32), np.ones(last - first)
        if len(inputs.name):
            name, factor = inputs.name[first:last], inputs.factor[first:last]
        level = np.zeros(last - first) if level is None else level
        documents = BlockDocuments.of(inputs, b)
        return cls(
            bag_start, *bags, inputs.type_start, inputs.total, name, factor, level, model, documents, whole_n
        )  # fmt: skip

    @property
    def looks_up(self) -> bool:
        """Whether what documents share is looked up in a table."""
        return len(self.documents.own_names.document) > 0

    @property
    def mentions(self) -> int:
        """|X|."""
        return len(self.bag_start) - 1

    @property
    def types(self) -> int:
        """The number of feature types."""
        return len(self.collection_model.weight)

    @cached_property
    def owner(self) -> NDArray[np.int32]:
        """The mention of each occurrence."""
        return np.repeat(np.arange(self.mentions, dtype=np.int32), np.diff(self.bag_start))

    @cached_property
    def kind(self) -> NDArray[np.int16]:
        """The feature type of each occurrence."""
        return (np.searchsorted(self.type_start, self.feature, side="right") - 1).astype(np.int16)

    @cached_property
    def n(self) -> Floats:
        """n_t(x) of each mention and type."""
        if self.whole_n is not None:
            return self.whole_n
        place = self.owner.astype(np.int64) * self.types + self.kind
        n = np.bincount(place, self.count, self.mentions * self.types).astype(np.float64)
        return n.reshape(self.mentions, self.types)

    @cached_property
    def model(self) -> Model:
        """The model of this block, which is its own collection if `within`."""
        model = self.collection_model
        mass = self.n.sum(axis=0) if model.within else model.mass
        N = float(self.mentions) if model.within else model.N
        divisor = mass * (mass + N * model.epsilon if model.joint else 1.0)
        expected = np.divide(model.gamma * model.weight, divisor, out=np.zeros_like(model.weight), where=mass > 0)
        return model._replace(mass=mass, expected=expected, N=N, X=float(self.mentions))


class InvertedIndex(NamedTuple):
    """The bags of some items, and which items or clusters have each feature. Items are mentions or earlier clusters.

    Item i has the features `feature[bag_start[i, t]:bag_start[i, t + 1]]` of type t, with `count`. Feature f has the
    postings `posting_start[f]` to `posting_start[f + 1]`: the `holder` and its `holder_count`. For `max`, holders are
    items. For `prob` they are clusters; a cluster that absorbed others since the index was built has several postings.
    `position` is where the posting of each occurrence is. Type t has the features `type_start[t]` to
    `type_start[t + 1]`; `inverse` is 1/#(f).
    """

    posting_start: Any
    holder: Any
    holder_count: Any
    bag_start: Any
    feature: Any
    count: Any
    position: Any
    inverse: Any
    type_start: Any


def index_mentions(block: Block) -> InvertedIndex:
    """The index of the mentions of a block, without features that only one mention has and types of weight 0."""
    weight = block.model.weight
    used = weight[block.kind] > 0 if len(weight) else np.zeros(len(block.feature), bool)
    lengths = np.bincount(block.owner[used], minlength=block.mentions)
    distinct, local = np.unique(block.feature[used], return_inverse=True)
    count = block.count[used]
    total = np.bincount(local, count, len(distinct)) if block.model.within else block.total[distinct]
    postings = transpose(starts(lengths), local.astype(np.int32), count, len(distinct))
    type_start = np.searchsorted(distinct, block.type_start)
    return _indexed(postings, block.mentions, 1.0 / total, type_start)


def index_clusters(index: InvertedIndex, number: NDArray[np.int32], K: int) -> InvertedIndex:
    """The index with K clusters as items, renumbered, without features that only one of them has."""
    *rows, _ = transpose(index.posting_start, number[index.holder], index.holder_count, K)
    postings = transpose(*rows, len(index.inverse))
    return _indexed(postings, K, index.inverse, index.type_start)


def with_clusters_as_holders(index: InvertedIndex, label: NDArray[np.int32], K: int) -> InvertedIndex:
    """An index of mentions with postings by cluster, one per cluster and feature, in ascending order."""
    *rows, _ = transpose(index.posting_start, label[index.holder], index.holder_count, K)
    posting_start, holder, holder_count, _ = transpose(*rows, len(index.inverse))
    return index._replace(posting_start=posting_start, holder=holder, holder_count=holder_count)


def _indexed(postings: tuple[Any, ...], items: int, inverse: Floats, type_start: Integers) -> InvertedIndex:
    posting_start, holder, holder_count, _ = postings
    sizes = np.diff(posting_start)
    shared = sizes > 1
    used = np.repeat(shared, sizes)
    posting_start, holder, holder_count = starts(sizes[shared]), holder[used], holder_count[used]
    type_start = starts(shared)[type_start]
    item_start, feature, count, position = transpose(posting_start, holder, holder_count, items)
    bag_start = split_by_type(item_start, feature, type_start)
    return InvertedIndex(
        posting_start, holder, holder_count, bag_start, feature, count, position, inverse[shared], type_start
    )  # fmt: skip


class LinkedLists(NamedTuple):
    """The members of each cluster as a linked list: `first`, `following`, `last`; −1 is the end.

    `cluster` leads from a member back to its cluster.
    """

    first: Any
    last: Any
    following: Any
    cluster: Any


def linked_lists(cluster: NDArray[np.integer[Any]], K: int) -> LinkedLists:
    """The members of each of K clusters, in ascending order.

    >>> lists = linked_lists(np.array([0, 1, 0]), 2)
    >>> lists.first.tolist(), lists.last.tolist(), lists.following.tolist()
    ([0, 1], [2, 1], [2, -1, -1])
    """
    start, member = _members(cluster, K)
    following = np.full(len(cluster), -1, np.int32)
    following[member[:-1]] = np.where(cluster[member[:-1]] == cluster[member[1:]], member[1:], -1)
    return LinkedLists(member[start[:-1]], member[start[1:] - 1], following, cluster.astype(np.int32))


def renumber_lists(lists: LinkedLists, remaining: Integers, number: NDArray[np.int32]) -> LinkedLists:
    """The lists of the remaining clusters under their new numbers."""
    return lists._replace(first=lists.first[remaining], last=lists.last[remaining], cluster=number[lists.cluster])


def _members(group: NDArray[np.integer[Any]], K: int) -> tuple[Integers, NDArray[np.int32]]:
    return starts(np.bincount(group, minlength=K)), np.argsort(group, kind="stable").astype(np.int32)


class CannotLinkIndex(NamedTuple):
    """Cannot-links by profile, as in `Constraints`, and the mentions that have each profile.

    Profile p is held by the mentions `holder[holder_start[p]:holder_start[p + 1]]`. Without cannot-links, `cannot_link`
    is empty.
    """

    profile: Any
    cannot_link_start: Any
    cannot_link: Any
    holder_start: Any
    holder: Any


def index_cannot_links(constraints: Constraints | None, mentions: int) -> CannotLinkIndex:
    """The cannot-links of one block, with the profiles of its mentions renumbered."""
    profile, start, cannot_link = np.zeros(mentions, np.int64), np.zeros(2, np.int64), np.zeros(0, np.int32)
    if constraints is not None:
        present, profile = np.unique(constraints.profile, return_inverse=True)
        start = constraints.cannot_link_start
        first, size = start[present], start[present + 1] - start[present]
        partner = constraints.cannot_link[ranges(first, size)]
        place = np.minimum(np.searchsorted(present, partner), len(present) - 1)
        here = present[place] == partner
        owner = np.repeat(np.arange(len(present)), size)
        start = starts(np.bincount(owner[here], minlength=len(present)))
        cannot_link = place[here].astype(np.int32)
    return CannotLinkIndex(profile.astype(np.int32), start, cannot_link, *_members(profile, len(start) - 1))


@compiled
def transpose(start, column, value, columns):
    """Turn rows of (column, value) into columns of (row, value), rows in ascending order; values of a pair are added.

    Last, returns the original position of each pair, the first one of several.
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
def split_by_type(item_start, feature, type_start):
    """Where the features of each type begin in each bag; the features of a bag are in ascending order."""
    types = type_start.size - 1
    bag_start = np.empty((item_start.size - 1, types + 1), np.int64)
    for i in range(item_start.size - 1):
        k = item_start[i]
        for t in range(types):
            bag_start[i, t] = k
            while k < item_start[i + 1] and feature[k] < type_start[t + 1]:
                k += 1
        bag_start[i, types] = item_start[i + 1]
    return bag_start


@internal
def append_members(lists, a, b, b_first):
    """Give the members of cluster b to cluster a, behind its own or, with `b_first`, before them."""
    i = lists.first[b]
    while i >= 0:
        lists.cluster[i] = a
        i = lists.following[i]
    if b_first:
        lists.following[lists.last[b]] = lists.first[a]
        lists.first[a] = lists.first[b]
    else:
        lists.following[lists.last[a]] = lists.first[b]
        lists.last[a] = lists.last[b]
    lists.first[b] = -1


@internal
def move_postings(index, items, a, b):
    """Let cluster a hold the features of cluster b."""
    i = items.first[b]
    while i >= 0:
        for k in range(index.bag_start[i, 0], index.bag_start[i, index.bag_start.shape[1] - 1]):
            index.holder[index.position[k]] = a
        i = items.following[i]
