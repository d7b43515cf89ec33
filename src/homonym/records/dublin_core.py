"""Dublin Core, in which repositories describe what they have: few fields, filled in many ways."""

from __future__ import annotations

import re
from functools import lru_cache

from homonym.records import identifiers
from homonym.records.affiliations import give_address
from homonym.records.latex import to_text
from homonym.records.model import Author, Document, Note, Parsed, publication_year
from homonym.records.xml_stream import (
    Leaf,
    leaf_text,
)

_ARXIV = re.compile(
    r"(?:^oai:arxiv\.org:|arxiv\.org/abs/|^arxiv:)((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z-]{2,9})?/\d{7}))", re.IGNORECASE
)
_YEAR = re.compile(r"(?<!\d)((?:1[4-9]|20)\d\d)(?:\d{4})?(?!\d)")
_WORDS = re.compile(r"[^\W\d_]{2} [^\W\d_]{2}")

# The years of a person's life, as library catalogues add them to the name.
_LIFE = re.compile(r"[,\s]{0,4}+\(?(?:b\. ?|born )?1\d{3} ?[-–] ?(?:\d{4})?\)?\.?$")
_ORCID = re.compile(
    r"[\s,;(\[]{0,4}+(?:orcid(?: id)?[:\s]{0,4}+)?(?:https?://)?(?:orcid\.org/)?"
    r"\b\d{4}-?\d{4}-?\d{4}-?\d{3}[\dX]\b[)\]\s]{0,4}+",
    re.IGNORECASE,
)
_PERSON = re.compile(r"[^,\d]{1,40}, ?[^,\d]{1,40}|[^\W\d_][^\s,\d]*(?: [^\s,\d]+){1,4}")
_PLACE = re.compile(
    r"univ|instit|depart|dept|college|school|facult|academ|hospital|clinic|cent(?:er|re|ro)\b|laborat|ministr|council"
    r"|escuela|zentrum|hochschule|politec|polytec|company|research|corporation",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"\W*+(?:anon|anonymous|unknown|author unknown|et\.? ?al|and others|n/?a|null|none|no author\b[\w\s]{0,20})?\W*+",
    re.IGNORECASE,
)

#: Remarks on pages, theses and sponsors are not longer.
_LONGEST_REMARK = 120

#: Subjects of arXiv that are not written "Field - Part".
_WHOLE_FIELDS = {
    "General Relativity and Quantum Cosmology",
    "Mathematical Physics",
    "Nuclear Experiment",
    "Nuclear Theory",
    "Quantum Physics",
}

_TAKEN = frozenset(
    {"abstract", "creator", "date", "description", "identifier", "issued", "publisher", "source", "subject", "title"}
)

Fields = dict[str, list[str]]


def parse_dublin_core(leaves: list[Leaf], *, has_header: bool) -> Parsed:
    """Read the description of one document; the header of a harvest has the name by which the repository knows it."""
    fields: Fields = {}
    creators: list[tuple[str, str]] = []
    for prefixed, attributes, text in leaves:
        name = _field(prefixed)
        if name == "creator":
            creators.append((attributes, text))
        elif name and (plain := leaf_text(text)):
            if name in fields:
                fields[name].append(plain)
            else:
                fields[name] = [plain]
    notes: list[Note] = []
    names = fields.get("identifier", [])
    identifier = names[0] if names and has_header else ""
    paper = _arxiv_number(names)
    subjects = fields.get("subject", [])
    categories = [subject for subject in subjects if " - " in subject or subject in _WHOLE_FIELDS] if paper else []
    document = Document(
        id=paper or identifier,
        authors=_authors(creators, notes),
        title=_plain(fields["title"][0]) if "title" in fields else "",
        abstract=_abstract(fields),
        year=_year(fields, notes),
        venue=_venue(fields, names[1:], paper=bool(paper)),
        categories=categories,
        keywords=_keywords(subjects, categories),
        ids=_ids(identifier, paper, names),
    )
    return document, notes


@lru_cache(maxsize=1 << 10)
def _field(prefixed: str) -> str:
    """The field that an element is, whatever the prefix of its name; empty for what is not taken."""
    name = prefixed.rpartition(":")[2]
    return name if name in _TAKEN else ""


def _plain(text: str) -> str:
    return to_text(text) if "\\" in text or "$" in text else text


