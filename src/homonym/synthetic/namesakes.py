"""Which authors share a name, what they are called, and how they write it.

A *name* is the normal form `SURNAME, INITIALS`. Its authors may be called Jane W. and John W., or both Jane W.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from anyascii import anyascii

from homonym.synthetic.corpus import Corpus
from homonym.synthetic.lists import GIVEN_NAMES, MIDDLE_INITIALS, SURNAME_PARTS, SURNAMES, coined
from homonym.synthetic.noise import Integers, Noise

# Names with 1, 2, ..., 10 authors in Web of Science: Backes (JCDL 2018), Table 1.
NAMES_BY_AUTHORS = (229653, 14108, 3630, 1657, 860, 557, 322, 260, 174, 141)
# Combinations of surname and initials per name in use: where all were in use, dropping an initial would always hit
# another name.
SPARE_NAMES = 1.5
# Homonyms who share their given name for other reasons than chance: popular combinations.
POPULAR_GIVEN_NAME = 0.25
STYLES = 6  # ways of `spelled` to write a name
ASCII_STYLE = 3  # the one of old databases, in plain capitals


class Namesakes:
    """Names of authors, by author number.

    Authors are shuffled, then dealt out to names in that order: first the huge ones, then those with ten authors,
    nine, and so on. So homonyms are people from anywhere, and a name follows from a number without a table.
    """

    def __init__(self, corpus: Corpus, authors: int) -> None:
        self._noise = Noise(corpus.seed)
        self.authors = authors
        plan = list(_names_by_size(corpus, authors))
        self._sizes = np.array([size for size, _ in plan])
        counts = np.array([names for _, names in plan])
        self._first_author = np.concatenate([[0], np.cumsum(self._sizes * counts)[:-1]])
        self._first_name = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self.names = int(counts.sum())
        self._name_people()

    def _name_people(self) -> None:
        """Lay out surnames, initials and the given names behind each initial."""
        by_letter: dict[str, list[str]] = {}
        for given in GIVEN_NAMES:
            by_letter.setdefault(given[0], []).append(given)
        self.initials = [letter + middle for letter in by_letter for middle in MIDDLE_INITIALS]
        self.given_names = [given for names in by_letter.values() for given in names]
        self._given_count = np.array([len(names) for names in by_letter.values()])
        self._first_given = np.concatenate([[0], np.cumsum(self._given_count)[:-1]])
        needed = int(self.names * SPARE_NAMES / len(self.initials)) + 1
        taken = {anyascii(surname) for surname in SURNAMES}
        coinage = coined(SURNAME_PARTS, taken)
        self.surnames = SURNAMES + list(islice(coinage, max(0, needed - len(SURNAMES))))
        self.ascii_surnames = [anyascii(surname) for surname in self.surnames]

    def name(self, author: Integers) -> Integers:
        """Give the number of each author's name."""
        place = self._noise.shuffled(self.authors, "namesakes", author)
        region = np.searchsorted(self._first_author, place, side="right") - 1
        named: Integers = self._first_name[region] + (place - self._first_author[region]) // self._sizes[region]
        return named

    def key(self, name: Integers) -> tuple[Integers, Integers]:
        """Give the surname and the initials of each name, as places in their lists."""
        place = self._noise.shuffled(len(self.surnames) * len(self.initials), "names", name)
        return place // len(self.initials), place % len(self.initials)

    def given(self, author: Integers, name: Integers, initials: Integers) -> Integers:
        """Give each author's given name, as a place in the list."""
        letter = initials // len(MIDDLE_INITIALS)
        popular = self._noise.below(self._given_count[letter], "popular given name", name)
        own = self._noise.below(self._given_count[letter], "given name", author)
        shared = self._noise.chance(POPULAR_GIVEN_NAME, "is popular", author)
        chosen: Integers = self._first_given[letter] + np.where(shared, popular, own)
        return chosen

    def short(self, author: Integers) -> list[str]:
        """Write each author as reference lists do: `Doe, JW`."""
        surname, initials = self.key(self.name(author))
        pairs = zip(surname.tolist(), initials.tolist(), strict=True)
        return [f"{self.surnames[s]}, {self.initials[i]}" for s, i in pairs]


def _names_by_size(corpus: Corpus, authors: int) -> Iterator[tuple[int, int]]:
    """Yield (authors per name, number of names), together naming every author.

    The weights are Table 1 to the power of 1/ambiguity, which flattens the curve and keeps its shape.
    Fractions are carried on to the next smaller size, so that small corpora have some of each.
    """
    yield corpus.huge_authors, corpus.huge_blocks
    authors -= corpus.huge_authors * corpus.huge_blocks
    weights = np.array(NAMES_BY_AUTHORS) ** (1 / corpus.ambiguity)
    shares = weights / (weights * np.arange(1, len(weights) + 1)).sum()
    carried = 0.0
    left = authors
    for size in range(len(weights), 1, -1):
        carried += authors * shares[size - 1]
        names = min(int(carried), left // size)
        carried -= names
        left -= size * names
        yield size, names
    yield 1, left


def spelled(style: int, surname: str, given: str, initials: str) -> str:
    """Write a name in one of the STYLES; all of them have the same normal form.

    >>> [spelled(style, "Doe", "Jane", "JW") for style in range(STYLES)]
    ['Doe, Jane W.', 'Jane W. Doe', 'Doe, J. W.', 'DOE JW', 'J. W. Doe', 'Doe, J.W.']
    """
    middle = initials[1:]
    match style:
        case 0:
            return f"{surname}, {given} {middle}." if middle else f"{surname}, {given}"
        case 1:
            return f"{given} {middle}. {surname}" if middle else f"{given} {surname}"
        case 2:
            return f"{surname}, {initials[0]}. {middle}." if middle else f"{surname}, {initials}."
        case 3:  # ASCII_STYLE
            return f"{surname.upper()} {initials}"
        case 4:
            return f"{initials[0]}. {middle}. {surname}" if middle else f"{initials}. {surname}"
        case _:
            return f"{surname}, {initials[0]}.{middle}." if middle else f"{surname}, {initials}."
