"""What the process of a command may lack: open standard files, memory, threads, a current directory."""

from __future__ import annotations

import errno
import os
import re

from homonym.errors import HomonymError

try:
    import resource
except ImportError:  # a system without such limits
    resource = None  # type: ignore[assignment]

# Standard input and output are opened so that their use fails, and standard error so that messages are dropped.
_MODES = {0: os.O_WRONLY, 1: os.O_RDONLY, 2: os.O_WRONLY}

# Bytes of virtual memory that a command needs: libraries reserve much more than they use. With 1.7 GiB, some of them
# ended the process (OpenBLAS, the thread library) or crashed.
_LEAST_MEMORY = 2 << 30

# How libraries report that they get no memory or no thread.
_EXHAUSTED = re.compile(r"cannot map|failed to map|cannot allocate|can't start new thread|bad_alloc", re.IGNORECASE)


def open_standard_files() -> None:
    """Open standard input, output and error if they are closed."""
    for number, mode in _MODES.items():
        try:
            os.fstat(number)
        except OSError:  # closed: the next file would get its number, and whatever is printed would end up in it
            os.open(os.devnull, mode)


def require_memory() -> None:
    """Fail if the process may not have enough memory; to be called before libraries are imported that need it."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0] if hasattr(resource, "RLIMIT_AS") else -1
    if 0 <= limit < _LEAST_MEMORY:
        raise HomonymError(
            f"the limit of virtual memory is {limit >> 20:,} MiB, and homonym needs at least "
            f"{_LEAST_MEMORY >> 20:,} MiB; raise it, for example with: ulimit -v unlimited"
        )


def missing_resource(error: BaseException) -> str | None:
    """What the process lacked, and what to do, if that is the reason of an error."""
    if isinstance(error, FileNotFoundError) and error.filename is None and not _has_directory():
        return "the current directory was removed; change to another one, and run the command again."
    found: BaseException | None = error
    while found and not _is_exhausted(found):
        found = found.__cause__
    if found is None:
        return None
    reason = f" ({str(found).splitlines()[0]})" if str(found) else ""
    return (
        f"the process got no more memory or no more threads{reason}; "
        "raise its limits (ulimit -v, ulimit -u), or use fewer --threads or another machine."
    )


def _has_directory() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _is_exhausted(error: BaseException) -> bool:
    if hasattr(error, "characters_written"):  # a pipe that is full for a moment
        return False
    number = getattr(error, "errno", None)
    is_known = isinstance(error, MemoryError) or number in {errno.ENOMEM, errno.EAGAIN}
    return is_known or _EXHAUSTED.search(str(error)) is not None
