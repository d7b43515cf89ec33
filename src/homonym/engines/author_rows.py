"""Clusters to rows of the result: numbered authors, confidence, constraints; the same for both engines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.calibration.confidence import author_confidence
from homonym.clustering.agglomerative import Clustering, round_table
from homonym.clustering.arrays import Floats, Integers
from homonym.collection.encoded import Encoded
from homonym.constraints.found_constraints import FoundConstraints
from homonym.schema import AUTHORS, ROUNDS

# Decimals of a confidence in the result: pseudo-names do not support more.
DECIMALS = 3


@dataclass(frozen=True, eq=False)
class AuthorRows:
    """What the result says about each mention; `number` is that of its author inside its block."""

    mentions_file: Path
    number: Integers
    authors: int
    constraint: pa.Array | None
    confidence: Floats | None
    author_confidence: Floats | None

    @classmethod
    def of(
        cls,
        encoded: Encoded,
        label: NDArray[np.int32],
        constraints: FoundConstraints | None,
        confidence: Floats | None,
    ) -> AuthorRows:
        """Number the clusters of all mentions and average the confidence of each."""
        number = author_numbers(encoded.block_start, label)
        return cls(
            encoded.mentions_file,
            number,
            int(np.maximum.reduceat(number, encoded.block_start[:-1]).sum()),
            constraints.column if constraints else None,
            confidence,
            None if confidence is None else author_confidence(encoded.block_start, label, confidence),
        )

    def tables(self) -> Iterator[pa.Table]:
        """The rows of schema.AUTHORS: mentions with author ids `<block>/<number>`."""
        found = {
            "constraint": self.constraint,
            "confidence": _rounded(self.confidence),
            "author_confidence": _rounded(self.author_confidence),
        }
        columns = [name for name in AUTHORS.names if name not in {"author_id", *found}]
        done = 0
        for batch in pq.ParquetFile(self.mentions_file).iter_batches(columns=columns):
            number = pa.array(self.number[done : done + len(batch)]).cast(pa.string())
            rows = pa.Table.from_batches([batch])
            rows = rows.append_column("author_id", pc.binary_join_element_wise(batch["block"], number, "/"))
            for name, values in found.items():
                nulls = pa.nulls(len(batch), AUTHORS.field(name).type)
                rows = rows.append_column(name, nulls if values is None else values.slice(done, len(batch)))
            yield rows.select(AUTHORS.names).cast(AUTHORS)
            done += len(batch)


def _rounded(confidence: Floats | None) -> pa.Array | None:
    return None if confidence is None else pa.array(confidence.round(DECIMALS))


def author_numbers(block_start: Integers, label: NDArray[np.int32]) -> Integers:
    """Number the authors of each block from 1: most mentions first, ties by first mention.

    >>> author_numbers(np.array([0, 3, 4]), np.array([0, 1, 1, 0], np.int32)).tolist()
    [2, 1, 1, 1]
    """
    block = np.repeat(np.arange(len(block_start) - 1), np.diff(block_start))
    cluster = block_start[block] + label  # unique, because labels are smaller than the block
    size = np.bincount(cluster, minlength=len(label))
    clusters = np.flatnonzero(size)
    block_of_cluster = block[clusters]
    order = np.lexsort((clusters, -size[clusters], block_of_cluster))
    first = np.searchsorted(block_of_cluster, block_of_cluster)
    number = np.empty(len(label), np.int64)
    number[clusters[order]] = np.arange(len(clusters)) - first + 1
    numbers: Integers = number[cluster]
    return numbers


def trace_table(block_names: pa.ChunkedArray, first_block: int, clustering: Clustering) -> pa.Table:
    """The rounds of one batch of blocks, in schema.ROUNDS."""
    columns = round_table(clustering)
    names = block_names.take(pa.array(columns["block"].astype(np.int64) + first_block))
    return pa.table({**columns, "block": names}).select(ROUNDS.names).cast(ROUNDS)
