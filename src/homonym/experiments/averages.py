"""The process of many names as one picture: means and deviations at each number of clusters, and where they stopped."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from homonym.evaluation.assessment import LARGEST_SHOWN
from homonym.evaluation.contingency import Codes
from homonym.evaluation.process import Process
from homonym.evaluation.sizes import group_name, size_groups

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
