"""XLSX tables as CSV text, row by row, so that every format that reads CSV reads them.

Only values are read: no formula is evaluated, and nothing outside the file is opened. The standard library is enough,
and it is safer than a library for spreadsheets: expat reads a sheet without building a tree, and declarations of
entities are refused, so the memory does not grow with the sheet.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from itertools import chain, islice
from typing import IO, Any
from xml.parsers import expat

from homonym.errors import InputError
from homonym.io.zip_files import ZIP_FAILURES, open_zip

# Limits of Excel.
MAX_ROWS, MAX_COLUMNS = 1 << 20, 1 << 14

# Maximum size of the texts that the cells of a workbook share, which are held in memory, and of other parts.
MAX_SHARED_BYTES, MAX_PART_BYTES = 128 << 20, 16 << 20

# Maximum number of characters of a row; Excel allows 32,767 in a cell.
MAX_ROW_CHARACTERS = 64 << 20

# Maximum number of merged cells that are filled, and maximum depth of elements.
MAX_MERGED, MAX_DEPTH = 100_000, 64

# Maximum number of sheets and styles of a workbook; Excel allows 65,490 styles.
MAX_ELEMENTS = 200_000

# All rows get as many cells as the longest of this number of first rows.
_FIRST_ROWS = 20

_BLOCK = 1 << 16
_MERGED = re.compile(rb"""<(?:\w{1,20}:)?mergeCell\s+ref=["']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})["']""")
_WHOLE = re.compile(r"\d{1,11}")
_PLACE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_WHITE = re.compile(r"\s+")
_USED = frozenset(
    {"sheet", "workbookPr", "Relationship", "numFmt", "xf", "cellXfs", "cellStyleXfs", "cellStyles", "dxfs"}
)
_LITERAL = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')

# Numbers of the built-in formats of dates; others are times, numbers and text.
_DATE_FORMATS = frozenset(map(str, (*range(14, 18), 22, *range(27, 37), *range(50, 59))))
_DAYS_BEFORE = {False: date(1899, 12, 30), True: date(1904, 1, 1)}
_LAST_DAY = 2_958_465

Row = tuple[int, list[str]]
"""Number of a row, from 1, and its cells."""


def open_workbook(stream: IO[bytes], name: str) -> Workbook | None:
    """The workbook in a ZIP file; None if it holds something else. OpenDocument spreadsheets are refused."""
    archive = open_zip(stream, name)
    names = set(archive.namelist())
    if "[Content_Types].xml" in names and "xl/workbook.xml" in names:
        return Workbook(archive, name)
    if "mimetype" in names and "content.xml" in names:
        raise InputError(f"{name} is an OpenDocument file; save it as XLSX or CSV.")
    if "[Content_Types].xml" in names and "xl/workbook.bin" in names:
        raise InputError(f"{name} is a binary workbook (.xlsb); save it as XLSX or CSV.")
    return None


def damaged(name: str, error: Exception) -> str:
    """The message about a workbook that cannot be read."""
    return f"{name} is a damaged spreadsheet ({error}); save it again, or as CSV."


class Workbook:
    """The sheets of an XLSX file that are not hidden."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive, self._name = archive, name
        self._shared: list[str] | None = None
        about = _WorkbookParts(archive, name)
        self.sheets, self._dates, self._is_1904 = about.sheets, about.dates, about.is_1904
        self._texts = about.texts

    def close(self) -> None:
        """Close the archive, but not the file that it was read from."""
        self._archive.close()

    def text(self, number: int) -> SheetText:
        """The sheet with this number, from 0, as CSV text."""
        if self._shared is None:
            try:
                self._shared = list(self._shared_texts())
            except ValueError as error:
                raise InputError(damaged(self._name, error)) from error
        info = self._archive.getinfo(self.sheets[number])
        return SheetText(self._rows(info), info)

    def _shared_texts(self) -> Iterator[str]:
        if not self._texts:
            return
        info = self._archive.getinfo(self._texts)
        if info.file_size > MAX_SHARED_BYTES:
            raise InputError(f"{self._name}: its texts take more than {MAX_SHARED_BYTES >> 20} MiB; save it as CSV.")
        reader = _SharedTexts()
        for _ in _parsed(self._archive, info, reader):
            yield from reader.taken()

    def _rows(self, info: zipfile.ZipInfo) -> Iterator[Row]:
        reader = _SheetReader(self._shared or [], self._dates, is_1904=self._is_1904)
        merged = _MergedCells(self._archive, info)
        for _ in _parsed(self._archive, info, reader):
            for row, cells in reader.taken():
                merged.fill(row, cells)
                if any(cells):
                    yield row, cells


class SheetText:
    """A sheet as CSV text: row n of the sheet is line n of the text. All cells are quoted and have no line ends."""

    def __init__(self, rows: Iterator[Row], info: zipfile.ZipInfo) -> None:
        self._lines = _lines(rows)
        self._buffer = b""
        self._given = 0
        self._info = info

    def read(self, size: int) -> bytes:
        """The next bytes of the text, at most `size`; empty at the end."""
        gathered = [self._buffer]
        filled = len(self._buffer)
        while filled < size and (line := next(self._lines, None)) is not None:
            gathered.append(line)
            filled += len(line)
        text = b"".join(gathered)
        self._buffer = text[size:]
        self._given += min(size, len(text))
        return text[:size]

    @property
    def position(self) -> int:
        """About how many bytes of the file were read: texts and their XML have about the same size."""
        return min(self._given * self._info.compress_size // max(1, self._info.file_size), self._info.compress_size)


def _lines(rows: Iterator[Row]) -> Iterator[bytes]:
    """CSV lines; rows that the sheet leaves out are empty lines."""
    first = list(islice(rows, _FIRST_ROWS))
    width = max((len(cells) for _, cells in first), default=0)
    line = 0
    for number, cells in chain(first, rows):
        padded = cells + [""] * (width - len(cells))
        text = ",".join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in padded).encode(errors="replace")
        yield b"\n" * (number - line - 1) + text + b"\n"
        line = number


def _parsed(archive: zipfile.ZipFile, info: zipfile.ZipInfo, reader: _Reader) -> Iterator[None]:
    """Parse a part of a workbook, and pause after each block. A damaged part raises ValueError."""
    try:
        with archive.open(info) as stream:
            while block := stream.read(_BLOCK):
                reader.feed(block)
                yield
        reader.feed(b"", is_last=True)
        yield
    except (expat.ExpatError, *ZIP_FAILURES) as error:
        raise ValueError(f"{info.filename}: {error}") from error


class _Reader:
    """Calls `start`, `text` and `end` for the elements of a part, by their names without prefix."""

    def __init__(self) -> None:
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start_element
        self._parser.EndElementHandler = self._end_element
        self._parser.CharacterDataHandler = self.text
        self._parser.EntityDeclHandler = self._refuse
        self._depth = 0

    def feed(self, block: bytes, *, is_last: bool = False) -> None:
        self._parser.Parse(block, is_last)

    def _start_element(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError(f"elements are nested more than {MAX_DEPTH} levels deep")
        self.start(name.rpartition(":")[2], attributes)

    def _end_element(self, name: str) -> None:
        self._depth -= 1
        self.end(name.rpartition(":")[2])

    def _refuse(self, *_: Any) -> None:
        raise ValueError("it defines entities, which no spreadsheet program does")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def text(self, text: str) -> None:
        """Some text of the element that began last."""

    def end(self, name: str) -> None:
        """An element ends."""


class _SharedTexts(_Reader):
    """The texts that cells refer to by their number; pronunciations of Japanese and Chinese texts are left out."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: list[str] = []
        self._parts: list[str] = []
        self._in_text = self._in_pronunciation = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "si":
            self._parts = []
        self._in_text = name == "t" and not self._in_pronunciation
        self._in_pronunciation |= name == "rPh"

    def text(self, text: str) -> None:
        if self._in_text:
            self._parts.append(text)

    def end(self, name: str) -> None:
        self._in_text = False
        if name == "rPh":
            self._in_pronunciation = False
        elif name == "si":
            self._texts.append(_plain("".join(self._parts)))

    def taken(self) -> list[str]:
        """The texts that ended since the last call."""
        texts, self._texts = self._texts, []
        return texts


class _SheetReader(_Reader):
    """The rows of a sheet."""

    def __init__(self, shared: list[str], dates: frozenset[str], *, is_1904: bool) -> None:
        super().__init__()
        self._shared, self._dates, self._first_day = shared, dates, _DAYS_BEFORE[is_1904]
        self._rows: list[Row] = []
        self._row = self._column = self._size = 0
        self._kind = self._style = ""
        self._cells: list[str] = []
        self._parts: list[str] = []
        self._is_value = self._in_pronunciation = False

    def taken(self) -> list[Row]:
        """The rows that ended since the last call."""
        rows, self._rows = self._rows, []
        return rows

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "row":
            number = _whole(attributes.get("r", ""))
            self._row = number if self._row < number <= MAX_ROWS else self._row + 1
            self._cells, self._column, self._size = [], -1, 0
        elif name == "c":
            place = _PLACE.fullmatch(attributes.get("r", ""))
            self._column = _column(place[1]) if place else self._column + 1
            self._kind, self._style, self._parts = attributes.get("t", "n"), attributes.get("s", ""), []
        elif name == "rPh":
            self._in_pronunciation = True
        self._is_value = name in {"v", "t"} and not self._in_pronunciation

    def text(self, text: str) -> None:
        if self._is_value:
            self._add_size(len(text))
            self._parts.append(text)

    def _add_size(self, size: int) -> None:
        self._size += size
        if self._size > MAX_ROW_CHARACTERS:
            raise ValueError(f"row {self._row} has more than {MAX_ROW_CHARACTERS:,} characters")

    def end(self, name: str) -> None:
        self._is_value = False
        if name == "rPh":
            self._in_pronunciation = False
        elif name == "c" and self._parts and self._column < MAX_COLUMNS:
            written = "".join(self._parts)
            value = self._value(written)
            self._add_size(len(value) - len(written))  # shared texts are longer than their numbers
            self._cells += [""] * (self._column + 1 - len(self._cells))
            self._cells[self._column] = value
        elif name == "row":
            self._rows.append((self._row, self._cells))
            self._cells = []

    def _value(self, written: str) -> str:
        if self._kind == "s":
            place = _whole(written.strip())
            return self._shared[place] if 0 <= place < len(self._shared) else ""
        if self._kind == "n":
            return self._number(written.strip())
        if self._kind == "b":
            return "TRUE" if written.strip() == "1" else "FALSE"
        return "" if self._kind == "e" else _plain(written)

    def _number(self, written: str) -> str:
        if written.isdecimal() and self._style not in self._dates:
            return written
        try:
            number = float(written)
        except ValueError:
            return _plain(written)
        if self._style in self._dates and 1 <= number <= _LAST_DAY:
            with suppress(OverflowError):
                return (self._first_day + timedelta(days=int(number))).isoformat()
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else written


def _whole(digits: str) -> int:
    """A number of at most 11 digits; -1 if it is something else.

    >>> _whole("007"), _whole("9" * 11), _whole("9" * 12), _whole("-2"), _whole("")
    (7, 99999999999, -1, -1, -1)
    """
    return int(digits) if _WHOLE.fullmatch(digits) else -1


def _column(letters: str) -> int:
    """The place of a column, from 0.

    >>> _column("A"), _column("Z"), _column("AA")
    (0, 25, 26)
    """
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _plain(text: str) -> str:
    """A text without line ends and tabs, and with the characters that XML cannot hold, such as `_x000D_`."""
    if "_x" in text:
        text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    return text if text.isprintable() else _WHITE.sub(" ", text).strip()


class _MergedCells:
    """Cells that are merged with cells below them: all of them get the value, which only the first has."""

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
        self._starts: dict[int, list[tuple[int, int]]] = {}
        self._open: dict[int, tuple[int, str]] = {}
        for first, top, last, bottom in _merged(archive, info):
            if first == last:
                self._starts.setdefault(int(top), []).append((_column(first.decode()), int(bottom)))

    def fill(self, row: int, cells: list[str]) -> None:
        """Fill the merged cells of a row; rows come in order."""
        for column, (last, value) in list(self._open.items()):
            if row > last:
                del self._open[column]
            elif value:
                cells += [""] * (column + 1 - len(cells))
                cells[column] = cells[column] or value
        for column, last in self._starts.get(row, ()):
            self._open[column] = last, cells[column] if column < len(cells) else ""


def _merged(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> list[tuple[bytes, bytes, bytes, bytes]]:
    """The ranges of merged cells, which a sheet lists behind its rows."""
    found: dict[tuple[bytes, bytes, bytes, bytes], None] = {}
    tail = b""
    with suppress(*ZIP_FAILURES), archive.open(info) as stream:  # reading the rows reports damage
        while (block := stream.read(1 << 20)) and len(found) < MAX_MERGED:
            text = tail + block
            found |= dict.fromkeys((match[1], match[2], match[3], match[4]) for match in _MERGED.finditer(text))
            tail = text[-100:]
    return list(found)[:MAX_MERGED]


class _Elements(_Reader):
    """Name and attributes of the elements of a small part that are of use."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name in _USED:
            self.found.append((name, attributes))
        if len(self.found) > MAX_ELEMENTS:
            raise ValueError(f"more than {MAX_ELEMENTS:,} sheets or styles")


class _WorkbookParts:
    """Paths of the visible sheets, the numbers of the styles of dates, and from which day dates are counted."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive, self._name = archive, name
        try:
            book = self._elements("xl/workbook.xml")
            relations = [about for _, about in self._elements("xl/_rels/workbook.xml.rels")]
            self.dates = frozenset(_date_styles(self._elements("xl/styles.xml")))
        except ValueError as error:
            raise InputError(damaged(name, error)) from error
        properties = next((about for element, about in book if element == "workbookPr"), {})
        self.is_1904 = properties.get("date1904") in {"1", "true"}
        paths = {about.get("Id", ""): self._path(about) for about in relations}
        kinds = {about.get("Id", ""): about.get("Type", "").rpartition("/")[2] for about in relations}
        self.sheets = [paths[one] for one in _visible(book) if kinds.get(one) == "worksheet" and paths[one]]
        self.texts = next((paths[one] for one, kind in kinds.items() if kind == "sharedStrings"), "")
        if not self.sheets:
            raise InputError(f"{name} is a spreadsheet without a sheet of cells; save the table as XLSX or CSV.")

    def _elements(self, path: str) -> list[tuple[str, dict[str, str]]]:
        """The elements of a part; none if the workbook does not have it."""
        try:
            info = self._archive.getinfo(path)
        except KeyError:
            return []
        if info.file_size > MAX_PART_BYTES:
            raise ValueError(f"{path} has more than {MAX_PART_BYTES >> 20} MiB")
        reader = _Elements()
        for _ in _parsed(self._archive, info, reader):
            pass
        return reader.found

    def _path(self, relation: dict[str, str]) -> str:
        """The path of a part in the archive; empty if the archive does not have it."""
        target = relation.get("Target", "")
        path = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
        return path if path in self._archive.NameToInfo else ""


def _visible(book: list[tuple[str, dict[str, str]]]) -> Iterator[str]:
    """The numbers of the relations of the sheets that are not hidden."""
    for element, about in book:
        if element == "sheet" and about.get("state", "visible") == "visible":
            yield next((value for name, value in about.items() if name.rpartition(":")[2] == "id"), "")


def _date_styles(styles: list[tuple[str, dict[str, str]]]) -> Iterator[str]:
    """The numbers of the styles with which cells show dates."""
    codes: dict[str, str] = {}
    is_cell, number = False, 0
    for element, about in styles:
        if element == "numFmt":
            codes[about.get("numFmtId", "")] = about.get("formatCode", "")
        elif element in {"cellXfs", "cellStyleXfs", "cellStyles", "dxfs"}:
            is_cell = element == "cellXfs"
        elif element == "xf" and is_cell:
            given = about.get("numFmtId", "")
            if _is_date(codes[given]) if given in codes else given in _DATE_FORMATS:
                yield str(number)
            number += 1


def _is_date(code: str) -> bool:
    """Whether a number format shows a date.

    >>> _is_date("yyyy\\\\-mm\\\\-dd"), _is_date('0.00" days"'), _is_date("[Red]#,##0")
    (True, False, False)
    """
    return re.search("[yd]", _LITERAL.sub("", code), re.IGNORECASE) is not None
