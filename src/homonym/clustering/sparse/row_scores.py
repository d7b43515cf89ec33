"""One cluster of a giant block against all others: a walk through the features that it shares with them.

From one walk follow score(C,·) and score(·,C), because S is symmetric. Nothing of a walk is kept but the few best
partners. The arrays of a walk are as large as there are clusters, and each thread has its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.compiling import compiled
from homonym.clustering.dense.scoring import exceeds
from homonym.clustering.sparse.giant_merging import COLUMN, PEAK, ROW, offer


class Clusters(NamedTuple):
    """What the scores of the present clusters depend on beside S; `w[t, D]` is w_t(D), `chance` that of the row.

    Those that have been joined with another one, of a smaller number, have the size 0.
    """

    size: Any
    n: Any
    w: Any
    smooth: Any
    chance: Any
    expected: Any
    epsilon: Any
    gamma: Any
    use_max: Any
    joint: Any


class Opponents(NamedTuple):
    """Rivals by profile, and who has each profile; no rivals at all where nobody has one."""

    profile: Any
    cannot_link_start: Any
    cannot_link: Any
    held: Any
    holder: Any


class Kept(NamedTuple):
    """S_t(C,D) of some clusters that are costly to walk, at `S[slot[C]]`, and the last of their items that is in it."""

    S: Any
    slot: Any
    covered: Any


class Rounds(NamedTuple):
    """What a walk writes on: `row` and `column` are Σ_t w_t(·)·S_t for each cluster, `most` S_t if that is a maximum.

    `shared` is S_t of one type, 0 between walks. `gathered` and `amount` are a bag, `amount_of` its counts by feature
    while it is added up. `mark[D]` is `token` where D is a rival; so is `seen` of a profile whose rivals are marked.
    """

    shared: Any
    row: Any
    column: Any
    most: Any
    gathered: Any
    amount: Any
    amount_of: Any
    mark: Any
    seen: Any
    token: Any


@compiled
def _gather_item(i, t, index, steps):
    """Copy one item's features of a type; returns how many there are, and how many hold any of them."""
    first, length, holders = index.begin[i, t], index.begin[i, t + 1] - index.begin[i, t], 0
    for k in range(length):
        f = index.feature[first + k]
        steps.gathered[k] = f
        steps.amount[k] = index.count[first + k] * index.inverse[f]
        holders += index.held[f + 1] - index.held[f]
    return length, holders


@compiled
def _gather(i, t, index, items, steps):
    """`_gather_item` for the sum of item i and all that follow it, each feature once."""
    if items.following[i] < 0:
        return _gather_item(i, t, index, steps)
    length, holders = 0, 0
    while i >= 0:
        for k in range(index.begin[i, t], index.begin[i, t + 1]):
            f = index.feature[k]
            if steps.amount_of[f] == 0.0:
                steps.gathered[length] = f
                length += 1
                holders += index.held[f + 1] - index.held[f]
            steps.amount_of[f] += index.count[k]
        i = items.following[i]
    for k in range(length):
        f = steps.gathered[k]
        steps.amount[k] = steps.amount_of[f] * index.inverse[f]
        steps.amount_of[f] = 0.0
    return length, holders


@compiled
def _share(length, index, steps):
    """Add what a gathered bag shares with whoever holds its features to `shared`."""
    shared, holder, count = steps.shared, index.holder, index.held_count
    for k in range(length):
        f, amount = steps.gathered[k], steps.amount[k]
        for p in range(index.held[f], index.held[f + 1]):
            shared[holder[p]] += amount * count[p]


@compiled
def _add_up(t, length, holders, w_own, index, clusters, steps):
    """Add w_t(D)·S_t(C,D) and w_t(C)·S_t(C,D) of one type to `row` and `column`, where C is the gathered bag.

    Where most clusters are met, they are met by S_t first; where few are, they are looked for only once.
    """
    w, row, column, shared = clusters.w, steps.row, steps.column, steps.shared
    K = clusters.size.size
    if holders >= K:
        _share(length, index, steps)
        for d in range(K):
            row[d] += shared[d] * w[t, d]
            column[d] += shared[d] * w_own
            shared[d] = 0.0
        return
    for k in range(length):
        f, amount = steps.gathered[k], steps.amount[k]
        for p in range(index.held[f], index.held[f + 1]):
            d = index.holder[p]
            s = amount * index.held_count[p]
            row[d] += s * w[t, d]
            column[d] += s * w_own


