"""How a long run shows itself: stages with a total, and what each of them took. Silent unless somebody listens."""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

#: Seconds between two looks at the memory: often enough for stages that anybody wonders about.
LOOK_EVERY = 0.2

_family: set[int] = set()


@contextmanager
def counted_in(process: int) -> Iterator[None]:
    """While the block lasts, another process is one of this run's own."""
    _family.add(process)
    try:
        yield
    finally:
        _family.discard(process)


def memory_now() -> int:
    """Bytes of memory that this process and those of its own hold; where nobody says, the most that it ever held."""
    held = [_resident(process) for process in (os.getpid(), *tuple(_family))]
    return sum(held) or peak_memory()


def _resident(process: int) -> int:
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except (OSError, IndexError):  # it has ended, or this system does not say
        return 0
    return int(pages) * resource.getpagesize()


def peak_memory() -> int:
    """The most memory that this process and its largest child have held, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) * unit


def cpu_seconds() -> float:
    """What this process has computed so far, with its children that have ended."""
    return sum(os.times()[:4])


class MemoryWatch:
    """Looks at the memory now and then while a block runs; `most` is the most that it has seen."""

    def __init__(self) -> None:
        self.most = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> MemoryWatch:
        self._look()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._over.wait(LOOK_EVERY):
            self._look()

    def _look(self) -> None:
        self.most = max(self.most, memory_now())


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
