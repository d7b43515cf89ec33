"""A year of nightly updates: CPU seconds of each update of a growing result, and how many began an epoch.

    python -m benchmarks.nightly                                                  a small simulation
    python -m benchmarks.nightly --mentions 100000 --nights 365 --documents 100   a year; allow an hour on two cores
    python -m benchmarks.nightly … --csv FILE                                     also one row per night
    python -m benchmarks.nightly … --one-process                                  without a process for each update

A generated corpus is shuffled: most of it is the first result, the rest comes in equal parts, one each night. Every
update is a process of its own, as a user runs it; with `--one-process` nothing is started and loaded each night. An
update that begins an epoch counts and calibrates the whole collection, so it is reported separately.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import orjson

# What `make bench` simulates: two months.
MENTIONS, NIGHTS, DOCUMENTS = 100_000, 60, 100
SEED = 11
COMMAND = [sys.executable, "-m", "homonym"]
# Mean number of authors of a generated document.
AUTHORS = 4


class Night(NamedTuple):
    """One update: its number, CPU seconds, peak memory in MiB, and what the result has after it.

    `events` and `ids` are numbers of rows, `row_groups` is that of all its tables.
    """

    number: int
    cpu_seconds: float
    memory: int
    mentions: int
    epoch: int
    begins_epoch: bool
    events: int
    ids: int
    row_groups: int
    bytes: int


def simulate(mentions: int, nights: int, documents: int, *, one_process: bool = False) -> tuple[float, list[Night]]:
    """CPU seconds of the first run, and all nights."""
    measured = _measured_here if one_process else _measured
    with tempfile.TemporaryDirectory() as folder:
        return _simulate(mentions, nights, documents, Path(folder), measured)


def _simulate(
    mentions: int, nights: int, documents: int, folder: Path, measured: Callable[..., tuple[float, int]]
) -> tuple[float, list[Night]]:
    parts = _parts(mentions, nights, documents, folder)
    (folder / "first.jsonl").write_bytes(b"".join(parts[0]))
    first, _ = _measured("disambiguate", "first.jsonl", "-o", "result", "-q", folder=folder)
    found, epoch = [], 1
    for number, lines in enumerate(parts[1:], 1):
        (folder / "tonight.jsonl").write_bytes(b"".join(lines))
        seconds, memory = measured("update", "result", "tonight.jsonl", "-q", folder=folder)
        found.append(_night(folder / "result", number, seconds, memory, epoch))
        epoch = found[-1].epoch
        print(*found[-1], flush=True, file=sys.stderr)
    return first, found


def _parts(mentions: int, nights: int, documents: int, folder: Path) -> list[list[bytes]]:
    """The documents of the first run, and those of each night."""
    added = nights * documents
    _measured("generate", "-o", "corpus", "--mentions", str(mentions + AUTHORS * added), "-q", folder=folder)
    with gzip.open(folder / "corpus" / "documents.jsonl.gz") as stream:
        lines = list(stream)
    random.Random(SEED).shuffle(lines)
    first = len(lines) - added
    return [lines[:first], *(lines[begin : begin + documents] for begin in range(first, len(lines), documents))]


def _measured(*arguments: str, folder: Path) -> tuple[float, int]:
    """CPU seconds and peak memory in MiB of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = "import resource, subprocess, sys; status = subprocess.call(sys.argv[1:]); "
    code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10); sys.exit(status)"
    done = subprocess.run(
        [sys.executable, "-c", code, *COMMAND, *arguments], cwd=folder, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with status {done.returncode}: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, int(done.stdout.split()[-1])


def _measured_here(*arguments: str, folder: Path) -> tuple[float, int]:
    """CPU seconds of an update in this process, and the peak memory of this process so far in MiB."""
    from homonym import update

    def seconds() -> float:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(one.ru_utime + one.ru_stime for one in used)

    before, (_, result, new, *_) = seconds(), arguments
    update(folder / result, folder / new)
    return seconds() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _night(result: Path, number: int, seconds: float, memory: int, epoch_before: int) -> Night:
    import pyarrow.parquet as pq

    epoch = orjson.loads((result / "corpus.json").read_bytes())["epoch"]
    tables = {path.stem: pq.read_metadata(path) for path in result.glob("*.parquet")}
    mentions, events, ids = (tables[name].num_rows for name in ("mentions", "events", "ids"))
    return Night(
        number, seconds, memory, mentions, epoch, epoch > epoch_before, events, ids,
        sum(one.num_row_groups for one in tables.values()), sum(path.stat().st_size for path in result.iterdir()),
    )  # fmt: skip


def table(first: float, nights: list[Night], parts: int = 10) -> str:
    """The nights in equal parts: mean CPU seconds of updates within an epoch, and those that began one."""
    lines = [
        f"The first run took {first:.1f} s of CPU.",
        "",
        "| nights | mentions after | within an epoch, mean s | longest s | memory, MiB | new epochs | mean s |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for part in range(parts):
        some = nights[len(nights) * part // parts : len(nights) * (part + 1) // parts]
        if some:
            lines.append(_line(some))
    return "\n".join(lines)


def _line(nights: list[Night]) -> str:
    usual = [one.cpu_seconds for one in nights if not one.begins_epoch]
    new = [one.cpu_seconds for one in nights if one.begins_epoch]
    mean, longest = (f"{sum(usual) / len(usual):.2f}", f"{max(usual):.2f}") if usual else ("–", "–")
    memory = max(one.memory for one in nights)
    begun = f"{sum(new) / len(new):.1f}" if new else "–"
    return (
        f"| {nights[0].number}–{nights[-1].number} | {nights[-1].mentions:,} | {mean} | {longest} | {memory:,} "
        f"| {len(new)} | {begun} |"
    )


def main() -> None:
    """Simulate nights and print the table."""
    parser = argparse.ArgumentParser(description="CPU seconds of nightly updates.")
    parser.add_argument("--mentions", type=int, default=5_000, help="mentions of the first run")
    parser.add_argument("--nights", type=int, default=20, help="number of updates")
    parser.add_argument("--documents", type=int, default=20, help="new documents in each update")
    parser.add_argument("--one-process", action="store_true", help="make all updates in this process")
    parser.add_argument("--csv", type=Path, help="a file for one row per night")
    chosen = parser.parse_args()
    first, nights = simulate(chosen.mentions, chosen.nights, chosen.documents, one_process=chosen.one_process)
    if chosen.csv:
        with chosen.csv.open("w", newline="") as stream:
            csv.writer(stream).writerows([Night._fields, *nights])
    print(table(first, nights))


if __name__ == "__main__":
    main()
