"""The institution of an affiliation: what stays the same when department, address and spelling change.

An affiliation is cut into parts at commas. The part with the highest kind of word names the institution: a university
before an academy, a hospital, an institute and a laboratory, and a department last. The words and kinds, in several
languages, are in data/institution_words.txt. There is no list of institutions or places.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from operator import eq
from typing import NamedTuple

from anyascii import anyascii

from homonym.features.text import EMAIL, ascii_words
from homonym.io.word_lists import lines_of

#: Begins every institution, so that none is equal to a whole affiliation, which has no punctuation.
PREFIX = "institution: "

# What separates affiliations in one text, and the parts of an affiliation.
_AFFILIATIONS = re.compile(r"[;|+\n]")
_PARTS = re.compile(r"[,:()\[\]]| [-–—] ")
# Postcodes, house numbers and the like: words with three digits, or digits and letters.
_CODE = re.compile(r"\d{3}|[a-z]\d|\d[a-z]")
_DIGIT = re.compile(r"\d")
_POSSESSIVE = re.compile(r"['’`]s\b")
# The lengths of the beginnings in the list of words. Looking for longer ones in a word of a million letters, as where
# an image stands in a field, would take hours.
_SHORTEST_BEGINNING, _LONGEST_BEGINNING = 4, 30


class _Word(NamedTuple):
    """A word of the list: the rank of its kind, lower for larger institutions, and its short form."""

    rank: int
    short: str


class _WordList(NamedTuple):
    """Whole words, beginnings of words, and the rank of each kind."""

    whole: dict[str, _Word]
    beginnings: dict[str, _Word]
    rank: dict[str, int]


@cache
def _word_list() -> _WordList:
    whole: dict[str, _Word] = {}
    beginnings: dict[str, _Word] = {}
    rank: dict[str, int] = {}
    for line in lines_of("institution_words", "homonym.features"):
        entry, words = line.split(":")
        kind, short = entry.split()
        found = _Word(rank.setdefault(kind, len(rank)), short.replace("-", ""))
        for word in words.split():
            (beginnings if word.endswith("-") else whole)[word.removesuffix("-")] = found
    return _WordList(whole, beginnings, rank)


@lru_cache(maxsize=1 << 16)
def _listed_word(word: str) -> _Word:
    """The entry of a word in the list; the word itself if it has none."""
    whole, beginnings, rank = _word_list()
    if found := whole.get(word):
        return found
    for length in range(min(len(word), _LONGEST_BEGINNING), _SHORTEST_BEGINNING - 1, -1):
        if found := beginnings.get(word[:length]):
            return found
    return _Word(rank["word"], word)


class _Part(NamedTuple):
    """A part of an affiliation: its rank, whether its words name nothing in particular, and its short words.

    `feature` is the feature of the institution that it names. `order` is less for a part that is preferred to another
    one, by rank, then by whether it is general.
    """

    rank: int
    is_general: bool
    words: tuple[str, ...]
    feature: str
    order: int


def institutions(affiliation: str) -> tuple[str, ...]:
    """The institutions of an affiliation, as features; several if the text has several affiliations.

    >>> institutions("Univ Bonn, Dept Phys, D-53115 Bonn, Germany")
    ('institution: bonn univ',)
    >>> institutions("Department of Physics, University of Bonn, Bonn") == institutions("Universität Bonn")
    True
    >>> institutions("School of Computing, KAIST; Lab of Optics, Université de Genève")
    ('institution: kaist', 'institution: geneve univ')
    """
    rank = _word_list().rank
    text = EMAIL.sub(" ", affiliation) if "@" in affiliation else affiliation
    several = _AFFILIATIONS.split(text)
    if len(several) == 1:  # most texts, and there are many: the rest takes as long as this
        only = _institution(text)
        return (only.feature,) if only and only.rank < rank["part"] else ()
    found = [part for one in several if (part := _institution(one)) and part.rank < rank["part"]]
    certain = [part for part in found if part.rank < rank["unlisted"]]
    return tuple(dict.fromkeys(part.feature for part in found[:1] + certain))


def _institution(affiliation: str) -> _Part | None:
    """The first of the parts with the highest kind; None if none names anything."""
    best = None
    for text in _PARTS.split(affiliation):
        part = _part(text)
        if (best is None or part.order < best.order) and len(part.words) > part.is_general:
            best = part
    return best


@lru_cache(maxsize=1 << 16)
def _part(text: str) -> _Part:
    """The rank and the words of a part; the words are distinct and in alphabetical order."""
    if not text.isascii() or "'" in text or "`" in text:
        text = _POSSESSIVE.sub("s", text)
        text = text if text.isascii() else anyascii(text)
    words = ascii_words(text)
    if _DIGIT.search(text):
        words = [word for word in words if not _CODE.search(word)]
    listed = [_listed_word(word) for word in words]
    if first := _behind_department(words, listed):
        words, listed = words[first:], listed[first:]
    ranks, short = [word.rank for word in listed], [word.short for word in listed]
    distinct = set(short)
    distinct.discard("")
    rank, is_general, named = _rank(ranks, short), not any(map(eq, words, short)), tuple(sorted(distinct))
    return _Part(rank, is_general, named, PREFIX + " ".join(named), 2 * rank + is_general)


def _rank(ranks: list[int], short: list[str]) -> int:
    """The rank of a part with these words: an institute of technology is a university, a school of something a part."""
    rank = _word_list().rank
    if rank["place"] in ranks:
        return rank["place"]
    highest = min(ranks, default=rank["place"])
    if highest == rank["school"] and short[0] == "sch":
        return rank["part"]
    if "inst" in short and "tech" in short:
        return rank["university"]
    return rank["unlisted"] if highest == rank["word"] else highest


def _behind_department(words: list[str], listed: list[_Word]) -> int:
    """Where the words behind a department begin: "Dept of Physics University of Bonn", "Centre at Bonn University"."""
    rank = _word_list().rank
    university = rank["university"]
    is_university = [word.rank == university for word in listed]
    if True not in is_university:
        return 0
    begins_with_part = listed[0].rank in (rank["part"], rank["school"])
    for place in range(len(words) - 1, 0, -1):
        if words[place] == "at" and any(is_university[place:]):
            return place + 1
        starts = is_university[place] and begins_with_part
        if starts and place + 1 < len(words) and not listed[place + 1].short:
            return place
    return 0
