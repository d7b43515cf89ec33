"""The local engine: read, count, encode, cluster, each step streaming through a work directory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from homonym.clustering.merging import Clustering, cluster, dense_bytes
from homonym.collection import counting
from homonym.collection.encoded import Encoded, encode
from homonym.collection.parts import Chunk, PartReport, chunks, write_documents, write_mentions
from homonym.collection.statistics import GivenStatistics
from homonym.engines.threads import in_order
from homonym.engines.workers import run_tasks
from homonym.errors import CapacityError, InputError
from homonym.files import read_lines
from homonym.progress import Advance, Stages
from homonym.records.problems import Problem, Problems
from homonym.settings import Settings

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


@dataclass
class LocalEngine:
    """The steps of a run on this machine; what they leave is in `work`."""

    work: Path
    threads: int
    memory: int
    stages: Stages
    strict: bool = False
    problems: Problems = field(default_factory=Problems)
    records: int = 0
    files: list[tuple[int, str]] = field(default_factory=list)

    def read_documents(self, paths: list[Path], settings: Settings) -> None:
        """Read documents and extract their features."""
        self._read(paths, settings, write_documents, "documents")

    def read_mentions(self, paths: list[Path], settings: Settings) -> None:
        """Read mentions that bring their own features."""
        from homonym.collection.columnar import write_mention_table

        lines = [path for path in paths if path.suffix != ".parquet"]
        tables = [path for path in paths if path.suffix == ".parquet"]
        sequence = self._read(lines, settings, write_mentions, "mentions") if lines else 0
        for path in tables:
            self.files.append((sequence, str(path)))
            with self.stages.stage("read") as advance:
                rows = write_mention_table(path, sequence, self.work, advance)
            self.records, sequence = self.records + rows, sequence + rows

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Open the database over what was read, and set duplicate records aside."""
        least, most = DATABASE_MEMORY
        connection = counting.connect(self.work, min(max(self.memory // 2, least), most), self.threads)
        counting.read_parts(connection, self.work)
        for again in counting.find_duplicates(connection):
            reason = f"'{again.id}' is already the id of line {again.first_line} of {self._file(again.first_sequence)}"
            problem = Problem(self._file(again.sequence), again.line, "record", reason)
            self.problems.add(problem, strict=self.strict)
            self.records -= 1
        return connection

    def encode(self, connection: duckdb.DuckDBPyConnection, given: GivenStatistics | None) -> Encoded:
        """Count the features, or take given counts, and encode all bags."""
        with self.stages.stage("count"):
            frequencies = counting.count_features(connection, given)
        with self.stages.stage("encode"):
            return encode(connection, frequencies, self.work)

    def cluster(
        self, encoded: Encoded, settings: Settings, *, hypothetical: bool = False
    ) -> Iterator[tuple[int, Clustering]]:
        """Cluster all blocks, in order: the first block's number and the answer for each batch."""
        kept = np.array(settings.weights_for(encoded.frequencies.types)) > 0
        sizes = np.diff(encoded.block_start)
        require_memory(int(sizes.max()), len(kept), self.memory)
        large = threading.Lock()

        def work(blocks: tuple[int, int]) -> Clustering:
            first, last = blocks
            bags = encoded.gather(first, last, kept)
            if dense_bytes(int(sizes[first:last].max()), len(kept)) < LARGE_BLOCK:
                return cluster(bags, encoded.frequencies, settings, hypothetical=hypothetical)
            with large:
                return cluster(bags, encoded.frequencies, settings, hypothetical=hypothetical)

        with self.stages.stage("cluster", int(sizes.sum())) as advance:
            for (first, last), answer in in_order(work, encoded.batches(), self.threads):
                advance(int(sizes[first:last].sum()))
                yield first, answer

    def _read(self, paths: list[Path], settings: Settings, writer: Writer, what: str) -> int:
        total = sum(path.stat().st_size for path in paths)
        sequence = mentions = 0
        with self.stages.stage("read", total) as advance:
            tasks = ((writer, (chunk, settings, self.work), {"strict": self.strict})
                     for chunk in self._chunks(paths, advance))  # fmt: skip
            for report in run_tasks(tasks, self.threads if total > SMALL_INPUT else 1):
                sequence += report.lines
                mentions += report.mentions
                self.records += report.records
                for problem in report.problems:
                    self.problems.add(problem, strict=self.strict)
        if not mentions:
            first = f" The first problem: {self.problems.kept[0]}" if self.problems.kept else ""
            names = ", ".join(str(path) for path in paths)
            raise InputError(f"{names}: no usable {what} among {sequence} lines.{first}")
        return sequence

    def _chunks(self, paths: list[Path], advance: Advance) -> Iterator[Chunk]:
        sequence = 0
        for path in paths:
            self.files.append((sequence, str(path)))
            for chunk in chunks(_numbered(path, advance), str(path), sequence, CHUNK_BYTES):
                yield chunk
                sequence = chunk.sequence + len(chunk.lines)

    def _file(self, sequence: int) -> str:
        return [name for start, name in self.files if start <= sequence][-1]


def require_memory(largest: int, types: int, memory: int, *, copies: int = 1) -> None:
    """Refuse a block whose pairs do not fit, before anything is computed; some work holds several copies of them."""
    needed = copies * dense_bytes(largest, types)
    if needed > memory:
        raise CapacityError(
            f"a block of {largest:,} mentions needs {needed / 2**30:.1f} GiB, but {memory / 2**30:.1f} may be used; "
            "allow more with --memory or use finer blocks with --blocking."
        )


def _numbered(path: Path, advance: Advance) -> Iterator[tuple[int, bytes]]:
    done = 0
    for line in read_lines(path):
        if line.bytes_read != done:
            advance(line.bytes_read - done)
            done = line.bytes_read
        yield line.number, line.text
