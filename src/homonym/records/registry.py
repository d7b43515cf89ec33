"""The formats that records come in: one module for each, and how a file tells which it is.

A format opens a file as a stream of raw records (in one process, in order) and parses one of them at a time (in many).
Its module is imported when a file is looked at, so that commands which read nothing start quickly.
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
"""Which column of a table holds which field of a document."""


@dataclass(frozen=True)
class Records:
    """The raw records of one file, what their numbers count, and what is needed to parse them (it can be pickled)."""

    raws: Iterator[Raw]
    unit: Unit = "line"
    context: Any = None


@dataclass(frozen=True, kw_only=True)
class Format:
    """One format: how it is told, opened and parsed.

    `parse` gives None for what is no record, such as the end of a file; it raises BrokenRecordError for a record that
    cannot be used.
    """

    name: str
    title: str
    recognises: Callable[[Source], bool]
    open: Callable[[Source, Columns], Records]
    parse: Callable[[bytes, Any], Parsed | None]


#: Name and module of every format, in the order in which a file is offered to them: what has clear marks comes first.
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
    """The format of a name."""
    if name not in MODULES:
        raise SettingsError(f"there is no format {name!r}; choose one of {listed(list(NAMES))}.")
    found = import_module(f"homonym.records.formats.{MODULES[name]}").FORMAT
    assert isinstance(found, Format)
    return found


def detect_format(source: Source) -> Format | None:
    """The format of an input, told by its content."""
    return next((form for form in map(format_named, NAMES) if form.recognises(source)), None)


def format_of(source: Source, name: str | None = None) -> Format:
    """The format of an input: the one that is asked for, else the one it shows."""
    found = format_named(name) if name else detect_format(source)
    if found is None:
        raise InputError(
            f"{source.name} is in none of the formats that homonym knows; name the right one with --format "
            f"({', '.join(NAMES)}), or make a table of it."
        )
    return found
