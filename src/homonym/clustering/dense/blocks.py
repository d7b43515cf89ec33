"""The compiled functions that Python calls: each works on many blocks, or mentions, in one call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.arrays import Margins, Merges
from homonym.clustering.compiling import compiled, inlined
from homonym.clustering.dense.margins import fit_block, new_fits
from homonym.clustering.dense.merging import (
    CannotLinks,
    Partition,
    exclude_cannot_links,
    fill_cannot_links,
    join_allowed_pairs,
    join_best_pairs,
    join_must_links,
    profiles_of,
    shrink,
    shrink_cannot_links,
    shrink_names,
)
from homonym.clustering.dense.scoring import (
    Names,
    PairScores,
    Sums,
    adjust_scores,
    block_model,
    exceeds,
    fill_cooccurrence,
    new_feature_scratch,
    score_all,
)
from homonym.clustering.reference import TIE
from homonym.settings import KEY_SHARE


class Scratch(NamedTuple):
    """Arrays that the blocks of one call share, each as large as the largest block needs.

    Grouped by use: a function gets the groups it works on, because passing all of them costs as much as the work on a
    small block. `level` are the chance levels of all mentions of the call, or empty.
    """

    features: Any
    S: Any
    sums: Any
    scores: Any
    partition: Any
    links: Any
    names: Any
    level: Any


@compiled
def _new_scratch(inputs, chosen, types, profiles):
    """Allocate the arrays that the chosen blocks share; those for cannot-links only if there are profiles."""
    largest, longest = 1, 1
    for b in chosen:
        first, last = inputs.block_start[b], inputs.block_start[b + 1]
        largest = max(largest, last - first)
        longest = max(longest, inputs.bag_start[last] - inputs.bag_start[first])
    triangle = largest * (largest - 1) // 2
    return Scratch(
        features=new_feature_scratch(longest),
        S=np.empty((triangle + 1, types)),
        sums=Sums(
            np.empty((largest, types)), np.empty(largest), np.empty((largest, types)),
            np.empty(largest), np.zeros(largest),
        ),
        scores=PairScores(np.empty((largest, largest)), np.empty(largest), np.empty(largest), np.empty(largest)),
        partition=Partition(
            np.empty(largest, np.int64), np.empty(largest, np.int64),
            np.empty(largest, np.int64), np.empty(largest, np.int64),
        ),
        links=CannotLinks(
            np.empty(triangle if profiles > 0 else 0, np.uint8),
            np.full(profiles, -1, np.int64),
            np.empty(largest, np.int64),
        ),
        names=Names(np.empty(largest, np.int32), np.empty(largest)),
        level=inputs.level,
    )  # fmt: skip


@compiled
def _fill_names(first, last, inputs, names):
    """Fill the names of the mentions of a block; returns whether two share one, so that it can change a score."""
    if inputs.name.size == 0:
        return False
    name, factor, named = names.name, names.factor, False
    for x in range(last - first):
        name[x] = inputs.name[first + x]
        factor[x] = inputs.factor[first + x]
        for y in range(0 if named or name[x] < 0 or factor[x] == 1.0 else x):
            named |= name[x] == name[y]
    return named


@inlined
def _score(K, model, constraints, named, scratch):
    """Score all pairs of clusters; returns the best score of an allowed pair, and the size of rounding errors."""
    best, rounding = score_all(K, scratch.S, scratch.sums, model, scratch.scores)
    if named or model.chance_limit > 0.0:
        best, rounding = adjust_scores(K, scratch.sums, model, scratch.names, named, rounding, scratch.scores)
    if constraints is not None:
        best = exclude_cannot_links(K, scratch.links.pair, scratch.scores)
    return best, rounding


@inlined
def _contract(K, m, use_max, constraints, named, scratch):
    """Replace joined clusters by one cluster each; returns the number of clusters left."""
    left = shrink(K, scratch.S, scratch.sums, use_max, scratch.partition)
    if named:
        shrink_names(K, scratch.names, scratch.partition)
    if constraints is not None:
        shrink_cannot_links(K, scratch.links.pair, scratch.partition)
    for x in range(m):
        scratch.partition.current[x] = scratch.partition.renumbered[scratch.partition.current[x]]
    return left


@compiled
def _merge(first, model, constraints, named, limit, hypothetical, scratch, label, merges):
    """Merge the mentions of one block round by round, given S, n and, if `named`, names, which are overwritten.

    Returns the number of rounds until convergence; whether a pair that may be joined is left then; the highest score
    until then that was best of row and column but did not exceed the limit (every limit between that score and this
    limit gives the same result); and the largest size of rounding errors until then.
    """
    m = label.size
    for x in range(m):
        scratch.sums.size[x] = 1.0
        scratch.partition.smallest[x] = x
        scratch.partition.current[x] = x
    if model.chance_limit > 0.0:
        scratch.sums.level[:m] = scratch.level[first : first + m]
    K, done, step = m, 0, 0
    if constraints is not None:
        fill_cannot_links(constraints.profile[first : first + m], constraints, scratch.links)
        group = constraints.group[first : first + m]
        done = join_must_links(group, scratch.links.pair, scratch.partition.parent, merges)
        K = _contract(m, m, model.use_max, constraints, named, scratch)
    rounds, unfinished, refused, blurred = -1, False, -np.inf, 0.0
    while K > 1:
        best, rounding = _score(K, model, constraints, named, scratch)
        threshold = limit
        if not exceeds(best, limit, rounding):
            if rounds < 0:
                rounds, unfinished = step, best > -np.inf
                refused, blurred = max(refused, best), max(blurred, rounding)
                label[:] = scratch.partition.current[:m]
            if not hypothetical or best == -np.inf:
                break
            threshold = -np.inf
        step += 1
        before = done
        if constraints is not None:
            done, below = join_allowed_pairs(
                K, scratch.scores, threshold, rounding, scratch.partition, scratch.links.pair, merges, done
            )  # fmt: skip
        else:
            done, below = join_best_pairs(K, scratch.scores, threshold, rounding, scratch.partition, merges, done)
        if rounds < 0:
            refused, blurred = max(refused, below), max(blurred, rounding)
        merges.round[before:done] = step
        K = _contract(K, m, model.use_max, constraints, named, scratch)
    if rounds < 0:
        rounds = step
        label[:] = scratch.partition.current[:m]
    return rounds, unfinished, refused, blurred


@compiled
def cluster_blocks(inputs, model, constraints, chosen, limit, hypothetical, output):
    """Cluster the chosen blocks, block b with `limit[b]`.

    Fills `output` for these blocks as `Clustering` describes it; merges of block b begin at `block_start[b]`. With
    `hypothetical`, merging continues after convergence until no pair is left that may be joined. Margins are filled if
    their arrays are not empty; they need S, which merging overwrites, so a copy is kept.
    """
    types = model.weight.size
    scratch = _new_scratch(inputs, chosen, types, profiles_of(constraints))
    S, n, label, merges = scratch.S, scratch.sums.n, output.label, output.merges
    with_margins = output.margins.own.size > 0
    fits = new_fits(n.shape[0] if with_margins else 0, types)
    whole_S, whole_n = np.empty_like(S[: len(S) if with_margins else 0]), np.empty_like(n)
    for b in chosen:
        first, last = inputs.block_start[b], inputs.block_start[b + 1]
        m = last - first
        pairs = m * (m - 1) // 2
        fill_cooccurrence(first, last, inputs, model.within, scratch.features, S, n)
        if with_margins:
            whole_S[:pairs] = S[:pairs]
            whole_n[:m] = n[:m]
        here = block_model(m, n, model)
        named = _fill_names(first, last, inputs, scratch.names)
        own_merges = Merges(
            merges.round[first:last], merges.left[first:last], merges.right[first:last], merges.score[first:last]
        )  # fmt: skip
        output.rounds[b], _, _, _ = _merge(
            first, here, constraints, named, limit[b], hypothetical, scratch, label[first:last], own_merges
        )  # fmt: skip
        if with_margins:
            S[:pairs] = whole_S[:pairs]
            n[:m] = whole_n[:m]
            margins = Margins(output.margins.own[first:last], output.margins.other[first:last])
            prior = Names(inputs.name[first:last], inputs.factor[first:last])
            fit_block(first, label[first:last], constraints, prior, here, scratch, fits, margins)


@compiled
def sweep_blocks(inputs, model, constraints, highest, ratio, steps):
    """Cluster every block at all limits that lead to different outcomes, from `highest[b]` down.

    The next limit is just below the highest refused score, but at least `ratio` times lower than the last limit, so
    that a large block does not need one run for each of its thousands of outcomes. The sweep of a block ends when no
    pair is left that may be joined, or at 0.

    Fills `steps[b]`, the number of outcomes of block b; returns the lowest limit of each outcome, and the labels of all
    outcomes, concatenated.
    """
    block_start = inputs.block_start
    scratch = _new_scratch(inputs, np.arange(steps.size), model.weight.size, profiles_of(constraints))
    S, n = scratch.S, scratch.sums.n
    largest = n.shape[0]
    whole_S, whole_n = np.empty_like(S), np.empty_like(n)
    merges = Merges(
        np.empty(largest, np.int32), np.empty(largest, np.int32), np.empty(largest, np.int32), np.empty(largest)
    )  # fmt: skip
    lowest, outcomes = np.empty(4 * block_start.size, np.float64), 0
    label, labelled = np.empty(4 * block_start[-1] + 1, np.int32), 0
    for b in range(block_start.size - 1):
        first, last = block_start[b], block_start[b + 1]
        m = last - first
        pairs = m * (m - 1) // 2
        fill_cooccurrence(first, last, inputs, model.within, scratch.features, S, n)
        whole_S[:pairs] = S[:pairs]
        whole_n[:m] = n[:m]
        here = block_model(m, n, model)
        limit, last_one, steps[b] = highest[b], False, 0
        while not last_one:
            S[:pairs] = whole_S[:pairs]
            n[:m] = whole_n[:m]
            named = _fill_names(first, last, inputs, scratch.names)
            if outcomes == lowest.size:
                lowest = np.append(lowest, np.empty_like(lowest))
            while labelled + m > label.size:
                label = np.append(label, np.empty_like(label))
            own_label = label[labelled : labelled + m]
            hypothetical = limit < 0.0  # never; but numba compiles `_merge` again for the constant False
            _, unfinished, refused, rounding = _merge(
                first, here, constraints, named, limit, hypothetical, scratch, own_label, merges
            )  # fmt: skip
            last_one = not unfinished or limit == 0.0 or refused <= 0.0
            lowest[outcomes] = -np.inf if last_one else refused
            outcomes, labelled, steps[b] = outcomes + 1, labelled + m, steps[b] + 1
            limit = max(0.0, min(refused * (1 - 4 * TIE) - 4 * rounding, limit / ratio))
    return lowest[:outcomes], label[:labelled]


@compiled
def block_pair_scores(inputs, block, within):
    """S(x,y) of each ordered pair and feature type of one block, 0 for x = y; and n(x)."""
    first, last = inputs.block_start[block], inputs.block_start[block + 1]
    m, types = last - first, inputs.type_start.size - 1
    scratch = new_feature_scratch(max(1, inputs.bag_start[last] - inputs.bag_start[first]))
    triangle, n = np.empty((m * (m - 1) // 2 + 1, types)), np.empty((m, types))
    fill_cooccurrence(first, last, inputs, within, scratch, triangle, n)
    S = np.zeros((m, m, types))
    for i in range(1, m):
        for j in range(i):
            S[i, j] = triangle[i * (i - 1) // 2 + j]
            S[j, i] = S[i, j]
    return S, n


class StoredBags(NamedTuple):
    """Where the bags of some mentions are stored: ranges of occurrences of the document and of the mention itself.

    `own_name` and `own_full_name` are the features of the mention's own name among the authors of its document, or −1.
    """

    document_start: Any
    document_end: Any
    own_start: Any
    own_end: Any
    own_name: Any
    own_full_name: Any


@compiled
def gather_bags(stored, feature, count, type_start, type_kept):
    """Copy the bags of some mentions into new arrays: `bag_start`, `feature` and `count` of `Bags`.

    A mention's bag is its document's bag plus its own. The document's bag has all authors of the document as
    co-authors, so one occurrence of `own_name` is removed, or the shares of `own_name` and `own_full_name`. Types that
    are not `type_kept` are left out.
    """
    mentions = stored.own_name.size
    room = (stored.document_end - stored.document_start).sum() + (stored.own_end - stored.own_start).sum()
    bag_start, end = np.empty(mentions + 1, np.int64), 0
    out_feature, out_count = np.empty(room, np.int32), np.empty(room, np.float64)
    for x in range(mentions):
        bag_start[x] = end
        full = stored.own_full_name[x]
        key_share = KEY_SHARE if full >= 0 else 1.0
        for part in range(2):
            first = stored.document_start[x] if part == 0 else stored.own_start[x]
            last = stored.document_end[x] if part == 0 else stored.own_end[x]
            t = 0
            for k in range(first, last):
                f = feature[k]
                while f >= type_start[t + 1]:
                    t += 1
                c = count[k]
                if part == 0 and f == stored.own_name[x]:
                    c -= key_share
                elif part == 0 and f == full:
                    c -= 1.0 - KEY_SHARE
                if c > 0.0 and type_kept[t]:
                    out_feature[end] = f
                    out_count[end] = c
                    end += 1
    bag_start[mentions] = end
    return bag_start, out_feature[:end], out_count[:end]
