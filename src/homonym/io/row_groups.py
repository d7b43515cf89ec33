"""A Parquet file of which some row groups are replaced: the bytes of all others are copied, not decoded.

Arrow can write new row groups, but cannot put those of another file next to them. Here new row groups are written by
Arrow to memory. Then the bytes of old and new row groups are joined, and so are their descriptions in the footers. A
footer is a Thrift structure in the compact protocol. Only the places of row groups in the file are changed in it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from homonym.io.outputs import open_atomic
from homonym.io.paths import plain_path

MAGIC = b"PAR1"

# Types of the compact protocol; a Boolean has no other content.
_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 12
_INTEGERS = frozenset({4, 5, 6})

# Numbers of fields in the definition of Parquet: of the file, of a row group, of a column in it, and of its content.
_SCHEMA, _FILE_ROWS, _GROUPS = 2, 3, 4
_COLUMNS, _GROUP_ROWS, _GROUP_PLACE, _GROUP_SIZE = 1, 3, 5, 6
_COLUMN_PLACE, _CONTENT = 2, 3
_DATA_PAGE, _INDEX_PAGE, _DICTIONARY_PAGE, _BLOOM_FILTER = 9, 10, 11, 14


class UnusualLayoutError(Exception):
    """A file whose row groups cannot be copied one by one; it must be decoded and written again."""


class Writing(NamedTuple):
    """How Arrow writes row groups: arguments of ParquetWriter."""

    schema: pa.Schema
    options: Mapping[str, Any]


class FilePart(NamedTuple):
    """A number of bytes of a new file, one part after another, and where these bytes are in the source, if they are."""

    size: int
    origin: int | None


def splice_row_groups(source: Path, target: Path, groups: Iterable[int | pa.Table], writing: Writing) -> list[FilePart]:
    """Write a Parquet file, atomically: row groups of a source, by number, and new ones from tables, in this order.

    Returns the parts of the file without its footer: row groups that follow each other. Raises UnusualLayoutError if
    the source was not written by Arrow with the same schema; then nothing is written.
    """
    with plain_path(source) as plain, plain.open("rb") as stream, open_atomic(target) as output:
        old = _Footer.read(stream)
        place, done, parts = output.write(MAGIC), list[_RowGroup](), [FilePart(len(MAGIC), 0)]
        for some in _alternating(groups):
            if isinstance(some, range):
                found = old.groups[some.start : some.stop]
                size = sum(group.size for group in found)
                _copy(stream, output, found[0].begin, size)
                parts += [FilePart(group.size, group.begin) for group in found]
            else:
                found = _write_groups(output, some, writing, old.schema)
                parts += [FilePart(group.size, None) for group in found]
            distance = place - found[0].begin
            done += [_moved(group, distance) for group in found]
            place += sum(group.size for group in found)
        footer = old.with_groups(done)
        output.write(footer + len(footer).to_bytes(4, "little") + MAGIC)
    return parts


def new_parts(path: Path) -> list[FilePart]:
    """The parts of a Parquet file that was written as a whole; none if its row groups do not follow each other."""
    try:
        with plain_path(path) as plain, plain.open("rb") as stream:
            groups = _Footer.read(stream).groups
    except UnusualLayoutError:
        return []
    return [FilePart(len(MAGIC), None), *(FilePart(group.size, None) for group in groups)]


# Tables that are written to memory together: Arrow needs as much time to begin a file as to write a small row group.
_TABLES_AT_ONCE = 32


def _alternating(groups: Iterable[int | pa.Table]) -> Iterator[range | list[pa.Table]]:
    """The same row groups: ranges of numbers that follow each other, and some tables with rows.

    >>> [*_alternating([0, 1, 3, pa.table({"x": [1]}), pa.table({"x": []}), 4])][:2]
    [range(0, 2), range(3, 4)]
    """
    numbers, tables = range(0), list[pa.Table]()
    for one in groups:
        if isinstance(one, int):
            if tables:
                yield tables
                tables = []
            if numbers and one != numbers.stop:
                yield numbers
                numbers = range(0)
            numbers = range(numbers.start, one + 1) if numbers else range(one, one + 1)
        elif len(one):
            if numbers:
                yield numbers
                numbers = range(0)
            tables.append(one)
            if len(tables) == _TABLES_AT_ONCE:
                yield tables
                tables = []
    if numbers or tables:
        yield numbers or tables


class _RowGroup(NamedTuple):
    """A row group: its description, the number of its rows, and where its bytes are."""

    text: bytes
    rows: int
    begin: int
    size: int


class _Footer(NamedTuple):
    """The footer of a file: its schema, its row groups, and the bytes before and after rows and groups."""

    schema: bytes
    groups: list[_RowGroup]
    before: bytes
    after: bytes

    @classmethod
    def read(cls, stream: IO[bytes]) -> _Footer:
        """The footer of a file; its row groups must lie one after another."""
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 8))
        length, magic = int.from_bytes(stream.read(4), "little"), stream.read(4)
        if magic != MAGIC or length + 12 > size:
            raise UnusualLayoutError
        stream.seek(size - 8 - length)
        return cls.parse(stream.read(length))

    @classmethod
    def parse(cls, text: bytes) -> _Footer:
        """The footer from its bytes."""
        found: list[_RowGroup] = []

        def read_groups(place: int) -> int:
            size, _, place = _list_head(text, place)
            for _ in range(size):
                group, place = _group(text, place)
                found.append(group)
            return place

        try:
            fields = {field.number: field for field in _fields(text, 0, {_GROUPS: read_groups})}
            schema, rows, groups = fields[_SCHEMA], fields[_FILE_ROWS], fields[_GROUPS]
        except (IndexError, KeyError):
            raise UnusualLayoutError from None
        places = accumulate((group.size for group in found), initial=len(MAGIC))
        if rows.end != groups.header or any(one.begin != place for one, place in zip(found, places, strict=False)):
            raise UnusualLayoutError
        return cls(text[schema.begin : schema.end], found, text[: rows.header], text[groups.end :])

    def with_groups(self, groups: list[_RowGroup]) -> bytes:
        """The bytes of a footer with other row groups."""
        rows = bytes([0x10 | 6]) + _signed(sum(group.rows for group in groups))
        size = len(groups)
        head = bytes([0x10 | _LIST]) + (
            bytes([size << 4 | _STRUCT]) if size < 15 else bytes([0xF0 | _STRUCT]) + _unsigned(size)
        )
        return self.before + rows + head + b"".join(group.text for group in groups) + self.after


def _group(text: bytes, begin: int) -> tuple[_RowGroup, int]:
    """The row group whose description begins at a place, and the place after it."""

    def read_columns(place: int) -> int:
        size, kind, place = _list_head(text, place)
        for _ in range(size):
            place = _end(text, place, kind)
            # The description of a column ends with that of its content, so with the ends of two structures. A column
            # with an index of pages, which is outside of its row group, has the length of the index in between.
            if text[place - 2] != _STOP:
                raise UnusualLayoutError
        return place

    numbers, end = {}, begin
    for field in _fields(text, begin, {_COLUMNS: read_columns}):
        end = field.end
        if field.kind in _INTEGERS:
            numbers[field.number] = _read_signed(text, field.begin)[0]
    end += 1  # the byte that ends the structure
    return _RowGroup(text[begin:end], numbers[_GROUP_ROWS], numbers[_GROUP_PLACE], numbers[_GROUP_SIZE]), end


def _write_groups(output: IO[bytes], tables: list[pa.Table], writing: Writing, schema: bytes) -> list[_RowGroup]:
    """Write the bytes of new row groups; their descriptions are as in a file of their own."""
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, writing.schema, **writing.options) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=len(table))
    content = sink.getvalue()
    length = int.from_bytes(content.slice(content.size - 8, 4).to_pybytes(), "little")
    footer = _Footer.parse(content.slice(content.size - 8 - length, length).to_pybytes())
    if footer.schema != schema:
        raise UnusualLayoutError
    output.write(content.slice(len(MAGIC), sum(group.size for group in footer.groups)))
    return footer.groups


def _copy(stream: IO[bytes], output: IO[bytes], begin: int, size: int) -> None:
    """Copy bytes from one file to another; the operating system does it if it can, without reading them."""
    output.flush()
    while size:
        copied = _copied_by_system(stream, output, begin, size)
        if not copied:
            break
        begin, size = begin + copied, size - copied
    output.seek(0, os.SEEK_END)
    stream.seek(begin)
    while size:
        block = stream.read(min(size, 1 << 22))
        if not block:
            raise UnusualLayoutError
        output.write(block)
        size -= len(block)


def _copied_by_system(stream: IO[bytes], output: IO[bytes], begin: int, size: int) -> int:
    """The number of bytes that the system has copied to the end of a file; 0 if it cannot, or if there are no more."""
    if not hasattr(os, "copy_file_range"):
        return 0
    try:
        return os.copy_file_range(stream.fileno(), output.fileno(), size, begin)
    except OSError:  # another kind of file system; writing will say what is wrong, if anything is
        return 0


# Which fields of a row group have places in the file, by the numbers of fields down to them.
_Places = Mapping[int, "_Places | None"]
_NOT_CHANGED: _Places = {}
_PLACES: _Places = {
    _COLUMNS: {
        _COLUMN_PLACE: None,
        _CONTENT: {_DATA_PAGE: None, _INDEX_PAGE: None, _DICTIONARY_PAGE: None, _BLOOM_FILTER: None},
    },
    _GROUP_PLACE: None,
}


def _moved(group: _RowGroup, distance: int) -> _RowGroup:
    """The same row group at another place of a file."""
    if not distance:
        return group
    return group._replace(text=_shifted(group.text, _PLACES, distance), begin=group.begin + distance)


def _shifted(text: bytes, places: _Places, distance: int) -> bytes:
    """The bytes of a structure with other places; 0 is no place."""
    numbers, parts, copied = list[int](), list[bytes](), 0
    _find_numbers(text, 0, places, numbers)
    for place in numbers:
        value, end = _read_signed(text, place)
        parts += [text[copied:place], _signed(value + distance if value else 0)]
        copied = end
    return b"".join([*parts, text[copied:]])


def _find_numbers(text: bytes, place: int, places: _Places, found: list[int]) -> int:
    """Find where the numbers of some fields of a structure are; returns where the structure ends.

    It is written without calls for most fields, because a large table has 100,000 of them.

    >>> text, found = bytes([0x15, 0x80, 0x01, 0x16, 0x08, _STOP]), []
    >>> _find_numbers(text, 0, {2: None}, found), found
    (6, [4])
    """
    number = 0
    while (first := text[place]) != _STOP:
        place, kind = place + 1, first & 15
        if first >> 4:
            number += first >> 4
        else:
            number, place = _read_signed(text, place)
        inner = places.get(number, _NOT_CHANGED)
        if inner is None:
            found.append(place)
        elif inner and kind == _STRUCT:
            place = _find_numbers(text, place, inner, found)
            continue
        elif inner:
            size, _, place = _list_head(text, place)
            for _ in range(size):
                place = _find_numbers(text, place, inner, found)
            continue
        if kind in _INTEGERS:
            while text[place] & 128:
                place += 1
            place += 1
        elif kind == _BINARY and text[place] < 128:
            place += 1 + text[place]
        else:
            place = _end(text, place, kind)
    return place + 1


# The compact protocol


class _Field(NamedTuple):
    """A field of a structure, and where its header and its content are."""

    number: int
    kind: int
    header: int
    begin: int
    end: int


def _fields(text: bytes, place: int, ends: Mapping[int, Callable[[int], int]] = {}) -> Iterator[_Field]:
    """The fields of the structure that begins at a place; `ends` finds where some fields end, by their numbers."""
    number = 0
    while (first := text[place]) != _STOP:
        begin, kind = place + 1, first & 15
        if first >> 4:
            number += first >> 4
        else:
            number, begin = _read_signed(text, begin)
        end = ends[number](begin) if number in ends else _end(text, begin, kind)
        yield _Field(number, kind, place, begin, end)
        place = end


def _list_head(text: bytes, place: int) -> tuple[int, int, int]:
    """The number and the type of the elements of a list, and the place where they begin."""
    first, place = text[place], place + 1
    size, kind = first >> 4, first & 15
    if size == 15:
        size, place = _read_unsigned(text, place)
    return size, kind, place


def _end(text: bytes, place: int, kind: int) -> int:
    """Where a value ends."""
    if kind in _INTEGERS:
        while text[place] & 128:
            place += 1
        return place + 1
    if kind == _BINARY:
        size, place = _read_unsigned(text, place)
        return place + size
    if kind == _STRUCT:
        return _end_of_structure(text, place)
    if kind in {_LIST, _SET}:
        size, kind, place = _list_head(text, place)
        for _ in range(size):
            place = place + 1 if kind in {_TRUE, _FALSE} else _end(text, place, kind)
        return place
    # Any other type, such as a map, is a KeyError: Parquet's footer has none.
    return place + {_TRUE: 0, _FALSE: 0, _BYTE: 1, _DOUBLE: 8}[kind]


def _end_of_structure(text: bytes, place: int) -> int:
    """Where a structure ends. Numbers and short texts, which are most of its fields, are skipped without a call.

    >>> _end_of_structure(bytes([0x15, 0x80, 0x01, 0x18, 2, 65, 66, _STOP, 99]), 0)
    8
    """
    while (first := text[place]) != _STOP:
        place, kind = place + 1, first & 15
        if not first >> 4:
            place = _read_unsigned(text, place)[1]
        if kind in _INTEGERS:
            while text[place] & 128:
                place += 1
            place += 1
        elif kind == _BINARY and text[place] < 128:
            place += 1 + text[place]
        else:
            place = _end(text, place, kind)
    return place + 1


def _read_unsigned(text: bytes, place: int) -> tuple[int, int]:
    """A number of variable length, and the place after it."""
    value = shift = 0
    while (byte := text[place]) & 128:
        value |= (byte & 127) << shift
        shift, place = shift + 7, place + 1
    return value | byte << shift, place + 1


def _read_signed(text: bytes, place: int) -> tuple[int, int]:
    value, place = _read_unsigned(text, place)
    return value >> 1 ^ -(value & 1), place


def _unsigned(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def _signed(value: int) -> bytes:
    """A number in the compact protocol: small numbers of either sign are short.

    >>> _signed(300), _read_signed(_signed(-300), 0)
    (b'\\xd8\\x04', (-300, 2))
    """
    return _unsigned(value << 1 if value >= 0 else (-value << 1) - 1)
