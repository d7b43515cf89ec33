"""Tasks that read: lines or whole files in, the tables of parts out."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from homonym.collection.layout import DOCUMENT_ROWS, KEY_ROWS, SLOT_BITS
from homonym.collection.parts import (
    Chunk,
    PartReport,
    chunks,
    whole_documents,
    write_documents,
    write_mention_table,
    write_mentions,
    write_merged,
)
from homonym.engines.spark.input_plan import MENTIONS, InputPlan, PlannedFile
from homonym.engines.spark.part_tables import PART_ROWS, part_row, read_tables, rows_of
from homonym.engines.spark.session import Batches
from homonym.errors import HomonymError, InputError
from homonym.io import inputs
from homonym.io.inputs import TOO_LONG, Source
from homonym.records.parsing.splitting import Raw
from homonym.records.reader import Records, format_of
from homonym.settings import Settings

# Bytes of input per part; with more, fewer features have to be looked up in all parts together.
PART_BYTES = 8 << 20

# The kind of problem if a file cannot be read at all: the run fails.
FATAL = "fatal"

# The tables that reading gives. Lines are counted inside their split; `splits` has the number of lines of each.
READ = {
    "parts": PART_ROWS,
    "records": pa.schema(
        [("sequence", pa.int64()), ("part", pa.int64()), ("line", pa.int64()), ("id", pa.string()),
         ("id_is_key", pa.bool_()), ("year", pa.int32()), ("authors", pa.int32()), ("form", pa.string()),
         ("title", pa.int64()), ("work", pa.int64()), ("first_author", pa.string()), ("names", pa.list_(pa.string()))]
    ),
    "documents": DOCUMENT_ROWS,
    "mentions": pa.schema(
        [("sequence", pa.int64()), ("part", pa.int64()), ("block", pa.string()), ("full_name", pa.string()),
         ("document", pa.string())]
    ),
    "keys": KEY_ROWS,
    "references": pa.schema(
        [("sequence", pa.int64()), ("part", pa.int64()), ("id", pa.string()), ("holders", pa.int32())]
    ),
    "problems": pa.schema(
        [("sequence", pa.int64()), ("ordinal", pa.int32()), ("file", pa.int32()), ("start", pa.int64()),
         ("line", pa.int64()), ("lost", pa.string()), ("reason", pa.string()), ("unit", pa.string()),
         ("reject", pa.binary())]
    ),
    "splits": pa.schema([("file", pa.int32()), ("start", pa.int64()), ("lines", pa.int64()), ("unit", pa.string())]),
}  # fmt: skip


def read_lines(batches: Batches, plan: InputPlan, settings: Settings) -> Batches:
    """Make parts of the lines that Spark reads, in columns url, start and line."""
    split: _Split | None = None
    for batch in batches:
        urls, begin, lines = (batch.column(name).to_pylist() for name in ("url", "start", "line"))
        for url, start, line in zip(urls, begin, lines, strict=True):
            if split is None or start != split.start or url != split.url:
                if split:
                    yield from split.end()
                split = _Split(url, start, plan, settings)
            if split.add(line):
                yield from split.flush()
    if split:
        yield from split.end()


class _Split:
    """Collects the lines of one split of a file."""

    def __init__(self, url: str, start: int, plan: InputPlan, settings: Settings) -> None:
        self.url, self.start, self.settings = url, start, settings
        self.number = plan.number(url)
        self.file = plan.files[self.number]
        self.writer = write_mentions if plan.mentions else write_documents
        self.lines = self.records = self.filled = 0
        self.raws: list[Raw] = []

    def add(self, line: bytes) -> bool:
        """Add a line; returns whether the part is full."""
        self.lines += 1
        if line and not line.isspace():
            if len(line) > inputs.MAX_RECORD_BYTES:
                self.raws.append(Raw(self.lines, line[: inputs.KEPT_BYTES], TOO_LONG))
            else:
                self.raws.append(Raw(self.lines, line))
            self.filled += len(line)
        return self.filled >= PART_BYTES

    def flush(self) -> Batches:
        """Make a part of the lines so far."""
        if not self.raws:
            return
        sequence = self.file.base + self.start + self.records
        self.records += len(self.raws)
        _require_room(self.start + self.records, self.file)
        chunk = Chunk(self.file.name, sequence, self.raws, self.file.form or "")
        self.raws, self.filled = [], 0
        yield from _part(chunk, self.settings, self.writer, self.number, self.start)

    def end(self) -> Batches:
        """Make the last part, and report the number of lines."""
        yield from self.flush()
        yield from _split_row(self.number, self.start, self.lines, "line")


def read_files(batches: Batches, plan: InputPlan, settings: Settings) -> Batches:
    """Make parts of whole files, in columns url and content."""
    for batch in batches:
        for url, content in zip(batch.column("url").to_pylist(), batch.column("content"), strict=True):
            number = plan.number(url)
            file = plan.files[number]
            try:
                with _on_disk(content.as_buffer(), file) as path:
                    yield from _file(path, file, number, plan, settings)
            except HomonymError as wrong:
                yield from _problem_rows([(file.base, 0, number, 0, 0, FATAL, str(wrong), "line", b"")])


@contextmanager
def _on_disk(content: pa.Buffer, file: PlannedFile) -> Iterator[Path]:
    """A temporary file with this content and its own name, which some formats use."""
    with tempfile.TemporaryDirectory(prefix="homonym-") as folder:
        path = Path(folder, Path(file.path).name)
        path.write_bytes(content)
        yield path


class _Named(Source):
    """A source with the file name that the user knows, for messages."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path)
        self._name = name

    @property
    def name(self) -> str:
        return self._name


