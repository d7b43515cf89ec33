"""Runs the benchmarks and writes RESULTS.md: `make bench`, or `python -m benchmarks NAME…` for some of them.

`--large` takes hours and `--small` minutes; without either, everything takes twenty minutes on two idle cores.
With `--small`, nothing is written: it only shows that every benchmark works. Each section is written as soon as it is
measured, between marks that name it, with the version and the load of the machine; the others stay as they are.
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
from typing import NamedTuple

from benchmarks import collaborations, directories, evaluation, giant, growth, interrupted, kernel, nightly, reading

LIBRARIES = ("numba", "numpy", "scipy", "duckdb", "pyarrow", "orjson", "lxml", "simplemma")
RESULTS = Path(__file__).with_name("RESULTS.md")


class Sizes(NamedTuple):
    """How much is measured: numbers of mentions, and what else decides how long a section takes.

    `peers` are the scripts of the tools that homonym is compared with, all if there are none. `exports` is the size of
    an exported file in MB, `converted` those of the files that are converted.
    """

    peers: tuple[str, ...]
    generated: int
    growth: tuple[int, ...]
    giant: tuple[int | str, ...]
    teams: tuple[collaborations.Teams, ...]
    killed: tuple[int, int]
    results: int
    nights: tuple[int, int, int]
    blocks: int
    evaluated: int
    exports: int
    converted: tuple[int, ...]


SMALL = Sizes(
    ("tfidf",), 2_000, (2_000, 4_000), (1_600,), tuple(collaborations.Teams(1, 20, authors) for authors in (20, 40)),
    (2_000, 2), 9_000, (2_000, 2, 10), 3_000, 10_000, 1, (1,),
)  # fmt: skip
USUAL = Sizes(
    ("tfidf",), 200_000, (250_000, 500_000, 1_000_000), (1_000, 2_000, 5_000, 10_000, "pubmed"),
    (*collaborations.GROWTH[:4], collaborations.LARGE), (200_000, 8), 1_000_000, (100_000, 15, 100),
    100_000, 1_000_000, 8, (100,),
)  # fmt: skip
LARGE = Sizes(
    (), 200_000, growth.SIZES, (*giant.SIZES, "pubmed"), (*collaborations.GROWTH, collaborations.LARGE),
    (interrupted.MENTIONS, interrupted.KILLS), directories.MENTIONS,
    (nightly.MENTIONS, nightly.NIGHTS, nightly.DOCUMENTS),
    kernel.BLOCKS, evaluation.MENTIONS, reading.MEGABYTES, reading.SIZES,
)  # fmt: skip
OPTIONS = {"--small": SMALL, "--large": LARGE}


def main() -> None:
    """Measure what is named, or everything."""
    sizes = next((OPTIONS[argument] for argument in sys.argv[1:] if argument in OPTIONS), USUAL)
    names = [argument for argument in sys.argv[1:] if argument not in OPTIONS] or list(SECTIONS)
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        sys.exit(f"There is no benchmark {', '.join(unknown)}; there are {', '.join([*SECTIONS, *OPTIONS])}.")
    sections = _written()
    for name in names:
        began, load = time.perf_counter(), _load()
        text = SECTIONS[name](sizes).strip()
        minutes = (time.perf_counter() - began) / 60
        sections[name] = (
            f"{text}\n\nVersion {version('homonym')}, measured in {minutes:.1f} minutes. Load of the machine before: "
            f"{load}, after: {_load()}, this included. {_machine()}"
        )
        if sizes is not SMALL:
            _write(sections)
        print(sections[name], end="\n\n", flush=True)


def _load() -> str:
    """The mean number of processes that ran in the last minute."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _written() -> dict[str, str]:
    """The sections of the last time."""
    text = RESULTS.read_text() if RESULTS.exists() else ""
    return {name: body.strip() for name, body in re.findall(r"<!-- (\w+) -->\n(.*?)(?=\n<!-- |\Z)", text, re.DOTALL)}


def _write(sections: dict[str, str]) -> None:
    bodies = [f"<!-- {name} -->\n{sections[name]}\n" for name in SECTIONS if name in sections]
    RESULTS.write_text("\n".join([_HEADER, *bodies]))


_HEADER = """# Benchmarks

Written by `make bench`. Ratios compare measurements of the same run. Absolute figures depend on the machine and on its
other load. Comparisons that homonym loses are included. Each section says which version it was measured with.
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


def _reading(sizes: Sizes) -> str:
    return f"""## Reading exports

Synthetic exports of {sizes.exports} MB, read to documents on one core. The last columns have the time as a multiple
of parsing alone (orjson, lxml, csv), and the maximum that we set (limit).

{reading.table(reading.run(sizes.exports))}

Peak memory of all processes of `homonym convert` together:

