"""Calibration of stated confidence: the reliability diagram and the expected calibration error.

A mention is correct if it belongs to the person who has most of its author's labelled mentions. A lone mention, the
only one of its author, is correct if its person has no other labelled mention of the name.

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

from homonym.measures.agreement import Values

CONFIDENCE, AUTHOR_CONFIDENCE = STATED = ("confidence", "author_confidence")
"""Columns of a result with the confidence of a mention and of its author."""

BINS = 10
"""Maximum number of bins of about equally many mentions; fewer if many mentions have the same confidence."""

LEAST_SHARE = 0.02
"""Bins with a smaller share of the mentions are too noisy to count for the largest error."""


@dataclass(frozen=True)
class Bin:
    """Mentions of similar confidence: their number, mean stated confidence, and share of correct mentions."""

    mentions: int
    stated: float
    true: float

    @property
    def error(self) -> float:
        """|stated − true|."""
        return abs(self.stated - self.true)


@dataclass(frozen=True)
class Reliability:
    """The reliability diagram: bins of stated confidence in ascending order.

    `authors` is the same for the confidence of authors, each weighted by its number of labelled mentions, and `lone`
    that of lone mentions, which are also among all mentions.
    """

    bins: tuple[Bin, ...]
    authors: Reliability | None = None
    lone: Reliability | None = None

    @property
    def mentions(self) -> int:
        """Number of labelled mentions with a stated confidence."""
        return sum(part.mentions for part in self.bins)

    @property
    def stated(self) -> float:
        """Mean stated confidence."""
        return sum(part.mentions * part.stated for part in self.bins) / self.mentions

    @property
    def true(self) -> float:
        """Share of correct mentions."""
        return sum(part.mentions * part.true for part in self.bins) / self.mentions

    @property
    def mean_error(self) -> float:
        """Expected calibration error: |stated − true| of the bins, averaged over mentions."""
        return sum(part.mentions * part.error for part in self.bins) / self.mentions

    @property
    def largest_error(self) -> float:
        """Maximum calibration error: the largest |stated − true| of a bin that is not too small."""
        return max(part.error for part in self.bins if part.mentions >= LEAST_SHARE * self.mentions)

    def as_dict(self) -> dict[str, Any]:
        """The values by their keys in the evaluation JSON."""
        figures = ("mentions", "stated", "true", "mean_error", "largest_error")
        written: dict[str, Any] = {key: getattr(self, key) for key in figures}
        written["bins"] = [asdict(part) for part in self.bins]
        parts = {"authors": self.authors, "lone": self.lone}
        return written | {key: part.as_dict() for key, part in parts.items() if part}

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Reliability:
        """Read this part of the evaluation JSON."""
        authors, lone = (cls.from_dict(written[key]) if key in written else None for key in ("authors", "lone"))
        return cls(tuple(Bin(**part) for part in written["bins"]), authors, lone)


def measure_reliability(
    correct: NDArray[np.bool_], stated: Mapping[str, Values], lone: NDArray[np.bool_] | None = None
) -> Reliability | None:
    """Compare stated confidence, by column with NaN for missing values, with which mentions are correct.

    All mentions of an author state the same confidence of it, so that counting by mention or by author is the same.
    Mentions marked in `lone` are also measured alone.
    """
    bins = {column: _bins(correct, values) for column, values in stated.items()}
    if not bins.get(CONFIDENCE):
        return None
    authors = bins.get(AUTHOR_CONFIDENCE)
    alone = _bins(correct[lone], stated[CONFIDENCE][lone]) if lone is not None else ()
    return Reliability(
        bins[CONFIDENCE], Reliability(authors) if authors else None, Reliability(alone) if alone else None
    )


def _bins(correct: NDArray[np.bool_], stated: Values) -> tuple[Bin, ...]:
    """Put mentions into bins by the rank of the middle one among those with the same confidence.

    A few mentions between large groups of equal confidence may have a bin of their own.

    >>> [part.mentions for part in _bins(np.ones(100, bool), np.repeat([0.5, 0.9, 0.91, 1.0], [20, 19, 1, 60]))]
    [20, 19, 1, 60]
    """
    has_value = ~np.isnan(stated)
    value, value_of, mentions = np.unique(stated[has_value], return_inverse=True, return_counts=True)
    middle = np.cumsum(mentions) - mentions / 2
    bin_of = np.unique((BINS * middle / max(has_value.sum(), 1)).astype(np.int64), return_inverse=True)[1]
    correct_by_value = np.bincount(value_of, correct[has_value], minlength=len(value))
    # Summed over values, not mentions, so that rounding does not depend on the order of rows.
    parts = (mentions, value * mentions, correct_by_value)
    in_bin, sum_stated, sum_correct = (np.bincount(bin_of, part) for part in parts)
    rows = zip(in_bin.tolist(), (sum_stated / in_bin).tolist(), (sum_correct / in_bin).tolist(), strict=True)
    return tuple(Bin(int(count), mean, share) for count, mean, share in rows)
