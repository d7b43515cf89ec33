"""CSV for spreadsheets: no cell is run as a formula, and homonym reads the file back unchanged."""

from __future__ import annotations

import csv
from pathlib import Path

import orjson
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.commands.disambiguate import disambiguate
from homonym.commands.evaluate import evaluate
from homonym.errors import SettingsError
from homonym.io.table_text import csv_text
from homonym.io.tables import open_table, write_table
from homonym.settings import Settings
from tests.support.command import homonym_command
from tests.support.profiles import examples

BOM = b"\xef\xbb\xbf"
DANGEROUS = ("=", "+", "-", "@", "\t", "\r")
SETTINGS = Settings(beta=0.1)


@pytest.fixture
def records(tmp_path: Path) -> Path:
    ids = ["=1+1", "+2", "-3", "@SUM(A1)", "'=4", "plain", "'quoted"]
    names = ["=cmd|' /C calc'!A0, J", "Doe, J"]
    path = tmp_path / "in.jsonl"
    documents = [
        {"id": name, "title": "On", "authors": [{"name": author, "author": author} for author in names]} for name in ids
    ]
    path.write_bytes(b"\n".join(map(orjson.dumps, documents)))
    return path


def read(path: Path) -> tuple[list[dict[str, str]], bytes]:
    content = path.read_bytes()
    return list(csv.DictReader(content.decode("utf-8-sig").splitlines())), content


def test_no_cell_is_a_formula(records: Path) -> None:
    for name, excel in (("plain.csv", False), ("excel.csv", True)):
        disambiguate(records, records.with_name(name), SETTINGS, excel=excel)
    rows, content = read(records.with_name("excel.csv"))
    assert content.startswith(BOM)
    assert not [cell for row in rows for cell in row.values() if cell.startswith(DANGEROUS)]
    raw, plain = read(records.with_name("plain.csv"))
    assert not plain.startswith(BOM)
    assert {row["document_id"] for row in raw} >= {"=1+1", "+2", "-3", "@SUM(A1)", "'=4", "'quoted"}


def test_evaluation_of_a_spreadsheet_is_the_same(records: Path) -> None:
    figures = []
    for name, excel in (("plain.csv", False), ("excel.csv", True), ("excel.csv.gz", True)):
        done = disambiguate(records, records.with_name(name), SETTINGS, excel=excel)
        figures.append(evaluate(done.output, records).as_dict())
    assert figures[0] == figures[1] == figures[2]
    assert figures[0]["labels_without_mention"] == 0


def test_pairs_from_a_spreadsheet_name_the_same_mentions(records: Path) -> None:
    pairs = records.with_name("pairs.csv")
    rows = [("mention_a", "mention_b", "relation"), ("=1+1#1", "'=4#1", "same")]
    outcomes = []
    for excel in (False, True):
        pairs.write_text(csv_text(rows, excel=excel), encoding="utf-8")
        done = disambiguate(records, records.with_name("out.csv"), SETTINGS, pairs=pairs)
        assert done.constraints is not None
        outcomes.append((done.constraints.links, done.warnings))
    assert outcomes[0] == outcomes[1]
    assert "pair" in str(outcomes[0][0])


@settings(max_examples=examples(100), deadline=None)
@given(cells=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0")), min_size=1).map(tuple))
def test_any_text_is_read_back(cells: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> None:
    marked = [prefix + cell for cell in cells for prefix in ("=", "'=", "'", "''-", "x")]
    table = pa.table({"mention_id": marked, "author_id": ["a"] * len(marked)})
    path = tmp_path_factory.mktemp("table") / "t.csv"
    write_table(path, table.schema, [table], excel=True)
    with open_table(path, "mention_id") as opened:
        assert [cell for batch in opened.batches(["mention_id"]) for cell in batch["mention_id"].to_pylist()] == marked


def test_raw_csv_keeps_its_apostrophes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("mention_id,author_id\n'=1,a\n")
    with open_table(path, "mention_id") as opened:
        assert [batch["mention_id"].to_pylist() for batch in opened.batches(["mention_id"])] == [["'=1"]]


def test_conflicts_are_protected_too() -> None:
    assert csv_text([("kind", "=x"), (1, -2)], excel=True) == "\ufeffkind,'=x\n1,-2\n"


@pytest.mark.parametrize("name", ["out.parquet", "out", "out.csv/"])
def test_excel_needs_csv(name: str, records: Path) -> None:
    with pytest.raises(SettingsError, match=r"--excel is about CSV.*\.csv"):
        disambiguate(records, f"{records.parent}/{name}", SETTINGS, excel=True)


def test_command_line_has_the_option(records: Path) -> None:
    out = records.with_name("out.csv")
    done = homonym_command("disambiguate", records, "-o", out, "--excel", "--beta", "0.1", "-q")
    assert done.returncode == 0, done.stderr
    assert out.read_bytes().startswith(BOM)
