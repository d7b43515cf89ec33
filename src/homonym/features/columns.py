"""Documents as columns: the form from which features are extracted, whatever format the records came in.

A text is stored once and referred to by its code, so each distinct affiliation, keyword or name is normalised once.
`columns_of` makes the columns from parsed documents. `columns_of_lines` makes them directly from JSON lines of
homonym's own format, several times as fast: Arrow parses a whole chunk at once. It accepts less than
`records.formats.documents`, and mostly cannot say which line is wrong. So a chunk with anything unusual (an identifier
that is a number, a damaged line, …) is refused, and the caller parses it record by record. Only documents with authors
that are no people are handled separately, because few documents have them: the caller parses these alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
from numpy.typing import NDArray

from homonym.features.blocking import AuthorNames, author_names
from homonym.features.text import Integers
from homonym.io.table_text import is_too_deep
from homonym.records.fields import identifiers
from homonym.records.fields.contributors import SUSPICIOUS, is_plain
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

    @classmethod
    def concatenated(cls, parts: Sequence[TextLists], first: Integers) -> TextLists:
        """The rows of all parts, each numbered from its first row on."""
        codes: dict[str, int] = {}
        recoded = [np.array([codes.setdefault(text, len(codes)) for text in part.texts], np.int64) for part in parts]
        code = np.concatenate([number[part.code] for number, part in zip(recoded, parts, strict=True)])
        return cls(_concatenated_rows([part.row for part in parts], first), code, list(codes))

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

    @classmethod
    def concatenated(cls, parts: Sequence[Identifiers], first: Integers) -> Identifiers:
        """The rows of all parts, each numbered from its first row on."""
        row = _concatenated_rows([part.row for part in parts], first)
        return cls(row, [kind for part in parts for kind in part.kind], [one for part in parts for one in part.value])


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


def concatenate_columns(parts: Sequence[DocumentColumns]) -> DocumentColumns:
    """The documents of all parts, one after another."""
    records = [part.records for part in parts]
    rows = np.cumsum([0, *(len(part.sequence) for part in records)])
    authors = np.cumsum([0, *(len(part.authors.document) for part in parts)])
    cited = [part.references for part in parts]
    return DocumentColumns(
        records=RecordColumns(
            sequence=np.concatenate([part.sequence for part in records]),
            line=np.concatenate([part.line for part in records]),
            id=pa.concat_arrays([part.id for part in records]),
            id_is_key=pa.concat_arrays([part.id_is_key for part in records]),
            ids=Identifiers.concatenated([part.ids for part in records], rows),
            title=[title for part in records for title in part.title],
            year=pa.concat_arrays([part.year for part in records]),
            authors=np.concatenate([part.authors for part in records]),
        ),
        abstract=[abstract for part in parts for abstract in part.abstract],
        venue=TextLists.concatenated([part.venue for part in parts], rows),
        categories=TextLists.concatenated([part.categories for part in parts], rows),
        keywords=TextLists.concatenated([part.keywords for part in parts], rows),
        referenced_authors=TextLists.concatenated([part.referenced_authors for part in parts], rows),
        other_authors=TextLists.concatenated([part.other_authors for part in parts], rows),
        references=(_concatenated_rows([row for row, _ in cited], rows), pa.concat_arrays([ids for _, ids in cited])),
        authors=_concatenate_authors([part.authors for part in parts], rows, authors),
    )


def _concatenate_authors(parts: Sequence[AuthorColumns], documents: Integers, authors: Integers) -> AuthorColumns:
    """The authors of all parts, given the first document and the first author of each part."""
    names = zip(*(part.names for part in parts), strict=True)
    return AuthorColumns(
        document=_concatenated_rows([part.document for part in parts], documents),
        position=np.concatenate([part.position for part in parts]),
        names=AuthorNames(*(pa.concat_arrays(column) for column in names)),
        label=pa.concat_arrays([part.label for part in parts]),
        affiliations=TextLists.concatenated([part.affiliations for part in parts], authors),
        emails=TextLists.concatenated([part.emails for part in parts], authors),
        ids=Identifiers.concatenated([part.ids for part in parts], authors),
    )


def _concatenated_rows(rows: Sequence[Integers], first: Integers) -> Integers:
    """The rows of all parts, each numbered from its first row on."""
    return np.concatenate([row + begin for row, begin in zip(rows, first.tolist(), strict=False)])


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
        pa.array([author.name for author in authors], pa.string()).dictionary_encode(),
        pa.array([author.block for author in authors], pa.string()),
        blocking,
    )
    assert not names.key.null_count, "authors without a usable name must be removed first"
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


# At least this many lines for each document that is parsed alone: each one also cuts the chunk in two.
LINES_PER_EXCEPTION = 50


def columns_of_lines(
    raws: list[Raw], sequence: int, blocking: str, parse: Callable[[int], DocumentColumns] | None = None
) -> DocumentColumns | None:
    """The columns of a chunk of lines without markup, of which the first has this sequence; None if any is unusual.

    If `parse` is given, a few documents with authors that are no people, or that have no usable name, are not unusual:
    `parse` returns the columns of a line.
    """
    try:
        table = _parse(raws)
        names, exceptions = _names_and_exceptions(table, blocking)
        _require(not exceptions or (parse is not None and len(exceptions) * LINES_PER_EXCEPTION <= len(raws)))
        lines, first, parts = np.array([raw.number for raw in raws], np.int64), 0, []
        author = _one_chunk(table["authors"]).offsets.to_numpy()
        for row in [*exceptions, len(raws)]:
            if first < row or not len(raws):
                part = table.slice(first, row - first).combine_chunks()
                own = names.slice(author[first] - author[0], author[row] - author[first])
                parts.append(_columns(part, lines[first:row], sequence + first, own))
            if parse and row < len(raws):
                parts.append(parse(row))
            first = row + 1
    except (UnusualError, pa.ArrowException, UnicodeDecodeError):
        return None
    return parts[0] if len(parts) == 1 else concatenate_columns(parts)


def _names_and_exceptions(table: pa.Table, blocking: str) -> tuple[AuthorNames, list[int]]:
    """The names of all authors, and the rows of documents with authors that are no people or have no usable name."""
    authors = _one_chunk(table["authors"])
    author = authors.flatten()
    _require(authors.null_count == 0 and author.null_count == 0)
    coded = author.field("name").dictionary_encode()
    _require(coded.null_count == 0)
    names = author_names(coded, author.field("block"), blocking)
    is_wrong = np.asarray(names.key.is_null()) | are_changed(coded.dictionary)[coded.indices.to_numpy()]
    return names, rows_with(authors, is_wrong)


def are_changed(names: pa.Array) -> NDArray[np.bool_]:
    """Which names `set_apart_contributors` changes, because they are not just those of people.

    A quick check leaves few names to look at.
    """
    changed: NDArray[np.bool_] = pc.match_substring_regex(names, SUSPICIOUS).to_numpy(zero_copy_only=False).copy()
    for place in np.flatnonzero(changed).tolist():
        changed[place] = not is_plain(names[place].as_py())
    return changed


def rows_with(lists: pa.ListArray, is_wanted: NDArray[np.bool_]) -> list[int]:
    """The rows of a column of lists, none of which is null, that have a wanted entry."""
    ends = lists.offsets.to_numpy()[1:] - lists.offsets[0].as_py()
    rows: list[int] = np.unique(np.searchsorted(ends, np.flatnonzero(is_wanted), side="right")).tolist()
    return rows


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


def _columns(table: pa.Table, line: Integers, sequence: int, names: AuthorNames) -> DocumentColumns:
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
        authors=_authors(column["authors"].flatten(), authors, names),
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
    )


def _authors(author: pa.Array, number: Integers, names: AuthorNames) -> AuthorColumns:
    """The authors of all documents, of which each has a number of them."""
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
