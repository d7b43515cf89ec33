"""Tables with any columns: CSV, TSV, Parquet and Arrow files, such as exports of Dimensions, Embase or Zotero.

A row is a document with a list of its authors, or one author of a document; then the rows of one document are adjacent.
Columns are recognised by their usual names, or named by the user (`--columns`); all fields of a document are taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice, pairwise
from operator import itemgetter
from typing import Any

import orjson

from homonym.errors import InputError
from homonym.io.inputs import HEAD_BYTES, MAX_RECORD_BYTES, InputLine, Source
from homonym.io.table_text import Header, line_end
from homonym.records.fields import identifiers
from homonym.records.fields.people import is_placeholder
from homonym.records.formats import table_authors
from homonym.records.formats.table_authors import FUSED, Values, separator_in
from homonym.records.formats.table_columns import (
    SEPARATOR,
    are_documents,
    column_key,
    fields_of,
    items_of,
    key_of,
    may_be_one_author,
    text_of,
    texts_of,
)
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.delimited import find_header, gather, is_header, row_cells, rows
from homonym.records.parsing.splitting import TOO_LONG, Raw
from homonym.records.parsing.tagged_lines import LONGEST_HEADER
from homonym.records.reader import Columns, Format, Records

# The header is one of this number of first lines: Dimensions begins with a line about itself.
_HEADER_LINES = 5

# Number of rows that are examined for the notation of lists.
_FIRST_ROWS = 1000

Rows = Iterable[dict[str, Any] | str]
"""Column to cell for each row; a text in place of a row says why rows are missing."""

# First bytes of Parquet and Arrow files.
_MAGIC = (b"PAR1", b"ARROW1")

# Columns of SpringerLink, which writes lists of authors without any separator.
_SPRINGER = frozenset({"itemtitle", "itemdoi", "authors", "contenttype"})

# Embase has no column for the year: "Cancer (2004) 102:4 (253-258)".
_IN_SOURCE = re.compile(r"\s\(((?:1[89]|20)\d\d)\)")

_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")


@dataclass(frozen=True)
class TableLayout:
    """How to read the rows of one table: the column of each field, and whether a row is a document or one author."""

    fields: dict[str, str]
    names: tuple[str, ...]
    text_separator: str | None  # between cells; None if rows come as objects
    list_separator: str | None  # between authors
    by_author: bool

    @cached_property
    def header(self) -> Header:
        """The header of a table of text."""
        return Header(self.names, self.text_separator or ",")

    @cached_property
    def places(self) -> dict[str, int]:
        """Field to place in a row of text."""
        return {field: self.names.index(name) for field, name in self.fields.items()}


def _is_binary(source: Source) -> bool:
    return source.head.startswith(_MAGIC)


def _recognises(source: Source) -> bool:
    if _is_binary(source):
        from homonym.io.tables import columnar_columns  # imports Arrow

        try:
            return are_documents(columnar_columns(source))
        except InputError:  # a pipe or a damaged file, which opening it reports
            return True
    beginning = source.head.lstrip()[:1]
    return beginning not in {b"{", b"[", b"<", b"@", b"%"} and _header(source, {}) is not None


def _header(source: Source, columns: Columns) -> Header | None:
    wanted = {name for field, name in columns.items() if field != SEPARATOR}
    return find_header(
        source, lambda names: are_documents(names) or bool(wanted and wanted <= set(names)), lines=_HEADER_LINES
    )


def _open(source: Source, columns: Columns) -> Records:
    if _is_binary(source):
        from homonym.io.tables import columnar_columns, columnar_rows

        names = columnar_columns(source)
        table = _layout_of(names, None, columns, source.name, partial(columnar_rows, source))
        wanted = [name for name in names if name in set(table.fields.values())]
        return Records(_object_raws(columnar_rows(source, wanted), table), "record", table)
    header = _header(source, columns) or find_header(source, lambda names: True, lines=_HEADER_LINES)
    if header is None:
        raise InputError(f"{source.name} is not a table: its first lines have no header; check the file and --format.")
    table = _layout_of(header.names, header.separator, columns, source.name, lambda _: _head_rows(source, header))
    raws = _without_preface(rows(source, header), header)
    return Records(_grouped(raws, table) if table.by_author else raws, "line", table)


def _without_preface(raws: Iterator[Raw], header: Header) -> Iterator[Raw]:
    """The rows without the lines before the header in which some exports describe themselves."""
    first: list[Raw] = []
    for raw in islice(raws, _HEADER_LINES):
        first.append(raw)
        if _is_header_row(raw, header):
            first = first[-1:] if sum(len(raw.text) for raw in first[:-1]) < LONGEST_HEADER else first
            break
    return chain(first, raws)


def _is_header_row(raw: Raw, header: Header) -> bool:
    try:
        return not raw.broken and is_header(row_cells(raw.text, header), header)
    except BrokenRecordError:
        return False


def _layout_of(
    names: tuple[str, ...], separator: str | None, columns: Columns, file: str, rows_of: Callable[[list[str]], Rows]
) -> TableLayout:
    """The layout of a table, from its columns and, where these are not enough, from its first rows."""
    fields = fields_of(names, columns, file)
    list_separator = columns.get(SEPARATOR)
    if "authors" in fields and not (list_separator and "authors" in columns):
        wanted = list(dict.fromkeys([fields["authors"], fields[key_of(fields) or "authors"]]))
        sample = [row for row in islice(rows_of(wanted), _FIRST_ROWS) if isinstance(row, dict)]
        if "authors" not in columns and may_be_one_author(fields) and _repeats(sample, fields):
            fields["name"] = fields.pop("authors")
        else:
            list_separator = list_separator or separator_in(row.get(fields["authors"]) for row in sample)
            if list_separator is None and set(map(column_key, names)) >= _SPRINGER:
                list_separator = FUSED
    return TableLayout(fields, names, separator, list_separator, by_author="authors" not in fields)


def _repeats(sample: list[dict[str, Any]], fields: dict[str, str]) -> bool:
    """Whether adjacent rows belong to one document."""
    keys = [text_of(row.get(fields[key_of(fields) or ""])) for row in sample]
    return any(key and key == following for key, following in pairwise(keys))


def _head_rows(source: Source, header: Header) -> Iterator[dict[str, Any]]:
    lines = source.head.split(line_end(source.head))
    lines = lines[:-1] if len(source.head) >= HEAD_BYTES else lines  # the last one is cut
    for raw in gather((InputLine(number, text) for number, text in enumerate(lines, 1) if text.strip()), header):
        try:
            cells = row_cells(raw.text, header)
        except BrokenRecordError:
            continue
        if not raw.broken and not is_header(cells, header):
            yield dict(zip(header.names, cells, strict=True))


def _grouped(raws: Iterable[Raw], table: TableLayout) -> Iterator[Raw]:
    """Join the rows of each document; broken rows are passed on by themselves."""
    place = table.places[key_of(table.fields) or ""]
    group: list[Raw] = []
    previous, size = "", 0
    for raw in raws:
        try:
            cells = row_cells(raw.text, table.header)
        except BrokenRecordError as broken:
            yield raw._replace(broken=raw.broken or str(broken))
            continue
        if raw.broken:
            yield raw
        elif not is_header(cells, table.header):
            key = cells[place].strip()
            if group and (not key or key != previous or size > MAX_RECORD_BYTES):
                yield _joined(group)
                group, size = [], 0
            group.append(raw)
            previous, size = key, size + len(raw.text)
    if group:
        yield _joined(group)


def _joined(group: list[Raw]) -> Raw:
    return Raw(group[0].number, b"\n".join(raw.text for raw in group))


def _object_raws(found: Rows, table: TableLayout) -> Iterator[Raw]:
    """Rows of Parquet and Arrow files as JSON: one text per document, numbered by its first row."""
    key = table.fields[key_of(table.fields) or "authors"] if table.by_author else ""
    group: list[dict[str, Any]] = []
    start = 0
    for number, row in enumerate(chain(found, [""]), 1):
        same = (
            group
            and isinstance(row, dict)
            and key
            and row.get(key) not in {None, ""}
            and row[key] == group[-1].get(key)
        )
        if group and not same:
            yield _dumped(start, group if table.by_author else group[0])
            group = []
        if isinstance(row, dict):
            start = start if group else number
            group.append(row)
        elif row:
            yield Raw(number, b"", row)


def _dumped(number: int, rows: Any) -> Raw:
    try:
        text = orjson.dumps(rows, default=_as_text, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, RecursionError) as broken:
        return Raw(number, b"", f"holds values that are not text, numbers or lists ({broken})")
    return Raw(number, text, TOO_LONG if len(text) > MAX_RECORD_BYTES else "")


def _as_text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def parse(text: bytes, table: TableLayout) -> Parsed | None:
    """The document in one row or in the rows of one document.

    >>> table = TableLayout({"id": "Key", "authors": "Names"}, ("Key", "Names"), ",", None, by_author=False)
    >>> [author.name for author in parse(b'7,"Doe, Jane; Roe, A"', table)[0].authors]
    ['Doe, Jane', 'Roe, A']
    """
    found = _values(text, table)
    if not found:
        return None
    notes: list[Note] = []
    merged: Values
    if table.by_author:
        authors = _authors_of_rows(found, notes)
        merged = {
            field: next((row[field] for row in found if row[field] not in (None, "")), None) for field in table.fields
        }
    else:
        merged = found[0]
        authors = table_authors.author_list(merged, table.list_separator, notes)
    return _document(merged, authors, notes), notes


def _values(text: bytes, table: TableLayout) -> list[Values]:
    if table.text_separator is None:
        return [{field: row.get(name) for field, name in table.fields.items()} for row in _objects(text)]
    header = table.header
    whole = [text] if not table.by_author else _row_texts(text, header)
    found = [cells for row in whole if not is_header(cells := row_cells(row, header), header)]
    return [{field: cells[place] for field, place in table.places.items()} for cells in found]


def _row_texts(text: bytes, header: Header) -> list[bytes]:
    return [raw.text for raw in gather(map(partial(InputLine, 0), text.split(b"\n")), header)]


def _objects(text: bytes) -> list[dict[str, Any]]:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as broken:
        raise BrokenRecordError(f"not valid JSON ({broken.msg})") from None
    found = found if isinstance(found, list) else [found]
    if not all(isinstance(row, dict) for row in found):
        raise BrokenRecordError("expected rows as JSON objects")
    return list(found)


def _authors_of_rows(found: list[Values], notes: list[Note]) -> list[Author]:
    """One author per row, in the order of positions if all rows have one, otherwise in the order of rows."""
    given = [text_of(row.get("position")) for row in found]
    if all(text.isdecimal() and len(text) < 10 for text in given):
        found = [row for _, row in sorted(zip(map(int, given), found, strict=True), key=itemgetter(0))]
    authors = []
    for position, row in enumerate(found):
        name = table_authors.name_of(row)
        if not is_placeholder(name):
            authors.append(table_authors.author_of(position, name, row, notes))
        elif not name and len(found) > 1:
            notes.append(("author", f"author {position} has no name"))
    return authors


def _document(values: Values, authors: list[Author], notes: list[Note]) -> Document:
    venue, year = text_of(values.get("venue")), _year(values.get("year"))
    if "year" not in values and (found := _IN_SOURCE.search(venue)):
        venue, year = venue[: found.start()], found[1]
    document = Document(
        id=text_of(values.get("id")).removeprefix(identifiers.OPENALEX_PREFIX),
        authors=authors,
        title=text_of(values.get("title")),
        abstract=text_of(values.get("abstract")),
        year=publication_year(year, notes),
        venue=venue,
        categories=texts_of(values.get("categories")),
        keywords=list(dict.fromkeys(texts_of(values.get("keywords")) + texts_of(values.get("index_keywords")))),
        references=[cited.removeprefix(identifiers.OPENALEX_PREFIX) for cited in texts_of(values.get("references"))],
        referenced_authors=_names(values.get("referenced_authors")),
    )
    _add_ids(document, values, notes)
    return document


def _add_ids(document: Document, values: Values, notes: list[Note]) -> None:
    """Add identifiers of the document; one of them becomes its id if it has none."""
    for kind in ("doi", "pmid"):
        identifiers.add(document.ids, kind, text_of(values.get(kind)), notes)
    if document.id.startswith(("WOS:", "2-s2.0-")):
        kind = "wos" if document.id[0] == "W" else "scopus"
        document.ids[kind] = identifiers.normalise(kind, document.id) or document.id
    if text_of(values.get("id")).startswith(identifiers.OPENALEX_PREFIX):
        document.ids["openalex"] = document.id
    document.id = document.id or document.ids.get("pmid") or document.ids.get("doi") or ""


def _year(value: Any) -> str:
    text = text_of(value)
    found = None if text[:4].isdecimal() else _YEAR.search(text)
    return found[0] if found else text


def _names(value: Any) -> list[str]:
    return [name for item in items_of(value) if (name := text_of(item))]


FORMAT = Format(
    name="table",
    title="tables: CSV, TSV, Parquet, Arrow",
    recognises=_recognises,
    open=_open,
    parse=parse,
)
