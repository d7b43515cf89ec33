"""How a long run shows itself: stages with a total, and what each of them took. Silent unless somebody listens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from homonym.machine import MemoryWatch, cpu_seconds

Advance = Callable[[int], None]

#: What the stages count, where that is not plain.
UNITS = {"read": "bytes", "cluster": "mentions", "write": "mentions", "generate": "mentions"}


class Listener(Protocol):
    """Whoever draws the progress: told of each stage, how far it is, and its end."""

    def begin(self, stage: str, total: int | None) -> None:
        """A stage begins; without a total its length is not known."""

    def advance(self, amount: int) -> None:
        """Some of the stage is done."""

    def end(self) -> None:
        """The stage has ended, well or not."""


@dataclass
class Cost:
    """What a stage took: seconds, those of all processors, the most memory in bytes, and how many items it went over.

    `facts` is what else there is to say of it.
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory: int = 0
    items: int = 0
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass
class Stages:
    """The stages of one run, measured, and passed on to a listener if there is one.

    `ended` is called after each of them.
    """

    listener: Listener | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    costs: dict[str, Cost] = field(default_factory=dict)
    ended: Callable[[], None] | None = None

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Advance]:
        """Measure a stage; gives the function that reports progress within it."""
        cost = self.costs.setdefault(name, Cost())
        began, computed = time.perf_counter(), cpu_seconds()

        def advance(amount: int) -> None:
            cost.items += amount
            if self.listener:
                self.listener.advance(amount)

        if self.listener:
            self.listener.begin(name, total)
        watch = MemoryWatch()
        try:
            with watch:
                yield advance
        finally:
            if self.listener:
                self.listener.end()
            cost.seconds += time.perf_counter() - began
            cost.cpu_seconds += cpu_seconds() - computed
            cost.peak_memory = max(cost.peak_memory, watch.most)
            self.seconds[name] = cost.seconds
            if self.ended:
                self.ended()

    def note(self, name: str, **facts: Any) -> None:
        """Say more of a stage; numbers are added to what was said before."""
        known = self.costs.setdefault(name, Cost()).facts
        for fact, value in facts.items():
            known[fact] = known[fact] + value if fact in known and isinstance(value, int | float) else value
