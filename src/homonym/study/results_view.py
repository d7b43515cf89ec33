"""Accessors to the results of a study: the plain dict that `homonym study` writes as study.json.

True sizes are strings, "1" to "10" and "11+". A run may lack some of them; missing values are None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

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
