"""Some blocks of a result directory, clustered again: the same authors, and with them the merges that led there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from homonym.clustering.agglomerative import Clustering, cluster
from homonym.clustering.arrays import Bags, Constraints, Frequencies, NamePrior
from homonym.collection.author_ids import author_ids
from homonym.collection.block_reload import ReloadedBlocks, changed, reload_blocks
from homonym.collection.encoded import Encoded
from homonym.constraints.evidence import UserPairs, read_user_pairs
from homonym.constraints.found_constraints import FoundConstraints, find_constraints
from homonym.constraints.name_prior import FullNames
from homonym.io.result_directory import PAIRS
from homonym.settings import Settings


@dataclass(frozen=True, eq=False)
class ReclusteredBlocks:
    """Blocks of a result with all that their clustering depends on, and the clustering itself."""

    reloaded: ReloadedBlocks
    settings: Settings
    bags: Bags
    found: FoundConstraints | None
    constraints: Constraints | None
    names: NamePrior | None
    clustering: Clustering

    @property
    def frequencies(self) -> Frequencies:
        """The frequencies of the whole collection, of the features of these blocks."""
        return self.reloaded.encoded.frequencies


def recluster(result: Path, blocks: Iterable[str], settings: Settings, folder: Path) -> ReclusteredBlocks:
    """Cluster some blocks of a result again; fails if the authors are not those of the result."""
    reloaded = reload_blocks(result, blocks, settings, folder)
    encoded = reloaded.encoded
    number = len(encoded.block_start) - 1
    found = find_constraints(encoded, settings, _pairs_among(result, reloaded.rows["mention_id"]))
    constraints = found.of_blocks(0, number) if found else None
    names = FullNames.read(encoded).prior(settings.trust_in_names)
    used = np.array(settings.weights_for(encoded.frequencies.types)) > 0
    bags = encoded.gather(0, number, used)
    clustering = cluster(
        bags, encoded.frequencies, settings, constraints=constraints, names=names, giant=encoded.giant_blocks()
    )
    _require_same_authors(result, encoded, clustering, reloaded.rows)
    return ReclusteredBlocks(reloaded, settings, bags, found, constraints, names, clustering)


def _pairs_among(result: Path, mention_ids: pa.ChunkedArray) -> UserPairs | None:
    """The user's pairs of which both mentions are among these; None if the user gave no pairs."""
    path = result / PAIRS
    if not path.exists():
        return None
    pairs, known = read_user_pairs(path), set(mention_ids.to_pylist())
    rows = zip(pairs.a, pairs.b, pairs.same, strict=True)
    chosen = [row for row in rows if row[0] in known and row[1] in known]
    return UserPairs(tuple(a for a, _, _ in chosen), tuple(b for _, b, _ in chosen), tuple(same for *_, same in chosen))


def _require_same_authors(result: Path, encoded: Encoded, clustering: Clustering, rows: pa.Table) -> None:
    ids = author_ids(encoded, clustering.label).of(rows["block"].combine_chunks(), 0)
    if not rows["author_id"].combine_chunks().equals(ids):
        raise changed(result, "clustering this name again gives other authors than its table of mentions has")
