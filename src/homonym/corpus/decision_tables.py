"""Decisions as a table: written for spreadsheets and for `--pairs`, and read again.

The first three columns are those of a table of pairs, so that every run can use the file as it is. A table of pairs can
also be imported: it only lacks the other columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson

from homonym.constraints.evidence import COLUMNS as PAIR_COLUMNS
from homonym.corpus.decision_state import RELATIONS
from homonym.corpus.decision_store import IS, IS_NOT, KINDS, NAME, WRONG_RECORD, Decision, NewDecision
from homonym.corpus.decision_targets import unknown_documents, unknown_mentions
from homonym.errors import InputError, counted
from homonym.io.outputs import write_atomic
from homonym.io.table_text import csv_text
from homonym.io.tables import TableReader, open_table

MORE_COLUMNS = ("kind", "a", "b", "user", "time", "reason", "members")
COLUMNS = (*PAIR_COLUMNS, *MORE_COLUMNS)

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def export_decisions(path: Path, rows: Sequence[Decision]) -> None:
    """Write decisions as CSV, safe for spreadsheets."""
    write_atomic(path, csv_text([COLUMNS, *map(_cells, rows)], excel=True))


def _cells(row: Decision) -> tuple[str, ...]:
    members = orjson.dumps(row.members).decode() if row.members else ""
    relation = RELATIONS.get(row.kind, row.kind)
    return (
        row.mention_a, row.mention_b, relation, row.kind, row.a, row.b, row.user, row.time, row.reason, members,
    )  # fmt: skip


def import_decisions(path: Path, result: Path, *, user: str, reason: str) -> list[NewDecision]:
    """Read decisions from a table; fails if the result lacks a mention or document of any of them.

    `user` and `reason` are for rows that have none.
    """
    with open_table(path, PAIR_COLUMNS[0]) as table:
        table.require(PAIR_COLUMNS)
        columns = [*PAIR_COLUMNS, *(name for name in MORE_COLUMNS if name in table.columns)]
        found = list(_read_rows(table, columns, user, reason))
        _require_known(table, result, found)
    return [new for _, new in found]


def _read_rows(table: TableReader, columns: list[str], user: str, reason: str) -> Iterator[tuple[int, NewDecision]]:
    """The decisions of a table with the numbers of their rows. `same` of a mention with itself is skipped."""
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
                yield number, new


def _decision(cells: dict[str, str], user: str, reason: str) -> NewDecision | None:
    """The decision of a row; a ValueError says what is wrong with it."""
    a, b = cells["mention_a"].strip(), cells["mention_b"].strip()
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
    time = cells["time"].strip()
    if time and not _TIME.fullmatch(time):
        raise ValueError(f"the time is {time!r}; write it as 2026-11-17T10:30:00Z, or leave it empty")
    return NewDecision(
        kind=kind,
        a=cells["a"] or a,
        b=cells["b"] or b,
        mention_a=a,
        mention_b=b if kind in RELATIONS else "",
        reason=cells["reason"] or reason,
        user=cells["user"] or user,
        members=_members(cells["members"]) if kind == IS_NOT else (),
        time=time or None,
    )


def _members(text: str) -> tuple[str, ...]:
    try:
        found = orjson.loads(text) if text.strip() else []
    except orjson.JSONDecodeError as error:
        raise ValueError(f"members is not a list in JSON ({error.msg})") from None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ValueError("members is not a list of mention ids")
    return tuple(found)


def _require_known(table: TableReader, result: Path, found: Sequence[tuple[int, NewDecision]]) -> None:
    """Fail if the result lacks a mention or a document, with the first such row."""
    records = {new.mention_a for _, new in found if new.kind == WRONG_RECORD}
    mentions = {one for _, new in found if new.kind != WRONG_RECORD for one in (new.mention_a, new.mention_b) if one}
    unknown = unknown_mentions(result, mentions) | unknown_documents(result, records)
    missing = [(number, new) for number, new in found if {new.mention_a, new.mention_b} & unknown]
    if missing:
        number, new = missing[0]
        first = new.mention_a if new.mention_a in unknown else new.mention_b
        what = "document" if new.kind == WRONG_RECORD else "mention"
        raise InputError(
            f"{table.place(number)}: {result} has no {what} {first!r}; {counted(len(missing), 'row')} of the table "
            "cannot be used. Remove such rows; nothing was imported."
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
