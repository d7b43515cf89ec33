"""Writers of RIS in the styles of Ovid and Scopus, of Ovid's own tagged text, and of MEDLINE text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchmarks.writers.parts import Name, addresses, corresponding, medline_places, wrapped
from benchmarks.writers.scopus import scopus_comma
from homonym.records.model import Author, Document

_CONTINUATION = " \n      "


def _tagged(fields: Iterable[tuple[str, str]]) -> str:
    return "".join(f"{tag}  - {value}\n" for tag, value in fields if value)


def ovid_name(name: str) -> str:
    """A name in the notation of Ovid, without a dot at the end."""
    return name.removesuffix(".")


def write_ovid(document: Document) -> bytes:
    """A record of Ovid, which names the author of an address and of each ORCID."""
    writer = corresponding(document)
    identified = [author for author in document.authors if "orcid" in author.ids]
    pairs = [
        f"ORCID: http://orcid.org/{author.name}; ORCID: http://orcid.org/{author.ids['orcid']}" for author in identified
    ]
    writer_addresses = (
        [*writer.affiliations[:-1], ", ".join([writer.affiliations[-1], *writer.emails])] if writer else []
    )
    place = int(document.id[1:]) + 1
    fields = [
        ("TY", "JOUR"),
        ("ID", f"2024-{document.ids['pmid']}-001"),
        ("DO", f"http://dx.doi.org/{document.ids['doi']}"),
        ("T1", document.title),
        *(("A1", ovid_name(author.name)) for author in document.authors),
        ("AI", ", ".join(pairs).replace(", ORCID: http://orcid.org/", ", ")),
        ("Y1", f"{document.year}//" if document.year else ""),
        ("N2", document.abstract),
        *(("KW", f"*{word}") for word in document.keywords),
        *(("M1", f"{name} (1999). On syntheses. Synthetic Studies, 12, 34") for name in document.referenced_authors),
        ("JF", document.venue),
        *(("AD", f"{writer.name}: {address}") for address in writer_addresses if writer),
    ]
    return f"{place}.\n{_tagged(fields)}ER  -\nNL  - Synth Stud\n\nLink to the full text\n\n".encode()


def write_ovid_text(document: Document) -> bytes:
    """A record of MEDLINE in Ovid's own tagged text, with short and full names and the addresses of each author."""
    names = [Name.of(author.name) for author in document.authors]
    fields = [
        ("VN", "Ovid Technologies"),
        ("DB", "Ovid MEDLINE(R) ALL <1946 to November 15, 2024>"),
        ("UI", document.ids["pmid"]),
        ("TI", document.title),
        ("SO", f"{document.venue}. 12(3):34-56, 2024 Mar 15." if document.venue else ""),
        *(("AU", f"{name.family} {name.initials}") for name in names),
        *(("FA", ovid_name(author.name)) for author in document.authors),
        *(
            ("IN", f"{ovid_name(author.name)}. {place}")
            for author in document.authors
            for place in medline_places(author)
        ),
        *(("MH", f"*{word}") for word in document.keywords),
        ("AB", document.abstract),
        ("DO", f"https://dx.doi.org/{document.ids['doi']}"),
        ("YR", str(document.year or "")),
    ]
    return f"<{int(document.id[1:]) + 1}. >\n{_tagged(fields)}\n".encode()


def write_scopus_ris(document: Document) -> bytes:
    """A record of Scopus, which lists addresses without the names of their authors."""
    names = [Name.of(author.name) for author in document.authors]
    link = f"https://www.scopus.com/inward/record.uri?eid={document.ids['scopus']}&doi={document.ids['doi']}"
    fields = [
        ("TY", "JOUR"),
        ("TI", document.title),
        ("T2", document.venue),
        ("VL", "12"),
        ("PY", str(document.year or "")),
        ("DO", document.ids["doi"]),
        *(("AU", scopus_comma(name)) for name in names),
        *(("AD", address) for address in addresses(document)),
        ("AB", document.abstract),
        *(("KW", word) for word in document.keywords),
        ("N1", "Export Date: 15 November 2024"),
        ("C2", document.ids["pmid"]),
        ("DB", "Scopus"),
        ("UR", link),
    ]
    return f"{_tagged(fields)}ER  - \n\n".encode()


def write_nbib(document: Document) -> bytes:
    """A record of PubMed in MEDLINE text."""
    half = (len(document.keywords) + 1) // 2
    fields = [
        ("PMID", document.ids["pmid"]),
        ("OWN", "NLM"),
        ("STAT", "MEDLINE"),
        ("DP", f"{document.year} Mar 15" if document.year else ""),
        ("TI", f"{document.title}." if document.title else ""),
        ("LID", f"{document.ids['doi']} [doi]"),
        ("AB", document.abstract),
        *(field for author in document.authors for field in _nbib_author(author)),
        ("LA", "eng"),
        ("PT", "Journal Article"),
        ("JT", document.venue),
        *(("MH", f"*{word}/analysis") for word in document.keywords[:half]),
        *(("OT", word) for word in document.keywords[half:]),
        ("EDAT", "2024/11/15 06:00"),
        ("AID", f"{document.ids['doi']} [doi]"),
        ("PST", "ppublish"),
        ("SO", f"Synth Stud. 2024 Mar 15;12(3):34-56. doi: {document.ids['doi']}."),
    ]
    lines = [f"{tag:4}- {wrapped(value, _CONTINUATION, 80)}\n" for tag, value in fields if value]
    return "".join([*lines, "\n"]).encode()


def _nbib_author(author: Author) -> Iterator[tuple[str, str]]:
    name = Name.of(author.name).medline
    yield "FAU", f"{name.family}, {name.given} {name.suffix}".strip()
    yield "AU", f"{name.family} {name.initials} {name.suffix}".strip()
    if "orcid" in author.ids:
        yield "AUID", f"ORCID: {author.ids['orcid']}"
    for place in medline_places(author):
        yield "AD", place
