"""Progress of a run: its stages with the time and memory that each took, reported to a listener and kept in a log."""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from homonym.io.inputs import size_of
from homonym.io.outputs import side_file, write_json
from homonym.io.paths import printable
from homonym.runtime.checkpoints import digest

if TYPE_CHECKING:
    from homonym.settings import Settings

# Seconds between two samples of the memory.
SAMPLE_SECONDS = 0.2

_worker_processes: set[int] = set()


@contextmanager
def counted_in(process: int) -> Iterator[None]:
    """While the block runs, another process counts as one of this run's."""
    _worker_processes.add(process)
    try:
        yield
    finally:
        _worker_processes.discard(process)


def memory_now() -> int:
    """Bytes of resident memory of this process and its worker processes.

    Workers are registered, because psutil finds children by reading all processes: 1.5 ms instead of 0.08.
    """
    return sum(_resident(process) for process in (os.getpid(), *tuple(_worker_processes)))


def _resident(process: int) -> int:
    import psutil

    try:
        return int(psutil.Process(process).memory_info().rss)
    except psutil.Error:  # it has ended
        return 0


def peak_memory() -> int:
    """The most memory that this process and its largest child have held, in bytes (psutil knows no peak on Linux)."""
    unit = 1 if sys.platform == "darwin" else 1024
    return sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) * unit


def cpu_seconds() -> float:
    """CPU seconds of this process so far, and of its children that have ended."""
    return sum(os.times()[:4])


@contextmanager
def _watched_memory(cost: Cost) -> Iterator[None]:
    """Sample the memory on a thread while the block runs, for the peak of a stage."""
    over = threading.Event()

    def sample() -> None:
        cost.peak_memory = max(cost.peak_memory, memory_now())

    def watch() -> None:
        while not over.wait(SAMPLE_SECONDS):
            sample()

    sample()
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        sample()


Advance = Callable[[int], None]

# What a stage counts, if that is not obvious.
UNITS = {"read": "bytes", "cluster": "mentions", "write": "mentions", "generate": "mentions"}


class Listener(Protocol):
    """Shows progress; called at the start of each stage, during it, and at its end."""

    def begin(self, stage: str, total: int | None) -> None:
        """A stage begins; without a total its length is unknown."""

    def advance(self, amount: int) -> None:
        """Another `amount` of the stage is done."""

    def end(self) -> None:
        """The stage has ended, successfully or not."""


@dataclass
class Cost:
    """What a stage took: seconds, CPU seconds, peak memory in bytes; the items it processed, and other facts."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory: int = 0
    items: int = 0
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass
class Stages:
    """The stages of one run, measured, and reported to a listener if there is one; `ended` is called after each."""

    listener: Listener | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    costs: dict[str, Cost] = field(default_factory=dict)
    ended: Callable[[], None] | None = None

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Advance]:
        """Measure a stage; yields the function that reports progress within it."""
        cost = self.costs.setdefault(name, Cost())
        began, computed = time.perf_counter(), cpu_seconds()

        def advance(amount: int) -> None:
            cost.items += amount
            if self.listener:
                self.listener.advance(amount)

        if self.listener:
            self.listener.begin(name, total)
        try:
            with _watched_memory(cost):
                yield advance
        finally:
            if self.listener:
                self.listener.end()
            cost.seconds += time.perf_counter() - began
            cost.cpu_seconds += cpu_seconds() - computed
            self.seconds[name] = cost.seconds
            if self.ended:
                self.ended()

    def note(self, name: str, **facts: Any) -> None:
        """Add facts about a stage; numbers are added to the former ones."""
        known = self.costs.setdefault(name, Cost()).facts
        for fact, value in facts.items():
            known[fact] = known[fact] + value if fact in known and isinstance(value, int | float) else value


# The name of the run log in a work directory.
LOG = "run.json"


def run_log_path(output: Path) -> Path:
    """Where the log of a result is written."""
    return side_file(output, ".run.json")


def logged_outputs(path: Path) -> list[str]:
    """The files that the run of a log writes; none if there is no log, or if an older version wrote it."""
    import orjson

    try:
        return [name for name in orjson.loads(path.read_bytes())["outputs"] if isinstance(name, str)]
    except (OSError, ValueError, KeyError, TypeError):
        return []


@dataclass
class RunLog:
    """The log of a run; `earlier` has the logs of interrupted runs that this one resumes.

    `outputs` are all files that the run writes if there is something to write. `summary` says what the run found; it
    is for the page of a result directory.
    """

    inputs: list[dict[str, Any]]
    outputs: list[str]
    threads: int
    memory: int
    settings: Settings
    stages: Stages
    earlier: list[dict[str, Any]] = field(default_factory=list)
    summary: dict[str, Any] | None = None
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    clock: float = field(default_factory=time.perf_counter)

    @classmethod
    def begin(
        cls,
        files: Iterable[Path],
        threads: int,
        memory: int,
        settings: Settings,
        listener: Listener | None,
        outputs: Iterable[Path] = (),
    ) -> RunLog:
        """The log of a run that begins now."""
        inputs = [{"file": printable(file), "bytes": size_of(file)} for file in files]
        return cls(inputs, [printable(path) for path in outputs], threads, memory, settings, Stages(listener))

    def resume(self, path: Path) -> None:
        """Take over the log of an interrupted run, if there is one."""
        import orjson

        try:
            found = orjson.loads(path.read_bytes())
            self.earlier = [] if found["finished"] else [*found.pop("earlier"), found]
        except (OSError, ValueError, KeyError, TypeError):
            self.earlier = []

    def write(self, path: Path, *, finished: bool, durable: bool = False) -> None:
        """Write the current state of the log; a damaged log in a work directory does no harm (see `resume`)."""
        from homonym import __version__

        settings, costs = self.settings.spelled_out(), self.stages.costs
        values = {
            "finished": finished,
            "homonym": __version__,
            "began": self.began.isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - self.clock, 3),
            "peak_memory": max((cost.peak_memory for cost in costs.values()), default=0),
            "threads": self.threads,
            "memory": self.memory,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "settings": settings,
            "settings_digest": digest(sorted(settings.items(), key=lambda item: item[0]))[:16],
            "stages": {name: _stage_values(name, cost) for name, cost in costs.items()},
            **({"summary": self.summary} if self.summary else {}),
            "earlier": self.earlier,
        }
        write_json(path, values, durable=durable)


def _stage_values(name: str, cost: Cost) -> dict[str, Any]:
    values = asdict(cost)
    facts = values.pop("facts")
    for key in ("seconds", "cpu_seconds"):
        values[key] = round(values[key], 3)
    return {**values, **({"unit": UNITS[name]} if name in UNITS else {}), **facts}
