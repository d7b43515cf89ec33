"""How a long run shows itself: stages with a total. Silent unless somebody listens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

Advance = Callable[[int], None]


class Listener(Protocol):
    """Whoever draws the progress: told of each stage, how far it is, and its end."""

    def begin(self, stage: str, total: int | None) -> None:
        """A stage begins; without a total its length is not known."""

    def advance(self, amount: int) -> None:
        """Some of the stage is done."""

    def end(self) -> None:
        """The stage has ended, well or not."""


@dataclass
class Stages:
    """The stages of one run, timed, and passed on to a listener if there is one."""

    listener: Listener | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Advance]:
        """Time a stage; gives the function that reports progress within it."""
        began = time.perf_counter()
        if self.listener:
            self.listener.begin(name, total)
        try:
            yield self.listener.advance if self.listener else _ignore
        finally:
            if self.listener:
                self.listener.end()
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began


def _ignore(amount: int) -> None:
    pass
