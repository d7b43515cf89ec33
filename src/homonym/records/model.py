"""The record model: what every format returns, and the problems that are reported on the way.

A format returns a `Document` with its `Author` entries, and a `Note` for each author or field that it could not use. It
raises `BrokenRecordError` if the whole record is unusable. The reader adds the place and makes a `Problem` of each.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from homonym.errors import InputError

# What a problem costs. A contributor is not lost: it is kept in the document, but it is no mention. A warning costs
# nothing: something was repaired, or was read in a way that may be wrong.
Loss = Literal["record", "author", "field", "duplicate", "contributor", "warning"]

# The kinds of problems that do not end a strict run.
HARMLESS: frozenset[Loss] = frozenset({"contributor", "warning"})

LOSSES: tuple[Loss, ...] = get_args(Loss)

# Maximum number of problems that are kept with their place. All others are only counted.
MAX_LISTED_PROBLEMS = 1000

# Maximum number of authors of a record; the longest real list, of a clinical study, has 15,025. Each author has all
# others as co-authors, so that time and memory grow with the square of their number.
MAX_AUTHORS = 30_000

TOO_MANY_AUTHORS = f"lists more than {MAX_AUTHORS:,} authors"

# Maximum number of notes on a record that are kept; the others are only counted.
MAX_NOTES = 100


class BrokenRecordError(Exception):
    """A record cannot be used; the message says why. The reader catches it and reports a `Problem`."""


def require_few_authors(number: int) -> None:
    """Reject a record with more than MAX_AUTHORS authors. Formats call it before they make an object of each."""
    if number > MAX_AUTHORS:
        raise BrokenRecordError(TOO_MANY_AUTHORS)


@dataclass(frozen=True)
class Problem:
    """One rejected record, author, field or duplicate, with its place and the reason.

    Nothing is lost of a duplicate that was `merged` with the other copies of its document.
    """

    file: str
    line: int
    lost: Loss
    reason: str
    unit: str = "line"
    merged: bool = False

    @property
    def place(self) -> str:
        """File and line, or file and record."""
        return f"{self.file}, {self.unit} {self.line}"

    def __str__(self) -> str:
        reason = f"{self.place}: {self.reason}"
        if reason.endswith("."):  # which says itself what became of it
            return reason
        return reason + ("." if self.merged or self.lost in HARMLESS else f"; this {self.lost} was rejected.")


@dataclass
class Problems:
    """All problems of a run: the number of each kind of loss, and the first MAX_LISTED_PROBLEMS in full."""

    counts: dict[Loss, int] = field(default_factory=lambda: dict.fromkeys(LOSSES, 0))
    first: list[Problem] = field(default_factory=list)

    def add(self, problem: Problem, *, strict: bool = False) -> None:
        """Count a problem. With `strict`, raise InputError instead, unless nothing is lost."""
        if strict and problem.lost not in HARMLESS:
            raise InputError(f"{problem.place}: {problem.reason.rstrip('.')}; correct it or run without --strict.")
        self.counts[problem.lost] += 1
        if len(self.first) < MAX_LISTED_PROBLEMS:
            self.first.append(problem)

    def __len__(self) -> int:
        return sum(self.counts.values())


# Years outside this range are typing errors or placeholders such as 0 or 9999.
FIRST_YEAR, LAST_YEAR = 1000, 2200

#: A year anywhere in a text.
ANY_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
#: Four digits anywhere in a text, also those at the beginning of a date without separators: those of 201405 and
#: 20140315; 20145 is no year.
FOUR_DIGITS = re.compile(r"(?<!\d)\d{4}(?!\d(?:\d\d)*+(?!\d))")
_LEADING_YEAR = re.compile(r"\s*+\d{4}(?!\d(?:\d\d)*+(?!\d))")

Note = tuple[Loss, str]
"""What was lost inside a record that is otherwise used, and why."""


def first_notes(notes: list[Note]) -> list[Note]:
    """The first MAX_NOTES notes on a record, and the number of the others.

    >>> first_notes([("author", "author 0 has no name")] * 102)[-1]
    ('author', 'and 2 more authors of this record, for similar reasons')
    """
    if len(notes) <= MAX_NOTES:  # as nearly always
        return notes
    others = Counter(lost for lost, _ in notes[MAX_NOTES:])
    return notes[:MAX_NOTES] + [
        (lost, f"and {number:,} more {lost}s of this record, for similar reasons") for lost, number in others.items()
    ]


@dataclass(slots=True)
class Author:
    """One author entry of a document."""

    position: int
    name: str
    affiliations: list[str] = field(default_factory=list)
    emails: list[str] = field(default_factory=list)
    label: str | None = None
    block: str | None = None
    ids: dict[str, str] = field(default_factory=dict)
    """Identifiers of the person by kind (orcid, researcherid, …): labels and constraints, never features."""

    def __post_init__(self) -> None:
        if self.position >= MAX_AUTHORS:  # here too, so that no format makes millions of objects
            require_few_authors(self.position + 1)


@dataclass(slots=True)
class Document:
    """One bibliographic record, with the fields that help to disambiguate its authors.

    If `id` is empty, the reader makes one from the content. `ids` are the identifiers of the document in other sources
    (doi, pmid, wos, …); records that share one are copies of one document. `id_is_key` is false if `id` may not be
    unique, as the citation key of a BibTeX entry. `other_authors` are co-authors that are not mentions.
    `other_contributors` are entries of the author list that are no authors: groups, editors, words for missing names.
    """

    id: str
    authors: list[Author]
    title: str = ""
    abstract: str = ""
    year: int | None = None
    venue: str = ""
    categories: list[str] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    referenced_authors: list[str] = field(default_factory=list)
    other_authors: list[str] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    id_is_key: bool = True
    other_contributors: list[str] = field(default_factory=list)


Parsed = tuple[Document, list[Note]]
"""A document, and notes on the authors and fields of its record that could not be used."""


def publication_year(value: Any, notes: list[Note]) -> int | None:
    """The year in a number or at the beginning of a text. Anything else is noted and gives None.

    >>> publication_year("2014-03", []), publication_year(9999, notes := []), notes
    (2014, None, [('field', 'year 9999 is not a year')])
    >>> publication_year(2014.0, notes), publication_year(2014.5, notes), len(notes)
    (2014, None, 2)
    >>> publication_year("20140315", notes), publication_year("20145", notes), notes[-1]
    (2014, None, ('field', "year '20145' is not a year"))
    """
    if value is None or value == "":
        return None
    try:
        if isinstance(value, str):
            year = int(found[0]) if (found := _LEADING_YEAR.match(value)) else 0
        else:
            year = int(value) if value == int(value) else 0
    except (TypeError, ValueError, OverflowError):
        year = 0
    if FIRST_YEAR <= year <= LAST_YEAR:
        return year
    notes.append(("field", f"year {value!r} is not a year"))
    return None
