"""Snapshots of giant blocks: the last one stays until the next one is complete."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from homonym.engines.local_checkpoints import RoundCheckpoint
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
