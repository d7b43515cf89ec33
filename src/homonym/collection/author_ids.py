"""Author ids: the block of an author, and a digest of the author's anchor mention.

The anchor is the earliest mention of an author: by year, where mentions without a year come last, then by mention id in
the order of code points. So an id says nothing about the size or rank of a cluster. As long as the anchor is the same
mention, the id is the same, whatever else is added or removed; and two runs that have an id in common mean authors that
have its anchor in common. An id changes only if an earlier mention joins the author, or if the anchor leaves it.

The digest is over the mention id as it is in the result, which is the document id, `#` and the position of the author.
So anybody can compute an id from the tables of a result.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from homonym.clustering.arrays import Integers
from homonym.collection.encoded import Encoded

# Hexadecimal digits of an id: in a name of 100,000 authors, two have the same digits with a probability of 2e-5. Then
# both have all 64 digits.
DIGITS = 12
# What an author id looks like.
AUTHOR_ID = re.compile(rf".*/[0-9a-f]{{{DIGITS},64}}", re.DOTALL)
# Number of mentions whose ids are in memory at once, unless a block is larger.
MENTIONS_AT_ONCE = 1 << 18
# Mentions without a year are later than all others.
_NO_YEAR = np.iinfo(np.int32).max


class AuthorIds(NamedTuple):
    """The author of each mention as a number, and the digits of each author; authors are numbered by block.

    `longer` has the digits of authors whose first digits are those of another author of the block. `united` has the ids
    of authors with mentions in several blocks.
    """

    author: Integers
    digits: NDArray[np.bytes_]
    longer: dict[int, str]
    united: dict[int, str] = {}  # noqa: RUF012

    def __len__(self) -> int:
        return len(self.digits)

    def of(self, block: pa.Array, first: int) -> pa.Array:
        """The author ids of the mentions from `first` on, of which these are the blocks."""
        return self._joined(block, self.author[first : first + len(block)])

    def in_order(self, encoded: Encoded) -> tuple[pa.Array, Integers]:
        """All author ids in the order of code points, and the place of each author in it."""
        _, mentions = np.unique(self.author, return_index=True)
        ids = self._joined(encoded.read(["block"], mentions)["block"].combine_chunks(), np.arange(len(self)))
        order = pc.sort_indices(ids)
        rank = np.empty(len(self), np.int64)
        rank[order.to_numpy()] = np.arange(len(self))
        return ids.take(order), rank

    def of_mentions(self, block: pa.Array, mentions: Integers) -> pa.Array:
        """The author ids of some mentions, of which these are the blocks."""
        return self._joined(block, self.author[mentions])

    def with_united(self, mentions: Integers, author_id: pa.Array) -> AuthorIds:
        """The ids after some mentions got other ids, which may be those of other blocks; equal ids are one author."""
        coded = author_id.dictionary_encode()
        code = coded.indices.to_numpy()
        lowest = np.full(len(coded.dictionary), len(self), np.int64)
        np.minimum.at(lowest, code, self.author[mentions])
        author = self.author.copy()
        author[mentions] = lowest[code]
        used, renumbered = np.unique(author, return_inverse=True)
        number = dict(zip(used.tolist(), range(len(used)), strict=True))
        longer = {number[old]: digits for old, digits in self.longer.items() if old in number}
        united = zip((number[old] for old in lowest.tolist()), coded.dictionary.to_pylist(), strict=True)
        return AuthorIds(renumbered.astype(np.int64), self.digits[used], longer, dict(united))

    def _joined(self, block: pa.Array, author: Integers) -> pa.Array:
        chosen = self.digits[author]
        size = chosen.dtype.itemsize
        digits = pa.FixedSizeBinaryArray.from_buffers(pa.binary(size), len(chosen), [None, pa.py_buffer(chosen)])
        digits = digits.cast(pa.binary()).cast(pa.string())
        if self.longer:
            long = pa.array([self.longer.get(number) for number in author.tolist()], pa.string())
            digits = pc.coalesce(long, digits)
        ids = pc.binary_join_element_wise(block, digits, "/")
        if self.united:
            numbers = pa.array(list(self.united), pa.int64())
            ids = pc.coalesce(pa.array(list(self.united.values())).take(pc.index_in(pa.array(author), numbers)), ids)
        return ids


def author_ids(encoded: Encoded, label: NDArray[np.int32]) -> AuthorIds:
    """The ids of the authors of a collection; `label` is the cluster of each mention inside its block."""
    cluster = np.repeat(encoded.block_start[:-1], np.diff(encoded.block_start)) + label
    is_used = np.zeros(len(label), bool)
    is_used[cluster] = True
    author = (np.cumsum(is_used) - 1)[cluster]
    digits = np.empty(int(is_used.sum()), f"S{DIGITS}")
    longer: dict[int, str] = {}
    for first, last in _whole_blocks(encoded.block_start):
        mentions = np.arange(first, last)
        rows = encoded.read(["mention_id", "year"], mentions)
        anchors = _anchors(author[first:last], rows["year"], rows["mention_id"])
        ids = rows["mention_id"].take(pa.array(anchors)).to_pylist()
        numbers = author[first:last][anchors]
        blocks = np.searchsorted(encoded.block_start, mentions[anchors], side="right")
        found = [anchor_digest(mention_id) for mention_id in ids]
        digits[numbers] = [digest[:DIGITS] for digest in found]
        for place in _collisions(blocks, digits[numbers]):
            longer[int(numbers[place])] = found[place]
    return AuthorIds(author, digits, longer)


def anchor_digest(mention_id: str) -> str:
    """The digest of a mention.

    >>> anchor_digest("W1#0")[:12]
    '94b9869240ef'
    """
    return hashlib.sha256(mention_id.encode(), usedforsecurity=False).hexdigest()


def _whole_blocks(block_start: Integers) -> Iterator[tuple[int, int]]:
    """The first and last mention of ranges of whole blocks."""
    first, end = 0, int(block_start[-1])
    while first < end:
        block = int(np.searchsorted(block_start, first + MENTIONS_AT_ONCE))
        last = int(block_start[min(block, len(block_start) - 1)])
        yield first, last
        first = last


def _anchors(author: Integers, year: pa.ChunkedArray, mention_id: pa.ChunkedArray) -> Integers:
    """The place of the anchor of each author.

    >>> _anchors(np.array([0, 1, 0, 1]), pa.chunked_array([[2001, None, 2000, None]]), pa.chunked_array([list("dcba")]))
    array([2, 3])
    """
    when = pc.fill_null(year, _NO_YEAR).to_numpy()
    order = np.lexsort((when, author))
    earliest = when[order[np.searchsorted(author[order], author)]]
    candidates = np.flatnonzero(when == earliest)
    # Sorting strings is slow, and most authors have one candidate only.
    several = np.bincount(author[candidates])[author[candidates]] > 1
    rank = np.zeros(len(candidates), np.int64)
    rank[several] = _ranks(mention_id.take(pa.array(candidates[several])))
    order = np.lexsort((rank, author[candidates]))
    first = np.flatnonzero(np.diff(author[candidates][order], prepend=-1))
    anchors: Integers = candidates[order[first]]
    return anchors


def _ranks(texts: pa.ChunkedArray) -> Integers:
    """The place of each text in the order of code points."""
    rank = np.empty(len(texts), np.int64)
    rank[pc.sort_indices(texts).to_numpy()] = np.arange(len(texts))
    return rank


def _collisions(block: Integers, digits: NDArray[np.bytes_]) -> list[int]:
    """The places of authors whose digits another author of the block has.

    >>> _collisions(np.array([1, 1, 1, 2]), np.array([b"a", b"b", b"a", b"b"]))
    [0, 2]
    """
    order = np.lexsort((digits, block))
    same = (np.diff(block[order]) == 0) & (digits[order][1:] == digits[order][:-1])
    return sorted({*order[:-1][same].tolist(), *order[1:][same].tolist()})
