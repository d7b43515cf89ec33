"""The people of a BibTeX entry: its author list, and what the Web of Science and Scopus say of them in other fields."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import add_address, email_owners, emails_in, remove_repeats
from homonym.records.fields.markup import (
    collapse_spaces,
    latex_lines,
    latex_to_text,
    plain_text,
    without_braces,
    without_macros,
)
from homonym.records.fields.people import is_placeholder
from homonym.records.formats.ris import is_group
from homonym.records.formats.wos_document import People
from homonym.records.model import Author, Note

#: A longer text is no name, but a list in which "and" is missing.
_LONGEST_NAME = 250

_SUFFIXES = frozenset({"jr", "jnr", "sr", "snr", "ii", "iii", "iv", "v", "2nd", "3rd", "4th"})
_AND_OR_BRACE = re.compile(r"[{}]|(?:^| )and(?= |$)", re.IGNORECASE)
_AND = re.compile(r" and(?= |\Z)", re.IGNORECASE)
_USUAL = re.compile(r"[^\W\d_][^,;=<&{}]{0,80}, [^\W\d_][^,;=<&{}]{0,80}")
_GROUP = re.compile(r".*\b(?:collaboration|consortium|committee|investigators|study group|working group)", re.I)
_INITIALS = re.compile(r"[^,]+, *(?:[^\W\d_a-z]\.[ -]?){1,4}")
_FAMILY_IN_BRACES = re.compile(r"([^{},]+) \{([^{},]+)\}")
_LABELLED = re.compile(r"\b(family|given|prefix|suffix) ?= ?(\{[^{}]*\}|[^,]*)", re.IGNORECASE)
_HOMONYM = re.compile(r"([^,\d]+) (\d{4})")
_LETTER = re.compile(r"[^\W\d_]")

_CORRESPONDING = re.compile(r"\((?:corresponding|reprint) author\)", re.IGNORECASE)
_IDENTIFIERS = (
    ("researcherid-numbers", "researcherid", identifiers.researcher_id),
    ("orcid-numbers", "orcid", identifiers.orcid),
)


def authors_of(value: str, notes: list[Note]) -> tuple[list[Author], list[str]]:
    r"""The persons of an author field, and further names that are stuck to one of them.

    >>> authors, _ = authors_of(r"Ba{-}Quy V{\u o} and {de la Mata}, Jr, M. AND {European Commission} and others", [])
    >>> [author.name for author in authors]
    ['Ba-Quy Vŏ', 'de la Mata, M., Jr']
    """
    authors: list[Author] = []
    others: list[str] = []
    position = 0
    for piece in _pieces(collapse_spaces(without_macros(value))):
        if _USUAL.fullmatch(piece):
            authors.append(Author(position, piece))
            position += 1
            continue
        name, stuck, problem = _person(piece)
        if problem:
            notes.append(problem)
        if name:
            dblp = _HOMONYM.fullmatch(name)
            authors.append(Author(position, dblp[1] if dblp else name, ids={"dblp": name} if dblp else {}))
        position += bool(name or problem)
        others += stuck
    return authors, others


def _pieces(text: str) -> list[str]:
    """Cut an author list at each "and" that stands outside of braces."""
    if "{" not in text:
        return [piece for part in _AND.split(f" {text}") if (piece := part.strip(" ,;"))]
    if text[0] == "{" and text[-1] == "}":
        text = _unwrapped(text)
    pieces, begin, depth = [], 0, 0
    for found in _AND_OR_BRACE.finditer(text):
        if found[0] == "{":
            depth += 1
        elif found[0] == "}":
            depth -= 1
        elif depth <= 0:
            pieces.append(text[begin : found.start()])
            begin = found.end()
    pieces.append(text[begin:])
    return [piece for part in pieces if (piece := part.strip(" ,;"))]


def _unwrapped(text: str) -> str:
    """A list of persons in a second pair of braces, which else would be one corporate author."""
    inside = text[1:-1]
    names = _AND.split(f" {inside}") if "{" not in inside and "}" not in inside else []
    return inside if len(names) > 1 and all("," in name for name in names) else text


@lru_cache(maxsize=1 << 14)
def _person(piece: str) -> tuple[str, tuple[str, ...], Note | None]:
    """The name of a person, empty for what is none; names that are stuck to it; and what is wrong with it."""
    name = piece
    if "{" in name:
        if _is_corporate(name):
            return "", (), None
        name = _family_first(name)
    elif "=" in name and "family" in name.lower():
        name = _from_labels(name)
    name = plain_text(without_braces(name)).strip(" ,;")
    if not _LETTER.search(name) or len(name) > _LONGEST_NAME:
        return "", (), ("author", f"{name[:60]!r} is no name")
    if is_placeholder(name) or ("," not in name and (_GROUP.match(name) or is_group(name))):
        return "", (), None
    if ";" in name:
        first, *others = [part.strip() for part in name.split(";") if part.strip()]
        return first, tuple(others), ("field", f"{name!r} are several authors without 'and'; only the first is taken")
    return _in_order(name), (), None


def _is_corporate(name: str) -> bool:
    """Tell a name that is wholly in braces; initials behind a comma are a person's all the same."""
    if name[0] != "{" or name[-1] != "}":
        return False
    inside = name[1:-1]
    return "}" not in inside.partition("{")[0] and not _INITIALS.fullmatch(without_braces(inside))


