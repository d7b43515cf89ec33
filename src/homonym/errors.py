"""The errors that users can cause, as one small tree.

HomonymError
├── InputError      a file cannot be read, or contains nothing usable
├── OutputError     a file cannot be written
├── SettingsError   a parameter is unknown or out of range
└── CapacityError   a block does not fit into the memory that the run may use

A message says in one or two sentences what was expected, what was found, where, and what to do. The command line
prints it and exits with status 2.
"""

from __future__ import annotations


class HomonymError(Exception):
    """Base class of all errors caused by input or settings, not by a bug."""


class InputError(HomonymError):
    """A file cannot be read, or contains nothing usable."""


class OutputError(HomonymError):
    """An output cannot be written."""


class SettingsError(HomonymError):
    """A parameter is unknown or out of range."""


class CapacityError(HomonymError):
    """A block does not fit into the memory that the run may use."""
