"""The table of file formats, and the detection of the format of a file.

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

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal

from homonym.errors import InputError, SettingsError
from homonym.io.inputs import Source
from homonym.messages import listed
from homonym.records.model import Parsed
from homonym.records.parsing.splitting import Raw

Unit = Literal["line", "record"]

Columns = Mapping[str, str]
"""Field of a document -> column of a table."""


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
    "ris": "ris",
    "bibtex": "bibtex",
    "pubmed": "pubmed",
    "dblp": "dblp",
    "arxiv-oai": "oai_pmh",
    "aminer-xml": "aminer_xml",
    "openalex": "openalex",
    "crossref": "crossref",
    "datacite": "datacite",
    "arxiv": "arxiv",
    "s2and": "s2and",
    "aminer": "aminer",
    "scopus": "scopus",
    "documents": "documents",
    "table": "table",
}

NAMES = tuple(MODULES)


@cache
def format_named(name: str) -> Format:
    """The format with this name."""
    if name not in MODULES:
        raise SettingsError(f"there is no format {name!r}; choose one of {listed(list(NAMES))}.")
    found = import_module(f"homonym.records.formats.{MODULES[name]}").FORMAT
    assert isinstance(found, Format)
    return found


def detect_format(source: Source) -> Format | None:
    """The format of a file, detected from its content; None if no format recognises it."""
    return next((form for form in map(format_named, NAMES) if form.recognises(source)), None)


def format_of(source: Source, name: str | None = None) -> Format:
    """The named format, or the one detected from the content."""
    found = format_named(name) if name else detect_format(source)
    if found is None:
        raise InputError(
            f"{source.name} is in none of the formats that homonym reads; name one with --format "
            f"({', '.join(NAMES)}), or convert the file to a table."
        )
    return found
