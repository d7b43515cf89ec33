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

import numpy as np
from numpy.typing import NDArray

from homonym.measures.contingency import Codes, Contingency, Counts, Values, contingency, sum_by
from homonym.measures.scores import KMetric, Measures, NameErrors, NameSums, Scores


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


def _keys(first: Codes, second: Codes) -> Codes:
    """One number for two codes, which must be below 2³¹."""
    return first.astype(np.int64) << 31 | second.astype(np.int64)
