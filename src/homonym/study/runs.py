"""One run of a study: tuned on the training names, followed round by round on the test names; as plain values."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from homonym import __version__
from homonym.calibration.holdout import NameSplit
from homonym.calibration.tuning import JudgedLimit, papers_candidates, tune_one
from homonym.clustering.agglomerative import cluster
from homonym.evaluation.assessment import MEAN_OVER_SIZES, Evaluation, assess
from homonym.io.outputs import write_atomic
from homonym.measures.agreement import bcubed_by_name
from homonym.measures.bootstrap import LARGEST_SHOWN, group_name, size_groups
from homonym.measures.contingency import Codes
from homonym.measures.methods import LabelledNames, Labels, Method, codes, compare_labels, curves_of, labels_of
from homonym.measures.scores import NameScores, harmonic
from homonym.runtime.thread_pool import map_in_order
from homonym.settings import PAPER_LIMIT, PAPER_TYPES, Limit, Settings, opposed, preset
from homonym.study.process import Process, concatenate_processes, follow

VARIANTS = ("prob", "max")

#: Other scores, what they are called and what they set: those that the paper gave up, run with both variants; and those
#: less what chance would give, which is a matter of sums: these grow with the size of clusters.
GIVEN_UP: Mapping[str, tuple[str, dict[str, Any]]] = {
    "within": ("within", {"scope": "within"}),
    "joint": ("joint", {"joint": True}),
}
LESS_CHANCE: Mapping[str, tuple[str, dict[str, Any]]] = {
    "chance0.25": ("a quarter of chance subtracted", {"gamma": 0.25}),
    "chance1": ("chance subtracted", {"gamma": 1.0}),
    "chance2": ("chance subtracted twice", {"gamma": 2.0}),
}
#: Those of the paper's table of results; the others are shown in less detail.
MAIN_WEIGHTS = ("uniform", "trained")


@dataclass(frozen=True)
class Planned:
    """One run of a study: some settings, whose limit is still to be tuned, under a name."""

    key: str
    title: str
    weights: str
    settings: Settings
    main: bool


def weightings(
    types: Sequence[str], trained: Mapping[str, float] | None
) -> tuple[dict[str, dict[str, float]], list[str]]:
    """The weights to run, by name, and a sentence for each that is another one once more.

    >>> list(weightings(["co", "term"], None)[0])
    ['uniform', 'opposed', 'paper', 'only-co', 'only-term']
    """
    made = {"uniform": preset("uniform", types)}
    if trained:
        made["trained"] = dict(trained)
    # Turned around are the weights that were learnt here; without them, the paper's.
    made["opposed"] = opposed(trained) if trained else preset("opposed", types)
    if set(types) <= set(PAPER_TYPES):
        made["paper"] = preset("paper", types)
    for name in [f"only-{kind}" for kind in types] + [f"without-{kind}" for kind in types] + ["authors", "document"]:
        made[name] = preset(name, types)
    return _distinct(made)


def as_the_paper(settings: Settings) -> Settings:
    """The same settings, but for what a study varies or the paper does not have: as in the paper."""
    papers = {"variant": "prob", "scope": "overall", "joint": False, "weights": "uniform", "gamma": 0.0}
    return settings.with_limit(PAPER_LIMIT["prob"]).changed(**papers, constraints="none")


def plan(base: Settings, weights: Mapping[str, Mapping[str, float]]) -> list[Planned]:
    """All runs: each weighting with both variants, then other scores with uniform weights."""
    base = as_the_paper(base)
    runs = [_planned(base, variant, name, dict(values)) for name, values in weights.items() for variant in VARIANTS]
    runs += [_varied(base, variant, key, *other) for variant in VARIANTS for key, other in GIVEN_UP.items()]
    return runs + [_varied(base, "prob", key, *other) for key, other in LESS_CHANCE.items()]


def _planned(base: Settings, variant: str, weights: str, values: dict[str, float]) -> Planned:
    return Planned(
        key=f"{variant}-{weights}",
        title=f"{variant}, {weights} weights",
        weights=weights,
        settings=base.changed(variant=variant, weights=values).with_limit(PAPER_LIMIT[variant]),
        main=weights in MAIN_WEIGHTS,
    )


def _varied(base: Settings, variant: str, key: str, title: str, changes: dict[str, Any]) -> Planned:
    settings = base.changed(variant=variant, **changes).with_limit(PAPER_LIMIT[variant])
    return Planned(f"{variant}-uniform-{key}", f"{variant}, uniform weights, {title}", "uniform", settings, main=False)


def _distinct(made: Mapping[str, dict[str, float]]) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Leave out what has no weight left or is the same as an earlier one, and say so."""
    kept: dict[str, dict[str, float]] = {}
    said = []
    for name, values in made.items():
        same = next((other for other, known in kept.items() if known == values), None)
        if not sum(values.values()):
            said.append(f"weights '{name}': no mention has any of these feature types.")
        elif same:
            said.append(f"weights '{name}' are the same as '{same}' with these feature types, and were run once.")
        else:
            kept[name] = values
    return kept, said


