"""Parquet and Arrow files to rows, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from homonym.errors import InputError
from homonym.io.inputs import STANDARD_INPUT, Source
from homonym.messages import first_line

PARQUET, ARROW = b"PAR1", b"ARROW1"

_BATCH_ROWS = 1024

_FAILURES = (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError)


def column_names(source: Source) -> tuple[str, ...] | None:
    """The names of the columns; None where the file cannot be asked, as in a pipe."""
    try:
        return tuple(_schema(source).names)
    except (InputError, *_FAILURES):
        return None


def require_column_names(source: Source) -> tuple[str, ...]:
    """The names of the columns, or what keeps the file from being read."""
    try:
        return tuple(_schema(source).names)
    except _FAILURES as broken:
        raise InputError(
            f"{source.name} cannot be read as Parquet or Arrow ({first_line(broken)}); fetch or write it again."
        ) from broken


def _schema(source: Source) -> Any:
    if _is_parquet(source):
        return pq.read_schema(_path(source))
    with pa.memory_map(_path(source)) as stream, pa.ipc.open_file(stream) as reader:
        return reader.schema


def _is_parquet(source: Source) -> bool:
    with open(_path(source), "rb") as stream:
        return stream.read(4) == PARQUET


def _path(source: Source) -> str:
    if source.path == STANDARD_INPUT or not source.path.is_file():
        raise InputError(f"{source.name}: Parquet and Arrow are read from files only; store it in one and name that.")
    with source.path.open("rb") as stream:
        if stream.read(4) not in {PARQUET, ARROW[:4]}:
            raise InputError(
                f"{source.name}: packed Parquet and Arrow files cannot be read in pieces; unpack it first."
            )
    return str(source.path)


def rows(source: Source, columns: Sequence[str]) -> Iterator[dict[str, Any] | str]:
    """Yield the rows, and instead of one that cannot be read, why."""
    batches = _parquet_batches if _is_parquet(source) else _arrow_batches
    for batch in batches(_path(source), list(columns)):
        if isinstance(batch, str):
            yield batch
            continue
        try:
            yield from batch.to_pylist()
        except _FAILURES as broken:
            yield f"{batch.num_rows} rows cannot be read ({first_line(broken)})"


def _parquet_batches(path: str, columns: list[str]) -> Iterator[Any]:
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            try:
                yield from file.iter_batches(_BATCH_ROWS, row_groups=[group], columns=columns)
            except _FAILURES as broken:
                yield f"row group {group + 1} cannot be read ({first_line(broken)})"


def _arrow_batches(path: str, columns: list[str]) -> Iterator[Any]:
    with pa.memory_map(path) as stream, pa.ipc.open_file(stream) as reader:
        for number in range(reader.num_record_batches):
            try:
                batch = reader.get_batch(number).select(columns)
                yield from (batch.slice(start, _BATCH_ROWS) for start in range(0, batch.num_rows, _BATCH_ROWS))
            except _FAILURES as broken:
                yield f"record batch {number + 1} cannot be read ({first_line(broken)})"
