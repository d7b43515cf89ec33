"""Identifiers of people and documents, in the one way in which they are compared; None for what is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

_ORCID = re.compile(r"(\d{4})[-\s‐‑–]?(\d{4})[-\s‐‑–]?(\d{4})[-\s‐‑–]?(\d{3}[\dXx])(?!\d)")
_RESEARCHER_ID = re.compile(r"\b([A-Z]{1,4}-\d{4}-(?:19|20)\d{2})\b")
# The look behind comes after the digits that it is about: a pattern that begins with letters is searched much faster.
_DOI = re.compile(r"10\.(?<![\w.]10\.)\d{4,9}(?:\.\d{1,9}){0,4}/\S+")
_EID = re.compile(r"\b2-s2\.0-\d+")
_DIGITS = re.compile(r"\d+")


@lru_cache(maxsize=1 << 14)
def orcid(text: str) -> str | None:
    """The ORCID in a text, if its check digit is right.

    >>> orcid("https://orcid.org/0000-0002-1825-0097"), orcid("0000-0002-1694-233x"), orcid("0000-0002-1825-0098")
    ('0000-0002-1825-0097', '0000-0002-1694-233X', None)
    """
    found = _ORCID.search(text)
    if found is None:
        return None
    digits = "".join(found.groups()).upper()
    total = 0
    for digit in digits[:15]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    return "-".join(found.groups()).upper() if digits[15] == ("X" if check == 10 else str(check)) else None


@lru_cache(maxsize=1 << 14)
def researcher_id(text: str) -> str | None:
    """The ResearcherID in a text.

    >>> researcher_id("http://www.researcherid.com/rid/a-1009-2008"), researcher_id("Smith, J")
    ('A-1009-2008', None)
    """
    found = _RESEARCHER_ID.search(text.upper())
    return found[1] if found else None


def number(text: str) -> str | None:
    """An identifier that is a number, such as that of an author in Scopus or of an article in PubMed.

    >>> number("https://pubmed.ncbi.nlm.nih.gov/0031712796"), number("PMID: 7"), number("none")
    ('31712796', '7', None)
    """
    found = _DIGITS.search(text)
    return (found[0].lstrip("0") or None) if found else None


def scopus(text: str) -> str | None:
    """The number of an author in Scopus, or the identifier (EID) of a document, which also has numbers in front.

    >>> scopus("AU-ID(57094712500)"), scopus("https://www.scopus.com/record.uri?eid=2-s2.0-0022268505&x=1"), scopus("-")
    ('57094712500', '2-s2.0-0022268505', None)
    """
    found = _EID.search(text)
    return found[0] if found else number(text)


def doi(text: str) -> str | None:
    """The DOI in a text, without its address and in small letters.

    >>> doi("https://doi.org/10.1000/ABC.123"), doi("doi: 10.1000/x;"), doi("(10.1000/y(1))."), doi("11.1000/x")
    ('10.1000/abc.123', '10.1000/x', '10.1000/y(1)', None)
    """
    found = _DOI.search(text)
    if found is None:
        return None
    bare = found[0].rstrip(".,;\"'>").lower()
    # A DOI may hold brackets, or stand in them.
    return bare[:-1] if bare.endswith(")") and bare.count(")") > bare.count("(") else bare


def web_of_science(text: str) -> str | None:
    """The accession number of a record in the Web of Science, without the name of its database.

    >>> web_of_science("WOS:001309723000001"), web_of_science("ISI:A1997XU12300001"), web_of_science("")
    ('001309723000001', 'A1997XU12300001', None)
    """
    return text.strip().rpartition(":")[2].upper() or None


_KINDS: dict[str, Callable[[str], str | None]] = {
    "orcid": orcid,
    "researcherid": researcher_id,
    "scopus": scopus,
    "doi": doi,
    "pmid": number,
    "wos": web_of_science,
}


def valid(kind: str, value: object) -> str | None:
    """An identifier as it is compared, checked where there is a rule for its kind; else as it is written.

    >>> valid("ORCID", "0000-0002-1825-0098"), valid("dblp", "Wei Wang 0012"), valid("scopus", 7003)
    (None, 'Wei Wang 0012', '7003')
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value).strip()
    rule = _KINDS.get(re.sub(r"[-_\s]", "", kind).lower())
    return (rule(text) if rule else text) or None
