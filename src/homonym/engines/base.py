"""The engine protocol: the steps of a run, the values that pass between them, and what engines share.

A command calls the steps in order and passes on what each returns, so it does not know which engine runs. Each value
has the figures that commands need; its `data` belongs to the engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import deepcopy
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.calibration.block_sample import BlockSample
from homonym.calibration.confidence import Confidence, author_confidence
from homonym.clustering.agglomerative import Clustering, round_table
from homonym.clustering.arrays import Floats, Integers
from homonym.collection.author_ids import AuthorIds, author_ids
from homonym.collection.author_summaries import NAMED_FACTS, ResultMembers, completeness, initials
from homonym.collection.background import BackgroundUse
from homonym.collection.duplicates import Duplicate
from homonym.collection.encoded import Encoded
from homonym.collection.parts import MergeLoss
from homonym.collection.statistics import GivenStatistics
from homonym.constraints.across_blocks import CANDIDATE_ROWS, UnitedAuthors
from homonym.constraints.conflicts import ConstraintConflict
from homonym.constraints.evidence import UserPairs
from homonym.constraints.found_constraints import ConstraintCounts, FoundConstraints
from homonym.errors import InputError, counted, word_list
from homonym.records.model import Loss, Problem, Problems
from homonym.records.reader import Inputs
from homonym.runtime.progress import Advance
from homonym.runtime.thread_pool import map_in_order
from homonym.schema import AUTHORS, ROUNDS
from homonym.settings import Settings

PartsData = TypeVar("PartsData")
CollectionData = TypeVar("CollectionData")
AuthorsData = TypeVar("AuthorsData")


@dataclass(frozen=True)
class RecordsRead(Generic[PartsData]):
    """The records that were read, duplicates included; `formats` is the number of files of each format.

    `of_mentions` if the records are mentions with bags. `without_authors` has the files of which no record has an
    author, and the number of their records.
    """

    records: int
    mentions: int
    problems: Problems
    formats: Mapping[str, int]
    data: PartsData
    of_mentions: bool = False
    without_authors: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class EncodedCollection(Generic[CollectionData]):
    """A collection without duplicate records, ready for clustering.

    `background` says how much its frequencies lean on the background, None if not at all; `of_mentions` if it has no
    documents.
    """

    records: int
    mentions: int
    blocks: int
    problems: Problems
    data: CollectionData
    background: BackgroundUse | None = None
    of_mentions: bool = False


class CalibrationSample(NamedTuple):
    """Blocks to calibrate on, and their constraints; `blocks` says which they are if they are not all blocks."""

    encoded: Encoded
    constraints: FoundConstraints | None
    blocks: BlockSample | None


class ConstraintOutcome(NamedTuple):
    """What constraints did in a run."""

    counts: ConstraintCounts
    conflicts: Sequence[ConstraintConflict]

    def with_united(self, united: UnitedAuthors, kinds: Sequence[str]) -> ConstraintOutcome:
        """The outcome after authors of different blocks were united; `kinds` is the order of must-links."""
        counts = self.counts
        links = {kind: counts.links.get(kind, 0) + united.links.get(kind, 0) for kind in kinds}
        return ConstraintOutcome(
            replace(
                counts,
                links={kind: number for kind, number in links.items() if number},
                linked=counts.linked + united.linked,
                united=united.gone,
            ),
            [*self.conflicts, *united.conflicts],
        )


@dataclass(frozen=True)
class FoundAuthors(Generic[AuthorsData]):
    """The authors of a collection; `confidence` is the mean over the mentions that have one, None if none has."""

    mentions: int
    authors: int
    confidence: float | None
    constraints: ConstraintOutcome | None
    data: AuthorsData


class Destination(NamedTuple):
    """Where the table of mentions goes: the file `path`, or a `directory` of Parquet files, named by URL.

    With `excel`, CSV files are for spreadsheets.
    """

    path: Path
    directory: str | None = None
    trace: Path | None = None
    excel: bool = False


class Engine(Protocol[PartsData, CollectionData, AuthorsData]):
    """The steps of a run. All engines give the same bytes."""

    def read_documents(
        self, inputs: Inputs, settings: Settings, beside: Callable[[], object] | None = None
    ) -> RecordsRead[PartsData]:
        """Read documents and extract their features; `beside` may run at the same time, if that saves time."""

    def read_mentions(self, inputs: Inputs, settings: Settings) -> RecordsRead[PartsData]:
        """Read mentions that come with their own features."""

    def encode(
        self,
        read: RecordsRead[PartsData],
        given: GivenStatistics | None,
        save_statistics: Path | None = None,
        *,
        documents: bool = False,
    ) -> EncodedCollection[CollectionData]:
        """Merge duplicates, count the features or take the given counts, and encode the bags of all mentions.

        With `documents`, the documents are kept for `write_documents`.
        """

    def bags_stored(self, collection: EncodedCollection[CollectionData]) -> AbstractContextManager[None]:
        """Prepare, while a block runs, what `write_documents` needs of a collection with documents."""

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
        """Write the table of mentions with their authors, and the trace if one is wanted."""

    def write_documents(self, collection: EncodedCollection[CollectionData], folder: Path) -> None:
        """Write the documents of a collection that was encoded with `documents` to a result directory.

        These are their table, their bags (stored_bags.py), and what blocks take from the whole collection
        (result_statistics.py).
        """

    def summaries_written(
        self, collection: EncodedCollection[CollectionData], found: FoundAuthors[AuthorsData], folder: Path
    ) -> AbstractContextManager[Callable[[], ResultMembers | None]]:
        """Write the table of authors to a result directory while a block runs, or when it calls the given function.

        The function returns what the table was made of, if that is in memory.
        """


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
    if not records and not raw_records:
        raise InputError(f"{inputs}: no usable {kind}: the input contains only blank lines or a header.")
    if not records:
        first = f" The first problem: {problems.first[0]}" if problems.first else ""
        forced = f" It was read as {inputs.format}; without --format the format is detected." if inputs.format else ""
        raise InputError(f"{inputs}: no usable {kind} among {counted(raw_records, 'record')}.{forced}{first}")


def skipped_files_warning(skipped: Sequence[Path], inputs: Inputs) -> list[str]:
    """A warning about files of a directory that are in no known format; fails if that is all of them."""
    if not skipped:
        return []
    if len(skipped) == len(inputs.files):
        raise InputError(f"{inputs}: the format of none of the files was recognised; --format has the list of formats.")
    return [f"{counted(len(skipped), 'file')} {_not_recognised([path.name for path in skipped])}"]


def skipped_members_warning(members: Sequence[str]) -> list[str]:
    """A warning about members of archives that are in no known format."""
    return [f"{counted(len(members), 'member')} of archives {_not_recognised(members)}"] if members else []


def _not_recognised(names: Sequence[str]) -> str:
    first = word_list([*names[:3], "…"] if len(names) > 3 else [*names])
    return f"skipped, because the format was not recognised: {first}."


def unknown_members(archive: str, members: Sequence[str]) -> str:
    """The message about an archive in which no member has a known format."""
    return (
        f"{archive}: the format of none of its {counted(len(members), 'file')} was recognised; name it with --format."
    )


@dataclass
class FileCounts:
    """The number of records, of mentions, and of records that were not UTF-8, of each file."""

    records: Counter[str] = field(default_factory=Counter)
    mentions: Counter[str] = field(default_factory=Counter)
    western: Counter[str] = field(default_factory=Counter)

    def add(self, file: str, records: int, mentions: int, western: int) -> None:
        """Add some records of a file."""
        self.records[file] += records
        self.mentions[file] += mentions
        self.western[file] += western

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
        for file, records in files.items()
    ]
    return _first_warnings(found, "without authors")


def encoding_warnings(counts: FileCounts) -> list[str]:
    """A warning about each file with records that are not UTF-8: other encodings than Windows Latin give wrong names.

    >>> counts = FileCounts()
    >>> counts.add("a.txt", 40, 90, 35)
    >>> encoding_warnings(counts)
    ['a.txt: 35 of 40 records not in UTF-8, but read as Windows Latin; if names are wrong, save it as UTF-8.']
    """
    found = [
        f"{file}: {western:,} of {counted(counts.records[file], 'record')} not in UTF-8, but read as Windows "
        "Latin; if names are wrong, save it as UTF-8."
        for file, western in counts.western.items()
        if western
    ]
    return _first_warnings(found, "with records that are not UTF-8")


def _first_warnings(warnings: list[str], others: str) -> list[str]:
    """The first warnings, one for each file, and how many more files there are."""
    more = len(warnings) - _FILES_IN_WARNINGS
    return [*warnings[:_FILES_IN_WARNINGS], f"{counted(more, 'more file')} {others}."] if more > 0 else warnings


def missing_features_warning(missing: int, features: int) -> list[str]:
    """A warning about features that are not in the given statistics."""
    if not missing:
        return []
    return [f"{missing:,} of {features:,} features are not in the statistics; these are counted over this run."]


# Decimals of a confidence in the result: pseudo-names do not support more.
DECIMALS = 3

# The rows of the result with what the table of authors needs besides.
MORE = pa.schema([*AUTHORS, ("year", pa.int32()), ("completeness", pa.int32()), ("initials", pa.string())])


@dataclass(frozen=True, eq=False)
class AuthorRows:
    """What the result says about each mention."""

    mentions_file: Path
    ids: AuthorIds
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
        """Give ids to the clusters of all mentions and average the confidence of each."""
        return cls(
            encoded.mentions_file,
            author_ids(encoded, label),
            constraints.column if constraints else None,
            confidence,
            None if confidence is None else author_confidence(encoded.block_start, label, confidence),
        )

    def candidates(self, encoded: Encoded, mentions: Integers) -> pa.Table:
        """Some mentions with their authors, as across_blocks.py takes them."""
        columns = ["mention_id", "document_id", "name", "block", "year"]
        rows = encoded.read(columns, mentions)
        found = {"place": mentions, **{name: rows[name] for name in columns}}
        found["author_id"] = self.ids.of_mentions(rows["block"].combine_chunks(), mentions)
        for name, values in (("constraint", self.constraint), ("confidence", _rounded(self.confidence))):
            nulls = pa.nulls(len(mentions), CANDIDATE_ROWS.field(name).type)
            found[name] = nulls if values is None else values.take(pa.array(mentions))
        return pa.table(found).select(CANDIDATE_ROWS.names).cast(CANDIDATE_ROWS)

    def with_united(self, united: UnitedAuthors) -> AuthorRows:
        """The rows after authors of different blocks were united."""
        places = united.rows["place"].to_numpy()
        if not len(places):
            return self
        confidence = self.author_confidence
        if confidence is not None:
            confidence = confidence.copy()
            confidence[places] = united.rows["author_confidence"].to_numpy()
        constraint = self.constraint
        if constraint is not None:
            mask = np.zeros(len(constraint), np.bool_)
            mask[places] = True
            constraint = pc.replace_with_mask(constraint, pa.array(mask), united.rows["constraint"].combine_chunks())
        ids = self.ids.with_united(places, united.rows["author_id"].combine_chunks())
        return replace(self, ids=ids, constraint=constraint, author_confidence=confidence)

    @property
    def authors(self) -> int:
        """The number of authors."""
        return len(self.ids)

    def facts(self, number: Integers, threads: int) -> Iterator[pa.Table]:
        """What the table of authors needs of each mention, in schema NAMED_FACTS; `number` is that of each author."""
        confidence = _rounded(self.author_confidence)
        columns = ["document_id", "position", "name", "parsed_name", "year"]

        def facts_of(numbered: tuple[int, pa.RecordBatch]) -> pa.Table:
            first, batch = numbered
            rows = slice(first, first + len(batch))
            found = {name: batch[name] for name in columns} | {
                "place": np.arange(first, first + len(batch)),
                "author": number[self.ids.author[rows]],
                "completeness": completeness(batch["parsed_name"]),
                "initials": initials(batch["parsed_name"]),
                "author_confidence": pa.nulls(len(batch)) if confidence is None else confidence[rows],
            }
            return pa.table(found).select(NAMED_FACTS.names).cast(NAMED_FACTS)

        for _, table in map_in_order(facts_of, self._batches(columns), threads):
            yield table

    def tables(self, threads: int = 1, *, more: bool = False) -> Iterator[pa.Table]:
        """The rows of schema.AUTHORS: mentions with their author ids; with `more`, also what facts need."""
        found = {
            "constraint": self.constraint,
            "confidence": _rounded(self.confidence),
            "author_confidence": _rounded(self.author_confidence),
        }
        columns = [name for name in AUTHORS.names if name not in {"author_id", *found}]
        schema = MORE if more else AUTHORS

        def rows_of(numbered: tuple[int, pa.RecordBatch]) -> pa.Table:
            first, batch = numbered
            rows = pa.Table.from_batches([batch])
            rows = rows.append_column("author_id", self.ids.of(batch["block"], first))
            for name, values in found.items():
                nulls = pa.nulls(len(batch), AUTHORS.field(name).type)
                rows = rows.append_column(name, nulls if values is None else values.slice(first, len(batch)))
            if more:
                rows = rows.append_column("completeness", completeness(batch["parsed_name"]))
                rows = rows.append_column("initials", initials(batch["parsed_name"]))
            return rows.select(schema.names).cast(schema)

        read = [*columns, *(["year", "parsed_name"] if more else [])]
        for _, table in map_in_order(rows_of, self._batches(read), threads):
            yield table

    def _batches(self, columns: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Columns of the mentions in batches, each with the number of its first mention."""
        first = 0
        for batch in pq.ParquetFile(self.mentions_file).iter_batches(columns=columns):
            yield first, batch
            first += len(batch)


def _rounded(confidence: Floats | None) -> pa.Array | None:
    """The column of a confidence, null where nothing is known."""
    return None if confidence is None else pa.array(confidence.round(DECIMALS), from_pandas=True)


def sum_of_known(confidence: Floats) -> tuple[float, int]:
    """The sum of a confidence and the number of mentions that have one.

    >>> sum_of_known(np.array([0.5, np.nan, 1.0]))
    (1.5, 2)
    """
    known = confidence[~np.isnan(confidence)]
    return float(known.sum()), len(known)


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
