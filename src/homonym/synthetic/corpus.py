"""The parameters of a synthetic corpus."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
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
    "huge_blocks": (0, 10_000),
    "huge_authors": (2, 1_000_000),
    "authors_per_document": (1, 8),
    "mentions_per_author": (1, 50),
}


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

    mentions: int = parameter(10_000, "Number of mentions, reached with the last document.")
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

    def __post_init__(self) -> None:
        """Check the parameters."""
        for given in fields(self):
            if given.name in LIMITS:
                _require_number(given.name, getattr(self, given.name), whole=given.type == "int")
        if self.authors_per_document > self.mentions_per_author:
            raise SettingsError(
                f"authors_per_document ({self.authors_per_document}) must not exceed mentions_per_author "
                f"({self.mentions_per_author}), because every author is the first author of a document."
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
