"""An epoch of a result: what is frozen from one calibration to the next, and the note of the last update.

The files of the run freeze #(f), N, n(·), the limit, the weights, the trust in names and the confidence model. For a
feature f that they lack, #(f) is the sum of its occurrences in the bags of all documents that updates of the epoch have
added or changed; the bag of a document counts once for each of its mentions. These sums are in a table of their own,
which only grows. A type of features that the epoch lacks is not used before the next epoch.

An epoch ends when the collection has changed by more than a tenth. Scores compare features of mentions with those of
the collection: with frequencies of a smaller collection, scores are too high, and different people become one author.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.calibration.confidence import confidence_from_json
from homonym.collection.result_statistics import ResultStatistics
from homonym.constraints.evidence import read_user_pairs
from homonym.corpus.assignment import Epoch
from homonym.corpus.intake import DocumentChanges
from homonym.errors import HomonymError, InputError
from homonym.io.inputs import unreadable
from homonym.io.outputs import write_json
from homonym.io.result_directory import (
    CONFIDENCE,
    CORPUS,
    DOCUMENTS,
    EVENTS,
    FILES,
    IDS,
    LOG,
    MARKER,
    MENTIONS,
    NEW_FEATURES,
    PAIRS,
    SETTINGS,
)
from homonym.io.row_groups import FilePart
from homonym.io.tables import look_up, reading_result_file, write_table
from homonym.schema import STATISTICS
from homonym.settings import load_settings

# Digest of a part of a file: enough bits to find damage and files of another update.
_DIGEST_BYTES = 16
# Number of bytes of a part, where a file does not consist of row groups that updates copy.
_PART = 1 << 22

# Share of mentions that may come, leave or change before an epoch ends. Growth by 22 % within an epoch cost .002 of F1
# (docs/study.md). An epoch costs one run, and so does each further tenth: the cost per new mention stays the same.
LARGEST_CHANGE = 0.1


@dataclass(frozen=True)
class CorpusNote:
    """The note of the last update: its number, time and epoch, names given by users (by mention), and all digests.

    `mentions` is the number of mentions when the epoch began, 0 if it is unknown; `changed` is the number of mentions
    that have come, left or changed with their documents since then. `decisions` is the number of the last decision that
    the update has applied, None if it is unknown.
    """

    epoch: int = 1
    update: int = 0
    time: str = ""
    named: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    mentions: int = 0
    changed: int = 0
    decisions: int | None = 0


def was_updated(result: Path) -> bool:
    """Whether a result was ever updated: it has one of the files that every update writes."""
    return any((result / name).exists() for name in (CORPUS, IDS, EVENTS))


def read_note(result: Path) -> CorpusNote:
    """The note of a result; before the first update, the note of the run. Fails if an updated result has none."""
    path = result / CORPUS
    try:
        found = orjson.loads(path.read_bytes())
        files = {name: _checked_digest(digest) for name, digest in dict(found["files"]).items()}
        return CorpusNote(
            int(found["epoch"]), int(found["update"]), str(found["time"]), dict(found["named"]), files,
            int(found.get("mentions", 0)), int(found.get("changed", 0)),
            int(found["decisions"]) if "decisions" in found else None,
        )  # fmt: skip
    except FileNotFoundError:
        if was_updated(result):
            raise InputError(f"{path} is missing; restore a copy of the directory.") from None
        return CorpusNote()
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: expected JSON with epoch, update, time, named and files ({error!r}).") from error


def _checked_digest(digest: Any) -> dict[str, Any]:
    """The digest of a file as `file_digest` makes it, or as versions up to 0.12 did; fails if it is neither."""
    if not isinstance(digest, dict) or not isinstance(digest["bytes"], int):
        raise TypeError("a digest is no object with a number of bytes")
    if not isinstance(digest["blake2b"], str) if "blake2b" in digest else not isinstance(digest["parts"], list):
        raise TypeError("a digest has another type")
    if any(not isinstance(size, int) or size < 0 for size in digest.get("sizes", [])):
        raise TypeError("a digest has sizes of another type")
    return digest


def write_note(
    result: Path, folder: Path, note: CorpusNote, copied: Mapping[str, Sequence[FilePart]] = MappingProxyType({})
) -> None:
    """Write the note of an update with the digests of all files of a folder; hard-linked files keep their digests.

    Files in `copied` consist of these parts. Parts that were copied from the result keep their digests, so damage of
    the disk that was copied is found by `homonym check`.
    """
    known = read_note(result).files
    files = {}
    for name in sorted((FILES - {CORPUS, MARKER}) & set(os.listdir(folder))):
        same = name in known and (result / name).exists() and os.path.samefile(result / name, folder / name)
        parts = _with_known_digests(result / name, known.get(name), copied.get(name, ()))
        files[name] = dict(known[name]) if same else file_digest(folder / name, parts)
    values = {
        "epoch": note.epoch, "update": note.update, "time": note.time, "mentions": note.mentions,
        "changed": note.changed, "decisions": note.decisions or 0, "named": dict(note.named), "files": files,
    }  # fmt: skip
    write_json(folder / CORPUS, values)


_Part = tuple[int, str | None]
"""The size of a part of a file, and its digest if it is known."""


def _with_known_digests(source: Path, digest: Mapping[str, Any] | None, parts: Sequence[FilePart]) -> list[_Part]:
    """The parts of a new file with the digests that they have in the source; fails if a copied part was changed.

    Notes of earlier versions have digests of other parts. Then the whole source is compared with them, once.
    """
    sizes = digest.get("sizes", []) if digest else []
    begins = accumulate(sizes, initial=0)
    known = dict(zip(zip(begins, sizes, strict=False), digest["parts"], strict=False)) if digest and sizes else {}
    found = [(size, None if origin is None else known.get((origin, size))) for size, origin in parts]
    if digest and not known and any(origin is not None for _, origin in parts) and not _is_same(source, digest):
        raise InputError(f"{source} was changed after the last update; run homonym check on the result.")
    return found


def file_digest(path: Path, known: Sequence[_Part] = ()) -> dict[str, Any]:
    """The size and the time of a file, and the BLAKE2b digests of its parts.

    The first parts are as `known` says, and have their `sizes` in the digest. All others have _PART bytes.
    """
    sizes, parts = [size for size, _ in known], list[str]()
    with path.open("rb") as stream:
        for size, digest in known:
            if digest is None:
                digest = _digest_of(stream.read(size))
            else:
                stream.seek(size, os.SEEK_CUR)
            parts.append(digest)
        while block := stream.read(_PART):
            parts.append(_digest_of(block))
        found = os.fstat(stream.fileno())
    digests = {"bytes": found.st_size, "modified": found.st_mtime_ns, "parts": parts}
    return digests | {"sizes": sizes} if sizes else digests


def _digest_of(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


def changed_files(result: Path, note: CorpusNote, *, quick: bool = False) -> Iterator[tuple[str, str]]:
    """Files that were changed or removed after the last update, each with what is wrong with it.

    With `quick`, a file of the same size and time is not read. Damage of the disk is not found then. Before the
    first update there are no digests, but the log of the run has the settings, too.
    """
    if SETTINGS not in note.files and (key := _changed_setting(result)):
        yield SETTINGS, f"{key} is another one than in {LOG}, so it was changed after the run"
    for name, digest in note.files.items():
        path = result / name
        if not path.is_file():
            yield name, "it is missing, although the last update wrote it"
        elif not (quick and _seems_same(path, digest)) and not _is_same(path, digest):
            yield name, "it was changed after the last update"


def _changed_setting(result: Path) -> str | None:
    """A setting that differs from the log of the run; None if there is none, or if a file cannot be read."""
    try:
        logged = orjson.loads((result / LOG).read_bytes())["settings"]
        present = orjson.loads(orjson.dumps(load_settings(result).spelled_out()))
        return next((key for key in present if key in logged and logged[key] != present[key]), None)
    except (HomonymError, OSError, ValueError, KeyError, TypeError):  # which is reported elsewhere
        return None


def _seems_same(path: Path, digest: Mapping[str, Any]) -> bool:
    """Whether a file has the size and the time that it had when an update wrote it."""
    found = path.stat()
    return (found.st_size, found.st_mtime_ns) == (digest["bytes"], digest.get("modified"))


def _is_same(path: Path, digest: Mapping[str, Any]) -> bool:
    """Whether a file has the content that it had when an update wrote it; up to version 0.12 it had one digest."""
    if "blake2b" in digest:
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=_DIGEST_BYTES))
        return bool(digest["blake2b"] == found.hexdigest())
    known = file_digest(path, [(size, None) for size in digest.get("sizes", [])])
    return (known["bytes"], known["parts"]) == (digest["bytes"], digest["parts"])


@dataclass(frozen=True)
class EpochChange:
    """How many mentions have come, left or changed since an epoch began, and how many there were then."""

    mentions: int
    changed: int

    @property
    def share(self) -> float:
        """Changed mentions as a share of those at the beginning."""
        return self.changed / max(self.mentions, 1)

    @property
    def ends_epoch(self) -> bool:
        """Whether frequencies and limit are too old for the collection."""
        return self.share > LARGEST_CHANGE


def change_since_epoch(result: Path, note: CorpusNote, changes: DocumentChanges) -> EpochChange:
    """How much a result has changed since its epoch began, with some more changes."""
    removed = look_up(result / DOCUMENTS, "document_id", pa.array(sorted(changes.removed), pa.string()), ["authors"])
    changed = sum(pc.sum(pc.list_value_length(rows["authors"])).as_py() or 0 for rows in (changes.rows, removed))
    mentions = note.mentions or pq.read_metadata(result / MENTIONS).num_rows
    return EpochChange(mentions, note.changed + changed)


def read_epoch(result: Path) -> Epoch:
    """The settings, the confidence model and the user's pairs of a result.

    A result of an earlier version has no confidence model. New mentions then get no confidence.
    """
    confidence = None
    path = result / CONFIDENCE
    if path.exists():
        with reading_result_file(path):
            confidence = confidence_from_json(orjson.loads(path.read_bytes()))
    pairs = read_user_pairs(result / PAIRS) if (result / PAIRS).exists() else None
    return Epoch(load_settings(result), confidence, pairs)


def add_features(statistics: ResultStatistics, features: pa.Table) -> None:
    """Add the occurrences of features that the statistics of an epoch lack; `features` are those of a part."""
    number, place = statistics.numbers(features["type"], features["feature"])
    lacking = features.filter(pa.array((number < 0) & (place >= 0)))  # without those of types that have no weight
    sums: dict[tuple[str, str], float] = {}
    rows = zip(*(lacking[name].to_pylist() for name in ("type", "feature", "count", "holders")), strict=True)
    for kind, name, count, holders in rows:
        sums[kind, name] = sums.get((kind, name), 0.0) + count * holders
    add_counts(statistics.folder, sums)


def add_counts(folder: Path, counts: Mapping[tuple[str, str], float]) -> None:
    """Add counts to the table of features that the statistics lack."""
    if not counts:
        return
    path = folder / NEW_FEATURES
    sums = dict(counts)
    if path.exists():
        rows = pq.read_table(path).to_pydict()
        for kind, name, count in zip(*rows.values(), strict=True):
            sums[kind, name] = sums.get((kind, name), 0.0) + count
    order = sorted(sums, key=lambda key: (key[0].encode(), key[1].encode()))
    values = [[kind for kind, _ in order], [name for _, name in order], np.array([sums[key] for key in order])]
    write_table(path, STATISTICS, [pa.table(values, schema=STATISTICS)])
