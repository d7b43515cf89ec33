"""What is kept of each piece of work, and used again by a run that would do the same.

A piece has a key: a digest of all that its outcome depends on. That homonym itself is the same is told by its version.
"""

from __future__ import annotations

import io
import os
import shutil
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from homonym import __version__
from homonym.clustering.agglomerative import Clustering
from homonym.clustering.arrays import Constraints
from homonym.collection.layout import CONVERTED, PART_TABLES
from homonym.collection.parts import Chunk, PartReport, write_mention_table
from homonym.collection.statistics import GivenStatistics
from homonym.records.model import Problem
from homonym.runtime.checkpoints import (
    Facts,
    Manifest,
    digest,
    digest_of_file,
    new_digest,
    read_with_digest,
    write_with_digest,
)
from homonym.runtime.progress import Advance
from homonym.runtime.work_directory import WRITING
from homonym.settings import EXTRACTION, UNTUNED, Settings

#: The folder of the answers in a work directory.
ANSWERS = "answers"

Writer = Callable[..., PartReport]


@dataclass(frozen=True)
class KeptPart:
    """A part that is done: what its chunk gave, and its files."""

    report: PartReport
    files: list[str]


def chunk_key(chunk: Chunk, settings: Settings, writer: Writer, *, strict: bool) -> str:
    """All that a part depends on: the chunk with its place, how it is read, and the settings of extraction."""
    chosen = [getattr(settings, name) for name in EXTRACTION]
    about = digest(__version__, writer.__name__, strict, chosen, replace(chunk, raws=[]))
    made = new_digest()
    made.update(about.encode())
    # Every record passes here: columns are made as quickly as can be.
    numbers, texts, broken = zip(*chunk.raws, strict=True)
    made.update(array("q", numbers).tobytes())
    made.update(array("q", map(len, texts)).tobytes())
    if any(broken):
        made.update(repr(broken).encode())
    for text in texts:
        made.update(text)
    return made.hexdigest()


def find_part(ledger: Manifest, sequence: int, key: str) -> KeptPart | None:
    """The part of a chunk with this key, if it is done."""
    facts = ledger.find(part_name(sequence), key)
    return KeptPart(_report_from(facts["report"]), facts["files"]) if facts else None


def write_part_to_keep(
    writer: Writer, chunk: Chunk, settings: Settings, work: Path, key: str, *, strict: bool
) -> KeptPart:
    """Write a part out of sight, give its files their names when all are whole, and note last that it is done."""
    ledger, name = Manifest(work), part_name(chunk.sequence)
    with _out_of_sight(work) as place:
        report = writer(chunk, settings, place, strict=strict)
        ledger.forget(name)
        files = _moved(place, work)
    ledger.note(name, key, {"report": _facts_of(report)}, files)
    return KeptPart(report, files)


@dataclass(frozen=True)
class KeptTable:
    """A table of mentions whose parts are done: its rows, their files, the key, and whether that was so before."""

    rows: int
    files: list[str]
    key: str
    reused: bool


def keep_mention_table(path: Path, sequence: int, work: Path, advance: Advance) -> KeptTable:
    """Store a table of mentions as parts, unless the same table is stored there."""
    ledger, name = Manifest(work), part_name(sequence)
    key = digest(__version__, "table", str(path), sequence, digest_of_file(path))
    if facts := ledger.find(name, key):
        advance(facts["rows"])
        return KeptTable(facts["rows"], facts["files"], key, reused=True)
    with _out_of_sight(work) as place:
        rows = write_mention_table(path, sequence, place, advance)
        ledger.forget(name)
        files = _moved(place, work)
    ledger.note(name, key, {"rows": rows}, files)
    return KeptTable(rows, files, key, reused=False)


def part_name(sequence: int) -> str:
    """The name of a part's record."""
    return f"read/{sequence:015d}"


