"""Writers of the formats of EndNote, Zotero, RefWorks, NoteExpress, the Cochrane Library and PubMed's abstract text."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.writers.parts import addresses
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
