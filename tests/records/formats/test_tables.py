"""Scopus exports and other tables: all layouts, and damage that must not affect neighbouring rows."""

from __future__ import annotations

import csv
import gzip
import io
import json
import pickle
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.errors import InputError
from homonym.io.inputs import InputLine, Source
from homonym.io.table_text import EXCEL_CELL, Header
from homonym.records.fields.people import scopus_cited_authors
from homonym.records.formats import scopus, table, table_authors, table_columns
from homonym.records.model import Author, BrokenRecordError, Document
from homonym.records.parsing.delimited import UNCLOSED, cells_of, gather, row_cells
from homonym.records.parsing.splitting import Raw
from homonym.records.reader import Columns, Reading, read_documents
from tests.support.profiles import examples

NEW = {
    "Authors": "Zed Q.; Mo-Yo A.B.",
    "Author full names": "Zed, Quentin (7001); Mo-Yo, Anna Bella (7002)",
    "Author(s) ID": "7001; 7002",
    "Title": "On counting &amp; <i>naming</i> sheep",
    "Year": "2023",
    "Source title": "Annals of Wool",
    "DOI": "10.9999/WOOL.1",
    "Link": "https://example.org/record.uri?eid=2-s2.0-900001&x=1",
    "Affiliations": "Dept. of Wool, Univ. of Hay, Oz; Institute of Felt, Oz",
    "Authors with affiliations": "Zed Q., Dept. of Wool, Univ. of Hay, Oz, Institute of Felt, Oz; "
    "Mo-Yo A.B., Institute of Felt, Oz",
    "Abstract": 'Sheep, "counted".\nTwice, they say, a, b, c.',
    "Author Keywords": "sheep; counting",
    "Index Keywords": "Sheep; counting",
    "References": "Hay B.; Straw C.D., Fields, J. Grass, 5, (2001); Anonymous report, (2002)",
    "Correspondence Address": "A.B. Mo-Yo; Institute of Felt, Oz; email: ab@felt.example; Q. Zed; email: q@hay.example",
    "PubMed ID": "0123",
    "Document Type": "Article",
    "Source": "Scopus",
    "EID": "2-s2.0-900001",
}
OLD = {
    **NEW,
    "Authors": "Zed Q., Mo-Yo A.B., Jr.",
    "Author(s) ID": "7001;7002;",
    "Authors with affiliations": "Zed, Q., Institute of Felt, Oz; Mo-Yo, A.B., Jr.",
    "References": "Hay, B., Straw, C.-D., Fields (2001) J. Grass, 5, pp. 1-2; (1999) Nobody's book",
    "Correspondence Address": "Zed, Q.; Institute of Felt, Oz; email: q@hay.example",
    "EID": "2-s2.0-900002",
}
del OLD["Author full names"]


def written(
    rows: Sequence[dict[str, Any]], *, separator: str = ",", quoting: Any = csv.QUOTE_ALL, end: str = "\n"
) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=separator, quoting=quoting, lineterminator=end)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def numbered(row: dict[str, Any], count: int) -> list[dict[str, Any]]:
    return [{**row, "EID": f"2-s2.0-{number}", "DOI": f"10.9999/{number}"} for number in range(1, count + 1)]


class Read:
    """The documents and problems of a file."""

    def __init__(self, readings: list[Reading]) -> None:
        self.documents = [reading.document for reading in readings if reading.document]
        self.problems = [problem for reading in readings for problem in reading.problems]
        self.broken = [problem for problem in self.problems if problem.lost == "record"]

    @property
    def ids(self) -> list[str]:
        return [document.id for document in self.documents]

    @property
    def one(self) -> Document:
        assert len(self.documents) == 1, self.problems
        return self.documents[0]


Reads = Callable[..., Read]


@pytest.fixture
def read(tmp_path: Path) -> Reads:
    def read_file(content: bytes | str, form: str | None = None, name: str = "t.csv", **columns: str) -> Read:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return Read(list(read_documents(path, form, columns)))

    return read_file


def names_of(document: Document) -> list[str]:
    return [author.name for author in document.authors]


# Scopus


def test_reads_new_scopus_layout(read: Reads) -> None:
    found = read(written([NEW]))
    document = found.one
    assert not found.problems
    assert document == Document(
        id="2-s2.0-900001",
        authors=[
            Author(
                0,
                "Zed, Quentin",
                ["Dept. of Wool, Univ. of Hay, Oz", "Institute of Felt, Oz"],
                ["q@hay.example"],
                ids={"scopus": "7001"},
            ),
            Author(1, "Mo-Yo, Anna Bella", ["Institute of Felt, Oz"], ["ab@felt.example"], ids={"scopus": "7002"}),
        ],
        title="On counting & naming sheep",
        abstract='Sheep, "counted". Twice, they say, a, b, c.',
        year=2023,
        venue="Annals of Wool",
        keywords=["sheep", "counting", "Sheep"],
        referenced_authors=["Hay B.", "Straw C.D."],
        ids={"scopus": "2-s2.0-900001", "doi": "10.9999/wool.1", "pmid": "123"},
    )


def test_reads_old_scopus_layout(read: Reads) -> None:
    document = read(written([OLD], quoting=csv.QUOTE_MINIMAL)).one
    first, second = document.authors
    assert (first.name, second.name) == ("Zed Q.", "Mo-Yo A.B., Jr.")
    assert (first.ids, second.ids) == ({"scopus": "7001"}, {"scopus": "7002"})
    assert (first.affiliations, second.affiliations) == (["Institute of Felt, Oz"], [])
    assert (first.emails, second.emails) == (["q@hay.example"], [])
    assert document.referenced_authors == ["Hay, B.", "Straw, C.-D."]


_SCOPUS_IN_OTHER_LANGUAGES = (
    ("作者", "作者 ID", "文献标题", "年份", "来源出版物名称", "归属机构", "带归属机构的作者", "摘要", "索引关键字"),
    ("作者", "作者 ID", "文獻標題", "年份", "來源出版物名稱", "機構", "带归属机构的作者", "摘要", "索引關鍵字"),
    ("著者名", "著者ID", "タイトル", "出版年", "出版物名", "所属機関", "著者 + 所属機関", "抄録", "索引キーワード"),
    (
        "Авторы", "Идентификаторы авторов", "Название", "Год", "Название источника", "Организации",
        "Авторы организаций", "Краткое описание", "Ключевые слова указателя",
    ),
)  # fmt: skip


@pytest.mark.parametrize("columns", _SCOPUS_IN_OTHER_LANGUAGES)
@pytest.mark.parametrize("full_names", [True, False])
def test_reads_scopus_with_columns_in_other_languages(read: Reads, columns: tuple[str, ...], full_names: bool) -> None:
    english = (
        "Authors", "Author(s) ID", "Title", "Year", "Source title", "Affiliations", "Authors with affiliations",
        "Abstract", "Index Keywords",
    )  # fmt: skip
    row = (
        "Doe J.; Roe A.", "7; 8", "On felt", "2019", "J Felt", "Univ A, Rome; Univ B, Oslo",
        "Doe J., Univ A, Rome; Roe A., Univ B, Oslo", "We felt.", "felt; wool",
    )  # fmt: skip
    full = ("Author full names", "Doe, Jane (7); Roe, Ann (8)") if full_names else ("EID", "2-s2.0-1")
    found = []
    for names in (english, columns):
        header, cells = (*names, full[0]), (*row, full[1])
        given = read("\ufeff" + written([dict(zip(header, values, strict=True)) for values in (cells, header)]))
        assert given.problems == []
        found.append(given.one)
    assert found[0] == found[1]


@pytest.mark.parametrize("error", ["#NAME?", "#REF!", "#WERT!", "#¿NOMBRE?", "#ИМЯ?"])
@pytest.mark.parametrize("row", [NEW, {"Authors": "Doe, J", "Title": "On felt", "Journal": "#hash", "Year": "2010"}])
def test_an_error_of_a_spreadsheet_is_no_value(read: Reads, error: str, row: dict[str, str]) -> None:
    found = read(written([row | {"Title": error}]))
    assert found.one.title == ""
    assert [problem.reason for problem in found.problems] == [
        f"{error} in the column 'Title' is an error of a spreadsheet"
    ]
    empty = read(written([row | {"Title": "#N/A"}]))
    assert (empty.one.title, empty.problems) == ("", [])


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ('c("Doe, Jane", "Roe, Ann")', ["Doe, Jane", "Roe, Ann"]),
        ("('Jane Doe', 'Ann Roe',)", ["Jane Doe", "Ann Roe"]),
        ("Doe, Jane (MIT; Harvard); Roe, A (ETH)", ["Doe, Jane (MIT; Harvard)", "Roe, A (ETH)"]),
        ("Jane Doe • Ann Roe", ["Jane Doe", "Ann Roe"]),
        ("Doe J & al.", ["Doe J"]),
        ("Doe J (+12)", ["Doe J"]),
    ],
)
def test_reads_lists_of_authors_in_notations_of_programs(read: Reads, cell: str, names: list[str]) -> None:
    rows = [{"Title": "On felt", "Authors": "Doe, J; Roe, A; Poe, E"}, {"Title": "On wool", "Authors": cell}]
    assert names_of(read(written(rows)).documents[1]) == names


def test_a_dash_between_two_whole_names_is_reported(read: Reads) -> None:
    found = read(written([{"Title": "On felt", "Authors": "Jane Doe - Ann Roe", "Year": "2010"}]))
    assert names_of(found.one) == ["Jane Doe - Ann Roe"]
    assert [(problem.lost, problem.reason) for problem in found.problems] == [
        ("warning", "'Jane Doe - Ann Roe' looks like several authors, but it was read as one")
    ]


def test_addresses_behind_names_keep_two_authors_with_one_name_apart(read: Reads) -> None:
    addresses = "Wu, Yi (Univ A (Lab), Rome); Wu, Yi (Univ B); Roe, A (Univ C)"
    row = {"Publication ID": "pub.1", "Title": "On felt", "Authors": "Wu, Yi; Wu, Yi; Roe, A"}
    document = read(written([row | {"Authors (Raw Affiliation)": addresses}])).one
    assert [author.affiliations for author in document.authors] == [["Univ A (Lab), Rome"], ["Univ B"], ["Univ C"]]


