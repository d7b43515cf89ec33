"""recordlinkage: agreement of fields, its ECM classifier (unsupervised), connected components.

The classifier knows only agreement and disagreement, so that lists are compared at several numbers of things in common.
The threshold is the probability of a match.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.scripts import mentions as shared
from benchmarks.peers.scripts.mentions import Clock, Compared, Mention

#: Sets that are compared, and how many things two mentions have in common to agree; each number is a field to it.
COMMON = {
    "co_authors": (1, 2),
    "title_words": (1, 2, 3),
    "abstract_words": (10,),
    "affiliation_words": (1, 3),
    "keywords": (1, 3),
    "emails": (1,),
    "ids": (1,),
    "sources": (1,),
}


def record(mention: Mention) -> dict[str, Any]:
    """A mention as a row."""
    document = mention.document
    return {
        "block": mention.block,
        "given": mention.given,
        "venue": (document.get("venue") or "").lower() or None,
        "category": "; ".join(document.get("categories", ())) or None,
        "year": document.get("year"),
        "co_authors": frozenset(mention.co_authors),
        "title_words": frozenset(shared.words(document.get("title"))),
        "abstract_words": frozenset(shared.words(document.get("abstract"))),
        "affiliation_words": frozenset(word for line in mention.affiliations for word in shared.words(line)),
        "keywords": frozenset(value.lower() for value in document.get("keywords", ())),
        "emails": frozenset(mention.emails),
        "ids": frozenset(mention.ids),
        "sources": frozenset([*document.get("references", ()), *document.get("referenced_authors", ())]),
    }


def in_common(left: Any, right: Any) -> Any:
    """How many things each pair of sets has in common."""
    return np.fromiter((len(one & other) for one, other in zip(left, right, strict=True)), np.int64, len(left))


def agreements(rows: Any, pairs: Any) -> Any:
    """For each pair and field whether they agree; fields on which no pair or every pair agrees carry no information."""
    import recordlinkage  # type: ignore[import-not-found]

    compare = recordlinkage.Compare(n_jobs=os.cpu_count() or 1)
    compare.string("given", "given", method="jarowinkler", threshold=0.9, label="given")
    compare.exact("venue", "venue", label="venue")
    compare.exact("category", "category", label="category")
    compare.numeric("year", "year", method="step", offset=2, scale=1, label="year")
    for name, numbers in COMMON.items():
        for number in numbers:
            compare.compare_vectorized(AtLeast(number), name, name, label=f"{name} >= {number}")
    made = (compare.compute(pairs, rows) > 0).astype(np.int8)
    says = [name for name in made if 0 < made[name].mean() < 1]
    return made[says]


class AtLeast:
    """Whether two sets have a minimum number of items in common; a class, as it goes to other processes."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, left: Any, right: Any) -> Any:
        """Compare columns of sets."""
        return (in_common(left, right) >= self.number).astype(np.float64)


def compare(documents: Path, clock: Clock) -> Compared:
    """Read, compare all pairs of each block, estimate; what is probable is linked."""
    import pandas as pd  # type: ignore[import-untyped]
    import recordlinkage

    warnings.simplefilter("ignore")
    with clock.phase("read"):
        mentions = list(shared.read_mentions(documents))
        rows = pd.DataFrame([record(mention) for mention in mentions])
    with clock.phase("score"):
        index = recordlinkage.Index()
        index.block("block")
        pairs = index.index(rows)
        agreement = agreements(rows, pairs)
    with clock.phase("estimate"):
        classifier = recordlinkage.ECMClassifier()
        classifier.fit(agreement)
        probability = classifier.prob(agreement)

    def cut(threshold: float) -> Sequence[int]:
        return shared.components(len(mentions), probability.index[probability >= threshold])

    return Compared(mentions, len(pairs), cut)


if __name__ == "__main__":
    shared.run(compare, shared.parser("recordlinkage with its ECM classifier on the pairs of each block.").parse_args())
