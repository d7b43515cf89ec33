"""homonym's own document format: one JSON object per line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from homonym.records.problems import BrokenRecordError, Loss

#: A year outside is a typing error or a placeholder such as 0 or 9999.
FIRST_YEAR, LAST_YEAR = 1000, 2200

Note = tuple[Loss, str]


@dataclass(slots=True)
class Author:
    """One author entry of a document."""

    position: int
    name: str
    affiliations: list[str] = field(default_factory=list)
    emails: list[str] = field(default_factory=list)
    label: str | None = None
    block: str | None = None


@dataclass(slots=True)
class Document:
    """One bibliographic record, as far as it matters for telling its authors apart."""

    id: str
    authors: list[Author]
    title: str = ""
    abstract: str = ""
    year: int | None = None
    venue: str = ""
    categories: list[str] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    referenced_authors: list[str] = field(default_factory=list)


def parse_document(line: bytes) -> tuple[Document, list[Note]]:
    """Read one line; notes say which author or field of it could not be used.

    >>> document, notes = parse_document(b'{"id": 7, "year": "n.d.", "authors": [{"name": "Doe, J"}, {}]}')
    >>> document.id, [author.name for author in document.authors]
    ('7', ['Doe, J'])
    >>> for note in notes:
    ...     print(note)
    ('author', 'author 1 has no name')
    ('field', "year 'n.d.' is not a year")
    """
    raw = load_object(line)
    if "mention_id" in raw and "authors" not in raw:
        raise BrokenRecordError("this is a mention with bags, not a document (use homonym cluster)")
    notes: list[Note] = []
    document = Document(
        id=identifier(raw, "id"),
        authors=_authors(raw.get("authors"), notes),
        title=_text(raw, "title", notes),
        abstract=_text(raw, "abstract", notes),
        year=_year(raw.get("year"), notes),
        venue=_text(raw, "venue", notes),
        categories=_texts(raw, "categories", notes),
        keywords=_texts(raw, "keywords", notes),
        references=_texts(raw, "references", notes),
        referenced_authors=_texts(raw, "referenced_authors", notes),
    )
    return document, notes


def load_object(line: bytes) -> dict[str, Any]:
    """Read one line that must be a JSON object."""
    try:
        raw = orjson.loads(line)
    except orjson.JSONDecodeError as broken:
        if not _is_utf8(line):
            raise BrokenRecordError("not UTF-8 text (save the file in that encoding)") from None
        raise BrokenRecordError(f"not valid JSON ({broken.msg} at character {broken.pos + 1})") from None
    if not isinstance(raw, dict):
        raise BrokenRecordError(f"expected a JSON object, got {type(raw).__name__}")
    return raw


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def identifier(raw: dict[str, Any], key: str) -> str:
    """The value of a required identifier; numbers are taken as text."""
    value = optional_identifier(raw, key)
    if value is None:
        raise BrokenRecordError(f"'{key}' is missing")
    return value


def optional_identifier(raw: dict[str, Any], key: str) -> str | None:
    """The value of an identifier as text, or None."""
    value = raw.get(key)
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BrokenRecordError(f"'{key}' must be text, got {type(value).__name__}")
    return str(value)


def _authors(entries: Any, notes: list[Note]) -> list[Author]:
    if not isinstance(entries, list):
        raise BrokenRecordError("'authors' is missing or not a list")
    authors = []
    for position, entry in enumerate(entries):
        if isinstance(entry, str):
            entry = {"name": entry}
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not name.strip():
            notes.append(("author", f"author {position} has no name"))
            continue
        authors.append(
            Author(
                position=position,
                name=name,
                affiliations=_texts(entry, "affiliations", notes),
                emails=_texts(entry, "emails", notes),
                label=_identifier_or_note(entry, "author", notes),
                block=_identifier_or_note(entry, "block", notes),
            )
        )
    return authors


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
        texts = [str(item) for item in value if isinstance(item, str | int) and not isinstance(item, bool)]
        if len(texts) == len(value):
            return texts
    notes.append(("field", f"{key} must be a list of texts"))
    return []


def _year(value: Any, notes: list[Note]) -> int | None:
    if value is None or value == "":
        return None
    try:
        year = int(value) if not isinstance(value, str) else int(value.strip()[:4])
    except (TypeError, ValueError, OverflowError):
        year = 0
    if FIRST_YEAR <= year <= LAST_YEAR:
        return year
    notes.append(("field", f"year {value!r} is not a year"))
    return None
