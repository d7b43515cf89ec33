"""Frequencies and bags as flat arrays on disk, memory-mapped: blocks are gathered from them when their turn comes."""

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

from homonym.clustering.merging import Bags, Frequencies
from homonym.collection import counting
from homonym.collection.parts import SLOT_BITS

if TYPE_CHECKING:
    import duckdb

Number = TypeVar("Number", bound=np.generic)

#: Occurrences per batch of blocks: large enough to keep a call's overhead out of sight, small enough for the cache.
BATCH_OCCURRENCES = 1_000_000


@dataclass(frozen=True)
class Encoded:
    """A collection ready for clustering.

    Mentions stand in the order of the result; `block_start` bounds their blocks. The bags of owner `owners[i]` are
    `feature[starts[i]:starts[i + 1]]` and the same of `count`.
    """

    frequencies: Frequencies
    mentions_file: Path
    identifiers_file: Path
    block_start: NDArray[np.int64]
    mention_owner: NDArray[np.int64]
    own_name: NDArray[np.int32]
    owners: NDArray[np.int64]
    starts: NDArray[np.int64]
    feature: NDArray[np.int32]
    count: NDArray[np.float64]

    def sizes(self) -> NDArray[np.int64]:
        """Number of occurrences of each mention, its own name still included."""
        shared, own = self._ranges(slice(None))
        return (shared[1] - shared[0]) + (own[1] - own[0])

    def batches(self) -> Iterator[tuple[int, int]]:
        """Ranges of blocks with about equally many occurrences."""
        filled = np.concatenate([[0], np.cumsum(self.sizes())])[self.block_start]
        first = 0
        while first < len(self.block_start) - 1:
            last = int(np.searchsorted(filled, filled[first] + BATCH_OCCURRENCES, side="right")) - 1
            last = min(max(last, first + 1), len(self.block_start) - 1)
            yield first, last
            first = last

    def block_names(self) -> pa.ChunkedArray:
        """The key of each block."""
        return pq.read_table(self.mentions_file, columns=["block"])["block"].take(pa.array(self.block_start[:-1]))

    def identifiers(self) -> pa.Table:
        """Place of the mention, kind and id of all identifiers, in the order of the mentions."""
        table = pq.read_table(self.identifiers_file)
        order = np.argsort(self.mention_owner)
        place = order[np.searchsorted(self.mention_owner, table["owner"].to_numpy(), sorter=order)]
        table = pa.table({"place": place, "kind": table["kind"], "id": table["id"]})
        return table.take(pa.array(np.argsort(place, kind="stable")))

    def gather(self, first_block: int, last_block: int, kept: NDArray[np.bool_]) -> Bags:
        """The bags of a range of blocks, feature types that are not kept left out."""
        first, last = self.block_start[first_block], self.block_start[last_block]
        block_start = self.block_start[first_block : last_block + 1] - first
        return Bags(block_start, *self.gather_mentions(slice(int(first), int(last)), kept))

    def gather_mentions(
        self, mentions: slice | NDArray[np.int64], kept: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """The bags of some mentions, one after the other: where each starts, features, counts."""
        from homonym.clustering.kernel import gather

        shared, own = self._ranges(mentions)
        own_name = self.own_name[mentions]
        room = int((shared[1] - shared[0]).sum() + (own[1] - own[0]).sum())
        bag_start = np.empty(len(own_name) + 1, np.int64)
        feature, count = np.empty(room, np.int32), np.empty(room, np.float64)
        gather(
            *shared, *own, own_name, self.frequencies.type_start, kept, self.feature, self.count,
            bag_start, feature, count,
        )  # fmt: skip
        used = int(bag_start[-1])
        return bag_start, feature[:used], count[:used]

    def _ranges(self, mentions: slice | NDArray[np.int64]) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]:
        owner = self.mention_owner[mentions]
        return self._range((owner >> SLOT_BITS) << SLOT_BITS), self._range(owner)

    def _range(self, owner: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        place = np.searchsorted(self.owners, owner)
        found = place < len(self.owners)
        found[found] = self.owners[place[found]] == owner[found]
        place[~found] = 0
        start, end = self.starts[place], self.starts[np.minimum(place + 1, len(self.starts) - 1)]
        start[~found] = end[~found] = 0
        return start, end


def encode(connection: duckdb.DuckDBPyConnection, frequencies: Frequencies, work: Path) -> Encoded:
    """Number all bags and order all mentions, streaming both to disk."""
    mentions_file, identifiers_file = work / "mentions.parquet", work / "identifiers.parquet"
    counting.write_ordered_mentions(connection, mentions_file)
    counting.write_identifiers(connection, identifiers_file)
    mentions = pq.read_table(mentions_file, columns=["owner", "own_name", "block"])
    owners, starts = _store_bags(counting.ordered_bags(connection), work)
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


def _block_starts(block: pa.ChunkedArray) -> NDArray[np.int64]:
    starts, first, previous = [np.zeros(0, np.int64)], 0, None
    for chunk in block.chunks:
        if not len(chunk):
            continue
        run_ends = pc.run_end_encode(chunk, run_end_type=pa.int64()).run_ends.to_numpy()
        new = np.concatenate([[0], run_ends[:-1]]) + first
        starts.append(new[1:] if previous is not None and chunk[0] == previous else new)
        first, previous = first + len(chunk), chunk[len(chunk) - 1]
    return np.concatenate([*starts, [first]]).astype(np.int64)


def _store_bags(batches: pa.RecordBatchReader, work: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    owners, starts, stored, previous = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0, -1
    with (work / "feature.bin").open("wb") as features, (work / "count.bin").open("wb") as counts:
        for batch in batches:
            owner = batch.column("owner").to_numpy()
            new = np.flatnonzero(np.diff(owner, prepend=previous) != 0)
            owners.append(owner[new])
            starts.append(new + stored)
            previous, stored = owner[-1] if len(owner) else previous, stored + len(owner)
            batch.column("id").to_numpy().astype(np.int32, copy=False).tofile(features)
            batch.column("count").to_numpy().astype(np.float64, copy=False).tofile(counts)
    return np.concatenate(owners), np.concatenate([*starts, [stored]]).astype(np.int64)


def _mapped(path: Path, dtype: type[Number]) -> NDArray[Number]:
    # An empty file cannot be mapped.
    return np.memmap(path, dtype, "r") if path.stat().st_size else np.empty(0, dtype)
