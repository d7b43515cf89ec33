"""Splits XML files into record elements at their tags, and parses one element at a time.

A file is never parsed as a whole, so a damaged record costs only itself. Nothing around the records is read: no
DOCTYPE, no entity definitions, nothing outside the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape, unescape
from html.entities import html5
from typing import Any

from lxml import etree

from homonym.records.fields.markup import plain_text
from homonym.records.model import BrokenRecordError
from homonym.records.parsing.splitting import Raw, decoded, split_at

Element = Any
"""An lxml element (lxml has no type annotations)."""

Leaf = tuple[str, str, str]
"""Name, attributes and text of an element without children, all as written in the file."""

_PARSER = etree.XMLParser(
    encoding="utf-8",
    resolve_entities=False,
    no_network=True,
    load_dtd=False,
    huge_tree=False,
    remove_comments=True,
    remove_pis=True,
    collect_ids=False,
)

# Entities other than the five of XML itself are replaced, because their definitions are never read.
_SPECIAL = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;"})
_CHARACTERS = {
    name.removesuffix(";").encode(): characters.translate(_SPECIAL).encode() for name, characters in html5.items()
}
_ENTITY = re.compile(rb"&(?!(?:lt|gt|amp|quot|apos);)([A-Za-z][A-Za-z0-9]{0,31});")
# An ampersand that does not begin an entity.
STRAY = re.compile(r"&(?!(?:#[0-9]{1,8}|#x[0-9A-Fa-f]{1,8}|[A-Za-z][A-Za-z0-9]{0,31});)")
_MARKUP = re.compile(r"</?[A-Za-z][\w:.-]{0,40}(?:\s[^<>]{0,300})?/?>|&(?:#|[A-Za-z0-9]{2,32};)")
_LONG, _UNEVEN = 200, ("  ", "\t", "\r", "\xa0", "\u2009", "\u3000")
_PREFIX_NAME = rb"[A-Za-z_][\w.-]{0,40}"
# The prefix that the name of an element may have, to be used in patterns.
PREFIX = rb"(?:" + _PREFIX_NAME + rb":)?"
_USED_PREFIX = re.compile(rb"[<\s/](" + _PREFIX_NAME + rb"):[A-Za-z_]")
_DECLARATION = re.compile(rb"\sxmlns:(" + _PREFIX_NAME + rb""")\s*=\s*(?:"[^"<>]*"|'[^'<>]*')""")
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_REFERENCE = re.compile(r"&#(?:x([0-9a-f]{1,8})|([0-9]{1,8}));", re.IGNORECASE)
_PLACE = re.compile(r", line (\d+), column \d+.*$", re.DOTALL)

NO_BEGINNING = "the rest of a record whose beginning is missing or damaged"


def is_xml(head: bytes) -> bool:
    """Whether a file may be XML, even if its beginning is damaged or missing. JSON with XML in its texts is not.

    >>> is_xml(b"x version='1.0'?><a>"), is_xml(b' {"body": "<a>"}')
    (True, False)
    """
    return head.lstrip()[:1] not in {b"{", b"["}


def cut_records(blocks: Iterable[bytes], beginning: re.Pattern[bytes], inside: re.Pattern[bytes]) -> Iterator[Raw]:
    """Split a stream into its record elements.

    `beginning` matches the start tag of a record, its first group the name of the element. `inside` matches tags that
    occur only inside records: if one is found between records, a record has lost its beginning.

    >>> tag, inside = re.compile(rb"<(a|b)[\\s>]"), re.compile(rb"<x>")
    >>> for raw in cut_records([b"<s><a>1</a>\\n<A><x>2</x></A>", b"<b><x>3</x>\\n", b"<a>4</a></s>"], tag, inside):
    ...     print(raw.number, raw.text, raw.broken or "whole")
    1 b'<a>1</a>' whole
    1 b'\\n<A><x>2</x></A>' the rest of a record whose beginning is missing or damaged
    2 b'<b><x>3</x>\\n' cut off before </b>
    3 b'<a>4</a>' whole
    """
    for raw in split_at(blocks, beginning):
        text = raw.text
        if not raw.broken and (tag := beginning.match(text)):
            closing = b"</" + tag[1] + b">"
            end = text.find(closing) + len(closing)
            if end >= len(closing) and not text[end:].strip():
                yield raw
                continue
        yield from _with_rest(raw, beginning, inside)


