"""Helpers for messages: counts with nouns, lists of words, reasons from other libraries."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """A number with its noun in singular or plural.

    >>> counted(1, "name"), counted(7528, "mention")
    ('1 name', '7,528 mentions')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def first_line(broken: BaseException) -> str:
    """The first line of an exception's message, or its class name if it has none."""
    return str(broken).splitlines()[0] if str(broken) else type(broken).__name__


def listed(words: Sequence[str]) -> str:
    """Words joined by commas and a final "and".

    >>> listed(["1"]), listed(["1", "2", "5"])
    ('1', '1, 2 and 5')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
