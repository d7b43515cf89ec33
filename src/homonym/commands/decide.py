"""Decide: record what a user knows about mentions, authors and documents of a result."""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from homonym.errors import InputError, require_type
from homonym.io.paths import require_utf8
from homonym.io.result_directory import MENTIONS, require_result

if TYPE_CHECKING:
    from homonym.corpus.decision_store import Decision


@dataclass(frozen=True)
class RecordedDecision:
    """A recorded decision, and what speaks against it: other decisions, identifiers, names, documents."""

    decision: Decision
    warnings: list[str] = field(default_factory=list)


def decide(
    result: str | Path, kind: str, a: str, b: str | None = None, *, reason: str, user: str | None = None
) -> RecordedDecision:
    """Record a decision about a result. It is on the disk when this returns.

    `kind` is same, different or unsure (two mentions or authors), is or is-not (a mention and an author), name (an
    author and its display name) or wrong-record (a document). `a` and `b` are ids. `user` is who decides; the name of
    the operating system's user if it is not given. Later runs of `update` apply the decision. Of several decisions, the
    newest wins.
    """
    from homonym.corpus.applied_decisions import lost_rows, lost_rows_sentence
    from homonym.corpus.decision_conflicts import changes_by, evidence_against
    from homonym.corpus.decision_state import decision_state
    from homonym.corpus.decision_store import KINDS, add_decisions, read_decisions
    from homonym.corpus.decision_targets import new_decision
    from homonym.settings import load_settings

    folder = require_result(result, MENTIONS)
    for name, value in {"a": a, "b": b or "", "reason": reason, "user": user or ""}.items():
        require_type(name, value, str, "a text")
    require_utf8(os.path.realpath(folder))
    if kind not in KINDS:
        raise InputError(f"{kind!r} cannot be decided; use one of {', '.join(KINDS)}.")
    before = read_decisions(folder)
    state = decision_state(before)
    new, targets = new_decision(
        folder, kind, a, b, reason=_reason(reason), user=user_name(user), wrong=state.wrong_records
    )
    warnings = evidence_against(folder, load_settings(folder), kind, *targets) if len(targets) == 2 else []
    lost = lost_rows(folder)
    (added,) = add_decisions(folder, [new], after=lost)
    warnings += [lost_rows_sentence(lost)] if lost else []
    warnings += changes_by(added.number, state, decision_state([*before, added]))
    return RecordedDecision(added, warnings)


def _reason(reason: str) -> str:
    if not reason.strip():
        raise InputError("a decision needs a reason; write a few words, so that others can judge it.")
    return reason


def user_name(user: str | None) -> str:
    """The name of the user who decides."""
    if user is not None and user.strip():
        return user.strip()
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a process without a user, as in containers
        return "unknown"
