"""The recipes of docs/export.md: every command runs, on an institute's export from two databases."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import orjson
import pytest

from homonym.exports.targets import TARGETS
from homonym.records.reader import read_documents
from tests.support.command import homonym_command

# Most tests make whole results.
pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "export.md"

WOS = """FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Wang, W
   Doe, J
AF Wang, Wei
   Doe, Jane
TI Graph kernels for molecules
SO J GRAPHS
C1 [Wang, Wei; Doe, Jane] Univ X, Dept Chem, Oslo, Norway.
OI Wang, Wei/0000-0002-1825-0097
PY 2010
DI 10.1000/1
UT WOS:000000000000001
ER

PT J
AU Wang, W
   Poe, E
AF Wang, Wei
   Poe, Edgar
TI Soil fungi of alpine meadows
SO MYCOLOGIA
OI Wang, Wei/0000-0002-1694-233X
PY 2011
UT WOS:000000000000002
ER

EF
"""
SCOPUS = (
    "Authors,Author full names,Author(s) ID,Title,Year,Source title,DOI,EID\n"
    '"Wang W.; Doe J.","Wang, W. (57); Doe, Jane (58)",57; 58,Molecules as graphs,2012,J Graphs,10.1000/3,2-s2.0-3\n'
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the recipes, and the result of the first command."""
    folder = tmp_path_factory.mktemp("recipes")
    (folder / "savedrecs.txt").write_text(WOS)
    (folder / "scopus.csv").write_text(SCOPUS)
    (folder / "project" / "data").mkdir(parents=True)
    homonym_command("disambiguate", "savedrecs.txt", "scopus.csv", "-o", "result/", cwd=folder, check=True)
    return folder


def blocks_of(page: str) -> list[str]:
    """The Python examples of a page."""
    return re.findall(r"^```python\n(.*?)^```", (PAGE.parent / page).read_text(), re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    lines = re.findall(
        r"^    (homonym (?:export|explain|disambiguate out|evaluate).*)$", PAGE.read_text(), re.MULTILINE
    )
    return [line for line in lines if "WHAT" not in line]


def test_every_recipe_runs(folder: Path) -> None:
    for line in commands():
        homonym_command(*shlex.split(line)[1:], cwd=folder, check=True)
    assert {re.search(r"--to (\w+)", line)[1] for line in commands() if "--to" in line} == TARGETS.keys()  # type: ignore[index]


def test_people_with_papers_in_excel(folder: Path) -> None:
    homonym_command("export", "result/", "--to", "excel", "-o", "people.xlsx", cwd=folder, check=True)
    sheet = openpyxl.load_workbook(folder / "people.xlsx")["mentions"]
    head, *rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    titles = {row[head.index("title")] for row in rows if row[head.index("label")] == "Doe, Jane"}
    assert titles == {"Graph kernels for molecules", "Molecules as graphs"}


def test_people_with_their_papers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    query = re.search(r'"""(.*?)"""', blocks_of("results.md")[0], re.DOTALL)
    assert query
    found = duckdb.sql(query[1])
    assert found
    rows = [(name, title) for name, _, _, title in found.fetchall()]
    assert ("Doe, Jane", "Molecules as graphs") in rows
    assert len(rows) == 6


def test_which_wang_wei(folder: Path) -> None:
    homonym_command("export", "result/", "--to", "csv", "-o", "people.csv", cwd=folder, check=True)
    rows = list(csv.DictReader((folder / "people.csv").read_text("utf-8-sig").splitlines(keepends=True)))
    people: dict[str, set[str]] = {}
    for row in rows:
        if row["name"].startswith("Wang"):
            people.setdefault(row["author_id"], set()).add(row["title"])
    assert {"Soil fungi of alpine meadows"} in people.values()  # another ORCID than the chemist


def test_why_two_papers_are_of_two_people(folder: Path) -> None:
    line = next(line for line in commands() if "#0" in line)
    found = homonym_command(*shlex.split(line)[1:], cwd=folder, check=True)
    assert "They are two authors. Their orcid differ" in found.stdout


def test_merges_of_one_name(folder: Path) -> None:
    found = homonym_command("explain", "result/", "Wang, Wei", "--json", cwd=folder, check=True)
    answer = orjson.loads(found.stdout)
    assert {len(author["mentions"]) for author in answer["authors"]} == {1, 2}
    assert len(answer["merges"]) == 1
    homonym_command("explain", "result/", "Wang, Wei", "-o", "tree.svg", cwd=folder, check=True)
    assert (folder / "tree.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frame_in_and_out_in_four_lines(library: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "papers.csv").write_text("id,title,authors\n1,Graphs,Wang Wei; Doe Jane\n2,More graphs,Doe Jane\n")
    (code,) = (code for code in blocks_of("export.md") if f"import homonym, {library}" in code)
    assert len([line for line in code.splitlines() if line.strip()]) <= 4
    found: dict[str, Any] = {}
    exec(code, found)
    assert type(found["people"]).__module__.startswith(library)
    assert sorted(found["people"]["mentions"]) == [1, 2]


def test_vosviewer_reads_distinct_authors(folder: Path) -> None:
    homonym_command("export", "result/", "--to", "wos", "-o", "authors.txt", cwd=folder, check=True)
    lines = (folder / "authors.txt").read_text().splitlines()
    assert len({line[3:] for line in lines if line.startswith("AU Wang")}) == 2


def test_zotero_reads_the_names(folder: Path) -> None:
    homonym_command("export", "result/", "--to", "bibtex", "-o", "library.bib", cwd=folder, check=True)
    text = (folder / "library.bib").read_text()
    assert re.search(r"author = \{Wang, Wei(?: [B-Z])? and Doe, Jane\}", text)
    found = [reading.document for reading in read_documents(folder / "library.bib", None)]
    assert len(found) == 3


def test_bibliometrix_reads_distinct_authors(folder: Path) -> None:
    homonym_command("export", "result/", "--to", "bibliometrix", "-o", "M.csv", cwd=folder, check=True)
    rows = list(csv.DictReader((folder / "M.csv").read_text().splitlines(keepends=True)))
    assert len({name for row in rows for name in row["AU"].split(";") if name.startswith("WANG")}) == 2
