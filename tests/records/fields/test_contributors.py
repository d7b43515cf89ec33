"""Entries of author lists that are not people: recognised in every format, kept in the document, reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym.commands.convert import convert
from homonym.commands.disambiguate import disambiguate
from homonym.commands.inspect import inspect
from homonym.names.parse import parse_name
from homonym.records.fields.contributors import (
    SUSPICIOUS,
    _move_contributors,
    contributor_kind,
    is_plain,
    set_apart_contributors,
)
from homonym.records.fields.people import _PLACEHOLDERS
from homonym.records.formats.documents import parse_document
from homonym.records.model import Author, Document, Note
from homonym.records.reader import read_documents
from homonym.settings import Settings

GROUPS = (
    "Planck Collaboration", "The ATLAS Collaboration", "Collaboration, LIGO Scientific", "World Health Organization",
    "Department of Health, Education and Welfare", "Food and Drug Administration",
    "Ministère de la Santé", "Ministerio de Salud", "Istituto Nazionale di Fisica", "本刊编辑部", "清华大学",
    "Alzheimer's Disease Neuroimaging Initiative", "ENCODE Project Consortium", "U.S. Geological Survey",
    "A B C I n v e s t i g a t o r s",
)  # fmt: skip
EDITORS = ("Doe, Jane (Ed.)", "Jane Doe (eds)", "Doe, Jane [editor]", "Doe, J., Ed.")
MISSING = (
    "Anonymous",
    "[Anonymous]",
    "N/A",
    "et al.",
    "No author listed",
    ":",
    "unknown",
    "The Editors",
    "Staff",
    "j@x.org",
    "Guest Editors",
    "Anonymous,",
    "Unknown, Unknown",
    "N. N.",
    "Anónimo",
    "Anonyme",
    "Unbekannt",
    "Sin autor",
    "VV.AA.",
    "Аноним",
    "佚名",
    "[作者不详]",
    "작자미상",
)
PEOPLE = (
    "Na, Na", "Nan, Nan", "易明", "Ann Onbek", "Li, Nn",
    "Doe, Jane", "Jane Doe", "Doe, Ed.", "Nguyen The Anh", "W. H. Center", "In Ho Kim", "Na, Li",
    "Duke of Wellington, Arthur",
    "Roe and Poe, Ann",
    "Garcia Lopez, MD", "García López, M.D.",
    "Doe, MD", "Rahman, Md", "Silva, Joao MS", "De Souza, MD", "Ma, Jun", "Li, Do", "Dr, Jane", "Doe J A M B C",
    "van der Berg, A.", "Groupe, Anne", "Anon, A", "Park, National", "LI Xiaoming", "王小明", "Doe, Jane (Janie)",
)  # fmt: skip
# Names with remarks, and the name, the e-mail addresses and the ORCID in each.
WITH_REMARKS = {
    "Doe, Jane1 (AUTHOR) jane.doe@x.org": ("Doe, Jane", ["jane.doe@x.org"], None),
    "Doe, Jane1, jane@x.org": ("Doe, Jane", ["jane@x.org"], None),
    "Roe, Anna B.1,2 (AUTHOR)": ("Roe, Anna B.", [], None),
    "Jane Doe <jane@x.org>": ("Jane Doe", ["jane@x.org"], None),
    "Doe, Jane (ORCID: 0000-0002-1825-0097)": ("Doe, Jane", [], "0000-0002-1825-0097"),
    "Jane Doe https://orcid.org/0000-0002-1825-0097": ("Jane Doe", [], "0000-0002-1825-0097"),
    "Pierluca D&#x27;Oro": ("Pierluca D'Oro", [], None),
    "Zden\u011bk Doe\u2079": ("Zden\u011bk Doe", [], None),
    "Doe,\x00 Ja\x07ne": ("Doe, Jane", [], None),
    "Smith, John, MD, PhD": ("Smith, John", [], None),
    "Jane Doe, M.D., M.P.H.": ("Jane Doe", [], None),
    "Ben Smith, MPH": ("Ben Smith", [], None),
    "Smith, J., Jr., MBA": ("Smith, J., Jr.", [], None),
    "Smith, John Ph. D.": ("Smith, John", [], None),
    "Univ.-Prof. Dr. med. Jane Doe": ("Jane Doe", [], None),
    "M. Sc. Jane Doe": ("Jane Doe", [], None),
    "Dipl.-Ing. Jane Doe": ("Jane Doe", [], None),
    "Doe, Prof. Dr. Jane, PhD jane@x.org": ("Doe, Jane", ["jane@x.org"], None),
}


def test_tells_people_from_groups_editors_and_missing_names() -> None:
    assert {contributor_kind(name) for name in GROUPS} == {"a group"}
    assert {contributor_kind(name) for name in EDITORS} == {"an editor"}
    assert {contributor_kind(name) for name in MISSING} == {"no name"}
    assert {contributor_kind(name) for name in (*PEOPLE, "Peter Hirsch and Dagmar Kain")} == {""}


@pytest.mark.parametrize("name", ["Garcia Lopez, MD", "García López, M.D.", "De Souza, MD", "Zur Hausen, MPH"])
def test_what_may_be_initials_stays_in_the_name(name: str) -> None:
    document = Document("a", [Author(0, name)])
    set_apart_contributors(document, [])
    assert document.authors[0].name == name


WORDS = st.sampled_from(
    [
        *GROUPS,
        *EDITORS,
        *MISSING,
        *PEOPLE,
        *WITH_REMARKS,
        *sorted(_PLACEHOLDERS),
        *"aN/.,:([)] 1²@&;\n",
        "And",
        "of",
        "the",
    ]
)


@given(st.lists(WORDS, max_size=4).map(" ".join) | st.lists(WORDS, max_size=4).map("".join))
def test_the_quick_check_misses_no_contributor(name: str) -> None:
    """The fast path of homonym's own documents looks only at names that match this expression."""
    if not is_plain(name):
        assert pc.match_substring_regex(pa.array([name]), SUSPICIOUS).to_pylist() == [True]


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_REMARKS)
def test_remarks_in_names_become_fields_on_both_paths(name: str, tmp_path: Path) -> None:
    expected = WITH_REMARKS[name]
    document, _ = parse_document(written([name]))
    (author,) = document.authors
    assert (author.name, author.emails, author.ids.get("orcid")) == expected
    (tmp_path / "a.jsonl").write_bytes(written([{"name": name}]))
    done = disambiguate(tmp_path / "a.jsonl", tmp_path / "a.parquet", Settings(kappa=7))
    assert pq.read_table(done.output)["name"].to_pylist() == [expected[0]]


