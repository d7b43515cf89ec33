"""Whose files are in a work directory: homonym uses only its own directories, and removes only files it has written."""

from __future__ import annotations

import os
import shutil
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from homonym.commands.convert import convert
from homonym.commands.disambiguate import disambiguate
from homonym.commands.extract import extract
from homonym.commands.run import Resources
from homonym.errors import HomonymError, OutputError
from homonym.runtime import work_directory
from homonym.runtime.own_files import ALL, LOCK, MARKER, remove_own
from homonym.runtime.work_directory import MARKER_TEXT
from homonym.settings import Settings
from tests.support.command import homonym_command, homonym_process

RECORDS = "".join(
    f'{{"id": "{number}", "title": "Coins {number}", "authors": [{{"name": "Doe, J"}}, {{"name": "Roe, R"}}]}}\n'
    for number in range(20)
)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    (tmp_path / "in.jsonl").write_text(RECORDS)
    return tmp_path / "in.jsonl"


def run(documents: Path, work: Path | None = None, **options: Any) -> list[str]:
    """Run, in a work directory or with the hidden one next to the output; returns the warnings."""
    resources = Resources(threads=1, work=work)
    return disambiguate(
        documents, documents.with_name("out.csv"), Settings(kappa=7), resources=resources, **options
    ).warnings  # fmt: skip


def marked(path: Path) -> Path:
    """A directory as a run leaves it."""
    path.mkdir(mode=0o700)
    (path / MARKER).write_bytes(MARKER_TEXT)
    (path / LOCK).touch()
    return path


def contents(folder: Path) -> dict[str, bytes | None]:
    """All files and folders, with the content of files; links are not followed."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("hidden", [True, False])
def test_creates_a_directory_for_this_user_only(documents: Path, hidden: bool) -> None:
    work = documents.with_name(".out.csv.work" if hidden else "work")
    with work_directory.work_directory(work, lasting=not hidden):
        assert stat.S_IMODE(work.stat().st_mode) == 0o700
        assert (work / MARKER).read_bytes().startswith(b"homonym work directory, format 1\n")
    assert work.exists() != hidden


@pytest.mark.parametrize("others", [["thesis.tex"], ["lock", "thesis.tex"], ["lock", "records/a.parquet"], ["bags/a"]])
@pytest.mark.parametrize("hidden", [True, False])
def test_leaves_a_directory_without_marker_alone(documents: Path, others: list[str], hidden: bool) -> None:
    """A file named lock used to make a directory one of ours, and then all of its files were removed."""
    work = documents.with_name(".out.csv.work" if hidden else "work")
    for name in others:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("mine")
    before = contents(work)
    with pytest.raises(OutputError, match="is not empty and is not a work directory of homonym; name another"):
        run(documents, None if hidden else work)
    assert contents(work) == before


def test_says_that_a_directory_is_of_an_older_version(documents: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "done" / "read").mkdir(parents=True)
    (work / "lock").write_text("123\n")
    (work / "run.json").write_text("{}")
    before = contents(work)
    with pytest.raises(OutputError, match=r"work directory of an older version of homonym.* delete it"):
        run(documents, work)
    assert contents(work) == before


@pytest.mark.parametrize("marker", [b"", b"homonym work directory, format 2\n", b"other", bytes(80)])
def test_refuses_a_marker_with_other_content(documents: Path, tmp_path: Path, marker: bytes) -> None:
    work = marked(tmp_path / "work")
    (work / MARKER).write_bytes(marker)
    (work / "feature.bin").write_bytes(b"mine")
    with pytest.raises(OutputError, match="is a work directory of another version of homonym; delete it"):
        run(documents, work)
    assert (work / "feature.bin").read_bytes() == b"mine"


def link_to_file(path: Path) -> None:
    (path.parents[1] / "bashrc").write_text("alias ll='ls -l'\n")
    path.symlink_to("../bashrc")


def hard_link(path: Path) -> None:
    (path.parents[1] / "bashrc").write_text("alias ll='ls -l'\n")
    path.hardlink_to(path.parents[1] / "bashrc")


def full_device(path: Path) -> None:
    path.symlink_to("/dev/full")


def other_text(path: Path) -> None:
    path.write_text("my key: 123")


HOSTILE_LOCKS = [os.mkfifo, Path.mkdir, link_to_file, hard_link, full_device, other_text]


@pytest.mark.parametrize("make", HOSTILE_LOCKS)
@pytest.mark.parametrize("with_marker", [True, False])
def test_refuses_a_lock_file_of_somebody_else(
    documents: Path, tmp_path: Path, make: Callable[[Path], None], with_marker: bool
) -> None:
    work = marked(tmp_path / "work")
    (work / LOCK).unlink()
    if not with_marker:
        (work / MARKER).unlink()
    make(work / LOCK)
    before = contents(tmp_path)
    with pytest.raises(OutputError, match="lock is not a lock file of homonym; remove it, or name another with --work"):
        run(documents, work)
    assert contents(tmp_path) == before


def test_the_command_line_says_it_in_one_sentence(documents: Path, tmp_path: Path) -> None:
    work = marked(tmp_path / "work")
    (work / LOCK).unlink()
    os.mkfifo(work / LOCK)
    done = homonym_command("disambiguate", documents, "-o", tmp_path / "out.csv", "--work", work)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "lock is not a lock file of homonym" in done.stderr


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, link_to_file])
def test_refuses_a_marker_that_is_no_file(documents: Path, tmp_path: Path, make: Callable[[Path], None]) -> None:
    work = marked(tmp_path / "work")
    (work / MARKER).unlink()
    make(work / MARKER)
    (work / "feature.bin").write_bytes(b"mine")
    with pytest.raises(OutputError, match="cannot be a work directory"):
        run(documents, work)
    assert (work / "feature.bin").read_bytes() == b"mine"


def test_refuses_the_directory_of_another_user(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    work = marked(tmp_path / "work")
    if os.geteuid() == 0:
        os.chown(work, 12345, 12345)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        monkeypatch.setattr(work_directory, "_owner_of_new_files", lambda path: 12345)
    before = contents(work)
    with pytest.raises(OutputError, match=r"work belongs to another user \(number \d+\); name another with --work"):
        run(documents, work)
    assert contents(work) == before


def test_accepts_a_file_system_that_chooses_the_owner(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some network file systems give all files one owner, other than the user."""
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert run(documents, marked(tmp_path / "work")) == []


