"""homonym's own formats, JSON: documents, and mentions with bags of features.

A file has one object per line; lists of objects and concatenated objects are read too. `homonym convert` writes
documents, `homonym extract` writes mentions. All their fields are used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from itertools import starmap
from typing import Any

import orjson

from homonym.errors import InputError
from homonym.io.inputs import PARQUET, Source
from homonym.io.table_text import is_too_deep, json_object
from homonym.records.fields import identifiers
from homonym.records.fields.contributors import set_apart_contributors
from homonym.records.fields.key_names import AUTHOR_KEYS, DOCUMENT_KEYS
from homonym.records.fields.markup import plain_text
from homonym.records.model import (
    Author,
    BrokenRecordError,
    Document,
    Note,
    Parsed,
    publication_year,
    require_few_authors,
)
from homonym.records.parsing.json_stream import names_in, open_json
from homonym.records.parsing.splitting import Raw
from homonym.records.reader import Columns, Format, Records

# Every document has these names; no object inside a document has both (see `open_json`).
_NAMES = ("id", "authors")

# Mentions with bags have the second name; they are recognised here to be rejected with a clear reason.
_MARK = re.compile(rb'"(?:authors|mention_id)"\s*+:')

_ID = re.compile(rb'"(?:id|mention_id)"\s*+:', re.IGNORECASE)

# How a Parquet file begins, and the column of a table of documents that has each as an object.
_RECORD = "record"

# How a list begins, and an object with one member per line.
_SPREAD = re.compile(rb'\s*+(?:\[\s*+\{|\{[ \t\r]*+\n\s*+")')


_NO_NAME = "author {} has no name"

# What entities and tags begin with; most lines have neither.
_MARKUP = re.compile(rb"&#?\w{1,30};|</?[A-Za-z]")
# The texts of a document that may have markup in them, and those of an author.
_TEXTS = ("title", "abstract", "venue", "keywords", "categories", "referenced_authors", "other_contributors")
_AUTHOR_TEXTS = ("name", "affiliations")


def parse_document(line: bytes, context: object = None) -> Parsed:
    """Read one document.

    >>> document, notes = parse_document(b'{"id": 7, "year": "n.d.", "authors": [{"name": "Doe, J"}, {}]}')
    >>> document.id, [author.name for author in document.authors]
    ('7', ['Doe, J'])
    >>> for note in notes:
    ...     print(note)
    ('author', 'author 1 has no name')
    ('field', "year 'n.d.' is not a year")
    """
    raw = load_object(line)
    if line.count(b'"authors"') > 1:  # a whole check, as in `StoredLines`, would cost 5 % of reading
        _require_distinct_keys(line)
    return _parse_object(raw, has_markup=_has_markup(line))


def _parse_object(raw: dict[str, Any], *, has_markup: bool) -> Parsed:
    if "mention_id" in raw and "authors" not in raw:
        raise BrokenRecordError("this is a mention with bags, not a document (use homonym cluster)")
    notes: list[Note] = []
    raw = DOCUMENT_KEYS.renamed(raw, notes)
    if has_markup:
        raw = _plain_texts(raw, _TEXTS)
    document = Document(
        id=identifier(raw, "id"),
        authors=_authors(raw.get("authors"), notes, has_markup=has_markup),
        title=_text(raw, "title", notes),
        abstract=_text(raw, "abstract", notes),
        year=publication_year(raw.get("year"), notes),
        venue=_text(raw, "venue", notes),
        categories=_texts(raw, "categories", notes),
        keywords=_texts(raw, "keywords", notes),
        references=_texts(raw, "references", notes),
        referenced_authors=_texts(raw, "referenced_authors", notes),
        other_authors=_texts(raw, "other_authors", notes),
        other_contributors=_texts(raw, "other_contributors", notes),
        ids=_first_ids(raw.get("ids"), notes, of_document=True),
    )
    if document.other_contributors:  # they have left gaps
        notes = [note for note in notes if note[0] != "author" or not _is_gap(raw["authors"], note[1])]
    set_apart_contributors(document, notes)
    return document, notes


def _is_gap(entries: list[Any], note: str) -> bool:
    """Whether a note is about an entry that is null."""
    return note in {_NO_NAME.format(position) for position, entry in enumerate(entries) if entry is None}


def _has_markup(line: bytes) -> bool:
    # Looking for single bytes is twenty times as fast as the expression, and most lines have neither.
    return (b"&" in line or b"<" in line) and _MARKUP.search(line) is not None


def _plain_texts(raw: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """An object whose texts have no HTML: "D&#x27;Oro" is D'Oro.

    >>> _plain_texts({"id": "a&amp;b", "title": "CO<sub>2</sub>", "keywords": ["R&amp;D", 7]}, ("title", "keywords"))
    {'id': 'a&amp;b', 'title': 'CO2', 'keywords': ['R&D', 7]}
    """
    return raw | {name: _plain(raw[name]) for name in names if raw.get(name)}


def plain_line(line: bytes) -> bytes:
    """A line of the documents format without HTML in its texts; the same line if it has none.

    >>> plain_line(b'{"id": "a", "authors": ["D&#x27;Oro, P", {"name": "M&uuml;ller"}, null]}').decode()
    '{"id":"a","authors":["D\\'Oro, P",{"name":"Müller"},null]}'
    """
    if not _has_markup(line):
        return line
    try:
        raw = json_object(line)
        _require_each_key_once(line, raw)
    except (ValueError, BrokenRecordError):  # which the parser reports
        return line
    authors = raw.get("authors")
    if isinstance(authors, list):
        raw["authors"] = [_plain_texts(one, _AUTHOR_TEXTS) if isinstance(one, dict) else _plain(one) for one in authors]
    return orjson.dumps(_plain_texts(raw, _TEXTS))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return plain_text(value) if isinstance(value, str) and ("&" in value or "<" in value) else value


def load_object(line: bytes) -> dict[str, Any]:
    """Parse one line, which must be a JSON object. Stricter than `load_record`: our own format must be valid JSON."""
    try:
        return json_object(line)
    except ValueError as error:
        raise BrokenRecordError(str(error)) from None


def _number_of_keys(raw: dict[str, Any]) -> int:
    """The number of different keys in an object and in the objects inside of it.

    >>> _number_of_keys({"id": "a", "authors": [{"name": "Doe, J", "ids": {"orcid": ""}}, None]})
    5
    """
    number = len(raw)
    for value in raw.values():
        for inner in value if isinstance(value, list) else (value,):
            if isinstance(inner, dict):
                number += _number_of_keys(inner)
    return number


def _require_each_key_once(line: bytes, raw: dict[str, Any]) -> None:
    """Fail if a line has a key twice in one object; `raw` is what was parsed from it."""
    # Nearly always there are as many keys in the text as in the objects, and that is seen quickly.
    if line.count(b'":') != _number_of_keys(raw) or b'" :' in line or b"\t" in line:
        _require_distinct_keys(line)


def _require_distinct_keys(line: bytes) -> None:
    """Fail if an object has a key twice: parsers silently take the last value.

    >>> _require_distinct_keys(b'{"id": "a", "authors": [{"name": "Doe, J", "name": "Roe, K"}]}')
    Traceback (most recent call last):
    homonym.records.model.BrokenRecordError: 'name' is given twice in one object
    """

    def distinct(pairs: list[tuple[str, Any]]) -> None:
        known: set[str] = set()
        for key, _ in pairs:
            if key in known:
                raise BrokenRecordError(f"{key[:60]!r} is given twice in one object")
            known.add(key)

    # Numbers are not parsed: Python refuses very long ones.
    json.loads(line, object_pairs_hook=distinct, parse_int=str, parse_float=str)


def identifier(raw: dict[str, Any], key: str) -> str:
    """A required identifier as text."""
    value = optional_identifier(raw, key)
    if value is None:
        raise BrokenRecordError(f"'{key}' is missing")
    return value


def optional_identifier(raw: dict[str, Any], key: str) -> str | None:
    """An identifier as text; None if it is missing or empty."""
    value = raw.get(key)
    if value is None or value == "":
        return None
    if type(value) is str:  # nearly always; the checks below are slower
        return value
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BrokenRecordError(f"'{key}' must be text, got {type(value).__name__}")
    return str(value)


def _authors(entries: Any, notes: list[Note], *, has_markup: bool = False) -> list[Author]:
    if not isinstance(entries, list):
        raise BrokenRecordError("'authors' is missing or not a list")
    require_few_authors(len(entries))
    authors = []
    for position, entry in enumerate(entries):
        if isinstance(entry, str):
            entry = {"name": entry}
        if isinstance(entry, dict):
            if not AUTHOR_KEYS.fields.issuperset(entry):
                entry = AUTHOR_KEYS.renamed(entry, notes)
            if has_markup:
                entry = _plain_texts(entry, _AUTHOR_TEXTS)
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not name.strip():
            notes.append(("author", _NO_NAME.format(position)))
            continue
        author = Author(position, name)
        if len(entry) > 1:
            _add_fields(author, entry, notes)
        authors.append(author)
    return authors


def _add_fields(author: Author, entry: dict[str, Any], notes: list[Note]) -> None:
    """Add what an entry has in addition to the name; mostly that is little."""
    if "affiliations" in entry:
        author.affiliations = _texts(entry, "affiliations", notes)
    if "emails" in entry:
        author.emails = _texts(entry, "emails", notes)
    if "author" in entry:
        author.label = _identifier_or_note(entry, "author", notes)
    if "block" in entry:
        author.block = _identifier_or_note(entry, "block", notes)
    if "ids" in entry:
        author.ids = _first_ids(entry["ids"], notes)


def _identifier_or_note(entry: dict[str, Any], key: str, notes: list[Note]) -> str | None:
    try:
        return optional_identifier(entry, key)
    except BrokenRecordError as broken:
        notes.append(("field", str(broken)))
        return None


def _text(raw: dict[str, Any], key: str, notes: list[Note]) -> str:
    value = raw.get(key)
    if isinstance(value, str):
        return value
    if value is not None:
        notes.append(("field", f"{key} must be text, got {type(value).__name__}"))
    return ""


def _texts(raw: dict[str, Any], key: str, notes: list[Note]) -> list[str]:
    value = raw.get(key)
    if not value:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        for item in value:
            if type(item) is not str:
                break
        else:
            return value
        texts = [str(item) for item in value if isinstance(item, str | int) and not isinstance(item, bool)]
        if len(texts) == len(value):
            return texts
    notes.append(("field", f"{key} must be a list of texts"))
    return []


def _first_ids(value: Any, notes: list[Note], *, of_document: bool = False) -> dict[str, str]:
    """Identifiers by kind. If a list is given for a kind, its first item counts."""
    if isinstance(value, dict):
        value = {kind: given[0] if isinstance(given, list) and given else given for kind, given in value.items()}
    return _ids(value or None, notes, of_document=of_document)


def _ids(value: Any, notes: list[Note], *, of_document: bool = False) -> dict[str, str]:
    """Valid identifiers by kind; invalid ones are noted."""
    if value is not None and not isinstance(value, dict):
        notes.append(("field", f"ids must be an object, got {type(value).__name__}"))
        return {}
    found: dict[str, str] = {}
    for kind, given in (value or {}).items():
        if normal := identifiers.normalise(kind, given, of_document=of_document):
            found[kind] = normal
        elif given not in (None, ""):
            notes.append(("field", f"{given!r} is not a valid {identifiers.TITLES.get(kind, kind)}"))
    return found


def _recognises(source: Source) -> bool:
    """JSON, or an object on one of the first lines, with a name that every document or mention has.

    The table of documents in a result directory holds such objects, too.
    """
    if source.head.startswith(PARQUET):
        return _has_records(source)
    if not source.head.strip():
        return True
    if _MARK.search(source.head) is None or (b'"title"' in source.head and not _ID.search(source.head)):
        return False  # titles without ids are those of other sources, which the table reader takes
    lines = source.head.split(b"\n", 100)[:100]
    return any(line.lstrip()[:1] == b"{" for line in lines) or bool(names_in(source.head))


def _has_records(source: Source) -> bool:
    from homonym.io.tables import columnar_columns  # imports Arrow

    try:
        return {"document_id", _RECORD} <= set(columnar_columns(source))
    except InputError:  # a pipe or a damaged file, which another format reports
        return False


def _record_raws(source: Source) -> Iterator[Raw]:
    """The objects in a table of documents."""
    from homonym.io.tables import columnar_rows

    for number, row in enumerate(columnar_rows(source, [_RECORD]), 1):
        if isinstance(row, str):
            yield Raw(number, b"", row)
        else:
            yield Raw(number, (row[_RECORD] or "").encode())


def _open(source: Source, columns: Columns) -> Records:
    if source.head.startswith(PARQUET):
        return Records(_record_raws(source), "record")
    if has_lines(source.head):
        return Records(starmap(Raw, source.lines()))
    return open_json(source, _NAMES)


def has_lines(head: bytes) -> bool:
    """Whether there is one document per line, judged by the first line; a page of an API has its documents inside."""
    first = head.lstrip().partition(b"\n")[0]
    if head.startswith(PARQUET):
        return False
    return _SPREAD.match(head) is None and first.count(b'"authors"') < 2 and not _is_page(first)


def _is_page(line: bytes) -> bool:
    """Whether a line is an object with documents inside of it.

    >>> _is_page(b'{"results": [{"id": 1, "authors": []}]}'), _is_page(b'{"id": 1, "authors": []}'), _is_page(b"{")
    (True, False, False)
    """
    if is_too_deep(line):
        return False
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return isinstance(found, dict) and found.keys().isdisjoint(("authors", "mention_id")) and b'"authors"' in line


FORMAT = Format(
    name="documents",
    title="homonym's own documents, JSON lines",
    recognises=_recognises,
    open=_open,
    parse=parse_document,
)

# Fields that are written under their own names. A position is the place in the list, a label is called `author`.
_AUTHOR = tuple(field.name for field in fields(Author) if field.name not in {"position", "label"})
_DOCUMENT = tuple(field.name for field in fields(Document) if field.name not in {"authors", "id_is_key"})


def document_object(document: Document) -> dict[str, Any]:
    """A document as an object of the documents format, without empty fields.

    A rejected author leaves a gap (null), so that the others keep their positions.

    >>> document_object(Document("W1", [Author(1, "Doe, J", ids={"orcid": "0000-0002-1825-0097"})], year=2014))
    {'id': 'W1', 'year': 2014, 'authors': [None, {'name': 'Doe, J', 'ids': {'orcid': '0000-0002-1825-0097'}}]}
    """
    written = {name: value for name in _DOCUMENT if (value := getattr(document, name))}
    count = document.authors[-1].position + 1 if document.authors else 0
    authors: list[dict[str, Any] | None] = [None] * count
    for author in document.authors:
        authors[author.position] = _author_object(author)
    return {**written, "authors": authors}


def document_line(document: Document) -> bytes:
    """A document as one line of JSON."""
    return orjson.dumps(document_object(document)) + b"\n"


class StoredLines:
    """Parses lines, and tells what is stored of each: the line without HTML, or written again if it has other keys.

    >>> text, lines = b'{"id": "a", "authors": [{"name": "Doe, J", "affiliation": "MIT"}]}', StoredLines()
    >>> document, _ = lines.parse(text)
    >>> lines.stored(text, document)
    b'{"id":"a","authors":[{"name":"Doe, J","affiliations":["MIT"]}]}\\n'
    """

    def __init__(self) -> None:
        self._raw: dict[str, Any] = {}

    def parse(self, line: bytes, context: object = None) -> Parsed:
        """Read one document, see `parse_document`."""
        self._raw = load_object(line)
        _require_each_key_once(line, self._raw)
        return _parse_object(self._raw, has_markup=_has_markup(line))

    def stored(self, text: bytes, document: Document) -> bytes:
        """The line that is stored of the document that was parsed last."""
        entries = [entry for entry in self._raw.get("authors") or () if isinstance(entry, dict)]
        is_own = not DOCUMENT_KEYS.has_others(self._raw) and not any(map(AUTHOR_KEYS.has_others, entries))
        return plain_line(text) if is_own else document_line(document)


def _author_object(author: Author) -> dict[str, Any]:
    written = {name: value for name in _AUTHOR if (value := getattr(author, name))}
    return written if author.label is None else {**written, "author": author.label}


# Range of feature counts. Inside it, sums over a collection are exact (see collection/counting.py).
SMALLEST_COUNT, LARGEST_COUNT = 1e-9, 1e9

# Maximum value of the column of positions (32-bit integers).
LARGEST_POSITION = 2**31 - 1


@dataclass(slots=True)
class Mention:
    """One author mention with a bag of features per feature type, and notes on what could not be used."""

    mention_id: str
    document_id: str | None
    position: int | None
    name: str | None
    block: str
    label: str | None
    features: dict[str, dict[str, float]]
    year: int | None = None
    ids: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)


def parse_mention(line: bytes) -> Mention:
    """Read one mention.

    >>> parse_mention(b'{"mention_id": "m1", "name": "DOE, J", "features": {"co": {"SMITH, A": 1}}}').block
    'DOE, J'
    """
    raw = load_object(line)
    _require_each_key_once(line, raw)
    if "authors" in raw and "mention_id" not in raw:
        raise BrokenRecordError("this is a document, not a mention with bags (use homonym disambiguate)")
    name = raw.get("name") if isinstance(raw.get("name"), str) else None
    block = optional_identifier(raw, "block") or name
    if not block:
        raise BrokenRecordError("neither 'block' nor 'name': the block of the mention is unknown")
    notes: list[Note] = []
    return Mention(
        mention_id=identifier(raw, "mention_id"),
        document_id=optional_identifier(raw, "document_id"),
        position=_position(raw.get("position")),
        name=name,
        block=block,
        label=optional_identifier(raw, "author"),
        features=_bags(raw.get("features")),
        year=publication_year(raw.get("year"), notes),
        ids=_ids(raw.get("ids"), notes),
        notes=notes,
    )


def _position(value: Any) -> int | None:
    usable = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_POSITION
    return value if usable else None


def _bags(raw: Any) -> dict[str, dict[str, float]]:
    if raw is None:
        return {}
    if not isinstance(raw, dict) or not all(isinstance(bag, dict) for bag in raw.values()):
        raise BrokenRecordError("'features' must map each feature type to an object of counts")
    return {kind: _bag(kind, bag) for kind, bag in raw.items() if bag}


def _bag(kind: str, bag: dict[str, Any]) -> dict[str, float]:
    for feature, count in bag.items():
        if isinstance(count, bool) or not isinstance(count, int | float):
            raise BrokenRecordError(f"the count of {feature!r} in {kind!r} is not a number")
        if count != 0 and not SMALLEST_COUNT <= count <= LARGEST_COUNT:
            raise BrokenRecordError(f"the count of {feature!r} in {kind!r} is {count:g}, outside 1e-9 to 1e9")
    return {feature: float(count) for feature, count in bag.items() if count}
