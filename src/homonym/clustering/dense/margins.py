"""How well each mention fits into its own cluster, and how well into the best other one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.compiling import compiled, inlined
from homonym.clustering.dense.merging import find_rivals, place_of, shrink_rivals, take_rivals
from homonym.clustering.dense.scoring import chance_of, weigh

#: Margins are found for so many mentions of a block at a time.
STRIP = 16


@compiled
def _sum_clusters(K, label, n, n_of, size_of, last_of):
    """Fill n(C), |C| and the last mention of each cluster."""
    n_of[:K] = 0.0
    size_of[:K] = 0.0
    for x in range(label.size):
        size_of[label[x]] += 1.0
        last_of[label[x]] = x
        for t in range(n.shape[1]):
            n_of[label[x], t] += n[x, t]


@compiled
def _cluster_rivals(label, known, first, scratch):
    """Fill the triangle of rivals for the clusters of an answer."""
    last = first + label.size
    find_rivals(known.profile[first:last], known.cannot_link_start, known.cannot_link, scratch)
    smallest, K = scratch.members, 0
    for x in range(label.size):
        if label[x] == K:
            smallest[K] = x
            K += 1
        scratch.renumbered[x] = label[x]
        scratch.parent[x] = smallest[label[x]]
        if scratch.parent[x] != x:
            take_rivals(label.size, scratch.parent[x], x, scratch.rivals)
    shrink_rivals(label.size, scratch.rivals, scratch.parent, scratch.renumbered)


@compiled
def _share(start, end, K, label, S, use_max, shared):
    """Fill S(x,D) for each cluster D and each mention x of a strip; x itself is left out."""
    types = S.shape[1]
    for d in range(K):
        for i in range(end - start):
            for t in range(types):
                shared[d, i, t] = 0.0
    for y in range(label.size):
        d = label[y]
        for x in range(start, end):
            if x == y:
                continue
            at = x * (x - 1) // 2 + y if y < x else y * (y - 1) // 2 + x
            if use_max:
                for t in range(types):
                    shared[d, x - start, t] = max(shared[d, x - start, t], S[at, t])
            else:
                for t in range(types):
                    shared[d, x - start, t] += S[at, t]


@inlined
def _fit(
    x, d, i, shared_d, shared, n, size, w, smooth, n_of, size_of, w_of, smooth_of,
    expected, epsilon, gamma, use_max, joint,
):  # fmt: skip
    """The higher one of score({x},D) and score(D,{x}), where S(x,D) stands at `shared[shared_d, i]`."""
    pairs = 1.0 if use_max else size_of[d]
    x_given_d, d_given_x = pairs * smooth_of[d], pairs * smooth[x]
    for t in range(w.shape[1]):
        x_given_d += w_of[d, t] * shared[shared_d, i, t]
        d_given_x += w[x, t] * shared[shared_d, i, t]
    if gamma > 0.0:
        x_given_d -= chance_of(x, n, d, n_of, size_of, expected, epsilon, joint)
        d_given_x -= chance_of(d, n_of, x, n, size, expected, epsilon, joint)
    return max(x_given_d, d_given_x)


@compiled
def _fit_others(
    start, end, K, label, constrained, rivals, shared, n, size, w, smooth, n_of, size_of, w_of, smooth_of, last_of,
    expected, epsilon, gamma, use_max, joint, other,
):  # fmt: skip
    """Find how well each mention of a strip fits to the best other cluster; two that are alone fit each other."""
    for d in range(K):
        for x in range(start, end):
            C = label[x]
            both_alone = size_of[C] == 1.0 and size_of[d] == 1.0
            if d == C or (both_alone and d < C) or (constrained and rivals[place_of(C, d)]):
                continue
            fit = _fit(
                x, d, x - start, d, shared, n, size, w, smooth, n_of, size_of, w_of, smooth_of,
                expected, epsilon, gamma, use_max, joint,
            )  # fmt: skip
            other[x] = max(other[x], fit)
            if both_alone:
                other[last_of[d]] = max(other[last_of[d]], fit)


@compiled
def _fit_own(
    start, end, K, label, shared, n, size, w, smooth, n_of, size_of, w_of, smooth_of,
    weight, mass, expected, N, epsilon, gamma, use_max, joint, own,
):  # fmt: skip
    """Fill how well each mention of a strip fits to the rest of its own cluster, which is put at the place K."""
    for x in range(start, end):
        C = label[x]
        own[x] = np.nan
        if size_of[C] == 1.0:
            continue
        size_of[K] = size_of[C] - 1.0
        for t in range(weight.size):
            n_of[K, t] = n_of[C, t] - n[x, t]
        weigh(K, K + 1, n_of, size_of, weight, mass, N, epsilon, joint, w_of, smooth_of)
        own[x] = _fit(
            x, K, x - start, C, shared, n, size, w, smooth, n_of, size_of, w_of, smooth_of,
            expected, epsilon, gamma, use_max, joint,
        )  # fmt: skip


class Fits(NamedTuple):
    """Arrays for the clusters of an answer, and one place more; with what a strip of mentions shares with each."""

    n: Any
    size: Any
    w: Any
    smooth: Any
    last: Any
    shared: Any


@compiled
def new_fits(largest, types):
    """Allocate what the margins of blocks up to a size need."""
    places = largest + 1
    return Fits(
        n=np.empty((places, types)),
        size=np.empty(places),
        w=np.empty((places, types)),
        smooth=np.empty(places),
        last=np.empty(places, np.int64),
        shared=np.empty((places, STRIP, types)),
    )


@compiled
def fit_block(first, m, labels, model, known, scratch, fits, own, other):
    """Fill the margins of the mentions of one prepared block, given their labels.

    Mentions are taken in strips, because S of one mention is spread over all of the triangle.
    """
    n, size, w, smooth = scratch.n, scratch.size, scratch.w, scratch.smooth
    weight, mass, expected, N, epsilon = model.weight, model.mass, model.expected, model.N, model.epsilon
    gamma, use_max, joint = model.gamma, model.use_max, model.joint
    if known is not None:
        _cluster_rivals(labels, known, first, scratch)
    K = labels.max() + 1
    size[:m] = 1.0
    _sum_clusters(K, labels, n, fits.n, fits.size, fits.last)
    weigh(0, m, n, size, weight, mass, N, epsilon, joint, w, smooth)
    weigh(0, K, fits.n, fits.size, weight, mass, N, epsilon, joint, fits.w, fits.smooth)
    other[:] = -np.inf
    for start in range(0, m, STRIP):
        end = min(start + STRIP, m)
        _share(start, end, K, labels, scratch.S, use_max, fits.shared)
        _fit_others(
            start, end, K, labels, known is not None, scratch.rivals, fits.shared, n, size, w, smooth,
            fits.n, fits.size, fits.w, fits.smooth, fits.last, expected, epsilon, gamma, use_max, joint, other,
        )  # fmt: skip
        _fit_own(
            start, end, K, labels, fits.shared, n, size, w, smooth, fits.n, fits.size, fits.w, fits.smooth,
            weight, mass, expected, N, epsilon, gamma, use_max, joint, own,
        )  # fmt: skip
