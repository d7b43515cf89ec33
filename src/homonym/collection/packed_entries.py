"""The entries of the bags of documents as bytes: Parquet takes seven times as long to read lists of numbers.

The entries of a document are ordered by owner and feature. `slot` has the owners that have any entries, and `size` has
their numbers. `feature` has the lower 16 bits of the numbers of the features, and `feature_high` the upper 16 bits:
stored apart, they take a tenth less space. `count` has a byte for each entry: a whole number below 255, or 255 for
another count; those are in `other_count`, in this order, as floating-point numbers of 64 bits. The lowest byte of a
number comes first.

Up to version 0.16, `slot`, `feature` and `count` were lists with an element for each entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from homonym.clustering.arrays import Floats, Integers, starts
from homonym.collection.layout import SLOT_BITS

COLUMNS = ("slot", "size", "feature", "feature_high", "count", "other_count")
"""The columns of schema.STORED_BAGS that have the entries."""

_SLOT = (1 << SLOT_BITS) - 1
_BYTE, _HALF, _COUNT = np.dtype("u1"), np.dtype("<u2"), np.dtype("<f8")
_HALF_BITS = 16
# The byte of a count that is not a whole number below it.
_OTHER = 255

Entries = tuple[Integers, NDArray[np.int32], Floats]
"""Owners, features and counts."""


def packed_entries(
    owner: Integers, feature: NDArray[np.integer], count: Floats, number: Integers
) -> dict[str, pa.Array]:
    """The columns for entries of documents, which are ordered by document and owner; `number` is that of each document.

    >>> owner, feature = np.array([0, 0, 3]), np.array([7, 9, 8])
    >>> columns = packed_entries(owner, feature, np.array([2, 0.5, 1]), np.array([3, 0]))
    >>> columns["slot"].to_pylist(), columns["size"].to_pylist(), columns["count"].to_pylist()
    ([[0, 3], []], [[2, 1], []], [b'\\x02\\xff\\x01', b''])
    """
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    of_document = np.searchsorted(first, starts(number)).astype(np.int32)
    is_other = (count != np.floor(count)) | (count < 0) | (count >= _OTHER)
    code = np.where(is_other, _OTHER, count).astype(_BYTE)
    others: Integers = np.diff(starts(is_other)[starts(number)])
    return {
        "slot": pa.ListArray.from_arrays(of_document, pa.array((owner[first] & _SLOT).astype(np.int32))),
        "size": pa.ListArray.from_arrays(of_document, pa.array(np.diff(first, append=len(owner)).astype(np.int32))),
        "feature": _texts_of_bytes((feature & ((1 << _HALF_BITS) - 1)).astype(_HALF), number),
        "feature_high": _texts_of_bytes((feature >> _HALF_BITS).astype(_HALF), number),
        "count": _texts_of_bytes(code, number),
        "other_count": _texts_of_bytes(count[is_other].astype(_COUNT), others),
    }


def _texts_of_bytes(values: NDArray[Any], number: Integers) -> pa.Array:
    """The bytes of numbers, `number[i]` of which belong together."""
    offsets = (starts(number) * values.itemsize).astype(np.int32)
    return pa.Array.from_buffers(pa.binary(), len(number), [None, pa.py_buffer(offsets), pa.py_buffer(values)])


@dataclass(frozen=True, eq=False)
class PackedEntries:
    """The entries of some documents; those of document d are from `begin[d]` to `begin[d + 1]`."""

    begin: Integers
    first_owner: Integers
    slot: NDArray[np.int32]
    size: NDArray[np.int32]
    feature: NDArray[np.int32]
    code: NDArray[np.uint8]
    first_other: Integers
    other: Floats

    @classmethod
    def of(cls, table: pa.Table) -> PackedEntries:
        """The entries in rows of schema.STORED_BAGS."""
        slot, size = (pc.list_flatten(table[name].combine_chunks()).to_numpy() for name in ("slot", "size"))
        owners = starts(pc.list_value_length(table["slot"].combine_chunks()).to_numpy())
        begin, code = _numbers_of_bytes(table["count"].combine_chunks(), _BYTE)
        feature = _numbers_of_bytes(table["feature_high"].combine_chunks(), _HALF)[1].astype(np.int32)
        feature <<= _HALF_BITS
        feature |= _numbers_of_bytes(table["feature"].combine_chunks(), _HALF)[1]
        first_other, other = _numbers_of_bytes(table["other_count"].combine_chunks(), _COUNT)
        return cls(begin, owners, slot, size, feature, code, first_other, other)

    def between(self, first: int, last: int) -> Entries:
        """The entries of the documents `first` to `last` - 1."""
        begin, owners = self.begin[first : last + 1], self.first_owner[first : last + 1]
        here, own = slice(int(begin[0]), int(begin[-1])), slice(int(owners[0]), int(owners[-1]))
        owner = (np.repeat(np.arange(first, last), np.diff(owners)) << SLOT_BITS) + self.slot[own]
        count = self.code[here].astype(np.float64)
        count[self.code[here] == _OTHER] = self.other[self.first_other[first] : self.first_other[last]]
        return np.repeat(owner, self.size[own]), self.feature[here], count


def _numbers_of_bytes(texts: pa.Array, kind: np.dtype[Any]) -> tuple[Integers, NDArray[Any]]:
    """Where the numbers of each text of bytes begin, with the end, and all numbers."""
    if not len(texts):
        return np.zeros(1, np.int64), np.zeros(0, kind)
    _, offsets, content = texts.buffers()
    place = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    numbers = np.frombuffer(content, np.uint8)[place[0] : place[-1]] if content else np.zeros(0, np.uint8)
    return (place - place[0]) // kind.itemsize, numbers.view(kind)


def is_packed(columns: Iterable[str]) -> bool:
    """Whether a table with these columns has packed entries."""
    return "size" in columns


def with_packed_entries(table: pa.Table) -> pa.Table:
    """Rows of bags as the present version stores them, from rows of any version."""
    if is_packed(table.column_names):
        return table
    lists = {name: table[name].combine_chunks() for name in ("slot", "feature", "count")}
    slot, feature, count = (pc.list_flatten(one).to_numpy() for one in lists.values())
    owner = (pc.list_parent_indices(lists["slot"]).to_numpy().astype(np.int64) << SLOT_BITS) + slot
    number = pc.list_value_length(lists["slot"]).to_numpy()
    return _with_columns(table, packed_entries(owner, feature, count, number))


def _with_columns(table: pa.Table, columns: Mapping[str, pa.Array]) -> pa.Table:
    """The table with other columns of entries, in the order of schema.STORED_BAGS."""
    found = {name: table[name] for name in table.column_names if name not in columns}
    first = list(found)[:2]
    return pa.table({name: found.pop(name) for name in first} | dict(columns) | found)