def remove_other_parts(work: Path, files: set[str], names: set[str]) -> None:
    """Take away the parts that this run does not claim: those of an input that was longer, or read differently."""
    ledger = Manifest(work)
    for name in list(ledger.names("read")):
        if name not in names:
            ledger.forget(name)
    for folder in {*PART_TABLES, CONVERTED, *(file.partition("/")[0] for file in files)}:
        if (work / folder).is_dir():
            for file in os.listdir(work / folder):
                if f"{folder}/{file}" not in files:
                    (work / folder / file).unlink()
            if not any((work / folder).iterdir()):
                (work / folder).rmdir()


@contextmanager
def _out_of_sight(work: Path) -> Iterator[Path]:
    """A place of this process's own; it stays for the next part, unless something is left in it."""
    place = work / WRITING / str(os.getpid())
    place.mkdir(parents=True, exist_ok=True)
    try:
        yield place
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise


def _moved(place: Path, work: Path) -> list[str]:
    """Move the files of a part to where they belong."""
    files = []
    for folder in sorted(os.listdir(place)):
        for name in sorted(os.listdir(place / folder)):
            files.append(f"{folder}/{name}")
            try:
                os.replace(place / files[-1], work / files[-1])
            except FileNotFoundError:  # the first of its folder
                (work / folder).mkdir(exist_ok=True)
                os.replace(place / files[-1], work / files[-1])
    return files


def _facts_of(report: PartReport) -> Facts:
    return asdict(report) | {"rejects": [line.decode() for line in report.rejects]}


def _report_from(facts: Facts) -> PartReport:
    problems = [Problem(**problem) for problem in facts["problems"]]
    return PartReport(**(facts | {"problems": problems, "rejects": [line.encode() for line in facts["rejects"]]}))


def encoding_key(parts: list[str], given: GivenStatistics | None) -> str:
    """All that an encoded collection depends on: the keys of its parts in order, and statistics that were given."""
    statistics = (digest_of_file(given.path), given.mentions, given.mass) if given else None
    return digest(__version__, parts, statistics)


def clustering_key(encoding: str, settings: Settings, *, hypothetical: bool, margins: bool) -> str:
    """All that the answers for all blocks depend on, but for constraints, which each batch has its own of."""
    values = settings.spelled_out()
    return digest(__version__, encoding, [values[name] for name in UNTUNED], settings.limit, hypothetical, margins)


def batch_key(clustering: str, first: int, last: int, constraints: Constraints | None) -> str:
    """All that the answer for one batch of blocks depends on."""
    known = [getattr(constraints, field.name).tobytes() for field in fields(constraints)] if constraints else []
    return digest(clustering, first, last, *known)


def find_answer(work: Path, first: int, key: str) -> Clustering | None:
    """The answer for the batch that begins with this block, if it is there."""
    content = read_with_digest(_answer_path(work, first))
    if content is None or not content.startswith(key.encode()):
        return None
    with np.load(io.BytesIO(content[len(key) :]), allow_pickle=False) as arrays:
        return Clustering(**arrays)


def keep_answer(work: Path, first: int, key: str, answer: Clustering, *, merges: bool) -> None:
    """Keep the answer for a batch; the merges only where somebody wants to know of them."""
    arrays: dict[str, Any] = {field.name: getattr(answer, field.name) for field in fields(answer)}
    if not merges:
        arrays |= {name: array[:0] for name, array in arrays.items() if name.startswith("merge_")}
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    write_with_digest(_answer_path(work, first), key.encode() + packed.getvalue())


def remove_other_answers(work: Path, firsts: set[int]) -> None:
    """Take away the answers of batches that this run does not have."""
    claimed = {_answer_path(work, first) for first in firsts}
    for path in (work / ANSWERS).iterdir():
        if path not in claimed:
            path.unlink()


def _answer_path(work: Path, first: int) -> Path:
    return work / ANSWERS / f"{first:012d}.npz"
