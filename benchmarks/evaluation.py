"""Time to evaluate a million mentions and to tune a limit, relative to the cost of their basic operations."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.kernel import head, make_blocks
from homonym.clustering.agglomerative import cluster, sweep
from homonym.clustering.arrays import Bags, Frequencies
from homonym.evaluation.assessment import assess
from homonym.settings import Settings

MENTIONS = 1_000_000
LIMITS = 40
# Number of blocks, and of small blocks joined into each: many small blocks, and fewer larger ones.
SWEPT = ((10_000, 1), (200, 16))


def run_assessment(mentions: int = MENTIONS) -> tuple[float, float]:
    """Seconds to evaluate so many mentions with every measure and interval, and to sort their codes once."""
    random = np.random.default_rng(0)
    names = np.sort(random.integers(0, mentions // 4, mentions))
    authors = names * 8 + random.integers(0, 1 + names % 5)
    clusters = np.where(random.random(mentions) < 0.9, authors, authors + 1)
    return _seconds(lambda: assess(names, authors, clusters)), _seconds(lambda: np.unique(authors))


def run_sweep() -> list[tuple[str, float, float, float]]:
    """For each kind of block: seconds for one clustering, for one per limit, and for the sweep over all limits."""
    bags, frequencies = make_blocks()
    return [(name, *_sweep(some, frequencies)) for name, some in _kinds(bags)]


def _kinds(bags: Bags) -> list[tuple[str, Bags]]:
    made = []
    for blocks, together in SWEPT:
        some = head(bags, blocks * together)
        larger = replace(some, block_start=some.block_start[::together])
        made.append((f"{blocks:,} of about {4 * together} mentions", larger))
    return made


def _sweep(bags: Bags, frequencies: Frequencies) -> tuple[float, float, float]:
    limits = np.geomspace(1e-7, 1e-2, LIMITS)
    once = _seconds(lambda: cluster(bags, frequencies, Settings(beta=1e-5)))
    each = _seconds(lambda: [cluster(bags, frequencies, Settings(beta=limit)) for limit in limits])
    return once, each, _seconds(lambda: sweep(bags, frequencies, Settings()))


def _seconds(function: Callable[[], object]) -> float:
    function()  # compiles
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


if __name__ == "__main__":
    print(run_assessment(), run_sweep(), sep="\n")
