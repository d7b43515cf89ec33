"""The process pool: results in order, errors intact, no process left behind, no hanging."""

from __future__ import annotations

import json
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from homonym.errors import CapacityError, HomonymError, InputError, SettingsError
from homonym.io.inputs import require_files
from homonym.runtime.process_pool import WAITING_PER_PROCESS, Task, run_tasks
from homonym.settings import parse_weights

# A guard against hanging, not a measurement.
PATIENCE = 120


class FussyError(Exception):
    """Cannot be unpickled."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


def late(number: int) -> int:
    """The earlier tasks take longer."""
    time.sleep(0.02 * (5 - number % 5))
    return number


def fussy() -> None:
    raise FussyError("very", "fussy")


def roots(count: int) -> Iterator[Task]:
    return ((math.sqrt, (number,), {}) for number in range(count))


def patiently(function: Callable[[], Any]) -> Any:
    """The function's answer, or a failure instead of a test that never ends."""
    answers: queue.Queue[Any] = queue.Queue()

    def call() -> None:
        try:
            answers.put((function(), None))
        except BaseException as broken:
            answers.put((None, broken))

    threading.Thread(target=call, daemon=True).start()
    try:
        result, broken = answers.get(timeout=PATIENCE)
    except queue.Empty:
        pytest.fail("it hangs")
    if broken:
        raise broken
    return result


