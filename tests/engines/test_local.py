"""The local engine: progress of reading, and batches of blocks for its threads."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym import Corpus, Settings, generate
from homonym.engines.local import ALONE_PAIRS, BATCH_OCCURRENCES, RECORDS_PER_REPORT, LocalEngine, block_batches
from homonym.records.reader import Inputs
from homonym.runtime.progress import Stages


@pytest.mark.parametrize("compressed", [True, False])
def test_progress_of_reading_reaches_the_end_of_the_file(tmp_path: Path, compressed: bool) -> None:
    path = generate(tmp_path / "corpus", Corpus(mentions=4 * RECORDS_PER_REPORT * 5))
    if not compressed:
        path = path.with_suffix("")
        path.write_bytes(gzip.decompress((path.parent / "documents.jsonl.gz").read_bytes()))
    stages = Stages()
    LocalEngine(tmp_path, 1, 1 << 30, stages).read_documents(Inputs.of([path]), Settings())
    assert stages.costs["read"].items == path.stat().st_size


@given(
    sizes=st.lists(st.integers(1, 5) | st.integers(900, 3000), min_size=1, max_size=40),
    each=st.integers(0, 20_000),
    threads=st.integers(1, 8),
)
def test_batches_contain_every_block_once_most_work_first(sizes: list[int], each: int, threads: int) -> None:
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    planned = block_batches(start, np.full(start[-1], each, np.int64), threads)
    covered = sorted((batch.first, batch.last) for batch in planned)
    assert covered[0][0] == 0
    assert covered[-1][1] == len(sizes)
    assert all(before[1] == after[0] for before, after in pairwise(covered))
    work = []
    for batch in planned:
        own = sizes[batch.first : batch.last]
        assert (batch.mentions, batch.largest) == (sum(own), max(own))
        if len(own) > 1:
            assert max(own) ** 2 <= ALONE_PAIRS
            assert batch.mentions * each <= BATCH_OCCURRENCES
        work.append(sum(size**2 for size in own) + batch.mentions * each)
    assert work == sorted(work, reverse=True)


def test_a_small_collection_has_work_for_all_threads() -> None:
    start, features = np.arange(1001), np.full(1000, 10)
    for threads in (1, 2, 16):
        assert len(block_batches(start, features, threads)) >= 2 * threads
