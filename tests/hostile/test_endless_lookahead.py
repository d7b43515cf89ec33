"""Many lines that belong to no row: each is counted, in time that grows with the size of the file only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from homonym.records.reader import read_documents

HEADERS = {
    "table": "title,authors,year",
    "scopus": "Authors,Author(s) ID,Title,Year,Source title,DOI,EID",
    "wos-tab": "PT\tAU\tAF\tTI\tSO\tPY\tDI\tUT",
}
COUNT = """
import sys
from pathlib import Path
from homonym.records.reader import read_documents
lost = read = 0
for _, document, problems in read_documents(Path(sys.argv[1]), sys.argv[2]):
    read += document is not None
    lost += any(problem.lost == "record" for problem in problems)
print(read, lost)
"""

# A guard against hanging, not a measurement: quadratic time would take hours.
PATIENCE = 120


@pytest.mark.slow
@pytest.mark.parametrize("form", HEADERS)
@pytest.mark.parametrize("lines", [["x"], ["x"] * 90 + ["x,x\tx"]], ids=["same", "wider"])
def test_lines_without_separators_end_in_linear_time(tmp_path: Path, form: str, lines: list[str]) -> None:
    number = 100_000 // len(lines)
    (tmp_path / "a").write_text("\n".join([HEADERS[form], *lines * number]) + "\n")
    command = [sys.executable, "-c", COUNT, str(tmp_path / "a"), form]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    read, lost = map(int, done.stdout.split())
    assert read == 0
    assert lost == number * len(lines)


def test_cut_rows_among_other_lines_are_joined(tmp_path: Path) -> None:
    junk = ["x"] * 130
    rows = ["On wells,Doe J", ",2010", *junk, "On water\nand ice,Roe A,2011"]
    (tmp_path / "a.csv").write_text("\n".join(["title,authors,year", "On x,Poe B,2009", *rows, "On y,Coe D,2012"]))
    found = [document.title for _, document, _ in read_documents(tmp_path / "a.csv") if document]
    assert found[0] == "On x"
    assert found[-1] == "On y"
    assert any(title.endswith("and ice") for title in found)
