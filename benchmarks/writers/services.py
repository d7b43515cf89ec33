"""Writers of the answers of Europe PMC, Semantic Scholar, Lens and Dimensions."""

from __future__ import annotations

import json
from typing import Any

import orjson

from benchmarks.writers.markup import xml_element
from benchmarks.writers.parts import Name, known_as, medline_places
from benchmarks.writers.scopus import row
from homonym.records.model import Author, Document


def write_europe_pmc(document: Document) -> bytes:
    """A result of Europe PMC in JSON, with resultType=core."""
    half = (len(document.keywords) + 1) // 2
    names = [Name.of(author.name).medline for author in document.authors]
    result: dict[str, Any] = {
        "id": document.ids["pmid"],
        "source": "MED",
        "pmid": document.ids["pmid"],
        "fullTextIdList": {"fullTextId": []},
        "doi": document.ids["doi"],
        "title": f"{document.title}." if document.title else "",
        "authorString": ", ".join(f"{name.family} {name.initials}" for name in names) + ".",
        "authorList": {"author": [_europe_pmc_author(author) for author in document.authors]},
        "journalInfo": {"issue": "3", "volume": "12", "journal": {"title": document.venue, "issn": "0000-0000"}},
        "pubYear": str(document.year or ""),
        "abstractText": document.abstract,
        "affiliation": next((place for author in document.authors for place in medline_places(author)), None),
        "pubTypeList": {"pubType": ["research-article", "Journal Article"]},
        "meshHeadingList": {"meshHeading": [{"descriptorName": word} for word in document.keywords[:half]]},
        "keywordList": {"keyword": document.keywords[half:]},
        "isOpenAccess": "N",
        "inEPMC": "N",
        "citedByCount": 0,
        "firstPublicationDate": f"{document.year}-03-15" if document.year else "",
    }
    return json.dumps(result, separators=(",", ":"), ensure_ascii=False).encode()


def _europe_pmc_author(author: Author) -> dict[str, Any]:
    name = Name.of(author.name).medline
    entry: dict[str, Any] = {
        "fullName": f"{name.family} {name.initials}",
        "firstName": name.given,
        "lastName": name.family,
        "initials": name.initials,
    }
    if name.suffix:
        entry["suffix"] = name.suffix
    if "orcid" in author.ids:
        entry["authorId"] = {"type": "ORCID", "value": author.ids["orcid"]}
    if places := medline_places(author):
        entry["authorAffiliationDetailsList"] = {"authorAffiliation": [{"affiliation": place} for place in places]}
    return entry


def write_europe_pmc_xml(document: Document) -> bytes:
    """A result of Europe PMC in XML, with resultType=core."""
    mesh = "".join(
        f"<meshHeading>{xml_element('majorTopic_YN', 'N')}{xml_element('descriptorName', word)}</meshHeading>"
        for word in document.keywords
    )
    parts = [
        "<result>" + xml_element("id", document.ids["pmid"]) + "<source>MED</source>",
        xml_element("pmid", document.ids["pmid"]) + xml_element("doi", document.ids["doi"]),
        xml_element("title", f"{document.title}." if document.title else ""),
        xml_element("authorString", "; ".join(author.name for author in document.authors)),
        f"<authorList>{''.join(map(_europe_pmc_element, document.authors))}</authorList>",
        f"<journalInfo><volume>12</volume><journal>{xml_element('title', document.venue)}</journal></journalInfo>",
        xml_element("pubYear", str(document.year or "")),
        xml_element("abstractText", document.abstract),
        f"<meshHeadingList>{mesh}</meshHeadingList>" if mesh else "",
        "<inEPMC>N</inEPMC></result>",
    ]
    return "".join(parts).encode()


def _europe_pmc_element(author: Author) -> str:
    name = Name.of(author.name).medline
    places = "".join(
        f"<authorAffiliation>{xml_element('affiliation', place)}</authorAffiliation>"
        for place in medline_places(author)
    )
    parts = [
        xml_element("fullName", f"{name.family} {name.initials}"),
        xml_element("firstName", name.given) + xml_element("lastName", name.family),
        xml_element("initials", name.initials) + xml_element("suffix", name.suffix),
        xml_element("authorId", author.ids.get("orcid", ""), ' type="ORCID"'),
        f"<authorAffiliationDetailsList>{places}</authorAffiliationDetailsList>" if places else "",
    ]
    return f"<author>{''.join(parts)}</author>"


def write_semantic_scholar(document: Document) -> bytes:
    """A paper in an answer of the Graph API of Semantic Scholar."""
    numbers = {"DOI": document.ids["doi"], "PubMed": document.ids["pmid"], "CorpusId": int(document.ids["s2"])}
    fields = [{"category": name, "source": "s2-fos-model"} for name in document.categories]
    return orjson.dumps(
        {
            "paperId": document.ids["paper"],
            "externalIds": numbers,
            "url": f"https://www.semanticscholar.org/paper/{document.ids['paper']}",
            "title": document.title,
            "abstract": document.abstract or None,
            "venue": document.venue,
            "publicationVenue": None,
            "year": document.year,
            "referenceCount": len(document.references),
            "citationCount": 0,
            "influentialCitationCount": 0,
            "isOpenAccess": False,
            "openAccessPdf": None,
            "s2FieldsOfStudy": fields,
            "publicationTypes": ["JournalArticle"],
            "publicationDate": document.year and f"{document.year}-03-15",
            "journal": {"name": document.venue, "volume": "12", "pages": "34-56"},
            "authors": [_scholar(author) | {"url": "https://s2", "citationCount": 1} for author in document.authors],
            "references": [{"paperId": known_as("paper", other), "title": "Cited"} for other in document.references],
        }
    )


