"""Processes of our own for work that Python itself must do: reading records and extracting features.

Not multiprocessing: its spawned children run the caller's script again, which surprises everybody who calls the library
from a plain script, and forked children of a process with threads hang. These are `python -m` processes that read
pickled tasks from standard input and write pickled results to standard output; nobody else speaks to them.
"""

from __future__ import annotations

import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, cast

from homonym.errors import HomonymError

Task = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

#: Tasks that wait for each process: enough never to idle, few enough to keep memory small.
WAITING_PER_PROCESS = 2


def run_tasks(tasks: Iterable[Task], processes: int) -> Iterator[Any]:
    """Run tasks and give their results in order: here if there is one process, else in that many of our own."""
    if processes <= 1:
        for function, arguments, options in tasks:
            yield function(*arguments, **options)
        return
    with ExitStack() as stack:
        waiting: queue.Queue[tuple[Task, queue.Queue[Any]] | None] = queue.Queue()
        for _ in range(processes):
            stack.enter_context(_worker(waiting))
        pending: list[queue.Queue[Any]] = []
        for task in tasks:
            answer: queue.Queue[Any] = queue.Queue()
            waiting.put((task, answer))
            pending.append(answer)
            if len(pending) >= processes * WAITING_PER_PROCESS:
                yield _result(pending.pop(0))
        for answer in pending:
            yield _result(answer)


@contextmanager
def _worker(waiting: queue.Queue[tuple[Task, queue.Queue[Any]] | None]) -> Iterator[None]:
    """One process and the thread that speaks to it; both end with the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "homonym.engines.workers"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    thread = threading.Thread(target=_serve, args=(process, waiting), daemon=True)
    thread.start()
    try:
        yield
    finally:
        process.kill()
        process.wait()
        waiting.put(None)
        thread.join()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                _close(pipe)


def _close(pipe: Any) -> None:
    with suppress(BrokenPipeError):  # what was still in the pipe was for a process that has ended
        pipe.close()


def _serve(process: subprocess.Popen[bytes], waiting: queue.Queue[tuple[Task, queue.Queue[Any]] | None]) -> None:
    while (job := waiting.get()) is not None:
        task, answer = job
        try:
            pickle.dump(task, process.stdin)  # type: ignore[arg-type]
            cast(Any, process.stdin).flush()
            answer.put(pickle.load(process.stdout))  # type: ignore[arg-type]
        except (OSError, EOFError, pickle.UnpicklingError, ValueError) as broken:
            answer.put(HomonymError(f"a worker process ended unexpectedly ({broken}); is there enough memory?"))


def _result(answer: queue.Queue[Any]) -> Any:
    result = answer.get()
    if isinstance(result, BaseException):
        raise result
    return result


def main() -> None:
    """Serve tasks from standard input until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer, which then ends this process
    tasks, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a stray print must not end up between the answers
    while True:
        try:
            function, arguments, options = pickle.load(tasks)
        except EOFError:
            return
        try:
            result = function(*arguments, **options)
        except Exception as broken:
            result = broken
        pickle.dump(result, answers)
        answers.flush()


if __name__ == "__main__":
    main()
