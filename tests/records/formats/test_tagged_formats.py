"""RIS and MEDLINE text: the styles of many sources, damage, and recognition of the formats."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.io.inputs import Source
from homonym.records.formats import nbib, ris
from homonym.records.model import BrokenRecordError, Document
from homonym.records.reader import Format, detect_format, format_named
from tests.support.profiles import examples
from tests.support.reading import documents_and_problems

Read = Callable[[str | bytes], tuple[list[Document], list[str]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write a file and read it in the format that is detected."""
    return partial(documents_and_problems, tmp_path)


def recognises(path: Path, text: str) -> str | None:
    path.write_text(text)
    with Source(path) as source:
        form = detect_format(source)
    return form.name if form else None


def names(document: Document) -> list[str]:
    return [author.name for author in document.authors]


def ris_record(*lines: str, number: int = 1) -> str:
    return "\n".join(["TY  - JOUR", f"TI  - Title {number}", f"DO  - 10.1000/{number}", *lines, "ER  - "]) + "\n\n"


def one(read: Read, *lines: str) -> Document:
    documents, problems = read(ris_record(*lines))
    assert problems == []
    (document,) = documents
    return document


# RIS: fields


def test_ris_full_record(read: Read) -> None:
    document = one(
        read,
        "AU  - Müller, Jürgen K.",
        "AU  - Doe, John, Jr.",
        "A2  - Editor, An",
        "ED  - Editor, Another",
        "T2  - Journal of Names",
        "JA  - J. Names",
        "PY  - 2019/05/01/",
        "N2  - Not this.",
        "AB  - First <i>part</i> &amp; more.",
        "Second paragraph.",
        "",
        "Third.",
        "KW  - *homonyms",
        "KW  - names; authors",
        "KW  - names",
        "UR  - https://example.org/2",
    )
    assert (document.id, document.id_is_key, document.ids) == ("10.1000/1", True, {"doi": "10.1000/1"})
    assert names(document) == ["Müller, Jürgen K.", "Doe, John, Jr."]
    assert [author.position for author in document.authors] == [0, 1]
    assert (document.title, document.venue, document.year) == ("Title 1", "Journal of Names", 2019)
    assert document.abstract == "First part & more. Second paragraph. Third."
    assert document.keywords == ["homonyms", "names", "authors"]


@pytest.mark.parametrize(
    ("lines", "year"),
    [
        (["Y1  - 2019//"], 2019),
        (["PY  - 2019/05/01/Spring"], 2019),
        (["Y1  - 15 Feb. 2019"], 2019),
        (["DA  - MAY 4", "PY  - 2018"], 2018),
        (["DA  - 2017/09/01"], 2017),
        (["PY  - 2018", "Y1  - 2011", "Y2  - 2020/01/01"], 2018),
        (["Y2  - 2020/01/01"], None),
        (["PY  - ", "Y1  - 2001"], 2001),
        (["PY  - 20010203"], 2001),
    ],
)
def test_ris_years(read: Read, lines: list[str], year: int | None) -> None:
    assert one(read, *lines).year == year


def test_ris_notes_invalid_year(read: Read) -> None:
    (document,), problems = read(ris_record("PY  - in press"))
    assert document.year is None
    assert problems == ["1: field: year 'in press' is not a year"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["A1  - Doe, J.", "A1  - Roe, A."], ["Doe, J.", "Roe, A."]),
        (["AU  - Doe, J.; Roe, A.;"], ["Doe, J.", "Roe, A."]),
        (["AU  - S&oslash;rensen, J.; Roe, A."], ["Sørensen, J.", "Roe, A."]),
        (["AU  - Doe, Jane and Roe, Ann"], ["Doe, Jane", "Roe, Ann"]),
        (["AU  - Doe, J. &amp; Roe, A."], ["Doe, J.", "Roe, A."]),
        (["AU  - Doe, J., Roe, A., and Zhou, X."], ["Doe, J.", "Roe, A.", "Zhou, X."]),
        (["AU  - Jane Doe, Ann Roe, Xu Li"], ["Jane Doe", "Ann Roe", "Xu Li"]),
        (["AU  - Doe, J., Roe, A. B."], ["Doe, J.", "Roe, A. B."]),
        (["AU  - Garcia Lopez, Maria Jose"], ["Garcia Lopez, Maria Jose"]),
        (["AU  - J. Doe", "AU  - Liu R.", "AU  - W. H. Center"], ["J. Doe", "Liu R.", "W. H. Center"]),
        (["AU  - Wang, Y", "AU  - Wang, Y"], ["Wang, Y", "Wang, Y"]),
        (["AU  - Doe, J.", "AU  - Roe, A.", "A1  - Doe, J.", "A1  - Roe, A."], ["Doe, J.", "Roe, A."]),
        (["A1  - Doe, J.", "AU  - Roe, A."], ["Doe, J.", "Roe, A."]),
        (["AU  - Doe,"], ["Doe"]),
        (["AU  - Doe,", "      Jane"], ["Doe, Jane"]),
        (["AU  - Smith, John, MD, PhD", "AU  - Roe, Ann"], ["Smith, John", "Roe, Ann"]),
        (["AU  - Smith, J., MD, MS"], ["Smith, J."]),
        (["AU  - Doe, Jane, Roe, Richard"], ["Doe, Jane", "Roe, Richard"]),
        (["AU  - Smith, J., Jr., Ph.D."], ["Smith, J., Jr."]),
        (["AU  - King, Martin, Luther, Junior"], ["King, Martin, Luther, Junior"]),
        (["AU  - De Souza, J., Van Dijk, A."], ["De Souza, J.", "Van Dijk, A."]),
    ],
)
def test_ris_author_lists(read: Read, lines: list[str], expected: list[str]) -> None:
    assert names(one(read, *lines)) == expected


