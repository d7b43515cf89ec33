"""The columns of a table: which field of a document each holds, and how the values in its cells are read.

The user names the columns, or they are recognised by their usual names, which `table_columns.tsv` lists.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import orjson

from homonym.errors import InputError, word_list
from homonym.io.table_text import MAX_DEPTH, is_too_deep
from homonym.records.fields.exported_ids import KIND as HOMONYM
from homonym.records.fields.key_names import column_key, misspelled
from homonym.records.fields.markup import plain_text
from homonym.records.reader import Columns

# Key under which the user gives the separator between the names of one cell, next to the names of columns.
SEPARATOR = "separator"

_WORK = frozenset({"title", "year", "doi", "pmid", "venue", "abstract"})
# Fields that identify the document of a row; the first that a row has counts.
KEYS = ("id", "doi", "pmid")
_ONE_AUTHOR = frozenset(
    "author creator autor auteur autore autorin verfasser verfasserin yazar автор firstauthor erstautor".split()
)
_ANY_NAME = frozenset({"name", "fullname"})


@cache
def usual_names() -> Mapping[str, tuple[str, ...]]:
    """The usual names of the column of each field, as `column_key` writes them; the first that a table has counts."""
    from importlib.resources import files  # slow to import, and rarely needed

    table = files("homonym.records.formats").joinpath("table_columns.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines()[1:])
    return {field: tuple(names.split()) for field, names in rows}


# Columns of the table of people that `homonym export` writes, and the field of each that has another name there.
_EXPORTED = frozenset({"authorid", "label", "name", "mentionid", "documentid", "position"})
_EXPORTED_FIELDS = {"id": "document_id", "name": "label", HOMONYM: "author_id"}


def _exported_fields(columns: Mapping[str, str]) -> dict[str, str]:
    """The fields of a table of people, given `column_key` to column: the label is the name that all mentions have."""
    own = {field: columns[column_key(name)] for field, name in _EXPORTED_FIELDS.items()}
    fields = ("position", "title", "year", "venue", "affiliations", "orcid", "doi", "other_contributors")
    return own | {field: columns[key] for field in fields if (key := column_key(field)) in columns}


def usual_fields(names: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Field to column, for all columns that have a usual name and are not taken.

    >>> usual_fields(["DocID", "Author Names", "PY", "remarks"])
    {'id': 'DocID', 'year': 'PY', 'authors': 'Author Names'}
    """
    columns: dict[str, str] = {}
    for name in names:
        if name not in taken:
            columns.setdefault(column_key(name), name)
    if columns.keys() >= _EXPORTED:
        return _exported_fields(columns)
    if {"au", "ti"} <= columns.keys():  # tags of the Web of Science, where ID means keywords
        columns["keywordsplus"] = columns.pop("id", columns.get("keywordsplus", ""))
    found = {field: next(filter(None, map(columns.get, usual)), None) for field, usual in usual_names().items()}
    fields = {field: name for field, name in found.items() if name}
    if "authors" not in fields and (first := columns.get(next(filter(_NUMBERED.fullmatch, columns), ""))):
        fields["authors"] = first
    return fields


# "Author 1", "Author2 name"; "Co-authors" next to one column of the first author.
_NUMBERED = re.compile(r"(?:author|autor|auteur|autore|verfasser|creator|作者|著者|저자)(?:name)?(\d{1,2})(?:name)?")
_CO_AUTHORS = frozenset(
    "coauthor coauthors otherauthors additionalauthors furtherauthors koautor koautoren weitereautoren mitautoren "
    "weitereverfasser coautores coauteurs autresauteurs autrescoauteurs coautori".split()
)


def is_numbered(column: str) -> bool:
    """Whether a column has one author of several columns, such as "Author 1"."""
    return _NUMBERED.fullmatch(column_key(column)) is not None


def columns_given(given: str | Sequence[str]) -> list[str]:
    """The columns that the user named for a field, mostly one."""
    return [given] if isinstance(given, str) else list(given)


