"""Web of Science, tables: files from "Export > Tab Delimited File", or from "Export > Excel" saved as text.

A header line is followed by one line per record. The columns are named by field tags (`AU`, `TI`) or by the long names
of the spreadsheet ("Article Title"); tabs, commas or semicolons separate the cells. The same fields are taken as from
the plain text, see `wos`, whose `document_of` makes the documents.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from homonym.io.inputs import MAX_RECORD_BYTES, Source
from homonym.records.fields.markup import plain_text
from homonym.records.formats.wos import WANTED, document_of, from_first_line
from homonym.records.model import BrokenRecordError, Parsed
from homonym.records.parsing.splitting import Raw, decoded, split_at
from homonym.records.reader import Columns, Format, Records

# Fields of which tables of other sources have only a few under these names, as Scopus has "Author full names".
_OWN = frozenset("AF TI ID C1 RP EM RI OI WC SC PM".split())

# Minimum number of known fields in a header; a few names may be damaged.
_FEWEST = 4

# Maximum length of a header; longer lines are rows.
_LONGEST_HEADER = 3000

# Number of characters by which a repetition of the first line is recognised, where files have been joined.
_BEGINNING = 12

_DELIMITERS = ("\t", ",", ";")
_TAG = re.compile(r"[A-Z][A-Z0-9]")
_OLD_MAC_LINE = re.compile(rb"\r(?=[^\r\n])")

NO_HEADER = "no header line comes before it"
RUN_TOGETHER = "the header line and the record after it have run together"


class Layout(NamedTuple):
    """The delimiter of a table, the column of each field that is read, and the number of columns.

    A row with fewer than `fewest` cells lacks fields that are read.
    """

    delimiter: str
    places: dict[str, int]
    width: int
    fewest: int


def layout_of(line: str) -> Layout | None:
    r"""The layout that a header line describes; None for any other line.

    >>> layout_of("PT\tAU\tAF\tTI\tUT")
    Layout(delimiter='\t', places={'AU': 1, 'AF': 2, 'TI': 3, 'UT': 4}, width=5, fewest=5)
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
    places = {cell: place for place, cell in enumerate(cells) if cell in WANTED}
    if len(places) < _FEWEST:
        return None
    width = 1 + max(places.values())
    while width < len(cells) and _TAG.fullmatch(cells[width]):
        width += 1
    return _layout(delimiter, places, width)


def _layout_of_names(cells: list[str], delimiter: str) -> Layout | None:
    tags = [_tags_by_name().get(cell.lower(), "") for cell in cells]
    places = {tag: place for place, tag in enumerate(tags) if tag}
    is_wos = "UT" in places or len(_OWN.intersection(places)) >= _FEWEST
    width = max((place for place, cell in enumerate(cells, 1) if cell), default=0)
    return _layout(delimiter, places, width) if is_wos and len(places) >= _FEWEST else None


@cache
def _tags_by_name() -> dict[str, str]:
    """The field tags by the long names of their columns in spreadsheets, in lower case."""
    from importlib.resources import files  # slow to import, and rarely needed

    table = files("homonym.records.formats").joinpath("wos_columns.tsv").read_text(encoding="utf-8")
    return dict(line.split("\t") for line in table.splitlines()[1:])


def _layout(delimiter: str, places: dict[str, int], width: int) -> Layout:
    return Layout(delimiter, places, width, fewest=min(width, 2 + max(places.values())))


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter != "\t":
        return _separated(line, delimiter)
    cells = line.split("\t")
    return [_unquoted(cell) for cell in cells] if line.startswith('"') or '\t"' in line else cells


def _separated(line: str, delimiter: str) -> list[str]:
    if len(line) > csv.field_size_limit():  # a cell with many references exceeds the default limit
        csv.field_size_limit(MAX_RECORD_BYTES)
    try:
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
    likely = (line for line in others if len(line) < _LONGEST_HEADER and b"UT" in line and b"AU" in line.upper())
    return next((layout for line in (first, *likely) if (layout := layout_of(decoded(line)))), None)


def _open(source: Source, columns: Columns) -> Records:
    layout = _first_layout(source.head)
    return Records(_rows(_lines(source), layout), context=layout)


def _lines(source: Source) -> Iterator[Raw]:
    if b"\n" in source.head or b"\r" not in source.head:
        return (Raw(number, text.rstrip(b"\r")) for number, text in source.lines())
    return map(from_first_line, split_at(source.blocks(), _OLD_MAC_LINE))


def _rows(lines: Iterator[Raw], first: Layout | None) -> Iterator[Raw]:
    r"""The rows of a table; each row after a different header line is preceded by that header line.

    >>> lines = [b"AU\tAF\tTI\tUT", b"A\tA\tx\t1", b"UT\tAU\tAF\tTI", b"2\tB\tB\ty"]
    >>> [raw.text for raw in _rows(map(Raw, range(4), lines), layout_of("AU\tAF\tTI\tUT"))]
    [b'A\tA\tx\t1', b'UT\tAU\tAF\tTI\n2\tB\tB\ty']
    """
    layout, header, beginning = first, b"", b""
    for raw in lines:
        found = layout_of(decoded(raw.text)) if _may_be_header(raw.text, beginning) else None
        if found is not None:
            layout, header = found, b"" if found == first else raw.text + b"\n"
            if _holds_a_record(raw.text, found):
                yield raw._replace(broken=RUN_TOGETHER)
        elif layout is None:
            yield raw._replace(broken=raw.broken or NO_HEADER)
        else:
            yield raw._replace(text=header + raw.text) if header else raw
        beginning = beginning or raw.text[:_BEGINNING]


def _may_be_header(line: bytes, beginning: bytes) -> bool:
    """Whether to test a line for a header. Rows are long or have an accession number; the first line may have both."""
    if line.startswith(beginning):
        return True
    return len(line) < _LONGEST_HEADER and b"WOS:" not in line and b"ISI:" not in line


def _holds_a_record(line: bytes, layout: Layout) -> bool:
    return line.count(layout.delimiter.encode()) > 1.5 * layout.width


def _parse(text: bytes, context: Layout | None) -> Parsed:
    *header, row = decoded(text).split("\n")
    layout = layout_of(header[0]) if header else context
    if layout is None:
        raise BrokenRecordError(NO_HEADER)
    cells = _cells(row, layout.delimiter)
    if len(cells) < layout.fewest:
        raise BrokenRecordError(f"cut off: the row has {len(cells)} of {layout.width} fields")
    if len(cells) > 1.5 * layout.width and sum(map(_is_accession_number, cells)) > 1:
        raise BrokenRecordError("two records have run together (several accession numbers WOS:…)")
    if _is_shifted(cells, layout):
        raise BrokenRecordError("its accession number (WOS:…) is not in the column UT, so the cells are shifted")
    return document_of(_fields(cells, layout), [], "; ")


def _fields(cells: list[str], layout: Layout) -> dict[str, str]:
    fields = {tag: cell for tag, place in layout.places.items() if (cell := cells[place])}
    if "C1" in fields:
        fields["C1"] = "\n".join(_addresses(plain_text(fields["C1"])))
    return fields


def _is_shifted(cells: list[str], layout: Layout) -> bool:
    """Whether a cell is missing or too many: the accession number is in the wrong column."""
    place = layout.places.get("UT")
    return place is not None and not _is_accession_number(cells[place]) and any(map(_is_accession_number, cells))


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
