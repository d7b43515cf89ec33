"""A plugin of pytest for mutation testing: records which test enters which function, and runs chosen tests in order.

`mutants.py` puts a copy of this file next to the copied package, adds `entered("names/parse.py:17")` to each function
that may be changed, and runs the tests. Processes that tests start or fork are recorded, too: they inherit the name of
the test.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from os import O_APPEND, O_CREAT, O_WRONLY, close, environ, write
from os import open as open_file
from pathlib import Path

import pytest

#: The variables that name the file to record into, and the file with the tests to run, in this order.
RECORD = "MUTANTS_RECORD"
CHOSEN = "MUTANTS_CHOSEN"

_test = ""
_seen: set[str] = set()


def entered(function: str) -> None:
    """Record that the current test enters a function, once for each test and process."""
    global _test
    test = environ.get("PYTEST_CURRENT_TEST", "")
    if test != _test:
        _test = test
        _seen.clear()
    if function not in _seen:
        _seen.add(function)
        # "tests/a.py::test_b (call)": a fixture works for all tests of its file.
        name, _, phase = test.rpartition(" ")
        _record([name.partition("::")[0] if phase == "(setup)" else name, function])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Record how long a test took, and whether it passed."""
    if "PYTEST_XDIST_WORKER" not in environ:
        _record([report.nodeid, report.duration, report.passed])


def _record(row: list[object]) -> None:
    # Tests replace functions of `os`, and limit the number and size of files; this must not fail because of it.
    with suppress(KeyError, OSError):
        file = open_file(environ[RECORD], O_WRONLY | O_APPEND | O_CREAT, 0o600)
        try:
            write(file, json.dumps(row).encode() + b"\n")
        finally:
            close(file)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the chosen tests, in their order."""
    if CHOSEN in os.environ:
        order = {test: rank for rank, test in enumerate(json.loads(Path(os.environ[CHOSEN]).read_text()))}
        kept = [item for item in items if item.nodeid in order]
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in order])
        items[:] = sorted(kept, key=lambda item: order[item.nodeid])
