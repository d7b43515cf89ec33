"""What becomes of the mentions of changed and removed documents: what they keep, and which ids they get."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from homonym.collection.same_names import can_be_misspelt
from homonym.constraints.evidence import UserPairs, write_user_pairs
from homonym.corpus.decided import Decided
from homonym.corpus.intake import DocumentChanges
from homonym.corpus.renamed_mentions import (
    append_renames,
    gone_mentions,
    places_of,
    position_of,
    returned_mentions,
    rows_by_document,
)
from homonym.corpus.update_plan import (
    NULLABLE_ROWS,
    UpdatePlan,
    new_rows,
    no_rows,
    nullable_rows,
    undecided_rows,
)
from homonym.io.result_directory import MENTIONS, PAIRS
from homonym.io.tables import look_up
from homonym.schema import AUTHORS as MENTION_ROWS


def inherited_rows(new: pa.Table, leaving: pa.Table, changed: frozenset[str]) -> tuple[pa.Table, dict[str, str]]:
    """New rows with what the same mention had before, and the mentions of changed documents that have another id.

    A mention of a changed document is the same if its author is the same by name and position, in the same block.
    """
    if not changed:
        return nullable_rows(new), {}
    old, renamed, kept = rows_by_document(leaving), dict[str, str](), set[str]()
    rows = new.to_pylist()
    by_document: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["document_id"] in changed:
            by_document[row["document_id"]].append(row)
    for document, mentions in by_document.items():
        mentions.sort(key=position_of)
        former = old.get(document, [])
        places = places_of(mentions, former) if former else []
        for row, place in zip(mentions, places, strict=False):
            if place is None:
                continue
            before = former[place.number]
            if place.by_name and before["block"] == row["block"]:
                row |= {name: before[name] for name in MENTION_ROWS.names[5:]}
                if before["mention_id"] != row["mention_id"]:
                    renamed[before["mention_id"]] = row["mention_id"]
            is_same = place.by_name or can_be_misspelt(before["name"], row["name"])
            if is_same and before["mention_id"] == row["mention_id"]:
                kept.add(row["mention_id"])
    kept |= renamed.keys()
    left = [row for one in sorted(changed) for row in old.get(one, []) if row["mention_id"] not in kept]
    renamed |= gone_mentions(left, {row["mention_id"]: row["name"] for row in rows}, {*renamed.values()})
    return pa.Table.from_pylist(rows, schema=NULLABLE_ROWS), renamed


def follow_renames(plan: UpdatePlan) -> UpdatePlan:
    """The plan with decisions and pairs by the mention ids after the update; the result gets the renames."""
    return with_renames(plan, _renamed_mentions(plan))


def with_renames(plan: UpdatePlan, renamed: Mapping[str, str]) -> UpdatePlan:
    """The plan with decisions and pairs after some mentions got another id; the result gets the renames."""
    if not renamed:
        return plan
    append_renames(plan.folder, plan.decided.last, renamed)
    pairs = plan.epoch.pairs
    if pairs:
        a, b = (tuple(renamed.get(one, one) for one in side) for side in (pairs.a, pairs.b))
        pairs = UserPairs(a, b, pairs.same)
        write_user_pairs(plan.folder / PAIRS, pairs)
    return replace(plan, decided=Decided.read(plan.place, plan.folder), epoch=replace(plan.epoch, pairs=pairs))


def _renamed_mentions(plan: UpdatePlan) -> dict[str, str]:
    """The mentions that have another id after the update."""
    changes = plan.changes
    if not changes.leaving and not len(changes.rows):
        return {}
    named = plan.decided.find_named()
    if plan.epoch.pairs:
        named.update(plan.epoch.pairs.a, plan.epoch.pairs.b)
    if not named and not changes.changed:
        return {}
    leaving = undecided_rows(plan, "document_id", sorted(changes.leaving)) if changes.leaving else no_rows()
    return find_renames(new_rows(plan), leaving, changes, named)


def find_renames(new: pa.Table, leaving: pa.Table, changes: DocumentChanges, named: Set[str]) -> dict[str, str]:
    """The mentions that have another id after an update: those of changed documents, and some that users named.

    `new` has the rows of new and changed documents, and `leaving` those of changed and removed ones. Mentions that
    users named are gone with their document, and may come back with it.
    """
    own = new.filter(pc.is_in(new["document_id"], pa.array(sorted(changes.changed), pa.string())))
    renamed = inherited_rows(own, leaving, changes.changed)[1]
    removed = (row for row in leaving.to_pylist() if row["document_id"] in changes.removed)
    renamed |= gone_mentions(row for row in removed if row["mention_id"] in named)
    known = {*leaving["mention_id"].to_pylist()} - renamed.keys() | {*renamed.values()}
    fresh = new.filter(pc.invert(pc.is_in(new["mention_id"], pa.array(sorted(known), pa.string()))))
    return renamed | returned_mentions(rows_by_document(fresh), named)


def mentions_by_document(plan: UpdatePlan, documents: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """The rows of the mentions of some documents, as they are after new records and before decisions."""
    wanted = pa.array(sorted(documents), pa.string())
    leaving = pa.array(sorted(plan.changes.leaving), pa.string())
    old = look_up(plan.place / MENTIONS, "document_id", wanted)
    kept, new = old.filter(pc.invert(pc.is_in(old["document_id"], leaving))), new_rows(plan)
    return rows_by_document(pa.concat_tables([nullable_rows(kept), new.filter(pc.is_in(new["document_id"], wanted))]))
