"""Web of Science: plain text and tab-delimited. All records are invented."""

from __future__ import annotations

import csv
import pickle
import random
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.io.inputs import Source
from homonym.records.fields.affiliations import email_owners, emails_in
from homonym.records.fields.people import FullNameIndex
from homonym.records.formats.wos_tab import layout_of
from homonym.records.model import Author, BrokenRecordError, Document
from homonym.records.reader import Reading, detect_format, format_named, read_documents
from tests.support.profiles import examples

HEAD = "FN Clarivate Analytics Web of Science\nVR 1.0\n"

FULL = """PT J
AU Müller, JK
   Li, X
   Li, XM
   O'Hara, P
AF Mueller, Juergen K.
   Li, Xu
   Li, Xiao-Ming
   O'Hara, Pat, Jr.
CA Well Study Grp
BE Editor, E
TI On the depth of wells in
   <i>limestone</i> &amp; chalk
SO JOURNAL OF WELLS
DE wells; deep
   water; Karst
ID GROUND-WATER; Karst; FLOW
AB We measured wells. They
   are p < 5 m deep.
C1 [Mueller, Juergen K.; Li, Xu] Univ Ahausen, Dept Geol, Ahausen, Germany.
   [Li, Xiao-Ming; O'Hara, Pat, Jr.] Univ B, Btown, Ireland.
   [Mueller, Juergen K.] Inst C, Cville, France.
RP Müller, JK; Li, X (corresponding author), Univ Ahausen, Dept Geol, Ahausen, Germany.; O'Hara, P
   (corresponding author), Univ D, Dport, USA.
EM jmueller@a.de; xiaoming99@b.ie; nobody.at.all@c.org
RI Mueller, Juergen/A-1234-2010; Li, Xu/AAB-2345-2020; ,
   XI/C-1111-2011; O'Hara,
   Pat/D-9999-2012
OI Muller, JK/0000-0002-1825-0097; Li, Xin/0000-0001-5109-3700; O'Hara,
   Patricia/0000-0002-1825-0098;
CR [Anonymous], 2001, WELLS
   *WHO, 1999, WATER
   Brunnen B, 1998, J WELLS, V1, P1, DOI 10.1000/X;2-A
   2004, WELLS TODAY
   Sod  AB, 2003, WATER
   BRUNNEN B, 1997, J WELLS, V0
PD MAR
PY 2014
DI 10.1000/WELLS.1
WC Geology; Water Resources
SC Geosciences
UT WOS:000111122200001
PM 7654321
DA 2024-01-01
ER
"""

SMALL = """PT J
AU Roe, R
AF Roe, Rita
TI Small
UT WOS:00022222220000{n}
ER
"""

COLUMNS = "PT AU BA BE GP AF BF CA TI SO DE ID AB C1 RP EM RI OI CR PY DI EA WC SC UT PM OA DA".split()

LONG_NAMES = {
    "PT": "Publication Type",
    "AU": "Authors",
    "AF": "Author Full Names",
    "CA": "Group Authors",
    "TI": "Article Title",
    "SO": "Source Title",
    "DE": "Author Keywords",
    "ID": "Keywords Plus",
    "AB": "Abstract",
    "C1": "Addresses",
    "RP": "Reprint Addresses",
    "EM": "Email Addresses",
    "RI": "Researcher Ids",
    "OI": "ORCIDs",
    "CR": "Cited References",
    "PY": "Publication Year",
    "DI": "DOI",
    "EA": "Early Access Date",
    "WC": "WoS Categories",
    "SC": "Research Areas",
    "UT": "UT (Unique WOS ID)",
    "PM": "Pubmed Id",
}


def readings(folder: Path, content: str | bytes, name: str | None = None) -> list[Reading]:
    path = folder / "savedrecs.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_documents(path, name))


def documents(folder: Path, content: str | bytes, name: str | None = None) -> list[Document]:
    return [document for _, document, _ in readings(folder, content, name) if document]


def reasons(found: list[Reading]) -> list[str]:
    """The reasons why something was lost; test_contributors.py checks those that are kept."""
    problems = [problem for reading in found for problem in reading.problems]
    return [problem.reason for problem in problems if problem.lost != "contributor"]


def parsed(record: str) -> Document:
    result = format_named("wos").parse(record.encode(), None)
    assert result is not None
    return result[0]


def record(**fields: str) -> str:
    lines = {"AU": "Doe, J", "TI": "T", "UT": "WOS:1"} | fields
    return "PT J\n" + "\n".join(f"{tag} {value}" for tag, value in lines.items() if value) + "\nER"


