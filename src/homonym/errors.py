"""The errors that users can cause, as one small tree, and helpers for messages.

HomonymError
├── InputError      a file cannot be read, or contains nothing usable
├── OutputError     a file cannot be written
├── SettingsError   a parameter is unknown or out of range
└── CapacityError   a block does not fit into the memory that the run may use

A message says in one or two sentences what was expected, what was found, where, and what to do. The command line
prints it and exits with status 2.
"""

from __future__ import annotations

from collections.abc import Sequence


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


def described(value: object) -> str:
    """The type of a value, for messages.

    >>> described(5)
    'an object of the type int'
    """
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"an object of the type {name}"


def require_type(name: str, value: object, kinds: type | tuple[type, ...], expected: str) -> None:
    """Fail if an argument of a function is not of the expected types.

    >>> require_type("path", 5, str, "a path")
    Traceback (most recent call last):
    homonym.errors.SettingsError: path must be a path, but is an object of the type int.
    """
    if not isinstance(value, kinds):
        raise SettingsError(f"{name} must be {expected}, but is {described(value)}.")


def reason_of(error: OSError) -> str:
    """Why the system refused something, for messages.

    >>> reason_of(OSError(28, "No space left on device")), reason_of(OSError("not an XZ file"))
    ('No space left on device', 'not an XZ file')
    """
    return error.strerror or str(error)


def counted(number: int, noun: str) -> str:
    """A number with its noun in singular or plural.

    >>> counted(1, "name"), counted(7528, "mention")
    ('1 name', '7,528 mentions')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def year_range(first: int | None, last: int | None) -> str:
    """The first and the last year as text, empty if they are unknown.

    >>> year_range(2001, 2004), year_range(2001, 2001), year_range(None, None)
    ('2001–2004', '2001', '')
    """
    return "–".join(dict.fromkeys(str(year) for year in (first, last) if year is not None))


def first_line(broken: BaseException) -> str:
    """The first line of an exception's message without a full stop, or its class name if it has none."""
    return str(broken).splitlines()[0].rstrip(".") if str(broken) else type(broken).__name__


def word_list(words: Sequence[str]) -> str:
    """Words joined by commas and a final "and".

    >>> word_list(["1"]), word_list(["1", "2", "5"])
    ('1', '1, 2 and 5')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
