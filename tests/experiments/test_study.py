"""The study: its plan, its findings, its cache of runs, and that an interrupted study resumes."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import orjson
import pytest

from homonym.calibration.weights import learn_weights
from homonym.commands import study as study_module
from homonym.commands.generate import generate
from homonym.commands.run import Resources
from homonym.commands.study import Study, study
from homonym.errors import InputError
from homonym.experiments import runs as runs_module
from homonym.experiments import study_figures
from homonym.experiments.findings import EQUAL_WITHIN, Finding, RunDifference, _first_is, better, equal, findings, worse
from homonym.experiments.runs import RunCache, file_digests, paper_settings, plan, weightings
from homonym.experiments.study_figures import run_names
from homonym.measures.bootstrap import Estimate
from homonym.report.figures import DrawnPicture
from homonym.settings import PAPER_LIMIT, PAPER_TYPES, Settings, opposed
from homonym.synthetic.corpus import Corpus
from tests.support.command import homonym_command, homonym_process

Rows = list[dict[str, Any]]


# The plan.


def test_all_feature_types_give_all_weightings_of_the_paper() -> None:
    trained = {kind: (number + 1) / 36 for number, kind in enumerate(PAPER_TYPES)}
    weights, said = weightings(PAPER_TYPES, trained)
    singles = [f"{what}-{kind}" for what in ("only", "without") for kind in PAPER_TYPES]
    assert list(weights) == ["uniform", "trained", "opposed", "paper", *singles, "authors", "document"]
    assert said == []
    assert weights["trained"] == trained
    assert weights["opposed"] == opposed(trained)
    assert all(sum(values.values()) == pytest.approx(1) for values in weights.values())


def test_opposed_weights_reverse_the_papers_without_training() -> None:
    weights, _ = weightings(PAPER_TYPES, None)
    assert "trained" not in weights
    assert weights["opposed"] == pytest.approx(opposed(weights["paper"]))


def test_custom_feature_types_have_no_paper_weights() -> None:
    weights, _ = weightings(["co", "mine", "term"], {"co": 0.5, "mine": 0.3, "term": 0.2})
    assert "paper" not in weights
    assert weights["only-mine"] == {"co": 0, "mine": 1, "term": 0}


def test_duplicate_weightings_are_dropped_with_a_message() -> None:
    weights, said = weightings(["co", "term"], {"co": 0.5, "term": 0.5})
    assert list(weights) == ["uniform", "paper", "only-co", "only-term"]
    same = {"trained": "uniform", "opposed": "uniform", "without-co": "only-term", "without-term": "only-co"}
    same |= {"authors": "only-co", "document": "uniform"}
    assert said == [
        f"weights '{name}' are the same as '{other}' with these feature types, and were run once."
        for name, other in same.items()
    ]


def test_weightings_without_weight_are_dropped_with_a_message() -> None:
    weights, said = weightings(["email"], None)
    assert list(weights) == ["uniform"]
    for name in ("without-email", "authors", "document"):
        assert f"weights '{name}': no mention has any of these feature types." in said


def test_plan_has_both_variants_of_each_weighting_and_all_scores_of_uniform() -> None:
    weights, _ = weightings(PAPER_TYPES, None)
    runs = plan(Settings(epsilon=0.01, beta=7.0), weights)
    assert len({run.key for run in runs}) == len(runs) == 2 * len(weights) + 4 + 3
    by_key = {run.key: run for run in runs}
    assert by_key["max-only-co"].settings.weights == weights["only-co"]
    assert by_key["max-only-co"].settings.variant == "max"
    assert by_key["prob-uniform-within"].settings.scope == "within"
    assert by_key["max-uniform-joint"].settings.joint
    assert [run.key for run in runs if run.main] == ["prob-uniform", "max-uniform"]
    assert {run.settings.epsilon for run in runs} == {0.01}


def test_only_chance_runs_subtract_chance() -> None:
    runs = {run.key: run for run in plan(Settings(gamma=0.5), weightings(PAPER_TYPES, None)[0])}
    chances = {key: run.settings.chance_weight for key, run in runs.items() if run.settings.chance_weight}
    assert chances == {"prob-uniform-chance0.25": 0.25, "prob-uniform-chance1": 1.0, "prob-uniform-chance2": 2.0}
    assert runs["prob-uniform-chance0.25"].title == "prob, uniform weights, a quarter of chance subtracted"
    assert {runs[key].settings.weights for key in chances} == {"uniform"}
    assert not any(runs[key].main for key in chances)


@pytest.mark.parametrize("base", [Settings(), Settings(kappa=5.0, gamma=1.0), Settings(target_precision=0.9)])
def test_plan_resets_other_settings_to_the_paper(base: Settings) -> None:
    for run in plan(base, weightings(PAPER_TYPES, None)[0]):
        assert run.settings.limit == PAPER_LIMIT[run.settings.variant]
        assert run.settings.constraints == "none"
    assert paper_settings(base).spelled_out() == paper_settings(Settings()).spelled_out()
    assert paper_settings(Settings(epsilon=0.5)).epsilon == 0.5


@pytest.mark.parametrize("base", [Settings(), Settings(variant="max", weights="only-co", alpha=1.0)])
def test_no_two_runs_are_the_same(base: Settings) -> None:
    runs = plan(base, weightings(PAPER_TYPES, None)[0])
    settings = [run.settings.spelled_out() | {"weights": run.weights} for run in runs]
    assert all(settings.count(one) == 1 for one in settings)


@pytest.mark.parametrize("base", [Settings(scope="within"), Settings(joint=True)], ids=["within", "joint"])
def test_plan_ignores_scope_and_joint_of_the_settings(base: Settings) -> None:
    for run in plan(base, weightings(PAPER_TYPES, None)[0]):
        assert run.settings.scope == ("within" if run.key.endswith("within") else "overall")
        assert run.settings.joint == run.key.endswith("joint")


# The findings.


def row(low: float, high: float, label: str = "") -> RunDifference:
    """A difference whose replicates are spread evenly, so that nearly all of them lie in its interval."""
    return RunDifference(label, Estimate((low + high) / 2, np.linspace(low, high, 1000)))


ABOVE, BELOW, ACROSS = row(0.1, 0.2), row(-0.2, -0.1), row(-0.1, 0.1)
TINY, HUGE = row(-EQUAL_WITHIN / 2, EQUAL_WITHIN / 2), row(2 * EQUAL_WITHIN, 3 * EQUAL_WITHIN)


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([ABOVE], "confirmed"),
        ([ABOVE, ABOVE], "confirmed"),
        ([BELOW], "refuted"),
        ([ABOVE, BELOW], "refuted"),
        ([ACROSS], "undecided"),
        ([ABOVE, ACROSS], "undecided"),
        ([row(0, 0)], "undecided"),
    ],
)
def test_better_means_every_interval_is_above_0(rows: list[RunDifference], verdict: str) -> None:
    assert better(rows) == verdict
    turned = [RunDifference(one.label, Estimate(-one.estimate.value, -one.estimate.replicates)) for one in rows]
    assert worse(turned) == verdict


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([TINY], "confirmed"),
        ([row(0, 0), TINY], "confirmed"),
        ([HUGE], "refuted"),
        ([TINY, row(-0.2, -0.1)], "refuted"),
        ([ACROSS], "undecided"),
        ([TINY, row(0, 2 * EQUAL_WITHIN)], "undecided"),
    ],
)
def test_equal_means_every_interval_is_narrow(rows: list[RunDifference], verdict: str) -> None:
    assert equal(rows) == verdict


def apart(label: str, value: float, *, spread: float = 0.0, seed: int = 0) -> RunDifference:
    return RunDifference(label, Estimate(value, value + spread * np.random.default_rng(seed).normal(size=1000)))


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([apart("co", -0.3), apart("ref", -0.1)], "confirmed"),
        ([apart("ref", -0.3), apart("co", -0.1), apart("term", 0.0)], "refuted"),
        ([apart("co", -0.3, spread=0.2, seed=1), apart("ref", -0.2, spread=0.2, seed=2)], "undecided"),
        ([apart("co", -0.3, spread=0.2), apart("ref", -0.2, spread=0.2)], "confirmed"),  # the same draws for both
        ([apart("ref", -0.3), apart("term", -0.1)], "undecided"),
        ([apart("co", -0.3)], "undecided"),
    ],
)
def test_first_is_requires_more_than_chance(rows: list[RunDifference], verdict: str) -> None:
    assert _first_is("co", rows) == verdict


SIZES = np.repeat([1, 2, 3, 12], 12)
NOISE = np.random.default_rng(0).uniform(-0.05, 0.05, len(SIZES))


def made_run(f1: float, precision: float | None = None, noise: Any = NOISE, **extra: Any) -> dict[str, Any]:
    """A run with these means; its names differ from each other as those of every other run do."""
    p, r = ((np.full(len(SIZES), value) + noise).tolist() for value in (precision or f1, f1))
    limits = {kind: {"precision": p, "recall": r} for kind in ("alpha", "beta", "both")}
    return {"by_name": {"precision": p, "recall": r, "max_recall": r, "max_precision": p, "limits": limits, **extra}}


def found(
    runs: Mapping[str, Any], baselines: Mapping[str, Any] | None = None, types: tuple[str, ...] = ("co", "ref", "term")
) -> dict[str, Finding]:
    ours, others = (
        [{"key": key, "title": key, **run} for key, run in some.items()] for some in (runs, baselines or {})
    )
    return {finding.key: finding for finding in findings(ours, others, SIZES, types)}


def test_the_method_must_be_better_than_every_baseline() -> None:
    runs = {"prob-uniform": made_run(0.8)}
    weak, strong = {"one-cluster": made_run(0.5), "tf-idf": made_run(0.7)}, {"tanimoto": made_run(0.85)}
    assert "baselines" not in found(runs)
    assert found(runs, weak)["baselines"].verdict == "confirmed"
    refuted = found(runs, weak | strong)["baselines"]
    assert refuted.verdict == "refuted"
    assert [one.label for one in refuted.rows] == ["prob − tanimoto", "prob − tf-idf", "prob − one-cluster"]


def test_known_differences_give_the_expected_verdicts() -> None:
    level = {"uniform": 0.8, "trained": 0.805, "opposed": 0.7, "without-co": 0.6, "without-ref": 0.7, "authors": 0.79}
    level |= {"without-term": 0.79, "only-co": 0.75, "only-ref": 0.6, "only-term": 0.3, "uniform-within": 0.6}
    runs = {f"{variant}-{name}": made_run(f1) for name, f1 in level.items() for variant in ("prob", "max")}
    runs["prob-uniform-joint"], runs["max-uniform-joint"] = made_run(0.9), made_run(0.7)
    runs["prob-document"] = made_run(0.6, precision=0.81)
    verdicts = {key: finding.verdict for key, finding in found(runs).items()}
    assert verdicts == {
        "uniform-trained-prob": "confirmed",
        "uniform-trained-max": "confirmed",
        "opposed-prob": "confirmed",
        "opposed-max": "confirmed",
        "without-co": "confirmed",
        "droppable": "confirmed",
        "only-co": "confirmed",
        "authors": "confirmed",
        "document": "confirmed",
        "document-precision": "confirmed",
        "within-prob": "confirmed",
        "within-max": "confirmed",
        "joint-prob": "refuted",
        "joint-max": "confirmed",
        "prob-one-limit": "confirmed",
        "prob-beta": "undecided",
        "max-one-limit": "confirmed",
        "max-alpha": "undecided",
        **{
            f"{claim}-{weights}": "undecided"
            for claim in ("prob-f1", "prob-recall", "max-precision", "process-max-recall", "process-max-precision")
            for weights in ("uniform", "trained")
        },
    }


def test_limits_and_variants_are_compared_with_their_own_scores() -> None:
    low, high = (made_run(f1)["by_name"]["limits"]["alpha"] for f1 in (0.5, 0.9))
    runs = {
        "prob-uniform": made_run(0.9, precision=0.7, limits={"alpha": low, "beta": high, "both": high}),
        "max-uniform": made_run(0.6, precision=0.8, limits={"alpha": low, "beta": high, "both": high}),
    }
    verdicts = {key: finding.verdict for key, finding in found(runs).items()}
    assert verdicts == {
        "prob-one-limit": "confirmed",
        "prob-beta": "confirmed",
        "max-one-limit": "refuted",
        "max-alpha": "refuted",
        "prob-f1-uniform": "confirmed",
        "prob-recall-uniform": "confirmed",
        "max-precision-uniform": "confirmed",
        "process-max-recall-uniform": "confirmed",
        "process-max-precision-uniform": "confirmed",
    }


def test_differences_within_chance_are_undecided() -> None:
    other = made_run(0.8, noise=np.random.default_rng(1).uniform(-0.15, 0.15, len(SIZES)))
    runs = {"prob-uniform": made_run(0.8), "prob-trained": other, "prob-opposed": made_run(0.8), "max-uniform": other}
    verdicts = {key: finding.verdict for key, finding in found(runs).items()}
    assert verdicts["uniform-trained-prob"] == verdicts["opposed-prob"] == verdicts["prob-f1-uniform"] == "undecided"


def test_finding_states_its_measured_differences() -> None:
    runs = {"prob-uniform": made_run(0.8), "prob-trained": made_run(0.75)}
    values = found(runs)["uniform-trained-prob"].as_dict()
    (measured,) = values["rows"]
    assert measured[1] == pytest.approx(0.05)
    assert measured[2] == pytest.approx([0.05, 0.05])
    assert values["measured"] == "prob: uniform − trained +.050 [+.050, +.050]"
    assert orjson.loads(orjson.dumps(values)) == values


def test_findings_ignore_names_with_more_than_ten_authors() -> None:
    runs = {"prob-uniform": made_run(0.8), "prob-trained": made_run(0.8)}
    for part in ("precision", "recall"):
        runs["prob-trained"]["by_name"][part] = [
            value - 0.5 * (size > 10) for value, size in zip(runs["prob-trained"]["by_name"][part], SIZES, strict=True)
        ]
    assert found(runs)["uniform-trained-prob"].rows[0].estimate.value == pytest.approx(0)


# The cache of runs.


class Made:
    """Counts how often something is made."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> dict[str, Any]:
        self.times += 1
        return {"answer": (1, 2.5)}


