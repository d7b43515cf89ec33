"""The engine protocol: the steps of a run, the values that pass between them, and what engines share.

A command calls the steps in order and passes on what each returns, so it does not know which engine runs. Each value
has the figures that commands need; its `data` belongs to the engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import astuple, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.calibration.confidence import Confidence, author_confidence
from homonym.calibration.single_person_names import BlockSample
from homonym.clustering.agglomerative import Clustering, round_table
from homonym.clustering.arrays import Floats, Integers
from homonym.collection.duplicates import Duplicate
from homonym.collection.encoded import Encoded
from homonym.collection.parts import MergeLoss
from homonym.collection.statistics import GivenStatistics
from homonym.constraints.conflicts import ConstraintConflict
from homonym.constraints.evidence import UserPairs
from homonym.constraints.found_constraints import ConstraintCounts, FoundConstraints
from homonym.errors import InputError, counted, word_list
from homonym.records.model import Loss, Problem, Problems
from homonym.records.reader import Inputs
from homonym.runtime.progress import Advance
from homonym.schema import AUTHORS, ROUNDS
from homonym.settings import Settings

PartsData = TypeVar("PartsData")
CollectionData = TypeVar("CollectionData")
AuthorsData = TypeVar("AuthorsData")


@dataclass(frozen=True)
class RecordsRead(Generic[PartsData]):
    """The records that were read, duplicates included; `formats` is the number of files of each format.

    `without_authors` has the files of which no record has an author, and the number of their records.
    """

    records: int
    mentions: int
    problems: Problems
    formats: Mapping[str, int]
    data: PartsData
    without_authors: Mapping[str, int] = field(default_factory=dict)


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

    Side files are written next to `path` in both cases. With `excel`, CSV files are for spreadsheets.
    """

    path: Path
    directory: str | None = None
    trace: Path | None = None
    excel: bool = False


class Engine(Protocol[PartsData, CollectionData, AuthorsData]):
    """The steps of a run. All engines give the same bytes."""

    def read_documents(self, inputs: Inputs, settings: Settings) -> RecordsRead[PartsData]:
        """Read documents and extract their features."""

    def read_mentions(self, inputs: Inputs, settings: Settings) -> RecordsRead[PartsData]:
        """Read mentions that come with their own features."""

    def encode(
        self, read: RecordsRead[PartsData], given: GivenStatistics | None, save_statistics: Path | None = None
    ) -> EncodedCollection[CollectionData]:
        """Merge duplicates, count the features or take the given counts, and encode the bags of all mentions."""

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
        """Cluster all blocks; with `trace`, also return the rounds."""

    def write_authors(self, found: FoundAuthors[AuthorsData], destination: Destination, advance: Advance) -> None:
        """Write the table of authors, and the trace if one is wanted."""


AnyEngine = Engine[Any, Any, Any]


class FoundDuplicates(NamedTuple):
    """The number of records that repeat an earlier one, and the first few of them.

    `by_title` of them have only title, year and authors in common with the others. `lost` counts by kind what merging
    has lost, and `first_losses` are the first few of these. `renamed` documents had the id of a different document;
    `new_id` is one of their new ids.
    """

    number: int
    by_title: int
    first: Sequence[Duplicate]
    lost: Mapping[Loss, int] = {}
    first_losses: Sequence[MergeLoss] = ()
    renamed: int = 0
    new_id: str = ""

    def to_json(self) -> list[Any]:
        """The same as values of JSON."""
        number, by_title, first, lost, losses, *renamed = self
        return [number, by_title, [astuple(one) for one in first], dict(lost), list(map(list, losses)), *renamed]

    @classmethod
    def from_json(cls, values: Sequence[Any]) -> FoundDuplicates:
        """The duplicates that `to_json` has given."""
        number, by_title, first, lost, losses, *renamed = values
        first = [Duplicate(*one) for one in first]
        return cls(number, by_title, first, lost, [MergeLoss(*loss) for loss in losses], *renamed)

    def warnings(self) -> list[str]:
        """A warning about documents that have got a new id."""
        if not self.renamed:
            return []
        return [
            f"{counted(self.renamed, 'document')} had the id of a different document; a suffix was added to each of "
            f"these ids, such as {self.new_id}."
        ]


Locate = Callable[[int, int], tuple[str, str, int]]
"""File, unit and number of the record with a sequence number and a line."""


