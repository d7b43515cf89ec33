"""A result directory: the files in it, how it appears as a whole, and where commands find the file that they need.

A directory is written under a temporary name next to its place, and renamed when all its files are on the disk. If
there is an older result, that is renamed first, and put back if anything fails. A marker file makes a directory a
result: nothing else is ever replaced. Of a result that is replaced, only the files that homonym wrote are removed.
Other files move to the new one.
"""

from __future__ import annotations

import ctypes
import errno
import glob
import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from homonym.errors import InputError, OutputError, reason_of, require_type
from homonym.io.folders import take_place
from homonym.io.outputs import first_within, random_token, require_writable_parent, sync_directory, sync_file
from homonym.io.special_files import NO_LINK, is_special

try:
    import fcntl as _fcntl

    fcntl: ModuleType | None = _fcntl
except ImportError:  # a system without such locks
    fcntl = None

MENTIONS, AUTHORS, DOCUMENTS = "mentions.parquet", "authors.parquet", "documents.parquet"
SETTINGS, LOG, CONFLICTS, REPORT = "settings.toml", "run.json", "conflicts.csv", "report.html"
# Pairs of authors who may be one person under two names.
VARIANTS = "variants.csv"
# What is known of the whole collection, so that single blocks can be encoded and clustered again.
FREQUENCIES, NAMES, PAIRS = "statistics.parquet", "names.parquet", "pairs.parquet"
MASSES = "statistics.collection.json"
# The features of all documents, so that they need not be extracted again.
BAGS = "bags.parquet"
CONFIDENCE = "confidence.json"
# What `homonym update` adds: the epoch and the digests of all files, every id ever given, all events, features that
# the epoch's statistics lack, and authors as they are without the decisions of users.
CORPUS, IDS, EVENTS, NEW_FEATURES = "corpus.json", "ids.parquet", "events.parquet", "statistics.new.parquet"
UNDECIDED = "undecided.parquet"
# Mentions that got another id, because their documents changed.
RENAMED = "renamed.parquet"
MARKER = "homonym-result"
# Decisions of users are not among FILES, because a run that replaces a result must never remove them.
DECISIONS = "decisions.sqlite"
# Seconds that a process waits for another one that writes decisions, or swaps directories.
BUSY_SECONDS = 30.0

FILES = frozenset(
    {
        MENTIONS, AUTHORS, DOCUMENTS, SETTINGS, LOG, CONFLICTS, REPORT, FREQUENCIES, MASSES, NAMES, BAGS, PAIRS,
        MARKER, CONFIDENCE, VARIANTS, CORPUS, IDS, EVENTS, NEW_FEATURES, UNDECIDED, RENAMED,
    }
)  # fmt: skip
"""All names that homonym writes to a result directory."""

# The first line of the marker; the number is increased when older commands could not read or update the directory. They
# refuse it then. Format 1 has no bags.parquet: an update by version 0.11 would leave that file as it was. In format 2,
# entries in that file are lists; an update makes them bytes, which version 0.16 cannot read.
MAGIC, FORMATS = b"homonym result, format ", (b"1\n", b"2\n", b"3\n")
MARKER_TEXT = MAGIC + FORMATS[-1] + b"homonym wrote these files. The next run with the same output replaces them.\n"


def names_directory(output: str | Path) -> bool:
    """Whether an output is a result directory: it ends in a slash, has no suffix, or is an existing directory.

    >>> names_directory("result"), names_directory("result.v2/"), names_directory("authors.csv"), names_directory(".")
    (True, True, False, True)
    """
    return str(output).endswith("/") or os.path.isdir(output) or not Path(output).suffix


def is_result(path: Path) -> bool:
    """Whether a path is a result directory, by its marker."""
    try:
        opened = os.open(path / MARKER, os.O_RDONLY | NO_LINK)
    except OSError:
        return False
    try:
        begin = os.read(opened, len(MAGIC) + 2) if stat.S_ISREG(os.fstat(opened).st_mode) else b""
        return begin.startswith(MAGIC) and begin[len(MAGIC) :] in FORMATS
    finally:
        os.close(opened)


def has_present_format(result: Path) -> bool:
    """Whether a result has the files of the present format."""
    return (result / MARKER).read_bytes() == MARKER_TEXT


def has_format_with_bags(result: Path) -> bool:
    """Whether a result has the files of a format that has the features of documents."""
    return not (result / MARKER).read_bytes().startswith(MAGIC + FORMATS[0])


