"""Settings: ranges, sentences instead of tracebacks, and what is written is what is read."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from homonym.errors import InputError, SettingsError
from homonym.settings import DEFAULT_KAPPA, PAPER_LIMIT, PAPER_TYPES, Limit, Settings, load_settings, parse_weights

ODD_NAMES = [
    "my type",
    "a.b",
    'with "quotes"',
    "back\\slash",
    "",
    "ä",
    "😀",
    "new\nline",
    "\x7f",
    "\0",
    "#",
    "[x]",
    "=",
]


def reason(**values: Any) -> str:
    with pytest.raises(SettingsError) as caught:
        Settings(**values)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert message.endswith(".")
    return message


def read_back(settings: Settings, folder: Path) -> Settings:
    path = folder / "settings.toml"
    path.write_text(settings.to_toml(), encoding="utf-8")
    return load_settings(path)


def test_defaults_are_those_of_the_paper_but_for_what_was_measured_to_be_better() -> None:
    settings = Settings()
    assert (settings.variant, settings.scope, settings.joint) == ("prob", "overall", False)
    assert (settings.epsilon, settings.title_weight, settings.abstract_weight) == (1e-4, 3, 1)
    assert (settings.year_sigma, settings.year_reach) == (2.0, 5)
    assert (settings.weights, settings.chance_weight) == ("balanced", 0.25)
    assert settings.limit == Limit(kappa=7.0)
    assert not settings.limit_is_given


@pytest.mark.parametrize("values", [{"variant": "max"}, {"scope": "within"}, {"joint": True}])
def test_scores_whose_scale_is_not_known_have_the_papers_limit(values: dict[str, Any]) -> None:
    expected = Limit(alpha=5e-4) if "variant" in values else Limit(beta=7.5e-5)
    assert Settings(**values).limit == PAPER_LIMIT[values.get("variant", "prob")] == expected


def test_chance_is_subtracted_from_sums_unless_a_weight_is_given() -> None:
    assert (
        Settings(variant="max").chance_weight,
        Settings(gamma=0).chance_weight,
        Settings(gamma=2).chance_weight,
    ) == (0.0, 0.0, 2.0)
    assert Settings(variant="max", gamma=1).chance_weight == 1.0


@pytest.mark.parametrize(
    ("values", "limit"),
    [
        ({"alpha": 0.5}, Limit(0.5, 0.0, 0.0)),
        ({"beta": 0.5}, Limit(0.0, 0.5, 0.0)),
        ({"kappa": 0.5}, Limit(0.0, 0.0, 0.5)),
        ({"alpha": 0.0}, Limit(0.0, 0.0, 0.0)),
        ({"beta": 0}, Limit(0.0, 0.0, 0.0)),
        ({"kappa": 0}, Limit(0.0, 0.0, 0.0)),
        ({"alpha": 0.1, "beta": 0.2}, Limit(0.1, 0.2, 0.0)),
        ({"beta": 0.2, "kappa": 3}, Limit(0.0, 0.2, 3.0)),
        ({"alpha": 0.1, "variant": "max"}, Limit(0.1, 0.0, 0.0)),
        ({"beta": 0.1, "variant": "max"}, Limit(0.0, 0.1, 0.0)),
        ({"kappa": 0.1, "variant": "max"}, Limit(0.0, 0.0, 0.1)),
    ],
)
def test_a_part_of_a_limit_sets_the_others_to_zero(values: dict[str, Any], limit: Limit) -> None:
    assert Settings(**values).limit == limit
    assert Settings(**values).limit_is_given


def test_a_limit_that_was_found_replaces_a_target_and_any_other_limit() -> None:
    settings = Settings(target_precision=0.98, epsilon=0.5).with_limit(Limit(kappa=7.0))
    assert (settings.limit, settings.target_precision, settings.epsilon) == (Limit(kappa=7.0), None, 0.5)
    assert Settings(alpha=0.1, kappa=2.0).with_limit(Limit(beta=3.0)).limit == Limit(beta=3.0)


@pytest.mark.parametrize("part", Limit._fields)
def test_a_target_and_a_limit_exclude_each_other(part: str) -> None:
    assert "do not give alpha, beta or kappa as well" in reason(**{"target_precision": 0.9, part: 0.0})


@pytest.mark.parametrize(
    "values",
    [
        {"epsilon": 1},
        {"epsilon": 5e-324},
        {"alpha": 0},
        {"beta": 1e300},
        {"kappa": 0},
        {"gamma": 0},
        {"gamma": 100},
        {"target_precision": 0.999},
        {"year_sigma": 100},
        {"year_sigma": 1e-9},
        {"year_reach": 0},
        {"year_reach": 100},
        {"title_weight": 0, "abstract_weight": 1000},
        {"language": "none"},
        {"language": "de,en"},
        {"constraints": "none"},
        {"constraints": "documents,names"},
        {"identifiers": "orcid"},
        {"weights": {"co": 1.0}},
        {"weights": {"co": 1 / 3, "ref": 1 / 3, "term": 1 / 3, "aff": 0.0}},
        {"weights": {"mine": 0.9999999, "co": 0}},
    ],
)
def test_values_inside_their_ranges(values: dict[str, Any]) -> None:
    settings = Settings(**values)
    assert settings.model_dump(include=set(values)) == values


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"epsilon": 0}, "epsilon: Input should be greater than 0, got 0"),
        ({"epsilon": -1}, "greater than 0"),
        ({"epsilon": 1.1}, "less than or equal to 1"),
        ({"epsilon": math.nan}, "finite"),
        ({"epsilon": math.inf}, "finite"),
        ({"epsilon": None}, "epsilon"),
        ({"alpha": -1e-9}, "alpha: Input should be greater than or equal to 0"),
        ({"alpha": math.nan}, "alpha"),
        ({"beta": "much"}, "beta: Input should be a valid number"),
        ({"beta": [1]}, "beta"),
        ({"kappa": -1}, "kappa: Input should be greater than or equal to 0"),
        ({"kappa": math.inf}, "kappa"),
        ({"gamma": -1}, "gamma"),
        ({"gamma": 101}, "gamma"),
        ({"chance_limit": -1}, "chance_limit"),
        ({"chance_limit": 101}, "chance_limit"),
        ({"chance_limit": 1, "variant": "max"}, "chance_limit: it applies to the variant prob without joint only"),
        ({"chance_limit": 1, "joint": True}, "chance_limit: it applies to the variant prob without joint only"),
        ({"target_precision": 0}, "target_precision: Input should be greater than 0"),
        ({"target_precision": 1}, "target_precision: Input should be less than 1"),
        ({"year_sigma": 0}, "year_sigma"),
        ({"year_sigma": 101}, "year_sigma"),
        ({"year_reach": -1}, "year_reach"),
        ({"year_reach": 101}, "year_reach"),
        ({"year_reach": 2.5}, "year_reach"),
        ({"title_weight": -1}, "title_weight"),
        ({"abstract_weight": 1001}, "abstract_weight"),
        ({"variant": "mean"}, "variant: Input should be 'prob' or 'max', got 'mean'"),
        ({"scope": "all\nover"}, "scope"),
        ({"blocking": "surname"}, "blocking"),
        ({"joint": "perhaps"}, "joint"),
        ({"language": "xx"}, "unsupported language 'xx'"),
        ({"language": ""}, "unsupported language ''"),
        ({"language": "en\nde"}, "unsupported language"),
        ({"language": "en,none"}, "unsupported language 'none'"),
        ({"language": 5}, "language"),
        ({"constraints": "names,none"}, "unknown constraint source 'none'; use none, names, identifiers"),
        ({"constraints": ""}, "unknown constraint source ''"),
        ({"constraints": ["names"]}, "constraints"),
        ({"identifiers": ""}, "expected identifier kinds, such as orcid,isni, got ''"),
        ({"identifiers": "orcid,,isni"}, "expected identifier kinds"),
        ({"identifiers": "orcid;isni"}, "'orcid;isni' is not an identifier kind"),
        (
            {"identifiers": ",".join(f"k{i}" for i in range(26))},
            "at most 25 identifier kinds can be trusted, got 26",
        ),
        ({"weights": "unifrom"}, "unknown weights 'unifrom'; use one of balanced, uniform, paper"),
        ({"weights": ["co"]}, "expected the name of a preset or a weight for each feature type"),
        ({"weights": {}}, "the weights sum to 0"),
        ({"weights": {"co": 0.5, "ref": 0.4}}, "the weights sum to 0.9"),
        ({"weights": {"co": 0.0, "ref": 0.0}}, "the weights sum to 0"),
        ({"weights": {"co": 2.0, "a\nb": -1.0}}, "weights must not be negative"),
        ({"weights": {"co": math.nan}}, "weights: Input should be a finite number"),
        ({"weights": {"co": "half"}}, "weights: Input should be a valid number"),
        ({"weights": {1: 1.0}}, "weights: Input should be a valid string"),
        ({"colour": "red"}, "colour: Extra inputs are not permitted; the settings are variant"),
        ({"two\nlines": 1}, "two lines"),
    ],
)
def test_values_outside_are_refused_in_one_sentence(values: dict[str, Any], says: str) -> None:
    assert says in reason(**values)


def test_settings_do_not_change_behind_the_back() -> None:
    settings = Settings()
    with pytest.raises(ValidationError, match="frozen"):
        settings.epsilon = 0.5


def test_changes_make_new_settings() -> None:
    settings = Settings(beta=2e-5, epsilon=0.5)
    changed = settings.changed(epsilon=0.25, variant="max", alpha=None)
    assert (changed.epsilon, changed.variant, changed.limit) == (0.25, "max", Limit(beta=2e-5))
    assert (settings.epsilon, settings.variant) == (0.5, "prob")
    assert settings.changed() == settings
    with pytest.raises(SettingsError, match="epsilon"):
        settings.changed(epsilon=7)
    with pytest.raises(SettingsError, match="colour"):
        settings.changed(colour="red")


def test_a_changed_variant_brings_its_own_default_limit() -> None:
    assert Settings().changed(variant="max").limit == PAPER_LIMIT["max"]
    assert Settings(variant="max").changed(variant="prob").limit == Limit(kappa=DEFAULT_KAPPA)


def test_falsy_changes_are_changes() -> None:
    settings = Settings(alpha=0.5, joint=True, year_reach=3)
    changed = settings.changed(alpha=0.0, joint=False, year_reach=0)
    assert (changed.limit, changed.joint, changed.year_reach) == (Limit(), False, 0)


SPELLED_OUT = {"alpha", "beta", "kappa", "gamma", "chance_limit", "name_trust", "background"}


@pytest.mark.parametrize("variant", ["prob", "max"])
def test_a_limit_that_is_still_to_be_found_is_not_written(tmp_path: Path, variant: str) -> None:
    settings = Settings(variant=variant)
    kept = read_back(settings, tmp_path)
    assert not kept.limit_is_given
    assert kept.gamma == settings.chance_weight
    assert kept.model_dump(exclude=SPELLED_OUT) == settings.model_dump(exclude=SPELLED_OUT)


def test_the_limit_is_written_as_it_is_used(tmp_path: Path) -> None:
    kept = read_back(Settings(beta=2e-5), tmp_path)
    assert (kept.alpha, kept.beta, kept.kappa) == (0.0, 2e-5, 0.0)


def test_a_target_is_written_instead_of_a_limit(tmp_path: Path) -> None:
    kept = read_back(Settings(target_precision=0.98), tmp_path)
    assert (kept.target_precision, kept.limit_is_given) == (0.98, False)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_type_names_survive_toml(tmp_path: Path, name: str) -> None:
    weights = {name: 0.75, "co": 0.25}
    assert read_back(Settings(weights=weights), tmp_path).weights == weights


type_names = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
positive = st.floats(1e-300, 1.0)


@st.composite
def any_settings(draw: st.DrawFn) -> Settings:
    raw = draw(st.dictionaries(type_names, st.floats(0, 10), max_size=4))
    total = math.fsum(raw.values())
    weights: Any = {kind: weight / total for kind, weight in raw.items()} if total > 1e-9 else "uniform"
    limit = {part: draw(st.none() | st.floats(0, 1e300)) for part in Limit._fields}
    target = st.none() if any(part is not None for part in limit.values()) else st.none() | st.floats(0.01, 0.99)
    return Settings(
        variant=draw(st.sampled_from(["prob", "max"])),
        joint=draw(st.booleans()),
        scope=draw(st.sampled_from(["overall", "within"])),
        epsilon=draw(positive),
        gamma=draw(st.none() | st.floats(0, 100)),
        **limit,
        target_precision=draw(target),
        weights=weights,
        background=draw(st.sampled_from(["auto", "on", "none"])),
        blocking=draw(st.sampled_from(["given", "initials", "first-initial", "full-name"])),
        year_sigma=draw(st.floats(1e-300, 100)),
        year_reach=draw(st.integers(0, 100)),
        title_weight=draw(st.integers(0, 1000)),
        language=draw(st.sampled_from(["en", "none", "de,en"])),
    )


@given(any_settings())
def test_toml_gives_back_every_value(tmp_path_factory: pytest.TempPathFactory, settings: Settings) -> None:
    kept = read_back(settings, tmp_path_factory.getbasetemp())
    assert (kept.limit, kept.gamma) == (settings.limit, settings.chance_weight)
    assert kept.model_dump(exclude=SPELLED_OUT) == settings.model_dump(exclude=SPELLED_OUT)
    assert kept.to_toml() == settings.to_toml()


def test_toml_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(b"\xef\xbb\xbfepsilon = 0.5\r\n")
    assert load_settings(path).epsilon == 0.5


@pytest.mark.parametrize(
    ("content", "error", "says"),
    [
        (b"epsilon = ", InputError, "not valid TOML"),
        (b"epsilon: 0.5", InputError, "not valid TOML"),
        (b"\xff\xfe", InputError, "not valid TOML"),
        (b"epsilon = 5", SettingsError, "setting epsilon"),
        (b"colour = 'red'", SettingsError, "the settings are"),
        (b"[weights]\nco = 0.5", SettingsError, "sum to 0.5"),
        (b"epsilon = inf", SettingsError, "finite"),
        (b"language = '''\nen'''\n'a\tb' = 1", SettingsError, "settings.toml"),
    ],
)
def test_a_broken_settings_file_is_named(tmp_path: Path, content: bytes, error: type[Exception], says: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(content)
    with pytest.raises(error, match=says) as caught:
        load_settings(path)
    assert str(caught.value).startswith(str(path))
    assert len(str(caught.value).splitlines()) == 1


def test_a_missing_settings_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.toml cannot be read"):
        load_settings(tmp_path / "missing.toml")
    with pytest.raises(InputError, match="is a directory"):
        load_settings(tmp_path)


def test_uniform_weights_are_uniform_over_what_there_is() -> None:
    uniform = Settings(weights="uniform")
    assert uniform.weights_for([]) == []
    assert uniform.weights_for(["mine"]) == [1.0]
    assert uniform.weights_for(PAPER_TYPES) == [0.125] * 8


def test_balanced_weights_are_balanced_over_what_there_is() -> None:
    assert Settings().weights_for([]) == []
    assert Settings().weights_for(["mine"]) == [1.0]
    assert Settings().weights_for(["co", "term", "cat", "mine"]) == pytest.approx([0.3, 0.4, 0.1, 0.2])


@pytest.mark.parametrize(
    ("weights", "types", "expected"),
    [
        ({"co": 1.0}, ["co"], [1.0]),
        ({"co": 1.0}, ["co", "term"], [1.0, 0.0]),
        ({"co": 0.25, "ref": 0.25, "email": 0.5}, ["co", "ref"], [0.5, 0.5]),
        ({"co": 0.25, "ref": 0.25, "mine": 0.5}, ["mine", "co"], [2 / 3, 1 / 3]),
        ({"term": 0.0, "co": 1.0}, ["term", "co"], [0.0, 1.0]),
        ({"co": 1.0}, [], []),
    ],
)
def test_types_that_a_run_lacks_drop_out(weights: dict[str, float], types: list[str], expected: list[float]) -> None:
    assert Settings(weights=weights).weights_for(types) == pytest.approx(expected)


@given(st.dictionaries(st.sampled_from(PAPER_TYPES), st.integers(1, 9), min_size=1), st.data())
def test_weights_of_a_run_keep_their_proportions(raw: dict[str, int], data: st.DataObject) -> None:
    weights = {kind: weight / sum(raw.values()) for kind, weight in raw.items()}
    types = data.draw(st.lists(st.sampled_from(sorted(raw)), min_size=1, unique=True))
    chosen = Settings(weights=weights).weights_for(types)
    assert math.fsum(chosen) == pytest.approx(1, abs=1e-12)
    for kind, weight in zip(types, chosen, strict=True):
        assert weight / chosen[0] == pytest.approx(raw[kind] / raw[types[0]])


@pytest.mark.parametrize(
    ("weights", "types", "says"),
    [
        ({"coo": 1.0}, ["co"], "unknown feature type 'coo'; the mentions have co"),
        ({"co": 0.5, "a\nb": 0.5}, ["co"], "unknown feature type"),
        ({"email": 1.0}, ["co", "ref"], "no weighted feature type occurs; the mentions have co, ref"),
        ({"email": 1.0, "co": 0.0}, ["co"], "no weighted feature type occurs"),
    ],
)
def test_weights_that_fit_no_mention_are_refused(weights: dict[str, float], types: list[str], says: str) -> None:
    with pytest.raises(SettingsError, match=says) as caught:
        Settings(weights=weights).weights_for(types)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("uniform", "uniform"),
        (" uniform ", "uniform"),
        ("co=1", {"co": 1.0}),
        ("co=.5,ref=.5", {"co": 0.5, "ref": 0.5}),
        (" co = 5e-1 , my type = 0.5 ", {"co": 0.5, "my type": 0.5}),
    ],
)
def test_weights_as_typed(text: str, weights: str | dict[str, float]) -> None:
    assert parse_weights(text) == weights
    assert Settings(weights=parse_weights(text)).weights == weights


@pytest.mark.parametrize("text", ["co=", "co=half", "co=.5,ref", "co=.5,", "co=1=2", "=", "co=1,\nref"])
def test_weights_mistyped(text: str) -> None:
    with pytest.raises(SettingsError, match="is not of the form type=number") as caught:
        parse_weights(text)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("text", ["", "co", "co=nan", "co=inf", "co=-1,ref=2", "co=.5,co=.5", "co:1"])
def test_weights_typed_well_but_wrong(text: str) -> None:
    assert "weights" in reason(weights=parse_weights(text))


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_says_what_it_means(name: str) -> None:
    assert Settings.model_fields[name].description


def test_kinds_of_identifiers_are_spelled_in_one_way() -> None:
    assert Settings(identifiers="ORCID, Researcher-ID,researcher_id").trusted == ("orcid", "researcherid")
    assert Settings(constraints=" names , documents ").constraints == "names,documents"
    assert Settings(constraints="names").trusted == ()
