"""How well a clustering agrees with the truth, as pure functions on its overlaps with it (`contingency`).

Precision asks what of the found is right, recall what of the truth is found. Each measure is, for every name, four
sums (`NameSums`). Over mentions (micro) the sums of all names are divided; over names (macro) the names' own values
are averaged and F1 is that of the averages, as in the paper.

>>> names = np.array([0, 0, 0, 0, 1, 1, 1, 1])
>>> authors = np.array([0, 0, 1, 1, 2, 2, 2, 2])
>>> clusters = np.array([0, 0, 0, 0, 1, 1, 2, 2])
>>> table = contingency(names, authors, clusters)
>>> bcubed(table)
Scores(precision=0.75, recall=0.75)
>>> pairwise(table)
Scores(precision=0.5, recall=0.5)
>>> pairwise(contingency(names, authors, names)).recall
1.0
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from homonym.measures.contingency import Codes, Contingency, Counts, Values, contingency, sum_by
from homonym.measures.scores import KMetric, Measures, NameErrors, NameScores, NameSums, Scores


def bcubed_sums(table: Contingency) -> NameSums:
    """Sums behind B-cubed: each overlap of n mentions contributes n · n / |C|, out of the name's mentions."""
    square = table.overlap.astype(np.float64) ** 2
    found = sum_by(table.overlap_name, square / table.cluster_size[table.overlap_cluster], table.names)
    true = sum_by(table.overlap_name, square / table.author_size[table.overlap_author], table.names)
    mentions = table.mentions.astype(np.float64)
    return NameSums(found, mentions, true, mentions)


def bcubed_by_name(table: Contingency) -> NameScores:
    """B-cubed of each name: the mean over its mentions x of |C_sys(x) ∩ C_cor(x)| / |C_sys(x)| or / |C_cor(x)|.

    >>> table = contingency(np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([0, 0, 1]))
    >>> bcubed_by_name(table).precision, bcubed_by_name(table).recall
    (array([0.5, 1. ]), array([1., 1.]))
    """
    return bcubed_sums(table).by_name()


def bcubed(table: Contingency) -> Scores:
    """B-cubed over all mentions, every mention counting the same.

    >>> bcubed(contingency(np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([0, 0, 1])))
    Scores(precision=0.6666666666666666, recall=1.0)
    """
    return bcubed_sums(table).overall()


