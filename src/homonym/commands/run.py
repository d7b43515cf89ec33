"""What all commands over a collection share: resources, checked arguments, and the engine in its work directory."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from homonym.errors import (
    HomonymError,
    InputError,
    OutputError,
    SettingsError,
    counted,
    first_line,
    require_type,
    word_list,
)
from homonym.io.inputs import STANDARD_INPUT, Source, expand
from homonym.io.outputs import (
    Paths,
    as_paths,
    file_identity,
    first_within,
    is_hidden,
    open_atomic,
    remove_partial,
    require_distinct,
    require_writable,
)
from homonym.io.paths import plain_path, printable
from homonym.io.result_directory import recover_directory, require_no_file_of_result
from homonym.io.urls import is_url, local_path, overlaps
from homonym.records.reader import Columns, Inputs, companion_files, detect_format, require_columns
from homonym.runtime.progress import LOG, Listener, RunLog, Stages, logged_outputs, run_log_path
from homonym.runtime.work_directory import WorkDirectory, temporary_work_directory, work_directory
from homonym.settings import Settings

if TYPE_CHECKING:
    from homonym.collection.statistics import GivenStatistics
    from homonym.engines.base import AnyEngine, PartsData, RecordsRead
    from homonym.engines.local import LocalEngine

# Maximum number of threads: more than the cores of any machine. 25,000 threads brought a machine to a standstill.
MAX_THREADS = 1024


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
        if threads > MAX_THREADS:
            raise SettingsError(f"{threads:,} threads are too many; give at most {MAX_THREADS:,} with --threads.")
        return threads, memory


@dataclass(frozen=True, kw_only=True)
class RunFiles:
    """All files of a run besides its records, so that no output can replace an input.

    The work directory and the log are next to `result`; if `is_directory`, that is a result directory, which has its
    log inside. `outputs` are the other files that the run writes, side files
    included, and `directories` those that it fills with files; `inputs` are the other files that it reads. `url` is
    the result if only Spark can open it.
    """

    result: Path | None = None
    outputs: Sequence[Path] = ()
    directories: Sequence[Path] = ()
    inputs: Sequence[Path] = ()
    is_directory: bool = False
    url: str | None = None

    @classmethod
    def of(
        cls,
        result: str | Path | None = None,
        outputs: Iterable[str | Path | None] = (),
        inputs: Iterable[str | Path | None] = (),
        labels: Paths | None = None,
        directories: Sequence[Path] = (),
        is_directory: bool = False,
        url: str | None = None,
    ) -> RunFiles:
        """The files that were named; None stands for an option that was not used. `labels` may be directories."""
        return cls(
            result=Path(result) if result is not None else None,
            outputs=[Path(path) for path in outputs if path],
            directories=directories,
            inputs=[Path(path) for path in inputs if path] + (expand(labels)[0] if labels else []),
            is_directory=is_directory,
            url=url,
        )

    @property
    def log(self) -> Path | None:
        """Where the log of the run will be."""
        if self.result is None:
            return None
        return self.result / LOG if self.is_directory else run_log_path(self.result)

    @property
    def written(self) -> list[Path]:
        """All files and directories that the run writes, without the files in a result directory."""
        log = [] if self.is_directory or self.log is None else [self.log]
        return [*([self.result] if self.result else []), *log, *self.outputs]


@dataclass(frozen=True)
class Run:
    """The checked arguments of one call, its files, its log, and the warnings so far.

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
    files: RunFiles
    log: RunLog
    warnings: list[str] = field(default_factory=list)

    @property
    def stages(self) -> Stages:
        """The stages of the run."""
        return self.log.stages

    @property
    def work_place(self) -> Path | None:
        """The directory that the user names, else one next to the result; without either the run cannot be resumed."""
        return _work_place(self.files, self.work)


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
    files: RunFiles | None = None,
    needs_input: bool = True,
) -> Run:
    """Check the arguments of a command before any work is done; `engines` are those that it can use.

    Unless it `needs_input`, there may be no records. `files` names everything that the command reads and writes besides
    `inputs` and `rejects`.
    """
    require_type("settings", settings, (Settings, type(None)), "a value of the class homonym.Settings")
    require_columns(columns)
    resources, settings, files = resources or Resources(), settings or Settings(), files or RunFiles()
    given_work, shared_work = local_path(resources.work) if resources.work is not None else None, None
    urls: Sequence[str] = ()
    if not needs_input and not inputs:
        found = Inputs([])
    elif resources.engine == "spark" and "spark" in engines:
        from homonym.engines.spark.input_plan import RemoteInputs, spark_inputs

        found = spark_inputs(inputs, format, columns)
        urls = found.urls if isinstance(found, RemoteInputs) else ()
        shared_work = str(given_work) if is_url(given_work) else None
    else:
        found = Inputs.of(inputs, format, columns)
    if resources.engine not in engines:
        raise SettingsError(f"the {resources.engine} engine is for disambiguate and cluster; leave out --engine.")
    threads, memory = resources.resolved()
    if rejects:
        require_writable(Path(rejects))
    work = Path(given_work) if given_work is not None and not shared_work else None
    if settings.file:
        files = replace(files, inputs=[*files.inputs, settings.file])
    written = [*files.written, *([Path(rejects)] if rejects else [])]
    found, warnings = _without_outputs(found, files, written, work)
    read = [*found.files, *_local_files(urls)]
    companions = [file for path in read for file in companion_files(path)]
    _require_apart(inputs, [*read, *companions, *files.inputs], written, files, work)
    _require_urls_apart(urls, files.url, shared_work)
    return Run(
        inputs=found,
        settings=settings,
        strict=strict,
        resources=resources,
        threads=threads,
        memory=memory,
        work=work,
        shared_work=shared_work,
        rejects=Path(rejects) if rejects else None,
        files=files,
        log=RunLog.begin(found.files, threads, memory, settings, listener, written),
        warnings=warnings,
    )


