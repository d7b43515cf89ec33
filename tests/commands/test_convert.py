"""Convert and inspect: records of several files and formats become documents, each once; broken ones are rejected."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from homonym.commands.convert import convert
from homonym.commands.disambiguate import disambiguate
from homonym.commands.extract import extract
from homonym.commands.inspect import inspect
from homonym.commands.run import Resources
from homonym.engines import local
from homonym.errors import InputError, OutputError, SettingsError
from homonym.settings import PAPER_TYPES

ONE = Resources(threads=1)
ORCID = "0000-0002-1825-0097"


def entry(key: str, title: str, doi: str = "", author: str = "Doe, Jane and Roe, Richard") -> str:
    return f"@article{{{key},\n author = {{{author}}},\n title = {{{title}}},\n year = 2014,\n doi = {{{doi}}}\n}}\n"


def ris(title: str, doi: str = "", pmid: str = "") -> str:
    return f"TY  - JOUR\nAU  - Doe, Jane\nTI  - {title}\nPY  - 2014\nDO  - {doi}\nAN  - {pmid}\nER  - \n\n"


def own(**fields: Any) -> bytes:
    return orjson.dumps({"authors": [{"name": "Doe, Jane"}], **fields}) + b"\n"


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def documents(path: Path) -> list[dict[str, Any]]:
    content = path.read_bytes()
    return [orjson.loads(line) for line in (gzip.decompress(content) if path.suffix == ".gz" else content).splitlines()]


def test_reads_a_document_in_two_files_once(tmp_path: Path) -> None:
    first = written(tmp_path / "a.bib", entry("doe14", "On coins", "10.1000/ABC") + entry("roe15", "On trees"))
    second = written(tmp_path / "b.ris", ris("On coins", "https://doi.org/10.1000/abc") + ris("On stones", "10.1000/x"))
    done = convert([first, second], tmp_path / "out.jsonl.gz", resources=ONE)
    assert (done.records, done.mentions) == (3, 5)
    assert [document["title"] for document in documents(done.output)] == ["On coins", "On trees", "On stones"]
    assert done.problems.counts["duplicate"] == 1
    assert str(done.problems.first[0]) == (
        f"{second}, line 1: merged with line 1 of {first}, which has the same doi '10.1000/abc'."
    )


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 2, 0), (2, 0, 1)])
def test_links_documents_by_identifiers_of_a_third_record(tmp_path: Path, order: tuple[int, ...]) -> None:
    lines = [own(id="a", ids={"doi": "10.1000/X"}), own(id="b", ids={"pmid": "7"}),
             own(id="c", ids={"pmid": 7, "doi": "10.1000/x"})]  # fmt: skip
    path = written(tmp_path / "in.jsonl", b"".join(lines[i] for i in order))
    done = convert(path, tmp_path / "out.jsonl", resources=ONE)
    assert done.records == 1
    assert [document["id"] for document in documents(done.output)] == ["a"]
    assert documents(done.output)[0]["ids"] == {"doi": "10.1000/x", "pmid": "7"}


@pytest.mark.slow
def test_renames_different_documents_with_the_same_key(tmp_path: Path) -> None:
    first = written(tmp_path / "a.bib", entry("doe14", "On coins"))
    second = written(tmp_path / "b.bib", entry("doe14", "On trees") + entry("doe14", "On coins"))
    done = convert([first, second], tmp_path / "out.jsonl", resources=ONE)
    assert [d["title"] for d in documents(done.output)] == ["On coins", "On trees"]
    coins, trees = [d["id"] for d in documents(done.output)]
    assert coins != trees
    assert all(re.fullmatch("doe14~[0-9a-f]{8}", name) for name in (coins, trees))
    assert done.problems.counts["duplicate"] == 1
    disambiguate([first, second], tmp_path / "authors.csv", resources=ONE)
    rows = (tmp_path / "authors.csv").read_text().splitlines()
    expected = sorted(f"{name}#{position}" for name in (coins, trees) for position in (0, 1))
    assert sorted(row.split(",")[0].strip('"') for row in rows[1:]) == expected


@pytest.mark.slow
def test_converted_documents_give_the_same_authors(tmp_path: Path) -> None:
    exports = [written(tmp_path / "a.bib", "".join(entry(f"k{i}", f"On coins {i}") for i in range(40))),
               written(tmp_path / "b.ris", ris("On coins", "10.1000/abc") * 3)]  # fmt: skip
    convert(exports, tmp_path / "documents.jsonl.gz", resources=ONE)
    disambiguate(exports, tmp_path / "direct.csv", resources=ONE)
    disambiguate(tmp_path / "documents.jsonl.gz", tmp_path / "converted.csv", resources=ONE)
    assert (tmp_path / "direct.csv").read_bytes() == (tmp_path / "converted.csv").read_bytes()


def test_converting_documents_changes_nothing(tmp_path: Path) -> None:
    full = own(
        id="W1", title="On coins", abstract="x", year=2014, venue="Coins", categories=["c"], keywords=["k"],
        references=["W0"], referenced_authors=["Smith, A"], other_authors=["Poe, E"], ids={"doi": "10.1000/x"},
        authors=[{"name": "Doe, Jane", "affiliations": ["MIT"], "emails": ["j@x.org"], "ids": {"orcid": ORCID},
                  "author": "J1", "block": "doe"}, {"name": "Roe, R"}],
    )  # fmt: skip
    convert(written(tmp_path / "in.jsonl", full), tmp_path / "out.jsonl", resources=ONE)
    assert documents(tmp_path / "out.jsonl") == [orjson.loads(full)]


@pytest.mark.slow
def test_parts_and_processes_do_not_change_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(tmp_path / "a.bib", "".join(entry(f"k{i % 80}", f"On {i % 50} coins") for i in range(300)))
    convert(source, tmp_path / "one.jsonl", resources=ONE)
    monkeypatch.setattr(local, "CHUNK_BYTES", 1000)
    monkeypatch.setattr(local, "SMALL_INPUT", 0)
    convert(source, tmp_path / "two.jsonl", resources=Resources(threads=2))
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_writes_rejects_with_position_reason_and_text(tmp_path: Path) -> None:
    good, bad = own(id="a"), b'{"id": "b", "authors"'
    path = written(tmp_path / "in.jsonl", good + b"\n" + bad + b"\n" + own(id="c", year="n.d."))
    convert(path, tmp_path / "out.jsonl", rejects=tmp_path / "rejects.jsonl", resources=ONE)
    broken, field = documents(tmp_path / "rejects.jsonl")
    assert (broken["file"], broken["line"], broken["lost"], broken["text"]) == (str(path), 3, "record", bad.decode())
    assert "not valid JSON" in broken["reason"]
    assert (field["line"], field["lost"], field["reason"]) == (4, "field", "year 'n.d.' is not a year")
    assert "text" not in field


def test_no_rejects_give_an_empty_file(tmp_path: Path) -> None:
    extract(
        written(tmp_path / "in.jsonl", own(id="a")), tmp_path / "out.jsonl", rejects=tmp_path / "r.jsonl", resources=ONE
    )
    assert (tmp_path / "r.jsonl").read_bytes() == b""


def test_skips_unknown_files_in_a_directory_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    written(tmp_path / "in" / "a.jsonl", own(id="a"))
    written(tmp_path / "in" / "README.md", "# Read me\n\nThese are our exports.\n")
    done = convert(tmp_path / "in", tmp_path / "out.jsonl", resources=ONE)
    assert done.records == 1
    written(tmp_path / "in" / "b.zip", b"PK\x03\x04")
    assert "README.md and b.zip" in convert(tmp_path / "in", tmp_path / "out.jsonl", resources=ONE).warnings[0]
    (tmp_path / "in" / "b.zip").unlink()
    assert done.warnings == ["1 file skipped, because the format was not recognised: README.md."]
    with pytest.raises(InputError, match=r"README\.md is in none of the formats .* --format"):
        convert(tmp_path / "in" / "README.md", tmp_path / "out2.jsonl", resources=ONE)
    (tmp_path / "in" / "a.jsonl").unlink()
    with pytest.raises(InputError, match="the format of none of the files was recognised"):
        convert(tmp_path / "in", tmp_path / "out2.jsonl", resources=ONE)
    assert not (tmp_path / "out2.jsonl").exists()


def test_reports_authors_without_a_usable_name(tmp_path: Path) -> None:
    people = [{"name": "???"}, {"name": "Doe, Jane"}, {"name": "12"}]
    path = written(tmp_path / "in.jsonl", own(id="a", authors=people) * 2 + own(id="b", authors=people))
    done = convert(path, tmp_path / "out.jsonl", rejects=tmp_path / "r.jsonl", resources=ONE)
    assert [document["authors"] for document in documents(tmp_path / "out.jsonl")] == [
        [None, {"name": "Doe, Jane"}]
    ] * 2
    assert (done.mentions, done.problems.counts["author"]) == (2, 6)
    assert "author 0 has no name ('???')" in (tmp_path / "r.jsonl").read_text()
    with pytest.raises(InputError, match=r"line 1: author 0 has no name \('\?\?\?'\); correct it"):
        convert(path, tmp_path / "out2.jsonl", strict=True, resources=ONE)


def test_rejects_wrong_calls_in_one_sentence(tmp_path: Path) -> None:
    path = written(tmp_path / "in.jsonl", own(id="a"))
    with pytest.raises(OutputError, match="suffixes"):
        convert(path, tmp_path / "out.csv", resources=ONE)
    with pytest.raises(SettingsError, match="no format 'marc'"):
        convert(path, tmp_path / "out.jsonl", format="marc", resources=ONE)
    with pytest.raises(SettingsError, match="--columns"):
        convert(path, tmp_path / "out.jsonl", format="wos", columns={"id": "Key"}, resources=ONE)
    with pytest.raises(InputError, match="no usable documents"):
        convert(path, tmp_path / "out.jsonl", format="ris", resources=ONE)


def test_addresses_are_counted_as_features_and_not_again_as_identifiers(tmp_path: Path) -> None:
    person = {"name": "Doe, Jane", "ids": {"orcid": ORCID}, "emails": ["jane@example.org"]}
    found = inspect(written(tmp_path / "in.jsonl", own(id="a", authors=[person])), resources=ONE)
    assert found.inventory.identifiers == {"orcid": (1, 1)}
    assert found.features["email"] == 1


def test_inspect_counts(tmp_path: Path) -> None:
    people = [{"name": "Doe, Jane", "ids": {"orcid": ORCID, "scopus": "123"}, "affiliations": ["MIT"], "author": "J1"},
              {"name": "Roe, R"}]  # fmt: skip
    path = written(
        tmp_path / "in.jsonl",
        own(id="a", title="On coins", year=2014, ids={"doi": "10.1000/x"}, authors=people)
        + own(id="b", year=2010, authors=[{"name": "Doe, J"}, {"name": "Poe, E"}, {"name": "..."}])
        + own(id="c", authors=[])
        + own(id="a", authors=[])
        + b"{\n",
    )
    found = inspect(path, json=tmp_path / "found.json", resources=ONE)
    counted = found.inventory
    assert (counted.records, counted.without_authors, counted.mentions, counted.names) == (3, 1, 4, 3)
    assert (counted.with_year, counted.years, counted.labelled) == (2, (2010, 2010, 2014), 1)
    assert counted.document_ids == {"doi": 1}
    assert counted.identifiers == {"orcid": (1, 1), "scopus": (1, 1)}
    assert counted.frequent == [("DOE, J", 2, 2), ("POE, E", 1, 1), ("ROE, R", 1, 1)]
    assert found.features == dict.fromkeys(PAPER_TYPES, 0.0) | {"aff": 0.25, "co": 1.0, "term": 0.5, "year": 1.0}
    assert found.problems.counts == {
        "record": 1,
        "author": 1,
        "field": 0,
        "duplicate": 1,
        "contributor": 0,
        "warning": 0,
    }
    figures = orjson.loads((tmp_path / "found.json").read_bytes())
    assert (figures["formats"], figures["mentions"], figures["duplicates"]) == ({"documents": 1}, 4, 1)


def test_co_authors_who_are_no_mentions_count_as_co_authors(tmp_path: Path) -> None:
    path = written(tmp_path / "in.jsonl", own(id="a", other_authors=["Poe, E", "Doe, J"]) + own(id="b"))
    extract(path, tmp_path / "out.jsonl", resources=ONE)
    bags = {mention["mention_id"]: mention["features"] for mention in documents(tmp_path / "out.jsonl")}
    assert bags == {"a#0": {"co": {"POE, E": 1}}, "b#0": {}}
