"""Evidence against a decision: other decisions, with their users, and identifiers, names and documents.

A decision always holds. But the user is told about all evidence against it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from homonym.collection.author_ids import AUTHOR_ID
from homonym.constraints.evidence import DIFFERENT, SAME
from homonym.corpus.decision_state import RELATIONS, DecisionState, Overruled, document_of
from homonym.corpus.decision_store import WRONG_RECORD, Decision
from homonym.corpus.decision_targets import DecisionTarget
from homonym.corpus.renamed_mentions import GoneMention
from homonym.errors import word_list
from homonym.io.result_directory import AUTHORS, DOCUMENTS
from homonym.io.tables import look_up
from homonym.names.compatibility import compatible
from homonym.names.parse import parse_name
from homonym.records.fields.affiliations import plain_email
from homonym.records.formats.documents import parse_document
from homonym.settings import LINKING_ONLY, Settings


def said(row: Decision) -> str:
    """A human-readable decision, with its user and day.

    >>> said(Decision(7, "2026-11-02T09:00:00Z", "ann", "same", "W1#0", "W2#0", "W1#0", "W2#0", ""))
    'decision 7 (ann, 2026-11-02): W1#0 same W2#0'
    """
    return f"decision {row.number} ({row.user}, {row.time[:10]}): {what_was_said(row)}"


def what_was_said(row: Decision) -> str:
    """What a decision says. A mention has its current id, with the one that the user gave if that is another.

    >>> what_was_said(Decision(7, "", "ann", "same", "W1#0", "DOE, J/94b9869240ef", "W1#1", "W2#0", ""))
    'W1#1 (then W1#0) same DOE, J/94b9869240ef'
    """
    sides = _current(row.a, row.mention_a), row.kind, _current(row.b, row.mention_b)
    return " ".join(filter(None, sides))


def _current(given: str, mention: str) -> str:
    gone = GoneMention.parse(mention)
    mention = gone.mention_id if gone else mention
    is_mention = mention and not AUTHOR_ID.fullmatch(given)
    return f"{mention} (then {given})" if is_mention and given != mention else given


def overruled_sentence(overruled: Overruled) -> str:
    """One sentence about a decision without effect, and the newer ones that overrule it."""
    by = word_list([said(row) for row in overruled.by[:5]])
    more = f" and {len(overruled.by) - 5} more" if len(overruled.by) > 5 else ""
    return f"{said(overruled.decision)}; it has no effect, because it contradicts {by}{more}."


def changes_by(number: int, before: DecisionState, after: DecisionState) -> Iterator[str]:
    """One sentence for each older decision that a new one replaces or overrules."""
    for row in before.active:
        newer = after.replaced.get(row.number)
        if newer is not None and newer.number == number and not _says_the_same(row, newer):
            yield f"it replaces {said(row)}."
        elif row.number in after.overruled:
            yield f"it overrules {said(row)}."
    new = next((row for row in after.active if row.number == number), None)
    if new and RELATIONS.get(new.kind) == SAME:
        documents = {document_of(new.mention_a), document_of(new.mention_b)}
        for row in after.active:
            if row.kind == WRONG_RECORD and row.mention_a in documents:
                yield f"it holds against {said(row)}."


def _says_the_same(row: Decision, newer: Decision) -> bool:
    if row.kind in RELATIONS:
        return RELATIONS[row.kind] == RELATIONS[newer.kind]
    return row.b == newer.b


def evidence_against(result: Path, settings: Settings, kind: str, a: DecisionTarget, b: DecisionTarget) -> list[str]:
    """Evidence from identifiers, names and documents against a decision about two mentions or authors."""
    relation = RELATIONS.get(kind)
    found: list[str] = []
    if relation == SAME and settings.constrained_by("names") and _exclude_each_other(a.name, b.name):
        found.append(f"their names exclude each other: {a.name} and {b.name}")
    if relation == SAME and settings.constrained_by("documents") and a.document and a.document == b.document:
        found.append(f"both are on document {a.document}")
    if relation in {SAME, DIFFERENT} and settings.trusted:
        found += _identifiers_against(settings, relation, *_identifiers(result, (a, b)))
    return [f"{text}; the decision holds nevertheless." for text in found]


def _exclude_each_other(a: str | None, b: str | None) -> bool:
    return bool(a and b) and not compatible(parse_name(a or ""), parse_name(b or ""))


def _identifiers_against(
    settings: Settings, relation: str, a: dict[str, set[str]], b: dict[str, set[str]]
) -> Iterator[str]:
    for kind in settings.trusted:
        common = sorted(a[kind] & b[kind])
        if relation == DIFFERENT and common:
            yield f"both have the {kind} {common[0]}"
        if relation == SAME and kind not in LINKING_ONLY and a[kind] and b[kind] and not common:
            yield f"their {kind} differ: {min(a[kind])} and {min(b[kind])}"


def _identifiers(result: Path, targets: Iterable[DecisionTarget]) -> list[dict[str, set[str]]]:
    """The identifiers of mentions and authors, by kind."""
    return [_of_author(result, one) if one.is_author else _of_mention(result, one) for one in targets]


def _of_author(result: Path, author: DecisionTarget) -> dict[str, set[str]]:
    rows = look_up(result / AUTHORS, "author_id", pa.array([author.author_id], pa.string())).to_pylist()
    found: dict[str, set[str]] = defaultdict(set)
    for entry in rows[0]["ids"] or [] if rows else []:
        found[entry["kind"]].add(entry["id"])
    return found


def _of_mention(result: Path, mention: DecisionTarget) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    if not (result / DOCUMENTS).exists() or mention.document is None:
        return found
    rows = look_up(result / DOCUMENTS, "document_id", pa.array([mention.document], pa.string()), ["record"])
    for record in rows["record"].to_pylist():
        for author in parse_document(record.encode())[0].authors:
            if f"{mention.document}#{author.position}" == mention.mention:
                for kind, value in author.ids.items():
                    found[kind].add(value)
                found["email"].update(map(plain_email, author.emails))
    return found