def report_duplicates(
    read: RecordsRead[PartsData], duplicates: FoundDuplicates, locate: Locate, *, mentions: bool, strict: bool
) -> RecordsRead[PartsData]:
    """The same records, each document once. Duplicates become problems; mentions are not counted again.

    The copies of a document have been merged; a mention that repeats another is lost, which ends a strict run.
    """
    problems = deepcopy(read.problems)
    for duplicate in duplicates.first:
        problems.add(_duplicate_problem(duplicate, locate, mentions=mentions), strict=strict and mentions)
    problems.counts["duplicate"] += duplicates.number - len(duplicates.first)
    for problem in merge_problems(duplicates.first_losses, locate):
        problems.add(problem, strict=strict)
    listed = Counter(loss.lost for loss in duplicates.first_losses)
    for lost, number in duplicates.lost.items():
        problems.counts[lost] += number - listed[lost]
    return replace(read, records=read.records - duplicates.number, problems=problems)


def merge_problems(losses: Iterable[MergeLoss], locate: Locate) -> Iterator[Problem]:
    """The authors and identifiers that merging has lost, as problems of the records that had them."""
    for sequence, line, lost, reason in losses:
        file, unit, number = locate(sequence, line)
        yield Problem(file, number, lost, reason, unit)


_IN_COMMON = {
    "title": "title, year and authors",
    "part": "identifier, title and first author",
    "name": "id, title, year and first author",
    "same": "content",
}


def _duplicate_problem(duplicate: Duplicate, locate: Locate, *, mentions: bool) -> Problem:
    file, unit, line = locate(duplicate.sequence, duplicate.line)
    first_file, first_unit, first_line = locate(duplicate.first_sequence, duplicate.first_line)
    kind, _, value = duplicate.key.partition(":")
    kind = kind.partition("@")[0]  # the id of a record is "id@" with its format
    if mentions:
        reason = f"'{value}' is already the {kind} of {first_unit} {first_line} of {first_file}"
        return Problem(file, line, "duplicate", reason, unit)
    common = _IN_COMMON.get(kind, f"{kind} '{value}'")
    reason = f"merged with {first_unit} {first_line} of {first_file}, which has the same {common}"
    return Problem(file, line, "duplicate", reason, unit, merged=True)


def require_usable(records: int, inputs: Inputs, kind: str, raw_records: int, problems: Problems) -> None:
    """Fail if none of the records could be used."""
    if not records:
        first = f" The first problem: {problems.first[0]}" if problems.first else ""
        raise InputError(f"{inputs}: no usable {kind} among {counted(raw_records, 'record')}.{first}")


def skipped_files_warning(skipped: Sequence[Path], inputs: Inputs) -> list[str]:
    """A warning about files of a directory that are in no known format; fails if that is all of them."""
    if not skipped:
        return []
    if len(skipped) == len(inputs.files):
        raise InputError(f"{inputs}: the format of none of the files was recognised; name it with --format.")
    names = word_list([path.name for path in skipped[:3]] + (["…"] if len(skipped) > 3 else []))
    return [f"{counted(len(skipped), 'file')} skipped, because the format was not recognised: {names}."]


@dataclass
class FileCounts:
    """The number of records and of mentions of each file."""

    records: dict[str, int] = field(default_factory=dict)
    mentions: dict[str, int] = field(default_factory=dict)

    def add(self, file: str, records: int, mentions: int) -> None:
        """Add some records of a file."""
        self.records[file] = self.records.get(file, 0) + records
        self.mentions[file] = self.mentions.get(file, 0) + mentions

    def without_authors(self) -> dict[str, int]:
        """The files that have records, but no authors, and the number of their records."""
        return {file: count for file, count in self.records.items() if count and not self.mentions[file]}


# Maximum number of warnings about single files.
_FILES_IN_WARNINGS = 10


def no_authors_warnings(files: Mapping[str, int]) -> list[str]:
    """A warning about each file whose records have no authors, which usually have another name for the column.

    >>> no_authors_warnings({"a.csv": 38})
    ['a.csv: none of its 38 records has an author; check the file, and in a table name the columns with --columns.']
    """
    found = [
        f"{file}: none of its {counted(records, 'record')} has an author; "
        "check the file, and in a table name the columns with --columns."
        for file, records in islice(files.items(), _FILES_IN_WARNINGS)
    ]
    more = len(files) - len(found)
    return [*found, f"{counted(more, 'more file')} without authors."] if more else found


