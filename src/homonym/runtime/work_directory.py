"""The work directory of a run: locked while the run works in it, and kept for the next run if it is interrupted.

Only one run at a time may use a directory. It holds a lock that the kernel releases when the run has ended, however it
ended. Its worker processes hold the lock too: what they are writing when their parent is killed must be complete or
gone before another run begins.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from homonym.errors import InputError, OutputError, SettingsError
from homonym.io.outputs import require_directory
from homonym.runtime.checkpoints import DONE, PARTIAL, Manifest

# The lock file, which holds the number of the process; a directory without it is not one of ours.
LOCK = "lock"
# The folder of files that are still being written.
WRITING = "writing"
# Seconds to wait for the worker processes of a run that was killed.
PATIENCE = 60.0
# After an error in the input or the settings, fewer bytes of work than this are not kept: they are soon done again.
WORTH_KEEPING = 64 << 20

try:
    import fcntl as _fcntl

    fcntl: ModuleType | None = _fcntl
except ImportError:  # without it, the process number in the lock file decides
    fcntl = None


@dataclass(frozen=True)
class WorkDirectory:
    """A directory that this run owns; `lock` is its open lock file, None if it is temporary.

    `former` is the process that used it before and did not end normally; `resumed` if there are checkpoints of it.
    """

    path: Path
    lock: int | None = None
    former: int | None = None
    resumed: bool = False
    lasting: bool = False

    @property
    def kept_message(self) -> str:
        """A message for the user of an interrupted run."""
        delete = "" if self.lasting else ", or delete it"
        return f"Finished work is kept in {self.path}: the same command resumes there{delete}."

    def remove(self) -> None:
        """Remove everything, the lock file last: if this is interrupted, the rest is still one of our directories."""
        for entry in sorted(self.path.iterdir(), key=lambda entry: (entry.name == LOCK, entry.name != DONE)):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)
        with suppress(OSError):  # another process has put a file there
            self.path.rmdir()

    def bytes(self) -> int:
        """The size of all files."""
        return sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())


@contextmanager
def work_directory(path: Path, *, lasting: bool = False) -> Iterator[WorkDirectory]:
    """Lock a directory and work in it; it is removed afterwards, unless it is `lasting` or the run fails.

    An exception that leaves work behind gets a note that says so.
    """
    directory = _open(path, lasting=lasting)
    try:
        _remove_unfinished(path)
        yield directory
    except BaseException as broken:
        if lasting or directory.resumed or _is_worth_keeping(directory, broken):
            broken.add_note(directory.kept_message)
        else:
            directory.remove()
        raise
    else:
        if not lasting:
            directory.remove()
    finally:
        assert directory.lock is not None
        _release(directory.lock)


@contextmanager
def temporary_work_directory() -> Iterator[WorkDirectory]:
    """A directory for a run that cannot be resumed; it is always removed."""
    with tempfile.TemporaryDirectory(prefix="homonym-", ignore_cleanup_errors=True) as path:
        yield WorkDirectory(Path(path))


def _is_worth_keeping(directory: WorkDirectory, broken: BaseException) -> bool:
    mistake = isinstance(broken, InputError | SettingsError)
    return bool(Manifest(directory.path)) and (not mistake or directory.bytes() >= WORTH_KEEPING)


def _remove_unfinished(path: Path) -> None:
    """Remove files that a killed run was still writing."""
    shutil.rmtree(path / WRITING, ignore_errors=True)
    for partial in path.rglob(f".*{PARTIAL}"):
        partial.unlink(missing_ok=True)


def _open(path: Path, *, lasting: bool) -> WorkDirectory:
    require_directory(path)
    if path.is_dir() and any(path.iterdir()) and not (path / LOCK).exists():
        raise OutputError(f"{path} is not empty and no work directory of homonym; name another with --work.")
    while True:
        path.mkdir(exist_ok=True)
        try:
            lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:  # another run has just ended here and removed the directory
            continue
        try:
            _acquire(lock, path)
            if _is_current(lock, path / LOCK):
                break
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)
    former = _holder(lock)
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    return WorkDirectory(path, lock, former, bool(Manifest(path)), lasting)


def _is_current(lock: int, path: Path) -> bool:
    """Whether the open lock file is still the one in the directory, which may have been removed meanwhile."""
    try:
        return os.path.samestat(os.fstat(lock), path.stat())
    except FileNotFoundError:
        return False


def _acquire(lock: int, path: Path) -> None:
    """Lock the file; waits for the workers of a run that was killed, but not for a run that is alive."""
    until = time.monotonic() + PATIENCE
    while not _try_lock(lock):
        holder = _holder(lock)
        if (holder and _is_alive(holder)) or time.monotonic() > until:
            by = f" (process {holder})" if holder else ""
            raise OutputError(f"{path} is in use by another run{by}; wait for its end, or name another with --work.")
        time.sleep(0.05)


def _try_lock(lock: int) -> bool:
    """Whether the file could be locked; where there are no locks, its holder must have ended."""
    if fcntl:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            pass
        else:
            return True
    holder = _holder(lock)
    return not (holder and _is_alive(holder))


def _holder(lock: int) -> int | None:
    """The process number in a lock file."""
    content = os.pread(lock, 20, 0).decode(errors="replace").strip()
    return int(content) if content.isdecimal() else None


def _is_alive(process: int) -> bool:
    """Whether a process runs; one that was killed may remain as a zombie for a moment."""
    import psutil

    try:
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def _release(lock: int) -> None:
    with suppress(OSError):
        os.ftruncate(lock, 0)
    os.close(lock)
