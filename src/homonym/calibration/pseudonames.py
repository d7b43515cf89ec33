"""Pseudo-names: blocks whose truth is known, because mentions of several names were put into one.

A pseudo-name has the make-up of a real block: as many people with as many mentions as the method finds there, and what
keeps some of these apart, such as their given names, may do so here. Two people of one name have more in common than
any two, so each of the others is the one of a few candidates who is closest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from homonym.calibration.single_person_names import BlockSample, Pool
from homonym.clustering.agglomerative import cluster
from homonym.clustering.arrays import Constraints, Integers, concatenate_constraints, starts
from homonym.collection.encoded import Encoded
from homonym.constraints.found_constraints import FoundConstraints
from homonym.measures.bootstrap import size_groups
from homonym.measures.methods import LabelledNames
from homonym.runtime.thread_pool import map_in_order
from homonym.settings import Settings

#: Real blocks whose make-up is looked at, drawn by their size, with so many mentions together; larger ones are not.
BLOCKS, BLOCK_MENTIONS, LARGEST_BLOCK = 600, 60_000, 1000
#: A pseudo-name has at most so many mentions; people of a larger block are drawn until these are filled.
MOST_MENTIONS = 300
#: So many pseudo-names are made for each number of people up to 10, and for all above.
NAMES_PER_SIZE = 15
#: Everybody but the first is the closest of so many candidates.
CANDIDATES = 3
#: People are drawn from at least so many who have enough mentions, before larger ones are cut down.
CHOICE = 40
#: Every so many-th pseudo-name has nothing but its features.
UNPROTECTED = 3
#: Somebody without a document in common is sought so often.
ATTEMPTS = 30


@dataclass(frozen=True, eq=False)
class BlockComposition:
    """The authors of some real blocks, as far as the method can tell.

    Each block is a list of authors, and each author an array with the profile of each mention; `constraints` has the
    rivals of all profiles.
    """

    blocks: list[list[Integers]]
    constraints: Constraints


def looked_at(sizes: Integers, generator: np.random.Generator) -> Integers:
    """Some blocks by their size, in order."""
    usable = np.flatnonzero((sizes > 1) & (sizes <= LARGEST_BLOCK))
    share = sizes[usable] / sizes[usable].sum()
    chosen = generator.choice(usable, min(BLOCKS, len(usable)), replace=False, p=share) if len(usable) else usable
    return np.sort(chosen[np.cumsum(sizes[chosen]) <= BLOCK_MENTIONS])


def block_composition(
    encoded: Encoded,
    settings: Settings,
    knowledge: FoundConstraints | None,
    generator: np.random.Generator,
    threads: int,
    among: BlockSample | None = None,
) -> BlockComposition:
    """Cluster a sample of the collection's blocks and see what their authors are like."""
    among = among or BlockSample.all_of(encoded)
    chosen = among.places(looked_at(among.sizes, generator))
    kept = np.array(settings.weights_for(encoded.frequencies.types)) > 0

    def look(block: int) -> tuple[NDArray[np.int32], Constraints | None]:
        constraints = knowledge.of_blocks(block, block + 1) if knowledge else None
        bags = encoded.gather(block, block + 1, kept)
        return cluster(bags, encoded.frequencies, settings, constraints=constraints).label, constraints

    looked = [found for _, found in map_in_order(look, chosen.tolist(), threads)]
    constraints = concatenate_constraints((len(label), bound) for label, bound in looked)
    ends = np.cumsum([len(label) for label, _ in looked])
    profiles = np.split(constraints.profile, ends[:-1]) if looked else []
    blocks = [
        [_at_peace(profile[label == author], constraints) for author in range(label.max() + 1)]
        for (label, _), profile in zip(looked, profiles, strict=True)
    ]
    return BlockComposition(blocks, constraints)


def _at_peace(profile: Integers, constraints: Constraints) -> Integers:
    """The profiles of an author; none where links have overruled that some of them are rivals."""
    distinct = np.unique(profile)
    rivals = [
        constraints.cannot_link[constraints.cannot_link_start[p] : constraints.cannot_link_start[p + 1]]
        for p in distinct
    ]
    return profile * (not np.isin(np.concatenate(rivals), distinct).any())


