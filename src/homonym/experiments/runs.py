"""The runs of a study: which there are, limits tuned on the training names, results on the test names.

Results are plain JSON values, and cached.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from homonym.calibration.holdout import NameSplit
from homonym.calibration.tuning import JudgedLimit, tune_like_paper, tune_one
from homonym.clustering.agglomerative import cluster
from homonym.evaluation.assessment import MEAN_OVER_SIZES, Evaluation, assess
from homonym.experiments.process import Process, concatenate_processes, follow, processes_by_size
from homonym.io.outputs import write_atomic
from homonym.measures.agreement import NameScores, bcubed, harmonic
from homonym.measures.bootstrap import group_name, size_groups
from homonym.measures.methods import LabelledNames, Labels, Method, compare_labels, curves_of, labelled_codes, labels_of
from homonym.runtime.thread_pool import map_in_order
from homonym.runtime.versions import library_versions
from homonym.settings import PAPER_LIMIT, PAPER_TYPES, Limit, Settings, opposed, preset

VARIANTS = ("prob", "max")

# Scores that the paper rejected, run with both variants: key, title and changed settings.
REJECTED_SCORES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "within": ("within", {"scope": "within"}),
    "joint": ("joint", {"joint": True}),
}
# Scores with chance correction, run with prob only: its sums grow with the size of clusters.
CHANCE_CORRECTED: Mapping[str, tuple[str, dict[str, Any]]] = {
    "chance0.25": ("a quarter of chance subtracted", {"gamma": 0.25}),
    "chance1": ("chance subtracted", {"gamma": 1.0}),
    "chance2": ("chance subtracted twice", {"gamma": 2.0}),
}
# The weightings of the paper's table of results; the others are shown in less detail.
MAIN_WEIGHTS = ("uniform", "trained")


@dataclass(frozen=True)
class PlannedRun:
    """One run of a study: its key and title, and its settings, whose limit is still to be tuned."""

    key: str
    title: str
    weights: str
    settings: Settings
    main: bool


def weightings(
    types: Sequence[str], trained: Mapping[str, float] | None
) -> tuple[dict[str, dict[str, float]], list[str]]:
    """The weightings to run, by name, and a message for each weighting that is empty or a duplicate.

    >>> list(weightings(["co", "term"], None)[0])
    ['uniform', 'opposed', 'paper', 'only-co', 'only-term']
    """
    made = {"uniform": preset("uniform", types)}
    if trained:
        made["trained"] = dict(trained)
    # Without weights learned here, the paper's weights are reversed.
    made["opposed"] = opposed(trained) if trained else preset("opposed", types)
    if set(types) <= set(PAPER_TYPES):
        made["paper"] = preset("paper", types)
    for name in [f"only-{kind}" for kind in types] + [f"without-{kind}" for kind in types] + ["authors", "document"]:
        made[name] = preset(name, types)
    return _distinct(made)


def paper_settings(settings: Settings) -> Settings:
    """The settings with everything that a study varies, or that the paper does not have, reset as in the paper.

    How names and affiliations are used is up to the settings; it is as in the paper unless they say otherwise.
    """
    reset = {
        "variant": "prob", "scope": "overall", "joint": False, "weights": "uniform", "gamma": 0.0, "chance_limit": 0.0,
    }  # fmt: skip
    evidence = {
        "blocking": "given", "coauthor_names": "initials", "affiliation_level": "whole", "name_trust": 0.0,
        "background": "none",
    }  # fmt: skip
    reset |= {name: value for name, value in evidence.items() if name not in settings.model_fields_set}
    return settings.with_limit(PAPER_LIMIT["prob"]).changed(**reset, constraints="none")


def plan(base: Settings, weights: Mapping[str, Mapping[str, float]]) -> list[PlannedRun]:
    """All runs: each weighting with both variants, then the other scores with uniform weights."""
    base = paper_settings(base)
    runs = [_planned(base, variant, name, dict(values)) for name, values in weights.items() for variant in VARIANTS]
    runs += [_varied(base, variant, key, *other) for variant in VARIANTS for key, other in REJECTED_SCORES.items()]
    return runs + [_varied(base, "prob", key, *other) for key, other in CHANCE_CORRECTED.items()]


def _planned(base: Settings, variant: str, weights: str, values: dict[str, float]) -> PlannedRun:
    return PlannedRun(
        key=f"{variant}-{weights}",
        title=f"{variant}, {weights} weights",
        weights=weights,
        settings=base.changed(variant=variant, weights=values).with_limit(PAPER_LIMIT[variant]),
        main=weights in MAIN_WEIGHTS,
    )


def _varied(base: Settings, variant: str, key: str, title: str, changes: dict[str, Any]) -> PlannedRun:
    settings = base.changed(variant=variant, **changes).with_limit(PAPER_LIMIT[variant])
    return PlannedRun(
        f"{variant}-uniform-{key}", f"{variant}, uniform weights, {title}", "uniform", settings, main=False
    )


def _distinct(made: Mapping[str, dict[str, float]]) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Drop weightings without any weight and duplicates, with a message for each."""
    kept: dict[str, dict[str, float]] = {}
    messages = []
    for name, values in made.items():
        same = next((other for other, earlier in kept.items() if earlier == values), None)
        if not sum(values.values()):
            messages.append(f"weights '{name}': no mention has any of these feature types.")
        elif same:
            messages.append(f"weights '{name}' are the same as '{same}' with these feature types, and were run once.")
        else:
            kept[name] = values
    return kept, messages


Json = dict[str, Any]
"""Plain values that JSON can hold."""


