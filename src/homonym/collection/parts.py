"""Chunks of records to parts: each chunk becomes a handful of Parquet files in the work directory (see layout.py).

Chunks are independent of each other, so that processes or Spark tasks can write them in any order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.collection.document_merging import Copy, merge
from homonym.collection.extractor import (
    Occurrences,
    bag_tables,
    comparison_tables,
    extract_tables,
    mention_tables,
    occurrences_of_mentions,
    record_tables,
)
from homonym.collection.identity import authors_of
from homonym.collection.layout import (
    CONVERTED,
    DOCUMENT_ROWS,
    IDENTIFIER_ROWS,
    MAX_AUTHORS_IN_BLOCK,
    MENTION_ROWS,
    RECORD_ROWS,
    SLOT_BITS,
    write_part,
)
from homonym.errors import InputError, first_line
from homonym.features.blocking import SCHEMES, blocked_names
from homonym.features.columns import DocumentColumns, PlacedDocument, columns_of, columns_of_lines, record_columns
from homonym.features.text import Integers
from homonym.io.paths import plain_path
from homonym.io.tables import columnar_batches
from homonym.names.parse import encode_name, parse_name
from homonym.records.fields import identifiers
from homonym.records.formats.documents import (
    LARGEST_COUNT,
    SMALLEST_COUNT,
    Mention,
    StoredLines,
    document_line,
    parse_document,
    parse_mention,
    plain_line,
)
from homonym.records.model import HARMLESS, MAX_AUTHORS, Author, BrokenRecordError, Document, Loss, Problem
from homonym.records.parsing.splitting import Raw, is_western
from homonym.records.reader import Unit, format_named, parse_raw_record
from homonym.runtime.progress import Advance
from homonym.schema import BAG, IDENTIFIERS, MENTIONS
from homonym.settings import Settings, identifier_kind

# Rows of a Parquet file that become one part.
BATCH_ROWS = 20_000
# Used as the format of merged documents.
MERGED = "merged"
# Shorter lines cannot have too many authors.
_LONG = 10 * MAX_AUTHORS
MENTION_COLUMNS = ("mention_id", "document_id", "position", "name", "block", "year", "author")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some raw records of one file, what is needed to parse them, and the place of the first in the whole input."""

    file: str
    sequence: int
    raws: list[Raw]
    form: str = "documents"
    context: Any = None
    unit: Unit = "line"

    def __getstate__(self) -> tuple[Any, ...]:
        """What is sent to another process: plain lists take a third of the time that objects take."""
        return (self.file, self.sequence, *zip(*self.raws, strict=True), self.form, self.context, self.unit)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        file, sequence, *columns, form, context, unit = state
        raws = list(map(Raw._make, zip(*columns, strict=True)))
        for name, value in zip(self.__slots__, (file, sequence, raws, form, context, unit), strict=True):
            object.__setattr__(self, name, value)


@dataclass
class PartReport:
    """The result of one chunk: `read` raw records, of which `records` were usable; `rejects` are JSON lines.

    `western` records were not UTF-8 and were read as Windows Latin.
    """

    read: int = 0
    records: int = 0
    western: int = 0
    mentions: int = 0
    problems: list[Problem] = field(default_factory=list)
    rejects: list[bytes] = field(default_factory=list)

    def add(self, problems: list[Problem], raw: Raw) -> None:
        """Add the problems of one record, each with a line for the file of rejected records."""
        self.problems += problems
        self.rejects += [reject_line(problem, raw) for problem in problems]

    def take(self, other: PartReport) -> None:
        """Add the problems of another report on the same chunk."""
        self.western += other.western
        self.problems += other.problems
        self.rejects += other.rejects


