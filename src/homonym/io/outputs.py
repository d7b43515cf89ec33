"""Atomic writes: an output is written to a temporary file next to its path and renamed when it is complete.

A reader never sees half a file, and an interrupted run leaves the old one. The content is on the disk before the file
gets its name, so this holds after a power failure, too. An output that is a symbolic link stays one: its target is
replaced, as with `>` in a shell. A pipe or a device cannot be renamed to, so it gets the complete content at the end.
An output never replaces an input (`require_distinct`).
"""

from __future__ import annotations

import glob
import gzip
import os
import secrets
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from homonym.errors import OutputError, SettingsError, described, reason_of
from homonym.io.special_files import copy_to_special, is_special

Paths = str | Path | Sequence[str | Path]
"""One path or several."""


# Endings of names of pages.
PAGE_SUFFIXES = (".html", ".htm")


# Number of bytes that the longest side file and the name of a temporary file need besides the name of an output.
_ADDED_TO_NAMES = len(".4194304-01234567.partial.") + len(".contradictions.csv")


def require_short_name(path: Path) -> None:
    """Fail before any work is done if a name leaves no room for the names of temporary and side files."""
    try:
        most = os.pathconf(path.parent, "PC_NAME_MAX") - _ADDED_TO_NAMES
    except (AttributeError, OSError, ValueError):  # a system without such limits, or a directory that does not exist
        return
    length = len(os.fsencode(path.name))
    if 0 < most < length:
        raise OutputError(
            f"{path.name[:40]}… cannot be written: its name has {length:,} bytes, and the file system has room for "
            f"{most} and the names of temporary files; choose a shorter name."
        )


def require_writable(path: Path) -> None:
    """Fail before any work is done if an output cannot be written."""
    if os.path.isdir(path):
        raise OutputError(f"{path} is a directory; name the file to write.")
    if is_special(path):
        if not os.access(path, os.W_OK):
            raise OutputError(f"{path} cannot be written: no permission to write to it.")
        return
    require_writable_parent(path, _target(path))


def require_writable_parent(path: Path, target: Path) -> None:
    """Fail unless the directory of a target exists and is writable; `path` is how the user named the target."""
    parent = target.parent
    require_short_name(target)
    if os.path.isfile(parent):
        raise OutputError(f"{path} cannot be written: {parent} is a file, not a directory; name another place.")
    if not os.path.isdir(parent):
        raise OutputError(f"{path} cannot be written: {parent} does not exist; create the directory first.")
    if not os.access(parent, os.W_OK):
        raise OutputError(f"{path} cannot be written: no permission to write in {parent}.")


def _target(path: Path) -> Path:
    """The file that is written: the path itself, or the target of a symbolic link."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def require_page_path(path: Path) -> None:
    """Fail before any work is done if a page cannot be written, or if the name is that of something else."""
    if path.suffix.lower() not in PAGE_SUFFIXES and not os.path.isdir(path) and not is_special(path):
        raise OutputError(f"{path}: the output is a page, so its name must end in .html; choose such a name.")
    require_writable(path)


def require_directory(path: Path) -> None:
    """Fail before any work is done if a directory cannot be created or written to."""
    require_short_name(path)
    existing = path if path.exists() else path.parent
    if not existing.is_dir():
        reason = "is a file" if existing.exists() else "does not exist"
        raise OutputError(f"{path} cannot be a directory: {existing} {reason}; name another.")
    if not os.access(existing, os.W_OK):
        raise OutputError(f"{path} cannot be written: no permission to write in {existing}.")


def side_file(path: Path, ending: str) -> Path:
    """The path of a side file: the same name with another ending.

    >>> str(side_file(Path("out/authors.v2.csv.gz"), ".settings.toml"))
    'out/authors.v2.settings.toml'
    """
    name = path.name.removesuffix(".gz")
    for suffix in (".parquet", ".csv", ".jsonl"):
        name = name.removesuffix(suffix)
    return path.with_name(name + ending)


def random_token() -> str:
    """A random part of a file name, of 8 characters, which cannot be guessed."""
    return secrets.token_hex(4)


def _partial_name(name: str, process: int, token: str) -> str:
    # Keeps the suffixes, because writers choose the format by them.
    return f".{process}-{token}.partial.{name}"


def _create_partial(path: Path) -> Path:
    """Create an empty temporary file next to `path`.

    The name is random and the file must be new. So another user of the directory cannot put a link in its place.
    """
    partial = path.with_name(_partial_name(path.name, os.getpid(), random_token()))
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666))
    return partial


def remove_partial(path: Path, process: int) -> None:
    """Remove the temporary files that a killed process left for an output and its side files."""
    for written in {path, _target(path)}:
        name = _partial_name(glob.escape(side_file(written, "").name), process, "*")
        for partial in written.parent.glob(f"{name}*"):
            if not partial.is_dir():
                partial.unlink(missing_ok=True)


@contextmanager
def atomic_path(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """An empty temporary file next to `path`, which is renamed to `path` if the block succeeds and else removed.

    Without `durable`, a power failure may leave a damaged file.
    """
    require_writable(path)
    try:
        with _copied_to_special(path) if is_special(path) else _renamed(_target(path), durable=durable) as partial:
            yield partial
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {reason_of(error)}; nothing was kept.") from error


@contextmanager
def _renamed(path: Path, *, durable: bool) -> Iterator[Path]:
    partial = _create_partial(path)
    try:
        yield partial
        if durable:
            sync_file(partial)
        os.replace(partial, path)
        if durable:
            sync_directory(path.parent)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _copied_to_special(path: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="homonym-") as folder:
        partial = Path(folder, path.name)
        yield partial
        copy_to_special(partial, path)


def sync_file(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def sync_directory(path: Path) -> None:
    """Wait until the names in a directory are on the disk, if its file system can do that."""
    with suppress(OSError):
        opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def write_atomic(path: Path, content: str | bytes, *, durable: bool = True) -> None:
    """Write a small file atomically."""
    with atomic_path(path, durable=durable) as partial:
        partial.write_bytes(content.encode(errors="backslashreplace") if isinstance(content, str) else content)


def write_json(path: Path, values: dict[str, Any], *, durable: bool = True) -> None:
    """Write values as indented JSON, atomically."""
    import orjson

    content = orjson.dumps(values, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    write_atomic(path, content, durable=durable)


@contextmanager
def open_atomic(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for an atomic write, with gzip compression if the path ends in .gz.

    The gzip header has neither name nor time, so that equal content gives equal bytes.
    """
    with atomic_path(path) as partial, partial.open("wb") as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as compressed:
                yield compressed  # type: ignore[misc]
        else:
            yield raw