{reading.memory_table(reading.run_memory(sizes.converted))}
"""


def _kernel(sizes: Sizes) -> str:
    rows = [f"| {name} | {rate:,.0f} | {ratio:.1f} |" for name, rate, ratio in kernel.run(sizes.blocks)]
    table = "\n".join(rows)
    return f"""## Kernel

{sizes.blocks:,} blocks of about 4 mentions with about 55 features in eight types, variant `prob`, one thread. The
numpy and scipy versions handle one block at a time. They ran on {min(kernel.SAMPLE, sizes.blocks):,} of these blocks
and gave the same labels.

| formulation | mentions/s | kernel is … times as fast |
| --- | ---: | ---: |
{table}
"""


def _evaluation(sizes: Sizes) -> str:
    assessed, sorted_once = evaluation.run_assessment(sizes.evaluated)
    rows = [
        f"| {name} | {1000 * once:.0f} | {1000 * each:.0f} | {1000 * all_limits:.0f} | {all_limits / once:.1f} |"
        for name, once, each, all_limits in evaluation.run_sweep()
    ]
    table = "\n".join(rows)
    return f"""## Evaluation and tuning

Evaluating {sizes.evaluated:,} mentions, with every measure, by true size, with baselines and bootstrap intervals,
takes {assessed:.1f} s. This is {assessed / sorted_once:.0f} times as long as sorting one column of codes.

Milliseconds to cluster blocks at one limit, at {evaluation.LIMITS} limits in turn, and at every limit that changes the
result (a sweep, with at most one run per factor of 1.1), on one thread.

| blocks | one limit | {evaluation.LIMITS} limits | sweep | sweep ÷ one limit |
| --- | ---: | ---: | ---: | ---: |
{table}
"""


def _peers(sizes: Sizes) -> str:
    from benchmarks.peers.__main__ import chosen, run

    return "## Comparison with other tools\n\n" + "\n".join(run(generated=sizes.generated, methods=chosen(sizes.peers)))


def _growth(sizes: Sizes) -> str:
    rows = growth.run(sizes.growth)
    if sizes is not SMALL:
        growth.draw(rows)
    return f"""## Growth

`homonym disambiguate --memory {growth.MEMORY}` on generated documents with abstracts, from `.jsonl.gz` to authors, in
seconds per stage. The bare pass only parses the same file and counts the words of titles and abstracts on one core
(`orjson.loads`, `re.findall`, `Counter`). GiB is the peak memory of all processes together.

{growth.report(rows)}

![Seconds by stage and peak memory over the number of mentions](growth.svg)
"""


def _giant(sizes: Sizes) -> str:
    rows = giant.run(sizes.giant)
    return f"""## Giant blocks

One block with all eight feature types, on two threads; and all mentions of a PubMed set in one block. The dense kernel
computes every pair of mentions and runs only if they fit into memory; both kernels find the same authors. Rows: how
many times the scores of one cluster with all others were computed. Compiling happens once.

{giant.table(rows)}
"""


def _collaborations(sizes: Sizes) -> str:
    rows = collaborations.run(sizes.teams)
    return f"""## Papers with many authors

`homonym disambiguate --memory {growth.MEMORY}` on generated papers of large teams, besides some ordinary papers. CPU
seconds grow with the number of authors per paper to the power of {collaborations.exponent(rows):.2f}.

{collaborations.table(rows)}
"""


def _interrupted(sizes: Sizes) -> str:
    mentions, number = sizes.killed
    length, kills = interrupted.run(mentions, number)
    return f"""## Interrupted runs

A run over {mentions:,} generated mentions was killed (`kill -9`) at {number} moments and
resumed each time with the same command.

{interrupted.table(length, kills)}
"""


def _directories(sizes: Sizes) -> str:
    return f"""## Result directories, updates and first runs

{sizes.results:,} generated mentions; medians of {directories.ROUNDS} alternating rounds. Documents of an update were
held out of the result. Those drawn at random have common names, so that an update with them clusters many names again;
those of rare names cluster few.

{directories.table(directories.run(sizes.results))}
"""


def _nightly(sizes: Sizes) -> str:
    mentions, number, documents = sizes.nights
    first, nights = nightly.simulate(mentions, number, documents)
    return f"""## Nightly updates

A result of {mentions:,} generated mentions gets {documents} new documents in each of {number}
updates (`assign`). {nightly.table(first, nights)}
"""


SECTIONS: dict[str, Callable[[Sizes], str]] = {
    "peers": _peers,
    "growth": _growth,
    "giant": _giant,
    "collaborations": _collaborations,
    "interrupted": _interrupted,
    "directories": _directories,
    "nightly": _nightly,
    "kernel": _kernel,
    "evaluation": _evaluation,
    "reading": _reading,
}

if __name__ == "__main__":
    main()
