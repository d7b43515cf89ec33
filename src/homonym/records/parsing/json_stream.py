"""Files of JSON records, in all the shapes that they come in: one raw record after another, whatever their format.

- JSON lines, one record on each, also with commas and brackets around the records;
- lists of records, minified or indented;
- answers of interfaces and dumps, whose records are reached by names such as "message" and "items" (see WRAPPERS);
- objects of any of these under names of their own, such as pages by their numbers or works by their DOIs;
- single records; and any of these several times, one after another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from homonym.io.inputs import MOST_RECORD_BYTES, Source
from homonym.records.model import BrokenRecordError
from homonym.records.parsing.splitting import TOO_LONG, Raw, decoded
from homonym.records.registry import Records

#: So much is held ahead. The end of a value is first looked for in a smaller window, which then grows.
WINDOW_BYTES = 1 << 16
_FIRST_BYTES, _GROWTH = 1 << 12, 16

#: Values that are nested more deeply than this are no records.
_DEPTH = 20

#: An object with so many of the names that are given is a record.
_ENOUGH_NAMES = 2

#: Without any names to go by, an object with so many members is a record.
_MANY_NAMES = 4

#: So much is looked through in vain after damage; text that only seems to be full of objects is then searched in steps.
#: Parsing something that is no JSON costs as much as looking through so many bytes.
_MOST_IN_VAIN, _TRIAL_BYTES = 100 * WINDOW_BYTES, 1000

#: A name and its bracket are not longer than this.
_BORDER_BYTES = 256

CUT_OFF = "cut off by the end of the file"
ENDLESS = "its end is missing, so that the next record stands inside of it"

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_FLAT = rb'[^"{}\[\]]*+(?:' + _STRING + rb'[^"{}\[\]]*+)*+'
_SHORT_STRING = rb'"((?:[^"\\]|\\.){0,200}+)"'
_ELEMENT_GAP = rb"\s*+,?+\s*+"
_MEMBER_GAP = rb'\s*+,\s*+"(?:[^"\\]|\\.){0,200}+"\s*+:\s*+'


def _nested(depth: int) -> bytes:
    inner = rb"(?:" + _nested(depth - 1) + _FLAT + rb")*+" if depth > 1 else b""
    return rb"[{\[]" + _FLAT + inner + rb"[}\]]"


_CONTAINER = re.compile(_nested(_DEPTH), re.DOTALL)
_SCALAR = re.compile(_STRING + rb"|[-+.\w]++", re.DOTALL)
# Between values, also the marks of JSON text sequences and of UTF-8, where files were put together.
_GAP = re.compile(rb"[\s,\x1e\xef\xbb\xbf]*+")
_MEMBER_NAME = re.compile(_SHORT_STRING + rb"\s*+:\s*+", re.DOTALL)
_OBJECT = re.compile(rb'\{(?=\s*+")')
_FIRST_NAMES = re.compile(
    rb"\{\s*+" + _SHORT_STRING + rb"\s*+:\s*+(?:(?:" + _STRING + rb"|[-+.\w]++)\s*+,\s*+" + _SHORT_STRING + rb")?",
    re.DOTALL,
)


def load(text: bytes) -> Any:
    r"""Parse JSON; where it is not quite that, what Python and others write as JSON. Raises ValueError.

    >>> load(b'{"year": NaN, "title": "a\tb", "name": "J\xfcrgen \\ud800"}')
    {'year': None, 'title': 'a\tb', 'name': 'Jürgen ?'}
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as broken:
        try:
            value = json.loads(decoded(text), strict=False, parse_constant=lambda name: None)
            # Halves of surrogate pairs, which no text may have, get lost on the way through UTF-8.
            return orjson.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            raise broken from None


