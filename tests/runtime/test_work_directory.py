"""The work directory: locked, removed after a run, kept for one that is resumed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from homonym.errors import InputError, OutputError, SettingsError
from homonym.io.outputs import remove_partial
from homonym.runtime import work_directory
from homonym.runtime.checkpoints import Manifest
from homonym.runtime.own_files import MARKER

# A guard against hanging, not a measurement.
PATIENCE = 120


def test_removes_the_directory_after_a_finished_run(tmp_path: Path) -> None:
    with work_directory.work_directory(tmp_path / "work") as directory:
        Manifest(directory.path).add("read/1", "key", {})
        (directory.path / "bags").mkdir()
        (directory.path / "bags" / "000000000000000.parquet").touch()
        (directory.path / "feature.bin").touch()
        assert (directory.former, directory.resumed) == (None, False)
    assert not list(tmp_path.iterdir())


def test_keeps_a_lasting_directory(tmp_path: Path) -> None:
    for resumed in (False, True):
        with work_directory.work_directory(tmp_path / "work", lasting=True) as directory:
            assert directory.resumed == resumed
            Manifest(directory.path).add("read/1", "key", {})
    assert (tmp_path / "work" / "lock").read_bytes() == b""


@pytest.mark.parametrize("step", ["_require_ours", "_acquire"])
@pytest.mark.parametrize("what", ["directory", "lock"])
def test_another_run_may_end_and_remove_the_directory_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, what: str
) -> None:
    work, calls, original = tmp_path / "work", list[int](), getattr(work_directory, step)

    def after_removal(*arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 1:
            (work / "lock").unlink(missing_ok=True)
            if what == "directory":
                work.rmdir()
        original(*arguments)

    monkeypatch.setattr(work_directory, step, after_removal)
    with work_directory.work_directory(work) as directory:
        assert directory.lock is not None
        assert os.path.samestat(os.fstat(directory.lock), (work / "lock").stat())
        assert os.pread(directory.lock, 99, 0) == f"{os.getpid()}\n".encode()
    assert not work.exists()


def test_a_marker_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with work_directory.work_directory(tmp_path / "work", lasting=True):
        pass
    marker, status_of = (tmp_path / "work" / MARKER).stat(), os.fstat

    def of_another_user(file: int) -> Any:
        status = status_of(file)
        return SimpleNamespace(st_uid=4711, st_mode=status.st_mode) if status.st_ino == marker.st_ino else status

    monkeypatch.setattr(os, "fstat", of_another_user)
    with (
        pytest.raises(OutputError, match=f"{MARKER} belongs to another user; name another directory with --work"),
        work_directory.work_directory(tmp_path / "work"),
    ):
        pass


def test_a_work_directory_is_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with work_directory.work_directory(tmp_path / "work") as directory:
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (directory.path, directory.path / "lock")}
    finally:
        os.umask(before)
    assert modes == {"work": 0o700, "lock": 0o600}


def test_removes_the_directory_of_an_interrupted_run_without_checkpoints(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt) as ended, work_directory.work_directory(tmp_path / "work"):
        raise KeyboardInterrupt
    assert not hasattr(ended.value, "__notes__")
    assert not list(tmp_path.iterdir())


def checkpoint_then(error: BaseException, work: Path) -> BaseException:
    """Add a checkpoint to the work directory, and return the exception to raise."""
    Manifest(work).add("read/1", "key", {})
    return error


def test_an_error_keeps_the_checkpoints_of_an_earlier_run(tmp_path: Path) -> None:
    for error in (KeyboardInterrupt(), SettingsError("wrong")):
        with pytest.raises(type(error)) as ended, work_directory.work_directory(tmp_path / "work"):
            raise checkpoint_then(error, tmp_path / "work")
        assert f"kept in {tmp_path / 'work'}" in ended.value.__notes__[0]
    assert Manifest(tmp_path / "work").load("read/1", "key", dict) is not None


@pytest.mark.parametrize(("size", "is_kept"), [(64 << 20, True), ((64 << 20) - 1, False)])
@pytest.mark.parametrize("mistake", [SettingsError("wrong"), InputError("wrong")])
def test_a_mistake_of_the_user_keeps_only_much_work(
    tmp_path: Path, mistake: Exception, size: int, is_kept: bool
) -> None:
    def work_then_fail(work: Path) -> None:
        with work_directory.work_directory(work) as directory:
            Manifest(work).add("read/1", "key", {})
            with (work / "feature.bin").open("wb") as stream:
                stream.truncate(size - directory.bytes())
            raise mistake

    with pytest.raises(type(mistake)):
        work_then_fail(tmp_path / "work")
    assert (tmp_path / "work").exists() == is_kept


def test_refuses_a_directory_with_other_files(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with (
        pytest.raises(OutputError, match="not empty and is not a work directory"),
        work_directory.work_directory(tmp_path),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    for path in (tmp_path / "mine", tmp_path / "nowhere" / "work"):
        with pytest.raises(OutputError, match="cannot be a directory"), work_directory.work_directory(path):
            pass


def test_removes_unfinished_files_of_a_killed_run(tmp_path: Path) -> None:
    with work_directory.work_directory(tmp_path / "work", lasting=True):
        (tmp_path / "work" / "writing" / "12").mkdir(parents=True)
        (tmp_path / "work" / "done").mkdir()
        (tmp_path / "work" / "done" / ".1-2.x.json.partial").touch()
    with work_directory.work_directory(tmp_path / "work", lasting=True):
        assert sorted(path.name for path in (tmp_path / "work").rglob("*")) == [MARKER, "lock"]


def test_refuses_a_directory_that_a_running_process_uses(tmp_path: Path) -> None:
    with (
        work_directory.work_directory(tmp_path / "work"),
        pytest.raises(OutputError, match=rf"in use by another run \(process {os.getpid()}\); wait"),
        work_directory.work_directory(tmp_path / "work"),
    ):
        pass


HOLDER = """
import os, signal, subprocess, sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from homonym.runtime.work_directory import work_directory
with work_directory(Path("work"), lasting=True) as directory:
    script = "import sys, time; sys.stdin.read(); time.sleep(0.5); open('survived', 'w').close()"
    subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, pass_fds=[directory.lock])
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_waits_for_the_workers_of_a_killed_run(tmp_path: Path) -> None:
    """A process that outlives its parent may still be writing: no other run begins before it has ended."""
    holder = subprocess.run([sys.executable, "-c", HOLDER], cwd=tmp_path, timeout=PATIENCE)
    assert holder.returncode == -signal.SIGKILL
    with work_directory.work_directory(tmp_path / "work") as directory:
        assert (tmp_path / "survived").exists()
        assert directory.former is not None


