"""What can go wrong, as one small tree.

HomonymError
├── InputError      a file that cannot be read, or holds nothing usable      (file, line)
├── OutputError     a place that cannot be written
├── SettingsError   a parameter outside its range, or unknown
└── CapacityError   a block too large for the memory it may use

Every message is one sentence: what was expected, what came, where, and what to do. The command line prints it
and exits with status 2.
"""

from __future__ import annotations


class HomonymError(Exception):
    """Base of every error that is the input's or the user's, not a bug."""


class InputError(HomonymError):
    """A file that cannot be read or holds nothing usable."""


class OutputError(HomonymError):
    """A result that cannot be written where it should go."""


class SettingsError(HomonymError):
    """A parameter outside its range, or unknown."""


class CapacityError(HomonymError):
    """A block too large for the memory it may use."""
