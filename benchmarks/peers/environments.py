"""Environments for peers: one each, with exactly the versions in `requirements/`, made when first needed.

They are under `build/`, named by a hash of what is in them, so that a changed requirement makes a new one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements")
BUILD = Path(__file__).resolve().parents[2] / "build" / "peers"
#: The pins are for this Python; S2AND runs on no other.
PYTHON = (3, 11)
#: An installation that takes longer has met a network that does not answer.
PATIENCE = 1800
#: What is left of pip's last words in the table.
LONGEST_REASON = 160


class NotInstalledError(Exception):
    """A peer cannot be installed here; the sentence says why."""


def python_of(name: str) -> Path:
    """The interpreter of a peer's environment, which is made if it is not there."""
    requirements = REQUIREMENTS / f"{name}.txt"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]
    home = BUILD / "environments" / f"{name}-{digest}"
    python = home / "bin" / "python"
    if not (home / "ready").is_file():
        shutil.rmtree(home, ignore_errors=True)
        _call([_interpreter(), "-m", "venv", str(home)])
        _call([str(python), "-m", "pip", "install", "--quiet", "--no-input", "-r", str(requirements)])
        (home / "ready").touch()
    return python


def _interpreter() -> str:
    if sys.version_info[:2] == PYTHON:
        return sys.executable
    wanted = f"python{PYTHON[0]}.{PYTHON[1]}"
    found = shutil.which(wanted)
    if not found:
        raise NotInstalledError(f"there is no {wanted}")
    return found


def _call(command: list[str]) -> None:
    # pip must not see the packages of the environment that the benchmark itself runs in.
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NotInstalledError(str(problem)) from problem
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [f"status {done.returncode}"]
        raise NotInstalledError(lines[0].removeprefix("ERROR: ")[:LONGEST_REASON])