@pytest.mark.parametrize(
    "line",
    [
        "AD  - Doe, Jane M. Ice Lab, Oslo. Electronic address: jane@ice.example.",
        "AD  - Doe, Jane M., Ice Lab, Oslo, jane@ice.example",
        "N1  - Export Date: 1 May 2025; Cited By: 1; Correspondence Address: J.M. Doe; Ice Lab, Oslo; "
        "email: jane@ice.example; CODEN: ICEXX",
    ],
)
def test_ris_address_behind_the_name_of_its_author(read: Read, line: str) -> None:
    document = one(read, "AU  - Doe, Jane M.", "AU  - Roe, Ann", line)
    assert [author.affiliations for author in document.authors] == [["Ice Lab, Oslo"], []]
    assert [author.emails for author in document.authors] == [["jane@ice.example"], []]


@pytest.mark.parametrize(
    "nobody",
    [
        "[No author name available]",
        "Anonymous",
        "et al.",
        "No authorship, indicated",
        "World Health Organization",
        "World Health Organization,",
        "U.S. Geological Survey",
        "Bank of Nowhere",
        "Doe & Sons",
        "The NAMES Collaboration",
        "Health and Safety Executive",
        "National Institute for Health and Care Excellence",
        "International Panel on Names (IPN)",
    ],
)
def test_ris_skips_placeholders_and_groups(read: Read, nobody: str) -> None:
    document = one(read, f"AU  - {nobody}", "AU  - Doe, J.")
    assert [(author.position, author.name) for author in document.authors] == [(1, "Doe, J.")]


def test_ris_notes_author_without_name() -> None:
    parsed = ris.FORMAT.parse(
        ris_record("AU  - Doe, J.", "AU  - ", "AU  - " + 301 * "x", "AU  - Roe, A.").encode(), None
    )
    assert parsed is not None
    document, notes = parsed
    assert [author.position for author in document.authors] == [0, 3]
    assert notes == [("author", "author 1 has no name"), ("author", "author 2 has no name")]


@pytest.mark.parametrize(
    ("written", "year"),
    [
        ("2014/03/12/", 2014),
        ("20140312", 2014),
        ("201403", 2014),
        ("Mar 2014", 2014),
        ("20114", None),
        ("in press", None),
    ],
)
def test_ris_reads_years_of_four_digits_only(written: str, year: int | None) -> None:
    parsed = ris.FORMAT.parse(ris_record("AU  - Doe, J.", f"PY  - {written}").encode(), None)
    assert parsed is not None
    assert parsed[0].year == year
    assert parsed[1] == ([] if year else [("field", f"year {written!r} is not a year")])


# RIS: addresses and identifiers of authors


def test_ris_assigns_addresses_only_if_unambiguous(read: Read) -> None:
    single = one(read, "AU  - Doe, J.", "AD  - Univ A, Rome, Italy.", "AD  - Univ B")
    assert single.authors[0].affiliations == ["Univ A, Rome, Italy", "Univ B"]
    shared = one(read, "AU  - Doe, J.", "AU  - Roe, A.", "AD  - Univ A")
    assert [author.affiliations for author in shared.authors] == [["Univ A"], ["Univ A"]]
    for unclear in (
        ["AD  - Univ A", "AD  - Univ B"],  # as many as authors, but both may belong to one
        ["AD  - Univ A, Rome; Univ B, Bari"],
        ["AD  - Univ A", "AD  - Univ B", "AD  - Univ C"],
    ):
        document = one(read, "AU  - Doe, J.", "AU  - Roe, A.", *unclear)
        assert [author.affiliations for author in document.authors] == [[], []]
    before = one(read, "AD  - Univ A", "AU  - Doe, J.", "AD  - Univ B", "AU  - Roe, A.")
    assert [author.affiliations for author in before.authors] == [[], []]


