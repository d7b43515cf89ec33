"""Names of a collection that are likely to stand for one person each: the people that pseudo-names are built from.

Most names of a real collection stand for one person. The probability is estimated without labels from two sources: how
rare a name is, given how often its surname and its given names occur; and how well its mentions hold together, compared
with mixed pairs, the mentions of two different names, which certainly are two people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from homonym.calibration.block_sample import BlockSample, block_work, slowness, within_budget
from homonym.clustering.agglomerative import cluster, pair_scores_by_row
from homonym.clustering.arrays import Bags, Floats, Frequencies, Integers, pairs_of, ranges, starts
from homonym.collection.encoded import Encoded
from homonym.names.parse import decode_name
from homonym.runtime.thread_pool import map_in_order
from homonym.settings import Limit, Settings

# Maximum number of people in a pool; each is compared with each.
MAX_PEOPLE = 800
# Maximum number of mentions of one person.
MAX_PERSON_MENTIONS = 150
# Work of clustering the names once, and the minimum number of names that are examined.
PEOPLE_WORK, MIN_EXAMINED = 4_000_000_000, 60
# Maximum number of mixed pairs, the maximum number of mentions of each name in them, their work, and a minimum number.
MIXED_PAIRS, MAX_MIXED_MENTIONS, MIXED_WORK, MIN_MIXED_PAIRS = 500, 30, 400_000_000, 50
# Seed of the order in which names are examined.
ORDER_SEED = 0
# Number of names that one thread compares at a time.
GROUPS_PER_BATCH = 50
# Quantiles of the coherence of mixed pairs that separate the bins of coherence.
COHERENCE_QUANTILES = (0.5, 0.7, 0.85, 0.95)
# People are drawn with their probability of being one person to this power: the higher, the fewer names of several
# people are among them (Web of Science: an eighth with 1, a twentieth with 3), but the more the coherent ones dominate.
PROBABILITY_POWER = 3


@dataclass(frozen=True, eq=False)
class PersonPool:
    """People with all of their mentions: person i is block i of `bags`.

    `document` is the document of each mention; mentions without one have a number of their own. `source_block` is the
    block that a person comes from, `probability` that of really being one person, and `similarity` is between people.
    """

    bags: Bags
    frequencies: Frequencies
    document: Integers
    source_block: Integers
    probability: Floats
    similarity: Floats

    @cached_property
    def sizes(self) -> Integers:
        """Number of mentions of each person."""
        return np.diff(self.bags.block_start)

    @cached_property
    def apart(self) -> NDArray[np.bool_]:
        """Which two people can be in one pseudo-name: they come from different blocks and share no document."""
        people = len(self.sizes)
        _, document = np.unique(self.document, return_inverse=True)
        is_his = np.zeros(document.max(initial=-1) + 1, np.bool_)
        apart: NDArray[np.bool_] = self.source_block[:, None] != self.source_block
        for person in range(people):
            own = document[self.bags.block_start[person] : self.bags.block_start[person + 1]]
            is_his[own] = True
            apart[person] &= ~np.logical_or.reduceat(is_his[document], self.bags.block_start[:-1])
            is_his[own] = False
        return apart

    # For drawing people, which looks up single values many times: lists, and people in the order of their sizes. A set
    # of people is a whole number with a bit for each.

    @cached_property
    def by_size(self) -> Integers:
        """The people in the order of their sizes."""
        return np.argsort(self.sizes, kind="stable")

    @cached_property
    def rising_sizes(self) -> list[int]:
        """The sizes in rising order."""
        return [int(size) for size in self.sizes[self.by_size]]

    @cached_property
    def cumulated_probability(self) -> list[float]:
        """The sum of the weights with which all people before each one are drawn, and of all."""
        return [0.0, *np.cumsum(self.probability[self.by_size] ** PROBABILITY_POWER).tolist()]

    @cached_property
    def similarity_by_size(self) -> Floats:
        """The similarity of people."""
        return self.similarity[np.ix_(self.by_size, self.by_size)]

    @cached_property
    def same_block(self) -> list[int]:
        """The people of the same block."""
        source = self.source_block[self.by_size]
        return _bit_sets(source[:, None] == source)

    @cached_property
    def excluded(self) -> list[int]:
        """The people who cannot be in one pseudo-name with each person."""
        return _bit_sets(~self.apart[np.ix_(self.by_size, self.by_size)])


def _bit_sets(matrix: NDArray[np.bool_]) -> list[int]:
    """Each row as a whole number, whose bit i is column i."""
    return [int.from_bytes(row.tobytes(), "little") for row in np.packbits(matrix, axis=1, bitorder="little")]


def find_people(
    encoded: Encoded,
    settings: Settings,
    generator: np.random.Generator,
    sample: BlockSample | None = None,
    threads: int = 1,
) -> PersonPool:
    """Estimate which names of some blocks are one person; without `sample`, blocks of the collection are drawn."""
    sample = sample or BlockSample.of(encoded, generator)
    blocks = sample.people
    mentions = ranges(encoded.block_start[sample.positions(blocks)], sample.sizes[blocks])
    columns = encoded.read(["parsed_name", "document_id"], mentions)
    used, sizes, source = _split_by_name(np.repeat(blocks, sample.sizes[blocks]), columns["parsed_name"], generator)
    names = columns["parsed_name"].take(pa.array(used[starts(sizes)[:-1]])).to_pylist()
    is_unique = _name_is_unique(names, len(sample.sizes), len(blocks))
    examined = _examined_names(sizes, encoded.occurrences(mentions[used]))
    used, sizes = used[ranges(starts(sizes)[examined], sizes[examined])], sizes[examined]
    has_weight = np.array(settings.weights_for(encoded.frequencies.types)) > 0
    pool = PersonPool(
        bags=Bags(starts(sizes), *encoded.gather_mentions(mentions[used], has_weight)),
        frequencies=encoded.frequencies,
        document=document_numbers(columns["document_id"].take(pa.array(used))),
        source_block=source[examined],
        probability=is_unique[examined],
        similarity=np.zeros((0, 0)),
    )
    coherent = _mentions_are_coherent(pool, settings, generator, threads)
    probability = pool.probability * coherent * _documents_are_distinct(pool)
    return _select_people(pool, probability, generator)


def _examined_names(sizes: Integers, occurrences: Integers) -> Integers:
    """The names whose mentions are compared, in order: a random selection if that is too much work for all."""
    order = np.random.default_rng(ORDER_SEED).permutation(len(sizes))
    total = np.add.reduceat(occurrences, starts(sizes)[:-1]) if len(sizes) else sizes
    # Long bags do not fit into the cache.
    budget = PEOPLE_WORK / slowness(sizes, total)
    return np.sort(within_budget(order, block_work(sizes, total)[order], budget, MIN_EXAMINED))


def _split_by_name(
    block: Integers, names: pa.ChunkedArray, generator: np.random.Generator
) -> tuple[Integers, Integers, Integers]:
    """Group mentions by block and written name: the mentions, and the size and block of each group."""
    name = names.combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy()
    chance = generator.permutation(len(block))
    order = np.lexsort((chance, name, block))
    is_new = np.ones(len(order), bool)
    is_new[1:] = (np.diff(block[order]) != 0) | (np.diff(name[order]) != 0)
    first = np.flatnonzero(is_new)
    sizes = np.diff(np.append(first, len(order)))
    position = np.arange(len(order)) - np.repeat(first, sizes)
    return order[position < MAX_PERSON_MENTIONS], np.minimum(sizes, MAX_PERSON_MENTIONS), block[order[first]]


def document_numbers(ids: pa.ChunkedArray) -> Integers:
    """Number the documents; each mention without one gets a number of its own."""
    code: Integers = ids.combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy().astype(np.int64)
    missing = code < 0
    code[missing] = code.max(initial=0) + 1 + np.arange(missing.sum())
    return code


def _name_is_unique(written: Sequence[str | None], names: int, sampled: int) -> Floats:
    """The probability that no other person of the collection has the name, if surnames and given names are independent.

    Of all people, (share with the surname) · (share with the given names) are expected to have the same name.

    >>> _name_is_unique(["DOE|J|JANE|", "DOE|J|JOHN|", "ROE|J|JOHN|", None], names=4, sampled=4).round(2)
    array([1.  , 0.78, 1.  , 1.  ])
    """
    parsed = [decode_name(name) if name else None for name in written]
    surnames = Counter(name.surname for name in parsed if name)
    given = Counter(name.given for name in parsed if name)
    scale = names / max(1, sampled) / max(1, len(parsed))
    others = [(surnames[name.surname] - 1) * (given[name.given] - 1) * scale if name else 0.0 for name in parsed]
    probability: Floats = np.exp(-np.array(others))
    return probability


def _documents_are_distinct(pool: PersonPool) -> NDArray[np.bool_]:
    """Which people have each mention on another document: two mentions on one document are two people."""
    person = np.repeat(np.arange(len(pool.sizes)), pool.sizes)
    person_of_document = np.unique(np.stack([person, pool.document]), axis=1)[0]
    distinct: NDArray[np.bool_] = np.bincount(person_of_document, minlength=len(pool.sizes)) == pool.sizes
    return distinct


def _mentions_are_coherent(
    pool: PersonPool, settings: Settings, generator: np.random.Generator, threads: int
) -> Floats:
    """The probability that a name's mentions are of one person, from the limit up to which they are one cluster.

    A mixture model: names in the least coherent bin are taken for several people. This gives the share of such names,
    and their number in each bin follows from the coherence of mixed pairs.
    """
    several = np.flatnonzero(pool.sizes > 1)
    probability = np.ones(len(pool.sizes))
    if not len(several):
        return probability
    own = _coherence(pool, [_mentions(pool, person) for person in several.tolist()], settings, threads)
    mixed = _coherence(pool, _mixed_pairs(pool, several, generator), settings, threads)
    if not len(mixed):
        return probability
    edges = np.unique(np.quantile(mixed, COHERENCE_QUANTILES))
    own_share, mixed_share = (
        np.bincount(np.searchsorted(edges, values), minlength=len(edges) + 1) / len(values) for values in (own, mixed)
    )
    several_people = min(1.0, own_share[0] / mixed_share[0])
    one_person = np.clip(1 - several_people * mixed_share / np.maximum(own_share, 1 / len(own)), 0, 1)
    one_person[0] = 0.0
    probability[several] = np.maximum.accumulate(one_person)[np.searchsorted(edges, own)]
    return probability


def _mentions(pool: PersonPool, person: int, most: int = MAX_PERSON_MENTIONS) -> Integers:
    first, last = pool.bags.block_start[person : person + 2]
    return np.arange(first, min(last, first + most))


def _mixed_pairs(pool: PersonPool, people: Integers, generator: np.random.Generator) -> list[Integers]:
    """The mentions of two names from different blocks that share no document, for many random pairs."""
    occurrences = np.diff(pool.bags.bag_start)
    pairs, work = [], 0
    for a, b in generator.choice(people, (MIXED_PAIRS, 2)).tolist():
        if pool.source_block[a] == pool.source_block[b]:
            continue
        mentions = np.concatenate([_mentions(pool, person, MAX_MIXED_MENTIONS) for person in (a, b)])
        documents, others = (pool.document[_mentions(pool, person)].tolist() for person in (a, b))
        if set(documents).isdisjoint(others):
            pairs.append(mentions)
            work += int(block_work(np.array([len(mentions)]), occurrences[mentions].sum()).sum())
        if work > MIXED_WORK and len(pairs) >= MIN_MIXED_PAIRS:
            break
    return pairs


def _coherence(pool: PersonPool, groups: list[Integers], settings: Settings, threads: int) -> Floats:
    """The highest limit at which each group of mentions is one cluster: the lowest score of its merges."""
    batches = [groups[first : first + GROUPS_PER_BATCH] for first in range(0, len(groups), GROUPS_PER_BATCH)]
    found = map_in_order(partial(_coherence_of_batch, pool, settings), batches, threads)
    return np.concatenate([np.zeros(0), *(limits for _, limits in found)])


def _coherence_of_batch(pool: PersonPool, settings: Settings, groups: list[Integers]) -> Floats:
    sizes = np.array([len(group) for group in groups])
    bags = pool.bags.select(np.concatenate(groups), sizes)
    # Without the chance limit: merging must not end before one cluster is left.
    unlimited = settings.with_limit(Limit()).changed(chance_limit=0.0)
    clustering = cluster(bags, pool.frequencies, unlimited, hypothetical=True)
    # The merges are at the first positions of a block, one fewer than it has mentions.
    score = np.where(clustering.merge_round > 0, clustering.merge_score, np.inf)
    return np.minimum.reduceat(score, bags.block_start[:-1])


def _select_people(pool: PersonPool, probability: Floats, generator: np.random.Generator) -> PersonPool:
    """Keep a random selection of those that can be one person, and compare each with each."""
    people = np.flatnonzero(probability > 0)
    people = np.sort(generator.permutation(people)[:MAX_PEOPLE])
    sizes = pool.sizes[people]
    mentions = ranges(pool.bags.block_start[people], sizes)
    bags = pool.bags.select(mentions, sizes)
    return PersonPool(
        bags=bags,
        frequencies=pool.frequencies,
        document=pool.document[mentions],
        source_block=pool.source_block[people],
        probability=probability[people],
        similarity=_similarity(bags, pool.frequencies),
    )


def _similarity(bags: Bags, frequencies: Frequencies) -> Floats:
    """The similarity of each two people: Σ_t S_t(C,D) / √(n_t(C)·n_t(D))."""
    sizes = np.diff(bags.block_start)
    people = len(sizes)
    if not people:
        return np.zeros((0, 0))
    summed = bags.summed(np.repeat(np.arange(people), sizes), np.array([people]))
    S, n = pair_scores_by_row(summed, 0, frequencies)
    root = 1 / np.sqrt(np.maximum(n[:people], np.finfo(float).tiny))
    similarity = np.zeros((people, people))
    for x, first in enumerate(pairs_of(np.arange(people)).tolist()):
        row = S[first : first + x]
        similarity[x, :x] = np.einsum("yt,t,yt->y", row, root[x], root[:x])
        similarity[:x, x] = np.einsum("yt,yt,t->y", row, root[:x], root[x])
    return similarity
