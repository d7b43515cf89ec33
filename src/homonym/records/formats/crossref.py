"""Crossref works: answers of its REST API, files of its public data dumps, and works one per line.

CSL JSON, which reference managers export, has nearly the same names and is read too. Reads title, abstract, year,
venue, subjects, keywords, DOI, cited DOIs and first authors, and per author name, affiliations, e-mail and ORCID.
"""

from __future__ import annotations

import html
import re
from typing import Any

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import affiliations_and_emails
from homonym.records.fields.contributors import note_contributor
from homonym.records.fields.markup import plain_text
from homonym.records.fields.name_lists import is_east_asian_name
from homonym.records.fields.people import is_group
from homonym.records.model import ANY_YEAR, Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.json_fields import (
    as_list,
    cited_name,
    dicts,
    distinct,
    identifier,
    list_field,
    load_record,
    orcid,
    split_name,
    text_or_empty,
    whole_name,
)
from homonym.records.parsing.json_stream import names_in, open_json
from homonym.records.reader import Format

# Every work has two of these names; no object inside a work has (see `open_json`).
_NAMES = frozenset(
    {"title", "issued", "publisher", "indexed", "prefix", "member", "container-title", "created", "deposited"}
    | {"reference-count", "references-count", "is-referenced-by-count", "score", "published"}
)

_ONLY_HERE = frozenset(
    {"DOI", "reference-count", "references-count", "is-referenced-by-count", "container-title", "date-parts"}
    | {"content-domain", "crossmark-restriction", "doi-asserted-by", "authenticated-orcid", "message-type"}
    | {"published-print", "published-online"}
)
_TYPICAL = frozenset(
    {"family", "given", "sequence", "issued", "publisher", "ISSN", "title", "author", "status", "items"}
)

# Fields with the year of publication, in order of preference.
_DATES = ("issued", "published-print", "published-online", "published", "posted", "created")

_SEPARATOR = re.compile(r"\s*[,;]\s*")

# Parts of a family name that CSL stores separately.
_PARTICLES = ("non-dropping-particle", "dropping-particle")

_HEADING = re.compile(
    r"\s*+(?:<(?:jats:)?(?:sec|abstract)>\s*+)?<(?:jats:)?title>"
    r"\s*(?:abstract|summary|zusammenfassung|r[eé]sum[eé]|resumen|resumo)\W*</(?:jats:)?title>",
    re.IGNORECASE,
)


def parse_work(line: bytes, context: object = None) -> Parsed:
    """Read one work.

    >>> document, notes = parse_work(
    ...     b'{"DOI": "10.1000/ABC", "title": ["On <i>x</i>"], "issued": {"date-parts": [[2014, 3]]},'
    ...     b' "author": [{"family": "Doe", "given": "J.", "suffix": "Jr"}, {"name": "The Group"}],'
    ...     b' "reference": [{"DOI": "10.1000/DEF", "author": "Roe"}]}'
    ... )
    >>> document.id, document.title, document.year, [author.name for author in document.authors]
    ('10.1000/abc', 'On x', 2014, ['Doe, J., Jr'])
    >>> document.references, document.referenced_authors, notes
    (['10.1000/def'], ['Roe'], [('contributor', 'The Group')])
    """
    raw = load_record(line)
    if not any(raw.get(name) for name in ("DOI", "title", "author")):
        raise BrokenRecordError("neither DOI nor title nor author: not a work of Crossref")
    notes: list[Note] = []
    doi = _doi(raw.get("DOI"))
    cited = dicts(raw.get("reference"))
    document = Document(
        id=doi or identifier(raw.get("id")),
        authors=_authors(raw.get("author"), notes),
        title=_title(raw, notes),
        abstract=_abstract(raw.get("abstract"), notes),
        year=_year(raw, notes),
        venue=_venue(raw, notes),
        categories=distinct(as_list(raw.get("subject"))),
        keywords=distinct(_keywords(raw.get("keyword")) + as_list(raw.get("categories"))),
        references=_references(cited),
        referenced_authors=_referenced(cited),
        ids=_ids(raw, doi, notes),
        id_is_key=bool(doi),  # ids that reference managers choose may not be unique
    )
    return document, notes


def _doi(value: Any) -> str:
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, str):
        return ""
    if "&" in value:
        value = html.unescape(value[:1000])
    return identifiers.doi(value) or value.strip().lower()


def _ids(raw: dict[str, Any], doi: str, notes: list[Note]) -> dict[str, str]:
    """The DOI; in CSL also the numbers in PubMed and PubMed Central."""
    ids = {"doi": doi} if doi else {}
    if "PMID" in raw:
        identifiers.add(ids, "pmid", identifier(raw["PMID"]), notes)
    if number := identifier(raw.get("PMCID")):
        ids["pmcid"] = identifiers.pmcid(number)
    return ids