def test_ris_keeps_the_addresses_of_two_authors_with_one_name_apart(read: Read) -> None:
    behind = one(read, "AU  - Li, X.", "AD  - Univ A", "AU  - Li, X.", "AD  - Univ B", "AU  - Roe, A.", "AD  - Univ C")
    assert [author.affiliations for author in behind.authors] == [["Univ A"], ["Univ B"], ["Univ C"]]
    behind = one(read, "AU  - Li, X.", "AD  - Li, X.: Univ A", "AU  - Li, X.", "AD  - Li, X.: Univ B", "AU  - Roe, A.")
    assert [author.affiliations for author in behind.authors] == [["Univ A"], ["Univ B"], []]
    unclear = one(read, "AU  - Li, X.", "AU  - Li, X.", "AD  - Li, X.: Univ A")
    assert [author.affiliations for author in unclear.authors] == [[], []]
    record = ris_record("AU  - Li, X.", "AU  - Li, X.", "AI  - Li, X.; ORCID: 0000-0002-1825-0097")
    (document,), problems = read(record)
    assert [author.ids for author in document.authors] == [{}, {}]
    assert problems == [
        "1: field: ORCID 0000-0002-1825-0097 follows 'Li, X.', which is not the name of one author of this record"
    ]
    twice = one(read, "A1  - Doe, J.", "A1  - Roe, A.", "AD  - Univ A", "AU  - Doe, J.", "AU  - Roe, A.")
    assert [author.affiliations for author in twice.authors] == [["Univ A"], ["Univ A"]]


def test_ris_assigns_addresses_to_author_before(read: Read) -> None:
    lines = ["AU  - Doe, J.", "AD  - Univ A,", "      Rome", "Univ B", "AU  - Roe, A.", "AU  - NAMES Study Group"]
    document = one(read, *lines, "AD  - The group's office", "AU  - Poe, E.,", "AD  - Univ A, Rome. poe@a.example")
    assert [author.affiliations for author in document.authors] == [["Univ A, Rome", "Univ B"], [], ["Univ A, Rome"]]
    assert [author.emails for author in document.authors] == [[], [], ["poe@a.example"]]
    first = one(read, "AU  - Doe, J.", "AD  - Univ A", "AU  - Roe, A.")
    assert [author.affiliations for author in first.authors] == [["Univ A"], []]


def test_ris_emails(read: Read) -> None:
    document = one(read, "AU  - Doe, J.", "AU  - Roe, A.", "AD  - Univ A, Rome. E-mail: ann.roe@a.example.")
    assert [author.affiliations for author in document.authors] == [["Univ A, Rome"], ["Univ A, Rome"]]
    assert [author.emails for author in document.authors] == [[], ["ann.roe@a.example"]]
    siblings = one(read, "AU  - Roe, J.", "AU  - Roe, A.", "AD  - Univ A, Rome. E-mail: roe@a.example.")
    assert [author.emails for author in siblings.authors] == [[], []]


def test_ris_of_ovid(read: Read) -> None:
    text = (
        "1.\nTY  - JOUR\nID  - 2019-00001-001\nT1  - On names.\nA1  - Doe, Jane A\nA1  - Roe, Ann\nA1  - Zhou, X\n"
        "AI  - ORCID: http://orcid.org/Doe, Jane A.; ORCID: http://orcid.org/0000-0002-1825-0097, Roe, Ann;"
        " ORCID: http://orcid.org/0000-0002-1694-233X\nY1  - 2019//\n"
        "AD  - Doe, Jane A.: Univ A, Rome, Italy, jane@a.example\nAD  - Roe, Ann, ann@b.example\n"
        "M1  - Smith, AB, & Jones, C (1999). On homonyms. Names, 28, 255. http://dx.doi.org/10.1000/other\n"
        "M1  - 17\nER  -\nNL  - Names Names\n\nLink to the full text: https://example.org/?AN=1\n\n2.\n"
        + ris_record("AU  - Next, N", number=2)
    )
    (document, following), problems = read(text)
    doe, roe, zhou = document.authors
    assert problems == []
    assert (doe.ids, roe.ids) == ({"orcid": "0000-0002-1825-0097"}, {"orcid": "0000-0002-1694-233X"})
    assert (doe.affiliations, doe.emails) == (["Univ A, Rome, Italy"], ["jane@a.example"])
    assert (roe.affiliations, roe.emails) == ([], ["ann@b.example"])
    assert (zhou.ids, zhou.affiliations, zhou.emails) == ({}, [], [])
    assert document.referenced_authors == ["Smith, AB"]
    assert (document.id, document.id_is_key, document.ids) == ("2019-00001-001", False, {})
    assert (following.id, names(following)) == ("10.1000/2", ["Next, N"])


def test_ris_of_ovid_names_authors_before_a_full_stop(read: Read) -> None:
    lines = ("AU  - Doe, Jane A", "AU  - Roe, R.", "AD  - Doe, Jane A. Univ. of X, Y.", "AD  - Roe, R. Dept. Z, Y.")
    document = one(read, "DB  - Ovid MEDLINE(R) 1946 to today", "ID  - 1234567", *lines)
    assert [author.affiliations for author in document.authors] == [["Univ. of X, Y"], ["Dept. Z, Y"]]
    assert document.ids["pmid"] == "1234567"


def test_ris_of_ebsco_has_the_pubmed_number_in_a_note(read: Read) -> None:
    note = f"N1  - Accession Number: 77. {'Subset: Core. ' * 20}NLM UID: 0. PMID: NLM1234567."
    assert one(read, "AU  - Doe, J.", note).ids["pmid"] == "1234567"


