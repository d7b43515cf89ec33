"""Stable author ids: every id that was ever given, its status, and how new ids are made.

An id is made once, from the block and the anchor mention of the author at that time (see collection/author_ids.py). It
is never given to another author. When an author disappears, its id redirects to the author that has its mentions now,
or is retired.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.collection.author_ids import DIGITS, anchor_digest
from homonym.corpus.event_table import RETIRED as RETIRED_EVENT
from homonym.corpus.event_table import read_events
from homonym.errors import InputError
from homonym.io.result_directory import AUTHORS, IDS
from homonym.io.tables import look_up, reading_result_file, write_table
from homonym.schema import ID_ROWS

ACTIVE, REDIRECT, RETIRED = "active", "redirect", "retired"


def read_ids(result: Path) -> pa.Table:
    """The table of ids; before the first update, the authors of the result."""
    path = result / IDS
    if path.exists():
        with reading_result_file(path) as plain:
            return pq.read_table(plain, schema=ID_ROWS)
    with reading_result_file(result / AUTHORS) as plain:
        return id_rows(pq.read_table(plain, columns=["author_id"])["author_id"], ACTIVE, 0)


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


def retired_text(result: Path, author_id: str) -> str | None:
    """What has become of an id that no author has any more; None if it was never given."""
    path = result / IDS
    rows = look_up(path, "author_id", pa.array([author_id])).to_pylist() if path.exists() else []
    if not rows:
        return None
    known = read_ids(result)
    last = rows[0]
    while last["status"] == REDIRECT:
        (last,) = rows_of_ids(known, {last["target"]})
    became = f" became {last['author_id']}, which" if last is not rows[0] else ""
    retired = (row for row in reversed(read_events(result).to_pylist()) if row["author_id"] == last["author_id"])
    event = next((row for row in retired if row["kind"] == RETIRED_EVENT), None)
    when = f" since {event['time'][:10]} ({event['reason']})" if event else ""
    return f"{author_id!r}{became} has no mentions any more{when}"


def ids_of_blocks(known: pa.Table, blocks: pa.Array) -> pa.Table:
    """The rows of all ids that were ever given in some blocks."""
    block = pc.replace_substring_regex(known["author_id"], r"/[0-9a-f]+$", "")
    return known.filter(pc.is_in(block, blocks))


@dataclass(frozen=True)
class GivenIds:
    """The ids that were ever given in some blocks, and for those that are redirects, the author they lead to.

    The part of an author that a decision separates may get an id again that is a redirect to this very author: it was
    made from the same mention. Any other id is never given again.
    """

    ids: Set[str] = frozenset()
    leading_to: Mapping[str, Set[str]] = field(default_factory=dict)

    @classmethod
    def of_blocks(cls, known: pa.Table, blocks: pa.Array) -> GivenIds:
        """The ids of some blocks, of the table of all ids."""
        rows = ids_of_blocks(known, blocks)
        redirects = rows.filter(pc.equal(rows["status"], REDIRECT))["author_id"].to_pylist()
        leading_to: dict[str, set[str]] = defaultdict(set)
        for one, end in ends_of_redirects(known, redirects).items():
            if end is not None:
                leading_to[end].add(one)
        return cls({*rows["author_id"].to_pylist()}, leading_to)

    def mint(self, block: str, anchor: str, sources: Iterable[str], taken: Set[str]) -> str:
        """An id for a part of some authors, which is none of those that others have or had."""
        revivable = set[str]().union(*(self.leading_to.get(one, ()) for one in sources))
        return mint(block, anchor, _Taken(taken, self.ids, revivable - taken))


NO_IDS = GivenIds()


@dataclass(frozen=True)
class _Taken:
    """Ids that cannot be given: those in use, and all that were given before, except some."""

    now: Set[str]
    before: Set[str]
    free: Set[str]

    def __contains__(self, one: object) -> bool:
        return one in self.now or (one in self.before and one not in self.free)


def mint(block: str, anchor: str, taken: Container[str]) -> str:
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
