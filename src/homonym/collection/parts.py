"""Records to tables: a chunk of records becomes one part, a handful of Parquet files in the work directory.

Every bag has an owner: `sequence << 20 | slot`, the record's place in the whole input and 0 for the document itself or
1 + position for one of its authors. Owners sort like the input and need no lookup.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from homonym.blocking import SCHEMES
from homonym.features.registry import OWN, SHARED, others
from homonym.names import Name, parse_name
from homonym.records.formats import Unit, named
from homonym.records.mentions import Mention, parse_mention
from homonym.records.model import Document
from homonym.records.people import folded
from homonym.records.problems import BrokenRecordError, Problem
from homonym.records.reading import understand
from homonym.records.splitting import Raw
from homonym.records.writing import document_line
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
     ("name", pa.string()), ("parsed_name", pa.string()), ("own_name", pa.string()), ("block", pa.string()),
     ("author", pa.string())]
)  # fmt: skip
"""Mentions; `own_name` is the normalised name to take out of the document's names, `parsed_name` see `spelled`."""

RECORD_ROWS = pa.schema(
    [
        ("sequence", pa.int64()),
        ("line", pa.int64()),
        ("id", pa.string()),
        ("id_is_key", pa.bool_()),
        ("year", pa.int32()),
        ("authors", pa.int32()),
    ]
)
KEY_ROWS = pa.schema([("sequence", pa.int64()), ("key", pa.string())])
"""What else a record is known by: two with one key are one document."""

REFERENCE_ROWS = pa.schema([("sequence", pa.int64()), ("id", pa.string()), ("holders", pa.int32())])
IDENTIFIER_ROWS = pa.schema([("owner", pa.int64()), ("kind", pa.string()), ("id", pa.string())])
"""Identifiers of people, by mention."""

PARTS = {
    "occurrences": OCCURRENCES,
    "mentions": MENTION_ROWS,
    "records": RECORD_ROWS,
    "keys": KEY_ROWS,
    "references": REFERENCE_ROWS,
    "identifiers": IDENTIFIER_ROWS,
}
"""The tables of a part, each in a folder of its own; a folder that no part has filled is not there."""

CONVERTED = "converted"
"""The folder of documents as lines, one file for each part, beside its records."""


@dataclass(frozen=True)
class Chunk:
    """Some raw records of one file, what is needed to parse them, and the place of the first in the whole input."""

    file: str
    sequence: int
    raws: list[Raw]
    form: str = "documents"
    context: Any = None
    unit: Unit = "line"


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
    part, report = Part(), PartReport(read=len(chunk.raws))
    for sequence, raw, document in _documents(chunk, report, strict=strict):
        unnamed = part.add_document(document, sequence, raw.number, settings)
        report.add([Problem(chunk.file, raw.number, "author", reason, chunk.unit) for reason in unnamed], raw)
    return part.write(work, chunk.sequence, report)


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
    return part.write(work, chunk.sequence, report)


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
    return part.write(work, chunk.sequence, report)


def _documents(chunk: Chunk, report: PartReport, *, strict: bool) -> Iterator[tuple[int, Raw, Document]]:
    """Yield the documents of a chunk with their places; the report takes what is wrong with the others."""
    form = named(chunk.form)
    for sequence, raw in enumerate(chunk.raws, chunk.sequence):
        _, document, problems = understand(raw, form, chunk.context, chunk.file, chunk.unit)
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


def spelled(name: Name) -> str:
    """A parsed name as text: parsing takes much longer than reading that back.

    >>> spelled(parse_name("van der Berg, Jan-Willem K., Jr"))
    'VAN DER BERG|JWK|JAN WILLEM K|JR'
    """
    return "|".join((name.surname, name.initials, " ".join(name.given), name.suffix))


def unspelled(text: str) -> Name:
    """A name as `spelled` wrote it.

    >>> unspelled("BERG|JW|JAN W|")
    Name(surname='BERG', initials='JW', given=('JAN', 'W'), suffix='')
    """
    surname, initials, given, suffix = text.split("|")
    return Name(surname, initials, tuple(given.split()), suffix)


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


