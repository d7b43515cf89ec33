"""Some blocks of a result directory, clustered again: the same authors, and with them the merges that led there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from homonym.clustering.agglomerative import Clustering, cluster
from homonym.clustering.arrays import Bags, Constraints, Frequencies, NamePrior
from homonym.collection.author_ids import author_ids
from homonym.collection.block_reload import ReloadedBlocks, changed, reload_blocks, rows_of_blocks
from homonym.collection.encoded import Encoded
from homonym.constraints.evidence import UserPairs, read_user_pairs
from homonym.constraints.found_constraints import FoundConstraints, find_constraints
from homonym.constraints.name_prior import FullNames
from homonym.io.result_directory import AUTHORS, IDS, PAIRS
from homonym.io.tables import look_up
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

    def __iter__(self) -> Iterator[ReclusteredBlock]:
        """The blocks one by one, in the order of the result."""
        rows = self.reloaded.encoded.identifiers().to_pylist()
        identifiers = {(row["place"], row["kind"]): row["id"] for row in rows}
        for number in range(len(self.bags.block_start) - 1):
            yield self._block(number, identifiers)

    def _block(self, number: int, identifiers: dict[tuple[int, str], str]) -> ReclusteredBlock:
        """One block with its own features only, so that the arrays of its scores are small."""
        begin, end = self.bags.block_start[[number, number + 1]].tolist()
        own = self.bags.select(np.arange(begin, end), np.array([end - begin]))
        used, feature = np.unique(own.feature, return_inverse=True)
        known, reloaded = self.reloaded.encoded.frequencies, self.reloaded
        return ReclusteredBlock(
            number=number,
            begin=begin,
            settings=self.settings,
            bags=replace(own, feature=feature.astype(np.int32)),
            frequencies=replace(
                known, type_start=np.searchsorted(used, known.type_start).astype(np.int64), total=known.total[used]
            ),
            names=self.names.of(slice(begin, end)) if self.names else None,
            clustering=self.clustering.of_block(number),
            found=self.found,
            identifiers=identifiers,
            rows=reloaded.rows.slice(begin, end - begin),
            documents=reloaded.documents,
            features=reloaded.features(used),
        )


@dataclass(frozen=True, eq=False)
class ReclusteredBlock:
    """One of the blocks. Feature f has the type and name `features[f]`; `rows` are those of the result.

    `found` and `identifiers` are those of all blocks: there, this is block `number`, and `begin` its first mention.
    """

    number: int
    begin: int
    settings: Settings
    bags: Bags
    frequencies: Frequencies
    names: NamePrior | None
    clustering: Clustering
    found: FoundConstraints | None
    identifiers: dict[tuple[int, str], str]
    rows: pa.Table
    documents: dict[str, dict[str, Any]]
    features: Sequence[tuple[str, str]]


def recluster(
    result: Path, blocks: Iterable[str], settings: Settings, folder: Path, rows: pa.Table | None = None
) -> ReclusteredBlocks:
    """Cluster some blocks of a result again; fails if the authors are not those of a result that was never updated.

    `rows` are the `rows_of_blocks`, if they were read already.

    Authors with mentions of several blocks (see constraints/across_blocks.py) are one cluster in each of them. The
    authors of updates and decisions follow from more than this clustering, so they may be others.
    """
    rows = rows_of_blocks(result, blocks) if rows is None else rows
    reloaded = reload_blocks(result, rows, settings, folder)
    encoded = reloaded.encoded
    number = len(encoded.block_start) - 1
    found = find_constraints(encoded, settings, _pairs_among(result, reloaded.rows["mention_id"]))
    constraints = found.of_blocks(0, number) if found else None
    names = FullNames.read(encoded).prior(settings.trust_in_names)
    used = np.array(settings.weights_for(encoded.frequencies.types)) > 0
    bags = encoded.gather(0, number, used)
    giant = encoded.giant_blocks()
    clustering = cluster(bags, encoded.frequencies, settings, constraints=constraints, names=names, giant=giant)
    if not (result / IDS).exists():  # the first file that an update adds: its page is made before the last one
        _require_same_authors(result, encoded, clustering, reloaded.rows)
    return ReclusteredBlocks(reloaded, settings, bags, found, constraints, names, clustering)


def _pairs_among(result: Path, mention_ids: pa.ChunkedArray) -> UserPairs | None:
    """The user's pairs of which both mentions are among these; None if the user gave no pairs."""
    path = result / PAIRS
    if not path.exists():
        return None
    return read_user_pairs(path).among(mention_ids.to_pylist())


def _require_same_authors(result: Path, encoded: Encoded, clustering: Clustering, rows: pa.Table) -> None:
    """Fail if the clusters are not the authors of the result, or parts of authors with mentions of other blocks."""
    ids = author_ids(encoded, clustering.label)
    found, stored = ids.of(rows["block"].combine_chunks(), 0), rows["author_id"].combine_chunks()
    other = np.unique(ids.author[pc.not_equal(found, stored).to_numpy(zero_copy_only=False)])
    if not len(other):
        return
    chosen = np.isin(ids.author, other)
    parts = {*zip(ids.author[chosen].tolist(), stored.filter(pa.array(chosen)).to_pylist(), strict=True)}
    wholes = {author_id for _, author_id in parts}
    table = look_up(result / AUTHORS, "author_id", pa.array(sorted(wholes), pa.string()), ["author_id", "mentions"])
    mentions = dict(zip(*table.to_pydict().values(), strict=True))
    size = np.bincount(ids.author)
    if len(parts) > len(other) or any(mentions.get(whole, 0) <= size[part] for part, whole in parts):
        raise changed(result, "clustering this name again gives other authors than its table of mentions has")
