"""The authors of a RIS record: their names, and which address or identifier in it is whose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from homonym.records import identifiers
from homonym.records.affiliations import distinct, give_address, give_shared_address
from homonym.records.markup import plain_text
from homonym.records.model import Author, Note
from homonym.records.people import AuthorIndex, is_nobody
from homonym.records.tagged import Field, Tags, is_name

_AUTHOR_TAGS = ("AU", "A1")

_GROUP = re.compile(
    r"\b(?:academ(?:y|ie)|agency|alliance|association|bureau|cent(?:er|re)s?|clinic|collaborat(?:ion|ive|ors)|college"
    r"|commission|committee|company|conference|consortium|corporation|council|department|federation|foundation|gmbh"
    r"|government|group|hospital|inc|initiative|institut[eo]?|investigators|laborator(?:y|ies)|limited|ltd|ministry"
    r"|museum|national|network|office|organi[sz]ation|panel|partnership|program(?:me)?|project|registry|research|school"
    r"|secretariat|services?|society|stud(?:y|ies)|survey|task force|team|trial|trust|union|universit(?:y|é|ät|à|at)"
    r"|universidade?|working party)\b",
    re.IGNORECASE,
)
_SMALL_WORDS = (" of ", " for ", " the ", " and ", " für ")
_INITIAL = re.compile(r"(?:^|[\s.-])[^\W\d_]\.")
_COUNTRY = ("U.S. ", "U.K. ", "U.N. ")
_INITIALS = re.compile(r"(?:[^\W\d_]\.?[\s-]?){1,4}")
_ORCID = re.compile(r"(000\d-\d{4}-\d{4}-\d{3}[\dXx])")
_ORCID_WORDS = re.compile(r"(?:ORCID(?: iD)?:?|https?://(?:www\.)?orcid\.org/)", re.IGNORECASE)

# Bounded and possessive throughout: addresses can be long. "Doe, J.: address", "Doe, J., e-mail", "J. Doe, address".
_NAMED = re.compile(
    r"([^:;@()]{2,60}+): ?"
    r"|([^,;@]{2,40}+,[^,;@]{1,40}+), (?=[^\s,]{1,80}@)"
    r"|((?:[^\W\d_]\.[ -]?){1,5}+[^,.;:@]{2,40}+)[,;] "
)
_INITIALS_FIRST = re.compile(r"((?:[^\W\d_]\.[ -]?){1,5}+)(\S.*)")
_BRACKETED = re.compile(r"\(([^()]{2,5000}+)\) ?(?=\S)")
_CORRESPONDENCE = re.compile(r"Correspondence Address: ([^;@]{2,80}+); ?")
_NEXT_ADDRESS = re.compile(r"\n(?=\S)|; ?")


#: A name that stands before an address is not longer.
_LONGEST_BEFORE_ADDRESS = 80


class _Index:
    """The authors by name; other spellings are looked for only where a name is not written as in the list."""

    def __init__(self, authors: list[Author]) -> None:
        self._places: dict[str, int] = {}
        for place, author in enumerate(authors):
            self._places.setdefault(author.name, place)
        self._authors = authors

    def beginning(self, address: str) -> tuple[int | None, str]:
        """The author whose name an address begins with, and the rest: Ovid's "Doe, Jane A. Department, Town"."""
        end = address.find(". ", 0, _LONGEST_BEFORE_ADDRESS)
        while end > 0:
            place = self._places.get(address[:end], self._places.get(address[: end + 1]))
            if place is not None:
                return place, address[end + 2 :]
            end = address.find(". ", end + 1, _LONGEST_BEFORE_ADDRESS)
        return None, address

    def find(self, name: str) -> int | None:
        """The place of the author that a name means."""
        place = self._places.get(name, self._places.get(name.removesuffix(".")))
        return self._others.find(name) if place is None else place

    @cached_property
    def _others(self) -> AuthorIndex:
        return AuthorIndex([(author.name,) for author in self._authors])


