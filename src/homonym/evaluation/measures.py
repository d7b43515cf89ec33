"""How well a clustering agrees with the truth, as pure functions on integer codes.

Every mention has three codes: its name (the block), its true author, and the cluster it was put into. Evaluation is
within names: an author who occurs under two names counts as two, and so does a cluster. All measures need only the
overlaps |C_sys ∩ C_cor|, which `contingency` counts once by sorting; nothing here loops over mentions or names.

>>> names = np.array([0, 0, 0, 0, 1, 1, 1, 1])
>>> authors = np.array([0, 0, 1, 1, 2, 2, 2, 2])
>>> clusters = np.array([0, 0, 0, 0, 1, 1, 2, 2])
>>> table = contingency(names, authors, clusters)
>>> bcubed(table)
Scores(precision=0.75, recall=0.75)
>>> pairwise(table)
Scores(precision=0.5, recall=0.5)
>>> pairwise(contingency(names, authors, one_cluster_per_name(names))).recall
1.0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.integer[Any]]
Counts = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Scores:
    """Precision and recall, and F1 = 2·P·R / (P + R).

    >>> Scores(0.5, 1.0).as_dict()
    {'precision': 0.5, 'recall': 1.0, 'f1': 0.6666666666666666}
    """

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 where both are 0."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def as_dict(self) -> dict[str, float]:
        """Give the three figures under their names in the evaluation JSON."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True, eq=False)
class NameScores:
    """Precision and recall of every name, in the order of the names' codes."""

    precision: Values
    recall: Values

    def averaged(self, group: Codes) -> list[Scores]:
        """Average precision and recall over the names of each group 0, 1, …; every name counts the same.

        >>> NameScores(np.array([1.0, 0.5, 0.8]), np.array([1.0, 1.0, 0.6])).averaged(np.array([0, 0, 1]))
        [Scores(precision=0.75, recall=1.0), Scores(precision=0.8, recall=0.6)]
        """
        means = zip(mean_by(group, self.precision), mean_by(group, self.recall), strict=True)
        return [Scores(float(p), float(r)) for p, r in means]


@dataclass(frozen=True)
class Measures:
    """The three measures of one clustering."""

    bcubed: Scores
    pairwise: Scores
    pairwise_with_self: Scores

    def as_dict(self) -> dict[str, dict[str, float]]:
        """Give the measures under their names in the evaluation JSON."""
        return {
            "bcubed": self.bcubed.as_dict(),
            "pairwise": self.pairwise.as_dict(),
            "pairwise_with_self": self.pairwise_with_self.as_dict(),
        }


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


def bcubed_by_name(table: Contingency) -> NameScores:
    """B-cubed of each name: the mean over its mentions x of |C_sys(x) ∩ C_cor(x)| / |C_sys(x)| or / |C_cor(x)|.

    Each overlap of n mentions contributes n · n / |C|.

    >>> table = contingency(np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([0, 0, 1]))
    >>> bcubed_by_name(table).precision, bcubed_by_name(table).recall
    (array([0.5, 1. ]), array([1., 1.]))
    """
    square = table.overlap.astype(np.float64) ** 2
    found = _sum_by(table.overlap_name, square / table.cluster_size[table.overlap_cluster], table.names)
    true = _sum_by(table.overlap_name, square / table.author_size[table.overlap_author], table.names)
    return NameScores(found / table.mentions, true / table.mentions)


def bcubed(table: Contingency) -> Scores:
    """B-cubed over all mentions, every mention counting the same.

    >>> bcubed(contingency(np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([0, 0, 1])))
    Scores(precision=0.6666666666666666, recall=1.0)
    """
    by_name = bcubed_by_name(table)
    total = table.mentions.sum()
    return Scores(
        float(by_name.precision @ table.mentions / total),
        float(by_name.recall @ table.mentions / total),
    )


