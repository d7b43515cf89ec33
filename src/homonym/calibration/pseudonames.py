"""Pseudo-names: blocks with known authors, built by putting mentions of several single-person names into one block.

A pseudo-name copies the composition of a real block: the number of authors and mentions that the method finds there,
and the cannot-links between them. Two people of one name have more in common than two random people, so each person
after the first is the most similar of a few random candidates.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from homonym.calibration.single_person_names import BlockSample, PersonPool, document_numbers
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

# Maximum number of real blocks to copy, of their mentions together, and of the mentions of one of them.
MAX_BLOCKS, MAX_BLOCK_MENTIONS, LARGEST_BLOCK = 600, 60_000, 1000
# Number of mentions that are clustered by one call of the kernel.
BATCH_MENTIONS = 1000
# Maximum number of mentions of a pseudo-name; authors of a larger block are left out at random.
MAX_NAME_MENTIONS = 300
# Maximum number of pseudo-names for each number of people up to 10, and for all larger numbers together.
NAMES_PER_SIZE = 15
# Number of candidates that the most similar person is chosen from.
CANDIDATES = 3
# Minimum number of people with enough mentions to draw from; otherwise larger or smaller people are drawn, too.
MIN_CHOICE = 40
# Every n-th pseudo-name has no constraints.
UNCONSTRAINED = 3
# Maximum attempts to find candidates that share no document with the people drawn before.
ATTEMPTS = 30


@dataclass(frozen=True, eq=False)
class BlockComposition:
    """The authors that the method finds in some real blocks.

    Each block is a list of authors, and each author an array with the profile of each mention; `constraints` has the
    cannot-links of all profiles.
    """

    blocks: list[list[Integers]]
    constraints: Constraints


def sample_blocks_by_size(sizes: Integers, generator: np.random.Generator) -> Integers:
    """Draw blocks with a probability proportional to their size, in order."""
    usable = np.flatnonzero((sizes > 1) & (sizes <= LARGEST_BLOCK))
    share = sizes[usable] / sizes[usable].sum()
    chosen = generator.choice(usable, min(MAX_BLOCKS, len(usable)), replace=False, p=share) if len(usable) else usable
    return np.sort(chosen[np.cumsum(sizes[chosen]) <= MAX_BLOCK_MENTIONS])


@dataclass(frozen=True, eq=False)
class SampledBlocks:
    """Real blocks that pseudo-names copy: their bags, constraints and names, which are the same at every limit."""

    bags: Bags
    constraints: Constraints
    full_names: FullNames
    document: Integers

    @classmethod
    def draw(
        cls,
        encoded: Encoded,
        settings: Settings,
        found_constraints: FoundConstraints | None,
        generator: np.random.Generator,
        sample: BlockSample | None = None,
    ) -> SampledBlocks:
        """Draw blocks of the collection and gather their bags; without `sample`, all blocks are loaded."""
        sample = sample or BlockSample.all_of(encoded)
        drawn = sample_blocks_by_size(sample.sizes, generator)
        sizes, blocks = sample.sizes[drawn], sample.positions(drawn)
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
        """The blocks in ranges of about BATCH_MENTIONS mentions, one for each call of the kernel."""
        batch = self.bags.block_start[:-1] // BATCH_MENTIONS
        edges = [0, *(np.flatnonzero(np.diff(batch)) + 1).tolist(), len(batch)]
        return [slice(first, last) for first, last in pairwise(edges) if first < last]


def block_composition(
    sampled: SampledBlocks, frequencies: Frequencies, settings: Settings, threads: int
) -> BlockComposition:
    """Cluster the sampled blocks and return their authors."""
    return composition_of_clusters(sampled, sampled.clusters(frequencies, settings, threads))


def labels_of_batches(clusterings: list[Clustering]) -> NDArray[np.int32]:
    """The cluster of each mention inside its block."""
    return np.concatenate([np.zeros(0, np.int32), *(clustering.label for clustering in clusterings)])


def composition_of_clusters(sampled: SampledBlocks, label: NDArray[np.int32]) -> BlockComposition:
    """The authors of the sampled blocks, given the cluster of each mention inside its block."""
    constraints = sampled.constraints
    authors, profiles = (np.split(array, sampled.bags.block_start[1:-1]) for array in (label, constraints.profile))
    separated = _CannotLinkSets(constraints)
    blocks = [
        [separated.consistent(profile[label == author]) for author in range(label.max(initial=-1) + 1)]
        for label, profile in zip(authors, profiles, strict=True)
    ]
    return BlockComposition([block for block in blocks if block], constraints)


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

    Mentions take the profiles of the mentions of the real block, except in every third pseudo-name: the limit must also
    suit names without constraints.
    """
    blocks: list[Integers] = []
    authors, profiles, person = [], [], 0
    for block in _choose_blocks(composition, generator):
        people = _draw_people(pool, [len(author) for author in block], generator)
        if people:
            copied = [author[: len(mentions)] for author, mentions in zip(block, people, strict=False)]
            profiles.append(np.concatenate(copied) * bool(len(blocks) % UNCONSTRAINED))
            blocks.append(np.concatenate(people))
            authors.append(np.repeat(person + np.arange(len(people)), [len(mentions) for mentions in people]))
            person += len(people)
    if not blocks:
        return None
    mentions, sizes = np.concatenate(blocks), np.array([len(block) for block in blocks])
    unlinked = np.arange(len(mentions)) - np.repeat(starts(sizes)[:-1], sizes)
    profile = np.concatenate(profiles).astype(np.int32)
    return LabelledNames(
        key=[str(number) for number in range(len(blocks))],
        bags=pool.bags.select(mentions, sizes),
        frequencies=pool.frequencies,
        author=np.concatenate(authors),
        written=[None] * len(mentions),
        constraints=composition.constraints._replace(group=unlinked.astype(np.int32), profile=profile),
    )


