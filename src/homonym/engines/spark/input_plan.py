"""The plan of the input: which files Spark may cut into lines, and the sequence numbers of the records of each file.

The sequence number of a record only has to rise with the input. So a file begins at the sum of the sizes of all files
before it, a split of it at its first byte, and no record has to be counted before it is read.
"""

from __future__ import annotations

import gzip
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import orjson

from homonym.engines.base import skipped_files_warning
from homonym.errors import InputError, word_list
from homonym.io.inputs import Source, require_rereadable
from homonym.io.outputs import Paths, as_paths, listed
from homonym.io.urls import is_url
from homonym.records.formats.documents import has_lines
from homonym.records.model import Problem
from homonym.records.reader import Columns, Inputs, format_named, format_of

MENTIONS, DOCUMENTS = "mentions", "documents"

# Maximum number of records of a compressed file: per byte, and in addition. Real records compress to tens of bytes.
RECORDS_PER_COMPRESSED_BYTE, MORE_RECORDS = 16, 1 << 20
# Maximum of all sequence numbers: 20 bits of an owner are the author's position, and merged documents get further ones.
MAX_SEQUENCES = 1 << 42

# Spark decompresses files with these suffixes, whatever their content.
DECOMPRESSED_BY_SPARK = (".gz", ".bz2", ".zst", ".zstd", ".lz4", ".snappy", ".deflate", ".xz")
# Suffixes of files with one record per line, used where the content cannot be read from here.
LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


@dataclass(frozen=True)
class RemoteInputs(Inputs):
    """Inputs that only Spark can open, named by URL; a directory stands for the files in it."""

    urls: tuple[str, ...] = ()

    def __str__(self) -> str:
        return word_list([*self.urls[:3]] + (["…"] if len(self.urls) > 3 else []))


def spark_inputs(inputs: Paths, format_name: str | None, columns: Columns | None) -> Inputs:
    """The inputs of a run: all of them files that this machine sees, or all of them URLs."""
    given = listed(inputs)
    remote = [str(path) for path in given if is_url(path)]
    if not remote:
        return Inputs.of(inputs, format_name, columns)
    if len(remote) < len(given):
        here = as_paths([path for path in given if not is_url(path)])
        raise InputError(f"{here[0]} is a file and {remote[0]} a URL; name all inputs by URL (file:///… for files).")
    return RemoteInputs([], frozenset(), format_name or ("table" if columns else None), columns or {}, tuple(remote))


@dataclass(frozen=True)
class PlannedFile:
    """One input file: its name in messages, its path for Spark, its sequence numbers, its format, how it is read.

    The format of a file that only Spark can open is None: a task detects it.
    """

    name: str
    path: str
    base: int
    room: int
    form: str | None
    by_lines: bool


@dataclass(frozen=True)
class InputPlan:
    """All inputs in order; those of `mentions` bring their own bags."""

    files: Sequence[PlannedFile]
    mentions: bool
    columns: Columns

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {file.path: number for number, file in enumerate(self.files)}

    def number(self, url: str) -> int:
        """The number of a file, by the URL that Spark gives it."""
        return self._numbers[path_of_url(url)]

    @property
    def sequences(self) -> int:
        """All sequence numbers of records are below this."""
        return self.files[-1].base + self.files[-1].room

    def at(self, sequence: int) -> int:
        """The number of the file that a sequence number belongs to."""
        return bisect_right(self.files, sequence, key=lambda file: file.base) - 1


def path_of_url(url: str) -> str:
    """A path without the scheme and escapes that Spark adds; other URLs keep their scheme.

    >>> path_of_url("file:/data/a%20b.jsonl"), path_of_url("file:///data/x"), path_of_url("s3a://bucket/a%5B1%5D.gz")
    ('/data/a b.jsonl', '/data/x', 's3a://bucket/a[1].gz')
    """
    return unquote(urlsplit(url).path if url.startswith("file:") else url)


def escaped(path: str) -> str:
    r"""A path for Spark, with the characters of patterns escaped.

    >>> escaped("/data/a[1].jsonl")
    '/data/a\\[1\\].jsonl'
    """
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)


def plan_files(inputs: Inputs, warnings: list[str], *, mentions: bool) -> InputPlan:
    """Detect the format of all files, as the local engine does, and give each its sequence numbers."""
    require_rereadable(inputs.files)
    planned, skipped, base = [], [], 0
    for path in inputs.files:
        try:
            form, by_lines, compressed = _detect(path, inputs, mentions=mentions)
        except InputError:
            if path not in inputs.incidental:
                raise
            skipped.append(path)
            continue
        room = room_of(path.stat().st_size, compressed=compressed)
        planned.append(PlannedFile(str(path), str(path.absolute()), base, room, form, by_lines))
        base += room
    warnings.extend(skipped_files_warning(skipped, inputs))
    _require_room(base, inputs)
    return InputPlan(planned, mentions, inputs.columns)


