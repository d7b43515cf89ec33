"""Labelled names: blocks of mentions whose true authors are known, in full or in part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import Bags, Constraints, Frequencies, Integers, ranges
from homonym.measures.agreement import Codes, Contingency, contingency

Labels = NDArray[np.int32]

# Number of mentions per batch of names, and minimum number of batches: enough for every core, and enough work in each
# batch to hide the overhead of a call.
BATCH_MENTIONS, MIN_BATCHES = 2_000, 16


@dataclass(frozen=True, eq=False)
class LabelledNames:
    """Blocks of mentions with their bags and true authors.

    `author[x]` is the code of a mention's true author, −1 where it is not known; every block has one that is.
    `written[x]` is the name as the record gives it, if it does. `constraints` apply when the names are clustered.
    """

    key: Sequence[str]
    bags: Bags
    frequencies: Frequencies
    author: Integers
    written: Sequence[str | None]
    constraints: Constraints | None = None
    true_size: Integers = field(init=False)
    """|C_cor| of each name: the number of different labelled authors."""

    def __post_init__(self) -> None:
        pairs = np.unique(np.stack([self.block, self.author])[:, self.labelled], axis=1)
        object.__setattr__(self, "true_size", np.bincount(pairs[0], minlength=len(self)))
        if (self.true_size == 0).any():
            raise ValueError("each name needs a labelled mention")

    def __len__(self) -> int:
        return len(self.bags.block_start) - 1

    @property
    def mentions(self) -> Integers:
        """|X| of each name, with or without labels."""
        return np.diff(self.bags.block_start)

    @property
    def block(self) -> Integers:
        """The number of each mention's name."""
        return np.repeat(np.arange(len(self)), self.mentions)

    @property
    def labelled(self) -> Any:
        """Which mentions have a label."""
        return self.author >= 0

    def select(self, names: Integers) -> LabelledNames:
        """Some of the names, in the given order."""
        chosen = ranges(self.bags.block_start[names], self.mentions[names])
        return replace(
            self,
            key=[self.key[i] for i in names.tolist()],
            bags=self.bags.select(chosen, self.mentions[names]),
            author=self.author[chosen],
            written=[self.written[x] for x in chosen.tolist()],
            constraints=self.constraints.of(chosen) if self.constraints else None,
        )

    def batches(self) -> Iterator[LabelledNames]:
        """The names in order, in batches that take about equally long: time grows with the square of |X|."""
        batches = max(MIN_BATCHES, len(self.author) // BATCH_MENTIONS)
        work = np.cumsum(self.mentions**2)
        batch = (work - 1) * batches // work[-1]
        for number in np.unique(batch):
            yield self.select(np.flatnonzero(batch == number))


def labelled_codes(names: LabelledNames, label: Integers | Labels) -> tuple[Codes, Codes, Codes]:
    """Name, true author and cluster of each labelled mention, as numbers."""
    known, block = names.labelled, names.block
    # A label is smaller than the number of mentions of its name, so this is unique.
    cluster = names.bags.block_start[block] + label
    return block[known], names.author[known], cluster[known]


def compare_labels(names: LabelledNames, label: Integers | Labels) -> Contingency:
    """The contingency table of clusters and true authors, over labelled mentions."""
    return contingency(*labelled_codes(names, label))
