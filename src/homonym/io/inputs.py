"""Inputs: each is opened once, unpacked, turned into UTF-8, and read block by block, so that pipes work like files.

What a file is packed with and how it is encoded is told by its content, never by its suffix.
"""

from __future__ import annotations

import bz2
import codecs
import glob
import gzip
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from homonym.errors import InputError
from homonym.io.outputs import Paths, as_paths

STANDARD_INPUT = Path("-")

HEAD_BYTES = 1 << 16
BLOCK_BYTES = 1 << 20

#: A record longer than this is no record. The largest real ones, papers of five thousand authors, have about 10 MB.
MOST_RECORD_BYTES = 64 << 20

#: Beyond the first GiB, a file may not unpack to more than this many times its size: no text is so regular.
MOST_UNPACKED, FREE_BYTES = 2000, 1 << 30

#: Archives of XML, which people take for tables.
SPREADSHEETS = frozenset({".xlsx", ".xlsm", ".ods"})

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_DECLARED = re.compile(rb"""\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)["']""")


class InputLine(NamedTuple):
    """One raw line of a file, its number counted from 1."""

    number: int
    text: bytes


class Source:
    """One input: its beginning to tell its format by, then all of it, in blocks or lines.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("PT J\\n\\nER\\n", encoding="utf-16")
    ...     with Source(Path(folder, "a.txt")) as source:
    ...         source.head, list(source.lines())
    (b'PT J\\n\\nER\\n', [(1, b'PT J'), (3, b'ER')])
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head = b""
        self._unpacked = self._lines = 0
        self._opened: list[Any] = []

    @property
    def name(self) -> str:
        """How messages call it."""
        return "standard input" if self.path == STANDARD_INPUT else str(self.path)

    @property
    def position(self) -> int:
        """How far the file on disk is read; of a pipe, how much has come out of it."""
        try:
            return int(self._raw.tell())
        except OSError:
            return self._unpacked

    def __enter__(self) -> Source:
        try:
            self._raw = self._file()
            self._take = self._unpack(self._raw.peek(4)[:4])
            beginning = self._beginning()
            self._decode = _decoder(beginning)
            self.head = self._decoded(beginning)
        except BaseException as broken:
            self._close()
            if isinstance(broken, OSError):
                raise unreadable(self.path, broken) from broken
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._close()

    @property
    def _is_packed(self) -> bool:
        return any(stream is not self._raw for stream in self._opened)

    def _close(self) -> None:
        for stream in reversed(self._opened):
            stream.close()

    def blocks(self) -> Iterator[bytes]:
        """Yield the whole input, the head first."""
        if self.head:
            yield self.head
        while block := self._read(BLOCK_BYTES):
            if text := self._decoded(block):
                yield text
        if rest := self._decoded(b"", final=True):
            yield rest

    def lines(self, end: bytes = b"\n") -> Iterator[tuple[int, bytes]]:
        """Yield the non-blank lines with their numbers, without their ends; an endless one is cut."""
        number, rest = 1, b""
        for block in self.blocks():
            if len(rest) > MOST_RECORD_BYTES and end not in block:
                continue
            *whole, rest = (rest + block).split(end)
            for number, text in enumerate(whole, number):  # noqa: B020
                if text and not text.isspace():
                    yield number, text
            number += bool(whole)
        if rest.strip():
            yield number, rest

    def _file(self) -> Any:
        if self.path == STANDARD_INPUT:
            return sys.stdin.buffer
        return self._kept_open(self.path.open("rb"))

    def _unpack(self, magic: bytes) -> Any:
        """Open what the file is packed with; gives the function that reads it."""
        if magic[:2] == b"\x1f\x8b":
            return self._kept_open(gzip.GzipFile(fileobj=self._raw)).read1  # gives also what comes just before a break
        if magic[:3] == b"BZh":
            return self._kept_open(bz2.BZ2File(self._raw)).read1
        if magic == b"\x28\xb5\x2f\xfd":
            import pyarrow as pa  # which brings the zstd that the standard library lacks

            return self._kept_open(pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), "zstd")).read
        if magic == b"\xd0\xcf\x11\xe0" or self.path.suffix.lower() in SPREADSHEETS:
            raise InputError(f"{self.name} is a spreadsheet; save it as CSV, or export tab-delimited text instead.")
        if magic in {b"PK\x03\x04", b"\xfd7zX"}:
            raise InputError(f"{self.name} is an archive that homonym does not open; unpack it and name what is in it.")
        return self._raw.read

    def _kept_open(self, stream: Any) -> Any:
        self._opened.append(stream)
        return stream

    def _beginning(self) -> bytes:
        gathered = b""
        while len(gathered) < HEAD_BYTES and (block := self._read(HEAD_BYTES - len(gathered))):
            gathered += block
        return gathered

    def _read(self, size: int) -> bytes:
        try:
            block: bytes = self._take(size)
        except (EOFError, zlib.error, gzip.BadGzipFile, OSError, ValueError) as broken:
            if not self._is_packed and isinstance(broken, OSError):
                raise unreadable(self.path, broken) from broken
            raise InputError(
                f"{self.name}: the compressed data ends or breaks after line {self._lines} ({broken}); "
                "fetch the file again."
            ) from broken
        self._unpacked += len(block)
        if self._is_packed:
            self._lines += block.count(b"\n")
        if self._unpacked > FREE_BYTES and self._unpacked > MOST_UNPACKED * self.position:
            raise InputError(
                f"{self.name} unpacks to more than {MOST_UNPACKED:,} times its size, as no records do; "
                "if it is what it should be, unpack it first."
            )
        return block

    def _decoded(self, block: bytes, *, final: bool = False) -> bytes:
        return self._decode.decode(block, final).encode() if self._decode else block


def _decoder(beginning: bytes) -> codecs.IncrementalDecoder | None:
    """What turns a file into text where that is not simply UTF-8."""
    encoding = _encoding(beginning)
    if encoding is None:
        return None
    return codecs.getincrementaldecoder(encoding)(errors="replace")


def _encoding(beginning: bytes) -> str | None:
    """Tell how a file is encoded from its first bytes; None for UTF-8 and what is close to it.

    >>> [_encoding(text.encode(name)) for text, name in [("a", "utf-16"), ("abcd", "utf-16-be"), ("a", "utf-8-sig")]]
    ['utf-16', 'utf-16-be', 'utf-8-sig']
    >>> _encoding(b"<?xml version='1.0' encoding='ISO-8859-1'?>"), _encoding(b"\\xe9t\\xe9")
    ('cp1252', None)
    """
    for mark, name in _BYTE_ORDER_MARKS.items():
        if beginning.startswith(mark):
            return "utf-8-sig" if mark == codecs.BOM_UTF8 else name
    if beginning.startswith((b"PAR1", b"ARROW1")):  # tables, which are no text
        return None
    sample = beginning[:200]
    if len(sample) >= 4 and 5 * sample.count(0) >= 2 * len(sample):  # UTF-16 of Western text without its mark
        return "utf-16-be" if sample[0] == 0 else "utf-16-le"
    declared = _DECLARED.match(beginning)
    if declared is None:
        return None
    try:
        name = codecs.lookup(declared[1].decode()).name
    except LookupError:
        return None
    # What declares itself Latin-1 is often Windows text, which differs only where Latin-1 has no letters.
    return {"utf-8": None, "ascii": None, "iso8859-1": "cp1252"}.get(name, name)


def read_lines(path: Path) -> Iterator[InputLine]:
    """Yield the non-blank lines of a file, whatever it is packed with."""
    with Source(path) as source:
        yield from (InputLine(number, text) for number, text in source.lines())


def unreadable(path: Path, broken: OSError) -> InputError:
    """Say why a file cannot be read."""
    if os.path.isdir(path):  # which, unlike path.is_dir(), has an answer for every path
        return InputError(f"{path} is a directory; name the files in it.")
    return InputError(f"{path} cannot be read: {broken.strerror or broken}; check the path.")


def require_files(paths: list[Path]) -> None:
    """Fail before any work is done if an input is missing, a directory or empty; a pipe is not looked into."""
    for path in paths:
        if path == STANDARD_INPUT:
            continue
        try:
            if _is_pipe(path.stat().st_mode):
                continue
            with path.open("rb") as stream:
                if not stream.read(1):
                    raise InputError(f"{path} is empty; check how it was made.")
        except OSError as broken:
            raise unreadable(path, broken) from broken


def require_rereadable(paths: list[Path]) -> None:
    """Refuse pipes where a file is read more than once."""
    for path in paths:
        if path == STANDARD_INPUT or (path.exists() and _is_pipe(path.stat().st_mode)):
            raise InputError(f"{path} is a pipe, but its data is read twice; write it to a file and name that.")


def size_of(path: Path) -> int | None:
    """Bytes of a file on disk; None for a pipe."""
    if path == STANDARD_INPUT:
        return None
    status = path.stat()
    return None if _is_pipe(status.st_mode) else status.st_size


def _is_pipe(mode: int) -> bool:
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)


def expand(inputs: Paths) -> tuple[list[Path], set[Path]]:
    """Give the files that inputs name, and those among them that stood in a named directory and so may be anything.

    A directory stands for all files in it and below, a pattern such as `part-*.gz` for the files that match it; hidden
    files are passed over.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name in "b.bib", "a.ris", ".hidden":
    ...         Path(folder, name).touch()
    ...     [path.name for path in expand(folder)[0]], [path.name for path in expand(f"{folder}/*.bib")[0]]
    (['a.ris', 'b.bib'], ['b.bib'])
    """
    files: list[Path] = []
    incidental: set[Path] = set()
    for path in as_paths(inputs):
        if path != STANDARD_INPUT and os.path.isdir(path):
            found = [file for file in sorted(path.rglob("*")) if file.is_file() and not _is_hidden(file, path)]
            if not found:
                raise InputError(f"{path} is a directory without files; name the files to read.")
            incidental.update(found)
        elif not os.path.exists(path) and glob.has_magic(str(path)):
            found = [Path(name) for name in sorted(glob.glob(str(path), recursive=True)) if os.path.isfile(name)]
            if not found:
                raise InputError(f"{path} matches no file; check the pattern.")
        else:
            found = [path]
        files += found
    return list(dict.fromkeys(files)), incidental


def _is_hidden(file: Path, directory: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(directory).parts)
