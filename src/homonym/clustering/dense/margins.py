"""Margins: how well each mention fits its own cluster, and how well the best other one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.compiling import compiled, inlined, internal
from homonym.clustering.dense.merging import fill_cannot_links, inherit_cannot_links
from homonym.clustering.dense.scoring import (
    chance_of,
    combined_name,
    copy_rows,
    fill_weights,
    name_factor,
    new_sums,
    triangle_index,
)

#: Number of mentions whose margins are computed at a time.
STRIP = 16


class Fits(NamedTuple):
    """The final clusters of a block, with one position to spare, and what they share with a strip of mentions.

    `first[D]` and `last[D]` are the first and last mention of a cluster, `shared[D, i]` is S(x,D) of mention i of the
    strip. `name[D]` is the full name of a cluster, as in `Names`, and `holders[D]` the number of its mentions with one.
    """

    clusters: Any
    first: Any
    last: Any
    shared: Any
    name: Any
    holders: Any


def new_fits(largest: int, types: int) -> Fits:
    """Allocate what the margins of blocks of up to `largest` mentions need."""
    places = largest + 1
    return Fits(
        clusters=new_sums(places, types),
        first=np.empty(places, np.int64),
        last=np.empty(places, np.int64),
        shared=np.empty((places, STRIP, types)),
        name=np.empty(places, np.int32),
        holders=np.empty(places, np.int32),
    )


@internal
def _sum_clusters(K, label, n, fits):
    """Fill n(C), |C| and the first and last mention of each cluster."""
    clusters = fits.clusters
    clusters.n[:K] = 0.0
    clusters.size[:K] = 0.0
    for x in range(label.size):
        if clusters.size[label[x]] == 0.0:
            fits.first[label[x]] = x
        clusters.size[label[x]] += 1.0
        fits.last[label[x]] = x
        for t in range(n.shape[1]):
            clusters.n[label[x], t] += n[x, t]


@internal
def _name_clusters(K, label, name, fits):
    """Fill the names of the clusters from those of their mentions."""
    name_of, holders = fits.name, fits.holders
    name_of[:K] = -1
    holders[:K] = 0
    for x in range(name.size):
        name_of[label[x]] = combined_name(name_of[label[x]], name[x])
        holders[label[x]] += name[x] >= 0


@internal
def _link_clusters(begin, label, constraints, links, first):
    """Fill the cannot-links between the final clusters, at the positions of their first mentions."""
    fill_cannot_links(constraints.profile[begin : begin + label.size], constraints, links)
    mentions = np.empty(label.size, np.int64)
    for x in range(label.size):
        mentions[x] = x
    for x in range(label.size):
        if first[label[x]] != x:
            inherit_cannot_links(mentions, first[label[x]], x, links.pair)


@compiled
def fill_shared(start, K, label, S, use_max, shared):
    """Fill S(x, D∖{x}) for each cluster D and each mention x of a strip."""
    types, end = S.shape[1], min(start + STRIP, label.size)
    for d in range(K):
        for i in range(end - start):
            for t in range(types):
                shared[d, i, t] = 0.0
    for y in range(label.size):
        D = np.uint32(label[y])
        for i in range(end - start):
            x = start + i
            if x == y:
                continue
            at = np.uint64(x * (x - 1) // 2 + y if y < x else y * (y - 1) // 2 + x)
            if use_max:
                for t in range(types):
                    shared[D, i, t] = max(shared[D, i, t], S[at, t])
            else:
                for t in range(types):
                    shared[D, i, t] += S[at, t]


@compiled
def fit_strip(start, K, label, pair, prior, mentions, fits, model, margins):
    """Fill the margins of a strip of mentions: the higher one of score({x},D) and score(D,{x}) for all clusters D.

    The fit of two singletons is mutual, so it is computed once. For the mention's own cluster, D is the rest of the
    cluster, whose sums are put at position K. `pair` is empty if there are no cannot-links, `prior` if there are no
    names.
    """
    # Outside of the loops, because each access to an array of a tuple counts references, which tripled the time.
    n, size, w, smooth = mentions.n, mentions.size, mentions.w, mentions.smooth
    n_of, size_of, w_of, smooth_of = fits.clusters.n, fits.clusters.size, fits.clusters.w, fits.clusters.smooth
    chance, chance_of_cluster = mentions.chance, fits.clusters.chance
    first, last, shared, own, other = fits.first, fits.last, fits.shared, margins.own, margins.other
    expected, epsilon, joint, types = model.expected, model.epsilon, model.joint, model.weight.size
    name, factor, name_of, holders = prior.name, prior.factor, fits.name, fits.holders
    constrained, named = pair.size > 0, name.size > 0
    for d in range(K):
        for x in range(start, min(start + STRIP, label.size)):
            C, i, at = label[x], x - start, d
            singletons = size_of[C] == 1.0 and size_of[d] == 1.0
            if d == C:
                own[x] = np.nan
                if singletons:
                    continue
                at = K
                size_of[K] = size_of[C] - 1.0
                for t in range(types):
                    n_of[K, t] = n_of[C, t] - n[x, t]
                fill_weights(K, K + 1, fits.clusters, model)
            elif (singletons and d < C) or (constrained and pair[triangle_index(first[C], first[d])]):
                continue
            pairs = 1.0 if model.use_max else size_of[at]
            x_given_d, d_given_x = pairs * smooth_of[at], pairs * smooth[x]
            for t in range(types):
                x_given_d += w_of[at, t] * shared[d, i, t]
                d_given_x += w[x, t] * shared[d, i, t]
            if joint and model.gamma > 0.0:
                x_given_d -= chance_of(x, n, at, n_of, size_of, expected, epsilon, joint)
                d_given_x -= chance_of(at, n_of, x, n, size, expected, epsilon, joint)
            elif model.gamma > 0.0:
                x_given_d -= chance[x]
                d_given_x -= chance_of_cluster[at]
            fit = max(x_given_d, d_given_x)
            if named and (d != C or holders[d] > 1):
                fit *= name_factor(name[x], name_of[d], factor[x])
            if d == C:
                own[x] = fit
                continue
            other[x] = max(other[x], fit)
            if singletons:
                other[last[d]] = max(other[last[d]], fit)


@internal
def _number_of_clusters(label):
    highest = label[0]
    for number in label:
        highest = max(highest, number)
    return highest + 1


@inlined
def fit_block(begin, label, constraints, constrained, prior, model, scratch, margins):
    """Fill the margins of the mentions of one block, given S, n, their labels and names (`prior`, empty for none).

    Mentions are taken in strips, because S of one mention is spread over all of the triangle.
    """
    m, mentions, fits = label.size, scratch.sums, scratch.fits
    K = _number_of_clusters(label)
    copy_rows(m, scratch.mentions.n, mentions.n)
    mentions.size[:m] = 1.0
    _sum_clusters(K, label, mentions.n, fits)
    if constrained:
        _link_clusters(begin, label, constraints, scratch.links, fits.first)
    if prior.name.size > 0:
        _name_clusters(K, label, prior.name, fits)
    fill_weights(0, m, mentions, model)
    fill_weights(0, K, fits.clusters, model)
    margins.other[:] = -np.inf
    pair = scratch.links.pair[: scratch.links.pair.size if constrained else 0]
    for start in range(0, m, STRIP):
        fill_shared(start, K, label, scratch.mentions.S, model.use_max, fits.shared)
        fit_strip(start, K, label, pair, prior, mentions, fits, model, margins)
