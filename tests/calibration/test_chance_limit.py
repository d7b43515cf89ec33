"""The chance limit without labels: lifts against the literal formulas, and what a collection without clusters gets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym.calibration import chance_limit
from homonym.calibration.chance_limit import FACTOR, USUAL_LIFT, cluster_lifts, find_chance_limit
from homonym.calibration.pseudonames import SampledBlocks
from homonym.clustering import reference
from homonym.clustering.agglomerative import chance_levels
from homonym.clustering.arrays import Bags, Frequencies, concatenate_constraints, starts
from homonym.constraints.name_prior import FullNames
from homonym.settings import Settings

FEATURES = 5
counts = st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=FEATURES, max_size=FEATURES)
blocks = st.lists(st.lists(counts, min_size=1, max_size=9), min_size=1, max_size=3)


def collection(rows: list[list[list[float]]], elsewhere: float) -> tuple[Bags, Frequencies]:
    """Bags of one feature type, and frequencies of a collection in which each feature also occurs elsewhere."""
    flat = np.array([row for block in rows for row in block])
    mention, feature = np.nonzero(flat)
    total = flat.sum(axis=0) + elsewhere
    frequencies = Frequencies(("term",), np.array([0, FEATURES]), total, np.array([total.sum()]), 1000)
    lengths = np.bincount(mention, minlength=len(flat))
    sizes = np.array([len(block) for block in rows])
    return Bags(starts(sizes), starts(lengths), feature.astype(np.int32), flat[mention, feature]), frequencies


def literal_type(block: list[list[float]], frequencies: Frequencies) -> reference.FeatureType:
    return reference.FeatureType(np.array(block), frequencies.total, float(frequencies.mass[0]), 1.0)


@given(blocks, st.sampled_from([0.0, 0.5, 7.0]))
def test_levels_agree_with_the_reference(rows: list[list[list[float]]], elsewhere: float) -> None:
    bags, frequencies = collection(rows, elsewhere)
    found = np.split(chance_levels(bags, frequencies, Settings()), bags.block_start[1:-1])
    for block, levels in zip(rows, found, strict=True):
        kind = literal_type(block, frequencies)
        wanted = [reference.chance_level([kind], [x]) if len(block) > 1 else 0.0 for x in range(len(block))]
        assert levels == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@given(blocks, st.data())
def test_lifts_agree_with_the_reference(rows: list[list[list[float]]], data: st.DataObject) -> None:
    bags, frequencies = collection(rows, elsewhere=3.0)
    label = [data.draw(st.lists(st.integers(0, 1), min_size=len(block), max_size=len(block))) for block in rows]
    label = [[one ^ labels[0] for one in labels] for labels in label]  # clusters are numbered by smallest member
    settings = Settings()
    found = cluster_lifts(bags, np.concatenate(label).astype(np.int32), frequencies, settings)
    wanted = []
    for block, labels in zip(rows, label, strict=True):
        kind = literal_type(block, frequencies)
        C, D = ([x for x, one in enumerate(labels) if one == author] for author in (0, 1))
        if min(len(C), len(D)) < chance_limit.MIN_MENTIONS:
            continue
        S = sum(kind.counts[C].sum(axis=0) * kind.counts[D].sum(axis=0) / kind.totals)
        lifts = [
            S / (kind.counts[B].sum() + len(B) * settings.epsilon) / level
            for A, B in ((C, D), (D, C))
            if (level := reference.chance_level([kind], A)) > 0
        ]
        wanted += [max(lifts)] if lifts else []
    assert sorted(found) == pytest.approx(sorted(wanted), rel=1e-9)


def sampled(rows: list[list[list[float]]]) -> tuple[SampledBlocks, Frequencies]:
    bags, frequencies = collection(rows, elsewhere=50.0)
    mentions = len(bags.bag_start) - 1
    unnamed = FullNames(bags.block_start, np.full(mentions, -1, np.int32), np.zeros(mentions))
    constraints = concatenate_constraints((len(block), None) for block in rows)
    return SampledBlocks(bags, constraints, unnamed, np.arange(mentions)), frequencies


def test_a_collection_without_large_clusters_has_the_usual_limit() -> None:
    blocks, frequencies = sampled([[[1.0, 0, 0, 0, 0], [0, 1.0, 0, 0, 0]]])
    assert find_chance_limit(blocks, frequencies, Settings(), 1) == pytest.approx(FACTOR * USUAL_LIFT)


def test_similar_people_raise_the_limit() -> None:
    # Two groups of five mentions per block; they share nothing but the last feature.
    def block(common: float) -> list[list[float]]:
        return [[5.0, 0, 0, 0, common]] * 5 + [[0, 5.0, 0, 0, common]] * 5

    def limit(common: float) -> float:
        blocks, frequencies = sampled([block(common)] * 40)
        two = np.tile(np.repeat([0, 1], 5), 40).astype(np.int32)
        lifts = cluster_lifts(blocks.bags, two, frequencies, Settings())
        assert len(lifts) == 40
        return float(np.median(lifts))

    assert limit(0.5) < limit(1.0) < limit(2.0)


def test_lifts_of_nothing_do_not_make_the_limit_zero() -> None:
    # All clusters of a block are apart and share nothing: the logarithm of their lift must not be −∞.
    rows = [[[3.0, 0, 0, 0, 0]] * 4 + [[0, 3.0, 0, 0, 0]] * 4] * 200
    blocks, frequencies = sampled(rows)
    found = find_chance_limit(blocks, frequencies, Settings(kappa=1e-3), 1)
    assert math.isfinite(found)
    assert found >= FACTOR * USUAL_LIFT / 10
