"""Compares new records with the documents of a result: which documents are new, have changed, or leave.

The rules of a run (collection/duplicates.py) decide whether a new record describes a known document. They are applied
to the new records and to the known documents that share an identifier, an id or a title with one of them. A record with
the same id replaces the document if this was made of that record alone (collection/document_replacing.py); otherwise it
is merged with the document. A known document keeps its id. A new document gets a suffix if a different known document
has its id.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.clustering.union_find import UnionFind
from homonym.collection import counting
from homonym.collection.document_merging import Copy, merge
from homonym.collection.document_replacing import replaced, without_labels
from homonym.collection.document_table import CHOSEN, document_rows, new_references
from homonym.collection.identity import letters_of_title, letters_of_titles, title_digest
from homonym.collection.layout import KEY_ROWS, part_file, part_files
from homonym.collection.parts import Chunk, write_compared
from homonym.errors import InputError
from homonym.io.result_directory import DOCUMENTS
from homonym.io.tables import look_up, reading_result_file
from homonym.records.formats.documents import document_line, parse_document
from homonym.records.model import Document
from homonym.records.parsing.splitting import Raw
from homonym.settings import Settings

if TYPE_CHECKING:
    import duckdb

# Number of digits of the suffix that a new document gets if a known document has its id, as in a run.
SUFFIX_DIGITS = 8


@dataclass(frozen=True)
class DocumentChanges:
    """How the documents of a result change.

    `rows` has the new and the changed documents in schema.DOCUMENTS, ordered by id. `changed` has the ids of changed
    documents, and `removed` those of leaving ones. `unchanged` is the number of new records that contain nothing new,
    and `bridges` the number of new records that would merge several known documents.
    """

    rows: pa.Table
    changed: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    unchanged: int = 0
    merged: int = 0
    bridges: int = 0

    @property
    def added(self) -> int:
        """The number of new documents."""
        return len(self.rows) - len(self.changed)

    @property
    def leaving(self) -> frozenset[str]:
        """The ids of all documents whose old rows are dropped."""
        return self.changed | self.removed


class _Record(NamedTuple):
    """A new record: its place, its format, whether its id is an identifier, its keys, and its text."""

    sequence: int
    id: str
    form: str
    id_is_key: bool
    title: int | None
    keys: list[str]
    text: bytes

    def copy(self) -> Copy:
        document, _ = parse_document(self.text)
        document.id_is_key = self.id_is_key
        return Copy(document, self.form)


class _Known(NamedTuple):
    """A document of the result that a new record may describe."""

    document_id: str
    record_ids: list[str]
    record: str


@dataclass
class _Scan:
    """What one pass over the documents of a result has found."""

    candidates: list[_Known] = field(default_factory=list)
    renamed: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def find_changes(
    result: Path, connection: duckdb.DuckDBPyConnection, work: Path, settings: Settings, remove: Iterable[str] = ()
) -> DocumentChanges:
    """Compare the records that an engine has read into `work` with the documents of a result.

    `remove` are ids of documents that leave, as in the table of documents or as in the records.
    """
    removed = documents_named(result, list(remove))
    new = _new_records(connection, work)
    if not new:
        return DocumentChanges(no_documents(), removed=removed)
    scan = _scan(result, new, _cited(connection))
    known = [one for one in scan.candidates if one.document_id not in removed]
    groups = _groups(connection, work, settings, new, known)
    return _combine(new, known, groups, scan.renamed, removed)


def no_documents() -> pa.Table:
    """An empty table of documents."""
    from homonym.schema import DOCUMENTS as SCHEMA

    return SCHEMA.empty_table()


def documents_named(result: Path, names: Sequence[str]) -> frozenset[str]:
    """The documents with these ids; fails if one of them is unknown."""
    if not names:
        return frozenset()
    wanted, found, known = pa.array(sorted({*names}), pa.string()), set[str](), set[str]()
    for batch in _batches(result, ["document_id", "record_ids"]):
        flat = batch["record_ids"].flatten()
        parents = pc.list_parent_indices(batch["record_ids"])
        hits = parents.filter(pc.is_in(flat, wanted))
        own = pc.is_in(batch["document_id"], wanted)
        if hits.null_count == len(hits) and not pc.any(own).as_py():
            continue
        known.update(flat.filter(pc.is_in(flat, wanted)).to_pylist())
        known.update(batch["document_id"].filter(own).to_pylist())
        found.update(batch["document_id"].take(hits).to_pylist())
        found.update(batch["document_id"].filter(own).to_pylist())
    if missing := sorted({*names} - known):
        raise InputError(f"{result} has no document {missing[0]}; name ids of its table of documents.")
    return frozenset(found)


def _batches(result: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:
    path = result / DOCUMENTS
    with reading_result_file(path) as plain, pq.ParquetFile(plain) as file:
        yield from file.iter_batches(batch_size=1 << 14, columns=columns)


def _new_records(connection: duckdb.DuckDBPyConnection, work: Path) -> list[_Record]:
    """The records that were read, in order."""
    if not part_files(work, "records"):
        return []
    counting.read_parts(connection, work)
    rows = connection.execute(
        """SELECT r.sequence, r.id, r.form, r.id_is_key, r.title, coalesce(k.keys, []) AS keys, d.text FROM records r
           JOIN documents d ON d.sequence = r.sequence
           LEFT JOIN (SELECT sequence, list(DISTINCT key ORDER BY key) AS keys FROM keys GROUP BY sequence) k
           ON k.sequence = r.sequence ORDER BY r.sequence"""
    ).fetchall()
    return [_Record(*row) for row in rows]


def _cited(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """The ids of all documents that the new records refer to."""
    return {row[0] for row in connection.execute('SELECT DISTINCT id FROM "references"').fetchall()}


def _scan(result: Path, new: Sequence[_Record], cited: set[str]) -> _Scan:
    """One pass over the documents: those that a new record may describe, and cited ids that have changed."""
    ids = pa.array(sorted({record.id for record in new}), pa.string())
    keys = pa.array(sorted({key for record in new for key in record.keys}), pa.string())
    titles = _Titles.of(new)
    others = pa.array(sorted(cited), pa.string())
    scan, chosen = _Scan(), []
    for batch in _batches(result, ["document_id", "title", "ids", "record_ids"]):
        names, parents = batch["record_ids"].flatten(), pc.list_parent_indices(batch["record_ids"])
        is_hit = np.zeros(len(batch), np.bool_)
        is_hit[parents.filter(pc.is_in(names, ids)).to_numpy()] = True
        is_hit |= pc.is_in(batch["document_id"], ids).to_numpy(zero_copy_only=False)
        identifiers = batch["ids"].flatten()
        own_keys = pc.binary_join_element_wise(identifiers.field("kind"), identifiers.field("id"), ":")
        is_hit[pc.list_parent_indices(batch["ids"]).filter(pc.is_in(own_keys, keys)).to_numpy()] = True
        is_hit |= titles.among(batch["title"])
        chosen += batch["document_id"].filter(pa.array(is_hit)).to_pylist()
        for place in np.flatnonzero(pc.is_in(names, others).to_numpy(zero_copy_only=False)).tolist():
            document = batch["document_id"][parents[place].as_py()].as_py()
            scan.renamed[names[place].as_py()].append(document)
    rows = look_up(result / DOCUMENTS, "document_id", pa.array(chosen, pa.string()), list(_Known._fields))
    scan.candidates += [_Known(**row) for row in rows.to_pylist()]
    return scan


class _Titles(NamedTuple):
    """The titles of new records: their digests, and their letters, which are compared faster."""

    digests: set[int]
    letters: set[bytes]

    @classmethod
    def of(cls, new: Sequence[_Record]) -> _Titles:
        """The titles of records."""
        titled = [record for record in new if record.title is not None]
        letters = {letters_of_title(parse_document(record.text)[0].title) for record in titled}
        return cls({record.title for record in titled if record.title is not None}, letters)

    def among(self, titles: pa.Array) -> NDArray[np.bool_]:
        """Which titles are among these."""
        is_plain = pc.string_is_ascii(titles).fill_null(True).to_numpy(zero_copy_only=False)
        may_be: NDArray[np.bool_] = np.array([one in self.letters for one in letters_of_titles(titles)], np.bool_)
        may_be |= ~is_plain
        for place in np.flatnonzero(may_be).tolist():
            title = titles[place].as_py()
            may_be[place] = title is not None and title_digest(title) in self.digests
        return may_be


def _groups(
    connection: duckdb.DuckDBPyConnection,
    work: Path,
    settings: Settings,
    new: Sequence[_Record],
    known: Sequence[_Known],
) -> list[list[int]]:
    """The places of records that are one document, in `new` followed by `known`; each place is in one group."""
    first = new[-1].sequence + 1
    if known:
        raws = [Raw(number, one.record.encode()) for number, one in enumerate(known, 1)]
        write_compared(Chunk(DOCUMENTS, first, raws), settings, work, strict=False)
        _write_known_ids(work, first, new, known)
    try:
        counting.read_parts(connection, work)
        counting.find_copies(connection, first + len(known))
        rows = connection.execute("SELECT sequence, first FROM duplicates ORDER BY sequence").fetchall()
    finally:
        for table in ("records", "keys", "references", "documents"):
            part_file(work, table, first).unlink(missing_ok=True)
    place = {record.sequence: number for number, record in enumerate(new)}
    place |= {first + number: len(new) + number for number in range(len(known))}
    copies = UnionFind[int]()
    for sequence, head in rows:
        copies.join(place[head], place[sequence])
    for record, one in _equal_contents(new, known):
        copies.join(record, len(new) + one)
    groups: dict[int, list[int]] = defaultdict(list)
    for number in range(len(new) + len(known)):
        groups[copies.find(number)].append(number)
    return list(groups.values())


def _equal_contents(new: Sequence[_Record], known: Sequence[_Known]) -> Iterator[tuple[int, int]]:
    """The places of new records without an id of their own, and of known documents with the same content.

    A run compares the texts of such records. Ids and references are not compared: those of a known document are the ids
    of the result.
    """
    wanted: dict[str, list[int]] = defaultdict(list)
    for place, record in enumerate(new):
        if not record.id_is_key:
            wanted[record.id].append(place)
    for number, one in enumerate(known):
        for place in {place for name in one.record_ids for place in wanted.get(name, [])}:
            if _own_content(new[place].text) == _own_content(one.record.encode()):
                yield place, number


def _own_content(text: bytes) -> bytes:
    """The line of a document without its id and its references."""
    document, _ = parse_document(text)
    document.id, document.references = "", []
    return document_line(document)


def _write_known_ids(work: Path, first: int, new: Sequence[_Record], known: Sequence[_Known]) -> None:
    """Give known documents the ids of their records as keys, in the formats of the new records."""
    forms: dict[str, set[str]] = defaultdict(set)
    for record in new:
        if record.id_is_key:
            forms[record.id].add(record.form)
    rows = [
        (first + number, f"id@{form}:{name}")
        for number, one in enumerate(known)
        for name in {*one.record_ids, one.document_id}
        for form in sorted(forms[name])
    ]
    path = part_file(work, "keys", first)
    if rows:
        path.parent.mkdir(exist_ok=True)
        own = pq.read_table(path) if path.exists() else KEY_ROWS.empty_table()
        added = pa.table(list(zip(*sorted(rows), strict=True)), schema=KEY_ROWS)
        pq.write_table(pa.concat_tables([own.cast(KEY_ROWS), added]), path)


@dataclass
class _Combined:
    """Documents of the result after the update: rows of CHOSEN, and what happened.

    `known` has the documents that new records describe, each with the number of these records.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    known: dict[str, tuple[Document, int]] = field(default_factory=dict)
    unchanged: int = 0
    merged: int = 0
    bridges: int = 0