def authors_of(fields: list[Field], tags: Tags, notes: list[Note]) -> list[Author]:
    """The persons among the authors, with what the record says of each."""
    authors: list[Author] = []
    for position, (name, orcid) in enumerate(_names(tags)):
        if not is_name(name):
            notes.append(("author", f"author {position} has no name"))
            continue
        authors.append(Author(position, name))
        if orcid:
            _give_orcid(authors[-1], orcid, notes)
    if authors and not tags.keys().isdisjoint(("AD", "AI", "OI", "M1", "N1")):
        index = _Index(authors)
        _give_identifiers(authors, index, tags, notes)
        _give_named_addresses(authors, index, tags)
        _give_addresses(authors, index, fields, tags)
    return distinct(authors)


def _names(tags: Tags) -> Iterator[tuple[str, str]]:
    """Names of persons and the ORCID behind each. Some exports give all authors twice, as AU and as A1."""
    known: set[str] = set()
    for tag in [tag for tag in tags if tag in _AUTHOR_TAGS]:
        entries = [_without_orcid(entry) for value in tags[tag] for entry in _entries(plain_text(value))]
        for name, orcid in entries:
            if not name or not (is_nobody(name) or is_group(name) or name in known):
                yield name.rstrip(", "), orcid
        if "AU" in tags and "A1" in tags:
            known.update(name for name, _ in entries)


def _entries(text: str) -> list[str]:
    """The authors in one field, of which there should be one.

    >>> _entries("Doe, J.; Roe, A."), _entries("Doe, John, Jr."), _entries("Doe, John and Roe, Ann")
    (['Doe, J.', 'Roe, A.'], ['Doe, John, Jr.'], ['Doe, John', 'Roe, Ann'])
    >>> _entries("John Doe, Ann Roe, Li Xu"), _entries("Doe, J., Roe, A."), _entries("Health and Safety Executive")
    (['John Doe', 'Ann Roe', 'Li Xu'], ['Doe, J.', 'Roe, A.'], ['Health and Safety Executive'])
    """
    if ";" not in text and " and " not in text and "&" not in text and text.count(",") < 2:
        return [text]
    text = text.replace(" & ", " and ")
    if ";" in text:
        return [part.strip() for part in text.split(";") if part.strip()]
    if " and " in text and not is_group(text.replace(" and ", " ")):
        several = [part.strip(", ") for part in text.split(" and ")]
        if all(" " in part for part in several):
            return [entry for part in several for entry in _entries(part)]
    return _between_commas(text) if text.count(",") > 1 else [text]


def _between_commas(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) > 2 and all(" " in part for part in parts):
        return parts
    if len(parts) > 3 and len(parts) % 2 == 0 and all(map(_INITIALS.fullmatch, parts[1::2])):
        return [f"{surname}, {initials}" for surname, initials in zip(parts[::2], parts[1::2], strict=True)]
    return [text]


def _without_orcid(text: str) -> tuple[str, str]:
    """A name and the ORCID that some repositories write behind it.

    >>> _without_orcid("Doe, Jane (ORCID: 0000-0002-1825-0097)")
    ('Doe, Jane', '0000-0002-1825-0097')
    """
    found = _ORCID.search(text) if "000" in text else None
    return (_before_orcid(text[: found.start()]), found[1]) if found else (text, "")


def _before_orcid(text: str) -> str:
    return _ORCID_WORDS.sub("", text).strip(" ,;:/()[]")


def is_group(name: str) -> bool:
    """Tell a body or group from a person, as far as its words do; a name of surname and given name is a person's.

    >>> [is_group(name) for name in ("World Health Organization", "U.S. Geological Survey", "Bank of England,")]
    [True, True, True]
    >>> [is_group(name) for name in ("Doe, Jane", "W. H. Center", "In Ho Kim", "Nguyen The Anh", "ATLAS Team, The")]
    [False, False, False, False, False]
    """
    if name.count(" ") > 1 and any(map(name.__contains__, _SMALL_WORDS)):
        return True
    if "," in name[:-1] or " " not in name or not _GROUP.search(name):
        return False
    return name.startswith(_COUNTRY) or _INITIAL.search(name) is None


def _give_orcid(author: Author, text: str, notes: list[Note]) -> None:
    if orcid := identifiers.orcid(text):
        author.ids.setdefault("orcid", orcid)
    else:
        notes.append(("field", f"{text!r} is no ORCID"))


