"""Inputs: opened once, decompressed, decoded to UTF-8 and read in blocks, so that pipes work like files.

Compression and encoding are detected from the content, never from the suffix. Open `Source` first.
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
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from homonym.errors import InputError, reason_of
from homonym.io.outputs import Paths, as_paths
from homonym.io.paths import printable
from homonym.io.result_directory import DOCUMENTS, FILES, MARKER, is_result
from homonym.io.special_files import open_input
from homonym.io.zip_files import ZIP_FAILURES, ZIP_MAGIC

if TYPE_CHECKING:
    from homonym.io.xlsx import SheetText, Workbook

STANDARD_INPUT = Path("-")

HEAD_BYTES = 1 << 16
BLOCK_BYTES = 1 << 20

# Maximum size of a record. The largest real ones, papers with five thousand authors, have about 10 MB.
MAX_RECORD_BYTES = 64 << 20

TOO_LONG = f"longer than {MAX_RECORD_BYTES >> 20} MiB, the maximum length of a record"

# Number of first bytes of a record that is too long which are kept, so that users can find it.
KEPT_BYTES = 1000

# Maximum ratio of decompressed to compressed size, against decompression bombs; the first GiB is exempt.
MAX_COMPRESSION_RATIO, UNCHECKED_BYTES = 2000, 1 << 30

# First bytes of Parquet and Arrow files.
PARQUET = b"PAR1"
COLUMNAR = (PARQUET, b"ARROW1")

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CUT_MARKS = (codecs.BOM_UTF8[:1], codecs.BOM_UTF8[:2])
_INNER_MARK = re.compile(rb"(?<![^\r\n])\xef\xbb\xbf")
_DECLARED_ENCODING = re.compile(rb"""\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)["']""")


# Name of an error handler for decoding: bytes that are not UTF-8 are read as Windows Latin (cp1252) or Latin-1 text.
WESTERN = "homonym-western"


