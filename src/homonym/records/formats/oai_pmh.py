"""Harvests over OAI-PMH: arXiv in its own formats, any repository in Dublin Core; and answers of arXiv's API.

Harvesters save the answers of a repository to verb=ListRecords as XML files. Reads title, abstract, year, venue,
categories, keywords, DOI, arXiv number and OAI identifier, and per author name, affiliations, e-mail and ORCID.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import orjson

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import add_address
from homonym.records.fields.markup import latex_to_text
from homonym.records.fields.people import folded
from homonym.records.formats import arxiv
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.splitting import Raw, decoded
from homonym.records.parsing.xml_stream import (
    PREFIX,
    Leaf,
    LeafReader,
    cut_records,
    is_xml,
    leaf_text,
    prefixes_of,
    start_of,
)
from homonym.records.reader import Columns, Format, Records

_ARXIV = re.compile(rf"(?:^oai:arxiv\.org:|arxiv\.org/abs/|^arxiv:)({identifiers.ARXIV_NUMBER})", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)((?:1[4-9]|20)\d\d)(?:\d{4})?(?!\d)")
_WORDS = re.compile(r"[^\W\d_]{2} [^\W\d_]{2}")

# Years of birth and death, which library catalogues add to a name.
_LIFE = re.compile(r"[,\s]{0,4}+\(?(?:b\. ?|born )?1\d{3} ?[-–] ?(?:\d{4})?\)?\.?$")
_PERSON = re.compile(r"[^,\d]{1,40}, ?[^,\d]{1,40}|[^\W\d_][^\s,\d]*(?: [^\s,\d]+){1,4}")
_PLACE = re.compile(
    r"univ|instit|depart|dept|college|school|facult|academ|hospital|clinic|cent(?:er|re|ro)\b|laborat|ministr|council"
    r"|escuela|zentrum|hochschule|politec|polytec|company|research|corporation",
    re.IGNORECASE,
)

# Maximum length of remarks on pages, theses and sponsors; abstracts are longer.
_LONGEST_REMARK = 120

# Subjects of arXiv that do not have the form "Field - Part".
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
    """Read one document in Dublin Core. With a header, the first identifier is the OAI identifier of the repository."""
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
        authors=_dublin_core_authors(creators, notes),
        title=_without_latex(fields["title"][0]) if "title" in fields else "",
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
    """The field of an element name with any prefix; empty if the field is not used."""
    name = prefixed.rpartition(":")[2]
    return name if name in _TAKEN else ""


def _without_latex(text: str) -> str:
    return latex_to_text(text) if "\\" in text or "$" in text else text


def _arxiv_number(names: list[str]) -> str:
    for name in names:
        if ("rxiv" in name or "RXIV" in name) and (found := _ARXIV.search(name)):
            return found[1]
    return ""


def _abstract(fields: Fields) -> str:
    """The first long description: short ones are remarks. Comments of arXiv are left out."""
    given = fields.get("description", []) + fields.get("abstract", [])
    texts = [text for text in given if not text.startswith("Comment:")]
    return next((text for text in texts if len(text) > _LONGEST_REMARK), texts[0] if texts else "")


def _keywords(subjects: list[str], categories: list[str]) -> list[str]:
    """Free keywords. Some journals put all of them into one subject."""
    words = (word.strip() for subject in subjects if subject not in categories for word in subject.split(";"))
    return [*filter(None, dict.fromkeys(words))]


def _year(fields: Fields, notes: list[Note]) -> int | None:
    """The earliest year: later dates are those of new versions or of the deposit."""
    dates = fields.get("date") or fields.get("issued") or []
    found = [int(year[1]) for date in dates if (year := _YEAR.match(date) or _YEAR.search(date))]
    return min(found) if found else publication_year(dates[0] if dates else None, notes)


def _venue(fields: Fields, names: list[str], *, paper: bool) -> str:
    """The journal: an identifier in arXiv, the source elsewhere, followed by volume and pages."""
    if paper:
        return next((name for name in names if "://" not in name and _WORDS.search(name)), "")
    journals = [source.partition(";")[0].strip() for source in fields.get("source", ()) if _WORDS.search(source)]
    return next(iter(journals + fields.get("publisher", [])), "")


def _ids(identifier: str, paper: str, names: list[str]) -> dict[str, str]:
    ids = {"oai": identifier} if identifier else {}
    if paper:
        ids["arxiv"] = identifiers.arxiv(paper) or paper
    for name in names:
        if "10." in name and (doi := identifiers.doi(name)):
            return ids | {"doi": doi}
    return ids


def _dublin_core_authors(creators: list[tuple[str, str]], notes: list[Note]) -> list[Author]:
    authors: list[Author] = []
    for attributes, text in creators:
        names, places, orcid = people_in(text)
        if not names:
            notes.append(("author", f"author {len(authors)} has no name"))
        for name in names:
            authors.append(author := Author(len(authors), name))
            for place in places:
                add_address(author, place)
        if len(names) == 1 and (given := orcid or attributes):
            _add_orcid(authors[-1], given, notes)
    return authors


def _add_orcid(author: Author, given: str, notes: list[Note]) -> None:
    """Add the ORCID in the text or the attributes of a creator, if there is one."""
    if valid := identifiers.orcid(given):
        author.ids["orcid"] = valid
    elif identifiers.LABELLED_ORCID.search(given):
        notes.append(("field", f"{given.strip()!r} is not a valid ORCID"))


@lru_cache(maxsize=1 << 14)
def people_in(text: str) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """The names in one creator, nearly always one; and the affiliations and the ORCID text if it is one.

    >>> people_in("Doe, Jo (1950-); University of Oslo"), people_in("Doe, Jo; Roe, Al")
    ((('Doe, Jo',), ('University of Oslo',), ''), (('Doe, Jo', 'Roe, Al'), (), ''))
    >>> people_in("Doe, Jo [0000-0002-1825-0097]"), people_in("--")
    ((('Doe, Jo',), (), ' [0000-0002-1825-0097]'), ((), (), ''))
    """
    text = leaf_text(text)
    orcid = identifiers.LABELLED_ORCID.search(text)
    without = identifiers.LABELLED_ORCID.sub(";", text) if orcid else text
    pieces = [piece.strip() for piece in without.split(";") if piece.strip()]
    if not pieces or not folded(pieces[0]):
        return (), (), ""
    if len(pieces) > 1 and _are_people(pieces):
        return tuple(map(_dublin_core_name, pieces)), (), ""
    return (_dublin_core_name(pieces[0]) or pieces[0],), tuple(pieces[1:]), orcid[0] if orcid else ""


def _are_people(pieces: list[str]) -> bool:
    """Whether all pieces are names in one notation. Others are an author followed by affiliations."""
    commas = {"," in piece for piece in pieces}
    return len(commas) == 1 and all(_PERSON.fullmatch(piece) and not _PLACE.search(piece) for piece in pieces)


def _dublin_core_name(text: str) -> str:
    return _LIFE.sub("", _without_latex(text)).strip(" ,")


_INSIDE = re.compile(
    rb"</?" + PREFIX + rb"(?:header|metadata|arXiv|arXivRaw|dc|creator|authors?|abstract|summary)[\s>]"
)

_HARVEST = re.compile(rb"<" + PREFIX + rb"(?:OAI-PMH|header|ListRecords|GetRecord)[\s>]|openarchives\.org/OAI/")
_KNOWN = re.compile(
    rb"<" + PREFIX + rb"(?:arXiv|arXivRaw|dc)[\s>]|metadataPrefix\s*=\s*[\"'](?:arXiv|arXivRaw|oai_dc)[\"']"
)
_FEED = re.compile(rb"<" + PREFIX + rb"entry[\s>]")
_ENTRY = re.compile(rb"<" + PREFIX + rb"id>\s*https?://arxiv\.org/abs/")
_HARVESTED = re.compile(rb"<" + PREFIX + rb"(?:record|ListRecords|GetRecord|metadata)[\s>]")
_BARE = re.compile(rb"<" + PREFIX + rb"dc[\s>]")
_ERROR = re.compile(rb"<" + PREFIX + rb"error\s[^<>]{0,200}?\bcode\s*=\s*[\"'](\w{1,40})")
_ONLY_NAMES = re.compile(rb"<" + PREFIX + rb"ListIdentifiers[\s>]")
_DELETED = re.compile(rb"<" + PREFIX + rb"header\s[^<>]*\bstatus\s*=\s*[\"']deleted")
_CONTENT = re.compile(rb"<" + PREFIX + rb"metadata[^<>]*>\s*<" + PREFIX + rb"([\w.-]+)")
_TERM = re.compile(rb"<" + PREFIX + rb"category\s[^<>]*?\bterm\s*=\s*[\"']([^\"'<>]+)")

# Maximum length of the header of a record, and of a namespace prefix with its bracket.
_HEADER_BYTES, _PREFIX_BYTES = 1000, 43

_CONTAINERS = "record entry header metadata arXiv arXivRaw authors author version dc qualifieddc qdc simpledc".split()
_READER = LeafReader(*_CONTAINERS)


def parse_record(record: bytes, around: bytes = b"") -> Parsed | None:
    """Read one record of a harvest; None for a deleted record.

    >>> parse_record(b'<record><header status="deleted"><identifier>oai:x:1</identifier></header></record>')
    >>> document, _ = parse_record(
    ...     b"<record><metadata><arXiv><id>1706.00001</id><created>2017-06-01</created><authors><author>"
    ...     b"<keyname>Doe</keyname><forenames>Jo</forenames></author></authors></arXiv></metadata></record>"
    ... )
    >>> document.id, document.year, document.authors[0].name
    ('1706.00001', 2017, 'Doe, Jo')
    """
    if b"deleted" in record[:_HEADER_BYTES] and _DELETED.search(record):
        return None
    leaves = _READER.read(record, around)
    content = _CONTENT.search(record, max(record.find(b"metadata") - _PREFIX_BYTES, 0))
    kind = decoded(content[1]) if content else ""
    if kind == "arXiv":
        return _paper(leaves)
    if kind == "arXivRaw":
        return _snapshot_paper(_raw_fields(leaves))
    if not kind and _FEED.match(record):
        return _snapshot_paper(_entry_fields(leaves) | {"categories": list(map(decoded, _TERM.findall(record)))})
    if kind == "dc" or _BARE.match(record) or any(name.endswith("creator") for name, _, _ in leaves):
        return parse_dublin_core(leaves, has_header=b"header" in record[:_HEADER_BYTES])
    if not kind:
        raise BrokenRecordError("no metadata")
    raise BrokenRecordError(f"metadata format {kind} is neither arXiv nor Dublin Core (harvest as oai_dc)")


def _paper(leaves: list[Leaf]) -> Parsed:
    """Read the format "arXiv", in which names are split into parts."""
    fields: dict[str, str] = {}
    people: list[list[str]] = []  # family name, given names, suffix, then affiliations
    for prefixed, _, text in leaves:
        name = prefixed.rpartition(":")[2]
        if name == "keyname":
            people.append([text, "", ""])
        elif name == "forenames" and people:
            people[-1][1] = text
        elif name == "suffix" and people:
            people[-1][2] = text
        elif name == "affiliation" and people:
            people[-1].append(text)
        elif name not in fields:
            fields[name] = text
    notes: list[Note] = []
    number = leaf_text(fields.get("id", ""))
    doi = identifiers.doi(fields["doi"]) if "doi" in fields else None
    document = Document(
        id=number,
        authors=_authors(people, notes),
        title=_plain(fields.get("title", "")),
        abstract=leaf_text(fields.get("abstract", "")),
        year=publication_year(fields.get("created", "").strip(), notes),
        venue=_plain(fields.get("journal-ref", "")),
        categories=fields.get("categories", "").split(),
        ids={kind: value for kind, value in (("arxiv", identifiers.arxiv(number) or number), ("doi", doi)) if value},
    )
    return document, notes


def _authors(people: list[list[str]], notes: list[Note]) -> list[Author]:
    authors = []
    for position, (family, given, suffix, *places) in enumerate(people):
        if name := _name(family, given, suffix):
            author = Author(position, name)
            if places:
                author.affiliations = [place for text in places if (place := _plain(text).strip(" .,;"))]
            authors.append(author)
        else:
            notes.append(("author", f"author {position} has no name"))
    return authors


@lru_cache(maxsize=1 << 14)
def _name(*parts: str) -> str:
    return ", ".join(filter(None, map(_plain, parts)))


def _plain(text: str) -> str:
    return _without_latex(leaf_text(text))


def _snapshot_paper(fields: dict[str, Any]) -> Parsed:
    """Read a paper with the field names of arXiv's snapshot, which is made from the format "arXivRaw"."""
    return arxiv.parse_record(orjson.dumps(fields))