def test_addresses_behind_a_name_of_two_authors_belong_to_nobody_else(read: Reads) -> None:
    row = {"Publication ID": "pub.1", "Title": "On felt", "Authors": "Wang, W; Wang, W; Li, X"}
    addresses = "Li, X (Univ A); Wang, W (Univ B (Lab), Rome)"
    document = read(written([row | {"Authors (Raw Affiliation)": addresses}])).one
    assert [author.affiliations for author in document.authors] == [[], [], ["Univ A"]]


def test_an_error_of_a_spreadsheet_is_no_value_in_a_row_that_is_too_long(read: Reads) -> None:
    found = read('Authors,Title,DOI,Year,Journal\n"Doe, J",#NAME?,10.1000/x,2010,a,b\n')
    assert (found.one.title, names_of(found.one)) == ("", ["Doe, J"])
    assert "#NAME? in the column 'Title' is an error of a spreadsheet" in [one.reason for one in found.problems]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_reads_scopus_saved_by_spreadsheet(read: Reads, separator: str, encoding: str, end: str) -> None:
    text = written([NEW, {**NEW, "EID": "2-s2.0-5", "Authors": "Müller Ö."}], separator=separator, quoting=0, end=end)
    found = read(text.encode(encoding))
    assert found.ids == ["2-s2.0-900001", "2-s2.0-5"]
    assert not found.problems


def test_reads_old_mac_line_ends_and_excel_separator_line(read: Reads) -> None:
    rows = [{**row, "Abstract": "one line"} for row in numbered(OLD, 3)]
    assert read(written(rows, end="\r")).ids == ["2-s2.0-1", "2-s2.0-2", "2-s2.0-3"]
    found = read("sep=;\n" + written(rows, separator=";"))
    assert (len(found.documents), found.problems) == (3, [])


def test_reads_latin_1(read: Reads) -> None:
    assert names_of(read(written([{**OLD, "Authors": "Müller Ö."}]).encode("latin-1")).one) == ["Müller Ö."]


@pytest.mark.parametrize(
    "ticked",
    [
        ["Authors", "Title", "Year", "EID"],
        ["Title", "Authors", "Author(s) ID", "Year"],
        ["Author full names", "Title", "Link", "EID"],
        ["Authors", "Title", "Year", "Source title", "Cited by", "DOI", "Link", "Document Type"],
    ],
)
def test_reads_exports_with_few_columns(read: Reads, ticked: list[str]) -> None:
    document = read(written([{name: NEW.get(name, "") for name in ticked}])).one
    assert len(document.authors) == 2
    assert document.id.startswith("2-s2.0-900001" if {"EID", "Link"} & set(ticked) else "h:")
    assert all(author.ids for author in document.authors) == bool({"Author(s) ID", "Author full names"} & set(ticked))


def test_ignores_placeholders_for_authors_and_abstract(read: Reads) -> None:
    rows = [
        {**NEW, "Authors": "[No author name available]", "Author full names": "[No author name available]"},
        {**NEW, "Authors": "", "Author full names": "", "Author(s) ID": "[No author id found]"},
    ]
    found = read(written([{**row, "Abstract": "[No abstract available]", "PubMed ID": "NA"} for row in rows]))
    assert [(document.authors, document.abstract) for document in found.documents] == [([], ""), ([], "")]
    assert all("pmid" not in document.ids for document in found.documents)


def test_notes_wrong_number_of_author_ids(read: Reads) -> None:
    found = read(written([{**OLD, "Author(s) ID": "7001;7002;7003"}]))
    assert all(not author.ids for author in found.one.authors)
    assert [problem.reason for problem in found.problems] == [
        "there are 3 author ids for 2 authors, so it is unclear whose they are"
    ]


def test_assigns_affiliations_without_names_only_if_unambiguous(read: Reads) -> None:
    alone = {**OLD, "Authors": "Zed Q.", "Author(s) ID": "1", "Authors with affiliations": ""}
    shared = {**OLD, "Affiliations": "Univ. of Hay", "Authors with affiliations": ""}
    unclear = {**OLD, "Authors with affiliations": ""}
    found = read(written([alone, {**shared, "EID": "2-s2.0-3"}, {**unclear, "EID": "2-s2.0-4"}]))
    given_to = [[author.affiliations for author in document.authors] for document in found.documents]
    assert given_to[0] == [["Dept. of Wool, Univ. of Hay, Oz", "Institute of Felt, Oz"]]
    assert given_to[1:] == [[["Univ. of Hay"]] * 2, [[], []]]


@pytest.mark.parametrize(
    ("correspondence", "expected"),
    [
        ("Zed, Q.; Hay; Mo-Yo, A.B.; Univ. of Felt, Oz; email: x@felt.example", [[], ["x@felt.example"]]),
        ("Q. Zed; Hay, Oz; email: q@hay.example, z@hay.example", [["q@hay.example", "z@hay.example"], []]),
        ("Quentin Zed; Hay; email: q@hay.example", [[], []]),  # not a listed author
        ("Univ. of Felt, Oz; email: x@felt.example", [[], []]),
        (
            "Zed, Quentin; email: q@hay.example; Mo-Yo, Anna; email: x@felt.example",
            [["q@hay.example"], ["x@felt.example"]],
        ),
    ],
)
def test_assigns_correspondence_emails(read: Reads, correspondence: str, expected: list[list[str]]) -> None:
    document = read(written([{**NEW, "Correspondence Address": correspondence}])).one
    assert [author.emails for author in document.authors] == expected


def test_ignores_email_of_ambiguous_name(read: Reads) -> None:
    row = {**OLD, "Authors": "Li Y., Li Y.", "Correspondence Address": "Y. Li; Univ. of Hay; email: li@hay.example"}
    assert [author.emails for author in read(written([row])).one.authors] == [[], []]


def test_reads_emails_in_affiliations(read: Reads) -> None:
    places = "Zed Q., Univ. of Hay, Oz, email: q@hay.example; Mo-Yo A.B., Institute of Felt, Oz."
    document = read(written([{**NEW, "Authors with affiliations": places, "Affiliations": ""}])).one
    assert [author.affiliations for author in document.authors] == [["Univ. of Hay, Oz"], ["Institute of Felt, Oz"]]
    assert [author.emails for author in document.authors] == [["q@hay.example"], ["ab@felt.example"]]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("Doe J., A; Li Y., B; Li Y., C", [["A"], ["B"], ["C"]]),  # two of one name, in order
        ("Li Y., B; Doe J., A", [["A"], ["B"], []]),  # out of order, by name
        (
            "Doe J., A, Rome; Box 5, Rome; Li Y., B",
            [["A, Rome", "Box 5, Rome"], ["B"], []],
        ),  # a semicolon in an address
        ("Doe, J., A; Li, Y.; Li, Y.", [["A"], [], []]),
        ("D'Oe J., A; Lí Y., B; Lí Y., C", [["A"], ["B"], ["C"]]),  # spelled differently, but complete
    ],
)
def test_splits_affiliations_by_author(cell: str, expected: list[list[str]]) -> None:
    assert scopus.affiliations_by_author(cell, [], ["Doe J.", "Li Y.", "Li Y."]) == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("Van der Hay B., De Straw C., Title of it, J., 1, (2000)", ["Van der Hay B.", "De Straw C."]),
        ("Hay A. K., Title, (2000)", ["Hay A. K."]),
        ("Hay B, Straw CD, Et al., Title, J., (2000)", ["Hay B", "Straw CD"]),
        ("Hay B.; Straw C., Title; with a part, (2000)", ["Hay B.", "Straw C."]),
        ("Hay Yu., Title", ["Hay Yu."]),
        (
            "Hay B; Straw CD, Title, (2000); Grass, E., Corn, F.-G., Title (2001); Moss H.",
            ["Hay B", "Straw CD", "Grass, E.", "Corn, F.-G.", "Moss H."],
        ),
        ("Hay, B., Straw, C., Title in the U.S.A., (2000)", ["Hay, B.", "Straw, C."]),
        ("Introduction to R, (2000); Guidelines, J. Grass, (2001)", []),
        ("(2004) A book without authors, , Rome; http://x.example/a; ", []),
        ("", []),
    ],
)
def test_reads_cited_authors(cell: str, expected: list[str]) -> None:
    assert scopus_cited_authors(cell) == expected


def test_skips_repeated_headers(read: Reads) -> None:
    first, second = written(numbered(NEW, 2)), written([OLD | {"Author full names": ""}])
    columns = list(NEW)
    second = written([{name: OLD.get(name, "") for name in columns}])
    found = read(first.encode() + b"\xef\xbb\xbf" + second.encode())
    assert found.ids == ["2-s2.0-1", "2-s2.0-2", "2-s2.0-900002"]
    assert not found.problems


@pytest.mark.slow
def test_reads_cell_of_thousands_of_authors(read: Reads) -> None:
    many = 20_000
    row = {
        **OLD,
        "Authors": ", ".join(f"Zed{n} Q." for n in range(many)),
        "Author(s) ID": ";".join(map(str, range(1, many + 1))),
    }
    row["Authors with affiliations"] = "; ".join(f"Zed{n}, Q., Institute of Felt, Oz" for n in range(many))
    before = csv.field_size_limit()
    authors = read(written([row], quoting=csv.QUOTE_MINIMAL)).one.authors
    assert len(authors) == many
    assert authors[-1].affiliations == ["Institute of Felt, Oz"]
    assert csv.field_size_limit() == before


# Damage


def lines_of(content: str) -> list[str]:
    return content.split("\n")


DAMAGES: dict[str, Callable[[str], str]] = {
    "cut in a quoted cell": lambda row: row[:40],
    "cut between cells": lambda row: row[: row.index('","') + 2],
    "a stray mark": lambda row: row[:30] + '"' + row[30:],
    "a lost mark": lambda row: row.replace('"', "", 1),
    "a cell too many": lambda row: f'{row},"x"',
}