def separator_given(columns: Columns) -> str | None:
    """The separator between names that the user gave."""
    given = columns.get(SEPARATOR)
    return given if isinstance(given, str) or given is None else given[0]


def more_author_columns(
    names: tuple[str, ...], fields: Mapping[str, str], columns: Columns, file: str = ""
) -> tuple[str, ...]:
    """The columns of authors behind the first one: those that the user named, "Author 2", or "Co-authors".

    >>> more_author_columns(("Author 1", "Author 2", "Title"), {"authors": "Author 1"}, {})
    ('Author 2',)
    >>> more_author_columns(("Authors", "First author", "Co-authors"), {"authors": "Authors"}, {})
    ()
    """
    first = fields.get("authors", "")
    if "authors" in columns:
        return tuple(_column("authors", name, names, file) for name in columns_given(columns["authors"])[1:])
    others = [name for name in names if name != first and name not in fields.values()]
    if is_numbered(first):
        return tuple(filter(is_numbered, others))
    if column_key(first) in _ONE_AUTHOR:
        return tuple(name for name in others if column_key(name) in _CO_AUTHORS or _is_following(first, name))
    return ()


def _is_following(first: str, name: str) -> bool:
    """Whether a column is "Author 2" next to a column "Author"."""
    return bool(_NUMBERED.fullmatch(column_key(name))) and column_key(name).startswith(column_key(first))


# Fields whose usual names are compared with unknown ones; those of others are too similar to "author_ids" and the like.
_OF_DOCUMENTS = frozenset("title abstract year venue categories keywords authors affiliations emails".split())

# Usual names with fewer letters are too similar to the names of other columns.
_SHORTEST_NAME = 5


def misspelled_columns(names: Iterable[str], fields: Mapping[str, str], others: Collection[str] = ()) -> dict[str, str]:
    """Column to field for columns that are not read, but whose names look like that of a field that no column has.

    `others` are further columns that are read.

    >>> misspelled_columns(["Authors", "Afiliations", "Journl", "Pages"], {"authors": "Authors"})
    {'Afiliations': 'affiliations', 'Journl': 'venue'}
    """
    known = {name for usual in usual_names().values() for name in usual}
    # A column similar to "author" holds names, not the known labels that the field `author` is for.
    missing = {
        name: field
        for field, usual in usual_names().items()
        if field not in fields and field != "author"
        for name in (column_key(field), *(usual if field in _OF_DOCUMENTS else ()))
        if name == field or len(name) >= _SHORTEST_NAME
    }
    read = {*fields.values(), *others}
    unknown = (name for name in names if name not in read and column_key(name) not in known)
    return {name: missing[wrong] for name in unknown if (wrong := misspelled(column_key(name), missing))}


def are_documents(names: Iterable[str]) -> bool:
    """Whether a table with such columns holds documents; a table of mentions is a result of homonym, or labels.

    >>> are_documents(["Title", "Authors"]), are_documents(["id", "name"]), are_documents(["mention_id", "author"])
    (True, False, False)
    """
    names = list(names)
    fields = usual_fields(names)
    if any(column_key(name) == "mentionid" for name in names):
        return HOMONYM in fields and "title" in fields
    work = _WORK & fields.keys()
    if "authors" in fields:
        return bool(work) or ("id" in fields and column_key(fields["authors"]) not in _ONE_AUTHOR)
    keyed = any(key in fields for key in KEYS)
    if "family" in fields and "title" in fields and {"year", "venue", "abstract"} & fields.keys():
        return True  # "Title" alone may be that of a person
    if "name" in fields and column_key(fields["name"]) not in _ANY_NAME:
        return keyed and bool(work | ({"affiliations", "orcid", "position", "author"} & fields.keys()))
    return keyed and ("name" in fields or "family" in fields) and bool({"title", "doi", "pmid"} & fields.keys())


