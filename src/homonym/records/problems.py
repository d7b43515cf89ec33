"""What was wrong with the input, where, and what was lost by it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from homonym.errors import InputError

Loss = Literal["record", "author", "field", "duplicate"]

LOSSES: tuple[Loss, ...] = get_args(Loss)

#: So many problems are kept with their place; beyond that they are only counted.
KEPT_PROBLEMS = 1000


class BrokenRecordError(Exception):
    """One record that cannot be used; the message says why. Never leaves the reading of its line."""


@dataclass(frozen=True)
class Problem:
    """One thing that was set aside: a whole record, one author of it, or one field."""

    file: str
    line: int
    lost: Loss
    reason: str
    unit: str = "line"

    @property
    def place(self) -> str:
        """Where it stands."""
        return f"{self.file}, {self.unit} {self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}; this {self.lost} was set aside."


@dataclass
class Problems:
    """All problems of a run: every one counted, the first thousand kept."""

    counts: dict[Loss, int] = field(default_factory=lambda: dict.fromkeys(LOSSES, 0))
    kept: list[Problem] = field(default_factory=list)

    def add(self, problem: Problem, *, strict: bool = False) -> None:
        """Count a problem, or end the run with it where nothing may be lost."""
        if strict:
            raise InputError(f"{problem.place}: {problem.reason}; mend it or run without --strict.")
        self.counts[problem.lost] += 1
        if len(self.kept) < KEPT_PROBLEMS:
            self.kept.append(problem)

    def __len__(self) -> int:
        return sum(self.counts.values())
