"""What all commands over a collection share: resources, checked arguments, and the engine in its work directory."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from homonym.errors import HomonymError, InputError, OutputError, SettingsError, counted, first_line
from homonym.io.outputs import Paths, open_atomic, remove_partial, require_writable
from homonym.records.reader import Columns, Inputs
from homonym.runtime.progress import LOG, Listener, RunLog, Stages, run_log_path
from homonym.runtime.work_directory import WorkDirectory, temporary_work_directory, work_directory
from homonym.settings import Settings

if TYPE_CHECKING:
    from homonym.collection.statistics import GivenStatistics
    from homonym.engines.base import AnyEngine, PartsData, RecordsRead
    from homonym.engines.local import LocalEngine


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a run may use of this machine; results do not depend on it.

    `threads` is the number of cores by default, `memory` (bytes) half of the machine's. `work` is a directory for
    checkpoints: a later run with the same directory redoes only what has changed. By default it is next to the output
    and removed at the end; if the run is interrupted, it stays and the same call resumes.

    The `engine` spark works on the machines of a Spark `master`, by default that of the active session; all of them
    must see `work`.
    """

    threads: int | None = None
    memory: int | None = None
    work: str | Path | None = None
    engine: Literal["local", "spark"] = "local"
    master: str | None = None

    def resolved(self) -> tuple[int, int]:
        """Number of threads and bytes of memory, with defaults filled in."""
        import psutil

        # A container may have fewer cores than the machine; not every system can say.
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        threads = cores if self.threads is None else self.threads
        memory = psutil.virtual_memory().total // 2 if self.memory is None else self.memory
        if threads < 1 or memory < 1 << 20:
            raise SettingsError("a run needs at least 1 thread and 1 MiB of memory; raise --threads or --memory.")
        return threads, memory


@dataclass(frozen=True)
class Run:
    """The checked arguments of one call, its log, and the warnings so far.

    `shared_work` is the URL of the work directory, if only Spark can open it.
    """

    inputs: Inputs
    settings: Settings
    strict: bool
    resources: Resources
    threads: int
    memory: int
    work: Path | None
    shared_work: str | None
    rejects: Path | None
    log: RunLog
    warnings: list[str] = field(default_factory=list)

    @property
    def stages(self) -> Stages:
        """The stages of the run."""
        return self.log.stages


def prepare_run(
    inputs: Paths,
    settings: Settings | None = None,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    strict: bool = False,
    rejects: str | Path | None = None,
    resources: Resources | None = None,
    listener: Listener | None = None,
    engines: Sequence[str] = ("local",),
) -> Run:
    """Check the arguments of a command before any work is done; `engines` are those that it can use."""
    resources, settings = resources or Resources(), settings or Settings()
    shared_work = None
    if resources.engine == "spark" and "spark" in engines:
        from homonym.engines.spark.input_plan import is_url, spark_inputs

        found = spark_inputs(inputs, format, columns)
        shared_work = str(resources.work) if is_url(resources.work) else None
    else:
        found = Inputs.of(inputs, format, columns)
    if resources.engine not in engines:
        raise SettingsError(f"the {resources.engine} engine is for disambiguate and cluster; leave out --engine.")
    threads, memory = resources.resolved()
    if rejects:
        require_writable(Path(rejects))
    return Run(
        inputs=found,
        settings=settings,
        strict=strict,
        resources=resources,
        threads=threads,
        memory=memory,
        work=Path(resources.work) if resources.work is not None and not shared_work else None,
        shared_work=shared_work,
        rejects=Path(rejects) if rejects else None,
        log=RunLog.begin(found.files, threads, memory, settings, listener),
    )


def check_given_statistics(statistics: str | Path | None, mentions: int | None) -> GivenStatistics | None:
    """The statistics that a user gives instead of those of the run."""
    from homonym.collection.statistics import given_statistics

    if statistics:
        return given_statistics(Path(statistics), mentions)
    if mentions is not None:
        raise SettingsError("--mentions-in-collection goes with --statistics; add --statistics, or leave it out.")
    return None


