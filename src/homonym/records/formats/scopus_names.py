"""The names in Scopus' cells: of authors, before their affiliations, and at the head of references."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from homonym.records.fields.people import is_placeholder

_SUFFIXES = frozenset({"jr", "jr.", "sr", "sr.", "ii", "iii", "iv", "2nd", "3rd"})
_INITIALS = re.compile(r"[^\W\d_]{1,2}\.(?:[- ]?[^\W\d_]{1,2}\.)*+")

# Since August 2025 some exports have "J.A., Doe, Jane A." in place of "Doe J.A.".
_INITIALS_TWICE = re.compile(r"(?:[^\W\d_]{1,2}\.[- ]?){1,6}+, (?=[^,]{2,60}+, [^,]{1,60}+$)")

# A name goes to the dot behind its first initial ("Doe J.", "Doe, J.") or has initials without dots ("Doe JA"); the
# names of one reference are written alike. One match takes as many names as follow each other. Half of an export is
# references: nothing here is tried twice, and what follows a family name is told by its first sign.
_FAMILY = r"[^,;.:()\[\]0-9]{2,40}+"
_END = r"(?![^,;])"
_MORE = rf"(?:{_END}|(?:[ -]?\w{{1,2}}\.){{1,5}}+{_END})"
_DOTTED = rf"\.(?:(?<=[ -]\w\.)|(?<= [A-Z][a-z]\.)){_MORE}"
_PLAIN = rf"{_END}(?<=[A-Z])(?:(?<= [A-Z])|(?<= [A-Z]{{2}})|(?<= [A-Z]{{3}}))"
_WITHOUT_COMMA = rf"(?:{_DOTTED}|{_PLAIN})"
_WITH_COMMA = rf", \w[a-z]?\.{_MORE}"
_REFERENCED = re.compile(
    rf"; {_FAMILY}(?:{_WITHOUT_COMMA}(?:[,;] {_FAMILY}{_WITHOUT_COMMA})*+"
    rf"|{_WITH_COMMA}(?:[,;] {_FAMILY}{_WITH_COMMA})*+)"
)
_BEHIND_PLAIN = re.compile(r", (?:(?<= [A-Z], )|(?<= [A-Z]{2}, )|(?<= [A-Z]{3}, ))")
_PARTICLES = frozenset("al ben bin da das de del della den der des di do dos du el la le ter van von y zu".split())


def listed(cell: str) -> list[str]:
    """The authors of a cell, parted by semicolons or, as until 2022, by commas.

    >>> listed("Doe J.; Roe A.B."), listed("Doe J., Roe A.B., Jr., Poe E.-A."), listed("Doe, J., Roe, A.B.")
    (['Doe J.', 'Roe A.B.'], ['Doe J.', 'Roe A.B., Jr.', 'Poe E.-A.'], ['Doe, J.', 'Roe, A.B.'])
    """
    if ";" in cell:
        names = [part.strip() for part in cell.split(";")]
    elif _INITIALS_TWICE.match(cell):
        names = [cell.strip()]
    else:
        names = []
        for part in cell.split(","):
            part = part.strip()
            if names and (part.lower() in _SUFFIXES or _is_given_name_of(names[-1], part)):
                names[-1] += f", {part}"
            else:
                names.append(part)
    return [name for name in names if not is_placeholder(name)]


def without_initials_before(name: str) -> str:
    """A name as it is given everywhere else.

    >>> without_initials_before("J.A., Doe, Jane A."), without_initials_before("Doe, J.")
    ('Doe, Jane A.', 'Doe, J.')
    """
    return _INITIALS_TWICE.sub("", name) if "., " in name else name


def _is_given_name_of(family: str, part: str) -> bool:
    return family[-1:] != "." and _INITIALS.fullmatch(part) is not None


def full(cell: str) -> list[tuple[str, str]]:
    """The authors of a cell of full names, each with the id behind it.

    >>> full("Doe, Jane (57); Roe, Amy")
    [('Doe, Jane', '57'), ('Roe, Amy', '')]
    """
    authors = []
    for part in cell.split(";"):
        name, _, number = part.strip().rpartition(" (")
        if not (name and number[-1:] == ")" and number[:-1].isdecimal()):
            name, number = part.strip(), ""
        if not is_placeholder(name):
            authors.append((name, number[:-1]))
    return authors


def affiliations(cell: str, known: Sequence[str], names: Sequence[str]) -> list[list[str]]:
    """The affiliations of each author of a cell that gives them behind the authors' names.

    Several affiliations of one author are joined by commas; the list of all affiliations tells where they end.

    >>> cell = "Doe, J., Univ. A, Rome, Dept. B, Oslo; Roe, A.; Poe, E., Dept. B, Oslo"
    >>> affiliations(cell, ["Univ. A, Rome", "Dept. B, Oslo"], ["Doe J.", "Roe A.", "Poe E."])
    [['Univ. A, Rome', 'Dept. B, Oslo'], [], ['Dept. B, Oslo']]
    """
    found: list[list[str]] = [[] for _ in names]
    entries, borders, others, place = cell.split("; "), _Borders(known), None, -1
    for number, entry in enumerate(entries):
        name = names[place + 1] if place + 1 < len(names) else ""
        if name and entry.startswith(name) and entry[len(name) : len(name) + 2] in ("", ", "):  # as almost always
            place, entry = place + 1, entry[len(name) + 2 :]
        else:
            others = others or _Names(names)
            place, entry = others.parted(entry, place, number if len(entries) == len(names) else None)
        if place >= 0:
            found[place] += borders.parted(entry)
    return found


class _Names:
    """The names of authors, as they may stand before affiliations."""

    def __init__(self, names: Sequence[str]) -> None:
        self._keys = [key_of(name) for name in names]
        self._places = dict(zip(reversed(self._keys), range(len(names) - 1, -1, -1), strict=True))

    def parted(self, entry: str, before: int, in_order: int | None) -> tuple[int, str]:
        """Whose affiliations an entry has, and these. It is of the next author if it can be, else of any whom it names.

        What begins with no author's name goes on with the affiliation of the one before.
        """
        parts = entry.split(", ", 3)
        place = before + 1
        taken = _name_length(parts, self._keys[place]) if place < len(self._keys) else 0
        if not taken and (other := self._named(parts)):
            place, taken = other
        elif not taken and in_order is not None and (taken := _any_name_length(parts)):
            place = in_order  # though spelled in another way
        return (place, ", ".join(parts[taken:])) if taken else (before, entry)

    def _named(self, parts: list[str]) -> tuple[int, int] | None:
        key = ""
        for size, part in enumerate(parts[:3], 1):
            key += part.replace(" ", "")
            if key in self._places:
                return self._places[key], size
        return None


def _name_length(parts: list[str], key: str) -> int:
    """How many parts of an entry make up a name: one in "Doe J., Rome", two in "Doe, J., Rome", three before "Jr."."""
    first = parts[0].replace(" ", "")
    if first == key:
        return 1
    if not key.startswith(first) or len(parts) == 1:
        return 0
    second = first + parts[1].replace(" ", "")
    return 2 if second == key else 3 if len(parts) > 2 and second + parts[2] == key else 0


def _any_name_length(parts: list[str]) -> int:
    return 1 if parts[0][-1:] == "." else 2 if len(parts) > 1 and _INITIALS.fullmatch(parts[1]) else 0


def key_of(name: str) -> str:
    """A name as it is compared: "Doe J., Jr." and "Doe, J., Jr." are one; of a full name, family name and initials."""
    family, comma, given = name.partition(", ")
    if comma and "." not in family and not _INITIALS.match(given):
        given = "".join(f"{word[0]}." for word in given.split())
    return (family + given).replace(" ", "").replace(",", "")


class _Borders:
    """The affiliations of a document, which tell where each ends among several of an author."""

    def __init__(self, known: Sequence[str]) -> None:
        self._known = frozenset(known)

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        table: dict[str, list[str]] = {}
        for text in sorted(self._known, key=len, reverse=True):
            table.setdefault(text.partition(",")[0], []).append(text)
        return table

    def parted(self, text: str) -> list[str]:
        """The affiliations of one author."""
        parts, rest = [], text.strip(" ,")
        while rest:
            part = rest if rest in self._known else self._first_of(rest)
            parts.append(part)
            rest = rest[len(part) :].lstrip(" ,")
        return parts

    def _first_of(self, rest: str) -> str:
        candidates = self._by_beginning.get(rest.partition(",")[0], ())
        return next((known for known in candidates if rest.startswith(f"{known},")), rest)


def referenced(cell: str) -> list[str]:
    """The authors at the head of each reference, as they are written there.

    >>> referenced("Doe, J., Roe, A.B., On x (1999) Names, 5, pp. 1-2; The last report, (2020)")
    ['Doe, J.', 'Roe, A.B.']
    >>> referenced("Doe J.; Roe A.B., On x, Names, (2024); Poe EA, Moe J, On y, Names, (2020); Basics of R, (2019)")
    ['Doe J.', 'Roe A.B.', 'Poe EA', 'Moe J']
    """
    names = "".join(_REFERENCED.findall("; " + cell)).replace("., ", ".; ")
    if ", " in names:
        names = _BEHIND_PLAIN.sub("; ", names)
    found = names.split("; ")[1:]
    if names.count(".; ") + names.endswith(".") == len(found):  # all have dots, as almost everywhere
        return found
    return [name for name in found if name[-1:] == "." or _is_plain_name(name)]


def _is_plain_name(text: str) -> bool:
    """Whether words before initials without dots are those of a name, not of a title such as "Basics of R"."""
    if text.count(" ") == 1:
        return text[0].isupper()
    *family, _ = text.split(" ")
    return len(family) <= 3 and all(word[:1].isupper() or word in _PARTICLES for word in family)
