"""The parameters of a synthetic corpus."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from homonym.errors import SettingsError

# Minimum and maximum of each parameter. The maxima are where a corpus stops resembling a library, except for mentions:
# beyond it the set of seen authors does not fit into the memory of a small machine.
LIMITS: dict[str, tuple[float, float]] = {
    "mentions": (1, 2_000_000_000),
    "seed": (0, 2**63 - 1),
    "ambiguity": (0.2, 50),
    "missing": (0, 1),
    "variants": (0, 1),
    "dropped_initials": (0, 1),
    "initials_only": (0, 1),
    "common_names": (0, 1),
    "huge_blocks": (0, 10_000),
    "huge_authors": (2, 1_000_000),
    "authors_per_document": (1, 8),
    "mentions_per_author": (1, 50),
    "collaborations": (0, 10_000),
    "collaboration_authors": (10, 20_000),
    "collaboration_documents": (1, 1_000_000),
    "collaboration_turnover": (0, 1),
}

# Parameters of later versions. They are written only if they are given, so that descriptions stay the same.
ADDED = ("collaboration_turnover", "initials_only", "common_names", "titles_only")


def parameter(default: Any, meaning: str) -> Any:
    """A field with its meaning, which is also the help text of the command line."""
    return field(default=default, metadata={"help": meaning})


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """The parameters of a synthetic corpus.

    >>> Corpus(missing=2)
    Traceback (most recent call last):
        ...
    homonym.errors.SettingsError: missing must be a number from 0 to 1, got 2.
    """

    mentions: int = parameter(10_000, "Number of mentions on ordinary documents, reached with the last of them.")
    seed: int = parameter(0, "Seed of the random numbers.")
    ambiguity: float = parameter(
        1.0, "1: as many authors per name as in the Web of Science (the paper's Table 1); more: more homonyms."
    )
    abstracts: bool = parameter(True, "Whether documents have abstracts (of about 120 words).")
    missing: float = parameter(0.1, "Share of abstracts that are missing; other fields in proportion.")
    variants: float = parameter(0.4, "Share of documents that do not write names as 'Doe, Jane W.'.")
    dropped_initials: float = parameter(
        0.005, "Share of mentions that lose their middle initial, and so change their name."
    )
    huge_blocks: int = parameter(0, "Number of names with far more authors than the others.")
    huge_authors: int = parameter(500, "Number of authors of each of those.")
    authors_per_document: float = parameter(4.0, "Mean; a few documents have many authors, some have one.")
    mentions_per_author: float = parameter(6.0, "Mean; a few authors have many, many have one or two.")
    collaborations: int = parameter(
        0, "Number of large teams whose documents, in addition to the ordinary ones, list nearly all members."
    )
    collaboration_authors: int = parameter(100, "Mean number of authors of their documents.")
    collaboration_documents: int = parameter(100, "Number of documents of each of those teams.")
    collaboration_turnover: float | None = parameter(
        None,
        "Share of the places of a team whose holder is replaced once; the teams are stable and of very different "
        "size, as in high-energy physics. Without it, most members leave after some years.",
    )
    initials_only: float = parameter(0.0, "Share of documents that write given names as initials, in any style.")
    common_names: float = parameter(
        0.0,
        "Share of people with one of the frequent Chinese and Korean surnames and one initial, by their frequency; "
        "many of them have the same name.",
    )
    titles_only: bool = parameter(False, "Whether documents have nothing but title, year, venue and names.")

    @property
    def expected_mentions(self) -> int:
        """The number of mentions on all documents, about."""
        return self.mentions + self.collaborations * self.collaboration_documents * self.collaboration_authors

    @property
    def given(self) -> dict[str, Any]:
        """The parameters, without those of collaborations if there are none, and without ADDED ones by default."""
        default = Corpus()
        return {
            name: value
            for name, value in asdict(self).items()
            if (self.collaborations or not name.startswith("collaboration"))
            and (name not in ADDED or value != getattr(default, name))
        }

    def __post_init__(self) -> None:
        """Check the parameters."""
        for given in fields(self):
            if given.name in LIMITS and getattr(self, given.name) is not None:
                _require_number(given.name, getattr(self, given.name), whole=given.type == "int")
        if self.authors_per_document > self.mentions_per_author:
            raise SettingsError(
                f"authors_per_document ({self.authors_per_document}) must not exceed mentions_per_author "
                f"({self.mentions_per_author}), because every author is the first author of a document."
            )
        if self.expected_mentions > LIMITS["mentions"][1]:
            raise SettingsError(
                f"{self.collaborations} collaborations with {self.collaboration_documents} documents of "
                f"{self.collaboration_authors} authors have more than {LIMITS['mentions'][1]} mentions."
            )
        if self.huge_blocks * self.huge_authors * self.mentions_per_author > self.mentions:
            raise SettingsError(
                f"{self.huge_blocks} huge blocks of {self.huge_authors} authors need at least "
                f"{self.huge_blocks * self.huge_authors * self.mentions_per_author:.0f} mentions, got {self.mentions}."
            )


def _require_number(name: str, value: Any, *, whole: bool) -> None:
    """Check the type and range of one parameter."""
    low, high = LIMITS[name]
    number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not (number and low <= value <= high):
        kind = "whole number" if whole else "number"
        raise SettingsError(f"{name} must be a {kind} from {low} to {high}, got {value!r}.")
