"""Documents of many authors: their bags are compared once, and not again in every block in which they meet.

`pair_documents` computes the table for some documents, `share_documents` prepares blocks whose mentions are all on
these documents. Compiled code is imported when it is called: numba takes long to load.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.agglomerative import kernel_input
from homonym.clustering.arrays import Bags, DocumentPairs, Floats, Frequencies, Integers, OwnNames, SharedDocuments
from homonym.runtime.thread_pool import map_in_order

# Number of parts of the table per thread.
PARTS = 8


class DocumentTable(NamedTuple):
    """The bags of some documents, as one block, with features in ascending order; and what their pairs share."""

    bags: Bags
    frequencies: Frequencies
    pairs: DocumentPairs


def pair_documents(
    bags: Bags,
    frequencies: Frequencies,
    threads: int = 1,
    memory: Floats | None = None,
    before: DocumentPairs | None = None,
    kept: Integers | None = None,
) -> DocumentTable:
    """The table of some documents, given as one block.

    It is in the given `memory`, at least `table_bytes`, and overwrites the table before it. New memory for each table
    took a third of its time. If the pairs `before` are in the same memory and have the first documents at the
    positions `kept`, in ascending order, these are not computed again.
    """
    from homonym.clustering.dense.cooccurrence import new_feature_scratch
    from homonym.clustering.dense.document_pairs import fill_rows, index_documents

    inputs = kernel_input(bags, frequencies)
    documents = len(bags.bag_start) - 1
    kind = np.unique(np.searchsorted(frequencies.type_start, bags.feature, side="right") - 1)
    rows = documents * (documents + 1) // 2
    columns = len(kind) + 1
    S = np.empty(rows * columns) if memory is None else memory[: rows * columns]
    pairs = DocumentPairs(S.reshape(rows, columns), np.empty((documents, len(kind))), kind)
    done = _keep_rows(before, kept, pairs) if before is not None and kept is not None else 0
    postings = index_documents(inputs, new_feature_scratch(len(bags.feature)))
    # Later rows are longer; these parts are about equal.
    ends = np.sqrt(np.linspace(done**2, documents**2, PARTS * threads + 1))
    cuts = np.unique(ends.round().astype(np.int64)).tolist()

    def fill(part: tuple[int, int]) -> None:
        fill_rows(*part, inputs, postings, pairs)

    for _ in map_in_order(fill, pairwise(cuts), threads):
        pass
    return DocumentTable(bags, frequencies, pairs)


def _keep_rows(before: DocumentPairs, kept: Integers, pairs: DocumentPairs) -> int:
    """Move the rows of documents that are kept to the beginning of the memory; returns how many there are.

    Rows move towards the beginning, in order, so that none is overwritten before it has moved. A table with other types
    has other columns.
    """
    if not np.array_equal(before.kind, pairs.kind):
        return 0
    old, new = before.S, pairs.S
    pairs.n[: len(kept)] = before.n[kept]
    for i in np.flatnonzero(kept != np.arange(len(kept))):
        source = kept[i] * (kept[i] + 1) // 2
        new[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2] = old[source + kept[: i + 1]]
    return len(kept)


def table_bytes(documents: int, types: int) -> int:
    """Memory in bytes of the table of some documents: S of each pair and type, and rounding errors.

    >>> table_bytes(1000, 6)
    28028000
    """
    return documents * (documents + 1) // 2 * 8 * (types + 1)


def share_documents(
    table: DocumentTable,
    block_start: Integers,
    document: Integers,
    own_name: NDArray[np.int32],
    own_full_name: NDArray[np.int32],
) -> SharedDocuments:
    """What `cluster` needs of a table for some blocks, given the number of each mention's document in the table.

    `own_name` and `own_full_name` are the features of the mentions' own names, or −1.
    """
    from homonym.clustering.dense.document_pairs import find_own_names

    found = find_own_names(own_name, own_full_name, block_start, document, kernel_input(table.bags, table.frequencies))
    return SharedDocuments(table.pairs, OwnNames(document, *found))
