"""Clusters blocks of a result again, and compares the clusters with the authors that the blocks have.

- With `assign`, old authors do not change. Each block is clustered twice: from scratch, as in a run, and with its
  authors as must-link groups. The bag of a cluster is the sum of the bags of its mentions, so an author can enter the
  ordinary clustering. New mentions join the author that fits both clusterings best, or form new authors (see
  `place_new_mentions`).
- With `grow`, blocks are clustered from scratch. Only authors that must stay whole enter as must-link groups. So old
  authors merge and are divided as a run on all documents would do it, with the frequencies and limit of the epoch.

Why from scratch: authors that were found with few papers and the frequencies of a small collection may be two people.
If all new mentions of both joined them, precision would fall with every update (docs/study.md).

Identifiers, names, documents and the user's pairs act as in a run (see constraints/known_authors.py).
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from homonym.calibration.confidence import Confidence, author_confidence
from homonym.clustering.agglomerative import Clustering, cluster
from homonym.clustering.arrays import Constraints, Floats, Integers
from homonym.collection.block_reload import DocumentBags, reload_rows
from homonym.collection.encoded import Encoded
from homonym.constraints.evidence import UserPairs
from homonym.constraints.found_constraints import FoundConstraints, find_constraints
from homonym.constraints.known_authors import (
    author_codes,
    place_new_mentions,
    with_known_authors,
)
from homonym.constraints.name_prior import FullNames
from homonym.engines.base import DECIMALS
from homonym.settings import Settings


@dataclass(frozen=True, eq=False)
class ClusteredRows:
    """Rows of the table of mentions, whole blocks in order, with their clusters.

    `cluster[x]` is the position of the first row with the same author. `counted` has the features that the statistics
    lack, with the #(f) that was used for them.
    """

    rows: pa.Table
    cluster: Integers
    constraint: pa.Array | None
    confidence: Floats | None
    author_confidence: Floats | None
    encoded: Encoded
    found: FoundConstraints | None
    counted: dict[tuple[str, str], float]

    def column(self, name: str) -> pa.Array:
        """A column of the table of mentions, computed by this clustering."""
        number = len(self.rows)
        if name == "constraint":
            return pa.nulls(number, pa.string()) if self.constraint is None else self.constraint
        values = self.confidence if name == "confidence" else self.author_confidence
        if values is None:
            return pa.nulls(number, pa.float64())
        return pa.array(values.round(DECIMALS), from_pandas=True)


@dataclass(frozen=True)
class Epoch:
    """What is frozen between two calibrations: the settings, the confidence model, and the pairs of the run."""

    settings: Settings
    confidence: Confidence | None
    pairs: UserPairs | None


def cluster_rows(
    bags: DocumentBags,
    rows: pa.Table,
    epoch: Epoch,
    work: Path,
    *,
    separate: bool,
    whole: Set[str] = frozenset(),
    threads: int = 1,
) -> ClusteredRows:
    """Cluster whole blocks, or any groups of mentions that have one value as their block.

    `rows` has the columns of schema.AUTHORS; new rows have no author_id. `bags` has the documents of all rows; files go
    to the empty directory `work`. With `separate`, old authors do not change; else only those in `whole` enter the
    clustering, as groups that may merge.
    """
    reloaded = reload_rows(bags, rows, work, complete=False)
    encoded, counted, settings = reloaded.encoded, reloaded.counted, epoch.settings
    del reloaded  # it has the bags in another form
    found = find_constraints(encoded, settings, epoch.pairs and epoch.pairs.among(rows["mention_id"].to_pylist()))
    start = encoded.block_start
    old = author_codes(rows["author_id"], start)
    run = _block_clusterer(encoded, epoch, threads)
    if not separate:
        is_whole = pc.is_in(rows["author_id"], pa.array(sorted(whole), pa.string())).to_numpy()
        old = np.where(is_whole, old, -1)
    clustering = run(with_known_authors(start, found, old), margins=epoch.confidence is not None)
    if separate:
        has_old = np.add.reduceat(old >= 0, start[:-1]) > 0
        label = run(found.of_blocks(0, len(start) - 1) if found else None, margins=False, skipped=~has_old).label
        fresh = np.where(np.repeat(has_old, np.diff(start)), label, clustering.label)
        clustering = replace(clustering, label=place_new_mentions(clustering.label, fresh, start, found, old))
    return _clustered(rows, encoded, found, clustering, epoch, counted)


def _block_clusterer(encoded: Encoded, epoch: Epoch, threads: int) -> Callable[..., Clustering]:
    """A function that clusters all blocks with some constraints."""
    settings = epoch.settings
    used = np.array(settings.weights_for(encoded.frequencies.types)) > 0
    bags = encoded.gather(0, len(encoded.block_start) - 1, used)
    names, giant = FullNames.read(encoded).prior(settings.trust_in_names), encoded.giant_blocks()

    def run(constraints: Constraints | None, *, margins: bool, skipped: NDArray[np.bool_] | None = None) -> Clustering:
        return cluster(
            bags, encoded.frequencies, settings, constraints=constraints, names=names, margins=margins, giant=giant,
            skipped=skipped, threads=threads,
        )  # fmt: skip

    return run


def _clustered(
    rows: pa.Table,
    encoded: Encoded,
    found: FoundConstraints | None,
    clustering: Clustering,
    epoch: Epoch,
    counted: dict[tuple[str, str], float],
) -> ClusteredRows:
    confidence = epoch.confidence.of(clustering) if epoch.confidence else None
    start = encoded.block_start
    author = np.repeat(start[:-1], np.diff(start)) + clustering.label
    _, first, inverse = np.unique(author, return_index=True, return_inverse=True)
    return ClusteredRows(
        rows,
        first[inverse],
        found.column if found else None,
        confidence,
        None if confidence is None else author_confidence(start, clustering.label, confidence),
        encoded,
        found,
        counted,
    )