def test_cached_run_is_reused(tmp_path: Path) -> None:
    made = Made()
    first = RunCache(tmp_path, {"files": ["a"]}).get("one", {"x": 1}, made)
    again = RunCache(tmp_path, {"files": ["a"]}).get("one", {"x": 1}, made)
    assert made.times == 1
    assert first == again == {"answer": [1, 2.5]}  # as JSON has it, whether it was just made or not


@pytest.mark.parametrize(("files", "details"), [(["b"], {"x": 1}), (["a"], {"x": 2}), (["a"], None)])
def test_cache_key_covers_inputs_and_details(tmp_path: Path, files: list[str], details: Any) -> None:
    made = Made()
    RunCache(tmp_path, {"files": ["a"]}).get("one", {"x": 1}, made)
    RunCache(tmp_path, {"files": files}).get("one", details, made)
    assert made.times == 2


def test_cache_key_covers_the_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made()
    RunCache(tmp_path, {}).get("one", None, made)
    monkeypatch.setattr(runs_module, "library_versions", lambda: ("homonym", "99"))
    RunCache(tmp_path, {}).get("one", None, made)
    assert made.times == 2


@pytest.mark.parametrize("torn", [b"", b'{"fingerprint": "', b"[1]", b"\xff\xfe"])
def test_damaged_cache_file_is_replaced(tmp_path: Path, torn: bytes) -> None:
    made, store = Made(), RunCache(tmp_path, {})
    whole = store.get("one", None, made)
    (tmp_path / "one.json").write_bytes(torn)
    assert store.get("one", None, made) == whole
    assert made.times == 2
    assert store.get("one", None, made) == whole
    assert made.times == 2


