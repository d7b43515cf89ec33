"""The state of the disk after a power failure, from a record of every fsync of a command.

The model: a file is on the disk with the content that it had at its last fsync, a directory with the names that it had
at its last fsync. A hook in the command and its worker processes records every fsync. Two extremes: `lost`, whatever
was not synced is missing; `zeroed`, all names are there, but content that was not synced is zeros, as some file systems
leave it. Libraries that write files themselves are covered, because only fsync makes anything lasting. SQLite is not:
it syncs its files without Python.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

# A guard against hanging, not a measurement.
PATIENCE = 300
CHUNK_BYTES = 1 << 14

# Imported by every Python process of the command. Inode numbers identify files, so they must not be used again: a
# second link keeps that of a file, an open directory its own.
HOOK = """
import fcntl, json, os, shutil, stat

ROOT, STORE, kept_open = os.environ["POWER_ROOT"], os.environ["POWER_STORE"], []

def entries(folder):
    return {entry.name: [entry.inode(), entry.is_dir(follow_symlinks=False)] for entry in os.scandir(folder)}

def live(folder):
    found = {}
    for entry in os.scandir(folder):
        inside = live(entry.path) if entry.is_dir(follow_symlinks=False) else None
        size = entry.stat(follow_symlinks=False).st_size
        found[entry.name] = [entry.inode(), size, inside]
    return found

def whole_live():
    while True:
        try:
            return live(ROOT)
        except FileNotFoundError:  # another process has just removed a file
            pass

def recorded(file):
    number = file if isinstance(file, int) else file.fileno()
    path = os.readlink(f"/proc/self/fd/{number}")
    if path != ROOT and not path.startswith(ROOT + "/"):
        return
    with open(STORE + "/events", "a+") as events:
        fcntl.flock(events, fcntl.LOCK_EX)
        events.seek(0)
        event = {"number": len(events.readlines()), "inode": os.fstat(number).st_ino, "live": whole_live()}
        if os.path.isdir(path):
            event["entries"] = entries(path)
            kept_open.append(os.dup(number))
        else:
            shutil.copyfile(path, f"{STORE}/{event['number']}.content")
            os.link(path, f"{STORE}/{event['number']}.inode")
        events.write(json.dumps(event) + "\\n")

os.fsync = recorded
"""

COMMAND = f"""
from homonym.engines import local
local.CHUNK_BYTES, local.SMALL_INPUT = {CHUNK_BYTES}, 0
from homonym.cli import main
main()
"""

# What is there before the command is on the disk.
SYNC_ALL = """
import os
for folder, _, names in os.walk(os.environ["POWER_ROOT"], topdown=False):
    for path in [*(os.path.join(folder, name) for name in names), folder]:
        os.fsync(os.open(path, os.O_RDONLY))
"""

Event = dict[str, Any]
# Names in a directory, each with its inode and whether it is a directory.
Entries = dict[str, tuple[int, bool]]


class Recording:
    """A finished command in the directory `run` of a folder, and every fsync in it.

    `before` is the number of events that stand for what was in the directory at the beginning.
    """

    def __init__(self, folder: Path, *arguments: str | Path) -> None:
        self.root, self.store = folder / "run", folder / "store"
        for path in (self.root, self.store, folder / "hook"):
            path.mkdir(exist_ok=True)
        (folder / "hook" / "sitecustomize.py").write_text(HOOK)
        search = os.pathsep.join([str(folder / "hook"), *filter(None, sys.path)])
        environment = {
            **os.environ, "PYTHONPATH": search, "POWER_ROOT": str(self.root), "POWER_STORE": str(self.store)
        }  # fmt: skip

        def run(code: str, *arguments: str) -> None:
            done = subprocess.run(
                [sys.executable, "-c", code, *arguments],
                cwd=self.root, capture_output=True, text=True, timeout=PATIENCE, env=environment,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr

        run(SYNC_ALL)
        self.before = len((self.store / "events").read_text().splitlines())
        run(COMMAND, *map(str, arguments))
        self.events: list[Event] = [json.loads(line) for line in (self.store / "events").read_text().splitlines()]

    def after(self, number: int, model: str, image: Path) -> None:
        """Make the state of the disk after a power failure right after an event."""
        events = self.events[: number + 1]
        content = {event["inode"]: event["number"] for event in events if "entries" not in event}
        entries = {event["inode"]: event["entries"] for event in events if "entries" in event}
        if model == "zeroed":
            self._zeroed(events[-1]["live"], content, image)
        else:
            self._lost(self.root.stat().st_ino, content, entries, image)

    def _lost(self, folder: int, content: dict[int, int], entries: dict[int, Entries], image: Path) -> None:
        image.mkdir(mode=0o700)
        for name, (inode, is_folder) in entries.get(folder, {}).items():
            if is_folder and inode in entries:
                self._lost(inode, content, entries, image / name)
            elif not is_folder and inode in content:
                shutil.copyfile(self.store / f"{content[inode]}.content", image / name)

    def _zeroed(self, live: dict[str, Any], content: dict[int, int], image: Path) -> None:
        image.mkdir(mode=0o700)
        for name, (inode, size, inside) in live.items():
            if inside is not None:
                self._zeroed(inside, content, image / name)
            else:
                synced = (self.store / f"{content[inode]}.content").read_bytes() if inode in content else b""
                (image / name).write_bytes(synced[:size].ljust(size, b"\0"))

    def moments(self, points: int) -> list[int]:
        """The numbers of at most so many events, evenly spread, from the beginning of the command to its end."""
        first, last = self.before - 1, len(self.events) - 1
        return sorted({first + round(point * (last - first) / (points - 1)) for point in range(points)})
