"""How far a run is, on standard error: bars where somebody looks at them, now and then a line where nobody does."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console

from homonym.runtime.progress import UNITS

if TYPE_CHECKING:
    from rich.progress import Progress, Task
    from rich.text import Text


#: Stages shorter than this never show a bar.
SHOWN_AFTER_SECONDS = 1.0
#: Where there is no terminal, a line tells how far a run is, not more often than this.
SECONDS_BETWEEN_LINES = 30.0

DOING = {
    "generate": "Generating mentions",
    "read": "Reading and extracting features",
    "count": "Counting features",
    "encode": "Encoding bags",
    "constrain": "Finding constraints",
    "calibrate": "Calibrating on pseudo-names",
    "cluster": "Clustering mentions",
    "write": "Writing",
    "tune": "Tuning the limit",
    "train": "Learning weights",
    "study": "Running variants, weights and baselines",
    "draw": "Drawing tables and figures",
}


class ProgressBars:
    """Each stage with its rate and the time that is left; a bar comes only if the stage takes a while."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True, highlight=False, soft_wrap=True)
        self.stage = ""
        self.total: int | None = None
        self.done = 0
        self.began = 0.0
        self.bar: Progress | None = None
        self.said = time.monotonic(), 0

    def begin(self, stage: str, total: int | None) -> None:
        """Remember a stage; its bar comes when it has lasted long enough."""
        self.stage, self.total, self.done, self.began = stage, total, 0, time.monotonic()
        if not self.console.is_terminal:
            self._begin_line()
        elif total is None:  # such a stage never reports, so its bar cannot wait for a report
            self._show()

    def advance(self, amount: int) -> None:
        """Move the bar, or show it if it is time."""
        self.done += amount
        if self.bar:
            self.bar.update(self.bar.task_ids[0], completed=self.done)
        elif not self.console.is_terminal:
            self._say()
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
        from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn
        from rich.progress import TimeRemainingColumn as TimeLeft
        from rich.text import Text

        stage = self.stage

        class Rate(ProgressColumn):
            """How much is done in a second, lately."""

            def render(self, task: Task) -> Text:
                return Text(rate_in_words(stage, task.speed) if task.speed else "", style="dim")

        self.bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Rate(), TimeLeft(),
            console=self.console, transient=True,
        )  # fmt: skip
        self.bar.add_task(DOING.get(self.stage, self.stage), total=self.total, completed=self.done)
        self.bar.start()

    def _begin_line(self) -> None:
        """In a long run, say that another stage has begun; rates are counted from there."""
        now = time.monotonic()
        if now - self.said[0] >= SECONDS_BETWEEN_LINES:
            self.console.print(DOING.get(self.stage, self.stage), markup=False)
            self.said = now, 0
        else:
            self.said = self.said[0], 0

    def _say(self) -> None:
        """Say how far the stage is, if it is time for that."""
        now, (when, done) = time.monotonic(), self.said
        if now - when < SECONDS_BETWEEN_LINES:
            return
        self.said = now, self.done
        speed = (self.done - done) / (now - max(when, self.began))
        doing = DOING.get(self.stage, self.stage)
        self.console.print(f"{doing}: {state_in_words(self.stage, self.done, self.total, speed)}", markup=False)


def state_in_words(stage: str, done: int, total: int | None, speed: float) -> str:
    """How far a stage is, how fast it goes, and how long it will take.

    >>> state_in_words("read", 41_000_000, 100_000_000, 1_250_000.0)
    '41 % · 1.2 MB/s · 0:47 left'
    >>> state_in_words("cluster", 41_000, None, 12_300.0)
    '12,300 mentions/s'
    """
    said = [f"{100 * done // total} %"] if total else []
    if speed > 0:
        said.append(rate_in_words(stage, speed))
        if total:
            said.append(f"{_clock(max(total - done, 0) / speed)} left")
    return " · ".join(said)


def rate_in_words(stage: str, speed: float) -> str:
    """How much a stage does in a second, in its own unit.

    >>> rate_in_words("read", 12_345_678.0), rate_in_words("cluster", 45_678.9), rate_in_words("study", 0.25)
    ('12.3 MB/s', '45,679 mentions/s', '0.2/s')
    """
    unit = UNITS.get(stage)
    if unit == "bytes":
        return f"{speed / 1e6:.1f} MB/s"
    return f"{speed:,.0f} {unit}/s" if unit else f"{speed:.1f}/s"


def _clock(seconds: float) -> str:
    """Seconds as people read them.

    >>> _clock(47), _clock(125), _clock(7325)
    ('0:47', '2:05', '2:02:05')
    """
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"
