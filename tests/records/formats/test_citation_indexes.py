"""Semantic Scholar, Lens and Dimensions: the fields taken from JSON, layouts, and values that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from homonym.records.formats import dimensions, lens, semantic_scholar
from homonym.records.model import BrokenRecordError
from tests.support.reading import detected, documents, readings, reasons

ORCID = "0000-0002-1825-0097"

PAPER: dict[str, Any] = {
    "paperId": "649def34f8be52c8b66281af98ae884c09aef38b",
    "externalIds": {"DOI": "10.1000/ICE", "CorpusId": 7, "PubMed": "55", "PubMedCentral": "66", "ArXiv": "1706.00001"},
    "title": "On <i>ice</i>",
    "abstract": None,
    "venue": "ICE",
    "publicationVenue": {"id": "v", "name": "Journal of Ice", "type": "journal"},
    "year": 2018,
    "s2FieldsOfStudy": [{"category": "Geology", "source": "x"}, {"category": "Geology", "source": "y"}],
    "fieldsOfStudy": ["Physics"],
    "authors": [
        {"authorId": "1741101", "name": "Åse Nørgård", "externalIds": {"ORCID": ORCID, "DBLP": ["Åse Nørgård 0001"]},
         "affiliations": ["Ice Lab, Oslo"], "url": "u", "citationCount": 3},
        {"authorId": None, "name": "J. Doe"},
        {"authorId": "9", "name": None},
    ],
    "references": [
        {"paperId": "aa", "title": "Cited", "authors": [{"authorId": "3", "name": "R. Roe"}]},
        {"paperId": None},
    ],
    "citations": [{"paperId": "cc", "title": "Citing"}],
}  # fmt: skip

WORK: dict[str, Any] = {
    "lens_id": "000-001-222-333-44X",
    "title": "On ice",
    "publication_type": "journal article",
    "year_published": 2018,
    "source": {"title": "Journal of Ice", "asjc_subjects": ["Geology"]},
    "external_ids": [{"type": "doi", "value": "10.1000/ICE"}, {"type": "magid", "value": "22"},
                     {"type": "pmcid", "value": "PMC66"}, {"type": "coreid", "value": "3"}],
    "authors": [
        {"first_name": "Åse", "last_name": "Nørgård",
         "ids": [{"type": "orcid", "value": ORCID}, {"type": "magid", "value": "5"}],
         "affiliations": [{"name": "Oslo", "name_original": "Ice Lab, Oslo. ase@ice.example"}, {"name": "MIT"}]},
        {"collective_name": "The Ice Group"},
        {"last_name": "Doe", "initials": "J"},
        {"first_name": "", "last_name": ""},
    ],
    "fields_of_study": ["Ice"],
    "keywords": ["Snow"],
    "mesh_terms": [{"mesh_heading": "Ice Cover", "qualifier_name": "x"}],
    "references": [{"lens_id": "000-1"}, {}],
    "abstract": "We melt ice.",
}  # fmt: skip

PUBLICATION: dict[str, Any] = {
    "id": "pub.1001",
    "title": "On ice",
    "doi": "10.1000/ICE",
    "pmid": "55",
    "year": 2018,
    "journal": {"id": "jour.1", "title": "Journal of Ice"},
    "authors": [
        {"first_name": "Åse", "last_name": "Nørgård", "orcid": f"['{ORCID}']", "researcher_id": "ur.0670077515.38",
         "raw_affiliation": ["Ice Lab, Oslo"], "affiliations": [{"name": "University of Oslo"}]},
        {"first_name": "J", "last_name": "Doe", "orcid": [], "researcher_id": "null",
         "affiliations": [{"name": "MIT", "raw_affiliation": "MIT, USA"}, {"name": "ETH"}]},
        {"first_name": None, "last_name": None, "orcid": "[]"},
    ],
    "category_for": [{"id": "1", "name": "Geology"}],
    "concepts_scores": [{"concept": "ice", "relevance": 0.9}],
    "mesh_terms": ["Ice Cover"],
    "reference_ids": ["pub.1", "pub.2"],
}  # fmt: skip

RECORDS = {"semanticscholar": PAPER, "lens": WORK, "dimensions": PUBLICATION}
PARSERS = {
    "semanticscholar": semantic_scholar.parse_paper,
    "lens": lens.parse_work,
    "dimensions": dimensions.parse_publication,
}
AROUND = {
    "semanticscholar": {"total": 1, "data": [{"contexts": [], "citingPaper": PAPER}]},
    "lens": {"total": 1, "data": [WORK], "results": 1},
    "dimensions": {"_stats": {"total_count": 1}, "publications": [PUBLICATION]},
}


def test_reads_a_paper_of_semantic_scholar(tmp_path: Path) -> None:
    found = readings(tmp_path, json.dumps(PAPER))
    (document,) = documents(found)
    assert document.id == PAPER["paperId"]
    assert document.ids == {"s2": "7", "doi": "10.1000/ice", "pmid": "55", "pmcid": "PMC66", "arxiv": "1706.00001"}
    assert (document.title, document.year, document.venue) == ("On ice", 2018, "Journal of Ice")
    assert (document.categories, document.references) == (["Geology", "Physics"], ["aa"])
    assert document.referenced_authors == ["R. Roe"]
    first, second = document.authors
    assert first.ids == {"s2": "1741101", "orcid": ORCID, "dblp": "Åse Nørgård 0001"}
    assert (first.affiliations, second.name, second.ids) == (["Ice Lab, Oslo"], "J. Doe", {})
    assert reasons(found) == ["author 2 has no name"]


def test_reads_data_sets_of_semantic_scholar(tmp_path: Path) -> None:
    paper = {
        "corpusid": 7, "externalids": {"MAG": "22", "DOI": None, "CorpusId": "7"}, "title": "On ice", "year": 2018,
        "authors": [{"authorId": "5", "name": "加藤 智美"}], "venue": "", "journal": {"name": "Ice"},
    }  # fmt: skip
    abstract = {"corpusid": 7, "openaccessinfo": {"externalids": {"DOI": "10.1000/ICE"}}, "abstract": "We melt ice."}
    old = {
        "id": "4cd2", "title": "On ice", "paperAbstract": "We melt.", "authors": [{"name": "J. Doe", "ids": ["5"]}],
        "inCitations": ["1"], "outCitations": ["2", "3"], "year": 2018, "journalName": "Ice", "doi": "10.1000/ICE",
    }  # fmt: skip
    contents = ["\n".join([json.dumps(record)] * 2) for record in (paper, abstract, old)]
    assert [detected(tmp_path, content) for content in contents] == ["semanticscholar"] * 3
    first, second, third = (documents(readings(tmp_path, content))[0] for content in contents)
    assert (first.id, first.ids, first.venue, first.authors[0].ids) == (
        "7",
        {"s2": "7", "mag": "22"},
        "Ice",
        {"s2": "5"},
    )
    assert (second.id, second.ids, second.abstract) == ("7", {"s2": "7"}, "We melt ice.")
    assert (third.id, third.abstract, third.references, third.ids) == (
        "4cd2",
        "We melt.",
        ["2", "3"],
        {"doi": "10.1000/ice"},
    )


def test_reads_a_work_of_lens(tmp_path: Path) -> None:
    found = readings(tmp_path, json.dumps(WORK))
    (document,) = documents(found)
    assert document.ids == {"lens": document.id, "doi": "10.1000/ice", "mag": "22", "pmcid": "PMC66"}
    assert (document.title, document.year, document.venue) == ("On ice", 2018, "Journal of Ice")
    assert (document.categories, document.keywords) == (["Geology"], ["Snow", "Ice", "Ice Cover"])
    assert (document.references, document.abstract) == (["000-1"], "We melt ice.")
    assert [author.name for author in document.authors] == ["Nørgård, Åse", "Doe, J"]
    first = document.authors[0]
    assert (first.ids, first.emails) == ({"orcid": ORCID, "mag": "5"}, ["ase@ice.example"])
    assert first.affiliations == ["Ice Lab, Oslo", "MIT"]
    assert reasons(found) == ["author 3 has no name"]


def test_rejects_patents_of_lens() -> None:
    with pytest.raises(BrokenRecordError, match="patent"):
        lens.parse_work(b'{"lens_id": "1", "biblio": {}}')


def test_reads_a_publication_of_dimensions(tmp_path: Path) -> None:
    found = readings(tmp_path, json.dumps(PUBLICATION))
    (document,) = documents(found)
    assert (document.id, document.ids) == ("pub.1001", {"dimensions": "pub.1001", "doi": "10.1000/ice", "pmid": "55"})
    assert (document.title, document.year, document.venue) == ("On ice", 2018, "Journal of Ice")
    assert (document.categories, document.keywords) == (["Geology"], ["ice", "Ice Cover"])
    assert document.references == ["pub.1", "pub.2"]
    first, second = document.authors
    assert first.ids == {"orcid": ORCID, "dimensions": "ur.0670077515.38"}
    assert (first.affiliations, second.ids, second.affiliations) == (["Ice Lab, Oslo"], {}, ["MIT, USA"])
    assert reasons(found) == ["author 2 has no name"]


@pytest.mark.parametrize("layout", ["answer", "indented answer", "lines", "list", "one"])
@pytest.mark.parametrize("name", RECORDS)
def test_reads_records_in_any_layout(tmp_path: Path, name: str, layout: str) -> None:
    content = {
        "answer": json.dumps(AROUND[name]),
        "indented answer": json.dumps(AROUND[name], indent=1),
        "lines": json.dumps(RECORDS[name]) + "\n",
        "list": json.dumps([RECORDS[name]]),
        "one": json.dumps(RECORDS[name], indent=2),
    }[layout]
    assert detected(tmp_path, content) == name
    (document,) = documents(readings(tmp_path, content))
    assert document.ids["doi"] == "10.1000/ice"


def test_a_damaged_paper_does_not_turn_its_references_into_papers(tmp_path: Path) -> None:
    text = json.dumps(PAPER)
    broken = text.replace('"year": 2018', '"year": 20x18')
    content = '{"data": [' + ", ".join([text, broken, text]) + "]}"
    assert [document.title for document in documents(readings(tmp_path, content))] == ["On ice", "On ice"]


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("record", [b"[]", b"{}", b"7", b'{"id": []}', b'{"title": null}', b'{"title": "x"', b"<a/>"])
def test_rejects_other_records(name: str, record: bytes) -> None:
    with pytest.raises(BrokenRecordError):
        PARSERS[name](record)


@pytest.mark.parametrize("value", [7, [], {}, "x", [None], [[]], {"a": 7}, ["x", 5, {}], True, 1e300, [{"name": []}]])
@pytest.mark.parametrize(("name", "field"), [(name, field) for name, record in RECORDS.items() for field in record])
def test_unusable_values_cost_only_themselves(name: str, field: str, value: Any) -> None:
    document, _ = PARSERS[name](json.dumps(RECORDS[name] | {field: value}).encode())
    assert document.title or field == "title"


def test_other_files_of_semantic_scholar_are_no_papers(tmp_path: Path) -> None:
    author = {"authorid": "7", "externalids": {"ORCID": None}, "name": "J. Doe", "aliases": None, "hindex": 3}
    citation = {"citationid": 1, "citingcorpusid": 7, "citedcorpusid": 8, "isinfluential": False}
    for record in (author, citation):
        assert detected(tmp_path, "\n".join([json.dumps(record)] * 3)) is None
