"""Harvests over OAI-PMH: arXiv in its own formats, and any repository in Dublin Core; also answers of arXiv's API."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import orjson

from homonym.records import arxiv, identifiers
from homonym.records.dublin_core import parse_dublin_core
from homonym.records.formats import Columns, Format, Records
from homonym.records.latex import to_text
from homonym.records.model import Author, Document, Note, Parsed, publication_year
from homonym.records.problems import BrokenRecordError
from homonym.records.splitting import Raw, decoded
from homonym.records.xml_stream import (
    Leaf,
    LeafReader,
    cut_records,
    is_xml,
    leaf_text,
    prefixes_of,
    start_of,
)
from homonym.sources import Source

_PREFIX = rb"(?:[A-Za-z_][\w.-]{0,40}:)?"
_INSIDE = re.compile(
    rb"</?" + _PREFIX + rb"(?:header|metadata|arXiv|arXivRaw|dc|creator|authors?|abstract|summary)[\s>]"
)

_HARVEST = re.compile(rb"<" + _PREFIX + rb"(?:OAI-PMH|header|ListRecords|GetRecord)[\s>]|openarchives\.org/OAI/")
_KNOWN = re.compile(
    rb"<" + _PREFIX + rb"(?:arXiv|arXivRaw|dc)[\s>]|metadataPrefix\s*=\s*[\"'](?:arXiv|arXivRaw|oai_dc)[\"']"
)
_FEED = re.compile(rb"<" + _PREFIX + rb"entry[\s>]")
_ENTRY = re.compile(rb"<" + _PREFIX + rb"id>\s*https?://arxiv\.org/abs/")
_HARVESTED = re.compile(rb"<" + _PREFIX + rb"(?:record|ListRecords|GetRecord|metadata)[\s>]")
_BARE = re.compile(rb"<" + _PREFIX + rb"dc[\s>]")
_ERROR = re.compile(rb"<" + _PREFIX + rb"error\s[^<>]{0,200}?\bcode\s*=\s*[\"'](\w{1,40})")
_ONLY_NAMES = re.compile(rb"<" + _PREFIX + rb"ListIdentifiers[\s>]")
_DELETED = re.compile(rb"<" + _PREFIX + rb"header\s[^<>]*\bstatus\s*=\s*[\"']deleted")
_CONTENT = re.compile(rb"<" + _PREFIX + rb"metadata[^<>]*>\s*<" + _PREFIX + rb"([\w.-]+)")
_TERM = re.compile(rb"<" + _PREFIX + rb"category\s[^<>]*?\bterm\s*=\s*[\"']([^\"'<>]+)")

#: The header of a record ends before this; a prefix and its bracket are not longer than this.
_HEADER_BYTES, _PREFIX_BYTES = 1000, 43

_CONTAINERS = "record entry header metadata arXiv arXivRaw authors author version dc qualifieddc qdc simpledc".split()
_READER = LeafReader(*_CONTAINERS)


def parse_record(record: bytes, around: bytes = b"") -> Parsed | None:
    """Read one record of a harvest; one that was deleted at its source is none.

    >>> parse_record(b'<record><header status="deleted"><identifier>oai:x:1</identifier></header></record>')
    >>> document, _ = parse_record(
    ...     b"<record><metadata><arXiv><id>1706.00001</id><created>2017-06-01</created><authors><author>"
    ...     b"<keyname>Doe</keyname><forenames>Jo</forenames></author></authors></arXiv></metadata></record>"
    ... )
    >>> document.id, document.year, document.authors[0].name
    ('1706.00001', 2017, 'Doe, Jo')
    """
    if b"deleted" in record[:_HEADER_BYTES] and _DELETED.search(record):
        return None
    leaves = _READER.read(record, around)
    content = _CONTENT.search(record, max(record.find(b"metadata") - _PREFIX_BYTES, 0))
    kind = decoded(content[1]) if content else ""
    if kind == "arXiv":
        return _paper(leaves)
    if kind == "arXivRaw":
        return _snapshot_paper(_raw_fields(leaves))
    if not kind and _FEED.match(record):
        return _snapshot_paper(_entry_fields(leaves) | {"categories": list(map(decoded, _TERM.findall(record)))})
    if kind == "dc" or _BARE.match(record) or any(name.endswith("creator") for name, _, _ in leaves):
        return parse_dublin_core(leaves, has_header=b"header" in record[:_HEADER_BYTES])
    if not kind:
        raise BrokenRecordError("there is no metadata in it")
    raise BrokenRecordError(f"its metadata are {kind}, neither arXiv nor Dublin Core (harvest them as oai_dc)")


def _paper(leaves: list[Leaf]) -> Parsed:
    """Read the format arXiv, in which names are taken apart."""
    fields: dict[str, str] = {}
    people: list[list[str]] = []  # family name, given names, suffix, then affiliations
    for prefixed, _, text in leaves:
        name = prefixed.rpartition(":")[2]
        if name == "keyname":
            people.append([text, "", ""])
        elif name == "forenames" and people:
            people[-1][1] = text
        elif name == "suffix" and people:
            people[-1][2] = text
        elif name == "affiliation" and people:
            people[-1].append(text)
        elif name not in fields:
            fields[name] = text
    notes: list[Note] = []
    number = leaf_text(fields.get("id", ""))
    doi = identifiers.doi(fields["doi"]) if "doi" in fields else None
    document = Document(
        id=number,
        authors=_authors(people, notes),
        title=_plain(fields.get("title", "")),
        abstract=leaf_text(fields.get("abstract", "")),
        year=publication_year(fields.get("created", "").strip(), notes),
        venue=_plain(fields.get("journal-ref", "")),
        categories=fields.get("categories", "").split(),
        ids={kind: value for kind, value in (("arxiv", number), ("doi", doi)) if value},
    )
    return document, notes


def _authors(people: list[list[str]], notes: list[Note]) -> list[Author]:
    authors = []
    for position, (family, given, suffix, *places) in enumerate(people):
        if name := _name(family, given, suffix):
            author = Author(position, name)
            if places:
                author.affiliations = [place for text in places if (place := _plain(text).strip(" .,;"))]
            authors.append(author)
        else:
            notes.append(("author", f"author {position} has no name"))
    return authors


@lru_cache(maxsize=1 << 14)
def _name(*parts: str) -> str:
    return ", ".join(filter(None, map(_plain, parts)))


def _plain(text: str) -> str:
    text = leaf_text(text)
    return to_text(text) if "\\" in text or "$" in text else text


def _snapshot_paper(fields: dict[str, Any]) -> Parsed:
    """Read a paper whose fields are named as in arXiv's snapshot, which is made from the format arXivRaw."""
    return arxiv.parse_record(orjson.dumps(fields))


