"""Made-up results of `homonym study`: plausible numbers in the real layout, from a seeded generator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

TYPES = ("term", "aff", "cat", "key", "co", "ref", "email", "year")
WEIGHTINGS = ("uniform", "trained", "opposed", "only-co", "without-co", "document")
SIZES = (*map(str, range(1, 11)), "11+")

# Loss of each weighting against the best, chosen so that the figures look like those of the paper.
LOSS = {"uniform": 0.0, "trained": 0.003, "opposed": 0.05, "only-co": 0.03, "without-co": 0.09, "document": 0.07}


def study(
    sizes: Sequence[str] = SIZES,
    weightings: Sequence[str] = WEIGHTINGS,
    *,
    names: int = 75,
    baselines: bool = True,
    training: bool = True,
    seed: int = 1,
) -> dict[str, Any]:
    """The results of a made-up study; `names` is the number of test names of the most frequent size."""
    rng = np.random.default_rng(seed)
    counts = {size: max(1, int(names / _number(size) ** 0.4)) for size in sizes}
    runs = [_run(rng, variant, weights, counts) for variant in ("prob", "max") for weights in weightings]
    return {
        "version": "0.2.0",
        "title": "train.jsonl.gz",
        "collection": {
            "files": ["train.jsonl.gz"],
            "label": "author",
            "mentions_in_collection": 1821295,
            "feature_types": list(TYPES),
            "names": 870,
            "authors": 2816,
            "labelled_mentions": 6482,
            "unlabelled_mentions": 12,
            "labels_without_mention": 3,
        },
        "split": {
            "training_share": 0.25,
            "most_names_per_size": 100,
            "by_true_size": {
                size: {"training": count // 3, "test": count, "all": 3 * count if size == "1" else 4 * count // 3}
                for size, count in counts.items()
            },
        },
        "weights": {name: _weights(name) for name in weightings},
        "training": _training() if training else None,
        "runs": runs,
        "baselines": _baselines(rng, counts) if baselines else [],
        "findings": [
            {
                "key": "uniform-trained-prob",
                "claim": "Uniform weights do as well as trained ones.",
                "verdict": "confirmed",
                "measured": "mean over sizes .935 against .931; difference +.004 [−.002, +.010]",
                "rows": [["prob", 0.004, [-0.002, 0.010]], ["max", 0.001, [-0.004, 0.006]]],
            },
            {
                "key": "prob-max",
                "claim": "The sum of products does better than the maximum.",
                "verdict": "undecided",
                "measured": "difference +.011 [−.003, +.025]",
                "rows": [["uniform", 0.011, [-0.003, 0.025]]],
            },
            {
                "key": "co-needed",
                "claim": "Co-authors cannot be left out.",
                "verdict": "refuted",
                "measured": "difference −.002 [−.006, +.003]",
                "rows": [],
            },
        ],
        "warnings": ["true sizes 14 and 21 have no training name"],
        "seconds": {"read": 1.2, "train": 0.4, "cluster": 33.1},
    }


def _number(size: str) -> int:
    return int(size.rstrip("+"))


def _weights(name: str) -> dict[str, float]:
    known = {
        "trained": (0.15, 0.2, 0.18, 0.03, 0.2, 0.12, 0.1, 0.02),
        "opposed": (0.12, 0.03, 0.1, 0.2, 0.02, 0.15, 0.18, 0.2),
        "document": (0.2, 0.0, 0.2, 0.2, 0.2, 0.0, 0.0, 0.2),
        "only-co": (0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
        "without-co": (1 / 7, 1 / 7, 1 / 7, 1 / 7, 0.0, 1 / 7, 1 / 7, 1 / 7),
    }
    return dict(zip(TYPES, known.get(name, (0.125,) * 8), strict=True))


def _training() -> dict[str, Any]:
    trained = _weights("trained")
    return {
        "seeds": 10,
        "pairs": 4210,
        "accuracy": 0.93,
        "accuracy_sd": 0.01,
        "coefficients": {kind: 15 * weight for kind, weight in trained.items()},
        "mean": trained,
        "sd": dict.fromkeys(TYPES, 0.01),
    }


def _scores(precision: float, recall: float, width: float | None = None) -> dict[str, Any]:
    f1 = 2 * precision * recall / (precision + recall)
    scores: dict[str, Any] = {"precision": precision, "recall": recall, "f1": f1}
    return scores if width is None else scores | {"interval": [max(0.0, f1 - width), min(1.0, f1 + width)]}


def _run(rng: np.random.Generator, variant: str, weights: str, counts: dict[str, int]) -> dict[str, Any]:
    level = 0.99 - LOSS.get(weights, 0.04) - 0.01 * (variant == "max")
    alpha, beta = (0.0, 2.4e-6) if variant == "prob" else (5e-4, 0.0)
    test = _results(rng, counts, level, variant)
    tuned = {"test_f1": test["mean_over_sizes"]["f1"], "test_interval": test["mean_over_sizes"]["interval"]}
    tuning = {
        "alpha": {"alpha": 5e-4, "beta": 0.0, "training_f1": level - 0.05, **tuned, "spread": [4e-4, 6e-4]},
        "beta": {"alpha": 0.0, "beta": 2.4e-6, "training_f1": level - 0.04, **tuned, "spread": [2e-6, 3e-6]},
        "both": {"alpha": 1e-5, "beta": 2.2e-6, "training_f1": level - 0.038, **tuned, "spread": [2e-6, 3e-6]},
        "paper": {"alpha": alpha, "beta": 7.5e-5 * (variant == "prob"), "training_f1": level - 0.1, **tuned},
    }
    return {
        "key": f"{variant}-{weights}",
        "title": f"{variant}, {weights} weights",
        "variant": variant,
        "weights": weights,
        "scope": "overall",
        "joint": False,
        "gamma": 0.0,
        "main": weights in ("uniform", "trained"),
        "limit": {"alpha": alpha, "beta": beta},
        "limit_kind": "beta" if variant == "prob" else "alpha",
        "tuning": tuning,
        "test": test,
        "process": {size: _process(rng, size, names, level) for size, names in counts.items()},
    }


def _results(rng: np.random.Generator, counts: dict[str, int], level: float, variant: str = "") -> dict[str, Any]:
    rows = {size: _size(rng, _number(size), names, level, run=bool(variant)) for size, names in counts.items()}
    f1 = float(np.mean([row["bcubed"]["f1"] for row in rows.values()]))
    overall = _scores(level - 0.02, level - 0.05, 0.01)
    return {
        "names": sum(counts.values()),
        "mentions": 7 * sum(counts.values()),
        "mean_over_sizes": {"f1": f1, "interval": [f1 - 0.012, f1 + 0.012]},
        "bcubed": overall,
        "pairwise_with_self": _scores(level - 0.03, level - 0.06, 0.02),
        "pairwise": _scores(level - 0.05, level - 0.09, 0.02),
        "by_true_size": rows,
    }


def _size(rng: np.random.Generator, size: int, names: int, level: float, *, run: bool) -> dict[str, Any]:
    noise = rng.normal(0, 0.006, 2)
    precision = 1.0 if size == 1 else min(1.0, level - 0.005 * size + noise[0])
    recall = min(1.0, level - 0.012 * size + noise[1])
    row: dict[str, Any] = {
        "names": names,
        "mean_clusters": 1.1 * size,
        "bcubed": _scores(precision, recall, 0.2 / names**0.5),
        "pairwise_with_self": _scores(precision - 0.005, recall - 0.005),
        "baseline_one_cluster": _scores(0.1 + 0.9 / size**0.7, 1.0),
        "baseline_singletons": _scores(1.0, 0.45),
    }
    if run:
        oracle = min(1.0, row["bcubed"]["f1"] + 0.02)
        row |= {"max_recall": recall - 0.12, "max_precision": max(0.2, precision - 0.05 * size), "oracle_f1": oracle}
    return row


def _process(rng: np.random.Generator, size: str, names: int, level: float) -> dict[str, Any]:
    true, most = _number(size), 4 * _number(size) + 8
    clusters = list(range(most, 0, -1))
    precision = [level if k >= true else 0.25 + (level - 0.25) * (k / true) ** 0.6 for k in clusters]
    recall = [1 - (1 - level) * k / true if k <= true else level * (1 - 0.8 * (k - true) / most) for k in clusters]
    f1 = [2 * p * r / (p + r) for p, r in zip(precision, recall, strict=True)]
    sd = [0.02 + 0.002 * k for k in clusters]
    stops = np.maximum(1, np.rint(rng.normal(1.05 * true, 0.4 + 0.12 * true, names)).astype(int))
    found, how_many = np.unique(stops, return_counts=True)
    return {
        "true_size": None if size.endswith("+") else true,
        "names": names,
        "clusters": clusters,
        "names_at": [max(1, round(names * min(1.0, 1.1 - k / most))) for k in clusters],
        **{f"{measure}_mean": values for measure, values in (("precision", precision), ("recall", recall), ("f1", f1))},
        **{f"{measure}_sd": sd for measure in ("precision", "recall", "f1")},
        "stops": {str(k): int(count) for k, count in zip(found, how_many, strict=True)},
    }


def _baselines(rng: np.random.Generator, counts: dict[str, int]) -> list[dict[str, Any]]:
    one = _results(rng, counts, 0.7)
    for row in one["by_true_size"].values():
        row["bcubed"] = row["baseline_one_cluster"] | {"interval": [0.4, 0.7]}
    return [
        {"key": "one-cluster", "title": "one cluster per name", "threshold": None, "test": one},
        {"key": "tf-idf", "title": "TF-IDF, average linkage", "threshold": 0.31, "test": _results(rng, counts, 0.9)},
    ]
