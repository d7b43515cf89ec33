"""ZIP archives as inputs: each member is a file of its own, read from the archive without extracting it.

Names of members are used only in messages, so no name can lead outside the archive.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from homonym.errors import InputError
from homonym.io.inputs import STANDARD_INPUT, Source, require_plausible_size
from homonym.io.paths import printable
from homonym.io.special_files import is_special
from homonym.io.xlsx import open_workbook
from homonym.io.zip_files import ZIP_FAILURES, ZIP_MAGIC, open_zip

# Methods of compression that the standard library reads.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_ENCRYPTED = 1

# First bytes of Parquet and Arrow files, which are read in any order.
_COLUMNAR = (b"PAR1", b"ARRO")


class ArchiveMember(Source):
    """A member of a ZIP archive: a file named `archive.zip/member`."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
        super().__init__(path / "member")
        self._archive, self._member = archive, member
        self._name = f"{printable(path)}/{printable(member.filename)}"

    @property
    def name(self) -> str:
        """The name in messages: the archive, a slash, the member."""
        return self._name

    @property
    def position(self) -> int:
        """About how many bytes of the archive were read for this member."""
        if self._sheet is not None:
            return self._sheet.position
        return self._member.compress_size * int(self._raw.tell()) // max(1, self._member.file_size)

    def _open_file(self) -> Any:
        try:
            stream = self._closed_later(self._archive.open(self._member))
            stream.peek(4)  # reads and checks the first bytes
            return stream
        except ZIP_FAILURES as error:
            raise InputError(
                f"{self.name} cannot be read ({error}); extract the archive and name its files."
            ) from error

    def _present_state(self) -> None:
        return None  # a member has a checksum

    def _decompress(self, magic: bytes) -> Any:
        if magic in _COLUMNAR:
            raise InputError(f"{self.name} is a Parquet or Arrow file in an archive; extract it and name the file.")
        return super()._decompress(magic)


def is_archive(path: Path) -> bool:
    """Whether a file is a ZIP archive of files, not a spreadsheet. A pipe is never opened."""
    if path == STANDARD_INPUT or is_special(path):
        return False
    try:
        with path.open("rb") as stream:
            return stream.read(4) == ZIP_MAGIC and open_workbook(stream, printable(path)) is None
    except OSError:  # reported when it is opened
        return False


@contextmanager
def sources_of(path: Path) -> Iterator[list[Source]]:
    """The sources of a path, not opened: the file itself, or the members of a ZIP archive in their order."""
    if not is_archive(path):
        yield [Source(path)]
        return
    with path.open("rb") as stream, open_zip(stream, printable(path)) as archive:
        yield [ArchiveMember(path, archive, member) for member in _members(archive, printable(path))]


def _members(archive: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
    """The files in an archive, without hidden ones, after checking all of them."""
    found = [member for member in archive.infolist() if not member.is_dir() and not _is_hidden(member.filename)]
    if not found:
        raise InputError(f"{name} is an archive without files; check how it was made.")
    for member in found:
        shown = f"{name}/{printable(member.filename)}"
        if member.flag_bits & _ENCRYPTED:
            raise InputError(f"{shown} is encrypted; extract the archive with its password and name its files.")
        if member.compress_type not in _METHODS:
            raise InputError(f"{shown} is compressed in an unusual way; extract the archive and name its files.")
        require_plausible_size(shown, member.file_size, member.compress_size)
    require_plausible_size(name, sum(member.file_size for member in found), sum(m.compress_size for m in found))
    return found


def _is_hidden(name: str) -> bool:
    r"""Whether a member is hidden, as are the files that macOS adds to archives; `.` and `..` are odd, but not hidden.

    Some programs of Windows write backslashes between directories.

    >>> _is_hidden("a/.b/c.csv"), _is_hidden("..\\a.csv"), _is_hidden("a\\.b.csv")
    (True, False, True)
    """
    parts = name.replace("\\", "/").split("/")
    return "__MACOSX" in parts or any(part.startswith(".") and part not in {".", ".."} for part in parts)
