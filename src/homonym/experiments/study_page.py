"""The HTML page about a study, for readers who do not know the paper it repeats.

The prose is in `report/templates/study.html.j2`; this module computes the values, rows and figures it shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from homonym.errors import counted
from homonym.experiments.sentences import (
    best_of,
    best_sentence,
    by_size_sentences,
    decimal,
    f1_with_interval,
    finding_sentence,
    interval_text,
    limit_text,
    process_sentences,
    quoted_title,
    short_title,
    signed,
    signed_interval,
    small,
    stopping_sentences,
    true_authors,
    tuning_sentence,
    weights_sentence,
)
from homonym.experiments.study_figures import all_pictures, process_file_name, run_names
from homonym.experiments.study_tables import (
    MEASURES,
    SCORES,
    SHOWN_SIZES,
    RunResults,
    StudyResults,
    by_size,
    feature_types,
    interval_of,
    lookup,
    main_runs,
    mean_f1,
    names_by_true_size,
    oracle_mean,
    ordered_runs,
    paper_run,
    shown_sizes,
    sizes_of,
)
from homonym.features.types import describe
from homonym.io.outputs import write_atomic
from homonym.report.page import PageFigure, Table, percent, render_template

CHAPTERS = {
    "findings": "Findings",
    "warnings": "Warnings",
    "task": "The task",
    "data": "The data",
    "measures": "How results are measured",
    "method": "Variants and limits",
    "weights": "Weights of feature types",
    "overview": "All runs",
    "sizes": "Results by true size",
    "stopping": "Where merging stops",
    "limits": "Tuning the limit",
    "baselines": "Baselines",
    "others": "Other runs",
    "notes": "Notes",
}


def write_study_page(study: StudyResults, path: Path | str, drawn: Mapping[str, str] | None = None) -> None:
    """Write the page about a study atomically; `drawn` as for `render_study`."""
    write_atomic(Path(path), render_study(study, drawn))


def render_study(study: StudyResults, drawn: Mapping[str, str] | None = None) -> str:
    """The page about a study as HTML; `drawn` holds figures from `write_figures`, missing ones are drawn."""
    figures = _Figures(study, drawn or {})
    view = {
        "title": f"Authors of the same name: a study of {study['title']}",
        "lead": _lead(study),
        "headlines": _headlines(study),
        "warnings": study["warnings"],
        "notes": _notes(study),
        **_findings(study),
        **_data(study),
        **_method(study),
        **_weights(study),
        **_overview(study, figures),
        **_by_true_size(study, figures),
        **_stopping(study, figures),
        **_limits(study),
        **_baselines(study),
        **_other_runs(study, figures),
    }
    optional = {"findings", "warnings", "baselines"} & {key for key in CHAPTERS if not study.get(key, True)}
    absent = optional | ({"others"} if not view["other_runs"] else set())
    view["chapters"] = {anchor: heading for anchor, heading in CHAPTERS.items() if anchor not in absent}
    return render_template("study.html.j2", view)


class _Figures:
    """The figures of a study as elements of a page, by the names of their files."""

    def __init__(self, study: StudyResults, drawn: Mapping[str, str]) -> None:
        self.drawn = drawn
        self.pictures = {picture.name: picture for picture in all_pictures(study)}
        self.run_names = run_names(study)

    def named(self, name: str, caption: str) -> PageFigure:
        return PageFigure(self.drawn.get(name) or self.pictures[name].element(), caption)

    def results(self, run: RunResults) -> PageFigure:
        return self.named(f"results-{self.run_names[run['key']]}", by_size_sentences(run))

    def processes(self, run: RunResults, sizes: Iterable[int]) -> list[PageFigure]:
        return [self._process(run, size) for size in shown_sizes(run, sizes)]

    def _process(self, run: RunResults, size: str) -> PageFigure:
        caption = f"Names with {true_authors(size)}, {quoted_title(run)}. {process_sentences(run['process'][size])}"
        return self.named(process_file_name(self.run_names[run["key"]], size), caption)


def _lead(study: StudyResults) -> str:
    names = sum(counts["test"] for counts in study["split"]["by_true_size"].values())
    text = (
        f"{counted(len(study['runs']), 'variant')} of the method were tested on {counted(names, 'name')} whose authors "
        "are known, as in the paper “Effective Unsupervised Author Disambiguation with Relative Frequencies” "
        "(JCDL 2018)."
    )
    if (run := paper_run(study)) is None or mean_f1(run) is None:
        return text
    return f"{text} The paper's own choice, {quoted_title(run)}, reaches a mean F1 of {decimal(mean_f1(run))}."


def _headlines(study: StudyResults) -> list[tuple[str, str]]:
    """The main numbers, each with a sentence that explains it."""
    shown = []
    # Not the best of all runs: which run is best is known from the test names only.
    if (run := paper_run(study)) and mean_f1(run) is not None:
        interval = interval_text(*interval_of(run["test"]["mean_over_sizes"]))
        text = f"is the mean F1 of {quoted_title(run)}, the paper's choice (1 is perfect); 95 % interval {interval}."
        shown.append((decimal(mean_f1(run)), text))
    if base := best_of(study["baselines"]):
        shown.append((decimal(mean_f1(base)), f"is the mean F1 of the best baseline, {quoted_title(base)}."))
    if claims := study["findings"]:
        confirmed = sum(one["verdict"] == "confirmed" for one in claims)
        shown.append((f"{confirmed} of {len(claims)}", "tested claims of the paper are confirmed here."))
    return shown


def _notes(study: StudyResults) -> list[str]:
    lines = [
        "The directory of this page holds every table as CSV with all digits, every figure as SVG and PNG, and all "
        "results as study.json.",
        f"Results were made by homonym {study['version']}.",
    ]
    if study["seconds"]:
        spent = ", ".join(f"{step} {seconds:,.1f} s" for step, seconds in study["seconds"].items())
        lines.append(f"Time spent: {spent}.")
    return lines


VERDICT_MARKS = {"confirmed": "✓", "refuted": "✗", "undecided": "?"}


def _findings(study: StudyResults) -> dict[str, Any]:
    differences = [
        (one["claim"], label, signed(difference), signed_interval(interval))
        for one in study["findings"]
        for label, difference, interval in one.get("rows") or ()
    ]
    return {
        "findings": [one | {"mark": VERDICT_MARKS.get(one["verdict"], "?")} for one in study["findings"]],
        "differences": Table(("claim", "compared", "difference", "95 % interval"), differences),
    }


def _data(study: StudyResults) -> dict[str, Any]:
    """The collection, and how its names were split; the paper's table 1."""
    about, split = study["collection"], study["split"]
    facts = [
        f"Files: {', '.join(about['files'])}, with {counted(about['mentions_in_collection'], 'mention')} in the whole "
        "collection, over which features are counted.",
        f"Known authors, from the label “{about['label']}”: {counted(about['authors'], 'author')} with "
        f"{counted(about['labelled_mentions'], 'mention')} under {counted(about['names'], 'name')}.",
        f"Left out: {counted(about['unlabelled_mentions'], 'mention')} of these names without a label, and "
        f"{counted(about['labels_without_mention'], 'label')} without a mention.",
        f"Feature types: {', '.join(map(_explained_type, about['feature_types']))}.",
    ]
    sentence = (
        f"Of each true size, at most {counted(split['most_names_per_size'], 'name')} were drawn at random. "
        f"{100 * split['training_share']:g} % of these are training names, on which weights and limits are chosen. All "
        "results are those of the other names, the test names."
    )
    rows = [
        (size, *(f"{count:,}" for count in counts), "–" if share is None else percent(share))  # type: ignore[arg-type]
        for size, *counts, share in names_by_true_size(study).rows
    ]
    header = ("true size", "training", "test", "both", "in the data", "used")
    return {"facts": facts, "split_sentence": sentence, "names_by_size": Table(header, rows)}