def pairwise_sums(table: Contingency, *, with_self: bool = False) -> NameSums:
    """Count the pairs of each name that both clusterings hold, that the system holds, and that the truth holds."""
    self_pairs = 1 if with_self else -1

    def pairs(name: Counts, size: Counts) -> Values:
        return sum_by(name, size * (size + self_pairs) // 2, table.names)

    both = pairs(table.overlap_name, table.overlap)
    return NameSums(
        both, pairs(table.cluster_name, table.cluster_size), both, pairs(table.author_name, table.author_size)
    )


def pairwise_by_name(table: Contingency, *, with_self: bool = False) -> NameScores:
    """Pairwise precision and recall of each name: |pairs_cor ∩ pairs_sys| / |pairs_sys| or / |pairs_cor|.

    pairs are the sets {x, y} of mentions in one cluster, x ≠ y; with `with_self` also {x, x}, as in the paper.
    Where the denominator has no pair (singletons only), nothing is wrong or missing: the value is 1.

    >>> table = contingency(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 2]), np.array([0, 0, 0, 1]))
    >>> pairwise_by_name(table).precision, pairwise_by_name(table, with_self=True).precision
    (array([0.33333333, 1.        ]), array([0.66666667, 1.        ]))
    """
    return pairwise_sums(table, with_self=with_self).by_name()


def pairwise(table: Contingency, *, with_self: bool = False) -> Scores:
    """Pairwise precision and recall over the pairs of all names together, every pair counting the same.

    >>> pairwise(contingency(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 2]), np.array([0, 0, 0, 1])))
    Scores(precision=0.3333333333333333, recall=1.0)
    """
    return pairwise_sums(table, with_self=with_self).overall()


def cluster_level_sums(table: Contingency) -> NameSums:
    """Count the clusters of each name that are exactly one true author, those found, and the true authors."""
    author_size = table.author_size[table.overlap_author]
    exact = (table.overlap == author_size) & (table.overlap == table.cluster_size[table.overlap_cluster])
    right = sum_by(table.overlap_name, exact, table.names)
    return NameSums(right, table.clusters.astype(np.float64), right, table.true_size.astype(np.float64))


def cluster_level_by_name(table: Contingency) -> NameScores:
    """Exactly found clusters of each name: |C_sys ∩ C_cor| / |C_sys| or / |C_cor|, as sets of clusters.

    >>> table = contingency(np.array([0, 0, 0, 1]), np.array([0, 1, 1, 2]), np.array([0, 1, 2, 3]))
    >>> cluster_level_by_name(table).precision, cluster_level_by_name(table).recall
    (array([0.33333333, 1.        ]), array([0.5, 1. ]))
    """
    return cluster_level_sums(table).by_name()


def cluster_level(table: Contingency) -> Scores:
    """Exactly found clusters over all names together, every cluster counting the same.

    >>> cluster_level(contingency(np.array([0, 0, 0, 1]), np.array([0, 1, 1, 2]), np.array([0, 1, 2, 3])))
    Scores(precision=0.5, recall=0.6666666666666666)
    """
    return cluster_level_sums(table).overall()


def k_metric(scores: Scores) -> KMetric:
    """The K-metric from B-cubed: ACP = 1/N Σ_ij n_ij² / n_i and AAP = 1/N Σ_ij n_ij² / n_j, clusters i, authors j.

    Each of the n_ij mentions that cluster i and author j share contributes n_ij / n_i or n_ij / n_j, so that ACP and
    AAP are B-cubed precision and recall over mentions; K takes their geometric mean where F1 takes the harmonic.

    >>> k_metric(Scores(0.25, 1.0)).k
    0.5
    """
    return KMetric(scores.precision, scores.recall)


def errors_by_name(table: Contingency) -> NameErrors:
    """Splitting and lumping of each name, seen from the one cluster that holds most of a true author's mentions.

    splitting = Σ mentions of the author outside it / Σ mentions of the author;
    lumping = Σ mentions of other authors in it / Σ its size; sums over the true authors. Of clusters that hold equally
    many the smaller one counts.

    >>> table = contingency(np.array([0, 0, 0, 0]), np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]))
    >>> errors_by_name(table).by_name()  # author 0 has 2 of 3 in cluster 0, author 1 is in a cluster of 2
    (array([0.25]), array([0.25]))
    """
    kept, size = _main_clusters(table)
    return NameErrors(
        outside=sum_by(table.author_name, table.author_size - kept, table.names),
        mentions=table.mentions.astype(np.float64),
        foreign=sum_by(table.author_name, size - kept, table.names),
        size=sum_by(table.author_name, size, table.names),
    )


def errors(table: Contingency) -> tuple[float, float]:
    """Splitting and lumping error over all true authors.

    >>> errors(contingency(np.array([0, 0, 1]), np.array([0, 0, 1]), np.array([0, 1, 2])))
    (0.3333333333333333, 0.0)
    """
    sums = errors_by_name(table)
    return float(sums.outside.sum() / sums.mentions.sum()), float(sums.foreign.sum() / sums.size.sum())


def measure(table: Contingency) -> Measures:
    """Compute all measures at once, over all mentions.

    >>> measure(contingency(np.array([0, 0]), np.array([3, 3]), np.array([1, 1]))).pairwise
    Scores(precision=1.0, recall=1.0)
    """
    scores = bcubed(table)
    return Measures(
        scores,
        pairwise(table),
        pairwise(table, with_self=True),
        cluster_level(table),
        k_metric(scores),
        *errors(table),
    )


def measure_over_names(table: Contingency) -> Measures:
    """Compute all measures for each name and average them, every name counting the same; F1 and K of the averages.

    >>> table = contingency(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 1]), np.array([0, 0, 1, 2]))
    >>> round(measure(table).splitting_error, 3), round(measure_over_names(table).splitting_error, 3)
    (0.25, 0.167)
    """
    scores = bcubed_by_name(table).mean()
    splitting, lumping = errors_by_name(table).by_name()
    return Measures(
        scores,
        pairwise_by_name(table).mean(),
        pairwise_by_name(table, with_self=True).mean(),
        cluster_level_by_name(table).mean(),
        k_metric(scores),
        float(splitting.mean()),
        float(lumping.mean()),
    )


def bcubed_across_names(authors: Codes, clusters: Codes) -> Scores:
    """B-cubed with authors and clusters taken whole over all names, so that what the blocking splits is missing.

    An author who publishes under two names and is found under each has a recall below 1.

    >>> bcubed_across_names(np.array([0, 0, 0, 0]), np.array([0, 0, 1, 1]))
    Scores(precision=1.0, recall=0.5)
    """
    return bcubed(contingency(np.zeros(len(authors), dtype=np.int64), authors, clusters))


def _main_clusters(table: Contingency) -> tuple[Counts, Counts]:
    """For each true author, how many mentions his main cluster holds of him, and its size.

    Most mentions first, then the smaller cluster: one number says both, so that a maximum finds it without sorting.
    Of clusters equal in both the first would count, but any gives the same sums.
    """
    base = int(table.cluster_size.max()) + 1
    rank = table.overlap * base + (base - 1 - table.cluster_size[table.overlap_cluster])
    first = np.searchsorted(table.overlap_author, np.arange(len(table.author_size)))
    best: Counts = np.maximum.reduceat(rank, first)
    return best // base, base - 1 - best % base


def correctly_clustered(name: Codes, author: Codes, cluster: Codes) -> NDArray[np.bool_]:
    """Whether each mention is by the person who has most of the mentions of its cluster; of equals, by the first.

    >>> correctly_clustered(np.zeros(5, int), np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1])).tolist()
    [True, True, False, True, True]
    """
    group = _numbered(name, cluster)
    pairs, pair, mentions = np.unique(_keys(group, author), return_inverse=True, return_counts=True)
    group_of_pair = np.empty(len(pairs), np.int64)
    group_of_pair[pair] = group
    order = np.lexsort((np.arange(len(pairs)), -mentions, group_of_pair))
    main = np.zeros(len(pairs), bool)
    main[order[np.diff(group_of_pair[order], prepend=-1) != 0]] = True
    right: NDArray[np.bool_] = main[pair]
    return right


def _numbered(first: Codes, second: Codes) -> Codes:
    """A number for each pair of codes."""
    return np.unique(_keys(first, second), return_inverse=True)[1]


def _keys(first: Codes, second: Codes) -> Codes:
    """One number for two; codes count from 0 and are fewer than 2³¹."""
    return first.astype(np.int64) << 31 | second.astype(np.int64)
