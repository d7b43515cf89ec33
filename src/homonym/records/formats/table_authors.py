"""The authors in the rows of a table: lists of names, and the columns with their affiliations and identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from homonym.errors import counted
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import add_address, address_and_emails, emails_in
from homonym.records.fields.contributors import note_contributor
from homonym.records.fields.exported_ids import KIND as HOMONYM
from homonym.records.fields.key_names import column_key
from homonym.records.fields.markup import plain_text
from homonym.records.fields.name_lists import (
    INITIAL_FIRST,
    MEDLINE_NAME,
    OTHERS,
    between_commas,
    doubt_note,
    is_cut,
    is_list_like,
    is_surname_and_given_names,
    is_unclear_break,
    is_whole_name,
    marks_note,
    may_be_two_names,
    names_in_lines,
    names_in_list,
    paired,
    split_note,
    without_leading_and,
)
from homonym.records.fields.name_remarks import parts_between_footnotes, without_footnotes
from homonym.records.fields.people import (
    EMPLOYER_WORD,
    GROUP_WORD,
    AuthorIndex,
    folded,
    is_group,
    is_placeholder,
    surname_first,
)
from homonym.records.formats.table_columns import as_written_list, items_of, text_of, written_list
from homonym.records.model import Author, Note, require_few_authors

# Separator of PubMed's lists: commas between "Doe JA", and semicolons only around groups.
COMMAS = ", "

# Separator of SpringerLink's lists, which have none: "Jane DoeRichard Roe".
FUSED = "fused"

_SEPARATORS = (";", "|", "//", " and ")

# What may separate names, and its maximum number in a name such as "Doe, J., Jr.".
_LIST_MARKS, _MARKS_PER_NAME = (*_SEPARATORS, ","), 3

# Minimum number of names in lists that show whether names have commas.
_FEWEST_NAMES = 3

_HOST = re.compile(r"[\w.-]+\.[a-z]{2,}")
_PUBMED_END = re.compile(r"\s[A-Z]{1,4}\.$")  # its lists end with a full stop
_FUSED = re.compile(
    r"(?<=[^\W\d_A-Z])(?<!\bMc)(?<!\bMac)(?<!\bDe)(?<!\bDi)(?<!\bLa)(?<!\bLe)(?<!\bVan)(?<!\bFitz)"
    r"(?=[A-ZÀ-ÖØ-ÞČĆĐŁŚŞŠŽŻİ]\w{0,30}[.\s-])"
)
_AND = re.compile(r",?\s&\s")
_INITIAL = re.compile(r"\b[^\W\d_]\.")
# Signs of footnotes, and DSpace's "Doe, Jane::key::600".
_MARKED = re.compile(r"[*#^0-9]|\([a-h][),]|\[[a-h][\],]| [a-h](?:[,;]|$)")
_MARKED_BY_SIGNS = re.compile(r"[†‡§¶‖¹²³⁰-⁹]")
_AUTHORITY = re.compile(r"::[\w-]{1,80}::-?\d{1,4}(?=\||$)")
_MARK_OUTSIDE_BRACKETS = re.compile(r";(?![^();]{0,200}+(?:;[^();]{0,200}+){0,9}+\))")
_ELLIPSIS = re.compile(r"\s?(?:…|\.{3})$")


def separator_in(cells: Iterable[Any]) -> str | None:
    """The separator between the names in a column of lists, judged by its first cells; None if it can only be a comma.

    >>> separator_in(["Doe, J", "Doe, J; Roe, A"]), separator_in(["Doe, J and Roe, A"]), separator_in(["J Doe, A Roe"])
    (';', ' and ', None)
    """
    texts = [cell.strip(" ;|") for cell in _without_marks(cells) if cell[:1] not in {"[", "{"}]
    with_semicolon = [text for text in texts if ";" in text]
    if with_semicolon and 2 * sum(map(_is_medline_list, with_semicolon)) < len(with_semicolon):
        return ";"
    if sum(map(_is_medline_list, texts)) > sum(not _is_medline_list(text) for text in with_semicolon):
        return COMMAS if with_semicolon else None
    return next((mark for mark in _SEPARATORS if any(mark in text and "://" not in text for text in texts)), None)


def _is_medline_list(text: str) -> bool:
    """Whether commas separate the names, possibly with semicolons around groups."""
    return any("," in part and _all_medline(part.split(",")) for part in text.split(";"))


def _all_medline(parts: list[str]) -> bool:
    return all(MEDLINE_NAME.fullmatch(part.strip()) for part in parts)


def have_commas(cells: Iterable[Any], separator: str | None) -> bool | None:
    """Whether names in lists with this separator have commas; if not, a comma in another cell separates names.

    Without a separator, cells such as "Doe, Jane" show that names have commas, and "J Doe, A Roe, B Poe" that commas
    separate names; None if no cell shows it.

    >>> have_commas(["Doe, J; Roe, R"], ";"), have_commas(["Jane Doe; R Roe; A Poe"], ";"), have_commas(["Doe, J"], ";")
    (True, False, True)
    >>> [have_commas([cell], None) for cell in ("Doe, Jane", "J Doe, A Roe, B Poe", "J Doe, A Roe")]
    [True, False, None]
    """
    if separator is None:
        texts = (cell for cell in _without_marks(cells) if "," in cell)
        return _names_have_commas([line for text in texts for line in names_in_lines(text)])
    lists = [cell for cell in _without_marks(cells) if separator and separator in cell.strip(" ;|")]
    names = [name for cell in lists for name in cell.split(separator) if name.strip()]
    return len(names) < _FEWEST_NAMES or 10 * sum("," in name for name in names) > len(names)


def _names_have_commas(cells: Sequence[str]) -> bool | None:
    parts = [[part.strip() for part in cell.strip(" ,").split(",")] for cell in cells if not _is_medline_list(cell)]
    if len(parts) < len(cells) or any(len(one) > 2 and all(" " in part for part in one) for one in parts):
        return False
    return True if any(len(one) == 2 and not all(" " in part for part in one) for one in parts) else None


def names_in(cell: str, separator: str | None, *, with_commas: bool | None = True) -> list[str]:
    """The names in one text; `with_commas` is whether commas are part of the names of this table, None if unknown.

    >>> names_in("Doe, Jane", None), names_in("J. Doe, A. B. Roe", None), names_in("Doe J, Roe AB.", None)
    (['Doe, Jane'], ['J. Doe', 'A. B. Roe'], ['Doe J', 'Roe AB'])
    >>> names_in("Doe, J., Roe, A.", None), names_in("Doe, J and Roe, A", " and ")
    (['Doe, J.', 'Roe, A.'], ['Doe, J', 'Roe, A'])
    >>> names_in("J. Doe and A. Roe", None), names_in("Food and Drug Administration", None)
    (['J. Doe', 'A. Roe'], ['Food and Drug Administration'])
    >>> names_in("Doe J, Roe AB; Study Group.", COMMAS), names_in("Jane McDoeRichard RoeXiao-Li Wu", FUSED)
    (['Doe J', 'Roe AB', 'Study Group'], ['Jane McDoe', 'Richard Roe', 'Xiao-Li Wu'])
    >>> names_in("Jane Doe, Jim Roe", None, with_commas=False), names_in("Martín García, Ana Belén", None)
    (['Jane Doe', 'Jim Roe'], ['Martín García, Ana Belén'])
    >>> names_in("Jane Doe, John Smith, Wei Wang", ";"), names_in("Martín García, Ana Belén", ";")
    (['Jane Doe', 'John Smith', 'Wei Wang'], ['Martín García, Ana Belén'])
    """
    first, *rest = names_in_lines(cell)
    names = _names_in_line(first, separator, with_commas)
    for line in rest:
        names += _names_in_line(line, separator, with_commas)
    return names


def has_marks(text: str) -> bool:
    """Whether a text may have marks of footnotes; a property of characters, so that it is quick."""
    return bool(_MARKED.search(text) or (not text.isascii() and _MARKED_BY_SIGNS.search(text)))


def _without_marks(cells: Iterable[Any]) -> list[str]:
    """The texts among the cells, without marks of footnotes, whose commas are not those of names."""
    return [without_footnotes(cell) if has_marks(cell) else cell for cell in cells if isinstance(cell, str)]


def _names_in_line(line: str, separator: str | None, with_commas: bool | None) -> list[str]:
    text = _ELLIPSIS.sub("", plain_text(line))
    if "::" in text:
        text = _AUTHORITY.sub("", text)
    if has_marks(text):
        parts = parts_between_footnotes(text)
        text = without_footnotes(text).strip()
        if separator in {None, ";"} and len(parts) > 1:  # "Jane Doe1, Ann Roe2"
            names = [name.strip() for part in parts for name in part.strip(" ;").split(";")]
            if all(map(is_whole_name, names)):
                return names
    if separator == COMMAS:
        return [name for part in text.rstrip(".").split(";") for name in _names_between_commas(part.strip())]
    if separator == FUSED:
        return _FUSED.split(text)
    if separator == " and " and _is_comma_list(text):
        separator, text = None, text.replace(", and ", ", ").replace(" and ", ", ")
    elif separator and (separator not in text or (separator == " and " and is_group(text))):
        return _names_without(text, with_commas)
    elif separator is None:
        if len(found := names_in_list(text)) > 1:
            return list(found)
        separator = next((mark for mark in (";", "|") if mark in text), None)
        if separator is None and with_commas and _may_be_one_name(text.strip(" ,")):
            return [text.strip(" ,")]
        if separator is None and _is_pair(text):
            separator = " and "
    names = _split(text, separator) if separator else _names_between_commas(text)
    parts = [name.strip(" ,;|") for name in names]
    if not is_list_like("\n".join(parts)):  # as nearly always
        return parts
    return [name for part in parts for name in names_in_list(without_leading_and(part))]


def _split(text: str, separator: str) -> list[str]:
    """The parts of a text between separators outside of brackets: "Doe, J (MIT; ETH); Roe, R" are two."""
    return _MARK_OUTSIDE_BRACKETS.split(text) if "(" in text and separator == ";" else text.split(separator)


def _may_be_one_name(text: str) -> bool:
    """Whether a text with one comma may be one name, unlike "Doe J, Roe A" and "J. Doe, A. Roe"."""
    parts = [part.strip() for part in text.split(",")]
    return len(parts) == 2 and not _is_medline_list(text) and not all(map(INITIAL_FIRST.match, parts))


def _names_without(text: str, with_commas: bool | None) -> list[str]:
    """The names in a text that lacks the separator of its table: mostly one, but some cells have another separator."""
    text = text.strip(" ,;|")
    found = names_in_list(text) if is_list_like(text) else (text,)
    if len(found) == 1 and "," in text and with_commas is False:
        found = tuple(_names_between_commas(text))
    return list(found)


def _is_pair(text: str) -> bool:
    """Whether "and" joins names with initials, unlike the words of an organisation."""
    names = text.split(" and ")
    return len(names) > 1 and "," not in text and all(map(_INITIAL.search, names))


def _is_comma_list(text: str) -> bool:
    """Whether "and" only precedes the last name, as in "J. Doe, A. Roe and B. Poe", unlike "Doe, J and Roe, A"."""
    first, *others = text.split(" and ")
    if not others:
        return "," in text and _all_medline(text.split(","))
    return len(others) == 1 and "," not in others[0] and ("," in first) and " " in others[0].strip()


def _names_between_commas(text: str) -> list[str]:
    if "&" in text and not is_group(text):
        text = _AND.sub(", ", text)
    if text.count(".") == 1 and _PUBMED_END.search(text):
        text = text[:-1]
    parts = between_commas(text)
    if len(parts) == 2 and (not all(" " in part for part in parts) or is_surname_and_given_names(parts)):
        return [", ".join(parts)]
    return paired(parts) or parts


Values = Mapping[str, Any]
"""Field to cell of one row; several columns of authors are under `authors` and MORE_AUTHORS, which is a list."""

MORE_AUTHORS = "more authors"

_BRACKETED = re.compile(r"\[([^\[\]]*+)\]([^\[\]]*+)")
_PARENTHESISED = re.compile(r"(?:^|;)\s?\(([^()]{2,2000}+)\)\s")
_BEHIND_BRACKETS = re.compile(r"\)\s?;\s?(?=[^();]{2,100}+\()")

_IDS = ("orcid", "researcherid", "isni", "scopus", "openalex")
# The keys of an author that is given as an object, as `column_key` writes them.
_PERSON = {
    "name": ("name", "fullname", "displayname", "authorname", "rawauthorname"),
    "family": ("family", "last", "lastname", "surname", "familyname"),
    "given": ("given", "first", "firstname", "forename", "givenname", "givennames"),
    "affiliations": ("affiliations", "affiliation", "institutions", "institution", "org", "orgs"),
    "emails": ("emails", "email"),
    "author": ("author", "label"),
    "block": ("block",),
    **{kind: (kind, f"{kind}id") for kind in _IDS},
    "ids": ("ids",),
}


class ListNotation(NamedTuple):
    """How a table writes lists of authors: the separator, and whether the names have commas; None if unknown."""

    separator: str | None = None
    with_commas: bool | None = True


def author_list(values: Values, notation: ListNotation, notes: list[Note]) -> list[Author]:
    """The authors of a row that describes a whole document; they may be in several columns."""
    cell = values.get("authors")
    authors: list[Author] = []
    places: list[int] = []
    more = values.get(MORE_AUTHORS, ())
    entries = [entry for one in (cell, *more) for entry in _entries(one, notation, notes)]
    require_few_authors(len(entries))
    for place, entry in enumerate(entries):
        person = _person(entry) if isinstance(entry, dict) else None
        name = name_of(person) if person else text_of(entry)
        if folded(name) and (is_placeholder(name) or (isinstance(entry, str) and is_group(name))):
            note_contributor(name, notes)
        elif not is_placeholder(name):
            authors.append(author_of(place, name, person, notes) if person else Author(place, name))
            places.append(place)
        elif not name and isinstance(cell, list):
            notes.append(("author", f"author {place} has no name"))
    if authors:
        _add_parallel(authors, places, len(entries), values, notes)
        _add_corresponding(authors, text_of(values.get("correspondence")))
    return authors


def _entries(cell: Any, notation: ListNotation, notes: list[Note]) -> list[Any]:
    if isinstance(cell, dict):
        return [cell]
    if isinstance(cell, list):
        return cell
    text = as_written_list((cell if isinstance(cell, str) else text_of(cell)).strip())
    if text[:1] in {"[", "{"} and text[-1:] in {"]", "}"} and not is_placeholder(text.strip("[]")):
        items = written_list(text if text[0] == "[" else f"[{text}]")
        if items is None:
            notes.append(("field", "the list of authors is neither JSON nor names with separators"))
        return items or []
    require_few_authors(max(map(text.count, _LIST_MARKS)) // _MARKS_PER_NAME)
    names = [name for name in names_in(text, notation.separator, with_commas=notation.with_commas) if name]
    if is_cut(text) and not any(map(is_placeholder, names)):
        note_contributor(OTHERS, notes)
    if has_marks(text) and without_footnotes(text) != text:
        notes.append(("warning", marks_note(text)))
    # "Jane Doe, John Smith" may be two people, but "Martín García, Ana Belén" is one: the table decides.
    is_open = notation.with_commas is not False and may_be_two_names(text)
    if (is_open and len(names) == 1) or ("\n" in text and is_unclear_break(text)):
        notes.append(("warning", doubt_note(text)))
    elif is_open:
        notes.append(("warning", split_note(text, len(names))))
    return _with_affiliations(names) if "," in text and EMPLOYER_WORD.search(text) else names


def _with_affiliations(names: list[str]) -> list[Any]:
    """The entries of "Jane Doe, University of Oz; Ann Roe, ETH", if all are such; otherwise the names.

    >>> _with_affiliations(["Jane Doe, University of Oz", "Ann Roe, ETH"])[1]
    {'name': 'Ann Roe', 'affiliations': ['ETH']}
    >>> _with_affiliations(["Doe, Jane, University of Oz"]), _with_affiliations(["Doe, Jane", "Museum of Oz, Wales"])
    ([{'name': 'Doe, Jane', 'affiliations': ['University of Oz']}], ['Doe, Jane', 'Museum of Oz, Wales'])
    """
    for commas in (1, 2):
        parts = [name.split(",", commas) for name in names]
        people = [", ".join(map(str.strip, part[:commas])) for part in parts]
        if all(len(part) > commas and part[-1].strip() for part in parts) and all(map(_is_person, people)):
            return [
                {"name": name, "affiliations": [part[-1].strip()]} for name, part in zip(people, parts, strict=True)
            ]
    return names


def _is_person(name: str) -> bool:
    return is_whole_name(name) and not GROUP_WORD.search(name)


def _person(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An author given as an object, with our names of its fields."""
    values = {column_key(key): value for key, value in entry.items() if value}
    person = {field: next((values[key] for key in keys if key in values), None) for field, keys in _PERSON.items()}
    if isinstance(person["ids"], dict):
        person |= {kind: person["ids"].get(kind) or person.get(kind) for kind in _IDS}
    return person