def _family_first(name: str) -> str:
    """Turn "Gabriel {García Márquez}", whose braces tell the family name."""
    if "family" in name.lower() and "=" in name:
        return _from_labels(name)
    found = _FAMILY_IN_BRACES.fullmatch(name)
    return f"{found[2]}, {found[1]}" if found and not _is_suffix(found[2]) else name


def _from_labels(name: str) -> str:
    """Read biblatex's "family=Doe, given=Jane, prefix=van"."""
    parts = {found[1].lower(): found[2].strip("{} ") for found in _LABELLED.finditer(name)}
    if "family" not in parts:
        return name
    family = f"{parts.get('prefix', '')} {parts['family']}".strip()
    return ", ".join(part for part in (family, parts.get("given"), parts.get("suffix")) if part)


def _in_order(name: str) -> str:
    """Put BibTeX's "von Last, Jr, First" into the order "Family, Given, Suffix"."""
    parts = [part.strip() for part in name.split(",")]
    if len(parts) == 3 and not (_is_suffix(parts[2]) and not _is_suffix(parts[1])):
        parts = [parts[0], parts[2], parts[1]]
    return ", ".join(part for part in parts if part)


def _is_suffix(text: str) -> bool:
    return text.rstrip(".").lower() in _SUFFIXES


def add_people(authors: list[Author], fields: dict[str, str], notes: list[Note]) -> None:
    """Give the authors what other fields of the entry say of them: addresses, e-mails, identifiers."""
    if not authors:
        return
    people = People([(author.name, author.name) for author in authors])
    corresponding: set[int] = set()
    if value := fields.get("affiliation") or fields.get("affiliations"):
        if "unique-id" in fields or _CORRESPONDING.search(value):
            corresponding = _add_addresses(authors, value, people)
        else:
            _add_common_address(authors, value)
    address = fields.get("correspondence-address") or fields.get("correspondence-address1") or ""
    if address:
        corresponding |= _corresponding(address, people)
    if value := fields.get("author-email") or fields.get("email") or address:
        _add_emails(authors, emails_in(latex_to_text(value)), corresponding)
    for field, kind, valid in _IDENTIFIERS:
        if value := fields.get(field):
            _add_identifiers(authors, people, _Identifiers(kind, valid, latex_to_text(value)), notes)
    remove_repeats(authors)


#: So many of the words between commas may be a name: mostly two, with "Jr." three, or only one.
_NAME_SIZES = (2, 3, 1)


