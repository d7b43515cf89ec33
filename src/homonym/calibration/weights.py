"""Feature-type weights λ from labels, by logistic regression as in the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from homonym.calibration import SEEDS
from homonym.clustering.agglomerative import couple
from homonym.clustering.arrays import Floats, Integers
from homonym.errors import InputError, SettingsError
from homonym.measures.methods import LabelledNames
from homonym.settings import Settings

#: Pairs of examples from each name, so that a name of thousands of mentions counts as much as one of ten.
PAIRS_PER_NAME = 50


@dataclass(frozen=True, eq=False)
class Examples:
    """p_t(x|C) per feature type, whether x is by the author of C, and the name that they are taken from."""

    probability: Floats
    right: Integers
    name: Integers


def sample(names: LabelledNames, settings: Settings, seed: int) -> Examples:
    """Draw examples from each name that has somebody with two mentions and somebody else, right and wrong in pairs."""
    generator = np.random.default_rng(seed)
    rows, origin = [np.empty((0, len(names.frequencies.types)))], []
    for name in range(len(names)):
        first, last = names.bags.block_start[name : name + 2]
        people = _people(names.author[first:last])
        sizes = possible_sizes([len(mentions) for mentions in people])
        if not sizes:
            continue
        S, n = couple(names.bags, name, names.frequencies)
        for size in generator.choice(sizes, PAIRS_PER_NAME):
            x, right, wrong = _draw(people, int(size), generator)
            for cluster in (right, wrong):
                rows.append(_probability(S, n, x, cluster, names.frequencies.mentions, settings)[None])
                origin.append(name)
    return Examples(np.concatenate(rows), np.arange(len(origin)) % 2 == 0, np.array(origin, np.int64))


def possible_sizes(mentions: list[int]) -> list[int]:
    """All |C| = |Ċ| that a name allows: somebody has one mention more, and somebody else has that many.

    >>> possible_sizes([3, 1]), possible_sizes([3, 4]), possible_sizes([1, 1]), possible_sizes([9])
    ([1], [1, 2, 3], [], [])
    """
    if len(mentions) < 2:
        return []
    largest, second = sorted(mentions, reverse=True)[:2]
    return list(range(1, min(largest - 1, second) + 1))


def _people(author: Integers) -> list[Integers]:
    """The mentions of each known author of one name."""
    return [np.flatnonzero(author == person) for person in np.unique(author[author >= 0])]


def _draw(people: list[Integers], size: int, generator: np.random.Generator) -> tuple[int, Integers, Integers]:
    """A mention, `size` others of its author, and as many of somebody else."""
    pairs = [
        (i, j)
        for i, own in enumerate(people)
        for j, other in enumerate(people)
        if i != j and len(own) > size and len(other) >= size
    ]
    own, other = (people[i] for i in pairs[generator.integers(len(pairs))])
    x, *right = generator.choice(own, size + 1, replace=False)
    return int(x), np.array(right), generator.choice(other, size, replace=False)


def _probability(S: Floats, n: Floats, x: int, cluster: Integers, N: int, settings: Settings) -> Floats:
    """p_t(x|C) of each feature type, C being the cluster."""
    epsilon, size = settings.epsilon, len(cluster)
    use_max = settings.variant == "max"
    shared = S[x, cluster].max(axis=0) if use_max else S[x, cluster].sum(axis=0)
    above = shared + (1 if use_max else size) * epsilon / N
    probability: Floats = above / (n[cluster].sum(axis=0) + size * epsilon)
    return probability


#: A feature type whose values differ by no more than this share of their mean is the same for all.
CONSTANT = 1e-9
#: Accuracy is measured on names that the classifier has not seen, in so many rounds.
FOLDS = 5


@dataclass(frozen=True)
class LearnedWeights:
    """Weights by feature type: their mean over the seeds, scaled to a sum of 1, and their standard deviation.

    `coefficients` are the classifier's, with their sign, averaged over the seeds. `accuracy` is the share of (x, C)
    that the classifier tells from (x, Ċ) on names it has not seen: .5 is chance.
    """

    weights: dict[str, float]
    sd: dict[str, float]
    coefficients: dict[str, float]
    accuracy: float
    accuracy_sd: float
    names: int
    pairs: int
    seeds: int


def learn_weights(names: LabelledNames, settings: Settings, seeds: int = SEEDS) -> LearnedWeights:
    """Learn which feature types tell a mention's author from somebody else of the name.

    A weight multiplies p_t(x|C), but p_t of years is ten thousand times smaller than that of e-mail addresses, so the
    coefficients of the bare values say more about scale than about use. They are those of p_t divided by its standard
    deviation; negative ones are set to 0.
    """
    _require_sklearn()
    if seeds < 1:
        raise SettingsError(f"weights are learnt from at least one sample, got {seeds}.")
    samples = [sample(names, settings, seed) for seed in range(seeds)]
    if len(np.unique(samples[0].name)) < 2:
        raise InputError(
            "weights need at least two names that two people share, one of them with two mentions; label more names."
        )
    coefficients = np.stack([_classifier().fit(_scaled(one), one.right).coef_[0] for one in samples])
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
        pairs=sum(len(examples.right) // 2 for examples in samples),
        seeds=seeds,
    )


def _weights(coefficients: Floats) -> Floats:
    """Coefficients without negative ones, scaled to a sum of 1; equal ones if nothing helps.

    >>> _weights(np.array([3.0, -1.0, 1.0]))
    array([0.75, 0.  , 0.25])
    """
    helpful = np.clip(coefficients, 0, None)
    total = helpful.sum()
    return helpful / total if total > 0 else np.full(len(helpful), 1 / len(helpful))


def _accuracy(examples: Examples) -> float:
    from sklearn.model_selection import GroupKFold, cross_val_score

    folds = GroupKFold(min(FOLDS, len(np.unique(examples.name))))
    scores = cross_val_score(_classifier(), _scaled(examples), examples.right, groups=examples.name, cv=folds)
    return float(np.mean(scores))


def _scaled(examples: Examples) -> Floats:
    """Divide each column by its standard deviation; one that is the same for all but for rounding becomes 0."""
    spread, mean = examples.probability.std(axis=0), examples.probability.mean(axis=0)
    return examples.probability / np.where(spread > CONSTANT * mean, spread, np.inf)


def _classifier() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(solver="newton-cholesky")


def _require_sklearn() -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise SettingsError(
            "learning weights needs scikit-learn; install it with: pip install 'homonym[train]'"
        ) from None