def name_of(person: Values) -> str:
    """A name from one cell, or from one for the family name and one for given names."""
    family, given = text_of(person.get("family")), text_of(person.get("given"))
    return text_of(person.get("name")) or (f"{family}, {given}" if family and given else family or given)


def author_of(position: int, name: str, person: Values, notes: list[Note]) -> Author:
    """One author with the affiliations, e-mail addresses, identifiers and labels of a row or object."""
    author = Author(
        position, name, label=text_of(person.get("author")) or None, block=text_of(person.get("block")) or None
    )
    if cell := person.get("affiliations"):
        add_affiliations(author, items_of(cell))
    if cell := person.get("emails"):
        author.emails += [address for item in items_of(cell) for address in emails_in(text_of(item))]
    for kind in _IDS:
        if cell := person.get(kind):
            identifiers.add(author.ids, kind, text_of(cell), notes)
    if cell := person.get(HOMONYM):
        author.ids[HOMONYM] = str(cell).strip()
    return author


def _organisation(item: Any) -> str:
    return text_of(
        next((item[key] for key in ("name", "display_name") if key in item), "") if isinstance(item, dict) else item
    )


def add_affiliations(author: Author, items: Iterable[Any]) -> None:
    """Add affiliations, given as texts or objects, and the e-mail addresses in them."""
    for item in items:
        add_address(author, _organisation(item))


