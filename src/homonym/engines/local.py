"""The local engine: read, count, encode, cluster, each step streaming through a work directory."""

from __future__ import annotations

import shutil
from bisect import bisect_right
from collections.abc import Iterator, Set
from contextlib import ExitStack
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.agglomerative import Clustering, cluster, dense_bytes, needed_bytes
from homonym.clustering.arrays import starts
from homonym.collection import counting
from homonym.collection.counting import Duplicate
from homonym.collection.encode import encode
from homonym.collection.encoded import Encoded, load_encoded, save_encoded
from homonym.collection.parts import Chunk, PartReport, chunks, write_documents, write_lines, write_mentions
from homonym.collection.statistics import GivenStatistics
from homonym.constraints.find import FoundConstraints
from homonym.engines import local_checkpoints
from homonym.engines.local_checkpoints import KeptPart, Writer
from homonym.errors import CapacityError, InputError
from homonym.io.inputs import Source, size_of
from homonym.messages import counted, listed
from homonym.records.model import KEPT_PROBLEMS, Problem, Problems
from homonym.records.parsing.splitting import Raw
from homonym.records.reader import Inputs
from homonym.records.registry import Records, Unit, format_of
from homonym.runtime.checkpoints import Facts, Manifest
from homonym.runtime.process_pool import Task, TaskResult, run_tasks
from homonym.runtime.progress import Advance, Stages
from homonym.runtime.thread_pool import map_as_completed
from homonym.settings import Settings

if TYPE_CHECKING:
    import duckdb


#: Occurrences per batch: large enough to keep a call's overhead out of sight, small enough for the cache.
BATCH_OCCURRENCES = 1_000_000
#: A block of more pairs than this, that is of a thousand mentions, is a batch of its own.
ALONE_PAIRS = 1_000_000


class BlockBatch(NamedTuple):
    """The blocks from `first` up to `last`, the number of their mentions, and that of the largest one."""

    first: int
    last: int
    mentions: int
    largest: int


def batches(block_start: NDArray[np.int64], occurrences: NDArray[np.int64]) -> list[BlockBatch]:
    """All blocks, those that take longest first; mention x has `occurrences[x]` features.

    >>> start = np.array([0, 2, 3, 2003, 2004])
    >>> batches(start, np.full(2004, 10))
    [Batch(first=2, last=3, mentions=2000, largest=2000), Batch(first=0, last=2, mentions=3, largest=2), \
Batch(first=3, last=4, mentions=1, largest=1)]
    """
    sizes = np.diff(block_start)
    filled = np.concatenate([[0], np.cumsum(occurrences)])[block_start]
    pairs = np.concatenate([[0], np.cumsum(sizes**2)])
    found = []
    for first, last in _ranges(filled, sizes):
        work = int(pairs[last] - pairs[first] + filled[last] - filled[first])
        batch = BlockBatch(first, last, int(sizes[first:last].sum()), int(sizes[first:last].max()))
        found.append((-work, batch))
    return [batch for _, batch in sorted(found)]