def as_paths(paths: Paths) -> list[Path]:
    """One or several paths as a list.

    >>> [path.name for path in as_paths("a.csv")], len(as_paths(["a.csv", Path("b.csv")]))
    (['a.csv'], 2)
    >>> as_paths(["a.csv", 5])
    Traceback (most recent call last):
    homonym.errors.SettingsError: expected a path or a list of paths, but got an object of the type int.
    """
    return list(map(Path, listed(paths)))


def listed(paths: Paths) -> list[str | Path]:
    """One or several paths, or URLs, as a list; tables and mappings are iterable, too, but no lists of paths."""
    given: list[Any] = [paths]
    if isinstance(paths, Sequence | Set | Iterator) and not isinstance(paths, str | bytes):
        given = list(paths)
    for path in given:
        if not isinstance(path, str | os.PathLike):
            raise SettingsError(f"expected a path or a list of paths, but got {described(path)}.")
    return given


# Which file a path leads to: device and inode, and the name in that directory if there is no such file yet.
_Identity = tuple[int, int, str]


def require_distinct(inputs: Iterable[Path], outputs: Iterable[Path]) -> None:
    """Fail before any work is done if an output is also an input, or if two outputs are one file.

    Files are compared by device and inode, so that other spellings, symbolic and hard links are found. Standard input
    (`-`) may be redirected from a file. Devices such as /dev/null may be named any number of times.
    """
    read = {key: path for path in inputs if (key := _input_identity(path))}
    written: dict[_Identity, Path] = {}
    for path in outputs:
        key = file_identity(path)
        if key in read:
            name = "standard input" if read[key] == Path("-") else f"the input {read[key]}"
            alias = "an input" if read[key] == path else f"the same file as {name}"
            raise OutputError(f"{path} is {alias} and would be overwritten; name another file for the output.")
        if key in written:
            alias = "" if written[key] == path else f" (also as {written[key]})"
            raise OutputError(f"{path} is named for two outputs{alias}; name a file of its own for each.")
        if key:
            written[key] = path


def _input_identity(path: Path) -> _Identity | None:
    from homonym.io.inputs import STANDARD_INPUT

    if path != STANDARD_INPUT:
        return file_identity(path)
    try:
        return _status_identity(os.fstat(0))
    except OSError:  # it is closed
        return None


def file_identity(path: Path) -> _Identity | None:
    """Which file a path leads to; None for a device, and for a path that cannot exist."""
    path = Path(os.path.realpath(path))
    try:
        return _status_identity(os.stat(path))
    except OSError:
        pass
    try:
        directory = os.stat(path.parent)
    except OSError:
        return None
    return directory.st_dev, directory.st_ino, path.name


def _status_identity(status: os.stat_result) -> _Identity | None:
    is_device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
    return None if is_device else (status.st_dev, status.st_ino, "")


def first_within(directory: Path, paths: Iterable[Path]) -> Path | None:
    """The first of the paths that is in a directory, at any depth, or is the directory itself."""
    try:
        wanted = os.stat(directory)
    except OSError:  # it does not exist yet, so only the names of future files can be in it
        wanted = None
    place = Path(os.path.realpath(directory))
    known: dict[Path, bool] = {}

    def is_within(path: Path) -> bool:
        if path not in known:
            known[path] = path == place or _is_same(path, wanted) or (path != path.parent and is_within(path.parent))
        return known[path]

    return next((path for path in paths if is_within(Path(os.path.realpath(path)))), None)


def _is_same(path: Path, status: os.stat_result | None) -> bool:
    try:
        return status is not None and os.path.samestat(os.stat(path), status)
    except OSError:
        return False


def is_hidden(path: Path, directory: Path) -> bool:
    """Whether a path below a directory has a hidden part, which is skipped when the directory is read."""
    parts = Path(os.path.relpath(os.path.realpath(path), os.path.realpath(directory))).parts
    return any(part.startswith(".") for part in parts)
