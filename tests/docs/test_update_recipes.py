"""The commands of docs/update.md, run in their order, and its Python example."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.docs.test_export_recipes import blocks_of
from tests.support.command import homonym_command
from tests.support.living import document, require_consistent, rows

PAGE = Path(__file__).resolve().parents[2] / "docs" / "update.md"
COMMAND = re.compile(r"^    (homonym [^#\n]*)", re.MULTILINE)


@pytest.mark.slow
def test_commands_and_code_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "2025").mkdir()
    for name, numbers in (("2025/all.ris", range(30)), ("2026-01.ris", range(30, 36))):
        _write_ris(tmp_path, name, numbers)
    commands = COMMAND.findall(PAGE.read_text(encoding="utf-8"))
    assert len(commands) == 4
    for command in commands:
        arguments = [str(tmp_path / "2025" / "all.ris") if "*" in one else one for one in shlex.split(command)[1:]]
        homonym_command(*arguments, cwd=tmp_path, check=True)
    require_consistent(tmp_path / "result")
    monkeypatch.chdir(tmp_path)
    (code,) = blocks_of("update.md")
    values: dict[str, object] = {}
    exec(code, values)
    assert isinstance(values["merged"], dict)
    removed = homonym_command("update", "result", "--remove", "@ids.txt", cwd=tmp_path)
    assert removed.returncode == 2
    first = next(iter(_documents(tmp_path / "result")))
    (tmp_path / "ids.txt").write_text(f"{first}\n\n")
    homonym_command("update", "result", "--remove", "@ids.txt", cwd=tmp_path, check=True)
    assert first not in _documents(tmp_path / "result")
    listed = homonym_command("events", "result", "--json", cwd=tmp_path, check=True).stdout
    assert len(listed.splitlines()) == len(rows(tmp_path / "result", "events"))


def _documents(result: Path) -> list[str]:
    return [row["document_id"] for row in rows(result, "documents")]


def _write_ris(folder: Path, name: str, numbers: range) -> None:
    lines = []
    for number in numbers:
        one = document(number)
        lines += ["TY  - JOUR", f"TI  - {one['title']}", f"PY  - {one['year']}", f"ID  - {one['id']}"]
        lines += [f"AU  - {author['name']}" for author in one["authors"]] + ["ER  - ", ""]
    (folder / name).write_text("\n".join(lines))
