"""How the kernel's functions become machine code, and when the machine code on disk is too old.

numba keeps the code of a function until the function's own file changes. A function holds the code of those that it
calls, though, so one file's edit would leave stale code of all others that build on it: here the code is kept until any
source of the kernel changes.
"""

from __future__ import annotations

import hashlib
import pkgutil
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numba

#: The package whose sources are compiled together, and the module whose constants are compiled into them.
KERNEL, CONSTANTS = "homonym.clustering.kernel", ("homonym.clustering", "probability.py")


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
    modules = sorted(module.name for module in pkgutil.iter_modules(sys.modules[KERNEL].__path__))
    try:
        for package, resource in [*((KERNEL, f"{name}.py") for name in modules), CONSTANTS]:
            digest.update(pkgutil.get_data(package, resource) or b"")
    except OSError:
        return ""
    return digest.hexdigest()
