"""Thread pools for compiled code, which releases the interpreter lock."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def meanwhile(function: Callable[[], Result]) -> Iterator[Future[Result]]:
    """Run a function on another thread while the block runs; ends when both have, and raises what either raises.

    >>> with meanwhile(lambda: "found") as future:
    ...     pass
    >>> future.result()
    'found'
    """
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(function)
        yield future
        future.result()


@contextmanager
def beside_unless_failed(function: Callable[[], Result]) -> Iterator[Future[Result]]:
    """As `meanwhile`, but if the block fails, its error is raised at once, and the function is abandoned."""
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(function())
        except BaseException as broken:
            future.set_exception(broken)

    threading.Thread(target=run, daemon=True).start()
    yield future
    future.result()


def until(stopped: threading.Event, items: Iterable[Item]) -> Iterator[Item]:
    """The same items, as long as an event has not happened; then an InterruptedError.

    >>> stopped = threading.Event()
    >>> for item in until(stopped, "ab"):
    ...     stopped.set()
    Traceback (most recent call last):
    InterruptedError
    """
    for item in items:
        if stopped.is_set():
            raise InterruptedError
        yield item


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
    function: Callable[[Item], Result], items: Iterable[Item], threads: int, size: Callable[[Item], int], room: int
) -> Iterator[tuple[Item, Result]]:
    """Apply a function to items on several threads; results come as they complete.

    The items that run at the same time have a total `size` of at most `room`. One that is larger runs only at the same
    time as items of size 0. Items start in order, but those that do not fit are overtaken by those that do.

    >>> sorted(map_as_completed(len, ["abc", "de", "f"], 2, size=len, room=3))
    [('abc', 3), ('de', 2), ('f', 1)]
    """
    pending = _Pending(items, size, room)
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

    def __init__(self, items: Iterable[Item], size: Callable[[Item], int], room: int) -> None:
        self._large: list[tuple[int, Item]] = []
        self._others: deque[Item] = deque()
        for item in items:
            if (needed := size(item)) > 0:
                self._large.append((needed, item))
            else:
                self._others.append(item)
        self._room, self._used = room, 0
        self._changed = threading.Condition()

    def __iter__(self) -> Iterator[Item]:
        while True:
            with self._changed:
                # If nothing is left but items that do not fit yet, wait until one of those that run is done.
                while not (found := self._next()) and self._large:
                    self._changed.wait()
                if not found:
                    return
                needed, item = found
                self._used += needed
            yield item
            with self._changed:
                self._used -= needed
                self._changed.notify_all()

    def _next(self) -> tuple[int, Item] | None:
        """The next item that may start, with its size."""
        for k, (needed, _) in enumerate(self._large):
            if not self._used or self._used + needed <= self._room:
                return self._large.pop(k)
        return (0, self._others.popleft()) if self._others else None

    def stop(self) -> None:
        """Drop all items that are not started yet."""
        with self._changed:
            self._large.clear()
            self._others.clear()
            self._changed.notify_all()
