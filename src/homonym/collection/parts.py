"""Records to tables: a chunk of records becomes one part, a handful of Parquet files in the work directory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.collection.bags import Occurrences, bag_tables
from homonym.collection.extractor import Part, tables_at_once
from homonym.collection.layout import (
    CONVERTED,
    IDENTIFIER_ROWS,
    MENTION_ROWS,
    MOST_AUTHORS,
    RECORD_ROWS,
    SLOT_BITS,
    write_part,
)
from homonym.errors import InputError
from homonym.features.blocking import encode_name
from homonym.messages import first_line
from homonym.names.parse import parse_name
from homonym.records.fields import identifiers
from homonym.records.formats.documents import LARGEST_COUNT, SMALLEST_COUNT, document_line, parse_mention
from homonym.records.model import BrokenRecordError, Document, Problem
from homonym.records.parsing.splitting import Raw
from homonym.records.reader import parse_raw_record
from homonym.records.registry import Unit, format_named
from homonym.runtime.progress import Advance
from homonym.schema import BAG, IDENTIFIERS, MENTIONS
from homonym.settings import Settings


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
        """What passes to another process: plain lists are there in a third of the time that objects take."""
        return (self.file, self.sequence, *zip(*self.raws, strict=True), self.form, self.context, self.unit)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        file, sequence, *columns, form, context, unit = state
        raws = list(map(Raw._make, zip(*columns, strict=True)))
        for name, value in zip(self.__slots__, (file, sequence, raws, form, context, unit), strict=True):
            object.__setattr__(self, name, value)


@dataclass
class PartReport:
    """What came of one chunk: `read` raw records, of which `records` could be used; `rejects` are lines of JSON."""

    read: int = 0
    records: int = 0
    mentions: int = 0
    problems: list[Problem] = field(default_factory=list)
    rejects: list[bytes] = field(default_factory=list)

    def add(self, problems: list[Problem], raw: Raw) -> None:
        """Note what was wrong with a record, and keep it if it is lost."""
        self.problems += problems
        self.rejects += [_reject(problem, raw) for problem in problems]


def write_documents(chunk: Chunk, settings: Settings, work: Path, *, strict: bool) -> PartReport:
    """Read a chunk of documents, extract their features and store them as one part."""
    if chunk.form == "documents" and (tables := tables_at_once(chunk.raws, chunk.sequence, settings)):
        return _write(tables, work, chunk.sequence, PartReport(read=len(chunk.raws)))
    part, report = Part(), PartReport(read=len(chunk.raws))
    for sequence, raw, document in _documents(chunk, report, strict=strict):
        unnamed = part.add_document(document, sequence, raw.number, settings)
        report.add([Problem(chunk.file, raw.number, "author", reason, chunk.unit) for reason in unnamed], raw)
    return _write(part.tables(chunk.sequence), work, chunk.sequence, report)


def write_lines(chunk: Chunk, settings: Settings, work: Path, *, strict: bool) -> PartReport:
    """Read a chunk of documents and store them as lines of homonym's own format."""
    part, report = Part(), PartReport(read=len(chunk.raws))
    lines = []
    for sequence, raw, document in _documents(chunk, report, strict=strict):
        part.add_record(document, sequence, raw.number)
        lines.append(document_line(document))
    if lines:
        folder = work / CONVERTED
        folder.mkdir(exist_ok=True)
        (folder / f"{chunk.sequence:015d}.jsonl").write_bytes(b"".join(lines))
    return _write(part.tables(chunk.sequence), work, chunk.sequence, report)


def write_mentions(chunk: Chunk, settings: Settings, work: Path, *, strict: bool) -> PartReport:
    """Read a chunk of mentions with bags and store them as one part."""
    part, report = Part(), PartReport(read=len(chunk.raws))
    for sequence, raw in enumerate(chunk.raws, chunk.sequence):
        try:
            mention = parse_mention(raw.text)
        except BrokenRecordError as broken:
            report.add([Problem(chunk.file, raw.number, "record", str(broken))], raw)
        else:
            part.add_mention(mention, sequence, raw.number)
            report.add([Problem(chunk.file, raw.number, lost, reason) for lost, reason in mention.notes], raw)
        if strict and report.problems:
            break
    return _write(part.tables(chunk.sequence), work, chunk.sequence, report)


