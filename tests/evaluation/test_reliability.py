"""Calibration of confidence: bins, errors, missing values, and where it is shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import orjson
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from homonym.calibration.limit import SEEDS, CalibratedLimit
from homonym.cli.terminal import show_summary
from homonym.commands.demo import Demonstration, demo
from homonym.commands.evaluate import evaluate
from homonym.commands.result import Summary
from homonym.evaluation.assessment import Evaluation
from homonym.evaluation.reliability import BINS, Bin, Reliability, measure_reliability
from homonym.evaluation.rendering import reliability_lines
from homonym.io.result_directory import MENTIONS
from homonym.records.model import Problems
from homonym.report.evaluation_page import render_page
from homonym.report.figures import reliability_diagram
from homonym.settings import Limit, Settings
from tests.commands.test_evaluate import authors_file
from tests.support.command import homonym_command
from tests.support.html_page import Page

FORMATS = ["a.parquet", "a.csv", "a.csv.gz", "a.jsonl"]

# Author A/1 is three mentions of one person and one of another, A/2 is two mentions of that other, B/1 is alone.
PEOPLE = ["p", "p", "p", "q", "q", "q", "r"]
RESULT: dict[str, list[Any]] = {
    "mention_id": [f"m{i}" for i in range(7)],
    "block": ["A"] * 6 + ["B"],
    "author_id": ["A/1"] * 4 + ["A/2"] * 2 + ["B/1"],
    "confidence": [0.9, 0.9, 0.9, 0.5, 0.8, 0.8, 1.0],
    "author_confidence": [0.8, 0.8, 0.8, 0.8, 0.75, 0.75, 1.0],
}


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.csv"
    path.write_text("mention_id,author\n" + "".join(f"m{i},{person}\n" for i, person in enumerate(PEOPLE)))
    return path


def written(folder: Path, name: str, **columns: list[Any] | None) -> Path:
    """Write the result in the format that its name asks for, with columns replaced, or left out where None."""
    kept = {column: values for column, values in (RESULT | columns).items() if values is not None}
    return authors_file(folder, name, kept)


def stated_and_right(groups: Sequence[tuple[int, int]]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Mentions in groups of some size with so many right: the share of its group for each mention, and who is right."""
    share = np.concatenate([np.full(size, held / size) for size, held in groups])
    return share, np.concatenate([np.arange(size) < held for size, held in groups])


SHARES = st.lists(
    st.integers(1, 60).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size))), min_size=1, max_size=30
)


@given(SHARES)
def test_perfect_calibration_has_no_error(groups: list[tuple[int, int]]) -> None:
    stated, right = stated_and_right(groups)
    found = measure_reliability(right, {"confidence": stated})
    assert found is not None
    assert found.mean_error == pytest.approx(0, abs=1e-12)
    assert found.largest_error == pytest.approx(0, abs=1e-12)
    assert found.stated == pytest.approx(found.true) == pytest.approx(right.mean())


@given(SHARES, st.floats(-0.2, 0.2))
def test_a_constant_error_is_measured(groups: list[tuple[int, int]], error: float) -> None:
    stated, right = stated_and_right(groups)
    found = measure_reliability(right, {"confidence": stated + error})
    assert found is not None
    assert found.mean_error == pytest.approx(abs(error), abs=1e-12)
    assert found.largest_error == pytest.approx(abs(error), abs=1e-12)
    assert found.stated - found.true == pytest.approx(error, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=200), st.randoms())
def test_bins_are_runs_of_whole_values_whatever_the_order(mentions: list[tuple[int, bool]], random: Any) -> None:
    stated, right = np.array([value / 20 for value, _ in mentions]), np.array([held for _, held in mentions])
    found = measure_reliability(right, {"confidence": stated})
    assert found is not None
    assert len(found.bins) <= BINS
    assert found.mentions == len(mentions)
    ordered, ends = np.sort(stated), np.cumsum([part.mentions for part in found.bins])
    for start, end, part in zip([0, *ends[:-1]], ends, found.bins, strict=True):
        assert end == len(ordered) or ordered[end - 1] < ordered[end]  # equal values are in one bin
        inside = (stated >= ordered[start]) & (stated <= ordered[end - 1])
        assert (part.stated, part.true) == pytest.approx((stated[inside].mean(), right[inside].mean()))
    shuffled = random.sample(range(len(mentions)), len(mentions))
    assert measure_reliability(right[shuffled], {"confidence": stated[shuffled]}) == found


@given(st.integers(1, 30))
def test_without_equal_values_bins_are_of_equal_size(size: int) -> None:
    found = measure_reliability(np.ones(BINS * size, bool), {"confidence": np.linspace(0, 1, BINS * size)})
    assert found is not None
    assert [part.mentions for part in found.bins] == [size] * BINS