def _combine(
    new: Sequence[_Record],
    known: Sequence[_Known],
    groups: Sequence[Sequence[int]],
    renamed: Mapping[str, list[str]],
    removed: frozenset[str],
) -> DocumentChanges:
    taken = {one.document_id for one in known}
    found = _Combined()
    for group in groups:
        records = [new[place] for place in group if place < len(new)]
        olds = sorted(
            (known[place - len(new)] for place in group if place >= len(new)), key=lambda one: one.document_id
        )
        if not records:
            continue
        found.merged += len(records) - (0 if olds else 1)
        found.bridges += len(records) if len(olds) > 1 else 0
        if olds:
            _change(olds[0], records, found)
        else:
            _add(records, taken, found)
    _refer_to_current_ids(found.rows, renamed)
    _leave_out_unchanged(found)
    rows = no_documents()
    if found.rows:
        rows = document_rows(pa.Table.from_pylist(found.rows, schema=CHOSEN)).sort_by("document_id")
    return DocumentChanges(rows, frozenset(found.known), removed, found.unchanged, found.merged, found.bridges)


def _change(old: _Known, records: Sequence[_Record], found: _Combined) -> None:
    """Replace a document, or merge new records with it."""
    before, _ = parse_document(old.record.encode())
    copies = [Copy(without_labels(copy.document, before), copy.form) for copy in (record.copy() for record in records)]
    again = {record.id for record in records}
    is_replaced = {*old.record_ids} <= again
    if not is_replaced:
        copies.append(Copy(before, "documents"))
    document = merge(copies).document if len(copies) > 1 else copies[0].document
    if is_replaced:
        document = replaced(before, document)
    document.id = old.document_id
    found.known[old.document_id] = (before, len(records))
    found.rows.append(_row(document, old.document_id, {*old.record_ids, *again}))


