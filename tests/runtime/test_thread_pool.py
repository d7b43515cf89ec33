"""Thread pools: results as they complete, large items only where there is room, errors end the work."""

from __future__ import annotations

import threading
import time

import pytest

from homonym.runtime.thread_pool import map_as_completed, meanwhile

# A guard against hanging, not a measurement.
PATIENCE = 120


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("room", [1, 3, 7])
def test_items_that_run_at_the_same_time_fit_into_the_room(threads: int, room: int) -> None:
    lock, running, seen = threading.Lock(), [], []

    def work(item: int) -> int:
        with lock:
            running.append(item % 5)
            seen.append(sorted(size for size in running if size))
        time.sleep(0.002)
        with lock:
            running.remove(item % 5)
        return -item

    found = dict(map_as_completed(work, range(40), threads, size=lambda item: item % 5, room=room))
    assert found == {item: -item for item in range(40)}
    assert all(sum(sizes) <= room or len(sizes) == 1 for sizes in seen)
    if threads == 5 and room == 7:
        assert max(map(len, seen)) > 1  # the room is used


def test_other_threads_do_not_wait_for_an_item_without_room() -> None:
    """While one thread is busy with a giant, the other does all the rest."""
    rest_is_done = threading.Event()

    def work(item: str) -> str:
        if item == "giant":
            assert rest_is_done.wait(PATIENCE)
        if item == "last":
            rest_is_done.set()
        return item

    items = ["giant", "second giant", "small", "last"]
    ended = [item for item, _ in map_as_completed(work, items, 2, size=lambda item: 2 * ("giant" in item), room=1)]
    assert ended == ["small", "last", "giant", "second giant"]


def test_an_error_on_a_thread_ends_the_work() -> None:
    threads, begun = threading.active_count(), []

    def work(item: int) -> int:
        begun.append(item)
        return 1 // (5 - item)

    with pytest.raises(ZeroDivisionError):
        list(map_as_completed(work, range(10_000), 2, size=lambda item: 0, room=0))
    assert len(begun) < 1000
    answers = map_as_completed(abs, range(10_000), 2, size=lambda item: 0, room=0)
    next(answers)
    answers.close()  # type: ignore[attr-defined]
    assert threading.active_count() == threads


def test_meanwhile_ends_when_both_have_and_raises_what_the_function_raises() -> None:
    done: list[str] = []
    with meanwhile(lambda: done.append("function")):
        done.append("block")
    assert sorted(done) == ["block", "function"]
    with pytest.raises(ZeroDivisionError), meanwhile(lambda: 1 // 0):
        done.append("block")
    assert done.count("block") == 2
