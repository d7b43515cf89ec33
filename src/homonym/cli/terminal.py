"""What a command prints: progress, and then a summary, warnings, and problems with the input."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

import click

from homonym.errors import counted
from homonym.io.paths import printable
from homonym.io.result_directory import CONFLICTS, REPORT
from homonym.runtime.progress import UNITS, peak_memory

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, Task
    from rich.text import Text

    from homonym.calibration.limit import CalibratedLimit
    from homonym.commands.calibrate import Calibration
    from homonym.commands.check import CheckedResult
    from homonym.commands.convert import Conversion
    from homonym.commands.decide import RecordedDecision
    from homonym.commands.decisions import DecisionList
    from homonym.commands.export import Exported
    from homonym.commands.inspect import Inspection
    from homonym.commands.result import ConstraintSummary, Summary
    from homonym.commands.study import Study
    from homonym.commands.train import Training
    from homonym.commands.update import Updated
    from homonym.records.model import Problems
    from homonym.settings import Limit


#: Maximum number of problems that are printed; all are counted.
SHOWN_PROBLEMS = 5

REJECTED = {
    "record": "records rejected",
    "author": "authors rejected",
    "field": "fields rejected",
    "duplicate": "duplicates, merged",
    "contributor": "groups and editors, no mentions",
    "warning": "fields to check",
}


class Reported(Protocol):
    """The part of every summary that is about problems."""

    @property
    def problems(self) -> Problems:
        """Rejected records, authors and fields, and duplicates."""

    @property
    def warnings(self) -> list[str]:
        """Warnings, each a sentence."""


def _note(text: str) -> None:
    """Print a line about a problem to standard error."""
    click.echo(printable(text), err=True)


def _console() -> Console:
    """Standard output, with colours on a terminal. rich is imported here, because a quiet run does not need it."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


def show_problems(summary: Reported) -> None:
    """Print warnings, the first few problems with file and line, and the number of all problems."""
    for warning in summary.warnings:
        _note(f"warning: {warning}")
    # Each reason once per file: thousands of records may have the same unknown key.
    first = {(problem.file, problem.reason): problem for problem in reversed(summary.problems.first)}
    shown = [problem for problem in summary.problems.first if problem is first[problem.file, problem.reason]]
    shown = shown[:SHOWN_PROBLEMS]
    for problem in shown:
        _note(str(problem))
    if len(summary.problems) > len(shown):
        _note("…")
    counts = {lost: counted(count, lost) for lost, count in summary.problems.counts.items() if count}
    if any(problem.merged for problem in summary.problems.first):
        _note(f"Merged with another copy of the same document: {counts.pop('duplicate')}.")
    if others := counts.pop("contributor", ""):
        _note(f"Not people or not authors, kept in the documents: {others}.")
    if doubtful := summary.problems.counts["warning"]:
        counts.pop("warning")
        _note(f"Read, but worth checking: {counted(doubtful, 'field')}.")
    if counts:
        _note(f"Rejected: {', '.join(counts.values())}.")


def show_conversion(done: Conversion, console: Console | None = None) -> None:
    """Print the summary of a conversion."""
    console = console or _console()
    console.print(f"{counted(done.records, 'record')}, {counted(done.mentions, 'mention')}")
    _show_cost(console, done.seconds)
    console.print(f"{done.output}", markup=False)


def show_text(text: str) -> None:
    """Print text; on a terminal, long lines are wrapped between words and keep their indentation."""
    from rich.console import Console

    console = Console()
    if console.is_terminal:
        text = "\n".join(wrapped(line, console.width) for line in text.split("\n"))
    click.echo(text)


def wrapped(line: str, width: int) -> str:
    """A line of at most a width, as far as its words allow; following lines are indented two blanks further.

    >>> wrapped("  one two three", 10)
    '  one two\\n    three'
    """
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    lines = textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def show_export(done: Exported, *, quiet: bool = False) -> None:
    """Print warnings, the number of authors and the path of an export."""
    show_warnings(done.warnings)
    if not quiet:
        console = _console()
        what = counted(done.authors, "author") if done.records is None else counted(done.records, "rewritten record")
        console.print(f"{what} → {done.to}")
        console.print(f"{done.output}", markup=False)


# What an update did, by the keys of its counts.
_OF_DOCUMENTS = {
    "added": "added", "changed": "replaced by a newer record", "removed": "removed", "unchanged": "known already"
}  # fmt: skip
_OF_MENTIONS = {
    "added": "added", "removed": "removed", "renamed": "moved to another position in their document",
    "other author": "moved to another author",
}  # fmt: skip
_OF_AUTHORS = {
    "created": "new", "grown": "with new mentions", "merged": "merged into another", "split": "split off another",
    "retired": "without mentions now", "revived": "separate again",
}  # fmt: skip


