"""How the kernel's functions become machine code, and when the machine code on disk is too old.

numba keeps the code of a function until the function's own file changes. A function holds the code of those that it
calls, though, so one file's edit would leave stale code of all others that build on it: here the code is kept until any
source of the kernel changes.
"""

from __future__ import annotations

import hashlib
import importlib.util
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any

import numba

#: The packages whose sources are compiled together, and the module whose constants are compiled into them.
KERNELS = ("homonym.clustering.dense", "homonym.clustering.sparse")
CONSTANTS = ("homonym.clustering", "reference.py")


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile without the GIL; keep the machine code on disk where that is possible.

    numba raises where neither the package nor the home directory is writable; then the code is compiled anew in each
    process, which costs seconds, not the run.
    """
    try:
        return _fresh(numba.njit(nogil=True, cache=True, error_model="numpy")(function))
    except RuntimeError:
        return numba.njit(nogil=True, error_model="numpy")(function)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile into the caller: to hand over all of `Scratch` costs as much as a small block's work."""
    return numba.njit(nogil=True, error_model="numpy", inline="always")(function)


def _fresh(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function's code on disk count as stale when any of the kernel's sources has changed.

    numba has no public way to say so. Where it does not keep its stamp where it does today, nothing is changed, and
    only who edits the kernel has to empty the cache.
    """
    file = getattr(getattr(function, "_cache", None), "_cache_file", None)
    if file is not None and hasattr(file, "_source_stamp"):
        file._source_stamp = (file._source_stamp, sources_digest())
    return function


@cache
def sources_digest() -> str:
    """A digest of all that is compiled together; empty where only compiled modules are installed."""
    digest = hashlib.sha256()
    sources = [(package, f"{module.name}.py") for package in KERNELS for module in _modules_of(package)]
    try:
        for package, resource in [*sources, CONSTANTS]:
            digest.update(pkgutil.get_data(package, resource) or b"")
    except OSError:
        return ""
    return digest.hexdigest()


def _modules_of(package: str) -> list[pkgutil.ModuleInfo]:
    """The modules of a package that need not be imported yet, in a fixed order."""
    specification = importlib.util.find_spec(package)
    places = (specification.submodule_search_locations if specification else None) or []
    return sorted(pkgutil.iter_modules(places), key=lambda module: module.name)
