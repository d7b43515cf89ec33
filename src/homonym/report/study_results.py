"""The chapters of a study's page that say what was found: findings, runs, sizes, stops, limits and baselines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from homonym.report.html import Chapter, Markup, bullets, details, figure, heading, paragraphs, table
from homonym.report.study import (
    SHOWN_SIZES,
    Run,
    Study,
    by_size,
    found,
    interval_of,
    oracle_mean,
    ordered_runs,
    shown_sizes,
    sizes_of,
)
from homonym.report.study_figures import (
    lowest_shown,
    overview_picture,
    results_picture,
    run_names,
    stopping_picture,
)
from homonym.report.study_process import process_picture
from homonym.report.study_tables import MEASURES, SCORES
from homonym.report.study_words import (
    authors,
    best_sentence,
    between,
    by_size_sentences,
    decimal,
    f1_with_interval,
    finding_sentence,
    limit_words,
    mean_f1,
    process_sentences,
    quoted,
    short,
    signed,
    small,
    stopping_sentences,
    tuning_sentence,
)

VERDICTS = {"confirmed": "✓ confirmed", "refuted": "✗ refuted", "undecided": "? undecided"}


def findings(study: Study) -> Chapter | None:
    """What the paper claims and what this study says about it."""
    if not study["findings"]:
        return None
    rows = [(one["claim"], _verdict(one["verdict"]), one["measured"]) for one in study["findings"]]
    text = (
        "A verdict rests on a measured difference of B-cubed F1 (or of what the claim names), averaged over the true "
        "sizes 1 to 10, and on its 95 % interval. That one is better is confirmed where the whole interval says so; "
        "that two are equal where it stays within two points (.020). Where the interval allows both readings, the "
        "claim is undecided with these data."
    )
    differences = [
        (one["claim"], what, signed(difference), _signed_interval(interval))
        for one in study["findings"]
        for what, difference, interval in one.get("rows") or ()
    ]
    more = table(("claim", "compared", "difference", "95 % interval"), differences, "words") if differences else ""
    parts = [paragraphs(text), table(("claim of the paper", "here", "measured"), rows, "words")]
    return Chapter(
        "findings", "Findings", [*parts, details("The differences behind the findings", more) if more else ""]
    )


def _verdict(verdict: str) -> Markup:
    known = verdict if verdict in VERDICTS else "undecided"
    return Markup(f'<span class="verdict {known}">{VERDICTS[known]}</span>')


def _signed_interval(interval: Sequence[float] | None) -> str:
    return f"[{signed(interval[0])}, {signed(interval[1])}]" if interval else ""


def warnings(study: Study) -> Chapter | None:
    """What the reader should know before believing the rest."""
    return Chapter("warnings", "Warnings", [bullets(study["warnings"])]) if study["warnings"] else None


def overview(study: Study) -> Chapter:
    """All runs in one figure and one table."""
    caption = (
        "Each line is a weighting, each dot a run on the test names, with its 95 % interval: further right is better. "
        "Dashed lines go up from the baselines, so that it is seen what beats them. Intervals that overlap do not mean "
        "that there is no difference; the findings compare runs name by name."
    )
    ranked = sorted(ordered_runs(study), key=lambda run: -(mean_f1(run) or 0.0))
    header = ("run", "mean F1", "95 % interval", "best stop", "P", "R", "F1", "pair F1", "with self", "limit")
    above = (
        "All runs, best first. Mean F1 and best stop: over the true sizes 1 to 10. P, R and F1: B-cubed over all test "
        "mentions; pair F1 likewise, without and with self."
    )
    parts = [
        paragraphs(best_sentence(study), finding_sentence(study, "uniform-trained-prob")),
        figure(overview_picture(study).element(), caption),
        table(header, [_run_row(run) for run in ranked], "figures scores", above),
    ]
    return Chapter("overview", "All runs", parts)


def _run_row(run: Run) -> tuple[object, ...]:
    scores = [decimal(found(run, "test", "bcubed", score)) for score in ("precision", "recall", "f1")]
    pairs = [decimal(found(run, "test", measure, "f1")) for measure in ("pairwise", "pairwise_with_self")]
    interval = between(*interval_of(run["test"].get("mean_over_sizes")))
    mean, best = _bold(decimal(mean_f1(run))), decimal(oracle_mean(run))
    return short(run), mean, interval, best, *scores, *pairs, limit_words(run["limit"])


def _bold(text: str) -> Markup:
    """Only for what this package wrote itself: figures, no words from data."""
    return Markup(f"<b>{text.replace('<', '&lt;').replace('>', '&gt;')}</b>")


RESULTS_CAPTION = (
    "Left to right: names that more and more people share. Solid lines with marks: precision, recall and F1 where the "
    "method stopped; the thin upright lines are the 95 % intervals of F1. Dashed: F1 at the best possible stop. "
    "Dash-dotted: the most recall at full precision, and the most precision at full recall. Grey: one cluster per name."
)


def by_true_size(study: Study) -> Chapter:
    """The main runs by true size: figures, and the paper's table 3."""
    names, bottom = run_names(study), lowest_shown(study)
    parts = [paragraphs(f"How to read the figures. {RESULTS_CAPTION}")]
    for run in main_runs(study):
        caption = by_size_sentences(run)
        parts += [heading(run["title"]), figure(results_picture(run, names[run["key"]], bottom).element(), caption)]
    for label, measure in MEASURES:
        caption = f"Precision (P), F1 (F) and recall (R) by true size in {label}, as in table 3 of the paper."
        parts.append(_score_table(study, measure, caption))
    return Chapter("sizes", "Results by true size", parts)


