"""The local engine: read, count, encode, cluster, each step streaming through a work directory."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from homonym.clustering.merging import Clustering, cluster, dense_bytes
from homonym.collection import counting
from homonym.collection.counting import Duplicate
from homonym.collection.encoded import Encoded, encode
from homonym.collection.parts import Chunk, PartReport, chunks, write_documents, write_lines, write_mentions
from homonym.collection.statistics import GivenStatistics
from homonym.constraints.knowledge import Knowledge
from homonym.engines.threads import in_order
from homonym.engines.workers import run_tasks
from homonym.errors import CapacityError, InputError
from homonym.progress import Advance, Stages
from homonym.records.formats import Records, Unit, format_of
from homonym.records.problems import KEPT_PROBLEMS, Problem, Problems
from homonym.records.reading import Inputs
from homonym.records.splitting import Raw
from homonym.settings import Settings
from homonym.sources import Source, size_of
from homonym.wording import counted, listed

if TYPE_CHECKING:
    import duckdb

#: Bytes of input per task: about a thousand documents with abstracts.
CHUNK_BYTES = 2 << 20
#: Below this much input, starting further processes takes longer than it saves.
SMALL_INPUT = 8 << 20
#: A block that needs more than this is clustered while no other large one is.
LARGE_BLOCK = 256 << 20
#: DuckDB refuses to work well below this, and gains little above.
DATABASE_MEMORY = (1 << 30, 3 << 29)

Writer = Callable[..., PartReport]

MENTIONS = "mentions"
"""What stands for a format where files hold mentions with bags."""


@dataclass
class LocalEngine:
    """The steps of a run on this machine; what they leave is in `work`."""

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

    def __post_init__(self) -> None:
        self._places: list[tuple[int, str, Unit]] = []
        self._ids_must_differ = False

    def read_documents(self, inputs: Inputs, settings: Settings) -> None:
        """Read documents and extract their features."""
        self._read(inputs, settings, write_documents)

    def convert_documents(self, inputs: Inputs, settings: Settings) -> None:
        """Read documents and keep them as lines of homonym's own format."""
        self._read(inputs, settings, write_lines)

    def read_mentions(self, inputs: Inputs, settings: Settings) -> None:
        """Read mentions that bring their own features."""
        from homonym.collection.columnar import write_mention_table

        self._ids_must_differ = True
        lines = [path for path in inputs.files if path.suffix != ".parquet"]
        tables = [path for path in inputs.files if path.suffix == ".parquet"]
        sequence = self._read(replace(inputs, files=lines, format=MENTIONS), settings, write_mentions) if lines else 0
        for path in tables:
            self._places.append((sequence, str(path), "line"))
            with self.stages.stage("read") as advance:
                rows = write_mention_table(path, sequence, self.work, advance)
            self.records, self.mentions, sequence = self.records + rows, self.mentions + rows, sequence + rows

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Open the database over what was read, and set duplicate records aside."""
        least, most = DATABASE_MEMORY
        connection = counting.connect(self.work, min(max(self.memory // 2, least), most), self.threads)
        counting.read_parts(connection, self.work)
        duplicates, first = counting.find_duplicates(connection, KEPT_PROBLEMS)
        for again in first:
            self.problems.add(self._duplicate(again), strict=self.strict and self._ids_must_differ)
        self.problems.counts["duplicate"] += duplicates - len(first)
        self.records -= duplicates
        counting.tell_names_apart(connection)
        return connection

    def encode(self, connection: duckdb.DuckDBPyConnection, given: GivenStatistics | None) -> Encoded:
        """Count the features, or take given counts, and encode all bags."""
        with self.stages.stage("count"):
            frequencies = counting.count_features(connection, given)
        with self.stages.stage("encode"):
            return encode(connection, frequencies, self.work)

    def cluster(
        self,
        encoded: Encoded,
        settings: Settings,
        knowledge: Knowledge | None = None,
        *,
        hypothetical: bool = False,
        margins: bool = False,
    ) -> Iterator[tuple[int, Clustering]]:
        """Cluster all blocks, in order: the first block's number and the answer for each batch."""
        kept = np.array(settings.weights_for(encoded.frequencies.types)) > 0
        sizes = np.diff(encoded.block_start)
        require_memory(int(sizes.max()), len(kept), self.memory)
        large = threading.Lock()

        def work(blocks: tuple[int, int]) -> Clustering:
            first, last = blocks
            bags = encoded.gather(first, last, kept)
            is_large = dense_bytes(int(sizes[first:last].max()), len(kept)) >= LARGE_BLOCK
            with large if is_large else nullcontext():
                return cluster(
                    bags,
                    encoded.frequencies,
                    settings,
                    constraints=knowledge.of_blocks(first, last) if knowledge else None,
                    hypothetical=hypothetical,
                    margins=margins,
                )

        with self.stages.stage("cluster", int(sizes.sum())) as advance:
            for (first, last), answer in in_order(work, encoded.batches(), self.threads):
                advance(int(sizes[first:last].sum()))
                yield first, answer

    def _read(self, inputs: Inputs, settings: Settings, writer: Writer) -> int:
        sizes = [size_of(path) for path in inputs.files]
        total = None if None in sizes else sum(size or 0 for size in sizes)
        processes = 1 if total is not None and total < SMALL_INPUT else self.threads
        sequence = 0
        with self.stages.stage("read", total) as advance:
            tasks = ((writer, (chunk, settings, self.work), {"strict": self.strict})
                     for chunk in self._chunks(inputs, advance))  # fmt: skip
            for report in run_tasks(tasks, processes):
                sequence += report.read
                self._take(report)
        if not self.records:
            first = f" The first problem: {self.problems.kept[0]}" if self.problems.kept else ""
            what = MENTIONS if inputs.format == MENTIONS else "documents"
            raise InputError(f"{inputs}: no usable {what} among {counted(sequence, 'record')}.{first}")
        return sequence

    def _take(self, report: PartReport) -> None:
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

    def _duplicate(self, again: Duplicate) -> Problem:
        file, unit = self._place(again.sequence)
        first_file, first_unit = self._place(again.first_sequence)
        kind, _, value = again.key.partition(":")
        reason = f"'{value}' is already the {kind} of {first_unit} {again.first_line} of {first_file}"
        return Problem(file, again.line, "duplicate", reason, unit)

    def _place(self, sequence: int) -> tuple[str, Unit]:
        _, file, unit = self._places[bisect_right(self._places, sequence, key=lambda place: place[0]) - 1]
        return file, unit


def require_memory(largest: int, types: int, memory: int, *, copies: int = 1) -> None:
    """Refuse a block whose pairs do not fit, before anything is computed; some work holds several copies of them."""
    needed = copies * dense_bytes(largest, types)
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
