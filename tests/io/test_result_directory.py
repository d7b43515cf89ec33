"""A result directory appears whole or not at all, replaces only results, and keeps the files of others."""

from __future__ import annotations

import errno
import fcntl
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from homonym.errors import InputError, OutputError
from homonym.io import result_directory
from homonym.io.inputs import expand
from homonym.io.result_directory import (
    DECISIONS,
    DOCUMENTS,
    MARKER,
    MENTIONS,
    REPORT,
    changed_directory,
    file_of,
    is_result,
    names_directory,
    recover_directory,
    require_result_place,
    written_directory,
)


def write(path: Path, content: str = "new", then: Callable[[], object] = lambda: None) -> Path:
    with written_directory(path) as folder:
        (folder / MENTIONS).write_text(content)
        then()
    return path


def raising(broken: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise broken

    return fail


def names(folder: Path) -> set[str]:
    return set(os.listdir(folder))


@pytest.mark.parametrize(
    ("output", "expected"),
    [("r", True), ("r/", True), ("r.v2/", True), ("r.csv", False), ("r.v2", False), ("a.b/r", True), (".r", True)],
)
def test_what_names_a_directory(output: str, expected: bool) -> None:
    assert names_directory(output) == expected


def test_an_existing_directory_is_one_whatever_its_suffix(tmp_path: Path) -> None:
    (tmp_path / "r.v2").mkdir()
    assert names_directory(tmp_path / "r.v2")


def test_appears_with_its_marker_and_leaves_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "r")
    assert is_result(tmp_path / "r")
    assert names(tmp_path / "r") == {MARKER, MENTIONS}
    assert names(tmp_path) == {"r"}
    assert file_of(tmp_path / "r", MENTIONS) == tmp_path / "r" / MENTIONS
    assert file_of(tmp_path / "other.csv", MENTIONS) == tmp_path / "other.csv"
    assert file_of(tmp_path, MENTIONS) == tmp_path


