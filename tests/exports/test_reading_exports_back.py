"""Exported files, read by our own readers: same documents, same authors, same contributors."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from homonym.commands.disambiguate import disambiguate
from homonym.commands.evaluate import evaluate
from homonym.commands.export import export
from homonym.commands.update import update
from homonym.exports.plain_lines import one_line
from homonym.exports.result_tables import open_result
from homonym.io.inputs import Source
from homonym.io.result_directory import MENTIONS
from homonym.records.model import Document
from homonym.records.reader import detect_format, read_documents
from homonym.settings import Settings
from tests.exports.conftest import make_result

# Most tests make whole results.
pytestmark = pytest.mark.slow

FILES = {"bibtex": "out.bib", "ris": "out.ris", "wos": "out.txt", "scopus": "out.csv"}
# Tables and data sets: their names, and the formats that read them.
TABLES = {"csv": "people.csv", "excel": "people.xlsx", "bibliometrix": "M.csv", "s2and": "data"}
TABLE_FORMATS = {"csv": "table", "excel": "table", "bibliometrix": "wos-tab", "s2and": "s2and"}
EVERY = FILES | TABLES


def read_back(path: Path, to: str) -> dict[str, Document]:
    readings = list(read_documents(path, to))
    problems = [problem for reading in readings for problem in reading.problems]
    assert {problem.lost for problem in problems} <= {"contributor"}
    return {reading.document.id: reading.document for reading in readings if reading.document}


def authors_of(result: Path) -> dict[str, str]:
    table = pq.read_table(result / MENTIONS)
    return dict(zip(table["mention_id"].to_pylist(), table["author_id"].to_pylist(), strict=True))


@pytest.mark.parametrize("to", FILES)
@pytest.mark.parametrize("made", ["hostile_result", "namesakes"])
def test_documents_and_author_ids_come_back(to: str, made: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    result = request.getfixturevalue(made)
    export(result, to, tmp_path / FILES[to])
    found = read_back(tmp_path / FILES[to], to)
    wanted = {document.document.id: document for document in open_result(result).documents()}
    assert found.keys() == wanted.keys()
    for document_id, document in found.items():
        mentions = wanted[document_id].mentions
        assert [(author.position, author.ids["homonym"], author.name) for author in document.authors] == [
            (mention.entry.position, mention.person.author_id, mention.person.label) for mention in mentions
        ]
        original = wanted[document_id].document
        assert (document.year, document.ids) == (original.year, original.ids)


@pytest.mark.parametrize("to", FILES)
def test_fields_come_back(to: str, tmp_path: Path, namesakes: Path, hostile_result: Path) -> None:
    export(hostile_result, to, tmp_path / FILES[to])
    found = read_back(tmp_path / FILES[to], to)
    for exported in open_result(hostile_result).documents():
        original, document = exported.document, found[exported.document.id]
        if any(mark in original.title for mark in "<{~"):  # markup, unbalanced braces, and LaTeX's blank
            continue
        assert document.title == one_line(original.title)
        assert document.abstract == one_line(original.abstract)
        assert document.venue in (one_line(original.venue), "")  # not if it is the title, in RIS
        assert [word.rstrip(".") for word in document.keywords] == [
            one_line(word.replace(";", ",")).strip(" .") for word in original.keywords
        ]
        if to != "ris":
            assert document.referenced_authors == original.referenced_authors
        assert len(document.authors) == len(exported.mentions)
        for author in document.authors:
            assert len(author.affiliations) == 2
            assert author.affiliations[1] == "MIT, Cambridge, USA"


def test_affiliations_with_semicolons_and_dots_come_back_from_bibtex(tmp_path: Path) -> None:
    affiliations = [
        ["Dept. A; Univ. X, City", "Lab; B & C."],
        ["MIT; {Boston}; USA;", "MIT, Boston"],
        ["Dept. A; Univ. X, City"],
    ]
    documents = [
        {"id": "a", "title": "On silver coins", "authors": [
            {"name": name, "affiliations": texts}
            for name, texts in zip(("Doe, Jane", "Roe, Rita", "Poe, Max"), affiliations, strict=True)]},
        {"id": "b", "title": "On golden coins", "authors": [{"name": "Doe, Jane", "affiliations": ["Museum; Wien"]}]},
    ]  # fmt: skip
    result = make_result(tmp_path, documents, Settings(kappa=7, background="none"))
    before = [
        author.affiliations for exported in open_result(result).documents() for author in exported.document.authors
    ]
    export(result, "bibtex", tmp_path / "all.bib")
    found = read_back(tmp_path / "all.bib", "bibtex")
    assert [author.affiliations for one in ("a", "b") for author in found[one].authors] == before
    assert "; " in before[0][0]
    assert update(result, tmp_path / "all.bib").documents["changed"] == 0


def file_of(exported: Path, to: str) -> Path:
    return exported / "papers.json" if to == "s2and" else exported


@pytest.mark.parametrize("to", EVERY)
@pytest.mark.parametrize("made", ["hostile_result", "namesakes", "united"])
def test_reading_back_with_ids_gives_the_same_authors(
    to: str, made: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    result = request.getfixturevalue(made)
    export(result, to, tmp_path / EVERY[to])
    file = file_of(tmp_path / EVERY[to], to)
    form = TABLE_FORMATS.get(to, to)
    if made != "hostile_result":  # which has a BibTeX entry in a title
        with Source(file) as source:
            found = detect_format(source)
        assert found is not None
        assert found.name == form
    settings = Settings(identifiers="homonym", constraints="identifiers", kappa=1e9, background="none")
    disambiguate(file, tmp_path / "back", settings, format=form)
    assert partition(tmp_path / "back") == partition(result)
    if made == "namesakes":
        assert authors_of(tmp_path / "back") == authors_of(result)


def partition(result: Path) -> set[frozenset[str]]:
    """The mentions of each author."""
    found: dict[str, set[str]] = {}
    for mention, author in authors_of(result).items():
        found.setdefault(author, set()).add(mention)
    return set(map(frozenset, found.values()))


CONTRIBUTORS = ["ALICE", "Anonymous", "Planck Collaboration", "Poe, Ed (Ed.)", "R&D {Group} of 50 % ~x~"]


@pytest.fixture(scope="module")
def with_groups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result with groups and an editor between and behind its authors."""
    documents = [
        {"id": "a", "title": "On x", "authors": ["Planck Collaboration", "Doe, Jane", "Poe, Ed (Ed.)", "Roe, R"],
         "other_contributors": ["ALICE", "Anonymous", "R&D {Group} of 50 % ~x~"]},
        {"id": "b", "title": "On y", "authors": ["Doe, Jane"]},
    ]  # fmt: skip
    return make_result(tmp_path_factory.mktemp("groups"), documents, Settings(kappa=7, background="none"))


