"""Who must not be one author: mentions grouped by all that tells them from others, and these groups compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import Constraints, starts
from homonym.constraints.evidence import MentionEvidence
from homonym.constraints.segments import sorted_by, within

Integers = NDArray[np.int64]


def build_constraints(
    known: MentionEvidence, first: Integers, disputed: NDArray[np.bool_], blocks: tuple[int, int]
) -> Constraints | None:
    """The constraints of a range of blocks, None where there are none.

    `first` is for each mention the one that it must be one author with. Mentions of blocks that are not disputed share
    the profile 0, which has no rivals.
    """
    begin, end = known.block_start[blocks[0]], known.block_start[blocks[1]]
    concerned = begin + np.flatnonzero(disputed[known.block[begin:end]])
    here = np.arange(begin, end)
    if not len(concerned) and np.array_equal(first[begin:end], here):
        return None
    profile = np.zeros(end - begin, np.int32)
    examples, number = _profiles(known, concerned)
    profile[concerned - begin] = 1 + number
    rival_start, rival = _rivals(known, examples, profile, begin)
    group = (first[begin:end] - known.block_start[known.block[begin:end]]).astype(np.int32)
    return Constraints(group, profile, rival_start, rival)


def _profiles(known: MentionEvidence, mentions: Integers) -> tuple[Integers, Integers]:
    """A mention for each profile, ordered by block, and for each mention the number of its profile."""
    alone = np.full(len(mentions), -1, np.int64)
    on_its_own = known.document[mentions] >= 0
    on_its_own[np.isin(mentions, known.different)] = True
    alone[on_its_own] = mentions[on_its_own]
    ids = [numbers[mentions] for numbers in known.parting.values()]
    keys = [known.block[mentions], known.names.number[mentions], *ids, alone]
    order, new = sorted_by(*keys)
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(new) - 1
    return mentions[order[new]], number


def _rivals(
    known: MentionEvidence, examples: Integers, profile: NDArray[np.int32], begin: int
) -> tuple[Integers, NDArray[np.int32]]:
    """The rivals of all profiles, those of the profile 0 included, which has none."""
    block = known.block[examples]
    _, sizes = np.unique(block, return_counts=True)
    stated = _stated(known, profile, begin, len(examples))
    count, rivals = np.zeros(len(examples) + 1, np.int64), [np.empty(0, np.int32)]
    for row, column in within(sizes):
        x, y = examples[row], examples[column]
        rival = known.names.clashing(block[row], known.names.number[x], known.names.number[y])
        for ids in known.parting.values():
            rival |= (ids[x] >= 0) & (ids[y] >= 0) & (ids[x] != ids[y])
        rival |= (known.document[x] >= 0) & (known.document[x] == known.document[y]) & (x != y)
        if len(stated):
            rival |= np.isin(row * len(examples) + column, stated)
        count += np.bincount(1 + row[rival], minlength=len(count))
        rivals.append((1 + column[rival]).astype(np.int32))
    return starts(count), np.concatenate(rivals)


def _stated(known: MentionEvidence, profile: NDArray[np.int32], begin: int, profiles: int) -> Integers:
    """The pairs of profiles that the user has said are different, as places in the square of all profiles."""
    pairs = known.different - begin
    pairs = pairs[(pairs[:, 0] >= 0) & (pairs[:, 1] < len(profile))]
    left, right = profile[pairs].astype(np.int64).T - 1
    return np.concatenate([left * profiles + right, right * profiles + left])