class Part:
    """The columns of one part while it is filled."""

    def __init__(self) -> None:
        self.bags: dict[str, _Bags] = {}
        self.mentions: list[tuple[Any, ...]] = []
        self.records: list[tuple[Any, ...]] = []
        self.keys: list[tuple[Any, ...]] = []
        self.references: list[tuple[Any, ...]] = []
        self.identifiers: list[tuple[Any, ...]] = []

    def add_record(self, document: Document, sequence: int, line: int) -> None:
        """Note a document and all that it is known by."""
        self.records.append((sequence, line, document.id, document.id_is_key, document.year, len(document.authors)))
        self.keys += [(sequence, f"{kind}:{value}") for kind, value in document.ids.items()]
        if not document.id_is_key and document.title:
            # A name that somebody chose tells a document only together with its title.
            self.keys.append((sequence, f"name:{document.id} {folded(document.title)}"))

    def add_document(self, document: Document, sequence: int, line: int, settings: Settings) -> list[str]:
        """Add a document with its features; says which of its authors have no name."""
        scheme, unnamed = SCHEMES[settings.blocking], []
        named_authors = []
        for author in document.authors:
            name = parse_name(author.name)
            if name.surname:
                named_authors.append((author, name))
            else:
                unnamed.append(f"author {author.position} has no name ({author.name.strip()!r})")
        document.authors = [author for author, _ in named_authors]
        holders, owner = len(named_authors), sequence << SLOT_BITS
        for kind, shared in SHARED.items():
            # A bag of all names holds each mention's own, which is not its co-author.
            self._add_bag(owner, kind, shared(document, settings), holders - (kind == "co"))
        if document.other_authors:
            keys = {name.key for _, name in named_authors}
            self._add_bag(owner, "co", others(document, keys), holders)
        for author, name in named_authors:
            mention = owner + 1 + author.position
            for kind, own in OWN.items():
                self._add_bag(mention, kind, own(author, settings), 1)
            mention_id = f"{document.id}#{author.position}"
            block = scheme(name, author.block)
            self.mentions.append(
                (mention, mention_id, document.id, author.position, author.name, spelled(name), name.key, block,
                 author.label)
            )  # fmt: skip
            self.identifiers += [(mention, kind, value) for kind, value in author.ids.items()]
            if author.emails:
                self.identifiers.append((mention, "email", min(author.emails).lower()))
        self.add_record(document, sequence, line)
        if holders:
            self.references += [(sequence, reference, holders) for reference in document.references]
        return unnamed

    def add_mention(self, mention: Mention, sequence: int, line: int) -> None:
        """Add a mention with the features it brings along."""
        owner = (sequence << SLOT_BITS) + 1
        for kind, bag in mention.features.items():
            self._add_bag(owner, kind, bag, 1)
        own_name = None  # a bag that is brought along has its own name taken out already
        parsed_name = spelled(parse_name(mention.name)) if mention.name else None
        self.mentions.append(
            (owner, mention.mention_id, mention.document_id, mention.position, mention.name, parsed_name, own_name,
             mention.block, mention.label)
        )  # fmt: skip
        self.identifiers += [(owner, kind, value) for kind, value in mention.ids.items()]
        self.records.append((sequence, line, mention.mention_id, True, None, 1))

    def _add_bag(self, owner: int, kind: str, bag: Mapping[str, float], holders: int) -> None:
        if bag and holders > 0:
            self.bags.setdefault(kind, _Bags()).add(owner, bag, holders)

    def write(self, work: Path, sequence: int, report: PartReport) -> PartReport:
        """Store the tables of the part and count what is in it."""
        tables = {name: _table(getattr(self, name), schema) for name, schema in PARTS.items() if name != "occurrences"}
        bags = [bag.table(kind) for kind, bag in self.bags.items()]
        tables["occurrences"] = pa.concat_tables(bags) if bags else OCCURRENCES.empty_table()
        for name, table in tables.items():
            if len(table):
                write_part(table, work, name, sequence)
        report.records, report.mentions = len(self.records), sum(record[-1] for record in self.records)
        return report


def write_part(table: pa.Table, work: Path, name: str, sequence: int) -> None:
    """Store one table of a part."""
    folder = work / name
    folder.mkdir(exist_ok=True)
    pq.write_table(table, folder / f"{sequence:015d}.parquet", compression="lz4")


def _table(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    return pa.table(list(zip(*rows, strict=True)), schema=schema) if rows else schema.empty_table()


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
