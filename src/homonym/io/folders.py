"""A directory of files that appears as a whole: for outputs of several files that are not a result of homonym."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from homonym.errors import OutputError, reason_of
from homonym.io.outputs import random_token, require_writable_parent, sync_directory, sync_file
from homonym.io.special_files import is_special


def require_folder(path: Path, files: Sequence[str]) -> None:
    """Fail before any work is done if these files cannot be written to a directory of their own.

    A directory is replaced only if it has no other files.
    """
    target = Path(os.path.realpath(path))
    if is_special(path) or (os.path.lexists(target) and not os.path.isdir(target)):
        raise OutputError(f"{path} exists and is not a directory; name a new directory.")
    require_writable_parent(path, target)
    if os.path.isdir(target) and (others := sorted(set(os.listdir(target)) - set(files))):
        raise OutputError(f"{path} has other files in it, such as {others[0]}; name a new directory.")


@contextmanager
def written_folder(path: Path, files: Sequence[str]) -> Iterator[Path]:
    """An empty directory, which gets the name `path` if the block succeeds and has written the files."""
    require_folder(path, files)
    target = Path(os.path.realpath(path))
    place = f".{os.getpid()}-{random_token()}"
    folder, former = (target.with_name(f"{place}.{kind}.{target.name}") for kind in ("partial", "former"))
    try:
        os.mkdir(folder)
        try:
            yield folder
            for name in files:
                sync_file(folder / name)
            require_folder(path, files)  # again, because it may have changed
            _publish(folder, target, former)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {reason_of(error)}; nothing was kept.") from error


def _publish(folder: Path, target: Path, former: Path) -> None:
    """Give the directory its name; an older one is put back if that fails."""
    if not os.path.isdir(target):
        os.rename(folder, target)
    else:
        take_place(folder, target, former)
        shutil.rmtree(former, ignore_errors=True)
    sync_directory(target.parent)


def take_place(folder: Path, target: Path, former: Path) -> None:
    """Give a directory the name `target`, and the directory of that name the name `former`; if that fails, neither."""
    try:
        os.rename(target, former)
        os.rename(folder, target)
    except BaseException:
        if os.path.isdir(former) and not os.path.lexists(target):
            os.rename(former, target)
        raise
