"""AMiner's name-disambiguation data set: one file per ambiguous name, with labelled publications.

The set is downloaded from aminer.cn. Reads title, abstract, year, venue, authors, and for the author that the file
is about label, block and affiliation. The files look like XML, but titles contain unescaped & and <, so no XML parser
is used: no element has children, and a text ends at the next known tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from homonym.io.inputs import STANDARD_INPUT, Source
from homonym.records.fields.markup import plain_text
from homonym.records.fields.people import folded
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.splitting import Raw, decoded, split_at
from homonym.records.parsing.xml_stream import NO_BEGINNING
from homonym.records.reader import Columns, Format, Records

_NAMES = rb"title|year|authors|jconf|id|label|organization|abstract|keywords?"
_BEGINNING = re.compile(rb"<(?:publication|person)\s*>", re.IGNORECASE)
_END = re.compile(rb"</publication\s*>", re.IGNORECASE)
_INSIDE = re.compile(rb"</?(?:title|authors|jconf|publication)\s*>", re.IGNORECASE)
_MARK = re.compile(rb"<(?:FullName|personID|jconf)\s*>", re.IGNORECASE)
_TAG = re.compile(rf"<(/?)({_NAMES.decode()}|FullName|FirstName|LastName|publication|person)\s*>", re.IGNORECASE)
_FULL_NAME = re.compile(rb"<FullName\s*>([^<>]{1,200})</FullName", re.IGNORECASE)

_EMPTY_VALUES = {"", "null", "none", "nan"}


def parse_publication(record: bytes, name: str) -> Parsed:
    """Read one publication from the file of a name.

    >>> document, _ = parse_publication(
    ...     b"<publication><title>R&D</title><authors>Al Roe,Jo Doe</authors><id>7</id><label>3</label></publication>",
    ...     "Jo Doe",
    ... )
    >>> document.id, document.title, [(author.name, author.label, author.block) for author in document.authors]
    ('Jo Doe/7', 'R&D', [('Al Roe', None, None), ('Jo Doe', 'Jo Doe/3', 'Jo Doe')])
    """
    fields = _fields(decoded(record))
    if "title" not in fields and "authors" not in fields:
        raise BrokenRecordError("neither title nor authors")
    name = fields.get("fullname") or name
    notes: list[Note] = []
    number = fields.get("id", "")
    document = Document(
        # A paper is in the files of all its ambiguous names, each time with another label.
        id=f"{name}/{number}" if number and name else number,
        authors=_authors(fields.get("authors", ""), notes),
        title=fields.get("title", ""),
        abstract=fields.get("abstract", ""),
        year=publication_year(fields.get("year"), notes),
        venue=fields.get("jconf", ""),
    )
    if name:
        _add_label(document.authors, name, fields, notes)
    return document, notes


def _fields(text: str) -> dict[str, str]:
    """The first non-empty text of each element, up to the next known tag."""
    pieces = _TAG.split(text)  # text, then "/" or "", name, text, …
    fields: dict[str, str] = {}
    for closing, name, content in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        value = plain_text(content.removeprefix("<![CDATA[").removesuffix("]]>"))
        if not closing and value.lower() not in _EMPTY_VALUES:
            fields.setdefault(name.lower(), value)
    return fields


def _authors(text: str, notes: list[Note]) -> list[Author]:
    authors = []
    for position, piece in enumerate(text.rstrip(" ,;").split(",") if text else ()):
        if name := piece.strip():
            authors.append(Author(position, name))
        else:
            notes.append(("author", f"author {position} has no name"))
    return authors


def _add_label(authors: list[Author], name: str, fields: dict[str, str], notes: list[Note]) -> None:
    """Set label, block and affiliation of the author that the file is about."""
    author = _named(authors, name)
    if author is None:
        if "label" in fields:
            notes.append(("field", f"label {fields['label']} is for {name}, who is not among the authors"))
        return
    author.block = name
    if "label" in fields:
        author.label = f"{name}/{fields['label']}"
    if place := fields.get("organization", "").strip(" .,;"):
        author.affiliations.append(place)


def _named(authors: list[Author], name: str) -> Author | None:
    """The author with this name, or the only one with its first letter and last word.

    >>> _named([Author(0, "Li Wei"), Author(1, "J. DOE")], "Jo Doe").position, _named([Author(0, "Al Doe")], "Jo Doe")
    (1, None)
    """
    exact = [author for author in authors if folded(author.name) == folded(name)]
    similar = [author for author in authors if _short(author.name) == _short(name)]
    return exact[0] if exact else similar[0] if len(similar) == 1 else None


def _short(name: str) -> tuple[str, str]:
    words = name.split()
    return (folded(words[0])[:1], folded(words[-1])) if words else ("", "")


def _recognises(source: Source) -> bool:
    head = source.head
    return b"<publication" in head.lower() and _MARK.search(head) is not None


def _open(source: Source, columns: Columns) -> Records:
    """In concatenated files of several names, each publication gets the last name before it."""
    found = _FULL_NAME.search(source.head)
    stem = "" if source.path == STANDARD_INPUT else source.path.name.partition(".xml")[0]
    name = plain_text(decoded(found[1])) if found else stem
    return Records(_publications(source, name.encode()), context=name)


def _publications(source: Source, name: bytes) -> Iterator[Raw]:
    current = name
    for number, text, broken in split_at(source.blocks(), _BEGINNING):
        if broken:
            yield Raw(number, text, broken)
            continue
        is_publication = text[:12].lower() == b"<publication"
        end = _END.search(text) if is_publication else None
        behind = end.end() if end else 0
        if is_publication:
            own = text[:behind] if current == name else b"<FullName>" + current + b"</FullName>" + text[:behind]
            yield Raw(number, own) if end else Raw(number, text, "cut off before </publication>")
        if (end or not is_publication) and _INSIDE.search(text, behind):
            yield Raw(number + text.count(b"\n", 0, behind), text[behind:], NO_BEGINNING)
        if later := _FULL_NAME.search(text, behind):
            current = plain_text(decoded(later[1])).encode()


FORMAT = Format(
    name="aminer-xml",
    title="AMiner name-disambiguation XML",
    recognises=_recognises,
    open=_open,
    parse=parse_publication,
)
