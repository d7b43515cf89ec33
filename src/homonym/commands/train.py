"""Feature-type weights of a run, learnt from names whose authors are known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from homonym.calibration.defaults import MAX_NAMES_PER_SIZE, TRAINING_SHARE, WEIGHT_SEEDS
from homonym.calibration.holdout import read_split
from homonym.calibration.weights import LearnedWeights, learn_weights
from homonym.commands.run import Resources, Run
from homonym.io.outputs import Paths, require_writable, write_atomic
from homonym.records.model import Problems
from homonym.records.reader import Inputs
from homonym.records.registry import Columns
from homonym.runtime.progress import Listener
from homonym.settings import Settings


@dataclass(frozen=True)
class Training:
    """What `train` found: settings with the learnt weights, and how sure they are."""

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
    """Learn how much each feature type should count, on the share of the labelled names that `calibrate` tunes on.

    Writes the settings with the learnt weights to `output`, for `--settings`. The limit belongs to the weights: tune
    it afterwards.
    """
    run = Run(Inputs.of(inputs, format, columns), settings, strict, resources, listener, rejects)
    run.use_statistics(statistics, mentions_in_collection)
    if output is not None:
        require_writable(Path(output))
    found, names = read_split(run, gold, label, training_share, most_names)
    with run.stages.stage("train"):
        learnt = learn_weights(names.training, run.settings, seeds)
    trained = run.settings.changed(weights=learnt.weights)
    if output is not None:
        write_atomic(Path(output), trained.to_toml())
    return Training(
        settings=trained,
        learnt=learnt,
        labels=found.labels,
        labels_without_mention=found.labels_without_mention,
        problems=found.problems,
        seconds=run.stages.seconds,
        warnings=run.warnings,
    )
