"""The tables, figures and page of a study: correct cells, valid files, and no markup from the data."""

from __future__ import annotations

import copy
import csv
import json
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from homonym.errors import OutputError
from homonym.experiments import study_tables
from homonym.experiments.sentences import best_of, by_size_sentences, process_sentences
from homonym.experiments.study_figures import all_pictures, overview_picture, process_picture, run_names, write_figures
from homonym.experiments.study_page import render_study, write_study_page
from homonym.experiments.study_tables import StudyTable, all_tables, write_tables
from tests.support.html_page import Page
from tests.support.study_data import SIZES, study

Study = dict[str, Any]
FULL = study()
NASTY = "<script>alert('x')</script> & \"quotes\" {{ title }} {% raw %} $x^2$ 名\x07\n"


def nothing_at_all() -> Study:
    empty = study(sizes=("2",), weightings=("uniform",), baselines=False, training=False)
    return empty | {"runs": [], "weights": {}, "findings": [], "warnings": [], "seconds": {}}


def without_means() -> Study:
    """Only names with many authors: there is no mean over the sizes 1 to 10, and no true size to draw."""
    made = study(sizes=("11+",), weightings=("uniform",), names=2)
    for run in [*made["runs"], *made["baselines"]]:
        run["test"]["mean_over_sizes"] = None
    return made


def with_gaps() -> Study:
    """A run that lacks a size, values that are missing, and merging that takes hundreds of steps."""
    made = study(sizes=("1", "4", "7"), weightings=("uniform", "only-co"))
    run = made["runs"][0]
    del run["test"]["by_true_size"]["4"], run["process"]["4"]
    run["test"]["by_true_size"]["7"] |= {"oracle_f1": None, "max_recall": None}
    part = run["process"]["7"]
    part["clusters"] = [8 * k + 1 for k in reversed(range(len(part["clusters"])))]
    part["f1_sd"][0] = part["f1_mean"][3] = None
    part["stops"]["900"] = 2
    made["runs"][1] |= {"scope": "within", "joint": True, "gamma": 2.0, "main": False}
    return made


EDGES: dict[str, Callable[[], Study]] = {
    "one size, few names": lambda: study(sizes=("3",), weightings=("uniform",), names=1, baselines=False),
    "only authors alone": lambda: study(("1",), ("uniform", "opposed"), names=4, training=False),
    "only beyond ten": without_means,
    "gaps": with_gaps,
    "no runs": nothing_at_all,
    "none is main": lambda: study(sizes=("2",), weightings=("opposed", "document")),
}


def words(page: str) -> str:
    return " ".join(Page(page).text.split())


@pytest.fixture(scope="module")
def page() -> str:
    return render_study(FULL)


def rows_of(table: StudyTable) -> list[dict[str, Any]]:
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def test_table_1_adds_up() -> None:
    rows = rows_of(study_tables.names_by_true_size(FULL))
    assert [row["true_size"] for row in rows] == [*SIZES, "all sizes"]
    assert rows[0] == {"true_size": "1", "training": 25, "test": 75, "training_and_test": 100, "all": 225,
                       "share_used": 100 / 225}  # fmt: skip
    assert rows[-1]["test"] == sum(row["test"] for row in rows[:-1])


def test_table_2_has_every_weighting() -> None:
    table = study_tables.weights(FULL)
    assert table.header == ("feature_type", *FULL["weights"])
    assert rows_of(table)[1] == {"feature_type": "aff"} | {name: w["aff"] for name, w in FULL["weights"].items()}


def test_table_3_has_the_papers_runs_first_and_every_run_in_both_measures() -> None:
    rows = rows_of(study_tables.results_by_true_size(FULL))
    order = list(dict.fromkeys(row["run"] for row in rows))
    assert order[:4] == ["prob-trained", "prob-uniform", "max-trained", "max-uniform"]
    assert set(order) == {run["key"] for run in FULL["runs"] + FULL["baselines"]}
    assert [(row["measure"], row["score"]) for row in rows[:6]] == [
        (measure, score) for measure in ("bCube", "pairF1") for score in "PFR"
    ]
    uniform = next(run for run in FULL["runs"] if run["key"] == "prob-uniform")["test"]["by_true_size"]
    found = {(row["measure"], row["score"]): row for row in rows if row["run"] == "prob-uniform"}
    assert found["bCube", "F"]["10"] == uniform["10"]["bcubed"]["f1"]
    assert found["pairF1", "R"]["11+"] == uniform["11+"]["pairwise_with_self"]["recall"]
    assert found["bCube", "P"]["beta"] == 2.4e-6


