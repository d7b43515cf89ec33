"""Which decisions the tables of a result show: those that the last update has applied, and those made since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.corpus.decision_state import DecisionState, decision_state, document_of
from homonym.corpus.decision_store import Decision, read_decisions
from homonym.corpus.epoch import CorpusNote, read_note
from homonym.io.result_directory import DECISIONS, MENTIONS, UNDECIDED
from homonym.io.tables import look_up, reading_result_file


@dataclass(frozen=True)
class AppliedDecisions:
    """What held of the decisions when the last update applied them, and the rows that came since, undos included."""

    state: DecisionState = field(default_factory=DecisionState)
    pending: Sequence[Decision] = ()

    @classmethod
    def read(cls, result: Path) -> AppliedDecisions:
        """The decisions about a result; before its first update, none is applied."""
        rows = read_decisions(result)
        last = last_applied(rows, read_note(result)) if rows else 0
        return cls(
            decision_state(row for row in rows if row.number <= last), [row for row in rows if row.number > last]
        )


def last_applied(rows: Sequence[Decision], note: CorpusNote) -> int:
    """The number of the last decision that an update has applied.

    Notes of earlier versions do not have it: there, it is the last decision that is older than the update.
    """
    if note.decisions is not None:
        return note.decisions
    return max((row.number for row in rows if row.time[:19] <= note.time[:19]), default=0)


def lost_decisions(result: Path, note: CorpusNote, last: int) -> str | None:
    """What is wrong if applied decisions are missing; `last` is the number of the last row, 0 if there is none.

    Rows are only ever added, so this means that a file was lost.
    """
    applied = note.decisions or 0
    if last >= applied:
        return None
    return (
        f"{result / DECISIONS} lacks decisions: row {applied} was applied, but the last row is {last or 'missing'}; "
        "restore a copy of the file, import an exported table (homonym decisions RESULT --import TABLE), or decide "
        "anew. The next update then takes back what is lost."
    )


def lost_rows(result: Path) -> int:
    """The number of the last applied row if the file of decisions lacks it; else 0.

    New rows of such a result get larger numbers, so that the next update applies them, and renames of mentions before
    them do not count.
    """
    note, rows = read_note(result), read_decisions(result)
    return (note.decisions or 0) if lost_decisions(result, note, rows[-1].number if rows else 0) else 0


def has_lost_rows(result: Path) -> bool:
    """Whether rows of the file of decisions are missing, until an update has applied the rows that came after them."""
    rows, note = read_decisions(result), read_note(result)
    came_after = bool(rows) and rows[-1].number > max(len(rows), note.decisions or 0)
    return bool(lost_rows(result)) or came_after


def lost_rows_sentence(lost: int) -> str:
    """The warning about lost rows that have been followed by new ones."""
    return f"rows up to {lost} were applied and are lost; the next update takes back those that are not decided again."


def pending_rows(result: Path, rows: Sequence[Decision], state: DecisionState) -> frozenset[int]:
    """The numbers of decisions that are in force now and were not in force for the last update, or the reverse.

    A new undo is among them, if it takes something back that the update has applied.
    """
    last = last_applied(rows, read_note(result)) if rows else 0
    before = {row.number for row in decision_state(row for row in rows if row.number <= last).active}
    changed = before ^ {row.number for row in state.active}
    undos = {row.number for row in rows if row.number > last and row.undoes in changed}
    return frozenset(changed | undos)


def ids_of_wrong_records(result: Path) -> list[str]:
    """What is wrong with ids that only a wrong record has, though other mentions of the author are elsewhere."""
    path, state = result / UNDECIDED, AppliedDecisions.read(result).state
    if not path.exists() or not state.wrong_records:
        return []
    with reading_result_file(path) as plain:
        undecided = pq.read_table(plain, columns=["mention_id", "author_id"])
    columns = ["mention_id", "document_id", "author_id"]
    rows = look_up(result / MENTIONS, "document_id", pa.array(sorted(state.wrong_records), pa.string()), columns)
    alone = {
        row["author_id"]: row["mention_id"]
        for row in rows.to_pylist()
        if state.is_alone(row["mention_id"], row["document_id"])
    }
    found = []
    for row in undecided.filter(pc.is_in(undecided["author_id"], pa.array(sorted(alone), pa.string()))).to_pylist():
        mention, wrong = row["mention_id"], alone[row["author_id"]]
        if mention == wrong or state.is_alone(mention, document_of(mention)):
            continue
        (shown,) = look_up(result / MENTIONS, "mention_id", pa.array([mention]), ["author_id"])["author_id"].to_pylist()
        members = look_up(result / MENTIONS, "author_id", pa.array([shown]), ["mention_id"])["mention_id"].to_pylist()
        if not any(state.are_apart(wrong, one) for one in members):
            found.append(
                f"{result / MENTIONS}: the id {row['author_id']!r} has only the mention {wrong} of a wrong record, but "
                f"{mention} of the same author has the id {shown!r}; homonym update corrects this."
            )
    return found


def authors_apart(result: Path, tables: Path) -> set[frozenset[str]]:
    """Pairs of authors that decisions about a result call different; `tables` is the folder with its mentions."""
    pairs = [pair for pair, same in decision_state(read_decisions(result, tables)).pairs.items() if not same]
    if not pairs:
        return set()
    wanted = pa.array(sorted({one for pair in pairs for one in pair}), pa.string())
    rows = look_up(tables / MENTIONS, "mention_id", wanted, ["mention_id", "author_id"]).to_pydict()
    author = dict(zip(rows["mention_id"], rows["author_id"], strict=True))
    return {frozenset((author[a], author[b])) for a, b in pairs if a in author and b in author}