def _file(path: Path, file: PlannedFile, number: int, plan: InputPlan, settings: Settings) -> Batches:
    if plan.mentions and path.suffix == ".parquet":
        yield from _split_row(number, 0, 0, "line")
        yield from _mention_table(path, file)
        return
    with _Named(path, file.name) as source:
        if file.form == MENTIONS:
            form, records = MENTIONS, Records(starmap(Raw, source.lines()))
        else:
            found = format_of(source, file.form)
            form, records = found.name, found.open(source, plan.columns)
        yield from _split_row(number, 0, 0, records.unit)
        first = Chunk(file.name, file.base, [], form, records.context, records.unit)
        writer = write_mentions if plan.mentions else write_documents
        for chunk in chunks(records.raws, first, PART_BYTES):
            _require_room(chunk.sequence + len(chunk.raws) - file.base, file)
            yield from _part(chunk, settings, writer, number, 0)


def _mention_table(path: Path, file: PlannedFile) -> Batches:
    """Make parts of a Parquet table of mentions."""
    with tempfile.TemporaryDirectory(prefix="homonym-") as folder:
        work = Path(folder)
        try:
            write_mention_table(path, file.base, work, lambda rows: None)
        except InputError as wrong:
            raise InputError(str(wrong).replace(str(path), file.name)) from None
        for part in sorted(int(found.stem) for found in (work / "mentions").iterdir()):
            tables = read_tables(work, part)
            yield from _tables(part, len(tables["records"]), tables)


def _part(
    chunk: Chunk, settings: Settings, writer: Callable[..., PartReport], number: int, start: int
) -> Batches:  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="homonym-") as folder:
        report = writer(chunk, settings, Path(folder), strict=False)
        yield from _tables(chunk.sequence, report.read, read_tables(Path(folder), chunk.sequence), report.western)
    yield from _problem_rows(
        (chunk.sequence, ordinal, number, start, problem.line, problem.lost, problem.reason, problem.unit, reject)
        for ordinal, (problem, reject) in enumerate(zip(report.problems, report.rejects, strict=True))
    )


def merge_copies(batches: Batches, settings: Settings) -> Batches:
    """Make parts of merged documents, from the rows of `duplicates.copies` in order.

    What was lost becomes problems; `start` is the sequence of the merged document.
    """
    for copies in whole_documents(batches, PART_BYTES):
        part = copies["merged"][0].as_py()
        with tempfile.TemporaryDirectory(prefix="homonym-") as folder:
            losses = write_merged(copies, settings, Path(folder), convert=False)
            yield from _tables(part, 0, read_tables(Path(folder), part))
        merged = dict(zip(copies["sequence"].to_pylist(), copies["merged"].to_pylist(), strict=True))
        yield from _problem_rows(
            (loss.sequence, ordinal, 0, merged[loss.sequence], loss.line, loss.lost, loss.reason, "", b"")
            for ordinal, loss in enumerate(losses)
        )


def _tables(part: int, read: int, tables: dict[str, pa.Table], western: int = 0) -> Batches:
    yield from rows_of("parts", part_row(part, read, tables, western), READ)
    mentions = tables["mentions"].sort_by("owner")
    mentions = mentions.append_column("sequence", pc.shift_right(mentions["owner"], SLOT_BITS))
    # Mentions that come with their own features may be on no document.
    mentions = mentions.append_column("document", pc.coalesce(mentions["document_id"], mentions["mention_id"]))
    records = tables["records"].append_column("names", _names(tables["records"], mentions))
    for name, table in (("records", records), ("mentions", mentions), ("references", tables["references"])):
        numbered = table.append_column("part", pa.array([part] * len(table), pa.int64()))
        yield from rows_of(name, numbered, READ)
    for name in ("keys", "documents"):
        yield from rows_of(name, tables[name], READ)


def _names(records: pa.Table, mentions: pa.Table) -> pa.Array:
    """The names of the authors of each record, for records that refer to it; mentions are in the order of records."""
    named = mentions.filter(mentions["own_name"].is_valid())
    sequence = records["sequence"].to_numpy()
    first = np.searchsorted(named["sequence"].to_numpy(), np.append(sequence, sequence[-1:] + 1))
    offsets = first if len(records) else np.zeros(1, np.int64)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), named["own_name"].combine_chunks())


def _split_row(number: int, start: int, lines: int, unit: str) -> Batches:
    yield from rows_of("splits", pa.table([[number], [start], [lines], [unit]], schema=READ["splits"]), READ)


def _problem_rows(rows: Iterable[tuple[Any, ...]]) -> Batches:
    found = list(zip(*rows, strict=True))
    if found:
        yield from rows_of("problems", pa.table(found, schema=READ["problems"]), READ)


def _require_room(records: int, file: PlannedFile) -> None:
    if records > file.room:
        raise InputError(f"{file.name} holds more records than a file of its size can; decompress it first.")
