"""Delimited text (CSV, TSV): lines to rows, which may have line ends in quoted cells, and rows to cells.

A row that is cut or has a stray quotation mark opens a cell that is never closed. Lines are therefore joined to a row
only if the result is well-formed; otherwise the first line is rejected and the next one is tried as the start of a row.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import starmap
from typing import NamedTuple

from homonym.io.inputs import MOST_RECORD_BYTES, InputLine, Source
from homonym.records.model import BrokenRecordError
from homonym.records.parsing.splitting import TOO_LONG, Raw, decoded

SEPARATORS = (",", ";", "\t", "|")

UNCLOSED = "a quoted cell is not closed, or the row is cut"

# With this number of lines that look like rows, a quoted cell counts as unclosed; such rows have at least 5 columns.
_ROWS_IN_A_CELL, _FEWEST_COLUMNS = 3, 5

_EXCEL_SEPARATOR = re.compile(rb'"?sep=."?', re.IGNORECASE)

_CSV_FIELD_LIMIT = 1 << 17


class Header(NamedTuple):
    """The names of the columns, and the separator between them."""

    names: tuple[str, ...]
    separator: str


def find_header(
    source: Source, accepts: Callable[[tuple[str, ...]], bool], *, lines: int | None = None
) -> Header | None:
    """The first line of the head whose cells are accepted as names of columns, with the separator that gives most."""
    beginning = [line for line in source.head.split(line_end(source.head)) if line.strip()]
    return next((header for line in beginning[:lines] if (header := _read_header(decoded(line), accepts))), None)


def _read_header(line: str, accepts: Callable[[tuple[str, ...]], bool]) -> Header | None:
    line = line.lstrip("\ufeff")
    best: Header | None = None
    for separator in SEPARATORS:
        if line.count(separator) < (len(best.names) if best else 1):
            continue
        try:
            names = tuple(cell.strip() for cell in cells_of(line.strip("\r\n"), separator))
        except BrokenRecordError:
            continue
        if len(names) > (len(best.names) if best else 1) and accepts(names):
            best = Header(names, separator)
    return best


def line_end(head: bytes) -> bytes:
    r"""The line end of a file: \r in files of old Mac spreadsheets, otherwise \n, also for \r\n.

    >>> line_end(b"a\r\nb"), line_end(b"a\rb\r")
    (b'\n', b'\r')
    """
    return b"\r" if b"\r" in head and b"\n" not in head else b"\n"


def rows(source: Source, header: Header) -> Iterator[Raw]:
    """The rows of a file, including headers, each with the number of its first line."""
    lines = physical_lines(source)
    # Excel begins some tables with a line "sep=;".
    return gather(
        (line for line in lines if line.number > 1 or not _EXCEL_SEPARATOR.fullmatch(line.text.strip())), header
    )


def physical_lines(source: Source) -> Iterator[InputLine]:
    """The lines of a file that are not blank, without their line ends."""
    return starmap(InputLine, source.lines(line_end(source.head)))


def gather(lines: Iterable[InputLine], header: Header) -> Iterator[Raw]:
    r"""Join the lines of each row; lines that belong to no row are yielded as broken.

    >>> lines = [b'1,"two', b'lines",x', b'2,"cut he', b'3,Three,x']
    >>> [raw[1:] for raw in gather(map(InputLine, range(4), lines), Header(("id", "title", "venue"), ","))]
    [(b'1,"two\nlines",x', ''), (b'2,"cut he', 'a quoted cell is not closed, or the row is cut'), (b'3,Three,x', '')]
    """
    waiting: deque[InputLine] = deque()
    lost: list[InputLine] = []
    upcoming = iter(lines)
    while True:
        line = waiting.popleft() if waiting else next(upcoming, None)
        if line is None:
            break
        row = _row_from(line, waiting, upcoming, header, lenient=not lost)
        if row is None:
            lost.append(line)
            continue
        if lost:
            yield _broken(lost)
            lost = []
        yield row
    if lost:
        yield _broken(lost)


def _row_from(
    line: InputLine, waiting: deque[InputLine], upcoming: Iterator[InputLine], header: Header, *, lenient: bool
) -> Raw | None:
    """The row that begins with a line, or None; further lines that were examined in vain go to `waiting`."""
    number, text = line
    if len(text) > MOST_RECORD_BYTES:
        return Raw(number, text[:1000], TOO_LONG)
    if text.count(b'"') % 2 == 0:
        # A row with the wrong number of cells is reported later, unless it may continue a broken row.
        return Raw(number, text) if lenient or _columns(text, header) == len(header.names) else None
    if _is_complete(text, header):
        return Raw(number, text)
    row = _gathered(line, waiting, upcoming, header)
    if row is None and len(_all_quoted(decoded(text).rstrip("\r"), header.separator)) == len(header.names):
        return Raw(number, text)
    return row


def _gathered(line: InputLine, waiting: deque[InputLine], upcoming: Iterator[InputLine], header: Header) -> Raw | None:
    parts, seen, size, whole_rows = [line.text], [], len(line.text), 0
    while size <= MOST_RECORD_BYTES and whole_rows < _ROWS_IN_A_CELL:
        following = waiting.popleft() if waiting else next(upcoming, None)
        if following is None:
            break
        seen.append(following)
        parts.append(following.text)
        size += len(following.text)
        if following.text.count(b'"') % 2:
            row = b"\n".join(parts)
            if _is_well_formed(row, header):
                return Raw(line.number, row)
            break
        whole_rows += _is_whole_row(following.text, header)
    waiting.extendleft(reversed(seen))
    return None


def _broken(lost: list[InputLine]) -> Raw:
    return Raw(lost[0].number, b"\n".join(line.text for line in lost), UNCLOSED)


def _columns(row: bytes, header: Header) -> int:
    return b"".join(row.split(b'"')[::2]).count(header.separator.encode()) + 1


def _is_complete(line: bytes, header: Header) -> bool:
    """Whether a line with an odd number of quotation marks is a row: `1,5" pipes,2010`."""
    try:
        cells = _strict_cells(decoded(line).rstrip("\r"), header.separator)
    except csv.Error:
        return False
    return len(cells) == len(header.names)


def _all_quoted(row: str, separator: str) -> list[str]:
    """The cells of a row in which all are quoted, even if one has a stray mark: `"1","5" pipes","2010"`."""
    if not (row[:1] == '"' == row[-1:]):
        return []
    return [cell.replace('""', '"') for cell in row[1:-1].split(f'"{separator}"')]


def _is_well_formed(row: bytes, header: Header) -> bool:
    """Whether quotation marks are only at the ends of cells, and there are as many cells as columns."""
    separator = header.separator.encode()
    first, *between, last = row.split(b'"')[::2]
    return (
        _columns(row, header) == len(header.names)
        and (not first.strip(b" ") or first.rstrip(b" ").endswith(separator))
        and (not last.strip() or last.lstrip(b" ").startswith(separator))
        and all(not text or (text[:1] == separator and text.rstrip(b" ")[-1:] == separator) for text in between)
    )


def _is_whole_row(line: bytes, header: Header) -> bool:
    """Whether a line in an open cell looks like a row; in prose, commas are followed by blanks."""
    columns = len(header.names)
    if columns < _FEWEST_COLUMNS or _columns(line, header) != columns:
        return False
    separator = header.separator.encode()
    return 2 * line.count(separator + b" ") < line.count(separator) or b'"' in line


def cells_of(row: str, separator: str) -> list[str]:
    """The cells of one row.

    >>> cells_of('"Doe, J",2010,"the ""so-called"" x"', ",")
    ['Doe, J', '2010', 'the "so-called" x']
    """
    if '"' not in row:
        return row.split(separator)
    if cells := _cut_at_marks(row, separator):
        return cells
    try:
        return _lenient_cells(row, separator)
    except csv.Error as broken:
        raise BrokenRecordError(f"is not a row of a table ({broken})") from None


def _cut_at_marks(row: str, separator: str) -> list[str] | None:
    """The cells of a well-formed row, several times as fast as the csv module; None for any other row."""
    parts = row.split('"')
    cells = parts[0].split(separator)
    if cells.pop() or len(parts) % 2 == 0:
        return None
    begun = ""
    for text, between in zip(parts[1:-2:2], parts[2:-1:2], strict=True):
        if between == separator:
            cells.append(begun + text)
            begun = ""
        elif not between:  # a doubled mark stands for one
            begun += f'{text}"'
        else:
            nothing, *plain = between.split(separator)
            if nothing or plain.pop():
                return None
            cells += [begun + text, *plain]
            begun = ""
    nothing, *plain = parts[-1].split(separator)
    return None if nothing else [*cells, begun + parts[-2], *plain]


def _lenient_cells(row: str, separator: str) -> list[str]:
    with _Limit(len(row)):
        return next(csv.reader((row,), delimiter=separator, skipinitialspace=True), [])


def _strict_cells(row: str, separator: str) -> list[str]:
    with _Limit(len(row)):
        return next(csv.reader((row,), delimiter=separator, skipinitialspace=True, strict=True), [])


class _Limit:
    """Temporarily raises the csv module's limit of cell length, for the affiliations of thousands of authors."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __enter__(self) -> None:
        if self.size > _CSV_FIELD_LIMIT:
            self.before = csv.field_size_limit(self.size + 1)

    def __exit__(self, *_: object) -> None:
        if self.size > _CSV_FIELD_LIMIT:
            csv.field_size_limit(self.before)


def row_cells(text: bytes, header: Header) -> list[str]:
    """The cells of one raw row, one per column; a row with another number of cells is broken."""
    row = decoded(text).rstrip("\r\n")
    names, separator = header
    wanted = len(names)
    cells = cells_of(row, separator)
    if len(cells) == wanted:
        return cells
    if len(cells) > wanted and not any(map(str.strip, cells[wanted:])):
        return cells[:wanted]
    if len(other := _all_quoted(row, separator)) == wanted:
        return other
    if separator == "\t" and row.count("\t") == wanted - 1:  # in TSV, quotation marks are often part of the text
        return row.split("\t")
    raise BrokenRecordError(f"has {len(cells)} columns, the header {wanted}")


def is_header(cells: list[str], header: Header) -> bool:
    """Whether a row repeats the header, as where files have been joined."""
    if cells[0].strip('\ufeff" ') != header.names[0].strip('"'):
        return False
    return tuple(map(str.strip, cells[1:])) == header.names[1:]