def test_gives_up_waiting_for_workers_that_do_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_directory, "PATIENCE", 0.2)
    monkeypatch.setattr(work_directory, "_is_alive", lambda process: False)
    with (
        work_directory.work_directory(tmp_path / "work"),
        pytest.raises(OutputError, match="in use by another run"),
        work_directory.work_directory(tmp_path / "work"),
    ):
        pass


def test_without_file_locks_the_process_number_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_directory, "fcntl", None)
    with (
        work_directory.work_directory(tmp_path / "work", lasting=True),
        pytest.raises(OutputError, match="in use by another run"),
        work_directory.work_directory(tmp_path / "work"),
    ):
        pass
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(PATIENCE)
    (tmp_path / "work" / "lock").write_text(f"{ended.pid}\n")
    with work_directory.work_directory(tmp_path / "work") as directory:
        assert directory.former == ended.pid


@pytest.mark.parametrize(
    ("content", "former"),
    [(b"", None), (b"\0" * 9, None), (b"\n", None), (b"7\n", 7), (b"9" * 19 + b"\n", 10**19 - 1)],
)
def test_the_lock_file_names_the_process_that_did_not_end_normally(
    tmp_path: Path, content: bytes, former: int | None
) -> None:
    with work_directory.work_directory(tmp_path / "work", lasting=True):
        pass
    (tmp_path / "work" / "lock").write_bytes(content)
    with work_directory.work_directory(tmp_path / "work", lasting=True) as directory:
        assert directory.former == former
        assert (tmp_path / "work" / "lock").read_text() == f"{os.getpid()}\n"
    assert (tmp_path / "work" / "lock").read_bytes() == b""


