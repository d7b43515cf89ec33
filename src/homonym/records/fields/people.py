"""Which author of a record a name elsewhere in it means: behind an address, an e-mail or an identifier."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from anyascii import anyascii

_NOT_LETTERS = re.compile(r"[^a-z0-9]+")

#: What sources write in the place of an author's name, folded.
_NOBODY = frozenset(
    "anon anonymous author authors etal na nana nan noauthor noauthors noauthorlisted noauthorslisted noauthorgiven "
    "noauthornameavailable noauthornamesavailable noauthorsavailable noauthorshipindicated none notavailable "
    "notspecified null others andothers unknown unknownauthor unknownunknown authorunknown various".split()
) | {""}
_LONGEST_NOBODY = 60


class AuthorIndex:
    """The authors of one record, by every name that the record has for them.

    A name means the author who is written so, whatever its case, accents and punctuation; else the only one with that
    surname and first initial.

    >>> authors = AuthorIndex([("Müller, Jürgen K.", "Muller, JK"), ("Müller, Ute",), ("Li, X",), ("Li, Xu",)])
    >>> authors.find("MULLER, JÜRGEN K"), authors.find("Muller, J"), authors.find("Li, X."), authors.find("Li, Xin")
    (0, 0, 2, None)
    """

    def __init__(self, names: Sequence[Iterable[str]]) -> None:
        self._exact: dict[str, int] = {}
        self._short: dict[str, int | None] = {}
        for author, aliases in enumerate(names):
            for alias in aliases:
                self._exact.setdefault(folded(alias), author)
                short = surname_and_initial(alias)
                known = self._short.setdefault(short, author)
                if known != author:
                    self._short[short] = None

    def find(self, name: str) -> int | None:
        """The number of the author that a name means, if it means one."""
        exact = self._exact.get(folded(name))
        return self._short.get(surname_and_initial(name)) if exact is None else exact


def is_placeholder(name: str) -> bool:
    """Whether a whole name only says that there is none; "[Anonymous]", whom the Web of Science lists, is somebody.

    >>> [is_placeholder(name) for name in ("", "[No author name available]", "et al.", "Unknown", "N/A N/A")]
    [True, True, True, True, True]
    >>> [is_placeholder(name) for name in ("[Anonymous]", "Na, Li", "Null, J", "Author, A", "李")]
    [False, False, False, False, False]
    """
    if len(name) > _LONGEST_NOBODY or ("," in name and not name.startswith("No ")):
        return False
    return folded(name) in _NOBODY and name != "[Anonymous]"


@lru_cache(maxsize=1 << 14)
def folded(text: str) -> str:
    """A text without case, accents, punctuation and spaces.

    >>> folded("O'Brien-Łukasz, J.")
    'obrienlukaszj'
    """
    return _NOT_LETTERS.sub("", (text if text.isascii() else anyascii(text)).lower())


@lru_cache(maxsize=1 << 14)
def surname_and_initial(name: str) -> str:
    """Surname and first initial of a name that is written surname first, folded.

    >>> surname_and_initial("Müller, Jürgen K."), surname_and_initial("van der Berg J")
    ('muller, j', 'vanderbergj')
    """
    surname, comma, given = name.partition(",")
    return f"{folded(surname)}, {folded(given)[:1]}" if comma else folded(name)