def test_other_tables_hold_the_measured_values() -> None:
    tables = {table.name: rows_of(table) for table in all_tables(FULL)}
    run = FULL["runs"][0]
    row = next(row for row in tables["runs"] if row["run"] == run["key"])
    assert (row["mean_f1"], row["f1"]) == (run["test"]["mean_over_sizes"]["f1"], run["test"]["bcubed"]["f1"])
    first_ten = [run["test"]["by_true_size"][size]["oracle_f1"] for size in SIZES[:10]]
    assert row["mean_oracle_f1"] == pytest.approx(sum(first_ten) / 10)
    used = [row for row in tables["tuning"] if row["run"] == run["key"] and row["used"]]
    assert [(row["tuned"], row["beta"], row["spread_high"]) for row in used] == [("beta", 2.4e-6, 3e-6)]
    part = run["process"]["5"]
    states = [row for row in tables["process"] if (row["run"], row["true_size"]) == (run["key"], "5")]
    assert [row["f1_mean"] for row in states] == part["f1_mean"]
    stops = [row for row in tables["stops"] if (row["run"], row["true_size"]) == (run["key"], "5")]
    assert {str(row["stopped_at"]): row["names"] for row in stops} == part["stops"]
    assert tables["baselines"][0]["threshold"] is None
    assert tables["finding_rows"][0] == {"key": "uniform-trained-prob", "compared": "prob", "difference": 0.004,
                                         "low": -0.002, "high": 0.010}  # fmt: skip


def test_tables_round_trip_through_csv(tmp_path: Path) -> None:
    made = copy.deepcopy(FULL)
    made["findings"][0]["claim"] = 'with "quotes", commas\nand lines'
    paths = write_tables(made, tmp_path / "tables")
    assert sorted(paths) == sorted((tmp_path / "tables").iterdir())
    for path, table in zip(paths, all_tables(made), strict=True):
        header, *rows = csv.reader(StringIO(path.read_text(encoding="utf-8"), newline=""))
        assert header == list(table.header)
        assert rows == [["" if cell is None else str(cell) for cell in row] for row in table.rows]


@pytest.mark.slow
def test_every_run_has_valid_figure_files(tmp_path: Path) -> None:
    made = study(sizes=("1", "5", "11+"), weightings=("uniform", "without-co"))
    elements = write_figures(made, tmp_path, processes=2)
    paths = sorted(tmp_path.iterdir())
    names = {path.name for path in paths}
    assert names == {f"{name}{suffix}" for name in elements for suffix in (".svg", ".png")}
    for run in made["runs"]:
        assert f"results-{run['key']}.svg" in names
        drawn = ("1", "5", "11-or-more") if run["main"] else ("1", "5")
        assert {f"process-{run['key']}-{size}.png" for size in drawn} <= names
    assert {"overview.png", "stopping.svg"} <= names
    for path in paths:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        else:
            assert_stands_alone(path.read_text(encoding="utf-8"))


def assert_stands_alone(svg: str) -> None:
    root = ElementTree.fromstring(svg.encode())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("width", "").endswith("pt")
    assert "currentColor" not in svg
    assert "#010203" not in svg
    assert "matplotlib" not in svg.lower()


@pytest.mark.slow
def test_figures_are_reproducible() -> None:
    for first, second in zip(some_pictures(), some_pictures(), strict=True):
        assert first.drawn() == second.drawn()
        assert first.element() == second.drawn().element


def test_page_figures_equal_file_figures_without_heading() -> None:
    picture = overview_picture(FULL)
    file, page = (ElementTree.fromstring(svg) for svg in (picture.drawn().svg.decode(), picture.element()))
    texts = [[node.text for node in root.iter() if node.tag.endswith("text")] for root in (file, page)]
    assert texts[0] != texts[1] == [text for text in texts[0] if text != picture.title]
    left, top, width, height = map(float, page.attrib["viewBox"].split())
    assert (left, width, height) == pytest.approx((0, 72 * picture.size[0], 72 * picture.size[1]))
    assert top + height == pytest.approx(float(file.attrib["viewBox"].split()[3]), abs=0.01)


def some_pictures() -> list[Any]:
    return list(all_pictures(study(sizes=("2",), weightings=("uniform",))))


def test_process_figure_omits_states_of_few_names() -> None:
    part = FULL["runs"][0]["process"]["5"]
    assert part["names_at"][0] < part["names"]
    few = copy.deepcopy(part) | {"names_at": [1, 2, *([part["names"]] * (len(part["clusters"]) - 2))]}
    few["stops"][str(part["clusters"][0])] = 3
    text = process_picture({"title": "x", "process": {"5": few}}, "5", "x").element()
    assert "← 3 more" in text
    assert "true number" in text
    assert "← " not in process_picture({"title": "x", "process": {"5": part}}, "5", "x").element()


@pytest.mark.slow
@pytest.mark.parametrize("edge", EDGES.values(), ids=EDGES.keys())
def test_edge_cases_have_all_outputs(edge: Callable[[], Study]) -> None:
    made = edge()
    before = json.dumps(made)
    drawn = {picture.name: picture.drawn() for picture in all_pictures(made)}
    for picture in drawn.values():
        assert_stands_alone(picture.svg.decode())
    reader = Page(render_study(made, {name: picture.element for name, picture in drawn.items()}))
    assert reader.open == []
    assert_anchors(reader)
    assert all(table.csv() for table in all_tables(made))
    assert json.dumps(made) == before


