"""The parser of BibTeX entries: from text to fields, also where braces, quotes or commas are damaged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from homonym.records.model import BrokenRecordError, Note

# Types of entries that are not documents and are not parsed.
NOT_DOCUMENTS = frozenset({"comment", "preamble", "set", "xdata"})

NO_ENTRY = "is not an entry: it does not begin with '@type{key,'"

_NAME = r"([A-Za-z_\x80-\uffff][A-Za-z0-9_:+./\x80-\uffff-]*+)\s*+=\s*+"
_VALUE = r'["{\w]'

# All repetitions are possessive, so that the patterns never backtrack.
_BEGINNING = re.compile(r"\s*+@\s*+([A-Za-z][\w-]*+)\s*+([{(])")
_KEYS = {"{": re.compile(r"\s*+([^,\n}]*+),?"), "(": re.compile(r"\s*+([^,\n)]*+),?")}
_ENDS = {"{": re.compile(r"[\s,]*+\}"), "(": re.compile(r"[\s,]*+\)")}
_FIELD_NAME = re.compile(rf"[\s,]*+{_NAME}")
_FIELD_END = re.compile(r"\},\n")
_WHOLE_NAME = re.compile(r"\s*+[A-Za-z][A-Za-z0-9-]*+[ \t]*+")
_FIELD_AHEAD = re.compile(rf"[\s,]*+{_NAME}{_VALUE}")
_NEXT_FIELD = re.compile(rf'[,\n\r}}"][ \t]*+(?={_NAME}{_VALUE})')
_BARE = re.compile(r'[^\s,{}()"#=]++')
_JOINED = re.compile(r"\s*+#\s*+")
_UNESCAPED_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_QUOTE_OR_BRACES = re.compile(r'["{}]')
_FOLLOWS = re.compile(rf"\s*+(?:[,#}})]|{_NAME})")

# Maximum number of damaged fields in an entry; with more, the entry is broken.
_MAX_DAMAGED = 10

# Length of keywords from which further fields of keywords are left out.
_LONGEST_KEYWORDS = 10_000

# Maximum length of a value that is joined with "#": abbreviations that use each other can grow without limit.
_LONGEST_JOINED = 1 << 14


@dataclass
class Entry:
    """One entry with its values still in LaTeX, and notes on what could not be read."""

    kind: str
    key: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    more_authors: list[str] = field(default_factory=list)  # of further fields "author", while the entry is read
    notes: list[Note] = field(default_factory=list)

    def note_damage(self, note: str) -> None:
        """Note what is wrong with a field; the entry is broken if there is too much."""
        if len(self.notes) == _MAX_DAMAGED:
            raise BrokenRecordError("has too many damaged fields")
        self.notes.append(("field", note))


@lru_cache(maxsize=1 << 12)
def _normal_name(name: str) -> str:
    return name.lower().replace("_", "-")


def parse_entry(text: str, macros: Mapping[str, str], begin: int = 0) -> tuple[Entry, int]:
    """The entry at a place in a text, and where it ends.

    >>> entry, end = parse_entry('@Article{doe99, title = "On {x}" # ieee, Year = 1999,}', {"ieee": " in IEEE"})
    >>> entry.kind, entry.key, entry.fields
    ('article', 'doe99', {'title': 'On {x} in IEEE', 'year': '1999'})
    """
    beginning = _BEGINNING.match(text, begin)
    if beginning is None:
        raise BrokenRecordError(NO_ENTRY)
    entry, delimiter, place = Entry(beginning[1].lower()), beginning[2], beginning.end()
    if entry.kind in NOT_DOCUMENTS:
        return entry, len(text)
    if entry.kind != "string" and not _FIELD_AHEAD.match(text, place):
        key = _KEYS[delimiter].match(text, place)
        assert key is not None  # the pattern also matches an empty key
        entry.key, place = key[1].strip(), key.end()
    if text.rfind("\nUnique-ID") > 0 and (fields := _wos_fields(text[place:])):
        entry.fields = fields
        return entry, len(text)
    end = _read_fields(text, place, _ENDS[delimiter], entry, macros)
    if entry.more_authors:
        entry.fields["author"] = " and ".join([entry.fields["author"], *entry.more_authors])
        entry.more_authors.clear()
    return entry, end


def _wos_fields(text: str) -> dict[str, str] | None:
    """The fields of an entry in the layout of the Web of Science, each in braces and on its own lines; else None.

    These entries are the longest by far, and this is twice as fast as the general way.
    """
    *parts, end = _FIELD_END.split(text)
    if end.strip() != "}":
        return None
    fields: dict[str, str] = {}
    for part in parts:
        name, _, value = part.partition("= {")
        name = _field_name(name)
        if not name or (("}" in value or "{" in value) and _closing(f"{{{value}}}", 0) != len(value) + 1):
            return None
        fields.setdefault(name, value)
    return fields


@lru_cache(maxsize=1 << 10)
def _field_name(text: str) -> str:
    """The normal form of the name before a value; empty if it is not a name."""
    return _normal_name(text.strip()) if _WHOLE_NAME.fullmatch(text) else ""


def _add_field(entry: Entry, name: str, value: str) -> None:
    """Add a field unless its name exists; several fields of keywords or authors, as some programs write, are joined."""
    if entry.fields.setdefault(name, value) is value:
        return
    if name == "author":  # joined at the end, because joining one after the other takes quadratic time
        entry.more_authors.append(value)
    elif name == "keywords" and len(entry.fields[name]) < _LONGEST_KEYWORDS:
        entry.fields[name] += f"; {value}"


def _read_fields(text: str, place: int, end: re.Pattern[str], entry: Entry, macros: Mapping[str, str]) -> int:
    found = _FIELD_NAME.match(text, place)
    while True:
        if found:
            name, begin = found[1], found.end()
            close = _closing(text, begin) if text.startswith("{", begin) else None
            following = _FIELD_NAME.match(text, close + 1) if close else None
            if following:  # as nearly always; other values are read by _Value
                _add_field(entry, _normal_name(name), text[begin + 1 : close])
                found = following
                continue
            value, place = _Value(text, begin, macros, entry).read(name)
            _add_field(entry, _normal_name(name), value)
        elif found := end.match(text, place):
            place = found.end()
            if not _FIELD_AHEAD.match(text, place):
                return place
            entry.note_damage("a brace closes the entry before its last field")
        else:
            place = _skip(text, place, entry)
        found = _FIELD_NAME.match(text, place)


def _skip(text: str, place: int, entry: Entry) -> int:
    """The place of the next field; an entry that neither has one nor ends is broken."""
    found = _NEXT_FIELD.search(text, place)
    if found is None:
        raise BrokenRecordError("the entry does not end: it is cut off, or a brace is missing")
    entry.note_damage(f"{' '.join(text[place : min(found.end(), place + 60)].split())!r} is not a field")
    return found.end()


@dataclass
class _Value:
    """Reads one value, in pieces that are joined by "#"."""

    text: str
    place: int
    macros: Mapping[str, str]
    entry: Entry

    def read(self, name: str) -> tuple[str, int]:
        value = self._piece(name)
        while joined := _JOINED.match(self.text, self.place):
            self.place = joined.end()
            value += self._piece(name)
            if len(value) > _LONGEST_JOINED:
                raise BrokenRecordError(f"its field {name!r} is joined from too many pieces")
        return value, self.place

    def _piece(self, name: str) -> str:
        first = self.text[self.place : self.place + 1]
        if first == "{" or first == '"':
            begin = self.place + 1
            end = self._end_of_braces() if first == "{" else self._end_of_quotes()
            if end is None:
                raise BrokenRecordError(f"its field {name!r} does not end: it is cut off, or a brace is missing")
            self.place = end + 1
            return self.text[begin:end]
        bare = _BARE.match(self.text, self.place)
        if bare is None:
            return ""
        self.place = bare.end()
        return self.macros.get(_normal_name(bare[0]), bare[0])

    def _end_of_braces(self) -> int | None:
        """The closing brace as BibTeX counts braces (without escapes); if no field can end there, as LaTeX does."""
        end = _closing(self.text, self.place)
        if end is None or not _FOLLOWS.match(self.text, end + 1):
            escaped = _closing_unescaped(self.text, self.place)
            if escaped is not None and _FOLLOWS.match(self.text, escaped + 1):
                return escaped
        return end

    def _end_of_quotes(self) -> int | None:
        """The first quote outside of braces after which a value can end; some exports have quotes within quotes."""
        depth = 0
        for found in _QUOTE_OR_BRACES.finditer(self.text, self.place + 1):
            if found[0] != '"':
                depth += 1 if found[0] == "{" else -1
            elif depth == 0 and _FOLLOWS.match(self.text, found.end()):
                return found.start()
        return None


def _closing(text: str, place: int) -> int | None:
    """The place of the brace that closes the one at a place; escaped braces count."""
    end = text.find("}", place)
    if end > 0 and text.find("{", place + 1, end) < 0:
        return end
    open_braces, begin = 0, place
    while (end := text.find("}", begin)) >= 0:
        open_braces += text.count("{", begin, end) - 1
        if not open_braces:
            return end
        begin = end + 1
    return None


def _closing_unescaped(text: str, place: int) -> int | None:
    """The place of the brace that closes the one at a place; escaped braces do not count."""
    depth = 0
    for found in _UNESCAPED_BRACES.finditer(text, place):
        if found[0] == "{":
            depth += 1
        elif found[0] == "}":
            depth -= 1
            if depth == 0:
                return found.start()
    return None


class FieldSpan(NamedTuple):
    """Where the name of a field begins, and where its value is, without delimiters."""

    name: int
    value: tuple[int, int]


def field_spans(text: str) -> dict[str, FieldSpan]:
    """The places of the fields of an entry, up to the first damage; values in several pieces are left out.

    >>> field_spans('@misc{x, title = "A" # b, Year = {1999}}')
    {'year': FieldSpan(name=26, value=(34, 38))}
    """
    beginning = _BEGINNING.match(text)
    if beginning is None:
        return {}
    entry, place, spans = Entry(beginning[1].lower()), beginning.end(), dict[str, FieldSpan]()
    if not _FIELD_AHEAD.match(text, place) and (key := _KEYS[beginning[2]].match(text, place)):
        place = key.end()
    while found := _FIELD_NAME.match(text, place):
        value = _Value(text, found.end(), {}, entry)
        try:
            written, place = value.read(found[1])
        except BrokenRecordError:
            break
        begin = found.end() + 1
        if text[begin - 1 : begin] in ("{", '"') and place - 1 == begin + len(written):
            spans.setdefault(_normal_name(found[1]), FieldSpan(found.start(1), (begin, place - 1)))
    return spans


def has_fields(text: str, begin: int = 0) -> bool:
    """Whether a text outside of entries looks like an entry without its beginning."""
    return _NEXT_FIELD.search(text, begin) is not None
