"""AMiner, DataCite, arXiv and S2AND: records with the peculiarities of real ones, and damaged files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.errors import InputError
from homonym.io.inputs import Source
from homonym.records.fields.contributors import set_apart_contributors
from homonym.records.formats import aminer, arxiv, datacite, s2and
from homonym.records.model import BrokenRecordError, Document, Note
from homonym.records.reader import detect_format, read_documents
from tests.support.profiles import examples


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def read(path: Path, name: str | None = None) -> tuple[list[Document], list[str]]:
    readings = list(read_documents(path, name))
    documents = [document for _, document, _ in readings if document]
    return documents, [
        problem.reason for _, _, problems in readings for problem in problems if problem.lost != "contributor"
    ]


def written(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def format_name(folder: Path, content: bytes | str, name: str = "a.json") -> str | None:
    with Source(written(folder, name, content)) as source:
        found = detect_format(source)
        return found.name if found else None


def names(document: Document) -> list[str]:
    return [author.name for author in document.authors]


# AMiner

PAPER = {
    "id": 1091,
    "authors": [
        {"name": "Jo Doe", "org": "Ice Lab, Oslo#TAB#", "id": 2312},
        {
            "name": "Ann Roe",
            "org": "#N##TAB# Snow Lab#N#; Fog Lab|Rain Lab",
            "id": "53f4",
            "orcid": "0000-0002-1825-0097",
        },
    ],
    "title": "On   ice &amp; snow",
    "year": 2013,
    "n_citation": 1,
    "page_start": "89",
    "doc_type": "Conference",
    "doi": "10.5072/ICE.1",
    "references": [2005, "53e9"],
    "indexed_abstract": {"IndexLength": 4, "InvertedIndex": {"is": [1], "Ice": [0], "author": [3], "titles": [2]}},
    "fos": [{"name": "Ice", "w": 0.5}, {"name": "Snow", "w": 0.0}],
    "venue": {"raw": "Ice Conf.", "id": 11, "type": "C"},
}


def test_a_paper_of_version_12() -> None:
    document, notes = aminer.parse_record(as_json(PAPER))
    assert (document.id, document.title, document.year) == ("1091", "On ice & snow", 2013)
    assert (document.venue, document.keywords, document.references) == ("Ice Conf.", ["Ice", "Snow"], ["2005", "53e9"])
    assert (document.abstract, document.ids) == ("Ice is titles author", {"doi": "10.5072/ice.1"})
    first, second = document.authors
    assert (first.affiliations, first.ids) == (["Ice Lab, Oslo"], {"aminer": "2312"})
    assert second.affiliations == ["Snow Lab", "Fog Lab", "Rain Lab"]
    assert second.ids == {"aminer": "53f4", "orcid": "0000-0002-1825-0097"}
    assert notes == []


def test_authors_as_names_and_keywords_in_one_text() -> None:
    document, _ = aminer.parse_record(as_json({"title": "x", "authors": ["Jo Doe", "A Roe"], "keywords": "ice; snow"}))
    assert (names(document), document.keywords) == (["Jo Doe", "A Roe"], ["ice", "snow"])


def test_entries_without_a_name_keep_their_place_in_the_list() -> None:
    record = {"title": "x", "authors": [{"name": ""}, {"name": "N/A N/A"}, {"name": "Li Wu"}, {"org": "Lab"}, None]}
    document, notes = aminer.parse_record(as_json(record))
    assert [(author.position, author.name) for author in document.authors] == [
        (0, ""),
        (1, "N/A N/A"),
        (2, "Li Wu"),
        (3, ""),
        (4, ""),
    ]
    assert notes == []  # those without a name are rejected and counted when mentions are made
    set_apart_contributors(document, notes)
    assert (names(document), document.other_contributors) == (["", "Li Wu", "", ""], ["N/A N/A"])


@pytest.mark.parametrize("record", [{"title": "x"}, {"title": "x", "authors": None}, {"title": "x", "authors": []}])
def test_a_paper_without_authors_is_a_record(record: dict[str, Any]) -> None:
    document, notes = aminer.parse_record(as_json(record))
    assert (document.authors, notes) == ([], [])


def test_email_belongs_to_the_author_named_in_it() -> None:
    both = "Ice Lab, Oslo, E-mail: jdoe@ice.no; roe@ice.no;#TAB#"
    document, _ = aminer.parse_record(
        as_json(
            {
                "title": "x",
                "authors": [
                    {"name": "Jo Doe", "org": both},
                    {"name": "Ann Roe", "org": both},
                    {"name": "Li Wu", "org": "Fog Lab (office@fog.no)"},
                    {"name": "Bo Poe", "email": "bo@poe.no"},
                ],
            }
        )
    )
    assert [author.emails for author in document.authors] == [
        ["jdoe@ice.no"],
        ["roe@ice.no"],
        ["office@fog.no"],
        ["bo@poe.no"],
    ]
    assert [author.affiliations for author in document.authors] == [["Ice Lab, Oslo"]] * 2 + [["Fog Lab"], []]


def test_shared_email_without_a_name_has_no_owner() -> None:
    authors = [{"name": name, "org": "Lab, office@ice.no"} for name in ("Jo Doe", "Ann Roe")]
    document, _ = aminer.parse_record(as_json({"title": "x", "authors": authors}))
    assert [author.emails for author in document.authors] == [[], []]


def test_email_owner_is_found_for_either_name_order() -> None:
    both = "Ice Lab (wangw@ice.no, lguo@ice.no)"
    authors = [{"name": "Wang Wei", "org": both}, {"name": "Li Guo", "org": both}]
    document, _ = aminer.parse_record(as_json({"title": "x", "authors": authors}))
    assert [author.emails for author in document.authors] == [["wangw@ice.no"], ["lguo@ice.no"]]


def test_entities_do_not_split_an_affiliation() -> None:
    record = {"title": "x", "authors": [{"name": "Jo Doe", "org": "Ice R&amp;D; Snow Lab"}]}
    document, _ = aminer.parse_record(as_json(record))
    assert document.authors[0].affiliations == ["Ice R&D", "Snow Lab"]


MONGO = """[
{
  "_id" : "53e9a",
  "title" : "On ice",
  "authors" : [ { "_id" : "53f4a", "name" : "Jo Doe", "org" : "Ice Lab", "oid" : "x" } ],
  "venue" : { "_id" : "53a7", "name_d" : "International Conference on Ice", "raw" : "ICE (3)" },
  "year" : NumberInt(2005),
  "n_citation" : NumberInt(28), "lang" : "en"
},
{
  "_id" : ObjectId("53e9b"),
  "title" : "On NumberInt(5)",
  "authors" : [ { "_id" : { "$oid" : "53f4b" }, "name" : "Ann Roe" } ],
  "year" : { "$numberInt" : "2006" },
  "n_citation" : NumberInt( 0 )
}
]"""


def test_reads_files_of_a_mongodb_shell(tmp_path: Path) -> None:
    documents, problems = read(written(tmp_path, "v13.json", MONGO))
    assert [(document.id, document.year) for document in documents] == [("53e9a", 2005), ("53e9b", 2006)]
    assert [document.authors[0].ids for document in documents] == [{"aminer": "53f4a"}, {"aminer": "53f4b"}]
    assert (documents[0].venue, problems) == ("International Conference on Ice", [])


@pytest.mark.slow
def test_reads_a_mongodb_call_cut_by_the_end_of_a_block(tmp_path: Path) -> None:
    record = '{"_id": "%07d", "title": "On ice", "year": NumberInt(2005), "n_citation": NumberInt(1)}'
    path = written(tmp_path, "v13.json", "[" + ",\n".join(record % number for number in range(20_000)) + "]")
    readings = list(read_documents(path))
    assert [document.id for _, document, _ in readings if document] == [f"{number:07d}" for number in range(20_000)]
    assert {document.year for _, document, _ in readings if document} == {2005}


def test_reads_lines_that_begin_with_commas(tmp_path: Path) -> None:
    lines = b"[\n" + b"\n,".join(as_json(PAPER | {"id": number}) for number in range(3)) + b"\n]\n"
    documents, problems = read(written(tmp_path, "dblp.v12.json", lines))
    assert ([document.id for document in documents], problems) == (["0", "1", "2"], [])


def test_year_zero_is_no_year_and_not_noted() -> None:
    document, notes = aminer.parse_record(as_json({"title": "x", "year": 0}))
    assert (document.year, notes) == (None, [])


PUBS = {
    "53e9aaaaaa": {
        "title": "On ice",
        "authors": [{"name": "Wei Wang", "org": "Ice Lab"}, {"name": "Jo Doe", "org": ""}],
    },
    "53e9bbbbbb": {"id": "53e9bbbbbb", "title": "On snow", "authors": [{"name": "Wang Wei", "org": "Snow Lab"}]},
}
LABELS = {"wei_wang": {"A1": ["53e9aaaaaa"], "A2": ["53e9bbbbbb"]}, "jo_doe": {"A3": ["53e9aaaaaa", "53e9bbbbbb"]}}


def test_reads_labelled_papers(tmp_path: Path) -> None:
    papers = written(tmp_path, "train_pub.json", as_json(PUBS))
    labels = written(tmp_path, "train_author.json", as_json(LABELS))
    documents, problems = read(papers)
    assert [document.id for document in documents] == list(PUBS)
    assert [[author.label for author in document.authors] for document in documents] == [["A1", "A3"], ["A2"]]
    assert problems == ["the label 'A3' of 'jo_doe' fits 0 authors"]
    assert read(labels) == ([], [])


def test_labels_with_places(tmp_path: Path) -> None:
    papers = written(tmp_path, "pubs_raw.json", as_json(PUBS))
    written(tmp_path, "name_to_pubs_train_500.json", as_json({"x": {"A1": ["53e9aaaaaa-1"]}}))
    written(tmp_path, "name_to_pubs_test_100.json", as_json({"y": {"A2": ["53e9bbbbbb-0"]}}))
    documents, problems = read(papers)
    assert [[author.label for author in document.authors] for document in documents] == [[None, "A1"], ["A2"]]
    assert problems == []


@pytest.mark.parametrize(("right", "wrong"), [(b'["53e9aaaaaa"]', b'["53e9aaaaaa]'), (b"}, ", b", ")])
def test_broken_label_costs_only_itself(tmp_path: Path, right: bytes, wrong: bytes) -> None:
    papers = written(tmp_path, "train_pub.json", as_json(PUBS))
    labels = {"wei_wang": {"A1": ["53e9aaaaaa"]}, "jo_doe": {"A1": ["53e9aaaaaa"]}}
    written(tmp_path, "train_author.json", as_json(labels).replace(right, wrong, 1))
    documents, problems = read(papers)
    assert [author.label for author in documents[0].authors] == [None, "A1"]
    assert len(problems) == 1


def test_papers_by_id_without_labels_and_labels_without_papers(tmp_path: Path) -> None:
    documents, problems = read(written(tmp_path, "some.json", as_json(PUBS)))
    assert ([document.id for document in documents], problems) == (list(PUBS), [])
    with pytest.raises(InputError, match="no papers"):
        read(written(tmp_path, "train_author.json", as_json(LABELS)))


OWN = {
    "id": "W1",
    "title": "On ice",
    "abstract": "Ice",
    "venue": "Ice",
    "year": 2000,
    "categories": ["a"],
    "keywords": ["b"],
    "references": ["W2"],
    "referenced_authors": ["Roe, A"],
    "other_authors": ["Poe, C"],
    "ids": {"doi": "10.5072/1"},
    "authors": [
        {
            "name": "Doe, Jo",
            "affiliations": ["Ice Lab"],
            "emails": ["jo@ice.no"],
            "ids": {"aminer": "53f4"},
            "author": "A1",
            "block": "DOE, J",
        }
    ],
}


@pytest.mark.parametrize(
    "record",
    [
        OWN,
        {"id": "W1", "authors": [{"name": "Doe, Jo"}]},
        {"id": "W1", "title": "x", "authors": ["Doe, Jo"], "year": 2000, "venue": "Ice", "references": ["W2"]},
        {"keywords": ["glaciers"], "id": "W1", "authors": [{"name": "Doe, Jo"}]},
        OWN | {"lang": "en", "volume": "1", "issue": "2", "n_citation": 3},
        {"id": "W1", "title": "x", "authors": [{"name": "Doe, Jo", "affiliations": []}], "page_start": "3"},
    ],
)
def test_own_documents_are_not_detected_as_another_format(tmp_path: Path, record: dict[str, Any]) -> None:
    assert format_name(tmp_path, as_json(record) + b"\n" + as_json(record)) == "documents"


OWN_SHAPES = {
    "a list": json.dumps([OWN, OWN | {"id": "W2"}]),
    "a list of one": json.dumps([OWN]),
    "a list, indented": json.dumps([OWN, OWN | {"id": "W2"}], indent=2),
    "a list, a document a line": "[\n" + json.dumps(OWN) + ",\n" + json.dumps(OWN | {"id": "W2"}) + "\n]",
    "one after another": json.dumps(OWN) + json.dumps(OWN | {"id": "W2"}),
    "one after another, indented": json.dumps(OWN, indent=2) + "\n" + json.dumps(OWN | {"id": "W2"}, indent=2),
    "one, indented": json.dumps(OWN, indent=2),
    "a list whose beginning is damaged": "x" + json.dumps([OWN, OWN | {"id": "W2"}])[1:],
}


@pytest.mark.parametrize("shape", OWN_SHAPES)
def test_reads_own_documents_in_any_shape(tmp_path: Path, shape: str) -> None:
    path = written(tmp_path, "own.json", OWN_SHAPES[shape])
    documents, problems = read(path)
    assert [document.id for document in documents] == ["W1", "W2"][: OWN_SHAPES[shape].count('"W2"', 0) // 2 + 1]
    assert documents[0].authors[0].affiliations == ["Ice Lab"]
    assert bool(problems) == ("damaged" in shape)
    assert format_name(tmp_path, OWN_SHAPES[shape]) == "documents"


@pytest.mark.parametrize("first", ["{", "[1, 2]", '{"id": "W0", "authors": [', "x", '{"id": 1}'])
def test_own_lines_stay_lines_whatever_the_first_is(tmp_path: Path, first: str) -> None:
    lines = "\n".join([first, json.dumps(OWN), "{", json.dumps(OWN | {"id": "W2"})])
    readings = list(read_documents(written(tmp_path, "own.jsonl", lines), "documents"))
    assert [raw.number for raw, document, _ in readings if document] == [2, 4]
    assert [problem.place.rpartition(", ")[2] for _, _, problems in readings for problem in problems] == [
        "line 1",
        "line 3",
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "name": "demo",\n  "author": {"name": "Jo Doe"},\n  "keywords": ["a"]\n}',
        '{"type": "FeatureCollection", "features": [\n{"type": "Feature", "properties": {"title": "x"}}]}',
        '{"time": "10:00", "level": "info", "message": "started"}\n{"time": "10:01", "id": 3}',
        '{"meta": {"count": 3}, "results": [], "group_by": [{"key": "article", "count": 3}]}',
        "{\n  const authors = [];\n}",
        '{"url": "x", "body": "<feed><entry><id>http://arxiv.org/abs/1706.00001v1</id></entry></feed>"}',
        '{"body": "<PubmedArticleSet><PubmedArticle><PMID>7</PMID></PubmedArticle></PubmedArticleSet>"}',
    ],
)
def test_other_json_has_no_format(tmp_path: Path, text: str) -> None:
    with Source(written(tmp_path, "other.json", text)) as source:
        assert detect_format(source) is None


def test_file_of_people_has_no_format(tmp_path: Path) -> None:
    person = {"id": "53f4", "name": "Jo Doe", "org": "Ice Lab", "n_pubs": 7, "n_citation": 9}
    with Source(written(tmp_path, "aminer_authors.txt", as_json(person))) as source:
        assert not aminer.FORMAT.recognises(source)


# DataCite


def creator(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "nameType": "Personal", "affiliation": [], "nameIdentifiers": []} | more


DATASET = {
    "id": "10.5072/ICE.2",
    "type": "dois",
    "attributes": {
        "doi": "10.5072/ICE.2",
        "creators": [
            creator("Doe, Jo", familyName="Doe", givenName="Jo", affiliation=["Ice Lab, Oslo."]),
            creator(
                "Roe, Ann",
                affiliation=[{"name": "Snow Lab", "affiliationIdentifier": "https://ror.org/1"}],
                nameIdentifiers=[
                    {"nameIdentifier": "https://orcid.org/0000-0002-1825-0097", "nameIdentifierScheme": "ORCID"},
                    {"nameIdentifier": "0000 0001 2345", "nameIdentifierScheme": "ISNI"},
                ],
            ),
            creator("The Ice Lab", nameType="Organizational"),
            creator(
                "Poe, C.", nameType=None, nameIdentifiers=[{"nameIdentifier": "https://orcid.org/0000-0002-1825-0098"}]
            ),
        ],
        "titles": [
            {"title": "Glace", "titleType": "TranslatedTitle"},
            {"title": "\n      On CO\n      <sub>2</sub>\n  "},
        ],
        "publisher": "(:unav)",
        "container": {"type": "Journal", "title": "Journal of Ice"},
        "publicationYear": "2016",
        "subjects": [{"subject": "ice"}, {"subject": "FOS: Physical sciences"}, {"subject": "ice"}],
        "contributors": [creator("Ghost, Guy")],
        "descriptions": [
            {"description": "Methods", "descriptionType": "Methods"},
            {"description": "All about <b>ice</b>", "descriptionType": "Abstract"},
        ],
        "relatedIdentifiers": [
            {"relationType": "References", "relatedIdentifier": "10.5072/A", "relatedIdentifierType": "DOI"},
            {"relationType": "Cites", "relatedIdentifier": "https://doi.org/10.5072/B", "relatedIdentifierType": "DOI"},
            {"relationType": "IsPartOf", "relatedIdentifier": "10.5072/C", "relatedIdentifierType": "DOI"},
            {"relationType": "References", "relatedIdentifier": "2169897X", "relatedIdentifierType": "ISSN"},
        ],
    },
    "relationships": {"client": {"data": {"id": "ice.lab", "type": "clients"}}},
}


def dataset(record: dict[str, Any]) -> tuple[Document, list[Note]]:
    parsed = datacite.parse_record(as_json(record))
    assert parsed is not None
    return parsed


def test_datacite_record() -> None:
    document, notes = dataset(DATASET)
    assert (document.id, document.ids, document.year) == ("10.5072/ice.2", {"doi": "10.5072/ice.2"}, 2016)
    assert (document.title, document.venue, document.abstract) == ("On CO 2", "Journal of Ice", "All about ice")
    assert (document.keywords, document.categories) == (["ice"], ["Physical sciences"])
    assert document.references == ["10.5072/a", "10.5072/b"]
    assert [(a.position, a.name) for a in document.authors] == [(0, "Doe, Jo"), (1, "Roe, Ann"), (3, "Poe, C.")]
    assert [author.affiliations for author in document.authors] == [["Ice Lab, Oslo"], ["Snow Lab"], []]
    assert [author.ids for author in document.authors] == [{}, {"orcid": "0000-0002-1825-0097"}, {}]
    assert notes == [
        ("contributor", "The Ice Lab"),
        ("field", "'https://orcid.org/0000-0002-1825-0098' is not a valid ORCID"),
    ]


def test_organisations_are_detected_by_identifiers_and_unknown_names_are_noted() -> None:
    ror = [{"nameIdentifier": "https://ror.org/1", "nameIdentifierScheme": "ROR"}]
    creators = [
        creator("Ice Lab", nameType=None, nameIdentifiers=ror),
        {"type": "Organization", "name": "Snow Lab"},
        creator("(:unav)"),
        creator("Anonymous"),
        "Doe, Jo",
    ]
    document, notes = dataset({"doi": "10.5072/1", "creators": creators, "titles": ["On ice"]})
    set_apart_contributors(document, notes)
    assert (names(document), document.title) == (["Doe, Jo"], "On ice")
    assert document.other_contributors == ["Ice Lab", "Snow Lab", "(:unav)", "Anonymous"]
    assert [lost for lost, _ in notes] == ["contributor"] * 4


def test_datacite_fallback_venue_and_year() -> None:
    record = {"doi": "10.48550/arXiv.2101.00001", "creators": [], "publisher": {"name": "arXiv"}}
    document, _ = dataset(record | {"dates": [{"date": "2021-01-01", "dateType": "Issued"}]})
    assert (document.venue, document.year) == ("arXiv", 2021)


@pytest.mark.parametrize(
    "content",
    [
        as_json({"data": [DATASET, DATASET], "included": [{"id": "x", "type": "clients"}], "meta": {"total": 2}}),
        as_json(DATASET) + b"\n" + as_json(DATASET) + b"\n",
        as_json({"data": DATASET}) + b"\n" + as_json({"data": DATASET}),
        json.dumps([DATASET, DATASET], indent=2).encode(),
        as_json(DATASET["attributes"]) + b"\n" + as_json(DATASET["attributes"]),
    ],
)
def test_reads_datacite_pages_lines_and_single_records(tmp_path: Path, content: bytes) -> None:
    path = written(tmp_path, "page.json", content)
    documents, problems = read(path)
    assert [document.id for document in documents] == ["10.5072/ice.2"] * 2
    assert problems == ["'https://orcid.org/0000-0002-1825-0098' is not a valid ORCID"] * 2
    assert format_name(tmp_path, content) == "datacite"


def test_datacite_rejects_what_is_not_a_record() -> None:
    assert datacite.parse_record(b'{"id": "ice.lab", "type": "clients", "attributes": {"name": "Ice Lab"}}') is None
    with pytest.raises(BrokenRecordError, match="not a DataCite record"):
        datacite.parse_record(b'{"id": 1}')


# arXiv

PREPRINT = {
    "id": "0704.9999",
    "submitter": "Jo Doe",
    "authors": "J. D\\'oe (1 and 2), Ann {\\O}stby II (1) and The ICE Collaboration ((1) Ice Lab,\nOslo, (2) Snow Lab)",
    "title": 'On $x_2$ and\n  Gr\\"obner bases',
    "journal-ref": "J.Ice D76:013009,2009",
    "doi": "10.5072/ICE.3 10.5072/ICE.4",
    "categories": "hep-ph cs.AI",
    "abstract": "  A paper\nabout ice.\n",
    "versions": [
        {"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"},
        {"version": "v2", "created": "Tue, 24 Jul 2008 20:10:27 GMT"},
    ],
    "update_date": "2009-11-26",
    "authors_parsed": [
        ["Dóe", "J.", "", "1 and 2"],
        ["Østby", "Ann", "II", "1"],
        ["The ICE Collaboration", "", ""],
        ["Poe", "C.", "", "Fog Lab, Bergen"],
    ],
}


def test_arxiv_snapshot_paper() -> None:
    document, notes = arxiv.parse_record(as_json(PREPRINT))
    assert (document.id, document.ids) == ("0704.9999", {"arxiv": "0704.9999", "doi": "10.5072/ice.3"})
    assert (document.title, document.abstract, document.year) == ("On x2 and Gröbner bases", "A paper about ice.", 2007)
    assert (document.categories, document.venue) == (["hep-ph", "cs.AI"], "J.Ice D76:013009,2009")
    assert names(document) == ["Dóe, J.", "Østby, Ann, II", "The ICE Collaboration", "Poe, C."]
    places = [["Ice Lab, Oslo", "Snow Lab"], ["Ice Lab, Oslo"], [], ["Fog Lab, Bergen"]]
    assert [author.affiliations for author in document.authors] == places
    assert notes == []


def test_arxiv_authors_from_the_text_if_none_are_parsed() -> None:
    document, _ = arxiv.parse_record(as_json({key: PREPRINT[key] for key in ("id", "authors", "title")}))
    assert names(document) == ["J. Dóe", "Ann Østby II", "The ICE Collaboration"]
    assert document.authors[0].affiliations == ["Ice Lab, Oslo", "Snow Lab"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A. Doe, B. Roe, Jr., and C. Poe", ["A. Doe", "B. Roe, Jr.", "C. Poe"]),
        ("The ICE Collaboration: A. Doe, et al.", ["The ICE Collaboration", "A. Doe", "et al."]),
        ("A. Doe (for the ICE Collaboration)", ["A. Doe"]),
        ("A. Doe\n  and B. Alexander & C. Sand", ["A. Doe", "B. Alexander", "C. Sand"]),
        ("A. Doe (Ice Lab (Oslo", ["A. Doe"]),
        ("A.~Doe and B. {van den Roe}", ["A. Doe", "B. van den Roe"]),
        ("", []),
    ],
)
def test_names_in_one_text(text: str, expected: list[str]) -> None:
    document, notes = arxiv.parse_record(as_json({"id": "0704.0001", "authors": text}))
    assert (names(document), notes) == (expected, [])


@pytest.mark.parametrize(
    ("record", "number", "year"),
    [
        ({"id": "hep-th/9901001v3"}, "hep-th/9901001", 1999),
        ({"id": "http://arxiv.org/abs/2101.00001v2", "published": "2020-12-31T00:00:00Z"}, "2101.00001", 2020),
        ({"entry_id": "https://arxiv.org/pdf/math.GT/0309136.pdf"}, "math.GT/0309136", 2003),
        ({"id": "x", "update_date": "2009-11-26"}, "x", 2009),
        ({"id": "0704.0001", "versions": [{"created": "2007-04-02"}]}, "0704.0001", 2007),
    ],
)
def test_arxiv_numbers_and_years(record: dict[str, Any], number: str, year: int) -> None:
    document, _ = arxiv.parse_record(as_json(record | {"authors": []}))
    assert (document.id, document.year) == (number, year)


def test_reads_papers_of_the_arxiv_api(tmp_path: Path) -> None:
    paper = {
        "id": "http://arxiv.org/abs/2101.00001v2",
        "title": "On ice",
        "summary": "About {\\it ice}",
        "authors": [{"name": "Jo Doe", "affiliation": "Ice Lab"}, {"name": "Ann Roe"}, {"name": ""}],
        "categories": ["math.AC", {"term": "cs.SC"}],
        "published": "2021-01-01T00:00:00Z",
    }
    documents, problems = read(written(tmp_path, "papers.json", as_json([paper, paper | {"authors": ["Jo Doe"]}])))
    assert [names(document) for document in documents] == [["Jo Doe", "Ann Roe"], ["Jo Doe"]]
    assert (documents[0].abstract, documents[0].categories) == ("About ice", ["math.AC", "cs.SC"])
    assert (documents[0].authors[0].affiliations, problems) == (["Ice Lab"], ["author 2 has no name"])


def test_reads_unarxive_papers() -> None:
    own = {name: value for name, value in PREPRINT.items() if name != "abstract"}
    for metadata, abstract in (own, "Of ice."), (own | {"abstract": "Of snow."}, "Of snow."):
        paper = {"paper_id": "0704.0001", "metadata": metadata, "abstract": {"section": "Abstract", "text": "Of ice."}}
        assert arxiv.parse_record(as_json(paper))[0].abstract == abstract


def test_arxiv_name_parts_that_are_missing_or_not_texts() -> None:
    parsed = [[None, "Jo", ""], ["Doe", None, None], [7, "Jo", ""], [], ["et al", "", ""], ["Poe", "C."]]
    document, notes = arxiv.parse_record(as_json(PREPRINT | {"authors_parsed": parsed}))
    set_apart_contributors(document, notes)
    assert [(author.position, author.name) for author in document.authors] == [(0, "Jo"), (1, "Doe"), (5, "Poe, C.")]
    assert [lost for lost, _ in notes] == ["author"] * 2 + ["contributor"]


def test_arxiv_abstracts_keep_formulas_but_not_latex_accents() -> None:
    formulas = as_json(PREPRINT | {"abstract": "  On $\\Lambda_{\\alpha}$\n and more \n"})
    assert arxiv.parse_record(formulas)[0].abstract == "On $\\Lambda_{\\alpha}$ and more"
    accents = as_json(PREPRINT | {"abstract": 'The Schr\\"odinger equation'})
    assert arxiv.parse_record(accents)[0].abstract == "The Schrödinger equation"


# S2AND


def signature(number: str, paper: int, place: int | None, **more: Any) -> dict[str, Any]:
    info = {
        "first": "Jo",
        "middle": None,
        "last": "Doe",
        "suffix": None,
        "position": place,
        "block": "j doe",
        "email": None,
    }
    info |= {"affiliations": ["Ice Lab"], "estimated_gender": "F"} | more.pop("info", {})
    return {"author_info": info, "signature_id": number, "paper_id": paper} | more


def paper(number: int, *authors: str) -> dict[str, Any]:
    return {
        "paper_id": number,
        "title": "On ice",
        "abstract": None,
        "journal_name": None,
        "venue": "ICE",
        "year": 2000 + number,
        "fields_of_study": ["Ice"],
        "authors": [{"position": place, "author_name": name} for place, name in reversed(list(enumerate(authors)))],
        "references": [2, 2, "3"],
    }


PAPERS = {"1": paper(1, "Jo Doe", "A Roe", "C Poe"), "2": paper(2, "A Roe", "Jo Doe"), "3": paper(3, "C Poe")}
SIGNATURES = {
    "s0": signature("s0", 1, 0, info={"middle": "W.", "suffix": "Jr", "email": "jo@ice.no"}),
    "s1": signature("s1", 2, 1, sourced_author_source="ORCID", sourced_author_ids=["0000-0002-1825-0097"]),
    "s2": signature("s2", 1, 0, sourced_author_source="ORCID", sourced_author_ids=["1"]),
    "s3": signature("s3", 1, 0, sourced_author_source="Extracted", sourced_author_ids=["J Doe"]),
    "s4": signature("s4", 1, 2, info={"first": None, "last": None}),
}
CLUSTERS = {
    "c1": {"cluster_id": "c1", "signature_ids": ["s0", "s1"], "model_version": -1},
    "c2": {"cluster_id": "c2", "signature_ids": ["s2"], "model_version": -1},
}


def data_set(folder: Path, prefix: str = "", **files: Any) -> Path:
    for kind, content in ({"papers": PAPERS, "signatures": SIGNATURES, "clusters": CLUSTERS} | files).items():
        if content is not None:
            written(folder, f"{prefix}{kind}.json", as_json(content))
    return folder / f"{prefix}papers.json"


@pytest.mark.parametrize("prefix", ["", "pubmed_"])
def test_s2and_data_set(tmp_path: Path, prefix: str) -> None:
    documents, problems = read(data_set(tmp_path, prefix))
    first, second, third = documents
    assert [document.id for document in documents] == ["1", "2", "3"]
    assert [(author.position, author.name, author.label) for author in first.authors] == [
        (0, "Doe, Jo W., Jr", "c1"),
        (1, "Doe, Jo", "c2"),
        (2, "Doe, Jo", None),
        (3, "C Poe", None),  # no name in the signature: that of the author list
    ]
    assert (first.other_authors, second.other_authors, third.other_authors) == (["A Roe"], ["A Roe"], ["C Poe"])
    assert [(author.position, author.label, author.ids) for author in second.authors] == [
        (0, "c1", {"orcid": "0000-0002-1825-0097"})
    ]
    assert (first.authors[0].emails, first.authors[0].block) == (["jo@ice.no"], "j doe")
    assert (first.authors[0].affiliations, first.venue, first.categories) == (["Ice Lab"], "ICE", ["Ice"])
    assert (first.references, first.year, third.authors) == (["2", "3"], 2001, [])
    assert problems == ["'1' is not a valid ORCID"]


def test_s2and_papers_without_signatures(tmp_path: Path) -> None:
    documents, problems = read(data_set(tmp_path, signatures=None, clusters=None))
    assert names(documents[0]) == ["Jo Doe", "A Roe", "C Poe"]
    assert ([author.position for author in documents[0].authors], problems) == ([0, 1, 2], [])


def test_other_files_of_a_data_set_have_no_records(tmp_path: Path) -> None:
    data_set(tmp_path, cluster_seeds={"s0": {"s1": "disallow"}, "s1": {"s2": "require"}})
    written(tmp_path, "empty_cluster_seeds.json", "{}")
    for name in ("signatures.json", "clusters.json", "cluster_seeds.json", "empty_cluster_seeds.json"):
        with Source(tmp_path / name) as source:
            assert (name, detect_format(source)) == (name, s2and.FORMAT)
        assert read(tmp_path / name) == ([], [])


@pytest.mark.parametrize("name", ["signatures.json", "clusters.json"])
def test_signatures_without_papers_are_an_error(tmp_path: Path, name: str) -> None:
    data_set(tmp_path).unlink()
    with pytest.raises(InputError, match="no papers in its folder"):
        read(tmp_path / name)


def test_finds_compressed_signatures(tmp_path: Path) -> None:
    path = data_set(tmp_path, signatures=None, clusters=None)
    (tmp_path / "signatures.json.gz").write_bytes(gzip.compress(as_json(SIGNATURES)))
    documents, _ = read(path)
    assert [len(document.authors) for document in documents] == [4, 1, 0]


def test_reports_what_cannot_be_joined(tmp_path: Path) -> None:
    more = SIGNATURES | {"s9": signature("s9", 99, 0), "s8": {"signature_id": "s8"}}
    documents, problems = read(data_set(tmp_path, signatures=more, clusters={"c": {"cluster_id": "c"}} | CLUSTERS))
    assert [len(document.authors) for document in documents] == [4, 1, 0]
    assert problems == [
        "clusters.json, record 1: no list 'signature_ids'",
        "signatures.json, record 7: no 'paper_id' or 'author_info'",
        "'1' is not a valid ORCID",
        "signatures on the paper '99', which is not among the papers",
    ]


def test_broken_signature_costs_only_itself(tmp_path: Path) -> None:
    path = data_set(tmp_path)
    text = (tmp_path / "signatures.json").read_bytes()
    (tmp_path / "signatures.json").write_bytes(text.replace(b'"signature_id": "s1"', b'"signature_id": s1', 1))
    documents, problems = read(path)
    assert [len(document.authors) for document in documents] == [4, 0, 0]
    assert [reason for reason in problems if reason.startswith("signatures.json")]


@pytest.mark.parametrize(("right", "wrong"), [(b'"s0", "s1"]', b'"s0", s1]'), (b"-1}, ", b"-1, ")])
def test_broken_cluster_costs_only_itself(tmp_path: Path, right: bytes, wrong: bytes) -> None:
    path = data_set(tmp_path)
    text = (tmp_path / "clusters.json").read_bytes()
    assert right in text
    (tmp_path / "clusters.json").write_bytes(text.replace(right, wrong, 1))
    documents, problems = read(path)
    assert [author.label for author in documents[0].authors] == [None, "c2", None, None]
    assert len([reason for reason in problems if reason.startswith("clusters.json")]) == 1


# All of them

FORMATS = {"aminer": aminer, "datacite": datacite, "arxiv": arxiv, "s2and": s2and}
RECORDS = {"aminer": PAPER, "datacite": DATASET, "arxiv": PREPRINT}


@pytest.mark.parametrize("name", RECORDS)
def test_detects_each_format(tmp_path: Path, name: str) -> None:
    text = as_json(RECORDS[name])
    lines = text + b"\n" + text
    shapes = [
        lines,
        b"\n\n" + lines,
        lines.replace(b"\n", b"\r\n"),
        b"[" + text + b", " + text + b"]",
        b"[\n" + text + b"\n]",
    ]
    assert [format_name(tmp_path, shape) for shape in shapes] == [name] * len(shapes)
    spoiled = bytes([text[0] ^ 1]) + text[1:] + b"\n" + text
    assert format_name(tmp_path, spoiled) == name


@pytest.mark.parametrize("name", RECORDS)
def test_damaged_line_costs_only_itself(tmp_path: Path, name: str) -> None:
    text = as_json(RECORDS[name])
    lines = [text, text[: len(text) // 2], text, text[:9] + b"\x00" + text[10:], text]
    documents, problems = read(written(tmp_path, "a.json", b"\n".join(lines)), name)
    assert len(documents) >= 3
    assert len(documents) + sum("JSON" in reason or "cut" in reason for reason in problems) >= 5


@pytest.mark.parametrize("name", RECORDS)
def test_reports_a_truncated_file(tmp_path: Path, name: str) -> None:
    text = b"[" + b",".join([as_json(RECORDS[name])] * 3)
    documents, problems = read(written(tmp_path, "a.json", text[: -len(text) // 6]), name)
    assert len(documents) == 2
    assert [reason for reason in problems if "orcid" not in reason]


@pytest.mark.parametrize("name", RECORDS)
def test_reads_another_encoding(tmp_path: Path, name: str) -> None:
    record = json.dumps(RECORDS[name], ensure_ascii=False).replace("On ", "Über ")
    documents, _ = read(written(tmp_path, "a.json", (record + "\n" + record).encode("latin-1")), name)
    assert [document.title[:4] for document in documents] == ["Über", "Über"]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("text", [b"", b"[]", b"null", b"7", b"{}", b'{"paper": 7}', b"\xff\xfe", b'{"data": [}'])
def test_rejects_what_is_not_a_record(name: str, text: bytes) -> None:
    with pytest.raises(BrokenRecordError):
        FORMATS[name].FORMAT.parse(text, None)


ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10**20) | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def changed(value: Any, data: st.DataObject) -> Any:
    """A value with odd things in some places."""
    if data.draw(st.integers(0, 9)) == 0:
        return data.draw(ODD)
    if isinstance(value, dict):
        return {key: changed(inner, data) for key, inner in value.items()}
    return [changed(inner, data) for inner in value] if isinstance(value, list) else value


SIGNED = {"paper": PAPERS["1"], "signatures": list(SIGNATURES.values())}


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=examples(50))
@given(data=st.data())
def test_parsing_raises_only_broken_record_errors(name: str, data: st.DataObject) -> None:
    text = as_json(changed((RECORDS | {"s2and": SIGNED})[name], data))
    if data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(text)))
        text = text[:place] + data.draw(st.binary(max_size=3)) + text[place + data.draw(st.integers(0, 3)) :]
    try:
        parsed = FORMATS[name].FORMAT.parse(text, None)
    except BrokenRecordError:
        return
    if parsed is not None:
        document, _ = parsed
        assert all(isinstance(author.name, str) for author in document.authors)
        assert all(author.name for author in document.authors) or name == "aminer"
        places = [author.position for author in document.authors]
        assert places == sorted(set(places))


# One list with a nameless first author, in the notation of several formats.
NAMELESS = {
    "arxiv": '{"id": "2101.00001", "title": "On ice", "authors_parsed": [["", "", ""], ["Doe", "Jo", ""]]}',
    "crossref": '{"DOI": "10.1000/x", "title": ["On ice"], '
    '"author": [{"given": ""}, {"family": "Doe", "given": "Jo"}]}',
    "openalex": '{"id": "https://openalex.org/W1", "title": "On ice", "authorships": [{"author": {}}, '
    '{"author": {"display_name": "Jo Doe"}}]}',
    "documents": '{"id": "a", "title": "On ice", "authors": [{}, {"name": "Doe, Jo"}]}',
    "table": '{"id": "a", "title": "On ice", "authors": [{"name": ""}, {"name": "Doe, Jo"}]}',
}


@pytest.mark.parametrize("form", NAMELESS)
def test_a_nameless_author_does_not_move_the_others(form: str, tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    path.write_text(NAMELESS[form] + "\n")
    if form == "table":
        path = tmp_path / "t.csv"
        cell = '[{"name": ""}, {"name": "Doe, Jo"}]'.replace('"', '""')
        path.write_text(f'id,title,authors\na,On ice,"{cell}"\n')
    (document,) = [one.document for one in read_documents(path, form) if one.document]
    assert [author.position for author in document.authors if author.name] == [1]
