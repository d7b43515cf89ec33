"""The local engine: read, count, encode and cluster on one machine, each step streaming through a work directory."""

from __future__ import annotations

import shutil
import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Set
from concurrent.futures import wait
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.calibration.confidence import Confidence
from homonym.clustering.agglomerative import (
    Clustering,
    are_giant_with_table,
    cluster,
    dense_bytes,
    looked_up_bytes,
    needed_bytes,
)
from homonym.clustering.arrays import Bags, DocumentPairs, Floats, Integers, ReusedMemory, aligned_memory, starts
from homonym.clustering.shared_documents import DocumentTable, pair_documents, share_documents, table_bytes
from homonym.collection import counting
from homonym.collection.author_summaries import ResultMembers, load_facts, write_author_summaries
from homonym.collection.background import BackgroundUse, add_background
from homonym.collection.document_table import write_document_table
from homonym.collection.encoded import Encoded, encode
from homonym.collection.layout import LOSS_ROWS, LOSSES, SLOT_BITS
from homonym.collection.old_ids import FileRange
from homonym.collection.parts import (
    Chunk,
    MergeLoss,
    chunks,
    reject_line,
    whole_documents,
    write_compared,
    write_documents,
    write_lines,
    write_mentions,
    write_merged,
)
from homonym.collection.result_statistics import write_result_statistics
from homonym.collection.statistics import GivenStatistics, save_statistics, statistics_side_file
from homonym.collection.stored_bags import ROW_GROUP as BAG_ROW_GROUP
from homonym.collection.stored_bags import stored_bags
from homonym.constraints.evidence import UserPairs, require_known_identifiers
from homonym.constraints.found_constraints import FoundConstraints, find_constraints
from homonym.constraints.must_link import PAIR
from homonym.constraints.name_prior import FullNames
from homonym.engines import local_checkpoints
from homonym.engines.base import (
    AuthorRows,
    CalibrationSample,
    ConstraintOutcome,
    Destination,
    EncodedCollection,
    FileCounts,
    FoundAuthors,
    FoundDuplicates,
    RecordsRead,
    encoding_warnings,
    merge_problems,
    missing_features_warning,
    no_authors_warnings,
    report_duplicates,
    require_usable,
    rounds_in_order,
    skipped_files_warning,
    skipped_members_warning,
    sum_of_known,
    trace_table,
    unknown_members,
)
from homonym.engines.document_batches import (
    SharedBatch,
    mentions_of,
    parts_of,
    plan_sharing,
)
from homonym.engines.local_candidates import unite_blocks
from homonym.engines.local_checkpoints import (
    ENCODED,
    EncodedCheckpoint,
    PartCheckpoint,
    PartWriter,
    RoundCheckpoint,
    remove_rounds,
    write_part_checkpoint,
)
from homonym.errors import CapacityError, InputError, OutputError, counted
from homonym.features.text import lemmas_of
from homonym.io.archives import ArchiveMember, sources_of
from homonym.io.inputs import Source, size_of
from homonym.io.outputs import atomic_path
from homonym.io.paths import printable
from homonym.io.result_directory import AUTHORS as AUTHORS_TABLE
from homonym.io.result_directory import BAGS, FREQUENCIES, link_or_copy
from homonym.io.tables import SMALL_ROW_GROUP, write_table
from homonym.records.model import MAX_LISTED_PROBLEMS, Loss, Problems
from homonym.records.parsing.splitting import Raw
from homonym.records.reader import Inputs, Records, Unit, format_of
from homonym.runtime.checkpoints import Manifest
from homonym.runtime.own_files import GROUPS, remove_own
from homonym.runtime.process_pool import Task, TaskResult, can_fork, run_tasks
from homonym.runtime.progress import Advance, Stages
from homonym.runtime.thread_pool import map_as_completed, meanwhile, until
from homonym.schema import AUTHORS, ROUNDS, STATISTICS, STORED_BAGS
from homonym.settings import Settings

if TYPE_CHECKING:
    import duckdb

# Bytes of input per task: some thousand documents with abstracts. Twice as many if the input, which is usually
# compressed, has at least the second number of bytes: then fewer parts repeat the same features.
CHUNK_BYTES, LARGE_INPUT = 8 << 20, 64 << 20
# Number of records after which progress is reported.
RECORDS_PER_REPORT = 100
# Below this many bytes of input, starting processes takes longer than it saves.
SMALL_INPUT = 12 << 20
# The database of an input below this many bytes, usually compressed, is in memory, and spills to disk if that is full:
# to compress and write its tables takes a quarter of the time of counting and encoding.
INPUT_IN_MEMORY = 256 << 20
# Bytes of a small input, which is usually compressed, for each process that can be forked.
BYTES_PER_FORK = 2 << 20
# With fewer duplicates than this, they are merged in this process.
MANY_DUPLICATES = 5_000
# Blocks that need more bytes than this are large. Those that are clustered at the same time need at most the second
# number of bytes, or a quarter of the memory; a larger one is never clustered at the same time as another large one.
LARGE_BLOCK, LARGE_BLOCKS = 64 << 20, 1 << 30
# Bytes for DuckDB: it works badly with less than the first, and gains little from more than the second.
DATABASE_MEMORY = (1 << 30, 3 << 29)

# The file with type and name of every feature, in the work directory.
VOCABULARY = "vocabulary.parquet"
# The file with all documents of the result, in the work directory.
DOCUMENTS = "documents.parquet"
# The file with how many full names have each surname and each given name, in the work directory.
NAME_COUNTS = "names.parquet"
# The files with the ids that documents refer to, and with the entries of bags that come from these references.
REFERENCES, CITED = "references.parquet", "cited.parquet"
# The folder with the bags and statistics of a result directory.
STORED = "stored"
# Used as the format of files that hold mentions with bags.
MENTIONS = "mentions"