def test_ris_of_scopus_has_references_in_a_note(read: Read) -> None:
    note = "N1  - References: Doe, J.K., (1986) Names, 5;\nRoe, R., Poe, E., (1999) Names, 6"
    assert one(read, "AU  - Moe, M.", note).referenced_authors == ["Doe, J.K.", "Roe, R.", "Poe, E."]


def test_ris_reads_records_with_type_after_other_fields(read: Read) -> None:
    text = "".join(
        f"DB  - X\nAB  - NA\nTI  - Title {n}\nTY  - JOUR\nAU  - Doe, J.\nDO  - 10.1000/{n}\nER  - \n\n" for n in "123"
    )
    documents, problems = read(text)
    assert ([document.title for document in documents], problems) == (["Title 1", "Title 2", "Title 3"], [])
    assert {document.abstract for document in documents} == {""}
    documents, problems = read(text.replace("ER  - \n", "", 1))
    assert ([document.title for document in documents], len(problems)) == (["Title 3"], 1)


def test_ris_reads_orcids_in_other_fields_and_notes_invalid_ones(read: Read) -> None:
    (document,), problems = read(
        ris_record(
            "AU  - Doe, Jane (ORCID: 0000-0002-1825-0097)",
            "AU  - Roe, Ann https://orcid.org/0000-0002-1825-0098",
            "OI  - Roe, Ann/0000-0002-1694-233X; Stranger, A/0000-0001-5109-3700",
        )
    )
    assert names(document) == ["Doe, Jane", "Roe, Ann"]
    assert [author.ids for author in document.authors] == [
        {"orcid": "0000-0002-1825-0097"},
        {"orcid": "0000-0002-1694-233X"},
    ]
    assert problems == [
        "1: field: '0000-0002-1825-0098' is not a valid ORCID",
        "1: field: ORCID 0000-0001-5109-3700 follows 'Stranger, A', which is not the name of one author of this record",
    ]


def test_ris_of_embase(read: Read) -> None:
    document = one(
        read,
        "A1  - Doe J.",
        "A1  - Roe A.B.",
        "A1  - Zhou X.",
        "M1  - (Doe J., doe@a.example; Zhou X.) Univ A, Rome, Italy",
        "M1  - (Roe A.B.) Univ B, Bari, Italy",
        "AD  - A.B. Roe, Hospital C, Bari, Italy",
        "DB  - Embase",
        "C5  - 12345678",
    )
    assert [author.affiliations for author in document.authors] == [
        ["Univ A, Rome, Italy"],
        ["Univ B, Bari, Italy", "Hospital C, Bari, Italy"],
        ["Univ A, Rome, Italy"],
    ]
    assert [author.emails for author in document.authors] == [["doe@a.example"], [], []]
    assert document.ids["pmid"] == "12345678"


def test_ris_of_scopus(read: Read) -> None:
    document = one(
        read,
        "AU  - Doe, J.",
        "AU  - Roe, A.",
        "N1  - Export Date: 11 January 2020",
        "N1  - Correspondence Address: A. Roe; Univ B, Bari, Italy; email: roe@b.example",
        "DB  - Scopus",
        "C2  - 12345678",
        "UR  - https://www.scopus.com/inward/record.uri?eid=2-s2.0-85000000001&doi=10.1000%2f1&partnerID=40",
    )
    assert document.id == "2-s2.0-85000000001"
    assert document.ids == {"scopus": "2-s2.0-85000000001", "doi": "10.1000/1", "pmid": "12345678"}
    assert (document.authors[1].affiliations, document.authors[1].emails) == (
        ["Univ B, Bari, Italy"],
        ["roe@b.example"],
    )
    assert document.authors[0].emails == []


def test_ris_of_web_of_science_has_lone_carriage_returns(read: Read) -> None:
    text = "\ufeff" + ris_record(
        "AU  - Doe, J",
        "AU  - [Anonymous]",
        "AD  - Univ A, Rome, Italy\rAD  - Univ B, Bari, Italy",
        "WE  - An Index (AI)\rAN  - WOS:000000000000001",
        "N1  - Times Cited:  4",
        "Total Times Cited:  4",
    ).replace("ER  - ", "ER  -")
    (document,), problems = read(text)
    assert problems == []
    assert (document.id, document.ids["wos"]) == ("WOS:000000000000001", "000000000000001")
    # The Web of Science lists "[Anonymous]" as an author.
    assert names(document) == ["Doe, J"]
    assert document.other_contributors == ["[Anonymous]"]
    assert document.authors[0].affiliations == []


def test_ris_of_endnote_has_values_in_lines(read: Read) -> None:
    document = one(
        read, "AU  - Doe, J.", "KW  - citation", "names", "*rivers", "ID  - 123", "AN  - 12345678", "DP  - NLM"
    )
    assert document.keywords == ["citation", "names", "rivers"]
    assert (document.id, document.ids["pmid"]) == ("10.1000/1", "12345678")


