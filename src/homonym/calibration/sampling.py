"""Examples for learning weights: a mention with others of its author, and with as many of somebody else.

The paper's scenario: x is to be assigned to the right cluster C or to a wrong one Ċ of the same size, over all sizes.
What a classifier sees is p_t(x|C) of each feature type t; x itself is left out of C, or it would learn the self-match.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homonym.clustering.merging import Floats, Integers, couple
from homonym.evaluation.labelled import LabelledNames
from homonym.settings import Settings

#: Pairs of examples from each name, so that a name of thousands of mentions counts as much as one of ten.
PAIRS_PER_NAME = 50


@dataclass(frozen=True, eq=False)
class Examples:
    """p_t(x|C) per feature type, whether x is by the author of C, and the name that they are taken from."""

    probability: Floats
    right: Integers
    name: Integers


def sample(names: LabelledNames, settings: Settings, seed: int) -> Examples:
    """Draw examples from each name that has somebody with two mentions and somebody else, right and wrong in pairs."""
    generator = np.random.default_rng(seed)
    rows, origin = [np.empty((0, len(names.frequencies.types)))], []
    for name in range(len(names)):
        first, last = names.bags.block_start[name : name + 2]
        people = _people(names.author[first:last])
        sizes = possible_sizes([len(mentions) for mentions in people])
        if not sizes:
            continue
        S, n = couple(names.bags, name, names.frequencies)
        for size in generator.choice(sizes, PAIRS_PER_NAME):
            x, right, wrong = _draw(people, int(size), generator)
            for cluster in (right, wrong):
                rows.append(_probability(S, n, x, cluster, names.frequencies.mentions, settings)[None])
                origin.append(name)
    return Examples(np.concatenate(rows), np.arange(len(origin)) % 2 == 0, np.array(origin, np.int64))


def possible_sizes(mentions: list[int]) -> list[int]:
    """All |C| = |Ċ| that a name allows: somebody has one mention more, and somebody else has that many.

    >>> possible_sizes([3, 1]), possible_sizes([3, 4]), possible_sizes([1, 1]), possible_sizes([9])
    ([1], [1, 2, 3], [], [])
    """
    if len(mentions) < 2:
        return []
    largest, second = sorted(mentions, reverse=True)[:2]
    return list(range(1, min(largest - 1, second) + 1))


def _people(author: Integers) -> list[Integers]:
    """The mentions of each known author of one name."""
    return [np.flatnonzero(author == person) for person in np.unique(author[author >= 0])]


def _draw(people: list[Integers], size: int, generator: np.random.Generator) -> tuple[int, Integers, Integers]:
    """A mention, `size` others of its author, and as many of somebody else."""
    pairs = [
        (i, j)
        for i, own in enumerate(people)
        for j, other in enumerate(people)
        if i != j and len(own) > size and len(other) >= size
    ]
    own, other = (people[i] for i in pairs[generator.integers(len(pairs))])
    x, *right = generator.choice(own, size + 1, replace=False)
    return int(x), np.array(right), generator.choice(other, size, replace=False)


def _probability(S: Floats, n: Floats, x: int, cluster: Integers, N: int, settings: Settings) -> Floats:
    """p_t(x|C) of each feature type, C being the cluster."""
    epsilon, size = settings.epsilon, len(cluster)
    use_max = settings.variant == "max"
    shared = S[x, cluster].max(axis=0) if use_max else S[x, cluster].sum(axis=0)
    above = shared + (1 if use_max else size) * epsilon / N
    probability: Floats = above / (n[cluster].sum(axis=0) + size * epsilon)
    return probability