def require_result(path: str | Path, *files: str) -> Path:
    """The path of a result directory; fails if it is none, or lacks one of these files."""
    require_type("result", path, (str, os.PathLike), "the path of a result directory")
    folder = Path(path)
    if not os.path.lexists(folder):
        raise InputError(f"{path} does not exist; name a result directory, as made by: homonym disambiguate IN -o DIR/")
    if not is_result(folder):
        raise InputError(
            f"{path} is not a result directory of homonym; make one with: homonym disambiguate IN -o DIR/ "
            "(a name without suffix)."
        )
    for name in files:
        if not os.path.isfile(folder / name):
            reason = ": results of homonym cluster have no documents" if name == DOCUMENTS else ""
            raise InputError(f"{path} has no {name}{reason}; make the result with homonym disambiguate.")
    return folder


def require_elsewhere(path: Path) -> None:
    """Fail if the current directory is in a result that is to be changed: it would be one that is removed."""
    try:
        here = [Path.cwd()]
    except FileNotFoundError:  # it was removed
        here = []
    if first_within(_target(path), here):
        raise OutputError(
            f"the current directory is in {path}, which is replaced by a changed copy; "
            "change to another directory first."
        )


def file_of(path: Path, name: str) -> Path:
    """The named file of a result directory; any other path as it is."""
    return path / name if os.path.isdir(path) and is_result(path) else path


def require_no_file_of_result(outputs: Iterable[Path]) -> None:
    """Fail if an output would replace a single file of a result directory, whose files belong together."""
    for path in outputs:
        target = _target(path)
        if target.name in FILES and is_result(target.parent):
            raise OutputError(f"{path} is a file of a result directory and would be overwritten; name another file.")


def require_result_place(path: Path) -> None:
    """Fail before any work is done if a result directory cannot be written there."""
    target = _target(path)
    if is_special(path) or (os.path.lexists(target) and not os.path.isdir(target)):
        raise OutputError(
            f"{path} exists and is not a directory; name a new directory, or a table with a suffix such as .csv."
        )
    require_writable_parent(path, target)
    if os.path.isdir(target):
        _require_replaceable(target, path)


def _target(path: Path) -> Path:
    """The directory itself: a symbolic link stays, and its target is replaced."""
    return Path(os.path.realpath(path))


def _require_replaceable(target: Path, shown: Path) -> None:
    """Fail unless a directory is empty or a result, and can be renamed."""
    try:
        names = os.listdir(target)
    except OSError as error:
        raise OutputError(f"{shown} cannot be read: {reason_of(error)}; name another directory.") from error
    if names and not is_result(target):
        raise OutputError(
            f"{shown} is not empty and not a result of homonym ({min(names)} is in it); name another directory."
        )
    if not {CORPUS, IDS, EVENTS}.isdisjoint(names):
        raise OutputError(
            f"{shown} was updated, and a new run would lose its author ids and events; "
            "use homonym update --mode rebuild, or name another directory."
        )
    if wrong := sorted(name for name in FILES & set(names) if not _is_plain(target / name)):
        raise OutputError(f"{shown / wrong[0]} is not a file, but homonym writes one of that name; move it away.")
    if os.path.ismount(target):
        raise OutputError(f"{shown} is a mount point and cannot be replaced; name a directory inside of it.")
    if first_within(target, [Path.cwd()]):
        raise OutputError(f"{shown} is the current directory, which a result would replace; name another directory.")


def _is_plain(path: Path) -> bool:
    return stat.S_ISREG(os.lstat(path).st_mode)


@contextmanager
def written_directory(path: Path) -> Iterator[Path]:
    """An empty directory, which gets the name `path` if the block succeeds; else it is removed.

    The files in it must be on the disk. The marker is added here.
    """
    target = _target(path)
    require_result_place(path)
    folder = target.with_name(_temporary_name("partial", os.getpid(), random_token(), target.name))
    try:
        os.mkdir(folder)
        try:
            yield folder
            _write_marker(folder)
            sync_directory(folder)
            _publish(folder, target, path)
        finally:
            _remove_own_files(folder)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {reason_of(error)}; nothing was kept.") from error
    except OutputError as error:  # about a file in the temporary directory
        raise OutputError(str(error).replace(str(folder), str(path))) from error


