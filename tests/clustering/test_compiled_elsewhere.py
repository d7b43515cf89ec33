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
from homonym.clustering.agglomerative import load_kernels, load_other_kernels
from homonym.clustering.compiling import must_be_compiled
from homonym.clustering.dense.blocks import cluster_blocks, fill_pair_scores, gather_bags
from homonym.clustering.dense.cooccurrence import chance_levels_of_bags
from homonym.clustering.dense.margins import fill_shared, fit_strip
from homonym.clustering.dense.merging import constrained_blocks, join_best_pairs
from homonym.clustering.dense.scoring import score_changed
others = fill_pair_scores, chance_levels_of_bags, constrained_blocks, gather_bags
parts = score_changed, join_best_pairs, fill_shared, fit_strip
assert must_be_compiled(cluster_blocks)
assert not any(map(must_be_compiled, [*others, *parts]))
load_other_kernels()
load_kernels()
for function in [*others, *parts]:
    assert function.stats.cache_hits and not function.stats.cache_misses, function
"""

# A run finds machine code for all that it calls: nothing is compiled for other types of arrays.
RUN = """
import sys
from homonym import Corpus, disambiguate, generate
from homonym.clustering.agglomerative import load_kernels
from homonym.clustering.dense.blocks import gather_bags
load_kernels()
disambiguate(generate(sys.argv.pop(1), Corpus(mentions=200)), sys.argv.pop(1))
assert gather_bags.stats.cache_hits and not gather_bags.stats.cache_misses
"""


@pytest.mark.slow
def test_another_process_fills_the_cache(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for code, arguments in ((OTHER_KERNELS, sys.path), (LOADED, []), (RUN, [tmp_path / "corpus", tmp_path / "a.csv"])):
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
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
