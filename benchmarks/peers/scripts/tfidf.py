"""TF-IDF vectors of all features, cosine distances within each block, and one of four textbook clusterings of them.

`fastcluster` and `agglomerative` (scikit-learn) are average linkage, cut at a distance; `dbscan` joins neighbours
within a distance; `hdbscan` has no distance to choose, and its threshold is the smallest cluster instead.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.scripts import mentions as shared
from benchmarks.peers.scripts.mentions import Clock, Compared, Mention

#: Distances of a block and where to cut in, clusters out.
Clustering = Callable[[Any, float], Any]


def tokens_of_document(document: Mapping[str, Any]) -> list[str]:
    """What all authors of a document share; other fields than text are whole and marked, so that they do not mix.

    >>> tokens_of_document({"title": "Graph theory", "venue": "JCDL", "year": 2018})
    ['graph', 'theory', 'venue=jcdl', 'year=2018']
    """
    made = shared.words(document.get("title")) + shared.words(document.get("abstract"))
    for field in ("categories", "keywords", "references", "referenced_authors"):
        made += [f"{field}={value.lower()}" for value in document.get(field, ())]
    made += [f"{field}={str(document[field]).lower()}" for field in ("venue", "year") if document.get(field)]
    return made


def tokens(mentions: Sequence[Mention]) -> Iterator[list[str]]:
    """The features of each mention; those of its document are made once."""
    last, common = None, list[str]()
    for mention in mentions:
        if mention.document is not last:
            last, common = mention.document, tokens_of_document(mention.document)
        own = [f"co={name}" for name in mention.co_authors] + [f"email={email}" for email in mention.emails]
        own += [f"aff={word}" for affiliation in mention.affiliations for word in shared.words(affiliation)]
        yield [*common, *own, *mention.ids, f"given={mention.given}"]


def vectors(mentions: Sequence[Mention]) -> Any:
    """Rows of unit length, one per mention."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    made = TfidfVectorizer(analyzer=_as_they_are, sublinear_tf=True, dtype=np.float32)
    return made.fit_transform(tokens(mentions))


def _as_they_are(features: list[str]) -> list[str]:
    return features


def by_fastcluster(distances: Any, threshold: float) -> Any:
    """Average linkage by the fastest library there is for it."""
    import fastcluster  # type: ignore[import-not-found]
    from scipy.cluster.hierarchy import fcluster
    from scipy.spatial.distance import squareform

    tree = fastcluster.linkage(squareform(distances, checks=False), method="average")
    return fcluster(tree, threshold, "distance")


def by_agglomerative(distances: Any, threshold: float) -> Any:
    """The same by scikit-learn."""
    from sklearn.cluster import AgglomerativeClustering

    average = AgglomerativeClustering(None, metric="precomputed", linkage="average", distance_threshold=threshold)
    return average.fit_predict(distances)


def by_dbscan(distances: Any, threshold: float) -> Any:
    """Mentions within a distance of each other are one author, transitively; no mention is noise."""
    from sklearn.cluster import DBSCAN

    return DBSCAN(eps=threshold, min_samples=1, metric="precomputed").fit_predict(distances)


def by_hdbscan(distances: Any, threshold: float) -> Any:
    """Density-based clustering without a distance to choose; what it calls noise is an author of its own."""
    from sklearn.cluster import HDBSCAN

    if len(distances) < threshold:
        return np.arange(len(distances))
    method = HDBSCAN(min_cluster_size=int(threshold), metric="precomputed", copy=True, allow_single_cluster=True)
    labels = method.fit_predict(np.asarray(distances, dtype=np.float64))
    noise = labels < 0
    labels[noise] = labels.max() + 1 + np.arange(noise.sum())
    return labels


CLUSTERINGS: Mapping[str, Clustering] = {
    "fastcluster": by_fastcluster,
    "agglomerative": by_agglomerative,
    "dbscan": by_dbscan,
    "hdbscan": by_hdbscan,
}


def compare(clustering: Clustering, documents: Path, clock: Clock) -> Compared:
    """Read and vectorise; blocks are compared while they are clustered, as their distances need not be kept."""
    with clock.phase("read"):
        mentions = list(shared.read_mentions(documents))
        blocks = shared.by_block(mentions)
    with clock.phase("vectorise"):
        rows = vectors(mentions)

    def cut(threshold: float) -> Sequence[int]:
        found = np.zeros(len(mentions), dtype=np.int64)
        for places in blocks.values():
            if len(places) > 1:
                found[places] = clustering(distances_between(rows[places]), threshold)
        return found.tolist()

    return Compared(mentions, shared.pairs_within(blocks.values()), cut)


def distances_between(rows: Any) -> Any:
    """Cosine distances of rows of unit length, exactly symmetric and zero on the diagonal."""
    distances = 1.0 - (rows @ rows.T).toarray()
    np.maximum(distances, 0.0, out=distances)
    np.fill_diagonal(distances, 0.0)
    return distances


def main() -> None:
    """Run one clustering on one file."""
    arguments = _parser().parse_args()
    shared.run(partial(compare, CLUSTERINGS[arguments.clustering]), arguments)


def _parser() -> argparse.ArgumentParser:
    made = shared.parser("TF-IDF, cosine distances and a clustering of each block.")
    made.add_argument("--clustering", choices=CLUSTERINGS, default="fastcluster")
    return made


if __name__ == "__main__":
    main()
