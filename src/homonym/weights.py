"""Feature-type weights λ by name: the weightings that the paper examines, and one that does better.

>>> preset("only-co", ["co", "term"])
{'co': 1.0, 'term': 0.0}
>>> preset("without-co", ["co", "term", "year"])
{'co': 0.0, 'term': 0.5, 'year': 0.5}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

FEATURE_TYPES = ("term", "aff", "cat", "key", "co", "ref", "email", "year")

#: What the paper's classifier learnt on Web of Science names.
PAPER: Mapping[str, float] = {
    "term": 0.15, "aff": 0.2, "cat": 0.18, "key": 0.03, "co": 0.2, "ref": 0.12, "email": 0.1, "year": 0.02,
}  # fmt: skip

#: Better than equal weights on every labelled collection that it was tried on (docs/accuracy.md); types not named: 1.
BALANCED: Mapping[str, float] = {"term": 2.0, "co": 1.5, "cat": 0.5}

#: Co-authors and referenced authors; and what describes the document, not one of its authors.
SELECTIONS: Mapping[str, tuple[str, ...]] = {"authors": ("co", "ref"), "document": ("term", "cat", "key", "co", "year")}

PRESETS = "balanced, uniform, paper, opposed, authors, document, only-<type>, without-<type>"


def is_preset(name: str) -> bool:
    """Whether this is the name of a preset; which types exist is known only when a collection has been read."""
    kind = name.removeprefix("only-").removeprefix("without-")
    return name in {"balanced", "uniform", "paper", "opposed", *SELECTIONS} or kind not in {"", name}


def preset(name: str, types: Sequence[str]) -> dict[str, float]:
    """Give the weight of each feature type under a preset's name; they sum to 1 if any type is left.

    The paper's weights know eight types only; those that a collection lacks drop out.
    """
    if name == "paper":
        return _scaled({kind: PAPER.get(kind, 0.0) for kind in types})
    if name == "balanced":
        return _scaled({kind: BALANCED.get(kind, 1.0) for kind in types})
    if name == "opposed":
        against = opposed(PAPER)
        return _scaled({kind: against.get(kind, 0.0) for kind in types})
    return _scaled({kind: float(_chosen(name, kind)) for kind in types})


def opposed(weights: Mapping[str, float]) -> dict[str, float]:
    """Turn weights around: the smallest becomes the largest, and so on; equals in the order of their types.

    >>> opposed(PAPER)["co"], opposed(PAPER)["year"]
    (0.02, 0.2)
    """
    rising = sorted(weights, key=lambda kind: weights[kind])
    against = dict(zip(rising, sorted(weights.values(), reverse=True), strict=True))
    return {kind: against[kind] for kind in weights}


def _chosen(name: str, kind: str) -> bool:
    if name == "uniform":
        return True
    if name in SELECTIONS:
        return kind in SELECTIONS[name]
    if name.startswith("only-"):
        return kind == name.removeprefix("only-")
    return kind != name.removeprefix("without-")


def _scaled(weights: dict[str, float]) -> dict[str, float]:
    total = sum(weights.values())
    return {kind: weight / total for kind, weight in weights.items()} if total else weights
