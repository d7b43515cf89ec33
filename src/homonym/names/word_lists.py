"""The word lists in `data/`: text files in UTF-8 whose first line is a comment that explains the format."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def lines_of(name: str) -> tuple[str, ...]:
    """The lines of a word list without comments."""
    text = files("homonym.names").joinpath("data", f"{name}.txt").read_text("utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


@cache
def words_of(name: str) -> frozenset[str]:
    """All words of a word list.

    >>> "PROF" in words_of("titles")
    True
    """
    return frozenset(word for line in lines_of(name) for word in line.split())


@cache
def words_by_kind(name: str) -> dict[str, frozenset[str]]:
    """The words of a list whose lines are `kind: words`."""
    kinds = (line.split(": ", 1) for line in lines_of(name))
    return {kind: frozenset(words.split()) for kind, words in kinds}
