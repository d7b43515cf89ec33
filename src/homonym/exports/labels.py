"""Labels of authors: one name for each author of a result, which no other author has.

Other tools know authors only by name. They split a name at its comma, drop accents and punctuation, and often keep
only the surname and the initials. So labels differ in surname and initials, not only in the text. Where two authors
would have the same, the one with fewer mentions gets another initial: "Wang, Wei" and "Wang, Wei B". An initial is the
only addition that all name parsers keep and that none takes for a surname. A number would become one, a bracket
is dropped or ends a list of names in the Web of Science, and "Wei-b" has the same initials as "Wei".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count

from homonym.names.parse import Name, parse_name
from homonym.records.fields.people import SUFFIXES, plain_letters

# Letters of further initials; "A" is left out, because the first author of a name has none.
_LETTERS = "BCDEFGHIJKLMNOPQRSTUVWXYZ"
# Maximum number of additions to try before a label counts as unreadable for our parser.
_MAX_TRIES = 1000
_APOSTROPHES = frozenset("'’ʼ")
_INITIALS = re.compile(r"[^\W\d_]{1,3}\.?")
_AND = re.compile(r"\band\b")
_SPACES = re.compile(r"\s+")


def clean_name(text: str) -> str:
    r"""A name with at most one comma, and without characters that separate names or fields in some format.

    >>> clean_name("Doe;\tJane {W.} <b>=1\n2, Jr"), clean_name("O’Neil-Łukasz,  Ann")
    ('Doe Jane W. b, Jr', 'O’Neil-Łukasz, Ann')
    """
    text = unicodedata.normalize("NFC", text)
    kept = "".join(letter if _is_plain(letter) else " " for letter in text)
    parts = [part for piece in kept.split(",") if (part := _SPACES.sub(" ", piece).strip(" -'").lstrip(". "))]
    # "and" is what separates names in BibTeX and RIS.
    family, *rest = [_AND.sub("And", part) for part in parts] or [""]
    given = " ".join(rest)
    return f"{family}, {given}" if given else family


def _is_plain(letter: str) -> bool:
    return letter in " ,.-" or letter in _APOSTROPHES or unicodedata.category(letter)[0] in "LM"


def display_name(name: str) -> str:
    """A name as "Surname, Given", in its own spelling if parsers can read that, otherwise in ASCII letters.

    >>> display_name("Jane W. Döe"), display_name("Berg, A. van der"), display_name("王小明"), display_name("DOE JW")
    ('Döe, Jane W.', 'van der Berg, A.', 'Wang, Xiaoming', 'DOE, JW')
    >>> display_name("Prof. Dr. Döe, Jane"), display_name("Smith, John, MD, PhD"), display_name("Smith, John, Jr., MD")
    ('Döe, Jane', 'Smith, John', 'Smith, John Jr.')
    """
    parsed = parse_name(name)
    clean = _without_titles(clean_name(name), parsed)
    for candidate in _readings(clean):
        if _is_same(parse_name(candidate), parsed) and _has_parts(candidate, parsed):
            return candidate
    return canonical_name(parsed) or clean


def _without_titles(clean: str, parsed: Name) -> str:
    """A name without its titles and degrees, which are the words that our parser does not need."""
    if len(plain_letters(clean)) <= len(plain_letters("".join([parsed.surname, *parsed.given, parsed.suffix]))):
        return clean
    words = clean.split(" ")
    for place in reversed(range(len(words))):
        others = words[:place] + words[place + 1 :]
        if words[place].isascii() and parse_name(" ".join(others)) == parsed:
            words = others
    return " ".join(words).strip(" ,")


def _readings(clean: str) -> Iterator[str]:
    """The ways to write a name with its surname first."""
    if "," in clean:
        yield clean
        family, _, given = clean.partition(", ")
        words = given.split(" ")
        for at in range(1, len(words)):  # particles behind the given name
            yield f"{' '.join([*words[at:], family])}, {' '.join(words[:at])}"
        return
    words = clean.split(" ")
    if len(words) == 1:
        yield clean
    for at in range(1, len(words)):
        yield f"{' '.join(words[at:])}, {' '.join(words[:at])}"
        yield f"{' '.join(words[:at])}, {' '.join(words[at:])}"


def _is_same(one: Name, other: Name) -> bool:
    return (one.surname, one.initials) == (other.surname, other.initials)


def _has_parts(candidate: str, parsed: Name) -> bool:
    """Whether the text before the comma is the surname, so that simple parsers read the name as we do."""
    family = candidate.partition(",")[0]
    return plain_letters(family) == plain_letters(parsed.surname) and ("," in candidate) == bool(parsed.initials)


def canonical_name(parsed: Name) -> str:
    """A parsed name as text.

    >>> canonical_name(parse_name("van der Berg, Jan-Willem K"))
    'Van Der Berg, Jan Willem K'
    """
    given = " ".join(parsed.given).title()
    return f"{parsed.surname.title()}, {given}" if given else parsed.surname.title()


@lru_cache(maxsize=1 << 16)
def short_name(label: str) -> str:
    """Surname and initials, as the Web of Science writes them.

    >>> short_name("Doe, Jane-Ann W."), short_name("Wang, Wei B"), short_name("DOE, JW"), short_name("Plato")
    ('Doe, JAW', 'Wang, WB', 'DOE, JW', 'Plato')
    """
    family, comma, given = label.partition(", ")
    return f"{family}, {''.join(initials_of(given))}" if comma else label


@lru_cache(maxsize=1 << 16)
def dotted_name(label: str) -> str:
    """Surname and initials, as Scopus writes them.

    >>> dotted_name("Doe, Jane-Ann W."), dotted_name("Wang, Wei B"), dotted_name("Plato")
    ('Doe J.A.W.', 'Wang W.B.', 'Plato')
    """
    family, comma, given = label.partition(", ")
    return f"{family} {''.join(f'{letter}.' for letter in initials_of(given))}" if comma else label


def initials_of(given: str) -> list[str]:
    """The initials of given names; capitals that are written together are initials, too, and "Jr" is none.

    >>> initials_of("Jane-Ann W."), initials_of("JW"), initials_of("J.W. ANN Jr.")
    (['J', 'A', 'W'], ['J', 'W'], ['J', 'W', 'A'])
    """
    words = [word for word in re.split(r"[\s.-]+", given) if word and word.lower() not in SUFFIXES]
    found: list[str] = []
    for number, word in enumerate(words):
        is_run = len(word) > 1 and word.isupper() and _INITIALS.fullmatch(word) and number == 0
        found += list(word) if is_run else [word[0].upper()]
    return found


def reductions(label: str) -> frozenset[str]:
    """What simple parsers may turn a label into: surname and initials, abbreviated as tools do.

    >>> sorted(reductions("Wang, Wei-Bin"))
    ['wang|w', 'wang|wb']
    """
    family, _, given = label.partition(",")
    parsed, surname = parse_name(label), plain_letters(family)
    first_letters = "".join(word[0] for word in given.split())
    ours = f"{plain_letters(parsed.surname)}|{parsed.initials.lower()}"
    return frozenset({own_reduction(label), f"{surname}|{plain_letters(first_letters)}", ours})


def own_reduction(label: str) -> str:
    """Surname and all initials of a label, folded."""
    family, _, given = label.partition(",")
    return f"{plain_letters(family)}|{plain_letters(''.join(initials_of(given)))}"


def further_initials(number: int) -> str:
    """The initials that are added to the label of the author with this number among those of its name, from 1.

    >>> [further_initials(number) for number in (1, 25, 26, 27)]
    ['B', 'Z', 'B B', 'B C']
    """
    letters: list[str] = []
    while number:
        number, rest = divmod(number - 1, len(_LETTERS))
        letters.append(_LETTERS[rest])
    return " ".join(reversed(letters))


def with_initials(label: str, initials: str) -> str:
    """A label with further initials, where every parser keeps them.

    >>> with_initials("Wang, Wei", "B"), with_initials("Plato", "B"), with_initials("Doe, J Jr", "B")
    ('Wang, Wei B', 'Plato, B', 'Doe, J B')
    """
    parsed = parse_name(label)
    extra = initials.replace(" ", "")
    for base in (label, canonical_name(parsed)):
        candidate = f"{base} {initials}" if "," in base else f"{base}, {initials}"
        found = parse_name(candidate)
        if found.surname == parsed.surname and found.initials == parsed.initials + extra:
            return candidate
    return candidate


def unique_labels(names: Sequence[str], mentions: Sequence[int], author_ids: Sequence[str]) -> list[str]:
    """The label of each author. Among authors with the same surname and initials, the largest gets no addition.

    >>> unique_labels(["Wang, Wei", "W. Wang", "Wang, Wen", "Li, X"], [2, 9, 1, 1], ["a", "b", "c", "d"])
    ['Wang, Wei B', 'Wang, W.', 'Wang, Wen C', 'Li, X']
    """
    labels = [""] * len(names)
    taken: set[str] = set()
    # How many additions a name has used up, so that the search does not begin at the first one again.
    used: dict[str, int] = {}
    for author in sorted(range(len(names)), key=lambda place: (-mentions[place], author_ids[place])):
        label = display_name(names[author])
        forms = reductions(label)
        if not forms.isdisjoint(taken):
            label, forms = _first_free(label, min(forms), taken, used)
        taken |= forms
        labels[author] = label
    return labels


def _first_free(label: str, name: str, taken: set[str], used: dict[str, int]) -> tuple[str, frozenset[str]]:
    begin = used.get(name, 0) + 1
    for number in count(begin):
        candidate = with_initials(label, further_initials(number))
        forms = reductions(candidate)
        if number - begin > _MAX_TRIES:  # a name that our parser cannot read: its initials as written must do
            forms = frozenset({own_reduction(candidate)})
        if forms.isdisjoint(taken):
            used[name] = number
            return candidate, forms
    raise AssertionError("there is always a free label")
