"""Every command that takes a result directory refuses anything else with the same sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import homonym
from homonym.errors import InputError
from homonym.io.result_directory import MARKER, MARKER_TEXT

COMMANDS: dict[str, Callable[[Path], object]] = {
    "check": homonym.check,
    "decide": lambda result: homonym.decide(result, "same", "a#0", "b#0", reason="x"),
    "decisions": homonym.decisions,
    "events": homonym.events,
    "explain": lambda result: homonym.explain(result, "Wang, Wei"),
    "export": lambda result: homonym.export(result, "csv", result / "authors.csv"),
    "update": homonym.update,
}


@pytest.mark.parametrize("command", COMMANDS)
def test_refuses_what_is_no_result(command: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x")
    for wrong in (tmp_path, tmp_path / "a.csv"):
        with pytest.raises(InputError, match="is not a result directory of homonym; make one with: homonym disamb"):
            COMMANDS[command](wrong)
    with pytest.raises(InputError, match="none does not exist; name a result directory"):
        COMMANDS[command](tmp_path / "none")


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"check", "events"}))
def test_says_which_file_a_result_lacks(command: str, tmp_path: Path) -> None:
    (tmp_path / MARKER).write_bytes(MARKER_TEXT)
    with pytest.raises(InputError, match=r"has no \w+\.parquet.*; make the result with homonym disambiguate\."):
        COMMANDS[command](tmp_path)
