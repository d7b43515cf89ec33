"""What contradicts itself, in words: for the terminal, and as a file beside the result."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
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
from homonym.io.outputs import write_atomic
from homonym.messages import counted, listed

COLUMNS = ("kind", "block", "mentions", "what")


@dataclass(frozen=True)
class ConstraintConflict:
    """Mentions that must be one author and must not: what keeps them apart, and a sentence about it."""

    kind: str
    block: str
    mentions: tuple[str, ...]
    what: str


def describe_conflicts(
    conflicts: Sequence[LinkConflict], links: MustLinks, encoded: Encoded
) -> list[ConstraintConflict]:
    """Put contradictions into words, in the order of the result."""
    if not conflicts:
        return []
    conflicts = sorted(conflicts, key=lambda conflict: (conflict.left, conflict.right, conflict.kind))
    people = _MentionLists(conflicts, encoded)
    begin = starts(np.array([len(conflict.members) for conflict in conflicts])).tolist()
    members = np.concatenate([conflict.members for conflict in conflicts])
    mention_ids = _taken(encoded, "mention_id", members)
    linked = {kind: np.logical_or.reduceat(by[members], begin[:-1]) for kind, by in links.by.items()}
    return [
        ConstraintConflict(
            conflict.kind,
            people.block[conflict.left],
            tuple(mention_ids[begin[number] : begin[number + 1]]),
            people.sentence(conflict, [kind for kind, chains in linked.items() if chains[number]]),
        )
        for number, conflict in enumerate(conflicts)
    ]


def _taken(encoded: Encoded, column: str, places: NDArray[np.int64]) -> list[str]:
    values: list[str] = pq.read_table(encoded.mentions_file, columns=[column])[column].take(places).to_pylist()
    return values


class _MentionLists:
    """What sentences call the mentions that contradict each other."""

    def __init__(self, conflicts: Sequence[LinkConflict], encoded: Encoded) -> None:
        places = np.unique([(conflict.left, conflict.right) for conflict in conflicts])
        self.mention_id, self.name, self.document, self.block = (
            dict(zip(places.tolist(), _taken(encoded, column, places), strict=True))
            for column in ("mention_id", "name", "document_id", "block")
        )
        identifiers = encoded.identifiers()
        rows = identifiers.filter(pc.is_in(identifiers["place"], pa.array(places))).to_pylist()
        self.identifier = {(row["place"], row["kind"]): row["id"] for row in rows}

    def sentence(self, conflict: LinkConflict, by: list[str]) -> str:
        """What links two mentions, what keeps them apart, and what came of it."""
        outcome = "they stay linked"
        if conflict.kind != NAME:
            outcome = f"none of the links of these {counted(len(conflict.members), 'mention')} is made"
        left, right = (self.mention_id[place] for place in (conflict.left, conflict.right))
        return f"{left} and {right} are linked by {listed(by)}, but {self._reason(conflict)}; {outcome}."

    def _reason(self, conflict: LinkConflict) -> str:
        kind, left, right = conflict.kind, conflict.left, conflict.right
        if kind == NAME:
            return f"their names exclude each other: {self.name[left]} and {self.name[right]}"
        if kind == DOCUMENT:
            return f"both are on document {self.document[left]}"
        if kind == PAIR:
            return "the user's pairs call them different"
        return f"their {kind} differ: {self.identifier[left, kind]} and {self.identifier[right, kind]}"


def write_conflicts(path: Path, contradictions: Sequence[ConstraintConflict]) -> None:
    """Write all contradictions as CSV; where there are none, the file of an earlier run goes."""
    if not contradictions:
        path.unlink(missing_ok=True)
        return
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows((found.kind, found.block, ";".join(found.mentions), found.what) for found in contradictions)
    write_atomic(path, text.getvalue())
