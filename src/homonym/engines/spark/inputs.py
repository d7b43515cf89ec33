"""The input files as Spark will read them: which can be cut into lines, and where each stands in the whole input.

A record's sequence only has to rise with the input. So a file begins with the bytes of all before it, a split of it
with its first byte, and no record has to be counted before it is read.
"""

from __future__ import annotations

import gzip
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import orjson

from homonym.collection.counting import Duplicate
from homonym.errors import InputError
from homonym.io.inputs import Source, require_rereadable
from homonym.messages import counted, listed
from homonym.records.formats.documents import has_lines
from homonym.records.model import Problem
from homonym.records.reader import Inputs
from homonym.records.registry import Columns, format_named, format_of

MENTIONS, DOCUMENTS = "mentions", "documents"

#: What a packed file may hold: so many records for each byte, and some more. Real ones pack to tens of bytes.
RECORDS_PER_PACKED_BYTE, MORE_RECORDS = 16, 1 << 20
#: Sequences end here: 20 bits of an owner are the author's place.
MOST_SEQUENCES = 1 << 43

#: Spark unpacks what ends like this, whatever is in it.
UNPACKED_BY_SPARK = (".gz", ".bz2", ".zst", ".zstd", ".lz4", ".snappy", ".deflate", ".xz")
LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
"""What holds a record on each line, where only the name can tell."""


@dataclass(frozen=True)
class Remote(Inputs):
    """Inputs that only Spark sees, named by URL; a directory stands for the files in it."""

    urls: tuple[str, ...] = ()

    def __str__(self) -> str:
        return listed([*self.urls[:3]] + (["…"] if len(self.urls) > 3 else []))


@dataclass(frozen=True)
class File:
    """One input: how messages call it, where Spark finds it, its sequences, its format, and how it is read.

    The format of a file that only Spark sees is None: a task tells it.
    """

    name: str
    path: str
    base: int
    room: int
    form: str | None
    by_lines: bool


@dataclass(frozen=True)
class Plan:
    """All inputs in their order; those of `mentions` bring their own bags."""

    files: Sequence[File]
    mentions: bool
    columns: Columns

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {file.path: number for number, file in enumerate(self.files)}

    def number(self, url: str) -> int:
        """The number of a file, by the URL that Spark calls it."""
        return self._numbers[plain(url)]

    def at(self, sequence: int) -> int:
        """The number of the file that a sequence belongs to."""
        return bisect_right(self.files, sequence, key=lambda file: file.base) - 1


def plain(url: str) -> str:
    """A path without what Spark writes around it and into it; other URLs stay, but for their escapes.

    >>> plain("file:/data/a%20b.jsonl"), plain("file:///data/x"), plain("s3a://bucket/a%5B1%5D.gz")
    ('/data/a b.jsonl', '/data/x', 's3a://bucket/a[1].gz')
    """
    return unquote(urlsplit(url).path if url.startswith("file:") else url)


def escaped(path: str) -> str:
    r"""A path for Spark, which would take some characters for a pattern.

    >>> escaped("/data/a[1].jsonl")
    '/data/a\\[1\\].jsonl'
    """
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)


def plan_files(inputs: Inputs, *, mentions: bool, warn: Callable[[str], None]) -> Plan:
    """Look into all files that this machine sees, as the local engine does, and give each its sequences."""
    require_rereadable(inputs.files)
    planned, left_out, base = [], [], 0
    for path in inputs.files:
        try:
            form, by_lines, packed = _look(path, inputs, mentions=mentions)
        except InputError:
            if path not in inputs.incidental:
                raise
            left_out.append(path)
            continue
        room = room_of(path.stat().st_size, packed=packed)
        planned.append(File(str(path), str(path.absolute()), base, room, form, by_lines))
        base += room
    if left_out and not planned:
        raise InputError(f"{inputs}: no file is in a format that homonym knows; name the format with --format.")
    if left_out:
        names = listed([path.name for path in left_out[:3]] + (["…"] if len(left_out) > 3 else []))
        warn(f"{counted(len(left_out), 'file')} left out, in no format that homonym knows: {names}.")
    _require_room(base, inputs)
    return Plan(planned, mentions, inputs.columns)


def plan_remote(inputs: Remote, listed_files: Sequence[tuple[str, int]], *, mentions: bool) -> Plan:
    """Give each file that Spark lists, with its bytes, its sequences; its name tells whether it holds lines."""
    if not listed_files:
        raise InputError(f"{inputs}: there is no file; check the URL.")
    planned, base = [], 0
    for url, size in listed_files:
        by_lines = plain(url).endswith(LINES) and inputs.format in {None, DOCUMENTS}
        room = room_of(size, packed=plain(url).endswith(UNPACKED_BY_SPARK))
        form = MENTIONS if mentions else inputs.format or (DOCUMENTS if by_lines else None)
        planned.append(File(plain(url), plain(url), base, room, form, by_lines))
        base += room
    _require_room(base, inputs)
    return Plan(planned, mentions, inputs.columns)


