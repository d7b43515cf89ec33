"""The compiled kernel, made once for all processes of a test run."""

from __future__ import annotations

import fcntl
from pathlib import Path

import numpy as np

from homonym.clustering.agglomerative import cluster, pair_scores
from homonym.clustering.arrays import Bags, Constraints, Frequencies
from homonym.settings import Settings

# The kernels compile for about as long as each other: some 14 seconds each if nothing is cached.
GIANT = (False, True)


def compile_kernels(locks: Path, worker: int) -> None:
    """Compile the dense and the sparse kernel, or load them from the cache.

    Each worker begins with another one. Whoever comes second waits, and finds it in the cache.
    """
    for number in range(len(GIANT)):
        chosen = (worker + number) % len(GIANT)
        with (locks / f"kernel-{chosen}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            _cluster_two_mentions(giant=GIANT[chosen])


def _cluster_two_mentions(*, giant: bool) -> None:
    """Cluster two mentions that share a feature, without and with a cannot-link."""
    bags = Bags(np.array([0, 2]), np.arange(3), np.zeros(2, np.int32), np.ones(2))
    frequencies = Frequencies(("term",), np.array([0, 1]), np.array([2.0]), np.array([2.0]), 2)
    group, profile, cannot_link = (np.array(values, np.int32) for values in ([0, 1], [0, 1], [1, 0]))
    if not giant:
        pair_scores(bags, 0, frequencies)
    for constraints in (None, Constraints(group, profile, np.array([0, 1, 2]), cannot_link)):
        cluster(bags, frequencies, Settings(), constraints=constraints, margins=True, giant=np.array([giant]))
