"""Cannot-links: mentions with the same evidence share a profile, and the profiles of a block are compared in pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import Constraints, Integers, pairs_within_groups, sort_by_keys, starts
from homonym.constraints.evidence import MentionEvidence


def build_constraints(
    evidence: MentionEvidence, representative: Integers, has_cannot_links: NDArray[np.bool_], blocks: tuple[int, int]
) -> Constraints | None:
    """The constraints of a range of blocks, None where there are none.

    `representative` is that of `MustLinks`; `has_cannot_links` says for each block whether it has any. Mentions of
    blocks without cannot-links share the profile 0, which is compatible with all.
    """
    begin, end = evidence.block_start[blocks[0]], evidence.block_start[blocks[1]]
    concerned = begin + np.flatnonzero(has_cannot_links[evidence.block[begin:end]])
    here = np.arange(begin, end)
    if not len(concerned) and np.array_equal(representative[begin:end], here):
        return None
    profile = np.zeros(end - begin, np.int32)
    examples, number = _profiles(evidence, concerned)
    profile[concerned - begin] = 1 + number
    cannot_link_start, cannot_link = _cannot_links(evidence, examples, profile, begin)
    group = (representative[begin:end] - evidence.block_start[evidence.block[begin:end]]).astype(np.int32)
    return Constraints(group, profile, cannot_link_start, cannot_link)


def _profiles(evidence: MentionEvidence, mentions: Integers) -> tuple[Integers, Integers]:
    """One mention for each profile, ordered by block, and for each mention the number of its profile."""
    unique_key = np.full(len(mentions), -1, np.int64)
    needs_own_profile = evidence.shared_document[mentions] >= 0
    needs_own_profile[np.isin(mentions, evidence.different_pairs)] = True
    unique_key[needs_own_profile] = mentions[needs_own_profile]
    ids = [numbers[mentions] for numbers in evidence.separating_ids.values()]
    order, is_new = sort_by_keys(evidence.block[mentions], evidence.names.number[mentions], *ids, unique_key)
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(is_new) - 1
    return mentions[order[is_new]], number


def _cannot_links(
    evidence: MentionEvidence, examples: Integers, profile: NDArray[np.int32], begin: int
) -> tuple[Integers, NDArray[np.int32]]:
    """The cannot-links of all profiles as `Constraints` has them; those of profile 0, which has none, included."""
    block, names = evidence.block[examples], evidence.names
    _, sizes = np.unique(block, return_counts=True)
    stated = _stated_different(evidence, profile, begin, len(examples))
    count, partners = np.zeros(len(examples) + 1, np.int64), [np.empty(0, np.int32)]
    for row, column in pairs_within_groups(sizes):
        x, y = examples[row], examples[column]
        apart = names.are_incompatible(block[row], names.number[x], names.number[y])
        for ids in evidence.separating_ids.values():
            apart |= (ids[x] >= 0) & (ids[y] >= 0) & (ids[x] != ids[y])
        document = evidence.shared_document
        apart |= (document[x] >= 0) & (document[x] == document[y]) & (x != y)
        if len(stated):
            apart |= np.isin(row * len(examples) + column, stated)
        count += np.bincount(1 + row[apart], minlength=len(count))
        partners.append((1 + column[apart]).astype(np.int32))
    return starts(count), np.concatenate(partners)


def _stated_different(evidence: MentionEvidence, profile: NDArray[np.int32], begin: int, profiles: int) -> Integers:
    """The pairs of profiles that the user calls different, as positions in the matrix of all profiles."""
    pairs = evidence.different_pairs - begin
    pairs = pairs[(pairs[:, 0] >= 0) & (pairs[:, 1] < len(profile))]
    left, right = profile[pairs].astype(np.int64).T - 1
    return np.concatenate([left * profiles + right, right * profiles + left])
