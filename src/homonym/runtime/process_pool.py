"""A process pool for work that needs the Python interpreter: reading records and extracting features.

Not multiprocessing: its spawned children run the caller's script again, which breaks plain scripts that call the
library, and forked children of a process with threads hang. These are new Python processes that read pickled tasks from
standard input and write pickled results to standard output.

A new process imports libraries for .3 s, as long as reading a small file takes. So the installed command forks the
workers for small files. The only other Python thread then samples memory; the child uses nothing that it may have
locked.
"""

from __future__ import annotations

import gc
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

from homonym.errors import HomonymError
from homonym.runtime.progress import counted_in
from homonym.runtime.thread_pool import beside_unless_failed
from homonym.runtime.unneeded_imports import leave_out_pandas_and_scipy

Task = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class TaskResult:
    """A result that is known already; used instead of a task, to keep its place in the order."""

    result: Any


# Tasks that wait for each process: enough that it is never idle, few enough to keep memory small.
WAITING_PER_PROCESS = 2

# A worker gets the import path of its parent; `python -m` would put the current directory first.
START = "import sys; sys.path[:] = sys.argv[1:]; from homonym.runtime.process_pool import main; main()"

# A worker allocates arrays of the same sizes for each task. If they go back to the system each time, fetching them
# again takes a twentieth of its CPU time. These are names of glibc, which also serves Arrow then; others ignore them.
ALLOCATION = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
    "MALLOC_TOP_PAD_": str(64 << 20),
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}

# Each message is preceded by its length, so that one that cannot be unpickled does not affect the next.
LENGTH = struct.Struct("<Q")


_may_fork = False


def allow_forks() -> None:
    """Let workers be forked; only for a process that runs one command and nothing else."""
    global _may_fork
    _may_fork = sys.platform == "linux"  # libraries of macOS do not survive a fork


def can_fork() -> bool:
    """Whether workers can be forked now: not once compiled code, which has threads, may have been run."""
    return _may_fork and "numba" not in sys.modules


def run_tasks(
    tasks: Iterable[Task | TaskResult],
    processes: int,
    hold: tuple[int, ...] = (),
    *,
    fork: bool = False,
    prepare: Callable[[], object] | None = None,
    beside: Callable[[], object] | None = None,
) -> Iterator[Any]:
    """The results of tasks in order, computed in this process or in several worker processes.

    Workers inherit the open files `hold`: a lock among them is not released before all workers have ended. If they are
    forked, a single one is allowed, and each runs `prepare` while it waits for its first task. `beside` runs on a
    thread of this process at the same time.
    """
    if processes <= 1 and not fork:
        for task in tasks:
            yield task.result if isinstance(task, TaskResult) else _do(*task)
        return
    waiting: queue.Queue[tuple[Task, queue.Queue[Any]] | None] = queue.Queue()
    with _workers(processes, waiting, hold, prepare, fork=fork), ExitStack() as stack:

        def start() -> None:
            """Run `beside` from now on; not earlier, because the tasks are read with the same interpreter."""
            nonlocal beside
            if beside:
                stack.enter_context(beside_unless_failed(beside))
                beside = None

        pending: list[queue.Queue[Any]] = []
        for task in tasks:
            answer: queue.Queue[Any] = queue.Queue()
            if isinstance(task, TaskResult):
                answer.put(task.result)
            else:
                waiting.put((task, answer))
            pending.append(answer)
            if len(pending) >= processes * WAITING_PER_PROCESS:
                start()
                yield _result(pending.pop(0))
        start()
        for answer in pending:
            yield _result(answer)


