"""Web of Science, tab-delimited: a line of field tags, then a line for each record.

The columns may also have the long names of the spreadsheet that the Web of Science offers, saved as text: with tabs,
commas or semicolons between the cells.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import NamedTuple

from homonym.io.inputs import MOST_RECORD_BYTES, Source
from homonym.records.fields.markup import plain_text
from homonym.records.formats.wos import from_first_line
from homonym.records.formats.wos_document import WANTED, document_of
from homonym.records.model import BrokenRecordError, Parsed
from homonym.records.parsing.splitting import Raw, decoded, split_at
from homonym.records.registry import Columns, Format, Records

#: The spreadsheet's names of the fields that are read.
_LONG_NAMES = {
    "authors": "AU",
    "author full names": "AF",
    "book authors": "BA",
    "book author full names": "BF",
    "article title": "TI",
    "source title": "SO",
    "abstract": "AB",
    "author keywords": "DE",
    "keywords plus": "ID",
    "addresses": "C1",
    "reprint addresses": "RP",
    "email addresses": "EM",
    "researcher ids": "RI",
    "orcids": "OI",
    "cited references": "CR",
    "wos categories": "WC",
    "web of science categories": "WC",
    "research areas": "SC",
    "publication year": "PY",
    "early access date": "EA",
    "doi": "DI",
    "pubmed id": "PM",
    "ut (unique wos id)": "UT",
    "ut (unique id)": "UT",
}

# Fields of which a table of another source has at most a few under these names, as Scopus has "Author full names".
_OWN = frozenset("AF TI ID C1 RP EM RI OI WC SC PM".split())

#: So many fields make a line a header, so that the damage of one name does not hide it.
_FEWEST = 4

#: A header is shorter; longer lines are rows.
_LONGEST_HEADER = 3000

#: So much of the first line tells whether it comes again, where files have been joined.
_BEGINNING = 12

_DELIMITERS = ("\t", ",", ";")
_TAG = re.compile(r"[A-Z][A-Z0-9]")
_OLD_MAC_LINE = re.compile(rb"\r(?=[^\r\n])")

NO_HEADER = "no line of field names comes before it"
RUN_TOGETHER = "the line of field names and the record after it have run together"


class Layout(NamedTuple):
    """Where the fields stand in a row: what parts its cells, the place of each field, how many cells there are.

    A row with fewer than `fewest` cells was cut off within what is read.
    """

    delimiter: str
    places: dict[str, int]
    width: int
    fewest: int


def layout_of(line: str) -> Layout | None:
    r"""Tell what stands in which column; None for a line that is no header.

    >>> layout_of("PT\tAU\tAF\tTI\tUT")
    Layout(delimiter='\t', places={'AU': 1, 'AF': 2, 'TI': 3, 'UT': 4}, width=5, fewest=5)
    >>> layout_of('"Authors","Article Title","Keywords Plus","Cited References","UT (Unique WOS ID)"').delimiter
    ','
    >>> layout_of("J\tDoe, J\tDoe, Jane\tOn wells\tWOS:1")
    """
    for delimiter in _DELIMITERS:
        if line.count(delimiter) >= _FEWEST - 1:
            cells = [cell.strip() for cell in _cells(line.lstrip("\ufeff"), delimiter)]
            if layout := _of_tags(cells, delimiter) or _of_names(cells, delimiter):
                return layout
    return None


def _of_tags(cells: list[str], delimiter: str) -> Layout | None:
    places = {cell: place for place, cell in enumerate(cells) if cell in WANTED}
    if len(places) < _FEWEST:
        return None
    width = 1 + max(places.values())
    while width < len(cells) and _TAG.fullmatch(cells[width]):
        width += 1
    return _layout(delimiter, places, width)


def _of_names(cells: list[str], delimiter: str) -> Layout | None:
    names = [_LONG_NAMES.get(cell.lower(), "") for cell in cells]
    places = {name: place for place, name in enumerate(names) if name}
    is_ours = "UT" in places or len(_OWN.intersection(places)) >= _FEWEST
    width = max((place for place, cell in enumerate(cells, 1) if cell), default=0)
    return _layout(delimiter, places, width) if is_ours and len(places) >= _FEWEST else None


def _layout(delimiter: str, places: dict[str, int], width: int) -> Layout:
    return Layout(delimiter, places, width, fewest=min(width, 2 + max(places.values())))


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter != "\t":
        return _separated(line, delimiter)
    cells = line.split("\t")
    return [_unquoted(cell) for cell in cells] if line.startswith('"') or '\t"' in line else cells


def _separated(line: str, delimiter: str) -> list[str]:
    if len(line) > csv.field_size_limit():  # a cell may hold more references than the library expects
        csv.field_size_limit(MOST_RECORD_BYTES)
    try:
        return next(csv.reader([line.replace("\r", " ")], delimiter=delimiter), [])
    except csv.Error:
        return []


def _unquoted(cell: str) -> str:
    """A cell as it was before a spreadsheet put it between quotation marks; other marks are the author's own."""
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell


def _recognises(source: Source) -> bool:
    return _first_layout(source.head) is not None


def _first_layout(head: bytes) -> Layout | None:
    """The header of a file, wherever it stands: it is the first line unless lines have been sorted."""
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
    r"""The rows of a table; where another header has come, each with that header before it.

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
    """Pass over rows, which are long or have the number of a record; the first line may be both, run together."""
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
    if len(cells) > 1.5 * layout.width and sum(map(_is_number, cells)) > 1:
        raise BrokenRecordError("two records have run into each other (several numbers WOS:…)")
    if _is_shifted(cells, layout):
        raise BrokenRecordError("its number (WOS:…) is not in the column UT, so other cells are not in theirs either")
    return document_of(_fields(cells, layout), [], "; ")


def _fields(cells: list[str], layout: Layout) -> dict[str, str]:
    fields = {tag: cell for tag, place in layout.places.items() if (cell := cells[place])}
    if "C1" in fields:
        fields["C1"] = "\n".join(_addresses(plain_text(fields["C1"])))
    return fields


def _is_shifted(cells: list[str], layout: Layout) -> bool:
    """Whether a cell was lost or has come to it, as the place of the number tells."""
    place = layout.places.get("UT")
    return place is not None and not _is_number(cells[place]) and any(map(_is_number, cells))


def _is_number(cell: str) -> bool:
    return cell.startswith(("WOS:", "ISI:"))


def _addresses(cell: str) -> Iterator[str]:
    """The addresses in a cell, each with the names before it, which are parted by ";" as well.

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