@pytest.mark.parametrize(
    ("line", "ids"),
    [
        ("DO  - https://doi.org/10.1000/ABC", {"doi": "10.1000/abc"}),
        ("M3  - doi: 10.1000/abc", {"doi": "10.1000/abc"}),
        ("UR  - https://publisher.example/doi/full/10.1000/abc?x=1", {"doi": "10.1000/abc"}),
        ("UR  - https://publisher.example/articles/10.1000/abc/full", {"doi": "10.1000/abc"}),
        ("UR  - https://pubmed.ncbi.nlm.nih.gov/12345678/", {"pmid": "12345678"}),
        ("UR  - http://www.ncbi.nlm.nih.gov/pubmed/12345678", {"pmid": "12345678"}),
        ("UR  - http://arxiv.org/abs/2001.01234v2", {"arxiv": "2001.01234"}),
        ("UR  - https://arXiv.org/pdf/math.GT/0309136v1.pdf?x=1", {"arxiv": "math/0309136"}),
        ("C3  - PUBMED 12345678,EMBASE 61", {"pmid": "12345678"}),
        ("C2  - PMC1234567", {"pmcid": "PMC1234567"}),
        ("AN  - ISI:A1997XU12300001", {"wos": "A1997XU12300001"}),
        ("AN  - 2214991469; 51887", {}),
        ("M1  - 10.1000/cited", {}),
        ("N1  - https://doi.org/10.1000/abc", {"doi": "10.1000/abc"}),
        ("N1  - Corrects what was said in 10.1000/cited", {}),
    ],
)
def test_ris_identifiers(read: Read, line: str, ids: dict[str, str]) -> None:
    (document,), _ = read(f"TY  - JOUR\nT1  - A title\nAU  - Doe, J\n{line}\nER  - \n")
    assert document.ids == ids


def test_ris_titles_and_venues_of_books(read: Read) -> None:
    (chapter, book), _ = read(
        "TY  - CHAP\nT1  - A chapter\nBT  - The book\nAU  - Doe, J\nER  - \n"
        "TY  - BOOK\nBT  - The book\nAU  - Doe, J\nJO  - \nER  - \n"
    )
    assert (chapter.title, chapter.venue) == ("A chapter", "The book")
    assert (book.title, book.venue) == ("The book", "")


# RIS: layouts and damage


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("  - ", " - "),
        ("  - ", "  -"),
        ("  - ", "\t-\t"),
        ("\n", "\r\n"),
        ("\n", "\r"),
        ("ER  - ", "ER -"),
        ("ER  - ", "ER-"),
    ],
)
def test_ris_reads_other_line_layouts(read: Read, written: str, instead: str) -> None:
    text = ris_record("AU  - Doe, J", "PY  - 2001") + ris_record("AU  - Roe, A-B", "PY  - 2002", number=2)
    documents, problems = read(text.replace(written, instead))
    assert problems == []
    assert [(names(document), document.title, document.year) for document in documents] == [
        (["Doe, J"], "Title 1", 2001),
        (["Roe, A-B"], "Title 2", 2002),
    ]


def test_ris_reads_lower_case_tags(read: Read) -> None:
    documents, problems = read("ty  - jour\nau  - Doe, J\nti  - On names\ner  - \n\nty  - jour\nau  - Roe, A\ner  - \n")
    assert problems == []
    assert [names(document) for document in documents] == [["Doe, J"], ["Roe, A"]]


def test_ris_does_not_mistake_sentences_for_tags(read: Read) -> None:
    document = one(
        read,
        "AU  - Doe, J",
        "AB  - We say:",
        "AI - powered tools",
        "ER-positive cells",
        "ER - so it is",
        "TY-1",
        "KW  - x",
    )
    assert document.abstract == "We say: AI - powered tools ER-positive cells ER - so it is TY-1"
    assert document.keywords == ["x"]


def test_ris_ignores_header_and_remarks(read: Read) -> None:
    text = "Provider: A Library\nContent: text/plain\n\nRecord #1 of 2\n" + ris_record("AU  - Doe, J")
    text += "Record #2 of 2\nProvider: A Library\n" + ris_record("AU  - Roe, A", number=2) + "End of export\n"
    documents, problems = read(text)
    assert ([names(document) for document in documents], problems) == ([["Doe, J"], ["Roe, A"]], [])


def test_ris_record_numbers_are_lines(read: Read) -> None:
    text = ris_record("AU  - Doe, J", "PY  - x").replace("\n", "\r") + ris_record("AU  - Roe, A", "PY  - y", number=2)
    assert [problem.partition(":")[0] for problem in read(text)[1]] == ["1", "8"]


def test_ris_missing_marks_do_not_affect_neighbours(read: Read) -> None:
    three = [ris_record(f"AU  - Doe{number}, J", number=number) for number in (1, 2, 3)]
    whole, _ = read("".join(three))
    without_type, problems = read(three[0] + three[1].replace("TY  -", "T\xe9  -") + three[2])
    assert (without_type, problems) == (whole, [])
    without_end, problems = read(three[0] + three[1].replace("ER  - ", "") + three[2])
    assert without_end == whole
    assert problems == [
        "7: field: the record is cut off: its end mark ER is missing. It was kept, but fields may be missing."
    ]
    headless, problems = read("KW  - rest of a record\nER  - \n" + three[1] + three[2])
    assert headless == whole[1:]
    assert problems == ["1: record: the beginning of the record is missing"]