def _add_corresponding(authors: list[Author], text: str) -> None:
    """Add the correspondence address, "J. Doe, University, e-mail" or "Doe J.; University", to the author it names."""
    name = re.split(r"[,;]", text, maxsplit=1)[0]
    owner = AuthorIndex([[author.name] for author in authors]).find(surname_first(name)) if "@" in text else None
    if owner is not None:
        address, emails = address_and_emails(text[len(name) + 1 :])
        authors[owner].affiliations += [address] if address and address not in authors[owner].affiliations else []
        authors[owner].emails += [email for email in emails if email not in authors[owner].emails]


def _add_parallel(authors: list[Author], places: list[int], total: int, values: Values, notes: list[Note]) -> None:
    """Add the values of other columns that list one value per author, in the same order."""
    for field in ("affiliations", "emails", *_IDS, "author", "block"):
        cell = values.get(field)
        if not cell:
            continue
        if field == "affiliations" and isinstance(cell, str):
            text = plain_text(cell)
            if _add_bracketed(authors, text) or _add_parenthesised(authors, text):
                continue
        items = items_of(cell, "" if field == "affiliations" or _has_names(cell) else ",")
        if not any(map(_is_given, items)):
            continue
        if len(items) == total - 1 and isinstance(cell, str) and cell.rstrip().endswith((";", "|")):
            items = [*items, ""]  # the value of the last author is empty
        if len(items) == total and not _named_items(items, field):
            items = [items[place] for place in places]
        for author, item in _assigned(authors, items, field, notes):
            if _is_given(item):  # ADS has "-" for authors without ORCID
                _add(author, field, item, notes)


