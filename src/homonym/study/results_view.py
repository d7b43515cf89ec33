"""Reading the results of a study: the plain dict that `homonym study` writes as study.json.

True sizes are strings, "1" to "10" and "11+"; a run may lack some of them, and whatever may be missing is None here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Study = Mapping[str, Any]
Run = Mapping[str, Any]

PAPER_ORDER = (("prob", "trained"), ("prob", "uniform"), ("max", "trained"), ("max", "uniform"))
"""The runs of the paper's table of results, in its order."""


def in_order(sizes: Iterable[str]) -> list[str]:
    """Put true sizes in order of their number, "11+" last.

    >>> in_order(["11+", "10", "2"])
    ['2', '10', '11+']
    """
    return sorted(sizes, key=lambda size: int(size.rstrip("+")))


def sizes_of(study: Study) -> list[str]:
    """The true sizes that occur in any run or baseline, or in the split."""
    parts = [study["split"]["by_true_size"], *(run["test"]["by_true_size"] for run in everything(study))]
    return in_order({size for part in parts for size in part})


def ordered_runs(study: Study) -> list[Run]:
    """The runs: those of the paper's table in its order, then other main ones, then the rest as they came."""

    def place(run: Run) -> tuple[bool, int]:
        kind = (run["variant"], run["weights"])
        known = run["main"] and kind in PAPER_ORDER
        return not run["main"], PAPER_ORDER.index(kind) if known else len(PAPER_ORDER)

    return sorted(study["runs"], key=place)


def everything(study: Study) -> list[Run]:
    """Runs, in order, and baselines: whatever has results."""
    return [*ordered_runs(study), *study["baselines"]]


def feature_types(study: Study) -> list[str]:
    """The feature types of the collection, then any others that have a weight."""
    named = [kind for values in study["weights"].values() for kind in values]
    return list(dict.fromkeys([*study["collection"]["feature_types"], *named]))


def found(values: Any, *keys: str) -> Any:
    """Follow keys into nested mappings; None where one is missing.

    >>> found({"a": {"b": 1}}, "a", "b"), found({"a": None}, "a", "b")
    (1, None)
    """
    for key in keys:
        values = values.get(key) if isinstance(values, Mapping) else None
    return values


def interval_of(scores: Any, key: str = "interval") -> tuple[float | None, float | None]:
    """The two ends of an interval, None where there is none."""
    low, high = found(scores, key) or (None, None)
    return low, high


def by_size(run: Run) -> dict[str, Mapping[str, Any]]:
    """The results of a run by true size, in order."""
    rows = run["test"]["by_true_size"]
    return {size: rows[size] for size in in_order(rows)}


SHOWN_SIZES = (2, 5, 10)
"""The true sizes whose course is shown, or the nearest there are; of main runs all of them are in the files."""


def shown_sizes(run: Run, wanted: Iterable[int]) -> list[str]:
    """The true sizes nearest to the wanted ones, each once; the smaller one where two are as near.

    >>> shown_sizes({"process": {"1": 0, "4": 0, "6": 0, "11+": 0}}, (2, 5, 10))
    ['1', '4', '6']
    >>> shown_sizes({"process": {"11+": 0}}, (2, 5, 10))
    ['11+']
    """
    sizes = sorted(int(size) for size in run["process"] if not size.endswith("+"))
    nearest = [min(sizes, key=lambda size: (abs(size - wish), size)) for wish in wanted] if sizes else []
    return [str(size) for size in dict.fromkeys(nearest)] or list(run["process"])


def paper_run(study: Study) -> Run | None:
    """The paper's main setup, which was fixed before any result was seen: prob with uniform weights."""
    return next(
        (run for run in study["runs"] if run["main"] and (run["variant"], run["weights"]) == PAPER_ORDER[1]), None
    )


def oracle_mean(run: Run) -> float | None:
    """The F1 of the best possible stops, averaged over the true sizes 1 to 10 as the mean F1 is."""
    values = [row.get("oracle_f1") for size, row in by_size(run).items() if size != "11+"]
    known = [value for value in values if value is not None]
    # A mean over other sizes than those of the mean F1 would not compare.
    return sum(known) / len(known) if known and len(known) == len(values) else None
