"""Homonym's own documents, JSON lines, to columns without parsing each line in Python: several times as fast.

Arrow parses a whole chunk at once. It accepts less than `records.formats.documents`, and cannot say which line is
wrong. So a chunk with anything unusual (an identifier that is a number, a name that cannot be used, a damaged line …)
is refused as a whole, and the caller parses it record by record.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from homonym.features.blocking import author_names
from homonym.features.columns import AuthorColumns, DocumentColumns, Identifiers, RecordColumns, TextLists
from homonym.features.text import Integers
from homonym.records.fields import identifiers
from homonym.records.model import FIRST_YEAR, LAST_YEAR
from homonym.records.parsing.splitting import Raw

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
    _require(all(line[:1] == b"{" and line[-1:] == b"}" for line in lines) and not any(raw.broken for raw in raws))
    text = b"\n".join(lines)
    table = pyarrow.json.read_json(
        pa.BufferReader(text),
        read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
        parse_options=pyarrow.json.ParseOptions(explicit_schema=_DOCUMENT, unexpected_field_behavior="infer"),
    )
    table.validate(full=True)
    _require(len(table) == len(raws) and "mention_id" not in table.column_names)
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
    )


def _authors(author: pa.Array, number: Integers, blocking: str) -> AuthorColumns:
    """The authors of all documents, of which each has a number of them."""
    _require(author.null_count == 0)
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
