"""Margins of a giant block: each mention walks through the clusters of the answer, as these did through each other."""

from __future__ import annotations

import numpy as np

from homonym.clustering.kernel.compiling import compiled
from homonym.clustering.kernel.walking import add_mention, joint_chance, mark_rivals, take_most, weigh_row


@compiled
def _own_share(x, c, t, index):
    """S_t(x, C∖{x}) for `prob`: feature by feature without what x itself holds, so that nothing of it is left."""
    total = 0.0
    for k in range(index.begin[x, t], index.begin[x, t + 1]):
        f = index.feature[k]
        first, last = index.held[f], index.held[f + 1]
        at = first + np.searchsorted(index.holder[first:last], c)
        total += index.count[k] * index.inverse[f] * (index.held_count[at] - index.count[k])
    return total


@compiled
def _chances(n_x, n_d, size_d, expected, epsilon, joint):
    """What x would share with D by chance, and D with x."""
    if joint:
        return joint_chance(n_x, n_d, size_d, expected, epsilon), joint_chance(n_d, n_x, 1.0, expected, epsilon)
    of_x, of_d = 0.0, 0.0
    for t in range(expected.size):
        of_x += expected[t] * n_x[t]
        of_d += expected[t] * n_d[t]
    return of_x, of_d


@compiled
def _fit_rest(x, c, n_x, w_x, smooth_x, share, weight, below, N, clusters):
    """How well x fits to the rest of its own cluster c, with which it has the given shares."""
    types, size = weight.size, clusters.size[c] - 1.0
    pairs = 1.0 if clusters.use_max else size
    rest = np.empty(types)
    x_given_rest, rest_given_x, smooth = 0.0, 0.0, 0.0
    for t in range(types):
        rest[t] = clusters.n[c, t] - n_x[t]
        w = weight[t] / (below[t] if clusters.joint else rest[t] + size * clusters.epsilon)
        smooth += w
        x_given_rest += w * share[t]
        rest_given_x += w_x[t] * share[t]
    x_given_rest += pairs * smooth * clusters.epsilon / N
    rest_given_x += pairs * smooth_x
    if clusters.gamma > 0.0:
        of_x, of_rest = _chances(n_x, rest, size, clusters.expected, clusters.epsilon, clusters.joint)
        x_given_rest -= of_x
        rest_given_x -= of_rest
    return max(x_given_rest, rest_given_x)


@compiled
def _fit_best(c, n_x, smooth_x, clusters, steps):
    """How well a mention of cluster c fits to the best other cluster that c has no rival in."""
    best, pairs = -np.inf, 1.0
    of_x = 0.0
    for t in range(clusters.expected.size):
        of_x += clusters.expected[t] * n_x[t]
    for d in range(clusters.size.size):
        if d == c or steps.mark[d] == steps.token[0]:
            continue
        if not clusters.use_max:
            pairs = clusters.size[d]
        x_given_d = steps.row[d] + pairs * clusters.smooth[d]
        d_given_x = steps.column[d] + pairs * smooth_x
        if clusters.gamma > 0.0:
            of_d = clusters.chance[d]
            if clusters.joint:
                of_x, of_d = _chances(
                    n_x, clusters.n[d], clusters.size[d], clusters.expected, clusters.epsilon, True
                )  # fmt: skip
            x_given_d -= of_x
            d_given_x -= of_d
        best = max(best, max(x_given_d, d_given_x))
    return best


@compiled
def fit_rows(rows, n, weight, below, N, index, clusters, members, opponents, steps, own, other):
    """Fill the margins of the mentions of some clusters; items of the index are mentions.

    `below[t]` is what a joint probability is divided by.
    """
    K, types = clusters.size.size, weight.size
    w_x, share = np.empty(types), np.empty(types)
    for c in rows:
        mark_rivals(c, members, opponents, steps)
        x = members.first[c]
        while x >= 0:
            smooth_x = 0.0
            for t in range(types):
                w_x[t] = weight[t] / (below[t] if clusters.joint else n[x, t] + clusters.epsilon)
                smooth_x += w_x[t]
            smooth_x *= clusters.epsilon / N
            steps.row[:K] = 0.0
            steps.column[:K] = 0.0
            steps.most[:, :K] = 0.0
            for t in range(types):
                if clusters.use_max:
                    take_most(x, t, index, members.home, steps, steps.most)
                    share[t] = steps.most[t, c]
                else:
                    add_mention(x, t, w_x[t], index, clusters, steps)
                    share[t] = _own_share(x, c, t, index)
            if clusters.use_max:
                weigh_row(steps.most, w_x, clusters, steps)
            other[x] = _fit_best(c, n[x], smooth_x, clusters, steps)
            own[x] = np.nan
            if clusters.size[c] > 1.0:
                own[x] = _fit_rest(x, c, n[x], w_x, smooth_x, share, weight, below, N, clusters)
            x = members.following[x]
