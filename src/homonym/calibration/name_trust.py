"""How far equal full names can be trusted in a collection, without labels.

By chance, a rare full name belongs to one person (see constraints/name_prior.py). But collections can be different: a
corpus of ambiguous names has several people under a name that looks rare. The mentions of one person have much in
common, those of two people of one block little. So if fewer pairs of rare names have much in common than in any real
collection with known authors, names are trusted less in proportion.
"""

from __future__ import annotations

import numpy as np

from homonym.clustering.agglomerative import pair_scores_of_blocks
from homonym.clustering.arrays import Bags, Floats, Frequencies, Integers
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
# Rare names, at least; with fewer, the trust is lower in proportion.
ENOUGH_NAMES = 30
# Share of the pairs of rare names that have much in common from which on names are fully trusted. Collections with
# known authors, whose rare names are one person, have .66 to .89.
COHERENT = 0.6


def find_name_trust(
    bags: Bags, names: FullNames, document: Integers, frequencies: Frequencies, settings: Settings
) -> float:
    """The trust in full names, from 0 to 1; `document` is that of each mention."""
    same = coherence(bags, _rare_names(names), document, frequencies, settings)
    if not len(same):
        return 0.0
    different = coherence(bags, _different_names(names), document, frequencies, settings)
    apart = float(different.mean()) if len(different) else 0.0
    trust = (float(same.mean()) - apart) / max(COHERENT - apart, 1e-9)
    return min(1.0, max(0.0, trust)) * min(1.0, len(same) / ENOUGH_NAMES)


def _rare_names(names: FullNames) -> list[Integers]:
    """The mentions of each rare name that occurs several times in a block, by first mention.

    The numbers of names depend on which blocks are loaded; the order must not.
    """
    rare = np.flatnonzero((names.full_name >= 0) & (names.namesakes <= RARE))
    order = rare[np.lexsort((rare, names.full_name[rare], names.block[rare]))]
    new = (np.diff(names.block[order], prepend=-1) != 0) | (np.diff(names.full_name[order], prepend=-1) != 0)
    groups = np.split(order, np.flatnonzero(new)[1:]) if len(order) else []
    several = sorted((group for group in groups if len(group) > 1), key=lambda group: int(group[0]))
    return [several[i][:MAX_MENTIONS] for i in _some(len(several))]


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
    if not groups:
        return np.zeros(0)
    weight = np.array(settings.weights_for(frequencies.types))
    chance = np.divide(weight, frequencies.mass, out=np.zeros_like(weight), where=frequencies.mass > 0)
    selected = bags.select(np.concatenate(groups), np.array([len(group) for group in groups]))
    shares = []
    for group, (S, n) in zip(groups, pair_scores_of_blocks(selected, frequencies), strict=True):
        score = np.einsum("ijt,jt->ij", S, weight / (n + settings.epsilon))
        much = score > MUCH * (n @ chance)[:, None]
        usable = document[group][:, None] != document[group]
        if usable.any():
            shares.append(float(((much | much.T) & usable).sum() / usable.sum()))
    return np.array(shares)
