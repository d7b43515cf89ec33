"""Evaluations laid out to be read: which rows there are and what they mean, and the tables of the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from homonym.evaluation.assessment import MEAN_OVER_SIZES, Comparison, Evaluation, TrueSize
from homonym.evaluation.gold import unused_labels
from homonym.evaluation.reliability import Reliability
from homonym.measures.bootstrap import LARGEST_SHOWN, Interval
from homonym.measures.scores import KMetric, Scores
from homonym.messages import counted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


@dataclass(frozen=True)
class OverallRow:
    """One overall measure: its figures, what the baselines reach, and what it means in a sentence.

    `value` is F1, K or an error, over mentions; `over_names` is the mean over names; errors have neither precision nor
    recall.
    """

    label: str
    meaning: str
    value: float
    precision: float | None = None
    recall: float | None = None
    interval: Interval | None = None
    over_names: float | None = None
    one_cluster: float | None = None
    all_apart: float | None = None


MEANINGS = {
    "bcubed": (
        "B-cubed",
        "How much of the group that a mention was put into is the same person, and how much of that person is in it.",
    ),
    "pairwise": (
        "pairs",
        "How many of the pairs of mentions that were put together belong together, and how many of those that belong "
        "together were put together.",
    ),
    "pairwise_with_self": (
        "pairs with self",
        "The same where each mention also pairs with itself, as some papers count.",
    ),
    "cluster_level": (
        "whole people",
        "How many groups are exactly one person, nothing missing and nobody else in it, and how many people have such "
        "a group.",
    ),
    "k_metric": (
        "K-metric",
        "Purity of groups and purity of people, which are B-cubed precision and recall; in the column of F1 stands K, "
        "the root of their product.",
    ),
    "splitting_error": (
        "splitting error",
        "The share of mentions outside the one group that holds most of their person; 0 is best.",
    ),
    "lumping_error": (
        "lumping error",
        "The share of mentions in those groups that are of somebody else; 0 is best.",
    ),
}
"""What each measure is called and what it says, for somebody who has not read the paper."""

ACROSS_NAMES = (
    "B-cubed across names",
    "A person who publishes under two names should be found as one; the difference to plain B-cubed is what grouping "
    "by name loses.",
)


def overall_rows(found: Evaluation) -> list[OverallRow]:
    """Give every overall measure with its interval, its mean over names, and what the baselines reach."""
    rows = [_overall_row(found, key, *words) for key, words in MEANINGS.items()]
    across = found.bcubed_across_names
    return [*rows, OverallRow(*ACROSS_NAMES, across.f1, across.precision, across.recall)]


def _overall_row(found: Evaluation, key: str, label: str, meaning: str) -> OverallRow:
    value, *others = (
        getattr(part, key) for part in (found, found.macro, found.baseline_one_cluster, found.baseline_singletons)
    )
    precision, recall = (None, None) if isinstance(value, float) else list(value.as_dict().values())[:2]
    return OverallRow(
        label, meaning, _single(value), precision, recall, known_interval(found, f"{key}_f1"), *map(_single, others)
    )


def known_interval(found: Evaluation, key: str) -> Interval | None:
    """Give an interval that says something: one name drawn again is the same name, and would look like certainty."""
    return found.intervals.get(key) if found.names > 1 else None


def _single(value: float | Scores | KMetric) -> float:
    """The one figure of a measure: F1, K, or itself."""
    if isinstance(value, Scores):
        return value.f1
    return value.k if isinstance(value, KMetric) else value


def summary(found: Evaluation | Comparison) -> str:
    """Say what was compared and what was not.

    >>> import numpy as np
    >>> from homonym.evaluation.assessment import assess
    >>> summary(assess(np.array([0, 0]), np.array([0, 1]), np.array([0, 0])))
    '2 labelled mentions of 1 name'
    """
    return "; ".join([*_left_out(found), *not_used(found.first if isinstance(found, Comparison) else found)])


def _left_out(found: Evaluation | Comparison) -> list[str]:
    if isinstance(found, Comparison):
        several = f"{counted(found.mentions, 'labelled mention')} that all results have"
        parts = [f"{several}, of {counted(found.first.names, 'name')}"]
        parts += [f"{label} lacks {counted(n, 'labelled mention')}" for label, n in found.left_out.items() if n]
        nowhere, whose = found.labels_without_mention, "no result has"
    else:
        parts = [f"{counted(found.mentions, 'labelled mention')} of {counted(found.names, 'name')}"]
        if found.mentions_without_label:
            parts.append(f"{counted(found.mentions_without_label, 'mention')} without a label left out")
        nowhere, whose = found.labels_without_mention, "the result lacks"
    return parts + ([f"{counted(nowhere, 'label')} whose mention {whose}"] if nowhere else [])


def not_used(found: Evaluation) -> list[str]:
    """Say what of the labels could not be used, and whether names are unknown."""
    parts = unused_labels(found.gold_lines_skipped, found.mentions_with_several_labels)
    unknown = "no file says which mentions share a name, so everything counts as one name"
    return parts + ([] if found.names_known else [unknown])


def render_table(found: Evaluation | Comparison) -> RenderableType:
    """Lay an evaluation out for the terminal, overall and by true size; several stand side by side."""
    from rich.console import Group
    from rich.text import Text

    if isinstance(found, Comparison):
        tables = (_comparison_table(found), _comparison_by_size(found))
    else:
        tables = (_overall_table(found), _size_table(found))
    return Group(Text(summary(found)), *tables, *map(Text, confidence_lines(found)))


def confidence_lines(found: Evaluation | Comparison) -> list[str]:
    """Say of each result that states a confidence how true that is."""
    if isinstance(found, Comparison):
        return [
            f"confidence of {label}: {trust_text(one.confidence, one.mentions)}"
            for label, one in found.results.items()
            if one.confidence
        ]
    return [f"confidence: {trust_text(found.confidence, found.mentions)}"] if found.confidence else []


def trust_text(found: Reliability, labelled: int) -> str:
    """Say in a line how true confidence is, of so many labelled mentions.

    >>> from homonym.evaluation.reliability import Bin
    >>> trust_text(Reliability((Bin(10, 0.9, 0.8), Bin(10, 1.0, 1.0))), labelled=20)
    'stated 0.950, true 0.900; off by 0.050 on average, 0.100 at most, over 2 bins'
    """
    without = labelled - found.mentions
    return (
        f"stated {figure(found.stated)}, true {figure(found.true)}; off by {figure(found.mean_error)} on average, "
        f"{figure(found.largest_error)} at most, over {counted(len(found.bins), 'bin')}"
        + (f"; {counted(without, 'mention')} without one left out" if without else "")
    )


def _overall_table(found: Evaluation) -> RenderableType:
    columns = ("measure", "preci-\nsion", "recall", "F1", "95 %", "over\nnames", "one per\nname", "all\napart")
    table = empty_table("Over all labelled mentions", columns)
    table.caption = (
        "95 %: names drawn again. Over names: mean of names instead of mentions. One per name, all apart: baselines."
    )
    for row in overall_rows(found):
        figures = (row.precision, row.recall, row.value)
        others = (row.over_names, row.one_cluster, row.all_apart)
        table.add_row(row.label, *map(figure, figures), interval_text(row.interval), *map(figure, others))
    return table


def _size_table(found: Evaluation) -> RenderableType:
    columns = (
        *("true\nauthors", "names", "mean\nfound", "preci-\nsion", "recall", "F1", "95 %"),
        *("pair F1\n+ self", "one per\nname"),
    )
    table = empty_table("B-cubed by true number of authors, averaged over names", columns)
    if (mean := mean_over_sizes(found)) is not None:
        table.caption = mean
    for size, row in found.folded().items():
        scores = (row.bcubed.precision, row.bcubed.recall, row.bcubed.f1)
        others = (row.pairwise_with_self.f1, row.baseline_one_cluster.f1)
        counts = (f"{row.names:,}", f"{row.mean_clusters:.1f}")
        table.add_row(size, *counts, *map(figure, scores), size_interval(row), *map(figure, others))
    return table


def mean_over_sizes(found: Evaluation) -> str | None:
    """Say what F1 is on average over the true sizes up to 10, each counting the same; None if there is none.

    >>> import numpy as np
    >>> from homonym.evaluation.assessment import assess
    >>> mean_over_sizes(assess(np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([0, 1, 2])))
    'F1 averaged over true sizes 1 to 10: 1.000 (95 %: 1.000–1.000)'
    """
    mean, known = found.mean_over_true_sizes_1_to_10, known_interval(found, MEAN_OVER_SIZES)
    if mean is None:
        return None
    spread = f" (95 %: {interval_text(known)})" if known else ""
    return f"F1 averaged over true sizes 1 to {LARGEST_SHOWN}: {figure(mean)}{spread}"


def _comparison_table(found: Comparison) -> RenderableType:
    columns = (
        *("result", "P", "R", "F1\n95 %", "pair\nF1", "sizes'\nmean", "people\nfound"),
        "F1 - first F1\n95 %",
    )
    table = empty_table("B-cubed (P, R, F1) over all labelled mentions that every result has", columns)
    table.caption = (
        f"There are {found.first.people:,} people. Sizes' mean: F1 averaged over true sizes 1 to {LARGEST_SHOWN}. "
        "95 %: names drawn again, the same for every result."
    )
    for row in comparison_rows(found):
        difference = "" if row.difference is None else _over(f"{row.difference:+.3f}", row.interval)
        table.add_row(
            row.label,
            figure(row.found.bcubed.precision),
            figure(row.found.bcubed.recall),
            _over(figure(row.found.bcubed.f1), known_interval(row.found, "bcubed_f1")),
            figure(row.found.pairwise.f1),
            figure(row.found.mean_over_true_sizes_1_to_10),
            f"{row.found.people_found:,}",
            difference,
        )
    return table


def _over(value: str, known: Interval | None) -> str:
    """Write a value over its interval."""
    return f"{value}\n{interval_text(known)}".rstrip()


@dataclass(frozen=True)
class ComparedRow:
    """One result beside others; the first has no difference."""

    label: str
    found: Evaluation
    difference: float | None
    interval: Interval | None


def comparison_rows(found: Comparison) -> list[ComparedRow]:
    """Give each result with its difference to the first."""
    several = found.first.names > 1
    differences = {
        label: (one.bcubed_f1, one.interval if several else None) for label, one in found.differences.items()
    }
    return [ComparedRow(label, one, *differences.get(label, (None, None))) for label, one in found.results.items()]


def sizes_side_by_side(found: Comparison) -> list[tuple[str, TrueSize, list[TrueSize]]]:
    """Give the rows by true size: the size, the first result's row, and that of every result."""
    folded = [one.folded() for one in found.results.values()]
    return [(size, row, [rows[size] for rows in folded]) for size, row in folded[0].items()]


