"""Tasks that cluster: the mentions of whole blocks come in order, rows of the result go out."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from homonym.clustering.merging import Clustering, cluster
from homonym.constraints.knowledge import Knowledge, find_knowledge
from homonym.engines.batches import BATCH_OCCURRENCES
from homonym.engines.spark.counting import Types
from homonym.engines.spark.excerpt import BlockPairs, excerpt
from homonym.engines.spark.shipping import Batches
from homonym.engines.spark.tagged import rows_of
from homonym.engines.spark.tasks_counting import whole_groups
from homonym.engines.spark.warming import warm_up
from homonym.results import author_batches, author_numbers
from homonym.schema import AUTHORS
from homonym.settings import Settings

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
    knowledge = find_knowledge(encoded, job.settings, job.pairs.among(blocks))
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
        "constraint": knowledge.words if knowledge else None,
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


def _known(knowledge: Knowledge | None) -> dict[str, Any]:
    """What constraints did, for the driver to add up."""
    if knowledge is None:
        return {}
    return {
        "counts": asdict(knowledge.counts),
        "contradictions": [(found.kind, found.block, found.mentions, found.what) for found in knowledge.contradictions],
    }
