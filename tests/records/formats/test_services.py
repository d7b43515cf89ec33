"""Answers of web services: each layout finds the fields of a record in an answer as the service gives it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from homonym.commands.inspect import inspect
from homonym.errors import InputError
from homonym.io.inputs import Source
from homonym.records.formats.services import layouts, parse_answer, values_at
from homonym.records.model import BrokenRecordError, Document
from homonym.records.reader import format_of, read_documents

ORCID = "0000-0002-1825-0097"
DOI = "10.1000/ice"

ANSWERS: dict[str, Any] = {
    "inspire": {"hits": {"hits": [{"id": "7", "metadata": {
        "control_number": 7, "document_type": ["article"], "titles": [{"title": "On ice"}],
        "authors": [{"full_name": "Doe, Jane", "ids": [{"schema": "ORCID", "value": ORCID}],
                     "affiliations": [{"value": "Oslo U."}], "raw_affiliations": [{"value": "Ice Lab"}]},
                    {"full_name": "Roe, R."}],
        "collaborations": [{"value": "ICE"}], "dois": [{"value": DOI}], "preprint_date": "2014-03",
        "publication_info": [{"journal_title": "J Ice"}],
    }}]}},
    "doaj": {"results": [{"id": "7", "last_updated": "2020", "bibjson": {
        "identifier": [{"id": "1", "type": "eissn"}, {"id": DOI, "type": "doi"}], "journal": {"title": "J Ice"},
        "year": "2014", "title": "On ice",
        "author": [{"orcid_id": ORCID, "name": "Jane Doe", "affiliation": "Ice Lab"}, {"name": "R. Roe"}],
    }}]},
    "core": {"results": [{"id": 7, "doi": DOI, "title": "On ice", "yearPublished": 2014, "arxivId": None,
                          "authors": [{"name": "Doe, Jane"}, {"name": "Roe, R."}], "journals": [{"title": "J Ice"}]}]},
    "base": {"response": {"docs": [{"dcdocid": "7", "dctitle": "On ice", "dccreator": ["Doe, Jane", "Roe, R."],
                                    "dcyear": "2014", "dcdoi": [DOI], "dcsource": "J Ice"}]}},
    "unpaywall": {"doi": DOI, "doi_url": f"https://doi.org/{DOI}", "title": "On ice", "year": 2014, "genre": "x",
                  "journal_name": "J Ice", "z_authors": [
                      {"raw_author_name": "Jane Doe", "raw_affiliation_strings": ["Ice Lab"]},
                      {"given": "R.", "family": "Roe"}]},
    "ieee": {"total_records": 1, "articles": [{
        "doi": DOI, "title": "On ice", "article_number": "7", "publication_title": "J Ice", "publication_year": 2014,
        "authors": {"authors": [{"full_name": "Jane Doe", "affiliation": "Ice Lab"}, {"full_name": "R. Roe"}]}}]},
    "springer": {"records": [{
        "identifier": f"doi:{DOI}", "title": "On ice", "publicationName": "J Ice", "publicationDate": "2014-03-01",
        "doi": DOI, "creators": [{"creator": "Doe, Jane", "ORCID": ORCID}, {"creator": "Roe, R."}]}]},
    "scopus-api": {"search-results": {"entry": [{
        "dc:identifier": "SCOPUS_ID:85", "eid": "2-s2.0-85", "dc:title": "On ice", "prism:publicationName": "J Ice",
        "prism:coverDate": "2014-03-01", "prism:doi": DOI,
        "author": [{"authid": "57", "surname": "Doe", "given-name": "Jane", "afid": [{"$": "60"}]},
                   {"authid": "58", "authname": "Roe R."}],
        "affiliation": [{"afid": "60", "affilname": "Ice Lab"}]}]}},
    "wos-starter": {"hits": [{
        "uid": "WOS:0007", "title": "On ice", "source": {"sourceTitle": "J Ice", "publishYear": 2014},
        "names": {"authors": [{"displayName": "Doe, Jane", "wosStandard": "Doe, J", "researcherId": "A-1000-2010"},
                              {"displayName": "Roe, R"}]}, "identifiers": {"doi": DOI}}]},
    "wos-expanded": {"Data": {"Records": {"records": {"REC": [{
        "UID": "WOS:0007",
        "static_data": {
            "summary": {
                "names": {"name": [
                    {"role": "author", "full_name": "Doe, Jane", "addr_no": "1 2", "orcid_id": ORCID},
                    {"role": "author", "full_name": "Roe, R", "addr_no": 2},
                    {"role": "book_editor", "full_name": "Poe, E"}]},
                "titles": {"title": [{"type": "source", "content": "J Ice"}, {"type": "item", "content": "On ice"}]},
                "pub_info": {"pubyear": 2014}},
            "fullrecord_metadata": {"addresses": {"address_name": [
                {"address_spec": {"addr_no": 1, "full_address": "Ice Lab"}},
                {"address_spec": {"addr_no": 2, "full_address": "Snow Lab"}}]}}},
        "dynamic_data": {"cluster_related": {"identifiers": {"identifier": [{"type": "doi", "value": DOI}]}}},
    }]}}}},
    "plos": {"response": {"docs": [{
        "id": DOI, "title_display": "On ice", "author_display": ["Jane Doe", "R. Roe"], "journal": "J Ice",
        "publication_date": "2014-03-01T00:00:00Z"}]}},
    "pubmed-summary": {"result": {"uids": ["7"], "7": {
        "uid": "7", "pubdate": "2014 Mar", "title": "On ice", "fulljournalname": "J Ice",
        "authors": [{"name": "Doe J", "authtype": "Author"}, {"name": "Ice Watch", "authtype": "CollectiveName"},
                    {"name": "Roe R", "authtype": "Author"}],
        "articleids": [{"idtype": "doi", "value": DOI}]}}},
    "zenodo": {"hits": {"hits": [{"id": 7, "conceptrecid": "6", "doi": DOI, "metadata": {
        "title": "On ice", "publication_date": "2014-03-01", "journal": {"title": "J Ice"},
        "creators": [{"name": "Doe, Jane", "affiliation": "Ice Lab", "orcid": ORCID}, {"name": "Roe, R."}]}}]}},
    "invenio": {"hits": {"hits": [{"id": "7", "pids": {"doi": {"identifier": DOI}}, "metadata": {
        "title": "On ice", "publication_date": "2014", "publisher": "J Ice", "creators": [
            {"person_or_org": {"type": "personal", "name": "Doe, Jane", "identifiers": [
                {"scheme": "orcid", "identifier": ORCID}]}, "affiliations": [{"name": "Ice Lab"}]},
            {"person_or_org": {"type": "organizational", "name": "ICE"}},
            {"person_or_org": {"type": "personal", "name": "Roe, R."}}]}}]}},
    "scholarly": [{"container_type": "Publication", "filled": True, "bib": {
        "title": "On ice", "author": "Jane Doe and R. Roe", "pub_year": "2014", "journal": "J Ice"}}],
    "openaire": {"id": "7", "maintitle": "On ice", "publicationdate": "2014-03-01", "container": {"name": "J Ice"},
                 "author": [{"fullname": "Doe, Jane", "name": "Jane", "surname": "Doe", "pid": {
                     "id": {"scheme": "orcid", "value": ORCID}}}, {"fullname": "Roe, R."}],
                 "pid": [{"scheme": "doi", "value": DOI}]},
    "openaire-graph": {"results": [{
        "id": "7", "mainTitle": "On ice", "publicationDate": "2014-03-01", "container": {"name": "J Ice"},
        "authors": [{"fullName": "Doe, Jane"}, {"fullName": "Roe, R."}], "pids": [{"scheme": "doi", "value": DOI}]}]},
    "openreview": {"notes": [{
        "id": "7", "forum": "7", "content": {
            "title": {"value": "On ice"}, "authors": {"value": ["Jane Doe", "R. Roe"]}, "venue": {"value": "J Ice"},
            "authorids": {"value": ["~Jane_Doe1", "r.roe@ice.example"]}}}]},
    "cinii": {"items": [{
        "@id": "https://cir.nii.ac.jp/crid/7", "title": "On ice", "dc:creator": ["Doe, Jane", "Roe, R."],
        "prism:publicationName": "J Ice", "prism:publicationDate": "2014-03",
        "dc:identifier": [{"@type": "cir:DOI", "@value": DOI}]}]},
    "mendeley": [{"id": "7", "title": "On ice", "year": 2014, "source": "J Ice", "identifiers": {"doi": DOI},
                  "authors": [{"first_name": "Jane", "last_name": "Doe"}, {"first_name": "R.", "last_name": "Roe"}]}],
}  # fmt: skip


def read(tmp_path: Path, answer: Any) -> list[Document]:
    path = tmp_path / "answer"
    path.write_text(json.dumps(answer))
    with Source(path) as source:
        assert format_of(source).name == "services"
    return [reading.document for reading in read_documents(path) if reading.document]


def test_every_layout_has_an_answer() -> None:
    assert layouts().keys() == ANSWERS.keys()


@pytest.mark.parametrize("service", ANSWERS)
def test_reads_an_answer(service: str, tmp_path: Path) -> None:
    (document,) = read(tmp_path, ANSWERS[service])
    jane, roe = document.authors
    assert jane.name.replace(",", "").split()[:2] in (["Doe", "Jane"], ["Jane", "Doe"], ["Doe", "J"])
    assert "Roe" in roe.name
    # A group between them leaves a gap.
    assert (jane.position, roe.position) == (0, 2 if service in {"pubmed-summary", "invenio"} else 1)
    assert (document.title, document.venue) == ("On ice", "J Ice")
    assert document.year == (None if service == "openreview" else 2014)
    assert document.ids.get("doi") == (None if service in {"scholarly", "openreview"} else DOI)
    text = json.dumps(ANSWERS[service])
    assert jane.ids.get("orcid") == (ORCID if ORCID in text else None)
    assert jane.affiliations[:1] == (["Ice Lab"] if "Ice Lab" in text else [])


def test_reads_what_single_services_have(tmp_path: Path) -> None:
    found = {service: read(tmp_path, ANSWERS[service])[0] for service in ANSWERS}
    assert [author.affiliations for author in found["wos-expanded"].authors] == [["Ice Lab", "Snow Lab"], ["Snow Lab"]]
    assert [author.ids["scopus"] for author in found["scopus-api"].authors] == ["57", "58"]
    first, second = found["openreview"].authors
    assert (first.ids, first.emails, second.ids, second.emails) == (
        {"openreview": "~Jane_Doe1"}, [], {}, ["r.roe@ice.example"],
    )  # fmt: skip
    for service, group in {"inspire": "ICE", "pubmed-summary": "Ice Watch", "invenio": "ICE"}.items():
        assert found[service].other_contributors == [group]


def test_reads_several_pages_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "pages"
    path.write_text("\n".join(json.dumps(ANSWERS["inspire"], indent=2) for _ in range(3)))
    assert [reading.document.id for reading in read_documents(path) if reading.document] == ["inspire:7"] * 3


def test_rejects_a_record_without_title_and_authors() -> None:
    with pytest.raises(BrokenRecordError, match="neither title nor authors"):
        parse_answer(b'{"bibjson": {}, "id": "7"}', "doaj")


@pytest.mark.parametrize("value", [None, "x", 7, [], [[]], {"a": None}, {"a": [1, {"b": 2}]}])
def test_paths_accept_any_value(value: Any) -> None:
    assert values_at(value, "a.b[c=d].e") == []


def openreview(authors: Any, ids: Any = ()) -> Document:
    content = {"title": "On ice", "authors": authors, "authorids": ids}
    return parse_answer(json.dumps({"id": "x", "forum": "x", "content": content}).encode(), "openreview")[0]


@pytest.mark.parametrize("missing", ["", None])
def test_lists_that_belong_together_keep_their_gaps(missing: str | None) -> None:
    document = openreview(["A Doe", "B Roe", "C Poe"], ["~A1", missing, "~C1"])
    assert [author.ids for author in document.authors] == [{"openreview": "~A1"}, {}, {"openreview": "~C1"}]
    document = openreview(["A Doe", missing, "C Poe"], ["~A1", "~B1", "~C1"])
    assert [(author.position, author.name, author.ids) for author in document.authors] == [
        (0, "A Doe", {"openreview": "~A1"}), (2, "C Poe", {"openreview": "~C1"}),
    ]  # fmt: skip


def plos(authors: Any) -> list[str]:
    record = {"id": DOI, "title_display": "On ice", "author_display": authors}
    return [author.name for author in parse_answer(json.dumps(record).encode(), "plos")[0].authors]


def test_only_a_text_in_place_of_a_list_is_split() -> None:
    group = "Centre for Disease Control and Prevention"
    assert plos([group]) == plos(group) == [group]
    assert plos(["Jane Doe;"]) == plos("Jane Doe;") == ["Jane Doe"]
    assert plos("Jane Doe and R. Roe") == plos("Jane Doe; R. Roe") == ["Jane Doe", "R. Roe"]
    assert plos("Jane Doe and R. Roe and ATLAS Collaboration") == ["Jane Doe", "R. Roe", "ATLAS Collaboration"]
    assert parse_answer(json.dumps({"title_display": "x", "author_display": "Jane Doe;"}).encode(), "plos")[1] == []


def core_and_inspire(tmp_path: Path, doi: str) -> list[Path]:
    """Two records with the same number and first author."""
    core = {"id": 1234567, "title": "A history of snow in northern cities", "yearPublished": 2001, "arxivId": None,
            "doi": doi, "authors": [{"name": "Doe, Jane"}]}  # fmt: skip
    title = "A history of snow in northern cities" if doi else "Measurement of cold neutrons"
    inspire = {"control_number": 1234567, "titles": [{"title": title}], "document_type": ["article"],
               "dois": [{"value": doi}], "authors": [{"full_name": "Doe, Jane"}]}  # fmt: skip
    paths = [tmp_path / "core.json", tmp_path / "inspire.json"]
    for path, record in zip(paths, (core, inspire), strict=True):
        path.write_text(json.dumps({"results": [record]}))
    return paths


def test_services_with_the_same_number_have_different_documents(tmp_path: Path) -> None:
    assert inspect(core_and_inspire(tmp_path, "")).inventory.mentions == 2
    assert inspect(core_and_inspire(tmp_path, DOI)).inventory.mentions == 1  # copies by their DOI


def test_recognises_inspire_behind_thousands_of_authors(tmp_path: Path) -> None:
    authors = [
        {"affiliations": [{"value": "Oslo U."}], "full_name": f"Doe, Jane {number}",
         "ids": [{"schema": "INSPIRE BAI", "value": f"J.Doe.{number}"}]}
        for number in range(3000)
    ]  # fmt: skip
    record = {"authors": authors, "control_number": 7, "titles": [{"title": "On ice"}], "document_type": ["article"]}
    (document,) = read(tmp_path, {"hits": {"hits": [{"metadata": record}]}})
    assert (document.id, document.title, len(document.authors)) == ("inspire:7", "On ice", 3000)


def test_a_file_of_no_service_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"title": "On ice", "authors": ["Jane Doe"]}')
    with pytest.raises(InputError, match=r"other\.json has no answer of a service that --format services knows"):
        list(read_documents(path, "services"))
