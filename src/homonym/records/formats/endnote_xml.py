"""EndNote XML, which EndNote, Bookends, JabRef, Mendeley, Rayyan and others export.

Reads title, abstract, year, venue, keywords, identifiers and the authors with their addresses. The elements are renamed
to RIS tags and read as the fields of RIS.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from homonym.io.inputs import Source
from homonym.records.formats import ris
from homonym.records.model import Parsed
from homonym.records.parsing.splitting import decoded
from homonym.records.parsing.tagged_lines import Field
from homonym.records.parsing.xml_stream import (
    STRAY,
    Element,
    cut_records,
    element_of,
    has_more_tags,
    is_xml,
    written_attributes,
)
from homonym.records.reader import Columns, Format, Records

_BEGINNING = re.compile(rb"<(record)(?=[\s>])")
_INSIDE = re.compile(rb"</?(?:ref-type|contributors|titles|auth-address|electronic-resource-num|dates)[\s>]")
_MARK = re.compile(rb"<ref-type[\s>]")

# Element -> RIS tag, for elements whose meaning depends on the element around them. Secondary and other authors are
# editors and translators, and not read.
_NESTED = {
    ("authors", "author"): "AU", ("pub-dates", "date"): "DA", ("related-urls", "url"): "UR", ("web-urls", "url"): "UR",
}  # fmt: skip
_RIS_TAGS = {
    "auth-address": "AD", "title": "TI", "secondary-title": "T2", "tertiary-title": "T3", "translated-title": "TT",
    "alt-title": "JO", "full-title": "JF", "abbr-1": "JA", "year": "PY", "keyword": "KW", "abstract": "AB",
    "electronic-resource-num": "DO", "accession-num": "AN", "custom2": "C2", "notes": "N1",
    "remote-database-name": "DB", "remote-database-provider": "DP",
}  # fmt: skip

_STYLE = re.compile(r"</?style(?:\s[^<>]*)?>")
_LEAF_OR_END = re.compile(r"<([a-z0-9-]++)([^<>]*+)>([^<]*+)</\1>|</([a-z0-9-]++)>")
_LIBRARY = re.compile(r"""\bdb-id=["']([^"'<>]+)""")

# The type whose authors are editors.
_EDITED_BOOK = "Edited Book"


class NestedLeaf(NamedTuple):
    """An element without children, and the name of the element around it."""

    container: str
    name: str
    attributes: str
    text: str


def parse_record(record: bytes, context: object = None) -> Parsed:
    """Read one record.

    >>> document, _ = parse_record(
    ...     b"<record><contributors><authors><author><style face='normal'>Doe, Jane</style></author></authors>"
    ...     b"</contributors><titles><title>On <style face='italic'>E. coli</style></title></titles></record>"
    ... )
    >>> document.title, document.authors[0].name
    ('On E. coli', 'Doe, Jane')
    """
    leaves = _leaves(record)
    is_edited = any(leaf.name == "ref-type" and _EDITED_BOOK in leaf.attributes for leaf in leaves)
    fields = [field for leaf in leaves if (field := _field(leaf))]
    if is_edited:
        fields = [(ris.EDITORS if tag == "AU" else tag, value) for tag, value in fields]
    fields += [("ID", number) for number in _own_numbers(leaves)]
    return ris.parse_renamed(fields)


def _field(leaf: NestedLeaf) -> Field | None:
    """The text of a known element with its RIS tag. The carriage returns in it separate lines."""
    tag = _RIS_TAGS.get(leaf.name) or _NESTED.get((leaf.container, leaf.name))
    return (tag, leaf.text.replace("\r", "\n")) if tag else None


def _own_numbers(leaves: list[NestedLeaf]) -> Iterator[str]:
    """The number of the record in its library; libraries of EndNote have ids."""
    for leaf in leaves:
        if leaf.name == "key" and (library := _LIBRARY.search(leaf.attributes)):
            yield f"{library[1]}/{leaf.text.strip()}"
    yield from (leaf.text.strip() for leaf in leaves if leaf.name == "rec-number")


def _leaves(record: bytes) -> list[NestedLeaf]:
    """The leaves of a record without the marks of fonts.

    One regular expression reads almost all records in a fraction of the time of a parser; others go to the parser.
    """
    text = _STYLE.sub("", decoded(record))
    found = _LEAF_OR_END.findall(text)
    if has_more_tags(text, 2 * len(found)) or ("&" in text and STRAY.search(text)):
        return list(_parsed_leaves(element_of(record)))
    leaves: list[NestedLeaf] = []
    pending: list[tuple[str, str, str]] = []
    for name, attributes, content, end in found:
        if not end:
            pending.append((name, attributes, unescape(content) if "&" in content else content))
        elif pending:
            leaves += [NestedLeaf(end, *leaf) for leaf in pending]
            pending = []
    return leaves


def _parsed_leaves(element: Element, container: str = "") -> Iterator[NestedLeaf]:
    if all(child.tag == "style" for child in element):
        yield NestedLeaf(container, element.tag, written_attributes(element), "".join(element.itertext()))
        return
    for child in element:
        yield from _parsed_leaves(child, element.tag)


def _recognises(source: Source) -> bool:
    return is_xml(source.head) and b"<record" in source.head and _MARK.search(source.head) is not None


def _open(source: Source, columns: Columns) -> Records:
    return Records(cut_records(source.blocks(), _BEGINNING, _INSIDE))


FORMAT = Format(name="endnote-xml", title="EndNote XML", recognises=_recognises, open=_open, parse=parse_record)
