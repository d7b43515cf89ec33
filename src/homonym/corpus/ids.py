"""Stable author ids: every id that was ever given, its status, and how new ids are made.

An id is made once, from the block and the anchor mention of the author at that time (see collection/author_ids.py). It
is never given to another author. When an author disappears, its id redirects to the author that has its mentions now,
or is retired.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.collection.author_ids import DIGITS, anchor_digest
from homonym.errors import InputError, first_line
from homonym.io.result_directory import AUTHORS, IDS
from homonym.io.tables import look_up, write_table
from homonym.schema import ID_ROWS

ACTIVE, REDIRECT, RETIRED = "active", "redirect", "retired"


def read_ids(result: Path) -> pa.Table:
    """The table of ids; before the first update, the authors of the result."""
    path = result / IDS
    try:
        if path.exists():
            return pq.read_table(path, schema=ID_ROWS)
        ids = pq.read_table(result / AUTHORS, columns=["author_id"])["author_id"]
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{result}: its ids cannot be read: {first_line(error)}.") from error
    return id_rows(ids, ACTIVE, 0)


def id_rows(ids: pa.ChunkedArray | pa.Array, status: str, update: int) -> pa.Table:
    """Rows for ids that all have the same status."""
    number = len(ids)
    none, when = pa.nulls(number, pa.string()), pa.repeat(pa.scalar(update, pa.int32()), number)
    return pa.table([ids, pa.repeat(status, number), none, none, when, when], schema=ID_ROWS)


def current_id(result: Path, author_id: str) -> str | None:
    """The current id of an author, after following redirects; None if the id is unknown or retired."""
    path = result / IDS
    if not path.exists():
        known = look_up(result / AUTHORS, "author_id", pa.array([author_id]), ["author_id"])
        return author_id if len(known) else None
    seen: set[str] = set()
    while author_id not in seen:
        seen.add(author_id)
        rows = look_up(path, "author_id", pa.array([author_id])).to_pylist()
        if not rows or rows[0]["status"] == RETIRED:
            return None
        if rows[0]["status"] == ACTIVE:
            return author_id
        author_id = rows[0]["target"]
    raise InputError(f"{path}: the redirects of {author_id} lead back to it; make the result again.")


def mint(block: str, anchor: str, taken: Collection[str]) -> str:
    """A new id for an author with this anchor mention.

    It consists of the block and the first digits of the anchor's digest, as in a run; of all digits if that id was
    given before. If the longer id was also given before, the digest is computed from the anchor and a number.

    >>> mint("DOE, J", "W1#0", ()), mint("DOE, J", "W1#0", {"DOE, J/94b9869240ef"})[:24]
    ('DOE, J/94b9869240ef', 'DOE, J/94b9869240ef29ed2')
    """
    digest = anchor_digest(anchor)
    for candidate in (f"{block}/{digest[:DIGITS]}", f"{block}/{digest}"):
        if candidate not in taken:
            return candidate
    number = 2
    while (candidate := f"{block}/{anchor_digest(anchor + chr(10) + str(number))[:DIGITS]}") in taken:
        number += 1
    return candidate


def changed_ids(
    known: pa.Table,
    update: int,
    *,
    created: Mapping[str, str | None],
    redirected: Mapping[str, str],
    retired: Iterable[str],
    revived: Iterable[str] = (),
) -> pa.Table:
    """The table of ids after an update. `created` maps new ids to the author they were split off, if any.

    Redirects to an id that disappears stay as they are, so a chain may end in a retired id. An id in `revived` becomes
    active again, and redirects to it work again: the decision that made it a redirect was undone.
    """
    gone, back = set(retired), set(revived)
    rows = {row["author_id"]: row for row in rows_of_ids(known, {*redirected, *gone, *back})}
    for row in rows.values():
        own = row["author_id"]
        if own in redirected:
            row |= {"status": REDIRECT, "target": redirected[own], "changed": update}
        elif own in gone:
            row |= {"status": RETIRED, "target": None, "changed": update}
        elif own in back:
            row |= {"status": ACTIVE, "target": None, "changed": update}
    for own, origin in created.items():
        rows[own] = {
            "author_id": own, "status": ACTIVE, "target": None, "split_from": origin, "created": update,
            "changed": update,
        }  # fmt: skip
    if not rows:
        return known
    kept = known.filter(pc.invert(pc.is_in(known["author_id"], pa.array(list(rows), pa.string()))))
    return pa.concat_tables([kept, pa.Table.from_pylist(list(rows.values()), schema=ID_ROWS)]).sort_by("author_id")


def rows_of_ids(known: pa.Table, ids: Collection[str]) -> list[dict[str, Any]]:
    """The rows of some ids in the table."""
    found = known.filter(pc.is_in(known["author_id"], pa.array(sorted(ids), pa.string())))
    rows: list[dict[str, Any]] = found.to_pylist()
    return rows


def ends_of_redirects(known: pa.Table, ids: Collection[str]) -> dict[str, str | None]:
    """The active ids that some redirects lead to; None if a chain ends in a retired id."""
    row, following = dict[str, dict[str, Any]](), set(ids)
    while following:
        found = rows_of_ids(known, following)
        row |= {one["author_id"]: one for one in found}
        following = {one["target"] for one in found if one["target"] is not None} - row.keys()
    ends: dict[str, str | None] = {}
    for one in ids:
        end = one
        while row[end]["status"] == REDIRECT:
            end = row[end]["target"]
        ends[one] = end if row[end]["status"] == ACTIVE else None
    return ends


def write_ids(folder: Path, ids: pa.Table) -> None:
    """Write the table of ids."""
    write_table(folder / IDS, ID_ROWS, [ids])
