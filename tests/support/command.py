"""The command line, called as a user calls it."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from homonym.cli import main

# Seconds after which a command counts as hanging. Not a measurement.
PATIENCE = 300


def homonym_command(
    *arguments: str | Path | float, cwd: Path | None = None, check: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run `homonym` in this process, which saves the seconds of starting one, and capture what it prints."""
    out, err = io.StringIO(), io.StringIO()
    argv = ["homonym", *map(str, arguments)]
    status = 0
    with patch.object(sys, "argv", argv), chdir(cwd or Path()), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            status = int(ended.code or 0)
    assert not (check and status), err.getvalue()
    return subprocess.CompletedProcess(argv, status, out.getvalue(), err.getvalue())


def homonym_process(
    *arguments: str | Path | float, before: str = "", **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run `homonym` in a process of its own.

    `before` is Python code that runs first, such as a patch. Options go to `subprocess.run`.
    """
    code = f"import sys\n{before}\nfrom homonym.cli import main\nmain()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)
