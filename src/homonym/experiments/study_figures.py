"""The figures of a study: all runs in one view, results by true size, stops, and the process of merging.

Colour shows the measure (precision blue, recall orange, F1 in ink); the line style shows what was measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import ceil, floor, isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from homonym.experiments.study_tables import (
    SHOWN_SIZES,
    RunResults,
    StudyResults,
    by_size,
    interval_of,
    lookup,
    main_runs,
    ordered_runs,
    runs_and_baselines,
    shown_sizes,
    sorted_sizes,
)
from homonym.io.outputs import write_atomic
from homonym.report.figures import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    Picture,
    axis_bottom,
    figure_label,
    grid_only,
    label_ends,
    name_counts,
    score_axis,
)
from homonym.runtime.process_pool import Task, run_tasks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


AveragedProcess = Mapping[str, Any]
"""The process of merging, averaged over the names of one true size, as in study.json."""

# A mean is drawn only where it covers this many names and this share of them (half of the names if there are few).
MIN_NAMES, SMALLEST_SHARE = 3, 0.05

# Above this number of clusters the axis is logarithmic, because the relevant part is near its right end.
LONGEST_LINEAR = 60

CURVES = (("precision", BLUE), ("recall", ORANGE), ("F1", INK))


def process_picture(run: RunResults, size: str, name: str) -> Picture:
    """The process of merging for the names of one true size: means with deviations, and where names stopped."""
    title = f"{run['title']}: names with {size} author{'' if size == '1' else 's'}"
    draw = partial(_draw_process, part=run["process"][size])
    return Picture(process_file_name(name, size), title, (5.2, 3.3), draw)


def process_file_name(run_name: str, size: str) -> str:
    """The file name, without suffix, of the process of a run for one true size."""
    return f"process-{run_name}-{size.replace('+', '-or-more')}"


def first_drawn(part: AveragedProcess) -> int:
    """The index of the first state to which enough names contribute.

    >>> first_drawn({"names": 60, "names_at": [1, 2, 4, 31, 60]})
    2
    """
    enough = min(part["names"] / 2, max(MIN_NAMES, SMALLEST_SHARE * part["names"]))
    return next((i for i, names in enumerate(part["names_at"]) if names >= enough), len(part["names_at"]))


def _draw_process(figure: Figure, part: AveragedProcess) -> None:
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


def _draw_curves(axes: Axes, part: AveragedProcess, start: int) -> None:
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
    """One standard deviation to both sides, cut to [0, 1]; a single name has no deviation."""
    if mean is None:
        return nan, nan
    return max(0.0, mean - (deviation or 0.0)), min(1.0, mean + (deviation or 0.0))


def _ends(bands: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [low for low, _ in bands], [high for _, high in bands]


def _label_true_size(axes: Axes, size: int) -> None:
    axes.annotate("true number", (size, 0), (-3, 4), textcoords="offset points", color=GREY, rotation=90, ha="right")


def _draw_stops(axes: Axes, part: AveragedProcess, left: int) -> None:
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
    """Number of names that stopped at the true number of clusters, before it (too many clusters), and after it."""

    exact: int
    too_many: int
    too_few: int


def stops_of(part: AveragedProcess) -> Stops | None:
    """Count stops at, before and after the true number of clusters; None if the names have different true sizes.

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


def best_point(part: AveragedProcess) -> tuple[int, float] | None:
    """The number of clusters with the highest mean F1 among those drawn, and that F1."""
    start = first_drawn(part)
    drawn = zip(part["clusters"][start:], part["f1_mean"][start:], strict=True)
    points = [(f1, k) for k, f1 in drawn if f1 is not None]
    return (max(points)[1], max(points)[0]) if points else None


# The place of "11+" on the axis: a little apart from 10, because it covers many sizes.
BEYOND = 11.4

# Maximum number of runs in the figure of stops.
PANELS = 8


