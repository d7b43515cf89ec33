"""Pseudo-names: blocks with known authors, built by putting mentions of several single-person names into one block.

A pseudo-name copies the composition of a real block: the number of authors and mentions that the method finds there,
and the cannot-links between them. Two people of one name have more in common than two random people, so each person
after the first is the most similar of a few random candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from homonym.calibration.single_person_names import BlockSample, PersonPool
from homonym.clustering.agglomerative import cluster
from homonym.clustering.arrays import Constraints, Integers, concatenate_constraints, starts
from homonym.collection.encoded import Encoded
from homonym.constraints.found_constraints import FoundConstraints
from homonym.measures.bootstrap import size_groups
from homonym.measures.methods import LabelledNames
from homonym.runtime.thread_pool import map_in_order
from homonym.settings import Settings

# Maximum number of real blocks to copy, of their mentions together, and of the mentions of one of them.
MAX_BLOCKS, MAX_BLOCK_MENTIONS, LARGEST_BLOCK = 600, 60_000, 1000
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


def block_composition(
    encoded: Encoded,
    settings: Settings,
    found_constraints: FoundConstraints | None,
    generator: np.random.Generator,
    threads: int,
    sample: BlockSample | None = None,
) -> BlockComposition:
    """Cluster a sample of the collection's blocks and return their authors."""
    sample = sample or BlockSample.all_of(encoded)
    chosen = sample.positions(sample_blocks_by_size(sample.sizes, generator))
    has_weight = np.array(settings.weights_for(encoded.frequencies.types)) > 0

    def cluster_block(block: int) -> tuple[NDArray[np.int32], Constraints | None]:
        constraints = found_constraints.of_blocks(block, block + 1) if found_constraints else None
        bags = encoded.gather(block, block + 1, has_weight)
        return cluster(bags, encoded.frequencies, settings, constraints=constraints).label, constraints

    clustered = [result for _, result in map_in_order(cluster_block, chosen.tolist(), threads)]
    constraints = concatenate_constraints((len(label), of_block) for label, of_block in clustered)
    ends = np.cumsum([len(label) for label, _ in clustered])
    profiles = np.split(constraints.profile, ends[:-1]) if clustered else []
    blocks = [
        [_consistent_profiles(profile[label == author], constraints) for author in range(label.max() + 1)]
        for (label, _), profile in zip(clustered, profiles, strict=True)
    ]
    return BlockComposition(blocks, constraints)


def _consistent_profiles(profile: Integers, constraints: Constraints) -> Integers:
    """The profiles of an author; all 0 if must-links have overruled cannot-links between them."""
    distinct = np.unique(profile)
    start = constraints.cannot_link_start
    separated = np.concatenate([constraints.cannot_link[start[p] : start[p + 1]] for p in distinct])
    return profile * (not np.isin(separated, distinct).any())


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
    by_size = np.argsort(pool.sizes, kind="stable")
    sizes, cumulated = pool.sizes[by_size], np.append(0.0, np.cumsum(pool.probability[by_size]))
    people: list[int] = []
    documents: set[int] = set()
    drawn = []
    for mentions in wanted:
        candidates: list[int] = []
        low, high = _similar_sizes(sizes, mentions)
        for _ in range(ATTEMPTS):
            if len(candidates) == (CANDIDATES if people else 1):
                break
            place = np.searchsorted(cumulated, generator.uniform(cumulated[low], cumulated[high]), side="right") - 1
            person = int(by_size[min(int(place), high - 1)])
            used_blocks = pool.source_block[[*people, *candidates]]
            if pool.source_block[person] not in used_blocks and documents.isdisjoint(pool.documents(person)):
                candidates.append(person)
        if candidates:
            closest = max(candidates, key=lambda one: pool.similarity[one, people].sum())
            people.append(closest)
            documents |= pool.documents(closest)
            first, last = pool.bags.block_start[closest : closest + 2]
            drawn.append(np.sort(generator.permutation(np.arange(first, last))[:mentions]))
    return drawn


def _similar_sizes(sizes: Integers, mentions: int) -> tuple[int, int]:
    """The range, in sizes in rising order, of those with enough mentions but not many more.

    >>> _similar_sizes(np.array([1] * 50 + [2] * 50 + [9] * 50), 2)
    (50, 100)
    >>> _similar_sizes(np.array([1] * 50 + [2] * 50 + [9] * 50), 30)
    (110, 150)
    """
    low = int(np.searchsorted(sizes, mentions))
    high = int(np.searchsorted(sizes, max(2 * mentions, mentions + 2), side="right"))
    if high - low >= MIN_CHOICE:
        return low, high
    return (low, len(sizes)) if len(sizes) - low >= MIN_CHOICE else (max(0, len(sizes) - MIN_CHOICE), len(sizes))
