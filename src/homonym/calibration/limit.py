"""The limit of a run, tuned on names whose authors are known and judged on others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from homonym.calibration import MOST_NAMES, TRAINING_SHARE
from homonym.calibration.split import read_split
from homonym.calibration.tuning import Kind, TunedLimit, choose, tune
from homonym.evaluation.judging import compare, curves_of, labels_of
from homonym.evaluation.labelled import LabelledNames
from homonym.evaluation.measures import bcubed_by_name
from homonym.evaluation.methods import RelativeFrequencies
from homonym.evaluation.scores import NameScores
from homonym.evaluation.sizes import Estimate, mean_over_sizes, size_groups
from homonym.files import Paths, require_writable, write_whole
from homonym.progress import Listener
from homonym.records.formats import Columns
from homonym.records.problems import Problems
from homonym.records.reading import Inputs
from homonym.run import Resources, Run
from homonym.settings import DEFAULT_LIMIT, Settings


@dataclass(frozen=True, eq=False)
class JudgedLimit:
    """A limit and how well it does: F1 averaged over the true sizes, on the training names and on others.

    `by_name` has B-cubed precision and recall of each test name.
    """

    kind: str
    alpha: float
    beta: float
    spread: tuple[float, float] | None
    training: float | None
    test: Estimate | None
    by_name: NameScores | None


@dataclass(frozen=True)
class Calibration:
    """What `calibrate` found: settings with the chosen limit, and everything that it chose from."""

    settings: Settings
    chosen: Kind
    limits: list[JudgedLimit]
    training_names: int
    test_names: int
    labels: int
    labels_without_mention: int
    problems: Problems
    seconds: dict[str, float]
    warnings: list[str]


def calibrate(
    inputs: Paths,
    gold: Paths,
    settings: Settings | None = None,
    *,
    output: str | Path | None = None,
    label: str = "author",
    training_share: float = TRAINING_SHARE,
    most_names: int = MOST_NAMES,
    statistics: str | Path | None = None,
    mentions_in_collection: int | None = None,
    format: str | None = None,
    columns: Columns | None = None,
    rejects: str | Path | None = None,
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Calibration:
    """Tune α and β of the limit α + |X|·β on a share of the labelled names, and judge them on the rest.

    `inputs` are the documents or mentions that are to be clustered, `gold` the labels of some of them: often the same
    file. Names are clustered whole, as in a real run; labelled mentions alone are measured. Writes the settings with
    the tuned limit to `output`, for `--settings`.
    """
    run = Run(Inputs.of(inputs, format, columns), settings, strict, resources, listener, rejects)
    run.use_statistics(statistics, mentions_in_collection)
    if output is not None:
        require_writable(Path(output))
    found, names = read_split(run, gold, label, training_share, most_names)
    with run.stages.stage("tune"):
        limits, chosen = judged_limits(run.settings, names.training, names.test, run.threads)
    tuned = run.settings.changed(alpha=chosen.alpha, beta=chosen.beta)
    if output is not None:
        write_whole(Path(output), tuned.to_toml())
    return Calibration(
        settings=tuned,
        chosen=chosen.kind,
        limits=limits,
        training_names=len(names.training),
        test_names=len(names.test),
        labels=found.labels,
        labels_without_mention=found.labels_without_mention,
        problems=found.problems,
        seconds=run.stages.seconds,
        warnings=run.warnings,
    )


def judged_limits(
    settings: Settings, training: LabelledNames, test: LabelledNames, threads: int
) -> tuple[list[JudgedLimit], TunedLimit]:
    """Tune α, β and both, judge each of them and the paper's limit on the test names, and choose one."""
    method, group = RelativeFrequencies(settings), size_groups(training.true_size)
    curves = curves_of(method, training, threads)
    found = tune(curves, group)

    def judged(kind: str, alpha: float, beta: float, tuned: TunedLimit | None = None) -> JudgedLimit:
        spread, f1 = (tuned.spread, tuned.f1) if tuned else (None, None)
        if not len(test):
            return JudgedLimit(kind, alpha, beta, spread, f1, None, None)
        by_name = bcubed_by_name(compare(test, labels_of(method, test, alpha, beta, threads)))
        return JudgedLimit(kind, alpha, beta, spread, f1, mean_over_sizes(by_name, test.true_size), by_name)

    limits = [judged(kind, limit.alpha, limit.beta, limit) for kind, limit in found.items()]
    limits.append(judged("paper", *DEFAULT_LIMIT[settings.variant]))
    return limits, choose(found, settings.variant, curves, group)
