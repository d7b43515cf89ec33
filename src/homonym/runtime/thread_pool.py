"""Work on several threads: for compiled code, which does not hold the interpreter's lock."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[tuple[Item, Result]]:
    """Apply a function to items on several threads; results come in order and only few wait in memory.

    >>> list(map_in_order(len, ["a", "bc"], 2))
    [('a', 1), ('bc', 2)]
    """
    pending: list[tuple[Item, Future[Result]]] = []
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                pending.append((item, pool.submit(function, item)))
                if len(pending) > 2 * threads:
                    done, future = pending.pop(0)
                    yield done, future.result()
            while pending:
                done, future = pending.pop(0)
                yield done, future.result()
        finally:
            for _, future in pending:
                future.cancel()


def map_as_completed(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int, alone: Callable[[Item], bool]
) -> Iterator[tuple[Item, Result]]:
    """Apply a function to items on several threads, begun in order; results come when they are there.

    Of the items that must be `alone` no two are worked on at once. One thread goes through these while the others do
    the rest, so that nobody waits.

    >>> sorted(map_as_completed(len, ["abc", "de", "f"], 2, alone=lambda item: len(item) > 1))
    [('abc', 3), ('de', 2), ('f', 1)]
    """
    turns = _Turns(items, alone)
    # A few results wait for whoever takes them, not all.
    ended: queue.Queue[tuple[Item, Future[Result]] | None] = queue.Queue(2 * threads)

    def serve() -> None:
        for item in turns:
            future: Future[Result] = Future()
            try:
                future.set_result(function(item))
            except BaseException as broken:
                future.set_exception(broken)
            ended.put((item, future))
        ended.put(None)

    working = [threading.Thread(target=serve, daemon=True) for _ in range(threads)]
    for thread in working:
        thread.start()
    serving = threads
    try:
        while serving:
            if (done := ended.get()) is None:
                serving -= 1
            else:
                yield done[0], done[1].result()
    finally:
        turns.stop()
        while serving:
            serving -= ended.get() is None
        for thread in working:
            thread.join()


class _Turns(Generic[Item]):
    """Whose turn is next, for several threads that take turns."""

    def __init__(self, items: Iterable[Item], alone: Callable[[Item], bool]) -> None:
        self._alone: deque[Item] = deque()
        self._others: deque[Item] = deque()
        for item in items:
            (self._alone if alone(item) else self._others).append(item)
        self._taken = False
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Item]:
        while True:
            with self._lock:
                mine = bool(self._alone) and not self._taken
                self._taken |= mine
                waiting = self._alone if mine else self._others
                if not waiting:
                    return
                item = waiting.popleft()
            yield item
            with self._lock:
                self._taken &= not mine

    def stop(self) -> None:
        """Nobody's turn any more."""
        with self._lock:
            self._alone.clear()
            self._others.clear()
