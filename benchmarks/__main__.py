"""Runs the benchmarks and writes RESULTS.md: `make bench`, or `python -m benchmarks NAME…` for some of them.

Each section is written as soon as it is measured, between marks that name it; the others stay as they are.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from benchmarks import collaborations, evaluation, giant, growth, interrupted, kernel, nightly, reading

LIBRARIES = ("numba", "numpy", "scipy", "duckdb", "pyarrow", "orjson", "lxml", "simplemma")
RESULTS = Path(__file__).with_name("RESULTS.md")


def main() -> None:
    """Measure what is named, or everything."""
    names = sys.argv[1:] or list(SECTIONS)
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        sys.exit(f"There is no benchmark {', '.join(unknown)}; there are {', '.join(SECTIONS)}.")
    sections = _written()
    for name in names:
        began = time.perf_counter()
        text = SECTIONS[name]().strip()
        sections[name] = f"{text}\n\n{_machine()} Measured in {(time.perf_counter() - began) / 60:.1f} minutes."
        _write(sections)
        print(sections[name], end="\n\n", flush=True)


def _written() -> dict[str, str]:
    """The sections of the last time."""
    text = RESULTS.read_text() if RESULTS.exists() else ""
    return {name: body.strip() for name, body in re.findall(r"<!-- (\w+) -->\n(.*?)(?=\n<!-- |\Z)", text, re.DOTALL)}


def _write(sections: dict[str, str]) -> None:
    bodies = [f"<!-- {name} -->\n{sections[name]}\n" for name in SECTIONS if name in sections]
    RESULTS.write_text("\n".join([_HEADER, *bodies]))


_HEADER = """# Benchmarks

Written by `make bench`. Ratios compare measurements of the same run. Absolute figures depend on the machine and on its
other load. Comparisons that homonym loses are included.
"""


def _machine() -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}; {versions}."


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _reading() -> str:
    return f"""## Reading exports

Synthetic exports of {reading.MEGABYTES} MB, read to documents on one core. The last columns have the time as a multiple
of parsing alone (orjson, lxml, csv), and the maximum that we set (limit).

{reading.table(reading.run())}

Peak memory of all processes of `homonym convert` together:

{reading.memory_table(reading.run_memory())}
"""


def _kernel() -> str:
    rows = [f"| {name} | {rate:,.0f} | {ratio:.1f} |" for name, rate, ratio in kernel.run()]
    table = "\n".join(rows)
    return f"""## Kernel

{kernel.BLOCKS:,} blocks of about 4 mentions with about 55 features in eight types, variant `prob`, one thread. The
numpy and scipy versions handle one block at a time. They ran on {kernel.SAMPLE:,} of these blocks and gave the
same labels.

| formulation | mentions/s | kernel is … times as fast |
| --- | ---: | ---: |
{table}
"""


def _evaluation() -> str:
    assessed, sorted_once = evaluation.run_assessment()
    rows = [
        f"| {name} | {1000 * once:.0f} | {1000 * each:.0f} | {1000 * all_limits:.0f} | {all_limits / once:.1f} |"
        for name, once, each, all_limits in evaluation.run_sweep()
    ]
    table = "\n".join(rows)
    return f"""## Evaluation and tuning

Evaluating {evaluation.MENTIONS:,} mentions, with every measure, by true size, with baselines and bootstrap intervals,
takes {assessed:.1f} s. This is {assessed / sorted_once:.0f} times as long as sorting one column of codes.

Milliseconds to cluster blocks at one limit, at {evaluation.LIMITS} limits in turn, and at every limit that changes the
result (a sweep, with at most one run per factor of 1.1), on one thread.

| blocks | one limit | {evaluation.LIMITS} limits | sweep | sweep ÷ one limit |
| --- | ---: | ---: | ---: | ---: |
{table}
"""


def _peers() -> str:
    from benchmarks.peers.__main__ import run

    return "## Comparison with other tools\n\n" + "\n".join(run())


def _growth() -> str:
    rows = growth.run()
    growth.draw(rows)
    return f"""## Growth

`homonym disambiguate --memory {growth.MEMORY}` on generated documents with abstracts, from `.jsonl.gz` to authors, in
seconds per stage. The bare pass only parses the same file and counts the words of titles and abstracts on one core
(`orjson.loads`, `re.findall`, `Counter`). GiB is the peak memory of all processes together.

{growth.report(rows)}

![Seconds by stage and peak memory over the number of mentions](growth.svg)
"""


def _giant() -> str:
    rows = giant.run()
    return f"""## Giant blocks

One block with all eight feature types, on two threads; and all mentions of a PubMed set in one block. The dense kernel
computes every pair of mentions and runs only if they fit into memory; both kernels find the same authors. Rows: how
many times the scores of one cluster with all others were computed. Compiling happens once.

{giant.table(rows)}
"""


def _collaborations() -> str:
    rows = collaborations.run()
    return f"""## Papers with many authors

`homonym disambiguate --memory {growth.MEMORY}` on generated papers of large teams, besides some ordinary papers. CPU
seconds grow with the number of authors per paper to the power of {collaborations.exponent(rows):.2f}.

{collaborations.table(rows)}
"""


def _interrupted() -> str:
    length, kills = interrupted.run()
    return f"""## Interrupted runs

A run over {interrupted.MENTIONS:,} generated mentions was killed (`kill -9`) at {interrupted.KILLS} moments and
resumed each time with the same command.

{interrupted.table(length, kills)}
"""


def _nightly() -> str:
    first, nights = nightly.simulate(nightly.MENTIONS, nightly.NIGHTS, nightly.DOCUMENTS)
    return f"""## Nightly updates

A result of {nightly.MENTIONS:,} generated mentions gets {nightly.DOCUMENTS} new documents in each of {nightly.NIGHTS}
updates (`assign`). {nightly.table(first, nights)}
"""


SECTIONS: dict[str, Callable[[], str]] = {
    "peers": _peers,
    "growth": _growth,
    "giant": _giant,
    "collaborations": _collaborations,
    "interrupted": _interrupted,
    "nightly": _nightly,
    "kernel": _kernel,
    "evaluation": _evaluation,
    "reading": _reading,
}

if __name__ == "__main__":
    main()
