"""Measures of how well a clustering agrees with the true authors, as pure functions of a contingency table.

C_sys is the clustering, C_cor the true authors. Precision is the share of what was found that is right, recall the
share of what is true that was found. Each measure returns `NameSums`: its `overall()` divides the sums of all names
(micro), `by_name()` divides within each name, and `by_name().mean()` is the mean over names (macro); its F1 is that of
the means, as in the paper.

>>> names = np.array([0, 0, 0, 0, 1, 1, 1, 1])
>>> authors = np.array([0, 0, 1, 1, 2, 2, 2, 2])
>>> clusters = np.array([0, 0, 0, 0, 1, 1, 2, 2])
>>> table = contingency(names, authors, clusters)
>>> bcubed(table).overall(), pairwise(table).overall()
(Scores(precision=0.75, recall=0.75), Scores(precision=0.5, recall=0.5))
>>> pairwise(contingency(names, authors, names)).by_name().recall
array([1., 1.])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
        """The three values by their keys in the evaluation JSON."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True)
class KMetric:
    """The K-metric: average cluster purity ACP, average author purity AAP, and K = √(ACP · AAP).

    ACP = 1/N Σ_ij n_ij² / n_i and AAP = 1/N Σ_ij n_ij² / n_j for clusters i and authors j that share n_ij mentions:
    these are B-cubed precision and recall over mentions.

    >>> KMetric(0.25, 1.0).as_dict()
    {'acp': 0.25, 'aap': 1.0, 'k': 0.5}
    """

    acp: float
    aap: float

    @property
    def k(self) -> float:
        """The geometric mean of the two purities."""
        return sqrt(self.acp * self.aap)

    def as_dict(self) -> dict[str, float]:
        """The three values by their keys in the evaluation JSON."""
        return {"acp": self.acp, "aap": self.aap, "k": self.k}


@dataclass(frozen=True, eq=False)
class NameScores:
    """Precision and recall of every name, in the order of the names."""

    precision: Values
    recall: Values

    def averaged(self, group: Codes) -> list[Scores]:
        """Mean precision and recall of the names of each group 0, 1, …; every name counts the same.

        >>> NameScores(np.array([1.0, 0.5, 0.8]), np.array([1.0, 1.0, 0.6])).averaged(np.array([0, 0, 1]))
        [Scores(precision=0.75, recall=1.0), Scores(precision=0.8, recall=0.6)]
        """
        means = zip(mean_by(group, self.precision), mean_by(group, self.recall), strict=True)
        return [Scores(float(p), float(r)) for p, r in means]

    def mean(self) -> Scores:
        """Mean precision and recall over all names.

        >>> NameScores(np.array([1.0, 0.5]), np.array([1.0, 1.0])).mean()
        Scores(precision=0.75, recall=1.0)
        """
        return Scores(float(self.precision.mean()), float(self.recall.mean()))


@dataclass(frozen=True, eq=False)
class NameSums:
    """Numerators and denominators of each name: precision = right_found / found, recall = right_true / true.

    Where the denominator is 0 (no pair, say), nothing is wrong or missing: the ratio is 1.

    >>> sums = NameSums(*(np.array(values) for values in ([1.0, 4.0], [2.0, 4.0], [1.0, 3.0], [1.0, 4.0])))
    >>> sums.by_name().precision, sums.overall()
    (array([0.5, 1. ]), Scores(precision=0.8333333333333334, recall=0.8))
    """

    right_found: Values
    found: Values
    right_true: Values
    true: Values

    def by_name(self) -> NameScores:
        """The ratios of each name."""
        return NameScores(_ratio(self.right_found, self.found), _ratio(self.right_true, self.true))

    def overall(self) -> Scores:
        """The ratios of the sums over all names."""
        totals = NameSums(*(getattr(self, field.name).sum(keepdims=True) for field in fields(self))).by_name()
        return Scores(float(totals.precision[0]), float(totals.recall[0]))


@dataclass(frozen=True, eq=False)
class NameErrors:
    """Numerators and denominators of each name: splitting = outside / mentions, lumping = foreign / size."""

    outside: Values
    mentions: Values
    foreign: Values
    size: Values

    def by_name(self) -> tuple[Values, Values]:
        """Splitting and lumping error of each name."""
        return self.outside / self.mentions, self.foreign / self.size

    def overall(self) -> tuple[float, float]:
        """Splitting and lumping error over all names together."""
        return float(self.outside.sum() / self.mentions.sum()), float(self.foreign.sum() / self.size.sum())


