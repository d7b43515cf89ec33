"""Standard output that is full, or a pipe that nobody reads: for every command that prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from homonym.commands.disambiguate import disambiguate
from homonym.commands.run import Resources

PATIENCE = 300
#: All commands print through the same few functions; these are a command for each way of printing.
COMMANDS = [
    ["--help"],
    ["check", "result"],
    ["explain", "result", "W0#0", "--json"],
    ["decide", "result", "unsure", "W0#0", "W1#0", "--reason", "a test"],
    ["evaluate", "result", "--gold", "in.jsonl"],
    ["convert", "in.jsonl", "-o", "out.jsonl"],
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    rows = [
        {"id": f"W{n}", "title": "On things", "authors": [{"name": "Doe, J", "author": "d"}]} for n in range(4)
    ]  # fmt: skip
    (folder / "in.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    disambiguate(folder / "in.jsonl", folder / "result", resources=Resources(threads=1))
    return folder


def run_command(arguments: list[str], place: Path, output: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "homonym", *arguments]
    return subprocess.run(command, cwd=place, stdout=output, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_full_standard_output_is_named_in_the_message(place: Path, arguments: list[str]) -> None:
    output = os.open("/dev/full", os.O_WRONLY)
    done = run_command(arguments, place, output)
    os.close(output)
    assert done.returncode == 2
    assert "standard output cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_closed_pipe_ends_a_command_as_the_signal_would(place: Path, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = run_command(arguments, place, writer)
    os.close(writer)
    assert done.returncode == 141  # 1 would mean that `check` found a problem
    assert "Traceback" not in done.stderr
