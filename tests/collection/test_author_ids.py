"""Author ids: against their definition, and when documents are added or removed."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

from homonym.collection import author_ids
from homonym.commands.cluster import cluster
from homonym.commands.disambiguate import disambiguate
from homonym.commands.extract import extract
from homonym.settings import Settings
from homonym.synthetic.corpus import Corpus
from tests.support.author_ids import author_id, expected_ids

SETTINGS = Settings(kappa=7)
Documents = list[dict[str, Any]]


@pytest.fixture(scope="module")
def documents(generated: Callable[[Corpus], Path]) -> Documents:
    path = generated(Corpus(mentions=3000, ambiguity=3.0, seed=5))
    return [orjson.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def rows_of(documents: Documents, folder: Path, name: str = "out") -> list[dict[str, Any]]:
    source = folder / f"{name}.jsonl"
    source.write_bytes(b"".join(orjson.dumps(document) + b"\n" for document in documents))
    disambiguate(source, folder / f"{name}.parquet", SETTINGS)
    rows: list[dict[str, Any]] = pq.read_table(folder / f"{name}.parquet").to_pylist()
    return rows


def ids_of(rows: list[dict[str, Any]]) -> dict[str, str]:
    return {row["mention_id"]: row["author_id"] for row in rows}


def years_of(documents: Documents) -> dict[str, int | None]:
    return {document["id"]: document.get("year") for document in documents}


def mentions_by_id(rows: list[dict[str, Any]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row["author_id"], set()).add(row["mention_id"])
    return found


@pytest.mark.slow
def test_ids_follow_their_definition(documents: Documents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(author_ids, "MENTIONS_AT_ONCE", 100)
    some = [dict(document) for document in documents]
    for document in random.Random(1).sample(some, len(some) // 3):
        document.pop("year", None)
    rows = rows_of(some, tmp_path)
    assert ids_of(rows) == expected_ids(rows, years_of(some))


@pytest.mark.slow
def test_undated_mentions_come_last_and_ties_are_decided_by_mention_id(tmp_path: Path) -> None:
    orcid = {"name": "Doe, J", "ids": {"orcid": "0000-0002-1825-0097"}}
    cases: list[tuple[list[tuple[str, int | None]], str]] = [
        ([("a", None), ("c", 2001), ("b", 2000)], "b#0"),
        ([("c", 2000), ("b", 2000), ("a", None)], "b#0"),
        ([("b", None), ("a", None)], "a#0"),
        ([("a", 2000), ("a 1", 2000)], "a 1#0"),  # in the order of the text: a space comes before "#"
    ]
    for number, (records, anchor) in enumerate(cases):
        some = [{"id": name, "title": name, "year": year, "authors": [orcid]} for name, year in records]
        assert set(ids_of(rows_of(some, tmp_path, str(number))).values()) == {author_id("DOE, J", anchor)}


@pytest.mark.slow
def test_removing_documents_changes_only_ids_whose_anchor_moved(documents: Documents, tmp_path: Path) -> None:
    removed = {document["id"] for document in random.Random(2).sample(documents, 200)}
    before = rows_of(documents, tmp_path, "before")
    without = rows_of([one for one in documents if one["id"] not in removed], tmp_path, "without")
    again = rows_of(documents, tmp_path, "again")
    assert ids_of(before) == ids_of(again)
    old, new = mentions_by_id(before), mentions_by_id(without)
    assert all(old[one] & new[one] for one in old.keys() & new.keys())
    # An author keeps the id wherever the anchor still is an anchor.
    for rows, others in ((before, without), (without, before)):
        anchors = {author: _anchor(author, mentions) for author, mentions in mentions_by_id(rows).items()}
        other_anchors = {_anchor(author, mentions) for author, mentions in mentions_by_id(others).items()}
        kept = {author for author, anchor in anchors.items() if anchor in other_anchors}
        assert kept == anchors.keys() & mentions_by_id(others).keys()


def _anchor(author: str, mentions: set[str]) -> str:
    block = author.rpartition("/")[0]
    (anchor,) = [mention for mention in mentions if author_id(block, mention) == author]
    return anchor


@pytest.mark.slow
def test_authors_with_the_same_digits_get_all_of_them(
    documents: Documents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = rows_of(documents, tmp_path, "usual")
    monkeypatch.setattr(author_ids, "DIGITS", 1)
    short = rows_of(documents, tmp_path, "short")
    assert list(map(frozenset, mentions_by_id(short).values())) == list(map(frozenset, mentions_by_id(usual).values()))
    lengths = {len(row["author_id"].rpartition("/")[2]) for row in short}
    assert lengths == {1, 64}
    for one, other in zip(usual, short, strict=True):
        digits, few = (row["author_id"].rpartition("/")[2] for row in (one, other))
        assert few.startswith(digits) or digits.startswith(few)


@pytest.mark.slow
def test_extracted_mentions_keep_their_years_and_so_their_ids(documents: Documents, tmp_path: Path) -> None:
    rows = rows_of(documents, tmp_path)
    for suffix in (".jsonl", ".parquet"):
        extract(tmp_path / "out.jsonl", tmp_path / f"mentions{suffix}")
        cluster(tmp_path / f"mentions{suffix}", tmp_path / "clustered.parquet", SETTINGS)
        found = pq.read_table(tmp_path / "clustered.parquet").to_pylist()
        # Constraints by name and document need the mentions as they are; ids follow the definition in any case.
        assert ids_of(found) == expected_ids(found, years_of(documents))
        assert [row["mention_id"] for row in found] == [row["mention_id"] for row in rows]
