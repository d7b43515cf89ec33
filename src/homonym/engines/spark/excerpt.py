"""Some blocks of a collection as a small collection of their own, which all functions for a whole one work on.

Features are numbered anew, in the same order, so that every sum is made in the same order as in the whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.clustering.arrays import Frequencies, starts
from homonym.collection import counting
from homonym.collection.encoded import Encoded
from homonym.collection.layout import IDENTIFIER_ROWS, MENTION_ROWS, SLOT_BITS
from homonym.constraints.evidence import UserPairs
from homonym.engines.spark.spark_counting import Types

Number = TypeVar("Number", bound=np.generic)

ORDER = ("block_number", "document_id", "position", "mention_id")
"""The order of the result."""


@dataclass(frozen=True)
class BlockPairs:
    """A user's statements about mentions of one block, by the block's number; `given` says that there was a file."""

    given: bool = False
    by_block: Mapping[int, list[tuple[str, str, bool]]] = field(default_factory=dict)

    def among(self, blocks: NDArray[np.int64]) -> UserPairs | None:
        """The statements about mentions of some blocks; None where nobody made any at all."""
        if not self.given:
            return None
        rows = [row for block in blocks.tolist() for row in self.by_block.get(block, ())]
        return UserPairs(tuple(a for a, _, _ in rows), tuple(b for _, b, _ in rows), tuple(same for *_, same in rows))


def excerpt(rows: pa.Table, types: Types, folder: Path) -> Encoded:
    """A collection of whole blocks from rows of ENCODED, in the order of the result; its files are in a folder."""
    rows = rows.combine_chunks()
    number, total = _values(rows, "feature", np.int64), _values(rows, "total", np.float64)
    features, first, feature = np.unique(number, return_index=True, return_inverse=True)
    own_name = _places(features, rows["own_name"].to_numpy())
    mention_owner = np.arange(1, len(rows) + 1) << SLOT_BITS | 1
    _write_mentions(rows, mention_owner, own_name, folder / "mentions.parquet")
    _write_identifiers(rows["identifiers"], mention_owner, folder / "identifiers.parquet")
    lengths, shared = _lengths(rows["feature"]), rows["shared"].to_numpy().astype(np.int64)
    return Encoded(
        frequencies=Frequencies(
            types=types.names,
            type_start=np.append(np.searchsorted(features, types.first), len(features)).astype(np.int64),
            total=total[first],
            mass=types.mass,
            mentions=types.mentions,
        ),
        mentions_file=folder / "mentions.parquet",
        identifiers_file=folder / "identifiers.parquet",
        block_start=_block_starts(rows["block_number"].to_numpy()),
        mention_owner=mention_owner,
        own_name=own_name,
        owners=np.stack([mention_owner - 1, mention_owner], axis=1).ravel(),
        starts=starts(np.stack([shared, lengths - shared], axis=1).ravel()),
        feature=feature.astype(np.int32),
        count=_values(rows, "count", np.float64),
    )


def _values(rows: pa.Table, name: str, kind: type[Number]) -> NDArray[Number]:
    """The arrays in all cells of a column, one after the other."""
    parts = [np.empty(0, kind)]
    for chunk in rows[name].chunks:
        first, last = _offsets(chunk)[[0, -1]]
        if first < last:
            parts.append(np.frombuffer(chunk.buffers()[2], np.uint8)[first:last].view(kind))
    return np.concatenate(parts)


def _lengths(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """How many numbers there are in each cell."""
    return np.concatenate([np.empty(0, np.int64), *(np.diff(_offsets(chunk)) // 8 for chunk in column.chunks)])


def _offsets(cells: pa.Array) -> NDArray[np.int64]:
    kind = np.int64 if pa.types.is_large_binary(cells.type) else np.int32
    return np.frombuffer(cells.buffers()[1], kind)[cells.offset : cells.offset + len(cells) + 1].astype(np.int64)


def _places(features: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int32]:
    """Where some features are among sorted ones, −1 for those that are not."""
    if not len(features):
        return np.full(len(wanted), -1, np.int32)
    place = np.minimum(np.searchsorted(features, wanted), len(features) - 1)
    return np.where(features[place] == wanted, place, -1).astype(np.int32)


def _block_starts(block: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.append(np.flatnonzero(np.diff(block, prepend=-1)), len(block)).astype(np.int64)


def _write_mentions(rows: pa.Table, owner: NDArray[np.int64], own_name: NDArray[np.int32], path: Path) -> None:
    columns = {"owner": owner, "own_name": own_name, "author": pa.nulls(len(rows), pa.string())}
    named = {name: rows[name] for name in MENTION_ROWS.names if name not in columns}
    pq.write_table(pa.table(named | columns), path, compression="none")


def _write_identifiers(cells: pa.ChunkedArray, owner: NDArray[np.int64], path: Path) -> None:
    """Write identifiers as the local engine does, by the same query."""
    import duckdb

    found = [(place, *entry) for place, cell in zip(owner.tolist(), cells.to_pylist(), strict=True) if cell
             for entry in orjson.loads(cell)]  # fmt: skip
    rows = pa.table(list(zip(*found, strict=True)), schema=IDENTIFIER_ROWS) if found else IDENTIFIER_ROWS.empty_table()
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("identifiers", rows)
        connection.execute("CREATE TABLE duplicates (sequence BIGINT)")
        counting.write_identifiers(connection, path)