class PlotLine(NamedTuple):
    """A line of the figure of results: its label and colour, the keys of its values in study.json, and its style."""

    label: str
    colour: str
    keys: tuple[str, ...]
    look: Mapping[str, Any]


DOTTED, DASHED, DASH_DOTTED = (0, (1.2, 2)), (0, (4, 3)), (0, (5, 2, 1.2, 2))

LINES = (
    PlotLine("baseline precision", GREY, ("baseline_one_cluster", "precision"), {"linestyle": DOTTED}),
    PlotLine("baseline F1", GREY, ("baseline_one_cluster", "f1"), {"linestyle": DASHED}),
    PlotLine("max. recall", ORANGE, ("max_recall",), {"linestyle": DASH_DOTTED, "linewidth": 1.1}),
    PlotLine("max. precision", BLUE, ("max_precision",), {"linestyle": DASH_DOTTED, "linewidth": 1.1}),
    PlotLine("F1, best stop", INK, ("oracle_f1",), {"linestyle": DASHED, "linewidth": 1.0}),
    PlotLine("precision", BLUE, ("bcubed", "precision"), {"marker": "^", "markersize": 4}),
    PlotLine("recall", ORANGE, ("bcubed", "recall"), {"marker": "s", "markersize": 3.6}),
    PlotLine("F1", INK, ("bcubed", "f1"), {"marker": "o", "markersize": 4.2, "linewidth": 2.0}),
)


def write_figures(study: StudyResults, directory: Path | str, processes: int = 1) -> dict[str, str]:
    """Write every figure as SVG and as PNG into a directory, which is created if missing.

    Returns the <svg> elements for the page by name. Figures are drawn in several processes because matplotlib takes
    0.2 seconds of CPU time for one, and a study has some 200.
    """
    place = Path(directory)
    place.mkdir(parents=True, exist_ok=True)
    pictures = list(all_pictures(study))
    elements = {}
    tasks: list[Task] = [(Picture.drawn, (picture,), {}) for picture in pictures]
    for picture, drawn in zip(pictures, run_tasks(tasks, processes), strict=True):
        write_atomic(place / f"{picture.name}.svg", drawn.svg)
        write_atomic(place / f"{picture.name}.png", drawn.png)
        elements[picture.name] = drawn.element
    return elements


def all_pictures(study: StudyResults) -> Iterator[Picture]:
    """Every figure of a study: the two views of all runs, then each run's results and its process by true size.

    The process is drawn for every true size of a main run, and for a few true sizes of the other runs.
    """
    yield overview_picture(study)
    if study["runs"]:
        yield stopping_picture(study)
    names, bottom = run_names(study), lowest_shown(study)
    for run in ordered_runs(study):
        yield results_picture(run, names[run["key"]], bottom)
        for size in sorted_sizes(run["process"]) if run["main"] else shown_sizes(run, SHOWN_SIZES):
            yield process_picture(run, size, names[run["key"]])


def run_names(study: StudyResults) -> dict[str, str]:
    """A distinct file name for each run's key, made of plain characters only.

    >>> run_names({"runs": [{"key": "only-a/b"}, {"key": "only-a:b"}]})
    {'only-a/b': 'only-a-b', 'only-a:b': 'only-a-b-2'}
    """
    names: dict[str, str] = {}
    for run in study["runs"]:
        plain = name = re.sub(r"[^A-Za-z0-9_]+", "-", run["key"]).strip("-") or "run"
        number = 1
        while name in names.values():
            name = f"{plain}-{(number := number + 1)}"
        names[run["key"]] = name
    return names


def lowest_shown(study: StudyResults) -> float:
    """The lower end of the axes of results: the same for all runs, so that they can be compared by eye."""
    rows = [row for run in study["runs"] for row in by_size(run).values()]
    values = [value for row in rows for line in LINES if (value := lookup(row, *line.keys)) is not None]
    return axis_bottom(values)


def results_picture(run: RunResults, name: str, bottom: float) -> Picture:
    """Results by true size: at our stop, at the best possible one, at the extremes, and of one cluster per name."""
    title = f"Results by true number of authors: {run['title']}"
    return Picture(f"results-{name}", title, (5.2, 3.9), partial(_draw_results, run=run, bottom=bottom))


