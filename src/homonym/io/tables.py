"""Tables: one reader for CSV, Parquet, Arrow and JSON lines, and one writer.

The reader detects the format from the content, once, and gives batches of Arrow columns; a file may be larger than
memory. The writer chooses the format by the suffix.
"""

from __future__ import annotations

import codecs
import os
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, Literal

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from homonym.errors import InputError, OutputError, SettingsError, counted, first_line
from homonym.io.arrow_messages import read_layout
from homonym.io.inputs import (
    COLUMNAR,
    PARQUET,
    STANDARD_INPUT,
    WESTERN,
    Source,
    require_plausible_size,
    require_rereadable,
)
from homonym.io.outputs import open_atomic, require_writable
from homonym.io.paths import plain_path
from homonym.io.row_groups import Writing
from homonym.io.table_text import FORMULA, Header, is_separator_hint, json_object, line_end, read_header

# Rows in a row group of every Parquet file that is written.
ROW_GROUP = 1 << 16
# The same for the tables of mentions and authors: an update writes row groups with changed rows again and copies all
# others. With a quarter as many rows, reading a whole table takes nearly twice as long.
SMALL_ROW_GROUP = 1 << 12

TABLE_SUFFIXES = (".parquet", ".csv", ".csv.gz", ".jsonl", ".jsonl.gz")

"""First bytes of Parquet and Arrow (Feather) files."""

# Rows, and bytes of text, that the reader handles at a time: large, because joining a batch has a fixed cost.
BATCH_ROWS, BATCH_BYTES = 1 << 20, 1 << 26

# Rows that are lost with one that cannot be converted.
SMALL_BATCH_ROWS = 1024

# JSON lines may begin with this many lines that are no JSON.
_LINES_TO_DETECT = 100

# What Arrow raises on damaged files, also while it decodes the names in them.
_FAILURES = (pa.ArrowException, OSError, ValueError, LookupError, TypeError, OverflowError, MemoryError)

TableFormat = Literal["parquet", "arrow", "csv", "jsonl"]

OnBroken = Callable[[int | None, str], None]
"""Called for each row that cannot be used, with its line number where that is known, and the reason."""


# Reading


@contextmanager
def open_table(path: Path, key: str) -> Iterator[TableReader]:
    """Open a table that has the column `key`; see TableReader."""
    with Source(path) as source:
        yield TableReader(source, key)


