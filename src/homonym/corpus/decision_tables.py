"""Decisions as a table: written for spreadsheets and for `--pairs`, and read again.

The first three columns are those of a table of pairs, so that every run can use the file as it is. A table of pairs can
also be imported: it only lacks the other columns. The names of the mentions show whether a mention is another person
where the table is imported: the id of a mention has its position, which changes with the authors of a document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import NamedTuple

import orjson
import pyarrow as pa

from homonym.collection.same_names import have_other_names
from homonym.constraints.evidence import COLUMNS as PAIR_COLUMNS
from homonym.constraints.evidence import MEMBERS, mention_list
from homonym.corpus.decision_state import RELATIONS, DecisionState, document_of
from homonym.corpus.decision_store import IS, IS_NOT, KINDS, NAME, WRONG_RECORD, Decision, NewDecision
from homonym.corpus.decision_targets import (
    display_name,
    names_of_mentions,
    unknown_documents,
    unknown_mentions,
)
from homonym.corpus.renamed_mentions import GoneMention, returned_mentions, rows_by_document
from homonym.errors import InputError, counted
from homonym.io.outputs import write_atomic
from homonym.io.result_directory import MENTIONS
from homonym.io.table_text import csv_text
from homonym.io.tables import TableReader, look_up, open_table

NAME_COLUMNS = ("name_a", "name_b")
MORE_COLUMNS = ("kind", "a", "b", "user", "time", "reason", MEMBERS, *NAME_COLUMNS)
COLUMNS = (*PAIR_COLUMNS, *MORE_COLUMNS)

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class _TableRow(NamedTuple):
    """A row of a table: its number, its decision, and the names of mentions as the table has them.

    With `is_restored`, it may be about a document that the result lacks, or an author who is not on it any more.
    """

    number: int
    new: NewDecision
    names: dict[str, str]
    is_restored: bool = False


def export_decisions(path: Path, result: Path, state: DecisionState) -> None:
    """Write the decisions in force about a result as CSV, safe for spreadsheets.

    Of the mentions of an author that a mention is not, those are left out that newer decisions say otherwise about.
    A mention that is gone has its former id and name; among members, where there is no column of names, its own id.
    """
    rows = list(state.active)
    mentions = {one for row in rows for one in (row.mention_a, row.mention_b) if one}
    names = names_of_mentions(result, mentions)
    names |= {one: gone.name for one in mentions if (gone := GoneMention.parse(one))}
    write_atomic(path, csv_text([COLUMNS, *(_cells(row, state, names) for row in rows)], excel=True))


def _cells(row: Decision, state: DecisionState, names: Mapping[str, str]) -> tuple[str, ...]:
    apart = [one for one in row.members if state.are_apart(row.mention_a, one)]
    members = orjson.dumps(apart).decode() if apart else ""
    relation = RELATIONS.get(row.kind, row.kind)
    return (
        _former_id(row.mention_a), _former_id(row.mention_b), relation, row.kind, row.a, row.b, row.user, row.time,
        row.reason, members, names.get(row.mention_a, ""), names.get(row.mention_b, ""),
    )  # fmt: skip


def _former_id(mention: str) -> str:
    gone = GoneMention.parse(mention)
    return gone.mention_id if gone else mention


def import_decisions(path: Path, result: Path, *, user: str, reason: str, restores: bool = False) -> list[NewDecision]:
    """Read decisions from a table; fails if the result lacks a mention or document, or has another name for a mention.

    `user` and `reason` are for rows that have none. An exported table that `restores` lost decisions may be about
    documents that were removed, and about authors that were removed from documents.
    """
    with open_table(path, PAIR_COLUMNS[0]) as table:
        table.require(PAIR_COLUMNS)
        columns = [*PAIR_COLUMNS, *(name for name in MORE_COLUMNS if name in table.columns)]
        found = list(_read_rows(table, columns, user, reason))
        if restores:
            found = list(_restored(result, found))
        _require_known(table, result, found)
        _require_names(table, result, found)
    return _with_present_members(result, [row.new for row in found])


def _with_present_members(result: Path, found: Sequence[NewDecision]) -> list[NewDecision]:
    """The decisions, where members that were gone from the exported result have their ids if this result has them."""
    gone = {one: gone for new in found for one in new.members if (gone := GoneMention.parse(one))}
    names = names_of_mentions(result, {one.mention_id for one in gone.values()})
    present = {
        own: one.mention_id
        for own, one in gone.items()
        if one.mention_id in names and not have_other_names(names[one.mention_id], one.name)
    }
    return [new._replace(members=tuple(present.get(one, one) for one in new.members)) for new in found]


def _read_rows(table: TableReader, columns: list[str], user: str, reason: str) -> Iterator[_TableRow]:
    """The rows of a table with their decisions. `same` of a mention with itself is skipped."""
    number = -1
    for batch in table.batches(columns):
        for row in batch.to_pylist():
            number += 1
            cells = {name: row.get(name) or "" for name in COLUMNS}
            if tuple(row[name] for name in PAIR_COLUMNS) == PAIR_COLUMNS:
                continue  # a repeated header, as in joined files
            try:
                new = _decision(cells, user, reason)
            except ValueError as error:
                raise InputError(f"{table.place(number)}: {error}.") from None
            if new is not None:
                names = {new.mention_a: cells["name_a"], new.mention_b: cells["name_b"]}
                yield _TableRow(number, new, {one: name for one, name in names.items() if one and name.strip()})


def _decision(cells: dict[str, str], user: str, reason: str) -> NewDecision | None:
    """The decision of a row; a ValueError says what is wrong with it."""
    a, b = cells["mention_a"], cells["mention_b"]
    if not cells["kind"]:  # a table of pairs that a user wrote; ids in exported tables may begin or end with a blank
        a, b = a.strip(), b.strip()
    relation = cells["relation"].strip().lower()
    kind = cells["kind"].strip().lower() or relation
    if kind not in KINDS:
        raise ValueError(f"the relation is {kind!r}; write same, different or unsure")
    if RELATIONS.get(kind, kind) != relation:
        raise ValueError(f"the kind {kind} and the relation {relation!r} contradict each other; correct one of them")
    if not a or (kind in RELATIONS and not b):
        raise ValueError("a mention is missing; give both mention_a and mention_b")
    if a == b:
        if relation == "same":
            return None
        raise ValueError(f"{a} cannot be different from itself; correct or remove the row")
    if kind == NAME and not cells["b"].strip():
        raise ValueError("a name is missing; write it into the column b")
    name = display_name(cells["b"]) if kind == NAME else cells["b"]
    time = cells["time"].strip()
    if time and not _TIME.fullmatch(time):
        raise ValueError(f"the time is {time!r}; write it as 2026-11-17T10:30:00Z, or leave it empty")
    return NewDecision(
        kind=kind,
        a=cells["a"] or a,
        b=name or b,
        mention_a=a,
        mention_b=b if kind in RELATIONS else "",
        reason=cells["reason"] or reason,
        user=cells["user"] or user,
        members=mention_list(cells[MEMBERS]) if kind in {IS, IS_NOT} else (),
        time=time or None,
    )


def _restored(result: Path, found: Sequence[_TableRow]) -> Iterator[_TableRow]:
    """The same rows, where exported ones follow their mentions to other places, or may be about those that are gone.

    A mention is gone if its document is, or has no author of its name. Where it has one who may be another person, the
    row stays as it is, and is refused. Only exported rows have a time.
    """
    present = names_of_mentions(result, {one for row in found for one in row.names})
    missing = {
        GoneMention(one, name)
        for row in found
        if row.new.time is not None and row.new.kind != WRONG_RECORD
        for one, name in row.names.items()
        if have_other_names(present.get(one), name)
    }
    now = _present_ids(result, missing)
    for row in found:
        if row.new.time is not None and row.new.kind == WRONG_RECORD:
            yield row._replace(is_restored=True)
        else:
            ids = {one: now[gone] for one, name in row.names.items() if (gone := GoneMention(one, name)) in now}
            yield _with_ids(row, ids) if ids else row


def _present_ids(result: Path, missing: Set[GoneMention]) -> dict[GoneMention, str]:
    """The id of each mention at its new place, or its own id if it is gone; none if it may be another one there."""
    documents = pa.array(sorted({document_of(one.mention_id) for one in missing}), pa.string())
    rows = rows_by_document(look_up(result / MENTIONS, "document_id", documents))
    moved = returned_mentions(rows, {one.own_id for one in missing})
    found = {}
    for one in missing:
        others = rows.get(document_of(one.mention_id), ())
        if one.own_id in moved or all(have_other_names(row["name"], one.name) for row in others):
            found[one] = moved.get(one.own_id, one.own_id)
    return found


def _with_ids(row: _TableRow, ids: Mapping[str, str]) -> _TableRow:
    """The row with other ids of some mentions; names are kept for those that the result has."""
    new = row.new._replace(
        mention_a=ids.get(row.new.mention_a, row.new.mention_a), mention_b=ids.get(row.new.mention_b, row.new.mention_b)
    )
    names = {ids.get(one, one): name for one, name in row.names.items()}
    names = {one: name for one, name in names.items() if GoneMention.parse(one) is None}
    return row._replace(new=new, names=names, is_restored=True)


def _require_known(table: TableReader, result: Path, found: Sequence[_TableRow]) -> None:
    """Fail if the result lacks a mention or a document, with the first such row."""
    decisions = [row.new for row in found]
    records = {new.mention_a for new in decisions if new.kind == WRONG_RECORD}
    mentions = {one for new in decisions if new.kind != WRONG_RECORD for one in (new.mention_a, new.mention_b) if one}
    unknown = unknown_mentions(result, mentions) | unknown_documents(result, records)
    missing = [row for row in found if any(_is_lacking(row, one, unknown) for one in _targets(row.new))]
    if missing:
        number, new = missing[0].number, missing[0].new
        first = next(one for one in _targets(new) if _is_lacking(missing[0], one, unknown))
        what = "document" if new.kind == WRONG_RECORD else "mention"
        raise InputError(
            f"{table.place(number)}: {result} has no {what} {first!r}; {counted(len(missing), 'row')} of the table "
            "cannot be used. Remove such rows; nothing was imported."
        )


def _targets(new: NewDecision) -> list[str]:
    return [one for one in (new.mention_a, new.mention_b) if one]


def _is_lacking(row: _TableRow, target: str, unknown: Set[str]) -> bool:
    """Whether a row cannot be used because the result lacks this mention or document."""
    may_be_gone = row.is_restored and (row.new.kind == WRONG_RECORD or GoneMention.parse(target) is not None)
    return target in unknown and not may_be_gone


def _require_names(table: TableReader, result: Path, found: Sequence[_TableRow]) -> None:
    """Fail if the result has another person where the table has a name, with the first such row."""
    names = names_of_mentions(result, {one for row in found for one in row.names})
    others = [
        (row.number, one, name)
        for row in found
        for one, name in row.names.items()
        if names.get(one) and have_other_names(names[one], name)
    ]
    if others:
        number, mention, name = others[0]
        raise InputError(
            f"{table.place(number)}: {mention} is {name!r} in the table, but {names[mention]!r} in {result}, which has "
            f"other authors of the document; {counted(len({row for row, *_ in others}), 'row')} of the table cannot be "
            "used. Correct the ids of such rows, or empty the name if the person is the same; nothing was imported."
        )


def not_decided_yet(new: Sequence[NewDecision], active: Sequence[Decision]) -> list[NewDecision]:
    """The decisions that are not in force already, so that a table can be imported twice."""
    known = {_statement(row) for row in active}
    fresh = []
    for one in new:
        if (statement := _statement(one)) not in known:
            known.add(statement)
            fresh.append(one)
    return fresh


def _statement(row: Decision | NewDecision) -> tuple[str, ...]:
    """What a decision says. The order of two mentions does not matter, unless one of them stands for an author."""
    if row.kind in {NAME, WRONG_RECORD}:
        return (row.kind, row.mention_a, row.b if row.kind == NAME else "")
    pair = (row.mention_a, row.mention_b)
    return (row.kind, *(pair if row.kind in {IS, IS_NOT} else sorted(pair)))
