"""Mentions that got another id: an append-only table that lets decisions follow their mentions.

The id of a mention contains its position on the document. If a document comes again with an additional first author,
its mentions get new ids, and an old id may now belong to another mention. Decisions store the mention ids of their
time, so each rename has the number of the last decision before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa

from homonym.io.result_directory import RENAMED
from homonym.io.tables import read_or_empty, write_table
from homonym.schema import RENAMED_ROWS

_GONE = " (gone"


def gone_mention(mention: str) -> str:
    """An id for a mention that is gone, because another mention has its id now.

    >>> gone_mention("W1#0")
    'W1#0 (gone)'
    """
    return f"{mention}{_GONE})"


def _read(result: Path) -> pa.Table:
    return read_or_empty(result / RENAMED, RENAMED_ROWS)


def append_renames(folder: Path, decision: int, renamed: Mapping[str, str]) -> None:
    """Add the renames of one update, after the decision with this number."""
    known = _read(folder)
    number = 1 + max(known["number"].to_pylist(), default=0)
    rows = [
        {
            "number": number, "decision": decision, "former_id": old,
            # Two mentions that are gone are different ones.
            "mention_id": new.replace(_GONE, f"{_GONE}, {number}"),
        }
        for old, new in sorted(renamed.items())
    ]  # fmt: skip
    write_table(folder / RENAMED, RENAMED_ROWS, [known, pa.Table.from_pylist(rows, schema=RENAMED_ROWS)])


class MentionRenames:
    """All renames of a result."""

    def __init__(self, steps: Iterable[tuple[int, Mapping[str, str]]] = ()) -> None:
        self._steps = list(steps)

    @classmethod
    def read(cls, result: Path) -> MentionRenames:
        """The renames of a result; none if no mention got another id."""
        steps: dict[int, tuple[int, dict[str, str]]] = {}
        for row in _read(result).to_pylist():
            steps.setdefault(row["number"], (row["decision"], {}))[1][row["former_id"]] = row["mention_id"]
        return cls(steps.values())

    def __bool__(self) -> bool:
        return bool(self._steps)

    def current(self, mention: str, decision: int) -> str:
        """The current id of the mention that had this id when a decision was made.

        >>> renames = MentionRenames([(1, {"W1#0": "W1#1"}), (5, {"W1#1": "W1#2"})])
        >>> renames.current("W1#0", 1), renames.current("W1#0", 2), renames.current("W1#1", 2)
        ('W1#2', 'W1#0', 'W1#2')
        """
        for last, renamed in self._steps:
            if decision <= last:
                mention = renamed.get(mention, mention)
        return mention
