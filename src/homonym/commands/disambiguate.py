"""Disambiguate: documents in, one author id for every mention out."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from homonym.commands.in_memory import Data, Result, destination, files_of, name_data
from homonym.commands.result import (
    CalibratedRun,
    ResultPlace,
    RunOutcome,
    Summary,
    check_result_place,
    result_place,
    summarise,
    write_epoch,
    write_result,
)
from homonym.commands.run import (
    Resources,
    Run,
    RunFiles,
    check_given_statistics,
    check_statistics_output,
    follow_statistics,
    open_engine,
    prepare_run,
    require_mentions,
    statistics_files,
    warn_of_few_counted,
)
from homonym.errors import require_type
from homonym.io.urls import is_url, local_path
from homonym.records.reader import Columns
from homonym.runtime.progress import Advance, Listener
from homonym.runtime.thread_pool import meanwhile
from homonym.settings import Limit, Settings

if TYPE_CHECKING:
    from homonym.collection.background import BackgroundUse
    from homonym.collection.statistics import GivenStatistics
    from homonym.constraints.evidence import UserPairs
    from homonym.engines.base import AnyEngine, CalibrationSample, RecordsRead


class Options(TypedDict, total=False):
    """The keyword arguments of `disambiguate`."""

    statistics: str | Path | None
    mentions_in_collection: int | None
    save_statistics: str | Path | None
    trace: str | Path | None
    pairs: str | Path | None
    format: str | None
    columns: Columns | None
    rejects: str | Path | None
    excel: bool
    strict: bool
    resources: Resources | None
    listener: Listener | None


@overload
def disambiguate(
    inputs: Data, output: str | Path, settings: Settings | None = None, **options: Unpack[Options]
) -> Summary: ...


@overload
def disambiguate(
    inputs: Data, output: None = None, settings: Settings | None = None, **options: Unpack[Options]
) -> Result: ...


def disambiguate(
    inputs: Data,
    output: str | Path | None = None,
    settings: Settings | None = None,
    *,
    statistics: str | Path | None = None,
    mentions_in_collection: int | None = None,
    save_statistics: str | Path | None = None,
    trace: str | Path | None = None,
    pairs: str | Path | None = None,
    format: str | None = None,
    columns: Columns | None = None,
    rejects: str | Path | None = None,
    excel: bool = False,
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Summary | Result:
    """Disambiguate the authors of documents: records in, one author id for every mention out.

    `inputs` are paths, or data in memory: a table of pandas, polars, Arrow or DuckDB with one row per document or per
    author, or a list of dictionaries. Without `output` the result is an object with tables, see `Result`.

    `output` is a result directory if it has no suffix or is an existing directory: it gets the tables of mentions,
    authors and documents, the settings and the log. With a suffix (.parquet, .csv, .jsonl) it is the table of mentions.

    Records may be in any known format, detected from the content or named by `format`; `columns` maps the columns of a
    table to fields. The same input and settings give the same bytes, whatever the number of threads and the order of
    the records. Rejected records are written to `rejects`. `pairs` is a table of the user's decisions: mention_a,
    mention_b, and the relation `same` or `different`. `excel` writes CSV for spreadsheets.
    """
    require_type("output", output, (str, os.PathLike, type(None)), "a path (pass settings by name: settings=…)")
    with destination(output) as place, files_of(inputs, format, columns) as (paths, known_format):
        run = prepare_run(
            paths, settings, format=known_format, columns=columns, strict=strict, rejects=rejects, resources=resources,
            listener=listener, engines=("local", "spark"),
            files=clustering_files(place, trace, save_statistics, statistics, pairs),
        )  # fmt: skip
        files = check_files(
            place, trace, save_statistics, statistics, mentions_in_collection, pairs, resources, excel=excel
        )
        run = follow_statistics(run, files.given)
        with open_engine(run) as engine:
            read = engine.read_documents(run.inputs, run.settings, beside=load_next_steps)
            summary = find_authors(run, engine, read, files)
        name_data(summary, inputs, paths)
    return summary if output is not None else Result(summary)


def begin_epoch(
    records: Path,
    output: Path,
    settings: Settings,
    *,
    statistics: Path | None,
    mentions_in_collection: int | None,
    pairs: Path | None,
    resources: Resources,
    listener: Listener | None,
) -> Summary:
    """The same as `disambiguate`, but the directory only gets what an epoch keeps: no authors, and no page."""
    files = clustering_files(output, None, None, statistics, pairs)
    run = prepare_run(
        records, settings, resources=resources, listener=listener, engines=("local", "spark"), files=files
    )
    checked = check_files(output, None, None, statistics, mentions_in_collection, pairs, resources)
    run = follow_statistics(run, checked.given)
    with open_engine(run) as engine:
        read = engine.read_documents(run.inputs, run.settings, beside=load_next_steps)
        return find_authors(run, engine, read, checked, write=write_epoch)


@dataclass(frozen=True)
class ClusteringFiles:
    """The files of a run besides its input: where the result goes, statistics, and the user's pairs."""

    place: ResultPlace
    save_statistics: Path | None
    given: GivenStatistics | None
    pairs: UserPairs | None


