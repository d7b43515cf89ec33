"""The authors that a result shows: decisions applied to the authors that the method has found.

Authors that decisions divide are clustered again, each for itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc

from homonym.constraints.evidence import UserPairs
from homonym.corpus.assignment import Epoch, cluster_rows
from homonym.corpus.decided import (
    Decided,
    Pair,
    Split,
    apply_decisions,
    complete_parts,
    consistent_parts,
)
from homonym.corpus.ids import GivenIds
from homonym.corpus.update_plan import (
    ORDER,
    TouchedBlocks,
    UpdatePlan,
    batches_of_blocks,
    mean_confidence,
    nullable_rows,
    years_of,
)


def show_decisions(plan: UpdatePlan, touched: TouchedBlocks) -> pa.Table:
    """The rows with the authors that decisions make of undecided ones."""
    base = touched.base
    if not plan.decided.pairs and not plan.decided.wrong:
        return base
    before = base["author_id"].to_pylist()
    given = GivenIds.of_blocks(plan.known_ids, pc.unique(base["block"]))
    ids = apply_decisions(base, years_of(plan, base), plan.decided, _splitter(plan), touched.origin, given)
    moved = {one for pair in zip(before, ids, strict=True) if pair[0] != pair[1] for one in pair}
    if not moved:
        return base
    rows = base.set_column(base.column_names.index("author_id"), "author_id", pa.array(ids, pa.string()))
    return mean_confidence(_with_decided_constraints(rows, plan.decided, moved), moved)


def _with_decided_constraints(rows: pa.Table, decided: Decided, authors: set[str]) -> pa.Table:
    """The rows with the pairs of decisions in the column of constraints, for mentions of these authors."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for a, b, same in decided.pairs:
        for mention in (a, b):
            kinds[mention].add("same:pair" if same else "not:pair")
    column = [
        ";".join(dict.fromkeys([*(text.split(";") if text else []), *sorted(kinds[mention], reverse=True)])) or None
        if mention in kinds and author in authors
        else text
        for mention, author, text in zip(
            *(rows[name].to_pylist() for name in ("mention_id", "author_id", "constraint")), strict=True
        )
    ]
    return rows.set_column(rows.column_names.index("constraint"), "constraint", pa.array(column, pa.string()))


def _splitter(plan: UpdatePlan) -> Split:
    """The function that clusters the mentions of authors again, each author for itself and without a limit."""
    settings = plan.epoch.settings
    free = settings.changed(alpha=0.0, beta=0.0, kappa=0.0, chance_limit=0.0)
    epoch = replace(plan.epoch, settings=free, confidence=None)

    def split(rows: pa.Table, author: Sequence[int], pairs: UserPairs) -> list[int]:
        mention_ids = rows["mention_id"].to_pylist()
        cluster = _clusters_of_authors(plan, rows, author, replace(epoch, pairs=pairs))
        place = {one: number for number, one in enumerate(mention_ids)}
        stated: dict[int, list[Pair]] = defaultdict(list)
        for a, b, same in zip(pairs.a, pairs.b, pairs.same, strict=True):
            stated[author[place[a]]].append((place[a], place[b], same))
        return _parts_of_authors(cluster, author, stated)

    return split


def _clusters_of_authors(plan: UpdatePlan, rows: pa.Table, author: Sequence[int], epoch: Epoch) -> list[int]:
    """The cluster of each row, where each author is as a collection of its own."""
    place = rows.column_names.index("author_id")
    rows = nullable_rows(rows.set_column(place, "author_id", pa.nulls(len(rows), pa.string())))
    blocks = [f"{one:09d} {block}" for one, block in zip(author, rows["block"].to_pylist(), strict=True)]
    rows = rows.set_column(rows.column_names.index("block"), "block", pa.array(blocks, pa.string()))
    found: dict[str, int] = {}
    for batch, bags in batches_of_blocks(plan, rows.sort_by(ORDER)):
        with TemporaryDirectory(dir=plan.work) as folder:
            clustered = cluster_rows(bags, batch, epoch, Path(folder), separate=False, threads=plan.threads)
        numbers = (clustered.cluster + len(found)).tolist()
        found |= dict(zip(batch["mention_id"].to_pylist(), numbers, strict=True))
    return [found[one] for one in rows["mention_id"].to_pylist()]


def _parts_of_authors(cluster: Sequence[int], author: Sequence[int], stated: Mapping[int, Sequence[Pair]]) -> list[int]:
    """The part of each row: clusters with all must-links and cannot-links of their author, as large as possible."""
    places: dict[int, list[int]] = defaultdict(list)
    for row, one in enumerate(author):
        places[one].append(row)
    parts = [0] * len(cluster)
    for one, own in places.items():
        here = {row: number for number, row in enumerate(own)}
        pairs = [(here[a], here[b], same) for a, b, same in stated[one]]
        found = consistent_parts([cluster[row] for row in own], pairs)
        found = complete_parts(found, [(a, b) for a, b, same in pairs if not same])
        for row, part in zip(own, found, strict=True):
            parts[row] = own[0] + part
    return parts
