"""What each pair of documents shares, computed once for all blocks in which both have mentions.

Most features belong to the document: the bags of its authors differ only in affiliations, e-mail addresses and the
own name that is left out of the co-authors. In papers with hundreds of authors, S(x,y) computed from the bags of
mentions repeats the same products in hundreds of blocks. Here S of the documents of x and y is looked up, and the
products of own names are replaced. Sums of co-authors are exact, so the result is the same to the last bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homonym.clustering.compiling import compiled
from homonym.clustering.dense.cooccurrence import number_features
from homonym.clustering.dense.exact_sums import exact_sum
from homonym.settings import KEY_SHARE


class Postings(NamedTuple):
    """The documents of each feature, ascending; `position[k]` is the place of occurrence k among them."""

    start: Any
    document: Any
    amount: Any
    position: Any
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
    position = np.empty(occurrences, np.int64)
    for d in range(bag_start.size - 1):
        for k in range(bag_start[d], bag_start[d + 1]):
            at = place[scratch.local[k]]
            document[at], amount[at], position[k] = d, inputs.count[k], at
            place[scratch.local[k]] += 1
    return Postings(start, document, amount, position, scratch.local, scratch.inverse)


@compiled
def fill_rows(first, last, inputs, postings, pairs):
    """Fill the rows of some documents: S with all documents before them and with themselves, and n."""
    bag_start, feature, count, type_start = inputs.bag_start, inputs.feature, inputs.count, inputs.type_start
    start, document, amount, position, local, inverse = postings
    S, n, kind = pairs
    total, error = np.zeros(last), np.zeros(last)
    for d in range(first, last):
        base, k = d * (d + 1) // 2, bag_start[d]
        for column in range(kind.size):
            t = kind[column]
            n[d, column] = 0.0
            while k < bag_start[d + 1] and feature[k] < type_start[t + 1]:
                f, c = local[k], count[k]
                n[d, column] += c
                for p in range(start[f], position[k] + 1):
                    e, product = document[p], c * amount[p] * inverse[f]
                    if t == inputs.exact:
                        total[e], error[e] = exact_sum(total[e], error[e], product)
                    else:
                        total[e] += product
                k += 1
            S[base : base + d + 1, column] = total[: d + 1]
            total[: d + 1] = 0.0
        S[base : base + d + 1, kind.size] = error[: d + 1]
        error[: d + 1] = 0.0


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
