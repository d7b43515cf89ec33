"""Power failures while a result directory is written or updated: it is the old one or the new one, never a mixture.

See `tests.support.power_loss` for the model. The same command then gives the same tables.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest

from homonym.commands.check import check
from homonym.commands.decide import decide
from homonym.commands.disambiguate import disambiguate
from homonym.commands.generate import generate
from homonym.commands.run import Resources
from homonym.commands.update import update
from homonym.corpus.decision_store import read_decisions
from homonym.io.result_directory import AUTHORS, BAGS, DOCUMENTS, FREQUENCIES, MENTIONS, NAMES, SETTINGS
from homonym.settings import Settings
from homonym.synthetic.corpus import Corpus
from tests.support.power_loss import Recording

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the path of an open file is not known here"),
]

POINTS = 50
# The command is run again after every so many of the different states before its end.
REPEATED = 4
TABLES = (MENTIONS, AUTHORS, DOCUMENTS, BAGS, FREQUENCIES, NAMES, SETTINGS)
ONE_THREAD = Resources(threads=1)

Tables = dict[str, bytes]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Documents for a result, and some more for an update."""
    folder = tmp_path_factory.mktemp("corpus")
    lines = gzip.decompress(generate(folder / "corpus", Corpus(mentions=200, seed=5)).read_bytes()).splitlines(True)
    (folder / "first.jsonl").write_bytes(b"".join(lines[:-3]))
    (folder / "more.jsonl").write_bytes(b"".join(lines[-3:]))
    return folder / "first.jsonl", folder / "more.jsonl"


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands after a power failure need not wait for the disk."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


def tables(result: Path) -> Tables:
    return {name: (result / name).read_bytes() for name in TABLES}


def mention_ids(result: Path) -> list[str]:
    ids: list[str] = pq.read_table(result / MENTIONS)["mention_id"].to_pylist()
    return ids


def states(recording: Recording, model: str, folder: Path) -> Iterator[tuple[int, Path]]:
    """The different states of the disk after power failures, each as a directory that is removed afterwards."""
    known = set()
    for number in recording.moments(POINTS):
        image = folder / str(number)
        recording.after(number, model, image)
        found = sorted(path for path in image.rglob("*") if path.is_file())
        state = hashlib.sha256(
            b"".join(os.fsencode(path.relative_to(image)) + path.read_bytes() for path in found)
        ).digest()  # fmt: skip
        if state not in known:
            known.add(state)
            yield number, image
        shutil.rmtree(image)


class Update(NamedTuple):
    """The record of an update, and the tables before and after it."""

    recording: Recording
    before: Tables
    after: Tables


@pytest.fixture(scope="module")
def first_run(files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Recording:
    folder = tmp_path_factory.mktemp("first")
    return Recording(folder, "disambiguate", files[0], "-o", "result", "--kappa", "7", "-q", "--threads", "1")


@pytest.fixture(scope="module")
def later_update(files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Update:
    folder = tmp_path_factory.mktemp("later")
    (folder / "run").mkdir()
    result = disambiguate(files[0], folder / "run" / "result", Settings(kappa=7), resources=ONE_THREAD).output
    decide(result, "name", mention_ids(result)[0], "Known, Name", reason="checked")
    before = tables(result)
    recording = Recording(folder, "update", "result", files[1], "-q", "--threads", "1")
    return Update(recording, before, tables(result))


@pytest.mark.parametrize("model", ["lost", "zeroed"])
def test_a_new_result_is_whole_or_absent(
    files: tuple[Path, Path], first_run: Recording, tmp_path: Path, model: str
) -> None:
    expected, outcomes = tables(first_run.root / "result"), []
    for number, image in states(first_run, model, tmp_path):
        outcomes.append((image / "result").exists())
        if outcomes[-1]:
            assert check(image / "result").is_sound, number
            assert tables(image / "result") == expected, number
        elif len(outcomes) % REPEATED == 0:
            disambiguate(files[0], image / "result", Settings(kappa=7), resources=ONE_THREAD)
            assert tables(image / "result") == expected, number
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {False, True}


@pytest.mark.parametrize("model", ["lost", "zeroed"])
def test_an_updated_result_is_the_old_or_the_new_one(
    files: tuple[Path, Path], later_update: Update, tmp_path: Path, model: str
) -> None:
    recording, before, after = later_update
    assert before != after
    outcomes = []
    for number, image in states(recording, model, tmp_path):
        found = tables(image / "result")
        assert found in (before, after), number
        assert check(image / "result").problems == [], number
        assert [row.b for row in read_decisions(image / "result")] == ["Known, Name"], number
        outcomes.append(found == after)
        if found == before and len(outcomes) % REPEATED == 0:
            update(image / "result", files[1], resources=ONE_THREAD)
            assert tables(image / "result") == after, number
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {False, True}
    assert len(outcomes) > REPEATED
