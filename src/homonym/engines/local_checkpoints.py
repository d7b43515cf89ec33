"""Checkpoints of the local engine: parts that were read, collections that were encoded, rounds of giant blocks.

A checkpoint has a cache key: a digest of everything that its content depends on. The versions of homonym and of the
libraries that it uses stand for the code.
"""

from __future__ import annotations

import os
import shutil
import time
from array import array
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from homonym.collection.background import BackgroundUse
from homonym.collection.encoded import Encoded, load_encoded, save_encoded
from homonym.collection.layout import CONVERTED, LOSSES, PART_TABLES, part_files
from homonym.collection.parts import Chunk, PartReport, write_mention_table
from homonym.collection.statistics import GivenStatistics
from homonym.engines.base import FoundDuplicates
from homonym.records.model import Problem
from homonym.runtime.checkpoints import Facts, Manifest, digest, digest_of_file, new_digest
from homonym.runtime.own_files import GROUPS, remove_own
from homonym.runtime.progress import Advance
from homonym.runtime.versions import library_versions
from homonym.settings import EXTRACTION, Settings

if TYPE_CHECKING:
    from homonym.clustering.sparse.round_snapshots import Arrays

# The name of the checkpoint of an encoded collection.
ENCODED = "encoded"
# The folder of files that are still being written.
WRITING = "writing"
# Seconds between two checkpoints of a giant block, at least: this many, and so many times as long as the last one took.
ROUND_SECONDS, ROUND_SHARE = 60.0, 30.0

PartWriter = Callable[..., PartReport]


@dataclass(frozen=True)
class PartCheckpoint:
    """A part that is complete: the report on its chunk, and its files."""

    report: PartReport
    files: list[str]


def chunk_key(chunk: Chunk, settings: Settings, writer: PartWriter, *, strict: bool) -> str:
    """The cache key of a part: the chunk and its position, how it is read, and the settings of extraction."""
    chosen = [getattr(settings, name) for name in EXTRACTION]
    about = digest(library_versions(), writer.__name__, strict, chosen, replace(chunk, raws=[]))
    made = new_digest()
    made.update(about.encode())
    # Every record passes through here, so it is hashed by column.
    numbers, texts, broken = zip(*chunk.raws, strict=True)
    made.update(array("q", numbers).tobytes())
    made.update(array("q", map(len, texts)).tobytes())
    if any(broken):
        made.update(repr(broken).encode())
    for text in texts:
        made.update(text)
    return made.hexdigest()


def find_part(manifest: Manifest, sequence: int, key: str) -> PartCheckpoint | None:
    """The part of a chunk with this key, if it is complete."""
    return manifest.load(
        part_name(sequence), key, lambda facts: PartCheckpoint(_report_from(facts["report"]), facts["files"])
    )


def write_part_checkpoint(
    writer: PartWriter, chunk: Chunk, settings: Settings, manifest: Manifest, key: str, *, strict: bool
) -> PartCheckpoint:
    """Write a part to a temporary folder, move its files into place, and add it to the manifest last."""
    name = part_name(chunk.sequence)
    with _temporary_folder(manifest.work) as folder:
        report = writer(chunk, settings, folder, strict=strict)
        manifest.remove(name)
        files = _move_into_place(folder, manifest.work)
    manifest.add(name, key, {"report": _facts_of(report)}, files)
    return PartCheckpoint(report, files)


def table_key(path: Path, sequence: int) -> str:
    """The cache key of the parts of a table of mentions."""
    return digest(library_versions(), "mention table", str(path), sequence, digest_of_file(path))


def table_writer(path: Path, advance: Advance) -> PartWriter:
    """A writer that stores a table of mentions as parts, instead of the records of its chunk."""

    def write(chunk: Chunk, settings: Settings, folder: Path, *, strict: bool) -> PartReport:
        rows = write_mention_table(path, chunk.sequence, folder, advance)
        return PartReport(read=rows, records=rows, mentions=rows)

    return write


def part_name(sequence: int) -> str:
    """The name of a part in the manifest."""
    return f"read/{sequence:015d}"


def remove_other_parts(work: Path, files: Set[str], names: Set[str]) -> None:
    """Remove the parts that this run does not use: those of a longer input, or of one that was read differently."""
    manifest = Manifest(work)
    for name in list(manifest.names("read")):
        if name not in names:
            manifest.remove(name)
    for folder in (*PART_TABLES, CONVERTED):
        for path in part_files(work, folder):
            if f"{folder}/{path.name}" not in files:
                path.unlink()
        with suppress(OSError):  # it is missing, or there are other files
            (work / folder).rmdir()


