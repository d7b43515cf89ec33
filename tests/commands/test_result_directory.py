"""Result directories of whole runs: their tables, as inputs of other commands, bad places, and kills."""

from __future__ import annotations

import gzip
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from homonym.cli.app import cli
from homonym.commands.cluster import cluster
from homonym.commands.convert import convert
from homonym.commands.disambiguate import disambiguate
from homonym.commands.evaluate import evaluate
from homonym.commands.extract import extract
from homonym.commands.inspect import inspect
from homonym.commands.run import Resources
from homonym.engines.local import LocalEngine
from homonym.errors import HomonymError, InputError, OutputError
from homonym.io.result_directory import (
    AUTHORS,
    BAGS,
    CONFLICTS,
    DOCUMENTS,
    FREQUENCIES,
    LOG,
    MARKER,
    MASSES,
    MENTIONS,
    NAMES,
    REPORT,
    SETTINGS,
    is_result,
)
from homonym.schema import AUTHOR_SUMMARIES
from homonym.schema import AUTHORS as MENTION_ROWS
from homonym.schema import DOCUMENTS as DOCUMENT_ROWS
from homonym.settings import Settings, load_settings
from homonym.synthetic.corpus import Corpus
from tests.support.author_ids import author_id
from tests.support.forked import run_forked

# Most tests make whole results.
pytestmark = pytest.mark.slow

TABLES = {MENTIONS, AUTHORS, DOCUMENTS, FREQUENCIES, MASSES, NAMES, BAGS}
LIMIT = Settings(kappa=7)
ORCID, DOI = {"orcid": "0000-0002-1825-0097"}, {"doi": "10.1000/1"}
JANE = {"name": "Doe, Jane", "affiliations": ["MIT"], "ids": ORCID}
RECORDS: list[dict[str, Any]] = [
    {"id": "a", "title": "Graph kernels", "year": 2010, "ids": DOI, "authors": [JANE, {"name": "Roe, R"}]},
    {"id": "b", "title": "Kernels of graphs", "year": 2011, "references": ["copy", "c"],
     "authors": [{"name": "Doe, J.", "affiliations": ["MIT"], "ids": ORCID}, "Roe, R"]},
    {"id": "copy", "title": "Graph kernels", "abstract": "Long", "ids": DOI, "authors": ["Doe, J", "Roe, R"]},
    {"id": "empty", "title": "Editorial", "authors": []},
    {"id": "c", "year": 1990,
     "authors": [{"name": "Doe, John", "ids": ORCID}, None, {"name": "Poe, E", "author": "E"}]},
]  # fmt: skip


def write(path: Path, documents: list[Any]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(document) + b"\n" for document in documents))
    return path


def tables_of(result: Path) -> dict[str, bytes]:
    return {name: (result / name).read_bytes() for name in TABLES if (result / name).exists()}


def rows_of(result: Path, name: str) -> dict[str, dict[str, Any]]:
    rows = pq.read_table(result / name).to_pylist()
    return {next(iter(row.values())): row for row in rows}


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return write(tmp_path / "in.jsonl", RECORDS)


@pytest.fixture
def result(records: Path, tmp_path: Path) -> Path:
    return disambiguate(records, tmp_path / "result", LIMIT).output


def test_has_all_files_and_the_same_mentions_as_a_table(records: Path, tmp_path: Path) -> None:
    summary = disambiguate(records, f"{tmp_path}/result.v1/", LIMIT)
    result = tmp_path / "result.v1"
    assert summary.output == result
    assert summary.constraints is not None
    assert (summary.log, summary.constraints.file) == (result / LOG, result / CONFLICTS)
    assert set(os.listdir(result)) == {*TABLES, SETTINGS, LOG, MARKER, CONFLICTS, REPORT}
    assert orjson.loads((result / LOG).read_bytes())["finished"]
    assert load_settings(result).limit == LIMIT.limit
    table = disambiguate(records, tmp_path / "table.parquet", LIMIT).output
    assert table.read_bytes() == (result / MENTIONS).read_bytes()
    schemas = {MENTIONS: MENTION_ROWS, AUTHORS: AUTHOR_SUMMARIES, DOCUMENTS: DOCUMENT_ROWS}
    for name, schema in schemas.items():
        assert pq.read_table(result / name).schema.equals(schema), name
    assert set(os.listdir(tmp_path)) == {
        "in.jsonl", "result.v1", "table.parquet", "table.settings.toml", "table.run.json", "table.contradictions.csv",
    }  # fmt: skip


