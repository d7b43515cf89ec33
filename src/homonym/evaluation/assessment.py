"""Measures of a clustering against labels, given as codes: overall, over names, by true size, with baselines.

>>> found = assess(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 2]), np.array([0, 0, 1, 2]))
>>> found.names, found.mentions, found.bcubed.f1, found.baseline_one_cluster.bcubed.precision
(2, 4, 1.0, 0.6666666666666666)
>>> list(found.as_dict()["by_true_size"])
['1', '2']
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from homonym.evaluation.reliability import Reliability
from homonym.io.paths import printable
from homonym.measures.agreement import (
    Codes,
    Contingency,
    Counts,
    KMetric,
    Measures,
    NameSums,
    Scores,
    Values,
    bcubed,
    bcubed_across_names,
    cluster_level,
    contingency,
    harmonic,
    mean_by,
    measure,
    measure_over_names,
    merge_all,
    pairwise,
    split_all,
    splitting_and_lumping,
)
from homonym.measures.bootstrap import LARGEST_SHOWN, Interval, Resamples, interval

MEAN_OVER_SIZES = "mean_over_true_sizes_1_to_10"
BEYOND = "bcubed_f1_beyond_true_size_10"
SIZE_SCORES = ("bcubed", "pairwise_with_self", "baseline_one_cluster", "baseline_singletons", "cluster_level")
ERRORS = ("splitting_error", "lumping_error")


@dataclass(frozen=True)
class TrueSize:
    """Measures of the names with a given true number of authors, averaged over these names.

    The interval of B-cubed F1 is from a bootstrap over these names; with one name it is a point and means nothing.
    """

    names: int
    mean_clusters: float
    bcubed: Scores
    pairwise_with_self: Scores
    baseline_one_cluster: Scores
    baseline_singletons: Scores
    cluster_level: Scores
    splitting_error: float
    lumping_error: float
    bcubed_f1_interval: Interval

    @property
    def k_metric(self) -> KMetric:
        """The K-metric: purities are B-cubed precision and recall."""
        return KMetric(self.bcubed.precision, self.bcubed.recall)

    def as_dict(self) -> dict[str, Any]:
        """The values by their keys in the evaluation JSON."""
        written = {part.name: _to_json(getattr(self, part.name)) for part in fields(self)}
        return written | {"k_metric": self.k_metric.as_dict()}

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> TrueSize:
        """Read a row of the evaluation JSON."""
        return cls(**{part.name: _from_json(written[part.name]) for part in fields(cls)})


@dataclass(frozen=True)
class Evaluation:
    """How well a result agrees with the labels; `macro` averages over names, other measures are over all mentions.

    `mentions` have both a label and an author. `mentions_without_label` are in the result only and are ignored, also
    in the size of clusters; `labels_without_mention` are labels of mentions that the result lacks. `intervals` are
    95 % bootstrap intervals of F1 over names. If no file says which mentions share a name, `names_known` is false and
    all mentions count as one name. `confidence` is None if the result has no such column.
    """

    names: int
    mentions: int
    mentions_without_label: int
    labels_without_mention: int
    bcubed: Scores
    pairwise: Scores
    pairwise_with_self: Scores
    bcubed_across_names: Scores
    baseline_one_cluster: Measures
    baseline_singletons: Measures
    cluster_level: Scores
    k_metric: KMetric
    splitting_error: float
    lumping_error: float
    macro: Measures
    intervals: Mapping[str, Interval | None]
    by_true_size: Mapping[int, TrueSize]
    gold_lines_skipped: int = 0
    mentions_with_several_labels: int = 0
    names_known: bool = True
    confidence: Reliability | None = None

    @property
    def mean_over_true_sizes_1_to_10(self) -> float | None:
        """B-cubed F1 averaged over those true sizes from 1 to 10 that occur, each with the same weight."""
        found = [row.bcubed.f1 for size, row in self.by_true_size.items() if size <= LARGEST_SHOWN]
        return sum(found) / len(found) if found and self.names_known else None

    @property
    def people(self) -> int:
        """Number of people in the labels, counted within names."""
        return sum(size * row.names for size, row in self.by_true_size.items())

    @property
    def people_found(self) -> int:
        """Number of people in the result, counted within names."""
        return round(sum(row.mean_clusters * row.names for row in self.by_true_size.values()))

    def as_dict(self) -> dict[str, Any]:
        """The evaluation JSON."""
        written = {part.name: _to_json(getattr(self, part.name)) for part in fields(self)}
        written[MEAN_OVER_SIZES] = self.mean_over_true_sizes_1_to_10
        written["by_true_size"] = written.pop("by_true_size")
        if self.confidence is None:
            del written["confidence"]
        return written

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Evaluation:
        """Read the evaluation JSON."""
        known = {part.name for part in fields(cls)} & set(written) - {"by_true_size"}
        sizes = {int(size): TrueSize.from_dict(row) for size, row in written["by_true_size"].items()}
        return cls(**{key: _from_json(written[key]) for key in known}, by_true_size=sizes)

    def without_names(self) -> Evaluation:
        """The same with `names_known` false and without the interval of the mean over true sizes."""
        return replace(self, names_known=False, intervals={**self.intervals, MEAN_OVER_SIZES: None})

    def folded(self) -> dict[str, TrueSize]:
        """Rows of a readable table: true sizes 1 to 10, and the mean over names with more authors as "11+"."""
        rows = {str(size): row for size, row in self.by_true_size.items() if size <= LARGEST_SHOWN}
        beyond = [row for size, row in self.by_true_size.items() if size > LARGEST_SHOWN]
        if (f1_interval := self.intervals[BEYOND]) is not None:
            rows[f"{LARGEST_SHOWN + 1}+"] = _mean_row(beyond, f1_interval)
        return rows


def assess(names: Codes, authors: Codes, clusters: Codes) -> Evaluation:
    """Evaluate a clustering, given as integer codes per mention: name, true author, cluster.

    A cluster code that occurs under two names counts as two clusters within names, as one across names.
    """
    system = contingency(names, authors, clusters)
    one_cluster, singletons = merge_all(system), split_all(system)
    sizes, group = np.unique(system.true_size, return_inverse=True)
    by_size = _f1_by_size(system, group)
    shown = sizes <= LARGEST_SHOWN
    over_mentions = measure(system)
    return Evaluation(
        names=system.names,
        mentions=len(names),
        mentions_without_label=0,
        labels_without_mention=0,
        **{part.name: getattr(over_mentions, part.name) for part in fields(Measures)},
        bcubed_across_names=bcubed_across_names(authors, clusters),
        baseline_one_cluster=measure(one_cluster),
        baseline_singletons=measure(singletons),
        macro=measure_over_names(system),
        intervals={
            **_overall_intervals(system),
            MEAN_OVER_SIZES: interval(by_size[:, shown].mean(axis=1)) if shown.any() else None,
            BEYOND: _interval_beyond(system),
        },
        by_true_size=_by_true_size(sizes, group, (system, one_cluster, singletons), by_size),
    )


class NameResult(NamedTuple):
    """How well one name was done: its mentions, true authors and clusters, and its B-cubed scores."""

    name: str
    mentions: int
    people: int
    found: int
    bcubed: Scores


def worst_names(names: Codes, authors: Codes, clusters: Codes, texts: Sequence[str], number: int) -> list[NameResult]:
    """The names with most mistakes: those for which mentions times (1 - F1) is largest; names without any are left out.

    `texts` are the names that the codes stand for, in their order.

    >>> codes = [np.array(codes) for codes in ([0, 0, 1, 1], [0, 1, 2, 2], [0, 0, 1, 1])]
    >>> [(row.name, row.people, row.found) for row in worst_names(*codes, ["DOE, J", "ROE, R"], 9)]
    [('DOE, J', 2, 1)]
    """
    table = contingency(names, authors, clusters)
    scores = bcubed(table).by_name()
    lost = table.mentions * (1 - harmonic(scores.precision, scores.recall))
    worst = np.lexsort((np.arange(table.names), -lost.round(9)))[:number]
    return [
        NameResult(
            texts[i],
            int(table.mentions[i]),
            int(table.true_size[i]),
            int(table.clusters[i]),
            Scores(float(scores.precision[i]), float(scores.recall[i])),
        )
        for i in worst.tolist()
        if lost[i] > 1e-9
    ]


def f1_replicates(sums: NameSums, resamples: Resamples) -> Values:
    """F1 over mentions in each bootstrap sample of names, from the sums per name; all names are one group.

    >>> ones = np.ones(3)
    >>> sums = NameSums(np.array([1.0, 2.0, 0.0]), 2 * ones, np.array([1.0, 2.0, 0.0]), 2 * ones)
    >>> replicates = f1_replicates(sums, Resamples(np.zeros(3, dtype=np.int64), resamples=100))
    >>> sums.overall().f1, float(replicates.min()) >= 0.0, float(replicates.max()) <= 1.0
    (0.5, True, True)
    """
    drawn = NameSums(*(resamples.means(getattr(sums, part.name))[:, 0] for part in fields(sums))).by_name()
    return harmonic(drawn.precision, drawn.recall)


def one_group(table: Contingency) -> Counts:
    """One group for all names.

    >>> one_group(contingency(np.array([3, 4]), np.array([0, 0]), np.array([0, 0])))
    array([0, 0])
    """
    return np.zeros(table.names, dtype=np.int64)


def _overall_intervals(table: Contingency) -> dict[str, Interval]:
    resamples = Resamples(one_group(table))
    sums = {
        "bcubed_f1": bcubed(table),
        "pairwise_f1": pairwise(table),
        "pairwise_with_self_f1": pairwise(table, with_self=True),
    }
    return {key: interval(f1_replicates(parts, resamples)) for key, parts in sums.items()}


def _f1_by_size(table: Contingency, group: Codes) -> Values:
    """B-cubed F1 by bootstrap sample (rows) and true size (columns)."""
    scores, resamples = bcubed(table).by_name(), Resamples(group)
    return harmonic(resamples.means(scores.precision), resamples.means(scores.recall))


def _interval_beyond(table: Contingency) -> Interval | None:
    """The interval over all names with more authors than tables show separately."""
    scores, beyond = bcubed(table).by_name(), table.true_size > LARGEST_SHOWN
    if not beyond.any():
        return None
    resamples = Resamples(np.zeros(int(beyond.sum()), dtype=np.int64))
    return interval(harmonic(*(resamples.means(part[beyond])[:, 0] for part in (scores.precision, scores.recall))))


def _by_true_size(
    sizes: Counts, group: Codes, tables: tuple[Contingency, Contingency, Contingency], f1_by_size: Values
) -> dict[int, TrueSize]:
    system, one_cluster, singletons = tables
    splitting, lumping = splitting_and_lumping(system).by_name()
    rows = zip(
        np.bincount(group).tolist(),
        mean_by(group, system.clusters).tolist(),
        bcubed(system).by_name().averaged(group),
        pairwise(system, with_self=True).by_name().averaged(group),
        bcubed(one_cluster).by_name().averaged(group),
        bcubed(singletons).by_name().averaged(group),
        cluster_level(system).by_name().averaged(group),
        mean_by(group, splitting).tolist(),
        mean_by(group, lumping).tolist(),
        map(interval, f1_by_size.T),
        strict=True,
    )
    return {size: TrueSize(*row) for size, row in zip(sizes.tolist(), rows, strict=True)}


def _mean_row(rows: list[TrueSize], f1_interval: Interval) -> TrueSize:
    """The mean of rows, weighted by their number of names."""
    names = sum(row.names for row in rows)

    def mean(values: Iterator[float]) -> float:
        return sum(row.names * value for row, value in zip(rows, values, strict=True)) / names

    def mean_scores(key: str) -> Scores:
        scores = [getattr(row, key) for row in rows]
        return Scores(mean(score.precision for score in scores), mean(score.recall for score in scores))

    means: dict[str, Any] = {key: mean(getattr(row, key) for row in rows) for key in ("mean_clusters", *ERRORS)}
    means |= {key: mean_scores(key) for key in SIZE_SCORES}
    return TrueSize(names=names, bcubed_f1_interval=f1_interval, **means)


def _to_json(value: Any) -> Any:
    """A value of the evaluation as JSON."""
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if isinstance(value, Mapping):
        return {str(key): _to_json(part) for key, part in sorted(value.items())}
    return list(value) if isinstance(value, tuple) else value


def _from_json(value: Any) -> Any:
    """A value of the evaluation JSON as an object; its type follows from its keys."""
    if not isinstance(value, Mapping):
        return tuple(value) if isinstance(value, list) else value
    if "f1" in value:
        return Scores(value["precision"], value["recall"])
    if "k" in value:
        return KMetric(value["acp"], value["aap"])
    if "bins" in value:
        return Reliability.from_dict(value)
    parts = {key: _from_json(part) for key, part in value.items()}
    return Measures(**parts) if "bcubed" in parts else parts


@dataclass(frozen=True)
class Difference:
    """Difference in B-cubed F1 to the first result, with a 95 % interval from a paired bootstrap over names.

    Differences vary less than either value, because names that are hard for one result are hard for the other.
    """

    bcubed_f1: float
    interval: Interval

    def as_dict(self) -> dict[str, Any]:
        """The values by their keys in the JSON."""
        return {"bcubed_f1": self.bcubed_f1, "interval": list(self.interval)}


@dataclass(frozen=True)
class Comparison:
    """Results evaluated on the same mentions: those with a label that are in every result.

    `left_out` counts for each result the labelled mentions that it lacks although another result has them;
    `labels_without_mention` are labels of mentions that no result has.
    """

    results: Mapping[str, Evaluation]
    differences: Mapping[str, Difference]
    left_out: Mapping[str, int] = field(default_factory=dict)
    labels_without_mention: int = 0

    @property
    def first(self) -> Evaluation:
        """The result to which the others are compared."""
        return next(iter(self.results.values()))

    @property
    def mentions(self) -> int:
        """Number of mentions that all results are evaluated on."""
        return self.first.mentions

    def as_dict(self) -> dict[str, Any]:
        """The comparison as JSON."""
        return {
            "results": {label: found.as_dict() for label, found in self.results.items()},
            "mentions": self.mentions,
            "left_out": dict(self.left_out),
            "labels_without_mention": self.labels_without_mention,
            "differences": {label: found.as_dict() for label, found in self.differences.items()},
        }


def compare(names: Codes, authors: Codes, clusterings: Mapping[str, Codes]) -> Comparison:
    """Evaluate clusterings, given as integer codes per mention, and compare each to the first."""
    tables = {label: contingency(names, authors, clusters) for label, clusters in clusterings.items()}
    sums = {label: bcubed(table) for label, table in tables.items()}
    resamples = Resamples(one_group(next(iter(tables.values()))))
    first, *others = sums
    replicates = {label: f1_replicates(sums[label], resamples) for label in sums}
    differences = {
        label: Difference(
            sums[label].overall().f1 - sums[first].overall().f1, interval(replicates[label] - replicates[first])
        )
        for label in others
    }
    return Comparison({label: assess(names, authors, found) for label, found in clusterings.items()}, differences)


def distinct_labels(paths: Sequence[Path]) -> list[str]:
    """Labels of results: their file names, with as many directories as needed to make them distinct.

    >>> distinct_labels([Path("runs/a/authors.csv"), Path("runs/b/authors.csv"), Path("max.csv")])
    ['a/authors.csv', 'b/authors.csv', 'max.csv']
    >>> distinct_labels([Path("a.csv"), Path("a.csv")])
    ['a.csv', 'a.csv (2)']
    """
    labels = [printable(_shortest(path, paths)) for path in paths]
    numbered = [label if labels.index(label) == i else None for i, label in enumerate(labels)]
    for i, label in enumerate(labels):
        if numbered[i] is None:
            numbered[i] = next(name for n in count(2) if (name := f"{label} ({n})") not in numbered)
    return [label for label in numbered if label is not None]


def _shortest(path: Path, paths: Sequence[Path]) -> str:
    """The shortest end of a path that no other path ends with."""
    others = [other.parts for other in paths if other != path]
    for length in range(1, len(path.parts)):
        end = path.parts[-length:]
        if all(other[-length:] != end for other in others):
            return Path(*end).as_posix()
    return path.as_posix()
