"""What is done already: a record for each finished piece of work, with a key of all that it depends on.

A record is written when the files that it speaks of are whole, by a rename, so it is there or it is not. It carries a
digest of itself and the sizes of its files: one that is damaged, or whose files are, counts as absent, and the piece is
done again.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The folder of the records in a work directory.
DONE = "done"
#: How names of files end that are still being written.
PARTIAL = ".partial"

Facts = dict[str, Any]


def new_digest() -> hashlib._Hash:
    """A digest to fill: SHA-256, which processors have instructions for; twice as fast as BLAKE2b where measured."""
    return hashlib.sha256(usedforsecurity=False)


def digest(*parts: object) -> str:
    """The digest of some values, by their bytes or else by how Python writes them.

    Where one part ends and the next begins is a part of it.

    >>> digest("ab", "c") == digest("ab", "c"), digest("ab", "c") == digest("a", "bc"), digest(1) == digest("1")
    (True, False, False)
    """
    made = new_digest()
    for part in parts:
        content = part if isinstance(part, bytes) else repr(part).encode(errors="surrogatepass")
        made.update(b"%d %d " % (isinstance(part, bytes), len(content)))
        made.update(content)
    return made.hexdigest()


def digest_of_file(path: Path) -> str:
    """The digest of what a file holds."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, new_digest).hexdigest()


def write_durably(path: Path, content: bytes) -> None:
    """Write a file of the work directory whole or not at all, and onto the disk before it has its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{os.getpid()}-{threading.get_ident()}.{path.name}{PARTIAL}")
    try:
        with partial.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_with_digest(path: Path, content: bytes) -> None:
    """Write a file with a digest of itself."""
    write_durably(path, digest(content).encode() + b"\n" + content)


def read_with_digest(path: Path) -> bytes | None:
    """What was written sealed; None where it is not there, or not as it was."""
    try:
        seal, end, content = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    return content if end and seal == digest(content).encode() else None


@dataclass(frozen=True)
class Manifest:
    """The records of one work directory, by name; a name may have one folder in it: `read/000`."""

    work: Path

    def find(self, name: str, key: str) -> Facts | None:
        """What was noted under this name, if it was with this key and its files are still there."""
        import orjson

        content = read_with_digest(self._path(name))
        if content is None:
            return None
        record = orjson.loads(content)
        whole = record["key"] == key and all(size == self._size(file) for file, size in record["files"].items())
        return {**record["facts"], "files": list(record["files"])} if whole else None

    def note(self, name: str, key: str, facts: Facts, files: Iterable[str] = ()) -> None:
        """Note that a piece is done: what came of it, and its files, named from the work directory on."""
        import orjson

        sizes = {file: self._size(file) for file in files}
        write_with_digest(self._path(name), orjson.dumps({"key": key, "files": sizes, "facts": facts}))

    def forget(self, name: str) -> None:
        """Take a record away, before its files are."""
        self._path(name).unlink(missing_ok=True)

    def names(self, folder: str) -> Iterator[str]:
        """The names of all records in a folder."""
        for path in (self.work / DONE / folder).glob("*.json"):
            yield f"{folder}/{path.stem}"

    def __bool__(self) -> bool:
        """Whether anything at all is done."""
        return any((self.work / DONE).rglob("*.json"))

    def _path(self, name: str) -> Path:
        return self.work / DONE / f"{name}.json"

    def _size(self, file: str) -> int | None:
        try:
            return (self.work / file).stat().st_size
        except OSError:
            return None