def test_authors_are_people_with_their_facts(result: Path) -> None:
    authors = rows_of(result, AUTHORS)
    anchor = author_id("DOE, J", "c#0")
    assert list(authors) == sorted(authors)
    jane = authors[anchor]
    assert jane == {
        "author_id": anchor,
        "name": "Doe, John",
        "variants": [{"name": name, "count": 1} for name in ("Doe, J.", "Doe, Jane", "Doe, John")],
        "mentions": 3,
        "documents": 3,
        "first_year": 1990,
        "last_year": 2011,
        "affiliations": [{"affiliation": "MIT", "count": 2}],
        "coauthors": jane["coauthors"],
        "ids": [{"kind": "orcid", "id": ORCID["orcid"], "count": 3}],
        "confidence": jane["confidence"],
    }
    assert sum(one["count"] for one in jane["coauthors"]) == 3
    assert all(authors[one["author_id"]]["name"] == one["name"] for one in jane["coauthors"])
    mentions = rows_of(result, MENTIONS).values()
    assert {row["author_id"] for row in mentions} == authors.keys()


def test_documents_are_those_that_were_read_each_once(result: Path) -> None:
    documents = rows_of(result, DOCUMENTS)
    assert list(documents) == ["a", "b", "c", "empty"]
    merged = documents["a"]
    assert merged["record_ids"] == ["a", "copy"]
    assert merged["ids"] == [{"kind": "doi", "id": "10.1000/1"}]
    assert (merged["title"], merged["year"], documents["empty"]["authors"]) == ("Graph kernels", 2010, [])
    assert orjson.loads(merged["record"])["abstract"] == "Long"
    assert orjson.loads(documents["b"]["record"])["references"] == ["a", "c"]
    assert documents["b"]["authors"][0] == {"position": 0, "name": "Doe, J.", "affiliations": ["MIT"]}
    assert [author["position"] for author in documents["c"]["authors"]] == [0, 2]
    mentions = rows_of(result, MENTIONS)
    named = {f"{one}#{author['position']}" for one, row in documents.items() for author in row["authors"]}
    assert named == mentions.keys()


def test_different_documents_with_one_id_have_their_final_ids(tmp_path: Path) -> None:
    entry = "@article{{smith2020, title={{{}}}, author={{Smith, J}}, year=2020}}\n"
    (tmp_path / "in.bib").write_text(entry.format("On bread") + entry.format("Of coins"))
    result = disambiguate(tmp_path / "in.bib", tmp_path / "result", LIMIT).output
    documents = rows_of(result, DOCUMENTS)
    assert all(one.startswith("smith2020~") and row["record_ids"] == ["smith2020"] for one, row in documents.items())
    assert all(orjson.loads(row["record"])["id"] == one for one, row in documents.items())
    again = disambiguate(result, tmp_path / "again", LIMIT).output
    assert (again / MENTIONS).read_bytes() == (result / MENTIONS).read_bytes()