@pytest.mark.parametrize("content", [b"9" * 20, b"7 8", b"x", b"7\n" + b" " * 30])
def test_a_lock_file_with_other_content_is_refused_and_stays(tmp_path: Path, content: bytes) -> None:
    with work_directory.work_directory(tmp_path / "work", lasting=True):
        pass
    (tmp_path / "work" / "lock").write_bytes(content)
    with (
        pytest.raises(OutputError, match="is not a lock file of homonym"),
        work_directory.work_directory(tmp_path / "work"),
    ):
        pass
    assert (tmp_path / "work" / "lock").read_bytes() == content


@pytest.mark.parametrize(
    ("names", "is_accepted"),
    [
        (["lock"], True),
        ([f".7-8.{MARKER}.partial"], True),
        ([f"7-8.{MARKER}.partial"], False),
        ([f".7-8.{MARKER}"], False),
        ([MARKER + ".partial"], False),
        (["lock", "other"], False),
    ],
)
def test_a_directory_may_have_the_first_files_of_a_run_that_was_killed(
    tmp_path: Path, names: list[str], is_accepted: bool
) -> None:
    for name in names:
        (tmp_path / name).touch()
    if is_accepted:
        with work_directory.work_directory(tmp_path, lasting=True):
            assert (tmp_path / MARKER).exists()
    else:
        with pytest.raises(OutputError, match="is not empty and is not a work directory"):
            work_directory._open(tmp_path, lasting=True)
        assert sorted(os.listdir(tmp_path)) == sorted(names)


def test_files_of_others_stay_and_are_named(tmp_path: Path) -> None:
    warnings: list[str] = []
    with work_directory.work_directory(tmp_path / "work", warnings=warnings) as directory:
        for name in ("d", "b", "a", "c", "feature.bin"):
            (directory.path / name).touch()
    assert warnings == [f"{tmp_path / 'work'} stays, because homonym did not write all of its files (a, b, c)."]
    assert sorted(os.listdir(tmp_path / "work")) == sorted(["a", "b", "c", "d", MARKER, "lock"])


@pytest.mark.parametrize(("lasting", "advice"), [(True, "resumes there."), (False, "resumes there, or delete it.")])
def test_message_about_kept_work_says_what_to_do(tmp_path: Path, lasting: bool, advice: str) -> None:
    directory = work_directory.WorkDirectory(tmp_path, lasting=lasting)
    assert directory.kept_message == f"Finished work is kept in {tmp_path}: the same command {advice}"


def test_where_files_cannot_be_locked_the_process_number_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    assert work_directory.fcntl is not None
    monkeypatch.setattr(work_directory.fcntl, "flock", refuse)
    with (
        work_directory.work_directory(tmp_path / "work", lasting=True),
        pytest.raises(OutputError, match=rf"in use by another run \(process {os.getpid()}\)"),
        work_directory.work_directory(tmp_path / "work"),
    ):
        pass
    with work_directory.work_directory(tmp_path / "work"):
        pass


def test_a_process_of_another_user_counts_as_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(number: int) -> None:
        raise psutil.AccessDenied(number)

    monkeypatch.setattr(psutil, "Process", refuse)
    assert work_directory._is_alive(os.getpid())


def test_a_zombie_process_is_not_alive() -> None:
    killed = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert work_directory._is_alive(killed.pid)
    killed.kill()
    until = time.monotonic() + PATIENCE
    while work_directory._is_alive(killed.pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert not work_directory._is_alive(killed.pid)
    killed.communicate(timeout=PATIENCE)


def test_removes_partial_outputs_of_a_killed_process(tmp_path: Path) -> None:
    ours = [".7-0a.partial.out.csv.gz", ".7-0b.partial.out.settings.toml", ".7-0c.partial.out.run.json"]
    others = [".8-0a.partial.out.csv.gz", ".77-0a.partial.out.csv.gz", "out.csv.gz", ".7-0a.partial.other.csv"]
    for name in [*ours, *others]:
        (tmp_path / name).touch()
    remove_partial(tmp_path / "out.csv.gz", 7)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(others)


def test_temporary_directory_is_new_and_is_removed() -> None:
    with work_directory.temporary_work_directory() as directory:
        assert directory.path.is_dir()
        assert (directory.lock, directory.former, directory.resumed, directory.lasting) == (None, None, False, False)
    assert not directory.path.exists()


def test_can_be_imported_where_there_are_no_file_locks() -> None:
    code = "import sys; sys.modules['fcntl'] = None; from homonym.runtime import work_directory as w; print(w.fcntl)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert found.stdout == "None\n", found.stderr
