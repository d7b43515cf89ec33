"""What a study runs: the paper's variants and weightings, as far as a collection has the feature types for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from homonym.settings import Settings
from homonym.weights import FEATURE_TYPES, opposed, preset

VARIANTS = ("prob", "max")

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


def plan(base: Settings, weights: Mapping[str, Mapping[str, float]]) -> list[Planned]:
    """All runs: each weighting with both variants, then with uniform weights the variants that the paper gave up."""
    base = base.changed(scope="overall", joint=False)
    runs = [_planned(base, variant, name, dict(values)) for name, values in weights.items() for variant in VARIANTS]
    for variant in VARIANTS:
        runs.append(_planned(base, variant, "uniform", "uniform", scope="within"))
        runs.append(_planned(base, variant, "uniform", "uniform", joint=True))
    return runs


def _planned(base: Settings, variant: str, weights: str, values: Any, **changes: Any) -> Planned:
    extra = [name for name, wanted in (("within", "scope" in changes), ("joint", "joint" in changes)) if wanted]
    return Planned(
        key="-".join([variant, weights, *extra]),
        title=", ".join([variant, f"{weights} weights", *extra]),
        weights=weights,
        settings=base.changed(variant=variant, weights=values, **changes),
        main=weights in MAIN_WEIGHTS and not extra,
    )


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