def main_runs(study: Study) -> list[Run]:
    """The runs that are shown in full; all where none is marked as main."""
    return [run for run in ordered_runs(study) if run["main"]] or ordered_runs(study)


def _score_table(study: Study, measure: str, caption: str) -> str:
    sizes = sizes_of(study)
    rows = [
        (short(run) if score == "P" else "", score, *_cells(run, sizes, measure, column, bold=score == "F"))
        for run in main_runs(study)
        for score, column in SCORES
    ]
    return table(("run", "", *sizes), rows, "figures scores threes", caption)


def _cells(run: Run, sizes: Iterable[str], measure: str, column: str, *, bold: bool = False) -> list[str]:
    values = [decimal(found(by_size(run), size, measure, column)) for size in sizes]
    return [_bold(value) for value in values] if bold else values


def stopping(study: Study) -> Chapter:
    """Where the main runs stop: against the best possible stop, and on the way from many clusters to one."""
    names, runs = run_names(study), main_runs(study)
    caption = (
        "The upper line is the F1 that the best possible stop would reach, the lower one that of our stop; what lies "
        f"between is lost by stopping too early or too late. {stopping_sentences(runs)}"
    )
    text = (
        "The figures below follow the merging, averaged over the names of one true size. At the left every mention is "
        "a cluster of its own: precision is perfect, recall low. At the right all is one cluster: recall is perfect. "
        "Bands show one standard deviation. The upright line is the true number of clusters, which the method does not "
        "know; the bars below count the names whose merging stopped at that number of clusters. Good stops gather at "
        "the line. The left is cut where few names have so many clusters."
    )
    parts = [figure(stopping_picture(study).element(), caption) if runs else "", paragraphs(text)]
    for run in runs:
        parts.append(heading(run["title"]))
        parts += [process_figure(run, size, names[run["key"]]) for size in shown_sizes(run, SHOWN_SIZES)]
    return Chapter("stopping", "Where the merging stops", parts)


def process_figure(run: Run, size: str, name: str) -> str:
    """The course of one run for one true size, with what is seen in it."""
    picture = process_picture(run, size, name)
    return figure(
        picture.element(), f"Names with {authors(size)}, {quoted(run)}. {process_sentences(run['process'][size])}"
    )


TUNED = {"alpha": "α alone", "beta": "β alone", "both": "α and β", "paper": "the paper's limit"}


