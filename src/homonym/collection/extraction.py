"""Encoded bags back to words: mentions with their features, for `extract`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from homonym.collection.encoded import Encoded
from homonym.errors import OutputError
from homonym.files import open_whole
from homonym.progress import Advance
from homonym.schema import MENTIONS

SUFFIXES = (".jsonl", ".jsonl.gz", ".parquet")
BATCH_MENTIONS = 10_000


def require_mentions_path(path: Path) -> None:
    """Fail before any work is done if the suffix names no format of mentions."""
    if not path.name.endswith(SUFFIXES):
        raise OutputError(f"{path}: mentions are written as {', '.join(SUFFIXES)}; choose one of these suffixes.")


def write_mentions_file(encoded: Encoded, vocabulary: Path, path: Path, advance: Advance) -> None:
    """Write all mentions with their bags, in the order of the result."""
    with open_whole(path) as stream:
        if path.suffix == ".parquet":
            with pq.ParquetWriter(stream, MENTIONS, compression="zstd") as parquet:
                for rows in _rows(encoded, vocabulary, advance):
                    for row in rows:
                        row["features"] = _listed(row["features"])
                        row["ids"] = [{"kind": kind, "id": value} for kind, value in row["ids"].items()] or None
                    parquet.write_table(pa.Table.from_pylist(rows, MENTIONS))
        else:
            for rows in _rows(encoded, vocabulary, advance):
                stream.writelines(orjson.dumps(_present(row)) + b"\n" for row in rows)


def _rows(encoded: Encoded, vocabulary: Path, advance: Advance) -> Iterator[list[dict[str, Any]]]:
    words = pq.read_table(vocabulary, columns=["feature"])["feature"].combine_chunks()
    types, type_start = encoded.frequencies.types, encoded.frequencies.type_start
    kept = np.ones(len(types), bool)
    columns = [name for name in MENTIONS.names if name not in {"ids", "features"}]
    identifiers = encoded.identifiers()
    places = identifiers["place"].to_numpy()
    done = 0
    for batch in pq.ParquetFile(encoded.mentions_file).iter_batches(BATCH_MENTIONS, columns=columns):
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


def _listed(bags: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    return [
        {"type": kind, "feature": feature, "count": count}
        for kind, bag in bags.items()
        for feature, count in bag.items()
    ]


def _present(row: dict[str, Any]) -> dict[str, Any]:
    """The row without what it lacks, whole counts as integers."""
    row["features"] = {
        kind: {feature: int(count) if count.is_integer() else count for feature, count in bag.items()}
        for kind, bag in row["features"].items()
    }
    row["ids"] = row["ids"] or None
    return {name: value for name, value in row.items() if value is not None}
