"""Numbers of threads and amounts of memory that no machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

from homonym.commands.run import Resources
from homonym.errors import SettingsError
from tests.support.command import homonym_command


@pytest.mark.parametrize("threads", [0, -1, 1025, 100_000, 10**30])
def test_rejects_threads_that_no_machine_has(threads: int) -> None:
    with pytest.raises(SettingsError, match="--threads"):
        Resources(threads=threads).resolved()


def test_accepts_more_threads_than_this_machine_has() -> None:
    assert Resources(threads=64).resolved()[0] == 64


def test_rejects_less_than_a_mebibyte_of_memory() -> None:
    with pytest.raises(SettingsError, match="--memory"):
        Resources(memory=1000).resolved()


@pytest.mark.parametrize("memory", ["inf", "1e400", "nan", "-inf"])
def test_rejects_memory_that_is_no_number_of_bytes(memory: str, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": "W1", "authors": [{"name": "Doe, J"}]}\n')
    ended = homonym_command("convert", "in.jsonl", "-o", "out.jsonl", "--memory", memory, cwd=tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.endswith("give --memory a number of GiB.\n")