def cells_of(text: str) -> dict[str, str]:
    """The cells of the table row that corresponds to a record in plain text."""
    cells: dict[str, str] = {}
    tag = ""
    for line in text.splitlines():
        if line.startswith("   "):
            cells[tag] += ("; " if tag in {"AU", "AF", "C1", "CR"} else " ") + line.strip()
        else:
            tag = line[:2]
            cells[tag] = line[3:]
    return cells | {"C1": cells.get("C1", "").replace(".;", ";").rstrip(".")}


def table(*rows: dict[str, str], columns: list[str] = COLUMNS, end: str = "\r\n") -> str:
    lines = ["\t".join(columns), *("\t".join(row.get(tag, "") for tag in columns) + "\t" for row in rows)]
    return "".join(line + end for line in lines)


@pytest.fixture
def full(tmp_path: Path) -> Document:
    found = readings(tmp_path, HEAD + FULL + "\nEF")
    assert [bool(document) for _, document, _ in found] == [False, True, False]
    return next(document for _, document, _ in found if document)


def by_name(document: Document) -> dict[str, Author]:
    return {author.name: author for author in document.authors}


# Fields


def test_reads_full_names_in_order(full: Document) -> None:
    assert [(author.position, author.name) for author in full.authors] == [
        (0, "Mueller, Juergen K."),
        (1, "Li, Xu"),
        (2, "Li, Xiao-Ming"),
        (3, "O'Hara, Pat, Jr."),
    ]


def test_assigns_addresses_to_named_authors(full: Document) -> None:
    authors = by_name(full)
    first = "Univ Ahausen, Dept Geol, Ahausen, Germany"
    assert authors["Mueller, Juergen K."].affiliations == [first, "Inst C, Cville, France"]
    assert authors["Li, Xu"].affiliations == [first]
    assert authors["Li, Xiao-Ming"].affiliations == ["Univ B, Btown, Ireland"]
    assert authors["O'Hara, Pat, Jr."].affiliations == ["Univ B, Btown, Ireland", "Univ D, Dport, USA"]


def test_assigns_emails_by_name(full: Document) -> None:
    assert {author.name: author.emails for author in full.authors if author.emails} == {
        "Mueller, Juergen K.": ["jmueller@a.de"],
        "Li, Xiao-Ming": ["xiaoming99@b.ie"],
    }


def test_assigns_identifiers_by_name(full: Document) -> None:
    # "Li, Xin" may be either Li; ", XI" matches no author.
    assert {author.name: author.ids for author in full.authors if author.ids} == {
        "Mueller, Juergen K.": {"researcherid": "A-1234-2010", "orcid": "0000-0002-1825-0097"},
        "Li, Xu": {"researcherid": "AAB-2345-2020"},
        "O'Hara, Pat, Jr.": {"researcherid": "D-9999-2012"},
    }


def test_notes_invalid_orcid(tmp_path: Path) -> None:
    assert reasons(readings(tmp_path, FULL)) == ["'0000-0002-1825-0098' of \"O'Hara, Patricia\" is not a valid ORCID"]


def test_reads_document_fields(full: Document) -> None:
    assert full.id == "WOS:000111122200001"
    assert full.id_is_key
    assert full.ids == {"doi": "10.1000/wells.1", "wos": "000111122200001", "pmid": "7654321"}
    assert full.title == "On the depth of wells in limestone & chalk"
    assert full.abstract == "We measured wells. They are p < 5 m deep."
    assert (full.year, full.venue) == (2014, "JOURNAL OF WELLS")
    assert full.keywords == ["wells", "deep water", "Karst", "GROUND-WATER", "FLOW"]
    assert full.categories == ["Geology", "Water Resources"]
    assert full.referenced_authors == ["Brunnen B", "Sod AB", "BRUNNEN B"]
    assert full.references == []


def test_reads_research_areas_and_early_access_year() -> None:
    document = parsed(record(SC="Geology; Water", EA="FEB 2026", UT="ISI:A1997XU12300001"))
    assert (document.categories, document.year) == (["Geology", "Water"], 2026)
    assert (document.id, document.ids["wos"]) == ("ISI:A1997XU12300001", "A1997XU12300001")


def test_medline_number_becomes_pmid() -> None:
    assert parsed(record(UT="MEDLINE:12345678")).ids == {"pmid": "12345678"}


