"""JSON files in any common shape, split into raw records.

Records may occur

- one per line, also with the commas and brackets of a list around them;
- in a list, minified or indented;
- in the answer of an API or in a dump, under names such as "message" and "items" (see WRAPPERS);
- in an object under names of their own, for example works by DOI;
- alone; or in several of these shapes, concatenated.

Only a window of the file is held in memory. A damaged record is reported with its number, and reading resumes at the
next object that has the names of a record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any, NamedTuple

import orjson

from homonym.io import inputs
from homonym.io.inputs import TOO_LONG, Source
from homonym.io.table_text import MAX_DEPTH, TOO_DEEP, is_too_deep
from homonym.records.model import BrokenRecordError
from homonym.records.parsing.json_fields import json_error, load, load_record
from homonym.records.parsing.splitting import Raw, decoded
from homonym.records.reader import Records

# Names of members that hold records, or objects with such members. Other members of these objects are skipped.
WRAPPERS = frozenset({"_source", "data", "docs", "hits", "items", "message", "records", "response", "results", "works"})

# Bytes read ahead. The end of a value is first searched in a smaller window, which then grows.
WINDOW_BYTES = 1 << 16
_FIRST_WINDOW, _WINDOW_GROWTH = 1 << 12, 16

# Maximum depth of wrappers in which records are looked for.
_WRAPPER_DEPTH = 20

# An object with this many of a format's record names is a record.
_ENOUGH_NAMES = 2

# Maximum number of objects per file that are tried as the next record after damage. It bounds the time that text
# without any records takes.
_MAX_TRIALS = 20_000

# Maximum length of a member name with its bracket.
_NAME_BYTES = 256

# Maximum number of lines that decide whether a file has one record per line.
_LINES_TRIED = 200

CUT_OFF = "cut off by the end of the file"
UNCLOSED = "cut off: the file ends before its list is closed, so records may be missing"
NEXT_INSIDE = "its end is missing: it contains the next record"

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_SCALAR = rb"(?:" + _STRING + rb"|[-+.\w]++)"
_FLAT = rb'[^"{}\[\]]*+(?:' + _STRING + rb'[^"{}\[\]]*+)*+'
_SHORT_STRING = rb'"((?:[^"\\]|\\.){0,200}+)"'


def _nested(depth: int) -> bytes:
    inner = rb"(?:" + _nested(depth - 1) + _FLAT + rb")*+" if depth > 1 else b""
    return rb"[{\[]" + _FLAT + inner + rb"[}\]]"


@cache
def _value_pattern() -> re.Pattern[bytes]:
    """A JSON value. Compiled when it is needed, because that takes 7 ms, and files of JSON lines do not need it."""
    return re.compile(_nested(MAX_DEPTH) + rb"|" + _SCALAR, re.DOTALL)


_STRING_END = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_STRING_OR_BRACKET = re.compile(rb'["\[\]{}]')
# Also the marks of JSON text sequences and of UTF-8, where files were concatenated.
_GAP = re.compile(rb"[\s,\x1e\xef\xbb\xbf]*+")
_MEMBER_NAME = re.compile(_SHORT_STRING + rb"\s*+:\s*+", re.DOTALL)
_FIRST_NAMES = re.compile(
    rb"\{\s*+" + _SHORT_STRING + rb"\s*+:\s*+(?:" + _SCALAR + rb"\s*+,\s*+" + _SHORT_STRING + rb")?", re.DOTALL
)


class _Layout(NamedTuple):
    """Patterns for records that are elements of lists, or members of an object."""

    separator: bytes
    start: re.Pattern[bytes]


_ELEMENTS = _Layout(rb"\s*+,?+\s*+", re.compile(rb'\{(?=\s*+")'))
_MEMBERS = _Layout(
    rb'\s*+,\s*+"(?:[^"\\]|\\.){0,200}+"\s*+:\s*+', re.compile(_SHORT_STRING + rb"\s*+:\s*+\{", re.DOTALL)
)


def _member_name(text: bytes) -> str:
    r"""The name of a member without its escapes.

    >>> _member_name(rb"10.1/a(1)\u003c2>"), _member_name(rb"\x")
    ('10.1/a(1)<2>', '\\x')
    """
    if b"\\" in text:
        with suppress(orjson.JSONDecodeError):
            return str(orjson.loads(b'"' + text + b'"'))
    return decoded(text)


def _damage(text: bytes, *, is_whole: bool = False) -> str:
    """What is wrong with a JSON value or, unless it is whole, with the beginning of one."""
    beginning = decoded(text)
    try:
        json.loads(beginning, strict=False)
    except json.JSONDecodeError as broken:
        is_cut = broken.pos >= len(beginning) - _NAME_BYTES or broken.msg.startswith("Unterminated string")
        return "" if is_cut and not is_whole else json_error(broken)
    except RecursionError:
        return "not valid JSON (nested too deeply)"
    return ""


class _JsonScanner:
    """A position in a stream of JSON text. Only the text around the position is held in memory.

    Every record has at least two of `names`, and no object inside a record has. Without names every object is a record.
    """

    def __init__(
        self,
        blocks: Iterable[bytes],
        names: Collection[str],
        layout: _Layout = _ELEMENTS,
        wrappers: frozenset[str] = WRAPPERS,
    ) -> None:
        self._blocks = iter(blocks)
        self._ended = False
        self._names = frozenset(names)
        self._layout = layout
        self._wrappers = wrappers
        self._start: re.Pattern[bytes] | None = None
        self._border: re.Pattern[bytes] | None = None
        self._trials = 0
        self._skipped = b""
        self.data = b""
        self.at = 0

    def _fill(self, size: int) -> bool:
        """Hold `size` bytes from the position on, or all that are left; return whether there are as many."""
        missing = size - (len(self.data) - self.at)
        if missing > 0 and not self._ended:
            gathered = [self.data[self.at :]]
            while missing > 0 and not self._ended:
                block = next(self._blocks, b"")
                gathered.append(block)
                missing -= len(block)
                self._ended = not block
            self.data, self.at = b"".join(gathered), 0
        return missing <= 0

    def _window_ends(self) -> Iterator[int]:
        """Ends of growing windows from the position on, until the input ends or a window has the maximum size."""
        window = _FIRST_WINDOW
        while True:
            enough = self._fill(window)
            yield self.at + window
            if not enough or window >= inputs.MAX_RECORD_BYTES:
                return
            window = min(window * _WINDOW_GROWTH, inputs.MAX_RECORD_BYTES)

    def next_byte(self) -> bytes:
        """Skip white space and commas; return the byte after them, or nothing at the end."""
        while True:
            self.at = _end_of(_GAP, self.data, self.at)
            if self._ended or len(self.data) - self.at >= WINDOW_BYTES:
                return self.data[self.at : self.at + 1]
            self._fill(WINDOW_BYTES)

    def skip_name(self) -> str | None:
        """Skip the name of a member and return it; None if there is none."""
        found = _MEMBER_NAME.match(self.data, self.at)
        if found is None:
            return None
        self.at = found.end()
        return _member_name(found[1])

    def skip_member(self) -> str:
        """Skip a member of a wrapper, or only its name if its value may hold records; return the name."""
        name = self.skip_name()
        if name is None:
            raise BrokenRecordError("expected a JSON object")
        is_container = self.data[self.at : self.at + 1] in {b"{", b"["}
        if not is_container or not (name in self._wrappers or self._holds_record()):
            self.at += len(self._value())
        return name

    def require_no_record(self, names: Collection[str]) -> None:
        """Raise BrokenRecordError if members with these names, which are outside any object, are those of a record."""
        if self._has_names(names):
            raise BrokenRecordError("its opening bracket is missing")

    def _value(self) -> bytes:
        """The value at the position, found by its brackets; BrokenRecordError if it has no end."""
        for end in self._window_ends():
            if found := _value_pattern().match(self.data, self.at, end):
                return found[0]
            if is_too_deep(self.data[self.at : end]):
                self._skipped = self._skip_by_brackets()
                raise BrokenRecordError(TOO_DEEP)
            if damage := _damage(self.data[self.at : end]):
                raise BrokenRecordError(damage)
        if self._ended and end > len(self.data):
            raise BrokenRecordError(CUT_OFF)
        self._skipped = self._skip_by_brackets()
        raise BrokenRecordError(TOO_LONG)

    def _skip_by_brackets(self) -> bytes:
        """Skip the value at the position, of any length and depth, and return its beginning.

        Stops where its brackets are closed or, if they never are, where another record begins.
        """
        beginning = self.data[self.at : self.at + inputs.KEPT_BYTES]
        depth, in_string, place = 0, False, self.at
        while True:
            found = (_STRING_END.match if in_string else _STRING_OR_BRACKET.search)(self.data, place)
            if found is None:
                self.at = len(self.data) - (_cut_escape(self.data) if in_string else 0)
                if self._ended:
                    return beginning
                self._fill(len(self.data) - self.at + 1)
                place = self.at
                continue
            place, mark = found.end(), found[0][-1:]
            if mark == b'"':
                in_string = not in_string
                continue
            if depth and mark == b"{" and self._is_next_record(place - 1):
                self.at = place - 1
                return beginning
            depth += 1 if mark in b"[{" else -1
            if depth <= 0:
                self.at = place
                return beginning

    def _is_next_record(self, place: int) -> bool:
        """Whether a record begins inside a value that is too long or too deep, because that value has no end."""
        if self._layout is _MEMBERS or self._trials >= _MAX_TRIALS:
            return False
        if self._start and not self._start.match(self.data, place):
            return False
        self._trials += 1
        return self._starts_record(place)

    def record(self) -> tuple[bytes, dict[str, Any]]:
        """Skip the object at the position and return its text and value; BrokenRecordError if it is damaged."""
        text, value = self._record_before_border() or self._record_by_brackets()
        self.at += len(text)
        return text, value

    def _record_before_border(self) -> tuple[bytes, dict[str, Any]] | None:
        """The fast way: the text up to where the next record begins like the last one."""
        if self._border and (border := self._border.search(self.data, self.at, self.at + WINDOW_BYTES)):
            text = self.data[self.at : border.start() + 1]
            try:
                return text, orjson.loads(text)
            except orjson.JSONDecodeError:
                pass  # an object inside the record begins alike, or the record is damaged
        return None

    def _record_by_brackets(self) -> tuple[bytes, dict[str, Any]]:
        text = self._value()
        value = load_record(text)
        if self._layout is _MEMBERS and any(
            isinstance(inner, dict) and self._has_names(inner) for inner in value.values()
        ):
            raise BrokenRecordError(NEXT_INSIDE)
        if names := _FIRST_NAMES.match(text):
            self._start, self._border = _start_and_border(names[1], names[2], self._layout.separator)
        return text, value

    def is_wrapper(self) -> bool:
        """Whether the object at the position is not a record itself, but holds some."""
        if self._start and self._start.match(self.data, self.at):  # it begins like the last record
            return False
        for end in self._window_ends():
            names = set()
            for name, place in self._children(self.at, end):
                if name in self._wrappers and self.data[place : place + 1] in {b"{", b"["}:
                    return True
                names.add(name)
                if self._has_names(names):
                    return False
            if _value_pattern().match(self.data, self.at, end):
                break
        return self._holds_record()

    def _has_names(self, names: Collection[str]) -> bool:
        return not self._names or len(self._names.intersection(names)) >= _ENOUGH_NAMES

    def _children(self, place: int, end: int) -> Iterator[tuple[str, int]]:
        """Name and place of each value in the container at `place`, up to the first value that is incomplete."""
        place = _end_of(_GAP, self.data, place + 1)
        while place < end and self.data[place : place + 1] not in b"]}":
            name = _MEMBER_NAME.match(self.data, place, end)
            place = name.end() if name else place
            yield decoded(name[1]) if name else "", place
            value = _value_pattern().match(self.data, place, end)
            if value is None:
                return
            place = _end_of(_GAP, self.data, value.end())

    def _holds_record(self) -> bool:
        """Whether the container at the position is a record or has one in it, as far as it fits into a window."""
        for end in self._window_ends():
            if self._has_record(self.at, end):
                return True
            if _value_pattern().match(self.data, self.at, end):
                return False
        return False

    def _has_record(self, place: int, end: int, depth: int = _WRAPPER_DEPTH) -> bool:
        names = set()
        for name, value in self._children(place, end):
            names.add(name)
            if self._has_names(names):
                return True
            if depth and self.data[value : value + 1] in {b"{", b"["} and self._has_record(value, end, depth - 1):
                return True
        return False

    def skip_to_record(self) -> bytes:
        """Skip damaged text up to the next record and return it, up to the maximum size of a record."""
        if self._skipped:
            text, self._skipped = self._skipped, b""
            return text
        skipped = bytearray()
        self._skip_to(self.at + 1, skipped)
        while True:
            found = self._layout.start.search(self.data, self.at) if self._trials < _MAX_TRIALS else None
            if found:
                self._skip_to(found.start(), skipped)
                self._fill(WINDOW_BYTES)
                if self._starts_record(self.at + len(found[0]) - 1):
                    return bytes(skipped).strip()
                self._trials += 1
                self._skip_to(self.at + 1, skipped)
            else:  # the start of a record may be cut by the end of the data
                self._skip_to(len(self.data) - (0 if self._ended else _NAME_BYTES), skipped)
                if self._ended:
                    return bytes(skipped).strip()
                self._fill(len(self.data) - self.at + 1)

    def _starts_record(self, place: int) -> bool:
        end = place + WINDOW_BYTES
        if not self._has_record(place, end, depth=0):
            return False
        value = _value_pattern().match(self.data, place, end)
        return not (_damage(value[0], is_whole=True) if value else _damage(self.data[place:end]))

    def _skip_to(self, place: int, skipped: bytearray) -> None:
        place = max(place, self.at)
        skipped += self.data[self.at : min(place, self.at + inputs.MAX_RECORD_BYTES - len(skipped))]
        self.at = place


def _cut_escape(text: bytes) -> int:
    """1 if a text ends with a backslash that escapes the next character, else 0."""
    return (len(text) - len(text.rstrip(b"\\"))) % 2


def _end_of(pattern: re.Pattern[bytes], text: bytes, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place


@lru_cache(maxsize=64)
def _start_and_border(
    first: bytes, second: bytes | None, separator: bytes
) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """How a record with these first names begins, and the border between a record and another that begins so."""
    start = rb'\{\s*+"' + re.escape(first) + rb'"\s*+:'
    if second is not None:
        start += rb"\s*+" + _SCALAR + rb'\s*+,\s*+"' + re.escape(second) + rb'"\s*+:'
    return re.compile(start, re.DOTALL), re.compile(rb"\}(?=" + separator + start + rb")", re.DOTALL)


_NAME = re.compile(rb'"([\w-]{1,40}+)"\s*+:(?!\s*+\[\s*+\d)')
_JSON_HEAD = re.compile(rb'[\s{\[,\x1e]*+[^"\n\r\t<@]{0,300}["}\]]')

# Two records on one line. If the line end between them is damaged, there is a character other than a comma.
_JOINED = re.compile(rb'\}(?:\s*+[^,\s{]?+\s*+|[\s,]*+[^\]},:"\s\[{][\s,]*+)\{\s*+\{?+\s*+"')

_OPEN, _CLOSE = b"{}"


def is_json(head: bytes) -> bool:
    """Whether a file may be JSON, even if its beginning is damaged or missing.

    >>> is_json(b' [{"id": 1}'), is_json(b'X"id": 1}'), is_json(b"<html>"), is_json(b'id\\tauthors\\n7\\t[{"n": ""}]')
    (True, True, False, False)
    """
    return _JSON_HEAD.match(head) is not None


@lru_cache(maxsize=1)
def names_in(head: bytes) -> frozenset[str]:
    """The member names in the beginning of a file, for the detection of formats; none if it is not JSON.

    Names of lists of numbers are left out: they are the words of an abstract that is stored as an inverted index.

    >>> sorted(names_in(b'[{"id": 7, "title": "author", "index": {"titles": [0, 4]}}'))
    ['id', 'index', 'title']
    """
    return frozenset(name.decode() for name in set(_NAME.findall(head))) if is_json(head) else frozenset()


def open_json(source: Source, names: Collection[str], wrappers: frozenset[str] = frozenset()) -> Records:
    """Open a file of JSON records.

    Every record has at least two of `names`, and no object inside a record has. So records are found in objects with
    unknown names and after damage. They are found faster under the names of WRAPPERS and under those of `wrappers`.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.json").write_text('{"meta": {"count": 1}, "results": [{"id": 1, "title": "x"}]}')
    ...     with Source(Path(folder, "a.json")) as source:
    ...         records = open_json(source, ("id", "title"))
    ...         records.unit, list(records.raws)
    ('record', [Raw(number=1, text=b'{"id": 1, "title": "x"}', broken='')])
    """
    if has_record_lines(source.head, names):
        return Records(_records_of_lines(source, names), "line")
    return Records(_records(source.blocks(), names, WRAPPERS | wrappers), "record")


def first_records(head: bytes, names: Collection[str]) -> list[dict[str, Any]]:
    """The whole records in the beginning of a file; see `open_json` for the names.

    >>> first_records(b'{"results": [{"id": 1, "title": "x"}, {"id": 2, "ti', ("id", "title"))
    [{'id': 1, 'title': 'x'}]
    """
    return [load_record(raw.text) for raw in _records([head], names) if not raw.broken]


def has_record_lines(head: bytes, names: Collection[str]) -> bool:
    """Whether a file, judged by its beginning, has one record per line.

    >>> lines = b'{"id": 1, "title": ""}\\n{"id": 2, "title": ""}\\n{"i', b'[\\n{"id": 1, "title": ""}\\n]'
    >>> others = b'{"items": [{"id": 1, "title": ""}]}', b'{\\n"id": 1,\\n"title": ""\\n}'
    >>> [has_record_lines(head, ("id", "title")) for head in lines + others]
    [True, True, False, False]
    """
    lines = [line for line in head.split(b"\n")[:_LINES_TRIED] if line.strip(b"[], \t\r\x1e")]
    if not lines or lines[0].rstrip().endswith(b"["):
        return False
    are_records = [_is_record(line, frozenset(names)) for line in lines]
    if not are_records[-1]:
        are_records.pop()  # the head may end inside this line
    return 2 * sum(are_records) > len(are_records)


def _is_record(line: bytes, names: frozenset[str]) -> bool:
    if line[:1] not in {b"{", b",", b"[", b"\x1e"}:
        return False
    try:
        value = load(_without_list_marks(line))
    except ValueError:
        return False
    if not isinstance(value, dict) or any(
        isinstance(value[name], dict | list) for name in WRAPPERS.intersection(value)
    ):
        return False
    return len(names.intersection(value)) >= _ENOUGH_NAMES


def _records_of_lines(source: Source, names: Collection[str]) -> Iterator[Raw]:
    for number, line, broken in source.lines():
        if broken:
            yield Raw(number, line, broken)
            continue
        text = line if line[0] == _OPEN and line[-1] == _CLOSE else _without_list_marks(line)
        if _JOINED.search(text):
            yield from (raw._replace(number=number) for raw in _records([text], names))
        elif text[:1] == b"{" or text.strip(b"[]}, \t\r"):
            yield Raw(number, text)


def _without_list_marks(line: bytes) -> bytes:
    """A record without the commas and brackets of the list around it."""
    text = line.strip(b", \t\r\n\x1e")
    if text.startswith(b"["):
        text = text[1:].lstrip()
    return text[:-1].rstrip() if text.startswith(b"{") and text.endswith(b"]") else text


def _records(blocks: Iterable[bytes], names: Collection[str], wrappers: frozenset[str] = WRAPPERS) -> Iterator[Raw]:
    """Records in lists and wrappers; each damaged place counts as one broken record."""
    scanner = _JsonScanner(blocks, names, wrappers=wrappers)
    number, is_sound = 0, True
    open_brackets, stray_names = bytearray(), set[str]()
    while byte := scanner.next_byte():
        try:
            if byte == b"{" and not scanner.is_wrapper():
                text, _ = scanner.record()
                number += 1
                yield Raw(number, text)
            elif byte in b"{[]}":
                scanner.at += 1
                stray_names.clear()
                if byte in b"{[":
                    open_brackets += byte
                else:
                    del open_brackets[-1:]
            else:
                name = scanner.skip_member()
                if not open_brackets.endswith(b"{"):
                    stray_names.add(name)
                    scanner.require_no_record(stray_names)
        except BrokenRecordError as broken:
            number, is_sound = number + 1, False
            yield Raw(number, scanner.skip_to_record(), str(broken))
    if is_sound and open_brackets:
        yield Raw(number + 1, b"", UNCLOSED)


class Member(NamedTuple):
    """One member of a JSON object: its number from 1, its name, its value as text and parsed, and what is wrong."""

    number: int
    name: str
    text: bytes
    value: dict[str, Any]
    broken: str = ""


def open_json_members(source: Source, names: Collection[str] = ()) -> Iterator[Member]:
    """The members of a file that is one object of objects, such as papers by their numbers.

    Every member has at least two of `names`, and no object inside it has; they are needed unless the members have no
    objects inside.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.json").write_text('{"7": {"title": "x"}, "8": {"title": "y"}}')
    ...     with Source(Path(folder, "a.json")) as source:
    ...         list(open_json_members(source))[1]
    Member(number=2, name='8', text=b'{"title": "y"}', value={'title': 'y'}, broken='')
    """
    scanner = _JsonScanner(source.blocks(), names, _MEMBERS)
    number = depth = 0
    is_sound = True
    while byte := scanner.next_byte():
        if byte in b"{}":
            scanner.at += 1
            depth += 1 if byte == b"{" else -1
            continue
        number += 1
        name = scanner.skip_name()
        try:
            if name is None:
                raise BrokenRecordError("expected a name and a value")
            yield Member(number, name, *scanner.record())
        except BrokenRecordError as broken:
            is_sound = False
            yield Member(number, name or "", scanner.skip_to_record(), {}, str(broken))
    if is_sound and depth > 0:
        yield Member(number + 1, "", b"", {}, UNCLOSED)
