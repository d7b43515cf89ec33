"""The authors of referenced documents: counted in slices of any size, without the document's own names."""

from __future__ import annotations

from collections import Counter
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.clustering.arrays import starts
from homonym.collection import references
from homonym.collection.layout import SLOT_BITS
from tests.support.profiles import examples

names = st.lists(st.integers(0, 6), max_size=4)
documents = st.lists(st.tuples(names, st.lists(st.integers(0, 5), max_size=4)), min_size=6, max_size=9)


def counted(found: list[tuple[list[int], list[int]]], size: int) -> tuple[list[Any], list[int]]:
    """The rows of `referenced` and the holders of each, computed in slices of this size."""
    authors = references._Authors(
        np.array([name for own, _ in found for name in own], np.int32),
        starts(np.array([len(own) for own, _ in found])),
        0,
    )
    pairs = [(citing, cited) for citing, (_, cites) in enumerate(found) for cited in cites]
    citing, cited = (np.array(column, np.int64) for column in (zip(*pairs, strict=True) if pairs else ((), ())))
    citations = references._Citations(citing, cited, citing + 100)
    with mock.patch.multiple(references, SLICE=3 * size, SORTED=size):
        slices = list(references._slices(citations, authors))
    rows = [row for table, _ in slices for row in zip(*table.to_pydict().values(), strict=True)]
    return rows, [holders for _, some in slices for holders in some.tolist()]


@settings(max_examples=examples(300))
@given(found=documents, size=st.sampled_from([1, 2, 5, 1000]))
def test_authors_of_references_are_counted_without_own_names(
    found: list[tuple[list[int], list[int]]], size: int
) -> None:
    rows = []
    for document, (own, cites) in enumerate(found):
        named = Counter(name for cited in cites for name in found[cited][0])
        rows += [(document << SLOT_BITS, name, named[name]) for name in sorted(named) if name not in own]
    assert counted(found, size) == (rows, [(owner >> SLOT_BITS) + 100 for owner, _, _ in rows])