def _raw_fields(leaves: list[Leaf]) -> dict[str, Any]:
    """The format arXivRaw: all authors in one text, and a date for each version."""
    fields: dict[str, Any] = {"authors": "", "versions": []}
    for prefixed, _, text in leaves:
        name = prefixed.rpartition(":")[2]
        if name == "date":
            fields["versions"].append({"created": leaf_text(text)})
        elif name == "authors" or name not in fields:
            fields[name] = leaf_text(text)
    return fields


def _entry_fields(leaves: list[Leaf]) -> dict[str, Any]:
    """An entry in an answer of arXiv's API."""
    fields: dict[str, Any] = {"authors": []}
    for prefixed, _, text in leaves:
        name = prefixed.rpartition(":")[2]
        if name == "name":
            fields["authors"].append({"name": leaf_text(text), "affiliation": []})
        elif name == "affiliation" and fields["authors"]:
            fields["authors"][-1]["affiliation"].append(leaf_text(text))
        else:
            fields.setdefault(name, leaf_text(text))
    return fields


def _recognises(source: Source) -> bool:
    head = source.head
    return is_xml(head) and bool((_HARVEST.search(head) and _KNOWN.search(head)) or _is_feed(head))


def _is_feed(head: bytes) -> bool:
    """Whether this is an answer of arXiv's API: a feed of entries, each named by its address at arXiv."""
    return _FEED.search(head) is not None and _ENTRY.search(head) is not None


def _open(source: Source, columns: Columns) -> Records:
    if reason := _without_records(source.head):
        return Records(iter([Raw(1, source.head, reason)]))
    beginning = start_of(_record_name(source.head), source.head)
    around = prefixes_of(source.head, beginning)
    return Records(cut_records(source.blocks(), beginning, _INSIDE), context=around)


def _record_name(head: bytes) -> bytes:
    """What records are called: a description in Dublin Core may also stand alone, without a harvest around it."""
    if _is_feed(head):
        return b"entry"
    return b"dc" if _BARE.search(head) and not _HARVESTED.search(head) else b"record"


def _without_records(head: bytes) -> str:
    """Why an answer has no records, if it says so.

    >>> _without_records(b"<request verb='x'/><error code='noRecordsMatch'>Nothing</error>")
    'the repository answered with an error: noRecordsMatch'
    """
    if _HARVESTED.search(head):
        return ""
    if error := _ERROR.search(head):
        return f"the repository answered with an error: {decoded(error[1])}"
    return "a list of identifiers without records (harvest with verb=ListRecords)" if _ONLY_NAMES.search(head) else ""


def _parse(text: bytes, context: bytes) -> Parsed | None:
    return parse_record(text, context)


FORMAT = Format(
    name="arxiv-oai", title="arXiv and Dublin Core over OAI-PMH", recognises=_recognises, open=_open, parse=_parse
)