def _with_rest(raw: Raw, beginning: re.Pattern[bytes], inside: re.Pattern[bytes]) -> Iterator[Raw]:
    """The record at the beginning of a piece of the file, and the rest if it belongs to a damaged record."""
    number, text, broken = raw
    if broken:
        yield raw
        return
    end = 0
    if tag := beginning.match(text):
        closing = re.search(rb"</" + re.escape(tag[1]) + rb"\s*>", text)
        if closing is None:
            yield Raw(number, text, f"cut off before </{decoded(tag[1])}>")
            return
        end = closing.end()
        yield Raw(number, text[:end])
    if inside.search(text, end):
        yield Raw(number + text.count(b"\n", 0, end), text[end:], NO_BEGINNING)


def start_of(name: bytes, head: bytes) -> re.Pattern[bytes]:
    """A pattern for the start tags of an element, with the prefix that it has at the beginning of a file.

    >>> start_of(b"record", b"<oai:ListRecords><oai:record>").match(b"<oai:record>")[1]
    b'oai:record'
    """
    found = re.search(rb"<(" + PREFIX + rb")(?:" + name + rb")(?=[\s>])", head)
    return re.compile(rb"<(" + (found[1] if found else b"") + name + rb")(?=[\s>])")


def prefixes_of(head: bytes, beginning: re.Pattern[bytes]) -> bytes:
    """A start tag that declares the namespace prefixes declared before the first record, to parse records in.

    >>> prefixes_of(b"<r xmlns='x' xmlns:dc='http://d'><a>", re.compile(b"<a>"))
    b"<records xmlns:dc='http://d'>"
    """
    first = beginning.search(head)
    declared = {found[1]: found[0] for found in _DECLARATION.finditer(head, 0, first.start() if first else len(head))}
    return b"<records" + b"".join(declared.values()) + b">" if declared else b""


def element_of(record: bytes, around: bytes = b"") -> Element:
    """Parse one record element. `around` is the start tag of an element to put around it, see `prefixes_of`.

    Named HTML entities are decoded; unknown ones stay as written.

    >>> element_of(b"<a>J&uuml;rgen &amp; &unknown;</a>").text
    'Jürgen & &unknown;'
    >>> element_of(b"<a><b></a>")
    Traceback (most recent call last):
    homonym.records.model.BrokenRecordError: not well-formed XML (Opening and ending tag mismatch: b line 1 and a)
    """
    if b"&" in record:
        record = _ENTITY.sub(_character, record)
    try:
        if not around:
            return etree.fromstring(record, _PARSER)
        return etree.fromstring(around + record + b"</records>", _PARSER)[0]
    except (etree.XMLSyntaxError, IndexError):
        return _repaired(record)


def _repaired(record: bytes) -> Element:
    """Parse a record again, as Western text, without characters that XML forbids and with all prefixes declared."""
    text = _ILLEGAL.sub("", _REFERENCE.sub(_allowed, decoded(record))).encode()
    prefixes = set(_USED_PREFIX.findall(text)) - {b"xml", b"xmlns"}
    around = b"<records" + b"".join(b' xmlns:%b="prefix:%b"' % (prefix, prefix) for prefix in sorted(prefixes)) + b">"
    try:
        return etree.fromstring(around + text + b"</records>", _PARSER)[0]
    except (etree.XMLSyntaxError, IndexError) as broken:
        reason = _PLACE.sub("", str(broken))
        raise BrokenRecordError(f"not well-formed XML ({reason})") from None


def _allowed(found: re.Match[str]) -> str:
    """A numeric character reference; empty if XML forbids that character."""
    number = int(found[1], 16) if found[1] else int(found[2])
    allowed = (
        number in (9, 10, 13) or 0x20 <= number < 0xD800 or 0xE000 <= number < 0xFFFE or 0xFFFF < number < 0x110000
    )
    return found[0] if allowed else ""


def _character(found: re.Match[bytes]) -> bytes:
    return _CHARACTERS.get(found[1]) or b"&amp;" + found[0][1:]


def text_of(element: Element) -> str:
    """All text in an element, without markup, with white space collapsed.

    >>> text_of(element_of(b"<t>On <i>E.\\ncoli</i> in H<sub>2</sub>O</t>"))
    'On E. coli in H2O'
    """
    return even_text("".join(element.itertext()) if len(element) else element.text or "")