def test_one_value_is_one_bin() -> None:
    found = measure_reliability(np.array([True, False, True, True]), {"confidence": np.full(4, 0.9)})
    assert found == Reliability((Bin(4, 0.9, 0.75),))


def test_small_bins_count_for_the_mean_but_not_the_largest_error() -> None:
    # 985 of 1,000 are calibrated; 15 between two large groups of equal confidence are all wrong.
    sizes, stated = [500, 15, 485], [0.5, 0.6, 1.0]
    right = np.concatenate([np.arange(500) < 250, np.zeros(15, bool), np.ones(485, bool)])
    found = measure_reliability(right, {"confidence": np.repeat(stated, sizes)})
    assert found is not None
    assert [part.mentions for part in found.bins] == sizes
    assert found.mean_error == pytest.approx(0.6 * 15 / 1000)
    assert found.largest_error == pytest.approx(0)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_of_a_result_gives_the_same_figures(tmp_path: Path, gold: Path, name: str) -> None:
    found = evaluate(written(tmp_path, name), gold, json=tmp_path / "out.json")
    assert found.confidence is not None
    rows = [(part.mentions, part.stated, part.true) for part in found.confidence.bins]
    assert rows == [(1, 0.5, 0.0), (2, 0.8, 1.0), (3, pytest.approx(0.9), 1.0), (1, 1.0, 1.0)]
    assert found.confidence.mean_error == pytest.approx((0.5 + 2 * 0.2 + 3 * 0.1) / 7)
    assert found.confidence.largest_error == pytest.approx(0.5)
    assert (found.confidence.stated, found.confidence.true) == pytest.approx((5.8 / 7, 6 / 7))
    json = orjson.loads((tmp_path / "out.json").read_bytes())
    assert set(json["confidence"]) == {
        "mentions", "stated", "true", "mean_error", "largest_error", "bins", "authors", "lone",
    }  # fmt: skip
    assert set(json["confidence"]["bins"][0]) == {"mentions", "stated", "true"}
    assert json["confidence"]["mentions"] == 7
    assert Evaluation.from_dict(json) == found


def test_lone_mention_is_correct_if_its_person_has_no_other_mention_of_the_name(tmp_path: Path, gold: Path) -> None:
    """B/1 is the only mention of its person; A/2, split off from its person, has mentions in A/1, too."""
    authors = ["A/1"] * 5 + ["A/2", "B/1"]
    found = evaluate(written(tmp_path, "a.csv", author_id=authors), gold).confidence
    assert found is not None
    assert found.lone == Reliability((Bin(1, 0.8, 0.0), Bin(1, 1.0, 1.0)))
    assert found.true == pytest.approx(4 / 7)  # p, p, p of A/1, and B/1


def test_mention_with_an_unlabelled_one_is_not_alone(tmp_path: Path, gold: Path) -> None:
    more = {column: [*values, values[-1]] for column, values in RESULT.items()}
    found = evaluate(written(tmp_path, "a.csv", **more | {"mention_id": [*RESULT["mention_id"], "m99"]}), gold)
    assert found.confidence is not None
    assert found.confidence.lone is None
    assert "lone" not in found.as_dict()["confidence"]


@pytest.mark.slow
def test_lone_mentions_are_shown_apart(tmp_path: Path, gold: Path) -> None:
    found = evaluate(written(tmp_path, "a.csv"), gold)
    words = "stated 1.000, correct 1.000; expected calibration error 0.000, largest 0.000, over 1 bin"
    meaning = "correct if the person has no other labelled mention"
    assert reliability_lines(found)[1] == f"lone mentions: 1 mention, {meaning}; {words}"
    text = " ".join(Page(render_page(found)).text.split())
    assert "Of 1 lone mention, the mean stated confidence is 100 %; for 100 % nothing" in text


def test_author_confidence_is_compared_with_the_share_of_the_main_person(tmp_path: Path, gold: Path) -> None:
    found = evaluate(written(tmp_path, "a.parquet"), gold).confidence
    assert found is not None
    assert found.authors is not None
    # A/2 has two mentions, both correct; A/1 has four, of which three are correct.
    assert [(part.mentions, part.true) for part in found.authors.bins] == [(2, 1.0), (4, 0.75), (1, 1.0)]
    assert found.authors.mean_error == pytest.approx((2 * 0.25 + 4 * 0.05) / 7)