@pytest.mark.parametrize("damage", list(DAMAGES))
@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
@pytest.mark.parametrize("abstract", ["one line", "two\nlines, of, which\n\nnone is a row"])
def test_damaged_row_does_not_affect_neighbours(read: Reads, damage: str, quoting: int, abstract: str) -> None:
    rows = [written([{**row, "Abstract": abstract}], quoting=quoting).split("\n", 1) for row in numbered(NEW, 7)]
    bodies = [body.rstrip("\n") for _, body in rows]
    bodies[2] = DAMAGES[damage](bodies[2])
    found = read("\n".join([rows[0][0], *bodies]) + "\n")
    healthy = [f"2-s2.0-{number}" for number in (1, 2, 4, 5, 6, 7)]
    assert [key for key in found.ids if key != "2-s2.0-3"] == healthy
    assert found.broken or "2-s2.0-3" in found.ids, "nothing is lost in silence"
    assert all(problem.line >= 4 for problem in found.broken)


def test_reports_truncated_last_row(read: Reads) -> None:
    content = written(numbered(NEW, 3))
    found = read(content[:-300])
    assert found.ids == ["2-s2.0-1", "2-s2.0-2"]
    assert [problem.reason for problem in found.broken] == [UNCLOSED]
    assert found.broken[0].line == 6


def test_rejects_rows_with_wrong_number_of_columns(read: Reads) -> None:
    content = written(numbered(OLD, 1)) + "a,b,c\n" + ",".join(["x"] * len(OLD)) + ",,,\n"
    found = read(content)
    assert len(found.documents) == 2, "empty cells after a row are no error"
    assert [problem.reason for problem in found.broken] == [f"has 3 columns, the header {len(OLD)}"]


def test_reads_stray_quotation_mark_in_tsv(read: Reads) -> None:
    found = read('id\ttitle\tauthors\tyear\n1\t"Open\tDoe, J\t2001\n2\t5" pipes\tRoe, A\t2002\n3\tx\tPoe, B\t2003\n')
    assert found.ids == ["1", "2", "3"] or (found.ids == ["2", "3"] and len(found.broken) == 1)
    assert found.documents[-2].title == '5" pipes'


def test_joins_lines_of_a_cell_that_look_like_rows() -> None:
    header = Header(("a", "b", "c", "d", "e"), ",")
    lines = [b'1,2,3,4,"prose', b"one, two, three, four, five", b'six",', b"", b'x,y"', b"1,2,3,4,5"]
    raws = list(gather([InputLine(number, text) for number, text in enumerate(lines, 1) if text], header))
    assert raws[-1] == Raw(6, b"1,2,3,4,5")
    good = [b'1,2,3,4,"prose', b"one, two, three, four, five", b'six"', b"1,2,3,4,5"]
    raws = list(gather([InputLine(number, text) for number, text in enumerate(good, 1)], header))
    assert [raw.number for raw in raws] == [1, 4]
    assert not any(raw.broken for raw in raws)


@given(st.lists(st.lists(st.text(alphabet='ab ,;"\n\té|'), min_size=3, max_size=3), min_size=1, max_size=6))
@settings(max_examples=examples(100))
def test_reads_what_csv_module_writes(rows: list[list[str]]) -> None:
    header = Header(("x", "y", "z"), ",")
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    lines = [InputLine(number, line) for number, line in enumerate(text.getvalue().encode().split(b"\n"), 1)][:-1]
    raws = list(gather(lines, header))
    assert [row_cells(raw.text, header) for raw in raws] == rows


@given(st.text(alphabet='a,";\t \n', max_size=30), st.sampled_from(",;\t"))
@settings(max_examples=examples(100))
def test_cells_agree_with_the_csv_module(row: str, separator: str) -> None:
    try:
        expected = next(csv.reader([row], delimiter=separator, skipinitialspace=True, strict=True), [""])
    except csv.Error:
        return
    if row.count('"') % 2 == 0 and " " not in row and "\n" not in row:
        assert cells_of(row, separator) == (expected or [""])


# Detection


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (written([NEW]), "scopus"),
        ("\n\n" + written([OLD]), "scopus"),
        (written([{"Incluir?": "SI", **OLD}]), "scopus"),
        ("Authors,Article Title,Author Full Names,Source Title,Author Keywords,Keywords Plus,Document Type\n", "table"),
        ("PMID,Title,Authors,Citation,First Author,Journal/Book,Publication Year\n", "table"),
        ("About the data: exported\nPublication ID,Title,Authors,PubYear\n", "table"),
        ("paper_id|author_name|affiliation\n", "table"),
        ("mention_id,author\nm1,a\n", None),
        ("mention_id,title,authors\n", None),
        ("id,name\n1,x\n", None),
        ("id,name,year\n1,x,1999\n", None),
        ("Dear authors, the title and the year\nof your paper, and so on.\n", None),
        ("Choose Authors, Title and EID\n" * 9, None),
        ("\n".join(reversed(written([OLD], quoting=0).split("\n"))), "scopus"),
        ("{}", None),
        ("", None),
        ("PT J\nAU Doe, J\n", None),
    ],
)
def test_recognises_tables(tmp_path: Path, content: str, form: str | None) -> None:
    path = tmp_path / "x"
    path.write_text(content, encoding="utf-8")
    with Source(path) as source:
        found = [each.name for each in (scopus.FORMAT, table.FORMAT) if each.recognises(source)]
    assert found[:1] == ([form] if form else [])


# Tables of documents


def test_recognises_usual_columns(read: Reads) -> None:
    row = {
        "Key": "k1",
        "Author": "Doe, Jane; Roe, A",
        "Title": "T",
        "Publication Title": "J",
        "Publication Year": "2001.0",
        "DOI": "https://doi.org/10.9999/A",
        "Manual Tags": "a; b",
        "Automatic Tags": "b; c",
        "Abstract Note": "nan",
    }
    document = read(written([row])).one
    assert names_of(document) == ["Doe, Jane", "Roe, A"]
    assert (document.id, document.year, document.venue, document.ids) == ("k1", 2001, "J", {"doi": "10.9999/a"})
    assert (document.keywords, document.abstract, document.id_is_key) == (["a", "b", "c"], "", True)


def test_reads_columns_named_by_user(read: Reads) -> None:
    content = written([{"Nr": "5", "Wer": "Doe, J/Roe, A", "Was": "T", "Wann": "12 May 1999", "id": "other"}])
    columns = {"id": "Nr", "authors": "wer", "title": "Was", "year": "Wann", "separator": "/"}
    document = read(content, "table", **columns).one
    assert (document.id, names_of(document), document.title, document.year) == ("5", ["Doe, J", "Roe, A"], "T", 1999)


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("a,b\n1,2\n", {}, r"no column is recognised as authors; it has 'a', 'b'.*--columns authors=Names,title=Title"),
        ("authors,title\n", {"authors": "Names"}, r"has no column 'Names' for authors; it has 'authors', 'title'"),
        ("authors,title\n", {"autors": "authors"}, r"no field 'autors'.*choose one of id, title"),
        ("id,authors,author_name\n", {}, r"authors and author_name may both hold the authors"),
        ("author_name,year\n", {}, r"each row has one author, but no column says which rows.*--columns id=Title"),
        ("a,bar\n1,Doe J\n", {"author": "bar"}, r"`author` is the column of known labels; did you mean `authors`"),
        ("a,b\n1,2\n", {"authors": "a", "title": ["a", "b"]}, r"only authors may be in several columns"),
        ("only one column\n", {}, r"is not a table"),
    ],
)
def test_rejects_unclear_columns(read: Reads, content: str, columns: Columns, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(content, "table", **columns)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["Garcia Marquez, Gabriel Jose", "Doe, J; Roe, A"], [["Garcia Marquez, Gabriel Jose"], ["Doe, J", "Roe, A"]]),
        (["Doe, J|Roe, A", "Poe, E"], [["Doe, J", "Roe, A"], ["Poe, E"]]),
        (["Doe, Jane and Roe, A B", "Poe, E"], [["Doe, Jane", "Roe, A B"], ["Poe, E"]]),
        (["J. Doe, A. Roe and B. Poe", "J Doe and A Roe"], [["J. Doe", "A. Roe", "B. Poe"], ["J Doe", "A Roe"]]),
        (["Doe J, Roe AB.", "Poe E."], [["Doe J", "Roe AB"], ["Poe E"]]),
        (["J Doe, A Roe, Plato"], [["J Doe", "A Roe", "Plato"]]),
        (["Doe, J., Roe, A.-B.", "Doe, Jane, Jr."], [["Doe, J.", "Roe, A.-B."], ["Doe, Jane, Jr."]]),
        (['["Doe, J", "Roe, A"]', "['O''x', \"D'Oe, J\"]"], [["Doe, J", "Roe, A"], ["O", "x", "D'Oe, J"]]),
        (['[{"name": "Doe, J"}, {"family": "Roe", "given": "A"}]'], [["Doe, J", "Roe, A"]]),
        (["Doe, J; et al.", "Anonymous", "", "[No author name available]"], [["Doe, J"], [], [], []]),
        (["[Anonymous]", "Doe, J; N/A; …"], [[], ["Doe, J"]]),
    ],
)
def test_splits_lists_of_authors(read: Reads, cells: list[str], expected: list[list[str]]) -> None:
    rows = [{"id": number, "title": "t", "authors": cell} for number, cell in enumerate(cells)]
    assert [names_of(document) for document in read(written(rows)).documents] == expected


def test_does_not_evaluate_code(read: Reads) -> None:
    found = read(written([{"id": 1, "title": "t", "authors": "[{'name': print('x')}]"}]))
    assert found.one.authors == []
    assert "neither JSON" in found.problems[0].reason


