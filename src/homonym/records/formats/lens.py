"""Lens: scholarly works of lens.org as JSON or JSON lines, exported on its web site or by its API.

Reads title, abstract, year, venue, subjects, keywords, fields of study, MeSH headings, references and identifiers, and
per author name, affiliations, ORCID and MAG id.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import affiliations_and_emails
from homonym.records.fields.contributors import note_contributor
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.json_fields import (
    as_list,
    dicts,
    distinct,
    first_repeated,
    identifier,
    list_field,
    load_record,
    member,
    orcid,
    split_name,
    text,
    text_or_empty,
    whole_name,
)
from homonym.records.parsing.json_stream import names_in, open_json
from homonym.records.reader import Format

# Every work has two of these names; no object inside a work has (see `open_json`).
_NAMES = frozenset(
    {"lens_id", "authors", "year_published", "date_published", "external_ids", "publication_type", "fields_of_study"}
    | {"abstract", "references_count", "author_count", "scholarly_citations_count", "source", "mesh_terms"}
)
_TYPICAL = frozenset(
    {"year_published", "external_ids", "publication_type", "fields_of_study", "date_published", "scholarly_citations"}
    | {"author_count", "references_count", "scholarly_citations_count", "authors"}
)

_KINDS = {"doi": "doi", "pmid": "pmid", "pmcid": "pmcid", "magid": "mag", "openalex": "openalex", "wosid": "wos"}


def parse_work(line: bytes, context: object = None) -> Parsed:
    """Read one work.

    >>> document, _ = parse_work(
    ...     b'{"lens_id": "000-1", "external_ids": [{"type": "doi", "value": "10.1000/X"}], "year_published": 2010,'
    ...     b' "authors": [{"first_name": "Jo", "last_name": "Doe", "affiliations": [{"name": "MIT"}]}]}'
    ... )
    >>> document.id, document.ids, document.authors[0].name, document.authors[0].affiliations
    ('000-1', {'lens': '000-1', 'doi': '10.1000/x'}, 'Doe, Jo', ['MIT'])
    """
    raw = load_record(line)
    if "biblio" in raw or "legal_status" in raw:
        raise BrokenRecordError("a patent: export scholarly works")
    if not any(raw.get(name) for name in ("lens_id", "title", "authors")):
        raise BrokenRecordError("neither lens_id nor title nor authors: not a work of Lens")
    notes: list[Note] = []
    ids = _ids(raw, notes)
    document = Document(
        id=ids.get("lens", ""),
        authors=_authors(raw.get("authors"), notes),
        title=text(raw.get("title"), "title", notes),
        abstract=text(raw.get("abstract"), "abstract", notes),
        year=publication_year(raw.get("year_published") or _date(raw.get("date_published")), notes),
        venue=_venue(raw.get("source")),
        categories=distinct(as_list(member(raw.get("source"), "asjc_subjects"))),
        keywords=distinct(_subjects(raw)),
        references=[*filter(None, (identifier(entry.get("lens_id")) for entry in dicts(raw.get("references"))))],
        ids=ids,
    )
    return document, notes


def _ids(raw: dict[str, Any], notes: list[Note]) -> dict[str, str]:
    ids = {"lens": own} if (own := identifier(raw.get("lens_id"))) else {}
    for given in dicts(raw.get("external_ids")):
        kind = _KINDS.get(str(given.get("type")).lower())
        if kind:
            identifiers.add(ids, kind, identifier(given.get("value")), notes)
    if "pmcid" in ids:
        ids["pmcid"] = identifiers.pmcid(ids["pmcid"])
    return ids


def _authors(entries: Any, notes: list[Note]) -> list[Author]:
    authors: list[Author] = []
    for position, entry in enumerate(list_field(entries, "authors", notes)):
        if (
            isinstance(entry, dict)
            and not entry.get("last_name")
            and (group := text_or_empty(entry.get("collective_name")))
        ):
            note_contributor(group, notes)
        elif isinstance(entry, dict) and (name := _name(entry)):
            affiliations, emails = affiliations_and_emails(map(_place, as_list(entry.get("affiliations"))))
            authors.append(Author(position, name, affiliations, emails, None, None, _person_ids(entry, notes)))
        else:
            notes.append(("author", f"author {position} has no name"))
    return authors


def _name(entry: dict[str, Any]) -> str:
    given = entry.get("first_name") or entry.get("initials")
    return split_name(entry.get("last_name"), given) or whole_name(text_or_empty(entry.get("display_name")))


def _place(affiliation: Any) -> Any:
    """An affiliation as printed, or the institution that Lens found in it."""
    if isinstance(affiliation, dict):
        return affiliation.get("name_original") or affiliation.get("name")
    return affiliation


def _person_ids(entry: dict[str, Any], notes: list[Note]) -> dict[str, str]:
    found: dict[str, str] = {}
    for given in dicts(entry.get("ids")):
        kind, value = str(given.get("type")).lower(), given.get("value")
        if kind == "orcid":
            found |= orcid(value, notes)
        elif kind in {"magid", "openalex"} and (written := identifier(value)):
            found["mag" if kind == "magid" else kind] = written.removeprefix(identifiers.OPENALEX_PREFIX)
    return found


def _date(value: Any) -> Any:
    return member(value, "date") if isinstance(value, dict) else value


def _venue(source: Any) -> str:
    return first_repeated(member(source, "title"), member(source, "publisher"), source)


def _subjects(raw: dict[str, Any]) -> Iterator[Any]:
    yield from as_list(raw.get("keywords"))
    yield from as_list(raw.get("fields_of_study"))
    for heading in dicts(raw.get("mesh_terms")):
        yield heading.get("mesh_heading")


def _recognises(source: Source) -> bool:
    names = names_in(source.head)
    return "lens_id" in names and not _TYPICAL.isdisjoint(names)


FORMAT = Format(
    name="lens",
    title="Lens scholarly works",
    recognises=_recognises,
    open=lambda source, columns: open_json(source, _NAMES),
    parse=parse_work,
)