def chunks(raws: Iterable[Raw], first: Chunk, size: int) -> Iterator[Chunk]:
    """Group raw records into chunks of about `size` bytes; `first` is an empty chunk with all other fields."""
    sequence, gathered, filled = first.sequence, [], 0
    for raw in raws:
        gathered.append(raw)
        filled += len(raw.text)
        if filled >= size:
            yield replace(first, sequence=sequence, raws=gathered)
            sequence += len(gathered)
            gathered, filled = [], 0
    if gathered:
        yield replace(first, sequence=sequence, raws=gathered)


# Documents


def write_documents(chunk: Chunk, settings: Settings, work: Path, *, strict: bool) -> PartReport:
    """Parse a chunk of documents, extract their features and write them as one part."""
    report = PartReport(read=len(chunk.raws))
    columns, texts = _columns(chunk, settings.blocking, report, strict=strict)
    tables = extract_tables(columns, chunk.sequence, settings, chunk.form)
    return _write(tables | _document_table(columns.records.sequence, texts), work, chunk.sequence, report)


def write_compared(chunk: Chunk, settings: Settings, work: Path, *, strict: bool) -> PartReport:
    """Parse a chunk of documents and write them as one part, without the tables about mentions and features."""
    report = PartReport(read=len(chunk.raws))
    columns, texts = _columns(chunk, settings.blocking, report, strict=strict)
    tables = comparison_tables(columns, chunk.form) | _document_table(columns.records.sequence, texts)
    return _write(tables, work, chunk.sequence, report)


def extract_mentions(chunk: Chunk, settings: Settings) -> dict[str, pa.Table]:
    """The tables of a part about mentions."""
    columns, _ = _columns(chunk, settings.blocking, PartReport(), strict=False)
    return mention_tables(columns, chunk.sequence, settings)


def _columns(
    chunk: Chunk, blocking: str, report: PartReport, *, strict: bool
) -> tuple[DocumentColumns, Sequence[bytes]]:
    """The documents of a chunk as columns, and each as a line of homonym's own format."""
    at_once, exceptions = PartReport(), dict[int, list[bytes]]()

    def parse(row: int) -> DocumentColumns:
        """One of the documents with authors that are no people."""
        alone = replace(chunk, sequence=chunk.sequence + row, raws=[chunk.raws[row]])
        found = list(_named_documents(alone, at_once, blocking, strict=strict))
        exceptions[row] = [text for _, text in found]
        return columns_of([placed for placed, _ in found], blocking)

    raws = _without_markup(chunk.raws) if chunk.form == "documents" else []
    columns = _columns_at_once(replace(chunk, raws=raws), blocking, parse) if raws else None
    if columns is not None:
        report.take(at_once)
        if not exceptions:
            return columns, [raw.text for raw in raws]
        lines = (exceptions.get(row, [raw.text]) for row, raw in enumerate(raws))
        return columns, list(chain.from_iterable(lines))
    found = list(_named_documents(chunk, report, blocking, strict=strict))
    return columns_of([placed for placed, _ in found], blocking), [text for _, text in found]


def write_lines(chunk: Chunk, settings: Settings, work: Path, *, strict: bool) -> PartReport:
    """Parse a chunk of documents and write them as JSON lines of homonym's own format."""
    report = PartReport(read=len(chunk.raws))
    placed, texts = [], []
    for place, raw, text in _documents(chunk, report, strict=strict):
        _reject_unnamed(place.document, raw, chunk, report, settings.blocking)
        placed.append(place)
        texts.append(text)
    if placed:
        _write_converted(placed, work, chunk.sequence)
    tables = _record_tables(placed, chunk.form, settings.blocking)
    tables |= _document_table(tables["records"]["sequence"], texts)
    return _write(tables, work, chunk.sequence, report)


def _record_tables(placed: Sequence[PlacedDocument], form: str, blocking: str) -> dict[str, pa.Table]:
    """The tables about the records of documents whose features are not extracted."""
    authors = [authors_of([author.name for author in document.authors], blocking) for _, _, document in placed]
    return record_tables(record_columns(placed), authors, form)


