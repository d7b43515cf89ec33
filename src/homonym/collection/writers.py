"""Output files of `convert` and `extract`: documents as JSON lines, and mentions with bags as JSON lines or Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from homonym.collection.counting import name_changed_documents
from homonym.collection.document_table import new_references
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
    """Write the converted documents in the order of the input; a merged one at the place of its first copy."""
    name_changed_documents(connection)
    renames = bool(connection.execute("SELECT 1 FROM changed_names LIMIT 1").fetchone())
    copies = connection.execute("SELECT min(merged) FROM duplicates").fetchone()
    first_merged = copies[0] if copies and copies[0] is not None else 1 << 62
    parts = part_files(work, CONVERTED)
    merged = (entry for part in parts if int(part.stem) >= first_merged for entry in _lines(part, work))
    with open_atomic(path) as stream:
        for part in parts:
            if int(part.stem) < first_merged:
                lines, records = _each_document_once(connection, list(_lines(part, work)), merged)
                stream.writelines(_with_new_names(connection, lines) if renames else (line for _, line in lines))
                advance(records)


_Lines = list[tuple[int, bytes]]
"""Sequence numbers of documents, and the documents as lines."""


def _lines(part: Path, work: Path) -> Iterator[tuple[int, bytes]]:
    records = work / "records" / part.with_suffix(".parquet").name
    sequences = pq.read_table(records, columns=["sequence"])["sequence"].to_pylist()
    with part.open("rb") as stream:
        yield from zip(sequences, stream, strict=True)


def _each_document_once(
    connection: duckdb.DuckDBPyConnection, lines: _Lines, merged: Iterator[tuple[int, bytes]]
) -> tuple[_Lines, int]:
    """The lines of a part without copies; the next merged document replaces the first copy of a document."""
    first_of = dict(_between(connection, "SELECT sequence, first FROM duplicates", lines))
    kept = []
    for sequence, line in lines:
        if sequence not in first_of:
            kept.append((sequence, line))
        elif first_of[sequence] == sequence:
            kept.append(next(merged))
    return kept, len(kept)


def _with_new_names(connection: duckdb.DuckDBPyConnection, lines: _Lines) -> Iterator[bytes]:
    """The lines with the new ids of their documents, and of the documents that they refer to."""
    documents = [(sequence, orjson.loads(line), line) for sequence, line in lines]
    cited = sorted({one for _, document, _ in documents for one in document.get("references", ())})
    connection.register("cited_ids", pa.table({"id": pa.array(cited, pa.string())}))
    changed = "SELECT n.id, n.new_id FROM changed_names n JOIN cited_ids c ON c.id = n.id ORDER BY ALL"
    new_ids: dict[str, list[str]] = {}
    for old, new in connection.execute(changed).fetchall():
        new_ids.setdefault(old, []).append(new)
    connection.unregister("cited_ids")
    sequences = sorted(sequence for sequence, _, _ in documents)
    connection.register("sequences", pa.table({"sequence": pa.array(sequences, pa.int64())}))
    renamed = dict(
        connection.execute("SELECT r.sequence, r.id FROM renamed r JOIN sequences USING (sequence)").fetchall()
    )
    connection.unregister("sequences")
    for sequence, document, line in documents:
        references = document.get("references", [])
        if sequence in renamed or any(one in new_ids for one in references):
            document["id"] = renamed.get(sequence, document["id"])
            if references:
                document["references"] = new_references(references, new_ids)
            line = orjson.dumps(document) + b"\n"
        yield line


def _between(connection: duckdb.DuckDBPyConnection, query: str, lines: _Lines) -> Iterator[Any]:
    bounds = [lines[0][0], lines[-1][0]]
    yield from connection.execute(f"{query} WHERE sequence BETWEEN ? AND ?", bounds).fetchall()


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
