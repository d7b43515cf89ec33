"""Work on several threads, in order: for compiled code, which does not hold the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[tuple[Item, Result]]:
    """Apply a function to items on several threads; results come in order and only few wait in memory.

    >>> list(in_order(len, ["a", "bc"], 2))
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
