"""Pipes and devices: recognised, opened without waiting forever, and never emptied."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from homonym.io import special_files
from homonym.io.special_files import copy_to_special, is_named_pipe, is_special, open_input

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes")


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def test_kinds_of_files(tmp_path: Path, pipe: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(pipe)
    named = {"file": tmp_path / "file", "folder": tmp_path, "missing": tmp_path / "missing", "pipe": pipe,
             "link": tmp_path / "link", "null": Path("/dev/null"), "stdout": Path("/dev/stdout"),
             "stderr": Path("/dev/stderr"), "open": Path("/proc/self/fd/missing")}  # fmt: skip
    assert [name for name, path in named.items() if is_special(path)] == [
        "pipe", "link", "null", "stdout", "stderr", "open"
    ]  # fmt: skip
    assert [name for name, path in named.items() if is_named_pipe(path) and name not in {"stdout", "stderr"}] == [
        "pipe", "link"
    ]  # fmt: skip


def test_files_and_pipes_are_read(tmp_path: Path, pipe: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    with open_input(tmp_path / "file") as stream:
        assert stream.read() == b"content"
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"sent"), daemon=True)
    writer.start()
    with open_input(pipe) as stream:
        assert stream.read() == b"sent"
    writer.join()


def test_waits_half_a_minute_for_the_other_end_of_a_pipe() -> None:
    assert special_files.PATIENCE == 30


def test_reading_a_pipe_ends_if_no_program_writes_to_it(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(special_files, "PATIENCE", 0.1)
    with pytest.raises(TimeoutError) as caught:
        open_input(pipe)
    message = "it is a pipe, and no program has opened it for writing within 0.1 seconds"
    assert caught.value.args == (0, message)
    assert threading.active_count() == len([one for one in threading.enumerate() if one.is_alive()])


def test_writing_to_a_pipe_ends_if_no_program_reads_it(
    tmp_path: Path, pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(special_files, "PATIENCE", 0.1)
    (tmp_path / "file").write_bytes(b"content")
    with pytest.raises(TimeoutError) as caught:
        copy_to_special(tmp_path / "file", pipe)
    assert caught.value.args == (0, "it is a pipe, and no program has opened it for reading within 0.1 seconds")


def test_errors_of_opening_a_pipe_are_kept(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(special_files, "is_named_pipe", lambda path: True)
    with pytest.raises(FileNotFoundError):
        open_input(pipe.with_name("missing"))


def test_a_pipe_gets_everything_even_if_its_reader_comes_late_and_is_slow(tmp_path: Path, pipe: Path) -> None:
    content = os.urandom(1 << 20)  # more than a pipe holds
    (tmp_path / "file").write_bytes(content)
    writer = threading.Thread(target=copy_to_special, args=(tmp_path / "file", pipe), daemon=True)
    writer.start()
    writer.join(0.2)
    assert pipe.read_bytes() == content
    writer.join()


def test_an_open_file_is_appended_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    with (tmp_path / "output").open("wb") as stream:
        stream.write(b"before ")
        stream.flush()
        copy_to_special(tmp_path / "file", Path(f"/proc/self/fd/{stream.fileno()}"))
    assert (tmp_path / "output").read_bytes() == b"before content"
    with pytest.raises(FileNotFoundError):  # it does not make a file
        copy_to_special(tmp_path / "file", tmp_path / "missing")