def even_text(text: str) -> str:
    """Text without markup and entities, with white space collapsed.

    Most long texts need only their line ends replaced, which is checked first because it is much faster.

    >>> even_text(" On CO&lt;sub&gt;2&lt;/sub&gt;  in K&ouml;ln (p<0.05)")
    'On CO2 in Köln (p<0.05)'
    """
    text = _spaced(text)
    if ("&" in text or ("<" in text and ">" in text)) and _MARKUP.search(text):
        return plain_text(text)
    return text


def local_name(element: Element) -> str:
    """The name of an element without its namespace."""
    tag: str = element.tag
    return tag.rpartition("}")[2]


def _spaced(text: str) -> str:
    if len(text) >= _LONG:
        text = text.replace("\n", " ").strip()
        if not any(map(text.__contains__, _UNEVEN)):
            return text
    return " ".join(text.split())


def children_of(element: Element) -> dict[str, list[Element]]:
    """The child elements of an element by name.

    >>> {name: len(found) for name, found in children_of(element_of(b"<a><b/><c/><b/></a>")).items()}
    {'b': 2, 'c': 1}
    """
    found: dict[str, list[Element]] = {}
    for child in element:
        tag = child.tag
        if tag in found:
            found[tag].append(child)
        else:
            found[tag] = [child]
    return found


def first_text(children: dict[str, list[Element]], *names: str) -> str:
    """The first non-empty text of an element with one of the names, in the order of the names."""
    for name in names:
        if name in children:
            for element in children[name]:
                if text := text_of(element):
                    return text
    return ""


class LeafReader:
    """Reads the elements of a record that have no children, in document order.

    Most records have no markup in their texts. One regular expression reads them in a third of the time of a parser;
    all other records go to the parser. `containers` names the elements that have children; the content of any other
    element is text.

    >>> LeafReader("r", "h").read(b"<r><h><x:id a='1'>7</x:id></h></r>")
    [('x:id', " a='1'", '7'), ('', '', ''), ('', '', '')]
    >>> LeafReader("r", "h").read(b"<r><t>A<i>b</i> &lt; C</t></r>")
    [('t', '', 'Ab &lt; C')]
    """

    def __init__(self, *containers: str) -> None:
        self._containers = frozenset(containers)
        container = rf"(?:[A-Za-z0-9_.-]++:)?(?:{'|'.join(containers)})"
        self._pattern = re.compile(rf"<([A-Za-z0-9_.:-]++)([^<>]*+)>([^<]*+)</\1>|</{container}>")

    def read(self, record: bytes, around: bytes = b"") -> list[Leaf]:
        """The leaves of a record, and empty ones in between. Decode their texts with `leaf_text`."""
        text = decoded(record)
        leaves: list[Leaf] = self._pattern.findall(text)
        if has_more_tags(text, 2 * len(leaves)) or ("&" in text and STRAY.search(text)):
            return list(self._walk(element_of(record, around)))
        return leaves

    def _walk(self, element: Element) -> Iterator[Leaf]:
        name = local_name(element)
        if name not in self._containers or not len(element):
            yield name, written_attributes(element), escape(text_of(element), quote=False)
            return
        for child in element:
            yield from self._walk(child)


def has_more_tags(text: str, expected: int) -> bool:
    """Whether there are more tags than `expected` start and end tags and any number of empty-element tags."""
    brackets = text.count("<")
    return brackets != expected and brackets - text.count("/>") != expected


def leaf_text(text: str) -> str:
    """The text of a leaf, decoded as XML, without markup and with white space collapsed.

    >>> leaf_text("CO&lt;sub&gt;2&lt;/sub&gt;  &amp; x &amp;lt; 1")
    'CO2 & x < 1'
    """
    return even_text(unescape(text)) if "&" in text else _spaced(text)


def written_attributes(element: Element) -> str:
    """The attributes of an element as XML text."""
    return "".join(f" {name}={xml_quoted(value)}" for name, value in element.attrib.items())


def xml_quoted(value: str) -> str:
    """An attribute value in quotes. xml.sax.saxutils.quoteattr does the same, but imports the network libraries."""
    return f'"{escape(value)}"'
