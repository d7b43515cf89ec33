"""The manifest of finished work: entries are valid for their cache key and unchanged files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from homonym.runtime import checkpoints
from homonym.runtime.checkpoints import Manifest, digest, read_with_digest, write_file, write_with_digest


def test_finds_an_entry_by_key_while_its_files_are_unchanged(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path)
    (tmp_path / "a.bin").write_bytes(b"123")
    assert not manifest
    assert manifest.load("read/1", "key", dict) is None
    manifest.add("read/1", "key", {"rows": 3, "text": "é"}, ["a.bin"])
    assert manifest
    assert manifest.load("read/1", "key", dict) == {"rows": 3, "text": "é", "files": ["a.bin"]}
    assert manifest.load("read/1", "other", dict) is None
    assert list(manifest.names("read")) == ["read/1"]
    (tmp_path / "a.bin").write_bytes(b"12")
    assert manifest.load("read/1", "key", dict) is None
    (tmp_path / "a.bin").unlink()
    assert manifest.load("read/1", "key", dict) is None
    manifest.remove("read/1")
    manifest.remove("read/1")
    assert not manifest


def test_only_damage_is_reported_and_removes_the_entry(tmp_path: Path) -> None:
    reported: list[str] = []
    manifest = Manifest(tmp_path, reported.append)
    (tmp_path / "a.bin").write_bytes(b"123")
    assert manifest.load("read/1", "key", dict) is None
    manifest.add("read/1", "key", {}, ["a.bin"])
    assert manifest.load("read/1", "other", dict) is None
    assert manifest.load("read/1", "key", dict) is not None
    assert not reported
    (tmp_path / "a.bin").write_bytes(b"124")
    assert manifest.load("read/1", "key", dict) is None
    assert reported.pop() == "a.bin differs from its digest"
    assert not manifest
    manifest.add("read/1", "key", {}, ["a.bin"])
    (tmp_path / "a.bin").unlink()
    assert manifest.load("read/1", "key", dict) is None
    assert reported.pop() == "a.bin cannot be read (No such file or directory)"
    (tmp_path / "a.bin").mkdir()
    write_with_digest(tmp_path / "done" / "read" / "1.json", b"[]")
    assert manifest.load("read/1", "key", dict) is None
    assert len(reported) == 1
    (tmp_path / "done" / "read" / "1.json").write_bytes(b"[]")
    assert manifest.load("read/1", "key", dict) is None
    assert reported.pop() == "done/read/1.json differs from its digest"


def test_a_lack_of_memory_is_no_damage(tmp_path: Path) -> None:
    def load(facts: object) -> None:
        raise MemoryError

    manifest = Manifest(tmp_path)
    manifest.add("read/1", "key", {})
    with pytest.raises(MemoryError):
        manifest.load("read/1", "key", load)
    assert manifest.load("read/1", "key", dict) is not None


def test_names_are_those_of_one_folder(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path)
    for name in ("read/1", "read/2", "rounds/1", "encoded"):
        manifest.add(name, "key", {})
    assert sorted(manifest.names("read")) == ["read/1", "read/2"]
    assert list(manifest.names("nothing")) == []


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("target"), Path.mkdir])
def test_only_regular_files_are_opened(tmp_path: Path, make: Callable[[Path], None]) -> None:
    (tmp_path / "target").write_bytes(b"text")
    with checkpoints.open_plain(tmp_path / "target") as stream:
        assert stream.read() == b"text"
    make(tmp_path / "other")
    with pytest.raises(OSError, match=r"not a regular file|symbolic links|Is a directory"):
        checkpoints.open_plain(tmp_path / "other")
    assert read_with_digest(tmp_path / "other") is None


def test_a_file_is_on_the_disk_before_its_name_and_its_name_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    replace = Path.replace

    def renamed(path: Path, target: Path) -> Path:
        done.append(f"rename to {target.name}")
        return replace(path, target)

    monkeypatch.setattr("os.fsync", lambda number: done.append("sync"))
    monkeypatch.setattr(Path, "replace", renamed)
    monkeypatch.setattr(checkpoints, "sync_directory", lambda path: done.append(f"sync {path.name}"))
    write_file(tmp_path / "a" / "b" / "file", b"text")
    assert done == [f"sync {tmp_path.name}", "sync a", "sync", "rename to file", "sync b"]


@given(content=st.binary(max_size=50), place=st.integers(0, 1000), flipped=st.integers(0, 255))
@example(content=b"", place=64, flipped=0)
def test_detects_any_damage_to_a_file_with_digest(content: bytes, place: int, flipped: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "file")
        write_with_digest(path, content)
        assert read_with_digest(path) == content
        whole = path.read_bytes()
        place %= len(whole)
        rest = bytes([whole[place] ^ flipped]) + whole[place + 1 :] if flipped else b""
        path.write_bytes(whole[:place] + rest)
        assert read_with_digest(path) is None
        path.unlink()
        assert read_with_digest(path) is None


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    write_file(tmp_path / "file", b"old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_file(tmp_path / "file", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"


@given(st.lists(st.one_of(st.binary(), st.text(), st.integers(), st.none()), max_size=4))
def test_digests_depend_on_the_boundaries_of_parts(parts: list[Any]) -> None:
    assert digest(*parts) == digest(*parts)
    assert digest(*parts, b"") != digest(*parts)
    assert digest(parts) != digest(*parts, "more")


def test_names_of_files_are_on_the_disk_before_their_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bags").mkdir()
    for file in ("a.bin", "bags/b.bin"):
        (tmp_path / file).touch()
    synced: list[Path] = []
    monkeypatch.setattr(checkpoints, "sync_directory", synced.append)
    Manifest(tmp_path).add("read/1", "key", {}, ["a.bin", "bags/b.bin"])
    before = synced[: synced.index(tmp_path / "done" / "read")]
    assert {tmp_path, tmp_path / "bags"} <= {*before}
