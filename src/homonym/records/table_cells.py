"""Cells of tables to texts, lists and authors, whatever type they have and however a list is written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from homonym.records import identifiers
from homonym.records.affiliations import give_address
from homonym.records.emails import addresses_in
from homonym.records.markup import plain_text
from homonym.records.model import Author, Note
from homonym.records.people import AuthorIndex, is_nobody

Values = Mapping[str, Any]
"""Field to cell, of one row."""

_NOTHING = frozenset({"", "na", "n/a", "nan", "none", "null", "<na>", "nat"})
_SUFFIXES = frozenset({"jr", "jr.", "sr", "sr.", "ii", "iii", "iv", "2nd", "3rd"})
_INITIALS = re.compile(r"(?:[^\W\d_a-z]\.?[- ]?){1,4}")
_PUBMED_END = re.compile(r"\s[A-Z]{1,4}\.$")  # its lists end with a full stop
_QUOTED = re.compile(r"""'([^'\\]*+(?:\\.[^'\\]*+)*+)'|"([^"\\]*+(?:\\.[^"\\]*+)*+)\"""")
_BRACKETED = re.compile(r"\[([^\[\]]*+)\]([^\[\]]*+)")

_IDS = ("orcid", "researcherid", "scopus")
_PERSON = {
    "name": ("name", "full_name", "fullname", "display_name", "author_name", "raw_author_name"),
    "family": ("family", "last", "last_name", "lastname", "surname", "family_name"),
    "given": ("given", "first", "first_name", "firstname", "forename", "given_name", "given_names"),
    "affiliations": ("affiliations", "affiliation", "institutions", "institution", "org", "orgs"),
    "emails": ("emails", "email"),
    "author": ("author", "label"),
    "block": ("block",),
    "orcid": ("orcid", "ORCID"),
    "researcherid": ("researcherid", "researcher_id"),
    "scopus": ("scopus", "scopus_id"),
    "ids": ("ids",),
}


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
    if text[:1] == "[" and text[-1:] == "]" and (items := _written_list(text)) is not None:
        return items
    separator = next((mark for mark in (";", "|", otherwise) if mark and mark in text), None)
    items = text.split(separator) if separator else [text]
    return items[:-1] if len(items) > 1 and not items[-1].strip() else items


def _written_list(text: str) -> list[Any] | None:
    """A list in JSON, or of texts as Python prints it; nothing is evaluated."""
    try:
        items = orjson.loads(text)
    except orjson.JSONDecodeError:
        if text[1:2] not in {"'", '"'}:
            return None
        return [re.sub(r"\\(.)", r"\1", single or double) for single, double in _QUOTED.findall(text)]
    return items if isinstance(items, list) else None


def separator_in(cells: Iterable[Any]) -> str | None:
    """What parts the names in a column of lists, as far as its first cells show; None if only commas can.

    >>> separator_in(["Doe, J", "Doe, J; Roe, A"]), separator_in(["Doe, J and Roe, A"]), separator_in(["J Doe, A Roe"])
    (';', ' and ', None)
    """
    texts = [cell for cell in cells if isinstance(cell, str) and cell[:1] not in {"[", "{"}]
    return next((mark for mark in (";", "|", " and ") if any(mark in text.strip(" ;|") for text in texts)), None)


def names_in(cell: str, separator: str | None) -> list[str]:
    """The names in one text.

    >>> names_in("Doe, Jane", None), names_in("J. Doe, A. B. Roe", None), names_in("Doe J, Roe AB.", None)
    (['Doe, Jane'], ['J. Doe', 'A. B. Roe'], ['Doe J', 'Roe AB'])
    >>> names_in("Doe, J., Roe, A.", None), names_in("Doe, J and Roe, A", " and ")
    (['Doe, J.', 'Roe, A.'], ['Doe, J', 'Roe, A'])
    """
    text = plain_text(cell)
    if separator == " and " and _is_comma_list(text):
        separator, text = None, text.replace(", and ", ", ").replace(" and ", ", ")
    elif separator is None:
        separator = next((mark for mark in (";", "|") if mark in text), None)
    names = text.split(separator) if separator else _parted_by_commas(text)
    return [name.strip(" ,;") for name in names]


def _is_comma_list(text: str) -> bool:
    """Whether "and" only stands before the last name: "J. Doe, A. Roe and B. Poe"; not so "Doe, J and Roe, A"."""
    first, *others = text.split(" and ")
    return len(others) == 1 and "," not in others[0] and ("," in first) and " " in others[0].strip()


def _parted_by_commas(text: str) -> list[str]:
    if text.count(".") == 1 and _PUBMED_END.search(text):
        text = text[:-1]
    parts: list[str] = []
    for part in text.split(","):
        part = part.strip()
        if parts and part.lower() in _SUFFIXES:
            parts[-1] += f", {part}"
        elif part:
            parts.append(part)
    if len(parts) == 2 and not all(" " in part for part in parts):
        return [", ".join(parts)]
    if len(parts) % 2 == 0 and all(_INITIALS.fullmatch(part) for part in parts[1::2]):
        return [f"{family}, {given}" for family, given in zip(parts[::2], parts[1::2], strict=True)]
    return parts


def author_list(values: Values, separator: str | None, notes: list[Note]) -> list[Author]:
    """The authors of a row that has all of a document."""
    cell = values.get("authors")
    authors: list[Author] = []
    for position, entry in enumerate(_entries(cell, separator, notes)):
        person = _person(entry) if isinstance(entry, dict) else {"name": entry}
        name = name_of(person)
        if is_nobody(name):
            if not name and isinstance(cell, list):
                notes.append(("author", f"author {position} has no name"))
            continue
        authors.append(author_of(position, name, person, notes))
    if authors:
        _add_parallel(authors, values, notes)
    return authors


def _entries(cell: Any, separator: str | None, notes: list[Note]) -> list[Any]:
    if isinstance(cell, dict):
        return [cell]
    if isinstance(cell, list):
        return cell
    text = (cell if isinstance(cell, str) else text_of(cell)).strip()
    if text[:1] in {"[", "{"} and text[-1:] in {"]", "}"} and not is_nobody(text.strip("[]")):
        items = _written_list(text if text[0] == "[" else f"[{text}]")
        if items is None:
            notes.append(("field", "the list of authors is neither JSON nor names between separators"))
        return items or []
    return [name for name in names_in(text, separator) if name]


def _person(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An author given as an object, its parts under our names for them."""
    person = {field: next((entry[key] for key in keys if entry.get(key)), None) for field, keys in _PERSON.items()}
    if isinstance(person["ids"], dict):
        person |= {kind: person["ids"].get(kind) or person.get(kind) for kind in _IDS}
    return person


def name_of(person: Values) -> str:
    """A name that stands in one cell, or in two."""
    family, given = text_of(person.get("family")), text_of(person.get("given"))
    return text_of(person.get("name")) or (f"{family}, {given}" if family and given else family or given)


def author_of(position: int, name: str, person: Values, notes: list[Note]) -> Author:
    """One author, with what the row or object says about this one."""
    author = Author(
        position, name, label=text_of(person.get("author")) or None, block=text_of(person.get("block")) or None
    )
    if cell := person.get("affiliations"):
        affiliate(author, items_of(cell))
    if cell := person.get("emails"):
        author.emails += [address for item in items_of(cell) for address in addresses_in(text_of(item))]
    for kind in _IDS:
        if cell := person.get(kind):
            identify(author.ids, kind, text_of(cell), notes)
    return author


def _organisation(item: Any) -> str:
    return text_of(
        next((item[key] for key in ("name", "display_name") if key in item), "") if isinstance(item, dict) else item
    )


def affiliate(author: Author, items: Iterable[Any]) -> None:
    """Add affiliations, the e-mail addresses in them where they belong."""
    for item in items:
        give_address(author, _organisation(item))


def identify(ids: dict[str, str], kind: str, text: str, notes: list[Note]) -> None:
    """Add an identifier if it is one."""
    if not text:
        return
    if valid := identifiers.valid(kind, text):
        ids[kind] = valid
    else:
        notes.append(("field", f"{text!r} is no {kind}"))


def _add_parallel(authors: list[Author], values: Values, notes: list[Note]) -> None:
    """Add what other columns say about the authors, each in the same order."""
    for field in ("affiliations", "emails", *_IDS, "author", "block"):
        cell = values.get(field)
        if not cell:
            continue
        items = items_of(cell, "" if field == "affiliations" or _has_names(cell) else ",")
        if not any(map(_holds, items)):
            continue
        for author, item in _assigned(authors, items, field, notes):
            _add(author, field, item, notes)


def _has_names(cell: Any) -> bool:
    return isinstance(cell, str) and "/" in cell and "://" not in cell


def _holds(item: Any) -> bool:
    return bool(text_of(item)) or isinstance(item, dict)


def _assigned(authors: list[Author], items: list[Any], field: str, notes: list[Note]) -> list[tuple[Author, Any]]:
    """Which author each item is of: by the name in it, by order, or because there is no choice."""
    named = _named(items, field)
    if named:
        index = AuthorIndex([[author.name] for author in authors])
        return [(authors[place], item) for name, item in named if (place := index.find(name)) is not None]
    if len(items) == len(authors):
        return list(zip(authors, items, strict=True))
    if len(authors) == 1:
        return [(authors[0], item) for item in (items if field in {"affiliations", "emails"} else items[:1])]
    if len(items) == 1 and field == "affiliations":
        return [(author, items[0]) for author in authors]
    notes.append(("field", f"{len(items)} values in {field} for {len(authors)} authors"))
    return []


def _named(items: list[Any], field: str) -> list[tuple[str, str]]:
    """Items that say whose they are, as in the Web of Science: "Doe, Jane/A-1000-2010", "[Doe, J; Roe, A] Univ. X"."""
    if not all(isinstance(item, str) for item in items):
        return []
    if field == "affiliations":
        found = _BRACKETED.findall(";".join(items)) if "[" in items[0] else []
        return [(name, address.strip(" ;")) for names, address in found for name in names.split(";")]
    if field not in _IDS:
        return []
    parted = [item.strip().rpartition("/") for item in items]
    return [(name, own) for name, slash, own in parted if slash and "." not in name.rpartition("/")[2]]


def _add(author: Author, field: str, item: Any, notes: list[Note]) -> None:
    if field == "affiliations":
        affiliate(author, item if isinstance(item, list) else [item])
    elif field == "emails":
        author.emails += addresses_in(text_of(item))
    elif field == "author":
        author.label = text_of(item) or None
    elif field == "block":
        author.block = text_of(item) or None
    else:
        identify(author.ids, field, text_of(item), notes)
