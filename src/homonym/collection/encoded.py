"""The encoded collection: frequencies and bags as flat arrays, memory-mapped from disk and gathered block by block.

`encode` makes it from the tables of all parts: features get their final numbers, mentions the order of the result.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.clustering.agglomerative import are_giant, have_long_bags
from homonym.clustering.arrays import Bags, Frequencies, Integers, ranges, starts
from homonym.collection import counting
from homonym.collection.background import BackgroundUse
from homonym.collection.count_codes import CountFile
from homonym.collection.extractor import merged_entries
from homonym.collection.layout import CITED, SLOT_BITS, part_file, part_files
from homonym.runtime.thread_pool import map_in_order

if TYPE_CHECKING:
    import duckdb

    from homonym.clustering.dense.blocks import StoredBags

# Number of mentions whose bags are gathered at once.
GATHERED_MENTIONS = 100_000


@dataclass(frozen=True)
class Encoded:
    """A collection ready for clustering.

    Mentions are in the order of the result, and `block_start` has the bounds of their blocks. The bags of owner
    `owners[i]` are `feature[starts[i]:starts[i + 1]]` with the same range of `count`. If there is a table `value`,
    counts are numbers of its rows (see count_codes.py).
    """

    frequencies: Frequencies
    mentions_file: Path
    identifiers_file: Path
    block_start: NDArray[np.int64]
    mention_owner: NDArray[np.int64]
    own_name: NDArray[np.int32]
    own_full_name: NDArray[np.int32]
    owners: NDArray[np.int64]
    starts: NDArray[np.int64]
    feature: NDArray[np.int32]
    count: NDArray[Any]
    value: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def sizes(self) -> NDArray[np.int64]:
        """The number of occurrences of each mention, including its own name; 0 in blocks of one mention."""
        block_size = np.diff(self.block_start)
        return np.where(np.repeat(block_size == 1, block_size), 0, self.occurrences(slice(None)))

    def occurrences(self, mentions: slice | NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of occurrences of some mentions, including their own names."""
        shared, own = self._ranges(mentions)
        return (shared[1] - shared[0]) + (own[1] - own[0])

    def release_bags(self) -> None:
        """Give the memory of mapped bags back to the system; what is needed again is read again."""
        for array in (self.feature, self.count):
            if isinstance(array.base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
                array.base.madvise(mmap.MADV_DONTNEED)

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

    @cached_property
    def document_features(self) -> NDArray[np.int64]:
        """For each block, the number of features of the documents of its mentions."""
        (start, end), _ = self._ranges(slice(None))
        return np.add.reduceat(end - start, self.block_start[:-1]) if len(start) else start

    def giant_blocks(self) -> NDArray[np.bool_]:
        """Which blocks are clustered by the sparse kernel."""
        return are_giant(np.diff(self.block_start), self.have_long_bags)

    @cached_property
    def have_long_bags(self) -> NDArray[np.bool_]:
        """Which blocks have long bags.

        Only mentions of the loaded blocks count as authors: where some blocks are loaded, as in updates and on Spark,
        features decide alone, and a block may be clustered by another kernel than in a run on one machine.
        """
        document = self.mention_owner >> SLOT_BITS
        authors = np.bincount(document)[document]
        of_block = np.add.reduceat(authors, self.block_start[:-1]) if len(authors) else authors
        return have_long_bags(np.diff(self.block_start), self.document_features, of_block)

    def gather(
        self, first_block: int, last_block: int, kept: NDArray[np.bool_], skipped: NDArray[np.bool_] | None = None
    ) -> Bags:
        """The bags of a range of blocks for clustering; `kept` marks the feature types to include.

        A block of one mention needs no bag, and `skipped` blocks get none. So a document of thousands of authors with
        distinct names, each of which has all others as co-authors, costs nothing here.
        """
        first, last = self.block_start[first_block], self.block_start[last_block]
        block_start = self.block_start[first_block : last_block + 1] - first
        size = np.diff(block_start)
        without = size == 1 if skipped is None else (size == 1) | skipped
        return Bags(block_start, *self.gather_mentions(slice(int(first), int(last)), kept, np.repeat(without, size)))

    def gather_mentions(
        self,
        mentions: slice | NDArray[np.int64],
        kept: NDArray[np.bool_],
        without: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """The bags of some mentions: start of each bag, features, counts; `kept` marks the feature types to include.

        Mentions marked in `without` get empty bags.
        """
        from homonym.clustering.dense.blocks import StoredBags

        shared, own = self._ranges(mentions)
        if without is not None:
            for ends in (*shared, *own):
                ends[without] = 0
        # Copies, because numba compiles again for read-only slices.
        names = self.own_name[mentions].copy(), self.own_full_name[mentions].copy()
        return self._gather(StoredBags(*shared, *own, *names), kept)

    def gather_documents(self, documents: NDArray[np.int64], kept: NDArray[np.bool_]) -> Bags:
        """The bags of some documents with all their authors, as one block; documents are given by sequence."""
        from homonym.clustering.dense.blocks import StoredBags

        start, end = self._range(documents << SLOT_BITS)
        no_name = np.full(len(documents), -1, np.int32)
        stored = StoredBags(start, end, end, end, no_name, no_name)
        return Bags(np.array([0, len(documents)]), *self._gather(stored, kept))

    def features_per_document(self, documents: NDArray[np.int64]) -> NDArray[np.float64]:
        """The average number of features of each type that some documents have for all their mentions."""
        start, end = self._range(documents << SLOT_BITS)
        feature = self.feature[ranges(start, end - start)]
        found = np.searchsorted(self.frequencies.type_start, feature, side="right") - 1
        return np.bincount(found, minlength=len(self.frequencies.types)) / max(1, len(documents))

    def _gather(
        self, stored: StoredBags, kept: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        from homonym.clustering.dense.blocks import gather_bags

        start = self.frequencies.type_start
        bag_start, feature, count = gather_bags(stored, self.feature, self.count, self.value, start, kept)
        return bag_start, feature, count

    def _ranges(self, mentions: slice | NDArray[np.int64]) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]:
        document, own = self._places
        return self._range_at(document[mentions]), self._range_at(own[mentions])

    @cached_property
    def _places(self) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """For each mention the place of its document and its own place among the owners; −1 if it has no bag.

        They are looked up once, because all mentions are needed several times.
        """
        owner, number = self.mention_owner, np.int32 if len(self.owners) < 1 << 31 else np.int64
        return self._place((owner >> SLOT_BITS) << SLOT_BITS).astype(number), self._place(owner).astype(number)

    def _place(self, owner: NDArray[np.int64]) -> NDArray[np.int64]:
        if not len(self.owners):
            return np.full(len(owner), -1)
        place = np.searchsorted(self.owners, owner)
        place[self.owners[np.minimum(place, len(self.owners) - 1)] != owner] = -1
        return place

    def _range(self, owner: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self._range_at(self._place(owner))

    def _range_at(self, place: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The ranges of the bags at some places among the owners; empty for −1."""
        end = self.starts[place + 1]  # −1 is the first start, which is 0
        return np.where(place < 0, 0, self.starts[place]), end


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


Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class _OwnedBags:
    """Entries of bags by owner; features have their numbers in the collection."""

    owner: Integers
    feature: NDArray[np.int32]
    count: NDArray[np.float64]

    def selected(self, entries: slice | NDArray[np.bool_]) -> _OwnedBags:
        return _OwnedBags(self.owner[entries], self.feature[entries], self.count[entries])

    def merged_with(self, others: _OwnedBags) -> _OwnedBags:
        """Both together, by owner and feature; counts of one feature in one bag are added up."""
        own, new = ((bags.owner, bags.feature, bags.count) for bags in (self, others))
        return _OwnedBags(*merged_entries(own, new))


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
    connection: duckdb.DuckDBPyConnection,
    frequencies: Frequencies,
    work: Path,
    threads: int = 1,
    use: BackgroundUse | None = None,
    cited: Path | None = None,
) -> Encoded:
    """Renumber all bags and order all mentions; both are streamed to disk. `use` adds names of the background.

    `cited` is the file of the entries that come from the authors of referenced documents, if these are wanted.
    """
    mentions_file, identifiers_file = work / "mentions.parquet", work / "identifiers.parquet"
    counting.count_namesakes(connection, use)
    counting.write_ordered_mentions(connection, mentions_file)
    counting.write_identifiers(connection, identifiers_file)
    owners, starts, feature, count, value = _write_bags(connection, work, threads, cited)
    pa.default_memory_pool().release_unused()  # which Arrow keeps: a tenth of the memory of the later stages
    mentions = pq.read_table(mentions_file, columns=["owner", "own_name", "own_full_name", "block"])
    return Encoded(
        frequencies=frequencies,
        mentions_file=mentions_file,
        identifiers_file=identifiers_file,
        block_start=_block_starts(mentions["block"]),
        mention_owner=mentions["owner"].to_numpy(),
        own_name=mentions["own_name"].to_numpy(),
        own_full_name=mentions["own_full_name"].to_numpy(),
        owners=owners,
        starts=starts,
        feature=feature,
        count=count,
        value=value,
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


def _write_bags(
    connection: duckdb.DuckDBPyConnection, work: Path, threads: int, cited: Path | None
) -> tuple[Integers, Integers, NDArray[np.int32], NDArray[Any], NDArray[np.float64]]:
    """Write the features and counts of all bags; returns the fields of `Encoded` from `owners` on."""
    corrections = _corrections(connection)
    if cited:
        bags = corrections.referenced
        entries = pa.table([bags.owner, bags.feature, bags.count], schema=CITED)
        pq.write_table(entries, cited, compression="lz4", use_dictionary=False, write_statistics=False)

    def numbered(part: tuple[int, int, NDArray[np.int32]]) -> _OwnedBags:
        first, following, number = part
        return corrections.applied(_read_part(work, first, number), first, following)

    owners, starts, stored = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    with (work / "feature.bin").open("wb") as features, CountFile(work / "count.bin") as counts:
        for _, bags in map_in_order(numbered, _numbered_parts(connection, work), threads):
            begin = np.flatnonzero(np.diff(bags.owner, prepend=-1))
            owners.append(bags.owner[begin])
            starts.append(begin + stored)
            stored += len(bags.owner)
            bags.feature.tofile(features)
            counts.write(bags.count)
    start = np.concatenate([*starts, [stored]]).astype(np.int64)
    return np.concatenate(owners), start, _mapped(work / "feature.bin", np.int32), *counts.mapped()


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
    parts = [int(path.stem) for path in part_files(work, "records")]
    following = dict(zip(parts, [*parts[1:], 1 << 42], strict=True))
    sizes = counting.features_of_parts(connection)
    number, place = _numbers(counting.renumbered_features(connection), sizes)
    for part in parts:
        first = place.get(part, 0)
        yield part, following[part], number[first : first + sizes.get(part, 0)]


def _numbers(rows: Iterable[pa.RecordBatch], sizes: dict[int, int]) -> tuple[NDArray[np.int32], dict[int, int]]:
    """The numbers of the features of all parts, and where those of each part begin, given rows in any order.

    Each row is put into its place: sorting them in the database takes several times as long.
    """
    parts, start = np.array(list(sizes), np.int64), starts(np.array(list(sizes.values()), np.int64))
    numbers = np.full(start[-1], -1, np.int32)
    for batch in rows:
        part, feature, number = (batch.column(name).to_numpy() for name in ("part", "id", "number"))
        numbers[start[np.searchsorted(parts, part)] + feature] = number
    return numbers, dict(zip(sizes, start.tolist(), strict=False))


def _mapped(path: Path, dtype: type[Number]) -> NDArray[Number]:
    # An empty file cannot be mapped.
    return np.memmap(path, dtype, "r") if path.stat().st_size else np.empty(0, dtype)


def share_with_features(encoded: Encoded) -> dict[str, float]:
    """The share of mentions that have each feature type, as `disambiguate` would see them."""
    types, type_start = encoded.frequencies.types, encoded.frequencies.type_start
    mentions = len(encoded.mention_owner)
    having = np.zeros(len(types), np.int64)
    everything = np.ones(len(types), bool)
    for start in range(0, mentions, GATHERED_MENTIONS):
        bag_start, feature, _ = encoded.gather_mentions(slice(start, start + GATHERED_MENTIONS), everything)
        mention = np.repeat(np.arange(len(bag_start) - 1), np.diff(bag_start))
        kind = np.searchsorted(type_start, feature, side="right") - 1
        having += np.bincount(np.unique(mention * len(types) + kind) % len(types), minlength=len(types))
    return {kind: count / mentions for kind, count in zip(types, having.tolist(), strict=True)}
