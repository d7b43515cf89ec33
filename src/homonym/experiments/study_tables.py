"""The tables of a study, as values and as CSV files: the paper's three tables, and the data of the figures.

Also how to look up values in the results of a study (study.json).

Numbers are written with all digits; only the page rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from homonym.io.outputs import write_atomic
from homonym.io.table_text import csv_text

StudyResults = Mapping[str, Any]
RunResults = Mapping[str, Any]

# The runs of the paper's table of results, in its order.
PAPER_ORDER = (("prob", "trained"), ("prob", "uniform"), ("max", "trained"), ("max", "uniform"))

# The true sizes whose merging is shown on the page, or the nearest that occur.
SHOWN_SIZES = (2, 5, 10)


def lookup(values: Any, *keys: str) -> Any:
    """Follow keys into nested mappings; None if one is missing.

    >>> lookup({"a": {"b": 1}}, "a", "b"), lookup({"a": None}, "a", "b")
    (1, None)
    """
    for key in keys:
        values = values.get(key) if isinstance(values, Mapping) else None
    return values


def sorted_sizes(sizes: Iterable[str]) -> list[str]:
    """True sizes in ascending order, "11+" last.

    >>> sorted_sizes(["11+", "10", "2"])
    ['2', '10', '11+']
    """
    return sorted(sizes, key=lambda size: int(size.rstrip("+")))


def sizes_of(study: StudyResults) -> list[str]:
    """The true sizes that occur in the split or in the results of any run or baseline."""
    parts = [study["split"]["by_true_size"], *(run["test"]["by_true_size"] for run in runs_and_baselines(study))]
    return sorted_sizes({size for part in parts for size in part})


def ordered_runs(study: StudyResults) -> list[RunResults]:
    """The runs: those of the paper's table in its order, then other main runs, then the rest in their order."""

    def place(run: RunResults) -> tuple[bool, int]:
        kind = (run["variant"], run["weights"])
        in_table = run["main"] and kind in PAPER_ORDER
        return not run["main"], PAPER_ORDER.index(kind) if in_table else len(PAPER_ORDER)

    return sorted(study["runs"], key=place)


def main_runs(study: StudyResults) -> list[RunResults]:
    """The runs that are shown in full; all runs if none is marked as main."""
    return [run for run in ordered_runs(study) if run["main"]] or ordered_runs(study)


def runs_and_baselines(study: StudyResults) -> list[RunResults]:
    """All runs in order, then the baselines."""
    return [*ordered_runs(study), *study["baselines"]]


def paper_run(study: StudyResults) -> RunResults | None:
    """The paper's main setup, fixed before any result was known: prob with uniform weights."""
    uniform = PAPER_ORDER[1]
    return next((run for run in study["runs"] if run["main"] and (run["variant"], run["weights"]) == uniform), None)


def feature_types(study: StudyResults) -> list[str]:
    """The feature types of the collection, then any others that have a weight."""
    weighted = [kind for values in study["weights"].values() for kind in values]
    return list(dict.fromkeys([*study["collection"]["feature_types"], *weighted]))


def interval_of(scores: Any, key: str = "interval") -> tuple[float | None, float | None]:
    """Both ends of an interval; (None, None) if there is none."""
    low, high = lookup(scores, key) or (None, None)
    return low, high


def by_size(run: RunResults) -> dict[str, Mapping[str, Any]]:
    """The results of a run by true size, in ascending order."""
    rows = run["test"]["by_true_size"]
    return {size: rows[size] for size in sorted_sizes(rows)}


def mean_f1(run: RunResults) -> float | None:
    """The F1 of a run, averaged over the true sizes 1 to 10."""
    value: float | None = lookup(run, "test", "mean_over_sizes", "f1")
    return value


def oracle_mean(run: RunResults) -> float | None:
    """The F1 of the best possible stops, averaged over the true sizes 1 to 10; None if it is missing for one."""
    values = [row.get("oracle_f1") for size, row in by_size(run).items() if size != "11+"]
    present = [value for value in values if value is not None]
    # A mean over fewer sizes would not be comparable with the mean F1.
    return sum(present) / len(present) if present and len(present) == len(values) else None


def shown_sizes(run: RunResults, wanted: Iterable[int]) -> list[str]:
    """The true sizes of a run nearest to the wanted ones, each once; the smaller of two equally near ones.

    >>> shown_sizes({"process": {"1": 0, "4": 0, "6": 0, "11+": 0}}, (2, 5, 10))
    ['1', '4', '6']
    >>> shown_sizes({"process": {"11+": 0}}, (2, 5, 10))
    ['11+']
    """
    sizes = sorted(int(size) for size in run["process"] if not size.endswith("+"))
    nearest = [min(sizes, key=lambda size: (abs(size - wish), size)) for wish in wanted] if sizes else []
    return [str(size) for size in dict.fromkeys(nearest)] or list(run["process"])


