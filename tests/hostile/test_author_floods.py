"""Records with far too many authors, affiliations or words: a result or one sentence, in little time and memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from homonym.collection.layout import MAX_AUTHORS_IN_BLOCK
from homonym.collection.parts import Chunk, PartReport, write_documents
from homonym.records.model import MAX_AUTHORS, MAX_NOTES
from homonym.records.parsing.splitting import Raw
from homonym.settings import Settings
from tests.support.command import homonym_process

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


# Limits the memory of a process. Threads reserve address space too, so there are few.
LITTLE_MEMORY = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
"""
FEW_THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}

# A guard against hanging, not a measurement.
PATIENCE = 120


@pytest.mark.slow
@pytest.mark.parametrize("flood", FLOODS)
def test_flood_ends_with_a_result(tmp_path: Path, flood: str) -> None:
    lines = [line("W1", OTHERS), line("F", **FLOODS[flood]), line("W2", OTHERS)]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    done = homonym_process(
        "disambiguate", tmp_path / "a.jsonl", "-o", tmp_path / "o.csv", "--threads", "1",
        before=LITTLE_MEMORY.replace("2 <<", "6 <<"), env={**os.environ, **FEW_THREADS},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "W2#1" in (tmp_path / "o.csv").read_text()


BYTES = 20_000_000
DOCUMENT = '{"id": "W%d", "authors": [{"name": "Doe, J"}]}\n'
BIBTEX = "@article{W%d, title = {On wells}, author = {%s}}\n"
SCOPUS = "Authors,Author(s) ID,Title,Year,Source title,DOI,EID\n"

# Name to the format, and the text with a record of millions of authors between two others.
LISTS: dict[str, tuple[str, str]] = {
    "numbers": ("documents", DOCUMENT % 1 + '{"id": 9, "authors": [0%s]}\n' % (",0" * (BYTES // 2)) + DOCUMENT % 2),
    "names": ("documents", DOCUMENT % 1 + '{"id": 9, "authors": ["a"%s]}\n' % (',"a"' * (BYTES // 4)) + DOCUMENT % 2),
    "bibtex": ("bibtex", "".join(BIBTEX % (n, "a and " * (BYTES // 6 if n == 2 else 1) + "b") for n in (1, 2, 3))),
    "table": ("table", "id,authors\n1,Doe J; Roe A\n2," + "a;" * (BYTES // 2) + "\n3,Doe J; Roe A\n"),
    "table, JSON": ("table", 'id\tauthors\n1\t["A"]\n2\t["a"' + ',"a"' * (BYTES // 4) + ']\n3\t["A"]\n'),
    "rows": ("table", "id,author name\n1,A B\n" + "2,a\n" * (BYTES // 100) + "3,A B\n"),
    "ris": (
        "ris",
        "".join("TY  - JOUR\n" + "AU  - a\n" * (BYTES // 40 if n == 2 else 1) + "ER  - \n" for n in (1, 2, 3)),
    ),
    "wos": ("wos", "".join("PT J\nAU A, B\n" + "   a\n" * (BYTES // 5 if n == 2 else 1) + "ER\n\n" for n in (1, 2, 3))),
    "scopus": (
        "scopus",
        SCOPUS
        + "".join(f'"{"a A.; " * (BYTES // 6 if n == 2 else 1)}b B.",,x,2010,y,,2-s2.0-{n}\n' for n in (1, 2, 3)),
    ),
}
READ = """
import sys
from pathlib import Path
from homonym.records.reader import read_documents
for _, document, problems in read_documents(Path(sys.argv[1]), sys.argv[2]):
    if document or problems:
        print("read" if document else "lost", len(problems), problems[0].reason if problems else "")
"""


@pytest.mark.slow
@pytest.mark.parametrize("flood", LISTS)
def test_millions_of_authors_take_little_memory(tmp_path: Path, flood: str) -> None:
    form, text = LISTS[flood]
    (tmp_path / "a").write_text(text)
    command = [sys.executable, "-c", LITTLE_MEMORY + READ, str(tmp_path / "a"), form]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env={**os.environ, **FEW_THREADS})
    assert done.returncode == 0, done.stderr[-2000:]
    first, second, third = done.stdout.splitlines()
    assert first.startswith("read")
    assert second == "lost 1 lists more than 30,000 authors"
    assert third.startswith("read")


def test_most_notes_on_a_record_are_only_counted(tmp_path: Path) -> None:
    report = part(tmp_path, line("W1", [*[{}] * 20_000, *OTHERS]))
    assert (report.records, len(report.problems)) == (1, MAX_NOTES + 1)
    assert "19,900 more authors" in report.problems[-1].reason
