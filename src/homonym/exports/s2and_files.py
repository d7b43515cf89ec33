"""A data set of S2AND: papers, signatures (mentions), clusters (authors) and seeds, with the ids of the result.

The seeds let S2AND keep the authors of the result when it adds signatures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from homonym.exports.result_tables import ExportedDocument, ResultTables, as_json
from homonym.names.parse import parse_name

FILES = ("papers.json", "signatures.json", "clusters.json", "cluster_seeds.json")
"""The files of the data set."""

# Kinds of identifiers of a signature, in order; the first one that a mention has is used.
_SOURCES = {"orcid": "ORCID", "researcherid": "ResearcherID", "scopus": "Scopus", "dblp": "DBLP", "mag": "MAG"}


def write_s2and(result: ResultTables, folder: Path) -> None:
    """The four files of a data set."""
    papers, signatures, clusters, seeds = (folder / name for name in FILES)
    _write(papers, map(_paper, result.documents()))
    _write(signatures, (signature for found in result.documents() for signature in _signatures(found)))
    _write(clusters, _clusters(result))
    _write(seeds, _seeds(result))


def _write(path: Path, members: Iterable[tuple[str, Any]]) -> None:
    """Write a JSON object, member by member."""
    with path.open("wb") as stream:
        before = b"{\n"
        for name, value in members:
            stream.write(before + as_json(name) + b": " + as_json(value))
            before = b",\n"
        stream.write(b"\n}\n" if before == b",\n" else b"{}\n")


def _paper(found: ExportedDocument) -> tuple[str, dict[str, Any]]:
    document = found.document
    return document.id, {
        "paper_id": document.id,
        "title": document.title,
        "abstract": document.abstract,
        "year": document.year,
        "venue": "",
        "journal_name": document.venue,
        "doi": document.ids.get("doi"),
        "fields_of_study": document.categories,
        "references": document.references,
        "authors": [{"position": author.position, "author_name": author.name} for author in document.authors],
    }


def _signatures(found: ExportedDocument) -> Iterator[tuple[str, dict[str, Any]]]:
    for mention in found.mentions:
        entry = mention.entry
        signature_id = f"{found.document.id}#{entry.position}"
        kind = next((kind for kind in _SOURCES if kind in entry.ids), None)
        yield (
            signature_id,
            {
                "signature_id": signature_id,
                "paper_id": found.document.id,
                "author_info": {
                    **_name_parts(entry.name),
                    "position": entry.position,
                    "block": mention.person.author_id.rpartition("/")[0],
                    "given_block": mention.person.author_id.rpartition("/")[0],
                    "affiliations": entry.affiliations,
                    "email": next(iter(entry.emails), None),
                },
                "sourced_author_source": _SOURCES[kind] if kind else None,
                "sourced_author_ids": [entry.ids[kind]] if kind else [],
            },
        )


def _name_parts(name: str) -> dict[str, str | None]:
    """First, middle and last name, as written if there is a comma, otherwise as our parser finds them."""
    last, comma, given = name.partition(",")
    parsed = parse_name(name)
    words = given.split() if comma else [word.title() for word in parsed.given]
    last = last.strip() if comma else parsed.surname.title()
    return {
        "first": words[0] if words else None,
        "middle": " ".join(words[1:]) or None,
        "last": last or name,
        "suffix": parsed.suffix.title() or None,
    }


def _by_author(result: ResultTables) -> Iterator[tuple[str, list[str]]]:
    """Author id and mention ids, ordered by author."""
    rows = ((row["author_id"], row["mention_id"]) for row in result.mention_rows(["mention_id", "author_id"]))
    for author_id, group in groupby(sorted(rows), key=itemgetter(0)):
        yield author_id, [mention_id for _, mention_id in group]


def _clusters(result: ResultTables) -> Iterator[tuple[str, dict[str, Any]]]:
    for author_id, mentions in _by_author(result):
        yield author_id, {"cluster_id": author_id, "signature_ids": mentions, "model_version": -1}


def _seeds(result: ResultTables) -> Iterator[tuple[str, dict[str, str]]]:
    """The first mention of each author with all others, which is enough to keep them together."""
    for _, (first, *others) in _by_author(result):
        if others:
            yield first, dict.fromkeys(others, "require")
