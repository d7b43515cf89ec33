"""EndNote XML, which EndNote, Bookends, JabRef, Mendeley, Rayyan and others export.

Reads title, abstract, year, venue, keywords, identifiers and the authors with their addresses. The elements are renamed
to RIS tags and read as the fields of RIS.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from homonym.io.inputs import Source
from homonym.records.formats import ris
from homonym.records.model import BrokenRecordError, Note, Parsed
from homonym.records.parsing.tagged_lines import Field, by_tag
from homonym.records.parsing.xml_stream import Element, cut_records, element_of, is_xml
from homonym.records.reader import Columns, Format, Records

_BEGINNING = re.compile(rb"<(record)(?=[\s>])")
_INSIDE = re.compile(rb"</?(?:ref-type|contributors|titles|auth-address|electronic-resource-num|dates)[\s>]")
_MARK = re.compile(rb"<ref-type[\s>]")

# Path of an element inside a record -> RIS tag. Secondary and other authors are editors and translators, not read.
_RIS_TAGS = {
    "contributors/authors/author": "AU", "auth-address": "AD", "titles/title": "TI", "titles/secondary-title": "T2",
    "titles/tertiary-title": "T3", "titles/translated-title": "TT", "titles/alt-title": "JO",
    "periodical/full-title": "JF", "alt-periodical/full-title": "JO", "periodical/abbr-1": "JA",
    "dates/year": "PY", "dates/pub-dates/date": "DA", "keywords/keyword": "KW", "abstract": "AB",
    "electronic-resource-num": "DO", "accession-num": "AN", "custom2": "C2", "notes": "N1",
    "urls/related-urls/url": "UR", "urls/web-urls/url": "UR", "remote-database-name": "DB",
    "remote-database-provider": "DP",
}  # fmt: skip
# Paths of the elements around them.
_CONTAINERS = frozenset(path[: slash.start()] for path in _RIS_TAGS for slash in re.finditer("/", path))

# Number and name of the type whose authors are editors.
_EDITED_BOOK = ("28", "Edited Book")


def parse_record(record: bytes, context: object = None) -> Parsed:
    """Read one record.

    >>> document, _ = parse_record(
    ...     b"<record><contributors><authors><author><style face='normal'>Doe, Jane</style></author></authors>"
    ...     b"</contributors><titles><title>On <style face='italic'>E. coli</style></title></titles></record>"
    ... )
    >>> document.title, document.authors[0].name
    ('On E. coli', 'Doe, Jane')
    """
    element = element_of(record)
    kind = element.find("ref-type")
    is_edited = kind is not None and (kind.text in _EDITED_BOOK or kind.get("name") in _EDITED_BOOK)
    fields = [(tag, text) for tag, text in _fields(element) if tag != "AU" or not is_edited]
    fields += [("ID", number) for number in _own_number(element)]
    notes: list[Note] = []
    document = ris.document_of(fields, by_tag(fields), notes)
    if not document.title and not document.authors:
        raise BrokenRecordError("neither title nor authors")
    return document, notes


def _fields(element: Element, path: str = "") -> Iterator[Field]:
    """The texts of the known elements with their RIS tags. The carriage returns in them separate lines."""
    for child in element:
        place = f"{path}{child.tag}"
        if tag := _RIS_TAGS.get(place):
            yield tag, "".join(child.itertext()).replace("\r", "\n")
        elif place in _CONTAINERS:
            yield from _fields(child, f"{place}/")


def _own_number(element: Element) -> Iterator[str]:
    """The number of the record in its library; libraries of EndNote have ids."""
    for key in element.iterfind("foreign-keys/key"):
        if key.get("db-id") and key.text:
            yield f"{key.get('db-id')}/{key.text.strip()}"
    yield (element.findtext("rec-number") or "").strip()


def _recognises(source: Source) -> bool:
    return is_xml(source.head) and b"<record" in source.head and _MARK.search(source.head) is not None


def _open(source: Source, columns: Columns) -> Records:
    return Records(cut_records(source.blocks(), _BEGINNING, _INSIDE))


FORMAT = Format(name="endnote-xml", title="EndNote XML", recognises=_recognises, open=_open, parse=parse_record)
