"""The work directory of a run: its lock, and the manifest of the checkpoints in it.

Only one run at a time may use a directory. It holds a lock that the operating system releases when the run ends,
however it ends. Its worker processes hold the lock, too: what they are writing when their parent is killed must be
complete or gone before another run begins. A directory is kept for the next run if a run is interrupted.

The manifest lists finished pieces of work, each with a cache key of all that it depends on. An entry is written when
its files are complete, by a rename, so it exists or it does not. It carries a digest of itself and the sizes of its
files. A damaged entry, or one whose files changed, counts as absent, and the piece is done again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from homonym.errors import InputError, OutputError, SettingsError
from homonym.io.outputs import require_directory

# The folder of the manifest in a work directory.
DONE = "done"
# Suffix of files that are still being written.
PARTIAL = ".partial"

Facts = dict[str, Any]


def new_digest() -> hashlib._Hash:
    """An empty SHA-256 digest: processors have instructions for it; twice as fast as BLAKE2b where measured."""
    return hashlib.sha256(usedforsecurity=False)


def digest(*parts: object) -> str:
    """The digest of some values, of their bytes or else of their `repr`; the boundaries between parts count.

    >>> digest("ab", "c") == digest("ab", "c"), digest("ab", "c") == digest("a", "bc"), digest(1) == digest("1")
    (True, False, False)
    """
    made = new_digest()
    for part in parts:
        content = part if isinstance(part, bytes) else repr(part).encode(errors="surrogatepass")
        made.update(b"%d %d " % (isinstance(part, bytes), len(content)))
        made.update(content)
    return made.hexdigest()


def digest_of_file(path: Path) -> str:
    """The digest of the content of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, new_digest).hexdigest()


def write_durably(path: Path, content: bytes) -> None:
    """Write a file of the work directory atomically; it is on the disk before it gets its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{os.getpid()}-{threading.get_ident()}.{path.name}{PARTIAL}")
    try:
        with partial.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_with_digest(path: Path, content: bytes) -> None:
    """Write a file that starts with a digest of its content."""
    write_durably(path, digest(content).encode() + b"\n" + content)


def read_with_digest(path: Path) -> bytes | None:
    """The content of a file written by `write_with_digest`; None if it is missing or damaged."""
    try:
        expected, end, content = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    return content if end and expected == digest(content).encode() else None


@dataclass(frozen=True)
class Manifest:
    """The finished pieces of work in a work directory, by name; a name may contain one folder: `read/000`."""

    work: Path

    def find(self, name: str, key: str) -> Facts | None:
        """The facts of an entry, if it has this cache key and its files are unchanged."""
        import orjson

        content = read_with_digest(self._path(name))
        if content is None:
            return None
        entry = orjson.loads(content)
        valid = entry["key"] == key and all(size == self._size(file) for file, size in entry["files"].items())
        return {**entry["facts"], "files": list(entry["files"])} if valid else None

    def add(self, name: str, key: str, facts: Facts, files: Iterable[str] = ()) -> None:
        """Add a finished piece of work: facts about it, and its files, relative to the work directory."""
        import orjson

        sizes = {file: self._size(file) for file in files}
        write_with_digest(self._path(name), orjson.dumps({"key": key, "files": sizes, "facts": facts}))

    def remove(self, name: str) -> None:
        """Remove an entry; to be done before its files change."""
        self._path(name).unlink(missing_ok=True)

    def names(self, folder: str) -> Iterator[str]:
        """The names of all entries in a folder."""
        for path in (self.work / DONE / folder).glob("*.json"):
            yield f"{folder}/{path.stem}"

    def __bool__(self) -> bool:
        """Whether there is any entry."""
        return any((self.work / DONE).rglob("*.json"))

    def _path(self, name: str) -> Path:
        return self.work / DONE / f"{name}.json"

    def _size(self, file: str) -> int | None:
        try:
            return (self.work / file).stat().st_size
        except OSError:
            return None


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
        raise OutputError(f"{path} is not empty and is not a work directory of homonym; name another with --work.")
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
