"""Pipes and devices as inputs and outputs: opened without waiting forever, and written without a rename."""

from __future__ import annotations

import os
import shutil
import stat
import threading
import time
from pathlib import Path
from typing import IO, Any

# Flags to open a file of this program by its name: a link in its place is an error, and a pipe does not block.
NO_LINK = os.O_NOFOLLOW | os.O_NONBLOCK

# Seconds to wait until another program opens the other end of a named pipe.
PATIENCE = 30.0


def is_special(path: Path) -> bool:
    """Whether a path is a pipe, a device, or an open file of this process such as /dev/stdout."""
    if os.path.realpath(path.parent).startswith("/proc/") or str(path) in {"/dev/stdout", "/dev/stderr"}:
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def is_named_pipe(path: Path) -> bool:
    """Whether a path is a named pipe (FIFO)."""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False


def open_input(path: Path) -> IO[bytes]:
    """Open a file for reading. A named pipe must get a writer within PATIENCE seconds, else TimeoutError is raised."""
    return _open_pipe(path) if is_named_pipe(path) else path.open("rb")


def _open_pipe(path: Path) -> IO[bytes]:
    # Opening waits for a writer, without a time limit; so another thread does it.
    opened: list[Any] = []

    def wait() -> None:
        try:
            opened.append(path.open("rb"))
        except OSError as error:
            opened.append(error)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    try:
        thread.join(PATIENCE)
    finally:
        if thread.is_alive():
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))  # ends the waiting
            thread.join()
            opened[0].close()
            opened[0] = TimeoutError(
                0, f"it is a pipe, and no program has opened it for writing within {PATIENCE:g} seconds"
            )
    if isinstance(opened[0], OSError):
        raise opened[0]
    stream: IO[bytes] = opened[0]
    return stream


def copy_to_special(source: Path, path: Path) -> None:
    """Write the content of a file to a pipe or device."""
    with source.open("rb") as content, _open_output(path) as stream:
        shutil.copyfileobj(content, stream)


def _open_output(path: Path) -> IO[bytes]:
    """Open a pipe or device for writing. A named pipe must get a reader within PATIENCE seconds."""
    if not is_named_pipe(path):
        # Appended, because /dev/stdout may be a file that the shell has opened; it must not be emptied.
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND), "wb")
    until = time.monotonic() + PATIENCE
    while True:
        try:
            pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            if time.monotonic() > until:
                raise TimeoutError(
                    0, f"it is a pipe, and no program has opened it for reading within {PATIENCE:g} seconds"
                ) from None
            time.sleep(0.05)
        else:
            os.set_blocking(pipe, True)
            return os.fdopen(pipe, "wb")
