"""What lets a run go on: the directory and its lock, records, batches, threads, what stages take, what is shown."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from homonym.cli import progress_bars
from homonym.cli.progress_bars import ProgressBars
from homonym.engines.local import ALONE_PAIRS, BATCH_OCCURRENCES, block_batches
from homonym.errors import OutputError, SettingsError
from homonym.io.outputs import remove_partial
from homonym.runtime import work_directory
from homonym.runtime.checkpoints import Manifest, digest, read_with_digest, write_durably, write_with_digest
from homonym.runtime.progress import Stages, counted_in, memory_now
from homonym.runtime.thread_pool import map_as_completed

#: A guard against hanging, not a measurement.
PATIENCE = 120


def test_a_directory_is_gone_when_the_work_is_done(tmp_path: Path) -> None:
    with work_directory.work_directory(tmp_path / "work") as place:
        Manifest(place.path).add("read/1", "key", {})
        (place.path / "folder").mkdir()
        (place.path / "folder" / "file").touch()
        assert (place.former, place.resumed) == (None, False)
    assert not list(tmp_path.iterdir())


def test_a_directory_that_is_named_lasts(tmp_path: Path) -> None:
    for resumed in (False, True):
        with work_directory.work_directory(tmp_path / "work", lasting=True) as place:
            assert place.resumed == resumed
            Manifest(place.path).add("read/1", "key", {})
    assert (tmp_path / "work" / "lock").read_bytes() == b""


def test_nothing_is_kept_where_nothing_was_done(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt) as ended, work_directory.work_directory(tmp_path / "work"):
        raise KeyboardInterrupt
    assert not hasattr(ended.value, "__notes__")
    assert not list(tmp_path.iterdir())


def done_until(mistake: BaseException, work: Path) -> BaseException:
    """Something is done, then this comes."""
    Manifest(work).add("read/1", "key", {})
    return mistake


def test_a_mistake_does_not_cost_work_of_an_earlier_run(tmp_path: Path) -> None:
    for mistake in (KeyboardInterrupt(), SettingsError("wrong")):
        with pytest.raises(type(mistake)) as ended, work_directory.work_directory(tmp_path / "work"):
            raise done_until(mistake, tmp_path / "work")
        assert f"kept in {tmp_path / 'work'}" in ended.value.__notes__[0]
    assert Manifest(tmp_path / "work").find("read/1", "key") is not None


def test_a_directory_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with pytest.raises(OutputError, match="not empty and no work directory"), work_directory.work_directory(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    for path in (tmp_path / "mine", tmp_path / "nowhere" / "work"):
        with pytest.raises(OutputError, match="cannot be a directory"), work_directory.work_directory(path):
            pass


def test_what_was_still_being_written_is_taken_away(tmp_path: Path) -> None:
    with work_directory.work_directory(tmp_path / "work", lasting=True):
        (tmp_path / "work" / "writing" / "1-2").mkdir(parents=True)
        (tmp_path / "work" / "done").mkdir()
        (tmp_path / "work" / "done" / ".1-2.x.json.partial").touch()
    with work_directory.work_directory(tmp_path / "work", lasting=True):
        assert sorted(path.name for path in (tmp_path / "work").rglob("*")) == ["done", "lock"]


def test_a_run_that_goes_on_is_not_waited_for(tmp_path: Path) -> None:
    with (
        work_directory.work_directory(tmp_path / "work"),
        pytest.raises(OutputError, match=rf"in use by another run \(process {os.getpid()}\); wait"),
        work_directory.work_directory(tmp_path / "work"),
    ):
        pass


HOLDER = """
import os, signal, subprocess, sys
from pathlib import Path
from homonym.runtime.work_directory import work_directory
with work_directory(Path("work"), lasting=True) as place:
    script = "import sys, time; sys.stdin.read(); time.sleep(0.5); open('survived', 'w').close()"
    subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, pass_fds=[place.lock])
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_runs_processes_are_waited_for(tmp_path: Path) -> None:
    """A process that outlives its parent may still be writing: nobody else begins before it has ended."""
    holder = subprocess.run([sys.executable, "-c", HOLDER], cwd=tmp_path, timeout=PATIENCE)
    assert holder.returncode == -signal.SIGKILL
    with work_directory.work_directory(tmp_path / "work") as place:
        assert (tmp_path / "survived").exists()
        assert place.former is not None