def test_reads_other_columns_of_authors(read: Reads) -> None:
    row = {
        "UT (Unique WOS ID)": "WOS:000001",
        "Article Title": "T",
        "Author Full Names": "Doe, Jane; Roe, Amy",
        "Addresses": "[Roe, Amy; Doe, Jane] Univ. A, Oz; [Doe, Jane] Univ. B, Oz",
        "ORCIDs": "Doe, Jane/0000-0002-1825-0097; Roe, Amy/0000-0002-1825-0098",
        "Researcher Ids": "Roe, Amy/A-1000-2010",
    }
    found = read(written([row]), "table")
    jane, amy = found.one.authors
    assert found.one.ids == {"wos": "000001"}
    assert (jane.affiliations, amy.affiliations) == (["Univ. A, Oz", "Univ. B, Oz"], ["Univ. A, Oz"])
    assert (jane.ids, amy.ids) == ({"orcid": "0000-0002-1825-0097"}, {"researcherid": "A-1000-2010"})
    assert [problem.reason for problem in found.problems] == ["'0000-0002-1825-0098' is not a valid ORCID"]


def test_assigns_parallel_columns_in_order(read: Reads) -> None:
    row = {
        "id": "1",
        "title": "T",
        "authors": "J. Doe; A. Roe; B. Poe",
        "affiliations": "A; ; C",
        "emails": "j@x.org;;",
    }
    row |= {"label": "a1;a2;a3", "block": "d;r;p", "scopus_id": "7;8"}
    found = read(written([row]))
    authors = found.one.authors
    assert [author.affiliations for author in authors] == [["A"], [], ["C"]]
    assert [(author.label, author.block) for author in authors] == [("a1", "d"), ("a2", "r"), ("a3", "p")]
    assert all(not author.ids for author in authors)
    assert "scopus has 2 values for 3 authors, so it is unclear whose they are" in [
        problem.reason for problem in found.problems
    ]


# Tables of authors


def test_reads_one_row_per_author(read: Reads) -> None:
    content = (
        "doc_id,title,author_name,affiliation,email,orcid,author,block,position\n"
        'p1,,"Roe, A","Univ. ""C"",\nOz",,,a2,roe,10\n'
        "p1,T,Jane Doe,Univ. A; Univ. B,j@x.org,0000-0002-1825-0097,a1,doe,1\n"
        "broken\n"
        "p1,,,,,,,,11\n"
        "p2,U,B Poe,,,,a3,poe,\n"
        ",V,C Moe,,,,,,\n"
        ",W,D Loe,,,,,,\n"
    )
    found = read(content)
    assert found.ids[:2] == ["p1", "p2"]
    assert all(name.startswith("h:") for name in found.ids[2:])
    assert len(set(found.ids)) == 4
    jane, amy = found.documents[0].authors
    assert jane == Author(
        0, "Jane Doe", ["Univ. A", "Univ. B"], ["j@x.org"], "a1", "doe", {"orcid": "0000-0002-1825-0097"}
    )
    assert (amy.position, amy.name, amy.affiliations, amy.label) == (1, "Roe, A", ['Univ. "C", Oz'], "a2")
    assert found.documents[0].title == "T"
    assert [(p.lost, p.line) for p in found.problems] == [("record", 5), ("author", 2)]


def test_joins_names_in_two_columns(read: Reads) -> None:
    found = read("doi,First Name,Last Name\n10.9999/a,Jane,Doe\n10.9999/a,,Roe\n10.9999/b,A,Poe\n")
    assert [names_of(document) for document in found.documents] == [["Doe, Jane", "Roe"], ["Poe, A"]]
    assert [document.ids["doi"] for document in found.documents] == ["10.9999/a", "10.9999/b"]


def test_reads_single_authors_in_column_author(read: Reads) -> None:
    rows = "p1,T,Jane Doe\np1,T,A Roe\np2,U,B Poe\n"
    assert [names_of(d) for d in read(f"paper_id,title,author\n{rows}").documents] == [["Jane Doe", "A Roe"], ["B Poe"]]


# Parquet and Arrow

PEOPLE: list[dict[str, Any]] = [
    {
        "paper_id": "p1",
        "title": "T",
        "year": 2001,
        "authors": [{"name": "Doe, J", "affiliations": ["A"], "orcid": None}],
    },
    {"paper_id": None, "title": "U", "year": None, "authors": []},
    {"paper_id": "p3", "title": "V", "year": 1999, "authors": [{"name": "", "affiliations": None, "orcid": "x"}]},
]


def stored(rows: list[dict[str, Any]], path: Path) -> Path:
    found = pa.Table.from_pylist(rows)
    if path.suffix == ".parquet":
        pq.write_table(found, path, row_group_size=2)
    else:
        feather.write_feather(found, str(path), compression="uncompressed")
    return path


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_reads_lists_of_objects(tmp_path: Path, name: str) -> None:
    found = Read(list(read_documents(stored(PEOPLE, tmp_path / name), None)))
    assert found.ids[::2] == ["p1", "p3"]
    assert found.ids[1].startswith("h:")
    assert found.documents[0].authors == [Author(0, "Doe, J", ["A"])]
    assert [problem.place.rpartition(", ")[2] for problem in found.problems] == ["record 3"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_groups_rows_of_authors(tmp_path: Path, name: str) -> None:
    rows = [{"id": number // 2, "author_name": f"Doe {number}", "year": 2000.0} for number in range(3000)]
    found = Read(list(read_documents(stored(rows, tmp_path / name), "table", {"id": "id"})))
    assert len(found.documents) == 1500
    assert all(len(document.authors) == 2 for document in found.documents[1:])
    assert found.documents[7].year == 2000


def test_reads_lists_of_texts(tmp_path: Path) -> None:
    rows = [{"id": "1", "authors": ["Doe, J", "Roe, A"], "affiliations": [["A", "B"], []], "title": "T"}]
    document = Read(list(read_documents(stored(rows, tmp_path / "t.parquet")))).one
    assert [author.affiliations for author in document.authors] == [["A", "B"], []]


def test_does_not_recognise_own_results(tmp_path: Path) -> None:
    with Source(stored([{"mention_id": "m", "author": "a", "title": "x"}], tmp_path / "t.parquet")) as source:
        assert not table.FORMAT.recognises(source)


def test_rejects_compressed_or_truncated_parquet(tmp_path: Path) -> None:
    whole = stored(PEOPLE, tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet.gz").write_bytes(gzip.compress(whole))
    with pytest.raises(InputError, match="decompress it first"):
        list(read_documents(tmp_path / "t.parquet.gz", "table"))
    (tmp_path / "cut.parquet").write_bytes(whole[:200])
    with pytest.raises(InputError, match="cannot be read as Parquet or Arrow"):
        list(read_documents(tmp_path / "cut.parquet", "table"))


# Any input

SCOPUS = Header(tuple(OLD), ",")
TABLES = [
    table.TableLayout({"id": "id", "authors": "a", "year": "y"}, ("id", "a", "y"), ",", ";", by_author=False),
    table.TableLayout({"id": "id", "name": "a", "position": "y"}, ("id", "a", "y"), ",", None, by_author=True),
    table.TableLayout(
        dict.fromkeys(("id", "authors", "year", "affiliations", "orcid", "doi", "keywords"), "a"),
        ("a",),
        None,
        None,
        by_author=False,
    ),
    table.TableLayout(
        {"id": "id", "name": "a", "position": "y", "emails": "e"}, ("id", "a", "y", "e"), None, None, by_author=True
    ),
]


def test_contexts_can_be_pickled() -> None:
    for context in (SCOPUS, *TABLES):
        assert pickle.loads(pickle.dumps(context)) == context


@given(st.binary(max_size=200) | st.text(alphabet='"",; a\n[{}]', max_size=80).map(str.encode))
@settings(max_examples=examples(100))
def test_parsing_any_bytes_raises_only_broken_record(text: bytes) -> None:
    for parse, context in [(scopus.parse, SCOPUS), *((table.parse, each) for each in TABLES)]:
        with suppress(BrokenRecordError):
            parse(text, context)  # type: ignore[operator]


CELLS = st.lists(
    st.sampled_from(
        [
            "",
            ";",
            ",",
            '"',
            "Doe J., ",
            "; Roe A.",
            "[",
            "]",
            "@x.org",
            "email: j@x.org",
            "(7)",
            "\n",
            "é",
            "&#38;",
            "Jr.",
        ]
    ),
    max_size=6,
).map("".join)


@given(st.lists(CELLS, min_size=len(OLD), max_size=len(OLD)))
@settings(max_examples=examples(100))
def test_parsing_any_cells_raises_only_broken_record(cells: list[str]) -> None:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(cells)
    parsed = scopus.parse(text.getvalue().rstrip("\n").encode(), SCOPUS)
    if parsed is None:
        assert not "".join(cells).strip('", \n')
    else:
        assert [author.position for author in parsed[0].authors] == list(range(len(parsed[0].authors)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "ids", "orcid", "affiliations"]), inner)
    ),
    max_leaves=6,
)


@given(JSON)
@settings(max_examples=examples(100))
def test_parsing_any_values_raises_only_broken_record(value: Any) -> None:
    for context in TABLES[2:]:
        for rows in ({"a": value, "y": value, "e": value}, [{"id": value, "a": value}] * 2):
            with suppress(BrokenRecordError):
                table.parse(orjson.dumps(rows), context)


@pytest.mark.slow
def test_name_patterns_are_fast_on_any_text() -> None:
    for text in ("," * 50_000, "a and " * 50_000, "; A." * 50_000, "A., " * 50_000, "'" * 50_000, "[" * 50_000):
        for separator in (None, table_authors.COMMAS, table_authors.FUSED):
            table_authors.names_in(text, separator)
        table_authors.separator_in([text])
        table_columns.texts_of(f"({text}")
        table_columns.items_of(f"['{text}]")
        scopus_cited_authors(text)
        scopus.short_names(text)


def test_removes_initials_before_full_scopus_names(read: Reads) -> None:
    whole = {**NEW, "Authors": "Q., Zed, Quentin; A.B., Mo-Yo, Anna Bella"}
    whole["Authors with affiliations"] = (
        "Q., Zed, Quentin, Institute of Felt, Oz; A.B., Mo-Yo, Anna Bella, Univ. of Hay, Oz"
    )
    found = read(written([whole])).one
    assert names_of(found) == ["Zed, Quentin", "Mo-Yo, Anna Bella"]
    del whole["Author full names"]
    found = read(written([whole])).one
    assert names_of(found) == ["Zed, Quentin", "Mo-Yo, Anna Bella"]
    assert [author.affiliations for author in found.authors] == [["Institute of Felt, Oz"], ["Univ. of Hay, Oz"]]
    assert names_of(read(written([{**whole, "Authors": "Q., Zed, Quentin"}])).one) == ["Zed, Quentin"]


# Tables of databases and publishers


def test_reads_pubmed_table_with_semicolons_around_groups(read: Reads) -> None:
    row = {"PMID": "1", "Title": "T", "Authors": "Ash A, de Oak Elm BC, Fir D 3rd.", "DOI": "10.9999/1"}
    rows = [row, {**row, "PMID": "2", "DOI": "", "Authors": "WOOD Study Group; Ash A, Yew E."}]
    first, second = read(written([*rows, {**row, "PMID": "3", "DOI": "", "Authors": "Ash A."}])).documents[:2]
    assert (first.id, names_of(first)) == ("1", ["Ash A", "de Oak Elm BC", "Fir D 3rd"])
    assert [(author.position, author.name) for author in second.authors] == [(1, "Ash A"), (2, "Yew E")]


def test_splits_at_semicolons_if_most_cells_have_them(read: Reads) -> None:
    rows = [{"Title": "A", "Authors": "Ash, A B; Oak, C"}, {"Title": "B", "Authors": "Ash Bo, Cy DE"}]
    found = read(written([*rows, {"Title": "C", "Authors": "Fir, D; Yew, E"}])).documents
    assert [len(document.authors) for document in found] == [2, 1, 2]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("Ash, A., Oak, B. C., & Fir, D.", ["Ash, A.", "Oak, B. C.", "Fir, D."]),
        ("Ash, A. & Oak, B.", ["Ash, A.", "Oak, B."]),
        ("Ash, Anna, Oak, Bob, Fir, Di", ["Ash, Anna", "Oak, Bob", "Fir, Di"]),
        ("AB Ash, C Oak…", ["AB Ash", "C Oak"]),
        ("A Ash, C Oak, ...", ["A Ash", "C Oak"]),
        ("Ash, A.//Oak, B.", ["Ash, A.", "Oak, B."]),
        ("Ash, Anna; Ministry of Trees; Oak, Bob", ["Ash, Anna", "Oak, Bob"]),
        ("""[{'id': 1, 'name': "Ann O'Ash"}, {'id': None, 'name': 'Bo Oak'}]""", ["Ann O'Ash", "Bo Oak"]),
        ("[{'name': __import__('os')}]", []),
    ],
)
def test_splits_lists_of_names_in_program_notations(read: Reads, cell: str, expected: list[str]) -> None:
    assert names_of(read(written([{"Title": "T", "Year": "2001", "Authors": cell}])).one) == expected


