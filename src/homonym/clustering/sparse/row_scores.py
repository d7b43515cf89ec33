"""Scores of one cluster of a giant block with all others, through the inverted index.

One pass over the postings of the features of C gives both score(C,·) and score(·,C), because S is symmetric. Only the
few best partners are kept. For `max`, S is a maximum over pairs of mentions, so the mentions of C are processed one by
one. The arrays written here have one entry per cluster, and each thread has its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.compiling import compiled, internal
from homonym.clustering.dense.exact_sums import replace_own_names
from homonym.clustering.dense.scoring import exceeds, exceeds_chance_limit, limit_weight, name_factor
from homonym.clustering.sparse.giant_merging import COLUMN, PEAK, ROW, Pairs, offer


class Clusters(NamedTuple):
    """|C|, n_t(C), w_t(C) at `w[t, C]`, the smoothing, and the chance term of the row of C (0 if joint).

    `required` is the chance limit of the row, without the weight of the sizes of both clusters. `names` are the full
    names of the clusters. A cluster that was joined with another one of a smaller number has the size 0.
    """

    size: Any
    n: Any
    w: Any
    smooth: Any
    chance: Any
    required: Any
    names: Any


class CachedRows(NamedTuple):
    """S_t(C,D) of some clusters C that are costly to compute, at `S[slot[C]]`; `slot[C]` is −1 for the others.

    `covered[slot]` is the last item of C that is included in its row, −1 for none.
    """

    S: Any
    slot: Any
    covered: Any


class State(NamedTuple):
    """The clusters of a block in one round.

    `items` and `members` are the items of the index and the mentions that each cluster consists of. What `documents`
    share is looked up, if there are any; then items are mentions.
    """

    model: Any
    index: Any
    items: Any
    members: Any
    clusters: Any
    links: Any
    cached: Any
    documents: Any


class RowScratch(NamedTuple):
    """Arrays that the computation of one row writes.

    `row[D]` is Σ_t w_t(D)·S_t(C,D), `column[D]` is Σ_t w_t(C)·S_t(C,D). `whole` is S_t for `max` or
    if documents are shared, and `shared` is S_t of one type, 0 between rows. `bag` and `amount` are a bag, `amount_of`
    its counts by feature while it is summed.
    `mark[D]` equals `token[0]` if C and D cannot be linked; so does `seen[p]` if the profile p has been processed.
    """

    shared: Any
    row: Any
    column: Any
    whole: Any
    bag: Any
    amount: Any
    amount_of: Any
    mark: Any
    seen: Any
    token: Any


@internal
def _gather_item(i, t, index, scratch):
    """Copy the features of one type of item i; returns how many there are, and how many postings they have."""
    first, length, postings = index.bag_start[i, t], index.bag_start[i, t + 1] - index.bag_start[i, t], 0
    for k in range(length):
        f = index.feature[first + k]
        scratch.bag[k] = f
        scratch.amount[k] = index.count[first + k] * index.inverse[f]
        postings += index.posting_start[f + 1] - index.posting_start[f]
    return length, postings


@internal
def _gather(i, t, index, items, scratch):
    """`_gather_item` for the sum of item i and the items that follow it, each feature once."""
    if items.following[i] < 0:
        return _gather_item(i, t, index, scratch)
    length, postings = 0, 0
    while i >= 0:
        for k in range(index.bag_start[i, t], index.bag_start[i, t + 1]):
            f = index.feature[k]
            if scratch.amount_of[f] == 0.0:
                scratch.bag[length] = f
                length += 1
                postings += index.posting_start[f + 1] - index.posting_start[f]
            scratch.amount_of[f] += index.count[k]
        i = items.following[i]
    for k in range(length):
        f = scratch.bag[k]
        scratch.amount[k] = scratch.amount_of[f] * index.inverse[f]
        scratch.amount_of[f] = 0.0
    return length, postings


@internal
def _add_to(shared, length, index, scratch):
    """Add S_t of the gathered bag with each holder of its features to `shared`."""
    posting_start, holder, count = index.posting_start, index.holder, index.holder_count
    for k in range(length):
        f, amount = scratch.bag[k], scratch.amount[k]
        for p in range(posting_start[f], posting_start[f + 1]):
            shared[holder[p]] += amount * count[p]


@internal
def _add_weighted(t, length, postings, w_own, index, w, scratch):
    """Add w_t(D)·S_t(C,D) to `row` and w_t(C)·S_t(C,D) to `column`, where C is the gathered bag.

    With many postings, S_t is summed first and weighted once per cluster; with few, each posting is weighted at once.
    """
    row, column, shared, K = scratch.row, scratch.column, scratch.shared, w.shape[1]
    if postings >= K:
        _add_to(shared, length, index, scratch)
        for d in range(K):
            row[d] += shared[d] * w[t, d]
            column[d] += shared[d] * w_own
            shared[d] = 0.0
        return
    posting_start, holder, count = index.posting_start, index.holder, index.holder_count
    for k in range(length):
        f, amount = scratch.bag[k], scratch.amount[k]
        for p in range(posting_start[f], posting_start[f + 1]):
            d = holder[p]
            s = amount * count[p]
            row[d] += s * w[t, d]
            column[d] += s * w_own


@internal
def _raise_highest(x, t, index, cluster, scratch, highest):
    """Raise `highest[t]` of each cluster to the largest S_t(x,y) of its mentions y ≠ x."""
    shared = scratch.shared
    length, postings = _gather_item(x, t, index, scratch)
    _add_to(shared, length, index, scratch)
    shared[x] = 0.0
    if postings >= cluster.size:
        for y in range(cluster.size):
            highest[t, cluster[y]] = max(highest[t, cluster[y]], shared[y])
            shared[y] = 0.0
        return
    for k in range(length):
        f = scratch.bag[k]
        for p in range(index.posting_start[f], index.posting_start[f + 1]):
            y = index.holder[p]
            if shared[y] > 0.0:
                highest[t, cluster[y]] = max(highest[t, cluster[y]], shared[y])
                shared[y] = 0.0


@internal
def _weigh_row(S, w_own, w, scratch):
    """Fill `row` and `column` from S_t(C,D)."""
    row, column, K = scratch.row, scratch.column, w.shape[1]
    row[:K] = 0.0
    column[:K] = 0.0
    for t in range(w_own.size):
        for d in range(K):
            row[d] += S[t, d] * w[t, d]
            column[d] += S[t, d] * w_own[t]


@internal
def _add_documents(x, cluster, documents, use_max, S):
    """Add S_t(x,y) with all other mentions y to S_t of their clusters, for the types that documents have.

    For `max`, S_t of their clusters is raised to it.
    """
    table, _, kind = documents.pairs
    document, start, feature, in_document, in_mention, inverse = documents.own_names
    d, i, end_i, exact = document[x], start[x], start[x + 1], documents.exact
    for y in range(document.size):
        if y == x:
            continue
        e, c = document[y], np.uint32(cluster[y])
        at = np.uint64(d * (d + 1) // 2 + e if e <= d else e * (e + 1) // 2 + d)
        for column in range(kind.size):
            t = kind[column]
            shared = table[at, column]
            if t == exact:
                shared = replace_own_names(
                    shared, table[at, kind.size], i, end_i, start[y], start[y + 1],
                    feature, in_document, in_mention, inverse,
                )  # fmt: skip
            if use_max:
                S[t, c] = max(S[t, c], shared)
            else:
                S[t, c] += shared


@internal
def _complete_row(item, state, scratch, S):
    """Add an item of a cluster C and the items that follow it to S_t(C,D)."""
    index, items, types = state.index, state.items, state.model.weight.size
    x = item if state.documents.own_names.document.size > 0 else -1
    while x >= 0:
        _add_documents(x, items.cluster, state.documents, state.model.use_max, S)
        x = items.following[x]
    if state.model.use_max:
        while item >= 0:
            for t in range(types):
                _raise_highest(item, t, index, items.cluster, scratch, S)
            item = items.following[item]
    else:
        for t in range(types if item >= 0 else 0):
            length, _ = _gather(item, t, index, items, scratch)
            _add_to(S[t], length, index, scratch)


@internal
def _compute_row(c, state, scratch):
    """Fill `row` and `column` of cluster c; a cached row is completed by the items that are not yet in it."""
    items, cached, w, types = state.items, state.cached, state.clusters.w, state.model.weight.size
    K, slot = w.shape[1], cached.slot[c]
    if slot >= 0:
        item = items.first[c] if cached.covered[slot] < 0 else items.following[cached.covered[slot]]
        _complete_row(item, state, scratch, cached.S[slot])
        cached.covered[slot] = items.last[c]
        _weigh_row(cached.S[slot], w[:, c].copy(), w, scratch)
    elif state.model.use_max or state.documents.own_names.document.size > 0:
        scratch.whole[:, :K] = 0.0
        _complete_row(items.first[c], state, scratch, scratch.whole)
        _weigh_row(scratch.whole, w[:, c].copy(), w, scratch)
    else:
        scratch.row[:K] = 0.0
        scratch.column[:K] = 0.0
        for t in range(types):
            length, postings = _gather(items.first[c], t, state.index, items, scratch)
            _add_weighted(t, length, postings, w[t, c], state.index, w, scratch)


@internal
def _mark_cannot_links(c, members, links, scratch):
    """Mark all clusters that c must not be joined with."""
    scratch.token[0] += 1
    token, start = scratch.token[0], links.cannot_link_start
    if links.cannot_link.size == 0:
        return
    x = members.first[c]
    while x >= 0:
        p = links.profile[x]
        for r in range(start[p], start[p + 1] if scratch.seen[p] != token else 0):
            q = links.cannot_link[r]
            for h in range(links.holder_start[q], links.holder_start[q + 1]):
                scratch.mark[members.cluster[links.holder[h]]] = token
        scratch.seen[p] = token
        x = members.following[x]


@compiled
def fill_pairs(rows, number, state, scratch, S, linked):
    """Fill S of the pairs of some clusters with earlier ones, and which of these pairs are cannot-links.

    Both are triangles of the clusters in use, at the positions `number`; `linked` is empty without cannot-links.
    """
    items, size, whole = state.items, state.clusters.size, scratch.whole
    for c in rows:
        whole[:, : size.size] = 0.0
        _complete_row(items.first[c], state, scratch, whole)
        _mark_cannot_links(c, state.members, state.links, scratch)
        before = number[c] * (number[c] - 1) // 2
        for d in range(c):
            if size[d] == 0.0:
                continue
            at = before + number[d]
            for t in range(S.shape[1]):
                S[at, t] = whole[t, d]
            if linked.size > 0:
                linked[at] = scratch.mark[d] == scratch.token[0]


@internal
def _joint_chance(n_c, n_d, size_d, model):
    """The chance term of the joint score(C,D)."""
    total = 0.0
    for t in range(model.expected.size):
        total += model.expected[t] * n_c[t] * (n_d[t] + size_d * model.epsilon)
    return total


@compiled
def list_partners(rows, state, partners, offers, offering, scratch):
    """Fill the partner lists of some clusters; with `offering`, also offer these clusters to the lists of all others.

    Clusters that should get no offers have the floor ∞ in `offers`.
    """
    model, clusters = state.model, state.clusters
    size, smooth, chance, n = clusters.size, clusters.smooth, clusters.chance, clusters.n
    row, column, mark, floor = scratch.row, scratch.column, scratch.mark, partners.floor
    required, name, factor = clusters.required, clusters.names.name, clusters.names.factor
    K, limited, offered_floor = size.size, model.chance_limit > 0.0, offers.floor
    for c in rows:
        _compute_row(c, state, scratch)
        _mark_cannot_links(c, state.members, state.links, scratch)
        token = scratch.token[0]
        partners.filled[:, c] = 0
        floor[:, c] = -np.inf
        chance_c, chance_d, pairs = chance[c], 0.0, 1.0
        for d in range(K):
            if size[d] == 0.0 or d == c:
                continue
            if not model.use_max:
                pairs = size[c] * size[d]
            in_row = row[d] + pairs * smooth[d]
            in_column = column[d] + pairs * smooth[c]
            f = name_factor(name[c], name[d], factor[c])
            if model.gamma > 0.0:
                chance_d = chance[d]
                if model.joint:
                    chance_c = _joint_chance(n[c], n[d], size[d], model)
                    chance_d = _joint_chance(n[d], n[c], size[c], model)
                # A factor below 1 does not make rounding errors smaller: see `reference.score_matrix`.
                peak, peak_of_d = max(f, 1.0) * max(in_row, chance_c), max(f, 1.0) * max(in_column, chance_d)
                if peak >= floor[PEAK, c]:
                    offer(PEAK, c, d, peak, partners)
                if offering and peak_of_d >= offered_floor[PEAK, d]:
                    offer(PEAK, d, c, peak_of_d, offers)
                in_row -= chance_c
                in_column -= chance_d
            if mark[d] == token:
                continue
            in_row *= f
            in_column *= f
            for kind in (ROW, COLUMN):
                score, chance_of, i, j = (in_row, chance_c, c, d) if kind == ROW else (in_column, chance_d, d, c)
                opposite = ROW + COLUMN - kind
                listed = score >= floor[kind, c]
                offered = offering and score >= offered_floor[opposite, d]
                if not (listed or offered):
                    continue
                if limited:
                    needed = required[i] * limit_weight(max(size[i], size[j]), model.X)
                    if not exceeds_chance_limit(score, f * chance_of, needed):
                        continue
                if listed:
                    offer(kind, c, d, score, partners)
                if offered:
                    offer(opposite, d, c, score, offers)


@internal
def _score_row(c, state, scratch):
    """Fill `row` with score(C,D) for all D, −∞ for C itself and where a cannot-link or the chance limit forbids it."""
    _compute_row(c, state, scratch)
    _mark_cannot_links(c, state.members, state.links, scratch)
    model, clusters = state.model, state.clusters
    row, size, name, factor = scratch.row, clusters.size, clusters.names.name, clusters.names.factor
    chance, required, limited = clusters.chance[c], clusters.required[c], model.chance_limit > 0.0
    for d in range(size.size):
        pairs = 1.0 if model.use_max else size[c] * size[d]
        if model.gamma > 0.0 and model.joint:
            chance = _joint_chance(clusters.n[c], clusters.n[d], size[d], model)
        f = name_factor(name[c], name[d], factor[c])
        row[d] = f * (row[d] + (pairs * clusters.smooth[d] - chance))
        allowed = d != c and size[d] > 0.0 and scratch.mark[d] != scratch.token[0]
        if allowed and limited:
            needed = required * limit_weight(max(size[c], size[d]), model.X)
            allowed = exceeds_chance_limit(row[d], f * chance, needed)
        if not allowed:
            row[d] = -np.inf


class Bests(NamedTuple):
    """The best score of each row and column, what a pair must exceed, and the size of rounding errors."""

    row: Any
    column: Any
    limit: Any
    rounding: Any


@compiled
def best_pairs(rows, enough, bests, partners, state, scratch):
    """The allowed pairs that are best of row and column and exceed the limit, row by row, partners in order.

    Stops after the row in which `enough` pairs have been found; returns the pairs and the number of rows processed. A
    row is computed again if more partners may tie for its best than its list holds.
    """
    left, right, score = np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty(1024, np.float64)
    limit, rounding = bests.limit, bests.rounding
    at, found, K = 0, 0, state.clusters.size.size
    while at < rows.size and found < enough:
        c = rows[at]
        at += 1
        best = bests.row[c]
        if not exceeds(best, limit, rounding):
            continue
        floor = partners.floor[ROW, c]
        listed = floor == -np.inf or exceeds(best, floor, rounding)
        length = partners.filled[ROW, c] if listed else K
        others = np.sort(partners.other[ROW, c, : partners.filled[ROW, c]])
        if not listed:
            _score_row(c, state, scratch)
        else:
            for k in range(length):
                scratch.row[partners.other[ROW, c, k]] = partners.value[ROW, c, k]
        for k in range(length):
            d = others[k] if listed else k
            s = scratch.row[d]
            if (
                s == -np.inf
                or exceeds(best, s, rounding)
                or exceeds(bests.column[d], s, rounding)
                or not exceeds(s, limit, rounding)
            ):
                continue
            if found == score.size:
                left, right, score = np.append(left, left), np.append(right, right), np.append(score, score)
            left[found], right[found], score[found] = c, d, s
            found += 1
    return Pairs(left[:found], right[:found], score[:found]), at


class MentionSums(NamedTuple):
    """n_t(x), w_t(x), the smoothing of a mention x, its S_t(x, C∖{x}) with the rest of its cluster, and its name."""

    n: Any
    w: Any
    smooth: Any
    own_share: Any
    name: Any


@internal
def _own_share(x, c, t, index):
    """S_t(x, C∖{x}) for `prob`; what x itself contributes is subtracted per feature, so that no rounding error is left.

    The holders of the index are clusters.
    """
    total = 0.0
    for k in range(index.bag_start[x, t], index.bag_start[x, t + 1]):
        f = index.feature[k]
        first, last = index.posting_start[f], index.posting_start[f + 1]
        at = first + np.searchsorted(index.holder[first:last], c)
        total += index.count[k] * index.inverse[f] * (index.holder_count[at] - index.count[k])
    return total


@internal
def _chances(n_x, n_d, size_d, model):
    """The chance terms of score({x},D) and score(D,{x})."""
    if model.joint:
        return _joint_chance(n_x, n_d, size_d, model), _joint_chance(n_d, n_x, 1.0, model)
    of_x, of_d = 0.0, 0.0
    for t in range(model.expected.size):
        of_x += model.expected[t] * n_x[t]
        of_d += model.expected[t] * n_d[t]
    return of_x, of_d


@internal
def _fit_rest(mention, c, holders, clusters, model):
    """How well a mention of cluster c fits the rest of c; `holders` is the number of mentions in c with a name."""
    types, size, epsilon = model.weight.size, clusters.size[c] - 1.0, model.epsilon
    pairs = 1.0 if model.use_max else size
    rest = np.empty(types)
    x_given_rest, rest_given_x, smooth = 0.0, 0.0, 0.0
    for t in range(types):
        rest[t] = clusters.n[c, t] - mention.n[t]
        w = model.weight[t] / (model.mass[t] + model.N * epsilon if model.joint else rest[t] + size * epsilon)
        smooth += w
        x_given_rest += w * mention.own_share[t]
        rest_given_x += mention.w[t] * mention.own_share[t]
    x_given_rest += pairs * smooth * epsilon / model.N
    rest_given_x += pairs * mention.smooth
    if model.gamma > 0.0:
        of_x, of_rest = _chances(mention.n, rest, size, model)
        x_given_rest -= of_x
        rest_given_x -= of_rest
    names = clusters.names
    factor = name_factor(mention.name, names.name[c], names.factor[c]) if holders > 1 else 1.0
    return factor * max(x_given_rest, rest_given_x)


@internal
def _fit_best(mention, c, clusters, model, scratch):
    """How well a mention of cluster c fits the best other cluster that c may be joined with."""
    best, pairs = -np.inf, 1.0
    name, factor = clusters.names.name, clusters.names.factor
    of_x = 0.0
    for t in range(model.expected.size):
        of_x += model.expected[t] * mention.n[t]
    for d in range(clusters.size.size):
        if d == c or scratch.mark[d] == scratch.token[0]:
            continue
        if not model.use_max:
            pairs = clusters.size[d]
        x_given_d = scratch.row[d] + pairs * clusters.smooth[d]
        d_given_x = scratch.column[d] + pairs * mention.smooth
        if model.gamma > 0.0:
            of_d = clusters.chance[d]
            if model.joint:
                of_x, of_d = _chances(mention.n, clusters.n[d], clusters.size[d], model)
            x_given_d -= of_x
            d_given_x -= of_d
        best = max(best, name_factor(mention.name, name[d], factor[d]) * max(x_given_d, d_given_x))
    return best


@internal
def _share_mention(x, c, n_x, name_x, state, scratch):
    """Fill `row` and `column` of the mention x of cluster c; returns its sums."""
    model, w, types, K = state.model, state.clusters.w, state.model.weight.size, state.clusters.w.shape[1]
    w_x, own_share, smooth = np.empty(types), np.empty(types), 0.0
    for t in range(types):
        w_x[t] = model.weight[t] / (model.mass[t] + model.N * model.epsilon if model.joint else n_x[t] + model.epsilon)
        smooth += w_x[t]
    smooth *= model.epsilon / model.N
    scratch.row[:K] = 0.0
    scratch.column[:K] = 0.0
    looks_up = state.documents.own_names.document.size > 0
    scratch.whole[:, :K] = 0.0
    if looks_up:
        _add_documents(x, state.members.cluster, state.documents, model.use_max, scratch.whole)
    for t in range(types):
        own_share[t] = 0.0
        if looks_up or model.use_max:
            if model.use_max:
                _raise_highest(x, t, state.index, state.members.cluster, scratch, scratch.whole)
            own_share[t] = scratch.whole[t, c]
        if not model.use_max:
            length, postings = _gather_item(x, t, state.index, scratch)
            own_share[t] += _own_share(x, c, t, state.index)
            if looks_up:
                _add_to(scratch.whole[t], length, state.index, scratch)
            else:
                _add_weighted(t, length, postings, w_x[t], state.index, w, scratch)
    if looks_up or model.use_max:
        _weigh_row(scratch.whole, w_x, w, scratch)
    return MentionSums(n_x, w_x, smooth, own_share, name_x)


@compiled
def fit_rows(rows, n, name, state, scratch, margins):
    """Fill the margins of the mentions of some clusters; the items of the index must be mentions.

    `n` and `name` are those of the mentions.
    """
    for c in rows:
        _mark_cannot_links(c, state.members, state.links, scratch)
        holders, x = 0, state.members.first[c]
        while x >= 0:
            holders += name[x] >= 0
            x = state.members.following[x]
        x = state.members.first[c]
        while x >= 0:
            mention = _share_mention(x, c, n[x], name[x], state, scratch)
            margins.other[x] = _fit_best(mention, c, state.clusters, state.model, scratch)
            margins.own[x] = np.nan
            if state.clusters.size[c] > 1.0:
                margins.own[x] = _fit_rest(mention, c, holders, state.clusters, state.model)
            x = state.members.following[x]