def test_changed_cache_file_of_equal_size_is_replaced(tmp_path: Path) -> None:
    store = RunCache(tmp_path, {})
    store.get("one", None, lambda: {"score": 0.75})
    changed = (tmp_path / "one.json").read_bytes().replace(b"0.75", b"0.85")
    (tmp_path / "one.json").write_bytes(changed)
    assert store.get("one", None, lambda: {"score": 0.75}) == {"score": 0.75}


def test_failed_run_is_not_cached(tmp_path: Path) -> None:
    def fails() -> dict[str, Any]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        RunCache(tmp_path, {}).get("one", None, fails)
    assert not list(tmp_path.iterdir())


def test_file_digests_depend_on_content_only(tmp_path: Path) -> None:
    for name, content in (("a", b"1"), ("b", b"1"), ("c", b"2")):
        (tmp_path / name).write_bytes(content)
    one, other, different = file_digests(tmp_path / name for name in "abc")
    assert one == other != different


# A study from files to page.


def mentions(names: Mapping[int, int], types: tuple[str, ...] = ("co", "term")) -> Rows:
    """The given number of names of each true size; each author has four mentions with some features of its own."""
    random = np.random.default_rng(1)

    def bag(kind: str, who: str) -> dict[str, int]:
        return {f"{kind} {who} {random.integers(2)}": 1, f"{kind} {random.integers(30)}": 1}

    people = [
        (f"NAME {size}.{number}", f"{size}.{number}.{person}")
        for size, count in names.items()
        for number in range(count)
        for person in range(size)
    ]
    return [
        {
            "mention_id": f"{who}.{number}",
            "block": name,
            "author": who,
            "features": {kind: bag(kind, who) for kind in types},
        }
        for name, who in people
        for number in range(4)
    ]


