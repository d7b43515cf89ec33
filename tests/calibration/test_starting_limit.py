"""Collections in which the default limit divides people: those of a few large teams that hardly change."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from homonym.calibration.single_person_names import PersonPool
from homonym.calibration.starting_limit import MAX_STEPS, STEPS_PER_HALVING, starting_multiple
from homonym.clustering.arrays import Bags, Frequencies
from homonym.commands.disambiguate import disambiguate
from homonym.commands.evaluate import evaluate
from homonym.settings import Settings

SIZES = np.array([8, 12])


def pool(feature: list[int], total: list[float]) -> PersonPool:
    """Two people with 8 and 12 mentions, each of which has two occurrences of features."""
    mentions = len(feature) // 2
    bags = Bags(np.array([0, 8, 20]), np.arange(mentions + 1) * 2, np.array(feature, np.int32), np.ones(len(feature)))
    frequencies = Frequencies(("co",), np.array([0, len(total)]), np.array(total), np.array([sum(total)]), 1000)
    return PersonPool(bags, frequencies, np.arange(mentions), np.arange(2), np.ones(2), np.zeros((2, 2)))


def test_people_who_share_rare_features_keep_the_default() -> None:
    found = pool([person for person in (0, 1) for _ in range(2 * SIZES[person])], [16.0, 24.0])
    assert starting_multiple(found, Settings(), SIZES) == 1


def test_people_who_only_share_frequent_features_start_lower() -> None:
    """Each mention has a feature of its own, and one that a fifth of the collection has."""
    feature = [one for mention in range(20) for one in (0, 1 + mention)]
    found = pool(feature, [200.0, *[1.0] * 20])
    multiple = starting_multiple(found, Settings(), SIZES)
    assert 2 ** (-MAX_STEPS / STEPS_PER_HALVING) < multiple < 1
    assert starting_multiple(found, Settings(kappa=7 * multiple), SIZES) == 1
    # The limit follows from the block, which may be larger than the person.
    assert starting_multiple(found, Settings(), 9 * SIZES) < multiple


def test_people_who_share_nothing_keep_the_default() -> None:
    """No limit keeps them together, so they are not one person each."""
    found = pool(list(range(40)), [1.0] * 40)
    assert starting_multiple(found, Settings(), SIZES) == 1


def test_names_of_several_people_keep_the_default() -> None:
    """Each name has two people, who share nothing: recall is low, but about the same at much lower limits."""
    feature = [2 * name + (mention % 2) for name in (0, 1) for mention in range(SIZES[name]) for _ in range(2)]
    found = pool(feature, [8.0, 8.0, 12.0, 12.0])
    assert starting_multiple(found, Settings(), SIZES) == 1


def name_of(person: int) -> str:
    """A surname of consonants and vowels, and an initial; 20 of 240 people have the name of another one."""
    number = person % 220
    return f"B{'aeiou'[number % 5]}{'dglmnrst'[number // 5 % 8]}{'aeiouy'[number // 40]}nder, {'ACJMP'[number % 5]}."


@pytest.mark.slow
@pytest.mark.parametrize("target", [None, 0.99])
def test_authors_of_stable_teams_are_not_divided(target: float | None, tmp_path: Path) -> None:
    """Four teams of 60 people, each of whom is on nearly all papers of the team."""
    draw = random.Random(0)
    with (tmp_path / "in.jsonl").open("w", encoding="utf-8") as file:
        for paper in range(480):
            team = paper % 4
            people = [60 * team + one for one in range(60) if draw.random() < 0.96]
            authors = [{"name": name_of(one), "author": str(one)} for one in people]
            words = [f"w{draw.randrange(200) + 150 * team}" for _ in range(8)]
            document = {"id": f"W{paper}", "title": " ".join(words), "year": 2000 + paper // 24, "authors": authors}
            file.write(json.dumps(document) + "\n")
    done = disambiguate(tmp_path / "in.jsonl", tmp_path / "out.csv", Settings(target_precision=target))
    found = evaluate(tmp_path / "out.csv", gold=tmp_path / "in.jsonl")
    assert done.limit is not None
    assert done.limit.kappa < 7
    assert found.bcubed.recall > 0.9
    assert found.bcubed.f1 > 0.9