def _write_converted(placed: Sequence[PlacedDocument], work: Path, part: int) -> None:
    folder = work / CONVERTED
    folder.mkdir(exist_ok=True)
    lines = [document_line(document) for _, _, document in placed]
    (folder / f"{part:015d}.jsonl").write_bytes(b"".join(lines))


def _document_table(sequence: Integers | pa.ChunkedArray, texts: Sequence[bytes]) -> dict[str, pa.Table]:
    # Joined at once: an array of long texts is made several times as fast.
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(texts))]
    column = pa.Array.from_buffers(pa.binary(), len(texts), buffers)
    return {"documents": pa.table([sequence, column], schema=DOCUMENT_ROWS)}


class MergeLoss(NamedTuple):
    """What was lost of a copy when it was merged: sequence and line of its record, and a note."""

    sequence: int
    line: int
    lost: Loss
    reason: str


def write_merged(copies: pa.Table, settings: Settings, work: Path, *, convert: bool) -> list[MergeLoss]:
    """Merge the copies of whole documents (see `duplicates.copies`), and write the merged documents as one part."""
    placed, losses = _merge_copies(copies)
    part, records = placed[0].sequence, record_columns(placed)
    texts = _document_table(records.sequence, [document_line(document) for _, _, document in placed])
    for _, _, document in placed:
        _remove_unnamed(document, settings.blocking)  # they were reported when the copies were read
    if convert:
        _write_converted(placed, work, part)
        tables = _record_tables(placed, MERGED, settings.blocking)
    else:
        tables = extract_tables(columns_of(placed, settings.blocking), part, settings, MERGED)
    write_part(tables | texts, work, part)
    return losses


def whole_documents(copies: Iterable[pa.RecordBatch], size: int) -> Iterator[pa.Table]:
    """Tables of about `size` bytes of the same rows, each with all copies of its documents."""
    gathered: list[pa.Table] = []
    for batch in copies:
        gathered.append(pa.Table.from_batches([batch]))
        if sum(table.nbytes for table in gathered) < size:
            continue
        table = pa.concat_tables(gathered)
        merged = table["merged"].to_numpy()
        last = int(np.searchsorted(merged, merged[-1]))  # the last document may have more copies in the next batch
        if last:
            yield table.slice(0, last)
        gathered = [table.slice(last)]
    if gathered:
        yield pa.concat_tables(gathered)


def _merge_copies(copies: pa.Table) -> tuple[list[PlacedDocument], list[MergeLoss]]:
    placed, losses = [], []
    for merged, rows in groupby(copies.to_pylist(), lambda row: row["merged"]):
        group = list(rows)
        found = merge([_copy(row) for row in group])
        placed.append(PlacedDocument(merged, group[0]["line"], found.document))
        losses += [
            MergeLoss(row["sequence"], row["line"], *note)
            for row, notes in zip(group, found.notes, strict=True)
            for note in notes
        ]
    return placed, losses


def _copy(row: dict[str, Any]) -> Copy:
    """A copy from its line, whose problems were reported when it was read."""
    document, _ = parse_document(row["text"])
    document.id_is_key = row["id_is_key"]
    return Copy(document, row["form"])


def _without_markup(raws: list[Raw]) -> list[Raw]:
    """Lines of homonym's own documents, without HTML in their texts."""
    # Most lines have neither sign, and a call for each takes several times as long as looking for them.
    return [raw._replace(text=plain_line(raw.text)) if b"&" in raw.text or b"<" in raw.text else raw for raw in raws]


def _columns_at_once(chunk: Chunk, blocking: str, parse: Callable[[int], DocumentColumns]) -> DocumentColumns | None:
    """The columns of homonym's own documents without markup; None if the chunk must be parsed record by record.

    A few documents are parsed alone: see `columns_of_lines`.
    """
    if any(len(raw.text) > _LONG and raw.text.count(b'"name"') > MAX_AUTHORS for raw in chunk.raws):
        return None
    columns = columns_of_lines(chunk.raws, chunk.sequence, blocking, parse)
    if columns is None or columns.records.authors.max(initial=0) > MAX_AUTHORS or _has_crowded_blocks(columns):
        return None
    return columns