def _said(counts: Mapping[str, int], words: Mapping[str, str]) -> str:
    return ", ".join(f"{counts[key]:,} {text}" for key, text in words.items() if counts.get(key))


def show_update(done: Updated, console: Console | None = None) -> None:
    """Print what an update did to documents, mentions and authors."""
    console = console or _console()
    for noun, said in (
        ("documents", _said(done.documents, _OF_DOCUMENTS)),
        ("mentions", _said(done.mentions, _OF_MENTIONS)),
        ("authors", _said({**done.events, "grown": done.grown, "moved": 0}, _OF_AUTHORS)),
    ):
        console.print(f"{noun}: {said or 'no change'}", markup=False)
    if done.new_epoch:
        console.print(f"epoch {done.epoch}: frequencies and limit are new ({done.new_epoch})", markup=False)
    if done.conflicts:
        console.print(f"constraint conflicts: {done.conflicts:,} new (in {done.output / CONFLICTS})", markup=False)
    _show_cost(console, done.seconds)
    console.print(f"{done.output} (update {done.update}, epoch {done.epoch})", markup=False)


def show_check(found: CheckedResult) -> None:
    """Print what is wrong with a result, one line each, and what was made again."""
    for name in found.repaired:
        click.echo(f"made again: {name}")
    for problem in found.problems:
        click.echo(printable(problem))
    click.echo(counted(len(found.problems), "problem") if found.problems else "no problems")


def show_decided(done: RecordedDecision) -> None:
    """Print the number of a decision, and what speaks against it."""
    show_warnings(done.warnings)
    click.echo(f"decision {done.decision.number} is recorded; homonym update applies it")


def show_decisions(found: DecisionList, *, as_json: bool = False) -> None:
    """Print all decisions, and contradictions between them."""
    import orjson

    show_warnings(found.warnings)
    if found.exported and not as_json:
        if found.imported is not None:
            click.echo(f"{counted(found.imported, 'decision')} imported")
        click.echo(f"{counted(len(found.state.active), 'decision')} in force → {printable(str(found.exported))}")
    else:
        click.echo(orjson.dumps(found.to_json(), option=orjson.OPT_INDENT_2).decode() if as_json else str(found))


def show_warnings(warnings: Iterable[str]) -> None:
    """Print warnings to standard error."""
    for warning in warnings:
        _note(f"warning: {warning}")


def show_inspection(found: Inspection, console: Console | None = None) -> None:
    """Print what files contain, and the most frequent names."""
    from rich.table import Table
    from rich.text import Text

    from homonym.features.types import describe
    from homonym.records.reader import format_named

    console = console or _console()
    inventory = found.inventory
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(justify="right")

    def row(title: str, number: int | str, remark: str = "") -> None:
        table.add_row(title, f"{number:,}" if isinstance(number, int) else number, Text(remark, style="dim"))

    def share(count: int, of: int) -> str:
        return f"{100 * count / of:.1f} %" if of else ""

    for form, files in found.formats.items():
        row("files", files, format_named(form).title)
    row("records", inventory.records, f"{inventory.without_authors:,} without authors")
    for file, records in found.without_authors.items():
        table.add_row(Text("no authors", style="red"), Text(f"{records:,}", style="red"), Text(file, style="red"))
    row("mentions", inventory.mentions)
    row("names", inventory.names)
    if inventory.labelled:
        row("labelled", inventory.labelled, share(inventory.labelled, inventory.mentions) + " of mentions")
    years = "{}–{}, median {}".format(*(inventory.years[i] for i in (0, 2, 1))) if inventory.years else ""
    row("years", inventory.with_year, years)
    for kind, count in inventory.document_ids.items():
        row(f"records with {kind}", count, share(count, inventory.records))
    for kind, (count, values) in inventory.identifiers.items():
        row(f"mentions with {kind}", count, f"{share(count, inventory.mentions)}, {values:,} distinct")
    for kind, part in found.features.items():
        row(f"mentions with {kind}", f"{100 * part:.1f} %", describe(kind))
    for lost, count in found.problems.counts.items():
        row(REJECTED[lost], count)
    console.print(table)
    if inventory.frequent:
        names = Table("most frequent names", box=None, pad_edge=False)
        for column in ("mentions", "records"):
            names.add_column(column, justify="right")
        for name, mentions, records in inventory.frequent:
            names.add_row(Text(name), f"{mentions:,}", f"{records:,}")
        console.print()
        console.print(names)


