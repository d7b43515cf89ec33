"""OpenAlex works: pages of its API, parts of its snapshot, and files that programs such as openalexR save.

The layouts of today and of 2022 are read. Reads title, abstract, year, venue, topics and concepts as categories and
keywords, references, DOI, PMID, and per author name, affiliations, e-mail, OpenAlex id and ORCID.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import affiliations_and_emails
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.json_fields import (
    as_list,
    dicts,
    distinct,
    first_repeated,
    indexed_text,
    list_field,
    load_record,
    member,
    orcid,
    text,
    unboxed,
    whole_name,
    without_separators,
)
from homonym.records.parsing.json_stream import names_in, open_json
from homonym.records.reader import Format

# Every work has two of these names; no object inside a work has (see `open_json`).
_NAMES = frozenset(
    {"id", "title", "authorships", "publication_year", "publication_date", "primary_location", "host_venue", "biblio"}
    | {"abstract_inverted_index", "referenced_works", "related_works", "concepts", "topics", "ids", "open_access"}
)

_ONLY_HERE = frozenset(
    {"authorships", "abstract_inverted_index", "referenced_works", "author_position"}
    | {"raw_affiliation_string", "raw_affiliation_strings"}
)
_TYPICAL = frozenset(
    {"publication_year", "primary_location", "host_venue", "cited_by_count", "open_access", "concepts", "topics"}
    | {"display_name", "db_response_time_ms"}
)
_INDEX = "abstract_inverted_index"
_ADDRESS = re.compile(rb"openalex\.org\\?/W\d")

_PREFIX = identifiers.OPENALEX_PREFIX
_ID = re.compile(r"(?:^|/)([AWaw]\d+)\W*$")

# Ids that stand for unknown or deleted authors.
_NO_AUTHORS = frozenset({"A9999999999", "A5317838346"})

# Concepts down to this level are fields of research, deeper ones are subjects.
_LAST_FIELD_LEVEL = 1

# Scores of concepts that a work has only as ancestors of others.
_NO_SCORES = (0, "0", "0.0", None)


def parse_work(line: bytes, context: object = None) -> Parsed:
    """Read one work.

    >>> document, notes = parse_work(
    ...     b'{"id": "https://openalex.org/W7", "abstract_inverted_index": {"of": [1], "Theory": [0]},'
    ...     b' "authorships": [{"author": {"id": "https://openalex.org/A1", "display_name": "J. Doe"}}, {}]}'
    ... )
    >>> document.id, document.abstract, document.authors[0].name, document.authors[0].ids, notes
    ('W7', 'Theory of', 'J. Doe', {'openalex': 'A1'}, [('author', 'author 1 has no name')])
    """
    raw = load_record(line)
    if isinstance(raw.get("id"), list):
        raw = _unboxed(raw)
    notes: list[Note] = []
    work = _short(raw.get("id")) or _short(member(raw, "ids", "openalex"))
    if not work.startswith("W") and "authorships" not in raw:
        raise BrokenRecordError("neither an OpenAlex id nor authorships: not a work of OpenAlex")
    concepts, topics = dicts(raw.get("concepts")), dicts(raw.get("topics"))
    if not topics and isinstance(raw.get("primary_topic"), dict):
        topics = [raw["primary_topic"]]
    document = Document(
        id=work,
        authors=_authors(raw, notes),
        title=text(raw.get("title") or raw.get("display_name"), "title", notes),
        abstract=indexed_text(raw.get(_INDEX), _INDEX, notes),
        year=publication_year(raw.get("publication_year") or raw.get("publication_date"), notes),
        venue=_venue(raw),
        categories=distinct(_fields(topics) if topics else _concepts(concepts, fields=True)),
        keywords=distinct(_subjects(raw, topics, concepts)),
        references=_references(raw.get("referenced_works"), notes),
        ids=_ids(raw, work),
    )
    return document, notes


def _unboxed(raw: dict[str, Any]) -> dict[str, Any]:
    """A work written by R, see `unboxed`. The places of a word stay a list, even of length one."""
    work: dict[str, Any] = unboxed(raw)
    if isinstance(index := work.get(_INDEX), dict):
        work[_INDEX] = {word: as_list(places) for word, places in index.items()}
    return work


def _short(value: Any) -> str:
    """The identifier at the end of an OpenAlex address; empty if there is none."""
    if not isinstance(value, str):
        return ""
    if value.startswith(_PREFIX) and value[22:].isdecimal():
        return value[21:]
    found = _ID.search(value)
    return found[1].upper() if found else ""


def _authors(raw: dict[str, Any], notes: list[Note]) -> list[Author]:
    entries = raw.get("authorships")
    if isinstance(entries, list) and raw.get("is_authors_truncated") is True:
        notes.append(("field", f"authorships end after {len(entries)}: download this work alone to get all"))
    authors = []
    for position, entry in enumerate(list_field(entries, "authorships", notes)):
        author = _author(position, entry, notes)
        if author is None:
            notes.append(("author", f"author {position} has no name"))
        else:
            authors.append(author)
    return authors


def _author(position: int, entry: Any, notes: list[Note]) -> Author | None:
    if not isinstance(entry, dict):
        return None
    person = entry.get("author")
    if not isinstance(person, dict):
        person = {}
    name = _name(entry.get("raw_author_name")) or _name(person.get("display_name"))
    if not name:
        return None
    affiliations, emails = affiliations_and_emails(_affiliations(entry))
    return Author(position, name, affiliations, emails, None, None, _person_ids(entry, person, notes))


def _name(value: Any) -> str:
    return whole_name(value) if isinstance(value, str) else ""


def _affiliations(entry: dict[str, Any]) -> list[Any]:
    """Affiliations as printed, or the institutions that OpenAlex found in them."""
    printed = entry.get("raw_affiliation_strings") or entry.get("raw_affiliation_string")
    if isinstance(printed, str):
        return [without_separators(printed)]
    if isinstance(printed, list):
        return printed
    printed = [item.get("raw_affiliation_string") for item in dicts(entry.get("affiliations"))]
    return printed or [item.get("display_name") for item in dicts(entry.get("institutions"))]


def _person_ids(entry: dict[str, Any], person: dict[str, Any], notes: list[Note]) -> dict[str, str]:
    found = orcid(person.get("orcid") or entry.get("raw_orcid"), notes)
    own = _short(person.get("id"))
    if own.startswith("A") and own not in _NO_AUTHORS:
        found["openalex"] = own
    return found


def _venue(raw: dict[str, Any]) -> str:
    location = raw.get("primary_location")
    return first_repeated(
        member(location, "source", "display_name"),
        member(raw, "host_venue", "display_name"),
        member(location, "raw_source_name"),
    )


def _fields(topics: list[dict[str, Any]]) -> Iterator[Any]:
    for topic in topics:
        yield member(topic, "subfield", "display_name")
        yield member(topic, "field", "display_name")


def _concepts(concepts: list[dict[str, Any]], *, fields: bool) -> Iterator[Any]:
    """Names of the concepts that are fields of research, or of those that are not."""
    for concept in concepts:
        level = concept.get("level")
        is_wanted = isinstance(level, int) and (level <= _LAST_FIELD_LEVEL) == fields
        if is_wanted and (fields or concept.get("score") not in _NO_SCORES):
            yield concept.get("display_name")


def _subjects(raw: dict[str, Any], topics: list[dict[str, Any]], concepts: list[dict[str, Any]]) -> Iterator[Any]:
    keywords = raw.get("keywords")
    for keyword in keywords if isinstance(keywords, list) else ():
        yield (keyword.get("display_name") or keyword.get("keyword")) if isinstance(keyword, dict) else keyword
    for topic in topics:
        yield topic.get("display_name")
    yield from _concepts(concepts, fields=False)
    for heading in dicts(raw.get("mesh")):
        yield heading.get("descriptor_name")


def _references(works: Any, notes: list[Note]) -> list[str]:
    if not works:
        return []
    if not isinstance(works, list):
        notes.append(("field", f"referenced_works must be a list, got {type(works).__name__}"))
        return []
    try:
        short = [work[len(_PREFIX) :] for work in works]
        digits = "".join(short)
        if digits.count("W") == len(short) and digits.replace("W", "").isdecimal():
            return short
    except TypeError:
        pass
    return [*filter(None, map(_short, works))]


def _ids(raw: dict[str, Any], work: str) -> dict[str, str]:
    given = raw.get("ids")
    if not isinstance(given, dict):
        given = {}
    found = {"openalex": work} if work else {}
    if doi := identifiers.normalise("doi", raw.get("doi") or given.get("doi")):
        found["doi"] = doi
    if "pmid" in given and (pmid := identifiers.normalise("pmid", given["pmid"])):
        found["pmid"] = pmid
    return found


def _recognises(source: Source) -> bool:
    """Two names of works, one of which only OpenAlex has."""
    names = names_in(source.head)
    if not names:
        return False
    only_here = len(_ONLY_HERE & names) + bool(_ADDRESS.search(source.head))
    return only_here > 0 and only_here + len(_TYPICAL & names) > 1


FORMAT = Format(
    name="openalex",
    title="OpenAlex works",
    recognises=_recognises,
    open=lambda source, columns: open_json(source, _NAMES),
    parse=parse_work,
)
