"""The limit that does best: known optima, brute force over dense grids, and calibration from files to settings."""

from __future__ import annotations

import csv
import gzip
import subprocess
import sys
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from homonym.calibration.limit import Calibration, calibrate
from homonym.calibration.split import split
from homonym.calibration.tuning import Kind, TunedLimit, choose, mean_f1, tune
from homonym.errors import InputError, OutputError
from homonym.evaluation.curves import Curves
from homonym.evaluation.judging import curves_of
from homonym.evaluation.labelled import read_labelled
from homonym.evaluation.methods import RelativeFrequencies
from homonym.evaluation.sizes import size_groups
from homonym.records.reading import Inputs
from homonym.run import Resources, Run
from homonym.settings import DEFAULT_LIMIT, Settings, load_settings
from homonym.synthetic.corpus import Corpus
from homonym.synthetic.output import generate

Step = tuple[float, float, float]
"""The lowest limit at which it holds, precision and recall."""
Name = tuple[int, Sequence[Step]]
"""|X| and the steps, from high limits to low."""
KINDS: tuple[Kind, ...] = ("alpha", "beta", "both")


def curves(names: Sequence[Name]) -> Curves:
    steps = [step for _, steps in names for step in steps]
    lowest, precision, recall = (np.array(column, np.float64) for column in zip(*steps, strict=True))
    start = np.cumsum([0, *(len(steps) for _, steps in names)])
    return Curves(np.array([mentions for mentions, _ in names]), start, lowest, precision, recall)


def best_between(mentions: int, low: float, high: float) -> Name:
    """A name that comes out right at limits from low up to high, and badly elsewhere."""
    return mentions, [(high, 1.0, 0.5), (low, 1.0, 1.0), (-inf, 0.5, 1.0)]


