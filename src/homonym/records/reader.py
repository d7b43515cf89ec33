"""Reads files of any format into documents, one record at a time; has the table of formats and detects them.

To add a format:

1. Write `records/formats/NAME.py`. It defines `FORMAT`, a `Format` with three functions: `recognises` detects the
   format from the first bytes of a file, `open` splits the file into raw records, and `parse` turns one raw record into
   a `Document`. Files are split in one process, in order; records are parsed in many processes.
2. Add its name to `MODULES` below. Files are offered to the formats in this order: a format with unmistakable marks
   comes before one that recognises many files.
3. Add a generated export to `benchmarks/exports.py`: tests and benchmarks then read, damage and time it like the
   others. Describe in `docs/formats.md` how to get such files.

A format module is imported on first use, so that commands that read no records start quickly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from operator import lt
from pathlib import Path
from typing import Any, Literal, NamedTuple

from homonym.errors import InputError, SettingsError, require_type, word_list
from homonym.io.archives import sources_of
from homonym.io.inputs import COLUMNAR, STANDARD_INPUT, Source, expand, require_files
from homonym.io.outputs import Paths
from homonym.records.fields import identifiers
from homonym.records.fields.contributors import set_apart_contributors
from homonym.records.fields.misread import restored_record
from homonym.records.fields.name_lists import split_author_lists
from homonym.records.model import (
    MAX_AUTHORS,
    BrokenRecordError,
    Document,
    Parsed,
    Problem,
    first_notes,
    require_few_authors,
)
from homonym.records.parsing.splitting import Raw

Unit = Literal["line", "record"]

Columns = Mapping[str, str | Sequence[str]]
"""Field of a document -> column of a table; the authors may be in several columns."""


def require_columns(columns: object) -> None:
    """Fail if an argument is not a mapping of fields to columns."""
    require_type("columns", columns, (Mapping, type(None)), "a dictionary such as {'authors': 'Names'}")


@dataclass(frozen=True)
class Records:
    """The raw records of one file, what their numbers count, and the context that `parse` needs (must be picklable)."""

    raws: Iterator[Raw]
    unit: Unit = "line"
    context: Any = None


@dataclass(frozen=True, kw_only=True)
class Format:
    """One file format: how to detect it, to split a file into raw records and to parse one of them.

    `parse` returns None for text that is not a record, such as the footer of a file, and raises BrokenRecordError for a
    record that cannot be used.
    """

    name: str
    title: str
    recognises: Callable[[Source], bool]
    open: Callable[[Source, Columns], Records]
    parse: Callable[[bytes, Any], Parsed | None]


# Name and module of every format, in the order of detection.
MODULES = {
    "wos": "wos",
    "wos-tab": "wos_tab",
    "nbib": "nbib",
    "ovid": "ovid",
    "ris": "ris",
    "bibtex": "bibtex",
    "noteexpress": "noteexpress",
    "refworks": "refworks",
    "cochrane": "cochrane",
    "pubmed-text": "pubmed_text",
    "refer": "refer",
    "pubmed": "pubmed",
    "europepmc": "europe_pmc",
    "jats": "jats",
    "dblp": "dblp",
    "marcxml": "marcxml",
    "mods": "mods",
    "orcid": "orcid_record",
    "arxiv-oai": "oai_pmh",
    "aminer-xml": "aminer_xml",
    "endnote-xml": "endnote_xml",
    "services": "services",
    "zotero": "zotero",
    "openalex": "openalex",
    "crossref": "crossref",
    "datacite": "datacite",
    "semanticscholar": "semantic_scholar",
    "lens": "lens",
    "dimensions": "dimensions",
    "arxiv": "arxiv",
    "s2and": "s2and",
    "aminer": "aminer",
    "scopus": "scopus",
    "documents": "documents",
    "table": "table",
}

NAMES = tuple(MODULES)

# The formats that read Parquet and Arrow files.
_TABLES = ("documents", "table")
# The beginning of a JSON file: an object or a list, and what may follow.
_JSON = re.compile(rb"\s*+(?:\{\s*+[\"}]|\[\s*+[\[{\]])")
# Formats of tagged text and XML, which never begin like that. Importing them all takes a twentieth of a small run.
_NOT_JSON = frozenset(
    """wos wos-tab nbib ovid ris bibtex noteexpress refworks cochrane pubmed-text refer pubmed jats marcxml mods
    arxiv-oai aminer-xml endnote-xml scopus""".split()
)


@cache
def format_named(name: str) -> Format:
    """The format with this name."""
    if name not in MODULES:
        raise SettingsError(f"there is no format {name!r}; choose one of {word_list(list(NAMES))}.")
    found = import_module(f"homonym.records.formats.{MODULES[name]}").FORMAT
    assert isinstance(found, Format)
    return found


def detect_format(source: Source, names: Sequence[str] = NAMES) -> Format | None:
    """The first of the named formats that recognises the content of a file; None if there is none.

    Of a spreadsheet, the first sheet that a format recognises is read.
    """
    if source.head.startswith(COLUMNAR):  # the bytes of a table may hold what looks like another format
        names = [name for name in names if name in _TABLES]
    elif source.sheets == 1 and _JSON.match(source.head):
        names = [name for name in names if name not in _NOT_JSON]
    for sheet in range(source.sheets):
        if sheet:
            source.show_sheet(sheet)
        for form in map(format_named, names):
            if form.recognises(source):
                return form
    if source.sheets > 1:
        source.show_sheet(0)
    return None


def format_of(source: Source, name: str | None = None) -> Format:
    """The named format, or the one detected from the content. Results of homonym itself are refused."""
    from homonym.records.unknown_files import advice, own_result  # uses the splitters, which import this module

    if name:
        if source.sheets > 1:
            detect_format(source, [name])  # shows the sheet to read
        return format_named(name)
    found = detect_format(source)
    if (found is None or found.name == "documents") and (result := own_result(source)):
        raise InputError(f"{source.name} has no records of documents: it is {result}.")
    if found is None:
        raise InputError(f"{source.name} is in none of the formats that homonym reads; {advice(source)}.")
    return found


@dataclass(frozen=True)
class Inputs:
    """The input files of a run, their format if the user named one, and the column names of tables.

    `incidental` files were found in a directory that the user named. They are skipped if their format is unknown.
    """

    files: list[Path]
    incidental: Set[Path] = frozenset()
    format: str | None = None
    columns: Columns = field(default_factory=dict)

    @classmethod
    def of(cls, paths: Paths, format_name: str | None = None, columns: Columns | None = None) -> Inputs:
        """Find the files that the user named directly, by directory or by pattern."""
        files, incidental = expand(paths)
        if not files:
            raise InputError("no input; name at least one file.")
        require_files([file for file in files if file not in incidental])
        if columns and format_name not in {None, "table"}:
            raise SettingsError(f"--columns names the columns of a table; the format {format_name} has its own.")
        format_name = format_name or ("table" if columns else None)
        if format_name:
            format_named(format_name)
        return cls(files, incidental, format_name, columns or {})

    def __str__(self) -> str:
        return word_list([str(file) for file in self.files[:3]] + (["…"] if len(self.files) > 3 else []))


class Reading(NamedTuple):
    """The result of one raw record: its document and its problems; no document if it is broken or not a record."""

    raw: Raw
    document: Document | None
    problems: list[Problem]


def read_documents(path: Path, format_name: str | None = None, columns: Columns | None = None) -> Iterator[Reading]:
    """Read a file record by record. The format is detected from the content unless it is named.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "records.jsonl")
    ...     _ = path.write_text('{"id": "W1", "authors": [{"name": "Doe, J"}]}\\n{"id": "W2"}')
    ...     [(document and document.id, [p.reason for p in problems]) for _, document, problems in read_documents(path)]
    [('W1', []), (None, ["'authors' is missing or not a list"])]
    """
    with sources_of(path) as sources:
        for unopened in sources:
            with unopened as source:
                form = format_of(source, format_name)
                records, name = form.open(source, columns or {}), source.name
                for raw in records.raws:
                    yield parse_raw_record(raw, form, records.context, name, records.unit)


def companion_files(path: Path) -> list[Path]:
    """The files that are read together with a file because of their names: those of S2AND and AMiner data sets."""
    from homonym.records.formats import aminer, s2and

    if path == STANDARD_INPUT or ".json" not in path.name:
        return []
    found = [s2and.companion_file(path, kind) for kind in ("papers", "signatures", "clusters")]
    return [file for file in (*found, *aminer.label_files(path)) if file]


def _rise(positions: list[int]) -> bool:
    return all(map(lt, positions, positions[1:]))


def parse_raw_record(raw: Raw, form: Format, context: Any, file: str, unit: Unit) -> Reading:
    """Parse one record. Everything wrong with it becomes a problem of this record only."""
    try:
        if raw.broken:
            raise BrokenRecordError(raw.broken)
        again = restored_record(raw.text) if form.name != "documents" else None
        parsed = form.parse(again[0] if again else raw.text, context)
        if parsed and (authors := parsed[0].authors) and max(len(authors), authors[-1].position) >= MAX_AUTHORS:
            require_few_authors(max(len(authors), authors[-1].position + 1))
    except BrokenRecordError as broken:
        return Reading(raw, None, [Problem(file, raw.number, "record", str(broken), unit)])
    except Exception as error:  # an unforeseen record must not end a run over millions of good ones
        reason = f"not understood as {form.title} ({type(error).__name__}: {error})"
        return Reading(raw, None, [Problem(file, raw.number, "record", reason, unit)])
    if parsed is None:
        return Reading(raw, None, [])
    document, notes = parsed
    # A position is a place in the list of the source: entries without a name leave a gap, as in our own format.
    if not _rise([author.position for author in document.authors]):
        for position, author in enumerate(document.authors):
            author.position = position
    if again:
        notes.append(again[1])
    if not document.id:
        document.id, document.id_is_key = identifiers.content_id(document), False
    if form.name != "documents":  # which does it itself, because its lines are read elsewhere, too
        if "arxiv" not in document.ids and (number := identifiers.arxiv_of_doi(document.ids.get("doi", ""))):
            document.ids["arxiv"] = number
        split_author_lists(document, notes)
        set_apart_contributors(document, notes)
    return Reading(
        raw, document, [Problem(file, raw.number, lost, reason, unit) for lost, reason in first_notes(notes)]
    )