@pytest.mark.parametrize("to", [to for to in EVERY if to != "s2and"])
def test_groups_and_editors_come_back(to: str, tmp_path: Path, with_groups: Path) -> None:
    export(with_groups, to, tmp_path / EVERY[to])
    found = read_back(tmp_path / EVERY[to], TABLE_FORMATS.get(to, to))
    assert sorted(found["a"].other_contributors) == CONTRIBUTORS
    assert found["b"].other_contributors == []
    assert [author.position for author in found["a"].authors] == [1, 3]
    assert {author.ids["homonym"] for author in found["a"].authors} <= set(authors_of(with_groups).values())


@pytest.mark.parametrize(
    ("to", "lines"),
    [
        ("bibtex", ["author = {Doe, Jane and Roe, R and {ALICE} and", "{Planck Collaboration}", "editor = {Poe, Ed}"]),
        ("ris", ["AU  - Planck Collaboration,", "A2  - Poe, Ed"]),
        ("wos", ["CA ALICE", "   Planck Collaboration", "BE Poe, Ed"]),
        ("scopus", ['"Poe, Ed"']),
        ("csv", ["Planck Collaboration"]),
        ("bibliometrix", ["Planck Collaboration", '"Poe, Ed"']),
        ("jsonld", ['{"@type":"Organization","name":"Planck Collaboration"}', '{"@type":"Person","name":"Poe, Ed"}']),
    ],
)
def test_groups_and_editors_are_in_the_fields_of_other_tools(
    to: str, lines: list[str], tmp_path: Path, with_groups: Path
) -> None:
    path = tmp_path / {**EVERY, "jsonld": "out.jsonld"}[to]
    export(with_groups, to, path)
    text = path.read_text()
    for line in lines:
        assert line in text


