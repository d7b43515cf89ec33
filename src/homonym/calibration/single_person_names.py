"""People that a collection itself knows: names that are likely to stand for one person each.

Most names of a real collection do. How likely one does is estimated twice, without labels: by how rare it is, from the
surnames and given names around it; and by how well its mentions hold together, compared with mentions of two names that
were thrown together, which certainly are two people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from homonym.clustering.agglomerative import cluster, couple
from homonym.clustering.arrays import Bags, Floats, Frequencies, Integers, ranges, starts
from homonym.collection.encoded import Encoded
from homonym.names.parse import decode_name
from homonym.settings import Limit, Settings

#: So many names of several mentions are looked at, half of them by chance and half by size; and so many of one mention.
SEVERAL, ONE = 800, 200
#: At most so many people are kept: each is compared with each.
PEOPLE = 800
#: Of one person at most so many mentions are used.
MOST_MENTIONS = 150
#: Pairs of names that are thrown together to see how different people look, with at most so many mentions each.
PAIRS, PAIR_MENTIONS = 500, 30
#: Quantiles of different people's coherence between which names are told apart.
COHERENCE = (0.5, 0.7, 0.85, 0.95)


@dataclass(frozen=True, eq=False)
class Pool:
    """People with all of their mentions: person i is block i of `bags`.

    `document` is that of each mention, a number of its own where it has none; `origin` the block that a person comes
    from; `likely` the probability of really being one person; `alike` how much two of them have in common.
    """

    bags: Bags
    frequencies: Frequencies
    document: Integers
    origin: Integers
    likely: Floats
    alike: Floats

    @property
    def sizes(self) -> Integers:
        """Number of mentions of each person."""
        return np.diff(self.bags.block_start)

    def documents(self, person: int) -> set[int]:
        """The documents of a person."""
        first, last = self.bags.block_start[person : person + 2]
        return set(self.document[first:last].tolist())


@dataclass(frozen=True, eq=False)
class BlockSample:
    """All blocks of a collection, where only some of them are at hand: the sizes of all, and which these are.

    Which blocks are looked at depends on nothing but the sizes, so that they can be fetched beforehand.
    """

    sizes: Integers
    held: Integers

    @classmethod
    def all_of(cls, encoded: Encoded) -> BlockSample:
        """All blocks of a collection, all of them at hand."""
        sizes = np.diff(encoded.block_start)
        return cls(sizes, np.arange(len(sizes)))

    def places(self, blocks: Integers) -> Integers:
        """Where some blocks are among those at hand."""
        return np.searchsorted(self.held, blocks)


def find_people(
    encoded: Encoded, settings: Settings, generator: np.random.Generator, among: BlockSample | None = None
) -> Pool:
    """Sample names of the collection and estimate which of them are one person; `among` says if some are missing."""
    among = among or BlockSample.all_of(encoded)
    blocks = sampled(among.sizes, generator)
    held = among.places(blocks)
    mentions = ranges(encoded.block_start[held], among.sizes[blocks])
    columns = encoded.read(["parsed_name", "document_id"], mentions)
    used, sizes, origin = _by_name(np.repeat(blocks, among.sizes[blocks]), columns["parsed_name"], generator)
    kept = np.array(settings.weights_for(encoded.frequencies.types)) > 0
    bags = Bags(starts(sizes), *encoded.gather_mentions(mentions[used], kept))
    written = columns["parsed_name"].take(pa.array(used[starts(sizes)[:-1]])).to_pylist()
    pool = Pool(
        bags=bags,
        frequencies=encoded.frequencies,
        document=_documents(columns["document_id"].take(pa.array(used))),
        origin=origin,
        likely=_rare(written, len(among.sizes), len(blocks)),
        alike=np.zeros((0, 0)),
    )
    likely = pool.likely * _coherent(pool, settings, generator) * _never_on_one_document(pool)
    return _with_likeness(pool, likely, generator)


def sampled(sizes: Integers, generator: np.random.Generator) -> Integers:
    """Some blocks: large people are wanted too, but are few."""
    several, one = np.flatnonzero(sizes > 1), np.flatnonzero(sizes == 1)
    if len(several) > SEVERAL:
        by_chance = generator.choice(several, SEVERAL // 2, replace=False)
        share = sizes[several] / sizes[several].sum()
        by_size = generator.choice(several, SEVERAL // 2, replace=False, p=share)
        several = np.union1d(by_chance, by_size)
    one = generator.choice(one, min(ONE, len(one)), replace=False)
    return np.union1d(several, one)


def _by_name(
    block: Integers, names: pa.ChunkedArray, generator: np.random.Generator
) -> tuple[Integers, Integers, Integers]:
    """Mentions parted by their block and by the name as it is written: mentions, sizes and the block of each part."""
    name = names.combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy()
    chance = generator.permutation(len(block))
    order = np.lexsort((chance, name, block))
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(block[order]) != 0) | (np.diff(name[order]) != 0)
    first = np.flatnonzero(new)
    place = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    parts = np.minimum(np.diff(np.append(first, len(order))), MOST_MENTIONS)
    return order[place < MOST_MENTIONS], parts, block[order[first]]


def _documents(ids: pa.ChunkedArray) -> Integers:
    """A number for each document; mentions without one are on documents of their own."""
    code: Integers = ids.combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy().astype(np.int64)
    alone = code < 0
    code[alone] = code.max(initial=0) + 1 + np.arange(alone.sum())
    return code


def _rare(written: Sequence[str | None], names: int, sampled: int) -> Floats:
    """The probability that nobody else of the collection has a name, if surnames and given names combine freely.

    Of all people, (share with the surname) · (share with the given names) are expected to share a name.

    >>> _rare(["DOE|J|JANE|", "DOE|J|JOHN|", "ROE|J|JOHN|", None], names=4, sampled=4).round(2)
    array([1.  , 0.78, 1.  , 1.  ])
    """
    parsed = [decode_name(name) if name else None for name in written]
    surnames = Counter(name.surname for name in parsed if name)
    given = Counter(name.given for name in parsed if name)
    scale = names / max(1, sampled) / max(1, len(parsed))
    others = [(surnames[name.surname] - 1) * (given[name.given] - 1) * scale if name else 0.0 for name in parsed]
    nobody: Floats = np.exp(-np.array(others))
    return nobody


def _never_on_one_document(pool: Pool) -> NDArray[np.bool_]:
    """Which people have all of their mentions on different documents: two on one document are two people."""
    person = np.repeat(np.arange(len(pool.sizes)), pool.sizes)
    different = np.unique(np.stack([person, pool.document]), axis=1)[0]
    fine: NDArray[np.bool_] = np.bincount(different, minlength=len(pool.sizes)) == pool.sizes
    return fine


def _coherent(pool: Pool, settings: Settings, generator: np.random.Generator) -> Floats:
    """The probability that a name's mentions are one person's, from how well they hold together.

    A mixture: what looks most like two people thrown together is taken for two people, which says how many names are;
    this many are expected at every degree of coherence.
    """
    several = np.flatnonzero(pool.sizes > 1)
    likely = np.ones(len(pool.sizes))
    if not len(several):
        return likely
    own = _levels(pool, [_mentions(pool, person) for person in several.tolist()], settings)
    null = _levels(pool, _thrown_together(pool, several, generator), settings)
    if not len(null):
        return likely
    edges = np.unique(np.quantile(null, COHERENCE))
    place = np.searchsorted(edges, own)
    found, expected = (
        np.bincount(np.searchsorted(edges, levels), minlength=len(edges) + 1) / len(levels) for levels in (own, null)
    )
    several_people = min(1.0, found[0] / expected[0])
    one = np.clip(1 - several_people * expected / np.maximum(found, 1 / len(own)), 0, 1)
    one[0] = 0.0
    likely[several] = np.maximum.accumulate(one)[place]
    return likely


def _mentions(pool: Pool, person: int, most: int = MOST_MENTIONS) -> Integers:
    first, last = pool.bags.block_start[person : person + 2]
    return np.arange(first, min(last, first + most))


def _thrown_together(pool: Pool, people: Integers, generator: np.random.Generator) -> list[Integers]:
    """The mentions of two people of different names who share no document, many times."""
    pairs = []
    for a, b in generator.choice(people, (PAIRS, 2)).tolist():
        if pool.origin[a] != pool.origin[b] and pool.documents(a).isdisjoint(pool.documents(b)):
            pairs.append(np.concatenate([_mentions(pool, person, PAIR_MENTIONS) for person in (a, b)]))
    return pairs


def _levels(pool: Pool, groups: list[Integers], settings: Settings) -> Floats:
    """The limit at which each group of mentions becomes one cluster: the lowest score on the way there."""
    if not groups:
        return np.zeros(0)
    sizes = np.array([len(group) for group in groups])
    bags = pool.bags.select(np.concatenate(groups), sizes)
    done = cluster(bags, pool.frequencies, settings.with_limit(Limit()), hypothetical=True)
    # Merges stand at the first places of a block, one fewer than it has mentions.
    score = np.where(done.merge_round > 0, done.merge_score, np.inf)
    return np.minimum.reduceat(score, bags.block_start[:-1])


def _with_likeness(pool: Pool, likely: Floats, generator: np.random.Generator) -> Pool:
    """Keep people who may be one, and compare each with each."""
    people = np.flatnonzero(likely > 0)
    people = np.sort(generator.permutation(people)[:PEOPLE])
    sizes = pool.sizes[people]
    mentions = ranges(pool.bags.block_start[people], sizes)
    bags = pool.bags.select(mentions, sizes)
    return Pool(
        bags=bags,
        frequencies=pool.frequencies,
        document=pool.document[mentions],
        origin=pool.origin[people],
        likely=likely[people],
        alike=_alike(bags, pool.frequencies),
    )


def _alike(bags: Bags, frequencies: Frequencies) -> Floats:
    """What each two people share: Σ_t S_t(C,D) / √(n_t(C)·n_t(D))."""
    people = len(bags.block_start) - 1
    feature, count, lengths = [], [], []
    for first, last in zip(bags.block_start[:-1], bags.block_start[1:], strict=True):
        part = slice(bags.bag_start[first], bags.bag_start[last])
        distinct, place = np.unique(bags.feature[part], return_inverse=True)
        feature.append(distinct)
        count.append(np.bincount(place, bags.count[part], len(distinct)))
        lengths.append(len(distinct))
    if not people:
        return np.zeros((0, 0))
    summed = Bags(
        np.array([0, people]), starts(np.array(lengths)), np.concatenate(feature), np.concatenate(count)
    )  # fmt: skip
    S, n = couple(summed, 0, frequencies)
    root = np.sqrt(np.maximum(n[:people], np.finfo(float).tiny))
    shared: Floats = np.einsum("ijt,it,jt->ij", S, 1 / root, 1 / root)
    return shared
