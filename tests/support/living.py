"""Small collections that grow: documents of a few people who share names, and the tables of their results."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pyarrow.parquet as pq

from homonym.collection.block_reload import extracted_bags
from homonym.collection.result_statistics import ResultStatistics
from homonym.commands.disambiguate import disambiguate
from homonym.corpus.recomputing import recompute_authors
from homonym.io.result_directory import BAGS
from homonym.settings import Settings, load_settings

# A given limit: calibration takes most of the time of a small run.
SETTINGS = Settings(kappa=7.0)

_TOPICS = {
    "coins": "roman silver coins mint hoard emperor denarius portrait".split(),
    "cells": "membrane protein cell receptor signal kinase growth assay".split(),
    "stars": "galaxy star redshift telescope survey halo cluster dust".split(),
    "roots": "soil root plant nitrogen fungus drought leaf uptake".split(),
}
# Name, topic, institution and co-author of each person.
PEOPLE = [
    ("Doe, J", "coins", "Museum of Wien", "Roe, Rita"),
    ("Doe, J", "cells", "Institute of Basel", "Li, Xu"),
    ("Doe, John", "stars", "Observatory of Jena", "Poe, Max"),
    ("Roe, R", "roots", "Farm of Bonn", "Li, Xu"),
    ("Li, X", "stars", "Observatory of Jena", "Poe, Max"),
]


def document(number: int, person: int | None = None) -> dict[str, Any]:
    """A document of one of the people; the same number gives the same document."""
    chance = random.Random(number)
    name, topic, place, coauthor = PEOPLE[chance.randrange(len(PEOPLE)) if person is None else person]
    words = chance.sample(_TOPICS[topic], 5)
    return {
        "id": f"D{number:04d}",
        "title": f"Notes {number} on {' '.join(words)}",
        "year": 1990 + chance.randrange(30),
        "venue": f"Journal of {topic}",
        "authors": [{"name": name, "affiliations": [place]}, {"name": coauthor}],
    }


def write_documents(path: Path, documents: Iterable[dict[str, Any]]) -> Path:
    """Write documents as JSON lines."""
    path.write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in documents))
    return path


def make_result(folder: Path, numbers: Iterable[int], name: str = "result") -> Path:
    """A result directory of some documents."""
    records = write_documents(folder / "records.jsonl", [document(number) for number in numbers])
    disambiguate(records, folder / name, SETTINGS)
    return folder / name


def authors(result: Path) -> dict[str, str]:
    """The author of each mention."""
    table = pq.read_table(result / "mentions.parquet", columns=["mention_id", "author_id"]).to_pydict()
    return dict(zip(table["mention_id"], table["author_id"], strict=True))


def tables(result: Path, names: Sequence[str] = ("mentions", "authors", "documents")) -> dict[str, bytes]:
    """The bytes of some tables."""
    return {name: (result / f"{name}.parquet").read_bytes() for name in names}


def rows(result: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a table."""
    found: list[dict[str, Any]] = pq.read_table(result / f"{name}.parquet").to_pylist()
    return found


def require_computed_authors(result: Path) -> None:
    """Fail unless the table of authors is what mentions, documents and given names make of it."""
    with TemporaryDirectory() as copy:
        for name in {"mentions.parquet", "documents.parquet", BAGS} & {path.name for path in result.iterdir()}:
            shutil.copy(result / name, copy)
        recompute_authors(result, Path(copy))
        assert rows(Path(copy), "authors") == rows(result, "authors")


def require_consistent(result: Path) -> None:
    """Fail unless the tables of a result agree: mentions, authors, ids, events, documents and their bags."""
    mentions, people = rows(result, "mentions"), {row["author_id"]: row for row in rows(result, "authors")}
    assert len({row["mention_id"] for row in mentions}) == len(mentions)
    count: dict[str, int] = {}
    for row in mentions:
        count[row["author_id"]] = count.get(row["author_id"], 0) + 1
    assert {author: row["mentions"] for author, row in people.items()} == count
    for row in people.values():
        assert {one["author_id"] for one in row["coauthors"]} <= people.keys()
        assert all(one["name"] == people[one["author_id"]]["name"] for one in row["coauthors"])
    order = [(row["block"].encode(), row["document_id"].encode(), row["position"]) for row in mentions]
    assert order == sorted(order)
    assert list(people) == sorted(people, key=str.encode)
    documents = [row["document_id"] for row in rows(result, "documents")]
    assert documents == sorted(documents, key=str.encode)
    assert {row["document_id"] for row in mentions} <= set(documents)
    if (result / BAGS).exists():
        stored = pq.read_table(result / BAGS).sort_by("document_id").to_pylist()
        table = pq.read_table(result / "documents.parquet").sort_by("document_id")
        assert stored == extracted_bags(table, load_settings(result), ResultStatistics.read(result)).to_pylist()
    require_computed_authors(result)
    if (result / "ids.parquet").exists():
        ids = {row["author_id"]: row for row in rows(result, "ids")}
        assert {one for one, row in ids.items() if row["status"] == "active"} == people.keys()
        for first in ids.values():
            row, seen = first, {first["author_id"]}
            while row["status"] == "redirect":
                row = ids[row["target"]]
                assert row["author_id"] not in seen
                seen.add(row["author_id"])