def _comparison_by_size(found: Comparison) -> RenderableType:
    table = empty_table("B-cubed F1 by true number of authors", ("true\nauthors", "names", *found.results))
    for size, row, rows in sizes_side_by_side(found):
        table.add_row(size, f"{row.names:,}", *(figure(one.bcubed.f1) for one in rows))
    return table


def empty_table(title: str, columns: Sequence[str]) -> Table:
    """A table without rows for the terminal: the first column is text, the others are figures."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", caption_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i else "left", overflow="fold")
    return table


def figure(value: float | None) -> str:
    """Write a figure with three digits, and nothing where there is none.

    >>> figure(0.97341), figure(None)
    ('0.973', '')
    """
    return "" if value is None else f"{value:.3f}"


def interval_text(known: Interval | None) -> str:
    """Write an interval.

    >>> interval_text((0.71, 0.7449)), interval_text((-0.01, 0.002)), interval_text(None)
    ('0.710–0.745', '-0.010 to 0.002', '')
    """
    if known is None:
        return ""
    # A dash beside a minus would be read as one.
    return ("–" if known[0] >= 0 else " to ").join(map(figure, known))


def size_interval(row: TrueSize) -> str:
    """Write the interval of a true size; one name drawn again is the same name, which says nothing."""
    return interval_text(row.bcubed_f1_interval) if row.names > 1 else "–"
