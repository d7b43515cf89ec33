"""Runs methods on a collection in turn, and judges them alike."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.peers.environments import NotInstalledError, python_of
from benchmarks.peers.methods import HOMONYM, Method
from benchmarks.peers.processes import FailedError, Watched, watch
from benchmarks.peers.scripts.mentions import SWEEP
from benchmarks.peers.sets import Collection
from homonym import evaluate
from homonym.measures.agreement import Scores

ROOT = Path(__file__).resolve().parents[2]
#: Seconds after which a method is given up on a set.
PATIENCE = 3600.0


@dataclass(frozen=True)
class Trial:
    """One run: what it took, and processor seconds by phase, without what only looks at further thresholds."""

    watched: Watched
    phases: dict[str, float]
    pairs: int

    def comparing(self, method: Method) -> float:
        """Processor seconds to compare and to cluster: without start, reading, and finding parameters."""
        return sum(self.phases.get(phase, 0.0) for phase in method.comparing)


@dataclass(frozen=True)
class Best:
    """The threshold that does best with all labels, and what it finds."""

    threshold: float
    found: Scores


@dataclass(frozen=True)
class Measured:
    """A method on a collection: its quality, and the median of what its runs took; or why there is nothing."""

    method: Method
    found: Scores | None = None
    best: Best | None = None
    trials: tuple[Trial, ...] = ()
    problem: str | None = None

    def wall(self) -> float:
        """Seconds from start to end."""
        return median(trial.watched.wall for trial in self.trials)

    def cpu(self) -> float:
        """Processor seconds of all processes."""
        return median(trial.watched.cpu for trial in self.trials)

    def mebibytes(self) -> float:
        """The most memory of all processes together."""
        return max(trial.watched.mebibytes for trial in self.trials)

    def comparing(self) -> float:
        """Processor seconds to compare and cluster alone."""
        return median(trial.comparing(self.method) for trial in self.trials)


def measure(
    methods: Sequence[Method], collection: Collection, work: Path, rounds: int, sweep: bool = True
) -> list[Measured]:
    """Run each method as often as there are rounds, every other round in reverse order, so that none is always last.

    homonym runs once more, before all others, as its first run on a machine compiles.
    """
    pythons, problems = dict[Method, Path](), dict[Method, str]()
    for method in methods:
        try:
            pythons[method] = python_of(method.requirements) if method.requirements else Path(sys.executable)
        except NotInstalledError as why:
            problems[method] = f"cannot be installed here: {why}"
    trials: dict[Method, list[Trial]] = {method: [] for method in methods}
    if HOMONYM in methods:
        try:
            _run(HOMONYM, pythons[HOMONYM], collection, _directory(work, HOMONYM, "before"), ())
        except FailedError as why:
            problems[HOMONYM] = str(why)
    for number in range(rounds):
        for method in methods if number % 2 == 0 else methods[::-1]:
            if method in problems or (method.once and number):
                continue
            tried = method.tried if sweep and number == 0 else ()
            print(f"{collection.title}: {method.title}, round {number + 1} of {rounds}", file=sys.stderr, flush=True)
            try:
                trials[method].append(
                    _run(method, pythons[method], collection, _directory(work, method, number), tried)
                )
            except FailedError as why:
                problems[method] = str(why)
    return [
        Measured(method, problem=problems[method])
        if method in problems
        else _judged(method, tuple(trials[method]), collection, _directory(work, method, 0), sweep)
        for method in methods
    ]


def _directory(work: Path, method: Method, number: int | str) -> Path:
    """A place for each run, so that none finds what another has left, not even homonym, which could continue it."""
    made = work / "-".join([method.script, *method.arguments[1:], str(number)])
    made.mkdir(parents=True, exist_ok=True)
    return made


def _run(method: Method, python: Path, collection: Collection, output: Path, tried: tuple[float, ...]) -> Trial:
    thresholds = [f"--threshold={threshold}" for threshold in (method.fixed, *tried)]
    script = f"benchmarks.peers.scripts.{method.script}"
    command = [str(python), "-m", script, str(collection.documents), str(output), *thresholds, *method.arguments]
    path = [str(ROOT), *([os.environ["PYTHONPATH"]] if method is HOMONYM and "PYTHONPATH" in os.environ else [])]
    watched = watch(command, output, {**os.environ, "PYTHONPATH": os.pathsep.join(path)}, PATIENCE)
    figures = json.loads((output / "figures.json").read_text())
    taken = Watched(
        watched.wall - figures["wall"].get(SWEEP, 0.0),
        watched.cpu - figures["cpu"].get(SWEEP, 0.0),
        watched.mebibytes,
    )
    return Trial(taken, figures["cpu"], figures["pairs"])


def _judged(method: Method, trials: tuple[Trial, ...], collection: Collection, output: Path, sweep: bool) -> Measured:
    compared = {trial.pairs for trial in trials}
    if compared != {collection.pairs}:
        return Measured(method, problem=f"compared {compared} pairs, not {collection.pairs:,}: not the same blocks")
    tried = (method.fixed, *(method.tried if sweep else ()))
    found = list(_scores(output, len(tried), collection))
    best = max(range(len(tried)), key=lambda number: found[number].f1)
    return Measured(method, found[0], Best(tried[best], found[best]) if len(tried) > 1 else None, trials)


def _scores(output: Path, number: int, collection: Collection) -> Iterator[Scores]:
    for place in range(number):
        yield evaluate(output / f"authors-{place}.csv", collection.gold).bcubed
