"""Results: labels to author ids, and tables to files of the format that their suffix names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from homonym.errors import OutputError
from homonym.io.outputs import open_atomic, require_writable

#: Rows that a Parquet file holds together, whoever writes it and however.
ROW_GROUP = 1 << 16

TABLE_SUFFIXES = (".parquet", ".csv", ".csv.gz", ".jsonl", ".jsonl.gz")


def require_table_path(path: Path) -> None:
    """Fail before any work is done if a table could not be written there."""
    if not path.name.endswith(TABLE_SUFFIXES):
        raise OutputError(f"{path}: the suffix chooses the format; use one of {', '.join(TABLE_SUFFIXES)}.")
    require_writable(path)


def write_table(path: Path, schema: pa.Schema, batches: Iterable[pa.Table]) -> None:
    """Write batches of one schema as a whole file, in the format of its suffix."""
    with open_atomic(path) as stream:
        if path.suffix == ".parquet":
            with pq.ParquetWriter(stream, schema, compression="zstd") as parquet:
                for batch in even(batches, ROW_GROUP):
                    parquet.write_table(batch)
        elif path.name.endswith((".csv", ".csv.gz")):
            with pyarrow.csv.CSVWriter(stream, schema) as csv:
                for batch in batches:
                    csv.write_table(batch)
        else:
            for batch in batches:
                stream.writelines(orjson.dumps(row) + b"\n" for row in batch.to_pylist())


def even(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The same rows in tables of so many, but for the last: how they came must not show in a file.

    >>> [len(table) for table in even([pa.table({"x": range(3)}), pa.table({"x": range(4)})], 5)]
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
