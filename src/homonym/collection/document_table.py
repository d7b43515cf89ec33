"""The documents of a result directory: each document once, with the ids of the result, ordered by id.

The queries are SQL that DuckDB and Spark both understand, as in duplicates.py. They give rows of schema CHOSEN, which
`document_rows` makes rows of schema.DOCUMENTS of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
import pyarrow.parquet as pq

from homonym.clustering.arrays import Integers, ranges, starts
from homonym.collection.duplicates import Database
from homonym.features.columns import UnusualError, are_changed, rows_with
from homonym.io.tables import reading_result_file, write_table
from homonym.records.formats.documents import parse_document
from homonym.runtime.thread_pool import map_in_order
from homonym.schema import DOCUMENTS

CHOSEN = pa.schema(
    [
        pa.field("document_id", pa.string()),
        pa.field("id", pa.string()),
        pa.field("year", pa.int32()),
        pa.field("text", pa.binary()),
        pa.field("keys", pa.list_(pa.string())),
        pa.field("record_ids", pa.list_(pa.string())),
        pa.field("cited", pa.list_(pa.string())),
    ]
)
"""Documents that are in the result: their ids there and in their texts, and the ids of all their records.

`keys` are their identifiers, with the kind before a colon. `cited` are the references whose ids are others in the
result: the old id, then the new one, and so on.
"""

REFERENCES = pa.schema([("document_id", pa.string()), ("references", pa.list_(pa.string()))])
"""The ids that documents refer to."""

ROWS = pa.schema([*DOCUMENTS, REFERENCES.field("references")])
"""Rows of the table of documents, with their references."""

# Rows in a row group of the table: few, because readers mostly look up some documents, and records are long.
# To read 148 of 250,579 documents takes 0.14 CPU seconds, with groups of 1,024 rows 0.36; the file is 8 % larger.
ROW_GROUP = 1 << 8


class Dialect(Database, Protocol):
    """A database with its own words for lists."""

    @property
    def sorted_list(self) -> str:
        """The SQL for the distinct values of `{}` of a group as a sorted list."""

    @property
    def flat_pairs(self) -> str:
        """The SQL for all values of `{0}` and `{1}` of a group as one list, each pair in order, pairs sorted."""


def choose_documents(database: Dialect) -> str:
    """The query for the documents of the result, in the columns of CHOSEN.

    Needs the tables `records`, `documents`, `keys`, `duplicates`, `renamed` and `document_references`, which has
    sequence and id.
    """
    p = database.prefix
    name_changed_documents(database)
    names = database.sorted_list.format("c.id")
    database.save(
        "several_ids",
        f"""SELECT d.merged AS sequence, {names} AS ids FROM {p}duplicates d
            JOIN {p}records c ON c.sequence = d.sequence GROUP BY d.merged""",
    )
    pairs = database.flat_pairs.format("n.id", "n.new_id")
    database.save(
        "new_references",
        f"""SELECT n.sequence, {pairs} AS pairs FROM
              (SELECT DISTINCT c.sequence, c.id, n.new_id FROM {p}document_references c
               JOIN {p}changed_names n ON n.id = c.id) n
            GROUP BY n.sequence""",
    )
    keys = database.sorted_list.format("k.key")
    database.save("sorted_keys", f"SELECT k.sequence, {keys} AS keys FROM {p}keys k GROUP BY k.sequence")
    return f"""SELECT coalesce(m.id, r.id) AS document_id, r.id, r.year, t.text, k.keys, s.ids AS record_ids,
                      n.pairs AS cited
               FROM {p}records r JOIN {p}documents t ON t.sequence = r.sequence
               LEFT JOIN {p}renamed m ON m.sequence = r.sequence
               LEFT JOIN {p}sorted_keys k ON k.sequence = r.sequence
               LEFT JOIN {p}several_ids s ON s.sequence = r.sequence
               LEFT JOIN {p}new_references n ON n.sequence = r.sequence
               WHERE NOT EXISTS (SELECT 1 FROM {p}duplicates d WHERE d.sequence = r.sequence)"""


def name_changed_documents(database: Database) -> None:
    """Make the table `changed_names`: ids by which documents were known in the input, and their ids in the result.

    Needs the tables `records`, `duplicates` and `renamed`.
    """
    p = database.prefix
    database.define(
        "document_names",
        f"""SELECT DISTINCT r.id, coalesce(d.merged, r.sequence) AS sequence
            FROM {p}records r LEFT JOIN {p}duplicates d ON d.sequence = r.sequence""",
    )
    database.define(
        "final_names",
        f"""SELECT n.id, coalesce(m.id, r.id) AS new_id FROM {p}document_names n
            JOIN {p}records r ON r.sequence = n.sequence LEFT JOIN {p}renamed m ON m.sequence = n.sequence""",
    )
    database.save(
        "changed_names",
        f"""SELECT DISTINCT id, new_id FROM {p}final_names
            WHERE id IN (SELECT id FROM {p}final_names WHERE id <> new_id)""",
    )


def new_references(references: list[str], new_ids: dict[str, list[str]]) -> list[str]:
    """References by the new ids. A document that was cited by several ids is cited as often as by one of them.

    >>> new_references(["a", "b", "b", "c"], {"a": ["x"], "b": ["x"]})
    ['x', 'x', 'c']
    """
    times: dict[str, int] = {}
    for old, number in Counter(references).items():
        for new in new_ids.get(old, [old]):
            times[new] = max(times.get(new, 0), number)
    return [new for new, number in times.items() for _ in range(number)]


def document_rows(chosen: pa.Table) -> pa.Table:
    """Documents of the result, of schema CHOSEN, as rows of schema.DOCUMENTS."""
    return rows_with_references(chosen).select(DOCUMENTS.names).cast(DOCUMENTS)


def rows_with_references(chosen: pa.Table) -> pa.Table:
    """The same with a column `references`: the ids that documents refer to in the result."""
    texts = _trimmed(_one_array(chosen["text"].cast(pa.string())))
    fields = _fields(texts)
    fields["references"] = _references(chosen["cited"], fields["references"])
    columns = {
        "document_id": chosen["document_id"],
        "year": chosen["year"],
        "ids": _identifiers(chosen["keys"]),
        "record_ids": _record_ids(chosen),
        "record": _records(chosen, texts),
        **fields,
    }
    return pa.table(columns).select(ROWS.names).cast(ROWS)


def _references(cited: pa.ChunkedArray, references: pa.Array) -> pa.Array:
    """The references of documents with the ids of the result."""
    if cited.null_count == len(cited):
        return references
    rows = references.to_pylist()
    for place in np.flatnonzero(pc.is_valid(cited).to_numpy()).tolist():
        rows[place] = new_references(rows[place], _new_ids(cited[place].as_py()))
    return pa.array(rows, pa.list_(pa.string()))


def _new_ids(pairs: Sequence[str]) -> dict[str, list[str]]:
    """The new ids of documents by their old ones, from pairs in one list."""
    new_ids = dict[str, list[str]]()
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        new_ids.setdefault(old, []).append(new)
    return new_ids


def _identifiers(keys: pa.ChunkedArray) -> pa.Array:
    """The identifiers in the keys of documents, such as "doi:10.1000/1"."""
    number = pc.fill_null(pc.list_value_length(keys), 0).to_numpy()
    parts = pc.split_pattern(_one_array(pc.list_flatten(keys)), ":", max_splits=1)
    kind = DOCUMENTS.field("ids").type.value_type
    entries = pa.StructArray.from_arrays([pc.list_element(parts, place) for place in (0, 1)], fields=list(kind))
    return pa.ListArray.from_arrays(pa.array(starts(number), pa.int32()), entries)


def _record_ids(chosen: pa.Table) -> pa.Array:
    """The ids that the records of documents had: their own, or those of all copies."""
    several, own = chosen["record_ids"], _one_array(chosen["id"])
    if several.null_count == len(several):
        return pa.ListArray.from_arrays(pa.array(np.arange(len(own) + 1), pa.int32()), own)
    rows = zip(several.to_pylist(), own.to_pylist(), strict=True)
    return pa.array([some or [one] for some, one in rows], pa.list_(pa.string()))


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece, without a copy if it is."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _trimmed(texts: pa.Array) -> pa.Array:
    """Texts without white space around them; they are not copied if they have none."""
    if not len(texts):
        return texts
    _, offsets, content = texts.buffers()
    place = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    letters = np.frombuffer(content, np.uint8)
    ends = letters[np.concatenate([place[:-1], place[1:] - 1])]
    return pc.ascii_trim_whitespace(texts) if (ends <= _SPACE).any() else texts


def _records(chosen: pa.Table, texts: pa.Array) -> pa.Array:
    """The texts with the ids of the result."""
    changes = pc.or_(pc.not_equal(chosen["id"], chosen["document_id"]), pc.is_valid(chosen["cited"]))
    places = np.flatnonzero(changes.to_numpy()).tolist()
    if not places:
        return texts
    records = texts.to_pylist()
    for place in places:
        document_id, pairs = (chosen[name][place].as_py() for name in ("document_id", "cited"))
        records[place] = _with_new_ids(records[place], document_id, pairs or [])
    return pa.array(records, pa.string())


def _with_new_ids(text: str, document_id: str, pairs: Sequence[str]) -> str:
    record = orjson.loads(text) | {"id": document_id}
    if pairs and record.get("references"):
        cited = [record["references"]] if isinstance(record["references"], str) else map(str, record["references"])
        record["references"] = new_references(list(cited), _new_ids(pairs))
    return orjson.dumps(record).decode()


# White space and control characters have no higher code.
_SPACE = 32

# The fields that the table has besides those of part tables.
_FIELDS = pa.schema(
    [
        ("title", pa.string()),
        ("venue", pa.string()),
        ("authors", pa.list_(pa.struct([("name", pa.string()), ("affiliations", pa.list_(pa.string()))]))),
        ("references", pa.list_(pa.string())),
    ]
)


def _fields(texts: pa.Array) -> dict[str, Any]:
    """The fields of documents; those with authors that are not just people are parsed one by one."""
    try:
        fields, odd = _fields_at_once(texts)
    except (UnusualError, pa.ArrowException):
        return _parsed_fields(texts)
    if not odd:
        return fields
    parsed, place = _parsed_fields(texts.take(pa.array(odd))), np.arange(len(texts))
    place[odd] = len(texts) + np.arange(len(odd))
    return {
        name: pa.concat_arrays([values, parsed[name].cast(values.type)]).take(pa.array(place))
        for name, values in fields.items()
    }


def _fields_at_once(texts: pa.Array) -> tuple[dict[str, Any], list[int]]:
    """The fields of documents, read by Arrow, which is ten times as fast; raises if anything in them is unusual.

    Also returns the rows with names that do not stay as they are. The texts were read before, so they are JSON objects
    that are not nested deeply.
    """
    if not len(texts):
        raise UnusualError
    _, offsets, content = texts.buffers()
    begin, end = np.frombuffer(offsets, np.int32)[[texts.offset, texts.offset + len(texts)]].tolist()
    text = content.slice(begin, end - begin)  # objects need no line ends between them
    table = pyarrow.json.read_json(
        pa.BufferReader(text),
        read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
        parse_options=pyarrow.json.ParseOptions(explicit_schema=_FIELDS, unexpected_field_behavior="ignore"),
    )
    table.validate(full=True)
    title, venue, authors, references = (table[name].combine_chunks() for name in _FIELDS.names)
    entries = authors.flatten()
    name, affiliations = entries.field("name"), entries.field("affiliations")
    is_blank = pc.or_(pc.utf8_is_space(name), pc.equal(name, ""))
    if (
        len(table) != len(texts)
        or any(one.null_count for one in (authors, entries, name, affiliations.flatten(), references.flatten()))
        or pc.any(is_blank).as_py()
    ):
        raise UnusualError
    number = np.diff(authors.offsets.to_numpy())
    offsets = np.append(0, np.cumsum(number)).astype(np.int32)
    position = (np.arange(len(entries)) - np.repeat(offsets[:-1], number)).astype(np.int32)
    coded = name.dictionary_encode()
    odd = rows_with(authors, are_changed(coded.dictionary)[coded.indices.to_numpy()])
    fields = {
        "title": _or_null(title),
        "venue": _or_null(venue),
        "authors": _author_lists(offsets, position, name, _without_nulls(affiliations)),
        "references": _without_nulls(references),
    }
    return fields, odd


def _without_nulls(lists: pa.Array) -> pa.Array:
    """The same lists with empty ones for nulls, whose range of values is empty, too; values are not copied."""
    if not lists.null_count:
        return lists
    is_null = lists.is_null().to_numpy(zero_copy_only=False)
    if np.diff(lists.offsets.to_numpy())[is_null].any():
        return lists.fill_null([])
    return pa.ListArray.from_arrays(lists.offsets, lists.values)


def _or_null(texts: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(texts, ""), None, texts)


def _parsed_fields(texts: pa.Array) -> dict[str, Any]:
    """The same fields of any documents, parsed one by one."""
    documents = [parse_document(text.encode())[0] for text in texts.to_pylist()]
    authors = [author for document in documents for author in document.authors]
    return {
        "title": pa.array([document.title or None for document in documents], pa.string()),
        "venue": pa.array([document.venue or None for document in documents], pa.string()),
        "authors": _author_lists(
            np.cumsum([0, *(len(document.authors) for document in documents)]),
            [author.position for author in authors],
            pa.array([author.name for author in authors], pa.string()),
            pa.array([author.affiliations for author in authors], pa.list_(pa.string())),
        ),
        "references": pa.array([document.references for document in documents], pa.list_(pa.string())),
    }


def _author_lists(offsets: Any, position: Any, name: pa.Array, affiliations: pa.Array) -> pa.Array:
    kind = DOCUMENTS.field("authors").type.value_type
    entries = pa.StructArray.from_arrays([pa.array(position, pa.int32()), name, affiliations], fields=list(kind))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), entries)


# Rows of the table of documents that are read at once.
_ROWS_AT_ONCE = 1 << 14
_AFFILIATION_LEAVES = ["authors.list.element.position", "authors.list.element.affiliations.list.element"]


class WrittenAffiliations(NamedTuple):
    """All affiliations in a table of documents.

    `entries` has a row for each: the row of the document, the position of the author, and the number of the affiliation
    in `texts`, which are in the order of code points. `authors` is the number of authors of each document.
    """

    entries: pa.Table
    texts: pa.Array
    authors: Integers

    def numbered_texts(self) -> pa.Table:
        """The texts in the column `text`, with their numbers in the column `affiliation`."""
        return pa.table({"affiliation": np.arange(len(self.texts), dtype=np.int32), "text": self.texts})

    @classmethod
    def read(cls, documents: Path) -> WrittenAffiliations:
        """Read them without names and records, which would take longer than all the rest."""
        with reading_result_file(documents) as plain, pq.ParquetFile(plain) as file:
            return cls.of_batches(file.iter_batches(_ROWS_AT_ONCE, columns=_AFFILIATION_LEAVES))

    @classmethod
    def of_batches(cls, batches: Iterable[pa.RecordBatch]) -> WrittenAffiliations:
        """Those of documents, of which only the column `authors` is needed."""
        rows, positions, texts, done = list[pa.Array](), list[pa.Array](), list[pa.Array](), 0
        number = [np.zeros(0, np.int32)]
        for batch in batches:
            number.append(pc.fill_null(pc.list_value_length(batch["authors"]), 0).to_numpy())
            authors = pc.list_flatten(batch["authors"])
            affiliations = pc.struct_field(authors, "affiliations")
            author = pc.list_parent_indices(affiliations)
            rows.append(pc.add(pc.list_parent_indices(batch["authors"]).take(author), done))
            positions.append(pc.struct_field(authors, "position").take(author))
            # All distinct texts of a large collection take more than 2 GiB, the maximum of one array of `string`.
            texts.append(pc.list_flatten(affiliations).cast(pa.large_string()).dictionary_encode())
            done += len(batch)
        numbers, known = _numbered(texts)
        columns = [pa.chunked_array(rows, pa.int64()), pa.chunked_array(positions, pa.int32()), numbers]
        return cls(pa.table(columns, names=["document", "position", "affiliation"]), known, np.concatenate(number))

    @classmethod
    def none(cls) -> WrittenAffiliations:
        """Those of no documents."""
        return cls.of_batches(())

    def of_authors(self, documents: Integers, positions: Integers) -> list[list[str]]:
        """The affiliations of some authors, by the rows of their documents and their positions there."""
        own, number = (self.entries[name].to_numpy() for name in ("document", "affiliation"))
        first, last = np.searchsorted(own, documents), np.searchsorted(own, documents, side="right")
        entry, author = ranges(first, last - first), np.repeat(np.arange(len(documents)), last - first)
        fits = self.entries["position"].to_numpy()[entry] == positions[author]
        found: list[list[str]] = [[] for _ in range(len(documents))]
        texts = self.texts.take(pa.array(number[entry[fits]])).to_pylist()
        for one, text in zip(author[fits].tolist(), texts, strict=True):
            found[one].append(text)
        return found


def _numbered(texts: list[pa.Array]) -> tuple[pa.ChunkedArray, pa.Array]:
    """The numbers of dictionary-encoded texts in the order of all texts, and these in order."""
    coded = pa.chunked_array(texts, pa.dictionary(pa.int32(), pa.large_string())).unify_dictionaries()
    known = coded.chunk(0).dictionary if texts else pa.array([], pa.large_string())
    order = pc.sort_indices(known)
    rank = np.empty(len(known), np.int32)
    rank[order.to_numpy()] = np.arange(len(known))
    numbers = [pa.array(rank[chunk.indices.to_numpy()]) for chunk in coded.chunks]
    return pa.chunked_array(numbers, pa.int32()), known.take(order)


# Bytes of documents that are made rows of the table at once. With few documents, the search for unusual names takes
# longer to start than to run; with 16 MB, fresh memory takes the time that this saves.
_BYTES_AT_ONCE = 6 << 20


def _gathered(chosen: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The same rows in tables of about `_BYTES_AT_ONCE` bytes."""
    waiting, size = list[pa.RecordBatch](), 0
    for batch in chosen:
        waiting.append(batch)
        size += batch.nbytes
        if size >= _BYTES_AT_ONCE:
            yield pa.Table.from_batches(waiting).cast(CHOSEN)
            waiting, size = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting).cast(CHOSEN)


def write_document_table(chosen: Iterable[pa.RecordBatch], path: Path, references: Path, threads: int) -> None:
    """Write rows of CHOSEN, which are in order, as a table of documents, and another table with their references."""
    with pq.ParquetWriter(references, REFERENCES, compression="lz4", use_dictionary=False) as writer:

        def rows() -> Iterator[pa.Table]:
            for _, found in map_in_order(rows_with_references, _gathered(chosen), threads):
                writer.write_table(found.select(REFERENCES.names).cast(REFERENCES))
                yield found.select(DOCUMENTS.names)

        write_table(path, DOCUMENTS, rows(), row_group=ROW_GROUP)
