"""How functions of the kernel are compiled, and when machine code in the cache is stale.

numba keeps the machine code of a function until the function's own file changes. But machine code contains the code of
the functions that it calls, so an edit of one file would leave stale code of all functions that build on it. Here, the
code is kept until any source of the kernel changes. This is the only module that imports numba.
"""

from __future__ import annotations

import hashlib
import importlib.util
import pkgutil
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numba

#: The packages whose sources are compiled together, and the modules whose constants and tuples are compiled into them.
KERNELS = ("homonym.clustering.dense", "homonym.clustering.sparse")
COMPILED_IN = [("homonym.clustering", "arrays.py"), ("homonym.clustering", "reference.py")]


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function so that it runs without the GIL, and cache the machine code on disk if possible.

    numba raises if neither the package nor the home directory is writable. Then each process compiles again, which
    costs some seconds.
    """
    try:
        return _fresh(numba.njit(nogil=True, cache=True, error_model="numpy")(function))
    except RuntimeError:
        return numba.njit(nogil=True, error_model="numpy")(function)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function into its callers: passing many arrays costs as much as the work on a small block."""
    return numba.njit(nogil=True, error_model="numpy", inline="always")(function)


def _fresh(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make cached machine code of a function stale if any source of the kernel has changed.

    numba has no public interface for that. If a future version stores its stamp elsewhere, nothing is changed here, and
    developers have to empty the cache after an edit of the kernel.
    """
    file = getattr(getattr(function, "_cache", None), "_cache_file", None)
    if file is not None and hasattr(file, "_source_stamp"):
        file._source_stamp = (file._source_stamp, sources_digest())
    if file is not None and hasattr(file, "_load_index"):
        file._load_index = partial(_index_or_empty, file._load_index)
    return function


def _index_or_empty(load_index: Callable[[], dict[Any, Any]]) -> dict[Any, Any]:
    """The index of cached machine code; empty if it refers to a NamedTuple that has been renamed or moved since.

    numba unpickles the index before it compares the stamp, and would raise.
    """
    try:
        return load_index()
    except (AttributeError, ImportError):
        return {}


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
