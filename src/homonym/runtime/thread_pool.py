"""Thread pools for compiled code, which releases the interpreter lock."""

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
    """Apply a function to items on several threads; results come in order, and only a few wait in memory.

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
    """Apply a function to items on several threads, started in order; results come as they complete.

    No two of the items that must be `alone` run at the same time: one thread does these, the others do the rest.

    >>> sorted(map_as_completed(len, ["abc", "de", "f"], 2, alone=lambda item: len(item) > 1))
    [('abc', 3), ('de', 2), ('f', 1)]
    """
    pending = _Pending(items, alone)
    # Bounded, so that only a few results wait in memory.
    ended: queue.Queue[tuple[Item, Future[Result]] | None] = queue.Queue(2 * threads)

    def serve() -> None:
        for item in pending:
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
        pending.stop()
        while serving:
            serving -= ended.get() is None
        for thread in working:
            thread.join()


class _Pending(Generic[Item]):
    """The items that are not started yet, shared by several threads."""

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
        """Drop all items that are not started yet."""
        with self._lock:
            self._alone.clear()
            self._others.clear()