def test_reads_dimensions_table(read: Reads) -> None:
    row = {
        "Publication ID": "pub.7",
        "Title": "T",
        "Source title/Anthology title": "Annals of Wool",
        "PubYear": "2020",
        "Authors": "Ash, Anna; Oak, Bob; Fir, Di",
        "Authors (Raw Affiliation)": "Ash, Anna (Univ. of Hay (UH), Oz; Felt Inst. (FI), Oz); "
        "Oak, Bob (Mill, Oz); Fir, Di ()",
        "Researcher IDs": "ur.011; ur.012.34; https://app.dimensions.ai/discover/ur.013",
        "Cited references": "[Elm, E.; Yew, Y.|ur.5|J W|1999|1|2|3|10.9999/y|pub.5|0];[|||2001||||10.9999/z|pub.6|0]",
    }
    found = read('"About the data: exported today, with commas"\n' + written([row]))
    assert (found.problems, found.one.venue) == ([], "Annals of Wool")
    assert [author.ids["dimensions"] for author in found.one.authors] == ["ur.011", "ur.012.34", "ur.013"]
    assert (found.one.id, found.one.ids) == ("pub.7", {"dimensions": "pub.7"})
    assert (found.one.references, found.one.referenced_authors) == (["pub.5", "pub.6"], ["Elm, E.", "Yew, Y."])
    assert [author.affiliations for author in found.one.authors] == [
        ["Univ. of Hay (UH), Oz", "Felt Inst. (FI), Oz"],
        ["Mill, Oz"],
        [],
    ]


def test_reads_openalex_table(read: Reads) -> None:
    row = {
        "id": "https://openalex.org/W7",
        "title": "T",
        "authorships.author.id": "https://openalex.org/A1|https://openalex.org/A2",
        "authorships.author.display_name": "Anna Ash|Bob Oak",
        "authorships.author.orcid": "|https://orcid.org/0000-0002-1825-0097",
        "primary_location.source.display_name": "Annals of Wool",
        "referenced_works": "https://openalex.org/W1|https://openalex.org/W2",
    }
    found = read(written([row])).one
    assert (found.id, found.ids, found.references) == ("W7", {"openalex": "W7"}, ["W1", "W2"])
    assert [author.ids for author in found.authors] == [
        {"openalex": "A1"},
        {"orcid": "0000-0002-1825-0097", "openalex": "A2"},
    ]


@pytest.mark.parametrize("names", ["作者,作者ID,标题", "著者名,著者ID,タイトル"])
def test_translated_author_ids_alone_are_not_scopus(names: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"{names}\n张三,7,On x\n")
    with Source(path) as source:
        assert not scopus.FORMAT.recognises(source)


def test_reads_embase_table(read: Reads) -> None:
    row = {
        "Title": "T",
        "Author Names": "Ash A.B., Oak-Elm C.",
        "Correspondence Address": "C. Oak-Elm, Felt Institute, Oz. Email: c.oak@felt.example",
        "Source": "Annals of Wool (2014) 3:3 (152-160). Date of Publication: 2014",
        "keywords": "sheep (diagnosis, surgery), wool",
    }
    found = read(written([row])).one
    assert (found.venue, found.year) == ("Annals of Wool", 2014)
    assert found.keywords == ["sheep (diagnosis, surgery)", "wool"]
    assert [(author.affiliations, author.emails) for author in found.authors] == [
        ([], []),
        (["Felt Institute, Oz"], ["c.oak@felt.example"]),
    ]


def test_reads_ieee_table_with_empty_affiliations(read: Reads) -> None:
    row = {
        "Document Title": "T",
        "Authors": "A. Ash; B. Oak; C. Fir",
        "Author Affiliations": "NA; Mill, Oz; ",
        "Mesh_Terms": "",
        "IEEE Terms": "Wool;Felt",
    }
    found = read(written([row]))
    assert (found.problems, found.one.keywords) == ([], ["Wool", "Felt"])
    assert [author.affiliations for author in found.one.authors] == [[], ["Mill, Oz"], []]


def test_reads_springer_table_without_separators(read: Reads) -> None:
    row = {
        "Item Title": "T",
        "Item DOI": "10.9999/s",
        "Authors": "Anna AshBob van OakMia McFirXiao-Li Wu",
        "Publication Year": "2001",
        "Content Type": "Article",
    }
    found = read(written([row])).one
    assert (found.id, found.title) == ("10.9999/s", "T")
    assert names_of(found) == ["Anna Ash", "Bob van Oak", "Mia McFir", "Xiao-Li Wu"]


def test_groups_do_not_shift_parallel_columns(read: Reads) -> None:
    row = {"Title": "T", "Authors": "Ash, A; Bureau of Trees; Oak, B", "Affiliations": "Mill; Bureau; Felt"}
    found = read(written([row])).one
    assert [(author.position, author.affiliations) for author in found.authors] == [(0, ["Mill"]), (2, ["Felt"])]


def test_recognises_columns_in_other_languages(read: Reads) -> None:
    found = read(written([{"Autoren": "Ash, A; Oak, B", "Titel": "T", "Jahr": "2001"}], separator=";")).one
    assert (found.title, found.year, names_of(found)) == ("T", 2001, ["Ash, A", "Oak, B"])


# Tables with one author per row, whose rows are in any order

SCATTERED = [
    {"paper_id": "a", "title": "On x", "author_name": "Doe, J", "affiliation": "MIT"},
    {"paper_id": "b", "title": "On y", "author_name": "Doe, J", "affiliation": "MIT"},
    {"paper_id": "", "title": "On z", "author_name": "Poe, E", "affiliation": ""},
    {"paper_id": "b", "title": "On y", "author_name": "Li, X", "affiliation": ""},
    {"paper_id": "a", "title": "On x", "author_name": "Roe, R", "affiliation": "ETH"},
]


def names_by_title(found: list[Document]) -> dict[str, list[str]]:
    return {document.title: [author.name for author in document.authors] for document in found}


def test_rows_of_a_document_need_not_be_adjacent(read: Reads) -> None:
    found = names_by_title(read(written(SCATTERED)).documents)
    assert found == {"On x": ["Doe, J", "Roe, R"], "On y": ["Doe, J", "Li, X"], "On z": ["Poe, E"]}


def test_rows_of_binary_tables_need_not_be_adjacent(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(SCATTERED), tmp_path / "t.parquet")
    found = [one.document for one in read_documents(tmp_path / "t.parquet") if one.document]
    assert names_by_title(found) == {"On x": ["Doe, J", "Roe, R"], "On y": ["Doe, J", "Li, X"], "On z": ["Poe, E"]}


def test_scattered_rows_with_a_column_author_are_single_authors(read: Reads) -> None:
    rows = [{"doi": row["paper_id"], "title": row["title"], "author": row["author_name"]} for row in SCATTERED]
    rows = [{**row, "doi": f"10.1000/{row['doi']}"} for row in rows if row["doi"]]
    found = names_by_title(read(written(rows)).documents)
    assert found == {"On x": ["Doe, J", "Roe, R"], "On y": ["Doe, J", "Li, X"]}


