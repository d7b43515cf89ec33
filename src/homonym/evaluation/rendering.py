"""Evaluations for readers: the rows of tables with their meanings, sentences, and the tables of the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from homonym.errors import counted
from homonym.evaluation.assessment import MEAN_OVER_SIZES, Comparison, Evaluation, TrueSize
from homonym.evaluation.gold import unused_labels
from homonym.evaluation.reliability import Reliability
from homonym.measures.agreement import KMetric, Scores
from homonym.measures.bootstrap import LARGEST_SHOWN, Interval

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


@dataclass(frozen=True)
class OverallRow:
    """One overall measure: its values, those of the baselines, and its meaning in a sentence.

    `value` is F1, K or an error, over mentions; `over_names` is the mean over names. Errors have no precision and no
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
        "For an average mention: the share of its cluster that is by the same author, and the share of the author's "
        "mentions in that cluster.",
    ),
    "pairwise": (
        "pairs",
        "The share of the pairs of mentions put together that belong together, and the share of the pairs that belong "
        "together that were put together.",
    ),
    "pairwise_with_self": (
        "pairs with self",
        "The same, but each mention also pairs with itself, as some papers count.",
    ),
    "cluster_level": (
        "exact clusters",
        "The share of clusters that are exactly one author, complete and without anyone else, and the share of authors "
        "that have such a cluster.",
    ),
    "k_metric": (
        "K-metric",
        "Purity of clusters and purity of authors, which are B-cubed precision and recall; the column F1 shows K, the "
        "square root of their product.",
    ),
    "splitting_error": (
        "splitting error",
        "The share of mentions outside the cluster that holds most mentions of their author; 0 is best.",
    ),
    "lumping_error": (
        "lumping error",
        "The share of mentions in those clusters that belong to another author; 0 is best.",
    ),
}
"""The label of each measure and its meaning, for readers who do not know the paper."""

ACROSS_NAMES = (
    "B-cubed across names",
    "What a user gets: an author with two names should be one cluster. The difference from plain B-cubed "
    "is what grouping by name loses.",
)


def overall_rows(found: Evaluation) -> list[OverallRow]:
    """Every overall measure with its interval, its mean over names, and the values of the baselines.

    What a user gets comes first; the other measures are within names, as in the paper.
    """
    across = found.bcubed_across_names
    within = [_overall_row(found, key, *words) for key, words in MEANINGS.items()]
    return [OverallRow(*ACROSS_NAMES, across.f1, across.precision, across.recall), *within]


def _overall_row(found: Evaluation, key: str, label: str, meaning: str) -> OverallRow:
    value, *others = (
        getattr(part, key) for part in (found, found.macro, found.baseline_one_cluster, found.baseline_singletons)
    )
    precision, recall = (None, None) if isinstance(value, float) else list(value.as_dict().values())[:2]
    return OverallRow(
        label, meaning, _single(value), precision, recall, known_interval(found, f"{key}_f1"), *map(_single, others)
    )


def known_interval(found: Evaluation, key: str) -> Interval | None:
    """An interval of the evaluation; None for a single name, where resampling names has no effect."""
    return found.intervals.get(key) if found.names > 1 else None


def _single(value: float | Scores | KMetric) -> float:
    """The single number of a measure: F1, K, or the error itself."""
    if isinstance(value, Scores):
        return value.f1
    return value.k if isinstance(value, KMetric) else value


