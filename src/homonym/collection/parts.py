"""Records to tables: a chunk of lines becomes one part, a handful of Parquet files in the work directory.

Every bag has an owner: `sequence << 20 | slot`, the line's place in the whole input and 0 for the document itself or
1 + position for one of its authors. Owners sort like the input and need no lookup.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from homonym.blocking import SCHEMES
from homonym.features.registry import OWN, SHARED
from homonym.names import parse_name
from homonym.records.documents import Document, parse_document
from homonym.records.mentions import Mention, parse_mention
from homonym.records.problems import BrokenRecordError, Problem
from homonym.settings import Settings

SLOT_BITS = 20
MOST_AUTHORS = (1 << SLOT_BITS) - 2

OCCURRENCES = pa.schema(
    [("owner", pa.int64()), ("type", pa.string()), ("feature", pa.string()), ("count", pa.float64()),
     ("holders", pa.int32())]
)  # fmt: skip
"""Bags; `holders` is the number of mentions that a bag counts for."""

MENTION_ROWS = pa.schema(
    [("owner", pa.int64()), ("mention_id", pa.string()), ("document_id", pa.string()), ("position", pa.int32()),
     ("name", pa.string()), ("own_name", pa.string()), ("block", pa.string()), ("author", pa.string())]
)  # fmt: skip
"""Mentions; `own_name` is the normalised name to take out of the document's names."""

RECORD_ROWS = pa.schema([("sequence", pa.int64()), ("line", pa.int64()), ("id", pa.string())])
REFERENCE_ROWS = pa.schema([("sequence", pa.int64()), ("id", pa.string()), ("holders", pa.int32())])

PARTS = {
    "occurrences": OCCURRENCES,
    "mentions": MENTION_ROWS,
    "records": RECORD_ROWS,
    "references": REFERENCE_ROWS,
}
"""The tables of a part, each in a folder of its own; a folder that no part has filled is not there."""


@dataclass(frozen=True)
class Chunk:
    """Some lines of one file: their numbers, their texts, and the place of the first in the whole input."""

    file: str
    sequence: int
    lines: list[tuple[int, bytes]]


@dataclass
class PartReport:
    """What came of one chunk."""

    lines: int = 0
    records: int = 0
    mentions: int = 0
    problems: list[Problem] = field(default_factory=list)


def write_documents(chunk: Chunk, settings: Settings, work: Path, *, strict: bool) -> PartReport:
    """Read a chunk of documents, extract their features and store them as one part."""
    part, report = _Part(), PartReport(lines=len(chunk.lines))
    for sequence, (line, text) in enumerate(chunk.lines, chunk.sequence):
        try:
            document, notes = parse_document(text)
            if document.authors and document.authors[-1].position >= MOST_AUTHORS:
                raise BrokenRecordError(f"more than {MOST_AUTHORS} authors")
        except BrokenRecordError as broken:
            report.problems.append(Problem(chunk.file, line, "record", str(broken)))
        else:
            notes += part.add_document(document, sequence, line, settings)
            report.problems += [Problem(chunk.file, line, lost, reason) for lost, reason in notes]
        if strict and report.problems:
            break
    return part.write(work, chunk.sequence, report)


def write_mentions(chunk: Chunk, settings: Settings, work: Path, *, strict: bool) -> PartReport:
    """Read a chunk of mentions with bags and store them as one part."""
    part, report = _Part(), PartReport(lines=len(chunk.lines))
    for sequence, (line, text) in enumerate(chunk.lines, chunk.sequence):
        try:
            part.add_mention(parse_mention(text), sequence, line)
        except BrokenRecordError as broken:
            report.problems.append(Problem(chunk.file, line, "record", str(broken)))
            if strict:
                break
    return part.write(work, chunk.sequence, report)


