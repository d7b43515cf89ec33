"""Every parameter of a run as one frozen value: validated once, read from TOML, stored beside each result."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from homonym.errors import InputError, SettingsError
from homonym.io.inputs import unreadable

#: What the paper's classifier learnt on Web of Science names.
PAPER: Mapping[str, float] = {
    "term": 0.15, "aff": 0.2, "cat": 0.18, "key": 0.03, "co": 0.2, "ref": 0.12, "email": 0.1, "year": 0.02,
}  # fmt: skip
#: The paper's feature types: weights may name them also where a collection has none of their features.
PAPER_TYPES = tuple(PAPER)

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


Variant = Literal["prob", "max"]
Scope = Literal["overall", "within"]
Blocking = Literal["given", "initials", "first-initial", "full-name"]


class Limit(NamedTuple):
    """What the score of two clusters must exceed: l = α + β·|X| + κ·√|X|/(N + 3000), X the block, N the collection."""

    alpha: float = 0.0
    beta: float = 0.0
    kappa: float = 0.0

    def scaled(self, factor: float) -> Limit:
        """A limit that is higher by this factor in every block.

        >>> Limit(alpha=0.5, kappa=6.0).scaled(2)
        Limit(alpha=1.0, beta=0.0, kappa=12.0)
        """
        return Limit(*(part * factor for part in self))


#: The paper's limits, α + |X|·β, tuned there on Web of Science names.
PAPER_LIMIT: Mapping[str, Limit] = {"prob": Limit(beta=7.5e-5), "max": Limit(alpha=5e-4)}
#: Scores fall with the size of the collection, though less in small ones, whose rare features cannot get rarer; and
#: they grow more slowly than blocks do. With κ as its only part, the best limit of real collections of 12 thousand to 2
#: million mentions is nearly the same, where the best β differs 20-fold (docs/accuracy.md).
DEFAULT_KAPPA = 7.0
#: What is added to N there.
SMALL_COLLECTION = 3000
#: What chance shares is subtracted with this weight where clusters are scored by sums of products; a maximum of
#: products does not grow with the size of clusters, and gets worse.
DEFAULT_GAMMA: Mapping[str, float] = {"prob": 0.25, "max": 0.0}

#: How far given weights may be from a sum of 1 before it is taken for a mistake rather than for rounding.
WEIGHT_SUM_TOLERANCE = 1e-6

CONSTRAINTS = ("names", "identifiers", "documents")
"""What can bind mentions beside their features; a user's own pairs always do."""

#: Identifiers that a person may have several of: the same one links, different ones do not part.
LINKING_ONLY = ("email",)
#: Kinds of identifiers that may be trusted at once: each takes two bits of a mention's column.
MOST_IDENTIFIERS = 25

#: Which settings each stage depends on: features are extracted by the former, mentions clustered by the latter. What is
#: kept of a run is used again for another as far as these are the same (see engines/kept.py).
EXTRACTION = ("blocking", "year_sigma", "year_reach", "title_weight", "abstract_weight", "language")
UNTUNED = ("variant", "joint", "scope", "epsilon", "gamma", "weights")
CLUSTERING = (*UNTUNED, "alpha", "beta", "kappa", "target_precision", "constraints", "identifiers")

Finite = Annotated[float, Field(allow_inf_nan=False)]