def test_an_empty_directory_is_used(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    assert is_result(write(tmp_path / "r"))


def test_replaces_a_result_but_keeps_the_files_of_others(tmp_path: Path) -> None:
    result = write(tmp_path / "r", "old")
    (result / REPORT).write_text("old page")
    (result / "notes.txt").write_text("precious")
    (result / "more").mkdir()
    (result / "more" / MENTIONS).write_text("precious, too")
    write(result)
    assert names(result) == {MARKER, MENTIONS, "notes.txt", "more"}
    assert (result / MENTIONS).read_text() == "new"
    assert (result / "notes.txt").read_text() == "precious"
    assert (result / "more" / MENTIONS).read_text() == "precious, too"
    assert names(tmp_path) == {"r"}


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("broken", [KeyboardInterrupt(), OSError(28, "No space left"), RuntimeError()])
def test_a_failure_leaves_the_old_result_or_nothing(tmp_path: Path, old: bool, broken: BaseException) -> None:
    if old:
        write(tmp_path / "r", "old")
    with pytest.raises((KeyboardInterrupt, OutputError, RuntimeError)):
        write(tmp_path / "r", "half", raising(broken))
    assert names(tmp_path) == ({"r"} if old else set())
    assert not old or (tmp_path / "r" / MENTIONS).read_text() == "old"


def test_a_failure_between_the_two_renames_puts_the_old_result_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, rename, calls = write(tmp_path / "r", "old"), os.rename, []

    def failing(source: Path, target: Path) -> None:
        calls.append(source)
        if len(calls) == 2:
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(KeyboardInterrupt):
        write(result)
    assert (result / MENTIONS).read_text() == "old"
    assert names(tmp_path) == {"r"}


def test_recovers_from_a_kill_between_the_two_renames(tmp_path: Path) -> None:
    former, partial = tmp_path / ".77-ab.former.r", tmp_path / ".77-ab.partial.r"
    write(former, "old")
    write(partial)
    (partial / ".7-x.partial.authors.parquet").write_text("half")
    recover_directory(tmp_path / "r", 78)
    assert not (tmp_path / "r").exists()
    recover_directory(tmp_path / "r", 77)
    assert names(tmp_path) == {"r"}
    assert (tmp_path / "r" / MENTIONS).read_text() == "old"


def test_an_older_result_and_a_partial_one_do_not_touch_what_is_no_result(tmp_path: Path) -> None:
    former, partial = write(tmp_path / ".77-ab.former.r", "old"), write(tmp_path / ".77-ab.partial.r")
    (partial / "notes.txt").write_text("precious")
    (tmp_path / ".77-aa.former.r").symlink_to(write(tmp_path / "other"))
    (tmp_path / ".77-aa.partial.r").touch()
    place = foreign(tmp_path / "r")
    recover_directory(place, 77)
    assert names(tmp_path / "other") == {MARKER, MENTIONS}
    assert names(place) == {"thesis.tex"}
    assert names(former) == {MARKER, MENTIONS}
    assert names(partial) == {"notes.txt"}


def test_the_name_of_an_older_result_ends_in_that_of_the_result() -> None:
    former = result_directory._former(Path("/a/.7-ab.partial.r.partial.s"))
    assert former == Path("/a/.7-ab.former.r.partial.s")


def test_recovers_from_a_kill_after_the_second_rename(tmp_path: Path) -> None:
    result, former = write(tmp_path / "r"), write(tmp_path / ".77-ab.former.r", "old")
    (former / "notes.txt").write_text("precious")
    recover_directory(result, 77)
    assert names(tmp_path) == {"r"}
    assert (result / MENTIONS).read_text() == "new"
    assert (result / "notes.txt").read_text() == "precious"


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    result = write(tmp_path / "disk" / "r", "old")
    (tmp_path / "link").symlink_to(result)
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (result / MENTIONS).read_text() == "new"
    assert names(tmp_path / "disk") == {"r"}


def foreign(path: Path) -> Path:
    path.mkdir()
    (path / "thesis.tex").write_text("precious")
    return path


def marked_by_a_link(path: Path) -> Path:
    foreign(path)
    (path.parent / "elsewhere").write_bytes(result_directory.MARKER_TEXT)
    (path / MARKER).symlink_to(path.parent / "elsewhere")
    return path


def with_another_marker(path: Path) -> Path:
    foreign(path)
    (path / MARKER).write_text("homonym work directory, format 1\n")
    return path


def link_to_foreign(path: Path) -> Path:
    path.symlink_to(foreign(path.parent / "target"))
    return path


def with_a_directory_as_table(path: Path) -> Path:
    write(path)
    (path / DOCUMENTS).mkdir()
    (path / DOCUMENTS / "a").write_text("precious")
    return path


def a_file(path: Path) -> Path:
    path.write_text("precious")
    return path


def a_pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def without_parent(path: Path) -> Path:
    return path / "missing" / "r"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (foreign, r"is not empty and not a result of homonym \(thesis\.tex is in it\); name another directory"),
        (marked_by_a_link, "is not empty and not a result of homonym"),
        (with_another_marker, "is not empty and not a result of homonym"),
        (link_to_foreign, "is not empty and not a result of homonym"),
        (with_a_directory_as_table, r"documents\.parquet is not a file, but homonym writes one of that name"),
        (a_file, "exists and is not a directory; name a new directory, or a table with a suffix"),
        (a_pipe, "exists and is not a directory"),
        (without_parent, "does not exist; create the directory first"),
    ],
)
def test_refuses_what_is_no_result(tmp_path: Path, make: Callable[[Path], Path], message: str) -> None:
    path = make(tmp_path / "r")
    before = {found: os.lstat(found) for found in tmp_path.rglob("*")}
    with pytest.raises(OutputError, match=message):
        require_result_place(path)
    with pytest.raises(OutputError, match=message):
        write(path)
    assert {found: os.lstat(found) for found in tmp_path.rglob("*")}.keys() == before.keys()


def test_names_the_first_of_several_directories_in_the_way(tmp_path: Path) -> None:
    result = write(tmp_path / "r")
    for name in (REPORT, DOCUMENTS):
        (result / name).mkdir()
    with pytest.raises(OutputError, match=r"r/documents\.parquet is not a file"):
        require_result_place(result)


def test_refuses_a_result_that_was_updated(tmp_path: Path) -> None:
    result = write(tmp_path / "r")
    (result / result_directory.CORPUS).touch()
    with pytest.raises(OutputError, match="r was updated, and a new run would lose its author ids and events; use"):
        require_result_place(result)


def test_refuses_a_mount_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = write(tmp_path / "r")
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == result)
    with pytest.raises(OutputError, match="r is a mount point and cannot be replaced; name a directory inside of it"):
        require_result_place(result)


