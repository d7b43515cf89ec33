"""The whole run on generated corpora: seconds by stage and peak memory, beside a bare pass over the same file.

The bare pass does what nobody can avoid: it decompresses and parses every line. Each size runs in a process of its
own, so that peak memory is that run's and not its predecessors'.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson

SIZES = (250_000, 1_000_000)
STAGES = ("read", "count", "encode", "cluster", "write")


def run() -> list[dict[str, float]]:
    """A row per size: mentions, seconds to generate, by stage and in all, of a bare pass, and GiB at the peak."""
    return [orjson.loads(_own_process(size)) for size in SIZES]


def _own_process(size: int) -> bytes:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.pipeline", str(size)], check=True, capture_output=True
    ).stdout


def measure(size: int) -> dict[str, float]:
    """Generate, disambiguate and time one corpus."""
    from homonym import Corpus, disambiguate, evaluate, generate
    from homonym.terminal import peak_memory

    with tempfile.TemporaryDirectory() as directory:
        began = time.perf_counter()
        documents = generate(Path(directory) / "corpus", Corpus(mentions=size))
        generated = time.perf_counter() - began
        summary = disambiguate(documents, Path(directory) / "authors.parquet")
        row = {"mentions": summary.mentions, "generate": generated, "GiB": peak_memory() / 2**30}
        row |= {stage: summary.seconds[stage] for stage in STAGES}
        row["bare pass"] = bare_pass(documents)
        row["B-cubed F1"] = evaluate(summary.output, documents).bcubed.f1
    return row


def bare_pass(documents: Path) -> float:
    """Seconds to decompress and parse every line, nothing else."""
    began = time.perf_counter()
    with gzip.open(documents) as stream:
        for line in stream:
            orjson.loads(line)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.stdout.buffer.write(orjson.dumps(measure(int(sys.argv[1]))))