@pytest.mark.parametrize("nobody", ["", "Anonymous", "[No author name available]", "et al."])
def test_reads_document_without_authors(nobody: str) -> None:
    assert parsed(record(AU=nobody, CA="Well Study Grp", BE="Editor, E")).authors == []


def test_keeps_listed_anonymous_author() -> None:
    assert [author.name for author in parsed(record(AU="[Anonymous]", AF="[Anonymous]")).authors] == ["[Anonymous]"]


def test_notes_author_without_letters(tmp_path: Path) -> None:
    found = readings(tmp_path, record(AU="Doe, J\n   , .\n   Roe, R"), "wos")
    assert [a.name for _, document, _ in found if document for a in document.authors] == ["Doe, J", "Roe, R"]
    assert reasons(found) == ["author 1 ', .' is not a name"]


NEW_CITED = ["Doe, JA", "van Roe, R. P.", "Poe", "Moe, Y-Z"]


@pytest.mark.parametrize(
    ("cited", "names"),
    [
        ("Doe J, 1999, X\n   Law (UK), 2000, Y\n   Roe R (ed), 2001", ["Doe J"]),
        ("Anonymous, 1999, X\n   ANON, 2000\n   'tHooft G., 2001\n   Doe, 2002", ["'tHooft G.", "Doe"]),
        ("M&#252;ller J, 1999, X\n   <i>Doe</i>  J, 2000, WELLS & CO", ["Müller J", "Doe J"]),
        ("Doe J, 1999, A; B, C\n   Roe R, 2000", ["Doe J", "Roe R"]),
        ("Doe J", ["Doe J"]),
        ("Doe, JA, 1999, X\n   van Roe, R. P., 2000\n   Poe, X, V1, 2001\n   Moe, Y-Z, 1990", NEW_CITED),
        ("", []),
    ],
)
def test_reads_cited_authors(cited: str, names: list[str]) -> None:
    assert parsed(record(CR=cited)).referenced_authors == names


@pytest.mark.parametrize(
    ("name", "author"),
    [
        ("Muller, Ulf", 0),
        ("Muller, Ute", 1),  # written without the accent, and not the only Muller, U
        ("Li, X", None),
        ("Li, XM", 3),
        ("Li, Xiao", None),
        ("Roe, R", 4),
        ("Roe, Rita M. K.", 4),
        ("ROE, RUTH", 4),
        ("Roe", None),
        ("", None),
    ],
)
def test_full_name_index_finds_author(name: str, author: int | None) -> None:
    fulls = ["Muller, Ulf", "Müller, Ute", "Li, Xu", "Li, Xiao-Ming", "Roe, Rita M."]
    shorts = ["Muller, Ulf", "Müller, Ute", "Li, Xu", "Li, XM", "Roe, RM"]
    names = list(zip(fulls, shorts, strict=True))
    assert FullNameIndex(names).find(name) == author
    assert FullNameIndex(names + [(f"Author, {n}", f"Author, {n}") for n in range(100)]).find(name) == author


def test_reads_references_in_a_cell(tmp_path: Path) -> None:
    cited = "Doe J, 1999, A &amp; B; [Anonymous], 2000; M&#252;ller J, 2001, DOI 10.1000/1;2; Poe E"
    found = documents(tmp_path, table(cells_of(SMALL.format(n=1)) | {"CR": cited}))
    assert found[0].referenced_authors == ["Doe J", "Müller J", "Poe E"]


def test_reads_thousands_of_authors_quickly() -> None:
    names = "\n   ".join(f"Doe{n}, Jane" for n in range(4000))
    identifiers = "; ".join(f"Roe{n}, Rita/A-1234-2010" for n in range(4000))
    assert len(parsed(record(AU=names, RI=identifiers)).authors) == 4000


def test_reads_book_authors() -> None:
    assert [a.name for a in parsed(record(AU="", BA="Doe, J", BF="Doe, Jane")).authors] == ["Doe, Jane"]
    assert [a.name for a in parsed(record(BA="Roe, R")).authors] == ["Doe, J"]


@pytest.mark.parametrize(
    ("short", "full", "names"),
    [
        (["Doe, J", "Li, X", "Roe, R"], ["Doe, Jane", "Roe, Rita"], ["Doe, Jane", "Li, X", "Roe, Rita"]),
        (["Doe, J"], ["Doe, Jane", "Roe, Rita"], ["Doe, Jane", "Roe, Rita"]),
        (["Doe, J; Roe, R"], [], ["Doe, J", "Roe, R"]),
        ([], ["Doe, Jane"], ["Doe, Jane"]),
    ],
)
def test_pairs_name_lists_of_different_length(short: list[str], full: list[str], names: list[str]) -> None:
    document = parsed(record(AU="\n   ".join(short), AF="\n   ".join(full)))
    assert [author.name for author in document.authors] == names


