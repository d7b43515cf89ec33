"""Reads a result directory for export: authors with their labels, and documents with the authors of their mentions.

Documents are read in batches, because they have most of the bytes. The names of the authors and three numbers per
mention are kept in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.errors import InputError, counted
from homonym.exports.labels import unique_labels
from homonym.io.result_directory import AUTHORS, DOCUMENTS, MENTIONS, require_result
from homonym.io.tables import reading_result_file
from homonym.records.formats.documents import parse_document
from homonym.records.model import Author, BrokenRecordError, Document
from homonym.schema import AUTHOR_SUMMARIES
from homonym.schema import AUTHORS as MENTION_ROWS
from homonym.schema import DOCUMENTS as DOCUMENT_ROWS

# Documents that are read at a time.
BATCH_DOCUMENTS = 1 << 11


class Person(NamedTuple):
    """An author of a result: the number among all authors, the id and the label."""

    number: int
    author_id: str
    label: str


class ExportedMention(NamedTuple):
    """One author of a document: the entry of the record, the author of the result, and the confidence in it."""

    entry: Author
    person: Person
    confidence: float | None = None


@dataclass(frozen=True)
class ExportedDocument:
    """A document with those of its authors that are mentions of the result."""

    document: Document
    mentions: list[ExportedMention]


class KnownDocument(NamedTuple):
    """A document of a result by which a record is recognised: id, title, and position and name of each author."""

    document_id: str
    title: str
    names: list[tuple[int, str]]


@dataclass
class ResultTables:
    """The tables of a result; `warnings` lists what could not be exported."""

    folder: Path
    warnings: list[str] = field(default_factory=list)

    @cached_property
    def authors(self) -> pa.Table:
        """Id, name and number of mentions of each author, ordered by id."""
        return self._read(AUTHORS, ["author_id", "name", "mentions"])

    @cached_property
    def author_ids(self) -> list[str]:
        """The id of each author."""
        ids: list[str] = self.authors["author_id"].to_pylist()
        return ids

    @cached_property
    def names(self) -> list[str]:
        """The best form of the name of each author; the id where there is none."""
        pairs = zip(self.authors["name"].to_pylist(), self.author_ids, strict=True)
        return [name or author_id.rpartition("/")[0] or author_id for name, author_id in pairs]

    @cached_property
    def labels(self) -> list[str]:
        """The label of each author, which no other author has."""
        return unique_labels(self.names, self.authors["mentions"].to_pylist(), self.author_ids)

    @cached_property
    def mentions(self) -> pa.Table:
        """Document, position, number of the author and confidence of each mention, by document and position."""
        table = self._read(MENTIONS, ["document_id", "position", "author_id", "confidence"])
        number = pc.index_in(table["author_id"], self.authors["author_id"].combine_chunks())
        if number.null_count:
            missing = table["author_id"].filter(number.is_null())[0].as_py()
            raise InputError(
                f"{self.folder}: {MENTIONS} has the author {missing}, who is not in {AUTHORS}; the files are of "
                "different runs. Run homonym disambiguate again."
            )
        table = table.set_column(2, "author", number)
        return table.sort_by([("document_id", "ascending"), ("position", "ascending")])

    def author_rows(self) -> Iterator[dict[str, Any]]:
        """The complete rows of authors.parquet."""
        for batch in self._batches(AUTHORS, AUTHOR_SUMMARIES.names, BATCH_DOCUMENTS):
            yield from batch.to_pylist()

    def mention_rows(self, columns: list[str]) -> Iterator[dict[str, Any]]:
        """Rows of mentions.parquet."""
        for batch in self._batches(MENTIONS, columns, 1 << 15):
            yield from batch.to_pylist()

    def documents(self) -> Iterator[ExportedDocument]:
        """The documents, in the order of their table, with their mentions. Fails at the end if mentions are left."""
        found, left = self._mentions_by_document, len(self.mentions)
        for batch in self._batches(DOCUMENTS, ["document_id", "record"], BATCH_DOCUMENTS):
            for row in batch.to_pylist():
                document = self._document(row["document_id"], row["record"], found)
                left -= len(document.mentions)
                yield document
        if left:
            raise InputError(
                f"{self.folder}: {counted(left, 'mention')} of {MENTIONS} not in {DOCUMENTS}; the files are of "
                "different runs. Run homonym disambiguate again, or homonym update --mode rebuild if they are of an "
                "earlier version."
            )

    def warn_of_documents_without_authors(self) -> None:
        """Add a warning if there are documents that a file of mentions cannot have."""
        with reading_result_file(self.folder / DOCUMENTS) as plain, pq.ParquetFile(plain) as file:
            missing = file.metadata.num_rows - len(pc.unique(self.mentions["document_id"]))
        if missing > 0:
            self.warnings.append(f"{counted(missing, 'document')} without an author left out: a row is one author.")

    def _document(self, document_id: str, record: str, found: MentionsByDocument) -> ExportedDocument:
        try:
            document = parse_document(record.encode())[0]
        except BrokenRecordError as broken:
            raise InputError(
                f"{self.folder / DOCUMENTS}: the record of {document_id} cannot be read ({broken}); "
                "run homonym disambiguate again."
            ) from None
        people, confidences = found.of(document_id), found.confidences(document_id)
        mentions = [
            ExportedMention(entry, self.person(people[entry.position]), confidences[entry.position])
            for entry in document.authors
            if entry.position in people
        ]
        return ExportedDocument(document, mentions)

    def documents_of_records(self, record_ids: set[str]) -> dict[str, list[KnownDocument]]:
        """The documents that were made from records with these ids, by record id."""
        found: dict[str, list[KnownDocument]] = {}
        columns = ["document_id", "title", "authors", "record_ids"]
        for batch in self._batches(DOCUMENTS, columns, BATCH_DOCUMENTS):
            for row in batch.to_pylist():
                for record_id in record_ids.intersection(row["record_ids"] or ()):
                    names = [(author["position"], author["name"]) for author in row["authors"] or ()]
                    known = KnownDocument(row["document_id"], row["title"] or "", names)
                    found.setdefault(record_id, []).append(known)
        return found

    def authors_of(self, document_id: str) -> dict[int, int]:
        """The number of the author of each mention of a document, by position."""
        return self._mentions_by_document.of(document_id)

    def person(self, number: int) -> Person:
        """The author with a number."""
        return Person(number, self.author_ids[number], self.labels[number])

    @cached_property
    def _mentions_by_document(self) -> MentionsByDocument:
        return MentionsByDocument(self.mentions)

    def _read(self, name: str, columns: list[str]) -> pa.Table:
        return pa.Table.from_batches(list(self._batches(name, columns, 1 << 16)), schema=_layout(name, columns))

    def _batches(self, name: str, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        path, layout = self.folder / name, _layout(name, columns)
        with reading_result_file(path) as plain, pq.ParquetFile(plain) as file:
            if not set(columns) <= set(file.schema_arrow.names):
                raise InputError(f"{path} lacks columns of a result; run homonym disambiguate again.")
            for batch in file.iter_batches(rows, columns=columns, use_threads=False):
                yield pa.RecordBatch.from_arrays([batch[column] for column in columns], columns).cast(layout)


def _layout(name: str, columns: list[str]) -> pa.Schema:
    schema = {AUTHORS: AUTHOR_SUMMARIES, MENTIONS: MENTION_ROWS, DOCUMENTS: DOCUMENT_ROWS}[name]
    return pa.schema([schema.field(column) for column in columns])


class MentionsByDocument:
    """The numbers of the authors of each document, and the confidence in them, by position."""

    def __init__(self, mentions: pa.Table) -> None:
        ids, ends = [], [0]
        if len(mentions):
            runs = pc.run_end_encode(mentions["document_id"].combine_chunks())
            ids, ends = runs.values.to_pylist(), [0, *runs.run_ends.to_pylist()]
        self._ranges = dict(zip(ids, pairwise(ends), strict=True))
        self._position = mentions["position"].fill_null(-1).to_numpy()
        self._author = mentions["author"].to_numpy().astype(np.int64)
        self._confidence = mentions["confidence"].fill_null(np.nan).to_numpy()

    def of(self, document_id: str) -> dict[int, int]:
        """The number of the author by position; empty for a document without mentions."""
        mentions = self._mentions(document_id)
        return dict(zip(self._position[mentions].tolist(), self._author[mentions].tolist(), strict=True))

    def confidences(self, document_id: str) -> dict[int, float | None]:
        """The confidence by position; None where it is unknown."""
        mentions = self._mentions(document_id)
        values = (None if value != value else value for value in self._confidence[mentions].tolist())  # NaN
        return dict(zip(self._position[mentions].tolist(), values, strict=True))

    def _mentions(self, document_id: str) -> slice:
        return slice(*self._ranges.get(document_id, (0, 0)))


def open_result(path: str | Path) -> ResultTables:
    """The tables of a result directory; fails if it is none, or has no documents."""
    return ResultTables(require_result(path, MENTIONS, AUTHORS, DOCUMENTS))


def as_json(value: Any) -> bytes:
    """A value as JSON that is also safe inside of HTML."""
    return orjson.dumps(value).replace(b"<", b"\\u003c")
