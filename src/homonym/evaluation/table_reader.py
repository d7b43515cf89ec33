"""Tables of any format as batches of strings: Parquet, CSV with any separator, JSON lines, told apart by content.

Everything streams: a file may be larger than memory.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from homonym.errors import InputError
from homonym.io.inputs import Source, read_lines
from homonym.messages import first_line
from homonym.records.formats.documents import document_object, load_object
from homonym.records.model import BrokenRecordError
from homonym.records.reader import read_documents
from homonym.records.registry import detect_format

Format = Literal["parquet", "csv", "jsonl"]
OnBroken = Callable[[int | None, str], None]
"""Called for each line that cannot be used, with its number where it is known, and why."""

ROWS_PER_BATCH = 1 << 20


def format_of(path: Path) -> Format:
    """Tell Parquet, CSV (any of tab, comma, semicolon) and JSON lines apart by what the file begins with."""
    if is_export(path):
        return "jsonl"
    with path.open("rb") as stream:
        if stream.read(4) == b"PAR1":
            return "parquet"
    start = [line.text for line in islice(read_lines(path), 100)]
    if start and "mention_id" in _header(start[0])[0]:
        return "csv"
    if any(text.lstrip().startswith(b"{") for text in start):
        return "jsonl"
    return "csv"


def is_export(path: Path) -> bool:
    """Whether a file holds documents in another format than homonym's own."""
    with Source(path) as source:
        form = detect_format(source)
    return form is not None and form.name != "documents"


def columns_of(path: Path) -> list[str]:
    """Name the columns of a Parquet or CSV file."""
    if format_of(path) == "parquet":
        with _readable(path):
            return list(_parquet(path).schema_arrow.names)
    return _csv_header(path)[0]


def column_batches(path: Path, columns: Sequence[str], on_broken: OnBroken | None) -> Iterator[pa.RecordBatch]:
    """Yield columns of a Parquet or CSV file as strings, in batches; without `on_broken` a broken row is an error.

    A column of lists stays one.
    """
    with _readable(path):
        for batch in _raw_batches(path, columns, on_broken):
            yield pa.RecordBatch.from_arrays([_as_strings(batch[column]) for column in columns], names=list(columns))


def json_rows(path: Path, on_broken: OnBroken) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the JSON objects of a file with their line numbers; documents of other formats as if they were such."""
    if is_export(path):
        yield from _exported(path, on_broken)
        return
    for line in read_lines(path):
        try:
            row = load_object(line.text)
        except BrokenRecordError as broken:
            on_broken(line.number, str(broken))
        else:
            yield line.number, row


def _exported(path: Path, on_broken: OnBroken) -> Iterator[tuple[int, dict[str, Any]]]:
    for raw, document, problems in read_documents(path):
        for problem in problems:
            if problem.lost == "record":
                on_broken(problem.line, problem.reason)
        if document:
            yield raw.number, document_object(document)


def batches_of(rows: Iterable[tuple[str, ...]], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Pack rows of strings into batches.

    >>> [batch.to_pydict() for batch in batches_of([("a", "b"), ("c", "d")], ["x", "y"])]
    [{'x': ['a', 'c'], 'y': ['b', 'd']}]
    """
    schema, remaining = pa.schema([(column, pa.string()) for column in columns]), iter(rows)
    while batch := list(islice(remaining, ROWS_PER_BATCH)):
        yield pa.RecordBatch.from_arrays([pa.array(column) for column in zip(*batch, strict=True)], schema=schema)


def as_text(value: object) -> str | None:
    """Give an id or label as a string: numbers are written out, null and the empty string are none.

    >>> as_text(17), as_text("a"), as_text(""), as_text(None)
    ('17', 'a', None, None)
    """
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"an id or label is a string or a number; got {value!r}")


def filled(column: pa.Array) -> pa.Array:
    """Say which strings are neither null nor empty.

    >>> filled(pa.array(["a", "", None])).to_pylist()
    [True, False, False]
    """
    return pc.fill_null(pc.not_equal(column, ""), False)


def _as_strings(column: pa.Array) -> pa.Array:
    # Integers are as good an id as strings; everything after this compares strings.
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return column.cast(pa.list_(pa.string()))
    return column.cast(pa.string())


def _raw_batches(path: Path, columns: Sequence[str], on_broken: OnBroken | None) -> Iterator[pa.RecordBatch]:
    if format_of(path) == "parquet":
        yield from _parquet(path).iter_batches(ROWS_PER_BATCH, columns=list(columns))
        return
    from pyarrow import csv as arrow_csv

    def skip(row: Any) -> str:
        assert on_broken is not None
        on_broken(row.number, f"{row.expected_columns} columns were expected, {row.actual_columns} came")
        return "skip"

    _, separator = _csv_header(path)
    handler = skip if on_broken else None
    yield from arrow_csv.open_csv(
        _opened(path),
        arrow_csv.ReadOptions(block_size=1 << 26, use_threads=False),
        arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True, invalid_row_handler=handler),
        arrow_csv.ConvertOptions(include_columns=columns, column_types=dict.fromkeys(columns, pa.string())),
    )


def _opened(path: Path) -> Any:
    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    return pa.input_stream(str(path), compression="gzip" if packed else None)


def _parquet(path: Path) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(path)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as broken:
        raise InputError(
            f"{path} cannot be read: {first_line(broken)}; check that the file is whole and UTF-8."
        ) from broken


def _csv_header(path: Path) -> tuple[list[str], str]:
    for line in read_lines(path):
        return _header(line.text)
    raise InputError(f"{path} holds nothing but blank lines; check how it was made.")


def _header(line: bytes) -> tuple[list[str], str]:
    """Split a header line at its most frequent separator; give the columns and the separator."""
    text = line.decode(errors="replace").strip("\r\n")
    delimiter = max("\t,;", key=text.count)
    return next(csv.reader([text], delimiter=delimiter), []), delimiter
