"""The authors in a row of a table, and what other columns say of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from homonym.records.affiliations import address_and_emails, give_address
from homonym.records.emails import addresses_in
from homonym.records.markup import plain_text
from homonym.records.model import Author, Note
from homonym.records.people import AuthorIndex, is_nobody
from homonym.records.ris_authors import is_group, surname_first
from homonym.records.table_cells import identify, items_of, text_of, written_list
from homonym.records.table_names import names_in

Values = Mapping[str, Any]
"""Field to cell, of one row."""

_BRACKETED = re.compile(r"\[([^\[\]]*+)\]([^\[\]]*+)")
_BEHIND_BRACKETS = re.compile(r"\)\s?;\s?(?=[^();]{2,100}+\()")

_IDS = ("orcid", "researcherid", "scopus", "openalex")
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


def author_list(values: Values, separator: str | None, notes: list[Note]) -> list[Author]:
    """The authors of a row that has all of a document."""
    cell = values.get("authors")
    authors: list[Author] = []
    places: list[int] = []
    groups = 0
    entries = _entries(cell, separator, notes)
    for place, entry in enumerate(entries):
        person = _person(entry) if isinstance(entry, dict) else {"name": entry}
        name = name_of(person)
        if isinstance(entry, str) and is_group(name):
            groups += 1
        elif not is_nobody(name):
            authors.append(author_of(place - groups, name, person, notes))
            places.append(place)
        elif not name and isinstance(cell, list):
            notes.append(("author", f"author {place - groups} has no name"))
    if authors:
        _add_parallel(authors, places, len(entries), values, notes)
        _correspond(authors, text_of(values.get("correspondence")))
    return authors


def _entries(cell: Any, separator: str | None, notes: list[Note]) -> list[Any]:
    if isinstance(cell, dict):
        return [cell]
    if isinstance(cell, list):
        return cell
    text = (cell if isinstance(cell, str) else text_of(cell)).strip()
    if text[:1] in {"[", "{"} and text[-1:] in {"]", "}"} and not is_nobody(text.strip("[]")):
        items = written_list(text if text[0] == "[" else f"[{text}]")
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


def _correspond(authors: list[Author], text: str) -> None:
    """Give the address for letters, "J. Doe, University, e-mail" or "Doe J.; University", to the author it names."""
    name = re.split(r"[,;]", text, maxsplit=1)[0]
    owner = AuthorIndex([[author.name] for author in authors]).find(surname_first(name)) if "@" in text else None
    if owner is not None:
        address, emails = address_and_emails(text[len(name) + 1 :])
        authors[owner].affiliations += [address] if address and address not in authors[owner].affiliations else []
        authors[owner].emails += [email for email in emails if email not in authors[owner].emails]


def _add_parallel(authors: list[Author], places: list[int], total: int, values: Values, notes: list[Note]) -> None:
    """Add what other columns say about the authors, each in the same order."""
    for field in ("affiliations", "emails", *_IDS, "author", "block"):
        cell = values.get(field)
        if not cell:
            continue
        if field == "affiliations" and isinstance(cell, str) and _give_bracketed(authors, plain_text(cell)):
            continue
        items = items_of(cell, "" if field == "affiliations" or _has_names(cell) else ",")
        if not any(map(_holds, items)):
            continue
        if len(items) == total - 1 and isinstance(cell, str) and cell.rstrip().endswith((";", "|")):
            items = [*items, ""]  # which the last author has
        if len(items) == total and not _named(items, field):
            items = [items[place] for place in places]
        for author, item in _assigned(authors, items, field, notes):
            _add(author, field, item, notes)


def _give_bracketed(authors: list[Author], text: str) -> bool:
    """Give "Doe, Jane (University A; University B); Roe, A (…)", as Dimensions writes it; tell whether it is such."""
    if text[-1:] != ")" or "(" not in text:
        return False
    parts = [entry.partition("(") for entry in _BEHIND_BRACKETS.split(text[:-1])]
    index = AuthorIndex([[author.name] for author in authors])
    owner = index.find(parts[0][0].strip())
    if owner is None:
        return False
    for name, bracket, inside in parts:
        found = index.find(name.strip())
        if found is None:  # a bracket within the addresses of the one before
            inside = f"{name}{bracket}{inside}"
        owner = owner if found is None else found
        affiliate(authors[owner], inside.split(";"))
    return True


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