def _explained_type(kind: str) -> str:
    return f"{kind} ({described})" if (described := describe(kind)) else kind


def _method(study: StudyResults) -> dict[str, bool]:
    """Which scores besides the paper's own were run."""
    return {
        "has_within": any(run["scope"] == "within" for run in study["runs"]),
        "has_joint": any(run["joint"] for run in study["runs"]),
        "has_chance": any(run["gamma"] for run in study["runs"]),
    }


WEIGHTINGS = {
    "uniform": "All feature types count the same.",
    "trained": "Learned from pairs of mentions by a classifier that decides whether both are the same person.",
    "opposed": "The trained weights reversed: the most useful type gets the smallest weight. Should do badly.",
    "paper": "The weights printed in the paper, learned on the Web of Science.",
    "authors": "Only names of co-authors and of cited authors.",
    "document": "Only what describes the document, nothing about the author and no cited authors.",
    "only-…": "A single feature type alone.",
    "without-…": "All feature types but one, with equal weights.",
}


def _weights(study: StudyResults) -> dict[str, Any]:
    """The weightings that were compared; the paper's table 2, without the weightings that a name explains."""
    names = [name for name in study["weights"] if not name.startswith(("only-", "without-"))]
    groups = dict.fromkeys(f"{name.split('-')[0]}-…" for name in study["weights"] if name not in names)
    deviations = (study.get("training") or {}).get("sd", {})
    rows = [
        (
            kind,
            *(decimal(study["weights"][name].get(kind, 0.0)) for name in names),
            *([decimal(deviations.get(kind))] if deviations else []),
        )
        for kind in feature_types(study)
    ]
    return {
        "weightings": [(name, WEIGHTINGS.get(name, "Given for this study.")) for name in [*names, *groups]],
        "weights_sentence": weights_sentence(study),
        "weights": Table(("feature type", *names, *(["sd of trained"] if deviations else [])), rows),
    }


