"""Train: the weights of feature types, learned from names whose authors are known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from homonym.calibration.weights import LearnedWeights, learn_weights
from homonym.commands.labelled import read_labelled, split_names
from homonym.commands.run import (
    Resources,
    RunFiles,
    check_given_statistics,
    follow_statistics,
    prepare_run,
    statistics_files,
)
from homonym.io.outputs import Paths, require_writable, write_atomic
from homonym.records.model import Problems
from homonym.records.reader import Columns
from homonym.runtime.progress import Listener
from homonym.settings import MAX_NAMES_PER_SIZE, TRAINING_SHARE, WEIGHT_SEEDS, Settings


@dataclass(frozen=True)
class Training:
    """Settings with the learned weights, and how reliable these are."""

    settings: Settings
    learnt: LearnedWeights
    labels: int
    labels_without_mention: int
    problems: Problems
    seconds: dict[str, float]
    warnings: list[str]


def train(
    inputs: Paths,
    gold: Paths,
    settings: Settings | None = None,
    *,
    output: str | Path | None = None,
    label: str = "author",
    training_share: float = TRAINING_SHARE,
    most_names: int = MAX_NAMES_PER_SIZE,
    seeds: int = WEIGHT_SEEDS,
    statistics: str | Path | None = None,
    mentions_in_collection: int | None = None,
    format: str | None = None,
    columns: Columns | None = None,
    rejects: str | Path | None = None,
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Training:
    """Learn the weights of feature types on the share of the labelled names that `calibrate` tunes on.

    Writes the settings with the learned weights to `output`, for `--settings`. The limit depends on the weights:
    calibrate it afterwards.
    """
    run = prepare_run(
        inputs, settings, format=format, columns=columns, strict=strict, rejects=rejects, resources=resources,
        listener=listener, files=RunFiles.of(outputs=[output], inputs=statistics_files(statistics), labels=gold),
    )  # fmt: skip
    given = check_given_statistics(statistics, mentions_in_collection)
    run = follow_statistics(run, given)
    if output is not None:
        require_writable(Path(output))
    labelling = read_labelled(run, gold, label, given)
    names = split_names(run, labelling, training_share, most_names)
    with run.stages.stage("train"):
        learnt = learn_weights(names.training, run.settings, seeds)
    trained = run.settings.changed(weights=learnt.weights)
    if output is not None:
        write_atomic(Path(output), trained.to_toml())
    return Training(
        settings=trained,
        learnt=learnt,
        labels=labelling.labels,
        labels_without_mention=labelling.labels_without_mention,
        problems=labelling.problems,
        seconds=run.stages.seconds,
        warnings=run.warnings,
    )
