"""Evaluation of results against labels, from files to measures."""

from __future__ import annotations

import bz2
import gzip
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from pyarrow import feather
from rich.console import Console

from homonym.commands.evaluate import circular_labels, evaluate
from homonym.errors import InputError, OutputError
from homonym.evaluation.assessment import Evaluation, assess
from homonym.evaluation.rendering import interval_text, render_table, summary
from homonym.io.inputs import Source
from homonym.measures.agreement import Scores
from tests.support.command import homonym_command

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


def test_counts_authors_across_names(authors: Path, gold: Path) -> None:
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
        "mean_over_true_sizes_1_to_10", "macro", "cluster_level", "k_metric", "splitting_error", "lumping_error",
        "intervals", "gold_lines_skipped", "mentions_with_several_labels", "names_known",
    }  # fmt: skip
    assert set(written["bcubed"]) == {"precision", "recall", "f1"}
    assert set(written["k_metric"]) == {"acp", "aap", "k"}
    assert set(written["macro"]) == set(written["baseline_singletons"]) == {
        "bcubed", "pairwise", "pairwise_with_self", "cluster_level", "k_metric", "splitting_error", "lumping_error",
    }  # fmt: skip
    assert set(written["intervals"]) == {
        "bcubed_f1", "pairwise_f1", "pairwise_with_self_f1", "mean_over_true_sizes_1_to_10",
        "bcubed_f1_beyond_true_size_10",
    }  # fmt: skip
    low, high = written["intervals"]["bcubed_f1"]
    assert 0.0 <= low <= written["bcubed"]["f1"] <= high <= 1.0
    assert list(written["by_true_size"]) == ["1", "2"]
    row = written["by_true_size"]["2"]
    assert set(row) == {
        "names", "mean_clusters", "bcubed", "pairwise_with_self", "baseline_one_cluster", "baseline_singletons",
        "cluster_level", "k_metric", "splitting_error", "lumping_error", "bcubed_f1_interval",
    }  # fmt: skip
    assert row["bcubed_f1_interval"] == [row["bcubed"]["f1"]] * 2  # of one name
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
        assert row.cluster_level.recall == pytest.approx(np.mean([one.cluster_level.recall for one in alone]))
        assert row.splitting_error == pytest.approx(np.mean([one.splitting_error for one in alone]))
        assert row.lumping_error == pytest.approx(np.mean([one.lumping_error for one in alone]))
        assert row.k_metric.aap == pytest.approx(np.mean([one.k_metric.aap for one in alone]))
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