def limits(study: Study) -> Chapter:
    """What tuning the limit in different ways gives."""
    rows = [
        _tuning_row(run, kind, tuned) for run in main_runs(study) for kind, tuned in (run.get("tuning") or {}).items()
    ]
    text = (
        "The limit is the only thing that has to be tuned where weights are uniform. The paper used β for prob and α "
        "for max. A limit that does well on training names and badly on test names has been fitted too closely; the "
        "paper's own limits were tuned on another collection and need not suit this one."
    )
    header = ("run", "tuned", "α", "β", "F1 training", "F1 test", "95 % interval")
    caption = "Mean F1 over the true sizes 1 to 10 with limits tuned in different ways; • marks the limit used."
    parts = [paragraphs(text, tuning_sentence(main_runs(study)))]
    return Chapter(
        "limits", "Tuning the limit", [*parts, table(header, rows, "figures scores", caption) if rows else ""]
    )


def _tuning_row(run: Run, kind: str, tuned: dict[str, Any]) -> tuple[object, ...]:
    label = f"{TUNED.get(kind, kind)}{' •' if kind == run['limit_kind'] else ''}"
    scores = (decimal(tuned.get("training_f1")), _bold(decimal(tuned.get("test_f1"))))
    interval = between(*interval_of(tuned, "test_interval"))
    return short(run), label, small(tuned.get("alpha")), small(tuned.get("beta")), *scores, interval


def baselines(study: Study) -> Chapter | None:
    """What has to be beaten, over all names and by true size."""
    if not study["baselines"]:
        return None
    sizes = sizes_of(study)
    rows = [
        (base["title"], "–" if base["threshold"] is None else f"{base['threshold']:.3g}", *_overall(base["test"]))
        for base in study["baselines"]
    ]
    by_sizes = [(base["title"], *_cells(base, sizes, "bcubed", "f1")) for base in study["baselines"]]
    text = (
        "“One cluster per name” takes everyone of a name for one person, as counting by name does: its recall is "
        "perfect. A baseline with a threshold had it tuned on the training names, as our limits were."
    )
    header = ("baseline", "threshold", "mean F1", "P", "R", "F1", "pair F1")
    parts = [
        paragraphs(text),
        table(header, rows, "figures scores", "Baselines on the test names: B-cubed, and pairs without self."),
        table(("baseline", *sizes), by_sizes, "figures scores", "B-cubed F1 by true size."),
    ]
    return Chapter("baselines", "Baselines", parts)


def _overall(test: dict[str, Any]) -> tuple[object, ...]:
    scores = [decimal(test["bcubed"][score]) for score in ("precision", "recall", "f1")]
    return f1_with_interval(test.get("mean_over_sizes")), *scores, decimal(found(test, "pairwise", "f1"))


def other_runs(study: Study) -> Chapter | None:
    """The remaining runs, each in a part that the reader opens."""
    shown = {run["key"] for run in main_runs(study)}
    others = [run for run in ordered_runs(study) if run["key"] not in shown]
    if not others:
        return None
    sizes = sizes_of(study)
    rows = [(short(run), *_cells(run, sizes, "bcubed", "f1")) for run in others]
    text = (
        "These runs show what single feature types and other settings do. Open one to see its figures, which are read "
        "as those above."
    )
    whole = table(("run", *sizes), rows, "figures scores", "B-cubed F1 by true size.")
    names, bottom = run_names(study), lowest_shown(study)
    opened = [_opened(run, names[run["key"]], bottom) for run in others]
    return Chapter("others", "Other runs", [paragraphs(text), whole, *opened])


def _opened(run: Run, name: str, bottom: float) -> str:
    results = figure(results_picture(run, name, bottom).element(), by_size_sentences(run))
    courses = [process_figure(run, size, name) for size in shown_sizes(run, (5,))]
    return details(f"{run['title']}: mean F1 {f1_with_interval(run['test'].get('mean_over_sizes'))}", results, *courses)


def notes(study: Study) -> Chapter:
    """Where the numbers are, and what the study took."""
    lines = [
        "Every table is in the directory of this page as CSV with all digits, every figure as SVG and PNG for every "
        "true size, and all results as study.json.",
        f"Results were made by homonym {study['version']}.",
    ]
    if study["seconds"]:
        spent = ", ".join(f"{step} {seconds:,.1f} s" for step, seconds in study["seconds"].items())
        lines.append(f"Time spent: {spent}.")
    return Chapter("notes", "Notes", [bullets(lines)])
