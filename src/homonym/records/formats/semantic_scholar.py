"""Semantic Scholar: answers of its Graph API, and the papers and abstracts of its data sets, one per line.

Reads title, abstract, year, venue, fields of study, references, identifiers, and per author name, affiliations,
Semantic Scholar id, ORCID and DBLP id. The papers of the older Open Research Corpus are read, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import affiliations_and_emails
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.json_fields import (
    as_list,
    cited_name,
    dicts,
    distinct,
    first_repeated,
    identifier,
    list_field,
    load_record,
    member,
    orcid,
    text,
    whole_name,
)
from homonym.records.parsing.json_stream import names_in, open_json
from homonym.records.reader import Columns, Format, Records

# Every paper has two of these names; no object inside a paper has (see `open_json`), except cited papers. Those often
# have a title and authors, so these count only if papers have nothing else. Authors have identifiers and counts.
_NAMES = frozenset(
    {"abstract", "year", "venue", "journal", "references", "citations", "tldr", "corpusid"}
    | {"referenceCount", "influentialCitationCount", "isOpenAccess", "fieldsOfStudy", "s2FieldsOfStudy"}
    | {"publicationDate", "publicationTypes", "publicationVenue", "openAccessPdf", "citationStyles"}
    | {"referencecount", "influentialcitationcount", "isopenaccess", "s2fieldsofstudy", "publicationdate"}
    | {"publicationtypes", "publicationvenueid", "openaccessinfo"}
    | {"paperAbstract", "inCitations", "outCitations", "s2Url", "journalName", "s2PdfUrl"}
)
_WRAPPERS = frozenset({"citingPaper", "citedPaper", "papers"})
_CITED_NAMES = frozenset({"title", "authors"})
_ONLY_HERE = frozenset(
    {"paperId", "corpusid", "corpusId", "authorId", "s2FieldsOfStudy", "s2fieldsofstudy", "influentialCitationCount"}
    | {"influentialcitationcount", "publicationvenueid", "openaccessinfo", "externalids"}
    | {"paperAbstract", "inCitations", "outCitations", "s2Url"}
)
_TYPICAL = frozenset({"title", "authors", "abstract", "year", "venue", "externalIds", "citingPaper", "citedPaper"})

# Names of identifiers of a paper in other sources, in lower case.
_KINDS = {"doi": "doi", "pubmed": "pmid", "pmid": "pmid", "pubmedcentral": "pmcid", "arxiv": "arxiv"}
_KINDS |= {"dblp": "dblp", "mag": "mag"}


def parse_paper(line: bytes, context: object = None) -> Parsed:
    """Read one paper.

    >>> document, _ = parse_paper(
    ...     b'{"paperId": "ab12", "externalIds": {"CorpusId": 7, "DOI": "10.1000/X"}, "title": "On x",'
    ...     b' "authors": [{"authorId": "5", "name": "J. Doe"}], "references": [{"paperId": "cd34"}]}'
    ... )
    >>> document.id, document.ids, document.references, document.authors[0].ids
    ('ab12', {'s2': '7', 'doi': '10.1000/x'}, ['cd34'], {'s2': '5'})
    """
    raw = load_record(line)
    paper = identifier(raw.get("paperId"))
    notes: list[Note] = []
    ids = _ids(raw, notes)
    if not (paper or ids or raw.get("title")):
        raise BrokenRecordError("neither an id nor a title: not a paper of Semantic Scholar")
    cited = dicts(raw.get("references"))
    document = Document(
        id=paper or ids.get("s2") or identifier(raw.get("id")),
        authors=_authors(raw.get("authors"), notes),
        title=text(raw.get("title"), "title", notes),
        abstract=text(raw.get("abstract") or raw.get("paperAbstract"), "abstract", notes),
        year=publication_year(raw.get("year") or _first(raw, "publicationDate", "publicationdate"), notes),
        venue=_venue(raw),
        categories=distinct(_fields(raw)),
        references=_references(raw, cited),
        referenced_authors=distinct(
            cited_name(_name(person)) for entry in cited for person in dicts(entry.get("authors"))
        ),
        ids=ids,
    )
    return document, notes


def _first(raw: dict[str, Any], *names: str) -> Any:
    return next((raw[name] for name in names if raw.get(name)), None)


def _ids(raw: dict[str, Any], notes: list[Note]) -> dict[str, str]:
    given = _first(raw, "externalIds", "externalids")
    given = given if isinstance(given, dict) else {}
    corpus = _first(raw, "corpusId", "corpusid") or _first(given, "CorpusId", "corpusid")
    ids = {"s2": number} if (number := identifier(corpus)) else {}
    for name, value in [*given.items(), *((name, raw.get(name)) for name in ("doi", "pmid"))]:
        kind = _KINDS.get(name.lower())
        if kind and (written := identifier(value)):
            identifiers.add(ids, kind, written, notes)
    if "pmcid" in ids:
        ids["pmcid"] = identifiers.pmcid(ids["pmcid"])
    return ids


def _authors(entries: Any, notes: list[Note]) -> list[Author]:
    authors = []
    for position, entry in enumerate(list_field(entries, "authors", notes)):
        entry = {"name": entry} if isinstance(entry, str) else entry  # as some programs save it
        if isinstance(entry, dict) and (name := _name(entry)):
            affiliations, emails = affiliations_and_emails(as_list(entry.get("affiliations")))
            authors.append(Author(position, name, affiliations, emails, None, None, _person_ids(entry, notes)))
        else:
            notes.append(("author", f"author {position} has no name"))
    return authors


def _name(person: dict[str, Any]) -> str:
    name = person.get("name")
    return whole_name(name) if isinstance(name, str) else ""


def _person_ids(entry: dict[str, Any], notes: list[Note]) -> dict[str, str]:
    """The ids of an author: `ids` in the Open Research Corpus, `authorId` elsewhere; DBLP gives a list of names."""
    given = _first(entry, "externalIds", "externalids")
    found = orcid(member(given, "ORCID"), notes)
    own = [identifier(value) for value in (entry.get("authorId"), *as_list(entry.get("ids"))) if value]
    if own and own[0]:
        found["s2"] = own[0]
    names = [identifier(value) for value in as_list(member(given, "DBLP"))]
    if len(names) == 1 and names[0]:
        found["dblp"] = names[0]
    return found


def _venue(raw: dict[str, Any]) -> str:
    return first_repeated(
        member(raw, "publicationVenue", "name"),
        raw.get("venue"),
        member(raw, "journal", "name"),
        raw.get("journalName"),
    )


def _fields(raw: dict[str, Any]) -> Iterator[Any]:
    for field in dicts(_first(raw, "s2FieldsOfStudy", "s2fieldsofstudy")):
        yield field.get("category")
    yield from as_list(raw.get("fieldsOfStudy"))


def _references(raw: dict[str, Any], cited: list[dict[str, Any]]) -> list[str]:
    found = [identifier(entry.get("paperId")) for entry in cited]
    found += map(identifier, as_list(raw.get("outCitations")))
    return [*filter(None, dict.fromkeys(found))]


def _recognises(source: Source) -> bool:
    """Two names of papers, one of which only Semantic Scholar has."""
    names = names_in(source.head)
    only_here = len(_ONLY_HERE & names)
    return only_here > 0 and only_here + len(_TYPICAL & names) > 1 and not (_NAMES | _CITED_NAMES).isdisjoint(names)


def _open(source: Source, columns: Columns) -> Records:
    has_more = len(_NAMES & names_in(source.head)) > 1
    return open_json(source, _NAMES if has_more else _NAMES | _CITED_NAMES, _WRAPPERS)


FORMAT = Format(
    name="semanticscholar", title="Semantic Scholar papers", recognises=_recognises, open=_open, parse=parse_paper
)
