"""Contingency tables of true authors and clusters within each name: the input of all measures.

Every mention has three codes: its name (the block), its true author, and its cluster. Evaluation is within names: an
author with two names counts as two, and so does a cluster. The overlaps |C_sys ∩ C_cor| are counted once, without loops
over mentions or names.

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
    """The overlaps of true authors and clusters within each name.

    Names are numbered 0, 1, … in the order of their codes. `author_size` and `author_name` have one entry per true
    author of a name, `cluster_size` and `cluster_name` one per cluster of a name, and `overlap`, `overlap_author`,
    `overlap_cluster`, `overlap_name` one per author and cluster that share a mention (the cells that are not 0).
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
        """The name of each overlap."""
        return self.author_name[self.overlap_author]

    @property
    def true_size(self) -> Counts:
        """|C_cor| of each name: the number of true authors."""
        return np.bincount(self.author_name, minlength=self.names)

    @property
    def clusters(self) -> Counts:
        """|C_sys| of each name: the number of clusters."""
        return np.bincount(self.cluster_name, minlength=self.names)


def contingency(names: Codes, authors: Codes, clusters: Codes) -> Contingency:
    """Build the table from the codes of each mention, which may be any integers.

    >>> table = contingency(np.array([7, 7, 7, 9]), np.array([1, 1, 2, 1]), np.array([5, 5, 5, 5]))
    >>> table.mentions, table.author_size, table.cluster_size, table.overlap
    (array([3, 1]), array([2, 1, 1]), array([3, 1]), array([2, 1, 1]))
    """
    if not len(names) == len(authors) == len(clusters):
        raise ValueError(f"expected one code per mention, got {len(names)}, {len(authors)} and {len(clusters)} codes")
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


def merge_all(table: Contingency) -> Contingency:
    """The table if each name were one cluster.

    >>> merge_all(contingency(np.array([7, 7, 9]), np.array([1, 2, 1]), np.array([5, 6, 5]))).cluster_size
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


def split_all(table: Contingency) -> Contingency:
    """The table if every mention were a cluster.

    >>> split_all(contingency(np.array([7, 7, 9]), np.array([1, 1, 1]), np.array([5, 5, 5]))).overlap_author
    array([0, 0, 1])
    """
    author: Counts = np.repeat(np.arange(len(table.author_size)), table.author_size)
    ones = np.ones(len(author), dtype=np.int64)
    return replace(
        table,
        cluster_size=ones,
        cluster_name=table.author_name[author],
        overlap=ones,
        overlap_author=author,
        overlap_cluster=np.arange(len(author)),
    )


def mean_by(group: Codes, values: NDArray[Any]) -> Values:
    """The mean of values in each of the groups 0, 1, ….

    >>> mean_by(np.array([0, 1, 0]), np.array([1, 5, 2]))
    array([1.5, 5. ])
    """
    return np.bincount(group, weights=values) / np.bincount(group)


def sum_by(group: Counts, values: NDArray[Any], groups: int) -> Values:
    """The sum of values in each of the groups 0 to `groups` - 1.

    >>> sum_by(np.array([0, 2, 0]), np.array([1, 5, 2]), 3)
    array([3., 0., 5.])
    """
    return np.bincount(group, weights=values, minlength=groups).astype(np.float64, copy=False)


def _numbered(codes: Codes) -> Counts:
    """The rank of each code among the distinct ones."""
    return _distinct(codes)[1]


def _pairs(left: Counts, right: Counts) -> tuple[Counts, tuple[Counts, Counts], Counts]:
    """Number the distinct pairs: the number of each row, and the two parts and the number of rows of each pair."""
    base = int(right.max()) + 1
    distinct, number, rows = _distinct(left * base + right)
    return number, (distinct // base, distinct % base), rows


def _distinct(codes: Codes) -> tuple[Counts, Counts, Counts]:
    """The distinct codes in order, the position of each row's code among them, and the number of rows of each code."""
    if codes.min() < 0 or codes.max() > 4 * len(codes):
        return np.unique(codes, return_inverse=True, return_counts=True)
    # Codes without large gaps are counted, which is several times faster than sorting them.
    rows = np.bincount(codes)
    distinct = np.flatnonzero(rows)
    position = np.cumsum(rows > 0) - 1
    return distinct, position[codes], rows[distinct]
