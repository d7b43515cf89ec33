"""The co-authors with whom authors share most documents.

The same as the query of author_summaries.py for the table `partners`, in a fraction of the time: pairs of authors are
integers, which are sorted and not hashed. Pairs of some authors are counted at a time, so that memory is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from homonym.clustering.arrays import Integers, ranges, starts

PARTNERS = pa.schema([("author", pa.int64()), ("other", pa.int64()), ("count", pa.int64())])
"""How many documents two authors share; ordered by author, then the most documents first, then by the other author."""

# Pairs of authors that are counted at once, at least all of one author.
PAIRS_AT_ONCE = 1 << 21

_LOW = (1 << 32) - 1


def first_partners(author: Integers, document: Integers, most: int, largest: int) -> pa.Table:
    """The first `most` rows of PARTNERS of each author; documents with more than `largest` authors do not count.

    Each author is once on a document, and the rows are in the order of authors.

    >>> first_partners(np.array([0, 0, 1, 2, 2]), np.array([0, 1, 0, 0, 1]), 1, 3).to_pylist()[0]
    {'author': 0, 'other': 2, 'count': 2}
    """
    size = np.bincount(document) if len(document) else np.zeros(0, np.int64)
    members = author[np.sort(document << 32 | np.arange(len(document))) & _LOW]  # of each document, one after another
    number = np.where(size[document] <= largest, size[document], 0)
    begin = starts(size)[document]
    found = [PARTNERS.empty_table()]
    for first, last in _whole_authors(author, starts(number)):
        rows = slice(first, last)
        other = members[ranges(begin[rows], number[rows])]
        found.append(_most_common(np.repeat(author[rows], number[rows]), other, most))
    return pa.concat_tables(found)


def _whole_authors(author: Integers, filled: Integers) -> Iterator[tuple[int, int]]:
    """Ranges of rows with all those of some authors; `filled` is the number of pairs before each row."""
    first, ends = 0, np.append(np.flatnonzero(np.diff(author)) + 1, len(author))
    while first < len(author):
        end = np.searchsorted(filled[ends], filled[first] + PAIRS_AT_ONCE, side="right") - 1
        last = int(ends[max(int(end), int(np.searchsorted(ends, first, side="right")))])
        yield first, last
        first = last


def _most_common(author: Integers, other: Integers, most: int) -> pa.Table:
    """The rows of PARTNERS for some pairs, of which the author himself is one."""
    key = np.sort((author << 32 | other)[author != other])
    first = np.flatnonzero(np.diff(key, prepend=-1))
    count = np.diff(np.append(first, len(key)))
    author, other = key[first] >> 32, key[first] & _LOW
    order = np.argsort(author * (int(count.max(initial=0)) + 1) - count, kind="stable")
    rank = np.arange(len(order)) - np.searchsorted(author, author)  # the order of authors stays
    order = order[rank < most]
    return pa.table([author[order], other[order], count[order]], schema=PARTNERS)
