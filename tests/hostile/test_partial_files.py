"""Temporary files of atomic writes cannot be prepared by another user of the directory."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

import duckdb
import numpy as np
import pytest

from homonym.clustering.arrays import Frequencies
from homonym.collection.statistics import save_statistics
from homonym.errors import OutputError
from homonym.io import outputs
from homonym.io.outputs import atomic_path, open_atomic, remove_partial, write_atomic
from homonym.runtime.own_files import UNFINISHED


def test_temporary_names_cannot_be_guessed_from_the_process(tmp_path: Path) -> None:
    names = set()
    for _ in range(20):
        with atomic_path(tmp_path / "out.csv.gz") as partial:
            names.add(partial.name)
            assert partial.read_bytes() == b""
    assert len(names) == 20
    assert all(re.fullmatch(rf"\.{os.getpid()}-[0-9a-f]+\.partial\.out\.csv\.gz", name) for name in names)
    assert all(any(re.fullmatch(pattern, name) for pattern in UNFINISHED) for name in names)


def test_a_link_of_another_user_is_never_written_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr(secrets, "token_hex", lambda size: "0" * 2 * size)  # as if it had been guessed
    (tmp_path / f".{os.getpid()}-00000000.partial.out.csv").symlink_to(victim)
    (tmp_path / f".{os.getpid()}.partial.out.csv").symlink_to(victim)
    with pytest.raises(OutputError, match="cannot be written"):
        write_atomic(tmp_path / "out.csv", "a")
    with pytest.raises(OutputError, match="cannot be written"), open_atomic(tmp_path / "out.csv") as stream:
        stream.write(b"a")
    assert victim.read_text() == "precious"
    assert not (tmp_path / "out.csv").exists()


def test_temporary_files_of_a_killed_process_are_found(tmp_path: Path) -> None:
    left = outputs._create_partial(tmp_path / "out[1].csv")
    other = outputs._create_partial(tmp_path / "out1.csv")
    remove_partial(tmp_path / "out[1].csv", os.getpid())
    assert not left.exists()
    assert other.exists()


@pytest.mark.parametrize("name", ["s.csv", "s.csv.gz", "s.parquet"])
def test_statistics_are_written_into_the_temporary_file_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    created, renamed = [], []
    create, replace = outputs._create_partial, os.replace

    def watched_create(path: Path) -> Path:
        partial = create(path)
        created.append((partial, partial.stat().st_ino))
        return partial

    def watched_replace(source: Path, target: Path) -> None:
        renamed.append((source, source.stat().st_ino))
        replace(source, target)

    monkeypatch.setattr(outputs, "_create_partial", watched_create)
    monkeypatch.setattr(os, "replace", watched_replace)
    known = Frequencies(("term",), np.zeros(2, np.int64), np.ones(1), np.ones(1), 6)
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE vocabulary AS SELECT 1::BIGINT id, 'term' type, 'a' feature, 1.0::DOUBLE count"
        )
        save_statistics(connection, known, tmp_path / name)
    assert renamed == created
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.collection.json", name]
