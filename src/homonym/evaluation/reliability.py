"""Whether confidence is true: what a result states of its mentions, held against how many of them are right.

Right is who is among his own: by the person who has most of the author's labelled mentions. Nothing is said about
mentions of the same person that stand elsewhere.

>>> found = measure_reliability(np.array([True, True, True, False]), {"confidence": np.array([0.9, 0.9, 0.7, 0.7])})
>>> [(part.mentions, part.stated, part.true) for part in found.bins]
[(2, 0.7, 0.5), (2, 0.9, 1.0)]
>>> round(found.mean_error, 3), round(found.largest_error, 3)
(0.15, 0.2)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homonym.measures.contingency import Values

CONFIDENCE, AUTHOR_CONFIDENCE = STATED = ("confidence", "author_confidence")
"""Columns in which a result may state how sure it is, of a mention and of its author."""

BINS = 10
"""So many bins of about equally many mentions; fewer where many mentions have the same confidence."""

LEAST_SHARE = 0.02
"""Bins with a smaller share of the mentions are too much of chance for the largest error to be theirs."""


@dataclass(frozen=True)
class Bin:
    """Mentions of about the same confidence: their number, the mean of what is stated, and the share that is right."""

    mentions: int
    stated: float
    true: float

    @property
    def error(self) -> float:
        """How far the stated is from the true."""
        return abs(self.stated - self.true)


@dataclass(frozen=True)
class Reliability:
    """Stated confidence against the truth, from the least sure mentions to the surest.

    `authors` is the same for what is stated of authors, where each counts as often as it has labelled mentions.
    """

    bins: tuple[Bin, ...]
    authors: Reliability | None = None

    @property
    def mentions(self) -> int:
        """Number of labelled mentions of which a confidence is stated."""
        return sum(part.mentions for part in self.bins)

    @property
    def stated(self) -> float:
        """Mean stated confidence."""
        return sum(part.mentions * part.stated for part in self.bins) / self.mentions

    @property
    def true(self) -> float:
        """Share of the mentions that is right."""
        return sum(part.mentions * part.true for part in self.bins) / self.mentions

    @property
    def mean_error(self) -> float:
        """|stated − true| of the bins, averaged over their mentions."""
        return sum(part.mentions * part.error for part in self.bins) / self.mentions

    @property
    def largest_error(self) -> float:
        """The largest |stated − true| of a bin that is not too small."""
        return max(part.error for part in self.bins if part.mentions >= LEAST_SHARE * self.mentions)

    def as_dict(self) -> dict[str, Any]:
        """Give the values under their names in the evaluation JSON."""
        figures = ("mentions", "stated", "true", "mean_error", "largest_error")
        written: dict[str, Any] = {key: getattr(self, key) for key in figures}
        written["bins"] = [asdict(part) for part in self.bins]
        return written | ({"authors": self.authors.as_dict()} if self.authors else {})

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Reliability:
        """Read that part of the evaluation JSON back."""
        authors = cls.from_dict(written["authors"]) if "authors" in written else None
        return cls(tuple(Bin(**part) for part in written["bins"]), authors)


def measure_reliability(right: NDArray[np.bool_], stated: Mapping[str, Values]) -> Reliability | None:
    """Hold what is stated, by column and NaN where nothing is, against which mentions are right.

    Mentions of one author state the same of it, so that the share of them that is right comes to the same whether it
    is counted by mention or by author.
    """
    bins = {column: _bins(right, values) for column, values in stated.items()}
    if not bins.get(CONFIDENCE):
        return None
    authors = bins.get(AUTHOR_CONFIDENCE)
    return Reliability(bins[CONFIDENCE], Reliability(authors) if authors else None)


def _bins(right: NDArray[np.bool_], stated: Values) -> tuple[Bin, ...]:
    """Put mentions into bins by where the middle one of those with the same confidence stands.

    Between large groups of equals a few may have a bin of their own.

    >>> [part.mentions for part in _bins(np.ones(100, bool), np.repeat([0.5, 0.9, 0.91, 1.0], [20, 19, 1, 60]))]
    [20, 19, 1, 60]
    """
    known = ~np.isnan(stated)
    value, place, mentions = np.unique(stated[known], return_inverse=True, return_counts=True)
    middle = np.cumsum(mentions) - mentions / 2
    bin_of = np.unique((BINS * middle / max(known.sum(), 1)).astype(np.int64), return_inverse=True)[1]
    held = np.bincount(place, right[known], minlength=len(value))
    # Summed over values and not over mentions, so that no last bit depends on the order of rows.
    in_bin, sum_stated, sum_right = (np.bincount(bin_of, part) for part in (mentions, value * mentions, held))
    rows = zip(in_bin.tolist(), (sum_stated / in_bin).tolist(), (sum_right / in_bin).tolist(), strict=True)
    return tuple(Bin(int(count), mean, share) for count, mean, share in rows)