def show_summary(summary: Summary, console: Console | None = None) -> None:
    """Print the summary of a run: counts, constraints, merge threshold, confidence, time and memory."""
    console = console or _console()
    read = [(summary.records, "record"), (summary.mentions, "mention"), (summary.blocks, "name")]
    found = f" → {counted(summary.authors, 'author')}" if summary.authors is not None else ""
    console.print(", ".join(counted(number, noun) for number, noun in read) + found)
    if summary.constraints:
        _show_constraints(console, summary.constraints)
    if summary.limit:
        console.print(_describe_limit(summary.limit, summary.calibration))
    if summary.background:
        console.print(f"background: {summary.background.describe()}", markup=False)
    if summary.confidence is not None:
        console.print(f"mean confidence: {summary.confidence:.3f}, over mentions whose name occurs more than once")
    _show_cost(console, summary.seconds)
    if (page := summary.output / REPORT).is_file():
        console.print(f"page for your browser: {page}", markup=False)
    console.print(f"{summary.output}", markup=False)


def _describe_limit(limit: Limit, calibrated: CalibratedLimit | None) -> str:
    """The merge threshold, where it comes from, and what to expect of it."""
    from homonym.calibration.limit import SEEDS

    if calibrated is None:
        return f"merge threshold (as given): {limit.describe()}"
    if calibrated.precision is None or calibrated.recall is None:
        return f"merge threshold (default): {limit.describe()}{_other_calibration(calibrated)}"
    spread = " … ".join(map(_values, calibrated.spread)) if calibrated.spread else ""
    between = f", {spread} over {counted(SEEDS, 'repetition')}" if spread else ""
    return (
        f"merge threshold (calibrated without labels): {limit.describe()}{between}{_other_calibration(calibrated)}\n"
        f"estimated precision {calibrated.precision:.3f}, recall {calibrated.recall:.3f}, on "
        f"{counted(calibrated.names, 'pseudo-name')} made of {calibrated.people:,} people; real names may be harder"
    )


def _other_calibration(calibrated: CalibratedLimit) -> str:
    """The chance limit and the trust in names, where they are used."""
    parts = [f"chance limit {calibrated.chance_limit:.3g}"] if calibrated.chance_limit else []
    parts += [f"trust in full names {calibrated.name_trust:.2f}"] if calibrated.name_trust is not None else []
    return "".join(f"; {part}" for part in parts)


def _values(limit: Limit) -> str:
    """The values of a limit that are not 0, without their names."""
    return ", ".join(f"{value:.3g}" for value in limit if value) or "0"


def _show_constraints(console: Console, done: ConstraintSummary) -> None:
    def by_kind(counts: Mapping[str, int]) -> str:
        return ", ".join(f"{count:,} by {kind}" for kind, count in counts.items())

    if done.links:
        console.print(f"must-link: {counted(done.linked, 'mention')} linked ({by_kind(done.links)})")
    if done.united:
        console.print(f"across names: {counted(done.united, 'author')} united with authors of other names")
    if done.apart:
        console.print(f"cannot-link, in pairs of mentions: {by_kind(done.apart)}")
    for conflict in done.first:
        console.print(f"conflict: {conflict.what}", markup=False)
    if done.contradictions:
        console.print(f"{counted(done.contradictions, 'constraint conflict')}, listed in {done.file}", markup=False)


LIMITS = {
    "kappa": "only κ",
    "alpha": "only α",
    "beta": "only β",
    "both": "α and β",
    "paper": "the paper's",
    "default": "the default",
    "pseudo-names": "pseudo-names",
}
GREEK = {"alpha": "α", "beta": "β", "kappa": "κ"}


def show_calibration(found: Calibration, console: Console | None = None) -> None:
    """Print the limits that were tried, their F1, and the one that was chosen."""
    console = console or _console()
    if found.limits:
        _show_labels(console, found.labels, found.labels_without_mention)
        _show_limits(console, found)
        _show_chances(console, found)
    _show_unlabelled(console, found)
    options = [f"--{part} {value:.4g}" for part, value in found.settings.limit._asdict().items() if value]
    if found.settings.gamma is not None:
        options.append(f"--gamma {found.settings.gamma:g}")
    # They are off where a limit is given, unless they are given, too.
    others = {"chance-limit": found.settings.required_lift, "name-trust": found.settings.trust_in_names}
    options += [f"--{option} {value:.4g}" for option, value in others.items() if value]
    options += [f"--background {found.settings.background_in_use}"] * (found.settings.background == "on")
    console.print(" ".join(options))


