"""Strategies for small blocks with labelled mentions, and their measures by definition."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from homonym.measures.methods import LabelledNames
from tests.support.small_blocks import Mention, blocks, counted, flat

Collection = list[list[Mention]]
#: The true author of each mention of each name, −1 where it is not known.
Authors = list[list[int]]


@st.composite
def labelled_collections(draw: st.DrawFn) -> tuple[Collection, Authors]:
    collection = draw(blocks)
    authors = [[draw(st.integers(-1, 2)) for _ in block] for block in collection]
    for name in authors:
        if max(name) < 0:
            name[draw(st.integers(0, len(name) - 1))] = 0
    return collection, authors


def labelled_names(collection: Collection, authors: Authors, rare: int = 1) -> LabelledNames:
    return LabelledNames(
        key=[f"name {b}" for b in range(len(collection))],
        bags=flat(collection),
        frequencies=counted(collection, rare),
        # The same person under two names would be two.
        author=np.array([author for name in authors for author in name]),
        written=[f"{b}.{x}" for b, block in enumerate(collection) for x in range(len(block))],
    )


class State(NamedTuple):
    """The expected values of one state."""

    clusters: int
    precision: Fraction
    recall: Fraction

    @property
    def f1(self) -> Fraction:
        return 2 * self.precision * self.recall / (self.precision + self.recall)


def measured(clusters: Sequence[Sequence[int]], author: Sequence[int]) -> State:
    """B-cubed as it is defined, over labelled mentions: of each one's cluster and of each one's author."""
    known = [x for x in range(len(author)) if author[x] >= 0]
    own = {x: {y for y in cluster if y in known} for cluster in clusters for x in cluster}
    same = {x: {y for y in known if author[y] == author[x]} for x in known}
    return State(
        clusters=sum(any(x in known for x in cluster) for cluster in clusters),
        precision=sum(Fraction(len(own[x] & same[x]), len(own[x])) for x in known) / Fraction(len(known)),
        recall=sum(Fraction(len(own[x] & same[x]), len(same[x])) for x in known) / Fraction(len(known)),
    )
