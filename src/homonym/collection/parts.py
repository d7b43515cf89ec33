"""Records to tables: a chunk of records becomes one part, a handful of Parquet files in the work directory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from homonym.collection.at_once import tables_at_once
from homonym.collection.layout import CONVERTED, MOST_AUTHORS, write_part
from homonym.collection.part import Part
from homonym.records.formats import Unit, named
from homonym.records.mentions import parse_mention
from homonym.records.model import Document
from homonym.records.problems import BrokenRecordError, Problem
from homonym.records.reading import understand
from homonym.records.splitting import Raw
from homonym.records.writing import document_line
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
