"""MODS: records of libraries and repositories, in collections and in harvests over OAI-PMH.

Reads title, abstract, year, venue, subjects, classification, DOI and other identifiers, and per author name,
affiliations, e-mail, ORCID, ISNI, VIAF, GND and Library of Congress identifiers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import add_address
from homonym.records.fields.authority_ids import add_authority_id
from homonym.records.fields.contributors import note_contributor
from homonym.records.fields.people import SUFFIX
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.json_fields import split_name, whole_name
from homonym.records.parsing.xml_stream import (
    PREFIX,
    Element,
    children_of,
    cut_records,
    element_of,
    first_text,
    is_xml,
    prefixes_of,
    start_of,
    text_of,
)
from homonym.records.reader import Columns, Format, Records

_MARK = re.compile(rb"<" + PREFIX + rb"mods[\s>]")
_TYPICAL = re.compile(rb"<" + PREFIX + rb"(?:titleInfo|namePart|originInfo|roleTerm|recordInfo|relatedItem)[\s>]")
_INSIDE = re.compile(rb"</?" + PREFIX + rb"(?:titleInfo|name|namePart|originInfo|roleTerm|relatedItem)[\s>]")

_OWN_PREFIX = re.compile(rb"<([A-Za-z_][\w.-]{0,40}:)mods[\s>]")
_NAMESPACE = re.compile(rb"""\sxmlns=(?:"[^"<>]{0,200}"|'[^'<>]{0,200}')""")

# Roles of people who are authors, as codes and as words; people without a role are authors, too.
_AUTHORS = frozenset(
    {"aut", "author", "cre", "creator", "dis", "dissertant", "joint author", "co-author", "primary author"}
)

_YEAR = re.compile(r"(?<!\d)(?:1[4-9]|20)\d\d(?!\d)")
_DATES = ("dateIssued", "copyrightDate", "dateCreated", "dateOther", "dateCaptured")
_KINDS = {"doi": "doi", "pmid": "pmid", "pubmed": "pmid", "pmc": "pmcid", "pmcid": "pmcid", "arxiv": "arxiv"}
_KINDS |= {"isi": "wos", "wos": "wos", "scopus": "scopus", "oclc": "oclc"}

Children = dict[str, list[Element]]


def parse_record(record: bytes, around: bytes = b"") -> Parsed:
    """Read one record.

    >>> document, _ = parse_record(
    ...     b'<mods><titleInfo><nonSort>The </nonSort><title>ice</title></titleInfo><name type="personal"><namePart '
    ...     b'type="family">Doe</namePart><namePart type="given">Jo</namePart></name></mods>'
    ... )
    >>> document.title, document.authors[0].name
    ('The ice', 'Doe, Jo')
    """
    element = element_of(_without_namespace(record), around)
    parts = children_of(element)
    if not {"titleInfo", "name", "identifier"} & parts.keys():
        raise BrokenRecordError("neither titleInfo nor name nor identifier")
    notes: list[Note] = []
    host = next((one for one in parts.get("relatedItem", ()) if one.get("type") in {"host", "series"}), None)
    document = Document(
        id=_own_id(element, parts),
        authors=_authors(parts, notes),
        title=_title(parts),
        abstract=" ".join(filter(None, map(text_of, parts.get("abstract", ())))),
        year=_year(parts, host, notes),
        venue=_venue(parts, host),
        categories=_distinct(text_of(one) for one in parts.get("classification", ())),
        keywords=_distinct(_subjects(parts)),
        ids=_ids(parts, notes),
    )
    return document, notes


def _without_namespace(record: bytes) -> bytes:
    """A record whose elements have neither a prefix nor a namespace, so that their names can be compared."""
    if prefix := _OWN_PREFIX.match(record):
        record = record.replace(b"<" + prefix[1], b"<").replace(b"</" + prefix[1], b"</")
    return _NAMESPACE.sub(b" ", record, count=1)


def _distinct(texts: Iterator[str]) -> list[str]:
    return [*filter(None, dict.fromkeys(texts))]


def _own_id(element: Element, parts: Children) -> str:
    given = (text_of(one) for info in parts.get("recordInfo", ()) for one in info.iter("recordIdentifier"))
    return next(filter(None, given), "") or (element.get("ID") or "").strip()


def _title(parts: Children) -> str:
    """The main title; abbreviated, translated and alternative titles have a type."""
    titles = sorted(parts.get("titleInfo", ()), key=lambda one: one.get("type") is not None)
    return next(filter(None, map(_one_title, titles)), "")


