"""Rows of tables in which a row is one author: brings the rows of each document together, wherever they are.

The rows wait in a temporary file, because all of them may not fit into memory. Each row takes about 70 bytes of memory.
"""

from __future__ import annotations

import mmap
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import IO, NamedTuple

import numpy as np

from homonym.io import inputs
from homonym.io.inputs import TOO_LONG
from homonym.records.model import MAX_AUTHORS, TOO_MANY_AUTHORS
from homonym.records.parsing.splitting import Raw


class RowNotation(NamedTuple):
    """How rows become the text of one record: what is between and around them, and the name of the author in one."""

    separator: bytes
    around: tuple[bytes, bytes]
    name_of: Callable[[bytes], str]


def rows_by_document(rows: Iterable[tuple[str, Raw]], notation: RowNotation) -> Iterator[Raw]:
    """One record for each document, in the order of their first rows; rows are given with the key of their document.

    A row without a key is a document of its own, and broken rows are passed on. Rows of one key that are not adjacent
    are one document, unless later ones only repeat names: then they are a copy, a record of its own.
    """
    with tempfile.TemporaryFile(prefix="homonym-") as file:
        waiting = _WaitingRows(file)
        for key, raw in rows:
            if raw.broken:
                yield raw
            else:
                waiting.add(key, raw)
        with waiting.texts() as text_of:
            for group in waiting.groups():
                for some in _copies(group, text_of, notation.name_of):
                    yield _joined([waiting.number(row) for row in some], map(text_of, some), notation)


class _WaitingRows:
    """Rows in a temporary file, with a hash of the key, the end and the number of each."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._key, self._end, self._number = array("Q"), array("Q"), array("Q")
        self._without_key: list[int] = []

    def add(self, key: str, raw: Raw) -> None:
        if not key:
            self._without_key.append(len(self._key))
        digest = blake2b(key.encode(errors="surrogatepass"), digest_size=8).digest()
        self._key.append(int.from_bytes(digest, "little"))
        self._file.write(raw.text)
        self._end.append(len(raw.text) + (self._end[-1] if self._end else 0))
        self._number.append(raw.number)

    def number(self, row: int) -> int:
        """The number of a row in its file."""
        return self._number[row]

    @contextmanager
    def texts(self) -> Iterator[Callable[[int], bytes]]:
        """Gives the text of each row."""
        self._file.flush()
        if not self._end or not self._end[-1]:
            yield lambda row: b""
            return
        with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield lambda row: data[self._end[row - 1] if row else 0 : self._end[row]]

    def groups(self) -> Iterator[list[int]]:
        """The rows of each document."""
        if not self._key:
            return
        _, first, inverse = np.unique(np.array(self._key), return_index=True, return_inverse=True)
        rank = first[inverse]
        rank[self._without_key] = self._without_key
        order = np.argsort(rank, kind="stable")
        ends = np.append(np.flatnonzero(np.diff(rank[order])) + 1, len(order))
        begin = 0
        for end in ends.tolist():
            yield order[begin:end].tolist()
            begin = end


def _copies(rows: list[int], text_of: Callable[[int], bytes], name_of: Callable[[bytes], str]) -> list[list[int]]:
    """The rows of one document, and the copies of it: later adjacent rows with names that are there already."""
    breaks = [place for place in range(1, len(rows)) if rows[place] != rows[place - 1] + 1]
    if not breaks:
        return [rows]
    runs = [rows[begin:end] for begin, end in zip([0, *breaks], [*breaks, len(rows)], strict=True)]
    found, known = [runs[0]], {name_of(text_of(row)) for row in runs[0]}
    for run in runs[1:]:
        names = {name_of(text_of(row)) for row in run}
        if names <= known:
            found.append(run)
        else:
            found[0].extend(run)
            known |= names
    return found


def _joined(numbers: list[int], texts: Iterable[bytes], notation: RowNotation) -> Raw:
    """The rows of a document as one record, which is broken if there are too many."""
    kept, size, before, after = list[bytes](), 0, *notation.around
    for text in texts:
        size += len(text) + 1
        if len(kept) < MAX_AUTHORS and (size <= inputs.MAX_RECORD_BYTES or not kept):
            kept.append(text)
    broken = TOO_LONG if size > inputs.MAX_RECORD_BYTES else ""
    broken = broken or (TOO_MANY_AUTHORS if len(numbers) > MAX_AUTHORS else "")
    joined = before + notation.separator.join(kept) + after
    return Raw(numbers[0], joined[: inputs.KEPT_BYTES] if broken else joined, broken)
