"""Which allocator Arrow uses in an update: one that gives memory back.

Arrow's own choice is mimalloc, which keeps the memory of threads, also of those that have ended. After 60 nightly
updates in one process, this was half of the memory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# Arrow reads this variable once, when it is imported.
_VARIABLE = "ARROW_DEFAULT_MEMORY_POOL"


def import_arrow_with_system_memory() -> None:
    """Import pyarrow so that it uses the allocator of the system, which every build of Arrow has.

    Nothing happens if pyarrow was imported already, or if the user has chosen an allocator.
    """
    if "pyarrow" in sys.modules or _VARIABLE in os.environ:
        return
    os.environ[_VARIABLE] = "system"
    try:
        import pyarrow as pa

        pa.default_memory_pool()
    finally:
        del os.environ[_VARIABLE]


@contextmanager
def memory_given_back() -> Iterator[None]:
    """Let Python's part of Arrow use jemalloc, if Arrow has it: an update then needs a quarter less memory.

    At the end, the system gets all memory back that is not used.
    """
    import pyarrow as pa

    before = pa.default_memory_pool()
    if "jemalloc" in pa.supported_memory_backends():
        pa.set_memory_pool(pa.jemalloc_memory_pool())
    try:
        yield
    finally:
        pa.default_memory_pool().release_unused()
        pa.set_memory_pool(before)
        before.release_unused()
