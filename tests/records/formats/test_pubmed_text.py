"""PubMed's abstract text: numbered citations, and what belongs to which author."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from homonym.records.model import Document
from tests.support.reading import detected, documents_and_problems

Read = Callable[[str], tuple[list[Document], list[str]]]

RECORD = """1. PLoS Biol. 2018 Apr 27;16(4):e2002468. doi: 10.1000/journal.pbio.2002468.
eCollection 2018 Apr.

Assessing the stability of names after the withdrawal of nicknames and other
endearments.

[Article in French]

Famulare M(1), de Selinger C(#)(2), McCarthy KA Jr(1)(2), Chabot-Couture
G(1); Names Study Group; PODICUS.

Author information:
(1)Institute for Names, Bellevue, Washington, United States of
America. famulare@a.example.
(2)Univ X. Electronic address: c.selinger@b.example.
(#)Contributed equally

Collaborators: Poe E, Coe D.

Comment in
    Foo. 2019 Jan;1(1):1.

1. The names (N) were counted in 2015. [This corrects the article
DOI: 10.1000/other].

2. METHODS: More.

Copyright © 2018.

DOI: 10.1000/journal.pbio.2002468
PMCID: PMC5942853 [Available on 2019-01-01]
PMID: 29702638 [Indexed for MEDLINE]

Conflict of interest statement: None.


"""
# PubMed wraps lines at 80 characters and keeps the blank before the line end.
RECORD = RECORD.replace("other\n", "other \n").replace("Couture\n", "Couture \n").replace("of\nAmerica", "of \nAmerica")


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write a file, check its format and read it."""

    def read_abstracts(text: str) -> tuple[list[Document], list[str]]:
        assert detected(tmp_path, text) == "pubmed-text"
        return documents_and_problems(tmp_path, text)

    return read_abstracts


def names(document: Document) -> list[str]:
    return [author.name for author in document.authors]


@pytest.mark.parametrize("header", ["", "\n", "\n\n\n"])
def test_full_record(read: Read, header: str) -> None:
    (document,), problems = read(header + RECORD)
    assert problems == []
    assert names(document) == ["Famulare, M", "de Selinger, C", "McCarthy, KA, Jr", "Chabot-Couture, G"]
    institute = "Institute for Names, Bellevue, Washington, United States of America"
    assert [author.affiliations for author in document.authors] == [
        [institute],
        ["Univ X"],
        [institute, "Univ X"],
        [institute],
    ]
    assert [author.emails for author in document.authors] == [["famulare@a.example"], ["c.selinger@b.example"], [], []]
    assert document.title.endswith("and other endearments.")
    assert (document.venue, document.year) == ("PLoS Biol", 2018)
    assert document.abstract == (
        "1. The names (N) were counted in 2015. [This corrects the article DOI: 10.1000/other]. 2. METHODS: More."
    )
    assert document.id == "29702638"
    assert document.ids == {"pmid": "29702638", "doi": "10.1000/journal.pbio.2002468", "pmcid": "PMC5942853"}


def test_numbered_paragraphs_of_an_abstract_begin_no_record(read: Read) -> None:
    documents, problems = read(RECORD + RECORD.replace("1. PLoS", "2. PLoS").replace("29702638", "7"))
    assert ([document.id for document in documents], problems) == (["29702638", "7"], [])


def test_books_and_records_without_authors(read: Read) -> None:
    (book, anonymous), problems = read(
        "1. In: StatPearls [Internet]. Treasure Island (FL): StatPearls Publishing; 2024 \nJan–.\n\nNames in books.\n\n"
        "Doe J(1).\n\nAuthor information:\n(1)Univ Y\n\nPMID: 123\n\n\n"
        "2. BMJ. 1999.\n\nNobody wrote this.\n\n[No authors listed]\n\nA short abstract.\n\nPMID: 124\n"
    )
    assert problems == []
    assert (book.title, names(book), book.venue, book.year) == ("Names in books.", ["Doe, J"], "StatPearls", 2024)
    assert (anonymous.authors, anonymous.abstract, anonymous.year) == ([], "A short abstract.", 1999)


def test_one_affiliation_without_number_is_that_of_all_authors(read: Read) -> None:
    text = "1. BMJ. 1999;1:1.\n\nOn x.\n\nDoe J, Roe A.\n\nAuthor information:\nUniv A. doe@a.example\n\nPMID: 1\n"
    (document,), problems = read(text)
    assert problems == []
    assert [author.affiliations for author in document.authors] == [["Univ A"]] * 2
    assert [author.emails for author in document.authors] == [["doe@a.example"], []]


def test_missing_pmid_is_reported(read: Read) -> None:
    documents, problems = read(RECORD + "2. BMJ. 1999;1:1.\n\nOn x.\n\nDoe J.\n\nDOI: 10.1000/x\n")
    assert [document.id for document in documents] == ["29702638", "doi:10.1000/x"]
    assert problems == ["37: field: the PMID is missing or not a number"]


def test_record_without_title_and_authors_is_rejected(read: Read) -> None:
    documents, problems = read(RECORD + "2. BMJ. 1999;1:1.\n\nPMID: 5\n")
    assert len(documents) == 1
    assert problems == ["37: record: neither title nor authors"]
