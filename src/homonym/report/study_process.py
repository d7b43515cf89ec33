"""The figure of the course of the clustering, and what is to be read from it.

From left to right clusters are merged until one is left: recall rises, precision falls, and the names stop somewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

from homonym.report.drawing import BLUE, GREY, INK, ORANGE, Picture, label_ends
from homonym.report.study import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Process = Mapping[str, Any]

FEWEST_NAMES, SMALLEST_SHARE = 3, 0.05
"""A mean is drawn from where it is one of so many names and of this share of them, or of half of a few names."""

LONGEST_LINEAR = 60
"""Beyond so many clusters the axis is logarithmic, because what matters happens near its right end."""

CURVES = (("precision", BLUE), ("recall", ORANGE), ("F1", INK))


def process_picture(run: Run, size: str, name: str) -> Picture:
    """The course of the clustering for the names of one true size: means with deviations, and where names stopped."""
    part = run["process"][size]
    title = f"{run['title']}: names with {size} author{'' if size == '1' else 's'}"
    file = f"process-{name}-{size.replace('+', '-or-more')}"
    return Picture(file, title, (5.2, 3.3), lambda figure: _draw_process(figure, part))


def first_drawn(part: Process) -> int:
    """The place in the course from which enough names contribute.

    >>> first_drawn({"names": 60, "names_at": [1, 2, 4, 31, 60]})
    2
    """
    enough = min(part["names"] / 2, max(FEWEST_NAMES, SMALLEST_SHARE * part["names"]))
    return next((i for i, names in enumerate(part["names_at"]) if names >= enough), len(part["names_at"]))


def _draw_process(figure: Figure, part: Process) -> None:
    start = first_drawn(part)
    clusters = part["clusters"][start:] or [1]
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    if clusters[0] > LONGEST_LINEAR:
        above.set_xscale("log")
    above.set_xlim(max(clusters[0], part["true_size"] or 1) + 0.5, clusters[-1] - 0.5)
    _draw_curves(above, part, start)
    _draw_stops(below, part, clusters[0])
    _mark_clusters(below, clusters)
    figure.align_ylabels()
    if part["true_size"] is not None:
        for axes in (above, below):
            axes.axvline(part["true_size"], color=GREY, linewidth=1.4, zorder=0.5)
        _label_true_size(above, part["true_size"])


def _draw_curves(axes: Axes, part: Process, start: int) -> None:
    ends: dict[tuple[str, str], float] = {}
    for label, colour in CURVES:
        given, deviations = (part[f"{label.lower()}_{kind}"][start:] for kind in ("mean", "sd"))
        means, clusters = [nan if mean is None else mean for mean in given], part["clusters"][start:]
        bands = [_band(mean, deviation) for mean, deviation in zip(given, deviations, strict=True)]
        axes.fill_between(clusters, *_ends(bands), color=colour, alpha=0.16, linewidth=0)
        single: dict[str, Any] = {"marker": "o", "markersize": 4} if len(clusters) < 2 else {}
        axes.plot(clusters, means, color=colour, linewidth=2.0 if label == "F1" else 1.4, clip_on=False, **single)
        if means and not isnan(means[-1]):
            ends[label, colour] = means[-1]
    axes.set_ylim(0, 1.02)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.set_ylabel("B-cubed (mean ± sd)")
    axes.tick_params(length=0, labelbottom=False)
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    label_ends(axes, ends)


def _band(mean: float | None, deviation: float | None) -> tuple[float, float]:
    """One standard deviation to both sides, inside what a score can be; of one name there is none."""
    if mean is None:
        return nan, nan
    return max(0.0, mean - (deviation or 0.0)), min(1.0, mean + (deviation or 0.0))


def _ends(bands: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [low for low, _ in bands], [high for _, high in bands]


def _label_true_size(axes: Axes, size: int) -> None:
    axes.annotate("true number", (size, 0), (-3, 4), textcoords="offset points", color=GREY, rotation=90, ha="right")


def _draw_stops(axes: Axes, part: Process, left: int) -> None:
    stops = {int(clusters): names for clusters, names in part["stops"].items()}
    shown = {clusters: names for clusters, names in sorted(stops.items()) if clusters <= left}
    axes.bar([k - 0.4 for k in shown], list(shown.values()), width=0.8, align="edge", color=INK, alpha=0.55)
    if beyond := sum(stops.values()) - sum(shown.values()):
        place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "top"}
        axes.annotate(f"← {beyond:,} more", (0, 1), (3, -1), color=GREY, fontsize=7, **place)
    top = max(shown.values(), default=1)
    axes.set_ylim(0, 1.08 * top)
    axes.set_yticks([0, top])
    axes.set_ylabel("names\nstopped")
    axes.tick_params(length=0)
    axes.set_axisbelow(True)


def _mark_clusters(axes: Axes, clusters: Sequence[int]) -> None:
    most = clusters[0]
    axes.set_xlabel("number of clusters: merging goes from left to right")
    if most > LONGEST_LINEAR:
        ticks = [k for power in range(7) for k in (10**power, 2 * 10**power, 5 * 10**power) if k <= most]
    else:
        step = next(step for step in (1, 2, 5, 10) if most / step <= 14)
        ticks = sorted({1, *range(step, most + 1, step)})
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()


class Stops(NamedTuple):
    """How many names stopped at the true number of clusters, before it (too many clusters) and after it."""

    exact: int
    too_many: int
    too_few: int


def stops_of(part: Process) -> Stops | None:
    """Count the stops against the true number of clusters, if there is one.

    >>> stops_of({"true_size": 5, "stops": {"3": 4, "5": 31, "6": 9}})
    Stops(exact=31, too_many=9, too_few=4)
    """
    true = part["true_size"]
    if true is None:
        return None
    stops = {int(clusters): names for clusters, names in part["stops"].items()}
    exact = stops.get(true, 0)
    too_many = sum(names for clusters, names in stops.items() if clusters > true)
    return Stops(exact, too_many, sum(stops.values()) - exact - too_many)


def best_point(part: Process) -> tuple[int, float] | None:
    """The number of clusters with the highest mean F1 among those drawn, and that F1."""
    start = first_drawn(part)
    drawn = zip(part["clusters"][start:], part["f1_mean"][start:], strict=True)
    points = [(f1, k) for k, f1 in drawn if f1 is not None]
    return (max(points)[1], max(points)[0]) if points else None