def _raw_fields(leaves: list[Leaf]) -> dict[str, Any]:
    """The fields of the format "arXivRaw": all authors in one text, and a date per version."""
    fields: dict[str, Any] = {"authors": "", "versions": []}
    for prefixed, _, text in leaves:
        name = prefixed.rpartition(":")[2]
        if name == "date":
            fields["versions"].append({"created": leaf_text(text)})
        elif name == "authors" or name not in fields:
            fields[name] = leaf_text(text)
    return fields


def _entry_fields(leaves: list[Leaf]) -> dict[str, Any]:
    """The fields of an entry in an answer of arXiv's API."""
    fields: dict[str, Any] = {"authors": []}
    for prefixed, _, text in leaves:
        name = prefixed.rpartition(":")[2]
        if name == "name":
            fields["authors"].append({"name": leaf_text(text), "affiliation": []})
        elif name == "affiliation" and fields["authors"]:
            fields["authors"][-1]["affiliation"].append(leaf_text(text))
        else:
            fields.setdefault(name, leaf_text(text))
    return fields


def _recognises(source: Source) -> bool:
    head = source.head
    return is_xml(head) and bool((_HARVEST.search(head) and _KNOWN.search(head)) or _is_feed(head))


def _is_feed(head: bytes) -> bool:
    """Whether this is an answer of arXiv's API: a feed of entries whose ids are addresses at arXiv."""
    return _FEED.search(head) is not None and _ENTRY.search(head) is not None