class TableReader:
    """A table in an open source, which is read once, so that pipes work too.

    The column `key` decides between CSV and JSON lines where both are possible.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a").write_text("mention_id;author\\nW1#0;Müller\\n", encoding="utf-16")
    ...     with open_table(Path(folder, "a"), "mention_id") as table:
    ...         table.format, table.columns, [batch.to_pydict() for batch in table.batches(["author"])]
    ('csv', ['mention_id', 'author'], [{'author': ['Müller']}])
    """

    def __init__(self, source: Source, key: str) -> None:
        self.source = source
        self.format: TableFormat
        self._header, self._header_line = Header((), ","), 0
        if source.head.startswith(COLUMNAR):
            self.format = "parquet" if source.head.startswith(PARQUET) else "arrow"
        else:
            self.format = self._detect_text(key)

    @property
    def name(self) -> str:
        """The name of the file in messages."""
        return self.source.name

    def _detect_text(self, key: str) -> Literal["csv", "jsonl"]:
        lines = enumerate(self.source.head.split(line_end(self.source.head)), 1)
        start = list(islice(((number, text) for number, text in lines if text.strip()), _LINES_TO_DETECT))
        if start and is_separator_hint(start[0][1]):
            del start[0]
        if not start:
            raise InputError(f"{self.name} holds nothing but blank lines; check how it was made.")
        self._header_line, first = start[0][0], start[0][1].decode(errors=WESTERN)
        header = read_header(first, lambda names: key in names)
        if header is None and any(text.lstrip().startswith(b"{") for _, text in start):
            return "jsonl"
        one_column = Header((first.strip().strip('"'),), ",")
        self._header = header or read_header(first, lambda names: True) or one_column
        return "csv"

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns; of JSON lines, the keys of the first object."""
        if self.format == "csv":
            return list(self._header.names)
        if self.format == "jsonl":
            return self._first_keys()
        return list(columnar_columns(self.source))

    def require(self, columns: Sequence[str]) -> None:
        """Fail if a column is missing."""
        if not set(columns) <= set(self.columns):
            present = ", ".join(self.columns)[:200]
            shown = present if present.isprintable() else ascii(present)
            raise InputError(f"{self.name} has the columns {shown}; expected {', '.join(columns)}.")

    def batches(
        self,
        columns: Sequence[str],
        on_broken: OnBroken | None = None,
        *,
        types: Mapping[str, pa.DataType] | None = None,
        unchecked: Container[str] = (),
    ) -> Iterator[pa.RecordBatch]:
        """Yield these columns in batches: as strings, or as `types` says; columns of lists stay lists of strings.

        Without `on_broken` a row that cannot be read is an error. An `unchecked` column of JSON lines may hold any
        value; others must hold strings or numbers.
        """
        wanted = {column: (types or {}).get(column, pa.string()) for column in columns}
        try:
            for batch in self._raw_batches(wanted, on_broken, unchecked):
                arrays = [self._unprotected(_cast(batch[column], kind)) for column, kind in wanted.items()]
                yield pa.RecordBatch.from_arrays(arrays, names=list(columns))
        except _FAILURES as error:
            raise InputError(f"{self.name} cannot be read: {first_line(error)}; check the file.") from error

    def _unprotected(self, column: pa.Array) -> pa.Array:
        """Undo what `write_table` does for spreadsheets, in CSV files with a byte order mark."""
        if self.format != "csv" or not self.source.has_mark or not pa.types.is_string(column.type):
            return column
        return pc.replace_substring_regex(column, f"^'{FORMULA}", r"\1")

    def _raw_batches(
        self, wanted: Mapping[str, pa.DataType], on_broken: OnBroken | None, unchecked: Container[str]
    ) -> Iterator[pa.RecordBatch]:
        if self.format == "csv":
            return self._csv_batches(wanted, on_broken)
        if self.format == "jsonl":
            return string_batches(self._json_rows(list(wanted), on_broken, unchecked), list(wanted))
        return columnar_batches(_columnar_path(self.source), list(wanted), BATCH_ROWS)

    def _csv_batches(self, wanted: Mapping[str, pa.DataType], on_broken: OnBroken | None) -> Iterator[pa.RecordBatch]:
        refused: list[Any] = []

        def handle(row: Any) -> Literal["skip", "error"]:
            if on_broken is None:
                refused.append(row)
                return "error"
            on_broken(row.number, _wrong_width(row))
            return "skip"

        # The csv module is several times slower than Arrow, which numbers rows only on a single thread.
        try:
            yield from pyarrow.csv.open_csv(
                pa.PythonFile(_Utf8Stream(self.source), "r"),
                pyarrow.csv.ReadOptions(
                    block_size=BATCH_BYTES,
                    use_threads=False,
                    column_names=list(self._header.names),
                    skip_rows=self._header_line,
                ),
                pyarrow.csv.ParseOptions(
                    delimiter=self._header.separator, newlines_in_values=True, invalid_row_handler=handle
                ),
                pyarrow.csv.ConvertOptions(include_columns=list(wanted), column_types=dict(wanted)),
            )
        except pa.ArrowInvalid:
            if not refused:
                raise
            row = refused.pop()
            place = self.place(row.number - self._header_line - 1)
            raise InputError(f"{place}: {_wrong_width(row)}; correct or remove the row.") from None

    @cached_property
    def _json_lines(self) -> Iterator[tuple[int, bytes, str]]:
        return self.source.lines()

    def _first_keys(self) -> list[str]:
        read: list[tuple[int, bytes, str]] = []
        problem = ""
        for number, text, broken in islice(self._json_lines, _LINES_TO_DETECT):
            read.append((number, text, broken))
            try:
                keys = list(_object(text, broken))
            except ValueError as error:
                problem = problem or f"line {number}: {error}"
            else:
                self._json_lines = chain(read, self._json_lines)
                return keys
        raise InputError(f"{self.name}, {problem}; expected a table.")

    def objects(self, on_broken: OnBroken | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the objects of JSON lines with their line numbers."""
        report = on_broken or self._refuse
        for number, text, broken in self._json_lines:
            try:
                row = _object(text, broken)
            except ValueError as error:
                report(number, str(error))
            else:
                yield number, row

    def _refuse(self, number: int | None, reason: str) -> None:
        raise InputError(f"{self.name}, line {number}: {reason}; correct or remove the line.")

    def _json_rows(
        self, columns: list[str], on_broken: OnBroken | None, unchecked: Container[str]
    ) -> Iterator[tuple[str | None, ...]]:
        report = on_broken or self._refuse
        for number, row in self.objects(on_broken):
            cells: list[str | None] = []
            for column in columns:
                try:
                    cells.append(_any_text(row.get(column)) if column in unchecked else scalar_text(row.get(column)))
                except ValueError as error:
                    report(number, f"{column}: {error}")
            if len(cells) == len(columns):
                yield tuple(cells)

    def place(self, row: int) -> str:
        """Where row `row` of the data is, counted from 0, for a message: file and line, or row if lines are unknown."""
        try:
            require_rereadable([self.source.path])
            with Source(self.source.path) as source:
                number = next(islice(self._row_lines(source), row, None), None)
        except InputError:  # a pipe cannot be read again
            number = None
        return f"{self.name}, row {row + 1}" if number is None else f"{self.name}, line {number}"

    def _row_lines(self, source: Source) -> Iterator[int]:
        """The number of the line on which each row begins."""
        if self.format in {"parquet", "arrow"}:
            return
        lines = source.lines(line_end(source.head))
        for number, text, _ in lines:
            quotes = text.count(b'"')
            while self.format == "csv" and quotes % 2 and (following := next(lines, None)):
                quotes += following[1].count(b'"')
            if self.format == "jsonl" or number > self._header_line:
                yield number


