"""Documents as homonym's own format writes them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import orjson

from homonym.records.model import Author, Document

#: Not written: a position is the place in the list, a label is called `author`, and an id that is written is a key.
_AUTHOR = tuple(field.name for field in fields(Author) if field.name not in {"position", "label"})
_DOCUMENT = tuple(field.name for field in fields(Document) if field.name not in {"authors", "id_is_key"})


def document_object(document: Document) -> dict[str, Any]:
    """A document as an object of the documents format, without what it lacks.

    An author who was set aside leaves a gap, so that the others keep their positions.

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


def _author_object(author: Author) -> dict[str, Any]:
    written = {name: value for name in _AUTHOR if (value := getattr(author, name))}
    return written if author.label is None else {**written, "author": author.label}
