"""Decisions: list, undo, export and import the decisions about a result."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homonym.commands.decide import user_name
from homonym.errors import InputError, counted
from homonym.io.paths import require_utf8
from homonym.io.result_directory import MENTIONS, require_result

if TYPE_CHECKING:
    from homonym.corpus.decision_state import DecisionState
    from homonym.corpus.decision_store import Decision


@dataclass(frozen=True)
class DecisionList:
    """All decisions about a result in their order, and what holds of them.

    `imported` is the number of decisions that were added from a table, `known` that of rows which were decided so
    already. `pending` are the numbers of rows that the last update does not know, or knew with another status.
    `missing` has the mentions and documents of decisions in force that the result lacks, by the numbers of the rows:
    they were removed, or a new run replaced the result. Such a decision takes effect again when they come again.
    `exported` is the file that those in force were written to, if any.
    """

    rows: list[Decision]
    state: DecisionState
    imported: int | None = None
    known: int = 0
    warnings: list[str] = field(default_factory=list)
    pending: frozenset[int] = frozenset()
    missing: Mapping[int, list[str]] = field(default_factory=dict)
    exported: Path | None = None

    def status(self, row: Decision) -> str:
        """Whether a decision is in force, or which other one is the reason that it is not."""
        from homonym.corpus.decision_state import is_about_one

        state = self.state
        if by := state.undone.get(row.number):
            return f"undone by {by.number}"
        if by := state.replaced.get(row.number):
            return f"replaced by {by.number}"
        if overruled := state.overruled.get(row.number):
            return f"overruled by {', '.join(str(one.number) for one in overruled.by)}"
        return "without effect, because both are one mention now" if is_about_one(row) else "in force"

    def to_json(self) -> list[dict[str, Any]]:
        """All decisions as JSON values, with their status, and whether the tables of the result show it."""
        return [
            {
                **row._asdict(), "members": list(row.members), "status": self.status(row),
                "applied": row.number not in self.pending, "missing": self.missing.get(row.number, []),
            }
            for row in self.rows
        ]  # fmt: skip

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        from homonym.corpus.decision_conflicts import what_was_said
        from homonym.io.paths import printable

        if self.imported is not None:
            known = f"; {counted(self.known, 'row')} decided so already" if self.known else ""
            yield f"{counted(self.imported, 'decision')} imported{known}"
        for row in self.rows:
            what = f"undo {row.undoes}" if row.undoes is not None else what_was_said(row)
            status = self.status(row) + (", not yet applied" if row.number in self.pending else "")
            if lacking := self.missing.get(row.number):
                status += f", but the result has no {' and no '.join(lacking)}"
            yield "\t".join(map(printable, (str(row.number), row.time, row.user, status, what, row.reason)))
        yield f"{counted(len(self.state.active), 'decision')} in force, of {counted(len(self.rows), 'row')}"
        if self.pending:
            yield f"{counted(len(self.pending), 'row')} not yet applied; homonym update RESULT does that"
        if self.missing:
            yield (
                f"{counted(len(self.missing), 'decision')} without effect, because their documents or authors are "
                "missing from the result; they apply again when these are added; undo those that you no longer want"
            )


def decisions(
    result: str | Path,
    *,
    undo: int | None = None,
    export: str | Path | None = None,
    table: str | Path | None = None,
    user: str | None = None,
    reason: str | None = None,
) -> DecisionList:
    """The decisions about a result, after undoing or importing some.

    `undo` is the number of a decision that does not hold any more; an undo can be undone, too. `table` is imported:
    decisions that were exported, or pairs as for `disambiguate(pairs=…)`. `export` is the file to write the decisions
    in force to (.csv). `user` and `reason` are those of the undo, and of imported rows that have none.
    """
    from homonym.corpus.applied_decisions import (
        has_lost_rows,
        lost_decisions,
        lost_rows,
        lost_rows_sentence,
        pending_rows,
    )
    from homonym.corpus.decision_conflicts import overruled_sentence
    from homonym.corpus.decision_state import decision_state
    from homonym.corpus.decision_store import add_decisions, add_undo, read_decisions
    from homonym.corpus.decision_tables import export_decisions, import_decisions, not_decided_yet
    from homonym.corpus.decision_targets import missing_targets
    from homonym.corpus.epoch import read_note

    folder = require_result(result, MENTIONS)
    require_utf8(os.path.realpath(folder))
    output = _export_path(export, folder, table)
    imported, known, lost = None, 0, 0
    if table is not None:
        reason_of_table = reason or f"imported from {Path(table).name}"
        read = import_decisions(
            Path(table), folder, user=user_name(user), reason=reason_of_table, restores=has_lost_rows(folder)
        )
        fresh = not_decided_yet(read, decision_state(read_decisions(folder)).active)
        lost = lost_rows(folder)
        imported, known = len(add_decisions(folder, fresh, after=lost)) if fresh else 0, len(read) - len(fresh)
    if undo is not None:
        add_undo(folder, undo, user=user_name(user), reason=reason or "")
    rows = read_decisions(folder)
    state = decision_state(rows)
    problem = lost_decisions(folder, read_note(folder), rows[-1].number if rows else 0)
    if output and problem:  # the file to write may be the only copy of what is lost
        raise InputError(f"{problem} Nothing was exported.")
    if output:
        export_decisions(output, folder, state)
    warnings = [overruled_sentence(one) for one in state.overruled.values()]
    if problem:
        warnings.append(problem)
    if imported and lost:
        warnings.append(lost_rows_sentence(lost))
    pending, missing = pending_rows(folder, rows, state), missing_targets(folder, state.active)
    return DecisionList(rows, state, imported, known, warnings, pending, missing, output)


def _export_path(export: str | Path | None, folder: Path, table: str | Path | None) -> Path | None:
    from homonym.io.outputs import first_within, require_distinct, require_writable

    if export is None:
        return None
    path = Path(export)
    if path.suffix != ".csv":
        raise InputError(f"{path}: decisions are exported as .csv; choose such a name.")
    require_writable(path)
    require_distinct([Path(table)] if table is not None else [], [path])
    if first_within(folder, [path]):
        raise InputError(f"{path} is inside of the result {folder}; name a file outside of it.")
    return path