def test_refuses_a_directory_that_everybody_may_write_to(documents: Path, tmp_path: Path) -> None:
    work = marked(tmp_path / "work")
    work.chmod(0o777)
    with pytest.raises(OutputError, match=r"every user may write to .*work; forbid that"):
        run(documents, work)


def test_follows_a_link_that_the_user_names(documents: Path, tmp_path: Path) -> None:
    """Users link work directories to a scratch disk; the checks apply to the target."""
    (tmp_path / "scratch").mkdir()
    (tmp_path / "work").symlink_to("scratch")
    (tmp_path / "new").symlink_to("not-there-yet")
    for name in ("work", "new"):
        run(documents, tmp_path / name)
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / name / "feature.bin").exists()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").touch()
    (tmp_path / "planted").symlink_to("home")
    with pytest.raises(OutputError, match="home is not empty and is not a work directory"):
        run(documents, tmp_path / "planted")


@pytest.mark.parametrize("is_marked", [True, False])
def test_does_not_follow_a_link_in_place_of_the_hidden_directory(
    documents: Path, tmp_path: Path, is_marked: bool
) -> None:
    target = marked(tmp_path / "target") if is_marked else tmp_path / "target"
    target.mkdir(exist_ok=True)
    (tmp_path / ".out.csv.work").symlink_to("target")
    before = contents(target)
    with pytest.raises(OutputError, match="is a symbolic link; remove it, or name its target with --work"):
        run(documents)
    assert contents(target) == before


FOREIGN = [
    "thesis.tex", "my.duckdb", "records/notes.txt", "records/other.parquet", "bags/1.parquet", "done/notes.txt",
    "writing/notes.txt", "writing/12/notes.txt", "spill/notes.txt", "spark/notes.txt", "spark/read/notes.txt",
    "folder/000000000000000.parquet", ".hidden.partial", "keys/folder/file", "a.npy", "statistics.tsv",
]  # fmt: skip


@pytest.mark.parametrize("hidden", [True, False])
def test_removes_only_own_files_of_an_own_directory(documents: Path, tmp_path: Path, hidden: bool) -> None:
    work = marked(tmp_path / (".out.csv.work" if hidden else "work"))
    for name in FOREIGN:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("mine")
    warnings = run(documents, None if hidden else work)
    assert all((work / name).read_text() == "mine" for name in FOREIGN)
    if hidden:
        (warning,) = warnings
        assert f"{work} stays, because homonym did not write all of its files (.hidden.partial, a.npy, bags)" in warning
        assert {name for name, content in contents(work).items() if content is not None} == {*FOREIGN, MARKER, LOCK}
        assert len(run(documents)) == 1  # and the next run works, too
    else:
        assert warnings == []