def test_no_control_character_is_left_in_a_name() -> None:
    for code in (*range(0x20), 0x7F):
        document, _ = parse_document(written([f"Doe, Ja{chr(code)}ne"]))
        assert document.authors[0].name in {"Doe, Jane", "Doe, Ja ne"}, code


def test_numbers_of_dblp_and_names_of_one_word_are_no_remarks() -> None:
    assert all(map(is_plain, ("Wei Wang 0001", "User7", "Roe1, Anna", "0000-0002-1825-0097")))


def test_a_person_who_writes_for_a_group_is_kept_and_so_is_the_group() -> None:
    entries = ["Doe J, on behalf of the ABC", "Roe, Ann for the ATLAS Team", "Poe, A", "Anonymous"]
    document, notes = parse_document(written(entries))
    assert [author.name for author in document.authors] == ["Doe J", "Roe, Ann", "Poe, A"]
    assert document.other_contributors == ["ABC", "ATLAS Team", "Anonymous"]
    assert [text.split(": it")[0] for _, text in notes] == [
        "'ABC' is a group, not a person", "'ATLAS Team' is a group, not a person", "'Anonymous' is not a name",
    ]  # fmt: skip


def written(authors: list[Any]) -> bytes:
    return orjson.dumps({"id": "a", "title": "Cosmology", "year": 2015, "authors": authors}) + b"\n"