LISTS = [("a", "Doe, J; Roe, R"), ("b", "Li")]


def test_repeated_documents_with_lists_are_copies(read: Reads) -> None:
    rows = [
        {"paper_id": key, "title": "On x", "author": names} for key, names in (("a", "Doe, J; Roe, R"), ("b", "Li"))
    ]
    found = read(written([*rows, rows[0]])).documents
    assert [len(document.authors) for document in found] == [2, 1, 2]


def test_rows_that_only_repeat_names_are_a_copy(read: Reads) -> None:
    found = read(written([*SCATTERED, SCATTERED[2], SCATTERED[0], SCATTERED[4]])).documents
    assert [names_of(document) for document in found if document.id == "a"] == [["Doe, J", "Roe, R"]] * 2


@settings(max_examples=examples(60), deadline=None)
@given(st.permutations(list(range(12))))
def test_documents_do_not_depend_on_the_order_of_rows(
    tmp_path_factory: pytest.TempPathFactory, order: list[int]
) -> None:
    rows = [
        {"paper_id": f"p{number % 4}", "title": f"On {number % 4}", "author_name": f"Author{chr(65 + number)}, X"}
        for number in range(12)
    ]
    path = tmp_path_factory.mktemp("rows") / "t.csv"
    path.write_text(written([rows[number] for number in order]))
    found = [one.document for one in read_documents(path) if one.document]
    assert {document.id: {author.name for author in document.authors} for document in found} == {
        f"p{number}": {f"Author{chr(65 + other)}, X" for other in range(number, 12, 4)} for number in range(4)
    }


def read_table(tmp_path: Path, text: str) -> tuple[dict[str, list[str]], list[str]]:
    """The names of the authors of a table by title, and the reasons of all problems."""
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    found = list(read_documents(path))
    by_title = names_by_title([one.document for one in found if one.document])
    return by_title, [problem.reason for one in found for problem in one.problems]


def test_one_id_with_different_titles_is_that_of_several_documents(tmp_path: Path) -> None:
    rows = "".join(  # a spreadsheet has rounded the ids, and the title of one row is cut
        f"8.52E+10,{title},{name}\n"
        for title, name in (
            ("Graph kernels for everyone here", "Doe J"),
            ("Roman coins of the west", "Poe E"),
            ("Graph kernels for every", "Roe R"),
            ("", "Loe L"),
        )
    )
    names, _ = read_table(tmp_path, f"document_id,title,author_name\n{rows}")
    assert names == {
        "Graph kernels for everyone here": ["Doe J", "Roe R", "Loe L"],
        "Roman coins of the west": ["Poe E"],
    }


def test_rows_without_an_id_are_brought_together_by_another_one_or_the_title(tmp_path: Path) -> None:
    names, problems = read_table(
        tmp_path,
        "paper_id,doi,title,year,author_name\n"
        "#N/A,10.1000/A,On names,2014,Doe J\n"
        "nan,https://doi.org/10.1000/a,On names,2014,Roe R\n"
        ",,Roman coins,2015,Doe J\n"
        ",,roman  coins,2015,Poe E\n"
        ",,More coins,2015,Loe L\n",
    )
    assert names == {"On names": ["Doe J", "Roe R"], "Roman coins": ["Doe J", "Poe E"], "More coins": ["Loe L"]}
    assert problems == []


def test_forms_of_one_doi_are_one_document(tmp_path: Path) -> None:
    forms = ("10.1000/ABC", "https://doi.org/10.1000/abc", "doi:10.1000/abc ")
    rows = "".join(f"{form},On x,Author{place}\n" for place, form in enumerate(forms))
    for column in ("doi", "id"):
        names, _ = read_table(tmp_path, f"{column},title,author_name\n{rows}")
        assert names == {"On x": ["Author0", "Author1", "Author2"]}


def test_rows_of_single_authors_without_ids_are_brought_together_by_title(tmp_path: Path) -> None:
    header, rows = "title,year,author\n", "Graph kernels for everyone here,2014,Doe J\nOn x,2014,Poe E\n"
    names, _ = read_table(tmp_path, f"{header}{rows}Graph Kernels for everyone here,2014,Roe R\n")
    assert names == {"Graph kernels for everyone here": ["Doe J", "Roe R"], "On x": ["Poe E"]}


def test_rows_of_single_authors_with_a_common_title_are_several_documents(read: Reads) -> None:
    found = read("title,year,author\nEditorial,2014,Doe J\nEditorial,2014,Roe R\nOn x,2014,Poe E\n").documents
    assert list(map(names_of, found)) == [["Doe J"], ["Roe R"], ["Poe E"]]


def test_errors_of_spreadsheets_in_rows_of_single_authors_are_no_values(tmp_path: Path) -> None:
    names, problems = read_table(
        tmp_path, "id,title,author_name,affiliation\n1,On x,Doe J,#N/A\n1,On x,#NAME?,#REF!\n2,#VALUE!,Roe R,MIT\n"
    )
    assert names == {"On x": ["Doe J"], "": ["Roe R"]}
    assert "#NAME? in the column 'author_name' is an error of a spreadsheet" in problems


def test_positions_may_be_written_as_decimal_numbers(tmp_path: Path) -> None:
    names, _ = read_table(tmp_path, "id,title,author_name,position\n1,On x,Doe J,2.0\n1,On x,Roe R,1.0\n")
    assert names == {"On x": ["Roe R", "Doe J"]}


def test_objects_may_write_the_same_keys_differently(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"title": "On x", "authors": "Doe, J"}\n{"Title": "On y", "Authors": "Roe, R", "title": null}\n')
    assert names_by_title([one.document for one in read_documents(path) if one.document]) == {
        "On x": ["Doe, J"],
        "On y": ["Roe, R"],
    }


def test_row_that_repeats_position_and_name_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('id,position,name,title\n1,0,"Doe, J",Coins\n1,1,"Doe, J",Coins\n1,0,"Doe, J",Coins\n')
    (found,) = read_documents(path)
    assert found.document is not None
    assert [(author.position, author.name) for author in found.document.authors] == [(0, "Doe, J"), (1, "Doe, J")]
    assert [problem.reason for problem in found.problems] == [
        "an earlier row of the document has 'Doe, J' at position 0, too; that row is used"
    ]


def test_rows_of_one_document_that_differ_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "id,name,title,year,journal,doi\n"
        '1,"Doe, J",Coins,2014,J. Coins,10.1000/X\n'
        '1,"Roe, R",coins ,2015,,https://doi.org/10.1000/x\n'
        '1,"Poe, E",Stamps,2014.0,J.  COINS,\n'
        '2,"Doe, J",Coins,2014,J. Coins,\n'
    )
    first, second = read_documents(path)
    assert [(problem.lost, problem.reason) for problem in first.problems] == [
        ("field", "the rows of the document differ in title: 'Coins' is used, not 'Stamps'"),
        ("field", "the rows of the document differ in year: '2014' is used, not '2015'"),
    ]
    assert first.document is not None
    assert (first.document.title, first.document.year, len(first.document.authors)) == ("Coins", 2014, 3)
    assert not second.problems


def test_lines_below_the_last_row_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('Title,Authors,Year\nOn ice,"Doe, J",2014\n\nDate Exported: 2025-01-01\nTotal records: 1\nOn sn')
    readings = list(read_documents(path))
    assert [reading.document.title for reading in readings if reading.document] == ["On ice"]
    # A row that is cut by the end of the file is still reported.
    assert [problem.reason for reading in readings for problem in reading.problems] == ["has 1 columns, the header 3"]


