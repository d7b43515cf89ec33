"""Comparison of several results on the same mentions, with paired differences."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from homonym.commands.evaluate import evaluate
from homonym.errors import InputError
from homonym.evaluation.assessment import Comparison, Evaluation, assess, compare, distinct_labels
from homonym.evaluation.rendering import render_table, summary
from homonym.measures.agreement import Scores
from tests.support.command import homonym_command

Codes = np.ndarray[Any, np.dtype[np.int64]]


def corpus(names: int = 300, seed: int = 0) -> tuple[Codes, Codes, Codes, Codes]:
    """Names of one to three authors, a clustering with some mentions astray, and one with a few more."""
    generator = np.random.default_rng(seed)
    name = np.repeat(np.arange(names), generator.integers(2, 12, names))
    author = 10 * name + generator.integers(0, 1 + name % 3)
    good = np.where(generator.random(len(name)) < 0.9, author, 10 * name + 7)
    worse = np.where(generator.random(len(name)) < 0.97, good, 10 * name + 8)
    return name, author, good, worse


def text_of(found: Comparison, width: int = 200) -> str:
    console = Console(width=width, file=StringIO())
    console.print(render_table(found))
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def written(path: Path, columns: dict[str, Any]) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
    else:
        rows = zip(*columns.values(), strict=True)
        path.write_text(",".join(columns) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A result that lacks one labelled mention, one that lacks two, and labels of which one is of no mention."""
    mentions = [f"d{i}#0" for i in range(1, 9)]
    gold = written(tmp_path / "gold.csv", {"mention_id": [*mentions, "d99#0"], "author": [1, 1, 1, 2, 3, 3, 4, 4, 9]})
    block = ["DOE"] * 4 + ["ROE"] * 2 + ["POE"] * 2
    clusters = ["a", "a", "b", "c", "d", "d", "e", "e"]
    ours = {"mention_id": [*mentions[:7], "x#0"], "block": block, "author_id": clusters}
    theirs = {"cluster": [0] * 6, "mention_id": mentions[2:]}
    return written(tmp_path / "ours.parquet", ours), written(tmp_path / "theirs.csv", theirs), gold


def test_differences_are_paired() -> None:
    name, author, good, worse = corpus()
    found = compare(name, author, {"good": good, "worse": worse})
    difference = found.differences["worse"]
    first, second = (found.results[label] for label in ("good", "worse"))
    assert difference.bcubed_f1 == second.bcubed.f1 - first.bcubed.f1
    low, high = difference.interval
    assert low < difference.bcubed_f1 < high < 0
    alone = first.intervals["bcubed_f1"]
    assert alone is not None
    # Names that are hard for one are hard for the other, so that the difference varies less than either value.
    assert high - low < alone[1] - alone[0]


def test_interval_of_a_difference_equals_a_direct_bootstrap() -> None:
    name, author, good, worse = corpus(60, seed=2)
    found = compare(name, author, {"good": good, "worse": worse}).differences["worse"].interval
    mentions = np.bincount(name)
    by_name = {}
    for label, clusters in (("good", good), ("worse", worse)):
        alone = [assess(name[name == n], author[name == n], clusters[name == n]).bcubed for n in range(60)]
        by_name[label] = mentions * np.array([[one.precision, one.recall] for one in alone]).T
    generator = np.random.default_rng(9)
    replicates = []
    for _ in range(4000):
        drawn = generator.integers(0, 60, 60)
        total = mentions[drawn].sum()
        f1 = {label: Scores(*(part[:, drawn].sum(axis=1) / total)).f1 for label, part in by_name.items()}
        replicates.append(f1["worse"] - f1["good"])
    expected = np.quantile(replicates, [0.025, 0.975])
    assert found == pytest.approx(expected, abs=0.15 * np.ptp(expected))


def test_a_result_does_not_differ_from_itself() -> None:
    name, author, good, _ = corpus()
    found = compare(name, author, {"one": good, "again": good + 1})
    assert found.differences["again"].as_dict() == {"bcubed_f1": 0.0, "interval": [0.0, 0.0]}
    assert found.results["one"] == found.results["again"] == assess(name, author, good)


def test_compares_on_common_mentions_only(files: tuple[Path, Path, Path]) -> None:
    ours, theirs, gold = files
    found = evaluate([ours, theirs], gold)
    assert isinstance(found, Comparison)
    assert list(found.results) == ["ours.parquet", "theirs.csv"]
    assert found.mentions == 5  # d3 to d7
    assert found.left_out == {"ours.parquet": 1, "theirs.csv": 2}
    assert found.labels_without_mention == 1
    first, second = found.results.values()
    assert (first.names, first.mentions_without_label, first.labels_without_mention) == (3, 1, 2)
    assert first.baseline_one_cluster == second.baseline_one_cluster
    # Within names, one cluster over everything is one cluster per name.
    assert second.bcubed == second.baseline_one_cluster.bcubed
    assert summary(found) == (
        "5 labelled mentions that all results have, of 3 names; ours.parquet lacks 1 labelled mention; "
        "theirs.csv lacks 2 labelled mentions; 1 label whose mention no result has"
    )