def _add_bracketed(authors: list[Author], text: str) -> bool:
    """Add the affiliations of "Doe, Jane (University A; University B); Roe, A (…)", as Dimensions writes them.

    Returns false if the text is not written so.
    """
    if text[-1:] != ")" or "(" not in text:
        return False
    parts = [entry.partition("(") for entry in _BEHIND_BRACKETS.split(text[:-1])]
    index = AuthorIndex([[author.name] for author in authors])
    owner, expected = None, 0
    for number, (name, bracket, inside) in enumerate(parts):
        found = _bracketed_owner(authors, index, name.strip(), expected)
        if found is not None:
            owner, expected = found, found + 1
        elif index.knows(name):  # the name of several authors: it is not known whose addresses these are
            owner = None
        elif number == 0:
            return False
        else:  # a bracket within the addresses of the author before
            inside = f"{name}{bracket}{inside}"
        if owner is not None:
            add_affiliations(authors[owner], inside.split(";"))
    return True


def _bracketed_owner(authors: list[Author], index: AuthorIndex, name: str, expected: int) -> int | None:
    """The author whose addresses follow a name; of two authors with the same name, the one who is expected here."""
    if expected < len(authors) and authors[expected].name == name:
        return expected
    return index.find(name)


def _add_parenthesised(authors: list[Author], text: str) -> bool:
    """Add the affiliations of "(Doe J., j@x.org; Roe A.) University A; (Poe B.) University B", as Embase writes them.

    Returns false if the text is not written so.
    """
    parts = _PARENTHESISED.split(text)
    if len(parts) < 3 or parts[0].strip():
        return False
    index = AuthorIndex([[author.name] for author in authors])
    for names, address in zip(parts[1::2], parts[2::2], strict=True):
        for entry in names.split(";"):
            name, emails = address_and_emails(entry)
            place = index.find(name.rstrip(" ,"))
            if place is None:
                place = index.find(f"{name.rstrip(' ,')}.")
            if place is not None:
                add_affiliations(authors[place], [address.strip(" ;")])
                authors[place].emails += [email for email in emails if email not in authors[place].emails]
    return True