def _without_outputs(
    found: Inputs, files: RunFiles, written: Sequence[Path], work: Path | None
) -> tuple[Inputs, list[str]]:
    """Leave out what an earlier run of the same command wrote to a directory that is an input; a warning says so.

    The log of that run names its outputs. Without a log, only files that are no records are left out: all others may
    be records of the user, which the run would replace.
    """
    log_paths = [path for path in (files.log, _log_in_work(files, work)) if path]
    known = {os.path.realpath(name) for path in log_paths for name in logged_outputs(path)}
    places = {file_identity(path): path for path in written}
    places.pop(None, None)

    def is_output(path: Path) -> bool:
        if path not in found.incidental:
            return False
        inside = (folder for folder in files.directories if first_within(folder, [path]))
        place = places.get(file_identity(path)) or next(inside, None)
        if place is None:
            return False
        return printable(os.path.realpath(place)) in known or (found.format is None and not _has_records(path))

    left_out = [path for path in found.files if is_output(path)]
    if not left_out:
        return found, []
    names = word_list([path.name for path in left_out[:3]] + (["…"] if len(left_out) > 3 else []))
    if len(left_out) == len(found.files):
        raise InputError(f"{names}: these are outputs of this command, and there is no other file; name the records.")
    kept = [path for path in found.files if path not in set(left_out)]
    number = counted(len(left_out), "file")
    return replace(found, files=kept), [f"{number} not read: outputs of this command ({names})."]


def _has_records(path: Path) -> bool:
    try:
        with Source(path) as source:
            return detect_format(source) is not None
    except InputError:  # it may be damaged
        return True


def _log_in_work(files: RunFiles, work: Path | None) -> Path | None:
    place = _work_place(files, work)
    return place / LOG if place else None


def _local_files(urls: Sequence[str]) -> list[Path]:
    """The files that `file:` URLs name; Spark reports those that are missing."""
    paths = [local_path(url) for url in urls]
    with suppress(InputError):
        return expand([path for path in paths if not is_url(path)])[0]
    return []


def _require_apart(
    inputs: Paths, read: Sequence[Path], written: Sequence[Path], files: RunFiles, work: Path | None
) -> None:
    """Fail if files of a run are in each other's way.

    No output may be an input or another output. A directory that the run fills must have no input, no other output and
    no work directory in it, and a work directory no input and no output. A directory that is read must not have the
    work directory in it, unless that is hidden.
    """
    require_distinct(read, written)
    require_no_file_of_result(written)
    read = [path for path in read if path != STANDARD_INPUT]
    for directory in files.directories:
        if path := first_within(directory, read):
            raise OutputError(f"{path} is an input, but this run writes into {directory}; name another output.")
        others = [path for path in (*written, *([work] if work else [])) if path != directory]
        if path := first_within(directory, others):
            raise OutputError(f"{path} is in {directory}, which this run replaces; name a place outside of it.")
    if work is None:
        return
    if path := first_within(work, [*read, *written]):
        raise OutputError(f"{path} is in the work directory {work}; name another directory with --work.")
    given = [inputs] if isinstance(inputs, str | Path) else inputs
    for folder in as_paths([local_path(path) for path in given]):
        if os.path.isdir(folder) and first_within(folder, [work]) and not is_hidden(work, folder):
            raise OutputError(f"the work directory {work} is in the input {folder}; name another with --work.")