def missing_features_warning(missing: int, features: int) -> list[str]:
    """A warning about features that are not in the given statistics."""
    if not missing:
        return []
    return [f"{missing:,} of {features:,} features are not in the statistics; these are counted over this run."]


# Decimals of a confidence in the result: pseudo-names do not support more.
DECIMALS = 3


@dataclass(frozen=True, eq=False)
class AuthorRows:
    """What the result says about each mention; `number` is that of its author inside its block."""

    mentions_file: Path
    number: Integers
    authors: int
    constraint: pa.Array | None
    confidence: Floats | None
    author_confidence: Floats | None

    @classmethod
    def of(
        cls,
        encoded: Encoded,
        label: NDArray[np.int32],
        constraints: FoundConstraints | None,
        confidence: Floats | None,
    ) -> AuthorRows:
        """Number the clusters of all mentions and average the confidence of each."""
        number = author_numbers(encoded.block_start, label)
        return cls(
            encoded.mentions_file,
            number,
            int(np.maximum.reduceat(number, encoded.block_start[:-1]).sum()),
            constraints.column if constraints else None,
            confidence,
            None if confidence is None else author_confidence(encoded.block_start, label, confidence),
        )

    def tables(self) -> Iterator[pa.Table]:
        """The rows of schema.AUTHORS: mentions with author ids `<block>/<number>`."""
        found = {
            "constraint": self.constraint,
            "confidence": _rounded(self.confidence),
            "author_confidence": _rounded(self.author_confidence),
        }
        columns = [name for name in AUTHORS.names if name not in {"author_id", *found}]
        done = 0
        for batch in pq.ParquetFile(self.mentions_file).iter_batches(columns=columns):
            number = pa.array(self.number[done : done + len(batch)]).cast(pa.string())
            rows = pa.Table.from_batches([batch])
            rows = rows.append_column("author_id", pc.binary_join_element_wise(batch["block"], number, "/"))
            for name, values in found.items():
                nulls = pa.nulls(len(batch), AUTHORS.field(name).type)
                rows = rows.append_column(name, nulls if values is None else values.slice(done, len(batch)))
            yield rows.select(AUTHORS.names).cast(AUTHORS)
            done += len(batch)


def _rounded(confidence: Floats | None) -> pa.Array | None:
    return None if confidence is None else pa.array(confidence.round(DECIMALS))


def author_numbers(block_start: Integers, label: NDArray[np.int32]) -> Integers:
    """Number the authors of each block from 1: most mentions first, ties by first mention.

    >>> author_numbers(np.array([0, 3, 4]), np.array([0, 1, 1, 0], np.int32)).tolist()
    [2, 1, 1, 1]
    """
    block = np.repeat(np.arange(len(block_start) - 1), np.diff(block_start))
    cluster = block_start[block] + label  # unique, because labels are smaller than the block
    size = np.bincount(cluster, minlength=len(label))
    clusters = np.flatnonzero(size)
    block_of_cluster = block[clusters]
    order = np.lexsort((clusters, -size[clusters], block_of_cluster))
    first = np.searchsorted(block_of_cluster, block_of_cluster)
    number = np.empty(len(label), np.int64)
    number[clusters[order]] = np.arange(len(clusters)) - first + 1
    numbers: Integers = number[cluster]
    return numbers


def trace_table(block_names: pa.ChunkedArray, blocks: Integers, clustering: Clustering) -> tuple[Integers, pa.Table]:
    """The rounds of some blocks, in schema.ROUNDS, and the block of each row."""
    columns = round_table(clustering)
    block = blocks[columns["block"].astype(np.int64)]
    return block, pa.table({**columns, "block": block_names.take(pa.array(block))}).select(ROUNDS.names).cast(ROUNDS)


def rounds_in_order(parts: Sequence[tuple[Integers, pa.Table]]) -> list[pa.Table]:
    """The rounds of all blocks in the order of the blocks."""
    if not parts:
        return []
    order = np.argsort(np.concatenate([block for block, _ in parts]), kind="stable")
    return [pa.concat_tables([table for _, table in parts]).take(pa.array(order))]