def _draw_results(figure: Figure, run: RunResults, bottom: float) -> None:
    axes, rows = figure.add_subplot(), by_size(run)
    places = [place_of(size) for size in rows]
    ends: dict[tuple[str, str], float] = {}
    # A single point would not be visible as a line.
    usual = {"linewidth": 1.3} | ({"marker": "_", "markersize": 9} if len(rows) == 1 else {})
    for line in LINES:
        values = numbers(lookup(row, *line.keys) for row in rows.values())
        axes.plot(places, values, color=line.colour, clip_on=False, **{**usual, **line.look})
        if places and not isnan(values[-1]):
            ends[line.label, line.colour] = values[-1]
    _interval_lines(axes, places, list(rows.values()))
    score_axis(axes, bottom)
    grid_only(axes)
    label_ends(axes, ends)
    _size_places(axes, rows)
    name_counts(axes, {place: row["names"] for place, row in zip(places, rows.values(), strict=True)})


def _interval_lines(axes: Axes, places: Sequence[float], rows: Sequence[Mapping[str, Any]]) -> None:
    ends = [interval_of(row["bcubed"]) for row in rows]
    lows, highs = numbers(low for low, _ in ends), numbers(high for _, high in ends)
    axes.vlines(places, lows, highs, color=INK, linewidth=1.0, clip_on=False)


def _size_places(axes: Axes, sizes: Mapping[str, Any]) -> None:
    places = [place_of(size) for size in sizes] or [1.0]
    axes.set_xlim(min(places) - 0.3, max(places) + 0.3)
    axes.set_xticks([place_of(size) for size in sizes], list(sizes))


def place_of(size: str) -> float:
    """The place of a true size on its axis."""
    return BEYOND if size.endswith("+") else float(size)


def numbers(values: Any) -> list[float]:
    """Numbers to draw; NaN, which leaves a gap, for missing ones."""
    return [nan if value is None else float(value) for value in values]


def stopping_picture(study: StudyResults) -> Picture:
    """F1 at our stop and at the best possible stop, one panel for each main run."""
    runs = main_runs(study)[:PANELS]
    size = (5.2, 0.6 + 1.55 * ceil(len(runs) / 2))
    title = "F1 at our stop and at the best possible stop"
    return Picture("stopping", title, size, partial(_draw_stopping, runs=runs))


def _draw_stopping(figure: Figure, runs: Sequence[RunResults]) -> None:
    panels = figure.subplots(ceil(len(runs) / 2), min(2, len(runs)), sharex=True, sharey=True, squeeze=False).flat
    bottom = _lowest_stop(runs)
    for axes, run in zip(panels, runs, strict=False):
        _stopping_panel(axes, by_size(run), run["title"])
        axes.set_ylim(bottom, 1.0 + 0.04 * (1 - bottom))
    for axes in list(panels)[len(runs) :]:
        axes.remove()
    _size_places(figure.axes[0], dict.fromkeys(sorted_sizes({size for run in runs for size in by_size(run)})))
    figure.supxlabel("true number of authors of the name", fontsize=8.5)
    figure.supylabel("B-cubed F1", fontsize=8.5)
    figure.axes[0].legend(frameon=False, fontsize=8)


def _stopping_panel(axes: Axes, rows: Mapping[str, Mapping[str, Any]], title: str) -> None:
    places = [place_of(size) for size in rows]
    ours = numbers(lookup(row, "bcubed", "f1") for row in rows.values())
    best = numbers(lookup(row, "oracle_f1") for row in rows.values())
    axes.fill_between(places, ours, best, color=ORANGE, alpha=0.25, linewidth=0)
    axes.plot(places, best, color=ORANGE, linewidth=1.2, marker="D", markersize=3, label="best possible stop")
    axes.plot(places, ours, color=INK, linewidth=1.6, marker="o", markersize=3.4, label="our stop")
    _interval_lines(axes, places, list(rows.values()))
    axes.set_title(figure_label(title), fontsize=8.5, loc="left")
    grid_only(axes)