def written(rows: Rows, path: Path) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


@pytest.fixture(autouse=True, scope="module")
def no_pictures() -> Iterator[None]:
    """Drawing is slow; one study is drawn in full, by the command line."""
    drawn = DrawnPicture("<svg></svg>", b"<svg/>", b"png")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(study_figures, "run_tasks", lambda tasks, processes: (drawn for _ in tasks))
        yield


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(mentions({1: 8, 2: 8, 3: 6}), tmp_path_factory.mktemp("study") / "mentions.jsonl")


@pytest.fixture(scope="module")
def finished(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    return study(inputs, tmp_path_factory.mktemp("study") / "finished", resources=Resources(threads=1))


def results(directory: Path) -> dict[str, Any]:
    """The results of a study without its times."""
    values: dict[str, Any] = orjson.loads((directory / "study.json").read_bytes())
    assert values.pop("seconds")
    return values


def watched(monkeypatch: pytest.MonkeyPatch, *, break_after: int | None = None) -> list[str]:
    """The keys of all runs and baselines made from now on; `break_after` interrupts after that number."""
    made: list[str] = []

    def watch(name: str) -> None:
        original = getattr(study_module, name)

        def make(what: Any, *arguments: Any) -> Any:
            if len(made) == break_after:
                raise KeyboardInterrupt
            made.append(what.key)
            return original(what, *arguments)

        monkeypatch.setattr(study_module, name, make)

    watch("run_planned")
    watch("run_baseline")
    return made


@pytest.mark.slow
def test_study_writes_page_tables_figures_and_json(finished: Study) -> None:
    directory = finished.directory
    assert finished.report == directory / "report.html"
    assert "</html>" in finished.report.read_text()
    assert sorted(path.name for path in directory.iterdir()) == [
        "figures",
        "report.html",
        "runs",
        "study.json",
        "tables",
    ]
    for run in finished.values["runs"]:
        assert (directory / "figures" / f"results-{run_names(finished.values)[run['key']]}.svg").exists()
    tables = {path.stem: list(csv.reader(path.read_text().splitlines())) for path in (directory / "tables").iterdir()}
    assert all(len(rows) > 1 for rows in tables.values())
    assert len(tables["runs"]) == 1 + len(finished.values["runs"])
    assert not [path for path in directory.rglob("*") if "partial" in path.name]
    values = orjson.loads(orjson.dumps(finished.values))
    assert results(directory) == {name: value for name, value in values.items() if name != "seconds"}


@pytest.mark.slow
def test_study_runs_the_plan_and_evaluates_on_test_names(finished: Study) -> None:
    values = finished.values
    ways = ["uniform", "trained", "opposed", "paper", "only-co", "only-term", "uniform-within", "uniform-joint"]
    less_chance = [f"prob-uniform-chance{gamma}" for gamma in ("0.25", "1", "2")]
    expected = [f"{variant}-{way}" for variant in ("prob", "max") for way in ways] + less_chance
    assert sorted(run["key"] for run in values["runs"]) == sorted(expected)
    assert [run["gamma"] for run in values["runs"] if run["key"] in less_chance] == [0.25, 1, 2]
    assert {run["gamma"] for run in values["runs"] if run["key"] not in less_chance} == {0}
    assert (values["settings"]["gamma"], values["settings"]["constraints"]) == (0, "none")
    assert values["split"]["by_true_size"] == {
        "1": {"training": 2, "test": 6, "all": 8},
        "2": {"training": 2, "test": 6, "all": 8},
        "3": {"training": 2, "test": 4, "all": 6},
    }
    assert {run["test"]["names"] for run in values["runs"] + values["baselines"]} == {16}
    assert values["collection"]["labelled_mentions"] == 4 * (8 + 16 + 18)
    assert {"one-cluster", "singletons", "tf-idf"} <= {method["key"] for method in values["baselines"]}
    assert "by_name" not in values["runs"][0]
    assert finished.warnings == values["warnings"]
    assert any("'without-co' are the same as 'only-term'" in said for said in finished.warnings)


def test_runs_use_their_best_tuned_limit(finished: Study) -> None:
    for run in finished.values["runs"]:
        tuning = run["tuning"]
        assert set(tuning) == {"alpha", "beta", "both", "paper"}
        assert tuning["both"]["training_f1"] >= max(tuning[kind]["training_f1"] for kind in ("alpha", "beta"))
        assert run["limit"] == {name: tuning[run["limit_kind"]][name] for name in ("alpha", "beta")}
        assert run["test"]["mean_over_sizes"]["f1"] == pytest.approx(tuning[run["limit_kind"]]["test_f1"])
        for size, part in run["process"].items():
            row = run["test"]["by_true_size"][size]
            assert sum(part["stops"].values()) == part["names"] == row["names"]
            assert part["clusters"][-1] == 1
            assert part["recall_mean"][-1] == 1


def test_finished_study_reuses_all_runs(finished: Study, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = results(finished.directory)
    made = watched(monkeypatch, break_after=0)
    monkeypatch.setattr(study_module, "learn_weights", None)
    study(inputs, finished.directory)
    assert made == []
    assert results(finished.directory) == before


@pytest.mark.slow
def test_interrupted_study_resumes(finished: Study, inputs: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patched:
        first = watched(patched, break_after=3)
        with pytest.raises(KeyboardInterrupt):
            study(inputs, tmp_path / "study")
    kept = {path.stem for path in (tmp_path / "study" / "runs").iterdir()}
    assert kept == {"weights", *first}
    assert [path.name for path in (tmp_path / "study").iterdir()] == ["runs"]
    with pytest.MonkeyPatch.context() as patched:
        rest = watched(patched)
        study(inputs, tmp_path / "study")
    assert len(first) == 3
    assert first + rest == [run["key"] for run in [*finished.values["runs"], *finished.values["baselines"]]]
    assert results(tmp_path / "study") == results(finished.directory)


@pytest.mark.slow
def test_results_do_not_depend_on_threads(finished: Study, inputs: Path, tmp_path: Path) -> None:
    study(inputs, tmp_path / "study", resources=Resources(threads=2))
    assert results(tmp_path / "study") == results(finished.directory)


def test_only_damaged_runs_are_made_again(finished: Study, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = results(finished.directory)
    torn = finished.directory / "runs" / "max-opposed.json"
    torn.write_bytes(torn.read_bytes()[:100])
    made = watched(monkeypatch)
    study(inputs, finished.directory)
    assert made == ["max-opposed"]
    assert results(finished.directory) == before


@pytest.mark.slow
@pytest.mark.parametrize("what", ["settings", "share", "input"])
def test_runs_of_other_settings_or_inputs_are_not_reused(
    finished: Study, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    runs = tmp_path / "study" / "runs"
    runs.mkdir(parents=True)
    for path in (finished.directory / "runs").iterdir():
        (runs / path.name).write_bytes(path.read_bytes())
    made = watched(monkeypatch, break_after=1)
    learnt = Mock(wraps=learn_weights)
    monkeypatch.setattr(study_module, "learn_weights", learnt)
    if what == "input":
        inputs = written([orjson.loads(line) for line in inputs.read_bytes().splitlines()][1:], tmp_path / inputs.name)
    settings = Settings(epsilon=1e-3) if what == "settings" else None
    with pytest.raises(KeyboardInterrupt):
        study(inputs, tmp_path / "study", settings, training_share=0.3 if what == "share" else 0.25)
    assert made == ["prob-uniform"]
    assert learnt.call_count == 1


@pytest.mark.slow
def test_without_scikit_learn_there_are_no_trained_weights(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    done = study(inputs, tmp_path / "study")
    assert done.values["training"] is None
    assert "trained" not in done.values["weights"]
    assert any("there are no trained weights: learning weights needs scikit-learn" in said for said in done.warnings)
    assert {"opposed", "paper", "only-co"} <= set(done.values["weights"])


@pytest.mark.slow
def test_study_of_documents_with_all_feature_types(tmp_path: Path) -> None:
    corpus = generate(tmp_path / "corpus", Corpus(mentions=600, ambiguity=3, seed=2))
    done = study(corpus, tmp_path / "study")
    values = done.values
    assert sorted(values["collection"]["feature_types"]) == sorted(PAPER_TYPES)
    assert len(values["runs"]) == 2 * 22 + 4 + 3
    assert {finding["verdict"] for finding in values["findings"]} <= {"confirmed", "refuted", "undecided"}
    assert {"without-co", "droppable", "only-co", "authors", "document"} <= {one["key"] for one in values["findings"]}
    ours = next(run for run in values["runs"] if run["key"] == "prob-uniform")
    simple = {method["key"]: method["test"]["mean_over_sizes"]["f1"] for method in values["baselines"]}
    assert ours["test"]["mean_over_sizes"]["f1"] > max(simple["one-cluster"], simple["singletons"])
    assert sum(values["training"]["weights"].values()) == pytest.approx(1)


@pytest.mark.slow
def test_feature_types_may_have_any_name(tmp_path: Path) -> None:
    inputs = written(mentions({1: 3, 2: 3}, types=("a/b", "..")), tmp_path / "mentions.jsonl")
    done = study(inputs, tmp_path / "study")
    assert {"prob-only-a/b", "prob-only-.."} <= {run["key"] for run in done.values["runs"]}


def test_failed_study_leaves_no_directory(tmp_path: Path) -> None:
    inputs = written([{"mention_id": "a", "block": "A", "features": {"co": {"B": 1}}}], tmp_path / "mentions.jsonl")
    with pytest.raises(InputError, match="holds no label"):
        study(inputs, tmp_path / "study")
    assert [path.name for path in tmp_path.iterdir()] == ["mentions.jsonl"]


# The command line.


@pytest.mark.slow
def test_command_line_study_draws_figures_and_reports_warnings(tmp_path: Path) -> None:
    rows = mentions({1: 6, 2: 3}, types=("co",))
    labels = [(one["mention_id"], one.pop("author")) for one in rows]
    with (tmp_path / "gold.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("mention_id", "author"), *labels, ("nobody", "A"), ("no one", "B")])
    written(rows, tmp_path / "in.jsonl")
    arguments = ("in.jsonl", "--gold", "gold.csv", "-o", "out", "--training-share", ".15")
    done = homonym_process("study", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    values = results(tmp_path / "out")
    missing = (
        "a training share of 0.15 leaves no name for training of true size 2: this size has no influence on the choice."
    )
    assert missing in values["warnings"]
    assert f"warning: {missing}\n" in done.stderr
    assert values["collection"]["labels_without_mention"] == 2
    assert done.stdout.splitlines()[-1] == "out/report.html"
    for finding in values["findings"]:
        assert f"{finding['verdict']:<10} {finding['claim']}" in done.stdout
    assert (tmp_path / "out" / "report.html").read_text().count("<svg") > 6
    figures = sorted((tmp_path / "out" / "figures").iterdir())
    assert {path.suffix for path in figures} == {".svg", ".png"}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in figures if path.suffix == ".png")


@pytest.mark.slow
def test_ctrl_c_names_the_command_that_resumes(inputs: Path, tmp_path: Path) -> None:
    start = (
        "import homonym.commands.study as module\n"
        "made, original = [], module.run_planned\n"
        "def interrupted(*arguments):\n"
        "    if len(made) == 1: raise KeyboardInterrupt\n"
        "    made.append(1)\n"
        "    return original(*arguments)\n"
        "module.run_planned = interrupted"
    )
    done = homonym_process("study", inputs, "-o", "out", cwd=tmp_path, before=start)
    assert done.returncode == 130
    assert done.stderr == "homonym: interrupted; finished runs are in out. Run the same command to resume.\n"
    assert {path.name for path in (tmp_path / "out" / "runs").iterdir()} == {"weights.json", "prob-uniform.json"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["unlabelled.jsonl", "-o", "out"], "unlabelled.jsonl holds no label; expected documents or mentions"),
        (["in.jsonl", "-o", "out", "--training-share", "0"], "a share of 0 is neither."),
        (["in.jsonl", "-o", "out", "--training-share", "1"], "a share of 1 is neither."),
        (["in.jsonl", "-o", "file"], "file cannot be a directory: file is a file; name another."),
        (["empty.jsonl", "-o", "out"], "empty.jsonl is empty; check how it was made."),
        (
            ["in.jsonl", "--gold", "clash.csv", "-o", "out"],
            "mention 1.0.0.0 has two labels, A and B; keep the right one.",
        ),
        (["in.jsonl", "--gold", "others.csv", "-o", "out"], "no label in others.csv belongs to a mention of in.jsonl"),
        (["in.jsonl", "-o", "out", "--training-share", ".01"], "leaves none of 2 labelled names for training"),
    ],
)
def test_wrong_usage_is_one_sentence_and_status_2(tmp_path: Path, arguments: list[str], says: str) -> None:
    rows = mentions({1: 1, 2: 1})
    written(rows, tmp_path / "in.jsonl")
    written([{name: one[name] for name in one if name != "author"} for one in rows], tmp_path / "unlabelled.jsonl")
    texts = {"empty.jsonl": "", "file": "kept", "clash.csv": "1.0.0.0,A\n1.0.0.0,B\n", "others.csv": "x,A\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(f"mention_id,author\n{text}" if name.endswith("csv") else text)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    done = homonym_command("study", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert done.stderr.startswith("homonym: ")
    assert len(done.stderr.splitlines()) == 1
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