def _object(text: bytes, broken: str) -> dict[str, Any]:
    """The object on a line of JSON lines; a ValueError says why it cannot be used."""
    if broken:
        raise ValueError(broken)
    return json_object(text)


def _wrong_width(row: Any) -> str:
    return f"expected {row.expected_columns} columns, got {row.actual_columns}"


class _Utf8Stream:
    """A source as a file of valid UTF-8 that ends with a line end, as Arrow's CSV reader needs it."""

    closed = False

    def __init__(self, source: Source) -> None:
        self._blocks = chain(_valid_utf8(source.blocks()), [b"\n"])
        self._rest = b""

    def read(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end."""
        parts, length = [self._rest], len(self._rest)
        while length < size and (block := next(self._blocks, None)) is not None:
            parts.append(block)
            length += len(block)
        end = len(parts[-1]) - max(0, length - size)
        parts[-1], self._rest = parts[-1][:end], parts[-1][end:]
        return b"".join(parts)

    def close(self) -> None:
        """Required by Arrow; the source is closed by its owner."""
        self.closed = True


def _valid_utf8(blocks: Iterable[bytes]) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-8")(errors=WESTERN)
    for block in blocks:
        if block.isascii() and not decoder.getstate()[0]:
            yield block
        else:
            yield decoder.decode(block).encode()
    yield decoder.decode(b"", True).encode()


# Parquet and Arrow


def columnar_columns(source: Source) -> tuple[str, ...]:
    """The column names of a Parquet or Arrow file."""
    path = _columnar_path(source)
    try:
        with _opened(path) as (file, _):
            return tuple((file.schema_arrow if isinstance(file, pq.ParquetFile) else file.schema).names)
    except _FAILURES as error:
        raise _damaged(source, error) from error


def columnar_rows(source: Source, columns: Sequence[str]) -> Iterator[dict[str, Any] | str]:
    """Yield the rows of a Parquet or Arrow file, and in place of each row that cannot be read the reason."""
    try:
        for batch in _readable_batches(_columnar_path(source), columns):
            yield from _rows_of(batch) if isinstance(batch, pa.RecordBatch) else batch
    except _FAILURES as error:
        raise _damaged(source, error) from error


def _rows_of(batch: pa.RecordBatch) -> list[Any]:
    """Column to value for each row; of columns with the same name, the first that is not empty counts."""
    try:
        if len(set(batch.schema.names)) == batch.num_columns:
            return list(batch.to_pylist())
        rows: list[dict[str, Any]] = [{} for _ in range(batch.num_rows)]
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            for row, value in zip(rows, column.to_pylist(), strict=True):
                row[name] = row.get(name) or value
        return rows
    except _FAILURES as error:
        return [f"this row and those next to it cannot be read ({first_line(error)})"] * batch.num_rows


def _damaged(source: Source, error: Exception) -> InputError:
    return InputError(
        f"{source.name} cannot be read as Parquet or Arrow ({first_line(error)}); download or write it again."
    )


def _readable_batches(path: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch | Iterator[str]]:
    """Small batches, and in place of a part of the file that cannot be read the reason, once for each of its rows."""
    with _opened(path, columns) as (file, rows):
        is_parquet, expansion = isinstance(file, pq.ParquetFile), _Expansion(path)
        for number, expected in enumerate(rows):
            place, read = f"{'row group' if is_parquet else 'record batch'} {number + 1}", 0
            try:
                if expected is None:
                    raise pa.ArrowInvalid("its description is damaged")
                for batch in (_row_group if is_parquet else _record_batch)(file, number, columns):
                    for piece in expansion.pieces(batch):
                        yield piece
                        read += piece.num_rows
                lost, reason = expected - read, f"{place} ends before its last row"
            except _FAILURES as error:
                lost, reason = max(1, (expected or 1) - read), f"{place} cannot be read ({first_line(error)})"
            if lost > 0:  # a damaged file may claim any number of rows, but a row takes about a byte at least
                gone = f"{counted(lost, 'row')} {'is' if lost == 1 else 'are'} lost"
                yield repeat(f"{reason}; {gone}", min(lost, os.path.getsize(path)))


def _row_group(file: pq.ParquetFile, number: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    rows = _batch_rows([file.metadata.row_group(number)], columns, SMALL_BATCH_ROWS)
    yield from file.iter_batches(rows, row_groups=[number], columns=_distinct(columns))


def _record_batch(file: pa.ipc.RecordBatchFileReader, number: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    batch = _selected(file.get_batch(number), columns)
    batch.validate(full=True)  # before it is cut: bad offsets would be followed
    for start in range(0, batch.num_rows, SMALL_BATCH_ROWS):
        yield batch.slice(start, SMALL_BATCH_ROWS)


def columnar_batches(path: str, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
    """The columns of a Parquet or Arrow file in valid batches, which have about `rows` rows in Parquet files."""
    with _opened(path, columns) as (file, expected):
        expansion = _Expansion(path)
        if isinstance(file, pq.ParquetFile):
            groups = map(file.metadata.row_group, range(file.num_row_groups))
            batches = file.iter_batches(_batch_rows(groups, columns, rows), columns=_distinct(columns))
        elif None in expected:
            raise pa.ArrowInvalid(f"record batch {expected.index(None) + 1} is damaged")
        else:
            batches = (_selected(file.get_batch(number), columns) for number in range(file.num_record_batches))
        yield from _gathered(chain.from_iterable(map(expansion.pieces, batches)), rows)


def _gathered(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Join small batches up to `rows` rows or BATCH_BYTES bytes. Arrow begins one with each row group."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        if waiting and (
            sum(part.num_rows for part in waiting) + batch.num_rows > rows
            or sum(part.nbytes for part in waiting) + batch.nbytes > BATCH_BYTES
        ):
            yield _joined(waiting)
            waiting = []
        waiting.append(batch)
    if waiting:
        yield _joined(waiting)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    columns = zip(*(batch.columns for batch in batches), strict=True)
    return pa.RecordBatch.from_arrays([pa.concat_arrays(parts) for parts in columns], names=batches[0].schema.names)


def _distinct(columns: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(columns))


def _selected(batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
    """The named columns. `select` accepts their names only if they are unique."""
    return batch.select([place for place, name in enumerate(batch.schema.names) if name in columns])


# Maximum size of a batch in which every row has its own copy of its values, unless it is a single row.
_PIECE_BYTES = 1 << 28


class _Expansion:
    """Checks batches, and that a file does not hold far more data than bytes."""

    def __init__(self, path: str) -> None:
        self._path, self._size, self._read = path, os.path.getsize(path), 0

    def pieces(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The batch without dictionaries, in several pieces if that makes it large.

        Arrow follows bad offsets out of its memory unless they are found here.
        """
        batch.validate(full=True)
        yield from self._pieces(batch)

    def _pieces(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        size = sum(map(_expanded_size, batch.columns))
        if size > _PIECE_BYTES and batch.num_rows > 1:
            half = batch.num_rows // 2
            yield from self._pieces(batch.slice(0, half))
            yield from self._pieces(batch.slice(half))
            return
        self._read += max(size, batch.num_rows)
        require_plausible_size(self._path, self._read, self._size)
        arrays = [array.dictionary_decode() if pa.types.is_dictionary(array.type) else array for array in batch.columns]
        yield pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def _expanded_size(array: pa.Array) -> int:
    """The number of bytes of an array in which every row has its own copy of its values.

    >>> _expanded_size(pa.array(["abc", "abc", "d"]).dictionary_encode())
    7
    """
    kind = array.type
    if pa.types.is_dictionary(kind) and _is_text(kind.value_type):
        sizes = pc.binary_length(array.dictionary).cast(pa.int64())
        return int(pc.sum(sizes.take(array.indices)).as_py() or 0)
    if _is_text(kind):
        return int(pc.sum(pc.binary_length(array).cast(pa.int64())).as_py() or 0)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return 4 * len(array) + _expanded_size(array.flatten())
    if pa.types.is_struct(kind):
        return sum(_expanded_size(child) for child in array.flatten())
    if pa.types.is_primitive(kind) or pa.types.is_null(kind):
        return int(array.nbytes)
    return len(array) * int(array.get_total_buffer_size())  # at most: rows may share values


def _is_text(kind: pa.DataType) -> bool:
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(test(kind) for test in (*tests, pa.types.is_string_view, pa.types.is_binary_view))


# Minimum number of rows per batch of a Parquet file.
_FEW_ROWS = 16

# Bytes that a column of a batch should have at most, and those that Arrow allows the values of lists to have.
_USUAL_BYTES, _LIST_BYTES = 1 << 28, 1 << 31


def _batch_rows(groups: Iterable[pq.RowGroupMetaData], columns: Sequence[str], rows: int) -> int:
    """The number of rows to read at a time: few if their values may be long."""
    for group in groups:
        for number in range(group.num_columns):
            chunk = group.column(number)
            if chunk.path_in_schema.partition(".")[0] in columns or chunk.path_in_schema in columns:
                rows = min(rows, _chunk_rows(chunk, max(1, group.num_rows)))
    return max(_FEW_ROWS, rows)


def _chunk_rows(chunk: pq.ColumnChunkMetaData, rows: int) -> int:
    """The number of rows of a column that can be read at a time."""
    size = max(1, chunk.total_uncompressed_size)
    if chunk.physical_type not in {"BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}:
        return int(_USUAL_BYTES * rows // max(1, 8 * chunk.num_values))
    usual = int(_USUAL_BYTES * rows // size)
    if chunk.physical_type == "BYTE_ARRAY" and chunk.has_dictionary_page and "." not in chunk.path_in_schema:
        return usual  # its values are not copied to the rows, see `_dictionary_columns`
    longest = 0
    if "DELTA_BYTE_ARRAY" in chunk.encodings:  # each value may begin like the one before it
        longest = size
    elif chunk.has_dictionary_page:
        compressed = max(1, chunk.data_page_offset - chunk.dictionary_page_offset)
        longest = min(size, compressed * max(1, size // max(1, chunk.total_compressed_size)))
    return min(usual, int(_LIST_BYTES * rows // max(1, longest * chunk.num_values)))


def _dictionary_columns(metadata: pq.FileMetaData, columns: Sequence[str]) -> list[str]:
    """The columns of text to be read as dictionaries, so that a long value which many rows share is read once."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    return [
        column.path
        for number in range(metadata.num_columns)
        if (column := metadata.schema.column(number)).path in columns
        and (column.physical_type, column.max_repetition_level) == ("BYTE_ARRAY", 0)
        and any(group.column(number).has_dictionary_page for group in groups)
    ]


@contextmanager
def _opened(path: str, columns: Sequence[str] = ()) -> Iterator[tuple[Any, list[int | None]]]:
    """A Parquet or Arrow file to read these columns from, and the rows of its parts, None for damaged ones.

    It is not mapped into memory: a file that shrinks would end the process.
    """
    with plain_path(Path(path)) as plain, pa.OSFile(str(plain)) as stream:
        if stream.read(4) == PARQUET:
            metadata = pq.read_metadata(plain)
            rows = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
            names = _dictionary_columns(metadata, columns)
            with pq.ParquetFile(
                plain, metadata=metadata, memory_map=False, read_dictionary=names, page_checksum_verification=True
            ) as file:
                yield file, rows
        else:
            layout = read_layout(str(plain))
            require_plausible_size(path, layout.size, os.path.getsize(path))
            with pa.ipc.open_file(stream) as reader:
                yield reader, layout.rows


def _columnar_path(source: Source) -> str:
    if source.path == STANDARD_INPUT or not source.path.is_file():
        raise InputError(f"{source.name}: Parquet and Arrow are read from files only; save it to a file first.")
    with source.path.open("rb") as stream:
        if not stream.read(8).startswith(COLUMNAR):
            raise InputError(f"{source.name}: compressed Parquet and Arrow files cannot be read; decompress it first.")
    return str(source.path)


# Cells


def scalar_text(value: object) -> str | None:
    """An id or label as a string: numbers are written out, null and the empty string give None.

    >>> scalar_text(17), scalar_text("a"), scalar_text(""), scalar_text(None)
    ('17', 'a', None, None)
    """
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"an id or label is a string or a number; got {value!r}")


def _any_text(value: object) -> str | None:
    return None if value is None else str(value)


def has_text(column: pa.Array) -> pa.Array:
    """Which strings are neither null nor empty.

    >>> has_text(pa.array(["a", "", None])).to_pylist()
    [True, False, False]
    """
    return pc.fill_null(pc.not_equal(column, ""), False)


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    # Integers are as good an id as strings; everything after this compares strings.
    is_list = pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
    return column.cast(pa.list_(pa.string()) if is_list else kind)


def string_batches(rows: Iterable[tuple[str | None, ...]], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Pack rows of strings into batches.

    >>> [batch.to_pydict() for batch in string_batches([("a", "b"), ("c", "d")], ["x", "y"])]
    [{'x': ['a', 'c'], 'y': ['b', 'd']}]
    """
    schema, remaining = pa.schema([(column, pa.string()) for column in columns]), iter(rows)
    while batch := list(islice(remaining, BATCH_ROWS)):
        arrays = [pa.array(column, pa.string()) for column in zip(*batch, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


# Writing


def require_table_path(path: Path) -> None:
    """Fail before any work is done if a table could not be written there."""
    if not path.name.endswith(TABLE_SUFFIXES):
        raise OutputError(f"{path}: the suffix chooses the format; use one of {', '.join(TABLE_SUFFIXES)}.")
    require_writable(path)


def write_table(
    path: Path, schema: pa.Schema, batches: Iterable[pa.Table], *, excel: bool = False, row_group: int = ROW_GROUP
) -> None:
    """Write tables of one schema to a file, atomically, in the format of its suffix.

    With `excel`, CSV is for spreadsheets: a byte order mark says that it is UTF-8, and an apostrophe stands before
    text that would be run as a formula. TableReader removes both.
    """
    with open_atomic(path) as stream:
        if path.suffix == ".parquet":
            with pq.ParquetWriter(stream, schema, **parquet_writing(schema).options) as parquet:
                for batch in rechunked(batches, row_group):
                    parquet.write_table(batch)
        elif path.name.endswith((".csv", ".csv.gz")):
            if excel:
                stream.write(codecs.BOM_UTF8)
            with pyarrow.csv.CSVWriter(stream, schema) as csv:
                for batch in batches:
                    csv.write_table(_protected(batch) if excel else batch)
        else:
            for batch in batches:
                stream.writelines(orjson.dumps(row) + b"\n" for row in batch.to_pylist())


# Columns of long texts, whose lowest and highest value would make the footer of a file large.
_LONG_TEXTS = ("record",)


def parquet_writing(schema: pa.Schema) -> Writing:
    """How tables of a schema are written to Parquet.

    There are no dictionaries: without them, writing takes two thirds of the time, and files are not larger. Lists of
    numbers are an exception: of counts there are few different ones, and numbers of features are a seventh smaller
    if their bytes are stored apart. Pages have checksums, so that damage is found when they are read.
    """
    nested = (pa.types.is_list, pa.types.is_struct)
    short = [one.name for one in schema if one.name not in _LONG_TEXTS and not any(test(one.type) for test in nested)]
    options: dict[str, Any] = {
        "compression": "zstd", "use_dictionary": False, "write_statistics": short, "write_page_checksum": True
    }  # fmt: skip
    lists = {f"{one.name}.list.element": one.type.value_type for one in schema if pa.types.is_list(one.type)}
    if counts := [path for path, kind in lists.items() if pa.types.is_floating(kind)]:
        options["use_dictionary"] = counts
    if numbers := [path for path, kind in lists.items() if pa.types.is_integer(kind)]:
        options["column_encoding"] = dict.fromkeys(numbers, "BYTE_STREAM_SPLIT")
    return Writing(schema, options)


def _protected(table: pa.Table) -> pa.Table:
    for number, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            safe = pc.replace_substring_regex(table.column(number), f"^{FORMULA}", r"'\1")
            table = table.set_column(number, field, safe)
    return table


def require_excel_path(path: Path) -> None:
    """Fail if a table for spreadsheets has another suffix than CSV."""
    if not path.name.endswith((".csv", ".csv.gz")):
        raise SettingsError(f"--excel is about CSV, but {path} is another format; end its name in .csv.")


@contextmanager
def reading_result_file(path: Path) -> Iterator[Path]:
    """The path of a file of a result directory, as libraries can open it (see `plain_path`).

    Damage that is found inside the block becomes an InputError that says how to examine the result.
    """
    try:
        with plain_path(path) as plain:
            yield plain
    except FileNotFoundError as error:
        raise InputError(f"{path} is missing; run homonym check on the result.") from error
    except (OSError, pa.ArrowException, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} cannot be read: {first_line(error)}; run homonym check on the result.") from error


def read_or_empty(path: Path, schema: pa.Schema) -> pa.Table:
    """The whole Parquet table with this layout; an empty one if there is no such file."""
    if not path.exists():
        return schema.empty_table()
    with reading_result_file(path) as plain:
        return pq.read_table(plain, schema=schema, page_checksum_verification=True)


def rechunked(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The same rows in tables of `rows` rows, so that a file does not depend on how its rows arrived.

    >>> [len(table) for table in rechunked([pa.table({"x": range(3)}), pa.table({"x": range(4)})], 5)]
    [5, 2]
    """
    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        while sum(map(len, waiting)) >= rows:
            together = pa.concat_tables(waiting)
            yield together.slice(0, rows).combine_chunks()
            waiting = [together.slice(rows)]
    if any(map(len, waiting)):
        yield pa.concat_tables(waiting).combine_chunks()


# Bytes of a Parquet file, without compression, that are read at once to look up rows, unless a row group has more.
LOOKED_UP_BYTES = 1 << 23


def look_up(path: Path, column: str, values: pa.Array | pa.ChunkedArray, columns: list[str] | None = None) -> pa.Table:
    """The rows of a Parquet file with one of these texts in a column, in the order of the file.

    Only row groups that may have one are read; other columns only of those that have one. `columns` are paths in the
    file's schema.
    """
    wanted = pc.unique(values.drop_null()).cast(pa.string()).sort()
    with reading_result_file(path) as plain, pq.ParquetFile(plain, page_checksum_verification=True) as file:
        groups = _groups_that_may_have(file, column, wanted)
        found = [file.read_row_groups([], columns=columns)]
        for some in _read_at_once(file.metadata, groups, columns):
            found += _rows_with(file, column, wanted, columns, some)
        return pa.concat_tables(found)


def _read_at_once(metadata: pq.FileMetaData, groups: list[int], columns: list[str] | None) -> Iterator[list[int]]:
    """Row groups of which these columns have about LOOKED_UP_BYTES together."""
    paths = [metadata.schema.column(number).path for number in range(metadata.num_columns)]
    read = [
        number
        for number, path in enumerate(paths)
        if columns is None or any(path == one or path.startswith(f"{one}.") for one in columns)
    ]
    some, size = list[int](), 0
    for group in groups:
        own = metadata.row_group(group)
        added = sum(own.column(number).total_uncompressed_size for number in read)
        if some and size + added > LOOKED_UP_BYTES:
            yield some
            some, size = [], 0
        some.append(group)
        size += added
    if some:
        yield some


def _rows_with(
    file: pq.ParquetFile, column: str, wanted: pa.Array, columns: list[str] | None, groups: list[int]
) -> Iterator[pa.Table]:
    matches = pc.is_in(file.read_row_groups(groups, columns=[column])[column], wanted)
    chosen, masks, begin = [], [], 0
    for group in groups:
        mask = matches.slice(begin, file.metadata.row_group(group).num_rows)
        begin += len(mask)
        if pc.any(mask).as_py():
            chosen.append(group)
            masks += mask.chunks
    if chosen:
        yield file.read_row_groups(chosen, columns=columns).filter(pa.chunked_array(masks))


def row_groups_with(file: pq.ParquetFile, column: str, values: pa.Array) -> list[int]:
    """The row groups of a Parquet file that have one of these texts in a column."""
    return [
        group
        for group in _groups_that_may_have(file, column, pc.unique(values).sort())
        if pc.any(pc.is_in(file.read_row_group(group, columns=[column])[column], values)).as_py()
    ]


def _groups_that_may_have(file: pq.ParquetFile, column: str, wanted: pa.Array) -> list[int]:
    """The row groups whose lowest and highest value do not exclude all of these texts, which are in order."""
    found = []
    for group in range(file.num_row_groups):
        if limits := column_limits(file, group, column):
            lowest, highest = limits
            first = bisect_left(range(len(wanted)), lowest, key=lambda place: wanted[place].as_py().encode())
            if first == len(wanted) or wanted[first].as_py().encode() > highest:
                continue
        found.append(group)
    return found


def column_limits(file: pq.ParquetFile, group: int, column: str) -> tuple[bytes, bytes] | None:
    """The lowest and the highest text of a column in a row group; None if the file does not say."""
    limits = file.metadata.row_group(group).column(_column_number(file.metadata, column)).statistics
    return (limits.min.encode(), limits.max.encode()) if limits is not None and limits.has_min_max else None


def _column_number(metadata: pq.FileMetaData, path: str) -> int:
    """The number of a column by its path."""
    schema = metadata.schema
    return next(number for number in range(len(schema)) if schema.column(number).path == path)
