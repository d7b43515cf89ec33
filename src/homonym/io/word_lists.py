"""Word lists: text files in the folder `data` of a package, one of words or of `kind: words` per line."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def lines_of(name: str, package: str = "homonym.names") -> tuple[str, ...]:
    """The lines of a word list without comments; it is in the folder `data` of a package."""
    text = files(package).joinpath("data", f"{name}.txt").read_text("utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


@cache
def words_of(name: str, package: str = "homonym.names") -> frozenset[str]:
    """All words of a word list.

    >>> "PROF" in words_of("titles")
    True
    """
    return frozenset(word for line in lines_of(name, package) for word in line.split())


@cache
def words_by_kind(name: str, package: str = "homonym.names") -> dict[str, frozenset[str]]:
    """The words of a list whose lines are `kind: words`; a kind may have several lines."""
    found: dict[str, frozenset[str]] = {}
    for line in lines_of(name, package):
        kind, words = line.split(": ", 1)
        found[kind] = found.get(kind, frozenset()) | frozenset(words.split())
    return found