Item = TypeVar("Item")


class FileStart(NamedTuple):
    """Sequence number of the first record of a file, its name, and the unit that its records are counted in."""

    sequence: int
    file: str
    unit: Unit


@dataclass(frozen=True)
class LocalParts:
    """The cache keys of all parts and the files they come from, in order; ids of mentions must differ.

    `written` are the names of their files in the work directory. `sequences` is the number of raw records; merged
    documents are numbered after them. `settings` are those of reading; `convert` if documents are converted to lines.
    `size` is the number of bytes of the input, None if it is not known.
    """

    keys: list[str]
    written: frozenset[str]
    files: list[FileStart]
    holds_mentions: bool
    sequences: int
    settings: Settings
    convert: bool
    size: int | None

    @property
    def is_small(self) -> bool:
        """Whether all that is done with the parts takes a few seconds."""
        return _is_below(self.size, SMALL_INPUT)

    def locate(self, sequence: int, line: int) -> tuple[str, str, int]:
        """File, unit and number of a record."""
        _, file, unit = self.files[bisect_right(self.files, sequence, key=lambda start: start.sequence) - 1]
        return file, unit, line

    def ranges(self) -> list[FileRange]:
        """The sequence numbers of all files."""
        following = [*(file.sequence for file in self.files[1:]), self.sequences]
        return [
            FileRange(Path(start.file).name, start.sequence, end)
            for start, end in zip(self.files, following, strict=True)
        ]


@dataclass(frozen=True)
class LocalCollection:
    """An encoded collection, and its constraints and the user's pairs once they are known."""

    encoded: Encoded
    constraints: FoundConstraints | None = None
    pairs: UserPairs | None = None


class LocalAuthors(NamedTuple):
    """The rows of the result, and the rounds of each batch of blocks if a trace is wanted."""

    rows: AuthorRows
    rounds: list[pa.Table]


Read = RecordsRead[LocalParts]
Collection = EncodedCollection[LocalCollection]
Found = FoundAuthors[LocalAuthors]


