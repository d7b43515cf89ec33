"""Output files of `convert` and `extract`: documents as JSON lines, and mentions with bags as JSON lines or Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from homonym.collection.encoded import Encoded
from homonym.collection.layout import CONVERTED, part_files
from homonym.errors import OutputError
from homonym.io.outputs import open_atomic
from homonym.runtime.progress import Advance
from homonym.schema import MENTIONS

if TYPE_CHECKING:
    import duckdb


DOCUMENT_SUFFIXES = (".jsonl", ".jsonl.gz")


def require_documents_path(path: Path) -> None:
    """Raise OutputError if the suffix is not that of documents."""
    if not path.name.endswith(DOCUMENT_SUFFIXES):
        raise OutputError(
            f"{path}: documents are written as {' or '.join(DOCUMENT_SUFFIXES)}; choose one of these suffixes."
        )


def write_converted(connection: duckdb.DuckDBPyConnection, work: Path, path: Path, advance: Advance) -> None:
    """Write the converted documents in the order of the input, without duplicates."""
    with open_atomic(path) as stream:
        for part in part_files(work, CONVERTED):
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


MENTION_SUFFIXES = (".jsonl", ".jsonl.gz", ".parquet")
WRITTEN_MENTIONS = 10_000


def require_mentions_path(path: Path) -> None:
    """Raise OutputError if the suffix is not that of mentions."""
    if not path.name.endswith(MENTION_SUFFIXES):
        raise OutputError(
            f"{path}: mentions are written as {', '.join(MENTION_SUFFIXES)}; choose one of these suffixes."
        )


def write_mentions_file(encoded: Encoded, vocabulary: Path, path: Path, advance: Advance) -> None:
    """Write all mentions with their bags in the order of the result; `vocabulary` has the names of the features."""
    with open_atomic(path) as stream:
        if path.suffix == ".parquet":
            with pq.ParquetWriter(stream, MENTIONS, compression="zstd") as parquet:
                for rows in _rows(encoded, vocabulary, advance):
                    for row in rows:
                        row["features"] = _bag_list(row["features"])
                        row["ids"] = [{"kind": kind, "id": value} for kind, value in row["ids"].items()] or None
                    parquet.write_table(pa.Table.from_pylist(rows, MENTIONS))
        else:
            for rows in _rows(encoded, vocabulary, advance):
                stream.writelines(orjson.dumps(_json_row(row)) + b"\n" for row in rows)


def _rows(encoded: Encoded, vocabulary: Path, advance: Advance) -> Iterator[list[dict[str, Any]]]:
    words = pq.read_table(vocabulary, columns=["feature"])["feature"].combine_chunks()
    types, type_start = encoded.frequencies.types, encoded.frequencies.type_start
    kept = np.ones(len(types), bool)
    columns = [name for name in MENTIONS.names if name not in {"ids", "features"}]
    identifiers = encoded.identifiers()
    places = identifiers["place"].to_numpy()
    done = 0
    for batch in pq.ParquetFile(encoded.mentions_file).iter_batches(WRITTEN_MENTIONS, columns=columns):
        bag_start, feature, count = encoded.gather_mentions(slice(done, done + len(batch)), kept)
        names = words.take(pa.array(feature)).to_pylist()
        kinds = (np.searchsorted(type_start, feature, side="right") - 1).tolist()
        counts = count.tolist()
        rows = batch.to_pylist()
        for row, first, last in zip(rows, bag_start[:-1].tolist(), bag_start[1:].tolist(), strict=True):
            bags: dict[str, dict[str, float]] = {}
            for k in range(first, last):
                bags.setdefault(types[kinds[k]], {})[names[k]] = counts[k]
            row["ids"], row["features"] = {}, bags
        first, last = np.searchsorted(places, [done, done + len(batch)])
        for found in identifiers.slice(first, last - first).to_pylist():
            rows[found["place"] - done]["ids"][found["kind"]] = found["id"]
        yield rows
        done += len(batch)
        advance(len(batch))


def _bag_list(bags: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    return [
        {"type": kind, "feature": feature, "count": count}
        for kind, bag in bags.items()
        for feature, count in bag.items()
    ]


def _json_row(row: dict[str, Any]) -> dict[str, Any]:
    """The row without null values, with whole counts as integers."""
    row["features"] = {
        kind: {feature: int(count) if count.is_integer() else count for feature, count in bag.items()}
        for kind, bag in row["features"].items()
    }
    row["ids"] = row["ids"] or None
    return {name: value for name, value in row.items() if value is not None}
