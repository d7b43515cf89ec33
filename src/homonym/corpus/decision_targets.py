"""Looks up in a result the mentions, authors and documents that users name in decisions.

A decision is stored with mention ids, because these depend only on the content of documents. The anchor represents an
author: the mention that the author id was made from, or the author's first mention if the anchor has left the author or
will leave it, because a user called its record wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from homonym.collection.author_ids import AUTHOR_ID, DIGITS, anchor_digest
from homonym.collection.same_names import have_other_names
from homonym.corpus.decision_state import decision_state
from homonym.corpus.decision_store import (
    IS,
    IS_NOT,
    NAME,
    WRONG_RECORD,
    Decision,
    NewDecision,
    read_decisions,
)
from homonym.corpus.ids import current_id, retired_text
from homonym.corpus.renamed_mentions import GoneMention
from homonym.errors import InputError, OutputError, counted
from homonym.io.result_directory import DOCUMENTS, MENTIONS
from homonym.io.tables import look_up

# Maximum number of characters of a name.
MAX_NAME = 500

_COLUMNS = ["mention_id", "document_id", "name", "block", "author_id"]


class DecisionTarget(NamedTuple):
    """A mention or an author that a user named.

    `mention` is the mention that a decision about it is stored with, `document` the document of that mention and `name`
    its name. An author has all its mentions in `members`; a mention has none.
    """

    text: str
    mention: str
    document: str | None
    name: str | None
    block: str
    author_id: str
    members: tuple[str, ...] = ()

    @property
    def is_author(self) -> bool:
        """Whether the user named an author, not a mention."""
        return bool(self.members)


def find_target(result: Path, text: str, wrong: Set[str] = frozenset()) -> DecisionTarget:
    """The mention or the author with this id; fails if there is none. `wrong` are the ids of wrong records."""
    rows = look_up(result / MENTIONS, "mention_id", pa.array([text], pa.string()), _COLUMNS).to_pylist()
    if rows:
        return _target(text, rows[0])
    if AUTHOR_ID.fullmatch(text):
        return _author(result, text, wrong)
    if documents := look_up(result / MENTIONS, "document_id", pa.array([text], pa.string()), _COLUMNS).to_pylist():
        documents.sort(key=lambda row: row["mention_id"])
        some = "; ".join(f"{row['mention_id']} ({row['name']})" for row in documents[:5])
        raise InputError(f"{text!r} is a document; name one of its mentions: {some}.")
    raise InputError(
        unknown_position(result, text)
        or f"{result} has no mention and no author {text!r}; homonym explain RESULT NAME shows the ids of a name."
    )


def unknown_position(result: Path, text: str) -> str | None:
    """What is wrong with the id of a mention whose document exists, but has no author at this position."""
    document, _, position = text.rpartition("#")
    if not position.isdecimal():
        return None
    wanted = pa.array([document], pa.string())
    rows = look_up(result / MENTIONS, "document_id", wanted, ["mention_id", "position", "name"]).to_pylist()
    if not rows:
        return None
    rows.sort(key=lambda row: row["position"])
    first, last = rows[0]["position"], rows[-1]["position"]
    places = f"authors #{first} to #{last}" if first < last else f"the author #{first} only"
    some = "; ".join(f"{row['mention_id']} ({row['name']})" for row in rows[:5])
    return f"{document!r} has {places}, and no #{position}: {some}{'; …' if len(rows) > 5 else ''}."


def _target(text: str, row: dict[str, Any], members: Sequence[str] = ()) -> DecisionTarget:
    keys = ("mention_id", "document_id", "name", "block", "author_id")
    mention, document, name, block, author = (row[key] for key in keys)
    return DecisionTarget(text, mention, document, name, block, author, tuple(members))


def _author(result: Path, text: str, wrong: Set[str]) -> DecisionTarget:
    known = current_id(result, text)
    rows = look_up(result / MENTIONS, "author_id", pa.array([known], pa.string()), _COLUMNS).to_pylist()
    if not rows:
        gone = retired_text(result, text) or f"{result} has no author {text!r}, not even under a new id"
        raise InputError(f"{gone}; homonym explain RESULT NAME shows the ids of a name.")
    rows.sort(key=lambda row: row["mention_id"])
    staying = [row for row in rows if row["document_id"] not in wrong] or rows
    anchor = next((row for row in staying if _is_anchor(row)), staying[0])
    return _target(text, anchor, [row["mention_id"] for row in rows])


def _is_anchor(row: dict[str, Any]) -> bool:
    """Whether an author id was made from this mention."""
    digits = row["author_id"].rpartition("/")[2]
    return anchor_digest(row["mention_id"]).startswith(digits[:DIGITS])


def new_decision(
    result: Path, kind: str, a: str, b: str | None, *, reason: str, user: str, wrong: Set[str] = frozenset()
) -> tuple[NewDecision, tuple[DecisionTarget, ...]]:
    """A decision about what a user named, and what was found in the result; fails if the decision makes no sense.

    `wrong` are the ids of the records that earlier decisions call wrong.
    """
    if kind == WRONG_RECORD:
        return _wrong_record(result, a, b, reason, user), ()
    first = find_target(result, a, wrong)
    if b is None:
        raise InputError(f"{kind} needs two arguments: {_usage(kind)}.")
    if kind == NAME:
        return NewDecision(NAME, a, _name(b), first.mention, "", reason, user), (first,)
    second = find_target(result, b, wrong)
    if kind in {IS, IS_NOT} and (first.is_author or not second.is_author):
        raise InputError(f"{kind} needs a mention and an author: {_usage(kind)}; same and different take any two.")
    members: tuple[str, ...] = ()
    if kind == IS_NOT or (kind == IS and first.mention in second.members):
        second, members = _without(first, second, kind)
    elif kind == IS:
        members = _others(result, first)
    if first.mention == second.mention:
        raise InputError(f"{_one_of_both(first, second)}; name two mentions or authors.")
    return NewDecision(kind, a, b, first.mention, second.mention, reason, user, members), (first, second)


def _one_of_both(a: DecisionTarget, b: DecisionTarget) -> str:
    """Why there is nothing to decide between two targets that are represented by the same mention."""
    if a.is_author and b.is_author:
        return f"{a.text} and {b.text} are the same author"
    if a.is_author or b.is_author:
        return f"{a.mention} is a mention of {a.author_id}"
    return f"{a.text} and {b.text} are the same mention"


def _usage(kind: str) -> str:
    return {
        NAME: "name AUTHOR NAME",
        IS: "is MENTION AUTHOR",
        IS_NOT: "is-not MENTION AUTHOR",
    }.get(kind, f"{kind} A B, each a mention or an author")


def _without(mention: DecisionTarget, author: DecisionTarget, kind: str) -> tuple[DecisionTarget, tuple[str, ...]]:
    """The author without one of its mentions, and the mentions to keep that one apart from.

    If it was the anchor, another mention represents the author.
    """
    others = tuple(one for one in author.members if one != mention.mention)
    if not others:
        what = "separate" if kind == IS_NOT else "decide"
        raise InputError(f"{mention.mention} is the only mention of {author.author_id}; there is nothing to {what}.")
    second = author if author.mention in others else author._replace(mention=others[0])
    return second, others if kind == IS_NOT else ()


def _others(result: Path, mention: DecisionTarget) -> tuple[str, ...]:
    """The other mentions of the author that a mention has, in order."""
    rows = look_up(result / MENTIONS, "author_id", pa.array([mention.author_id], pa.string()), ["mention_id"])
    return tuple(sorted({*rows["mention_id"].to_pylist()} - {mention.mention}))


def display_name(text: str) -> str:
    """A name that can be shown, with single blanks; a ValueError says what is wrong with it."""
    name = " ".join(text.split())
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise ValueError(f"a name has 1 to {MAX_NAME} printable characters; got {text[:50]!r}")
    return name


def _name(text: str) -> str:
    try:
        return display_name(text)
    except ValueError as error:
        raise InputError(f"{error}.") from None


def _wrong_record(result: Path, a: str, b: str | None, reason: str, user: str) -> NewDecision:
    if b is not None:
        raise InputError(f"wrong-record takes one document; got {a} and {b}.")
    document = document_named(result, a)
    if document is None:
        raise InputError(f"{result} has no document {a!r}; name a document id, or one of its mentions.")
    return NewDecision(WRONG_RECORD, a, "", document, "", reason, user)


def document_named(result: Path, text: str) -> str | None:
    """The id of a document that is named by its id or by one of its mentions; None if there is none."""
    wanted = pa.array([text], pa.string())
    if (result / DOCUMENTS).exists() and len(look_up(result / DOCUMENTS, "document_id", wanted, ["document_id"])):
        return text
    for column in ("document_id", "mention_id"):
        for row in look_up(result / MENTIONS, column, wanted, ["document_id"]).to_pylist():
            return str(row["document_id"])
    return None


def unknown_mentions(result: Path, mentions: Iterable[str]) -> set[str]:
    """Those of these mention ids that the result lacks."""
    wanted = set(mentions)
    found = look_up(result / MENTIONS, "mention_id", pa.array(sorted(wanted), pa.string()), ["mention_id"])
    return wanted.difference(found["mention_id"].to_pylist())


def names_of_mentions(result: Path, mentions: Iterable[str]) -> dict[str, str]:
    """The names of those of these mentions that the result has."""
    wanted = pa.array(sorted(set(mentions)), pa.string())
    rows = look_up(result / MENTIONS, "mention_id", wanted, ["mention_id", "name"]).to_pydict()
    return {one: name or "" for one, name in zip(rows["mention_id"], rows["name"], strict=True)}


def unknown_documents(result: Path, documents: Iterable[str]) -> set[str]:
    """Those of these document ids that the result lacks."""
    return {one for one in documents if document_named(result, one) != one}


def missing_targets(result: Path, decisions: Iterable[Decision]) -> dict[int, list[str]]:
    """The mentions and documents that decisions are about and the result lacks, by the numbers of the decisions."""
    rows = [(row, row.kind == WRONG_RECORD) for row in decisions]
    mentions = {one for row, is_document in rows if not is_document for one in (row.mention_a, row.mention_b) if one}
    unknown = unknown_mentions(result, mentions) if mentions else set()
    unknown |= unknown_documents(result, {row.mention_a for row, is_document in rows if is_document})
    shown = _shown_ids(result, unknown)
    lacking = {row.number: [shown[one] for one in (row.mention_a, row.mention_b) if one in unknown] for row, _ in rows}
    return {number: found for number, found in lacking.items() if found}


def _shown_ids(result: Path, unknown: Iterable[str]) -> dict[str, str]:
    """Former ids of mentions that are gone. If another mention has this id now, the name follows it."""
    former = {one: gone.mention_id if (gone := GoneMention.parse(one)) else one for one in unknown}
    free = unknown_mentions(result, former.values()) if former else set()
    return {one: own if own in free else one for one, own in former.items()}


def missing_mentions(result: Path, rows: Sequence[Decision]) -> str | None:
    """Which decision in force is about a mention that the result lacks; None if there is no such decision."""
    missing = missing_targets(result, (row for row in decision_state(rows).active if row.kind != WRONG_RECORD))
    if not missing:
        return None
    number, mentions = min(missing.items())
    others = len({one for found in missing.values() for one in found}) - 1
    more = f", and {others:,} more are missing" if others else ""
    return f"decision {number} is about the mention {mentions[0]!r}, which the result does not have{more}"


def _other_people(shown: Path, folder: Path, rows: Sequence[Decision]) -> str | None:
    """Which decision in force is about a mention that is of another person in a new result; None if there is none."""
    active = [row for row in decision_state(rows).active if row.kind != WRONG_RECORD]
    mentions = {one for row in active for one in (row.mention_a, row.mention_b) if one}
    if not mentions or not (shown / MENTIONS).exists():
        return None
    former, names = (names_of_mentions(where, mentions) for where in (shown, folder))
    for row in active:
        for one in (row.mention_a, row.mention_b):
            if one in former and have_other_names(former[one], names.get(one)):
                return (
                    f"decision {row.number} is about the mention {one!r}, which was {former[one]!r} and is "
                    f"{names.get(one)!r} now"
                )
    return None


def require_decided_mentions(shown: Path, folder: Path) -> list[str]:
    """Fail if a new result, in `folder`, lacks a mention that decisions about the former one, `shown`, are about.

    A mention is also lacking if another person has its place.

    Returns a warning if there are decisions, because a new run does not apply them.
    """
    rows = read_decisions(shown)
    if missing := missing_mentions(folder, rows) or _other_people(shown, folder, rows):
        raise OutputError(
            f"{shown} has decisions of users, and a new result would leave some without their authors ({missing}); "
            f"name another directory, or undo such decisions with: homonym decisions {shown} --undo NUMBER"
        )
    active = decision_state(rows).active
    many = counted(len(active), "decision")
    return [f"{shown} keeps {many}; this run does not apply them: run homonym update {shown}."] if active else []
