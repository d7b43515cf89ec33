"""The authors of a BibTeX entry: the author list, and their addresses, e-mail addresses and identifiers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from homonym.records.fields import exported_ids, identifiers
from homonym.records.fields.affiliations import add_address, add_emails, emails_in, remove_repeats
from homonym.records.fields.degrees import is_degree, without_degrees
from homonym.records.fields.markup import (
    collapse_spaces,
    latex_lines,
    latex_to_text,
    plain_text,
    without_braces,
    without_macros,
)
from homonym.records.fields.name_lists import names_in_list, split_note
from homonym.records.fields.people import SUFFIXES, FullNameIndex, is_group, is_placeholder
from homonym.records.model import Author, Note, require_few_authors

# Maximum length of a name; a longer text is a list in which "and" is missing.
_LONGEST_NAME = 250

_SUFFIXES = SUFFIXES | {"jnr", "snr", "v", "4th"}
_AND_OR_BRACE = re.compile(r"[{}]|(?:^| )and(?= |$)", re.IGNORECASE)
_AND = re.compile(r" and(?= |\Z)", re.IGNORECASE)
_USUAL = re.compile(r"[^\W\d_][^,;=<&{}]{0,80}, [^\W\d_][^,;=<&{}]{0,80}")
_INITIALS = re.compile(r"[^,]+, *(?:[^\W\d_a-z]\.[ -]?){1,4}")
_FAMILY_IN_BRACES = re.compile(r"([^{},]+) \{([^{},]+)\}")
_LABELLED = re.compile(r"\b(family|given|prefix|suffix) ?= ?(\{[^{}]*\}|[^,]*)", re.IGNORECASE)
_HOMONYM = re.compile(r"([^,\d]+) (\d{4})")
_LETTER = re.compile(r"[^\W\d_]")

# What LaTeX writes behind names: footnotes and marks of affiliations, and the e-mail address and the ORCID.
_BEHIND_NAMES = re.compile(
    r"\\(?:(?:thanks|footnote|footnotemark|textsuperscript|inst|corref|fnref|IEEEauthorrefmark|IEEEmembership)"
    r"|(email|orcid|orcidlink|orcidID))\b\s*+(?:\[[^\[\]]*+\]\s*+)?+\{([^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+)\}"
    r"|\$\s*+\^[^$]*+\$"
)

_CORRESPONDING = re.compile(r"\((?:corresponding|reprint) author\)", re.IGNORECASE)
_AUTHOR_IDS = {"researcherid-numbers": "researcherid", "orcid-numbers": "orcid"}


def authors_of(value: str, notes: list[Note]) -> list[Author]:
    r"""The persons in an author field, also where a piece between two "and" lists several.

    >>> found = authors_of(r"Ba{-}Quy V{\u o} and {de la Mata}, Jr, M. AND {European Commission} and others", [])
    >>> [author.name for author in found]
    ['Ba-Quy Vŏ', 'de la Mata, M., Jr']
    >>> [author.name for author in authors_of("Doe, J; Roe, R and Jane Poe", [])]
    ['Doe, J', 'Roe, R', 'Jane Poe']
    >>> [author.name for author in authors_of(r"Doe, J\thanks{NSF and ERC} and R Roe$^{1,2}$", [])]
    ['Doe, J', 'R Roe']
    """
    authors: list[Author] = []
    if "\\" in value or "^" in value:
        value = _BEHIND_NAMES.sub(lambda found: f" {found[2]} " if found[1] else "", value)
    text = collapse_spaces(without_macros(value))
    require_few_authors(text.lower().count(" and "))
    position = 0
    for piece in _pieces(text):
        if _USUAL.fullmatch(piece):
            authors.append(Author(position, piece))
            position += 1
            continue
        names, problems = _people(piece)
        notes += problems
        for name in names:
            dblp = _HOMONYM.fullmatch(name)
            authors.append(Author(position, dblp[1] if dblp else name, ids={"dblp": name} if dblp else {}))
            position += 1
        position += not names
    return authors


def _pieces(text: str) -> list[str]:
    """The pieces of an author list between each "and" outside of braces."""
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
    """An author list without a second pair of braces around it, which would make it one corporate author."""
    inside = text[1:-1]
    names = _AND.split(f" {inside}") if "{" not in inside and "}" not in inside else []
    return inside if len(names) > 1 and all("," in name for name in names) else text


@lru_cache(maxsize=1 << 14)
def _people(piece: str) -> tuple[tuple[str, ...], tuple[Note, ...]]:
    """The names of the people in a piece, mostly one, and what is wrong with the piece."""
    name = piece
    if "{" in name:
        if _is_corporate(name):
            return (), (("contributor", plain_text(without_braces(name)).strip(" ,;")),)
        name = _family_first(name)
    elif "=" in name and "family" in name.lower():
        name = _from_labels(name)
    name = plain_text(without_braces(name)).strip(" ,;")
    # Lists that would be mistaken for "von Last, Jr, First"; the reader splits the others.
    may_be_list = ";" in name or name.count(",") > 1 or len(name) > _LONGEST_NAME
    names = names_in_list(name) if may_be_list else (name,)
    if len(names) > 1:
        kept = tuple(one for one in names if not is_placeholder(one) and not is_group(one))
        groups: tuple[Note, ...] = tuple(("contributor", one) for one in names if one not in kept)
        return tuple(map(_in_order, kept)), (*groups, ("warning", split_note(name, len(kept))))
    if not _LETTER.search(name) or len(name) > _LONGEST_NAME:
        return (), (("author", f"{name[:60]!r} is not a name"),)
    if is_placeholder(name) or is_group(name):
        return (), (("contributor", name),)
    return (_in_order(name),), ()


def _is_corporate(name: str) -> bool:
    """Whether a name is entirely in braces, unless it is a surname with initials."""
    if name[0] != "{" or name[-1] != "}":
        return False
    inside = name[1:-1]
    return "}" not in inside.partition("{")[0] and not _INITIALS.fullmatch(without_braces(inside))


def _family_first(name: str) -> str:
    """The family name first where braces mark it: "Gabriel {García Márquez}"."""
    if "family" in name.lower() and "=" in name:
        return _from_labels(name)
    found = _FAMILY_IN_BRACES.fullmatch(name)
    return f"{found[2]}, {found[1]}" if found and not _is_suffix(found[2]) else name


def _from_labels(name: str) -> str:
    """A name in the notation of biblatex, "family=Doe, given=Jane, prefix=van"."""
    parts = {found[1].lower(): found[2].strip("{} ") for found in _LABELLED.finditer(name)}
    if "family" not in parts:
        return name
    family = f"{parts.get('prefix', '')} {parts['family']}".strip()
    return ", ".join(part for part in (family, parts.get("given"), parts.get("suffix")) if part)


def _in_order(name: str) -> str:
    """BibTeX's "von Last, Jr, First" in the order "Family, Given, Suffix"; degrees are left out.

    >>> _in_order("van Doe, Jr, Jane"), _in_order("Smith, John, MD"), _in_order("Smith, PhD, John")
    ('van Doe, Jane, Jr', 'Smith, John', 'Smith, John')
    """
    parts = [part.strip() for part in name.split(",")]
    if len(parts) > 2:
        parts = [parts[0], *(part for part in parts[1:] if not is_degree(part))]
        parts = without_degrees(", ".join(parts)).split(", ")
    if len(parts) == 3 and not (_is_suffix(parts[2]) and not _is_suffix(parts[1])):
        parts = [parts[0], parts[2], parts[1]]
    return ", ".join(part for part in parts if part)


def _is_suffix(text: str) -> bool:
    return text.rstrip(".").lower() in _SUFFIXES


def add_author_details(authors: list[Author], fields: dict[str, str], notes: list[Note]) -> None:
    """Add addresses, e-mail addresses and identifiers from other fields of the entry to the authors."""
    if not authors:
        return
    names = [(author.name, author.name) for author in authors]
    index = FullNameIndex(names)
    corresponding: set[int] = set()
    if value := fields.get("affiliation") or fields.get("affiliations"):
        names_authors = "unique-id" in fields or exported_ids.DOCUMENT_FIELD in fields
        if names_authors or _CORRESPONDING.search(value):
            corresponding = _add_addresses(authors, value, index)
        else:
            _add_common_address(authors, value)
    address = fields.get("correspondence-address") or fields.get("correspondence-address1") or ""
    if address:
        corresponding |= _corresponding(address, index)
    if value := fields.get("author-email") or fields.get("email") or address:
        add_emails(authors, emails_in(latex_to_text(value)), names, corresponding)
    for field, kind in _AUTHOR_IDS.items():
        if value := fields.get(field):
            _add_author_ids(authors, index, kind, latex_to_text(value), notes)
    remove_repeats(authors)


# Possible numbers of parts between commas in a name: mostly two, three with "Jr.", or one.
_NAME_SIZES = (2, 3, 1)


class _Address(NamedTuple):
    """An address, the numbers of its authors, and whether these are the corresponding ones."""

    authors: list[int]
    text: str
    is_corresponding: bool = False


def _add_addresses(authors: list[Author], value: str, index: FullNameIndex) -> set[int]:
    """Add the addresses of the Web of Science; return the numbers of the corresponding authors."""
    addresses = _addresses(latex_lines(value), index)
    if len(authors) == 1:
        addresses = [address._replace(authors=[0]) for address in addresses]
    elif sum(not address.is_corresponding for address in addresses) == 1:
        # Until 2008 addresses came without names: a single one belongs to all authors, but not that of the
        # corresponding author, whose name may be that of several.
        everyone = list(range(len(authors)))
        addresses = [
            address if address.authors or address.is_corresponding else address._replace(authors=everyone)
            for address in addresses
        ]
    for numbers, text, _ in addresses:
        for number in numbers:
            add_address(authors[number], text)
    return {number for address in addresses if address.is_corresponding for number in address.authors}


def _addresses(lines: list[str], index: FullNameIndex) -> list[_Address]:
    """The addresses, with wrapped lines joined."""
    whole: list[str] = []
    for line in lines:
        before = whole[-1][-1] if whole else "."
        if before == "." or (before not in ",;" and _address(line, index).authors):
            whole.append(line)
        else:
            whole[-1] += f" {line}"
    return [_address(text, index) for text in whole]


def _address(line: str, index: FullNameIndex) -> _Address:
    """The authors and the address in "Doe, J; Roe, R, Univ X, City"; no authors if the line names none."""
    if "(" in line and (marked := _CORRESPONDING.search(line)):
        return _Address(index.find_all(line[: marked.start()]), line[marked.end() :], is_corresponding=True)
    before, separator, last = line.rpartition(";")
    words = last.split(",", 3)
    for size in (3, 2) if len(words) == 4 and _is_suffix(words[2].strip()) else _NAME_SIZES:
        author = index.find(",".join(words[:size]).strip()) if len(words) > size else None
        if author is not None or (separator and size > 1):
            found = index.find_all(before) if separator else []
            return _Address(found if author is None else [*found, author], ",".join(words[size:]))
    return _Address([], line)


def _add_common_address(authors: list[Author], value: str) -> None:
    """Add the addresses of Scopus, which name no authors, if there is one address or one author."""
    addresses = latex_to_text(value).split(";")
    if len(addresses) > 1 and len(authors) > 1:
        return
    for author in authors:
        for address in addresses:
            add_address(author, address)


def _corresponding(address: str, index: FullNameIndex) -> set[int]:
    """The authors that an address of Scopus begins with: "Doe, J.; Univ X; email: …" or, newer, "J. Doe; …"."""
    name = latex_to_text(address).partition(";")[0]
    given, _, family = name.rpartition(" ")
    found = [index.find(name), index.find(f"{family}, {given}")]
    return {number for number in found if number is not None}


def _add_author_ids(authors: list[Author], index: FullNameIndex, kind: str, text: str, notes: list[Note]) -> None:
    """Add the identifiers in "Doe, Jane/0000-0002-1825-0097 Roe, R/…"."""
    name, *rest = text.split("/")
    for piece in rest:
        written, _, following = piece.partition(" ")
        number = index.find(name.strip())
        ids = {} if number is None else authors[number].ids
        identifiers.add(ids, kind, written, notes, of=name.strip())
        name = following
