"""Authors and documents for the web of data: JSON-LD of schema.org, and statements for Wikidata."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from homonym.collection.author_summaries import main_ids
from homonym.errors import counted
from homonym.exports.plain_lines import distinct, one_line
from homonym.exports.reference_files import editors_of, groups_of
from homonym.exports.result_tables import ExportedDocument, ResultTables, as_json
from homonym.io.outputs import open_atomic

# Addresses of people by kind of identifier.
_PEOPLE = {
    "orcid": "https://orcid.org/{}",
    "isni": "https://isni.org/isni/{}",
    "viaf": "https://viaf.org/viaf/{}",
    "gnd": "https://d-nb.info/gnd/{}",
    "wikidata": "http://www.wikidata.org/entity/{}",
    "openalex": "https://openalex.org/{}",
    "scopus": "https://www.scopus.com/authid/detail.uri?authorId={}",
}


def write_jsonld(result: ResultTables, path: Path) -> None:
    """One graph of Person and ScholarlyArticle, as JSON-LD."""
    with open_atomic(path) as stream:
        stream.write(b'{"@context":"https://schema.org","@graph":[')
        before = b"\n"
        for item in _items(result):
            stream.write(before + as_json(item))
            before = b",\n"
        stream.write(b"\n]}\n")


def _items(result: ResultTables) -> Iterator[dict[str, Any]]:
    for row in result.author_rows():
        yield {name: value for name, value in _person(row).items() if value}
    for found in result.documents():
        yield {name: value for name, value in _article(found).items() if value}


def person_address(author_id: str) -> str:
    """The address of an author in the graph.

    >>> person_address("DOE, J/6f0c41d27a93")
    'urn:homonym:author:DOE%2C%20J/6f0c41d27a93'
    """
    return f"urn:homonym:author:{quote(author_id)}"


def _person(row: dict[str, Any]) -> dict[str, Any]:
    ids = main_ids(row["ids"])
    places = [each["affiliation"] for each in row["affiliations"] or ()]
    return {
        "@type": "Person",
        "@id": person_address(row["author_id"]),
        "identifier": row["author_id"],
        "name": one_line(row["name"] or ""),
        "alternateName": [name for each in row["variants"] or () if (name := one_line(each["name"])) != row["name"]],
        "sameAs": [form.format(quote(ids[kind])) for kind, form in _PEOPLE.items() if kind in ids],
        "affiliation": [{"@type": "Organization", "name": one_line(place)} for place in places],
    }


def _article(found: ExportedDocument) -> dict[str, Any]:
    document = found.document
    doi = document.ids.get("doi")
    return {
        "@type": "ScholarlyArticle",
        "@id": f"https://doi.org/{quote(doi)}" if doi else f"urn:homonym:document:{quote(document.id)}",
        "identifier": distinct([document.id, *(f"{kind}:{value}" for kind, value in document.ids.items())]),
        "name": one_line(document.title),
        "datePublished": str(document.year or ""),
        "isPartOf": {"@type": "Periodical", "name": one_line(document.venue)} if document.venue else None,
        "abstract": one_line(document.abstract),
        "keywords": [text for keyword in document.keywords if (text := one_line(keyword))],
        "author": [{"@id": person_address(mention.person.author_id)} for mention in found.mentions],
        "editor": [{"@type": "Person", "name": name} for name in editors_of(found)],
        "contributor": [{"@type": "Organization", "name": name} for name in groups_of(found)],
    }


# QuickStatements

_HUMAN, _RESEARCHER, _ARTICLE = "Q5", "Q1650915", "Q13442814"
_ORCID, _RESEARCHER_ID, _SCOPUS_ID, _DOI, _PMID = "P496", "P1053", "P1153", "P356", "P698"
_INSTANCE, _OCCUPATION, _AUTHOR, _AUTHOR_NAME, _ORDINAL = "P31", "P106", "P50", "P2093", "P1545"
_TITLE, _DATE = "P1476", "P577"
_KINDS_OF_PEOPLE = {"orcid": _ORCID, "researcherid": _RESEARCHER_ID, "scopus": _SCOPUS_ID}
# Longest text of Wikidata, and longest label.
_LONGEST_TEXT, _LONGEST_LABEL = 1500, 250


def write_quickstatements(result: ResultTables, path: Path) -> None:
    """Commands for QuickStatements: items of authors with an ORCID, and of documents with a DOI, and who wrote what.

    An author or document with a Wikidata id gets statements but no new item.
    """
    items: dict[int, str] = {}
    without = [0, 0]
    with open_atomic(path) as stream:
        for number, row in enumerate(result.author_rows()):
            ids = main_ids(row["ids"])
            if _is_item(ids.get("wikidata", "")):
                items[number] = ids["wikidata"]
            elif "orcid" in ids:
                stream.write(_lines(_new_person(one_line(row["name"] or ""), ids)))
            else:
                without[0] += 1
        for found in result.documents():
            lines = list(_work(found, items))
            without[1] += not lines
            stream.write(_lines(lines))
    if any(without):
        result.warnings.append(
            f"no statements about {counted(without[0], 'author')} without ORCID or Wikidata id and about "
            f"{counted(without[1], 'document')} without DOI or Wikidata id: they could not be told from existing items."
        )


def _is_item(text: str) -> bool:
    return text[:1] == "Q" and text[1:].isascii() and text[1:].isdigit()


def _lines(commands: Iterator[tuple[str, ...]] | list[tuple[str, ...]]) -> bytes:
    return "".join("\t".join(command) + "\n" for command in commands).encode()


def _quoted(text: str, longest: int = _LONGEST_TEXT) -> str:
    """A text in quotation marks. It cannot contain quotation marks, tabs or bars, so these are replaced."""
    return '"' + one_line(text.replace('"', "”").replace("|", "¦"))[:longest].strip() + '"'


def _new_person(name: str, ids: dict[str, str]) -> Iterator[tuple[str, ...]]:
    family, *given = name.split(", ")
    yield ("CREATE",)
    yield "LAST", "Len", _quoted(" ".join([*given[:1], family, *given[1:]]), _LONGEST_LABEL)
    yield "LAST", _INSTANCE, _HUMAN
    yield "LAST", _OCCUPATION, _RESEARCHER
    for kind, wanted in _KINDS_OF_PEOPLE.items():
        if kind in ids:
            yield "LAST", wanted, _quoted(ids[kind])


def _work(found: ExportedDocument, items: dict[int, str]) -> Iterator[tuple[str, ...]]:
    document = found.document
    own = document.ids.get("wikidata", "")
    if _is_item(own):
        for mention in found.mentions:
            if item := items.get(mention.person.number):
                yield own, _AUTHOR, item, _ORDINAL, _quoted(str(mention.entry.position + 1))
        return
    if "doi" not in document.ids:
        return
    yield ("CREATE",)
    yield "LAST", "Len", _quoted(document.title or document.ids["doi"], _LONGEST_LABEL)
    yield "LAST", _INSTANCE, _ARTICLE
    yield "LAST", _DOI, _quoted(document.ids["doi"].upper())
    if "pmid" in document.ids:
        yield "LAST", _PMID, _quoted(document.ids["pmid"])
    if document.title:
        yield "LAST", _TITLE, f"und:{_quoted(document.title)}"
    if document.year:
        yield "LAST", _DATE, f"+{document.year:04d}-00-00T00:00:00Z/9"
    for mention in found.mentions:
        item = items.get(mention.person.number)
        wanted, value = (_AUTHOR, item) if item else (_AUTHOR_NAME, _quoted(mention.entry.name))
        yield "LAST", wanted, value, _ORDINAL, _quoted(str(mention.entry.position + 1))