@pytest.mark.parametrize("in_one_step", [True, False])
def test_a_lock_waits_until_the_directories_are_swapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_one_step: bool
) -> None:
    """Else the marker of the directory that is removed would be locked. For a moment there may be none."""
    result, other = write(tmp_path / "r"), write(tmp_path / "other")
    stat_of, waits = os.stat, list[float]()

    def swapped_first(path: Path, **options: Any) -> os.stat_result:
        if Path(path) == result / MARKER and not (tmp_path / "former").is_dir():
            result.rename(tmp_path / "former")
            if in_one_step:
                other.rename(result)
        return stat_of(path, **options)

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if other.is_dir():
            other.rename(result)

    monkeypatch.setattr(os, "stat", swapped_first)
    monkeypatch.setattr(time, "sleep", wait)
    with result_directory.locked_decisions(result):
        assert waits == [0.01]
        flock, marker = fcntl.flock, (result / MARKER).open()
        with marker, pytest.raises(BlockingIOError):
            flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_refuses_a_directory_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    result = write(tmp_path / "r")
    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(OutputError, match="r cannot be read: Permission denied; name another directory"):
        require_result_place(result)


def test_the_current_directory_may_be_missing_but_not_in_a_changed_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, gone = write(tmp_path / "r"), tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    result_directory.require_elsewhere(result)
    gone.rmdir()
    result_directory.require_elsewhere(result)
    monkeypatch.chdir(result)
    with pytest.raises(OutputError, match=f"^the current directory is in {result}, which is replaced"):
        result_directory.require_elsewhere(result)


def test_files_of_a_result_are_no_outputs(tmp_path: Path) -> None:
    result = write(tmp_path / "r")
    result_directory.require_no_file_of_result([result / "notes.txt", tmp_path / MENTIONS])
    with pytest.raises(OutputError, match="is a file of a result directory and would be overwritten"):
        result_directory.require_no_file_of_result([tmp_path / MENTIONS, result / MENTIONS])


def test_refuses_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = write(tmp_path / "r")
    (result / "inside").mkdir()
    for place in (result, result / "inside"):
        monkeypatch.chdir(place)
        with pytest.raises(OutputError, match="is the current directory, which a result would replace"):
            require_result_place(result)


def test_refuses_a_place_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(OutputError, match=f"r cannot be written: no permission to write in {tmp_path}"):
        require_result_place(tmp_path / "r")


def test_refuses_a_place_that_became_foreign_during_the_run(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="not a result of homonym"):
        write(tmp_path / "r", then=lambda: foreign(tmp_path / "r"))
    assert names(tmp_path / "r") == {"thesis.tex"}
    assert names(tmp_path) == {"r"}


def test_messages_name_the_directory_that_the_user_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=f"^{tmp_path}/r/mentions.parquet cannot be written"):  # noqa: SIM117
        with written_directory(tmp_path / "r") as folder:
            raise OutputError(f"{folder / MENTIONS} cannot be written: disk full.")


def test_a_result_as_input_means_its_documents(tmp_path: Path) -> None:
    result = write(tmp_path / "r")
    with pytest.raises(InputError, match="is a result without documents"):
        expand(result)
    (result / DOCUMENTS).write_text("documents")
    assert expand(result) == ([result / DOCUMENTS], set())


def test_files_of_results_inside_an_input_directory_are_skipped(tmp_path: Path) -> None:
    result = write(tmp_path / "r")
    (result / "more.bib").write_text("@misc{a}")
    (tmp_path / "a.bib").write_text("@misc{a}")
    (tmp_path / DOCUMENTS).write_text("not in a result")
    files, _ = expand(tmp_path)
    assert sorted(str(file.relative_to(tmp_path)) for file in files) == ["a.bib", DOCUMENTS, "r/more.bib"]


def test_older_formats_are_results_and_changes_make_them_new(tmp_path: Path) -> None:
    result = tmp_path / "result"
    write(result)
    marker = result / MARKER
    for number, accepted in ((1, True), (2, True), (3, True), (4, False), (12, False)):
        marker.write_bytes(b"homonym result, format %d\nmore\n" % number)
        assert is_result(result) == accepted
    marker.write_bytes(b"homonym result, format 1\n")
    with changed_directory(result):
        pass
    assert marker.read_bytes() == result_directory.MARKER_TEXT


def test_file_that_cannot_be_written_leaves_the_result_and_says_so(tmp_path: Path) -> None:
    result = tmp_path / "result"
    write(result)
    before = {path.name: path.read_bytes() for path in result.iterdir()}
    with pytest.raises(OutputError) as caught, changed_directory(result) as folder:
        raise OutputError(f"{folder / MENTIONS} cannot be written: disk full; nothing was kept.")
    assert str(caught.value) == f"{result / MENTIONS} cannot be written: disk full; the result is as before."
    assert {path.name: path.read_bytes() for path in result.iterdir()} == before


