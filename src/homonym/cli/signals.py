"""Signals that ask the program to end: they are handled like Ctrl-C, so that nothing temporary is left behind."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

HANDLED = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None]

# A signal that is repeated within this many seconds must not interrupt the clean-up.
SECONDS_TO_CLEAN_UP = 5.0


class TerminatedError(KeyboardInterrupt):
    """A signal asked the program to end.

    A class of its own, because Python exits with the status of Ctrl-C once a plain KeyboardInterrupt has left `exec`.
    """


@contextmanager
def signals_as_interrupts() -> Iterator[list[int]]:
    """While the block runs, SIGTERM and SIGHUP raise KeyboardInterrupt; yields the list of those that came.

    A signal that is ignored, as SIGHUP under `nohup`, stays ignored.
    """
    came: list[int] = []
    last = [-SECONDS_TO_CLEAN_UP]

    def interrupt(number: int, frame: FrameType | None) -> None:
        came.append(number)
        now = time.monotonic()
        if now - last[0] >= SECONDS_TO_CLEAN_UP:
            last[0] = now
            raise TerminatedError

    if threading.current_thread() is not threading.main_thread():  # only that thread may handle signals
        yield came
        return
    former = {number: signal.getsignal(number) for number in HANDLED if signal.getsignal(number) == signal.SIG_DFL}
    for number in former:
        signal.signal(number, interrupt)
    try:
        yield came
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