def _require_urls_apart(inputs: Sequence[str], output: str | None, work: str | None) -> None:
    """Fail if of the URLs of the inputs, the output and the work directory one is another or inside it."""
    places = {"output": output, "work directory": work}
    for name, place in places.items():
        for url in inputs:
            if place and overlaps(url, place):
                raise OutputError(f"the {name} {place} overlaps with the input {url}; name another place for it.")
    if output and work and overlaps(output, work):
        raise OutputError(f"the output {output} overlaps with the work directory {work}; name another with --work.")


def check_given_statistics(statistics: str | Path | None, mentions: int | None) -> GivenStatistics | None:
    """The statistics that a user gives instead of those of the run."""
    from homonym.collection.statistics import given_statistics

    if statistics:
        return given_statistics(Path(statistics), mentions)
    if mentions is not None:
        raise SettingsError("--mentions-in-collection goes with --statistics; add --statistics, or leave it out.")
    return None


def follow_statistics(run: Run, given: GivenStatistics | None) -> Run:
    """The run with co-authors and affiliations as the given statistics count them: both must have the same features."""
    from homonym.collection.statistics import counted_features

    settings = run.settings
    if given is None or (settings.coauthor_names == "initials" and settings.affiliation_level == "whole"):
        return run
    counted, old = counted_features(given), []
    if settings.coauthor_names == "full" and not counted.full_names:
        settings = settings.changed(coauthor_names="initials")
        old.append("co-authors by surname and initials")
    if settings.affiliation_level == "institution" and not counted.institutions:
        settings = settings.changed(affiliation_level="whole")
        old.append("affiliations as written")
    if not old:
        return run
    run.log.settings = settings
    run.warnings.append(
        f"{given.path} counts {' and '.join(old)}, so this run does, too; save the statistics again for better results."
    )
    return replace(run, settings=settings)


def warn_of_few_counted(run: Run, given: GivenStatistics | None, mentions: int) -> None:
    """Warn if statistics were counted over fewer mentions than the run has: scores would be wrong by that factor."""
    if given and given.mentions < mentions:
        run.warnings.append(
            f"{given.path} was counted over {counted(given.mentions, 'mention')}, and this run has {mentions:,}; "
            "check that number (--mentions-in-collection), or use statistics of a larger collection."
        )


def statistics_files(path: str | Path | None) -> list[Path]:
    """A table of statistics and its side file."""
    from homonym.collection.statistics import statistics_side_file

    return [Path(path), statistics_side_file(Path(path))] if path else []


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
        raise InputError(
            f"{run.inputs}: {counted(read.records, 'record')}, but no author; "
            "check the file, and in a table name the columns with --columns."
        )


@contextmanager
def open_engine(run: Run) -> Iterator[AnyEngine]:
    """The engine that the resources ask for, in a work directory."""
    with _open_work_directory(run) as work, _open_rejects(run) as rejects, plain_path(work.path) as folder:
        if run.resources.engine == "local":
            yield _local_engine(run, work, folder, rejects)
            return
        from homonym.engines.spark.engine import open_spark_engine

        with open_spark_engine(
            run.resources.master, folder, run.shared_work, run.stages,
            strict=run.strict, rejects=rejects, warnings=run.warnings,
        ) as engine:  # fmt: skip
            yield engine


@contextmanager
def open_local_engine(run: Run, *, discards_on_error: bool = False) -> Iterator[LocalEngine]:
    """The local engine, for commands that need more than the common steps; see `work_directory` for the option."""
    opened = _open_work_directory(run, discards_on_error=discards_on_error)
    with opened as work, _open_rejects(run) as rejects, plain_path(work.path) as folder:
        yield _local_engine(run, work, folder, rejects)


def _local_engine(run: Run, work: WorkDirectory, folder: Path, rejects: IO[bytes] | None) -> LocalEngine:
    from homonym.engines.local import LocalEngine

    return LocalEngine(
        folder, run.threads, run.memory, run.stages, run.strict, rejects, run.warnings, lock=work.lock,
        shown_work=work.path,
    )  # fmt: skip


