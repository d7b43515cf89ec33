"""Degrees behind names and titles before them: "Smith, John, MD, PhD", "Prof. Dr. Jane Doe".

They are no part of a name. Left in it, they would be read as given names or as further authors, and they would be shown
in every list of names that a result is exported to.
"""

from __future__ import annotations

import re

from homonym.io.word_lists import words_by_kind
from homonym.records.fields.people import SUFFIXES

_LISTED = words_by_kind("degrees", "homonym.records.fields")
#: Degrees that count wherever they stand, and all degrees, which count in "Surname, Given, MA".
DEGREES = _LISTED["anywhere"]
_AFTER_COMMA = DEGREES | _LISTED["comma"]

# What stands before a name without being part of it; "Dr. med." and "Dr.-Ing." are titles, too.
_DEGREE_IN_FRONT = (
    r"[BM]\. ?Sc\.|Dipl\.(?:[ -]?[A-Z][a-z]{1,8}\.)?|(?:RN|MU|Ph|JU|MV)Dr\.|Ing\.|Mag\.|Doc\.|Priv\.-Doz\."
    r"|Dott\.(?:ssa\b)?|Mgr\.|mgr\b\.?|inż\.|doc\."
)
# Ranks: "Assoc. Prof.", "Assistant Professor", "Jun.-Prof.", "apl. Prof.", "Yrd. Doç.", "PD Dr.".
_RANK = (
    r"(?:(?:Ass(?:oc|is|ist|t)\.|Associate|Assistant|Emeritus|Univ\.-|Jun\.-|apl\.) ?)?[Pp]rof(?:essor\b|\.)(?:ssa\b)?"
)
_TITLE = (
    rf"(?:{_RANK}|(?:Yrd\. ?)?Doç\.|(?:PD )?Dr\b\.?(?:ssa\b)?|Dra\.|dr\b\.?|M(?:r\b|rs\b|s\.)\.?|{_DEGREE_IN_FRONT})"
    r"(?:[ -](?:Ing\.|(?:[a-zż]{1,8}\.)++))*+ ++"
)
_TITLES = re.compile(rf"(?:{_TITLE})++(?=\S)")


def _any_of(words: frozenset[str]) -> str:
    """An expression for any of the words, with or without full stops; grouped by letters, it is much faster."""
    groups: dict[str, list[str]] = {}
    for word in sorted(words):
        groups.setdefault(word[:1], []).append(word[1:])
    dot = r"\.? ?"
    branches = (f"{first}{dot}(?:{'|'.join(map(dot.join, rest))})" for first, rest in groups.items())
    return f"(?:{'|'.join(branches)})"


#: What every name has that `without_degrees` changes, in the notation of Python and of Arrow; few other names match.
DEGREE_OR_TITLE = (
    rf"[ ,./]{_any_of(_AFTER_COMMA)}[., ]*$"
    r"|(?:^|,) *(?:univ\.-|jun\.-|apl\. ?|pd |yrd\. ?|emeritus |ass[a-z]{1,6}\.? )?"
    r"(?:prof|dr|m(?:r|rs|s)\b|[bm]\. ?sc\.|dipl\.|[a-z]{2}dr\.|ing\.|mag\.|mgr|do[cç]\.|priv\.|dott\.|inż\.)"
)
_IN_TITLES = re.compile(r"Ms\.|Sc\.|Dipl\.|Ing\.|Mag\.|[Dd]o[cç]\.|Priv\.|Dott\.|Mgr\.|dr\.|prof\.|inż\.")
_SUSPICIOUS = re.compile(DEGREE_OR_TITLE, re.IGNORECASE)
# How degrees end: "MD", "MSc", "Phd", "Esq"; with this check first, few names are searched for the others.
_ENDS = frozenset("cdq., ") | {word[-1] for word in _AFTER_COMMA}

# Particles that begin a surname: "De Souza, MPH" may have initials. "Ben" is more often a given name.
_PARTICLES = frozenset().union(*(words for kind, words in words_by_kind("particles").items() if kind != "also-given"))


def may_have_degrees(name: str) -> bool:
    """Whether a name may have a degree or a title; a quick check, which few other names pass.

    >>> may_have_degrees("Smith, John, MSc"), may_have_degrees("Dr. Jane Doe"), may_have_degrees("Doe, Jane M.")
    (True, True, False)
    """
    end = name[-3:].rstrip(".")
    is_initial = end[-2:-1] == " " and "Ph" not in name  # "Doe, Jane M."
    if (
        (end[-1:] in _ENDS and not is_initial)
        or "Dr" in name
        or "Prof" in name
        or "Mr" in name
        or name.startswith(("dr ", "mgr ", "Associate ", "Assistant ", "Emeritus "))
        or ("." in name and _IN_TITLES.search(name))
    ):
        return _SUSPICIOUS.search(name) is not None
    return False