def _give_identifiers(authors: list[Author], index: _Index, tags: Tags, notes: list[Note]) -> None:
    """Read "Doe, J; ORCID: 0000-…, Roe, A; ORCID: 0000-…": each ORCID belongs to the name before it.

    Ovid writes "http://orcid.org/" before the name as well.
    """
    for value in (value for tag in ("AI", "OI") for value in tags.get(tag, ())):
        parts = _ORCID.split(plain_text(value))
        for before, orcid in zip(parts[::2], parts[1::2], strict=False):
            owner = index.find(name) if (name := _before_orcid(before[-200:])) else 0 if len(authors) == 1 else None
            if owner is None:
                notes.append(("field", f"ORCID {orcid} is of {name or 'nobody'!r}, not of an author"))
            else:
                _give_orcid(authors[owner], orcid, notes)


def _give_named_addresses(authors: list[Author], index: _Index, tags: Tags) -> None:
    """Give addresses that begin with names: Embase's "(Doe J., e-mail; Roe A.) address", Scopus' for correspondence."""
    for value in tags.get("M1", ()):
        if value[:1] == "(" and (found := _BRACKETED.match(value)):
            _give_bracketed(authors, index, found[1], value[found.end() :])
    for value in tags.get("N1", ()):
        if (found := _CORRESPONDENCE.match(value)) and (owner := index.find(surname_first(found[1]))) is not None:
            give_address(authors[owner], value[found.end() :])


def _give_addresses(authors: list[Author], index: _Index, fields: list[Field], tags: Tags) -> None:
    """Give addresses that name nobody only where it is clear whose they are.

    Scopus and the Web of Science list the different addresses of a document: even where these are as many as the
    authors, two of them may be one author's. Only an address that stands between authors is of the one before it.
    """
    given = tags.get("AD", ())
    if given and len(authors) > 1 and _each_has_its_own(fields):
        _give_to_those_before(authors, index, fields)
        return
    addresses = [address for value in given for address in _unnamed(authors, index, value)]
    if len(authors) == 1 or len(addresses) == 1:
        for address in addresses:
            give_shared_address(authors, address)


def _each_has_its_own(fields: list[Field]) -> bool:
    """Whether addresses stand between authors, and behind the first of them; authors given twice do not count."""
    order = [tag for tag, _ in fields if tag == "AD" or tag in _AUTHOR_TAGS]
    first = order.index("AD")
    return first > 0 and len({*order}) == 2 == len({*order[first:]})


def _give_to_those_before(authors: list[Author], index: _Index, fields: list[Field]) -> None:
    owner = None
    for tag, value in fields:
        if tag in _AUTHOR_TAGS:
            owner = index.find(_without_orcid(plain_text(value))[0].rstrip(", "))
        elif tag == "AD":
            for address in _unnamed(authors, index, value):
                if owner is not None:
                    give_address(authors[owner], address)


def _give_bracketed(authors: list[Author], index: _Index, names: str, address: str) -> None:
    for entry in names.split(";"):
        name, _, email = entry.strip().partition(", ")
        if "@" not in email:  # then the comma is one of the name
            name, email = entry.strip(), ""
        if (owner := index.find(name)) is not None:
            give_address(authors[owner], f"{address} {email}")


def _unnamed(authors: list[Author], index: _Index, value: str) -> list[str]:
    """The addresses of a field, less those that name their author, which are given to him or her."""
    unnamed = []
    several = _NEXT_ADDRESS.split(value) if ";" in value or "\n" in value else [value]
    for address in filter(None, map(str.strip, several)):
        named = _NAMED.match(address) if ":" in address or "@" in address or address[1:2] == "." else None
        name = next(filter(None, named.groups())) if named else ""
        owner = index.find(surname_first(name)) if name else None
        rest = address[named.end() :] if named else ""
        if owner is None:
            owner, rest = index.beginning(address)
        if owner is None:
            unnamed.append(address)
        else:
            give_address(authors[owner], rest)
    return unnamed


def surname_first(name: str) -> str:
    """A name that begins with initials, the other way round; any other as it is.

    >>> surname_first("J.-P. van Doe"), surname_first("Doe, J.")
    ('van Doe, J.-P.', 'Doe, J.')
    """
    found = _INITIALS_FIRST.fullmatch(name.strip())
    return f"{found[2]}, {found[1].strip()}" if found else name
