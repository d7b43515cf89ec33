"""Labelled blocks: batches of them, reading them from files, and errors for labels that do not fit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.commands.labelled import read_labelled
from homonym.commands.run import Resources, Run, prepare_run
from homonym.errors import CapacityError, InputError
from homonym.evaluation.matching import Labelling
from homonym.io.outputs import Paths
from homonym.measures.methods import MIN_BATCHES, LabelledNames
from homonym.schema import BAG
from homonym.settings import Settings
from tests.support.labelled_blocks import Authors, Collection, labelled_names
from tests.support.labelled_blocks import labelled_collections as labelled_draws
from tests.support.profiles import examples

Row = dict[str, Any]

# Two names with labels, one without; of DOE, J two mentions have none.
MENTIONS: list[Row] = [
    {"mention_id": "m1", "block": "DOE, J", "name": "Doe, J", "author": "J1", "features": {"co": {"A": 1, "B": 2}}},
    {"mention_id": "m2", "block": "ROE, R", "name": "Roe, R", "author": "J1", "features": {"co": {"A": 1}}},
    {"mention_id": "m3", "block": "DOE, J", "features": {"term": {"graph": 3}}},
    {"mention_id": "m4", "block": "POE, E", "name": "Poe, E", "features": {"co": {"C": 5}}},
    {"mention_id": "m5", "block": "DOE, J", "name": "Doe, Jane", "author": "J2", "features": {}},
    {"mention_id": "m6", "block": "DOE, J", "name": "Doe, J", "features": {"co": {"B": 1}}},
]
DOCUMENTS: list[Row] = [
    {"id": "W1", "title": "Graphs", "authors": [{"name": "Doe, J", "author": "J1"}, {"name": "Roe, R"}]},
    {"id": "W2", "title": "Trees", "authors": [{"name": "Poe, E"}, {"name": "Doe, John", "author": "J2"}]},
    {"id": "W3", "title": "Woods", "authors": ["Doe, J.", {"name": "Roe, R"}]},
]


def written(path: Path, rows: Sequence[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def as_parquet(path: Path, rows: Sequence[Row]) -> Path:
    def bag(features: dict[str, dict[str, float]]) -> list[Row]:
        return [{"type": t, "feature": f, "count": c} for t, counts in features.items() for f, c in counts.items()]

    texts = {key: pa.array([row.get(key) for row in rows], pa.string()) for key in ("mention_id", "block", "name")}
    author = pa.array([row.get("author") for row in rows], pa.string())
    pq.write_table(
        pa.table(texts | {"author": author, "features": pa.array([bag(row["features"]) for row in rows], BAG)}), path
    )
    return path


def read(inputs: Paths, gold: Paths | None = None, label: str = "author") -> tuple[Labelling, Run]:
    run = prepare_run(inputs, Settings(background="none"), resources=Resources(threads=1))
    return read_labelled(run, gold, label), run


def who(names: LabelledNames) -> dict[str, list[tuple[str | None, int]]]:
    """The mentions of each name, as written and with the code of the author."""
    start = names.bags.block_start
    return {
        key: list(
            zip(names.written[start[i] : start[i + 1]], names.author[start[i] : start[i + 1]].tolist(), strict=True)
        )
        for i, key in enumerate(names.key)
    }


def contents(names: LabelledNames) -> list[Any]:
    """All there is to know of each name."""
    found = []
    for i, key in enumerate(names.key):
        first, last = names.bags.block_start[i], names.bags.block_start[i + 1]
        starts = names.bags.bag_start[first : last + 1].tolist()
        bags = [
            list(zip(names.bags.feature[a:b].tolist(), names.bags.count[a:b].tolist(), strict=True))
            for a, b in pairwise(starts)
        ]
        found.append((key, bags, names.author[first:last].tolist(), names.written[first:last], int(names.true_size[i])))
    return found


@settings(max_examples=examples(200))
@given(collected=labelled_draws(), data=st.data())
def test_any_names_in_any_order(collected: tuple[Collection, Authors], data: st.DataObject) -> None:
    names = labelled_names(*collected)
    chosen = data.draw(st.lists(st.integers(0, len(names) - 1), min_size=1, max_size=6))
    part = names.select(np.array(chosen))
    everything = contents(names)
    assert contents(part) == [everything[i] for i in chosen]
    assert part.frequencies is names.frequencies
    assert part.mentions.tolist() == [len(collected[0][i]) for i in chosen]
    assert part.block.tolist() == [place for place, i in enumerate(chosen) for _ in collected[0][i]]


@settings(max_examples=examples(100))
@given(collected=labelled_draws())
def test_the_true_size_counts_people_with_labels(collected: tuple[Collection, Authors]) -> None:
    names = labelled_names(*collected)
    assert names.true_size.tolist() == [len(set(name) - {-1}) for name in collected[1]]
    assert names.labelled.tolist() == [author >= 0 for name in collected[1] for author in name]


@pytest.mark.parametrize("fewest", [1, 2, 16, 1000])
@settings(max_examples=examples(50))
@given(collected=labelled_draws())
def test_batches_cover_all_names(fewest: int, collected: tuple[Collection, Authors]) -> None:
    names = labelled_names(*collected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("homonym.measures.methods.MIN_BATCHES", fewest)
        batches = list(names.batches())
    assert [name for batch in batches for name in contents(batch)] == contents(names)
    assert all(len(batch) for batch in batches)
    assert len(batches) <= fewest


def test_batches_take_about_equally_long() -> None:
    sizes = [1] * 400 + [5, 20] * 100
    empty: dict[str, dict[int, float]] = {kind: {} for kind in ("co", "term", "year")}
    names = labelled_names([[empty] * size for size in sizes], [[0] * size for size in sizes])
    work = [int((batch.mentions**2).sum()) for batch in names.batches()]
    assert len(work) == MIN_BATCHES
    assert max(work) - min(work) <= 2 * 20**2


def test_rejects_a_name_without_labels() -> None:
    names = labelled_names([[{"co": {}, "term": {}, "year": {}}] * 2] * 2, [[0, -1], [-1, 3]])
    with pytest.raises(ValueError, match="each name needs a labelled mention"):
        replace(names, author=np.array([0, -1, -1, -1]))


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_reads_labelled_mentions(tmp_path: Path, kind: str) -> None:
    write = written if kind == "jsonl" else as_parquet
    labelling, run = read(write(tmp_path / f"mentions.{kind}", MENTIONS))
    names = labelling.names
    assert who(names) == {
        "DOE, J": [("Doe, J", 0), (None, -1), ("Doe, Jane", 1), ("Doe, J", -1)],
        "ROE, R": [("Roe, R", 0)],
    }
    assert names.true_size.tolist() == [2, 1]
    assert (labelling.labels, labelling.labels_without_mention, len(labelling.problems.first)) == (3, 0, 0)
    assert run.warnings == []


def test_bags_and_frequencies_are_those_of_the_whole_collection(tmp_path: Path) -> None:
    names = read(written(tmp_path / "mentions.jsonl", MENTIONS))[0].names
    frequencies = names.frequencies
    assert (frequencies.types, frequencies.mentions) == (("co", "term"), 6)
    assert frequencies.mass.tolist() == [10.0, 3.0]
    assert sorted(frequencies.total[:3].tolist()) == [2.0, 3.0, 5.0]  # A, B, and C of a name without labels
    spelled = [sorted((float(frequencies.total[f]), c) for f, c in bag) for name in contents(names) for bag in name[1]]
    assert spelled == [[(2.0, 1.0), (3.0, 2.0)], [(3.0, 3.0)], [], [(3.0, 1.0)], [(2.0, 1.0)]]


def test_rejects_labelled_bags_beyond_the_memory(tmp_path: Path) -> None:
    bag = {str(feature): 1 for feature in range(1000)}
    rows: list[Row] = [
        {"mention_id": str(i), "block": f"DOE, {i // 2}", "author": str(i), "features": {"co": bag}} for i in range(100)
    ]
    run = prepare_run(
        written(tmp_path / "mentions.jsonl", rows), Settings(), resources=Resources(threads=1, memory=2 << 20)
    )
    message = r"the 50 names with labels have 100 mentions and 100,000 features, .* GiB, .* --memory, .* fewer names"
    with pytest.raises(CapacityError, match=message):
        read_labelled(run, None, "author")


def test_reads_labelled_documents(tmp_path: Path) -> None:
    labelling, _ = read(written(tmp_path / "documents.jsonl", DOCUMENTS))
    assert who(labelling.names) == {"DOE, J": [("Doe, J", 0), ("Doe, John", 1), ("Doe, J.", -1)]}
    assert (labelling.labels, labelling.labels_without_mention) == (2, 0)
    assert labelling.names.frequencies.mentions == 6


def test_reads_labels_from_a_table_and_counts_those_without_mention(tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_text("mention_id,author\nW3#1,R1\nW9#0,X\nW1#1,R1\nW2#0,E1\nW1#7,Y\n")
    labelling, run = read(written(tmp_path / "documents.jsonl", DOCUMENTS), gold)
    assert (labelling.labels, labelling.labels_without_mention) == (5, 2)
    names = labelling.names
    assert list(names.key) == ["POE, E", "ROE, R"]
    assert names.author[1] == names.author[2] != names.author[0]
    assert names.true_size.tolist() == [1, 1]
    assert run.warnings == []


def test_identifiers_can_be_labels(tmp_path: Path) -> None:
    rows = [
        {"id": "W1", "authors": [{"name": "Doe, J", "ids": {"orcid": "0000-0002-1825-0097"}}]},
        {"id": "W2", "authors": [{"name": "Doe, J", "ids": {"ORCID": "https://orcid.org/0000-0002-1825-0097"}}]},
        {"id": "W3", "authors": [{"name": "Doe, J", "author": "J1"}, {"name": "Roe, R", "author": "R1"}]},
        {"id": "W4", "authors": [{"name": "Doe, J", "ids": {"orcid": ["0000-0001-5109-3700", "x"]}}]},
        {"id": "W5", "authors": [{"name": "Doe, J", "ids": {"orcid": "0000-0001-5109-3700"}}]},
    ]
    labelling, run = read(written(tmp_path / "documents.jsonl", rows), label="orcid")
    assert who(labelling.names) == {
        "DOE, J": [("Doe, J", 1), ("Doe, J", 1), ("Doe, J", -1), ("Doe, J", -1), ("Doe, J", 0)]
    }
    assert labelling.labels == 3
    assert run.warnings == ["1 mention with several different identifiers left out."]


def test_reads_several_files_and_reports_problems(tmp_path: Path) -> None:
    first, second = written(tmp_path / "a.jsonl", MENTIONS[:3]), as_parquet(tmp_path / "b.parquet", MENTIONS[3:])
    first.write_text("no record\n" + first.read_text())
    labelling, run = read([first, second])
    assert list(labelling.names.key) == ["DOE, J", "ROE, R"]
    assert labelling.names.mentions.tolist() == [4, 1]
    assert len(labelling.problems.first) == 1
    assert run.warnings == ["1 line of the labels could not be parsed."]


def test_rejects_a_mix_of_documents_and_mentions(tmp_path: Path) -> None:
    documents, mentions = written(tmp_path / "d.jsonl", DOCUMENTS), written(tmp_path / "m.jsonl", MENTIONS)
    with pytest.raises(InputError, match=r"d\.jsonl and \S*m\.jsonl are documents and mentions with bags; give files"):
        read([documents, mentions])


def test_rejects_labels_of_other_data_showing_both_ids(tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_text("mention_id,author\nz9,J1\nz8,J2\n")
    with pytest.raises(InputError, match=r"no label in \S*gold\.csv belongs to a mention of \S*m\.jsonl; .* z9 and m1"):
        read(written(tmp_path / "m.jsonl", MENTIONS), gold)


def test_rejects_data_without_labels(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"m\.jsonl holds no label"):
        read(written(tmp_path / "m.jsonl", MENTIONS[2:4]))
