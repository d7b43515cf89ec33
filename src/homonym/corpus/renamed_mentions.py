"""Mentions that got another id: an append-only table that lets decisions follow their mentions.

The id of a mention contains its position on the document. If a document comes again with an additional first author,
its mentions get new ids, and an old id may now belong to another mention. Decisions store the mention ids of their
time, so each rename has the number of the last decision before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

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


class _Rename(NamedTuple):
    """The new id of a mention, the number of the update among those with renames, and the last decision before it."""

    step: int
    decision: int
    mention_id: str


class MentionRenames:
    """All renames of a result: for each update with renames the last decision before it, and new ids by the old ones.

    They are looked up by mention, so the time for a decision does not depend on the number of updates.
    """

    def __init__(self, steps: Iterable[tuple[int, Mapping[str, str]]] = ()) -> None:
        self._renames: dict[str, list[_Rename]] = defaultdict(list)
        for step, (decision, renamed) in enumerate(steps):
            for old, new in renamed.items():
                self._renames[old].append(_Rename(step, decision, new))

    @classmethod
    def read(cls, result: Path) -> MentionRenames:
        """The renames of a result; none if no mention got another id."""
        steps: dict[int, tuple[int, dict[str, str]]] = {}
        for row in _read(result).to_pylist():
            steps.setdefault(row["number"], (row["decision"], {}))[1][row["former_id"]] = row["mention_id"]
        return cls(steps.values())

    def __bool__(self) -> bool:
        return bool(self._renames)

    def current(self, mention: str, decision: int) -> str:
        """The current id of the mention that had this id when a decision was made.

        >>> renames = MentionRenames([(1, {"W1#0": "W1#1"}), (5, {"W1#1": "W1#2"})])
        >>> renames.current("W1#0", 1), renames.current("W1#0", 2), renames.current("W1#1", 2)
        ('W1#2', 'W1#0', 'W1#2')
        """
        step = -1
        while found := self._next(mention, decision, step):
            step, mention = found.step, found.mention_id
        return mention

    def _next(self, mention: str, decision: int, step: int) -> _Rename | None:
        """The first rename of a mention after a step that came after a decision."""
        known = self._renames.get(mention, ())
        return next((one for one in known if one.step > step and one.decision >= decision), None)
