"""How true authors and found clusters overlap within each name: all that the measures need to know.

Every mention has three codes: its name (the block), its true author, and the cluster it was put into. Evaluation is
within names: an author who occurs under two names counts as two, and so does a cluster. The overlaps
|C_sys ∩ C_cor| are counted once, by sorting; nothing loops over mentions or names.

>>> table = contingency(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 2]), np.array([0, 0, 0, 1]))
>>> table.names, table.true_size, table.clusters
(2, array([2, 1]), array([1, 1]))
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.integer[Any]]
Counts = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Contingency:
    """How true authors and found clusters overlap within each name.

    Names are numbered 0, 1, … in the order of their codes. `author_size` and `author_name` have one entry per true
    author of a name, `cluster_size` and `cluster_name` one per cluster of a name, and `overlap`, `overlap_author`,
    `overlap_cluster`, `overlap_name` one per author and cluster that share a mention.
    """

    mentions: Counts
    author_size: Counts
    author_name: Counts
    cluster_size: Counts
    cluster_name: Counts
    overlap: Counts
    overlap_author: Counts
    overlap_cluster: Counts

    @property
    def names(self) -> int:
        """Number of names."""
        return len(self.mentions)

    @property
    def overlap_name(self) -> Counts:
        """The name that each overlap lies in."""
        return self.author_name[self.overlap_author]

    @property
    def true_size(self) -> Counts:
        """|C_cor| of each name: how many people really bear it."""
        return np.bincount(self.author_name, minlength=self.names)

    @property
    def clusters(self) -> Counts:
        """|C_sys| of each name: how many people the clustering sees."""
        return np.bincount(self.cluster_name, minlength=self.names)


def contingency(names: Codes, authors: Codes, clusters: Codes) -> Contingency:
    """Count the overlaps of true authors and clusters; codes may be any integers, given per mention.

    >>> table = contingency(np.array([7, 7, 7, 9]), np.array([1, 1, 2, 1]), np.array([5, 5, 5, 5]))
    >>> table.mentions, table.author_size, table.cluster_size, table.overlap
    (array([3, 1]), array([2, 1, 1]), array([3, 1]), array([2, 1, 1]))
    """
    if not len(names) == len(authors) == len(clusters):
        raise ValueError(f"one code per mention each; got {len(names)}, {len(authors)} and {len(clusters)}")
    if not len(names):
        raise ValueError("at least one mention is needed")
    name = _numbered(names)
    author, (author_name, _), author_size = _pairs(name, _numbered(authors))
    cluster, (cluster_name, _), cluster_size = _pairs(name, _numbered(clusters))
    _, (overlap_author, overlap_cluster), overlap = _pairs(author, cluster)
    return Contingency(
        mentions=np.bincount(name),
        author_size=author_size,
        author_name=author_name,
        cluster_size=cluster_size,
        cluster_name=cluster_name,
        overlap=overlap,
        overlap_author=overlap_author,
        overlap_cluster=overlap_cluster,
    )


def together(table: Contingency) -> Contingency:
    """The overlaps if everyone of a name were one cluster, known without counting again.

    >>> together(contingency(np.array([7, 7, 9]), np.array([1, 2, 1]), np.array([5, 6, 5]))).cluster_size
    array([2, 1])
    """
    return replace(
        table,
        cluster_size=table.mentions,
        cluster_name=np.arange(table.names),
        overlap=table.author_size,
        overlap_author=np.arange(len(table.author_size)),
        overlap_cluster=table.author_name,
    )


def apart(table: Contingency) -> Contingency:
    """The overlaps if every mention were a cluster, known without counting again.

    >>> apart(contingency(np.array([7, 7, 9]), np.array([1, 1, 1]), np.array([5, 5, 5]))).overlap_author
    array([0, 0, 1])
    """
    author: Counts = np.repeat(np.arange(len(table.author_size)), table.author_size)
    alone = np.ones(len(author), dtype=np.int64)
    return replace(
        table,
        cluster_size=alone,
        cluster_name=table.author_name[author],
        overlap=alone,
        overlap_author=author,
        overlap_cluster=np.arange(len(author)),
    )


def mean_by(group: Codes, values: NDArray[Any]) -> Values:
    """Average values within the groups 0, 1, ….

    >>> mean_by(np.array([0, 1, 0]), np.array([1, 5, 2]))
    array([1.5, 5. ])
    """
    return np.bincount(group, weights=values) / np.bincount(group)


def sum_by(group: Counts, values: NDArray[Any], groups: int) -> Values:
    """Sum values within the groups 0 to `groups` - 1.

    >>> sum_by(np.array([0, 2, 0]), np.array([1, 5, 2]), 3)
    array([3., 0., 5.])
    """
    return np.bincount(group, weights=values, minlength=groups).astype(np.float64, copy=False)


def _numbered(codes: Codes) -> Counts:
    """Number the distinct codes 0, 1, … in their order."""
    return _distinct(codes)[1]


def _pairs(left: Counts, right: Counts) -> tuple[Counts, tuple[Counts, Counts], Counts]:
    """Number the distinct pairs; give each row's number, and each pair's two parts and its rows."""
    base = int(right.max()) + 1
    distinct, number, rows = _distinct(left * base + right)
    return number, (distinct // base, distinct % base), rows


def _distinct(codes: Codes) -> tuple[Counts, Counts, Counts]:
    """Give the distinct codes in their order, each row's place among them, and each one's rows."""
    if codes.min() < 0 or codes.max() > 4 * len(codes):
        return np.unique(codes, return_inverse=True, return_counts=True)
    # Codes without large gaps are counted, which is several times faster than sorting them.
    rows = np.bincount(codes)
    distinct = np.flatnonzero(rows)
    place = np.cumsum(rows > 0) - 1
    return distinct, place[codes], rows[distinct]
