"""Blocks of papers with many authors, in batches that share a table of document pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.agglomerative import are_giant_with_table
from homonym.clustering.arrays import Floats, Integers, ranges
from homonym.clustering.shared_documents import table_bytes
from homonym.collection.encoded import Encoded
from homonym.collection.layout import SLOT_BITS

# A table is a quarter of the memory, but no more bytes than this.
MAX_TABLE_BYTES = 3 << 28
# A feature type is in the table if documents have more features of it on average: than the first number, or, if one
# table has all documents nevertheless, than the second. The products of fewer features are computed as fast as they
# are looked up. Types whose features belong to mentions have none of documents.
LONG_TYPE, SHORT_TYPE = 20, 4
# Minimum number of products of features that sharing may save, about a tenth of a second: the first table of a machine
# takes four seconds to compile.
MIN_PRODUCTS = 10**8


class SharedBatch(NamedTuple):
    """Some blocks in ascending order, and all documents of their mentions, by sequence.

    Documents of the same block are mostly near each other, so that the parts of the table that a block needs are, too.
    The first documents are those kept from the batch before, at its positions `kept`, in ascending order.
    """

    blocks: Integers
    documents: Integers
    kept: Integers

    def after(self, before: SharedBatch) -> SharedBatch:
        """The same batch, for which the table of the batch before is there.

        >>> none = np.zeros(0, np.int64)
        >>> one, other = (SharedBatch(none, np.array(documents), none) for documents in ([5, 3, 8], [9, 8, 5]))
        >>> [part.tolist() for part in other.after(one)[1:]]
        [[5, 8, 9], [0, 2]]
        """
        kept = np.flatnonzero(np.isin(before.documents, self.documents))
        new = self.documents[~np.isin(self.documents, before.documents)]
        return self._replace(documents=np.concatenate([before.documents[kept], new]), kept=kept)

    def places(self, documents: Integers) -> Integers:
        """The positions of some of the documents."""
        order = np.argsort(self.documents)
        found: Integers = order[np.searchsorted(self.documents, documents, sorter=order)]
        return found


class SharingPlan(NamedTuple):
    """The batches of the blocks whose documents are compared once, and the feature types for which this is done."""

    types: NDArray[np.bool_]
    batches: list[SharedBatch]


def plan_sharing(encoded: Encoded, used: NDArray[np.bool_], memory: int) -> SharingPlan:
    """Choose the blocks whose documents are better compared once, and the feature types that are worth it.

    A table has all pairs of its documents. It pays if the blocks have as many pairs of mentions, or if it saves the
    copies of long bags. A giant block with more documents than a table can have is compared with whole bags.
    """
    sizes, features = np.diff(encoded.block_start), encoded.document_features
    chosen = np.flatnonzero((sizes > 1) & encoded.have_long_bags)
    if not len(chosen) or (sizes * features)[chosen].sum() < MIN_PRODUCTS:
        return SharingPlan(used, [])
    meetings = _meetings(encoded, chosen)
    types = _shared_types(used, encoded.features_per_document(meetings.sequence), len(meetings.sequence), memory)
    if not types.any():
        return SharingPlan(types, [])
    saved, most = features + 2 * sizes**2, _most_documents(memory, int(types.sum()))
    fits = ~are_giant_with_table(sizes[chosen]) | (np.diff(meetings.documents_of.start) <= most)
    if not fits.any():
        return SharingPlan(types, [])
    if not fits.all():
        chosen, meetings = chosen[fits], _meetings(encoded, chosen[fits])
    batches: list[SharedBatch] = []
    for batch in _batches(chosen, meetings, most):
        if len(batch.documents) ** 2 <= saved[batch.blocks].sum():
            batches.append(batch.after(batches[-1]) if batches else batch)
    return SharingPlan(types, batches)


def _shared_types(used: NDArray[np.bool_], features: Floats, documents: int, memory: int) -> NDArray[np.bool_]:
    """The feature types of the tables, given the mean number of features of the documents."""
    long: NDArray[np.bool_] = used & (features > LONG_TYPE)
    more: NDArray[np.bool_] = long | used & (features > SHORT_TYPE)
    return more if long.any() and documents <= _most_documents(memory, int(more.sum())) else long


class _Meetings(NamedTuple):
    """The blocks of each document, or the documents of each block; both numbered from 0."""

    partner: Integers
    start: Integers

    @classmethod
    def of(cls, partner: Integers, owner: Integers) -> _Meetings:
        """The distinct partners of each owner."""
        width = int(partner.max()) + 1
        pairs = np.unique(owner * width + partner)
        start = np.searchsorted(pairs, np.arange(int(owner.max()) + 2) * width)
        return cls(pairs % width, start)

    def partners(self, owners: Integers) -> Integers:
        """The partners of some owners, each as often as it has one of them."""
        return self.partner[ranges(self.start[owners], self.start[owners + 1] - self.start[owners])]


# Blocks are added to a batch in this many steps at least.
STEPS = 100
# Discount for a document whose rows are already in the table: higher values give smaller batches, lower ones reuse
# fewer rows.
KEPT_SHARE = 0.5


class _BlocksAndDocuments(NamedTuple):
    """The documents of some blocks, by sequence, and which of them meet, seen from both sides."""

    sequence: Integers
    blocks_of: _Meetings
    documents_of: _Meetings


def _meetings(encoded: Encoded, chosen: Integers) -> _BlocksAndDocuments:
    mentions, sizes = mentions_of(encoded, chosen)
    sequence, document = np.unique(encoded.mention_owner[mentions] >> SLOT_BITS, return_inverse=True)
    block = np.repeat(np.arange(len(chosen)), sizes)
    return _BlocksAndDocuments(sequence, _Meetings.of(block, document), _Meetings.of(document, block))


def _batches(chosen: Integers, meetings: _BlocksAndDocuments, most: int) -> Iterator[SharedBatch]:
    """The chosen blocks, those with many documents in common together: at most `most` documents, or one block.

    The first batch begins with a block of average size, the others with that whose documents the last batch has, as far
    as possible. Blocks are added in ascending order of the share of their documents that is new in the batch; those of
    the last batch count less, because a part of the table remains.
    """
    blocks_of, documents_of = meetings.blocks_of, meetings.documents_of
    number = np.diff(documents_of.start)
    waiting, last = np.ones(len(chosen), np.bool_), np.zeros(len(meetings.sequence), np.bool_)
    candidates = np.arange(len(chosen))
    in_last = np.zeros_like(number)
    added = candidates[np.argsort(number, kind="stable")[[len(chosen) // 2]]]
    while waiting.any():
        missing, inside = number.copy(), np.zeros(len(meetings.sequence), np.bool_)
        batch, documents = [], []
        while len(added):
            batch.append(added)
            waiting[added] = False
            new = np.unique(documents_of.partners(added))
            new = new[~inside[new]]
            inside[new] = True
            documents.append(new)
            missing -= np.bincount(blocks_of.partners(new), minlength=len(missing))
            in_last -= np.bincount(blocks_of.partners(new[last[new]]), minlength=len(missing))
            share = (missing - KEPT_SHARE * in_last) / number
            added = _next_blocks(np.flatnonzero(waiting), missing, share, most - int(inside.sum()))
        yield SharedBatch(
            chosen[np.sort(np.concatenate(batch))], meetings.sequence[np.concatenate(documents)], np.zeros(0, np.int64)
        )
        last, candidates = inside, np.flatnonzero(waiting)
        in_last = np.bincount(blocks_of.partners(np.flatnonzero(last)), minlength=len(number))
        added = candidates[np.argsort(1 - in_last[candidates] / number[candidates], kind="stable")[:1]]


def _next_blocks(waiting: Integers, missing: Integers, share: Floats, room: int) -> Integers:
    """The blocks with the smallest share of new documents: all that have none, or as many as there is room for."""
    complete: Integers = waiting[missing[waiting] == 0]
    if len(complete):
        return complete
    step = 1 + len(waiting) // STEPS
    fitting = waiting[missing[waiting] <= room]
    best = fitting[np.argsort(share[fitting], kind="stable")[:step]]
    found: Integers = best[np.cumsum(missing[best]) <= room]
    return found


def _most_documents(memory: int, types: int) -> int:
    """The number of documents whose table fits into its share of the memory."""
    share = min(memory // 4, MAX_TABLE_BYTES)
    return int(np.sqrt(2 * share / table_bytes(1, types)))


def mentions_of(encoded: Encoded, blocks: Integers) -> tuple[Integers, Integers]:
    """The mentions of some blocks, and the sizes of these."""
    sizes = np.diff(encoded.block_start)[blocks]
    return ranges(encoded.block_start[blocks], sizes), sizes


def parts_of(blocks: Integers, sizes: Integers, pairs: int) -> list[Integers]:
    """The blocks of a batch in parts of at most that many pairs of mentions, or of one block; most pairs first.

    >>> [part.tolist() for part in parts_of(np.array([3, 5, 6]), np.array([2, 2, 9]), 10)]
    [[6], [3, 5]]
    """
    found: list[tuple[int, list[int]]] = []
    for block, size in zip(blocks.tolist(), (sizes**2).tolist(), strict=True):
        if found and found[-1][0] + size <= pairs:
            found[-1] = found[-1][0] + size, [*found[-1][1], block]
        else:
            found.append((size, [block]))
    return [np.array(part) for _, part in sorted(found, key=lambda part: -part[0])]
