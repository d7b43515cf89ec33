"""The plan of a study: which weightings, variants and scores are run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from homonym.settings import PAPER_LIMIT, PAPER_TYPES, Settings, opposed, preset

VARIANTS = ("prob", "max")

# Scores that the paper rejected, run with both variants: key, title and changed settings.
REJECTED_SCORES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "within": ("within", {"scope": "within"}),
    "joint": ("joint", {"joint": True}),
}
# Scores with chance correction, run with prob only: its sums grow with the size of clusters.
CHANCE_CORRECTED: Mapping[str, tuple[str, dict[str, Any]]] = {
    "chance0.25": ("a quarter of chance subtracted", {"gamma": 0.25}),
    "chance1": ("chance subtracted", {"gamma": 1.0}),
    "chance2": ("chance subtracted twice", {"gamma": 2.0}),
}
# The weightings of the paper's table of results; the others are shown in less detail.
MAIN_WEIGHTS = ("uniform", "trained")


@dataclass(frozen=True)
class PlannedRun:
    """One run of a study: its key and title, and its settings, whose limit is still to be tuned."""

    key: str
    title: str
    weights: str
    settings: Settings
    main: bool


def weightings(
    types: Sequence[str], trained: Mapping[str, float] | None
) -> tuple[dict[str, dict[str, float]], list[str]]:
    """The weightings to run, by name, and a message for each weighting that is empty or a duplicate.

    >>> list(weightings(["co", "term"], None)[0])
    ['uniform', 'opposed', 'paper', 'only-co', 'only-term']
    """
    made = {"uniform": preset("uniform", types)}
    if trained:
        made["trained"] = dict(trained)
    # Without weights learned here, the paper's weights are reversed.
    made["opposed"] = opposed(trained) if trained else preset("opposed", types)
    if set(types) <= set(PAPER_TYPES):
        made["paper"] = preset("paper", types)
    for name in [f"only-{kind}" for kind in types] + [f"without-{kind}" for kind in types] + ["authors", "document"]:
        made[name] = preset(name, types)
    return _distinct(made)


def paper_settings(settings: Settings) -> Settings:
    """The settings with everything that a study varies, or that the paper does not have, reset as in the paper."""
    reset = {"variant": "prob", "scope": "overall", "joint": False, "weights": "uniform", "gamma": 0.0}
    return settings.with_limit(PAPER_LIMIT["prob"]).changed(**reset, constraints="none")


def plan(base: Settings, weights: Mapping[str, Mapping[str, float]]) -> list[PlannedRun]:
    """All runs: each weighting with both variants, then the other scores with uniform weights."""
    base = paper_settings(base)
    runs = [_planned(base, variant, name, dict(values)) for name, values in weights.items() for variant in VARIANTS]
    runs += [_varied(base, variant, key, *other) for variant in VARIANTS for key, other in REJECTED_SCORES.items()]
    return runs + [_varied(base, "prob", key, *other) for key, other in CHANCE_CORRECTED.items()]


def _planned(base: Settings, variant: str, weights: str, values: dict[str, float]) -> PlannedRun:
    return PlannedRun(
        key=f"{variant}-{weights}",
        title=f"{variant}, {weights} weights",
        weights=weights,
        settings=base.changed(variant=variant, weights=values).with_limit(PAPER_LIMIT[variant]),
        main=weights in MAIN_WEIGHTS,
    )


def _varied(base: Settings, variant: str, key: str, title: str, changes: dict[str, Any]) -> PlannedRun:
    settings = base.changed(variant=variant, **changes).with_limit(PAPER_LIMIT[variant])
    return PlannedRun(
        f"{variant}-uniform-{key}", f"{variant}, uniform weights, {title}", "uniform", settings, main=False
    )


def _distinct(made: Mapping[str, dict[str, float]]) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Drop weightings without any weight and duplicates, with a message for each."""
    kept: dict[str, dict[str, float]] = {}
    messages = []
    for name, values in made.items():
        same = next((other for other, earlier in kept.items() if earlier == values), None)
        if not sum(values.values()):
            messages.append(f"weights '{name}': no mention has any of these feature types.")
        elif same:
            messages.append(f"weights '{name}' are the same as '{same}' with these feature types, and were run once.")
        else:
            kept[name] = values
    return kept, messages
