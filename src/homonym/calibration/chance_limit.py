"""The chance limit of a run without labels, from how much the people of real blocks have in common.

The lift of two clusters is how many times more they share than the first one shares by chance with other names. Most
pairs of clusters in a block are two people, so the median lift shows how similar people of one name are in this
collection: people in the same field more than people of all fields. Two clusters must exceed a multiple of it.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from homonym.calibration.pseudonames import SampledBlocks
from homonym.clustering.agglomerative import chance_levels, pair_scores_of_blocks
from homonym.clustering.arrays import Bags, Floats, Frequencies, Integers
from homonym.settings import Settings

# The multiple of the median lift. Chosen on two labelled sets, AMiner and the Chinese names, on which 3 to 4.3 do well.
FACTOR = 3.5
# Minimum size of a cluster: the lift of fewer mentions is mostly chance.
MIN_MENTIONS = 4
# Maximum number of clusters, of as many blocks as wanted; they are drawn by size.
MAX_CLUSTERS = 600
# The lift of a collection that shows none, and the number of pairs that it counts as much as.
USUAL_LIFT, USUAL_PAIRS = 0.65, 30
# Seed of the drawn clusters.
SEED = 0


def find_chance_limit(sampled: SampledBlocks, frequencies: Frequencies, settings: Settings, threads: int) -> float:
    """γ₂: a multiple of the median lift of the clusters that the default limits find in the sampled blocks."""
    sampled = sampled.to_cluster()
    label = sampled.clusters(frequencies, settings, threads)
    # The fewer blocks, the fewer clusters: drawn by size from more of them, they would be smaller.
    lifts = cluster_lifts(sampled.bags, label, frequencies, settings, round(MAX_CLUSTERS * sampled.share))
    pairs = len(lifts)
    observed = pairs * math.log(max(float(np.median(lifts)), USUAL_LIFT / 10)) if pairs else 0.0
    return FACTOR * math.exp((observed + USUAL_PAIRS * math.log(USUAL_LIFT)) / (pairs + USUAL_PAIRS))


def cluster_lifts(
    bags: Bags, label: NDArray[np.int32], frequencies: Frequencies, settings: Settings, most: int = MAX_CLUSTERS
) -> Floats:
    """The lift of each two larger clusters of a block, the higher one of both orders."""
    blocks = np.diff(bags.block_start)
    block = np.repeat(np.arange(len(blocks)), blocks)
    _, cluster, size = np.unique(bags.block_start[block] + label, return_inverse=True, return_counts=True)
    chosen = _chosen_clusters(size, most)
    if not len(chosen):
        return np.zeros(0)
    number = np.full(len(size), -1)
    number[chosen] = np.arange(len(chosen))
    mentions = np.flatnonzero(number[cluster] >= 0)
    owner = number[cluster[mentions]]
    level = np.bincount(owner, chance_levels(bags, frequencies, settings)[mentions], len(chosen))
    block_of = np.zeros(len(chosen), np.int64)
    block_of[owner] = block[mentions]
    found_bags = bags.select(mentions, np.array([len(mentions)]))
    summed = found_bags.summed(owner, np.unique(block_of, return_counts=True)[1])
    weight = np.array(settings.weights_for(frequencies.types))
    found = [np.zeros(0)]
    every = pairwise(summed.block_start.tolist())
    for (first, last), (S, n) in zip(every, pair_scores_of_blocks(summed, frequencies), strict=True):
        if last - first > 1:
            here = slice(first, last)
            below = n + size[chosen[here], None] * settings.epsilon
            score = np.einsum("ijt,jt->ij", S, weight / below)
            with np.errstate(divide="ignore", invalid="ignore"):
                lift = score / level[here, None]
            found.append(np.fmax(lift, lift.T)[np.triu_indices(last - first, 1)])
    lifts = np.concatenate(found)
    return lifts[np.isfinite(lifts)]


def _chosen_clusters(size: Integers, most: int) -> Integers:
    """The larger clusters, in order; a sample by size if there are many."""
    large = np.flatnonzero(size >= MIN_MENTIONS)
    if len(large) > most:
        share = size[large] / size[large].sum()
        large = np.random.default_rng(SEED).choice(large, most, replace=False, p=share)
    return np.sort(large)