def _western(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    wrong = error.object[error.start : error.end]
    letters = (bytes([byte]).decode("cp1252", errors="ignore") or chr(byte) for byte in wrong)
    return "".join(letters), error.end


codecs.register_error(WESTERN, _western)


class InputLine(NamedTuple):
    """One raw line of a file, its number, counted from 1, and why it cannot be used (empty if it can)."""

    number: int
    text: bytes
    broken: str = ""


class Source:
    """One input: its first bytes (`head`), from which the format is detected, then all of it, in blocks or lines.

    `has_mark` if it begins with a byte order mark, which is no part of the text.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("PT J\\n\\nER\\n", encoding="utf-16")
    ...     with Source(Path(folder, "a.txt")) as source:
    ...         source.head, list(source.lines())
    (b'PT J\\n\\nER\\n', [(1, b'PT J', ''), (3, b'ER', '')])
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._bytes_read = self._lines = 0
        self._opened: list[Any] = []
        self._state: tuple[int, int] | None = None
        self._workbook: Workbook | None = None
        self._sheet: SheetText | None = None

    @property
    def name(self) -> str:
        """The name of the input in messages."""
        return "standard input" if self.path == STANDARD_INPUT else printable(self.path)

    @property
    def position(self) -> int:
        """Bytes of the file on disk read so far; of a pipe, decompressed bytes."""
        if self._sheet is not None:
            return self._sheet.position
        try:
            return int(self._raw.tell())
        except OSError:
            return self._bytes_read

    def __enter__(self) -> Source:
        try:
            self._raw = self._open_file()
            self._state = self._present_state()
            self._read_raw = self._decompress(self._raw.peek(4)[:4])
            start = self._read_start()
            self.has_mark = start.startswith(tuple(_BYTE_ORDER_MARKS))
            self._decode = _decoder(start)
            self._start = start
            self.head = self._decoded(start)
        except BaseException as error:
            self._close()
            if isinstance(error, OSError):
                raise unreadable(self.path, error) from error
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        changed = kind is None and self._state != self._present_state()
        self._close()
        if changed:
            raise InputError(
                f"{self.name} changed while it was read; run the command again when no program writes to it."
            )

    def _present_state(self) -> tuple[int, int] | None:
        """Size and time of the last change of a file; None if it is something else."""
        if self.path == STANDARD_INPUT:
            return None
        status = os.fstat(self._raw.fileno())
        return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None

    @property
    def _is_compressed(self) -> bool:
        return any(stream is not self._raw for stream in self._opened)

    def _close(self) -> None:
        for stream in reversed(self._opened):
            stream.close()

    def blocks(self) -> Iterator[bytes]:
        """Yield the whole input as UTF-8, the head first.

        Byte order marks at the beginning of lines, where files were joined, are left out.
        """
        held, before = b"", b"\n"
        for block in self._all_blocks():
            block = held + block
            held = next((part for part in _CUT_MARKS if block.endswith(part)), b"")
            block = block.removesuffix(held)
            yield _INNER_MARK.sub(b"", before + block)[1:] if codecs.BOM_UTF8 in block else block
            before = block[-1:] or before
        if held:
            yield held

    def unchanged_blocks(self) -> Iterator[bytes]:
        """Yield the whole input in its own bytes, without compression and byte order mark; UTF-16 and -32 as UTF-8.

        Unlike `blocks`, this keeps bytes that are not valid UTF-8, and byte order marks inside.
        """
        if not self._start.startswith(codecs.BOM_UTF8):
            yield from self._all_blocks()
            return
        yield self._start.removeprefix(codecs.BOM_UTF8)
        while block := self._read(BLOCK_BYTES):
            yield block

    def _all_blocks(self) -> Iterator[bytes]:
        if self.head:
            yield self.head
        while block := self._read(BLOCK_BYTES):
            if text := self._decoded(block):
                yield text
        if rest := self._decoded(b"", final=True):
            yield rest

    def lines(self, end: bytes = b"\n") -> Iterator[tuple[int, bytes, str]]:
        """Yield the non-blank lines without line ends, as plain tuples of the fields of InputLine.

        Of a line over the maximum size, only the beginning is held in memory. It is yielded as broken.
        """
        number, rest, overlong = 1, b"", False
        for block in self.blocks():
            if not rest and block.isspace() and block.endswith(end):
                number += block.count(end)  # a small compressed file may have a billion of them
                continue
            *whole, rest = (rest + block).split(end)
            for number, text in enumerate(whole, number):  # noqa: B020
                if overlong or len(text) > MAX_RECORD_BYTES:
                    yield number, text[:KEPT_BYTES], TOO_LONG
                    overlong = False
                elif text and not text.isspace():
                    yield number, text, ""
            number += bool(whole)
            if overlong or len(rest) > MAX_RECORD_BYTES:
                rest, overlong = rest[:KEPT_BYTES], True
        if overlong or rest.strip():
            yield number, rest, TOO_LONG if overlong else ""

    def _open_file(self) -> Any:
        if self.path == STANDARD_INPUT:
            if sys.stdin is None:
                raise InputError("standard input is closed; name a file, or send the records through a pipe.")
            return sys.stdin.buffer
        return self._closed_later(open_input(self.path))

    def _decompress(self, magic: bytes) -> Any:
        """Return the function that reads decompressed bytes; the compression is known from the first four bytes."""
        if magic[:2] == b"\x1f\x8b":
            return self._closed_later(gzip.GzipFile(fileobj=self._raw)).read1  # returns also what precedes the damage
        if magic[:3] == b"BZh":
            return self._closed_later(bz2.BZ2File(self._raw)).read1
        if magic == b"\xfd7zX":
            import lzma  # rarely needed

            return self._closed_later(lzma.LZMAFile(self._raw)).read1
        if magic == b"\x28\xb5\x2f\xfd":
            import pyarrow as pa  # the standard library has no zstd

            return self._closed_later(pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), "zstd")).read
        if magic == b"\xd0\xcf\x11\xe0":
            raise InputError(
                f"{self.name} is in an old or protected office format (.xls, .doc); open it and save it as XLSX or CSV,"
                " or export references as RIS or BibTeX."
            )
        if magic == ZIP_MAGIC:
            return self._open_workbook()
        return self._raw.read

    def _open_workbook(self) -> Any:
        from homonym.io.xlsx import open_workbook  # rarely needed

        self._workbook = open_workbook(self._raw, self.name)
        if self._workbook is None:
            raise InputError(f"{self.name} is an archive; extract it and name the files in it.")
        self._closed_later(self._workbook)
        return self._open_sheet(0).read

    def _open_sheet(self, number: int) -> SheetText:
        assert self._workbook is not None
        self._sheet = self._workbook.text(number)
        return self._sheet

    @property
    def sheets(self) -> int:
        """The number of sheets of a spreadsheet; 1 for any other file."""
        return len(self._workbook.sheets) if self._workbook else 1

    def show_sheet(self, number: int) -> None:
        """Read a spreadsheet from the beginning of the sheet with this number, from 0."""
        self._read_raw = self._open_sheet(number).read
        self._bytes_read = self._lines = 0
        self.head = self._start = self._read_start()

    def _closed_later(self, stream: Any) -> Any:
        self._opened.append(stream)
        return stream

    def _read_start(self) -> bytes:
        gathered = b""
        while len(gathered) < HEAD_BYTES and (block := self._read(HEAD_BYTES - len(gathered))):
            gathered += block
        return gathered

    def _read(self, size: int) -> bytes:
        try:
            block: bytes = self._read_raw(size)
        except (gzip.BadGzipFile, *ZIP_FAILURES) as error:
            if not self._is_compressed and isinstance(error, OSError):
                raise unreadable(self.path, error) from error
            raise InputError(
                f"{self.name}: the compressed data is truncated or damaged after line {self._lines} ({error}); "
                "download the file again."
            ) from error
        self._bytes_read += len(block)
        if self._is_compressed:
            self._lines += block.count(b"\n")
        require_plausible_size(self.name, self._bytes_read, self.position)
        return block

    def _decoded(self, block: bytes, *, final: bool = False) -> bytes:
        return self._decode.decode(block, final).encode() if self._decode else block


def _decoder(start: bytes) -> codecs.IncrementalDecoder | None:
    """The decoder of a file that is not UTF-8, else None."""
    encoding = _encoding(start)
    if encoding is None:
        return None
    return codecs.getincrementaldecoder(encoding)(errors="replace")


def _encoding(start: bytes) -> str | None:
    """Detect the encoding of a file from its first bytes; None for UTF-8 and for bytes of no known encoding.

    >>> [_encoding(text.encode(name)) for text, name in [("a", "utf-16"), ("abcd", "utf-16-be"), ("a", "utf-8-sig")]]
    ['utf-16', 'utf-16-be', 'utf-8-sig']
    >>> _encoding(b"<?xml version='1.0' encoding='ISO-8859-1'?>"), _encoding(b"\\xe9t\\xe9")
    ('cp1252', None)
    """
    for mark, name in _BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return name
    if start.startswith(COLUMNAR):
        return None
    sample = start[:200]
    if len(sample) >= 4 and 5 * sample.count(0) >= 2 * len(sample):  # UTF-16 or UTF-32 without a byte order mark
        width = 32 if 5 * sample.count(0) >= 3 * len(sample) else 16
        return f"utf-{width}-be" if sample[0] == 0 else f"utf-{width}-le"
    declared = _DECLARED_ENCODING.match(start)
    if declared is None:
        return None
    try:
        name = codecs.lookup(declared[1].decode()).name
    except LookupError:
        return None
    # Text declared as Latin-1 is often Windows Latin, which differs only where Latin-1 has no letters.
    return {"utf-8": None, "ascii": None, "iso8859-1": "cp1252"}.get(name, name)


def require_plausible_size(name: str, decompressed: int, size: int) -> None:
    """Fail if data of this size decompresses to far more bytes than records do."""
    if decompressed > UNCHECKED_BYTES and decompressed > MAX_COMPRESSION_RATIO * size:
        raise InputError(
            f"{name} decompresses to more than {MAX_COMPRESSION_RATIO:,} times its size, which no records do; "
            "if that is correct, decompress it first."
        )


def unreadable(path: Path, error: OSError) -> InputError:
    """The error for a file that cannot be read."""
    if os.path.isdir(path):  # unlike path.is_dir(), it never raises
        return InputError(f"{path} is a directory; name the files in it.")
    return InputError(f"{path} cannot be read: {reason_of(error)}; check the path.")


def require_files(paths: list[Path]) -> None:
    """Fail before any work is done if an input is missing, a directory or empty; pipes are not checked."""
    for path in paths:
        if path == STANDARD_INPUT:
            continue
        try:
            if _is_pipe(path.stat().st_mode):
                continue
            with path.open("rb") as stream:
                if not stream.read(1):
                    raise InputError(f"{path} is empty; check how it was made.")
        except OSError as error:
            raise unreadable(path, error) from error


def require_rereadable(paths: list[Path]) -> None:
    """Fail if an input that is read more than once is a pipe."""
    for path in paths:
        if path == STANDARD_INPUT or (path.exists() and _is_pipe(path.stat().st_mode)):
            raise InputError(f"{path} is a pipe, but its data is read twice; save it to a file first.")


def size_of(path: Path) -> int | None:
    """Size of a file on disk in bytes; None for a pipe."""
    if path == STANDARD_INPUT:
        return None
    status = path.stat()
    return None if _is_pipe(status.st_mode) else status.st_size


def _is_pipe(mode: int) -> bool:
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)


def expand(inputs: Paths) -> tuple[list[Path], set[Path]]:
    """Return the files that the inputs name, and which of them came from a directory and so may be of any kind.

    A directory means all files in it and below, a pattern such as `part-*.gz` the files that match it. Hidden files
    and the files of results in it are skipped. A result directory means its documents.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name in "b.bib", "a.ris", ".hidden":
    ...         Path(folder, name).touch()
    ...     [path.name for path in expand(folder)[0]], [path.name for path in expand(f"{folder}/*.bib")[0]]
    (['a.ris', 'b.bib'], ['b.bib'])
    """
    files: list[Path] = []
    from_directories: set[Path] = set()
    for path in as_paths(inputs):
        if path != STANDARD_INPUT and os.path.isdir(path):
            if is_result(path):
                files.append(_documents_of(path))
                continue
            found = _without_results(_files_below(path))
            if not found:
                raise InputError(f"{path} is a directory without files; name the files to read.")
            from_directories.update(found)
        elif not os.path.exists(path) and glob.has_magic(str(path)):
            found = [Path(name) for name in sorted(glob.glob(str(path), recursive=True)) if os.path.isfile(name)]
            if not found:
                raise InputError(f"{path} matches no file; check the pattern.")
        else:
            found = [path]
        files += found
    return list(dict.fromkeys(files)), from_directories


def _files_below(folder: Path) -> list[Path]:
    """The files in a directory and below, without hidden ones, in order."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=_require_directory):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [file for name in names if not name.startswith(".") and (file := Path(place, name)).is_file()]
    return sorted(found)


def _require_directory(error: OSError) -> None:
    """Fail if a directory cannot be read, because its files would be missing; one that has vanished has none."""
    if not isinstance(error, FileNotFoundError):
        raise InputError(
            f"{error.filename} cannot be read: {reason_of(error)}; get access to it, or name the files to read."
        )


def _documents_of(result: Path) -> Path:
    if not (result / DOCUMENTS).is_file():
        raise InputError(f"{result} is a result without documents, which cannot be read again; name the records.")
    return result / DOCUMENTS


def _without_results(files: list[Path]) -> list[Path]:
    """The files that are not files of a result directory."""
    results = {folder for folder in {file.parent for file in files if file.name == MARKER} if is_result(folder)}
    return [file for file in files if file.name not in FILES or file.parent not in results]
