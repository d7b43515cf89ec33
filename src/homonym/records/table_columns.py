"""Which column of a table holds which field of a document: as the user says, else as columns are usually named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from homonym.errors import InputError
from homonym.wording import listed

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


def folded(name: str) -> str:
    """A column's name as it is compared.

    >>> folded("Publication Year"), folded("Author(s)"), folded("article_title")
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
            known.setdefault(folded(name), name)
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
    if any(folded(name) == "mentionid" for name in names):
        return False
    work = _WORK & fields.keys()
    if "authors" in fields:
        return bool(work) or ("id" in fields and folded(fields["authors"]) not in _ONE_AUTHOR)
    keyed = any(key in fields for key in _KEYS)
    if "name" in fields and folded(fields["name"]) not in _ANY_NAME:
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
    if ("authors" in given) == bool(mentioned) and folded(fields["authors"]) not in _ONE_AUTHOR:
        seen = [fields[field] for field in ("authors", "name", "family") if field in fields]
        raise InputError(f"{file}: {listed(seen)} may both hold the authors; it has {_shown(names)}. {_ADVICE}")
    if "authors" in given:
        for field in ("name", "family", "given"):
            fields.pop(field, None)
    else:
        column = fields.pop("authors")
        if folded(column) == "author":
            fields.setdefault("author", column)


def _column(field: str, name: str, names: tuple[str, ...], file: str) -> str:
    if field not in USUAL:
        raise InputError(f"there is no field {field!r} that a column could hold; choose among {listed(list(USUAL))}.")
    alike = [column for column in names if folded(column) == folded(name)]
    if name not in names and len(alike) != 1:
        raise InputError(f"{file} has no column {name!r} for {field}; it has {_shown(names)}. {_ADVICE}")
    return name if name in names else alike[0]


_ADVICE = "Name the columns, as in --columns authors=Names,id=Key (or name=Name,id=Key where each row has one author)."


def _shown(names: tuple[str, ...]) -> str:
    shown = [repr(name) for name in names[:20]]
    return ", ".join(shown) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def may_be_one_author(fields: Mapping[str, str]) -> bool:
    """Whether rows may be authors though their column is named like that of a list: `paper_id, author, affiliation`."""
    return folded(fields.get("authors", "")) in _ONE_AUTHOR and key_of(fields) is not None


def key_of(fields: Mapping[str, str]) -> str | None:
    """The field whose value the rows of one document have in common."""
    return next((key for key in _KEYS if key in fields), None)
