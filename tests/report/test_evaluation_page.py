"""The figures and pages of an evaluation: reproducible, self-contained, and safe with hostile data."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym.evaluation.assessment import Comparison, Evaluation, assess, compare, worst_names
from homonym.evaluation.rendering import MEANINGS
from homonym.report.evaluation_page import (
    percent_interval,
    points,
    render_comparison,
    render_page,
    write_comparison,
    write_report,
)
from homonym.report.figures import clusters_by_true_size, results_by_true_size, spread
from homonym.report.page import Section, percent
from tests.support.html_page import Page

NASTY = "<script>alert('x')</script> & \"quotes\" {{ title }} {% raw %} </style>"


def evaluation(largest: int = 14) -> Evaluation:
    """One name of each true size 1 to `largest`, three mentions an author, one of them split off."""
    sizes = np.arange(1, largest + 1)
    names = np.repeat(sizes, 3 * sizes)
    authors = np.arange(len(names)) // 3
    return assess(names, authors, 2 * authors + (np.arange(len(names)) % 3 == 0))


@pytest.mark.parametrize("draw", [results_by_true_size, clusters_by_true_size])
def test_figures_are_valid_reproducible_svg_from_object_or_json(draw: Callable[..., str]) -> None:
    found = evaluation()
    svg = draw(found)
    assert svg == draw(found) == draw(found.as_dict())
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert {"1", "10"} <= set(texts)  # text stays text
    assert "11" not in texts
    assert "currentColor" in svg
    assert "Date" not in svg
    assert "matplotlib" not in svg.lower()


def test_figures_of_a_page_have_distinct_ids() -> None:
    ids = [re.findall(r'\bid="([^"]+)"', draw(evaluation())) for draw in (results_by_true_size, clusters_by_true_size)]
    assert ids[0]
    assert not set(ids[0]) & set(ids[1])


@pytest.mark.parametrize("names", [[1], [12]], ids=["one size", "only beyond ten"])
def test_figures_with_few_true_sizes(names: list[int]) -> None:
    codes = np.repeat(names, names)
    found = assess(codes, np.arange(len(codes)), codes)
    for draw in (results_by_true_size, clusters_by_true_size):
        assert ("no name has 10 authors or fewer" in draw(found)) == (names == [12])
    assert "11+" in render_page(found) or names == [1]


def test_matplotlib_settings_are_left_alone() -> None:
    import matplotlib as mpl

    with mpl.rc_context({"font.size": 33.0}):
        ours = results_by_true_size(evaluation())
        assert mpl.rcParams["font.size"] == 33.0
    assert ours == results_by_true_size(evaluation())


@given(st.lists(st.floats(0, 1), max_size=8), st.floats(0.01, 0.2))
def test_labels_do_not_overlap_and_keep_their_order(values: list[float], gap: float) -> None:
    places = spread(values, gap)
    order = sorted(range(len(values)), key=lambda i: values[i])
    ordered = [places[i] for i in order]
    assert all(after - before >= gap - 1e-9 for before, after in pairwise(ordered))
    assert sum(places) == pytest.approx(sum(values), abs=1e-9)


def test_page_is_self_contained() -> None:
    page = Page(render_page(evaluation()))
    assert page.open == []
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert page.tags.count("svg") == 2
    outside = [(key, value) for key, value in page.attributes if re.search(r"https?:|//", value)]
    assert {key for key, _ in outside} <= {"xmlns", "xmlns:xlink"}
    links = [value for key, value in page.attributes if key in ("href", "src", "xlink:href")]
    assert all(value.startswith("#") for value in links)
    assert not any(key.startswith("on") for key, _ in page.attributes)


def test_hostile_strings_are_escaped() -> None:
    section = Section(NASTY, [NASTY, NASTY])
    html = render_page(evaluation(), title=NASTY, settings={NASTY: {NASTY: NASTY}}, sections=[section])
    page = Page(html)
    assert "script" not in page.tags
    assert page.open == []
    assert page.text.count(NASTY) == 2 + 3 + 3  # title and heading, the section, the setting


def test_jinja2_and_matplotlib_are_imported_only_when_a_page_is_written() -> None:
    modules = "homonym.report.evaluation_page, homonym.experiments.study_page, homonym.commands.evaluate"
    code = f"import sys, {modules}; print({{'jinja2', 'matplotlib'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_page_explains_terms_and_results() -> None:
    found = evaluation()
    text = " ".join(Page(render_page(found, settings={"variant": "prob", "limit": {"beta": 7.5e-05}})).text.split())
    for part in (
        f"{percent(found.bcubed.precision)} of the cluster of a mention".replace("\xa0", " "),
        f"{percent(found.bcubed.recall)} of the mentions of its person".replace("\xa0", " "),
        "B-cubed precision asks for each mention",
        "The baseline puts all mentions of a name into one cluster",
        "under 14 names",
        "Not in the figure: 4 names with more than 10 authors.",
        "limit.beta",
        "7.5e-05",
        "11+",
        "A 95 % interval shows how much a number depends on the names",
        f"F1 of {percent(found.bcubed.f1)} (95 % interval {percent_interval(found.intervals['bcubed_f1'])})".replace(
            "\xa0", " "
        ),
        *(f"{label}: {meaning}" for label, meaning in MEANINGS.values()),
        percent(found.lumping_error).replace("\xa0", " "),
    ):
        assert part in text


def test_cards_are_of_one_family_of_measures() -> None:
    cards = re.search(r'<div class="cards">.*?</div>\n</div>', render_page(evaluation()), re.DOTALL)
    assert cards
    assert cards[0].count("B-cubed") == 3
    assert "pair" not in cards[0]


def test_worst_names_are_listed_and_escaped() -> None:
    names, authors = np.array([0, 0, 0, 1, 1, 2, 2]), np.array([0, 1, 2, 3, 3, 4, 4])
    clusters = np.array([0, 0, 0, 1, 2, 3, 3])
    worst = worst_names(names, authors, clusters, [NASTY, "ROE, R", "POE, E"], 10)
    assert [(row.name, row.mentions, row.people, row.found) for row in worst] == [(NASTY, 3, 3, 1), ("ROE, R", 2, 1, 2)]
    assert [row.name for row in worst_names(names, authors, clusters, ["a", "b", "c"], 1)] == ["a"]
    page = Page(render_page(assess(names, authors, clusters), worst=worst))
    assert "script" not in page.tags
    assert NASTY in page.text
    assert "Worst names" in page.text
    assert "Worst names" not in render_page(assess(names, authors, authors))


def test_page_reports_unknown_names_and_unusable_labels() -> None:
    names = np.zeros(4, dtype=np.int64)
    one_name = assess(names, np.array([0, 0, 1, 1]), names)
    page = render_page(replace(one_name, mentions_with_several_labels=3, gold_lines_skipped=1).without_names())
    for part in (
        "3 mentions with several different identifiers left out",
        "1 line of the labels could not be parsed",
        "No file says which mentions share a name, so everything counts as one name.",
        "<td>unknown</td>",
    ):
        assert part in page
    assert "Averaged over the true sizes" not in page
    assert "(95\N{NO-BREAK SPACE}% interval" not in page
    assert "(95\N{NO-BREAK SPACE}% interval" in render_page(evaluation())


def several(*labels: str) -> Comparison:
    names = np.repeat(np.arange(20), 6)
    authors = np.arange(len(names)) // 3
    split = 2 * authors + (np.arange(len(names)) % 3 == 0)
    return compare(names, authors, dict(zip(labels, (split, authors, names), strict=False)))


def test_comparison_page_is_self_contained_and_escaped() -> None:
    found = replace(several("a.csv", NASTY), left_out={"a.csv": 0, NASTY: 3}, labels_without_mention=2)
    html = render_comparison(found, title=NASTY, settings={"labels": NASTY})
    page = Page(html)
    assert page.open == []
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    # Title and heading, the lead (it is the best), a row, two columns, what it lacks, a setting.
    assert page.text.count(NASTY) == 2 + 1 + 1 + 2 + 1 + 1
    assert html == render_comparison(found, title=NASTY, settings={"labels": NASTY})


def test_comparison_page_shows_differences_and_sizes(tmp_path: Path) -> None:
    found = several("split.csv", "right.csv", "lumped.csv")
    write_comparison(found, tmp_path / "page.html")
    text = " ".join(Page((tmp_path / "page.html").read_text(encoding="utf-8")).text.split())
    for part in (
        "3 results were compared on the 120 mentions of 20 names",
        "right.csv has the highest B-cubed F1, 100 %",
        "The true number of authors is 40 people, counted separately for each name.",
        points(found.differences["right.csv"].bcubed_f1),
        percent(found.results["lumped.csv"].by_true_size[2].bcubed.f1).replace("\xa0", " "),
        *(label for label, _ in MEANINGS.values()),
    ):
        assert part in text


def test_lead_says_if_a_result_does_not_beat_the_baseline() -> None:
    names = np.array([0, 0, 1])
    assert "no better than the baseline, which takes all mentions of a name for one person" in render_page(
        assess(names, names, names)
    )


def test_page_is_reproducible_and_leaves_no_partial_file(tmp_path: Path) -> None:
    first, second = tmp_path / "1.html", tmp_path / "2.html"
    write_report(evaluation(), first)
    write_report(evaluation().as_dict(), str(second))
    assert first.read_bytes() == second.read_bytes()
    assert sorted(tmp_path.iterdir()) == [first, second]