@pytest.fixture(scope="module")
def corpus(generated: Callable[[Corpus], Path]) -> list[dict[str, Any]]:
    path = generated(Corpus(mentions=2000, ambiguity=3.0, seed=5))
    documents = [orjson.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    copies = [
        {**document, "id": f"copy{n}", "ids": {"doi": f"10.1000/{n}"}} for n, document in enumerate(documents[:20])
    ]
    for n, document in enumerate(documents[:20]):
        document["ids"] = {"doi": f"10.1000/{n}"}
    documents[30]["references"] = ["copy3", "copy4", documents[4]["id"]]
    return documents + copies


def test_same_bytes_for_any_threads_and_order(corpus: list[dict[str, Any]], tmp_path: Path) -> None:
    one = disambiguate(
        write(tmp_path / "1.jsonl", corpus), tmp_path / "1", LIMIT, resources=Resources(threads=1)
    ).output
    shuffled = random.Random(3).sample(corpus, len(corpus))
    halves = [write(tmp_path / "2.jsonl", shuffled[200:]), write(tmp_path / "3.jsonl", shuffled[:200])]
    other = disambiguate(halves, tmp_path / "2", LIMIT, resources=Resources(threads=2)).output
    assert tables_of(one) == tables_of(other)


def test_a_result_read_again_is_the_same(corpus: list[dict[str, Any]], tmp_path: Path) -> None:
    first = disambiguate(write(tmp_path / "in.jsonl", corpus), tmp_path / "1", LIMIT).output
    second = disambiguate(first, tmp_path / "2", load_settings(first)).output
    assert rows_of(first, MENTIONS) == rows_of(second, MENTIONS)
    assert rows_of(first, AUTHORS) == rows_of(second, AUTHORS)
    records = [{one: row["record"] for one, row in rows_of(result, DOCUMENTS).items()} for result in (first, second)]
    assert records[0] == records[1]


def test_a_work_directory_keeps_the_documents(corpus: list[dict[str, Any]], tmp_path: Path) -> None:
    source, work = write(tmp_path / "in.jsonl", corpus), Resources(work=tmp_path / "work")
    fresh = disambiguate(source, tmp_path / "fresh", LIMIT).output
    # The first run encodes without documents, the second with them, the third uses the checkpoint.
    disambiguate(source, tmp_path / "table.csv", LIMIT, resources=work)
    for _ in range(2):
        summary = disambiguate(source, tmp_path / "kept", LIMIT, resources=work)
        assert tables_of(summary.output) == tables_of(fresh)
    stages = orjson.loads((tmp_path / "kept" / LOG).read_bytes())["stages"]
    assert stages["encode"]["reused"] == 1
    assert "documents" not in stages


def test_clustered_mentions_have_no_documents(records: Path, tmp_path: Path) -> None:
    extract(records, tmp_path / "mentions.jsonl")
    result = cluster(tmp_path / "mentions.jsonl", tmp_path / "result", LIMIT).output
    assert set(os.listdir(result)) >= {MENTIONS, AUTHORS, SETTINGS, LOG, MARKER}
    assert not (result / DOCUMENTS).exists()
    whole = disambiguate(records, tmp_path / "whole", LIMIT).output
    assert (whole / MENTIONS).read_bytes() == (result / MENTIONS).read_bytes()
    for one, other in zip(rows_of(whole, AUTHORS).values(), rows_of(result, AUTHORS).values(), strict=True):
        assert {**one, "affiliations": []} == other


def test_commands_take_the_directory(result: Path, tmp_path: Path) -> None:
    alone = evaluate(result, result, label="orcid")
    assert evaluate(result / MENTIONS, result / DOCUMENTS, label="orcid").as_dict() == alone.as_dict()
    both = evaluate((result, f"{result}/"), result, label="orcid", names=result)
    assert set(both.results) == {"result", "result (2)"}
    assert evaluate(result, result).as_dict()["mentions"] == 1
    assert convert(result, tmp_path / "documents.jsonl").records == 4
    assert inspect(result).inventory.records == 4
    with pytest.raises(InputError, match=r"documents\.parquet: column features, mention_id is missing"):
        cluster(result, tmp_path / "other")


def test_replaces_its_result_and_no_file_of_the_user(records: Path, result: Path) -> None:
    (result / "notes.txt").write_text("precious")
    disambiguate(records, result, Settings(kappa=7, constraints="none"))
    assert set(os.listdir(result)) == {*TABLES, SETTINGS, LOG, MARKER, REPORT, "notes.txt"}
    assert set(os.listdir(result.parent)) == {"in.jsonl", "result"}


def test_output_may_be_in_the_input_directory(tmp_path: Path) -> None:
    exports = tmp_path / "exports"
    exports.mkdir()
    write(exports / "in.jsonl", RECORDS)
    results = [tables_of(disambiguate(exports, exports / "result", LIMIT).output) for _ in range(2)]
    assert results[0] == results[1]


def arguments(*values: str) -> list[str]:
    return ["disambiguate", *values, "--kappa", "7", "-q"]


def test_refuses_bad_places_with_one_sentence(records: Path, result: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    write(tmp_path / "thesis" / "chapter.jsonl", RECORDS)
    (tmp_path / "link").symlink_to(tmp_path / "thesis")
    (tmp_path / "file").write_text("precious")
    (result / "more.jsonl").write_bytes(records.read_bytes())
    cases = [
        ([records], "thesis", "thesis is not empty and not a result of homonym"),
        ([records], "thesis/", "is not empty and not a result of homonym"),
        ([records], "link", "is not empty and not a result of homonym"),
        ([records], "file", "exists and is not a directory"),
        ([records], "file/", "exists and is not a directory"),
        ([records], "file/below", "is a file, not a directory"),
        ([records], "missing/result", "does not exist; create the directory first"),
        ([tmp_path / "thesis"], "thesis", "is an input, but this run writes into"),
        ([tmp_path / "thesis/chapter.jsonl"], "link", "is an input, but this run writes into"),
        ([result], "result", "is an input, but this run writes into"),
        ([result / "more.jsonl"], "result", "is an input, but this run writes into"),
        ([records], "in.jsonl", "is an input and would be overwritten"),
        ([records], "result.v2", "use one of .parquet"),
        ([records], "people.xlsx", "homonym export result/ --to excel"),
    ]
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
    for inputs, output, message in cases:
        place = f"{tmp_path}/{output}"
        done = CliRunner().invoke(cli, arguments(*map(str, inputs), "-o", place))
        assert isinstance(done.exception, HomonymError), (output, done.output)
        assert message in str(done.exception), (output, str(done.exception))
        assert "\n" not in str(done.exception)
    for option in (["--rejects", "r.jsonl"], ["--save-statistics", "s.csv"], ["--work", "w"], ["--trace", "t.csv"]):
        done = CliRunner().invoke(cli, arguments(str(records), "-o", str(result), option[0], str(result / option[1])))
        assert isinstance(done.exception, OutputError), option
        assert "which this run replaces" in str(done.exception)
    assert {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")} == before


KILLED = """
import os, signal, sys
from homonym.engines.local import LocalEngine
from homonym.io import result_directory
from homonym import disambiguate, Settings
def kill(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[1] == "summarise":
    LocalEngine._write_summaries = kill
elif sys.argv[1] == "publish":
    result_directory._publish = kill
elif sys.argv[1] == "between":
    rename = os.rename
    def rename_and_kill(*paths):
        rename(*paths)
        kill()
    os.rename = rename_and_kill
elif sys.argv[1] == "after":
    result_directory._retire = kill
disambiguate(sys.argv[2], sys.argv[3], Settings(kappa=7))
"""


@pytest.mark.parametrize("moment", ["summarise", "publish", "between", "after"])
@pytest.mark.parametrize("old", [True, False])
def test_a_killed_run_leaves_a_whole_result_or_nothing(tmp_path: Path, moment: str, old: bool) -> None:
    if not old and moment in {"between", "after"}:
        pytest.skip("a new result needs one rename only")
    source, result = write(tmp_path / "in.jsonl", RECORDS[:2]), tmp_path / "result"
    if old:
        disambiguate(source, result, LIMIT)
        (result / "notes.txt").write_text("precious")
    before = tables_of(result)
    write(source, RECORDS)
    done = run_forked(KILLED, moment, source, result)
    assert done.returncode == -signal.SIGKILL, done.stderr
    if moment == "between":
        assert not result.exists()
    elif moment != "after":
        assert tables_of(result) == before
    visible = {name for name in os.listdir(tmp_path) if not name.startswith(".")}
    assert visible == {"in.jsonl"} | ({"result"} if old and moment != "between" else set())
    # The next run cleans up, and the older result with the user's file is not lost.
    summary = disambiguate(source, result, LIMIT)
    assert is_result(summary.output)
    assert set(rows_of(result, DOCUMENTS)) == {"a", "b", "c", "empty"}
    assert (result / "notes.txt").exists() == old
    assert set(os.listdir(tmp_path)) == {"in.jsonl", "result"}


@pytest.mark.parametrize("step", ["write_authors", "_write_summaries"])
def test_a_failure_while_two_tables_are_written_keeps_the_old_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    source, result = write(tmp_path / "in.jsonl", RECORDS[:2]), tmp_path / "result"
    disambiguate(source, result, LIMIT)
    before = tables_of(result)

    def fail(*_: object) -> None:
        raise OutputError("no space left")

    write(source, RECORDS)
    with monkeypatch.context() as broken:
        broken.setattr(LocalEngine, step, fail)
        with pytest.raises(OutputError, match="no space left"):
            disambiguate(source, result, LIMIT)
    assert tables_of(result) == before
    disambiguate(source, result, LIMIT)
    assert set(os.listdir(tmp_path)) == {"in.jsonl", "result"}
