"""SIGTERM and SIGHUP end a run like Ctrl-C: nothing temporary is left, and checkpoints are kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from homonym.cli.signals import TerminatedError, signals_as_interrupts
from homonym.synthetic.corpus import Corpus

PATIENCE = 120

#: Makes a stage wait, after it wrote a file that says so.
WAIT_IN = """
import sys, time
from pathlib import Path
import homonym.{module} as module
def wait(*arguments, **options):
    Path(sys.argv.pop()).touch()
    time.sleep(600)
module.{function} = wait
"""
WAIT_IN_READING = WAIT_IN.format(module="engines.local", function="require_usable")
WAIT_IN_CLUSTERING = WAIT_IN.format(module="engines.local", function="block_batches")
#: Several worker processes even for a small input; the pool is full while a result waits.
WAIT_WITH_WORKERS = """
import sys, time
from pathlib import Path
import homonym.engines.local as module
module.SMALL_INPUT, module.CHUNK_BYTES = 0, 10_000
def wait(self, part):
    Path(sys.argv.pop()).touch()
    time.sleep(600)
module._PartReader._add = wait
"""


def start(before: str, temporary: Path, *arguments: str | Path) -> subprocess.Popen[str]:
    """Start a command that waits at some stage and says that it has reached it."""
    reached = temporary.parent / "reached"
    temporary.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-c", f"{before}\nimport sys\nfrom homonym.cli import main\nmain()", *map(str, arguments),
         str(reached)],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip


def stop(process: subprocess.Popen[str], reached: Path, number: int) -> tuple[int, str, list[psutil.Process]]:
    until = time.monotonic() + PATIENCE
    while not reached.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, errors, children


@pytest.fixture(autouse=True)
def _signals_are_not_ignored() -> Iterator[None]:
    """Tests may run under `nohup`, which makes all processes ignore SIGHUP."""
    former = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, former)


@pytest.fixture(scope="module")
def records(generated: Callable[[Corpus], Path]) -> Path:
    return generated(Corpus(mentions=300, seed=3))


# The last argument is taken from the command line before it is parsed.
TAKE_LAST = "import sys; last = sys.argv.pop()\n"


def prepared(before: str) -> str:
    return TAKE_LAST + before.replace("sys.argv.pop()", "last")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signal_keeps_checkpoints_and_the_same_command_resumes(tmp_path: Path, records: Path, number: int) -> None:
    out, temporary = tmp_path / "out.csv", tmp_path / "temporary"
    command = ("disambiguate", records, "-o", out, "--rejects", tmp_path / "rejects.jsonl", "--beta", "0.1")
    process = start(prepared(WAIT_IN_CLUSTERING), temporary, *command)
    status, errors, _ = stop(process, tmp_path / "reached", number)
    assert status == 128 + number
    assert "homonym: terminated; the run did not finish.\nFinished work is kept in" in errors
    assert "Traceback" not in errors
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.csv.work", "reached", "temporary"]
    assert list(temporary.iterdir()) == []
    again = subprocess.run([sys.executable, "-c", "from homonym.cli import main; main()", *map(str, command)])
    assert again.returncode == 0
    assert not (tmp_path / ".out.csv.work").exists()
    assert out.exists()


@pytest.mark.slow
def test_signal_removes_temporary_directories(tmp_path: Path, records: Path) -> None:
    temporary = tmp_path / "temporary"
    process = start(prepared(WAIT_IN_READING), temporary, "inspect", records)
    status, errors, _ = stop(process, tmp_path / "reached", signal.SIGTERM)
    assert status == 143
    assert errors.endswith("homonym: terminated; the run did not finish.\n")
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
def test_signal_ends_worker_processes(tmp_path: Path, records: Path) -> None:
    process = start(prepared(WAIT_WITH_WORKERS), tmp_path / "temporary", "convert", records, "-o", tmp_path / "o.jsonl",
                    "--threads", "2")  # fmt: skip
    status, errors, workers = stop(process, tmp_path / "reached", signal.SIGTERM)
    assert status == 143, errors
    assert len(workers) == 2
    assert not any(worker.is_running() for worker in workers)


@pytest.mark.slow
def test_workers_ignore_a_signal_to_all_processes(tmp_path: Path, records: Path) -> None:
    process = start(prepared(WAIT_WITH_WORKERS), tmp_path / "temporary", "convert", records, "-o", tmp_path / "o.jsonl",
                    "--threads", "2")  # fmt: skip
    until = time.monotonic() + PATIENCE
    while not (tmp_path / "reached").exists() and time.monotonic() < until:
        time.sleep(0.02)
    workers = psutil.Process(process.pid).children(recursive=True)
    for worker in workers:
        worker.terminate()
    time.sleep(0.5)  # enough to die of the signal
    assert len(workers) == 2
    assert all(worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE for worker in workers)
    status, errors, _ = stop(process, tmp_path / "reached", signal.SIGTERM)
    assert status == 143
    assert "terminated" in errors
    assert not any(worker.is_running() for worker in workers)


def test_repeated_signal_does_not_interrupt_the_clean_up() -> None:
    with signals_as_interrupts() as came:
        with pytest.raises(TerminatedError):
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGHUP)
    assert came == [signal.SIGTERM, signal.SIGTERM, signal.SIGHUP]
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_ignored_signal_stays_ignored() -> None:
    former = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as `nohup` does
    try:
        with signals_as_interrupts() as came:
            signal.raise_signal(signal.SIGHUP)
        assert came == []
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, former)


def test_library_installs_no_handlers(records: Path, tmp_path: Path) -> None:
    from homonym import convert

    convert(records, tmp_path / "o.jsonl")
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_ctrl_c_while_modules_are_imported_is_no_traceback() -> None:
    interrupted = """
import sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "homonym.cli.app":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
from homonym.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", interrupted], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "homonym: interrupted; the run did not finish.\n")