def test_finds_authors_by_short_name() -> None:
    document = parsed(record(AU="Muller, J\n   Doe, J", AF="Mueller, Jan\n   Doe, Jane", RI="MULLER, J./A-1234-2010"))
    assert document.authors[0].ids == {"researcherid": "A-1234-2010"}


@pytest.mark.parametrize(
    ("authors", "addresses", "expected"),
    [
        ("Doe, J", "Univ A.\n   Univ B.", [["Univ A", "Univ B"]]),
        ("Doe, J\n   Roe, R", "Univ A.", [["Univ A"], ["Univ A"]]),
        ("Doe, J\n   Roe, R", "Univ A.\n   Univ B.", [[], []]),
        ("Doe, J\n   Roe, R", "[Doe, J] Univ A.\n   Univ B.", [["Univ A"], []]),
        (
            "Doe, J\n   Roe, R",
            "[Doe, J;\n   Roe, R] Univ A, Long\n   Street.\n   Univ B.",
            [["Univ A, Long Street"]] * 2,
        ),
        ("Doe, J\n   Roe, R", "[Doe, J; Ro", [[], []]),
    ],
)
def test_assigns_addresses_without_names_only_if_unambiguous(
    authors: str, addresses: str, expected: list[list[str]]
) -> None:
    assert [a.affiliations for a in parsed(record(AU=authors, C1=addresses)).authors] == expected


@pytest.mark.parametrize(
    ("reprint", "expected"),
    [
        ("Roe, R (reprint author), Univ A, USA.", [[], ["Univ A, USA"]]),
        (
            "Doe, J (reprint author), Univ St. A, USA. Roe, R (reprint author), Univ B.",
            [["Univ St. A, USA"], ["Univ B"]],
        ),
        ("Doe, J (corresponding author), Univ A; Roe, R (corresponding author), Univ B", [["Univ A"], ["Univ B"]]),
        ("Roe, R, Univ A, Long Street,\n   Town.", [[], ["Univ A, Long Street, Town"]]),
        ("Roe R\n   Univ A, Town", [[], ["Univ A, Town"]]),
        ("Poe, P (reprint author), Univ A.", [[], []]),
        ("Doe, J (reprint author), Univ A, doe@a.org.", [["Univ A"], []]),
    ],
)
def test_assigns_reprint_addresses(reprint: str, expected: list[list[str]]) -> None:
    authors = parsed(record(AU="Doe, J\n   Roe, R", RP=reprint)).authors
    assert [author.affiliations for author in authors] == expected
    assert [author.emails for author in authors] == [["doe@a.org"] if "@" in reprint else [], []]


@pytest.mark.parametrize(
    ("emails", "reprint", "expected"),
    [
        ("98765@a.cn", "Roe, R (corresponding author), Univ A.", [[], ["98765@a.cn"]]),
        ("98765@a.cn; 4@a.cn", "Roe, R (corresponding author), Univ A.", [[], []]),
        ("98765@a.cn", "Doe, J; Roe, R (corresponding author), Univ A.", [[], []]),
        ("98765@a.cn", "", [[], []]),
        ("doe@a.cn", "Roe, R (corresponding author), Univ A.", [["doe@a.cn"], []]),
    ],
)
def test_single_unclear_email_belongs_to_reprint_author(emails: str, reprint: str, expected: list[list[str]]) -> None:
    authors = parsed(record(AU="Doe, J\n   Roe, R", EM=emails, RP=reprint)).authors
    assert [author.emails for author in authors] == expected


def test_a_name_of_two_authors_assigns_nothing_to_either() -> None:
    reprint = "Wang, W (corresponding author), Univ A."
    addresses = "[Wang, Wei; Wang, Wen] Univ B.\n   [Wang, Wei] Univ C."
    names = {"AU": "Wang, W\n   Wang, W", "AF": "Wang, Wei\n   Wang, Wen"}
    authors = parsed(record(**names, RP=reprint, C1=addresses, EM="7@a.cn", RI="Wang, W/A-1234-2010")).authors
    assert [author.affiliations for author in authors] == [["Univ B", "Univ C"], ["Univ B"]]
    assert [(author.emails, author.ids) for author in authors] == [([], {}), ([], {})]
    names = {"AU": "Wang, W\n   Wang, W\n   Roe, R", "AF": "Wang, Wei\n   Wang, Wei\n   Roe, Rita"}
    twins = parsed(record(**names, C1="[Wang, Wei; Roe, Rita] Univ B.", OI="Wang, Wei/0000-0002-1825-0097")).authors
    assert [(author.affiliations, author.ids) for author in twins] == [([], {}), ([], {}), (["Univ B"], {})]


