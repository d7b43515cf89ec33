"""Figures: the common style, SVG for pages and for files, and the figures of an evaluation.

Lines and text in the foreground colour of the page are drawn in `INK`, which becomes `currentColor`, so that one figure
suits light and dark pages. matplotlib is imported when a figure is drawn, and its global settings are not changed.
A `Picture` can also be written to files: dark ink on white, with a heading.
"""

from __future__ import annotations

import re
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import BytesIO, StringIO
from itertools import accumulate
from math import floor
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from unicodedata import east_asian_width

from homonym.evaluation.assessment import Evaluation, TrueSize
from homonym.evaluation.reliability import Reliability
from homonym.measures.bootstrap import LARGEST_SHOWN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Placeholder for the page's foreground colour, replaced when the SVG is written.
INK = "#010203"

# Distinguishable for colour-blind readers, and readable on white and on near-black.
BLUE, ORANGE, GREY = "#2a85c4", "#d9690f", "#8a8f98"

# Letters that are much wider than others.
_WIDE = frozenset("MWmw@%")

# Ink of figures in files, and resolution of PNG files.
FILE_INK, FILE_DPI = "#1c2024", 150

# Maximum number of characters of a label and of a heading with words from the data.
LONGEST_LABEL, LONGEST_HEADING, HEADING_CHARACTERS_PER_INCH = 40, 200, 12.5

# The id of the heading's group in an SVG.
HEADING = "heading"

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
"""The label of a line, and its colour."""


def figure_label(text: str, longest: int = LONGEST_LABEL) -> str:
    r"""Text from the data as a label: on one line, shortened, without characters that would break an SVG.

    `longest` is the number of lower-case letters that have the same width. A label that is too wide would leave no
    space for the figure.

    >>> figure_label("without\n\x00co"), figure_label("Roman coins", 10), figure_label("漢字の題名である", 10)
    ('without co', 'Roman co…', '漢字の題…')
    """
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    ends = list(accumulate(map(_width, plain)))
    if not ends or ends[-1] <= longest:
        return plain
    return f"{plain[: bisect_right(ends, longest - 1)]}…"


def _width(sign: str) -> float:
    """The width of a character, of which 1 is that of most lower-case letters."""
    if sign.isascii():
        return 1.5 if sign in _WIDE else 1.2 if sign.isupper() else 1.0
    return 2.0 if east_asian_width(sign) in "WF" else 1.2


@contextmanager
def drawing() -> Iterator[tuple[Figure, Axes]]:
    """Yield an empty figure with axes in the common style."""
    with empty_figure((4.8, 3.0)) as figure:
        yield figure, figure.add_subplot()