class _Bags:
    """The bags of one feature type: occurrences one after the other, and for each bag whose they are."""

    def __init__(self) -> None:
        self.owners: list[int] = []
        self.sizes: list[int] = []
        self.holders: list[int] = []
        self.features: list[str] = []
        self.counts: list[float] = []

    def add(self, owner: int, bag: Mapping[str, float], holders: int) -> None:
        self.owners.append(owner)
        self.sizes.append(len(bag))
        self.holders.append(holders)
        self.features += bag
        self.counts += bag.values()

    def table(self, kind: str) -> pa.Table:
        columns = [
            np.repeat(np.array(self.owners, np.int64), self.sizes),
            pa.repeat(pa.scalar(kind), len(self.features)),
            pa.array(self.features, pa.string()),
            np.array(self.counts, np.float64),
            np.repeat(np.array(self.holders, np.int32), self.sizes),
        ]
        return pa.table(columns, schema=OCCURRENCES)


class _Part:
    """The columns of one part while it is filled."""

    def __init__(self) -> None:
        self.bags: dict[str, _Bags] = {}
        self.mentions: list[tuple[Any, ...]] = []
        self.records: list[tuple[Any, ...]] = []
        self.references: list[tuple[Any, ...]] = []

    def add_document(self, document: Document, sequence: int, line: int, settings: Settings) -> list[Any]:
        scheme, notes = SCHEMES[settings.blocking], []
        named = []
        for author in document.authors:
            name = parse_name(author.name)
            if name.surname:
                named.append((author, name))
            else:
                notes.append(("author", f"author {author.position} has no name ({author.name.strip()!r})"))
        document.authors = [author for author, _ in named]
        holders, owner = len(named), sequence << SLOT_BITS
        for kind, shared in SHARED.items():
            # A bag of all names holds each mention's own, which is not its co-author.
            self._add_bag(owner, kind, shared(document, settings), holders - (kind == "co"))
        for author, name in named:
            mention = owner + 1 + author.position
            for kind, own in OWN.items():
                self._add_bag(mention, kind, own(author, settings), 1)
            mention_id = f"{document.id}#{author.position}"
            block = scheme(name, author.block)
            self.mentions.append(
                (mention, mention_id, document.id, author.position, author.name, name.key, block, author.label)
            )
        self.records.append((sequence, line, document.id))
        if holders:
            self.references += [(sequence, reference, holders) for reference in document.references]
        return notes

    def add_mention(self, mention: Mention, sequence: int, line: int) -> None:
        owner = (sequence << SLOT_BITS) + 1
        for kind, bag in mention.features.items():
            self._add_bag(owner, kind, bag, 1)
        own_name = None  # a bag that is brought along has its own name taken out already
        self.mentions.append(
            (owner, mention.mention_id, mention.document_id, mention.position, mention.name, own_name, mention.block,
             mention.label)
        )  # fmt: skip
        self.records.append((sequence, line, mention.mention_id))

    def _add_bag(self, owner: int, kind: str, bag: Mapping[str, float], holders: int) -> None:
        if bag and holders > 0:
            self.bags.setdefault(kind, _Bags()).add(owner, bag, holders)

    def write(self, work: Path, sequence: int, report: PartReport) -> PartReport:
        tables = {
            "occurrences": pa.concat_tables([bags.table(kind) for kind, bags in self.bags.items()])
            if self.bags
            else OCCURRENCES.empty_table(),
            "mentions": _table(self.mentions, MENTION_ROWS),
            "records": _table(self.records, RECORD_ROWS),
            "references": _table(self.references, REFERENCE_ROWS),
        }
        for name, table in tables.items():
            if len(table):
                write_part(table, work, name, sequence)
        report.records, report.mentions = len(tables["records"]), len(tables["mentions"])
        return report


def write_part(table: pa.Table, work: Path, name: str, sequence: int) -> None:
    """Store one table of a part."""
    folder = work / name
    folder.mkdir(exist_ok=True)
    pq.write_table(table, folder / f"{sequence:015d}.parquet", compression="lz4")


def _table(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    return pa.table(list(zip(*rows, strict=True)), schema=schema) if rows else schema.empty_table()


def chunks(lines: Iterable[tuple[int, bytes]], file: str, sequence: int, size: int) -> Iterable[Chunk]:
    """Group numbered lines into chunks of about `size` bytes."""
    gathered: list[tuple[int, bytes]] = []
    filled = 0
    for line in lines:
        gathered.append(line)
        filled += len(line[1])
        if filled >= size:
            yield Chunk(file, sequence, gathered)
            sequence += len(gathered)
            gathered, filled = [], 0
    if gathered:
        yield Chunk(file, sequence, gathered)
