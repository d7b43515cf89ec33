"""Cells of tables to texts and lists, whatever type they have and however a list is written."""

from __future__ import annotations

import ast
import re
import warnings
from contextlib import suppress
from typing import Any

import orjson

from homonym.records import identifiers
from homonym.records.markup import plain_text
from homonym.records.model import Note

#: Before the identifiers of OpenAlex in its tables; they are known without.
OPENALEX = "https://openalex.org/"

_NOTHING = frozenset({"", "na", "n/a", "nan", "none", "null", "<na>", "nat"})
_QUOTED = re.compile(r"""'([^'\\]*+(?:\\.[^'\\]*+)*+)'|"([^"\\]*+(?:\\.[^"\\]*+)*+)\"""")
_PYTHON_WORD = re.compile(r": (?:None|True|False)(?=[,}])")
_OUTSIDE_BRACKETS = re.compile(r",(?![^()]{0,200}+\))")

#: Longer cells are not taken for what Python prints.
_LONGEST_PRINTED = 100_000


def text_of(value: Any) -> str:
    """A cell as plain text; of a list its first, and nothing where it says that there is nothing.

    >>> text_of(" On  x "), text_of(2010.0), text_of(["a", "b"]), text_of("NaN"), text_of({})
    ('On x', '2010', 'a', '', '')
    """
    if isinstance(value, str):
        text = plain_text(value)
        return "" if len(text) < 5 and text.lower() in _NOTHING else text
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list):
        return text_of(value[0]) if value else ""
    return ""


def texts_of(value: Any) -> list[str]:
    """A cell as a list of texts, parted by semicolons, else bars, else commas.

    >>> texts_of("a; b, c"), texts_of("a, b"), texts_of('["a, b"]'), texts_of([1, None])
    (['a', 'b, c'], ['a', 'b'], ['a, b'], ['1'])
    """
    items = value if isinstance(value, list) else items_of(value, ",")
    return [text for item in items if (text := text_of(item))]


def items_of(value: Any, otherwise: str = "") -> list[Any]:
    """A cell as a list whose empty places count; what is written as JSON is read as such."""
    if isinstance(value, list):
        return value
    text = value if isinstance(value, str) else text_of(value)
    if text[:1] == "[" and text[-1:] == "]" and (items := written_list(text)) is not None:
        return items
    separator = next((mark for mark in (";", "|", otherwise) if mark and mark in text), None)
    if separator == "," and "(" in text:
        items = _OUTSIDE_BRACKETS.split(text)
    else:
        items = text.split(separator) if separator else [text]
    return items[:-1] if len(items) > 1 and not items[-1].strip() else items


def written_list(text: str) -> list[Any] | None:
    """A list in JSON, or of texts as Python prints it; nothing is evaluated."""
    try:
        items = orjson.loads(text)
    except orjson.JSONDecodeError:
        if text[1:2] == "{":
            return _printed_objects(text)
        if text[1:2] not in {"'", '"'}:
            return None
        return [re.sub(r"\\(.)", r"\1", single or double) for single, double in _QUOTED.findall(text)]
    return items if isinstance(items, list) else None


def _in_json(word: re.Match[str]) -> str:
    return {": None": ": null", ": True": ": true", ": False": ": false"}[word[0]]


def _printed_objects(text: str) -> list[Any] | None:
    """A list of objects as Python prints it, of texts and numbers only: `[{'name': "Pat O'Neil"}]`."""
    if '"' not in text and "\\" not in text:  # then only its marks and some words differ from JSON
        with suppress(orjson.JSONDecodeError):
            items = orjson.loads(_PYTHON_WORD.sub(_in_json, text).replace("'", '"'))
            return items if isinstance(items, list) else None
    if len(text) > _LONGEST_PRINTED:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            items = ast.literal_eval(text)  # which evaluates nothing but texts, numbers and lists
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return items if isinstance(items, list) else None


def identify(ids: dict[str, str], kind: str, text: str, notes: list[Note]) -> None:
    """Add an identifier if it is one."""
    text = text.removeprefix(OPENALEX)
    if not text:
        return
    if valid := identifiers.valid(kind, text):
        ids[kind] = valid
    else:
        notes.append(("field", f"{text!r} is no {kind}"))
