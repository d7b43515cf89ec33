"""One self-contained HTML page about a study, for readers who do not know the paper that it repeats."""

from __future__ import annotations

from pathlib import Path

from homonym.files import write_whole
from homonym.report import study_results, study_setup
from homonym.report.html import Chapter, cards, contents, html_page
from homonym.report.study import Study, interval_of, paper_run
from homonym.report.study_words import best_of, between, decimal, mean_f1, quoted
from homonym.wording import counted


def write_study_page(study: Study, path: Path | str) -> None:
    """Write the page about a study, whole or not at all."""
    write_whole(Path(path), render_study(study))


def render_study(study: Study) -> str:
    """Give the page about a study as HTML."""
    parts = chapters(study)
    body = "\n".join([cards(headlines(study)), contents(parts), *(part.html() for part in parts)])
    return html_page(f"Authors of the same name: a study of {study['title']}", lead(study), body)


def chapters(study: Study) -> list[Chapter]:
    """The chapters of the page: what was found first, then what was done, then the results in full."""
    made = [
        study_results.findings(study),
        study_results.warnings(study),
        study_setup.task(study),
        study_setup.data(study),
        study_setup.measures(study),
        study_setup.method(study),
        study_setup.weights(study),
        study_results.overview(study),
        study_results.by_true_size(study),
        study_results.stopping(study),
        study_results.limits(study),
        study_results.baselines(study),
        study_results.other_runs(study),
        study_results.notes(study),
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