@contextmanager
def changed_directory(path: Path, state: ResultState | None = None) -> Iterator[Path]:
    """A copy of a result directory to change, which replaces the result if the block succeeds; else it is removed.

    Fails if the result is no longer in the given state, so that an update never undoes another one. If no file of the
    copy was changed, the result stays as it is.

    Files are hard links, so a file must be replaced and never changed in place. New files must be on the disk. Whoever
    looks at `path` sees either the old files or the new ones: both directories change their names in one step where the
    system can do that.
    """
    target = _target(path)
    folder = target.with_name(_temporary_name("partial", os.getpid(), random_token(), target.name))
    try:
        os.mkdir(folder)
        try:
            _link_files(target, folder)
            if not has_present_format(folder):
                (folder / MARKER).unlink()
                _write_marker(folder)
            yield folder
            if _has_same_files(folder, target):
                return
            with locked_decisions(target):
                if state is not None:
                    require_state(path, state)
                _link_others(target, folder)
                sync_directory(folder)
                _exchange(folder, target)
                sync_directory(target.parent)
        finally:
            _merge_into(folder, target)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {reason_of(error)}; nothing was changed.") from error
    except (InputError, OutputError) as error:  # about a file in the temporary directory
        text = str(error).replace(str(folder), str(path)).replace("nothing was kept", "the result is as before")
        raise type(error)(text) from error


def _has_same_files(folder: Path, target: Path) -> bool:
    """Whether the files of a copy are still those of the result, and none is missing; copied files are others."""
    own, others = (
        {entry.name: entry.inode() for entry in os.scandir(one) if _is_linked(entry)} for one in (folder, target)
    )
    return own == others


def _is_linked(entry: os.DirEntry[str]) -> bool:
    """Whether a file of a result gets a second name in a copy at once.

    Decisions come later, because users may add some until the directories are swapped.
    """
    is_own = ".partial." not in entry.name and not entry.name.startswith(DECISIONS)
    return is_own and entry.is_file(follow_symlinks=False)


def _write_marker(folder: Path) -> None:
    """Make a directory a result of the present format."""
    (folder / MARKER).write_bytes(MARKER_TEXT)
    sync_file(folder / MARKER)


class ResultState(NamedTuple):
    """What every update changes: the directory and the note of the last update."""

    directory: int
    note: bytes


def result_state(path: Path) -> ResultState:
    """The state of a result; its directory is 0 while it has no name, in the middle of a swap."""
    target = _target(path)
    try:
        note = (target / CORPUS).read_bytes()
    except OSError:  # not yet updated, or damaged
        note = b""
    try:
        return ResultState(os.stat(target).st_ino, note)
    except FileNotFoundError:
        return ResultState(0, note)


def require_state(path: Path, state: ResultState) -> None:
    """Fail if a result was changed since it was in this state."""
    if result_state(path) != state:
        raise OutputError(f"{path} was changed by another update meanwhile, so this one changed nothing; run it again.")


def _link_files(target: Path, folder: Path) -> None:
    """Give all files of a result a second name; directories of the user stay where they are."""
    for entry in filter(_is_linked, os.scandir(target)):
        link_or_copy(entry.path, folder / entry.name)


@contextmanager
def locked_decisions(path: Path, *, shared: bool = False) -> Iterator[None]:
    """Keep other processes from swapping the directory of a result, and from writing decisions; waits for them.

    SQLite's own locks do not do that: they belong to files with the names that these had when they were opened. The
    lock is on the marker file, which keeps its inode when directories are swapped. Readers `shared` it.
    """
    lock = _locked_marker(path, shared=shared) if fcntl else None
    try:
        yield
    finally:
        if lock is not None:
            os.close(lock)


def _locked_marker(path: Path, *, shared: bool) -> int | None:
    """The open and locked marker of a result; None where there is none, or where files cannot be locked."""
    marker, until = path / MARKER, time.monotonic() + BUSY_SECONDS
    if not os.path.lexists(marker):
        return None
    while time.monotonic() < until:
        with suppress(FileNotFoundError):  # the directories are being swapped, in several steps
            lock = os.open(marker, os.O_RDONLY | NO_LINK)
            try:
                if _has_locked(lock, shared=shared) and os.path.samestat(os.fstat(lock), os.stat(marker)):
                    return lock
            except FileNotFoundError:
                pass
            except OSError:  # a file system without locks
                os.close(lock)
                return None
            os.close(lock)
        time.sleep(0.01)
    raise OutputError(f"{path} has been in use by another process for {BUSY_SECONDS:.0f} seconds; try again later.")


