"""Where the calibration of the limit starts: at the default, or lower if the default divides most people.

Pseudo-names copy the authors that the method finds in real blocks. If the default limit finds only fragments there,
pseudo-names are made of people with a few mentions each, every limit keeps these together, and the calibration ends
where it started. This happens in collections of a few large teams. All papers of a team have nearly the same authors,
so even papers of one person have little in common that is rare. Names that are likely to stand for one person show it:
their recall falls steeply where the limit divides them. How high it is shows less, because some of these names are
several people, whom a good limit keeps apart.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from homonym.calibration.single_person_names import PersonPool
from homonym.clustering.agglomerative import cluster
from homonym.clustering.arrays import Bags, Floats, Integers
from homonym.settings import Settings

# Number of people that are clustered, and maximum number of mentions of each.
PEOPLE, MENTIONS = 100, 50
# A limit keeps people together if recall is at least the first number, and if recall at twice the limit is at least the
# second number times this recall.
WANTED_RECALL, STEADY = 0.35, 0.8
# Otherwise lower limits are tried: this many per halving, at most this many in all.
STEPS_PER_HALVING, MAX_STEPS = 3, 30
# Seed of the people and the mentions.
SEED = 0


def starting_multiple(pool: PersonPool, settings: Settings, block_sizes: Integers) -> float:
    """The multiple of the default limit at which the people of a pool are kept together; 1 for most collections.

    It is also 1 if no limit keeps them together, because then they are not one person each.
    `block_sizes` are the numbers of mentions of the blocks that people come from, on which the limit depends.
    """
    people, bags = _sample(pool)
    sizes = np.maximum(pool.sizes, block_sizes[pool.source_block])[people]
    settings = settings.changed(chance_limit=0.0)

    @cache
    def recall(step: int) -> float:
        limit = settings.limit.scaled(_multiple(step))
        return _recall(bags, pool, settings.with_limit(limit), sizes)

    def keeps_together(step: int) -> bool:
        return recall(step) >= WANTED_RECALL and recall(step - STEPS_PER_HALVING) >= STEADY * recall(step)

    return _multiple(next(filter(keeps_together, range(MAX_STEPS)), 0))


def _multiple(step: int) -> float:
    """The multiple of the default limit that is tried at a step.

    >>> _multiple(0), _multiple(STEPS_PER_HALVING)
    (1.0, 0.5)
    """
    return float(2.0 ** (-step / STEPS_PER_HALVING))


def _sample(pool: PersonPool) -> tuple[Integers, Bags]:
    """Random people with several mentions, and the bags of random mentions of each."""
    generator = np.random.default_rng(SEED)
    people = np.sort(generator.permutation(np.flatnonzero(pool.sizes > 1))[:PEOPLE])
    first, sizes = pool.bags.block_start[people], pool.sizes[people]
    taken = [np.sort(generator.permutation(size)[:MENTIONS]) for size in sizes.tolist()]
    mentions = np.concatenate([start + one for start, one in zip(first.tolist(), taken, strict=True)])
    return people, pool.bags.select(mentions, np.minimum(sizes, MENTIONS))


def _recall(bags: Bags, pool: PersonPool, settings: Settings, limit_sizes: Integers) -> float:
    """The share of the other mentions of a person that are in the cluster of a mention; each block is a person."""
    clustering = cluster(bags, pool.frequencies, settings, limit_sizes=limit_sizes)
    sizes = np.diff(bags.block_start)
    found = np.repeat(bags.block_start[:-1], sizes) + clustering.label
    others = np.bincount(found, minlength=len(found))[found] - 1
    recall: Floats = others / (np.repeat(sizes, sizes) - 1)
    return float(recall.mean())
