"""Records with far too many authors, affiliations or words: a result or one sentence, in little time and memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from homonym.collection.layout import MAX_AUTHORS, MAX_AUTHORS_IN_BLOCK
from homonym.collection.parts import Chunk, PartReport, write_documents
from homonym.records.parsing.splitting import Raw
from homonym.settings import Settings
from tests.support.command import homonym_command

OTHERS = [{"name": "Doe, J"}, {"name": "Roe, A"}]


def name(number: int) -> str:
    return "A" + "".join(chr(97 + int(digit)) for digit in str(number)) + "b, J"


def line(key: str, authors: list[dict[str, Any]], **more: Any) -> bytes:
    return orjson.dumps({"id": key, "title": "On wells", "year": 2010, "authors": authors, **more})


def part(folder: Path, *lines: bytes) -> PartReport:
    raws = [Raw(number, text) for number, text in enumerate(lines, 1)]
    return write_documents(Chunk("a.jsonl", 0, raws), Settings(), folder, strict=False)


@pytest.mark.parametrize("is_plain", [True, False], ids=["whole chunk at once", "record by record"])
def test_record_with_too_many_authors_of_a_block_is_rejected(tmp_path: Path, is_plain: bool) -> None:
    few, many = ([{"name": "Doe, J"}] * number for number in (MAX_AUTHORS_IN_BLOCK, MAX_AUTHORS_IN_BLOCK + 1))
    more = {} if is_plain else {"keywords": 7}  # a wrong type, so that the chunk is read record by record
    report = part(tmp_path, line("W1", few), line("W2", many, **more), line("W3", OTHERS))
    assert report.records == 2
    rejected = [problem for problem in report.problems if problem.lost == "record"]
    assert [problem.line for problem in rejected] == [2]
    assert "lists 1,001 authors of the name 'DOE, J', and 1,000 are possible" in rejected[0].reason


def test_blocks_given_by_the_data_count(tmp_path: Path) -> None:
    one_block = [{"name": name(number), "block": "b"} for number in range(MAX_AUTHORS_IN_BLOCK + 1)]
    report = part(tmp_path, line("W1", one_block), line("W2", OTHERS))
    assert (report.records, report.problems[0].line) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("number", [MAX_AUTHORS + 1, 200_000])
def test_record_with_too_many_authors_is_rejected(tmp_path: Path, number: int) -> None:
    report = part(tmp_path, line("W1", [{"name": name(number)} for number in range(number)]), line("W2", OTHERS))
    assert report.records == 1
    assert "lists more than 30,000 authors" in report.problems[0].reason


FLOODS: dict[str, dict[str, Any]] = {
    "one name": {"authors": [{"name": "Doe, J"}] * 100_000},
    "distinct names": {"authors": [{"name": name(number)} for number in range(20_000)]},
    "affiliations": {"authors": [{"name": "Doe, J", "affiliations": [f"University {n}" for n in range(100_000)]}]},
    "long names": {"authors": [{"name": "Doe" * 300_000 + ", J"}, {"name": "Doe, " + "A." * 500_000}]},
    "keywords": {"authors": OTHERS, "keywords": ["a"] * 3_000_000},
}


@pytest.mark.slow
@pytest.mark.parametrize("flood", FLOODS)
def test_flood_ends_with_a_result(tmp_path: Path, flood: str) -> None:
    lines = [line("W1", OTHERS), line("F", **FLOODS[flood]), line("W2", OTHERS)]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    done = homonym_command("disambiguate", tmp_path / "a.jsonl", "-o", tmp_path / "o.csv")
    assert done.returncode == 0, done.stderr
    assert "W2#1" in (tmp_path / "o.csv").read_text()