def _has_names(cell: Any) -> bool:
    return isinstance(cell, str) and "/" in cell and "://" not in cell


def _is_given(item: Any) -> bool:
    return text_of(item) not in {"", "-"} or isinstance(item, dict)


def _assigned(authors: list[Author], items: list[Any], field: str, notes: list[Note]) -> list[tuple[Author, Any]]:
    """The author of each item: by the name in it, by order, or because there is only one author or affiliation."""
    named = _named_items(items, field)
    if named:
        index = AuthorIndex([[author.name] for author in authors])
        return [(authors[place], item) for name, item in named if (place := index.find(name)) is not None]
    if len(items) == len(authors):
        return list(zip(authors, items, strict=True))
    if len(authors) == 1:
        return [(authors[0], item) for item in (items if field in {"affiliations", "emails"} else items[:1])]
    if len(items) == 1 and field == "affiliations":
        return [(author, items[0]) for author in authors]
    found = f"{counted(len(items), 'value')} for {counted(len(authors), 'author')}"
    notes.append(("field", f"{field} has {found}, so it is unclear whose they are"))
    return []


def _named_items(items: list[Any], field: str) -> list[tuple[str, str]]:
    """Items with names, as in the Web of Science: "Doe, Jane/A-1000-2010", "[Doe, J; Roe, A] Univ. X"."""
    if not all(isinstance(item, str) for item in items):
        return []
    if field == "affiliations":
        found = _BRACKETED.findall(";".join(items)) if "[" in items[0] else []
        return [(name, address.strip(" ;")) for names, address in found for name in names.split(";")]
    if field not in _IDS:
        return []
    pairs = [item.strip().rpartition("/") for item in items]
    return [
        (name, own)
        for name, slash, own in pairs
        if slash and "://" not in name and not _HOST.fullmatch(name.rpartition("/")[2])
    ]


def _add(author: Author, field: str, item: Any, notes: list[Note]) -> None:
    if field == "affiliations":
        add_affiliations(author, item if isinstance(item, list) else items_of(item))
    elif field == "emails":
        author.emails += emails_in(text_of(item))
    elif field == "author":
        author.label = text_of(item) or None
    elif field == "block":
        author.block = text_of(item) or None
    else:
        identifiers.add(author.ids, field, text_of(item), notes)