def _overview(study: StudyResults, figures: _Figures) -> dict[str, Any]:
    caption = (
        "Each line is a weighting and each dot a run on the test names, with its 95 % interval; further right is "
        "better. Dashed lines rise from the baselines to show which runs beat them. Overlapping intervals do not mean "
        "that there is no difference; the findings compare runs name by name."
    )
    ranked = sorted(ordered_runs(study), key=lambda run: -(mean_f1(run) or 0.0))
    header = ("run", "mean F1", "95 % interval", "best stop", "P", "R", "F1", "pair F1", "with self", "limit")
    return {
        "overview_sentences": [best_sentence(study), finding_sentence(study, "uniform-trained-prob")],
        "overview_figure": figures.named("overview", caption),
        "runs": Table(header, [_run_row(run) for run in ranked]),
    }


def _run_row(run: RunResults) -> tuple[str, ...]:
    scores = [decimal(lookup(run, "test", "bcubed", score)) for score in ("precision", "recall", "f1")]
    pairs = [decimal(lookup(run, "test", measure, "f1")) for measure in ("pairwise", "pairwise_with_self")]
    interval = interval_text(*interval_of(run["test"].get("mean_over_sizes")))
    means = (decimal(mean_f1(run)), interval, decimal(oracle_mean(run)))
    return short_title(run), *means, *scores, *pairs, limit_text(run["limit"])


def _by_true_size(study: StudyResults, figures: _Figures) -> dict[str, Any]:
    """The main runs by true size: figures, and the paper's table 3."""
    return {
        "results_figures": [(run["title"], figures.results(run)) for run in main_runs(study)],
        "score_tables": [(label, _score_table(study, measure)) for label, measure in MEASURES],
    }


