"""Where the calibration of the limit starts: at the default, or lower if the default divides most people.

Pseudo-names copy the authors that the method finds in real blocks. If the default limit finds only fragments there,
pseudo-names are made of people with a few mentions each, every limit keeps these together, and the calibration ends
where it started. This happens in collections of a few large teams. All papers of a team have nearly the same authors,
so even papers of one person have little in common that is rare. Names that are likely to stand for one person show it.
"""

from __future__ import annotations

import numpy as np

from homonym.calibration.single_person_names import PersonPool
from homonym.clustering.agglomerative import cluster
from homonym.clustering.arrays import Bags, Floats, Integers
from homonym.settings import Settings

# Number of people that are clustered, and maximum number of mentions of each.
PEOPLE, MENTIONS = 100, 50
# The default limit keeps people together if their mean recall is at least this. It is .95 to .99 on AMiner, PubMed, the
# Chinese names, grants and generated papers, and .1 and .5 on generated papers of teams whose members hardly change.
KEEPS_TOGETHER = 0.75
# Otherwise the limit is lowered by this factor until the recall is this, or down to this multiple of the default.
LOWERED, WANTED_RECALL, LOWEST = 0.8, 0.9, 1e-3
# Seed of the people and the mentions.
SEED = 0


def starting_multiple(pool: PersonPool, settings: Settings, block_sizes: Integers) -> float:
    """The multiple of the default limit at which the people of a pool are mostly kept together; 1 for most collections.

    `block_sizes` are the numbers of mentions of the blocks that people come from, on which the limit depends.
    """
    people, bags = _sample(pool)
    sizes = np.maximum(pool.sizes, block_sizes[pool.source_block])[people]
    settings = settings.changed(chance_limit=0.0)
    multiple, recall = 1.0, _recall(bags, pool, settings, sizes)
    if recall >= KEEPS_TOGETHER:
        return multiple
    while recall < WANTED_RECALL and multiple > LOWEST:
        multiple *= LOWERED
        recall = _recall(bags, pool, settings.with_limit(settings.limit.scaled(multiple)), sizes)
    return multiple


def _sample(pool: PersonPool) -> tuple[Integers, Bags]:
    """Random people with several mentions, and the bags of random mentions of each."""
    generator = np.random.default_rng(SEED)
    people = np.sort(generator.permutation(np.flatnonzero(pool.sizes > 1))[:PEOPLE])
    first, sizes = pool.bags.block_start[people], pool.sizes[people]
    taken = [np.sort(generator.permutation(size)[:MENTIONS]) for size in sizes.tolist()]
    mentions = np.concatenate([start + one for start, one in zip(first.tolist(), taken, strict=True)])
    return people, pool.bags.select(mentions, np.minimum(sizes, MENTIONS))


def _recall(bags: Bags, pool: PersonPool, settings: Settings, limit_sizes: Integers) -> float:
    """B-cubed recall, where each block is one person."""
    clustering = cluster(bags, pool.frequencies, settings, limit_sizes=limit_sizes)
    sizes = np.diff(bags.block_start)
    found = np.repeat(bags.block_start[:-1], sizes) + clustering.label
    in_cluster = np.bincount(found, minlength=len(found))[found]
    recall: Floats = in_cluster / np.repeat(sizes, sizes)
    return float(recall.mean())
