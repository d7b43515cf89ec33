"""Blocking: which mentions are compared with each other at all. A scheme is a small function of name and given key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from homonym.names.parse import REMEMBERED_NAMES, Name, read_name

Scheme = Callable[[Name, str | None], str]


def given(name: Name, block: str | None) -> str:
    """The block that the data set itself names, else surname and all initials."""
    return block or name.key


def initials(name: Name, block: str | None) -> str:
    """Surname and all initials, as in the paper: John W. Doe and Jane W. Doe share the block DOE, JW."""
    return name.key


def first_initial(name: Name, block: str | None) -> str:
    """Surname and first initial: larger blocks that also hold the mentions with initials left out."""
    return name.first_initial_key


def full_name(name: Name, block: str | None) -> str:
    """Surname and all given names as they are written."""
    return name.full_key


SCHEMES: Mapping[str, Scheme] = {
    "given": given,
    "initials": initials,
    "first-initial": first_initial,
    "full-name": full_name,
}


def encode_name(name: Name) -> str:
    """A parsed name as text: parsing takes much longer than reading that back.

    >>> encode_name(read_name("van der Berg, Jan-Willem K., Jr"))
    'VAN DER BERG|JWK|JAN WILLEM K|JR'
    """
    return "|".join((name.surname, name.initials, " ".join(name.given), name.suffix))


def decode_name(text: str) -> Name:
    """A name as `spelled` wrote it.

    >>> decode_name("BERG|JW|JAN W|")
    Name(surname='BERG', initials='JW', given=('JAN', 'W'), suffix='')
    """
    surname, initials, given, suffix = text.split("|")
    return Name(surname, initials, tuple(given.split()), suffix)


class Names(dict[str, tuple[str, str, str] | None]):
    """Names as they are written to their key, spelling and block; None for what is no name. Each is read once."""

    def __init__(self, blocking: str) -> None:
        super().__init__()
        self.scheme = SCHEMES[blocking]

    def __missing__(self, text: str) -> tuple[str, str, str] | None:
        if len(self) >= REMEMBERED_NAMES:
            self.clear()
        name = read_name(text)
        found = self[text] = (name.key, encode_name(name), self.scheme(name, None)) if name.surname else None
        return found


@lru_cache(maxsize=8)
def names_of(blocking: str) -> Names:
    """The names that this process remembers under a blocking scheme."""
    return Names(blocking)