def test_single_author_gets_all_emails() -> None:
    assert parsed(record(EM="x1@a.org, x2@a.org;x1@a.org")).authors[0].emails == ["x1@a.org", "x2@a.org"]


@pytest.mark.parametrize(
    ("address", "owner"),
    [
        ("li.na@x.cn", 0),
        ("wli@x.cn", 1),
        ("elisa@x.cn", None),
        ("li@x.cn", None),
        ("na@x.cn", None),
        ("schmidtb@x.de", 2),
        ("berta@x.de", 2),
        ("garcia-lopez@x.es", 3),
        ("clara.lopez@x.es", 3),
        ("jürgen.ößwald@x.de", 4),
        ("@x.de", None),
        ("12@x.de", None),
    ],
)
def test_finds_owner_of_email(address: str, owner: int | None) -> None:
    names = ["Li, Na", "Li, Wei", "Schmidtbauer, Berta", "Garcia Lopez, Clara", "Ößwald, Jürgen"]
    assert email_owners([address], [(name, name) for name in names]) == [owner]


def test_does_not_compare_too_many_emails() -> None:
    names = [("Doe, J", "Doe, J")] * 2000
    assert email_owners(["doe@x.org"] * 2000, names) == [None] * 2000


def test_finds_no_email_in_other_texts() -> None:
    assert emails_in("a@b; @c.org; d@e.org@f.org; g.h@i.org.") == ["g.h@i.org"]


# Files


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "latin-1"])
def test_reads_any_line_ends_and_encodings(tmp_path: Path, full: Document, end: str, encoding: str) -> None:
    text = (HEAD + FULL + "\n" + SMALL.format(n=1) + "\nEF").replace("\n", end)
    found = readings(tmp_path, text.encode(encoding))
    assert [document for _, document, _ in found if document] == [full, parsed(SMALL.format(n=1))]
    assert [raw.number for raw, document, _ in found if document] == [3, 3 + FULL.count("\n") + 1]


def test_reads_joined_files(tmp_path: Path) -> None:
    one, two = (HEAD + SMALL.format(n=n) + "\nEF" for n in (1, 2))
    assert len(documents(tmp_path, one + "\n\ufeff" + two)) == 2
    assert len(documents(tmp_path, one + "\ufeff" + two + "\n")) == 2
    assert reasons(readings(tmp_path, one + "\n" + two)) == []


def test_reads_records_without_blank_lines_and_header(tmp_path: Path) -> None:
    assert len(documents(tmp_path, SMALL.format(n=1) + SMALL.format(n=2).rstrip())) == 2


def test_reads_lines_without_indentation() -> None:
    document = parsed(record(AU="Doe, J\nRoe, R\n  Poe, P", TI="A title\nof two lines"))
    assert [author.name for author in document.authors] == ["Doe, J", "Roe, R", "Poe, P"]
    assert document.title == "A title of two lines"


def test_joins_repeated_fields() -> None:
    document = parsed("PT J\nAU Doe, J\nAU Roe, R\nTI One\nTI title\nUT WOS:1\nER")
    assert ([author.name for author in document.authors], document.title) == (["Doe, J", "Roe, R"], "One title")


# Damage


@pytest.mark.parametrize("damage", ["xx J", "P\0 J", "\ufffd", ""])
def test_damaged_first_line_does_not_affect_neighbours(tmp_path: Path, damage: str) -> None:
    text = HEAD + SMALL.format(n=1) + "\n" + SMALL.format(n=2).replace("PT J", damage) + "\n" + SMALL.format(n=3)
    assert [document.id[-1] for document in documents(tmp_path, text)] == ["1", "2", "3"]


def test_damaged_last_line_does_not_affect_neighbours(tmp_path: Path) -> None:
    found = readings(tmp_path, SMALL.format(n=1).replace("\nER", "\nEQ") + SMALL.format(n=2))
    assert [document.id[-1] for _, document, _ in found if document] == ["1", "2"]
    assert reasons(found) == [
        "the record is cut off: its end mark ER is missing. It was kept, but fields may be missing."
    ]


