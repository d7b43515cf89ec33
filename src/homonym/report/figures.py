"""Figures as SVG text, made to be inlined: reproducible bytes, real text, and the colours of the page around them.

Lines and text that should follow the page's foreground are drawn in `INK` and become `currentColor`, so that one
figure serves light and dark pages. matplotlib is imported when a figure is drawn, and its global state is not touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from math import floor
from typing import TYPE_CHECKING, Any

from homonym.evaluation.evaluate import LARGEST_SHOWN, Evaluation, TrueSize

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#010203"
"""Stands for the page's foreground colour until the SVG is written."""

BLUE, ORANGE, GREY = "#2a85c4", "#d9690f", "#8a8f98"
"""Told apart by colour-blind readers, and readable on white and on near-black."""

STYLE: Any = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": GREY,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
}


def results_by_true_size(evaluation: Evaluation | Mapping[str, Any]) -> str:
    """Draw B-cubed precision, recall and F1 against the true number of authors, with the one-cluster baseline."""
    rows = _shown(evaluation)
    with _drawing() as (figure, axes):
        lines = _result_lines(axes, rows)
        lowest = min((value for values in lines.values() for value in values), default=0.0)
        bottom = min(0.8, max(0.0, floor(lowest * 10 - 0.2) / 10))
        axes.set_ylim(bottom, 1.02)
        axes.set_yticks([tenth / 10 for tenth in range(10, round(bottom * 10) - 1, -1 if bottom > 0.4 else -2)])
        axes.set_ylabel(f"B-cubed (axis from {bottom:.1f} to 1)")
        _label_ends(axes, {label: values[-1] for label, values in lines.items() if values})
        _size_axis(axes, rows)
        return _svg(figure, "homonym-results", "B-cubed precision, recall and F1 by true number of authors")


def clusters_by_true_size(evaluation: Evaluation | Mapping[str, Any]) -> str:
    """Draw how many people are found per name, on average, against how many there are."""
    rows = _shown(evaluation)
    with _drawing() as (figure, axes):
        sizes, found = list(rows), [row.mean_clusters for row in rows.values()]
        axes.plot(sizes, sizes, color=GREY, linewidth=1.2, linestyle=(0, (4, 3)))
        axes.plot(sizes, found, color=INK, linewidth=1.6, marker="o", markersize=4)
        axes.set_ylim(0, 1.06 * max([*sizes, *found, 1]))
        axes.set_ylabel("people found per name (mean)")
        if rows:
            _label_ends(axes, {("found", INK): found[-1], ("as many as there are", GREY): float(sizes[-1])})
        _size_axis(axes, rows)
        return _svg(figure, "homonym-clusters", "Mean number of people found by true number of authors")


Label = tuple[str, str]
"""What a line is called, and its colour."""


def _result_lines(axes: Axes, rows: Mapping[int, TrueSize]) -> dict[Label, list[float]]:
    """Plot the lines, baselines first so that they lie below, and give their values."""
    base = [row.baseline_one_cluster for row in rows.values()]
    system = [row.bcubed for row in rows.values()]
    lines = {
        ("baseline precision", GREY): [scores.precision for scores in base],
        ("baseline F1", GREY): [scores.f1 for scores in base],
        ("precision", BLUE): [scores.precision for scores in system],
        ("recall", ORANGE): [scores.recall for scores in system],
        ("F1", INK): [scores.f1 for scores in system],
    }
    looks: list[dict[str, Any]] = [
        {"linestyle": (0, (1.2, 2)), "linewidth": 1.3},
        {"linestyle": (0, (4, 3)), "linewidth": 1.3},
        {"marker": "^", "markersize": 4, "linewidth": 1.3},
        {"marker": "s", "markersize": 3.6, "linewidth": 1.3},
        {"marker": "o", "markersize": 4.2, "linewidth": 2.0},
    ]
    for ((_, colour), values), look in zip(lines.items(), looks, strict=True):
        axes.plot(list(rows), values, color=colour, clip_on=False, **look)
    return lines


def _size_axis(axes: Axes, rows: Mapping[int, TrueSize]) -> None:
    """Mark the true sizes, with the number of names of each below."""
    last = max(rows, default=1)
    axes.set_xlim(0.7, last + 0.3)
    axes.set_xticks(range(1, last + 1))
    axes.tick_params(length=0)
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    axes.set_xlabel("true number of authors of the name\nin grey: number of names", labelpad=14)
    place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "va": "top"}
    for size, row in rows.items():
        axes.annotate(f"{row.names:,}", (size, 0), (0, -15), color=GREY, fontsize=7, ha="center", **place)
    if not rows:
        axes.text(0.5, 0.5, f"no name has {LARGEST_SHOWN} authors or fewer", transform=axes.transAxes, ha="center")


def _label_ends(axes: Axes, ends: Mapping[Label, float]) -> None:
    """Write each line's name at its right end, moved apart where the ends are close."""
    bottom, top = axes.get_ylim()
    places = spread(list(ends.values()), 0.062 * (top - bottom))
    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center"}
    for (text, colour), y in zip(ends, places, strict=True):
        axes.annotate(text, (1, y), (6, 0), color=colour, fontweight="bold" if text == "F1" else "normal", **place)


def spread(values: Sequence[float], gap: float) -> list[float]:
    """Move values apart so that neighbours differ by at least `gap`, keeping their order and each cluster's mean.

    >>> spread([1.0, 1.0, 3.0], 0.5)
    [0.75, 1.25, 3.0]
    """
    order = sorted(range(len(values)), key=lambda i: values[i])
    runs: list[tuple[float, int]] = []  # centre and length of each run of touching labels
    for i in order:
        centre, length = values[i], 1
        while runs and centre - runs[-1][0] < gap * (length + runs[-1][1]) / 2:
            before, more = runs.pop()
            centre, length = (before * more + centre * length) / (more + length), more + length
        runs.append((centre, length))
    places = [centre + gap * (k - (length - 1) / 2) for centre, length in runs for k in range(length)]
    return [place for _, place in sorted(zip(order, places, strict=True))]


def _shown(evaluation: Evaluation | Mapping[str, Any]) -> dict[int, TrueSize]:
    found = evaluation if isinstance(evaluation, Evaluation) else Evaluation.from_dict(evaluation)
    return {size: row for size, row in sorted(found.by_true_size.items()) if size <= LARGEST_SHOWN}


@contextmanager
def _drawing() -> Iterator[tuple[Figure, Axes]]:
    """Give an empty figure in the house style; matplotlib's settings are put back afterwards."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        figure = Figure(figsize=(4.8, 3.0), layout="constrained")
        yield figure, figure.add_subplot()


def _svg(figure: Figure, salt: str, title: str) -> str:
    """Write a figure as an <svg> element; ids depend on the salt only, so that two figures share a page."""
    import matplotlib as mpl

    text = StringIO()
    with mpl.rc_context({"svg.hashsalt": salt}):
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(text, format="svg", transparent=True, metadata=nothing)
    element = text.getvalue()[text.getvalue().index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>\s*", "", element, flags=re.DOTALL)
    element = re.sub(r'<g id="[^"]*"', "<g", element)
    element = re.sub(r' (width|height)="[^"]*pt"', "", element, count=2)
    element = element.replace("<svg", f'<svg role="img" aria-label="{title}"', 1)
    return element.replace(INK, "currentColor")
