"""Which column of a table holds which field of a document: as the user says, else as columns are usually named."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import orjson

from homonym.errors import InputError
from homonym.messages import listed
from homonym.records.fields import identifiers
from homonym.records.fields.markup import plain_text
from homonym.records.model import Note

#: Fields and what their columns are called, case and all but letters and digits ignored; the first name found counts.
USUAL: Mapping[str, tuple[str, ...]] = {
    field: tuple(names.split())
    for field, names in {
        "id": "id docid documentid paperid articleid recordid workid publicationid pubid eid utuniquewosid ut lensid "
        "corpusid accessionnumber itemid key",
        "title": "title articletitle documenttitle papertitle worktitle itemtitle ti titel titulo título titre",
        "abstract": "abstract ab abstracttext abstractnote",
        "year": "year publicationyear pubyear py yearpublished publishedyear publicationdate datepublished pubdate "
        "date jahr año ano année annee",
        "venue": "venue journal journaltitle journalname sourcetitle publicationtitle publicationname containertitle "
        "journalbook booktitle so publication conference source sourcetitleanthologytitle "
        "primarylocationsourcedisplayname zeitschrift revista revue "
        "títulodelafuente",
        "categories": "categories category subjects subjectareas subjectarea woscategories wc fieldsofstudy "
        "researchareas fieldsofresearchanzsrc2020 foranzsrccategories primarytopicsubfielddisplayname "
        "primarytopicfielddisplayname concepts",
        "keywords": "keywords keyword authorkeywords de keywordsdisplayname tags manualtags",
        "index_keywords": "indexkeywords keywordsplus automatictags ieeeterms meshterms mesh topicsdisplayname",
        "authors": "authorfullnames af authors authornames authorlist authorslist au creators "
        "authorshipsrawauthorname authorshipsauthordisplayname autoren autores auteurs author creator autor auteur",
        "affiliations": "authorsrawaffiliation authorsaffiliations affiliations affiliation authoraffiliations "
        "authoraffiliation addresses c1 authorshipsrawaffiliationstrings authorinstitutionnames institutions "
        "institution organization organisation org address",
        "emails": "emails email emailaddresses emailaddress authoremails authoremail em",
        "orcid": "orcid orcids orcidid authororcid authororcids authorshipsauthororcid oi",
        "researcherid": "researcherid researcherids ri",
        "scopus": "scopusid scopusids scopusauthorid scopusauthorids authorsid",
        "openalex": "authorshipsauthorid",
        "correspondence": "correspondenceaddress",
        "author": "label authorlabel goldauthor goldlabel trueauthor",
        "block": "block blockkey",
        "doi": "doi di itemdoi digitalobjectidentifier",
        "pmid": "pmid pubmedid pm idspmid",
        "references": "referencedworks referenceids references",
        "referenced_authors": "referencedauthors citedauthors",
        "name": "authorname authorfullname name fullname personname",
        "family": "lastname surname family familyname authorlastname authorsurname",
        "given": "firstname given givenname givennames forename forenames authorfirstname",
        "position": "position authorposition authororder authorsequence sequence",
    }.items()
}

#: What stands between the names of one cell; not a column, but given like one.
SEPARATOR = "separator"

_WORK = frozenset({"title", "year", "doi", "pmid", "venue", "abstract"})
_KEYS = ("id", "doi", "pmid")
_ONE_AUTHOR = frozenset({"author", "creator", "autor", "auteur"})
_ANY_NAME = frozenset({"name", "fullname"})
_IGNORED = re.compile(r"[\W_]+")


def column_key(name: str) -> str:
    """A column's name as it is compared.

    >>> column_key("Publication Year"), column_key("Author(s)"), column_key("article_title")
    ('publicationyear', 'authors', 'articletitle')
    """
    return _IGNORED.sub("", name).lower()


def usual_fields(names: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Field to column, for all fields that the names of the columns tell.

    >>> usual_fields(["DocID", "Author Names", "PY", "remarks"])
    {'id': 'DocID', 'year': 'PY', 'authors': 'Author Names'}
    """
    known: dict[str, str] = {}
    for name in names:
        if name not in taken:
            known.setdefault(column_key(name), name)
    if {"au", "ti"} <= known.keys():  # tags of the Web of Science, among which ID means keywords
        known["keywordsplus"] = known.pop("id", known.get("keywordsplus", ""))
    found = {field: next((known[usual] for usual in USUAL[field] if known.get(usual)), "") for field in USUAL}
    return {field: name for field, name in found.items() if name}


