"""Sums of co-authors: exact, so that a mention's own name can be exchanged afterwards."""

from __future__ import annotations

from homonym.clustering.compiling import inlined, internal


@internal
def exact_sum(high, low, more):
    """The sum of a number of 106 bits, given as a double and its rounding error, and a double.

    It is exact as long as 106 bits suffice: for products from 2⁻³⁸ on, whose last bit is 2⁻⁹⁰, below 2¹⁴.
    """
    total = high + more
    part = total - high
    error = (high - (total - part)) + (more - part) + low
    rounded = total + error
    return rounded, error - (rounded - total)


@inlined
def replace_own_names(high, low, i, end_i, j, end_j, feature, in_document, in_mention, inverse):
    """S of the co-authors of two mentions, given that of their documents: products of own names are exchanged."""
    while i < end_i and j < end_j:
        if feature[i] == feature[j]:
            of_documents = in_document[i] * in_document[j] * inverse[i]
            of_mentions = in_mention[i] * in_mention[j] * inverse[i]
            if of_documents != of_mentions:
                high, low = exact_sum(high, low, -of_documents)
                if of_mentions > 0.0:
                    high, low = exact_sum(high, low, of_mentions)
            i, j = i + 1, j + 1
        elif feature[i] < feature[j]:
            i += 1
        else:
            j += 1
    return high
