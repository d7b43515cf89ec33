"""Study: the paper's experiments on any labelled data; writes tables, figures, a page, and all values as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from homonym import __version__
from homonym.calibration.holdout import NameSplit
from homonym.calibration.weights import LearnedWeights, learn_weights
from homonym.commands.labelled import read_labelled, split_names
from homonym.commands.run import (
    Resources,
    Run,
    RunFiles,
    check_given_statistics,
    follow_statistics,
    prepare_run,
    statistics_files,
)
from homonym.errors import HomonymError, SettingsError
from homonym.evaluation.matching import Labelling
from homonym.experiments.baselines import all_baselines
from homonym.experiments.findings import findings
from homonym.experiments.runs import RunCache, file_digests, paper_settings, plan, run_baseline, run_planned, weightings
from homonym.io.inputs import expand
from homonym.io.outputs import Paths, as_paths, require_directory, write_atomic, write_json
from homonym.io.paths import printable
from homonym.measures.agreement import Codes
from homonym.measures.bootstrap import group_name, size_groups
from homonym.records.model import Problems
from homonym.records.reader import Columns
from homonym.runtime.progress import Listener
from homonym.settings import MAX_NAMES_PER_SIZE, TRAINING_SHARE, Settings

# Number of parts of a replay.
REPLAY_PARTS = 10
# Names in the directory of a study.
PAGE, VALUES, RUNS, TABLES, FIGURES = "report.html", "study.json", "runs", "tables", "figures"
REPLAY_PAGE, REPLAY_VALUES, REPLAY_TABLE = "replay.html", "replay.json", "replay.csv"


@dataclass(frozen=True)
class Study:
    """The directory with page, tables and figures, and all values."""

    directory: Path
    report: Path
    values: Mapping[str, Any]
    problems: Problems
    warnings: list[str]


def study(
    inputs: Paths,
    output: str | Path,
    settings: Settings | None = None,
    *,
    gold: Paths | None = None,
    label: str = "author",
    training_share: float = TRAINING_SHARE,
    most_names: int = MAX_NAMES_PER_SIZE,
    statistics: str | Path | None = None,
    mentions_in_collection: int | None = None,
    format: str | None = None,
    columns: Columns | None = None,
    rejects: str | Path | None = None,
    excel: bool = False,
    replay: bool = False,
    parts: int = REPLAY_PARTS,
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Study:
    """Repeat the paper's study on labelled documents or mentions: its tables and figures, and which findings hold.

    It varies variants, weights and limits, and uses no constraints, as the paper; other `settings` apply. Labels are
    in the inputs or in `gold`. Finished runs are cached: the same call resumes an interrupted study. `excel` writes
    the tables for spreadsheets.

    With `replay`, labelled documents are added to a result in `parts` instead, year by year and at random, with every
    mode of `update`: how good the authors are after each part, and how many ids change.
    """
    directory = Path(output)
    if replay:
        return _replay(
            inputs, directory, settings or Settings(), gold, label, parts, resources, listener, excel=excel,
            reading={"format": format, "columns": columns, "rejects": rejects, "strict": strict},
        )  # fmt: skip
    run = prepare_run(
        inputs, paper_settings(settings or Settings()), format=format, columns=columns, strict=strict, rejects=rejects,
        resources=resources, listener=listener,
        files=RunFiles.of(
            outputs=[directory / PAGE, directory / VALUES],
            inputs=statistics_files(statistics),
            labels=gold,
            directories=[directory / name for name in (RUNS, TABLES, FIGURES)],
        ),
    )  # fmt: skip
    given = check_given_statistics(statistics, mentions_in_collection)
    run = follow_statistics(run, given)
    if not 0 < training_share < 1:
        raise SettingsError(
            f"a study needs names for training and for testing: a share of {training_share:g} is neither."
        )
    require_directory(directory)
    labelling = read_labelled(run, gold, label, given)
    names = split_names(run, labelling, training_share, most_names)
    files = [*run.inputs.files, *(expand(gold)[0] if gold else []), *([Path(statistics)] if statistics else [])]
    store = RunCache(
        directory / RUNS,
        {
            "files": file_digests(files), "mentions": mentions_in_collection, "label": label,
            "settings": run.settings.spelled_out(), "share": training_share, "most": most_names,
            "format": format, "columns": dict(columns or {}),
        },
    )  # fmt: skip
    # Without parents, so that a typing error does not create a tree of directories.
    directory.mkdir(exist_ok=True)
    store.directory.mkdir(exist_ok=True)
    values = _results(run, names, store)
    values = {**_about(run, labelling, label), "split": _split(labelling, names, training_share, most_names), **values}
    report = _write(values, directory, run, excel=excel)
    return Study(directory, report, values, labelling.problems, run.warnings)


def _replay(
    inputs: Paths,
    directory: Path,
    settings: Settings,
    gold: Paths | None,
    label: str,
    parts: int,
    resources: Resources | None,
    listener: Listener | None,
    *,
    excel: bool,
    reading: Mapping[str, Any],
) -> Study:
    """Replay a collection, and write the table, the page and all values."""
    from homonym.commands.replaying import as_values, replay_steps
    from homonym.experiments.replay_page import write_replay_page, write_replay_table
    from homonym.runtime.progress import Stages

    require_directory(directory)
    stages = Stages(listener)
    with stages.stage("study") as advance:
        steps, converted = replay_steps(
            inputs, settings, gold=gold, label=label, number=parts, reading=reading, resources=resources,
            advance=advance,
        )  # fmt: skip
    directory.mkdir(exist_ok=True)
    title = ", ".join(printable(path.name) for path in as_paths(inputs))
    values = {"version": __version__, "title": title, "replay": as_values(steps), "seconds": stages.seconds}
    write_replay_table(steps, directory / REPLAY_TABLE, excel=excel)
    write_replay_page(steps, title, directory / REPLAY_PAGE)
    write_json(directory / REPLAY_VALUES, values)
    return Study(directory, directory / REPLAY_PAGE, values, converted.problems, converted.warnings)


def _results(run: Run, names: NameSplit, store: RunCache) -> dict[str, Any]:
    """Make all runs and baselines, or take those that are there, and draw conclusions."""
    types = names.test.frequencies.types
    with run.stages.stage("train"):
        learnt = _learnt(run, names, store)
    weights, notes = weightings(types, learnt["weights"] if learnt else None)
    methods, missing = all_baselines(names.test)
    run.warnings.extend([*notes, *missing])
    planned = plan(run.settings, weights)
    runs, others = [], []
    with run.stages.stage("study", len(planned) + len(methods)) as advance:
        for one in planned:
            make = partial(run_planned, one, names, run.threads)
            runs.append(store.get(one.key, one.settings.spelled_out(), make))
            advance(1)
        for method in methods:
            make = partial(run_baseline, method, names, run.threads)
            others.append(store.get(f"baseline-{method.key}", None, make))
            advance(1)
    made = findings(runs, others, names.test.true_size, types)
    return {
        "weights": weights,
        "training": learnt,
        "runs": [_without_names(one) for one in runs],
        "baselines": [_without_names(one) for one in others],
        "findings": [finding.as_dict() for finding in made],
    }


def _without_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a run without those of single names."""
    return {name: value for name, value in values.items() if name != "by_name"}


