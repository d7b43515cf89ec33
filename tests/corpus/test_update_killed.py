"""Updates that are killed, and two at a time: a result is as before or as after, never in between."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from homonym.commands.update import update
from homonym.corpus.epoch import read_note
from homonym.errors import OutputError
from homonym.io.result_directory import changed_directory
from homonym.runtime.work_directory import work_directory
from tests.support.forked import run_forked
from tests.support.living import authors, document, make_result, require_consistent, tables, write_documents

# Kills the process at the n-th call of a function that makes something lasting or visible.
_KILLED = """
import os, signal, sys
from homonym.io import result_directory
import homonym.io.outputs as outputs
left = int(sys.argv[1])

def counted(function):
    def call(*arguments, **options):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return call

os.replace, os.rename, os.link, os.unlink = map(counted, (os.replace, os.rename, os.link, os.unlink))
result_directory._exchanged = counted(result_directory._exchanged)
outputs.os.fsync = counted(os.fsync)
from homonym.commands.update import update
update(sys.argv[2], sys.argv[3])
print(left)
"""


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_result(tmp_path_factory.mktemp("first"), range(20))


def _run(result: Path, new: Path, moment: int) -> subprocess.CompletedProcess[str]:
    return run_forked(_KILLED, str(moment), result, new)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "epoch"), [(2, 1), (8, 2)])
def test_killed_update_leaves_the_result_as_before_or_as_after(
    first: Path, tmp_path: Path, number: int, epoch: int
) -> None:
    new = write_documents(tmp_path / "new.jsonl", [document(one) for one in range(20, 20 + number)])
    whole = Path(shutil.copytree(first, tmp_path / "whole"))
    done = _run(whole, new, 1_000_000)
    steps = 1_000_000 - int(done.stdout)
    before, after = tables(first), tables(whole)
    assert read_note(whole).epoch == epoch
    seen = set()
    for moment in sorted({1 + part * steps // 8 for part in range(8)} | {steps - 1, steps}):
        result = tmp_path / "result"
        shutil.rmtree(result, ignore_errors=True)
        shutil.copytree(first, result)
        killed = _run(result, new, moment)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        found = tables(result)
        assert found in (before, after)
        seen.add(found == after)
        require_consistent(result)
        update(result, new)
        assert tables(result) == after
        require_consistent(result)
        assert sorted(os.listdir(tmp_path)) == ["new.jsonl", "result", "whole"]
    assert seen == {True, False}


@pytest.mark.slow
def test_second_writer_is_refused(first: Path, tmp_path: Path) -> None:
    result = Path(shutil.copytree(first, tmp_path / "result"))
    before = tables(result)
    with work_directory(tmp_path / ".result.work"), pytest.raises(OutputError, match="is in use by another run"):
        update(result, remove=["D0001"])
    assert tables(result) == before


def test_failure_inside_of_a_change_leaves_the_result(first: Path, tmp_path: Path) -> None:
    result = Path(shutil.copytree(first, tmp_path / "result"))
    before = authors(result)
    with pytest.raises(ZeroDivisionError), changed_directory(result) as folder:
        _fail(folder)
    assert authors(result) == before
    assert sorted(os.listdir(tmp_path)) == ["result"]


def test_directories_are_swapped_without_help_of_the_system(
    first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from homonym.io import result_directory

    monkeypatch.setattr(result_directory, "_exchanged", lambda folder, target: False)
    result = Path(shutil.copytree(first, tmp_path / "result"))
    with changed_directory(result) as folder:
        (folder / "notes.txt").write_text("new")
    assert (result / "notes.txt").read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["result"]


@pytest.mark.slow
def test_result_that_lost_its_name_is_found_again(first: Path, tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    shutil.copytree(first, tmp_path / f".{process.pid}-0123abcd.former.result")
    update(tmp_path / "result", remove=["D0001"])
    require_consistent(tmp_path / "result")
    assert sorted(os.listdir(tmp_path)) == ["result"]


def _fail(folder: Path) -> None:
    (folder / "mentions.parquet").unlink()
    raise ZeroDivisionError
