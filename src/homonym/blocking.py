"""Blocking: which mentions are compared with each other at all. A scheme is a small function of name and given key."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from homonym.names import Name

Scheme = Callable[[Name, str | None], str]


def given(name: Name, block: str | None) -> str:
    """The block that the data set itself names, else surname and all initials."""
    return block or name.key


def initials(name: Name, block: str | None) -> str:
    """Surname and all initials, as in the paper: John W. Doe and Jane W. Doe share the block DOE, JW."""
    return name.key


def first_initial(name: Name, block: str | None) -> str:
    """Surname and first initial: larger blocks that also hold the mentions with initials left out."""
    return name.first_initial_key


def full_name(name: Name, block: str | None) -> str:
    """Surname and all given names as they are written."""
    return name.full_key


SCHEMES: Mapping[str, Scheme] = {
    "given": given,
    "initials": initials,
    "first-initial": first_initial,
    "full-name": full_name,
}
