"""Zotero items as JSON: answers of its web API, exports of the plug-in Better BibTeX, and items one per line.

Reads title, abstract, year, venue, tags, identifiers and the names of the authors; Zotero has no addresses of persons.
"""

from __future__ import annotations

import re
from typing import Any

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.contributors import note_contributor
from homonym.records.fields.people import is_group
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.json_fields import (
    dicts,
    distinct,
    identifier,
    list_field,
    load_record,
    split_name,
    text,
    text_or_empty,
    whole_name,
)
from homonym.records.parsing.json_stream import names_in, open_json
from homonym.records.reader import Columns, Format, Records

# Every record has two of these names; no object inside it has (see `open_json`). In answers of the API an item has its
# fields in an object "data"; that is the record if it comes before the other members, as in files with sorted names.
_FIELDS = frozenset({"itemType", "creators", "title", "abstractNote", "dateAdded", "dateModified", "date", "extra"})
_ITEM = frozenset({"library", "links", "meta"})

_TYPICAL = frozenset({"creatorType", "abstractNote", "dateAdded", "publicationTitle", "creators", "libraryCatalog"})

# Types of items that describe no work, but belong to one.
_PARTS = frozenset({"attachment", "note", "annotation"})

# The main creators of the various types of items; all others (editors, translators, …) are not authors.
_ROLES = frozenset(
    {"author", "artist", "cartographer", "composer", "director", "interviewee", "inventor", "podcaster", "presenter"}
    | {"programmer"}
)

# Fields with the venue, in order of preference.
_VENUES = (
    "publicationTitle", "proceedingsTitle", "bookTitle", "encyclopediaTitle", "dictionaryTitle", "conferenceName",
    "repository", "websiteTitle", "blogTitle", "university", "institution", "journalAbbreviation", "series",
)  # fmt: skip

_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_PMID = re.compile(r"^PMID: ?(\d{1,8})\s*$", re.MULTILINE | re.IGNORECASE)
_PMCID = re.compile(r"^PMCID: ?(PMC\d{3,9})\s*$", re.MULTILINE | re.IGNORECASE)
_ARXIV = re.compile(rf"arxiv(?:\.org/(?:abs|pdf)/|: ?)({identifiers.ARXIV_NUMBER})", re.IGNORECASE)
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ.&-]+")


def parse_item(line: bytes, context: object = None) -> Parsed | None:
    """Read one item; None for notes and attachments.

    >>> document, _ = parse_item(
    ...     b'{"key": "ABCD2345", "itemType": "journalArticle", "title": "On x", "date": "May 2014", "creators": ['
    ...     b'{"creatorType": "author", "firstName": "Jo", "lastName": "Doe"}, {"creatorType": "editor", "name": "R"}]}'
    ... )
    >>> document.id, document.year, [author.name for author in document.authors]
    ('ABCD2345', 2014, ['Doe, Jo'])
    """
    raw = load_record(line)
    if isinstance(raw.get("data"), dict):
        raw = raw["data"]
    if raw.get("itemType") in _PARTS:
        return None
    if not raw.get("title") and not raw.get("creators"):
        raise BrokenRecordError("neither title nor creators")
    notes: list[Note] = []
    key = identifier(raw.get("key")) or identifier(raw.get("itemKey"))
    document = Document(
        id=key or identifier(raw.get("citationKey")),
        authors=_authors(raw.get("creators"), notes),
        title=text(raw.get("title"), "title", notes),
        abstract=text(raw.get("abstractNote"), "abstractNote", notes),
        year=_year(raw.get("date"), notes),
        venue=next(filter(None, (text_or_empty(raw.get(name)) for name in _VENUES)), ""),
        keywords=distinct(entry.get("tag") for entry in dicts(raw.get("tags"), "tag")),
        ids=_ids(raw),
        id_is_key=bool(key),
    )
    return document, notes


def _authors(entries: Any, notes: list[Note]) -> list[Author]:
    authors: list[Author] = []
    position = 0
    for entry in list_field(entries, "creators", notes):
        if isinstance(entry, dict) and entry.get("creatorType", "author") not in _ROLES:
            continue
        if group := _group(entry):
            note_contributor(group, notes)
        elif name := _name(entry):
            authors.append(Author(position, name))
        else:
            notes.append(("author", f"author {position} has no name"))
        position += 1
    return authors


def _name(entry: Any) -> str:
    if not isinstance(entry, dict):
        return ""
    whole = entry.get("name")
    if isinstance(whole, str) and whole.strip():
        return whole_name(whole)
    return split_name(entry.get("lastName"), entry.get("firstName"))


def _group(entry: Any) -> str:
    """The name of an organisation; empty for a person.

    Organisations have a name in one field. So have many Chinese names, and people in items that programs have added.
    """
    if not isinstance(entry, dict):
        return ""
    whole = entry.get("name") or (entry.get("lastName") if entry.get("fieldMode") else None)
    name = text_or_empty(whole or (not entry.get("firstName") and entry.get("lastName")))
    return name if is_group(name) or (whole and _LATIN_WORD.fullmatch(name)) else ""


def _year(value: Any, notes: list[Note]) -> int | None:
    """The year in a date as users have written it: "2014-05-31", "May 2014", "31/5/2014"."""
    found = _YEAR.search(value) if isinstance(value, str) else None
    return publication_year(found[0] if found else value, notes)


def _ids(raw: dict[str, Any]) -> dict[str, str]:
    """Identifiers from their own fields, from the address, and from the lines of the field "Extra"."""
    extra = raw["extra"] if isinstance(raw.get("extra"), str) else ""
    places = " ".join(value for name in ("archiveID", "url", "extra") if isinstance(value := raw.get(name), str))
    doi = identifier(raw.get("DOI")) or next((line for line in extra.splitlines() if line.startswith("DOI: ")), "")
    pmid, pmcid, arxiv = _PMID.search(extra), _PMCID.search(extra), _ARXIV.search(places)
    found = {
        "doi": identifiers.doi(doi) or identifiers.doi(_doi_address(raw.get("url"))),
        "pmid": identifier(raw.get("PMID")) or (identifiers.number(pmid[1]) if pmid else None),
        "pmcid": identifier(raw.get("PMCID")).upper() or (pmcid[1].upper() if pmcid else None),
        "arxiv": identifiers.arxiv(arxiv[1]) if arxiv else None,
    }
    return {kind: value for kind, value in found.items() if value}


def _doi_address(url: Any) -> str:
    return url if isinstance(url, str) and "doi.org/10." in url else ""


def _recognises(source: Source) -> bool:
    names = names_in(source.head)
    return "itemType" in names and not _TYPICAL.isdisjoint(names)


def _open(source: Source, columns: Columns) -> Records:
    before = source.head.partition(b'"data"')[0]
    is_wrapped = b'"library"' in before and b'"meta"' in before
    return open_json(source, _ITEM if is_wrapped else _FIELDS)


FORMAT = Format(name="zotero", title="Zotero items (JSON)", recognises=_recognises, open=_open, parse=parse_item)