def room_of(size: int, *, packed: bool) -> int:
    """How many sequences a file of so many bytes may use."""
    return RECORDS_PER_PACKED_BYTE * size + MORE_RECORDS if packed else size + 1


def _require_room(base: int, inputs: Inputs) -> None:
    if base > MOST_SEQUENCES:
        raise InputError(f"{inputs}: more than a run can number; unpack the files, or read them in two runs.")


def _look(path: Path, inputs: Inputs, *, mentions: bool) -> tuple[str, bool, bool]:
    """The format of a file, whether Spark may cut it into lines, and whether it is packed."""
    if mentions and path.suffix == ".parquet":
        return MENTIONS, False, True
    with Source(path) as source, path.open("rb") as stream:
        head, beginning = source.head, stream.read(4)
        form = MENTIONS if mentions else format_of(source, inputs.format).name
        if form not in {MENTIONS, DOCUMENTS}:
            _check_columns(source, inputs)
    packed = not head.startswith(beginning)
    has_records = form == MENTIONS or (form == DOCUMENTS and has_lines(head))
    return form, has_records and _as_it_stands(path, head), packed


def _check_columns(source: Source, inputs: Inputs) -> None:
    """Let a format say now what it misses in a file, such as a table's columns."""
    format_named(format_of(source, inputs.format).name).open(source, inputs.columns)


def _as_it_stands(path: Path, head: bytes) -> bool:
    """Whether Spark sees the same bytes in a file: it is told by the suffix what is packed, and knows only UTF-8."""
    if path.name.endswith(".gz"):
        try:
            with gzip.open(path) as stream:
                return stream.read(len(head)) == head
        except (OSError, EOFError):
            return False
    if path.name.endswith(UNPACKED_BY_SPARK):
        return False
    with path.open("rb") as stream:
        return stream.read(len(head)) == head


class FileSplit(NamedTuple):
    """A part of a file that one task has read: its first byte, how many lines it has, and what is counted there."""

    start: int
    lines: int
    unit: str


@dataclass(frozen=True)
class RecordPositions:
    """All files, and the splits of each, in order."""

    plan: Plan
    splits: dict[int, list[FileSplit]]

    @classmethod
    def of(cls, plan: Plan, rows: Sequence[dict[str, Any]]) -> RecordPositions:
        """Put the splits that tasks have seen in order."""
        splits: dict[int, list[FileSplit]] = {}
        for row in sorted(rows, key=lambda row: (row["file"], row["start"])):
            splits.setdefault(row["file"], []).append(FileSplit(row["start"], row["lines"], row["unit"]))
        return cls(plan, splits)

    def line(self, file: int, start: int, line: int) -> int:
        """The line of a file that is this line of the split that begins there."""
        return line + sum(split.lines for split in self.splits.get(file, ()) if split.start < start)

    def of_record(self, sequence: int, line: int) -> tuple[str, str, int]:
        """File, unit and line of a record."""
        number = self.plan.at(sequence)
        file, splits = self.plan.files[number], self.splits.get(number, [])
        split = splits[bisect_right(splits, sequence - file.base, key=lambda split: split.start) - 1]
        return file.name, split.unit, self.line(number, split.start, line)

    def problem(self, row: dict[str, Any]) -> tuple[Problem, bytes]:
        """A problem with its place in the file, and what is kept of the record."""
        name = self.plan.files[row["file"]].name
        found = Problem(name, row["line"], row["lost"], row["reason"], row["unit"])
        if not self.plan.files[row["file"]].by_lines:
            return found, row["reject"]
        found = replace(found, line=self.line(row["file"], row["start"], row["line"]))
        kept = orjson.loads(row["reject"]) | {found.unit: found.line}
        return found, orjson.dumps(kept) + b"\n"

    def duplicate(self, again: Duplicate) -> Problem:
        """A record that came before, as a problem."""
        file, unit, line = self.of_record(again.sequence, again.line)
        first_file, first_unit, first_line = self.of_record(again.first_sequence, again.first_line)
        kind, _, value = again.key.partition(":")
        reason = f"'{value}' is already the {kind} of {first_unit} {first_line} of {first_file}"
        return Problem(file, line, "duplicate", reason, unit)
