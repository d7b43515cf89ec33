"""The figures of a study: results by true size, all runs in one view, and our stops against the best possible ones.

The course of the clustering has a module of its own, `study_process`. Colour tells the measure (precision blue, recall
orange, F1 in ink), the kind of line tells what was measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import ceil, floor, isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from homonym.io.outputs import write_atomic
from homonym.report.figures import BLUE, GREY, INK, ORANGE, Picture, label_ends, name_counts, printable
from homonym.study.results_view import (
    SHOWN_SIZES,
    Run,
    Study,
    by_size,
    everything,
    found,
    in_order,
    interval_of,
    ordered_runs,
    shown_sizes,
)

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


BEYOND = 11.4
"""Where "11+" stands: a little apart from 10, because it is many sizes."""

PANELS = 8
"""How many runs the figure of stops shows at most."""


class PlotLine(NamedTuple):
    """A line of the figure of results: its label and colour, where its values stand, and how it looks."""

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


def write_figures(study: Study, directory: Path | str) -> list[Path]:
    """Write every figure as SVG and as PNG into a directory, which is made if need be."""
    place = Path(directory)
    place.mkdir(parents=True, exist_ok=True)
    return [path for picture in all_pictures(study) for path in _written(picture, place)]


def _written(picture: Picture, place: Path) -> list[Path]:
    files = {place / f"{picture.name}{suffix}": content for suffix, content in picture.files().items()}
    for path, content in files.items():
        write_atomic(path, content)
    return list(files)


def all_pictures(study: Study) -> Iterator[Picture]:
    """Give every figure of a study: the two views of all runs, then each run's results and its course by true size.

    Of main runs the course is drawn for every size, of the others for a few.
    """
    yield overview_picture(study)
    if study["runs"]:
        yield stopping_picture(study)
    names = run_names(study)
    for run in ordered_runs(study):
        yield results_picture(run, names[run["key"]], lowest_shown(study))
        for size in in_order(run["process"]) if run["main"] else shown_sizes(run, SHOWN_SIZES):
            yield process_picture(run, size, names[run["key"]])


def run_names(study: Study) -> dict[str, str]:
    """A name for files and anchors for each run's key: plain characters only, no two alike.

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


def lowest_shown(study: Study) -> float:
    """Where the axes of results begin: below everything drawn in any run, so that runs can be compared by eye."""
    rows = [row for run in study["runs"] for row in by_size(run).values()]
    values = [value for row in rows for line in LINES if (value := found(row, *line.keys)) is not None]
    return min(0.8, max(0.0, floor(min(values, default=0.0) * 10 - 0.2) / 10))


def results_picture(run: Run, name: str, bottom: float) -> Picture:
    """Results by true size: at our stop, at the best possible one, at the extremes, and of one cluster per name."""
    title = f"Results by true number of authors: {run['title']}"
    return Picture(f"results-{name}", title, (5.2, 3.9), lambda figure: _draw_results(figure, run, bottom))


def _draw_results(figure: Figure, run: Run, bottom: float) -> None:
    axes, rows = figure.add_subplot(), by_size(run)
    places = [place_of(size) for size in rows]
    ends: dict[tuple[str, str], float] = {}
    usual = {"linewidth": 1.3} | ({"marker": "_", "markersize": 9} if len(rows) == 1 else {})  # one point is no line
    for line in LINES:
        values = numbers(found(row, *line.keys) for row in rows.values())
        axes.plot(places, values, color=line.colour, clip_on=False, **{**usual, **line.look})
        if places and not isnan(values[-1]):
            ends[line.label, line.colour] = values[-1]
    _interval_lines(axes, places, list(rows.values()))
    _score_axis(axes, bottom)
    label_ends(axes, ends)
    _size_places(axes, rows)
    name_counts(axes, {place: row["names"] for place, row in zip(places, rows.values(), strict=True)})


def _interval_lines(axes: Axes, places: Sequence[float], rows: Sequence[Mapping[str, Any]]) -> None:
    ends = [interval_of(row["bcubed"]) for row in rows]
    lows, highs = numbers(low for low, _ in ends), numbers(high for _, high in ends)
    axes.vlines(places, lows, highs, color=INK, linewidth=1.0, clip_on=False)


def _score_axis(axes: Axes, bottom: float) -> None:
    axes.set_ylim(bottom, 1.02)
    axes.set_yticks([tenth / 10 for tenth in range(10, round(bottom * 10) - 1, -1 if bottom > 0.4 else -2)])
    axes.set_ylabel(f"B-cubed (axis from {bottom:.1f} to 1)")
    axes.tick_params(length=0)
    axes.grid(axis="y")
    axes.set_axisbelow(True)


def _size_places(axes: Axes, sizes: Mapping[str, Any]) -> None:
    places = [place_of(size) for size in sizes] or [1.0]
    axes.set_xlim(min(places) - 0.3, max(places) + 0.3)
    axes.set_xticks([place_of(size) for size in sizes], list(sizes))


