"""Ids of homonym in files of other formats: `homonym export` writes them, and the readers of these formats find them.

So a file that was exported, and perhaps edited in another program, has the documents and authors of the result when it
is read again. The id of an author becomes an identifier of the kind `homonym`. All characters that have a meaning in
some format are percent-encoded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote_plus, unquote_plus

from homonym.errors import counted
from homonym.records.model import Document, Note

KIND = "homonym"
"""The kind of identifier."""

# Names of the fields: of BibTeX, of the Web of Science (tags), of Scopus (columns in lower case), of RIS (in notes).
DOCUMENT_FIELD, AUTHORS_FIELD = "homonym-id", "homonym-authors"
WOS_DOCUMENT, WOS_AUTHORS = "X2", "X1"
SCOPUS_DOCUMENT, SCOPUS_AUTHORS = "homonym id", "homonym authors"

# What stands before the accession number of a document that has none in the database of the format.
PREFIX = "HOMONYM:"

_ALSO_ENCODED = str.maketrans({"_": "%5F", "~": "%7E", "-": "%2D"})
_NOTE = re.compile(rf"(?:<p>)?\s*({DOCUMENT_FIELD}|{AUTHORS_FIELD}): *([^\s<]++(?: [^\s<]++)*+)")


def encoded(text: str) -> str:
    """An id without characters that any format, LaTeX included, changes.

    >>> encoded("DOE, J/6f0c41d27a93"), encoded("a_b--{c}; d")
    ('DOE,+J/6f0c41d27a93', 'a%5Fb%2D%2D%7Bc%7D%3B+d')
    """
    return quote_plus(text, safe=",/:").translate(_ALSO_ENCODED)


def written_author_ids(ids: Mapping[int, str]) -> str:
    """Position to id of the authors of a document as text; a position without author stays empty.

    >>> written_author_ids({0: "DOE, J/1", 2: "ROE, R/2"})
    'DOE,+J/1;;ROE,+R/2'
    """
    return ";".join(encoded(ids.get(position, "")) for position in range(max(ids, default=-1) + 1))


def add_exported_ids(document: Document, document_id: str, author_ids: str, notes: list[Note]) -> None:
    """Give a document, and its authors, the ids that an export wrote; empty texts change nothing.

    Names that the reader left out have no place in the list of authors, so that their number must be right.

    >>> from homonym.records.model import Author
    >>> found = Document("", [Author(0, "Doe, J"), Author(1, "Roe, R")])
    >>> add_exported_ids(found, "W%2D1", "DOE,+J/1;;ROE,+R/2", [])
    >>> found.id, [(author.position, author.ids) for author in found.authors]
    ('W-1', [(0, {'homonym': 'DOE, J/1'}), (2, {'homonym': 'ROE, R/2'})])
    """
    if given := unquote_plus(document_id.strip(), errors="replace"):
        document.id, document.id_is_key = given, True
    if not author_ids.strip():
        return
    ids = [unquote_plus(text.strip(), errors="replace") for text in author_ids.split(";")]
    places = [place for place, text in enumerate(ids) if text]
    if len(places) != len(document.authors):
        notes.append(
            ("field", f"{counted(len(places), 'id')} of homonym for {counted(len(document.authors), 'author')}")
        )
        return
    for place, author in zip(places, document.authors, strict=True):
        author.position = place
        author.ids[KIND] = ids[place]


def exported_note(text: str) -> tuple[str, str] | None:
    """The field and the ids in a note of an exported RIS file, also if a program made it HTML.

    >>> exported_note("homonym-id: W1"), exported_note("<p>homonym-authors: DOE,+J/1; ROE,+R/2</p>"), exported_note("x")
    (('homonym-id', 'W1'), ('homonym-authors', 'DOE,+J/1; ROE,+R/2'), None)
    """
    found = _NOTE.match(text) if "homonym-" in text else None
    return (found[1], found[2]) if found else None