def _open(source: Source, columns: Columns) -> Records:
    if reason := _without_records(source.head):
        return Records(iter([Raw(1, source.head, reason)]))
    beginning = start_of(_record_name(source.head), source.head)
    around = prefixes_of(source.head, beginning)
    return Records(cut_records(source.blocks(), beginning, _INSIDE), context=around)


def _record_name(head: bytes) -> bytes:
    """The element name of records. Dublin Core descriptions may also be saved without a harvest around them."""
    if _is_feed(head):
        return b"entry"
    return b"dc" if _BARE.search(head) and not _HARVESTED.search(head) else b"record"


def _without_records(head: bytes) -> str:
    """Why an answer has no records; empty if it has.

    >>> _without_records(b"<request verb='x'/><error code='noRecordsMatch'>Nothing</error>")
    'the repository answered with an error: noRecordsMatch'
    """
    if _HARVESTED.search(head):
        return ""
    if error := _ERROR.search(head):
        return f"the repository answered with an error: {decoded(error[1])}"
    return "a list of identifiers without records (harvest with verb=ListRecords)" if _ONLY_NAMES.search(head) else ""


FORMAT = Format(
    name="arxiv-oai", title="arXiv and Dublin Core over OAI-PMH", recognises=_recognises, open=_open, parse=parse_record
)