@dataclass(frozen=True)
class LocalEngine:
    """The steps of a run on this machine; their files are in `work`.

    Each part and the encoded collection are checkpoints there: a later run reuses them if everything they depend on is
    the same. `lock` is the open lock file of the directory, which worker processes inherit. `shown_work` is the name
    of the directory in messages, if `work` is a link to it.
    """

    work: Path
    threads: int
    memory: int
    stages: Stages
    strict: bool = False
    rejects: IO[bytes] | None = None
    warnings: list[str] = field(default_factory=list)
    lock: int | None = None
    shown_work: Path | None = None

    def read_documents(self, inputs: Inputs, settings: Settings, beside: Callable[[], object] | None = None) -> Read:
        """Read documents and extract their features; `beside` may run at the same time."""
        return _PartReader(self, settings, write_documents).read(inputs, "documents", beside).finish()

    def read_compared(self, inputs: Inputs, settings: Settings) -> Read:
        """Read documents only to compare them with others, without extracting their features."""
        return _PartReader(self, settings, write_compared).read(inputs, "documents").finish()

    def convert_documents(self, inputs: Inputs, settings: Settings) -> Read:
        """Read documents and store them as lines of homonym's own format."""
        return _PartReader(self, settings, write_lines).read(inputs, "documents").finish()

    def read_mentions(self, inputs: Inputs, settings: Settings) -> Read:
        """Read mentions that come with their own features: first the files of lines, then the Parquet tables."""
        reader = _PartReader(self, settings, write_mentions)
        lines = [path for path in inputs.files if path.suffix != ".parquet"]
        if lines:
            reader.read(replace(inputs, files=lines, format=MENTIONS), MENTIONS)
        for path in inputs.files:
            if path.suffix == ".parquet":
                reader.read_table(path)
        return reader.finish(holds_mentions=True)

    @contextmanager
    def database(self, read: Read) -> Iterator[tuple[duckdb.DuckDBPyConnection, FoundDuplicates]]:
        """The database over the parts that were read, and the duplicate records.

        Copies of one document are merged into a new record; queries leave the copies out.
        """
        self._require_parts(read.data)
        with self._new_database(in_memory=_is_below(read.data.size, INPUT_IN_MEMORY)) as connection:
            counting.read_parts(connection, self.work)
            yield connection, self._find_duplicates(connection, read.data)

    def _require_parts(self, parts: LocalParts) -> None:
        """Fail if files of parts were removed since they were read: their records would be missing in silence."""
        missing = min((name for name in parts.written if not (self.work / name).exists()), default=None)
        if missing:
            path = (self.shown_work or self.work) / missing
            raise OutputError(f"{path} was removed during the run; run the same command again.")

    @contextmanager
    def _new_database(self, *, in_memory: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
        """An empty database in the work directory, or in memory."""
        self._remove_database()
        least, most = DATABASE_MEMORY
        limit = min(max(self.memory // 2, least), most)
        connection = counting.connect(self.work, limit, self.threads, in_memory=in_memory)
        try:
            yield connection
        finally:
            connection.close()

    def _find_duplicates(self, connection: duckdb.DuckDBPyConnection, parts: LocalParts) -> FoundDuplicates:
        """Find the duplicates of a run, merge the copies of each document, and rename documents with the same id."""
        if parts.holds_mentions:
            counting.find_repeated_mentions(connection)
            counting.keep_ids(connection)
            return FoundDuplicates(*counting.count_duplicates(connection, MAX_LISTED_PROBLEMS))
        with self.stages.stage("merge"):
            undecided = counting.find_copies(connection, parts.sequences)
            found = FoundDuplicates(*counting.count_duplicates(connection, MAX_LISTED_PROBLEMS))
            remove_own(self.work, GROUPS["losses"])  # not overwritten: a name may be a link to another file
            if found.number:
                lost, losses = self._merge_copies(connection, parts, found.number)
                found = found._replace(lost=lost, first_losses=losses)
                counting.read_parts(connection, self.work)
            renamed, new_id = counting.rename_equal_ids(connection)
            self.stages.note("merge", copies=found.number, by_title=found.by_title, undecided=undecided)
        return found._replace(renamed=renamed, new_id=new_id)

    def _merge_copies(
        self, connection: duckdb.DuckDBPyConnection, parts: LocalParts, duplicates: int
    ) -> tuple[Counter[Loss], list[MergeLoss]]:
        """Write the merged documents as further parts, and what was lost; returns its number by kind, and the first."""
        processes = self.threads if duplicates >= MANY_DUPLICATES else 1
        tasks: Iterator[Task] = (
            (write_merged, (copies, parts.settings, self.work), {"convert": parts.convert})
            for copies in whole_documents(counting.copies_by_document(connection), CHUNK_BYTES)
        )
        hold = () if self.lock is None else (self.lock,)
        counts: Counter[Loss] = Counter()
        first: list[MergeLoss] = []
        with ExitStack() as stack:
            writer: pq.ParquetWriter | None = None
            for losses in filter(None, run_tasks(tasks, processes, hold)):
                writer = writer or stack.enter_context(pq.ParquetWriter(self.work / LOSSES, LOSS_ROWS))
                writer.write_table(pa.table(list(zip(*losses, strict=True)), schema=LOSS_ROWS))
                counts.update(loss.lost for loss in losses)
                first += losses[: MAX_LISTED_PROBLEMS - len(first)]
        return counts, first

    def _losses(self, duplicates: FoundDuplicates) -> Iterator[MergeLoss]:
        """All that merging has lost."""
        if duplicates.lost:
            with pq.ParquetFile(self.work / LOSSES) as file:
                for batch in file.iter_batches():
                    yield from map(MergeLoss._make, zip(*batch.to_pydict().values(), strict=True))

    def with_duplicates_merged(self, read: Read, duplicates: FoundDuplicates) -> Read:
        """The records that were read, each document once, with problems for all duplicates."""
        parts = read.data
        if self.rejects:
            for problem in merge_problems(self._losses(duplicates), parts.locate):
                self.rejects.write(reject_line(problem))
        self.warnings.extend(duplicates.warnings())
        return report_duplicates(
            read, duplicates, parts.locate, mentions=parts.holds_mentions, strict=self.strict
        )  # fmt: skip

    def count_and_encode(
        self,
        connection: duckdb.DuckDBPyConnection,
        given: GivenStatistics | None,
        use: BackgroundUse | None = None,
        *,
        documents: bool = False,
    ) -> Encoded:
        """Count the features, or take given counts, and encode all bags; `use` adds names of the background.

        With `documents`, the table of documents is written at the same time.
        """
        Manifest(self.work).remove(ENCODED)
        remove_own(self.work, GROUPS["encoded"])  # not overwritten: a name may be a link to another file
        with self._documents_written(connection) if documents else nullcontext():
            with self.stages.stage("count"):
                frequencies = counting.count_features(connection, given, self.work)
            with self.stages.stage("encode"):
                cited = self.work / CITED if documents else None
                return encode(connection, frequencies, self.work, self.threads, use, cited)

    def encode(
        self,
        read: Read,
        given: GivenStatistics | None,
        save_statistics: Path | None = None,
        *,
        documents: bool = False,
        vocabulary: bool = False,
    ) -> Collection:
        """Encode what was read, or load the checkpoint of an earlier run.

        `vocabulary` and `documents` also write these files.
        """
        statistics = self.work / f"statistics{_statistics_suffix(save_statistics)}" if save_statistics else None
        wanted = {VOCABULARY} if vocabulary else set()
        wanted |= {DOCUMENTS, VOCABULARY, NAME_COUNTS, REFERENCES, CITED} if documents else set()
        wanted |= {statistics.name, statistics_side_file(statistics).name} if statistics else set()
        leans = given is None and read.data.settings.uses_background
        key = local_checkpoints.encoding_key(read.data.keys, given, background=leans)
        damaged: list[str] = []
        manifest = Manifest(self.work, damaged.append, durable=not read.data.is_small)
        checkpoint = EncodedCheckpoint.find(manifest, key, wanted)
        self.note_damage("encode", damaged)
        if checkpoint:
            self.stages.note("encode", reused=1)
        else:
            checkpoint = self._encode_parts(read, given, statistics, wanted)
            checkpoint.save(manifest, key, wanted)
            self._remove_database()
        if statistics and save_statistics:
            _copy_statistics(statistics, save_statistics)
        encoded = checkpoint.encoded
        self.warnings.extend(missing_features_warning(checkpoint.missing, len(encoded.frequencies.total)))
        kept = self.with_duplicates_merged(read, checkpoint.duplicates)
        mentions, blocks = len(encoded.mention_owner), len(encoded.block_start) - 1
        return EncodedCollection(
            kept.records,
            mentions,
            blocks,
            kept.problems,
            LocalCollection(encoded),
            checkpoint.background,
            read.of_mentions,
        )

    def _encode_parts(
        self, read: Read, given: GivenStatistics | None, statistics: Path | None, wanted: Set[str]
    ) -> EncodedCheckpoint:
        with self.database(read) as (connection, duplicates):
            if self.strict:  # it fails here, before the work of encoding
                parts = read.data
                report_duplicates(read, duplicates, parts.locate, mentions=parts.holds_mentions, strict=True)
            leans = given is None and read.data.settings.uses_background
            use = counting.background_use(connection) if leans else None
            encoded = self.count_and_encode(connection, given, use, documents=DOCUMENTS in wanted)
            missing = counting.features_missing_from_statistics(connection) if given else 0
            if VOCABULARY in wanted:
                counting.write_vocabulary(connection, self.work / VOCABULARY)
            if NAME_COUNTS in wanted:
                counting.write_name_counts(connection, self.work / NAME_COUNTS)
            if statistics:
                save_statistics(connection, encoded.frequencies, statistics)
            if use:  # last, because saved statistics are those of the collection alone
                features = counting.feature_names(connection)
                encoded = replace(encoded, frequencies=add_background(encoded.frequencies, features, use))
        return EncodedCheckpoint(encoded, duplicates, missing, use)

    @contextmanager
    def _documents_written(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Write the table of documents, and their references, on another thread while the block runs."""
        stopped = threading.Event()
        chosen = until(stopped, counting.chosen_documents(connection))
        files = self.work / DOCUMENTS, self.work / REFERENCES
        with meanwhile(partial(write_document_table, chosen, *files, self.threads)) as written:
            try:
                yield
                with self.stages.stage("documents"):
                    written.result()
            except BaseException:
                stopped.set()
                raise

    def constrain(self, collection: Collection, settings: Settings, pairs: UserPairs | None) -> Collection:
        """Find the constraints of all mentions."""
        encoded = collection.data.encoded
        require_known_identifiers(settings, lambda kind: kind in encoded.identifiers()["kind"].to_pylist())
        with self.stages.stage("constrain"):
            constraints = find_constraints(encoded, settings, pairs)
        self.warnings.extend(constraints.warnings if constraints else [])
        return replace(collection, data=LocalCollection(encoded, constraints, pairs))

    def sample(self, collection: Collection, settings: Settings) -> CalibrationSample:
        """All blocks: calibration chooses among them."""
        return CalibrationSample(collection.data.encoded, collection.data.constraints, None)

    def cluster(
        self, collection: Collection, settings: Settings, confidence: Confidence | None, *, trace: bool
    ) -> Found:
        """Cluster all blocks, on several threads."""
        encoded, constraints = collection.data.encoded, collection.data.constraints
        label = np.empty(collection.mentions, np.int32)
        mention_confidence = np.empty(collection.mentions) if confidence else None
        rounds: list[tuple[Integers, pa.Table]] = []
        names = encoded.block_names() if trace else None
        pa.default_memory_pool().release_unused()
        clusterer = _Clusterer(self, collection.data, settings, trace=trace, margins=confidence is not None)
        for blocks, skipped, clustering in clusterer.run():
            mentions, sizes = mentions_of(encoded, blocks)
            clustered = ~np.repeat(skipped, sizes)
            label[mentions[clustered]] = clustering.label[clustered]
            if confidence and mention_confidence is not None:
                mention_confidence[mentions[clustered]] = confidence.of(clustering)[clustered]
            if trace:
                rounds.append(trace_table(names, blocks, clustering))
        encoded.release_bags()  # two fifths of the memory of a large collection, and little of it is needed again
        rows = AuthorRows.of(encoded, label, constraints, mention_confidence)
        united = unite_blocks(rows, encoded, settings, collection.data.pairs)
        rows = rows.with_united(united)
        total, known = (0.0, 0) if mention_confidence is None else sum_of_known(mention_confidence)
        outcome = ConstraintOutcome(constraints.counts, constraints.conflicts) if constraints else None
        outcome = outcome.with_united(united, (*settings.trusted, PAIR)) if outcome else None
        authors = LocalAuthors(rows, rounds_in_order(rounds))
        mean = total / known if known else None
        return FoundAuthors(collection.mentions, rows.authors, mean, outcome, authors)

    def write_authors(self, found: Found, destination: Destination, advance: Advance) -> None:
        """Write the table of authors, and the trace if one is wanted."""
        if destination.trace:
            write_table(destination.trace, ROUNDS, found.data.rounds, excel=destination.excel)
        rows = _reported(found.data.rows.tables(self.threads), advance)
        write_table(destination.path, AUTHORS, rows, excel=destination.excel, row_group=SMALL_ROW_GROUP)

    def write_documents(self, collection: Collection, folder: Path) -> None:
        """Link the documents, and what `bags_stored` has written, to a result directory."""
        link_or_copy(self.work / DOCUMENTS, folder / DOCUMENTS)
        for path in (self.work / STORED).iterdir():
            link_or_copy(path, folder / path.name)

    @contextmanager
    def summaries_written(
        self, collection: Collection, found: Found, folder: Path
    ) -> Iterator[Callable[[], ResultMembers]]:
        """Write the table of authors while the block runs: writing that of mentions mostly uses one core."""
        # Its tables are read once or twice: writing them to a file took a sixth of the time of this stage.
        with (
            self._new_database(in_memory=True) as connection,
            meanwhile(partial(self._write_summaries, connection, collection, found, folder)) as written,
        ):
            try:
                yield written.result
            except BaseException:
                while not written.done():  # an interrupt ends only the query that runs
                    connection.interrupt()
                    wait([written], timeout=0.1)
                raise
        self._remove_database()

    def _write_summaries(
        self, connection: duckdb.DuckDBPyConnection, collection: Collection, found: Found, folder: Path
    ) -> ResultMembers:
        """Write the table of authors, with the affiliations that documents have."""
        documents = None if collection.of_mentions else self.work / DOCUMENTS
        encoded, rows = collection.data.encoded, found.data.rows
        author_ids, number = rows.ids.in_order(encoded)
        affiliations = load_facts(connection, rows.facts(number, self.threads), encoded.identifiers(), documents)
        return ResultMembers(write_author_summaries(connection, author_ids, folder / AUTHORS_TABLE), affiliations)

    @contextmanager
    def bags_stored(self, collection: Collection) -> Iterator[None]:
        """Write bags and statistics of a result directory to the work directory while the block runs.

        Constraints and calibration mostly use one core, so this takes hardly any time.
        """
        stopped, folder = threading.Event(), self.work / STORED
        remove_own(self.work, GROUPS["stored"])
        folder.mkdir(exist_ok=True)
        with meanwhile(partial(self._write_statistics, collection, folder, stopped)):
            try:
                yield
            except BaseException:
                stopped.set()
                raise

    def _write_statistics(self, collection: Collection, folder: Path, stopped: threading.Event) -> None:
        """Write what blocks take from the whole collection to a folder, and the bags of documents."""
        known, names = collection.data.encoded.frequencies, pq.read_table(self.work / NAME_COUNTS)
        mass = dict(zip(known.types, known.mass.tolist(), strict=True))
        write_result_statistics(
            folder, _with_totals(self.work / VOCABULARY, known.total), mass, known.mentions, [names]
        )
        references, cited = self.work / REFERENCES, self.work / CITED
        bags = stored_bags(collection.data.encoded, references, cited, folder / FREQUENCIES)
        write_table(folder / BAGS, STORED_BAGS, until(stopped, bags), row_group=BAG_ROW_GROUP)

    def _remove_database(self) -> None:
        """Remove the database; one of an interrupted run would be in the way."""
        remove_own(self.work, GROUPS["database"])

    def note_damage(self, stage: str, damaged: list[str]) -> None:
        """Tell the user which checkpoints were damaged; they are made again."""
        if damaged:
            self.stages.note(stage, damaged=len(damaged))
            found = counted(len(damaged), "damaged checkpoint")
            self.warnings.append(
                f"{self.shown_work or self.work} had {found}, made again in this run; the first: {damaged[0]}."
            )


class _PartReader:
    """Reads files into parts and adds up what it reads."""

    def __init__(self, engine: LocalEngine, settings: Settings, writer: PartWriter) -> None:
        self.engine, self.settings, self.writer = engine, settings, writer
        self.damaged: list[str] = []
        self.manifest = Manifest(engine.work, self.damaged.append)
        self.size: int | None = None
        self.problems = Problems()
        self.sequence = self.records = self.mentions = 0
        self.formats: dict[str, int] = {}
        self.keys: list[str] = []
        self.starts: list[FileStart] = []
        self.files: set[str] = set()
        self.names: set[str] = set()
        self.counts = FileCounts()

    def read(self, inputs: Inputs, kind: str, beside: Callable[[], object] | None = None) -> _PartReader:
        """Read files of records chunk by chunk, in several processes if they are large."""
        engine = self.engine
        sizes = [size_of(path) for path in inputs.files]
        total = None if None in sizes else sum(size or 0 for size in sizes)
        self.size, is_small = total, _is_below(total, SMALL_INPUT)
        forked = 1 + (total or 0) // BYTES_PER_FORK
        fork = is_small and can_fork() and engine.threads > 1 and (beside is not None or forked > 1)
        processes = engine.threads if not is_small else min(forked, engine.threads) if fork else 1
        hold = () if engine.lock is None else (engine.lock,)
        with engine.stages.stage("read", total) as advance:
            tasks = (self._task(chunk) for chunk in self._chunks(inputs, advance))
            load = lemmas_of(self.settings.language).load if self.writer is write_documents else None
            for part in run_tasks(tasks, processes, hold, fork=fork, prepare=load, beside=beside):
                self._add(part)
            engine.stages.note("read", records=self.records, mentions=self.mentions)
        require_usable(self.records, inputs, kind, self.sequence, self.problems)
        return self

    def read_table(self, path: Path) -> None:
        """Read a Parquet table of mentions."""
        self.size = None
        self.starts.append(FileStart(self.sequence, printable(path), "line"))
        chunk = Chunk(printable(path), self.sequence, [])
        with self.engine.stages.stage("read") as advance:
            key = local_checkpoints.table_key(path, self.sequence)
            part = self._find(chunk, key)
            if part:
                advance(part.report.records)
            else:
                writer = local_checkpoints.table_writer(path, advance)
                part = write_part_checkpoint(writer, chunk, self.settings, self.manifest, key, strict=False)
        self._add(part)

    def finish(self, *, holds_mentions: bool = False) -> Read:
        """Everything that was read; parts of earlier runs that this one does not use are removed."""
        local_checkpoints.remove_other_parts(self.engine.work, self.files, self.names)
        self.engine.note_damage("read", self.damaged)
        convert = self.writer is write_lines
        parts = LocalParts(
            self.keys, frozenset(self.files), self.starts, holds_mentions, self.sequence, self.settings, convert,
            self.size,
        )  # fmt: skip
        without_authors = self.counts.without_authors()
        self.engine.warnings.extend(no_authors_warnings(without_authors) + encoding_warnings(self.counts))
        return RecordsRead(
            self.records, self.mentions, self.problems, self.formats, parts, holds_mentions, without_authors
        )

    def _chunks(self, inputs: Inputs, advance: Advance) -> Iterator[Chunk]:
        sequence = 0
        size = CHUNK_BYTES if self.size is None or self.size < LARGE_INPUT else 2 * CHUNK_BYTES
        for source, form, records in self._opened(inputs):
            self.formats[form] = self.formats.get(form, 0) + 1
            self.starts.append(FileStart(sequence, source.name, records.unit))
            first = Chunk(source.name, sequence, [], form, records.context, records.unit)
            for chunk in chunks(_watched(records.raws, source, advance), first, size):
                yield chunk
                sequence = chunk.sequence + len(chunk.raws)

    def _opened(self, inputs: Inputs) -> Iterator[tuple[Source, str, Records]]:
        """All files and members of archives whose format is known, one after the other; the others are reported."""
        skipped, members = [], []
        for path in inputs.files:
            is_incidental = path in inputs.incidental
            with ExitStack() as opened:
                try:
                    sources = opened.enter_context(sources_of(path))
                except InputError:
                    if not is_incidental:
                        raise
                    skipped.append(path)
                    continue
                left_out: list[str] = []
                is_archive = isinstance(sources[0], ArchiveMember)
                yield from _readable(sources, inputs, left_out, strict=not is_incidental)
                if len(left_out) < len(sources):
                    members += left_out
                elif is_archive and not is_incidental:
                    raise InputError(unknown_members(printable(path), left_out))
                else:
                    skipped.append(path)
        self.engine.warnings.extend(skipped_files_warning(skipped, inputs) + skipped_members_warning(members))

    def _task(self, chunk: Chunk) -> Task | TaskResult:
        """The task of reading a chunk, or its part if there is a checkpoint."""
        strict = self.engine.strict
        key = local_checkpoints.chunk_key(chunk, self.settings, self.writer, strict=strict)
        if part := self._find(chunk, key):
            return TaskResult(part)
        manifest = Manifest(self.engine.work, durable=not _is_below(self.size, SMALL_INPUT))
        return write_part_checkpoint, (self.writer, chunk, self.settings, manifest, key), {"strict": strict}

    def _find(self, chunk: Chunk, key: str) -> PartCheckpoint | None:
        """The checkpoint of a chunk, if there is one; the part belongs to this run in any case."""
        part = local_checkpoints.find_part(self.manifest, chunk.sequence, key)
        self.keys.append(key)
        self.names.add(local_checkpoints.part_name(chunk.sequence))
        self.engine.stages.note("read", chunks=1, reused=int(part is not None))
        return part

    def _add(self, part: PartCheckpoint) -> None:
        report = part.report
        self.files.update(part.files)
        file = self.starts[bisect_right(self.starts, self.sequence, key=lambda start: start.sequence) - 1].file
        self.counts.add(file, report.records, report.mentions, report.western)
        self.sequence += report.read
        self.records += report.records
        self.mentions += report.mentions
        for problem in report.problems:
            self.problems.add(problem, strict=self.engine.strict)
        if self.engine.rejects:
            self.engine.rejects.writelines(report.rejects)


def _is_below(size: int | None, bound: int) -> bool:
    """Whether a number of bytes is known, and below a bound."""
    return size is not None and size < bound


def _readable(
    sources: list[Source], inputs: Inputs, left_out: list[str], *, strict: bool
) -> Iterator[tuple[Source, str, Records]]:
    """The sources of one path, opened, with their records; `left_out` gets the names of the others.

    With `strict`, a file that cannot be read is an error, except a member of an archive in an unknown format.
    """
    for unopened in sources:
        with ExitStack() as opened:
            try:
                source = opened.enter_context(unopened)
            except InputError:
                if strict:
                    raise
                left_out.append(unopened.name)
                continue
            try:
                form, records = _form_and_records(source, inputs)
            except InputError:
                if strict and not isinstance(source, ArchiveMember):
                    raise
                left_out.append(source.name)
                continue
            yield source, form, records


def _form_and_records(source: Source, inputs: Inputs) -> tuple[str, Records]:
    if inputs.format == MENTIONS:
        return MENTIONS, Records(starmap(Raw, source.lines()))
    found = format_of(source, inputs.format)
    return found.name, found.open(source, inputs.columns)


def _watched(raws: Iterator[Raw], source: Source, advance: Advance) -> Iterator[Raw]:
    """The same records; reports how many bytes of the source were read for them.

    The position is looked up for every few records, because asking the file for it takes as long as splitting a line.
    """
    done = 0
    for number, raw in enumerate(raws):
        if number % RECORDS_PER_REPORT == 0 and (position := source.position) != done:
            advance(position - done)
            done = position
        yield raw
    if (position := source.position) != done:
        advance(position - done)


def _reported(tables: Iterator[pa.Table], advance: Advance) -> Iterator[pa.Table]:
    """The same tables; reports the rows of each when the next one is asked for."""
    for table in tables:
        yield table
        advance(len(table))


def _with_totals(vocabulary: Path, total: Floats) -> Iterator[pa.Table]:
    """The features of a collection, which are in order, with #(f)."""
    done = 0
    for batch in pq.ParquetFile(vocabulary).iter_batches(columns=["type", "feature"]):
        counts = pa.array(total[done : done + len(batch)])
        yield pa.table([batch["type"], batch["feature"], counts], schema=STATISTICS)
        done += len(batch)


def _statistics_suffix(path: Path) -> str:
    return next(suffix for suffix in (".csv.gz", ".csv", ".parquet") if path.name.endswith(suffix))


def _copy_statistics(source: Path, target: Path) -> None:
    """Copy statistics and their side file."""
    for copied, path in ((source, target), (statistics_side_file(source), statistics_side_file(target))):
        with atomic_path(path) as partial:
            shutil.copyfile(copied, partial)


class _Clusterer:
    """Clusters all blocks of a collection: first ordinary ones, then those that share tables of documents."""

    def __init__(
        self, engine: LocalEngine, collection: LocalCollection, settings: Settings, *, trace: bool, margins: bool
    ) -> None:
        self.engine, self.settings, self.trace, self.margins = engine, settings, trace, margins
        self.encoded, self.constraints = collection.encoded, collection.constraints
        self.used = np.array(settings.weights_for(self.encoded.frequencies.types)) > 0
        self.full_names = FullNames.read(self.encoded) if settings.trust_in_names else None
        self.giant = self.encoded.giant_blocks()
        # Frequencies within a block depend on the block, so nothing can be shared.
        can_share = settings.scope == "overall"
        self.sharing = plan_sharing(self.encoded, self.used & can_share, engine.memory)
        self.skipped = np.zeros(len(self.giant), np.bool_)
        for batch in self.sharing.batches:
            self.skipped[batch.blocks] = True
        self.room = min(engine.memory // 4, LARGE_BLOCKS)
        self.local = threading.local()
        self.progress = _SharedProgress()
        self.damaged: list[str] = []

    def run(self) -> Iterator[tuple[Integers, NDArray[np.bool_], Clustering]]:
        """Some blocks, which of them were skipped, and their clustering, as they complete."""
        planned = self._plan()
        for shared in self.sharing.batches:
            self._require_memory(shared)
        with self.engine.stages.stage("cluster", len(self.encoded.mention_owner)) as advance:
            self.progress.advance = advance
            for batch, clustering in self._map(self._cluster_range, planned, lambda batch: batch.largest):
                blocks = np.arange(batch.first, batch.last)
                skipped = self.skipped[batch.first : batch.last]
                mentions = batch.mentions - int(np.diff(self.encoded.block_start)[blocks[skipped]].sum())
                self.progress.complete(batch.first, mentions)
                yield blocks, skipped, clustering
            memory, pairs = self._table_memory(), None
            for shared in self.sharing.batches:
                table = self._table(shared, memory, pairs)
                pairs = table.pairs
                for part, clustering in self._cluster_shared(shared, table):
                    self.progress.complete(int(part[0]), len(clustering.label))
                    yield part, np.zeros(len(part), np.bool_), clustering
                del table  # the bags of the documents, before those of the next ones are gathered
        remove_rounds(self.engine.work)
        self.engine.note_damage("cluster", self.damaged)

    def _map(
        self, function: Callable[[Item], Clustering], items: list[Item], largest: Callable[[Item], int]
    ) -> Iterator[tuple[Item, Clustering]]:
        """Cluster on all threads; large blocks at the same time only as far as the memory suffices."""

        def size(item: Item) -> int:
            needed = dense_bytes(largest(item), len(self.used))
            return needed if needed >= LARGE_BLOCK else 0

        for item, clustering in map_as_completed(function, items, self.engine.threads, size, self.room):
            self.engine.stages.note("cluster", batches=1)
            yield item, clustering

    def _cluster_range(self, batch: BlockBatch) -> Clustering:
        """Cluster some blocks. A giant block is a batch of its own: it reports its progress and has checkpoints."""
        blocks, trust = slice(batch.first, batch.last), self.settings.trust_in_names
        manifest = Manifest(self.engine.work, self.damaged.append)
        return cluster(
            self.encoded.gather(batch.first, batch.last, self.used, self.skipped[blocks]),
            self.encoded.frequencies,
            self.settings,
            constraints=self.constraints.of_blocks(batch.first, batch.last) if self.constraints else None,
            names=self.full_names.of_blocks(batch.first, batch.last, trust) if self.full_names else None,
            hypothetical=self.trace,
            margins=self.margins,
            giant=self.giant[blocks],
            skipped=self.skipped[blocks],
            threads=self.engine.threads,
            advance=partial(self.progress.within, batch.first),
            store=RoundCheckpoint(manifest, batch.first) if self.giant[blocks].any() else None,
            memory=self._thread_memory(),
        )

    def _thread_memory(self) -> ReusedMemory:
        """The memory that this thread uses again, no more than its share of what large blocks may need."""
        if not hasattr(self.local, "memory"):
            self.local.memory = ReusedMemory(self.room // self.engine.threads // 8)
        found: ReusedMemory = self.local.memory
        return found

    def _table_memory(self) -> Floats:
        """Memory for the largest table of all batches."""
        types = int(self.sharing.types.sum())
        largest = max((table_bytes(len(batch.documents), types) for batch in self.sharing.batches), default=0)
        return aligned_memory(largest // 8)

    def _table(self, batch: SharedBatch, memory: Floats, before: DocumentPairs | None) -> DocumentTable:
        """The table of a batch, given the pairs of the batch before it, which are overwritten."""
        bags = self.encoded.gather_documents(batch.documents, self.sharing.types)
        return pair_documents(bags, self.encoded.frequencies, self.engine.threads, memory, before, batch.kept)

    def _cluster_shared(self, batch: SharedBatch, table: DocumentTable) -> Iterator[tuple[Integers, Clustering]]:
        """Cluster the blocks of a batch. Giant ones are first; each has all threads, and small blocks run beside it."""
        encoded, sizes = self.encoded, np.diff(self.encoded.block_start)
        are_giant = are_giant_with_table(sizes[batch.blocks])
        giant, others = batch.blocks[are_giant], batch.blocks[~are_giant]

        def work(blocks: Integers) -> Clustering:
            mentions, own_sizes = mentions_of(encoded, blocks)
            block_start = starts(own_sizes)
            document = batch.places(encoded.mention_owner[mentions] >> SLOT_BITS)
            own_names = encoded.own_name[mentions], encoded.own_full_name[mentions]
            return cluster(
                Bags(block_start, *encoded.gather_mentions(mentions, self.used & ~self.sharing.types)),
                encoded.frequencies,
                self.settings,
                constraints=self.constraints.of_chosen(blocks) if self.constraints else None,
                names=self.full_names.select(blocks).prior(self.settings.trust_in_names) if self.full_names else None,
                hypothetical=self.trace,
                margins=self.margins,
                shared=share_documents(table, block_start, document, *own_names),
                threads=self.engine.threads,
                advance=partial(self.progress.within, int(blocks[0])),
                memory=self._thread_memory(),
            )

        parts = [
            *giant[np.argsort(-sizes[giant], kind="stable")][:, None],
            *parts_of(others, sizes[others], ALONE_PAIRS),
        ]
        yield from self._map(work, parts, lambda blocks: int(sizes[blocks].max()))

    def _plan(self) -> list[BlockBatch]:
        """The batches of ordinary blocks; fails if the memory does not suffice for one of them."""
        encoded, sizes = self.encoded, np.diff(self.encoded.block_start)
        occurrences = np.where(np.repeat(self.skipped, sizes), 0, encoded.sizes())
        planned = block_batches(encoded.block_start, occurrences, self.engine.threads)
        filled = starts(occurrences)[encoded.block_start]
        for batch in planned:
            features = int(filled[batch.last] - filled[batch.first])
            giant = bool(self.giant[batch.first : batch.last].any())
            needed = needed_bytes(batch.largest, len(self.used), features, self.engine.threads, giant=giant)
            require_memory(batch.largest, needed, self.engine.memory)
        return planned

    def _require_memory(self, batch: SharedBatch) -> None:
        """Fail if the memory does not suffice for a table and the largest block of its batch."""
        encoded, types = self.encoded, self.sharing.types
        sizes = np.diff(encoded.block_start)[batch.blocks]
        largest, block = int(sizes.max()), int(batch.blocks[sizes.argmax()])
        mentions = slice(*encoded.block_start[[block, block + 1]].tolist())
        _, own, _ = encoded.gather_mentions(mentions, self.used & ~types)
        table = table_bytes(len(batch.documents), int(types.sum()))
        needed = table + looked_up_bytes(largest, len(self.used), len(own), self.engine.threads)
        require_memory(largest, needed, self.engine.memory)


class _SharedProgress:
    """Progress that several threads report: merges within a giant block, then the rest of its mentions."""

    def __init__(self) -> None:
        self.advance: Advance = lambda _: None
        self._lock = threading.Lock()
        self._within: Counter[int] = Counter()

    def within(self, first: int, merges: int) -> None:
        """Report merges within the batch that begins with a block."""
        with self._lock:
            self._within[first] += merges
            self.advance(merges)

    def complete(self, first: int, mentions: int) -> None:
        """Report that such a batch is complete."""
        with self._lock:
            self.advance(mentions - self._within.pop(first, 0))


# Maximum number of occurrences of features per batch: enough that the overhead of a call does not matter, few enough
# for the cache. A small collection has several batches for each thread, so that all threads have work until the end.
BATCH_OCCURRENCES, BATCHES_PER_THREAD = 1_000_000, 4
# A block with more pairs than this (a thousand mentions) is a batch of its own.
ALONE_PAIRS = 1_000_000


class BlockBatch(NamedTuple):
    """The blocks from `first` up to `last`, the number of their mentions, and that of the largest block."""

    first: int
    last: int
    mentions: int
    largest: int


def block_batches(block_start: Integers, occurrences: Integers, threads: int = 1) -> list[BlockBatch]:
    """All blocks in batches for some threads, the most work first; mention x has `occurrences[x]` features.

    >>> start = np.array([0, 2, 3, 2003, 2004])
    >>> [batch[:3] for batch in block_batches(start, np.full(2004, 10))]
    [(2, 3, 2000), (0, 2, 3), (3, 4, 1)]
    """
    sizes = np.diff(block_start)
    filled = starts(occurrences)[block_start]
    pairs = starts(sizes**2)
    found = []
    most = min(BATCH_OCCURRENCES, -(-int(filled[-1]) // (threads * BATCHES_PER_THREAD)))
    for first, last in _ranges(filled, sizes, most):
        work = int(pairs[last] - pairs[first] + filled[last] - filled[first])
        batch = BlockBatch(first, last, int(sizes[first:last].sum()), int(sizes[first:last].max()))
        found.append((-work, batch))
    return [batch for _, batch in sorted(found)]


def _ranges(filled: Integers, sizes: Integers, most: int) -> list[tuple[int, int]]:
    """Ranges of blocks in order, cut before and after each large block and where a batch has `most` occurrences."""
    large = np.flatnonzero(sizes**2 > ALONE_PAIRS)
    cuts = np.unique(np.concatenate([large, large + 1, [len(sizes)]]))
    found, first = [], 0
    for end in cuts.tolist():
        while first < end:
            full = int(np.searchsorted(filled, filled[first] + most, side="right")) - 1
            last = min(max(full, first + 1), end)
            found.append((first, last))
            first = last
    return found


def require_memory(block: int, needed: int, memory: int) -> None:
    """Fail if a block of `block` mentions needs more bytes than the memory has."""
    if needed > memory:
        raise CapacityError(
            f"a block of {block:,} mentions needs {needed / 2**30:.1f} GiB, but {memory / 2**30:.1f} may be used; "
            "allow more with --memory or use finer blocks with --blocking."
        )