def one_group(names: Sequence[Name]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.ones(len(names), np.int64)


def tuned(*names: Name) -> dict[Kind, TunedLimit]:
    return tune(curves(names), one_group(names))


def f1_at(names: Sequence[Name], group: Sequence[int], alpha: float, beta: float) -> float:
    """The mean over groups of F1 of mean precision and mean recall, as it is defined."""
    found = []
    for size in sorted(set(group)):
        right = []
        for (mentions, steps), own in zip(names, group, strict=True):
            if own == size:
                right.append(next(step[1:] for step in steps if alpha + mentions * beta >= step[0]))
        precision, recall = (sum(values) / len(right) for values in zip(*right, strict=True))
        found.append(2 * precision * recall / (precision + recall))
    return sum(found) / len(found)


def range_of(names: Sequence[Name], *, per_mention: bool) -> tuple[float, float]:
    """What is searched: all scores, but for the hundredth part at which hardly anything is refused."""
    scores = [step[0] / (size if per_mention else 1) for size, steps in names for step in steps if step[0] > 0]
    return float(np.quantile(scores, 0.01)), max(scores) * 1.01


# Scores are powers of 1.3 and |X| powers of 2: no two limits at which anything changes are so close that a grid of 241
# values could miss what is between.
shares = st.floats(0.1, 1)
scores = st.sets(st.integers(0, 20), min_size=1, max_size=6).map(lambda ks: [1.3**-k for k in sorted(ks)])
some_names: st.SearchStrategy[list[Name]] = st.lists(
    st.tuples(
        st.sampled_from([2, 4, 8]),
        scores.flatmap(lambda lowest: st.tuples(*(st.tuples(st.just(low), shares, shares) for low in [*lowest, -inf]))),
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("kind", ["alpha", "beta"])
@hypothesis_settings(max_examples=25, deadline=None)
@given(names=some_names, data=st.data())
def test_one_parameter_is_as_good_as_the_best_of_a_dense_grid(
    kind: Kind, names: list[Name], data: st.DataObject
) -> None:
    group = data.draw(st.lists(st.integers(1, 3), min_size=len(names), max_size=len(names)))
    found = tune(curves(names), np.array(group))[kind]
    low, high = range_of(names, per_mention=kind == "beta")
    dense = np.append(np.geomspace(low, high, 700), low)
    limits = [(value, 0.0) if kind == "alpha" else (0.0, value) for value in dense.tolist()]
    assert found.kind == kind
    assert found.f1 == pytest.approx(f1_at(names, group, found.alpha, found.beta))
    assert found.f1 == pytest.approx(max(f1_at(names, group, *limit) for limit in limits))


@hypothesis_settings(max_examples=25, deadline=None)
@given(names=some_names)
def test_two_parameters_are_never_worse_than_one(names: list[Name]) -> None:
    found = tuned(*names)
    assert found["both"].f1 >= max(found["alpha"].f1, found["beta"].f1)
    assert found["both"].f1 == pytest.approx(f1_at(names, [1] * len(names), found["both"].alpha, found["both"].beta))
    assert (found["alpha"].beta, found["beta"].alpha) == (0, 0)
    assert [found[kind].kind for kind in KINDS] == list(KINDS)


def test_a_known_alpha_is_found() -> None:
    names = [best_between(2, 0.010, 0.012), best_between(30, 0.011, 0.013), best_between(9, 0.001, 0.1)]
    found = tuned(*names)
    assert 0.011 <= found["alpha"].alpha < 0.012
    assert found["alpha"].f1 == 1
    assert found["beta"].f1 < 1


def test_a_known_beta_is_found() -> None:
    names = [best_between(2, 2 * 0.010, 2 * 0.012), best_between(30, 30 * 0.011, 30 * 0.013)]
    found = tuned(*names)
    assert 0.011 <= found["beta"].beta < 0.012
    assert found["beta"].f1 == 1
    assert found["alpha"].f1 < 1


#: Limits that change hardly anything, but make the range of all limits, and so the steps of a search, wide.
FAR: Name = 10, [(100.0, 0.9, 0.9), (0.01, 0.9, 0.9), (-inf, 0.9, 0.9)]


def test_a_known_pair_is_found_where_neither_alone_is_enough() -> None:
    names = [best_between(2, 1.0, 1.3), best_between(20, 2.0, 2.6), best_between(40, 3.0, 4.2)]
    found = tuned(*names, FAR)
    assert max(found["alpha"].f1, found["beta"].f1) < 0.95
    alpha, beta = found["both"].alpha, found["both"].beta
    assert found["both"].f1 == pytest.approx(0.975)
    assert 1.0 <= alpha + 2 * beta < 1.3
    assert 2.0 <= alpha + 20 * beta < 2.6
    assert 3.0 <= alpha + 40 * beta < 4.2


@pytest.mark.parametrize("low", [1.0, 1.06, 1.12, 1.18, 1.24])
def test_two_parameters_do_not_miss_what_one_finds_on_its_finer_grid(low: float) -> None:
    found = tuned(best_between(2, low, 1.06 * low), best_between(200, low, 1.06 * low), FAR)
    assert found["both"].f1 == found["alpha"].f1 == pytest.approx(29 / 30)


def test_every_group_counts_the_same_however_many_names_it_has() -> None:
    many, one = best_between(2, 0.01, 0.1), best_between(2, 0.2, 2.0)
    names = [*[many] * 9, one]
    assert 0.01 <= tune(curves(names), one_group(names))["alpha"].alpha < 0.1
    worse = 2, [(0.1, 0.9, 0.9), (0.01, 1.0, 1.0), (-inf, 0.9, 0.9)]
    assert 0.2 <= tune(curves([*[worse] * 9, one]), np.array([1] * 9 + [2]))["alpha"].alpha < 2.0


def test_the_middle_of_a_plateau_is_taken() -> None:
    found = tuned(best_between(2, 0.1, 1.0))
    assert found["alpha"].alpha == pytest.approx(0.1**0.5, rel=0.06)
    assert found["beta"].beta == pytest.approx(0.1**0.5 / 2, rel=0.06)


def test_the_longest_of_several_plateaus_is_taken() -> None:
    steps = [(3.0, 1.0, 0.5), (0.3, 1.0, 1.0), (0.2, 0.9, 0.9), (0.1, 1.0, 1.0), (-inf, 0.5, 1.0)]
    assert tuned((2, steps))["alpha"].alpha == pytest.approx(0.9**0.5, rel=0.06)


def test_without_anything_to_compare_any_limit_will_do() -> None:
    alone = 1, [(-inf, 1.0, 1.0)]
    found = tuned(alone, alone)
    assert {found[kind].f1 for kind in KINDS} == {1.0}
    assert all(np.isfinite([found[kind].alpha, found[kind].beta]).all() for kind in KINDS)


def scattered(names: int) -> list[Name]:
    """Names that come out right at limits of their own, around 0.01."""
    centres = 0.01 * np.exp(np.random.default_rng(0).normal(0, 0.7, names))
    return [best_between(2, float(centre) / 1.2, float(centre) * 1.2) for centre in centres]


def test_the_spread_brackets_the_best_value_and_shrinks_with_more_names() -> None:
    widths = []
    for names in (12, 400):
        found = tuned(*scattered(names))
        for value, spread in (
            (found["alpha"].alpha, found["alpha"].spread),
            (found["beta"].beta, found["beta"].spread),
        ):
            assert spread is not None
            assert spread[0] <= value <= spread[1]
        assert found["both"].spread is None
        widths.append(np.log(found["beta"].spread[1] / found["beta"].spread[0]))  # type: ignore[index]
    assert widths[1] < widths[0]


@pytest.mark.parametrize("name", [best_between(2, 0.1, 1.0), (1, [(-inf, 1.0, 1.0)])], ids=["plateau", "no step"])
def test_the_spread_brackets_the_best_value_where_many_are_as_good(name: Name) -> None:
    found = tuned(name)["alpha"]
    assert found.spread is not None
    assert found.spread[0] <= found.alpha <= found.spread[1]


def chosen(variant: str, *names: Name) -> Kind:
    all_curves, group = curves(names), one_group(names)
    return choose(tune(all_curves, group), variant, all_curves, group).kind


def test_the_papers_parameter_is_chosen_unless_another_is_clearly_better() -> None:
    small, large, linear = best_between(2, 0.5, 2.0), best_between(20, 0.5, 2.0), best_between(20, 5.0, 20.0)
    assert chosen("prob", *[small] * 39, large) == "beta"  # α is perfect, but for the sake of one name
    assert chosen("prob", *[small] * 20, *[large] * 20) == "alpha"
    assert chosen("max", *[small] * 39, linear) == "alpha"
    assert chosen("max", *[small] * 20, *[linear] * 20) == "beta"


def test_equals_are_decided_for_the_papers_parameter() -> None:
    names = [best_between(2, 0.5, 2.0)] * 5
    assert (chosen("prob", *names), chosen("max", *names)) == ("beta", "alpha")


def test_both_are_chosen_where_both_are_needed() -> None:
    names = [best_between(2, 1.0, 1.3), best_between(20, 2.0, 2.6), best_between(40, 3.0, 4.2)] * 9
    assert {chosen("prob", *names), chosen("max", *names)} == {"both"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate(tmp_path_factory.mktemp("tuning") / "corpus", Corpus(mentions=2000, ambiguity=3, seed=3))


@pytest.fixture(scope="module")
def calibrated(corpus: Path) -> Calibration:
    return calibrate(corpus, corpus, resources=Resources(threads=1))


def documents(corpus: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in gzip.decompress(corpus.read_bytes()).splitlines()]


def written(rows: list[dict[str, Any]], path: Path) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


def figures(found: Calibration) -> list[Any]:
    return [
        (limit.kind, limit.alpha, limit.beta, limit.spread, limit.training, limit.test and limit.test.value)
        for limit in found.limits
    ]


def homonym_command(*arguments: str | Path | float, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from homonym.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd)


@pytest.mark.parametrize("variant", ["prob", "max"])
def test_the_tuned_limit_is_at_least_as_good_on_training_names_as_the_papers(corpus: Path, variant: str) -> None:
    settings = Settings(variant=variant)
    run = Run(Inputs.of(corpus), settings, False, Resources(threads=2), None)
    training = split(read_labelled(run, None, "author").names).training
    all_curves = curves_of(RelativeFrequencies(settings), training, 2)
    group = np.unique(size_groups(training.true_size), return_inverse=True)[1]
    found = calibrate(corpus, corpus, settings)
    alpha, beta = (np.array(values) for values in zip(found.settings.limit, DEFAULT_LIMIT[variant], strict=True))
    ours, papers = mean_f1(all_curves, group, alpha, beta)
    judged = {limit.kind: limit for limit in found.limits}
    assert ours == pytest.approx(judged[found.chosen].training)
    assert ours >= papers
    assert judged["both"].training == max(limit.training or 0 for limit in found.limits)
    assert (judged["paper"].alpha, judged["paper"].beta) == DEFAULT_LIMIT[variant]


def test_the_result_does_not_depend_on_threads(corpus: Path, calibrated: Calibration) -> None:
    again = calibrate(corpus, corpus, resources=Resources(threads=2))
    assert figures(again) == figures(calibrated)
    assert again.settings == calibrated.settings


def test_names_are_divided_as_the_share_says(corpus: Path, calibrated: Calibration) -> None:
    names = calibrated.training_names + calibrated.test_names
    assert abs(calibrated.training_names - names / 4) <= 0.5
    few = calibrate(corpus, corpus, most_names=2, training_share=0.5)
    assert few.training_names + few.test_names <= 22


def test_settings_are_written_with_the_tuned_limit(corpus: Path, tmp_path: Path, calibrated: Calibration) -> None:
    start = Settings(variant="max", weights="without-year", blocking="first-initial")
    found = calibrate(corpus, corpus, start, output=tmp_path / "settings.toml")
    loaded = load_settings(tmp_path / "settings.toml")
    assert loaded.spelled_out() == found.settings.spelled_out()
    judged = next(limit for limit in found.limits if limit.kind == found.chosen)
    assert loaded.limit == (judged.alpha, judged.beta)
    assert (loaded.variant, loaded.weights, loaded.blocking) == ("max", "without-year", "first-initial")
    assert loaded.limit != calibrated.settings.limit


def test_labels_may_stand_in_a_table_of_their_own(corpus: Path, tmp_path: Path, calibrated: Calibration) -> None:
    rows = documents(corpus)
    labels = [(f"{row['id']}#{i}", who.pop("author")) for row in rows for i, who in enumerate(row["authors"])]
    with (tmp_path / "gold.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("mention_id", "author"), *labels, ("nobody#0", "A"), ("nobody#1", "B")])
    found = calibrate(written(rows, tmp_path / "in.jsonl"), tmp_path / "gold.csv")
    assert figures(found) == figures(calibrated)
    assert (found.labels, found.labels_without_mention) == (len(labels) + 2, 2)
    with pytest.raises(InputError, match=r"in\.jsonl holds no label"):
        calibrate(tmp_path / "in.jsonl", tmp_path / "in.jsonl")


def test_labels_may_be_identifiers(corpus: Path, tmp_path: Path, calibrated: Calibration) -> None:
    rows = documents(corpus)
    for author in (author for row in rows for author in row["authors"]):
        author["ids"] = {"ORCID": author.pop("author")}
    path = written(rows, tmp_path / "in.jsonl")
    assert figures(calibrate(path, path, label="orcid")) == figures(calibrated)


def test_labels_of_some_mentions_are_enough(corpus: Path, tmp_path: Path) -> None:
    rows = documents(corpus)
    for author in (author for row in rows[::2] for author in row["authors"]):
        del author["author"]
    path = written(rows, tmp_path / "in.jsonl")
    found = calibrate(path, path)
    assert 0 < found.labels < sum(len(row["authors"]) for row in rows)
    assert all(0.4 < (limit.training or 1) <= 1 for limit in found.limits)


def test_labels_of_other_mentions_are_one_sentence(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("mention_id,author\nx#0,A\n")
    with pytest.raises(
        InputError, match=r"no label in .*gold\.csv belongs to a mention .* the first are x#0 and d\d+#"
    ):
        calibrate(corpus, tmp_path / "gold.csv", output=tmp_path / "settings.toml")
    assert not (tmp_path / "settings.toml").exists()


def test_an_output_that_cannot_be_written_is_found_first(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="nowhere does not exist"):
        calibrate(corpus, tmp_path / "missing.csv", output=tmp_path / "nowhere" / "settings.toml")


def test_the_command_line_calibrates_on_all_names(corpus: Path, tmp_path: Path) -> None:
    done = homonym_command(
        "calibrate", corpus, "--gold", corpus, "--training-share", 1, "-o", "settings.toml", cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    alpha, beta = load_settings(tmp_path / "settings.toml").limit
    assert done.stdout.splitlines()[-1] == f"--alpha {alpha:.4g} --beta {beta:.4g}"
    assert ", 0 to judge on" in done.stdout
    assert beta > 0
    done = homonym_command(
        "disambiguate", corpus, "-o", "authors.csv", "--settings", "settings.toml", "-q", cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert load_settings(tmp_path / "authors.settings.toml").limit == (alpha, beta)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--training-share", "0"], "the training share must be above 0 and at most 1, got 0."),
        (["--training-share", "0.001"], "leaves none of"),
        (["--label", "viaf"], "no author has the identifier viaf; choose one of orcid, or the label author."),
    ],
)
def test_wrong_usage_is_one_sentence_and_status_2(corpus: Path, tmp_path: Path, options: list[str], says: str) -> None:
    done = homonym_command("calibrate", corpus, "--gold", corpus, "-o", "settings.toml", *options, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())
