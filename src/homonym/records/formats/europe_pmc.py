"""Europe PMC: answers of its search service as JSON or XML, best with `resultType=core`.

Reads title, abstract, year, venue, MeSH headings and keywords, PMID, PMCID and DOI, and per author name, affiliations,
e-mail and ORCID. Answers without `resultType=core` have only the surnames and initials of authors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import affiliations_and_emails
from homonym.records.fields.contributors import note_contributor
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.json_fields import (
    add_member,
    as_list,
    dicts,
    distinct,
    first_repeated,
    identifier,
    load_record,
    member,
    orcid,
    split_name,
    text,
    text_or_empty,
    whole_name,
)
from homonym.records.parsing.json_stream import names_in, open_json
from homonym.records.parsing.xml_stream import Element, cut_records, element_of, is_xml
from homonym.records.reader import Columns, Format, Records

# Every result has two of these names; no object inside a result has (see `open_json`).
_NAMES = frozenset(
    {"authorString", "authorList", "journalInfo", "pubYear", "citedByCount", "isOpenAccess", "inEPMC", "inPMC"}
    | {"hasPDF", "hasReferences", "firstIndexDate", "firstPublicationDate", "abstractText"}
)
_WRAPPERS = frozenset({"resultList", "result"})
_ONLY_HERE = frozenset(
    {"authorString", "inEPMC", "hasTextMinedTerms", "authorAffiliationDetailsList", "hasLabsLinks", "firstIndexDate"}
)
_TYPICAL = frozenset({"resultList", "pubYear", "authorList", "journalInfo", "abstractText", "pmcid", "hitCount"})

_RESULT = re.compile(rb"<(result)>")
_INSIDE = re.compile(rb"</?(?:authorString|authorList|author|journalInfo|pubYear|abstractText|fullName|result)[\s>]")
_MARK = re.compile(rb"<(?:responseWrapper|authorString|authorAffiliationDetailsList|hasTextMinedTerms|inEPMC)[\s>]")

# Elements with other elements in them; the content of any other element is text.
_CONTAINERS = frozenset(
    {"result", "authorList", "author", "authorIdList", "authorAffiliationDetailsList", "authorAffiliation"}
    | {"journalInfo", "journal", "bookOrReportDetails", "keywordList", "meshHeadingList", "meshHeading"}
)


def parse_result(record: bytes, context: object = None) -> Parsed:
    """Read one result, in JSON or XML.

    >>> document, _ = parse_result(
    ...     b"<result><id>7</id><source>MED</source><pmid>7</pmid><authorList><author><fullName>Doe J</fullName>"
    ...     b'<authorId type="ORCID">0000-0002-1825-0097</authorId></author></authorList></result>'
    ... )
    >>> document.id, document.authors[0].name, document.authors[0].ids
    ('7', 'Doe J', {'orcid': '0000-0002-1825-0097'})
    """
    is_element = record.lstrip()[:1] == b"<"
    raw = _object_of(element_of(record)) if is_element else load_record(record)
    if not isinstance(raw, dict) or not any(raw.get(name) for name in ("id", "title", "authorString", "authorList")):
        raise BrokenRecordError("neither id nor title nor authors: not a result of Europe PMC")
    notes: list[Note] = []
    ids = _ids(raw, notes)
    document = Document(
        id=ids.get("pmid") or ids.get("pmcid") or identifier(raw.get("id")),
        authors=_authors(raw, notes),
        title=text(raw.get("title"), "title", notes),
        abstract=text(raw.get("abstractText"), "abstractText", notes),
        year=publication_year(_year(raw), notes),
        venue=_venue(raw),
        keywords=distinct(_subjects(raw)),
        ids=ids,
    )
    return document, notes


def _object_of(element: Element) -> Any:
    """An element as the JSON of the same service writes it."""
    if element.tag not in _CONTAINERS:
        written = "".join(element.itertext()) if len(element) else element.text or ""
        return {"value": written, **element.attrib} if element.attrib else written
    found: dict[str, Any] = {}
    for child in element:
        add_member(found, child.tag, _object_of(child))
    return found


def _ids(raw: dict[str, Any], notes: list[Note]) -> dict[str, str]:
    ids: dict[str, str] = {}
    source = raw.get("source")
    pmid = identifier(raw.get("pmid")) or (identifier(raw.get("id")) if source == "MED" else "")
    identifiers.add(ids, "pmid", pmid, notes)
    if number := identifier(raw.get("pmcid")) or (identifier(raw.get("id")) if source == "PMC" else ""):
        ids["pmcid"] = number.upper()
    identifiers.add(ids, "doi", identifier(raw.get("doi")), notes)
    return ids


def _authors(raw: dict[str, Any], notes: list[Note]) -> list[Author]:
    entries = as_list(member(raw, "authorList", "author"))
    if not entries:
        return _authors_of_text(raw.get("authorString"))
    authors: list[Author] = []
    first_is_named = True
    for position, entry in enumerate(entries):
        if (
            isinstance(entry, dict)
            and not entry.get("lastName")
            and (group := text_or_empty(entry.get("collectiveName")))
        ):
            note_contributor(group, notes)
        elif author := _author(position, entry, notes):
            authors.append(author)
        else:
            notes.append(("author", f"author {position} has no name"))
            first_is_named = first_is_named and bool(authors)
    first = raw.get("affiliation")  # the affiliation of the first person
    if isinstance(first, str) and authors and first_is_named and not any(author.affiliations for author in authors):
        authors[0].affiliations, authors[0].emails = affiliations_and_emails([first])
    return authors


def _author(position: int, entry: Any, notes: list[Note]) -> Author | None:
    if not isinstance(entry, dict):
        return None
    given = entry.get("firstName") or entry.get("initials")
    name = split_name(entry["lastName"], given, entry.get("suffix")) if entry.get("lastName") else ""
    name = name or whole_name(text_or_empty(entry.get("fullName")))
    if not name:
        return None
    affiliations, emails = affiliations_and_emails(_affiliations(entry))
    return Author(position, name, affiliations, emails, None, None, _person_ids(entry, notes))


def _affiliations(entry: dict[str, Any]) -> Iterator[Any]:
    details = as_list(member(entry, "authorAffiliationDetailsList", "authorAffiliation"))
    for detail in details or as_list(entry.get("affiliation")):
        yield detail.get("affiliation") if isinstance(detail, dict) else detail


def _person_ids(entry: dict[str, Any], notes: list[Note]) -> dict[str, str]:
    for given in dicts(entry.get("authorId")) + dicts(member(entry, "authorIdList", "authorId")):
        if str(given.get("type")).upper() == "ORCID" and (found := orcid(given.get("value"), notes)):
            return found
    return {}


def _authors_of_text(names: Any) -> list[Author]:
    """The authors of a result without `resultType=core`: "Doe JA, Roe R."."""
    found = [whole_name(name) for name in text_or_empty(names).rstrip(".").split(",")]
    return [Author(position, name) for position, name in enumerate(filter(None, found))]


def _year(raw: dict[str, Any]) -> Any:
    return (
        raw.get("pubYear")
        or member(raw, "journalInfo", "yearOfPublication")
        or member(raw, "bookOrReportDetails", "yearOfPublication")
        or raw.get("firstPublicationDate")
    )


def _venue(raw: dict[str, Any]) -> str:
    journal = member(raw, "journalInfo", "journal")
    return first_repeated(
        member(journal, "title"),
        raw.get("journalTitle"),
        member(journal, "medlineAbbreviation"),
        member(raw, "bookOrReportDetails", "comprehensiveTitle"),
        member(raw, "bookOrReportDetails", "publisher"),
    )


def _subjects(raw: dict[str, Any]) -> Iterator[Any]:
    """MeSH headings without their qualifiers, then keywords."""
    for heading in dicts(member(raw, "meshHeadingList", "meshHeading")):
        yield heading.get("descriptorName")
    yield from as_list(member(raw, "keywordList", "keyword"))


def _recognises(source: Source) -> bool:
    if names := names_in(source.head):
        only_here = len(_ONLY_HERE & names)
        return only_here > 0 and only_here + len(_TYPICAL & names) > 1
    return is_xml(source.head) and _RESULT.search(source.head) is not None and _MARK.search(source.head) is not None


def _open(source: Source, columns: Columns) -> Records:
    if names_in(source.head) or not is_xml(source.head):
        return open_json(source, _NAMES, _WRAPPERS)
    return Records(cut_records(source.blocks(), _RESULT, _INSIDE))


FORMAT = Format(
    name="europepmc", title="Europe PMC search results", recognises=_recognises, open=_open, parse=parse_result
)