def _has_locked(lock: int, *, shared: bool) -> bool:
    assert fcntl is not None
    try:
        fcntl.flock(lock, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _link_others(target: Path, folder: Path) -> None:
    """Link files that others have added to the result in the meantime, and decisions."""
    for entry in os.scandir(target):
        if (
            entry.is_file(follow_symlinks=False)
            and entry.name not in FILES
            and not os.path.lexists(folder / entry.name)
        ):
            link_or_copy(entry.path, folder / entry.name)


def link_or_copy(source: str | Path, target: Path) -> None:
    """Give a file that is on the disk a second name; neither may be changed in place later.

    It is copied if it cannot have another name: to another file system, or to one without hard links.
    """
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
        sync_file(target)


def _exchange(folder: Path, target: Path) -> None:
    """Swap the names of two directories: in one step, or in three where the system cannot do that."""
    if _exchanged(folder, target):
        return
    former = _former(folder)
    take_place(folder, target, former)
    os.rename(former, folder)


def _exchanged(folder: Path, target: Path) -> bool:
    """Whether the system has swapped the names of two directories in one step (Linux, on most file systems)."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    current_directory, exchange = -100, 2
    if renameat2(current_directory, os.fsencode(folder), current_directory, os.fsencode(target), exchange) == 0:
        return True
    if (failed := ctypes.get_errno()) in {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}:
        return False
    raise OSError(failed, os.strerror(failed))


def _merge_into(folder: Path, target: Path) -> None:
    """Remove a directory that was or should have become a result; what only it has moves to the result."""
    for name in sorted(set(os.listdir(folder)) - FILES):
        if ".partial." in name:
            continue
        if not os.path.lexists(target / name):
            os.rename(folder / name, target / name)
        elif os.path.isfile(folder / name):
            os.unlink(folder / name)  # another name of a file that the result has
    _remove_own_files(folder)


def _temporary_name(kind: str, process: int | str, token: str, name: str) -> str:
    return f".{process}-{token}.{kind}.{name}"


def _former(folder: Path) -> Path:
    """The name for an older result while a folder takes its place."""
    return folder.with_name(folder.name.replace(".partial.", ".former.", 1))


def _publish(folder: Path, target: Path, shown: Path) -> None:
    """Give a complete directory its name; an older result is put back if that fails."""
    if not os.path.isdir(target) or not os.listdir(target):
        os.rename(folder, target)
        sync_directory(target.parent)
        return
    _require_replaceable(target, shown)  # again, because it may have changed during the run
    former = _former(folder)
    with locked_decisions(target):
        take_place(folder, target, former)
        sync_directory(target.parent)
        _retire(former, target)


def _retire(former: Path, target: Path) -> None:
    """Remove the files of a result that was replaced; other files move to the new one."""
    for name in sorted(set(os.listdir(former)) - FILES):
        if not os.path.lexists(target / name):
            os.rename(former / name, target / name)
    _remove_own_files(former)


def _remove_own_files(folder: Path) -> None:
    """Remove the files that homonym writes to a result, unfinished ones too, and the directory if it is empty then."""
    with suppress(FileNotFoundError):
        for name in os.listdir(folder):
            if name in FILES or any(name.endswith(f".partial.{own}") for own in FILES):
                with suppress(OSError):  # a directory of that name is not ours
                    os.unlink(folder / name)
    with suppress(OSError):  # it is missing, or has other files
        os.rmdir(folder)


def recover_missing(path: Path) -> None:
    """Give a result its name back if a process was killed between the two renames of a swap (see `_exchange`)."""
    target = _target(path)
    if os.path.lexists(target) or not os.path.isdir(target.parent):
        return
    for found in sorted(target.parent.glob(_temporary_name("former", "*", "*", glob.escape(target.name)))):
        process = found.name[1:].partition("-")[0]
        if process.isdecimal() and not _is_alive(int(process)) and is_result(found):
            os.rename(found, target)
            return


def _is_alive(process: int) -> bool:
    import psutil

    return bool(psutil.pid_exists(process))


def recover_directory(path: Path, process: int) -> None:
    """Clean up after a process that was killed while it wrote a result: the older one gets its name back."""
    target = _target(path)
    for kind in ("former", "partial"):
        pattern = _temporary_name(kind, process, "*", glob.escape(target.name))
        for found in sorted(target.parent.glob(pattern)):
            if found.is_symlink() or not found.is_dir():
                continue
            if kind == "former" and not os.path.lexists(target):
                os.rename(found, target)
            elif kind == "former" and is_result(target):
                _retire(found, target)
            elif kind == "partial" and is_result(target):
                _merge_into(found, target)
            elif kind == "partial":
                _remove_own_files(found)