def load_record(text: bytes) -> dict[str, Any]:
    """Parse one record, which must be a JSON object.

    >>> load_record(b'[1]')
    Traceback (most recent call last):
    homonym.records.model.BrokenRecordError: expected a JSON object, got list
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            value = load(text)
        except ValueError as broken:
            raise BrokenRecordError(_reason(broken)) from None
    if not isinstance(value, dict):
        raise BrokenRecordError(f"expected a JSON object, got {type(value).__name__}")
    return value


def _reason(broken: ValueError) -> str:
    if not isinstance(broken, json.JSONDecodeError):
        return f"not valid JSON ({broken})"
    return f"not valid JSON ({broken.msg} at character {broken.pos + 1})"


class JsonText:
    """A stream of JSON text with a place in it, of which only the surroundings are held.

    `names` are such that every record has at least two of them and nothing inside of a record has. Records are elements
    of lists, or with `members` the values of an object; without names, nothing inside of these may be an object.
    """

    def __init__(self, blocks: Iterable[bytes], names: Collection[str] = (), *, members: bool = False) -> None:
        self._are_members = members
        self._between = _MEMBER_GAP if members else _ELEMENT_GAP
        self._blocks = iter(blocks)
        self._ended = False
        self._names = frozenset(names)
        self._known: frozenset[str] = frozenset()
        self._beginning: re.Pattern[bytes] | None = None
        self._border: re.Pattern[bytes] | None = None
        self._in_vain = 0
        self.data = b""
        self.at = 0

    def fill(self, size: int) -> bool:
        """Have so many bytes from here on, or all that are left; tell whether there are as many."""
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

    def next_byte(self) -> bytes:
        """Pass over white space and commas and give the byte that comes then; none at the end."""
        while True:
            self.at = _end_of(_GAP, self.data, self.at)
            if self._ended or len(self.data) - self.at >= WINDOW_BYTES:
                return self.data[self.at : self.at + 1]
            self.fill(WINDOW_BYTES)

    def pass_name(self) -> str | None:
        """The name of a member, if one stands here; its value comes next."""
        found = _MEMBER_NAME.match(self.data, self.at)
        if found is None:
            return None
        self.at = found.end()
        return decoded(found[1])

    def value(self) -> bytes:
        """The value that stands here, by its brackets; BrokenRecordError if it has no end."""
        for window in self._windows():
            if found := _value_at(self.data, self.at, self.at + window):
                return found[0]
            if damage := _damage(self.data[self.at : self.at + window]):
                raise BrokenRecordError(damage)
        raise BrokenRecordError(CUT_OFF if self._ended and window > len(self.data) - self.at else TOO_LONG)

    def record(self) -> tuple[bytes, dict[str, Any]]:
        """The object that stands here, and what it says; BrokenRecordError if it is not whole and sound."""
        if self._border and (border := self._border.search(self.data, self.at, self.at + WINDOW_BYTES)):
            text = self.data[self.at : border.start() + 1]
            try:
                return text, orjson.loads(text)
            except orjson.JSONDecodeError:
                pass  # the next record begins in another way, or this one is damaged
        text = self.value()
        value = load_record(text)
        if self._are_members and any(isinstance(inner, dict) and self.is_alike(inner) for inner in value.values()):
            raise BrokenRecordError(ENDLESS)
        self._known = frozenset(value)
        if names := _FIRST_NAMES.match(text):
            self._beginning, self._border = _marks(names[1], names[2], self._between)
        return text, value

    def is_like_last(self) -> bool:
        """Whether what stands here begins with the same names as the last record."""
        return bool(self._beginning and self._beginning.match(self.data, self.at))

    def is_alike(self, names: Collection[str]) -> bool:
        """Whether an object of these names is a record.

        It is if it has two of those that records must have or, where none are given, half of those of the last one.
        """
        if self._names:
            return len(self._names.intersection(names)) >= _ENOUGH_NAMES
        if self._are_members:
            return True
        if self._known:
            return 2 * len(self._known.intersection(names)) >= len(self._known)
        return len(names) >= _MANY_NAMES

    def is_wrapper(self, wrappers: Collection[str]) -> bool:
        """Whether the object that stands here is no record, but has a member of one of these names that holds some."""
        for window in self._windows():
            seen: set[str] = set()
            for name, begins in self._members(self.at, self.at + window):
                if name in wrappers and begins in {b"{", b"["}:
                    return True
                seen.add(name)
                if not begins or (self._names and self.is_alike(seen)):
                    return False
            if _damage(self.data[self.at : self.at + window]):
                return False
        return False

    def _windows(self) -> Iterator[int]:
        """Sizes of growing windows onto what comes, as long as there is more."""
        window = _FIRST_BYTES
        while True:
            enough = self.fill(window)
            yield window
            if not enough or window >= MOST_RECORD_BYTES:
                return
            window = min(window * _GROWTH, MOST_RECORD_BYTES)

    def _members(self, place: int, end: int) -> Iterator[tuple[str, bytes]]:
        """Names in an object and what their values begin with, as far as it is held; at its end, nothing."""
        place = _end_of(_GAP, self.data, place + 1)
        while found := _MEMBER_NAME.match(self.data, place, end):
            yield decoded(found[1]), self.data[found.end() : found.end() + 1]
            value = _value_at(self.data, found.end(), end)
            if value is None:
                return
            place = _end_of(_GAP, self.data, value.end())
        if self.data[place : place + 1] == b"}":
            yield "", b""

    def record_within(self, size: int) -> int | None:
        """Where the first record begins inside of an object that is none itself."""
        self._in_vain = 0
        for found in _OBJECT.finditer(self.data, self.at + 1, self.at + size):
            if self._in_vain > _MOST_IN_VAIN:
                break
            if self._begins_record(found.start()):
                return found.start()
        return None

    def holds_record(self) -> bool:
        """Whether the value that stands here is a record or has one in it, as far as names tell what a record is."""
        if not self._names:
            return False
        self.fill(WINDOW_BYTES)
        if self._begins_record(self.at):
            return True
        for window in (WINDOW_BYTES, MOST_RECORD_BYTES):  # the first record of a long list stands near its beginning
            enough = self.fill(window)
            found = _value_at(self.data, self.at, self.at + window)
            if self.record_within(len(found[0]) if found else window) is not None:
                return True
            if found or not enough:
                break
        return False

    def skip_to_record(self, beginning: re.Pattern[bytes] = _OBJECT) -> bytes:
        """Go on to the next record and give what stands before it; what matches `beginning` ends with its bracket."""
        self._in_vain = 0
        lost = _Lost()
        step = 1
        while True:
            self.at += lost.add(self.data[self.at : self.at + step])
            found = beginning.search(self.data, self.at)
            if found:
                self.at += lost.add(self.data[self.at : found.start()])
                self.fill(WINDOW_BYTES)
                if self._begins_record(self.at + len(found[0]) - 1):
                    return lost.text
                step = 1 if self._in_vain < _MOST_IN_VAIN else WINDOW_BYTES
            else:  # a beginning may be cut by the end of what is held
                held = 0 if self._ended else _BORDER_BYTES
                self.at += lost.add(self.data[self.at : max(self.at, len(self.data) - held)])
                if self._ended:
                    return lost.text
                self.fill(len(self.data) - self.at + 1)
                step = 0

    def _begins_record(self, place: int) -> bool:
        for end in (place + _FIRST_BYTES, place + WINDOW_BYTES):
            if found := _CONTAINER.match(self.data, place, end):
                return self._is_record(found[0])
            if _damage(self.data[place:end]):
                self._in_vain += end - place
                return False
        self._in_vain += WINDOW_BYTES  # unless it is a long record
        return self.is_alike({name for name, _ in self._members(place, place + WINDOW_BYTES)})

    def _is_record(self, text: bytes) -> bool:
        try:
            value = load(text)
        except ValueError:
            self._in_vain += len(text) + _TRIAL_BYTES
            return False
        return isinstance(value, dict) and self.is_alike(value)


class _Lost:
    """What is passed over, as much of it as a record may have."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, part: bytes) -> int:
        """Keep a part and give its length."""
        if self._size < MOST_RECORD_BYTES:
            self._parts.append(part)
            self._size += len(part)
        return len(part)

    @property
    def text(self) -> bytes:
        """All that was kept."""
        return b"".join(self._parts).strip()


