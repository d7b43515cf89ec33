"""How far equal full names can be trusted in a collection, without labels.

By chance, a rare full name belongs to one person (see constraints/name_prior.py). But collections can be different: a
corpus of ambiguous names has several people under a name that looks rare. The mentions of one person have much in
common, those of two people of one block little. So if fewer pairs of rare names have much in common than in any real
collection with known authors, names are trusted less in proportion.

A pair that has little in common is two people, or one person whose records say little. Groups of mentions show which:
the mentions of one person form one group, in which each has much in common with another one, and those of two people
form two. So if the mentions of rare names form several groups more often than in real collections, names are trusted
less, too. Mentions that have little in common with any other of their name do not count here: they show nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.agglomerative import pair_scores_of_blocks
from homonym.clustering.arrays import Bags, Floats, Frequencies, Integers, connected_components
from homonym.constraints.name_prior import FullNames
from homonym.settings import Settings

# Two mentions have much in common if they share this many times more than by chance.
MUCH = 10.0
# Expected number of namesakes up to which a name is rare.
RARE = 0.1
# Mentions of a name, at most, so that frequent names do not decide; and names and pairs, at most.
MAX_MENTIONS, MAX_GROUPS = 5, 1000
# Seed of the order in which names and pairs are taken.
SEED = 0
# Rare names, at least; with fewer, the trust is lower in proportion, and groups count less.
ENOUGH_NAMES = 30
# Mentions of a name whose groups are found, at least and at most: two people need two mentions each.
MIN_GROUPED, MAX_GROUPED = 4, 12
# Share of the pairs of grouped mentions that are in one group, in the mean over names, from which on names are fully
# trusted. Two people with as many mentions each have about a half. Collections with known authors, whose rare names are
# one person, have .91 to .99, and one that was generated with three times as many people per name has .77.
UNITED, TWO_PEOPLE = 0.9, 0.5
# Share of the pairs of rare names that have much in common from which on names are fully trusted. Collections with
# known authors, whose rare names are one person, have .66 to .89.
COHERENT = 0.6


def find_name_trust(
    bags: Bags, names: FullNames, document: Integers, frequencies: Frequencies, settings: Settings
) -> float:
    """The trust in full names, from 0 to 1; `document` is that of each mention."""
    same = coherence(bags, _rare_names(names, 2, MAX_MENTIONS), document, frequencies, settings)
    if not len(same):
        return 0.0
    different = coherence(bags, _different_names(names), document, frequencies, settings)
    apart = float(different.mean()) if len(different) else 0.0
    trust = (float(same.mean()) - apart) / max(COHERENT - apart, 1e-9)
    united = unity(bags, _rare_names(names, MIN_GROUPED, MAX_GROUPED), frequencies, settings)
    return _share(trust) * _share(len(same) / ENOUGH_NAMES) * _trust_in_unity(united)


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))


def _trust_in_unity(united: Floats) -> float:
    """The trust that groups of mentions allow for; `united` is the share of each name."""
    if not len(united):
        return 1.0
    doubt = 1 - _share((float(united.mean()) - TWO_PEOPLE) / (UNITED - TWO_PEOPLE))
    return 1 - doubt * _share(len(united) / ENOUGH_NAMES)


def _rare_names(names: FullNames, minimum: int, maximum: int) -> list[Integers]:
    """Of each rare name with a minimum of mentions in a block, the first ones up to a maximum; by first mention.

    The numbers of names depend on which blocks are loaded; the order must not.
    """
    rare = np.flatnonzero((names.full_name >= 0) & (names.namesakes <= RARE))
    order = rare[np.lexsort((rare, names.full_name[rare], names.block[rare]))]
    new = (np.diff(names.block[order], prepend=-1) != 0) | (np.diff(names.full_name[order], prepend=-1) != 0)
    groups = np.split(order, np.flatnonzero(new)[1:]) if len(order) else []
    several = sorted((group for group in groups if len(group) >= minimum), key=lambda group: int(group[0]))
    return [several[i][:maximum] for i in _some(len(several))]


def _different_names(names: FullNames) -> list[Integers]:
    """Pairs of neighbours in a block that have different full names."""
    named = np.flatnonzero(names.full_name >= 0)
    left, right = named[:-1], named[1:]
    differ = (names.block[left] == names.block[right]) & (names.full_name[left] != names.full_name[right])
    pairs = np.stack([left[differ], right[differ]], axis=1)
    return list(pairs[_some(len(pairs))])


def _some(items: int) -> list[int]:
    """A random selection of the numbers below `items`, in order: from all blocks, not only from the first ones."""
    return sorted(np.random.default_rng(SEED).permutation(items)[:MAX_GROUPS].tolist())


def coherence(
    bags: Bags, groups: list[Integers], document: Integers, frequencies: Frequencies, settings: Settings
) -> Floats:
    """For each group with mentions on several documents, the share of pairs on two that have much in common."""
    shares = []
    for group, much in zip(groups, _much_in_common(bags, groups, frequencies, settings), strict=True):
        usable = document[group][:, None] != document[group]
        if usable.any():
            shares.append(float((much & usable).sum() / usable.sum()))
    return np.array(shares)


def unity(bags: Bags, names: list[Integers], frequencies: Frequencies, settings: Settings) -> Floats:
    """For each name, the share of pairs of its mentions that are in one group, of those in groups of two or more.

    Two mentions with much in common are in one group. Names without such mentions are left out.
    """
    shares = []
    for much in _much_in_common(bags, names, frequencies, settings):
        edges = np.stack(np.nonzero(np.triu(much, 1)))
        size = np.bincount(connected_components(len(much), edges[0], edges[1]))
        size = size[size > 1]
        if len(size):
            shares.append(float((size * (size - 1)).sum() / (size.sum() * (size.sum() - 1))))
    return np.array(shares)


def _much_in_common(
    bags: Bags, groups: list[Integers], frequencies: Frequencies, settings: Settings
) -> Iterator[NDArray[np.bool_]]:
    """For each group of mentions, which pairs have much in common, in one order or the other."""
    if not groups:
        return
    weight = np.array(settings.weights_for(frequencies.types))
    chance = np.divide(weight, frequencies.mass, out=np.zeros_like(weight), where=frequencies.mass > 0)
    selected = bags.select(np.concatenate(groups), np.array([len(group) for group in groups]))
    for S, n in pair_scores_of_blocks(selected, frequencies):
        score = np.einsum("ijt,jt->ij", S, weight / (n + settings.epsilon))
        much = score > MUCH * (n @ chance)[:, None]
        yield much | much.T
