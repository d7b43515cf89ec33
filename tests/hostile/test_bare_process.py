"""A process that lacks what others have: standard files, memory, threads, a current directory."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from homonym.cli.environment import missing_resource
from tests.support.command import PATIENCE, homonym_process

pytestmark = pytest.mark.skipif(os.name != "posix", reason="shells and limits of POSIX")

DOCUMENT = '{"id": "W1", "authors": [{"name": "Doe, J"}]}\n'


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell command in which `homonym` is the program."""
    start = f'homonym() {{ "{sys.executable}" -c "from homonym.cli import main; main()" "$@"; }}\n'
    return subprocess.run(
        ["sh", "-c", start + command], cwd=folder, capture_output=True, text=True, timeout=PATIENCE
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.jsonl").write_text(DOCUMENT)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_files_do_not_matter(folder: Path, closed: str) -> None:
    ended = shell(f"homonym convert in.jsonl -o out.jsonl {closed}", folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (folder / "out.jsonl").read_text() == '{"id":"W1","authors":[{"name":"Doe, J"}]}\n'


@pytest.mark.parametrize("number", [0, 1, 2])
def test_no_file_gets_the_number_of_a_closed_standard_file(folder: Path, number: int) -> None:
    code = f"""
import os
os.close({number})
from homonym.cli.environment import open_standard_files
open_standard_files()
assert os.open("other", os.O_WRONLY | os.O_CREAT) > 2
assert os.readlink("/proc/self/fd/{number}") == "/dev/null"
"""
    if not Path("/proc/self/fd").exists():
        pytest.skip("the path of an open file is not known here")
    assert subprocess.run([sys.executable, "-c", code], cwd=folder, timeout=PATIENCE).returncode == 0


def test_help_needs_no_memory(folder: Path) -> None:
    ended = shell("ulimit -v 1000000; homonym convert --help", folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "--rejects" in ended.stdout


@pytest.mark.slow
def test_closed_standard_input_as_input_is_one_sentence(folder: Path) -> None:
    ended = shell("homonym convert - -o out.jsonl <&-", folder)
    assert ended.returncode == 2
    assert ended.stderr == ("homonym: standard input is closed; name a file, or send the records through a pipe.\n")
    assert not (folder / "out.jsonl").exists()


def test_removed_current_directory_is_one_sentence(folder: Path) -> None:
    ended = shell(f"mkdir gone; cd gone; rmdir ../gone; homonym convert {folder}/in.jsonl -o out.jsonl", folder)
    assert ended.returncode == 2
    assert ended.stderr == (
        "homonym: the current directory was removed; change to another one, and run the command again.\n"
    )


@pytest.mark.parametrize("kilobytes", [200_000, 400_000, 1_800_000])
def test_little_virtual_memory_is_one_sentence(folder: Path, kilobytes: int) -> None:
    ended = shell(f"ulimit -v {kilobytes}; homonym disambiguate in.jsonl -o out.csv", folder)
    assert ended.returncode == 2
    assert ended.stderr == (
        f"homonym: the limit of virtual memory is {kilobytes // 1024:,} MiB, and homonym needs at least 2,048 MiB; "
        "raise it, for example with: ulimit -v unlimited\n"
    )
    assert os.listdir(folder) == ["in.jsonl"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "raised",
    [
        "MemoryError",
        "ImportError('x.so: failed to map segment from shared object')",
        'RuntimeError("can\'t start new thread")',
        "OSError(12, 'Cannot allocate memory')",
        "BlockingIOError(11, 'Resource temporarily unavailable')",
    ],
)
def test_exhausted_limits_are_one_sentence(folder: Path, raised: str) -> None:
    before = f"import homonym\ndef fail(*a, **b): raise {raised}\nhomonym.convert = fail"
    ended = homonym_process("convert", "in.jsonl", "-o", "out.jsonl", before=before, cwd=folder)
    assert ended.returncode == 2
    assert ended.stderr.startswith("homonym: the process got no more memory or no more threads")
    assert len(ended.stderr.splitlines()) == 1


def test_other_errors_are_not_taken_for_exhausted_limits() -> None:
    assert missing_resource(RuntimeError("wrong")) is None
    assert missing_resource(ImportError("no module named x")) is None
    assert missing_resource(FileNotFoundError(errno.ENOENT, "No such file", "x")) is None
    assert missing_resource(FileNotFoundError()) is None
    assert missing_resource(BlockingIOError(errno.EAGAIN, "write could not complete without blocking", 0)) is None


def test_the_cause_of_an_error_counts() -> None:
    broken = RuntimeError("a worker failed")
    broken.__cause__ = MemoryError()
    assert missing_resource(broken) is not None
