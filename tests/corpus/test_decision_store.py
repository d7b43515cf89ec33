"""The file of decisions: append-only, on the disk when confirmed, robust against damage, links and other programs."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.corpus.decision_store import (
    MAX_TEXT,
    NewDecision,
    add_decisions,
    add_undo,
    integrity_problem,
    read_decisions,
)
from homonym.errors import HomonymError, InputError, OutputError
from homonym.io.result_directory import DECISIONS, MARKER, MARKER_TEXT, changed_directory, written_directory
from tests.support.profiles import examples


def new(a: str = "x", b: str = "y", reason: str = "why", user: str = "ann", kind: str = "same") -> NewDecision:
    return NewDecision(kind, a, b, a, b, reason, user)


def connect(folder: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(folder / DECISIONS, isolation_level=None))


ACTIONS: tuple[Callable[[Path], object], ...] = (read_decisions, lambda folder: add_decisions(folder, [new()]))


def test_decisions_have_numbers_times_and_users(tmp_path: Path) -> None:
    first, second = add_decisions(tmp_path, [new(), new("p", "q", user="bob")])
    assert (first.number, second.number) == (1, 2)
    assert first.time.endswith("Z")
    assert read_decisions(tmp_path) == [first, second]
    third = add_undo(tmp_path, 2, user="eve", reason="typing error")
    assert read_decisions(tmp_path)[2] == third
    assert (third.kind, third.undoes, third.user) == ("undo", 2, "eve")
    assert sorted(path.name for path in tmp_path.iterdir()) == [DECISIONS]


def test_members_are_kept(tmp_path: Path) -> None:
    members = ("a#0", 'with "quotes"#1', "\n#2")
    (added,) = add_decisions(tmp_path, [new(kind="is-not")._replace(members=members)])
    assert read_decisions(tmp_path) == [added]
    assert added.members == members


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE decisions SET user = 'eve'",
        "DELETE FROM decisions",
        "INSERT OR REPLACE INTO decisions SELECT number, time, 'eve', kind, a, b, mention_a, mention_b, members, "
        "reason, undoes FROM decisions",
        "REPLACE INTO decisions (number, time, user, kind, a, b, mention_a, mention_b, members, reason) "
        "VALUES (1, '', 'eve', 'same', '', '', 'x', 'y', '', '')",
    ],
)
def test_rows_cannot_be_changed_by_any_program(statement: str, tmp_path: Path) -> None:
    add_decisions(tmp_path, [new()])
    with connect(tmp_path) as connection, pytest.raises(sqlite3.IntegrityError, match="decisions are never"):
        connection.execute(statement)
    assert read_decisions(tmp_path)[0].user == "ann"


def test_undo_is_refused_twice_and_for_unknown_numbers(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no decision 1; there are none yet"):
        add_undo(tmp_path, 1, user="ann", reason="")
    add_decisions(tmp_path, [new()])
    add_undo(tmp_path, 1, user="bob", reason="")
    with pytest.raises(InputError, match=r"decision 1 is undone already, by 2 \(bob, .*\)"):
        add_undo(tmp_path, 1, user="ann", reason="")
    with pytest.raises(InputError, match="no decision 7; the last one is 2"):
        add_undo(tmp_path, 7, user="ann", reason="")
    assert len(read_decisions(tmp_path)) == 2


@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40))
@settings(max_examples=examples(100))
def test_any_text_is_kept_exactly(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("text")
    add_decisions(folder, [new(reason=text, user=text)])
    assert read_decisions(folder)[0].reason == text


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x" * (MAX_TEXT + 1)])
def test_text_that_cannot_be_kept_is_refused_before_anything_is_written(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the reason has"):
        add_decisions(tmp_path, [new(), new(reason=text)])
    assert not list(tmp_path.iterdir())


def test_all_decisions_of_a_call_or_none(tmp_path: Path) -> None:
    add_decisions(tmp_path, [new()])
    with pytest.raises(HomonymError):
        add_decisions(tmp_path, [new("p", "q"), new("x", "x")])
    assert len(read_decisions(tmp_path)) == 1


@pytest.mark.parametrize("content", [b"not a database at all" * 200, b"SQLite format 3\0" + bytes(500), b"\0" * 4096])
def test_foreign_content_is_one_sentence(content: bytes, tmp_path: Path) -> None:
    (tmp_path / DECISIONS).write_bytes(content)
    for action in ACTIONS:
        with pytest.raises(InputError, match=r"is not a file of decisions of homonym|is damaged") as caught:
            action(tmp_path)
        assert "\n" not in str(caught.value)
    assert (tmp_path / DECISIONS).read_bytes() == content
    assert integrity_problem(tmp_path)


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE decisions (number)",
        "CREATE TABLE other (x); PRAGMA application_id = 1752132975",
        "PRAGMA application_id = 1752132975; CREATE VIEW decisions AS WITH RECURSIVE r(n) AS "
        "(SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS number FROM r",
    ],
)
def test_database_of_another_program_is_refused(script: str, tmp_path: Path) -> None:
    with connect(tmp_path) as connection:
        connection.executescript(script)
    for action in ACTIONS:
        with pytest.raises(InputError, match="is not a file of decisions of homonym; move it away"):
            action(tmp_path)


def test_file_without_its_triggers_is_refused(tmp_path: Path) -> None:
    add_decisions(tmp_path, [new()])
    with connect(tmp_path) as connection:
        connection.execute("DROP TRIGGER no_delete")
    with pytest.raises(InputError, match="is not a file of decisions of homonym"):
        read_decisions(tmp_path)


def test_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    add_decisions(tmp_path, [new()])
    with connect(tmp_path) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(InputError, match="written by a newer homonym"):
        read_decisions(tmp_path)


def test_empty_file_has_no_decisions(tmp_path: Path) -> None:
    (tmp_path / DECISIONS).touch()
    assert read_decisions(tmp_path) == []
    assert integrity_problem(tmp_path) is None
    assert add_decisions(tmp_path, [new()])[0].number == 1


@given(seed=st.integers(0, 10**6))
@settings(max_examples=examples(60))
def test_damaged_bytes_are_one_sentence_or_harmless(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder, draw = tmp_path_factory.mktemp("damaged"), random.Random(seed)
    added = add_decisions(folder, [new(f"a{number}", f"b{number}", "reason " * 20) for number in range(60)])
    content = bytearray((folder / DECISIONS).read_bytes())
    for _ in range(draw.choice([1, 20, 400])):
        content[draw.randrange(len(content))] = draw.randrange(256)
    (folder / DECISIONS).write_bytes(content[: draw.choice([len(content), draw.randrange(len(content))])])
    problem = integrity_problem(folder)
    if problem is None:
        assert len(read_decisions(folder)) <= len(added)
    else:
        assert "\n" not in problem
        with suppress(InputError):  # the full check finds more than reading does
            read_decisions(folder)


@pytest.mark.parametrize("name", [DECISIONS, f"{DECISIONS}-wal", f"{DECISIONS}-shm"])
def test_symbolic_links_are_not_followed(name: str, tmp_path: Path) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "result"
    victim.write_text("mine")
    folder.mkdir()
    (folder / name).symlink_to(victim)
    with pytest.raises(InputError, match="is not a plain file"):
        add_decisions(folder, [new()])
    assert victim.read_text() == "mine"


def test_pipe_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / DECISIONS)
    with pytest.raises(InputError, match="is not a plain file"):
        read_decisions(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_directory_without_write_permission_can_be_read(tmp_path: Path) -> None:
    add_decisions(tmp_path, [new()])
    tmp_path.chmod(0o555)
    try:
        assert len(read_decisions(tmp_path)) == 1
        with pytest.raises(OutputError, match="no permission to write in"):
            add_decisions(tmp_path, [new("p", "q")])
    finally:
        tmp_path.chmod(0o755)


def test_odd_characters_in_paths(tmp_path: Path) -> None:
    folder = tmp_path / "100%?mode=memory&x#é 'q"
    folder.mkdir()
    add_decisions(folder, [new()])
    assert (folder / DECISIONS).is_file()
    assert len(read_decisions(folder)) == 1


WRITER = """
import sys
from pathlib import Path
from homonym.corpus.decision_store import NewDecision, add_decisions
folder, user, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
for n in range(number):
    added, = add_decisions(folder, [NewDecision("same", f"{user}{n}", "y", f"{user}{n}", "y", "because " * 50, user)])
    print(added.number, flush=True)
