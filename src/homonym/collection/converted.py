"""Converted parts to one file: the documents of a run in order, each once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow.parquet as pq

from homonym.collection.layout import CONVERTED
from homonym.errors import OutputError
from homonym.files import open_whole
from homonym.progress import Advance

if TYPE_CHECKING:
    import duckdb

SUFFIXES = (".jsonl", ".jsonl.gz")


def require_documents_path(path: Path) -> None:
    """Fail before any work is done if the suffix is not that of documents."""
    if not path.name.endswith(SUFFIXES):
        raise OutputError(f"{path}: documents are written as {' or '.join(SUFFIXES)}; choose one of these suffixes.")


def write_converted(connection: duckdb.DuckDBPyConnection, work: Path, path: Path, advance: Advance) -> None:
    """Write the converted documents without duplicates."""
    with open_whole(path) as stream:
        for part in sorted((work / CONVERTED).iterdir()):
            lines, records = _without_duplicates(connection, part, work)
            stream.writelines(lines)
            advance(records)


def _without_duplicates(connection: duckdb.DuckDBPyConnection, part: Path, work: Path) -> tuple[list[bytes], int]:
    records = work / "records" / part.with_suffix(".parquet").name
    sequences = pq.read_table(records, columns=["sequence"])["sequence"].to_pylist()
    dropped = {row for (row,) in _between(connection, "SELECT sequence FROM duplicates", sequences)}
    renamed = dict(_between(connection, "SELECT sequence, id FROM renamed", sequences))
    lines = []
    with part.open("rb") as stream:
        for sequence, line in zip(sequences, stream, strict=True):
            if sequence not in dropped:
                lines.append(_renamed(line, renamed[sequence]) if sequence in renamed else line)
    return lines, len(sequences)


def _between(connection: duckdb.DuckDBPyConnection, query: str, sequences: list[int]) -> Iterator[Any]:
    bounds = [sequences[0], sequences[-1]]
    yield from connection.execute(f"{query} WHERE sequence BETWEEN ? AND ?", bounds).fetchall()


def _renamed(line: bytes, name: str) -> bytes:
    return orjson.dumps({**orjson.loads(line), "id": name}) + b"\n"