def assert_anchors(reader: Page) -> None:
    anchors, links = reader.values("id"), reader.values("href", "xlink:href", "src")
    assert len(anchors) == len(set(anchors))
    assert all(link.startswith("#") and link[1:] in anchors for link in links)


@pytest.mark.slow
def test_page_is_self_contained_and_its_links_resolve(page: str) -> None:
    reader = Page(page)
    assert reader.open == []
    assert not {"script", "link", "img", "iframe", "object"} & set(reader.tags)
    outside = {key for key, value in reader.attributes if re.search(r"https?:|//", value)}
    assert outside <= {"xmlns", "xmlns:xlink"}
    assert not any(key.startswith("on") for key, _ in reader.attributes)
    assert_anchors(reader)
    assert reader.values("href").count("#findings") == 1
    # Overview, stops, results and three processes of four main runs; results and one process of the eight others.
    assert reader.tags.count("svg") == 2 + 4 * 4 + 8 * 2
    assert reader.tags.count("details") == 1 + 8


@pytest.mark.slow
def test_page_is_reproducible_and_needs_an_existing_directory(tmp_path: Path) -> None:
    made = study(sizes=("2", "3"), weightings=("uniform",))
    write_study_page(made, tmp_path / "a.html")
    write_study_page(json.loads(json.dumps(made)), str(tmp_path / "b.html"))
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    with pytest.raises(OutputError, match="does not exist"):
        write_study_page(made, tmp_path / "none" / "c.html")


def hostile(value: Any) -> Any:
    """A copy with NASTY appended to every string that may come from data."""
    if isinstance(value, dict):
        return {key: hostile(part) if key not in ("variant", "verdict", "limit_kind", "scope") else part
                for key, part in value.items()}  # fmt: skip
    if isinstance(value, list):
        return [hostile(part) for part in value]
    return value + NASTY if isinstance(value, str) else value


@pytest.mark.slow
def test_hostile_strings_are_escaped(tmp_path: Path) -> None:
    made = hostile(study(sizes=("2", "11+"), weightings=("uniform", "only-co")))
    made["weights"] = {name + NASTY: {kind + NASTY: w for kind, w in given.items()}
                       for name, given in made["weights"].items()}  # fmt: skip
    drawn = write_figures(made, tmp_path)
    assert all(re.fullmatch(r"[\w-]+", name) for name in drawn)
    reader = Page(render_study(made, drawn))
    assert reader.open == []
    assert "script" not in reader.tags
    assert reader.text.count("<script>alert('x')</script> & \"quotes\" {{ title }} {% raw %} $x^2$ 名") > 40
    for path in tmp_path.glob("*.svg"):
        assert_stands_alone(path.read_text(encoding="utf-8"))
    assert len(set(run_names(made).values())) == len(made["runs"])


@pytest.mark.slow
def test_page_explains_terms_and_results(page: str) -> None:
    text = words(page)
    best = best_of(FULL["runs"])
    assert best is not None
    for part in (
        f"The best of 12 runs is “{best['title']}” with a mean F1 of .",
        "A mention is one name on one publication.",
        "Here this is confirmed: mean over sizes .935 against .931; difference +.004 [−.002, +.010].",
        "✗ refuted",
        "true sizes 14 and 21 have no training name",
        "1,821,295 mentions in the whole collection",
        "25 % of these are training names",
        "The largest weight is that of aff (.200), the smallest that of year (.020).",
        "stopped at the true number",
        "β 2.4·10⁻⁶",
        "“one cluster per name” reaches .",
        "the paper's limit",
        "homonym 0.2.0",
    ):
        assert part in text, part


def test_sentences_follow_the_numbers() -> None:
    scores = {"precision": 0.8, "recall": 0.9, "f1": 0.847}
    run = {"test": {"by_true_size": {"2": {"bcubed": scores, "oracle_f1": 0.9}}}}
    assert by_size_sentences(run) == (
        "F1 is .847 for names with 2 authors. At every size above 1, recall is at least as high as precision: "
        "authors are mixed rather than split. The best possible stop would gain most for names with 2 authors: +.053."
    )
    part = {"true_size": 2, "names": 4, "names_at": [4, 4, 4], "clusters": [3, 2, 1], "f1_mean": [0.5, 0.9, 0.7],
            "stops": {"1": 1, "2": 2, "3": 1}}  # fmt: skip
    assert process_sentences(part).replace("\xa0", " ") == (
        "Mean F1 is highest at 2 clusters (.900). Of 4 names, 2 (50.0 %) stopped at the true number, 1 before it "
        "(authors are split), and 1 after it (authors are mixed)."
    )


@pytest.mark.slow
def test_chance_correction_is_explained_only_if_it_was_run(page: str) -> None:
    made = study(sizes=("2",), weightings=("uniform", "opposed"))
    made["runs"][1] |= {"gamma": 0.25, "main": False}
    assert "This is not in the paper, where γ is 0." in words(render_study(made))
    assert "γ = 0.25" in overview_picture(made).element()
    assert "not in the paper" not in words(page)
    assert [row["gamma"] for row in rows_of(study_tables.runs(made))] == [0.0, 0.0, 0.25, 0.0]