def check_statistics_output(path: str | Path | None) -> Path | None:
    """Where to save the statistics of the run, if anywhere."""
    from homonym.collection.statistics import require_statistics_path

    if not path:
        return None
    require_statistics_path(Path(path))
    require_writable(Path(path))
    return Path(path)


def require_mentions(read: RecordsRead[PartsData], run: Run) -> None:
    """Fail if the records have no author."""
    if not read.mentions:
        raise InputError(f"{run.inputs}: {counted(read.records, 'record')}, but no author.")


@contextmanager
def open_engine(run: Run, *outputs: Path | None) -> Iterator[AnyEngine]:
    """The engine that the resources ask for, in a work directory; the first output is the result."""
    with _open_work_directory(run, outputs) as work, _open_rejects(run) as rejects:
        if run.resources.engine == "local":
            yield _local_engine(run, work, rejects)
            return
        from homonym.engines.spark.engine import open_spark_engine

        with open_spark_engine(
            run.resources.master, work.path, run.shared_work, run.stages,
            strict=run.strict, rejects=rejects, warnings=run.warnings,
        ) as engine:  # fmt: skip
            yield engine


@contextmanager
def open_local_engine(run: Run, *outputs: Path | None) -> Iterator[LocalEngine]:
    """The local engine, for commands that need more than the common steps."""
    with _open_work_directory(run, outputs) as work, _open_rejects(run) as rejects:
        yield _local_engine(run, work, rejects)


def _local_engine(run: Run, work: WorkDirectory, rejects: IO[bytes] | None) -> LocalEngine:
    from homonym.engines.local import LocalEngine

    return LocalEngine(
        work.path, run.threads, run.memory, run.stages, run.strict, rejects, run.warnings, lock=work.lock
    )  # fmt: skip


def _open_rejects(run: Run) -> AbstractContextManager[IO[bytes] | None]:
    return open_atomic(run.rejects) if run.rejects else nullcontext()


@contextmanager
def _open_work_directory(run: Run, outputs: Sequence[Path | None]) -> Iterator[WorkDirectory]:
    """A locked work directory with a log in it; failures of the machine become one sentence."""
    result, *others = outputs or (None,)
    with _work_directory(run, result) as work, _logged(run, work, result, others), machine_failures(work.path):
        yield work


def _work_directory(run: Run, output: Path | None) -> AbstractContextManager[WorkDirectory]:
    """The directory that the user names, else one next to the output; without either the run cannot be resumed."""
    if run.work:
        return work_directory(run.work, lasting=True, warnings=run.warnings)
    if output:
        return work_directory(output.with_name(f".{output.name}.work"), warnings=run.warnings)
    return temporary_work_directory()


@contextmanager
def _logged(run: Run, work: WorkDirectory, output: Path | None, others: Sequence[Path | None]) -> Iterator[None]:
    """Write the log to the work directory after each stage, and next to the output at the end."""
    run.log.resume(work.path / LOG)

    def write_unfinished() -> None:
        with suppress(OutputError):  # on a full disk there will be a more important message
            run.log.write(work.path / LOG, finished=False)

    if work.former:
        for path in (output, run.rejects, *others):
            if path:
                remove_partial(path, work.former)
    run.stages.ended = write_unfinished
    try:
        yield
    finally:
        run.stages.ended = None
    if output:
        run.log.write(run_log_path(output), finished=True)
    run.log.write(work.path / LOG, finished=True)


@contextmanager
def machine_failures(work: Path) -> Iterator[None]:
    """Turn a full disk or exhausted memory into one sentence, and an interrupted query into KeyboardInterrupt."""
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
            f"not enough memory or disk space to work in {work.parent} ({reason}); "
            "free some, or choose another directory with --work."
        ) from broken
