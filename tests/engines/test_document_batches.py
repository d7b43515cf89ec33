"""Papers with many authors: their documents are compared once, and the result is the same to the last byte."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from homonym import Settings, disambiguate
from homonym.clustering import agglomerative
from homonym.clustering.sparse import giant_blocks
from homonym.clustering.sparse.inverted_index import Block
from homonym.collection.layout import SLOT_BITS
from homonym.commands.run import Resources
from homonym.engines import document_batches, local

# Most tests make whole results.
pytestmark = pytest.mark.slow


def collaboration(path: Path, *, reverse: bool = False) -> Path:
    """Papers of two teams with turnover: namesakes in one paper, initials and full names, some other papers."""
    random = np.random.default_rng(3)
    given = ["Anna", "Ada", "Bert", "Bo", "Carla", "Cem"]
    families = [first + last for first in ("Berg", "Holm", "Lind") for last in ("man", "sen", "qvist", "er", "dal")]
    people = [f"{families[x % 15]}, {given[x % 7 % 6]}" for x in range(90)]
    lines = []
    for number in range(60):
        team = people[:50] if number % 2 else people[40:]
        names = [team[x] for x in random.permutation(len(team))[: 3 if number % 10 == 0 else 30]]
        authors = [
            {"name": name if number % 3 else name[: name.index(",") + 3] + ".", "affiliations": ["Place " + name[-3:]]}
            for name in names
        ]
        title = " ".join(f"word{x}" for x in random.integers(0, 40, 6))
        document = {"id": f"D{number}", "title": title, "year": 2000 + number // 10, "authors": authors}
        lines.append(json.dumps(document | {"other_authors": [people[number]]}))
    path.write_text("\n".join(lines[::-1] if reverse else lines))
    return path


def result(source: Path, run: Settings, threads: int = 1) -> tuple[bytes, bytes]:
    """The bytes of the result and of the trace."""
    output, trace = source.with_suffix(".csv"), source.with_suffix(".trace.csv")
    disambiguate([source], output, run, trace=trace, resources=Resources(threads=threads))
    return output.read_bytes(), trace.read_bytes()


@pytest.mark.parametrize(
    "run",
    [
        Settings(kappa=2.0, gamma=0.25, chance_limit=1.0, name_trust=0.8),
        Settings(kappa=1.0, variant="max", constraints="none"),
        Settings(kappa=1.0, coauthor_names="initials", weights="without-term"),
    ],
)
def test_sharing_documents_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Settings) -> None:
    """Neither do the number of threads, the order of the input, and the number of documents in a batch."""
    source = collaboration(tmp_path / "in.jsonl")
    expected = result(source, run)
    plans: list[document_batches.SharingPlan] = []
    original = document_batches.plan_sharing

    def remember(*arguments: object) -> document_batches.SharingPlan:
        plans.append(original(*arguments))  # type: ignore[arg-type]
        return plans[-1]

    monkeypatch.setattr(agglomerative, "LONG_BAG", 10)
    monkeypatch.setattr(local, "plan_sharing", remember)
    assert result(source, run) == expected
    assert not plans.pop().batches, "too little work to save"
    monkeypatch.setattr(document_batches, "MIN_PRODUCTS", 0)
    assert result(source, run) == expected
    monkeypatch.setattr(document_batches, "_most_documents", lambda memory, types: 35)
    assert result(source, run, threads=2) == expected
    monkeypatch.setattr(document_batches, "LONG_TYPE", 0)
    assert result(collaboration(tmp_path / "in.jsonl", reverse=True), run) == expected
    assert [len(plan.batches) for plan in plans[:2]] == [1, max(2, len(plans[1].batches))]
    assert 0 < plans[1].types.sum() <= plans[2].types.sum()
    assert any(len(batch.kept) for batch in plans[1].batches), "part of a table is used for the next batch"
    for before, batch in pairwise(plans[1].batches):
        assert batch.documents[: len(batch.kept)].tolist() == before.documents[batch.kept].tolist()
        assert not np.isin(batch.documents[len(batch.kept) :], before.documents).any()


@pytest.mark.parametrize("run", [Settings(kappa=2.0, chance_limit=1.0, name_trust=0.8), Settings(variant="max")])
def test_giant_blocks_look_up_their_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Settings) -> None:
    """Those with more documents than fit into a table are compared with whole bags. The result is the same."""
    source = collaboration(tmp_path / "in.jsonl")
    expected, _ = result(source, run)
    looked_up: list[int] = []
    original = giant_blocks.cluster_giant

    def remember(block: Block, *arguments: Any, **options: Any) -> int:
        looked_up.append(block.mentions if block.looks_up else 0)
        return original(block, *arguments, **options)

    monkeypatch.setattr(giant_blocks, "cluster_giant", remember)
    monkeypatch.setattr(agglomerative, "LONG_BAG", 10)
    monkeypatch.setattr(document_batches, "MIN_PRODUCTS", 0)
    monkeypatch.setattr(agglomerative, "GIANT_BLOCK_OF_LONG_BAGS", 20)
    monkeypatch.setattr(local, "ALONE_PAIRS", 0)  # a giant block is a batch of its own
    assert result(source, run, threads=2)[0] == expected
    assert min(looked_up) >= 20
    looked_up.clear()
    monkeypatch.setattr(document_batches, "_most_documents", lambda memory, types: 25)
    assert result(source, run)[0] == expected
    assert min(looked_up) == 0 < max(looked_up)


def test_frequencies_within_a_block_are_not_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Settings(kappa=1.0, scope="within")
    source = collaboration(tmp_path / "in.jsonl")
    expected = result(source, run)
    monkeypatch.setattr(agglomerative, "LONG_BAG", 10)
    monkeypatch.setattr(document_batches, "MIN_PRODUCTS", 0)
    assert result(source, run) == expected


def test_long_bags_make_blocks_giant_later() -> None:
    mentions = np.array([1499, 1500, 1500, 1500, 5199, 5200])
    features = mentions * np.array([1, agglomerative.LONG_BAG - 1, agglomerative.LONG_BAG, 1, 1, 1])
    authors = mentions * np.array([1, agglomerative.MANY_AUTHORS - 1, 1, *[agglomerative.MANY_AUTHORS] * 3])
    long = agglomerative.have_long_bags(mentions, features, authors)
    assert agglomerative.are_giant(mentions, long).tolist() == [False, True, False, False, False, True]


def test_documents_of_many_authors_have_long_bags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if they have few other features: the mean of authors counts."""
    source = collaboration(tmp_path / "in.jsonl")
    run = Settings(kappa=1.0)
    expected = result(source, run)
    found: list[Any] = []
    original = document_batches.plan_sharing

    def remember(encoded: Any, *arguments: Any) -> document_batches.SharingPlan:
        document = encoded.mention_owner >> SLOT_BITS
        sizes = dict(zip(*np.unique(document, return_counts=True), strict=True))
        means = [np.mean([sizes[d] for d in part]) for part in np.split(document, encoded.block_start[1:-1])]
        found.append((encoded.have_long_bags.tolist(), (np.array(means) >= 28).tolist()))
        return original(encoded, *arguments)

    monkeypatch.setattr(local, "plan_sharing", remember)
    monkeypatch.setattr(agglomerative, "MANY_AUTHORS", 28)
    monkeypatch.setattr(document_batches, "MIN_PRODUCTS", 0)
    assert result(source, run) == expected
    assert all(long == by_authors for long, by_authors in found)
    assert any(found[0][0]), "blocks of papers with 28 authors on average"
    assert not all(found[0][0]), "and others"