def test_ris_reports_truncated_last_record(read: Read) -> None:
    healthy = ris_record("AU  - Doe, J")
    documents, problems = read(healthy + "TY  - JOUR\nTI  - Cut\nAU  - Roe, A\nAU  - Zh")
    assert [names(document) for document in documents] == [["Doe, J"], ["Roe, A"]]
    assert problems == [
        "7: field: the record is cut off: its end mark ER is missing. It was kept, but fields may be missing."
    ]
    documents, problems = read(healthy + "TY  - JOUR\nTI  - Cut\nAU  - Ro")
    assert [names(document) for document in documents] == [["Doe, J"]]
    assert problems == ["7: record: the record is cut off: it has no end mark ER, and title or authors are missing"]


def test_ris_reports_empty_records_and_garbage(read: Read) -> None:
    healthy = ris_record("AU  - Doe, J")
    documents, problems = read("TY  - JOUR\nER  - \n" + healthy)
    assert (len(documents), problems) == (1, ["1: record: the record has only its type (TY) and no other field"])
    documents, problems = read("rubbish " * 500 + "\n" + healthy)
    assert (len(documents), problems) == (1, ["1: record: text without any tag"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_reads_other_encodings(read: Read, encoding: str) -> None:
    (document,), _ = read(ris_record("AU  - Müller, Jürgen").encode(encoding))
    assert names(document) == ["Müller, Jürgen"]
    (document,), _ = read(nbib_record("FAU - Müller, Jürgen").encode(encoding))
    assert names(document) == ["Müller, Jürgen"]


# MEDLINE text


def nbib_record(*lines: str, number: int = 1) -> str:
    first = [f"PMID- {number}", "OWN - NLM", "STAT- MEDLINE", "DP  - 2024 Aug 19", f"TI  - Title {number} of a"]
    return "\n".join([*first, "      long line.", *lines, "SO  - J Names. 2024 Aug 19."]) + "\n\n"


def test_nbib_full_record(read: Read) -> None:
    (document,), problems = read(
        "\n"
        + nbib_record(
            "LID - S0000(24)1 [pii]",
            "LID - 10.1000/ABC.1 [doi]",
            "AB  - First &lt;line&gt;",
            "      FAU - second line.",
            "FAU - Doe, Jane A",
            "AU  - Doe JA",
            "AUID- ORCID: http://orcid.org/0000-0002-1825-0097",
            "AD  - Univ A, Rome,",
            "      Italy. Electronic address: jane@a.example.",
            "AD  - Univ B, Bari, Italy. jane@a.example",
            "FAU - Roe, Ann 3rd",
            "AU  - Roe A 3rd",
            "AUID- ORCID: 0000-0002-1825-0098",
            "AUID- ISNI: 0000000121032683",
            "CN  - NAMES Study Group",
            "AD  - Univ of the group.",
            "FAU - Zhou, X",
            "AU  - Zhou X",
            "AUID- ORCID: 000000021694233X",
            "FED - Editor, An",
            "ED  - Editor A",
            "AD  - Univ of the editor.",
            "TA  - J Names",
            "JT  - Journal of names",
            "MH  - *Names/classification/history",
            "MH  - Humans",
            "OT  - *homonyms",
            "FIR - Investigator, An",
            "IR  - Investigator A",
            "IRAD- Univ of the investigator",
            "PMC - PMC1234567",
        )
    )
    assert (document.id, document.id_is_key) == ("1", True)
    assert document.ids == {"pmid": "1", "doi": "10.1000/abc.1", "pmcid": "PMC1234567"}
    assert (document.title, document.year, document.venue) == ("Title 1 of a long line.", 2024, "Journal of names")
    assert document.abstract == "First <line> FAU - second line."
    assert document.keywords == ["Names", "Humans", "homonyms"]
    doe, roe, zhou = document.authors
    assert names(document) == ["Doe, Jane A", "Roe, Ann 3rd", "Zhou, X"]
    assert doe.affiliations == ["Univ A, Rome, Italy", "Univ B, Bari, Italy"]
    assert (doe.emails, doe.ids) == (["jane@a.example"], {"orcid": "0000-0002-1825-0097"})
    assert (roe.affiliations, roe.ids) == ([], {})
    assert (zhou.affiliations, zhou.ids) == ([], {"orcid": "0000-0002-1694-233X"})
    assert problems == ["2: field: '0000-0002-1825-0098' is not a valid ORCID"]


def test_nbib_old_records_have_one_address_and_short_names(read: Read) -> None:
    (document,), problems = read(nbib_record("AD  - Univ A, Rome.", "AU  - Doe JA", "AU  - Roe A Jr"))
    assert problems == []
    assert [(author.name, author.affiliations) for author in document.authors] == [
        ("Doe JA", ["Univ A, Rome"]),
        ("Roe A Jr", []),
    ]


def test_nbib_numbered_addresses(read: Read) -> None:
    (document,), _ = read(
        nbib_record("FAU - Doe, J", "AU  - Doe J", "AD  - 1] Univ A, Rome [2] Univ B, Bari.", "AD  - Univ A, Rome")
    )
    assert document.authors[0].affiliations == ["Univ A, Rome", "Univ B, Bari"]


def test_nbib_skips_placeholders(read: Read) -> None:
    (document,), problems = read(nbib_record("FAU - Anonymous", "AU  - Anonymous", "FAU - Doe, J", "AU  - Doe J"))
    assert (names(document), problems) == (["Doe, J"], [])


def test_nbib_book_and_record_without_authors(read: Read) -> None:
    text = nbib_record("BTI - The book", "FAU - Doe, J").replace(
        "TI  - Title 1 of a\n      long line.", "TI  - Chapter"
    )
    (chapter, anonymous), problems = read(text + nbib_record("CN  - NAMES Group", number=2))
    assert (chapter.title, chapter.venue, anonymous.authors, problems) == ("Chapter", "The book", [], [])


@pytest.mark.parametrize(("date", "year"), [("1998 Dec-1999 Jan", 1998), ("Winter 2001", 2001)])
def test_nbib_years(read: Read, date: str, year: int) -> None:
    (document,), problems = read(nbib_record().replace("2024 Aug 19\n", f"{date}\n"))
    assert (document.year, problems) == (year, [])


def test_nbib_doi_of_the_citation(read: Read) -> None:
    text = nbib_record("FAU - Doe, J").replace("Aug 19.\n\n", "Aug 19. doi:\n      10.1000/x. Epub 2024 Aug 1.\n\n")
    assert read(text)[0][0].ids == {"pmid": "1", "doi": "10.1000/x"}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_nbib_damaged_beginning_does_not_affect_neighbours(read: Read, end: str) -> None:
    three = [nbib_record(f"FAU - Doe, {letter}", number=number) for number, letter in enumerate("ABC", 1)]
    whole, _ = read("".join(three))
    documents, problems = read((three[0] + three[1].replace("PMID", "PM\xe9D") + three[2]).replace("\n", end))
    assert [document for document in documents if document.ids] == [whole[0], whole[2]]
    assert names(documents[1]) == ["Doe, B"]
    assert documents[1].id.startswith("h:")
    assert not documents[1].id_is_key
    assert problems == ["10: field: the PMID is missing or not a number"]


def test_nbib_reports_truncated_last_record(read: Read) -> None:
    healthy = nbib_record("FAU - Doe, J")
    documents, problems = read(healthy + "PMID- 2\nOWN - NLM\nTI  - Cut\nFAU - Roe, A\nAU  - Roe A\nFAU - Zh")
    assert [names(document) for document in documents] == [["Doe, J"], ["Roe, A"]]
    assert problems == [
        "10: field: the record is cut off: its end mark SO is missing. It was kept, but fields may be missing."
    ]
    documents, problems = read(healthy + "PMID- 2\nOWN - NLM\nTI  - Cu")
    assert [names(document) for document in documents] == [["Doe, J"]]
    assert problems == ["10: record: the record is cut off: it has no end mark SO, and title or authors are missing"]


# Recognition


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (ris_record("AU  - Doe, J"), "ris"),
        ("\n\n1.\n" + ris_record("AU  - Doe, J"), "ris"),
        (ris_record("AU  - Doe, J").replace("\n", "\r"), "ris"),
        (ris_record("AU  - Doe, J").replace("  - ", " - "), "ris"),
        (ris_record("AU  - Doe, J", "PY  - 2001").replace("TY ", "Tx "), "ris"),
        ("TY  - JOUR\nAB  - " + "long " * 20_000 + "\nER  - \n", "ris"),
        (nbib_record("FAU - Doe, J"), "nbib"),
        ("\n" + nbib_record("FAU - Doe, J").replace("\n", "\r\n"), "nbib"),
        (nbib_record("FAU - Doe, J", "JID - 1").replace("PMID", "PMxD"), "nbib"),
    ],
)
def test_recognises_format(tmp_path: Path, text: str, name: str) -> None:
    assert recognises(tmp_path / "a.txt", text) == name


