"""Folders in which parts are written before they get their names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from homonym.engines.local_checkpoints import _temporary_folder


def test_a_part_that_cannot_be_removed_does_not_hide_why_writing_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    def fail() -> None:
        with _temporary_folder(tmp_path) as folder:
            (folder / "a.parquet").touch()
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    assert not list(tmp_path.rglob("*.parquet"))
    monkeypatch.setattr(os, "unlink", refuse)
    with pytest.raises(OSError, match="disk full"):
        fail()
