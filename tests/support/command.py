"""The command line, called as a user calls it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

#: Seconds after which a command counts as hanging. Not a measurement.
PATIENCE = 300


def homonym_command(
    *arguments: str | Path | float, before: str = "", **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run `homonym` in a process of its own and capture what it prints.

    `before` is Python code that runs first, such as a patch. Options go to `subprocess.run`.
    """
    command = [
        sys.executable,
        "-c",
        f"import sys\n{before}\nfrom homonym.cli import main\nmain()",
        *map(str, arguments),
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)
