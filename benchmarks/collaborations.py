"""Papers with many authors: how the cost of a run grows with the number of authors per paper.

    python -m benchmarks collaborations

Each corpus has the same number of papers of large teams, besides a few ordinary ones. It is generated and
disambiguated by the command itself; seconds, CPU seconds and peak memory come from the run log. The last corpus is as
large as a collection of high-energy physics: 9,500 papers with 125 authors on average.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.growth import COMMAND, disambiguate_and_read_log

ORDINARY_MENTIONS = 20_000


class Teams(NamedTuple):
    """How many teams there are, how many papers each has, and how many authors a paper has on average."""

    teams: int
    papers: int
    authors: int


GROWTH = tuple(Teams(2, 250, authors) for authors in (50, 125, 311, 1_000, 3_000))
LARGE = Teams(10, 950, 125)
Row = dict[str, Any]


def run(corpora: Sequence[Teams] = (*GROWTH, LARGE)) -> list[Row]:
    """One row per corpus; the first run is left out, because it may compile the kernel."""
    measure(corpora[0])
    return [measure(teams) for teams in corpora]


def measure(teams: Teams) -> Row:
    """Generate a corpus and disambiguate it."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        command = [*COMMAND, "generate", "-q", "-o", name, "--mentions", str(ORDINARY_MENTIONS)]
        options = {
            "--collaborations": teams.teams,
            "--collaboration-documents": teams.papers,
            "--collaboration-authors": teams.authors,
        }
        subprocess.run([*command, *(str(part) for option in options.items() for part in option)], check=True)
        log = disambiguate_and_read_log(directory / "documents.jsonl.gz", directory)
    stages = log["stages"]
    return {
        "papers": teams.teams * teams.papers,
        "authors": teams.authors,
        "mentions": stages["read"]["mentions"],
        "seconds": log["seconds"],
        "cpu": sum(stage["cpu_seconds"] for stage in stages.values()),
        "clustering": stages["cluster"]["cpu_seconds"],
        "GiB": log["peak_memory"] / 2**30,
    }


def exponent(rows: list[Row]) -> float:
    """The exponent e of CPU seconds ~ authorsᵉ over the corpora with the same number of papers."""
    grown = [row for row in rows if row["papers"] == rows[0]["papers"]]
    slope, _ = np.polyfit(np.log([row["authors"] for row in grown]), np.log([row["cpu"] for row in grown]), 1)
    return float(slope)


def table(rows: list[Row]) -> str:
    """The rows as Markdown."""
    lines = ["| papers of teams | authors per paper | mentions | seconds | CPU seconds | of which clustering | GiB |"]
    lines.append("| ---: " * 7 + "|")
    lines += [
        f"| {row['papers']:,} | {row['authors']:,} | {row['mentions']:,} | {row['seconds']:.0f} | {row['cpu']:.0f} "
        f"| {row['clustering']:.0f} | {row['GiB']:.1f} |"
        for row in rows
    ]
    return "\n".join(lines)
