"""A result directory appears whole or not at all, replaces only results, and keeps the files of others."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from homonym.errors import InputError, OutputError
from homonym.io import result_directory
from homonym.io.inputs import expand
from homonym.io.result_directory import (
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
    for number, accepted in ((1, True), (2, True), (3, False), (12, False)):
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
