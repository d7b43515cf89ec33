"""Cuts CSV files into raw rows, also where quoted cells contain line ends, and rows into cells.

This is not done by the reader in `io.tables`, because here a damaged row must cost one record and not its neighbours.
A truncated row, or one with an extra quotation mark, opens a cell that nothing closes. Lines are joined only if the
result is a well-formed row; else the first line is rejected and the next one is tried as the start of a row.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import starmap

from homonym.io.inputs import MAX_RECORD_BYTES, InputLine, Source
from homonym.io.table_text import Header, is_separator_hint, line_end, read_header
from homonym.records.model import BrokenRecordError
from homonym.records.parsing.splitting import TOO_LONG, Raw, decoded

UNCLOSED = "a quoted cell is not closed, or the row is cut"

# A quoted cell does not contain this many lines that look like rows, if the table has at least this many columns.
_ROWS_IN_A_CELL, _FEWEST_COLUMNS = 3, 5

_CSV_FIELD_LIMIT = 1 << 17


def find_header(
    source: Source, accepts: Callable[[tuple[str, ...]], bool], *, lines: int | None = None
) -> Header | None:
    """The first of the first `lines` lines that `accepts` takes for a header."""
    first_lines = [line for line in source.head.split(line_end(source.head)) if line.strip()]
    return next((header for line in first_lines[:lines] if (header := read_header(decoded(line), accepts))), None)


def rows(source: Source, header: Header) -> Iterator[Raw]:
    """The raw rows of a file, including headers, each with the number of its first line."""
    lines = physical_lines(source)
    return gather((line for line in lines if line.number > 1 or not is_separator_hint(line.text)), header)


def physical_lines(source: Source) -> Iterator[InputLine]:
    """The non-blank lines of a file, without line ends."""
    return starmap(InputLine, source.lines(line_end(source.head)))


def gather(lines: Iterable[InputLine], header: Header) -> Iterator[Raw]:
    r"""Join the lines of each row; lines that belong to no row are rejected.

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
            yield _rejected(lost)
            lost = []
        yield row
    if lost:
        yield _rejected(lost)


def _row_from(
    line: InputLine, waiting: deque[InputLine], upcoming: Iterator[InputLine], header: Header, *, lenient: bool
) -> Raw | None:
    """The row that begins with a line, or None. Lines read in vain are put back into `waiting`."""
    number, text = line
    if len(text) > MAX_RECORD_BYTES:
        return Raw(number, text[:1000], TOO_LONG)
    if text.count(b'"') % 2 == 0:
        # A row with the wrong number of cells is reported later, unless it may be part of the rejected lines before it.
        return Raw(number, text) if lenient or _columns(text, header) == len(header.names) else None
    if _is_complete(text, header):
        return Raw(number, text)
    row = _gathered(line, waiting, upcoming, header)
    if row is None and len(_all_quoted(decoded(text).rstrip("\r"), header.separator)) == len(header.names):
        return Raw(number, text)
    return row


def _gathered(line: InputLine, waiting: deque[InputLine], upcoming: Iterator[InputLine], header: Header) -> Raw | None:
    parts, seen, size, whole_rows = [line.text], [], len(line.text), 0
    while size <= MAX_RECORD_BYTES and whole_rows < _ROWS_IN_A_CELL:
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


def _rejected(lost: list[InputLine]) -> Raw:
    return Raw(lost[0].number, b"\n".join(line.text for line in lost), UNCLOSED)


def _columns(row: bytes, header: Header) -> int:
    return b"".join(row.split(b'"')[::2]).count(header.separator.encode()) + 1


def _is_complete(line: bytes, header: Header) -> bool:
    """Whether a line with an odd number of quotation marks is a row nevertheless: `1,5" pipes,2010`."""
    try:
        cells = _strict_cells(decoded(line).rstrip("\r"), header.separator)
    except csv.Error:
        return False
    return len(cells) == len(header.names)


def _all_quoted(row: str, separator: str) -> list[str]:
    """The cells of a row in which all are quoted, even if one contains a quotation mark: `"1","5" pipes","2010"`."""
    if not (row[:1] == '"' == row[-1:]):
        return []
    return [cell.replace('""', '"') for cell in row[1:-1].split(f'"{separator}"')]


def _is_well_formed(row: bytes, header: Header) -> bool:
    """Whether quotation marks are only at the ends of cells and there is one cell per column."""
    separator = header.separator.encode()
    first, *between, last = row.split(b'"')[::2]
    return (
        _columns(row, header) == len(header.names)
        and (not first.strip(b" ") or first.rstrip(b" ").endswith(separator))
        and (not last.strip() or last.lstrip(b" ").startswith(separator))
        and all(not text or (text[:1] == separator and text.rstrip(b" ")[-1:] == separator) for text in between)
    )


def _is_whole_row(line: bytes, header: Header) -> bool:
    """Whether a line in an open cell looks like a row of its own; in prose, spaces follow commas."""
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
    if cells := _split_quoted(row, separator):
        return cells
    try:
        return _lenient_cells(row, separator)
    except csv.Error as broken:
        raise BrokenRecordError(f"is not a row of a table ({broken})") from None


def _split_quoted(row: str, separator: str) -> list[str] | None:
    """The cells of a well-formed row, several times as fast as the csv module; None for other rows."""
    parts = row.split('"')
    cells = parts[0].split(separator)
    if cells.pop() or len(parts) % 2 == 0:
        return None
    begun = ""
    for text, between in zip(parts[1:-2:2], parts[2:-1:2], strict=True):
        if between == separator:
            cells.append(begun + text)
            begun = ""
        elif not between:  # a doubled quotation mark stands for one
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
    with _FieldSizeLimit(len(row)):
        return next(csv.reader((row,), delimiter=separator, skipinitialspace=True), [])


def _strict_cells(row: str, separator: str) -> list[str]:
    with _FieldSizeLimit(len(row)):
        return next(csv.reader((row,), delimiter=separator, skipinitialspace=True, strict=True), [])


class _FieldSizeLimit:
    """Raises the field size limit of the csv module for a long row, such as the affiliations of 3,000 authors."""

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
    if separator == "\t" and row.count("\t") == wanted - 1:  # many TSV files do not quote, so quotation marks are text
        return row.split("\t")
    raise BrokenRecordError(f"has {len(cells)} columns, the header {wanted}")


def is_header(cells: list[str], header: Header) -> bool:
    """Whether a row repeats the header, as in joined files."""
    if cells[0].strip('\ufeff" ') != header.names[0].strip('"'):
        return False
    return tuple(map(str.strip, cells[1:])) == header.names[1:]
