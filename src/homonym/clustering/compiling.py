"""How functions of the kernel are compiled, and when machine code in the cache is stale.

numba keeps the machine code of a function until the function's own file changes. But machine code contains the code of
the functions that it calls, so an edit of one file would leave stale code of all functions that build on it. Here, the
code is kept until any source of the kernel changes. This is the only module that imports numba.

Machine code from the cache is run unseen. So it is used only if no other user can have written it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import pkgutil
import stat
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from homonym.runtime.unneeded_imports import not_found, scipy_is_left_out

if scipy_is_left_out():
    with not_found("scipy"):
        import numba.np.arraymath  # which otherwise looks for scipy when the first function is loaded
import numba

#: The packages whose sources are compiled together, and the modules whose constants and tuples are compiled into them.
KERNELS = ("homonym.clustering.dense", "homonym.clustering.sparse")
COMPILED_IN = [("homonym.clustering", "arrays.py"), ("homonym.clustering", "reference.py")]


def _njit(function: Callable[..., Any], **options: bool | str) -> Any:
    """Compile a function that runs without the GIL; none is called through a C pointer."""
    njit: Any = numba.njit  # its types lack some of these options
    return njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function so that it runs without the GIL, and cache the machine code on disk if possible.

    numba raises if neither the package nor the home directory is writable. Then each process compiles again, which
    costs some seconds; likewise if another user can write to the directory of the cache.
    """
    try:
        cached = _njit(function, cache=True)
        if _is_safe_cache(Path(cached.stats.cache_path or ""), Path(function.__code__.co_filename)):
            return _fresh(cached)
    except RuntimeError:
        pass
    found: Callable[..., Any] = _njit(function)
    return found


def internal(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that only compiled code calls, without a Python wrapper and a cache of its own."""
    found: Callable[..., Any] = _njit(function, no_cpython_wrapper=True)
    return found


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function into its callers: passing many arrays costs as much as the work on a small block."""
    found: Callable[..., Any] = _njit(function, inline="always")
    return found


def _fresh(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make cached machine code of a function stale if any source of the kernel has changed.

    numba has no public interface for that. If a future version stores its stamp elsewhere, nothing is changed here, and
    developers have to empty the cache after an edit of the kernel.
    """
    file = getattr(getattr(function, "_cache", None), "_cache_file", None)
    if file is not None and hasattr(file, "_source_stamp"):
        file._source_stamp = (file._source_stamp, sources_digest())
    if file is not None and hasattr(file, "_load_index"):
        source = Path(function.__code__.co_filename)
        file._load_index = partial(_index_or_empty, file._load_index, Path(file._cache_path), source)
    return function


def must_be_compiled(function: Callable[..., Any]) -> bool:
    """Whether a cache could have machine code of a function, but has none."""
    file = getattr(getattr(function, "_cache", None), "_cache_file", None)
    load_index: Callable[[], dict[Any, Any]] | None = getattr(file, "_load_index", None)
    return load_index is not None and not load_index()


def _index_or_empty(load_index: Callable[[], dict[Any, Any]], folder: Path, source: Path) -> dict[Any, Any]:
    """The index of cached machine code; empty if it refers to a NamedTuple that has been renamed or moved since.

    numba unpickles the index before it compares the stamp, and would raise. The index is also empty if a file of the
    cache is not safe.
    """
    try:
        return load_index() if all(_is_safe(path, source) for path in _machine_code(folder)) else {}
    except (AttributeError, ImportError):
        return {}


def _is_safe_cache(folder: Path, source: Path) -> bool:
    """Whether no other user can write to the directory of a cache.

    numba uses the directory of the byte code next to the source if it can: a user who can write to the source
    directory can change the source, too. Otherwise it creates one elsewhere, which is made private here: it may be in a
    directory that many users share.
    """
    try:
        if folder.parent == source.parent:
            return _is_safe(folder, source)
        found, parent = os.lstat(folder), os.stat(folder.parent)
        replaceable = parent.st_mode & stat.S_IWOTH and not parent.st_mode & stat.S_ISVTX
        if replaceable or not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            return False
        if found.st_mode & 0o077:
            os.chmod(folder, 0o700)
            for path in _machine_code(folder):
                os.unlink(path)  # others may have written it
    except OSError:
        return False
    return True


def _machine_code(folder: Path) -> list[Path]:
    """The files of numba in a directory."""
    return [folder / name for name in os.listdir(folder) if name.endswith((".nbi", ".nbc"))]


def _is_safe(path: Path, source: Path) -> bool:
    """Whether a file or directory was written by this user, by root, or by users who can change the source, too.

    The user's own group may have permission to write, which is the default on many systems.
    """
    found, around = os.lstat(path), os.stat(source.parent)
    allowed = around.st_mode | (stat.S_IWGRP if found.st_gid == os.getegid() else 0)
    unsafe = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) & ~allowed
    return not stat.S_ISLNK(found.st_mode) and found.st_uid in {os.geteuid(), 0, around.st_uid} and not unsafe


@cache
def sources_digest() -> str:
    """A digest of all sources that are compiled together; empty if only byte code is installed."""
    digest = hashlib.sha256()
    sources = [(package, f"{module.name}.py") for package in KERNELS for module in _modules_of(package)]
    try:
        for package, resource in [*sources, *COMPILED_IN]:
            digest.update(pkgutil.get_data(package, resource) or b"")
    except OSError:
        return ""
    return digest.hexdigest()


def _modules_of(package: str) -> list[pkgutil.ModuleInfo]:
    """The modules of a package, which need not be imported yet, in a fixed order."""
    specification = importlib.util.find_spec(package)
    places = (specification.submodule_search_locations if specification else None) or []
    return sorted(pkgutil.iter_modules(places), key=lambda module: module.name)
