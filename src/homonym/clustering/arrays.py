"""What is known of mentions beside their features: who must be one author, and who must not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    pass


IntegerArray = NDArray[Any]
FloatArray = NDArray[np.float64]

Mentions = slice | NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Constraints:
    """Which mentions of a block must be one author and which must not, for the mentions of some blocks in order.

    Mentions of a block with the same `group` must be one author; it is the place inside the block of the first of
    them. `profile` is a number for all that tells a mention from others; mentions whose profiles are rivals must not be
    one author. The rivals of profile p are `cannot_link[cannot_link_start[p]:cannot_link_start[p + 1]]`, in rising
    order; the relation is symmetric. Inside a group rivals are allowed: the groups take precedence.
    """

    group: NDArray[np.int32]
    profile: NDArray[np.int32]
    cannot_link_start: NDArray[np.int64]
    cannot_link: NDArray[np.int32]

    def of(self, mentions: Mentions) -> Constraints:
        """The constraints of some mentions, whole blocks of them."""
        return Constraints(self.group[mentions], self.profile[mentions], self.cannot_link_start, self.cannot_link)


def concatenate_constraints(parts: Iterable[tuple[int, Constraints | None]]) -> Constraints:
    """The constraints of several lots of blocks as one; each comes with its number of mentions, None binds nobody.

    >>> one = Constraints(*(np.array(a, np.int32) for a in ([0, 1], [0, 1], [0, 1, 2], [1, 0])))
    >>> both = concatenate_constraints([(2, one), (1, None), (2, one)])
    >>> both.profile.tolist(), both.cannot_link_start.tolist(), both.cannot_link.tolist()
    ([1, 2, 0, 3, 4], [0, 0, 1, 2, 3, 4], [2, 1, 4, 3])
    """
    group, profile = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    cannot_link_start, cannot_link = [np.zeros(2, np.int64)], [np.zeros(0, np.int32)]
    profiles = 1  # the first one is nobody's rival
    for mentions, part in parts:
        if part is None:
            group.append(np.arange(mentions, dtype=np.int32))
            profile.append(np.zeros(mentions, np.int32))
            continue
        group.append(part.group)
        profile.append(part.profile + np.int32(profiles))
        cannot_link_start.append(part.cannot_link_start[1:] + cannot_link_start[-1][-1])
        cannot_link.append(part.cannot_link + np.int32(profiles))
        profiles += len(part.cannot_link_start) - 1
    return Constraints(
        np.concatenate(group), np.concatenate(profile), np.concatenate(cannot_link_start), np.concatenate(cannot_link)
    )  # fmt: skip


Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Frequencies:
    """What is known of the whole collection.

    Features are numbered so that type t has the ids `type_start[t]` to `type_start[t + 1]`; `total[f]` is #(f),
    `mass[t]` is n_t(·) and `mentions` is N.
    """

    types: tuple[str, ...]
    type_start: Integers
    total: Floats
    mass: Floats
    mentions: int


@dataclass(frozen=True)
class Bags:
    """Some blocks with the bags of their mentions.

    Block b holds the mentions `block_start[b]` to `block_start[b + 1]`, mention x the features
    `feature[bag_start[x]:bag_start[x + 1]]` with their counts, in any order.
    """

    block_start: Integers
    bag_start: Integers
    feature: NDArray[np.int32]
    count: Floats

    def __post_init__(self) -> None:
        mentions = len(self.bag_start) - 1
        if self.block_start[0] != 0 or self.block_start[-1] != mentions or (np.diff(self.block_start) < 1).any():
            raise ValueError("block_start must rise from 0 to the number of mentions")
        if self.bag_start[0] != 0 or self.bag_start[-1] > len(self.feature) or (np.diff(self.bag_start) < 0).any():
            raise ValueError("bag_start must rise from 0 to the number of occurrences")
        if len(self.feature) != len(self.count):
            raise ValueError("each occurrence needs a feature and a count")

    def select(self, mentions: Integers, sizes: Integers) -> Bags:
        """The bags of some mentions, put together to blocks of these sizes."""
        lengths = np.diff(self.bag_start)[mentions]
        occurrences = ranges(self.bag_start[mentions], lengths)
        return Bags(starts(sizes), starts(lengths), self.feature[occurrences], self.count[occurrences])


def ranges(start: Integers, size: Integers) -> Integers:
    """The numbers of several ranges, one after the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    return np.arange(size.sum()) + np.repeat(start - starts(size)[:-1], size)


def starts(sizes: Integers) -> Integers:
    """Where each of several parts begins, and the last one ends.

    >>> starts(np.array([2, 3]))
    array([0, 2, 5])
    """
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