@contextmanager
def _temporary_folder(work: Path) -> Iterator[Path]:
    """A folder of this process. It stays for the next part, unless writing fails."""
    folder = work / WRITING / str(os.getpid())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _move_into_place(temporary: Path, work: Path) -> list[str]:
    """Move the files of a part to their folders; returns their names relative to the work directory."""
    files = []
    for folder in sorted(os.listdir(temporary)):
        for name in sorted(os.listdir(temporary / folder)):
            files.append(f"{folder}/{name}")
            try:
                os.replace(temporary / files[-1], work / files[-1])
            except FileNotFoundError:  # the first file of its folder
                (work / folder).mkdir(exist_ok=True)
                os.replace(temporary / files[-1], work / files[-1])
    return files


def _facts_of(report: PartReport) -> Facts:
    return asdict(report) | {"rejects": [line.decode() for line in report.rejects]}


def _report_from(facts: Facts) -> PartReport:
    problems = [Problem(**problem) for problem in facts["problems"]]
    return PartReport(**(facts | {"problems": problems, "rejects": [line.encode() for line in facts["rejects"]]}))


@dataclass(frozen=True)
class EncodedCheckpoint:
    """An encoded collection, the duplicates that were merged, how many features the given statistics lack.

    And how much its frequencies lean on the background.
    """

    encoded: Encoded
    duplicates: FoundDuplicates
    missing: int
    background: BackgroundUse | None = None

    @staticmethod
    def find(manifest: Manifest, key: str, files: Set[str]) -> EncodedCheckpoint | None:
        """The collection with this key, if it is complete and has all of these additional files."""

        def load(facts: Facts) -> EncodedCheckpoint | None:
            if not files <= set(facts["files"]):
                return None
            duplicates = FoundDuplicates.from_json(facts["duplicates"])
            use = BackgroundUse(*facts["background"]) if facts["background"] else None
            return EncodedCheckpoint(load_encoded(facts, manifest.work), duplicates, facts["missing"], use)

        return manifest.load(ENCODED, key, load)

    def save(self, manifest: Manifest, key: str, files: Set[str]) -> None:
        """Save the collection, with additional files that are in the work directory."""
        values, own_files = save_encoded(self.encoded, manifest.work)
        facts = {**values, "duplicates": self.duplicates.to_json(), "missing": self.missing}
        facts["background"] = list(self.background) if self.background else None
        losses = [LOSSES] if self.duplicates.lost else []
        manifest.add(ENCODED, key, facts, [*own_files, *losses, *sorted(files)])


def encoding_key(parts: Sequence[str], given: GivenStatistics | None, *, background: bool = False) -> str:
    """The cache key of an encoded collection: the keys of its parts in order, given statistics, use of background."""
    statistics = (digest_of_file(given.path), given.mentions, given.mass) if given else None
    return digest(library_versions(), "encoded with codes of counts", list(parts), statistics, background)


@dataclass
class RoundCheckpoint:
    """The last snapshot of the rounds of a giant block: see `clustering.sparse.round_snapshots.RoundStore`.

    Snapshots alternate between two files, so that the last one stays until the next one is complete.
    """

    manifest: Manifest
    block: int
    due: float = field(default_factory=lambda: time.monotonic() + ROUND_SECONDS)
    number: int = 0

    def load(self, key: str) -> Arrays | None:
        """The last snapshot with this key; one with another key is removed."""
        found = self.manifest.load(self._name, self._full_key(key), self._read)
        if found is None:
            self.manifest.remove(self._name)
        return found

    def is_due(self) -> bool:
        """Whether enough time has passed for another snapshot."""
        return time.monotonic() >= self.due

    def save(self, key: str, arrays: Arrays) -> None:
        """Write another snapshot, and forget the last one."""
        began, named = time.monotonic(), dict[str, Any](arrays)
        path = self.manifest.work / f"rounds-{self.block:012d}-{self.number}.npz"
        path.unlink(missing_ok=True)  # not overwritten: the name may be a link to another file
        with path.open("xb") as stream:
            np.savez(stream, **named)
        self.manifest.add(self._name, self._full_key(key), {"number": self.number}, [path.name])
        self.number = 1 - self.number
        ended = time.monotonic()
        self.due = ended + max(ROUND_SECONDS, ROUND_SHARE * (ended - began))

    def _read(self, facts: Facts) -> dict[str, NDArray[Any]]:
        with np.load(self.manifest.work / facts["files"][0], allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in arrays.files}
        self.number = 1 - int(facts["number"])
        return found

    @property
    def _name(self) -> str:
        return f"rounds/{self.block:012d}"

    def _full_key(self, key: str) -> str:
        return digest(library_versions(), "rounds", key)


def remove_rounds(work: Path) -> None:
    """Remove all snapshots of giant blocks; to be done when all blocks are clustered."""
    remove_own(work, GROUPS["rounds"])
