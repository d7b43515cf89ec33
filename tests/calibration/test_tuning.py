"""Tuning the limit: known optima, brute force over dense grids, and calibration from files to settings."""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from homonym.calibration.holdout import split
from homonym.calibration.limit import SEEDS
from homonym.calibration.tuning import (
    JudgedLimit,
    Kind,
    Part,
    TunedLimit,
    choose,
    clearly_positive,
    mean_f1,
    tune,
    tune_one,
)
from homonym.commands.calibrate import Calibration, calibrate
from homonym.commands.extract import extract
from homonym.commands.labelled import read_labelled
from homonym.commands.run import Resources, prepare_run
from homonym.errors import InputError, OutputError, SettingsError
from homonym.measures.bootstrap import size_groups
from homonym.measures.methods import LimitCurves, RelativeFrequencies, curves_of
from homonym.settings import PAPER_LIMIT, Limit, Settings, load_settings
from homonym.synthetic.corpus import Corpus
from tests.support.command import homonym_command
from tests.support.profiles import examples

Step = tuple[float, float, float]
"""The lowest limit at which it holds, precision and recall."""
Name = tuple[int, Sequence[Step]]
"""|X| and the steps, from high limits to low."""
KINDS: tuple[Kind, ...] = ("alpha", "beta", "both")
# N of the collections here.
COLLECTION = 1000


def curves(names: Sequence[Name]) -> LimitCurves:
    steps = [step for _, steps in names for step in steps]
    lowest, precision, recall = (np.array(column, np.float64) for column in zip(*steps, strict=True))
    start = np.cumsum([0, *(len(steps) for _, steps in names)])
    return LimitCurves(COLLECTION, np.array([mentions for mentions, _ in names]), start, lowest, precision, recall)


def best_between(mentions: int, low: float, high: float) -> Name:
    """A name with perfect scores at limits from low up to high, and low scores elsewhere."""
    return mentions, [(high, 1.0, 0.5), (low, 1.0, 1.0), (-inf, 0.5, 1.0)]


