"""The files of a result and the summary of the run that wrote it, the same for every engine."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from homonym.commands.run import Resources, Run
from homonym.errors import SettingsError
from homonym.io.outputs import require_directory, require_writable, side_file, write_atomic
from homonym.io.urls import is_url, local_path
from homonym.records.model import Problems
from homonym.runtime.own_files import require_spark_table
from homonym.runtime.progress import run_log_path
from homonym.settings import Limit, Settings

if TYPE_CHECKING:
    from homonym.calibration.confidence import Confidence
    from homonym.calibration.limit import CalibratedLimit
    from homonym.collection.background import BackgroundUse
    from homonym.constraints.conflicts import ConstraintConflict
    from homonym.engines.base import AnyEngine, ConstraintOutcome, Destination, EncodedCollection, FoundAuthors

# Number of conflicts in a summary; all of them are in the file next to the result.
FIRST_CONFLICTS = 3


@dataclass(frozen=True)
class ConstraintSummary:
    """What constraints did in a run.

    `links` has the number of must-links by kind, `linked` the mentions that these bind, `apart` the number of
    cannot-link pairs of mentions by kind. `first` has the first of the conflicts, called `contradictions`; all of them
    are in `file`.
    """

    links: dict[str, int]
    linked: int
    apart: dict[str, int]
    contradictions: int
    first: tuple[ConstraintConflict, ...]
    file: Path


@dataclass(frozen=True)
class Summary:
    """What a run did: counts, rejected records, seconds of each stage, warnings, constraints if there were any.

    `limit` is what the score of two clusters had to exceed, `calibration` how it was found if it was not given,
    `confidence` the mean over all mentions. `log` is the file with the time and memory of each stage. `background` is
    given if the collection has few names.
    """

    output: Path
    records: int
    mentions: int
    blocks: int
    authors: int | None
    problems: Problems
    seconds: dict[str, float]
    warnings: list[str] = field(default_factory=list)
    constraints: ConstraintSummary | None = None
    limit: Limit | None = None
    calibration: CalibratedLimit | None = None
    confidence: float | None = None
    log: Path | None = None
    background: BackgroundUse | None = None


@dataclass(frozen=True)
class CalibratedRun:
    """The settings with the limit to use, how the limit was found if it was not given, and the confidence model."""

    settings: Settings
    limit: CalibratedLimit | None
    confidence: Confidence | None


def check_destination(
    output: str | Path, trace: str | Path | None, resources: Resources | None, *, excel: bool = False
) -> Destination:
    """Where the result goes; fails if it could not be written."""
    from homonym.engines.base import Destination
    from homonym.io.tables import require_excel_path, require_table_path

    if excel:
        require_excel_path(Path(output))
    if resources and resources.engine == "spark":
        if trace:
            raise SettingsError("the Spark engine cannot write a trace; leave out --trace or use --engine local.")
        if directory := _spark_directory(output):
            return directory
    require_table_path(Path(output))
    if trace:
        require_table_path(Path(trace))
    return Destination(Path(output), None, Path(trace) if trace else None, excel)


def local_result(output: str | Path) -> tuple[Path, Path | None]:
    """The path that side files are next to, and the directory if the result is a directory of files on this machine."""
    path = local_path(output)
    if is_url(path):
        # Side files of a remote result are written to the current directory.
        return Path(PurePosixPath(path).name), None
    is_directory = is_url(output) or str(path).endswith("/") or os.path.isdir(path)
    return Path(path), Path(path) if is_directory else None


def _spark_directory(output: str | Path) -> Destination | None:
    """A directory of Parquet files, which may be a URL that only Spark can open; None for a file."""
    from homonym.engines.base import Destination

    path, directory = local_result(output)
    if is_url(local_path(output)):
        require_writable(settings_path(path))
        return Destination(path, str(output))
    if directory:
        require_directory(directory)
        require_spark_table(directory)
        return Destination(path, f"file:{directory.absolute()}")
    return None


def write_result(
    run: Run,
    engine: AnyEngine,
    found: FoundAuthors[Any],
    settings: Settings,
    destination: Destination,
    use: BackgroundUse | None = None,
) -> None:
    """Write the table of authors, and the settings and conflicts next to it; a comment says if background was used."""
    from homonym.constraints.conflicts import write_conflicts

    with run.stages.stage("write", found.mentions) as advance:
        engine.write_authors(found, destination, advance)
        comment = f"# {use.describe()}\n" if use else ""
        write_atomic(settings_path(destination.path), comment + settings.to_toml())
        conflicts = found.constraints.conflicts if found.constraints else []
        write_conflicts(conflicts_path(destination.path), conflicts, excel=destination.excel)


def summarise(
    run: Run,
    collection: EncodedCollection[Any],
    output: Path,
    found: FoundAuthors[Any] | None = None,
    calibrated: CalibratedRun | None = None,
) -> Summary:
    """The summary of a run; without `found` of one that ends with the encoded collection."""
    return Summary(
        output=output,
        records=collection.records,
        mentions=collection.mentions,
        blocks=collection.blocks,
        authors=found.authors if found else None,
        problems=collection.problems,
        seconds=run.stages.seconds,
        warnings=run.warnings,
        constraints=_constraint_summary(found.constraints, output) if found and found.constraints else None,
        limit=calibrated.settings.limit if calibrated else None,
        calibration=calibrated.limit if calibrated else None,
        confidence=found.confidence if found else None,
        log=run_log_path(output),
        background=collection.background,
    )


def _constraint_summary(outcome: ConstraintOutcome, output: Path) -> ConstraintSummary:
    counts, conflicts = outcome.counts, outcome.conflicts
    return ConstraintSummary(
        links=counts.links,
        linked=counts.linked,
        apart=counts.apart,
        contradictions=len(conflicts),
        first=tuple(conflicts[:FIRST_CONFLICTS]),
        file=conflicts_path(output),
    )


def conflicts_path(output: Path) -> Path:
    """Where the constraint conflicts of a run are listed, if there are any."""
    return side_file(output, ".contradictions.csv")


def settings_path(output: Path) -> Path:
    """Where the settings of a result are written."""
    return side_file(output, ".settings.toml")
