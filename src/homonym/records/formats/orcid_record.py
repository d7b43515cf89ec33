"""ORCID: the works of a person, from public records and lists of works in JSON or XML.

Each work is a document whose author is this person, with the ORCID; works with all details have their contributors,
too. Reads title, abstract, year, venue, DOI, PubMed id and other identifiers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.people import AuthorIndex
from homonym.records.model import (
    Author,
    BrokenRecordError,
    Document,
    Note,
    Parsed,
    publication_year,
    require_few_authors,
)
from homonym.records.parsing.json_fields import (
    add_member,
    dicts,
    load_record,
    member,
    split_name,
    text_or_empty,
    whole_name,
)
from homonym.records.parsing.json_stream import names_in, open_json
from homonym.records.parsing.splitting import Raw, decoded
from homonym.records.parsing.xml_stream import PREFIX, Element, cut_records, element_of, is_xml, local_name, text_of
from homonym.records.reader import Columns, Format, Records

# Every work has two of these names, and so has the name of a person; no object inside them has (see `open_json`).
_NAMES = frozenset(
    {"title", "publication-date", "journal-title", "short-description", "citation", "contributors", "language-code"}
    | {"given-names", "family-name"}
)
_WRAPPERS = frozenset({"activities-summary", "group", "work-summary", "bulk", "work"})
_ONLY_HERE = frozenset(
    {"orcid-identifier", "activities-summary", "work-summary", "put-code", "external-id-value", "source-client-id"}
)

# The name of a person, and a work.
_PARTS = re.compile(rb"<((?:person|personal-details):name|" + PREFIX + rb"(?:work-summary|work))(?=[\s>])")
_INSIDE = re.compile(rb"</?work:(?:title|type|journal-title|contributors|contributor)[\s>]")
_MARK = re.compile(rb"orcid\.org/ns/|<(?:record:record|activities:works|work:work)[\s>]")
_NAME_OBJECT = re.compile(r'"name"\s*:\s*(?=\{)')

# Begins the owner of a work that is not that of the first work of a file.
_OWNER_MARK = b"\x1f"

_KINDS = {"doi": "doi", "pmid": "pmid", "pmc": "pmcid", "arxiv": "arxiv", "eid": "scopus", "wosuid": "wos"}
_OTHER_ROLES = re.compile(r"editor|translator|support|investigator|assignee|student|review", re.IGNORECASE)


class Owner(NamedTuple):
    """The person whose record has a work: ORCID and name, which are empty if they are unknown."""

    orcid: str
    name: str


_NOBODY = Owner("", "")


def parse_work(record: bytes, context: Owner = _NOBODY) -> Parsed:
    """Read one work of the person in the context.

    >>> document, _ = parse_work(
    ...     b'{"title": {"title": {"value": "On ice"}}, "publication-date": {"year": {"value": "2014"}}}',
    ...     Owner("0000-0002-1825-0097", "Doe, Jo"),
    ... )
    >>> document.title, document.year, document.authors[0].name, document.authors[0].ids
    ('On ice', 2014, 'Doe, Jo', {'orcid': '0000-0002-1825-0097'})
    """
    owner = Owner(*context)
    if record.startswith(_OWNER_MARK):
        about, _, record = record[1:].partition(b"\n")
        owner = Owner(*orjson.loads(about))
    raw = _object_of(element_of(record, _AROUND)) if record.lstrip()[:1] == b"<" else load_record(record)
    if not isinstance(raw, dict) or not (raw.get("title") or raw.get("external-ids") or raw.get("contributors")):
        raise BrokenRecordError("neither title nor identifiers: not a work of ORCID")
    notes: list[Note] = []
    document = Document(
        id="",
        authors=_authors(raw, _owner_of(raw, owner), notes),
        title=_title(raw),
        abstract=_text(raw.get("short-description")),
        year=publication_year(_text(member(raw, "publication-date", "year")), notes),
        venue=_text(raw.get("journal-title")),
        ids=_ids(raw, notes),
    )
    if not document.authors:
        raise BrokenRecordError("the name of the person is missing: download the whole record of the person")
    return document, notes


# Works are parsed without the elements around them, which declare the prefixes.
_AROUND = b"<records" + b"".join(
    b' xmlns:%b="http://www.orcid.org/ns/%b"' % (name, name)
    for name in (b"work", b"common", b"activities", b"record", b"person", b"personal-details", b"bulk")
) + b">"  # fmt: skip


def _object_of(element: Element) -> Any:
    """An element as the JSON of ORCID writes it, except that texts are not in objects."""
    if not len(element):
        return text_of(element)
    found: dict[str, Any] = dict(element.attrib)
    for child in element:
        add_member(found, local_name(child), _object_of(child))
    return found


def _text(value: Any) -> str:
    """A text, which JSON has in an object with the name "value"."""
    return text_or_empty(value.get("value") if isinstance(value, dict) else value)


def _title(raw: dict[str, Any]) -> str:
    title = raw.get("title")
    if not isinstance(title, dict) or "value" in title:
        return _text(title)
    return ": ".join(filter(None, (_text(title.get("title")), _text(title.get("subtitle")))))


def _ids(raw: dict[str, Any], notes: list[Note]) -> dict[str, str]:
    """Identifiers of the work itself; others are those of its book or journal, or of other versions."""
    ids: dict[str, str] = {}
    for given in dicts(member(raw, "external-ids", "external-id")):
        relation = _text(given.get("external-id-relationship")).lower().replace("_", "-") or "self"
        kind = _KINDS.get(_text(given.get("external-id-type")).lower())
        written = _text(given.get("external-id-value"))
        if relation != "self" or kind is None or kind in ids or not written:
            continue
        if kind == "arxiv":
            written = re.sub(r"^arxiv:|v\d+$", "", written, flags=re.IGNORECASE)
        elif kind == "pmcid":
            written = identifiers.pmcid(written)
        identifiers.add(ids, kind, written, notes)
    return ids


def _owner_of(raw: dict[str, Any], owner: Owner) -> Owner:
    """The owner of a work. Its path has the ORCID, which decides if it is another one."""
    path = raw.get("path")
    own = identifiers.orcid(path) if isinstance(path, str) else None
    return owner if own is None or own == owner.orcid else Owner(own, "")


def _authors(raw: dict[str, Any], owner: Owner, notes: list[Note]) -> list[Author]:
    """The contributors who are authors, and the owner, who is one of them or is added."""
    entries = dicts(member(raw, "contributors", "contributor"))
    require_few_authors(len(entries))
    authors: list[Author] = []
    for entry in entries:
        if not _OTHER_ROLES.search(_text(member(entry, "contributor-attributes", "contributor-role"))):
            if name := whole_name(_text(entry.get("credit-name"))):
                authors.append(Author(len(authors), name, ids=_contributor_ids(entry, notes)))
            elif entry.get("credit-name"):
                notes.append(("author", f"author {len(authors)} has no name"))
    place = _place_of(owner, authors)
    if place is not None and owner.orcid:
        authors[place].ids["orcid"] = owner.orcid
    elif place is None and owner.name:
        authors.append(Author(len(authors), owner.name, ids={"orcid": owner.orcid} if owner.orcid else {}))
    return authors


def _contributor_ids(entry: dict[str, Any], notes: list[Note]) -> dict[str, str]:
    given = entry.get("contributor-orcid")
    found: dict[str, str] = {}
    identifiers.add(found, "orcid", _text(member(given, "path")) or _text(member(given, "uri")), notes)
    return found


def _place_of(owner: Owner, authors: list[Author]) -> int | None:
    """The contributor who is the owner: the one with the same ORCID, else the only one with the same name."""
    by_id = (place for place, author in enumerate(authors) if owner.orcid and author.ids.get("orcid") == owner.orcid)
    found = next(by_id, None)
    if found is not None or not owner.name:
        return found
    place = AuthorIndex([_forms(author.name) for author in authors]).find(owner.name)
    return place if place is not None and "orcid" not in authors[place].ids else None


def _forms(name: str) -> list[str]:
    """A name, and the same with the last word first if it has no comma."""
    given, _, family = name.rpartition(" ")
    return [name] if "," in name or not given else [name, f"{family}, {given}"]


def _person(value: dict[str, Any]) -> Owner:
    """The owner from the name of a person."""
    name = split_name(_text(value.get("family-name")), _text(value.get("given-names")))
    path = value.get("path")
    own = identifiers.orcid(path) if isinstance(path, str) else None
    return Owner(own or "", name or whole_name(_text(value.get("credit-name"))))


def _is_person(value: dict[str, Any]) -> bool:
    return ("given-names" in value or "family-name" in value) and "title" not in value


def _with_owners(raws: Iterator[Raw], first: Owner) -> Iterator[Raw]:
    """The works, numbered; those of another person than the first are preceded by that person."""
    owner, number = first, 0
    for raw in raws:
        person = _person_in(raw)
        if person is not None:
            owner = person
            continue
        number += 1
        text = raw.text if owner == first or raw.broken else _OWNER_MARK + orjson.dumps([*owner]) + b"\n" + raw.text
        yield Raw(number, text, raw.broken)


def _person_in(raw: Raw) -> Owner | None:
    """The person whose name a part of a file is; None for works."""
    if raw.broken or not (b"given-names" in raw.text or b"family-name" in raw.text or b":name" in raw.text[:40]):
        return None
    try:
        is_element = raw.text[:1] == b"<"
        value = _object_of(element_of(raw.text, _AROUND)) if is_element else load_record(raw.text)
    except BrokenRecordError:
        return _NOBODY if b":name" in raw.text[:40] else None
    return _person(value) if isinstance(value, dict) and _is_person(value) else None


def _first_owner(head: bytes) -> Owner:
    """The person whose name is the first in a file."""
    if not names_in(head):
        beginnings = cut_records([head], _PARTS, _INSIDE)
        return next((owner for raw in beginnings if (owner := _person_in(raw)) is not None), _NOBODY)
    text = decoded(head)
    for found in _NAME_OBJECT.finditer(text):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, found.end())
        except (ValueError, RecursionError):
            continue
        if _is_person(value):
            return _person(value)
    return _NOBODY


def _recognises(source: Source) -> bool:
    if names := names_in(source.head):
        return len(_ONLY_HERE & names) > 1 and not _NAMES.isdisjoint(names)
    return is_xml(source.head) and _MARK.search(source.head) is not None and _PARTS.search(source.head) is not None


def _open(source: Source, columns: Columns) -> Records:
    first = _first_owner(source.head)
    if names_in(source.head) or not is_xml(source.head):
        return Records(_with_owners(open_json(source, _NAMES, _WRAPPERS).raws, first), "record", first)
    return Records(_with_owners(cut_records(source.blocks(), _PARTS, _INSIDE), first), "record", first)


FORMAT = Format(name="orcid", title="ORCID works", recognises=_recognises, open=_open, parse=parse_work)