def fields_of(names: tuple[str, ...], columns: Columns, file: str) -> dict[str, str]:
    """Field to column, from the user or by the usual names; either `authors` or `name` (or `family`) is among them."""
    given = {
        field: _only_column(field, columns_given(name), names, file)
        for field, name in columns.items()
        if field != SEPARATOR
    }
    fields = usual_fields(names, taken=given.values()) | given
    if "author" in given and not fields.keys() & {"authors", "name", "family"}:
        raise InputError(
            f"{file}: no column holds the authors. `author` is the column of known labels; did you mean `authors`, as "
            f"in --columns authors={quoted(given['author'])}?"
        )
    by_document, by_mention = "authors" in fields, "name" in fields or "family" in fields
    if by_document and by_mention:
        _choose_author_columns(fields, given, names, file)
    elif not by_document and not by_mention:
        raise InputError(f"{file}: no column is recognised as authors; it has {_shown(names)}. {_ADVICE}")
    if "authors" not in fields and not key_fields(fields):
        raise InputError(
            f"{file}: each row has one author, but no column says which rows belong to the same document; it has "
            f"{_shown(names)}. Name a column that is the same in all rows of a document, as in --columns id=Title."
        )
    return fields


def quoted(name: str) -> str:
    """A name as it is typed in a shell.

    >>> quoted("bar"), quoted("Author 1")
    ('bar', '"Author 1"')
    """
    return name if name.isalnum() else f'"{name}"'


def _only_column(field: str, given: list[str], names: tuple[str, ...], file: str) -> str:
    """The column of a field; the first of several, which only the field `authors` may have."""
    if len(given) > 1 and field != "authors":
        raise InputError(
            f"--columns names {word_list(list(map(repr, given)))} for {field}; only authors may be in several columns."
        )
    return _column(field, given[0], names, file)


def _choose_author_columns(fields: dict[str, str], given: Mapping[str, str], names: tuple[str, ...], file: str) -> None:
    """Drop the columns of lists of authors or those of single authors.

    The columns that the user names remain. A column `author` next to one of names is a label.
    """
    names_given = not given.keys().isdisjoint({"name", "family"})
    if ("authors" in given) == names_given and column_key(fields["authors"]) not in _ONE_AUTHOR:
        candidates = [fields[field] for field in ("authors", "name", "family") if field in fields]
        raise InputError(
            f"{file}: {word_list(candidates)} may both hold the authors; it has {_shown(names)}. {_ADVICE}"
        )
    if "authors" in given:
        for field in ("name", "family", "given"):
            fields.pop(field, None)
    else:
        column = fields.pop("authors")
        if column_key(column) == "author":
            fields.setdefault("author", column)


def _column(field: str, name: str, names: tuple[str, ...], file: str) -> str:
    if field not in usual_names():
        raise InputError(f"there is no field {field!r} for a column; choose one of {word_list(list(usual_names()))}.")
    alike = [column for column in names if column_key(column) == column_key(name)]
    if name not in names and len(alike) != 1:
        raise InputError(f"{file} has no column {name!r} for {field}; it has {_shown(names)}. {_ADVICE}")
    return name if name in names else alike[0]


_ADVICE = (
    "Name the columns, as in --columns authors=Names,title=Title. Where each row has one author: name=Name,id=Key, or "
    'family=Surname,given="First name",id=Title. In Python, columns={"authors": "Names", "title": "Title"}.'
)