def clustering_files(
    output: str | Path,
    trace: str | Path | None,
    save_statistics: str | Path | None,
    statistics: str | Path | None,
    pairs: str | Path | None,
) -> RunFiles:
    """All files of a run that finds authors, besides its records."""
    place = result_place(output)
    beside = [] if place.is_directory else [place.files.settings, place.files.conflicts]
    is_remote = is_url(local_path(output))
    return RunFiles.of(
        place.output,
        outputs=[*beside, trace, *statistics_files(save_statistics)],
        inputs=[pairs, *statistics_files(statistics)],
        directories=[place.output] if place.is_directory or (place.url and not is_remote) else [],
        is_directory=place.is_directory,
        url=str(output) if is_remote else None,
    )


def check_files(
    output: str | Path,
    trace: str | Path | None,
    save_statistics: str | Path | None,
    statistics: str | Path | None,
    mentions_in_collection: int | None,
    pairs: str | Path | None,
    resources: Resources | None,
    *,
    excel: bool = False,
) -> ClusteringFiles:
    """Check the outputs of a run, and read its statistics and pairs, before any work is done."""
    from homonym.constraints.evidence import read_user_pairs

    return ClusteringFiles(
        check_result_place(output, trace, resources, excel=excel),
        check_statistics_output(save_statistics),
        check_given_statistics(statistics, mentions_in_collection),
        read_user_pairs(Path(pairs)) if pairs else None,
    )


def load_next_steps() -> None:
    """Import what is needed after reading, and load compiled code; the second time this takes no time."""
    import duckdb  # noqa: F401

    import homonym.calibration.limit  # noqa: F401
    from homonym.clustering.agglomerative import load_kernels
    from homonym.names.compatibility import load_given_names

    load_kernels()
    load_given_names()


def find_authors(
    run: Run,
    engine: AnyEngine,
    read: RecordsRead[Any],
    files: ClusteringFiles,
    write: Callable[[Run, AnyEngine, RunOutcome], None] = write_result,
) -> Summary:
    """Encode what was read, constrain, calibrate, cluster, write the result, and summarise."""
    from homonym.calibration.limit import PARTS

    require_mentions(read, run)
    with_documents = files.place.is_directory and not read.of_mentions
    with ExitStack() as meantime:
        with meanwhile(load_next_steps):  # the database works without the interpreter
            collection = engine.encode(read, files.given, files.save_statistics, documents=with_documents)
            if with_documents:
                meantime.enter_context(engine.bags_stored(collection))
            collection = engine.constrain(collection, run.settings, files.pairs)
        warn_of_few_counted(run, files.given, read.mentions)
        if collection.background:
            run.stages.note("calibrate", background=collection.background.describe())
        with run.stages.stage("calibrate", PARTS) as advance:
            calibrated = calibrate_run(run, engine.sample(collection, run.settings), collection.background, advance)
        trace = files.place.trace is not None
        found = engine.cluster(collection, calibrated.settings, calibrated.confidence, trace=trace)
    summary = summarise(run, collection, files.place, found, calibrated, read.formats)
    outcome = RunOutcome(
        collection, found, calibrated.settings, files.place, summary, files.pairs, calibrated.confidence,
        files.given.path if files.given else None,
    )  # fmt: skip
    write(run, engine, outcome)
    return summary


def calibrate_run(
    run: Run, sample: CalibrationSample, use: BackgroundUse | None = None, advance: Advance | None = None
) -> CalibratedRun:
    """Find the limit if none is given, and learn the confidence of mentions; the run's log gets the new settings."""
    from homonym.calibration.confidence import DRAWS, cluster_names, confidence_warnings, learn_confidence
    from homonym.calibration.fallback import lean_on_defaults
    from homonym.calibration.limit import CONFIDENCE, LimitCalibrator

    settings, limit, confidence = run.settings, None, None
    finder = LimitCalibrator(
        sample.encoded, settings, sample.constraints, run.threads, sample=sample.blocks, advance=advance
    )
    if not settings.limit_is_given:
        limit = lean_on_defaults(finder, settings, use)
        settings = limit.chosen_for(settings)
        if limit.why:
            run.warnings.append(f"{limit.why}: {_limit_in_use(settings.limit)}.")
    if not finder.unavailable:
        drawn, real = finder.draw_with_blocks(settings, DRAWS)
        clustered = cluster_names(drawn, settings, run.threads)
        if clustered:
            confidence = learn_confidence(clustered, real)
            names = [names for names, _ in clustered]
            run.warnings.extend(confidence_warnings(confidence, names, finder.sample.sizes))
    if advance:
        advance(CONFIDENCE)
    run.log.settings = settings
    return CalibratedRun(settings, limit, confidence)


def _limit_in_use(limit: Limit) -> str:
    return f"the limit is {limit.describe()}; labelled names (homonym calibrate --gold) may give a better one"