def pseudo_names(pool: Pool, made: BlockComposition, generator: np.random.Generator) -> LabelledNames | None:
    """Make pseudo-names like the real blocks, about as many of each number of people; None if nobody is left.

    What keeps the mentions of a real block apart does the same to those that take their places, but for every third
    pseudo-name: a limit must also do for names that nothing protects.
    """
    blocks: list[Integers] = []
    authors, profiles, person = [], [], 0
    for block in _chosen(made, generator):
        people = _draw(pool, [len(author) for author in block], generator)
        if people:
            places = [author[: len(mentions)] for author, mentions in zip(block, people, strict=False)]
            profiles.append(np.concatenate(places) * bool(len(blocks) % UNPROTECTED))
            blocks.append(np.concatenate(people))
            authors.append(np.repeat(person + np.arange(len(people)), [len(mentions) for mentions in people]))
            person += len(people)
    if not blocks:
        return None
    mentions, sizes = np.concatenate(blocks), np.array([len(block) for block in blocks])
    alone = np.arange(len(mentions)) - np.repeat(starts(sizes)[:-1], sizes)
    profile = np.concatenate(profiles).astype(np.int32)
    return LabelledNames(
        key=[str(number) for number in range(len(blocks))],
        bags=pool.bags.select(mentions, sizes),
        frequencies=pool.frequencies,
        author=np.concatenate(authors),
        written=[None] * len(mentions),
        constraints=replace(made.constraints, group=alone.astype(np.int32), profile=profile),
    )


def _chosen(made: BlockComposition, generator: np.random.Generator) -> list[list[Integers]]:
    """Some blocks of each number of people, cut to a size that can be made."""
    group = size_groups(np.array([len(authors) for authors in made.blocks], np.int64))
    chosen = []
    for size in np.unique(group):
        blocks = generator.permutation(np.flatnonzero(group == size))[:NAMES_PER_SIZE]
        chosen += [_cut(made.blocks[block], generator) for block in np.sort(blocks)]
    return chosen


def _cut(authors: list[Integers], generator: np.random.Generator) -> list[Integers]:
    """Leave people out, by chance, until a pseudo-name is not too large; the largest come first."""
    if sum(map(len, authors)) > MOST_MENTIONS:
        authors = [authors[i] for i in generator.permutation(len(authors))]
        filled = np.cumsum([len(author) for author in authors])
        authors = [author for author, end in zip(authors, filled, strict=True) if end <= MOST_MENTIONS]
    return sorted(authors, key=len, reverse=True)


def _draw(pool: Pool, wanted: list[int], generator: np.random.Generator) -> list[Integers]:
    """The mentions of as many people as wanted, with as many mentions each, none on a document with another."""
    by_size = np.argsort(pool.sizes, kind="stable")
    rising, cumulated = pool.sizes[by_size], np.append(0.0, np.cumsum(pool.likely[by_size]))
    people: list[int] = []
    documents: set[int] = set()
    drawn = []
    for mentions in wanted:
        candidates: list[int] = []
        low, high = _enough(rising, mentions)
        for _ in range(ATTEMPTS):
            if len(candidates) == (CANDIDATES if people else 1):
                break
            place = np.searchsorted(cumulated, generator.uniform(cumulated[low], cumulated[high]), side="right") - 1
            somebody = int(by_size[min(int(place), high - 1)])
            known = pool.origin[[*people, *candidates]]
            if pool.origin[somebody] not in known and documents.isdisjoint(pool.documents(somebody)):
                candidates.append(somebody)
        if candidates:
            closest = max(candidates, key=lambda one: pool.alike[one, people].sum())
            people.append(closest)
            documents |= pool.documents(closest)
            first, last = pool.bags.block_start[closest : closest + 2]
            drawn.append(np.sort(generator.permutation(np.arange(first, last))[:mentions]))
    return drawn


def _enough(rising: Integers, mentions: int) -> tuple[int, int]:
    """The places of those with enough mentions but not many more, in people ordered by size.

    >>> _enough(np.array([1] * 50 + [2] * 50 + [9] * 50), 2)
    (50, 100)
    >>> _enough(np.array([1] * 50 + [2] * 50 + [9] * 50), 30)
    (110, 150)
    """
    low = int(np.searchsorted(rising, mentions))
    high = int(np.searchsorted(rising, max(2 * mentions, mentions + 2), side="right"))
    if high - low >= CHOICE:
        return low, high
    return (low, len(rising)) if len(rising) - low >= CHOICE else (max(0, len(rising) - CHOICE), len(rising))
