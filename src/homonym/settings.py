"""Every parameter of a run as one frozen value: validated once, read from TOML, stored beside each result."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from homonym.errors import InputError, SettingsError
from homonym.sources import unreadable
from homonym.weights import FEATURE_TYPES, PRESETS, is_preset, preset

Variant = Literal["prob", "max"]
Scope = Literal["overall", "within"]
Blocking = Literal["given", "initials", "first-initial", "full-name"]

#: The paper's limits: (α, β) of l = α + |X|·β, tuned there on Web of Science names.
DEFAULT_LIMIT: Mapping[str, tuple[float, float]] = {"prob": (0.0, 7.5e-5), "max": (5e-4, 0.0)}

#: How far given weights may be from a sum of 1 before it is taken for a mistake rather than for rounding.
WEIGHT_SUM_TOLERANCE = 1e-6

Finite = Annotated[float, Field(allow_inf_nan=False)]


class Settings(BaseModel):
    """The parameters of one run.

    >>> Settings(beta=2.5e-5).limit
    (0.0, 2.5e-05)
    >>> Settings(variant="max").limit
    (0.0005, 0.0)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    variant: Variant = Field("prob", description="sum of products (prob) or maximum of products (max)")
    joint: bool = Field(False, description="score with p(C,D) instead of p(C|D): the paper's pc_on, worse there")
    scope: Scope = Field(
        "overall", description="count #(f) over the whole collection (overall) or inside each block (within)"
    )
    epsilon: Finite = Field(1e-4, gt=0, le=1, description="smoothing; the paper tried only this value")
    alpha: Finite | None = Field(None, ge=0, description="constant part of the limit α + |X|·β; alone, β is 0")
    beta: Finite | None = Field(None, ge=0, description="part of the limit per mention in the block; alone, α is 0")
    weights: str | dict[str, Finite] = Field(
        "uniform", description=f"one of {PRESETS}; or type=weight pairs that sum to 1, e.g. co=.5,ref=.5"
    )
    blocking: Blocking = Field(
        "given",
        description="how mentions are grouped by name: the block that the data names, else surname + all initials "
        "(given); surname + all initials; surname + first initial; surname + all given names as written (full-name)",
    )
    year_sigma: Finite = Field(2.0, gt=0, le=100, description="σ of the Gaussian around the publication year, in years")
    year_reach: int = Field(5, ge=0, le=100, description="years on either side at which that Gaussian is cut")
    title_weight: int = Field(3, ge=0, le=1000, description="how often a title word counts; the paper's 3")
    abstract_weight: int = Field(1, ge=0, le=1000, description="how often an abstract word counts")
    language: str = Field("en", description="languages for lemmas, e.g. en or de,en; 'none' keeps words as they are")

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as wrong:
            raise SettingsError(_first_problem(wrong)) from None

    @field_validator("weights")
    @classmethod
    def _weights_are_a_distribution(cls, weights: str | dict[str, float]) -> str | dict[str, float]:
        if isinstance(weights, str):
            if not is_preset(weights):
                raise ValueError(f"no weights are called {weights!r}; use one of {PRESETS}, or type=weight pairs")
            return weights
        for kind, weight in weights.items():
            if weight < 0:
                raise ValueError(f"the weight of {kind!r} is {weight:g}, but weights are not negative")
        total = math.fsum(weights.values())
        if abs(total - 1) > WEIGHT_SUM_TOLERANCE:
            raise ValueError(f"the weights sum to {total:g}; scale them so that they sum to 1")
        return weights

    @field_validator("language")
    @classmethod
    def _language_is_known(cls, language: str) -> str:
        if language == "none":
            return language
        from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

        for code in language.split(","):
            if code not in SUPPORTED_LANGUAGES:
                raise ValueError(f"no lemmas for {code!r}; known are none, {', '.join(sorted(SUPPORTED_LANGUAGES))}")
        return language

    @property
    def limit(self) -> tuple[float, float]:
        """α and β: as given (one given alone sets the other to 0), else the variant's defaults."""
        if self.alpha is None and self.beta is None:
            return DEFAULT_LIMIT[self.variant]
        return self.alpha or 0.0, self.beta or 0.0

    def weights_for(self, types: Sequence[str]) -> list[float]:
        """λ for the feature types that a run really has, summing to 1.

        Types that no mention of the run has drop out and the rest is scaled up, because the limit would
        otherwise mean something else.

        >>> Settings().weights_for(["co", "term"])
        [0.5, 0.5]
        >>> Settings(weights={"co": 0.2, "term": 0.3, "ref": 0.5}).weights_for(["co", "term"])
        [0.4, 0.6]
        """
        if not types:
            return []
        named = self._named_weights(types)
        unknown = sorted(set(named) - set(types) - set(FEATURE_TYPES))
        if unknown:
            known = ", ".join(sorted(types))
            raise SettingsError(f"weights name the unknown feature type {unknown[0]!r}; these mentions have: {known}.")
        chosen = [named.get(kind, 0.0) for kind in types]
        total = math.fsum(chosen)
        if total == 0:
            raise SettingsError(f"no mention has a feature type that has a weight; they have: {', '.join(types)}.")
        return [weight / total for weight in chosen]

    def _named_weights(self, types: Sequence[str]) -> dict[str, float]:
        if not isinstance(self.weights, str):
            return self.weights
        kind = self.weights.partition("-")[2]
        # A preset may name a type that these mentions lack, but not one that nobody has.
        return preset(self.weights, types) | ({kind: 0.0} if kind and kind not in types else {})

    def changed(self, **changes: Any) -> Settings:
        """The same settings with some values replaced; None leaves a value as it is."""
        given = {name: value for name, value in changes.items() if value is not None}
        return Settings(**{**self.model_dump(exclude_unset=True), **given})

    def spelled_out(self) -> dict[str, Any]:
        """All values by name, with defaults and the limit that they lead to."""
        return self.model_dump() | dict(zip(("alpha", "beta"), self.limit, strict=True))

    def to_toml(self) -> str:
        """The settings as TOML, spelled out."""
        values = self.spelled_out()
        weights = values.pop("weights")
        if isinstance(weights, str):
            values["weights"] = weights
        lines = [f"{name} = {_toml(value)}" for name, value in values.items()]
        if not isinstance(weights, str):
            lines += ["", "[weights]", *(f"{_toml(kind)} = {_toml(weight)}" for kind, weight in weights.items())]
        return "\n".join(lines) + "\n"


