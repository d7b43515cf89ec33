"""Tasks that cluster: encoded mentions of whole blocks in, rows of the result out."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.calibration.confidence import Confidence
from homonym.clustering.agglomerative import GIANT_BLOCK, cluster
from homonym.clustering.arrays import Bags, Constraints, Frequencies, starts
from homonym.collection import counting
from homonym.collection.encoded import Encoded
from homonym.collection.layout import IDENTIFIER_ROWS, MENTION_ROWS, PLACED_IDENTIFIERS, SLOT_BITS
from homonym.constraints.evidence import UserPairs
from homonym.constraints.found_constraints import FoundConstraints, find_constraints
from homonym.constraints.name_prior import FullNames
from homonym.engines.base import MORE, AuthorRows, sum_of_known
from homonym.engines.local import BATCH_OCCURRENCES
from homonym.engines.spark.part_tables import rows_of
from homonym.engines.spark.session import Batches
from homonym.engines.spark.spark_counting import FeatureTypes, whole_groups
from homonym.settings import Settings


@cache
def warm_up() -> None:
    """Compile the kernel once on each machine; other processes wait until it is done."""
    try:
        import fcntl

        marker = _marker()
    except (ImportError, OSError):
        return  # then each process compiles the kernel itself
    with marker:
        fcntl.flock(marker, fcntl.LOCK_EX)
        marker.seek(0)
        if not marker.read(1):
            _cluster_example()
            marker.write(b"compiled\n")


def _marker() -> IO[bytes]:
    """The file that marks this source as compiled on this machine, for this user and this Python.

    Other users can guess its name: an OSError if it is a link or anything else but a file of this user.
    """
    source = getattr(sys, "homonym_source", "")[:16]
    name = f"homonym-compiled-{os.geteuid()}-{source}-{sys.version_info.major}{sys.version_info.minor}"
    path = Path(tempfile.gettempdir(), name)
    opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    found = os.fstat(opened)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_nlink != 1:
        os.close(opened)
        raise OSError(f"{path} is not a file of this user")
    return os.fdopen(opened, "a+b")


def _cluster_example() -> None:
    """Cluster two mentions that share a feature, without and with a cannot-link: this compiles what tasks call."""
    bags = Bags(np.array([0, 2]), np.array([0, 1, 2]), np.zeros(2, np.int32), np.ones(2))
    frequencies = Frequencies(("term",), np.array([0, 1]), np.array([2.0]), np.array([2.0]), 2)
    group, profile, cannot_link = (np.array(values, np.int32) for values in ([0, 1], [0, 1], [1, 0]))
    for constraints in (None, Constraints(group, profile, np.array([0, 1, 2]), cannot_link)):
        cluster(bags, frequencies, Settings(), constraints=constraints, margins=True)


PLACED = pa.schema([("place", pa.int64()), *(field.with_nullable(True) for field in MORE)])
# Rows of the result with their places in it; the identifiers of mentions; a note on each batch of blocks, as JSON.
FOUND = {
    "authors": PLACED,
    "mention_ids": PLACED_IDENTIFIERS,
    "notes": pa.schema([("place", pa.int64()), ("note", pa.string())]),
}


@dataclass(frozen=True)
class ClusterJob:
    """What all tasks need; `first_places` is the place in the result of the first mention of each task."""

    types: FeatureTypes
    settings: Settings
    pairs: BlockPairs
    confidence: Confidence | None
    first_places: NDArray[np.int64]


def cluster_blocks(batches: Batches, job: ClusterJob) -> Batches:
    """Cluster the blocks of a task, many small ones at a time."""
    warm_up()
    place: int | None = None
    for rows in _batches(batches):
        if place is None:
            place = int(job.first_places[rows["task"][0].as_py()])
        with tempfile.TemporaryDirectory(prefix="homonym-") as folder:
            yield from _clustered(rows, job, place, Path(folder))
        place += len(rows)


def _batches(batches: Batches) -> Iterator[pa.Table]:
    """Rows of whole blocks, with about as many occurrences of features as one call of the kernel should get."""
    gathered: list[pa.Table] = []
    filled = 0
    for rows in whole_groups(batches, ("block_number",)):
        gathered.append(rows)
        filled += rows["feature"].nbytes // 8
        if filled >= BATCH_OCCURRENCES:
            yield pa.concat_tables(gathered)
            gathered, filled = [], 0
    if gathered:
        yield pa.concat_tables(gathered)


def _clustered(rows: pa.Table, job: ClusterJob, place: int, folder: Path) -> Batches:
    encoded = excerpt(rows, job.types, folder)
    constraints = find_constraints(encoded, job.settings, job.pairs.among(np.unique(rows["block_number"].to_numpy())))
    used = np.array(job.settings.weights_for(job.types.names)) > 0
    number = len(encoded.block_start) - 1
    clustering = cluster(
        encoded.gather(0, number, used),
        encoded.frequencies,
        job.settings,
        constraints=constraints.of_blocks(0, number) if constraints else None,
        names=FullNames.read(encoded).prior(job.settings.trust_in_names),
        margins=job.confidence is not None,
        giant=encoded.giant_blocks(),
    )
    confidence = job.confidence.of(clustering) if job.confidence else None
    authors = AuthorRows.of(encoded, clustering.label, constraints, confidence)
    done = place
    for table in authors.tables(more=True):
        placed = table.append_column("place", pa.array(np.arange(done, done + len(table))))
        yield from rows_of("authors", placed, FOUND)
        done += len(table)
    ids = encoded.identifiers()
    ids = ids.set_column(0, "place", pc.add(ids["place"], place))
    yield from rows_of("mention_ids", ids, FOUND)
    note = {
        "authors": authors.authors,
        "confidence": (0.0, 0) if confidence is None else sum_of_known(confidence),
        **_constraint_note(constraints),
    }
    row = pa.table([[place], [orjson.dumps(note).decode()]], schema=FOUND["notes"])
    yield from rows_of("notes", row, FOUND)


def _constraint_note(constraints: FoundConstraints | None) -> dict[str, Any]:
    """What constraints did, to be added up by the driver."""
    if constraints is None:
        return {}
    conflicts = [(found.kind, found.block, found.mentions, found.what) for found in constraints.conflicts]
    return {"counts": asdict(constraints.counts), "conflicts": conflicts}


# Minimum and maximum number of mentions per task: the start of a task should be cheap, and the work be shared.
MIN_MENTIONS, MAX_MENTIONS = 20_000, 100_000
# Number of tasks to aim for within these bounds.
WANTED_TASKS = 400
# A block of m mentions takes as long as m + m²/200 mentions in small blocks.
PAIRS_PER_MENTION = 200


@dataclass(frozen=True, eq=False)
class Schedule:
    """All blocks in the order of the result: their numbers and sizes, and the first block of each task."""

    number: NDArray[np.int64]
    size: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def first_numbers(self) -> NDArray[np.int64]:
        """The number of the first block of each task."""
        return self.number[self.first]

    @property
    def first_places(self) -> NDArray[np.int64]:
        """The place in the result of the first mention of each task."""
        return starts(self.size)[self.first]


def schedule(number: NDArray[np.int64], size: NDArray[np.int64]) -> Schedule:
    """Cut the blocks into tasks.

    >>> schedule(np.arange(5), np.array([1, 9_000, 1, 2, 15_000])).first.tolist()
    [0, 1, 2, 4]
    """
    work = size + size**2 // PAIRS_PER_MENTION
    wanted = min(max(int(work.sum()) // WANTED_TASKS, MIN_MENTIONS), MAX_MENTIONS)
    giant = np.flatnonzero(size > GIANT_BLOCK)
    # A giant block is a task of its own; the blocks between two of them are cut into tasks of equal work.
    cuts = np.unique(np.concatenate([[0], giant, giant + 1]))
    filled = starts(work)
    first: list[int] = []
    for begin, end in zip(cuts.tolist(), [*cuts[1:].tolist(), len(size)], strict=True):
        while begin < end:
            first.append(begin)
            full = int(np.searchsorted(filled, filled[begin] + wanted))
            begin = min(max(full, begin + 1), end)
    return Schedule(number, size, np.array(first, np.int64))


Number = TypeVar("Number", bound=np.generic)

# The order of the result.
ORDER = ("block_number", "document_id", "position", "mention_id")


@dataclass(frozen=True)
class BlockPairs:
    """The user's pairs of mentions, if there are any, and those inside blocks by the number of the block."""

    user_pairs: UserPairs | None = None
    by_block: Mapping[int, list[tuple[str, str, bool]]] = field(default_factory=dict)

    def among(self, blocks: NDArray[np.int64]) -> UserPairs | None:
        """The pairs of some blocks; None if the user has no pairs."""
        if self.user_pairs is None:
            return None
        rows = [row for block in blocks.tolist() for row in self.by_block.get(block, ())]
        return UserPairs(tuple(a for a, _, _ in rows), tuple(b for _, b, _ in rows), tuple(same for *_, same in rows))


