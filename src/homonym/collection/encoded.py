"""The encoded collection: frequencies and bags as flat arrays, memory-mapped from disk and gathered block by block."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.clustering.arrays import Bags, Frequencies
from homonym.collection.layout import SLOT_BITS


@dataclass(frozen=True)
class Encoded:
    """A collection ready for clustering.

    Mentions are in the order of the result, and `block_start` has the bounds of their blocks. The bags of owner
    `owners[i]` are `feature[starts[i]:starts[i + 1]]` with the same range of `count`.
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
        """The number of occurrences of each mention, including its own name."""
        shared, own = self._ranges(slice(None))
        return (shared[1] - shared[0]) + (own[1] - own[0])

    def block_names(self) -> pa.ChunkedArray:
        """The key of each block."""
        return pq.read_table(self.mentions_file, columns=["block"])["block"].take(pa.array(self.block_start[:-1]))

    def read(self, columns: list[str], mentions: NDArray[np.int64]) -> pa.Table:
        """Some columns of some mentions, in the given order; only one row group is in memory at a time."""
        order = np.argsort(mentions, kind="stable")
        rising, pieces, first = mentions[order], [], 0
        source = pq.ParquetFile(self.mentions_file)
        for group in range(source.num_row_groups):
            last = first + source.metadata.row_group(group).num_rows
            low, high = np.searchsorted(rising, [first, last])
            if low < high:
                pieces.append(source.read_row_group(group, columns=columns).take(pa.array(rising[low:high] - first)))
            first = last
        nothing = source.schema_arrow.empty_table().select(columns)
        return pa.concat_tables([nothing, *pieces]).take(pa.array(np.argsort(order)))

    def identifiers(self) -> pa.Table:
        """All identifiers as (place of the mention, kind, id), in the order of the mentions."""
        table = pq.read_table(self.identifiers_file)
        order = np.argsort(self.mention_owner)
        place = order[np.searchsorted(self.mention_owner, table["owner"].to_numpy(), sorter=order)]
        table = pa.table({"place": place, "kind": table["kind"], "id": table["id"]})
        return table.take(pa.array(np.argsort(place, kind="stable")))

    def gather(self, first_block: int, last_block: int, kept: NDArray[np.bool_]) -> Bags:
        """The bags of a range of blocks; `kept` marks the feature types to include."""
        first, last = self.block_start[first_block], self.block_start[last_block]
        block_start = self.block_start[first_block : last_block + 1] - first
        return Bags(block_start, *self.gather_mentions(slice(int(first), int(last)), kept))

    def gather_mentions(
        self, mentions: slice | NDArray[np.int64], kept: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """The bags of some mentions: start of each bag, features, counts; `kept` marks the feature types to include."""
        from homonym.clustering.dense.blocks import StoredBags, gather_bags

        shared, own = self._ranges(mentions)
        stored = StoredBags(*shared, *own, self.own_name[mentions])
        bag_start, feature, count = gather_bags(stored, self.feature, self.count, self.frequencies.type_start, kept)
        return bag_start, feature, count

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


Stored = dict[str, Any]
"""A value as JSON: its kind, with the value itself or the file it is in."""


def save_encoded(encoded: Encoded, work: Path) -> tuple[Stored, list[str]]:
    """Save a collection; returns what `load_encoded` needs, as JSON, and the names of its files."""
    files: list[str] = []
    return {"encoded": _saved_fields(encoded, work, "", files)}, files


def load_encoded(stored: Stored, work: Path) -> Encoded:
    """Load a collection that `save_encoded` has saved."""
    values = {name: _loaded(value, work) for name, value in stored["encoded"].items()}
    return Encoded(**values)


def _saved_fields(value: Any, work: Path, prefix: str, files: list[str]) -> Stored:
    return {field.name: _saved(getattr(value, field.name), work, prefix + field.name, files) for field in fields(value)}


def _saved(value: Any, work: Path, name: str, files: list[str]) -> Stored:
    if isinstance(value, Frequencies):
        return {"frequencies": _saved_fields(value, work, f"{name}.", files)}
    if isinstance(value, Path):
        files.append(str(value.relative_to(work)))
        return {"path": files[-1]}
    if isinstance(value, np.ndarray):
        if (mapped := _file_of(value, work)) is not None:
            files.append(mapped)
            return {"mapped": mapped, "dtype": value.dtype.str}
        files.append(f"{name}.npy")
        np.save(work / files[-1], value, allow_pickle=False)
        return {"array": files[-1]}
    if isinstance(value, tuple):
        return {"tuple": list(value)}
    return {"value": value}


def _file_of(array: NDArray[Any], work: Path) -> str | None:
    """The file that an array maps as a whole; None for an array in memory, or one that maps only a part."""
    if not isinstance(array, np.memmap) or array.filename is None or array.offset != 0 or array.ndim != 1:
        return None
    path = Path(array.filename)
    whole = array.flags.c_contiguous and path.stat().st_size == array.nbytes and path.is_relative_to(work.resolve())
    return str(path.relative_to(work.resolve())) if whole else None


def _loaded(stored: Stored, work: Path) -> Any:
    ((kind, value), *more) = stored.items()
    if kind == "frequencies":
        return Frequencies(**{name: _loaded(part, work) for name, part in value.items()})
    if kind == "path":
        return work / value
    if kind == "mapped":
        return np.memmap(work / value, np.dtype(more[0][1]), "r")
    if kind == "array":
        return np.load(work / value, allow_pickle=False)
    return tuple(value) if kind == "tuple" else value