class Settings(BaseModel):
    """The parameters of one run.

    >>> Settings(beta=2.5e-5).limit
    Limit(alpha=0.0, beta=2.5e-05, kappa=0.0)
    >>> Settings().limit, Settings().limit_is_given
    (Limit(alpha=0.0, beta=0.0, kappa=7.0), False)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    variant: Variant = Field("prob", description="sum of products (prob) or maximum of products (max)")
    joint: bool = Field(False, description="score with p(C,D) instead of p(C|D): the paper's pc_on, worse there")
    scope: Scope = Field(
        "overall", description="count #(f) over the whole collection (overall) or inside each block (within)"
    )
    epsilon: Finite = Field(1e-4, gt=0, le=1, description="smoothing; the paper tried only this value")
    gamma: Finite | None = Field(
        None,
        ge=0,
        le=100,
        description="how much of what chance would share, n(C)/n(·), is subtracted from p(C|D); without it, "
        f"{DEFAULT_GAMMA['prob']:g} for prob and 0 for max",
    )
    alpha: Finite | None = Field(None, ge=0, description="constant part of the limit α + β·|X| + κ·√|X|/(N + 3000)")
    beta: Finite | None = Field(None, ge=0, description="part of the limit per mention in the block")
    kappa: Finite | None = Field(
        None,
        ge=0,
        description="part of the limit that grows with the root of the block and falls with the collection. Without "
        "alpha, beta and kappa the limit is found from the collection itself; with one of them, the others are 0",
    )
    target_precision: Finite | None = Field(
        None,
        gt=0,
        lt=1,
        description="rather split than lump: take the lowest limit that reaches this B-cubed precision on pseudo-names",
    )
    weights: str | dict[str, Finite] = Field(
        "balanced", description=f"one of {PRESETS}; or type=weight pairs that sum to 1, e.g. co=.5,ref=.5"
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
    constraints: str = Field(
        ",".join(CONSTRAINTS),
        description="what keeps mentions together or apart whatever their features: names that exclude each other, "
        "identifiers, two mentions on one document; a list of these, or 'none'",
    )
    # Identifiers that a program assigned (Scopus, OpenAlex, AMiner, DBLP, …) are another answer to the same question.
    identifiers: str = Field(
        "orcid,researcherid,isni,email",
        description="kinds of identifiers that are trusted: the same one links mentions, different ones part them; "
        "different addresses (email) do not, people have several",
    )

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as wrong:
            raise SettingsError(_first_problem(wrong)) from None
        if self.target_precision is not None and self.limit_is_given:
            raise SettingsError(
                "setting target_precision: it chooses the limit, so alpha, beta and kappa cannot be given with it."
            )

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

    @field_validator("constraints")
    @classmethod
    def _constraints_are_known(cls, constraints: str) -> str:
        named = [word.strip() for word in constraints.split(",")]
        for kind in named:
            if kind not in CONSTRAINTS and constraints != "none":
                raise ValueError(f"there are no constraints by {kind!r}; known are none, {', '.join(CONSTRAINTS)}")
        return ",".join(named)

    @field_validator("identifiers")
    @classmethod
    def _identifiers_are_kinds(cls, identifiers: str) -> str:
        # "Researcher-ID" and "researcherid" are one kind, as where records are read.
        kinds = list(dict.fromkeys(re.sub(r"[-_\s]", "", kind).lower() for kind in identifiers.split(",")))
        if "" in kinds:
            raise ValueError(f"expected kinds of identifiers, such as orcid,isni, got {identifiers!r}")
        for kind in kinds:
            if not kind.isalnum():
                raise ValueError(f"{kind!r} is no kind of identifiers; a kind is one word, such as orcid")
        if len(kinds) > MOST_IDENTIFIERS:
            raise ValueError(f"at most {MOST_IDENTIFIERS} kinds of identifiers can be trusted, got {len(kinds)}")
        return ",".join(kinds)

    def constrained_by(self, what: str) -> bool:
        """Whether names, identifiers or documents bind mentions in this run.

        >>> Settings().constrained_by("names"), Settings(constraints="none").constrained_by("names")
        (True, False)
        """
        return what in self.constraints.split(",")

    @property
    def trusted(self) -> tuple[str, ...]:
        """The kinds of identifiers that bind mentions in this run."""
        return tuple(self.identifiers.split(",")) if self.constrained_by("identifiers") else ()

    @property
    def limit_is_given(self) -> bool:
        """Whether the limit is fixed, so that it need not be found."""
        return not (self.alpha is None and self.beta is None and self.kappa is None)

    @property
    def limit(self) -> Limit:
        """The limit as given (parts that are not are 0), else the default, which finding it starts from.

        The default is the paper's for scores whose scale has not been measured on several collections.
        """
        if self.limit_is_given:
            return Limit(self.alpha or 0.0, self.beta or 0.0, self.kappa or 0.0)
        measured = self.variant == "prob" and self.scope == "overall" and not self.joint
        return Limit(kappa=DEFAULT_KAPPA) if measured else PAPER_LIMIT[self.variant]

    def with_limit(self, limit: Limit) -> Settings:
        """The same settings with this limit, which needs no target any more."""
        values = self.model_dump(exclude_unset=True, exclude={"target_precision"})
        return Settings(**(values | limit._asdict()))

    @property
    def chance(self) -> float:
        """γ: as given, else the variant's default."""
        return DEFAULT_GAMMA[self.variant] if self.gamma is None else self.gamma

    def weights_for(self, types: Sequence[str]) -> list[float]:
        """λ for the feature types that a run really has, summing to 1.

        Types that no mention of the run has drop out and the rest is scaled up, because the limit would
        otherwise mean something else.

        >>> Settings(weights="uniform").weights_for(["co", "term"])
        [0.5, 0.5]
        >>> Settings(weights={"co": 0.2, "term": 0.3, "ref": 0.5}).weights_for(["co", "term"])
        [0.4, 0.6]
        """
        if not types:
            return []
        named = self._named_weights(types)
        unknown = sorted(set(named) - set(types) - set(PAPER_TYPES))
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
        """All values by name, with defaults; a limit that is not given is still to be found, and is left out."""
        values = self.model_dump() | {"gamma": self.chance} | (self.limit._asdict() if self.limit_is_given else {})
        return {name: value for name, value in values.items() if value is not None}

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
