"""Finished runs on disk, so that an interrupted study goes on where it was: a file each, with what it depends on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import orjson

from homonym import __version__
from homonym.files import write_whole


class Store:
    """The runs of one study; a run that was made from anything else is made again."""

    def __init__(self, directory: Path, depends_on: dict[str, Any]) -> None:
        self.directory = directory
        self.depends_on = {"version": __version__, **depends_on}

    def get(self, key: str, details: Any, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Give a finished run, or make it and keep it."""
        path = self.directory / _file_name(key)
        fingerprint = _digest([self.depends_on, details])
        known = _read(path)
        if known is None or known.get("fingerprint") != fingerprint:
            # What is given must not depend on whether it was just made: numbers and keys as JSON has them.
            known = orjson.loads(orjson.dumps({"fingerprint": fingerprint, **make()}))
            write_whole(path, orjson.dumps(known))
        return {name: value for name, value in known.items() if name != "fingerprint"}


def _file_name(key: str) -> str:
    """A file for a key, which may hold the name of a feature type and so anything.

    >>> _file_name("prob-only-co"), len(_file_name("only-a/b")) < 30, len(_file_name("x" * 999)) < 99
    ('prob-only-co.json', True, True)
    """
    plain = re.sub(r"[^A-Za-z0-9_-]", "-", key)[:60]
    return f"{plain}.json" if plain == key else f"{plain}-{_digest(key)[:12]}.json"


def contents(paths: Iterable[Path]) -> list[str]:
    """A digest of each file: the same bytes are the same input wherever they lie."""
    digests = []
    for path in paths:
        with path.open("rb") as stream:
            digests.append(hashlib.file_digest(stream, "blake2b").hexdigest())
    return digests


def _digest(values: Any) -> str:
    return hashlib.blake2b(orjson.dumps(values, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()


def _read(path: Path) -> dict[str, Any] | None:
    try:
        values = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    return values if isinstance(values, dict) else None
