"""Feature-type weights λ, learnt from labelled names by logistic regression as in the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from homonym.clustering.agglomerative import pair_scores
from homonym.clustering.arrays import Floats, Integers
from homonym.errors import InputError, SettingsError
from homonym.measures.methods import LabelledNames
from homonym.settings import WEIGHT_SEEDS, Settings

# Number of pairs of examples per name: a name of thousands of mentions counts as much as one of ten.
PAIRS_PER_NAME = 50
# A feature type is constant if its standard deviation is at most this share of its mean.
CONSTANT = 1e-9
# Number of cross-validation folds; a fold holds whole names.
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Examples:
    """p_t(x|C) by feature type (columns), whether x is by the author of C, and the name of each example."""

    probability: Floats
    same_author: Integers
    name: Integers


def sample_examples(names: LabelledNames, settings: Settings, seed: int) -> Examples:
    """Draw pairs of a positive and a negative example from each name that has two authors, one with two mentions."""
    generator = np.random.default_rng(seed)
    rows, origin = [np.empty((0, len(names.frequencies.types)))], []
    for name in range(len(names)):
        first, last = names.bags.block_start[name : name + 2]
        authors = _author_mentions(names.author[first:last])
        sizes = possible_sizes([len(mentions) for mentions in authors])
        if not sizes:
            continue
        S, n = pair_scores(names.bags, name, names.frequencies)
        for size in generator.choice(sizes, PAIRS_PER_NAME):
            x, own, other = _draw_clusters(authors, int(size), generator)
            for cluster in (own, other):
                rows.append(_probability(S, n, x, cluster, names.frequencies.mentions, settings)[None])
                origin.append(name)
    return Examples(np.concatenate(rows), np.arange(len(origin)) % 2 == 0, np.array(origin, np.int64))


def possible_sizes(mentions: list[int]) -> list[int]:
    """The sizes |C| = |Ċ| that a name allows: one author has more mentions than that, another at least as many.

    >>> possible_sizes([3, 1]), possible_sizes([3, 4]), possible_sizes([1, 1]), possible_sizes([9])
    ([1], [1, 2, 3], [], [])
    """
    if len(mentions) < 2:
        return []
    largest, second = sorted(mentions, reverse=True)[:2]
    return list(range(1, min(largest - 1, second) + 1))


def _author_mentions(author: Integers) -> list[Integers]:
    """The mentions of each known author of one name."""
    return [np.flatnonzero(author == one) for one in np.unique(author[author >= 0])]


def _draw_clusters(
    authors: list[Integers], size: int, generator: np.random.Generator
) -> tuple[int, Integers, Integers]:
    """A mention, `size` other mentions of its author, and as many of another author."""
    pairs = [
        (i, j)
        for i, own in enumerate(authors)
        for j, other in enumerate(authors)
        if i != j and len(own) > size and len(other) >= size
    ]
    own, other = (authors[i] for i in pairs[generator.integers(len(pairs))])
    x, *rest = generator.choice(own, size + 1, replace=False)
    return int(x), np.array(rest), generator.choice(other, size, replace=False)


def _probability(S: Floats, n: Floats, x: int, cluster: Integers, N: int, settings: Settings) -> Floats:
    """p_t(x|C) of each feature type, where C is the cluster."""
    epsilon, size = settings.epsilon, len(cluster)
    use_max = settings.variant == "max"
    shared = S[x, cluster].max(axis=0) if use_max else S[x, cluster].sum(axis=0)
    above = shared + (1 if use_max else size) * epsilon / N
    probability: Floats = above / (n[cluster].sum(axis=0) + size * epsilon)
    return probability


@dataclass(frozen=True)
class LearnedWeights:
    """Weights by feature type: their mean over the seeds, scaled to a sum of 1, and their standard deviation.

    `coefficients` are the means of the classifier's coefficients, which can be negative. `accuracy` is that of telling
    (x, C) from (x, Ċ) on names that were not trained on; chance is .5.
    """

    weights: dict[str, float]
    sd: dict[str, float]
    coefficients: dict[str, float]
    accuracy: float
    accuracy_sd: float
    names: int
    pairs: int
    seeds: int


def learn_weights(names: LabelledNames, settings: Settings, seeds: int = WEIGHT_SEEDS) -> LearnedWeights:
    """Learn how well each feature type separates a mention's author from other authors of the name.

    Each p_t is divided by its standard deviation before the regression: p_t of years is ten thousand times smaller than
    that of e-mail addresses, so that the coefficients of raw values would reflect scale, not usefulness. Negative
    coefficients are set to 0.
    """
    _require_sklearn()
    if seeds < 1:
        raise SettingsError(f"the number of seeds must be at least 1, got {seeds}.")
    samples = [sample_examples(names, settings, seed) for seed in range(seeds)]
    if len(np.unique(samples[0].name)) < 2:
        raise InputError(
            "weights need at least two names with two authors each, one of them with two mentions; label more names."
        )
    coefficients = np.stack([_classifier().fit(_scaled(one), one.same_author).coef_[0] for one in samples])
    weights = np.stack([_weights(row) for row in coefficients])
    accuracy = [_accuracy(examples) for examples in samples]
    mean = weights.mean(axis=0)
    types = names.frequencies.types
    return LearnedWeights(
        weights=dict(zip(types, (mean / mean.sum()).tolist(), strict=True)),
        sd=dict(zip(types, weights.std(axis=0).tolist(), strict=True)),
        coefficients=dict(zip(types, coefficients.mean(axis=0).tolist(), strict=True)),
        accuracy=float(np.mean(accuracy)),
        accuracy_sd=float(np.std(accuracy)),
        names=len(np.unique(samples[0].name)),
        pairs=sum(len(examples.same_author) // 2 for examples in samples),
        seeds=seeds,
    )


def _weights(coefficients: Floats) -> Floats:
    """Coefficients with negative ones set to 0, scaled to a sum of 1; equal weights if none is positive.

    >>> _weights(np.array([3.0, -1.0, 1.0]))
    array([0.75, 0.  , 0.25])
    """
    positive = np.clip(coefficients, 0, None)
    total = positive.sum()
    return positive / total if total > 0 else np.full(len(positive), 1 / len(positive))


def _accuracy(examples: Examples) -> float:
    from sklearn.model_selection import GroupKFold, cross_val_score

    folds = GroupKFold(min(FOLDS, len(np.unique(examples.name))))
    scores = cross_val_score(_classifier(), _scaled(examples), examples.same_author, groups=examples.name, cv=folds)
    return float(np.mean(scores))


def _scaled(examples: Examples) -> Floats:
    """Divide each column by its standard deviation; a column that is constant up to rounding becomes 0."""
    spread, mean = examples.probability.std(axis=0), examples.probability.mean(axis=0)
    return examples.probability / np.where(spread > CONSTANT * mean, spread, np.inf)


def _classifier() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(solver="newton-cholesky")


def _require_sklearn() -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise SettingsError("learning weights needs scikit-learn; install it with: pip install scikit-learn") from None
