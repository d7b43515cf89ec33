"""How figures look and how they are written: the house style, labels, and SVG that is inlined or stands alone.

Lines and text that should follow the page's foreground are drawn in `INK` and become `currentColor`, so that one
figure serves light and dark pages. matplotlib is imported when a figure is drawn, and its global state is not touched.
A `Picture` can also be written as files of its own: dark ink on white, with a heading.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import BytesIO, StringIO
from math import floor
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from homonym.evaluation.assessment import Evaluation, TrueSize
from homonym.evaluation.reliability import Reliability
from homonym.measures.bootstrap import LARGEST_SHOWN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


INK = "#010203"
"""Stands for the page's foreground colour until the SVG is written."""

BLUE, ORANGE, GREY = "#2a85c4", "#d9690f", "#8a8f98"
"""Told apart by colour-blind readers, and readable on white and on near-black."""

FILE_INK, FILE_DPI = "#1c2024", 150
"""How figures in files of their own are written: on white, as large as a page of text wants them."""

LONGEST_LABEL, LONGEST_HEADING, HEADING_SIGNS_PER_INCH = 40, 200, 12.5
"""How many characters are kept of words from the data, and how many of a heading fit into an inch."""

STYLE: Any = {
    "svg.fonttype": "none",
    "text.parse_math": False,
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

Label = tuple[str, str]
"""What a line is called, and its colour."""


def printable(text: str, longest: int = LONGEST_LABEL) -> str:
    r"""Words from the data as a label: on one line, not too long, and nothing that would break an SVG.

    >>> printable("without\n\x00co")
    'without co'
    """
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return plain if len(plain) <= longest else f"{plain[: longest - 1]}…"


@contextmanager
def drawing() -> Iterator[tuple[Figure, Axes]]:
    """Give an empty figure with axes in the house style."""
    with empty_figure((4.8, 3.0)) as figure:
        yield figure, figure.add_subplot()


@contextmanager
def empty_figure(size: tuple[float, float]) -> Iterator[Figure]:
    """Give an empty figure in the house style; matplotlib's settings are put back afterwards."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(), warnings.catch_warnings():
        # Words from the data may be in any script: an SVG leaves the choice of a font to the reader's program.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield Figure(figsize=size, layout="constrained")


def svg_element(figure: Figure, salt: str, title: str) -> str:
    """Write a figure as an <svg> element for a page; ids depend on the salt, so that two figures share a page."""
    element = _bare_svg(figure, salt, title)
    return re.sub(r' (width|height)="[^"]*pt"', "", element, count=2).replace(INK, "currentColor")


def _bare_svg(figure: Figure, salt: str, title: str) -> str:
    """Write a figure as <svg> with its size, without the ids of groups and anything about the time or the program."""
    import matplotlib as mpl

    text = StringIO()
    with mpl.rc_context({"svg.hashsalt": salt}):
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(text, format="svg", transparent=True, metadata=nothing)
    element = text.getvalue()[text.getvalue().index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>\s*", "", element, flags=re.DOTALL)
    element = re.sub(r'<g id="[^"]*"', "<g", element)
    return element.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)


@dataclass(frozen=True)
class Picture:
    """A figure that is drawn when it is needed: into a page, or into files of its own name."""

    name: str
    title: str
    size: tuple[float, float]
    draw: Callable[[Figure], None]

    def element(self) -> str:
        """Draw it as an <svg> element in the colours of the page around it, without a heading."""
        with empty_figure(self.size) as figure:
            self.draw(figure)
            return svg_element(figure, self.name, printable(self.title, LONGEST_HEADING))

    def files(self) -> dict[str, bytes]:
        """Draw it once, with its heading, as the bytes of an SVG and of a PNG file, by suffix."""
        title = printable(self.title, LONGEST_HEADING)
        lines = wrap(title, int(self.size[0] * HEADING_SIGNS_PER_INCH))
        with empty_figure((self.size[0], self.size[1] + 0.1 + 0.16 * len(lines))) as figure:
            figure.suptitle("\n".join(lines), x=0.02, ha="left", fontsize=9.5, fontweight="bold", color=INK)
            self.draw(figure)
            svg = _svg_file(figure, self.name, title)
            figure.set_layout_engine("none")  # everything has its place now; finding it takes most of the time
            return {".svg": svg, ".png": _png_file(figure)}


def _svg_file(figure: Figure, salt: str, title: str) -> bytes:
    svg = _bare_svg(figure, salt, title).replace(INK, FILE_INK)
    paper = '<rect width="100%" height="100%" fill="#ffffff"/>'
    svg = re.sub(r"(<svg[^>]*>)", rf"\1\n {paper}", svg, count=1)
    # Not every reader has the font in which the text was measured.
    svg = svg.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{svg}'.encode()


def _png_file(figure: Figure) -> bytes:
    image = BytesIO()
    figure.savefig(image, format="png", dpi=FILE_DPI, facecolor="white", metadata={"Software": None})
    return image.getvalue()


def label_ends(axes: Axes, ends: Mapping[Label, float]) -> None:
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


def name_counts(axes: Axes, names: Mapping[float, int]) -> None:
    """Name the axis of true sizes and write below each place how many names it stands for."""
    axes.set_xlabel("true number of authors of the name\nin grey: number of names", labelpad=14)
    place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "va": "top"}
    for x, count in names.items():
        axes.annotate(f"{count:,}", (x, 0), (0, -15), color=GREY, fontsize=7, ha="center", **place)


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


def true_confidence(found: Reliability) -> str:
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


def _circles(axes: Axes, found: Reliability, colour: str) -> None:
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
