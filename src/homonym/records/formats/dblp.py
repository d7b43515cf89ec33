"""DBLP: its XML dump, the XML of single records and persons, and answers of its search API (XML or JSON).

Reads title, year, venue, cited DBLP keys, DOI, arXiv number, and per author name, ORCID and DBLP's own identifiers:
the person id, and the number that distinguishes persons of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.json_fields import as_list, dicts, load_record, member
from homonym.records.parsing.json_stream import open_json
from homonym.records.parsing.splitting import decoded
from homonym.records.parsing.xml_stream import (
    STRAY,
    Leaf,
    cut_records,
    element_of,
    even_text,
    is_xml,
    text_of,
    written_attributes,
    xml_quoted,
)
from homonym.records.reader import Columns, Format, Records

# Start tag of a search hit in XML, and tags that occur only inside hits.
_HIT_START = re.compile(rb"<(info)(?=[\s>])")
_INSIDE_HITS = re.compile(rb"<(?:authors?|title|year|key)[\s>]|</info>")

# Every hit in JSON has two of these names; no object inside a hit has (see `open_json`).
_HIT_NAMES = ("@score", "@id", "info")

_XML = re.compile(rb"<hits\s[^<>]{0,200}>|<hit\s[^<>]{0,200}>")
_JSON = re.compile(rb'"@score"\s*+:')
_HIT = re.compile(rb'<info>|"info"\s*+:\s*+\{')

# Field names in hits -> field names in records.
_NAMES_IN_RECORDS = {"venue": "journal", "doi": "ee"}


def is_answer(head: bytes) -> bool:
    """Whether a file is an answer of the search API.

    >>> is_answer(b'<hits total="1"><hit id="7"><info>'), is_answer(b'{"@score": "3", "info": {'), is_answer(b"<info>")
    (True, True, False)
    """
    return bool(_HIT.search(head)) and bool(_XML.search(head) or _JSON.search(head))


def hit_fields(hit: bytes) -> tuple[str, list[Leaf]]:
    """The key and the fields of one hit.

    >>> hit_fields(b'<info><authors><author pid="1/2">Jo Doe</author></authors><key>conf/x/1</key></info>')
    ('conf/x/1', [('author', ' pid="1/2"', 'Jo Doe')])
    >>> hit_fields(b'{"info": {"authors": {"author": {"@pid": "1/2", "text": "Jo Doe"}}, "key": "conf/x/1"}}')
    ('conf/x/1', [('author', ' pid="1/2"', 'Jo Doe')])
    """
    found = list(_json_leaves(load_record(hit)) if hit.startswith(b"{") else _xml_leaves(hit))
    key = next((text for name, _, text in found if name == "key"), "")
    fields = [
        (_NAMES_IN_RECORDS.get(name, name), attributes, text) for name, attributes, text in found if name != "key"
    ]
    if not key and not any(name == "title" for name, _, _ in fields):
        raise BrokenRecordError("a person or a venue, not a publication (search for publications)")
    return key, fields


def _xml_leaves(hit: bytes) -> Iterator[Leaf]:
    for field in element_of(hit):
        for leaf in field if field.tag == "authors" else (field,):
            yield leaf.tag, written_attributes(leaf), text_of(leaf)


def _json_leaves(hit: dict[str, Any]) -> Iterator[Leaf]:
    fields = hit.get("info")
    for author in dicts(member(fields, "authors", "author"), "text"):
        if isinstance(name := author.get("text"), str):
            pid = author.get("@pid")
            yield "author", f" pid={xml_quoted(pid)}" if isinstance(pid, str) else "", name
    for name, value in fields.items() if isinstance(fields, dict) else ():
        yield from ((name, "", text) for text in as_list(value) if isinstance(text, str))


_KINDS = rb"article|inproceedings|proceedings|book|incollection|phdthesis|mastersthesis|www|data|person"
_BEGINNING = re.compile(rb"<(" + _KINDS + rb")(?=[\s>])")
_INSIDE = re.compile(rb"<(?:author|editor|title|year|pages|ee)[\s>]|</(?:" + _KINDS + rb")>|\skey\s*=")

# A root element or a key of DBLP. <article> alone is not enough: other formats have it too.
_MARK = re.compile(
    rb"<dblp(?:person)?[\s>]|<!DOCTYPE\s+dblp(?:person)?[\s>]|<(?:" + _KINDS + rb")\s[^<>]{0,200}?\bkey\s*=\s*[\"']"
    rb"(?:journals|conf|books|phd|homepages|series|reference|persons|tr|ms|data|www)/"
)
_FIELD = re.compile(r"<([a-z]++)([^<>]*+)>([^<]*+)</\1>")
_MARKUP = re.compile(r"</?(?:i|sub|sup|tt)>")
_USUAL = frozenset({"title", "year", "journal", "booktitle", "ee"})
_TAKEN = _USUAL | {"cite", "school", "note"}
_CONTROLS = dict.fromkeys(range(0x20))

_PID_ATTRIBUTE = re.compile(r"""\bpid\s*=\s*["']([^"']*+)""")
_SAME_NAME_PAGE = re.compile(rb"<(?:www|person)\s[^<>]*?\bpubltype\s*=\s*[\"']disambiguation")
_ORCID_ATTRIBUTE = re.compile(r"""\borcid\s*=\s*["']([^"']*+)""")
_NUMBERED = re.compile(r"(.*\S) \d{4}")
_ARXIV = re.compile(r"arxiv\.org/abs/([\w.-]+(?:/\d{7})?)|10\.48550/arxiv\.([\w.-]+(?:/\d{7})?)", re.IGNORECASE)

# Title of the page of any person.
_HOME_PAGE = "Home Page"

# Placeholder for cited works that are not in DBLP.
_NOT_IN_DBLP = "..."


def parse_record(record: bytes, context: object = None) -> Parsed | None:
    """Read one record element of DBLP; None for a page that lists all persons of one name.

    The number that distinguishes persons of the same name is an identifier, not a part of the name.

    >>> document, _ = parse_record(b'<article key="journals/x/1"><author>Wei Wang 0012</author></article>')
    >>> document.id, document.authors[0].name, document.authors[0].ids
    ('journals/x/1', 'Wei Wang', {'dblp': 'Wei Wang 0012'})
    """
    if _SAME_NAME_PAGE.match(record):
        return None
    key, fields = _fields(record)
    return _document(key, fields)


def _fields(record: bytes) -> tuple[str, list[Leaf]]:
    if record.startswith((b"<info", b"{")):
        return hit_fields(record)
    return plain_fields(record) or parsed_fields(record)


def _document(key: str, fields: list[Leaf]) -> Parsed:
    notes: list[Note] = []
    authors: list[tuple[str, str]] = []
    others: dict[str, list[str]] = {}
    for name, attributes, text in fields:
        if name == "author":
            authors.append((attributes, text))
        elif name in _TAKEN and (name != "note" or "affiliation" in attributes):
            if name in others:
                others[name].append(text)
            else:
                others[name] = [text]
    document = Document(
        id=key,
        authors=_authors(authors, notes),
        title=_title(others),
        year=publication_year(others["year"][0], notes) if "year" in others else None,
        venue=_venue(others),
        ids=_document_ids(key, others.get("ee", ())),
    )
    if not others.keys() <= _USUAL:
        _add_rare_fields(document, others)
    return document, notes


def plain_fields(record: bytes) -> tuple[str, list[Leaf]] | None:
    """The key and the fields of a record without nested elements, in half the time of a parser; None for others.

    >>> plain_fields(b'<www key="homepages/x"><title>On <i>x</i></title></www>')
    ('homepages/x', [('title', '', 'On x')])
    >>> plain_fields(b"<www><title>On <b>x</b></title></www>"), plain_fields(b"<www><title>x</year></www>")
    (None, None)
    """
    text = decoded(record)
    fields = _FIELD.findall(text)
    if text.count("<") != 2 * len(fields) + 2:  # more tags than those of the fields and of the record
        text = _MARKUP.sub("", text)
        fields = _FIELD.findall(text)
        if text.count("<") != 2 * len(fields) + 2:
            return None
    _, mark, behind = text[: text.find(">")].partition(' key="')
    if not mark or ("&" in text and (STRAY.search(text) or "&" in behind)):
        return None
    return behind.partition('"')[0], fields


def parsed_fields(record: bytes) -> tuple[str, list[Leaf]]:
    """The key and the fields of any record, by an XML parser."""
    element = element_of(record)
    return element.get("key", ""), [(child.tag, written_attributes(child), text_of(child)) for child in element]


def _authors(fields: list[tuple[str, str]], notes: list[Note]) -> list[Author]:
    authors = []
    for position, (attributes, text) in enumerate(fields):
        name, numbered = _name(text)
        if not name:
            notes.append(("author", f"author {position} has no name"))
            continue
        author = Author(position, name)
        if numbered:
            author.ids["dblp"] = numbered
        if attributes:
            _add_ids(author, attributes, notes)
        authors.append(author)
    return authors


@lru_cache(maxsize=1 << 14)
def _name(text: str) -> tuple[str, str]:
    """The name of a person without and, if there is one, with DBLP's number for persons of the same name."""
    given = even_text(text).translate(_CONTROLS)
    numbered = _NUMBERED.fullmatch(given)
    return (numbered[1], given) if numbered else (given, "")


def _add_ids(author: Author, attributes: str, notes: list[Note]) -> None:
    if pid := _PID_ATTRIBUTE.search(attributes):
        author.ids["dblp-pid"] = pid[1]
    if orcid := _ORCID_ATTRIBUTE.search(attributes):
        identifiers.add(author.ids, "orcid", orcid[1], notes)


def _title(fields: dict[str, list[str]]) -> str:
    title = even_text(fields["title"][0]) if "title" in fields else ""
    return "" if title == _HOME_PAGE else title


def _venue(fields: dict[str, list[str]]) -> str:
    found = fields.get("journal") or fields.get("booktitle")
    return _venue_name(found[0]) if found else ""


_venue_name = lru_cache(maxsize=1 << 12)(even_text)


def _document_ids(key: str, links: Iterable[str]) -> dict[str, str]:
    ids = {"dblp": key} if key else {}
    for link in links:
        if "doi" not in ids and (doi := identifiers.doi(link)):
            ids["doi"] = doi
        if "rxiv" in link and (found := _ARXIV.search(link)):
            written = found[1] or found[2]
            ids.setdefault("arxiv", identifiers.arxiv(written) or written)
    return ids


def _add_rare_fields(document: Document, fields: dict[str, list[str]]) -> None:
    """Add what few records have: cited works, the school of a thesis, the affiliation of a person page."""
    cited = map(even_text, fields.get("cite", ()))
    document.references = [key for key in cited if key and key != _NOT_IN_DBLP]
    places = [place for text in fields.get("school", []) + fields.get("note", []) if (place := even_text(text))]
    for author in document.authors:
        author.affiliations = list(places)


def _recognises(source: Source) -> bool:
    if is_xml(source.head) and _MARK.search(source.head):
        return True
    return is_answer(source.head)


def _open(source: Source, columns: Columns) -> Records:
    if not is_answer(source.head):
        return Records(cut_records(source.blocks(), _BEGINNING, _INSIDE))
    if is_xml(source.head):
        return Records(cut_records(source.blocks(), _HIT_START, _INSIDE_HITS))
    return open_json(source, _HIT_NAMES)


FORMAT = Format(name="dblp", title="DBLP XML", recognises=_recognises, open=_open, parse=parse_record)