@pytest.mark.parametrize("form", [ris.FORMAT, nbib.FORMAT], ids=lambda form: form.name)
@pytest.mark.parametrize(
    "text",
    [
        "FN Clarivate Analytics Web of Science\nVR 1.0\nPT J\nAU Doe, J\nTI On names\nER\n\nEF\n",
        '{"id": "W1", "abstract": "TY  - JOUR", "authors": []}\n',
        "@article{doe,\n  abstract = {\nTY  - JOUR\nPMID: 1\n},\n}\n",
        "<PubmedArticleSet>\nTY  - JOUR\n</PubmedArticleSet>\n",
        "PT\tAU\tTI\nJ\tDoe, J\tOn names\n",
        "Authors,Title\nDoe J.,TY  - JOUR\n",
        "",
    ],
)
def test_does_not_recognise_other_files(tmp_path: Path, form: Format, text: str) -> None:
    (tmp_path / "a.txt").write_text(text)
    with Source(tmp_path / "a.txt") as source:
        assert not form.recognises(source)


def test_recognises_ris_and_medline_exclusively(tmp_path: Path) -> None:
    lines = ["FAU - Doe, J", "AU  - Doe J", "AD  - Univ A", "AB  - On names", "LA  - eng"]
    for text, form in (ris_record(*lines[1:]), nbib.FORMAT), (nbib_record(*lines), ris.FORMAT):
        (tmp_path / "a.txt").write_text(text)
        with Source(tmp_path / "a.txt") as source:
            assert not form.recognises(source)