Cell = str | int | float | None

MEASURES = (("bCube", "bcubed"), ("pairF1", "pairwise_with_self"))
SCORES = (("P", "precision"), ("F", "f1"), ("R", "recall"))
INTERVAL = ("low", "high")


@dataclass(frozen=True)
class StudyTable:
    """A table as values: the name of its file, its column names, and its rows.

    >>> print(StudyTable("sums", ("a, b", "sum"), [("1, 2", 3), ("x", None)]).csv(), end="")
    "a, b",sum
    "1, 2",3
    x,
    """

    name: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def csv(self, *, excel: bool = False) -> str:
        """Write the table as CSV, numbers in full; with `excel` for spreadsheets."""
        return csv_text([self.header, *self.rows], excel=excel)


def write_tables(study: StudyResults, directory: Path | str, *, excel: bool = False) -> list[Path]:
    """Write every table of a study as a CSV file into a directory, which is created if missing."""
    place = Path(directory)
    place.mkdir(parents=True, exist_ok=True)
    return [_written(table, place, excel=excel) for table in all_tables(study)]


def _written(table: StudyTable, place: Path, *, excel: bool) -> Path:
    path = place / f"{table.name}.csv"
    write_atomic(path, table.csv(excel=excel))
    return path


def all_tables(study: StudyResults) -> list[StudyTable]:
    """Every table of a study."""
    makers = (names_by_true_size, weights, training, results_by_true_size, measured_by_true_size, runs, baselines,
              tuning, process, stops, findings, finding_rows)  # fmt: skip
    return [make(study) for make in makers]


def names_by_true_size(study: StudyResults) -> StudyTable:
    """The paper's table 1: how many names of each true size there are, and how many were used for what."""
    split = study["split"]["by_true_size"]
    counts = {size: [split[size][part] for part in ("training", "test", "all")] for size in sorted_sizes(split)}
    counts["all sizes"] = [sum(column) for column in zip(*counts.values(), strict=True)] or [0, 0, 0]
    rows = [
        (size, training, test, training + test, every, (training + test) / every if every else None)
        for size, (training, test, every) in counts.items()
    ]
    header = ("true_size", "training", "test", "training_and_test", "all", "share_used")
    return StudyTable("names_by_true_size", header, rows)


def weights(study: StudyResults) -> StudyTable:
    """The paper's table 2: the weight of each feature type in each weighting."""
    rows = [(kind, *(values.get(kind, 0.0) for values in study["weights"].values())) for kind in feature_types(study)]
    return StudyTable("weights", ("feature_type", *study["weights"]), rows)


def training(study: StudyResults) -> StudyTable:
    """What the classifier learned about each feature type, and how much that varies with the sample of pairs."""
    learned = study.get("training") or {}
    learned_types = [kind for kind in feature_types(study) if kind in learned.get("mean", {})]
    columns = ("coefficients", "mean", "sd")
    rows = [(kind, *(learned[column].get(kind) for column in columns)) for kind in learned_types]
    header = ("feature_type", "coefficient", "weight_mean", "weight_sd")
    return StudyTable("training", header, rows)


def results_by_true_size(study: StudyResults) -> StudyTable:
    """The paper's table 3: precision, F1 and recall of every run by true size, in both of its measures."""
    sizes = sizes_of(study)
    rows = [
        (*_run_columns(run), label, score, *(_at(run, size, measure, column) for size in sizes))
        for run in runs_and_baselines(study)
        for label, measure in MEASURES
        for score, column in SCORES
    ]
    header = ("run", "variant", "weights", "alpha", "beta", "measure", "score", *sizes)
    return StudyTable("results_by_true_size", header, rows)


def _run_columns(run: RunResults) -> tuple[Cell, ...]:
    limit = run.get("limit") or {}
    return run["key"], run.get("variant"), run.get("weights"), limit.get("alpha"), limit.get("beta")


def _at(run: RunResults, size: str, measure: str, column: str) -> Cell:
    cell: Cell = lookup(run["test"]["by_true_size"], size, measure, column)
    return cell


SIZE_COLUMNS = {
    "precision": ("bcubed", "precision"),
    "recall": ("bcubed", "recall"),
    "f1": ("bcubed", "f1"),
    "pair_f1_with_self": ("pairwise_with_self", "f1"),
    "max_recall": ("max_recall",),
    "max_precision": ("max_precision",),
    "oracle_f1": ("oracle_f1",),
    "one_cluster_precision": ("baseline_one_cluster", "precision"),
    "one_cluster_f1": ("baseline_one_cluster", "f1"),
    "singletons_f1": ("baseline_singletons", "f1"),
}


