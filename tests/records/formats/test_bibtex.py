r"""BibTeX in the styles of many programs, and damage that must not affect neighbouring entries."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.io.inputs import Source
from homonym.records.fields.markup import latex_to_text
from homonym.records.formats.bibtex import FORMAT, _raws
from homonym.records.model import BrokenRecordError, Document, Parsed, Problem
from homonym.records.reader import read_documents
from tests.support.profiles import examples

Read = Callable[[str | bytes], tuple[list[Document], list[Problem]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def reader(text: str | bytes) -> tuple[list[Document], list[Problem]]:
        path = tmp_path / "any.bib"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        readings = list(read_documents(path, "bibtex"))
        documents = [reading.document for reading in readings if reading.document]
        return documents, [problem for reading in readings for problem in reading.problems]

    return reader


def parsed(text: str) -> Parsed:
    found = FORMAT.parse(text.encode(), None)
    assert found is not None
    return found


def one(fields: str, *, kind: str = "article", key: str = "k") -> Document:
    return parsed(f"@{kind}{{{key},\n{fields}\n}}\n")[0]


def names(authors: str) -> list[str]:
    return [author.name for author in one(f"author = {{{authors}}}").authors]


# LaTeX


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"{\"u}\"{u}\"u{\"{u}}", "üüüü"),
        (r"\'{\i}{\'\i}\'\i {\'{\i}}\'{i}", "ííííí"),
        (r"Y{\i}ld\i{}z \i, {\j}", "Yıldız ı, ȷ"),
        (r"\v{z}{\v z}\v z{\v{S}}", "žžžŠ"),
        (r"{\o}\O{} \o stergaard", "øØ østergaard"),
        (r"Wei{\ss}, Stra\ss e", "Weiß, Straße"),
        (r"\c{c}{\c s}\k{a}\H{o}\u{g}\r{a}\d{h}\={u}\.{Z}{\l}{\AA}", "çşąőğåḥūŻłÅ"),
        (
            r"Core\textendash{}Shell\textendash{{Rod}}, A \& B, 5\%, \$3, a\_b, \#1",
            "Core–Shell–Rod, A & B, 5%, $3, a_b, #1",
        ),
        (r"J.~R. and J.\,R.", "J. R. and J. R."),
        (r"H$_2$O and $\alpha$-{\beta} at 10$^{-3}$", "H2O and α-β at 10-3"),
        (r"\emph{in vivo} {\it x} \textbf{y}, \url{u}", "in vivo x y, u"),
        ("``a{''} -- b --- c {[}d]", "“a” – b — c [d]"),
        (r"set \{a, b\}", "set {a, b}"),
        ("R\\&amp;D &lt;i&gt;x&lt;/i&gt; {\\textless}b{\\textgreater}y</b>", "R&D x y"),
        (r"\'{Ab} \foo{bar} \unknown", "Áb bar"),
        ("two\n   lines", "two lines"),
        ("\\", ""),
    ],
)
def test_converts_latex_to_text(latex: str, text: str) -> None:
    assert latex_to_text(latex) == text


# Names


@pytest.mark.parametrize(
    ("authors", "expected"),
    [
        ("Doe, Jane and Roe, R.", ["Doe, Jane", "Roe, R."]),
        ("Doe, Jane and\n   Roe,\n   R.\nAND Poe, E.", ["Doe, Jane", "Roe, R.", "Poe, E."]),
        ("Doe, Jane and others", ["Doe, Jane"]),
        ("Doe, Jane and and Roe, R. and", ["Doe, Jane", "Roe, R."]),
        ("Anderson, A. and Brand, B.", ["Anderson, A.", "Brand, B."]),
        ("Ba{-}Quy Vuong and J{\\'{o}}n {\\'A}rnason", ["Ba-Quy Vuong", "Jón Árnason"]),
        (
            "{Bengoechea-Gil}, A. and {S{\\'a}nchez}, M. and {\\v S}koda, P.",
            ["Bengoechea-Gil, A.", "Sánchez, M.", "Škoda, P."],
        ),
        ("{de la Mata}, M. and Ludwig van Dam", ["de la Mata, M.", "Ludwig van Dam"]),
        ("{European Commission} and Doe, J.", ["Doe, J."]),
        ("{Ministry of Health and Sports}", []),
        ("{{Ministry of Health and Sports}}", []),
        ("{Jane Doe}", []),
        ("{Doe, J. K.} and {Institute of Physics, Bern}", ["Doe, J. K."]),
        ("{Doe, Jane and Roe, Richard}", ["Doe, Jane", "Roe, Richard"]),
        ("J. {Doe} and Gabriel {Roe Poe} and John Doe {III}", ["Doe, J.", "Roe Poe, Gabriel", "John Doe III"]),
        ("{Doe}, J.~K. and {Roe}, R.", ["Doe, J. K.", "Roe, R."]),
        ("van Dam, Jr, Jan and Doe, III, Jane", ["van Dam, Jan, Jr", "Doe, Jane, III"]),
        ("Doe, John, Jr.", ["Doe, John, Jr."]),
        (
            "family=Dam, given=Jan, prefix=van, useprefix=true and given={J. K.}, family=Doe",
            ["van Dam, Jan", "Doe, J. K."],
        ),
        ("Anonymous and {[}Anonymous] and Doe, J and et al.", ["[Anonymous]", "Doe, J"]),
        ("{[}No author name available]", []),
        ("Doe, Jane AND Poe AND and Roe, R and", ["Doe, Jane", "Poe", "Roe, R"]),
        ("The XYZ Collaboration and Doe, J", ["Doe, J"]),
        ("World Names Organization and Doe, J and others", ["Doe, J"]),
        ("Gonz&aacute;lez, A. and O{\\textquoteright}Hara, B.", ["González, A.", "O’Hara, B."]),
    ],
)
def test_reads_names_in_all_notations(authors: str, expected: list[str]) -> None:
    assert names(authors) == expected


def test_footnotes_behind_names_are_left_out(read: Read) -> None:
    marks = (r"\thanks{Funded by {NSF} and ERC}", "$^{1,2}$", r"$^\dagger$", r"\textsuperscript{1}", r"\inst{2}")
    for mark in (*marks, r"\footnote[1]{j@x.org}"):
        assert names(f"Jane Doe{mark} and Roe, R{mark}") == ["Jane Doe", "Roe, R"]
    (found,), _ = read(
        r"@article{k, title={On x}, author={Doe, Jane\orcidlink{0000-0002-1825-0097} and Roe, R\email{r@x.org}}}"
    )
    assert [(author.name, author.ids, author.emails) for author in found.authors] == [
        ("Doe, Jane", {"orcid": "0000-0002-1825-0097"}, []),
        ("Roe, R", {}, ["r@x.org"]),
    ]


def test_positions_are_places_in_the_list() -> None:
    document, notes = parsed("@a{k, author = {{The Group} and Doe, J and ?? and Roe, R}}")
    assert [(author.position, author.name) for author in document.authors] == [(1, "Doe, J"), (3, "Roe, R")]
    assert notes == [("contributor", "The Group"), ("author", "'??' is not a name")]


def test_dblp_homonym_numbers_become_identifiers() -> None:
    author, other = one("author = {Wei Wang 0012 and Wei Wang}").authors
    assert (author.name, author.ids) == ("Wei Wang", {"dblp": "Wei Wang 0012"})
    assert other.ids == {}


# Fields


def test_reads_values_in_all_notations() -> None:
    document = one('TITLE = "A {"}quoted{"} title",\nyear=1999 , Journal = {X {Y {Z {{deep}}}}}, month = jan')
    assert (document.title, document.year, document.venue) == ('A "quoted" title', 1999, "X Y Z deep")


@pytest.mark.parametrize(
    ("fields", "year"),
    [
        ("year = 2014", 2014),
        ("year = {2014a}", 2014),
        ("year = {[2014]}, date = {1999}", 2014),
        ("date = {2014-05}", 2014),
        ("date = {2014-05/2015-06}", 2014),
        ("year = {in press}, date = {2014}", 2014),
        ("EarlyAccessDate = {SEP 2014}", 2014),
        ("title = {x}", None),
        ("year = {in press}", None),
    ],
)
def test_reads_year(fields: str, year: int | None) -> None:
    assert one(fields).year == year


@pytest.mark.parametrize(
    ("fields", "ids"),
    [
        (r"doi = {10.1007/978-3\_6}", {"doi": "10.1007/978-3_6"}),
        (r"doi = {10.1007/978-3{\_}6}", {"doi": "10.1007/978-3_6"}),
        ("doi = {https://doi.org/10.1000/AbC}", {"doi": "10.1000/abc"}),
        ("url = {http://dx.doi.org/10.1000/x}", {"doi": "10.1000/x"}),
        ("url = {https://example.org/pdf/10.1000/x.pdf}", {}),
        ("pmid = {0123}", {"pmid": "123"}),
        ("Unique-ID = {MEDLINE:123}", {"pmid": "123"}),
        ("eprint = {123}, eprinttype = {pubmed}", {"pmid": "123"}),
        ("eprint = {1706.03762v5}, archivePrefix = {arXiv}", {"arxiv": "1706.03762"}),
        ("eprint = {hep-th/9901001}, eprinttype = {arxiv}", {"arxiv": "hep-th/9901001"}),
        ("eprint = {math.GT/0309136}, eprinttype = {arxiv}", {"arxiv": "math/0309136"}),
        ("eprint = {1706.03762}, eprinttype = {jstor}", {}),
        ("arxivId = {1706.03762}", {"arxiv": "1706.03762"}),
        ("journal = {arXiv preprint arXiv:1706.03762}", {"arxiv": "1706.03762"}),
        ("url = {https://www.scopus.com/inward/record.uri?eid=2-s2.0-85044\\&doi=1}", {"scopus": "2-s2.0-85044"}),
        ("biburl = {https://dblp.org/rec/conf/x/Y07.bib}", {"dblp": "conf/x/Y07"}),
    ],
)
def test_reads_document_identifiers(fields: str, ids: dict[str, str]) -> None:
    assert one(fields).ids == ids


@pytest.mark.parametrize(
    ("key", "fields", "name", "is_key"),
    [
        ("doe99", "", "doe99", False),
        ("odd/key:with+signs(1)_&", "", "odd/key:with+signs(1)_&", False),
        ("", "title = {x}", "", False),
        (" WOS:000111", "Unique-ID = {WOS:000111}", "WOS:000111", True),
        ("ISI:000111", "Unique-ID = {{ISI:000111}}", "ISI:000111", True),
        ("doe99", "Unique-ID = {WOS:000111}", "WOS:000111", True),
        ("MEDLINE:77", "Unique-ID = {MEDLINE:77}", "MEDLINE:77", True),
        ("DBLP:conf/x/Y07", "", "DBLP:conf/x/Y07", True),
    ],
)
def test_document_id_is_accession_number_or_citation_key(key: str, fields: str, name: str, is_key: bool) -> None:
    document = one(fields, key=key)
    assert (document.id, document.id_is_key) == (name, is_key)


def test_splits_keywords_at_semicolons_else_commas() -> None:
    assert one("keywords = {a, b c,b c}").keywords == ["a", "b c"]
    assert one("keywords = {a; b, c}, author_keywords = {d;  e}").keywords == ["d", "e", "a", "b, c"]
    assert one("keywords = {x}, mendeley-tags = {x,y}, mendeley-groups = {Folder}").keywords == ["x", "y"]


@pytest.mark.parametrize(
    ("fields", "venue"),
    [
        ("journal = {J}, booktitle = {B}", "J"),
        ("journaltitle = {J}", "J"),
        ("booktitle = {B}, series = {S}", "B"),
        ("series = {S}", "S"),
        (r"journal = {\apj}", "apj"),
        ("school = {Univ}", "Univ"),
    ],
)
def test_reads_venue(fields: str, venue: str) -> None:
    assert one(fields).venue == venue


def test_editors_are_not_authors_and_authors_are_optional() -> None:
    document = one("editor = {Doe, J}, title = {T}, subtitle = {S}", kind="proceedings")
    assert (document.authors, document.title) == ([], "T: S")


def test_reads_scopus_entry() -> None:
    document = one(
        "author={Doe, J. and Roe, R.},\naffiliation={Univ X, City},\nsource={Scopus},\n"
        "correspondence_address1={Roe, R.; Univ X; email: xyz@example.org},\n"
        "references={Poe, E., Coe-Loe, F.G., A title, with comma (2006) J., 4; Van Noe, H., Other (1999) K; "
        "Kumar R., Singh A.B., New layout, J (2020); No author (2000)},"
    )
    assert [author.affiliations for author in document.authors] == [["Univ X, City"]] * 2
    assert [author.emails for author in document.authors] == [[], ["xyz@example.org"]]
    assert document.referenced_authors == ["Poe, E.", "Coe-Loe, F.G.", "Van Noe, H.", "Kumar R.", "Singh A.B."]


def test_ignores_addresses_without_clear_author() -> None:
    document = one("author = {Doe, J. and Roe, R.}, affiliation = {Univ X; Univ Y}")
    assert [author.affiliations for author in document.authors] == [[], []]
    assert one("author = {Doe, J.}, affiliation = {Univ X; Univ Y}").authors[0].affiliations == ["Univ X", "Univ Y"]


# Web of Science

SAVED = r"""@article{ WOS:000111,
Author = {Doe, Jane K. and Roe, Richard and van
   der Poe, Eva and Li, Xu},
Title = {Soils \& sediments
   of a plain},
Journal = {CATENA},
Year = {2021},
Affiliation = {Roe, R (Corresponding Author), Univ X, Inst \& Lab, D-1 Town, Germany.
   Doe, Jane K.; Roe, Richard, Univ X, Inst \& Lab, D-1 Town, Germany.
   van der Poe, Eva, Univ
   Y, Graz, Austria.
   Stranger, Some, Univ Z, Rome, Italy.},
DOI = {10.1000/SOIL},
Keywords = {soil; sediment, clayey},
Keywords-Plus = {EROSION},
Web-of-Science-Categories  = {Materials Science, Multidisciplinary; Soil Science},
Author-Email = {j.doe@x.de
   eva.vanderpoe@y.at
   nobody77@z.it},
Affiliations = {University X; University Y},
ResearcherID-Numbers = {doe, jane/A-1009-2008
   Poe, Eva van der/B-1-2010
   },
ORCID-Numbers = {Doe, Jane/0000-0002-1825-0097
   Li, Xu/0000-0002-1825-0098},
Cited-References = {SMITH J, 1999, SOIL, V1, P2, DOI 10.1000/y.
   {[}Anonymous], 2000, SOIL.
   {*}WHO, 2001, REP.
   Garcia-Gil A., 2003, B.},
Unique-ID = {WOS:000111},
}
"""


def test_reads_web_of_science_entry() -> None:
    document, notes = parsed(SAVED)
    doe, roe, poe, li = document.authors
    assert [author.name for author in document.authors] == [
        "Doe, Jane K.",
        "Roe, Richard",
        "van der Poe, Eva",
        "Li, Xu",
    ]
    assert doe.affiliations == roe.affiliations == ["Univ X, Inst & Lab, D-1 Town, Germany"]
    assert (poe.affiliations, li.affiliations) == (["Univ Y, Graz, Austria"], [])
    assert (doe.emails, roe.emails, poe.emails, li.emails) == (["j.doe@x.de"], [], ["eva.vanderpoe@y.at"], [])
    assert doe.ids == {"researcherid": "A-1009-2008", "orcid": "0000-0002-1825-0097"}
    assert (roe.ids, poe.ids, li.ids) == ({}, {}, {})
    assert one("unique-id = {WOS:1}, research-areas = {Water; Soil}").categories == ["Water", "Soil"]
    assert document.keywords == ["soil", "sediment, clayey", "EROSION"]
    assert document.categories == ["Materials Science, Multidisciplinary", "Soil Science"]
    assert document.referenced_authors == ["SMITH J", "Garcia-Gil A."]
    assert document.ids == {"doi": "10.1000/soil", "wos": "000111"}
    assert document.title == "Soils & sediments of a plain"
    assert [lost for lost, _ in notes] == ["field", "field"]  # B-1-2010, and a wrong check digit


def test_reads_double_braces_of_older_exports() -> None:
    text = SAVED.replace("= {", "= {{").replace("},\n", "}},\n").replace("Author = {{", "Author = {", 1)
    text = text.replace("Li, Xu}},", "Li, Xu},", 1)
    document, _ = parsed(text)
    clean, _ = parsed(SAVED)
    assert document == clean


@pytest.mark.parametrize(
    ("email", "owner"),
    [
        ("jane.doe@x.de", 0),
        ("jdoe3@x.de", 0),
        ("doejk@x.de", 0),
        ("R.Mueller@x.de", None),
        ("richard@x.de", 1),
        ("xli@x.de", 3),
        ("office@x.de", None),
        ("li@x.de", 3),
        ("vanderpoe@x.de", 2),
    ],
)
def test_finds_owners_of_emails(email: str, owner: int | None) -> None:
    authors = "Doe, Jane K. and Roe, Richard and van der Poe, Eva and Li, Xu"
    document = one(f"author = {{{authors}}}, author-email = {{{email} second@z.it}}")
    owners = [number for number, author in enumerate(document.authors) if email in author.emails]
    assert owners == ([] if owner is None else [owner])


def test_single_unclear_email_belongs_to_corresponding_author() -> None:
    fields = "author = {Doe, J. and Roe, R.}, unique-id = {WOS:1}, affiliation = {Roe, R (Reprint Author), Univ X.},"
    document = one(fields + "author-email = {office@x.de}")
    assert [author.emails for author in document.authors] == [[], ["office@x.de"]]
    assert [author.emails for author in one(fields + "author-email = {office@x.de a@b.c}").authors] == [[], []]


def test_single_address_without_names_belongs_to_all_authors() -> None:
    fields = "author = {Doe, J. and Roe, R.}, unique-id = {ISI:1}, affiliation = {Doe, J (Reprint Author), Univ X.\n"
    document = one(fields + "   Univ Y, Town.}")
    assert [author.affiliations for author in document.authors] == [["Univ X", "Univ Y, Town"], ["Univ Y, Town"]]
    document = one(fields + "   Univ Y, Town.\n   Univ Z, Town.}")
    assert [author.affiliations for author in document.authors] == [["Univ X"], []]


def test_a_reprint_address_is_not_assigned_by_a_name_of_two_authors() -> None:
    address = "Wu, Y (Corresponding Author), Univ A, Oz.\n   Wu, Yi; Roe, Ann, Univ B, Oz."
    names = "author = {Wu, Yi and Wu, Yu and Roe, Ann}, unique-id = {WOS:1}"
    authors = one(f"{names}, affiliation = {{{address}}}").authors
    assert [author.affiliations for author in authors] == [["Univ B, Oz"], [], ["Univ B, Oz"]]


@pytest.mark.parametrize("suffix", ["Jr", "Jr.", "Sr", "II", "III", "IV"])
def test_suffix_of_name_is_not_part_of_address(suffix: str) -> None:
    document = one(
        f"author = {{Kato, Carla, {suffix} and Roe, R. and Poe, Eva, {suffix}}}, unique-id = {{WOS:1}},\n"
        f"affiliation = {{Kato, Carla, {suffix}, Univ X, Town.\n   Roe, R.; Poe, Eva, {suffix}, Univ Y, Town.\n"
        f"   Poe, Eva, {suffix}; Roe, R., Univ Z.\n   Kato, C, Univ V, Town.}}"
    )
    assert [author.affiliations for author in document.authors] == [
        ["Univ X, Town", "Univ V, Town"],
        ["Univ Y, Town", "Univ Z"],
        ["Univ Y, Town", "Univ Z"],
    ]


def test_reads_cited_authors_in_latex() -> None:
    cited = r"M{\"u}ller J, 1999, X.\n   O{\'Brien} K (ed), 2000, Y.\n   'tHooft G., 2001, Z.".replace("\\n", "\n")
    document = one(f"unique-id = {{WOS:1}}, cited-references = {{{cited}}}")
    assert document.referenced_authors == ["Müller J", "'tHooft G."]


def test_joins_wrapped_addresses() -> None:
    document = one(
        "author = {Doe, Jane and Roe, Richard and Poe, E.}, unique-id = {WOS:1},\n affiliation = {Doe, Jane;\n"
        "   Roe, Richard, Univ X, St\n   Town, Land\n   Poe, E., Univ Y, Land}"
    )
    assert [author.affiliations for author in document.authors] == [["Univ X, St Town, Land"]] * 2 + [["Univ Y, Land"]]


# Files

GOOD = "@article{good,\n  author = {Doe, Jane},\n  title = {Good},\n  year = 2000\n}\n"
NEXT = "@book{next,\n  author = {Roe, R.},\n  title = {Next}\n}\n"


def test_ignores_comments_and_remarks(read: Read) -> None:
    header = "% Encoding: UTF-8\n\nThis file was made by hand.\n"
    trailer = "@Comment{jabref-meta: databaseType:bibtex;}\n@preamble{ {\\foo} }\n@comment{ x\n"
    documents, problems = read(header + GOOD + "some remark\n" + NEXT + trailer)
    assert ([document.id for document in documents], problems) == (["good", "next"], [])


@pytest.mark.parametrize("delimiters", ["{}", "()"])
def test_expands_abbreviations(read: Read, delimiters: str) -> None:
    begin, end = delimiters[0], delimiters[1]
    text = f'@string{begin}a_b = "Annals"{end}\n@STRING{begin}long = a_b # " of " # {{X}}{end}\n'
    documents, problems = read(
        text + "@article(one, journal = LONG # {, B}, title = undefined)\n@misc{two, journal=A_B, month=jan}"
    )
    assert [document.venue for document in documents] == ["Annals of X, B", "Annals"]
    assert documents[0].title == "undefined"
    assert problems == []


def test_rejects_exponentially_growing_abbreviations(read: Read) -> None:
    doubling = "".join(f"@string{{a{n + 1} = a{n} # a{n}}}\n" for n in range(60))
    documents, _ = read('@string{a0 = "ha"}\n' + doubling + "@misc{x, title = a60}\n@misc{y, title = a3}")
    assert len(documents[0].title) < 10_000
    assert documents[1].title == "ha" * 8
    in_one_line = ('@string{a0 = "ha"}\n' + doubling).replace("\n", " " * 20)
    assert read(in_one_line + "@misc{x, title = a60}")[1]


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_reads_any_line_ends(read: Read, ends: str) -> None:
    documents, problems = read((GOOD + NEXT).replace("\n", ends))
    assert ([document.title for document in documents], problems) == (["Good", "Next"], [])


def test_reads_several_entries_in_one_line(read: Read) -> None:
    documents, problems = read(" @article{a, title={X}, year={2000}} @article{b, title={Y}}@misc{c,title={Z}}")
    assert ([document.title for document in documents], problems) == (["X", "Y", "Z"], [])


def test_at_signs_in_text_do_not_start_entries(read: Read) -> None:
    text = "@article{a,\n abstract = {we\n@article is\n@home (see x, y)\n and me@article{x} },\n title = {T}\n}\n"
    documents, problems = read(text + NEXT)
    assert ([document.title for document in documents], problems) == (["T", "Next"], [])


def test_reads_unknown_types_and_repeated_keys(read: Read) -> None:
    documents, _ = read("@mytype{k,\n title = {A}}\n@mytype{k,\n title = {B}}\n@xdata{q, title = {no}}\n")
    assert [document.title for document in documents] == ["A", "B"]


DAMAGED: list[tuple[str, str]] = [
    ("@article{bad,\n title = {open {brace},\n year = 1999\n}\n", "does not end"),
    ("@article{bad,\n title = {cut of", "does not end"),
    ("@article{bad,\n title = {all},\n year", "does not end"),
    ("@article{bad,\n title = {all},\n year = {1999}\n", "does not end"),
    ("@article{bad,\n title = {one} many},\n year = {1999}\n}\n", "is not a field"),
    ("@article{bad,\n title = {early},}\n year = {1999}\n}\n", "closes the entry"),
    ('@article{bad,\n title = "never,\n year = 1999\n}\n', "does not end"),
    ("Xarticle{bad,\n title = {lost},\n}\n", "lost its|does not begin"),
    ("@article[bad,\n title = {lost},\n}\n", "lost its|does not begin"),
]


@pytest.mark.parametrize(("damaged", "reason"), DAMAGED)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_damaged_entry_does_not_affect_neighbours(read: Read, damaged: str, reason: str, place: int) -> None:
    entries = [GOOD, NEXT]
    entries.insert(place, damaged)
    documents, problems = read("\n".join(entries))
    found = {document.id: document for document in documents}
    assert (found["good"].title, found["good"].authors[0].name) == ("Good", "Doe, Jane")
    assert (found["next"].title, found["next"].authors[0].name) == ("Next", "Roe, R.")
    assert len(problems) == 1
    assert any(part in problems[0].reason for part in reason.split("|"))


def test_reads_escaped_braces_nested_quotes_and_missing_commas() -> None:
    fields = 'title = {c \\} d}\n author = {Doe, J}\n journal = "x "y" z",\n note = {a \\{ b}, doi = {10.1000/x}'
    document, notes = parsed("@article{k,\n" + fields + "\n}")
    assert (document.title, document.authors[0].name, document.venue) == ("c } d", "Doe, J", 'x "y" z')
    assert (document.ids, notes) == ({"doi": "10.1000/x"}, [])


def test_entries_are_numbered_by_line(read: Read) -> None:
    _, problems = read(GOOD + "\n@misc{cut,\n title = {\n" + NEXT)
    assert [problem.line for problem in problems] == [7]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_reads_other_encodings(read: Read, encoding: str) -> None:
    documents, _ = read("@article{k,\n author = {Müller, Jürgen}\n}\n".encode(encoding))
    assert documents[0].authors[0].name == "Müller, Jürgen"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GOOD, True),
        ("\n\n  " + SAVED, True),
        ("% made by hand\r\r@article{a,", True),
        ("This file was created with JabRef 2.10.\nEncoding: UTF8\n\n" + GOOD, True),
        ("@string(a = {b})\n", True),
        ("@anything{key,\n", True),
        ("@comment{x}\n" + GOOD, True),
        ("@article{long,\n abstract = {" + "x" * 100_000, True),
        ("# A project\n\nCite it as\n```bibtex\n" + GOOD + "```\n", False),
        ('{"bib": "\n@article{a,"}', False),
        ("<p>\n@article{a,\n</p>", False),
        ("TY  - JOUR\nAU  - Doe, J\nER  - \n", False),
        ("name,e-mail\nDoe,doe@article.org\n", False),
        ("@relation iris\n@attribute a numeric\n@data\n", False),
        ("@author Jane\n", False),
        ("", False),
    ],
)
def test_recognises_bibtex(tmp_path: Path, text: str, expected: bool) -> None:
    path = tmp_path / "any"
    path.write_bytes(text.encode())
    with Source(path) as source:
        assert FORMAT.recognises(source) is expected


PIECES = ["@article{k,", "@string{a =", "{", "}", '"', "=", ",", "#", "\\", "\n", " and ", "author", "title", "Doe, J"]
PIECES += [
    "affiliation",
    "author-email",
    "unique-id",
    "orcid-numbers",
    "/",
    "@",
    "$",
    ";",
    "(",
    ")",
    "year",
    "\\'",
    "a",
]


@settings(max_examples=examples(100))
@given(
    st.one_of(
        st.binary(max_size=200), st.lists(st.sampled_from(PIECES), max_size=60).map(lambda p: "".join(p).encode())
    )
)
def test_parsing_any_bytes_raises_only_broken_record(text: bytes) -> None:
    for record in (text, b"@article{k, " + text, b"@article{k, author={A, B}, affiliation={" + text + b"}}"):
        with contextlib.suppress(BrokenRecordError):
            FORMAT.parse(record, None)


@settings(max_examples=examples(100))
@given(st.integers(0, len(SAVED) - 1), st.integers(0, 255))
def test_flipped_byte_affects_one_entry(place: int, byte: int) -> None:
    flipped = bytearray(SAVED.encode())
    flipped[place] = byte
    titles = []
    for raw in _raws([GOOD.encode() + bytes(flipped) + NEXT.encode()]):
        try:
            found = FORMAT.parse(raw.text, None)
        except BrokenRecordError:
            continue
        titles += [found[0].title] if found else []
    assert {"Good", "Next"} <= set(titles)


def test_joins_repeated_keywords_fields() -> None:
    assert one('title = "T", keywords = "a, b", keywords = "c", keywords = {d}').keywords == ["a, b", "c", "d"]
    assert one("title = {T}, title = {U}").title == "T"


def test_joins_any_number_of_author_fields() -> None:
    names = [f"Doe, {chr(65 + number % 26)}{'x' * 200}{number}" for number in range(600)]
    assert len(one(", ".join(f"author = {{{name}}}" for name in names)).authors) == 600


def test_joins_repeated_author_fields() -> None:
    authors = one('title = "T", author = {Doe, J and Roe, R}, author = "Poe, E", author = {Moe, M}').authors
    assert [author.name for author in authors] == ["Doe, J", "Roe, R", "Poe, E", "Moe, M"]


@pytest.mark.parametrize(
    ("authors", "names"),
    [
        ("Doe, J; Roe, R", ["Doe, J", "Roe, R"]),
        ("Osnabrugge, M; Ash, E; Morelli, M", ["Osnabrugge, M", "Ash, E", "Morelli, M"]),
        ("Doe, J. & Roe, R.", ["Doe, J.", "Roe, R."]),
        ("John Smith, Jane Doe, Ann Lee", ["John Smith", "Jane Doe", "Ann Lee"]),
        ("Doe, Jane und Müller, Karl", ["Doe, Jane", "Müller, Karl"]),
        ("王伟，李娜", ["王伟", "李娜"]),
    ],
)
def test_authors_without_and_are_split_and_reported(read: Read, authors: str, names: list[str]) -> None:
    ((document,), (problem,)) = read(f"@article{{a, title={{T}}, author={{{authors}}}}}")
    assert [author.name for author in document.authors] == names
    assert [author.position for author in document.authors] == list(range(len(names)))
    assert document.other_authors == []
    assert problem.lost == "warning"
    assert f"was read as {len(names)} authors" in str(problem)
    assert "rejected" not in str(problem)


@pytest.mark.parametrize("authors", ["Ortega y Gasset, José", "Santiago Ramón y Cajal", "Berg, Karl von und zu"])
def test_surnames_with_conjunctions_are_one_author(read: Read, authors: str) -> None:
    ((document,), problems) = read(f"@article{{a, title={{T}}, author={{{authors}}}}}")
    assert [author.name for author in document.authors] == [authors]
    assert problems == []