def _write(tables: dict[str, pa.Table], work: Path, sequence: int, report: PartReport) -> PartReport:
    """Store the tables of a part and count what is in it."""
    for name, table in tables.items():
        if len(table):
            write_part(table, work, name, sequence)
    report.records = len(tables["records"])
    report.mentions = pc.sum(tables["records"]["authors"], min_count=0).as_py()
    return report


def _documents(chunk: Chunk, report: PartReport, *, strict: bool) -> Iterator[tuple[int, Raw, Document]]:
    """Yield the documents of a chunk with their places; the report takes what is wrong with the others."""
    form = format_named(chunk.form)
    for sequence, raw in enumerate(chunk.raws, chunk.sequence):
        _, document, problems = parse_raw_record(raw, form, chunk.context, chunk.file, chunk.unit)
        if document and document.authors and document.authors[-1].position >= MOST_AUTHORS:
            problem = Problem(chunk.file, raw.number, "record", f"more than {MOST_AUTHORS} authors", chunk.unit)
            document, problems = None, [problem]
        report.add(problems, raw)
        if strict and report.problems:
            return
        if document:
            yield sequence, raw, document


def _reject(problem: Problem, raw: Raw) -> bytes:
    """What was set aside as a line of JSON, with the text of a record that was lost whole."""
    said = {"file": problem.file, problem.unit: problem.line, "lost": problem.lost, "reason": problem.reason}
    if problem.lost == "record":
        said["text"] = raw.text.decode(errors="replace")
    return orjson.dumps(said) + b"\n"


def chunks(raws: Iterable[Raw], first: Chunk, size: int) -> Iterator[Chunk]:
    """Group raw records into chunks of about `size` bytes, all like the first one, which is empty."""
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


BATCH_ROWS = 20_000


def write_mention_table(path: Path, sequence: int, work: Path, advance: Advance) -> int:
    """Store the rows of a table in the layout of schema.MENTIONS as parts; returns how many there were."""
    rows = 0
    for batch in _batches(path):
        table = _conformed(batch, path, rows)
        _write_mention_part(table, sequence + rows, work, _occurrences(table, path, rows), rows)
        _write_identifiers(table["ids"], sequence + rows, work, path, rows)
        rows += len(table)
        advance(len(table))
    if not rows:
        raise InputError(f"{path} holds no mentions.")
    return rows


def _batches(path: Path) -> Iterator[pa.Table]:
    try:
        source = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as broken:
        raise InputError(f"{path} is not a Parquet file ({first_line(broken)}).") from broken
    _require_columns(source.schema_arrow, path)
    columns = [name for name in MENTIONS.names if name in source.schema_arrow.names]
    try:
        for batch in source.iter_batches(BATCH_ROWS, columns=columns):
            yield pa.Table.from_batches([batch])
    except (pa.ArrowException, OSError) as broken:
        raise InputError(f"{path} is damaged ({first_line(broken)}); fetch or write the file again.") from broken


def _require_columns(schema: pa.Schema, path: Path) -> None:
    missing = sorted({"mention_id", "features"} - set(schema.names))
    if missing or not {"block", "name"} & set(schema.names):
        named = ", ".join(missing or ["block"])
        raise InputError(f"{path}: column {named} is missing; it has {', '.join(schema.names)}.")
    for name, wanted in (("features", BAG), ("ids", IDENTIFIERS)):
        if name in schema.names and not _fits(kind := schema.field(name).type, wanted):
            raise InputError(f"{path}: column {name} must be {wanted}, got {kind}.")


def _fits(kind: pa.DataType, wanted: pa.ListType) -> bool:
    """Whether a column of lists has all that its entries need: a cast would fill up a field that they lack."""
    entries = isinstance(kind, pa.ListType | pa.LargeListType) and isinstance(kind.value_type, pa.StructType)
    return pa.types.is_null(kind) or (entries and set(_names(wanted)) <= set(_names(kind)))


def _names(bag: pa.ListType) -> list[str]:
    return [entry.name for entry in bag.value_type]


