"""Words and names to draw from, from the files in `data`, and words coined from syllables where lists are too short.

The lists make a corpus look natural. No entry refers to a real person, and mail domains end in `.example`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import count
from math import gcd, prod

# Middle initials that each first initial may have, "" for none: few, so that there are enough homonyms.
MIDDLE_INITIALS = ("", "A", "M", "J", "W")

FIELD_VENUES = ("{field} Letters", "Annals of {field}", "Reviews in {field}")
TOPIC_VENUES = ("Journal of {term} Research", "International Journal of {term} and {other}", "{term} Quarterly")
GENERAL_VENUES = ("Proceedings of the Academy", "Science Reports Online", "Open Research Letters")

# Successive coined words are this share of all words apart, so that they do not look alike (golden ratio).
STRIDE = 0.6180339887


@cache
def lines(name: str) -> tuple[str, ...]:
    """The lines of a list, without comments.

    >>> lines("institutions")[0]
    'University of {city}, {city}, {country}'
    """
    text = files("homonym.synthetic").joinpath("data", f"{name}.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if not line.startswith("#"))


@cache
def words(name: str) -> tuple[str, ...]:
    """The words of a list.

    >>> words("countries")[:2]
    ('Germany', 'France')
    """
    return tuple(word for line in lines(name) for word in line.split())


@cache
def syllables(name: str) -> tuple[tuple[str, ...], ...]:
    """Beginnings, middles and ends of coined words."""
    return tuple(tuple(line.split()) for line in lines(name))


@cache
def research_fields() -> tuple[tuple[str, str, str], ...]:
    """Each field of research: its category, its department, and the words that its topics share."""
    return tuple(
        (category, department, terms) for category, department, terms in (x.split("|") for x in lines("fields"))
    )


def coined_words(parts: tuple[tuple[str, ...], ...], taken: set[str]) -> Iterator[str]:
    """Yield new words without end, made of a beginning, middles and an end; shorter ones first, none of them taken.

    >>> words = coined_words((("La", "Mo"), ("ri",), ("by", "ton")), taken={"Moriby"})
    >>> [next(words) for _ in range(4)]
    ['Lariby', 'Moriton', 'Lariton', 'Laririby']
    """
    seen = set(taken)
    for length in count(1):
        choices = [parts[0], *[parts[1]] * length, parts[2]]
        for code in _scattered_range(prod(map(len, choices))):
            word = _spell(choices, code)
            if word not in seen:
                seen.add(word)
                yield word


def _scattered_range(size: int) -> Iterator[int]:
    """Yield range(size) in an order in which neighbours are far apart."""
    stride = max(1, int(size * STRIDE))
    while gcd(stride, size) > 1:
        stride += 1
    return (number * stride % size for number in range(size))


def _spell(parts: list[tuple[str, ...]], code: int) -> str:
    """Decode a number as one choice from each part."""
    word = ""
    for choices in parts:
        code, choice = divmod(code, len(choices))
        word += choices[choice]
    return word
