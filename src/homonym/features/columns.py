"""Documents as columns: the form from which features are extracted, whatever format the records came in.

A text is stored once and referred to by its code, so each distinct affiliation, keyword or name is normalised once.
`columns_of` makes the columns from parsed documents. `columns_of_lines` makes them directly from JSON lines of
homonym's own format, several times as fast: Arrow parses a whole chunk at once. It accepts less than
`records.formats.documents`, and cannot say which line is wrong. So a chunk with anything unusual (an identifier that is
a number, a name that cannot be used, a damaged line, …) is refused, and the caller parses it record by record.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from homonym.features.blocking import AuthorNames, author_names
from homonym.features.text import Integers
from homonym.io.table_text import is_too_deep
from homonym.records.fields import identifiers
from homonym.records.fields.contributors import SUSPICIOUS, group_and_person
from homonym.records.fields.key_names import AUTHOR_KEYS, DOCUMENT_KEYS
from homonym.records.model import FIRST_YEAR, LAST_YEAR, Author, Document
from homonym.records.parsing.splitting import Raw


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
    names: Sequence[Sequence[str]]
    """The names of the authors of each document, as they are written."""


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
        names=[[author.name for author in document.authors] for document in documents],
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
    """For concatenated lists, the row that each entry came from."""
    return np.repeat(np.arange(len(lists)), np.fromiter(map(len, lists), np.int64, len(lists)))


_TEXTS = pa.list_(pa.string())
_AUTHOR = pa.struct(
    [("name", pa.string()), ("affiliations", _TEXTS), ("emails", _TEXTS), ("author", pa.string()),
     ("block", pa.string())]
)  # fmt: skip
# Without `ids`, of which there may be any kind: Arrow infers the kinds from the chunk.
_DOCUMENT = pa.schema(
    [("id", pa.string()), ("title", pa.string()), ("abstract", pa.string()), ("year", pa.int64()),
     ("venue", pa.string()), ("categories", _TEXTS), ("keywords", _TEXTS), ("references", _TEXTS),
     ("referenced_authors", _TEXTS), ("other_authors", _TEXTS), ("authors", pa.list_(_AUTHOR))]
)  # fmt: skip

# Arrow's reader takes these for numbers; they are not JSON.
_NOT_JSON = re.compile(rb"[:,\[]\s*-?(?:NaN|Inf)")


class UnusualError(Exception):
    """The chunk must be parsed record by record."""


def columns_of_lines(raws: list[Raw], sequence: int, blocking: str) -> DocumentColumns | None:
    """The columns of a chunk of lines, of which the first has this sequence; None if anything in it is unusual."""
    try:
        return _columns(_parse(raws), np.array([raw.number for raw in raws], np.int64), sequence, blocking)
    except (UnusualError, pa.ArrowException, UnicodeDecodeError):
        return None


def _require(usual: bool) -> None:
    if not usual:
        raise UnusualError


def _parse(raws: list[Raw]) -> pa.Table:
    lines = [raw.text.strip() for raw in raws]
    # Each line has at least one object, so as many rows as lines means one document on each line.
    _require(not any(map(is_too_deep, lines)))  # on which Arrow crashes
    _require(all(line[:1] == b"{" and line[-1:] == b"}" for line in lines) and not any(raw.broken for raw in raws))
    text = b"\n".join(lines)
    table = pyarrow.json.read_json(
        pa.BufferReader(text),
        read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
        parse_options=pyarrow.json.ParseOptions(explicit_schema=_DOCUMENT, unexpected_field_behavior="infer"),
    )
    table.validate(full=True)
    _require(len(table) == len(raws) and "mention_id" not in table.column_names)
    author_keys = [field.name for field in table.schema.field("authors").type.value_type]
    _require(not DOCUMENT_KEYS.has_others(table.column_names) and not AUTHOR_KEYS.has_others(author_keys))
    _require(not any(_has_floats(field.type) for field in table.schema) or not _NOT_JSON.search(text))
    return table.combine_chunks()


def _columns(table: pa.Table, line: Integers, sequence: int, blocking: str) -> DocumentColumns:
    column = {name: _one_chunk(table[name]) for name in table.column_names}
    row, cited = _flattened(column["references"])
    _require(column["authors"].null_count == 0)
    authors = np.diff(column["authors"].offsets.to_numpy()).astype(np.int64)
    venue = column["venue"].fill_null("").dictionary_encode()
    return DocumentColumns(
        records=_records(column, line, sequence, authors),
        abstract=column["abstract"].fill_null("").to_pylist(),
        venue=TextLists(np.arange(len(table)), venue.indices.to_numpy().astype(np.int64), venue.dictionary.to_pylist()),
        categories=_lists(column["categories"]),
        keywords=_lists(column["keywords"]),
        referenced_authors=_lists(column["referenced_authors"]),
        other_authors=_lists(column["other_authors"]),
        references=(row, cited),
        authors=_authors(column["authors"].flatten(), authors, blocking),
    )


def _records(column: dict[str, pa.Array], line: Integers, sequence: int, authors: Integers) -> RecordColumns:
    document_id, year = column["id"], column["year"]
    _require(document_id.null_count == 0 and not pc.any(pc.equal(document_id, "")).as_py())
    in_range = pc.and_(pc.greater_equal(year, FIRST_YEAR), pc.less_equal(year, LAST_YEAR))
    _require(pc.all(in_range, min_count=0).as_py())
    return RecordColumns(
        sequence=np.arange(sequence, sequence + len(line), dtype=np.int64),
        line=line,
        id=document_id,
        id_is_key=pa.repeat(pa.scalar(True), len(line)),
        ids=_identifiers(column.get("ids")),
        title=column["title"].fill_null("").to_pylist(),
        year=year.cast(pa.int32()),
        authors=authors,
        names=pa.ListArray.from_arrays(column["authors"].offsets, column["authors"].values.field("name")).to_pylist(),
    )


def _authors(author: pa.Array, number: Integers, blocking: str) -> AuthorColumns:
    """The authors of all documents, of which each has a number of them."""
    _require(author.null_count == 0 and not _has_contributors(author.field("name")))
    names = author_names(author.field("name"), author.field("block"), blocking)
    if names is None:
        raise UnusualError
    document = np.repeat(np.arange(len(number)), number)
    has_ids = "ids" in [field.name for field in author.type]
    return AuthorColumns(
        document=document,
        position=np.arange(len(document)) - (np.cumsum(number) - number)[document],
        names=names,
        label=_or_null(author.field("author")),
        affiliations=_lists(author.field("affiliations")),
        emails=_lists(author.field("emails")),
        ids=_identifiers(author.field("ids") if has_ids else None),
    )


def _has_contributors(names: pa.Array) -> bool:
    """Whether any name is not only that of a person; a quick check leaves few names to look at."""
    distinct = pc.unique(names).drop_null()
    suspicious = distinct.filter(pc.match_substring_regex(distinct, SUSPICIOUS))
    return any(group_and_person(name)[0] for name in suspicious.to_pylist())


def _identifiers(ids: pa.Array | None) -> Identifiers:
    rows: list[Integers] = [np.zeros(0, np.int64)]
    kinds: list[str] = []
    values: list[str] = []
    if ids is None or pa.types.is_null(ids.type):
        return Identifiers(rows[0], kinds, values)
    _require(pa.types.is_struct(ids.type))
    for field, column in zip(ids.type, ids.flatten(), strict=True):
        if pa.types.is_null(field.type):
            continue
        _require(pa.types.is_string(field.type))
        column = _or_null(column)
        valid = [identifiers.normalise(field.name, text) for text in column.drop_null().to_pylist()]
        _require(None not in valid)
        rows.append(np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False)))
        kinds += [field.name] * len(valid)
        values += [str(text) for text in valid]
    return Identifiers(np.concatenate(rows), kinds, values)


def _lists(lists: pa.Array) -> TextLists:
    row, entries = _flattened(lists)
    coded = entries.dictionary_encode()
    return TextLists(row, coded.indices.to_numpy().astype(np.int64), coded.dictionary.to_pylist())


def _flattened(lists: pa.Array) -> tuple[Integers, pa.Array]:
    """The row of each entry, and the entries."""
    entries = pc.list_flatten(lists)
    _require(entries.null_count == 0)
    return pc.list_parent_indices(lists).to_numpy().astype(np.int64), entries


def _has_floats(kind: pa.DataType) -> bool:
    return pa.types.is_floating(kind) or any(_has_floats(kind.field(i).type) for i in range(kind.num_fields))


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _or_null(texts: pa.Array) -> pa.Array:
    """The texts, with null for the empty ones."""
    return pc.if_else(pc.equal(texts, ""), None, texts)
