"""The entry point of the installed command, which ends its process without taking it apart."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# Handlers and threads of other libraries must end before the process does.
CODE = """
import atexit, sys, threading, time
sys.argv = ["homonym", *sys.argv[1:]]
from homonym.cli import main_of_process
from homonym.cli import app
{before}
main_of_process()
"""


def _run(*arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CODE.format(before=before), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("arguments", "status"), [(["--version"], 0), (["inspect", "missing.jsonl"], 2)])
def test_process_ends_with_the_status_of_the_command(arguments: list[str], status: int) -> None:
    done = _run(*arguments)
    assert done.returncode == status
    assert ("homonym" in done.stdout) == (status == 0)
    assert ("missing.jsonl" in done.stderr) == (status == 2)


def test_threads_and_handlers_end_before_the_process() -> None:
    before = """
def main(original=app.main):
    atexit.register(print, "handler")
    threading.Thread(target=lambda: (time.sleep(.2), print("thread"))).start()
    original()
app.main = main
"""
    lines = _run("--version", before=before).stdout.splitlines()
    assert lines[-2:] == ["thread", "handler"]


def test_an_error_of_the_program_is_a_traceback() -> None:
    done = _run("--version", before="app.main = lambda: 1 / 0")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the system does not list threads")
def test_numpy_starts_no_threads() -> None:
    before = """
def main():
    threads = len(os.listdir("/proc/self/task"))
    import numpy
    print("new threads:", len(os.listdir("/proc/self/task")) - threads)
import os
app.main = main
"""
    assert _run(before=before).stdout == "new threads: 0\n"
