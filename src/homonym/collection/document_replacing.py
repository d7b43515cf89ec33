"""Replaces a document by a newer record of it, without losing what the record does not contain.

A record that has a title, a list of authors or an ORCID is right about it: it may correct the document. But exports
differ in what they contain: a table of PubMed has no affiliations and only initials, RIS no categories. What a record
lacks entirely is kept, and so is a list of authors that the record cuts with "et al.". For other lists this is decided
over all authors: if one author has an ORCID and another one has none any more, the other one loses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from homonym.collection.document_merging import author_places
from homonym.names.parse import parse_name
from homonym.names.spelling import standard_name
from homonym.records.fields.exported_ids import KIND
from homonym.records.fields.people import folded, plain_letters
from homonym.records.model import Author, Document

# Fields of a document that are kept if a newer record has none; so are authors and other contributors.
_FIELDS = (
    "title", "abstract", "year", "venue", "categories", "keywords", "references", "referenced_authors", "other_authors",
)  # fmt: skip

# What stands for the rest of a list of authors, folded.
_OTHERS_FOLDED = frozenset(["etal", "others", "andothers", "andmore"])


def replaced(document: Document, record: Document) -> Document:
    """The newer record, with what only the document has.

    >>> old = Document("1", [Author(0, "Doe, Jane", ["MIT"], ids={"orcid": "0"})], "On coin", "We …", ids={"doi": "x"})
    >>> new = replaced(old, Document("1", [Author(0, "Doe J"), Author(1, "Roe A")], "On coins"))
    >>> new.title, new.abstract, new.ids, [(author.name, author.affiliations, author.ids) for author in new.authors]
    ('On coins', 'We …', {'doi': 'x'}, [('Doe, Jane', ['MIT'], {'orcid': '0'}), ('Roe A', [], {})])
    """
    kept = {name: value for name in _FIELDS if not getattr(record, name) and (value := getattr(document, name))}
    found = replace(record, ids=document.ids | record.ids, **kept)
    if not record.authors or _is_cut(record, document):
        found.authors, found.other_contributors = document.authors, document.other_contributors
    else:
        found.authors = _completed(record.authors, document.authors)
        found.other_contributors = record.other_contributors or document.other_contributors
    return found


def _is_cut(record: Document, document: Document) -> bool:
    """Whether a list of authors is shorter than the known one because it ends with "et al." or "and others"."""
    is_shorter = len(record.authors) < len(document.authors)
    return is_shorter and any(folded(name) in _OTHERS_FOLDED for name in record.other_contributors)


def without_labels(record: Document, document: Document) -> Document:
    """A record that homonym exported, with the names and identifiers that its authors have in the document.

    Exported names are labels: they have initials that tell people apart, and that no record has.

    >>> old = Document("1", [Author(0, "Doe, J")])
    >>> new = without_labels(Document("1", [Author(0, "Doe, Jane B", ids={"homonym": "DOE, J/1"})]), old)
    >>> new.authors[0].name, new.authors[0].ids
    ('Doe, J', {})
    """
    if not any(KIND in author.ids for author in record.authors):
        return record
    places = {author.position: author for author in document.authors}
    return replace(record, authors=[_without_label(author, places.get(author.position)) for author in record.authors])


def _without_label(author: Author, known: Author | None) -> Author:
    """An author without the id of homonym; with the name of the known one at its position if its own is a label."""
    if KIND not in author.ids or known is None or KIND in known.ids:
        return author
    others = {kind: value for kind, value in author.ids.items() if kind != KIND}
    is_label = _initials(author.name) == _initials(known.name) or _is_label(author)
    return replace(author, name=known.name if is_label else author.name, ids=others)


def _is_label(author: Author) -> bool:
    """Whether a name belongs to the id that was exported with it; a name that a user has changed does not.

    The author of an id may have other names on other documents: its label is the same on all of them.

    >>> [_is_label(Author(0, name, ids={KIND: "MULLER, J/1"})) for name in ("Müller, Jürgen", "Roe, Ann")]
    [True, False]
    """
    block = author.ids[KIND].rpartition("/")[0]
    return plain_letters(block).startswith(plain_letters(standard_name(parse_name(author.name)).first_initial_key))


def _initials(name: str) -> str:
    return parse_name(name).first_initial_key


def _completed(authors: Sequence[Author], known: Sequence[Author]) -> list[Author]:
    """The authors, with what no author of the list has."""
    has_addresses = any(author.affiliations for author in authors)
    has_emails = any(author.emails for author in authors)
    has_given_names = any(parse_name(author.name).spelled_out for author in authors)
    has_labels = any(author.label is not None for author in authors)
    has_blocks = any(author.block is not None for author in authors)
    kinds = {kind for author in authors for kind in author.ids}
    completed = []
    for author, place in zip(authors, author_places(authors, known), strict=True):
        if place is None or not place.by_name:
            completed.append(author)
            continue
        same = known[place.number]
        is_shortened = not has_given_names and parse_name(same.name).spelled_out is not None
        ids = {kind: value for kind, value in same.ids.items() if kind in author.ids or kind not in kinds}
        completed.append(
            Author(
                position=author.position,
                name=same.name if is_shortened else author.name,
                affiliations=author.affiliations if has_addresses else same.affiliations,
                emails=author.emails if has_emails else same.emails,
                label=author.label if has_labels else same.label,
                block=author.block if has_blocks else same.block,
                ids=ids | author.ids,  # in the order of the document, so that the same ids are no change
            )
        )
    return completed