def pairwise_by_name(table: Contingency, *, with_self: bool = False) -> NameScores:
    """Pairwise precision and recall of each name: |pairs_cor ∩ pairs_sys| / |pairs_sys| or / |pairs_cor|.

    pairs are the sets {x, y} of mentions in one cluster, x ≠ y; with `with_self` also {x, x}, as in the paper.
    Where the denominator has no pair (singletons only), nothing is wrong or missing: the value is 1.

    >>> table = contingency(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 2]), np.array([0, 0, 0, 1]))
    >>> pairwise_by_name(table).precision, pairwise_by_name(table, with_self=True).precision
    (array([0.33333333, 1.        ]), array([0.66666667, 1.        ]))
    """
    both, found, true = _pairs_by_name(table, with_self=with_self)
    return NameScores(_ratio(both, found), _ratio(both, true))


def pairwise(table: Contingency, *, with_self: bool = False) -> Scores:
    """Pairwise precision and recall over the pairs of all names together, every pair counting the same.

    >>> pairwise(contingency(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 2]), np.array([0, 0, 0, 1])))
    Scores(precision=0.3333333333333333, recall=1.0)
    """
    both, found, true = (counts.sum(keepdims=True) for counts in _pairs_by_name(table, with_self=with_self))
    return Scores(float(_ratio(both, found)[0]), float(_ratio(both, true)[0]))


def measure(table: Contingency) -> Measures:
    """Compute the three measures at once, over all mentions.

    >>> measure(contingency(np.array([0, 0]), np.array([3, 3]), np.array([1, 1]))).pairwise
    Scores(precision=1.0, recall=1.0)
    """
    return Measures(bcubed(table), pairwise(table), pairwise(table, with_self=True))


def bcubed_across_names(authors: Codes, clusters: Codes) -> Scores:
    """B-cubed with authors and clusters taken whole over all names, so that what the blocking splits is missing.

    An author who publishes under two names and is found under each has a recall below 1.

    >>> bcubed_across_names(np.array([0, 0, 0, 0]), np.array([0, 0, 1, 1]))
    Scores(precision=1.0, recall=0.5)
    """
    return bcubed(contingency(np.zeros(len(authors), dtype=np.int64), authors, clusters))


def one_cluster_per_name(names: Codes) -> Codes:
    """Take everyone of a name for one person: recall 1, and what a name-based count does.

    >>> one_cluster_per_name(np.array([4, 4, 9]))
    array([4, 4, 9])
    """
    return names


def singletons(names: Codes) -> Codes:
    """Take every mention for another person: precision 1.

    >>> singletons(np.array([4, 4, 9]))
    array([0, 1, 2])
    """
    return np.arange(len(names))


def mean_by(group: Codes, values: NDArray[Any]) -> Values:
    """Average values within the groups 0, 1, ….

    >>> mean_by(np.array([0, 1, 0]), np.array([1, 5, 2]))
    array([1.5, 5. ])
    """
    return np.bincount(group, weights=values) / np.bincount(group)


def _numbered(codes: Codes) -> Counts:
    """Number the distinct codes 0, 1, … in their order."""
    return np.unique(codes, return_inverse=True)[1]


def _pairs(left: Counts, right: Counts) -> tuple[Counts, tuple[Counts, Counts], Counts]:
    """Number the distinct pairs; give each row's number, and each pair's two parts and its rows."""
    base = int(right.max()) + 1
    distinct, number, rows = np.unique(left * base + right, return_inverse=True, return_counts=True)
    return number, (distinct // base, distinct % base), rows


def _sum_by(name: Counts, values: NDArray[Any], names: int) -> Values:
    return np.bincount(name, weights=values, minlength=names).astype(np.float64, copy=False)


def _pairs_by_name(table: Contingency, *, with_self: bool) -> tuple[Values, Values, Values]:
    """Count the pairs of each name that both clusterings hold, that the system holds, and that the truth holds."""
    self_pairs = 1 if with_self else -1

    def pairs(name: Counts, size: Counts) -> Values:
        return _sum_by(name, size * (size + self_pairs) // 2, table.names)

    return (
        pairs(table.overlap_name, table.overlap),
        pairs(table.cluster_name, table.cluster_size),
        pairs(table.author_name, table.author_size),
    )


def _ratio(part: Values, whole: Values) -> Values:
    return np.divide(part, whole, out=np.ones_like(whole), where=whole > 0)
