"""Which decisions the tables of a result show: those that the last update has applied, and those made since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from homonym.corpus.decision_state import DecisionState, decision_state
from homonym.corpus.decision_store import Decision, read_decisions
from homonym.corpus.epoch import CorpusNote, read_note


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