def _leave_out_unchanged(found: _Combined) -> None:
    """Drop known documents for which the new records contain nothing new, after mapping references to current ids."""
    kept = []
    for row in found.rows:
        before, records = found.known.get(row["document_id"], (None, 0))
        if before and document_line(before) in {row["text"], _with_current_references(row)}:
            found.unchanged += records
            del found.known[row["document_id"]]
        else:
            kept.append(row)
    found.rows = kept


def _with_current_references(row: Mapping[str, Any]) -> bytes:
    """The line of a document with references by the ids of the result."""
    document, _ = parse_document(row["text"])
    pairs, new_ids = row["cited"] or [], defaultdict[str, list[str]](list)
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        new_ids[old].append(new)
    document.references = new_references(list(document.references), new_ids)
    return document_line(document)


def _add(records: Sequence[_Record], taken: set[str], found: _Combined) -> None:
    """Add a new document, under another id if a different document has the id of its records."""
    copies = [record.copy() for record in records]
    document = merge(copies).document if len(copies) > 1 else copies[0].document
    names = {record.id for record in records}
    document_id = document.id
    if document_id in taken:
        digest = hashlib.sha256(document_line(document), usedforsecurity=False).hexdigest()
        document_id = next(
            name for name in (f"{document.id}~{digest[:SUFFIX_DIGITS]}", f"{document.id}~{digest}") if name not in taken
        )
    taken.add(document_id)
    document.id = document_id
    found.rows.append(_row(document, document_id, names))


def _row(document: Document, document_id: str, names: set[str]) -> dict[str, Any]:
    """A row of CHOSEN."""
    return {
        "document_id": document_id,
        "id": document_id,
        "year": document.year,
        "text": document_line(document),
        "keys": sorted(f"{kind}:{value}" for kind, value in document.ids.items()),
        "record_ids": sorted(names),
        "cited": None,
    }


def _refer_to_current_ids(rows: Sequence[dict[str, Any]], renamed: Mapping[str, list[str]]) -> None:
    """Change the references of new documents to the ids of the result."""
    current: dict[str, set[str]] = defaultdict(set)
    for name, documents in renamed.items():
        current[name].update(documents)
    for row in rows:
        for name in row["record_ids"]:
            current[name].add(row["document_id"])
    for row in rows:
        document, _ = parse_document(row["text"])
        pairs = [
            text
            for cited in sorted({*document.references})
            if current.get(cited, {cited}) != {cited}
            for new in sorted(current[cited])
            for text in (cited, new)
        ]
        row["cited"] = pairs or None
