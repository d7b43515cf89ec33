"""Runs every benchmark and writes RESULTS.md: `make bench`."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

from benchmarks import evaluation, kernel, pipeline, reading

LIBRARIES = ("numba", "numpy", "scipy", "duckdb", "pyarrow", "orjson", "lxml", "simplemma")


def main() -> None:
    """Measure, then write."""
    text = "\n".join([_header(), _reading(), _kernel(), _evaluation(), _pipeline()])
    Path(__file__).with_name("RESULTS.md").write_text(text)
    print(text)


def _header() -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return f"""# Benchmarks

Made by `make bench`. Ratios are within one run; absolute figures depend on the machine and on what else it does.

{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}; {versions}.
"""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _reading() -> str:
    return f"""## Reading exports

Synthetic exports of {reading.MEGABYTES} MB to documents on one core; in the last columns the time as a multiple of
merely parsing the file (orjson, lxml, csv), and the limit that was set.

{reading.table(reading.run())}

`homonym convert`: the most memory of all its processes together.

{reading.memory_table(reading.run_memory())}
"""


def _kernel() -> str:
    rows = [f"| {name} | {rate:,.0f} | {ratio:.1f} |" for name, rate, ratio in kernel.run()]
    table = "\n".join(rows)
    return f"""## Kernel

{kernel.BLOCKS:,} blocks of about 4 mentions with about 55 features over eight types, `prob`; one thread.
numpy and scipy one block at a time on {kernel.SAMPLE:,} of these blocks, with the same labels.

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

{evaluation.MENTIONS:,} mentions evaluated, with every measure, by true size, with baselines and intervals:
{assessed:.1f} s, {assessed / sorted_once:.0f} times as long as sorting one column of codes.

Milliseconds to cluster blocks at one limit, at {evaluation.LIMITS} limits one after the other, and at every limit that
changes an outcome (a sweep, at most one run for each factor of 1.1); one thread.

| blocks | one limit | {evaluation.LIMITS} limits | sweep | sweep ÷ one limit |
| --- | ---: | ---: | ---: | ---: |
{table}
"""


def _pipeline() -> str:
    rows = pipeline.run()
    lines = []
    for row in rows:
        stages = " | ".join(f"{row[stage]:.1f}" for stage in pipeline.STAGES)
        total = sum(row[stage] for stage in pipeline.STAGES)
        lines.append(
            f"| {row['mentions']:,.0f} | {row['generate']:.1f} | {stages} | {total:.1f} | {row['bare pass']:.1f} | "
            f"{total / row['bare pass']:.1f} | {row['GiB']:.2f} | {row['B-cubed F1']:.3f} |"
        )
    table = "\n".join(lines)
    return f"""## Whole run

`homonym generate`, then `homonym disambiguate` with defaults on all cores; seconds. The bare pass decompresses and
parses the same file on one core. B-cubed F1 is that of a generated corpus: it shows that the run did its work, not how
good it is.

| mentions | generate | read | count | encode | cluster | write | in all | bare pass | ratio | GiB | B-cubed F1 |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{table}
"""


main()
