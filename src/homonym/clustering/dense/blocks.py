"""The compiled functions that Python calls: each works on many blocks, or mentions, in one call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import Floats, Integers, KernelInput, KernelOutput, Margins, Merges, Model, ReusedMemory
from homonym.clustering.compiling import compiled, inlined, internal
from homonym.clustering.dense.cooccurrence import (
    Cooccurrence,
    fill_chance_levels,
    fill_cooccurrence,
    new_cooccurrence,
    new_feature_scratch,
)
from homonym.clustering.dense.margins import fill_shared, fit_block, fit_strip, new_fits
from homonym.clustering.dense.merging import (
    CannotLinks,
    Partition,
    contract,
    enlarged,
    fill_cannot_links,
    join_best_pairs,
    join_must_links,
    number_clusters,
)
from homonym.clustering.dense.scoring import (
    Names,
    block_model,
    copy_rows,
    exceeds,
    new_scores,
    new_sums,
    score_changed,
    score_clusters,
)
from homonym.clustering.reference import TIE
from homonym.settings import KEY_SHARE


class Scratch(NamedTuple):
    """Arrays that the blocks of one call share, each as large as the largest block needs.

    Grouped by use: a function gets the groups it works on, because passing all of them costs as much as the work on a
    small block. `mentions` and `level` are not changed by merging; `S` and `sums` are those of the clusters. Only if
    `copied`, S of the mentions is in other memory than that of the clusters, and remains after merging.
    """

    features: Any
    mentions: Any
    S: Any
    sums: Any
    scores: Any
    partition: Any
    links: Any
    names: Any
    level: Any
    fits: Any
    copied: Any


def new_scratch(
    inputs: KernelInput,
    chosen: Integers,
    types: int,
    profiles: int = 0,
    *,
    margins: bool = False,
    copied: bool = True,
    memory: ReusedMemory | None = None,
) -> Scratch:
    """Allocate the arrays that the chosen blocks share; those for cannot-links only if there are profiles.

    By numpy and not in compiled code, because numpy asks for huge pages: blocks of thousands of mentions touch the
    memory of all pairs in no order. What pairs need is taken from `memory`, if given.
    """
    first, last = inputs.block_start[chosen], inputs.block_start[chosen + 1]
    largest = int((last - first).max(initial=1))
    triangle = largest * (largest - 1) // 2
    S, square = (triangle + 1) * types, largest * largest
    first_copy = S if copied else 0
    taken = (memory or ReusedMemory(0)).take(first_copy + S + 2 * square)
    S_of_clusters, row, column = np.split(taken[first_copy:], [S, S + square])
    S_of_mentions = taken[:S]
    return Scratch(
        features=new_feature_scratch(int((inputs.bag_start[last] - inputs.bag_start[first]).max(initial=1))),
        mentions=new_cooccurrence(largest, S_of_mentions.reshape(triangle + 1, types)),
        S=S_of_clusters.reshape(triangle + 1, types),
        sums=new_sums(largest, types),
        scores=new_scores(row.reshape(largest, largest), column.reshape(largest, largest)),
        partition=Partition(
            np.empty(largest, np.int64), np.empty(largest, np.uint8),
            np.empty(largest, np.int64), np.empty(largest, np.int64),
        ),
        links=CannotLinks(
            np.empty(triangle if profiles > 0 else 0, np.uint8),
            np.full(profiles, -1, np.int64),
            np.empty(largest, np.int64),
        ),
        names=Names(np.empty(largest, np.int32), np.empty(largest)),
        level=np.zeros(largest),
        fits=new_fits(largest if margins else 0, types),
        copied=copied,
    )  # fmt: skip


class ChosenBlocks(NamedTuple):
    """The blocks to cluster, and for each block whether constraints apply to it, and its limit.

    If `size` is not empty, the only block consists of clusters with these numbers of mentions instead of mentions. Then
    the scratch arrays already have their S, n, chance levels and cannot-links.
    """

    number: Any
    constrained: Any
    limit: Any
    size: Any


def chosen_blocks(number: Integers, constrained: NDArray[np.bool_], limit: Floats) -> ChosenBlocks:
    """Some blocks of mentions."""
    return ChosenBlocks(number, constrained, limit, np.zeros(0))


@internal
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
def _fill_mentions(first, last, inputs, model, size, scratch):
    """Fill S and n of the mentions of a block, and their chance levels; returns the model of the block."""
    m = mentions = last - first
    if size.size == 0:
        fill_cooccurrence(first, last, inputs, model.within, scratch.features, scratch.mentions)
        # Frequencies of one block alone have nothing outside of it, so there is no chance limit within blocks.
        if model.chance_limit > 0.0 and not model.within:
            fill_chance_levels(m, scratch.mentions, model, scratch.level)
    else:
        mentions = 0
        for x in range(m):
            mentions += int(size[x])
    return block_model(m, mentions, scratch.mentions.n, model)


@inlined
def _start(first, model, constraints, constrained, named, size, scratch, m, merges):
    """Make every must-link group a cluster, and every other mention; returns the numbers of clusters and of merges."""
    partition, sums, K, done, pairs = scratch.partition, scratch.sums, m, 0, m * (m - 1) // 2
    if scratch.copied:
        copy_rows(pairs, scratch.mentions.S, scratch.S)
    copy_rows(m, scratch.mentions.n, sums.n)
    for x in range(m):
        sums.level[x] = scratch.level[x]
        sums.size[x] = 1.0 if size.size == 0 else size[x]
        partition.parent[x] = x
        partition.alive[x] = x
    if constrained and size.size == 0:
        fill_cannot_links(constraints.profile[first : first + m], constraints, scratch.links)
        group = constraints.group[first : first + m]
        done = join_must_links(group, scratch.links.pair, partition.parent, partition.alive[:m], merges)
        K = contract(m, scratch.S, scratch.sums, scratch.names, named, model.use_max, partition)
    partition.changed[:m] = 1
    return K, done


@inlined
def _merge(first, model, constraints, constrained, named, limit, hypothetical, size, scratch, label, merges):
    """Merge the mentions of one block round by round, given S, n and, if `named`, names, which are overwritten.

    Returns the number of rounds until convergence; whether a pair that may be joined is left then; the highest score
    until then that was best of row and column but did not exceed the limit (every limit between that score and this
    limit gives the same result); and the largest size of rounding errors until then.
    """
    m, partition = label.size, scratch.partition
    pair = scratch.links.pair[: scratch.links.pair.size if constrained else 0]
    alive, changed = partition.alive, partition.changed
    K, done = _start(first, model, constraints, constrained, named, size, scratch, m, merges)
    step, rounds, unfinished, refused, blurred = 0, -1, False, -np.inf, 0.0
    while K > 1:
        best, rounding = score_clusters(
            alive[:K], changed, scratch.S, scratch.sums, model, scratch.names, named, pair, scratch.scores
        )  # fmt: skip
        threshold = limit
        if not exceeds(best, limit, rounding):
            if rounds < 0:
                rounds, unfinished = step, best > -np.inf
                refused, blurred = max(refused, best), max(blurred, rounding)
                number_clusters(K, partition, label)
            if not hypothetical or best == -np.inf:
                break
            threshold = -np.inf
        step += 1
        before = done
        done, below = join_best_pairs(
            alive[:K], scratch.scores, threshold, rounding, partition.parent, pair, merges, done
        )  # fmt: skip
        if rounds < 0:
            refused, blurred = max(refused, below), max(blurred, rounding)
        merges.round[before:done] = step
        K = contract(K, scratch.S, scratch.sums, scratch.names, named, model.use_max, partition)
    if rounds < 0:
        rounds = step
        number_clusters(K, partition, label)
    return rounds, unfinished, refused, blurred


@compiled
def cluster_blocks(inputs, model, constraints, chosen, hypothetical, ratio, scratch, output, steps):
    """Cluster the chosen blocks, each at its limit, or at all limits from there down that lead to different outcomes.

    Fills `output` for these blocks as `Clustering` describes it; merges of block b begin at `block_start[b]`. With
    `hypothetical`, merging continues after convergence until no pair is left that may be joined. Margins are filled if
    their arrays are not empty.

    A `ratio` above 0 stands for a sweep. The next limit is just below the highest refused score, but at least `ratio`
    times lower than the last limit, so that a large block does not need one run for each of its thousands of outcomes.
    The sweep of a block ends when no pair is left that may be joined, or at 0. Fills `steps[b]`, the number of outcomes
    of block b; returns the lowest limit of each outcome, and the labels of all outcomes, concatenated. `output` is that
    of the last outcome. Both are one function, because compiling it takes seconds. Merging overwrites S of the mentions
    unless it is `scratch.copied`, so it is computed again for margins; a sweep needs the copy.
    """
    merges, with_margins, sweeping = output.merges, output.margins.own.size > 0, ratio > 0.0
    lowest, outcomes = np.empty(4 * steps.size + 1), 0
    labels, labelled = np.empty(4 * output.label.size + 1 if sweeping else 1, np.int32), 0
    for b in chosen.number:
        first, last = inputs.block_start[b], inputs.block_start[b + 1]
        here = _fill_mentions(first, last, inputs, model, chosen.size, scratch)
        own_merges = Merges(
            merges.round[first:last], merges.left[first:last], merges.right[first:last], merges.score[first:last]
        )  # fmt: skip
        own_label, limit, last_one = output.label[first:last], chosen.limit[b], False
        while not last_one:
            named = _fill_names(first, last, inputs, scratch.names)
            output.rounds[b], unfinished, refused, rounding = _merge(
                first, here, constraints, chosen.constrained[b], named, limit, hypothetical, chosen.size, scratch,
                own_label, own_merges,
            )  # fmt: skip
            last_one = not sweeping or not unfinished or limit == 0.0 or refused <= 0.0
            if sweeping:
                if outcomes == lowest.size:
                    lowest = enlarged(lowest)
                while labelled + own_label.size > labels.size:
                    labels = enlarged(labels)
                for x in range(own_label.size):
                    labels[labelled + x] = own_label[x]
                lowest[outcomes] = -np.inf if last_one else refused
                outcomes, labelled, steps[b] = outcomes + 1, labelled + own_label.size, steps[b] + 1
                limit = max(0.0, min(refused * (1 - 4 * TIE) - 4 * rounding, limit / ratio))
        if with_margins:
            if not scratch.copied:
                fill_cooccurrence(first, last, inputs, model.within, scratch.features, scratch.mentions)
            margins = Margins(output.margins.own[first:last], output.margins.other[first:last])
            prior = Names(inputs.name[first:last], inputs.factor[first:last])
            fit_block(first, own_label, constraints, chosen.constrained[b], prior, here, scratch, margins)
    return lowest[:outcomes], labels[:labelled]


def call_parts(inputs: KernelInput, model: Model, scratch: Scratch, output: KernelOutput) -> None:
    """Call the largest functions that `cluster_blocks` contains, on nothing, so that the cache has them.

    They take a quarter of the time of compiling it. They are called in the order in which it needs them, with the types
    that it has; for other types, it would compile them again.
    """
    sums, scores, partition, pair = scratch.sums, scratch.scores, scratch.partition, scratch.links.pair
    alive, label, names = partition.alive[:0], output.label[:0], Names(inputs.name, inputs.factor)
    score_changed(alive, partition.changed, scratch.S, sums, model, scratch.names, False, pair, scores)
    join_best_pairs(alive, scores, 0.0, 0.0, partition.parent, pair, output.merges, 0)
    fill_shared(0, 0, label, scratch.mentions.S, model.use_max, scratch.fits.shared)
    fit_strip(0, 0, label, pair, names, sums, scratch.fits, model, output.margins)


@compiled
def fill_pair_scores(begin, end, inputs, scratch, found):
    """Fill S(x,y) and n(x) of the blocks `begin` to `end` from their bags, one after another."""
    start, within = inputs.block_start, begin < 0  # never; functions would be compiled again for a constant
    x, pair = 0, 0
    for b in range(begin, end):
        m = start[b + 1] - start[b]
        pairs = m * (m - 1) // 2
        part = Cooccurrence(found.S[pair : pair + pairs], found.diagonal[x : x + m], found.n[x : x + m])
        fill_cooccurrence(start[b], start[b + 1], inputs, within, scratch, part)
        x, pair = x + m, pair + pairs


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
def gather_bags(stored, feature, count, value, type_start, type_kept):
    """Copy the bags of some mentions into new arrays: `bag_start`, `feature` and `count` of `Bags`.

    A mention's bag is its document's bag plus its own. The document's bag has all authors of the document as
    co-authors, so one occurrence of `own_name` is removed, or the shares of `own_name` and `own_full_name`. Types that
    are not `type_kept` are left out. If there is a table `value`, counts are numbers of its rows.
    """
    mentions, coded = stored.own_name.size, value.size > 0
    room = 0
    for x in range(mentions):
        room += stored.document_end[x] - stored.document_start[x] + stored.own_end[x] - stored.own_start[x]
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
                c = value[np.uint16(count[k])] if coded else np.float64(count[k])
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
