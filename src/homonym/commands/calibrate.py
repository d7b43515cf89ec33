"""The limit of a run: found without labels, or tuned on names whose authors are known and judged on others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from homonym.calibration.defaults import MAX_NAMES_PER_SIZE, TRAINING_SHARE
from homonym.calibration.holdout import read_split
from homonym.calibration.limit import CalibratedLimit, calibrate_limit
from homonym.calibration.tuning import JudgedLimit, TriedChance, tune_limits
from homonym.collection.encoded import Encoded
from homonym.commands.run import Resources, Run
from homonym.constraints.found_constraints import find_constraints
from homonym.engines.local import LocalEngine
from homonym.errors import SettingsError
from homonym.evaluation.labelled_collections import read_collection
from homonym.io.inputs import require_rereadable
from homonym.io.outputs import Paths, require_writable, write_atomic
from homonym.messages import listed
from homonym.records.model import Problems
from homonym.records.reader import Inputs
from homonym.records.registry import Columns
from homonym.runtime.progress import Listener
from homonym.settings import Limit, Settings

#: What is taken for the truth, unless the user says otherwise.
LABEL = "author"


@dataclass(frozen=True)
class Calibration:
    """What `calibrate` found: settings with the chosen limit, and everything that it chose from.

    `unlabelled` is what pseudo-names say. Without labels that is chosen; with them, `limits` and `chances` have what
    was tuned on the training names, and `chosen` names one of the limits.
    """

    settings: Settings
    chosen: str
    unlabelled: CalibratedLimit
    limits: list[JudgedLimit]
    chances: list[TriedChance]
    training_names: int
    test_names: int
    labels: int
    labels_without_mention: int
    problems: Problems
    seconds: dict[str, float]
    warnings: list[str]


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
    """Find the limit α + β·|X| + κ·√|X|/(N + 3000) of a collection; a limit that the settings have is not used.

    `inputs` are the documents or mentions that are to be clustered. Without labels the limit is found on pseudo-names,
    made of names that are likely to be one person each. With `gold`, the labels of some mentions (often the same
    file), a share of the labelled names chooses α, β or κ, and γ unless it is given; the rest judges them, beside what
    a run takes without labels. Names are clustered whole, as in a real run; labelled mentions alone are measured.
    Writes the settings with the limit to `output`, for `--settings`.
    """
    settings = _open(settings or Settings())
    _check(gold, settings, label, training_share, most_names)
    run = _Calibrating(Inputs.of(inputs, format, columns), settings, strict, resources, listener, rejects)
    run.use_statistics(statistics, mentions_in_collection)
    if output is not None:
        require_writable(Path(output))
    done = run.from_labels(gold, label, training_share, most_names) if gold else run.without_labels()
    if output is not None:
        write_atomic(Path(output), done.settings.to_toml())
    return done


def _open(settings: Settings) -> Settings:
    """The same settings without a limit."""
    return Settings(**settings.model_dump(exclude_unset=True, exclude=set(Limit._fields)))


def _check(gold: Paths | None, settings: Settings, label: str, training_share: float, most_names: int) -> None:
    """Refuse what has no meaning without labels, or none with them."""
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
        raise SettingsError(f"{listed(needless)} {verb} with --gold; without labels pseudo-names find the limit.")


class _Calibrating(Run):
    """A run that looks for a limit without labels as soon as its collection is encoded."""

    truth: str | None = None
    found: CalibratedLimit

    def encode(self, engine: LocalEngine, vocabulary: Path | None = None) -> Encoded:
        """Count and encode what the engine has read, and find the limit that pseudo-names say."""
        encoded = super().encode(engine, vocabulary)
        with self.stages.stage("constrain"):
            self.knowledge = find_constraints(encoded, self._without_truth(), None)
        self.warnings += self.knowledge.warnings if self.knowledge else []
        with self.stages.stage("calibrate"):
            self.found = calibrate_limit(encoded, self.settings, self.knowledge, self.threads)
        if self.found.why:
            self.warnings.append(f"{self.found.why}.")
        return encoded

    def _without_truth(self) -> Settings:
        """The same settings, but for identifiers that are the truth: they must not help to find it."""
        kinds = [kind for kind in self.settings.trusted if kind != self.truth]
        if len(kinds) == len(self.settings.trusted):
            return self.settings
        if kinds:
            return self.settings.changed(identifiers=",".join(kinds))
        constraints = [kind for kind in self.settings.constraints.split(",") if kind != "identifiers"]
        return self.settings.changed(constraints=",".join(constraints) or "none")

    def without_labels(self) -> Calibration:
        """Take what pseudo-names say."""
        require_rereadable(self.inputs.files)
        with self.engine() as engine:
            read_collection(engine, self)
            self.encode(engine)
        found = self.found
        return Calibration(
            settings=self.settings.with_limit(found.limit),
            chosen="pseudo-names" if found.names else "default",
            unlabelled=found,
            limits=[],
            chances=[],
            training_names=0,
            test_names=0,
            labels=0,
            labels_without_mention=0,
            problems=engine.problems,
            seconds=self.stages.seconds,
            warnings=self.warnings,
        )

    def from_labels(self, gold: Paths, label: str, training_share: float, most_names: int) -> Calibration:
        """Tune on a share of the labelled names, and judge on the rest."""
        self.truth = label
        labelling, names = read_split(self, gold, label, training_share, most_names)
        with self.stages.stage("tune"):
            made = tune_limits(self.settings, self.found.limit if self.found.names else None, names, self.threads)
        return Calibration(
            settings=made.settings.with_limit(made.chosen.limit),
            chosen=made.chosen.kind,
            unlabelled=self.found,
            limits=made.limits,
            chances=made.chances,
            training_names=len(names.training),
            test_names=len(names.test),
            labels=labelling.labels,
            labels_without_mention=labelling.labels_without_mention,
            problems=labelling.problems,
            seconds=self.stages.seconds,
            warnings=self.warnings,
        )
