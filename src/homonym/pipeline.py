"""The public steps: records to mentions, mentions to authors, and both in one."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from homonym.errors import HomonymError, InputError, OutputError, SettingsError
from homonym.files import beside, require_files, require_writable, write_whole
from homonym.progress import Listener, Stages
from homonym.records.problems import Problems
from homonym.settings import Settings
from homonym.wording import first_line

if TYPE_CHECKING:
    import pyarrow as pa

    from homonym.collection.encoded import Encoded
    from homonym.collection.statistics import GivenStatistics
    from homonym.engines.local import LocalEngine

Inputs = str | Path | Sequence[str | Path]


@dataclass(frozen=True)
class Summary:
    """What a run did: counts, what it set aside, how long its stages took."""

    output: Path
    records: int
    mentions: int
    blocks: int
    authors: int | None
    problems: Problems
    seconds: dict[str, float]
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a run may use of this machine; never a matter of results.

    `threads` is by default every core, `memory` (bytes) half of the machine's.
    """

    threads: int | None = None
    memory: int | None = None

    def resolved(self) -> tuple[int, int]:
        """Number of threads and bytes of memory, with defaults filled in."""
        threads = _cores() if self.threads is None else self.threads
        memory = _memory() // 2 if self.memory is None else self.memory
        if threads < 1 or memory < 1 << 20:
            raise SettingsError("a run needs at least 1 thread and 1 MiB of memory; raise --threads or --memory.")
        return threads, memory