def measured_by_true_size(study: StudyResults) -> StudyTable:
    """Everything measured at the stop by run and true size: what the figures of results show."""
    rows = [
        (run["key"], size, row["names"], row.get("mean_clusters"), *interval_of(row["bcubed"]), *_size_cells(row))
        for run in runs_and_baselines(study)
        for size, row in by_size(run).items()
    ]
    header = ("run", "true_size", "names", "mean_clusters", "f1_low", "f1_high", *SIZE_COLUMNS)
    return StudyTable("measured_by_true_size", header, rows)


def _size_cells(row: Mapping[str, Any]) -> Iterator[Cell]:
    return (lookup(row, *keys) for keys in SIZE_COLUMNS.values())


OVERALL_HEADER = ("mean_f1", "mean_f1_low", "mean_f1_high", "precision", "recall", "f1", "f1_low", "f1_high",
                  "pair_f1_with_self", "pair_f1")  # fmt: skip


def _overall(test: Mapping[str, Any]) -> tuple[Cell, ...]:
    mean, scores = test.get("mean_over_sizes"), test["bcubed"]
    pairs = (lookup(test, measure, "f1") for measure in ("pairwise_with_self", "pairwise"))
    three = (scores["precision"], scores["recall"], scores["f1"])
    return lookup(mean, "f1"), *interval_of(mean), *three, *interval_of(scores), *pairs


def runs(study: StudyResults) -> StudyTable:
    """All runs: settings, limit, and results over all test names."""
    columns = ("title", "scope", "joint", "gamma", "main", "limit_kind")
    rows = [
        (*_run_columns(run), *(run[key] for key in columns), *_overall(run["test"]), oracle_mean(run))
        for run in ordered_runs(study)
    ]
    header = ("run", "variant", "weights", "alpha", "beta", *columns, *OVERALL_HEADER, "mean_oracle_f1")
    return StudyTable("runs", header, rows)


def baselines(study: StudyResults) -> StudyTable:
    """The simple methods that any other has to beat."""
    rows = [(base["key"], base["title"], base["threshold"], *_overall(base["test"])) for base in study["baselines"]]
    return StudyTable("baselines", ("baseline", "title", "threshold", *OVERALL_HEADER), rows)


def tuning(study: StudyResults) -> StudyTable:
    """The limit tuned as a constant (α), per mention (β) and as both, and what each gives on training and test."""
    columns = ("alpha", "beta", "training_f1", "test_f1")
    rows = [
        (
            *(run["key"], kind, kind == run["limit_kind"], *(tuned.get(key) for key in columns)),
            *(*interval_of(tuned, "test_interval"), *interval_of(tuned, "spread")),
        )
        for run in ordered_runs(study)
        for kind, tuned in (run.get("tuning") or {}).items()
    ]
    header = ("run", "tuned", "used", *columns, "test_f1_low", "test_f1_high", "spread_low", "spread_high")
    return StudyTable("tuning", header, rows)


def process(study: StudyResults) -> StudyTable:
    """Precision, recall and F1 at every number of clusters on the way down to one, by run and true size."""
    columns = [f"{measure}_{part}" for measure in ("precision", "recall", "f1") for part in ("mean", "sd")]
    rows = [
        (run["key"], size, *values)
        for run, size, part in _processes(study)
        for values in zip(*(part[column] for column in ("clusters", "names_at", *columns)), strict=True)
    ]
    return StudyTable("process", ("run", "true_size", "clusters", "names", *columns), rows)


def stops(study: StudyResults) -> StudyTable:
    """How many names stopped at which number of clusters, by run and true size."""
    rows = [
        (run["key"], size, int(clusters), names)
        for run, size, part in _processes(study)
        for clusters, names in sorted(part["stops"].items(), key=lambda stop: int(stop[0]))
    ]
    return StudyTable("stops", ("run", "true_size", "stopped_at", "names"), rows)


def _processes(study: StudyResults) -> Iterator[tuple[RunResults, str, Mapping[str, Any]]]:
    for run in ordered_runs(study):
        for size in sorted_sizes(run["process"]):
            yield run, size, run["process"][size]


def findings(study: StudyResults) -> StudyTable:
    """What the paper claims, and what was found here."""
    columns = ("key", "claim", "verdict", "measured")
    return StudyTable("findings", columns, [tuple(one[key] for key in columns) for one in study["findings"]])


def finding_rows(study: StudyResults) -> StudyTable:
    """The differences on which the findings rest, with 95 % intervals."""
    rows = [
        (one["key"], label, difference, *(interval or (None, None)))
        for one in study["findings"]
        for label, difference, interval in one.get("rows") or ()
    ]
    return StudyTable("finding_rows", ("key", "compared", "difference", *INTERVAL), rows)
