"""The work directory of a run: a directory that belongs to homonym and this user, and its lock.

A marker file makes a directory one of ours: its first line names homonym and the format of the directory. Without it,
nothing in a directory is touched. The directory must belong to the user who runs homonym, and of its files only those
with names that homonym writes are ever removed (`own_files.py`).

Only one run at a time may use a directory. It holds a lock that the operating system releases when the run ends,
however it ends. Its worker processes hold the lock, too: what they are writing when their parent is killed must be
complete or gone before another run begins. A directory is kept for the next run if a run is interrupted.
"""

from __future__ import annotations

import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from homonym.errors import HomonymError, InputError, OutputError, SettingsError, reason_of
from homonym.io.outputs import require_directory, sync_directory
from homonym.io.special_files import NO_LINK
from homonym.runtime.checkpoints import Manifest, open_plain, write_file
from homonym.runtime.own_files import ALL, GROUPS, LOCK, MARKER, remove_own, require_own

# The first line of the marker; the number is increased when older directories can no longer be read.
MAGIC = b"homonym work directory, format 1\n"
MARKER_TEXT = MAGIC + b"homonym keeps checkpoints here. The directory may be deleted while no run uses it.\n"
# Seconds to wait for the worker processes of a run that was killed.
PATIENCE = 60.0
# After an error in the input or the settings, and after any error of a short run, fewer bytes of work than this are not
# kept: they are soon done again.
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

    def remove(self) -> list[str]:
        """Remove all files of ours and the directory; returns what else is in it, which stays, and then so does it.

        Marker and lock file go last: if this is interrupted, the rest is still one of our directories.
        """
        remove_own(self.path, ALL, keep=frozenset({MARKER, LOCK}))
        foreign = sorted(set(os.listdir(self.path)) - {MARKER, LOCK})
        if not foreign:
            for name in (MARKER, LOCK):
                (self.path / name).unlink(missing_ok=True)
            with suppress(OSError):  # another process has put a file there
                self.path.rmdir()
        return foreign

    def bytes(self) -> int:
        """The size of all files."""
        return sum(path.lstat().st_size for path in self.path.rglob("*"))


@contextmanager
def work_directory(
    path: Path, *, lasting: bool = False, warnings: list[str] | None = None, discards_on_error: bool = False
) -> Iterator[WorkDirectory]:
    """Lock a directory and work in it; it is removed afterwards, unless it is `lasting` or the run fails.

    A run that `discards_on_error`, as on a full disk, leaves little work only if it is interrupted.

    An exception that leaves work behind gets a note that says so. If the directory has files that are not ours, it
    stays, and a warning says so.
    """
    directory = _open(path, lasting=lasting)
    try:
        yield directory
    except BaseException as broken:
        if lasting or directory.resumed or _is_worth_keeping(directory, broken, discards_on_error=discards_on_error):
            broken.add_note(directory.kept_message)
        else:
            directory.remove()
        raise
    else:
        foreign = [] if lasting else directory.remove()
        if foreign and warnings is not None:
            warnings.append(f"{path} stays, because homonym did not write all of its files ({', '.join(foreign[:3])}).")
    finally:
        assert directory.lock is not None
        _release(directory.lock)


@contextmanager
def temporary_work_directory() -> Iterator[WorkDirectory]:
    """A directory for a run that cannot be resumed; it is always removed."""
    with tempfile.TemporaryDirectory(prefix="homonym-", ignore_cleanup_errors=True) as path:
        yield WorkDirectory(Path(path))


def _is_worth_keeping(directory: WorkDirectory, broken: BaseException, *, discards_on_error: bool) -> bool:
    is_soon_repeated = isinstance(broken, HomonymError if discards_on_error else InputError | SettingsError)
    return bool(Manifest(directory.path)) and (not is_soon_repeated or directory.bytes() >= WORTH_KEEPING)


def _open(path: Path, *, lasting: bool) -> WorkDirectory:
    """Lock a directory that is new, empty or one of ours; files that a killed run was still writing are removed."""
    try:
        path = _place(path, lasting=lasting)
        lock = _locked(path)
        try:
            _claim(path)
            former = _holder(lock)
            os.ftruncate(lock, 0)
            os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
            os.fsync(lock)  # tells the next run whose temporary files it may remove
            return WorkDirectory(path, lock, former, bool(Manifest(path)), lasting)
        except BaseException:
            os.close(lock)
            raise
    except OSError as error:
        raise OutputError(f"{path} cannot be a work directory: {reason_of(error)}; name another.") from error


