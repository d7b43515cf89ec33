"""Writers of the answers of Europe PMC."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.writers.markup import xml_element
from benchmarks.writers.parts import Name, medline_places
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
