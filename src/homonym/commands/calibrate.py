"""Calibrate: the limit of a collection, found without labels, or tuned on names whose authors are known."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from homonym.calibration.fallback import lean_on_defaults
from homonym.calibration.holdout import NameSplit
from homonym.calibration.limit import PARTS, CalibratedLimit, LimitCalibrator
from homonym.calibration.tuning import JudgedLimit, TriedChance, tune_limits
from homonym.commands.labelled import read_and_encode, read_labels, split_names
from homonym.commands.run import (
    Resources,
    Run,
    RunFiles,
    check_given_statistics,
    follow_statistics,
    open_local_engine,
    prepare_run,
    statistics_files,
)
from homonym.engines.base import EncodedCollection
from homonym.engines.local import LocalCollection
from homonym.errors import SettingsError, word_list
from homonym.evaluation.matching import Labelling, label_names
from homonym.io.inputs import require_rereadable
from homonym.io.outputs import Paths, require_writable, write_atomic
from homonym.records.model import Problems
from homonym.records.reader import Columns
from homonym.runtime.progress import Listener
from homonym.settings import MAX_NAMES_PER_SIZE, TRAINING_SHARE, Limit, Settings

# The default label.
LABEL = "author"


@dataclass(frozen=True)
class Calibration:
    """Settings with the chosen limit, and everything that it was chosen from.

    `unlabelled` is the limit that pseudo-names give. Without labels it is chosen; with labels, `limits` and `chances`
    have what was tuned on the training names, and `chosen` names one of the limits.
    """

    settings: Settings
    chosen: str
    unlabelled: CalibratedLimit
    problems: Problems
    seconds: dict[str, float]
    warnings: list[str]
    limits: list[JudgedLimit] = field(default_factory=list)
    chances: list[TriedChance] = field(default_factory=list)
    training_names: int = 0
    test_names: int = 0
    labels: int = 0
    labels_without_mention: int = 0


def calibrate(
    inputs: Paths,
    gold: Paths | None = None,
    settings: Settings | None = None,
    *,
    output: str | Path | None = None,
    label: str = LABEL,
    training_share: float = TRAINING_SHARE,
    most_names: int = MAX_NAMES_PER_SIZE,
    statistics: str | Path | None = None,
    mentions_in_collection: int | None = None,
    format: str | None = None,
    columns: Columns | None = None,
    rejects: str | Path | None = None,
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Calibration:
    """Find the limit α + β·|X| + κ·√|X|/(N + 3000) of a collection; a limit in the settings is ignored.

    `inputs` are the documents or mentions to cluster. Without labels the limit is found on pseudo-names, made of names
    that are likely to be one person each. With `gold`, the labels of some mentions (often the same file), a share of
    the labelled names chooses α, β or κ, and γ unless it is given; the limits are tested on the rest, together with
    the limit found without labels. Names are clustered completely, as in a real run; only labelled mentions are
    measured. Writes the settings with the limit to `output`, for `--settings`.
    """
    settings = (settings or Settings()).without(*Limit._fields)
    _check(gold, settings, label, training_share, most_names)
    run = prepare_run(
        inputs, settings, format=format, columns=columns, strict=strict, rejects=rejects, resources=resources,
        listener=listener, files=RunFiles.of(outputs=[output], inputs=statistics_files(statistics), labels=gold),
    )  # fmt: skip
    given = check_given_statistics(statistics, mentions_in_collection)
    run = follow_statistics(run, given)
    if output is not None:
        require_writable(Path(output))
    labels = read_labels(run, gold, label) if gold else None
    require_rereadable(run.inputs.files)
    with open_local_engine(run) as engine:
        collection = read_and_encode(run, engine, given)
        # Identifiers that are the labels must not be constraints: the limit would be tuned on its own test.
        collection = engine.constrain(collection, _without_identifier(settings, label) if gold else settings, None)
        unlabelled = _calibrate_without_labels(run, collection)
        labelling = label_names(engine, collection, run.inputs, labels, gold or []) if labels else None
    if labelling:
        calibration = _tune(run, labelling, unlabelled, split_names(run, labelling, training_share, most_names))
    else:
        calibration = _without_labels(run, unlabelled, collection.problems)
    if output is not None:
        write_atomic(Path(output), calibration.settings.to_toml())
    return calibration


def _check(gold: Paths | None, settings: Settings, label: str, training_share: float, most_names: int) -> None:
    """Fail on options that have no meaning with labels, or without them."""
    if gold:
        if settings.target_precision is not None:
            raise SettingsError(
                "--target-precision chooses a limit without labels; leave out --gold, or the target to tune for F1."
            )
        return
    usual = {"--label": LABEL, "--training-share": TRAINING_SHARE, "--most-names": MAX_NAMES_PER_SIZE}
    given = zip(usual.items(), (label, training_share, most_names), strict=True)
    if needless := [option for (option, default), value in given if value != default]:
        verb = "goes" if len(needless) == 1 else "go"
        raise SettingsError(f"{word_list(needless)} {verb} with --gold; without labels pseudo-names find the limit.")


def _without_identifier(settings: Settings, label: str) -> Settings:
    """The same settings without one kind of identifier as a constraint."""
    kinds = [kind for kind in settings.trusted if kind != label]
    if len(kinds) == len(settings.trusted):
        return settings
    if kinds:
        return settings.changed(identifiers=",".join(kinds))
    constraints = [kind for kind in settings.constraints.split(",") if kind != "identifiers"]
    return settings.changed(constraints=",".join(constraints) or "none")


def _calibrate_without_labels(run: Run, collection: EncodedCollection[LocalCollection]) -> CalibratedLimit:
    data, settings = collection.data, run.settings
    with run.stages.stage("calibrate", PARTS) as advance:
        finder = LimitCalibrator(data.encoded, settings, data.constraints, run.threads, advance=advance)
        found = lean_on_defaults(finder, settings, collection.background)
    if collection.background:
        run.warnings.append(f"{collection.background.describe()}.")
    if found.why:
        run.warnings.append(f"{found.why}.")
    return found


def _without_labels(run: Run, unlabelled: CalibratedLimit, problems: Problems) -> Calibration:
    """The limit that pseudo-names give."""
    return Calibration(
        settings=unlabelled.chosen_for(run.settings),
        chosen="pseudo-names" if unlabelled.names else "default",
        unlabelled=unlabelled,
        problems=problems,
        seconds=run.stages.seconds,
        warnings=run.warnings,
    )


def _tune(run: Run, labelling: Labelling, unlabelled: CalibratedLimit, names: NameSplit) -> Calibration:
    """The limit that is best on the training names, with the scores of all limits on the test names."""
    with run.stages.stage("tune"):
        settings = unlabelled.with_trust(run.settings)
        tuned = tune_limits(settings, unlabelled.limit if unlabelled.names else None, names, run.threads)
    return Calibration(
        settings=tuned.settings.with_limit(tuned.chosen.limit),
        chosen=tuned.chosen.kind,
        unlabelled=unlabelled,
        limits=tuned.limits,
        chances=tuned.chances,
        training_names=len(names.training),
        test_names=len(names.test),
        labels=labelling.labels,
        labels_without_mention=labelling.labels_without_mention,
        problems=labelling.problems,
        seconds=run.stages.seconds,
        warnings=run.warnings,
    )