def change(path: Path, then: Callable[[Path], object]) -> None:
    with changed_directory(path) as folder:
        then(folder)


def replace_mentions(folder: Path) -> None:
    (folder / MENTIONS).unlink()
    (folder / MENTIONS).write_text("changed")


@pytest.mark.parametrize("in_one_step", [True, False])
def test_a_change_replaces_files_and_keeps_those_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_one_step: bool
) -> None:
    result = write(tmp_path / "r", "old")
    (result / "notes.txt").write_text("precious")
    (result / "more").mkdir()
    (result / "more" / "a.txt").write_text("precious, too")
    if not in_one_step:
        monkeypatch.setattr(result_directory, "_exchanged", lambda folder, target: False)
    before = result.stat().st_ino

    def others_write_too(folder: Path) -> None:
        replace_mentions(folder)
        (result / "new.txt").write_text("of another program")

    change(result, others_write_too)
    assert result.stat().st_ino != before
    assert names(result) == {MARKER, MENTIONS, "notes.txt", "more", "new.txt"}
    assert (result / MENTIONS).read_text() == "changed"
    assert (result / "more" / "a.txt").read_text() == "precious, too"
    assert (result / "new.txt").read_text() == "of another program"
    assert names(tmp_path) == {"r"}


def test_a_copy_to_change_has_neither_decisions_nor_unfinished_files(tmp_path: Path) -> None:
    """Users may add decisions until the directories are swapped."""
    result = write(tmp_path / "r", "old")
    for name in (DECISIONS, f"{DECISIONS}-wal", ".7-ab.partial.run.json", "notes.txt"):
        (result / name).write_text("old")
    with changed_directory(result) as folder:
        assert names(folder) == {MARKER, MENTIONS, "notes.txt"}
        replace_mentions(folder)
        (result / DECISIONS).write_text("new")
    assert names(result) == {MARKER, MENTIONS, "notes.txt", DECISIONS, f"{DECISIONS}-wal", ".7-ab.partial.run.json"}
    assert (result / DECISIONS).read_text() == "new"
    assert names(tmp_path) == {"r"}


