"""Progress bars on a terminal, and lines without one."""

from __future__ import annotations

import io
import time
from typing import Any

import pytest
from rich.console import Console

from homonym.cli import terminal as terminal_module
from homonym.cli.terminal import ProgressBars


def lines_of(monkeypatch: pytest.MonkeyPatch, *, terminal: bool = False) -> tuple[ProgressBars, io.StringIO, Any]:
    """Bars that write to a text, and a clock to be set."""

    class Clock:
        now = 1000.0

        def monotonic(self) -> float:
            return self.now

    clock, text = Clock(), io.StringIO()
    monkeypatch.setattr(terminal_module, "time", clock)
    console = Console(file=text, force_terminal=terminal, soft_wrap=True, highlight=False, width=150)
    return ProgressBars(console), text, clock


def test_prints_lines_now_and_then_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, text, clock = lines_of(monkeypatch)
    shown.begin("read", 100_000_000)
    for second in range(1, 76):
        clock.now = 1000.0 + second
        shown.advance(500_000)
    shown.end()
    shown.begin("count", None)
    shown.end()
    clock.now += 100
    shown.begin("cluster", 1000)
    clock.now += 40
    shown.advance(400)
    assert text.getvalue().splitlines() == [
        "Reading and extracting features: 15 % · 0.5 MB/s · 2:50 left",
        "Reading and extracting features: 30 % · 0.5 MB/s · 2:20 left",
        "Clustering mentions",
        "Clustering mentions: 40 % · 10 mentions/s · 1:00 left",
    ]


def test_prints_nothing_for_short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, text, clock = lines_of(monkeypatch)
    for stage in ("read", "cluster"):
        shown.begin(stage, 100)
        clock.now += 14
        shown.advance(100)
        shown.end()
    assert text.getvalue() == ""


def test_a_progress_bar_shows_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, text, clock = lines_of(monkeypatch, terminal=True)
    with shown:
        shown.begin("read", 100_000_000)
        clock.now += 2
        shown.advance(1_000_000)
        for _ in range(3):
            shown.advance(1_000_000)
            time.sleep(0.15)
    assert "Reading and extracting features" in text.getvalue()
    assert "MB/s" in text.getvalue()