def disambiguate(
    inputs: Inputs,
    output: str | Path,
    settings: Settings | None = None,
    *,
    statistics: str | Path | None = None,
    mentions_in_collection: int | None = None,
    save_statistics: str | Path | None = None,
    trace: str | Path | None = None,
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Summary:
    """Tell the authors of documents apart: records in, one author id for every mention out.

    The same input and settings give the same bytes, whatever the number of threads and the order of the records.
    """
    job = _Job(inputs, output, settings, strict, resources, listener)
    job.check(statistics, mentions_in_collection, save_statistics, trace)
    with job.engine() as engine:
        engine.read_documents(job.inputs, job.settings)
        return job.cluster(engine)


def cluster(
    inputs: Inputs,
    output: str | Path,
    settings: Settings | None = None,
    *,
    statistics: str | Path | None = None,
    mentions_in_collection: int | None = None,
    save_statistics: str | Path | None = None,
    trace: str | Path | None = None,
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Summary:
    """Tell authors apart from mentions that bring their own bags of features, of any types."""
    job = _Job(inputs, output, settings, strict, resources, listener)
    job.check(statistics, mentions_in_collection, save_statistics, trace)
    with job.engine() as engine:
        engine.read_mentions(job.inputs, job.settings)
        return job.cluster(engine)


def extract(
    inputs: Inputs,
    output: str | Path,
    settings: Settings | None = None,
    *,
    save_statistics: str | Path | None = None,
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Summary:
    """Extract the features of documents: mentions with their bags out, for `cluster` or for other tools."""
    from homonym.collection.extraction import require_mentions_path, write_mentions_file

    job = _Job(inputs, output, settings, strict, resources, listener)
    require_mentions_path(job.output)
    job.check(None, None, save_statistics, None)
    with job.engine() as engine:
        engine.read_documents(job.inputs, job.settings)
        encoded = job.encode(engine, vocabulary=engine.work / "vocabulary.parquet")
        with job.stages.stage("write", len(encoded.mention_owner)) as advance:
            write_mentions_file(encoded, engine.work / "vocabulary.parquet", job.output, advance)
        return job.finish(engine, encoded, authors=None)


class _Job:
    """One call: its arguments made plain, and the steps that the calls share."""

    def __init__(
        self,
        inputs: Inputs,
        output: str | Path,
        settings: Settings | None,
        strict: bool,
        resources: Resources | None,
        listener: Listener | None,
    ) -> None:
        self.inputs = [Path(path) for path in ([inputs] if isinstance(inputs, str | Path) else inputs)]
        self.output = Path(output)
        self.settings = settings or Settings()
        self.strict = strict
        self.threads, self.memory = (resources or Resources()).resolved()
        self.stages = Stages(listener)
        self.given: GivenStatistics | None = None
        self.save_statistics: Path | None = None
        self.trace: Path | None = None
        self.warnings: list[str] = []

    def check(
        self,
        statistics: str | Path | None,
        mentions_in_collection: int | None,
        save_statistics: str | Path | None,
        trace: str | Path | None,
    ) -> None:
        """Find what would go wrong later before any work is done."""
        from homonym.collection.statistics import given_statistics, require_statistics_path
        from homonym.results import require_table_path

        if not self.inputs:
            raise InputError("no input was named; name at least one file.")
        require_files(self.inputs)
        require_table_path(self.output)
        if save_statistics:
            self.save_statistics = Path(save_statistics)
            require_statistics_path(self.save_statistics)
            require_writable(self.save_statistics)
        if trace:
            self.trace = Path(trace)
            require_table_path(self.trace)
        if statistics:
            self.given = given_statistics(Path(statistics), mentions_in_collection)
        elif mentions_in_collection is not None:
            raise SettingsError("--mentions-in-collection goes with --statistics; give both or neither.")

    @contextmanager
    def engine(self) -> Iterator[LocalEngine]:
        """The engine in a work directory of its own, which is gone afterwards; machine failures become sentences."""
        from homonym.engines.local import LocalEngine

        with (
            tempfile.TemporaryDirectory(prefix="homonym-", ignore_cleanup_errors=True) as work,
            _machine_failures(work),
        ):
            yield LocalEngine(Path(work), self.threads, self.memory, self.stages, self.strict)

    def encode(self, engine: LocalEngine, vocabulary: Path | None = None) -> Encoded:
        """Count and encode what the engine has read; keep the names of the features if a place is given."""
        from homonym.collection.counting import features_missing_from_statistics, write_vocabulary
        from homonym.collection.statistics import save_statistics

        connection = engine.connect()
        try:
            encoded = engine.encode(connection, self.given)
            if vocabulary:
                write_vocabulary(connection, vocabulary)
            if self.given:
                self._warn_of_missing(features_missing_from_statistics(connection), len(encoded.frequencies.total))
            if self.save_statistics:
                save_statistics(connection, encoded.frequencies, self.save_statistics)
        finally:
            connection.close()
        return encoded

    def cluster(self, engine: LocalEngine) -> Summary:
        """Cluster what the engine has read and write the authors."""
        import numpy as np

        from homonym.results import author_batches, author_numbers, trace_table, write_table
        from homonym.schema import AUTHORS, ROUNDS

        encoded = self.encode(engine)
        label = np.empty(len(encoded.mention_owner), np.int32)
        rounds: list[pa.Table] = []
        names = encoded.block_names() if self.trace else None
        for first, answer in engine.cluster(encoded, self.settings, hypothetical=self.trace is not None):
            start = encoded.block_start[first]
            label[start : start + len(answer.label)] = answer.label
            if self.trace:
                rounds.append(trace_table(names, first, answer))
        numbers = author_numbers(encoded.block_start, label)
        with self.stages.stage("write"):
            if self.trace:
                write_table(self.trace, ROUNDS, rounds)
            write_table(self.output, AUTHORS, author_batches(encoded.mentions_file, numbers))
            write_whole(settings_beside(self.output), self.settings.to_toml())
        authors = int(np.maximum.reduceat(numbers, encoded.block_start[:-1]).sum())
        return self.finish(engine, encoded, authors)

    def finish(self, engine: LocalEngine, encoded: Encoded, authors: int | None) -> Summary:
        """Sum up."""
        return Summary(
            output=self.output,
            records=engine.records,
            mentions=len(encoded.mention_owner),
            blocks=len(encoded.block_start) - 1,
            authors=authors,
            problems=engine.problems,
            seconds=self.stages.seconds,
            warnings=self.warnings,
        )

    def _warn_of_missing(self, missing: int, features: int) -> None:
        if missing:
            self.warnings.append(
                f"{missing:,} of {features:,} features are not in the statistics; these are counted over this run."
            )


def settings_beside(output: Path) -> Path:
    """Where the settings of a result are kept."""
    return beside(output, ".settings.toml")


def _cores() -> int:
    # A container may be given fewer cores than the machine has; not every system says so.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@contextmanager
def _machine_failures(work: str) -> Iterator[None]:
    """Turn a full disk or exhausted memory into one sentence, and an interrupted query into the interrupt it is."""
    import duckdb
    import pyarrow as pa

    try:
        yield
    except HomonymError:
        raise
    except (RuntimeError, duckdb.InterruptException, pa.ArrowException) as broken:
        if "interrupt" in str(broken).lower():
            raise KeyboardInterrupt from broken
        raise
    except MemoryError as broken:
        raise HomonymError("the memory of this machine is exhausted; use finer blocks or a larger machine.") from broken
    except (duckdb.OutOfMemoryException, duckdb.IOException, OSError) as broken:
        if isinstance(broken, OSError) and broken.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise
        reason = first_line(broken)
        raise OutputError(
            f"there is not enough room to work in {Path(work).parent} ({reason}); "
            "free some, or set TMPDIR to a directory with more."
        ) from broken