def results(tasks: list[Task], processes: int = 2) -> list[Any]:
    answer: list[Any] = patiently(lambda: list(run_tasks(tasks, processes)))
    return answer


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """The processes that a test has started; at its end all have ended, and so have the threads."""
    processes: list[subprocess.Popen[bytes]] = []
    threads = set(threading.enumerate())

    class Recorded(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            processes.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    yield processes
    assert all(process.returncode is not None for process in processes)
    assert all(pipe is None or pipe.closed for process in processes for pipe in (process.stdin, process.stdout))
    # The thread that waited patiently may need a moment more.
    for thread in set(threading.enumerate()) - threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


@pytest.mark.slow
@pytest.mark.parametrize("processes", [0, 1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_results_come_in_order(started: list[Any], processes: int, count: int) -> None:
    assert results(list(roots(count)), processes) == [math.sqrt(number) for number in range(count)]
    assert len(started) == (processes if processes > 1 else 0)


@pytest.mark.slow
def test_results_come_in_order_whichever_is_first(started: list[Any]) -> None:
    assert results([(late, (number,), {}) for number in range(12)], 3) == list(range(12))


def test_one_process_runs_in_this_process(started: list[Any]) -> None:
    assert results([(os.getpid, (), {})], 1) == [os.getpid()]
    others = results([(late, (1,), {}), (os.getpid, (), {}), (os.getpid, (), {})], 2)[1:]
    assert os.getpid() not in others
    assert set(others) <= {process.pid for process in started}


def test_options_are_passed(started: list[Any]) -> None:
    assert results([(int, ("ff",), {"base": 16}), (sorted, ([1, 2],), {"reverse": True})]) == [255, [2, 1]]


def imports_pandas() -> bool:
    import pyarrow as pa

    return bool(pa.array(["a"]).to_pylist()) and "pandas" in sys.modules


def test_workers_do_not_import_pandas(started: list[Any]) -> None:
    pytest.importorskip("pandas")
    assert results([(imports_pandas, (), {})]) == [False]


def test_large_tasks_and_results(started: list[Any]) -> None:
    text = os.urandom(5_000_000)
    assert results([(bytes.upper, (text,), {})] * 5) == [text.upper()] * 5


def test_only_few_tasks_wait(started: list[Any]) -> None:
    taken: list[int] = []

    def tasks() -> Iterator[Task]:
        for number in range(100):
            taken.append(number)
            yield math.sqrt, (number,), {}

    answers = run_tasks(tasks(), 2)
    for number in range(20):
        assert next(answers) == math.sqrt(number)
        assert len(taken) <= number + 2 * WAITING_PER_PROCESS
    answers.close()  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(
    ("task", "error", "says"),
    [
        ((require_files, ([Path("missing.jsonl")],), {}), InputError, r"missing\.jsonl cannot be read"),
        ((parse_weights, ("co=x",), {}), SettingsError, "is not of the form"),
        ((math.sqrt, (-1,), {}), ValueError, "math domain error|expected a nonnegative"),
        ((json.loads, ("{",), {}), json.JSONDecodeError, "Expecting property name"),
        ((bytes.decode, (b"\xff",), {}), UnicodeDecodeError, "invalid start byte"),
    ],
)
def test_errors_keep_their_type_and_message(
    started: list[Any], processes: int, task: Task, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says) as caught:
        results([*roots(5), task, *roots(5)], processes)
    assert type(caught.value) is error


@pytest.mark.slow
def test_own_errors_can_be_pickled(started: list[Any]) -> None:
    for error in (HomonymError, InputError, SettingsError, CapacityError):
        with pytest.raises(error, match="one sentence") as caught:
            results([(raise_it, (error("one sentence"),), {})])
        assert type(caught.value) is error


def raise_it(broken: Exception) -> None:
    raise broken


def test_results_before_an_error_are_given(started: list[Any]) -> None:
    given: list[float] = []
    tasks: list[Task] = [*roots(7), (parse_weights, ("co=x",), {}), *roots(9)]
    with pytest.raises(SettingsError):
        patiently(lambda: given.extend(run_tasks(tasks, 2)))
    assert given == [math.sqrt(number) for number in range(7)]


def test_reports_an_error_that_cannot_be_pickled(started: list[Any]) -> None:
    with pytest.raises(RuntimeError, match="FussyError: very fussy"):
        results([*roots(3), (fussy, (), {})])


def test_a_task_that_cannot_be_pickled_does_not_hang(started: list[Any]) -> None:
    with pytest.raises(Exception, match=r"[Pp]ickle"):
        results([*roots(3), (lambda: None, (), {}), *roots(3)])


def test_a_result_that_cannot_be_pickled_does_not_hang(started: list[Any], tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="pickle"):
        results([*roots(3), (threading.Lock, (), {}), *roots(3)])


@pytest.mark.slow
@pytest.mark.parametrize(
    "task",
    [
        (os._exit, (1,), {}),
        (os._exit, (0,), {}),
        (signal.raise_signal, (signal.SIGKILL,), {}),
        (sys.exit, (3,), {}),
        (os.close, (1,), {}),
    ],
)
def test_reports_a_worker_that_ends(started: list[Any], task: Task) -> None:
    with pytest.raises(HomonymError, match="a worker process ended unexpectedly") as caught:
        results([*roots(3), task, *roots(20)])
    assert len(str(caught.value).splitlines()) == 1


def test_a_print_in_a_task_goes_to_standard_error(started: list[Any], capfd: pytest.CaptureFixture[str]) -> None:
    assert results([(print, ("hello",), {}), *roots(3)]) == [None, 0.0, 1.0, math.sqrt(2)]
    assert capfd.readouterr() == ("", "hello\n")


@pytest.mark.parametrize("taken", [1, 5])
def test_abandoned_work_ends_all_processes(started: list[Any], taken: int) -> None:
    answers = run_tasks(((late, (number,), {}) for number in range(1000)), 2)
    assert [next(answers) for _ in range(taken)] == list(range(taken))
    patiently(answers.close)  # type: ignore[attr-defined]
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)


def test_unused_work_starts_no_process(started: list[Any]) -> None:
    del started[:]
    answers = run_tasks(roots(3), 2)
    answers.close()  # type: ignore[attr-defined]
    assert started == []


def test_an_error_in_the_task_generator_ends_the_processes(started: list[Any]) -> None:
    def tasks() -> Iterator[Task]:
        yield from roots(9)
        raise InputError("in.jsonl.gz: the compressed data ends after line 9.")

    with pytest.raises(InputError, match="ends after line 9"):
        patiently(lambda: list(run_tasks(tasks(), 2)))
    assert len(started) == 2


def run_script(folder: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(script)
    command = [sys.executable, "-W", "error", str(folder / "script.py"), *arguments]
    # Returns when all processes that hold the other ends of the pipes have ended, workers too.
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=folder, start_new_session=True)


def test_a_plain_script_needs_no_guard(tmp_path: Path) -> None:
    script = """
import math
print("once")
from homonym.runtime.process_pool import run_tasks
print(list(run_tasks([(math.sqrt, (4,), {})] * 5, 2)))
"""
    run = run_script(tmp_path, script)
    assert (run.stdout, run.stderr, run.returncode) == ("once\n[2.0, 2.0, 2.0, 2.0, 2.0]\n", "", 0)


def test_ignores_modules_in_the_working_directory(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    for name in ("struct.py", "signal.py", "homonym.py"):
        (work / name).write_text("raise ImportError('the wrong module')")
    script = """
import math, os, sys
os.chdir(sys.argv[1])
from homonym.runtime.process_pool import run_tasks
print(list(run_tasks([(math.sqrt, (4,), {})] * 3, 2)))
"""
    run = run_script(tmp_path, script, str(work))
    assert (run.stdout, run.stderr, run.returncode) == ("[2.0, 2.0, 2.0]\n", "", 0)


def test_processes_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = """
import math, os, signal
from homonym.runtime.process_pool import run_tasks
answers = run_tasks([(math.sqrt, (4,), {})] * 9, 2)
print(next(answers), flush=True)
signal.raise_signal(signal.SIGKILL)
"""
    run = run_script(tmp_path, script)
    assert (run.stdout, run.stderr, run.returncode) == ("2.0\n", "", -signal.SIGKILL)


def test_workers_ignore_ctrl_c(tmp_path: Path) -> None:
    script = """
import os, signal
from itertools import repeat
from homonym.runtime.process_pool import run_tasks
answers = run_tasks(repeat((os.getpid, (), {})), 2)
serving = set()
while len(serving) < 2:
    serving.add(next(answers))
try:
    os.killpg(0, signal.SIGINT)
    next(answers)
except KeyboardInterrupt:
    answers.close()
    print("interrupted")
"""
    run = run_script(tmp_path, script)
    assert (run.stdout, run.stderr, run.returncode) == ("interrupted\n", "", 0)


def test_workers_load_nothing_heavy() -> None:
    code = "import sys, homonym.runtime.process_pool; print(sorted({'numba', 'duckdb', 'pyarrow'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert (run.stdout, run.stderr) == ("[]\n", "")


FORKED = """
import math, os, signal, sys, time
from homonym.runtime.process_pool import allow_forks, can_fork, run_tasks
assert not can_fork()
allow_forks()
assert can_fork()
def roots(count):
    return [(math.sqrt, (number,), {}) for number in range(count)]
def forked(tasks, processes=2, **options):
    return list(run_tasks(tasks, processes, fork=True, **options))
"""


def run_forked(folder: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    if sys.platform != "linux":
        pytest.skip("workers are forked on Linux only")
    return run_script(folder, FORKED + script, *arguments)


def test_forked_workers_do_the_tasks_in_order(tmp_path: Path) -> None:
    script = """
done = []
for processes in (1, 3):
    assert forked(roots(30), processes, beside=lambda: done.append(1)) == [math.sqrt(number) for number in range(30)]
assert done == [1, 1]
assert os.getpid() not in forked([(os.getpid, (), {})], 1)
forked([(print, ("hello",), {})])
"""
    done = run_forked(tmp_path, script)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "hello\n")


def test_forked_workers_prepare_before_their_first_task(tmp_path: Path) -> None:
    script = """
tasks = [(os.getenv, ("PREPARED",), {})] * 3
assert forked(tasks, prepare=lambda: os.environ.update(PREPARED="yes")) == ["yes"] * 3
assert "PREPARED" not in os.environ
"""
    done = run_forked(tmp_path, script)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("task", ["math.sqrt, (-1,), {}", "os._exit, (1,), {}", "os.kill, (0, 9), {}"])
def test_errors_of_forked_workers_are_raised(tmp_path: Path, task: str) -> None:
    script = f"""
try:
    forked([*roots(3), ({task}), *roots(9)], beside=lambda: time.sleep(3600))
except Exception as broken:
    print(type(broken).__name__)
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child is left")
"""
    done = run_forked(tmp_path, script)
    error = "ValueError" if "sqrt" in task else "HomonymError"
    assert (done.stdout.splitlines(), done.stderr) == ([error, "no child is left"], "")


def test_forked_workers_end_if_the_process_is_killed(tmp_path: Path) -> None:
    script = """
for result in run_tasks([(math.sqrt, (4,), {}), (time.sleep, (.1,), {})], 2, fork=True):
    print(result, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = run_forked(tmp_path, script)  # which waits for the workers, too: they hold the pipe
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "2.0\n")
