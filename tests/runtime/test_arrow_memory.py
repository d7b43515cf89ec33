"""The allocator that Arrow uses in an update."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

FIND = """
import os, sys
if "arrow first" in sys.argv: import pyarrow
from homonym.commands.update import update
try: update("no such result")
except Exception: pass
import pyarrow as pa
print(pa.default_memory_pool().backend_name, "ARROW_DEFAULT_MEMORY_POOL" in os.environ)
"""


def found(*arguments: str, **variables: str) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "ARROW_DEFAULT_MEMORY_POOL"}
    command = [sys.executable, "-c", FIND, *arguments]
    return subprocess.run(command, env=environment | variables, capture_output=True, text=True, check=True).stdout


def test_update_lets_arrow_use_the_memory_of_the_system() -> None:
    assert found() == "system False\n"


@pytest.mark.parametrize("chosen", ["system", "mimalloc"])
def test_update_keeps_the_allocator_that_the_user_has_chosen(chosen: str) -> None:
    assert found(ARROW_DEFAULT_MEMORY_POOL=chosen) == f"{chosen} True\n"


def test_update_leaves_the_allocator_of_a_program_that_has_imported_arrow() -> None:
    usual = "import pyarrow as pa; print(pa.default_memory_pool().backend_name)"
    before = subprocess.run([sys.executable, "-c", usual], capture_output=True, text=True, check=True).stdout
    assert found("arrow first").split()[0] == before.strip()
