"""How the cost of a run grows with its collection, compared with a minimal pass over the same file.

Each size is generated and disambiguated by the command itself, in its own process, with a memory limit; seconds, CPU
seconds and peak memory by stage come from the run log. Two passes over the same file on one core are measured in the
same minute: parsing alone, and the bare pass, which parses each line and counts the words of title and abstract
(`re.findall` and `Counter`).
"""

from __future__ import annotations

import argparse
import gzip
import math
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson

SIZES = (250_000, 500_000, 1_000_000, 2_000_000, 4_000_000)
STAGES = ("read", "count", "encode", "constrain", "calibrate", "cluster", "write")
MEMORY = "3"
COMMAND = (sys.executable, "-m", "homonym")
FIGURE = Path(__file__).with_name("growth.svg")

_WORDS = re.compile(r"\w+")
Row = dict[str, Any]


def run(sizes: tuple[int, ...] = SIZES) -> list[Row]:
    """One row per size: figures from the run log, and the CPU seconds of both passes."""
    _warm_up()
    return [measure(size) for size in sizes]


def _warm_up() -> None:
    """Compile the kernel, so that the smallest size does not include that."""
    with tempfile.TemporaryDirectory() as directory:
        disambiguate_and_read_log(_generated(5_000, Path(directory)), Path(directory))


def measure(size: int) -> Row:
    """Generate a corpus, disambiguate it, and measure both passes over it."""
    with tempfile.TemporaryDirectory() as directory:
        documents = _generated(size, Path(directory))
        parsing, bare = cpu_seconds_of(parse, documents), cpu_seconds_of(bare_pass, documents)
        log = disambiguate_and_read_log(documents, Path(directory))
        bare = (
            bare + cpu_seconds_of(bare_pass, documents)
        ) / 2  # before and after, because the speed of the machine varies
        stages = log["stages"]
        return {
            "mentions": stages["read"]["mentions"],
            "documents": stages["read"]["records"],
            "seconds": log["seconds"],
            "cpu": sum(stage["cpu_seconds"] for stage in stages.values()),
            "GiB": log["peak_memory"] / 2**30,
            "stages": {name: stages[name] for name in STAGES},
            "parsing": parsing,
            "bare": bare,
        }


def _generated(size: int, directory: Path) -> Path:
    command = [*COMMAND, "generate", "-q", "-o", str(directory), "--mentions", str(size)]
    subprocess.run(command, check=True)
    return directory / "documents.jsonl.gz"


def disambiguate_and_read_log(documents: Path, directory: Path) -> Row:
    """Run the command, and return what its log says."""
    output = directory / "authors.parquet"
    command = [*COMMAND, "disambiguate", "-q", str(documents), "-o", str(output)]
    subprocess.run([*command, "--memory", MEMORY], check=True)
    log: Row = orjson.loads((directory / "authors.run.json").read_bytes())
    return log


def parse(documents: Path) -> None:
    """Parse every line."""
    with gzip.open(documents) as stream:
        for line in stream:
            orjson.loads(line)


def bare_pass(documents: Path) -> None:
    """Parse every line and count the words of title and abstract."""
    with gzip.open(documents) as stream:
        for line in stream:
            document = orjson.loads(line)
            Counter(_WORDS.findall(document.get("title", "") + " " + document.get("abstract", "")))


def cpu_seconds_of(work: Callable[[Path], None], documents: Path) -> float:
    """CPU seconds of a pass."""
    began = time.process_time()
    work(documents)
    return time.process_time() - began


def exponent(sizes: list[float], values: list[float]) -> float:
    """The exponent p if values grow with size to the power of p: the slope of the logarithms.

    >>> round(exponent([1, 2, 4], [3, 6, 12]), 3), round(exponent([1, 2, 4], [1, 4, 16]), 3)
    (1.0, 2.0)
    """
    return float(np.polyfit([math.log(size) for size in sizes], [math.log(value) for value in values], 1)[0])


def report(rows: list[Row]) -> str:
    """The rows as a Markdown table, with the fitted exponents."""
    lines = [
        f"| {row['mentions']:,} | {row['documents']:,} | "
        + " | ".join(f"{row['stages'][stage]['seconds']:.1f}" for stage in STAGES)
        + f" | {row['seconds']:.0f} | {row['cpu']:.0f} | {row['GiB']:.2f} | {row['bare']:.1f} | "
        f"{row['cpu'] / row['bare']:.2f} | {row['cpu'] / row['parsing']:.1f} |"
        for row in rows
    ]
    sizes = [float(row["mentions"]) for row in rows]
    grown = {name: exponent(sizes, [row[name] for row in rows]) for name in ("seconds", "cpu")} if len(rows) > 1 else {}
    fitted = ", ".join(f"{name} ∝ mentions^{power:.2f}" for name, power in grown.items())
    return "\n".join(
        [
            f"| mentions | documents | {' | '.join(STAGES)} | seconds | CPU s | GiB | bare pass, CPU s | CPU ÷ bare | "
            "CPU ÷ parsing |",
            "|" + " ---: |" * (len(STAGES) + 8),
            *lines,
            "",
            f"Fitted: {fitted}." if fitted else "",
        ]
    )


def draw(rows: list[Row], path: Path = FIGURE) -> None:
    """Draw time by stage and peak memory over the number of mentions."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    sizes = [row["mentions"] / 1e6 for row in rows]
    with mpl.rc_context(
        {"svg.hashsalt": "growth", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    ):
        figure, (time_axes, memory_axes) = plt.subplots(1, 2, figsize=(8.5, 3.4), width_ratios=(3, 2))
        time_axes.loglog(sizes, [row["seconds"] for row in rows], "k-o", label="total")
        for stage in STAGES:
            time_axes.loglog(sizes, [max(row["stages"][stage]["seconds"], 0.01) for row in rows], ".-", label=stage)
        first = rows[0]["seconds"] / sizes[0]
        time_axes.loglog(sizes, [first * size for size in sizes], ":", color="grey", label="linear")
        time_axes.set(xlabel="million mentions", ylabel="seconds")
        time_axes.set_xticks(sizes, [f"{size:g}" for size in np.round(sizes, 2)])
        time_axes.xaxis.minorticks_off()
        time_axes.legend(frameon=False, fontsize=7, ncols=2)
        memory_axes.plot(sizes, [row["GiB"] for row in rows], "k-o")
        memory_axes.set(xlabel="million mentions", ylabel="GiB at the peak, all processes", ylim=(0, None))
        figure.tight_layout()
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def main() -> None:
    """Measure the sizes given as arguments, or all; write figure and table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    rows = run(tuple(parser.parse_args().sizes))
    draw(rows)
    print(report(rows))


if __name__ == "__main__":
    main()
