"""Files of JSON records, in all the shapes that they come in: one raw record after another, whatever their format.

- JSON lines, one record on each, also with commas and brackets around the records;
- lists of records, minified or indented;
- answers of interfaces and dumps, whose records are reached by names such as "message" and "items" (see WRAPPERS);
- objects of any of these under names of their own, such as pages by their numbers or works by their DOIs;
- single records; and any of these several times, one after another.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from homonym.records.formats import Records
from homonym.records.json_text import JsonText, load
from homonym.records.problems import BrokenRecordError
from homonym.records.splitting import Raw
from homonym.sources import Source

#: Names of members that hold records, or objects with such members; other members of these objects are passed over.
WRAPPERS = frozenset({"_source", "data", "docs", "hits", "items", "message", "records", "response", "results", "works"})

#: So many lines at most tell whether a file has one record on each.
_LOOKED_AT = 200

_OPEN, _CLOSE = b"{}"

_UNCLOSED = "cut off: the file ends before its list is closed, so that records may be missing"

_NAME = re.compile(rb'"([\w-]{1,40}+)"\s*+:(?!\s*+\[\s*+\d)')
_BEGINNING = re.compile(rb'[\s{\[,\x1e]*+[^"\n\r\t<@]{0,300}["}\]]')

# The line end between two records may be damaged: then something else than a comma stands between them.
_JOINED = re.compile(rb'\}(?:\s*+[^,\s{]?+\s*+|[\s,]*+[^\]},:"\s\[{][\s,]*+)\{\s*+\{?+\s*+"')
_MEMBER = re.compile(rb'"(?:[^"\\]|\\.){0,200}+"\s*+:\s*+\{', re.DOTALL)


def is_json(head: bytes) -> bool:
    """Whether a file may be JSON, even if its beginning is damaged or missing.

    >>> is_json(b' [{"id": 1}'), is_json(b'X"id": 1}'), is_json(b"<html>"), is_json(b'id\\tauthors\\n7\\t[{"n": ""}]')
    (True, True, False, False)
    """
    return _BEGINNING.match(head) is not None


@lru_cache(maxsize=1)
def names_in(head: bytes) -> frozenset[str]:
    """The names of members in the beginning of a file, by which formats are told; none if it is not JSON.

    Left out are those of lists of numbers: they are the words of an abstract that is given as an index.

    >>> sorted(names_in(b'[{"id": 7, "title": "author", "index": {"titles": [0, 4]}}'))
    ['id', 'index', 'title']
    """
    return frozenset(name.decode() for name in set(_NAME.findall(head))) if is_json(head) else frozenset()


class Member(NamedTuple):
    """One member of a JSON object: its number from 1, its name, its value as text and parsed, and what is wrong."""

    number: int
    name: str
    text: bytes
    value: dict[str, Any]
    broken: str = ""


def open_json(source: Source, names: Collection[str] = ()) -> Records:
    """Open a file of JSON records.

    `names`, of which every record has at least two and nothing inside of a record has, help to find the records where
    the beginning of a file is damaged.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.json").write_text('{"meta": {"count": 2}, "results": [{"id": 1}, {"id": 2}]}')
    ...     with Source(Path(folder, "a.json")) as source:
    ...         records = open_json(source)
    ...         records.unit, list(records.raws)
    ('record', [Raw(number=1, text=b'{"id": 1}', broken=''), Raw(number=2, text=b'{"id": 2}', broken='')])
    """
    if has_record_lines(source.head, names):
        return Records(_lines(source, names), "line")
    return Records(_values(source.blocks(), names), "record")


def has_record_lines(head: bytes, names: Collection[str] = ()) -> bool:
    """Whether a file, by its beginning, has one record on each line.

    >>> [has_record_lines(head) for head in (b'{"id": 1}\\n{"id": 2}\\n{"i', b'[\\n{"id": 1}\\n,{"id": 2}\\n]')]
    [True, True]
    >>> [has_record_lines(head) for head in (b'{"items": [{"id": 1}]}', b'[{"id": 1}, {"id": 2}]', b'{\\n"id": 1\\n}')]
    [False, False, False]
    """
    lines = [line for line in head.split(b"\n")[:_LOOKED_AT] if line.strip(b"[], \t\r\x1e")]
    if not lines or lines[0].rstrip().endswith(b"["):
        return False
    measure = JsonText([], names)
    found = [_is_record(line, measure if names else None) for line in lines]
    if not found[-1]:
        found.pop()  # it may go on behind the head
    return 2 * sum(found) > len(found)


def _is_record(line: bytes, measure: JsonText | None) -> bool:
    if line[:1] not in {b"{", b",", b"[", b"\x1e"}:
        return False
    try:
        value = load(_bare(line))
    except ValueError:
        return False
    if not isinstance(value, dict) or _wraps(value):
        return False
    return measure is None or measure.is_alike(value)


def _wraps(value: dict[str, Any]) -> bool:
    return any(isinstance(value[name], dict | list) for name in WRAPPERS.intersection(value))


def _lines(source: Source, names: Collection[str]) -> Iterator[Raw]:
    for number, line in source.lines():
        text = line if line[0] == _OPEN and line[-1] == _CLOSE else _bare(line)
        if _JOINED.search(text):
            yield from (raw._replace(number=number) for raw in _values([text], names))
        elif text[:1] == b"{" or text.strip(b"[]}, \t\r"):
            yield Raw(number, text)


def _bare(line: bytes) -> bytes:
    """A record without the commas and brackets of the list that it stands in."""
    text = line.strip(b", \t\r\n\x1e")
    if text.startswith(b"["):
        text = text[1:].lstrip()
    return text[:-1].rstrip() if text.startswith(b"{") and text.endswith(b"]") else text


def _values(blocks: Iterable[bytes], names: Collection[str]) -> Iterator[Raw]:
    """Records that are reached through lists, and through objects by the names of wrappers.

    Which brackets are open does not matter for what comes next, so that damage to one of them does not either: a name
    says that the value behind it is to be passed over or looked into, and an object without a name is a record.
    """
    text = JsonText(blocks, names)
    number, depth, sound = 0, 0, True
    while byte := text.next_byte():
        if byte in b"[]}":
            text.at += 1
            depth += 1 if byte == b"[" else -1
            continue
        if byte == b"{" and not text.is_like_last() and text.is_wrapper(WRAPPERS):
            text.at += 1
            depth += 1
            continue
        try:
            if byte != b"{":
                _pass_member(text)
            elif record := _record(text):
                number += 1
                yield Raw(number, record)
        except BrokenRecordError as broken:
            number, sound = number + 1, False
            yield Raw(number, text.skip_to_record(), str(broken))
    if sound and depth > 0:
        yield Raw(number + 1, b"", _UNCLOSED)


def _record(text: JsonText) -> bytes:
    """Pass over the record that stands here and give it; go into what turns out to be a wrapper of unknown names."""
    record, value = text.record()
    if not text.is_alike(value) and (place := text.record_within(len(record))) is not None:
        text.at = place
        return b""
    text.at += len(record)
    return record


def _pass_member(text: JsonText) -> None:
    """Pass over a member of a wrapper, or stop before its value if that may hold records."""
    name = text.pass_name()
    if name is None:
        raise BrokenRecordError("expected a JSON object")
    is_container = text.data[text.at : text.at + 1] in {b"{", b"["}
    if not is_container or not (name in WRAPPERS or text.holds_record()):
        text.at += len(text.value())


def open_json_members(source: Source, names: Collection[str] = ()) -> Iterator[Member]:
    """The members of a file that is one object of objects, such as papers by their numbers.

    `names` help to find them again after damage, as in `open_json`; they are needed where objects stand in a member.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.json").write_text('{"7": {"title": "x"}, "8": {"title": "y"}}')
    ...     with Source(Path(folder, "a.json")) as source:
    ...         list(open_json_members(source))[1]
    Member(number=2, name='8', text=b'{"title": "y"}', value={'title': 'y'}, broken='')
    """
    text = JsonText(source.blocks(), names, members=True)
    number = depth = 0
    sound = True
    while byte := text.next_byte():
        if byte in b"{}":
            text.at += 1
            depth += 1 if byte == b"{" else -1
            continue
        number += 1
        name = text.pass_name()
        try:
            if name is None:
                raise BrokenRecordError("expected a name and a value")
            record, value = text.record()
            text.at += len(record)
            yield Member(number, name, record, value)
        except BrokenRecordError as broken:
            sound = False
            yield Member(number, name or "", text.skip_to_record(_MEMBER), {}, str(broken))
    if sound and depth > 0:
        yield Member(number + 1, "", b"", {}, _UNCLOSED)
