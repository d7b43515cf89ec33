"""The command line: app.py has the commands, options.py their options, terminal.py what they print.

In: arguments. Out: calls of the public functions, text on the terminal, an exit status. Open app.py first.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys

__all__ = ["main", "main_of_process"]

# Whether this process runs one command and nothing else.
is_own_process = False


def main() -> None:
    """Run the command line and exit, as `app.main` does; Ctrl-C ends it cleanly while modules are imported, too."""
    from homonym.cli.environment import open_standard_files

    open_standard_files()
    try:
        from homonym.cli import app
    except KeyboardInterrupt:
        sys.stderr.write("homonym: interrupted; the run did not finish.\n")
        sys.exit(130)
    app.main()


def main_of_process() -> None:
    """Run the command line in a process that does nothing else: `main` for the installed command.

    A small run takes a tenth less time. Garbage is collected less often, because there are few cycles. numpy starts
    no threads for products of large matrices, because they would wait busily on all cores first, and the few
    products gain nothing. At the end the memory is left to the system instead of freeing every object of every library.
    """
    global is_own_process
    is_own_process = True
    gc.set_threshold(1_000_000, 20, 100)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    status: list[int] = []

    def leave() -> None:
        if status:
            for stream in filter(None, (sys.stdout, sys.stderr)):
                try:
                    stream.flush()
                except (OSError, ValueError):  # Python reports it
                    return
            os._exit(status[0])

    atexit.register(leave)  # the first one registered runs last, when threads and other handlers have ended
    try:
        main()
    except SystemExit as ended:
        status[:] = [ended.code] if isinstance(ended.code, int) else []
        raise