def run_planned(planned: PlannedRun, names: NameSplit, threads: int) -> Json:
    """Tune the limit of one run, apply it to the test names, and follow the merging down to one cluster."""
    made = tune_like_paper(planned.settings, names, threads)
    settings = planned.settings.with_limit(made.chosen.limit)
    labels, process = _followed(names.test, settings, threads)
    return {
        "key": planned.key,
        "title": planned.title,
        "variant": settings.variant,
        "weights": planned.weights,
        "scope": settings.scope,
        "joint": settings.joint,
        "gamma": settings.chance_weight,
        "main": planned.main,
        "limit": {"alpha": settings.limit.alpha, "beta": settings.limit.beta},
        "limit_kind": made.chosen.kind,
        "tuning": {limit.kind: _limit(limit) for limit in made.limits},
        "test": _results(names.test, labels, process),
        "process": processes_by_size(process, names.test.true_size),
        "by_name": _by_name(names.test, labels, process, made.limits),
    }


def run_baseline(method: Method, names: NameSplit, threads: int) -> Json:
    """Tune the threshold of a baseline, if it has one, and evaluate it on the test names."""
    curves = curves_of(method, names.training, threads)
    tunable = bool(np.isfinite(curves.lowest).any())
    limit = tune_one("alpha", curves, size_groups(names.training.true_size)).limit if tunable else Limit()
    labels = labels_of(method, names.test, limit, threads)
    return {
        "key": method.key,
        "title": method.title,
        "threshold": limit.alpha if tunable else None,
        "test": _results(names.test, labels, None),
        "by_name": _scores(bcubed(compare_labels(names.test, labels)).by_name()),
    }


def _followed(names: LabelledNames, settings: Settings, threads: int) -> tuple[Labels, Process]:
    def followed(batch: LabelledNames) -> tuple[Labels, Process]:
        prior = batch.name_prior_for(settings)
        done = cluster(batch.bags, batch.frequencies, settings, names=prior, hypothetical=True)
        return done.label, follow(batch, done)

    parts = [part for _, part in map_in_order(followed, names.batches(), threads)]
    return np.concatenate([labels for labels, _ in parts]), concatenate_processes([process for _, process in parts])


def _limit(limit: JudgedLimit) -> Json:
    return {
        "alpha": limit.alpha,
        "beta": limit.beta,
        "spread": limit.spread,
        "training_f1": limit.training,
        "test_f1": limit.test.value if limit.test else None,
        "test_interval": limit.test.interval if limit.test else None,
    }


def _results(names: LabelledNames, labels: Labels, process: Process | None) -> Json:
    """The results on some names, over mentions and by true size, with intervals."""
    found = assess(*labelled_codes(names, labels))
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


def _overall(found: Evaluation) -> Json:
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


def _extremes(names: LabelledNames, process: Process) -> dict[str, Json]:
    """The extremes of the process by true size: means over the names; F1 is computed from the means."""
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


def _by_name(names: LabelledNames, labels: Labels, process: Process, limits: list[JudgedLimit]) -> Json:
    """The scores of each test name, from which findings are computed."""
    return _scores(bcubed(compare_labels(names, labels)).by_name()) | {
        "max_recall": process.max_recall().tolist(),
        "max_precision": process.max_precision().tolist(),
        "limits": {limit.kind: _scores(limit.by_name) for limit in limits if limit.by_name},
    }


def _scores(scores: NameScores) -> Json:
    return {"precision": scores.precision.tolist(), "recall": scores.recall.tolist()}


class RunCache:
    """Finished runs in a directory; a run made from other inputs, settings or another version is made again."""

    def __init__(self, directory: Path, depends_on: dict[str, Any]) -> None:
        self.directory = directory
        self.depends_on = {"versions": library_versions(), **depends_on}

    def get(self, key: str, details: Any, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """A finished run, or else the result of `make`, which is stored."""
        path = self.directory / _file_name(key)
        fingerprint = _digest([self.depends_on, details])
        cached = _read(path)
        if cached is None or cached["fingerprint"] != fingerprint:
            # Through JSON, so that a new run is equal to a cached one.
            run = orjson.loads(orjson.dumps(make()))
            cached = {"fingerprint": fingerprint, "run": run, "digest": _digest([fingerprint, run])}
            write_atomic(path, orjson.dumps(cached))
        found: dict[str, Any] = cached["run"]
        return found


def _file_name(key: str) -> str:
    """The file name for a key, which may contain any characters because it may name a feature type.

    >>> _file_name("prob-only-co"), len(_file_name("only-a/b")) < 30, len(_file_name("x" * 999)) < 99
    ('prob-only-co.json', True, True)
    """
    plain = re.sub(r"[^A-Za-z0-9_-]", "-", key)[:60]
    return f"{plain}.json" if plain == key else f"{plain}-{_digest(key)[:12]}.json"


def file_digests(paths: Iterable[Path]) -> list[str]:
    """A digest of the content of each file; its path does not matter."""
    digests = []
    for path in paths:
        with path.open("rb") as stream:
            digests.append(hashlib.file_digest(stream, "blake2b").hexdigest())
    return digests


def _digest(values: Any) -> str:
    return hashlib.blake2b(orjson.dumps(values, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()


def _read(path: Path) -> dict[str, Any] | None:
    """A cached run with its fingerprint; None if it is missing or differs from its digest."""
    try:
        values = orjson.loads(path.read_bytes())
        intact = values["digest"] == _digest([values["fingerprint"], values["run"]])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return values if intact else None
