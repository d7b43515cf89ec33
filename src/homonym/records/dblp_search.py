"""Answers of DBLP's search for publications, in XML or JSON: the fields of their hits, as DBLP's records have them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from homonym.records.json_fields import dicts, listed, member
from homonym.records.json_text import load_record
from homonym.records.problems import BrokenRecordError
from homonym.records.xml_stream import Leaf, element_of, quoted, text_of, written_attributes

#: The start of a hit in XML, and what stands only in hits.
BEGINNING = re.compile(rb"<(info)(?=[\s>])")
INSIDE = re.compile(rb"<(?:authors?|title|year|key)[\s>]|</info>")

#: Names in hits in JSON; nothing inside of a hit has two of them.
NAMES = ("@score", "@id", "info")

_XML = re.compile(rb"<hits\s[^<>]{0,200}>|<hit\s[^<>]{0,200}>")
_JSON = re.compile(rb'"@score"\s*+:')
_HIT = re.compile(rb'<info>|"info"\s*+:\s*+\{')

#: Fields of records that have another name in hits.
_NAMES_IN_RECORDS = {"venue": "journal", "doi": "ee"}


def is_answer(head: bytes) -> bool:
    """Whether a file is an answer of the search.

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
        raise BrokenRecordError("a person or a venue, no publication (use the search for publications)")
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
            yield "author", f" pid={quoted(pid)}" if isinstance(pid, str) else "", name
    for name, value in fields.items() if isinstance(fields, dict) else ():
        yield from ((name, "", text) for text in listed(value) if isinstance(text, str))
