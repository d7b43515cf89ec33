"""Spellings of one name -> one normal form, so that they meet in one block.

`parse_name` keeps a name as it is written; `standard_name` goes one step further and is what the blocking scheme `auto`
uses. The rules act on parsed names:

- Umlauts: MUELLER is MULLER, as Müller is after transliteration. Only inside words of five or more letters (AE: six),
  not after a vowel or Q (Bauer is not Baur), and not in words of Chinese or Japanese syllables (Maeda). Not "UEN" at
  the end of a word (Chuen is not Chun).
- Particles are written together with the next word: VAN DER BERG is VANDERBERG, LE CUN is LECUN.
- Russian and Bulgarian surnames, known by their endings: PESKOFF is PESKOV, DVURECHENSKII is DVURECHENSKY, TOSCHEV is
  TOSHEV, SKLIAROVA is SKLYAROVA. Polish names in -SKI are other names.
- Chinese names with the surname first: "Wang Xiaoming", read as the surname XIAOMING, is WANG, XIAOMING. The first word
  must be a common Chinese surname and the second several Chinese syllables, which surnames do not have.

A rule is here only if it brings more spellings of one person together than names of different people. docs/accuracy.md
has the figures of each rule, and of those that failed (Satoh / Sato, Aaberg / Aberg, MacDonald / McDonald).
"""

from __future__ import annotations

import re
from functools import lru_cache

from homonym.io.word_lists import words_by_kind, words_of
from homonym.names.compatibility import is_chinese, language_of
from homonym.names.parse import MAX_CACHED_NAMES, Name

_UMLAUT = re.compile(r"(?<![AEIOUQ])(?:(O)E|(U)E(?!N$))(?=[^AEIOUY])")
_LONG_UMLAUT = re.compile(r"(?<![AEIOUQ])AE(?=[^AEIOUY])")
# Minimum numbers of letters: Saenz and Sanz, Yuen and Yun, Baek and Bak are different surnames.
_SHORTEST_UMLAUT, _SHORTEST_AE = 5, 6
_PARTICLES = frozenset().union(*words_by_kind("particles").values())
_SLAVIC = re.compile(r"(?:[OE](?:V|FF|VA)|SK(?:Y|II|IY|IJ|YI|YY|YJ|AYA|AIA|AJA))$")
_SLAVIC_SPELLINGS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"(?<=[OE])FF$", "V"),
        (r"SK(?:II|IY|IJ|YI|YY|YJ)$", "SKY"),
        (r"SKA[IJ]A$", "SKAYA"),
        (r"TSCH|TCH", "CH"),
        (r"(?<!S)SCH(?=[AEIOUY])", "SH"),
        (r"(?<=[^AEIOUY])[IJ](?=[AU])", "Y"),
    )
)
# Minimum number of letters of a word with a Slavic ending.
_SHORTEST_SLAVIC = 6


@lru_cache(maxsize=MAX_CACHED_NAMES)
def standard_surname(surname: str) -> str:
    """The normal form of a surname of upper-case ASCII words.

    >>> [standard_surname(text) for text in ("MUELLER", "BAUER", "VAN DER BERG", "GARCIA DE LA CRUZ", "PESKOFF")]
    ['MULLER', 'BAUER', 'VANDERBERG', 'GARCIA DELACRUZ', 'PESKOV']
    """
    return " ".join([_standard_word(word) for word in _with_particles_joined(surname.split())])


def _standard_word(word: str) -> str:
    if len(word) < _SHORTEST_UMLAUT or language_of(word):
        return word
    if len(word) >= _SHORTEST_SLAVIC and _SLAVIC.search(word):
        for pattern, replacement in _SLAVIC_SPELLINGS:
            word = pattern.sub(replacement, word)
    word = _UMLAUT.sub(r"\1\2", word)
    return _LONG_UMLAUT.sub("A", word) if len(word) >= _SHORTEST_AE else word


def _with_particles_joined(words: list[str]) -> list[str]:
    """The words, with particles as the beginning of the next word."""
    joined, particles = [], ""
    for word in words[:-1]:
        particles += word
        if word not in _PARTICLES and particles not in _PARTICLES:
            joined.append(particles)
            particles = ""
    return [*joined, particles + words[-1]] if words else []


def standard_name(name: Name) -> Name:
    """The normal form of a name: names that differ only in their spelling get equal surnames.

    >>> from homonym.names.parse import parse_name
    >>> [standard_name(parse_name(text)).key for text in ("Mueller, A.", "Li Fei-Fei", "Fei-Fei Li")]
    ['MULLER, A', 'LI, FF', 'LI, FF']
    """
    if _may_be_reversed(name):
        return _with_surname_first(name)
    surname = standard_surname(name.surname)
    return name if surname == name.surname else name._replace(surname=surname)


def _may_be_reversed(name: Name) -> bool:
    """Whether a name consists of a common Chinese surname, read as a given name, and Chinese syllables."""
    return (
        len(name.given) == 1
        and name.given[0] in words_of("chinese_surnames")
        and is_chinese(name.surname.replace(" ", ""))
    )


def _with_surname_first(name: Name) -> Name:
    """A name with its parts in the right order; the name as it is if no rule tells the order."""
    given = name.surname.split()
    word = "".join(given)
    # One word must not be a single syllable or a Japanese surname. In "Li Da Xu", DA was taken for a particle.
    is_surname = given[0] in _PARTICLES if len(given) > 1 else bool(language_of(word))
    if is_surname or word in words_of("compound_surnames_latin"):
        return name
    return Name(name.given[0], "".join([part[0] for part in given]), tuple(given), name.suffix)