def _has_crowded_blocks(columns: DocumentColumns) -> bool:
    """Whether a document has too many authors in one block."""
    number, block = columns.records.authors, columns.authors.names.block
    start = np.cumsum(number) - number
    many = np.flatnonzero(number > MAX_AUTHORS_IN_BLOCK).tolist()
    counts = (pc.value_counts(block.slice(start[row], number[row])).field("counts") for row in many)
    return any(pc.max(count).as_py() > MAX_AUTHORS_IN_BLOCK for count in counts)


def _crowded_block(document: Document, blocking: str) -> str:
    """The reason to reject a document that has too many authors in one block; empty if it has not."""
    if len(document.authors) <= MAX_AUTHORS_IN_BLOCK:
        return ""
    names, scheme = blocked_names(blocking), SCHEMES[blocking]
    blocks = Counter(
        scheme(parse_name(author.name), author.block) if author.block else name.block
        for author in document.authors
        if (name := names[author.name])
    )
    block, number = blocks.most_common(1)[0] if blocks else ("", 0)
    if number <= MAX_AUTHORS_IN_BLOCK:
        return ""
    return f"lists {number:,} authors of the name {block[:100]!r}, and {MAX_AUTHORS_IN_BLOCK:,} are possible"


def _named_documents(
    chunk: Chunk, report: PartReport, blocking: str, *, strict: bool
) -> Iterator[tuple[PlacedDocument, bytes]]:
    """Yield the documents of a chunk without the authors that have no usable name, which are reported."""
    for placed, raw, text in _documents(chunk, report, strict=strict):
        if reason := _crowded_block(placed.document, blocking):
            report.add([Problem(chunk.file, raw.number, "record", reason, chunk.unit)], raw)
            continue
        _reject_unnamed(placed.document, raw, chunk, report, blocking)
        yield placed, text


def _reject_unnamed(document: Document, raw: Raw, chunk: Chunk, report: PartReport, blocking: str) -> None:
    """Remove the authors of a document that have no usable name, and report them."""
    if unnamed := _remove_unnamed(document, blocking):
        reasons = [f"author {author.position} has no name ({author.name.strip()!r})" for author in unnamed]
        report.add([Problem(chunk.file, raw.number, "author", reason, chunk.unit) for reason in reasons], raw)


def _remove_unnamed(document: Document, blocking: str) -> list[Author]:
    """Remove the authors that have no usable name; returns them."""
    names = blocked_names(blocking)
    unnamed = [author for author in document.authors if names[author.name] is None]
    if unnamed:
        document.authors = [author for author in document.authors if names[author.name] is not None]
    return unnamed


def _documents(chunk: Chunk, report: PartReport, *, strict: bool) -> Iterator[tuple[PlacedDocument, Raw, bytes]]:
    """Yield the usable documents of a chunk, each also as a line of homonym's own format, with its raw record.

    Problems go to the report, and the first one ends a strict run.
    """
    form, lines = format_named(chunk.form), StoredLines()
    is_own = form.name == "documents"
    if is_own:
        form = replace(form, parse=lines.parse)
    for sequence, raw in enumerate(chunk.raws, chunk.sequence):
        _, document, problems = parse_raw_record(raw, form, chunk.context, chunk.file, chunk.unit)
        report.add(problems, raw)
        if strict and any(problem.lost not in HARMLESS for problem in report.problems):
            return
        if document:
            report.western += is_western(raw.text)
            text = lines.stored(raw.text, document) if is_own else document_line(document)
            yield PlacedDocument(sequence, raw.number, document), raw, text