Values = dict[str, Any]
"""Plain JSON."""


def processes_by_size(process: Process, true_size: Codes) -> dict[str, Values]:
    """Average the process over the names of each true size; of names above 10 the true size is not one number."""
    group = size_groups(true_size)
    return {
        group_name(size): {"true_size": size if size <= LARGEST_SHOWN else None, **_averaged(process, group == size)}
        for size in np.unique(group).tolist()
    }


def _averaged(process: Process, wanted: NDArray[np.bool_]) -> Values:
    """Average over the states with each number of clusters, from many clusters to one."""
    states = wanted[process.name]
    clusters, place, names_at = np.unique(process.clusters[states], return_inverse=True, return_counts=True)
    columns: Values = {"names": int(wanted.sum()), "clusters": clusters[::-1].tolist()}
    columns["names_at"] = names_at[::-1].tolist()
    for name, values in (("precision", process.precision), ("recall", process.recall), ("f1", process.f1)):
        mean = np.bincount(place, weights=values[states]) / names_at
        square = np.bincount(place, weights=values[states] ** 2) / names_at
        deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
        columns |= {f"{name}_mean": _short(mean[::-1]), f"{name}_sd": _short(deviation[::-1])}
    stops, times = np.unique(process.clusters[process.stop[wanted]], return_counts=True)
    return columns | {"stops": dict(zip(map(str, stops.tolist()), times.tolist(), strict=True))}


def _short(values: NDArray[np.float64]) -> list[float]:
    # Six digits are more than a figure shows, and keep the file small.
    return [round(value, 6) for value in values.tolist()]


def run_planned(planned: Planned, names: NameSplit, threads: int) -> Values:
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


def run_baseline(method: Method, names: NameSplit, threads: int) -> Values:
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
        "by_name": _scores(bcubed_by_name(compare_labels(names.test, labels))),
    }


def _followed(names: LabelledNames, settings: Settings, threads: int) -> tuple[Labels, Process]:
    def followed(batch: LabelledNames) -> tuple[Labels, Process]:
        done = cluster(batch.bags, batch.frequencies, settings, hypothetical=True)
        return done.label, follow(batch, done)

    parts = [part for _, part in map_in_order(followed, names.batches(), threads)]
    return np.concatenate([labels for labels, _ in parts]), concatenate_processes([process for _, process in parts])


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
    return _scores(bcubed_by_name(compare_labels(names, labels))) | {
        "max_recall": process.max_recall().tolist(),
        "max_precision": process.max_precision().tolist(),
        "limits": {limit.kind: _scores(limit.by_name) for limit in limits if limit.by_name},
    }


def _scores(scores: NameScores) -> Values:
    return {"precision": scores.precision.tolist(), "recall": scores.recall.tolist()}


class Store:
    """The runs of one study; a run that was made from anything else is made again."""

    def __init__(self, directory: Path, depends_on: dict[str, Any]) -> None:
        self.directory = directory
        self.depends_on = {"version": __version__, **depends_on}

    def get(self, key: str, details: Any, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Give a finished run, or make it and keep it."""
        path = self.directory / _file_name(key)
        fingerprint = _digest([self.depends_on, details])
        known = _read(path)
        if known is None or known.get("fingerprint") != fingerprint:
            # What is given must not depend on whether it was just made: numbers and keys as JSON has them.
            known = orjson.loads(orjson.dumps({"fingerprint": fingerprint, **make()}))
            write_atomic(path, orjson.dumps(known))
        return {name: value for name, value in known.items() if name != "fingerprint"}


def _file_name(key: str) -> str:
    """A file for a key, which may hold the name of a feature type and so anything.

    >>> _file_name("prob-only-co"), len(_file_name("only-a/b")) < 30, len(_file_name("x" * 999)) < 99
    ('prob-only-co.json', True, True)
    """
    plain = re.sub(r"[^A-Za-z0-9_-]", "-", key)[:60]
    return f"{plain}.json" if plain == key else f"{plain}-{_digest(key)[:12]}.json"


def contents(paths: Iterable[Path]) -> list[str]:
    """A digest of each file: the same bytes are the same input wherever they lie."""
    digests = []
    for path in paths:
        with path.open("rb") as stream:
            digests.append(hashlib.file_digest(stream, "blake2b").hexdigest())
    return digests


def _digest(values: Any) -> str:
    return hashlib.blake2b(orjson.dumps(values, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()


def _read(path: Path) -> dict[str, Any] | None:
    try:
        values = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    return values if isinstance(values, dict) else None