def excerpt(rows: pa.Table, types: FeatureTypes, folder: Path) -> Encoded:
    """Whole blocks, as rows of ENCODED in the order of the result, as a small collection with files in a folder.

    Features are numbered again in the same order, so that every sum is computed in the same order as in the whole.
    """
    rows = rows.combine_chunks()
    number, total = _values(rows, "feature", np.int64), _values(rows, "total", np.float64)
    features, first, feature = np.unique(number, return_index=True, return_inverse=True)
    own_name, own_full_name = (_places(features, rows[name].to_numpy()) for name in ("own_name", "own_full_name"))
    mention_owner = np.arange(1, len(rows) + 1) << SLOT_BITS | 1
    _write_mentions(rows, mention_owner, folder / "mentions.parquet")
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
        own_full_name=own_full_name,
        owners=np.stack([mention_owner - 1, mention_owner], axis=1).ravel(),
        starts=starts(np.stack([shared, lengths - shared], axis=1).ravel()),
        feature=feature.astype(np.int32),
        count=_values(rows, "count", np.float64),
    )


def _values(rows: pa.Table, name: str, kind: type[Number]) -> NDArray[Number]:
    """The arrays in all cells of a column, concatenated."""
    parts = [np.empty(0, kind)]
    for chunk in rows[name].chunks:
        first, last = _offsets(chunk)[[0, -1]]
        if first < last:
            parts.append(np.frombuffer(chunk.buffers()[2], np.uint8)[first:last].view(kind))
    return np.concatenate(parts)


