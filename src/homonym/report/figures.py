"""The figures of an evaluation as SVG text, made to be inlined: reproducible bytes and real text."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import TYPE_CHECKING, Any

from homonym.evaluation.assessment import LARGEST_SHOWN, Evaluation, TrueSize
from homonym.evaluation.trust import Trust
from homonym.report.drawing import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    Label,
    drawing,
    empty_figure,
    label_ends,
    name_counts,
    svg_element,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST_CIRCLE = 400.0
"""The area, in square points, of the circle of a bin that has all mentions."""


def results_by_true_size(evaluation: Evaluation | Mapping[str, Any]) -> str:
    """Draw B-cubed precision, recall and F1 against the true number of authors, with the one-cluster baseline."""
    rows = _shown(evaluation)
    with drawing() as (figure, axes):
        lines = _result_lines(axes, rows)
        lowest = min((value for values in lines.values() for value in values), default=0.0)
        bottom = min(0.8, max(0.0, floor(lowest * 10 - 0.2) / 10))
        axes.set_ylim(bottom, 1.02)
        axes.set_yticks([tenth / 10 for tenth in range(10, round(bottom * 10) - 1, -1 if bottom > 0.4 else -2)])
        axes.set_ylabel(f"B-cubed (axis from {bottom:.1f} to 1)")
        label_ends(axes, {label: values[-1] for label, values in lines.items() if values})
        _size_axis(axes, rows)
        return svg_element(figure, "homonym-results", "B-cubed precision, recall and F1 by true number of authors")


def clusters_by_true_size(evaluation: Evaluation | Mapping[str, Any]) -> str:
    """Draw how many people are found per name, on average, against how many there are."""
    rows = _shown(evaluation)
    with drawing() as (figure, axes):
        sizes, found = list(rows), [row.mean_clusters for row in rows.values()]
        axes.plot(sizes, sizes, color=GREY, linewidth=1.2, linestyle=(0, (4, 3)))
        axes.plot(sizes, found, color=INK, linewidth=1.6, marker="o", markersize=4)
        axes.set_ylim(0, 1.06 * max([*sizes, *found, 1]))
        axes.set_ylabel("people found per name (mean)")
        if rows:
            label_ends(axes, {("found", INK): found[-1], ("as many as there are", GREY): float(sizes[-1])})
        _size_axis(axes, rows)
        return svg_element(figure, "homonym-clusters", "Mean number of people found by true number of authors")


def true_confidence(found: Trust) -> str:
    """Draw the share that is right against the stated confidence, a circle for each bin, as large as its mentions."""
    drawn = {("mentions", BLUE): found, ("authors", ORANGE): found.authors}
    shown = {label: part for label, part in drawn.items() if part}
    with empty_figure((4.8, 3.5)) as figure:
        axes = figure.add_subplot()
        _square(axes, min(min(row.stated, row.true) for part in shown.values() for row in part.bins))
        axes.axline((1, 1), slope=1, color=GREY, linewidth=1.2, linestyle=(0, (4, 3)))
        for (_, colour), part in shown.items():
            _circles(axes, part, colour)
        ends = {label: part.bins[-1].true for label, part in shown.items()}
        label_ends(axes, {("as stated", GREY): 1.0, **ends})
        return svg_element(figure, "homonym-confidence", "Share of mentions that are right by stated confidence")


def _square(axes: Axes, lowest: float) -> None:
    """Give both axes the same scale, from some tenth below the lowest share to 1."""
    bottom = min(0.8, max(0.0, floor(lowest * 10 - 0.2) / 10))
    steps = range(20, round(bottom * 20) - 1, -1 if bottom > 0.7 else -2 if bottom > 0.4 else -4)
    room = 0.03 * (1 - bottom)
    axes.set(
        xlim=(bottom - room, 1 + room),
        ylim=(bottom - room, 1 + room),
        xticks=[step / 20 for step in steps],
        yticks=[step / 20 for step in steps],
        xlabel=f"stated confidence (axis from {bottom:.1f} to 1)",
        ylabel=f"share that is right (axis from {bottom:.1f} to 1)",
        aspect="equal",
        axisbelow=True,
    )
    axes.tick_params(length=0)
    axes.grid()


def _circles(axes: Axes, found: Trust, colour: str) -> None:
    """Draw the bins, joined by a line so that their order is seen."""
    stated, true = [part.stated for part in found.bins], [part.true for part in found.bins]
    areas = [LARGEST_CIRCLE * part.mentions / found.mentions for part in found.bins]
    axes.plot(stated, true, color=colour, linewidth=0.8, alpha=0.5)
    axes.scatter(stated, true, areas, color=colour, alpha=0.7, linewidth=0, clip_on=False, zorder=3)


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
    name_counts(axes, {size: row.names for size, row in rows.items()})
    if not rows:
        axes.text(0.5, 0.5, f"no name has {LARGEST_SHOWN} authors or fewer", transform=axes.transAxes, ha="center")


def _shown(evaluation: Evaluation | Mapping[str, Any]) -> dict[int, TrueSize]:
    found = evaluation if isinstance(evaluation, Evaluation) else Evaluation.from_dict(evaluation)
    return {size: row for size, row in sorted(found.by_true_size.items()) if size <= LARGEST_SHOWN}
