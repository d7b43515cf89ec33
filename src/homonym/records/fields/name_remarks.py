"""Remarks that sources write into the names of authors: e-mail addresses, ORCIDs, roles, degrees, affiliation numbers.

EBSCO has "Doe, Jane1 (AUTHOR) j@x.org", repositories have "Doe, Jane (ORCID: 0000-…)", web forms "Jane Doe <j@x.org>",
programmes of conferences "Jane Doe (University of Oz)".
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import address_and_emails
from homonym.records.fields.degrees import DEGREE_OR_TITLE, may_have_degrees, without_degrees
from homonym.records.fields.markup import ENTITY, plain_text
from homonym.records.fields.people import name_and_employer

_CONTROLS = dict.fromkeys([*range(0x20), 0x7F]) | dict.fromkeys(range(0x09, 0x0E), " ")
_DIGIT = "[0-9¹²³⁰-⁹]"
_MARKS = r"[\x00-\x1f\x7f@&(0-9¹²³⁰-⁹]"
_SUSPICIOUS = re.compile(_MARKS)
#: What every name with remarks has, in the notation of Arrow, without regard to case.
REMARK = rf"{_MARKS}|{DEGREE_OR_TITLE}"
_ROLE = re.compile(r"\s?\((?:author|aut)\)", re.IGNORECASE)
# Numbers directly behind the last letter or full stop of a name with several words; "Wei Wang 0001" is one of DBLP's.
_NUMBERS = re.compile(rf"(?<=[^\W\d_]|\.){_DIGIT}{{1,3}}+(?:\s?[,;]\s?{_DIGIT}{{1,3}}+)*+(?=[\s*†‡§]*$)")
# "Doe, Jane (57000000001)", as Scopus writes names with the number of the author.
_NUMBER = re.compile(r"\s?\((\d{10,11})\)$")
# Marks and numbers that refer to footnotes, in a list of names: "Jane Doe*, Ann Roe1,2", "Jane Doe (1)", "Ann Roe^2",
# "Ann Roe 1-3", "Ann Roe [a]". A number behind a blank has one or two digits, unlike the "Wei Wang 0001" of DBLP; a
# letter behind a blank is one only behind two words that begin with capitals, as initials may be in lower case.
_FOOTNOTE_SIGN = r"[*†‡§¶‖#¹²³⁰-⁹]"
_FOOTNOTE = rf"(?:[1-9]\d?(?:\s?[-–]\s?\d{{1,2}})?+(?!\d)|{_FOOTNOTE_SIGN}++)"
_FOOTNOTES = re.compile(
    r"\^(?:\{[^{}]{1,10}\}|\w{1,3}(?:,\w{1,2}(?=[,;\s]|$))*)"
    r"|\s?[(\[](?:\d{1,2}(?:\s?[-–,]\s?\d{1,2})*|[a-h](?:\s?,\s?[a-h])*)[)\]](?:,?[(\[][1-9a-h][)\]])*"
    rf"|(?:(?<=[^\W\d_])\s?|(?<=\.)\s?){_FOOTNOTE}(?:,?\s?{_FOOTNOTE})*+(?![\w.)@-])"
    rf"|\s?{_FOOTNOTE_SIGN}++(?:,\s?{_FOOTNOTE_SIGN}++)*"
    r"|(?<=[^\W\d_]) [a-h](?:,\s?[a-h*†‡])*+(?=\s?(?:[,;]|$))"
)
_LETTERS = re.compile(r" [a-h](?![\w.])")
_TWO_CAPITALISED = re.compile(r"(?:^|[,;] ?)[A-Z][\w.'’-]{0,40}(?: [A-Z][\w.'’-]{1,40}){1,4}$")


def without_footnotes(text: str) -> str:
    """A list of names without the marks and numbers of footnotes.

    >>> without_footnotes("Jane Doe*, Ann Roe1,2, Wei Wang¹,²"), without_footnotes("Wei Wang 0001, Ann Roe, 2nd")
    ('Jane Doe, Ann Roe, Wei Wang', 'Wei Wang 0001, Ann Roe, 2nd')
    >>> without_footnotes("Jane Doe 1,2, Ann Roe [2]; Ed Li1-3"), without_footnotes("Jane Doe a,b, Ann Roe a; roe b")
    ('Jane Doe, Ann Roe; Ed Li', 'Jane Doe, Ann Roe; roe b')
    """
    return _FOOTNOTES.sub(_removed, text)


def parts_between_footnotes(text: str) -> list[str]:
    """A list of names, divided at commas behind marks and numbers of footnotes, and without these.

    >>> parts_between_footnotes("Jane Doe1*, Roe, Ann2; Ed Li"), parts_between_footnotes("Jane Doe 1,2, Ann Roe 2")
    (['Jane Doe', 'Roe, Ann; Ed Li'], ['Jane Doe', 'Ann Roe'])
    """
    parts, begin = [], 0
    for mark in _FOOTNOTES.finditer(text):
        if not _removed(mark) and (comma := _COMMA.match(text, mark.end())):
            parts.append(without_footnotes(text[begin : mark.end()]))
            begin = comma.end()
    return [*parts, without_footnotes(text[begin:])]


def _removed(mark: re.Match[str]) -> str:
    """Nothing in place of a mark; a letter behind a blank stays where it may be an initial."""
    before = mark.string[max(0, mark.start() - 200) : mark.start()]
    return mark[0] if _LETTERS.match(mark[0]) and not _TWO_CAPITALISED.search(before) else ""


_COMMA = re.compile(r"\s?,\s")
_GAPS = re.compile(r",(?: ?,)++")


class PlainName(NamedTuple):
    """A name without remarks, and the e-mail addresses, the ORCID, the number in Scopus and the affiliation it had."""

    name: str
    emails: tuple[str, ...] = ()
    orcid: str = ""
    scopus: str = ""
    affiliation: str = ""


@lru_cache(maxsize=1 << 15)
def without_remarks(name: str) -> PlainName | None:
    """The parts of a name that has remarks; None for other names, and if nothing but remarks would be left.

    >>> without_remarks("Doe, Jane1 (AUTHOR) jane@x.org")
    PlainName(name='Doe, Jane', emails=('jane@x.org',), orcid='', scopus='', affiliation='')
    >>> without_remarks("Doe, Jane (0000-0002-1825-0097)").orcid, without_remarks("Doe, Jane (57000000001)").scopus
    ('0000-0002-1825-0097', '57000000001')
    >>> without_remarks("Doe, Jane"), without_remarks("j@x.org"), without_remarks("Karel D&#x27;Or").name
    (None, None, "Karel D'Or")
    >>> without_remarks("Smith, John, MD, PhD").name, without_remarks("Dr. Jane Doe").name
    ('Smith, John', 'Jane Doe')
    >>> without_remarks("Doe, Jane (University of Oz)").affiliation
    'University of Oz'
    """
    if not _SUSPICIOUS.search(name) and not may_have_degrees(name):
        return None
    plain = name.translate(_CONTROLS)
    plain, emails = address_and_emails(plain) if "@" in plain else (plain, ())
    if ENTITY.search(plain):
        plain = plain_text(plain)
    found = identifiers.split_at_orcids(plain)
    orcid = identifiers.orcid(found[0][1]) if found else None
    if orcid:
        plain = identifiers.without_orcid_label(found[0][0])
    plain = _ROLE.sub("", plain).strip()
    number = _NUMBER.search(plain)
    if number:
        plain = plain[: number.start()]
    if " " in plain and "&" not in plain:
        plain = _NUMBERS.sub("", plain)
    plain, affiliation = name_and_employer(plain) or (plain, "")
    plain = without_degrees(_GAPS.sub(",", " ".join(plain.split())).strip(" ,|"))
    if not plain or plain == name or plain.isnumeric():
        return None
    return PlainName(plain, emails, orcid or "", number[1] if number else "", affiliation)