def test_files_of_others_are_in_the_copy_before_the_swap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks at the result sees them at any time. Links of users stay links."""
    result, swapped, exchange = write(tmp_path / "r", "old"), [], result_directory._exchange
    (result / "link").symlink_to(MENTIONS)

    def others_write_too(folder: Path) -> None:
        replace_mentions(folder)
        for name in ("notes.txt", DECISIONS):
            (result / name).write_text("new")

    def seen(folder: Path, target: Path) -> None:
        swapped.append(names(folder))
        exchange(folder, target)

    monkeypatch.setattr(result_directory, "_exchange", seen)
    change(result, others_write_too)
    assert swapped == [{MARKER, MENTIONS, "notes.txt", DECISIONS}]
    assert names(result) == {MARKER, MENTIONS, "notes.txt", DECISIONS, "link"}
    assert (result / "link").is_symlink()


def test_directories_swap_their_names_in_one_step(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    if sys.platform != "linux":
        pytest.skip("only Linux can do that")
    assert result_directory._exchanged(tmp_path / "a", tmp_path / "b")
    assert (names(tmp_path / "a"), names(tmp_path / "b")) == ({"b"}, {"a"})
    with pytest.raises(FileNotFoundError):
        result_directory._exchanged(tmp_path / "a", tmp_path / "missing")


@pytest.mark.parametrize("reason", ["ENOSYS", "EINVAL", "ENOTSUP", "no function"])
def test_a_system_that_cannot_swap_names_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    functions = SimpleNamespace() if reason == "no function" else SimpleNamespace(renameat2=lambda *_: -1)
    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: functions)
    monkeypatch.setattr("ctypes.get_errno", lambda: getattr(errno, reason, 0))
    assert result_directory._exchanged(tmp_path / "a", tmp_path / "b") is False


def test_a_change_of_nothing_leaves_the_result_as_it_is(tmp_path: Path) -> None:
    result = write(tmp_path / "r", "old")
    before = result.stat().st_ino
    change(result, lambda folder: None)
    assert result.stat().st_ino == before
    change(result, lambda folder: (folder / MENTIONS).unlink())
    assert result.stat().st_ino != before
    assert names(result) == {MARKER}
    assert names(tmp_path) == {"r"}


@pytest.mark.parametrize("broken", [KeyboardInterrupt(), OSError(28, "No space left"), RuntimeError()])
def test_a_failed_change_leaves_the_result(tmp_path: Path, broken: BaseException) -> None:
    result = write(tmp_path / "r", "old")

    def fail(folder: Path) -> None:
        replace_mentions(folder)
        raise broken

    with pytest.raises((KeyboardInterrupt, OutputError, RuntimeError)):
        change(result, fail)
    assert (result / MENTIONS).read_text() == "old"
    assert names(tmp_path) == {"r"}


def test_a_change_of_a_result_that_was_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    result = write(tmp_path / "r", "old")
    state = result_directory.result_state(result)
    result_directory.require_state(result, state)
    (result / result_directory.CORPUS).write_text("{}")
    with pytest.raises(OutputError, match="was changed by another update meanwhile"):
        result_directory.require_state(result, state)

    def change_with(state: result_directory.ResultState) -> None:
        with changed_directory(result, state) as folder:
            replace_mentions(folder)

    with pytest.raises(OutputError, match="was changed by another update meanwhile"):
        change_with(state)
    assert (result / MENTIONS).read_text() == "old"
    change_with(result_directory.result_state(result))
    assert (result / MENTIONS).read_text() == "changed"
    assert result_directory.result_state(tmp_path / "missing") == (0, b"")


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True), (False, False)])
def test_a_lock_waits_for_others_unless_both_only_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bool, second: bool
) -> None:
    monkeypatch.setattr(result_directory, "BUSY_SECONDS", 0.1)
    result, locked = write(tmp_path / "r"), result_directory.locked_decisions
    with locked(result, shared=True), locked(result, shared=True):
        pass
    with (
        locked(result, shared=first),
        pytest.raises(OutputError, match="in use by another process for 0 seconds"),
        locked(result, shared=second),
    ):
        pass
    with locked(result), locked(tmp_path / "missing"):
        pass


@pytest.mark.parametrize(("process", "is_found"), [("4194305", True), ("own", False), ("x", False)])
def test_a_result_gets_its_name_back_if_its_process_is_gone(tmp_path: Path, process: str, is_found: bool) -> None:
    process = process.replace("own", str(os.getpid()))
    write(tmp_path / "r", "old").rename(tmp_path / f".{process}-ab.former.r")
    write(tmp_path / "other", "other").rename(tmp_path / ".4194305-ab.former.other")
    result_directory.recover_missing(tmp_path / "r")
    assert (tmp_path / "r").exists() == is_found
    assert (tmp_path / ".4194305-ab.former.other").exists()
    result_directory.recover_missing(tmp_path / "missing" / "r")


def test_only_results_get_their_names_back(tmp_path: Path) -> None:
    foreign(tmp_path / ".4194305-ab.former.r")
    result_directory.recover_missing(tmp_path / "r")
    assert not (tmp_path / "r").exists()
    result = write(tmp_path / "r", "new")
    write(tmp_path / "s", "old").rename(tmp_path / ".4194305-aa.former.r")
    result_directory.recover_missing(result)
    assert (result / MENTIONS).read_text() == "new"


def test_a_command_needs_a_result_with_its_files(tmp_path: Path) -> None:
    result = write(tmp_path / "r")
    assert result_directory.require_result(result, MENTIONS) == result
    for path, files, message in (
        (tmp_path / "missing", (), "does not exist; name a result directory"),
        (tmp_path, (), "is not a result directory of homonym"),
        (result, (MENTIONS, REPORT), "has no report.html; make the result with"),
        (result, ("authors.parquet",), "has no authors.parquet; make the result with"),
        (result, (DOCUMENTS,), "has no documents.parquet: results of homonym cluster have no documents"),
    ):
        with pytest.raises(InputError, match=message):
            result_directory.require_result(path, *files)


def test_files_are_copied_where_they_cannot_have_two_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    result = write(tmp_path / "r", "old")
    (result / "notes.txt").write_text("precious")
    monkeypatch.setattr(os, "link", refuse)
    change(result, replace_mentions)
    assert (result / MENTIONS).read_text() == "changed"
    assert (result / "notes.txt").read_text() == "precious"
    assert names(tmp_path) == {"r"}


def test_a_result_is_changed_where_files_cannot_be_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    result = write(tmp_path / "r", "old")
    assert result_directory.fcntl is not None
    monkeypatch.setattr(result_directory.fcntl, "flock", refuse)
    change(result, replace_mentions)
    assert (result / MENTIONS).read_text() == "changed"
    monkeypatch.setattr(result_directory, "fcntl", None)
    with result_directory.locked_decisions(result), result_directory.locked_decisions(result):
        pass