def _do(function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return function(*arguments, **options)


@contextmanager
def _workers(
    processes: int,
    waiting: queue.Queue[tuple[Task, queue.Queue[Any]] | None],
    hold: tuple[int, ...],
    prepare: Callable[[], object] | None,
    *,
    fork: bool,
) -> Iterator[None]:
    """Start worker processes, each with a thread that sends it tasks; all end with the block."""
    command = [sys.executable, "-c", START, *sys.path]
    started: list[subprocess.Popen[bytes] | ForkedWorker] = []
    threads: list[threading.Thread] = []
    family = ExitStack()
    try:
        for _ in range(processes):
            started.append(ForkedWorker(started, prepare) if fork else _start(command, hold))
            family.enter_context(counted_in(started[-1].pid))
        for process in started:  # after all forks
            threads.append(threading.Thread(target=_serve, args=(process, waiting), daemon=True))
            threads[-1].start()
        yield
    finally:
        family.close()
        for process in started:
            process.kill()
            waiting.put(None)
        for thread in threads:
            thread.join()
        for process in started:
            process.wait()
            _close(process.stdin)
            _close(process.stdout)


def _start(command: list[str], hold: tuple[int, ...]) -> subprocess.Popen[bytes]:
    # In its own session: Ctrl-C goes to the parent, which then ends this process.
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        pass_fds=hold,
        env=ALLOCATION | os.environ,
    )


class ForkedWorker:
    """A worker that was forked from this process, with the part of the interface of Popen that is used here.

    It has the open files of this process, except the pipes to `others`: with these, none would notice that this process
    has ended.
    """

    def __init__(
        self, others: Iterable[subprocess.Popen[bytes] | ForkedWorker], prepare: Callable[[], object] | None
    ) -> None:
        tasks, self.stdin = _pipe()
        self.stdout, answers = _pipe()
        with warnings.catch_warnings():  # Python 3.12 and later warn of any other thread
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid:
            tasks.close()
            answers.close()
            return
        try:
            for pipe in (self.stdin, self.stdout, *(pipe for other in others for pipe in (other.stdin, other.stdout))):
                os.close(pipe.fileno() if pipe else -1)
            os.setsid()  # Ctrl-C goes to the parent, which then ends this process
            # Not the streams of the parent, whose locks a thread may have held.
            sys.stdout = sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
            _work(tasks, answers, prepare)
        finally:
            os._exit(0)  # without flushing what the parent was about to print

    def kill(self) -> None:
        """End the worker at once."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> None:
        """Wait until the worker has ended."""
        os.waitpid(self.pid, 0)


def _pipe() -> tuple[IO[bytes], IO[bytes]]:
    """The end for reading and the end for writing; programs that are started later do not inherit them."""
    reading, writing = os.pipe()
    return os.fdopen(reading, "rb"), os.fdopen(writing, "wb")


def _close(pipe: Any) -> None:
    with suppress(BrokenPipeError):  # the process at the other end has ended
        pipe.close()


def _serve(
    process: subprocess.Popen[bytes] | ForkedWorker, waiting: queue.Queue[tuple[Task, queue.Queue[Any]] | None]
) -> None:
    while (job := waiting.get()) is not None:
        task, answer = job
        try:
            answer.put(_ask(process, task))
        except Exception as broken:  # the caller waits for an answer in any case
            answer.put(broken)


def _ask(process: subprocess.Popen[bytes] | ForkedWorker, task: Task) -> Any:
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
        raise EOFError("the other process has ended")
    return message


def main() -> None:
    """Run tasks from standard input until it is closed."""
    leave_out_pandas_and_scipy()
    tasks, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a print must not end up among the answers
    _work(tasks, answers)


def _work(tasks: IO[bytes], answers: IO[bytes], prepare: Callable[[], object] | None = None) -> None:
    """Prepare, then run tasks until there are no more."""
    # The parent ends its workers. A signal to all processes of a service must not look like a crash of a worker.
    for name in ("SIGTERM", "SIGHUP"):
        if number := getattr(signal, name, None):
            signal.signal(number, signal.SIG_IGN)
    # Records are many small objects without cycles: frequent garbage collection would take a tenth of the time.
    gc.set_threshold(200_000, 20, 100)
    if prepare:
        prepare()
    with suppress(EOFError, BrokenPipeError):
        while True:
            _send(answers, _answer(_receive(tasks)))


def _answer(message: bytes) -> bytes:
    """The pickled result of a task, or the exception."""
    try:
        return pickle.dumps(_do(*pickle.loads(message)))
    except Exception as broken:
        return _pickled(broken)


def _pickled(broken: Exception) -> bytes:
    # Not every exception can be pickled and unpickled.
    try:
        message = pickle.dumps(broken)
        pickle.loads(message)
    except Exception:
        return pickle.dumps(RuntimeError(f"{type(broken).__name__}: {broken}"))
    return message
