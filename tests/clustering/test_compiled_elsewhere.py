"""What a second process compiles while this one compiles the largest function."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from homonym.clustering.agglomerative import OTHER_KERNELS, load_kernels
from homonym.clustering.compiling import must_be_compiled

# Compiled by the other process: loading them must compile nothing.
LOADED = """
from homonym.clustering.agglomerative import load_other_kernels
from homonym.clustering.compiling import must_be_compiled
from homonym.clustering.dense.blocks import cluster_blocks, fill_pair_scores
from homonym.clustering.dense.cooccurrence import chance_levels_of_bags
from homonym.clustering.dense.merging import constrained_blocks
others = fill_pair_scores, chance_levels_of_bags, constrained_blocks
assert must_be_compiled(cluster_blocks)
assert not any(map(must_be_compiled, others))
load_other_kernels()
for function in others:
    assert function.stats.cache_hits and not function.stats.cache_misses, function
"""


@pytest.mark.slow
def test_another_process_fills_the_cache(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for code in (OTHER_KERNELS, LOADED):
        done = subprocess.run(
            [sys.executable, "-c", code, *sys.path], env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_no_process_is_started_once_everything_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    from homonym.clustering.dense.blocks import cluster_blocks

    load_kernels()
    if must_be_compiled(cluster_blocks):
        pytest.skip("machine code cannot be stored here")
    monkeypatch.setattr(subprocess, "Popen", None)
    load_kernels()


def test_a_function_without_a_cache_is_compiled_here() -> None:
    assert not must_be_compiled(len)
