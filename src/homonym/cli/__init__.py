"""The command line: app.py has the commands, options.py their options, terminal.py what they print.

In: arguments. Out: calls of the public functions, text on the terminal, an exit status. Open app.py first.
"""

from __future__ import annotations

from homonym.cli.app import main

__all__ = ["main"]
