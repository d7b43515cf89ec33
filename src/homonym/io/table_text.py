"""Conventions of tables in text files: the header of a CSV file and the objects of JSON lines.

They are separate from `tables` so that the record formats can use them without importing Arrow.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import orjson

# A cell that spreadsheets would run as a formula: it begins with one of these characters, full-width forms included.
# Apostrophes before them count as part of the mark, so that `protected` can be undone exactly.
FORMULA = "('*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20])"

SEPARATORS = (",", ";", "\t", "|")

# Maximum number of characters that Excel keeps of a cell.
EXCEL_CELL = 32_767

_EXCEL_SEPARATOR = re.compile(rb'"?sep=."?', re.IGNORECASE)


class Header(NamedTuple):
    """The column names of a CSV file and the separator between its cells."""

    names: tuple[str, ...]
    separator: str


def read_header(line: str, accepts: Callable[[tuple[str, ...]], bool]) -> Header | None:
    """Read a line as a header with the separator that gives most columns; None if `accepts` rejects every reading.

    >>> read_header("mention_id;name, given;author", lambda names: "author" in names)
    Header(names=('mention_id', 'name, given', 'author'), separator=';')
    """
    line = line.lstrip("\ufeff").strip("\r\n")
    best: Header | None = None
    for separator in filter(line.count, SEPARATORS):  # those in the line
        names = tuple(map(str.strip, _header_cells(line, separator)))
        if len(names) > (len(best.names) if best else 1) and accepts(names):
            best = Header(names, separator)
    return best


def _header_cells(line: str, separator: str) -> list[str]:
    if '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader((line,), delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        return []


def line_end(head: bytes) -> bytes:
    r"""The line end of a file, from its first bytes: \r only in files of old Mac spreadsheets.

    >>> line_end(b"a\r\nb"), line_end(b"a\rb\r")
    (b'\n', b'\r')
    """
    return b"\r" if b"\r" in head and b"\n" not in head else b"\n"


def is_separator_hint(line: bytes) -> bool:
    """Whether a line is Excel's note to itself about the separator, such as `sep=;`."""
    return _EXCEL_SEPARATOR.fullmatch(line.strip()) is not None


# Maximum depth of nested lists and objects in JSON. Real records have up to ten.
MAX_DEPTH = 50

TOO_DEEP = f"not valid JSON for a record (nested more than {MAX_DEPTH} levels deep)"

_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def is_too_deep(text: bytes) -> bool:
    """Whether JSON is nested more than MAX_DEPTH levels deep. Parsers written in C crash on it.

    The brackets are examined only if there are many.

    >>> is_too_deep(b"[" * 51 + b"]" * 51), is_too_deep(b'[{"a": "["}]' * 99), is_too_deep(b'["]", ' * 51)
    (True, False, True)
    """
    if text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
        return False
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Without escaped quotation marks, every second piece is a string. Five times as fast as a regular expression.
    outside = b"".join(text.split(b'"')[::2])
    brackets = outside.translate(None, _NOT_BRACKETS).replace(b"{", b"[").replace(b"}", b"]")
    for _ in range(MAX_DEPTH):
        inner = brackets.replace(b"[]", b"")  # takes away the innermost level
        if len(inner) == len(brackets):
            return inner.count(b"[") > MAX_DEPTH  # they are never closed
        brackets = inner
    return b"[" in brackets


def json_object(line: bytes) -> dict[str, Any]:
    """Parse a line that must be a JSON object; a ValueError says what is wrong with it."""
    if is_too_deep(line):
        raise ValueError(TOO_DEEP)
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        if not _is_utf8(line):
            raise ValueError("not UTF-8 text (save the file in that encoding)") from None
        raise ValueError(f"not valid JSON ({error.msg} at character {error.pos + 1})") from None
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, got {type(value).__name__}")
    return value


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def protected(cell: str) -> str:
    """A cell that spreadsheets do not run as a formula: an apostrophe is put before its mark, which readers remove.

    >>> protected("=1+1"), protected("'=1+1"), protected("Doe, J")
    ("'=1+1", "''=1+1", 'Doe, J')
    """
    return "'" + cell if re.match(FORMULA, cell) else cell


def unprotected(cell: str) -> str:
    """A cell without the apostrophe that `protected` has put before it.

    >>> unprotected("'=1+1"), unprotected("''=1+1"), unprotected("'t Hooft")
    ('=1+1', "'=1+1", "'t Hooft")
    """
    return re.sub(f"^'{FORMULA}", r"\1", cell) if cell[:1] == "'" else cell


def csv_text(rows: Iterable[Iterable[object]], *, excel: bool = False) -> str:
    """Rows as CSV; with `excel` for spreadsheets: a byte order mark says that it is UTF-8, and no text is a formula."""
    text = io.StringIO("\ufeff" if excel else "")
    text.seek(0, io.SEEK_END)
    if excel:
        rows = ([protected(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    plain, quoting = (csv.writer(text, lineterminator="\n", quoting=one) for one in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    for row in rows:
        cells = list(row)
        # A carriage return ends a line for readers, but csv.writer does not put quotes around it.
        (quoting if any(isinstance(cell, str) and "\r" in cell for cell in cells) else plain).writerow(cells)
    return text.getvalue()
