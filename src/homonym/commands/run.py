"""What every run over a collection has: its inputs, what it may use of the machine, an engine in a work directory."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from homonym.errors import HomonymError, InputError, OutputError, SettingsError
from homonym.io.outputs import atomic_path, open_atomic, remove_partial, require_writable
from homonym.messages import counted, first_line
from homonym.records.reader import Inputs
from homonym.runtime.progress import Listener, Stages
from homonym.runtime.run_log import LOG, RunLog, run_log_path
from homonym.runtime.work_directory import WorkDirectory, temporary_work_directory, work_directory
from homonym.settings import Settings

if TYPE_CHECKING:
    from homonym.collection.encoded import Encoded
    from homonym.collection.statistics import GivenStatistics
    from homonym.constraints.find import FoundConstraints
    from homonym.engines.local import LocalEngine
    from homonym.runtime.checkpoints import Facts


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a run may use of this machine; never a matter of results.

    `threads` is by default every core, `memory` (bytes) half of the machine's. `work` is a directory that all steps are
    kept in, so that a later run does again only what has changed; by default one beside the output, which is gone when
    the run has ended well, and otherwise stays for the same call to go on with.

    With the `engine` spark the work is done by the machines of a Spark `master`, by default that of the session which
    is there; `work` must then be a place that all of them see.
    """

    threads: int | None = None
    memory: int | None = None
    work: str | Path | None = None
    engine: Literal["local", "spark"] = "local"
    master: str | None = None

    def resolved(self) -> tuple[int, int]:
        """Number of threads and bytes of memory, with defaults filled in."""
        threads = _cores() if self.threads is None else self.threads
        memory = _memory() // 2 if self.memory is None else self.memory
        if threads < 1 or memory < 1 << 20:
            raise SettingsError("a run needs at least 1 thread and 1 MiB of memory; raise --threads or --memory.")
        return threads, memory


