"""Documents as columns: the form from which features are extracted, whatever format the records came in.

A text is stored once and referred to by its code, so each distinct affiliation, keyword or name is normalised once.
`columns_of` makes the columns from parsed documents, json_columns.py directly from homonym's own JSON lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from homonym.features.blocking import AuthorNames, author_names
from homonym.features.text import Integers
from homonym.records.model import Author, Document


class TextLists(NamedTuple):
    """A column of lists of texts: entry i is `texts[code[i]]` in the list of row `row[i]`."""

    row: Integers
    code: Integers
    texts: list[str]

    @classmethod
    def of(cls, lists: Sequence[Sequence[str]]) -> TextLists:
        """The column that has these lists as its rows.

        >>> TextLists.of([["a", "b"], [], ["a"]]).texts
        ['a', 'b']
        """
        entries = list(chain.from_iterable(lists))
        codes = {text: code for code, text in enumerate(dict.fromkeys(entries))}
        code = np.fromiter(map(codes.__getitem__, entries), np.int64, len(entries))
        return cls(_rows_of(lists), code, list(codes))

    def in_rows(self, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> TextLists:
        """Only the lists of the rows that are marked; the others are empty."""
        kept = chosen[self.row]
        return TextLists(self.row[kept], self.code[kept], self.texts)


class Identifiers(NamedTuple):
    """Identifiers of documents or authors: `value[i]` of the kind `kind[i]` belongs to row `row[i]`."""

    row: Integers
    kind: Sequence[str]
    value: Sequence[str]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, str]]) -> Identifiers:
        """The identifiers of each row, by kind."""
        kinds = [kind for ids in rows for kind in ids]
        return cls(_rows_of(rows), kinds, [value for ids in rows for value in ids.values()])


@dataclass(frozen=True, eq=False)
class RecordColumns:
    """What identifies each record: its place in the whole input (`sequence`) and in its file (`line`), and its ids."""

    sequence: Integers
    line: Integers
    id: pa.Array
    id_is_key: pa.Array
    ids: Identifiers
    title: Sequence[str]
    year: pa.Array
    authors: Integers
    """The number of authors of each document."""


@dataclass(frozen=True, eq=False)
class AuthorColumns:
    """All authors of all documents in order; `document` is the row of an author's document."""

    document: Integers
    position: Integers
    names: AuthorNames
    label: pa.Array
    affiliations: TextLists
    emails: TextLists
    ids: Identifiers


@dataclass(frozen=True, eq=False)
class DocumentColumns:
    """Documents, field by field. Every author has a usable name."""

    records: RecordColumns
    abstract: Sequence[str]
    venue: TextLists
    categories: TextLists
    keywords: TextLists
    referenced_authors: TextLists
    other_authors: TextLists
    references: tuple[Integers, pa.Array]
    """Row of the citing document, and id of the cited one."""
    authors: AuthorColumns


class PlacedDocument(NamedTuple):
    """A document with its place in the whole input and in its file."""

    sequence: int
    line: int
    document: Document


def columns_of(placed: Sequence[PlacedDocument], blocking: str) -> DocumentColumns:
    """The columns of parsed documents, whose authors must all have usable names."""
    documents = [document for _, _, document in placed]
    references = [document.references for document in documents]
    return DocumentColumns(
        records=record_columns(placed),
        abstract=[document.abstract for document in documents],
        venue=TextLists.of([[document.venue] for document in documents]),
        categories=TextLists.of([document.categories for document in documents]),
        keywords=TextLists.of([document.keywords for document in documents]),
        referenced_authors=TextLists.of([document.referenced_authors for document in documents]),
        other_authors=TextLists.of([document.other_authors for document in documents]),
        references=(_rows_of(references), pa.array([one for some in references for one in some], pa.string())),
        authors=_author_columns([document.authors for document in documents], blocking),
    )


def record_columns(placed: Sequence[PlacedDocument]) -> RecordColumns:
    """What identifies each of these documents."""
    sequences, lines, documents = zip(*placed, strict=True) if placed else ((), (), ())
    return RecordColumns(
        sequence=np.array(sequences, np.int64),
        line=np.array(lines, np.int64),
        id=pa.array([document.id for document in documents], pa.string()),
        id_is_key=pa.array([document.id_is_key for document in documents], pa.bool_()),
        ids=Identifiers.of([document.ids for document in documents]),
        title=[document.title for document in documents],
        year=pa.array([document.year for document in documents], pa.int32()),
        authors=np.array([len(document.authors) for document in documents], np.int64),
    )


def _author_columns(lists: Sequence[Sequence[Author]], blocking: str) -> AuthorColumns:
    authors = [author for some in lists for author in some]
    names = author_names(
        pa.array([author.name for author in authors], pa.string()),
        pa.array([author.block for author in authors], pa.string()),
        blocking,
    )
    assert names is not None, "authors without a usable name must be removed first"
    return AuthorColumns(
        document=_rows_of(lists),
        position=np.array([author.position for author in authors], np.int64),
        names=names,
        label=pa.array([author.label for author in authors], pa.string()),
        affiliations=TextLists.of([author.affiliations for author in authors]),
        emails=TextLists.of([author.emails for author in authors]),
        ids=Identifiers.of([author.ids for author in authors]),
    )


def _rows_of(lists: Sequence[Sequence[object] | Mapping[str, str]]) -> Integers:
    """The row of each entry of lists that are put together."""
    return np.repeat(np.arange(len(lists)), np.fromiter(map(len, lists), np.int64, len(lists)))