def rounded(value: Any) -> Any:
    """All figures of a JSON but intervals, which depend on the order of the names' codes."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items() if "interval" not in key}
    return round(value, 12)


def test_order_of_mentions_and_names_of_labels_do_not_matter() -> None:
    codes = random_codes()
    order = np.random.default_rng(0).permutation(len(codes[0]))
    before, after = assess(*codes), assess(*(7 - 3 * code[order] for code in codes))
    assert rounded(before.as_dict()) == rounded(after.as_dict())
    shuffled = assess(*(code[order] for code in codes))
    assert shuffled.intervals["bcubed_f1"] == pytest.approx(before.intervals["bcubed_f1"], abs=1e-12)
    for known, again in zip(before.intervals.values(), after.intervals.values(), strict=True):
        assert again == (pytest.approx(known, abs=0.02) if known else None)


def test_nothing_depends_on_the_order_of_rows(tmp_path: Path, gold: Path) -> None:
    first = evaluate(authors_file(tmp_path, "a.csv"), gold, json=tmp_path / "a.json")
    backwards = {column: values[::-1] for column, values in AUTHORS.items()}
    head, *lines = GOLD.splitlines(keepends=True)
    gold.write_text(head + "".join(lines[::-1]))
    assert evaluate(authors_file(tmp_path, "b.parquet", backwards), gold, json=tmp_path / "b.json") == first
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_intervals_equal_a_direct_bootstrap() -> None:
    names, authors, clusters = random_codes(2000)
    found = assess(names, authors, clusters)
    alone = [assess(*(code[names == n] for code in (names, authors, clusters))) for n in np.unique(names)]
    mentions = np.array([one.mentions for one in alone])
    precision, recall = (
        np.array([getattr(one.bcubed, part) for one in alone]) * mentions for part in ("precision", "recall")
    )
    generator = np.random.default_rng(1)
    replicates = []
    for _ in range(4000):
        drawn = generator.integers(0, len(alone), len(alone))
        total = mentions[drawn].sum()
        replicates.append(Scores(precision[drawn].sum() / total, recall[drawn].sum() / total).f1)
    width = np.ptp(np.quantile(replicates, [0.025, 0.975]))
    assert found.intervals["bcubed_f1"] == pytest.approx(np.quantile(replicates, [0.025, 0.975]), abs=0.15 * width)
    for key in ("pairwise_f1", "pairwise_with_self_f1"):
        low, high = found.intervals[key] or (1.0, 0.0)
        assert low < getattr(found, key.removesuffix("_f1")).f1 < high
    low, high = found.intervals["mean_over_true_sizes_1_to_10"] or (1.0, 0.0)
    assert low <= (found.mean_over_true_sizes_1_to_10 or 0.0) <= high


def test_many_names_give_narrow_intervals_and_few_wide_ones() -> None:
    generator = np.random.default_rng(3)
    names = np.repeat(np.arange(2000), 6)
    authors = generator.integers(0, 2, len(names))
    clusters = np.where(generator.random(len(names)) < 0.8, authors, 2)

    def width(first: int) -> float:
        low, high = (
            assess(*(code[: 6 * first] for code in (names, authors, clusters))).by_true_size[2].bcubed_f1_interval
        )
        return high - low

    assert width(2000) < width(200) < width(20)
    assert width(2000) == pytest.approx(width(200) / np.sqrt(10), rel=0.3)


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
    for part in (
        "exact clusters",
        "K-metric",
        "splitting error",
        "lumping error",
        interval_text(found.intervals["bcubed_f1"]),
    ):
        assert part in text


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.jsonl"])
def test_names_missing_columns(tmp_path: Path, gold: Path, name: str) -> None:
    columns = {"mention_id": ["d1#0"], "person": ["x"], "block": ["DOE"]}
    with pytest.raises(InputError, match=r"lacks author_id \(or author, or cluster\), found mention_id, person, block"):
        evaluate(authors_file(tmp_path, name, columns), gold)
    with pytest.raises(InputError, match=r"lacks mention_id and author_id \(or author, or cluster\), found id"):
        evaluate(authors_file(tmp_path, "id.jsonl", {"id": ["d1"]}), gold)
    with pytest.raises(InputError, match="lacks mention_id, found id, cluster"):
        evaluate(authors_file(tmp_path, "id.csv", {"id": ["d1"], "cluster": ["x"]}), gold)


@pytest.mark.parametrize("column", ["author", "cluster"])
@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.jsonl"])
def test_a_result_needs_a_mention_and_a_cluster_only(tmp_path: Path, gold: Path, column: str, name: str) -> None:
    columns = {"note": ["x"] * 7, column: AUTHORS["author_id"], "mention_id": AUTHORS["mention_id"]}
    names = authors_file(tmp_path, "names.csv", {key: AUTHORS[key] for key in ("mention_id", "block")})
    expected = evaluate(authors_file(tmp_path, "whole.parquet"), gold)
    assert evaluate(authors_file(tmp_path, name, columns), gold, names=names) == expected


def test_rejects_a_mention_with_two_authors(tmp_path: Path, gold: Path) -> None:
    columns = {"mention_id": ["d1#0", "d2#0", "d2#0"], "block": ["DOE"] * 3, "author_id": ["0", "0", "1"]}
    with pytest.raises(InputError, match="has mention d2#0 2 times"):
        evaluate(authors_file(tmp_path, "twice.parquet", columns), gold)


def test_rejects_results_with_nulls_or_broken_lines(tmp_path: Path, gold: Path) -> None:
    columns = {"mention_id": ["d1#0", "d2#0"], "block": ["DOE", None], "author_id": ["0", "0"]}
    for name in ("null.parquet", "null.jsonl", "null.csv"):
        with pytest.raises(InputError, match="mention d2#0 has no block"):
            evaluate(authors_file(tmp_path, name, columns), gold)
        with pytest.raises(InputError, match="mention d1#0 has no author_id; each row"):
            evaluate(authors_file(tmp_path, name, columns | {"author_id": ["", "0"]}), gold)
    with pytest.raises(InputError, match=r"list\.jsonl, line 1: author_id: an id or label is a string"):
        evaluate(authors_file(tmp_path, "list.jsonl", columns | {"author_id": [["0"], ["1"]]}), gold)
    broken = authors_file(tmp_path, "broken.jsonl")
    broken.write_text(broken.read_text() + '{"mention_id"\n')
    with pytest.raises(InputError, match="line 8: not valid JSON"):
        evaluate(broken, gold)
    torn = authors_file(tmp_path, "torn.csv")
    torn.write_text(torn.read_text() + "d8#0,d8\n")
    with pytest.raises(InputError, match=r"torn\.csv, line 9: expected 4 columns, got 2; correct or remove the row"):
        evaluate(torn, gold)


@pytest.mark.parametrize("name", ["none.parquet", "none.csv"])
def test_a_result_without_rows_has_nothing_in_common(tmp_path: Path, gold: Path, name: str) -> None:
    columns = {column: pa.array([], pa.string()) for column in ("mention_id", "block", "author_id")}
    with pytest.raises(InputError, match=r"no mention in common .*none at all.*'d1#0'"):
        evaluate(authors_file(tmp_path, name, columns), gold)


def test_nothing_in_common_is_an_error_that_shows_ids(authors: Path, gold: Path) -> None:
    gold.write_text("mention_id,author\nother,1\n")
    with pytest.raises(InputError, match=r"no mention in common .*parquet is 'd1#0'; the first id of .*csv is 'other'"):
        evaluate(authors, gold)


PACKERS = [gzip.compress, bz2.compress, lambda content: pa.compress(content, "zstd", asbytes=True)]


@pytest.mark.parametrize("pack", PACKERS, ids=["gzip", "bz2", "zstd"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_reads_compressed_results_in_any_encoding(
    tmp_path: Path, gold: Path, pack: Callable[[bytes], bytes], encoding: str
) -> None:
    expected = evaluate(authors_file(tmp_path, "plain.csv"), gold)
    text = (tmp_path / "plain.csv").read_text().replace("DOE", "DÖE").replace(",", ";")
    (tmp_path / "packed").write_bytes(pack(text.encode(encoding)))
    assert evaluate(tmp_path / "packed", gold) == expected


def test_reads_arrow_results(tmp_path: Path, authors: Path, gold: Path) -> None:
    feather.write_feather(pa.table(AUTHORS), tmp_path / "a.arrow")
    assert evaluate(tmp_path / "a.arrow", gold) == evaluate(authors, gold)


def test_detects_the_format_of_each_file_once(tmp_path: Path, gold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    enter = Source.__enter__

    def counted_enter(source: Source) -> Source:
        opened.append(source.path.name)
        return enter(source)

    monkeypatch.setattr(Source, "__enter__", counted_enter)
    evaluate(authors_file(tmp_path, "a.csv"), gold)
    assert sorted(opened) == ["a.csv", "gold.csv"]


def test_rejects_empty_results_and_json_that_is_not_utf8(tmp_path: Path, gold: Path) -> None:
    result = tmp_path / "result.csv"
    result.write_bytes(b"")
    with pytest.raises(InputError, match=r"result\.csv is empty"):
        evaluate(result, gold)
    result.write_bytes('{"mention_id": "d1#0", "author_id": "Müller"}\n'.encode("latin-1"))
    with pytest.raises(InputError, match=r"line 1: not UTF-8"):
        evaluate(result, gold)
    with pytest.raises(InputError, match="at least one result"):
        evaluate([], gold)


BARE = {"mention_id": AUTHORS["mention_id"], "cluster": AUTHORS["author_id"]}
DOCUMENTS = "".join(
    f'{{"id": "d{i}", "authors": [{{"name": "{name}", "author": "{label}"}}]}}\n'
    for i, name, label in [
        (1, "Doe, J", 1), (2, "J. Doe", 1), (3, "Jane Doe", 1), (4, "DOE J", 2), (5, "Roe, R", 1), (6, "R Roe", 1),
    ]
)  # fmt: skip


def test_without_blocks_the_names_of_labelled_documents_count(tmp_path: Path, authors: Path, gold: Path) -> None:
    documents = tmp_path / "documents.jsonl"
    documents.write_text(DOCUMENTS)
    bare = authors_file(tmp_path, "bare.csv", BARE)
    expected = evaluate(authors, gold)
    for found in (evaluate(bare, documents), evaluate(bare, gold, names=documents)):
        assert found.names_known
        assert rounded(found.as_dict()) == rounded(expected.as_dict()) | {
            "labels_without_mention": found.labels_without_mention
        }


def test_label_files_may_contain_names(tmp_path: Path, gold: Path) -> None:
    blocks = dict(zip(AUTHORS["mention_id"], AUTHORS["block"], strict=True))
    rows = [line.split(",") for line in GOLD.splitlines()[1:]]
    bare = authors_file(tmp_path, "bare.csv", BARE)
    gold.write_text("mention_id,author,block\n" + "".join(f"{m},{a},{blocks.get(m, 'X')}\n" for m, a in rows))
    assert evaluate(bare, gold).names == 2
    mentions = tmp_path / "mentions.jsonl"
    mentions.write_text(
        "".join(f'{{"mention_id": "{m}", "author": {a}, "name": "{blocks.get(m)}"}}\n' for m, a in rows)
    )
    assert evaluate(bare, mentions).names == 2


def test_without_names_all_mentions_count_as_one_name(tmp_path: Path, gold: Path) -> None:
    found = evaluate(authors_file(tmp_path, "bare.csv", BARE), gold, json=tmp_path / "found.json")
    assert (found.names, found.names_known, list(found.by_true_size)) == (1, False, [2])
    assert "no file says which mentions share a name, so everything counts as one name" in summary(found)
    assert found.mean_over_true_sizes_1_to_10 is None
    assert found.intervals["mean_over_true_sizes_1_to_10"] is None
    console = Console(width=120, file=StringIO())
    console.print(render_table(found))
    assert "averaged over true sizes" not in console.file.getvalue()  # type: ignore[attr-defined]
    assert Evaluation.from_dict(orjson.loads((tmp_path / "found.json").read_bytes())) == found


def test_names_must_be_known_for_all_or_none(tmp_path: Path, gold: Path) -> None:
    bare = authors_file(tmp_path, "bare.csv", BARE)
    names = tmp_path / "names.csv"
    names.write_text("mention_id,block\nd1#0,DOE\nd1#0,ROE\nd2#0,\n")
    with pytest.raises(InputError, match=r"names\.csv gives no block or name for 5 labelled mentions, such as d2#0"):
        evaluate(bare, gold, names=names)
    names.write_text("mention_id,name\nd1#0,DOE\n")
    with pytest.raises(InputError, match="no block or name for 6 labelled mentions"):
        evaluate(bare, gold, names=names)
    with pytest.raises(InputError, match="cannot be read"):
        evaluate(bare, gold, names=tmp_path / "missing.csv")


def test_uses_the_first_of_repeated_names_and_prefers_blocks(tmp_path: Path, gold: Path) -> None:
    names = tmp_path / "names.jsonl"
    first = '{"id": "d1", "authors": [{"name": "Doe, J", "block": "ROE, R"}]}\n'
    names.write_text(first + "broken\n[]\n" + '{"id": 7, "authors": 3}\n' + DOCUMENTS)
    found = evaluate(authors_file(tmp_path, "bare.csv", BARE), gold, names=names)
    assert {size: row.names for size, row in found.by_true_size.items()} == {1: 1, 2: 1}
    assert found.by_true_size[1].mean_clusters == 2


def test_identifiers_in_several_files_can_be_labels(tmp_path: Path, authors: Path) -> None:
    first, second = tmp_path / "1.jsonl", tmp_path / "2.csv"
    first.write_text(
        '{"id": "d1", "authors": [{"name": "Doe, J", "ids": {"ORCID": "https://orcid.org/0000-0001-0000-000x"}}]}\n'
        '{"id": "d2", "authors": [{"name": "Doe", "ids": {"orcid": ["0000-0001-0000-0001", "0000-0001-0000-0002"]}}]}\n'
    )
    second.write_text("mention_id,Orc_id\nd3#0,0000-0001-0000-000X\n")
    found = evaluate(authors, [first, second], label="orcid")
    assert (found.mentions, found.mentions_with_several_labels, found.pairwise) == (2, 1, Scores(1.0, 0.0))
    assert "1 mention with several different identifiers left out" in summary(found)


def test_checks_outputs_before_any_work(tmp_path: Path, authors: Path, gold: Path) -> None:
    with pytest.raises(OutputError, match="does not exist"):
        evaluate(authors, gold, output=tmp_path / "nowhere" / "report.html")
    with pytest.raises(OutputError, match=r"figures\.csv: the output is a page, so its name must end in \.html"):
        evaluate(authors, gold, output=tmp_path / "figures.csv")
    with pytest.raises(InputError, match="cannot be read"):
        evaluate(tmp_path / "missing.parquet", gold)


def test_writes_the_page(tmp_path: Path, authors: Path, gold: Path) -> None:
    evaluate(authors, gold, output=tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "authors.parquet" in page
    assert "95\N{NO-BREAK SPACE}% interval" in page


def test_page_lists_the_worst_names(tmp_path: Path) -> None:
    rows = [("d1#0", "DOE, J", "x"), ("d2#0", "DOE, J", "x"), ("d1#1", "ROE, R", "y"), ("d2#1", "ROE, R", "y")]
    result, gold = tmp_path / "result.csv", tmp_path / "gold.csv"
    result.write_text("mention_id,block,author_id\n" + "".join(f'{m},"{name}",{a}\n' for m, name, a in rows))
    gold.write_text("mention_id,author\nd1#0,1\nd2#0,2\nd1#1,3\nd2#1,3\n")
    done = homonym_command("evaluate", result, "--gold", gold, "-o", tmp_path / "page.html", check=True)
    assert done.stdout.splitlines()[-1] == str(tmp_path / "page.html")
    worst = (tmp_path / "page.html").read_text(encoding="utf-8").split("<h2>Worst names</h2>")[1].split("</section>")[0]
    assert "<td>DOE, J</td><td>2</td><td>2</td><td>1</td>" in worst
    assert "ROE, R" not in worst
    quiet = homonym_command("evaluate", result, "--gold", gold, "-o", tmp_path / "page.html", "-q", check=True)
    assert quiet.stdout == ""


def test_import_does_not_load_heavy_libraries() -> None:
    check = "import sys, homonym.commands.evaluate; print({'matplotlib', 'duckdb', 'rich'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_labels_that_were_constraints_are_a_warning(tmp_path: Path, gold: Path) -> None:
    authors = authors_file(tmp_path, "authors.csv")
    assert circular_labels(authors, "orcid") == []  # not made by homonym, as far as files tell
    settings = tmp_path / "authors.settings.toml"
    settings.write_text('identifiers = "orcid,email"\n')
    (warning,) = circular_labels([str(authors)], "ORCID")
    assert "authors.csv was made with ORCID as a constraint" in warning
    assert "--constraints names,documents" in warning
    assert circular_labels(authors, "author") == circular_labels(authors, "isni") == []
    settings.write_text('constraints = "names,documents"\n')
    assert circular_labels(authors, "orcid") == []
    settings.write_text("=")
    assert circular_labels(authors, "orcid") == []
    settings.write_text('identifiers = "author"\n')  # an identifier that has the name of the label
    assert "warning: " in homonym_command("evaluate", authors, "--gold", gold).stderr