def test_damaged_field_is_not_joined_to_previous_field(tmp_path: Path) -> None:
    found = readings(tmp_path, SMALL.format(n=1).replace("AF Roe", "aF Roe"))
    assert [author.name for _, document, _ in found if document for author in document.authors] == ["Roe, R"]
    assert reasons(found) == ["the line 'aF Roe, Rita' begins with no field tag"]


def test_rejects_records_that_have_run_together(tmp_path: Path) -> None:
    both = SMALL.format(n=1).replace("\nER", "\nEQ") + SMALL.format(n=2).replace("PT J", "xx")
    found = readings(tmp_path, both + SMALL.format(n=3))
    assert [document.id[-1] for _, document, _ in found if document] == ["3"]
    assert reasons(found) == ["two records have run together (several accession numbers UT)"]


def test_reports_truncated_last_record(tmp_path: Path) -> None:
    whole = HEAD + SMALL.format(n=1) + "\n"
    for length in range(3, len(SMALL) - 6):
        found = readings(tmp_path, whole + SMALL[:length], "wos")
        assert [document.id[-1] for _, document, _ in found if document] == ["1"]
        assert len(reasons(found)) == 1


def test_reports_truncated_record_before_another(tmp_path: Path) -> None:
    found = readings(tmp_path, FULL[:900] + "\n" + HEAD + SMALL.format(n=1))
    assert [document.id[-1] for _, document, _ in found if document] == ["1"]
    assert reasons(found) == ["the record is cut off: the end mark ER is missing"]


def test_reports_text_that_is_no_record(tmp_path: Path) -> None:
    found = readings(tmp_path, "some words\n" + SMALL.format(n=1) + "\nother words", "wos")
    assert [bool(document) for _, document, _ in found] == [False, True, False]
    assert reasons(found) == ["has no field of a Web of Science record"] * 2
    with pytest.raises(BrokenRecordError, match="neither authors"):
        format_named("wos").parse(b"PT J\nSO X\nER", None)


# Tables


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_table_gives_same_documents_as_plain_text(tmp_path: Path, full: Document, end: str, encoding: str) -> None:
    small = SMALL.format(n=1)
    found = readings(tmp_path, table(cells_of(FULL), cells_of(small), end=end).encode(encoding))
    assert [document for _, document, _ in found if document] == [full, parsed(small)]
    assert [raw.number for raw, _, _ in found] == [2, 3]


@pytest.mark.parametrize("delimiter", ["\t", ",", ";"])
def test_reads_spreadsheet_saved_as_text(tmp_path: Path, full: Document, delimiter: str) -> None:
    cells = cells_of(FULL)
    rows = [list(LONG_NAMES.values()), [cells.get(tag, "") for tag in LONG_NAMES]]
    text = "\r\n".join(delimiter.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows)
    assert documents(tmp_path, text) == [full]


def test_an_error_of_a_spreadsheet_is_no_title(tmp_path: Path) -> None:
    (_, document, problems) = readings(tmp_path, table(cells_of(FULL) | {"TI": "#NAME?"}))[0]
    assert document is not None
    assert document.title == ""
    assert "#NAME? in the column 'TI' is an error of a spreadsheet" in [problem.reason for problem in problems]


def test_removes_spreadsheet_quotation_marks(tmp_path: Path) -> None:
    cells = cells_of(SMALL.format(n=1))
    titles = ['"The ""deep"" well"', 'The "deep" well', '5" wells']
    found = documents(tmp_path, table(*({**cells, "TI": title} for title in titles)))
    assert [document.title for document in found] == ['The "deep" well', 'The "deep" well', '5" wells']


def test_reads_joined_tables(tmp_path: Path) -> None:
    one, two = (cells_of(SMALL.format(n=n)) for n in (1, 2))
    assert len(documents(tmp_path, table(one) + "\ufeff" + table(two))) == 2
    other = table(two, columns=list(reversed(COLUMNS)))
    assert [document.id[-1] for document in documents(tmp_path, table(one) + other + table(one))] == ["1", "2", "1"]


def test_rejects_truncated_row(tmp_path: Path) -> None:
    text = table(cells_of(SMALL.format(n=1)), cells_of(SMALL.format(n=2)), end="\n")
    start = text.index("\n", text.index("\n") + 1) + 1
    for length in range(start + 1, text.index("\t", text.index("WOS:000222222200002"))):
        found = readings(tmp_path, text[:length])
        assert [document.id[-1] for _, document, _ in found if document] == ["1"]
        assert len(reasons(found)) == 1