def _show_limits(console: Console, found: Calibration) -> None:
    from homonym.evaluation.rendering import empty_table, figure, interval_text

    names = f"{counted(found.training_names, 'training name')}, {found.test_names:,} test names"
    columns = ("limit", "", "γ", "95 % spread", "training\nF1", "test F1,\n95 % interval")
    table = empty_table(f"B-cubed F1, averaged over the true numbers of authors: {names}", columns)
    for limit in found.limits:
        table.add_row(
            LIMITS[limit.kind] + (" ←" if limit.kind == found.chosen else ""),
            "\n".join(f"{GREEK[part]} {getattr(limit, part):.3g}" for part in GREEK if getattr(limit, part)),
            f"{limit.gamma:g}",
            f"{limit.spread[0]:.2g} … {limit.spread[1]:.2g}" if limit.spread else "",
            figure(limit.training),
            f"{figure(limit.test.value)} {interval_text(limit.test.interval)}" if limit.test else "",
        )
    console.print(table)


def _show_chances(console: Console, found: Calibration) -> None:
    """Print the chosen weight γ of the chance correction, and the F1 of the others."""
    from homonym.evaluation.rendering import figure

    if not found.chances:
        return
    f1 = ", ".join(f"{tried.gamma:g} ({figure(tried.f1)})" for tried in found.chances)
    why = "clearly better than the default" if found.settings.gamma is not None else "no other is clearly better"
    console.print(f"γ = {found.settings.chance_weight:g}: {why}; training F1 of all values: {f1}")


def _show_unlabelled(console: Console, found: Calibration) -> None:
    """Print the limit calibrated without labels; next to labelled results only if there were pseudo-names."""
    if not found.limits:
        console.print(_describe_limit(found.settings.limit, found.unlabelled))
    elif found.unlabelled.names:
        console.print(_describe_limit(found.unlabelled.limit, found.unlabelled))


def show_training(found: Training, console: Console | None = None) -> None:
    """Print the learned weights with their spread."""
    from homonym.evaluation.rendering import empty_table

    console = console or _console()
    learnt = found.learnt
    _show_labels(console, found.labels, found.labels_without_mention)
    table = empty_table(
        f"{learnt.pairs:,} pairs from {counted(learnt.names, 'name')}, over {counted(learnt.seeds, 'seed')}",
        ("feature type", "weight", "sd"),
    )
    for kind, weight in sorted(learnt.weights.items(), key=lambda item: -item[1]):
        table.add_row(kind, f"{weight:.3f}", f"{learnt.sd[kind]:.3f}")
    console.print(table)
    console.print(
        f"On test names, {100 * learnt.accuracy:.1f} % of the pairs are classified correctly; chance is 50 %."
    )


def show_study(found: Study, console: Console | None = None) -> None:
    """Print the findings of a study, its time, and the path of its page."""
    console = console or _console()
    for step in found.values.get("replay", []):
        console.print(
            f"{step['order']:<7}{step['part']:<11}{step['mode']:<8} F1 {step['f1']:.4f}, {step['churn']:.1%} ids "
            f"changed, {step['wrong_redirects']} of {step['redirects']} redirects wrong, "
            f"{step['cpu_seconds']:.1f} s CPU", markup=False,
        )  # fmt: skip
    for finding in found.values.get("findings", []):
        console.print(f"{finding['verdict']:<10} {finding['claim']}", markup=False)
    _show_cost(console, found.values["seconds"])
    console.print(str(found.report), markup=False)


def _show_cost(console: Console, seconds: Mapping[str, float]) -> None:
    stages = ", ".join(f"{stage} {time:.1f} s" for stage, time in seconds.items())
    console.print(f"{sum(seconds.values()):.1f} s ({stages}); peak memory {peak_memory() / 2**30:.2f} GiB")


def _show_labels(console: Console, labels: int, without_mention: int) -> None:
    lost = f"; {without_mention:,} of them for mentions that do not exist" if without_mention else ""
    console.print(counted(labels, "label") + lost)


#: Stages shorter than this show no bar.
SHOWN_AFTER_SECONDS = 1.0
#: Minimum time between two progress lines, where there is no terminal.
SECONDS_BETWEEN_LINES = 30.0

