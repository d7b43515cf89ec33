"""S2AND data sets: papers, the signatures (author mentions) on them, and the clusters of signatures (gold labels).

The data sets of the S2AND project have one file of each kind in a folder; one reads papers.json. Reads title,
abstract, year, venue, fields of study, references, DOI, and per signature name, affiliations, e-mail, identifier, block
and cluster. Authors without a signature are co-authors only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from homonym.errors import InputError
from homonym.io.inputs import STANDARD_INPUT, Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import affiliations_and_emails
from homonym.records.fields.exported_ids import KIND as HOMONYM
from homonym.records.fields.exported_ids import S2AND_AUTHOR
from homonym.records.fields.people import folded, is_placeholder
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.json_fields import as_list, distinct, identifier, load_record, split_name, text_or_empty
from homonym.records.parsing.json_stream import names_in, open_json_members
from homonym.records.parsing.splitting import Raw
from homonym.records.reader import Columns, Format, Records

# File names by which the files of a data set are found.
NAMED = re.compile(r"(papers|signatures|cluster_seeds|clusters)(?=\.json)")

# Every paper and every signature has two of these names; no object inside them has (see `open_json_members`).
_PAPER = ("paper_id", "title", "abstract", "venue", "journal_name", "year", "authors", "references")
_SIGNATURE = ("author_info", "paper_id", "signature_id", "sourced_author_source", "sourced_author_ids")

_NO_MEMBERS, _NO_SIGNATURE = "no list 'signature_ids'", "no 'paper_id' or 'author_info'"


def joined(source: Source) -> Iterator[Raw]:
    """Papers with their signatures; broken records and signatures without a paper as broken."""
    signatures: dict[str, list[bytes]] = {}
    number, file = 0, companion_file(source.path, "signatures")
    if file is not None:
        clusters = companion_file(source.path, "clusters")
        labels: dict[str, str] = {}
        if clusters is not None:
            yield from _read_clusters(clusters, labels)
        yield from _read_signatures(file, labels, signatures)
    for number, name, text, _, broken in open_json_members(source, _PAPER):
        if not broken and file is not None:
            text = b'{"paper":' + text + b',"signatures":[' + b",".join(signatures.pop(name, ())) + b"]}"
        yield Raw(number, text, broken)
    for paper, left in signatures.items():
        number += 1
        yield Raw(number, b",".join(left), f"signatures on the paper {paper!r}, which is not among the papers")


def _read_clusters(file: Path, labels: dict[str, str]) -> Iterator[Raw]:
    """Collect the cluster of each signature; yield broken clusters."""
    with Source(file) as source:
        for number, name, text, cluster, broken in open_json_members(source):
            members = cluster.get("signature_ids")
            if isinstance(members, list):
                labels.update(dict.fromkeys(map(str, members), str(cluster.get("cluster_id", name))))
            else:
                yield Raw(number, text, f"{file.name}, record {number}: {broken or _NO_MEMBERS}")


def _read_signatures(file: Path, labels: dict[str, str], signatures: dict[str, list[bytes]]) -> Iterator[Raw]:
    """Collect the signatures of each paper with their clusters; yield broken signatures."""
    with Source(file) as source:
        for number, name, text, signature, broken in open_json_members(source, _SIGNATURE):
            paper = signature.get("paper_id")
            if not isinstance(paper, str | int) or not isinstance(signature.get("author_info"), dict):
                yield Raw(number, text, f"{file.name}, record {number}: {broken or _NO_SIGNATURE}")
                continue
            if label := labels.pop(name, ""):
                text = text[:-1] + b',"cluster_id":' + orjson.dumps(label) + b"}"
            signatures.setdefault(str(paper), []).append(text)


def companion_file(path: Path, kind: str) -> Path | None:
    """The file of another kind in the same data set, compressed or not.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Path(folder, "pubmed_signatures.json.gz").touch()
    ...     file = companion_file(Path(folder, "pubmed_papers.json"), "signatures")
    ...     file and file.name
    'pubmed_signatures.json.gz'
    """
    if path == STANDARD_INPUT or NAMED.search(path.name) is None:
        return None
    name = NAMED.sub(kind, path.name, count=1)
    bare = name[: name.index(".json") + 5]
    candidates = [path.with_name(one) for one in (name, bare, f"{bare}.gz", f"{bare}.zst", f"{bare}.bz2")]
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def has_papers_file(path: Path) -> bool:
    """Whether the folder of a file has a file of papers."""
    return path != STANDARD_INPUT and any(path.parent.glob("*papers*.json*"))


_IN_PAPERS = frozenset({"author_name", "journal_name"})
_IN_SIGNATURES = frozenset({"author_info", "sourced_author_source", "sourced_author_ids"})
_CLUSTERS = re.compile(rb'"signature_ids"\s*:\s*\[')
_SEEDS = re.compile(rb'\s*\{\s*"[^"]*"\s*:\s*\{\s*"[^"]*"\s*:\s*"(?:require|disallow)"')

# Sources of signatures that give identifiers; others ("Extracted") give names.
_KINDS = {"orcid": "orcid", "dblp": "dblp", "mag": "mag", "researcherid": "researcherid", "scopus": "scopus"}

# Maximum number of authors; a position beyond it is an error.
_MAX_AUTHORS = 10_000


def parse_record(text: bytes, context: object = None) -> Parsed:
    """Read one paper. Its signatures are the mentions; if there are no signatures at all, its authors are.

    >>> document, notes = parse_record(
    ...     b'{"paper": {"paper_id": 7, "title": "On ice", "authors": [{"position": 0, "author_name": "Jo Doe"},'
    ...     b'{"position": 1, "author_name": "A Roe"}]}, "signatures": [{"author_info": {"first": "Jo", "last": "Doe",'
    ...     b'"position": 0, "block": "j doe"}, "cluster_id": "Doe_1"}]}'
    ... )
    >>> document.authors[0].name, document.authors[0].label, document.authors[0].block, document.other_authors
    ('Doe, Jo', 'Doe_1', 'j doe', ['A Roe'])
    """
    raw = load_record(text)
    paper = raw.get("paper", raw)
    if not isinstance(paper, dict) or "paper_id" not in paper:
        raise BrokenRecordError("'paper_id' is missing: not a paper of S2AND")
    notes: list[Note] = []
    names = _names(paper.get("authors"))
    signatures = raw.get("signatures") if "paper" in raw else None
    if isinstance(signatures, list):
        authors, signed = _signed(signatures, names, notes)
        others = [name for place, name in names.items() if place not in signed and name]
    else:
        authors, others = _unsigned(names, notes), []
    return _document(paper, authors, others, notes), notes


def _document(paper: dict[str, Any], authors: list[Author], others: list[str], notes: list[Note]) -> Document:
    doi = identifiers.doi(paper["doi"]) if isinstance(paper.get("doi"), str) else None
    return Document(
        id=identifier(paper["paper_id"]),
        authors=authors,
        title=text_or_empty(paper.get("title")),
        abstract=text_or_empty(paper.get("abstract")),
        year=publication_year(paper.get("year"), notes),
        venue=next(iter(distinct([paper.get("journal_name"), paper.get("venue")])), ""),
        categories=distinct(as_list(paper.get("fields_of_study"))),
        references=[*filter(None, dict.fromkeys(map(identifier, as_list(paper.get("references")))))],
        other_authors=others,
        ids={"doi": doi} if doi else {},
    )


def _names(entries: Any) -> dict[int, str]:
    """The author list of the paper: position -> name."""
    names: dict[int, str] = {}
    for order, entry in enumerate(as_list(entries)):
        given, place = entry, None
        if isinstance(entry, dict):
            given, place = entry.get("author_name"), _place(entry.get("position"))
        names.setdefault(order if place is None else place, text_or_empty(given))
    return dict(sorted(names.items()))


def _unsigned(names: dict[int, str], notes: list[Note]) -> list[Author]:
    notes += [("author", f"author {place} has no name") for place, name in names.items() if not folded(name)]
    return [Author(place, name) for place, name in names.items() if folded(name)]


def _signed(signatures: list[Any], names: dict[int, str], notes: list[Note]) -> tuple[list[Author], set[int]]:
    """The mentions, and their positions in the author list.

    Mentions are numbered in the order of the author list, several at one position in the order of the file, those
    without a position last. Those that homonym has exported keep their positions.
    """
    placed: list[tuple[int, Author]] = []
    signed = set()
    for signature in signatures:
        info = signature.get("author_info") if isinstance(signature, dict) else None
        place = _place(info.get("position")) if isinstance(info, dict) else None
        order = _MAX_AUTHORS if place is None else place
        signed.add(order)
        if author := _author(signature, info, names.get(order, ""), notes):
            placed.append((order, author))
    placed.sort(key=itemgetter(0))
    places = [place for place, _ in placed]
    is_exported = len({*places}) == len(places) and all(HOMONYM in author.ids for _, author in placed)
    for position, (place, author) in enumerate(placed):
        author.position = place if is_exported else position
    return [author for _, author in placed], signed


def _author(signature: Any, info: Any, listed_name: str, notes: list[Note]) -> Author | None:
    if not isinstance(signature, dict) or not isinstance(info, dict):
        notes.append(("author", "a signature without 'author_info'"))
        return None
    name = _name(info) or text_or_empty(signature.get("given_name")) or listed_name
    if is_placeholder(name):
        notes.append(("author", f"signature {signature.get('signature_id')!r} has no name"))
        return None
    affiliations, emails = affiliations_and_emails(as_list(info.get("affiliations")))
    email = identifier(info.get("email"))
    if "@" in email and email not in emails:
        emails.insert(0, email)
    label, block = identifier(signature.get("cluster_id")) or None, identifier(info.get("block")) or None
    ids = _ids(signature, notes)
    if own := identifier(info.get(S2AND_AUTHOR)):
        ids[HOMONYM] = own
    return Author(0, name, affiliations, emails, label, block, ids)


def _name(info: dict[str, Any]) -> str:
    first, middle = info.get("first"), info.get("middle")
    return split_name(info.get("last"), f"{first or ''} {middle}" if middle else first, info.get("suffix"))


def _ids(signature: dict[str, Any], notes: list[Note]) -> dict[str, str]:
    source = signature.get("sourced_author_source")
    kind = _KINDS.get(source.strip().lower()) if isinstance(source, str) else None
    if kind is None:
        return {}
    for given in as_list(signature.get("sourced_author_ids")):
        if valid := identifiers.normalise(kind, given):
            return {kind: valid}
        notes.append(("field", f"{given!r} is not a valid {identifiers.TITLES.get(kind, kind)}"))
    return {}


def _place(value: Any) -> int | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX_AUTHORS
    return value if fits else None


def _recognises(source: Source) -> bool:
    return _kind(source) is not None


def _kind(source: Source) -> str | None:
    """Which file of a data set this is; None if it is none."""
    head, names = source.head, names_in(source.head)
    if "paper_id" in names and not _IN_SIGNATURES.isdisjoint(names):
        return "signatures"
    if "paper_id" in names and not _IN_PAPERS.isdisjoint(names):
        return "papers"
    if names and _CLUSTERS.search(head):
        return "clusters"
    named = NAMED.search(source.path.name)
    if _SEEDS.match(head) or (head.strip() == b"{}" and named and named[1] != "papers"):
        return "cluster_seeds"
    return None


def _open(source: Source, columns: Columns) -> Records:
    kind = _kind(source)
    if kind in {None, "papers"}:
        return Records(joined(source), "record")
    if not has_papers_file(source.path):
        raise InputError(
            f"{source.name} has {kind} of S2AND, and there are no papers in its folder; put their file (papers.json) "
            "into the same folder and read that file."
        )
    return Records(iter(()), "record")


FORMAT = Format(name="s2and", title="S2AND", recognises=_recognises, open=_open, parse=parse_record)