"""


def writer(folder: Path, user: str, number: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), user, str(number)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_writers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    processes = [writer(tmp_path, f"user{number}", 15) for number in range(3)]
    printed = [process.communicate(timeout=120)[0].split()[1:] for process in processes]
    assert all(process.returncode == 0 for process in processes)
    rows = read_decisions(tmp_path)
    assert sorted(int(number) for numbers in printed for number in numbers) == list(range(1, 46))
    assert [row.number for row in rows] == list(range(1, 46))
    assert len({row.a for row in rows}) == 45
    assert integrity_problem(tmp_path) is None


@pytest.mark.slow
def test_confirmed_decisions_survive_kill(tmp_path: Path) -> None:
    """A writer is killed at 20 moments; what it confirmed is there, what is there is whole, and writing goes on."""
    confirmed, draw = 0, random.Random(7)
    for moment in range(20):
        process = writer(tmp_path, f"user{moment}", 10_000)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        printed = [process.stdout.readline() for _ in range(moment % 4)]
        time.sleep(draw.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        printed += process.stdout.read().splitlines(keepends=True)
        numbers = [int(line) for line in printed if line.endswith("\n")]
        process.wait()
        process.stdout.close()
        rows = read_decisions(tmp_path)
        assert integrity_problem(tmp_path) is None
        assert [row.number for row in rows] == list(range(1, len(rows) + 1))
        assert all(row.reason == "because " * 50 for row in rows)
        # One more may be written that could not be confirmed any more.
        last = max(numbers, default=confirmed)
        assert len(rows) - last in {0, 1}
        confirmed = len(rows)
    assert confirmed >= 30


@pytest.mark.parametrize("before", [0, 1])
def test_decision_during_an_update_is_kept(before: int, tmp_path: Path) -> None:
    result = tmp_path / "result"
    result.mkdir()
    (result / MARKER).write_bytes(MARKER_TEXT)
    for number in range(before):
        add_decisions(result, [new(f"old{number}")])
    with changed_directory(result) as folder:
        (folder / "notes.txt").write_text("a change, so that the directories are swapped")
        add_decisions(result, [new("meanwhile")])
    assert [row.a for row in read_decisions(result)][before:] == ["meanwhile"]
    add_decisions(result, [new("after")])
    assert len(read_decisions(result)) == before + 2
    assert integrity_problem(result) is None
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


_DECIDING = """
import sys
from pathlib import Path
from homonym.corpus.decision_store import NewDecision, add_decisions, read_decisions
result = Path(sys.argv[1])
for number in range(int(sys.argv[2])):
    a, b = f"{sys.argv[3]}{number}#0", f"{sys.argv[3]}{number}#1"
    add_decisions(result, [NewDecision("same", a, b, a, b, "", "ann")])
    read_decisions(result)
