"""Parses one JSON record, and reads its fields whatever type their values have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import orjson

from homonym.io.table_text import TOO_DEEP, is_too_deep
from homonym.records.fields import identifiers
from homonym.records.fields.markup import plain_text
from homonym.records.fields.people import folded, is_placeholder
from homonym.records.model import BrokenRecordError, Note
from homonym.records.parsing.splitting import decoded

# Tabs and line ends as some affiliations have them from web pages.
_SEPARATORS = re.compile(r"#(?:TAB|N|R)#")

# Maximum number of words in an abstract; usual ones have a few hundred.
_MAX_WORDS = 100_000

_SUFFIX = re.compile(r"(?:jr|sr|junior|senior|i{2,3}|iv|v|md|phd|m\.d|ph\.d)\.?", re.IGNORECASE)


def load(text: bytes) -> Any:
    r"""Parse JSON, and what Python and other programs write as JSON although it is not. Raises ValueError.

    >>> load(b'{"year": NaN, "title": "a\tb", "name": "J\xfcrgen \\ud800"}')
    {'year': None, 'title': 'a\tb', 'name': 'Jürgen ?'}
    """
    if is_too_deep(text):
        raise ValueError(TOO_DEEP)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as broken:
        try:
            value = json.loads(decoded(text), strict=False, parse_constant=lambda name: None)
            # Encoding replaces unpaired surrogates, which orjson rejects.
            return orjson.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            raise broken from None


def load_record(text: bytes) -> dict[str, Any]:
    """Parse one record, which must be a JSON object.

    >>> load_record(b'[1]')
    Traceback (most recent call last):
    homonym.records.model.BrokenRecordError: expected a JSON object, got list
    """
    if is_too_deep(text):
        raise BrokenRecordError(TOO_DEEP)
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            value = load(text)
        except ValueError as broken:
            raise BrokenRecordError(json_error(broken)) from None
    if not isinstance(value, dict):
        raise BrokenRecordError(f"expected a JSON object, got {type(value).__name__}")
    return value


def json_error(broken: ValueError) -> str:
    """Human-readable reason why a text is not JSON."""
    if not isinstance(broken, json.JSONDecodeError):
        return f"not valid JSON ({broken})"
    return f"not valid JSON ({broken.msg} at character {broken.pos + 1})"


def as_list(value: Any) -> list[Any]:
    """A list unchanged, a single value as a list of one, None as an empty list.

    >>> as_list(["a", "b"]), as_list("a"), as_list(None)
    (['a', 'b'], ['a'], [])
    """
    return value if isinstance(value, list) else [] if value is None else [value]


def list_field(value: Any, name: str, notes: list[Note]) -> list[Any]:
    """The list in a field, empty if there is none. Other values are noted.

    >>> list_field(["a"], "authors", []), list_field(None, "authors", []), list_field(7, "authors", notes := []), notes
    (['a'], [], [], [('field', 'authors must be a list, got int')])
    """
    if isinstance(value, list):
        return value
    if value is not None:
        notes.append(("field", f"{name} must be a list, got {type(value).__name__}"))
    return []


def dicts(value: Any, key: str = "") -> list[dict[str, Any]]:
    """The objects in a list, or a single one. With a key, another value becomes an object with only that key.

    >>> dicts([{"a": 1}, None]), dicts({"a": 1}), dicts(["x", {"a": 1}], "name"), dicts("x")
    ([{'a': 1}], [{'a': 1}], [{'name': 'x'}, {'a': 1}], [])
    """
    if not value:
        return []
    if key:
        return [item if isinstance(item, dict) else {key: item} for item in as_list(value)]
    return [item for item in as_list(value) if isinstance(item, dict)]


def member(value: Any, *names: str) -> Any:
    """The value under a path of names; None if there is none.

    >>> member({"a": {"b": 1}}, "a", "b"), member({"a": None}, "a", "b")
    (1, None)
    """
    for name in names:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def add_member(found: dict[str, Any], name: str, value: Any) -> None:
    """Add a value that may be repeated, such as an XML element: several values of a name become a list.

    >>> add_member(found := {"a": 1}, "a", 2), add_member(found, "b", 3), found
    (None, None, {'a': [1, 2], 'b': 3})
    """
    if name not in found:
        found[name] = value
    elif isinstance(found[name], list):
        found[name].append(value)
    else:
        found[name] = [found[name], value]


def unboxed(value: Any, depth: int = 8) -> Any:
    """Values without the lists of length one that R writes around each text and number by default.

    >>> unboxed({"id": ["W1"], "authors": [{"name": ["Jo"]}], "places": [["Oslo"]], "none": {}})
    {'id': 'W1', 'authors': [{'name': 'Jo'}], 'places': ['Oslo'], 'none': None}
    """
    if not depth:
        return value
    if isinstance(value, dict):
        return {name: unboxed(inner, depth - 1) for name, inner in value.items()} or None
    if not isinstance(value, list):
        return value
    is_box = len(value) == 1 and not isinstance(value[0], dict | list)
    return value[0] if is_box else [unboxed(inner, depth - 1) for inner in value]


def text_or_empty(value: Any) -> str:
    """A text field as plain text; empty if the value is not text.

    >>> text_or_empty("<i>x</i>"), text_or_empty(7)
    ('x', '')
    """
    return plain_text(value) if isinstance(value, str) else ""


def text(value: Any, name: str, notes: list[Note]) -> str:
    """A text field as plain text. Values that are not text are noted.

    >>> text("<i>x</i>", "title", []), text(7, "title", notes := []), notes
    ('x', '', [('field', 'title must be text, got int')])
    """
    if isinstance(value, str):
        return plain_text(value)
    if value is not None:
        notes.append(("field", f"{name} must be text, got {type(value).__name__}"))
    return ""


def indexed_text(index: Any, name: str, notes: list[Note]) -> str:
    """A text stored as an inverted index (word -> places), as an object or as JSON text. Anything else is noted.

    >>> indexed_text({"is": [1], "Ice": [0], "cold": [2]}, "abstract", [])
    'Ice is cold'
    >>> indexed_text('{"IndexLength": 2, "InvertedIndex": {"melts": [1], "Ice": [0]}}', "abstract", [])
    'Ice melts'
    """
    if not index:
        return ""
    if isinstance(index, str):
        try:
            index = orjson.loads(index)
        except orjson.JSONDecodeError:
            index = None
    if isinstance(index, dict) and isinstance(index.get("InvertedIndex"), dict):
        index = index["InvertedIndex"]
    if not isinstance(index, dict):
        notes.append(("field", f"{name} is not an inverted index"))
        return ""
    try:
        words = [""] * sum(map(len, index.values()))
        for word, places in index.items():
            for place in places:
                words[place] = word
    except (IndexError, TypeError):
        words = _sorted_words(index)
    return plain_text(" ".join(words))


def _sorted_words(index: dict[str, Any]) -> list[str]:
    """Words in their order, if some places are missing or not numbers."""
    places = [
        (place, word)
        for word, places in index.items()
        if isinstance(places, list)
        for place in places
        if isinstance(place, int)
    ]
    return [word for _, word in sorted(places)[:_MAX_WORDS]]


def identifier(value: Any) -> str:
    """An identifier as text, whether it is stored as text or as a number; empty for other values.

    >>> identifier(" 53e9 "), identifier(1091), identifier(None), identifier(True)
    ('53e9', '1091', '', '')
    """
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def distinct(values: Iterable[Any]) -> list[str]:
    """The texts among values, each once, without regard to case.

    >>> distinct(["Data", None, "Data", "", "Model"])
    ['Data', 'Model']
    """
    found = {value.lower(): value for value in values if isinstance(value, str)}
    return [*filter(None, map(repeated, found.values()))] if found else []


@lru_cache(maxsize=1 << 13)
def repeated(value: str) -> str:
    """Plain text, cached: for texts that many records share, such as venues and keywords."""
    return plain_text(value)


def first_repeated(*values: Any) -> str:
    """The first text among values, as plain text, cached; empty if there is none.

    >>> first_repeated(None, "", {"title": "x"}, "Nature", "Nat.")
    'Nature'
    """
    return next((repeated(value) for value in values if isinstance(value, str) and value), "")


@lru_cache(maxsize=1 << 14)
def whole_name(value: str) -> str:
    """A name in one piece as plain text; empty if it has neither letters nor digits.

    >>> whole_name("J&uuml;rgen  M&uuml;ller "), whole_name("Unknown"), whole_name("--"), whole_name(":")
    ('Jürgen Müller', 'Unknown', '', ':')
    """
    name = plain_text(value).strip(" ,;")
    is_missing = is_placeholder(name) and not folded(name) and name != ":"  # the colon follows a group
    return "" if is_missing else name


def cited_name(value: str) -> str:
    """A name in a reference as plain text; empty for words for a missing name."""
    name = whole_name(value)
    return "" if is_placeholder(name) else name


def split_name(family: Any, given: Any = None, suffix: Any = None) -> str:
    """The parts of a name as "Family, Given, Suffix"; only one part if all are words for a missing name.

    >>> split_name("Doe", "Jo", "Jr"), split_name("Na", "Li"), split_name("Unknown", "Unknown"), split_name("", "Jo")
    ('Doe, Jo, Jr', 'Na, Li', 'Unknown', 'Jo')
    >>> split_name("Doe, Jr.", "Jo"), split_name("Doe", [])
    ('Doe, Jo, Jr.', 'Doe')
    """
    try:
        return _split_name(family, given, suffix)
    except TypeError:  # lists and objects cannot be cached, and are not names
        return _split_name(*(part if isinstance(part, str) else None for part in (family, given, suffix)))


@lru_cache(maxsize=1 << 14)
def _split_name(family: Any, given: Any, suffix: Any) -> str:
    family, given, suffix = (
        text_or_empty(family).strip(" ,;"),
        text_or_empty(given).strip(" ,;"),
        text_or_empty(suffix).strip(" ,;"),
    )
    if is_placeholder(given) and is_placeholder(family):
        return next(filter(folded, (family, given)), "")
    if "," in family and given:
        family, suffix = _without_comma(family, suffix)
    return ", ".join(filter(None, (family, given, suffix)))


def _without_comma(family: str, suffix: str) -> tuple[str, str]:
    """Split a family name field that has more in it, such as "Doe, Jr."."""
    family, _, rest = family.partition(",")
    rest = rest.strip()
    if not suffix and _SUFFIX.fullmatch(rest):
        return family, rest
    return " ".join(f"{family} {rest}".replace(",", " ").split()), suffix


def without_separators(affiliation: str) -> str:
    """An affiliation without tabs and line ends that are spelled out, such as "#TAB#".

    >>> without_separators("#N# Snow Lab#TAB#")
    '  Snow Lab '
    """
    return _SEPARATORS.sub(" ", affiliation) if "#" in affiliation else affiliation


def orcid(value: Any, notes: list[Note]) -> dict[str, str]:
    """The ORCID of a person as {"orcid": …}, also if it is given in a list. An invalid one is noted.

    >>> orcid(["http://orcid.org/0000-0002-1825-0097"], []), orcid("0000-0002-1825-0098", notes := []), notes
    ({'orcid': '0000-0002-1825-0097'}, {}, [('field', "'0000-0002-1825-0098' is not a valid ORCID")])
    """
    if isinstance(value, list):
        value = next((item for item in value if item), None)
    if value is None or value == "":
        return {}
    if isinstance(value, str) and (found := identifiers.orcid(value)):
        return {"orcid": found}
    notes.append(("field", f"{value!r:.100} is not a valid ORCID"))
    return {}