def _arxiv_number(names: list[str]) -> str:
    for name in names:
        if ("rxiv" in name or "RXIV" in name) and (found := _ARXIV.search(name)):
            return found[1]
    return ""


def _abstract(fields: Fields) -> str:
    """The first long description, as catalogues put pages and remarks there; arXiv's comments are none at all."""
    given = fields.get("description", []) + fields.get("abstract", [])
    texts = [text for text in given if not text.startswith("Comment:")]
    return next((text for text in texts if len(text) > _LONGEST_REMARK), texts[0] if texts else "")


def _keywords(subjects: list[str], categories: list[str]) -> list[str]:
    """Free keywords, of which some journals put all into one subject."""
    words = (word.strip() for subject in subjects if subject not in categories for word in subject.split(";"))
    return [*filter(None, dict.fromkeys(words))]


def _year(fields: Fields, notes: list[Note]) -> int | None:
    """The earliest year: the others are those of later versions, or of the arrival in the repository."""
    dates = fields.get("date") or fields.get("issued") or []
    found = [int(year[1]) for date in dates if (year := _YEAR.match(date) or _YEAR.search(date))]
    return min(found) if found else publication_year(dates[0] if dates else None, notes)


def _venue(fields: Fields, names: list[str], *, paper: bool) -> str:
    """The journal, which arXiv gives as one more identifier and others as source, with volume and pages behind it."""
    if paper:
        return next((name for name in names if "://" not in name and _WORDS.search(name)), "")
    journals = [source.partition(";")[0].strip() for source in fields.get("source", ()) if _WORDS.search(source)]
    return next(iter(journals + fields.get("publisher", [])), "")


def _ids(identifier: str, paper: str, names: list[str]) -> dict[str, str]:
    ids = {"oai": identifier} if identifier else {}
    if paper:
        ids["arxiv"] = paper
    for name in names:
        if "10." in name and (doi := identifiers.doi(name)):
            return ids | {"doi": doi}
    return ids


def _authors(creators: list[tuple[str, str]], notes: list[Note]) -> list[Author]:
    authors: list[Author] = []
    for attributes, text in creators:
        names, places, orcid = people_in(text)
        for name in names:
            authors.append(author := Author(len(authors), name))
            for place in places:
                give_address(author, place)
        if len(names) == 1 and (given := orcid or attributes):
            _add_orcid(authors[-1], given, notes)
    return authors


def _add_orcid(author: Author, given: str, notes: list[Note]) -> None:
    """Add an ORCID from the text of a creator or from one of its attributes, if there is any."""
    if valid := identifiers.orcid(given):
        author.ids["orcid"] = valid
    elif _ORCID.search(given):
        notes.append(("field", f"{given.strip()!r} is no ORCID"))


@lru_cache(maxsize=1 << 14)
def people_in(text: str) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """The names in one creator, mostly one and rarely several, then the places and the ORCID that one comes with.

    >>> people_in("Doe, Jo (1950-); University of Oslo"), people_in("Doe, Jo; Roe, Al")
    ((('Doe, Jo',), ('University of Oslo',), ''), (('Doe, Jo', 'Roe, Al'), (), ''))
    >>> people_in("Doe, Jo [0000-0002-1825-0097]"), people_in("Anonymous")
    ((('Doe, Jo',), (), ' [0000-0002-1825-0097]'), ((), (), ''))
    """
    text = leaf_text(text)
    orcid = _ORCID.search(text)
    pieces = [piece.strip() for piece in (_ORCID.sub(";", text) if orcid else text).split(";") if piece.strip()]
    if not pieces or _NOBODY.fullmatch(pieces[0]):
        return (), (), ""
    if len(pieces) > 1 and _are_people(pieces):
        return tuple(map(_name, pieces)), (), ""
    return (_name(pieces[0]) or pieces[0],), tuple(pieces[1:]), orcid[0] if orcid else ""


def _are_people(pieces: list[str]) -> bool:
    """Whether all pieces are names, written in one way: journals put an author's place behind the same semicolon."""
    commas = {"," in piece for piece in pieces}
    return len(commas) == 1 and all(_PERSON.fullmatch(piece) and not _PLACE.search(piece) for piece in pieces)


def _name(text: str) -> str:
    return _LIFE.sub("", _plain(text)).strip(" ,")
