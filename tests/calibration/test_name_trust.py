"""The trust in full names: full where rare names cohere, less where their mentions have nothing in common."""

from __future__ import annotations

import numpy as np
import pytest

from homonym.calibration.name_trust import COHERENT, ENOUGH_NAMES, coherence, find_name_trust, unity
from homonym.clustering.arrays import Bags, Frequencies, Integers, starts
from homonym.constraints.name_prior import FullNames
from homonym.settings import Settings

NAMES = 60


def collection(coherent: int, namesakes: float = 0.0) -> tuple[Bags, FullNames, Integers, Frequencies]:
    """Blocks of two rare names with two mentions each; the mentions of the first `coherent` names share a feature."""
    mentions, features = 4 * NAMES // 2, 4 * NAMES
    name = np.arange(mentions) // 2
    feature = np.where(name < coherent, name, NAMES + np.arange(mentions)).astype(np.int32)
    bags = Bags(starts(np.full(NAMES // 2, 4)), np.arange(mentions + 1), feature, np.ones(mentions))
    total = np.maximum(np.bincount(feature, minlength=features), 1).astype(np.float64)
    frequencies = Frequencies(("term",), np.array([0, features]), total, np.array([10_000.0]), 10_000)
    names = FullNames(bags.block_start, name.astype(np.int32), np.full(mentions, namesakes))
    return bags, names, np.arange(mentions), frequencies


@pytest.mark.parametrize(
    ("coherent", "trust"), [(NAMES, 1.0), (NAMES * 3 // 4, 1.0), (NAMES // 4, 0.25 / COHERENT), (0, 0.0)]
)
def test_trust_is_lower_where_rare_names_have_nothing_in_common(coherent: int, trust: float) -> None:
    assert find_name_trust(*collection(coherent), Settings()) == pytest.approx(trust)


def test_common_names_show_nothing() -> None:
    assert find_name_trust(*collection(NAMES, namesakes=3.0), Settings()) == 0.0


def test_few_names_are_trusted_less() -> None:
    bags, names, document, frequencies = collection(NAMES)
    few = FullNames(names.block_start, np.where(names.full_name < 3, names.full_name, -1), names.namesakes)
    assert find_name_trust(bags, few, document, frequencies, Settings()) == pytest.approx(3 / ENOUGH_NAMES)


def test_mentions_on_one_document_do_not_count() -> None:
    bags, _, document, frequencies = collection(NAMES)
    pair = [np.array([0, 1])]
    assert coherence(bags, pair, document, frequencies, Settings()).tolist() == [1.0]
    assert coherence(bags, pair, np.zeros_like(document), frequencies, Settings()).tolist() == []


def test_the_numbers_of_names_do_not_matter() -> None:
    bags, names, document, frequencies = collection(NAMES // 4)
    order = np.random.default_rng(0).permutation(NAMES)
    other = FullNames(names.block_start, order[names.full_name].astype(np.int32), names.namesakes)
    first, second = (find_name_trust(bags, one, document, frequencies, Settings()) for one in (names, other))
    assert first == second


def two_groups(people: int, names: int = NAMES) -> tuple[Bags, FullNames, Integers, Frequencies]:
    """Blocks of one rare name with four mentions, in one group or, for two `people`, in two groups of two."""
    mentions, features = 4 * names, 2 * names
    feature = (np.arange(mentions) // (4 // people)).astype(np.int32)
    bags = Bags(starts(np.full(names, 4)), np.arange(mentions + 1), feature, np.ones(mentions))
    frequencies = Frequencies(("term",), np.array([0, features]), np.full(features, 4.0), np.array([10_000.0]), 10_000)
    full_names = FullNames(bags.block_start, (np.arange(mentions) // 4).astype(np.int32), np.zeros(mentions))
    return bags, full_names, np.arange(mentions), frequencies


def test_trust_is_lower_where_the_mentions_of_rare_names_form_several_groups() -> None:
    assert find_name_trust(*two_groups(1), Settings()) == 1.0
    # A third of the pairs is in one group, fewer than that of two people with many mentions each.
    assert find_name_trust(*two_groups(2), Settings()) == 0.0


def test_mentions_without_anything_in_common_do_not_form_groups() -> None:
    bags, _, _, frequencies = two_groups(2)
    name = np.array([0, 1, 2, 4])  # two mentions of one person, and one each of two others
    assert unity(bags, [np.arange(4)], frequencies, Settings()).tolist() == pytest.approx([1 / 3])
    assert unity(bags, [name], frequencies, Settings()).tolist() == [1.0]
    assert unity(bags, [np.array([0, 4, 8, 12])], frequencies, Settings()).tolist() == []


def test_groups_of_few_names_count_less() -> None:
    bags, names, document, frequencies = two_groups(2)
    pair = names.full_name.copy()
    pair[40:] = np.arange(40, len(pair)) // 2 + NAMES  # all but ten names are one group
    few = FullNames(names.block_start, pair, names.namesakes)
    assert find_name_trust(bags, few, document, frequencies, Settings()) == pytest.approx(1 - 10 / ENOUGH_NAMES)
