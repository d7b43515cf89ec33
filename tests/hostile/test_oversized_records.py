"""Records over the maximum size: each is rejected with its place and the reason, and its neighbours are kept."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pytest
from benchmarks.exports import EXPORTS, documents

from homonym.collection.parts import Chunk, write_mentions
from homonym.errors import InputError
from homonym.io import inputs
from homonym.io.inputs import TOO_LONG, Source
from homonym.io.tables import open_table
from homonym.records.model import Document
from homonym.records.parsing.splitting import Raw
from homonym.records.reader import read_documents
from homonym.settings import Settings
from tests.support.command import homonym_command

LIMIT = 200_000


@pytest.fixture(autouse=True)
def low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MAX_RECORD_BYTES", LIMIT)


def read(path: Path, name: str | None = None) -> tuple[list[Document], list[str]]:
    found, reasons = [], []
    for _, document, problems in read_documents(path, name):
        found += [document] if document else []
        reasons += [problem.reason for problem in problems if problem.lost == "record"]
    return found, reasons


def with_abstract(given: Iterable[Document], abstract: str) -> Iterable[Document]:
    """The same documents; the third one has a long abstract."""
    for number, document in enumerate(given):
        if number == 2:
            document.abstract = document.title = abstract
        yield document


@pytest.mark.parametrize("export", sorted(EXPORTS))
def test_every_format_rejects_a_record_that_is_too_long(tmp_path: Path, export: str) -> None:
    words = "well water " * (2 * LIMIT // 11)
    path = tmp_path / "records"
    path.write_bytes(b"".join(EXPORTS[export].write(with_abstract(islice(documents(400), 6), words))))
    found, reasons = read(path, EXPORTS[export].format)
    if path.stat().st_size < LIMIT:
        pytest.skip("the format has neither titles nor abstracts")
    assert reasons == [TOO_LONG]
    assert len(found) == 5


@pytest.mark.parametrize("blocks", [1, 7])
def test_lines_after_an_endless_one_keep_their_numbers(tmp_path: Path, blocks: int) -> None:
    long = b"x" * (blocks * LIMIT + 1)
    (tmp_path / "a").write_bytes(b"a\n" + long + b"\n\nb\n" + long)
    with Source(tmp_path / "a") as source:
        found = [(number, len(text), broken) for number, text, broken in source.lines()]
    kept = inputs.KEPT_BYTES
    assert found == [(1, 1, ""), (2, kept, TOO_LONG), (4, 1, ""), (5, kept, TOO_LONG)]


def test_record_of_the_maximum_size_is_read(tmp_path: Path) -> None:
    line = b'{"id": "W1", "authors": [{"name": "Doe, J"}], "title": ""}'
    line = line.replace(b'""', b'"' + b"x" * (LIMIT - len(line)) + b'"')
    (tmp_path / "a").write_bytes(line + b"\n" + line.replace(b"W1", b"W10") + b"\n")
    found, reasons = read(tmp_path / "a")
    assert ([document.id for document in found], reasons) == (["W1"], [TOO_LONG])


@pytest.mark.slow
def test_long_json_record_with_many_objects_is_skipped_by_its_brackets(tmp_path: Path) -> None:
    authors = ",".join(['{"name": "Doe, J", "note": "}]"}'] * 60_000)
    records = [f'{{"id": "W{n}", "title": "x", "authors": [{authors if n < 2 else ""}]}}' for n in range(4)]
    (tmp_path / "a.json").write_text(f"[{','.join(records)}]")
    found, reasons = read(tmp_path / "a.json", "documents")
    assert ([document.id for document in found], reasons) == (["W2", "W3"], [TOO_LONG, TOO_LONG])


def test_long_cell_of_many_lines_is_one_record(tmp_path: Path) -> None:
    rows = ["1,x,Doe J", '2,"' + "a line\n" * (LIMIT // 3) + '",Roe A', "3,y,Poe B", "4,z,Coe D"]
    (tmp_path / "a.csv").write_text("\n".join(["id,title,authors", *rows]) + "\n")
    found, reasons = read(tmp_path / "a.csv")
    assert [document.id for document in found] == ["1", "3", "4"]
    assert reasons == [TOO_LONG]


@pytest.mark.parametrize("suffix", [".csv", ".arrow"])
def test_document_of_too_many_rows_is_one_rejected_record(tmp_path: Path, suffix: str) -> None:
    rows = [("1", "Doe, J"), *[("2", "Roe, Amy Ann")] * (LIMIT // 10), ("3", "Poe, B")]
    path = tmp_path / f"a{suffix}"
    if suffix == ".csv":
        path.write_text("doi,author name\n" + "\n".join(f'{key},"{name}"' for key, name in rows))
    else:
        table = pa.table({"doi": [key for key, _ in rows], "author name": [name for _, name in rows]})
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    columns = {"id": "doi", "name": "author name"}
    found = list(read_documents(path, "table", columns))
    assert [document.id for _, document, _ in found if document] == ["1", "3"]
    lost = [problem for _, _, problems in found for problem in problems if problem.lost != "warning"]
    assert [problem.reason for problem in lost] == [TOO_LONG]


def test_tables_name_the_line(tmp_path: Path) -> None:
    long = '{"mention_id": "b", "author": "' + "x" * LIMIT + '"}'
    (tmp_path / "a.jsonl").write_text(f'{{"mention_id": "a", "author": "1"}}\n{long}\n')
    with (
        pytest.raises(InputError, match="line 2: longer than"),
        open_table(tmp_path / "a.jsonl", "mention_id") as table,
    ):
        list(table.batches(["mention_id", "author"]))


def test_mentions_are_rejected(tmp_path: Path) -> None:
    raws = [Raw(1, b'{"mention_id": "a", "name": "Doe, J"}'), Raw(2, b'{"mention_id": "b"', TOO_LONG)]
    report = write_mentions(Chunk("m.jsonl", 0, raws), Settings(), tmp_path, strict=False)
    assert (report.records, [problem.reason for problem in report.problems]) == (1, [TOO_LONG])


@pytest.mark.slow
def test_real_limit_is_reported_by_the_command(tmp_path: Path) -> None:
    line = '{"id": "W%d", "title": "%s", "authors": [{"name": "Doe, J"}]}\n'
    (tmp_path / "a.jsonl").write_text(line % (1, "x") + line % (2, "x" * (65 << 20)) + line % (3, "x"))
    done = homonym_command("disambiguate", tmp_path / "a.jsonl", "-o", tmp_path / "o.csv")
    assert done.returncode == 0, done.stderr
    assert (
        "a.jsonl, line 2: longer than 64 MiB, the maximum length of a record; this record was rejected." in done.stderr
    )
    assert "2 records" in done.stdout


@pytest.mark.slow
def test_endless_line_takes_constant_memory() -> None:
    code = """
import resource
from pathlib import Path
from homonym.io import inputs
from homonym.io.inputs import Source
inputs.MAX_RECORD_BYTES = 1 << 20
with Source(Path("-")) as source:
    print([(number, bool(broken)) for number, text, broken in source.lines()])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
"""
    feed = f"head -c 200000000 /dev/zero | tr '\\\\0' x | {sys.executable} -c '{code}'"
    found = subprocess.run(["bash", "-c", feed], capture_output=True, text=True, timeout=300)
    lines, peak = found.stdout.splitlines()
    assert lines == "[(1, True)]"
    assert int(peak) < 150
