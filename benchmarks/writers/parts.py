"""Shared by the writers: parts of names, identifiers, addresses, wrapped lines."""

from __future__ import annotations

import re
from typing import NamedTuple

from homonym.records.model import Author, Document

# Patterns of document ids by source; all contain the number itself, so that it can be replaced.
DOCUMENT_IDS = {
    "doi": "10.5555/synth.{}",
    "pmid": "{}",
    "wos": "0000000{}",
    "scopus": "2-s2.0-850{}",
    "openalex": "W4{}",
    "dblp": "journals/synth/Doe{}",
    "s2": "2{}",
    "paper": "0123456789abcdef0123456789abcdef{}",
    "lens": "000-{}-111",
    "dimensions": "pub.10{}",
}
FIRST_NUMBER = 10_000_000

_WRAPPED = {width: re.compile(rf"(\S.{{0,{width}}})(?: |$)") for width in (72, 80)}
_GIVEN_PARTS = re.compile(r"([\s-]?)([^\s-])[^\s-]*")


class Name(NamedTuple):
    """The parts of a person's name, and the notations of the sources."""

    family: str
    given: str
    suffix: str = ""

    @classmethod
    def of(cls, name: str) -> Name:
        """The parts of "Family, Given, Suffix"."""
        return cls(*name.split(", "))

    def __str__(self) -> str:
        return ", ".join(filter(None, self))

    @property
    def natural(self) -> str:
        """The name in natural order: "Jane W. Doe Jr."."""
        return " ".join(filter(None, (self.given, self.family, self.suffix)))

    @property
    def medline(self) -> Name:
        """The name without dots, as in MEDLINE."""
        return Name(self.family, self.given.replace(".", ""), self.suffix.replace(".", ""))

    @property
    def initials(self) -> str:
        """Initials as the Web of Science and MEDLINE write them: "JW"."""
        return "".join(letter for _, letter in _GIVEN_PARTS.findall(self.given))

    @property
    def dotted(self) -> str:
        """Initials as Scopus writes them: "J.-C.W."."""
        return "".join(f"{'-' if gap == '-' else ''}{letter}." for gap, letter in _GIVEN_PARTS.findall(self.given))


def known_as(kind: str, document: str) -> str:
    """The id in a source of a document with this generated id."""
    return DOCUMENT_IDS[kind].format(FIRST_NUMBER + int(document[1:]))


def corresponding(document: Document) -> Author | None:
    """The corresponding author: the first with address and e-mail address, otherwise the first with an address."""
    placed = [author for author in document.authors if author.affiliations]
    return next((author for author in placed if author.emails), placed[0] if placed else None)


def wrapped(text: str, indent: str, width: int = 72) -> str:
    """Text wrapped to lines of about a width; `indent` joins the lines."""
    return indent.join(_WRAPPED[width].findall(text))


def addresses(document: Document) -> dict[str, list[Author]]:
    """The affiliations of a document, each with its authors."""
    found: dict[str, list[Author]] = {}
    for author in document.authors:
        for affiliation in author.affiliations:
            found.setdefault(affiliation, []).append(author)
    return found


def medline_places(author: Author) -> list[str]:
    """The addresses of an author in the notation of MEDLINE, with e-mail addresses."""
    mail = "".join(f" Electronic address: {email}." for email in author.emails)
    if not author.affiliations:
        return [mail.strip()] if mail else []
    *others, last = author.affiliations
    return [*(f"{place}." for place in others), f"{last}.{mail}"]