def _shown(names: tuple[str, ...]) -> str:
    shown = [repr(name) for name in names[:20]]
    return ", ".join(shown or ["no columns"]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def may_be_one_author(fields: Mapping[str, str]) -> bool:
    """Whether rows may be single authors though the column may also hold lists: `paper_id, author, affiliation`."""
    return column_key(fields.get("authors", "")) in _ONE_AUTHOR and bool(key_fields(fields))


def key_of(fields: Mapping[str, str]) -> str | None:
    """The field that identifies the document of a row."""
    return next((key for key in KEYS if key in fields), None)


def key_fields(fields: Mapping[str, str]) -> list[str]:
    """The fields that are the same in all rows of a document: its key, otherwise title and year; none without these."""
    key = key_of(fields)
    return [key] if key else [field for field in ("title", "year") if field in fields] if "title" in fields else []


_NOTHING = frozenset({"", "na", "n/a", "#n/a", "nan", "none", "null", "<na>", "nat"})
_QUOTED = re.compile(r"""'([^'\\]*+(?:\\.[^'\\]*+)*+)'|"([^"\\]*+(?:\\.[^"\\]*+)*+)\"""")
_PYTHON_WORD = re.compile(r": (?:None|True|False)(?=[,}])")
_OUTSIDE_BRACKETS = re.compile(r",(?![^()]{0,200}+\))")

_PRINTED_VECTOR = re.compile(r"""(?:c|list)?\((["'].*["']),?\)""", re.DOTALL)

# Maximum length of a cell that is parsed as a list printed by Python.
_LONGEST_PRINTED = 100_000


def is_missing(text: str) -> bool:
    """Whether a text is empty or says that there is no value, such as "NaN"."""
    return len(text) < 5 and text.lower() in _NOTHING


def text_of(value: Any) -> str:
    """A cell as plain text; the first item of a list, and empty for placeholders such as "NaN".

    >>> text_of(" On  x "), text_of(2010.0), text_of(["a", "b"]), text_of("NaN"), text_of({})
    ('On x', '2010', 'a', '', '')
    """
    if isinstance(value, str):
        text = plain_text(value)
        return "" if is_missing(text) else text
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list):
        return text_of(value[0]) if value else ""
    return ""


def texts_of(value: Any) -> list[str]:
    """A cell as a list of texts, separated by semicolons, otherwise by bars, otherwise by commas.

    >>> texts_of("a; b, c"), texts_of("a, b"), texts_of('["a, b"]'), texts_of([1, None])
    (['a', 'b, c'], ['a', 'b'], ['a, b'], ['1'])
    """
    items = value if isinstance(value, list) else items_of(value, ",")
    return [text for item in items if (text := text_of(item))]


def items_of(value: Any, otherwise: str = "") -> list[Any]:
    """A cell as a list, including empty items: a list in JSON, or a text with semicolons, bars or `otherwise`."""
    if isinstance(value, list):
        return value
    text = as_written_list(value if isinstance(value, str) else text_of(value))
    if text[:1] == "[" and text[-1:] == "]" and (items := written_list(text)) is not None:
        return items
    separator = next((mark for mark in (";", "|", otherwise) if mark and mark in text), None)
    if separator == "," and "(" in text:
        items = _OUTSIDE_BRACKETS.split(text)
    else:
        items = text.split(separator) if separator else [text]
    return items[:-1] if len(items) > 1 and not items[-1].strip() else items


def as_written_list(text: str) -> str:
    """A list of texts as R or Python prints it, `c("Doe", "Roe")` or `('Doe', 'Roe')`, in brackets; or the text itself.

    >>> as_written_list('c("Doe, J", "Roe, R")'), as_written_list("(Doe)"), as_written_list("Doe, J (MIT)")
    ('["Doe, J", "Roe, R"]', '(Doe)', 'Doe, J (MIT)')
    """
    found = _PRINTED_VECTOR.fullmatch(text) if text[-1:] == ")" else None
    return f"[{found[1]}]" if found else text


def written_list(text: str) -> list[Any] | None:
    """A list in JSON, or a list of texts or objects as Python prints it; no code is evaluated."""
    if text.count("[") + text.count("{") > MAX_DEPTH and is_too_deep(text.encode(errors="replace")):
        return None
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
    """A list of objects with texts and numbers as Python prints it: `[{'name': "Pat O'Neil"}]`."""
    if '"' not in text and "\\" not in text:  # then only quotation marks and some words differ from JSON
        with suppress(orjson.JSONDecodeError):
            items = orjson.loads(_PYTHON_WORD.sub(_in_json, text).replace("'", '"'))
            return items if isinstance(items, list) else None
    if len(text) > _LONGEST_PRINTED:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            items = ast.literal_eval(text)  # which evaluates only literals
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return items if isinstance(items, list) else None
