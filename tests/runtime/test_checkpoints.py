"""Files of a work directory: on the disk, unless they need not be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from homonym.runtime import checkpoints
from homonym.runtime.checkpoints import read_with_digest, write_file, write_with_digest


@pytest.mark.parametrize("write", [write_file, write_with_digest])
@pytest.mark.parametrize(("given", "expected"), [({}, True), ({"durable": True}, True), ({"durable": False}, False)])
def test_files_are_on_the_disk_unless_they_need_not_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: object, given: dict[str, bool], expected: bool
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append("content"))
    monkeypatch.setattr(checkpoints, "sync_directory", lambda folder: synced.append(folder.name))
    assert callable(write)
    write(tmp_path / "new" / "a", b"text", **given)
    assert synced == ([tmp_path.name, "content", "new"] if expected else [])
    assert os.listdir(tmp_path / "new") == ["a"]


def test_damaged_files_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    assert read_with_digest(path) is None
    write_with_digest(path, b"text\nmore")
    assert read_with_digest(path) == b"text\nmore"
    path.write_bytes(path.read_bytes()[:-1])
    assert read_with_digest(path) is None
    path.write_bytes(b"text")
    assert read_with_digest(path) is None
