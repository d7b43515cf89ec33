"""Authors as documents print them: names, affiliations, addresses, identifiers."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from homonym.synthetic import vocabulary
from homonym.synthetic.corpus import Corpus
from homonym.synthetic.population import ASCII_STYLE, MEMBERS, STYLES, Population, write_name
from homonym.synthetic.random_draws import Flags, Integers

# How often each field is missing, as a multiple of `Corpus.missing`: what libraries lack most.
MISSING = {
    "abstract": 1.0,
    "year": 0.05,
    "venue": 0.2,
    "categories": 0.5,
    "keywords": 3.0,
    "affiliations": 2.0,
    "references": 1.5,
    "referenced_authors": 2.5,
}


def thinned(values: Iterable[Any], missing: Flags) -> list[Any]:
    """Leave a value out where it is missing."""
    return [None if gone else value for gone, value in zip(missing.tolist(), values, strict=True)]


def records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """Turn columns into records without the empty fields."""
    rows = zip(*columns.values(), strict=True)
    return [{name: value for name, value in zip(columns, row, strict=True) if value} for row in rows]


def grouped(values: list[Any], counts: Integers) -> list[list[Any]]:
    """Cut a list into runs of these lengths."""
    ends = np.cumsum(counts).tolist()
    return [values[start:end] for start, end in zip([0, *ends], ends, strict=False)]


WITH_DEPARTMENT = 0.4  # of the documents print departments
CORRESPONDING_EMAIL = 0.35  # of the documents have the address of one author
LAST_CORRESPONDS = 0.4  # of these it is the last one, otherwise the first
MAIL_DIGITS = 10  # half of the mail names carry a digit, so that homonyms at one place rarely share an address
IDENTIFIED = 0.1  # of the authors have an ORCID iD, and print it
IDENTIFIED_DOCUMENT = 0.5  # on half of their documents


class Mentions:
    """Writes the authors of documents."""

    def __init__(self, corpus: Corpus, population: Population) -> None:
        self.corpus, self.population = corpus, population
        self.noise = population.noise
        cities = list(islice(vocabulary.coined(vocabulary.CITY_PARTS, set()), population.institutions))
        order = self.noise.shuffled(len(cities), "cities", np.arange(len(cities))).tolist()
        self.cities = [cities[place] for place in order]
        self.institutions = [_institution(number, city) for number, city in enumerate(self.cities)]
        self.departments = [line.split("|")[1] for line in vocabulary.FIELDS]

    def write(self, authors: Integers, owner: Integers) -> list[dict[str, Any]]:
        """Write one record per mention, `owner` being the document it is on."""
        progress = self.population.progress(owner // self.population.communities)
        place = self.population.institution(authors, progress)
        share = self.corpus.missing * MISSING["affiliations"]
        gone = self.noise.chance(share, "missing affiliations", owner, authors)
        columns = {
            "name": self._names(authors, owner),
            "affiliations": thinned(self._affiliations(authors, owner, place), gone),
            "emails": self._emails(authors, owner, place),
            "ids": self._ids(authors, owner),
            "author": [author_id(author) for author in authors.tolist()],
        }
        return records(columns)

    def _names(self, authors: Integers, owner: Integers) -> list[str]:
        """Write names in the document's style; a few lose their middle initial."""
        namesakes = self.population.namesakes
        name = namesakes.name(authors)
        surname, initials = namesakes.key(name)
        given = namesakes.given(authors, name, initials)
        varied = self.noise.chance(self.corpus.variants, "varied", owner)
        style = np.where(varied, 1 + self.noise.below(STYLES - 1, "style", owner), 0)
        dropped = self.noise.chance(self.corpus.dropped_initials, "dropped", owner, authors)
        rows = zip(style.tolist(), surname.tolist(), given.tolist(), initials.tolist(), dropped.tolist(), strict=True)
        written = []
        for s, family, first, letters, short in rows:
            key = namesakes.initials[letters]
            spelling = namesakes.ascii_surnames if s == ASCII_STYLE else namesakes.surnames
            written.append(write_name(s, spelling[family], namesakes.given_names[first], key[0] if short else key))
        return written

    def _affiliations(self, authors: Integers, owner: Integers, place: Integers) -> list[list[str]]:
        second = self.population.second_institution(authors)
        field = authors // MEMBERS % self.population.fields
        printed = self.noise.chance(WITH_DEPARTMENT, "department", owner)
        rows = zip(place.tolist(), second.tolist(), field.tolist(), printed.tolist(), strict=True)
        return [self._affiliation(*row) for row in rows]

    def _affiliation(self, place: int, second: int, field: int, department: bool) -> list[str]:
        first = self.institutions[place]
        if department:
            first = f"Department of {self.departments[field]}, {first}"
        return [first, self.institutions[second]] if second >= 0 and second != place else [first]

    def _emails(self, authors: Integers, owner: Integers, place: Integers) -> list[list[str] | None]:
        """Give the corresponding author's address, if the document has one."""
        first = np.concatenate([[True], owner[1:] != owner[:-1]])
        last = np.concatenate([first[1:], [True]])
        corresponds = np.where(self.noise.chance(LAST_CORRESPONDS, "last corresponds", owner), last, first)
        corresponds &= self.noise.chance(CORRESPONDING_EMAIL, "e-mail", owner)
        emails: list[list[str] | None] = [None] * len(authors)
        where = np.flatnonzero(corresponds)
        for mention, address in zip(where.tolist(), self._addresses(authors[where], place[where]), strict=True):
            emails[mention] = [address]
        return emails

    def _addresses(self, authors: Integers, place: Integers) -> list[str]:
        """Write each author's address at an institution, in the author's own manner."""
        namesakes = self.population.namesakes
        name = namesakes.name(authors)
        surname, initials = namesakes.key(name)
        given = namesakes.given(authors, name, initials)
        digit = self.noise.below(2 * MAIL_DIGITS, "digit", authors)
        rows = zip(surname.tolist(), given.tolist(), digit.tolist(), place.tolist(), strict=True)
        addresses = []
        for s, g, d, p in rows:
            family, first = namesakes.ascii_surnames[s], namesakes.given_names[g]
            local = f"{first}.{family}" if d >= MAIL_DIGITS else f"{first[0]}{family}{d}"
            addresses.append(f"{local}@{self.cities[p]}.example".lower())
        return addresses

    def _ids(self, authors: Integers, owner: Integers) -> list[dict[str, str] | None]:
        given = self.noise.chance(IDENTIFIED, "identified", authors)
        given &= self.noise.chance(IDENTIFIED_DOCUMENT, "identified here", authors, owner)
        rows = zip(given.tolist(), authors.tolist(), strict=True)
        return [{"orcid": orcid(author)} if has else None for has, author in rows]


def author_id(number: int) -> str:
    """Label a real person."""
    return f"a{number:06d}"


def orcid(author: int) -> str:
    """Give an author an ORCID iD with a right check digit (ISO 7064), in a range that is not handed out.

    >>> orcid(0)
    '0000-0007-0000-0002'
    """
    digits = f"00000007{author % 10**7:07d}"
    total = 0
    for digit in digits:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    text = digits + ("X" if check == 10 else str(check))
    return "-".join(text[start : start + 4] for start in range(0, 16, 4))


def _institution(number: int, city: str) -> str:
    form = vocabulary.INSTITUTION_FORMS[number % len(vocabulary.INSTITUTION_FORMS)]
    return form.format(city=city, country=vocabulary.COUNTRIES[number % len(vocabulary.COUNTRIES)])
