"""Compatibility: whether two mentions of one block can be one person, judged by their names alone.

The relation is symmetric and reflexive but not transitive: "J" can be Jane or John, who are two people. Incompatible
names are never clustered together, while compatible ones still need similar features. So a rule that is in doubt
accepts the pair.

Words
- An initial matches every word that begins with it, also in another script: J / Jane, Y / Iurii, "Th." / Thomas.
- A word of three or more letters matches the words that begin with it: Alex / Alexander, Fred / Frederick.
- Spellings of one sound are one name: Sergey / Serguei / Serhii, Jörg / Joerg, Youssef / Yusuf, Hyeon / Hyun.
- Short forms and forms in other languages are one name: Bob / Robert, Sasha / Aleksandr, Mohamed / Muhammad
  (data/given_name_forms.txt).
- One typing error is allowed in words of six or more letters: Christopher / Christoper. Not in the first letter, not if
  only the last vowel differs (Fernando / Fernanda), and not between two known names (Francis / Frances, Paul / Paula).
- Chinese and Japanese given names must be equal if the surname is Chinese or Japanese, too: "Wang, Yan" / "Wang, Yang",
  "Liu, Fang" / "Liu, Fangli" and "Nakamura, Hideki" / "Nakamura, Hideaki" are two people.

Given names
- A missing name is compatible with every name: Jane / Jane W., J / JW; but Jane W. / Jane H. are two people.
- Names may be joined: Xiao-Ming / Xiaoming / Xiao Ming / XM, Jean-Pierre / Jean / JP. "Wang, XM" is not "Wang, Xiaoli".
- The first two may be swapped if both are written out: Xiao Ming / Ming Xiao.
- The first may be missing if the second is written out: J. William / William, John William / William. Not in Chinese
  and Japanese names.
- Later ones may be missing if at least two remain and agree: José Antonio Maria / José Maria, JAM / JM.

Whole names
- Two suffixes must agree: Jr / III are two people; a missing suffix is compatible with every suffix.
- Surname and given name may be swapped: "Wei, Wang" / "Wang, Wei".
- Surnames are not compared, because blocking has done that. Where they differ, a given name that is part of the other
  surname is ignored: "Lopez, Ana Garcia" / "Garcia Lopez, Ana Maria".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from homonym.io.word_lists import lines_of, words_of
from homonym.names.parse import Name

Given = tuple[str, ...]

# Spellings of one sound; the rules are applied in this order.
_SPELLINGS = [
    (re.compile(pattern), sound)
    for pattern, sound in (
        (r"^HS", "X"),  # Wade-Giles
        (r"^[IJ](?=[AEOU])", "Y"),  # Iurii, Jurij
        (r"^YE", "E"),  # Yevgeny
        (r"TSCH|TCH|CZ", "CH"),
        (r"SCH|SZ", "SH"),
        (r"DZH|DJ|ZH", "J"),
        (r"PH", "F"),
        (r"KH", "H"),
        (r"([GTD])H", r"\1"),
        (r"CK|C(?![EHIY])|Q", "K"),
        (r"X(?!I)", "KS"),
        (r"GU(?=[EI])", "G"),  # Serguei
        (r"E[AEIJY]|I[EJ]|A[IJY]", "I"),  # Kareem, Sergey
        (r"AE", "A"),
        (r"OE(?!$)", "O"),  # Joerg, but Zoe
        (r"EO|OO|OU|EU|UE(?!$)", "U"),  # Hyeon, Joon, Youssef, Seung, Juergen
        (r"[JY]", "I"),
        (r"W", "V"),
        (r"Z", "S"),
        (r"H(?![AEIOU])|(?<=[AEIOUR])H", ""),  # Sarah, Serhii
        (r"(.)\1+", r"\1"),
        (r"I+(?=[AOU])", ""),  # Mariya, Liudmila
        (r"ER$", "R"),  # Aleksander
    )
]


@lru_cache(maxsize=2**16)
def sound(word: str) -> str:
    """The sound of a word: spellings of one sound get the same key."""
    key = word
    for pattern, replacement in _SPELLINGS:
        key = pattern.sub(replacement, key)
    return key or word


# Minimum length of a word that matches longer words, and of a word that may contain a typing error.
SHORTEST_PREFIX, _SHORTEST_SLIP = 3, 6
# Maximum number of words written as one, and of letters by which spellings of one sound differ in length.
_MOST_JOINED, _MOST_SILENT = 4, 2
# Maximum number of given names compared: longer names are lists of people, and every join doubles the readings.
MAX_NAMES = 10
_TWO_LETTER_INITIALS = frozenset("CH DZ GY IA IU JA JE JU PH SH SZ TH YA YE YU ZH".split())
_SAME_LETTER = frozenset("IJ IY JI JY YI YJ".split())
_OTHER_INITIALS = {"IA": "YJ", "IU": "YJ", "JA": "YI", "JU": "YI", "YA": "IJ", "YE": "EJ", "YU": "IJ", "JE": "EY"}

_CHINESE = (
    "(?:[JQX](?:I(?:A|E|AO|U|AN|N|ANG|NG|ONG)?|U(?:E|AN|N)?)"
    "|(?:[ZCS]H?|R)(?:A|E|AI|EI|AO|OU|AN|EN|ANG|ENG|ONG|I|U(?:A|O|AI|I|AN|N|ANG)?)"
    "|[BPMF](?:A|O|AI|EI|AO|OU|AN|EN|ANG|ENG|I(?:E|AO|AN|N|NG)?|U)"
    "|[DTNL](?:A|E|AI|EI|AO|OU|AN|EN|ANG|ENG|ONG|I(?:A|E|AO|U|AN|N|NG|ANG)?|U(?:O|I|AN|N|E)?)"
    "|[GKH](?:A|E|AI|EI|AO|OU|AN|EN|ANG|ENG|ONG|U(?:A|O|AI|I|AN|N|ANG)?)"
    "|Y(?:A|AN|ANG|AO|E|I|IN|ING|ONG|OU|U|UAN|UE|UN)|W(?:A|AI|AN|ANG|EI|EN|ENG|O|U)|A|AI|AN|ANG|AO|E|EN|ER|OU)"
)
_JAPANESE = "(?:(?:K?K|S?S|T?T|P?P|[GZDNHBMR])?Y?[AIUEO]|(?:S?SH|T?CH|T?TS|J|F|W)[AIUEO]|N(?![AIUEO]))"
_SYLLABLE = re.compile(_CHINESE).fullmatch
# No name is longer than 18 letters, and a longer word can be split into syllables in too many ways.
_WORD_OF = {
    "chinese": re.compile(f"(?=.{{1,18}}$){_CHINESE}+").fullmatch,
    "japanese": re.compile(f"(?=.{{1,18}}$){_JAPANESE}+").fullmatch,
}


def compatible(a: Name, b: Name) -> bool:
    """Whether two names of one block can belong to one person.

    >>> from homonym.names.parse import parse_name
    >>> jane, john, j_w = map(parse_name, ("Doe, Jane", "Doe, John", "Doe, J. W."))
    >>> compatible(jane, j_w), compatible(john, j_w), compatible(jane, john)
    (True, True, False)
    """
    if a.suffix and b.suffix and a.suffix != b.suffix:
        return False
    if a.surname == b.surname:
        return given_compatible(a.given, b.given, language_of(a.surname))
    return _swapped(a, b) or given_compatible(_without(a.given, b.surname), _without(b.given, a.surname))


def _swapped(a: Name, b: Name) -> bool:
    """Whether the names are like "Wei, Wang" and "Wang, Wei"."""
    return "".join(a.given) == b.surname.replace(" ", "") and "".join(b.given) == a.surname.replace(" ", "")


def _without(given: Given, surname: str) -> Given:
    words = surname.split()
    return tuple([name for name in given if len(name) == 1 or name not in words])


@lru_cache(maxsize=2**16)
def language_of(surname: str) -> str:
    """The language of a surname: "chinese" if it is one Chinese syllable, "japanese", or "" for all others."""
    if _SYLLABLE(surname):
        return "chinese"
    return "japanese" if _WORD_OF["japanese"](surname) else ""


def is_chinese(word: str) -> bool:
    """Whether a word can be read as Chinese syllables.

    >>> is_chinese("XIAOMING"), is_chinese("SMITH")
    (True, False)
    """
    return _WORD_OF["chinese"](word) is not None


def given_compatible(a: Given, b: Given, language: str = "") -> bool:
    """Whether given names are compatible, after a surname of this language ("chinese", "japanese", "" for others).

    >>> given_compatible(("XIAO", "MING"), ("XIAOMING",)), given_compatible(("JANE", "W"), ("JANE", "H"))
    (True, False)
    >>> given_compatible(("YAN",), ("YANG",)), given_compatible(("YAN",), ("YANG",), "chinese")
    (True, False)
    """
    if not a or not b or a == b:
        return True
    same = same_word(a[0], b[0], language)
    if len(a) == len(b) == 1:
        return same
    a, b = a[:MAX_NAMES], b[:MAX_NAMES]
    if language == "chinese" and not (_initials_fit(a, b) and _initials_fit(b, a)):
        return False
    if same and (_aligned(a[1:], b[1:], language) or _thinned(a, b, language)):
        return True
    written = (len(a) > 1 and len(a[1]) > 1) or (len(b) > 1 and len(b[1]) > 1)
    return _joined(a, b, language) or (written and _rearranged(a, b, language))


def _aligned(a: Given, b: Given, language: str) -> bool:
    """Whether words agree up to the end of the shorter name; several words may be one in the other name."""
    if not a or not b:
        return True
    return (same_word(a[0], b[0], language) and _aligned(a[1:], b[1:], language)) or _joined(a, b, language)


def _joined(a: Given, b: Given, language: str) -> bool:
    """Whether the first words of one name are the first word of the other."""
    return _absorbed(a, b, language) or _absorbed(b, a, language)


def _absorbed(parts: Given, whole: Given, language: str) -> bool:
    word, joined = whole[0], parts[0]
    if len(joined) == 1 or not word.startswith(joined[0]):
        return False
    for size, part in enumerate(parts[1:_MOST_JOINED], start=2):
        joined += part
        # "Xiao M" can be "Xiaoming", because an initial stands for the rest; but "Paul A" is not "Paula".
        fits = (word.startswith(joined) and word != joined) if len(part) == 1 else _spelled_alike(word, joined)
        if fits and _aligned(parts[size:], whole[1:], language):
            return True
    return False


def runs(given: Given) -> Iterator[str]:
    """The index keys of several words that can be one word of another name: see `index_keys`.

    >>> list(runs(("XIAO", "M"))), list(runs(("X", "MING")))
    (['XIAOM'], [])
    """
    for start, joined in enumerate(given[:MAX_NAMES]):
        for part in given[start + 1 : start + _MOST_JOINED] if len(joined) > 1 else ():
            joined += part
            yield joined if len(part) == 1 else f"/{sound(joined)}"


def _spelled_alike(a: str, b: str) -> bool:
    return a == b or (abs(len(a) - len(b)) <= _MOST_SILENT and sound(a) == sound(b))


def _thinned(a: Given, b: Given, language: str) -> bool:
    """Whether the longer name has the later words of the shorter one, in order: "J A M" and "J M"."""
    short, long = (a, b) if len(a) < len(b) else (b, a)
    rest = iter(long[1:])
    return 1 < len(short) < len(long) and all(any(same_word(x, y, language) for y in rest) for x in short[1:])


def _rearranged(a: Given, b: Given, language: str) -> bool:
    return _flipped(a, b, language) or _headless(a, b, language) or _headless(b, a, language)


def _flipped(a: Given, b: Given, language: str) -> bool:
    """Whether the names are like "Xiao Ming" and "Ming Xiao"."""
    written = len(a) > 1 and len(b) > 1 and min(map(len, a[:2] + b[:2])) > 1
    return written and same_word(a[0], b[1], language) and same_word(a[1], b[0], language)


def _headless(a: Given, b: Given, language: str) -> bool:
    """Whether the names are like "J William" and "William"."""
    written = len(a) > 1 and len(a[1]) >= SHORTEST_PREFIX and may_be_left(b[0], language)
    return written and same_word(a[1], b[0], language) and _aligned(a[2:], b[1:], language)


def may_be_left(word: str, language: str) -> bool:
    """Whether a word can be left as the first one after another was dropped; a Chinese name has no part to drop."""
    return len(word) >= SHORTEST_PREFIX and language not in _word(word).languages


def _initials_fit(initials: Given, written: Given) -> bool:
    """Whether initials fit a Chinese name: "XM" does not fit "Xiaoli", whose second syllable begins with L.

    One of both has several words.
    """
    if len(written) > 1 or len(initials[0]) > 1 or len(initials[1]) > 1:
        return True
    seconds = second_initials(written[0])
    return not seconds or initials[1] in seconds


@lru_cache(maxsize=2**16)
def second_initials(word: str) -> frozenset[str]:
    """Letters that can begin the second syllable of a Chinese word; none if it can be a single syllable."""
    if word in words_of("given_name_forms") or _SYLLABLE(word) or not _WORD_OF["chinese"](word):
        return frozenset()
    cuts = range(1, len(word))
    return frozenset(word[cut] for cut in cuts if _SYLLABLE(word[:cut]) and _WORD_OF["chinese"](word[cut:]))


@cache
def _groups() -> dict[str, frozenset[int]]:
    """The groups of forms that each sound belongs to; made on first use, because it takes too long for an import."""
    groups: dict[str, set[int]] = defaultdict(set)
    for number, group in enumerate(lines_of("given_name_forms")):
        for form in group.split():
            groups[sound(form)].add(number)
    return {form: frozenset(numbers) for form, numbers in groups.items()}


def load_given_names() -> None:
    """Make the groups of forms, which otherwise the first comparison of names does."""
    _groups()


class _GivenWord(NamedTuple):
    sound: str
    groups: frozenset[int]
    languages: frozenset[str]  # in whose syllables it can be written


@lru_cache(maxsize=2**18)
def _word(word: str) -> _GivenWord:
    languages = frozenset(language for language, matches in _WORD_OF.items() if matches(word))
    return _GivenWord(sound(word), _groups().get(sound(word), frozenset()), languages)


@lru_cache(maxsize=2**20)
def same_word(a: str, b: str, language: str = "") -> bool:
    """Whether two words can be one given name, after a surname of this language.

    >>> [same_word("BOB", other) for other in ("B", "ROBERT", "ROB", "BILL")]
    [True, True, True, False]
    """
    if a == b:
        return True
    if len(a) > len(b):
        a, b = b, a
    if len(a) == 1:
        return len(b) > 1 and (a == b[0] or a in _OTHER_INITIALS.get(b[:2], ""))
    sound_a, groups, languages = _word(a)
    sound_b, other_groups, other_languages = _word(b)
    known = groups and other_groups
    if not known and language in languages and language in other_languages:
        return False
    if sound_a == sound_b or not groups.isdisjoint(other_groups):
        return True
    if known:
        return False
    if b.startswith(a) and len(a) >= SHORTEST_PREFIX:
        return True
    if a in _TWO_LETTER_INITIALS:  # "Yu." is Yuri and Iurii
        return a[1] == b[1] and (a[0] == b[0] or a[0] + b[0] in _SAME_LETTER)
    return len(a) >= _SHORTEST_SLIP and _one_slip(a, b)


def _one_slip(a: str, b: str) -> bool:
    """Whether one letter is wrong, missing, or swapped with its neighbour; `a` is not longer than `b`."""
    size, longer = len(a), len(b)
    if longer - size > 1 or a[0] != b[0]:
        return False
    start = 1
    while start < size and a[start] == b[start]:
        start += 1
    if longer > size:
        return a[start:] == b[start + 1 :]
    if a[start + 1 :] == b[start + 1 :]:
        return not (start == size - 1 and a[-1] in "AEIOU" and b[-1] in "AEIOU")
    return a[start + 2 :] == b[start + 2 :] and a[start : start + 2] == b[start + 1] + b[start]


class IndexKeys(NamedTuple):
    """Keys of an inverted index of words: those that a word is stored under, and those that it is searched under."""

    stored: frozenset[str]
    searched: frozenset[str]


@lru_cache(maxsize=2**16)
def index_keys(word: str) -> IndexKeys:
    """The index keys of a word: if `same_word` accepts two words, one is searched under a key of the other.

    So only few pairs have to be compared. A longer word searches the shorter ones that match it, also those joined from
    several words (`runs`). Spellings of one sound, forms of one name and typing errors search each other.
    """
    key, groups, _ = _word(word)
    stored = {word, f"/{key}", *map(str, groups)}
    if len(word) >= _SHORTEST_SLIP:
        stored.update(word[:cut] + word[cut + 1 :] for cut in range(1, len(word)))
    shorter = {word[:size] for size in range(1, len(word))} | {*_OTHER_INITIALS.get(word[:2], "")}
    if word[0] + "I" in _SAME_LETTER or word[0] == "I":
        shorter |= {letter + word[1:2] for letter in "IJY"}
    return IndexKeys(frozenset(stored), frozenset(stored | shorter))