def load_settings(path: Path) -> Settings:
    """Read settings from a TOML file."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as broken:
        raise unreadable(path, broken) from broken
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as broken:
        raise InputError(f"{path} is not valid TOML: {broken}.") from broken
    try:
        return Settings(**values)
    except SettingsError as wrong:
        raise SettingsError(f"{path}: {wrong}") from None


def parse_weights(text: str) -> str | dict[str, float]:
    """Read weights as they are typed: a preset's name, or type=weight pairs.

    >>> parse_weights("co=.5, ref=.5")
    {'co': 0.5, 'ref': 0.5}
    >>> parse_weights("uniform")
    'uniform'
    """
    if "=" not in text:
        return text.strip()
    weights: dict[str, float] = {}
    for pair in text.split(","):
        kind, _, weight = pair.partition("=")
        try:
            weights[kind.strip()] = float(weight)
        except ValueError:
            raise SettingsError(f"weights: {pair.strip()!r} is not of the form type=number.") from None
    return weights


def _toml(value: object) -> str:
    # JSON's strings, numbers and booleans are TOML's too, but for pairs of surrogates and a bare delete character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _first_problem(wrong: ValidationError) -> str:
    # A union reports one problem per alternative; the last is that of the widest.
    problem = wrong.errors(include_url=False)[-1]
    place = str(problem["loc"][0]) if problem["loc"] else "settings"
    known = f"; known are: {', '.join(Settings.model_fields)}" if problem["type"] == "extra_forbidden" else ""
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "dict_type":
        message = "expected a preset's name or the weight of each feature type"
    given = "" if problem["type"] in {"value_error", "extra_forbidden"} else f", got {problem['input']!r}"
    return " ".join(f"setting {place}: {message}{given}{known}.".split())