@contextmanager
def empty_figure(size: tuple[float, float]) -> Iterator[Figure]:
    """Yield an empty figure in the common style; matplotlib's settings are restored afterwards."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(), warnings.catch_warnings():
        # Text from the data may be in any script; the viewer of the SVG chooses the font.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield Figure(figsize=size, layout="constrained")


def svg_element(figure: Figure, salt: str, title: str) -> str:
    """The figure as an <svg> element for a page; ids depend on the salt, so that figures can share a page."""
    return _inline(_svg(figure, salt, title))


def _inline(svg: str) -> str:
    """Let a figure take its size and its ink from the page around it."""
    return re.sub(r' (width|height)="[^"]*pt"', "", svg, count=2).replace(INK, "currentColor")


def _svg(figure: Figure, salt: str, title: str) -> str:
    """The figure as an <svg> element with its size, without ids of groups (but for the heading) and metadata."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    text = StringIO()
    canvas: Any = FigureCanvasSVG(figure)
    for patch in (figure.patch, *(axes.patch for axes in figure.axes)):
        patch.set(facecolor="none", edgecolor="none")
    with mpl.rc_context({"svg.hashsalt": salt}):
        # Not `savefig`, which draws everything twice: first without output, to find the layout.
        canvas.print_svg(text, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    element = text.getvalue()[text.getvalue().index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>\s*", "", element, flags=re.DOTALL)
    element = re.sub(rf'<g id="(?!{HEADING}")[^"]*"', "<g", element)
    return element.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)


class DrawnPicture(NamedTuple):
    """A picture in its three forms: for a page (without heading), and as the content of an SVG and a PNG file."""

    element: str
    svg: bytes
    png: bytes


@dataclass(frozen=True)
class Picture:
    """A figure to draw: the name of its files, its heading, its size in inches, and a picklable drawing function."""

    name: str
    title: str
    size: tuple[float, float]
    draw: Callable[[Figure], None]

    def element(self) -> str:
        """Draw the <svg> element for a page only."""
        with self._laid_out() as figure:
            return self._without_heading(self._svg(figure))

    def drawn(self) -> DrawnPicture:
        """Draw all three forms; everything is laid out once, which takes most of the time."""
        with self._laid_out() as figure:
            svg = self._svg(figure)
            return DrawnPicture(self._without_heading(svg), _svg_file(svg), _png_file(figure))

    @contextmanager
    def _laid_out(self) -> Iterator[Figure]:
        with empty_figure((self.size[0], self.size[1] + self._heading_height)) as figure:
            place: dict[str, Any] = {"x": 0.02, "ha": "left", "fontsize": 9.5, "fontweight": "bold", "color": INK}
            figure.suptitle("\n".join(self._heading_lines), **place).set_gid(HEADING)
            self.draw(figure)
            yield figure

    @property
    def _heading_lines(self) -> list[str]:
        return wrap(figure_label(self.title, LONGEST_HEADING), int(self.size[0] * HEADING_CHARACTERS_PER_INCH))

    @property
    def _heading_height(self) -> float:
        return 0.1 + 0.16 * len(self._heading_lines)

    def _svg(self, figure: Figure) -> str:
        return _svg(figure, self.name, figure_label(self.title, LONGEST_HEADING))

    def _without_heading(self, svg: str) -> str:
        """Remove the heading and the space above the figure: the page has headings of its own."""
        svg = re.sub(rf' *<g id="{HEADING}">.*?</g>\n', "", svg, count=1, flags=re.DOTALL)
        width, height = (72 * inches for inches in self.size)
        return re.sub(
            r'viewBox="[^"]*"', f'viewBox="0 {72 * self._heading_height:g} {width:g} {height:g}"', _inline(svg), count=1
        )


def _svg_file(svg: str) -> bytes:
    svg = svg.replace(f'<g id="{HEADING}"', "<g", 1).replace(INK, FILE_INK)
    paper = '<rect width="100%" height="100%" fill="#ffffff"/>'
    svg = re.sub(r"(<svg[^>]*>)", rf"\1\n {paper}", svg, count=1)
    # Not every reader has the font in which the text was measured.
    svg = svg.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{svg}'.encode()


def _png_file(figure: Figure) -> bytes:
    """The figure on white; it must have been laid out already."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure.set_layout_engine("none")
    figure.patch.set(facecolor="white")
    figure.dpi = FILE_DPI
    canvas: Any = FigureCanvasAgg(figure)
    image = BytesIO()
    canvas.print_png(image, metadata={"Software": None})
    return image.getvalue()


def label_ends(axes: Axes, ends: Mapping[Label, float]) -> None:
    """Write each line's label at its right end; labels that would overlap are moved apart."""
    bottom, top = axes.get_ylim()
    places = spread(list(ends.values()), 0.062 * (top - bottom))
    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center"}
    for (text, colour), y in zip(ends, places, strict=True):
        axes.annotate(text, (1, y), (6, 0), color=colour, fontweight="bold" if text == "F1" else "normal", **place)


def spread(values: Sequence[float], gap: float) -> list[float]:
    """Move values apart so that neighbours differ by at least `gap`, keeping their order and mean.

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


def axis_bottom(scores: Iterable[float]) -> float:
    """The lower end of an axis of scores up to 1: a tenth below the lowest score, at most 0.8.

    >>> axis_bottom([0.95, 0.61]), axis_bottom([]), axis_bottom([0.99])
    (0.5, 0.0, 0.8)
    """
    return min(0.8, max(0.0, floor(min(scores, default=0.0) * 10 - 0.2) / 10))


def score_axis(axes: Axes, bottom: float) -> None:
    """Label the vertical axis of B-cubed scores, from `bottom` to 1."""
    axes.set_ylim(bottom, 1.02)
    axes.set_yticks([tenth / 10 for tenth in range(10, round(bottom * 10) - 1, -1 if bottom > 0.4 else -2)])
    axes.set_ylabel(f"B-cubed (axis from {bottom:.1f} to 1)")


def grid_only(axes: Axes, axis: Literal["both", "x", "y"] = "y") -> None:
    """Draw grid lines behind the data instead of tick marks."""
    axes.tick_params(length=0)
    axes.grid(axis=axis)
    axes.set_axisbelow(True)


def name_counts(axes: Axes, names: Mapping[float, int]) -> None:
    """Label the axis of true sizes, and write the number of names below each size."""
    axes.set_xlabel("true number of authors of the name\nin grey: number of names", labelpad=14)
    place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "va": "top"}
    for x, count in names.items():
        axes.annotate(f"{count:,}", (x, 0), (0, -15), color=GREY, fontsize=7, ha="center", **place)


# The area, in square points, of the circle of a bin that holds all mentions.
LARGEST_CIRCLE = 400.0


def results_by_true_size(evaluation: Evaluation | Mapping[str, Any]) -> str:
    """Draw B-cubed precision, recall and F1 against the true number of authors, with the one-cluster baseline."""
    rows = _shown(evaluation)
    with drawing() as (figure, axes):
        lines = _result_lines(axes, rows)
        score_axis(axes, axis_bottom(value for values in lines.values() for value in values))
        label_ends(axes, {label: values[-1] for label, values in lines.items() if values})
        _size_axis(axes, rows)
        return svg_element(figure, "homonym-results", "B-cubed precision, recall and F1 by true number of authors")


def clusters_by_true_size(evaluation: Evaluation | Mapping[str, Any]) -> str:
    """Draw the mean number of authors found per name against the true number."""
    rows = _shown(evaluation)
    with drawing() as (figure, axes):
        sizes, found = list(rows), [row.mean_clusters for row in rows.values()]
        axes.plot(sizes, sizes, color=GREY, linewidth=1.2, linestyle=(0, (4, 3)))
        axes.plot(sizes, found, color=INK, linewidth=1.6, marker="o", markersize=4)
        axes.set_ylim(0, 1.06 * max([*sizes, *found, 1]))
        axes.set_ylabel("authors found per name (mean)")
        if rows:
            label_ends(axes, {("found", INK): found[-1], ("true number", GREY): float(sizes[-1])})
        _size_axis(axes, rows)
        return svg_element(figure, "homonym-clusters", "Mean number of authors found by true number of authors")


def reliability_diagram(found: Reliability) -> str:
    """Draw the observed share of correct mentions against the stated confidence; circles are bins."""
    drawn = {("mentions", BLUE): found, ("authors", ORANGE): found.authors}
    shown = {label: part for label, part in drawn.items() if part}
    with empty_figure((4.8, 3.5)) as figure:
        axes = figure.add_subplot()
        _square(axes, min(min(row.stated, row.true) for part in shown.values() for row in part.bins))
        axes.axline((1, 1), slope=1, color=GREY, linewidth=1.2, linestyle=(0, (4, 3)))
        for (_, colour), part in shown.items():
            _circles(axes, part, colour)
        ends = {label: part.bins[-1].true for label, part in shown.items()}
        label_ends(axes, {("perfect calibration", GREY): 1.0, **ends})
        return svg_element(figure, "homonym-confidence", "Observed share of correct mentions by stated confidence")


def _square(axes: Axes, lowest: float) -> None:
    """Give both axes the same scale, from a tenth below the lowest share to 1."""
    bottom = axis_bottom([lowest])
    steps = range(20, round(bottom * 20) - 1, -1 if bottom > 0.7 else -2 if bottom > 0.4 else -4)
    room = 0.03 * (1 - bottom)
    axes.set(
        xlim=(bottom - room, 1 + room),
        ylim=(bottom - room, 1 + room),
        xticks=[step / 20 for step in steps],
        yticks=[step / 20 for step in steps],
        xlabel=f"stated confidence (axis from {bottom:.1f} to 1)",
        ylabel=f"share correct (axis from {bottom:.1f} to 1)",
        aspect="equal",
        axisbelow=True,
    )
    axes.tick_params(length=0)
    axes.grid()


def _circles(axes: Axes, found: Reliability, colour: str) -> None:
    """Draw the bins, joined by a line that shows their order."""
    stated, true = [part.stated for part in found.bins], [part.true for part in found.bins]
    areas = [LARGEST_CIRCLE * part.mentions / found.mentions for part in found.bins]
    axes.plot(stated, true, color=colour, linewidth=0.8, alpha=0.5)
    axes.scatter(stated, true, areas, color=colour, alpha=0.7, linewidth=0, clip_on=False, zorder=3)


def _result_lines(axes: Axes, rows: Mapping[int, TrueSize]) -> dict[Label, list[float]]:
    """Plot the lines, baselines first so that they are below the others, and return their values."""
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
    """Mark the true sizes, and the number of names of each."""
    last = max(rows, default=1)
    axes.set_xlim(0.7, last + 0.3)
    axes.set_xticks(range(1, last + 1))
    grid_only(axes)
    name_counts(axes, {size: row.names for size, row in rows.items()})
    if not rows:
        axes.text(0.5, 0.5, f"no name has {LARGEST_SHOWN} authors or fewer", transform=axes.transAxes, ha="center")


def _shown(evaluation: Evaluation | Mapping[str, Any]) -> dict[int, TrueSize]:
    found = evaluation if isinstance(evaluation, Evaluation) else Evaluation.from_dict(evaluation)
    return {size: row for size, row in sorted(found.by_true_size.items()) if size <= LARGEST_SHOWN}