@compiled
def add_mention(x, t, w_own, index, clusters, steps):
    """`_add_up` for one item."""
    length, holders = _gather_item(x, t, index, steps)
    _add_up(t, length, holders, w_own, index, clusters, steps)


@compiled
def _add_to_row(t, length, index, steps, S):
    """Add S_t(C,D) to a kept row, where C is the gathered bag."""
    for k in range(length):
        f, amount = steps.gathered[k], steps.amount[k]
        for p in range(index.held[f], index.held[f + 1]):
            S[t, index.holder[p]] += amount * index.held_count[p]


@compiled
def take_most(x, t, index, home, steps, most):
    """Raise `most` of each cluster to the highest S_t(x,y) of its mentions y, x itself left out."""
    shared = steps.shared
    length, holders = _gather_item(x, t, index, steps)
    _share(length, index, steps)
    shared[x] = 0.0
    if holders >= home.size:
        for y in range(home.size):
            most[t, home[y]] = max(most[t, home[y]], shared[y])
            shared[y] = 0.0
        return
    for k in range(length):
        f = steps.gathered[k]
        for p in range(index.held[f], index.held[f + 1]):
            y = index.holder[p]
            if shared[y] > 0.0:
                most[t, home[y]] = max(most[t, home[y]], shared[y])
                shared[y] = 0.0


@compiled
def weigh_row(S, w_own, clusters, steps):
    """Fill `row` and `column` from S_t(C,D)."""
    w, row, column, K = clusters.w, steps.row, steps.column, clusters.size.size
    row[:K] = 0.0
    column[:K] = 0.0
    for t in range(w_own.size):
        for d in range(K):
            row[d] += S[t, d] * w[t, d]
            column[d] += S[t, d] * w_own[t]


@compiled
def _complete_row(c, first, index, items, clusters, steps, S):
    """Take an item of cluster c, and all that follow it, into S_t(C,D)."""
    types = clusters.w.shape[0]
    if clusters.use_max:
        while first >= 0:
            for t in range(types):
                take_most(first, t, index, items.home, steps, S)
            first = items.following[first]
    else:
        for t in range(types if first >= 0 else 0):
            length, _ = _gather(first, t, index, items, steps)
            _add_to_row(t, length, index, steps, S)


@compiled
def walk(c, index, items, clusters, kept, steps):
    """Fill `row` and `column` of cluster c; of a row that is kept, only what is not yet in it is walked."""
    K, types, slot = clusters.size.size, clusters.w.shape[0], kept.slot[c]
    if slot >= 0:
        first = items.first[c] if kept.covered[slot] < 0 else items.following[kept.covered[slot]]
        _complete_row(c, first, index, items, clusters, steps, kept.S[slot])
        kept.covered[slot] = items.last[c]
        weigh_row(kept.S[slot], clusters.w[:, c].copy(), clusters, steps)
    elif clusters.use_max:
        steps.most[:, :K] = 0.0
        _complete_row(c, items.first[c], index, items, clusters, steps, steps.most)
        weigh_row(steps.most, clusters.w[:, c].copy(), clusters, steps)
    else:
        steps.row[:K] = 0.0
        steps.column[:K] = 0.0
        for t in range(types):
            length, holders = _gather(items.first[c], t, index, items, steps)
            _add_up(t, length, holders, clusters.w[t, c], index, clusters, steps)


@compiled
def mark_rivals(c, members, opponents, steps):
    """Mark all clusters that c must not be joined with."""
    steps.token[0] += 1
    token = steps.token[0]
    if opponents.cannot_link.size == 0:
        return
    x = members.first[c]
    while x >= 0:
        p = opponents.profile[x]
        for r in range(
            opponents.cannot_link_start[p], opponents.cannot_link_start[p + 1] if steps.seen[p] != token else 0
        ):
            q = opponents.cannot_link[r]
            for h in range(opponents.held[q], opponents.held[q + 1]):
                steps.mark[members.home[opponents.holder[h]]] = token
        steps.seen[p] = token
        x = members.following[x]


@compiled
def joint_chance(n_c, n_d, size_d, expected, epsilon):
    """What C would share with D by chance, for the joint score."""
    total = 0.0
    for t in range(expected.size):
        total += expected[t] * n_c[t] * (n_d[t] + size_d * epsilon)
    return total


