"""Python code in a process of its own that has homonym and its kernel loaded already.

Starting Python, importing homonym and loading the kernel take more than half the time of a small run. Here, one process
does so once, and a copy of it (a fork) runs each piece of code. For tests that kill a run, or patch it beyond repair.
Where the start of a process is the point, use `homonym_process`.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from tempfile import TemporaryDirectory

# Seconds after which a process counts as hanging. Not a measurement.
PATIENCE = 300


def run_forked(code: str, *arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run code as `python -c` does, and capture what it prints; the status of a killed process is negative."""
    argv = ["-c", *map(str, arguments)]
    with TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = _context().Process(target=_run, args=(code, argv, cwd or Path.cwd(), (out, err), dict(os.environ)))
        process.start()
        process.join(PATIENCE)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"still running after {PATIENCE} seconds: {argv}")
        texts = [path.read_text() if path.exists() else "" for path in (out, err)]
        return subprocess.CompletedProcess(argv, process.exitcode, *texts)


@cache
def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.support.preloaded"])
    return context


def _run(code: str, argv: list[str], cwd: Path, files: tuple[Path, Path], environment: dict[str, str]) -> None:
    os.environ.update(environment)  # which may have changed since the process that is copied was started
    for number, path in enumerate(files, 1):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(cwd)
    sys.argv = argv
    exec(compile(code, "<forked>", "exec"), {"__name__": "__main__"})