TITLES = {
    "generate": "Generating mentions",
    "read": "Reading and extracting features",
    "merge": "Merging copies of documents",
    "count": "Counting features",
    "encode": "Encoding bags",
    "constrain": "Finding must-link and cannot-link constraints",
    "calibrate": "Calibrating the merge threshold on pseudo-names",
    "cluster": "Clustering mentions",
    "write": "Writing",
    "documents": "Writing documents",
    "summarise": "Summarising authors",
    "variants": "Looking for name variants",
    "examine": "Looking for name variants and for reasons",
    "report": "Writing the page",
    "tune": "Tuning the merge threshold",
    "train": "Learning weights",
    "study": "Running variants, weights and baselines",
    "draw": "Drawing tables and figures",
}


class ProgressBars:
    """Shows each stage with its rate and remaining time. A bar appears only if the stage takes a while."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console

        self.console = console or Console(stderr=True, highlight=False, soft_wrap=True)
        self.stage = ""
        self.total: int | None = None
        self.done = 0
        self.began = 0.0
        self.bar: Progress | None = None
        self.last_line = time.monotonic(), 0

    def begin(self, stage: str, total: int | None) -> None:
        """Start a stage. Its bar appears later, if the stage lasts long enough."""
        self.stage, self.total, self.done, self.began = stage, total, 0, time.monotonic()
        if not self.console.is_terminal:
            self._begin_line()
        elif total is None:  # such a stage never calls advance, so its bar cannot wait for a call
            self._show()

    def advance(self, amount: int) -> None:
        """Move the bar, or show it if the stage has lasted long enough."""
        self.done += amount
        if self.bar:
            self.bar.update(self.bar.task_ids[0], completed=self.done)
        elif not self.console.is_terminal:
            self._print_line()
        elif time.monotonic() - self.began > SHOWN_AFTER_SECONDS:
            self._show()

    def end(self) -> None:
        """Remove the bar."""
        if self.bar:
            self.bar.stop()
            self.bar = None

    def __enter__(self) -> ProgressBars:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.end()

    def _show(self) -> None:
        from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn
        from rich.progress import TimeRemainingColumn as TimeLeft
        from rich.text import Text

        stage = self.stage

        class Rate(ProgressColumn):
            """Recent amount of work per second."""

            def render(self, task: Task) -> Text:
                return Text(format_rate(stage, task.speed) if task.speed else "", style="dim")

        self.bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Rate(), TimeLeft(),
            console=self.console, transient=True,
        )  # fmt: skip
        self.bar.add_task(TITLES.get(self.stage, self.stage), total=self.total, completed=self.done)
        self.bar.start()

    def _begin_line(self) -> None:
        """In a long run, print the title of the new stage. Rates are counted from here."""
        now = time.monotonic()
        if now - self.last_line[0] >= SECONDS_BETWEEN_LINES:
            self.console.print(TITLES.get(self.stage, self.stage), markup=False)
            self.last_line = now, 0
        else:
            self.last_line = self.last_line[0], 0

    def _print_line(self) -> None:
        """Print the state of the stage, unless the last line is too recent."""
        now, (when, done) = time.monotonic(), self.last_line
        if now - when < SECONDS_BETWEEN_LINES:
            return
        self.last_line = now, self.done
        speed = (self.done - done) / (now - max(when, self.began))
        title = TITLES.get(self.stage, self.stage)
        self.console.print(f"{title}: {format_state(self.stage, self.done, self.total, speed)}", markup=False)


def format_state(stage: str, done: int, total: int | None, speed: float) -> str:
    """Share done, rate and remaining time of a stage.

    >>> format_state("read", 41_000_000, 100_000_000, 1_250_000.0)
    '41 % · 1.2 MB/s · 0:47 left'
    >>> format_state("cluster", 41_000, None, 12_300.0)
    '12,300 mentions/s'
    """
    parts = [f"{100 * done // total} %"] if total else []
    if speed > 0:
        parts.append(format_rate(stage, speed))
        if total:
            parts.append(f"{_clock(max(total - done, 0) / speed)} left")
    return " · ".join(parts)


def format_rate(stage: str, speed: float) -> str:
    """The work per second of a stage, in its own unit.

    >>> format_rate("read", 12_345_678.0), format_rate("cluster", 45_678.9), format_rate("study", 0.25)
    ('12.3 MB/s', '45,679 mentions/s', '0.2/s')
    """
    unit = UNITS.get(stage)
    if unit == "bytes":
        return f"{speed / 1e6:.1f} MB/s"
    return f"{speed:,.0f} {unit}/s" if unit else f"{speed:.1f}/s"


def _clock(seconds: float) -> str:
    """Seconds as h:mm:ss or m:ss.

    >>> _clock(47), _clock(125), _clock(7325)
    ('0:47', '2:05', '2:02:05')
    """
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"