@dataclass(frozen=True)
class Measures:
    """All measures of one clustering."""

    bcubed: Scores
    pairwise: Scores
    pairwise_with_self: Scores
    cluster_level: Scores
    k_metric: KMetric
    splitting_error: float
    lumping_error: float

    def as_dict(self) -> dict[str, Any]:
        """The measures by their keys in the evaluation JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {key: value if isinstance(value, float) else value.as_dict() for key, value in values.items()}


def harmonic(precision: Values, recall: Values) -> Values:
    """F1 elementwise: 2·P·R / (P + R), 0 where both are 0.

    >>> harmonic(np.array([0.5, 0.0]), np.array([1.0, 0.0]))
    array([0.66666667, 0.        ])
    """
    total = precision + recall
    return np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)


def _ratio(part: Values, whole: Values) -> Values:
    return np.divide(part, whole, out=np.ones_like(whole), where=whole > 0)


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


def bcubed(table: Contingency) -> NameSums:
    """B-cubed: how pure the cluster of a mention is, and how complete its author.

    The mean over mentions x of |C_sys(x) ∩ C_cor(x)| / |C_sys(x)| (precision) or / |C_cor(x)| (recall): each overlap
    of n mentions contributes n² / |C_sys| or n² / |C_cor| to the sums.

    >>> sums = bcubed(contingency(np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([0, 0, 1])))
    >>> sums.by_name().precision, sums.overall()
    (array([0.5, 1. ]), Scores(precision=0.6666666666666666, recall=1.0))
    """
    square = table.overlap.astype(np.float64) ** 2
    found = sum_by(table.overlap_name, square / table.cluster_size[table.overlap_cluster], table.names)
    true = sum_by(table.overlap_name, square / table.author_size[table.overlap_author], table.names)
    mentions = table.mentions.astype(np.float64)
    return NameSums(found, mentions, true, mentions)


def pairwise(table: Contingency, *, with_self: bool = False) -> NameSums:
    """Pairwise precision and recall: the share of pairs of mentions that are rightly in one cluster.

    |pairs_cor ∩ pairs_sys| / |pairs_sys| (precision) or / |pairs_cor| (recall), where pairs are the sets {x, y} of
    mentions in one cluster, x ≠ y; with `with_self` also {x, x}, as in the paper. Without any pair the value is 1.

    >>> table = contingency(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 2]), np.array([0, 0, 0, 1]))
    >>> pairwise(table).by_name().precision, pairwise(table, with_self=True).by_name().precision
    (array([0.33333333, 1.        ]), array([0.66666667, 1.        ]))
    """
    self_pairs = 1 if with_self else -1

    def pairs(name: Counts, size: Counts) -> Values:
        return sum_by(name, size * (size + self_pairs) // 2, table.names)

    both = pairs(table.overlap_name, table.overlap)
    return NameSums(
        both, pairs(table.cluster_name, table.cluster_size), both, pairs(table.author_name, table.author_size)
    )


def cluster_level(table: Contingency) -> NameSums:
    """Cluster-level precision and recall: the share of clusters that are exactly one true author.

    |C_sys ∩ C_cor| / |C_sys| (precision) or / |C_cor| (recall), as sets of clusters.

    >>> sums = cluster_level(contingency(np.array([0, 0, 0, 1]), np.array([0, 1, 1, 2]), np.array([0, 1, 2, 3])))
    >>> sums.by_name().precision, sums.overall()
    (array([0.33333333, 1.        ]), Scores(precision=0.5, recall=0.6666666666666666))
    """
    author_size = table.author_size[table.overlap_author]
    exact = (table.overlap == author_size) & (table.overlap == table.cluster_size[table.overlap_cluster])
    right = sum_by(table.overlap_name, exact, table.names)
    return NameSums(right, table.clusters.astype(np.float64), right, table.true_size.astype(np.float64))


def splitting_and_lumping(table: Contingency) -> NameErrors:
    """Splitting and lumping error: what the main cluster of a true author lacks, and what does not belong there.

    The main cluster holds most of the author's mentions; of equals it is the smaller one. With sums over true authors:
    splitting = Σ mentions of the author outside it / Σ mentions of the author,
    lumping = Σ mentions of other authors in it / Σ its size.

    >>> table = contingency(np.array([0, 0, 0, 0]), np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]))
    >>> splitting_and_lumping(table).overall()  # author 0 has 2 of 3 in cluster 0, author 1 is in a cluster of 2
    (0.25, 0.25)
    """
    inside, size = _main_clusters(table)
    return NameErrors(
        outside=sum_by(table.author_name, table.author_size - inside, table.names),
        mentions=table.mentions.astype(np.float64),
        foreign=sum_by(table.author_name, size - inside, table.names),
        size=sum_by(table.author_name, size, table.names),
    )


def measure(table: Contingency) -> Measures:
    """All measures over all names together.

    >>> measure(contingency(np.array([0, 0]), np.array([3, 3]), np.array([1, 1]))).pairwise
    Scores(precision=1.0, recall=1.0)
    """
    return _measures(table, NameSums.overall, splitting_and_lumping(table).overall())


def measure_over_names(table: Contingency) -> Measures:
    """All measures averaged over names, every name counting the same; F1 and K are those of the averages.

    >>> table = contingency(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 1]), np.array([0, 0, 1, 2]))
    >>> round(measure(table).splitting_error, 3), round(measure_over_names(table).splitting_error, 3)
    (0.25, 0.167)
    """
    splitting, lumping = splitting_and_lumping(table).by_name()
    means = float(splitting.mean()), float(lumping.mean())
    return _measures(table, lambda sums: sums.by_name().mean(), means)


def _measures(table: Contingency, scores: Callable[[NameSums], Scores], errors: tuple[float, float]) -> Measures:
    by_mention = scores(bcubed(table))
    return Measures(
        by_mention,
        scores(pairwise(table)),
        scores(pairwise(table, with_self=True)),
        scores(cluster_level(table)),
        KMetric(by_mention.precision, by_mention.recall),
        *errors,
    )


def bcubed_across_names(authors: Codes, clusters: Codes) -> Scores:
    """B-cubed with authors and clusters across all names, so that what the blocking splits counts as missing.

    An author with two names who is found under each of them has a recall below 1.

    >>> bcubed_across_names(np.array([0, 0, 0, 0]), np.array([0, 0, 1, 1]))
    Scores(precision=1.0, recall=0.5)
    """
    return bcubed(contingency(np.zeros(len(authors), dtype=np.int64), authors, clusters)).overall()


def _main_clusters(table: Contingency) -> tuple[Counts, Counts]:
    """For each true author, the number of their mentions in the main cluster, and the size of that cluster.

    One number ranks clusters by most mentions, then by smaller size, so that a maximum finds the main cluster without
    sorting. Clusters that are equal in both give the same sums.
    """
    base = int(table.cluster_size.max()) + 1
    rank = table.overlap * base + (base - 1 - table.cluster_size[table.overlap_cluster])
    first = np.searchsorted(table.overlap_author, np.arange(len(table.author_size)))
    best: Counts = np.maximum.reduceat(rank, first)
    return best // base, base - 1 - best % base


def correctly_clustered(name: Codes, author: Codes, cluster: Codes) -> NDArray[np.bool_]:
    """Whether each mention is by the true author with most mentions in its cluster; of equals, the first author.

    >>> correctly_clustered(np.zeros(5, int), np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1])).tolist()
    [True, True, False, True, True]
    """
    group = np.unique(_keys(name, cluster), return_inverse=True)[1]
    pairs, pair, mentions = np.unique(_keys(group, author), return_inverse=True, return_counts=True)
    group_of_pair = np.empty(len(pairs), np.int64)
    group_of_pair[pair] = group
    order = np.lexsort((np.arange(len(pairs)), -mentions, group_of_pair))
    main = np.zeros(len(pairs), bool)
    main[order[np.diff(group_of_pair[order], prepend=-1) != 0]] = True
    correct: NDArray[np.bool_] = main[pair]
    return correct


def is_only_mention(name: Codes, author: Codes) -> NDArray[np.bool_]:
    """Whether each mention is the only one of its true author among those of its name.

    >>> is_only_mention(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 6])).tolist()
    [False, False, True, True]
    """
    _, pair, mentions = np.unique(_keys(name, author), return_inverse=True, return_counts=True)
    only: NDArray[np.bool_] = (mentions == 1)[pair]
    return only


def is_right(name: Codes, author: Codes, cluster: Codes, lone: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether what a confidence is about is true for each mention; `lone` marks the mentions that are alone.

    A lone mention has to be the only one of its true author, any other mention has to be correctly clustered.

    >>> lone = np.array([False, False, True, True])
    >>> is_right(np.zeros(4, int), np.array([0, 0, 0, 1]), np.array([0, 0, 1, 2]), lone).tolist()
    [True, True, False, True]
    """
    return np.where(lone, is_only_mention(name, author), correctly_clustered(name, author, cluster))


def _keys(first: Codes, second: Codes) -> Codes:
    """One number for two codes, which must be below 2³¹."""
    return first.astype(np.int64) << 31 | second.astype(np.int64)
