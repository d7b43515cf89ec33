"""Mention ids of homonym 0.6 and before, translated into those of today, for files of pairs that users have.

Records without an id of their own were named by file and line (`inst.csv:2`), and different documents with the same id
were numbered in the order of the input (`smith2020~2`). Files must be those of the time, in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from homonym.collection.document_merging import author_places
from homonym.records.formats.documents import parse_document
from homonym.records.model import Author

if TYPE_CHECKING:
    import duckdb

_LINE = re.compile(r"(.+):(\d+)")
_NUMBERED = re.compile(r"(.+)~(\d{1,6})")


class FileRange(NamedTuple):
    """The name of a file without its directories, and its sequence numbers: from `first` to below `following`."""

    name: str
    first: int
    following: int


class _Found(NamedTuple):
    """A record, and the document that it is part of."""

    sequence: int
    document: int


def translate(
    connection: duckdb.DuckDBPyConnection, mention_ids: Iterable[str], files: Sequence[FileRange]
) -> dict[str, str | None]:
    """The mention ids of today; None for a mention that is not in the files."""
    return {old: _translated(connection, old, files) for old in dict.fromkeys(mention_ids)}


def _translated(connection: duckdb.DuckDBPyConnection, old: str, files: Sequence[FileRange]) -> str | None:
    document, mark, position = old.rpartition("#")
    found = _find(connection, document, files) if mark and position.isdecimal() else None
    if found is None:
        return None
    rows = connection.execute(
        """SELECT coalesce(m.id, r.id) FROM records r LEFT JOIN renamed m ON m.sequence = r.sequence
           WHERE r.sequence = ?""",
        [found.document],
    ).fetchall()
    place = int(position)
    if found.document != found.sequence:
        then, now = (_authors(connection, sequence) for sequence in found)
        places = dict(zip([author.position for author in then], author_places(then, now), strict=True))
        number = places.get(place)
        if number is None:
            return None
        place = now[number.number].position
    return f"{rows[0][0]}#{place}"


def _find(connection: duckdb.DuckDBPyConnection, document: str, files: Sequence[FileRange]) -> _Found | None:
    """The record that had this id."""
    if line := _LINE.fullmatch(document):
        for file in files:
            if file.name == line[1]:
                where = "NOT r.id_is_key AND r.line = ? AND r.sequence BETWEEN ? AND ?"
                if found := _records(connection, where, [int(line[2]), file.first, file.following - 1]):
                    return found[0]
    if found := _records(connection, "r.id = ?", [document]):
        return found[0]
    if numbered := _NUMBERED.fullmatch(document):
        found = _records(connection, "r.id = ?", [numbered[1]])
        if len(found) >= int(numbered[2]) > 1:
            return found[int(numbered[2]) - 1]
    return None


def _records(connection: duckdb.DuckDBPyConnection, where: str, values: list[object]) -> list[_Found]:
    """The first record of each document that has records with some property, in the order of the input."""
    rows = connection.execute(
        f"""SELECT min(r.sequence), coalesce(d.merged, r.sequence) AS document FROM records r
            LEFT JOIN duplicates d ON d.sequence = r.sequence
            WHERE {where} AND r.sequence NOT IN (SELECT merged FROM duplicates) GROUP BY document ORDER BY 1""",
        values,
    ).fetchall()
    return [_Found(*row) for row in rows]


def _authors(connection: duckdb.DuckDBPyConnection, sequence: int) -> list[Author]:
    ((text,),) = connection.execute("SELECT text FROM documents WHERE sequence = ?", [sequence]).fetchall()
    return parse_document(text)[0].authors
