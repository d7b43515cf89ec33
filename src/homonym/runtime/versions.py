"""The versions of everything besides homonym that shapes results: part of every cache key."""

from __future__ import annotations

import platform
import sys
import unicodedata
from functools import cache
from importlib import metadata

# All libraries that read, extract, count or cluster. One too many only makes some work be done again.
LIBRARIES = (
    "anyascii", "duckdb", "lxml", "numba", "numpy", "orjson", "pyarrow", "pydantic", "pylatexenc", "scikit-learn",
    "simplemma",
)  # fmt: skip


@cache
def library_versions() -> tuple[tuple[str, str], ...]:
    """The versions of Python, Unicode, the machine and all libraries, by name; read once, which takes milliseconds."""
    from lxml import etree

    return (
        ("homonym", _homonym_version()),
        ("python", platform.python_version()),
        ("unicode", unicodedata.unidata_version),
        ("machine", f"{platform.machine()} {sys.byteorder}"),
        ("libxml2", ".".join(map(str, etree.LIBXML_VERSION))),
        *((name, _version(name)) for name in LIBRARIES),
    )


def _homonym_version() -> str:
    from homonym import __version__

    return __version__


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return ""
