"""Directories that appear as a whole, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from homonym.errors import OutputError
from homonym.io import folders
from homonym.io.folders import require_folder, take_place, written_folder


def content(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in sorted(folder.rglob("*")) if file.is_file()}


def write(path: Path, **files: str) -> None:
    with written_folder(path, list(files)) as folder:
        assert os.listdir(folder) == []
        for name, text in files.items():
            (folder / name).write_text(text)


def test_a_folder_appears_and_replaces_one_with_the_same_files(tmp_path: Path) -> None:
    write(tmp_path / "new", a="1", b="2")
    assert content(tmp_path) == {"new/a": "1", "new/b": "2"}
    write(tmp_path / "new", a="3", b="4", c="5")
    (tmp_path / "link").symlink_to("new")
    write(tmp_path / "link", a="6", b="7", c="8")
    assert content(tmp_path) == {"new/a": "6", "new/b": "7", "new/c": "8"}
    assert sorted(os.listdir(tmp_path)) == ["link", "new"]


def test_other_files_are_never_replaced(tmp_path: Path) -> None:
    write(tmp_path / "new", a="1")
    (tmp_path / "new" / "z").touch()
    (tmp_path / "new" / "y").touch()
    (tmp_path / "file").touch()
    (tmp_path / "broken").symlink_to("missing")
    os.mkfifo(tmp_path / "pipe")
    for name in ("file", "pipe"):
        with pytest.raises(OutputError, match=rf"{name} exists and is not a directory; name a new directory\.$"):
            require_folder(tmp_path / name, ["a"])
    with pytest.raises(OutputError, match=r"new has other files in it, such as y; name a new directory\.$"):
        require_folder(tmp_path / "new", ["a"])
    require_folder(tmp_path / "broken", ["a"])
    with pytest.raises(OutputError, match="cannot be written"):
        require_folder(tmp_path / "missing" / "new", ["a"])


def test_nothing_is_kept_if_writing_fails(tmp_path: Path) -> None:
    write(tmp_path / "new", a="1")

    def fail(written: str, by_others: str = "", error: Exception | None = None) -> None:
        with written_folder(tmp_path / "new", ["a"]) as folder:
            (folder / written).write_text("2")
            if by_others:
                (tmp_path / "new" / by_others).write_text("3")
            if error:
                raise error

    with pytest.raises(ZeroDivisionError):
        fail("a", error=ZeroDivisionError())
    with pytest.raises(OutputError, match=r"new cannot be written: reason; nothing was kept\.$"):
        fail("a", error=OSError("reason"))
    with pytest.raises(OutputError, match=r"new cannot be written: No such file or directory; nothing was kept\.$"):
        fail("c")
    with pytest.raises(OutputError, match=r"new has other files in it, such as b; name a new directory\.$"):
        fail("a", by_others="b")
    assert content(tmp_path) == {"new/a": "1", "new/b": "3"}
    assert os.listdir(tmp_path) == ["new"]


def test_the_files_and_the_directory_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    monkeypatch.setattr(folders, "sync_file", lambda path: synced.append(path.name))
    monkeypatch.setattr(folders, "sync_directory", lambda path: synced.append(str(path)))
    write(tmp_path / "new", a="1", b="2")
    assert synced == ["a", "b", str(tmp_path)]


def test_two_folders_change_places_or_stay(tmp_path: Path) -> None:
    for name in ("folder", "target"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    take_place(tmp_path / "folder", tmp_path / "target", tmp_path / "former")
    assert content(tmp_path) == {"former/target": "", "target/folder": ""}
    with pytest.raises(FileNotFoundError):
        take_place(tmp_path / "missing", tmp_path / "target", tmp_path / "other")
    with pytest.raises(FileNotFoundError):
        take_place(tmp_path / "target", tmp_path / "missing", tmp_path / "other")
    with pytest.raises(OSError):
        take_place(tmp_path / "missing", tmp_path / "target", tmp_path / "former")  # has files
    assert content(tmp_path) == {"former/target": "", "target/folder": ""}


def test_a_directory_that_took_the_place_meanwhile_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, former, rename = tmp_path / "target", tmp_path / "former", os.rename

    def renamed(old: Path, new: Path) -> None:
        if Path(old).name == "folder":
            make(target)
            raise OSError("reason")
        rename(old, new)

    monkeypatch.setattr(os, "rename", renamed)
    for make in (Path.touch, Path.mkdir):
        target.mkdir()
        inode = target.stat().st_ino
        with pytest.raises(OSError, match="reason"):
            take_place(tmp_path / "folder", target, former)
        assert former.stat().st_ino == inode
        assert target.is_dir() == (make is Path.mkdir)
        former.rmdir()
        (os.rmdir if target.is_dir() else os.unlink)(target)


def test_an_older_directory_that_cannot_be_removed_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    write(tmp_path / "new", a="1")
    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", refuse)
        write(tmp_path / "new", a="2")
    assert (tmp_path / "new" / "a").read_text() == "2"
