"""Constraint conflicts as sentences for the terminal and as a CSV file next to the output file."""

from __future__ import annotations

import csv
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.clustering.arrays import starts
from homonym.collection.encoded import Encoded
from homonym.constraints.must_link import DOCUMENT, NAME, PAIR, LinkConflict, MustLinks
from homonym.errors import counted, word_list
from homonym.io.outputs import write_atomic
from homonym.io.table_text import csv_text

COLUMNS = ("kind", "block", "mentions", "what")


@dataclass(frozen=True)
class ConstraintConflict:
    """Mentions with must-links and a cannot-link. `kind` is the kind of the cannot-link, `what` describes both."""

    kind: str
    block: str
    mentions: tuple[str, ...]
    what: str


def describe_conflicts(
    conflicts: Sequence[LinkConflict], links: MustLinks, encoded: Encoded
) -> list[ConstraintConflict]:
    """Describe conflicts, in the order of the result."""
    if not conflicts:
        return []
    conflicts = sorted(conflicts, key=lambda conflict: (conflict.left, conflict.right, conflict.kind))
    texts = _ConflictTexts(conflicts, encoded)
    begin = starts(np.array([len(conflict.members) for conflict in conflicts])).tolist()
    members = np.concatenate([conflict.members for conflict in conflicts])
    mention_ids = _read(encoded, "mention_id", members)
    linked = {kind: np.logical_or.reduceat(mask[members], begin[:-1]) for kind, mask in links.requested.items()}
    return [
        ConstraintConflict(
            conflict.kind,
            texts.block[conflict.left],
            tuple(mention_ids[begin[number] : begin[number + 1]]),
            texts.sentence(conflict, [kind for kind, has_kind in linked.items() if has_kind[number]]),
        )
        for number, conflict in enumerate(conflicts)
    ]


def _read(encoded: Encoded, column: str, mentions: NDArray[np.int64]) -> list[str]:
    values: list[str] = pq.read_table(encoded.mentions_file, columns=[column])[column].take(mentions).to_pylist()
    return values


class _ConflictTexts:
    """Sentences about conflicts, with the ids, names, documents and identifiers of their mentions."""

    def __init__(self, conflicts: Sequence[LinkConflict], encoded: Encoded) -> None:
        mentions = np.unique([(conflict.left, conflict.right) for conflict in conflicts])
        self.mention_id, self.name, self.document, self.block = (
            dict(zip(mentions.tolist(), _read(encoded, column, mentions), strict=True))
            for column in ("mention_id", "name", "document_id", "block")
        )
        identifiers = encoded.identifiers()
        rows = identifiers.filter(pc.is_in(identifiers["place"], pa.array(mentions))).to_pylist()
        self.identifier = {(row["place"], row["kind"]): row["id"] for row in rows}

    def sentence(self, conflict: LinkConflict, linked_by: list[str]) -> str:
        """What links two mentions, what separates them, and which of the two won."""
        outcome = "they stay linked"
        if conflict.dropped:
            linked_by = linked_by if conflict.dropped in linked_by else [*linked_by, conflict.dropped]
            mentions = counted(len(conflict.members), "mention")
            outcome = f"none of the links of these {mentions} by {conflict.dropped} is made"
        left, right = (self.mention_id[mention] for mention in (conflict.left, conflict.right))
        return f"{left} and {right} are linked by {word_list(linked_by)}, but {self._reason(conflict)}; {outcome}."

    def _reason(self, conflict: LinkConflict) -> str:
        kind, left, right = conflict.kind, conflict.left, conflict.right
        if kind == NAME:
            return f"their names exclude each other: {self.name[left]} and {self.name[right]}"
        if kind == DOCUMENT:
            return f"both are on document {self.document[left]}"
        if kind == PAIR:
            return "the user's pairs call them different"
        return f"their {kind} differ: {self.identifier[left, kind]} and {self.identifier[right, kind]}"


def read_conflicts(path: Path) -> list[ConstraintConflict]:
    """The conflicts of a file; none if there is no such file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8-sig") as stream:
        rows = [row for row in csv.reader(stream) if len(row) == len(COLUMNS) and tuple(row) != COLUMNS]
    return [ConstraintConflict(kind, block, tuple(named.split(";")), what) for kind, block, named, what in rows]


def replace_conflicts(
    path: Path, blocks: Set[str], mentions: Set[str], conflicts: Sequence[ConstraintConflict]
) -> None:
    """Replace the conflicts of some blocks in a file of conflicts, in the order of blocks.

    `mentions` are those of the blocks: conflicts of other blocks that name one of them are replaced, too.
    """
    known = read_conflicts(path)
    kept = [one for one in known if one.block not in blocks and mentions.isdisjoint(one.mentions)]
    write_conflicts(path, sorted([*kept, *conflicts], key=lambda one: one.block.encode()))


def write_conflicts(path: Path, conflicts: Sequence[ConstraintConflict], *, excel: bool = False) -> None:
    """Write all conflicts as CSV, with `excel` for spreadsheets; without any, delete the file of an earlier run."""
    if not conflicts:
        path.unlink(missing_ok=True)
        return
    rows = [COLUMNS, *((one.kind, one.block, ";".join(one.mentions), one.what) for one in conflicts)]
    write_atomic(path, csv_text(rows, excel=excel))