def test_a_contributor_added_to_an_exported_file_is_kept(tmp_path: Path, with_groups: Path) -> None:
    export(with_groups, "bibtex", tmp_path / "out.bib")
    text = (tmp_path / "out.bib").read_text().replace("and {ALICE}", "and {ALICE} and {Ice Watch}", 1)
    (tmp_path / "out.bib").write_text(text)
    assert sorted(read_back(tmp_path / "out.bib", "bibtex")["a"].other_contributors) == sorted(
        [*CONTRIBUTORS, "Ice Watch"]
    )


def test_exported_file_is_gold_for_its_result(tmp_path: Path, hostile_result: Path) -> None:
    export(hostile_result, "bibtex", tmp_path / "out.bib")
    figures = evaluate(hostile_result, tmp_path / "out.bib", label="homonym")
    assert figures.as_dict()["bcubed"]["f1"] == 1


@pytest.mark.parametrize("to", [*FILES, "excel", "bibliometrix"])
def test_organisations_do_not_cost_the_ids_of_others(to: str, tmp_path: Path) -> None:
    names = [
        "Doe, Jane",
        "World Health Organization",
        "Anonymous",
        "Council of Europe Panel, Heart And Brain",
        "Roe, R",
    ]
    labelled = [{"name": name, "author": name} for name in names]  # then they are people
    result = make_result(
        tmp_path, [{"id": "a", "title": "On x", "authors": labelled}], Settings(kappa=7, background="none")
    )
    done = export(result, to, tmp_path / EVERY[to])
    assert "written without id: readers of this format leave out organisations" in done.warnings[0]
    authors = read_back(tmp_path / EVERY[to], TABLE_FORMATS.get(to, to))["a"].authors
    kept = authors_of(result)
    case = str.upper if to == "bibliometrix" else str
    assert {case("Doe, Jane"), case("Roe, R")} <= {author.name for author in authors}
    assert all(author.ids["homonym"] == kept[f"a#{author.position}"] for author in authors)


def test_document_ids_with_characters_that_json_escapes_come_back_from_s2and(tmp_path: Path) -> None:
    sici = '10.1002/(SICI)1097-0258(19980815)17:15<1661::AID-SIM968>3.0.CO;2-"\\'
    documents = [{"id": sici, "title": "On x", "authors": ["Doe, Jane", "Roe, R"]}]
    result = make_result(tmp_path, documents, Settings(kappa=7, background="none"))
    export(result, "s2and", tmp_path / "data")
    found = read_back(tmp_path / "data" / "papers.json", "s2and")
    assert [author.ids["homonym"] for author in found[sici].authors] == [*authors_of(result).values()]


def test_edited_file_with_other_authors_keeps_names(tmp_path: Path, namesakes: Path) -> None:
    export(namesakes, "bibtex", tmp_path / "out.bib")
    text = (tmp_path / "out.bib").read_text().replace(" and Coauthor", " and New, N and Coauthor", 1)
    (tmp_path / "out.bib").write_text(text)
    readings = list(read_documents(tmp_path / "out.bib", None))
    problems = [problem.reason for reading in readings for problem in reading.problems]
    assert problems == ["2 ids of homonym for 3 authors"]
