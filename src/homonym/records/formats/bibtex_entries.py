"""BibTeX entries into their fields, whatever was done to their braces."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from homonym.records.model import BrokenRecordError, Note

#: What begins like an entry, but is no document and is not looked into.
NOT_DOCUMENTS = frozenset({"comment", "preamble", "set", "xdata"})

NO_ENTRY = "this is no entry: it does not begin with '@type{key,'"

_NAME = r"([A-Za-z_\x80-\uffff][A-Za-z0-9_:+./\x80-\uffff-]*+)\s*+=\s*+"
_VALUE = r'["{\w]'

# All repetitions are possessive: what does not match is not tried again in other ways.
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

#: An entry in which more than this has to be mended is no entry.
_MOST_MENDED = 10

#: More keywords in fields of their own are not gathered.
_LONGEST_KEYWORDS = 10_000

#: Abbreviations that are made of each other grow without end; no title or journal is so long.
_LONGEST_JOINED = 1 << 14


@dataclass
class Entry:
    """One entry as it is written: its values still in LaTeX, what could not be read noted."""

    kind: str
    key: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    def mend(self, note: str) -> None:
        """Note what was wrong with a field."""
        if len(self.notes) == _MOST_MENDED:
            raise BrokenRecordError("its braces and fields are in disorder")
        self.notes.append(("field", note))


@lru_cache(maxsize=1 << 12)
def _folded(name: str) -> str:
    return name.lower().replace("_", "-")


def parse_entry(text: str, macros: Mapping[str, str], begin: int = 0) -> tuple[Entry, int]:
    """Read the entry at a place in a text; tell where it ends.

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
        assert key is not None  # an empty one is one, too
        entry.key, place = key[1].strip(), key.end()
    if text.rfind("\nUnique-ID") > 0 and (fields := _laid_out(text[place:])):
        entry.fields = fields
        return entry, len(text)
    return entry, _read_fields(text, place, _ENDS[delimiter], entry, macros)


def _laid_out(text: str) -> dict[str, str] | None:
    """Read an entry as the Web of Science writes it, every field in braces and on lines of its own; None if it is not.

    Its entries are the longest by far, and this takes half the time.
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
    """The folded name in front of a value; empty if it is none."""
    return _folded(text.strip()) if _WHOLE_NAME.fullmatch(text) else ""


def _keep(fields: dict[str, str], name: str, value: str) -> None:
    """Add a field; the first of several counts, but ScienceDirect once gave each keyword a field of its own."""
    if fields.setdefault(name, value) is not value and name == "keywords" and len(fields[name]) < _LONGEST_KEYWORDS:
        fields[name] += f"; {value}"


def _read_fields(text: str, place: int, end: re.Pattern[str], entry: Entry, macros: Mapping[str, str]) -> int:
    found = _FIELD_NAME.match(text, place)
    while True:
        if found:
            name, begin = found[1], found.end()
            close = _closing(text, begin) if text.startswith("{", begin) else None
            following = _FIELD_NAME.match(text, close + 1) if close else None
            if following:  # as nearly always; everything else is looked at closer
                _keep(entry.fields, _folded(name), text[begin + 1 : close])
                found = following
                continue
            value, place = _Value(text, begin, macros, entry).read(name)
            _keep(entry.fields, _folded(name), value)
        elif found := end.match(text, place):
            place = found.end()
            if not _FIELD_AHEAD.match(text, place):
                return place
            entry.mend("a brace closes the entry before its last field")
        else:
            place = _skip(text, place, entry)
        found = _FIELD_NAME.match(text, place)


def _skip(text: str, place: int, entry: Entry) -> int:
    """Go on at the next field, or give up where there is none and the entry does not end."""
    found = _NEXT_FIELD.search(text, place)
    if found is None:
        raise BrokenRecordError("the entry does not end: it was cut off, or a brace is missing")
    entry.mend(f"{' '.join(text[place : min(found.end(), place + 60)].split())!r} is no field")
    return found.end()


@dataclass
class _Value:
    """One value, in pieces that are joined by #."""

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
                raise BrokenRecordError(f"its field {name!r} does not end: it was cut off, or a brace is missing")
            self.place = end + 1
            return self.text[begin:end]
        bare = _BARE.match(self.text, self.place)
        if bare is None:
            return ""
        self.place = bare.end()
        return self.macros.get(_folded(bare[0]), bare[0])

    def _end_of_braces(self) -> int | None:
        """Count braces as BibTeX does, which knows no escape; if that does not end well, as LaTeX does."""
        end = _closing(self.text, self.place)
        if end is None or not _FOLLOWS.match(self.text, end + 1):
            escaped = _closing_unescaped(self.text, self.place)
            if escaped is not None and _FOLLOWS.match(self.text, escaped + 1):
                return escaped
        return end

    def _end_of_quotes(self) -> int | None:
        """The first quote outside of braces behind which the value can end; quotes in quotes have been seen."""
        depth = 0
        for found in _QUOTE_OR_BRACES.finditer(self.text, self.place + 1):
            if found[0] != '"':
                depth += 1 if found[0] == "{" else -1
            elif depth == 0 and _FOLLOWS.match(self.text, found.end()):
                return found.start()
        return None


def _closing(text: str, place: int) -> int | None:
    """Where the brace at a place is closed, every brace counted."""
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
    """Where the brace at a place is closed if braces behind a backslash are characters."""
    depth = 0
    for found in _UNESCAPED_BRACES.finditer(text, place):
        if found[0] == "{":
            depth += 1
        elif found[0] == "}":
            depth -= 1
            if depth == 0:
                return found.start()
    return None


def has_fields(text: str, begin: int = 0) -> bool:
    """Tell whether a text outside of entries looks like one whose beginning is lost."""
    return _NEXT_FIELD.search(text, begin) is not None
