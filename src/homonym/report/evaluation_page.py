"""HTML pages about an evaluation: one result against known authors, or several results side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from homonym.errors import counted
from homonym.evaluation.assessment import MEAN_OVER_SIZES, Comparison, Evaluation, NameResult, TrueSize
from homonym.evaluation.reliability import BINS, LEAST_SHARE, Reliability
from homonym.evaluation.rendering import (
    comparison_rows,
    known_interval,
    not_used,
    overall_rows,
    reliability_lines,
    sizes_side_by_side,
)
from homonym.io.outputs import write_atomic
from homonym.measures.bootstrap import LARGEST_SHOWN, Interval
from homonym.report.figures import clusters_by_true_size, reliability_diagram, results_by_true_size
from homonym.report.page import NAME_LENGTH, PageFigure, Section, Table, dotted, percent, render_template, shortened

TITLE = "How well authors of the same name are told apart"
COMPARISON_TITLE = "How well results tell authors of the same name apart"


def write_report(
    evaluation: Evaluation | Mapping[str, Any],
    path: Path | str,
    *,
    title: str = TITLE,
    settings: Mapping[str, object] | None = None,
    sections: Sequence[Section] = (),
    worst: Sequence[NameResult] = (),
) -> None:
    """Write the page about an evaluation atomically; `sections` follow the measures, `worst` names are listed."""
    page = render_page(evaluation, title=title, settings=settings, sections=sections, worst=worst)
    write_atomic(Path(path), page)


def render_page(
    evaluation: Evaluation | Mapping[str, Any],
    *,
    title: str = TITLE,
    settings: Mapping[str, object] | None = None,
    sections: Sequence[Section] = (),
    worst: Sequence[NameResult] = (),
) -> str:
    """The page about an evaluation as HTML."""
    found = evaluation if isinstance(evaluation, Evaluation) else Evaluation.from_dict(evaluation)
    view = {
        "title": title,
        "lead": _lead(found),
        "headlines": _headlines(found),
        "mean_sentence": _mean_sentence(found),
        "sizes_figure": PageFigure(results_by_true_size(found), _sizes_caption(found)),
        "sizes": Table(SIZE_HEADER, [_size_row(size, row) for size, row in found.folded().items()]),
        "clusters_figure": PageFigure(clusters_by_true_size(found), _clusters_caption(found)),
        "worst": Table(WORST_HEADER, [_worst_row(row) for row in worst]),
        "reliability": _reliability(found.confidence, found.mentions) if found.confidence else None,
        "measures": _measures(found),
        "meanings": [f"{row.label}: {row.meaning}" for row in overall_rows(found)],
        "sections": sections,
        "settings": _settings_table(settings),
        "compared": _compared(found),
    }
    return render_template("evaluation.html.j2", view)


def write_comparison(comparison: Comparison, path: Path | str, *, settings: Mapping[str, object] | None = None) -> None:
    """Write the page about several results atomically."""
    write_atomic(Path(path), render_comparison(comparison, settings=settings))


def render_comparison(
    comparison: Comparison, *, title: str = COMPARISON_TITLE, settings: Mapping[str, object] | None = None
) -> str:
    """The page about several results as HTML."""
    people = f"{comparison.first.people:,} {'person' if comparison.first.people == 1 else 'people'}"
    view = {
        "title": title,
        "lead": _comparison_lead(comparison),
        "people_sentence": f"The true number of authors is {people}, counted separately for each name.",
        "results": _results_side_by_side(comparison),
        "sizes": _compared_sizes(comparison),
        "measures": _compared_measures(comparison),
        "meanings": [f"{row.label}: {row.meaning}" for row in overall_rows(comparison.first)],
        "reliability_lines": reliability_lines(comparison),
        "settings": _settings_table(settings),
        "compared": _compared_by_all(comparison),
    }
    return render_template("comparison.html.j2", view)


def _settings_table(settings: Mapping[str, object] | None) -> Table:
    return Table(("setting", "value"), list(dotted(settings or {})))


# One result.


def _lead(found: Evaluation) -> str:
    """What was compared, and whether the result beats the baseline."""
    baseline = found.baseline_one_cluster.bcubed.f1
    verdict = "better than" if found.bcubed.f1 > baseline else "no better than"
    return (
        f"The result was compared with {counted(found.mentions, 'mention')} of {counted(found.names, 'name')} whose "
        f"authors are known. With a B-cubed F1 of {percent(found.bcubed.f1)}{_spread(found, 'bcubed_f1')} it is "
        f"{verdict} the baseline, which takes all mentions of a name for one person ({percent(baseline)})."
    )


def _spread(found: Evaluation, key: str) -> str:
    """An interval in brackets; empty if it is unknown."""
    interval = known_interval(found, key)
    return f" (95 % interval {percent_interval(interval)})" if interval else ""


def percent_interval(interval: Interval | None) -> str:
    r"""Write an interval of shares; empty if there is none.

    >>> percent_interval((0.712, 0.7451)), percent_interval(None)
    ('71.2\xa0% to 74.5\xa0%', '')
    """
    return " to ".join(map(percent, interval)) if interval else ""


def _headlines(found: Evaluation) -> list[tuple[str, str]]:
    """The main numbers, all of one family of measures, each with a sentence that explains it."""
    return [
        (
            percent(found.bcubed.precision),
            "of the cluster of a mention are the same person, on average (B-cubed precision).",
        ),
        (
            percent(found.bcubed.recall),
            "of the mentions of its person are in that cluster, on average (B-cubed recall).",
        ),
        (
            percent(found.bcubed.f1),
            "is both in one number (B-cubed F1); the baseline reaches "
            f"{percent(found.baseline_one_cluster.bcubed.f1)}.",
        ),
    ]


def _mean_sentence(found: Evaluation) -> str:
    mean = found.mean_over_true_sizes_1_to_10
    if mean is None:
        return ""
    sizes = f"Averaged over the true sizes 1 to {LARGEST_SHOWN} that occur"
    return f"{sizes}, F1 is {percent(mean)}{_spread(found, MEAN_OVER_SIZES)}."


def _sizes_caption(found: Evaluation) -> str:
    return (
        "B-cubed precision and recall, averaged over the names of each true size; F1 is computed from these averages. "
        f"The dashed and dotted lines show the baseline. {_not_in_figure(found)}"
    )


def _clusters_caption(found: Evaluation) -> str:
    return (
        "Number of authors found per name, averaged over the names of each true size. Above the dashed line authors "
        f"are split, below it different authors are merged. {_not_in_figure(found)}"
    )


def _not_in_figure(found: Evaluation) -> str:
    beyond = [row.names for size, row in found.by_true_size.items() if size > LARGEST_SHOWN]
    if not beyond:
        return ""
    return f"Not in the figure: {counted(sum(beyond), 'name')} with more than {LARGEST_SHOWN} authors."


# F1 comes first, next to the baseline it has to beat, because a phone shows the first columns only.
SIZE_HEADER = (
    *("true authors", "names", "F1", "baseline F1", "95 % interval of F1", "precision", "recall"),
    *("pair F1 with self", "exact cluster F1", "all apart F1", "authors found"),
)


def _size_row(size: str, row: TrueSize) -> tuple[str, ...]:
    scores = (
        row.bcubed.precision,
        row.bcubed.recall,
        row.pairwise_with_self.f1,
        row.cluster_level.f1,
        row.baseline_singletons.f1,
    )
    f1 = (percent(row.bcubed.f1), percent(row.baseline_one_cluster.f1))
    interval = percent_interval(row.bcubed_f1_interval) if row.names > 1 else "unknown"
    return size, f"{row.names:,}", *f1, interval, *map(percent, scores), f"{row.mean_clusters:.1f}"


# Maximum number of names that are listed.
WORST_NAMES = 20
WORST_HEADER = ("name", "mentions", "true authors", "authors found", "precision", "recall", "F1")


def _worst_row(row: NameResult) -> tuple[str, ...]:
    counts = (f"{number:,}" for number in (row.mentions, row.people, row.found))
    name = shortened(row.name, NAME_LENGTH)
    return name, *counts, *map(percent, (row.bcubed.precision, row.bcubed.recall, row.bcubed.f1))


def _reliability(found: Reliability, labelled: int) -> dict[str, Any]:
    """Stated confidence against the observed share of correct mentions: a sentence, the diagram, and the bins."""
    caption = (
        f"Mentions in {BINS} bins of about equal size by stated confidence (fewer if many have the same confidence). "
        "Each circle is a bin; its area shows the number of mentions. On the dashed line, confidence is perfectly "
        "calibrated; above it the result is better than stated, below it worse. The table is about mentions."
    )
    rows = [
        (percent(part.stated), percent(part.true), points(part.true - part.stated), f"{part.mentions:,}")
        for part in found.bins
    ]
    return {
        "summary": _calibration_sentences(found, labelled),
        "figure": PageFigure(reliability_diagram(found), caption),
        "bins": Table(("stated confidence", "observed correct", "difference", "mentions"), rows),
    }


def _calibration_sentences(found: Reliability, labelled: int) -> str:
    text = (
        f"On average, the stated confidence is {percent(found.stated)}, and {percent(found.true)} of the mentions are "
        f"correct. The expected calibration error is {100 * found.mean_error:.1f} percentage points. The largest error "
        f"of a bin with at least {percent(LEAST_SHARE)} of the mentions is {100 * found.largest_error:.1f}."
    )
    if authors := found.authors:
        text += (
            " For the confidence of authors, the mean over their mentions, these errors are "
            f"{100 * authors.mean_error:.1f} and {100 * authors.largest_error:.1f}."
        )
    if lone := found.lone:
        text += (
            f" Of {counted(lone.mentions, 'lone mention')}, the mean stated confidence is {percent(lone.stated)}; for "
            f"{percent(lone.true)} nothing is missing; the expected calibration error is "
            f"{100 * lone.mean_error:.1f}."
        )
    without = labelled - found.mentions
    return text + (f" {counted(without, 'mention')} without a confidence: left out." if without else "")


def _measures(found: Evaluation) -> Table:
    """Every overall measure with its interval and both baselines."""
    header = ("measure", "precision", "recall", "F1", "95 % interval", "over names", "baseline", "all apart")
    rows = [
        (
            row.label,
            *map(_share, (row.precision, row.recall, row.value)),
            percent_interval(row.interval),
            *map(_share, (row.over_names, row.one_cluster, row.all_apart)),
        )
        for row in overall_rows(found)
    ]
    return Table(header, rows)


def _share(value: float | None) -> str:
    return "" if value is None else percent(value)


def points(value: float) -> str:
    """Write a difference of shares in percentage points.

    >>> points(0.0123), points(-0.2)
    ('+1.2', '-20.0')
    """
    return f"{100 * value:+.1f}"


def _compared(found: Evaluation) -> list[str]:
    """What was compared and what was left out."""
    return [
        f"{counted(found.mentions, 'mention')} with a known author, under {counted(found.names, 'name')}: all numbers "
        "are about these.",
        f"{counted(found.mentions_without_label, 'mention')} of the result without a label: left out.",
        f"{counted(found.labels_without_mention, 'label')} whose mention is missing from the result: left out.",
        *_unused_labels(found),
    ]


def _unused_labels(found: Evaluation) -> list[str]:
    return [f"{part[0].upper()}{part[1:]}." for part in not_used(found)]


# Several results.


def _comparison_lead(found: Comparison) -> str:
    """What was compared, and which result is best."""
    verb = "was" if len(found.results) == 1 else "were"
    best = max(found.results, key=lambda label: found.results[label].bcubed.f1)
    return (
        f"{counted(len(found.results), 'result')} {verb} compared on the {counted(found.mentions, 'mention')} of "
        f"{counted(found.first.names, 'name')} that all results contain and whose authors are known. {best} has the "
        f"highest B-cubed F1, {percent(found.results[best].bcubed.f1)}. The baseline, which takes all mentions of a "
        f"name for one person, reaches {percent(found.first.baseline_one_cluster.bcubed.f1)}."
    )


def _results_side_by_side(found: Comparison) -> Table:
    header = (
        *("result", "F1", "95 % interval", "minus first", "95 % interval", "precision", "recall", "pair F1"),
        *(f"sizes 1 to {LARGEST_SHOWN}", "authors found"),
    )
    rows = [
        (
            row.label,
            percent(row.found.bcubed.f1),
            percent_interval(known_interval(row.found, "bcubed_f1")),
            "" if row.difference is None else points(row.difference),
            " to ".join(map(points, row.interval)) if row.interval else "",
            percent(row.found.bcubed.precision),
            percent(row.found.bcubed.recall),
            percent(row.found.pairwise.f1),
            _share(row.found.mean_over_true_sizes_1_to_10),
            f"{row.found.people_found:,}",
        )
        for row in comparison_rows(found)
    ]
    return Table(header, rows)


def _compared_sizes(found: Comparison) -> Table:
    rows = [
        (size, f"{row.names:,}", percent(row.baseline_one_cluster.f1), *(percent(one.bcubed.f1) for one in rows))
        for size, row, rows in sizes_side_by_side(found)
    ]
    return Table(("true authors", "names", "baseline", *found.results), rows)


def _compared_measures(found: Comparison) -> Table:
    columns = [overall_rows(one) for one in found.results.values()]
    rows = [(row.label, *(percent(column[i].value) for column in columns)) for i, row in enumerate(columns[0])]
    return Table(("measure", *found.results), rows)


def _compared_by_all(found: Comparison) -> list[str]:
    """What the results were compared on, and what each is missing."""
    lines = [
        f"{counted(found.mentions, 'mention')} with a known author that every result contains, under "
        f"{counted(found.first.names, 'name')}: all numbers are about these."
    ]
    lines += [
        f"{label}: {counted(missing, 'labelled mention')} missing that another result contains; "
        f"{counted(found.results[label].mentions_without_label, 'mention')} without a label left out."
        for label, missing in found.left_out.items()
    ]
    if found.labels_without_mention:
        lines.append(f"{counted(found.labels_without_mention, 'label')} whose mention is in no result: left out.")
    return lines + _unused_labels(found.first)
