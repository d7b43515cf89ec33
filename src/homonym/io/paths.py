"""Paths with unusual characters: how they are shown, and how libraries that misread them get a plain one.

DuckDB expands `[`, `*` and `?` in every path that it reads, and neither DuckDB nor Arrow accepts names that are not
UTF-8. Such a path is handed to them through a symbolic link with a plain name.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from homonym.errors import InputError

# What some library does not take literally: patterns, quotes, `~` for the home directory, the `:` of a URL, control
# characters and bytes that are not UTF-8.
_SPECIAL = re.compile(r"^~|[\[\]*?{}\\'\":\x00-\x1f\x7f\ud800-\udfff]")


def printable(path: str | Path) -> str:
    r"""A path as text for messages and files: control characters and bytes that are not UTF-8 are written as escapes.

    >>> printable("Müller/a b.csv"), printable("a\n\udcff.csv")
    ('Müller/a b.csv', 'a\\n\\xff.csv')
    """
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", lambda found: _escape(found[0]), str(path))


def require_utf8(path: str | Path) -> None:
    """Fail if a path has bytes that are not UTF-8, for commands that change a directory through libraries."""
    if re.search(r"[\ud800-\udfff]", str(path)):
        raise InputError(
            f"the path {printable(path)} is not UTF-8, and a result there cannot be changed; rename the directory, or "
            "use a locale that is UTF-8 (LC_ALL=C.UTF-8)."
        )


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else character.encode("unicode_escape").decode()


def _unencodable(error: UnicodeError) -> tuple[str | bytes, int]:
    """Bytes of a name that are not UTF-8 are written as they are; characters that the encoding lacks become `?`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = (ord(letter) for letter in error.object[error.start : error.end])
    return bytes(code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else ord("?") for code in letters), error.end


codecs.register_error("homonym-names", _unencodable)


def print_any_name(stream: TextIO) -> None:
    """Let a text stream accept the name of any file."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="homonym-names")


def discard_output(stream: TextIO) -> None:
    """Drop what a stream cannot write, so that Python does not try again when it ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def plain_path(path: Path) -> Iterator[Path]:
    """The path itself or, if it has characters that libraries misread, a symbolic link to it in a temporary directory.

    The link has the same suffix. Processes that know the link may use it as long as the block runs.
    """
    if not _SPECIAL.search(str(path)):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="homonym-link-", ignore_cleanup_errors=True) as folder:
        suffix = "" if _SPECIAL.search(path.suffix) else path.suffix
        link = Path(folder, f"link{suffix}")
        link.symlink_to(os.path.abspath(path))
        yield link