class _Address(NamedTuple):
    people: list[int]
    text: str
    is_corresponding: bool = False


def _add_addresses(authors: list[Author], value: str, people: People) -> set[int]:
    """Assign the addresses of the Web of Science; tell the corresponding authors."""
    addresses = _addresses(latex_lines(value), people)
    if len(authors) == 1 or sum(not address.is_corresponding for address in addresses) == 1:
        # Until 2008 addresses came without names: the only one is that of all.
        everybody = list(range(len(authors)))
        addresses = [address if address.people else address._replace(people=everybody) for address in addresses]
    for numbers, text, _ in addresses:
        for number in numbers:
            add_address(authors[number], text)
    return {number for address in addresses if address.is_corresponding for number in address.people}


def _addresses(lines: list[str], people: People) -> list[_Address]:
    """The addresses, put together again where a line of one was wrapped."""
    whole: list[str] = []
    for line in lines:
        before = whole[-1][-1] if whole else "."
        if before == "." or (before not in ",;" and _address(line, people).people):
            whole.append(line)
        else:
            whole[-1] += f" {line}"
    return [_address(text, people) for text in whole]


def _address(line: str, people: People) -> _Address:
    """Part "Doe, J; Roe, R, Univ X, City" into authors and address; as a whole if it names no author."""
    if "(" in line and (marked := _CORRESPONDING.search(line)):
        return _Address(people.found(line[: marked.start()]), line[marked.end() :], is_corresponding=True)
    before, parted, last = line.rpartition(";")
    words = last.split(",", 3)
    for size in (3, 2) if len(words) == 4 and _is_suffix(words[2].strip()) else _NAME_SIZES:
        person = people.find(",".join(words[:size]).strip()) if len(words) > size else None
        if person is not None or (parted and size > 1):
            found = people.found(before) if parted else []
            return _Address(found if person is None else [*found, person], ",".join(words[size:]))
    return _Address([], line)


def _add_common_address(authors: list[Author], value: str) -> None:
    """Scopus does not say whose addresses they are: only a single one, or that of a single author, is certain."""
    addresses = latex_to_text(value).split(";")
    if len(addresses) > 1 and len(authors) > 1:
        return
    for author in authors:
        for address in addresses:
            add_address(author, address)


def _corresponding(address: str, people: People) -> set[int]:
    """Whom an address of Scopus begins with: "Doe, J.; Univ X; email: …", or newer "J. Doe; …"."""
    name = latex_to_text(address).partition(";")[0]
    given, _, family = name.rpartition(" ")
    found = [people.find(name), people.find(f"{family}, {given}")]
    return {number for number in found if number is not None}


def _add_emails(authors: list[Author], emails: list[str], corresponding: set[int]) -> None:
    """Give each e-mail to the author it is named after; a single one else to the only corresponding author."""
    if len(authors) == 1:
        authors[0].emails += emails
        return
    for email, owner in zip(emails, email_owners(emails, [(author.name, "") for author in authors]), strict=True):
        if owner is None and len(emails) == len(corresponding) == 1:
            owner = min(corresponding)
        if owner is not None:
            authors[owner].emails.append(email)


class _Identifiers(NamedTuple):
    kind: str
    valid: Callable[[str], str | None]
    text: str


def _add_identifiers(authors: list[Author], people: People, given: _Identifiers, notes: list[Note]) -> None:
    """Read "Doe, Jane/0000-0002-1825-0097 Roe, R/…"; a second identifier of an author is left."""
    name, *rest = given.text.split("/")
    for piece in rest:
        written, _, following = piece.partition(" ")
        identifier = given.valid(written)
        if identifier is None:
            notes.append(("field", f"{written!r} of {name.strip()} is no {given.kind}"))
        elif (number := people.find(name.strip())) is not None:
            authors[number].ids.setdefault(given.kind, identifier)
        name = following
