"""Ids come from content: no row that is added elsewhere gives an id to another paper."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest

from homonym import Resources, convert, disambiguate
from homonym.errors import InputError
from homonym.records.fields.identifiers import content_id
from homonym.records.model import Author, Document

ONE = Resources(threads=1)
HEADER = "title,authors,year\n"
ROWS = [f'"A history of coins, part {i}","Doe, Jane; Roe, Rita",{2000 + i}\n' for i in range(5)]
ENTRY = "@article{{smith2020, title={{{}}}, author={{Doe, Jane}}, year=2001}}\n"


def ids_of(folder: Path, name: str, content: str) -> dict[str, str]:
    """Title -> id."""
    (folder / name).write_text(content)
    convert(folder / name, folder / "out.jsonl", resources=ONE)
    return {d["title"]: d["id"] for d in map(orjson.loads, (folder / "out.jsonl").read_bytes().splitlines())}


def test_a_row_on_top_changes_no_id(tmp_path: Path) -> None:
    before = ids_of(tmp_path, "inst.csv", HEADER + "".join(ROWS))
    after = ids_of(tmp_path, "inst.csv", HEADER + '"A new paper on silver mines","Poe, E",2020\n' + "".join(ROWS))
    assert len(before) == 5
    assert before.items() <= after.items()


def test_ids_depend_neither_on_order_nor_on_the_name_of_the_file(tmp_path: Path) -> None:
    before = ids_of(tmp_path, "inst.csv", HEADER + "".join(ROWS))
    shuffled = random.Random(1).sample(ROWS, len(ROWS))
    assert ids_of(tmp_path, "other.csv", HEADER + "".join(shuffled)) == before


def test_identifiers_of_other_sources_come_before_hashes(tmp_path: Path) -> None:
    rows = 'Authors,Title,Year,Source title,DOI\n"Doe, J.",On coins,2001,X,10.1000/X\n"Doe, J.",On trees,2001,X,\n'
    found = ids_of(tmp_path, "a.csv", rows)
    assert found["On coins"].removeprefix("doi:") == "10.1000/x"
    assert found["On trees"].startswith("h:")


def test_different_papers_of_one_title_year_and_author_get_different_ids(tmp_path: Path) -> None:
    rows = 'title,authors,year,abstract\nEditorial,"Doe, J",2001,one\nEditorial,"Doe, J",2001,two\n'
    (tmp_path / "a.csv").write_text(rows)
    done = convert(tmp_path / "a.csv", tmp_path / "out.jsonl", resources=ONE)
    found = [orjson.loads(line)["id"] for line in done.output.read_bytes().splitlines()]
    assert len(set(found)) == 2
    assert len({name.partition("~")[0] for name in found}) == 1


def test_records_without_a_title_get_different_ids(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('title,authors,year\n,"Doe, J",2001\n,"Roe, R",2001\n')
    done = convert(tmp_path / "a.csv", tmp_path / "out.jsonl", resources=ONE)
    assert len({orjson.loads(line)["id"] for line in done.output.read_bytes().splitlines()}) == 2


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_a_third_document_with_a_key_renames_none_of_the_others(tmp_path: Path, order: Sequence[int]) -> None:
    titles = ["On coins", "On trees", "On stones"]
    two = ids_of(tmp_path, "a.bib", "".join(ENTRY.format(title) for title in titles[:2]))
    three = ids_of(tmp_path, "b.bib", "".join(ENTRY.format(titles[i]) for i in order))
    assert "smith2020" not in three.values()
    assert two.items() <= three.items()
    assert len(set(three.values())) == 3


def write_pairs(path: Path, rows: Sequence[tuple[str, str, str]]) -> Path:
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("mention_a", "mention_b", "relation"), *rows])
    return path


def rows_of(path: Path) -> list[list[str]]:
    with path.open(newline="") as stream:
        return list(csv.reader(stream))[1:]


def test_pairs_by_line_are_refused_and_can_be_converted(tmp_path: Path) -> None:
    (tmp_path / "inst.csv").write_text(HEADER + "".join(ROWS))
    old = write_pairs(tmp_path / "old.csv", [("inst.csv:2#0", "inst.csv:3#0", "different"),
                                            ("inst.csv:4#1", "inst.csv:6#1", "same")])  # fmt: skip
    with pytest.raises(InputError, match=r"no mention inst.csv:2#0.*by file and line.*homonym convert .*--new-pairs"):
        disambiguate(tmp_path / "inst.csv", tmp_path / "out.csv", pairs=old, resources=ONE)
    new = tmp_path / "new.csv"
    done = convert(tmp_path / "inst.csv", tmp_path / "d.jsonl", pairs=old, new_pairs=new, resources=ONE)
    assert not done.warnings
    documents = [orjson.loads(line)["id"] for line in done.output.read_bytes().splitlines()]
    assert rows_of(new) == [
        [f"{documents[0]}#0", f"{documents[1]}#0", "different"], [f"{documents[2]}#1", f"{documents[4]}#1", "same"],
    ]  # fmt: skip
    summary = disambiguate(tmp_path / "inst.csv", tmp_path / "out.csv", pairs=new, resources=ONE)
    assert not any("ignored" in warning for warning in summary.warnings)
    assert summary.constraints
    assert summary.constraints.links["pair"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["inst.csv", "my list", "export.data", "a:b"])
def test_ids_with_file_and_line_are_used_if_they_exist(tmp_path: Path, name: str) -> None:
    documents = [{"id": f"{name}:{i}", "title": "On coins", "authors": ["Doe, Jane"]} for i in (2, 3)]
    (tmp_path / "d.jsonl").write_bytes(b"\n".join(map(orjson.dumps, documents)))
    known = write_pairs(tmp_path / "known.csv", [(f"{name}:2#0", f"{name}:3#0", "same")])
    summary = disambiguate(tmp_path / "d.jsonl", tmp_path / "out.csv", pairs=known, resources=ONE)
    assert not any("ignored" in warning for warning in summary.warnings)
    unknown = write_pairs(tmp_path / "unknown.csv", [(f"{name}:2#0", f"{name}:4#0", "same")])
    with pytest.raises(InputError, match=r"no mention .*:4#0.*homonym convert .*--new-pairs"):
        disambiguate(tmp_path / "d.jsonl", tmp_path / "out.csv", pairs=unknown, resources=ONE)


def test_unknown_identifiers_in_pairs_are_only_ignored(tmp_path: Path) -> None:
    (tmp_path / "inst.csv").write_text(HEADER + "".join(ROWS))
    pairs = write_pairs(
        tmp_path / "p.csv", [("WOS:000123#0", "pmid:7#0", "same"), ("h:0123456789012345#0", "x#0", "same")]
    )
    summary = disambiguate(tmp_path / "inst.csv", tmp_path / "out.csv", pairs=pairs, resources=ONE)
    assert any("2 pairs ignored" in warning for warning in summary.warnings)


def test_old_numbers_begin_with_ids_that_are_identifiers(tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text(ENTRY.format("On coins"))
    document = {"id": "smith2020", "title": "On trees", "authors": ["Roe, R"]}
    (tmp_path / "b.jsonl").write_bytes(orjson.dumps(document))
    old = write_pairs(tmp_path / "old.csv", [("smith2020#0", "smith2020~2#0", "different")])
    files = [tmp_path / "a.bib", tmp_path / "b.jsonl"]
    done = convert(files, tmp_path / "d.jsonl", pairs=old, new_pairs=tmp_path / "new.csv", resources=ONE)
    ids = {d["title"]: d["id"] for d in map(orjson.loads, done.output.read_bytes().splitlines())}
    assert rows_of(tmp_path / "new.csv") == [[f"{ids['On trees']}#0", f"{ids['On coins']}#0", "different"]]


def test_converted_pairs_follow_renamed_and_merged_documents(tmp_path: Path) -> None:
    titles = ["On coins", "On trees"]
    (tmp_path / "a.bib").write_text("".join(ENTRY.format(title) for title in titles))
    (tmp_path / "b.csv").write_text(
        'Authors,Title,Year,EID\n"Roe, R.; Doe, J.",A history of Roman silver coins,2001,2-s2.0-1\n'
    )
    (tmp_path / "c.csv").write_text('title,authors,year\nA history of Roman silver coins,"Roe, Rita; Doe, Jane",2001\n')
    old = write_pairs(tmp_path / "old.csv", [("smith2020#0", "smith2020~2#0", "different"),
                                            ("c.csv:2#1", "smith2020~2#0", "same"),
                                            ("gone.csv:9#0", "smith2020#0", "same"),
 ("c.csv:"+"9" * 30 + "#0", "smith2020#" + "9" * 30, "same")])  # fmt: skip
    files = [tmp_path / name for name in ("a.bib", "b.csv", "c.csv")]
    done = convert(files, tmp_path / "d.jsonl", pairs=old, new_pairs=tmp_path / "new.csv", resources=ONE)
    ids = {d["title"]: d["id"] for d in map(orjson.loads, done.output.read_bytes().splitlines())}
    assert ids["A history of Roman silver coins"] == "2-s2.0-1"
    assert rows_of(tmp_path / "new.csv") == [
        [f"{ids['On coins']}#0", f"{ids['On trees']}#0", "different"], ["2-s2.0-1#1", f"{ids['On trees']}#0", "same"],
    ]  # fmt: skip
    assert any("2 pairs could not be converted" in warning and "gone.csv:9#0" in warning for warning in done.warnings)


def test_id_does_not_depend_on_how_authors_are_split() -> None:
    names = ("van Roe", "van Roe, Al B.", "Van Roe AB, Doe J")
    ids = {content_id(Document("", [Author(0, name)], "On the many lakes", year=2012)) for name in names}
    assert len(ids) == 1
    assert content_id(Document("", [Author(0, "Doe, J")], "On the many lakes", year=2012)) not in ids


def test_documents_with_one_key_and_a_common_title_stay_apart(tmp_path: Path) -> None:
    entry = "@article{{s20, author={{{author}}}, title={{Editorial}}, year={year}}}\n"
    people = [("Smith, J", 2020), ("Wang, Wei", 2020), ("Smith, J", 2012), ("Smith, J", 2020)]
    (tmp_path / "a.bib").write_text("".join(entry.format(author=author, year=year) for author, year in people))
    assert convert(tmp_path / "a.bib", tmp_path / "o.jsonl").records == 3
