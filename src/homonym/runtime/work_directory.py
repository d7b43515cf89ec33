"""The directory that a run works in: its own while it works, and kept for the next one if it ends too early.

Only one run at a time may work in a directory. It holds a lock that the kernel gives back when it has ended, however
it ended; and so do its processes, because what they were writing when their parent was killed must be written, or not,
before another run begins.
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

#: Who works here; a directory without it is not one of ours, and is left alone.
LOCK = "lock"
#: The folder of what is still being written.
WRITING = "writing"
#: Seconds that the processes of a run that was killed have to end.
PATIENCE = 60.0
#: After a mistake in the input or the settings, less work than this is not worth keeping: it is soon done again.
WORTH_KEEPING = 64 << 20

try:
    import fcntl as _fcntl

    fcntl: ModuleType | None = _fcntl
except ImportError:  # a system without it, where the number in the lock must do
    fcntl = None


@dataclass(frozen=True)
class WorkDirectory:
    """A directory that is ours: `lock` is the open file that says so, None where nobody else can know of it.

    `former` is the process that was here before and did not leave by itself, `continued` whether there is work of it.
    """

    path: Path
    lock: int | None = None
    former: int | None = None
    continued: bool = False
    lasting: bool = False

    @property
    def kept(self) -> str:
        """What to say of work that is kept."""
        delete = "" if self.lasting else ", or delete it"
        return f"What was done is kept in {self.path}: the same command goes on from there{delete}."

    def remove(self) -> None:
        """Take everything away, the lock last, so that whoever interrupts this finds a directory of ours."""
        for entry in sorted(self.path.iterdir(), key=lambda entry: (entry.name == LOCK, entry.name != DONE)):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)
        with suppress(OSError):  # somebody put something there meanwhile
            self.path.rmdir()

    def bytes(self) -> int:
        """How much room the work takes."""
        return sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())


@contextmanager
def work_directory(path: Path, *, lasting: bool = False) -> Iterator[WorkDirectory]:
    """Work in a directory; it is gone afterwards, unless it is to last or the work has ended too early.

    Whoever ends the work is told that it is kept, in a note to the exception.
    """
    place = _opened(path, lasting=lasting)
    try:
        _sweep(path)
        yield place
    except BaseException as broken:
        if lasting or place.continued or _is_worth_keeping(place, broken):
            broken.add_note(place.kept)
        else:
            place.remove()
        raise
    else:
        if not lasting:
            place.remove()
    finally:
        assert place.lock is not None
        _leave(place.lock)


@contextmanager
def temporary_work_directory() -> Iterator[WorkDirectory]:
    """A directory for work that nobody goes on with; it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="homonym-", ignore_cleanup_errors=True) as path:
        yield WorkDirectory(Path(path))


def _is_worth_keeping(place: WorkDirectory, broken: BaseException) -> bool:
    mistake = isinstance(broken, InputError | SettingsError)
    return bool(Manifest(place.path)) and (not mistake or place.bytes() >= WORTH_KEEPING)


def _sweep(path: Path) -> None:
    """Take away what somebody was still writing when he was killed."""
    shutil.rmtree(path / WRITING, ignore_errors=True)
    for partial in path.rglob(f".*{PARTIAL}"):
        partial.unlink(missing_ok=True)


def _opened(path: Path, *, lasting: bool) -> WorkDirectory:
    require_directory(path)
    if path.is_dir() and any(path.iterdir()) and not (path / LOCK).exists():
        raise OutputError(f"{path} is not empty and no work directory of homonym; name another with --work.")
    while True:
        path.mkdir(exist_ok=True)
        try:
            lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:  # another run has just ended here and taken the directory away
            continue
        try:
            _acquire(lock, path)
            if _is_there(lock, path / LOCK):
                break
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)
    former = _holder(lock)
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    return WorkDirectory(path, lock, former, bool(Manifest(path)), lasting)


def _is_there(lock: int, path: Path) -> bool:
    """Whether a lock is that of the directory, and not of one that was taken away meanwhile."""
    try:
        return os.path.samestat(os.fstat(lock), path.stat())
    except FileNotFoundError:
        return False


def _acquire(lock: int, path: Path) -> None:
    """Take the lock; wait for the processes of a run that was killed, but not for a run that goes on."""
    until = time.monotonic() + PATIENCE
    while not _is_taken(lock):
        holder = _holder(lock)
        if (holder and _is_alive(holder)) or time.monotonic() > until:
            by = f" (process {holder})" if holder else ""
            raise OutputError(f"{path} is in use by another run{by}; wait for its end, or name another with --work.")
        time.sleep(0.05)


def _is_taken(lock: int) -> bool:
    """Try to take the lock; where there are no locks, whoever is noted in it has it as long as he lives."""
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
    """The process that is noted in a lock."""
    noted = os.pread(lock, 20, 0).decode(errors="replace").strip()
    return int(noted) if noted.isdecimal() else None


def _is_alive(process: int) -> bool:
    if os.name != "posix":
        return True  # nobody can be asked there without harm
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:  # one who was killed may wait to be noticed by his parent
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return True


def _leave(lock: int) -> None:
    """Give the lock back, and say that nobody is here."""
    with suppress(OSError):
        os.ftruncate(lock, 0)
    os.close(lock)
