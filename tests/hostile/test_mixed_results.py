"""A result directory whose files are of different runs is refused, whichever file was exchanged."""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson
import pytest

from homonym.commands.disambiguate import disambiguate
from homonym.commands.explain import explain
from homonym.commands.export import export
from homonym.errors import InputError
from homonym.settings import Settings


def make_result(folder: Path, name: str, start: int) -> Path:
    rows = [{"id": f"W{n}", "title": f"On {n}", "authors": [{"name": name}]} for n in range(start, start + 6)]
    records = folder / f"{start}.jsonl"
    records.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    disambiguate(records, folder / str(start), Settings(beta=0.1))
    return folder / str(start)


@pytest.fixture
def mixed(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The result of one run with a file of another."""
    result, other = make_result(tmp_path, "Doe, J", 0), make_result(tmp_path, "Roe, R", 100)
    shutil.copy(other / request.param, result / request.param)
    return result


FILES = ["mentions.parquet", "authors.parquet", "documents.parquet"]


@pytest.mark.slow
@pytest.mark.parametrize("mixed", FILES, indirect=True)
def test_export_refuses_files_of_different_runs(mixed: Path) -> None:
    for to, name in [("bibtex", "a.bib"), ("csv", "a.csv"), ("s2and", "folder")]:
        with pytest.raises(InputError, match=r"different runs\. Run homonym disambiguate again"):
            export(mixed, to, mixed.parent / name)
        assert not (mixed.parent / name).exists()


@pytest.mark.slow
@pytest.mark.parametrize("mixed", ["mentions.parquet", "documents.parquet"], indirect=True)
def test_explain_refuses_files_of_different_runs(mixed: Path) -> None:
    for name in ("Doe, J", "Roe, R"):
        with pytest.raises(InputError, match=r"has no name|are others than those"):
            explain(mixed, name)
