"""Whole runs, from files to files: invariances, bad input, and agreement of disambiguate, extract and cluster."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from itertools import islice, product, repeat
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import orjson
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from homonym.commands.cluster import cluster
from homonym.commands.disambiguate import disambiguate
from homonym.commands.extract import extract
from homonym.commands.result import settings_path
from homonym.commands.run import Resources
from homonym.errors import CapacityError, HomonymError, InputError, OutputError, SettingsError
from homonym.schema import AUTHORS, ROUNDS, STORED_BAGS
from homonym.settings import Settings, load_settings
from homonym.synthetic.corpus import Corpus
from tests.support.author_ids import author_id

JANE = {"name": "Doe, Jane", "affiliations": ["MIT"], "emails": ["jane@mit.edu"]}
GOOD = [
    {"id": "a", "title": "Graph kernels", "year": 2010, "authors": [JANE, {"name": "Smith, A"}]},
    {"id": "b", "title": "Kernels of graphs", "year": 2011, "authors": [JANE, {"name": "Smith, A"}]},
    {"id": "c", "title": "Roman coins", "year": 1950, "authors": [{"name": "Doe, J."}]},
]


def write(path: Path, documents: list[Any]) -> Path:
    path.write_bytes(b"".join((d if isinstance(d, bytes) else orjson.dumps(d)) + b"\n" for d in documents))
    return path


def authors_of(path: Path) -> dict[str, str]:
    table = pq.read_table(path)
    return dict(zip(table["mention_id"].to_pylist(), table["author_id"].to_pylist(), strict=True))


@pytest.fixture(scope="module")
def corpus(generated: Callable[[Corpus], Path]) -> Path:
    return generated(Corpus(mentions=3000, ambiguity=3.0, seed=5))


def test_three_documents(tmp_path: Path) -> None:
    # In five mentions a missing feature type counts 1/5 by smoothing: only a high limit tells anything apart.
    settings = Settings(alpha=0.25)
    summary = disambiguate(write(tmp_path / "in.jsonl", GOOD), tmp_path / "out.parquet", settings)
    assert (summary.records, summary.mentions, summary.blocks, summary.authors) == (3, 5, 2, 3)
    table = pq.read_table(summary.output)
    assert table.schema.equals(AUTHORS)
    assert table["mention_id"].to_pylist() == ["a#0", "b#0", "c#0", "a#1", "b#1"]
    anchors = [("DOE, J", "a#0")] * 2 + [("DOE, J", "c#0")] + [("SMITH, A", "a#1")] * 2
    assert table["author_id"].to_pylist() == [author_id(block, anchor) for block, anchor in anchors]
    assert table["name"].to_pylist()[:3] == ["Doe, Jane", "Doe, Jane", "Doe, J."]
    assert load_settings(settings_path(summary.output)).limit == settings.limit


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".parquet", ".csv.gz"])
def test_same_bytes_for_any_threads_and_order(
    corpus: Path, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = gzip.decompress(corpus.read_bytes()).splitlines(keepends=True)
    random.Random(3).shuffle(lines)
    shuffled = tmp_path / "shuffled.jsonl"
    shuffled.write_bytes(b"".join(lines))
    # Calibration does not depend on the format, so one format is enough for it.
    settings = None if suffix == ".parquet" else Settings(kappa=7)
    results: list[bytes] = []
    for source, threads in ((corpus, 1), (corpus, 2), (shuffled, 2)):
        # Small tasks and batches, so that two threads and two processes really share the work.
        monkeypatch.setattr("homonym.engines.local.CHUNK_BYTES", 50_000)
        monkeypatch.setattr("homonym.engines.local.SMALL_INPUT", 0)
        monkeypatch.setattr("homonym.engines.local.BATCH_OCCURRENCES", 5_000)
        output = tmp_path / f"authors-{len(results)}{suffix}"
        disambiguate(source, output, settings, resources=Resources(threads=threads))
        results.append(output.read_bytes())
    assert results[0] == results[1] == results[2]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".jsonl.gz", ".parquet"])
def test_extract_and_cluster_equal_disambiguate(corpus: Path, tmp_path: Path, suffix: str) -> None:
    settings = Settings(beta=1e-4)
    disambiguate(corpus, tmp_path / "whole.parquet", settings)
    extract(corpus, tmp_path / f"mentions{suffix}", settings)
    cluster(tmp_path / f"mentions{suffix}", tmp_path / "steps.parquet", settings)
    assert (tmp_path / "whole.parquet").read_bytes() == (tmp_path / "steps.parquet").read_bytes()


@pytest.mark.slow
def test_saved_statistics_give_the_same_authors(corpus: Path, tmp_path: Path) -> None:
    extract(corpus, tmp_path / "mentions.jsonl", save_statistics=tmp_path / "statistics.csv.gz")
    for variant in ("prob", "max"):
        settings = Settings(variant=variant, joint=True, alpha=1e-9)
        cluster(tmp_path / "mentions.jsonl", tmp_path / "own.parquet", settings)
        cluster(
            tmp_path / "mentions.jsonl", tmp_path / "given.parquet", settings, statistics=tmp_path / "statistics.csv.gz"
        )
        assert (tmp_path / "own.parquet").read_bytes() == (tmp_path / "given.parquet").read_bytes()


@pytest.mark.slow
def test_statistics_of_another_collection_change_the_outcome(corpus: Path, tmp_path: Path) -> None:
    extract(corpus, tmp_path / "mentions.jsonl", save_statistics=tmp_path / "statistics.parquet")
    summary = cluster(
        tmp_path / "mentions.jsonl",
        tmp_path / "given.parquet",
        statistics=tmp_path / "statistics.parquet",
        mentions_in_collection=10**9,
    )
    assert not summary.warnings
    (tmp_path / "few.csv").write_text("type,feature,count\nco,NOBODY,3\n")
    summary = cluster(
        tmp_path / "mentions.jsonl", tmp_path / "few.parquet", statistics=tmp_path / "few.csv", mentions_in_collection=9
    )
    assert "not in the statistics" in summary.warnings[0]


@pytest.mark.slow
@pytest.mark.parametrize("names", ["full", "initials"])
def test_co_authors_are_counted_as_in_given_statistics(tmp_path: Path, names: str) -> None:
    documents = write(tmp_path / "in.jsonl", GOOD)
    statistics, output = tmp_path / "statistics.csv", tmp_path / "out.parquet"
    extract(documents, tmp_path / "mentions.jsonl", Settings(coauthor_names=names), save_statistics=statistics)
    summary = disambiguate(documents, output, Settings(alpha=0.25), statistics=statistics)
    assert load_settings(settings_path(output)).coauthor_names == names
    assert any("counts co-authors by surname and initials" in text for text in summary.warnings) == (names != "full")


@pytest.mark.slow
@pytest.mark.parametrize("level", ["institution", "whole"])
def test_affiliations_are_counted_as_in_given_statistics(tmp_path: Path, level: str) -> None:
    record = {
        "id": "1",
        "authors": [{"name": "Doe, Jane", "affiliations": ["Dept Phys, Univ Bonn"]}, {"name": "Roe, R"}],
    }
    documents = write(tmp_path / "in.jsonl", [record])
    statistics, output = tmp_path / "statistics.csv", tmp_path / "out.parquet"
    extract(documents, tmp_path / "mentions.jsonl", Settings(affiliation_level=level), save_statistics=statistics)
    summary = disambiguate(documents, output, Settings(alpha=0.25), statistics=statistics)
    assert load_settings(settings_path(output)).affiliation_level == level
    assert any("counts affiliations as written" in text for text in summary.warnings) == (level == "whole")


@pytest.mark.slow
def test_trace_is_one_row_per_round(corpus: Path, tmp_path: Path) -> None:
    # Constraints and the chance limit end the process before one cluster is left.
    unbound = Settings(constraints="none", chance_limit=0)
    summary = disambiguate(corpus, tmp_path / "authors.parquet", unbound, trace=tmp_path / "trace.parquet")
    trace = pq.read_table(tmp_path / "trace.parquet")
    assert trace.schema.equals(ROUNDS)
    rows = trace.to_pylist()
    blocks = {row["block"] for row in rows}
    authors = pq.read_table(summary.output).group_by("block").aggregate([("author_id", "count_distinct")])
    found = dict(zip(authors["block"].to_pylist(), authors["author_id_count_distinct"].to_pylist(), strict=True))
    assert len(blocks) > 100
    for block in blocks:
        mine = [row for row in rows if row["block"] == block]
        assert [row["round"] for row in mine] == list(range(1, len(mine) + 1))
        assert mine[-1]["clusters"] == 1, "the process goes on to one cluster"
        before = [row for row in mine if row["before_convergence"]]
        assert found[block] == (before[-1]["clusters"] if before else mine[0]["mentions"])
        assert all(row["highest_score"] > row["limit"] for row in before)


@pytest.mark.slow
def test_blocking_schemes(tmp_path: Path) -> None:
    documents = [
        {"id": 1, "authors": [{"name": "Doe, Jane W.", "block": "team"}]},
        {"id": 2, "authors": [{"name": "Doe, John"}]},
    ]
    blocks = {}
    for scheme in ("given", "initials", "first-initial", "full-name"):
        disambiguate(write(tmp_path / "in.jsonl", documents), tmp_path / "out.csv", Settings(blocking=scheme))
        blocks[scheme] = pyarrow.csv.read_csv(tmp_path / "out.csv")["block"].to_pylist()
    assert blocks == {
        "given": ["DOE, J", "team"],
        "initials": ["DOE, J", "DOE, JW"],
        "first-initial": ["DOE, J", "DOE, J"],
        "full-name": ["DOE, JANE W", "DOE, JOHN"],
    }


def test_rejects_broken_lines_and_keeps_the_rest(tmp_path: Path) -> None:
    documents: list[Any] = [
        GOOD[0],
        b"{not json",
        {"title": "no id", "authors": [JANE]},
        {"id": "x", "title": "no authors"},
        GOOD[1] | {"id": "a"},
        GOOD[1] | {"year": "n.d."},
        {"id": "d", "authors": [{"affiliations": ["MIT"]}, {"name": " , "}, {"name": "Smith, A"}]},
        b"\xff\xfe\x00garbage",
        GOOD[2],
    ]
    summary = disambiguate(write(tmp_path / "in.jsonl", documents), tmp_path / "out.parquet")
    assert summary.problems.counts == {
        "record": 4,
        "author": 2,
        "field": 1,
        "duplicate": 1,
        "contributor": 0,
        "warning": 0,
    }
    assert {problem.line for problem in summary.problems.first} == {2, 3, 4, 5, 6, 7, 8}
    assert set(authors_of(summary.output)) == {"a#0", "a#1", "b#0", "b#1", "c#0", "d#2"}
    duplicate = next(problem for problem in summary.problems.first if problem.line == 5)
    assert "merged with line 1" in str(duplicate)


@pytest.mark.parametrize(
    "bad",
    [
        b"{not json",
        {"authors": [JANE]},
        {"id": "z", "authors": [{}]},
        {"id": "z", "year": "n.d.", "authors": []},
    ],
)
def test_strict_names_the_position_of_the_first_problem(tmp_path: Path, bad: Any) -> None:
    source = write(tmp_path / "in.jsonl", [GOOD[0], b"", GOOD[1], bad])
    with pytest.raises(InputError, match=r"in\.jsonl, line 4: .*--strict"):
        disambiguate(source, tmp_path / "out.parquet", strict=True)
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "no usable documents"),
        ("\n".join(['{"authors": 1}'] * 3).encode("utf-16"), "no usable documents among"),
        (b'{"id": 1}\n{"id": 2}\n', "none of the formats"),
        (b'{"id": 1, "authors": []}\n', "1 record, but no author"),
        (b'{"mention_id": "m", "block": "b", "features": {}}\n', "homonym cluster"),
    ],
)
def test_rejects_useless_files_in_one_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "in.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=message) as refused:
        disambiguate(tmp_path / "in.jsonl", tmp_path / "out.parquet")
    assert "\n" not in str(refused.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl"]


def test_a_wrong_format_is_named_if_no_record_can_be_used(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("Title,Authors\nOn ice,Jane Doe\n")
    with pytest.raises(InputError, match=r"It was read as ris; without --format the format is detected\."):
        disambiguate(tmp_path / "in.csv", tmp_path / "out.parquet", format="ris")


def test_truncated_gzip_names_the_line(tmp_path: Path, corpus: Path) -> None:
    (tmp_path / "cut.jsonl.gz").write_bytes(corpus.read_bytes()[:20_000])
    with pytest.raises(InputError, match=r"cut\.jsonl\.gz: the compressed data is truncated or damaged after line \d+"):
        disambiguate(tmp_path / "cut.jsonl.gz", tmp_path / "out.parquet")


def test_rejects_outputs_before_any_work(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", GOOD)
    with pytest.raises(OutputError, match="does not exist"):
        disambiguate(source, tmp_path / "nowhere" / "out.parquet")
    with pytest.raises(OutputError, match="suffix"):
        disambiguate(source, tmp_path / "out.xlsx")
    with pytest.raises(OutputError, match="suffix"):
        extract(source, tmp_path / "out.csv")
    with pytest.raises(InputError, match="cannot be read"):
        disambiguate(tmp_path / "missing.jsonl", tmp_path / "out.parquet")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"co": 0.5}, "sum to 0.5"),
        ({"co": 1.5, "term": -0.5}, "must not be negative"),
        ({"shoe": 1.0}, "unknown feature type 'shoe'"),
    ],
)
def test_rejects_wrong_weights(tmp_path: Path, weights: dict[str, float], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        disambiguate(write(tmp_path / "in.jsonl", GOOD), tmp_path / "out.parquet", Settings(weights=weights))


@pytest.mark.slow
def test_a_document_of_five_thousand_authors(tmp_path: Path) -> None:
    surnames = islice(product(ascii_uppercase, repeat=3), 5000)
    crowd = {"id": "big", "title": "Higgs", "authors": [{"name": f"Doe{''.join(end)}, A"} for end in surnames]}
    summary = disambiguate(write(tmp_path / "in.jsonl", [crowd, *GOOD]), tmp_path / "out.parquet")
    assert summary.mentions == 5005


@pytest.mark.slow
def test_mentions_without_any_feature(tmp_path: Path) -> None:
    documents = [{"id": str(i), "authors": [{"name": "Doe, J"}]} for i in range(4)]
    summary = disambiguate(write(tmp_path / "in.jsonl", documents), tmp_path / "out.parquet")
    assert (summary.mentions, summary.authors) == (4, 4)
    summary = disambiguate(write(tmp_path / "in.jsonl", [*documents, GOOD[0]]), tmp_path / "out.parquet")
    assert summary.mentions == 6


def test_rejects_a_block_beyond_the_memory(tmp_path: Path) -> None:
    documents = [{"id": str(i), "title": "coins", "authors": [{"name": "Doe, J"}]} for i in range(1000)]
    source = write(tmp_path / "in.jsonl", documents)
    with pytest.raises(CapacityError, match=r"a block of 1,000 mentions needs .* --memory .* --blocking"):
        disambiguate(source, tmp_path / "out.parquet", resources=Resources(memory=2 << 20))
    assert not (tmp_path / "out.parquet").exists()


def test_reports_a_full_disk_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("homonym.collection.encoded._write_bags", full)
    with pytest.raises(HomonymError, match=r"not enough memory or disk space .*No space left.* --work"):
        disambiguate(write(tmp_path / "in.jsonl", GOOD), tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_a_failing_run_does_not_wait_for_its_bags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise InputError("the constraints are wrong")

    # Without end: the run ends only if it stops the thread that writes them.
    monkeypatch.setattr("homonym.engines.local.stored_bags", lambda *_: repeat(STORED_BAGS.empty_table()))
    monkeypatch.setattr("homonym.engines.local.LocalEngine.constrain", fail)
    with pytest.raises(InputError, match="the constraints are wrong"):
        disambiguate(write(tmp_path / "in.jsonl", GOOD), tmp_path / "out", Settings(kappa=7))
    assert not (tmp_path / "out").exists()


def test_a_failed_run_keeps_the_old_result(tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("old")
    with pytest.raises(HomonymError):
        disambiguate(write(tmp_path / "in.jsonl", GOOD), tmp_path / "out.csv", Settings(weights={"shoe": 1.0}))
    assert (tmp_path / "out.csv").read_text() == "old"


def test_own_features_of_any_type(tmp_path: Path) -> None:
    mentions = [
        {"mention_id": f"m{i}", "block": "DOE, J", "features": {"colour": {colour: 1}, "size": {"9": 0.5}}}
        for i, colour in enumerate(["red", "red", "blue", "blue"])
    ]
    summary = cluster(write(tmp_path / "m.jsonl", mentions), tmp_path / "o.parquet", Settings(alpha=0.3))
    found = authors_of(summary.output)
    assert found["m0"] == found["m1"] != found["m2"] == found["m3"]


@pytest.mark.slow
def test_several_files_are_one_collection(tmp_path: Path) -> None:
    parts = [write(tmp_path / f"{i}.jsonl", [document]) for i, document in enumerate(GOOD)]
    disambiguate(parts, tmp_path / "parts.csv")
    disambiguate(write(tmp_path / "all.jsonl", GOOD), tmp_path / "all.csv")
    assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "all.csv").read_bytes()
