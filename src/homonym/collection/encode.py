"""Parts to one encoded collection: features get their final numbers, and all bags and mentions their final order.

The bags of a part are in order already, and its features are numbered in the same order as those of the collection. So
parts are renumbered and appended one by one. Only corrections cost more: duplicate records are removed, and authors of
referenced documents are added.
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
class _OwnedBags:
    """Entries of bags by owner; features have their numbers in the collection."""

    owner: Integers
    feature: NDArray[np.int32]
    count: NDArray[np.float64]

    def selected(self, entries: slice | NDArray[np.bool_]) -> _OwnedBags:
        return _OwnedBags(self.owner[entries], self.feature[entries], self.count[entries])

    def merged_with(self, others: _OwnedBags) -> _OwnedBags:
        """Both together; counts of one feature in one bag are added up."""
        owner = np.concatenate([self.owner, others.owner])
        feature = np.concatenate([self.feature, others.feature])
        order = order_by_owner(owner, feature)
        owner, feature = owner[order], feature[order]
        first = np.flatnonzero((np.diff(owner, prepend=-1) != 0) | (np.diff(feature, prepend=-1) != 0))
        count = np.add.reduceat(np.concatenate([self.count, others.count])[order], first)
        return _OwnedBags(owner[first], feature[first], count)


@dataclass(frozen=True, eq=False)
class _Corrections:
    """What is known only of the whole collection: duplicate records to remove, and bags to add."""

    duplicates: Integers
    referenced: _OwnedBags

    def applied(self, bags: _OwnedBags, first: int, following: int) -> _OwnedBags:
        """The corrected bags of a part, whose records have sequences from `first` to below `following`."""
        if len(self.duplicates):
            bags = bags.selected(~np.isin(bags.owner >> SLOT_BITS, self.duplicates))
        low, high = np.searchsorted(self.referenced.owner, [first << SLOT_BITS, following << SLOT_BITS])
        return bags.merged_with(self.referenced.selected(slice(low, high))) if low < high else bags


def encode(
    connection: duckdb.DuckDBPyConnection, frequencies: Frequencies, work: Path, threads: int = 1
) -> Encoded:  # fmt: skip
    """Renumber all bags and order all mentions; both are streamed to disk."""
    mentions_file, identifiers_file = work / "mentions.parquet", work / "identifiers.parquet"
    counting.write_ordered_mentions(connection, mentions_file)
    counting.write_identifiers(connection, identifiers_file)
    owners, starts = _write_bags(connection, work, threads)
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


def _write_bags(connection: duckdb.DuckDBPyConnection, work: Path, threads: int) -> tuple[Integers, Integers]:
    """Write the features and counts of all bags; returns their owners and the start of each owner's bag."""
    corrections = _corrections(connection)

    def numbered(part: tuple[int, int, NDArray[np.int32]]) -> _OwnedBags:
        first, following, number = part
        return corrections.applied(_read_part(work, first, number), first, following)

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


def _corrections(connection: duckdb.DuckDBPyConnection) -> _Corrections:
    duplicates = connection.execute("SELECT sequence FROM duplicates").fetchnumpy()["sequence"]
    referenced = counting.referenced_bags(connection)
    owner, number, count = (referenced[name].to_numpy() for name in ("owner", "number", "count"))
    return _Corrections(np.asarray(duplicates, np.int64), _OwnedBags(owner, number.astype(np.int32), count))


def _read_part(work: Path, part: int, number: NDArray[np.int32]) -> _OwnedBags:
    path = part_file(work, "bags", part)
    if not path.exists():
        return _OwnedBags(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0))
    table = pq.read_table(path, columns=["owner", "feature", "count"], use_threads=False)
    return _OwnedBags(table["owner"].to_numpy(), number[table["feature"].to_numpy()], table["count"].to_numpy())


def _numbered_parts(
    connection: duckdb.DuckDBPyConnection, work: Path
) -> Iterator[tuple[int, int, NDArray[np.int32]]]:  # fmt: skip
    """For each part its sequence, that of the next part, and the numbers of its features in the collection.

    Parts without features are included, because their documents may get features from references.
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
    """Group rows that are ordered by part."""
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
