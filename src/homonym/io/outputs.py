"""Atomic writes: an output is written to a temporary file next to its path and renamed when it is complete.

A reader never sees half a file, and an interrupted run leaves the old one. The content is on the disk before the file
gets its name, so this holds after a power failure, too.
"""

from __future__ import annotations

import glob
import gzip
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from homonym.errors import OutputError

Paths = str | Path | Sequence[str | Path]
"""One path or several."""


def require_writable(path: Path) -> None:
    """Fail before any work is done if an output cannot be written."""
    parent = path.parent
    if os.path.isdir(path):
        raise OutputError(f"{path} is a directory; name the file to write.")
    if not os.path.isdir(parent):
        raise OutputError(f"{path} cannot be written: {parent} does not exist; create the directory first.")
    if not os.access(parent, os.W_OK):
        raise OutputError(f"{path} cannot be written: no permission to write in {parent}.")


def require_directory(path: Path) -> None:
    """Fail before any work is done if a directory cannot be created or written to."""
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


def _partial(path: Path, process: int) -> Path:
    # Keeps the suffixes, because writers choose the format by them.
    return path.with_name(f".{process}.partial.{path.name}")


def remove_partial(path: Path, process: int) -> None:
    """Remove the temporary files that a killed process left for an output and its side files."""
    name = _partial(Path(side_file(path, "").name), process).name
    for partial in path.parent.glob(f"{glob.escape(name)}*"):
        partial.unlink(missing_ok=True)


@contextmanager
def atomic_path(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """A temporary path next to `path`, which is renamed to `path` if the block succeeds and else removed.

    Without `durable`, a power failure may leave a damaged file.
    """
    require_writable(path)
    partial = _partial(path, os.getpid())
    try:
        yield partial
        if durable:
            sync_file(partial)
        os.replace(partial, path)
        if durable:
            sync_directory(path.parent)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}; nothing was kept.") from error
    finally:
        partial.unlink(missing_ok=True)


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
        partial.write_bytes(content.encode() if isinstance(content, str) else content)


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
    """
    return [Path(paths)] if isinstance(paths, Path | str) else [Path(path) for path in paths]
