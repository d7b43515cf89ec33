"""Dimensions: publications in answers of its API. Its CSV and XLSX exports are read as tables.

Reads title, abstract, year, venue, fields of research, concepts, MeSH headings, references and identifiers, and per
author name, affiliations, ORCID and the identifier of the researcher in Dimensions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import affiliations_and_emails
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
)
from homonym.records.parsing.json_stream import names_in, open_json
from homonym.records.reader import Format

# Every publication has two of these names; no object inside a publication has (see `open_json`).
_NAMES = frozenset(
    {"title", "authors", "year", "date", "journal", "abstract", "concepts", "reference_ids", "research_orgs", "pages"}
    | {"times_cited", "category_for", "publisher", "volume", "doi", "pmid", "dimensions_url", "proceedings_title"}
)
_WRAPPERS = frozenset({"publications"})
_ONLY_HERE = frozenset(
    {"current_organization_id", "raw_affiliation", "researcher_id", "reference_ids", "research_orgs", "category_for"}
    | {"dimensions_url", "concepts_scores", "research_org_countries", "_stats"}
)
_PUBLICATION = re.compile(rb'"pub\.\d+"')
_NO_ID = frozenset({"", "null", "none"})


def parse_publication(line: bytes, context: object = None) -> Parsed:
    """Read one publication.

    >>> document, _ = parse_publication(
    ...     b'{"id": "pub.7", "title": "On x", "authors": [{"first_name": "Jo", "last_name": "Doe",'
    ...     b' "raw_affiliation": ["MIT"], "researcher_id": "ur.0123.45", "orcid": []}]}'
    ... )
    >>> document.id, document.authors[0].name, document.authors[0].ids
    ('pub.7', 'Doe, Jo', {'dimensions': 'ur.0123.45'})
    """
    raw = load_record(line)
    if not any(raw.get(name) for name in ("id", "title", "authors")):
        raise BrokenRecordError("neither id nor title nor authors: not a publication of Dimensions")
    notes: list[Note] = []
    ids: dict[str, str] = {}
    for kind, name in (
        ("dimensions", "id"),
        ("doi", "doi"),
        ("pmid", "pmid"),
        ("pmcid", "pmcid"),
        ("arxiv", "arxiv_id"),
    ):
        identifiers.add(ids, kind, identifier(raw.get(name)), notes)
    document = Document(
        id=identifier(raw.get("id")),
        authors=_authors(raw.get("authors"), notes),
        title=text(raw.get("title"), "title", notes),
        abstract=text(raw.get("abstract"), "abstract", notes),
        year=publication_year(raw.get("year") or raw.get("date"), notes),
        venue=_venue(raw),
        categories=distinct(map(_named, as_list(raw.get("category_for")))),
        keywords=distinct(_subjects(raw)),
        references=[*filter(None, map(identifier, as_list(raw.get("reference_ids"))))],
        ids=ids,
    )
    return document, notes


def _authors(entries: Any, notes: list[Note]) -> list[Author]:
    authors = []
    for position, entry in enumerate(list_field(entries, "authors", notes)):
        name = split_name(entry.get("last_name"), entry.get("first_name")) if isinstance(entry, dict) else ""
        if name:
            affiliations, emails = affiliations_and_emails(_places(entry))
            authors.append(Author(position, name, affiliations, emails, None, None, _person_ids(entry, notes)))
        else:
            notes.append(("author", f"author {position} has no name"))
    return authors


def _places(entry: dict[str, Any]) -> list[Any]:
    """Affiliations as printed, or the institutions that Dimensions found in them."""
    found = dicts(entry.get("affiliations"))
    printed = as_list(entry.get("raw_affiliation")) or [place.get("raw_affiliation") for place in found]
    return [*filter(None, printed)] or [place.get("name") for place in found]


def _person_ids(entry: dict[str, Any], notes: list[Note]) -> dict[str, str]:
    """The ORCID and the id of a researcher; missing ones are empty, "null" or, as text, "[]"."""
    given = entry.get("orcid")
    found = orcid(given, notes) if given not in ("[]", "null") else {}
    if (own := identifier(entry.get("researcher_id"))).lower() not in _NO_ID:
        identifiers.add(found, "dimensions", own, notes)
    return found


def _named(value: Any) -> Any:
    return value.get("name") if isinstance(value, dict) else value


def _venue(raw: dict[str, Any]) -> str:
    journal = raw.get("journal")
    return first_repeated(member(journal, "title"), journal, raw.get("proceedings_title"), raw.get("book_title"))


def _subjects(raw: dict[str, Any]) -> Iterator[Any]:
    yield from as_list(raw.get("concepts"))
    for scored in dicts(raw.get("concepts_scores")):
        yield scored.get("concept")
    yield from as_list(raw.get("mesh_terms"))


def _recognises(source: Source) -> bool:
    only_here = len(_ONLY_HERE & names_in(source.head))
    return only_here > 1 or (only_here == 1 and _PUBLICATION.search(source.head) is not None)


FORMAT = Format(
    name="dimensions",
    title="Dimensions publications",
    recognises=_recognises,
    open=lambda source, columns: open_json(source, _NAMES, _WRAPPERS),
    parse=parse_publication,
)