def _keywords(value: Any) -> list[Any]:
    """The keywords, which are one text in CSL."""
    return _SEPARATOR.split(value) if isinstance(value, str) else as_list(value)


def _first(value: Any, name: str, notes: list[Note]) -> str:
    """The first text of a list, or a single text, as in CSL."""
    for item in as_list(value):
        if isinstance(item, str) and (found := plain_text(item)):
            return found
    if value and not isinstance(value, list | str):
        notes.append(("field", f"{name} must be a list of texts, got {type(value).__name__}"))
    return ""


def _authors(entries: Any, notes: list[Note]) -> list[Author]:
    """The persons in the order of the list. The field "sequence" only marks the first one."""
    authors: list[Author] = []
    for position, entry in enumerate(list_field(entries, "author", notes)):
        if group := _group(entry):
            note_contributor(group, notes)
        elif name := _name(entry):
            affiliations, emails = _affiliations(entry.get("affiliation"))
            ids = orcid(entry["ORCID"], notes) if "ORCID" in entry else {}
            authors.append(Author(position, name, affiliations, emails, None, None, ids))
        else:
            notes.append(("author", f"author {position} has no name"))
    return authors


def _group(entry: Any) -> str:
    """The name of an organisation, which is in one piece; empty for a person.

    Reference managers also have the names of people in Chinese, Japanese or Korean script in one piece.
    """
    if not isinstance(entry, dict) or entry.get("family") or entry.get("given"):
        return ""
    name = text_or_empty(entry.get("name") or entry.get("literal"))
    return "" if not entry.get("name") and is_east_asian_name(name) and not is_group(name) else name


def _name(entry: Any) -> str:
    if not isinstance(entry, dict):
        return ""
    family = entry.get("family")
    for particle in _PARTICLES:
        if particle in entry and isinstance(family, str):
            family = f"{entry[particle] or ''} {family}"
    name = split_name(family, entry.get("given"), entry.get("suffix"))
    return name or whole_name(text_or_empty(entry.get("literal")))


def _affiliations(value: Any) -> tuple[list[str], list[str]]:
    if not value:
        return [], []
    return affiliations_and_emails([item.get("name") if isinstance(item, dict) else item for item in as_list(value)])


def _title(raw: dict[str, Any], notes: list[Note]) -> str:
    title = _first(raw.get("title"), "title", notes)
    subtitle = _first(raw.get("subtitle"), "subtitle", notes) if raw.get("subtitle") else ""
    return title if subtitle.lower() in title.lower() else f"{title}: {subtitle}".removeprefix(": ")


def _abstract(value: Any, notes: list[Note]) -> str:
    if isinstance(value, str):
        heading = _HEADING.match(value)
        return plain_text(value[heading.end() :] if heading else value)
    if value is not None:
        notes.append(("field", f"abstract must be text, got {type(value).__name__}"))
    return ""


def _year(raw: dict[str, Any], notes: list[Note]) -> int | None:
    """The year of the first date that has one; date-parts may be empty or [[null]]."""
    wrong: list[Note] = []
    for name in _DATES:
        if name in raw and (year := publication_year(_first_part(raw[name]), wrong)):
            return year
    notes.extend(wrong[:1])
    return None


def _first_part(date: Any) -> Any:
    if not isinstance(date, dict):
        return date if isinstance(date, str | int) else None
    part = date.get("date-parts")
    while isinstance(part, list) and part:
        part = part[0]
    if isinstance(part, list | dict):
        part = None
    return part or date.get("date-time") or _year_in(date.get("raw")) or _year_in(date.get("literal"))


def _year_in(written: Any) -> str | None:
    """The year in a date as written, "March 2014" or 2014."""
    found = ANY_YEAR.search(identifier(written))
    return found[0] if found else None


def _venue(raw: dict[str, Any], notes: list[Note]) -> str:
    return _first(raw.get("container-title"), "container-title", notes) or _first(
        raw.get("short-container-title"), "short-container-title", notes
    )


def _references(cited: list[dict[str, Any]]) -> list[str]:
    dois = [_doi(item["DOI"]) for item in cited if "DOI" in item]
    return [*filter(None, dict.fromkeys(dois))] if dois else dois


def _referenced(cited: list[dict[str, Any]]) -> list[str]:
    """The distinct first authors of the references."""
    names = [item["author"] for item in cited if "author" in item]
    return [*filter(None, dict.fromkeys(cited_name(name) for name in names if isinstance(name, str)))]


def _recognises(source: Source) -> bool:
    """Two names that only Crossref has, or one and two typical ones."""
    names = names_in(source.head)
    only_here = len(_ONLY_HERE & names)
    return only_here > 1 or (only_here == 1 and len(_TYPICAL & names) > 1)


FORMAT = Format(
    name="crossref",
    title="Crossref works",
    recognises=_recognises,
    open=lambda source, columns: open_json(source, _NAMES),
    parse=parse_work,
)
