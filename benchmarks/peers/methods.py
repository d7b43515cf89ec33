"""The methods that are compared: homonym and other tools, each with the threshold that it has without labels."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """One method: its script, its environment, where it cuts, and which of its phases compare and cluster.

    `fixed` is where it cuts when there are no labels. `tried` are the thresholds of which the best one, found with all
    labels of a set, shows what no choice could exceed. `large` methods also run on the generated set; what takes
    minutes runs `once`, in the first round.
    """

    title: str
    script: str
    requirements: str | None
    fixed: float
    comparing: tuple[str, ...]
    tried: tuple[float, ...] = ()
    arguments: tuple[str, ...] = ()
    labels: str = "none"
    large: bool = False
    once: bool = False
    notes: str = ""


def steps(first: int, last: int, by: int, parts: int) -> tuple[float, ...]:
    """Thresholds at even distances, as whole parts.

    >>> steps(80, 90, 5, 100)
    (0.8, 0.85, 0.9)
    """
    return tuple(number / parts for number in range(first, last + 1, by))


HOMONYM = Method(
    "homonym",
    "homonym_default",
    None,
    0.0,
    ("constrain", "cluster"),
    large=True,
    notes="default settings; the limit is calibrated without labels",
)

#: The clearest choice for TF-IDF would be tuned; these are the best single values over all sets here, to its favour.
AVERAGE, NEIGHBOURS = 0.93, 0.84

FASTCLUSTER = Method(
    "TF-IDF + fastcluster, average linkage",
    "tfidf",
    "tfidf",
    AVERAGE,
    ("cluster",),
    steps(84, 98, 1, 100),
    large=True,
    notes="cosine distance; the fixed threshold is the best single value over these sets, so it depends on labels",
)
SPLINK = Method(
    "Splink, EM, DuckDB",
    "splink_em",
    "splink",
    0.0,
    ("score", "cluster"),
    (*steps(-6, 6, 1, 1), 8.0),
    notes="match weight; 0 is a probability of .5, chosen because it does better on these labels than the usual .95",
)
S2AND = Method(
    "S2AND, its production model",
    "s2and_model",
    "s2and",
    0.65,
    ("score", "cluster"),
    steps(10, 90, 5, 100),
    labels="its authors', perhaps these too",
    once=True,
    notes="without SPECTER2 embeddings and name counts, which its package does not include",
)
METHODS: tuple[Method, ...] = (
    HOMONYM,
    FASTCLUSTER,
    Method(
        "TF-IDF + scikit-learn AgglomerativeClustering",
        "tfidf",
        "tfidf",
        AVERAGE,
        ("cluster",),
        arguments=("--clustering", "agglomerative"),
        large=True,
        notes="the same clusters as those of fastcluster",
    ),
    Method(
        "TF-IDF + DBSCAN",
        "tfidf",
        "tfidf",
        NEIGHBOURS,
        ("cluster",),
        steps(70, 94, 2, 100),
        arguments=("--clustering", "dbscan"),
        notes="radius, min_samples = 1; the fixed radius is the best single value over these sets, as above",
    ),
    Method(
        "TF-IDF + HDBSCAN",
        "tfidf",
        "tfidf",
        5.0,
        ("cluster",),
        (2.0, 3.0, 4.0),
        arguments=("--clustering", "hdbscan"),
        notes="the threshold is the minimum cluster size",
    ),
    SPLINK,
    Method(
        "recordlinkage, ECM",
        "recordlinkage_ecm",
        "recordlinkage",
        0.5,
        ("score", "cluster"),
        (0.01, 0.1, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999),
        notes="the threshold is a probability",
    ),
    S2AND,
)
