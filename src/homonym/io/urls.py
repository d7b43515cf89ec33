"""URLs of files that only Spark can open, and `file:` URLs, which are paths of this machine.

They are compared by name, because nothing can be asked about them: see `overlaps`.
"""

from __future__ import annotations

import posixpath
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

# Schemes that name the same files.
_ALIASES = {"s3a": "s3", "s3n": "s3", "abfss": "abfs", "wasbs": "wasb"}


def is_url(path: str | Path | None) -> bool:
    """Whether a path is a URL, which only Spark can open."""
    return "://" in str(path)


def local_path(path: str | Path) -> str | Path:
    """The path of a `file:` URL; all other paths and URLs as they are.

    >>> local_path("file:///data/a.jsonl"), local_path("file://localhost/data/out/"), local_path("hdfs:///data/")
    ('/data/a.jsonl', '/data/out/', 'hdfs:///data/')
    """
    scheme, _, rest = str(path).partition("://")
    return "/" + rest.partition("/")[2].lstrip("/") if rest and scheme.lower() == "file" else path


class _Location(NamedTuple):
    scheme: str
    host: str
    parts: list[str]


def _location(url: str) -> _Location:
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    parts = [part for part in posixpath.normpath("/" + path).split("/") if part]
    return _Location(_ALIASES.get(scheme.lower(), scheme.lower()), host.lower(), parts)


def is_within(url: str, directory: str) -> bool:
    """Whether a URL names a directory or something in it, at any depth; each may be a pattern.

    A host that is not named is the default one, which may be any.

    >>> is_within("hdfs:///d/a.jsonl", "hdfs://head:9000/d/"), is_within("s3://b/x/../y/*.gz", "s3a://b/y")
    (True, True)
    >>> is_within("hdfs:///data/a.jsonl", "hdfs:///d"), is_within("hdfs:///d", "hdfs:///d/a")
    (False, False)
    """
    inner, outer = _location(url), _location(directory)
    if inner.scheme != outer.scheme or (inner.host != outer.host and inner.host and outer.host):
        return False
    depth = len(outer.parts)
    return len(inner.parts) >= depth and all(map(_may_match, inner.parts[:depth], outer.parts))


def _may_match(a: str, b: str) -> bool:
    return a == b or "{" in a + b or fnmatchcase(a, b) or fnmatchcase(b, a)


def overlaps(a: str, b: str) -> bool:
    """Whether one of two URLs is the other or in it."""
    return is_within(a, b) or is_within(b, a)
