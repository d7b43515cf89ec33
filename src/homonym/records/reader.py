"""Files of any format to documents, one record at a time, with what was wrong on the way."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from homonym.errors import InputError, SettingsError
from homonym.io.inputs import Source, expand, require_files
from homonym.io.outputs import Paths
from homonym.messages import listed
from homonym.records.model import BrokenRecordError, Document, Problem
from homonym.records.parsing.splitting import Raw
from homonym.records.registry import Columns, Format, Unit, format_named, format_of


@dataclass(frozen=True)
class Inputs:
    """The files of a run, their format if it is given, and how a table's columns are called.

    Those that are `incidental` stood in a named directory: they are left out if they are in no known format.
    """

    files: list[Path]
    incidental: Set[Path] = frozenset()
    format: str | None = None
    columns: Columns = field(default_factory=dict)

    @classmethod
    def of(cls, paths: Paths, format_name: str | None = None, columns: Columns | None = None) -> Inputs:
        """Find the files that are named, by themselves, by directory or by pattern."""
        files, incidental = expand(paths)
        if not files:
            raise InputError("no input was named; name at least one file.")
        require_files([file for file in files if file not in incidental])
        if columns and format_name not in {None, "table"}:
            raise SettingsError(f"--columns names the columns of a table; the format {format_name} has its own.")
        format_name = format_name or ("table" if columns else None)
        if format_name:
            format_named(format_name)
        return cls(files, incidental, format_name, columns or {})

    def __str__(self) -> str:
        return listed([str(file) for file in self.files[:3]] + (["…"] if len(self.files) > 3 else []))


class Reading(NamedTuple):
    """What came of one raw record: a document unless it was unusable or no record at all, and its problems."""

    raw: Raw
    document: Document | None
    problems: list[Problem]


def read_documents(path: Path, format_name: str | None = None, columns: Columns | None = None) -> Iterator[Reading]:
    """Read a file record by record.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "records.jsonl")
    ...     _ = path.write_text('{"id": "W1", "authors": [{"name": "Doe, J"}]}\\n{"id": "W2"}')
    ...     [(document and document.id, [p.reason for p in problems]) for _, document, problems in read_documents(path)]
    [('W1', []), (None, ["'authors' is missing or not a list"])]
    """
    with Source(path) as source:
        form = format_of(source, format_name)
        records = form.open(source, columns or {})
        for raw in records.raws:
            yield parse_raw_record(raw, form, records.context, source.name, records.unit)


def parse_raw_record(raw: Raw, form: Format, context: Any, file: str, unit: Unit) -> Reading:
    """Parse one record; whatever is wrong with it is said and spoils nothing else."""
    try:
        if raw.broken:
            raise BrokenRecordError(raw.broken)
        parsed = form.parse(raw.text, context)
    except BrokenRecordError as broken:
        return Reading(raw, None, [Problem(file, raw.number, "record", str(broken), unit)])
    except Exception as strange:  # a format nobody foresaw must not end a run over millions of good records
        reason = f"not understood as {form.title} ({type(strange).__name__}: {strange})"
        return Reading(raw, None, [Problem(file, raw.number, "record", reason, unit)])
    if parsed is None:
        return Reading(raw, None, [])
    document, notes = parsed
    if form.name != "documents":  # where the place in the list is the position, whether the others are usable or not
        for position, author in enumerate(document.authors):
            author.position = position
    if not document.id:
        document.id, document.id_is_key = f"{Path(file).name}:{raw.number}", False
    return Reading(raw, document, [Problem(file, raw.number, lost, reason, unit) for lost, reason in notes])
