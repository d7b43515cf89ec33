"""Finds the authors in the text of a raw record, and the text that replaces them in a rewritten record.

A text has one character per byte (Latin-1), so positions in it are positions in the file. Names are decoded before they
are compared. A list of authors that does not clearly match the authors found by the reader is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from homonym.exports.labels import dotted_name, short_name
from homonym.exports.reference_files import bibtex_label
from homonym.exports.result_tables import Person
from homonym.io.table_text import Header
from homonym.records.fields import exported_ids
from homonym.records.fields.exported_ids import encoded
from homonym.records.fields.markup import latex_to_text, plain_text
from homonym.records.fields.people import plain_letters
from homonym.records.formats.bibtex_entries import field_spans
from homonym.records.formats.scopus import english_names, own_header, short_names
from homonym.records.parsing.splitting import decoded

Span = tuple[int, int]


class Edit(NamedTuple):
    """A new text for a part of a record."""

    begin: int
    end: int
    text: str


class IdentifiedRecord(NamedTuple):
    """A record with its document in the result, the names that its reader found, the person of each, and their ids."""

    document_id: str
    names: Sequence[str]
    people: Sequence[Person | None]
    author_ids: str


class Editor(NamedTuple):
    """How records of one format are changed.

    `candidates` are the texts that a raw record may have in its file, if its reader adds something. `edits` gives the
    changes of a record, None if its authors are not understood. `other_edits` are those of other records, and
    `frame_edits` those of text that is not a record.
    """

    edits: Callable[[str, IdentifiedRecord, Any], list[Edit] | None]
    candidates: Callable[[bytes], list[bytes]] = lambda text: [text]
    other_edits: Callable[[str, Any], list[Edit]] = lambda text, context: []
    frame_edits: Callable[[str, Any], list[Edit]] = lambda text, context: []


def same_name(one: str, other: str) -> bool:
    """Whether two names have the same words, in any order.

    >>> same_name("Jane W. Döe", "Doe, Jane W"), same_name("Doe, J", "Doe, Jane")
    (True, False)
    """
    return _words(one) == _words(other)


def _words(name: str) -> list[str]:
    return sorted(filter(None, map(plain_letters, re.split(r"[^\w'’-]+", name))))


def _people_in(names: Sequence[str], record: IdentifiedRecord) -> list[Person | None] | None:
    """The person of each name in a list; None unless the list has all authors of the record, in order.

    Names that the reader leaves out, such as organisations, have no person. A repeated name has the same person.
    """
    found, known, upcoming = list[Person | None](), dict[str, Person | None](), 0
    for name in names:
        words = " ".join(_words(name))
        if upcoming < len(record.names) and same_name(name, record.names[upcoming]):
            known[words] = record.people[upcoming]
            upcoming += 1
        found.append(known.get(words))
    return found if upcoming == len(record.names) else None


def _text(record: str, span: Span) -> str:
    return decoded(record[span[0] : span[1]].encode("latin-1"))


def _stripped(record: str, begin: int, end: int) -> Span:
    part = record[begin:end]
    return begin + len(part) - len(part.lstrip(" \t")), end - len(part) + len(part.rstrip(" \t"))


def _renamed(spans: Sequence[Span], people: Sequence[Person | None], written: Callable[[str], str]) -> Iterator[Edit]:
    for (begin, end), person in zip(spans, people, strict=True):
        if person is not None:
            yield Edit(begin, end, written(person.label))


def _full_and_short(full: Sequence[str], short: Sequence[str], record: IdentifiedRecord) -> list[Person | None] | None:
    """The people of two lists of the same authors; one of the lists may be missing."""
    if full and short and len(full) != len(short):
        return None
    return _people_in(full or short, record)


# Web of Science

_WOS_FIELD = re.compile(r"(?:(?<=[\r\n])|\A)(AU|AF|BA|BF|X1|X2) ([^\r\n]*+(?:(?:\r\n|\r|\n)[ \t]++[^\r\n]*+)*+)")
_WOS_ENTRY = re.compile(r"[^;\r\n]+")
_WOS_END = re.compile(r"(?<=[\r\n])ER[ ]*\Z")


def _wos_edits(text: str, record: IdentifiedRecord, context: None) -> list[Edit] | None:
    fields = {found[1]: found.span(2) for found in _WOS_FIELD.finditer(text)}
    end = _WOS_END.search(text)
    is_repeated = len(fields) < len(_WOS_FIELD.findall(text))
    if end is None or is_repeated:
        return None
    short, full = (_wos_entries(text, fields.get(tag)) for tag in ("AU", "AF"))
    if not short and not full:
        short, full = (_wos_entries(text, fields.get(tag)) for tag in ("BA", "BF"))
    full_names, abbreviated = ([plain_text(_text(text, span)) for span in spans] for spans in (full, short))
    people = _full_and_short(full_names, abbreviated, record)
    if people is None:
        return None
    edits = [*_renamed(full, people, str)] if full else []
    edits += [*_renamed(short, people, short_name)] if short else []
    line_end = text[: end.start()][-2:] if text[: end.start()].endswith("\r\n") else text[end.start() - 1]
    values = {
        exported_ids.WOS_AUTHORS: record.author_ids, exported_ids.WOS_DOCUMENT: encoded(record.document_id)
    }  # fmt: skip
    return edits + _with_fields(fields, values, end.start(), lambda tag, value: f"{tag} {value}{line_end}")


def _wos_entries(text: str, span: Span | None) -> list[Span]:
    if span is None:
        return []
    spans = (_stripped(text, *found.span()) for found in _WOS_ENTRY.finditer(text, *span))
    return [(begin, end) for begin, end in spans if begin < end]


def _with_fields(
    known: dict[str, Span], values: dict[str, str], place: int, line: Callable[[str, str], str]
) -> list[Edit]:
    """New values of fields that exist already, and the other fields as lines at a place."""
    added = "".join(line(name, value) for name, value in values.items() if value and name not in known)
    edits = [Edit(*known[name], value) for name, value in values.items() if name in known]
    return [*edits, Edit(place, place, added)]


# RIS

_RIS_LINE = re.compile(r"(?:(?<=[\r\n])|\A)(AU|A1|N1|ER)(  - ?)([^\r\n]*)")


def _ris_edits(text: str, record: IdentifiedRecord, context: None) -> list[Edit] | None:
    lines = [(found[1], _stripped(text, *found.span(3)), found.start()) for found in _RIS_LINE.finditer(text)]
    ends = [begin for tag, _, begin in lines if tag == "ER"]
    spans = [span for tag, span, _ in lines if tag in ("AU", "A1") and span[0] < span[1]]
    people = _people_in([plain_text(_text(text, span)) for span in spans], record)
    if people is None or len(ends) != 1 or not ends[0]:
        return None
    notes = {}
    for tag, span, _ in lines:
        if tag == "N1" and (note := exported_ids.exported_note(_text(text, span))):
            notes[note[0]] = span
    line_end = "\r\n" if text[: ends[0]].endswith("\r\n") else text[ends[0] - 1]
    values = {
        exported_ids.DOCUMENT_FIELD: f"{exported_ids.DOCUMENT_FIELD}: {encoded(record.document_id)}",
        exported_ids.AUTHORS_FIELD: record.author_ids and f"{exported_ids.AUTHORS_FIELD}: {record.author_ids}",
    }
    added = _with_fields(notes, values, ends[0], lambda _, value: f"N1  - {value}{line_end}")
    return [*_renamed(spans, people, str), *added]


# BibTeX

_BIBTEX_ENTRY = re.compile(rb"^[ \t]*@[A-Za-z]+\s*[{(]", re.MULTILINE)
_AND_OR_BRACE = re.compile(r"[{}]|(?<=[ \t\r\n])and(?=[ \t\r\n])", re.IGNORECASE)
_BLANKS = " \t\r\n"
# DBLP numbers namesakes: "Wei Wang 0001".
_DBLP_NUMBER = re.compile(r" \d{4}\Z")


def _bibtex_candidates(raw: bytes) -> list[bytes]:
    """The entry without the abbreviations that its reader puts before it."""
    begins = [found.start() for found in _BIBTEX_ENTRY.finditer(raw)]
    return [raw, raw[begins[-1] :]] if begins and begins[-1] else [raw]


def _bibtex_edits(text: str, record: IdentifiedRecord, context: None) -> list[Edit] | None:
    fields = field_spans(text)
    author = fields.get("author") or fields.get("authors")
    if author is None:
        return None if record.names else []
    spans = _between_ands(text, *author.value)
    names = [_DBLP_NUMBER.sub("", latex_to_text(_text(text, span))) for span in spans]
    people = _people_in(names, record)
    if people is None:
        return None
    values = {
        exported_ids.DOCUMENT_FIELD: encoded(record.document_id), exported_ids.AUTHORS_FIELD: record.author_ids
    }  # fmt: skip
    values = {name: value.replace("%", r"\%") for name, value in values.items()}
    known = {name: fields[name].value for name in values if name in fields}
    before = re.search(r"[ \t]*\Z", text[: author.name])
    blanks = f"\n{before[0]}" if before and before.start() and text[before.start() - 1] in "\r\n" else " "
    if "\r\n" in text and blanks != " ":
        blanks = f"\r{blanks}"
    added = _with_fields(known, values, author.name, lambda name, value: f"{name} = {{{value}}},{blanks}")
    return [*_renamed(spans, people, bibtex_label), *added]


def _between_ands(text: str, begin: int, end: int) -> list[Span]:
    """The names in a list, which "and" outside of braces separates."""
    ends, depth = [begin], 0
    for found in _AND_OR_BRACE.finditer(text, begin, end):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0 and found[0] not in "{}":
            ends += found.span()
    ends.append(end)
    spans = []
    for first, last in zip(ends[::2], ends[1::2], strict=True):
        part = text[first:last]
        spans.append((first + len(part) - len(part.lstrip(_BLANKS)), last - len(part) + len(part.rstrip(_BLANKS))))
    return [(first, last) for first, last in spans if first < last]


# Scopus

_NUMBER = re.compile(r"\s*\(\d+\)\s*\Z")
_SCOPUS_IDS = ("Homonym authors", "Homonym id")


def _scopus_candidates(raw: bytes) -> list[bytes]:
    """A row as the file may have it: with other line ends in its cells, and without the header its reader adds."""
    rows = [raw, raw.partition(b"\n")[2]]
    return [text for row in rows for text in (row, row.replace(b"\n", b"\r\n")) if text]


def _scopus_edits(text: str, record: IdentifiedRecord, first: Header) -> list[Edit] | None:
    row = _ScopusRow.of(text, first)
    if row is None:
        return None
    short_cell, full_cell = (row.value(column) for column in ("authors", "author full names"))
    short = short_names(plain_text(short_cell))
    full = [part.strip() for part in plain_text(full_cell).rstrip("; ").split(";")] if full_cell.strip() else []
    people = _full_and_short([_NUMBER.sub("", name) for name in full], short, record)
    if people is None:
        return None
    edits = []
    if short:
        new = [dotted_name(one.label) if one else name for one, name in zip(people, short, strict=True)]
        edits.append(row.edit("authors", ("; " if ";" in short_cell or len(new) == 1 else ", ").join(new)))
    if full:
        numbers = [(_NUMBER.search(name) or [""])[0] for name in full]
        new = [f"{one.label}{number}" if one else name for one, number, name in zip(people, numbers, full, strict=True)]
        edits.append(row.edit("author full names", "; ".join(new)))
    return edits + row.id_edits(record.author_ids, encoded(record.document_id))


def _scopus_other_edits(text: str, first: Header) -> list[Edit]:
    row = _ScopusRow.of(text, first)
    return row.id_edits("", "") if row else []


def _scopus_frame_edits(text: str, first: Header) -> list[Edit]:
    row = _ScopusRow.of(text, first)
    return row.id_edits(*_SCOPUS_IDS) if row else []


class _ScopusRow(NamedTuple):
    """A row with one cell for each column of its header."""

    text: str
    columns: list[str]
    separator: str
    cells: list[Span]

    @classmethod
    def of(cls, text: str, first: Header) -> _ScopusRow | None:
        """The row in a text; None if it is damaged."""
        header = own_header(text.encode("latin-1"), first)[0]
        cells = _cells(text.rstrip("\r\n"), header.separator)
        columns = [name.lower() for name in english_names(header.names)]
        return cls(text, columns, header.separator, cells) if cells and len(cells) == len(columns) else None

    def value(self, column: str) -> str:
        """The text of a cell, empty if there is none."""
        if column not in self.columns:
            return ""
        cell = _text(self.text, self.cells[self.columns.index(column)])
        return cell[1:-1].replace('""', '"') if cell.startswith('"') else cell

    def edit(self, column: str, value: str) -> Edit:
        """The change of a cell; it keeps its quotation marks."""
        begin, end = self.cells[self.columns.index(column)]
        return Edit(begin, end, self._cell(value, quoted=self.text[begin : begin + 1] == '"'))

    def id_edits(self, author_ids: str, document_id: str) -> list[Edit]:
        """The ids in the columns that earlier exports added, or behind the last cell."""
        values = dict(zip(map(str.lower, _SCOPUS_IDS), (author_ids, document_id), strict=True))
        if values.keys() <= set(self.columns):
            # A header that has the columns stays, and so do the ids of other records.
            is_new = bool(document_id) and (author_ids, document_id) != _SCOPUS_IDS
            return [self.edit(column, value) for column, value in values.items()] if is_new else []
        end = self.cells[-1][1]
        added = "".join(f"{self.separator}{self._cell(value, quoted=False)}" for value in values.values())
        return [Edit(end, end, added)]

    def _cell(self, value: str, *, quoted: bool) -> str:
        needs = quoted or any(sign in value for sign in (self.separator, '"', "\n", "\r"))
        return '"{}"'.format(value.replace('"', '""')) if needs else value


def _cells(row: str, separator: str) -> list[Span] | None:
    """The cells of a row, quotation marks included; None if one is not closed.

    >>> _cells('a,"b,""c",', ","), _cells('a,"b', ",")
    ([(0, 1), (2, 9), (10, 10)], None)
    """
    spans, place = list[Span](), 0
    while True:
        end = _end_of_quotes(row, place) if row.startswith('"', place) else row.find(separator, place)
        if end is None:
            return None
        end = len(row) if end < 0 else end
        spans.append((place, end))
        if end == len(row):
            return spans
        if row[end] != separator:
            return None
        place = end + 1


def _end_of_quotes(row: str, place: int) -> int | None:
    end = row.find('"', place + 1)
    while end >= 0 and row.startswith('""', end):
        end = row.find('"', end + 2)
    return end + 1 if end >= 0 else None


EDITORS = {
    "wos": Editor(_wos_edits),
    "ris": Editor(_ris_edits),
    "bibtex": Editor(_bibtex_edits, _bibtex_candidates),
    "scopus": Editor(_scopus_edits, _scopus_candidates, _scopus_other_edits, _scopus_frame_edits),
}
