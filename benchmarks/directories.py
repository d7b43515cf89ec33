"""What a result directory, an update and an explanation cost, and a first run on a machine.

    python -m benchmarks directories

A table of mentions and a result directory are written in turn, from the same documents. Then the documents that were
held out are added with `homonym update`, in two ways: documents drawn at random, and documents whose authors have the
rarest names. Every command is a process of its own, as a user runs it.
"""

from __future__ import annotations

import gzip
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import NamedTuple

import orjson
import pyarrow.parquet as pq

from benchmarks.growth import COMMAND
from benchmarks.peers.processes import Watched, watch

MENTIONS, ROUNDS, HELD_OUT, SEED = 1_000_000, 2, 1_000, 3
# A first run compiles; it is measured on a corpus of this size.
FIRST_RUN = 5_000
PATIENCE = 3600.0


class Cost(NamedTuple):
    """What was done, and what its runs took."""

    title: str
    runs: list[Watched]

    @property
    def seconds(self) -> float:
        """Wall time, the median."""
        return median(run.wall for run in self.runs)

    @property
    def cpu(self) -> float:
        """CPU seconds, the median."""
        return median(run.cpu for run in self.runs)

    @property
    def gibibytes(self) -> float:
        """Peak memory of all processes together, the largest."""
        return max(run.mebibytes for run in self.runs) / 1024


def run(mentions: int = MENTIONS, rounds: int = ROUNDS) -> list[Cost]:
    """The table of mentions first, then everything that is compared with it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _command(folder, "generate", "-o", "corpus", "--mentions", str(mentions))
        _command(folder, "disambiguate", "corpus/documents.jsonl.gz", "-o", "first.parquet")  # may compile
        table, directory = Cost("table of mentions", []), Cost("result directory", [])
        for _ in range(rounds):
            table.runs.append(_command(folder, "disambiguate", "corpus/documents.jsonl.gz", "-o", "x.parquet"))
            directory.runs.append(_command(folder, "disambiguate", "corpus/documents.jsonl.gz", "-o", "result"))
        return [table, directory, _explained(folder, rounds), *_updates(folder, rounds), *_first_runs(folder)]


def _explained(folder: Path, rounds: int) -> Cost:
    """An author of about ten mentions is explained."""
    sizes = Counter(pq.read_table(folder / "x.parquet", columns=["author_id"])["author_id"].to_pylist())
    author = min(sizes, key=lambda one: (abs(sizes[one] - 10), one))
    runs = [_command(folder, "explain", "result", author, quiet=False) for _ in range(rounds)]
    return Cost("explain an author of about ten mentions", runs)


def _updates(folder: Path, rounds: int) -> list[Cost]:
    with gzip.open(folder / "corpus" / "documents.jsonl.gz") as stream:
        lines = list(stream)
    sample = random.Random(SEED).sample(range(len(lines)), HELD_OUT)
    return [
        _update(folder, rounds, f"update with {HELD_OUT:,} documents", lines, set(sample)),
        _update(folder, rounds, f"update with {HELD_OUT:,} documents of rare names", lines, _of_rare_names(lines)),
    ]


def _of_rare_names(lines: list[bytes]) -> set[int]:
    """Places of the documents whose authors have the rarest names."""
    names = [[author["name"] for author in orjson.loads(line)["authors"]] for line in lines]
    surnames = Counter(name.partition(",")[0] for some in names for name in some)
    common = [max((surnames[name.partition(",")[0]] for name in some), default=0) for some in names]
    return set(sorted(range(len(lines)), key=lambda place: (common[place], place))[:HELD_OUT])


def _update(folder: Path, rounds: int, title: str, lines: list[bytes], held_out: set[int]) -> Cost:
    _write(folder / "known.jsonl", (line for place, line in enumerate(lines) if place not in held_out))
    _write(folder / "new.jsonl", (lines[place] for place in sorted(held_out)))
    _command(folder, "disambiguate", "known.jsonl", "-o", "before")
    runs = []
    for number in range(rounds):
        shutil.copytree(folder / "before", folder / f"updated{number}")
        runs.append(_command(folder, "update", f"updated{number}", "new.jsonl"))
        shutil.rmtree(folder / f"updated{number}")
    shutil.rmtree(folder / "before")
    return Cost(title, runs)


def _write(path: Path, lines: Iterable[bytes]) -> None:
    with path.open("wb") as stream:
        stream.writelines(lines)


def _first_runs(folder: Path) -> list[Cost]:
    """A small run with nothing compiled, and the same again."""
    _command(folder, "generate", "-o", "small", "--mentions", str(FIRST_RUN))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "compiled")}
    command = ("disambiguate", "small/documents.jsonl.gz", "-o", "small.parquet")
    first, again = (_command(folder, *command, environment=environment) for _ in range(2))
    return [Cost(f"first run, {FIRST_RUN:,} mentions", [first]), Cost("the same again", [again])]


def _command(folder: Path, *arguments: str, quiet: bool = True, environment: dict[str, str] | None = None) -> Watched:
    """Run a command of homonym in the folder."""
    changed = "import os, sys; os.chdir(sys.argv[1]); os.execv(sys.argv[2], sys.argv[2:])"
    whole = [sys.executable, "-c", changed, str(folder), *COMMAND, *arguments, *(["-q"] if quiet else [])]
    return watch(whole, folder, environment or os.environ, PATIENCE)


def table(costs: list[Cost]) -> str:
    """The rows as Markdown; CPU time also as a share of that of the result directory."""
    first, result = costs[:2]
    lines = ["| | seconds | CPU s | GiB | CPU ÷ that of a result directory |", "| --- | ---: | ---: | ---: | ---: |"]
    lines += [
        f"| {cost.title} | {cost.seconds:.1f} | {cost.cpu:.1f} | {cost.gibibytes:.2f} | {cost.cpu / result.cpu:.3f} |"
        for cost in costs
    ]
    longer = result.seconds / first.seconds - 1
    return "\n".join([*lines, "", f"A result directory takes {100 * longer:.0f} % longer than the table of mentions."])
