"""Writers of answers of web services that share one reader: INSPIRE, DOAJ, and the search of Scopus."""

from __future__ import annotations

from typing import Any

import orjson

from benchmarks.writers.parts import Name, addresses, known_as
from homonym.records.model import Author, Document


def write_inspire(document: Document) -> bytes:
    """A hit of INSPIRE's search, with an author whom its own list does not identify."""
    metadata = {
        "control_number": int(document.ids["pmid"]),
        "document_type": ["article"],
        "titles": [{"title": document.title, "source": "arXiv"}] if document.title else [],
        "abstracts": [{"value": document.abstract, "source": "arXiv"}] if document.abstract else [],
        "publication_info": [{"journal_title": document.venue, "year": document.year, "journal_volume": "12"}],
        "dois": [{"value": document.ids["doi"], "source": "publisher"}, {"value": document.ids["doi"]}],
        "authors": [_inspire_author(author) for author in document.authors],
        "inspire_categories": [{"term": name, "source": "arxiv"} for name in document.categories],
        "keywords": [{"schema": "INSPIRE", "value": word} for word in document.keywords],
        "references": [
            {"reference": {"label": "1", "dois": [known_as("doi", other)], "authors": [{"full_name": "Roe, R."}]}}
            for other in document.references
        ],
    }
    return orjson.dumps({"created": "2024-11-15", "id": document.ids["pmid"], "links": {}, "metadata": metadata})


def _inspire_author(author: Author) -> dict[str, Any]:
    ids = [{"schema": "INSPIRE ID", "value": "INSPIRE-00000001"}]
    if "orcid" in author.ids:
        ids.append({"schema": "ORCID", "value": author.ids["orcid"]})
    return {
        "uuid": "0",
        "full_name": author.name,
        "ids": ids,
        "emails": author.emails,
        "affiliations": [{"value": "Oslo U.", "record": {"$ref": "https://inspirehep.net/api/institutions/1"}}],
        "raw_affiliations": [{"value": place} for place in author.affiliations],
    } | ({} if author.affiliations else {"affiliations": []})


def write_doaj(document: Document) -> bytes:
    """An article of DOAJ's search."""
    article = {
        "identifier": [{"id": "1234-5678", "type": "pissn"}, {"id": document.ids["doi"], "type": "doi"}],
        "journal": {"title": document.venue, "country": "NO", "issns": ["1234-5678"], "publisher": "Synth"},
        "keywords": document.keywords,
        "subject": [{"code": "R", "scheme": "LCC", "term": name} for name in document.categories],
        "year": str(document.year) if document.year else None,
        "author": [_doaj_author(author) for author in document.authors],
        "title": document.title,
        "abstract": document.abstract,
    }
    return orjson.dumps({"last_updated": "2024-11-15", "bibjson": article, "id": document.ids["lens"], "admin": {}})


def _doaj_author(author: Author) -> dict[str, Any]:
    found: dict[str, Any] = {"name": Name.of(author.name).natural}
    if author.affiliations:
        found["affiliation"] = author.affiliations[0]
    if "orcid" in author.ids:
        found["orcid_id"] = f"https://orcid.org/{author.ids['orcid']}"
    return found


def write_scopus_search(document: Document) -> bytes:
    """An entry of the search API of Scopus, whose authors refer to affiliations by number."""
    places = {place: str(60_000_000 + number) for number, place in enumerate(addresses(document))}
    return orjson.dumps(
        {
            "@_fa": "true",
            "dc:identifier": f"SCOPUS_ID:{document.ids['scopus'].rpartition('-')[2]}",
            "eid": document.ids["scopus"],
            "dc:title": document.title,
            "dc:creator": document.authors[0].name if document.authors else None,
            "prism:publicationName": document.venue,
            "prism:coverDate": f"{document.year}-03-15" if document.year else None,
            "prism:doi": document.ids["doi"],
            "dc:description": document.abstract,
            "pubmed-id": document.ids["pmid"],
            "authkeywords": " | ".join(document.keywords),
            "affiliation": [{"afid": number, "affilname": place} for place, number in places.items()],
            "author": [
                {
                    "@seq": str(author.position + 1),
                    "authid": author.ids["scopus"],
                    "authname": author.name,
                    "surname": Name.of(author.name).family,
                    "given-name": Name.of(author.name).given,
                    "afid": [{"@_fa": "true", "$": places[place]} for place in author.affiliations],
                }
                for author in document.authors
            ],
        }
    )