def are_documents(names: Iterable[str]) -> bool:
    """Whether a table with such columns is one of documents; a table of mentions is a result or labels of homonym's.

    >>> are_documents(["Title", "Authors"]), are_documents(["id", "name"]), are_documents(["mention_id", "author"])
    (True, False, False)
    """
    names = list(names)
    fields = usual_fields(names)
    if any(column_key(name) == "mentionid" for name in names):
        return False
    work = _WORK & fields.keys()
    if "authors" in fields:
        return bool(work) or ("id" in fields and column_key(fields["authors"]) not in _ONE_AUTHOR)
    keyed = any(key in fields for key in _KEYS)
    if "name" in fields and column_key(fields["name"]) not in _ANY_NAME:
        return keyed and bool(work | ({"affiliations", "orcid", "position", "author"} & fields.keys()))
    return keyed and ("name" in fields or "family" in fields) and bool({"title", "doi", "pmid"} & fields.keys())


def fields_of(names: tuple[str, ...], columns: Mapping[str, str], file: str) -> dict[str, str]:
    """Field to column: those that the user names, then the usual ones; either `authors` or `name` is among them."""
    given = {field: _column(field, name, names, file) for field, name in columns.items() if field != SEPARATOR}
    fields = usual_fields(names, taken=given.values()) | given
    by_document, by_mention = "authors" in fields, "name" in fields or "family" in fields
    if by_document and by_mention:
        _settle(fields, given, names, file)
    elif not by_document and not by_mention:
        raise InputError(f"{file}: no column is known to hold authors; it has {_shown(names)}. {_ADVICE}")
    if "authors" not in fields and not any(key in fields for key in _KEYS):
        raise InputError(
            f"{file}: each row has one author, but no column says of which document; it has {_shown(names)}. {_ADVICE}"
        )
    return fields


def _settle(fields: dict[str, str], given: Mapping[str, str], names: tuple[str, ...], file: str) -> None:
    """Leave one of two kinds of columns: the one the user names; a column `author` beside one of names is a label."""
    mentioned = {"name", "family"} & given.keys()
    if ("authors" in given) == bool(mentioned) and column_key(fields["authors"]) not in _ONE_AUTHOR:
        seen = [fields[field] for field in ("authors", "name", "family") if field in fields]
        raise InputError(f"{file}: {listed(seen)} may both hold the authors; it has {_shown(names)}. {_ADVICE}")
    if "authors" in given:
        for field in ("name", "family", "given"):
            fields.pop(field, None)
    else:
        column = fields.pop("authors")
        if column_key(column) == "author":
            fields.setdefault("author", column)


def _column(field: str, name: str, names: tuple[str, ...], file: str) -> str:
    if field not in USUAL:
        raise InputError(f"there is no field {field!r} that a column could hold; choose among {listed(list(USUAL))}.")
    alike = [column for column in names if column_key(column) == column_key(name)]
    if name not in names and len(alike) != 1:
        raise InputError(f"{file} has no column {name!r} for {field}; it has {_shown(names)}. {_ADVICE}")
    return name if name in names else alike[0]


_ADVICE = "Name the columns, as in --columns authors=Names,id=Key (or name=Name,id=Key where each row has one author)."


def _shown(names: tuple[str, ...]) -> str:
    shown = [repr(name) for name in names[:20]]
    return ", ".join(shown) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def may_be_one_author(fields: Mapping[str, str]) -> bool:
    """Whether rows may be authors though their column is named like that of a list: `paper_id, author, affiliation`."""
    return column_key(fields.get("authors", "")) in _ONE_AUTHOR and key_of(fields) is not None


def key_of(fields: Mapping[str, str]) -> str | None:
    """The field whose value the rows of one document have in common."""
    return next((key for key in _KEYS if key in fields), None)


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
    text = text.removeprefix(identifiers.OPENALEX_PREFIX)
    if not text:
        return
    if valid := identifiers.normalise(kind, text):
        ids[kind] = valid
    else:
        notes.append(("field", f"{text!r} is no {kind}"))
