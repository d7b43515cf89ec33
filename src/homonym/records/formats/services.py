"""Answers of web services in JSON: INSPIRE, DOAJ, CORE, BASE, Unpaywall, Zenodo, APIs of Scopus and publishers, ….

`services.toml` has the layout of each: where the fields of a document are. So a further service needs no code. Large
sources with peculiarities (OpenAlex, Crossref, …) have formats of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from homonym.errors import InputError
from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import affiliations_and_emails, emails_in
from homonym.records.fields.contributors import note_contributor
from homonym.records.fields.people import is_group
from homonym.records.model import ANY_YEAR, Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.json_fields import (
    as_list,
    distinct,
    first_repeated,
    identifier,
    load_record,
    repeated,
    split_name,
    text_or_empty,
    whole_name,
)
from homonym.records.parsing.json_stream import is_json, open_json
from homonym.records.reader import Columns, Format, Records

Layout = dict[str, Any]
"""Field to paths; see services.toml."""

_STEP = re.compile(r"([^.\[\]]*)(?:\[([^=\[\]]+)=([^\[\]]*)\])?(?:\.|$)")
_LIST = re.compile(r"\s*[;|]\s*")


@cache
def layouts() -> dict[str, Layout]:
    """The layout of each service, by name."""
    import tomllib  # slow to import, and rarely needed
    from importlib.resources import files

    text = files("homonym.records.formats").joinpath("services.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _steps(path: str) -> tuple[tuple[str, str, str], ...]:
    """The members of a path, each with the member and the value that the objects under it must have.

    >>> _steps("pid.id[scheme=orcid].value")
    (('pid', '', ''), ('id', 'scheme', 'orcid'), ('value', '', ''))
    """
    return tuple((name, key, value) for name, key, value in _STEP.findall(path) if name or key)


def values_at(raw: Any, path: str) -> list[Any]:
    """The values under a path, with lists followed.

    >>> values_at({"pid": [{"type": "doi", "id": "10.1"}, {"type": "url", "id": "x"}]}, "pid[type=doi].id")
    ['10.1']
    """
    return [value for value in _entries_at(raw, path) if value is not None and value != ""]


def _entries_at(raw: Any, path: str) -> list[Any]:
    """The values under a path, also empty ones, so that each keeps its place in the list."""
    steps = _steps(path)
    if len(steps) == 1 and not steps[0][1]:  # as most paths inside of authors
        return as_list(raw.get(steps[0][0])) if isinstance(raw, dict) else []
    found = [raw]
    for name, key, wanted in steps:
        if name:
            found = [value for item in found if isinstance(item, dict) for value in as_list(item.get(name))]
        if key:
            found = [item for item in found if isinstance(item, dict) and identifier(item.get(key)) == wanted]
    return found


def _all(raw: Any, paths: list[str] | None) -> list[Any]:
    """The values under the first path that has any."""
    for path in paths or ():
        if found := values_at(raw, path):
            return found
    return []


def _first_text(raw: Any, paths: list[str] | None) -> str:
    for value in _all(raw, paths) if paths else ():
        if text := text_or_empty(value):
            return text
    return ""


def parse_answer(line: bytes, service: str) -> Parsed:
    """Read one record of a service.

    >>> document, _ = parse_answer(
    ...     b'{"bibjson": {"title": "On x", "year": "2014", "author": [{"name": "Jo Doe", "affiliation": "MIT"}],'
    ...     b' "identifier": [{"type": "doi", "id": "10.1000/X"}]}, "id": "a7"}', "doaj"
    ... )
    >>> document.id, document.ids, document.year, document.authors[0].name, document.authors[0].affiliations
    ('a7', {'doi': '10.1000/x'}, 2014, 'Jo Doe', ['MIT'])
    """
    raw, layout = load_record(line), layouts()[service]
    notes: list[Note] = []
    authors = _authors(raw, layout, notes)
    title = _first_text(raw, layout["title"])
    if not title and not authors:
        raise BrokenRecordError("neither title nor authors")
    ids: dict[str, str] = {}
    for kind, paths in layout.get("ids", {}).items():
        for value in _all(raw, paths):
            identifiers.add(ids, kind, identifier(value), notes)
    for group in distinct(_all(raw, layout.get("contributors"))):
        note_contributor(group, notes)
    document = Document(
        id=_id(raw, layout, service),
        authors=authors,
        title=title,
        abstract=_first_text(raw, layout.get("abstract")),
        year=_year(raw, layout, notes),
        venue=first_repeated(*_all(raw, layout.get("venue"))),
        categories=distinct(_texts(raw, layout.get("categories"))),
        keywords=distinct(_texts(raw, layout.get("keywords"))),
        references=list(filter(None, map(identifier, _all(raw, layout.get("references"))))),
        ids=ids,
    )
    return document, notes


def _id(raw: Any, layout: Layout, service: str) -> str:
    """The id of a record; a number needs the name of the service, because other services have the same numbers."""
    found = identifier(next(iter(_all(raw, layout.get("id"))), ""))
    return f"{service}:{found}" if found.isdecimal() else found


def _texts(raw: Any, paths: list[str] | None) -> Iterator[str]:
    """The texts under all paths; a single text may be a list with semicolons or bars."""
    for path in paths or ():
        for value in values_at(raw, path):
            if isinstance(value, str):
                yield from _LIST.split(value)


def _year(raw: Any, layout: Layout, notes: list[Note]) -> int | None:
    """The first year in the first field of a date that has one."""
    for path in layout.get("year", ()):
        for value in values_at(raw, path):
            if found := ANY_YEAR.search(identifier(value)):
                return publication_year(found[0], notes)
    return None


def _authors(raw: Any, layout: Layout, notes: list[Note]) -> list[Author]:
    inside, places = layout.get("author", {}), _places(raw, layout)
    authors: list[Author] = []
    for position, entry in enumerate(_entries(raw, layout["authors"])):
        if group := _first_text(entry, inside.get("group")):
            note_contributor(group, notes)
        elif name := _name(entry, inside):
            authors.append(_author(position, name, entry, inside, places, notes))
        else:
            notes.append(("author", f"author {position} has no name"))
    for kind, paths in layout.get("parallel", {}).items():
        values = _entries(raw, paths)
        for author in authors:
            value = identifier(values[author.position]) if author.position < len(values) else ""
            if "@" in value:  # in place of an identifier
                author.emails += emails_in(value)
            elif value:
                author.ids[kind] = value
    return authors


def _entries(raw: Any, paths: list[str]) -> list[Any]:
    """The entries of a list of authors, empty ones too; a text in place of the list may have several names."""
    for path in paths:
        if values_at(raw, path):
            found = _entries_at(raw, path)
            return _names_in(text_or_empty(found[0])) if _is_one_text(raw, path) else found
    return []


def _is_one_text(raw: Any, path: str) -> bool:
    """Whether a member is a text, and not a list."""
    parent, _, name = path.rpartition(".")
    holders = values_at(raw, parent)
    return len(holders) == 1 and isinstance(holders[0], dict) and isinstance(holders[0].get(name), str)


def _names_in(text: str) -> list[str]:
    """The names in one text.

    >>> _names_in("Jane Doe and R. Roe"), _names_in("Doe, Jane; Roe, R.;"), _names_in("Jo Doe and ATLAS Collaboration")
    (['Jane Doe', 'R. Roe'], ['Doe, Jane', 'Roe, R.'], ['Jo Doe', 'ATLAS Collaboration'])
    >>> _names_in("Centre for Disease Control and Prevention")
    ['Centre for Disease Control and Prevention']
    """
    first, *others = text.split(" and ")
    if len(others) == 1 and is_group(text) and not (" " in first and is_group(others[0])):
        others = []  # the word belongs to the name of a group
    names = [first, *others] if others else text.rstrip("; ").split(";")
    return [name.strip() for name in names]


def _name(entry: Any, inside: Layout) -> str:
    if isinstance(entry, str):
        return whole_name(entry)
    family, given, suffix = (_first_text(entry, inside.get(part)) for part in ("family", "given", "suffix"))
    return (split_name(family, given, suffix) if family else "") or whole_name(_first_text(entry, inside.get("name")))


def _places(raw: Any, layout: Layout) -> dict[str, str]:
    """The affiliations that the authors of a record refer to, by number."""
    paths = layout.get("places")
    if paths is None:
        return {}
    pairs = ((_all(place, paths["number"]), _first_text(place, paths["name"])) for place in _all(raw, paths["list"]))
    return {identifier(number): name for numbers, name in pairs for number in numbers if name}


def _author(position: int, name: str, entry: Any, inside: Layout, places: dict[str, str], notes: list[Note]) -> Author:
    if not isinstance(entry, dict):
        return Author(position, name)
    numbers = [number for value in _all(entry, inside.get("places")) for number in identifier(value).split()]
    given = [*filter(None, map(places.get, numbers)), *_all(entry, inside.get("affiliations"))]
    affiliations, emails = affiliations_and_emails(map(repeated, filter(_is_text, given)))
    for value in filter(_is_text, _all(entry, inside.get("emails"))):
        emails += [email for email in emails_in(value) if email not in emails]
    ids: dict[str, str] = {}
    for kind, paths in {"orcid": inside.get("orcid"), **inside.get("ids", {})}.items():
        for value in _all(entry, paths):
            identifiers.add(ids, kind, identifier(value), notes)
    return Author(position, name, affiliations, emails, ids=ids)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


@cache
def _marks(service: str) -> list[re.Pattern[bytes]]:
    """The patterns of the marks of a service; a mark may have alternatives, "a|b"."""
    marks = ("|".join(map(re.escape, mark.split("|"))) for mark in layouts()[service]["marks"])
    return [re.compile(rb'"(?:%s)"\s*+:' % mark.encode()) for mark in marks]


def _service(head: bytes) -> str | None:
    """The first service whose marks the beginning of a file has."""
    if not is_json(head):
        return None
    return next((name for name in layouts() if all(mark.search(head) for mark in _marks(name))), None)


def _open(source: Source, columns: Columns) -> Records:
    service = _service(source.head)
    if service is None:
        raise InputError(f"{source.name} has no answer of a service that --format services knows; check the file.")
    layout = layouts()[service]
    found = open_json(source, layout["names"], frozenset(layout.get("wrappers", ())))
    return Records(found.raws, found.unit, service)


FORMAT = Format(
    name="services",
    title="JSON of INSPIRE, DOAJ, CORE, Zenodo and other services",
    recognises=lambda source: _service(source.head) is not None,
    open=_open,
    parse=parse_answer,
)
