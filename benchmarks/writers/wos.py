"""Writers of the Web of Science formats: plain text, tables and BibTeX."""

from __future__ import annotations

from benchmarks.writers.bibtex import escaped
from benchmarks.writers.parts import Name, addresses, corresponding, wrapped
from homonym.records.model import Author, Document

WHERE_CITED = "1999, J SYNTH STUD, V12, P34, DOI 10.5555/cited."
WOS_COLUMNS = (
    "PT AU BA BE GP AF BF CA TI SO SE BS LA DT CT CY CL SP HO DE ID AB C1 RP EM RI OI FU FX CR NR TC Z9 U1 U2 PU PI PA "
    "SN EI BN J9 JI PD PY VL IS PN SU SI MA BP EP AR DI D2 EA PG WC SC GA UT PM OA HC HP DA"
).split()
_LINE_EACH = frozenset("AU AF C1 CR".split())


def wos_fields(document: Document) -> dict[str, list[str]]:
    """Field tag to entries of a Web of Science record."""
    names = [Name.of(author.name) for author in document.authors]
    writer = corresponding(document)
    half = (len(document.keywords) + 1) // 2
    fields = {
        "PT": ["J"],
        "AU": [f"{name.family}, {name.initials}" for name in names],
        "AF": [str(name) for name in names],
        "TI": [document.title],
        "SO": [document.venue.upper()],
        "LA": ["English"],
        "DT": ["Article"],
        "DE": document.keywords[:half],
        "ID": document.keywords[half:],
        "AB": [document.abstract],
        "C1": [
            f"[{'; '.join(author.name for author in authors)}] {address}"
            for address, authors in addresses(document).items()
        ],
        "RP": [f"{_short(writer)} (corresponding author), {writer.affiliations[0]}."] if writer else [],
        "EM": [email for author in document.authors for email in author.emails],
        "RI": _identified(document, "researcherid"),
        "OI": _identified(document, "orcid"),
        "CR": [f"{name.replace(', ', ' ')}, {WHERE_CITED}{n}" for n, name in enumerate(document.referenced_authors)],
        "NR": [str(len(document.referenced_authors))],
        "TC": ["0"],
        "PU": ["SYNTHETIC PRESS"],
        "PY": [str(document.year or "")],
        "DI": [document.ids["doi"]],
        "WC": document.categories,
        "UT": [f"WOS:{document.ids['wos']}"],
        "PM": [document.ids["pmid"]],
        "DA": ["2024-11-15"],
    }
    return {tag: entries for tag, entries in fields.items() if any(entries)}


def _short(author: Author) -> str:
    name = Name.of(author.name)
    return f"{name.family}, {name.initials}"


def _identified(document: Document, kind: str) -> list[str]:
    return [f"{author.name}/{author.ids[kind]}" for author in document.authors if kind in author.ids]


def _wos_value(tag: str, entries: list[str]) -> str:
    if tag == "C1":
        entries = [f"{entry}." for entry in entries]
    if tag in _LINE_EACH:
        return "\n   ".join(entries)
    return entries[0] if tag in {"AB", "RP", "EM"} and len(entries) == 1 else wrapped("; ".join(entries), "\n   ")


def write_wos(document: Document) -> bytes:
    """A record in plain text."""
    lines = [f"{tag} {_wos_value(tag, entries)}\n" for tag, entries in wos_fields(document).items()]
    return "".join([*lines, "ER\n\n"]).encode()


def write_wos_row(document: Document) -> bytes:
    """A row of a table."""
    fields = wos_fields(document)
    return ("\t".join("; ".join(fields.get(tag, ())) for tag in WOS_COLUMNS) + "\t\r\n").encode()


_WOS_BIBTEX = {
    "AF": "Author", "TI": "Title", "SO": "Journal", "PY": "Year", "AB": "Abstract", "PU": "Publisher", "DT": "Type",
    "LA": "Language", "RP": "Affiliation", "DI": "DOI", "DE": "Keywords", "ID": "Keywords-Plus",
    "WC": "Web-of-Science-Categories ", "EM": "Author-Email", "RI": "ResearcherID-Numbers", "OI": "ORCID-Numbers",
    "CR": "Cited-References", "NR": "Number-of-Cited-References", "TC": "Times-Cited", "UT": "Unique-ID", "DA": "DA",
}  # fmt: skip


def write_wos_bibtex(document: Document) -> bytes:
    """An entry of the Web of Science."""
    fields = wos_fields(document)
    named = [
        f"{'; '.join(author.name for author in authors)}, {address}."
        for address, authors in addresses(document).items()
    ]
    fields["RP"] = [entry.replace("(corresponding a", "(Corresponding A") for entry in fields.get("RP", ())] + named
    fields["CR"] = [f"{entry}." for entry in fields.get("CR", ())]
    lines = [
        f"{name} = {{{_wos_bibtex_value(tag, fields[tag])}}},\n" for tag, name in _WOS_BIBTEX.items() if fields.get(tag)
    ]
    return "".join(["\n@article{ WOS:", document.ids["wos"], ",\n", *lines, "}\n"]).encode()


def _wos_bibtex_value(tag: str, entries: list[str]) -> str:
    if tag in {"RP", "EM", "RI", "OI", "CR"}:
        return escaped("\n   ".join(entries))
    return escaped(wrapped((" and " if tag == "AF" else "; ").join(entries), "\n   "))
