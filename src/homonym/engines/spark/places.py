"""Where a record stands, for people: what a sequence or a line of a split is in its file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import orjson

from homonym.collection.counting import Duplicate
from homonym.engines.spark.inputs import Plan
from homonym.records.problems import Problem


class Split(NamedTuple):
    """A part of a file that one task has read: its first byte, how many lines it has, and what is counted there."""

    start: int
    lines: int
    unit: str


@dataclass(frozen=True)
class Places:
    """All files, and the splits of each, in order."""

    plan: Plan
    splits: dict[int, list[Split]]

    @classmethod
    def of(cls, plan: Plan, rows: Sequence[dict[str, Any]]) -> Places:
        """Put the splits that tasks have seen in order."""
        splits: dict[int, list[Split]] = {}
        for row in sorted(rows, key=lambda row: (row["file"], row["start"])):
            splits.setdefault(row["file"], []).append(Split(row["start"], row["lines"], row["unit"]))
        return cls(plan, splits)

    def line(self, file: int, start: int, line: int) -> int:
        """The line of a file that is this line of the split that begins there."""
        return line + sum(split.lines for split in self.splits.get(file, ()) if split.start < start)

    def of_record(self, sequence: int, line: int) -> tuple[str, str, int]:
        """File, unit and line of a record."""
        number = self.plan.at(sequence)
        file, splits = self.plan.files[number], self.splits.get(number, [])
        split = splits[bisect_right(splits, sequence - file.base, key=lambda split: split.start) - 1]
        return file.name, split.unit, self.line(number, split.start, line)

    def problem(self, row: dict[str, Any]) -> tuple[Problem, bytes]:
        """A problem with its place in the file, and what is kept of the record."""
        name = self.plan.files[row["file"]].name
        found = Problem(name, row["line"], row["lost"], row["reason"], row["unit"])
        if not self.plan.files[row["file"]].by_lines:
            return found, row["reject"]
        found = replace(found, line=self.line(row["file"], row["start"], row["line"]))
        kept = orjson.loads(row["reject"]) | {found.unit: found.line}
        return found, orjson.dumps(kept) + b"\n"

    def duplicate(self, again: Duplicate) -> Problem:
        """A record that came before, as a problem."""
        file, unit, line = self.of_record(again.sequence, again.line)
        first_file, first_unit, first_line = self.of_record(again.first_sequence, again.first_line)
        kind, _, value = again.key.partition(":")
        reason = f"'{value}' is already the {kind} of {first_unit} {first_line} of {first_file}"
        return Problem(file, line, "duplicate", reason, unit)
