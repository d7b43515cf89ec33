"""Writers of the formats of EndNote, Zotero, RefWorks, NoteExpress, the Cochrane Library and PubMed's abstract text."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import orjson

from benchmarks.writers.parts import Name, addresses, medline_places, wrapped
from homonym.records.model import Document

Fields = Iterable[tuple[str, str]]


def _lines(pattern: str, fields: Fields) -> str:
    return "".join(pattern.format(tag, value) for tag, value in fields if value)


def write_refer(document: Document) -> bytes:
    """A record of EndNote's export style "EndNote Export", with the keywords on lines of their own."""
    fields = [
        ("0", "Journal Article"),
        *(("A", author.name) for author in document.authors),
        ("D", str(document.year or "")),
        ("T", document.title),
        ("J", document.venue),
        ("V", "12"),
        ("K", "\n".join(document.keywords)),
        ("X", document.abstract),
        ("Z", "Export Date: 15 November 2024"),
        ("M", document.ids["pmid"]),
        ("U", f"https://example.org/{document.ids['pmid']}"),
        ("+", "\n".join(addresses(document))),
        ("R", document.ids["doi"]),
        ("W", "NLM"),
    ]
    return (_lines("%{} {}\n", fields) + "\n").encode()


def write_refworks(document: Document) -> bytes:
    """A record of RefWorks, which writes no blank after a comma in names."""
    fields = [
        ("RT", "Journal Article"),
        ("SR", "Electronic(1)"),
        ("ID", document.ids["pmid"]),
        *(("A1", author.name.replace(", ", ",")) for author in document.authors),
        ("A2", "Editor,Ed"),
        ("T1", document.title),
        ("JF", document.venue),
        ("YR", str(document.year or "")),
        ("FD", "Mar 15"),
        ("VO", "12"),
        *(("K1", word) for word in document.keywords),
        ("AB", document.abstract),
        *(("AD", address) for address in addresses(document)),
        ("DO", document.ids["doi"]),
        ("LK", f"https://example.org/{document.ids['pmid']}"),
    ]
    return (_lines("{} {}\n", fields) + "\n").encode()


def write_noteexpress(document: Document) -> bytes:
    """A record in the style of Wanfang, which has one address field for each author."""
    fields = [
        ("Reference Type", "Journal Article"),
        ("Title", document.title),
        *(("Author", author.name) for author in document.authors),
        ("Translated Author", "Zhang San"),
        *(("Author Address", ";".join(author.affiliations) or " ") for author in document.authors),
        ("Journal", document.venue),
        ("ISBN/ISSN", "0000-0000"),
        ("Year", str(document.year or "")),
        ("Pages", "34-56"),
        *(("Keywords", word) for word in document.keywords),
        ("Abstract", document.abstract),
        ("URL", f"https://d.wanfangdata.com.cn/periodical/synth{document.ids['pmid']}"),
        ("DOI", document.ids["doi"]),
        ("Database Provider", "Wanfang Data"),
        ("Language", "eng"),
    ]
    return (_lines("{{{}}}: {}\n", fields) + "\n").encode()


def write_cochrane(document: Document) -> bytes:
    """A trial of the Cochrane Library."""
    place = int(document.id[1:]) + 1
    names = [Name.of(author.name) for author in document.authors]
    fields = [
        ("ID", f"CN-{document.ids['pmid']}"),
        *(("AU", f"{name.family}, {name.initials}") for name in names),
        ("TI", document.title),
        ("SO", document.venue),
        ("YR", str(document.year or "")),
        ("VL", "12"),
        ("PG", "34-56"),
        ("PM", f"PUBMED {document.ids['pmid']}"),
        ("XR", "EMBASE 600000000"),
        ("PT", "Journal article"),
        ("KY", "; ".join(f"*{word} [analysis, methods]" for word in document.keywords)),
        ("DOI", document.ids["doi"]),
        ("AB", document.abstract),
        ("US", f"https://www.cochranelibrary.com/central/doi/10.1002/central/CN-{document.ids['pmid']}/full"),
    ]
    return f"Record #{place} of 100000\n{_lines('{}: {}' + chr(10), fields)}\n\n".encode()


