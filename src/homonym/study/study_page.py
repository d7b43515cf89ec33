"""One self-contained HTML page about a study, for readers who do not know the paper that it repeats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from homonym.features.types import describe
from homonym.io.outputs import write_atomic
from homonym.messages import counted
from homonym.report.html import (
    Chapter,
    Markup,
    bullets,
    cards,
    contents,
    details,
    figure,
    heading,
    html_page,
    paragraphs,
    percent,
    table,
    terms,
)
from homonym.study.results_view import (
    SHOWN_SIZES,
    Run,
    Study,
    by_size,
    feature_types,
    found,
    interval_of,
    oracle_mean,
    ordered_runs,
    paper_run,
    shown_sizes,
    sizes_of,
)
from homonym.study.sentences import (
    authors,
    best_of,
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
    weights_sentence,
)
from homonym.study.study_figures import (
    lowest_shown,
    overview_picture,
    process_picture,
    results_picture,
    run_names,
    stopping_picture,
)
from homonym.study.study_tables import MEASURES, SCORES, names_by_true_size


def task(study: Study) -> Chapter:
    """Say what the problem is, for somebody who has not met it."""
    texts = (
        "Several people publish under the same name. A mention is one name on one publication. The task is to sort "
        "the mentions of a name into groups, called clusters, so that each cluster holds the publications of one "
        "person. Only what the publications say about themselves may be used, such as co-authors, words or "
        "affiliations.",
        "The method merges: at first every mention is a cluster of its own, and step by step the clusters that share "
        "the most specific features become one. The question is when to stop. T. Backes (“Effective Unsupervised "
        "Author Disambiguation with Relative Frequencies”, JCDL 2018) proposed it and tested it on the Web of Science. "
        "This page repeats the experiments of that paper on the data named above.",
        "A name that two people share is another problem than one that ten share. Most names have a single bearer, so "
        "that a plain average would hide all the others. Therefore results are shown by true size: the number of "
        "people who really bear the name.",
    )
    return Chapter("task", "The task", [paragraphs(*texts)])


def data(study: Study) -> Chapter:
    """Say what the data are and how names were divided; the paper's table 1."""
    about, split = study["collection"], study["split"]
    facts = [
        f"From {', '.join(about['files'])}: {counted(about['mentions_in_collection'], 'mention')} in the whole "
        "collection, over which features are counted.",
        f"Known authors, from the label “{about['label']}”: {counted(about['authors'], 'author')} with "
        f"{counted(about['labelled_mentions'], 'mention')} under {counted(about['names'], 'name')}.",
        f"Left out: {counted(about['unlabelled_mentions'], 'mention')} of these names without a label, and "
        f"{counted(about['labels_without_mention'], 'label')} without a mention.",
        f"Feature types: {'; '.join(map(_explained, about['feature_types']))}.",
    ]
    text = (
        f"Of each true size at most {counted(split['most_names_per_size'], 'name')} were drawn at random, and "
        f"{100 * split['training_share']:g} % of these are for training: weights and limits are chosen on them. All "
        "results are those of the other names, the test names."
    )
    rows = [
        (size, *(f"{count:,}" for count in counts), "–" if share is None else percent(share))
        for size, *counts, share in _counts(study)
    ]
    header = ("true size", "training", "test", "both", "in the data", "used")
    caption = "Names by the number of people who bear them, as in table 1 of the paper."
    return Chapter("data", "The data", [bullets(facts), paragraphs(text), table(header, rows, caption=caption)])


def _counts(study: Study) -> list[tuple[str, int, int, int, int, float | None]]:
    return [tuple(row) for row in names_by_true_size(study).rows]  # type: ignore[misc]


def _explained(kind: str) -> str:
    return f"{kind} ({described})" if (described := describe(kind)) else kind


def measures(study: Study) -> Chapter:
    """Explain precision, recall and the rest in plain words."""
    explained = [
        ("precision", "How much of what was put together belongs together. Low where different people are mixed."),
        ("recall", "How much of what belongs together was put together. Low where one person is split."),
        ("F1", "Both in one number, the harmonic mean: high only if both are. 1 is perfect, 0 the worst."),
        (
            "B-cubed",
            "Precision and recall as the average mention sees them: what share of my cluster is me, and what share of "
            "me is in my cluster? Called bCube in the paper. Averaged over the names of a true size.",
        ),
        (
            "pair F1",
            "The same over pairs of mentions in one cluster. “With self”, as in the paper, each mention also pairs "
            "with itself, so that a cluster of one counts.",
        ),
        ("mean F1", "The mean of the F1 of the true sizes 1 to 10, each counting the same. Runs are compared by it."),
        ("max. recall", "The recall reached before the first mistake: the most that is possible at full precision."),
        ("max. precision", "The precision when everybody is whole: the most that is possible at full recall."),
        (
            "best stop",
            "The F1 if somebody who knows the answer had chosen when to stop: what better stopping can gain.",
        ),
        (
            "95 % interval",
            "In brackets or as thin lines. With other test names of the same kind, results would mostly lie in it.",
        ),
    ]
    return Chapter("measures", "How results are measured", [terms(explained)])