def test_names_come_from_the_first_result_that_has_blocks(files: tuple[Path, Path, Path]) -> None:
    ours, theirs, gold = files
    there, back = evaluate((ours, theirs), gold), evaluate([str(theirs), str(ours)], gold)
    assert there.first.names == back.first.names == 3
    assert there.results["ours.parquet"] == back.results["ours.parquet"]
    assert there.differences["theirs.csv"].bcubed_f1 == -back.differences["ours.parquet"].bcubed_f1
    nothing = evaluate([theirs, theirs], gold)
    assert (nothing.first.names, nothing.first.names_known) == (1, False)
    assert "everything counts as one name" in summary(nothing)
    assert list(nothing.results) == ["theirs.csv", "theirs.csv (2)"]


def test_one_path_in_a_list_is_a_comparison_of_one(files: tuple[Path, Path, Path]) -> None:
    found = evaluate([files[0]], files[2])
    assert found.results == {"ours.parquet": evaluate(files[0], files[2])}
    assert found.differences == {}


def test_json_and_page_have_the_same_values(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    ours, theirs, gold = files
    found = evaluate([ours, theirs], gold, json=tmp_path / "out.json", output=tmp_path / "out.html")
    read = orjson.loads((tmp_path / "out.json").read_bytes())
    assert read == found.as_dict()
    assert set(read) == {"results", "mentions", "left_out", "labels_without_mention", "differences"}
    assert {label: Evaluation.from_dict(one) for label, one in read["results"].items()} == found.results
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "theirs.csv: 2 labelled mentions missing that another result contains" in page
    assert "5 mentions of 3 names that all results contain" in page


def test_renders_results_side_by_side() -> None:
    name, author, good, worse = corpus()
    found = compare(name, author, {"good.parquet": good, "runs/worse.csv": worse})
    wide, narrow = text_of(found), text_of(found, width=80)
    assert "…" not in narrow
    difference = found.differences["runs/worse.csv"]
    for part in ("good.parquet", "runs/worse.csv", f"{difference.bcubed_f1:+.3f}", f"{found.first.people_found:,}"):
        assert part in wide
    assert f"{found.results['runs/worse.csv'].by_true_size[3].bcubed.f1:.3f}" in wide
    assert f"True number of authors: {found.first.people:,}." in wide
    assert found.first.people == len(np.unique(author))
    assert found.first.people_found == len(np.unique(good))


def test_nothing_in_common_shows_an_id_of_each(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    other = written(tmp_path / "other.csv", {"mention_id": ["W7_0"], "author": ["x"]})
    with pytest.raises(InputError, match=r"ours\.parquet is 'd1#0'; .*other\.csv is 'W7_0'; .*gold\.csv is 'd1#0'"):
        evaluate([files[0], other], files[2])


def test_rejects_repeated_mentions_with_file_and_id(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    twice = written(tmp_path / "twice.csv", {"mention_id": ["d3#0", "d3#0"], "author": ["x", "y"]})
    with pytest.raises(InputError, match=r"twice\.csv has mention d3#0 2 times"):
        evaluate([files[0], twice], files[2])


@pytest.mark.parametrize(
    ("paths", "labels"),
    [
        (["a.csv", "b.csv"], ["a.csv", "b.csv"]),
        (["x/a.csv", "y/a.csv", "y/b.csv"], ["x/a.csv", "y/a.csv", "b.csv"]),
        (["/r/x/a.csv", "/s/x/a.csv"], ["r/x/a.csv", "s/x/a.csv"]),
        (["a.csv", "x/a.csv"], ["a.csv", "x/a.csv"]),
        (["a.csv", "a.csv", "a.csv"], ["a.csv", "a.csv (2)", "a.csv (3)"]),
    ],
)
def test_labels_are_distinct(paths: list[str], labels: list[str]) -> None:
    assert distinct_labels([Path(path) for path in paths]) == labels


def test_the_command_takes_one_result_or_several(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    ours, theirs, gold = map(str, files)
    shown = homonym_command(
        "evaluate", ours, theirs, "--gold", gold, "--json", str(tmp_path / "2.json"), check=True
    ).stdout
    assert "theirs.csv lacks 2 labelled mentions" in " ".join(shown.split())
    assert orjson.loads((tmp_path / "2.json").read_bytes()) == evaluate([ours, theirs], gold).as_dict()
    options = ["--gold", gold, "--gold", gold, "--label", "author", "--names", ours, "-q"]
    assert homonym_command("evaluate", ours, *options, "--json", str(tmp_path / "1.json"), check=True).stdout == ""
    assert orjson.loads((tmp_path / "1.json").read_bytes()) == evaluate(ours, gold).as_dict()
