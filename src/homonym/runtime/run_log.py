"""The log of a run: what it was given, what it might use, and what each of its stages took."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from homonym import __version__
from homonym.io.inputs import size_of
from homonym.io.outputs import side_file, write_json
from homonym.runtime.checkpoints import digest
from homonym.runtime.progress import UNITS, Cost, Stages
from homonym.settings import Settings

#: The name of the log in a work directory.
LOG = "run.json"


def run_log_path(output: Path) -> Path:
    """Where the log of a result is kept."""
    return side_file(output, ".run.json")


@dataclass
class RunLog:
    """What is said of a run; `earlier` are the runs that ended too early and that this one goes on with."""

    inputs: list[dict[str, Any]]
    threads: int
    memory: int
    earlier: list[dict[str, Any]]
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    clock: float = field(default_factory=time.perf_counter)

    @classmethod
    def begin(cls, files: Iterable[Path], threads: int, memory: int, work: Path) -> RunLog:
        """The log of a run that begins now, in a directory where another one may have been."""
        inputs = [{"file": str(file), "bytes": size_of(file)} for file in files]
        return cls(inputs, threads, memory, _earlier(work / LOG))

    def write(self, path: Path, settings: Settings, stages: Stages, *, finished: bool) -> None:
        """Write the log as it is now, whole."""
        values = settings.spelled_out()
        said = {
            "finished": finished,
            "homonym": __version__,
            "began": self.began.isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - self.clock, 3),
            "peak_memory": max((cost.peak_memory for cost in stages.costs.values()), default=0),
            "threads": self.threads,
            "memory": self.memory,
            "inputs": self.inputs,
            "settings": values,
            "settings_digest": digest(sorted(values.items(), key=lambda item: item[0]))[:16],
            "stages": {name: _spelled_out(name, cost) for name, cost in stages.costs.items()},
            "earlier": self.earlier,
        }
        write_json(path, said)


def _spelled_out(name: str, cost: Cost) -> dict[str, Any]:
    values = asdict(cost)
    facts = values.pop("facts")
    for key in ("seconds", "cpu_seconds"):
        values[key] = round(values[key], 3)
    return {**values, **({"unit": UNITS[name]} if name in UNITS else {}), **facts}


def _earlier(path: Path) -> list[dict[str, Any]]:
    """The runs that did not come to their end here, first to last."""
    import orjson

    try:
        found = orjson.loads(path.read_bytes())
        return [] if found["finished"] else [*found.pop("earlier"), found]
    except (OSError, ValueError, KeyError, TypeError):
        return []
