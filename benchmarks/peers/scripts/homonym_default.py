"""homonym as users run it: the command line, default settings, no labels; its limit is calibrated without labels.

A threshold that is given is ignored: there is none to give.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from benchmarks.peers.scripts import mentions as shared


def main() -> None:
    """Run once and write down what it took, by homonym's own stages."""
    arguments = shared.parser("homonym with default settings.").parse_args()
    authors = arguments.output / "authors-0.csv"
    command = [sys.executable, "-m", "homonym", "disambiguate", str(arguments.documents), "-o", str(authors)]
    subprocess.run(command, check=True)
    stages = json.loads(authors.with_suffix(".run.json").read_text())["stages"]
    wall = {stage: facts["seconds"] for stage, facts in stages.items()}
    cpu = {stage: facts["cpu_seconds"] for stage, facts in stages.items()}
    shared.write_figures(arguments.output, wall, cpu, _pairs(authors))


def _pairs(authors: Path) -> int:
    import csv

    with authors.open(newline="") as stream:
        rows = csv.reader(stream)
        block = next(rows).index("block")
        sizes = Counter(row[block] for row in rows)
    return sum(size * (size - 1) // 2 for size in sizes.values())


if __name__ == "__main__":
    main()