def _scholar(author: Author) -> dict[str, Any]:
    ids: dict[str, Any] = {kind.upper(): [author.ids[kind]] for kind in ("dblp",) if kind in author.ids}
    if "orcid" in author.ids:
        ids["ORCID"] = author.ids["orcid"]
    name = Name.of(author.name).natural
    return {"authorId": author.ids["s2"], "externalIds": ids, "name": name, "affiliations": author.affiliations}


def write_semantic_scholar_line(document: Document) -> bytes:
    """A paper of the data set "papers" of Semantic Scholar, which has neither abstracts nor affiliations."""
    names = ("MAG", "ACL", "PubMedCentral", "ArXiv")
    numbers = {"DOI": document.ids["doi"], "PubMed": document.ids["pmid"], "CorpusId": document.ids["s2"]}
    authors = [{"authorId": author.ids["s2"], "name": Name.of(author.name).natural} for author in document.authors]
    return orjson.dumps(
        {
            "corpusid": int(document.ids["s2"]),
            "externalids": dict.fromkeys(names) | numbers,
            "url": "https://www.semanticscholar.org/paper/x",
            "title": document.title,
            "authors": authors,
            "venue": document.venue,
            "publicationvenueid": None,
            "year": document.year,
            "referencecount": len(document.references),
            "citationcount": 0,
            "influentialcitationcount": 0,
            "isopenaccess": False,
            "s2fieldsofstudy": [{"category": name, "source": "external"} for name in document.categories] or None,
            "publicationtypes": ["JournalArticle"],
            "publicationdate": None,
            "journal": {"name": "", "pages": None, "volume": None},
        },
        option=orjson.OPT_APPEND_NEWLINE,
    )


def write_lens(document: Document) -> bytes:
    """A scholarly work of Lens."""
    half = (len(document.keywords) + 1) // 2
    return orjson.dumps(
        {
            "lens_id": document.ids["lens"],
            "created": "2024-11-15T00:00:00.000000+00:00",
            "publication_type": "journal article",
            "title": document.title,
            "year_published": document.year,
            "date_published": {"date": f"{document.year}-03-15"} if document.year else None,
            "external_ids": [
                {"type": "doi", "value": document.ids["doi"]},
                {"type": "pmid", "value": document.ids["pmid"]},
                {"type": "coreid", "value": "7"},
            ],
            "authors": [_lens_author(author) for author in document.authors],
            "author_count": len(document.authors),
            "source": {"title": document.venue, "type": "Journal", "asjc_subjects": document.categories},
            "fields_of_study": document.keywords[:half],
            "keywords": [],
            "mesh_terms": [{"mesh_id": "D1", "mesh_heading": word} for word in document.keywords[half:]],
            "references_count": len(document.references),
            "references": [{"lens_id": known_as("lens", other)} for other in document.references],
            "scholarly_citations": ["000-7-111"],
            "abstract": document.abstract,
        }
    )


def _lens_author(author: Author) -> dict[str, Any]:
    name = Name.of(author.name)
    ids = [{"type": "magid", "value": author.ids["mag"]}]
    if "orcid" in author.ids:
        ids.append({"type": "orcid", "value": author.ids["orcid"]})
    return {
        "collective_name": None,
        "first_name": name.given,
        "last_name": ", ".join(filter(None, (name.family, name.suffix))),
        "initials": name.initials,
        "affiliations": [
            {"name": place.partition(",")[0], "name_original": place, "ids": []} for place in author.affiliations
        ],
        "ids": ids,
    }


def write_dimensions(document: Document) -> bytes:
    """A publication of the API of Dimensions."""
    return orjson.dumps(
        {
            "id": document.ids["dimensions"],
            "title": document.title,
            "doi": document.ids["doi"],
            "pmid": document.ids["pmid"],
            "authors": [_dimensions_author(author) for author in document.authors],
            "year": document.year,
            "journal": {"id": "jour.1", "title": document.venue} if document.venue else None,
            "abstract": document.abstract,
            "category_for": [{"id": "80003", "name": name} for name in document.categories],
            "concepts": document.keywords,
            "reference_ids": [known_as("dimensions", other) for other in document.references],
            "times_cited": 0,
            "type": "article",
        }
    )


DIMENSIONS_COLUMNS = (
    "Rank", "Publication ID", "DOI", "PMID", "Title", "Abstract", "Source title", "MeSH terms", "PubYear", "Authors",
    "Authors (Raw Affiliation)", "Times cited", "Fields of Research (ANZSRC 2020)",
)  # fmt: skip


def write_dimensions_row(document: Document) -> bytes:
    """A row of the CSV export of Dimensions, which has the affiliations behind the names."""
    names = [author.name for author in document.authors]
    places = [f"{author.name} ({'; '.join(author.affiliations)})" for author in document.authors]
    return row(
        (
            "500",
            document.ids["dimensions"],
            document.ids["doi"],
            document.ids["pmid"],
            document.title,
            document.abstract,
            document.venue,
            "; ".join(document.keywords),
            str(document.year or ""),
            "; ".join(names),
            "; ".join(places),
            "0",
            "; ".join(document.categories),
        )
    )


def _dimensions_author(author: Author) -> dict[str, Any]:
    name = Name.of(author.name)
    return {
        "raw_affiliation": author.affiliations,
        "first_name": name.given,
        "last_name": ", ".join(filter(None, (name.family, name.suffix))),
        "corresponding": "",
        "orcid": [author.ids["orcid"]] if "orcid" in author.ids else [],
        "current_organization_id": "grid.1",
        "researcher_id": author.ids["dimensions"],
        "affiliations": [{"name": place.partition(",")[0], "raw_affiliation": place} for place in author.affiliations],
    }