@pytest.mark.parametrize("change", [("Small\t", "Small "), ("Small", "Sm\tall")])
def test_rejects_shifted_row(tmp_path: Path, change: tuple[str, str]) -> None:
    text = table(cells_of(SMALL.format(n=1)), cells_of(SMALL.format(n=2)))
    found = readings(tmp_path, text.replace(*change, 1))
    assert [document.id[-1] for _, document, _ in found if document] == ["2"]
    assert "not in the column UT" in reasons(found)[0]


def test_reports_header_joined_to_first_row(tmp_path: Path) -> None:
    text = table(cells_of(SMALL.format(n=1)), cells_of(SMALL.format(n=2)), end="\n").replace("\n", "\x0b", 1)
    found = readings(tmp_path, text)
    assert [document.id[-1] for _, document, _ in found if document] == ["2"]
    assert reasons(found) == ["the header line and the record after it have run together"]


def test_reads_header_joined_to_previous_row(tmp_path: Path) -> None:
    one, two, three = (cells_of(SMALL.format(n=n)) for n in (1, 2, 3))
    text = table(one, two, end="\n")[:-1] + table(three, end="\n")
    assert [document.id[-1] for document in documents(tmp_path, text)] == ["1", "2", "3"]


def test_reports_second_header_joined_to_row(tmp_path: Path) -> None:
    one, two = (cells_of(SMALL.format(n=n)) for n in (1, 2))
    found = readings(tmp_path, table(one, end="\n") + table(two, one, end="\n").replace("\n", "\x0b", 1))
    assert [document.id[-1] for _, document, _ in found if document] == ["1", "1"]
    assert reasons(found) == ["the header line and the record after it have run together"]


@pytest.mark.parametrize("delimiter", ["\t", ",", ";"])
def test_reads_carriage_return_within_row(delimiter: str) -> None:
    layout = layout_of(delimiter.join(["AU", "AF", "TI", "UT"]))
    assert layout
    row = delimiter.join(["Doe", "Doe", "On\rwells", "WOS:1"])
    document, _ = format_named("wos-tab").parse(row.encode(), layout) or (None, [])
    assert document is not None
    assert (document.title, document.id) == ("On wells", "WOS:1")


def test_rejects_rows_without_header(tmp_path: Path) -> None:
    text = table(cells_of(SMALL.format(n=1))).split("\r\n", 1)[1]
    assert reasons(readings(tmp_path, text, "wos-tab")) == ["no header line comes before it"]


def test_layout_can_be_pickled() -> None:
    layout = layout_of("\t".join(COLUMNS))
    assert pickle.loads(pickle.dumps(layout)) == layout


def test_reads_cell_of_thousands_of_references(tmp_path: Path) -> None:
    cells = cells_of(SMALL.format(n=1)) | {"CR": "; ".join(["Doe J, 1999, WELLS"] * 10_000)}
    names = ",".join(f'"{name}"' for name in LONG_NAMES.values())
    row = ",".join(f'"{cells.get(tag, "")}"' for tag in LONG_NAMES)
    assert len(documents(tmp_path, f"{names}\n{row}\n")[0].referenced_authors) == 10_000


# Detection


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (HEAD + FULL, "wos"),
        ("\n\n" + FULL, "wos"),
        (HEAD.replace("\n", "\r"), None),
        (HEAD.replace("FN", "F\0") + FULL, "wos"),
        ("PT J\nAU " + "\n   ".join(["Doe, J"] * 9000), "wos"),
        (FULL.replace("\n", "\r\n"), "wos"),
        (table(cells_of(FULL)), "wos-tab"),
        (table().replace("PT\tAU", "P\0\tAU"), "wos-tab"),
        ("\t".join(LONG_NAMES.values()), "wos-tab"),
        ("TY  - JOUR\nAU  - Doe, J\nTI  - T\nPY  - 2000\nER  - \n", None),
        ("TY - JOUR\nAU - Doe, J\nTI - T\nPY - 2000\nER - \n", None),
        ("PMID- 1\nAU  - Doe J\nTI  - T\nSO  - X\n", None),
        ('"Authors","Author full names","Author(s) ID","Title","Year","Source title","Abstract","DOI","EID"\n', None),
        ("id\tauthors\ttitle\tyear\n1\tDoe, J\tT\t2000\n", None),
        ('{"AU": "Doe, J", "AF": "x", "TI": "y", "UT": "z"}', None),
        ("", None),
    ],
)
def test_detects_format(tmp_path: Path, content: str, name: str | None) -> None:
    path = tmp_path / "a.dat"
    path.write_text(content, encoding="utf-8", newline="")
    with Source(path) as source:
        found = [form for form in ("wos", "wos-tab") if format_named(form).recognises(source)]
        assert found == ([name] if name else [])
        assert name is None or getattr(detect_format(source), "name", None) == name