@pytest.mark.parametrize("name", FORMATS)
def test_ignores_mentions_without_confidence(tmp_path: Path, gold: Path, name: str) -> None:
    found = evaluate(written(tmp_path, name, confidence=[0.9, None, None, 0.5, 0.8, 0.8, None]), gold)
    assert found.confidence is not None
    # The fourth is still wrong: mentions without confidence count for the main person of the author.
    assert [(part.mentions, part.true) for part in found.confidence.bins] == [(1, 0.0), (2, 1.0), (1, 1.0)]
    assert found.mentions == 7
    assert reliability_lines(found)[0].endswith("over 3 bins; 3 mentions without confidence left out")
    assert "3 mentions without a confidence: left out." in render_page(found)


NONE: dict[str, dict[str, list[Any] | None]] = {
    "no column": {"confidence": None, "author_confidence": None},
    "nothing in it": {"confidence": [None] * 7, "author_confidence": [None] * 7},
    "words": {"confidence": ["high"] * 7},
    "percentages": {"confidence": [95.0] * 7},
    "yes or no": {"confidence": [True] * 7},
    "lists": {"confidence": [["a"]] * 7},
}
WITHOUT = NONE["no column"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name in FORMATS for kind in NONE if ".csv" not in name or kind != "lists"]
)
def test_without_confidence_everything_is_as_before(tmp_path: Path, gold: Path, name: str, kind: str) -> None:
    columns = NONE[kind]
    found = evaluate(written(tmp_path, name, **columns), gold)
    assert found.confidence is None
    assert "confidence" not in found.as_dict()
    assert reliability_lines(found) == []
    assert "onfidence" not in render_page(found)
    assert Evaluation.from_dict(found.as_dict()) == found
    assert found == evaluate(written(tmp_path, "without.parquet", **WITHOUT), gold)


def test_author_confidence_is_optional(tmp_path: Path, gold: Path) -> None:
    found = evaluate(written(tmp_path, "a.csv", author_confidence=None), gold)
    assert found.confidence is not None
    assert found.confidence.authors is None
    assert "authors" not in found.as_dict()["confidence"]
    page = render_page(found)
    assert "For the confidence of authors" not in page
    assert reliability_diagram(found.confidence) in page


