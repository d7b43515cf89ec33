"""Inputs that other programs change while they are read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from homonym.errors import InputError
from homonym.io.inputs import BLOCK_BYTES, Source

LINE = b'{"id": "W1", "authors": [{"name": "Doe, Jane"}]}\n'


def grow(path: Path) -> None:
    with path.open("ab") as stream:
        stream.write(LINE)


def shrink(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def rewrite(path: Path) -> None:
    with path.open("r+b") as stream:
        stream.write(b"x" * 100)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "in.jsonl"
    found.write_bytes(LINE * (3 * BLOCK_BYTES // len(LINE)))
    os.utime(found, (1, 1))  # so that a change shows, however coarse the clock of the file system is
    return found


@pytest.mark.parametrize("change", [grow, shrink, rewrite])
def test_a_file_that_changes_while_it_is_read_is_an_error(path: Path, change: Callable[[Path], None]) -> None:
    def read() -> None:
        with Source(path) as source:
            lines = source.lines()
            next(lines)
            change(path)
            list(lines)

    with pytest.raises(InputError, match=r"in\.jsonl changed while it was read"):
        read()


def test_a_file_that_is_replaced_is_read_to_its_end(path: Path) -> None:
    expected = path.read_bytes()
    with Source(path) as source:
        (path.parent / "new").write_bytes(LINE)
        (path.parent / "new").replace(path)
        assert b"".join(source.blocks()) == expected


def test_an_error_of_the_reader_is_not_hidden_by_a_change(path: Path) -> None:
    def read() -> None:
        with Source(path):
            grow(path)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        read()
