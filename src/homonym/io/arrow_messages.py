"""The messages of an Arrow file: how many rows they have, and how many bytes their buffers take once decompressed.

Arrow believes the length that is written before each compressed buffer, and allocates as much. Its Python interface
does not show that length, so the few fields around it are read here, as Arrow finds them: from the footer of the file.
The layout is that of File.fbs and Message.fbs in the Arrow format: tables of FlatBuffers, which begin with the distance
to the list of the places of their fields.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import pyarrow as pa

# The last bytes of an Arrow file: the length of the footer, and a mark.
_END = struct.Struct("<i6s")
_MARK = b"ARROW1"

# The place of a message in the file, in the footer: its offset, and the lengths of its metadata and of its buffers.
_BLOCK = struct.Struct("<qi4xq")

# Fields of the tables Footer, Message, DictionaryBatch and RecordBatch, by number.
_DICTIONARIES, _RECORD_BATCHES = 2, 3
_HEADER_TYPE, _HEADER = 1, 2
_DATA = 1
_LENGTH, _BUFFERS, _COMPRESSION = 0, 2, 3
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3

# The name under which Arrow 0.17 wrote that buffers are compressed.
_FIRST_COMPRESSION = b"ARROW:experimental_compression"

# What a damaged message raises here; OSError if it names a place that no file has.
_DAMAGES = (struct.error, IndexError, ValueError, OverflowError, OSError)


class ArrowLayout(NamedTuple):
    """The bytes that all buffers say to take, and the rows of each record batch, None if it is damaged."""

    size: int
    rows: list[int | None]


class _Batch(NamedTuple):
    rows: int
    size: int


def read_layout(path: str) -> ArrowLayout:
    """The sizes of the dictionaries and record batches of an Arrow file. Only a few bytes of each buffer are read."""
    with open(path, "rb") as stream:
        try:
            footer = _footer(stream)
            dictionaries, batches = _blocks(footer, _DICTIONARIES), _blocks(footer, _RECORD_BATCHES)
            if sum(length for _, length, _ in dictionaries + batches) > os.fstat(stream.fileno()).st_size:
                raise ValueError("messages overlap")
            size = sum(_batch(stream, offset, length).size for offset, length, _ in dictionaries)
        except _DAMAGES as error:
            raise pa.ArrowInvalid("its footer or a dictionary is damaged") from error
        rows: list[int | None] = []
        for offset, length, _ in batches:
            try:
                batch = _batch(stream, offset, length)
            except _DAMAGES:
                rows.append(None)
            else:
                rows.append(batch.rows)
                size += batch.size
    return ArrowLayout(size, rows)


def _footer(stream: BinaryIO) -> memoryview:
    end = stream.seek(-_END.size, 2)
    length, mark = _END.unpack(stream.read(_END.size))
    if mark != _MARK or not 0 < length <= end:
        raise ValueError("no footer")
    stream.seek(end - length)
    return memoryview(stream.read(length))


def _blocks(footer: memoryview, number: int) -> list[tuple[int, int, int]]:
    """The places of all dictionaries or record batches."""
    place = _field(footer, _uint32(footer, 0), number)
    if not place:
        return []
    first = place + _uint32(footer, place)
    count = _uint32(footer, first)
    found = list(_BLOCK.iter_unpack(footer[first + 4 : first + 4 + count * _BLOCK.size]))
    if len(found) != count or any(offset < 0 or length <= 0 for offset, length, _ in found):
        raise ValueError("impossible places")
    return found


def _batch(stream: BinaryIO, offset: int, length: int) -> _Batch:
    """The size of a message."""
    stream.seek(offset)
    content = stream.read(length)
    start = 8 if content[:4] == b"\xff\xff\xff\xff" else 4
    (used,) = struct.unpack_from("<i", content, start - 4)
    if not 0 < used <= length - start:
        raise ValueError("impossible length")
    metadata = memoryview(content)[start : start + used]
    message = _uint32(metadata, 0)
    kind, header = _field(metadata, message, _HEADER_TYPE), _field(metadata, message, _HEADER)
    if not kind or not header or metadata[kind] not in (_DICTIONARY_BATCH, _RECORD_BATCH):
        raise ValueError("neither a dictionary nor a record batch")
    batch = header + _uint32(metadata, header)
    if metadata[kind] == _DICTIONARY_BATCH:
        data = _field(metadata, batch, _DATA)
        if not data:
            raise ValueError("no data")
        batch = data + _uint32(metadata, data)
    rows = _field(metadata, batch, _LENGTH)
    number = _number("<q", metadata, rows) if rows else 0
    return _Batch(number, sum(_buffer_sizes(stream, offset + start + used, metadata, batch)))


def _buffer_sizes(stream: BinaryIO, body: int, metadata: memoryview, batch: int) -> Iterator[int]:
    buffers = _field(metadata, batch, _BUFFERS)
    if not buffers:
        return
    is_compressed = _field(metadata, batch, _COMPRESSION) > 0 or _FIRST_COMPRESSION in metadata.tobytes()
    first = buffers + _uint32(metadata, buffers)
    for place in range(first + 4, first + 4 + 16 * _uint32(metadata, first), 16):
        start, size = struct.unpack_from("<qq", metadata, place)
        written = -1
        if is_compressed and size >= 8:
            stream.seek(body + start)
            (written,) = struct.unpack("<q", stream.read(8))
        if size < 0:
            raise ValueError("impossible size")
        yield size if written < 0 else written


def _field(metadata: memoryview, table: int, number: int) -> int:
    """The place of a field of a table; 0 if the table does not have it."""
    places = table - _number("<i", metadata, table)
    if places < 0:
        raise IndexError("impossible place")
    if 4 + 2 * number >= _number("<H", metadata, places):
        return 0
    distance = _number("<H", metadata, places + 4 + 2 * number)
    return table + distance if distance else 0


def _number(kind: str, metadata: memoryview, place: int) -> int:
    """The number at a place, of a type that `struct` knows."""
    (value,) = struct.unpack_from(kind, metadata, place)
    return int(value)


def _uint32(metadata: memoryview, place: int) -> int:
    return _number("<I", metadata, place)
