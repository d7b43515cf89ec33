"""Values that no record should have: absurd numbers, ids, names and e-mail addresses."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

from homonym.commands.convert import convert
from homonym.commands.disambiguate import disambiguate
from homonym.commands.run import Resources
from homonym.settings import Settings

ONE_THREAD = Resources(threads=1)
ODD_IDS = ["a\nb", "a#1", "a", "a/b", "=1+1", "a\0b", " lead", "'", '"', ";", "\u202e"]
ODD_NAMES = ["\u202eeoD, enaJ\u202c", "Doe, " + "J " * 100_000, "A" * 1_000_000 + ", B", "a\u0301" * 10_000 + ", J"]
ODD_YEARS = ["1e400", "NaN", "Infinity", "9" * 400, "-5", "true", "[2002]", '{"a": 1}', f'"{"9" * 400}"']


def document(number: int, **fields: Any) -> dict[str, Any]:
    return {"id": f"W{number}", "title": f"On thing {number}", "authors": [{"name": "Doe, J"}], **fields}


def write(path: Path, documents: list[dict[str, Any]]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in documents))
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_any_text_is_an_id_and_comes_back_unchanged(tmp_path: Path) -> None:
    made = write(tmp_path / "in.jsonl", [document(n, id=one) for n, one in enumerate(ODD_IDS)])
    disambiguate(made, tmp_path / "out.csv", Settings(kappa=7), resources=ONE_THREAD)
    assert sorted(row["mention_id"] for row in rows(tmp_path / "out.csv")) == sorted(f"{one}#0" for one in ODD_IDS)


@pytest.mark.parametrize("year", ODD_YEARS, ids=lambda year: year[:12])
def test_absurd_year_is_reported_and_other_records_are_kept(tmp_path: Path, year: str) -> None:
    good = [orjson.dumps(document(n)) for n in range(3)]
    odd = orjson.dumps(document(9, year="YEAR")).replace(b'"YEAR"', year.encode())
    (tmp_path / "in.jsonl").write_bytes(b"\n".join([*good, odd]))
    found = convert(tmp_path / "in.jsonl", tmp_path / "out.jsonl", resources=ONE_THREAD)
    documents = [orjson.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()]
    assert [one["id"] for one in documents][:3] == ["W0", "W1", "W2"]
    assert not any("year" in one for one in documents)
    assert len(found.problems) == 1


@pytest.mark.slow
def test_absurd_names_are_mentions_and_marks_alone_are_reported(tmp_path: Path) -> None:
    names = [*ODD_NAMES, "\u0301\u0302\u0303"]
    made = write(tmp_path / "in.jsonl", [document(n, authors=[{"name": one}]) for n, one in enumerate(names)])
    found = disambiguate(made, tmp_path / "out.parquet", Settings(kappa=7), resources=ONE_THREAD)
    assert pq.read_metadata(tmp_path / "out.parquet").num_rows == len(ODD_NAMES)
    assert len(found.problems) == 1


def test_placeholders_of_email_addresses_link_no_mentions(tmp_path: Path) -> None:
    emails = ["none@none", "n/a", "no-email@example.org", "****@example.org"]
    documents = [
        document(n, title=f"word{n}", authors=[{"name": f"Doe, J{n % 7}", "emails": [emails[n % 4]]}])
        for n in range(28)
    ]
    made = write(tmp_path / "in.jsonl", documents)
    disambiguate(made, tmp_path / "out.csv", Settings(kappa=7), resources=ONE_THREAD)
    assert not any("same:" in row["constraint"] for row in rows(tmp_path / "out.csv"))
    real = [document(n, authors=[{"name": "Doe, J", "emails": ["j.doe@example.org"]}]) for n in range(2)]
    disambiguate(write(tmp_path / "in.jsonl", real), tmp_path / "out.csv", Settings(kappa=7), resources=ONE_THREAD)
    assert [row["constraint"] for row in rows(tmp_path / "out.csv")] == ["same:email"] * 2
