"""Demo: a generated corpus through all steps, and a page that shows the result."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from homonym.commands.disambiguate import disambiguate
from homonym.commands.result import Summary
from homonym.io.result_directory import REPORT, SETTINGS
from homonym.runtime.progress import Listener, Stages
from homonym.settings import Settings, load_settings

if TYPE_CHECKING:
    from homonym.evaluation.assessment import Evaluation


# The result directory in the directory of the demo, and its evaluation.
RESULT, EVALUATION = "result", "evaluation.json"

# Homonyms are three times as common as in the Web of Science, to have enough names of each true size for a figure.
AMBIGUITY = 3.0


@dataclass(frozen=True)
class Demonstration:
    """The summary of the run, its evaluation, and the page."""

    summary: Summary
    evaluation: Evaluation
    report: Path


def demo(
    output: str | Path, *, mentions: int = 20_000, seed: int = 0, listener: Listener | None = None
) -> Demonstration:
    """Generate a corpus, disambiguate it with default settings, evaluate it, and write DIR/report.html.

    DIR/result is a result directory, as a run on real records makes it.
    """
    from homonym.commands.evaluate import evaluate
    from homonym.commands.generate import generate, require_own_files
    from homonym.report.evaluation_page import write_report
    from homonym.report.page import Section
    from homonym.synthetic.corpus import Corpus

    directory = Path(output)
    require_own_files(directory, REPORT, EVALUATION)
    with Stages(listener).stage("generate", mentions) as advance:
        documents = generate(directory, Corpus(mentions=mentions, seed=seed, ambiguity=AMBIGUITY), advance=advance)
    # Real people seldom share a rare full name, but the generator gives one to several people.
    settings = Settings(name_trust=0.0)
    summary = disambiguate(documents, directory / RESULT, settings, listener=listener)
    evaluation = evaluate(summary.output, documents, json=directory / EVALUATION)
    report = directory / REPORT
    about = Section(
        "About this corpus",
        [
            "The documents are generated, and the likeness of people of one name was chosen so that the task is "
            "neither trivial nor hopeless. The figures show how the tool works and what it reports; they say nothing "
            "about how well it does on real records.",
            f"A run without labels writes a result directory: here it is {RESULT}/, whose page is {RESULT}/{REPORT}.",
        ],
    )
    title = f"Demonstration: {summary.mentions:,} generated mentions of {summary.blocks:,} names"
    # These have the limit that was found; those it started with do not.
    used = load_settings(summary.output / SETTINGS).spelled_out()
    write_report(evaluation, report, title=title, settings=used, sections=[about])
    return Demonstration(summary, evaluation, report)
