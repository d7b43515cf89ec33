"""Web of Science, tables: files from "Export > Tab Delimited File", or from "Export > Excel" saved as text.

A header line is followed by one line per record. The columns are named by field tags (`AU`, `TI`) or by the long names
of the spreadsheet ("Article Title"); tabs, commas or semicolons separate the cells. The same fields are taken as from
the plain text, see `wos`, whose `document_of` makes the documents.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from homonym.errors import word_list
from homonym.io.inputs import InputLine, Source
from homonym.io.table_text import EXCEL_CELL, Header
from homonym.records.fields.exported_ids import BIBLIOMETRIX_AUTHORS, WOS_AUTHORS, WOS_DOCUMENT
from homonym.records.fields.markup import plain_text
from homonym.records.formats.wos import WANTED, document_of
from homonym.records.model import BrokenRecordError, Note, Parsed
from homonym.records.parsing.delimited import (
    LONGEST_HEADER,
    Checks,
    FieldSizeLimit,
    cells_before_shift,
    gather,
    mark_cut_lists,
    physical_lines,
    remove_errors,
)
from homonym.records.parsing.splitting import Raw, decoded
from homonym.records.reader import Columns, Format, Records

# Fields of which tables of other sources have only a few under these names, as Scopus has "Author full names".
_OWN = frozenset("AF TI ID C1 RP EM RI OI WC SC PM".split())

# Minimum number of known fields in a header; a few names may be damaged.
_FEWEST = 4

# Number of characters by which a repetition of the first line is recognised, where files have been joined.
_BEGINNING = 12

_DELIMITERS = ("\t", ",", ";")
_TAG = re.compile(r"[A-Z][A-Z0-9]")

NO_HEADER = "no header line comes before it"
RUN_TOGETHER = "the header line and the record after it have run together"


class Layout(NamedTuple):
    """The delimiter of a table, the columns of each field that is read, and the number of columns.

    Tables of "All Databases" have some columns twice: of each row, the first that is not empty counts. A row with
    fewer than `fewest` cells lacks fields that are read. `types` is the column of document types, -1 if there is none.
    """

    delimiter: str
    places: dict[str, tuple[int, ...]]
    width: int
    fewest: int
    types: int = -1


def layout_of(line: str) -> Layout | None:
    r"""The layout that a header line describes; None for any other line.

    >>> layout_of("PT\tAU\tAF\tTI\tUT")
    Layout(delimiter='\t', places={'AU': (1,), 'AF': (2,), 'TI': (3,), 'UT': (4,)}, width=5, fewest=5, types=-1)
    >>> layout_of('"Authors","Article Title","Keywords Plus","Cited References","UT (Unique WOS ID)"').delimiter
    ','
    >>> layout_of("J\tDoe, J\tDoe, Jane\tOn wells\tWOS:1")
    """
    for delimiter in _DELIMITERS:
        if line.count(delimiter) >= _FEWEST - 1:
            cells = [cell.strip() for cell in _cells(line.lstrip("\ufeff"), delimiter)]
            if layout := _layout_of_tags(cells, delimiter) or _layout_of_names(cells, delimiter):
                return layout
    return None


def _layout_of_tags(cells: list[str], delimiter: str) -> Layout | None:
    own = {BIBLIOMETRIX_AUTHORS: WOS_AUTHORS} if WOS_DOCUMENT in cells else {}  # a table of homonym export
    places = _places(tag if (tag := own.get(cell, cell)) in WANTED else "" for cell in cells)
    if len(places) < _FEWEST:
        return None
    width = 1 + _last(places)
    while width < len(cells) and _TAG.fullmatch(cells[width]):
        width += 1
    return _layout(delimiter, places, width, cells.index("DT") if "DT" in cells else -1)


def _places(tags: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """The columns of each tag."""
    places: dict[str, tuple[int, ...]] = {}
    for place, tag in enumerate(tags):
        if tag:
            places[tag] = (*places.get(tag, ()), place)
    return places


def _last(places: dict[str, tuple[int, ...]]) -> int:
    return max(place for several in places.values() for place in several)


def _layout_of_names(cells: list[str], delimiter: str) -> Layout | None:
    names = [cell.lower() for cell in cells]
    places = _places(_tags_by_name().get(name, "") for name in names)
    is_wos = "UT" in places or len(_OWN.intersection(places)) >= _FEWEST
    width = max((place for place, cell in enumerate(cells, 1) if cell), default=0)
    types = names.index("document type") if "document type" in names else -1
    return _layout(delimiter, places, width, types) if is_wos and len(places) >= _FEWEST else None


@cache
def _tags_by_name() -> dict[str, str]:
    """The field tags by the long names of their columns in spreadsheets, in lower case."""
    from importlib.resources import files  # slow to import, and rarely needed

    table = files("homonym.records.formats").joinpath("wos_columns.tsv").read_text(encoding="utf-8")
    return dict(line.split("\t") for line in table.splitlines()[1:])


def _layout(delimiter: str, places: dict[str, tuple[int, ...]], width: int, types: int) -> Layout:
    return Layout(delimiter, places, width, min(width, 2 + _last(places)), types)


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter != "\t":
        return _separated(line, delimiter)
    cells = line.split("\t")
    return [_unquoted(cell) for cell in cells] if line.startswith('"') or '\t"' in line else cells


def _separated(line: str, delimiter: str) -> list[str]:
    try:
        with FieldSizeLimit(len(line)):
            return next(csv.reader([line.replace("\r", " ")], delimiter=delimiter), [])
    except csv.Error:
        return []


def _unquoted(cell: str) -> str:
    """A cell without the quotation marks of a spreadsheet; marks that do not enclose the cell belong to its text."""
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell


def _recognises(source: Source) -> bool:
    return _first_layout(source.head) is not None


def _first_layout(head: bytes) -> Layout | None:
    """The layout by the first header line of a file, which is the first line unless the lines have been sorted."""
    first, *others = re.split(rb"[\r\n]+", head.lstrip(b"\r\n"))
    likely = (line for line in others if len(line) < LONGEST_HEADER and b"UT" in line and b"AU" in line.upper())
    return next((layout for line in (first, *likely) if (layout := layout_of(decoded(line)))), None)


def _open(source: Source, columns: Columns) -> Records:
    layout = _first_layout(source.head)
    return Records(_rows(physical_lines(source), layout), context=layout)


def _rows(lines: Iterable[InputLine], first: Layout | None) -> Iterator[Raw]:
    r"""The rows of a table; each row after a different header line is preceded by that header line.

    >>> lines = [b"AU\tAF\tTI\tUT", b"A\tA\tx\t1", b"UT\tAU\tAF\tTI", b"2\tB\tB\ty"]
    >>> [raw.text for raw in _rows(map(InputLine, range(4), lines), layout_of("AU\tAF\tTI\tUT"))]
    [b'A\tA\tx\t1', b'UT\tAU\tAF\tTI\n2\tB\tB\ty']
    """
    for (layout, header), group in groupby(_with_headers(lines, first), itemgetter(0)):
        under = (line for _, line in group)
        if layout is None:
            yield from (Raw(number, text, broken or NO_HEADER) for number, text, broken in under)
        else:
            shape = Header(("",) * layout.width, layout.delimiter)
            for raw in gather(under, shape, _checks(layout)):
                yield raw._replace(text=header + raw.text) if header and not raw.broken else raw


_HeaderAbove = tuple[Layout | None, bytes]
"""The layout of rows, and the text of their header line if it is not the first one of the file."""


def _with_headers(lines: Iterable[InputLine], first: Layout | None) -> Iterator[tuple[_HeaderAbove, InputLine]]:
    """The lines that are no headers, each with the header above it."""
    layout, header, beginning = first, b"", b""
    for line in lines:
        text = line.text.rstrip(b"\r")
        found = layout_of(decoded(text)) if not line.broken and _may_be_header(text, beginning) else None
        if found is not None:
            layout, header = found, b"" if found == first else text + b"\n"
            if _holds_a_record(text, found):
                yield (layout, header), InputLine(line.number, text, RUN_TOGETHER)
        else:
            yield (layout, header), InputLine(line.number, text, line.broken)
        beginning = beginning or text[:_BEGINNING]


def _may_be_header(line: bytes, beginning: bytes) -> bool:
    """Whether to test a line for a header. Rows are long or have an accession number; the first line may have both."""
    if line.startswith(beginning):
        return True
    return len(line) < LONGEST_HEADER and b"WOS:" not in line and b"ISI:" not in line


def _holds_a_record(line: bytes, layout: Layout) -> bool:
    return line.count(layout.delimiter.encode()) > 1.5 * layout.width


def _parse(text: bytes, context: Layout | None) -> Parsed:
    header, end, row = decoded(text).partition("\n")
    layout = layout_of(header) if end else None
    if layout is None:
        layout, row = context, f"{header}{end}{row}"
    if layout is None:
        raise BrokenRecordError(NO_HEADER)
    cells = _row_cells(row, layout)
    if len(cells) < layout.fewest:
        raise BrokenRecordError(f"cut off: the row has {len(cells)} of {layout.width} fields")
    if len(cells) > 1.5 * layout.width and sum(map(_is_accession_number, cells)) > 1:
        raise BrokenRecordError("two records have run together (several accession numbers WOS:…)")
    notes: list[Note] = []
    if _is_shifted(cells, layout):
        cells = _before_shift(cells, layout, notes)
    if b"#" in text:
        notes += remove_errors(cells, _columns(layout, len(cells)))
    if len(text) >= EXCEL_CELL:
        columns = _columns(layout, len(cells))
        notes += mark_cut_lists(cells, [place for place, tag in enumerate(columns) if tag in _AUTHORS])
    return document_of(_fields(cells, layout), notes, "; ")


# The columns with lists of authors.
_AUTHORS = ("AF", "AU", "BF", "BA")


def _columns(layout: Layout, width: int) -> list[str]:
    """The tags of the columns of a row; empty for those that are not read."""
    tags = {place: tag for tag, places in layout.places.items() for place in places}
    return [tags.get(place, "") for place in range(width)]


def _row_cells(row: str, layout: Layout) -> list[str]:
    """The cells of a row. Where tabs are inside quoted cells, the csv module finds them."""
    cells = _cells(row, layout.delimiter)
    if '"' in row and len(cells) > layout.width and _is_shifted(cells, layout):
        quoted = _separated(row, layout.delimiter)
        return quoted if not _is_shifted(quoted, layout) else cells
    return cells


# Cells of these columns can be told from those of others.
_PATTERNS = {
    "PY": re.compile(r"(?:1[5-9]|20)\d\d"),
    "DI": re.compile(r"10\.\d{4,9}/\S+"),
    "UT": re.compile(r"[A-Z]{2,10}:\S+"),
}
_DOCUMENT_TYPE = re.compile(
    r"(?:Article|Review|Proceedings Paper|Editorial Material|Letter|Note|Meeting Abstract|Book|Book Review|Book Chapter"
    r"|Correction|News Item|Biographical-Item|Data Paper|Discussion|Reprint|Early Access|; )+"
)


def _checks(layout: Layout) -> Checks:
    patterns = {layout.places[tag][0]: pattern for tag, pattern in _PATTERNS.items() if tag in layout.places}
    return patterns if layout.types < 0 else {**patterns, layout.types: _DOCUMENT_TYPE}


def _before_shift(cells: list[str], layout: Layout, notes: list[Note]) -> list[str]:
    """The cells before the shift; those after it are empty."""
    used, trusted = cells_before_shift(cells, len(cells), _checks(layout))
    if not any(places[0] < trusted for tag in ("AU", "AF") if (places := layout.places.get(tag))):
        raise BrokenRecordError("its accession number (WOS:…) is not in the column UT, so the cells are shifted")
    lost = [tag for tag, places in layout.places.items() if places[-1] >= trusted]
    notes.append(("field", f"its cells are shifted, as the column UT shows; not used: {word_list(lost)}"))
    return used


def _fields(cells: list[str], layout: Layout) -> dict[str, str]:
    fields = {}
    for tag, places in layout.places.items():
        cell = cells[places[0]] if len(places) == 1 else next(filter(str.strip, map(cells.__getitem__, places)), "")
        if cell:
            fields[tag] = cell
    if "C1" in fields:
        fields["C1"] = "\n".join(_addresses(plain_text(fields["C1"])))
    return fields


def _is_shifted(cells: list[str], layout: Layout) -> bool:
    """Whether a cell is missing or too many: the accession number is in the wrong column."""
    if "UT" not in layout.places or layout.places["UT"][0] >= len(cells):
        return False
    return not _is_accession_number(cells[layout.places["UT"][0]]) and any(map(_is_accession_number, cells))


def _is_accession_number(cell: str) -> bool:
    return cell.startswith(("WOS:", "ISI:"))


def _addresses(cell: str) -> Iterator[str]:
    """The addresses in a cell, each with the names before it, which are also separated by ";".

    >>> list(_addresses("[Doe, J; Li, X] Univ X, Y; Univ Z"))
    ['[Doe, J; Li, X] Univ X, Y', 'Univ Z']
    """
    start = 0
    while start < len(cell):
        names_end = cell.find("]", start) if cell[start] == "[" else start
        if names_end < 0:  # cut within the names
            return
        end = cell.find(";", names_end)
        end = len(cell) if end < 0 else end
        yield cell[start:end].strip()
        start = end + 1
        while cell[start : start + 1] == " ":
            start += 1


FORMAT = Format(name="wos-tab", title="Web of Science, tab-delimited", recognises=_recognises, open=_open, parse=_parse)