# Any input


def parses(name: str, text: bytes, context: object = None) -> None:
    with suppress(BrokenRecordError):
        format_named(name).parse(text, context)


PIECES = st.sampled_from(
    [*FULL.splitlines(keepends=True), "\r", "[", "]", ";", "/", "@", "(reprint author)", "\ufeff", "\0"]
)


@settings(max_examples=examples(100))
@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=40), st.binary(max_size=6))
def test_parsing_any_text_raises_only_broken_record(pieces: list[str], more: bytes) -> None:
    parses("wos", "".join(pieces).encode("utf-8", "replace") + more)


@settings(max_examples=examples(100))
@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=40), st.binary(max_size=6), st.sampled_from("\t,;"))
def test_parsing_any_row_raises_only_broken_record(cells: list[str], more: bytes, delimiter: str) -> None:
    layout = layout_of("\t".join(COLUMNS))
    assert layout
    parses("wos-tab", delimiter.join(cells).encode("utf-8", "replace") + more, layout._replace(delimiter=delimiter))
    parses("wos-tab", more)


@pytest.mark.parametrize("name", ["wos", "wos-tab"])
def test_changed_byte_affects_one_record(tmp_path: Path, name: str) -> None:
    smalls = [SMALL.format(n=n) for n in range(5)]
    text = HEAD + "\n".join(smalls) if name == "wos" else table(*map(cells_of, smalls), end="\n")
    healthy = documents(tmp_path, text)
    dice = random.Random(4)
    for _ in range(300):
        damaged = bytearray(text.encode())
        damaged[dice.randrange(len(text) // 3, len(text))] ^= 1 << dice.randrange(8)
        found = readings(tmp_path, bytes(damaged), name)
        read = [document for _, document, _ in found if document]
        # A changed line end may cut a record, or join two rows of a table.
        assert sum(document in read for document in healthy) >= len(healthy) - (1 if name == "wos" else 2)
        assert len(read) >= len(healthy) or reasons(found)


@pytest.mark.parametrize("field", ["C1", "RP", "EM", "RI", "CR", "AU"])
@pytest.mark.parametrize(
    "unit", ["[", "(", "; ", "[a; ", "/", "10.1234.", "a@", "&", "<", " ", "A, B (reprint author) "]
)
def test_parses_pathological_text_quickly(field: str, unit: str) -> None:
    layout = layout_of("\t".join(COLUMNS))
    assert layout
    text = unit * 20_000
    parses("wos", record(**{field: text}).encode())
    parses("wos-tab", table({"AU": "Doe, J; Roe, R", "UT": "WOS:1", field: text}).split("\r\n")[1].encode(), layout)


def test_long_cell_of_a_table_leaves_the_limit_of_the_csv_module(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    text = f'AU,AF,TI,CR,UT\n"Doe, J","Doe, J",x,"{"A, 2010; " * 30_000}",WOS:1\n'
    (tmp_path / "a.csv").write_text(text)
    assert [document.id for _, document, _ in read_documents(tmp_path / "a.csv", "wos-tab") if document]
    assert csv.field_size_limit() == before


def test_entities_in_names_do_not_separate_them_from_their_addresses(tmp_path: Path) -> None:
    text = (
        "FN Clarivate Analytics Web of Science\nVR 1.0\nPT J\nAU O&apos;Neil, P\n   Muller, K\nAF O&apos;Neil, Pat\n"
        "   M&uuml;ller, Karl\nTI On ice\nC1 [O&apos;Neil, Pat] Texas A&amp;M Univ, Town, USA.\n"
        "   [M&uuml;ller, Karl] Univ B, Berlin, Germany.\nPY 2014\nUT WOS:000000000000001\nER\n\nEF"
    )
    (document,) = (reading.document for reading in readings(tmp_path, text) if reading.document)
    assert [(author.name, author.affiliations) for author in document.authors] == [
        ("O'Neil, Pat", ["Texas A&M Univ, Town, USA"]),
        ("Müller, Karl", ["Univ B, Berlin, Germany"]),
    ]
