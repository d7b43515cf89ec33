"""Snapshots of giant blocks: the last one stays until the next one is complete."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from homonym.engines.local_checkpoints import RoundCheckpoint, remove_rounds
from homonym.runtime.checkpoints import Manifest


@pytest.mark.parametrize("complete", [1, 2, 3])
def test_a_snapshot_that_cannot_be_written_leaves_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, complete: int
) -> None:
    checkpoint = RoundCheckpoint(Manifest(tmp_path), block=7)
    for number in range(complete):
        checkpoint.save("key", {"rounds": np.array([number])})

    def full(*arguments: Any, **named: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="no space left"):
        checkpoint.save("key", {"rounds": np.array([complete])})
    found = RoundCheckpoint(Manifest(tmp_path), block=7).load("key")
    assert found is not None
    assert found["rounds"].tolist() == [complete - 1]


def test_a_run_that_resumed_leaves_the_snapshot_it_has_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        checkpoint = RoundCheckpoint(Manifest(tmp_path), block=7)
        found = checkpoint.load("key")
        assert (found is not None) == (number > 0)
        assert found is None or found["rounds"].tolist() == [number - 1]
        checkpoint.save("key", {"rounds": np.array([number])})
    resumed = RoundCheckpoint(Manifest(tmp_path), block=7)
    resumed.load("key")
    monkeypatch.setattr(Manifest, "add", lambda *_: None)
    resumed.save("key", {"rounds": np.array([3])})  # as if the process was killed before the entry was written
    found = RoundCheckpoint(Manifest(tmp_path), block=7).load("key")
    assert found is not None
    assert found["rounds"].tolist() == [2]


def test_a_snapshot_with_another_key_or_of_another_block_is_not_used(tmp_path: Path) -> None:
    RoundCheckpoint(Manifest(tmp_path), block=7).save("key", {"rounds": np.array([1])})
    assert RoundCheckpoint(Manifest(tmp_path), block=8).load("key") is None
    assert RoundCheckpoint(Manifest(tmp_path), block=7).load("key") is not None
    assert RoundCheckpoint(Manifest(tmp_path), block=7).load("other") is None
    assert RoundCheckpoint(Manifest(tmp_path), block=7).load("key") is None, "it was removed"


def test_snapshots_are_removed_when_all_blocks_are_clustered(tmp_path: Path) -> None:
    checkpoint = RoundCheckpoint(Manifest(tmp_path), block=7)
    for number in range(2):
        checkpoint.save("key", {"rounds": np.array([number])})
    remove_rounds(tmp_path)
    assert checkpoint.load("key") is None
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize(("seconds", "wait"), [(0.0, 60.0), (1.0, 60.0), (2.0, 60.0), (3.0, 90.0), (10.0, 300.0)])
def test_snapshots_are_a_minute_apart_and_take_a_thirtieth_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, wait: float
) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[-1])
    checkpoint = RoundCheckpoint(Manifest(tmp_path), block=7)

    def is_due_after(passed: float) -> bool:
        now.append(now[0] + passed)
        return checkpoint.is_due()

    assert [is_due_after(59.0), is_due_after(60.0)] == [False, True]
    now[:] = [2000.0]
    monkeypatch.setattr(Manifest, "add", lambda *_: now.append(now[-1] + seconds))
    checkpoint.save("key", {"rounds": np.array([1])})
    assert now == [2000.0, 2000.0 + seconds]
    now[0] += seconds
    assert [is_due_after(wait - 1), is_due_after(wait)] == [False, True]
