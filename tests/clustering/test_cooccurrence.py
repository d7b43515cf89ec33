"""S and n of blocks from bags: equal to the definition up to the last bit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.clustering.agglomerative import kernel_input
from homonym.clustering.arrays import Bags, Frequencies
from homonym.clustering.dense.blocks import fill_pair_scores
from homonym.clustering.dense.cooccurrence import Cooccurrence, new_feature_scratch
from tests.support.profiles import examples

FEATURES = 4096
# Features whose places in a hash table are near each other, and any others.
feature = st.one_of(st.integers(0, 5), st.integers(0, FEATURES - 1))
count = st.sampled_from([0.25, 0.1, 1.0, 3.0, 1 / 3])
# Sorted by feature; a feature may be there more than once.
bag = st.lists(st.tuples(feature, count), max_size=12).map(sorted)


def expected(block: list[list[tuple[int, float]]], total: np.ndarray) -> tuple[list[list[float]], list[float]]:
    """S of all pairs and S(x,x), where products are added in ascending order of features."""
    shared = [[0.0] * len(block) for _ in block]
    before: dict[int, list[tuple[int, float]]] = {}
    for x, entries in enumerate(block):
        for f, c in entries:
            inverse = float(1.0 / total[f])
            shared[x][x] += c * c * inverse
            for y, other in reversed(before.setdefault(f, [])):
                shared[x][y] += 2.0 * (c * other * inverse) if x == y else c * other * inverse
            before[f].append((x, c))
    return shared, [sum(c for _, c in entries) for entries in block]


@settings(max_examples=examples(300), deadline=None)
@given(blocks=st.lists(st.lists(bag, min_size=1, max_size=8), min_size=1, max_size=4), seed=st.integers(0, 99))
def test_pair_scores_equal_the_definition_to_the_last_bit(
    blocks: list[list[list[tuple[int, float]]]], seed: int
) -> None:
    total = np.random.default_rng(seed).uniform(1, 50, FEATURES)
    frequencies = Frequencies(("term",), np.array([0, FEATURES]), total, np.array([total.sum()]), 100)
    bags = [entries for block in blocks for entries in block]
    flat = [entry for entries in bags for entry in entries]
    start = np.cumsum([0, *map(len, blocks)])
    bag_start = np.cumsum([0, *map(len, bags)])
    names, counts = np.array([f for f, _ in flat], np.int32), np.array([c for _, c in flat], np.float64)
    inputs = kernel_input(Bags(start, bag_start, names, counts), frequencies)
    pairs = [len(block) * (len(block) - 1) // 2 for block in blocks]
    found = Cooccurrence(np.full((sum(pairs), 1), np.nan), *(np.full((len(bags), 1), np.nan) for _ in range(2)))
    # The scratch is larger than needed and is used by one block after another.
    fill_pair_scores(0, len(blocks), inputs, new_feature_scratch(len(flat) + 3), found)
    ends = np.cumsum([0, *pairs])
    for block, (first, last), (begin, end) in zip(blocks, pairwise(start), pairwise(ends), strict=True):
        shared, mass = expected(block, total)
        assert found.S[begin:end, 0].tolist() == [shared[x][y] for x in range(len(block)) for y in range(x)]
        assert found.diagonal[first:last, 0].tolist() == [shared[x][x] for x in range(len(block))]
        assert found.n[first:last, 0].tolist() == mass