def test_who_does_not_end_is_not_waited_for_forever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_directory, "PATIENCE", 0.2)
    monkeypatch.setattr(work_directory, "_is_alive", lambda process: False)
    with (
        work_directory.work_directory(tmp_path / "work"),
        pytest.raises(OutputError, match="in use by another run"),
        work_directory.work_directory(tmp_path / "work"),
    ):
        pass


def test_without_locks_the_number_of_the_process_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_directory, "fcntl", None)
    with (
        work_directory.work_directory(tmp_path / "work", lasting=True),
        pytest.raises(OutputError, match="in use by another run"),
        work_directory.work_directory(tmp_path / "work"),
    ):
        pass
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(PATIENCE)
    (tmp_path / "work" / "lock").write_text(f"{ended.pid}\n")
    with work_directory.work_directory(tmp_path / "work") as place:
        assert place.former == ended.pid


def test_a_process_that_was_killed_and_not_yet_noticed_does_not_live() -> None:
    killed = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert work_directory._is_alive(killed.pid)
    killed.kill()
    until = time.monotonic() + PATIENCE
    while work_directory._is_alive(killed.pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert not work_directory._is_alive(killed.pid)
    killed.communicate(timeout=PATIENCE)


def test_what_a_killed_process_had_begun_is_taken_away(tmp_path: Path) -> None:
    ours = [".7.partial.out.csv.gz", ".7.partial.out.settings.toml", ".7.partial.out.run.json"]
    others = [".8.partial.out.csv.gz", ".77.partial.out.csv.gz", "out.csv.gz", ".7.partial.other.csv"]
    for name in [*ours, *others]:
        (tmp_path / name).touch()
    remove_partial(tmp_path / "out.csv.gz", 7)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(others)


def test_a_record_holds_for_its_key_and_its_files(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path)
    (tmp_path / "a.bin").write_bytes(b"123")
    assert not manifest
    assert manifest.find("read/1", "key") is None
    manifest.add("read/1", "key", {"rows": 3, "text": "é"}, ["a.bin"])
    assert manifest
    assert manifest.find("read/1", "key") == {"rows": 3, "text": "é", "files": ["a.bin"]}
    assert manifest.find("read/1", "other") is None
    assert list(manifest.names("read")) == ["read/1"]
    (tmp_path / "a.bin").write_bytes(b"12")
    assert manifest.find("read/1", "key") is None
    (tmp_path / "a.bin").unlink()
    assert manifest.find("read/1", "key") is None
    manifest.remove("read/1")
    manifest.remove("read/1")
    assert not manifest


@settings(deadline=None)  # it writes to a disk
@given(content=st.binary(max_size=50), place=st.integers(0, 1000), flipped=st.integers(0, 255))
@example(content=b"", place=64, flipped=0)
def test_damage_of_any_kind_is_noticed(content: bytes, place: int, flipped: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "file")
        write_with_digest(path, content)
        assert read_with_digest(path) == content
        whole = path.read_bytes()
        place %= len(whole)
        rest = bytes([whole[place] ^ flipped]) + whole[place + 1 :] if flipped else b""
        path.write_bytes(whole[:place] + rest)
        assert read_with_digest(path) is None
        path.unlink()
        assert read_with_digest(path) is None


def test_what_cannot_be_written_leaves_the_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    write_durably(tmp_path / "file", b"old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_durably(tmp_path / "file", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"


@given(st.lists(st.one_of(st.binary(), st.text(), st.integers(), st.none()), max_size=4))
def test_digests_tell_parts_apart(parts: list[Any]) -> None:
    assert digest(*parts) == digest(*parts)
    assert digest(*parts, b"") != digest(*parts)
    assert digest(parts) != digest(*parts, "more")


@given(
    sizes=st.lists(st.integers(1, 5) | st.integers(900, 3000), min_size=1, max_size=40),
    each=st.integers(0, 20_000),
)
def test_batches_hold_every_block_once(sizes: list[int], each: int) -> None:
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    planned = block_batches(start, np.full(start[-1], each, np.int64))
    covered = sorted((batch.first, batch.last) for batch in planned)
    assert covered[0][0] == 0
    assert covered[-1][1] == len(sizes)
    assert all(before[1] == after[0] for before, after in pairwise(covered))
    work = []
    for batch in planned:
        own = sizes[batch.first : batch.last]
        assert (batch.mentions, batch.largest) == (sum(own), max(own))
        if len(own) > 1:
            assert max(own) ** 2 <= ALONE_PAIRS
            assert batch.mentions * each <= BATCH_OCCURRENCES
        work.append(sum(size**2 for size in own) + batch.mentions * each)
    assert work == sorted(work, reverse=True)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_of_those_that_must_be_alone_one_is_worked_on_at_a_time(threads: int) -> None:
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


def test_nobody_waits_for_one_that_is_alone() -> None:
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


def test_errors_on_threads_end_the_work() -> None:
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


def test_stages_tell_what_they_took() -> None:
    ended: list[list[str]] = []
    stages = Stages()
    stages.ended = lambda: ended.append(list(stages.seconds))
    for amount in (30, 12):
        with stages.stage("read", 100) as advance:
            advance(amount)
            sum(range(2_000_000))
        stages.note("read", chunks=2, form="ris")
    with pytest.raises(KeyboardInterrupt), stages.stage("cluster"):
        raise KeyboardInterrupt
    cost = stages.costs["read"]
    assert (cost.items, cost.facts) == (42, {"chunks": 4, "form": "ris"})
    assert cost.cpu_seconds > 0
    assert 0 < stages.seconds["read"] == cost.seconds
    assert cost.peak_memory > 10 << 20
    assert ended == [["read"], ["read"], ["read", "cluster"]]


def test_memory_is_that_of_all_processes() -> None:
    script = "x = bytearray(200 << 20); print(flush=True); input()"
    child = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout
    child.stdout.readline()
    alone = memory_now()
    with counted_in(child.pid):
        assert memory_now() > alone + (150 << 20)
    assert memory_now() < alone + (150 << 20)
    child.communicate(b"\n", timeout=PATIENCE)


def test_the_peak_of_a_stage_is_noticed_while_it_runs() -> None:
    stages = Stages()
    with stages.stage("read"):
        pass
    with stages.stage("encode"):
        held = np.ones(40 << 20)
        time.sleep(0.5)
        del held
    assert stages.costs["encode"].peak_memory > stages.costs["read"].peak_memory + (200 << 20)


def lines_of(monkeypatch: pytest.MonkeyPatch, *, terminal: bool = False) -> tuple[ProgressBars, io.StringIO, Any]:
    """Bars that write to a text, and a clock to be set."""

    class Clock:
        now = 1000.0

        def monotonic(self) -> float:
            return self.now

    clock, text = Clock(), io.StringIO()
    monkeypatch.setattr(progress_bars, "time", clock)
    console = Console(file=text, force_terminal=terminal, soft_wrap=True, highlight=False, width=150)
    return ProgressBars(console), text, clock


def test_without_a_terminal_a_line_tells_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, text, clock = lines_of(monkeypatch)
    shown.begin("read", 100_000_000)
    for second in range(1, 76):
        clock.now = 1000.0 + second
        shown.advance(500_000)
    shown.end()
    shown.begin("count", None)
    shown.end()
    clock.now += 100
    shown.begin("cluster", 1000)
    clock.now += 40
    shown.advance(400)
    assert text.getvalue().splitlines() == [
        "Reading and extracting features: 15 % · 0.5 MB/s · 2:50 left",
        "Reading and extracting features: 30 % · 0.5 MB/s · 2:20 left",
        "Clustering mentions",
        "Clustering mentions: 40 % · 10 mentions/s · 1:00 left",
    ]


def test_short_runs_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, text, clock = lines_of(monkeypatch)
    for stage in ("read", "cluster"):
        shown.begin(stage, 100)
        clock.now += 14
        shown.advance(100)
        shown.end()
    assert text.getvalue() == ""


def test_a_bar_has_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, text, clock = lines_of(monkeypatch, terminal=True)
    with shown:
        shown.begin("read", 100_000_000)
        clock.now += 2
        shown.advance(1_000_000)
        for _ in range(3):
            shown.advance(1_000_000)
            time.sleep(0.15)
    assert "Reading and extracting features" in text.getvalue()
    assert "MB/s" in text.getvalue()
