"""The same paper in several sources: copies are merged by a rule that does not depend on any order."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import orjson
import pytest

from homonym import Resources, convert, disambiguate, extract, inspect

ONE = Resources(threads=1)
TITLE = "A long history of silver coins in the Roman empire"

WOS = """PT J
AU {short}
AF {full}
TI {title}
SO Coins
AB Silver was rare.
C1 [{first}] MIT, Dept Hist, Cambridge, MA USA.
PY {year}
{doi}UT WOS:{number:015d}
ER

"""
HEADER = "Authors,Author full names,Title,Year,EID,DOI,Affiliations,Authors with affiliations,Author Keywords\n"


def wos(number: int, title: str, doi: str = "", year: int = 2001) -> str:
    people = {"short": "Doe, J\n   Roe, R", "full": "Doe, Jane\n   Roe, Rita", "first": "Doe, Jane"}
    return WOS.format(number=number, title=title, doi=f"DI {doi}\n" if doi else "", year=year, **people)


def scopus(number: int, title: str, doi: str = "", year: int = 2001) -> str:
    return (
        f'"Doe J.; Roe R.","Doe, Jane (71); Roe, Rita (72)","{title}",{year},2-s2.0-{number},{doi},'
        '"Yale University","Doe J., Yale University; Roe R., Yale University",gold; silver\n'
    )


def ris(title: str, year: int = 2001, authors: tuple[str, ...] = ("Doe, J", "Roe, R"), doi: str = "") -> str:
    names = "".join(f"AU  - {name}\n" for name in authors)
    return f"TY  - JOUR\nTI  - {title}\n{names}PY  - {year}\n" + (f"DO  - {doi}\n" if doi else "") + "ER  - \n\n"


def written(folder: Path, **files: str) -> list[Path]:
    """Files by name: `wos`, `scopus` and others."""
    paths = []
    for name, content in files.items():
        head = {"wos": "FN Clarivate Analytics Web of Science\nVR 1.0\n", "scopus": HEADER}.get(name, "")
        tail = "EF\n" if name == "wos" else ""
        suffix = {"wos": "txt", "scopus": "csv"}.get(name, "ris")
        paths.append(folder / f"{name}.{suffix}")
        paths[-1].write_text(head + content + tail)
    return paths


def converted(paths: list[Path], folder: Path) -> dict[str, dict[str, Any]]:
    done = convert(paths, folder / "documents.jsonl", resources=ONE)
    return {d["id"]: d for d in map(orjson.loads, done.output.read_bytes().splitlines())}


def title(number: int) -> str:
    return f"{TITLE}, volume {number} of our books"


def test_the_same_paper_in_two_sources_keeps_the_fields_of_both(tmp_path: Path) -> None:
    paths = written(tmp_path, wos=wos(1, TITLE, "10.1000/x"), scopus=scopus(1, TITLE, "10.1000/X"))
    ((name, found),) = converted(paths, tmp_path).items()
    assert name == "WOS:000000000000001"
    assert found["abstract"] == "Silver was rare."
    assert found["keywords"] == ["gold", "silver"]
    assert found["ids"] == {"doi": "10.1000/x", "scopus": "2-s2.0-1", "wos": "000000000000001"}
    jane = found["authors"][0]
    assert len(jane["affiliations"]) == 2
    assert jane["ids"] == {"scopus": "71"}


def test_papers_without_common_identifier_match_by_title_year_and_authors(tmp_path: Path) -> None:
    paths = written(tmp_path, wos=wos(1, TITLE), scopus=scopus(1, TITLE.upper() + "."), a=ris(TITLE))
    done = convert(paths, tmp_path / "documents.jsonl", resources=ONE)
    assert done.records == 1
    assert done.problems.counts["duplicate"] == 2
    assert [problem.merged for problem in done.problems.first] == [True, True]
    assert str(done.problems.first[0]).endswith("which has the same title, year and authors.")


@pytest.mark.parametrize(
    "other",
    [
        ris(TITLE, year=2002),
        ris(TITLE, authors=("Doe, J", "Poe, E")),
        ris(TITLE, authors=("Doe, J",)),
        ris(TITLE, authors=()),
        ris(TITLE.replace("coins", "cups")),
    ],
)
def test_other_year_authors_or_title_is_another_paper(tmp_path: Path, other: str) -> None:
    assert len(converted(written(tmp_path, wos=wos(1, TITLE), a=other), tmp_path)) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Total synthesis of (+)-kainic acid analogues", "Total synthesis of (−)-kainic acid analogues"),
        ("Total synthesis of (+)-kainic acid analogues", "Total synthesis of (±)-kainic acid analogues"),
        ("Lipid metabolism of ApoE+/+ mice at night", "Lipid metabolism of ApoE−/− mice at night"),
        ("The transport of Na+ through cell membranes", "The transport of Na– through cell membranes"),
        ("Growth of yeast at +5 degrees in the dark", "Growth of yeast at -5 degrees in the dark"),
        ("Growth of yeast at 15 degrees in the dark", "Growth of yeast at 16 degrees in the dark"),
    ],
)
def test_titles_that_differ_in_a_sign_or_digit_are_different(tmp_path: Path, one: str, other: str) -> None:
    assert len(converted(written(tmp_path, a=ris(one), b=ris(other)), tmp_path)) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Silver coins - a history of the Roman mints", "Silver coins: a history of the Roman mints"),
        ("Silver coins — a history of the Roman mints", "Silver coins – a history of the Roman mints"),
        ("Synthesis of (−)-kainic acid analogues", "Synthesis of (-)-kainic acid analogues"),
        ("X-ray spectra of the poly(ethylene)-based glass", "X ray spectra of the poly(ethylene) based glass"),
    ],
)
def test_dashes_between_words_do_not_make_titles_different(tmp_path: Path, one: str, other: str) -> None:
    assert len(converted(written(tmp_path, a=ris(one), b=ris(other)), tmp_path)) == 1


@pytest.mark.parametrize("authors", [("Doe, X", "Roe, R"), ("Doe, J", "Roe, Q"), ("Doe", "Roe, R")])
def test_other_first_initials_are_other_authors(tmp_path: Path, authors: tuple[str, ...]) -> None:
    assert len(converted(written(tmp_path, a=ris(TITLE), b=ris(TITLE, authors=authors)), tmp_path)) == 2


@pytest.mark.parametrize(
    "short", ["Editorial", "Introduction to the special issue", "Reply to the letter to the editor", "Coins of Rome"]
)
def test_titles_that_many_papers_have_join_nothing(tmp_path: Path, short: str) -> None:
    assert len(converted(written(tmp_path, wos=wos(1, short), scopus=scopus(1, short)), tmp_path)) == 2


def test_two_identifiers_of_one_kind_are_two_papers(tmp_path: Path) -> None:
    paths = written(tmp_path, wos=wos(1, TITLE) + wos(2, TITLE))
    assert len(converted(paths, tmp_path)) == 2
    paths = written(tmp_path, wos=wos(1, TITLE, "10.1000/a"), scopus=scopus(1, TITLE, "10.1000/b"))
    assert len(converted(paths, tmp_path)) == 2


def test_a_copy_that_fits_two_papers_joins_neither(tmp_path: Path) -> None:
    paths = written(
        tmp_path, wos=wos(1, TITLE, "10.1000/a"), scopus=scopus(1, TITLE, "10.1000/b"), a=ris(TITLE), b=ris(TITLE)
    )
    done = convert(paths, tmp_path / "documents.jsonl", resources=ONE)
    assert done.records == 3
    assert done.problems.counts["duplicate"] == 1  # both records of the reference manager are the same


def test_the_doi_of_a_book_does_not_join_its_chapters(tmp_path: Path) -> None:
    chapters = [title(i) for i in range(3)]
    paths = written(
        tmp_path,
        wos="".join(wos(i, name, "10.1000/book") for i, name in enumerate(chapters)),
        scopus="".join(scopus(i, name, "10.1000/book") for i, name in enumerate(chapters)),
    )
    found = converted(paths, tmp_path)
    assert sorted(d["title"] for d in found.values()) == chapters
    assert all(d["keywords"] for d in found.values())


def library() -> dict[str, list[str]]:
    """Records of three sources with copies by DOI, by title and by nothing."""
    return {
        "wos": [wos(i, title(i), f"10.1000/{i}" if i % 2 else "") for i in range(30)],
        "scopus": [scopus(i, title(i), f"10.1000/{i}" if i % 3 else "") for i in range(10, 40)],
        "a": [ris(title(i)) for i in range(5, 45, 2)] + [ris(title(i)) for i in range(5, 15)],
        "b": [ris(title(i), doi="10.1000/other") for i in (20,)] + [ris("Editorial") for _ in range(3)],
    }


@pytest.mark.slow
def test_no_order_of_files_or_records_changes_the_result(tmp_path: Path) -> None:
    results = []
    for seed in range(3):
        rng = random.Random(seed)
        files = {name: "".join(rng.sample(records, len(records))) for name, records in library().items()}
        folder = tmp_path / str(seed)
        folder.mkdir()
        paths = written(folder, **files)
        rng.shuffle(paths)
        disambiguate(paths, folder / "authors.csv", resources=ONE)
        extract(paths, folder / "mentions.jsonl", resources=ONE)
        documents = convert(paths, folder / "documents.jsonl", resources=ONE).output.read_bytes()
        results.append(
            ((folder / "authors.csv").read_bytes(), (folder / "mentions.jsonl").read_bytes(),
             sorted(documents.splitlines()))
        )  # fmt: skip
    assert all(result == results[0] for result in results)


def test_converting_first_gives_the_same_authors(tmp_path: Path) -> None:
    paths = written(tmp_path, **{name: "".join(records) for name, records in library().items()})
    references = [{"id": "citing", "authors": ["Doe, Jane"], "references": ["2-s2.0-12", "WOS:000000000000012"]},
                  {"id": "cited", "authors": ["Doe, Jane"], "references": ["citing", "2-s2.0-35"]}]  # fmt: skip
    (tmp_path / "own.jsonl").write_bytes(b"\n".join(map(orjson.dumps, references)))
    paths.append(tmp_path / "own.jsonl")
    direct = extract(paths, tmp_path / "direct.jsonl", resources=ONE)
    done = convert(paths, tmp_path / "documents.jsonl", resources=ONE)
    extract(done.output, tmp_path / "converted.jsonl", resources=ONE)
    assert direct.output.read_bytes() == (tmp_path / "converted.jsonl").read_bytes()
    assert b'"ref":{' in direct.output.read_bytes()


def test_all_commands_count_the_same(tmp_path: Path) -> None:
    paths = written(tmp_path, **{name: "".join(records) for name, records in library().items()})
    done = convert(paths, tmp_path / "documents.jsonl", resources=ONE)
    found = inspect(paths, resources=ONE)
    summary = disambiguate(paths, tmp_path / "authors.csv", resources=ONE)
    assert found.inventory.records == done.records == summary.records == len(done.output.read_bytes().splitlines())
    assert found.inventory.mentions == done.mentions == summary.mentions
    read = sum(map(len, library().values()))
    assert {done.problems.counts["duplicate"], summary.problems.counts["duplicate"]} == {read - done.records}
    log = orjson.loads((tmp_path / "authors.run.json").read_bytes())["stages"]["merge"]
    assert log["copies"] == read - done.records
    assert 0 < log["by_title"] < log["copies"]


def test_adding_a_source_does_not_rename_the_papers_of_a_better_one(tmp_path: Path) -> None:
    first, *more = written(tmp_path, **{name: "".join(records) for name, records in library().items()})
    alone = converted([first], tmp_path)
    assert alone.keys() <= converted([first, *more], tmp_path).keys()


def test_a_resumed_run_reports_the_same(tmp_path: Path) -> None:
    paths = written(tmp_path, **{name: "".join(records) for name, records in library().items()})
    resources = Resources(threads=1, work=tmp_path / "work")
    first = disambiguate(paths, tmp_path / "a.csv", resources=resources)
    again = disambiguate(paths, tmp_path / "b.csv", resources=resources)
    assert again.problems == first.problems
    assert again.records == first.records
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
