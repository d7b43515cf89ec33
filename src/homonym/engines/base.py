"""The engine protocol: the steps of a run and the values that pass between them.

A command calls the steps in order and passes on what each returns, so it does not know which engine runs. Each value
has the figures that commands need; its `data` belongs to the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from homonym.collection.counting import Duplicate
from homonym.errors import InputError
from homonym.messages import counted, listed
from homonym.records.model import Problem, Problems
from homonym.records.reader import Inputs
from homonym.runtime.progress import Advance
from homonym.settings import Settings

if TYPE_CHECKING:
    from homonym.calibration.confidence import Confidence
    from homonym.calibration.single_person_names import BlockSample
    from homonym.collection.encoded import Encoded
    from homonym.collection.statistics import GivenStatistics
    from homonym.constraints.conflicts import ConstraintConflict
    from homonym.constraints.evidence import UserPairs
    from homonym.constraints.found_constraints import ConstraintCounts, FoundConstraints

PartsData = TypeVar("PartsData")
CollectionData = TypeVar("CollectionData")
AuthorsData = TypeVar("AuthorsData")


@dataclass(frozen=True)
class RecordsRead(Generic[PartsData]):
    """The records that were read, duplicates included; `formats` is the number of files of each format."""

    records: int
    mentions: int
    problems: Problems
    formats: Mapping[str, int]
    data: PartsData


@dataclass(frozen=True)
class EncodedCollection(Generic[CollectionData]):
    """A collection without duplicate records, ready for clustering."""

    records: int
    mentions: int
    blocks: int
    problems: Problems
    data: CollectionData


class CalibrationSample(NamedTuple):
    """Blocks to calibrate on, and their constraints; `blocks` says which they are if they are not all blocks."""

    encoded: Encoded
    constraints: FoundConstraints | None
    blocks: BlockSample | None


class ConstraintOutcome(NamedTuple):
    """What constraints did in a run."""

    counts: ConstraintCounts
    conflicts: Sequence[ConstraintConflict]


@dataclass(frozen=True)
class FoundAuthors(Generic[AuthorsData]):
    """The authors of a collection; `confidence` is the mean over all mentions."""

    mentions: int
    authors: int
    confidence: float | None
    constraints: ConstraintOutcome | None
    data: AuthorsData


class Destination(NamedTuple):
    """Where the table of authors goes: the file `path`, or a `directory` of Parquet files, named by URL.

    Side files are written next to `path` in both cases.
    """

    path: Path
    directory: str | None = None
    trace: Path | None = None


class Engine(Protocol[PartsData, CollectionData, AuthorsData]):
    """The steps of a run. All engines give the same bytes."""

    def read_documents(self, inputs: Inputs, settings: Settings) -> RecordsRead[PartsData]:
        """Read documents and extract their features."""

    def read_mentions(self, inputs: Inputs, settings: Settings) -> RecordsRead[PartsData]:
        """Read mentions that bring their own features."""

    def encode(
        self, read: RecordsRead[PartsData], given: GivenStatistics | None, save_statistics: Path | None = None
    ) -> EncodedCollection[CollectionData]:
        """Drop duplicates, count the features or take the given counts, and encode the bags of all mentions."""

    def constrain(
        self, collection: EncodedCollection[CollectionData], settings: Settings, pairs: UserPairs | None
    ) -> EncodedCollection[CollectionData]:
        """Add the constraints that follow from identifiers, names, documents and the user's pairs."""

    def sample(self, collection: EncodedCollection[CollectionData], settings: Settings) -> CalibrationSample:
        """The blocks that calibration uses."""

    def cluster(
        self,
        collection: EncodedCollection[CollectionData],
        settings: Settings,
        confidence: Confidence | None,
        *,
        trace: bool,
    ) -> FoundAuthors[AuthorsData]:
        """Cluster all blocks; with `trace`, keep what each round did."""

    def write_authors(self, found: FoundAuthors[AuthorsData], destination: Destination, advance: Advance) -> None:
        """Write the table of authors, and the trace if one is wanted."""


AnyEngine = Engine[Any, Any, Any]


class FoundDuplicates(NamedTuple):
    """The number of records that repeat an earlier one, and the first few of them."""

    number: int
    first: Sequence[Duplicate]


Locate = Callable[[int, int], tuple[str, str, int]]
"""File, unit and number of the record with a sequence number and a line."""


def reject_duplicates(
    read: RecordsRead[PartsData], duplicates: FoundDuplicates, locate: Locate, *, strict: bool
) -> RecordsRead[PartsData]:
    """The same records without duplicates, which become problems; mentions are not counted again."""
    problems = deepcopy(read.problems)
    for duplicate in duplicates.first:
        problems.add(_duplicate_problem(duplicate, locate), strict=strict)
    problems.counts["duplicate"] += duplicates.number - len(duplicates.first)
    return replace(read, records=read.records - duplicates.number, problems=problems)


def _duplicate_problem(duplicate: Duplicate, locate: Locate) -> Problem:
    file, unit, line = locate(duplicate.sequence, duplicate.line)
    first_file, first_unit, first_line = locate(duplicate.first_sequence, duplicate.first_line)
    kind, _, value = duplicate.key.partition(":")
    reason = f"'{value}' is already the {kind} of {first_unit} {first_line} of {first_file}"
    return Problem(file, line, "duplicate", reason, unit)


def require_usable(records: int, inputs: Inputs, kind: str, raw_records: int, problems: Problems) -> None:
    """Fail if none of the records could be used."""
    if not records:
        first = f" The first problem: {problems.kept[0]}" if problems.kept else ""
        raise InputError(f"{inputs}: no usable {kind} among {counted(raw_records, 'record')}.{first}")


def skipped_files_warning(skipped: Sequence[Path], inputs: Inputs) -> list[str]:
    """A warning about files of a directory that are in no known format; fails if that is all of them."""
    if not skipped:
        return []
    if len(skipped) == len(inputs.files):
        raise InputError(f"{inputs}: no file is in a format that homonym knows; name the format with --format.")
    names = listed([path.name for path in skipped[:3]] + (["…"] if len(skipped) > 3 else []))
    return [f"{counted(len(skipped), 'file')} left out, in no format that homonym knows: {names}."]


def missing_features_warning(missing: int, features: int) -> list[str]:
    """A warning about features that are not in the given statistics."""
    if not missing:
        return []
    return [f"{missing:,} of {features:,} features are not in the statistics; these are counted over this run."]
