"""Blocks of papers with many authors, in batches that share a table of document pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.agglomerative import LONG_BAG
from homonym.clustering.arrays import Integers, ranges
from homonym.clustering.shared_documents import table_bytes
from homonym.collection.encoded import Encoded
from homonym.collection.layout import SLOT_BITS

# A table is a quarter of the memory, but no more bytes than this: more documents make it hardly any faster.
MAX_TABLE_BYTES = 1 << 30


class SharedBatch(NamedTuple):
    """Some blocks in ascending order, and all documents of their mentions, by sequence, in ascending order."""

    blocks: Integers
    documents: Integers


def document_batches(encoded: Encoded, giant: NDArray[np.bool_], most: int) -> list[SharedBatch]:
    """Batches of the blocks whose documents are better compared once; each has at most `most` documents, or one block.

    A table has all pairs of its documents. It pays if the blocks have as many pairs of mentions, or if it saves the
    copies of long bags.
    """
    sizes, features = np.diff(encoded.block_start), encoded.document_features
    chosen = np.flatnonzero((sizes > 1) & ~giant & (features >= LONG_BAG * sizes))
    saved = features + 2 * sizes**2
    return [
        batch
        for batch in (_batches(encoded, chosen, most) if len(chosen) else [])
        if len(batch.documents) ** 2 <= saved[batch.blocks].sum()
    ]


class _Meetings(NamedTuple):
    """Which documents have mentions in which blocks: both numbered from 0, as pairs in order of the documents."""

    blocks: int
    documents: int
    block: Integers
    start: Integers

    @classmethod
    def of(cls, block: Integers, document: Integers) -> _Meetings:
        """The distinct pairs of a block and a document."""
        width = int(block.max()) + 1
        pairs = np.unique(document * width + block)
        documents = int(pairs[-1] // width) + 1
        start = np.searchsorted(pairs // width, np.arange(documents + 1))
        return cls(width, documents, pairs % width, start)

    def blocks_of(self, documents: Integers) -> Integers:
        """The blocks of some documents, each as often as it has one of them."""
        return self.block[ranges(self.start[documents], self.start[documents + 1] - self.start[documents])]


# Blocks are added to a batch in this many steps at least.
STEPS = 500


def _batches(encoded: Encoded, chosen: Integers, most: int) -> Iterator[SharedBatch]:
    """The chosen blocks, those with many documents in common together.

    A batch begins with a block of average size. Blocks are added in ascending order of the share of their documents
    that is new in the batch.
    """
    mentions, sizes = mentions_of(encoded, chosen)
    sequence, document = np.unique(encoded.mention_owner[mentions] >> SLOT_BITS, return_inverse=True)
    block = np.repeat(np.arange(len(chosen)), sizes)
    meetings = _Meetings.of(block, document)
    by_block = _Meetings.of(document, block)
    number = np.diff(by_block.start)
    waiting = np.ones(len(chosen), np.bool_)
    while waiting.any():
        candidates = np.flatnonzero(waiting)
        added = candidates[np.argsort(number[candidates], kind="stable")[[len(candidates) // 2]]]
        missing, inside = number.copy(), np.zeros(meetings.documents, np.bool_)
        batch = []
        while len(added):
            batch.append(added)
            waiting[added] = False
            new = np.unique(by_block.blocks_of(added))
            new = new[~inside[new]]
            inside[new] = True
            missing -= np.bincount(meetings.blocks_of(new), minlength=len(missing))
            added = _next_blocks(np.flatnonzero(waiting), missing, number, most - int(inside.sum()))
        yield SharedBatch(chosen[np.sort(np.concatenate(batch))], sequence[inside])


def _next_blocks(waiting: Integers, missing: Integers, number: Integers, room: int) -> Integers:
    """The blocks with the smallest share of new documents: all that have none, or as many as there is room for."""
    complete: Integers = waiting[missing[waiting] == 0]
    if len(complete):
        return complete
    share = missing[waiting] / number[waiting]
    step = 1 + len(waiting) // STEPS
    best = waiting[np.argsort(share, kind="stable")[:step]]
    fitting: Integers = best[np.cumsum(missing[best]) <= room]
    return fitting


def most_documents(memory: int, types: int) -> int:
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