"""


@pytest.mark.slow
@pytest.mark.parametrize("is_known", [False, True])
def test_decisions_made_while_updates_swap_directories_are_all_kept(tmp_path: Path, is_known: bool) -> None:
    result, each = tmp_path / "result", 40
    with written_directory(result):
        pass
    if is_known:
        add_decisions(result, [NewDecision("same", "a#0", "b#0", "a#0", "b#0", "", "ann")])
    commands = [[sys.executable, "-c", _DECIDING, str(result), str(each), user] for user in "xy"]
    deciding = [subprocess.Popen(command, stderr=subprocess.PIPE) for command in commands]
    swaps = 0
    while any(one.poll() is None for one in deciding):
        with changed_directory(result) as folder:
            (folder / "notes.txt").unlink(missing_ok=True)
            (folder / "notes.txt").write_text("a change, so that the directories are swapped")
            time.sleep(0.002)
        swaps += 1
    assert [one.communicate()[1] for one in deciding] == [b"", b""]
    assert integrity_problem(result) is None
    found = {row.mention_a for row in read_decisions(result) if row.user == "ann"}
    assert found - {"a#0"} == {f"{user}{number}#0" for user in "xy" for number in range(each)}
    assert swaps > 10
    assert os.listdir(tmp_path) == ["result"]


def test_decisions_are_read_where_nothing_can_be_written(tmp_path: Path) -> None:
    """As on a full disk: SQLite cannot make the files that it puts next to a database."""
    add_decisions(tmp_path, [new()])
    for name in (f"{DECISIONS}-wal", f"{DECISIONS}-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    program = (
        "import resource, sys; from pathlib import Path\n"
        "from homonym.corpus.decision_store import read_decisions\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "print([row.user for row in read_decisions(Path(sys.argv[1]))])"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout == "['ann']\n"