def one_group(names: Sequence[Name]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.ones(len(names), np.int64)


def tuned(*names: Name) -> dict[Kind, TunedLimit]:
    return tune(curves(names), one_group(names))


def f1_at(names: Sequence[Name], group: Sequence[int], limit: Limit) -> float:
    """The mean over groups of F1 of mean precision and mean recall, as it is defined."""
    found = []
    for size in sorted(set(group)):
        right = []
        for (mentions, steps), own in zip(names, group, strict=True):
            if own == size:
                at = limit.alpha + mentions * limit.beta + limit.kappa * (math.sqrt(mentions) / (COLLECTION + 3000))
                right.append(next(step[1:] for step in steps if at >= step[0]))
        precision, recall = (sum(values) / len(right) for values in zip(*right, strict=True))
        found.append(2 * precision * recall / (precision + recall))
    return sum(found) / len(found)


def range_of(names: Sequence[Name], part: Part) -> tuple[float, float]:
    """The searched range: all scores but the lowest hundredth."""

    def unit(size: int) -> float:
        return {"alpha": 1.0, "beta": float(size), "kappa": math.sqrt(size) / (COLLECTION + 3000)}[part]

    scores = [step[0] / unit(size) for size, steps in names for step in steps if step[0] > 0]
    return float(np.quantile(scores, 0.01)), max(scores) * 1.01


# Scores are powers of 1.3 and |X| powers of 4: steps are so far from each other that a grid of 241 values misses none.
shares = st.floats(0.1, 1)
scores = st.sets(st.integers(0, 20), min_size=1, max_size=6).map(lambda ks: [1.3**-k for k in sorted(ks)])
some_names: st.SearchStrategy[list[Name]] = st.lists(
    st.tuples(
        st.sampled_from([4, 16, 64]),
        scores.flatmap(lambda lowest: st.tuples(*(st.tuples(st.just(low), shares, shares) for low in [*lowest, -inf]))),
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("part", Limit._fields)
@hypothesis_settings(max_examples=examples(25))
@given(names=some_names, data=st.data())
def test_one_parameter_is_as_good_as_a_dense_grid(part: Part, names: list[Name], data: st.DataObject) -> None:
    group = data.draw(st.lists(st.integers(1, 3), min_size=len(names), max_size=len(names)))
    found = tune_one(part, curves(names), np.array(group))
    low, high = range_of(names, part)
    dense = np.append(np.geomspace(low, high, 700), low)
    limits = [Limit(**{part: value}) for value in dense.tolist()]
    assert found.kind == part
    assert found.limit == Limit(**{part: getattr(found.limit, part)})
    assert found.f1 == pytest.approx(f1_at(names, group, found.limit))
    assert found.f1 == pytest.approx(max(f1_at(names, group, limit) for limit in limits))
    if part != "kappa":
        assert tune(curves(names), np.array(group))[part] == found


@hypothesis_settings(max_examples=examples(25))
@given(names=some_names)
def test_two_parameters_are_never_worse_than_one(names: list[Name]) -> None:
    found = tuned(*names)
    assert found["both"].f1 >= max(found["alpha"].f1, found["beta"].f1)
    assert found["both"].f1 == pytest.approx(f1_at(names, [1] * len(names), found["both"].limit))
    assert (found["alpha"].limit.beta, found["beta"].limit.alpha) == (0, 0)
    assert [found[kind].kind for kind in KINDS] == list(KINDS)


def test_finds_known_alpha() -> None:
    names = [best_between(2, 0.010, 0.012), best_between(30, 0.011, 0.013), best_between(9, 0.001, 0.1)]
    found = tuned(*names)
    assert 0.011 <= found["alpha"].limit.alpha < 0.012
    assert found["alpha"].f1 == 1
    assert found["beta"].f1 < 1


def test_finds_known_beta() -> None:
    names = [best_between(2, 2 * 0.010, 2 * 0.012), best_between(30, 30 * 0.011, 30 * 0.013)]
    found = tuned(*names)
    assert 0.011 <= found["beta"].limit.beta < 0.012
    assert found["beta"].f1 == 1
    assert found["alpha"].f1 < 1


def test_finds_known_kappa() -> None:
    names = [best_between(4, 2 * 0.010, 2 * 0.012), best_between(100, 10 * 0.011, 10 * 0.013)]
    found = tuned(*names)
    kappa = tune_one("kappa", curves(names), one_group(names))
    assert 0.011 <= kappa.limit.kappa / (COLLECTION + 3000) < 0.012
    assert kappa.f1 == 1
    assert kappa.spread is not None
    assert kappa.spread[0] <= kappa.limit.kappa <= kappa.spread[1]
    assert max(found["alpha"].f1, found["beta"].f1) < 1


# Changes hardly anything, but widens the range of limits and so the steps of the search.
FAR: Name = 10, [(100.0, 0.9, 0.9), (0.01, 0.9, 0.9), (-inf, 0.9, 0.9)]


def test_finds_known_alpha_and_beta_if_both_are_needed() -> None:
    names = [best_between(2, 1.0, 1.3), best_between(20, 2.0, 2.6), best_between(40, 3.0, 4.2)]
    found = tuned(*names, FAR)
    assert max(found["alpha"].f1, found["beta"].f1) < 0.95
    alpha, beta = found["both"].limit.alpha, found["both"].limit.beta
    assert found["both"].f1 == pytest.approx(0.975)
    assert 1.0 <= alpha + 2 * beta < 1.3
    assert 2.0 <= alpha + 20 * beta < 2.6
    assert 3.0 <= alpha + 40 * beta < 4.2


@pytest.mark.parametrize("low", [1.0, 1.06, 1.12, 1.18, 1.24])
def test_two_parameters_are_as_good_as_one_on_its_finer_grid(low: float) -> None:
    found = tuned(best_between(2, low, 1.06 * low), best_between(200, low, 1.06 * low), FAR)
    assert found["both"].f1 == found["alpha"].f1 == pytest.approx(29 / 30)


def test_every_true_size_has_the_same_weight() -> None:
    many, one = best_between(2, 0.01, 0.1), best_between(2, 0.2, 2.0)
    names = [*[many] * 9, one]
    assert 0.01 <= tune(curves(names), one_group(names))["alpha"].limit.alpha < 0.1
    worse = 2, [(0.1, 0.9, 0.9), (0.01, 1.0, 1.0), (-inf, 0.9, 0.9)]
    assert 0.2 <= tune(curves([*[worse] * 9, one]), np.array([1] * 9 + [2]))["alpha"].limit.alpha < 2.0


def test_takes_the_middle_of_a_plateau() -> None:
    found = tuned(best_between(2, 0.1, 1.0))
    assert found["alpha"].limit.alpha == pytest.approx(0.1**0.5, rel=0.06)
    assert found["beta"].limit.beta == pytest.approx(0.1**0.5 / 2, rel=0.06)


def test_takes_the_longest_plateau() -> None:
    steps = [(3.0, 1.0, 0.5), (0.3, 1.0, 1.0), (0.2, 0.9, 0.9), (0.1, 1.0, 1.0), (-inf, 0.5, 1.0)]
    assert tuned((2, steps))["alpha"].limit.alpha == pytest.approx(0.9**0.5, rel=0.06)


def test_accepts_names_of_one_mention() -> None:
    alone = 1, [(-inf, 1.0, 1.0)]
    found = tuned(alone, alone)
    assert {found[kind].f1 for kind in KINDS} == {1.0}
    assert all(np.isfinite(found[kind].limit).all() for kind in KINDS)


def scattered(names: int) -> list[Name]:
    """Names that are perfect at different limits around 0.01."""
    centres = 0.01 * np.exp(np.random.default_rng(0).normal(0, 0.7, names))
    return [best_between(2, float(centre) / 1.2, float(centre) * 1.2) for centre in centres]


def test_spread_includes_the_best_value_and_shrinks_with_more_names() -> None:
    widths = []
    for names in (12, 400):
        found = tuned(*scattered(names))
        for value, spread in (
            (found["alpha"].limit.alpha, found["alpha"].spread),
            (found["beta"].limit.beta, found["beta"].spread),
        ):
            assert spread is not None
            assert spread[0] <= value <= spread[1]
        assert found["both"].spread is None
        widths.append(np.log(found["beta"].spread[1] / found["beta"].spread[0]))  # type: ignore[index]
    assert widths[1] < widths[0]


@pytest.mark.parametrize("name", [best_between(2, 0.1, 1.0), (1, [(-inf, 1.0, 1.0)])], ids=["plateau", "no step"])
def test_spread_includes_the_best_value_on_a_plateau(name: Name) -> None:
    found = tuned(name)["alpha"]
    assert found.spread is not None
    assert found.spread[0] <= found.limit.alpha <= found.spread[1]


def chosen(preferred: Kind, *names: Name, kappa: bool = False) -> Kind:
    all_curves, group = curves(names), one_group(names)
    found = tune(all_curves, group)
    if kappa:
        found["kappa"] = tune_one("kappa", all_curves, group)
    return choose(found, preferred, all_curves, group).kind


def test_chooses_the_preferred_parameter_unless_another_is_clearly_better() -> None:
    small, large, linear = best_between(2, 0.5, 2.0), best_between(20, 0.5, 2.0), best_between(20, 5.0, 20.0)
    assert chosen("beta", *[small] * 39, large) == "beta"  # α is perfect, but better for one name only
    assert chosen("beta", *[small] * 20, *[large] * 20) == "alpha"
    assert chosen("alpha", *[small] * 39, linear) == "alpha"
    assert chosen("alpha", *[small] * 20, *[linear] * 20) == "beta"
    rooted = [best_between(4, 0.5, 0.6), best_between(100, 2.5, 3.0), best_between(400, 5.0, 6.0)]
    assert chosen("beta", *rooted * 9, kappa=True) == "kappa"
    assert chosen("kappa", *[small] * 39, large, kappa=True) == "kappa"
    assert chosen("kappa", *[small] * 20, *[best_between(200, 0.5, 2.0)] * 20, kappa=True) == "alpha"


@pytest.mark.parametrize("preferred", [*Limit._fields, "both"])
def test_chooses_the_preferred_of_equals(preferred: Kind) -> None:
    assert chosen(preferred, *[best_between(2, 0.5, 2.0)] * 5, kappa=True) == preferred


def test_chooses_both_parameters_if_both_are_needed() -> None:
    names = [best_between(2, 1.0, 1.3), best_between(20, 2.0, 2.6), best_between(40, 3.0, 4.2)] * 9
    assert {chosen("alpha", *names), chosen("beta", *names), chosen("kappa", *names, kappa=True)} == {"both"}


def test_clear_difference_depends_on_its_standard_error() -> None:
    one_size = np.ones(16, np.int64)
    noise = np.tile([0.1, -0.1], 8)  # a standard error of 0.1 / 4
    assert clearly_positive(noise + 0.06, one_size)
    assert not clearly_positive(noise + 0.04, one_size)
    assert not clearly_positive(np.zeros(16), one_size)
    assert not clearly_positive(-noise - 0.06, one_size)
    assert not clearly_positive(np.array([0.5]), np.ones(1, np.int64))  # the spread of one name is unknown
    # Fifteen names of one size that gain count as much as one name of another size that loses.
    assert not clearly_positive(np.array([0.1] * 15 + [-0.1]), np.array([1] * 15 + [2]))


@pytest.fixture(scope="module")
def corpus(generated: Callable[[Corpus], Path]) -> Path:
    return generated(Corpus(mentions=2000, ambiguity=3, seed=3))


@pytest.fixture(scope="module")
def easy(generated: Callable[[Corpus], Path]) -> Path:
    """As few homonyms as in real collections: most names are one person."""
    return generated(Corpus(mentions=2000, seed=3))


@pytest.fixture(scope="module")
def calibrated(corpus: Path) -> Calibration:
    return calibrate(corpus, corpus, resources=Resources(threads=1))


def documents(corpus: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in gzip.decompress(corpus.read_bytes()).splitlines()]


def written(rows: list[dict[str, Any]], path: Path) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


def figures(found: Calibration, without: str = "") -> list[Any]:
    return [
        (limit.kind, limit_of(limit), limit.gamma, limit.spread, limit.training, limit.test and limit.test.value)
        for limit in found.limits
        if limit.kind != without
    ]


def limit_of(judged: JudgedLimit) -> Limit:
    return Limit(judged.alpha, judged.beta, judged.kappa)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["prob", "max"])
def test_tuned_limit_is_as_good_as_the_papers_on_training_names(corpus: Path, variant: str) -> None:
    found = calibrate(corpus, corpus, Settings(variant=variant, constraints="none"))
    run = prepare_run(corpus, found.settings, resources=Resources(threads=2))
    training = split(read_labelled(run, None, "author").names).training
    all_curves = curves_of(RelativeFrequencies(found.settings), training, 2)
    group = np.unique(size_groups(training.true_size), return_inverse=True)[1]
    ours, papers = mean_f1(all_curves, group, np.array([found.settings.limit, PAPER_LIMIT[variant]]))
    judged = {limit.kind: limit for limit in found.limits}
    assert ours == pytest.approx(judged[found.chosen].training)
    assert ours >= papers
    assert judged["both"].training == max(judged[kind].training or 0 for kind in KINDS)
    assert limit_of(judged["paper"]) == PAPER_LIMIT[variant]
    # The default of max equals the paper's limit and is not listed twice.
    assert list(judged) == ["kappa", *KINDS, "paper", *(["default"] if variant == "prob" else []), "pseudo-names"]


@pytest.mark.slow
def test_also_judges_limits_found_without_labels(corpus: Path, calibrated: Calibration) -> None:
    judged = {limit.kind: limit for limit in calibrated.limits}
    assert limit_of(judged["default"]) == Settings().limit
    assert limit_of(judged["pseudo-names"]) == calibrated.unlabelled.limit
    assert judged["default"].gamma == judged["pseudo-names"].gamma == Settings().chance_weight
    alone = calibrate(corpus)
    assert (alone.unlabelled.limit, alone.unlabelled.f1) == (calibrated.unlabelled.limit, calibrated.unlabelled.f1)


@pytest.mark.slow
def test_pseudonames_are_nearly_as_good_as_labels_on_easy_names(easy: Path) -> None:
    judged = {limit.kind: limit.test for limit in calibrate(easy, easy, Settings(background="none")).limits}
    labelled, unlabelled = judged["kappa"], judged["pseudo-names"]
    assert labelled is not None
    assert unlabelled is not None
    assert labelled.value > 0.94
    assert unlabelled.value > labelled.value - 0.03


@pytest.mark.slow
def test_labels_choose_kappa_by_default(calibrated: Calibration) -> None:
    judged = {limit.kind: limit for limit in calibrated.limits}
    assert calibrated.chosen == "kappa"
    assert calibrated.settings.limit == limit_of(judged["kappa"]) == Limit(kappa=judged["kappa"].kappa)
    assert judged["kappa"].spread is not None


@pytest.mark.slow
def test_few_labels_do_not_replace_the_limit_of_pseudonames(corpus: Path) -> None:
    """A handful of names has a best limit of its own, but cannot show that it is better than another."""
    found = calibrate(corpus, corpus, training_share=0.01)
    judged = {limit.kind: limit for limit in found.limits}
    assert found.training_names < 10
    assert (judged["kappa"].training or 0) >= (judged["pseudo-names"].training or 1)
    assert (found.chosen, found.settings.limit) == ("pseudo-names", found.unlabelled.limit)


@pytest.mark.slow
def test_tries_gamma_unless_given(corpus: Path, calibrated: Calibration) -> None:
    assert [tried.gamma for tried in calibrated.chances] == [0, 0.25, 0.5, 1, 2]
    given = calibrate(corpus, corpus, Settings(gamma=0.25))
    assert given.chances == []
    assert given.settings.gamma == 0.25
    tried = {one.gamma: one.f1 for one in calibrated.chances}
    assert tried[0.25] == next(limit.training for limit in given.limits if limit.kind == "kappa")
    assert {limit.gamma for limit in calibrate(corpus, corpus, Settings(gamma=0)).limits} == {0}


@pytest.mark.slow
def test_takes_another_gamma_if_clearly_better(generated: Callable[[Corpus], Path]) -> None:
    corpus = generated(Corpus(mentions=3000, ambiguity=16, seed=4))
    calibrated = calibrate(corpus, corpus, Settings(chance_limit=0, name_trust=0, background="none"))
    tried = {one.gamma: one.f1 for one in calibrated.chances}
    assert calibrated.settings.gamma == max(tried, key=lambda gamma: tried[gamma]) > 0.25
    rows = {limit.kind: limit for limit in calibrated.limits}
    assert {rows[kind].gamma for kind in ("kappa", *KINDS, "paper")} == {calibrated.settings.gamma}
    assert {rows[kind].gamma for kind in ("default", "pseudo-names")} == {0.25}


@pytest.mark.slow
def test_keeps_the_default_gamma_if_no_other_is_clearly_better(easy: Path) -> None:
    found = calibrate(easy, easy, Settings(chance_limit=0, name_trust=0))
    assert len({round(one.f1, 2) for one in found.chances}) == 1
    assert (found.settings.gamma, found.settings.chance_weight) == (None, 0.25)
    assert {limit.gamma for limit in found.limits} == {0.25}


@pytest.mark.slow
def test_calibration_does_not_depend_on_threads(corpus: Path, calibrated: Calibration) -> None:
    again = calibrate(corpus, corpus, resources=Resources(threads=2))
    assert figures(again) == figures(calibrated)
    assert again.settings == calibrated.settings


@pytest.mark.slow
def test_splits_names_by_training_share(corpus: Path, calibrated: Calibration) -> None:
    names = calibrated.training_names + calibrated.test_names
    assert abs(calibrated.training_names - names / 4) <= 0.5
    few = calibrate(corpus, corpus, most_names=2, training_share=0.5)
    assert few.training_names + few.test_names <= 22


@pytest.mark.slow
def test_writes_settings_with_the_tuned_limit(corpus: Path, tmp_path: Path, calibrated: Calibration) -> None:
    start = Settings(variant="max", weights="without-year", blocking="first-initial")
    found = calibrate(corpus, corpus, start, output=tmp_path / "settings.toml")
    loaded = load_settings(tmp_path / "settings.toml")
    assert loaded.spelled_out() == found.settings.spelled_out()
    judged = next(limit for limit in found.limits if limit.kind == found.chosen)
    assert loaded.limit == limit_of(judged)
    assert (loaded.variant, loaded.weights, loaded.blocking) == ("max", "without-year", "first-initial")
    assert loaded.limit != calibrated.settings.limit


@pytest.mark.slow
def test_reads_labels_from_a_separate_table(corpus: Path, tmp_path: Path, calibrated: Calibration) -> None:
    rows = documents(corpus)
    labels = [(f"{row['id']}#{i}", who.pop("author")) for row in rows for i, who in enumerate(row["authors"])]
    with (tmp_path / "gold.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("mention_id", "author"), *labels, ("nobody#0", "A"), ("nobody#1", "B")])
    found = calibrate(written(rows, tmp_path / "in.jsonl"), tmp_path / "gold.csv")
    assert figures(found) == figures(calibrated)
    assert (found.labels, found.labels_without_mention) == (len(labels) + 2, 2)
    with pytest.raises(InputError, match=r"in\.jsonl holds no label"):
        calibrate(tmp_path / "in.jsonl", tmp_path / "in.jsonl")


@pytest.mark.slow
def test_identifiers_can_be_labels(corpus: Path, tmp_path: Path) -> None:
    rows = documents(corpus)
    for author in (author for row in rows for author in row["authors"]):
        author["ids"] = {"ORCID": author.pop("author")}
    path = written(rows, tmp_path / "in.jsonl")
    settings = Settings(constraints="names,documents")
    found, expected = calibrate(path, path, settings, label="orcid"), calibrate(corpus, corpus, settings)
    assert figures(found, without="pseudo-names") == figures(expected, without="pseudo-names")


@pytest.mark.slow
def test_accepts_partly_labelled_mentions(corpus: Path, tmp_path: Path) -> None:
    rows = documents(corpus)
    for author in (author for row in rows[::2] for author in row["authors"]):
        del author["author"]
    path = written(rows, tmp_path / "in.jsonl")
    found = calibrate(path, path)
    assert 0 < found.labels < sum(len(row["authors"]) for row in rows)
    assert all(0.4 < (limit.training or 1) <= 1 for limit in found.limits)


@pytest.mark.slow
def test_rejects_labels_without_matching_mentions(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("mention_id,author\nx#0,A\n")
    with pytest.raises(
        InputError, match=r"no label in .*gold\.csv belongs to a mention .* the first are x#0 and d\d+#"
    ):
        calibrate(corpus, tmp_path / "gold.csv", output=tmp_path / "settings.toml")
    assert not (tmp_path / "settings.toml").exists()


def test_checks_the_output_before_reading(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="nowhere does not exist"):
        calibrate(corpus, tmp_path / "missing.csv", output=tmp_path / "nowhere" / "settings.toml")


@pytest.mark.slow
def test_command_line_calibrates_on_all_names(corpus: Path, tmp_path: Path) -> None:
    done = homonym_command(
        "calibrate", corpus, "--gold", corpus, "--training-share", 1, "-o", "settings.toml",
        "--chance-limit", 0, "--name-trust", 0, "--background", "none", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    limit, gamma = load_settings(tmp_path / "settings.toml").limit, load_settings(tmp_path / "settings.toml").gamma
    chosen = "" if gamma == 0.25 else f" --gamma {gamma:g}"
    assert done.stdout.splitlines()[-1] == f"--kappa {limit.kappa:.4g}{chosen}"
    assert ", 0 test names" in done.stdout
    assert limit == Limit(kappa=limit.kappa) != Limit()
    for said in (
        "only κ ←",
        "α and β",
        "the default",
        "pseudo-names",
        "merge threshold (calibrated without labels): kappa ",
        f"γ = {gamma:g}: ",
    ):
        assert said in done.stdout
    done = homonym_command(
        "disambiguate", corpus, "-o", "authors.csv", "--settings", "settings.toml", "-q", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    assert load_settings(tmp_path / "authors.settings.toml").limit == limit


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--training-share", "0"], "the training share must be above 0 and at most 1, got 0."),
        (["--training-share", "0.001"], "leaves none of"),
        (["--label", "viaf"], "no author has the identifier viaf; use one of orcid, or the label author."),
    ],
)
def test_wrong_usage_exits_with_2(corpus: Path, tmp_path: Path, options: list[str], says: str) -> None:
    done = homonym_command("calibrate", corpus, "--gold", corpus, "-o", "settings.toml", *options, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


# Without labels.


@pytest.mark.slow
def test_limit_without_labels_comes_from_pseudonames(easy: Path, tmp_path: Path) -> None:
    start = Settings(weights="uniform", blocking="initials", alpha=1.0)
    found = calibrate(easy, settings=start, output=tmp_path / "settings.toml")
    loaded = load_settings(tmp_path / "settings.toml")
    assert loaded.spelled_out() == found.settings.spelled_out()
    assert (loaded.weights, loaded.blocking) == ("uniform", "initials")
    assert found.chosen == "pseudo-names"
    limit = found.unlabelled
    assert loaded.limit == limit.limit == Limit(kappa=limit.limit.kappa)  # not the limit of the settings
    assert limit.limit.kappa > 0
    assert limit.spread is not None
    assert limit.spread[0].kappa <= limit.spread[1].kappa
    assert 0.5 < (limit.precision or 0) <= 1
    assert 0.5 < (limit.recall or 0) <= 1
    assert min(limit.people, limit.names) > 20
    assert (limit.why, found.limits, found.chances, found.labels) == (None, [], [], 0)


@pytest.mark.slow
def test_labels_are_ignored_without_gold(easy: Path, tmp_path: Path) -> None:
    rows = documents(easy)
    for author in (author for row in rows for author in row["authors"]):
        del author["author"]
    bare = calibrate(written(rows, tmp_path / "in.jsonl"), resources=Resources(threads=1))
    assert bare.unlabelled.limit == calibrate(easy, resources=Resources(threads=2)).unlabelled.limit


@pytest.mark.slow
def test_extracted_mentions_give_the_limit_of_their_documents(easy: Path, tmp_path: Path) -> None:
    extract(easy, tmp_path / "mentions.jsonl.gz")
    assert calibrate(tmp_path / "mentions.jsonl.gz").settings.limit == calibrate(easy).settings.limit


@pytest.mark.slow
def test_target_precision_never_lowers_the_limit(easy: Path) -> None:
    plain, strict = calibrate(easy), calibrate(easy, settings=Settings(target_precision=0.995))
    assert strict.settings.limit.kappa >= plain.settings.limit.kappa
    assert strict.settings.target_precision is None
    assert strict.unlabelled.spread is None
    assert (strict.unlabelled.precision or 0) >= 0.995 or "out of reach" in (strict.unlabelled.why or "")


def test_rejects_target_precision_with_labels(easy: Path) -> None:
    with pytest.raises(SettingsError, match="--target-precision chooses a limit without labels; leave out --gold"):
        calibrate(easy, easy, Settings(target_precision=0.98))


def few_names(tmp_path: Path) -> Path:
    rows = [
        {"mention_id": f"{name}.{number}", "block": f"N{name}", "features": {"co": {f"A{name}": 1}}}
        for name in range(3)
        for number in range(4)
    ]
    return written(rows, tmp_path / "few.jsonl")


def test_warns_and_takes_the_default_if_there_are_too_few_names(tmp_path: Path) -> None:
    settings = Settings(background="none")
    found = calibrate(few_names(tmp_path), settings=settings, output=tmp_path / "settings.toml")
    assert (found.chosen, found.unlabelled.names) == ("default", 0)
    assert load_settings(tmp_path / "settings.toml").limit == Settings().limit == found.settings.limit
    assert found.unlabelled.why
    assert found.warnings == [f"{found.unlabelled.why}."]


def test_too_few_names_omit_the_pseudoname_row(tmp_path: Path) -> None:
    rows = [orjson.loads(line) for line in few_names(tmp_path).read_bytes().splitlines()]
    path = written([row | {"author": row["block"]} for row in rows], tmp_path / "labelled.jsonl")
    found = calibrate(path, path, training_share=0.5)
    assert [limit.kind for limit in found.limits] == ["kappa", *KINDS, "paper", "default"]
    assert f"{found.unlabelled.why}." in found.warnings


@pytest.mark.slow
def test_command_line_calibrates_without_labels(easy: Path, tmp_path: Path) -> None:
    done = homonym_command("calibrate", easy, "-o", "settings.toml", "--background", "none", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    found = calibrate(easy, settings=Settings(background="none")).unlabelled
    assert found.spread is not None
    low, high = found.spread
    assert done.stdout.splitlines() == [
        f"merge threshold (calibrated without labels): kappa {found.limit.kappa:.3g}, {low.kappa:.3g} … "
        f"{high.kappa:.3g} over {SEEDS} repetitions; chance limit {found.chance_limit:.3g}; "
        f"trust in full names {found.name_trust:.2f}",
        f"estimated precision {found.precision:.3f}, recall {found.recall:.3f}, on "
        f"{found.names:,} pseudo-names made of {found.people:,} people; real names may be harder",
        f"--kappa {found.limit.kappa:.4g} --chance-limit {found.chance_limit:.4g} --name-trust {found.name_trust:.4g}",
    ]
    assert load_settings(tmp_path / "settings.toml").limit == found.limit


def test_command_line_reports_the_default_limit(tmp_path: Path) -> None:
    done = homonym_command("calibrate", few_names(tmp_path), "--background", "none", cwd=tmp_path)
    assert done.returncode == 0
    settings = Settings(background="none")
    assert done.stderr == f"warning: {calibrate(tmp_path / 'few.jsonl', settings=settings).unlabelled.why}.\n"
    kappa = Settings().limit.kappa
    options = f"--kappa {kappa:g} --chance-limit {Settings().required_lift:g}"
    limit = f"merge threshold (default): kappa {kappa:g}; trust in full names 0.00"
    assert done.stdout.splitlines() == [limit, options]


@pytest.mark.slow
def test_command_line_accepts_target_precision(easy: Path, tmp_path: Path) -> None:
    done = homonym_command("calibrate", easy, "--target-precision", "0.99", "-o", "settings.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    limit = calibrate(easy, settings=Settings(target_precision=0.99)).settings.limit
    assert load_settings(tmp_path / "settings.toml").limit == limit
    assert "draws" not in done.stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--label", "orcid"], "--label goes with --gold; without labels pseudo-names find the limit."),
        (["--training-share", ".5", "--most-names", "9"], "--training-share and --most-names go with --gold;"),
        (["--gold", "{corpus}", "--target-precision", ".9"], "--target-precision chooses a limit without labels;"),
        (["--target-precision", "1"], "setting target_precision: Input should be less than 1, got 1.0."),
    ],
)
def test_meaningless_options_exit_with_2(easy: Path, tmp_path: Path, options: list[str], says: str) -> None:
    options = [option.format(corpus=easy) for option in options]
    done = homonym_command("calibrate", easy, "-o", "settings.toml", *options, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_rejects_standard_input_because_it_is_read_twice(tmp_path: Path) -> None:
    done = homonym_command("calibrate", "-", cwd=tmp_path)
    assert done.returncode == 2
    assert "is read twice" in done.stderr


def test_help_shows_both_usages() -> None:
    said = homonym_command("calibrate", "--help").stdout
    assert "homonym calibrate records.jsonl.gz -o settings.toml" in said
    assert "homonym calibrate records.jsonl.gz --gold records.jsonl.gz -o settings.toml" in said
