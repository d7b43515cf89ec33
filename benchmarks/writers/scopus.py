"""Writer of Scopus tables in the current layout."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from benchmarks.writers.parts import Name, addresses, corresponding
from homonym.records.model import Author, Document

SCOPUS_COLUMNS = (
    "Authors|Author full names|Author(s) ID|Title|Year|Source title|Volume|Issue|Art. No.|Page start|Page end|Cited by"
    "|DOI|Link|Affiliations|Authors with affiliations|Abstract|Author Keywords|Index Keywords|Funding Details"
    "|References|Correspondence Address|Editors|Publisher|ISSN|PubMed ID|Language of Original Document"
    "|Abbreviated Source Title|Document Type|Publication Stage|Open Access|Source|EID"
).split("|")


def scopus_short(name: Name) -> str:
    """A name in the notation of Scopus' lists of authors."""
    return ", ".join(filter(None, (f"{name.family} {name.dotted}", name.suffix)))


def scopus_comma(name: Name) -> str:
    """A name in the notation of Scopus' RIS files."""
    return ", ".join(filter(None, (name.family, name.dotted, name.suffix)))


def scopus_reference(name: str) -> str:
    """The author of a cited work, "Doe, JW", in the notation of Scopus."""
    family, initials = name.split(", ")
    return f"{family} {''.join(f'{letter}.' for letter in initials)}"


def row(cells: Iterable[str]) -> bytes:
    """A line of a table with all cells quoted."""
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(cells)
    return line.getvalue().encode()


def write_scopus(document: Document) -> bytes:
    """A row of an export as CSV."""
    names = [Name.of(author.name) for author in document.authors]
    short = [scopus_short(name) for name in names]
    numbers = [author.ids["scopus"] for author in document.authors]
    places = [", ".join([name, *author.affiliations]) for name, author in zip(short, document.authors, strict=True)]
    half = (len(document.keywords) + 1) // 2
    cells = {
        "Authors": "; ".join(short),
        "Author full names": "; ".join(f"{name} ({number})" for name, number in zip(names, numbers, strict=True)),
        "Author(s) ID": "; ".join(numbers),
        "Title": document.title,
        "Year": str(document.year or ""),
        "Source title": document.venue,
        "Volume": "12",
        "DOI": document.ids["doi"],
        "Link": f"https://www.scopus.com/inward/record.uri?eid={document.ids['scopus']}&partnerID=40",
        "Affiliations": "; ".join(addresses(document)),
        "Authors with affiliations": "; ".join(places),
        "Abstract": document.abstract,
        "Author Keywords": "; ".join(document.keywords[:half]),
        "Index Keywords": "; ".join(document.keywords[half:]),
        "References": "; ".join(
            f"{scopus_reference(name)}, On syntheses, and more, Synthetic Studies, 12, pp. 34-56, (1999)"
            for name in document.referenced_authors
        ),
        "Correspondence Address": _correspondence(corresponding(document)),
        "PubMed ID": document.ids["pmid"],
        "Source": "Scopus",
        "EID": document.ids["scopus"],
    }
    return row(cells.get(column, "") for column in SCOPUS_COLUMNS)


def _correspondence(author: Author | None) -> str:
    if author is None:
        return ""
    name = Name.of(author.name)
    parts = [f"{name.dotted} {name.family}", author.affiliations[0], *(f"email: {email}" for email in author.emails)]
    return "; ".join(parts)
