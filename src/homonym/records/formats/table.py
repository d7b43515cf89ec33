"""Tables with any columns: CSV, TSV, XLSX, Parquet, Arrow and JSON, such as exports of Dimensions, Embase or Zotero.

A row is a document with a list of its authors, or one author of a document.
Columns are recognised by their usual names, or named by the user (`--columns`); all fields of a document are taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice, pairwise
from operator import itemgetter
from typing import Any

import orjson

from homonym.errors import InputError, word_list
from homonym.io import inputs
from homonym.io.inputs import COLUMNAR, HEAD_BYTES, TOO_LONG, InputLine, Source
from homonym.io.table_text import EXCEL_CELL, Header, line_end, read_header, unprotected
from homonym.records.fields import identifiers
from homonym.records.fields.contributors import note_contributor
from homonym.records.fields.exported_ids import KIND as HOMONYM
from homonym.records.fields.exported_ids import add_exported_ids
from homonym.records.fields.key_names import column_key
from homonym.records.fields.people import folded, is_placeholder
from homonym.records.formats import table_authors
from homonym.records.formats.table_authors import (
    FUSED,
    MORE_AUTHORS,
    ListNotation,
    Values,
    have_commas,
    separator_in,
)
from homonym.records.formats.table_columns import (
    KEYS,
    SEPARATOR,
    are_documents,
    columns_given,
    fields_of,
    is_missing,
    is_numbered,
    items_of,
    key_fields,
    key_of,
    may_be_one_author,
    misspelled_columns,
    more_author_columns,
    quoted,
    separator_given,
    text_of,
    texts_of,
    usual_fields,
)
from homonym.records.model import (
    ANY_YEAR,
    Author,
    BrokenRecordError,
    Document,
    Note,
    Parsed,
    publication_year,
    require_few_authors,
)
from homonym.records.parsing.delimited import (
    Checks,
    find_header,
    gather,
    is_empty_row,
    is_header,
    mark_cut_lists,
    remove_errors,
    row_cells,
    rows_by_header,
    usable_cells,
)
from homonym.records.parsing.json_fields import json_error, load, load_record
from homonym.records.parsing.json_stream import first_records, names_in, open_json
from homonym.records.parsing.scattered_rows import NO_KEY, RowKey, RowNotation, rows_by_document
from homonym.records.parsing.splitting import Raw, decoded
from homonym.records.parsing.tagged_lines import LONGEST_HEADER
from homonym.records.reader import Columns, Format, Records

# The header is one of this number of first lines: Dimensions begins with a line about itself.
_HEADER_LINES = 5

# Number of rows that are examined for the notation of lists.
_FIRST_ROWS = 1000

Rows = Iterable[dict[str, Any] | str]
"""Column to cell for each row; a text in place of a row says why rows are missing."""


# Maximum number of values, and of characters of each, in a message.
_SHOWN_VALUES, _SHOWN = 3, 60

# Titles that are shorter or have fewer words are those of several documents.
_FEWEST_BLANKS, _SHORTEST_TITLE = 3, 20

# Columns of SpringerLink, which writes lists of authors without any separator.
_SPRINGER = frozenset({"itemtitle", "itemdoi", "authors", "contenttype"})

# Embase has no column for the year: "Cancer (2004) 102:4 (253-258)".
_IN_SOURCE = re.compile(r"\s\(((?:1[89]|20)\d\d)\)")

# What a column "Source" has if it names the database of a record, not the journal.
_DATABASES = frozenset("Crossref Embase MED MEDLINE PMC PPR PubMed Scopus WOS".split()) | {
    "Google Scholar",
    "Web of Science",
}

# Between the parts of the key of a document.
_KEY = "\x1f"

# Fields with lists of words.
_WORD_LISTS = ("categories", "keywords", "index_keywords")

# What exports write below their last row, in one cell.
_REMARK = re.compile(
    rb"\W{0,3}(?:(?:date |last )?(?:export|download|generat|access|print|retriev)ed\b|export date|copyright|\xc2?\xa9"
    rb"|total (?:number|records|results)\b|(?:search|query) ?(?:date|string|history)?:)",
    re.IGNORECASE,
)

_DIGIT = re.compile(rb"\d")

# A work that Dimensions lists as cited: "[Doe, J.; Roe, A.|ur.1; ur.2|Journal|1999|12|3|4-5|10.1000/x|pub.7|9]".
_CITED = re.compile(r"\[([^\[\]|]*+)\|([^\[\]]*+)\]")

# Identifiers of documents that can be told from others.
_KINDS_OF_IDS = {"dimensions": re.compile(r"pub\.\d+"), "lens": re.compile(r"\d{3}(?:-\d{3}){3}-\d{2}[\dX]")}

# Cells of these columns can be told from those of others.
_PATTERNS = {
    "year": re.compile(r"(?:1[5-9]|20)\d\d(?:\.0)?"),
    "doi": re.compile(r"(?:https?://\S*/|doi:\s*)?10\.\d{4,9}/\S+", re.IGNORECASE),
    "pmid": re.compile(r"\d{1,8}"),
}

# Behind the first row of a table without titles, so that this is reported once. Tables have no such character.
_WITHOUT_TITLES = b"\x1e"
_NO_TITLES = (
    "the table has no column of titles, so there is little evidence to tell people of the same name apart. If it has "
    "one, add --columns title=NAME"
)

OTHER_COLUMNS = "follows a header with other columns, where files were joined; put these rows into a file of their own"


@dataclass(frozen=True)
class TableLayout:
    """How to read the rows of one table: the column of each field, and whether a row is a document or one author."""

    fields: dict[str, str]
    names: tuple[str, ...]
    text_separator: str | None  # between cells; None if rows come as objects
    list_separator: str | None  # between authors
    by_author: bool
    misspelled: tuple[tuple[str, str], ...] = ()  # columns that are not read, and the fields they may mean
    with_semicolons: frozenset[str] = frozenset()  # lists of words whose commas are part of the words
    names_with_commas: bool | None = True  # whether commas are part of names in lists; None if unknown
    more_authors: tuple[str, ...] = ()  # further columns of authors

    @property
    def notation(self) -> ListNotation:
        """How lists of authors are written."""
        return ListNotation(self.list_separator, self.names_with_commas)

    @cached_property
    def header(self) -> Header:
        """The header of a table of text."""
        return Header(self.names, self.text_separator or ",")

    @cached_property
    def places(self) -> dict[str, int]:
        """Field to place in a row of text."""
        return {field: self.names.index(name) for field, name in self.fields.items()}

    @cached_property
    def repeats(self) -> list[tuple[str, int]]:
        """Field and place of columns that occur again; they count where the columns before them are empty."""
        keys = [column_key(name) for name in self.names]
        return [
            (field, other)
            for field, place in self.places.items()
            for other in range(place + 1, len(keys))
            if keys[other] == keys[place] and other not in self.places.values()
        ]

    @cached_property
    def checks(self) -> Checks:
        """The patterns of columns whose cells can be told from others."""
        return {place: _PATTERNS[field] for field, place in self.places.items() if field in _PATTERNS}

    @cached_property
    def more_places(self) -> list[int]:
        """The places of further columns of authors."""
        return [self.names.index(name) for name in self.more_authors]

    @cached_property
    def author_places(self) -> list[int]:
        """The places of columns that name authors."""
        return [place for field, place in self.places.items() if field in {"authors", "name", "family"}]


def _is_binary(source: Source) -> bool:
    return source.head.startswith(COLUMNAR)


def _recognises(source: Source) -> bool:
    if _is_binary(source):
        from homonym.io.tables import columnar_columns  # imports Arrow

        try:
            return are_documents(columnar_columns(source))
        except InputError:  # a pipe or a damaged file, which opening it reports
            return True
    beginning = source.head.lstrip()[:1]
    if beginning in {b"{", b"["}:
        return bool(_json_rows(source))
    return beginning not in {b"<", b"@", b"%"} and _header(source, {}) is not None


def _json_rows(source: Source) -> list[dict[str, Any]]:
    """The first rows of a table that is written as JSON objects with the names of columns; none for other files."""
    names = names_in(source.head)
    fields = usual_fields(names)
    person = fields.get("authors") or fields.get("name")
    rows = first_records(source.head, (fields["title"], person)) if person and "title" in fields else []
    return rows if rows and are_documents(rows[0]) else []


def _open_json(source: Source, rows: list[dict[str, Any]], columns: Columns) -> Records:
    names = tuple(dict.fromkeys(name for row in rows for name in row))
    table = _layout_of(names, None, columns, source.name, lambda _: rows)
    found = open_json(source, (table.fields["title"], table.fields["name" if table.by_author else "authors"]))
    if not table.by_author:
        return Records(found.raws, found.unit, table)  # these have titles, otherwise they would not be tables
    keyed = ((NO_KEY, raw) if raw.broken else (_key_of(_values_in(raw.text, table)), raw) for raw in found.raws)
    return Records(rows_by_document(keyed, _object_notation(table)), found.unit, table)


def _values_in(text: bytes, table: TableLayout) -> Values:
    return _values_of_object(load_record(text), table)


def _key_of(values: Values) -> RowKey:
    """What the rows of a document have in common: the first identifier that a row has, otherwise title and year."""
    title = values.get("title")
    title = title if isinstance(title, str) else text_of(title)
    for field in KEYS:
        cell = values.get(field)
        text = cell.strip() if isinstance(cell, str) else text_of(cell)
        if not is_missing(text):
            doi = identifiers.normalise("doi", text) if "10." in text else None  # which may be in the column of ids
            return RowKey(f"{field}{_KEY}{doi or text}", title)
    title = text_of(title).casefold()
    return RowKey(f"{title}{_KEY}{text_of(values.get('year'))}" if title else "")


def _object_notation(table: TableLayout) -> RowNotation:
    """How the rows of one document are written as JSON."""
    return _notation(b",", (b"[", b"]"), partial(_values_in, table=table))


def _notation(separator: bytes, around: tuple[bytes, bytes], values_in: Callable[[bytes], Values]) -> RowNotation:
    return RowNotation(
        separator,
        around,
        name_of=lambda text: table_authors.name_of(values_in(text)),
        title_of=lambda text: text_of(values_in(text).get("title")),
    )


def _header(source: Source, columns: Columns) -> Header | None:
    return find_header(source, _accepted(columns), lines=_HEADER_LINES)


def _accepted(columns: Columns) -> Callable[[tuple[str, ...]], bool]:
    """Whether names are those of the columns of documents."""
    wanted = {name for field, given in columns.items() if field != SEPARATOR for name in columns_given(given)}
    return lambda names: are_documents(names) or bool(wanted and wanted <= set(names))


def _open(source: Source, columns: Columns) -> Records:
    if _is_binary(source):
        from homonym.io.tables import columnar_columns, columnar_rows

        names = columnar_columns(source)
        table = _layout_of(names, None, columns, source.name, partial(columnar_rows, source))
        repeated = {names[place] for _, place in table.repeats}
        used = {*table.fields.values(), *table.more_authors, *dict(table.misspelled), *repeated}
        wanted = [name for name in names if name in used]
        return Records(_marked(_object_raws(columnar_rows(source, wanted), table), table), "record", table)
    if source.head.lstrip()[:1] in {b"{", b"["} and (rows := _json_rows(source)):
        return _open_json(source, rows, columns)
    header = _header(source, columns) or find_header(source, lambda names: True, lines=_HEADER_LINES)
    if header is None:
        raise InputError(f"{source.name} is not a table: its first lines have no header; check the file and --format.")
    table = _layout_of(header.names, header.separator, columns, source.name, lambda _: _head_rows(source, header))
    raws = _without_preface(_rows(source, header, table, columns), header)
    return Records(_marked(_grouped(raws, table) if table.by_author else raws, table), "line", table)


def _marked(raws: Iterator[Raw], table: TableLayout) -> Iterator[Raw]:
    """The rows of a table; the first is marked if there are no titles."""
    if "title" in table.fields:
        return raws
    return _with_first_marked(raws, table)


def _with_first_marked(raws: Iterator[Raw], table: TableLayout) -> Iterator[Raw]:
    for raw in raws:
        if not raw.broken and (table.text_separator is None or not _is_header_row(raw, table.header)):
            yield raw._replace(text=raw.text + _WITHOUT_TITLES)
            break
        yield raw
    yield from raws


def _rows(source: Source, header: Header, table: TableLayout, columns: Columns) -> Iterator[Raw]:
    """The rows of a file; those under a header with other columns, where files were joined, are broken."""

    def header_in(line: bytes) -> Header | None:
        return None if _DIGIT.search(line) else read_header(decoded(line), _accepted(columns))

    for above, raw in rows_by_header(source, header, header_in, lambda above: table.checks if above == header else {}):
        if above == header:
            yield raw
        elif not _is_header_row(raw, above):
            yield raw._replace(broken=raw.broken or OTHER_COLUMNS)


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
    more = more_author_columns(names, fields, columns, file)
    list_separator: str | None = separator_given(columns)
    with_commas: bool | None = True
    if "authors" in fields and not (list_separator and "authors" in columns):
        wanted = list(dict.fromkeys([fields["authors"], *more, *(fields[field] for field in key_fields(fields))]))
        sample = [row for row in islice(rows_of(wanted), _FIRST_ROWS) if isinstance(row, dict)]
        if "authors" not in columns and not more and may_be_one_author(fields) and _repeats(sample, fields):
            fields["name"] = fields.pop("authors")
        else:
            cells = [row.get(column) for column in (fields["authors"], *more) for row in sample]
            list_separator = list_separator or separator_in(cells)
            with_commas = is_numbered(fields["authors"]) or have_commas(cells, list_separator)
            if list_separator is None and set(map(column_key, names)) >= _SPRINGER:
                list_separator = FUSED
    return TableLayout(
        fields,
        names,
        separator,
        list_separator,
        "authors" not in fields,
        tuple(misspelled_columns(names, fields, more).items()),
        _with_semicolons(fields, rows_of),
        with_commas,
        more if "authors" in fields else (),
    )


def _with_semicolons(fields: dict[str, str], rows_of: Callable[[list[str]], Rows]) -> frozenset[str]:
    """The lists of words that have semicolons between the words in some of the first rows, and so everywhere."""
    columns = {field: fields[field] for field in _WORD_LISTS if field in fields}
    rows = islice(rows_of(list(columns.values())), _FIRST_ROWS) if columns else ()
    sample = [row for row in rows if isinstance(row, dict)]
    return frozenset(
        field
        for field, column in columns.items()
        if any(isinstance(cell := row.get(column), str) and ";" in cell for row in sample)
    )


def _repeats(sample: list[dict[str, Any]], fields: dict[str, str]) -> bool:
    """Whether rows of one document are adjacent, or there are several with different single names."""
    if any(isinstance(row.get(fields["authors"]), list) for row in sample):
        return False
    has_ids = key_of(fields) is not None
    forms = ((text_of(row.get(fields[field])) for field in key_fields(fields)) for row in sample)
    keys = [tuple(texts) if has_ids else tuple(map(str.casefold, texts)) for texts in forms]
    if has_ids and any(key[0] and key == following for key, following in pairwise(keys)):
        return True
    cells = [row.get(fields["authors"]) for row in sample]
    if separator_in(cells) is not None or not all(isinstance(cell, str | None) for cell in cells):
        return False
    known = [key for key in zip(keys, cells, strict=True) if (key[0][0] if has_ids else _is_telling(key[0][0]))]
    return len(set(known)) > len({key for key, _ in known})


def _is_telling(title: str) -> bool:
    """Whether two documents hardly have the same title, unlike "Introduction" and "Letter to the editor"."""
    return title.count(" ") >= _FEWEST_BLANKS and len(title) >= _SHORTEST_TITLE


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

    def values_in(text: bytes) -> Values:
        return _values_of(_row_cells(text, table.header, []), table)

    return rows_by_document(_keyed(raws, table), _notation(b"\n", (b"", b""), values_in))


def _keyed(raws: Iterable[Raw], table: TableLayout) -> Iterator[tuple[RowKey, Raw]]:
    """Each row of a table of text with the key of its document."""
    places = {field: table.places[field] for field in (*KEYS, "title", "year") if field in table.places}
    for raw in raws:
        try:
            cells = _row_cells(raw.text, table.header, [])
        except BrokenRecordError as broken:
            yield NO_KEY, raw._replace(broken=raw.broken or str(broken))
            continue
        if raw.broken:
            yield NO_KEY, raw
        elif not is_header(cells, table.header):
            yield _key_of({field: cells[place] for field, place in places.items()}), raw


def _row_cells(text: bytes, header: Header, notes: list[Note]) -> list[str]:
    """The cells of a row with one author, without errors of spreadsheets, which are noted."""
    cells = row_cells(text, header)
    if b"#" in text:
        notes += remove_errors(cells, header.names)
    return cells


def _object_raws(found: Rows, table: TableLayout) -> Iterator[Raw]:
    """Rows of Parquet and Arrow files as JSON: one text per document, numbered by its first row."""
    rows = (
        (row, Raw(number, b"", row) if isinstance(row, str) else _dumped(number, row))
        for number, row in enumerate(found, 1)
    )
    if not table.by_author:
        return (raw for _, raw in rows)
    keyed = ((_key_of(_values_of_object(row, table)) if isinstance(row, dict) else NO_KEY, raw) for row, raw in rows)
    return rows_by_document(keyed, _object_notation(table))


def _dumped(number: int, row: dict[str, Any]) -> Raw:
    try:
        text = orjson.dumps(row, default=_as_text, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, RecursionError) as broken:
        return Raw(number, b"", f"holds values that are not text, numbers or lists ({broken})")
    if len(text) > inputs.MAX_RECORD_BYTES:
        return Raw(number, text[: inputs.KEPT_BYTES], TOO_LONG)
    return Raw(number, text)


def _as_text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def parse(text: bytes, table: TableLayout) -> Parsed | None:
    """The document in one row or in the rows of one document.

    >>> table = TableLayout({"id": "Key", "authors": "Names"}, ("Key", "Names"), ",", None, by_author=False)
    >>> [author.name for author in parse(b'7,"Doe, Jane; Roe, A"', table)[0].authors]
    ['Doe, Jane', 'Roe, A']
    """
    notes: list[Note] = []
    if text.endswith(_WITHOUT_TITLES):
        text = text.removesuffix(_WITHOUT_TITLES)
        notes.append(("warning", _NO_TITLES))
    found = _values(text, table, notes)
    if not found:
        return None
    merged: Values
    if table.by_author:
        authors = _authors_of_rows(found, notes)
        _note_differences(found, notes)
        merged = {
            field: next((row[field] for row in found if row[field] not in (None, "")), None) for field in table.fields
        }
    else:
        merged = found[0]
        authors = table_authors.author_list(merged, table.notation, notes)
    for field in table.with_semicolons:
        if isinstance(cell := merged.get(field), str) and ";" not in cell and cell[:1] != "[":
            merged = {**merged, field: [cell]}
    return _document(merged, authors, notes), notes


def _values(text: bytes, table: TableLayout, notes: list[Note]) -> list[Values]:
    if table.text_separator is None:
        objects = [row for row in _objects(text) if any(value not in (None, "", []) for value in row.values())]
        for column, meant in table.misspelled:
            _note_misspelled(column, meant, (row.get(column) for row in objects), notes)
        return [_values_of_object(row, table) for row in objects]
    header = table.header
    if is_empty_row(text, header.separator):
        return []
    if table.by_author:
        rows = [_row_cells(row, header, notes) for row in _row_texts(text, header)]
    elif _REMARK.match(text) and len(header.names) > 2 and header.separator.encode() not in text:
        return []
    else:
        cells, shifted = usable_cells(text, header, table.checks, table.author_places)
        rows = [cells]
        notes += shifted
        if len(text) >= EXCEL_CELL:
            notes += mark_cut_lists(cells, table.author_places)
    for column, meant in table.misspelled:
        place = header.names.index(column)
        _note_misspelled(column, meant, (cells[place] for cells in rows if not is_header(cells, header)), notes)
    return [_values_of(cells, table) for cells in rows if not is_header(cells, header)]


def _note_misspelled(column: str, meant: str, cells: Iterable[Any], notes: list[Note]) -> None:
    """Note a column that is not read, if a row has something in it."""
    if any(cell not in (None, "", []) for cell in cells):
        what = f"the column {column!r} is unknown; if it holds {meant}, add --columns {meant}={quoted(column)}"
        notes.append(("field", what))


def _values_of(cells: list[str], table: TableLayout) -> Values:
    values = {field: cells[place] for field, place in table.places.items()}
    for field, place in table.repeats:
        values[field] = values[field] if values[field].strip() else cells[place]
    if HOMONYM in values:
        return {field: unprotected(cell) for field, cell in values.items()}
    return {**values, MORE_AUTHORS: [cells[place] for place in table.more_places]} if table.more_authors else values


def _values_of_object(row: dict[str, Any], table: TableLayout) -> Values:
    values = {field: row.get(name) for field, name in table.fields.items()}
    for field, place in table.repeats:
        values[field] = row.get(table.names[place]) if values[field] in (None, "", []) else values[field]
    return {**values, MORE_AUTHORS: [row.get(name) for name in table.more_authors]} if table.more_authors else values


def _row_texts(text: bytes, header: Header) -> list[bytes]:
    return [raw.text for raw in gather(map(partial(InputLine, 0), text.split(b"\n")), header)]


def _objects(text: bytes) -> list[dict[str, Any]]:
    try:
        found = load(text)
    except ValueError as broken:
        raise BrokenRecordError(json_error(broken)) from None
    found = found if isinstance(found, list) else [found]
    if not all(isinstance(row, dict) for row in found):
        raise BrokenRecordError("expected rows as JSON objects")
    return list(found)


# Fields of a document that are the same in all its rows, each with a form in which equal values are equal.
_SAME_IN_ALL_ROWS: Mapping[str, Callable[[Any], object]] = {
    "title": lambda cell: text_of(cell).casefold(),
    "year": lambda cell: publication_year(_year(cell), []) or text_of(cell),
    "venue": lambda cell: text_of(cell).casefold(),
    "doi": lambda cell: identifiers.normalise("doi", text_of(cell)) or text_of(cell),
    "pmid": text_of,
}


def _note_differences(rows: list[Values], notes: list[Note]) -> None:
    """Note each field of the document that differs between its rows; the first value is used."""
    for field, normal in _SAME_IN_ALL_ROWS.items():
        if len({str(row.get(field) or "") for row in rows}) == 1:
            continue
        values: dict[object, str] = {}
        for row in rows:
            if form := normal(cell := row.get(field)):
                values.setdefault(form, text_of(cell))
        if len(values) > 1:
            first, *others = (_cut(text) for text in islice(values.values(), _SHOWN_VALUES))
            notes.append(
                ("field", f"the rows of the document differ in {field}: {first} is used, not {word_list(others)}")
            )


def _cut(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")


def _without_repeats(rows: list[tuple[int, Values]], notes: list[Note]) -> list[tuple[int, Values]]:
    """Rows with their positions, without those that repeat the position and the name of another one."""
    kept: dict[tuple[int, str], tuple[int, Values]] = {}
    for place, row in rows:
        name = table_authors.name_of(row)
        if kept.setdefault((place, name), (place, row))[1] is not row:
            notes.append(
                ("author", f"an earlier row of the document has {name!r} at position {place}, too; that row is used")
            )
    return list(kept.values())


def _authors_of_rows(found: list[Values], notes: list[Note]) -> list[Author]:
    """One author per row, in the order of positions if all rows have one, otherwise in the order of rows.

    Tables that homonym has exported keep the positions themselves.
    """
    require_few_authors(len(found))
    given = [text_of(row.get("position")).removesuffix(".0") for row in found]
    places = list(range(len(found)))
    if all(text.isdecimal() and len(text) < 10 for text in given):
        rows = _without_repeats(sorted(zip(map(int, given), found, strict=True), key=itemgetter(0)), notes)
        found, places = [row for _, row in rows], list(range(len(rows)))
        if all(row.get(HOMONYM) for row in found) and len({place for place, _ in rows}) == len(rows):
            places = [place for place, _ in rows]
    authors = []
    for position, row in zip(places, found, strict=True):
        name = table_authors.name_of(row)
        if not is_placeholder(name):
            authors.append(table_authors.author_of(position, name, row, notes))
        elif folded(name):
            note_contributor(name, notes)
        elif not name and len(found) > 1:
            notes.append(("author", f"author {position} has no name"))
    return authors


def _document(values: Values, authors: list[Author], notes: list[Note]) -> Document:
    venue, year = text_of(values.get("venue")), _year(values.get("year"))
    venue = "" if venue in _DATABASES else venue
    if not year and (found := _IN_SOURCE.search(venue)):
        venue, year = venue[: found.start()], found[1]
    cited, names = _cited(values.get("cited_references"))
    is_exported = bool(values.get("id") and (values.get(HOMONYM) or values.get("homonym_authors")))
    document = Document(
        # An id of homonym is not plain text in which entities and blanks could be changed.
        id=str(values["id"]) if is_exported else text_of(values.get("id")).removeprefix(identifiers.OPENALEX_PREFIX),
        authors=authors,
        title=text_of(values.get("title")),
        abstract=text_of(values.get("abstract")),
        year=publication_year(year, notes),
        venue=venue,
        categories=texts_of(values.get("categories")),
        keywords=list(dict.fromkeys(texts_of(values.get("keywords")) + texts_of(values.get("index_keywords")))),
        references=[one.removeprefix(identifiers.OPENALEX_PREFIX) for one in texts_of(values.get("references"))]
        + cited,
        referenced_authors=_names(values.get("referenced_authors")) + names,
    )
    _add_ids(document, values, notes)
    for name in _names(values.get("other_contributors")):
        note_contributor(name, notes)
    if is_exported:
        add_exported_ids(document, "", text_of(values.get("homonym_authors")), notes)
    return document


def _cited(value: Any) -> tuple[list[str], list[str]]:
    """The ids and the authors of cited works, as Dimensions writes them for bibliometric mapping.

    >>> _cited("[Doe, J.; Roe, A.|ur.1|J X|1999|12|3|4|10.1000/x|pub.7|9];[|||2001|||||pub.8|0]")
    (['pub.7', 'pub.8'], ['Doe, J.', 'Roe, A.'])
    """
    found = _CITED.findall(value) if isinstance(value, str) and "|" in value else []
    works = [next(filter(_KINDS_OF_IDS["dimensions"].fullmatch, rest.split("|")), "") for _, rest in found]
    names = [text_of(name) for authors, _ in found for name in authors.split(";")]
    return [*filter(None, dict.fromkeys(works))], [*filter(None, dict.fromkeys(names))]


def _add_ids(document: Document, values: Values, notes: list[Note]) -> None:
    """Add identifiers of the document; one of them becomes its id if it has none."""
    for kind in ("doi", "pmid"):
        identifiers.add(document.ids, kind, text_of(values.get(kind)), notes)
    if document.id.startswith(("WOS:", "2-s2.0-")):
        kind = "wos" if document.id[0] == "W" else "scopus"
        document.ids[kind] = identifiers.normalise(kind, document.id) or document.id
    for kind, pattern in _KINDS_OF_IDS.items():
        if pattern.fullmatch(document.id):
            document.ids[kind] = document.id
    if text_of(values.get("id")).startswith(identifiers.OPENALEX_PREFIX):
        document.ids["openalex"] = document.id
    document.id = document.id or document.ids.get("pmid") or document.ids.get("doi") or ""


def _year(value: Any) -> str:
    text = text_of(value)
    found = None if text[:4].isdecimal() else ANY_YEAR.search(text)
    return found[0] if found else text


def _names(value: Any) -> list[str]:
    return [name for item in items_of(value) if (name := text_of(item))]


FORMAT = Format(
    name="table",
    title="tables: CSV, TSV, XLSX, Parquet, Arrow",
    recognises=_recognises,
    open=_open,
    parse=parse,
)