@compiled
def walk_rows(rows, index, items, clusters, members, opponents, kept, partners, offers, offering, steps):
    """Walk some clusters and fill their lists; with `offering`, offer them to the lists of all others, too.

    Whoever is not to get any offers has the floor ∞ there.
    """
    size, smooth, chance = clusters.size, clusters.smooth, clusters.chance
    gamma, joint = clusters.gamma, clusters.joint
    row, column, mark, floor = steps.row, steps.column, steps.mark, partners.floor
    K = size.size
    for c in rows:
        walk(c, index, items, clusters, kept, steps)
        mark_rivals(c, members, opponents, steps)
        token = steps.token[0]
        partners.filled[:, c] = 0
        floor[:, c] = -np.inf
        chance_c, chance_d, pairs = chance[c], 0.0, 1.0
        for d in range(K):
            if size[d] == 0.0 or d == c:
                continue
            if not clusters.use_max:
                pairs = size[c] * size[d]
            in_row = row[d] + pairs * smooth[d]
            in_column = column[d] + pairs * smooth[c]
            if gamma > 0.0:
                chance_d = chance[d]
                if joint:
                    chance_c = joint_chance(clusters.n[c], clusters.n[d], size[d], clusters.expected, clusters.epsilon)
                    chance_d = joint_chance(clusters.n[d], clusters.n[c], size[c], clusters.expected, clusters.epsilon)
                peak = max(in_row, chance_c)
                if peak >= floor[PEAK, c]:
                    offer(PEAK, c, d, peak, partners)
                if offering and max(in_column, chance_d) >= offers.floor[PEAK, d]:
                    offer(PEAK, d, c, max(in_column, chance_d), offers)
                in_row -= chance_c
                in_column -= chance_d
            if mark[d] == token:
                continue
            if in_row >= floor[ROW, c]:
                offer(ROW, c, d, in_row, partners)
            if in_column >= floor[COLUMN, c]:
                offer(COLUMN, c, d, in_column, partners)
            if offering:
                if in_column >= offers.floor[ROW, d]:
                    offer(ROW, d, c, in_column, offers)
                if in_row >= offers.floor[COLUMN, d]:
                    offer(COLUMN, d, c, in_row, offers)


@compiled
def row_scores(c, index, items, clusters, members, opponents, kept, steps):
    """Fill `row` with score(C,D) for all D, −∞ for rivals and C itself."""
    walk(c, index, items, clusters, kept, steps)
    mark_rivals(c, members, opponents, steps)
    row, size = steps.row, clusters.size
    chance = clusters.chance[c]
    for d in range(size.size):
        pairs = 1.0 if clusters.use_max else size[c] * size[d]
        if clusters.gamma > 0.0 and clusters.joint:
            chance = joint_chance(clusters.n[c], clusters.n[d], size[d], clusters.expected, clusters.epsilon)
        row[d] += pairs * clusters.smooth[d] - chance
        if d == c or size[d] == 0.0 or steps.mark[d] == steps.token[0]:
            row[d] = -np.inf


@compiled
def find_demands(
    rows, start, enough, limit, rounding, row_best, column_best,
    index, items, clusters, members, opponents, kept, partners, steps,
):  # fmt: skip
    """The allowed pairs that are best of row and column and exceed the limit, row by row, partners in order.

    Stops after the row in which `enough` have been found; returns rows, columns and scores of the pairs, and where to
    go on. A row is walked again if more partners may tie for its best than its list holds.
    """
    left, right, score = np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty(1024, np.float64)
    found, K = 0, clusters.size.size
    while start < rows.size and found < enough:
        c = rows[start]
        start += 1
        if not exceeds(row_best[c], limit, rounding):
            continue
        floor = partners.floor[ROW, c]
        listed = floor == -np.inf or exceeds(row_best[c], floor, rounding)
        length = partners.filled[ROW, c] if listed else K
        others = np.sort(partners.other[ROW, c, : partners.filled[ROW, c]])
        if not listed:
            row_scores(c, index, items, clusters, members, opponents, kept, steps)
        else:
            for k in range(length):
                steps.row[partners.other[ROW, c, k]] = partners.value[ROW, c, k]
        for k in range(length):
            d = others[k] if listed else k
            s = steps.row[d]
            if (
                s == -np.inf
                or exceeds(row_best[c], s, rounding)
                or exceeds(column_best[d], s, rounding)
                or not exceeds(s, limit, rounding)
            ):
                continue
            if found == score.size:
                left, right, score = np.append(left, left), np.append(right, right), np.append(score, score)
            left[found], right[found], score[found] = c, d, s
            found += 1
    return left[:found], right[:found], score[:found], start


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
