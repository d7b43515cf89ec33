"""Pseudo-names: blocks with known authors, built by putting mentions of several single-person names into one block.

A pseudo-name copies the composition of a real block: the number of authors and mentions that the method finds there,
their full names, and the cannot-links between them. Two people of one name have more in common than two random people,
so each person after the first is the most similar of a few random candidates.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from homonym.calibration.block_sample import (
    CLUSTERED_WORK,
    MIN_CLUSTERED_BLOCKS,
    BlockSample,
    slowness,
    within_work,
)
from homonym.calibration.single_person_names import MAX_PERSON_MENTIONS, PersonPool, document_numbers
from homonym.clustering.agglomerative import Clustering, cluster
from homonym.clustering.arrays import (
    Bags,
    Constraints,
    Frequencies,
    Integers,
    concatenate_constraints,
    ranges,
    starts,
)
from homonym.collection.encoded import Encoded
from homonym.constraints.found_constraints import FoundConstraints
from homonym.constraints.name_prior import NAME_COLUMNS, FullNames
from homonym.measures.bootstrap import size_groups
from homonym.measures.methods import LabelledNames
from homonym.runtime.thread_pool import map_in_order
from homonym.settings import Settings

# Of the sampled blocks, those that pseudo-names copy are clustered at several limits: their maximum number, the work of
# clustering all of them once, and the minimum number. Large blocks have few people each; twelve of them gave five
# pseudo-names and a limit by chance.
MAX_COPIED, COPIED_WORK, MIN_COPIED = 400, 2_000_000_000, 30
# Seed of the order in which they are taken.
COPIED_SEED = 0
# Number of mentions that are clustered by one call of the kernel.
KERNEL_MENTIONS = 1000
# Maximum number of mentions of a pseudo-name; authors of a larger block are left out at random.
MAX_NAME_MENTIONS = 200
# Maximum number of pseudo-names for each number of people up to 10, and for all larger numbers together; and the number
# of pairs of mentions from which on there are no more. At least one is built: each is merged at dozens of limits.
NAMES_PER_SIZE, PAIRS_PER_SIZE = 15, 40_000
# Minimum number of pseudo-names, as far as there are NAMES_PER_SIZE of each number of people: blocks that were left out
# for their pairs are added. A collection of large blocks that have one or two people each would get only a few names.
MIN_NAMES_DRAWN = 40
# Number of candidates that the most similar person is chosen from. With more, Web of Science gets a better limit, but
# confidence is too low on machine learning.
CANDIDATES = 3
# Minimum number of people with enough mentions to draw from; otherwise larger or smaller people are drawn, too.
MIN_CHOICE = 40
# Every n-th pseudo-name has no constraints and no full names.
UNCONSTRAINED = 3
# Maximum attempts to find candidates that share no document with the people drawn before.
ATTEMPTS = 30
# Number of random numbers that are drawn at once.
RANDOM_NUMBERS = 4096


@dataclass(frozen=True, eq=False)
class BlockComposition:
    """The authors that the method finds in some real blocks.

    Each block is a list of authors, and each author an array of mentions, by position in `constraints` and
    `full_names`.
    """

    blocks: list[list[Integers]]
    constraints: Constraints
    full_names: FullNames


@dataclass(frozen=True, eq=False)
class SampledBlocks:
    """Real blocks that pseudo-names copy: their bags, constraints and names, which are the same at every limit.

    `share` is the share of the wanted blocks that the budget of work allows.
    """

    bags: Bags
    constraints: Constraints
    full_names: FullNames
    document: Integers
    share: float = 1.0

    @classmethod
    def draw(
        cls,
        encoded: Encoded,
        settings: Settings,
        found_constraints: FoundConstraints | None,
        sample: BlockSample | None = None,
    ) -> SampledBlocks:
        """Gather the bags of the blocks to copy; without `sample`, blocks of the collection are drawn."""
        sample = sample or BlockSample.of(encoded, np.random.default_rng(0))
        sizes, blocks = sample.sizes[sample.clustered], sample.positions(sample.clustered)
        has_weight = np.array(settings.weights_for(encoded.frequencies.types)) > 0
        mentions = ranges(encoded.block_start[blocks], sizes)
        bags = Bags(starts(sizes), *encoded.gather_mentions(mentions, has_weight))
        unconstrained = ((size, None) for size in sizes.tolist())
        columns = encoded.read(["document_id", *NAME_COLUMNS], mentions)
        return cls(
            bags,
            found_constraints.of_chosen(blocks) if found_constraints else concatenate_constraints(unconstrained),
            FullNames.of(starts(sizes), columns.to_batches()),
            document_numbers(columns["document_id"]),
            sample.clustered_share,
        )

    def to_cluster(self) -> SampledBlocks:
        """The blocks to cluster for the chance limit: all, or a random selection if their bags are long."""
        if slowness(*self._mentions_and_occurrences()) == 1.0:
            return self
        return self._select(CLUSTERED_WORK, MIN_CLUSTERED_BLOCKS, len(self.bags.block_start))

    def copied(self) -> SampledBlocks:
        """The blocks that pseudo-names copy: a random selection if clustering all of them again is too much work."""
        return self._select(COPIED_WORK, MIN_COPIED, MAX_COPIED)

    def _mentions_and_occurrences(self) -> tuple[Integers, Integers]:
        """The numbers of mentions and of occurrences of features of each block."""
        return np.diff(self.bags.block_start), np.diff(self.bags.bag_start[self.bags.block_start])

    def _select(self, budget: float, least: int, most: int) -> SampledBlocks:
        """A random selection of blocks within a budget of work."""
        sizes, occurrences = self._mentions_and_occurrences()
        order = np.random.default_rng(COPIED_SEED).permutation(len(sizes))
        blocks = np.sort(within_work(order, sizes[order], occurrences[order], budget, least)[:most])
        mentions = ranges(self.bags.block_start[blocks], sizes[blocks])
        return SampledBlocks(
            self.bags.select(mentions, sizes[blocks]),
            self.constraints.of(mentions),
            self.full_names.select(blocks),
            self.document[mentions],
            self.share * len(blocks) / max(1, len(sizes)),
        )

    def clusters(self, frequencies: Frequencies, settings: Settings, threads: int) -> NDArray[np.int32]:
        """Cluster the blocks at the limit of the settings: the cluster of each mention inside its block."""
        return labels_of_batches(self.clusterings(frequencies, settings, threads))

    def clusterings(
        self, frequencies: Frequencies, settings: Settings, threads: int, *, margins: bool = False
    ) -> list[Clustering]:
        """The clustering of each batch of blocks."""
        names = self.full_names.prior(settings.trust_in_names)

        def cluster_batch(blocks: slice) -> Clustering:
            sizes = np.diff(self.bags.block_start)[blocks]
            first = self.bags.block_start[blocks.start]
            mentions = np.arange(first, first + sizes.sum())
            return cluster(
                self.bags.select(mentions, sizes),
                frequencies,
                settings,
                constraints=self.constraints.of(mentions),
                names=names.of(mentions) if names else None,
                margins=margins,
            )

        return [clustering for _, clustering in map_in_order(cluster_batch, self.batches(), threads)]

    def batches(self) -> list[slice]:
        """The blocks in ranges of about KERNEL_MENTIONS mentions, one for each call of the kernel."""
        batch = self.bags.block_start[:-1] // KERNEL_MENTIONS
        edges = [0, *(np.flatnonzero(np.diff(batch)) + 1).tolist(), len(batch)]
        return [slice(first, last) for first, last in pairwise(edges) if first < last]


def labels_of_batches(clusterings: list[Clustering]) -> NDArray[np.int32]:
    """The cluster of each mention inside its block."""
    return np.concatenate([np.zeros(0, np.int32), *(clustering.label for clustering in clusterings)])


def composition_of_clusters(sampled: SampledBlocks, label: NDArray[np.int32]) -> BlockComposition:
    """The authors of the sampled blocks, given the cluster of each mention inside its block.

    Where must-links have overruled cannot-links between the mentions of an author, these have no cannot-links.
    """
    constraints = sampled.constraints
    separated, profile = _CannotLinkSets(constraints), constraints.profile.copy()
    blocks = []
    for first, last in pairwise(sampled.bags.block_start.tolist()):
        if first == last:
            continue
        found = label[first:last]
        authors = np.split(first + np.argsort(found, kind="stable"), np.cumsum(np.bincount(found))[:-1])
        if profile[first:last].any():
            for mentions in authors:
                profile[mentions] = separated.consistent(profile[mentions])
        blocks.append(authors)
    return BlockComposition(blocks, constraints._replace(profile=profile), sampled.full_names)


class _CannotLinkSets(dict[int, set[int]]):
    """The cannot-links of each profile, as sets, made on demand."""

    def __init__(self, constraints: Constraints) -> None:
        self.constraints = constraints

    def __missing__(self, profile: int) -> set[int]:
        start, cannot_link = self.constraints.cannot_link_start, self.constraints.cannot_link
        self[profile] = set(cannot_link[start[profile] : start[profile + 1]].tolist())
        return self[profile]

    def consistent(self, profile: Integers) -> Integers:
        """The profiles of an author; all 0 if must-links have overruled cannot-links between them."""
        distinct = set(profile.tolist())
        return profile * all(distinct.isdisjoint(self[one]) for one in distinct)


def build_pseudonames(
    pool: PersonPool, composition: BlockComposition, generator: np.random.Generator
) -> LabelledNames | None:
    """Build pseudo-names like real blocks, about as many of each number of people; None if none can be built.

    Mentions take the cannot-links and the full names of the mentions of the real block, except in every third
    pseudo-name: the limit must also suit names without them.
    """
    chosen = _choose_blocks(composition, generator)
    people = _PeopleDrawer(pool, generator)
    names = [drawn for block in chosen if (drawn := people.draw(block))]
    if not names:
        return None
    person, author = (list(column) for column in zip(*chain.from_iterable(names), strict=True))
    copied_sizes = np.array([len(one) for one in author])
    taken = np.minimum(np.minimum(copied_sizes, MAX_PERSON_MENTIONS), pool.sizes[person])
    left_out = np.maximum(0, copied_sizes - MAX_PERSON_MENTIONS)
    mentions = _random_mentions(pool.bags.block_start[person], pool.sizes[person], taken, generator)
    first_person = starts(np.array([len(drawn) for drawn in names]))[:-1]
    sizes = np.add.reduceat(taken, first_person)
    copied = np.concatenate([one[:most] for one, most in zip(author, taken.tolist(), strict=True)])
    is_like = np.repeat(np.arange(len(names)) % UNCONSTRAINED > 0, sizes)
    profile = composition.constraints.profile[copied] * is_like
    full_name = np.where(is_like, composition.full_names.full_name[copied], -1)
    unlinked = np.arange(len(mentions)) - np.repeat(starts(sizes)[:-1], sizes)
    return LabelledNames(
        key=[str(number) for number in range(len(names))],
        bags=pool.bags.select(mentions, sizes),
        frequencies=pool.frequencies,
        author=np.repeat(np.arange(len(person)), taken),
        written=[None] * len(mentions),
        constraints=composition.constraints._replace(group=unlinked.astype(np.int32), profile=profile.astype(np.int32)),
        full_names=FullNames(starts(sizes), full_name.astype(np.int32), composition.full_names.namesakes[copied]),
        limit_mentions=sizes + np.add.reduceat(left_out, first_person),
    )


def constrained_only(names: LabelledNames) -> LabelledNames:
    """The pseudo-names with the constraints and full names of real blocks; all if there are none of these."""
    constrained = np.flatnonzero(np.arange(len(names)) % UNCONSTRAINED)
    return names.select(constrained) if len(constrained) else names


def _choose_blocks(composition: BlockComposition, generator: np.random.Generator) -> list[list[Integers]]:
    """Draw blocks of each number of people, reduced to the maximum size, until they have enough pairs."""
    group = size_groups(np.array([len(authors) for authors in composition.blocks], np.int64))
    chosen, left = [], list[int]()
    for size in np.unique(group):
        pairs, blocks = 0, generator.permutation(np.flatnonzero(group == size))[:NAMES_PER_SIZE]
        for block in blocks.tolist():
            if pairs < PAIRS_PER_SIZE:
                chosen.append(_reduce(composition.blocks[block], generator))
                pairs += sum(map(_usable, chosen[-1])) ** 2 // 2
            else:
                left.append(block)
    missing = max(0, MIN_NAMES_DRAWN - len(chosen))
    # No random numbers are drawn that are not needed: the others would change.
    further = generator.permutation(left)[:missing].tolist() if missing else []
    return chosen + [_reduce(composition.blocks[block], generator) for block in further]


def _reduce(authors: list[Integers], generator: np.random.Generator) -> list[Integers]:
    """Leave out random authors until the block is not too large; the largest author comes first.

    An author counts with the mentions that a person of a pool can have. So a block of few authors with many mentions
    each keeps some of them, and such blocks are copied, too.
    """
    if sum(map(_usable, authors)) > MAX_NAME_MENTIONS:
        authors = [authors[i] for i in generator.permutation(len(authors))]
        ends = np.cumsum([_usable(author) for author in authors])
        authors = [author for author, end in zip(authors, ends, strict=True) if end <= MAX_NAME_MENTIONS]
    return sorted(authors, key=_usable, reverse=True)


def _usable(author: Integers) -> int:
    """Number of mentions of an author that a person of a pool can have."""
    return min(len(author), MAX_PERSON_MENTIONS)


def _random_mentions(first: Integers, sizes: Integers, taken: Integers, generator: np.random.Generator) -> Integers:
    """Random mentions of each person, in order: `taken` of the `sizes` that begin at `first`."""
    person = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((generator.random(len(person)), person))
    is_taken = np.zeros(len(person), np.bool_)
    is_taken[order[ranges(starts(sizes)[:-1], taken)]] = True
    return ranges(first, sizes)[is_taken]


class _PeopleDrawer:
    """Draws people for pseudo-names; no two of a name share a block or a document.

    Here, people are numbered by size.
    """

    def __init__(self, pool: PersonPool, generator: np.random.Generator) -> None:
        self.pool = pool
        # Random numbers in [0, 1).
        self._numbers = chain.from_iterable(iter(lambda: generator.random(RANDOM_NUMBERS).tolist(), None))
        self._by_size: list[int] = pool.by_size.tolist()
        self._similar = cache(partial(_similar_sizes, pool.rising_sizes))

    def draw(self, block: list[Integers]) -> list[tuple[int, Integers]]:
        """A person for each author of a block, as far as there are any, with that author."""
        drawn: list[tuple[int, Integers]] = []
        excluded, closeness = 0, np.zeros(len(self._by_size))
        for author in block:
            candidates = self._candidates(_usable(author), excluded, CANDIDATES if drawn else 1)
            if candidates:
                closest = max(candidates, key=closeness.__getitem__)
                drawn.append((self._by_size[closest], author))
                excluded |= self.pool.excluded[closest]
                closeness += self.pool.similarity_by_size[closest]
        return drawn

    def _candidates(self, mentions: int, excluded: int, most: int) -> list[int]:
        """A few people of about this size from different blocks, drawn by the probability of being one person."""
        pool, cumulated = self.pool, self.pool.cumulated_probability
        low, high = self._similar(mentions)
        if not ((1 << high) - (1 << low)) & ~excluded:
            return []
        least, total, last = cumulated[low], cumulated[high] - cumulated[low], high - 1
        found: list[int] = []
        for _ in range(ATTEMPTS):
            place = bisect_right(cumulated, least + total * next(self._numbers)) - 1
            place = min(place, last)
            if not excluded >> place & 1:
                found.append(place)
                if len(found) == most:
                    break
                excluded |= pool.same_block[place]
        return found


def _similar_sizes(sizes: list[int], mentions: int) -> tuple[int, int]:
    """The range, in sizes in rising order, of those with enough mentions but not many more.

    >>> _similar_sizes([1] * 50 + [2] * 50 + [9] * 50, 2)
    (50, 100)
    >>> _similar_sizes([1] * 50 + [2] * 50 + [9] * 50, 30)
    (110, 150)
    """
    low = bisect_left(sizes, mentions)
    high = bisect_right(sizes, max(2 * mentions, mentions + 2))
    if high - low >= MIN_CHOICE:
        return low, high
    return (low, len(sizes)) if len(sizes) - low >= MIN_CHOICE else (max(0, len(sizes) - MIN_CHOICE), len(sizes))
