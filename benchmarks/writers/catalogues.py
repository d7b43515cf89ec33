"""Writers of the XML of library catalogues, MARCXML and MODS, and of works in ORCID records."""

from __future__ import annotations

from html import escape
from typing import Any

import orjson

from benchmarks.writers.markup import xml_element
from benchmarks.writers.parts import Name
from homonym.records.model import Author, Document


def write_marcxml(document: Document) -> bytes:
    """A record of a library catalogue in MARCXML."""
    title, colon, rest = document.title.partition(": ")
    fields = [
        _field("024", [("a", document.ids["doi"]), ("2", "doi")], "7"),
        *(_field("700" if place else "100", _person(author), "1") for place, author in enumerate(document.authors)),
        _field("245", [("a", f"{title} :" if colon else title), ("b", f"{rest} /" if rest else "")], "1"),
        _field("264", [("a", "Oslo :"), ("c", f"[{document.year}]" if document.year else "")]),
        _field("520", [("a", document.abstract)]),
        *(_field("650", [("a", f"{word}."), ("2", "lcsh")]) for word in document.keywords),
        _field("773", [("i", "In:"), ("t", document.venue), ("g", "12 (3), 34-56")]),
    ]
    number = xml_element("controlfield", document.ids["lens"], ' tag="001"')
    leader = "<leader>00000nab a2200000 i 4500</leader>"
    agency = '<controlfield tag="003">DE-1</controlfield>'
    return f"<record>\n{leader}{number}{agency}{''.join(fields)}</record>\n".encode()


def _field(tag: str, parts: list[tuple[str, str]], first: str = " ") -> str:
    given = "".join(xml_element("subfield", text, f' code="{code}"') for code, text in parts)
    return f'<datafield tag="{tag}" ind1="{first}" ind2=" ">{given}</datafield>' if given else ""


def _person(author: Author) -> list[tuple[str, str]]:
    name = Name.of(author.name)
    orcid = author.ids.get("orcid", "")
    parts = [("a", f"{name.family}, {name.given},"), ("c", name.suffix), ("d", "1950-"), ("e", "author.")]
    parts += [("u", place) for place in author.affiliations] + [("m", email) for email in author.emails]
    return [*parts, ("1", f"https://orcid.org/{orcid}" if orcid else "")]


def write_mods(document: Document) -> bytes:
    """A record of a repository in MODS."""
    people = "".join(map(_mods_name, document.authors))
    words = "".join(f"<mods:subject>{xml_element('mods:topic', word)}</mods:subject>" for word in document.keywords)
    host = f"<mods:titleInfo>{xml_element('mods:title', document.venue)}</mods:titleInfo>" if document.venue else ""
    parts = [
        f'<mods:mods version="3.7"><mods:titleInfo>{xml_element("mods:title", document.title)}</mods:titleInfo>',
        people,
        f"<mods:originInfo>{xml_element('mods:dateIssued', str(document.year or ''))}</mods:originInfo>",
        xml_element("mods:abstract", document.abstract),
        words,
        f'<mods:relatedItem type="host">{host}<mods:part><mods:extent unit="pages"/></mods:part></mods:relatedItem>',
        xml_element("mods:identifier", document.ids["doi"], ' type="doi"'),
        f"<mods:recordInfo>{xml_element('mods:recordIdentifier', document.ids['lens'])}</mods:recordInfo>",
        "</mods:mods>\n",
    ]
    return "".join(parts).encode()


def _mods_name(author: Author) -> str:
    name = Name.of(author.name)
    parts = [
        xml_element("mods:namePart", name.family, ' type="family"'),
        xml_element("mods:namePart", name.given, ' type="given"'),
        xml_element("mods:namePart", name.suffix, ' type="termsOfAddress"'),
        '<mods:role><mods:roleTerm type="code" authority="marcrelator">aut</mods:roleTerm></mods:role>',
        *(xml_element("mods:affiliation", place) for place in author.affiliations),
        xml_element("mods:nameIdentifier", author.ids.get("orcid", ""), ' type="orcid"'),
    ]
    return f'<mods:name type="personal">{"".join(parts)}</mods:name>'


def write_orcid(document: Document) -> bytes:
    """A work with all details in the answer of ORCID for several works, in JSON."""
    return orjson.dumps({"work": _work(document)})


def _work(document: Document) -> dict[str, Any]:
    numbers = [
        ("doi", document.ids["doi"], "self"),
        ("issn", "0000-0000", "part-of"),
        ("pmid", document.ids["pmid"], "self"),
    ]
    return {
        "put-code": 7,
        "path": None,
        "title": {"title": {"value": document.title}, "subtitle": None} if document.title else None,
        "journal-title": {"value": document.venue} if document.venue else None,
        "short-description": document.abstract or None,
        "type": "journal-article",
        "publication-date": {"year": {"value": str(document.year)}, "month": None} if document.year else None,
        "external-ids": {
            "external-id": [
                {"external-id-type": kind, "external-id-value": value, "external-id-relationship": relation}
                for kind, value, relation in numbers
            ]
        },
        "contributors": {"contributor": [_contributor(author) for author in document.authors]},
    }


def _contributor(author: Author) -> dict[str, Any]:
    orcid = author.ids.get("orcid")
    return {
        "contributor-orcid": {"uri": f"https://orcid.org/{orcid}", "path": orcid, "host": "orcid.org"}
        if orcid
        else None,
        "credit-name": {"value": str(Name.of(author.name))},
        "contributor-attributes": {"contributor-sequence": "additional", "contributor-role": "author"},
    }


def write_orcid_xml(document: Document) -> bytes:
    """A work with all details in XML."""
    numbers = "".join(
        f"<common:external-id><common:external-id-type>{kind}</common:external-id-type><common:external-id-value>"
        f"{document.ids[kind]}</common:external-id-value><common:external-id-relationship>self"
        "</common:external-id-relationship></common:external-id>"
        for kind in ("doi", "pmid")
    )
    people = "".join(
        "<work:contributor>"
        + (
            f"<common:contributor-orcid><common:path>{author.ids['orcid']}</common:path></common:contributor-orcid>"
            if "orcid" in author.ids
            else ""
        )
        + f"<work:credit-name>{escape(str(Name.of(author.name)))}</work:credit-name></work:contributor>"
        for author in document.authors
    )
    year = xml_element("common:year", str(document.year or ""))
    parts = [
        '<work:work put-code="7" visibility="public">',
        f"<work:title>{xml_element('common:title', document.title)}</work:title>" if document.title else "",
        xml_element("work:journal-title", document.venue),
        xml_element("work:short-description", document.abstract),
        f"<common:publication-date>{year}</common:publication-date>" if year else "",
        f"<common:external-ids>{numbers}</common:external-ids>",
        f"<work:contributors>{people}</work:contributors></work:work>\n",
    ]
    return "".join(parts).encode()
