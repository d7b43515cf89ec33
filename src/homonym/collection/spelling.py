"""Names as they pass through a collection: read once, written so that they need not be read again."""

from __future__ import annotations

from functools import lru_cache

from homonym.blocking import SCHEMES
from homonym.names import REMEMBERED_NAMES, Name, read_name


def spelled(name: Name) -> str:
    """A parsed name as text: parsing takes much longer than reading that back.

    >>> spelled(read_name("van der Berg, Jan-Willem K., Jr"))
    'VAN DER BERG|JWK|JAN WILLEM K|JR'
    """
    return "|".join((name.surname, name.initials, " ".join(name.given), name.suffix))


def unspelled(text: str) -> Name:
    """A name as `spelled` wrote it.

    >>> unspelled("BERG|JW|JAN W|")
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
        found = self[text] = (name.key, spelled(name), self.scheme(name, None)) if name.surname else None
        return found


@lru_cache(maxsize=8)
def names_of(blocking: str) -> Names:
    """The names that this process remembers under a blocking scheme."""
    return Names(blocking)