def _choose_blocks(composition: BlockComposition, generator: np.random.Generator) -> list[list[Integers]]:
    """Draw blocks of each number of people, and reduce them to the maximum size."""
    group = size_groups(np.array([len(authors) for authors in composition.blocks], np.int64))
    chosen = []
    for size in np.unique(group):
        blocks = generator.permutation(np.flatnonzero(group == size))[:NAMES_PER_SIZE]
        chosen += [_reduce(composition.blocks[block], generator) for block in np.sort(blocks)]
    return chosen


def _reduce(authors: list[Integers], generator: np.random.Generator) -> list[Integers]:
    """Leave out random authors until the block is not too large; the largest author comes first."""
    if sum(map(len, authors)) > MAX_NAME_MENTIONS:
        authors = [authors[i] for i in generator.permutation(len(authors))]
        ends = np.cumsum([len(author) for author in authors])
        authors = [author for author, end in zip(authors, ends, strict=True) if end <= MAX_NAME_MENTIONS]
    return sorted(authors, key=len, reverse=True)


def _draw_people(pool: PersonPool, wanted: list[int], generator: np.random.Generator) -> list[Integers]:
    """The mentions of one person for each wanted number of mentions; no two people share a block or a document."""
    people: list[int] = []
    used_blocks: set[int] = set()
    documents: set[int] = set()
    drawn = []
    for mentions in wanted:
        candidates: list[int] = []
        low, high = _similar_sizes(pool.rising_sizes, mentions)
        least, most = pool.cumulated_probability[low], pool.cumulated_probability[high]
        for _ in range(ATTEMPTS):
            if len(candidates) == (CANDIDATES if people else 1):
                break
            place = bisect_right(pool.cumulated_probability, generator.uniform(least, most)) - 1
            person = pool.by_size[min(place, high - 1)]
            blocks = used_blocks.union(pool.block_of[one] for one in candidates)
            if pool.block_of[person] not in blocks and documents.isdisjoint(pool.documents[person]):
                candidates.append(person)
        if candidates:
            closest = max(candidates, key=lambda one: pool.similarity[one, people].sum())
            people.append(closest)
            used_blocks.add(pool.block_of[closest])
            documents |= pool.documents[closest]
            first, last = pool.bags.block_start[closest : closest + 2]
            drawn.append(np.sort(generator.permutation(np.arange(first, last))[:mentions]))
    return drawn


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
