"""What a run takes of the machine: the memory that it holds now, and the seconds that processors have worked for it."""

from __future__ import annotations

import os
import resource
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

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
