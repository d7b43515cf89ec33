"""What is known of mentions beside their features: who must be one author, and who must not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Mentions = slice | NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Constraints:
    """Which mentions of a block must be one author and which must not, for the mentions of some blocks in order.

    Mentions of a block with the same `group` must be one author; it is the place inside the block of the first of
    them. `profile` is a number for all that tells a mention from others; mentions whose profiles are rivals must not be
    one author. The rivals of profile p are `rival[rival_start[p]:rival_start[p + 1]]`, in rising order; whoever is a
    rival of p has p among its own. Inside a group rivals are allowed: whoever builds the groups has settled that.
    """

    group: NDArray[np.int32]
    profile: NDArray[np.int32]
    rival_start: NDArray[np.int64]
    rival: NDArray[np.int32]

    def of(self, mentions: Mentions) -> Constraints:
        """The constraints of some mentions, whole blocks of them."""
        return Constraints(self.group[mentions], self.profile[mentions], self.rival_start, self.rival)


def joined(parts: Iterable[tuple[int, Constraints | None]]) -> Constraints:
    """The constraints of several lots of blocks as one; each comes with its number of mentions, None binds nobody.

    >>> one = Constraints(*(np.array(a, np.int32) for a in ([0, 1], [0, 1], [0, 1, 2], [1, 0])))
    >>> both = joined([(2, one), (1, None), (2, one)])
    >>> both.profile.tolist(), both.rival_start.tolist(), both.rival.tolist()
    ([1, 2, 0, 3, 4], [0, 0, 1, 2, 3, 4], [2, 1, 4, 3])
    """
    group, profile = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    rival_start, rival = [np.zeros(2, np.int64)], [np.zeros(0, np.int32)]
    profiles = 1  # the first one is nobody's rival
    for mentions, part in parts:
        if part is None:
            group.append(np.arange(mentions, dtype=np.int32))
            profile.append(np.zeros(mentions, np.int32))
            continue
        group.append(part.group)
        profile.append(part.profile + np.int32(profiles))
        rival_start.append(part.rival_start[1:] + rival_start[-1][-1])
        rival.append(part.rival + np.int32(profiles))
        profiles += len(part.rival_start) - 1
    return Constraints(
        np.concatenate(group), np.concatenate(profile), np.concatenate(rival_start), np.concatenate(rival)
    )  # fmt: skip
