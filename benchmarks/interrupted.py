"""Resumed runs: a run is killed at twenty random moments, and the same command resumes it each time.

`python -m benchmarks.interrupted` measures the length of a run, kills others (kill −9, the whole process group) at
moments spread over it, resumes them, and compares every byte of the outputs. The run log says what was reused.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

MENTIONS = 200_000
KILLS = 20
SEED = 6
COMMAND = [sys.executable, "-m", "homonym"]
OUTPUTS = ("authors.parquet", "authors.settings.toml", "authors.contradictions.csv", "rejects.jsonl")
STAGES = ("read", "count", "encode", "constrain", "calibrate", "cluster", "write")


@dataclass(frozen=True)
class Kill:
    """One run that was killed and resumed: when, in which stage, what was reused, seconds, same outputs or not."""

    moment: float
    stage: str
    parts: float
    encoded: bool
    seconds: float
    same: bool


def run(mentions: int = MENTIONS, kills: int = KILLS, seed: int = SEED) -> tuple[float, list[Kill]]:
    """Seconds of a complete run, and the outcome of each run that was killed."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        _command(folder, "generate", "-o", "corpus", "--mentions", str(mentions), "-q").wait()
        _complete(folder / "first")  # compiles the kernel
        length, expected = _complete(folder / "whole")
        moments = _moments(length, kills, seed)
        return length, [_kill(folder / f"{number}", moment, expected) for number, moment in enumerate(moments)]


def _moments(length: float, kills: int, seed: int) -> list[float]:
    """Random moments, one in each of `kills` equal parts of a run."""
    chance = random.Random(seed)
    return [length * (number + chance.random()) / kills for number in range(kills)]


def _complete(folder: Path) -> tuple[float, dict[str, bytes]]:
    began = time.perf_counter()
    folder.mkdir()
    status = _disambiguate(folder).wait()
    if status:
        raise RuntimeError(f"the run ended with status {status}")
    return time.perf_counter() - began, _outputs(folder)


def _kill(folder: Path, moment: float, expected: dict[str, bytes]) -> Kill:
    folder.mkdir()
    running = _disambiguate(folder)
    try:
        running.wait(moment)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    stage = _stage(folder)
    seconds, found = _resume(folder)
    log = orjson.loads((folder / "authors.run.json").read_bytes())["stages"]
    left = sorted(path.name for path in folder.iterdir() if path.name.startswith("."))
    shutil.rmtree(folder)
    return Kill(
        moment, stage, _share(log.get("read", {}), "chunks"), bool(log.get("encode", {}).get("reused")), seconds,
        found == expected and not left,
    )  # fmt: skip


def _resume(folder: Path) -> tuple[float, dict[str, bytes]]:
    began = time.perf_counter()
    status = _disambiguate(folder).wait()
    if status:
        raise RuntimeError(f"the resumed run ended with status {status}")
    return time.perf_counter() - began, _outputs(folder)


def _stage(folder: Path) -> str:
    """The stage in which a run was killed: the one after those in its log."""
    if (folder / "authors.parquet").exists():
        return "after the result"
    try:
        ended = orjson.loads((folder / ".authors.parquet.work" / "run.json").read_bytes())["stages"]
    except (OSError, ValueError):
        return "read" if (folder / ".authors.parquet.work").exists() else "start"
    return next((stage for stage in STAGES if stage not in ended), "write")


def _share(facts: dict[str, Any], of: str) -> float:
    return facts["reused"] / facts[of] if facts.get(of) else 0.0


def _outputs(folder: Path) -> dict[str, bytes]:
    """All outputs of a run except its log, which has times."""
    return {name: (folder / name).read_bytes() for name in OUTPUTS if (folder / name).exists()}


def _disambiguate(folder: Path) -> subprocess.Popen[bytes]:
    return _command(
        folder, "disambiguate", "../corpus/documents.jsonl.gz", "-o", "authors.parquet", "-q",
        "--rejects", "rejects.jsonl",
    )  # fmt: skip


def _command(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*COMMAND, *arguments], cwd=folder, start_new_session=True)


def table(length: float, kills: list[Kill]) -> str:
    """The outcomes as a Markdown table."""
    rows = [
        f"| {kill.moment:.1f} | {kill.stage} | {100 * kill.parts:.0f} % | {'yes' if kill.encoded else 'no'} | "
        f"{kill.seconds:.1f} | {'yes' if kill.same else '**no**'} |"
        for kill in kills
    ]
    header = [
        "| killed after, s | in stage | parts reused | encoding reused | "
        f"then to finish, s (complete run: {length:.1f}) | same bytes |",
        "| ---: | --- | ---: | --- | ---: | --- |",
    ]
    return "\n".join([*header, *rows])


if __name__ == "__main__":
    whole, killed = run(*map(int, sys.argv[1:]))
    print(table(whole, killed))
    sys.exit(not all(kill.same for kill in killed))