def _learnt(run: Run, names: NameSplit, store: RunCache) -> dict[str, Any] | None:
    def made() -> dict[str, Any]:
        return _training(learn_weights(names.training, run.settings.changed(variant="prob")))

    try:
        return store.get("weights", None, made)
    except HomonymError as reason:
        run.warnings.append(f"there are no trained weights: {reason}")
        return None


def _training(learnt: LearnedWeights) -> dict[str, Any]:
    values = asdict(learnt)
    return values | {"mean": values["weights"]}


def _about(run: Run, labelling: Labelling, label: str) -> dict[str, Any]:
    names = labelling.names
    labelled = int(names.labelled.sum())
    return {
        "version": __version__,
        "title": ", ".join(printable(path.name) for path in run.inputs.files),
        "settings": run.settings.spelled_out(),
        "collection": {
            "files": [printable(path.name) for path in run.inputs.files],
            "label": label,
            "mentions_in_collection": names.frequencies.mentions,
            "feature_types": list(names.frequencies.types),
            "names": len(names),
            "authors": int(names.true_size.sum()),
            "labelled_mentions": labelled,
            "unlabelled_mentions": len(names.author) - labelled,
            "labels_without_mention": labelling.labels_without_mention,
        },
    }


def _split(labelling: Labelling, names: NameSplit, share: float, most: int) -> dict[str, Any]:
    counts = {
        part: _names_by_size(true_size)
        for part, true_size in (
            ("training", names.training.true_size),
            ("test", names.test.true_size),
            ("all", labelling.names.true_size),
        )
    }
    rows = {size: {part: counts[part].get(size, 0) for part in counts} for size in counts["all"]}
    return {"training_share": share, "most_names_per_size": most, "by_true_size": rows}


def _names_by_size(true_size: Codes) -> dict[str, int]:
    sizes, names = np.unique(size_groups(true_size), return_counts=True)
    return {group_name(size): count for size, count in zip(sizes.tolist(), names.tolist(), strict=True)}


def _write(values: dict[str, Any], directory: Path, run: Run, *, excel: bool) -> Path:
    from homonym.experiments.study_figures import write_figures
    from homonym.experiments.study_page import write_study_page
    from homonym.experiments.study_tables import write_tables

    values |= {"warnings": run.warnings, "seconds": run.stages.seconds}
    with run.stages.stage("draw"):
        write_tables(values, directory / TABLES, excel=excel)
        figures = write_figures(values, directory / FIGURES, run.threads)
        write_study_page(values, directory / PAGE, figures)
    with run.stages.stage("write"):
        write_atomic(directory / VALUES, orjson.dumps(values, option=orjson.OPT_INDENT_2))
    return directory / PAGE
