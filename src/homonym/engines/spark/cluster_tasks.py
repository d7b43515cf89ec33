"""Tasks that cluster: the mentions of whole blocks come in order, rows of the result go out."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from homonym.clustering.agglomerative import GIANT_BLOCK, Clustering, cluster
from homonym.clustering.arrays import Bags, Constraints, Frequencies, starts
from homonym.constraints.found_constraints import FoundConstraints, find_constraints
from homonym.engines.local import BATCH_OCCURRENCES
from homonym.engines.result_tables import author_batches, author_numbers
from homonym.engines.spark.excerpt import BlockPairs, excerpt
from homonym.engines.spark.part_tables import rows_of
from homonym.engines.spark.shipping import Batches
from homonym.engines.spark.spark_counting import Types, whole_groups
from homonym.schema import AUTHORS
from homonym.settings import Settings


@cache
def warm_up() -> None:
    """Have the kernel compiled, unless a process of this machine has done so; while one is at it, wait."""
    try:
        import fcntl

        note = _note()
    except (ImportError, OSError):
        return  # then each process compiles for itself, when its turn comes
    with note:
        fcntl.flock(note, fcntl.LOCK_EX)
        note.seek(0)
        if not note.read(1):
            _cluster_something()
            note.write(b"compiled\n")


def _note() -> IO[bytes]:
    """The file that says whether this source was compiled here; it belongs to this user and this Python."""
    source = getattr(sys, "homonym_source", "")[:16]
    name = f"homonym-compiled-{os.getuid()}-{source}-{sys.version_info.major}{sys.version_info.minor}"
    return Path(tempfile.gettempdir(), name).open("a+b")


def _cluster_something() -> None:
    """Two mentions that share a feature, as free ones and as rivals: what tasks call is compiled for that."""
    bags = Bags(np.array([0, 2]), np.array([0, 1, 2]), np.zeros(2, np.int32), np.ones(2))
    frequencies = Frequencies(("term",), np.array([0, 1]), np.array([2.0]), np.array([2.0]), 2)
    group, profile, rival = (np.array(values, np.int32) for values in ([0, 1], [0, 1], [1, 0]))
    for constraints in (None, Constraints(group, profile, np.array([0, 1, 2]), rival)):
        cluster(bags, frequencies, Settings(), constraints=constraints, margins=True)


PLACED = pa.schema([("place", pa.int64()), *(field.with_nullable(True) for field in AUTHORS)])

FOUND = {"authors": PLACED, "notes": pa.schema([("place", pa.int64()), ("note", pa.string())])}
"""Rows of the result with their places in it; and a note on each batch of blocks, as JSON."""

Judge = Callable[[Clustering], tuple[NDArray[np.float64], NDArray[np.float64]]]
"""How sure an answer is, for each mention and for its author."""


@dataclass(frozen=True)
class Tasks:
    """What all tasks know: types of features, settings, the user's pairs, how to judge, and where each task begins."""

    types: Types
    settings: Settings
    pairs: BlockPairs
    judge: Judge | None
    first_places: NDArray[np.int64]
    decimals: int


def cluster_blocks(batches: Batches, job: Tasks) -> Batches:
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
    """Rows of whole blocks, with about as many occurrences as one call of the kernel should get."""
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


def _clustered(rows: pa.Table, job: Tasks, place: int, folder: Path) -> Batches:
    encoded = excerpt(rows, job.types, folder)
    blocks = np.unique(rows["block_number"].to_numpy())
    knowledge = find_constraints(encoded, job.settings, job.pairs.among(blocks))
    kept = np.array(job.settings.weights_for(job.types.names)) > 0
    number = len(encoded.block_start) - 1
    answer = cluster(
        encoded.gather(0, number, kept),
        encoded.frequencies,
        job.settings,
        constraints=knowledge.of_blocks(0, number) if knowledge else None,
        margins=job.judge is not None,
    )
    numbers = author_numbers(encoded.block_start, answer.label)
    sure, author_sure = job.judge(answer) if job.judge else (None, None)
    columns = {
        "constraint": knowledge.column if knowledge else None,
        "confidence": None if sure is None else pa.array(sure.round(job.decimals)),
        "author_confidence": None if author_sure is None else pa.array(author_sure.round(job.decimals)),
    }
    done = place
    for table in author_batches(encoded.mentions_file, numbers, columns):
        placed = table.append_column("place", pa.array(np.arange(done, done + len(table))))
        yield from rows_of("authors", placed, FOUND)
        done += len(table)
    authors = int(np.maximum.reduceat(numbers, encoded.block_start[:-1]).sum())
    note = {"authors": authors, "sure": None if sure is None else float(sure.sum()), **_known(knowledge)}
    row = pa.table([[place], [orjson.dumps(note).decode()]], schema=FOUND["notes"])
    yield from rows_of("notes", row, FOUND)


def _known(knowledge: FoundConstraints | None) -> dict[str, Any]:
    """What constraints did, for the driver to add up."""
    if knowledge is None:
        return {}
    return {
        "counts": asdict(knowledge.counts),
        "contradictions": [(found.kind, found.block, found.mentions, found.what) for found in knowledge.conflicts],
    }


#: Mentions per task: enough to make the start of a task cheap, few enough to share the work among many machines.
FEWEST_MENTIONS, MOST_MENTIONS = 20_000, 100_000
#: Tasks that are wanted between these bounds.
WANTED_TASKS = 400
#: A block of m mentions takes as long as m + m²/this in small ones.
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
    wanted = min(max(int(work.sum()) // WANTED_TASKS, FEWEST_MENTIONS), MOST_MENTIONS)
    giant = np.flatnonzero(size > GIANT_BLOCK)
    # A giant is a task; what lies between two of them is cut where enough work has come together.
    cuts = np.unique(np.concatenate([[0], giant, giant + 1]))
    filled = starts(work)
    first: list[int] = []
    for begin, end in zip(cuts.tolist(), [*cuts[1:].tolist(), len(size)], strict=True):
        while begin < end:
            first.append(begin)
            full = int(np.searchsorted(filled, filled[begin] + wanted))
            begin = min(max(full, begin + 1), end)
    return Schedule(number, size, np.array(first, np.int64))
