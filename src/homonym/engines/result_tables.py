"""TODO."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.clustering.agglomerative import Clustering, round_table
from homonym.schema import AUTHORS, ROUNDS


def trace_table(block_names: pa.ChunkedArray, first_block: int, answer: Clustering) -> pa.Table:
    """The rounds of one batch of blocks, in schema.ROUNDS."""
    columns = round_table(answer)
    names = block_names.take(pa.array(columns["block"].astype(np.int64) + first_block))
    return pa.table({**columns, "block": names}).select(ROUNDS.names).cast(ROUNDS)


def author_numbers(block_start: NDArray[np.int64], label: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number the authors of each block from 1, the one with most mentions first, equals by first mention.

    >>> author_numbers(np.array([0, 3, 4]), np.array([0, 1, 1, 0], np.int32)).tolist()
    [2, 1, 1, 1]
    """
    block = np.repeat(np.arange(len(block_start) - 1), np.diff(block_start))
    cluster = block_start[block] + label  # labels are smaller than the block, so this is unique
    size = np.bincount(cluster, minlength=len(label))
    clusters = np.flatnonzero(size)
    block_of_cluster = block[clusters]
    order = np.lexsort((clusters, -size[clusters], block_of_cluster))
    first = np.searchsorted(block_of_cluster, block_of_cluster)
    number = np.empty(len(label), np.int64)
    number[clusters[order]] = np.arange(len(clusters)) - first + 1
    numbers: NDArray[np.int64] = number[cluster]
    return numbers


def author_batches(
    mentions_file: Path, numbers: NDArray[np.int64], found: Mapping[str, pa.Array | None]
) -> Iterator[pa.Table]:
    """The rows of schema.AUTHORS: mentions with their author ids `<block>/<number>` and what else was found."""
    columns = [name for name in AUTHORS.names if name not in {"author_id", *found}]
    done = 0
    for batch in pq.ParquetFile(mentions_file).iter_batches(columns=columns):
        number = pa.array(numbers[done : done + len(batch)]).cast(pa.string())
        rows = pa.Table.from_batches([batch])
        rows = rows.append_column("author_id", pc.binary_join_element_wise(batch["block"], number, "/"))
        for name, values in found.items():
            nothing = pa.nulls(len(batch), AUTHORS.field(name).type)
            rows = rows.append_column(name, nothing if values is None else values.slice(done, len(batch)))
        yield rows.select(AUTHORS.names).cast(AUTHORS)
        done += len(batch)