# Any input

TAGS = [
    "TY",
    "AU",
    "A1",
    "TI",
    "AD",
    "AI",
    "OI",
    "M1",
    "N1",
    "KW",
    "PY",
    "DO",
    "UR",
    "AN",
    "C2",
    "DB",
    "ER",
    "FAU",
    "AUID",
]
VALUES = st.text() | st.sampled_from(
    [
        "Doe, J; Roe, A",
        "(Doe, J) X",
        "Correspondence Address: J. Doe; x@y.z",
        "Doe, J/0000-0002-1825-0097",
        "1] a [2] b",
    ]
)
LINES = st.tuples(st.sampled_from([*TAGS, "PMID", "SO", "CN"]), st.sampled_from(["  - ", " - ", "- ", "  -"]), VALUES)


@given(st.lists(LINES.map("".join) | st.text()).map("\n".join).map(str.encode) | st.binary())
@settings(max_examples=examples(100))
def test_parsing_any_bytes_raises_only_broken_record(text: bytes) -> None:
    for form in ris.FORMAT, nbib.FORMAT:
        try:
            parsed = form.parse(text, None)
        except BrokenRecordError:
            continue
        if parsed:
            assert all(author.name.strip() for author in parsed[0].authors)
            assert isinstance(parsed[0].id, str)


@given(st.integers(0, 5000), st.integers(1, 255), st.sampled_from(["ris", "nbib"]))
@settings(max_examples=examples(100))
def test_wrong_byte_affects_one_record(place: int, change: int, name: str) -> None:
    lines = ["AU  - Doe, J", "AD  - Univ A", "PY  - 2001"], ["FAU - Doe, J", "AU  - Doe J", "AD  - Univ A"]
    records = [
        ris_record(*lines[0], number=number) if name == "ris" else nbib_record(*lines[1], number=number)
        for number in range(1, 9)
    ]
    text = bytearray("".join(records).encode())
    whole = _documents(name, bytes(text))
    text[place % len(text)] ^= change
    after = _documents(name, bytes(text))
    assert sum(document not in after for document in whole) <= 1


def _documents(name: str, text: bytes) -> list[Document]:
    form = {"ris": ris.FORMAT, "nbib": nbib.FORMAT}[name]
    source = Source(Path("-"))
    source.head, source.blocks = text, lambda: iter([text])  # type: ignore[method-assign]
    documents = []
    for raw in form.open(source, {}).raws:
        try:
            parsed = form.parse(raw.text, None)
        except BrokenRecordError:
            continue
        documents += [parsed[0]] if parsed else []
    return documents


def test_notes_indented_record() -> None:
    text = b"TY  - JOUR\nAU  - Doe, J\nTI  - On\nER  - \n\n  TY  - JOUR\n  AU  - Roe, R\n  TI  - Off\n  ER  - \n"
    parsed = format_named("ris").parse(text, None)
    assert parsed is not None
    document, notes = parsed
    assert [author.name for author in document.authors] == ["Doe, J"]
    assert [lost for lost, _ in notes] == ["record"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("王伟，李娜", ["王伟", "李娜"]),
        ("王伟、李娜", ["王伟", "李娜"]),
        ("王伟；李娜", ["王伟", "李娜"]),
        ("王伟,李娜", ["王伟", "李娜"]),
        ("Doe, Jane und Müller, Karl", ["Doe, Jane", "Müller, Karl"]),
        ("J. Doe / W. Wang", ["J. Doe", "W. Wang"]),
    ],
)
def test_lists_in_one_author_field_are_split_and_reported(read: Read, line: str, expected: list[str]) -> None:
    (document,), problems = read(ris_record(f"AU  - {line}", "AU  - Roe, Ann"))
    assert names(document) == [*expected, "Roe, Ann"]
    assert [author.position for author in document.authors] == [0, 1, 2]
    assert problems in ([], [f"1: warning: {line!r} was read as 2 authors, because it lists several in one field"])


@pytest.mark.parametrize("name", ["Ortega y Gasset, José", "Ramón y Cajal, Santiago", "山田, 太郎"])
def test_surnames_of_several_words_are_one_author(read: Read, name: str) -> None:
    assert names(one(read, f"AU  - {name}")) == [name]
