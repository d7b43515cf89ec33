"""The messages of an Arrow file: how many bytes their buffers take once they are decompressed.

Arrow believes the length that is written before each compressed buffer, and allocates as much. Its Python interface
does not show that length, so the few fields around it are read here. The layout is that of Message.fbs in the Arrow
format: tables of FlatBuffers, which begin with the distance to the list of the places of their fields.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pyarrow as pa

# Bytes before the first message of an Arrow file.
_MAGIC_BYTES = 8

# Fields of the tables Message, DictionaryBatch and RecordBatch, by number.
_HEADER_TYPE, _HEADER, _DATA, _BUFFERS, _COMPRESSION = 1, 2, 1, 2, 3
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3


def decompressed_size(path: str) -> int:
    """The number of bytes that all buffers of an Arrow file say to take, compressed ones decompressed."""
    total = 0
    with pa.OSFile(path) as stream:
        stream.seek(_MAGIC_BYTES)
        for message in pa.ipc.MessageReader.open_stream(stream):
            try:
                total += sum(_buffer_sizes(memoryview(message.metadata), memoryview(message.body or b"")))
            except (struct.error, IndexError) as error:
                raise pa.ArrowInvalid("a message is damaged") from error
    return total


def _buffer_sizes(metadata: memoryview, body: memoryview) -> Iterator[int]:
    message = _uint32(metadata, 0)
    kind = _field(metadata, message, _HEADER_TYPE)
    header = _field(metadata, message, _HEADER)
    if not kind or not header or metadata[kind] not in (_DICTIONARY_BATCH, _RECORD_BATCH):
        return
    batch = header + _uint32(metadata, header)
    if metadata[kind] == _DICTIONARY_BATCH:
        data = _field(metadata, batch, _DATA)
        if not data:
            return
        batch = data + _uint32(metadata, data)
    buffers = _field(metadata, batch, _BUFFERS)
    if not buffers:
        return
    is_compressed = _field(metadata, batch, _COMPRESSION) > 0
    first = buffers + _uint32(metadata, buffers)
    for place in range(first + 4, first + 4 + 16 * _uint32(metadata, first), 16):
        start, size = struct.unpack_from("<qq", metadata, place)
        written = struct.unpack_from("<q", body, start)[0] if is_compressed and size >= 8 else -1
        yield size if written < 0 else written


def _field(metadata: memoryview, table: int, number: int) -> int:
    """The place of a field of a table; 0 if the table does not have it."""
    places = table - struct.unpack_from("<i", metadata, table)[0]
    if 4 + 2 * number >= struct.unpack_from("<H", metadata, places)[0]:
        return 0
    distance: int = struct.unpack_from("<H", metadata, places + 4 + 2 * number)[0]
    return table + distance if distance else 0


def _uint32(metadata: memoryview, place: int) -> int:
    value: int = struct.unpack_from("<I", metadata, place)[0]
    return value