def test_names_with_full_stops_before_identifiers(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    row = '"Doe, J.; Roe, R.","Roe, R./0000-0002-1825-0097",2014,On ice'
    path.write_text(f"Authors,ORCIDs,Year,Title\n{row}\n")
    (document,) = (reading.document for reading in read_documents(path) if reading.document)
    assert [author.ids for author in document.authors] == [{}, {"orcid": "0000-0002-1825-0097"}]


@pytest.mark.parametrize(
    ("header", "cell", "names"),
    [
        ("논문명,저자,발행연도", "김민수; 이영희", ["김민수", "이영희"]),
        ("タイトル,著者名,出版年", "山田 太郎, 鈴木 花子", ["山田 太郎", "鈴木 花子"]),
        ("题名,作者,年份", "张三;李四", ["张三", "李四"]),
        ("Название,Авторы,Год", "Иванов И.И.; Петров П.", ["Иванов И.И.", "Петров П."]),
        ("title,contributors,year", "Doe, Jane; Roe, R.", ["Doe, Jane", "Roe, R."]),
        ("Title,Author full names,Year", "Doe, Jane (57000000001); Roe, R. (57000000002)", ["Doe, Jane", "Roe, R."]),
        ("Title,Authors,Year", "Jane Doe, MD, PhD, Richard Roe, MPH", ["Jane Doe", "Richard Roe"]),
    ],
)
def test_columns_and_names_of_many_languages(header: str, cell: str, names: list[str], tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f'{header}\nOn ice and more,"{cell}",2014\n', encoding="utf-8")
    (document,) = (reading.document for reading in read_documents(path) if reading.document)
    assert [author.name for author in document.authors] == names
    assert (document.title, document.year) == ("On ice and more", 2014)


def test_commas_are_part_of_words_where_other_rows_have_semicolons(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = '"Doe, J",On ice,"Strategy, Management; Ice"\n"Doe, J",On snow,"Strategy, Management"\n'
    path.write_text(f"Authors,Title,Categories\n{rows}")
    found = [reading.document.categories for reading in read_documents(path) if reading.document]
    assert found == [["Strategy, Management", "Ice"], ["Strategy, Management"]]


# Lists of authors with other marks


def authors_in(read: Reads, *cells: str, **columns: Any) -> list[list[str]]:
    """The names that are read from the cells of a column of authors."""
    rows = [{"Title": f"On {number}", "Year": "2001", "Authors": cell} for number, cell in enumerate(cells)]
    return [names_of(document) for document in read(written(rows), "table", **columns).documents]


@pytest.mark.parametrize("mark", ["；", "，", "、", ",", ", ", ";", "|", " / "])
@pytest.mark.parametrize("names", [["王伟", "李娜"], ["王伟", "李娜", "张三丰"], ["王伟", "李娜", "张三", "赵云"]])
def test_chinese_names_are_split_at_any_mark(read: Reads, mark: str, names: list[str]) -> None:
    assert authors_in(read, mark.join(names)) == [names]
    assert authors_in(read, "Doe, J; Roe, R", mark.join(names)) == [["Doe, J", "Roe, R"], names]


@pytest.mark.parametrize(
    "name", ["山田, 太郎", "欧阳, 娜娜", "王, 伟", "ジョン・スミス", "卡尔·马克思", "김, 철수", "迈克尔・杰克逊"]
)
def test_east_asian_surname_and_given_name_stay_together(read: Reads, name: str) -> None:
    assert authors_in(read, name) == [[name]]


def test_line_breaks_separate_authors(read: Reads) -> None:
    cells = [
        "Doe, Jane\nSmith, John",
        "Jane Doe\r\nJohn Smith;\n",
        "1. Doe, J.\n2. Roe, R.",
        "Doe, Jane; Roe,\nAnn; Poe, Ed",
        "Jane Doe, John\nSmith, Ann Roe",
    ]
    assert authors_in(read, *cells) == [
        ["Doe, Jane", "Smith, John"],
        ["Jane Doe", "John Smith"],
        ["Doe, J.", "Roe, R."],
        ["Doe, Jane", "Roe, Ann", "Poe, Ed"],
        ["Jane Doe", "John Smith", "Ann Roe"],
    ]


def test_unclear_line_break_is_reported(read: Reads) -> None:
    found = read(written([{"Title": "On x", "Year": "2001", "Authors": "Doe\nSmith"}]))
    assert [(problem.lost, problem.line) for problem in found.problems] == [("warning", 2)]
    assert str(found.problems[0]).endswith("'Doe Smith' looks like several authors, but it was read as one.")


@pytest.mark.parametrize("word", ["und", "y", "et", "e", "och", "en", "and", "&", "/", "|", "//"])
def test_words_and_marks_between_whole_names_separate_them(read: Reads, word: str) -> None:
    assert authors_in(read, f"Doe, Jane {word} Müller, Karl") == [["Doe, Jane", "Müller, Karl"]]
    assert authors_in(read, f"J. Doe {word} W. Wang") == [["J. Doe", "W. Wang"]]
    cells = ["Doe, J; Roe, R", f"Doe, Jane {word} Müller, Karl"]
    assert authors_in(read, *cells) == [["Doe, J", "Roe, R"], ["Doe, Jane", "Müller, Karl"]]


@pytest.mark.parametrize(
    "name", ["Ortega y Gasset, José", "Santiago Ramón y Cajal", "Pedro Costa e Silva", "Berg, Karl von und zu"]
)
def test_conjunctions_in_surnames_separate_nothing(read: Reads, name: str) -> None:
    assert authors_in(read, name, "Doe, J; Roe, R") == [[name], ["Doe, J", "Roe, R"]]


def test_cells_without_the_separator_of_the_table_are_read_by_themselves(read: Reads) -> None:
    cells = ["Doe, Jane; Roe, Ann", "Jane Doe, John Smith, Wei Wang", "Doe J, Roe AB", "García López, María José"]
    assert authors_in(read, *cells) == [
        ["Doe, Jane", "Roe, Ann"],
        ["Jane Doe", "John Smith", "Wei Wang"],
        ["Doe J", "Roe AB"],
        ["García López, María José"],
    ]


def test_comma_separates_names_where_other_lists_have_none(read: Reads) -> None:
    cells = ["Jelena Doe; Siddharth Rao; Li Na", "Jelena Doe, Siddharth Rao"]
    assert authors_in(read, *cells)[1] == ["Jelena Doe", "Siddharth Rao"]


def test_one_comma_in_a_cell_is_part_of_a_name_where_other_names_have_one(read: Reads) -> None:
    rows = [
        {"Title": f"On x{number}", "Year": "2001", "Authors": authors}
        for number, authors in enumerate(
            ["Martín García, Ana Belén", "López Pérez, José; Gil Ruiz, Ana", "Jane Doe, Jim Roe"]
        )
    ]
    found = read(written(rows))
    names = [[author.name for author in document.authors] for document in found.documents]
    assert names == [["Martín García, Ana Belén"], ["López Pérez, José", "Gil Ruiz, Ana"], ["Jane Doe, Jim Roe"]]
    assert [(problem.lost, problem.line) for problem in found.problems] == [("warning", 2), ("warning", 4)]


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (["Santiago Ramón, Juan Carlos", "Gómez, Ana"], [["Santiago Ramón, Juan Carlos"], ["Gómez, Ana"]]),
        (["Jane Doe, Jim Roe", "Ann Poe, Al Moe, Jo Zoe"], [["Jane Doe", "Jim Roe"], ["Ann Poe", "Al Moe", "Jo Zoe"]]),
        (["Иванов И.И., Петров П.П.", "Doe, J; Roe, R"], [["Иванов И.И.", "Петров П.П."], ["Doe, J", "Roe, R"]]),
        (
            ["Martín García, Ana Belén\nGarcía Márquez, Gabriel José", "Gómez, Ana"],
            [["Martín García, Ana Belén", "García Márquez, Gabriel José"], ["Gómez, Ana"]],
        ),
    ],
)
def test_other_cells_show_whether_names_have_commas(read: Reads, cells: list[str], names: list[list[str]]) -> None:
    assert authors_in(read, *cells) == names


def test_comma_that_no_other_cell_explains_is_reported(read: Reads) -> None:
    found = read(written([{"Title": "On x", "Year": "2001", "Authors": "Jane Doe, Jim Roe"}]))
    assert [(problem.lost, problem.line) for problem in found.problems] == [("warning", 2)]


def test_each_numbered_column_has_one_author(read: Reads) -> None:
    row = {"Title": "On x", "Year": "2001", "Author 1": "Martín García, Ana Belén", "Author 2": "Smith, John"}
    (document,) = read(written([row])).documents
    assert [author.name for author in document.authors] == ["Martín García, Ana Belén", "Smith, John"]


def test_doubtful_cells_are_reported(read: Reads) -> None:
    rows = [{"Title": "On x", "Year": "2001", "Authors": "Ana Paz y López Haro"}] * 2
    found = read(written(rows))
    assert [(problem.lost, problem.line) for problem in found.problems] == [("warning", 2), ("warning", 3)]


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("Jane Doe*, Richard Roe†, Wei Wang1,2", ["Jane Doe", "Richard Roe", "Wei Wang"]),
        ("Doe, J.*; Roe, R.²; Wang, W.1", ["Doe, J.", "Roe, R.", "Wang, W."]),
        ("Jane Doe (1), Richard Roe (2), Wei Wang (1)", ["Jane Doe", "Richard Roe", "Wei Wang"]),
        ("Jane Doe^1, Richard Roe^{2,3}, Wei Wang^1", ["Jane Doe", "Richard Roe", "Wei Wang"]),
        ("Wei Wang 0001", ["Wei Wang 0001"]),
        ("Doe J et al.", ["Doe J"]),
        ("Doe, J., Roe, R., et al.", ["Doe, J.", "Roe, R."]),
        ("Doe, Jane [u.a.]", ["Doe, Jane"]),
        ("王伟等", ["王伟"]),
        ("Jane Doe, Richard Roe, and Wei Wang", ["Jane Doe", "Richard Roe", "Wei Wang"]),
        ("Doe, Jane; Roe, Richard; and Wang, Wei", ["Doe, Jane", "Roe, Richard", "Wang, Wei"]),
        ("Doe, Jane; Roe, Richard and Wang, Wei", ["Doe, Jane", "Roe, Richard", "Wang, Wei"]),
        ("Doe, J., & Roe, R.", ["Doe, J.", "Roe, R."]),
        ("Doe, Jane, Roe, Richard,", ["Doe, Jane", "Roe, Richard"]),
        ("1. Doe, J.; 2. Roe, R.", ["Doe, J.", "Roe, R."]),
        ("Doe, Jane||Roe, Ann", ["Doe, Jane", "Roe, Ann"]),
        ("Doe, Jane::a1-b2::600||Roe, Ann", ["Doe, Jane", "Roe, Ann"]),
    ],
)
@pytest.mark.parametrize("other", ["Poe, Edgar; Moe, Al", "Poe, Edgar"])
def test_notations_of_repositories_and_web_pages(read: Reads, cell: str, names: list[str], other: str) -> None:
    assert authors_in(read, cell, other)[0] == names


def test_orcids_behind_names_separate_authors(read: Reads) -> None:
    cell = "Doe, Jane (0000-0002-1825-0097), Müller, Karl (0000-0001-5109-3700)"
    document = read(written([{"Titel": "Über x", "Jahr": "2001", "Autoren": cell}])).one
    assert [(author.name, author.ids) for author in document.authors] == [
        ("Doe, Jane", {"orcid": "0000-0002-1825-0097"}),
        ("Müller, Karl", {"orcid": "0000-0001-5109-3700"}),
    ]


def test_columns_with_languages_are_one_column(read: Reads) -> None:
    rows = [
        {"id": "1", "dc.contributor.author": "Doe, Jane||Roe, Ann", "dc.title[en_US]": "", "dc.title[]": "On x"},
        {"id": "2", "dc.contributor.author": "Poe, Ed", "dc.title[en_US]": "On y", "dc.title[]": ""},
    ]
    found = read(written(rows)).documents
    assert [(names_of(document), document.title) for document in found] == [
        (["Doe, Jane", "Roe, Ann"], "On x"),
        (["Poe, Ed"], "On y"),
    ]


# Several columns of authors


