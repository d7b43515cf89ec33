"""One self-contained HTML page about an evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from homonym.evaluation.evaluate import LARGEST_SHOWN, Evaluation, TrueSize, overall_rows
from homonym.files import write_whole
from homonym.report.figures import clusters_by_true_size, results_by_true_size
from homonym.report.html import Section, html_page, percent
from homonym.wording import counted

TITLE = "How well authors of the same name are told apart"


def write_report(
    evaluation: Evaluation | Mapping[str, Any],
    path: Path | str,
    *,
    title: str = TITLE,
    settings: Mapping[str, object] | None = None,
    sections: Sequence[Section] = (),
) -> None:
    """Write the page about an evaluation, whole or not at all; `sections` follow the figures."""
    write_whole(Path(path), render_page(evaluation, title=title, settings=settings, sections=sections))


def render_page(
    evaluation: Evaluation | Mapping[str, Any],
    *,
    title: str = TITLE,
    settings: Mapping[str, object] | None = None,
    sections: Sequence[Section] = (),
) -> str:
    """Give the page about an evaluation as HTML."""
    found = evaluation if isinstance(evaluation, Evaluation) else Evaluation.from_dict(evaluation)
    parts = [by_true_size(found), clusters_found(found), all_measures(found), *sections]
    if settings:
        parts.append(Section("Settings", header=("setting", "value"), rows=list(flattened(settings)), words=True))
    parts.append(Section("What was compared", bullets=compared(found)))
    cards_row = "".join(_card(*card) for card in cards(found))
    explanation = "".join(f"<p>{escape(text)}</p>" for text in EXPLANATION)
    body = f'<div class="cards">{cards_row}</div>{explanation}{"".join(part.html() for part in parts)}'
    return html_page(title, lead(found), body)


def lead(found: Evaluation) -> str:
    """Say in two sentences what was compared and whether the result beats doing nothing."""
    baseline = found.baseline_one_cluster.bcubed.f1
    verdict = "better than" if found.bcubed.f1 > baseline else "no better than"
    return (
        f"The result was compared with {counted(found.mentions, 'mention')} of {counted(found.names, 'name')} whose "
        f"authors are known. With a B-cubed F1 of {percent(found.bcubed.f1)} it is {verdict} taking everyone of a name "
        f"for one person ({percent(baseline)})."
    )


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
)


def compared(found: Evaluation) -> list[str]:
    """List what was compared and what could not be."""
    lines = [
        f"{counted(found.mentions, 'mention')} with a known author, under {counted(found.names, 'name')}: all figures "
        "are about these.",
        f"{counted(found.mentions_without_label, 'mention')} of the result without a label: left out.",
        f"{counted(found.labels_without_mention, 'label')} whose mention the result lacks: left out of the figures.",
    ]
    if found.gold_lines_skipped:
        lines.append(f"{counted(found.gold_lines_skipped, 'line')} of the labels could not be parsed.")
    return lines


def by_true_size(found: Evaluation) -> Section:
    """Show results by how many people really share the name."""
    paragraphs = ["A name that two people share is an easier problem than one that ten share, so each size is shown."]
    if (mean := found.mean_over_true_sizes_1_to_10) is not None:
        paragraphs.append(f"Averaged over the true sizes 1 to {LARGEST_SHOWN} that occur, F1 is {percent(mean)}.")
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
    "precision",
    "recall",
    "pair F1 with self",
    "all apart F1",
    "people found",
)


def _size_row(size: str, row: TrueSize) -> tuple[str, ...]:
    shares = (
        row.bcubed.f1,
        row.baseline_one_cluster.f1,
        row.bcubed.precision,
        row.bcubed.recall,
        row.pairwise_with_self.f1,
        row.baseline_singletons.f1,
    )
    return size, f"{row.names:,}", *map(percent, shares), f"{row.mean_clusters:.1f}"


def clusters_found(found: Evaluation) -> Section:
    """Show how many people are found against how many there are."""
    caption = (
        "Number of people found per name, averaged over the names of each true size. Above the dashed line people are "
        f"split, below it different people are taken for one. {_left_out(found)}"
    )
    return Section("How many people are found", svg=clusters_by_true_size(found), caption=caption)


def all_measures(found: Evaluation) -> Section:
    """Show every overall measure with both baselines."""
    rows = [
        (label, *map(percent, scores.as_dict().values()), *(percent(base.f1) if base else "" for base in baselines))
        for label, scores, *baselines in overall_rows(found)
    ]
    text = (
        "Pairs are the sets of two mentions in one group; with self, each mention also pairs with itself, as some "
        "papers count. Across names, a person who publishes under two names should be found as one: the difference to "
        "plain B-cubed is what grouping by name loses."
    )
    header = ("measure", "precision", "recall", "F1", "baseline F1", "all apart F1")
    return Section("All measures, over all mentions", [text], header=header, rows=rows)


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


def _card(value: str, sentence: str) -> str:
    return f"<div><strong>{escape(value)}</strong>\n<p>{escape(sentence)}</p></div>"
