"""The commands of docs/decisions.md, run in their order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from homonym.commands.disambiguate import disambiguate
from homonym.settings import Settings
from tests.commands.test_explain import FILLERS, PAPERS
from tests.commands.test_result_directory import write
from tests.support.command import homonym_command

PAGE = Path(__file__).resolve().parents[2] / "docs" / "decisions.md"
COMMAND = re.compile(r"^    (homonym [^#\n]*(?:#\d[^#\n]*)*)", re.MULTILINE)


@pytest.mark.slow
def test_commands_of_the_page(tmp_path: Path) -> None:
    records = [paper | {"id": f"{paper['id']}".replace("d", "W")} for paper in [*PAPERS, *FILLERS]]
    source = write(tmp_path / "records.jsonl", records)
    for name in ("result", "other"):
        disambiguate(source, tmp_path / name, Settings(kappa=7))
    commands = COMMAND.findall(PAGE.read_text(encoding="utf-8"))
    assert len(commands) == 10
    for command in commands:
        homonym_command(*shlex.split(command)[1:], cwd=tmp_path, check=True)
    listed = homonym_command("decisions", tmp_path / "result", check=True).stdout
    assert "undone by 2\tW1#0 different W2#0\tanother country" in listed
