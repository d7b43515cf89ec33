"""Figures of an explanation: the parts of a score as a waterfall, and the merges of authors as a dendrogram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isinf
from typing import TYPE_CHECKING, Any, NamedTuple

from homonym.errors import counted
from homonym.explanation.explained import ComparedClusters, ExplainedAuthor, ExplainedMention, Explanation, TreeMerge
from homonym.explanation.wording import grouped_parts, multiple, part_text, tree_sizes
from homonym.report.figures import BLUE, GREY, INK, ORANGE, Picture, figure_label, grid_only

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Maximum number of bars for the features of one type, and of mentions in a dendrogram.
BARS_PER_TYPE, DRAWN_MENTIONS = 4, 80
# Share of all evidence up to which a type is drawn as one bar.
SMALLEST = 0.01
# Maximum number of characters of the labels.
BAR_LABEL, LEAF_LABEL = 46, 60
# Inches of a row, and of the space for axes.
ROW, AXES = 0.2, 0.75
WIDTH = 7.0
# Stands for the score of a must-link.
MUST_LINK = 1e300


class Bar(NamedTuple):
    """A bar of a waterfall: its label, where it begins, and its signed length, in multiples of the limit."""

    label: str
    start: float
    length: float


def waterfall_bars(compared: ComparedClusters) -> list[Bar]:
    """The bars of a comparison: the strongest features of each type, the others together, then the rest of the parts.

    A type that matters little is one bar.
    Each begins where the one before ends, so the last one ends at the score.
    """
    rows: list[tuple[str, float]] = []
    highest = sum(abs(part.share) for part in compared.parts)
    for name, parts in grouped_parts(compared).items():
        matters = sum(part.share for part in parts) > SMALLEST * highest
        shown = parts[:BARS_PER_TYPE] if parts[0].kind == "feature" and matters else []
        rows += [(part_text(part), part.share) for part in shown]
        if rest := parts[len(shown) :]:
            label = f"{len(rest)} more {name}" if shown else name
            rows.append((label, sum(part.share for part in rest)))
    bars, end = [], 0.0
    for label, length in rows:
        bars.append(Bar(label, end, length))
        end += length
    return bars


def waterfall(compared: ComparedClusters, title: str) -> Picture:
    """The parts of a score as a waterfall, in multiples of the limit."""
    bars = waterfall_bars(compared)
    return Picture("waterfall", title, (WIDTH, ROW * (len(bars) + 1) + AXES), partial(_draw_waterfall, compared, bars))


def _draw_waterfall(compared: ComparedClusters, bars: Sequence[Bar], figure: Figure) -> None:
    axes = figure.add_subplot()
    total = len(bars)
    for row, bar in enumerate(bars):
        axes.barh(row, bar.length, left=bar.start, height=0.7, color=BLUE if bar.length >= 0 else ORANGE)
        _value(axes, row, max(bar.start, bar.start + bar.length), f"{bar.length:+.3f}")
    axes.barh(total, compared.share, height=0.7, color=GREY)
    _value(axes, total, max(compared.share, 0.0), f"{compared.share:.3f}")
    axes.axvline(1, color=INK, linewidth=1, linestyle="--")
    labels = [figure_label(bar.label, BAR_LABEL) for bar in bars] + ["score"]
    axes.set_yticks(range(total + 1), labels)
    axes.set_ylim(total + 0.6, -0.6)
    axes.set_xlabel(f"multiples of the {compared.limit_name} (dashed)")
    axes.margins(x=0.12)
    grid_only(axes, "x")


def _value(axes: Axes, row: int, x: float, text: str) -> None:
    place: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 7}
    axes.annotate(text, (x, row), (3, 0), **place)


@dataclass(frozen=True)
class Dendrogram:
    """Mentions in the order of the tree, and for each merge both sides and where it is drawn."""

    labels: list[str]
    """The label of each row: a mention, or an author above its mentions."""
    lines: list[tuple[tuple[float, float], tuple[float, float], float]]
    """Row and share of the left side, of the right side, and the share at which they are joined."""
    left_out: int


def dendrogram_of(found: Explanation) -> Dendrogram:
    """The merges of authors, as many as can be drawn. A merge is never drawn left of an earlier one that it contains.

    Scores need not fall from merge to merge, so a merge is drawn at the lowest score on the way to it.
    """
    labels: list[str] = []
    lines: list[tuple[tuple[float, float], tuple[float, float], float]] = []
    left_out = 0
    for author in found.authors:
        merges = [merge for merge in found.merges if merge.author_id == author.author_id]
        if len(labels) + len(author.mentions) > DRAWN_MENTIONS and labels:
            left_out += len(author.mentions)
            continue
        order = _leaf_order(author, merges)
        kept = order[:DRAWN_MENTIONS]
        left_out += len(order) - len(kept)
        mentions = {mention.mention_id: _leaf(mention) for mention in author.mentions}
        labels.append(f"{author.name}, {counted(len(author.mentions), 'mention')}:")
        place: dict[str | int, tuple[float, float]] = {
            one: (float(len(labels) + row), inf) for row, one in enumerate(kept)
        }
        labels += [mentions[one] for one in kept]
        for merge in merges:
            if merge.left in place and merge.right in place:
                left, right = place[merge.left], place[merge.right]
                share = MUST_LINK if merge.share is None else merge.share
                at = min(share, left[1], right[1])
                lines.append((left, right, at))
                place[merge.number] = ((left[0] + right[0]) / 2, at)
    return Dendrogram(labels, lines, left_out)


def _leaf(mention: ExplainedMention) -> str:
    return f"{mention.year or ''} {mention.title or mention.mention_id}"


def _leaf_order(author: ExplainedAuthor, merges: Sequence[TreeMerge]) -> list[str]:
    """The mentions of an author in the order of its tree."""
    if not merges:
        return [mention.mention_id for mention in author.mentions]
    by_number: Mapping[int, TreeMerge] = {merge.number: merge for merge in merges}
    sizes = tree_sizes(merges)
    waiting: list[str | int] = [merges[-1].number]
    found = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            found.append(node)
        else:
            sides = (by_number[node].left, by_number[node].right)
            waiting += sorted(sides, key=lambda side: sizes.get(side, 1))
    return found


def dendrogram(found: Explanation, title: str) -> Picture:
    """The merges of the authors of an explanation as a dendrogram."""
    tree = dendrogram_of(found)
    return Picture("dendrogram", title, (WIDTH, ROW * len(tree.labels) + AXES), partial(_draw_dendrogram, tree))


def _draw_dendrogram(tree: Dendrogram, figure: Figure) -> None:
    axes = figure.add_subplot()
    finite = [at for _, _, at in tree.lines if at < MUST_LINK]
    # Must-links have no score; they and mentions are drawn right of all scores.
    highest = 1.6 * max([2.0, *finite])
    for left, right, at in tree.lines:
        x = min(at, 0.8 * highest)
        ends = [(highest if isinf(side[1]) else min(side[1], 0.8 * highest), side[0]) for side in (left, right)]
        xs, ys = [ends[0][0], x, x, ends[1][0]], [ends[0][1], ends[0][1], ends[1][1], ends[1][1]]
        axes.plot(xs, ys, color=BLUE if at < MUST_LINK else ORANGE, linewidth=1)
    axes.axvline(1, color=INK, linewidth=1, linestyle="--")
    axes.set_xscale("log")
    axes.set_xlim(0.7, highest)
    ticks = [step * 10**power for power in range(12) for step in (1, 3) if step * 10**power < highest]
    axes.set_xticks(ticks[:: 1 + len(ticks) // 6], [f"{tick:,}" for tick in ticks[:: 1 + len(ticks) // 6]])
    axes.minorticks_off()
    axes.set_yticks(range(len(tree.labels)), [figure_label(label, LEAF_LABEL) for label in tree.labels])
    axes.yaxis.tick_right()
    axes.set_ylim(len(tree.labels) - 0.4, -0.6)
    axes.set_xlabel("score in multiples of the limit (dashed)")
    axes.spines["left"].set_visible(False)
    grid_only(axes, "x")


def verdict_title(found: Explanation, compared: ComparedClusters) -> str:
    """The heading of the waterfall."""
    what = "merged" if compared.round is not None else "not merged"
    return f"{found.block}: {what}, score {multiple(compared.share, compared.limit_name)}"
