"""From columns of drawn values to records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from homonym.synthetic.noise import Flags, Integers

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
