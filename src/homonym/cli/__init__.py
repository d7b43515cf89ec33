"""The command line: app.py has the commands, options.py their options, terminal.py what they print.

In: arguments. Out: calls of the public functions, text on the terminal, an exit status. Open app.py first.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


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
