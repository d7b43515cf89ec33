"""Which blocks calibration looks at: a random sample of whole blocks, bounded by the work that they take.

Each occurrence of a feature in a block may be multiplied with those of all other mentions, and merging looks at all
pairs of mentions. A unit of work takes about a nanosecond. Blocks are drawn at random and taken until the budget is
used up. So the sample has large and small blocks in the same proportion, whatever the budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from homonym.clustering.arrays import Integers, ranges, starts
from homonym.collection.encoded import Encoded

# Work for each pair of an occurrence and a mention, and for each ordered pair of mentions.
OCCURRENCE_WORK, PAIR_WORK = 3, 60

# Mean number of features from which on bags are long: only papers of hundreds of authors have such bags. Their features
# are in most other bags of the team, too, and do not fit into the cache, so a unit of work takes longer.
LONG_BAG = 500

# Blocks to find people in: the maximum number of blocks with several mentions (half of them drawn uniformly, half by
# size), and of blocks with one mention.
MAX_LARGER_BLOCKS, MAX_SINGLETON_BLOCKS = 800, 200
# Occurrences in them together; the minimum number of blocks. An engine has to load all of these.
PEOPLE_OCCURRENCES, MIN_PEOPLE_BLOCKS = 40_000_000, 40
# Blocks to cluster: the maximum number of blocks and of mentions, the work of clustering all of them once, and the
# minimum number of blocks.
MAX_CLUSTERED_BLOCKS, MAX_CLUSTERED_MENTIONS, CLUSTERED_WORK, MIN_CLUSTERED_BLOCKS = 600, 60_000, 6_500_000_000, 8
# One block takes no more than this share of a budget.
LARGEST_SHARE = 0.08
# Seed of the blocks to cluster, and of the order in which blocks are taken.
CLUSTERED_SEED = 0


def block_work(mentions: Integers, occurrences: Integers) -> Integers:
    """The work of clustering each block once.

    >>> block_work(np.array([10]), np.array([500]))
    array([21000])
    """
    return mentions * (OCCURRENCE_WORK * occurrences + PAIR_WORK * mentions)


def within_budget(
    items: Integers, work: Integers, budget: float, least: int, largest: float = LARGEST_SHARE
) -> Integers:
    """The first of some items in random order whose work is together within a budget, but at least some.

    Items that take more than the `largest` share of it are left out, unless too few are left; then the smallest are
    taken.

    >>> within_budget(np.array([5, 6, 7, 8]), np.array([2, 9, 3, 3]), budget=5, least=1, largest=0.6)
    array([5, 7])
    """
    few = min(least, len(work))
    fits = work <= max(largest * budget, np.sort(work)[few - 1] if few else 0)
    return items[fits][: max(least, int(np.searchsorted(np.cumsum(work[fits]), budget, side="right")))]


def within_work(items: Integers, mentions: Integers, occurrences: Integers, budget: float, least: int) -> Integers:
    """The first of some blocks in random order that can be clustered within a budget of work, but at least some.

    If bags are long, there are fewer blocks, but of the same sizes.
    """
    work = block_work(mentions, occurrences)
    return within_budget(items, work, budget / slowness(mentions, occurrences), least, largest=np.inf)


def slowness(mentions: Integers, occurrences: Integers) -> float:
    """How many times as long a unit of work takes for some blocks.

    >>> slowness(np.array([10]), np.array([500])), slowness(np.array([10]), np.array([20_000]))
    (1.0, 2.0)
    """
    return float(np.sqrt(max(1.0, occurrences.sum() / max(1, mentions.sum()) / LONG_BAG)))


@dataclass(frozen=True, eq=False)
class BlockSample:
    """The sizes of all blocks of a collection, the sorted numbers of those that are loaded, and of those in use.

    `people` are the blocks to find people in. `clustered` are those to cluster, for the chance limit and for
    pseudo-names, and `clustered_share` is the share of the wanted ones that the budget allows. Which blocks these are
    depends only on the sizes and occurrences, so that they can be chosen before they are loaded.
    """

    sizes: Integers
    loaded: Integers
    people: Integers
    clustered: Integers
    clustered_share: float = 1.0

    @classmethod
    def of(cls, encoded: Encoded, generator: np.random.Generator) -> BlockSample:
        """A sample of a collection that is loaded as a whole."""
        sizes = np.diff(encoded.block_start)

        def occurrences(blocks: Integers) -> Integers:
            per_mention = encoded.occurrences(ranges(encoded.block_start[blocks], sizes[blocks]))
            return np.add.reduceat(per_mention, starts(sizes[blocks])[:-1]) if len(blocks) else sizes[blocks]

        return cls(sizes, np.arange(len(sizes)), *choose_blocks(sizes, occurrences, generator))

    def positions(self, blocks: Integers) -> Integers:
        """The positions of some blocks among the loaded ones."""
        return np.searchsorted(self.loaded, blocks)


def choose_blocks(
    sizes: Integers, occurrences: Callable[[Integers], Integers], generator: np.random.Generator
) -> tuple[Integers, Integers, float]:
    """The last fields of a `BlockSample`; `occurrences` returns the number of those in some blocks."""
    larger, single = _candidates_for_people(sizes, generator)
    order = np.random.default_rng(CLUSTERED_SEED)
    clustered = _candidates_to_cluster(sizes, order)
    asked = np.union1d(larger, clustered)
    found = occurrences(asked)
    larger = order.permutation(larger)
    people = within_budget(
        larger, found[np.searchsorted(asked, larger)], PEOPLE_OCCURRENCES, MIN_PEOPLE_BLOCKS
    )  # fmt: skip
    work = block_work(sizes[clustered], found[np.searchsorted(asked, clustered)])
    allowed = within_budget(clustered, work, CLUSTERED_WORK, MIN_CLUSTERED_BLOCKS)
    return np.union1d(people, single), np.sort(allowed), len(allowed) / max(1, len(clustered))


def _candidates_for_people(sizes: Integers, generator: np.random.Generator) -> tuple[Integers, Integers]:
    """Blocks with several mentions and with one; half of the former drawn by size, because large ones are few."""
    several, one = np.flatnonzero(sizes > 1), np.flatnonzero(sizes == 1)
    if len(several) > MAX_LARGER_BLOCKS:
        uniform = generator.choice(several, MAX_LARGER_BLOCKS // 2, replace=False)
        share = sizes[several] / sizes[several].sum()
        by_size = generator.choice(several, MAX_LARGER_BLOCKS // 2, replace=False, p=share)
        several = np.union1d(uniform, by_size)
    return several, generator.choice(one, min(MAX_SINGLETON_BLOCKS, len(one)), replace=False)


def _candidates_to_cluster(sizes: Integers, generator: np.random.Generator) -> Integers:
    """Blocks in random order, drawn with a probability proportional to their size."""
    usable = np.flatnonzero((sizes > 1) & (PAIR_WORK * sizes**2 <= LARGEST_SHARE * CLUSTERED_WORK))
    if not len(usable):
        return usable
    share = sizes[usable] / sizes[usable].sum()
    drawn = generator.choice(usable, min(MAX_CLUSTERED_BLOCKS, len(usable)), replace=False, p=share)
    return drawn[np.cumsum(sizes[drawn]) <= MAX_CLUSTERED_MENTIONS]