def reject_line(problem: Problem, raw: Raw | None = None) -> bytes:
    """A rejected record, author or field as a JSON line, with the text of a record that was lost as a whole."""
    line = {"file": problem.file, problem.unit: problem.line, "lost": problem.lost, "reason": problem.reason}
    if problem.lost == "record" and raw:
        line["text"] = raw.text.rstrip(b"\x1e").decode(errors="replace")  # a mark that tables add to a row
    return orjson.dumps(line) + b"\n"


def _write(tables: dict[str, pa.Table], work: Path, sequence: int, report: PartReport) -> PartReport:
    """Write the tables of a part and complete its report."""
    write_part(tables, work, sequence)
    report.records = len(tables["records"])
    report.mentions = pc.sum(tables["records"]["authors"], min_count=0).as_py()
    return report


# Mentions with bags


class MentionColumns(NamedTuple):
    """Mentions that bring their bags: columns of schema.MENTIONS, places in the whole input and in the file."""

    columns: pa.Table
    sequence: Integers
    line: Integers
    bags: dict[str, Occurrences]
    identifiers: list[tuple[int, str, str]]


def write_mentions(chunk: Chunk, settings: Settings, work: Path, *, strict: bool) -> PartReport:
    """Parse a chunk of mentions with bags, JSON lines, and write them as one part."""
    report = PartReport(read=len(chunk.raws))
    placed = []
    for sequence, raw in enumerate(chunk.raws, chunk.sequence):
        try:
            if raw.broken:
                raise BrokenRecordError(raw.broken)
            mention = parse_mention(raw.text)
        except BrokenRecordError as broken:
            report.add([Problem(chunk.file, raw.number, "record", str(broken))], raw)
        else:
            placed.append((sequence, raw.number, mention))
            report.add([Problem(chunk.file, raw.number, lost, reason) for lost, reason in mention.notes], raw)
        if strict and report.problems:
            break
    return _write(_mention_tables(_mention_columns(placed), chunk.sequence), work, chunk.sequence, report)


def _mention_columns(placed: list[tuple[int, int, Mention]]) -> MentionColumns:
    sequences, lines, mentions = zip(*placed, strict=True) if placed else ((), (), ())
    sequence = np.array(sequences, np.int64)
    rows = [(m.mention_id, m.document_id, m.position, m.name, m.block, m.year, m.label) for m in mentions]
    owners = mention_owners(sequence).tolist()
    ids = [
        (owner, kind, value)
        for owner, mention in zip(owners, mentions, strict=True)
        for kind, value in mention.ids.items()
    ]
    columns = _rows_table(rows, pa.schema([MENTIONS.field(name) for name in MENTION_COLUMNS]))
    return MentionColumns(columns, sequence, np.array(lines, np.int64), _bags_by_type(mentions, owners), ids)


def _bags_by_type(mentions: Iterable[Mention], owners: Iterable[int]) -> dict[str, Occurrences]:
    entries: defaultdict[str, tuple[list[int], list[str], list[float]]] = defaultdict(lambda: ([], [], []))
    for owner, mention in zip(owners, mentions, strict=True):
        for kind, bag in mention.features.items():
            owner_of, feature, count = entries[kind]
            owner_of += [owner] * len(bag)
            feature += bag
            count += bag.values()
    return {
        kind: occurrences_of_mentions(np.array(owner, np.int64), pa.array(feature, pa.string()), np.array(count))
        for kind, (owner, feature, count) in entries.items()
        if feature
    }


