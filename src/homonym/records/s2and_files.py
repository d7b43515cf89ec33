"""The files of an S2AND data set: papers, signatures and clusters, joined to papers with their signatures.

The papers are streamed; the signatures are held in memory, as they stand in their file, until their paper comes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import orjson

from homonym.records.json_stream import open_json_members
from homonym.records.splitting import Raw
from homonym.sources import STANDARD_INPUT, Source

#: By these names the files of a data set find each other.
NAMED = re.compile(r"(papers|signatures|cluster_seeds|clusters)(?=\.json)")

# Names in papers and in signatures; nothing inside of them has two of these.
_PAPER = ("paper_id", "title", "abstract", "venue", "journal_name", "year", "authors", "references")
_SIGNATURE = ("author_info", "paper_id", "signature_id", "sourced_author_source", "sourced_author_ids")

_NO_MEMBERS, _NO_SIGNATURE = "no list 'signature_ids'", "no 'paper_id' or 'author_info'"


def joined(source: Source) -> Iterator[Raw]:
    """Papers with their signatures, and what could not be joined."""
    signatures: dict[str, list[bytes]] = {}
    number, file = 0, file_beside(source.path, "signatures")
    if file is not None:
        clusters = file_beside(source.path, "clusters")
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
    """Gather the cluster of each signature; yield what is none."""
    with Source(file) as source:
        for number, name, text, cluster, broken in open_json_members(source):
            members = cluster.get("signature_ids")
            if isinstance(members, list):
                labels.update(dict.fromkeys(map(str, members), str(cluster.get("cluster_id", name))))
            else:
                yield Raw(number, text, f"{file.name}, record {number}: {broken or _NO_MEMBERS}")


def _read_signatures(file: Path, labels: dict[str, str], signatures: dict[str, list[bytes]]) -> Iterator[Raw]:
    """Gather the signatures of each paper, with the clusters that they are in; yield what is none."""
    with Source(file) as source:
        for number, name, text, signature, broken in open_json_members(source, _SIGNATURE):
            paper = signature.get("paper_id")
            if not isinstance(paper, str | int) or not isinstance(signature.get("author_info"), dict):
                yield Raw(number, text, f"{file.name}, record {number}: {broken or _NO_SIGNATURE}")
                continue
            if label := labels.pop(name, ""):
                text = text[:-1] + b',"cluster_id":' + orjson.dumps(label) + b"}"
            signatures.setdefault(str(paper), []).append(text)


def file_beside(path: Path, kind: str) -> Path | None:
    """The file of another kind that belongs to this one, packed or not.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Path(folder, "pubmed_signatures.json.gz").touch()
    ...     file = file_beside(Path(folder, "pubmed_papers.json"), "signatures")
    ...     file and file.name
    'pubmed_signatures.json.gz'
    """
    if path == STANDARD_INPUT or NAMED.search(path.name) is None:
        return None
    name = NAMED.sub(kind, path.name, count=1)
    bare = name[: name.index(".json") + 5]
    candidates = [path.with_name(one) for one in (name, bare, f"{bare}.gz", f"{bare}.zst", f"{bare}.bz2")]
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def papers_beside(path: Path) -> bool:
    """Whether a folder with signatures or clusters has papers too."""
    return path != STANDARD_INPUT and any(path.parent.glob("*papers*.json*"))