def _one_title(info: Element) -> str:
    parts = children_of(info)
    title = " ".join(filter(None, (first_text(parts, "nonSort"), first_text(parts, "title"))))
    more = (first_text(parts, name) for name in ("subTitle", "partNumber", "partName"))
    return ": ".join(filter(None, (title, *more)))


def _year(parts: Children, host: Element | None, notes: list[Note]) -> int | None:
    origins = [*parts.get("originInfo", ()), *(host.iter("originInfo") if host is not None else ())]
    dates = [text_of(date) for name in _DATES for origin in origins for date in origin.iter(name)]
    volumes = [*(host.iter("part") if host is not None else ()), *parts.get("part", ())]
    dates += [text_of(date) for volume in volumes for date in volume.iter("date")]
    for text in dates:
        if found := _YEAR.search(text):
            return publication_year(found[0], notes)
    notes.extend(("field", f"year {text!r:.50} is not a year") for text in dates[:1] if text)
    return None


def _venue(parts: Children, host: Element | None) -> str:
    """The host or series, else the publisher."""
    if host is not None and (title := _title(children_of(host))):
        return title
    publishers = (text_of(one) for origin in parts.get("originInfo", ()) for one in origin.iter("publisher"))
    return next(filter(None, publishers), "")


def _subjects(parts: Children) -> Iterator[str]:
    for subject in parts.get("subject", ()):
        for child in subject:
            if child.tag in {"topic", "geographic", "temporal", "genre", "occupation"}:
                yield text_of(child)
            elif child.tag in {"name", "titleInfo"}:
                yield " ".join(text_of(one) for one in child.iter("namePart", "title"))


def _ids(parts: Children, notes: list[Note]) -> dict[str, str]:
    ids: dict[str, str] = {}
    for given in parts.get("identifier", ()):
        kind, written = _KINDS.get((given.get("type") or "").lower()), text_of(given)
        if kind is None and "doi.org/" in written:
            kind = "doi"
        if kind and given.get("invalid") != "yes":
            identifiers.add(ids, kind, written, notes)
    return ids


def _authors(parts: Children, notes: list[Note]) -> list[Author]:
    authors: list[Author] = []
    position = 0
    for entry in parts.get("name", ()):
        if not _is_author(entry):
            continue
        name = _name(entry)
        if name and entry.get("type") in {"corporate", "conference", "family"}:
            note_contributor(name, notes)
        elif name:
            authors.append(_author(position, name, entry, notes))
        else:
            notes.append(("author", f"author {position} has no name"))
        position += 1
    return authors


def _is_author(entry: Element) -> bool:
    roles = {text_of(role).lower().strip(" .") for role in entry.iter("roleTerm")} - {""}
    return not roles or bool(roles & _AUTHORS)


def _name(entry: Element) -> str:
    found: dict[str, str] = {}
    for part in entry:
        if part.tag == "namePart":
            kind, text = part.get("type", ""), part.text or ""
            found[kind] = f"{found[kind]} {text}" if kind in found else text
    if "family" in found or "given" in found:
        return split_name(found.get("family"), found.get("given"), _suffix(found.get("termsOfAddress", "")))
    display = next((text_of(one) for one in entry if one.tag == "displayForm"), "")
    return whole_name(found.get("", "") or display)


def _suffix(title: str) -> str:
    """A suffix such as "Jr."; other terms of address are titles."""
    return title if title and SUFFIX.fullmatch(title.strip()) else ""


def _author(position: int, name: str, entry: Element, notes: list[Note]) -> Author:
    author = Author(position, name)
    for part in entry:
        if part.tag == "affiliation":
            add_address(author, text_of(part))
        elif part.tag == "nameIdentifier":
            scheme = f"{part.get('type') or ''} {part.get('typeURI') or ''} {part.get('displayLabel') or ''}"
            add_authority_id(author.ids, scheme.strip(), text_of(part), notes)
    if address := entry.get("valueURI"):
        add_authority_id(author.ids, "", address, notes)
    return author


def _recognises(source: Source) -> bool:
    head = source.head
    return is_xml(head) and _MARK.search(head) is not None and _TYPICAL.search(head) is not None


def _open(source: Source, columns: Columns) -> Records:
    beginning = start_of(b"mods", source.head)
    return Records(cut_records(source.blocks(), beginning, _INSIDE), context=prefixes_of(source.head, beginning))


FORMAT = Format(name="mods", title="MODS", recognises=_recognises, open=_open, parse=parse_record)
