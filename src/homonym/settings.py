"""Every parameter of a run as one frozen, validated value. Read from TOML, and saved next to each result.

Start with `Settings`; its field descriptions are also the help texts of the command line.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator

from homonym.errors import InputError, SettingsError
from homonym.io.inputs import unreadable
from homonym.io.result_directory import SETTINGS, file_of
from homonym.io.special_files import open_input

#: The weights that the paper's classifier learned on Web of Science names.
PAPER: Mapping[str, float] = {
    "term": 0.15, "aff": 0.2, "cat": 0.18, "key": 0.03, "co": 0.2, "ref": 0.12, "email": 0.1, "year": 0.02,
}  # fmt: skip
#: The paper's feature types: weights may name them also where a collection has none of their features.
PAPER_TYPES = tuple(PAPER)

#: Relative weights; types not listed have 1. Better than equal weights on every labelled collection (docs/accuracy.md).
BALANCED: Mapping[str, float] = {"term": 2.0, "co": 1.5, "cat": 0.5}

#: Presets that use only some feature types: those made of author names, and those that describe the document.
SELECTIONS: Mapping[str, tuple[str, ...]] = {"authors": ("co", "ref"), "document": ("term", "cat", "key", "co", "year")}

PRESETS = "balanced, uniform, paper, opposed, authors, document, only-<type>, without-<type>"


def is_preset(name: str) -> bool:
    """Whether this is the name of a preset; the type after `only-` or `without-` is checked later, against the data."""
    kind = name.removeprefix("only-").removeprefix("without-")
    return name in {"balanced", "uniform", "paper", "opposed", *SELECTIONS} or kind not in {"", name}


def preset(name: str, types: Sequence[str]) -> dict[str, float]:
    """The weight of each feature type under a preset. They sum to 1 unless the preset selects none of the types."""
    if name == "paper":
        return _scaled({kind: PAPER.get(kind, 0.0) for kind in types})
    if name == "balanced":
        return _scaled({kind: BALANCED.get(kind, 1.0) for kind in types})
    if name == "opposed":
        reversed_weights = opposed(PAPER)
        return _scaled({kind: reversed_weights.get(kind, 0.0) for kind in types})
    return _scaled({kind: float(_chosen(name, kind)) for kind in types})


def opposed(weights: Mapping[str, float]) -> dict[str, float]:
    """Reverse the ranking of weights: the smallest becomes the largest, and so on. Ties keep the order of their types.

    >>> opposed(PAPER)["co"], opposed(PAPER)["year"]
    (0.02, 0.2)
    """
    ascending = sorted(weights, key=lambda kind: weights[kind])
    reversed_weights = dict(zip(ascending, sorted(weights.values(), reverse=True), strict=True))
    return {kind: reversed_weights[kind] for kind in weights}


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
Blocking = Literal["auto", "given", "initials", "first-initial", "full-name"]
CoauthorNames = Literal["full", "initials"]
AffiliationLevel = Literal["institution", "whole"]
Background = Literal["auto", "on", "none"]

#: What surname and initials count of a co-author whose full name is spelled out; the full name counts the rest. Sums of
#: quarters are exact. A half and nothing were slightly worse on AMiner.
KEY_SHARE = 0.25
#: What an affiliation as written counts where an institution is recognised, which counts the rest. With a quarter and
#: with three quarters, results on AMiner and PubMed were the same within .003.
WHOLE_SHARE = 0.5


class Limit(NamedTuple):
    """The score that two clusters must exceed to be merged: l = α + β·|X| + κ·√|X|/(N + 3000).

    |X| is the number of mentions in the block, N the number of mentions in the collection.
    """

    alpha: float = 0.0
    beta: float = 0.0
    kappa: float = 0.0

    def scaled(self, factor: float) -> Limit:
        """The limit multiplied by this factor.

        >>> Limit(alpha=0.5, kappa=6.0).scaled(2)
        Limit(alpha=1.0, beta=0.0, kappa=12.0)
        """
        return Limit(*(part * factor for part in self))

    def describe(self) -> str:
        """The parts that are not 0, for messages.

        >>> Limit(alpha=0.5, kappa=7.0).describe(), Limit().describe()
        ('alpha 0.5, kappa 7', '0')
        """
        return ", ".join(f"{name} {value:.3g}" for name, value in self._asdict().items() if value) or "0"


#: The paper's limits, α + |X|·β, tuned on Web of Science names.
PAPER_LIMIT: Mapping[str, Limit] = {"prob": Limit(beta=7.5e-5), "max": Limit(alpha=5e-4)}
#: Scores fall as the collection grows, but less so in small collections, and they grow more slowly than the block.
#: With κ alone, the best limit is nearly the same on real collections of 12 thousand to 2 million mentions, while the
#: best β differs 20-fold (docs/accuracy.md).
DEFAULT_KAPPA = 7.0
#: Added to N in the limit.
SMALL_COLLECTION = 3000
#: Default weight γ of the chance correction. The `max` variant does not grow with cluster size and gets worse with it.
DEFAULT_GAMMA: Mapping[str, float] = {"prob": 0.25, "max": 0.0}

#: The chance limit γ₂ from which calibration starts. It must not be too high: people in fragments look alike.
DEFAULT_CHANCE_LIMIT = 2.5

#: Weights may miss a sum of 1 by this much; more is treated as a mistake, not as rounding.
WEIGHT_SUM_TOLERANCE = 1e-6

CONSTRAINTS = ("names", "identifiers", "documents")
"""Sources of must-link and cannot-link constraints. User pairs always apply and are not listed here."""

#: A person may have several of these: equal values are a must-link, different values are no cannot-link.
LINKING_ONLY = ("email",)
#: Maximum number of trusted identifier kinds: each takes two bits of a 64-bit column.
MAX_IDENTIFIERS = 25


@lru_cache(maxsize=1024)
def identifier_kind(name: str) -> str:
    """The normal form of a kind of identifiers: no hyphens, underscores and spaces, lower case.

    >>> identifier_kind("Researcher-ID"), identifier_kind("researcher_id"), identifier_kind("ORCID iD")
    ('researcherid', 'researcherid', 'orcidid')
    """
    return re.sub(r"[-_\s]", "", name).lower()


#: Groups of settings: those of extraction are part of the cache keys of checkpoints (engines/local_checkpoints.py), and
#: all groups define which options a command has.
EXTRACTION = (
    "blocking", "coauthor_names", "affiliation_level", "year_sigma", "year_reach", "title_weight", "abstract_weight",
    "language",
)  # fmt: skip
UNTUNED = ("variant", "joint", "scope", "epsilon", "gamma", "chance_limit", "weights", "name_trust", "background")
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

    # Where they were loaded from; two settings with the same values are equal, wherever they come from.
    _file: Path | None = PrivateAttr(None)

    variant: Variant = Field(
        "prob", description="how the mentions of two clusters are combined: sum (prob) or maximum (max) of products"
    )
    joint: bool = Field(False, description="score with p(C,D) instead of p(C|D); the paper's pc_on, less accurate")
    scope: Scope = Field(
        "overall",
        description="count frequencies #(f) over the whole collection (overall) or inside each block (within)",
    )
    epsilon: Finite = Field(1e-4, gt=0, le=1, description="smoothing ε; the paper uses only this value")
    gamma: Finite | None = Field(
        None,
        ge=0,
        le=100,
        description="weight γ of the chance correction: γ·n(C)/n(·) is subtracted from p(C|D). If not given, "
        f"{DEFAULT_GAMMA['prob']:g} for prob and 0 for max",
    )
    chance_limit: Finite | None = Field(
        None,
        ge=0,
        le=100,
        description="second limit γ₂: two clusters are only joined if their score exceeds γ₂ times what the first one "
        "shares by chance, times √((|X| - b)/b), where b is the size of the larger one. If not given, it is calibrated "
        "together with the limit, or 0 (off) if the limit is given. Only for the variant prob without joint",
    )
    alpha: Finite | None = Field(None, ge=0, description="constant part α of the limit α + β·|X| + κ·√|X|/(N + 3000)")
    beta: Finite | None = Field(None, ge=0, description="part β of the limit, per mention in the block")
    kappa: Finite | None = Field(
        None,
        ge=0,
        description="part κ of the limit. If none of alpha, beta and kappa is given, the limit is calibrated on the "
        "collection, without labels; if one is given, the others are 0",
    )
    target_precision: Finite | None = Field(
        None,
        gt=0,
        lt=1,
        description="favour precision: choose the lowest limit that reaches this B-cubed precision on pseudo-names",
    )
    weights: str | dict[str, Finite] = Field(
        "balanced",
        description=f"weights of the feature types: one of {PRESETS}; or type=weight pairs that sum to 1, such as "
        "co=.5,ref=.5",
    )
    name_trust: Finite | None = Field(
        None,
        ge=0,
        le=1,
        description="trust in full names: with 1, mentions that share a rare full name are merged much more easily; "
        "with 0, names only keep people apart. If not given, it is calibrated together with the limit, or 0 if that "
        "one is given",
    )
    background: Background = Field(
        "auto",
        description="how common words and names are elsewhere, for collections of few names: added to the frequencies "
        "of such collections (on), never used (none), or used unless the limit or other frequencies are given (auto). "
        "Collections with 10,000 mentions on documents without their most frequent name do not change",
    )
    blocking: Blocking = Field(
        "auto",
        description="how mentions form blocks: the block in the data, else surname + first initial (auto); "
        "the block in the data, else surname + all initials (given); surname + all initials (initials); "
        "surname + first initial (first-initial); surname + all given names (full-name)",
    )
    coauthor_names: CoauthorNames = Field(
        "full",
        description="names of co-authors as features: full name ¾ and surname + initials ¼ where given names are "
        "spelled out (full); surname + initials only, as in the paper (initials)",
    )
    affiliation_level: AffiliationLevel = Field(
        "institution",
        description="affiliations as features: as written ½ and the institution ½, without department and address "
        "(institution); as written only, as in the paper (whole)",
    )
    year_sigma: Finite = Field(2.0, gt=0, le=100, description="standard deviation of the publication year, in years")
    year_reach: int = Field(5, ge=0, le=100, description="years before and after publication that count, too")
    title_weight: int = Field(3, ge=0, le=1000, description="weight of a word in the title")
    abstract_weight: int = Field(1, ge=0, le=1000, description="weight of a word in the abstract")
    language: str = Field("en", description="languages for lemmatisation, e.g. en or de,en; 'none' turns it off")
    constraints: str = Field(
        ",".join(CONSTRAINTS),
        description="sources of must-link and cannot-link constraints, separated by commas: incompatible names, "
        "identifiers, two mentions on one document (documents); or 'none'",
    )
    # Not Scopus, OpenAlex, AMiner or DBLP ids: programs assign those, so they are another method's answer.
    identifiers: str = Field(
        "orcid,researcherid,isni,email",
        description="trusted kinds of identifiers: equal ids are a must-link, different ids a cannot-link (different "
        "e-mail addresses are not, because people have several)",
    )

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as wrong:
            raise SettingsError(_first_problem(wrong)) from None
        if self.target_precision is not None and self.limit_is_given:
            raise SettingsError(
                "setting target_precision: it determines the limit; do not give alpha, beta or kappa as well."
            )
        if self.chance_limit and (self.variant == "max" or self.joint):
            raise SettingsError(
                "setting chance_limit: it applies to the variant prob without joint only; set it to 0, or leave out "
                "variant = max and joint."
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and self.__dict__ == other.__dict__

    @property
    def file(self) -> Path | None:
        """The file that the settings were loaded from, perhaps with changes since."""
        return self._file

    def _from_file(self, path: Path | None) -> Settings:
        self._file = path
        return self

    @field_validator("weights")
    @classmethod
    def _weights_are_a_distribution(cls, weights: str | dict[str, float]) -> str | dict[str, float]:
        if isinstance(weights, str):
            if not is_preset(weights):
                raise ValueError(f"unknown weights {weights!r}; use one of {PRESETS}, or type=weight pairs")
            return weights
        for kind, weight in weights.items():
            if weight < 0:
                raise ValueError(f"the weight of {kind!r} is {weight:g}, but weights must not be negative")
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
                raise ValueError(f"unsupported language {code!r}; use none, {', '.join(sorted(SUPPORTED_LANGUAGES))}")
        return language

    @field_validator("constraints")
    @classmethod
    def _constraints_are_known(cls, constraints: str) -> str:
        named = [word.strip() for word in constraints.split(",")]
        for kind in named:
            if kind not in CONSTRAINTS and constraints != "none":
                raise ValueError(f"unknown constraint source {kind!r}; use none, {', '.join(CONSTRAINTS)}")
        return ",".join(named)

    @field_validator("identifiers")
    @classmethod
    def _identifiers_are_kinds(cls, identifiers: str) -> str:
        kinds = list(dict.fromkeys(map(identifier_kind, identifiers.split(","))))
        if "" in kinds:
            raise ValueError(f"expected identifier kinds, such as orcid,isni, got {identifiers!r}")
        for kind in kinds:
            if not kind.isalnum():
                raise ValueError(f"{kind!r} is not an identifier kind; a kind is one word, such as orcid")
        if len(kinds) > MAX_IDENTIFIERS:
            raise ValueError(f"at most {MAX_IDENTIFIERS} identifier kinds can be trusted, got {len(kinds)}")
        return ",".join(kinds)

    def constrained_by(self, source: str) -> bool:
        """Whether this source of constraints (names, identifiers or documents) is in use.

        >>> Settings().constrained_by("names"), Settings(constraints="none").constrained_by("names")
        (True, False)
        """
        return source in self.constraints.split(",")

    @property
    def trusted(self) -> tuple[str, ...]:
        """The trusted identifier kinds; empty if identifiers are not used as constraints."""
        return tuple(self.identifiers.split(",")) if self.constrained_by("identifiers") else ()

    @property
    def limit_is_given(self) -> bool:
        """Whether the limit is given, so that it is not calibrated."""
        return not (self.alpha is None and self.beta is None and self.kappa is None)

    @property
    def limit(self) -> Limit:
        """The given limit (missing parts are 0), else the default, from which calibration starts.

        Variants that were not measured on several collections default to the paper's limit.
        """
        if self.limit_is_given:
            return Limit(self.alpha or 0.0, self.beta or 0.0, self.kappa or 0.0)
        return Limit(kappa=DEFAULT_KAPPA) if self.is_default_score else PAPER_LIMIT[self.variant]

    def with_limit(self, limit: Limit) -> Settings:
        """The same settings with this limit, the chance limit and trust in use, and without the target precision."""
        values = self.model_dump(exclude_unset=True, exclude={"target_precision"})
        chosen = limit._asdict() | {"chance_limit": self.required_lift, "name_trust": self.trust_in_names}
        chosen |= {"background": self.background_in_use}
        return Settings(**(values | chosen))._from_file(self._file)

    def without(self, *names: str) -> Settings:
        """The same settings with the defaults of some values."""
        return Settings(**self.model_dump(exclude_unset=True, exclude={*names}))._from_file(self._file)

    @property
    def chance_weight(self) -> float:
        """γ as given, else the default of the variant."""
        return DEFAULT_GAMMA[self.variant] if self.gamma is None else self.gamma

    @property
    def is_default_score(self) -> bool:
        """Whether this is the score for which the default limits were measured; others have the paper's."""
        return self.variant == "prob" and self.scope == "overall" and not self.joint

    @property
    def required_lift(self) -> float:
        """γ₂ as given; else 0 if the limit is given, and otherwise the default, from which calibration starts."""
        if self.chance_limit is not None:
            return self.chance_limit
        return DEFAULT_CHANCE_LIMIT if self.is_default_score and not self.limit_is_given else 0.0

    @property
    def trust_in_names(self) -> float:
        """The trust in full names as given; else 0 if the limit is given, and otherwise 1."""
        if self.name_trust is not None:
            return self.name_trust
        return 1.0 if self.is_default_score and not self.limit_is_given else 0.0

    @property
    def uses_background(self) -> bool:
        """Whether small collections lean on the background: as given; else if the limit is not given."""
        if self.background != "auto":
            return self.background == "on"
        return self.is_default_score and not self.limit_is_given

    @property
    def background_in_use(self) -> Background:
        """The use of the background, spelled out."""
        return "on" if self.uses_background else "none"

    def weights_for(self, types: Sequence[str]) -> list[float]:
        """λ for the feature types that occur in the collection, summing to 1.

        Types that do not occur are dropped and the others scaled up: otherwise the limit would mean something else.

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
            raise SettingsError(f"weights: unknown feature type {unknown[0]!r}; the mentions have {known}.")
        chosen = [named.get(kind, 0.0) for kind in types]
        total = math.fsum(chosen)
        if total == 0:
            raise SettingsError(f"weights: no weighted feature type occurs; the mentions have {', '.join(types)}.")
        return [weight / total for weight in chosen]

    def _named_weights(self, types: Sequence[str]) -> dict[str, float]:
        if not isinstance(self.weights, str):
            return self.weights
        kind = self.weights.partition("-")[2]
        # The type after `only-` or `without-` may be absent from these mentions, but it must exist.
        return preset(self.weights, types) | ({kind: 0.0} if kind and kind not in types else {})

    def changed(self, **changes: Any) -> Settings:
        """The same settings with some values replaced. None keeps the old value."""
        given = {name: value for name, value in changes.items() if value is not None}
        return Settings(**{**self.model_dump(exclude_unset=True), **given})._from_file(self._file)

    def spelled_out(self) -> dict[str, Any]:
        """All values by name, defaults included. A limit that is still to be calibrated is left out."""
        values = self.model_dump() | {"gamma": self.chance_weight}
        if self.limit_is_given:
            values |= self.limit._asdict()
            values |= {"chance_limit": self.required_lift, "name_trust": self.trust_in_names}
            values |= {"background": self.background_in_use}
        return {name: value for name, value in values.items() if value is not None}

    def to_toml(self) -> str:
        """The settings as TOML, defaults included."""
        values = self.spelled_out()
        weights = values.pop("weights")
        if isinstance(weights, str):
            values["weights"] = weights
        lines = [f"{name} = {_toml(value)}" for name, value in values.items()]
        if not isinstance(weights, str):
            lines += ["", "[weights]", *(f"{_toml(kind)} = {_toml(weight)}" for kind, weight in weights.items())]
        return "\n".join(lines) + "\n"


# Limits of a file of settings. The time and memory that Python's parser needs for `a.a.a = 1` grow with the square of
# the number of parts.
_MAX_FILE_BYTES = 16 << 20
_LONG_KEY = re.compile(r"(?:[\w\"'-]++[ \t]*+\.[ \t]*+){20}")


def load_settings(path: Path) -> Settings:
    """Read settings from a TOML file, or from that of a result directory."""
    path = file_of(path, SETTINGS)
    try:
        with open_input(path) as stream:
            content = stream.read(_MAX_FILE_BYTES + 1)
        text = content.decode("utf-8-sig", "replace" if len(content) > _MAX_FILE_BYTES else "strict")
        if len(content) > _MAX_FILE_BYTES or _LONG_KEY.search(text):
            raise InputError(f"{path} is not a settings file: it is too long, or a key in it has too many parts.")
        values = tomllib.loads(text)
    except OSError as broken:
        raise unreadable(path, broken) from broken
    except RecursionError:
        raise InputError(f"{path} is not a settings file: it is nested too deeply.") from None
    except ValueError as broken:  # of TOML, of UTF-8, or of a number with thousands of digits
        raise InputError(f"{path} is not valid TOML: {broken}.") from broken
    try:
        return Settings(**values)._from_file(path)
    except SettingsError as wrong:
        raise SettingsError(f"{path}: {wrong}") from None


def parse_weights(text: str) -> str | dict[str, float]:
    """Parse weights from the command line: the name of a preset, or type=weight pairs.

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
    # JSON strings, numbers and booleans are valid TOML, except surrogate pairs and a bare delete character. tomli_w is
    # not used because it writes bare keys: settings files would differ from those of earlier versions.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _first_problem(wrong: ValidationError) -> str:
    # A union reports one problem per alternative; the last one belongs to the widest type.
    problem = wrong.errors(include_url=False)[-1]
    place = str(problem["loc"][0]) if problem["loc"] else "settings"
    known = f"; the settings are {', '.join(Settings.model_fields)}" if problem["type"] == "extra_forbidden" else ""
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "dict_type":
        message = "expected the name of a preset or a weight for each feature type"
    given = "" if problem["type"] in {"value_error", "extra_forbidden"} else f", got {problem['input']!r}"
    return " ".join(f"setting {place}: {message}{given}{known}.".split())


# As in the paper: a quarter of the names to choose parameters on, and a maximum number of names of each true size.
TRAINING_SHARE = 0.25
MAX_NAMES_PER_SIZE = 1000
# Number of random samples that weights are learnt from.
WEIGHT_SEEDS = 10