@pytest.mark.slow
def test_the_page_has_the_curve_and_says_what_it_means(tmp_path: Path, gold: Path) -> None:
    evaluate(written(tmp_path, "a.csv"), gold, output=tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = Page(html)
    assert page.open == []
    assert page.tags.count("svg") == 3
    text = " ".join(page.text.split())
    for part in (
        "Of a hundred mentions with a confidence of 95 %, about 95 should be correct.",
        "On average, the stated confidence is 82.9 %, and 85.7 % of the mentions are correct.",
        "The expected calibration error is 17.1 percentage points.",
        "of the mentions is 50.0.",
        "For the confidence of authors, the mean over their mentions, these errors are 10.0 and 25.0.",
    ):
        assert part in text
    found = evaluate(written(tmp_path, "a.csv"), gold)
    assert render_page(found) == render_page(found.as_dict())


def test_the_curve_is_reproducible_svg_from_below_the_lowest_share_to_1() -> None:
    high = Reliability((Bin(10, 0.93, 0.95), Bin(90, 0.99, 0.97)))
    low = Reliability((Bin(10, 0.05, 0.95), Bin(90, 0.99, 0.97)))
    for found, bottom, top in ((high, "0.8", "1.00"), (low, "0.0", "1.0"), (Reliability(high.bins, low), "0.0", "1.0")):
        svg = reliability_diagram(found)
        assert svg == reliability_diagram(found)
        texts = {element.text for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")}
        assert {f"stated confidence (axis from {bottom} to 1)", "mentions", "perfect calibration", top} <= texts
        assert ("authors" in texts) == (found.authors is not None)
        assert "currentColor" in svg


def test_circles_are_as_large_as_their_bins() -> None:
    svg = reliability_diagram(Reliability((Bin(10, 0.9, 0.9), Bin(90, 0.95, 0.95))))
    outlines = [outline for outline in re.findall(r' d="([^"]*)"', svg) if "C" in outline]
    across = [np.ptp([float(x) for x in re.findall(r"([\d.]+) [\d.]+ \n", outline)]) for outline in outlines]
    assert len(across) == 2
    assert (across[1] / across[0]) ** 2 == pytest.approx(9, rel=0.01)


def test_the_terminal_has_a_line_for_each_result_that_states_a_confidence(tmp_path: Path, gold: Path) -> None:
    ours, theirs = written(tmp_path, "ours.csv"), written(tmp_path, "theirs.csv", **WITHOUT)
    words = "stated 0.829, correct 0.857; expected calibration error 0.171, largest 0.500, over 4 bins"
    assert f"confidence: {words}" in " ".join(
        homonym_command("evaluate", ours, "--gold", gold, check=True).stdout.split()
    )
    assert "confidence" not in homonym_command("evaluate", theirs, "--gold", gold, check=True).stdout
    page = tmp_path / "page.html"
    both = " ".join(homonym_command("evaluate", theirs, ours, "--gold", gold, "-o", page, check=True).stdout.split())
    assert f"confidence of ours.csv: {words}" in both
    assert both.count("confidence of") == 1
    assert f"confidence of ours.csv: {words}" in page.read_text(encoding="utf-8")


def summary_lines(**parts: Any) -> list[str]:
    counts: dict[str, Any] = {"records": 5, "mentions": 7, "blocks": 2, "authors": 3}
    console = Console(file=StringIO(), soft_wrap=True)
    show_summary(Summary(Path("a.csv"), problems=Problems(), seconds={}, **counts, **parts), console)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined,no-any-return]


FOUND = CalibratedLimit(Limit(kappa=5.45), (Limit(kappa=5.0), Limit(kappa=6.0)), 0.953, 0.947, 0.95, 800, 468)


@pytest.mark.parametrize(
    ("limit", "calibration", "words"),
    [
        (Limit(beta=2.5e-5), None, "merge threshold (as given): beta 2.5e-05"),
        (Limit(alpha=5e-4, beta=1e-5), None, "merge threshold (as given): alpha 0.0005, beta 1e-05"),
        (Limit(), None, "merge threshold (as given): 0"),
        (Limit(kappa=6.0), CalibratedLimit(Limit(kappa=6.0), why="too few"), "merge threshold (default): kappa 6"),
        (
            FOUND.limit,
            FOUND,
            f"merge threshold (calibrated without labels): kappa 5.45, 5 … 6 over {SEEDS} repetitions\n"
            "estimated precision 0.953, recall 0.947, on 468 pseudo-names made of 800 people; real names may be harder",
        ),
        (
            FOUND.limit,
            replace(FOUND, chance_limit=2.345),
            f"kappa 5.45, 5 … 6 over {SEEDS} repetitions; chance limit 2.35\nestimated precision 0.953",
        ),
        (
            FOUND.limit,
            CalibratedLimit(FOUND.limit, None, 0.99, 0.5, 0.66, 800, 468),
            "merge threshold (calibrated without labels): kappa 5.45\n"
            "estimated precision 0.990, recall 0.500, on 468 pseudo-names made of 800 people; real names may be harder",
        ),
    ],
)
def test_the_summary_says_where_the_limit_comes_from(
    limit: Limit, calibration: CalibratedLimit | None, words: str
) -> None:
    assert words in "\n".join(summary_lines(limit=limit, calibration=calibration))


def test_the_summary_states_the_mean_confidence() -> None:
    assert "mean confidence: 0.964, over mentions whose name occurs more than once" in summary_lines(confidence=0.9641)
    assert not [line for line in summary_lines() if line.startswith(("mean confidence", "merge threshold"))]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Demonstration:
    """A generated corpus, its authors as found with default settings, and the page about them."""
    return demo(tmp_path_factory.mktemp("demo"), mentions=3000)


@pytest.mark.slow
def test_confidence_of_a_generated_corpus_is_near_the_truth(shown: Demonstration) -> None:
    found = shown.evaluation.confidence
    assert found is not None
    assert found.authors is not None
    assert len(found.bins) >= 5
    assert found.mean_error < 0.1
    assert found.authors.mean_error < 0.1


@pytest.mark.slow
def test_stated_shares_are_those_of_the_file(shown: Demonstration) -> None:
    table, found = pq.read_table(shown.summary.output / MENTIONS), shown.evaluation.confidence
    assert found is not None
    assert found.authors is not None
    assert shown.evaluation.mentions == table.num_rows  # all mentions of the corpus have labels
    assert found.mentions == table.num_rows - table["confidence"].null_count
    assert found.stated == pytest.approx(np.nanmean(table["confidence"].to_numpy()))
    assert found.authors.stated == pytest.approx(np.nanmean(table["author_confidence"].to_numpy()))
    assert found.stated == pytest.approx(shown.summary.confidence, abs=0.001)  # the file has three decimals


def test_the_demonstration_shows_the_curve_and_the_limit_that_it_found(shown: Demonstration) -> None:
    page, limit, confidence = shown.report.read_text(encoding="utf-8"), shown.summary.limit, shown.evaluation.confidence
    assert confidence is not None
    assert limit is not None
    assert reliability_diagram(confidence) in page
    assert limit != Settings().limit
    assert f"<td>kappa</td><td>{limit.kappa}</td>" in page
