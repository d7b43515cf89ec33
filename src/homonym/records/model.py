"""What a record becomes, whatever format it comes in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from homonym.errors import InputError

Loss = Literal["record", "author", "field", "duplicate"]

LOSSES: tuple[Loss, ...] = get_args(Loss)

#: So many problems are kept with their place; beyond that they are only counted.
KEPT_PROBLEMS = 1000


class BrokenRecordError(Exception):
    """One record that cannot be used; the message says why. Never leaves the reading of its line."""


@dataclass(frozen=True)
class Problem:
    """One thing that was set aside: a whole record, one author of it, or one field."""

    file: str
    line: int
    lost: Loss
    reason: str
    unit: str = "line"

    @property
    def place(self) -> str:
        """Where it stands."""
        return f"{self.file}, {self.unit} {self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}; this {self.lost} was set aside."


@dataclass
class Problems:
    """All problems of a run: every one counted, the first thousand kept."""

    counts: dict[Loss, int] = field(default_factory=lambda: dict.fromkeys(LOSSES, 0))
    kept: list[Problem] = field(default_factory=list)

    def add(self, problem: Problem, *, strict: bool = False) -> None:
        """Count a problem, or end the run with it where nothing may be lost."""
        if strict:
            raise InputError(f"{problem.place}: {problem.reason}; mend it or run without --strict.")
        self.counts[problem.lost] += 1
        if len(self.kept) < KEPT_PROBLEMS:
            self.kept.append(problem)

    def __len__(self) -> int:
        return sum(self.counts.values())


#: A year outside is a typing error or a placeholder such as 0 or 9999.
FIRST_YEAR, LAST_YEAR = 1000, 2200

Note = tuple[Loss, str]


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
    """Identifiers of the person by kind (orcid, researcherid, scopus, …): labels, never features."""


@dataclass(slots=True)
class Document:
    """One bibliographic record, as far as it matters for telling its authors apart.

    `id` may be empty: then the file and the place in it are its name. `ids` are what other sources know the document by
    (doi, pmid, wos, …): a document that appears twice is read once. `id_is_key` is false where the id is only a name
    that somebody chose, such as the citation key of a BibTeX entry, which other documents may have too.
    `other_authors` are names on the document that are no mentions, but co-authors.
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


Parsed = tuple[Document, list[Note]]
"""A document, and which author or field of its record could not be used."""


def publication_year(value: Any, notes: list[Note]) -> int | None:
    """The year that a number or the beginning of a text gives; what is none is noted.

    >>> publication_year("2014-03", []), publication_year(9999, notes := []), notes
    (2014, None, [('field', 'year 9999 is not a year')])
    """
    if value is None or value == "":
        return None
    try:
        year = int(value) if not isinstance(value, str) else int(value.strip()[:4])
    except (TypeError, ValueError, OverflowError):
        year = 0
    if FIRST_YEAR <= year <= LAST_YEAR:
        return year
    notes.append(("field", f"year {value!r} is not a year"))
    return None
