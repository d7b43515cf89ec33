"""Power failures: after any of them, the same command ends with the same bytes.

The model: a file is on the disk with the content that it had at its last fsync, a directory with the names that it had
at its last fsync. A hook in the command and its worker processes records every fsync. From the records, the test builds
the state of the disk after a power failure, at 50 moments of the run, without those that left the disk as the one
before, in two extremes. `lost`: whatever was not synced is missing. `zeroed`: all names are there, but content that was
not synced is zeros, as some file systems leave it.
Libraries that write files themselves are covered, because only fsync makes anything lasting.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from homonym.commands.disambiguate import disambiguate
from homonym.commands.generate import generate
from homonym.commands.run import Resources
from homonym.settings import Settings
from homonym.synthetic.corpus import Corpus

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the path of an open file is not known here"),
]

# A guard against hanging, not a measurement.
PATIENCE = 300
POINTS = 50
CHUNK_BYTES = 1 << 14

# Imported by every Python process of the command. Inode numbers identify files, so they must not be used again: a
# second link keeps that of a file, an open directory its own.
HOOK = """
import fcntl, json, os, shutil, stat

ROOT, STORE, kept_open = os.environ["POWER_ROOT"], os.environ["POWER_STORE"], []

def entries(folder):
    return {entry.name: entry.inode() for entry in os.scandir(folder)}

def live(folder):
    found = {}
    for entry in os.scandir(folder):
        inside = live(entry.path) if entry.is_dir(follow_symlinks=False) else None
        size = entry.stat(follow_symlinks=False).st_size
        found[entry.name] = [entry.inode(), size, inside]
    return found

def recorded(file):
    number = file if isinstance(file, int) else file.fileno()
    path = os.readlink(f"/proc/self/fd/{number}")
    if path != ROOT and not path.startswith(ROOT + "/"):
        return
    with open(STORE + "/events", "a+") as events:
        fcntl.flock(events, fcntl.LOCK_EX)
        events.seek(0)
        event = {"number": len(events.readlines()), "inode": os.fstat(number).st_ino}
        if os.path.isdir(path):
            event["entries"] = entries(path)
            kept_open.append(os.dup(number))
        else:
            shutil.copyfile(path, f"{STORE}/{event['number']}.content")
            os.link(path, f"{STORE}/{event['number']}.inode")
        event["live"] = live(ROOT)
        events.write(json.dumps(event) + "\\n")

os.fsync = recorded
"""

COMMAND = f"""
from homonym.engines import local
local.CHUNK_BYTES, local.SMALL_INPUT = {CHUNK_BYTES}, 0
from homonym.cli import main
main()
"""
OUTPUTS = ("out.csv", "out.settings.toml", "rejects.jsonl", "saved.csv", "saved.collection.json")

Event = dict[str, Any]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    lines = gzip.decompress(generate(folder / "corpus", Corpus(mentions=400, seed=5)).read_bytes()).splitlines()
    # A record to reject, and a duplicate.
    (folder / "documents.jsonl").write_bytes(b"\n".join([*lines[:20], b'{"id": "broken"', lines[7], *lines[20:]]))
    return folder / "documents.jsonl"


class Recording:
    """A finished run, and every fsync in it."""

    def __init__(self, documents: Path, folder: Path) -> None:
        self.root, self.store = folder / "run", folder / "store"
        for path in (self.root, self.store, folder / "hook"):
            path.mkdir()
        (folder / "hook" / "sitecustomize.py").write_text(HOOK)
        search = os.pathsep.join([str(folder / "hook"), *filter(None, sys.path)])
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, "disambiguate", str(documents), "-o", "out.csv", "--kappa", "7", "-q",
             "--threads", "2", "--rejects", "rejects.jsonl", "--save-statistics", "saved.csv"],
            cwd=self.root, capture_output=True, text=True, timeout=PATIENCE,
            env={**os.environ, "PYTHONPATH": search, "POWER_ROOT": str(self.root), "POWER_STORE": str(self.store)},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        self.events: list[Event] = [json.loads(line) for line in (self.store / "events").read_text().splitlines()]
        self.outputs = {name: (self.root / name).read_bytes() for name in OUTPUTS}

    def after(self, number: int, model: str, image: Path) -> None:
        """Make the state of the disk after a power failure right after an event."""
        events = self.events[: number + 1]
        content = {event["inode"]: event["number"] for event in events if "entries" not in event}
        entries = {event["inode"]: event["entries"] for event in events if "entries" in event}
        if model == "zeroed":
            self._zeroed(events[-1]["live"], content, image)
        else:
            self._lost(self.root.stat().st_ino, content, entries, image)

    def _lost(self, folder: int, content: dict[int, int], entries: dict[int, dict[str, int]], image: Path) -> None:
        image.mkdir(mode=0o700)
        for name, inode in entries.get(folder, {}).items():
            if inode in content:
                shutil.copyfile(self.store / f"{content[inode]}.content", image / name)
            elif inode in entries:
                self._lost(inode, content, entries, image / name)

    def _zeroed(self, live: dict[str, Any], content: dict[int, int], image: Path) -> None:
        image.mkdir(mode=0o700)
        for name, (inode, size, inside) in live.items():
            if inside is not None:
                self._zeroed(inside, content, image / name)
            else:
                synced = (self.store / f"{content[inode]}.content").read_bytes() if inode in content else b""
                (image / name).write_bytes(synced[:size].ljust(size, b"\0"))


@pytest.fixture(scope="module")
def recording(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return Recording(documents, tmp_path_factory.mktemp("recording"))


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
def test_an_undisturbed_run_has_the_same_outputs(documents: Path, recording: Recording, tmp_path: Path) -> None:
    assert run(documents, tmp_path)[0] == 0
    assert {name: (tmp_path / name).read_bytes() for name in OUTPUTS} == recording.outputs
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
    documents: Path, recording: Recording, tmp_path: Path, model: str
) -> None:
    last = len(recording.events) - 1
    reused = []
    previous: dict[str, bytes | None] | None = None
    for number in sorted({round(point * last / (POINTS - 1)) for point in range(POINTS)}):
        image = tmp_path / str(number)
        recording.after(number, model, image)
        if (state := tree(image)) == previous:
            shutil.rmtree(image)
            continue
        previous = state
        for name in OUTPUTS:  # whole or absent
            assert not (image / name).exists() or (image / name).read_bytes() == recording.outputs[name], (number, name)
        found, of, warnings = run(documents, image)
        assert {name: (image / name).read_bytes() for name in OUTPUTS} == recording.outputs, number
        assert warnings == [], number  # no checkpoint is recorded before its files are on the disk
        assert {path.name for path in image.iterdir()} == {*OUTPUTS, "out.run.json"}, number
        reused.append(found)
        shutil.rmtree(image)
    assert reused == sorted(reused)
    assert reused[0] == 0
    assert reused[-1] == of > 5
    assert len(set(reused)) > 5
