"""Numbers and failures as parts of a sentence."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """Write a number with its noun.

    >>> counted(1, "name"), counted(7528, "mention")
    ('1 name', '7,528 mentions')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def first_line(broken: BaseException) -> str:
    """What a library says about a failure, cut to fit into a sentence."""
    return str(broken).splitlines()[0] if str(broken) else type(broken).__name__


def listed(words: Sequence[str]) -> str:
    """Write words as a list.

    >>> listed(["1"]), listed(["1", "2", "5"])
    ('1', '1, 2 and 5')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