def _conformed(table: pa.Table, path: Path, row: int) -> pa.Table:
    """The columns of schema.MENTIONS in their types, absent ones empty, the name standing in for a missing block."""
    columns = {}
    for column_field in MENTIONS:
        present = column_field.name in table.column_names
        column = table[column_field.name] if present else pa.nulls(len(table), column_field.type)
        try:
            columns[column_field.name] = column.cast(column_field.type)
        except pa.ArrowException as broken:
            raise InputError(
                f"{path}: column {column_field.name} must be {column_field.type}, got {column.type}."
            ) from broken
    for name in ("mention_id", "document_id", "block", "author"):
        columns[name] = pc.if_else(pc.equal(columns[name], ""), None, columns[name])
    columns["block"] = pc.coalesce(columns["block"], columns["name"])
    for name in ("mention_id", "block"):
        if columns[name].null_count:
            place = row + pc.index(pc.is_null(columns[name]), True).as_py() + 1
            raise InputError(f"{path}, row {place}: {name} is missing; every mention needs one.")
    return pa.table(columns)


def _occurrences(table: pa.Table, path: Path, row: int) -> pa.Table:
    """The entries of all bags with the place of their mention, those of one feature added up."""
    bags = table["features"].combine_chunks()
    bags = bags.combine_chunks() if isinstance(bags, pa.ChunkedArray) else bags
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


def _write_mention_part(table: pa.Table, sequence: int, work: Path, occurrences: pa.Table, row: int) -> None:
    places = pa.array(range(sequence, sequence + len(table)), pa.int64())
    owners = pc.add(pc.multiply(places, 1 << SLOT_BITS), 1)
    mentions = table.append_column("owner", owners)
    mentions = mentions.append_column("own_name", pa.nulls(len(table), pa.string()))
    mentions = mentions.append_column("parsed_name", _parsed(table["name"]))
    write_part(mentions.select(MENTION_ROWS.names).cast(MENTION_ROWS), work, "mentions", sequence)
    lines = pa.array(range(row + 1, row + 1 + len(table)), pa.int64())
    is_key, year = pa.repeat(pa.scalar(True), len(table)), pa.nulls(len(table), pa.int32())
    one = pa.repeat(pa.scalar(1, pa.int32()), len(table))
    records = pa.table([places, lines, table["mention_id"], is_key, year, one], schema=RECORD_ROWS)
    write_part(records, work, "records", sequence)
    if len(occurrences):
        features, bags = bag_tables(_by_type(occurrences, owners), sequence)
        write_part(features, work, "features", sequence)
        write_part(bags, work, "bags", sequence)


def _by_type(occurrences: pa.Table, owners: pa.Array) -> dict[str, Occurrences]:
    """The entries of each feature type."""
    types = {}
    for kind in pc.unique(occurrences["type"]).to_pylist():
        entries = occurrences.filter(pc.equal(occurrences["type"], kind))
        coded = entries["feature"].combine_chunks().dictionary_encode()
        types[kind] = Occurrences(
            coded.dictionary,
            owners.take(entries["place"].combine_chunks()).to_numpy(),
            coded.indices.to_numpy().astype(np.int64),
            entries["count"].to_numpy(),
            np.ones(len(entries), np.int32),
        )
    return types


def _parsed(names: pa.ChunkedArray) -> pa.Array:
    """Each name as it is understood, a name that stands there often once."""
    coded = names.combine_chunks().dictionary_encode()
    parsed = [encode_name(parse_name(name)) if name else None for name in coded.dictionary.to_pylist()]
    return pa.array(parsed, pa.string()).take(coded.indices)


def _write_identifiers(ids: pa.ChunkedArray, sequence: int, work: Path, path: Path, row: int) -> None:
    found = []
    for place, entries in enumerate(ids.to_pylist()):
        for entry in entries or ():
            kind, value = entry["kind"], entry["id"]
            valid = identifiers.normalise(kind, value) if kind else None
            if valid is None:
                raise InputError(f"{path}, row {row + place + 1}: {value!r} is no {kind}; correct or remove it.")
            found.append((((sequence + place) << SLOT_BITS) + 1, kind, valid))
    if found:
        write_part(pa.table(list(zip(*found, strict=True)), schema=IDENTIFIER_ROWS), work, "identifiers", sequence)
