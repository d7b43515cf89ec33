"""Exports of sources without a format of their own: EBSCO, ADS, HAL, INSPIRE, Embase, and tables written as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from homonym.records.model import Document
from homonym.records.reader import read_documents


def documents(path: Path, text: str) -> list[Document]:
    path.write_text(text, encoding="utf-8")
    return [one.document for one in read_documents(path) if one.document]


def only(path: Path, text: str) -> Document:
    (document,) = documents(path, text)
    return document


@pytest.mark.parametrize(
    "text",
    [
        "TY  - JOUR\nAU  - Doe, Jane1 (AUTHOR) jane@x.org\nAU  - Roe, Anna B.2 (AUTHOR)\nT1  - On ice.\nER  - \n",
        "TY  - JOUR\nA1  - Doe, Jane1, jane@x.org\nA1  - Roe, Anna B.1,2\nT1  - On ice.\nER  - \n",
        "@article{a, Author = {Doe, Jane1, jane@x.org and Roe, Anna B.2}, Title = {On ice.}}\n",
    ],
)
def test_ebsco_writes_numbers_and_addresses_into_names(text: str, tmp_path: Path) -> None:
    document = only(tmp_path / "ebsco", text)
    assert [(author.name, author.emails) for author in document.authors] == [
        ("Doe, Jane", ["jane@x.org"]),
        ("Roe, Anna B.", []),
    ]


ADS = """%R 2014ApJ...780....1D
%T On ice
%A Doe, Jane; Roe, A. B.; Poe, C.
%F AA(Univ. A, City), AC(Univ. C; Inst. D)
%J The Astrophysical Journal
%D 2014/01
%K galaxies: active
"""


def test_the_text_format_of_ads_has_its_id_and_affiliations_in_other_tags(tmp_path: Path) -> None:
    document = only(tmp_path / "ads.txt", ADS)
    assert (document.id, document.year, document.title) == ("2014ApJ...780....1D", 2014, "On ice")
    assert [(author.name, author.affiliations) for author in document.authors] == [
        ("Doe, Jane", ["Univ. A, City"]),
        ("Roe, A. B.", []),
        ("Poe, C.", ["Univ. C", "Inst. D"]),
    ]
    assert only(tmp_path / "doi.txt", ADS + "%Y DOI: 10.1000/x\n").ids == {"doi": "10.1000/x"}


def test_the_collaboration_of_inspire_is_another_contributor(tmp_path: Path) -> None:
    entry = (
        '@article{Doe:2014abc, author = "Doe, Jane", collaboration = "ATLAS, CMS", title = "{On ice}", year = "2014"}'
    )
    document = only(tmp_path / "inspire.bib", entry)
    assert (len(document.authors), document.other_contributors) == (1, ["ATLAS", "CMS"])


def test_embase_has_names_before_addresses_and_the_year_in_the_source(tmp_path: Path) -> None:
    document = only(
        tmp_path / "embase.csv",
        "TITLE,AUTHOR NAMES,AUTHOR ADDRESSES,SOURCE,PUBLICATION YEAR,MEDLINE PMID\n"
        'On ice,"Doe J., Roe A.B.","(Doe J., j@x.org; Roe A.B.) Univ A, City; (Roe A.B.) Univ B",'
        "Ice (2014) 12:3 (1-10),,12345\n",
    )
    doe, roe = document.authors
    assert (doe.affiliations, doe.emails, roe.affiliations) == (
        ["Univ A, City"], ["j@x.org"], ["Univ A, City", "Univ B"],
    )  # fmt: skip
    assert (document.year, document.venue, document.ids) == (2014, "Ice", {"pmid": "12345"})


def test_a_database_is_no_journal(tmp_path: Path) -> None:
    table = "SOURCE,TITLE,AUTHORS,PUBLICATION_YEAR\nMED,On ice,Doe J,2014\nGut,On fog,Doe J,2014\n"
    assert [one.venue for one in documents(tmp_path / "europepmc.csv", table)] == ["", "Gut"]


ROW = {"Title": "On ice", "Authors": "Doe, Jane; Roe, A", "Year": 2014, "DOI": "10.1000/x", "Affiliations": "A; B"}
HAL = {"halId_s": "hal-1", "title_s": ["On ice"], "authFullName_s": ["Jane Doe", "A Roe"], "producedDateY_i": 2014}
ADS_ROW = {"bibcode": "2014ApJ...780....1D", "title": ["On ice"], "author": ["Doe, Jane", "Roe, A"], "year": "2014"} | {
    "aff": ["Univ A", "Univ B"], "orcid_pub": ["0000-0002-1825-0097", "-"], "doi": ["10.1000/x"], "pub": "ApJ",
}  # fmt: skip


@pytest.mark.parametrize(
    "written",
    [
        [ROW, ROW | {"Title": "On fog", "DOI": None}],
        {"status": {"rows": 2}, "response": {"docs": [HAL, HAL | {"title_s": ["On fog"]}]}},
        {"response": {"docs": [ADS_ROW, ADS_ROW | {"title": ["On fog"], "doi": None}]}},
        [
            {"title": one, "authors": [{"name": "Doe, Jane"}, {"name": "Roe, A"}], "year": 2014}
            for one in ("On ice", "On fog")
        ],
    ],
    ids=["rows", "hal", "ads", "documents without ids"],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_tables_may_be_written_as_json(written: Any, indent: int | None, tmp_path: Path) -> None:
    found = documents(tmp_path / "a.json", json.dumps(written, indent=indent))
    assert [(one.title, one.year, len(one.authors)) for one in found] == [("On ice", 2014, 2), ("On fog", 2014, 2)]
    if isinstance(written, list):
        assert [one.title for one in documents(tmp_path / "a.jsonl", "\n".join(map(json.dumps, written)))] == [
            "On ice", "On fog",
        ]  # fmt: skip


def test_a_table_as_json_keeps_what_belongs_to_authors(tmp_path: Path) -> None:
    (document,) = documents(tmp_path / "a.json", json.dumps([ADS_ROW]))
    assert [(author.affiliations, author.ids) for author in document.authors] == [
        (["Univ A"], {"orcid": "0000-0002-1825-0097"}),
        (["Univ B"], {}),
    ]
    assert (document.id, document.venue, document.ids) == ("2014ApJ...780....1D", "ApJ", {"doi": "10.1000/x"})


def test_json_may_have_one_row_per_author(tmp_path: Path) -> None:
    rows = [{"id": "a", "title": "On ice", "author_name": name} for name in ("Doe, Jane", "Roe, A")]
    other = {"id": "b", "title": "On fog", "author_name": "Poe, B"}
    found = documents(tmp_path / "a.json", json.dumps([*rows, other]))
    assert [(one.id, [author.name for author in one.authors]) for one in found] == [
        ("a", ["Doe, Jane", "Roe, A"]),
        ("b", ["Poe, B"]),
    ]


@pytest.mark.parametrize("count", [1, 2])
def test_documents_in_a_page_of_an_api_are_found(count: int, tmp_path: Path) -> None:
    record = {"title": "On ice", "authors": [{"name": "Doe, Jane"}], "yearPublished": 2014}
    page = {"totalHits": count, "results": [{"id": number} | record for number in range(count)]}
    found = documents(tmp_path / "core.json", json.dumps(page))
    assert [(one.id, one.year) for one in found] == [(str(number), 2014) for number in range(count)]
