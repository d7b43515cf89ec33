"""Counts of bags as numbers of 16 bits: a collection has hundreds of millions of counts, but few distinct ones.

Counts are whole numbers, shares of names and affiliations, and heights of a Gaussian. A code is a place in a table of
all distinct counts, mostly the one that a hash of the count says, so that many are encoded at once.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CODES = 1 << 16
# 2⁶⁴ divided by the golden ratio, as for the hash table of `clustering.dense.cooccurrence`.
_SPREAD, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(48)
# Number of counts that are decoded at once.
_DECODED = 1 << 20


class TooManyCountsError(Exception):
    """There are more distinct counts than codes."""


class CountCodes:
    """Codes of counts; `value[code]` is the count, and 0 has the code 0.

    >>> codes = CountCodes()
    >>> code = codes.encode(np.array([1.0, 0.1, 1.0]))
    >>> code.dtype, codes.value[code].tolist()
    (dtype('uint16'), [1.0, 0.1, 1.0])
    """

    def __init__(self) -> None:
        self.value = np.zeros(CODES)
        self._bits = self.value.view(np.uint64)
        self._place: dict[int, int] = {}

    def encode(self, count: NDArray[np.float64]) -> NDArray[np.uint16]:
        """The codes of some counts; raises TooManyCountsError if they have no place."""
        bits = np.ascontiguousarray(count).view(np.uint64)
        code = ((bits * _SPREAD) >> _SHIFT).astype(np.uint16)
        others = np.flatnonzero(self._bits[code] != bits)
        if len(others):
            distinct, place = np.unique(bits[others], return_inverse=True)
            homes = ((distinct * _SPREAD) >> _SHIFT).tolist()
            found = [self._code(one, home) for one, home in zip(distinct.tolist(), homes, strict=True)]
            code[others] = np.array(found, np.uint16)[place]
        return code

    def _code(self, bits: int, home: int) -> int:
        """The code of a count, which gets the next free one if it is new and that of its hash is taken."""
        if bits in self._place:
            return self._place[bits]
        if len(self._place) == CODES - 1:
            raise TooManyCountsError
        place = home
        while place == 0 or self._bits[place]:
            place = (place + 1) % CODES
        self._bits[place], self._place[bits] = bits, place
        return place


class CountFile:
    """Writes counts one after another to a file: as codes, or as they are if too many are distinct."""

    def __init__(self, path: Path) -> None:
        self._path, self._codes = path, CountCodes()
        self._is_coded, self._stream = True, path.open("wb")

    def write(self, count: NDArray[np.float64]) -> None:
        """Append some counts."""
        if self._is_coded:
            try:
                self._codes.encode(count).tofile(self._stream)
            except TooManyCountsError:
                self._decode()
            else:
                return
        count.tofile(self._stream)

    def __enter__(self) -> CountFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def mapped(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """The mapped codes and the table of counts, or the mapped counts and no table; the file must be closed."""
        kind: Any = np.uint16 if self._is_coded else np.float64
        # An empty file cannot be mapped.
        mapped = np.memmap(self._path, kind, "r") if self._path.stat().st_size else np.empty(0, kind)
        return mapped, self._codes.value if self._is_coded else np.zeros(0)

    def _decode(self) -> None:
        """Replace the codes in the file by their counts."""
        self._stream.close()
        codes = self._path.with_suffix(".codes")
        os.replace(self._path, codes)
        self._is_coded, self._stream = False, self._path.open("wb")
        with codes.open("rb") as stream:
            while len(code := np.fromfile(stream, np.uint16, _DECODED)):
                self._codes.value[code].tofile(self._stream)
        codes.unlink()
