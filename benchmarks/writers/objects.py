"""Writers of the JSON of OpenAlex, Crossref and DataCite."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import orjson

from benchmarks.writers.parts import Name, known_as
from homonym.records.model import Author, Document


def write_openalex(document: Document) -> bytes:
    """A work of OpenAlex on one line."""
    work, doi = f"https://openalex.org/{document.ids['openalex']}", f"https://doi.org/{document.ids['doi']}"
    last = len(document.authors) - 1
    places: dict[str, list[int]] = {}
    for place, word in enumerate(document.abstract.split()):
        places.setdefault(word, []).append(place)
    return orjson.dumps(
        {
            "id": work,
            "doi": doi,
            "title": document.title or None,
            "display_name": document.title or None,
            "publication_year": document.year,
            "publication_date": document.year and f"{document.year}-03-15",
            "ids": {"openalex": work, "doi": doi, "pmid": f"https://pubmed.ncbi.nlm.nih.gov/{document.ids['pmid']}"},
            "language": "en",
            "primary_location": {
                "is_oa": False,
                "landing_page_url": doi,
                "source": {"id": "https://openalex.org/S1", "display_name": document.venue} if document.venue else None,
            },
            "type": "article",
            "open_access": {"is_oa": False, "oa_status": "closed", "oa_url": None},
            "authorships": [
                _authorship(author, "first" if not place else "last" if place == last else "middle")
                for place, author in enumerate(document.authors)
            ],
            "cited_by_count": 0,
            "biblio": {"volume": "12", "issue": None, "first_page": "34", "last_page": "56"},
            "primary_topic": None,
            "topics": [],
            "keywords": [{"id": "https://openalex.org/keywords/k", "display_name": word} for word in document.keywords],
            "concepts": [{"display_name": name, "level": 0, "score": 0.7} for name in document.categories],
            "mesh": [],
            "referenced_works": [
                f"https://openalex.org/{known_as('openalex', other)}" for other in document.references
            ],
            "related_works": [],
            "abstract_inverted_index": places or None,
            "counts_by_year": [],
            "updated_date": "2024-11-15T00:00:00.000000",
        },
        option=orjson.OPT_APPEND_NEWLINE,
    )


def _authorship(author: Author, position: str) -> dict[str, Any]:
    name, given = Name.of(author.name), author.ids.get("orcid")
    return {
        "author_position": position,
        "author": {
            "id": f"https://openalex.org/{author.ids['openalex']}",
            "display_name": f"{name.given[0]}. {name.family}",
            "orcid": given and f"https://orcid.org/{given}",
        },
        "institutions": [
            {"id": "https://openalex.org/I1", "display_name": place.partition(",")[0], "country_code": "XX"}
            for place in author.affiliations
        ],
        "countries": ["XX"],
        "is_corresponding": bool(author.emails),
        "raw_author_name": name.natural,
        "raw_affiliation_strings": author.affiliations,
    }


def _escaped_json(record: dict[str, Any]) -> bytes:
    """JSON in the style of Crossref, in ASCII with escaped slashes."""
    return json.dumps(record, separators=(",", ":")).replace("/", "\\/").encode()


def write_crossref(document: Document) -> bytes:
    """A work in a response of the Crossref API."""
    doi, date = document.ids["doi"], {"date-parts": [[document.year, 3, 15]]}
    cited = [
        {"key": f"ref{place}", "author": name.replace(", ", " "), "volume-title": "Syntheses", "year": "1999"}
        for place, name in enumerate(document.referenced_authors)
    ]
    works = [
        {"key": f"w{place}", "doi-asserted-by": "crossref", "DOI": known_as("doi", other)}
        for place, other in enumerate(document.references)
    ]
    record = {
        "indexed": {"date-parts": [[2024, 11, 15]], "date-time": "2024-11-15T04:19:22Z", "timestamp": 1731644362066},
        "reference-count": len(cited) + len(works),
        "publisher": "Synthetic Press",
        "content-domain": {"domain": [], "crossmark-restriction": False},
        "abstract": f"<jats:title>Abstract</jats:title><jats:p>{escape(document.abstract, quote=False)}</jats:p>",
        "DOI": doi,
        "type": "journal-article",
        "source": "Crossref",
        "is-referenced-by-count": 0,
        "title": [escape(document.title, quote=False)],
        "prefix": "10.5555",
        "author": [_contributor(author, place) for place, author in enumerate(document.authors)],
        "member": "1",
        "container-title": [escape(document.venue, quote=False)],
        "issued": date if document.year else {"date-parts": [[None]]},
        "references-count": len(cited) + len(works),
        "URL": f"https://doi.org/{doi}",
        "subject": document.categories,
    }
    record |= {"reference": cited + works} if cited or works else {}
    for name in ("abstract", "title", "container-title"):
        if not getattr(document, {"container-title": "venue"}.get(name, name)):
            del record[name]
    return _escaped_json(record)


def _contributor(author: Author, place: int) -> dict[str, Any]:
    name = Name.of(author.name)
    entry: dict[str, Any] = {"given": name.given, "family": name.family, "sequence": "additional" if place else "first"}
    if name.suffix:
        entry["suffix"] = name.suffix
    if "orcid" in author.ids:
        entry |= {"ORCID": f"http://orcid.org/{author.ids['orcid']}", "authenticated-orcid": False}
    return {**entry, "affiliation": [{"name": place} for place in author.affiliations]}


def write_datacite(document: Document) -> bytes:
    """A record on a page of the DataCite API."""
    doi = document.ids["doi"]
    subjects = [f"FOS: {name}" for name in document.categories] + document.keywords
    attributes = {
        "doi": doi,
        "identifiers": [],
        "creators": [_creator(author) for author in document.authors],
        "titles": [{"title": f"\n      {document.title}\n    "}] if document.title else [],
        "publisher": "(:unav)",
        "container": {"type": "Journal", "volume": "12", "title": document.venue} if document.venue else {},
        "publicationYear": document.year,
        "subjects": [{"subject": subject} for subject in subjects],
        "contributors": [],
        "types": {"ris": "JOUR", "bibtex": "article", "resourceTypeGeneral": "Text"},
        "relatedIdentifiers": [
            {"relationType": "References", "relatedIdentifier": known_as("doi", other), "relatedIdentifierType": "DOI"}
            for other in document.references
        ],
        "descriptions": [{"description": document.abstract, "descriptionType": "Abstract"}]
        if document.abstract
        else [],
        "state": "findable",
    }
    return json.dumps({"id": doi, "type": "dois", "attributes": attributes, "relationships": {}}).encode()


def _creator(author: Author) -> dict[str, Any]:
    name = Name.of(author.name)
    schemes = {"orcid": ("https://orcid.org", "ORCID"), "researcherid": ("http://www.researcherid.com", "ResearcherID")}
    return {
        "name": str(name),
        "nameType": "Personal",
        "givenName": ", ".join(filter(None, name[1:])),
        "familyName": name.family,
        "affiliation": author.affiliations,
        "nameIdentifiers": [
            {"schemeUri": uri, "nameIdentifier": f"{uri}/{author.ids[kind]}", "nameIdentifierScheme": scheme}
            for kind, (uri, scheme) in schemes.items()
            if kind in author.ids
        ],
    }
