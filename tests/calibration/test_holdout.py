"""Hold-out split: depends on names only, in the right shares, and warns of missing sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym.calibration.holdout import NameSplit, divide, split
from homonym.clustering.arrays import Bags, Frequencies
from homonym.errors import InputError, SettingsError
from homonym.measures.methods import LabelledNames

# Keys of names, which are unique, and their true sizes.
names = st.dictionaries(st.text(max_size=4), st.integers(1, 14), max_size=60)
shares = st.floats(0.01, 1)


def divided(sizes: dict[str, int], share: float, most: int = 1000) -> tuple[list[str], list[str]]:
    keys = list(sizes)
    parts = divide(keys, np.array(list(sizes.values()), np.int64), share=share, most=most)
    return [keys[i] for i in parts[0]], [keys[i] for i in parts[1]]


def labelled(sizes: Sequence[int]) -> LabelledNames:
    """Names of these true sizes, with one mention for each person."""
    mentions = sum(sizes)
    one = np.ones(1)
    return LabelledNames(
        key=[f"name {number}" for number in range(len(sizes))],
        bags=Bags(np.cumsum([0, *sizes]), np.zeros(mentions + 1, np.int64), np.zeros(0, np.int32), np.zeros(0)),
        frequencies=Frequencies(("co",), np.array([0, 1]), one, one, mentions),
        author=np.arange(mentions),
        written=[None] * mentions,
    )


@given(names, shares)
def test_every_name_is_in_exactly_one_part_in_order(sizes: dict[str, int], share: float) -> None:
    keys = list(sizes)
    training, test = divided(sizes, share)
    assert sorted(training + test) == sorted(keys)
    assert not set(training) & set(test)
    for part in (training, test):
        assert part == [key for key in keys if key in part]


@given(names, shares, st.integers(1, 5), st.randoms())
def test_split_does_not_depend_on_order(sizes: dict[str, int], share: float, most: int, random: Random) -> None:
    mixed = list(sizes)
    random.shuffle(mixed)
    one, other = divided(sizes, share, most), divided({key: sizes[key] for key in mixed}, share, most)
    assert [set(part) for part in one] == [set(part) for part in other]


def test_split_is_reproducible() -> None:
    training, _ = divided(dict.fromkeys("abcdefghijklmnop", 1), 0.25)
    assert training == ["e", "g", "j", "o"]


@given(names, shares)
def test_training_share_holds_for_every_size_and_overall(sizes: dict[str, int], share: float) -> None:
    training, _ = divided(sizes, share)
    there = Counter(min(size, 11) for size in sizes.values())
    taken = Counter(min(sizes[key], 11) for key in training)
    for size, count in there.items():
        assert abs(taken[size] - share * count) < 1 + 1e-9
    assert abs(len(training) - share * len(sizes)) <= 0.5 + 1e-9


@given(names, shares, st.integers(1, 5))
def test_uses_at_most_the_maximum_number_of_names_per_size(sizes: dict[str, int], share: float, most: int) -> None:
    training, test = divided(sizes, share, most)
    there = Counter(min(size, 11) for size in sizes.values())
    used = Counter(min(sizes[key], 11) for key in training + test)
    assert used == {size: min(count, most) for size, count in there.items()}


def test_sizes_above_10_are_one_group() -> None:
    keys = [str(number) for number in range(40)]
    equal, different = (dict(zip(keys, sizes, strict=True)) for sizes in ([11] * 40, range(11, 51)))
    assert divided(equal, 0.3, 20) == divided(different, 0.3, 20)
    assert sum(map(len, divided(different, 0.3, 20))) == 20
    assert sum(map(len, divided({key: 10 - int(key) % 2 for key in keys}, 0.3, 15))) == 30


def test_share_of_1_leaves_no_test_names() -> None:
    assert divided({"a": 1, "b": 2, "c": 2}, 1.0) == (["a", "b", "c"], [])


@pytest.mark.parametrize(
    ("share", "most", "says"),
    [
        (0.0, 1, "the training share must be above 0 and at most 1, got 0."),
        (-0.1, 1, "the training share must be above 0 and at most 1, got -0.1."),
        (1.5, 1, "the training share must be above 0 and at most 1, got 1.5."),
        (float("nan"), 1, "the training share must be above 0 and at most 1, got nan."),
        (0.5, 0, "the number of names of each true size must be at least 1, got 0."),
    ],
)
def test_rejects_impossible_splits(share: float, most: int, says: str) -> None:
    with pytest.raises(SettingsError) as refused:
        divide(["a", "b"], np.array([1, 1]), share=share, most=most)
    assert str(refused.value) == says


def about_sizes(parts: NameSplit) -> list[str]:
    return [warning for warning in parts.warnings if "true size" in warning]


@pytest.mark.parametrize(
    ("names", "expected"), [(21, []), (20, []), (19, ["19 names to choose parameters on: too few"])]
)
def test_warns_of_few_training_names(names: int, expected: list[str]) -> None:
    warnings = split(labelled([1] * names), share=1).warnings
    assert [warning.partition(" to rely")[0] for warning in warnings] == expected


def test_parts_keep_the_mentions_of_their_names() -> None:
    names = labelled([1, 2, 3, 1, 2, 3, 1, 2, 3])
    parts = split(names, share=1 / 3)
    assert about_sizes(parts) == []
    assert sorted([*parts.training.key, *parts.test.key]) == list(names.key)
    for part in (parts.training, parts.test):
        assert sorted(set(part.true_size.tolist())) == [1, 2, 3]
        assert part.true_size.tolist() == [int(key.split()[1]) % 3 + 1 for key in part.key]
        assert part.mentions.tolist() == part.true_size.tolist()


def test_warns_of_sizes_without_training_names() -> None:
    assert about_sizes(split(labelled([1] * 10 + [3, 12]), share=0.1)) == [
        "a training share of 0.1 leaves no name for training of true size 3 and 11+: "
        "this size has no influence on the choice."
    ]


def test_warns_separately_of_sizes_without_training_or_test_names() -> None:
    parts = split(labelled([1] * 8 + [3, 12]), share=0.25)
    assert parts.test.true_size.max() == 3
    assert [warning.partition("leaves ")[2] for warning in about_sizes(parts)] == [
        "no name for training of true size 3: this size has no influence on the choice.",
        "no name for testing of true size 11+.",
    ]


def test_warns_of_sizes_without_test_names() -> None:
    assert about_sizes(split(labelled([1] * 20 + [2]), share=0.9)) == [
        "a training share of 0.9 leaves no name for testing of true size 2."
    ]
    assert split(labelled([1] * 20 + [2]), share=1).warnings == []


@pytest.mark.parametrize(("share", "part"), [(0.25, "training"), (0.75, "testing")])
def test_rejects_a_split_with_an_empty_part(share: float, part: str) -> None:
    with pytest.raises(InputError) as refused:
        split(labelled([4]), share=share)
    assert str(refused.value) == (
        f"a training share of {share} leaves none of 1 labelled name for {part}; "
        "label more names or change --training-share."
    )


def test_refuses_a_number_of_names_that_no_file_can_hold() -> None:
    with pytest.raises(SettingsError, match="at most 9223372036854775807"):
        divided({"a": 1, "b": 2}, 0.5, most=10**400)