def _open_rejects(run: Run) -> AbstractContextManager[IO[bytes] | None]:
    return open_atomic(run.rejects) if run.rejects else nullcontext()


@contextmanager
def _open_work_directory(run: Run, *, discards_on_error: bool = False) -> Iterator[WorkDirectory]:
    """A locked work directory with a log in it; failures of the machine become one sentence."""
    path = run.work_place
    place = path.parent if path else Path(tempfile.gettempdir())
    directory = _work_directory(run, path, discards_on_error=discards_on_error)
    with machine_failures(place), directory as work, _logged(run, work), machine_failures(place):
        yield work


def _work_place(files: RunFiles, work: Path | None) -> Path | None:
    # Not with_name, which fails for `.` and `/`; that they cannot be replaced is reported later.
    return work or (files.result.parent / f".{files.result.name}.work" if files.result else None)


def _work_directory(run: Run, path: Path | None, *, discards_on_error: bool) -> AbstractContextManager[WorkDirectory]:
    if path is None:
        return temporary_work_directory()
    return work_directory(path, lasting=path == run.work, warnings=run.warnings, discards_on_error=discards_on_error)


@contextmanager
def _logged(run: Run, work: WorkDirectory) -> Iterator[None]:
    """Write the log to the work directory after each stage, and next to the result at the end."""
    run.log.resume(work.path / LOG)

    def write_unfinished() -> None:
        with suppress(OutputError):  # on a full disk there will be a more important message
            run.log.write(work.path / LOG, finished=False)

    if work.former:
        for path in (*run.files.written, *([run.rejects] if run.rejects else [])):
            remove_partial(path, work.former)
        if run.files.is_directory and run.files.result:
            recover_directory(run.files.result, work.former)
    run.stages.ended = write_unfinished
    try:
        yield
    finally:
        run.stages.ended = None
    if run.files.log and not run.files.is_directory:
        run.log.write(run.files.log, finished=True, durable=True)
    run.log.write(work.path / LOG, finished=True)


@contextmanager
def machine_failures(place: Path) -> Iterator[None]:
    """Turn what the machine fails at into one sentence, and an interrupted query into KeyboardInterrupt.

    That is a full disk, exhausted memory, or a directory that was removed or cannot be written any more. `place` is
    the directory that contains the work directory.
    """
    try:
        yield
    except HomonymError:
        raise
    except MemoryError as broken:
        raise HomonymError("the memory of this machine is exhausted; use finer blocks or a larger machine.") from broken
    except Exception as broken:
        if not _may_be_of_machine(broken):
            raise
        if "interrupt" in str(broken).lower():
            raise KeyboardInterrupt from broken
        if reason := _machine_failure(broken, place):
            raise OutputError(reason) from broken
        raise


def _may_be_of_machine(broken: Exception) -> bool:
    """Whether an error is of a kind that failures of the machine have."""
    import duckdb  # not earlier: it is imported beside reading
    import pyarrow as pa

    return isinstance(broken, RuntimeError | OSError | duckdb.Error | pa.ArrowException)


# How numpy reports a full disk, without the number of the error.
_PARTLY_WRITTEN = re.compile(r"\d+ requested and \d+ written")


def _machine_failure(broken: Exception, place: Path) -> str | None:
    """What failed and what to do; None if it is an error of this program."""
    import duckdb

    reason = first_line(broken)
    if not place.is_dir():
        return f"{place} was removed or replaced during the run ({reason}); create it and run the same command again."
    is_full = isinstance(broken, OSError) and broken.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
    too_large = getattr(broken, "errno", 0) == errno.EFBIG or "file too large" in str(broken).lower()
    if is_full or too_large or "no space left" in str(broken).lower() or _PARTLY_WRITTEN.fullmatch(reason):
        reason = os.strerror(errno.EFBIG if too_large else errno.ENOSPC)
    elif not isinstance(broken, duckdb.OutOfMemoryException):
        if not isinstance(broken, OSError | duckdb.IOException | duckdb.FatalException | duckdb.TransactionException):
            return None
        return f"work in {place} failed ({reason}); check that directory, or choose another with --work."
    return (
        f"not enough memory or disk space to work in {place} ({reason}); "
        "free some, or choose another directory with --work."
    )