def place_of(size: str) -> float:
    """Where a true size stands on its axis."""
    return BEYOND if size.endswith("+") else float(size)


def numbers(values: Any) -> list[float]:
    """Numbers to be drawn; what is missing leaves a gap."""
    return [nan if value is None else float(value) for value in values]


def stopping_picture(study: Study) -> Picture:
    """F1 at our stop beside F1 at the best possible stop, one panel for each main run."""
    runs = [run for run in ordered_runs(study) if run["main"]] or ordered_runs(study)
    runs = runs[:PANELS]
    size = (5.2, 0.6 + 1.55 * ceil(len(runs) / 2))
    title = "F1 at our stop and at the best possible stop"
    return Picture("stopping", title, size, lambda figure: _draw_stopping(figure, runs))


def _draw_stopping(figure: Figure, runs: Sequence[Run]) -> None:
    panels = figure.subplots(ceil(len(runs) / 2), min(2, len(runs)), sharex=True, sharey=True, squeeze=False).flat
    bottom = _lowest_stop(runs)
    for axes, run in zip(panels, runs, strict=False):
        _stopping_panel(axes, by_size(run), run["title"])
        axes.set_ylim(bottom, 1.0 + 0.04 * (1 - bottom))
    for axes in list(panels)[len(runs) :]:
        axes.remove()
    _size_places(figure.axes[0], dict.fromkeys(in_order({size for run in runs for size in by_size(run)})))
    figure.supxlabel("true number of authors of the name", fontsize=8.5)
    figure.supylabel("B-cubed F1", fontsize=8.5)
    figure.axes[0].legend(frameon=False, fontsize=8)


def _stopping_panel(axes: Axes, rows: Mapping[str, Mapping[str, Any]], title: str) -> None:
    places = [place_of(size) for size in rows]
    ours = numbers(found(row, "bcubed", "f1") for row in rows.values())
    best = numbers(found(row, "oracle_f1") for row in rows.values())
    axes.fill_between(places, ours, best, color=ORANGE, alpha=0.25, linewidth=0)
    axes.plot(places, best, color=ORANGE, linewidth=1.2, marker="D", markersize=3, label="best possible stop")
    axes.plot(places, ours, color=INK, linewidth=1.6, marker="o", markersize=3.4, label="our stop")
    _interval_lines(axes, places, list(rows.values()))
    axes.set_title(printable(title), fontsize=8.5, loc="left")
    axes.tick_params(length=0)
    axes.grid(axis="y")
    axes.set_axisbelow(True)


def _lowest_stop(runs: Sequence[Run]) -> float:
    rows = [row for run in runs for row in by_size(run).values()]
    values = [
        value for row in rows for value in (row["bcubed"]["f1"], *interval_of(row["bcubed"])) if value is not None
    ]
    return max(0.0, floor(min(values, default=0.0) * 20 - 0.2) / 20)


def overview_picture(study: Study) -> Picture:
    """The mean F1 of every run, weightings in the order of their better variant, and of the baselines."""
    lines = overview_lines(study)
    size = (5.2, 1.0 + 0.235 * max(2, len(lines)))
    title = "Mean F1 over the true sizes 1 to 10, on test names"
    return Picture("overview", title, size, lambda figure: _draw_overview(figure, lines))


class Point(NamedTuple):
    """A dot of the overview: whose, where, and from where to where its interval goes."""

    kind: str
    f1: float
    low: float
    high: float


def overview_lines(study: Study) -> list[tuple[str, list[Point]]]:
    """The lines of the overview: label and dots, runs of one weighting together, best first, baselines last."""
    lines: dict[str, list[Point]] = {}
    for run in everything(study):
        if (point := _point(run)) is not None:
            lines.setdefault(_line_label(run), []).append(point)
    return sorted(lines.items(), key=lambda line: (line[1][0].kind == "baseline", -max(dot.f1 for dot in line[1])))


def _point(run: Run) -> Point | None:
    mean = run["test"].get("mean_over_sizes")
    if (f1 := found(mean, "f1")) is None:
        return None
    low, high = interval_of(mean)
    return Point(run.get("variant", "baseline"), f1, f1 if low is None else low, f1 if high is None else high)


def _line_label(run: Run) -> str:
    if "variant" not in run:
        return printable(run["title"])
    marks = ["within"] * (run["scope"] == "within") + ["joint"] * bool(run["joint"])
    marks += [f"γ = {run['gamma']:g}"] * bool(run["gamma"])
    return printable(", ".join([run["weights"], *marks]))


DOTS: Mapping[str, tuple[str, str, float]] = {
    "prob": (BLUE, "o", -0.14),
    "max": (ORANGE, "s", 0.14),
    "baseline": (GREY, "D", 0.0),
}
"""Colour, mark and vertical shift of a dot."""


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
    axes.tick_params(length=0)
    axes.grid(axis="both")
    axes.set_axisbelow(True)
    if not lines:
        axes.text(0.5, 0.5, "no run has a name with 10 authors or fewer", transform=axes.transAxes, ha="center")