def write_pubmed_text(document: Document) -> bytes:
    """A record of PubMed's abstract text, with numbered affiliations."""
    place = int(document.id[1:]) + 1
    pmid, doi = document.ids["pmid"], document.ids["doi"]
    source = ". ".join(filter(None, (document.venue, f"{document.year} Mar 15" if document.year else "Mar 15")))
    places: dict[str, int] = {}
    people = []
    for author in document.authors:
        name = Name.of(author.name).medline
        numbers = [places.setdefault(text, len(places) + 1) for text in medline_places(author)]
        marks = "".join(f"({number})" for number in numbers)
        people.append(f"{name.family} {name.initials} {name.suffix}".strip() + marks)
    information = "\n".join(_wrapped(f"({number}){text}") for text, number in places.items())
    paragraphs = [
        _wrapped(f"{place}. {source};12(3):34-56. doi: {doi}."),
        _wrapped(f"{document.title}." if document.title else ""),
        _wrapped(", ".join(people) + "; SYNTH Trial."),
        f"Author information:\n{information}" if information else "",
        "Comment in\n    Synth Stud. 2024 Nov;13(1):1." if document.abstract else "",
        _wrapped(document.abstract),
        "Copyright © 2024 The Authors." if document.abstract else "",
        f"DOI: {doi}\nPMID: {pmid} [Indexed for MEDLINE]",
        "Conflict of interest statement: The authors declare none.",
    ]
    return ("\n\n".join(filter(None, paragraphs)) + "\n\n\n").encode()


def _wrapped(text: str) -> str:
    return wrapped(text, " \n", 80)


def write_endnote_xml(document: Document) -> bytes:
    """A record of EndNote; all records of its files are on one line."""
    people = "".join(f"<author>{_styled(author.name)}</author>" for author in document.authors)
    words = "".join(f"<keyword>{_styled(word)}</keyword>" for word in document.keywords)
    pmid = document.ids["pmid"]
    parts = [
        '<record><database name="Synth.enl" path="C:\\Synth.enl">Synth.enl</database><source-app name="EndNote" '
        f'version="21.2">EndNote</source-app><rec-number>{pmid}</rec-number><foreign-keys><key app="EN" '
        f'db-id="synth0wp9z" timestamp="1700000000">{pmid}</key></foreign-keys><ref-type name="Journal Article">17'
        "</ref-type>",
        f"<contributors><authors>{people}</authors><secondary-authors><author>{_styled('Editor, Ed')}</author>"
        "</secondary-authors></contributors>",
        f"<auth-address>{_styled(chr(13).join(addresses(document)))}</auth-address>",
        f"<titles><title>{_styled(document.title)}</title><secondary-title>{_styled(document.venue)}</secondary-title>"
        f"</titles><periodical><full-title>{_styled(document.venue)}</full-title></periodical>",
        f"<pages>34-56</pages><volume>12</volume><keywords>{words}</keywords>",
        f"<dates><year>{_styled(str(document.year or ''))}</year><pub-dates><date>Mar 15</date></pub-dates></dates>",
        f"<accession-num>{_styled(pmid)}</accession-num><abstract>{_styled(document.abstract)}</abstract>",
        f"<urls><related-urls><url>{_styled(f'https://example.org/{pmid}')}</url></related-urls></urls>",
        f"<electronic-resource-num>{_styled(document.ids['doi'])}</electronic-resource-num>",
        "<remote-database-name>Medline</remote-database-name><remote-database-provider>NLM</remote-database-provider>",
        "<language>eng</language></record>",
    ]
    return "".join(parts).encode()


def _styled(text: str) -> str:
    escaped = escape(text, quote=False).replace("\r", "&#xD;")
    return f'<style face="normal" font="default" size="100%">{escaped}</style>' if text else ""


def write_zotero(document: Document) -> bytes:
    """An item of Zotero's web API."""
    key = document.ids["pmid"]
    names = [Name.of(author.name) for author in document.authors]
    people = [
        {
            "creatorType": "author",
            "firstName": ", ".join(filter(None, (name.given, name.suffix))),
            "lastName": name.family,
        }
        for name in names
    ]
    data = {
        "key": key,
        "version": 12,
        "itemType": "journalArticle",
        "title": document.title,
        "creators": [*people, {"creatorType": "editor", "firstName": "Ed", "lastName": "Editor"}],
        "abstractNote": document.abstract,
        "publicationTitle": document.venue,
        "volume": "12",
        "date": f"15 March {document.year}" if document.year else "",
        "DOI": document.ids["doi"],
        "extra": f"Publisher: Synth\nPMID: {document.ids['pmid']}",
        "tags": [{"tag": word, "type": 1} for word in document.keywords],
        "collections": ["SYNTH234"],
        "relations": {},
        "dateAdded": "2024-11-15T06:00:00Z",
        "dateModified": "2024-11-15T06:00:00Z",
    }
    item = {
        "key": key,
        "version": 12,
        "library": {"type": "user", "id": 1, "name": "Synth", "links": {"alternate": {"href": "https://example.org"}}},
        "links": {"self": {"href": f"https://example.org/items/{key}", "type": "application/json"}},
        "meta": {"creatorSummary": "Doe et al.", "parsedDate": str(document.year or ""), "numChildren": 0},
        "data": data,
    }
    return orjson.dumps(item, option=orjson.OPT_INDENT_2)