def _rows_table(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    return pa.table(list(zip(*rows, strict=True)), schema=schema) if rows else schema.empty_table()


def mention_owners(sequence: Integers) -> Integers:
    """The owners of mentions that are records of their own."""
    return (sequence << SLOT_BITS) + 1


def _mention_tables(mentions: MentionColumns, part: int) -> dict[str, pa.Table]:
    """The tables of a part of mentions."""
    rows, sequence, line, bags, ids = mentions
    size = len(rows)
    parsed_name, full_name = _parsed_names(rows["name"])
    # The bags of mentions do not contain the mention's own name.
    added = {
        "owner": mention_owners(sequence),
        "own_name": pa.nulls(size, pa.string()),
        "own_full_name": pa.nulls(size, pa.string()),
        "parsed_name": parsed_name,
        "full_name": full_name,
    }
    for name, column in added.items():
        rows = rows.append_column(name, pa.array(column))
    is_key, one = pa.repeat(pa.scalar(True), size), np.ones(size, np.int32)
    form, digest = pa.repeat(pa.scalar("mentions"), size), pa.nulls(size, pa.int64())
    first_author = pa.nulls(size, pa.string())
    features, bag_rows = bag_tables(bags, part)
    return {
        "mentions": rows.select(MENTION_ROWS.names).cast(MENTION_ROWS),
        "records": pa.table(
            [sequence, line, rows["mention_id"], is_key, rows["year"], one, form, digest, digest, first_author],
            schema=RECORD_ROWS,
        ),
        "identifiers": _rows_table(ids, IDENTIFIER_ROWS),
        "features": features,
        "bags": bag_rows,
    }


def _parsed_names(names: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """The columns `parsed_name` and `full_name`; each distinct name is parsed once."""
    coded = names.combine_chunks().dictionary_encode()
    parsed = [parse_name(name) if name else None for name in coded.dictionary.to_pylist()]
    encoded = pa.array([name and encode_name(name) for name in parsed], pa.string())
    full_name = pa.array([name and name.full_name for name in parsed], pa.string())
    return encoded.take(coded.indices), full_name.take(coded.indices)


# Mentions with bags in Parquet files


def write_mention_table(path: Path, sequence: int, work: Path, advance: Advance) -> int:
    """Write the rows of a Parquet file with the columns of schema.MENTIONS as parts; returns their number."""
    rows = 0
    for batch in _batches(path):
        table = _conformed(batch, path, rows)
        places = np.arange(sequence + rows, sequence + rows + len(table), dtype=np.int64)
        owners = mention_owners(places)
        mentions = MentionColumns(
            columns=table,
            sequence=places,
            line=np.arange(rows + 1, rows + 1 + len(table), dtype=np.int64),
            bags=_split_by_type(_bag_entries(table, path, rows), owners),
            identifiers=_identifier_rows(table["ids"], owners, path, rows),
        )
        write_part(_mention_tables(mentions, sequence + rows), work, sequence + rows)
        rows += len(table)
        advance(len(table))
    if not rows:
        raise InputError(f"{path} holds no mentions.")
    return rows


def _batches(path: Path) -> Iterator[pa.Table]:
    try:
        with plain_path(path) as plain, pq.ParquetFile(plain) as source:
            schema = source.schema_arrow
    except (pa.ArrowException, OSError, MemoryError) as broken:
        raise InputError(f"{path} is not a Parquet file ({first_line(broken)}).") from broken
    _require_columns(schema, path)
    columns = [name for name in MENTIONS.names if name in schema.names]
    try:
        for batch in columnar_batches(str(path), columns, BATCH_ROWS):
            yield pa.Table.from_batches([batch])
    except (pa.ArrowException, OSError, MemoryError) as broken:
        raise InputError(f"{path} is damaged ({first_line(broken)}); fetch or write the file again.") from broken


def _require_columns(schema: pa.Schema, path: Path) -> None:
    missing = sorted({"mention_id", "features"} - set(schema.names))
    if missing or not {"block", "name"} & set(schema.names):
        named = ", ".join(missing or ["block"])
        raise InputError(f"{path}: column {named} is missing; it has {', '.join(schema.names)}.")
    for name, wanted in (("features", BAG), ("ids", IDENTIFIERS)):
        if name in schema.names and not _has_fields(kind := schema.field(name).type, wanted):
            raise InputError(f"{path}: column {name} must be {wanted}, got {kind}.")


def _has_fields(kind: pa.DataType, wanted: pa.ListType) -> bool:
    """Whether a column of lists has all fields that are needed: a cast would fill a missing field with nulls."""
    entries = isinstance(kind, pa.ListType | pa.LargeListType) and isinstance(kind.value_type, pa.StructType)
    return pa.types.is_null(kind) or (entries and _field_names(wanted) <= _field_names(kind))


def _field_names(lists: pa.ListType) -> set[str]:
    return {entry.name for entry in lists.value_type}


def _conformed(table: pa.Table, path: Path, row: int) -> pa.Table:
    """All columns of schema.MENTIONS in their types; absent ones are null, and the name replaces a missing block."""
    columns = {}
    for wanted in MENTIONS:
        column = table[wanted.name] if wanted.name in table.column_names else pa.nulls(len(table), wanted.type)
        try:
            columns[wanted.name] = column.cast(wanted.type)
        except pa.ArrowException as broken:
            raise InputError(f"{path}: column {wanted.name} must be {wanted.type}, got {column.type}.") from broken
    for name in ("mention_id", "document_id", "block", "author"):
        columns[name] = pc.if_else(pc.equal(columns[name], ""), None, columns[name])
    columns["block"] = pc.coalesce(columns["block"], columns["name"])
    for name in ("mention_id", "block"):
        if columns[name].null_count:
            place = row + pc.index(pc.is_null(columns[name]), True).as_py() + 1
            raise InputError(f"{path}, row {place}: {name} is missing; every mention needs one.")
    return pa.table(columns)


def _bag_entries(table: pa.Table, path: Path, row: int) -> pa.Table:
    """The entries of all bags with the row of their mention; entries of one feature are added up."""
    bags = table["features"].combine_chunks()
    place, entries = pc.list_parent_indices(bags), pc.list_flatten(bags)
    kind, feature, count = (pc.struct_field(entries, name) for name in ("type", "feature", "count"))
    usable = pc.and_(pc.greater_equal(count, SMALLEST_COUNT), pc.less_equal(count, LARGEST_COUNT))
    usable = pc.and_(pc.or_(usable, pc.equal(count, 0.0)), pc.and_(pc.is_valid(kind), pc.is_valid(feature)))
    wrong = pc.index(pc.fill_null(usable, False), False).as_py()
    if wrong >= 0:
        raise InputError(
            f"{path}, row {row + place[wrong].as_py() + 1}: the feature {entries[wrong].as_py()} needs a type, a name "
            "and a count that is 0 or lies in 1e-9 to 1e9."
        )
    used = pa.table({"place": place, "type": kind, "feature": feature, "count": count})
    used = used.filter(pc.not_equal(count, 0.0)).group_by(["place", "type", "feature"], use_threads=False)
    return used.aggregate([("count", "sum")]).rename_columns({"count_sum": "count"})


def _split_by_type(entries: pa.Table, owners: Integers) -> dict[str, Occurrences]:
    types = {}
    for kind in pc.unique(entries["type"]).to_pylist():
        chosen = entries.filter(pc.equal(entries["type"], kind))
        owner = owners[chosen["place"].to_numpy()]
        types[kind] = occurrences_of_mentions(owner, chosen["feature"].combine_chunks(), chosen["count"].to_numpy())
    return types


def _identifier_rows(ids: pa.ChunkedArray, owners: Integers, path: Path, row: int) -> list[tuple[int, str, str]]:
    rows = []
    for place, (owner, entries) in enumerate(zip(owners.tolist(), ids.to_pylist(), strict=True)):
        for entry in entries or ():
            kind, value = entry["kind"], entry["id"]
            valid = identifiers.normalise(kind, value) if kind else None
            if valid is None:
                title = identifiers.TITLES.get(kind, kind)
                raise InputError(
                    f"{path}, row {row + place + 1}: {value!r} is not a valid {title}; correct or remove it."
                )
            rows.append((owner, identifier_kind(kind), valid))
    return rows
