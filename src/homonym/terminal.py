"""What a run shows on the terminal: progress while it works, a summary when it is done."""

from __future__ import annotations

import resource
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console

from homonym.pipeline import Summary
from homonym.wording import counted

if TYPE_CHECKING:
    from rich.progress import Progress

#: Stages shorter than this never show a bar.
SHOWN_AFTER_SECONDS = 1.0
#: So many problems are shown; all are counted.
SHOWN_PROBLEMS = 5

DOING = {
    "generate": "Generating mentions",
    "read": "Reading and extracting features",
    "count": "Counting features",
    "encode": "Encoding bags",
    "cluster": "Clustering mentions",
    "write": "Writing",
}


class ProgressBars:
    """A bar for each stage on standard error, only where somebody can see it and only if the stage takes a while."""

    def __init__(self) -> None:
        self.console = Console(stderr=True)
        self.stage = ""
        self.total: int | None = None
        self.done = 0
        self.began = 0.0
        self.bar: Progress | None = None

    def begin(self, stage: str, total: int | None) -> None:
        """Remember a stage; its bar comes when it has lasted long enough."""
        self.stage, self.total, self.done, self.began = stage, total, 0, time.monotonic()
        if total is None:  # such a stage never reports, so its bar cannot wait for a report
            self._show()

    def advance(self, amount: int) -> None:
        """Move the bar, or show it if it is time."""
        self.done += amount
        if self.bar:
            self.bar.update(self.bar.task_ids[0], completed=self.done)
        elif time.monotonic() - self.began > SHOWN_AFTER_SECONDS:
            self._show()

    def end(self) -> None:
        """Take the bar away."""
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
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        if not self.console.is_terminal:
            return
        self.bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(),
            console=self.console, transient=True,
        )  # fmt: skip
        self.bar.add_task(DOING.get(self.stage, self.stage), total=self.total, completed=self.done)
        self.bar.start()


def show_problems(summary: Summary, console: Console | None = None) -> None:
    """Say what was set aside, the first few with their places; and what else the user should know."""
    console = console or Console(stderr=True, soft_wrap=True, highlight=False)
    for warning in summary.warnings:
        console.print(f"note: {warning}", markup=False)
    for problem in summary.problems.kept[:SHOWN_PROBLEMS]:
        console.print(str(problem), markup=False)
    if len(summary.problems) > SHOWN_PROBLEMS:
        console.print("…")
    if len(summary.problems):
        counts = [counted(count, lost) for lost, count in summary.problems.counts.items() if count]
        console.print(f"Set aside: {', '.join(counts)}.")


def show_summary(summary: Summary, console: Console | None = None) -> None:
    """Print what a run did, where its time went and how much memory it took."""
    console = console or Console(highlight=False, soft_wrap=True)
    read = [(summary.records, "record"), (summary.mentions, "mention"), (summary.blocks, "name")]
    found = f" → {counted(summary.authors, 'author')}" if summary.authors is not None else ""
    console.print(", ".join(counted(number, noun) for number, noun in read) + found)
    stages = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in summary.seconds.items())
    console.print(f"{sum(summary.seconds.values()):.1f} s ({stages}); at most {peak_memory() / 2**30:.2f} GiB")
    console.print(f"{summary.output}", markup=False)


def peak_memory() -> int:
    """The most memory that this process and its largest child have held, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) * unit