def _ranges(filled: NDArray[np.int64], sizes: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Ranges of blocks, in order, cut before and after each large one and where a batch is full."""
    large = np.flatnonzero(sizes**2 > ALONE_PAIRS)
    cuts = np.unique(np.concatenate([large, large + 1, [len(sizes)]]))
    found, first = [], 0
    for end in cuts.tolist():
        while first < end:
            full = int(np.searchsorted(filled, filled[first] + BATCH_OCCURRENCES, side="right")) - 1
            last = min(max(full, first + 1), end)
            found.append((first, last))
            first = last
    return found


#: Bytes of input per task: some thousand documents with abstracts.
CHUNK_BYTES = 8 << 20
#: Below this much input, starting further processes takes longer than it saves.
SMALL_INPUT = 12 << 20
#: A block that needs more than this is clustered while no other large one is.
LARGE_BLOCK = 256 << 20
#: DuckDB refuses to work well below this, and gains little above.
DATABASE_MEMORY = (1 << 30, 3 << 29)

#: The name of the record of an encoded collection.
ENCODED = "encoded"
MENTIONS = "mentions"
"""What stands for a format where files hold mentions with bags."""


@dataclass
class LocalEngine:
    """The steps of a run on this machine; what they leave is in `work`.

    Each piece that is done is noted there, and not done again as long as all that it depends on is the same. `lock` is
    the open file that keeps others out of the directory.
    """

    work: Path
    threads: int
    memory: int
    stages: Stages
    strict: bool = False
    rejects: IO[bytes] | None = None
    problems: Problems = field(default_factory=Problems)
    warnings: list[str] = field(default_factory=list)
    records: int = 0
    mentions: int = 0
    formats: dict[str, int] = field(default_factory=dict)
    """How many files there were of each format."""
    lock: int | None = None

    def __post_init__(self) -> None:
        self._places: list[tuple[int, str, Unit]] = []
        self._ids_must_differ = False
        self._ledger = Manifest(self.work)
        self._keys: list[str] = []
        self._files: set[str] = set()
        self._names: set[str] = set()
        self._duplicates: tuple[int, list[Duplicate]] = (0, [])
        self._encoding: str | None = None

    def read_documents(self, inputs: Inputs, settings: Settings) -> None:
        """Read documents and extract their features."""
        self._read(inputs, settings, write_documents)
        local_checkpoints.remove_other_parts(self.work, self._files, self._names)

    def convert_documents(self, inputs: Inputs, settings: Settings) -> None:
        """Read documents and keep them as lines of homonym's own format."""
        self._read(inputs, settings, write_lines)
        local_checkpoints.remove_other_parts(self.work, self._files, self._names)

    def read_mentions(self, inputs: Inputs, settings: Settings) -> None:
        """Read mentions that bring their own features."""
        self._ids_must_differ = True
        lines = [path for path in inputs.files if path.suffix != ".parquet"]
        tables = [path for path in inputs.files if path.suffix == ".parquet"]
        sequence = self._read(replace(inputs, files=lines, format=MENTIONS), settings, write_mentions) if lines else 0
        for path in tables:
            self._places.append((sequence, str(path), "line"))
            with self.stages.stage("read") as advance:
                table = local_checkpoints.keep_mention_table(path, sequence, self.work, advance)
            self._claim(sequence, table.key, table.files)
            self.stages.note("read", chunks=1, reused=int(table.reused))
            rows = table.rows
            self.records, self.mentions, sequence = self.records + rows, self.mentions + rows, sequence + rows
        local_checkpoints.remove_other_parts(self.work, self._files, self._names)

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Open the database over what was read, and set duplicate records aside."""
        self._remove_database()
        least, most = DATABASE_MEMORY
        connection = counting.connect(self.work, min(max(self.memory // 2, least), most), self.threads)
        counting.read_parts(connection, self.work)
        self._set_aside(*counting.find_duplicates(connection, KEPT_PROBLEMS))
        counting.rename_equal_ids(connection)
        return connection

    def encode(self, connection: duckdb.DuckDBPyConnection, given: GivenStatistics | None) -> Encoded:
        """Count the features, or take given counts, and encode all bags."""
        self._ledger.forget(ENCODED)
        with self.stages.stage("count"):
            frequencies = counting.count_features(connection, given, self.work)
        with self.stages.stage("encode"):
            return encode(connection, frequencies, self.work, self.threads)

    def recall(self, given: GivenStatistics | None, wanted: Set[str]) -> tuple[Encoded, Facts] | None:
        """What a former run has encoded of the same parts, if it left all files that are wanted besides."""
        self._encoding = local_checkpoints.encoding_key(self._keys, given)
        found = self._ledger.find(ENCODED, self._encoding)
        if found is None or not wanted <= set(found["files"]):
            return None
        number, first = found["duplicates"]
        self._set_aside(number, [Duplicate(*again) for again in first])
        self.stages.note("encode", reused=1)
        return load_encoded(found, self.work), found["facts"]

    def remember(self, encoded: Encoded, wanted: Set[str], facts: Facts) -> None:
        """Keep what was encoded and the files that were wanted besides; the database is not needed any more."""
        assert self._encoding
        number, first = self._duplicates
        values, files = save_encoded(encoded, self.work)
        noted = {**values, "duplicates": (number, [astuple(again) for again in first]), "facts": facts}
        self._ledger.note(ENCODED, self._encoding, noted, [*files, *sorted(wanted)])
        self._remove_database()

    def cluster(
        self,
        encoded: Encoded,
        settings: Settings,
        knowledge: FoundConstraints | None = None,
        *,
        hypothetical: bool = False,
        margins: bool = False,
    ) -> Iterator[tuple[int, Clustering]]:
        """Cluster all blocks, the longest first: the first block's number and the answer for each batch.

        An answer has its merges only if it is `hypothetical`; otherwise one that was kept has none.
        """
        used = np.array(settings.weights_for(encoded.frequencies.types)) > 0
        occurrences = encoded.sizes()
        planned = batches(encoded.block_start, occurrences)
        filled = starts(occurrences)[encoded.block_start]
        for batch in planned:
            features = int(filled[batch.last] - filled[batch.first])
            require_memory(batch.largest, len(used), self.memory, occurrences=features, threads=self.threads)
        key = self._encoding and local_checkpoints.clustering_key(
            self._encoding, settings, hypothetical=hypothetical, margins=margins
        )

        def work(batch: BlockBatch) -> tuple[Clustering, bool]:
            first, last = batch.first, batch.last
            constraints = knowledge.of_blocks(first, last) if knowledge else None
            own_key = key and local_checkpoints.batch_key(key, first, last, constraints)
            if own_key and (known := local_checkpoints.find_answer(self.work, first, own_key)):
                return known, True
            answer = cluster(
                encoded.gather(first, last, used),
                encoded.frequencies,
                settings,
                constraints=constraints,
                hypothetical=hypothetical,
                margins=margins,
                threads=self.threads,
            )
            if own_key:
                local_checkpoints.keep_answer(self.work, first, own_key, answer, merges=hypothetical)
            return answer, False

        def is_large(batch: BlockBatch) -> bool:
            return dense_bytes(batch.largest, len(used)) >= LARGE_BLOCK

        with self.stages.stage("cluster", sum(batch.mentions for batch in planned)) as advance:
            for batch, (answer, reused) in map_as_completed(work, planned, self.threads, alone=is_large):
                advance(batch.mentions)
                self.stages.note("cluster", batches=1, reused=int(reused))
                yield batch.first, answer
        if key:
            local_checkpoints.remove_other_answers(self.work, {batch.first for batch in planned})

    def _read(self, inputs: Inputs, settings: Settings, writer: Writer) -> int:
        sizes = [size_of(path) for path in inputs.files]
        total = None if None in sizes else sum(size or 0 for size in sizes)
        processes = 1 if total is not None and total < SMALL_INPUT else self.threads
        sequence = 0
        with self.stages.stage("read", total) as advance:
            tasks = (self._task(chunk, settings, writer) for chunk in self._chunks(inputs, advance))
            for part in run_tasks(tasks, processes, () if self.lock is None else (self.lock,)):
                sequence += part.report.read
                self._take(part)
            self.stages.note("read", records=self.records, mentions=self.mentions)
        if not self.records:
            first = f" The first problem: {self.problems.kept[0]}" if self.problems.kept else ""
            what = MENTIONS if inputs.format == MENTIONS else "documents"
            raise InputError(f"{inputs}: no usable {what} among {counted(sequence, 'record')}.{first}")
        return sequence

    def _task(self, chunk: Chunk, settings: Settings, writer: Writer) -> Task | TaskResult:
        """Reading a chunk, or what came of that before."""
        key = local_checkpoints.chunk_key(chunk, settings, writer, strict=self.strict)
        part = local_checkpoints.find_part(self._ledger, chunk.sequence, key)
        self._claim(chunk.sequence, key, part.files if part else [])
        self.stages.note("read", chunks=1, reused=int(part is not None))
        if part:
            return TaskResult(part)
        return local_checkpoints.write_part_to_keep, (writer, chunk, settings, self.work, key), {"strict": self.strict}

    def _claim(self, sequence: int, key: str, files: list[str]) -> None:
        """Take a part for one of this run's."""
        self._keys.append(key)
        self._names.add(local_checkpoints.part_name(sequence))
        self._files.update(files)

    def _take(self, part: KeptPart) -> None:
        report: PartReport = part.report
        self._files.update(part.files)
        self.records += report.records
        self.mentions += report.mentions
        for problem in report.problems:
            self.problems.add(problem, strict=self.strict)
        if self.rejects:
            self.rejects.writelines(report.rejects)

    def _chunks(self, inputs: Inputs, advance: Advance) -> Iterator[Chunk]:
        sequence, left_out = 0, []
        for path in inputs.files:
            with ExitStack() as opened:
                try:
                    source = opened.enter_context(Source(path))
                    first, raws = self._open(source, inputs, sequence)
                except InputError:
                    if path not in inputs.incidental:
                        raise
                    left_out.append(path)
                    continue
                for chunk in chunks(_watched(raws, source, advance), first, CHUNK_BYTES):
                    yield chunk
                    sequence = chunk.sequence + len(chunk.raws)
        self._warn_of_left_out(left_out, inputs)

    def _open(self, source: Source, inputs: Inputs, sequence: int) -> tuple[Chunk, Iterator[Raw]]:
        """Give the raw records of a file and an empty chunk for them."""
        if inputs.format == MENTIONS:
            form, records = MENTIONS, Records(Raw(number, text) for number, text in source.lines())
        else:
            found = format_of(source, inputs.format)
            form, records = found.name, found.open(source, inputs.columns)
        self.formats[form] = self.formats.get(form, 0) + 1
        self._places.append((sequence, source.name, records.unit))
        return Chunk(source.name, sequence, [], form, records.context, records.unit), records.raws

    def _warn_of_left_out(self, left_out: list[Path], inputs: Inputs) -> None:
        if not left_out:
            return
        if len(left_out) == len(inputs.files):
            raise InputError(f"{inputs}: no file is in a format that homonym knows; name the format with --format.")
        names = listed([path.name for path in left_out[:3]] + (["…"] if len(left_out) > 3 else []))
        self.warnings.append(f"{counted(len(left_out), 'file')} left out, in no format that homonym knows: {names}.")

    def _set_aside(self, duplicates: int, first: list[Duplicate]) -> None:
        """Count duplicate records out."""
        self._duplicates = duplicates, first
        for again in first:
            self.problems.add(self._duplicate(again), strict=self.strict and self._ids_must_differ)
        self.problems.counts["duplicate"] += duplicates - len(first)
        self.records -= duplicates

    def _remove_database(self) -> None:
        """Take the database away: that of a run which ended too early would be in the way."""
        for path in self.work.glob("*.duckdb*"):
            path.unlink()
        shutil.rmtree(self.work / "spill", ignore_errors=True)

    def _duplicate(self, again: Duplicate) -> Problem:
        file, unit = self._place(again.sequence)
        first_file, first_unit = self._place(again.first_sequence)
        kind, _, value = again.key.partition(":")
        reason = f"'{value}' is already the {kind} of {first_unit} {again.first_line} of {first_file}"
        return Problem(file, again.line, "duplicate", reason, unit)

    def _place(self, sequence: int) -> tuple[str, Unit]:
        _, file, unit = self._places[bisect_right(self._places, sequence, key=lambda place: place[0]) - 1]
        return file, unit


def require_memory(
    largest: int, types: int, memory: int, *, copies: int = 1, occurrences: int | None = None, threads: int = 1
) -> None:
    """Refuse a block that does not fit, before anything is computed.

    Some work holds all pairs of a block, and several copies of them; but to cluster a giant one, only its `occurrences`
    count.
    """
    needed = copies * dense_bytes(largest, types)
    if occurrences is not None:
        needed = needed_bytes(largest, types, occurrences, threads)
    if needed > memory:
        raise CapacityError(
            f"a block of {largest:,} mentions needs {needed / 2**30:.1f} GiB, but {memory / 2**30:.1f} may be used; "
            "allow more with --memory or use finer blocks with --blocking."
        )


def _watched(raws: Iterator[Raw], source: Source, advance: Advance) -> Iterator[Raw]:
    done = 0
    for raw in raws:
        if (position := source.position) != done:
            advance(position - done)
            done = position
        yield raw