def test_contributors_leave_a_gap_and_are_read_back_without_complaint(tmp_path: Path) -> None:
    document, notes = parse_document(written(["Planck Collaboration", {"name": "Ade, P. A. R."}, "et al."]))
    assert [(author.position, author.name) for author in document.authors] == [(1, "Ade, P. A. R.")]
    assert document.other_contributors == ["Planck Collaboration", "et al."]
    assert [lost for lost, _ in notes] == ["contributor"] * 2
    (tmp_path / "in.jsonl").write_bytes(written(["Planck Collaboration", {"name": "Ade, P. A. R."}, "et al."]))
    done = convert(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    again, notes = parse_document((tmp_path / "out.jsonl").read_bytes())
    assert (again, notes) == (document, [])
    assert done.problems.counts["contributor"] == 2


def test_a_labelled_entry_is_a_person() -> None:
    entries = [{"name": "Worlds Team", "author": "x"}, {"name": "ACME Group", "ids": {"orcid": "0000-0002-1825-0097"}}]
    document, _ = parse_document(written(entries))
    assert len(document.authors) == 2


def test_a_person_after_the_colon_of_a_collaboration_stays() -> None:
    document, _ = parse_document(written(["Planck Collaboration: N. Aghanim", "Y. Akrami"]))
    assert [author.name for author in document.authors] == ["N. Aghanim", "Y. Akrami"]
    assert document.other_contributors == ["Planck Collaboration"]


FILES = {
    "a.ris": "TY  - JOUR\nTI  - Cosmology\nAU  - Collaboration, Planck\nAU  - Ade, P.\nPY  - 2015\nER  - \n",
    "a.bib": "@article{a, title={Cosmology}, author={Collaboration, Planck and Ade, P.}, year=2015}\n",
    "a.csv": 'title,year,authors\nCosmology,2015,"Collaboration, Planck; Ade, P."\n',
    "a.txt": "FN Clarivate\nVR 1.0\nPT J\nAU Collaboration, P\n   Ade, P\nAF Collaboration, Planck\n   Ade, P.\n"
    "TI Cosmology\nPY 2015\nUT WOS:000123456700001\nER\n\nEF\n",
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_sets_groups_apart(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name])
    (found,) = [reading for reading in read_documents(tmp_path / name) if reading.document]
    _, document, problems = found
    assert document is not None
    assert [author.name for author in document.authors] == ["Ade, P."]
    assert document.other_contributors == ["Collaboration, Planck"]
    assert [problem.lost for problem in problems] == ["contributor"]
    assert str(problems[0]).endswith(
        "is a group, not a person: it is listed as another contributor and not disambiguated."
    )


def as_json(record: dict[str, Any]) -> str:
    return orjson.dumps(record).decode() + "\n"


# Per format, a record of "Ade, P." with a group that the source itself marks, although its name does not show it, and
# with a word for a missing name, where the format has a place for one.
MARKED: dict[str, tuple[str, list[str]]] = {
    "pubmed": (
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID><Article><ArticleTitle>Cosmology</ArticleTitle>"
        "<AuthorList><Author><CollectiveName>IceWatch</CollectiveName></Author><Author><LastName>Ade</LastName>"
        "<ForeName>P.</ForeName></Author><Author><LastName>Anonymous</LastName></Author></AuthorList></Article>"
        "</MedlineCitation></PubmedArticle></PubmedArticleSet>",
        ["IceWatch", "Anonymous"],
    ),
    "nbib": (
        "PMID- 7\nOWN - NLM\nTI  - Cosmology\nFAU - Ade, P.\nFAU - Anonymous\nCN  - IceWatch\nSO  - X. 2015\n\n",
        ["Anonymous", "IceWatch"],
    ),
    "pubmed-text": (
        "1. Ice. 2015 May;1(1):1.\n\nCosmology.\n\nAde P(1); IceWatch.\n\nAuthor information:\n(1)Lab.\n\nPMID: 7\n",
        ["IceWatch"],
    ),
    "wos": (
        "FN Clarivate\nVR 1.0\nPT J\nAU Ade, P\n   Anonymous\nAF Ade, P.\n   Anonymous\nCA IceWatch\n   Wool Board\n"
        "TI Cosmology\nPY 2015\nUT WOS:000123456700001\nER\n\nEF\n",
        ["IceWatch", "Wool Board", "Anonymous"],
    ),
    "wos-tab": (
        "PT\tAU\tAF\tCA\tGP\tTI\tPY\tUT\nJ\tAde, P\tAde, P.\tIceWatch; Wool Board\tFelt Club\tCosmology\t2015\tWOS:1\n",
        ["IceWatch", "Wool Board", "Felt Club"],
    ),
    "crossref": (
        as_json(
            {"DOI": "10.1000/x", "reference-count": 0, "is-referenced-by-count": 0, "title": ["Cosmology"]}
            | {"author": [{"name": "IceWatch"}, {"family": "Ade", "given": "P."}, {"family": "Anonymous"}]}
        ),
        ["IceWatch", "Anonymous"],
    ),
    "datacite": (
        as_json(
            {"doi": "10.1000/x", "titles": [{"title": "Cosmology"}], "publicationYear": 2015}
            | {"creators": [{"name": "IceWatch", "nameType": "Organizational"}, "Ade, P.", {"name": "(:unav)"}]}
        ),
        ["IceWatch", "(:unav)"],
    ),
    "openalex": (
        as_json(
            {"id": "https://openalex.org/W7", "publication_year": 2015, "title": "Cosmology"}
            | {
                "authorships": [
                    {"author": {"id": f"https://openalex.org/A{number}", "display_name": name}}
                    for number, name in enumerate(["Planck Collaboration", "Ade, P.", "Unknown"], 1)
                ]
            }
        ),
        ["Planck Collaboration", "Unknown"],
    ),
    "bibtex": (
        "@article{a, title={Cosmology}, author={{Ice Watch} and Ade, P. and others}, year=2015}\n",
        ["Ice Watch", "others"],
    ),
    "jats": (
        "<article><front><journal-meta/><article-meta><title-group><article-title>Cosmology</article-title></title-group>"
        "<contrib-group><contrib contrib-type='author'><name><surname>Ade</surname><given-names>P.</given-names></name>"
        "</contrib><contrib contrib-type='author'><collab>IceWatch<contrib-group><contrib><name><surname>Doe</surname>"
        "</name></contrib></contrib-group></collab></contrib><contrib contrib-type='author'><anonymous/></contrib>"
        "<collab>Wool Board</collab></contrib-group></article-meta></front></article>",
        ["IceWatch", "Anonymous", "Wool Board"],
    ),
    "marcxml": (
        '<collection><record><controlfield tag="001">7</controlfield>'
        '<datafield tag="110" ind1="2" ind2=" "><subfield code="a">IceWatch.</subfield><subfield code="b">Unit 2,'
        '</subfield></datafield><datafield tag="245" ind1="1" ind2="0"><subfield code="a">Cosmology</subfield>'
        '</datafield><datafield tag="700" ind1="1" ind2=" "><subfield code="a">Ade, P.</subfield></datafield>'
        '<datafield tag="710" ind1="2" ind2=" "><subfield code="a">A Publisher</subfield><subfield code="4">pbl'
        "</subfield></datafield></record></collection>",
        ["IceWatch, Unit 2"],
    ),
    "mods": (
        '<mods xmlns="http://www.loc.gov/mods/v3"><titleInfo><title>Cosmology</title></titleInfo><name type="personal">'
        '<namePart type="family">Ade</namePart><namePart type="given">P.</namePart></name><name type="corporate">'
        "<namePart>IceWatch</namePart></name></mods>",
        ["IceWatch"],
    ),
    "ris": (
        "TY  - JOUR\nTI  - Cosmology\nAU  - Ice Watch,\nAU  - Ade, P.\nAU  - et al.\nPY  - 2015\nER  - \n",
        ["Ice Watch", "et al."],
    ),
    "refer": ("%0 Journal Article\n%T Cosmology\n%A Ade, P.\n%Q IceWatch\n%D 2015\n%J Ice\n", ["IceWatch"]),
    "endnote-xml": (
        "<xml><records><record><ref-type name='Journal Article'>17</ref-type><contributors><authors><author>Ice Watch,"
        "</author><author>Ade, P.</author></authors></contributors><titles><title>Cosmology</title></titles></record>"
        "</records></xml>",
        ["Ice Watch"],
    ),
    "zotero": (
        as_json(
            {"key": "ABCD2345", "itemType": "journalArticle", "title": "Cosmology", "dateAdded": "2015", "creators": [
                {"creatorType": "author", "name": "IceWatch"},
                {"creatorType": "author", "lastName": "Ade", "firstName": "P."},
                {"creatorType": "author", "lastName": "WoolBoard", "fieldMode": 1},
            ]}
        ),
        ["IceWatch", "WoolBoard"],
    ),
    "europepmc": (
        as_json(
            {"id": "7", "source": "MED", "title": "Cosmology", "authorString": "x", "pubYear": "2015", "inEPMC": "N"}
            | {"authorList": {"author": [{"collectiveName": "IceWatch"}, {"lastName": "Ade", "firstName": "P."}]}}
        ),
        ["IceWatch"],
    ),
    "lens": (
        as_json(
            {"lens_id": "000-1", "title": "Cosmology", "year_published": 2015, "scholarly_citations_count": 1}
            | {"authors": [{"collective_name": "IceWatch"}, {"last_name": "Ade", "first_name": "P."}]}
        ),
        ["IceWatch"],
    ),
    "arxiv": (
        as_json(
            {"id": "1502.00001", "title": "Cosmology", "categories": "astro-ph", "authors": "x", "versions": []}
            | {"authors_parsed": [["Collaboration", "Planck", ""], [":", "", ""], ["Ade", "P.", ""], ["et al", "", ""]]}
        ),
        ["Collaboration, Planck", ":", "et al"],
    ),
    "scopus": (
        '"Authors","Author full names","Author(s) ID","Title","Year","Source title","EID"\n'
        '"Ade P.; et al.","Ade, P. (57)","57","Cosmology","2015","Ice","2-s2.0-7"\n',
        ["et al."],
    ),
    "table": ('title,year,authors\nCosmology,2015,"Ice Group; Ade, P.; Anonymous"\n', ["Ice Group", "Anonymous"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MARKED)
def test_groups_that_a_source_marks_and_missing_names_are_kept(name: str, tmp_path: Path) -> None:
    content, expected = MARKED[name]
    (tmp_path / "records").write_text(content)
    (found,) = [reading for reading in read_documents(tmp_path / "records", name) if reading.document]
    _, document, problems = found
    assert document is not None
    assert [author.name.replace(", P.", ", P") for author in document.authors] == ["Ade, P"]
    assert document.other_contributors == expected
    assert [problem.lost for problem in problems] == ["contributor"] * len(expected)


def test_editors_in_the_place_of_authors_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.enw").write_text("%0 Edited Book\n%T On ice\n%A Doe, Jane\n%D 2015\n")
    (reading,) = read_documents(tmp_path / "a.enw")
    assert reading.document is not None
    assert (reading.document.authors, reading.document.other_contributors) == ([], ["Doe, Jane (Ed.)"])
    assert "is an editor" in reading.problems[0].reason


@pytest.mark.slow
def test_a_run_counts_and_keeps_them_also_if_it_is_strict(tmp_path: Path) -> None:
    (tmp_path / "a.ris").write_text(FILES["a.ris"])
    done = disambiguate(tmp_path / "a.ris", tmp_path / "result", Settings(kappa=7), strict=True)
    assert (done.mentions, done.problems.counts["contributor"]) == (1, 1)
    (record,) = pq.read_table(done.output / "documents.parquet")["record"].to_pylist()
    assert orjson.loads(record)["other_contributors"] == ["Collaboration, Planck"]
    assert inspect(tmp_path / "a.ris").as_dict()["other_contributors"] == 1


def test_degrees_and_titles_are_no_initials() -> None:
    written_names = ("Smith, John MD", "Smith, John, PhD", "Smith, John, MD, PhD", "Dr. John Smith", "Smith, Dr. John")
    assert {parse_name(name).full_key for name in written_names} == {"SMITH, JOHN"}
    assert parse_name("Smith Jr., J") == parse_name("Smith, J, Jr.")
    assert [parse_name(name).initials for name in ("Rahman, MD", "Smith, J MD", "Rahman, Md Abdul")] == [
        "MD",
        "JMD",
        "MA",
    ]


# One author in the notation of each format that looks for groups itself.
NOTATIONS = {
    "documents": '{{"id": "a", "title": "On x", "authors": ["{}", "Roe, R"]}}\n',
    "ris": "TY  - JOUR\nTI  - On x\nAU  - {}\nAU  - Roe, R\nER  - \n",
    "bibtex": "@article{{a, title={{On x}}, author={{{} and Roe, R}}}}\n",
    "table": 'id,title,authors\na,On x,"{}; Roe, R"\n',
    "refer": "%0 Journal Article\n%T On x\n%A {}\n%A Roe, R\n",
}


@pytest.mark.parametrize("form", NOTATIONS)
@pytest.mark.parametrize("name", [*GROUPS, *PEOPLE])
def test_formats_agree_on_what_is_a_group(form: str, name: str, tmp_path: Path) -> None:
    if form in {"bibtex", "ris", "refer"} and " and " in name:  # which separates names there
        return
    (tmp_path / "records").write_text(NOTATIONS[form].format(name))
    (document,) = [one.document for one in read_documents(tmp_path / "records", form) if one.document]
    assert bool(document.other_contributors) == (name in GROUPS)
    assert len(document.authors) == 2 - (name in GROUPS)


ENTRIES = st.sampled_from(
    ["Doe, J", "N/A", "Planck Collaboration", "WHO Office: J. Roe", "Bank of Oz", "", ":", "Doe, J (Ed.)"]
)


@given(st.lists(st.tuples(ENTRIES | st.text("ab :,", max_size=6), st.sampled_from([None, "a1"])), max_size=4))
def test_documents_of_people_only_are_left_as_they_are(entries: list[tuple[str, str | None]]) -> None:
    """The shortcut for them gives what examining each entry gives."""

    def document() -> Document:
        return Document("W1", [Author(place, name, label=label) for place, (name, label) in enumerate(entries)])

    found, wanted = document(), document()
    notes: list[Note] = []
    wanted_notes: list[Note] = []
    set_apart_contributors(found, notes)
    _move_contributors(wanted, wanted_notes)
    wanted.other_contributors = list(dict.fromkeys(wanted.other_contributors))
    assert (found, notes) == (wanted, wanted_notes)
