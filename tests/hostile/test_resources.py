"""Resources that a machine does not have."""

from __future__ import annotations

from pathlib import Path

import pytest

from homonym.commands.run import Resources
from homonym.errors import SettingsError
from tests.support.command import homonym_command


def test_refuses_threads_that_would_block_the_machine() -> None:
    with pytest.raises(SettingsError, match=r"100,000 threads would block this machine.* give --threads at most \d+\."):
        Resources(threads=100_000).resolved()
    assert Resources(threads=8).resolved()[0] == 8


@pytest.mark.parametrize("memory", ["inf", "1e400", "nan", "-inf"])
def test_refuses_memory_that_is_no_number_of_bytes(memory: str, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": "W1", "authors": [{"name": "Doe, J"}]}\n')
    ended = homonym_command("convert", "in.jsonl", "-o", "out.jsonl", "--memory", memory, cwd=tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.endswith("give --memory a number of GiB.\n")
