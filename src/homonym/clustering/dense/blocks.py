"""Many blocks in one call: the rounds of each, at one limit or at all limits that lead to different outcomes."""

from __future__ import annotations

import numpy as np

from homonym.clustering.compiling import compiled, inlined
from homonym.clustering.dense.coupling import new_scratch, prepare
from homonym.clustering.dense.margins import fit_block, new_fits
from homonym.clustering.dense.merging import (
    find_rivals,
    forbid,
    join,
    join_allowed,
    join_groups,
    profiles_of,
    shrink,
    shrink_rivals,
)
from homonym.clustering.dense.scoring import exceeds, model_of, score_all
from homonym.clustering.reference import TIE


@inlined
def _rate(K, model, known, scratch):
    """Score all pairs of clusters; returns the best score of an allowed one, and the size of rounding errors."""
    best, rounding = score_all(
        K, scratch.S, scratch.n, scratch.size, model.weight, model.mass, model.expected, model.N, model.epsilon,
        model.gamma, model.use_max, model.joint, scratch.w, scratch.smooth, scratch.chance,
        scratch.scores, scratch.row_best, scratch.column_best,
    )  # fmt: skip
    if known is not None:
        best = forbid(K, scratch.rivals, scratch.scores, scratch.row_best, scratch.column_best)
    return best, rounding


@inlined
def _contract(K, m, use_max, known, scratch):
    """Make one cluster of those that were joined; returns how many are left."""
    left = shrink(K, scratch.S, scratch.n, scratch.size, use_max, scratch.parent, scratch.renumbered, scratch.members)
    if known is not None:
        shrink_rivals(K, scratch.rivals, scratch.parent, scratch.renumbered)
    for x in range(m):
        scratch.current[x] = scratch.renumbered[scratch.current[x]]
    return left


@compiled
def _merge(
    first, m, model, known, limit, hypothetical, scratch, label, merge_round, merge_left, merge_right, merge_score
):  # fmt: skip
    """Merge the mentions of one prepared block round by round; S and n are used up.

    Returns the rounds until convergence; whether a pair is left there that might be joined; and the highest score that
    was best of row and column until then but did not exceed the limit: for every limit between that score and this
    one, all is the same. Last, the largest size of rounding errors until then.
    """
    scores, row_best, column_best = scratch.scores, scratch.row_best, scratch.column_best
    for x in range(m):
        scratch.size[x] = 1.0
        scratch.members[x] = x
        scratch.current[x] = x
    K, done, step = m, 0, 0
    if known is not None:
        find_rivals(known.profile[first : first + m], known.cannot_link_start, known.cannot_link, scratch)
        done = join_groups(
            known.group[first : first + m], scratch.rivals, scratch.parent,
            merge_round, merge_left, merge_right, merge_score,
        )  # fmt: skip
        K = _contract(m, m, model.use_max, known, scratch)
    rounds, unfinished, refused, blurred = -1, False, -np.inf, 0.0
    while K > 1:
        best, rounding = _rate(K, model, known, scratch)
        threshold = limit
        if not exceeds(best, limit, rounding):
            if rounds < 0:
                rounds, unfinished = step, best > -np.inf
                refused, blurred = max(refused, best), max(blurred, rounding)
                label[:] = scratch.current[:m]
            if not hypothetical or best == -np.inf:
                break
            threshold = -np.inf
        step += 1
        before = done
        if known is not None:
            done, below = join_allowed(
                K, scores, row_best, column_best, threshold, rounding, scratch.rivals, scratch.parent,
                scratch.members, done, merge_left, merge_right, merge_score,
            )  # fmt: skip
        else:
            done, below = join(
                K, scores, row_best, column_best, threshold, rounding, scratch.parent,
                scratch.members, done, merge_left, merge_right, merge_score,
            )  # fmt: skip
        if rounds < 0:
            refused, blurred = max(refused, below), max(blurred, rounding)
        merge_round[before:done] = step
        K = _contract(K, m, model.use_max, known, scratch)
    if rounds < 0:
        rounds = step
        label[:] = scratch.current[:m]
    return rounds, unfinished, refused, blurred


@inlined
def _merge_block(
    first, m, model, known, constrained, limit, hypothetical, scratch,
    label, merge_round, merge_left, merge_right, merge_score,
):  # fmt: skip
    """`_merge` with constraints or without."""
    if constrained:
        done = _merge(
            first, m, model, known, limit, hypothetical, scratch,
            label, merge_round, merge_left, merge_right, merge_score,
        )  # fmt: skip
    else:
        done = _merge(
            first, m, model, None, limit, hypothetical, scratch,
            label, merge_round, merge_left, merge_right, merge_score,
        )  # fmt: skip
    return done


