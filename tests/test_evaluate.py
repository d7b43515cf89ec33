"""A result against labels, from files to figures."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from homonym.errors import InputError, OutputError
from homonym.evaluation.evaluate import Evaluation, assess, evaluate, render_table, summary
from homonym.evaluation.measures import Scores

# DOE is two people, split into three; ROE is one person, found; the last mention has no label.
AUTHORS = {
    "mention_id": ["d1#0", "d2#0", "d3#0", "d4#0", "d5#0", "d6#0", "d7#0"],
    "document_id": ["d1", "d2", "d3", "d4", "d5", "d6", "d7"],
    "block": ["DOE", "DOE", "DOE", "DOE", "ROE", "ROE", "ROE"],
    "author_id": ["DOE/0", "DOE/0", "DOE/1", "DOE/2", "ROE/0", "ROE/0", "ROE/0"],
}
GOLD = "mention_id,author\nd1#0,1\nd2#0,1\nd3#0,1\nd4#0,2\nd5#0,1\nd6#0,1\nd99#0,7\n"


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.csv"
    path.write_text(GOLD)
    return path


def authors_file(folder: Path, name: str, columns: dict[str, Any] | None = None) -> Path:
    """Write a result in the format that its name asks for."""
    path, table = folder / name, pa.table(columns or AUTHORS)
    if name.endswith(".parquet"):
        pq.write_table(table, path)
        return path
    with pa.output_stream(str(path), compression="detect") as stream:
        if ".csv" in name:
            pyarrow.csv.write_csv(table, stream)
        else:
            stream.write(b"".join(orjson.dumps(row) + b"\n" for row in table.to_pylist()))
    return path


@pytest.fixture
def authors(tmp_path: Path) -> Path:
    return authors_file(tmp_path, "authors.parquet")


def same(scores: Scores, precision: float, recall: float) -> bool:
    return (scores.precision, scores.recall) == pytest.approx((precision, recall))


def random_codes(mentions: int = 400) -> tuple[np.ndarray[Any, Any], ...]:
    generator = np.random.default_rng(5)
    names = generator.integers(0, 12, mentions)
    # Name n has about n + 1 authors, of whom some occur under several names.
    return names, generator.integers(0, names + 1) + names % 3, generator.integers(0, 5, mentions) + 100 * names


@pytest.mark.parametrize(
    "name", ["a.parquet", "a.csv", "a.csv.gz", "a.jsonl", "a.jsonl.gz"], ids=lambda name: str(name)[2:]
)
def test_every_format_of_a_result_gives_the_same_figures(tmp_path: Path, gold: Path, name: str) -> None:
    found = evaluate(authors_file(tmp_path, name), gold)
    assert (found.names, found.mentions) == (2, 6)
    assert (found.mentions_without_label, found.labels_without_mention) == (1, 1)
    assert found.pairwise == Scores(1.0, 0.5)
    assert same(found.bcubed, 1.0, (2 * 2 / 3 + 1 / 3 + 1 + 1 + 1) / 6)
    assert found.by_true_size[1].bcubed == Scores(1.0, 1.0)
    assert same(found.by_true_size[2].bcubed, 1.0, (2 * 2 / 3 + 1 / 3 + 1) / 4)
    assert found.by_true_size[2].mean_clusters == 3
    assert found.by_true_size[2].baseline_one_cluster == Scores((3 * 3 / 4 + 1 / 4) / 4, 1.0)


def test_authors_are_whole_across_names(authors: Path, gold: Path) -> None:
    found = evaluate(authors, gold)
    # Person 1 has five mentions, in groups of two, one and two.
    assert same(found.bcubed_across_names, 1.0, (2 * 0.4 + 0.2 + 2 * 0.4 + 1) / 6)
    assert found.bcubed_across_names.recall < found.bcubed.recall


def test_ids_may_be_numbers(tmp_path: Path) -> None:
    columns = {"mention_id": [1, 2, 3], "block": [0, 0, 1], "author_id": [0, 0, 0]}
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(f'{{"mention_id": {i}, "author": "x"}}\n' for i in (1, 2, 3)))
    for name in ("n.parquet", "n.csv", "n.jsonl"):
        found = evaluate(authors_file(tmp_path, name, columns), gold)
        assert (found.names, found.mentions, found.pairwise) == (2, 3, Scores(1.0, 1.0))


def test_json_has_the_keys_of_the_contract(tmp_path: Path, authors: Path, gold: Path) -> None:
    found = evaluate(str(authors), str(gold), json=str(tmp_path / "out.json"))
    written = orjson.loads((tmp_path / "out.json").read_bytes())
    assert written == found.as_dict()
    assert set(written) == {
        "names", "mentions", "mentions_without_label", "labels_without_mention", "bcubed", "pairwise",
        "pairwise_with_self", "bcubed_across_names", "baseline_one_cluster", "baseline_singletons", "by_true_size",
        "mean_over_true_sizes_1_to_10",
    }  # fmt: skip
    assert set(written["bcubed"]) == {"precision", "recall", "f1"}
    assert set(written["baseline_singletons"]) == {"bcubed", "pairwise", "pairwise_with_self"}
    assert list(written["by_true_size"]) == ["1", "2"]
    row = written["by_true_size"]["2"]
    assert set(row) == {
        "names", "mean_clusters", "bcubed", "pairwise_with_self", "baseline_one_cluster", "baseline_singletons",
    }  # fmt: skip
    assert set(row["baseline_one_cluster"]) == {"precision", "recall", "f1"}
    assert Evaluation.from_dict(written) == found


def test_true_sizes_average_over_names_and_are_in_order() -> None:
    names, authors, clusters = random_codes()
    found = assess(names, authors, clusters)
    true_size = {int(n): len(set(authors[names == n].tolist())) for n in np.unique(names)}
    assert list(found.by_true_size) == sorted(set(true_size.values()))
    for size, row in found.by_true_size.items():
        alone = [
            assess(*(c[names == n] for c in (names, authors, clusters))) for n in true_size if true_size[n] == size
        ]
        assert row.names == len(alone)
        assert row.bcubed.precision == pytest.approx(np.mean([one.bcubed.precision for one in alone]))
        assert row.bcubed.recall == pytest.approx(np.mean([one.bcubed.recall for one in alone]))
        assert row.pairwise_with_self.recall == pytest.approx(np.mean([one.pairwise_with_self.recall for one in alone]))
        assert row.baseline_singletons.recall == pytest.approx(
            np.mean([one.baseline_singletons.bcubed.recall for one in alone])
        )
    shown = [row.bcubed.f1 for size, row in found.by_true_size.items() if size <= 10]
    assert found.mean_over_true_sizes_1_to_10 == pytest.approx(np.mean(shown))


def test_large_true_sizes_share_a_row() -> None:
    names = np.repeat([0, 1, 2], [2, 12, 36])
    authors = np.concatenate([[0, 1], np.arange(12), np.repeat(np.arange(18), 2)])
    found = assess(names, authors, names)
    assert list(found.by_true_size) == [2, 12, 18]
    rows = found.folded()
    assert list(rows) == ["2", "11+"]
    assert (rows["11+"].names, rows["11+"].mean_clusters) == (2, 1.0)
    assert rows["11+"].bcubed.precision == pytest.approx((1 / 12 + 1 / 18) / 2)
    assert found.mean_over_true_sizes_1_to_10 == found.by_true_size[2].bcubed.f1
    only_large = assess(names[2:], authors[2:], names[2:])
    assert only_large.mean_over_true_sizes_1_to_10 is None
    assert only_large.as_dict()["mean_over_true_sizes_1_to_10"] is None


def test_order_of_mentions_and_names_of_labels_do_not_matter() -> None:
    codes = random_codes()
    order = np.random.default_rng(0).permutation(len(codes[0]))
    before, after = assess(*codes).as_dict(), assess(*(7 - 3 * code[order] for code in codes)).as_dict()

    def rounded(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: rounded(part) for key, part in value.items()}
        return round(value, 12)

    assert rounded(before) == rounded(after)


def test_the_table_says_what_was_left_out(authors: Path, gold: Path) -> None:
    gold.write_text(GOLD + "one,two,three\n")
    found = evaluate(authors, gold)
    console = Console(width=200, file=StringIO())
    console.print(render_table(found))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    narrow = Console(width=80, file=StringIO())
    narrow.print(render_table(found))
    assert "…" not in narrow.file.getvalue()  # type: ignore[attr-defined]
    assert summary(found) == (
        "6 labelled mentions of 2 names; 1 mention without a label left out; "
        "1 label whose mention the result lacks; 1 line of the labels could not be parsed"
    )
    for part in (summary(found), "B-cubed across names", "pairs with self", "pair F1", "averaged over true sizes"):
        assert part in text


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.jsonl"])
def test_missing_columns_are_named(tmp_path: Path, gold: Path, name: str) -> None:
    columns = {"mention_id": ["d1#0"], "cluster": ["x"], "block": ["DOE"]}
    with pytest.raises(InputError, match=r"lacks author_id: .* found mention_id, cluster, block"):
        evaluate(authors_file(tmp_path, name, columns), gold)


def test_a_mention_with_two_authors_is_named(tmp_path: Path, gold: Path) -> None:
    columns = {"mention_id": ["d1#0", "d2#0", "d2#0"], "block": ["DOE"] * 3, "author_id": ["0", "0", "1"]}
    with pytest.raises(InputError, match="has mention d2#0 2 times"):
        evaluate(authors_file(tmp_path, "twice.parquet", columns), gold)


def test_nulls_and_broken_lines_of_a_result_are_refused(tmp_path: Path, gold: Path) -> None:
    columns = {"mention_id": ["d1#0", "d2#0"], "block": ["DOE", None], "author_id": ["0", "0"]}
    with pytest.raises(InputError, match="rows without"):
        evaluate(authors_file(tmp_path, "null.parquet", columns), gold)
    with pytest.raises(InputError, match="line 2 lacks block"):
        evaluate(authors_file(tmp_path, "null.jsonl", columns), gold)
    broken = authors_file(tmp_path, "broken.jsonl")
    broken.write_text(broken.read_text() + '{"mention_id"\n')
    with pytest.raises(InputError, match="line 8 is not a JSON object"):
        evaluate(broken, gold)
    torn = authors_file(tmp_path, "torn.csv")
    torn.write_text(torn.read_text() + "d8#0,d8\n")
    with pytest.raises(InputError, match="Expected 4 columns, got 2"):
        evaluate(torn, gold)


@pytest.mark.parametrize("name", ["none.parquet", "none.csv"])
def test_a_result_without_rows_has_nothing_in_common(tmp_path: Path, gold: Path, name: str) -> None:
    columns = {column: pa.array([], pa.string()) for column in ("mention_id", "block", "author_id")}
    with pytest.raises(InputError, match="no mention in common"):
        evaluate(authors_file(tmp_path, name, columns), gold)


def test_nothing_in_common_is_an_error(authors: Path, gold: Path) -> None:
    gold.write_text("mention_id,author\nother,1\n")
    with pytest.raises(InputError, match="no mention in common"):
        evaluate(authors, gold)


def test_outputs_are_checked_before_the_work(tmp_path: Path, authors: Path, gold: Path) -> None:
    with pytest.raises(OutputError, match="does not exist"):
        evaluate(authors, gold, output=tmp_path / "nowhere" / "report.html")
    with pytest.raises(InputError, match="cannot be read"):
        evaluate(tmp_path / "missing.parquet", gold)


def test_the_page_is_written(tmp_path: Path, authors: Path, gold: Path) -> None:
    evaluate(authors, gold, output=tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "authors.parquet" in page


def test_importing_it_is_light() -> None:
    check = "import sys, homonym.evaluation.evaluate; print({'matplotlib', 'duckdb', 'rich'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
