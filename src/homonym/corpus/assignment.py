"""Clusters blocks of a result again, starting from the authors that they have.

The bag of a cluster is the sum of the bags of its mentions, so an old author can enter the ordinary clustering as a
must-link group. With `grow`, old authors may merge. With `assign`, they do not: if several would have merged, the
largest gets the new mentions. So new mentions join an author above the limit or form new authors, and old authors keep
all their mentions.

Identifiers, names, documents and the user's pairs act as in a run (see constraints/known_authors.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from homonym.calibration.confidence import Confidence, author_confidence
from homonym.clustering.agglomerative import Clustering, cluster
from homonym.clustering.arrays import Floats, Integers
from homonym.collection.block_reload import DocumentBags, reload_rows
from homonym.collection.encoded import Encoded
from homonym.constraints.evidence import UserPairs
from homonym.constraints.found_constraints import FoundConstraints, find_constraints
from homonym.constraints.known_authors import author_codes, with_known_authors, without_merges
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
    threads: int = 1,
) -> ClusteredRows:
    """Cluster whole blocks, or any groups of mentions that have one value as their block.

    `rows` has the columns of schema.AUTHORS; new rows have no author_id. `bags` has the documents of all rows; files go
    to the empty directory `work`. With `separate`, old authors do not merge.
    """
    reloaded = reload_rows(bags, rows, work, complete=False)
    encoded, settings = reloaded.encoded, epoch.settings
    found = find_constraints(encoded, settings, epoch.pairs and epoch.pairs.among(rows["mention_id"].to_pylist()))
    old = author_codes(rows["author_id"], encoded.block_start)
    constraints = with_known_authors(encoded.block_start, found, old)
    types = encoded.frequencies.types
    used = np.array(settings.weights_for(types)) > 0
    clustering = cluster(
        encoded.gather(0, len(encoded.block_start) - 1, used),
        encoded.frequencies,
        settings,
        constraints=constraints,
        names=FullNames.read(encoded).prior(settings.trust_in_names),
        margins=epoch.confidence is not None,
        giant=encoded.giant_blocks(),
        threads=threads,
    )
    if separate:
        clustering = replace(clustering, label=without_merges(clustering.label, encoded.block_start, found, old))
    return _clustered(rows, encoded, found, clustering, epoch, reloaded.counted)


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
