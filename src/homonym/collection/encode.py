"""Parts to one encoded collection: features get their final numbers, bags follow each other, mentions are in order.

A part's bags are in order already, and its features are numbered in the order of the collection's: part by part,
numbers are looked up and written behind each other. Only what was not known when a part was made costs more: duplicate
records are left out, and authors of referenced documents are put in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.clustering.arrays import Frequencies
from homonym.collection import counting
from homonym.collection.bags import order_by_owner
from homonym.collection.encoded import Encoded
from homonym.collection.layout import SLOT_BITS, part_file
from homonym.runtime.thread_pool import map_in_order

if TYPE_CHECKING:
    import duckdb


Number = TypeVar("Number", bound=np.generic)
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _BagWriter:
    """Bags one after the other; feature numbers are those of the collection."""

    owner: Integers
    feature: NDArray[np.int32]
    count: NDArray[np.float64]

    def chosen(self, entries: slice | NDArray[np.bool_]) -> _BagWriter:
        return _BagWriter(self.owner[entries], self.feature[entries], self.count[entries])

    def with_others(self, others: _BagWriter) -> _BagWriter:
        """Both together; what stands in one bag twice is added up."""
        owner = np.concatenate([self.owner, others.owner])
        feature = np.concatenate([self.feature, others.feature])
        order = order_by_owner(owner, feature)
        owner, feature = owner[order], feature[order]
        first = np.flatnonzero((np.diff(owner, prepend=-1) != 0) | (np.diff(feature, prepend=-1) != 0))
        count = np.add.reduceat(np.concatenate([self.count, others.count])[order], first)
        return _BagWriter(owner[first], feature[first], count)


@dataclass(frozen=True, eq=False)
class _Additions:
    """What parts did not know: records to leave out, and bags to put in, both by owner."""

    duplicates: Integers
    referenced: _BagWriter

    def applied(self, bags: _BagWriter, first: int, following: int) -> _BagWriter:
        """The bags of a part, whose records have sequences from `first` up to `following`."""
        if len(self.duplicates):
            bags = bags.chosen(~np.isin(bags.owner >> SLOT_BITS, self.duplicates))
        low, high = np.searchsorted(self.referenced.owner, [first << SLOT_BITS, following << SLOT_BITS])
        return bags.with_others(self.referenced.chosen(slice(low, high))) if low < high else bags


def encode(
    connection: duckdb.DuckDBPyConnection, frequencies: Frequencies, work: Path, threads: int = 1
) -> Encoded:  # fmt: skip
    """Number all bags and order all mentions, streaming both to disk."""
    mentions_file, identifiers_file = work / "mentions.parquet", work / "identifiers.parquet"
    counting.write_ordered_mentions(connection, mentions_file)
    counting.write_identifiers(connection, identifiers_file)
    owners, starts = _store_bags(connection, work, threads)
    mentions = pq.read_table(mentions_file, columns=["owner", "own_name", "block"])
    return Encoded(
        frequencies=frequencies,
        mentions_file=mentions_file,
        identifiers_file=identifiers_file,
        block_start=_block_starts(mentions["block"]),
        mention_owner=mentions["owner"].to_numpy(),
        own_name=mentions["own_name"].to_numpy(),
        owners=owners,
        starts=starts,
        feature=_mapped(work / "feature.bin", np.int32),
        count=_mapped(work / "count.bin", np.float64),
    )


def _block_starts(block: pa.ChunkedArray) -> Integers:
    starts, first, previous = [np.zeros(0, np.int64)], 0, None
    for chunk in block.chunks:
        if not len(chunk):
            continue
        run_ends = pc.run_end_encode(chunk, run_end_type=pa.int64()).run_ends.to_numpy()
        new = np.concatenate([[0], run_ends[:-1]]) + first
        starts.append(new[1:] if previous is not None and chunk[0] == previous else new)
        first, previous = first + len(chunk), chunk[len(chunk) - 1]
    return np.concatenate([*starts, [first]]).astype(np.int64)


def _store_bags(connection: duckdb.DuckDBPyConnection, work: Path, threads: int) -> tuple[Integers, Integers]:
    """Write the features and counts of all bags; gives their owners and where each one's begin."""
    additions = _additions(connection)

    def numbered(part: tuple[int, int, NDArray[np.int32]]) -> _BagWriter:
        first, following, number = part
        return additions.applied(_read_part(work, first, number), first, following)

    owners, starts, stored = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    with (work / "feature.bin").open("wb") as features, (work / "count.bin").open("wb") as counts:
        for _, bags in map_in_order(numbered, _numbered_parts(connection, work), threads):
            begin = np.flatnonzero(np.diff(bags.owner, prepend=-1))
            owners.append(bags.owner[begin])
            starts.append(begin + stored)
            stored += len(bags.owner)
            bags.feature.tofile(features)
            bags.count.tofile(counts)
    return np.concatenate(owners), np.concatenate([*starts, [stored]]).astype(np.int64)


def _additions(connection: duckdb.DuckDBPyConnection) -> _Additions:
    duplicates = connection.execute("SELECT sequence FROM duplicates").fetchnumpy()["sequence"]
    referenced = counting.referenced_bags(connection)
    owner, number, count = (referenced[name].to_numpy() for name in ("owner", "number", "count"))
    return _Additions(np.asarray(duplicates, np.int64), _BagWriter(owner, number.astype(np.int32), count))


def _read_part(work: Path, part: int, number: NDArray[np.int32]) -> _BagWriter:
    path = part_file(work, "bags", part)
    if not path.exists():
        return _BagWriter(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0))
    table = pq.read_table(path, columns=["owner", "feature", "count"], use_threads=False)
    return _BagWriter(table["owner"].to_numpy(), number[table["feature"].to_numpy()], table["count"].to_numpy())


def _numbered_parts(
    connection: duckdb.DuckDBPyConnection, work: Path
) -> Iterator[tuple[int, int, NDArray[np.int32]]]:  # fmt: skip
    """For each part its sequence, that of the next, and the numbers of its features in the collection.

    Every part is there, also one without a feature: documents that it holds may have some through their references.
    """
    parts = sorted(int(path.stem) for path in (work / "records").iterdir())
    following = dict(zip(parts, [*parts[1:], 1 << 42], strict=True))
    pending = iter(parts)
    for part, number in _by_part(counting.renumbered_features(connection)):
        for other in pending:
            yield other, following[other], number if other == part else np.zeros(0, np.int32)
            if other == part:
                break
    for other in pending:
        yield other, following[other], np.zeros(0, np.int32)


def _by_part(rows: pa.RecordBatchReader) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Rows that are ordered by part, put together part by part."""
    gathered: list[NDArray[np.int32]] = []
    current = -1
    for batch in rows:
        part, number = batch.column("part").to_numpy(), batch.column("number").to_numpy()
        begin = np.flatnonzero(np.diff(part, prepend=-1))
        for first, last in zip(begin, [*begin[1:], len(part)], strict=True):
            if part[first] != current and gathered:
                yield current, np.concatenate(gathered)
                gathered = []
            current = int(part[first])
            gathered.append(number[first:last])
    if gathered:
        yield current, np.concatenate(gathered)


def _mapped(path: Path, dtype: type[Number]) -> NDArray[Number]:
    # An empty file cannot be mapped.
    return np.memmap(path, dtype, "r") if path.stat().st_size else np.empty(0, dtype)
