"""DataCite JSON: pages of its REST API, its public data file, and single records.

Reads title, abstract, year, venue, subjects as categories and keywords, DOI, arXiv number, cited DOIs, and per
person name, affiliations, e-mail, ORCID, ResearcherID and Scopus id. Organisations among the creators are no authors.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import affiliations_and_emails
from homonym.records.fields.contributors import note_contributor
from homonym.records.fields.people import is_placeholder
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.json_fields import (
    as_list,
    dicts,
    distinct,
    identifier,
    load_record,
    repeated,
    split_name,
    text_or_empty,
    whole_name,
)
from homonym.records.parsing.json_stream import names_in, open_json
from homonym.records.reader import Format

_ONLY_HERE = frozenset({"creators", "titles", "publicationYear", "nameIdentifiers", "nameType", "relatedIdentifiers"})
_TYPE = re.compile(rb'"type"\s*+:\s*+"dois"')
_NAMES = ("attributes", "type", "creators", "titles", "publicationYear")
_PERSON_SCHEMES: dict[str, tuple[str, Callable[[str], str | None]]] = {
    "orcid": ("orcid", identifiers.orcid),
    "researcherid": ("researcherid", identifiers.researcher_id),
    "researcher id": ("researcherid", identifiers.researcher_id),
    "scopus": ("scopus", identifiers.scopus),
    "scopus author id": ("scopus", identifiers.scopus),
}
_GROUPS = ("Organizational", "Organization")
_GROUP_SCHEMES = frozenset({"ror", "grid", "crossref funder id", "crossref funder"})

# DataCite's codes for unknown values of required fields begin so: "(:unav)", "(:unkn)", "(:tba)", …
_NOT_KNOWN = "(:"

# Maximum length of other texts for unknown values: "not available", "unknown", "none".
_LONGEST_UNKNOWN = 16

_CITING = ("References", "Cites")


def parse_record(text: bytes, context: object = None) -> Parsed | None:
    """Read one record; None for the other objects of an API page (repositories, links).

    >>> document, notes = parse_record(
    ...     b'{"id": "10.5072/X", "attributes": {"titles": [{"title": "On\\\\n  Ice"}], "publicationYear": 2019,'
    ...     b'"creators": [{"name": "Doe, Jo", "nameType": "Personal", "familyName": "Doe", "givenName": "Jo"},'
    ...     b'{"name": "The Ice Lab", "nameType": "Organizational"}]}}'
    ... )
    >>> document.id, document.title, [author.name for author in document.authors]
    ('10.5072/x', 'On Ice', ['Doe, Jo'])
    """
    raw = load_record(text)
    if isinstance(raw.get("data"), dict):
        raw = raw["data"]
    given = raw.get("attributes")
    record = given if isinstance(given, dict) else raw
    if "creators" not in record and "titles" not in record:
        if raw.get("type", "dois") != "dois":
            return None
        raise BrokenRecordError("neither 'creators' nor 'titles': not a DataCite record")
    return _document(record, identifier(raw.get("id")))


def _document(record: dict[str, Any], name: str) -> Parsed:
    notes: list[Note] = []
    doi = identifiers.doi(identifier(record.get("doi")) or name)
    categories, keywords = _subjects(record.get("subjects"))
    document = Document(
        id=doi or name,
        authors=_authors(record.get("creators"), notes),
        title=_title(record.get("titles")),
        abstract=_abstract(record.get("descriptions")),
        year=publication_year(record.get("publicationYear"), notes) or _year_issued(record.get("dates")),
        venue=_venue(record),
        categories=categories,
        keywords=keywords,
        references=_references(record.get("relatedIdentifiers")),
        ids={"doi": doi} if doi else {},
    )
    return document, notes


def _authors(creators: Any, notes: list[Note]) -> list[Author]:
    authors = []
    for position, creator in enumerate(dicts(creators, "name")):
        name = _name(creator)
        if name and _is_group(creator):
            note_contributor(name, notes)
            continue
        if not name:
            notes.append(("author", f"author {position} has no name ({creator.get('name')!r:.40})"))
            continue
        places, emails = _affiliations(creator.get("affiliation"))
        ids = _ids(creator["nameIdentifiers"], notes) if creator.get("nameIdentifiers") else {}
        authors.append(Author(position, name, places, emails, None, None, ids))
    return authors


def _is_group(creator: dict[str, Any]) -> bool:
    """Whether a creator is an organisation, by its type or by an identifier that only organisations have."""
    if kind := creator.get("nameType") or creator.get("type"):  # "type" in the output of some DataCite tools
        return kind in _GROUPS
    return any(_scheme(given) in _GROUP_SCHEMES for given in dicts(creator.get("nameIdentifiers")))


def _name(creator: dict[str, Any]) -> str:
    family, given, whole = creator.get("familyName"), creator.get("givenName"), creator.get("name")
    if family and given:
        return split_name(family, given)
    return (whole_name(whole) if isinstance(whole, str) else "") or split_name(family, given)


def _affiliations(value: Any) -> tuple[list[str], list[str]]:
    """Affiliations, and the e-mail addresses among them."""
    if not value:
        return [], []
    places, emails = affiliations_and_emails(
        [place.get("name") if isinstance(place, dict) else place for place in as_list(value)]
    )
    return [place for place in places if not _is_unknown(place)], emails


def _is_unknown(text: str) -> bool:
    return text.startswith(_NOT_KNOWN) or (len(text) <= _LONGEST_UNKNOWN and is_placeholder(text))


def _ids(entries: Any, notes: list[Note]) -> dict[str, str]:
    found: dict[str, str] = {}
    for given in dicts(entries):
        value = identifier(given.get("nameIdentifier"))
        scheme = _PERSON_SCHEMES.get("orcid" if "orcid.org/" in value else _scheme(given))
        if not scheme or not value:
            continue
        kind, rule = scheme
        if valid := rule(value):
            found.setdefault(kind, valid)
        else:
            notes.append(("field", f"{value!r} is not a valid {identifiers.TITLES[kind]}"))
    return found


def _scheme(given: dict[str, Any]) -> str:
    return str(given.get("nameIdentifierScheme")).strip().lower()


def _title(titles: Any) -> str:
    """The main title: alternative titles, translations and subtitles have a type."""
    given = dicts(titles, "title")
    for title in given:
        if not title.get("titleType"):
            return text_or_empty(title.get("title"))
    return text_or_empty(given[0].get("title")) if given else ""


def _abstract(descriptions: Any) -> str:
    for description in dicts(descriptions):
        if description.get("descriptionType") == "Abstract":
            return text_or_empty(description.get("description"))
    return ""


def _subjects(subjects: Any) -> tuple[list[str], list[str]]:
    """Categories, which are OECD Fields of Science ("FOS: Mathematics"), and free keywords."""
    names = distinct([subject.get("subject") for subject in dicts(subjects, "subject")])
    categories = [name[4:].strip() for name in names if name.startswith("FOS:")]
    return categories, [name for name in names if not name.startswith("FOS:")] if categories else names


def _venue(record: dict[str, Any]) -> str:
    container, publisher = record.get("container"), record.get("publisher")
    title = container.get("title") if isinstance(container, dict) else None
    return _known(title) or _known(publisher.get("name") if isinstance(publisher, dict) else publisher)


def _known(value: Any) -> str:
    name = repeated(value) if isinstance(value, str) else ""
    return "" if _is_unknown(name) else name


def _references(related: Any) -> list[str]:
    found = []
    for other in dicts(related):
        if other.get("relationType") in _CITING and other.get("relatedIdentifierType") == "DOI":
            value = other.get("relatedIdentifier")
            doi = identifiers.doi(value) if isinstance(value, str) else None
            if doi:
                found.append(doi)
    return found


def _year_issued(dates: Any) -> int | None:
    issued = (date.get("date") for date in dicts(dates) if date.get("dateType") == "Issued")
    return publication_year(next(issued, None), [])


def _recognises(source: Source) -> bool:
    """Two of its names, so that neither a damaged name nor one of another format decides."""
    found = len(_ONLY_HERE & names_in(source.head))
    return found > 1 or (found == 1 and _TYPE.search(source.head) is not None)


FORMAT = Format(
    name="datacite",
    title="DataCite JSON",
    recognises=_recognises,
    open=lambda source, columns: open_json(source, _NAMES),
    parse=parse_record,
)
