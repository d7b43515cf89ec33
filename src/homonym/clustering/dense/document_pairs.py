"""What each pair of documents shares, computed once for all blocks in which both have mentions.

Most features belong to the document: the bags of its authors differ only in affiliations, e-mail addresses and the
own name that is left out of the co-authors. In papers with hundreds of authors, S(x,y) computed from the bags of
mentions repeats the same products in hundreds of blocks. Here S of the documents of x and y is looked up, and the
products of own names are replaced. Sums of co-authors are exact, so the result is the same to the last bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.compiling import compiled, internal
from homonym.clustering.dense.cooccurrence import number_features
from homonym.clustering.dense.exact_sums import exact_sum
from homonym.settings import KEY_SHARE

# Number of rows that are filled at the same time.
ROWS = 32


class Postings(NamedTuple):
    """The documents of each feature, ascending, and how often they have it."""

    start: Any
    document: Any
    amount: Any
    local: Any
    inverse: Any


@compiled
def index_documents(inputs, scratch):
    """The inverted index of some documents, given as one block."""
    bag_start, occurrences = inputs.bag_start, inputs.feature.size
    distinct = number_features(0, bag_start.size - 1, inputs, False, scratch)
    start = np.zeros(distinct + 1, np.int64)
    for k in range(occurrences):
        start[scratch.local[k] + 1] += 1
    start = np.cumsum(start)
    place = start[:-1].copy()
    document, amount = np.empty(occurrences, np.uint32), np.empty(occurrences)
    for d in range(bag_start.size - 1):
        for k in range(bag_start[d], bag_start[d + 1]):
            at = place[scratch.local[k]]
            document[at], amount[at] = d, inputs.count[k]
            place[scratch.local[k]] += 1
    return Postings(start, document, amount, scratch.local, scratch.inverse)


@internal
def _next_feature(limit, feature, count, place, end, own):
    """The place of the lowest next feature below `limit` of several documents, −1 if none is left.

    Fills how often each document has it, and moves on in the bags of those that do. Document i is at `place[i]`, and
    its bag ends at `end[i]`.
    """
    lowest, found = limit, -1
    for i in range(place.size):
        if place[i] < end[i] and feature[place[i]] < lowest:
            lowest, found = feature[place[i]], place[i]
    for i in range(place.size):
        has = found >= 0 and place[i] < end[i] and feature[place[i]] == lowest
        own[i] = count[place[i]] if has else 0.0
        place[i] += has
    return found


@internal
def _add_products(p, end, stop, own, inverse, exact, postings, total, error):
    """Add the products of one feature, which several rows have `own` times, with the documents of its postings.

    The postings are those from p to `end` of documents below `stop`. The products of rows without the feature are 0,
    and change neither sums nor rounding errors.
    """
    document, amount = postings.document, postings.amount
    while p < end and document[p] < stop:
        c, sums = amount[p], total[document[p]]
        if exact:
            errors = error[document[p]]
            for i in range(own.size):
                sums[i], errors[i] = exact_sum(sums[i], errors[i], own[i] * c * inverse)
        else:
            for i in range(own.size):
                sums[i] += own[i] * c * inverse
        p += 1


@compiled
def fill_rows(first, last, inputs, postings, pairs):
    """Fill the rows of some documents: S with all documents before them and with themselves, and n.

    Several rows at a time, because one instruction adds several numbers. The products of each pair are added in
    ascending order of features.
    """
    bag_start, type_start, columns = inputs.bag_start, inputs.type_start, pairs.kind.size
    S, n, kind = pairs
    total = np.zeros((columns + 1, last, ROWS))  # sums by type, and rounding errors
    place, end, own = np.zeros(ROWS, np.int64), np.zeros(ROWS, np.int64), np.zeros(ROWS)
    for begin in range(first, last, ROWS):
        rows = min(ROWS, last - begin)
        for i in range(ROWS):
            place[i] = bag_start[begin + i] if i < rows else 0
            end[i] = bag_start[begin + i + 1] if i < rows else 0
        for column in range(columns):
            t = kind[column]
            for i in range(rows):
                n[begin + i, column] = 0.0
            k = _next_feature(type_start[t + 1], inputs.feature, inputs.count, place, end, own)
            while k >= 0:
                for i in range(rows):
                    n[begin + i, column] += own[i]
                f = postings.local[k]
                _add_products(
                    postings.start[f], postings.start[f + 1], begin + rows, own, postings.inverse[f],
                    t == inputs.exact, postings, total[column], total[columns],
                )  # fmt: skip
                k = _next_feature(type_start[t + 1], inputs.feature, inputs.count, place, end, own)
        for i in range(rows):
            base = (begin + i) * (begin + i + 1) // 2
            for e in range(begin + i + 1):
                for column in range(columns + 1):
                    S[base + e, column] = total[column, e, i]
        total[:, : begin + rows] = 0.0


@compiled
def find_own_names(own_name, own_full_name, block_start, document, documents):
    """The own names of the mentions of some blocks in their documents, as in `OwnNames`.

    One occurrence of `own_name` is not a co-author, or the shares of `own_name` and `own_full_name`: see `gather_bags`.
    """
    room, found, mentions = 1024, 0, document.size
    start, feature = np.zeros(mentions + 1, np.int64), np.empty(room, np.int32)
    in_document, in_mention, inverse = np.empty(room), np.empty(room), np.empty(room)
    for b in range(block_start.size - 1):
        here = slice(block_start[b], block_start[b + 1])
        names = np.unique(np.concatenate((own_name[here], own_full_name[here])))
        for x in range(block_start[b], block_start[b + 1]):
            first, last = documents.bag_start[document[x]], documents.bag_start[document[x] + 1]
            bag = documents.feature[first:last]
            while found + names.size > feature.size:
                feature, inverse = np.append(feature, feature), np.append(inverse, inverse)
                in_document, in_mention = np.append(in_document, in_document), np.append(in_mention, in_mention)
            for name in names:
                at = np.searchsorted(bag, name)
                if name < 0 or at == bag.size or bag[at] != name:
                    continue
                count, share = documents.count[first + at], 0.0
                if name == own_name[x]:
                    share = KEY_SHARE if own_full_name[x] >= 0 else 1.0
                elif name == own_full_name[x]:
                    share = 1.0 - KEY_SHARE
                feature[found] = name
                inverse[found] = 1.0 / documents.total[name] if documents.total[name] > 0.0 else 0.0
                in_document[found], in_mention[found] = count, max(0.0, count - share)
                found += 1
            start[x + 1] = found
    return start, feature[:found], in_document[:found], in_mention[:found], inverse[:found]
