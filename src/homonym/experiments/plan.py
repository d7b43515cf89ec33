"""What a study runs: the paper's variants and weightings, as far as a collection has the feature types for them.

One variant is not the paper's: scores from which a share of what chance would give is subtracted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from homonym.settings import PAPER_LIMIT, Settings
from homonym.weights import FEATURE_TYPES, opposed, preset

VARIANTS = ("prob", "max")

#: Other scores, what they are called and what they set: those that the paper gave up, run with both variants; and those
#: less what chance would give, which is a matter of sums: these grow with the size of clusters.
GIVEN_UP: Mapping[str, tuple[str, dict[str, Any]]] = {
    "within": ("within", {"scope": "within"}),
    "joint": ("joint", {"joint": True}),
}
LESS_CHANCE: Mapping[str, tuple[str, dict[str, Any]]] = {
    "chance0.25": ("a quarter of chance subtracted", {"gamma": 0.25}),
    "chance1": ("chance subtracted", {"gamma": 1.0}),
    "chance2": ("chance subtracted twice", {"gamma": 2.0}),
}
#: Those of the paper's table of results; the others are shown in less detail.
MAIN_WEIGHTS = ("uniform", "trained")


@dataclass(frozen=True)
class Planned:
    """One run of a study: some settings, whose limit is still to be tuned, under a name."""

    key: str
    title: str
    weights: str
    settings: Settings
    main: bool


def weightings(
    types: Sequence[str], trained: Mapping[str, float] | None
) -> tuple[dict[str, dict[str, float]], list[str]]:
    """The weights to run, by name, and a sentence for each that is another one once more.

    >>> list(weightings(["co", "term"], None)[0])
    ['uniform', 'opposed', 'paper', 'only-co', 'only-term']
    """
    made = {"uniform": preset("uniform", types)}
    if trained:
        made["trained"] = dict(trained)
    # Turned around are the weights that were learnt here; without them, the paper's.
    made["opposed"] = opposed(trained) if trained else preset("opposed", types)
    if set(types) <= set(FEATURE_TYPES):
        made["paper"] = preset("paper", types)
    for name in [f"only-{kind}" for kind in types] + [f"without-{kind}" for kind in types] + ["authors", "document"]:
        made[name] = preset(name, types)
    return _distinct(made)


def as_the_paper(settings: Settings) -> Settings:
    """The same settings, but for what a study varies or the paper does not have: as in the paper."""
    papers = {"variant": "prob", "scope": "overall", "joint": False, "weights": "uniform", "gamma": 0.0}
    return settings.with_limit(PAPER_LIMIT["prob"]).changed(**papers, constraints="none")


def plan(base: Settings, weights: Mapping[str, Mapping[str, float]]) -> list[Planned]:
    """All runs: each weighting with both variants, then other scores with uniform weights."""
    base = as_the_paper(base)
    runs = [_planned(base, variant, name, dict(values)) for name, values in weights.items() for variant in VARIANTS]
    runs += [_varied(base, variant, key, *other) for variant in VARIANTS for key, other in GIVEN_UP.items()]
    return runs + [_varied(base, "prob", key, *other) for key, other in LESS_CHANCE.items()]


def _planned(base: Settings, variant: str, weights: str, values: dict[str, float]) -> Planned:
    return Planned(
        key=f"{variant}-{weights}",
        title=f"{variant}, {weights} weights",
        weights=weights,
        settings=base.changed(variant=variant, weights=values).with_limit(PAPER_LIMIT[variant]),
        main=weights in MAIN_WEIGHTS,
    )


def _varied(base: Settings, variant: str, key: str, title: str, changes: dict[str, Any]) -> Planned:
    settings = base.changed(variant=variant, **changes).with_limit(PAPER_LIMIT[variant])
    return Planned(f"{variant}-uniform-{key}", f"{variant}, uniform weights, {title}", "uniform", settings, main=False)


def _distinct(made: Mapping[str, dict[str, float]]) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Leave out what has no weight left or is the same as an earlier one, and say so."""
    kept: dict[str, dict[str, float]] = {}
    said = []
    for name, values in made.items():
        same = next((other for other, known in kept.items() if known == values), None)
        if not sum(values.values()):
            said.append(f"weights '{name}': no mention has any of these feature types.")
        elif same:
            said.append(f"weights '{name}' are the same as '{same}' with these feature types, and were run once.")
        else:
            kept[name] = values
    return kept, said