class Run:
    """The arguments of one call made plain, and the steps that the calls share."""

    engines: tuple[str, ...] = ("local",)
    """The engines that it can use."""

    def __init__(
        self,
        inputs: Inputs,
        settings: Settings | None,
        strict: bool,
        resources: Resources | None,
        listener: Listener | None,
        rejects: str | Path | None = None,
    ) -> None:
        self.inputs = inputs
        self.settings = settings or Settings()
        self.strict = strict
        resources = resources or Resources()
        if resources.engine not in self.engines:
            raise SettingsError(f"the {resources.engine} engine is for disambiguate and cluster; leave out --engine.")
        self.threads, self.memory = resources.resolved()
        self.work = Path(resources.work) if resources.work is not None else None
        self.output: Path | None = None
        self.trace: Path | None = None
        self.stages = Stages(listener)
        self.given: GivenStatistics | None = None
        self.save_statistics: Path | None = None
        self.knowledge: FoundConstraints | None = None
        self.warnings: list[str] = []
        self.rejects = Path(rejects) if rejects else None
        if self.rejects:
            require_writable(self.rejects)

    def use_statistics(
        self,
        statistics: str | Path | None,
        mentions_in_collection: int | None,
        save_statistics: str | Path | None = None,
    ) -> None:
        """Take #(f) from elsewhere if it is given, and keep that of this run if a place is."""
        from homonym.collection.statistics import given_statistics, require_statistics_path

        if save_statistics:
            self.save_statistics = Path(save_statistics)
            require_statistics_path(self.save_statistics)
            require_writable(self.save_statistics)
        if statistics:
            self.given = given_statistics(Path(statistics), mentions_in_collection)
        elif mentions_in_collection is not None:
            raise SettingsError("--mentions-in-collection goes with --statistics; give both or neither.")

    @contextmanager
    def engine(self) -> Iterator[LocalEngine]:
        """The engine in a work directory that nobody else works in; machine failures become sentences."""
        from homonym.engines.local import LocalEngine

        with (
            self._workplace() as place,
            self._logged(place),
            machine_failures(place.path),
            open_atomic(self.rejects) if self.rejects else nullcontext() as rejects,
        ):
            engine = LocalEngine(
                place.path, self.threads, self.memory, self.stages, self.strict, rejects=rejects, lock=place.lock
            )
            yield engine
            self.warnings += engine.warnings

    def _workplace(self) -> AbstractContextManager[WorkDirectory]:
        """The directory that is named, else one beside the output; where there is neither, nobody can go on."""
        if self.work:
            return work_directory(self.work, lasting=True)
        if self.output:
            return work_directory(self.output.with_name(f".{self.output.name}.work"))
        return temporary_work_directory()

    @contextmanager
    def _logged(self, place: WorkDirectory) -> Iterator[None]:
        """Keep a log: in the work directory after each stage, beside the result when that is there."""
        log = RunLog.begin(self.inputs.files, self.threads, self.memory, place.path)

        def write(path: Path, *, finished: bool) -> None:
            log.write(path, self.settings, self.stages, finished=finished)

        def note() -> None:
            with suppress(OutputError):  # on a full disk there is something more important to say
                write(place.path / LOG, finished=False)

        if place.former:
            for output in self._outputs():
                remove_partial(output, place.former)
        self.stages.ended = note
        try:
            yield
        finally:
            self.stages.ended = None
        if self.output:
            write(run_log_path(self.output), finished=True)
        write(place.path / LOG, finished=True)

    def _outputs(self) -> list[Path]:
        """All files that the run is asked for."""
        return [path for path in (self.output, self.rejects, self.save_statistics, self.trace) if path]

    def encode(self, engine: LocalEngine, vocabulary: Path | None = None) -> Encoded:
        """Count and encode what the engine has read; keep the names of the features if a place is given."""
        if not engine.mentions:
            raise InputError(f"{self.inputs}: {counted(engine.records, 'record')}, but no author to tell from others.")
        statistics = engine.work / f"statistics{_suffixes(self.save_statistics)}" if self.save_statistics else None
        wanted = {path.name for path in (vocabulary, statistics) if path}
        encoded, facts = engine.recall(self.given, wanted) or self._encode_anew(engine, vocabulary, statistics)
        self._warn_of_missing(facts["missing"], len(encoded.frequencies.total))
        if statistics and self.save_statistics:
            _copy_statistics(statistics, self.save_statistics)
        return encoded

    def _encode_anew(
        self, engine: LocalEngine, vocabulary: Path | None, statistics: Path | None
    ) -> tuple[Encoded, Facts]:
        """Count and encode, and keep what came of it."""
        from homonym.collection.counting import features_missing_from_statistics, write_vocabulary
        from homonym.collection.statistics import save_statistics, statistics_metadata_path

        connection = engine.connect()
        files: Set[str] = set()
        try:
            encoded = engine.encode(connection, self.given)
            facts = {"missing": features_missing_from_statistics(connection) if self.given else 0}
            if vocabulary:
                write_vocabulary(connection, vocabulary)
                files |= {vocabulary.name}
            if statistics:
                save_statistics(connection, encoded.frequencies, statistics)
                files |= {statistics.name, statistics_metadata_path(statistics).name}
        finally:
            connection.close()
        engine.remember(encoded, files, facts)
        return encoded, facts

    def _warn_of_missing(self, missing: int, features: int) -> None:
        if missing:
            self.warnings.append(
                f"{missing:,} of {features:,} features are not in the statistics; these are counted over this run."
            )


def _suffixes(path: Path) -> str:
    """What tells the format of statistics."""
    return next(suffix for suffix in (".csv.gz", ".csv", ".parquet") if path.name.endswith(suffix))


def _copy_statistics(kept: Path, path: Path) -> None:
    """Copy statistics to where they are wanted, with what they were counted over."""
    from homonym.collection.statistics import statistics_metadata_path

    for source, target in ((kept, path), (statistics_metadata_path(kept), statistics_metadata_path(path))):
        with atomic_path(target) as partial:
            shutil.copyfile(source, partial)


def _cores() -> int:
    # A container may be given fewer cores than the machine has; not every system says so.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@contextmanager
def machine_failures(work: Path) -> Iterator[None]:
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
            f"there is not enough room to work in {work.parent} ({reason}); "
            "free some, or name a directory with more by --work."
        ) from broken
