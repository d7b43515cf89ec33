"""Mention ids of homonym 0.6 and before, translated into current ones, for files of pairs that users have.

Records without an id of their own were named by file and line (`inst.csv:2`), and different documents with the same id
were numbered in the order of the input (`smith2020~2`), those first whose id is an identifier. Files must be those of
the time, in the same order.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from homonym.collection.document_merging import author_places
from homonym.records.formats.documents import parse_document
from homonym.records.model import Author

if TYPE_CHECKING:
    import duckdb

_MENTION = re.compile(r"(.+)#(\d{1,9})", re.DOTALL)
_LINE = re.compile(r"(.+):(\d{1,15})")
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
    """The current mention ids; None for a mention that is not in the files."""
    old_ids = dict.fromkeys(mention_ids)
    parsed = {old: (named[1], int(named[2])) for old in old_ids if (named := _MENTION.fullmatch(old))}
    found = _find(connection, {document for document, _ in parsed.values()}, files)
    new_ids = _current_ids(connection, {record.document for record in found.values()})
    moved = {sequence for record in found.values() if record.sequence != record.document for sequence in record}
    authors = _authors(connection, moved)
    translated: dict[str, str | None] = dict.fromkeys(old_ids)
    for old, (document, position) in parsed.items():
        record = found.get(document)
        place = _current_position(record, position, authors) if record else None
        if record and place is not None:
            translated[old] = f"{new_ids[record.document]}#{place}"
    return translated


def _current_position(record: _Found, position: int, authors: dict[int, list[Author]]) -> int | None:
    """The position of an author of a record in the document that it was merged into."""
    if record.document == record.sequence:
        return position
    then, now = authors[record.sequence], authors[record.document]
    places = dict(zip([author.position for author in then], author_places(then, now), strict=True))
    place = places.get(position)
    return now[place.number].position if place else None


def _find(
    connection: duckdb.DuckDBPyConnection, documents: Iterable[str], files: Sequence[FileRange]
) -> dict[str, _Found]:
    """The records that had these ids."""
    lines = [
        {"wanted": document, "line": int(named[2]), "first": file.first, "last": file.following - 1}
        for document in documents if (named := _LINE.fullmatch(document))
        for file in files if file.name == named[1]
    ]  # fmt: skip
    numbered = {document: named for document in documents if (named := _NUMBERED.fullmatch(document))}
    ids = [{"wanted": name} for name in {*documents, *(named[1] for named in numbered.values())}]
    by_line = _records(
        connection, lines, _LINES, "NOT r.id_is_key AND r.line = w.line AND r.sequence BETWEEN w.first AND w.last"
    )
    by_id = _records(connection, ids, _IDS, "r.id = w.wanted")
    found = {}
    for document in documents:
        records, place = by_line.get(document) or by_id.get(document) or [], 1
        if not records and (named := numbered.get(document)):
            records, place = by_id.get(named[1], []), int(named[2])
            if place == 1:  # the first of them had no number
                continue
        if 1 <= place <= len(records):
            found[document] = records[place - 1]
    return found


_IDS = pa.schema([("wanted", pa.string())])
_LINES = pa.schema([("wanted", pa.string()), ("line", pa.int64()), ("first", pa.int64()), ("last", pa.int64())])
_SEQUENCES = pa.schema([("sequence", pa.int64())])


def _records(
    connection: duckdb.DuckDBPyConnection, wanted: list[dict[str, object]], schema: pa.Schema, condition: str
) -> dict[str, list[_Found]]:
    """For each id the first record of each document whose records meet a condition, in the order of the numbers."""
    rows = _joined(
        connection, wanted, schema,
        f"""SELECT w.wanted, min(r.sequence) AS sequence, coalesce(d.merged, r.sequence) AS document
            FROM wanted w JOIN records r ON {condition} LEFT JOIN duplicates d ON d.sequence = r.sequence
            WHERE r.sequence NOT IN (SELECT merged FROM duplicates)
            GROUP BY w.wanted, document ORDER BY max(r.id_is_key) DESC, sequence""",
    )  # fmt: skip
    found: defaultdict[str, list[_Found]] = defaultdict(list)
    for name, sequence, document in rows:
        found[name].append(_Found(sequence, document))
    return found


def _current_ids(connection: duckdb.DuckDBPyConnection, sequences: Iterable[int]) -> dict[int, str]:
    query = """SELECT r.sequence, coalesce(m.id, r.id) FROM wanted w JOIN records r ON r.sequence = w.sequence
               LEFT JOIN renamed m ON m.sequence = r.sequence"""
    return dict(_joined(connection, [{"sequence": sequence} for sequence in sequences], _SEQUENCES, query))


def _authors(connection: duckdb.DuckDBPyConnection, sequences: Iterable[int]) -> dict[int, list[Author]]:
    query = "SELECT d.sequence, d.text FROM wanted w JOIN documents d ON d.sequence = w.sequence"
    rows = _joined(connection, [{"sequence": sequence} for sequence in sequences], _SEQUENCES, query)
    return {sequence: parse_document(text)[0].authors for sequence, text in rows}


def _joined(
    connection: duckdb.DuckDBPyConnection, wanted: list[dict[str, Any]], schema: pa.Schema, query: str
) -> list[Any]:
    """The result of a query with the table `wanted`."""
    connection.register("wanted", pa.Table.from_pylist(wanted, schema=schema))
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.unregister("wanted")
