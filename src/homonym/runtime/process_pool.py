"""Processes of our own for work that Python itself must do: reading records and extracting features.

Not multiprocessing: its spawned children run the caller's script again, which surprises everybody who calls the library
from a plain script, and forked children of a process with threads hang. These are fresh Python processes that read
pickled tasks from standard input and write pickled results to standard output; nobody else speaks to them.
"""

from __future__ import annotations

import gc
import pickle
import queue
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

from homonym.errors import HomonymError
from homonym.runtime.progress import counted_in

Task = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class TaskResult:
    """Instead of a task, a result that is there already: it keeps its place among the others."""

    result: Any


#: Tasks that wait for each process: enough never to idle, few enough to keep memory small.
WAITING_PER_PROCESS = 2

#: A process imports what its parent does: the caller's directory must not come first, as it would with `python -m`.
START = "import sys; sys.path[:] = sys.argv[1:]; from homonym.runtime.process_pool import main; main()"

#: Messages are preceded by their length, so that one that cannot be unpickled does not spoil the next.
LENGTH = struct.Struct("<Q")


def run_tasks(tasks: Iterable[Task | TaskResult], processes: int, hold: tuple[int, ...] = ()) -> Iterator[Any]:
    """Run tasks and give their results in order: here if there is one process, else in that many of our own.

    The processes hold these open files too: a lock among them is not free before all of them have ended.
    """
    if processes <= 1:
        for task in tasks:
            yield task.result if isinstance(task, TaskResult) else _do(*task)
        return
    waiting: queue.Queue[tuple[Task, queue.Queue[Any]] | None] = queue.Queue()
    with _workers(processes, waiting, hold):
        pending: list[queue.Queue[Any]] = []
        for task in tasks:
            answer: queue.Queue[Any] = queue.Queue()
            if isinstance(task, TaskResult):
                answer.put(task.result)
            else:
                waiting.put((task, answer))
            pending.append(answer)
            if len(pending) >= processes * WAITING_PER_PROCESS:
                yield _result(pending.pop(0))
        for answer in pending:
            yield _result(answer)


def _do(function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return function(*arguments, **options)


@contextmanager
def _workers(
    processes: int, waiting: queue.Queue[tuple[Task, queue.Queue[Any]] | None], hold: tuple[int, ...]
) -> Iterator[None]:
    """Processes, each with the thread that speaks to it; all of them end with the block."""
    command = [sys.executable, "-c", START, *sys.path]
    started: list[subprocess.Popen[bytes]] = []
    threads: list[threading.Thread] = []
    family = ExitStack()
    try:
        for _ in range(processes):
            started.append(_start(command, hold))
            family.enter_context(counted_in(started[-1].pid))
            threads.append(threading.Thread(target=_serve, args=(started[-1], waiting), daemon=True))
            threads[-1].start()
        yield
    finally:
        family.close()
        for process in started:
            process.kill()
            waiting.put(None)
        for process, thread in zip(started, threads, strict=True):
            thread.join()
            process.wait()
            _close(process.stdin)
            _close(process.stdout)


def _start(command: list[str], hold: tuple[int, ...]) -> subprocess.Popen[bytes]:
    # In a session of its own: Ctrl-C is the parent's to answer, which then ends this process.
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, pass_fds=hold
    )


def _close(pipe: Any) -> None:
    with suppress(BrokenPipeError):  # what was still in the pipe was for a process that has ended
        pipe.close()


def _serve(process: subprocess.Popen[bytes], waiting: queue.Queue[tuple[Task, queue.Queue[Any]] | None]) -> None:
    while (job := waiting.get()) is not None:
        task, answer = job
        try:
            answer.put(_ask(process, task))
        except Exception as broken:  # whatever it is, somebody waits for the answer
            answer.put(broken)


def _ask(process: subprocess.Popen[bytes], task: Task) -> Any:
    assert process.stdin
    assert process.stdout
    message = pickle.dumps(task)
    try:
        _send(process.stdin, message)
        reply = _receive(process.stdout)
    except (OSError, ValueError, EOFError) as broken:
        raise HomonymError("a worker process ended unexpectedly; is there enough memory?") from broken
    return pickle.loads(reply)


def _result(answer: queue.Queue[Any]) -> Any:
    result = answer.get()
    if isinstance(result, BaseException):
        raise result
    return result


def _send(stream: IO[bytes], message: bytes) -> None:
    stream.write(LENGTH.pack(len(message)))
    stream.write(message)
    stream.flush()


def _receive(stream: IO[bytes]) -> bytes:
    (size,) = LENGTH.unpack(_exactly(stream, LENGTH.size))
    return _exactly(stream, size)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    message = stream.read(size)
    if len(message) < size:
        raise EOFError("the other side has ended")
    return message


def main() -> None:
    """Serve tasks from standard input until it closes."""
    tasks, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a stray print must not end up between the answers
    # Records are many small objects without cycles: to look for some after every few hundred takes a tenth of the time.
    gc.set_threshold(200_000, 20, 100)
    with suppress(EOFError, BrokenPipeError):
        while True:
            _send(answers, _answer(_receive(tasks)))


def _answer(message: bytes) -> bytes:
    """Do a task; what cannot be done or sent is answered with the reason."""
    try:
        return pickle.dumps(_do(*pickle.loads(message)))
    except Exception as broken:
        return _pickled(broken)


def _pickled(broken: Exception) -> bytes:
    # Not every exception can be pickled, or made again from its pickle.
    try:
        message = pickle.dumps(broken)
        pickle.loads(message)
    except Exception:
        return pickle.dumps(RuntimeError(f"{type(broken).__name__}: {broken}"))
    return message
