"""Rows of tables in which a row is one author: brings the rows of each document together, wherever they are.

The rows wait in a temporary file, because all of them may not fit into memory. Each row takes about 70 bytes of memory.
"""

from __future__ import annotations

import mmap
import re
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import IO, NamedTuple

import numpy as np

from homonym.io import inputs
from homonym.io.inputs import TOO_LONG
from homonym.records.model import MAX_AUTHORS, TOO_MANY_AUTHORS
from homonym.records.parsing.splitting import Raw


class RowNotation(NamedTuple):
    """How rows become the text of one record, what is between and around them; the name and the title in a row."""

    separator: bytes
    around: tuple[bytes, bytes]
    name_of: Callable[[bytes], str]
    title_of: Callable[[bytes], str]


class RowKey(NamedTuple):
    """What the rows of a document have in common; and the title in a row, which should be the same in all of them."""

    document: str
    title: str = ""


NO_KEY = RowKey("")

# Titles with fewer words, such as "Editorial" or "Coins", do not show that two rows belong to different documents.
_FEWEST_WORDS = 3
# Maximum number of documents with one key whose titles are compared with that of a row; equal titles are always found.
_MOST_COMPARED = 100
_WORD = re.compile(r"\w+")


def rows_by_document(rows: Iterable[tuple[RowKey, Raw]], notation: RowNotation) -> Iterator[Raw]:
    """One record for each document, in the order of their first rows; rows are given with the key of their document.

    A row without a key is a document of its own, and broken rows are passed on. Rows of one key are several documents
    if their titles have other words: their keys are numbers that several tables have, or that a spreadsheet has
    rounded. Rows of one key that are not adjacent are one document, unless later ones only repeat names: then they are
    a copy, a record of its own.
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
                rows_of = [group] if waiting.have_one_title(group) else _by_title(group, text_of, notation.title_of)
                for one in rows_of:
                    for some in _copies(one, text_of, notation.name_of):
                        yield _joined([waiting.number(row) for row in some], map(text_of, some), notation)


class _WaitingRows:
    """Rows in a temporary file, with hashes of key and title, the end and the number of each."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._key, self._title, self._end, self._number = array("Q"), array("Q"), array("Q"), array("Q")
        self._without_key: list[int] = []

    def add(self, key: RowKey, raw: Raw) -> None:
        if not key.document:
            self._without_key.append(len(self._key))
        self._key.append(_digest(key.document))
        self._title.append(_digest(key.title) if key.title else 0)
        self._file.write(raw.text)
        self._end.append(len(raw.text) + (self._end[-1] if self._end else 0))
        self._number.append(raw.number)

    def number(self, row: int) -> int:
        """The number of a row in its file."""
        return self._number[row]

    def have_one_title(self, rows: list[int]) -> bool:
        """Whether rows have the same title, apart from rows without one."""
        return len({title for row in rows if (title := self._title[row])}) < 2

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


@lru_cache(maxsize=2)  # rows of one document are mostly adjacent
def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "little")


def _by_title(rows: list[int], text_of: Callable[[int], bytes], title_of: Callable[[bytes], str]) -> list[list[int]]:
    """Rows with one key by document: those whose titles have most words in common, and rows without a title.

    A row without a title, or with one of few words, belongs to the document of the row before it.
    """
    found: dict[frozenset[str], list[int]] = {}
    before: list[int] | None = None
    for row in rows:
        words = frozenset(_WORD.findall(title_of(text_of(row)).casefold()))
        if before is None or len(words) >= _FEWEST_WORDS:
            alike = (some for title, some in islice(found.items(), _MOST_COMPARED) if _are_alike(words, title))
            before = found[words] if words in found else next(alike, None)
        if before is None:
            before = found[words] = []
        before.append(row)
    return list(found.values())


def _are_alike(words: frozenset[str], others: frozenset[str]) -> bool:
    """Whether titles may be those of one document, one of them misspelled or cut."""
    fewest = min(len(words), len(others))
    return fewest < _FEWEST_WORDS or 2 * len(words & others) >= fewest


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