def without_degrees(name: str) -> str:
    """A name without the degrees behind it and the titles before it; the name itself if nothing would be left.

    >>> [without_degrees(name) for name in ("Smith, John, MD, PhD", "Jane Doe, MPH", "Smith, John Ph.D.", "Doe J, MA")]
    ['Smith, John', 'Jane Doe', 'Smith, John', 'Doe J, MA']
    >>> [without_degrees(name) for name in ("García López, M.D.", "Jane Doe, MD", "Jane Doe, MD, PhD", "Doe, Jane, MD")]
    ['García López, M.D.', 'Jane Doe, MD', 'Jane Doe', 'Doe, Jane']
    >>> [without_degrees(name) for name in ("Doe, MD", "Rahman, Md", "De Souza, MD", "Ma, Jun", "Smith, J., Jr., MD")]
    ['Doe, MD', 'Rahman, Md', 'De Souza, MD', 'Ma, Jun', 'Smith, J., Jr.']
    >>> [without_degrees(name) for name in ("Dipl.-Ing. Jane Doe", "Doe, M. Sc. Jane", "Doc. RNDr. P. Doe", "M. S. Do")]
    ['Jane Doe', 'Doe, Jane', 'P. Doe', 'M. S. Do']
    >>> [without_degrees(name) for name in ("Jane Doe MD, PhD", "Jane Doe MBBS, MD, PhD", "García López, PhD")]
    ['Jane Doe', 'Jane Doe', 'García López']
    >>> without_degrees("Smith, Jr., MA"), without_degrees("Smith, Jr., Ann, MA")
    ('Smith, Jr., MA', 'Smith, Jr., Ann')
    >>> [without_degrees(name) for name in ("Jane Doe, RN, PhD", "Assoc. Prof. Jane Doe", "doc. Ing. Jan Doe, CSc.")]
    ['Jane Doe', 'Jane Doe', 'Jan Doe']
    >>> [without_degrees(name) for name in ("PD Dr. Jane Doe", "Yrd. Doç. Dr. Ali Doe", "prof. dr hab. inż. Jan Doe")]
    ['Jane Doe', 'Ali Doe', 'Jan Doe']
    >>> [without_degrees(name) for name in ("Prof. Dr. med. Jane Doe", "Doe, Dr. Jane", "Dr.-Ing. Doe, J", "Doe, Dr")]
    ['Jane Doe', 'Doe, Jane', 'Doe, J', 'Doe, Dr']
    """
    if not may_have_degrees(name):
        return name
    parts = [part.strip() for part in name.split(",") if part.strip()]
    # Initials in "García López, MD", a degree in "Jane Doe, MD": the parser of names decides.
    is_open = len(parts) == 2 and _letters(parts[1]) == "MD"
    given = len(parts)
    while len(parts) > 1 and not is_open and _are_degrees(parts[-1], parts[:-1], among=len(parts) < given):
        parts.pop()
    if len(parts) == 1 < given:
        parts[0] = _without_last_degree(parts[0])
    if len(parts) > 1:
        parts[-1] = _without_last_degree(parts[-1])
        parts[1] = _TITLES.sub("", parts[1], count=1) if _TITLES.match(parts[1]) else parts[1]
    found = _TITLES.match(parts[0]) if parts else None
    if found and (len(parts) > 1 or " " in parts[0][found.end() :]):
        parts[0] = parts[0][found.end() :]
    return ", ".join(parts) or name


def is_degree(text: str, *, has_given: bool = False) -> bool:
    """Whether a text between commas is a degree, as in "Jane Doe, PhD, Richard Roe"; `has_given`: in "Doe, Jane, MA".

    >>> is_degree("Ph.D."), is_degree("MPH"), is_degree("MA"), is_degree("M.A.", has_given=True), is_degree("Phil Doe")
    (True, True, False, True, False)
    """
    return _is_degree(_letters(text), has_given=has_given)


def _letters(text: str) -> str:
    return text.replace(".", "").replace(" ", "")


def _are_degrees(text: str, before: list[str], *, among: bool) -> bool:
    """Whether a text behind a comma is one degree or several, and no given names or initials.

    `among`: another degree follows, so that "RN" of "Jane Doe, RN, PhD" is one, too.
    """
    words = [_letters(word) for word in text.replace("/", " ").split()]
    has_given = (among and _is_whole(before[0])) or any(_letters(part).lower() not in SUFFIXES for part in before[1:])
    if _is_degree(_letters(text), has_given=has_given) or all(_is_degree(word, has_given=has_given) for word in words):
        return has_given or not _letters(text).isupper() or _is_whole(before[0])
    return False


def _is_degree(word: str, *, has_given: bool) -> bool:
    """Whether a word is a degree. "Ma", "Do" and "Md" are names, and without a comma "MA" may be initials."""
    if word.upper() in DEGREES or word == "MD":
        return True
    return has_given and word.upper() in _AFTER_COMMA and (word.isupper() or len(word) > 3)


def _is_whole(name: str) -> bool:
    """Whether a text without comma is a whole name, so that initials cannot follow."""
    words = name.split()
    return len(words) > 1 and not name.isupper() and words[0].upper() not in _PARTICLES


def _without_last_degree(given: str) -> str:
    """Given names without degrees at their end: "John PhD"; "John MD", but "J MD" has three initials."""
    words = given.split()
    while len(words) > 1:
        size = 2 if len(words) > 2 and _letters("".join(words[-2:])).upper() == "PHD" else 1
        degree = _letters("".join(words[-size:]))
        is_md = degree == "MD" and any(len(word) > 2 and not word.isupper() for word in words[:-1])
        if not is_md and not (degree.upper() in DEGREES and (not degree.isupper() or len(degree) > 3)):
            break
        words = words[:-size]
    return " ".join(words)