def plan_remote(inputs: RemoteInputs, files: Sequence[tuple[str, int]], *, mentions: bool) -> InputPlan:
    """Give sequence numbers to the files that Spark lists, with their sizes; the name says whether it holds lines."""
    if not files:
        raise InputError(f"{inputs}: there is no file; check the URL.")
    planned, base = [], 0
    for url, size in files:
        by_lines = path_of_url(url).endswith(LINES) and inputs.format in {None, DOCUMENTS}
        room = room_of(size, compressed=path_of_url(url).endswith(DECOMPRESSED_BY_SPARK))
        form = MENTIONS if mentions else inputs.format or (DOCUMENTS if by_lines else None)
        planned.append(PlannedFile(path_of_url(url), path_of_url(url), base, room, form, by_lines))
        base += room
    _require_room(base, inputs)
    return InputPlan(planned, mentions, inputs.columns)


def room_of(size: int, *, compressed: bool) -> int:
    """Number of sequence numbers for a file of `size` bytes."""
    return RECORDS_PER_COMPRESSED_BYTE * size + MORE_RECORDS if compressed else size + 1


def _require_room(base: int, inputs: Inputs) -> None:
    if base > MAX_SEQUENCES:
        raise InputError(f"{inputs}: more than a run can number; decompress the files, or read them in two runs.")


def _detect(path: Path, inputs: Inputs, *, mentions: bool) -> tuple[str, bool, bool]:
    """The format of a file, whether Spark may cut it into lines, and whether it is compressed."""
    if mentions and path.suffix == ".parquet":
        return MENTIONS, False, True
    with Source(path) as source, path.open("rb") as stream:
        head, beginning = source.head, stream.read(4)
        form = MENTIONS if mentions else format_of(source, inputs.format).name
        if form not in {MENTIONS, DOCUMENTS}:
            # A format fails here if it misses something, such as columns of a table.
            format_named(form).open(source, inputs.columns)
    compressed = not head.startswith(beginning)
    has_records = form == MENTIONS or (form == DOCUMENTS and has_lines(head))
    return form, has_records and _reads_same(path, head), compressed


def _reads_same(path: Path, head: bytes) -> bool:
    """Whether Spark reads the same bytes: it decompresses by suffix, and assumes UTF-8."""
    if path.name.endswith(".gz"):
        try:
            with gzip.open(path) as stream:
                return stream.read(len(head)) == head
        except (OSError, EOFError):
            return False
    if path.name.endswith(DECOMPRESSED_BY_SPARK):
        return False
    with path.open("rb") as stream:
        return stream.read(len(head)) == head


class FileSplit(NamedTuple):
    """A split of a file that one task has read: its first byte, its number of lines, and the unit of its records."""

    start: int
    lines: int
    unit: str


@dataclass(frozen=True)
class RecordPositions:
    """Finds the file and line of a record, from the splits of each file in order."""

    plan: InputPlan
    splits: dict[int, list[FileSplit]]

    @classmethod
    def of(cls, plan: InputPlan, rows: Sequence[dict[str, Any]]) -> RecordPositions:
        """Sort the splits that tasks have read."""
        splits: dict[int, list[FileSplit]] = {}
        for row in sorted(rows, key=lambda row: (row["file"], row["start"])):
            splits.setdefault(row["file"], []).append(FileSplit(row["start"], row["lines"], row["unit"]))
        return cls(plan, splits)

    def locate(self, sequence: int, line: int) -> tuple[str, str, int]:
        """File, unit and number of a record, from its sequence number and its line in the split."""
        number = self.plan.at(sequence)
        file, splits = self.plan.files[number], self.splits.get(number, [])
        split = splits[bisect_right(splits, sequence - file.base, key=lambda split: split.start) - 1]
        return file.name, split.unit, self._line(number, split.start, line)

    def _line(self, file: int, start: int, line: int) -> int:
        """The line in the file of a line of the split that begins at `start`."""
        return line + sum(split.lines for split in self.splits.get(file, ()) if split.start < start)

    def problem(self, row: dict[str, Any]) -> tuple[Problem, bytes]:
        """A problem with its position in the file, and the rejected record."""
        name = self.plan.files[row["file"]].name
        found = Problem(name, row["line"], row["lost"], row["reason"], row["unit"])
        if not self.plan.files[row["file"]].by_lines:
            return found, row["reject"]
        found = replace(found, line=self._line(row["file"], row["start"], row["line"]))
        reject = orjson.loads(row["reject"]) | {found.unit: found.line}
        return found, orjson.dumps(reject) + b"\n"
