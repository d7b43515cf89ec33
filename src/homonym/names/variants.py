"""Whether two names of different blocks could be names of one person, and how.

Blocking separates these names, so the clustering never compares them. They are candidates for a list of suggestions,
where shared co-authors, affiliations and topics decide. Kinds, the first that holds:

- `swapped order`: "Wei, Wang" / "Wang, Wei".
- `spelling`: surnames that sound alike or differ by one letter, with compatible given names.
- `double surname`: one surname is part of the other, with compatible given names: "Garcia Marquez, G" / "Garcia, G".
- `given name`: the same surname, and a given name in common: "Smith, Bill" / "Smith, William", "J. William Smith".
- `surname`: the same given name and another surname, as after a marriage. The given name must be written out.

The relation is symmetric. Names are expected in the normal form of spelling.py.
"""

from __future__ import annotations

from functools import lru_cache

from homonym.names.compatibility import Given, given_compatible, language_of, same_word, sound
from homonym.names.parse import MAX_CACHED_NAMES, Name

SWAPPED, SPELLING, DOUBLE, GIVEN, SURNAME = KINDS = (
    "swapped order",
    "spelling",
    "double surname",
    "given name",
    "surname",
)

# Minimum numbers of letters: of a given name that two people share, and of a surname with a typing error.
SHORTEST_GIVEN, _SHORTEST_TYPO = 3, 6


def variant_kind(a: Name, b: Name) -> str | None:
    """How two names could be names of one person; None if they could not, or are the same.

    >>> from homonym.names.parse import parse_name
    >>> pairs = ("Wang, Wei|Wei, Wang", "Jane Doe|Jane Roe", "Chebyshev, P|Chebyshov, P", "Jane Doe|John Roe")
    >>> [variant_kind(*map(parse_name, pair.split("|"))) for pair in pairs]
    ['swapped order', 'surname', 'spelling', None]
    """
    if not (a.surname and b.surname and a.given and b.given) or (a.suffix and b.suffix and a.suffix != b.suffix):
        return None
    if a.surname == b.surname:
        return GIVEN if _share_given_name(a, b) else None
    if "".join(a.given) == _joined(b.surname) and "".join(b.given) == _joined(a.surname):
        return SWAPPED
    if not given_compatible(a.given, b.given, language_of(a.surname) or language_of(b.surname)):
        return None
    if a.initials[0] == b.initials[0] and _spelled_alike(a.surname, b.surname):
        return SPELLING
    if a.initials[0] == b.initials[0] and _is_part(a.surname, b.surname):
        return DOUBLE
    return SURNAME if _same_first_name(a.given, b.given) else None


def _joined(surname: str) -> str:
    return surname.replace(" ", "")


def _share_given_name(a: Name, b: Name) -> bool:
    """Whether a written given name of one can be one of the other, though the first initials differ."""
    if a.initials[0] == b.initials[0]:
        return False
    language = language_of(a.surname)
    return any(same_word(x, y, language) for x in _written(a.given) for y in _written(b.given))


def _written(given: Given) -> list[str]:
    return [word for word in given if len(word) >= SHORTEST_GIVEN]


def _same_first_name(a: Given, b: Given) -> bool:
    """Whether both begin with the same written name, or are equal without spaces: "Li Na" / "Lina"."""
    return max(len(a[0]), len(b[0])) >= SHORTEST_GIVEN and (a[0] == b[0] or "".join(a) == "".join(b))


def _is_part(a: str, b: str) -> bool:
    """Whether all words of one surname are words of the other, at least one of them not short."""
    words, others = {*a.split()}, {*b.split()}
    if len(words) > len(others):
        words, others = others, words
    return words < others and max(map(len, words)) >= SHORTEST_GIVEN


@lru_cache(maxsize=MAX_CACHED_NAMES)
def _spelled_alike(a: str, b: str) -> bool:
    """Whether surnames are equal without spaces, sound alike, or differ by one letter; not Chinese syllables."""
    a, b = _joined(a), _joined(b)
    if a == b:
        return True
    if language_of(a) == "chinese" or language_of(b) == "chinese":
        return False
    if min(len(a), len(b)) < _SHORTEST_TYPO:
        return False
    return sound(a) == sound(b) or _one_letter(a, b)


def _one_letter(a: str, b: str) -> bool:
    """Whether one letter is wrong or missing."""
    if len(a) > len(b):
        a, b = b, a
    if len(b) - len(a) > 1:
        return False
    at = next((place for place, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(b) > len(a):
        return a[at:] == b[at + 1 :]
    return a[at + 1 :] == b[at + 1 :]