def _end_of(pattern: re.Pattern[bytes], text: bytes, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place


def _value_at(text: bytes, place: int, end: int) -> re.Match[bytes] | None:
    return _CONTAINER.match(text, place, end) or _SCALAR.match(text, place, end)


def _damage(text: bytes) -> str:
    """What is wrong with a text, other than that it ends too early."""
    try:
        orjson.loads(decoded(text))
    except orjson.JSONDecodeError as broken:
        if broken.pos < len(broken.doc) and not _is_lenient_beginning(broken.doc):
            return _reason(broken)
    return ""


def _is_lenient_beginning(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except json.JSONDecodeError as broken:
        return broken.pos >= len(text) - _BORDER_BYTES or broken.msg.startswith("Unterminated string")
    except (ValueError, RecursionError):
        return False
    return True


@lru_cache(maxsize=64)
def _marks(first: bytes, second: bytes | None, between: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """What a record begins with, by the names that come first in it, and the border between two such records."""
    begins = rb'\{\s*+"' + re.escape(first) + rb'"\s*+:'
    if second is not None:
        begins += rb"\s*+(?:" + _STRING + rb'|[-+.\w]++)\s*+,\s*+"' + re.escape(second) + rb'"\s*+:'
    return re.compile(begins, re.DOTALL), re.compile(rb"\}(?=" + between + begins + rb")", re.DOTALL)


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
