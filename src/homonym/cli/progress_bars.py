"""Progress on standard error: bars on a terminal, otherwise a line every 30 seconds."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console

from homonym.runtime.progress import UNITS

if TYPE_CHECKING:
    from rich.progress import Progress, Task
    from rich.text import Text


#: Stages shorter than this show no bar.
SHOWN_AFTER_SECONDS = 1.0
#: Minimum time between two progress lines, where there is no terminal.
SECONDS_BETWEEN_LINES = 30.0

TITLES = {
    "generate": "Generating mentions",
    "read": "Reading and extracting features",
    "count": "Counting features",
    "encode": "Encoding bags",
    "constrain": "Finding must-link and cannot-link constraints",
    "calibrate": "Calibrating the merge threshold on pseudo-names",
    "cluster": "Clustering mentions",
    "write": "Writing",
    "tune": "Tuning the merge threshold",
    "train": "Learning weights",
    "study": "Running variants, weights and baselines",
    "draw": "Drawing tables and figures",
}


class ProgressBars:
    """Shows each stage with its rate and remaining time. A bar appears only if the stage takes a while."""

    def __init__(self, console: Console | None = None) -> None:
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
