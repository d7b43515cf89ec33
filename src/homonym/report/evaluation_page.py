"""One self-contained HTML page about an evaluation, or about several results side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from homonym.evaluation.assessment import MEAN_OVER_SIZES, Comparison, Evaluation, TrueSize
from homonym.evaluation.reliability import BINS, LEAST_SHARE, Reliability
from homonym.evaluation.rendering import (
    comparison_rows,
    confidence_lines,
    known_interval,
    not_used,
    overall_rows,
    sizes_side_by_side,
)
from homonym.io.outputs import write_atomic
from homonym.measures.bootstrap import LARGEST_SHOWN, Interval
from homonym.messages import counted
from homonym.report import html
from homonym.report.figures import clusters_by_true_size, results_by_true_size, true_confidence
from homonym.report.html import Section, html_page, percent

TITLE = "How well authors of the same name are told apart"
COMPARISON_TITLE = "How well results tell authors of the same name apart"


def write_report(
    evaluation: Evaluation | Mapping[str, Any],
    path: Path | str,
    *,
    title: str = TITLE,
    settings: Mapping[str, object] | None = None,
    sections: Sequence[Section] = (),
) -> None:
    """Write the page about an evaluation, whole or not at all; `sections` follow the figures."""
    write_atomic(Path(path), render_page(evaluation, title=title, settings=settings, sections=sections))


def render_page(
    evaluation: Evaluation | Mapping[str, Any],
    *,
    title: str = TITLE,
    settings: Mapping[str, object] | None = None,
    sections: Sequence[Section] = (),
) -> str:
    """Give the page about an evaluation as HTML."""
    found = evaluation if isinstance(evaluation, Evaluation) else Evaluation.from_dict(evaluation)
    parts = [by_true_size(found), clusters_found(found)]
    if found.confidence:
        parts.append(confidence(found.confidence, found.mentions))
    parts += [all_measures(found), *sections]
    if settings:
        parts.append(Section("Settings", header=("setting", "value"), rows=list(flattened(settings)), words=True))
    parts.append(Section("What was compared", bullets=compared(found)))
    body = [html.cards(cards(found)), html.paragraphs(*EXPLANATION), *(part.html() for part in parts)]
    return html_page(title, lead(found), "".join(body))


def write_comparison(
    comparison: Comparison,
    path: Path | str,
    *,
    title: str = COMPARISON_TITLE,
    settings: Mapping[str, object] | None = None,
) -> None:
    """Write the page about several results, whole or not at all."""
    write_atomic(Path(path), render_comparison(comparison, title=title, settings=settings))


def render_comparison(
    comparison: Comparison, *, title: str = COMPARISON_TITLE, settings: Mapping[str, object] | None = None
) -> str:
    """Give the page about several results as HTML."""
    parts = [side_by_side(comparison), sizes_compared(comparison), measures_compared(comparison)]
    if lines := confidence_lines(comparison):
        parts.append(Section("Whether confidence is true", [CONFIDENCE], bullets=lines))
    if settings:
        parts.append(Section("Settings", header=("setting", "value"), rows=list(flattened(settings)), words=True))
    parts.append(Section("What was compared", bullets=what_all_have(comparison)))
    body = [html.paragraphs(*EXPLANATION), *(part.html() for part in parts)]
    return html_page(title, comparison_lead(comparison), "".join(body))


def lead(found: Evaluation) -> str:
    """Say in two sentences what was compared and whether the result beats doing nothing."""
    baseline = found.baseline_one_cluster.bcubed.f1
    verdict = "better than" if found.bcubed.f1 > baseline else "no better than"
    known = known_interval(found, "bcubed_f1")
    spread = f" (95 % interval {shares(known)})" if known else ""
    return (
        f"The result was compared with {counted(found.mentions, 'mention')} of {counted(found.names, 'name')} whose "
        f"authors are known. With a B-cubed F1 of {percent(found.bcubed.f1)}{spread} it is {verdict} taking everyone "
        f"of a name for one person ({percent(baseline)})."
    )


def shares(known: Interval | None) -> str:
    r"""Write an interval of shares; nothing where there is none.

    >>> shares((0.712, 0.7451)), shares(None)
    ('71.2\xa0% to 74.5\xa0%', '')
    """
    return " to ".join(map(percent, known)) if known else ""


def cards(found: Evaluation) -> list[tuple[str, str]]:
    """Give the headline figures, each with a sentence that needs no prior knowledge."""
    return [
        (
            percent(found.pairwise.precision),
            "of the pairs of mentions that the result puts together are indeed the same person (pair precision).",
        ),
        (
            percent(found.pairwise.recall),
            "of the pairs of mentions that belong to one person are put together (pair recall).",
        ),
        (
            percent(found.bcubed.f1),
            "is precision and recall in one figure, as the average mention sees it (B-cubed F1); "
            f"{percent(found.baseline_one_cluster.bcubed.f1)} if nobody were told apart.",
        ),
    ]


EXPLANATION = (
    "B-cubed asks for each mention how much of the group it was put into is really the same person (precision) and "
    "how much of that person's mentions are in the group (recall), averages over the mentions, and F1 is high only if "
    "both are.",
    "The baseline takes everyone of a name for one person, as counting by name does: it misses nothing (full recall) "
    "and is right wherever a name has one bearer, so any method has to beat it. “All apart” is the opposite: every "
    "mention a person of its own.",
    "A 95 % interval says how far a figure might be from that of very many names of this kind: the names are drawn "
    "again a thousand times, with replacement, and the middle 95 % of the figures are kept. Of one name it is unknown.",
)


def compared(found: Evaluation) -> list[str]:
    """List what was compared and what could not be."""
    lines = [
        f"{counted(found.mentions, 'mention')} with a known author, under {counted(found.names, 'name')}: all figures "
        "are about these.",
        f"{counted(found.mentions_without_label, 'mention')} of the result without a label: left out.",
        f"{counted(found.labels_without_mention, 'label')} whose mention the result lacks: left out of the figures.",
    ]
    return lines + unusable(found)


def unusable(found: Evaluation) -> list[str]:
    """List what of the labels could not be used, and say if names are unknown."""
    return [f"{part[0].upper()}{part[1:]}." for part in not_used(found)]


def by_true_size(found: Evaluation) -> Section:
    """Show results by how many people really share the name."""
    paragraphs = ["A name that two people share is an easier problem than one that ten share, so each size is shown."]
    if (mean := found.mean_over_true_sizes_1_to_10) is not None:
        known = shares(known_interval(found, MEAN_OVER_SIZES))
        spread = f" (95 % interval {known})" if known else ""
        paragraphs.append(
            f"Averaged over the true sizes 1 to {LARGEST_SHOWN} that occur, F1 is {percent(mean)}{spread}."
        )
    caption = (
        "B-cubed precision and recall are averaged over the names of each true size; F1 is that of the averages. "
        f"The dashed and dotted lines show the baseline. {_left_out(found)}"
    )
    rows = [_size_row(size, row) for size, row in found.folded().items()]
    return Section(
        "By number of people who share the name", paragraphs, results_by_true_size(found), caption, SIZE_HEADER, rows
    )


# F1 stands first, beside what it has to beat: a phone shows the first columns only.
SIZE_HEADER = (
    "true authors",
    "names",
    "F1",
    "baseline F1",
    "95 % interval of F1",
    "precision",
    "recall",
    "pair F1 with self",
    "whole people F1",
    "all apart F1",
    "people found",
)


def _size_row(size: str, row: TrueSize) -> tuple[str, ...]:
    shown = (
        row.bcubed.precision,
        row.bcubed.recall,
        row.pairwise_with_self.f1,
        row.cluster_level.f1,
        row.baseline_singletons.f1,
    )
    f1 = (percent(row.bcubed.f1), percent(row.baseline_one_cluster.f1))
    return size, f"{row.names:,}", *f1, _size_interval(row), *map(percent, shown), f"{row.mean_clusters:.1f}"


def _size_interval(row: TrueSize) -> str:
    return shares(row.bcubed_f1_interval) if row.names > 1 else "unknown"


def clusters_found(found: Evaluation) -> Section:
    """Show how many people are found against how many there are."""
    caption = (
        "Number of people found per name, averaged over the names of each true size. Above the dashed line people are "
        f"split, below it different people are taken for one. {_left_out(found)}"
    )
    return Section("How many people are found", svg=clusters_by_true_size(found), caption=caption)


CONFIDENCE = (
    "Confidence says how sure one may be that a mention is among its own, that is by the person who has most of the "
    "mentions that were put together with it: of a hundred mentions with a confidence of 95 %, ninety-five should be. "
    "It says nothing about mentions of the same person that stand elsewhere: a mention that stands alone is with "
    "nobody wrongly, and counts as right even if it was split off. The only mention of an author that has a label "
    "counts as right too, so that with few labels the share that is right looks higher than it is."
)


def confidence(found: Reliability, labelled: int) -> Section:
    """Show what is stated of mentions, and of authors, against how many of the mentions are right."""
    caption = (
        f"Mentions in {BINS} bins of about equal size by stated confidence, or fewer where many have the same; each "
        "circle is a bin, its area the number of mentions. On the dashed line the stated is true; above it the result "
        "is better than it says, below it worse. The table is about single mentions."
    )
    rows = [
        (percent(part.stated), percent(part.true), points(part.true - part.stated), f"{part.mentions:,}")
        for part in found.bins
    ]
    return Section(
        "Whether confidence is true",
        [CONFIDENCE, _stated_and_true(found, labelled)],
        true_confidence(found),
        caption,
        ("stated", "true", "difference", "mentions"),
        rows,
    )


def _stated_and_true(found: Reliability, labelled: int) -> str:
    """Sum up how far the stated is from the true."""
    text = (
        f"On average {percent(found.stated)} is stated and {percent(found.true)} is right. Stated and true differ by "
        f"{100 * found.mean_error:.1f} percentage points on average, and by {100 * found.largest_error:.1f} at most, "
        f"among bins with at least {percent(LEAST_SHARE)} of the mentions."
    )
    if found.authors:
        text += (
            " For the confidence of authors, the mean over their mentions, it is "
            f"{100 * found.authors.mean_error:.1f} and {100 * found.authors.largest_error:.1f}."
        )
    without = labelled - found.mentions
    return text + (f" {counted(without, 'mention')} without a confidence: left out." if without else "")


def all_measures(found: Evaluation) -> Section:
    """Show every overall measure with its interval and both baselines, and say what each means."""
    measures = overall_rows(found)
    rows = [
        (
            row.label,
            *map(_share, (row.precision, row.recall, row.value)),
            shares(row.interval),
            *map(_share, (row.over_names, row.one_cluster, row.all_apart)),
        )
        for row in measures
    ]
    text = (
        "All are over mentions, so that common names weigh more; “over names” is F1 where each name counts the same. "
        "Precision is what of the found is right, recall what of the truth is found."
    )
    header = ("measure", "precision", "recall", "F1", "95 % interval", "over names", "baseline", "all apart")
    meanings = [f"{row.label}: {row.meaning}" for row in measures]
    return Section("All measures, over all mentions", [text], header=header, rows=rows, bullets=meanings)


def _share(value: float | None) -> str:
    return "" if value is None else percent(value)


def comparison_lead(found: Comparison) -> str:
    """Say in two sentences what was compared and which result is best."""
    verb = "was" if len(found.results) == 1 else "were"
    best = max(found.results, key=lambda label: found.results[label].bcubed.f1)
    return (
        f"{counted(len(found.results), 'result')} {verb} compared on the {counted(found.mentions, 'mention')} of "
        f"{counted(found.first.names, 'name')} that all of them have and whose authors are known. The highest B-cubed "
        f"F1 is that of {best}, {percent(found.results[best].bcubed.f1)}; taking everyone of a name for one person "
        f"gives {percent(found.first.baseline_one_cluster.bcubed.f1)}."
    )


def side_by_side(found: Comparison) -> Section:
    """Show the results beside each other, with the difference to the first."""
    header = (
        *("result", "F1", "95 % interval", "to the first", "95 % interval", "precision", "recall", "pair F1"),
        *(f"sizes 1 to {LARGEST_SHOWN}", "people found"),
    )
    rows = [
        (
            row.label,
            percent(row.found.bcubed.f1),
            shares(known_interval(row.found, "bcubed_f1")),
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
    text = (
        "Precision, recall and F1 are B-cubed; “sizes 1 to 10” is F1 averaged over these true sizes. Differences to "
        "the first result are in percentage points of F1. Their interval draws the same names for both results: where "
        "it does not hold 0, the difference is more than the chance of these names."
    )
    people = f"There are {counted(found.first.people, 'person')}".replace("persons", "people") + ", counted by name."
    return Section("The results beside each other", [text, people], header=header, rows=rows)


def points(value: float) -> str:
    """Write a difference of shares in percentage points.

    >>> points(0.0123), points(-0.2)
    ('+1.2', '-20.0')
    """
    return f"{100 * value:+.1f}"


def sizes_compared(found: Comparison) -> Section:
    """Show F1 of each result by how many people really share the name."""
    header = ("true authors", "names", "baseline", *found.results)
    rows = [
        (size, f"{row.names:,}", percent(row.baseline_one_cluster.f1), *(percent(one.bcubed.f1) for one in rows))
        for size, row, rows in sizes_side_by_side(found)
    ]
    text = "B-cubed F1 of the averages over the names of each true size."
    return Section("By number of people who share the name", [text], header=header, rows=rows)


def measures_compared(found: Comparison) -> Section:
    """Show every measure of each result, and say what it means."""
    columns = [overall_rows(one) for one in found.results.values()]
    rows = [(row.label, *(percent(column[i].value) for column in columns)) for i, row in enumerate(columns[0])]
    meanings = [f"{row.label}: {row.meaning}" for row in columns[0]]
    text = "F1 over all mentions; for the K-metric K, and for the errors the share itself."
    return Section("All measures", [text], header=("measure", *found.results), rows=rows, bullets=meanings)


def what_all_have(found: Comparison) -> list[str]:
    """List what the results were judged on and what each lacks."""
    lines = [
        f"{counted(found.mentions, 'mention')} with a known author that every result has, under "
        f"{counted(found.first.names, 'name')}: all figures are about these."
    ]
    lines += [
        f"{label}: {counted(lacking, 'labelled mention')} lacking that another result has; "
        f"{counted(found.results[label].mentions_without_label, 'mention')} without a label left out."
        for label, lacking in found.left_out.items()
    ]
    if found.labels_without_mention:
        lines.append(f"{counted(found.labels_without_mention, 'label')} whose mention no result has: left out.")
    return lines + unusable(found.first)


def flattened(settings: Mapping[str, object], prefix: str = "") -> Iterable[tuple[str, str]]:
    """Write nested settings as dotted lines.

    >>> list(flattened({"limit": {"alpha": 0.0, "beta": 7.5e-05}, "variant": "prob"}))
    [('limit.alpha', '0.0'), ('limit.beta', '7.5e-05'), ('variant', 'prob')]
    """
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)


def _left_out(found: Evaluation) -> str:
    beyond = [row.names for size, row in found.by_true_size.items() if size > LARGEST_SHOWN]
    if not beyond:
        return ""
    return f"Not in the figure: {counted(sum(beyond), 'name')} with more than {LARGEST_SHOWN} authors."
