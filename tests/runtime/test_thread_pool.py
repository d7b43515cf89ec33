"""Thread pools: results as they complete, large items one at a time, errors end the work."""

from __future__ import annotations

import threading
import time

import pytest

from homonym.runtime.thread_pool import map_as_completed

# A guard against hanging, not a measurement.
PATIENCE = 120


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_runs_items_that_must_be_alone_one_at_a_time(threads: int) -> None:
    lock, at_once, most = threading.Lock(), 0, 0

    def work(item: int) -> int:
        nonlocal at_once, most
        if item % 3:
            return -item
        with lock:
            at_once += 1
            most = max(most, at_once)
        time.sleep(0.002)
        with lock:
            at_once -= 1
        return -item

    found = dict(map_as_completed(work, range(40), threads, alone=lambda item: item % 3 == 0))
    assert found == {item: -item for item in range(40)}
    assert most == 1


def test_other_threads_do_not_wait_for_an_item_that_is_alone() -> None:
    """While one thread is busy with a giant, the other does all the rest."""
    rest_is_done = threading.Event()

    def work(item: str) -> str:
        if item == "giant":
            assert rest_is_done.wait(PATIENCE)
        if item == "last":
            rest_is_done.set()
        return item

    items = ["giant", "second giant", "small", "last"]
    ended = [item for item, _ in map_as_completed(work, items, 2, alone=lambda item: "giant" in item)]
    assert ended == ["small", "last", "giant", "second giant"]


def test_an_error_on_a_thread_ends_the_work() -> None:
    threads, begun = threading.active_count(), []

    def work(item: int) -> int:
        begun.append(item)
        return 1 // (5 - item)

    with pytest.raises(ZeroDivisionError):
        list(map_as_completed(work, range(10_000), 2, alone=lambda item: False))
    assert len(begun) < 1000
    answers = map_as_completed(abs, range(10_000), 2, alone=lambda item: False)
    next(answers)
    answers.close()  # type: ignore[attr-defined]
    assert threading.active_count() == threads