@pytest.mark.parametrize(
    "names",
    [("Author 1", "Author 2", "Author 3"), ("First author", "Co-authors", "x"), ("Author", "Author 2", "Author 3")],
)
def test_several_columns_of_authors_are_found(read: Reads, names: tuple[str, str, str]) -> None:
    cells = ("Doe, Jane", "Roe, Ann; Poe, Ed", "") if "x" in names else ("Doe, Jane", "Roe, Ann", "Poe, Ed")
    document = read(written([{"Title": "On x", "Year": "2001", **dict(zip(names, cells, strict=True))}])).one
    assert names_of(document) == ["Doe, Jane", "Roe, Ann", "Poe, Ed"]


def test_one_column_of_all_authors_counts_alone(read: Reads) -> None:
    row = {"Title": "On x", "Authors": "Doe, J; Roe, R", "First Author": "Doe, J", "Year": "2001"}
    assert names_of(read(written([row])).one) == ["Doe, J", "Roe, R"]


def test_several_columns_of_authors_are_named_by_the_user(read: Reads) -> None:
    row = {"t": "On x", "a b": "Doe, Jane", "c": "Roe, Ann", "d": ""}
    document = read(written([row]), "table", title="t", authors=["a b", "c", "d"]).one
    assert names_of(document) == ["Doe, Jane", "Roe, Ann"]


@pytest.mark.parametrize(
    "header",
    [
        "Verfasser,Titel,Jahr",
        "Verfasser/in,Titel,Erscheinungsjahr",
        "Autor*innen,Titel,Jahr",
        "AutorInnen,Titel,Publikationsjahr",
        "Autores,Título,Año de publicación",
        "Auteurs,Titre,Année de publication",
        "Autori,Titolo,Anno",
        "Författare,Titel,År",
    ],
)
def test_columns_in_other_languages(read: Reads, header: str) -> None:
    document = read(f'{header}\n"Doe, Jane; Roe, Ann",On x,2001\n').one
    assert (names_of(document), document.title, document.year) == (["Doe, Jane", "Roe, Ann"], "On x", 2001)


@pytest.mark.parametrize("columns", ["First name,Last name", "Vorname,Nachname"])
def test_rows_with_first_and_last_names_are_brought_together_by_title(read: Reads, columns: str) -> None:
    found = read(f"Title,Year,{columns}\nOn x,2001,Jane,Doe\nOn x,2001,Ann,Roe\nOn x,2005,Ed,Poe\n")
    assert [names_of(document) for document in found.documents] == [["Doe, Jane", "Roe, Ann"], ["Poe, Ed"]]


def test_table_without_titles_is_reported_once(read: Reads) -> None:
    found = read('key,bar\n1,"Doe, J"\n2,"Roe, R"\n', "table", id="key", authors="bar")
    assert [names_of(document) for document in found.documents] == [["Doe, J"], ["Roe, R"]]
    assert [(problem.lost, problem.line) for problem in found.problems] == [("warning", 2)]
    assert "no column of titles" in found.problems[0].reason


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("Jane Doe1,2, Karl Müller*, Ann Roe3", ["Jane Doe", "Karl Müller", "Ann Roe"]),
        ("Jane Doe 1,2, Karl Müller 2,*", ["Jane Doe", "Karl Müller"]),
        ("Jane Doe 1,2; Karl Müller 2", ["Jane Doe", "Karl Müller"]),
        ("Jane Doe[1,2], Karl Müller [2]", ["Jane Doe", "Karl Müller"]),
        ("Jane Doe1-3; Karl Müller1–2", ["Jane Doe", "Karl Müller"]),
        ("Jane Doe a,b, Karl Müller b,*, Ann Roe a", ["Jane Doe", "Karl Müller", "Ann Roe"]),
        ("Jane Doe(a),(b), Karl Müller(b)", ["Jane Doe", "Karl Müller"]),
    ],
)
def test_marks_of_affiliations_behind_names_are_left_out_and_reported(
    read: Reads, cell: str, expected: list[str]
) -> None:
    found = read(f'Title,Authors,Year\nOn graphs,"{cell}",2001\n')
    assert [names_of(document) for document in found.documents] == [expected]
    assert [problem.lost for problem in found.problems] == ["warning"]
    assert "without the marks" in found.problems[0].reason


@pytest.mark.parametrize("cell", ["Wei Wang 0001; Wei Wang 0002", "doe a; roe b", "Jane Doe; John Smith 3rd"])
def test_numbers_and_initials_that_are_no_marks_stay(read: Reads, cell: str) -> None:
    found = read(f'Title,Authors,Year\nOn graphs,"{cell}",2001\n')
    assert [names_of(document) for document in found.documents] == [cell.split("; ")]
    assert not found.problems


def test_commas_between_marks_do_not_show_that_names_have_commas() -> None:
    cells = ["Jane Doe1,2; Karl Roe1,3", "Ann Poe1,2; Ed Li2"]
    assert table_authors.have_commas(cells, ";") is False


@pytest.mark.parametrize(
    "cells",
    [
        ["Jane Doe1*, Richard Roe2", "Ann Poe; Li, X"],
        ["Jane Doe 1,2, Richard Roe 2; Ann Poe", "Ann Poe; Li, X"],
        ["Doe, Jane\tRoe, Richard\tPoe, Ann"],
        ["Jane Doe, University of Oz; Richard Roe, MIT"],
        ["Jane Doe (University of Oz); Richard Roe (Dept. A; Dept. B)"],
        ["Doe, Jane | 0000-0002-1825-0097; Roe, Richard | 0000-0001-5109-3700"],
    ],
)
def test_names_with_marks_affiliations_and_identifiers_are_separated(read: Reads, cells: list[str]) -> None:
    found = read(written([{"id": str(place), "title": "On x", "authors": cell} for place, cell in enumerate(cells)]))
    names = names_of(found.documents[0])
    assert names[:2] in (["Jane Doe", "Richard Roe"], ["Doe, Jane", "Roe, Richard"])
    assert {*names[2:]} <= {"Ann Poe", "Poe, Ann"}


def test_organisations_behind_names_are_affiliations(read: Reads) -> None:
    for cell in (
        "Jane Doe (University of Oz)",
        "Jane Doe, University of Oz; Ann Roe, ETH",
        "Doe, Jane, Oz University; Roe, Ann, ETH",
    ):
        (found,) = read(written([{"id": "1", "title": "On x", "authors": cell}])).documents
        assert found.authors[0].name in {"Jane Doe", "Doe, Jane"}
        assert found.authors[0].affiliations in (["University of Oz"], ["Oz University"])
        assert not found.other_contributors
    (found,) = read(written([{"id": "1", "title": "On x", "authors": "Cancer Society (Research Institute)"}])).documents
    assert found.other_contributors == ["Cancer Society (Research Institute)"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_empty_rows_of_spreadsheets_are_no_records(read: Reads, separator: str) -> None:
    rows = [["title", "authors", "year"], ["On coins", "Doe Jane", "2010"], ["", "", ""], ['""', " ", ""], ["", ""]]
    rows.append(["On wool", "Roe Al", "2011"])
    found = read("\n".join(map(separator.join, rows)))
    assert [document.title for document in found.documents] == ["On coins", "On wool"]
    assert not found.problems


def test_empty_rows_of_scopus_are_no_records(read: Reads) -> None:
    found = read(written([NEW, dict.fromkeys(NEW, ""), NEW | OLD]))
    assert found.ids == ["2-s2.0-900001", "2-s2.0-900002"]
    assert not found.problems


def test_empty_rows_of_tables_in_memory_are_no_records(tmp_path: Path) -> None:
    rows = [{"title": "On coins", "authors": "Doe, J", "year": 2010}, {"title": None, "authors": None, "year": None}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "table.parquet")
    assert [document.title for document in Read(list(read_documents(tmp_path / "table.parquet"))).documents] == [
        "On coins"
    ]


@pytest.mark.parametrize("indent", [None, 1])
def test_rows_that_python_wrote_with_nan_are_read(read: Reads, indent: int | None) -> None:
    nan = float("nan")
    rows = [
        {"title": "On coins", "authors": "Doe, J", "year": nan},
        {"title": "On wool", "authors": nan, "year": 2010.0},
    ]
    found = read(json.dumps(rows, indent=indent))
    assert [(one.title, names_of(one), one.year) for one in found.documents] == [
        ("On coins", ["Doe, J"], None),
        ("On wool", [], 2010),
    ]
    assert not found.problems


# As Excel cuts a list of 3,000 authors: the last name is incomplete.
CUT = "; ".join(f"Doe, Jan{letter}" for letter in "abcdefghijklmnop" * 200)[:EXCEL_CELL]


@pytest.mark.parametrize(
    "columns",
    [
        {"Title": "On coins", "Authors": CUT, "Year": "2010"},
        NEW | {"Authors": CUT, "Author full names": CUT, "Author(s) ID": ""},
        {
            "Publication Type": "J", "Authors": CUT, "Author Full Names": CUT, "Article Title": "On coins",
            "UT (Unique WOS ID)": "WOS:1",
        },
    ],
    ids=["table", "scopus", "wos-tab"],
)  # fmt: skip
def test_lists_of_authors_that_excel_has_cut_end_with_et_al(read: Reads, columns: dict[str, str]) -> None:
    found = read(written([columns]))
    whole = CUT.split("; ")[:-1]
    assert names_of(found.one) == whole
    assert found.one.other_contributors == ["et al."]
    assert "a list of authors ends after the 32,767 characters that Excel keeps of a cell" in {
        problem.reason for problem in found.problems
    }


@pytest.mark.parametrize(
    "cell", ["Doe J, Roe A, et al.", "J Doe, A Roe, ...", "Doe, J; Roe, A; …", "Doe, J.; Roe, A. + 5"]
)
def test_names_that_a_list_leaves_out_are_another_contributor(read: Reads, cell: str) -> None:
    found = read(written([{"title": "On coins", "authors": cell, "year": "2010"}])).one
    assert len(found.authors) == 2
    assert found.other_contributors == ["et al."]