@compiled
def cluster_blocks(
    block_start, bag_start, feature, count, type_start, total, mass, weight, mentions_in_collection,
    epsilon, gamma, use_max, joint, within, known, chosen, limit, hypothetical,
    label, rounds, merge_round, merge_left, merge_right, merge_score, own, other,
):  # fmt: skip
    """Cluster the chosen blocks.

    Compiled twice: where `known` is None, nothing of constraints is left in it.

    In: mentions `block_start[b]` to `block_start[b+1]` form block b, which has its own `limit[b]`; mention x has the
    features `feature[bag_start[x]:bag_start[x+1]]` with their counts, in any order; features `type_start[t]` to
    `type_start[t+1]` are of type t.

    Out: `label[x]`, the cluster of a mention inside its block at convergence, numbered by smallest member; `rounds[b]`
    before convergence; and the merges of block b, in order, from `block_start[b]` on: the round (from 1; −1 for
    groups), the smallest mentions of both clusters and the score, `merge_round` 0 where there is none. With
    `hypothetical` the process goes on until no pair is left that may be joined. Where there is room for them, the
    margins of each mention: `own[x]` and `other[x]`. S, which is used up when labels are found, is kept for these.
    """
    scratch = new_scratch(block_start, bag_start, chosen, weight.size, profiles_of(known))
    block_mass, expected = mass.copy(), np.zeros(weight.size)
    margins = own.size > 0
    fits = new_fits(scratch.size.size if margins else 0, weight.size)
    whole_S, whole_n = np.empty_like(scratch.S[: len(scratch.S) if margins else 0]), np.empty_like(scratch.n)
    for b in chosen:
        first, last = block_start[b], block_start[b + 1]
        m = last - first
        pairs = m * (m - 1) // 2
        prepare(first, last, bag_start, feature, count, type_start, total, within, scratch)
        if margins:
            whole_S[:pairs] = scratch.S[:pairs]
            whole_n[:m] = scratch.n[:m]
        model = model_of(
            m, scratch.n, weight, mentions_in_collection, epsilon, gamma, use_max, joint, within, block_mass, expected
        )
        rounds[b], _, _, _ = _merge(
            first, m, model, known, limit[b], hypothetical, scratch, label[first:last],
            merge_round[first:last], merge_left[first:last], merge_right[first:last], merge_score[first:last],
        )  # fmt: skip
        if margins:
            scratch.S[:pairs] = whole_S[:pairs]
            scratch.n[:m] = whole_n[:m]
            fit_block(
                first, m, label[first:last], model, known, scratch, fits, own[first:last], other[first:last]
            )  # fmt: skip


@compiled
def sweep_blocks(
    block_start, bag_start, feature, count, type_start, total, mass, weight, mentions_in_collection,
    epsilon, gamma, use_max, joint, within, known, constrained, ratio, steps,
):  # fmt: skip
    """Cluster every block at all limits that lead to different outcomes, from the highest down.

    The next limit lies just below the highest score that was refused, but at least `ratio` times below the last one, so
    that a large block does not take a run for each of its thousands of outcomes. Ends where no pair is left that may be
    joined, or at 0. Constraints are `known` of the blocks that are `constrained`.

    Out: `steps[b]` the number of outcomes of block b; the lowest limit of each outcome; and its labels, one outcome
    after the other.
    """
    scratch = new_scratch(block_start, bag_start, np.arange(constrained.size), weight.size, profiles_of(known))
    largest = scratch.size.size
    block_mass, expected = mass.copy(), np.zeros(weight.size)
    whole_S, whole_n = np.empty_like(scratch.S), np.empty_like(scratch.n)
    merge_round, merge_left, merge_right = (
        np.empty(largest, np.int32),
        np.empty(largest, np.int32),
        np.empty(largest, np.int32),
    )
    merge_score = np.empty(largest, np.float64)
    lowest, outcomes = np.empty(4 * block_start.size, np.float64), 0
    label, labelled = np.empty(4 * block_start[-1] + 1, np.int32), 0
    for b in range(block_start.size - 1):
        first, last = block_start[b], block_start[b + 1]
        m = last - first
        pairs = m * (m - 1) // 2
        prepare(first, last, bag_start, feature, count, type_start, total, within, scratch)
        whole_S[:pairs] = scratch.S[:pairs]
        whole_n[:m] = scratch.n[:m]
        model = model_of(
            m, scratch.n, weight, mentions_in_collection, epsilon, gamma, use_max, joint, within, block_mass, expected
        )
        limit, last_one, steps[b] = np.inf, False, 0
        while not last_one:
            scratch.S[:pairs] = whole_S[:pairs]
            scratch.n[:m] = whole_n[:m]
            if outcomes == lowest.size:
                lowest = np.append(lowest, np.empty_like(lowest))
            while labelled + m > label.size:
                label = np.append(label, np.empty_like(label))
            _, unfinished, refused, rounding = _merge_block(
                first, m, model, known, constrained[b], limit, False, scratch,
                label[labelled : labelled + m], merge_round, merge_left, merge_right, merge_score,
            )  # fmt: skip
            last_one = not unfinished or limit == 0.0 or refused <= 0.0
            lowest[outcomes] = -np.inf if last_one else refused
            outcomes, labelled, steps[b] = outcomes + 1, labelled + m, steps[b] + 1
            limit = max(0.0, min(refused * (1 - 4 * TIE) - 4 * rounding, limit / ratio))
    return lowest[:outcomes], label[:labelled]


@compiled
def couple_block(bag_start, feature, count, type_start, total):
    """S(x,y) of each ordered pair and feature type of one block, 0 for x = y; and n(x)."""
    m, types = bag_start.size - 1, type_start.size - 1
    scratch = new_scratch(np.array([0, m]), bag_start, np.array([0]), types, 0)
    prepare(0, m, bag_start, feature, count, type_start, total, False, scratch)
    S = np.zeros((m, m, types))
    for i in range(1, m):
        for j in range(i):
            S[i, j] = scratch.S[i * (i - 1) // 2 + j]
            S[j, i] = S[i, j]
    return S, scratch.n
