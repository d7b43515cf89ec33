"""The replay of a collection: its parts, and what is measured after each of them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym.commands.study import study
from homonym.errors import SettingsError
from homonym.experiments.replay import measure_step, parts_by_year, random_parts
from homonym.settings import Settings
from tests.commands.test_explain import paper
from tests.commands.test_result_directory import write
from tests.support.command import homonym_command

PLACE = ("years", 1, "2001", "grow", 3)


@given(st.lists(st.none() | st.integers(1990, 1999), min_size=1, max_size=40), st.integers(2, 10))
def test_parts_by_year_are_in_order_and_complete(years: list[int | None], number: int) -> None:
    parts = parts_by_year(years, number)
    assert sorted(place for part in parts for place in part.documents) == list(range(len(years)))
    assert 1 <= len(parts) <= number
    ranges = [[years[place] or 0 for place in part.documents] for part in parts]
    assert all(max(one) < min(other) for one, other in pairwise(ranges))


@given(st.integers(1, 50), st.integers(2, 10))
def test_random_parts_are_equal_and_complete(documents: int, number: int) -> None:
    parts = random_parts(documents, number)
    assert sorted(place for part in parts for place in part.documents) == list(range(documents))
    sizes = [len(part.documents) for part in parts]
    assert max(sizes) - min(sizes) <= 1


def test_measures_of_a_step() -> None:
    labels = {"a": "p", "b": "p", "c": "q", "d": "q"}
    before, after = {"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "1", "c": "1", "d": "4"}
    batch = {"a": "x", "b": "x", "c": "y", "d": "y", "e": "z"}
    found = measure_step(PLACE, before, after, batch, labels, {"2": "1", "3": "1"}, 1.5)
    assert found.churn == pytest.approx(2 / 3)
    assert (found.redirects, found.wrong_redirects, found.lost, found.is_batch) == (2, 1, 1, False)
    assert found.precision == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1) / 4)
    assert found.recall == pytest.approx((1 + 1 + 1 / 2 + 1 / 2) / 4)
    assert measure_step(PLACE, before, batch, batch, labels, {}, 0).is_batch


def records() -> list[dict[str, object]]:
    teams = [("wine", ["Merlot, Anna"], "w"), ("graph", ["Edge, Carl"], "g")]
    return [
        paper(10 * number + place, {"name": "Wang, Wei", "author": key}, team, f"{topic} studies")
        for number in range(8)
        for place, (topic, team, key) in enumerate(teams)
    ]


@pytest.mark.slow
def test_replay_of_a_collection(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", records())
    found = study(source, tmp_path / "out", Settings(kappa=7), replay=True, parts=2)
    rows = orjson.loads((tmp_path / "out" / "replay.json").read_bytes())["replay"]
    assert [(row["order"], row["step"], row["mode"]) for row in rows] == [
        (order, step, mode)
        for order in ("years", "random")
        for step in (0, 1)
        for mode in ("assign", "grow", "rebuild", "batch")
    ]
    assert all(row["lost"] == 0 for row in rows)
    assert all(row["is_batch"] for row in rows if row["mode"] in {"rebuild", "batch"})
    assert all(row["churn"] == 0 for row in rows if row["mode"] == "assign")
    assert "Year by year" in found.report.read_text(encoding="utf-8")
    assert len((tmp_path / "out" / "replay.csv").read_text().splitlines()) == 17


@pytest.mark.slow
def test_command(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", records())
    done = homonym_command("study", source, "-o", tmp_path / "out", "--replay", "--parts", 2, check=True)
    assert "assign   F1" in done.stdout


def test_one_part_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="at least 2 parts"):
        study(write(tmp_path / "in.jsonl", records()), tmp_path / "out", replay=True, parts=1)
