"""One run of a study: tuned on the training names, followed round by round on the test names; as plain values."""

from __future__ import annotations

import numpy as np

from homonym.calibration.candidates import JudgedLimit, papers_candidates
from homonym.calibration.split import Split
from homonym.calibration.tuning import tune_one
from homonym.clustering.merging import cluster
from homonym.evaluation.assessment import MEAN_OVER_SIZES, Evaluation, assess
from homonym.evaluation.judging import codes, compare, curves_of, labels_of
from homonym.evaluation.labelled import LabelledNames
from homonym.evaluation.measures import bcubed_by_name
from homonym.evaluation.methods import Labels, Method
from homonym.evaluation.process import Process, follow, joined
from homonym.evaluation.scores import NameScores, harmonic
from homonym.evaluation.sizes import group_name, size_groups
from homonym.experiments.averages import Values, processes_by_size
from homonym.experiments.plan import Planned
from homonym.settings import Limit, Settings
from homonym.threads import in_order


def run_planned(planned: Planned, names: Split, threads: int) -> Values:
    """Tune the limit of one run, stop with it on the test names, and follow the process to the end."""
    made = papers_candidates(planned.settings, names, threads)
    settings = planned.settings.with_limit(made.chosen.limit)
    labels, process = _followed(names.test, settings, threads)
    return {
        "key": planned.key,
        "title": planned.title,
        "variant": settings.variant,
        "weights": planned.weights,
        "scope": settings.scope,
        "joint": settings.joint,
        "gamma": settings.chance,
        "main": planned.main,
        "limit": {"alpha": settings.limit.alpha, "beta": settings.limit.beta},
        "limit_kind": made.chosen.kind,
        "tuning": {limit.kind: _limit(limit) for limit in made.limits},
        "test": _results(names.test, labels, process),
        "process": processes_by_size(process, names.test.true_size),
        "by_name": _by_name(names.test, labels, process, made.limits),
    }


def run_baseline(method: Method, names: Split, threads: int) -> Values:
    """Tune a baseline, if there is anything to tune, and judge it on the test names."""
    curves = curves_of(method, names.training, threads)
    tunable = bool(np.isfinite(curves.lowest).any())
    limit = tune_one("alpha", curves, size_groups(names.training.true_size)).limit if tunable else Limit()
    labels = labels_of(method, names.test, limit, threads)
    return {
        "key": method.key,
        "title": method.title,
        "threshold": limit.alpha if tunable else None,
        "test": _results(names.test, labels, None),
        "by_name": _scores(bcubed_by_name(compare(names.test, labels))),
    }


def _followed(names: LabelledNames, settings: Settings, threads: int) -> tuple[Labels, Process]:
    def followed(batch: LabelledNames) -> tuple[Labels, Process]:
        done = cluster(batch.bags, batch.frequencies, settings, hypothetical=True)
        return done.label, follow(batch, done)

    parts = [part for _, part in in_order(followed, names.batches(), threads)]
    return np.concatenate([labels for labels, _ in parts]), joined([process for _, process in parts])


def _limit(limit: JudgedLimit) -> Values:
    return {
        "alpha": limit.alpha,
        "beta": limit.beta,
        "spread": limit.spread,
        "training_f1": limit.training,
        "test_f1": limit.test.value if limit.test else None,
        "test_interval": limit.test.interval if limit.test else None,
    }


def _results(names: LabelledNames, labels: Labels, process: Process | None) -> Values:
    """What is found on some names, over mentions and by true size, with intervals."""
    found = assess(*codes(names, labels))
    rows = {
        size: {
            "names": row.names,
            "mean_clusters": row.mean_clusters,
            "bcubed": row.bcubed.as_dict() | {"interval": row.bcubed_f1_interval},
            "pairwise_with_self": row.pairwise_with_self.as_dict(),
            "baseline_one_cluster": row.baseline_one_cluster.as_dict(),
            "baseline_singletons": row.baseline_singletons.as_dict(),
        }
        for size, row in found.folded().items()
    }
    if process:
        for size, extremes in _extremes(names, process).items():
            rows[size] |= extremes
    return _overall(found) | {"by_true_size": rows}


def _overall(found: Evaluation) -> Values:
    return {
        "names": found.names,
        "mentions": found.mentions,
        "mean_over_sizes": {
            "f1": found.mean_over_true_sizes_1_to_10,
            "interval": found.intervals[MEAN_OVER_SIZES],
        },
        "bcubed": found.bcubed.as_dict() | {"interval": found.intervals["bcubed_f1"]},
        "pairwise": found.pairwise.as_dict() | {"interval": found.intervals["pairwise_f1"]},
        "pairwise_with_self": found.pairwise_with_self.as_dict()
        | {"interval": found.intervals["pairwise_with_self_f1"]},
    }


def _extremes(names: LabelledNames, process: Process) -> dict[str, Values]:
    """By true size, what the process reached at best: means over the names, F1 being that of the means."""
    group, oracle = size_groups(names.true_size), process.oracle()
    recall, precision = process.max_recall(), process.max_precision()
    found = {}
    for size in np.unique(group).tolist():
        these = group == size
        best = (process.precision[oracle[these]].mean(), process.recall[oracle[these]].mean())
        found[group_name(size)] = {
            "max_recall": float(recall[these].mean()),
            "max_precision": float(precision[these].mean()),
            "oracle_f1": float(harmonic(*map(np.asarray, best))),
        }
    return found


def _by_name(names: LabelledNames, labels: Labels, process: Process, limits: list[JudgedLimit]) -> Values:
    """What findings are computed from: the figures of each test name."""
    return _scores(bcubed_by_name(compare(names, labels))) | {
        "max_recall": process.max_recall().tolist(),
        "max_precision": process.max_precision().tolist(),
        "limits": {limit.kind: _scores(limit.by_name) for limit in limits if limit.by_name},
    }


def _scores(scores: NameScores) -> Values:
    return {"precision": scores.precision.tolist(), "recall": scores.recall.tolist()}
