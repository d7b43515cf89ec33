"""Cuts CSV files into raw rows, also where quoted cells contain line ends, and rows into cells.

This is not done by the reader in `io.tables`, because here a damaged row must cost one record and not its neighbours.
A truncated row, or one with an extra quotation mark, opens a cell that nothing closes. Lines are joined only if the
result is a well-formed row; else the first line is rejected and the next one is tried as the start of a row.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from homonym.errors import word_list
from homonym.io import inputs
from homonym.io.inputs import TOO_LONG, InputLine, Source
from homonym.io.table_text import EXCEL_CELL, Header, is_separator_hint, line_end, read_header
from homonym.records.fields.name_lists import OTHERS
from homonym.records.model import BrokenRecordError, Note
from homonym.records.parsing.splitting import Raw, decoded

UNCLOSED = "a quoted cell is not closed, or the row is cut"

# A quoted cell does not contain this many lines that look like rows, if the table has at least this many columns.
_ROWS_IN_A_CELL, _FEWEST_COLUMNS = 3, 5

# Maximum number of lines in a row: of one with a quoted cell, and of one in which no quotation mark shows the end.
_MAX_ROW_LINES, _MAX_UNQUOTED_LINES = 100_000, 100

_CSV_FIELD_LIMIT = 1 << 17

_LINE_ENDS = re.compile(rb"[\r\n]+")

# Maximum length of a header line inside a file; longer lines are rows.
LONGEST_HEADER = 3000

Checks = Mapping[int, re.Pattern[str]]
"""Column to the pattern that its cells match unless they are empty. They show where the cells of a row are shifted."""

NO_CHECKS: Checks = {}

# What spreadsheet programs show in place of a value, as of a title that begins with "=" or "-", in several languages.
_SPREADSHEET_ERROR = re.compile(
    r"#(?:[¡¿]?(?:REF|VALUE|NUM|NULL|NAME|DIV/0|SPILL|CALC|BEZUG|WERT|ZAHL|NOM|VALEUR|NOMBRE|VALOR|NOME|VALORE|ССЫЛКА"
    r"|ИМЯ|ЗНАЧ)\s?[!?]|(N/A|NV|Н/Д))"
)

# A row with more cells than this multiple of the columns is two rows.
MAX_CELL_RATIO = 1.5


def find_header(
    source: Source, accepts: Callable[[tuple[str, ...]], bool], *, lines: int | None = None
) -> Header | None:
    """The first of the first `lines` lines that `accepts` takes for a header."""
    first_lines = [line for line in _LINE_ENDS.split(source.head) if line.strip()]
    return next((header for line in first_lines[:lines] if (header := read_header(decoded(line), accepts))), None)


def rows_by_header(
    source: Source, first: Header, header_in: Callable[[bytes], Header | None], checks_of: Callable[[Header], Checks]
) -> Iterator[tuple[Header, Raw]]:
    """The raw rows of a file with the header above each; joined files have several.

    `header_in` returns the header that a line is, None for other lines.
    """
    header = first

    def header_above(line: InputLine) -> Header:
        nonlocal header
        if len(line.text) <= LONGEST_HEADER and not line.broken:
            header = header_in(line.text) or header
        return header

    for found, lines in groupby(_without_hint(physical_lines(source)), header_above):
        yield from ((found, raw) for raw in gather(lines, found, checks_of(found)))


def _without_hint(lines: Iterator[InputLine]) -> Iterator[InputLine]:
    return (line for line in lines if line.number > 1 or not is_separator_hint(line.text))


def physical_lines(source: Source) -> Iterator[InputLine]:
    r"""The non-blank lines of a file, without line ends, which may be \n, \r\n or \r, also mixed."""
    for number, text, broken in source.lines(line_end(source.head)):
        body = text.rstrip(b"\r")
        if broken or (b"\r" not in body and b"\n" not in body):
            yield InputLine(number, text, broken)
        else:
            yield from (InputLine(number, part) for part in _LINE_ENDS.split(body) if part.strip())


def gather(lines: Iterable[InputLine], header: Header, checks: Checks = NO_CHECKS) -> Iterator[Raw]:
    r"""Join the lines of each row; lines that belong to no row are rejected.

    >>> lines = [b'1,"two', b'lines",x', b'2,"cut he', b'3,Three,x']
    >>> [raw[1:] for raw in gather(map(InputLine, range(4), lines), Header(("id", "title", "venue"), ","))]
    [(b'1,"two\nlines",x', ''), (b'2,"cut he', 'a quoted cell is not closed, or the row is cut'), (b'3,Three,x', '')]
    """
    reader = _RowReader(lines, header, checks)
    lost = _LostLines()
    while (line := reader.next_line()) is not None:
        row = reader.row_from(line, lenient=not lost)
        if row is not None:
            yield from lost.rejected()
            yield row
        else:
            if lost and _may_begin_row(line.text, header):
                yield from lost.rejected()
            lost.add(line)
    yield from lost.rejected()


class _LostLines:
    """Lines that belong to no row, up to the maximum size of a record. They are rejected as one record."""

    def __init__(self) -> None:
        self._lines: list[InputLine] = []
        self._size = 0

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, line: InputLine) -> None:
        self._size += len(line.text) + 1
        if self._size <= inputs.MAX_RECORD_BYTES or not self._lines:
            self._lines.append(line)

    def rejected(self) -> Iterator[Raw]:
        """The lines as a broken record; afterwards there are none."""
        if self._lines:
            reason = UNCLOSED if self._size <= inputs.MAX_RECORD_BYTES else TOO_LONG
            yield Raw(self._lines[0].number, b"\n".join(line.text for line in self._lines), reason)
        self._lines, self._size = [], 0


class _RowReader:
    """Joins lines to rows. Lines that were put back are read again."""

    def __init__(self, lines: Iterable[InputLine], header: Header, checks: Checks) -> None:
        self._upcoming = iter(lines)
        self._waiting: deque[InputLine] = deque()
        self._header, self._checks = header, checks
        self._width = len(header.names)
        self._taken = 0
        self._hopeless_until = 0

    def next_line(self) -> InputLine | None:
        line = self._waiting.popleft() if self._waiting else next(self._upcoming, None)
        self._taken += line is not None
        return line

    def _put_back(self, lines: Sequence[InputLine]) -> None:
        self._taken -= len(lines)
        self._waiting.extendleft(reversed(lines))

    def row_from(self, line: InputLine, *, lenient: bool) -> Raw | None:
        """The row that begins with a line, or None.

        A row with the wrong number of cells is reported later. But it must be a row if the lines before it are lost,
        because it may be part of them.
        """
        number, text, broken = line
        if broken:
            return Raw(number, text, broken)
        if text.count(b'"') % 2 == 0:
            if (columns := _columns(text, self._header)) == self._width:
                return Raw(number, text)
            row = self._joined_unquoted(line) if columns < self._width else None
            return row or (Raw(number, text) if lenient or self._is_shifted_row(text) else None)
        if _is_complete(text, self._header):
            return Raw(number, text)
        row = self._joined_quoted(line)
        if row is None and (self._is_all_quoted(text) or self._is_plain_tsv(text)):
            return Raw(number, text)
        return row

    def _is_all_quoted(self, text: bytes) -> bool:
        return len(_all_quoted(decoded(text).rstrip("\r"), self._header.separator)) == self._width

    def _is_plain_tsv(self, text: bytes) -> bool:
        """Whether a line has one cell per column if quotation marks are text, as in many TSV files."""
        tabs, inner_tabs = text.count(b"\t"), text.rstrip(b"\t\r").count(b"\t")
        return self._header.separator == "\t" and inner_tabs < self._width <= tabs + 1

    def _is_shifted_row(self, text: bytes) -> bool:
        return bool(self._checks) and trusted_columns(_cells_or_none(text, self._header), self._checks) > 0

    def _joined_quoted(self, line: InputLine) -> Raw | None:
        """The row of a line that ends inside a quoted cell, with the lines up to the end of that cell."""
        parts, size, whole_rows = [line], len(line.text), 0
        while size <= inputs.MAX_RECORD_BYTES and whole_rows < _ROWS_IN_A_CELL and len(parts) < _MAX_ROW_LINES:
            following = self.next_line()
            if following is None:
                break
            parts.append(following)
            size += len(following.text)
            if following.broken:
                break
            if following.text.count(b'"') % 2:
                row = b"\n".join(part.text for part in parts)
                if _is_well_formed(row, self._header):
                    return Raw(line.number, row)
                break
            whole_rows += _is_whole_row(following.text, self._header)
        self._put_back(parts[1:])
        return None

    def _joined_unquoted(self, line: InputLine) -> Raw | None:
        """The row of a line that ends inside a cell without quotation marks, if its checked columns then fit."""
        if not self._checks or self._taken <= self._hopeless_until:
            return None
        parts, columns, size = [line], _columns(line.text, self._header), len(line.text)
        while columns < self._width and len(parts) < _MAX_UNQUOTED_LINES and size <= inputs.MAX_RECORD_BYTES:
            following = self.next_line()
            if following is None:
                break
            parts.append(following)
            size += len(following.text)
            added = _columns(following.text, self._header)
            if following.broken or following.text.count(b'"') % 2 or added >= self._width:
                break
            columns += added - 1
            if columns == self._width:
                row = b" ".join(part.text for part in parts)
                last = max(self._checks)
                if trusted_columns(_cells_or_none(row, self._header), self._checks) > last:
                    return Raw(line.number, row)
        if columns < self._width:
            # Rows that begin with the lines after this one would have even fewer columns, unless they end later.
            is_cut = len(parts) == _MAX_UNQUOTED_LINES or size > inputs.MAX_RECORD_BYTES
            self._hopeless_until = self._taken - (len(parts) // 2 if is_cut else 0)
        self._put_back(parts[1:])
        return None


def _may_begin_row(line: bytes, header: Header) -> bool:
    """Whether a line that belongs to no row may be the beginning of another record and not the rest of one."""
    separator = header.separator.encode()
    before, quote, after = line.partition(b'"')
    if quote:
        opens_a_cell = not before.strip() or before.rstrip(b" ").endswith(separator)
        return opens_a_cell and not after.startswith(separator)
    return 2 * line.count(separator) >= len(header.names) - 1


def trusted_columns(cells: Sequence[str], checks: Checks) -> int:
    """The number of first columns of a row that are not shifted: those up to the last one whose check fits.

    >>> year = re.compile("[0-9]{4}")
    >>> trusted_columns(["Doe, J", "x", "2010"], {2: year}), trusted_columns(["Doe", " J", "x", "2010"], {2: year})
    (3, 0)
    """
    trusted = 0
    for place in sorted(checks):
        cell = cells[place].strip() if place < len(cells) else ""
        if cell and not checks[place].fullmatch(cell):
            break
        if cell:
            trusted = place + 1
    return trusted


def _cells_or_none(text: bytes, header: Header) -> list[str]:
    try:
        return cells_of(decoded(text).rstrip("\r\n"), header.separator)
    except BrokenRecordError:
        return []


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
    """Whether quotation marks are only at the ends of cells, and the row is not two rows."""
    separator = header.separator.encode()
    first, *between, last = row.split(b'"')[::2]
    return (
        _columns(row, header) < MAX_CELL_RATIO * len(header.names)
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
    with FieldSizeLimit(len(row)):
        return next(csv.reader((row,), delimiter=separator, skipinitialspace=True), [])


def _strict_cells(row: str, separator: str) -> list[str]:
    with FieldSizeLimit(len(row)):
        return next(csv.reader((row,), delimiter=separator, skipinitialspace=True, strict=True), [])


class FieldSizeLimit:
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
    cells, fits = _row_cells(text, header)
    if not fits:
        raise BrokenRecordError(_wrong_width(cells, header))
    return cells


def usable_cells(text: bytes, header: Header, checks: Checks, needed: Iterable[int]) -> tuple[list[str], list[Note]]:
    """The cells of one raw row, one per column, and a note if some could not be used.

    If the row has more cells than the header, those before the shift are used; the others are empty. One of the columns
    `needed` must be among them, otherwise the row is broken. A row with fewer cells is cut, and broken.

    >>> header, year = Header(("authors", "year", "title", "venue"), ","), re.compile("[0-9]{4}")
    >>> usable_cells(b"Doe J,2010,On a, b,Nature", header, {1: year}, [0])[0]
    ['Doe J', '2010', '', '']
    """
    cells, fits = _row_cells(text, header)
    if fits:
        return cells, remove_errors(cells, header.names) if b"#" in text else []
    width = len(header.names)
    used, trusted = cells_before_shift(cells, width, checks) if width < len(cells) < MAX_CELL_RATIO * width else ([], 0)
    if not any(place < trusted for place in needed):
        raise BrokenRecordError(_wrong_width(cells, header))
    lost = word_list(list(header.names[trusted:])) or "the cells after the last column"
    errors = remove_errors(used, header.names)
    return used, [("field", f"{_wrong_width(cells, header)}; not used: {lost}"), *errors]


def remove_errors(cells: list[str], columns: Sequence[str]) -> list[Note]:
    """Empty the cells that hold an error of a spreadsheet program, with a note on each that replaced a value.

    Columns without a name are not read.

    >>> remove_errors(cells := ["Doe J", "#NAME?", "#1"], ["AU", "TI", "AR"]), cells
    ([('field', "#NAME? in the column 'TI' is an error of a spreadsheet")], ['Doe J', '', '#1'])
    """
    notes: list[Note] = []
    for place, cell in enumerate(cells):
        if cell[:1] == "#" and (found := _SPREADSHEET_ERROR.fullmatch(cell.strip())):
            cells[place] = ""
            if columns[place] and not found[1]:
                reason = f"{found[0]} in the column {columns[place]!r} is an error of a spreadsheet"
                notes.append(("field", reason))
    return notes


def cells_before_shift(cells: Sequence[str], width: int, checks: Checks) -> tuple[list[str], int]:
    """The cells of a shifted row, empty from the first that may be wrong, and the number of those before it."""
    trusted = trusted_columns(cells, checks)
    return [*cells[:trusted], *[""] * (width - trusted)], trusted


def _wrong_width(cells: Sequence[str], header: Header) -> str:
    return f"has {len(cells)} columns, the header {len(header.names)}"


def _row_cells(text: bytes, header: Header) -> tuple[list[str], bool]:
    """The cells of one raw row, and whether there is one for each column."""
    row = decoded(text).rstrip("\r\n")
    names, separator = header
    wanted = len(names)
    cells = cells_of(row, separator)
    if len(cells) == wanted:
        return cells, True
    if len(cells) > wanted and not any(map(str.strip, cells[wanted:])):
        return cells[:wanted], True
    if len(other := _all_quoted(row, separator)) == wanted:
        return other, True
    if separator == "\t" and row.count("\t") == wanted - 1:  # many TSV files do not quote, so quotation marks are text
        return row.split("\t"), True
    return cells, False


# What separates the names in a list of authors.
_LIST_MARK = re.compile(r"[;|\n]")


def mark_cut_lists(cells: list[str], places: Sequence[int]) -> list[Note]:
    """Remove half a name at the end of lists of authors that Excel has cut; with notes, and "et al." as a contributor.

    There are no notes if another column has more of the authors, such as one with short names.

    >>> cells = [("Doe, Jane; " * 3000)[:EXCEL_CELL], "Doe J; " * 3000]
    >>> mark_cut_lists(cells, [0, 1]), cells[0][-12:]
    ([], '; Doe, Jane;')
    >>> mark_cut_lists([("Doe, Jane|" * 4000)[:EXCEL_CELL]], [0])[0]
    ('field', 'a list of authors ends after the 32,767 characters that Excel keeps of a cell')
    """
    cut = [place for place in places if len(cells[place]) == EXCEL_CELL and _LIST_MARK.search(cells[place])]
    for place in cut:
        mark = _LIST_MARK.findall(cells[place])[0]
        cells[place] = cells[place][: cells[place].rindex(mark) + 1]
    if not cut or max(places, key=lambda place: len(_LIST_MARK.findall(cells[place]))) not in cut:
        return []
    reason = f"a list of authors ends after the {EXCEL_CELL:,} characters that Excel keeps of a cell"
    return [("field", reason), ("contributor", OTHERS)]


def is_empty_row(text: bytes, separator: str) -> bool:
    """Whether all cells of a row are empty, as spreadsheets write them below the last row.

    >>> is_empty_row(b';"";  ;', ";"), is_empty_row(b";;-;", ";")
    (True, False)
    """
    return not text.strip(separator.encode() + b'" \t\r\n')


def is_header(cells: list[str], header: Header) -> bool:
    """Whether a row repeats the header, as in joined files."""
    if cells[0].strip('\ufeff" ') != header.names[0].strip('"'):
        return False
    return tuple(map(str.strip, cells[1:])) == header.names[1:]
