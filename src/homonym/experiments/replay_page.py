"""The table and the page of a replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING

from homonym.errors import counted
from homonym.experiments.replay import RANDOM, YEARS, ReplayStep
from homonym.io.outputs import write_atomic
from homonym.io.table_text import csv_text
from homonym.report.figures import BLUE, GREY, INK, ORANGE, axis_bottom, drawing, grid_only, score_axis, svg_element
from homonym.report.page import PageFigure, Table, percent, render_template

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BATCH = "batch"
# Colour and line style of each mode.
STYLES = {"assign": (ORANGE, "-"), "grow": (BLUE, "-"), "rebuild": (GREY, "--"), BATCH: (INK, ":")}
HEADINGS = {YEARS: "Year by year", RANDOM: "In random parts"}


def write_replay_table(steps: Sequence[ReplayStep], path: Path, *, excel: bool = False) -> None:
    """Write all steps as CSV."""
    header = [one.name for one in fields(ReplayStep)]
    write_atomic(path, csv_text([header, *map(astuple, steps)], excel=excel))


def write_replay_page(steps: Sequence[ReplayStep], title: str, path: Path) -> None:
    """Write the page of a replay."""
    orders = [order for order in HEADINGS if any(step.order == order for step in steps)]
    view = {
        "title": f"A living corpus: {title}",
        "lead": _lead(steps),
        "orders": [_order_view(order, [step for step in steps if step.order == order]) for order in orders],
    }
    write_atomic(path, render_template("replay.html.j2", view))


def _lead(steps: Sequence[ReplayStep]) -> str:
    last = steps[-1]
    return f"{counted(last.documents, 'document')} with {counted(last.mentions, 'mention')}, added part by part."


def _order_view(order: str, steps: Sequence[ReplayStep]) -> dict[str, object]:
    last = max(step.step for step in steps)
    final = [step for step in steps if step.step == last]
    return {
        "heading": HEADINGS[order],
        "sentences": list(map(_final_sentence, final)),
        "figure": PageFigure(_figure(steps, order), "B-cubed F1 across names after each part."),
        "table": Table(_HEADER, [_row(step) for step in steps]),
    }


def _final_sentence(step: ReplayStep) -> str:
    return (
        f"{step.mode}: F1 {step.f1:.4f} at the end; {counted(step.wrong_redirects, 'wrong redirect')} in the last "
        f"part, {counted(step.lost, 'mention')} lost."
    )


_HEADER = (
    "part", "documents", "mode", "precision", "recall", "F1", "authors", "ids changed", "redirects", "wrong", "lost",
    "same as batch", "CPU seconds",
)  # fmt: skip


def _row(step: ReplayStep) -> tuple[object, ...]:
    return (
        step.part, f"{step.documents:,}", step.mode, f"{step.precision:.4f}", f"{step.recall:.4f}", f"{step.f1:.4f}",
        f"{step.authors:,}", percent(step.churn), step.redirects, step.wrong_redirects, step.lost,
        "yes" if step.is_batch else "no", f"{step.cpu_seconds:.1f}",
    )  # fmt: skip


def _figure(steps: Sequence[ReplayStep], order: str) -> str:
    with drawing() as (figure, axes):
        _draw(axes, steps)
        return svg_element(figure, f"replay-{order}", "F1 after each part")


def _draw(axes: Axes, steps: Sequence[ReplayStep]) -> None:
    for mode, (colour, line) in STYLES.items():
        own = [step for step in steps if step.mode == mode]
        if own:
            axes.plot([s.documents for s in own], [s.f1 for s in own], color=colour, linestyle=line, label=mode)
    score_axis(axes, axis_bottom(step.f1 for step in steps))
    axes.set_xlabel("documents")
    axes.legend(frameon=False)
    grid_only(axes)