def method(study: Study) -> Chapter:
    """Explain variants and limits in plain words."""
    runs = study["runs"]
    explained = [
        ("prob", "Two clusters are compared by all that their mentions share, added up (sum of products)."),
        ("max", "They are compared by the two mentions, one of each, that share most (maximum of products)."),
    ]
    if any(run["scope"] == "within" for run in runs):
        text = "How rare a feature is, is counted among the mentions of the name only, not over the whole collection."
        explained.append(("within", text))
    if any(run["joint"] for run in runs):
        explained.append(("joint", "The score is p(C,D) instead of p(C|D): large clusters attract more."))
    if any(run["gamma"] for run in runs):
        text = (
            "From the score is subtracted what the same cluster would share with anybody, its part of all features of "
            "the collection, times γ: γ·n(C)/n(·). Large clusters attract less. This is not in the paper, where γ is 0."
        )
        explained.append(("chance subtracted", text))
    explained += [
        (
            "limit",
            "Merging goes on while some pair of clusters scores above the limit α + β · (number of mentions of the "
            "name). A higher limit stops earlier: more precision, less recall. Either part may be 0.",
        ),
        ("tuned", "α and β are chosen for the best mean F1 on the training names, for each run by itself."),
    ]
    text = "A feature that few mentions have says more than one that many have; no training is needed for that."
    return Chapter("method", "Variants and limits", [paragraphs(text), terms(explained)])


WEIGHTINGS = {
    "uniform": "All feature types count the same.",
    "trained": "Learned from pairs of mentions by a classifier that decides whether both are the same person.",
    "opposed": "The trained weights turned round: the most useful type gets the smallest weight. Should be bad.",
    "paper": "The weights printed in the paper, learned on the Web of Science.",
    "authors": "Only names of co-authors and of cited authors.",
    "document": "Only what describes the document, nothing about the author and no cited authors.",
}
SINGLE = {"only-…": "A single feature type alone.", "without-…": "All feature types but one, counting the same."}


def weights(study: Study) -> Chapter:
    """Show the weightings that were compared; the paper's table 2, without the obvious columns."""
    names = [name for name in study["weights"] if not name.startswith(("only-", "without-"))]
    explained = [(name, WEIGHTINGS.get(name, "Given for this study.")) for name in names]
    kinds = tuple(f"{name.split('-')[0]}-…" for name in study["weights"] if name not in names)
    explained += [(name, SINGLE[name]) for name in dict.fromkeys(kinds)]
    caption = "The weight of each feature type, as in table 2 of the paper."
    deviations = (study.get("training") or {}).get("sd", {})
    rows = [
        (kind, *(decimal(study["weights"][name].get(kind, 0.0)) for name in names), *_deviation(deviations, kind))
        for kind in feature_types(study)
    ]
    header = ("feature type", *names, *(["sd of trained"] if deviations else []))
    parts = [
        paragraphs("A weighting says how much each feature type counts; the weights sum to 1."),
        terms(explained),
        paragraphs(weights_sentence(study)),
        table(header, rows, "figures scores", caption),
    ]
    return Chapter("weights", "Weights of feature types", parts)


def _deviation(deviations: dict[str, float], kind: str) -> list[str]:
    return [decimal(deviations.get(kind))] if deviations else []


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


def write_study_page(study: Study, path: Path | str) -> None:
    """Write the page about a study, whole or not at all."""
    write_atomic(Path(path), render_study(study))


def render_study(study: Study) -> str:
    """Give the page about a study as HTML."""
    parts = chapters(study)
    body = "\n".join([cards(headlines(study)), contents(parts), *(part.html() for part in parts)])
    return html_page(f"Authors of the same name: a study of {study['title']}", lead(study), body)


def chapters(study: Study) -> list[Chapter]:
    """The chapters of the page: what was found first, then what was done, then the results in full."""
    made = [
        findings(study),
        warnings(study),
        task(study),
        data(study),
        measures(study),
        method(study),
        weights(study),
        overview(study),
        by_true_size(study),
        stopping(study),
        limits(study),
        baselines(study),
        other_runs(study),
        notes(study),
    ]
    return [chapter for chapter in made if chapter is not None]


def lead(study: Study) -> str:
    """Say in a few sentences what was done and how well it went."""
    names = sum(counts["test"] for counts in study["split"]["by_true_size"].values())
    text = (
        f"{counted(len(study['runs']), 'way')} of telling apart the people behind a name were tried on "
        f"{counted(names, 'test name')} whose bearers are known, as in the paper “Effective Unsupervised Author "
        "Disambiguation with Relative Frequencies” (JCDL 2018)."
    )
    if (run := paper_run(study)) is None or mean_f1(run) is None:
        return text
    return f"{text} The paper's own choice, {quoted(run)}, reaches a mean F1 of {decimal(mean_f1(run))}."


def headlines(study: Study) -> list[tuple[str, str]]:
    """The headline figures, each with a sentence that needs no prior knowledge."""
    shown = []
    # Not the best of all runs: which one that is was only seen on the test names.
    if (run := paper_run(study)) and mean_f1(run) is not None:
        interval = between(*interval_of(run["test"]["mean_over_sizes"]))
        text = f"is the mean F1 of {quoted(run)}, the paper's choice (1 is perfect); 95 % interval {interval}."
        shown.append((decimal(mean_f1(run)), text))
    if base := best_of(study["baselines"]):
        shown.append((decimal(mean_f1(base)), f"is that of the best baseline, {quoted(base)}."))
    if claims := study["findings"]:
        confirmed = sum(one["verdict"] == "confirmed" for one in claims)
        shown.append((f"{confirmed} of {len(claims)}", "claims of the paper that were tested are confirmed here."))
    return shown
