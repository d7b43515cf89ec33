"""Power failures: after any of them, the same command ends with the same bytes.

See `tests.support.power_loss` for the model. The state of the disk is built at 50 moments of a command, without those
that left the disk as the one before.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
from pathlib import Path

import orjson
import pytest

from homonym.commands.disambiguate import disambiguate
from homonym.commands.generate import generate
from homonym.commands.run import Resources
from homonym.settings import Settings
from homonym.synthetic.corpus import Corpus
from tests.support.power_loss import CHUNK_BYTES, Recording

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the path of an open file is not known here"),
]

POINTS = 50
OUTPUTS = ("out.csv", "out.settings.toml", "rejects.jsonl", "saved.csv", "saved.collection.json")


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    lines = gzip.decompress(generate(folder / "corpus", Corpus(mentions=400, seed=5)).read_bytes()).splitlines()
    # A record to reject, and a duplicate.
    (folder / "documents.jsonl").write_bytes(b"\n".join([*lines[:20], b'{"id": "broken"', lines[7], *lines[20:]]))
    return folder / "documents.jsonl"


@pytest.fixture(scope="module")
def recording(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return Recording(
        tmp_path_factory.mktemp("recording"), "disambiguate", documents, "-o", "out.csv", "--kappa", "7", "-q",
        "--threads", "2", "--rejects", "rejects.jsonl", "--save-statistics", "saved.csv",
    )  # fmt: skip


@pytest.fixture(scope="module")
def outputs(recording: Recording) -> dict[str, bytes]:
    return {name: (recording.root / name).read_bytes() for name in OUTPUTS}


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs after a power failure need not wait for the disk."""
    monkeypatch.setattr(os, "fsync", lambda file: None)
    monkeypatch.setattr("homonym.engines.local.CHUNK_BYTES", CHUNK_BYTES)


def run(documents: Path, folder: Path) -> tuple[int, int, list[str]]:
    """Run the same command; returns how many checkpoints it reused, and how many there were, and its warnings."""
    done = disambiguate(
        documents, folder / "out.csv", Settings(kappa=7), rejects=folder / "rejects.jsonl",
        save_statistics=folder / "saved.csv", resources=Resources(threads=1),
    )  # fmt: skip
    stages = orjson.loads((folder / "out.run.json").read_bytes())["stages"]
    return stages["read"]["reused"] + stages["encode"].get("reused", 0), stages["read"]["chunks"] + 1, done.warnings


@pytest.mark.usefixtures("fast")
def test_an_undisturbed_run_has_the_same_outputs(
    documents: Path, recording: Recording, outputs: dict[str, bytes], tmp_path: Path
) -> None:
    assert run(documents, tmp_path)[0] == 0
    assert {name: (tmp_path / name).read_bytes() for name in OUTPUTS} == outputs
    assert len(recording.events) > POINTS


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every path in a folder with a hash of its content, None for folders."""
    return {
        str(path.relative_to(folder)): None if path.is_dir() else hashlib.sha256(path.read_bytes()).digest()
        for path in folder.rglob("*")
    }


@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize("model", ["lost", "zeroed"])
def test_a_run_after_a_power_failure_has_the_same_outputs(
    documents: Path, recording: Recording, outputs: dict[str, bytes], tmp_path: Path, model: str
) -> None:
    reused = []
    previous: dict[str, bytes | None] | None = None
    for number in recording.moments(POINTS):
        image = tmp_path / str(number)
        recording.after(number, model, image)
        if (state := tree(image)) == previous:
            shutil.rmtree(image)
            continue
        previous = state
        for name in OUTPUTS:  # whole or absent
            assert not (image / name).exists() or (image / name).read_bytes() == outputs[name], (number, name)
        found, of, warnings = run(documents, image)
        assert {name: (image / name).read_bytes() for name in OUTPUTS} == outputs, number
        assert warnings == [], number  # no checkpoint is recorded before its files are on the disk
        assert {path.name for path in image.iterdir()} == {*OUTPUTS, "out.run.json"}, number
        reused.append(found)
        shutil.rmtree(image)
    assert reused == sorted(reused)
    assert reused[0] == 0
    assert reused[-1] == of > 5
    assert len(set(reused)) > 5
