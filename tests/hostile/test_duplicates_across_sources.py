"""The same paper in several sources: copies are merged by a rule that does not depend on any order."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pyarrow as pa
import pytest

from homonym import Resources, convert, disambiguate, extract, inspect
from homonym.collection import counting, duplicates
from homonym.engines import local

pytestmark = pytest.mark.slow

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


def titles_of(paths: list[Path], folder: Path) -> list[str]:
    return sorted(found["title"] for found in converted(paths, folder).values())


def numbered(folder: Path, name: str, rows: list[tuple[str, str]]) -> Path:
    """A table whose rows are numbered from 1 on; each row has a title and an author."""
    lines = [f'{number},"{one}","{author}",2001' for number, (one, author) in enumerate(rows, 1)]
    (folder / name).write_text("\n".join(["id,title,authors,year", *lines, ""]))
    return folder / name


def test_rows_of_two_tables_with_the_same_number_are_different_papers(tmp_path: Path) -> None:
    paths = [
        numbered(tmp_path, "a.csv", [(title(1), "Doe, J"), (title(2), "Doe, J"), ("Editorial", "Roe, R")]),
        numbered(tmp_path, "b.csv", [(title(3), "Doe, J"), (title(4), "Poe, E"), ("Editorial", "Roe, R")]),
    ]
    done = convert(paths, tmp_path / "documents.jsonl", resources=ONE)
    found = {d["title"]: d["id"] for d in map(orjson.loads, done.output.read_bytes().splitlines())}
    assert sorted(found) == sorted([title(1), title(2), title(3), title(4), "Editorial"])
    assert found["Editorial"] == "3"
    assert len({name.partition("~")[0] for name in found.values()}) == 3
    assert any("4 documents" in warning and "suffix" in warning for warning in done.warnings)


def test_a_number_of_a_table_is_no_pubmed_id_and_no_id_of_another_format(tmp_path: Path) -> None:
    (tmp_path / "a.nbib").write_text(f"PMID- 1\nTI  - {title(1)}\nDP  - 2001\nFAU - Doe, Jane\nAU  - Doe J\n\n")
    (tmp_path / "own.jsonl").write_bytes(orjson.dumps({"id": "1", "title": title(2), "authors": ["Roe, R"]}))
    paths = [numbered(tmp_path, "b.csv", [(title(3), "Poe, E")]), tmp_path / "a.nbib", tmp_path / "own.jsonl"]
    assert titles_of(paths, tmp_path) == [title(1), title(2), title(3)]
    direct = extract(paths, tmp_path / "direct.jsonl", resources=ONE).output.read_bytes()
    mentions = [orjson.loads(line)["mention_id"] for line in direct.splitlines()]
    assert len(set(mentions)) == 3
    extract(tmp_path / "documents.jsonl", tmp_path / "converted.jsonl", resources=ONE)
    assert direct == (tmp_path / "converted.jsonl").read_bytes()


def test_the_same_id_and_title_in_two_formats_is_one_paper(tmp_path: Path) -> None:
    table = numbered(tmp_path, "b.csv", [("On coins", "Doe, J"), ("On trees", "Doe, J")])
    convert(table, tmp_path / "own.jsonl", resources=ONE)
    assert titles_of([table, tmp_path / "own.jsonl"], tmp_path) == ["On coins", "On trees"]


@pytest.mark.parametrize(
    ("fields", "documents"),
    [
        ({"title": title(2), "authors": ["Doe, J"]}, 1),  # a new version
        ({"title": title(1), "authors": ["Roe, R"]}, 1),
        ({"authors": ["Roe, R"]}, 1),
        ({"title": title(2), "authors": ["Roe, R"]}, 2),
    ],
)
def test_two_documents_with_one_id_are_different_if_title_and_first_author_differ(
    tmp_path: Path, fields: dict[str, Any], documents: int
) -> None:
    rows = [{"id": "1", "title": title(1), "authors": ["Doe, Jane"]}, {"id": "1"} | fields]
    (tmp_path / "own.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    assert len(converted([tmp_path / "own.jsonl"], tmp_path)) == documents


AUTHORS = ["Doe, J", "Roe, R", "Poe, E", "Loe, A"]


def test_the_doi_of_a_volume_does_not_join_its_papers(tmp_path: Path) -> None:
    papers = [(title(i), (AUTHORS[i % 4],)) for i in range(12)]
    entries = [
        f"@article{{k{i}, title={{{name}}}, author={{{who[0]}}}, year=2001, doi={{10.1000/volume}}}}\n"
        for i, (name, who) in enumerate(papers)
    ]
    (tmp_path / "a.bib").write_text("".join(entries))
    paths = written(tmp_path, b="".join(ris(name, authors=who, doi="10.1000/volume") for name, who in papers))
    expected = sorted(name for name, _ in papers)
    for some in ([tmp_path / "a.bib"], paths, [*paths, tmp_path / "a.bib"]):
        assert titles_of(some, tmp_path) == expected


@pytest.mark.parametrize("authors", [AUTHORS, AUTHORS[:1]])
def test_a_placeholder_for_the_doi_joins_nothing(tmp_path: Path, authors: list[str]) -> None:
    rows = [f'"{title(i)}","{authors[i % len(authors)]}",10.1000/none\n' for i in range(6)]
    (tmp_path / "a.csv").write_text("title,authors,doi\n" + "".join(rows))
    assert len(converted([tmp_path / "a.csv"], tmp_path)) == 6


def test_one_record_with_a_wrong_doi_does_not_separate_the_copies_of_another_paper(tmp_path: Path) -> None:
    paths = written(
        tmp_path, wos=wos(1, TITLE, "10.1000/x"), scopus=scopus(1, TITLE, "10.1000/x", year=2002),
        a=ris(title(7), authors=("Poe, E",), doi="10.1000/x"),
    )  # fmt: skip
    assert titles_of(paths, tmp_path) == sorted([TITLE, title(7)])


def test_translations_and_preprints_of_one_paper_are_joined_by_their_doi(tmp_path: Path) -> None:
    other = "Uma longa história das moedas de prata"
    paths = written(
        tmp_path, wos=wos(1, TITLE, "10.1000/x"), scopus=scopus(1, other, "10.1000/x"),
        a=ris("Silver coins in Rome: a preprint", authors=("Doe, Jane",), year=2000, doi="10.1000/x"),
    )  # fmt: skip
    assert len(converted(paths, tmp_path)) == 1


def test_a_preprint_is_found_by_its_number_in_arxiv_and_by_the_doi_of_that_number(tmp_path: Path) -> None:
    arxiv = '{"id": "1207.7214", "title": "On coins", "authors_parsed": [["Doe", "Jane", ""]], "versions": []}\n'
    paths = written(
        tmp_path, preprints=arxiv, escaped=ris("Über Münzen", doi="https://doi.org/10.48550%2FarXiv.1207.7214v2"),
        own='{"id": "a", "authors": ["Doe, Jane"], "ids": {"arxiv": "https://arxiv.org/abs/1207.7214v1"}}\n',
    )  # fmt: skip
    assert len(converted(paths, tmp_path)) == 1


def test_numbers_in_the_old_notation_of_arxiv_have_one_form(tmp_path: Path) -> None:
    arxiv = '{"id": "math.GT/0309136", "title": "On coins", "authors_parsed": [["Doe", "Jane", ""]], "versions": []}\n'
    paths = written(
        tmp_path, preprints=arxiv, escaped=ris("Über Münzen", doi="10.48550/arXiv.math/0309136"),
        own='{"id": "a", "authors": [{"name": "Doe, Jane", "ids": {"arxiv": "doe_j_1"}}], '
        '"ids": {"arxiv": "arXiv:math/0309136v2"}}\n',
    )  # fmt: skip
    assert len(converted(paths, tmp_path)) == 1


def test_long_chains_of_copies_are_found_in_few_rounds() -> None:
    rounds = []
    for seed in range(4):
        order = list(range(500))
        if seed:
            random.Random(seed).shuffle(order)
        with duckdb.connect() as connection:
            queries = counting.Queries(connection)
            links = [{"node": node, "key": f"k{place + i}"} for place, node in enumerate(order) for i in (0, 1)]
            connection.register("links", pa.Table.from_pylist(links))
            counted = CountingQueries(queries)
            duplicates._connect(counted, "SELECT node, key FROM links")
            assert connection.execute("SELECT DISTINCT first FROM linked").fetchall() == [(0,)]
            rounds.append(counted.rounds)
    assert max(rounds) <= 12  # twice the logarithm would be 18; without jumps it would be hundreds


class CountingQueries:
    """Counts the rounds of `_connect`."""

    prefix = sha256 = ""

    def __init__(self, queries: counting.Queries) -> None:
        self.define, self.save, self._number, self.rounds = queries.define, queries.save, queries.number, 0

    def number(self, query: str) -> int:
        self.rounds += 1
        return self._number(query)


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


def test_what_merging_loses_is_counted_but_only_the_first_is_kept_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "MAX_LISTED_PROBLEMS", 5)
    rows = [
        {"id": str(i), "title": title(i), "authors": authors}
        for i in range(20)
        for authors in (["Doe, Jane", "Roe, Rita"], ["Doe, Jane", f"Poe{i}, E", f"Loe{i}, A"])
    ]
    (tmp_path / "own.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    resources = Resources(threads=1, work=tmp_path / "work")
    lost = []
    for name in ("first", "again"):  # the second run takes them from the checkpoint
        rejects = tmp_path / f"{name}.jsonl"
        done = disambiguate(tmp_path / "own.jsonl", tmp_path / "a.csv", rejects=rejects, resources=resources)
        assert done.problems.counts["author"] == 20
        lost.append(rejects.read_bytes())
        assert len(lost[-1].splitlines()) == 20
    assert lost[0] == lost[1]
    assert (tmp_path / "work/done/encoded.json").read_bytes().count(b"is not among the authors") == 5