def _score_table(study: StudyResults, measure: str) -> Table:
    sizes = sizes_of(study)
    rows = [
        (short_title(run) if score == "P" else "", score, *_scores_by_size(run, sizes, measure, column))
        for run in main_runs(study)
        for score, column in SCORES
    ]
    return Table(("run", "", *sizes), rows)


def _scores_by_size(run: RunResults, sizes: Sequence[str], measure: str = "bcubed", column: str = "f1") -> list[str]:
    return [decimal(lookup(by_size(run), size, measure, column)) for size in sizes]


def _f1_table(noun: str, titles: Sequence[str], runs: Sequence[RunResults], sizes: Sequence[str]) -> Table:
    """B-cubed F1 by true size, one row per run."""
    rows = [(title, *_scores_by_size(run, sizes)) for title, run in zip(titles, runs, strict=True)]
    return Table((noun, *sizes), rows)


def _stopping(study: StudyResults, figures: _Figures) -> dict[str, Any]:
    """Where the main runs stop, against the best possible stop and on the way from many clusters to one."""
    runs = main_runs(study)
    caption = (
        "The upper line is the F1 that the best possible stop would reach, the lower line that of our stop. The area "
        f"between them is lost by stopping too early or too late. {stopping_sentences(runs)}"
    )
    return {
        "stopping_figure": figures.named("stopping", caption) if runs else None,
        "process_figures": [(run["title"], figures.processes(run, SHOWN_SIZES)) for run in runs],
    }


TUNED = {"alpha": "α alone", "beta": "β alone", "both": "α and β", "paper": "the paper's limit"}


def _limits(study: StudyResults) -> dict[str, Any]:
    runs = main_runs(study)
    rows = [_tuning_row(run, kind, tuned) for run in runs for kind, tuned in (run.get("tuning") or {}).items()]
    header = ("run", "tuned", "α", "β", "F1 training", "F1 test", "95 % interval")
    return {"tuning_sentence": tuning_sentence(runs), "tuning": Table(header, rows)}


def _tuning_row(run: RunResults, kind: str, tuned: Mapping[str, Any]) -> tuple[str, ...]:
    label = f"{TUNED.get(kind, kind)}{' •' if kind == run['limit_kind'] else ''}"
    scores = (decimal(tuned.get("training_f1")), decimal(tuned.get("test_f1")))
    interval = interval_text(*interval_of(tuned, "test_interval"))
    return short_title(run), label, small(tuned.get("alpha")), small(tuned.get("beta")), *scores, interval


def _baselines(study: StudyResults) -> dict[str, Table]:
    bases = study["baselines"]
    header = ("baseline", "threshold", "mean F1", "P", "R", "F1", "pair F1")
    titles = [base["title"] for base in bases]
    return {
        "baselines": Table(header, [_baseline_row(base) for base in bases]),
        "baselines_by_size": _f1_table("baseline", titles, bases, sizes_of(study)),
    }


def _baseline_row(base: RunResults) -> tuple[str, ...]:
    test, threshold = base["test"], base["threshold"]
    scores = [decimal(test["bcubed"][score]) for score in ("precision", "recall", "f1")]
    mean = f1_with_interval(test.get("mean_over_sizes"))
    pairs = decimal(lookup(test, "pairwise", "f1"))
    return base["title"], "–" if threshold is None else f"{threshold:.3g}", mean, *scores, pairs


def _other_runs(study: StudyResults, figures: _Figures) -> dict[str, Any]:
    """The runs that are not shown in full, each with the figures that the reader can open."""
    shown = {run["key"] for run in main_runs(study)}
    others = [run for run in ordered_runs(study) if run["key"] not in shown]
    return {
        "others_by_size": _f1_table("run", [short_title(run) for run in others], others, sizes_of(study)),
        "other_runs": [
            (
                f"{run['title']}: mean F1 {f1_with_interval(run['test'].get('mean_over_sizes'))}",
                [figures.results(run), *figures.processes(run, (5,))],
            )
            for run in others
        ],
    }
