"""A full disk or a directory that disappears is one sentence, and finished work stays usable."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import orjson
import pyarrow as pa
import pytest

from homonym.commands.convert import convert
from homonym.commands.disambiguate import disambiguate
from homonym.commands.run import Resources, machine_failures
from homonym.engines.local import LocalEngine
from homonym.errors import OutputError
from homonym.settings import Settings
from homonym.synthetic.corpus import Corpus
from tests.support.command import homonym_process

SETTINGS = Settings(beta=0.1)

#: In a mount namespace of its own: a run on small disks of these sizes (kB), then again on the last one, enlarged.
ON_SMALL_DISKS = """
import json, subprocess, sys
from pathlib import Path
from homonym import HomonymError, Resources, Settings, disambiguate
records, disk, *sizes = sys.argv[1:]
disk, outcomes = Path(disk), []
def attempt():
    try:
        disambiguate(records, disk / "out.csv", Settings(beta=0.1), resources=Resources(threads=2))
    except Exception as broken:
        outcomes.append([type(broken).__name__, str(broken), sorted(path.name for path in disk.iterdir())])
    else:
        outcomes.append(["", "", []])
for size in sizes:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", disk], check=True)
    attempt()
    if size != sizes[-1]:
        subprocess.run(["umount", disk], check=True)
subprocess.run(["mount", "-o", "remount,size=1g", disk], check=True)
attempt()
print(json.dumps([outcomes, (disk / "out.csv").read_text()]))
"""


def can_mount() -> bool:
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return shutil.which("unshare") is not None and subprocess.run(command, capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def records(generated: Callable[[Corpus], Path]) -> Path:
    return generated(Corpus(mentions=1500, seed=5))


@pytest.mark.slow
@pytest.mark.skipif(not can_mount(), reason="needs a mount namespace")
def test_every_size_of_disk_gives_one_sentence_and_the_run_resumes(tmp_path: Path, records: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    sizes = [20, 60, 120, 200, 300, 400, 550, 700, 850, 1000]
    done = subprocess.run(
        ["unshare", "-rm", sys.executable, "-c", ON_SMALL_DISKS, records, disk, *map(str, sizes)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (*failed, last), result = orjson.loads(done.stdout)
    for kind, message, left in failed:
        assert kind == "OutputError"
        assert "\n" not in message
        assert "No space left on device" in message
        assert set(left) <= {".out.csv.work"}
    assert last == ["", "", []]
    assert ".out.csv.work" in failed[-1][2]  # so the last run did resume
    disambiguate(records, tmp_path / "out.csv", SETTINGS)
    assert result == (tmp_path / "out.csv").read_text()


def write_to_full_device() -> None:
    """What numpy raises on a full disk, without an error number."""
    with open("/dev/full", "wb", buffering=0) as full:
        np.zeros(1000).tofile(full)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_numpy_on_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="No space left on device"), machine_failures(tmp_path):
        write_to_full_device()


@pytest.mark.parametrize(
    "broken",
    [
        duckdb.TransactionException('Failed to commit: Could not write file "x.wal": No space left on device'),
        duckdb.IOException("Could not write: No space left on device"),
        OSError(28, "No space left on device"),
        pa.ArrowException("IOError: No space left on device"),
    ],
)
def test_every_library_reports_a_full_disk_alike(tmp_path: Path, broken: Exception) -> None:
    with pytest.raises(OutputError, match="No space left on device") as caught, machine_failures(tmp_path):
        raise broken
    assert "\n" not in str(caught.value)


def test_errors_of_the_program_are_not_hidden(tmp_path: Path) -> None:
    for broken in (duckdb.BinderException("no such column"), RuntimeError("wrong"), pa.ArrowInvalid("wrong")):
        with pytest.raises(type(broken)), machine_failures(tmp_path):
            raise broken


@pytest.mark.slow
@pytest.mark.parametrize("step", ["encode", "cluster"])
def test_removed_output_directory_is_one_sentence(
    tmp_path: Path, records: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    made = getattr(LocalEngine, step)

    def remove_first(*arguments: object, **options: object) -> object:
        shutil.rmtree(folder)
        return made(*arguments, **options)

    monkeypatch.setattr(LocalEngine, step, remove_first)
    with pytest.raises(OutputError, match=r"results (was removed|does not exist)|cannot be written") as caught:
        disambiguate(records, folder / "out.csv", SETTINGS, resources=Resources(threads=1))
    assert "\n" not in str(caught.value)
    assert "create" in str(caught.value)


def test_removed_work_directory_is_one_sentence(tmp_path: Path, records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = LocalEngine.convert_documents

    def remove_after(*arguments: object) -> object:
        done = made(*arguments)  # type: ignore[arg-type]
        shutil.rmtree(tmp_path / "work")
        return done

    monkeypatch.setattr(LocalEngine, "convert_documents", remove_after)
    with pytest.raises(OutputError) as caught:
        convert(records, tmp_path / "out.jsonl", resources=Resources(threads=1, work=tmp_path / "work"))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out.jsonl").exists()


def test_a_removed_part_is_one_sentence(tmp_path: Path, records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = LocalEngine.convert_documents

    def remove_after(*arguments: object) -> object:
        done = made(*arguments)  # type: ignore[arg-type]
        next((tmp_path / "work").rglob("*.jsonl")).unlink()
        return done

    monkeypatch.setattr(LocalEngine, "convert_documents", remove_after)
    with pytest.raises(OutputError, match=r"\.jsonl was removed during the run; run the same command again\."):
        convert(records, tmp_path / "out.jsonl", resources=Resources(threads=1, work=tmp_path / "work"))
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_summary_on_a_full_disk_is_one_sentence(records: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from homonym.cli import main; main()", "inspect", records],
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "homonym: standard output cannot be written (No space left on device); files that the command has written are "
        "complete.\n"
    )


NO_TEMPORARY_DIRECTORY = """
import tempfile
def fail():
    raise FileNotFoundError(2, "No usable temporary directory found")
tempfile.gettempdir = fail
"""


def test_unusable_temporary_directory_is_one_sentence(records: Path) -> None:
    done = homonym_process("inspect", records, before=NO_TEMPORARY_DIRECTORY)
    assert done.returncode == 2
    assert done.stderr == "homonym: No usable temporary directory found.\n"
