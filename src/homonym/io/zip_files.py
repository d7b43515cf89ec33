"""Opens ZIP files, which are archives or XLSX tables, after checking what they claim about themselves."""

from __future__ import annotations

import lzma
import os
import struct
import zipfile
import zlib
from typing import IO

from homonym.errors import InputError

ZIP_MAGIC = b"PK\x03\x04"

# What reading a damaged ZIP file raises.
ZIP_FAILURES = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, ValueError, NotImplementedError,
    RuntimeError,
)  # fmt: skip

# Maximum number of members, and maximum size of the list of members, which is held in memory.
MAX_MEMBERS, MAX_LIST_BYTES = 10_000, 16 << 20

_END, _END_64 = b"PK\x05\x06", b"PK\x06\x06"
_END_BYTES, _LOCATOR_BYTES, _END_64_BYTES = 22, 20, 56
_LONGEST_END = _END_BYTES + 0xFFFF


def open_zip(stream: IO[bytes], name: str) -> zipfile.ZipFile:
    """Open a ZIP file; fails with one sentence if it is damaged, a pipe, or made to fill memory or disk."""
    if not stream.seekable():
        raise InputError(f"{name} is a ZIP archive or a spreadsheet in a pipe; save it to a file first.")
    try:
        size = stream.seek(0, os.SEEK_END)
        if _list_bytes(stream, size) > MAX_LIST_BYTES:
            raise InputError(_too_many(name))
        archive = zipfile.ZipFile(stream)
    except ZIP_FAILURES as error:
        raise InputError(f"{name} is a ZIP archive or a spreadsheet, and damaged ({error}); get it again.") from error
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise InputError(_too_many(name))
    if sum(member.compress_size for member in members) > size:
        raise InputError(f"{name}: its members overlap, as in an archive that was made to fill the disk; get it again.")
    return archive


def _too_many(name: str) -> str:
    return f"{name} has more than {MAX_MEMBERS:,} members; extract it and name the folder."


def _list_bytes(stream: IO[bytes], size: int) -> int:
    """The size of the list of members that the end of the file states, found as zipfile finds it before it reads it."""
    stream.seek(max(0, size - _LONGEST_END - _LOCATOR_BYTES - _END_64_BYTES))
    tail = stream.read()
    end = len(tail) - _END_BYTES
    if end < 0 or not (tail.startswith(_END, end) and tail.endswith(b"\0\0")):  # behind it is a comment
        end = tail.rfind(_END)
    if end < 0 or end + _END_BYTES > len(tail):
        return 0  # zipfile reports it
    (stated,) = struct.unpack_from("<L", tail, end + 12)
    before = end - _LOCATOR_BYTES - _END_64_BYTES
    if before >= 0 and tail.startswith(_END_64, before):  # of large files
        (stated,) = struct.unpack_from("<Q", tail, before + 40)
    return int(stated)