def summary(found: Evaluation | Comparison) -> str:
    """What was compared and what was left out.

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
    """Which labels could not be used, and whether names are unknown."""
    parts = unused_labels(found.gold_lines_skipped, found.mentions_with_several_labels)
    unknown = "no file says which mentions share a name, so everything counts as one name"
    return parts + ([] if found.names_known else [unknown])


def render_table(found: Evaluation | Comparison) -> RenderableType:
    """An evaluation for the terminal, overall and by true size; several results are shown side by side."""
    from rich.console import Group
    from rich.text import Text

    if isinstance(found, Comparison):
        tables = (_comparison_table(found), _comparison_by_size(found))
    else:
        tables = (_overall_table(found), _size_table(found))
    return Group(Text(summary(found)), *tables, *map(Text, reliability_lines(found)))


def reliability_lines(found: Evaluation | Comparison) -> list[str]:
    """The reliability of confidence, a line for each result that states it, and one for its lone mentions if any."""
    results = (
        {f" of {label}": one for label, one in found.results.items()} if isinstance(found, Comparison) else {"": found}
    )
    lines = []
    for of_result, one in results.items():
        if one.confidence:
            lines.append(f"confidence{of_result}: {reliability_text(one.confidence, one.mentions)}")
            if lone := one.confidence.lone:
                text = f"{counted(lone.mentions, 'mention')}, correct if the person has no other labelled mention"
                lines.append(f"lone mentions{of_result}: {text}; {reliability_text(lone)}")
    return lines


def reliability_text(found: Reliability, labelled: int = 0) -> str:
    """The reliability of confidence in one line; `labelled` is the number of labelled mentions, if it may be larger.

    >>> from homonym.evaluation.reliability import Bin
    >>> reliability_text(Reliability((Bin(10, 0.9, 0.8), Bin(10, 1.0, 1.0))), labelled=20)
    'stated 0.950, correct 0.900; expected calibration error 0.050, largest 0.100, over 2 bins'
    """
    without = max(0, labelled - found.mentions)
    return (
        f"stated {figure(found.stated)}, correct {figure(found.true)}; expected calibration error "
        f"{figure(found.mean_error)}, largest {figure(found.largest_error)}, over {counted(len(found.bins), 'bin')}"
        + (f"; {counted(without, 'mention')} without confidence left out" if without else "")
    )


def _overall_table(found: Evaluation) -> RenderableType:
    columns = ("measure", "preci-\nsion", "recall", "F1", "95 %", "over\nnames", "one per\nname", "all\napart")
    table = empty_table("Over all labelled mentions", columns)
    table.caption = (
        "95 %: interval from resampled names. Over names: mean over names instead of mentions. One per name, all "
        "apart: baselines."
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
    """F1 averaged over the true sizes up to 10, each counting the same, as a sentence; None if there is none.

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
        *("result", "P", "R", "F1\n95 %", "pair\nF1", "sizes'\nmean", "authors\nfound"),
        "F1 - first F1\n95 %",
    )
    table = empty_table("B-cubed (P, R, F1) over all labelled mentions that every result has", columns)
    table.caption = (
        f"True number of authors: {found.first.people:,}. Sizes' mean: F1 averaged over true sizes 1 to "
        f"{LARGEST_SHOWN}. 95 %: interval from resampled names, the same names for every result."
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
    """A value, and its interval on a second line."""
    return f"{value}\n{interval_text(known)}".rstrip()


@dataclass(frozen=True)
class ComparedRow:
    """One of several results, with its difference from the first result; the first has no difference."""

    label: str
    found: Evaluation
    difference: float | None
    interval: Interval | None


def comparison_rows(found: Comparison) -> list[ComparedRow]:
    """Each result with its difference from the first."""
    several = found.first.names > 1
    differences = {
        label: (one.bcubed_f1, one.interval if several else None) for label, one in found.differences.items()
    }
    return [ComparedRow(label, one, *differences.get(label, (None, None))) for label, one in found.results.items()]


def sizes_side_by_side(found: Comparison) -> list[tuple[str, TrueSize, list[TrueSize]]]:
    """The rows by true size: the size, the row of the first result, and the rows of all results."""
    folded = [one.folded() for one in found.results.values()]
    return [(size, row, [rows[size] for rows in folded]) for size, row in folded[0].items()]


def _comparison_by_size(found: Comparison) -> RenderableType:
    table = empty_table("B-cubed F1 by true number of authors", ("true\nauthors", "names", *found.results))
    for size, row, rows in sizes_side_by_side(found):
        table.add_row(size, f"{row.names:,}", *(figure(one.bcubed.f1) for one in rows))
    return table


def empty_table(title: str, columns: Sequence[str]) -> Table:
    """A table without rows for the terminal: the first column holds text, the others numbers."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", caption_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i else "left", overflow="fold")
    return table


def figure(value: float | None) -> str:
    """Write a number with three digits; empty for None.

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
    # A dash next to a minus sign would be misread.
    return ("–" if known[0] >= 0 else " to ").join(map(figure, known))


def size_interval(row: TrueSize) -> str:
    """Write the interval of a true size; a dash for a single name, where resampling has no effect."""
    return interval_text(row.bcubed_f1_interval) if row.names > 1 else "–"