def _lowest_stop(runs: Sequence[RunResults]) -> float:
    rows = [row for run in runs for row in by_size(run).values()]
    values = [
        value for row in rows for value in (row["bcubed"]["f1"], *interval_of(row["bcubed"])) if value is not None
    ]
    return max(0.0, floor(min(values, default=0.0) * 20 - 0.2) / 20)


def overview_picture(study: StudyResults) -> Picture:
    """The mean F1 of every run, weightings in the order of their better variant, and of the baselines."""
    lines = overview_lines(study)
    size = (5.2, 1.0 + 0.235 * max(2, len(lines)))
    title = "Mean F1 over the true sizes 1 to 10, on test names"
    return Picture("overview", title, size, partial(_draw_overview, lines=lines))


class Point(NamedTuple):
    """A dot of the overview: variant or baseline, F1, and its interval."""

    kind: str
    f1: float
    low: float
    high: float


def overview_lines(study: StudyResults) -> list[tuple[str, list[Point]]]:
    """The lines of the overview, best first, baselines last: a label, and a dot for each run of the weighting."""
    lines: dict[str, list[Point]] = {}
    for run in runs_and_baselines(study):
        if (point := _point(run)) is not None:
            lines.setdefault(_line_label(run), []).append(point)
    return sorted(lines.items(), key=lambda line: (line[1][0].kind == "baseline", -max(dot.f1 for dot in line[1])))


def _point(run: RunResults) -> Point | None:
    mean = run["test"].get("mean_over_sizes")
    if (f1 := lookup(mean, "f1")) is None:
        return None
    low, high = interval_of(mean)
    return Point(run.get("variant", "baseline"), f1, f1 if low is None else low, f1 if high is None else high)


def _line_label(run: RunResults) -> str:
    if "variant" not in run:
        return figure_label(run["title"])
    marks = ["within"] * (run["scope"] == "within") + ["joint"] * bool(run["joint"])
    marks += [f"γ = {run['gamma']:g}"] * bool(run["gamma"])
    return figure_label(", ".join([run["weights"], *marks]))


# Colour, marker and vertical shift of a dot.
DOTS: Mapping[str, tuple[str, str, float]] = {
    "prob": (BLUE, "o", -0.14),
    "max": (ORANGE, "s", 0.14),
    "baseline": (GREY, "D", 0.0),
}


def _draw_overview(figure: Figure, lines: Sequence[tuple[str, list[Point]]]) -> None:
    axes = figure.add_subplot()
    for kind, (colour, marker, shift) in DOTS.items():
        dots = [(y + shift, dot) for y, (_, line) in enumerate(lines) for dot in line if dot.kind == kind]
        if not dots:
            continue
        heights = [y for y, _ in dots]
        axes.hlines(heights, [dot.low for _, dot in dots], [dot.high for _, dot in dots], color=colour, linewidth=1.2)
        look: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": "none", "markersize": 4.4}
        axes.plot([dot.f1 for _, dot in dots], heights, label=kind, **look)
    _overview_axes(axes, lines)
    if lines:
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False, fontsize=8, borderpad=0.1)


def _overview_axes(axes: Axes, lines: Sequence[tuple[str, list[Point]]]) -> None:
    for y, (_, line) in enumerate(lines):
        if line[0].kind == "baseline":
            axes.plot([line[0].f1] * 2, [-0.6, y], color=GREY, linewidth=0.9, linestyle=DASHED, zorder=0)
    axes.set_yticks(range(len(lines)), [label for label, _ in lines])
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.set_xlabel("B-cubed F1, mean over the true sizes 1 to 10")
    grid_only(axes, "both")
    if not lines:
        axes.text(0.5, 0.5, "no run has a name with 10 authors or fewer", transform=axes.transAxes, ha="center")