def _lengths(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """The length of the array in each cell."""
    return np.concatenate([np.empty(0, np.int64), *(np.diff(_offsets(chunk)) // 8 for chunk in column.chunks)])


def _offsets(cells: pa.Array) -> NDArray[np.int64]:
    kind = np.int64 if pa.types.is_large_binary(cells.type) else np.int32
    return np.frombuffer(cells.buffers()[1], kind)[cells.offset : cells.offset + len(cells) + 1].astype(np.int64)


def _places(features: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int32]:
    """The positions of some features among sorted ones, −1 if they are missing."""
    if not len(features):
        return np.full(len(wanted), -1, np.int32)
    place = np.minimum(np.searchsorted(features, wanted), len(features) - 1)
    return np.where(features[place] == wanted, place, -1).astype(np.int32)


def _block_starts(block: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.append(np.flatnonzero(np.diff(block, prepend=-1)), len(block)).astype(np.int64)


def _write_mentions(rows: pa.Table, owner: NDArray[np.int64], path: Path) -> None:
    columns = {"owner": owner, "author": pa.nulls(len(rows), pa.string()), "namesakes": rows["namesakes"]}
    named = {name: rows[name] for name in MENTION_ROWS.names if name not in columns}
    pq.write_table(pa.table(named | columns), path, compression="none")


def _write_identifiers(cells: pa.ChunkedArray, owner: NDArray[np.int64], path: Path) -> None:
    """Write identifiers with the query of the local engine."""
    import duckdb

    found = [(place, *entry) for place, cell in zip(owner.tolist(), cells.to_pylist(), strict=True) if cell
             for entry in orjson.loads(cell)]  # fmt: skip
    rows = pa.table(list(zip(*found, strict=True)), schema=IDENTIFIER_ROWS) if found else IDENTIFIER_ROWS.empty_table()
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("identifiers", rows)
        connection.execute("CREATE TABLE duplicates (sequence BIGINT)")
        counting.write_identifiers(connection, path)