@pytest.mark.slow
def test_foreign_tables_are_not_read(documents: Path, tmp_path: Path) -> None:
    """A table next to the parts would add its rows to the result."""
    run(documents)
    expected = (tmp_path / "out.csv").read_bytes()
    run(documents, tmp_path / "work")
    for folder in ("records", "mentions", "features", "bags"):
        (part,) = (tmp_path / "work" / folder).iterdir()
        shutil.copy(part, part.with_name("other.parquet"))
    for path in (tmp_path / "work" / "done").rglob("*.json"):
        path.unlink()
    run(documents, tmp_path / "work")
    assert (tmp_path / "out.csv").read_bytes() == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["records", "done", "done/read", "writing", "writing/12", "spill", "spark", "feature.bin"]
)
@pytest.mark.parametrize("hidden", [True, False])
def test_never_follows_links_in_the_directory(documents: Path, tmp_path: Path, name: str, hidden: bool) -> None:
    """Through a link, a whole directory of the user was removed."""
    home = tmp_path / "home"
    precious = ["read/000000000000000.json", "000000000000000.parquet", "encoded.json", "12/x", "feature.bin"]
    for file in precious:
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).write_text("mine")
    work = marked(tmp_path / (".out.csv.work" if hidden else "work"))
    (work / name).parent.mkdir(exist_ok=True)
    (work / name).symlink_to(home / name if name == "feature.bin" else home)
    before = contents(home)
    assert run(documents, None if hidden else work) == []
    assert contents(home) == before
    assert work.exists() != hidden


def test_overwrites_no_file_through_a_hard_link(documents: Path, tmp_path: Path) -> None:
    work = marked(tmp_path / "work")
    names = ["feature.bin", "count.bin", "owners.npy", "mentions.parquet", "statistics.csv", "collection.duckdb"]
    for name in names:
        (tmp_path / f"my-{name}").write_text("mine")
        (work / name).hardlink_to(tmp_path / f"my-{name}")
    run(documents, work, save_statistics=tmp_path / "saved.csv")
    assert all((tmp_path / f"my-{name}").read_text() == "mine" for name in names)


def test_a_file_in_place_of_a_folder_is_one_sentence(documents: Path, tmp_path: Path) -> None:
    work = marked(tmp_path / "work")
    (work / "bags").write_text("mine")
    with pytest.raises(OutputError, match="bags is a file, but homonym keeps a directory of that name; move it away"):
        run(documents, work)
    assert (work / "bags").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("name", ["", "records", "done"])
def test_a_folder_without_permission_is_one_sentence(documents: Path, tmp_path: Path, name: str) -> None:
    run(documents, tmp_path / "work")
    (tmp_path / "work" / name).chmod(0)
    try:
        with pytest.raises(HomonymError):
            run(documents, tmp_path / "work")
    finally:
        (tmp_path / "work" / name).chmod(0o700)


@pytest.mark.slow
def test_every_file_that_a_run_writes_is_known(documents: Path, tmp_path: Path) -> None:
    """All commands and options that write to a work directory: nothing may remain when its own files are removed."""
    work = tmp_path / "work"
    resources = Resources(work=work)
    convert(documents, tmp_path / "a.jsonl", resources=resources)
    extract(documents, tmp_path / "a.parquet", resources=resources)
    for name in ("s.csv", "s.csv.gz", "s.parquet"):
        run(documents, work, save_statistics=tmp_path / name)
    assert len(contents(work)) > 20
    remove_own(work, ALL)
    assert contents(work) == {}


KILLED = """
import os, signal
from homonym.engines import local
local.cluster = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_removes_everything_after_a_resumed_run(documents: Path, tmp_path: Path) -> None:
    options = ("disambiguate", documents, "-o", tmp_path / "out.csv", "--kappa", 7, "-q")
    assert homonym_process(*options, before=KILLED).returncode == -signal.SIGKILL
    assert (tmp_path / ".out.csv.work" / "feature.bin").exists()
    assert homonym_command(*options).returncode == 0
    assert not (tmp_path / ".out.csv.work").exists()
