"""Weight presets: the paper's table, missing feature types, and presets in settings."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Mapping
from pathlib import Path
from random import Random

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym.errors import SettingsError
from homonym.settings import PAPER, PAPER_TYPES, PRESETS, Settings, load_settings, opposed, parse_weights, preset
from tests.support.command import homonym_command

ALL = list(PAPER_TYPES)
NAMED = ["uniform", "paper", "opposed", "authors", "document"]
types = st.lists(st.sampled_from([*ALL, "mine", "with-dash"]), min_size=1, unique=True)
presets = st.sampled_from(NAMED) | st.builds("{}-{}".format, st.sampled_from(["only", "without"]), st.sampled_from(ALL))
weightings = st.dictionaries(st.text(max_size=3), st.floats(0, 1), min_size=1, max_size=9)


def column(weights: Mapping[str, float]) -> list[float]:
    return [round(weights[kind], 6) for kind in ALL]


@given(presets, types)
def test_preset_sums_to_1_or_0(name: str, types: list[str]) -> None:
    weights = preset(name, types)
    assert list(weights) == types
    assert min(weights.values()) >= 0
    assert math.fsum(weights.values()) == pytest.approx(1) or not any(weights.values())


@given(presets)
def test_preset_of_all_types_sums_to_1(name: str) -> None:
    assert math.fsum(preset(name, ALL).values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("name", "expected"),
    [  # the columns of the paper's table: term aff cat key co ref email year
        ("uniform", [0.125] * 8),
        ("paper", [0.15, 0.2, 0.18, 0.03, 0.2, 0.12, 0.1, 0.02]),
        ("opposed", [0.12, 0.03, 0.1, 0.2, 0.02, 0.15, 0.18, 0.2]),
        ("authors", [0, 0, 0, 0, 0.5, 0.5, 0, 0]),
        ("document", [0.2, 0, 0.2, 0.2, 0.2, 0, 0, 0.2]),
        ("only-co", [0, 0, 0, 0, 1, 0, 0, 0]),
        ("without-term", [0, *[round(1 / 7, 6)] * 7]),
    ],
)
def test_presets_equal_the_paper_table(name: str, expected: list[float]) -> None:
    assert column(preset(name, ALL)) == expected


def test_paper_weights_keep_their_proportions_without_some_types() -> None:
    assert preset("paper", ["co", "email", "mine"]) == pytest.approx({"co": 2 / 3, "email": 1 / 3, "mine": 0})
    assert preset("opposed", ["year", "email"]) == pytest.approx({"year": 20 / 38, "email": 18 / 38})


@given(weightings)
def test_opposed_weights_reverse_the_ranks(weights: dict[str, float]) -> None:
    against = opposed(weights)
    assert list(against) == list(weights)
    assert sorted(against.values()) == sorted(weights.values())
    for one in weights:
        assert all(against[one] >= against[other] for other in weights if weights[one] < weights[other])


@given(st.sets(st.floats(0, 1), min_size=1, max_size=9), st.randoms())
def test_opposed_twice_is_the_original(values: set[float], random: Random) -> None:
    mixed = list(values)
    random.shuffle(mixed)
    weights = {str(number): value for number, value in enumerate(mixed)}
    assert opposed(opposed(weights)) == weights


def test_opposed_equal_weights_keep_the_order_of_types() -> None:
    assert opposed({"a": 0.2, "b": 0.2, "c": 0.6}) == {"a": 0.6, "b": 0.2, "c": 0.2}
    assert column(opposed(PAPER)) == [0.12, 0.03, 0.1, 0.2, 0.02, 0.15, 0.18, 0.2]


@pytest.mark.parametrize(
    ("name", "types", "expected"),
    [
        ("only-co", ["co", "term"], [1, 0]),
        ("only-mine", ["co", "mine"], [0, 1]),
        ("without-co", ["term", "co", "year"], [0.5, 0, 0.5]),
        ("without-co", ["term", "year"], [0.5, 0.5]),  # a type that exists, but not here
        ("authors", ["term", "co"], [0, 1]),
        ("document", ["aff", "term", "year"], [0, 0.5, 0.5]),
        ("paper", ["co", "email"], [2 / 3, 1 / 3]),
        ("opposed", ["co", "aff"], [0.4, 0.6]),
    ],
)
def test_run_uses_the_preset_of_its_types(name: str, types: list[str], expected: list[float]) -> None:
    assert Settings(weights=name).weights_for(types) == pytest.approx(expected)


@given(presets, types)
def test_run_weights_sum_to_1_or_are_rejected(name: str, types: list[str]) -> None:
    settings = Settings(weights=name)
    if any(preset(name, types).values()):
        assert math.fsum(settings.weights_for(types)) == pytest.approx(1)
    else:
        with pytest.raises(SettingsError, match="no weighted feature type occurs"):
            settings.weights_for(types)


@pytest.mark.parametrize("name", ["trained", "only", "without", "co", "Uniform", ""])
def test_unknown_preset_error_lists_known_presets(name: str) -> None:
    with pytest.raises(SettingsError) as refused:
        Settings(weights=name)
    assert str(refused.value) == (
        f"setting weights: unknown weights {name!r}; use one of {PRESETS}, or type=weight pairs."
    )


@pytest.mark.parametrize("name", ["only-shoe", "without-shoe"])
def test_unknown_type_error_lists_known_types(name: str) -> None:
    with pytest.raises(SettingsError) as refused:
        Settings(weights=name).weights_for(["term", "co"])
    assert str(refused.value) == "weights: unknown feature type 'shoe'; the mentions have co, term."


@given(presets)
def test_preset_is_stored_by_name(name: str) -> None:
    settings = Settings(weights=parse_weights(f" {name} "))
    assert settings.weights == name
    assert f'weights = "{name}"' in settings.to_toml().splitlines()


@pytest.mark.parametrize("name", [*NAMED, "only-co", "without-with-dash"])
def test_preset_round_trips_through_toml(name: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(Settings(weights=name).to_toml())
    assert load_settings(path).weights == name


def cluster_by(weights: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Two mentions that share a co-author, and a third that shares a term with the first."""
    bags = [{"co": {"A": 1}, "term": {"x": 1}}, {"co": {"A": 1}, "term": {"y": 1}}, {"co": {"B": 1}, "term": {"x": 1}}]
    others = [{"co": {f"C{i}": 1}, "term": {f"z{i}": 1}} for i in range(9)]
    rows = [
        {"mention_id": f"m{number}", "block": "DOE, J" if number < 3 else f"P{number}", "features": bag}
        for number, bag in enumerate([*bags, *others])
    ]
    (directory / "mentions.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    options = ["-o", "out.jsonl", "--alpha", "0.2", "--weights", weights, "-q"]
    return homonym_command("cluster", "mentions.jsonl", *options, cwd=directory)


@pytest.mark.parametrize(("weights", "together"), [("without-co", ("m0", "m2")), ("only-co", ("m0", "m1"))])
def test_command_line_clusters_with_a_preset(weights: str, together: tuple[str, str], tmp_path: Path) -> None:
    done = cluster_by(weights, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [orjson.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()]
    author = {row["mention_id"]: row["author_id"] for row in rows if row["block"] == "DOE, J"}
    assert len(set(author.values())) == 2
    assert len({author[mention] for mention in together}) == 1
    assert f'weights = "{weights}"' in (tmp_path / "out.settings.toml").read_text()


def test_unknown_type_exits_with_2_and_no_output(tmp_path: Path) -> None:
    done = cluster_by("without-shoe", tmp_path)
    assert done.returncode == 2
    assert done.stderr == "homonym: weights: unknown feature type 'shoe'; the mentions have co, term.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mentions.jsonl"]