def _place(path: Path, *, lasting: bool) -> Path:
    """The directory itself: a link that the user names is followed, a link in place of a hidden directory is not."""
    if path.is_symlink():
        if not lasting:
            raise OutputError(f"{path} is a symbolic link; remove it, or name its target with --work.")
        path = path.resolve()
    require_directory(path)
    return path


def _locked(path: Path) -> int:
    """The open lock file of a directory, which is created if necessary and locked."""
    while True:
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
            sync_directory(path.parent)
        try:
            _require_ours(path)
            lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | NO_LINK, 0o600)
        except FileNotFoundError:  # another run has just ended here and removed the directory
            continue
        try:
            _require_lock_file(lock, path / LOCK)
            _acquire(lock, path)
            if _is_current(lock, path / LOCK):
                return lock
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)


def _require_ours(path: Path) -> None:
    """Fail before anything is changed if a directory belongs to another user or holds files of another program."""
    found = path.stat()
    if found.st_uid != os.geteuid() and found.st_uid != _owner_of_new_files(path):
        raise OutputError(f"{path} belongs to another user (number {found.st_uid}); name another with --work.")
    if found.st_mode & stat.S_IWOTH:
        raise OutputError(f"every user may write to {path}; forbid that (chmod o-w), or name another with --work.")
    names = set(os.listdir(path))
    if LOCK in names and not stat.S_ISREG((path / LOCK).lstat().st_mode):
        raise OutputError(f"{path / LOCK} is not a lock file of homonym; remove it, or name another with --work.")
    if MARKER in names or all(_is_first_file(name) for name in names):
        return
    if LOCK in names and {"done", "run.json"} & names:
        raise OutputError(
            f"{path} is a work directory of an older version of homonym, which cannot be used any more; "
            "delete it, or name another with --work."
        )
    raise OutputError(f"{path} is not empty and is not a work directory of homonym; name another with --work.")


def _owner_of_new_files(path: Path) -> int:
    """The owner of files that this process creates there: some network file systems choose another than the user."""
    with tempfile.TemporaryFile(dir=path) as probe:
        return os.fstat(probe.fileno()).st_uid


def _is_first_file(name: str) -> bool:
    """Whether a file is one of the first two that a run writes; it may have been killed between them."""
    return name == LOCK or (name.startswith(".") and name.endswith(f".{MARKER}.partial"))


def _require_lock_file(lock: int, path: Path) -> None:
    """Fail if the file holds anything but a process number, or zeros after a power failure; it will be overwritten."""
    content = os.pread(lock, 21, 0).strip(b"\n\0") if stat.S_ISREG(os.fstat(lock).st_mode) else b"?"
    if content and not (content.isdigit() and len(content) < 20):
        raise OutputError(f"{path} is not a lock file of homonym; remove it, or name another with --work.")


def _claim(path: Path) -> None:
    """Mark a new directory as ours; make sure of the marker and the files of one that was used before."""
    if not os.path.lexists(path / MARKER):
        _require_ours(path)
        write_file(path / MARKER, MARKER_TEXT)
    with open_plain(path / MARKER) as stream:
        if stream.readline(100) != MAGIC:
            raise OutputError(
                f"{path} is a work directory of another version of homonym; delete it, or name another with --work."
            )
        if os.fstat(stream.fileno()).st_uid != path.stat().st_uid:
            raise OutputError(f"{path / MARKER} belongs to another user; name another directory with --work.")
    require_own(path)
    remove_own(path, GROUPS["unfinished"])


def _is_current(lock: int, path: Path) -> bool:
    """Whether the open lock file is still the one in the directory, which may have been removed meanwhile."""
    try:
        return os.path.samestat(os.fstat(lock), path.lstat())
    except FileNotFoundError:
        return False


def _acquire(lock: int, path: Path) -> None:
    """Lock the file; waits for the workers of a run that was killed, but not for a run that is alive."""
    until = time.monotonic() + PATIENCE
    while not _try_lock(lock):
        holder = _holder(lock)
        if (holder and _is_alive(holder)) or time.monotonic() > until:
            by = f" (process {holder})" if holder else ""
            raise OutputError(f"{path} is in use by another run{by}; wait until it ends, or name another with --work.")
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
