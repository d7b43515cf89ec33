"""Outputs: written beside their place and renamed when they are whole.

So a reader never sees half a file, and an interrupted run leaves the old one.
"""

from __future__ import annotations

import glob
import gzip
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from homonym.errors import OutputError

Paths = str | Path | Sequence[str | Path]
"""One file or several."""


def require_writable(path: Path) -> None:
    """Fail before any work is done if an output could not be written."""
    parent = path.parent
    if os.path.isdir(path):
        raise OutputError(f"{path} is a directory; name the file to write.")
    if not os.path.isdir(parent):
        raise OutputError(f"{path} cannot be written: {parent} does not exist; make the directory first.")
    if not os.access(parent, os.W_OK):
        raise OutputError(f"{path} cannot be written: no permission to write in {parent}.")


def require_directory(path: Path) -> None:
    """Fail before any work is done if a directory could not be written to, or made where none is."""
    there = path if path.exists() else path.parent
    if not there.is_dir():
        why = "is a file" if there.exists() else "does not exist"
        raise OutputError(f"{path} cannot be a directory: {there} {why}; name another.")
    if not os.access(there, os.W_OK):
        raise OutputError(f"{path} cannot be written: no permission to write in {there}.")


def side_file(path: Path, ending: str) -> Path:
    """The place of a companion file: the same name with another ending.

    >>> str(side_file(Path("out/authors.v2.csv.gz"), ".settings.toml"))
    'out/authors.v2.settings.toml'
    """
    name = path.name.removesuffix(".gz")
    for suffix in (".parquet", ".csv", ".jsonl"):
        name = name.removesuffix(suffix)
    return path.with_name(name + ending)


def _partial(path: Path, process: int) -> Path:
    # The suffixes stay, because writers choose the format by them.
    return path.with_name(f".{process}.partial.{path.name}")


def remove_partial(path: Path, process: int) -> None:
    """Take away what a process that was killed had begun to write there, or beside it."""
    name = _partial(Path(side_file(path, "").name), process).name
    for partial in path.parent.glob(f"{glob.escape(name)}*"):
        partial.unlink(missing_ok=True)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; rename it into place if the block ends well, else remove it."""
    require_writable(path)
    partial = _partial(path, os.getpid())
    try:
        yield partial
        os.replace(partial, path)
    except OSError as broken:
        raise OutputError(f"{path} cannot be written: {broken.strerror or broken}; nothing was kept.") from broken
    finally:
        partial.unlink(missing_ok=True)


def write_atomic(path: Path, content: str | bytes) -> None:
    """Write a small file whole or not at all."""
    with atomic_path(path) as partial:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)


def write_json(path: Path, values: dict[str, Any]) -> None:
    """Write figures as JSON that people can read, whole or not at all."""
    import orjson

    write_atomic(path, orjson.dumps(values, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


@contextmanager
def open_atomic(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing, compressed where it ends in .gz; it appears whole or not at all.

    The gzip header carries neither name nor time, so that equal content gives equal bytes.
    """
    with atomic_path(path) as partial, partial.open("wb") as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as packed:
                yield packed  # type: ignore[misc]
        else:
            yield raw


def as_paths(paths: Paths) -> list[Path]:
    """Give one or several paths as a list.

    >>> [path.name for path in as_paths("a.csv")], len(as_paths(["a.csv", Path("b.csv")]))
    (['a.csv'], 2)
    """
    return [Path(paths)] if isinstance(paths, Path | str) else [Path(path) for path in paths]
